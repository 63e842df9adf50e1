"""Loose bodies: boxes and balls that wait far above, and are added to a scene while it runs."""

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.runtime.hello import hello_of
from palpate.scenes.arm import arm_line
from palpate.scenes.blocks import box_on_table
from palpate.scenes.loose import EACH, with_loose

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
G = 9.81


def test_loose_bodies_that_wait_change_nothing():
    """The arm moves by the same bits, energy is the same, nothing touches."""
    rows = []
    for scene in (arm_line(), with_loose(arm_line())):
        session = pp.touch(scene, page=False)
        session.simulate(0.3)
        told = session.frame()
        rows.append((told["q"][:6], told["energy"], told["contacts"]))
        session.stop()
    (q, energy, contacts), (q_with, energy_with, contacts_with) = rows
    assert np.array_equal(q, q_with)
    assert energy_with == pytest.approx(energy, rel=1e-12)
    assert contacts == contacts_with == 0


def test_a_body_that_is_added_falls_and_rests_and_one_that_is_removed_is_gone():
    session = pp.touch(with_loose(box_on_table()), page=False)
    name = session.edit.add((0.7, 0.3, 0.9), "box")
    assert session.edit.loose == (name,)
    row = session.scene.model.body(name)
    session.simulate(1.5)
    told = session.frame()
    assert told["pose"][row][2] == pytest.approx(0.75 + 0.05, abs=1e-4)  # on the table
    assert told["energy"][1] == pytest.approx(G * (2.0 * 0.825 + 0.5 * 0.80), abs=1e-2)
    session.edit.remove(name)
    session.simulate(0.1)
    assert session.edit.loose == ()
    assert session.frame()["pose"][row][2] > 50.0
    assert session.frame()["energy"][1] == pytest.approx(G * 2.0 * 0.825, abs=1e-2)
    session.stop()


def test_after_a_reset_a_body_is_where_it_was_added():
    session = pp.touch(with_loose(box_on_table()), page=False)
    name = session.edit.add((0.0, 1.0, 2.0), "ball")
    session.simulate(0.2)
    session.reset()
    session.simulate(0.002)
    assert session.frame()["pose"][session.scene.model.body(name)][:3] == pytest.approx((0.0, 1.0, 2.0), abs=1e-4)
    session.stop()


def test_there_are_a_few_of_each_and_then_a_clear_word():
    session = pp.touch(with_loose(box_on_table()), page=False)
    names = [session.edit.add((0.2 * k, 1.0, 1.0), "ball") for k in range(EACH)]
    assert len(set(names)) == EACH
    with pytest.raises(ValueError, match="every ball is out already; remove one"):
        session.edit.add((0, 0, 1), "ball")
    with pytest.raises(ValueError, match="has no piano to spare"):
        session.edit.add((0, 0, 1), "piano")
    with pytest.raises(ValueError, match="'table' is no obstacle of this scene, nor a body that was added"):
        session.edit.remove("table")
    session.stop()


def test_a_page_is_told_what_can_be_added():
    session = pp.touch(with_loose(box_on_table()), page=False)
    hello = hello_of(session.simulation)
    assert {kind: len(names) for kind, names in hello["loose"].items()} == {"box": EACH, "ball": EACH}
    loose = {body["name"] for body in hello["bodies"] if body["loose"]}
    assert loose == {name for names in hello["loose"].values() for name in names}
    assert all(body["touchable"] for body in hello["bodies"] if body["loose"])
    session.stop()


def test_a_scene_gets_them_once():
    scene = with_loose(box_on_table())
    assert with_loose(scene) is scene
