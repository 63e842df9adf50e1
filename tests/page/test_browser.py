"""The page in a real Chromium, against a servo that is only played.

`PALPATE_SCREENSHOTS=folder` keeps pictures.  Software rendering is slow: times are generous, states are waited for.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BROWSER_REQUIRED
from fake_servo import DURATION_S, FakeServo, Page

import palpate as pp
from palpate import frame

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser

WAIT_S = 30.0
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]  # fmt: skip
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 720}}
WINDOW: dict[str, Any] = {"viewport": {"width": 880, "height": 520}}  # fewer pixels, where looks do not matter
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SCREENSHOTS = os.environ.get("PALPATE_SCREENSHOTS")
OPEN = Callable[..., "Tab"]


@pytest.fixture(scope="module")
def chromium(built: None) -> Iterator[Any]:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        if BROWSER_REQUIRED:
            pytest.fail("no Chromium: apt-get install chromium")
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS, timeout=1000 * WAIT_S)
        yield browser
        browser.close()


class Tab:
    """One open page: what is in it, and what it complained about."""

    def __init__(self, context: Any, url: str) -> None:
        assert url, "the page did not start"
        self.context, self.page = context, context.new_page()
        self.page.set_default_timeout(1000 * WAIT_S)
        self.complaints: list[str] = []
        self.page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(url)
        self.until("connected()")

    def ask(self, what: str) -> Any:
        return self.page.evaluate(f"window.__palpate && window.__palpate.{what}")

    def until(self, what: str) -> None:
        wait(lambda: bool(self.ask(what)), what)

    def at(self, body: str) -> tuple[float, float]:
        place = self.ask(f"projected({body!r})")
        return place["x"], place["y"]

    def shows(self, selector: str) -> bool:
        return bool(self.page.locator(selector).is_visible())

    def grab(self, body: str) -> tuple[float, float]:
        """Takes hold of a body in its middle; where that is."""
        x, y = self.at(body)
        self.page.mouse.move(x, y)
        self.until(f"hovered() === {body!r}")
        self.page.mouse.down()
        self.until(f"held() === {body!r}")
        return x, y

    def keep(self, name: str) -> None:
        if SCREENSHOTS:
            Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=f"{SCREENSHOTS}/{name}.png")


def wait(condition: Callable[[], bool], what: str = "") -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)


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
def open_tab(chromium: Any) -> Iterator[OPEN]:
    """Opens tabs; at the end, none of them may have complained."""
    tabs: list[Tab] = []

    def make(url: str, script: str = "", **options: Any) -> Tab:
        context = chromium.new_context(**{**WINDOW, **options})
        if script:
            context.add_init_script(script)
        tabs.append(Tab(context, url))
        return tabs[-1]

    yield make
    complaints = [tab.complaints for tab in tabs]
    for tab in tabs:
        tab.context.close()
    assert complaints == [[] for _ in tabs]


@pytest.fixture
def tab(server: Page, open_tab: OPEN) -> Tab:
    return open_tab(server.url)


def held_body(servo: FakeServo) -> int:
    return int(servo.seen_hands[-1]["body"]) if servo.seen_hands else 0


def test_the_page_shows_the_scene_and_moves(server: Page, open_tab: OPEN) -> None:
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
    assert "°" in tab.page.locator(".legend").inner_text()
    tab.keep("desktop")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system(server: Page, open_tab: OPEN, scheme: str) -> None:
    tab = open_tab(server.url, **DESKTOP, color_scheme=scheme)
    color = tab.page.evaluate("getComputedStyle(document.querySelector('h1')).color")
    assert (sum(int(part) for part in color[4:-1].split(",")) > 384) is (scheme == "dark")
    tab.keep(scheme)


def test_hover_shows_what_can_be_touched(servo: FakeServo, tab: Tab) -> None:
    servo.still = True
    time.sleep(0.3)
    tab.page.mouse.move(*tab.at("link3"))
    tab.until("hovered() === 'link3'")
    assert tab.page.locator(".tip").inner_text() == "link3"
    assert "touchable" in tab.page.locator(".stage").get_attribute("class")
    tab.page.mouse.move(*tab.at("base"))  # cannot be touched
    tab.until("hovered() === ''")
    assert not tab.shows(".tip")
    assert servo.seen_hands == []


def test_a_drag_pulls_the_body_and_shows_the_force(servo: FakeServo, tab: Tab) -> None:
    servo.still = True
    time.sleep(0.3)
    body = servo.model.body_names.index("link3")
    x, y = tab.grab("link3")
    wait(lambda: held_body(servo) == body, "the hand")
    first = servo.seen_hands[0]
    X = pp.forward_kinematics(servo.model, servo.plan(servo.phase_s))[body]
    assert np.abs(X[:3, :3] @ first["at_body"] + X[:3, 3] - first["target"]).max() < 1e-3  # taken where it is: no jolt
    assert first["stiffness_N_m"] == servo.hello["hand"]["stiffness_N_m"]
    tab.page.mouse.move(x + 60, y - 60, steps=4)
    wait(lambda: tab.ask("forceN()") > 5, "the force")
    assert tab.shows(".force-label")
    assert tab.page.locator(".force-label").inner_text().endswith(" N")
    assert not tab.shows(".hint")
    wait(lambda: not tab.page.locator(".force .value-now").inner_text().startswith("0.0"), "the force beside its plot")
    tab.keep("drag")
    # a still pointer goes on holding: no gap of 100 ms, which is when a servo lets go
    count = len(servo.seen_hands)
    time.sleep(1.0)
    sent = [hand["sent_ns"] for hand in servo.seen_hands[count - 1 :]]
    assert len(sent) > 10
    assert float(np.median(np.diff(sent))) < 60e6
    assert held_body(servo) == body
    tab.page.mouse.up()
    wait(lambda: held_body(servo) == 0, "release")
    wait(lambda: not tab.shows(".force-label"), "no label")
    assert tab.ask("held()") == ""


def test_the_wheel_moves_a_held_body_in_depth_and_the_camera_stays(servo: FakeServo, tab: Tab) -> None:
    servo.still = True
    time.sleep(0.3)
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
    time.sleep(0.3)
    tab.grab("link3")
    wait(lambda: held_body(servo) > 0, "the hand")
    if how == "escape":
        tab.page.keyboard.press("Escape")
    else:
        tab.page.evaluate("window.dispatchEvent(new Event('blur'))")
    wait(lambda: held_body(servo) == 0, "release")
    time.sleep(0.2)
    assert held_body(servo) == 0
    tab.page.mouse.up()


def test_a_paused_world_says_why_it_does_not_pull(servo: FakeServo, tab: Tab) -> None:
    servo.running = False
    wait(lambda: tab.ask("frame()")["state"] == frame.PAUSED, "paused")
    tab.grab("link3")
    wait(lambda: tab.shows(".banner"), "told")
    assert "Paused" in tab.page.locator(".banner").inner_text()
    tab.page.mouse.up()
    wait(lambda: not tab.shows(".banner"), "no banner")


def test_empty_space_turns_the_camera_and_holds_nothing(servo: FakeServo, tab: Tab) -> None:
    servo.still = True
    time.sleep(0.3)
    before = tab.at("tool")
    tab.page.mouse.move(100, 400)
    tab.page.mouse.down()
    tab.page.mouse.move(300, 420, steps=5)
    tab.page.mouse.up()
    wait(lambda: np.hypot(*np.subtract(tab.at("tool"), before)) > 20, "the camera turns")
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
    tab.page.set_viewport_size({"width": 700, "height": 480})
    wait(lambda: len(tab.page.evaluate("window.emptied")) >= 2, "another size")
    assert tab.page.evaluate("window.emptied")[1:] == [False] * (len(tab.page.evaluate("window.emptied")) - 1)


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
    time.sleep(0.3)
    assert [kind for kind, _ in servo.seen_events] == [frame.RESET]


def test_the_page_comes_back_after_the_server_was_gone(servo: FakeServo, open_tab: OPEN) -> None:
    first = Page(servo)
    tab = open_tab(first.url)
    first.close()
    wait(lambda: tab.shows(".banner"), "the banner")
    assert "Connection lost" in tab.page.locator(".banner").inner_text()
    tab.keep("lost")
    second = Page(servo, port=first.port)
    tab.until("connected()")
    wait(lambda: not tab.shows(".banner"), "no banner")
    servo.still = True
    time.sleep(0.3)
    tab.grab("link3")
    wait(lambda: held_body(servo) > 0, "the hand")
    tab.page.mouse.up()
    wait(lambda: held_body(servo) == 0, "release")
    second.close()
    # a browser says so itself when a server is not there
    tab.complaints = [said for said in tab.complaints if "WebSocket connection" not in said and "net::ERR_" not in said]


def test_a_second_page_watches_while_the_first_holds(servo: FakeServo, server: Page, open_tab: OPEN) -> None:
    servo.still = True
    first, second = open_tab(server.url), open_tab(server.url)
    first.page.bring_to_front()
    first.grab("link3")
    wait(lambda: second.shows(".banner"), "told")
    assert "Another page" in second.page.locator(".banner").inner_text()
    first.page.mouse.up()
    wait(lambda: not second.shows(".banner"), "free again")


def test_a_recording_has_a_bar_to_scrub_and_a_speed(built: None, open_tab: OPEN) -> None:
    servo = FakeServo("replay").start()
    server = Page(servo)
    tab = open_tab(server.url)
    assert tab.shows(".scrub")
    assert tab.shows(".speed")
    assert not tab.shows(".hint")
    assert f"/ {DURATION_S:.2f} s" in tab.page.locator(".clock").inner_text()
    tab.keep("replay")
    tab.page.locator(".scrub").fill("3.5")
    wait(lambda: (frame.SEEK, 3.5) in servo.seen_events, "seek")
    tab.page.locator(".speed").select_option("2")
    wait(lambda: (frame.SPEED, 2.0) in servo.seen_events, "speed")
    tab.page.evaluate("document.activeElement.blur()")
    count = len(servo.seen_events)
    tab.page.keyboard.press("ArrowRight")
    wait(lambda: [kind for kind, _ in servo.seen_events[count:]] == [frame.SEEK], "the key seeks")
    tab.page.mouse.move(*tab.at("link3"))
    tab.page.mouse.down()
    time.sleep(0.3)
    tab.page.mouse.up()
    assert servo.seen_hands == []  # the past cannot be touched
    server.close()
    servo.stop()


def test_a_phone_shows_everything_and_a_finger_pulls(servo: FakeServo, server: Page, open_tab: OPEN) -> None:
    tab = open_tab(server.url, **PHONE)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    for button in tab.page.locator(".transport button").all():
        box = button.bounding_box()
        assert box["width"] >= 40
        assert 0 <= box["x"] <= 390 - box["width"]
        assert box["y"] <= 844 - box["height"]
    assert not tab.shows(".plots")
    tab.keep("phone")
    servo.still = True
    time.sleep(0.3)
    x, y = tab.at("link3")
    finger = tab.context.new_cdp_session(tab.page)
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    tab.until("held() === 'link3'")
    finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + 50, "y": y - 40}]})
    wait(lambda: tab.ask("forceN()") > 5, "the force")
    tab.keep("phone-drag")
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    wait(lambda: held_body(servo) == 0, "release")
    tab.page.tap("[data-action=plots]")
    wait(lambda: tab.shows(".plots"), "plots")
    time.sleep(0.5)
    tab.keep("phone-plots")


def test_without_webgl_there_is_a_message_and_the_buttons_work(servo: FakeServo, server: Page, open_tab: OPEN) -> None:
    tab = open_tab(server.url, script="HTMLCanvasElement.prototype.getContext = new Proxy("
                   "HTMLCanvasElement.prototype.getContext, {apply: (f, self, args) => "
                   "String(args[0]).startsWith('webgl') ? null : Reflect.apply(f, self, args)})")  # fmt: skip
    assert "WebGL" in tab.page.locator(".message").inner_text()
    assert not tab.shows(".hint")
    tab.page.click("[data-action=pause]")
    wait(lambda: servo.seen_events == [(frame.PAUSE, 0.0)], "pause")
    tab.keep("no-webgl")
