"""A device with a wrist: the simulated one and its hand by themselves, and in a world, where torque is felt."""

import math

import numpy as np
import pytest
from haptics.test_reach import DT, STILL, Run, floating

import palpate as pp
from palpate import jit
from palpate.frame import DEVICE_PORTS
from palpate.haptics.devices.protocol import DeviceReading, wrench
from palpate.haptics.devices.simulation.phantom import MODELS
from palpate.haptics.devices.simulation.playback import HandRecording, Playback
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.guard import RISE_S
from palpate.spatial.placement import Rotation

NAME = "phantom-premium-1.5-6dof"
GIMBAL = "phantom-premium-1.5-gimbal"  # sensed, not driven
SPEC = MODELS[NAME].spec
UP, ASKEW = (0.0, 0.0, 1.0), (0.48, -0.6, 0.64)
in_session = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")


def turned_by(q, p=(1.0, 0.0, 0.0, 0.0)) -> np.ndarray:
    """(3,) the rotation vector from p to q [rad], quaternions."""
    return log_of(Rotation(tuple(q)).matrix() @ Rotation(tuple(p)).matrix().T)


def log_of(R) -> np.ndarray:
    """(3,) the rotation vector of a matrix."""
    angle = math.acos(max(-1.0, min(1.0, 0.5 * (np.trace(R) - 1.0))))
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return axis * (0.5 if angle < 1e-9 else 0.5 * angle / math.sin(angle))


def wrist(axis, angle, begin=1.0, seconds=1.0, **options) -> pp.Hand:
    """A hand that turns once."""
    ends = ((begin, Rotation()), (begin + seconds, Rotation.about(axis, angle)))
    return pp.Hand(turns=ends, **options)


def played(rows, spec=SPEC, buttons=1) -> Playback:
    """A recorded hand through (time, rotation) as a device with a wrist: an ideal one, which does not give way."""
    times, turns = zip(*rows, strict=True)
    quaternions = [turn.wxyz for turn in turns]
    device = Playback(HandRecording(times, np.zeros((len(times), 3)), quaternions, np.full(len(times), buttons)))
    device.spec = spec
    device.open()
    return device


# ---- by itself


@pytest.mark.nojit
@pytest.mark.parametrize("model", [NAME, GIMBAL])
@pytest.mark.parametrize(("axis", "angle"), [(UP, 0.7), (ASKEW, -1.2), ((1.0, 0.0, 0.0), 2.5)])
def test_the_wrist_follows_the_hand_and_is_read_as_it_is(model, axis, angle):
    device, reading = Simulated(model, wrist(axis, angle, 0.1, 0.4)), DeviceReading()
    with device:
        for _ in range(1500):
            device.read(reading)
            device.advance(DT)
        wanted = angle * np.array(axis)
        # friction of 1 mN m holds the springs of 3 and 10 N m/rad stretched
        assert turned_by(device.quaternion) == pytest.approx(wanted, abs=2e-3)
        assert turned_by(device.hand_quaternion) == pytest.approx(wanted, abs=2e-3)
        device.read(reading)
        assert turned_by(reading.quaternion, device.quaternion) == pytest.approx([0, 0, 0], abs=1e-4)
        assert np.linalg.norm(reading.spin_rad_s) < 0.05
        assert np.linalg.norm(device.torque_on_hand_Nm) < 5e-3


@pytest.mark.nojit
def test_the_spin_that_is_read_is_that_of_the_turn():
    device, reading, spins, angles = Simulated(NAME, wrist(UP, 1.0, 0.0, 0.5)), DeviceReading(), [], []
    with device:
        for _ in range(500):
            device.read(reading)
            spins.append(reading.spin_rad_s.copy())
            angles.append(turned_by(reading.quaternion))
            device.advance(DT)
    assert DT * np.sum(spins, axis=0) == pytest.approx(angles[-1], abs=0.02)  # but for the filter's 2 ms
    assert max(np.linalg.norm(spins, axis=1)) == pytest.approx(1.875 / 0.5, rel=0.15)  # of minimum jerk


