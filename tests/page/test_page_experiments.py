"""Experiments in a real Chromium: run, watched, cancelled; their claims in words, their figures large and on disk.

The servo is only played; the lab is the session's own, and runs experiments in processes of their own.
"""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import DESKTOP, PHONE, Open, Tab, wait
from fake_servo import FakeServo, Page
from quick_experiments import PICTURES, install

from palpate.runtime.page.experiments import Lab

pytestmark = pytest.mark.browser

NO_WEBGL = """HTMLCanvasElement.prototype.getContext = new Proxy(HTMLCanvasElement.prototype.getContext, {
    apply: (f, self, args) => String(args[0]).startsWith("webgl") ? null : Reflect.apply(f, self, args)})"""
# Another page, as far as the server can tell, that holds on to a body until it is told to let go.
HOLD = """() => {
    const socket = new WebSocket(`ws://${location.host}/ws`);
    const hand = {type: "hand", body: 3, at_body: [0, 0, 0], target: [0.5, 0, 1], stiffness: 800};
    const beat = setInterval(() => socket.readyState === 1 && socket.send(JSON.stringify(hand)), 30);
    window.letGo = () => { clearInterval(beat); socket.close(); };
}"""
ONLY_LOOKS = """() => document.querySelector('.banner').innerText.includes('Another page has the hands')
    && !document.querySelector('[data-experimenting=run]')?.checkVisibility()"""


class Session:
    """As far as the lab looks at it."""

    may_leave = True


class Office:
    """A page's process, and a lab that answers what it requests."""

    def __init__(self, servo: FakeServo, out: Path) -> None:
        self.out, self.lab, self.page = out, Lab(Session(), out), Page(servo)  # type: ignore[arg-type]
        self._desk = threading.Thread(target=self._answer, daemon=True)
        self._desk.start()

    def _answer(self) -> None:
        for line in self.page.stdout:
            request = json.loads(line)["request"]
            try:
                answer: dict[str, Any] = {"ok": True, **self.lab.answers[request["what"]](request)}
            except ValueError as error:
                answer = {"ok": False, "error": str(error)}
            self.page.tell(id=request["id"], **answer)

    def close(self) -> None:
        self.lab.close()
        self.page.close()
        self._desk.join()


@pytest.fixture
def office(built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    install(tmp_path / "site")
    path = [str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    servo = FakeServo().start()
    made = Office(servo, tmp_path / "out")
    yield made
    made.close()
    servo.stop()


def look_at(open_tab: Open, office: Office, name: str, **options: Any) -> Tab:
    """A tab in which one of the experiments was chosen."""
    tab = open_tab(office.page.url, script=NO_WEBGL, accept_downloads=True, **options)
    tab.page.click("[data-action=experiments]")
    tab.page.click(f"[data-experiment={name}]")
    return tab


def until_it_says(tab: Tab, words: str) -> None:
    wait(lambda: words in tab.text(".outcome"), words)


def downloaded(tab: Tab, selector: str) -> tuple[str, bytes]:
    """The name and the content of the file that a button gives."""
    with tab.page.expect_download() as download:
        tab.page.click(selector)
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_run_shows_its_claims_in_words_and_its_figures_open_and_download(office, open_tab, screen) -> None:
    tab = look_at(open_tab, office, "quick", **screen)
    until_it_says(tab, "not run yet")
    tab.page.click("[data-experimenting=run]")
    until_it_says(tab, "Done in")
    wait(lambda: "2 of 3 claims met" in tab.text(".results"), "the claims")
    first, second, third = (" ".join(row.inner_text().split()) for row in tab.page.locator(".claims tr").all())
    assert first == "not met nothing no number came out at most 1"  # what one looks for comes first
    assert second.startswith("met priority")
    assert second.endswith("at least 10")
    assert third == "met a sum 2 m exactly 2"
    width = "document.querySelector('.figure-button img')?.naturalWidth ?? 0"
    wait(lambda: tab.page.evaluate(width) > 0, "the figure is drawn")
    assert downloaded(tab, "[data-save='drawing.png'] >> nth=0") == ("drawing.png", PICTURES[".png"])
    assert downloaded(tab, "[data-save='drawing.svg'] >> nth=0") == ("drawing.svg", PICTURES[".svg"])
    report = (office.out / "quick" / "report.json").read_bytes()
    assert downloaded(tab, "[data-experimenting=report]") == ("quick-report.json", report)
    tab.keep(f"experiment-{screen['viewport']['width']}")
    tab.page.click(".figure-button")
    wait(lambda: tab.shows(".figure-large .sheet img"), "the figure, large")
    tab.page.keyboard.press("Escape")
    wait(lambda: not tab.shows(".figure-large"), "back to the experiment")
    assert tab.shows(".claims")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]
    tab.page.click("[data-experimenting=back]")
    wait(lambda: "2 of 3 claims met" in tab.text("[data-experiment=quick]"), "the list")


def test_a_run_can_be_cancelled_and_a_failed_one_says_why(office, open_tab) -> None:
    tab = look_at(open_tab, office, "endless")
    tab.page.click("[data-experimenting=run]")
    wait(lambda: "I am" in tab.text(".said"), "what it says")
    until_it_says(tab, "Running")
    tab.page.click("[data-experimenting=cancel]")
    until_it_says(tab, "Cancelled")
    tab.page.click("[data-experimenting=back]")
    tab.page.click("[data-experiment=failing]")
    tab.page.click("[data-experimenting=run]")
    until_it_says(tab, "It failed: RuntimeError: the arm fell off")
    assert not tab.shows(".claims")


def test_while_another_page_has_the_hands_one_can_only_look(office, open_tab) -> None:
    tab = open_tab(office.page.url, script=NO_WEBGL)
    tab.page.evaluate(HOLD)
    wait(lambda: tab.shows(".banner"), "another page has the hands")
    tab.page.click("[data-action=experiments]")
    wait(lambda: "Another page has the hands" in tab.text(".lab .scene-line"), "why not")
    tab.page.click("[data-experiment=quick]")
    until_it_says(tab, "not run yet")
    wait(lambda: tab.page.evaluate(ONLY_LOOKS), "nothing to run while they are another's")  # who stalls may lose them
    tab.page.evaluate("window.letGo()")
    wait(lambda: tab.shows("[data-experimenting=run]"), "the hands are free")
