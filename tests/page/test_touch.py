"""The whole way, nothing played: a real servo, the real page, a real browser, a person's drag.

`make test` has this one test of the browser's; `make test-browser` has the others.
"""

import numpy as np
import pytest
from browsing import wait

from palpate import frame
from palpate.record.reader import Recording
from palpate.runtime.world.session import WorldSession
from palpate.scenes.arm import arm_at_rest

pytestmark = pytest.mark.browser


@pytest.fixture
def session(built, tmp_path):
    with WorldSession(arm_at_rest(), page=True, port=0, record=tmp_path / "drag.mcap") as running:
        yield running


def test_a_drag_in_the_browser_moves_the_arm_and_is_in_the_recording(session, open_tab, tmp_path):
    tab = open_tab(session.url)
    link3 = session.scene.model.body("link3")
    start = session.frame()["q"].copy()
    x, y = tab.grab("link3")
    wait(lambda: session.frame()["hand_body"][0] == link3, "the servo holds what the browser holds")
    tab.page.mouse.move(x + 60, y - 50, steps=8)
    wait(lambda: np.abs(session.frame()["q"] - start).max() > 0.05, "the arm yields")
    wait(lambda: tab.ask("forceN()") > 0.0, "the page shows a force")
    tab.page.mouse.up()
    wait(lambda: session.frame()["hand_body"][0] == 0, "the servo lets go")
    wait(lambda: np.abs(session.frame()["q"] - start).max() < 1e-2, "the arm comes back")

    tab.page.keyboard.press("Space")
    wait(lambda: session.frame()["state"] == frame.PAUSED, "the space bar pauses the servo")
    session.stop()
    tab.forgive_absence()
    with Recording(tmp_path / "drag.mcap") as recording:
        forces = [np.linalg.norm(recording.layout.read(words, "hand_force")[0]) for words in recording]
        held = [recording.layout.read(words, "hand_body")[0] for words in recording]
    assert max(forces) > 1.0
    assert link3 in held
