"""What a planned motion does when it is touched, and afterwards: the modes of reference 2.4, in the servo's tick."""

import numpy as np
import pytest
from guided import Guided
from hypothesis import given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate import frame, jit
from palpate.control.plans.guide import LIGHTEST_N
from palpate.control.plans.guide_tables import KEEP_S, Editing
from palpate.control.plans.modes import EDITED, ENDED, MODES, PLANNED, TOUCHED
from palpate.control.plans.plan import Plan, rest
from palpate.scenes.arm import arm_at_rest, arm_line

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
SIDEWAYS = (0.0, -15.0, 0.0)


@pytest.fixture(scope="module")
def scene():
    return arm_line(solid=False)


def line(scene, mode: str, **settings) -> Guided:
    e = scene.editing
    return Guided(scene.world, scene.plan, Editing(mode, tool=e.tool, wall=e.wall, loops=False, **settings))


def plan_row(scene, k: int) -> np.ndarray:
    return scene.plan.a[min(k, len(scene.plan.a) - 1)]


# ---- HOLD


def test_a_push_adds_exactly_its_own_acceleration_to_the_one_in_force(scene):
    """Reference 2.4: an event adds H^-1 J^T c."""
    run = line(scene, "hold")
    run.run(561, run.push("link2", SIDEWAYS, 550, 600, (0.3, 0, 0)))
    q = run["q"][550]
    J = pp.jacobian(scene.model, q, "link2", (0.3, 0, 0))[3:]
    expected = np.linalg.solve(pp.mass_matrix(scene.model, q), J.T @ SIDEWAYS)
    assert run.acceleration[550] - plan_row(scene, 550) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_after_a_push_the_mean_acceleration_of_the_last_50_ms_of_contact_is_held(scene):
    run = line(scene, "hold")
    run.run(900, run.push("link2", SIDEWAYS, 550, 680, (0.3, 0, 0)))
    kept = run.acceleration[680 - round(KEEP_S / run.dt) : 680].mean(axis=0)
    after = run.acceleration[681:]
    assert np.abs(after - kept).max() < 1e-6
    assert set(run["edit_stage"][681:]) == {EDITED}


def test_only_contact_above_one_newton_counts_for_what_is_held(scene):
    """A push that fades below 1 N before the hand leaves: the mean is of the part that was felt."""
    run = line(scene, "hold")
    strong, weak = run.push("link2", SIDEWAYS, 550, 600), run.push("link2", (0, -0.9 * LIGHTEST_N, 0), 600, 660)
    run.run(800, lambda k: strong(k) or weak(k))
    kept = run.acceleration[550:600].mean(axis=0)
    assert run.acceleration[700] == pytest.approx(kept, abs=1e-6)


def test_a_touch_too_light_to_count_leaves_the_acceleration_in_force(scene):
    run = line(scene, "hold")
    run.run(800, run.push("link2", (0, -0.5 * LIGHTEST_N, 0), 550, 600))
    assert run.acceleration[700] == pytest.approx(plan_row(scene, 550), abs=1e-6)


def test_a_held_motion_ends_at_the_wall_and_stays_there(scene):
    run = line(scene, "hold")
    first, second = (run.push("link2", f, at, at + 50, (0.39, 0, 0)) for f, at in ((SIDEWAYS, 550), ((0, 30, 0), 1150)))
    run.run(3000, lambda k: first(k) or second(k))
    assert run["edit_stage"][-1] == ENDED
    x = run.position("tool")[:, 0]
    assert x[-1] == pytest.approx(0.88, abs=0.03)
    assert np.abs(run["v"][-1]).max() < 1e-9


def test_a_held_motion_ends_at_the_limit_of_a_joint():
    scene = arm_line(solid=False)
    run = Guided(scene.world, scene.plan, Editing("hold", loops=False))  # no wall to stop it
    run.run(6000, run.push("link2", SIDEWAYS, 550, 600, (0.39, 0, 0)))
    assert run["edit_stage"][-1] == ENDED
    slack = 0.1  # [rad] to brake in
    assert (run["q"] <= scene.model.upper[:6] + slack).all()
    assert (run["q"] >= scene.model.lower[:6] - slack).all()


def test_an_ended_motion_can_be_pushed_on(scene):
    run = line(scene, "hold")
    first, second = (run.push("link2", f, at, at + 50, (0.39, 0, 0)) for f, at in ((SIDEWAYS, 550), ((0, 30, 0), 1150)))
    third = run.push("tool", (-30, 0, 0), 2500, 2600)
    run.run(2650, lambda k: first(k) or second(k) or third(k))
    assert run["edit_stage"][2499] == ENDED
    assert run["edit_stage"][2550] == TOUCHED
    assert run.position("tool")[-1, 0] < run.position("tool")[2499, 0] - 0.01


# ---- RESUME


