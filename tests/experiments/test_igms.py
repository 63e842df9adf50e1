"""The experiments of I-GMS: their claims hold, can fail, and come out the same every time."""

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate import jit
from palpate.control.plans.clearance import clearance as nearest
from palpate.experiments import arm_figures, arm_pull, arm_push, ball_push, report
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Grasp, Push, Scripted
from palpate.record.reader import Recording
from palpate.scenes.arm import arm_at_rest, arm_line
from palpate.spatial.placement import Rotation

compiled = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
# which items of the acceptance list an experiment is
ACCEPTANCE = {
    "arm-line": "16", "arm-push": "17", "arm-pull": "15, 18", "arm-resume": "19", "arm-blend": "", "arm-teach": "",
    "arm-effort": "", "ball-push": "20, 21", "learn-by-touch": "",
}  # fmt: skip
numbers = st.floats(-1.0, 1.0, allow_nan=False)
vectors = st.tuples(numbers, numbers, numbers).filter(lambda x: np.linalg.norm(x) > 0.1)


@pytest.fixture(scope="module")
def scene():
    return arm_line(solid=False, mode="hold")


@pytest.fixture
def sketched(monkeypatch):
    """Figures are drawn, small and into nothing: the laws are not in them."""

    def sketch(self, name, figure):
        figure.set_layout_engine("none")
        figure.savefig(io.BytesIO(), format="png", dpi=20)
        self.figures.append(name)

    monkeypatch.setattr(report.Report, "figure", sketch)


# ---- the experiments


LONG = {"learn-by-touch"}  # half of it is in tests/runtime/test_tasks.py


@compiled
@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.slow] * (x in LONG)) for x in ACCEPTANCE])
def test_every_claim_of_the_experiment_holds(name, tmp_path, sketched):
    """articulated-haptics.md acceptance 15 to 21, each in its experiment, and modes BLEND and TEACH of 2.4."""
    made = report.run(name, tmp_path, say=lambda line: None)
    broken = [f"{c.name}: {c.value} not in [{c.low}, {c.high}]" for c in made.claims if not c.passed]
    assert not broken, (ACCEPTANCE[name], broken)
    assert made.claims
    assert made.figures
    written = json.loads((tmp_path / "report.json").read_text())
    assert written["passed"]
    for recording in made.recordings:
        assert (tmp_path / recording).stat().st_size > 0


@compiled
def test_an_experiment_leaves_figures_and_a_recording_of_every_tick(tmp_path):
    made = report.run("ball-push", tmp_path, say=lambda line: None)
    assert {"ball-push.png", "ball-push.svg"} == set(made.figures)
    assert all((tmp_path / name).stat().st_size > 10_000 for name in made.figures)
    with Recording(tmp_path / made.recordings[0]) as recording:
        assert len(recording) == 1000


@compiled
def test_a_claim_that_does_not_hold_fails_the_experiment(tmp_path, sketched, monkeypatch):
    monkeypatch.setattr(ball_push, "G", 9.8)  # the world's is 9.81
    made = report.run("ball-push", tmp_path, say=lambda line: None)
    assert not made.passed
    assert not json.loads((tmp_path / "report.json").read_text())["passed"]


@compiled
def test_a_run_gives_the_same_bits_every_time_and_leaves_the_scene_as_it_was(scene):
    before = scene.world.q.copy()
    first = simulated_run(scene, 1500, Scripted(arm_push.both()))
    simulated_run(scene, 700)
    second = simulated_run(scene, 1500, Scripted(arm_push.both()))
    for name in first:
        assert np.array_equal(first[name], second[name]), name
    assert np.array_equal(scene.world.q, before)


# ---- the coupling of a pull


@settings(deadline=None, max_examples=4)
@given(stretch=st.tuples(*[st.floats(-0.1, 0.1)] * 3), swing=st.floats(-0.1, 0.1))
def test_a_passive_arm_never_gains_more_than_the_hand_puts_in(stretch, swing):
    """articulated-haptics.md acceptance 15, from any stretch: dE <= 1e-9 J per step plus the work of the hand."""
    scene = arm_at_rest()
    energy, work = arm_pull.passive_arm(scene.model, scene.world.q, arm_pull.Coupling(), swing, 0.05, stretch)
    assert (np.diff(energy) - np.diff(work)).max() <= 1e-9


