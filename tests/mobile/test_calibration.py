"""Calibration from poses of displays that are known: what can be told is told, the rest is refused."""

from dataclasses import replace

import numpy as np
import pytest

from palpate.mobile.calibration.choice import calibrate, spread_m
from palpate.mobile.calibration.linear import fit_linear, regressor
from palpate.mobile.calibration.nonlinear import HipModel, fit, scaled_condition
from palpate.mobile.calibration.poses import Poses, residuals
from palpate.mobile.calibration.synthetic import QUIET, Recording, record, within_limits
from palpate.mobile.geometry.chain import RULER, Chain
from palpate.mobile.geometry.kinematics import Kinematics
from tests.mobile import thesis

HARMONICS_DEG = (1.2, 0.8, 0.7, 0.5)
TRUE_MM = (435.9, 3.9, -346.0)


def display(psi_deg=0.0, harmonics_deg=(0.0,) * 4):
    return replace(Chain(), psi_rad=np.radians(psi_deg), harmonics_rad=tuple(np.radians(harmonics_deg)))


def rms_mm(chain, poses):
    return 1e3 * residuals(chain, poses).rms_m


# ---- the thesis' procedure


def test_of_six_offsets_three_can_be_seen():
    """Mobile display, acceptance 8."""
    for seed in range(5):
        headings = np.random.default_rng(seed).uniform(-9.0, 9.0, 100)
        singular = np.linalg.svd(regressor(headings), compute_uv=False)
        assert singular[:3] == pytest.approx(np.sqrt(200.0), abs=1e-3)
        assert singular[3:] == pytest.approx(0.0, abs=1e-12)
        A = regressor(headings)
        assert (A[:, 4] == -A[:, 0]).all()
        assert (A[:, 3] == -A[:, 1]).all()
        assert (A[:, 5] == A[:, 2]).all()
        assert fit_linear(record(Chain(), seed), RULER).rank == 3


