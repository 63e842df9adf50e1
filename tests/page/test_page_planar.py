"""The planar scene on the page, by `palpate touch`: a drag and the wheel move the block among its walls, a law is
swapped while it is held, and two laws run side by side."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from browsing import DESKTOP, Open, Tab, Watcher, wait

pytestmark = pytest.mark.browser
SCENE = "planar-block"  # that is served


@pytest.fixture
def tab(served: tuple[str, Watcher], open_tab: Open) -> Iterator[Tab]:
    opened = open_tab(served[0], **DESKTOP)
    yield opened
    opened.page.mouse.up()


def test_a_drag_moves_the_block_onto_a_wall_and_the_wheel_turns_it(tab: Tab, watcher: Watcher) -> None:
    x, y = tab.grab("handle")
    wait(lambda: watcher.frame()["hand_body"][0] == watcher.body("handle"), "the servo holds the handle")
    tick = watcher.frame()["tick"]
    for k in range(1, 21):
        tab.page.mouse.move(x, y + 9 * k)
    touching = wait(lambda: [f for f in watcher.since(tick) if f["contacts"] > 0], "it touches the wall")
    assert touching[0]["pose"][watcher.body("block"), 1] < -0.05
    tab.keep("planar-pressed")
    tab.page.mouse.move(x, y, steps=10)
    wait(lambda: watcher.frame()["contacts"] == 0, "off the wall")

    def turned_rad() -> float:
        """After one more notch, and time by the servo's clock to follow: half a turn ahead, it would be behind."""
        tick = watcher.frame()["tick"]
        tab.page.mouse.wheel(0, -120)
        wait(lambda: watcher.frame()["tick"] > tick + 50, "time passes")
        return float(watcher.frame()["block"][2])

    wait(lambda: turned_rad() > 1.1 * math.pi, "more than half a turn, counted on")
    poses = np.array([f["pose"][watcher.body("block")] for f in watcher.since(0)])
    assert (np.abs(poses[:, 2]) < 1e-12).all()  # in its plane
    assert watcher.frame()["fault"] == 0


def test_laws_are_swapped_while_it_runs_and_compared_side_by_side(tab: Tab, watcher: Watcher) -> None:
    if not tab.shows(".controls"):
        tab.page.keyboard.press("c")
    walls = next(s["choices"] for s in watcher.hello["settings"] if s["event"] == "wall")
    for name in ("pulse", "zoh", "seh"):
        tab.page.locator('.controls select[aria-label="Wall"]').select_option(name)
        wait(lambda name=name: watcher.frame()["wall"] == walls.index(name), f"the wall is {name}")
    tab.page.locator(".actors .switch input").check()
    wait(lambda: watcher.frame()["compare"] == 1, "both run")
    wait(
        lambda: tab.ask("inView()")["of"] == len([x for x in watcher.frame()["parked"][1:] if not x]) + 1,
        "both are seen",
    )
    dashed = tab.page.locator("[data-card=penetration] .legend li.dashed")
    wait(lambda: dashed.count() == 1, "its line is plotted too")
    tab.keep("planar-compared")
    tab.page.locator(".actors .switch input").uncheck()
    wait(lambda: watcher.frame()["compare"] == 0, "one alone")
