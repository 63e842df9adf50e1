"""The page in a real Chromium, against a servo that is only played.

Phones, dark and light, and a browser without WebGL: test_page_screens.py, with a real one.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from browsing import DESKTOP, Open, Tab, wait
from fake_servo import DURATION_S, FakeServo, Page

import palpate as pp
from palpate import frame

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser


@pytest.fixture
def servo() -> Iterator[FakeServo]:
    made = FakeServo().start()
    yield made
    made.stop()


@pytest.fixture
def server(servo: FakeServo, built: None) -> Iterator[Page]:
    page = Page(servo)
    yield page
    page.close()


@pytest.fixture
def tab(server: Page, open_tab: Open) -> Tab:
    return open_tab(server.url)


def held_body(servo: FakeServo) -> int:
    return int(servo.seen_hands[-1]["body"]) if servo.seen_hands else 0


def later(servo: FakeServo) -> None:
    """Some time passes: all that was on its way has arrived."""
    tick = servo.tick
    wait(lambda: servo.tick > tick + 30, "time passes")


def test_the_page_shows_the_scene_and_moves(server: Page, open_tab: Open) -> None:
    tab = open_tab(server.url, **DESKTOP)
    assert tab.page.title() == "PUMA 560 on a line · palpate"
    assert tab.shows(".stage canvas")
    assert tab.shows(".hint")
    assert not tab.shows(".banner")
    assert not tab.shows(".scrub")
    assert tab.page.locator(".plot-card .u-over").count() == 2
    first = tab.at("tool")
    wait(lambda: np.hypot(*np.subtract(tab.at("tool"), first)) > 5, "the arm moves")
    wait(lambda: "Hz" in tab.page.locator(".health-text").inner_text(), "the health line")
    wait(lambda: "°" in tab.page.locator(".legend").inner_text(), "angles")
    tab.keep("desktop")


def test_hover_shows_what_can_be_touched(servo: FakeServo, tab: Tab) -> None:
    servo.still = True
    tab.hover("link3")
    assert tab.page.locator(".tip").inner_text() == "link3"
    assert "touchable" in tab.page.locator(".stage").get_attribute("class")
    tab.page.mouse.move(*tab.at("base"))  # cannot be touched
    tab.until("hovered() === ''")
    assert not tab.shows(".tip")
    assert servo.seen_hands == []


def test_a_drag_pulls_the_body_and_shows_the_force(servo: FakeServo, tab: Tab) -> None:
    servo.still = True
    body = servo.model.body_names.index("link3")
    x, y = tab.grab("link3")
    wait(lambda: held_body(servo) == body, "the hand")
    first = servo.seen_hands[0]
    X = pp.forward_kinematics(servo.model, servo.plan(servo.phase_s))[body]
    assert np.abs(X[:3, :3] @ first["at_body"] + X[:3, 3] - first["target"]).max() < 1e-3  # taken where it is: no jolt
    assert first["stiffness_N_m"] == servo.hello["hand"]["stiffness_N_m"]
    tab.page.mouse.move(x + 60, y - 60, steps=4)
    wait(lambda: tab.ask("forceN()") > 5, "the force")
    wait(lambda: tab.text(".force-label").endswith(" N"), "its number")
    assert not tab.shows(".hint")
    beside = tab.page.locator("[data-card=force] .value-now")
    wait(lambda: not beside.inner_text().startswith("0.0"), "the force beside its plot")
    tab.keep("drag")
    # a still pointer goes on holding: a servo that does not hear of it lets go
    count = len(servo.seen_hands)
    wait(lambda: len(servo.seen_hands) > count + 20, "it is said again and again")
    assert held_body(servo) == body
    tab.page.mouse.up()
    wait(lambda: held_body(servo) == 0, "release")
    wait(lambda: not tab.shows(".force-label"), "no label")
    assert tab.ask("held()") == ""


def test_the_wheel_moves_a_held_body_in_depth_and_the_camera_stays(servo: FakeServo, tab: Tab) -> None:
    servo.still = True
    tab.grab("link3")
    base = tab.at("base")
    wait(lambda: bool(servo.seen_hands), "the hand")
    before = servo.seen_hands[-1]["target"]
    tab.page.mouse.wheel(0, -200)
    wait(lambda: float(np.linalg.norm(servo.seen_hands[-1]["target"] - before)) > 0.02, "depth")
    away = servo.seen_hands[-1]["target"] - before
    assert float(away @ (-1.25, 1.5, -0.62)) > 0.0  # up on the wheel is away from the camera
    assert tab.at("base") == pytest.approx(base, abs=0.5)
    tab.page.mouse.up()


@pytest.mark.parametrize("how", ["escape", "blur"])
def test_escape_and_leaving_the_window_let_go(servo: FakeServo, tab: Tab, how: str) -> None:
    servo.still = True
    tab.grab("link3")
    wait(lambda: held_body(servo) > 0, "the hand")
    if how == "escape":
        tab.page.keyboard.press("Escape")
    else:
        tab.page.evaluate("window.dispatchEvent(new Event('blur'))")
    wait(lambda: held_body(servo) == 0, "release")
    later(servo)
    assert held_body(servo) == 0
    tab.page.mouse.up()


def test_a_paused_world_says_why_it_does_not_pull(servo: FakeServo, tab: Tab) -> None:
    servo.running = False
    wait(lambda: tab.ask("frame()")["state"] == frame.PAUSED, "paused")
    tab.grab("link3")
    wait(lambda: "Paused" in tab.text(".banner"), "told")
    tab.page.mouse.up()
    wait(lambda: not tab.shows(".banner"), "no banner")


def test_empty_space_turns_the_camera_and_holds_nothing(servo: FakeServo, tab: Tab) -> None:
    servo.still = True
    before = tab.still_at("tool")
    tab.page.mouse.move(100, 400)
    tab.page.mouse.down()
    tab.page.mouse.move(300, 420, steps=5)
    tab.page.mouse.up()
    wait(lambda: np.hypot(*np.subtract(tab.at("tool"), before)) > 20, "the camera turns")
    tab.still_at("tool")  # it turns on for a while
    assert servo.seen_hands == []
    tab.page.keyboard.press("f")
    wait(lambda: np.hypot(*np.subtract(tab.at("tool"), before)) < 40, "the view fits again")


def test_a_new_size_is_drawn_in_the_same_picture(tab: Tab) -> None:
    tab.page.evaluate("""() => {
        const stage = document.querySelector('.stage'), small = new OffscreenCanvas(64, 36).getContext('2d');
        window.emptied = [];
        new ResizeObserver(() => { // comes after the page's own, before the picture is shown
            small.clearRect(0, 0, 64, 36);
            small.drawImage(stage.querySelector('canvas'), 0, 0, 64, 36);
            window.emptied.push(small.getImageData(0, 0, 64, 36).data.every((x) => x === 0));
        }).observe(stage);
    }""")
    # An observer first tells the size that there is; with another one already set, the two would be told as one.
    wait(lambda: len(tab.page.evaluate("window.emptied")) >= 1, "this size")
    tab.page.set_viewport_size({"width": 700, "height": 480})
    wait(lambda: len(tab.page.evaluate("window.emptied")) >= 2, "another size")
    assert not any(tab.page.evaluate("window.emptied")[1:])


def test_buttons_and_keys_send_events(servo: FakeServo, tab: Tab) -> None:
    def events() -> list[int]:
        return [kind for kind, _ in servo.seen_events]

    tab.page.click("[data-action=pause]")
    wait(lambda: events() == [frame.PAUSE], "pause")
    playwright.expect(tab.page.locator("[data-action=play]")).to_be_visible()
    tab.page.click("[data-action=step]")
    wait(lambda: events()[1:] == [frame.STEP], "step")
    tab.page.click("[data-action=reset]")
    wait(lambda: events()[2:] == [frame.RESET], "reset")
    wait(lambda: tab.ask("frame()")["time_s"] == 0.0, "time zero")
    for key, kind in ((".", frame.STEP), ("r", frame.RESET), (" ", frame.PLAY)):
        count = len(servo.seen_events)
        tab.page.keyboard.press(key)
        wait(lambda count=count, kind=kind: events()[count:] == [kind], f"key {key}")
    playwright.expect(tab.page.locator("[data-action=pause]")).to_be_visible()
    tab.page.keyboard.press("p")
    wait(lambda: not tab.shows(".plots"), "plots folded")


def test_space_on_a_focused_button_does_one_thing(servo: FakeServo, tab: Tab) -> None:
    tab.page.focus("[data-action=reset]")
    tab.page.keyboard.press(" ")
    wait(lambda: bool(servo.seen_events), "an event")
    later(servo)
    assert [kind for kind, _ in servo.seen_events] == [frame.RESET]


def test_the_page_comes_back_after_the_server_was_gone(servo: FakeServo, open_tab: Open) -> None:
    first = Page(servo)
    tab = open_tab(first.url)
    tab.page.wait_for_load_state("networkidle")  # half a picture would be a complaint
    first.close()
    wait(lambda: "Connection lost" in tab.text(".banner"), "the banner")
    tab.keep("lost")
    second = Page(servo, port=first.port)
    tab.until("connected()")
    wait(lambda: not tab.shows(".banner"), "no banner")
    servo.still = True
    tab.grab("link3")
    wait(lambda: held_body(servo) > 0, "the hand")
    tab.page.mouse.up()
    wait(lambda: held_body(servo) == 0, "release")
    second.close()
    tab.forgive_absence()


def test_a_second_page_watches_while_the_first_holds(servo: FakeServo, server: Page, open_tab: Open) -> None:
    servo.still = True
    first, second = open_tab(server.url), open_tab(server.url)
    first.page.bring_to_front()
    first.grab("link3")
    wait(lambda: "Another page" in second.text(".banner"), "told")
    first.page.mouse.up()
    wait(lambda: not second.shows(".banner"), "free again")


def test_a_recording_has_a_bar_to_scrub_and_a_speed(built: None, open_tab: Open) -> None:
    servo = FakeServo("replay").start()
    server = Page(servo)
    tab = open_tab(server.url)
    assert tab.shows(".scrub")
    assert tab.shows(".speed")
    assert not tab.shows(".hint")
    wait(lambda: f"/ {DURATION_S:.2f} s" in tab.text(".clock"), "how long it is")
    tab.keep("replay")
    tab.page.locator(".scrub").fill("3.5")
    wait(lambda: (frame.SEEK, 3.5) in servo.seen_events, "seek")
    tab.page.locator(".speed").select_option("2")
    wait(lambda: (frame.SPEED, 2.0) in servo.seen_events, "speed")
    tab.page.evaluate("document.activeElement.blur()")
    count = len(servo.seen_events)
    tab.page.keyboard.press("ArrowRight")
    wait(lambda: [kind for kind, _ in servo.seen_events[count:]] == [frame.SEEK], "the key seeks")
    servo.still = True
    tab.page.mouse.move(*tab.still_at("link3"))
    tab.page.mouse.down()
    later(servo)
    tab.page.mouse.up()
    assert servo.seen_hands == []  # the past cannot be touched
    server.close()
    servo.stop()