def test_regressor_is_the_derivative_of_the_printed_chain():
    """(4.6)."""
    for phi, S, theta in zip(*thesis.poses(20, 1), strict=True):
        for k in range(6):
            d = 0.5 * np.eye(6)[k]
            plus, minus = (thesis.tool_in_world(phi, S, theta, thesis.INITIAL + s * d)[:3, 3] for s in (1, -1))
            assert plus - minus == pytest.approx(regressor(np.array([phi]))[:, k], abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_without_noise_all_is_recovered_and_pairs_share_their_correction(seed):
    """Mobile display, acceptance 9."""
    straight = record(Chain(), seed, QUIET)
    found = fit_linear(straight, RULER)
    assert 1e3 * np.array(found.chain.combinations_m) == pytest.approx(TRUE_MM, abs=1e-6)
    moved = np.array(found.chain.sensor_to_robot_m) - RULER.sensor_to_robot_m
    other = np.array(found.chain.robot_to_device_m) - RULER.robot_to_device_m
    assert 1e3 * moved == pytest.approx(1e3 * other[[1, 0, 2]] * (-1, -1, 1), abs=1e-9)
    assert 1e3 * moved == pytest.approx((-2.95, 1.15, -17.6), abs=1e-6)
    for huber_m in (None, 0.010):
        turned = fit(record(display(6.0), seed, QUIET), RULER, huber_m=huber_m)
        assert 1e3 * turned.x[:3] == pytest.approx(TRUE_MM, abs=1e-6)
        assert turned.x[3] == pytest.approx(np.radians(6.0), abs=1e-8)
        assert turned.converged
        assert not turned.refused
    bent = fit(record(display(-4.0, HARMONICS_DEG), seed, QUIET), RULER, harmonics=True)
    assert np.degrees(bent.x[3:]) == pytest.approx((-4.0, *HARMONICS_DEG), abs=1e-6)


@pytest.mark.parametrize("psi_deg", [-179.0, -100.0, 60.0, 135.0, 175.0])
def test_a_station_mounted_any_way_round_is_found(psi_deg):
    found = fit(record(display(psi_deg), 4), RULER)
    assert np.degrees(found.x[3]) == pytest.approx(psi_deg, abs=0.4)
    assert rms_mm(found.chain, record(display(psi_deg), 4))[[0, 2]].max() < 2.0


def test_fits_of_other_links_and_ceilings_are_as_exact():
    rng = np.random.default_rng(3)
    for seed in range(5):
        truth = Chain(tuple(rng.uniform(-0.5, 0.5, 3)), tuple(rng.uniform(-0.5, 0.5, 3)), 0.215, 0.170,
                      rng.uniform(2.0, 4.0), rng.uniform(-0.3, 0.3), tuple(rng.uniform(-0.03, 0.03, 4)))  # fmt: skip
        start = replace(RULER, link1_m=0.215, link2_m=0.170, ceiling_m=truth.ceiling_m)
        poses = record(truth, seed, QUIET)
        found = fit(poses, start, harmonics=True)
        assert found.chain.combinations_m == pytest.approx(truth.combinations_m, abs=1e-8)
        assert np.abs(residuals(found.chain, poses).error_m).max() < 1e-8


# ---- noise


@pytest.fixture(scope="module")
def noisy():
    """Of 50 recordings of a display with psi of 6 degrees: rms before, after the linear fit, after psi [mm], fits."""
    rows, fits = [], []
    for seed in range(50):
        poses = record(display(6.0), seed)
        fits.append(fit(poses, RULER))
        rows.append([rms_mm(c, poses) for c in (RULER, fit_linear(poses, RULER).chain, fits[-1].chain)])
    return np.mean(rows, axis=0), fits


def test_only_psi_removes_what_the_linear_fit_leaves(noisy):
    """Mobile display, acceptance 10."""
    (before, linear, after), fits = noisy
    assert before == pytest.approx((34.7, 35.3, 34.8), abs=2.0)
    assert linear[[0, 2]] == pytest.approx((9.6, 9.6), abs=0.8)
    assert linear[1] == pytest.approx(3.3, abs=0.4)
    assert after[[0, 2]] == pytest.approx((1.6, 1.6), abs=0.3)
    assert np.degrees(np.mean([f.x[3] for f in fits])) == pytest.approx(6.0, abs=0.05)


def test_sigma_is_the_spread_of_the_estimates(noisy):
    """Of all that is estimated: standard deviations within a third of those over fifty recordings."""
    _, fits = noisy
    spread = np.std([f.x[:4] for f in fits], axis=0)
    ratio = np.mean([f.sigma[:4] for f in fits], axis=0) / spread
    assert ((ratio > 0.67) & (ratio < 1.5)).all(), ratio
    assert (fits[0].sigma[4:] == 0.0).all()  # not estimated


def test_linear_fit_hides_psi_in_a_wrong_offset():
    """3.4: v of 47.9 mm instead of 3.9."""
    v = [1e3 * fit_linear(record(display(6.0), seed), RULER).chain.combinations_m[1] for seed in range(10)]
    assert np.mean(v) == pytest.approx(47.9, abs=3.0)


def test_harmonics_are_found_where_they_are_and_chosen_only_there():
    """Mobile display, acceptance 10b."""
    rows, found, chosen = [], [], []
    for seed in range(20):
        poses = record(display(0.3, HARMONICS_DEG), seed)
        psi, harmonics = fit(poses, RULER), fit(poses, RULER, harmonics=True)
        rows.append([rms_mm(f.chain, poses) for f in (psi, harmonics)])
        found.append(np.degrees(harmonics.x[4:]))
        chosen.append(calibrate(poses).model)
    psi, harmonics = np.mean(rows, axis=0)[:, [0, 2]]
    assert (psi >= 5.0).all()
    assert harmonics == pytest.approx((1.6, 1.6), abs=0.3)
    assert np.mean(found, axis=0) == pytest.approx(HARMONICS_DEG, abs=0.1)
    assert set(chosen) == {"harmonics"}
    assert {calibrate(record(display(0.3), seed)).model for seed in range(10)} <= {"linear", "psi"}
    assert {calibrate(record(display(3.0), seed)).model for seed in range(3)} == {"psi"}
    assert {calibrate(record(display(0.0), seed)).model for seed in range(3)} == {"linear"}


def test_white_noise_of_the_heading_is_not_taken_for_harmonics():
    """3.4, the second row of the table."""
    recording = Recording(heading_error_rad=np.radians(1.2))
    assert {calibrate(record(display(0.3), seed, recording)).model for seed in range(3)} == {"linear"}


# ---- what poses cannot tell


def test_with_the_arm_locked_psi_is_refused_and_the_offsets_are_not():
    """Mobile display, acceptance 11."""
    for seed in range(5):
        poses = record(display(6.0), seed, Recording(locked=True))
        found = fit(poses, RULER)
        assert found.refused == ("psi",)
        assert found.condition > 1e6
        assert found.x[3] == 0.0
        assert np.isfinite(found.x[:3]).all()
        assert rms_mm(found.chain, poses)[[0, 2]].max() < 2.5  # (u, v) have absorbed it
        chosen = calibrate(poses)
        assert chosen.model == "linear"
        assert any("psi cannot be told" in note for note in chosen.notes)
    quiet = fit(record(Chain(), 0, replace(QUIET, locked=True)), RULER)
    assert 1e3 * quiet.x[:3] == pytest.approx(TRUE_MM, abs=1e-6)


def test_harmonics_are_seen_even_with_the_arm_locked():
    """3.4: through the lever of 436 mm."""
    poses = record(display(0.0, HARMONICS_DEG), 1, Recording(locked=True))
    found = calibrate(poses)
    assert found.model == "harmonics"
    assert np.degrees(found.fit.x[4:]) == pytest.approx(HARMONICS_DEG, abs=0.15)
    assert not found.fit.free[3]


@pytest.mark.parametrize(("axis_mm", "sigma_deg"), [(5.0, 1.3), (40.0, 0.15), (80.0, 0.09)])
def test_psi_is_as_sure_as_the_hip_is_spread(axis_mm, sigma_deg):
    """Mobile display, acceptance 11, and 3.3: sigma of 1.3, 0.15 and 0.09 degrees."""
    sigmas = []
    whole = 1e3 * spread_m(Kinematics().tips(record(Chain(), 0).theta_rad))
    for seed in range(10):
        poses = record(Chain(), seed, Recording(workspace=axis_mm / whole, floor_m=0.0))
        assert 1e3 * spread_m(Kinematics().tips(poses.theta_rad)) == pytest.approx(axis_mm, rel=0.15)
        sigmas.append(np.degrees(fit(poses, RULER).sigma[3]))
    assert np.mean(sigmas) == pytest.approx(sigma_deg, rel=0.2)
    if axis_mm == 40.0:
        assert max(sigmas) <= 0.25
    assert any("psi needs 40 mm" in note for note in calibrate(poses).notes) == (axis_mm < 35.0)


def test_harmonics_of_a_robot_that_never_turned_are_refused():
    poses = record(display(3.0), 0)
    chain = display(3.0)
    hips = Kinematics(chain).poses(np.full(100, 0.7), poses.sensor_m, poses.theta_rad).hip_m
    tool = np.column_stack([-hips[:, 2], hips[:, 0], chain.ceiling_m - hips[:, 1]])
    still = Poses(np.full(100, 0.7), poses.sensor_m, poses.theta_rad, tool)
    found = fit(still, RULER, harmonics=True)
    assert found.refused == ("harmonics",)
    assert np.degrees(found.x[3]) == pytest.approx(3.0, abs=1e-6)
    assert set(calibrate(still).fits) == {"linear", "psi"}


@pytest.mark.parametrize("lost", [1, 5, 10])
def test_drop_outs_of_the_tracker_neither_bend_the_fit_nor_go_unnamed(lost):
    poses = record(display(3.0), 2, Recording(drop_outs=lost))
    found = calibrate(poses)
    assert found.model == "psi"
    assert np.degrees(found.fit.x[3]) == pytest.approx(3.0, abs=0.4)
    assert 1e3 * found.fit.x[:3] == pytest.approx(TRUE_MM, abs=3.0)
    far = np.argsort(np.linalg.norm(found.after.error_m, axis=1))[-lost:]
    assert set(found.drop_outs) == set(far)
    assert (found.fit.weights[far] < 0.1).all()
    plain = fit(poses, RULER, huber_m=None)
    assert abs(plain.x[:3] - 1e-3 * np.array(TRUE_MM)).max() > abs(found.fit.x[:3] - 1e-3 * np.array(TRUE_MM)).max()


def test_jacobian_of_the_fit_is_the_derivative_of_the_chain():
    """By differences of the chain's kernels, which the fit does not use."""
    poses, x = record(display(3.0), 0, Recording(n=20)), np.array([0.43, 0.004, -0.35, 0.05, 0.02, 0.01, -0.01, 0.01])

    def hips(x):
        chain = replace(RULER.with_combinations(*x[:3]), psi_rad=x[3], harmonics_rad=tuple(x[4:]))
        return Kinematics(chain).poses(poses.heading_rad, poses.sensor_m, poses.theta_rad).hip_m

    model = HipModel(poses, RULER)
    assert poses.hips_m(RULER) - hips(x) == pytest.approx(model.error(x), abs=1e-12)
    J = model.jacobian(x)
    for k in range(8):
        d = 1e-6 * np.eye(8)[k]
        assert (hips(x + d) - hips(x - d)) / 2e-6 == pytest.approx(J[:, :, k], abs=1e-8)
    assert scaled_condition(np.zeros((4, 2))) == np.inf


# ---- the generator


def test_recorded_poses_are_the_arms_and_fill_the_room():
    poses = record(Chain(), 5, replace(QUIET, n=2000))
    assert within_limits(poses.theta_rad).all()
    exact = residuals(Chain(), poses)
    assert np.abs(exact.error_m).max() < 1e-12
    assert np.abs(exact.floor_m).max() <= 1.0 + 1e-12
    assert np.abs(exact.floor_m).max(axis=0) == pytest.approx((1.0, 1.0), abs=0.01)
    assert (np.abs(exact.device_m) <= np.array([0.1905, 0.0955, 0.1335]) + 1e-12).all()
    again = record(Chain(), 5, replace(QUIET, n=2000))
    assert (again.tool_m == poses.tool_m).all()


@pytest.mark.parametrize(("wrong", "says"), [({"n": 0}, "cannot be recorded"), ({"drop_outs": 101}, "101 drop-outs")])
def test_a_recording_that_cannot_be_is_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        Recording(**wrong)


def test_too_few_poses_and_senseless_settings_are_refused():
    poses = record(Chain(), 0)
    with pytest.raises(ValueError, match="at least 10 poses"):
        calibrate(poses[np.arange(9)])
    with pytest.raises(ValueError, match="too few"):
        fit(poses[np.arange(2)], RULER, harmonics=True)
    with pytest.raises(ValueError, match="huber_m"):
        fit(poses, RULER, huber_m=-1.0)


@pytest.mark.parametrize("seed", range(6))
def test_senseless_poses_give_finite_numbers_and_no_crash(seed):
    """Whatever a file may hold: all rows the same, tiny or huge spreads, noise alone, straight arms."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 30))
    scale = 10.0 ** rng.uniform(-6.0, 2.0, 4)
    numbers = [np.full((n, 3), rng.normal()) if rng.random() < 0.3 else s * rng.normal(size=(n, 3)) for s in scale]
    poses = Poses(numbers[0][:, 0], *numbers[1:])
    found = calibrate(poses)
    assert np.isfinite(found.fit.x).all()
    assert np.isfinite(found.fit.covariance).all()
    assert np.isfinite(list(found.held_out_m.values())).all()
    same = calibrate(poses[np.zeros(n, dtype=int)])
    assert same.model == "linear"
    assert np.isfinite(same.fit.sigma).all()


def test_an_error_in_the_devices_axes_turns_with_the_robot():
    poses = record(display(10.0), 3, QUIET)
    exact = residuals(display(10.0), poses)
    moved = replace(exact, error_m=np.tile((0.001, 0.002, 0.003), (100, 1)))
    for phi, error in zip(exact.robot_rad, moved.device_error_m, strict=True):
        a, b, c, d = thesis.printed_base(phi, np.zeros(3), thesis.INITIAL)
        assert (a @ b @ c @ d)[:3, :3] @ error == pytest.approx((0.001, 0.002, 0.003), abs=1e-12)
