"""The lift of the mobile display.  Mobile display, 2.6."""

import math

import numpy as np
import pytest

from palpate.jit import Block, block_loader, entry
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.geometry.kinematics import Kinematics
from palpate.mobile.hardware.lift import Lift, Spindle, lift_step, new_lift

load_lift = block_loader((Lift, False))
MIDDLE_M = 0.96
ABOVE_M = Chain().robot_to_device_m[2]


@entry("intp, float64[:, ::1], float64[:, ::1]")
def lift_door(address, hand, out):
    """hand (n, 2): height, halt; out (n, 5): Ry, velocity, acceleration, active, command."""
    (l,) = load_lift(address)
    for k in range(hand.shape[0]):
        lift_step(l, k, hand[k, 0], hand[k, 1] == 0.0)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4] = (
            MIDDLE_M + l.y, l.velocity, l.acceleration, float(l.active), l.command,
        )  # fmt: skip


def lifted(hand_y, halt=0.0, y_m=0.0, tick_hz=1000, on=True):
    """(n, 5) of a hand at heights (n,)."""
    s = new_lift(MIDDLE_M, on, tick_hz=tick_hz)
    s.y = y_m
    block, rows = Block(s), np.column_stack(np.broadcast_arrays(np.asarray(hand_y, dtype=float), halt)).astype(float)
    out = np.zeros((len(rows), 5))
    lift_door(block.address, np.ascontiguousarray(rows), out)
    return out, s


def stepped(by, ticks=8000):
    return np.full(ticks, MIDDLE_M + ABOVE_M + by)


@pytest.mark.parametrize("by", [0.4, -0.4, 0.3, -0.1])
@pytest.mark.parametrize("tick_hz", [1000, 4000])
def test_a_step_of_the_hand_is_followed(by, tick_hz):
    """Mobile display, acceptance 34: 0.4 m, to within 50 mm in 4 s; up and down."""
    start = MIDDLE_M - 0.5 * by
    hand = np.full(8 * tick_hz, start + ABOVE_M + by)
    out, s = lifted(hand, y_m=start - MIDDLE_M, tick_hz=tick_hz)
    error = np.abs(hand - ABOVE_M - out[:, 0])
    assert error[4 * tick_hz :].max() <= 0.050
    assert error[-1] <= Spindle().stop_m
    assert out[-1, 1] == 0.0
    passed = (out[:, 0] - start) * np.sign(by)
    assert passed.max() <= abs(by)  # it does not overshoot
    assert s.ended == 0


def test_the_column_of_the_lift_is_upwards():
    """Mobile display, acceptance 34: (0, 1, 0), whatever the pose."""
    rng = np.random.default_rng(1)
    J_R, _ = Kinematics().jacobians(rng.uniform(-3, 3, 50), rng.uniform(-1, 1, (50, 3)))
    assert np.array_equal(J_R[:, :, 3], np.tile([0.0, 1.0, 0.0], (50, 1)))


def random_hands(seed, ticks=20_000):
    """It leaps, sways, leaves the travel, and is not a number now and then."""
    rng = np.random.default_rng(seed)
    levels = rng.choice([-1.0, 0.8, 1.3, 3.0], ticks // 4000 + 1)
    hand = np.repeat(levels, 4000)[:ticks] + 0.05 * np.sin(2 * np.pi * 2.0 * 1e-3 * np.arange(ticks))
    hand[rng.integers(0, ticks, 20)] = rng.choice([np.nan, np.inf, -np.inf], 20)
    return hand, (rng.uniform(size=ticks) < 0.0002).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_speed_acceleration_and_travel_are_never_exceeded(seed):
    """0.15 m/s, 0.5 m/s^2, 0.6 m; and it comes to rest before an end."""
    hand, halt = random_hands(seed)
    out, s = lifted(hand, halt)
    height, velocity, acceleration = out[:, 0], out[:, 1], out[:, 2]
    assert np.isfinite(out).all()
    assert np.abs(velocity).max() <= 0.15 + 1e-12
    assert np.abs(acceleration).max() <= 0.5 + 1e-9
    assert height.min() >= 0.66
    assert height.max() <= 1.26
    assert np.diff(height) == pytest.approx(1e-3 * velocity[1:], abs=1e-12)
    assert np.diff(velocity) == pytest.approx(1e-3 * acceleration[1:], abs=1e-12)
    assert s.ended > 0
    assert np.ptp(height) > 0.3


@pytest.mark.nojit
def test_it_rests_until_the_hand_is_out_of_the_activation_and_again_only_when_it_is_there():
    """Mobile display, 4.5: begins beyond 57 mm, ends within the stop; between the two it goes on as it was."""
    near, _ = lifted(stepped(0.0565, 300))
    assert (near[:, 4] == 0.0).all()
    out, _ = lifted(stepped(0.0575, 1500))
    active = out[:, 3] > 0.0
    assert active[0]
    until = int(np.flatnonzero(active)[-1])
    assert not active[until + 1 :].any()
    left = 0.0575 + MIDDLE_M - out[until, 0]
    assert 0.009 < left < 0.0125  # 0.010, seen every 20 ms


@pytest.mark.nojit
def test_commands_are_new_at_fifty_hertz_and_a_halt_is_at_once():
    hand = stepped(0.4, 400) + 0.001 * np.arange(400)
    halt = np.zeros(400)
    halt[307] = 1.0
    out, _ = lifted(hand - 0.35, halt)
    changed = np.flatnonzero(np.diff(out[:, 4])) + 1
    assert set(changed[changed != 307] % 20) == {0}
    assert out[307, 4] == 0.0
    assert out[307, 2] < 0.0


def test_a_sway_within_the_activation_moves_nothing():
    """Mobile display, 4.9: a gait has the hand go up and down 15 mm at 2 Hz."""
    out, _ = lifted(MIDDLE_M + ABOVE_M + 0.02 + 0.015 * np.sin(2 * np.pi * 2.0 * 1e-3 * np.arange(5000)))
    assert (out[:, 1] == 0.0).all()


@pytest.mark.nojit
def test_a_lift_that_is_off_stands():
    out, _ = lifted(stepped(0.4, 100), on=False)
    assert (out[:, 0] == MIDDLE_M).all()
    assert (out[:, 1:] == 0.0).all()


def test_a_bad_lift_is_told_in_a_line():
    for wrong, told in (
        ({"travel_m": 0.0}, "travel_m is 0.0; it must be positive"), ({"speed_m_s": math.nan}, "must be positive"),
        ({"stop_m": 0.1}, "stop_m is to be the smaller"), ({"slow_m": 0.01}, "give it a longer slow_m"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            Spindle(**wrong)
    with pytest.raises(ValueError, match=r"height_m is inf; it must be finite"):
        new_lift(math.inf)
