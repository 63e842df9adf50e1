"""The device: kinematics, torques and dynamics, of the chosen mechanism and of others.  Planar haptics 1.1 to 1.6."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from palpate.planar.pantograph.facade import PantographModel
from palpate.planar.pantograph.mechanism import Pantograph
from tests.planar.pantographs import (
    STANDARD,
    TURN,
    kinetic,
    pantographs,
    points,
    poses_in,
    rates_for,
    without_friction,
)

pytestmark = pytest.mark.nojit
FAMILY = [STANDARD, *pantographs(8)]
NAMES = [f"{p.proximal_m:.3f}m" for p in FAMILY]
of_any_size = pytest.mark.parametrize("p", FAMILY, ids=NAMES)
CHECKED = (0.03, -0.02, 0.7)  # the pose of the check values


# ---- kinematics


def test_forward_undoes_inverse_at_any_pose_and_turn():
    """Planar haptics, acceptance 1."""
    poses = poses_in(STANDARD, 2000)
    model = PantographModel()
    q = model.angles(poses)
    for pose, angles in zip(poses, q, strict=True):
        found, residual = model.poses(angles, pose[2] + 3.0)  # whatever turn it was on last, within half a one
        assert np.abs(found[0] - pose).max() < 1e-12
        assert abs(residual[0]) < 1e-12


@of_any_size
def test_forward_undoes_inverse_of_any_mechanism(p):
    poses, model = poses_in(p, 200), PantographModel(p)
    q = model.angles(poses)
    for pose, angles in zip(poses, q, strict=True):
        found, residual = model.poses(angles, pose[2] - 2.0)
        assert np.abs(found[0] - pose)[:2].max() < 1e-12 * p.proximal_m / 0.05
        assert abs(found[0, 2] - pose[2]) < 2e-11
        assert abs(residual[0]) < 1e-12 * max(1.0, p.proximal_m)


@of_any_size
def test_the_elbows_are_outwards_and_where_the_law_of_cosines_puts_them(p):
    poses, model = poses_in(p, 100), PantographModel(p)
    q = model.angles(poses)
    base = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [0.5 * p.base_m, p.offset_m]
    elbows = base + p.proximal_m * np.stack([np.cos(q), np.sin(q)], axis=2)
    assert elbows == pytest.approx(points(p, poses)[1], abs=1e-11 * p.proximal_m)


@of_any_size
def test_the_jacobian_is_the_derivative_of_inverse_kinematics(p):
    """Planar haptics, acceptance 2."""
    poses, model = poses_in(p, 2000 if p is STANDARD else 200), PantographModel(p)
    step = 1e-6 * np.array([p.proximal_m / 0.2, p.proximal_m / 0.2, 1.0])
    A = model.jacobians(poses)
    for k in range(3):
        h = step * (np.arange(3) == k)
        turned = model.angles(poses + h) - model.angles(poses - h)
        difference = (turned - TURN * np.round(turned / TURN)) / (2.0 * step[k])
        assert np.abs(A[:, :, k] - difference).max() <= (1e-8 if p is STANDARD else 1e-6) * np.abs(A[:, :, k]).max()


def test_the_jacobian_is_well_conditioned_in_the_whole_workspace():
    """Planar haptics, acceptance 3, and the figures of 1.1."""
    poses = np.concatenate([poses_in(STANDARD, 2000), STANDARD.border()])
    scaled = PantographModel().jacobians(poses) / [1.0, 1.0, 0.5 * STANDARD.crank_m]
    conditions = np.linalg.cond(scaled)
    assert conditions.max() <= 2.33
    assert np.linalg.cond(PantographModel().jacobians([0.0, 0.06, 0.5 * math.pi]) / [1.0, 1.0, 0.05]) == pytest.approx(
        2.324, abs=5e-4
    )
    assert np.median(conditions) == pytest.approx(1.42, abs=0.05)


def test_check_values_of_angles_jacobian_and_torques():
    """Planar haptics, acceptance 3: the table of 1.5."""
    model = PantographModel()
    assert model.angles(CHECKED)[0] == pytest.approx([2.617545, 0.606345, -0.411620, -2.155737], abs=1e-5)
    assert model.jacobians(CHECKED)[0] == pytest.approx(
        np.array([[-4.926710, -2.927614, -0.046736], [-5.050289, 2.582340, -0.261428],
                  [3.465700, 3.942711, 0.039144], [4.639443, -2.049965, -0.227836]]), abs=1e-5,
    )  # fmt: skip
    torques, share = model.torques(CHECKED, (3.0, 4.0, 0.2), "minimum-norm")
    assert torques[0] == pytest.approx([-0.472197, -0.190353, 0.544755, -0.468951], abs=1e-5)
    assert share[0] == 1.0


@of_any_size
def test_the_angle_is_not_wrapped_through_turns_and_back(p):
    """Planar haptics, acceptance 5: three turns and back by forward kinematics alone."""
    angle = np.concatenate([np.linspace(0.3, 0.3 + 3 * TURN, 400), np.linspace(0.3 + 3 * TURN, 0.3, 400)])
    path = np.stack([0.9 * p.half_width_m * np.cos(angle), 0.9 * p.half_height_m * np.sin(angle), angle], axis=1)
    model = PantographModel(p)
    found, _ = model.poses(model.angles(path), 0.3)
    assert found[399, 2] == pytest.approx(0.3 + 3 * TURN, abs=1e-9)
    assert found[-1, 2] == pytest.approx(0.3, abs=1e-9)


def test_where_the_mechanism_cannot_be_is_said_in_one_line():
    model = PantographModel()
    for pose in ((0.0, 0.3, 0.0), (1.0, 0.0, 0.0), (math.nan, 0.0, 0.0), (0.0, 0.0, math.nan)):
        assert not model.reaches(pose)[0]
        with pytest.raises(ValueError, match="cannot be at"):
            model.angles(pose)
    # proximal links straight outwards: 0.5 m apart, which the standard distal links just span and shorter ones do not
    apart = [math.pi, 0.0, 0.0, math.pi]
    assert np.isnan(PantographModel(Pantograph(distal_m=0.24)).poses(apart)[0]).all()
    assert np.isfinite(PantographModel(Pantograph(distal_m=0.26)).poses(apart)[0]).all()


@of_any_size
def test_both_ways_to_tell_what_is_reached_agree(p):
    wide = replace(p, half_width_m=p.half_width_m, half_height_m=p.half_height_m)
    poses = np.random.default_rng(3).uniform(-1, 1, (2000, 3)) * [2.5 * p.proximal_m, 2.5 * p.distal_m, 7.0]
    reached = PantographModel(p).reaches(poses)
    assert (reached == wide.reaches(poses)).all()
    assert 0 < reached.sum() < len(poses)


@pytest.mark.parametrize(
    "wrong",
    [{"proximal_m": 0.0}, {"distal_m": math.nan}, {"crank_m": math.inf}, {"encoder_counts": 0}, {"sub_steps": 1.5},
     {"way": "best"}, {"continuous_Nm": 2.0}, {"friction_Nms": -1.0}, {"encoder_counts": 1024},
     {"half_width_m": 0.3}, {"distal_m": 0.1}],
)  # fmt: skip
def test_an_impossible_mechanism_is_refused_in_one_line(wrong):
    with pytest.raises(ValueError, match=r"^a pantograph: [^\n]*$"):
        Pantograph(**wrong)


# ---- torques


def wrenches_for(p, n, seed=5, share=0.3):
    """(n, 3) that ask about `share` of the motors' peak."""
    reach = p.peak_Nm / p.proximal_m
    return share * np.random.default_rng(seed).normal(size=(n, 3)) * [reach, reach, reach * p.crank_m]


