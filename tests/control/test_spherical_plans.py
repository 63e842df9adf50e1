"""Plans, edits and compliance of spherical joints: a person's arm, led by a plan and pushed by a hand."""

from dataclasses import replace

import numpy as np
import pytest
from guided import Guided

import palpate as pp
from palpate import frame, jit
from palpate.control.plans.guide_tables import KEEP_S, Editing, planned_coordinates
from palpate.control.plans.modes import EDITED, PLANNED, TOUCHED
from palpate.control.plans.plan import Plan, joint_move
from palpate.scenes.robots import locked

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
JOINTS = ("shoulder_r", "elbow_r")
TICKS = 1200


def arm_model() -> pp.Model:
    """A person's right arm on a trunk that stands; shoulder and elbow are spherical."""
    human = pp.models.human()
    q = pp.compile(human).posture("standing")
    bare = replace(human, bodies=tuple(replace(body, shapes=()) for body in human.bodies))
    return pp.compile(locked(bare, q, lambda joint: joint.name in JOINTS))


@pytest.fixture(scope="module")
def model():
    return arm_model()


@pytest.fixture(scope="module")
def plan(model) -> Plan:
    """Both joints about axes that no coordinate has, by minimum jerk; rows of both quaternions."""
    start = pp.integrate(model, model.neutral(), [0.1, -0.3, 0.2, 0.0, -0.6, 0.1], 1.0)
    end = pp.integrate(model, start, [0.5, -0.9, 0.4, 0.3, -0.7, -0.6], 1.0)
    return joint_move(model, start, end, 1e-3, seconds=1.0)


def guided(model, plan, mode, **settings) -> Guided:
    world = pp.World(model.description, dt=1e-3)
    world.q = plan.q[0]
    return Guided(world, plan, Editing(mode, tool="hand_r", loops=False, **settings))


def away(model, q, target) -> float:
    """Length of what is missing between two postures [rad]."""
    return float(np.abs(pp.difference(model, q, target)).max())


def unit(q) -> float:
    return float(np.abs(np.linalg.norm(q.reshape(len(q), 2, 4), axis=2) - 1.0).max())


PUSH = (6.0, -9.0, 4.0)


def test_an_arm_of_spherical_joints_follows_its_plan(model, plan):
    run = guided(model, plan, "wait").run(TICKS)
    worst = max(away(model, q, plan.q[min(k, 1000)]) for k, q in enumerate(run["q"][::20]) for k in [20 * k])
    assert worst < 5e-3
    assert away(model, run["q"][-1], plan.q[-1]) < 1e-4
    assert unit(run["q"]) < 1e-12
    assert away(model, run["plan_q"][300], plan.q[300]) < 1e-12  # what a page shows


def test_a_push_adds_its_own_acceleration_to_the_one_in_force_and_what_it_gave_is_held(model, plan):
    """HOLD, reference 2.4: an event adds H^-1 J^T c; afterwards the mean of the last 50 ms."""
    run = guided(model, plan, "hold")
    run.run(700, run.push("hand_r", PUSH, 400, 480))
    q = run["q"][400]
    J = pp.jacobian(model, q, "hand_r")[3:]
    expected = np.linalg.solve(pp.mass_matrix(model, q), J.T @ PUSH)
    got = run.acceleration[400] - run.acceleration[399]
    assert got == pytest.approx(expected, rel=0.02, abs=0.02 * np.abs(expected).max())
    kept = run.acceleration[480 - round(KEEP_S / run.dt) : 480].mean(axis=0)
    assert np.abs(run.acceleration[482:600] - kept).max() < 0.02 * np.abs(kept).max()
    assert set(run["edit_stage"][481:600]) == {EDITED}


