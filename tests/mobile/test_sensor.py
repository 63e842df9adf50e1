"""The force sensor between tip and hand.  Mobile display, 1.2."""

import itertools

import numpy as np
import pytest

from palpate.jit import Block, block_loader, entry
from palpate.mobile.hardware.sensor import ForceSensor, Sensor, new_sensor, sense
from palpate.spatial.placement import Rotation

load_sensor = block_loader((Sensor, False))
QUIET = ForceSensor(noise_N=0.0, noise_Nm=0.0)


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def sense_door(address, acting, read, log):
    """acting (n, 6): torque, force; read the same; log (m, 6)."""
    (s,) = load_sensor(address)
    for k in range(acting.shape[0]):
        t, f = acting[k, :3], acting[k, 3:]
        new = sense(s, (f[0], f[1], f[2]), (t[0], t[1], t[2]))
        for i in range(3):
            read[k, i], read[k, 3 + i] = s.torque[i], s.force[i]
            if new:
                log[s.logged - 1, i], log[s.logged - 1, 3 + i] = s.mean_torque[i], s.mean_force[i]


def sensed(acting, sensor=QUIET, seed=1, tick_hz=1000):
    """Readings (n, 6), log (m, 6), and the sensor."""
    acting = np.ascontiguousarray(np.atleast_2d(acting), dtype=float)
    s, read, log = new_sensor(sensor, seed, tick_hz), np.zeros_like(acting), np.zeros((len(acting), 6))
    block = Block(s)
    sense_door(block.address, acting, read, log)
    return read, log[: s.logged], s


@pytest.mark.nojit
def test_readings_are_whole_steps_within_half_a_step_of_what_acts():
    """Steps of 1/1280 N and 1/256 N mm."""
    acting = np.random.default_rng(1).uniform(-1, 1, (200, 6)) * [0.12, 0.12, 0.12, 12, 12, 17]
    read, _, s = sensed(acting)
    step = np.array([1e-3 / 256] * 3 + [1 / 1280] * 3)
    assert np.abs(read - acting).max(axis=0) == pytest.approx(0.5 * step, rel=0.1)
    assert np.abs(read / step - np.round(read / step)).max() < 1e-9
    assert s.clipped == 0


@pytest.mark.nojit
@pytest.mark.parametrize("much", [1.001, 3.0, 1e6, 1e300])
def test_nothing_is_read_beyond_the_ranges(much):
    """+-12, 12, 17 N and +-120 N mm; each axis by itself."""
    most = np.array([0.12, 0.12, 0.12, 12.0, 12.0, 17.0])
    acting = np.concatenate([much * np.diag(most), -much * np.diag(most)])
    read, _, s = sensed(acting)
    assert read == pytest.approx(np.concatenate([np.diag(most), -np.diag(most)]), abs=1e-12)
    assert s.clipped == 12


@pytest.mark.nojit
def test_readings_are_given_in_the_devices_axes_and_cut_in_the_sensors():
    """Its z, which bears 17 N, lies along the device's x."""
    R = Rotation.between((0, 0, 1), (1, 0, 0))
    turned = ForceSensor(noise_N=0.0, noise_Nm=0.0, R=R)
    read, _, _ = sensed([[0.01, -0.02, 0.03, 1.0, 2.0, -3.0], [0, 0, 0, 15.0, 0, 0], [0, 0, 0, 0, 0, 15.0]], turned)
    assert read[0] == pytest.approx([0.01, -0.02, 0.03, 1.0, 2.0, -3.0], abs=1e-3)
    assert read[1:, 3:] == pytest.approx(np.array([[15.0, 0, 0], [0, 0, 12.0]]), abs=1e-9)


def test_noise_is_white_of_five_millinewtons_and_the_same_for_a_seed():
    read, log, _ = sensed(np.zeros((20_000, 6)), ForceSensor())
    force = read[:, 3:]
    assert force.std(axis=0) == pytest.approx([5e-3] * 3, rel=0.03)
    assert np.abs(force.mean(axis=0)).max() < 2e-4
    assert np.abs([np.corrcoef(force[:-1, i], force[1:, i])[0, 1] for i in range(3)]).max() < 0.03
    assert np.abs(np.corrcoef(force.T) - np.eye(3)).max() < 0.03
    assert log[:, 3:].std() == pytest.approx(5e-4, rel=0.15)  # of a mean of 100
    assert np.array_equal(read, sensed(np.zeros((20_000, 6)), ForceSensor())[0])
    assert not np.array_equal(read, sensed(np.zeros((20_000, 6)), ForceSensor(), seed=2)[0])


@pytest.mark.parametrize(("tick_hz", "log_hz"), [(1000, 10), (4000, 10), (1000, 30), (10, 10)])
def test_the_log_is_the_mean_of_every_reading_since_its_last_line(tick_hz, log_hz):
    n = 2 * tick_hz
    acting = np.random.default_rng(3).normal(size=(n, 6)) * [0.02, 0.02, 0.02, 1, 1, 1]
    read, log, s = sensed(acting, ForceSensor(log_hz=log_hz), tick_hz=tick_hz)
    assert len(log) == 2 * log_hz
    ends = [-(-j * tick_hz // log_hz) for j in range(2 * log_hz + 1)]  # the first tick at or after its time
    expected = [read[a:b].mean(axis=0) for a, b in itertools.pairwise(ends)]
    assert log == pytest.approx(np.array(expected), abs=1e-12)
    assert s.ticks == n


def test_what_shakes_at_the_rate_of_the_log_is_not_folded_into_it():
    """A bare sample at 10 Hz of a 10 Hz shaking of 1 N could be anything up to 1 N."""
    t = 1e-3 * np.arange(3000)
    acting = np.zeros((3000, 6))
    acting[:, 3] = 2.0 + np.sin(2 * np.pi * 10.0 * t + 0.7)
    _, log, _ = sensed(acting)
    assert log[:, 3] == pytest.approx(2.0, abs=1e-3)


def test_a_bad_sensor_is_told_in_a_line():
    for wrong, told in (
        ({"range_N": (1.0, 2.0)}, "range_N is three numbers above zero"), ({"noise_N": -1.0}, "noise_N must be zero"),
        ({"resolution_N": 0.0}, "resolution_N must be above zero"),
        ({"range_Nm": (1.0, 1.0, 0.0)}, "range_Nm is three"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            ForceSensor(**wrong)
    with pytest.raises(ValueError, match="log_hz 10 is above tick_hz 5"):
        new_sensor(tick_hz=5)
