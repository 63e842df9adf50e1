"""The planar device's control: what the observers say, what is felt, how device and body keep together.  Planar haptics
1.7 to 1.10; set-ups of 10.1."""

import ast
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import palpate
from palpate import jit
from palpate.jit import Block, block_loader, entry
from palpate.planar.control.channels import new_channels
from palpate.planar.control.impedance import Impedance, impedance, new_impedance
from palpate.planar.control.loops import (
    PUSH,
    Loop,
    four_channel_loop,
    four_channel_path,
    push_history,
    pushed_loop,
)
from palpate.planar.control.observer import OBSERVERS, new_observer
from palpate.planar.pantograph.drive import COUNTS, FAULTS
from palpate.planar.pantograph.dynamics import coriolis_of, drag, mass_of, solve
from palpate.planar.pantograph.facade import PantographModel
from palpate.planar.pantograph.kinematics import elbows, jacobian_of
from palpate.planar.pantograph.mechanism import Mechanism
from palpate.planar.pantograph.plant import HandSpring
from palpate.spatial.vectors import add, put3, sub
from tests.planar.pantographs import STANDARD, pantographs, poses_in, rates_for

compiled = pytest.mark.skipif(jit.DISABLED, reason="thousands of samples")
both = pytest.mark.parametrize("way", OBSERVERS)


# ---- the observers


@compiled
@both
def test_an_observer_finds_a_constant_push_through_quantised_encoders(way):
    """Planar haptics, acceptance 8."""
    track = pushed_loop(way).observe(push_history(1.5))
    felt = track.felt[track.time_s >= 0.3]
    assert felt.mean(axis=0) == pytest.approx(PUSH, rel=0.02)
    assert (felt.std(axis=0) < [0.08, 0.08, 0.004]).all()
    for k, push in enumerate(PUSH):
        rise = track.time_s[np.argmax(np.abs(track.felt[:, k]) >= 0.9 * abs(push))] - 0.05
        assert 0.020 <= rise <= 0.040
    assert np.abs(track.X[-1] - track.X[0]).max() > 0.01  # it moved under the soft spring
    assert np.abs(track.residual).max() < 0.2e-3
    assert (track.fault == 0).all()


@compiled
@both
def test_its_velocity_has_no_bias_and_that_of_its_copy_has(way):
    """Planar haptics, acceptance 9: the pitfall of 1.7."""
    track = pushed_loop(way).observe(push_history(1.5, begin_s=0.0))
    after = track.time_s >= 0.4
    assert np.abs((track.rate - track.V)[after].mean(axis=0))[:2].max() < 2e-3
    off = (track.copy_rate - track.V)[after].mean(axis=0)
    assert abs(off[0]) > 0.030
    # and it is the bias that 1.7 derives: -2 zeta omega e,  M omega^2 e = f
    mass = PantographModel().mass_matrices(track.X[-1])[0]
    assert off == pytest.approx(-2.0 / 150.0 * np.linalg.solve(mass, PUSH), rel=0.03)


@compiled
@both
@pytest.mark.parametrize("seed", range(4))
def test_any_push_on_any_mechanism_is_found(way, seed):
    """Sizes from a tenth to ten times; fine encoders, so that what is left is the method's."""
    p = replace(pantographs(4, seed=40)[seed], encoder_counts=2**26, friction_Nms=0.0)
    rng = np.random.default_rng(seed)
    mass = PantographModel(p).mass_matrices((0.0, 0.0, 0.0))[0]
    push = mass @ (rng.choice([-1, 1], 3) * [0.5 * p.half_width_m, 0.5 * p.half_height_m, 0.3]) * 400.0 * 0.3
    stiffness, damping = 400.0 * np.diag(mass), 40.0 * np.diag(mass)
    p = replace(p, peak_Nm=1e6, continuous_Nm=1e6)
    loop = Loop(pantograph=p, observer=new_observer(way), hand=HandSpring(holds=1), stiffness=tuple(stiffness),
                damping=tuple(damping))  # fmt: skip
    track = loop.observe(push_history(1.0, push=tuple(push)))
    assert (track.fault == 0).all()
    felt = track.felt[track.time_s > 0.8].mean(axis=0)
    size = np.array([1.0, 1.0, p.proximal_m])
    assert felt / size == pytest.approx(push / size, abs=0.02 * np.abs(push / size).max())


