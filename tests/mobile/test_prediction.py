"""The base's pose between packets: it cannot leap, and silence is noticed.  Mobile display, 1.4."""

import math
from dataclasses import replace

import numpy as np
import pytest

from palpate import jit
from palpate.jit import Block
from palpate.mobile.estimate.leaps import PACKETS, Motion, leap
from palpate.mobile.estimate.prediction import Prediction, new_predictor
from tests.mobile.motion_doors import predict_door

compiled = pytest.mark.skipif(jit.DISABLED, reason="tens of thousands of ticks")
HOLD = Prediction(method="hold")
WORST = Prediction(noise_m=0.002, noise_rad=math.radians(0.25))


def predicted(packets, ticks, prediction=None, command=(0.0, 0.0, 0.0)):
    """(n, 9) p_out, v_out, fade, lost, last; the predictor."""
    s = new_predictor(prediction or Prediction(), (0.0, 0.0, 0.0))
    out, block = np.zeros((ticks, 9)), Block(s)
    rows = np.ascontiguousarray(np.array(packets, dtype=np.float64).reshape(-1, 5))
    predict_door(block.address, np.array(command), rows, out)
    return out, s


def steady(begin, end, every=10, late=6, pose=(0.0, 0.0, 0.0)):
    """Packets of a base that stands."""
    return [(k + late, k, *pose) for k in range(begin, end, every)]


@compiled
def test_the_filter_does_not_leap_and_holding_does():
    """Mobile display, acceptance 24: the set-up of 1.4."""
    for seed in range(3):
        filtered, held = leap(Prediction(), seed=seed), leap(HOLD, seed=seed)
        assert filtered.excess_m.max() <= 0.15e-3
        assert math.sqrt((filtered.error_m**2).mean()) <= 1.2e-3
        assert held.excess_m.max() >= 5e-3
        assert filtered.true_step_m.max() == pytest.approx(0.51e-3, abs=0.02e-3)


@compiled
def test_in_the_worst_noise_at_full_speed_the_error_stays_small():
    """Mobile display, 1.4: 0.5 m/s, 2 mm and 0.25 deg taken as white noise."""
    run = leap(WORST, Motion(speed_m_s=0.5), PACKETS.worst(), seed=3)
    assert run.excess_m.max() <= 0.2e-3
    assert math.sqrt((run.error_m**2).mean()) <= 5e-3


@compiled
@pytest.mark.parametrize("seed", range(4))
def test_the_output_moves_no_faster_than_its_speed_and_the_correction(seed):
    """Mobile display, acceptance 24: always, whatever arrives."""
    rng = np.random.default_rng(seed)
    ticks = np.arange(0, 5000, 10)
    pose = np.cumsum(rng.normal(0.0, 0.02, (500, 3)), axis=0)
    pose[rng.uniform(size=500) < 0.02] *= 1e6
    pose[rng.uniform(size=500) < 0.02, 1] = math.nan
    late = rng.integers(1, 60, 500)
    rows = np.column_stack([ticks + late, ticks, pose])[np.argsort(ticks + late, kind="stable")]
    out, s = predicted(rows, 5100, command=tuple(rng.normal(0.0, 0.3, 3)))
    step = np.abs(np.diff(out[:, :3], axis=0))
    assert s.restarts == 0 or (out[:, 6] == 0.0).any()
    felt = out[1:, 6] > 0.0
    limit = (np.abs(out[1:, 3:6]) + [0.03, 0.03, 0.07]) * 1e-3 + 1e-9
    assert (step <= limit)[felt].all()
    assert np.isfinite(out).all()


@compiled
def test_holding_trips_the_devices_protection_and_the_filter_does_not():
    """Mobile display, acceptance 25, as far as the HIP's apparent speed: the hand at up to 0.5 m/s."""
    motion = Motion(seconds=60.0, hand_m_s=0.5)
    assert leap(HOLD, replace(motion, seconds=5.0), seed=25).tripped_s < 5.0
    assert math.isnan(leap(Prediction(), motion, seed=25).tripped_s)


@pytest.mark.nojit
def test_packets_out_of_order_doubled_and_lost_are_used_once_and_in_order():
    """Mobile display, acceptance 26: time stamps of used poses strictly increase."""
    rng = np.random.default_rng(26)
    rows = [row for row in steady(0, 900) if rng.uniform() > 0.05]
    rows += [(row[0] + 1, *row[1:]) for row in rows[::7]]  # doubled
    rows = [(row[0] + (25 if rng.uniform() < 0.1 else 0), *row[1:]) for row in rows]  # held back
    rows.sort()
    out, s = predicted(rows, 950)
    last = out[:, 8][out[:, 8] >= 0.0]
    assert (np.diff(last) >= 0.0).all()
    assert s.used == len(np.unique(last))
    assert s.used + s.stale == len(rows)
    assert s.stale >= len(rows) // 8
    assert s.absurd == 0
    assert (out[:, 7] == 0.0).all()