@of_any_size
def test_torques_make_the_wrench_and_are_least_in_their_own_sense(p):
    """Planar haptics, acceptance 4."""
    model, poses = PantographModel(replace(p, peak_Nm=1e9)), poses_in(p, 500)
    A, w = model.jacobians(poses), wrenches_for(p, 500)
    least, _ = model.torques(poses, w, "minimum-norm")
    even, share = model.torques(poses, w, "min-max")
    size = np.abs(w).max(axis=1, keepdims=True)
    for torques in (least, even):
        assert (np.abs(np.einsum("nij,ni->nj", A, torques) - w) / size).max() < (1e-12 if p is STANDARD else 1e-10)
    assert (share == 1.0).all()
    assert (np.linalg.norm(least, axis=1) <= np.linalg.norm(even, axis=1) * (1 + 1e-12)).all()
    assert (np.abs(even).max(axis=1) <= np.abs(least).max(axis=1) * (1 + 1e-12)).all()
    # against a search that knows nothing of candidates: no squeeze makes the largest torque smaller
    n = np.stack([np.linalg.svd(a.T)[2][-1] for a in A])
    for k in np.linspace(-1.0, 1.0, 21):
        other = even + k * np.abs(even).max(axis=1, keepdims=True) * n
        assert (np.abs(other).max(axis=1) >= np.abs(even).max(axis=1) * (1 - 1e-9)).all()