@compiled
@both
def test_nobody_is_felt_on_a_handle_that_spins_by_itself(way):
    """Coriolis terms of a tenth of a newton at 12 rad/s are no hand; with C in place of its transpose they would be."""
    free = replace(STANDARD, encoder_counts=2**26, friction_Nms=0.0)
    loop = Loop(
        pantograph=free,
        start=(0.04, -0.03, 0.4),
        observer=new_observer(way),
        dt_s=5e-4,
        stiffness=(0.0, 0.0, 0.0),
        damping=(0.0, 0.0, 0.0),
    )
    loop.plant.V = (0.0, 0.0, 12.0)
    track = loop.observe(np.zeros((600, 3)))
    after = track.time_s > 0.2
    terms = PantographModel(free).coriolis(track.X[after], track.V[after])
    assert np.abs(terms[0] - terms[1])[:, :2].max() > 0.1
    assert np.abs(track.felt[after])[:, :2].max() < 0.005
    assert np.abs(track.felt[after])[:, 2].max() < 1e-3


@compiled
def test_ripple_grows_with_the_encoder_step_and_with_the_square_of_omega():
    """1.7: about M omega^2 delta."""
    ripple = {}
    for counts in (65_536, 4 * 65_536):
        for omega in (60.0, 120.0):
            loop = pushed_loop(
                pantograph=replace(STANDARD, encoder_counts=counts), observer=new_observer(omega_rad_s=omega)
            )
            track = loop.observe(push_history(2.0))
            ripple[counts, omega] = track.felt[track.time_s > 1.0, 0].std()
    assert ripple[65_536, 120.0] > 1.5 * ripple[65_536, 60.0]
    assert ripple[65_536, 120.0] > 2.0 * ripple[4 * 65_536, 120.0]


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"way": "magic"}, "one of"), ({"omega_rad_s": 300.0}, "too fast"), ({"gain_1_s": -1.0}, "positive"),
     ({"omega_rad_s": math.nan}, "positive"), ({"zeta": 0.0}, "positive")],
)  # fmt: skip
def test_an_impossible_observer_is_refused(wrong, why):
    with pytest.raises(ValueError, match=f"^an observer[^\n]*{why}"):
        new_observer(**wrong)


# ---- the controller does not know the hand's force


@pytest.mark.nojit
@pytest.mark.parametrize("kind", ["observe", "couple"])
def test_the_true_hand_force_is_never_read(kind):
    """Issue 17: NaN over it before every sample leaves every command the same to the last bit."""
    steps = 40 if jit.DISABLED else 400
    tracks = []
    for poisoned in (False, True):
        for way in OBSERVERS:
            loop = (
                four_channel_loop(way=way, impedance=new_impedance("shaped")) if kind == "couple" else pushed_loop(way)
            )
            rows = four_channel_path(steps) if kind == "couple" else push_history(2e-3 * steps, 0.01)
            track = []
            for row in rows:
                if poisoned:
                    loop.plant.hand_wrench = (math.nan, math.nan, math.nan)
                done = getattr(loop, kind)(row[None, :])
                track.append(
                    [*done.applied[0], *done.felt[0], *done.rate[0], *done.body[0], *done.X[0], *loop.drive.torque]
                )
            tracks.append(np.array(track))
    half = len(tracks) // 2
    for clean, poisoned in zip(tracks[:half], tracks[half:], strict=True):
        assert np.isfinite(poisoned).all()
        assert np.array_equal(clean, poisoned)
        assert np.abs(clean[:, :3]).max() > 0.01