def test_a_plan_waits_while_the_arm_is_led_away_and_goes_on_from_there(model, plan):
    run = guided(model, plan, "wait")
    run.run(3500, run.push("hand_r", PUSH, 400, 700))
    assert away(model, run["q"][699], plan.q[400]) > 0.3  # it yields
    assert run["edit_stage"][600] == TOUCHED
    assert away(model, run["q"][-1], plan.q[-1]) < 1e-4  # and arrives, later
    assert away(model, run["q"][1100], plan.q[-1]) > 0.05
    assert unit(run["q"]) < 1e-12


def test_an_offset_stays_or_swings_back_on_the_manifold(model, plan):
    """BLEND: without a spring the arm keeps its rotation from the plan; with one it is back."""
    stays = guided(model, plan, "blend")
    stays.run(3000, stays.push("hand_r", PUSH, 400, 500))
    d = stays.simulation.guiding.arrays.offset.copy()
    assert np.abs(d).max() > 0.05
    goal = pp.integrate(model, plan.q[-1], d, 1.0)
    assert away(model, stays["q"][-1], goal) < 1e-3
    assert away(model, stays["plan_q"][-1], goal) < 1e-9
    back = guided(model, plan, "blend", blend_period_s=0.8, blend_time_s=0.15)
    back.run(3000, back.push("hand_r", PUSH, 400, 500))
    assert max(away(model, q, plan.q[-1]) for q in back["q"][490:520]) > 0.03
    assert away(model, back["q"][-1], plan.q[-1]) < 2e-3
    assert unit(stays["plan_q"]) < 1e-12


def test_the_tool_of_a_resumed_arm_comes_to_the_plans_goal(model, plan):
    run = guided(model, plan, "resume")
    run.run(3500, run.push("hand_r", PUSH, 400, 500))
    goal = pp.forward_kinematics(model, plan.q[-1])[model.body("hand_r")]
    X = pp.forward_kinematics(model, run["q"][-1])[model.body("hand_r")]
    assert X[:3, 3] == pytest.approx(goal[:3, 3], abs=1e-3)
    assert np.abs(run["v"][-1]).max() < 1e-3


def test_a_taught_arm_weighs_nothing_and_stays_where_it_is_left(model, plan):
    run = guided(model, plan, "teach")
    run.run(8000, run.push("hand_r", PUSH, 100, 300))
    assert away(model, run["q"][-1], plan.q[0]) > 0.2
    assert np.abs(run["v"][-1]).max() < 1e-2
    assert unit(run["q"]) < 1e-12


def test_modes_change_while_it_runs_without_a_jerk(model, plan):
    run = guided(model, plan, "wait")
    hand = run.push("hand_r", PUSH, 200, 300)
    for value in (3.0, 0.0, 1.0, 3.0, 4.0, 0.0):
        run.run(150, hand)
        run.event(frame.MODE, value)
    run.run(2500)
    assert np.abs(np.diff(run["v"], axis=0)).max() < 0.5
    assert away(model, run["q"][-1], plan.q[-1]) < 1e-3
    assert run["edit_stage"][-1] == PLANNED


def test_what_a_taught_arm_did_is_kept_as_quaternions_and_followed(model, plan):
    """TEACH: the motion as a Trajectory, smoothed, is the new plan; unit quaternions all the way."""
    world = pp.World(model.description, dt=1e-3)
    world.q = plan.q[0]
    scene = pp.Scene("arm", "an arm", world, plan, editing=Editing("hold", loops=False))
    session = pp.touch(scene, page=False)
    session.simulate(1.2)
    kept = session.edit.keep()
    assert kept.q.shape[1] == 8
    assert unit(kept.q) < 1e-12
    assert away(model, kept.q[-1], plan.q[-1]) < 0.01
    session.simulate(4.0)
    assert away(model, np.array(session.simulation.arrays.q), kept.q[-1]) < 0.01


# ---- one axis: a spherical joint is a revolute one