@pytest.mark.parametrize(("p", "way"), list(product(FAMILY, ("minimum-norm", "min-max"))))
def test_a_wrench_beyond_the_motors_is_scaled_and_keeps_its_direction(p, way):
    """Planar haptics 1.5, saturation: marked as not run in the reference."""
    model, poses = PantographModel(p), poses_in(p, 500)
    A, w = model.jacobians(poses), wrenches_for(p, 500, share=3.0)
    torques, share = model.torques(poses, w, way)
    assert np.abs(torques).max() <= p.peak_Nm * (1 + 1e-12)
    made = np.einsum("nij,ni->nj", A, torques)
    assert made == pytest.approx(share[:, None] * w, abs=1e-9 * np.abs(w).max())
    assert (share < 0.9).any()
    # no more could be made: where it is scaled, even the most even torques are at the peak
    even, _ = PantographModel(replace(p, peak_Nm=1e9)).torques(poses, w, "min-max")
    assert share == pytest.approx(np.minimum(1.0, p.peak_Nm / np.abs(even).max(axis=1)), rel=1e-9)


def test_squeezing_begins_only_where_a_motor_would_be_beyond_its_peak():
    """The minimum-norm way changes its torques without a leap as the wrench grows."""
    model = PantographModel()
    direction = np.array([1.0, 1.0, 0.02])
    wanted = np.linspace(0.0, 20.0, 400)[:, None] * direction
    torques, share = model.torques(np.tile(CHECKED, (400, 1)), wanted, "minimum-norm")
    assert np.abs(np.diff(torques, axis=0)).max() < 0.03
    free = PantographModel(replace(STANDARD, peak_Nm=1e9)).torques(np.tile(CHECKED, (400, 1)), wanted, "minimum-norm")[
        0
    ]
    inside = np.abs(free).max(axis=1) <= 1.0
    assert torques[inside] == pytest.approx(free[inside], abs=1e-12)
    squeezed = ~inside & (share == 1.0)
    assert squeezed.any()
    assert np.abs(torques[squeezed]).max() == pytest.approx(1.0, abs=1e-12)


# ---- dynamics


def test_check_values_of_the_mass_matrix_and_of_coriolis():
    """Planar haptics, acceptance 6: the values of 1.6."""
    M = PantographModel().mass_matrices([(0.0, 0.0, 0.0), CHECKED])
    assert M[0] == pytest.approx(
        np.array([[0.352543, 0.009066, 0], [0.009066, 0.308460, 0], [0, 0, 0.000596151]]), abs=1e-6
    )
    assert M[1] == pytest.approx(
        np.array([[0.380851, 0.009548, 0.001006], [0.009548, 0.302120, 0.000120], [0.001006, 0.000120, 0.000638464]]),
        abs=1e-6,
    )
    assert PantographModel().coriolis(CHECKED, (0.2, -0.1, 3.0))[0][0] == pytest.approx(
        [0.0488, 0.0025, 0.0019], abs=5e-5
    )


@of_any_size
def test_the_mass_matrix_is_positive_definite_and_that_of_moving_bodies(p):
    """Planar haptics, acceptance 6."""
    model, poses, rates = PantographModel(p), poses_in(p, 300), rates_for(p, 300)
    M = model.mass_matrices(poses)
    scaled = M * np.outer([1, 1, 2 / p.crank_m], [1, 1, 2 / p.crank_m])
    assert (np.linalg.eigvalsh(scaled)[:, 0] > 0.0).all()
    if p is STANDARD:
        assert np.linalg.eigvalsh(M)[:, 0].min() == pytest.approx(5.9e-4, abs=0.2e-4)
    for k in range(0, 300, 10):
        h = 1e-5 / max(1.0, np.abs(rates[k] / [p.proximal_m, p.proximal_m, 1.0]).max())
        assert 0.5 * rates[k] @ M[k] @ rates[k] == pytest.approx(kinetic(p, poses[k], rates[k], h), rel=1e-6)


