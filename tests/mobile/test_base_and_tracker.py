"""The simulated base and tracker of the mobile display.  Mobile display, 1.1, 1.2 and 4.6."""

import math
from dataclasses import replace

import numpy as np
import pytest

from palpate import jit
from palpate.jit import Block
from palpate.mobile.hardware.base import Base, new_drive
from palpate.mobile.hardware.tracker import Tracker, new_station
from tests.mobile.motion_doors import bias_door, drive_door, rates_door, track_door, wheels_door

compiled = pytest.mark.skipif(jit.DISABLED, reason="tens of thousands of ticks")
STILL = Base(slip=0.0, events_1_s=0.0)


def wheels(rows, rho=0.20, radius=0.040):
    out = np.zeros((len(rows), 6))
    wheels_door(np.ascontiguousarray(rows, dtype=np.float64), rho, radius, out)
    return out


def driven(drive, commands):
    out = np.zeros((len(commands), 6))
    block = Block(drive)
    drive_door(block.address, np.ascontiguousarray(commands, dtype=np.float64), out)
    return out


def steady(v, ticks, given=1.0):
    return np.tile([*v, given], (ticks, 1))


# ---- wheels


@pytest.mark.nojit
def test_the_references_wheel_speeds():
    """Mobile display, acceptance 19."""
    found = wheels([[0.2, 0.1, math.radians(20.0), math.radians(30.0)]])[0]
    assert found[:3] == pytest.approx([3.8348, -4.2453, -4.8255], abs=1e-4)


@pytest.mark.nojit
def test_wheels_and_back_is_the_identity_and_a_translation_sums_to_zero():
    """Mobile display, acceptance 19."""
    rng = np.random.default_rng(19)
    rows = np.column_stack([rng.normal(size=(200, 3)), rng.uniform(-np.pi, np.pi, 200)])
    for rho, radius in ((0.20, 0.040), (0.31, 0.1)):
        assert wheels(rows, rho, radius)[:, 3:] == pytest.approx(rows[:, :3], abs=1e-12)
    rows[:, 2] = 0.0
    assert wheels(rows)[:, :3].sum(axis=1) == pytest.approx(0.0, abs=1e-11)


@pytest.mark.nojit
def test_no_wheel_is_faster_than_16_rad_s_at_full_speed():
    """Mobile display, acceptance 19."""
    angle, phi = (x.ravel() for x in np.meshgrid(np.linspace(0, 2 * np.pi, 60), np.linspace(0, 2 * np.pi, 24)))
    w = math.radians(40.0) * np.where(np.arange(len(phi)) % 2, 1.0, -1.0)
    fastest = np.abs(wheels(np.column_stack([0.5 * np.cos(angle), 0.5 * np.sin(angle), w, phi]))[:, :3]).max()
    assert 15.9 < fastest <= 16.0


# ---- response, limits, slip


@pytest.mark.nojit
def test_the_base_answers_as_a_first_order_lag_within_its_acceleration():
    ticks = 400 if jit.DISABLED else 1500
    small = driven(new_drive(STILL, (0.0, 0.0, 0.0), 1), steady((0.05, -0.03, 0.1), ticks))
    t = 1e-3 * np.arange(1, ticks + 1)
    assert small[:, 3] == pytest.approx(0.05 * -np.expm1(-t / 0.10), abs=5e-4)
    assert small[:, 5] == pytest.approx(0.1 * -np.expm1(-t / 0.10), abs=1e-3)
    big = driven(new_drive(STILL, (0.0, 0.0, 0.0), 1), steady((0.5, 0.0, 0.6), ticks))
    assert np.abs(np.diff(big[:, 3])).max() == pytest.approx(1e-3, rel=1e-6)  # 1 m/s^2
    assert np.hypot(big[:, 3], big[:, 4]).max() <= 0.5


@pytest.mark.nojit
@pytest.mark.parametrize("command", [(3.0, -4.0, 9.0), (1e300, 0.0, 0.0), (math.nan, 0.1, 0.0), (0.0, math.inf, 0.0)])
def test_an_absurd_command_is_cut_or_ignored(command):
    out = driven(new_drive(STILL, (0.0, 0.0, 0.0), 1), steady(command, 300))
    assert np.isfinite(out).all()
    assert np.hypot(out[:, 3], out[:, 4]).max() <= 0.5 + 1e-12
    assert np.abs(out[:, 5]).max() <= math.radians(40.0) + 1e-12
    if max(np.abs(command)) != 9.0:
        assert (out == 0.0).all()


