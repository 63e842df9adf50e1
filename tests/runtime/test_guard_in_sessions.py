"""What the guard promises, through a whole session in simulated time, for every device that is registered.

A driver's device cannot run in simulated time; a recorded hand with its spec can, and the guard knows no more of it.
"""

import dataclasses
import math

import numpy as np
import pytest
from haptics.test_reach import Run

import palpate as pp
from palpate import jit
from palpate.haptics.devices import DEVICES, DRIVERS
from palpate.haptics.devices.drivers import force_dimension, openhaptics
from palpate.haptics.devices.simulation.phantom import MODELS
from palpate.haptics.devices.simulation.playback import HandRecording, Playback
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.guard import FADE_S, RISE_S, lasts_s, settles_s
from palpate.registry import find

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
DT = 1e-3
WALL = pp.models.plane(normal=(-1.0, 0.0, 0.0))  # solid for x > 0
SLIPPERY = pp.Surface(stiffness_N_m=1000.0, damping_Ns_m=0.0, static_friction=0.0, dynamic_friction=0.0)


def every_spec():
    """One of each kind that a session can meet, by name."""
    specs = [find(DEVICES, "devices", name)().spec for name in DEVICES if name != "simulated"]
    specs += [model.spec for model in MODELS.values()]
    for name, limits in vars(force_dimension).items():
        if isinstance(limits, force_dimension.Limits):
            specs.append(force_dimension.device_spec(name, limits, wrist=True, active=True))
    specs += [openhaptics.device_spec(limits.model, limits) for limits in (*openhaptics.LIMITS, openhaptics.UNKNOWN)]
    specs += [find(DRIVERS, "devices", name)().spec for name in ("haply", "spacemouse", "gamepad")]
    return {spec.name: spec for spec in specs}


SPECS = every_spec()
assert len(SPECS) >= 17
WITH_MOTORS = {name: spec for name, spec in SPECS.items() if spec.actuates and spec.force_limit_N > 0.0}
HEATING = {name: spec for name, spec in WITH_MOTORS.items() if spec.continuous_force_N < spec.force_limit_N}


def standing_in(spec, *rows):
    """A recorded hand through (time, position) as a device with this spec."""
    times, places = zip(*rows, strict=True)
    device = Playback(HandRecording(times, places))
    device.spec = dataclasses.replace(spec, senses=3)
    device.open()
    return device


class Touching(Run):
    """At the wall; `force` (ticks,) is what was sent [N], `x` (ticks, 3) where the hand is [m]."""

    def __init__(self, device) -> None:
        super().__init__(
            pp.World([WALL], dt=DT), device, "push", surface=SLIPPERY, strength_N=device.spec.force_limit_N
        )
        self._kept: list[np.ndarray] = []
        self._run.keep, self._run.sink = False, self._take  # runs of half a minute: what is asked for, not whole frames

    def _take(self, frames):
        layout = self.session.simulation.layout
        self._kept += list(np.hstack([layout.column(frames, f"device_{name}")[:, 0] for name in ("force", "position")]))

    @property
    def force(self):
        return np.linalg.norm(np.array(self._kept)[:, :3], axis=1)

    @property
    def x(self):
        return np.array(self._kept)[:, 3:]


def hottest(force, memory_s):
    """Largest rms over a memory."""
    mean_square, most = 0.0, 0.0
    for sent in force:
        mean_square += DT / memory_s * (sent * sent - mean_square)
        most = max(most, mean_square)
    return math.sqrt(most)


def test_every_driver_is_among_them():
    assert set(DRIVERS) == {"force-dimension", "openhaptics", "haply", "spacemouse", "gamepad"}
    assert len(HEATING) >= 9  # PHANToMs and Touches, the Falcon, the Inverse3


@pytest.mark.parametrize("name", SPECS)
def test_a_device_with_motors_says_how_fast_and_how_long(name):
    spec = SPECS[name]
    if spec.actuates:
        assert spec.velocity_limit_m_s <= 5.0
        assert 0.0 < spec.continuous_force_N < math.inf
    if spec.torque_limit_Nm > 0.0:
        assert spec.spin_limit_rad_s < math.inf
        assert 0.0 < spec.continuous_torque_Nm < math.inf


@pytest.mark.parametrize("name", DRIVERS)
def test_every_driver_has_a_velocity_limit(name):
    assert find(DRIVERS, "devices", name)().spec.velocity_limit_m_s < math.inf