def test_only_the_plant_and_what_is_published_name_the_true_hand_force():
    may = {"pantograph/plant.py", "pantograph/device.py", "control/trials.py", "publish.py"}
    root = Path(palpate.__file__).parent
    for path in (root / "planar").rglob("*.py"):
        named = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        if "hand_wrench" in named:
            assert path.relative_to(root / "planar").as_posix() in may
    # in the loops it is only written down
    tree = ast.parse((root / "planar/control/trials.py").read_text())
    where = [f.name for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)
             for node in ast.walk(f) if isinstance(node, ast.Attribute) and node.attr == "hand_wrench"]  # fmt: skip
    assert where == ["note"]


# ---- impedance

load_impedance = block_loader((Mechanism, True), (Impedance, True))


@entry("intp, float64[:, ::1], float64[:, ::1]")
def felt_rows(address, rows, out):
    """rows (n, 12): X, V, f_h, f_cmd; out (n, 3): X'' of the device when the observer is right."""
    m, z = load_impedance(address)
    for i in range(rows.shape[0]):
        X, V = (rows[i, 0], rows[i, 1], rows[i, 2]), (rows[i, 3], rows[i, 4], rows[i, 5])
        f_h, f_cmd = (rows[i, 6], rows[i, 7], rows[i, 8]), (rows[i, 9], rows[i, 10], rows[i, 11])
        w = impedance(z, m, X, V, f_h, f_cmd)
        e, _ = elbows(m, X)
        f = sub(sub(add(w, f_h), coriolis_of(m, X, e, V)), drag(m, jacobian_of(m, X, e), V))
        put3(out, i, solve(mass_of(m, X, e), f))


def definite(rng, scale):
    """A random positive definite matrix of about this diagonal."""
    a = rng.normal(size=(3, 3))
    M = a @ a.T + 1.5 * np.eye(3)
    return M * np.sqrt(np.outer(scale, scale)) / 3.0


@pytest.mark.nojit
@pytest.mark.parametrize("p", [STANDARD, *pantographs(3)])
def test_shaped_inertia_is_felt_exactly_when_the_force_is_known(p):
    """Planar haptics 1.8: M_d X'' + B_d X' = f_h + f_cmd; marked as not run in the reference."""
    rng, n = np.random.default_rng(6), 20
    for _ in range(5):
        M = definite(rng, [0.35, 0.35, 6e-4])
        M = 0.5 * (M + M.T)
        damping = tuple(rng.uniform(0.0, 1.0, 3) * [5.0, 5.0, 0.01])
        block = Block(p.mechanism, new_impedance("shaped", damping, M))
        V = rates_for(p, n)
        rows = np.concatenate([poses_in(p, n), V, rng.normal(size=(n, 6)) * [1, 1, 0.05, 1, 1, 0.05]], axis=1)
        out = np.empty((n, 3))
        felt_rows(block.address, rows, out)
        wanted = np.linalg.solve(M, (rows[:, 6:9] + rows[:, 9:12] - damping * V).T).T
        assert out == pytest.approx(wanted, rel=1e-6, abs=1e-7 * np.abs(wanted).max())


@pytest.mark.nojit
def test_natural_inertia_is_the_devices_own_with_its_friction():
    rng, n = np.random.default_rng(7), 20
    block, out = Block(STANDARD.mechanism, new_impedance()), np.empty((20, 3))
    rows = np.concatenate([poses_in(STANDARD, n), rates_for(STANDARD, n), rng.normal(size=(n, 6))], axis=1)
    felt_rows(block.address, rows, out)
    model = PantographModel()
    A, M, V = model.jacobians(rows[:, :3]), model.mass_matrices(rows[:, :3]), rows[:, 3:6]
    drags = 0.002 * np.einsum("nij,nik,nk->nj", A, A, V)
    left = np.einsum("nij,nj->ni", M, out) + drags + [0.5, 0.5, 6e-4] * V
    assert left == pytest.approx(rows[:, 6:9] + rows[:, 9:12], abs=1e-9)