@pytest.mark.nojit
def test_slow_motors_scale_all_three_wheels():
    drive = new_drive(Base(slip=0.0, events_1_s=0.0, wheel_rad_s=5.0), (0.0, 0.0, 0.4), 1)
    driven(drive, steady((0.3, 0.2, 0.5), 2))
    asked, got = wheels([[0.3, 0.2, 0.5, 0.4]])[0, :3], np.array(drive.wheels)
    assert np.abs(got).max() == pytest.approx(5.0)
    assert got / np.abs(got).max() == pytest.approx(asked / np.abs(asked).max(), abs=1e-6)


@compiled
def test_without_commands_the_base_stops():
    commands = np.vstack([steady((0.3, 0.0, 0.2), 1000), steady((9.0, 9.0, 9.0), 2500, given=0.0)])
    out = driven(new_drive(STILL, (0.0, 0.0, 0.0), 1), commands)
    assert out[1400, 3] == pytest.approx(0.3, rel=0.01)
    assert np.abs(out[-1, 3:]).max() < 1e-4


@compiled
def test_slip_loses_between_none_and_three_percent_and_events_are_seldom():
    drive = new_drive(Base(events_1_s=0.0), (0.0, 0.0, 0.0), 5)
    out = driven(drive, steady((0.3, 0.0, 0.0), 20_000))
    assert 0.0 < 1.0 - (out[-1, 0] - out[1000, 0]) / (out[1000:, 3].sum() * 1e-3) < 0.03
    drive = new_drive(Base(slip=0.0, events_1_s=0.5), (0.0, 0.0, 0.0), 5)
    out = driven(drive, steady((0.0, 0.0, 0.0), 60_000))
    assert 15 <= drive.events <= 45
    steps = np.hypot(np.diff(out[:, 0]), np.diff(out[:, 1]))
    assert steps.sum() == pytest.approx(0.010 * drive.events, rel=0.05)
    assert steps.max() == pytest.approx(0.010 / 20, rel=1e-6)  # spread, no leap
    assert np.abs(np.diff(out[:, 2])).sum() == pytest.approx(math.radians(1.0) * drive.events, rel=0.05)


@compiled
def test_a_push_moves_a_base_without_position_control_by_tau_force_over_mass():
    drive = new_drive(replace(STILL, hold_1_s2=0.0), (0.0, 0.0, 0.0), 1)
    drive.force = (8.5, -4.0, 0.3)
    out = driven(drive, steady((0.0, 0.0, 0.0), 2000))
    assert out[-1, 3:] == pytest.approx([0.1 * 8.5 / 22.0, 0.1 * -4.0 / 22.0, 0.1 * 0.3 / 0.92], rel=1e-6)
    first = out[0, 3] / 1e-3
    assert first == pytest.approx(0.39, abs=0.01)  # reference 2.6


@compiled
@pytest.mark.parametrize("command", [(0.0, 0.0, 0.0), (0.2, -0.1, 0.3)])
def test_a_push_puts_a_base_off_by_force_over_mass_and_hold_and_it_comes_back(command):
    drive, free = (new_drive(STILL, (0.0, 0.0, 0.0), 1) for _ in range(2))
    drive.force = (8.5, -4.0, 0.3)
    out, alone = (driven(each, steady(command, 3000)) for each in (drive, free))
    off = [8.5 / 2200.0, -4.0 / 2200.0, 0.3 / 92.0]
    assert out[-1, :3] - alone[-1, :3] == pytest.approx(off, rel=1e-4)
    assert out[-1, 3:] == pytest.approx(alone[-1, 3:], abs=1e-6)
    drive.force = (0.0, 0.0, 0.0)
    out, alone = (driven(each, steady(command, 3000)) for each in (drive, free))
    assert out[-1, :3] == pytest.approx(alone[-1, :3], abs=1e-6)


@compiled
def test_a_wheel_that_spins_turns_the_base_off_its_way():
    drive = new_drive(STILL, (0.0, 0.0, 0.0), 1)
    straight = driven(drive, steady((0.3, 0.0, 0.0), 1000))
    drive = new_drive(STILL, (0.0, 0.0, 0.0), 1)
    drive.grip = (1.0, 0.0, 1.0)
    spun = driven(drive, steady((0.3, 0.0, 0.0), 1000))
    assert abs(straight[-1, 2]) < 1e-9 < 0.05 < abs(spun[-1, 2])
    assert spun[:, 3:] == pytest.approx(straight[:, 3:])  # its wheels say nothing of it


# ---- rates


