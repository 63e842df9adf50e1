"""Ready-made scenes in a real Chromium with a real servo: they are in the picture, few draw calls, no complaints."""

import numpy as np
import pytest
from browsing import wait

from palpate.registry import find
from palpate.runtime.world.session import WorldSession
from palpate.scenes import SCENES

COLOURS = """() => new Promise((done) => requestAnimationFrame(() => {
    // registered after the page's own: its picture of this moment is in the canvas
    const small = new OffscreenCanvas(128, 72).getContext('2d');
    small.drawImage(document.querySelector('.stage canvas'), 0, 0, 128, 72);
    done(new Set(new Uint32Array(small.getImageData(0, 0, 128, 72).data.buffer)).size);
}))"""

pytestmark = pytest.mark.browser


# scene: bodies that must be in the picture, title of a plot, what its legend or its value says
@pytest.mark.parametrize(
    ("name", "least", "title", "says"),
    [
        ("crowd", 150, "Joint angles", "joint6"),
        ("hrp2", 33, "the 8 of 32 that move most", "°"),
        ("incline", 1, "Energy", "J"),
        ("top", 2, "Energy", "J"),
    ],
)
def test_a_scene_opens_with_its_bodies_in_the_picture(built, open_tab, name, least, title, says):
    with WorldSession(find(SCENES, "scenes", name)(), page=True, port=0) as session:
        tab = open_tab(session.url)
        wait(lambda: tab.ask("inView()")["bodies"] >= least, "the bodies are in the picture")
        wait(lambda: 0 < tab.ask("inView()")["drawCalls"] < 40, "few draw calls")
        wait(lambda: tab.page.evaluate(COLOURS) > 50, "it is drawn")  # without a frame for a while, nothing is
        card = tab.page.locator(".plot-card").filter(has_text=title).first
        wait(lambda: says in card.inner_text(), "numbers beside the plot")
        assert title in card.inner_text()
        assert "solid0" not in card.inner_text()  # a free body has no angle
        wait(lambda: "Hz" in tab.text(".health-text"), "the health line")
        wait(lambda: ("contact" in tab.text(".health-text")) == (session.frame()["contacts"] > 0), "contacts, if any")


def test_a_free_body_is_dragged_across_the_table(built, open_tab):
    with WorldSession(find(SCENES, "scenes", "box-on-table")(), page=True, port=0) as session:
        tab = open_tab(session.url)
        assert "Grab anything" in tab.page.locator(".hint").inner_text()
        box = session.scene.model.body("box")
        start = session.frame()["pose"][box, :3].copy()
        x, y = tab.grab("box")
        wait(lambda: session.frame()["hand_body"][0] == box, "the servo holds the box")
        tab.page.mouse.move(x + 60, y, steps=8)
        wait(lambda: np.linalg.norm(session.frame()["pose"][box, :3] - start) > 0.02, "the box slides")
        assert session.frame()["energy"][2] > 0.0  # the hand has done work
        tab.page.mouse.up()
        wait(lambda: session.frame()["hand_body"][0] == 0, "the servo lets go")
        wait(lambda: tab.ask("inView()")["bodies"] == 2, "both are in the picture")