@of_any_size
def test_the_rate_of_the_mass_matrix_less_twice_coriolis_is_skew(p):
    """Planar haptics, acceptance 6: C is that of the Christoffel symbols, and no difference of M goes into it."""
    n = 100
    model, poses, V = PantographModel(p), poses_in(p, n), rates_for(p, n)
    unit = np.array([p.proximal_m, p.proximal_m, 2.0 * p.proximal_m / p.crank_m])  # of rates, so that all count alike
    half = lambda W: model.coriolis(poses, W)[0]  # noqa: E731  quadratic, so that its polar form is C(V) W
    C = np.stack([0.5 * (half(V + unit * e) - half(V) - half(np.tile(unit * e, (n, 1)))) for e in np.eye(3)], axis=2)
    h = 1e-5 if p is STANDARD else 1e-6
    d = h * V / np.abs(V / [p.proximal_m, p.proximal_m, 1.0]).max(axis=1, keepdims=True)
    k = np.linalg.norm(V, axis=1) / np.linalg.norm(d, axis=1)
    rate = (model.mass_matrices(poses + d) - model.mass_matrices(poses - d)) * (0.5 * k)[:, None, None]
    N = (rate * unit - 2.0 * C) * unit[:, None]
    size = np.abs(C * unit[:, None]).max()
    assert np.abs(N + N.transpose(0, 2, 1)).max() < (1e-8 if p is STANDARD else 1e-5) * max(size, 1.0 * (p is STANDARD))
    # and the transpose, which the momentum observer takes
    back = np.einsum("nij,ni->nj", C / unit, V)
    assert model.coriolis(poses, V)[1] * unit == pytest.approx(back * unit, abs=1e-9 * np.abs(back * unit).max())


def test_free_motion_keeps_its_energy():
    """Planar haptics, acceptance 7: RK4, steps of 1 ms, 0.2 s."""
    model = PantographModel(without_friction(STANDARD, sub_steps=1))
    rng = np.random.default_rng(2)
    for pose in [(0.02, -0.01, 0.4), *rng.uniform(-1, 1, (8, 3)) * [0.02, 0.02, 3.0]]:
        rate = rng.uniform(-1, 1, 3) * [0.2, 0.2, 4.0]
        path = model.coast(pose, rate, 1e-3, 200)
        start = kinetic(STANDARD, np.array(pose), rate)
        assert np.abs(path.energy_J / path.energy_J[0] - 1.0).max() < 1e-9
        assert path.energy_J[0] == pytest.approx(start, rel=1e-6)


@pytest.mark.parametrize("p", FAMILY[1:5], ids=NAMES[1:5])
def test_free_motion_of_any_mechanism_keeps_its_energy_as_steps_shrink(p):
    """The error falls with the fourth power of the step: the equations are right, and what is left is the method's."""
    model = [PantographModel(without_friction(p, sub_steps=n)) for n in (4, 16)]
    rate = rates_for(p, 1)[0] * 0.3
    duration = 0.3 * min(p.half_width_m, p.half_height_m) / np.abs(rate[:2]).max()
    drift = [abs(m.coast((0, 0, 0.3), rate, duration / 4, 4).energy_J[-1] / (
        0.5 * rate @ m.mass_matrices((0, 0, 0.3))[0] @ rate) - 1) for m in model]  # fmt: skip
    assert drift[1] < max(1e-12, drift[0] / 60.0)
    assert drift[1] < 1e-6


def test_friction_takes_energy_and_a_motor_gives_what_it_works():
    model = PantographModel()
    path = model.coast(CHECKED, (0.2, -0.1, 3.0), 1e-3, 200)
    assert (np.diff(path.energy_J) < 0.0).all()
    free, tau = PantographModel(without_friction(STANDARD, sub_steps=4)), np.array([0.05, -0.02, 0.03, 0.04])
    pushed = free.coast(CHECKED, (0.0, 0.0, 0.0), 1e-3, 100, torque_Nm=tau)
    turned = free.angles(pushed.X[-1])[0] - free.angles(CHECKED)[0]
    assert pushed.energy_J[-1] == pytest.approx(tau @ turned, rel=1e-9)


def test_the_mechanism_stops_at_the_end_of_its_workspace():
    """A push that does not end leaves it standing at the edge, every number finite."""
    path = PantographModel().coast((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 2e-3, 1500, torque_Nm=(1.0, 1.0, -1.0, -1.0))
    assert np.isfinite(path.X).all()
    PantographModel().angles(path.X)  # or an error
    assert path.X[-1] == pytest.approx(path.X[-2], abs=1e-3)