@pytest.mark.nojit
@pytest.mark.parametrize("torque", [(0.05, 0.0, 0.0), (0.0, -0.03, 0.04), (0.1, 0.1, 0.05)])
def test_a_torque_turns_the_hand_until_its_wrist_holds_it(torque):
    """Held between writes; at rest the sensor between device and hand shows it, but for friction."""
    with Simulated(NAME, pp.Hand()) as device:
        device.write(wrench((0.0, 0.0, 0.0), torque))
        for _ in range(2000):
            device.advance(DT)
        assert device.torque_on_hand_Nm == pytest.approx(torque, abs=1.1e-3 * math.sqrt(3.0))
        assert turned_by(device.hand_quaternion) == pytest.approx(device.torque_on_hand_Nm / 3.0, abs=2e-3)
        assert np.linalg.norm(device.force_on_hand_N) < 0.5  # nothing but the arm's own weight


@pytest.mark.nojit
@pytest.mark.parametrize("model", [name for name in MODELS if name not in (NAME, GIMBAL)])
def test_devices_without_a_wrist_stay_unturned(model):
    reading = DeviceReading()
    with Simulated(model, wrist(UP, 1.0, 0.0, 0.1)) as device:
        for _ in range(200):
            device.advance(DT)
        device.read(reading)
        assert reading.quaternion.tolist() == [1.0, 0.0, 0.0, 0.0]
        assert not reading.spin_rad_s.any()
        assert not device.torque_on_hand_Nm.any()


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(5))
def test_a_wrist_without_friction_or_hand_keeps_its_energy_and_one_with_both_only_loses(seed):
    """Let go of with a spin it turns on; held by a hand, kinetic and spring energy never grow."""
    rng = np.random.default_rng(seed)
    hand = pp.Hand(turns=((0.0, Rotation.about(rng.normal(size=3), rng.uniform(0.1, 1.0))),))
    with Simulated(NAME, hand) as device:
        w = device._wrist
        w.spin, w.hand_spin = rng.normal(size=(2, 3))
        w.hand = Rotation.about(rng.normal(size=3), 0.5).wxyz

        def energy():
            kinetic = 0.5 * 1e-4 * np.dot(w.spin, w.spin) + 0.5 * 1e-3 * np.dot(w.hand_spin, w.hand_spin)
            grip, pull = turned_by(w.turn, w.hand), turned_by(hand.turns[0][1].wxyz, w.hand)
            return kinetic + 0.5 * 10.0 * grip @ grip + 0.5 * 3.0 * pull @ pull

        energies = [energy()]
        for _ in range(300):
            device.advance(DT)
            energies.append(energy())
        assert np.diff(energies).max() <= 2e-3 * energies[0]  # turns do not add up; nothing else makes any
        assert energies[-1] < 0.05 * energies[0]


def test_a_hand_says_what_is_wrong_with_its_turns():
    for turns, text in (((), "at least one"), (((0.0, (1, 0, 0, 0)),), "Rotation"), ((0.0,), "a turn is"),
                        (((1.0, Rotation()), (1.0, Rotation())), "times must increase")):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            pp.Hand(turns=turns)
    with pytest.raises(ValueError, match="wrist_inertia_kg_m2 must be positive"):
        pp.Hand(wrist_inertia_kg_m2=0.0)


# ---- in a world


def box(mass=2.0, size=0.1, at=STILL):
    return pp.models.box((size, size, size), mass=mass, at=at)


