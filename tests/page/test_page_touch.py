"""Hands on the page, by `palpate touch`: what a person does is what the servo feels, and what is drawn."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browsing import WINDOW, Open, Tab, Watcher, wait

from palpate import frame

pytestmark = pytest.mark.browser
SCENE = "arm-rest"  # that is served


@pytest.fixture(scope="module")
def opened(served: tuple[str, Watcher], open_once: Open) -> Tab:
    return open_once(served[0], **WINDOW, has_touch=True)


def rests(f: dict[str, Any], *held: int) -> bool:
    """Whether the arm stands, with these bodies in hands."""
    return bool(np.abs(f["v"]).max() < 1e-3) and sorted(filter(None, f["hand_body"])) == sorted(held)


@pytest.fixture
def tab(opened: Tab, watcher: Watcher) -> Iterator[Tab]:
    """The tab, before an arm that stands where it began; afterwards nothing is held, and nothing was complained of."""
    opened.page.bring_to_front()
    opened.page.click("[data-choice=pull]")
    yield opened
    opened.page.keyboard.up("Shift")
    opened.page.mouse.up()
    wait(lambda: watcher.steady(rests), "nothing is held, and the arm comes to rest")
    assert opened.complaints == []


def newtons(force: float) -> str:
    """As the page writes it."""
    return f"{force:.1f} N" if force < 10 else f"{force:.0f} N"


def colour_of_force(tab: Tab) -> np.ndarray:
    """In which everything about the hand is drawn (3,) 0 .. 255."""
    text = tab.page.evaluate("document.querySelector('.force-label').style.getPropertyValue('--force-color')")
    return np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)])


def painted(tab: Tab, color: np.ndarray, near: tuple[float, float], reach: float = 40.0) -> int:
    """How many pixels around a place have this colour."""
    x, y = near
    seen = tab.pixels((x - reach, y - reach, 2 * reach, 2 * reach))
    return int((np.abs(seen - color).max(axis=2) <= 12).sum())


def says_the_force(tab: Tab, watcher: Watcher) -> bool:
    """The number beside the hand is one that the servo said just now, and not nothing."""
    shown = tab.text(".force-label")
    forces = [np.linalg.norm(f["hand_force"][0]) for f in watcher.since(watcher.frame()["tick"] - 1000)]
    return shown in {newtons(force) for force in forces if force > 2.0}


def test_a_drag_pulls_and_spring_and_number_are_those_of_the_servo(tab: Tab, watcher: Watcher) -> None:
    start = watcher.frame()["q"]
    x, y = tab.grab("link3")
    hand = (x + 70, y - 60)
    wait(lambda: watcher.frame()["hand_body"][0] == watcher.body("link3"), "the servo holds what the browser holds")
    tab.page.mouse.move(*hand, steps=6)
    wait(lambda: np.abs(watcher.frame()["q"] - start).max() > 0.02, "the arm yields")
    wait(lambda: says_the_force(tab, watcher), "the number is the servo's")
    # While the arm swings, a damper adds to the spring, and may even push; once it stands, there is the spring alone.
    wait(lambda: watcher.steady(lambda f: rests(f, watcher.body("link3"))), "the arm stands, held")
    f = watcher.frame()
    pull, force = f["hand_target"][0] - f["hand_point"][0], f["hand_force"][0]
    length, hand_of = np.linalg.norm(pull), watcher.hello["hand"]
    spring = min(hand_of["stiffness_N_m"] * length, hand_of["force_limit_N"])
    assert spring > 2.0
    np.testing.assert_allclose(force, spring * pull / length, atol=0.01 * spring)  # towards the hand, as a spring pulls
    wait(lambda: painted(tab, colour_of_force(tab), hand) > 30, "the spring, in the colour of the force")
    tab.keep("touch-pull")
    color = colour_of_force(tab)
    tab.page.mouse.up()
    wait(lambda: watcher.frame()["hand_body"][0] == 0, "the servo lets go")
    wait(lambda: not tab.shows(".force-label"), "no number")
    wait(lambda: painted(tab, color, hand) == 0, "no spring")


def test_the_wheel_moves_a_held_point_in_depth(tab: Tab, watcher: Watcher) -> None:
    tab.grab("link3")
    base = tab.at("base")
    wait(lambda: watcher.frame()["hand_body"][0] > 0, "the servo holds it")
    before = watcher.frame()["hand_target"][0]
    tab.page.mouse.wheel(0, -200)
    wait(lambda: np.linalg.norm(watcher.frame()["hand_target"][0] - before) > 0.02, "depth")
    wait(lambda: watcher.force_N() > 1.0, "a force away from the camera")
    assert tab.at("base") == pytest.approx(base, abs=0.5)  # the camera stays


def presses(watcher: Watcher, tick: int) -> list[dict[str, Any]]:
    """Frames in which the first hand presses; one that was let go for a moment, on a busy machine, has no target."""
    return [f for f in watcher.since(tick) if f["hand_kind"][0] == frame.PRESS]


@pytest.mark.parametrize("how", ["key", "shift"])
def test_pressing_pushes_into_the_surface_and_never_pulls(tab: Tab, watcher: Watcher, how: str) -> None:
    began = watcher.frame()["tick"]
    if how == "key":
        tab.page.keyboard.press("t")
        wait(lambda: tab.shows("[data-choice=press][aria-pressed=true]"), "press mode")
    else:
        tab.page.keyboard.down("Shift")
    tab.grab("link3")
    wait(lambda: watcher.frame()["hand_kind"][0] == frame.PRESS, "the servo presses")
    before = [f["hand_target"][0] for f in presses(watcher, began)][-1]
    tab.page.mouse.wheel(0, 30)  # towards the camera: off the surface

    def farther() -> list[dict[str, Any]]:
        return [f for f in presses(watcher, began) if np.linalg.norm(f["hand_target"][0] - before) > 0.01]

    f = wait(farther, "off the surface")[0]
    assert not f["hand_force"][0].any()
    off = f["hand_target"][0] - before
    tab.page.mouse.wheel(0, -60)  # into it
    wait(lambda: says_the_force(tab, watcher), "a force, and the number is the servo's")
    assert max(f["hand_force"][0] @ off for f in presses(watcher, began)) < 1e-3  # always away from the camera
    tab.keep(f"touch-press-{how}")


def test_two_fingers_are_two_hands(tab: Tab, watcher: Watcher) -> None:
    fingers = tab.fingers()
    places = [tab.still_at("link3"), tab.still_at("tool")]
    for finger, (x, y) in enumerate(places):
        fingers.down(finger, x, y)
        wait(lambda finger=finger: watcher.frame()["hand_body"][finger] > 0, f"finger {finger} holds")
    for finger, (x, y) in enumerate(places):
        fingers.move(finger, x + (40 if finger else -40), y - 40)
    wait(lambda: min(watcher.force_N(0), watcher.force_N(1)) > 2.0, "both pull")
    wait(lambda: tab.page.locator(".force-label").count() == 2, "two numbers")
    tab.keep("touch-two-hands")
    fingers.up(0)
    one = [0, watcher.body("tool")]
    wait(lambda: watcher.frame()["hand_body"].tolist() == one, "one lets go, the other holds on")
    fingers.up(1)
    wait(lambda: watcher.frame()["hand_body"][1] == 0, "the other too")


def test_one_page_has_the_hands_another_asks_and_gets_them(tab: Tab, watcher: Watcher, open_tab: Open) -> None:
    other = open_tab(watcher.url)
    tab.page.bring_to_front()
    x, y = tab.grab("link3")
    tab.page.mouse.move(x + 50, y - 40, steps=4)
    wait(lambda: watcher.force_N() > 2.0, "the first page pulls")
    wait(lambda: "Another page has the hands" in other.text(".banner"), "the second page is told")
    wait(lambda: other.shows(".force-label"), "and sees the force")
    other.keep("hands-watching")
    other.page.mouse.move(*other.at("link2"))
    other.page.mouse.down()
    other.page.mouse.move(*np.add(other.at("link2"), 40))
    tick = watcher.frame()["tick"]
    wait(lambda: watcher.frame()["tick"] > tick + 300, "time passes")
    other.page.mouse.up()
    held = {body for f in watcher.since(tick) for body in f["hand_body"]}
    assert held <= {0, watcher.body("link3")}  # who watches, touches nothing

    other.page.click(".banner button")
    wait(lambda: "asks for the hands" in tab.text(".banner"), "the first page is asked")
    tab.keep("hands-asked")
    tab.page.keyboard.press("y")  # its hands are full of a mouse
    wait(lambda: watcher.frame()["hand_body"][0] == 0, "it lets go")
    tab.page.mouse.up()
    other.page.bring_to_front()
    wait(lambda: not other.shows(".banner"), "the second page is told that it has them")  # until then it only watches
    other.grab("link3")
    wait(lambda: watcher.frame()["hand_body"][0] == watcher.body("link3"), "the second page holds")
    wait(lambda: "Another page has the hands" in tab.text(".banner"), "now the first one watches")
    other.page.mouse.up()
    wait(lambda: not tab.shows(".banner"), "the hands are free")