@compiled
@pytest.mark.parametrize("times", [0.6, 1.0, 2.0, 3.0])
def test_a_push_accelerates_the_inertia_that_was_asked_for(times):
    """With the observer in the loop: a hand that pushes 0.4 N feels times 0.35 kg."""
    target = new_impedance("shaped", (0.0, 0.0, 0.0), (times * 0.35, times * 0.35, times * 6e-4))
    loop = Loop(impedance=target, channels=new_channels("force"), hand=HandSpring(holds=1, push=(0.4, 0.0, 0.0)))
    track = loop.couple(np.zeros((130, 3)))
    after = track.time_s > 0.1
    slope = np.polyfit(track.time_s[after], track.V[after, 0], 1)[0]
    assert slope == pytest.approx(0.4 / (times * 0.35), rel=0.02)
    assert np.abs(track.X[:, 2]).max() < 0.02  # though the device's own inertia couples x to the turn


@pytest.mark.nojit
@pytest.mark.parametrize("wrong", [{"way": "soft"}, {"inertia": (1.0, 0.0, 1.0)}, {"inertia": np.ones((3, 3))},
                                   {"damping": (-1.0, 0.0, 0.0)}, {"inertia": (1.0, math.nan, 1.0)}])  # fmt: skip
def test_an_impossible_impedance_is_refused(wrong):
    with pytest.raises(ValueError, match=r"^an impedance[^\n]*$"):
        new_impedance(**wrong)


# ---- four channels


@compiled
@both
def test_device_and_body_stay_together_and_the_wall_is_felt(way):
    """Planar haptics, acceptance 10."""
    track = four_channel_loop(way=way).couple(four_channel_path())
    apart, end = track.X - track.body, track.time_s >= 1.4
    assert np.abs(apart[track.time_s > 0.1, :2]).max() < 1e-3
    assert np.abs(apart[end, :2].mean(axis=0)).max() < 0.05e-3
    hand, wall = track.hand[end].mean(axis=0)[0], track.wall[end].mean(axis=0)[0]
    assert abs(hand + wall) < 0.02 * abs(wall)
    assert hand == pytest.approx(4.884, abs=5e-3)  # the reference's own
    assert track.torque.max() == pytest.approx(0.40, abs=0.01)
    assert (track.fault == 0).all()


@compiled
def test_two_channels_leave_device_and_body_apart():
    """Planar haptics, acceptance 10: the baseline."""
    track = four_channel_loop("position").couple(four_channel_path())
    apart = np.abs(track.X - track.body)[track.time_s >= 1.4, 0].mean()
    assert apart > 5e-3
    assert apart == pytest.approx(11.6e-3, abs=0.1e-3)


@compiled
def test_force_alone_tells_the_wall_but_holds_nothing_together():
    """1.9: the named mode without f_c; device and body go apart, and what the hand feels is the wall's force."""
    track = four_channel_loop("force").couple(four_channel_path())
    end = track.time_s >= 1.4
    assert np.abs(track.X - track.body)[end, 0].mean() > 10e-3
    assert track.hand[end].mean(axis=0)[0] == pytest.approx(-track.wall[end].mean(axis=0)[0], rel=0.02)


@compiled
def test_the_biased_velocity_leaves_an_offset():
    """1.7: 7.4 mm between device and body with x2 in place of the velocity."""
    track = four_channel_loop(biased=True).couple(four_channel_path())
    assert (track.X - track.body)[track.time_s >= 1.4, 0].mean() == pytest.approx(7.4e-3, abs=0.1e-3)


@compiled
def test_the_error_of_coordination_does_not_depend_on_the_wall():
    """1.9: M e'' + (B_d + 2 B_x) e' + 2 K_x e = f_h - its estimate, whatever the wall."""
    ends = []
    for stiffness in (0.0, 500.0, 2000.0, 8000.0):
        track = four_channel_loop(wall_K=stiffness, wall_B=4.0 * (stiffness > 0)).couple(four_channel_path())
        ends.append(np.abs((track.X - track.body)[track.time_s >= 1.4, 0].mean()))
    assert max(ends) < 0.05e-3


@pytest.mark.nojit
@pytest.mark.parametrize("wrong", [{"mode": "both"}, {"omega_rad_s": -1.0}, {"inertia": (1.0, 1.0, 0.0)}])
def test_impossible_channels_are_refused(wrong):
    with pytest.raises(ValueError, match="channels"):
        new_channels(**wrong)


