"""The scenes to be pushed, in a session's tick: what a hand does, what frames show, what a page may set."""

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.control.avatar import Actor
from palpate.control.balance import FALLEN, OFF, STANDING
from palpate.control.balancing import Balancing
from palpate.control.limbs import HRP2, HUMAN
from palpate.frame import PUSH
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.runtime.world.simulation import running
from palpate.scenes.looks import floor
from palpate.scenes.pushed import bend_knees, push_me, push_me_human
from palpate.scenes.scene import Scene

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
BLUNT = DeviceSpec("test", force_limit_N=3000.0, force_rise_N_s=1e9)  # a force is there at once


def pushing(run, body, force, ticks):
    push = run.simulation.hand_layout.pack(body=body, hold=PUSH, force=force, at_body=(0.0, 0.0, 0.15))
    run.ticks(ticks, np.array([push] * ticks))
    run.ticks(1, np.array([run.simulation.hand_layout.pack()]))


@pytest.mark.parametrize(("scene", "chest"), [(push_me, "CHEST_JOINT1"), (push_me_human, "thorax")])
def test_a_hand_pushes_an_avatar_to_its_step_and_it_stands_again(scene, chest):
    """Frames show the capture point's margin, the polygon, sole forces and steps."""
    made = scene()
    with running(made, device=BLUNT) as run:
        run.ticks(300)
        f = run.now
        weight = f["avatar_foot_load"].sum()
        assert f["avatar_balance_state"] == STANDING
        assert f["avatar_capture_margin_m"] > 0.05
        assert f["avatar_sole_forces"][:, 2].sum() == pytest.approx(weight, rel=0.01)
        corners = f["avatar_support_polygon"][: f["avatar_support_count"]]
        assert len(corners) >= 4
        assert np.ptp(corners[:, 1]) > 0.2
        pushing(run, made.model.body(chest), (380.0, 0.0, 0.0), 100)
        run.ticks(2500)
        f = run.now
        assert f["avatar_steps"] >= 1
        assert f["avatar_balance_state"] == STANDING
        assert f["avatar_capture_margin_m"] > 0.04
        assert (run.history("avatar_step_phase") > 0).any()
        assert run.history("avatar_capture_margin_m").min() < 0.0


def test_two_avatars_balance_each_for_itself():
    world = pp.World([pp.models.hrp2(), pp.models.human(at=(1.5, 0.4, 0.0)), floor()])
    bend_knees(world)
    world.hold(2000.0, 60.0)
    actors = [Actor(world, limbs=HRP2), Actor(world, limbs=HUMAN, number=1)]
    for actor in actors:
        actor.add(Balancing(actor).part)
    parts = tuple(part for actor in actors for part in actor.parts)
    with running(Scene("two", "Two", world, controllers=parts), device=BLUNT) as run:
        pushing(run, world.model.body("thorax"), (0.0, 150.0, 0.0), 100)
        run.ticks(2000)
        f = run.now
        assert f["avatar_balance_state"] == f["avatar2_balance_state"] == STANDING
        xi, xi2 = run.history("avatar_capture_point"), run.history("avatar2_capture_point")
        assert np.ptp(xi2[:, 1]) > 0.03
        assert np.ptp(xi[:, :2], axis=0).max() < 2e-4  # the other felt nothing


def test_balance_is_switched_off_and_on():
    made = push_me()
    session = pp.touch(made, page=False)
    session.simulate(0.2)
    assert session.frame()["avatar_balance_state"] == STANDING
    session.send("avatar_balance", 0.0)
    session.simulate(0.1)
    assert session.frame()["avatar_balance_state"] == OFF
    session.send("avatar_balance", 1.0)
    session.simulate(0.3)
    assert session.frame()["avatar_balance_state"] == STANDING
    session.stop()


def test_pushed_over_in_a_session_it_falls_and_a_reset_stands_it_up():
    made = push_me(steps=False)
    with running(made, device=BLUNT) as run:
        pushing(run, made.model.body("CHEST_JOINT1"), (1500.0, 0.0, 0.0), 120)
        run.ticks(1500)
        f = run.now
        assert f["avatar_balance_state"] == FALLEN
        assert np.isfinite(f["q"]).all()
    with running(made, device=BLUNT) as run:  # begins with a reset
        run.ticks(500)
        assert run.now["avatar_balance_state"] == STANDING
        assert np.ptp(run.history("avatar_capture_point")[:, :2], axis=0).max() < 1e-4
