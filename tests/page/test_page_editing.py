"""The edit workflow, obstacles and time, by `palpate touch arm-line`: what the page does is what the session has."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import DESKTOP, Open, Tab, Watcher, wait

import palpate as pp
from palpate import frame
from palpate.control.plans.modes import EDITED, ENDED, PLANNED, TOUCHED

pytestmark = pytest.mark.browser
SCENE = "arm-line"  # that is served

PARKED_M = 50.0  # higher, or deeper, nobody sees what waits there


@pytest.fixture(scope="module")
def opened(served: tuple[str, Watcher], open_once: Open) -> Tab:
    tab = open_once(served[0], **DESKTOP)
    assert tab.shows("#edit")
    return tab


@pytest.fixture
def tab(opened: Tab, watcher: Watcher) -> Iterator[Tab]:
    """The tab, the arm at the beginning of its plan; afterwards nothing was complained of."""
    opened.page.evaluate("document.activeElement.blur()")
    began_ns = watcher.frame()["wall_ns"]
    watcher.say({"type": "event", "kind": "play"})
    watcher.say({"type": "event", "kind": "reset"})
    wait(lambda: planned_again(watcher, began_ns), "the beginning")
    yield opened
    opened.page.mouse.up()
    assert opened.complaints == []


def planned_again(watcher: Watcher, began_ns: int) -> bool:
    """Whether the plan has begun again since that moment."""
    return watcher.began_after(began_ns) and stage(watcher) == PLANNED


def stands(f: dict[str, Any]) -> bool:
    return bool(np.abs(f["v"]).max() < 1e-3)


def stage(watcher: Watcher) -> int:
    return int(watcher.frame()["edit_stage"])


def exported(watcher: Watcher, which: str) -> dict[str, Any]:
    answer = watcher.request("export", which=which, format="json")
    assert answer["ok"], answer
    return answer


def pull_the_arm(tab: Tab, watcher: Watcher) -> None:
    """Takes the arm off its plan and lets it go."""
    x, y = tab.grab("link3")
    tab.page.mouse.move(x - 60, y - 90, steps=6)
    wait(lambda: watcher.force_N() > 5.0, "the servo feels it")
    wait(lambda: stage(watcher) == TOUCHED, "touched")
    tab.page.mouse.up()
    wait(lambda: watcher.steady(lambda f: f["edit_stage"] in (EDITED, ENDED) and stands(f)), "edited, and at rest")


def press(tab: Tab, button: str) -> None:
    """One of the panel's buttons, once it can be pressed."""
    tab.page.click(f"[data-edit={button}]:not([disabled])")


def test_an_edit_is_compared_kept_replayed_and_downloaded(tab: Tab, watcher: Watcher, tmp_path: Path) -> None:
    before = exported(watcher, "plan")
    wait(lambda: watcher.steady(lambda f: f["time_s"] > 2.0 and stands(f)), "the plan has run")
    pull_the_arm(tab, watcher)
    press(tab, "compare")
    wait(lambda: tab.shows(".compare table"), "plan and motion side by side")
    tab.keep("edit-compare")
    assert "duration" in tab.text(".compare")
    assert "gap to obstacle" in tab.text(".compare")

    press(tab, "keep")
    wait(lambda: "Kept" in tab.text(".stage-words"), "kept")
    kept = exported(watcher, "plan")
    assert kept["text"] != before["text"]
    tab.keep("edit-kept")
    began_ns = watcher.frame()["wall_ns"]
    press(tab, "replay")

    def from_its_beginning() -> list[Any]:
        return [f["q"] for f in watcher.later_than(began_ns) if f["time_s"] < 1.0]

    wait(from_its_beginning, "from its beginning")
    start = from_its_beginning()[0]
    wait(lambda: np.abs(watcher.frame()["q"] - start).max() > 0.05, "it moves")
    assert not watcher.frame()["hand_body"].any()

    tab.page.select_option("select[aria-label='which trajectory']", "plan")
    with tab.page.expect_download() as coming:
        press(tab, "download")
    file = tmp_path / coming.value.suggested_filename
    coming.value.save_as(file)
    assert file.name == kept["name"]
    assert file.read_text() == kept["text"]
    trajectory = pp.trajectories.load(file)
    assert trajectory.names == tuple(f"joint{i}" for i in range(1, 7))
    assert trajectory.duration_s > 2.0
    session = pp.trajectories.load(_written(tmp_path, kept["text"]))
    assert np.array_equal(trajectory.q, session.q)


def _written(folder: Path, text: str) -> Path:
    path = folder / "session.json"
    path.write_text(text)
    return path


@pytest.mark.parametrize("style", ["ros-yaml"])
def test_another_format_is_downloaded_as_the_session_has_it(tab: Tab, watcher: Watcher, style: str) -> None:
    """The formats themselves: tests/control/test_trajectory_files.py."""
    tab.page.select_option("select[aria-label='which trajectory']", "plan")
    tab.page.select_option("select[aria-label='format of the file']", style)
    with tab.page.expect_download() as coming:
        press(tab, "download")
    answer = watcher.request("export", which="plan", format=style)
    assert coming.value.suggested_filename == answer["name"]
    assert Path(coming.value.path()).read_text() == answer["text"]