def pendulum(kind: str) -> pp.Model:
    body = pp.Body("bob", 2.0, (0.0, 0.0, -0.4), np.diag([0.05, 0.05, 0.05]))
    joint = pp.Joint("hinge", kind, "world", "bob", axis=(0.0, 1.0, 0.0))
    return pp.compile(pp.MultiBody("pendulum", [body], [joint]))


@pytest.mark.parametrize("mode", ["wait", "hold", "resume", "blend", "teach"])
def test_about_one_axis_each_mode_is_that_of_a_revolute_joint(mode):
    """The same plan, the same push in the plane: the same angle."""
    angles = []
    for kind in ("revolute", "spherical"):
        model = pendulum(kind)
        q0 = pp.integrate(model, model.neutral(), [0.2] if kind == "revolute" else [0.0, 0.2, 0.0], 1.0)
        q1 = pp.integrate(model, q0, [1.1] if kind == "revolute" else [0.0, 1.1, 0.0], 1.0)
        world = pp.World(model.description, dt=1e-3)
        world.q = q0
        run = Guided(world, joint_move(model, q0, q1, 1e-3, seconds=0.8), Editing(mode, tool="bob", loops=False))
        run.run(1500, run.push("bob", (3.0, 0.0, 1.0), 300, 400, (0.0, 0.0, -0.4)))
        q = run["q"]
        angles.append(q[:, 0] if kind == "revolute" else 2.0 * np.arctan2(q[:, 2], q[:, 0]))
    revolute, spherical = angles
    assert np.ptp(revolute) > 0.05
    assert np.abs(spherical - revolute).max() < 2e-3 * max(
        1.0, np.ptp(revolute)
    )  # they are integrated in different ways


def test_what_cannot_follow_a_plan_is_refused(model, plan):
    person = pp.compile(pp.models.human())
    with pytest.raises(ValueError, match="a free joint cannot follow a plan"):
        planned_coordinates(person, 7, ["root"])
    with pytest.raises(ValueError, match="8 columns for 4 coordinates"):
        guided(model, plan, "wait", joints=["elbow_r"])
    run = guided(model, plan, "wait")
    with pytest.raises(ValueError, match="no quaternions of unit length"):
        run.simulation.guiding.block_of(plan._replace(q=1.1 * plan.q))
    with pytest.raises(ValueError, match="rows of 8 coordinates and 6 velocities"):
        run.simulation.guiding.block_of(plan._replace(v=plan.q, a=plan.q))


def test_the_shoulder_of_a_standing_person_follows_a_plan_and_yields_to_a_hand():
    """One spherical joint of 47 freedoms is planned, springs hold the others, the feet stay on the floor."""
    world = pp.World([pp.models.human(), pp.models.plane()], dt=1e-3)
    model = world.model
    world.hold(2000.0, 60.0)
    world.hold(0.0, 0.0, joints=["shoulder_r"])
    goal = np.zeros(model.nv)
    goal[model.v_index["shoulder_r"]] = (-0.3, -0.9, 0.0)  # forward, and away from the trunk
    whole = joint_move(model, world.q, pp.integrate(model, world.q, goal, 1.0), 1e-3, seconds=0.8)
    at, v_at = model.q_index["shoulder_r"], model.v_index["shoulder_r"]
    plan = Plan(whole.q[:, at], whole.v[:, v_at], whole.a[:, v_at])
    run = Guided(world, plan, Editing("wait", joints=["shoulder_r"], loops=False))
    run.run(3500, run.push("hand_r", (8.0, -8.0, 0.0), 1000, 1300))

    def missing(k: int) -> float:
        return float(np.abs(pp.difference(model, run["q"][k], whole.q[min(k, 800)]))[v_at].max())

    assert max(missing(k) for k in range(100, 1000, 50)) < 0.03
    assert missing(1299) > 0.2  # led away
    assert missing(3499) < 0.01  # and back
    pelvis = run.position("pelvis")
    assert np.abs(pelvis - pelvis[0]).max() < 0.03
