"""The mobile display as a person before the page has it: walking by keys, feeling with the pointer, in a headset, and a
recording of it.  Mobile display, 4.9 and 6.2."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import DESKTOP, Open, Touched, Watcher, wait

pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser
SCENE = "mobile"  # that is served

EMULATED = Path(__file__).parents[2] / "web" / "tests" / "emulated-xr.js"


def begin(watcher: Watcher) -> None:
    """As at the start; tests share a scene."""
    now_ns = watcher.frame()["wall_ns"]
    watcher.say({"type": "event", "kind": "reset", "value": 0})
    wait(lambda: watcher.began_after(now_ns) and np.allclose(watcher.frame()["mobile_user"], 0.0), "the start")


def test_a_person_walks_by_keys_and_the_robot_keeps_away_and_follows(
    served: tuple[str, Watcher], open_tab: Open
) -> None:
    url, watcher = served
    tab = open_tab(url)
    assert "W A S D" in tab.text(".hint")
    begin(watcher)
    tab.page.keyboard.down("w")
    tab.page.keyboard.down("d")  # both at once: ahead, and to the right

    def ahead_and_right(f: dict[str, Any]) -> bool:
        x, ahead = f["mobile_user"][0, :2]
        return bool(ahead > 0.3 and x < -0.1)  # x is to their left

    wait(lambda: ahead_and_right(watcher.frame()), "ahead, and to the right")
    tab.page.keyboard.up("w")
    tab.page.keyboard.up("d")

    def near(f: dict[str, Any]) -> bool:
        return bool(abs(f["mobile_distance_m"][0] - 0.85) < 0.06 and f["mobile_robot"][0, 1] > 1.0)

    wait(lambda: watcher.steady(near), "it has its distance again, and keeps it")
    x = watcher.frame()["mobile_user"][0, 0]
    assert watcher.frame()["mobile_least_m"][0] > 0.5  # of all ticks since the start
    tab.page.keyboard.down("q")
    wait(lambda: watcher.frame()["mobile_user"][0, 2] > 0.5, "turned to the left")
    tab.page.keyboard.up("q")
    wait(lambda: watcher.frame()["mobile_robot"][0, 0] > x + 0.2, "it goes around with the hand")
    tab.keep("mobile-walk")


def test_the_hand_is_dragged_to_a_slab_and_feels_it(served: tuple[str, Watcher], open_tab: Open) -> None:
    url, watcher = served
    tab = open_tab(url, **DESKTOP)
    begin(watcher)
    tab.page.keyboard.press("0")  # the scene alone
    tab.page.keyboard.press("4")  # from above: a drag keeps the height
    x, y = tab.grab("hand")
    to_x, to_y = tab.still_at("ridges")
    for k in range(1, 21):
        tab.page.mouse.move(x + (to_x - x) * k / 20, y + (to_y - y) * k / 20)
    wait(lambda: watcher.frame()["mobile_hand"][0, 0] < -0.2, "the hand is before it")
    wait(lambda: watcher.steady(lambda f: f["mobile_off_mm"][0] < 100.0), "the hand holds the device")
    assert not watcher.frame()["hand_body"].any()  # led, by no spring
    tab.page.keyboard.down("w")  # a hand that is held still goes along

    def into_m() -> float:
        at = watcher.frame()
        return float((at["device_point"] - at["device_position"])[0, 0])  # x is to the person

    wait(lambda: into_m() > 5e-4, "the surface stops what is shown, and not the hand")
    tab.page.keyboard.up("w")
    wait(lambda: watcher.frame()["device_force"][0, 0] > 0.2, "the hand is pushed back")
    wait(lambda: float(tab.text(".force-label").split(" ")[0] or 0.0) > 0.1, "what is felt is beside the hand")
    tab.keep("mobile-touch")
    tab.page.mouse.up()


def test_a_headset_is_the_head_and_its_controller_the_hand_of_who_walks(
    served: tuple[str, Watcher], open_tab: Open
) -> None:
    """Mobile display, 6.2: head pose from WebXR, local-floor."""
    url, watcher = served
    tab = open_tab(url, script=EMULATED.read_text())
    begin(watcher)
    tab.page.evaluate("xrDevice.controllers.right.at = [0.0, 1.0, -0.55]")
    tab.page.keyboard.press("Shift+W")
    wait(lambda: tab.page.evaluate("xrDevice.pictures") > 2, "the headset draws")
    wait(lambda: watcher.frame()["mobile_head"][0, 1] == pytest.approx(1.6, abs=1e-3), "its height")
    user = watcher.frame()["mobile_user"][0, :2].copy()
    tab.page.evaluate("xrDevice.head = [0.2, 1.5, -0.3]; xrDevice.controllers.right.at = [0.2, 1.0, -0.85]")
    # a headset's -z is ahead and its x to the right: z and -x of the person's floor
    wait(lambda: np.allclose(watcher.frame()["mobile_user"][0, :2] - user, (-0.2, 0.3), atol=0.01), "walked")
    wait(lambda: watcher.frame()["mobile_head"][0, 1] == pytest.approx(1.5, abs=1e-3), "lower")
    wait(lambda: np.allclose(watcher.frame()["mobile_hand"][0, :2], (-0.2, 1.0), atol=0.02), "the hand")
    tab.keep("mobile-headset")
    tab.page.evaluate("xrDevice.session.end()")
    wait(lambda: tab.shows(".transport"), "the page is there again")


def test_a_recording_of_a_walk_is_replayed_with_person_and_robot(tmp_path: Path, built: None, open_tab: Open) -> None:
    path = tmp_path / "walk.mcap"
    running = Touched(SCENE, "--record", str(path))
    try:
        watcher, tab = Watcher(running.url), open_tab(running.url)
        tab.page.keyboard.down("w")
        wait(lambda: watcher.frame()["mobile_user"][0, 1] > 0.3, "walked")
        tab.page.keyboard.up("w")
        wait(lambda: watcher.frame()["mobile_robot"][0, 1] > 1.0, "followed")
        watcher.end()
        tab.forgive_absence()
    finally:
        running.end()
    replaying = Touched(str(path), command="replay")
    try:
        tab = open_tab(replaying.url, **DESKTOP)
        tab.until("frame().mobile_user[1] > 0.25")
        assert tab.shows('[data-map="From above"]')
        assert not tab.shows(".hint")
        wait(lambda: any(does in tab.text(".actors") for does in ("follows", "stands")), "what it does")
        assert math.hypot(*np.subtract(tab.at("robot"), tab.at("person"))) > 10.0  # both are drawn, apart
        tab.page.keyboard.press("w")  # nobody walks in a recording
        tab.keep("mobile-replay")
    finally:
        replaying.end()
