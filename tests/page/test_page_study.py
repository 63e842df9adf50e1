"""A study done from end to end in a browser, by a participant whose threshold is known: who feels what the servo says
that is set, presses keys and buttons, and sees nothing that gives the answer away."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import DESKTOP, Open, Tab, Touched, Watcher, wait

from palpate.experiments.studies.people.analysis import analyse
from palpate.experiments.studies.people.plan import find_study
from palpate.record.reader import Recording

pytestmark = pytest.mark.browser

THRESHOLD_N_M = 1560.0  # of the participant: the comparison feels stiffer above it
PLAN = """
title = "Which wall is stiffer?"
scene = "planar-wall"
seed = 5
practice = 1
instructions = "Two walls follow each other.\\n\\nPush the block against each, then say which one was stiffer."
rating = "nasa-tlx"

[stimulus]
setting = "stiffness"
unit = "N/m"
levels = [900, 1200, 1500, 1800, 2100]
standard = 1500

[method]
kind = "constant"
repeats = 2
question = "Which wall felt stiffer?"

[conditions.seh]
settings = { wall = "seh" }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "walls.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def studied(built: None, plan: Path, tmp_path: Path) -> Iterator[Touched]:
    running = Touched(str(plan), "--participant", "7", "--out", str(tmp_path / "out"), command="study")
    yield running
    running.end()


class Participant:
    """Sits before a tab, and feels what the servo has."""

    def __init__(self, tab: Tab, watcher: Watcher) -> None:
        self.tab, self.watcher = tab, watcher
        self.felt: list[float] = []
        self.seen: list[str] = []
        self.number = self.since_ns = 0

    @property
    def kind(self) -> str:
        return str(self.tab.page.locator(".study").get_attribute("data-kind"))

    def attend(self, until: str = "end") -> None:
        """Screen after screen, until one of that kind."""
        while True:
            wait(lambda: self._screen() > self.number, "the next screen")
            self.number = self._screen()
            self.seen.append(self.kind)
            if self.kind == until:
                return
            before_ns = self.watcher.frame()["wall_ns"]
            {"read": self.go_on, "feel": self.feel, "choose": self.choose, "scales": self.rate}[self.kind]()
            self.since_ns = before_ns

    def _screen(self) -> int:
        return int(self.tab.page.locator(".study").get_attribute("data-screen") or 0)

    def go_on(self) -> None:
        self.tab.page.keyboard.press(" ")

    def feel(self) -> None:
        """Once the servo has begun anew, with what was set, since the screen before."""
        wait(lambda: self.watcher.began_after(self.since_ns), "it begins anew")
        if len(self.felt) == 2:
            self.felt = []
        self.felt.append(float(self.watcher.frame()["stiffness"]))
        self.go_on()

    def choose(self) -> None:
        first, second = self.felt
        comparison, standard = (first, second) if second == 1500.0 else (second, first)
        stiffer = comparison > THRESHOLD_N_M
        wanted = self.felt.index(comparison if stiffer else standard) if comparison != standard else 1
        self.felt = []
        self.tab.page.keyboard.press(str(wanted + 1))

    def rate(self) -> None:
        send = self.tab.page.locator(".study-scales button")
        assert send.is_disabled()
        for slider in self.tab.page.locator(".study-scale input").all():
            slider.press("ArrowRight")
        self.tab.keep("study-scales")
        send.click()


def test_a_participant_with_a_known_threshold_does_a_study_in_the_browser(
    studied: Touched, open_tab: Open, plan: Path, tmp_path: Path
) -> None:
    watcher, tab = Watcher(studied.url), open_tab(studied.url, **DESKTOP)
    someone = Participant(tab, watcher)
    tab.keep("study-instructions")
    someone.attend("feel")
    grab_and_push(tab)
    tab.keep("study-feel")
    for hidden in ("header", ".transport", ".side", ".plots", ".force-label"):
        assert not any(each.is_visible() for each in tab.page.locator(hidden).all()), hidden
    for key in ("c", "p", "r", "s", "?"):
        tab.page.keyboard.press(key)
    assert tab.page.locator("dialog[open]").count() == 0
    assert watcher.hello["settings"] == watcher.hello["plots"] == []
    assert watcher.hello["events"] == {}
    someone.feel()
    someone.since_ns = watcher.frame()["wall_ns"]
    someone.attend("choose")
    tab.keep("study-choose")
    someone.choose()
    someone.attend("end")
    tab.keep("study-end")
    watcher.end()
    wait(lambda: studied.process.poll() is not None, "it ends by itself")
    assert studied.process.returncode == 0, studied.said
    tab.forgive_absence()

    out = tmp_path / "out"
    study = find_study(plan)
    lines = [json.loads(line) for line in (out / "participant-007.jsonl").read_text().splitlines()]
    trials = [line for line in lines if line.get("kind") == "trial"]
    assert len(trials) == 11
    assert all(line["hit"] == (line["level"] > THRESHOLD_N_M) for line in trials if line["level"] != 1500.0)
    assert all(0.0 < line["response_s"] < 300.0 for line in trials)
    told = analyse(study, out)["runs"][0]
    assert told["threshold"].low < THRESHOLD_N_M < told["threshold"].high
    assert 1500.0 < told["threshold"].value < 1800.0
    assert 0.0 < told["tlx"] < 100.0
    with Recording(out / "participant-007-1.mcap") as recording:
        marks = [(mark.text, mark.data) for mark in recording.marks]
    answered = [data for text, data in marks if text == "study trial"]
    assert [data["trial"] for data in answered] == [line["trial"] for line in trials]
    assert all(data["participant"] == 7 for _, data in marks)
    felt = [data["value"] for text, data in marks if text == "study feel"]
    assert felt == [value for line in trials for value in line["values"]]


def grab_and_push(tab: Tab) -> None:
    x, y = tab.grab("handle")
    tab.page.mouse.move(x + 60, y, steps=8)
    tab.picture()
    tab.page.mouse.up()


def test_a_study_whose_power_is_lost_goes_on_at_the_trial_it_was_in(
    studied: Touched, open_tab: Open, plan: Path, tmp_path: Path
) -> None:
    watcher, tab = Watcher(studied.url), open_tab(studied.url)
    someone = Participant(tab, watcher)
    for _ in range(3):
        someone.attend("choose")
        someone.choose()
    someone.attend("feel")
    watcher.end()
    studied.end(kill=True)
    tab.forgive_absence()
    before = (tmp_path / "out" / "participant-007.jsonl").read_text()
    assert before.count('"kind": "trial"') == 3

    again = Touched(str(plan), "--participant", "7", "--out", str(tmp_path / "out"), command="study")
    try:
        assert any("goes on at trial 4 of 11" in line for line in again.said), again.said
        watcher = Watcher(again.url)
        someone = Participant(open_tab(again.url), watcher)
        someone.attend("end")
        watcher.end()
        wait(lambda: again.process.poll() is not None, "it ends by itself")
    finally:
        again.end()
    someone.tab.forgive_absence()
    after = (tmp_path / "out" / "participant-007.jsonl").read_text()
    assert after.startswith(before)
    trials = [json.loads(line) for line in after.splitlines() if '"kind": "trial"' in line]
    assert [line["trial"] for line in trials] == list(range(1, 12))
    counted = [line["level"] for line in trials if not line["practice"]]
    assert sorted(counted) == sorted([900.0, 1200.0, 1500.0, 1800.0, 2100.0] * 2)
