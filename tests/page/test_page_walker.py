"""A person who walks in a scene, on the page: maps beside it, keys and sticks that walk, eyes, a robot that fades in
when it is near, a headset that is the person.  Mobile display, 4.9 (figure 3.11), 6.2 and figure 7.3."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import DESKTOP, PHONE, Open, Tab, wait
from fake_servo import Page
from toy_walker import AHEAD, EYES_M, HEAD, SIDE, TIP, TURN, ToyWalker

pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser

EMULATED = Path(__file__).parents[2] / "web" / "tests" / "emulated-xr.js"
MAPS = ["From above", "Front, x", "Side, z"]
# the middle, 0 .. 1 from the left, of what has the first colour of lines on a map
MIDDLE = """name => {
  const canvas = document.querySelector(`[data-map="${name}"] canvas`);
  const {data, width} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let [n, sum] = [0, 0];
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] > 200 && data[i] < 90 && data[i + 2] > 200) { n++; sum += (i / 4) % width; }
  return n ? sum / n / width : -1;
}"""


@pytest.fixture
def walker(built: None) -> Iterator[ToyWalker]:
    with ToyWalker() as made:
        yield made


@pytest.fixture
def page(walker: ToyWalker) -> Iterator[Page]:
    process = Page(walker)
    yield process
    process.close()


def box(tab: Tab, selector: str) -> dict[str, float]:
    found = tab.page.locator(selector).bounding_box()
    assert found is not None, selector
    return dict(found)


def a_map(name: str) -> str:
    return f'[data-map="{name}"]'


def shown(tab: Tab) -> list[str]:
    return [name for name in MAPS if tab.shows(a_map(name))]


def green(tab: Tab) -> int:
    """Pixels of the robot in the scene among the maps."""
    cell = box(tab, ".map-scene")
    red, green_, blue = np.moveaxis(tab.pixels((cell["x"], cell["y"], cell["width"], cell["height"])), -1, 0)
    return int(((green_ > red + 40) & (green_ > blue + 20)).sum())


def middles(tab: Tab) -> list[float]:
    """Of the first two maps, as one picture has them: all are drawn at once."""
    return list(tab.page.evaluate(f"names => names.map({MIDDLE})", MAPS[:2]))


def test_three_maps_and_the_scene_are_four_views_and_a_click_makes_one_large(
    walker: ToyWalker, page: Page, open_tab: Open
) -> None:
    tab = open_tab(page.url, **DESKTOP)
    wait(lambda: shown(tab) == MAPS, "all of them")
    above, front, side, scene = (box(tab, s) for s in (*map(a_map, MAPS), ".map-scene"))
    assert above["x"] == pytest.approx(front["x"], abs=2)
    assert scene["x"] == pytest.approx(side["x"], abs=2)
    assert above["x"] < scene["x"]  # the first top left, the scene top right,
    assert above["y"] == pytest.approx(scene["y"], abs=2)
    assert front["y"] == pytest.approx(side["y"], abs=2)
    assert front["y"] > above["y"]  # the second bottom left, the third bottom right
    x, y = tab.still_at("pillar")  # the scene is seen in its own part
    assert scene["x"] < x < scene["x"] + scene["width"]
    assert scene["y"] < y < scene["y"] + scene["height"]
    places = []
    for at in (-3.0, 3.0):
        walker.base[0] = at
        seen = wait(lambda at=at: (of := middles(tab)) and (of[1] > 0.5) == (at > 0) and of, "its point is where it is")
        places.append(seen[0])
    assert 0.0 < places[0] < places[1]
    tab.keep("walker-four")
    tab.page.locator(f"{a_map(MAPS[1])} canvas").click()
    wait(lambda: shown(tab) == [MAPS[1]], "one is large")
    assert box(tab, a_map(MAPS[1]))["width"] > 1.8 * front["width"]
    tab.page.locator(f"{a_map(MAPS[1])} canvas").click()
    wait(lambda: shown(tab) == MAPS, "and small again")
    tab.page.keyboard.press("0")
    wait(lambda: shown(tab) == [], "the scene alone, by a key")
    tab.page.get_by_role("button", name="Show: All").click()
    wait(lambda: shown(tab) == MAPS, "by a button")
    tab.page.keyboard.press("c")
    wait(lambda: box(tab, a_map(MAPS[0]))["x"] >= box(tab, "#controls")["x"] + box(tab, "#controls")["width"], "beside")


def test_held_keys_walk_and_say_so_again_and_let_go_when_nobody_looks(
    walker: ToyWalker, page: Page, open_tab: Open
) -> None:
    tab = open_tab(page.url)
    tab.page.keyboard.down("w")
    wait(lambda: walker.asked.count((AHEAD, 1.0)) >= 4, "it is said again and again")
    wait(lambda: walker.walker[0] > 0.0, "they walk")
    tab.page.keyboard.up("w")
    wait(lambda: walker.asked[-1] == (AHEAD, 0.0), "let go")
    tab.page.keyboard.down("a")
    wait(lambda: walker.asked[-1] == (SIDE, -1.0), "to the left")
    tab.page.evaluate("window.dispatchEvent(new Event('blur'))")
    wait(lambda: walker.asked[-1] == (SIDE, 0.0), "who looks elsewhere does not walk on")
    tab.page.keyboard.up("a")
    theme = tab.page.evaluate("document.documentElement.dataset.theme")
    for _ in range(2):
        tab.page.keyboard.press("Shift+D")  # colours, the page's own: as the system, light, dark
    wait(lambda: tab.page.evaluate("document.documentElement.dataset.theme") != theme, "with Shift it is the page's")
    assert {kind for kind, _ in walker.asked} == {AHEAD, SIDE}
    tab.page.keyboard.press("?")
    wait(lambda: "walk ahead" in tab.text("dialog[open]"), "the help lists them")


def test_through_the_eyes_the_robot_is_seen_only_when_it_is_near(walker: ToyWalker, page: Page, open_tab: Open) -> None:
    tab = open_tab(page.url, **DESKTOP)
    walker.base[:2] = 3.5, 0.0
    wait(lambda: green(tab) > 200, "from outside it is seen wherever it is")
    tab.page.keyboard.press("5")
    wait(lambda: green(tab) == 0, "through the eyes it is too far")
    walker.base[:2] = 0.95, 0.0
    wait(lambda: green(tab) > 500, "it has come near")
    tab.keep("walker-eyes")
    one = green(tab)
    tab.page.keyboard.press("6")
    cell = box(tab, ".map-scene")
    half = cell["width"] / 2.0

    def halves() -> list[int]:
        parts = [(cell["x"] + k * half, cell["y"], half, cell["height"]) for k in (0, 1)]
        return [int((p[..., 1] > p[..., 0] + 40).sum()) for p in map(tab.pixels, parts)]

    wait(lambda: min(halves()) > 300 and abs(np.diff(halves())[0]) < 0.5 * max(halves()), "both eyes see it")
    assert one > 0
    tab.keep("walker-stereo")
    tab.page.keyboard.press("1")
    walker.base[:2] = 3.5, 0.0
    wait(lambda: green(tab) > 200, "from outside again")


def test_on_a_phone_maps_are_behind_tabs_and_a_stick_walks(walker: ToyWalker, page: Page, open_tab: Open) -> None:
    tab = open_tab(page.url, **PHONE)
    wait(lambda: tab.shows(".stick.walk") and shown(tab) == [], "the scene, and a stick")
    tab.page.get_by_role("button", name=f"Show: {MAPS[0]}").tap()
    wait(lambda: shown(tab) == [MAPS[0]], "a map")
    card, stick = box(tab, a_map(MAPS[0])), box(tab, ".stick.walk")
    assert card["y"] + card["height"] <= stick["y"]  # nothing of it is covered
    assert card["x"] >= 0.0
    assert card["x"] + card["width"] <= 390.0
    fingers = tab.fingers()
    x, y = stick["x"] + stick["width"] / 2.0, stick["y"] + stick["height"] / 2.0
    fingers.down(0, x, y)
    fingers.move(0, x, y - 24.0)
    wait(
        lambda: walker.asked and walker.asked[-1][0] == AHEAD and 0.2 < walker.asked[-1][1] < 1.0,
        "as far as it is pushed",
    )
    fingers.move(0, x, y - 300.0)
    wait(lambda: walker.asked[-1] == (AHEAD, 1.0), "no farther than its edge")
    tab.keep("walker-phone")
    fingers.up(0)
    wait(lambda: walker.asked[-1] == (AHEAD, 0.0), "let go")
    turn = box(tab, ".stick.turn")
    fingers.down(1, turn["x"] + 4.0, turn["y"] + turn["height"] / 2.0)
    wait(lambda: walker.asked[-1][0] == TURN and walker.asked[-1][1] > 0.5, "to the left is anticlockwise")
    fingers.up(1)


def test_a_headset_is_the_person_its_head_and_its_hand(walker: ToyWalker, page: Page, open_tab: Open) -> None:
    """Mobile display, 6.2: head pose from WebXR, local-floor."""
    tab = open_tab(page.url, script=EMULATED.read_text())
    tab.page.keyboard.press("Shift+W")
    wait(lambda: tab.page.evaluate("xrDevice.pictures") > 2, "the headset draws")

    def last(hand: int) -> dict[str, Any] | None:
        return next((seen for seen in reversed(walker.hands_seen.copy()) if seen["hand"] == hand), None)

    head = wait(lambda: (h := last(1)) and h["body"] == HEAD and h, "its head")
    assert head["target"] == pytest.approx([1.0, 0.0, EYES_M], abs=1e-5)
    assert head["orientation"] == pytest.approx([math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)], abs=1e-5)  # along y
    assert head["stiffness_Nm_rad"] > 0.0
    tab.page.evaluate("xrDevice.controllers.right.at = [0.2, 1.0, -0.5]")
    wait(lambda: (h := last(0)) and h["body"] == TIP and np.allclose(h["target"], [1.2, 0.5, 1.0], atol=1e-5), "a hand")
    tab.page.evaluate("xrDevice.squeeze('right')")  # takes nothing: the hand is the person's
    tab.page.evaluate("xrDevice.session.end()")
    wait(lambda: all((h := last(hand)) and h["body"] == 0 for hand in (0, 1)), "taken off, it is nobody")