def test_item_19_one_push_and_the_plan_is_resumed(scene):
    """Acceptance 19: 40 N for 0.2 s; final tool within 1e-3 m of the target, final speed < 1e-6."""
    run = line(scene, "resume", slide=(0, 1, 0))
    run.run(3500, run.push("link2", (0, -40, 0), 550, 750, (0.39, 0.0, 0.09)))
    tool = run.position("tool")
    velocity = (tool[751] - tool[749]) / (2 * run.dt)
    goal = (0.88, tool[750, 1] + 0.5 * velocity[1], -0.05)
    assert tool[-1] == pytest.approx(goal, abs=1e-3)
    assert np.abs(run["v"][-1]).max() < 1e-6
    assert tool[1950] == pytest.approx(goal, abs=1e-3)  # 1.2 s after the hand left


def test_a_resumed_motion_begins_as_fast_as_the_tool_was(scene):
    run = line(scene, "resume")
    run.run(1000, run.push("link2", (0, -40, 0), 550, 750, (0.39, 0, 0)))
    jump = np.abs(np.diff(run["v"], axis=0)[745:760]).max()
    assert jump < 0.05  # [rad/s] in a tick: no blow, only forces


def test_without_a_direction_to_slide_the_goal_is_the_plans(scene):
    run = line(scene, "resume")
    run.run(3000, run.push("link2", (0, -40, 0), 550, 750, (0.39, 0, 0)))
    assert run.position("tool")[-1] == pytest.approx((0.88, 0.1501, -0.05), abs=1e-5)
    assert run["q"][-1] == pytest.approx(scene.plan.q[-1], abs=1e-4)


def test_a_second_push_plans_again(scene):
    run = line(scene, "resume", slide=(0, 1, 0))
    first, second = run.push("link2", (0, -40, 0), 550, 750), run.push("link2", (0, 40, 0), 1000, 1150, (0.39, 0, 0))
    run.run(3500, lambda k: first(k) or second(k))
    assert run.position("tool")[-1, [0, 2]] == pytest.approx((0.88, -0.05), abs=1e-4)
    stages = run["edit_stage"]
    assert [int(x) for x in stages[[500, 600, 900, 1100, 1500]]] == [PLANNED, TOUCHED, EDITED, TOUCHED, EDITED]


def test_an_arm_that_is_sent_out_of_its_reach_comes_to_rest_stretched(scene):
    """Reference 5.4: 60 N for 0.3 s leads to a goal beyond reach (x = 0.863 m)."""
    run = line(scene, "resume", slide=(0, 1, 0))
    run.run(4000, run.push("link2", (0, -60, 0), 550, 850, (0.39, 0.0, 0.09)))
    assert 0.85 < run.position("tool")[-1, 0] < 0.88
    assert np.abs(run["v"][-1]).max() < 1e-6
    assert np.abs(run["v"]).max() < 5.0


# ---- BLEND


@pytest.mark.parametrize("period_s", [None, 0.8])
def test_the_offset_moves_as_mass_damper_and_spring_whatever_the_arm_weighs(scene, period_s):
    """M_d d'' + B_d d' + K_d d = J^T c, integrated independently from the forces that the frames hold."""
    run = line(scene, "blend", blend_period_s=period_s)
    point = (0.39, 0.0, 0.0)
    run.run(1500, run.push("link2", (0, -40, 0), 550, 750, point))
    g = run.simulation.guiding.arrays
    d, rate = np.zeros(6), np.zeros(6)
    worst = 0.0
    for k, (q, shown, force) in enumerate(zip(run["q"], run["plan_q"], run["hand_force"][:, 0], strict=True)):
        worst = max(worst, np.abs(shown - scene.plan.q[min(k, 2000)] - d).max())
        push = pp.jacobian(scene.model, q, "link2", point)[3:].T @ force
        M, B, K = g.offset_mass, g.offset_damping, g.offset_stiffness
        rate = rate + run.dt * np.linalg.solve(
            np.diag(M + run.dt * B + run.dt**2 * K), push - K * d - (B + run.dt * K) * rate
        )
        d = d + run.dt * rate
    assert worst < 1e-9
    assert np.abs(run["q"] - run["plan_q"]).max() < 2e-3  # and the arm is where plan and offset want it


def test_an_offset_without_spring_stays_and_one_with_it_goes_back(scene):
    ends = []
    for period_s in (None, 0.5):
        run = line(scene, "blend", blend_period_s=period_s)
        run.run(4000, run.push("link2", (0, -40, 0), 550, 750, (0.39, 0, 0)))
        ends.append(np.abs(run["q"][-1] - scene.plan.q[-1]).max())
        late = run["q"][3000:] - scene.plan.q[-1]
        assert np.ptp(late, axis=0).max() < (1e-3 if period_s is None else 5e-3)
    assert ends[0] > 0.02
    assert ends[1] < 1e-3