@in_session
@pytest.mark.parametrize("mode", ["pull", "tool"])
@pytest.mark.parametrize(("axis", "angle"), [(UP, 0.8), (ASKEW, -0.6)])
def test_turning_the_wrist_turns_what_is_held_and_the_torque_is_felt(mode, axis, angle):
    """The box ends as the hand is turned; on the way the hand feels the opposite of what turns the box."""
    hand = wrist(axis, angle, begin=1.0, seconds=0.6, holds=((0.1, 100.0),), intent=((0.0, (-0.01, 0, 0)),))
    with Simulated(NAME, hand, compensated=True) as device:
        options = {"tool": "box"} if mode == "tool" else {}
        run = Run(floating(box(at=(0.045, 0, 0))), device, mode, **options).go(1.0)
        assert run["device_held"][-1, 0] == 1
        before = run.world.pose("box")[:3, :3]
        run.go(2.0)
        assert log_of(run.world.pose("box")[:3, :3] @ before.T) == pytest.approx(angle * np.array(axis), abs=0.02)
        torque = run["device_torque"][1000:, 0] @ (np.sign(angle) * np.array(axis))
        torque = np.convolve(torque, np.full(20, 0.05), "same")  # the damper shows steps of the encoders
        assert torque.min() < -0.002  # speeding up, the box holds the hand back,
        assert torque.max() > 0.002  # and slowing down it drags it on
        assert np.argmin(torque) < np.argmax(torque)
        assert not run.reaching[0].fault


def smooth(axis, angle, begin=0.8, seconds=0.8):
    """Rows of a recording that turns once, with minimum jerk."""
    u = np.linspace(0.0, 1.0, 200)
    s = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    rows = [(begin + seconds * a, Rotation.about(axis, angle * b)) for a, b in zip(u, s, strict=True)]
    return [(0.0, Rotation()), *rows, (99.0, Rotation.about(axis, angle))]


@in_session
@pytest.mark.parametrize("strength_N", [8.5, 34.0])
def test_what_the_hand_feels_is_the_opposite_of_what_turns_the_box_times_the_weight(strength_N):
    """Angular momentum of a free box is the sum of the torques on it: of a tool, held at its centre."""
    device = played(smooth(ASKEW, 0.3))
    run = Run(floating(box()), device, "tool", tool="box", strength_N=strength_N, stiffness_Nm_rad=1.0).go(1.2)
    assert not any(run.count(name) for name in ("clamped", "rate_limited", "heat_limited"))
    given = -run.reaching[0].weight * DT * run["device_torque"][:, 0].sum(axis=0)
    momentum = pp.momentum(run.world.model, run.world.q, run.world.v)[:3]
    assert np.linalg.norm(momentum) > 1e-4
    assert momentum == pytest.approx(given, rel=1e-6, abs=1e-9)


@in_session
@pytest.mark.parametrize("stiffness_Nm_rad", [5.0, 100.0])
def test_a_torque_keeps_the_devices_limits(stiffness_Nm_rad):
    """Norm, growth and heat, each counted: the hand is turned by far more than the spring's limit at once."""
    aside = Rotation.about(ASKEW, 0.3)
    rows = [(0.0, Rotation()), (1.0, Rotation()), (1.01, aside), (99.0, aside)]
    world = floating(pp.models.box((0.5, 0.5, 0.5), mass=4000.0))  # too heavy to turn
    run = Run(world, played(rows), "tool", tool="box", strength_N=8.5, stiffness_Nm_rad=stiffness_Nm_rad).go(6.0)
    torque = np.linalg.norm(run["device_torque"][:, 0], axis=1)
    assert torque.max() <= SPEC.torque_limit_Nm
    assert torque.max() > 0.99 * SPEC.torque_limit_Nm
    grown = np.diff(torque).max()
    assert grown <= 500.0 * SPEC.torque_limit_Nm / SPEC.force_limit_N * DT * (1 + 1e-9)
    assert run.count("clamped") > 0
    assert run.count("rate_limited") > 0
    assert run.count("heat_limited") > 0
    assert torque[-1] == pytest.approx(SPEC.continuous_torque_Nm, rel=0.02)