def test_an_edit_that_is_discarded_leaves_the_plan_as_it_was(tab: Tab, watcher: Watcher) -> None:
    before = exported(watcher, "plan")
    pull_the_arm(tab, watcher)
    began_ns = watcher.frame()["wall_ns"]
    press(tab, "discard")
    wait(lambda: planned_again(watcher, began_ns), "back to the plan")
    assert exported(watcher, "plan")["text"] == before["text"]
    wait(lambda: tab.shows("[data-edit=replay]"), "replay instead of discard")


def test_an_obstacle_is_added_moved_and_removed(tab: Tab, watcher: Watcher) -> None:
    assert watcher.place("obstacle2")[2] < -PARKED_M
    tab.page.click("[data-add=obstacle]")
    wait(lambda: watcher.place("obstacle2")[2] > -PARKED_M, "it is out")
    wait(lambda: "obstacle2" in tab.text(".obstacles"), "it is listed")
    tab.keep("obstacle-added")
    before = watcher.place("obstacle2")
    x, y = tab.hover("obstacle2")
    tab.page.mouse.down()
    tab.page.mouse.move(x + 40, y - 30, steps=4)
    wait(lambda: np.linalg.norm(watcher.place("obstacle2") - before) > 0.02, "it is moved")
    tab.page.mouse.up()
    wait(lambda: np.hypot(*np.subtract(tab.at("obstacle2"), (x + 40, y - 30))) < 8, "to where the pointer is")
    assert not watcher.frame()["hand_body"].any()  # moved, not pulled
    tab.page.click("button[title='Remove obstacle2']")
    wait(lambda: watcher.place("obstacle2")[2] < -PARKED_M, "it is gone")
    wait(lambda: "obstacle2" not in tab.text(".obstacles"), "from the list too")


@pytest.mark.parametrize("kind", ["ball"])
def test_a_free_body_is_added_pulled_and_removed(tab: Tab, watcher: Watcher, kind: str) -> None:
    name = watcher.hello["loose"][kind][0]
    assert watcher.place(name)[2] > PARKED_M
    tab.page.click(f"[data-add={kind}]")
    wait(lambda: watcher.place(name)[2] < PARKED_M, "it is out")
    wait(lambda: name in tab.text(".obstacles"), "it is listed")
    before = tab.still_at(name)
    tab.grab(name)
    wait(lambda: watcher.frame()["hand_body"][0] == watcher.body(name), "the servo holds it")
    tab.page.mouse.move(before[0], before[1] - 40, steps=4)
    wait(lambda: watcher.force_N() > 0.1, "it pulls back")
    tab.keep(f"free-{kind}")
    tab.page.mouse.up()
    tab.page.click(f"button[title='Remove {name}']")
    wait(lambda: watcher.place(name)[2] > PARKED_M, "it is gone")


def test_pause_and_steps_of_exactly_one_tick(tab: Tab, watcher: Watcher) -> None:
    tick_s = 1.0 / watcher.hello["rate_hz"]
    tab.page.click("[data-action=pause]")
    wait(lambda: watcher.frame()["state"] == frame.PAUSED, "paused")
    wait(lambda: tab.shows("[data-action=play]"), "play is offered")
    still = watcher.frame()
    for step, how in enumerate(("click", "key", "click"), start=1):
        if how == "click":
            tab.page.click("[data-action=step]")
        else:
            tab.page.keyboard.press(".")
        wait(lambda step=step: watcher.frame()["time_s"] > still["time_s"] + (step - 0.5) * tick_s, "a step")
        seen = watcher.frame()["wall_ns"]
        wait(lambda seen=seen: watcher.frame()["wall_ns"] > seen + 2e8, "and no more")
        assert watcher.frame()["time_s"] == pytest.approx(still["time_s"] + step * tick_s, abs=0.1 * tick_s)
    tab.page.click("[data-action=play]")
    wait(lambda: watcher.frame()["state"] == frame.RUNNING, "it runs again")


def test_speed_is_told_to_the_servo_and_shown_as_it_has_it(tab: Tab, watcher: Watcher) -> None:
    tab.page.select_option(".speed", "0.25")
    wait(lambda: watcher.frame()["speed"] == 0.25, "slower")
    tab.page.evaluate("document.activeElement.blur()")
    tab.page.keyboard.press("]")
    wait(lambda: watcher.frame()["speed"] == 0.5, "the key too")
    watcher.say({"type": "event", "kind": "speed", "value": 2.0})  # another page
    wait(lambda: tab.page.locator(".speed").input_value() == "2", "what another page chose is shown")
    watcher.say({"type": "event", "kind": "speed", "value": 1.0})
    wait(lambda: tab.page.locator(".speed").input_value() == "1", "as usual")


def test_reset_goes_back_to_the_beginning(tab: Tab, watcher: Watcher) -> None:
    def beginning() -> np.ndarray:
        tab.page.click("[data-action=reset]")
        wait(lambda: watcher.frame()["time_s"] == 0.0, "time begins again")
        wait(lambda: tab.text(".clock").startswith("0.00"), "and the page shows it")
        return np.array(watcher.frame()["q"])

    tab.page.click("[data-action=pause]")
    wait(lambda: watcher.frame()["state"] == frame.PAUSED, "paused")
    start = beginning()
    tab.page.click("[data-action=play]")
    wait(lambda: np.abs(watcher.frame()["q"] - start).max() > 0.1, "the arm is on its way")
    tab.page.click("[data-action=pause]")
    wait(lambda: watcher.frame()["state"] == frame.PAUSED, "paused")
    assert np.array_equal(beginning(), start)
    assert not watcher.frame()["v"].any()