# ---- TEACH


def test_a_taught_arm_stays_where_it_is_left_and_gains_no_energy_beyond_the_hands_work(scene):
    run = line(scene, "teach")
    run.run(2500, run.push("tool", (0, -20, 10), 200, 500))
    assert np.abs(run["q"][199] - scene.plan.q[0]).max() < 1e-9
    assert np.abs(run["v"][-1]).max() < 5e-3
    kinetic, work = run["energy"][:, 0], run["energy"][:, 2]
    assert (kinetic <= work + 1e-6).all()
    assert np.linalg.norm(run.position("tool")[-1] - run.position("tool")[0]) > 0.05


# ---- any mode


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(MODES), st.integers(20, 200), st.booleans()), min_size=2, max_size=6),
    st.integers(0, 2**32 - 1),
)
def test_changing_modes_while_it_runs_never_jerks(scene, changes, seed):
    """Whatever is chosen whenever, touched or not: no joint is asked for more than a hand and braking need."""
    run, rng = line(scene, "wait"), np.random.default_rng(seed)
    for mode, ticks, touched in changes:
        run.event(frame.MODE, MODES.index(mode))
        force = rng.uniform(-20, 20, 3)
        run.run(ticks, run.push("link2", force, 0, 10**9) if touched else None)
    assert run.simulation.guiding.arrays.mode == MODES.index(changes[-1][0])
    assert np.isfinite(run["q"]).all()
    assert np.abs(run.acceleration).max() < 100.0  # [rad/s^2]


def test_a_reset_forgets_all_edits(scene):
    run = line(scene, "blend")
    run.run(900, run.push("link2", (0, -40, 0), 550, 750))
    run.event(frame.RESET)
    run.run(600)
    assert np.abs(run["q"][-600:] - scene.plan.q[:600]).max() < 1e-3
    assert run["edit_stage"][-1] == PLANNED


# ---- any arm


def test_joints_of_a_branched_floating_robot_follow_and_yield():
    """HRP-2 stands and moves its right arm by a plan; a push on the hand edits it, and the legs go on standing."""
    from palpate.scenes.standing import hrp2_standing

    world = hrp2_standing().world
    joints = [n for n in world.model.joint_names if n.startswith("RARM")]
    world.hold(0.0, 0.0, joints=joints)
    q0 = np.array([world.q[world.model.q_index[j].start] for j in joints])
    n = 600
    u = np.linspace(0.0, 1.0, n)[:, None]
    s, ds, dds = u**3 * (10 + u * (6 * u - 15)), 30 * u**2 * (1 - u) ** 2, 60 * u * (1 - u) * (1 - 2 * u)
    by = np.zeros(len(joints))
    by[1] = -0.3
    T = n * world.dt
    plan = Plan(q0 + s * by, ds * by / T, dds * by / T**2)
    run = Guided(world, plan, Editing("hold", joints=joints, loops=False))
    at = [world.model.q_index[j].start for j in joints]
    run.run(n + 300, run.push("RARM_JOINT6", (8.0, 0.0, 0.0), n, n + 100))
    assert np.abs(run["q"][n - 1][at] - plan.q[-1]).max() < 0.02
    assert run["edit_stage"][n + 50] == TOUCHED
    assert run["edit_stage"][n + 150] in (EDITED, ENDED)
    assert np.abs(run["q"][-1][at] - plan.q[-1]).max() > 0.02  # the arm gave way
    assert run["pose"][-1, 1, 2] == pytest.approx(run["pose"][0, 1, 2], abs=0.01)


# ---- refusals


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"mode": "push"}, "mode must be one of"),
        ({"resume_s": 0.0}, "resume_s must be positive"),
        ({"blend_time_s": np.inf}, "blend_time_s must be positive"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        Editing(**wrong)


@pytest.mark.parametrize(
    ("editing", "words"),
    [
        (Editing(joints=["joint1", "elbow"]), "there is no joint 'elbow' to plan for"),
        (Editing(joints=["joint1"]), "the plan has 6 columns for 1 joints"),
        (Editing(tool="claw"), "claw"),
    ],
)
def test_a_plan_that_does_not_fit_its_world_is_refused(editing, words):
    scene = arm_at_rest()
    with pytest.raises(ValueError, match=words):
        Guided(scene.world, scene.plan, editing)


def test_a_new_plan_must_be_of_the_same_joints_and_of_numbers():
    scene = arm_at_rest()
    guiding = Guided(scene.world, scene.plan, Editing()).simulation.guiding
    with pytest.raises(ValueError, match="rows of 6 joints"):
        guiding.block_of(Plan(*(np.zeros((3, 5)) for _ in range(3))))
    wrong = rest(scene.model, scene.plan.q[0])
    wrong.q[0, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        guiding.block_of(wrong)