@pytest.mark.parametrize("how_hard", [0.4, *(pytest.param(x, marks=pytest.mark.slow) for x in (0.05, 1.0))])
@pytest.mark.parametrize("name", HEATING)
def test_a_hand_that_leans_is_held_for_the_stated_time_and_then_by_the_continuous_force(name, how_hard):
    """In full until lasts_s; then it falls to the continuous force within settles_s; after a rest all is there."""
    spec = HEATING[name]
    most, least = spec.force_limit_N, spec.continuous_force_N
    leaning_N = least + how_hard * (most - least)
    depth, full_s, falling_s = leaning_N / 1000.0, lasts_s(spec, leaning_N), settles_s(spec, leaning_N)
    end = 1.1 + full_s + falling_s
    back = end + 3.0 * spec.heat_s
    run = Touching(standing_in(
        spec, (0.0, (-0.01, 0, 0)), (1.0, (0, 0, 0)), (1.1, (depth, 0, 0)), (end, (depth, 0, 0)),
        (end + 0.01, (-0.01, 0, 0)), (back, (0, 0, 0)), (back + 0.1, (depth, 0, 0)), (1000.0, (depth, 0, 0)),
    )).go(end)  # fmt: skip
    force = run.force[1102:]
    in_full = force[: max(round((full_s - 0.04) / DT), 0)]  # on the way in the motors warm, as in a third of that time
    assert in_full == pytest.approx(leaning_N, rel=1e-6)
    assert force[-1] == pytest.approx(least, rel=0.02)
    falls = -np.diff(force)
    assert falls.min() >= -1e-9  # it only falls
    assert falls.max() <= 0.25 * most * DT / FADE_S  # far more gently than a fault takes it away
    assert run.count("heat_limited") >= (falling_s - 0.05) / DT
    assert hottest(run.force, spec.heat_s) <= least * (1.0 + 1e-9)
    run.go(0.02)  # it lets go
    limited = run.count("heat_limited")
    run.go(3.0 * spec.heat_s + 0.09)
    assert run.force[-1] == pytest.approx(leaning_N, rel=1e-6)
    assert run.count("heat_limited") == limited
    assert not run.reaching[0].fault


@pytest.mark.parametrize("name", WITH_MOTORS)
def test_a_device_faster_than_its_limit_lets_go_and_comes_back(name):
    """Along the wall at 1.5 times its limit: nothing after 20 ms, counted tick by tick, and all back in 0.5 s."""
    spec = WITH_MOTORS[name]
    speed, pressing_N = 1.5 * spec.velocity_limit_m_s, 0.5 * min(spec.force_limit_N, spec.continuous_force_N)
    depth, fast_s = pressing_N / 1000.0, 0.1
    run = Touching(standing_in(
        spec, (0.0, (-0.01, 0, 0)), (1.0, (0.0, 0, 0)), (1.1, (depth, 0, 0)), (2.0, (depth, 0, 0)),
        (2.0 + fast_s, (depth, speed * fast_s, 0)), (100.0, (depth, speed * fast_s, 0)),
    )).go(2.0)  # fmt: skip
    assert run.force[-1] == pytest.approx(pressing_N, rel=1e-6)
    assert run.count("too_fast") == 0
    run.go(fast_s)
    force = run.force[2000:]
    assert np.diff(force).max() <= 0.0
    assert force[: round(FADE_S / DT) - 2].min() > 0.0  # not at once
    assert not force[round(FADE_S / DT) + 1 :].any()
    assert run.count("too_fast") == pytest.approx(fast_s / DT, abs=1)
    run.go(RISE_S + 0.01)
    assert run.force[-1] == pytest.approx(pressing_N, rel=1e-6)
    assert run.count("too_fast") == pytest.approx(fast_s / DT, abs=1)


@pytest.mark.parametrize("model", MODELS)
def test_a_simulated_hand_that_leans_too_long_sinks_in_and_is_not_thrown(model):
    """The hand wants 2 cm into the wall for good; what its motors cannot hold for ever, it is not held by."""
    spec = MODELS[model].spec
    person = pp.Hand(intent=((0.0, (-0.01, 0, 0)), (1.0, (-0.01, 0, 0)), (1.5, (0.02, 0, 0))))
    with Simulated(model, hand=person) as device:
        run = Touching(device).go(12.0)
        assert run.force.max() > 1.5 * spec.continuous_force_N
        assert run.force[-1000:].mean() == pytest.approx(spec.continuous_force_N, rel=0.05)
        assert hottest(run.force, spec.heat_s) <= spec.continuous_force_N * (1.0 + 1e-9)
        assert run.count("heat_limited") > 1000
        speed = np.linalg.norm(run.x[1020:] - run.x[1000:-20], axis=1) / (20 * DT)
        assert speed.max() < 0.3
        assert run.count("too_fast") == 0