def test_the_printed_sign_drives_a_passive_arm_apart():
    """articulated-haptics.md acceptance 15, 2.3: the minus before the damping is anti-damping."""
    scene = arm_at_rest()
    energy, _ = arm_pull.passive_arm(scene.model, scene.world.q, arm_pull.Coupling(sign=-1.0), 0.0, 0.2)
    assert energy.max() > 100.0 * energy[0]


# ---- distances


def test_clearances_of_the_figures_are_those_of_the_collision_shapes(scene):
    """The capsules of articulated-haptics.md 5.3, against the distances of collision/."""
    q = scene.plan.q[::200] + np.random.default_rng(5).normal(0.0, 0.1, (len(scene.plan.q[::200]), 6))
    gaps = arm_figures.posture_gaps(scene.model, q)
    for name, body in (("link 2", "link2"), ("link 3", "link3")):
        expected = nearest(scene.world, q, bodies=(body,), obstacles=("obstacle",)).gap_m
        assert gaps[name] == pytest.approx(expected, abs=1e-6), name


# ---- the scripted hand


@given(force=vectors, axis=vectors, turn=vectors, radius=st.floats(0.01, 0.2))
def test_a_push_acts_on_the_side_of_a_capsule_that_it_comes_from(force, axis, turn, radius):
    """articulated-haptics.md 5.4, the surface rule: at the radius, normal to the axis, against the force."""
    R = np.asarray(Rotation.exp(turn).matrix())
    along = np.array(axis) / np.linalg.norm(axis)
    sideways = R.T @ force - along * (along @ R.T @ force)
    if np.linalg.norm(sideways) < 1e-3:
        return
    normal = Push("link", 0, 1, force, (0.3, 0.0, 0.1), radius, tuple(along)).point(R) - (0.3, 0.0, 0.1)
    assert np.linalg.norm(normal) == pytest.approx(radius)
    assert along @ normal == pytest.approx(0.0, abs=1e-9)
    assert normal / radius == pytest.approx(-sideways / np.linalg.norm(sideways), abs=1e-6)


@compiled
def test_a_push_is_there_from_its_first_tick_to_its_last(scene):
    run = simulated_run(scene, 700, Scripted((arm_push.push(11, -15.0),)))
    pushed = np.flatnonzero(run["hand_force"].any(axis=1))
    assert (pushed[0], pushed[-1]) == (550, 599)
    assert (run["hand_force"][550:600] == (0.0, -15.0, 0.0)).all()
    body = scene.model.body("link2")
    R = arm_figures.rotation(run["pose"][:, body, 3:])[550]
    lever = R.T @ (run["hand_point"][550] - run["pose"][550, body, :3])
    assert lever[0] == pytest.approx(arm_figures.PUSH_AT_M[0])
    assert np.hypot(lever[1], lever[2]) == pytest.approx(arm_figures.LINK2_RADIUS_M)


@compiled
def test_a_hand_that_does_not_let_go_moves_on_from_where_it_is():
    hand = Scripted((Grasp("tool", 0.1, 0.4, (0.52, 0.2, 0.0)), Grasp("tool", 0.4, 0.8, (0.55, 0.1, -0.05))))
    run = simulated_run(arm_at_rest(), 900, hand)
    held = slice(101, 800)
    assert np.linalg.norm(np.diff(run["hand_target"][held], axis=0), axis=1).max() < 1e-3
    assert run["hand_target"][400] == pytest.approx((0.52, 0.2, 0.0), abs=1e-4)
    assert run["hand_body"][held].all()


def test_a_script_that_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="grasps overlap"):
        Scripted((Push("link2", 0.0, 0.2, (0, 1, 0)), Grasp("tool", 0.1, 0.3, (0, 0, 0))))
    with pytest.raises(ValueError, match="meets no side"):
        Push("link2", 0.0, 0.2, (1, 0, 0), radius_m=0.1).point(np.eye(3))