@compiled
@pytest.mark.parametrize("rate_hz", [400.0, 500.0, 1000.0, 4000.0])
def test_device_and_body_stay_together_at_any_rate(rate_hz):
    """No false fault either, though a count of the encoders is a leap at 4 kHz."""
    dt = 1.0 / rate_hz
    coarse = replace(STANDARD, encoder_counts=8192)
    for p, within in ((STANDARD, 1e-3), (coarse, 2e-3)):
        track = four_channel_loop(dt_s=dt, pantograph=p).couple(four_channel_path(round(1.8 * rate_hz), dt))
        assert (track.fault == 0).all()
        assert np.abs((track.X - track.body)[track.time_s > 0.1, :2]).max() < within
        assert track.hand[track.time_s >= 1.4, 0].mean() == pytest.approx(4.884, abs=0.05)


@pytest.mark.nojit
def test_an_observer_too_fast_for_the_rate_is_refused():
    with pytest.raises(ValueError, match="too fast"):
        four_channel_loop(dt_s=1.0 / 250.0)


# ---- faults in the loop


@compiled
@pytest.mark.parametrize(
    ("error", "samples", "why"),
    [((0.0, 0.0, 0.1, 0.0), 1, "jumped"), ((0.0, math.nan, 0.0, 0.0), 1, "bad_encoder"),
     ((0.0, 0.0, 0.0, 0.01), 5, "contradicted")],
)  # fmt: skip
def test_a_fault_ends_the_torque_for_good_and_is_counted(error, samples, why):
    """Planar haptics 1.2 and issue 17."""
    loop = four_channel_loop()
    loop.couple(four_channel_path()[:200])
    loop.plant.encoder_error = error
    track = loop.couple(four_channel_path()[200:400])
    assert np.flatnonzero(track.torque == 0.0)[0] == samples - 1
    assert (track.torque[samples - 1 :] == 0.0).all()
    counts = dict(zip(COUNTS, loop.drive.counts.tolist(), strict=True))
    assert counts[why] == 1
    assert loop.drive.fault == COUNTS.index(why)
    assert FAULTS[loop.drive.fault]
    assert np.isfinite(track.X).all()


@compiled
def test_a_pose_set_outside_the_workspace_is_a_fault():
    loop = four_channel_loop()
    loop.couple(four_channel_path()[:50])
    loop.plant.X = (0.4, 0.0, 0.0)
    track = loop.couple(four_channel_path()[50:60])
    assert (track.torque == 0.0).all()
    assert FAULTS[loop.drive.fault] == "the pose is outside the mechanism's workspace"


@compiled
def test_a_wrench_that_is_not_a_number_is_a_fault():
    loop = pushed_loop(stiffness=(math.nan, 60.0, 0.15))
    track = loop.observe(push_history(0.1))
    assert (track.torque == 0.0).all()
    assert np.isfinite(track.X).all()
    assert FAULTS[loop.drive.fault] == "the wanted wrench is not a number"


def test_every_fault_has_a_text_and_a_count():
    assert len(FAULTS) == len(COUNTS) - 1
    assert all(FAULTS[1:])


@compiled
def test_the_observer_is_given_what_was_applied_not_what_was_wanted():
    """1.5: with motors too weak for the spring the push is still found, since the scaled wrench is what it is told."""
    weak = replace(STANDARD, peak_Nm=0.05, continuous_Nm=0.05)
    loop = pushed_loop(pantograph=weak, stiffness=(200.0, 200.0, 0.5), damping=(20.0, 20.0, 0.05))
    track = loop.observe(push_history(0.35, push=(0.9, -0.6, 0.01)))
    assert track.scale.min() < 0.7
    assert (track.torque <= 0.05 * (1 + 1e-12)).all()
    assert track.felt[track.time_s > 0.2].mean(axis=0) == pytest.approx((0.9, -0.6, 0.01), rel=0.06)
