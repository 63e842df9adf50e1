"""A scene in a plane, on the page: the hand stays in the plane and turns what it holds, by wheel, keys, a second finger
or a gamepad; a law is chosen from a list."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from browsing import DESKTOP, Open, Tab, wait
from fake_servo import Page
from toy_plane import WALL, ToyPlane

pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser

PAD = """
window.pad = {axes: [0, 0, 0, 0], buttons: Array.from({length: 17}, () => ({pressed: false, value: 0})),
              mapping: "standard", connected: true, index: 0, id: "a pad that is played"};
navigator.getGamepads = () => [null, window.pad];
"""


@pytest.fixture
def plane(built: None) -> Iterator[ToyPlane]:
    with ToyPlane() as made:
        yield made


@pytest.fixture
def tab(plane: ToyPlane, open_tab: Open) -> Iterator[Tab]:
    page = Page(plane)
    yield open_tab(page.url, PAD, **DESKTOP, has_touch=True)
    page.close()


def steps(plane: ToyPlane) -> np.ndarray:
    """Between the orientations of hands that were told one after the other [rad]."""
    told = np.array([2.0 * math.atan2(h["orientation"][3], h["orientation"][0]) for h in plane.hands_seen if h["body"]])
    apart = np.diff(told)
    return apart - 2.0 * np.pi * np.round(apart / (2.0 * np.pi))


def test_the_wheel_and_keys_turn_what_is_held_on_and_on_and_it_stays_in_its_plane(plane: ToyPlane, tab: Tab) -> None:
    x, y = tab.grab("block")
    wait(lambda: plane.hands_seen and plane.hands_seen[-1]["stiffness_Nm_rad"] > 0.0, "a hand that turns")
    height = plane.hands_seen[-1]["target"][2]

    def turned_rad() -> float:
        """After one more notch, anticlockwise, and time to follow: half a turn ahead, the hand would be behind."""
        tick = plane.tick
        tab.page.mouse.wheel(0, -120)
        wait(lambda: plane.tick > tick + 8, "time passes")
        return plane.angle

    wait(lambda: turned_rad() > 2.2 * math.pi, "more than a turn")
    last = plane.tick
    wait(lambda: plane.tick > last + 40, "it has followed to the end")
    assert np.abs(steps(plane)).max() < math.pi / 2
    turned = plane.angle
    for _ in range(5):
        tab.page.keyboard.press(">")  # clockwise
    wait(lambda: plane.angle < turned - 0.2, "back a little")
    tab.page.mouse.move(x + 60, y - 50, steps=5)
    wait(lambda: min(plane.at) > 0.02, "it comes along: right in the picture is east, up is north")
    assert {hand["target"][2] for hand in plane.hands_seen if hand["body"]} == {height}
    tab.page.keyboard.press("k")
    tab.keep("plane-held")
    tab.page.mouse.up()
    wait(lambda: plane.hands_seen[-1]["body"] == 0, "let go")
    count, tick = len(plane.hands_seen), plane.tick
    tab.page.mouse.wheel(0, -120)  # zooms again
    wait(lambda: plane.tick > tick + 30, "time passes")
    assert all(hand["body"] == 0 for hand in plane.hands_seen[count:])


def test_a_second_finger_twists_what_the_first_one_holds(plane: ToyPlane, tab: Tab) -> None:
    fingers = tab.fingers()
    x, y = tab.still_at("block")
    fingers.down(0, x, y)
    wait(lambda: plane.hands_seen and plane.hands_seen[-1]["body"] == 2, "the first finger holds")
    fingers.down(1, x + 120, y)
    for k in range(1, 37):  # half a turn, clockwise as it is seen
        angle = k * math.pi / 36
        fingers.move(1, x + 120 * math.cos(angle), y + 120 * math.sin(angle))
        wait(lambda angle=angle: plane.angle < 0.3 - angle, "it follows")
    wait(lambda: plane.angle == pytest.approx(-math.pi, abs=0.1), "it turned as the fingers did")
    assert {hand["hand"] for hand in plane.hands_seen} == {0}
    tab.keep("plane-twisted")
    fingers.up(1)
    fingers.up(0)


def test_a_gamepad_takes_the_block_moves_it_and_turns_it(plane: ToyPlane, tab: Tab) -> None:
    def press(down: bool) -> None:
        tab.page.evaluate(f"window.pad.buttons[0].pressed = {str(down).lower()}")

    press(True)
    tab.until("held() === 'block'")
    press(False)
    tab.page.evaluate("window.pad.axes = [1, 0, 0, 0]")
    wait(lambda: plane.at[0] > 0.05, "the stick moves it east")
    tab.page.evaluate("window.pad.axes = [0, 1, 0, 0]")
    wait(lambda: plane.at[1] < -0.05, "and south")
    tab.page.evaluate("window.pad.axes = [0, 0, 0, 0]; window.pad.buttons[7].value = 1")
    wait(lambda: plane.angle < -0.5, "a trigger turns it")
    tab.page.evaluate("window.pad.buttons[7].value = 0; window.pad.axes = [0, 0, -1, 0]")
    wait(lambda: plane.angle > -0.2, "the other stick turns it back")
    tab.keep("plane-gamepad")
    tab.page.evaluate("window.pad.axes = [0, 0, 0, 0]")
    press(True)
    tab.until("held() === ''")


def test_a_law_is_chosen_from_a_list_which_shows_what_frames_tell(plane: ToyPlane, tab: Tab) -> None:
    chosen = "document.querySelector('.listed select').selectedOptions[0].textContent"
    wait(lambda: tab.page.evaluate(chosen) == "seh", "what it is now")
    assert tab.page.locator(".actors .listed").count() == 1  # its panel has it, the controls do not
    tab.page.locator(".listed select").select_option("pulse")
    wait(lambda: plane.asked == [(WALL, 3.0)], "its place is sent")
    plane.wall = 2  # by somebody else
    wait(lambda: tab.page.evaluate(chosen) == "hysteretic", "it is told")
    dashed = tab.page.locator("[data-card=angle] .legend li").all()
    assert [item.get_attribute("class") for item in dashed] == ["", "dashed"]
    colors = [item.evaluate("x => x.style.getPropertyValue('--color')") for item in dashed]
    assert colors[0] == colors[1]
    tab.keep("plane-list")