@pytest.mark.nojit
def test_rates_keep_their_count_over_ten_seconds():
    """Mobile display, acceptance 37."""
    rates, angles = np.array([10, 50, 60, 100, 180, 190, 1000]), np.array([np.pi, -np.pi, 3 * np.pi, 7.0, -7.0, 0.3])
    counts, wrapped = rates.copy(), np.zeros(6)
    rates_door(counts, 10_000, angles, wrapped)
    assert (np.abs(counts - 10 * rates) <= 1).all()
    assert wrapped == pytest.approx([np.pi, np.pi, np.pi, 7.0 - 2 * np.pi, 2 * np.pi - 7.0, 0.3])


# ---- tracker


def tracked(tracker, poses, seed=1, **settings):
    """(n, 6) arrival and sample tick, pose of the packets; the station."""
    station = new_station(tracker, seed, **settings)
    out, block = np.zeros((len(poses) + 70, 6)), Block(station)
    track_door(block.address, 0, np.ascontiguousarray(poses, dtype=np.float64), out)
    return out[1 : 1 + int(out[0, 0])], station


STANDING = np.tile([0.4, 1.0, -0.7, 0.2], (10_000, 1))


@compiled
def test_packets_come_at_their_rate_late_some_lost_and_some_twice():
    """Mobile display, 1.1, 1.2 and acceptance 37: 1800 samples in 10 s, sent at 190 Hz."""
    packets, station = tracked(Tracker(), STANDING)
    assert abs(station.sampled - 1800) <= 2
    assert abs(station.sent - 1900) <= 2
    assert station.lost == pytest.approx(19, abs=12)
    assert station.sent == station.lost + station.arrived + station.on_way
    late = packets[:, 0] - packets[:, 1]
    assert late.min() >= 6.0  # 4 ms of the tracker and 2 of the network
    assert 7.0 < late.mean() < 12.0
    repeats = len(packets) - len(np.unique(packets[:, 1]))
    assert 90 <= repeats <= 220  # 100, and as many again because ticks are whole
    assert station.overflowed == 0


@compiled
def test_noise_and_bias_are_as_large_as_said():
    packets, _ = tracked(Tracker(bias_m=0.0, send_hz=0), STANDING)
    assert packets[:, 2:].mean(axis=0) == pytest.approx(STANDING[0], abs=1e-4)
    assert packets[:, 2:5].std(axis=0) == pytest.approx(0.0005, rel=0.08)
    assert packets[:, 5].std() == pytest.approx(math.radians(0.05), rel=0.08)
    rng = np.random.default_rng(2)
    bias = np.zeros((60, 30, 3))
    near, far = np.zeros((60, 30, 3)), np.zeros((60, 30, 3))
    for i in range(60):  # of many rooms
        block = Block(new_station(Tracker(), i))
        points = rng.uniform(-4.0, 4.0, (30, 3))
        bias_door(block.address, points, bias[i])
        bias_door(block.address, points + [0.1, 0.0, 0.0], near[i])
        bias_door(block.address, points + [0.0, 0.0, 1.0], far[i])
    assert np.sqrt((bias**2).mean()) == pytest.approx(0.002, rel=0.1)
    assert (bias * near).mean() / (bias**2).mean() == pytest.approx(math.exp(-0.005), abs=0.01)
    assert (bias * far).mean() / (bias**2).mean() == pytest.approx(math.exp(-0.5), abs=0.12)


@compiled
def test_chance_is_the_seeds():
    a, b, c = (tracked(Tracker(), STANDING[:3000], seed=s)[0] for s in (3, 3, 4))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


@compiled
def test_a_stopped_tracker_repeats_its_last_sample():
    station = new_station(Tracker(loss=0.0), 1)
    out, block = np.zeros((300, 6)), Block(station)
    track_door(block.address, 0, STANDING[:500], out)
    station.stopped = 1
    out[:] = 0.0
    track_door(block.address, 500, STANDING[:500], out)
    stamps = out[1 : 1 + int(out[0, 0]), 1]
    assert len(stamps) > 80
    assert len(np.unique(stamps[20:])) == 1


def test_bad_settings_are_one_clear_line():
    for make, words in (
        (lambda: Tracker(rate_hz=0), "rate_hz"), (lambda: Tracker(loss=1.5), "loss"),
        (lambda: Tracker(latency_s=1.0), "under way"), (lambda: Tracker(bias_length_m=0.0), "bias_length_m"),
        (lambda: Base(tau_s=0.0), "tau_s"), (lambda: Base(slip=1.0), "slip"),
        (lambda: new_drive(Base(), (0.0, math.nan, 0.0), 1), "pose"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            make()