@in_session
def test_a_wrist_faster_than_its_limit_lets_go_and_comes_back():
    fast = 1.3 * SPEC.spin_limit_rad_s
    rows = [(0.0, Rotation()), (0.8, Rotation()), (0.9, Rotation.about(UP, 0.02)), (1.0, Rotation.about(UP, 0.02)),
            (1.05, Rotation.about(UP, 0.02 + 0.05 * fast)), (99.0, Rotation.about(UP, 0.02 + 0.05 * fast))]  # fmt: skip
    world = floating(pp.models.box((0.5, 0.5, 0.5), mass=4000.0))
    run = Run(world, played(rows), "tool", tool="box", strength_N=8.5, stiffness_Nm_rad=2.0).go(1.0)
    assert run["device_torque"][-1, 0].any()
    assert run.count("too_fast") == 0
    run.go(0.05)
    assert not run["device_torque"][-1, 0].any()
    assert run.count("too_fast") == pytest.approx(50, abs=1)
    run.go(RISE_S + 0.05)
    assert run["device_torque"][-1, 0].any()


@in_session
@pytest.mark.parametrize("mode", ["pull", "tool"])
@pytest.mark.parametrize("strength_N", [20.0, pytest.param(60.0, marks=pytest.mark.slow), 200.0])
@pytest.mark.parametrize("mass", [0.02, *(pytest.param(x, marks=pytest.mark.slow) for x in (0.2, 1.0))])
def test_turning_there_and_back_makes_no_energy(mode, strength_N, mass):
    """What the hand gave in turning and moving, and what the box got of it: never more than it gave.

    As long as the guard holds nothing back: a hand that is too weak for what it turns is spared a part.
    """
    turns = tuple((0.8 + 0.3 * k, Rotation.about(ASKEW, 0.5 * (k % 2))) for k in range(7))
    hand = pp.Hand(turns=turns, holds=((0.1, 100.0),), intent=((0.0, (-0.01, 0, 0)),))
    options = {"tool": "box"} if mode == "tool" else {}
    with Simulated(NAME, hand, compensated=True) as device:
        run = Run(floating(box(mass, at=(0.045, 0, 0))), device, mode, strength_N=strength_N, **options).go(3.5)
    energy = dict(zip(DEVICE_PORTS, run["device_energy"][:, 0].T, strict=True))
    account = run.reaching[0].weight * (energy["hand"] + energy["hand_turn"]) + energy["coupling"]
    assert np.abs(energy["coupling"]).max() > 1e-6  # the box was turned
    assert not any(run.count(name) for name in ("clamped", "heat_limited"))
    assert account.min() > -5e-4
    assert not run.reaching[0].fault


@in_session
def test_a_spring_too_stiff_for_the_loop_rattles_and_passivity_calms_it():
    """A wrist of 1e-4 kg m^2 that is said to have ten times that, and a soft hand: the device makes energy."""
    soft = wrist(UP, 0.02, begin=0.9, seconds=0.2, grip_Nm_rad=0.5, grip_Nms=0.0, wrist_damping_Nms=0.01,
                 wrist_stiffness_Nm_rad=0.5)  # fmt: skip
    lowest, shaking = {}, {}
    for passivity in ("observer", "controller", "bounding"):
        world = floating(pp.models.box((0.5, 0.5, 0.5), mass=4000.0))
        with Simulated(NAME, soft, compensated=True) as device:
            run = Run(world, device, "tool", tool="box", strength_N=8.5, stiffness_Nm_rad=60.0, passivity=passivity,
                      device_damping_Nms=1e-4, device_inertia_kg_m2=1e-3).go(3.0)  # fmt: skip
        lowest[passivity] = run.reaching[0].energy.lowest[DEVICE_PORTS.index("hand_turn")]
        shaking[passivity] = np.std(run["device_quaternion"][-1000:, 0, 3])
    assert lowest["observer"] < -1e-3
    for remedy in ("controller", "bounding"):
        assert lowest[remedy] > 0.3 * lowest["observer"]
        assert shaking[remedy] < 0.5 * shaking["observer"]
    assert lowest["bounding"] > -1e-9
