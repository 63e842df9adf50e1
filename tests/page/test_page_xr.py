"""A headset that is only played, before a real `palpate touch`: its controllers are hands, and pulse with the force."""

from pathlib import Path

import numpy as np
import pytest
from browsing import Open, Tab, Watcher, wait

pytestmark = pytest.mark.browser
SCENE = "box-on-table"  # that is served

EMULATED = Path(__file__).parents[2] / "web" / "tests" / "emulated-xr.js"


@pytest.fixture
def tab(served: tuple[str, Watcher], open_tab: Open) -> Tab:
    return open_tab(served[0], script=EMULATED.read_text())


def scan(tab: Tab) -> None:
    """Points the right controller about, squeezing, until it has hold of something."""
    squeeze = "(at) => { xrDevice.controllers.right.at = at; xrDevice.squeeze('right'); }"
    for up in np.arange(0.05, 1.6, 0.1):
        for right in np.arange(-0.6, 0.61, 0.15):
            tab.page.evaluate(squeeze, [float(right), float(up), 0.0])
            if tab.ask("held()"):
                return
            tab.page.evaluate("xrDevice.open('right')")
    pytest.fail("the controller found nothing to hold")


def test_a_headset_enters_grabs_and_pulses_with_the_force(tab: Tab, served: tuple[str, Watcher]) -> None:
    watcher = served[1]
    tab.page.keyboard.press("w")
    wait(lambda: tab.page.evaluate("xrDevice.pictures") > 2, "the headset draws")
    scan(tab)
    held = tab.ask("held()")
    wait(lambda: watcher.frame()["hand_body"].max() == watcher.body(held), "the servo holds it")
    hand = int(watcher.frame()["hand_body"].argmax())
    tab.page.evaluate("xrDevice.controllers.right.at[1] += 0.1")
    # While it swings, the hand may even hold it back; what hangs still is held up, as the controller went.
    wait(lambda: watcher.steady(lambda f: f["hand_force"][hand][2] > 2.0), "the servo holds it up")
    wait(lambda: tab.page.evaluate("xrDevice.controllers.right.pulses.length") > 0, "it pulses")
    assert 0.0 < max(tab.page.evaluate("xrDevice.controllers.right.pulses")) <= 1.0
    assert tab.page.evaluate("xrDevice.controllers.left.pulses.length") == 0
    tab.keep("headset")
    tab.page.evaluate("xrDevice.open('right')")
    wait(lambda: not watcher.frame()["hand_body"].any(), "the servo lets go")
    tab.page.evaluate("xrDevice.session.end()")
    wait(lambda: tab.shows(".transport"), "the page is there again")
    tab.keep("headset-off")


def test_without_https_the_page_says_what_a_headset_needs(served: tuple[str, Watcher], open_tab: Open) -> None:
    tab = open_tab(served[0], script="Object.defineProperty(window, 'isSecureContext', {value: false})")
    tab.page.keyboard.press("c")
    wait(lambda: "--tls" in tab.text("#controls"), "it says what to do")