@pytest.mark.nojit
def test_silence_fades_forces_and_stops_and_packets_bring_them_back():
    """Mobile display, acceptance 26 and 1.4: 50 ms, 200 ms, 100 ms."""
    out, _ = predicted(steady(0, 200) + steady(600, 900), 900)
    quiet = 190 + 6  # the last packet before it is heard
    fade, lost = out[:, 6], out[:, 7]
    assert (fade[: quiet + 200] == 1.0).all()
    assert np.flatnonzero(lost)[0] == pytest.approx(quiet + 200, abs=1)
    assert fade[quiet + 250] == pytest.approx(0.5, abs=0.02)
    assert (fade[quiet + 302 : 604] == 0.0).all()  # 300 ms of silence: no force
    assert (lost[610:] == 0.0).all()
    assert fade[655] == pytest.approx(0.5, abs=0.03)
    assert (fade[710:] == 1.0).all()


@pytest.mark.nojit
def test_in_silence_the_command_is_no_longer_believed():
    driven, _ = predicted(steady(0, 60), 150, command=(0.4, 0.0, 0.0))
    heard_until = 50 + 6
    v = driven[:, 3]
    assert v[heard_until + 40] > v[heard_until + 10]  # below 50 ms it is
    assert np.ptp(v[heard_until + 70 :]) < 0.3 * v.max()


@pytest.mark.nojit
@pytest.mark.parametrize(
    "pose", [(math.nan, 0.0, 0.0), (0.0, math.inf, 0.0), (1e9, 0.0, 0.0), (0.0, 0.3, 0.0), (0, 0, 1)]
)
def test_a_forged_pose_is_dropped_and_counted(pose):
    rows = sorted([*steady(0, 300), (156, 145, *pose), (160, 158, *pose)])
    out, s = predicted(rows, 300)
    assert s.absurd == 2
    assert np.abs(out[:, :3]).max() == 0.0
    assert (out[:, 6] == 1.0).all()


@pytest.mark.nojit
def test_packets_of_the_future_and_of_long_ago_are_dropped():
    rows = sorted([*steady(300, 500), (400, 450, 0.1, 0.0, 0.0), (401, 120, 0.1, 0.0, 0.0)])
    out, s = predicted(rows, 500)
    assert (s.absurd, s.stale) == (1, 1)
    assert np.abs(out[:, :3]).max() == 0.0


@compiled
def test_after_a_loss_it_begins_anew_where_two_packets_agree_while_nothing_is_felt():
    there = (2.0, -1.0, 3.0)
    out, s = predicted(steady(0, 200) + steady(800, 1000, pose=there), 1000)
    assert s.restarts == 1
    assert out[-1, :3] == pytest.approx([2.0, -1.0, 3.0], abs=1e-6)
    jump = int(np.argmax(np.abs(np.diff(out[:, 0]))))
    assert out[jump, 6] == 0.0
    assert out[-1, 6] == 1.0
    one = [*steady(0, 200), (806, 800, *there), *steady(830, 1000)]  # a single forged one does not
    out, s = predicted(one, 1000)
    assert s.restarts == 0
    assert np.abs(out[:, :3]).max() == 0.0


@compiled
def test_a_turning_base_is_followed_through_the_half_turn():
    """Packets are within +-180 deg, the estimate is not torn."""
    ticks = np.arange(0, 9000, 10)
    phi = 0.6 * ticks * 1e-3
    rows = np.column_stack([ticks + 6, ticks, 0.0 * phi, 0.0 * phi, np.angle(np.exp(1j * phi))])
    out, s = predicted(rows, 9000, command=(0.0, 0.0, 0.6))
    assert s.absurd == 0
    assert out[-1, 2] == pytest.approx(0.6 * 9.0, abs=0.01)
    assert np.abs(np.diff(out[:, 2])).max() < 1e-3


def test_bad_settings_are_one_clear_line():
    for make, words in (
        (lambda: Prediction(method="guess"), "method"), (lambda: Prediction(tau_s=0.0), "tau_s"),
        (lambda: Prediction(lost_s=0.4), "lost_s"), (lambda: Motion(seconds=0.0), "seconds"),
        (lambda: Motion(hand_m_s=5.0), "wider swing"),
        (lambda: new_predictor(Prediction(), (0.0, math.nan, 0.0)), "pose"),
        (lambda: new_predictor(Prediction(), (0.0, 0.0, 0.0), tick_hz=4000), "ring"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            make()
