"""Somebody who acts, on the page: what a controller's hello lists is drawn, plotted and said, and can be told to."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from browsing import DESKTOP, Open, wait
from toy_avatar import COMMANDS, ToyAvatar, standing

import palpate as pp
from palpate.scenes.standing import hrp2_standing

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser

HEAD, PALMS = "HEAD_JOINT1", ["RARM_JOINT6", "LARM_JOINT6"]


@pytest.fixture(scope="module")
def session(built: None) -> Iterator[pp.Session]:
    """HRP-2, of whom a toy tells; a device with six sensed freedoms holds its bar before it."""
    toy = ToyAvatar(standing(), sway_m=0.05, head=HEAD, palms=PALMS, palm_axes=[[0, 1, 0], [0, -1, 0]])
    scene = replace(hrp2_standing(), title="Somebody who acts", controllers=(toy,))
    turns = ((0.0, pp.Rotation()), (0.5, pp.Rotation.about((0, 0, 1), 0.6)))
    with pp.open_device("simulated:phantom-premium-1.5-6dof", hand=pp.Hand(turns=turns)) as device:
        running = pp.touch(scene, device, page=True, port=0, browser=False, place=pp.Transform(p=(0.6, -0.2, 0.9)))
        yield running
        running.stop()


def test_what_is_told_of_an_actor_is_drawn_on_request_and_said(session: pp.Session, open_tab: Open):
    tab = open_tab(session.url, **DESKTOP)
    wait(lambda: "carry" in tab.text(".drawn-label"), "the label over its head")
    wait(lambda: "push 87 %" in tab.text(".drawn-label"), "and how sure it is")
    assert tab.text('[data-says="does"] dd') == "carry"
    assert tab.text('[data-says="feels"] dd') == "push"
    assert tab.page.locator('[data-says="feels"] .share').get_attribute("aria-valuenow") == "0.87"
    tab.keep("actors-panel")

    # off at first; on when asked for, and still on the next time
    assert tab.text(".drawn-value") == ""
    for name in ("support", "capture point", "soles", "grasp"):
        tab.page.click(f'[data-drawing="{name}"]')
    values = tab.page.locator(".drawn-value")
    wait(lambda: {"90 mm", "22 N", "18 N"} <= set(values.all_inner_texts()), "the margin at the point, and forces")
    tab.keep("actors-drawn")
    tab.page.reload()
    tab.until("connected()")
    wait(lambda: "90 mm" in tab.page.locator(".drawn-value").all_inner_texts(), "drawn again")
    tab.page.keyboard.press("d")
    tab.page.keyboard.press("d")
    tab.keep("actors-dark")
    tab.page.click('[data-drawing="state"]')
    wait(lambda: tab.text(".drawn-label") == "", "no label")

    for name in ("margin", "pattern", "grasp"):
        tab.page.click(f'[data-plot="{name}"]')
    wait(lambda: "right palm" in tab.text(".plots"), "the plot of the grasp")
    tab.keep("actors-plots")


def test_a_command_and_a_setting_reach_the_controller(session: pp.Session, open_tab: Open):
    tab = open_tab(session.url, **DESKTOP)
    tab.page.click(f'[data-command="{COMMANDS[1]}"]')
    wait(lambda: session.frame()["avatar_behaviour"] == 1, "the command")
    wait(lambda: tab.text('[data-says="does"] dd') == "take", "what it does now")
    slider = tab.page.locator('.actors .slider:has-text("Stiffness") input')
    slider.fill("50")
    wait(lambda: session.frame()["avatar_stiffness"] == 1000.0, "the stiffness")
    tab.page.locator(".actors .switch input").uncheck()
    wait(lambda: session.frame()["avatar_balance"] == 0.0, "no balance")
    session.send("balance", 1.0)  # somebody else turns it on again
    wait(lambda: tab.page.locator(".actors .switch input").is_checked(), "the switch as the servo has it")
    assert (
        tab.page.locator('.controls .slider:has-text("Stiffness")').count() == 1
    )  # that of the hand; the other is here
