"""Prioritised tasks as a part of the tick: what springs hold the joints to, events that move targets, and reset."""

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.runtime.world.tasks import TaskControl

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
PLACE, OTHER = (0.30, -0.25, 0.95), (0.25, -0.35, 0.80)


def standing(every: int = 1):
    """HRP-2 on the floor, with a hand that reaches; (session, control, hand, feet)."""
    world = pp.World([pp.models.hrp2(), pp.models.plane(), pp.models.box(at=(3.0, 0.0, 1.0))])
    world.hold(2000.0, 60.0)
    feet, hand = pp.tasks.Feet("RLEG_JOINT5", "LLEG_JOINT5"), pp.tasks.Point("RARM_JOINT6", PLACE)
    tasks = pp.Tasks(world.model, [feet, pp.tasks.CenterOfMass(), hand, pp.tasks.Posture()], world.q)
    control = TaskControl(tasks, every=every)
    scene = pp.Scene("reach", "It reaches", world, controllers=(tasks if every == 1 else control,))
    return pp.touch(scene, page=False), control, hand, feet


def hand_at(session) -> np.ndarray:
    model = session.scene.model
    return pp.forward_kinematics(model, session.scene.world.q)[model.body("RARM_JOINT6")][:3, 3]


@pytest.mark.parametrize("every", [1, 5])
def test_a_standing_robot_reaches_by_its_springs_and_keeps_standing(every):
    session, control, hand, _ = standing(every)
    model = session.scene.model
    feet = [model.body(name) for name in ("RLEG_JOINT5", "LLEG_JOINT5")]
    before = pp.forward_kinematics(model, session.scene.world.q)[feet]
    session.simulate(2.5)
    assert np.linalg.norm(hand_at(session) - PLACE) < 0.02  # springs give a little under the arm's weight
    after = pp.forward_kinematics(model, session.scene.world.q)[feet]
    assert np.abs(after - before).max() < 5e-3
    assert control.tasks.error(hand, session.simulation.world.arrays.state.q_hold)[1] < 1e-4


def test_a_target_moves_by_an_event_and_a_reset_takes_it_back():
    session, control, hand, _ = standing(5)
    session.simulate(1.0)
    control.aim(session, hand, OTHER)
    session.simulate(2.0)
    assert np.linalg.norm(hand_at(session) - OTHER) < 0.02
    missing = session.frame()["tasks_missing"]
    assert len(missing) == len(control.tasks.tasks)
    session.reset()
    session.simulate(2.5)
    assert np.linalg.norm(hand_at(session) - PLACE) < 0.02


def test_what_cannot_be_aimed_is_refused():
    session, control, hand, _ = standing(5)
    posture = control.tasks.tasks[-1]
    with pytest.raises(ValueError, match="keeps its target"):
        control.aim(session, posture, session.scene.world.q)
    with pytest.raises(ValueError, match="target"):
        control.aim(session, hand, (0.0, float("nan"), 1.0))
    with pytest.raises(ValueError, match="not in this list"):
        control.aim(session, pp.tasks.Point("RARM_JOINT6"), PLACE)
    with pytest.raises(ValueError, match="at least 1"):
        TaskControl(control.tasks, every=0)
