"""A box turned by the wrist of a device with six sensed freedoms: one that drives its wrist and one that does not.

In simulated time.  A driven wrist makes the hand feel what turns the box; of the other only encoders know: the box
turns all the same, and the hand feels its weight and no torque.
"""

import math

import numpy as np
import pytest
from haptics.test_reach import DT, Run, floating
from haptics.test_wrists import GIMBAL, NAME, box, log_of, turned_by, wrist

import palpate as pp
from palpate import jit
from palpate.conventions import GRAVITY
from palpate.frame import DEVICE_PORTS
from palpate.haptics.devices.protocol import DeviceError, DeviceReading
from palpate.haptics.devices.protocol import wrench as wrench_of
from palpate.haptics.devices.simulation.phantom import MODELS
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.spatial.placement import Rotation

in_session = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
BOTH = pytest.mark.parametrize("model", [NAME, GIMBAL])


def rotations(seed: int, n: int):
    """(axis, angle), up to 70 degrees."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        axis = rng.normal(size=3)
        yield axis / np.linalg.norm(axis), rng.uniform(0.3, 1.2) * rng.choice([-1.0, 1.0])


def held(model, hand, mass=0.5, **options) -> tuple[Run, Simulated]:
    """A box whose face is held 5 cm from its middle."""
    device = Simulated(model, hand, compensated=True)
    device.open()
    world = options.pop("world", None) or floating(box(mass, at=(0.045, 0, 0)))
    return Run(world, device, "pull", **options), device


def turn_of(run: Run) -> np.ndarray:
    return run.world.pose("box")[:3, :3].copy()


def grasping(axis=(0, 0, 1), angle=0.0, **options) -> pp.Hand:
    return wrist(axis, angle, begin=1.0, seconds=0.6, holds=((0.1, 100.0),), intent=((0.0, (-0.01, 0, 0)),), **options)


def test_one_wrist_is_driven_and_the_other_says_that_it_is_not():
    driven, sensed = MODELS[NAME].spec, MODELS[GIMBAL].spec
    assert (driven.senses, driven.actuates) == (6, 6)
    assert (sensed.senses, sensed.actuates, sensed.torque_limit_Nm) == (6, 3, 0.0)
    with Simulated(GIMBAL) as device, pytest.raises(DeviceError, match="its limit is 0 N m"):
        device.write(wrench_of((0.0, 0.0, 0.0), (0.01, 0.0, 0.0)))


@pytest.mark.nojit
def test_without_a_motor_the_wrist_gives_way_to_the_hand_and_nothing_turns_the_hand():
    device, reading = Simulated(GIMBAL, wrist((0, 0, 1), 0.5, 0.05, 0.2)), DeviceReading()
    with device:
        for _ in range(600):
            device.write(wrench_of((1.0, 0.0, -1.0)))  # a force does not turn it
            device.advance(DT)
        device.read(reading)
        assert turned_by(reading.quaternion) == pytest.approx([0, 0, 0.5], abs=2e-3)
        assert np.linalg.norm(device.torque_on_hand_Nm) < 5e-3  # friction of 1 mN m, and what is left of the turn


@in_session
@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_a_held_box_ends_turned_as_the_wrist_was_and_only_a_driven_wrist_is_felt(model, seed):
    for axis, angle in rotations(seed, 2):
        run, device = held(model, grasping(axis, angle))
        run.go(1.0)
        assert run["device_held"][-1, 0] == 1
        before = turn_of(run)
        run.go(1.5)
        assert log_of(turn_of(run) @ before.T) == pytest.approx(angle * axis, abs=0.02)
        torque = np.linalg.norm(run["device_torque"][:, 0], axis=1)
        assert (torque.max() > 1e-3) == (model == NAME)
        assert run.count("clamped") == 0  # a torque that cannot be made is not one that was cut
        assert not run.reaching[0].fault
        device.close()


@in_session
@BOTH
@pytest.mark.parametrize("stiffness_Nm_rad", [1.0, 4.0])
def test_a_box_held_off_its_middle_hangs_by_as_much_as_the_spring_gives(model, stiffness_Nm_rad):
    """At rest: tau + r x F = 0 about its middle, tau = k log(R_hand R_box^T), and the hand feels -tau over the weight.

    Nothing else can hold it up: the force that carries it passes its middle at r.
    """
    world = pp.World([box(0.3, at=(0.045, 0, 0))], dt=DT, gravity=(0, 0, 0))
    run, device = held(model, grasping(), world=world, stiffness_Nm_rad=stiffness_Nm_rad)
    run.go(1.0)
    held_turn = turn_of(run)
    hand_then = device.quaternion.copy()
    run.session.simulation.arrays.gravity[:] = GRAVITY
    run.go(4.0)
    force, weight = run["device_body_force"][-1, 0], run.reaching[0].weight
    assert force == pytest.approx([0.0, 0.0, -0.3 * GRAVITY[2]], abs=0.02)
    assert np.linalg.norm(run.world.v) < 1e-3
    lever = run["device_point"][-1, 0] - run.world.pose("box")[:3, 3]
    needed = -np.cross(lever, force)  # of the spring, on the box
    assert np.linalg.norm(needed) > 0.05
    hand_turn = log_of(Rotation(tuple(device.quaternion)).matrix() @ Rotation(tuple(hand_then)).matrix().T)
    box_turn = log_of(turn_of(run) @ held_turn.T)
    assert stiffness_Nm_rad * (hand_turn - box_turn) == pytest.approx(needed, rel=0.05, abs=2e-3)
    felt = run["device_torque"][-200:, 0].mean(axis=0)
    if model == GIMBAL:
        assert not run["device_torque"].any()
        assert np.linalg.norm(hand_turn) < 1e-3
    else:
        assert -weight * felt == pytest.approx(needed, rel=0.03, abs=2e-3)
        assert device.torque_on_hand_Nm == pytest.approx(felt, abs=2e-3)  # but for friction


@in_session
@BOTH
def test_a_stiffer_spring_lags_less(model):
    """The angle between wrist and box while they turn: an inertia behind a spring."""
    lags = []
    for stiffness in (0.5, 2.0, 8.0):
        run, device = held(model, grasping((0, 0, 1), 0.8), stiffness_Nm_rad=stiffness)
        run.go(0.99)
        offset, worst = turn_of(run), 0.0
        for _ in range(80):
            run.go(0.01)
            hand = Rotation(tuple(run["device_quaternion"][-1, 0])).matrix()
            worst = max(worst, float(np.linalg.norm(log_of(hand @ offset @ turn_of(run).T))))
        lags.append(worst)
        run.go(0.7)
        assert log_of(turn_of(run) @ offset.T)[2] == pytest.approx(0.8, abs=0.02)  # it caught up
        device.close()
    assert lags[0] > 1.3 * lags[1] > 1.3 * lags[2] > 0.0
    assert lags[0] < 0.8


@in_session
@BOTH
@pytest.mark.parametrize("mass", [0.05, 0.5, 2.0])
def test_the_box_has_what_it_was_given_and_a_wrist_at_rest_gives_nothing(model, mass):
    """Work on a free box is its energy; when the wrist rests, that only falls, down to nothing."""
    run, _ = held(model, grasping((0.48, -0.6, 0.64), 0.7), mass=mass)
    run.go(3.0)
    kinetic = run["energy"][:, 0]
    ports = dict(zip(DEVICE_PORTS, run["device_energy"][:, 0].T, strict=True))
    given = -ports["coupling"]
    assert kinetic.max() > 1e-6
    # work is counted with the velocity at the beginning of a step: dt^2 f.W f / 2 of each is missing, 1 to 3 % in all
    missing = kinetic[1:] - given[:-1]
    assert missing.min() > -1e-12
    assert missing.max() < 0.04 * kinetic.max()
    assert kinetic[-1] < 1e-3 * kinetic.max()
    late = kinetic[1900:]  # the hand itself has come to rest by then
    assert np.diff(late).max() < 1e-3 * kinetic.max()
    if model == GIMBAL:
        assert not ports["hand_turn"].any()  # nothing is felt, so nothing is exchanged


@in_session
def test_a_driven_wrist_pays_for_what_the_box_gets():
    """In turning and moving: energy at the hand, weighted, is never less than what the box got."""
    turns = tuple((0.8 + 0.3 * k, Rotation.about((0.48, -0.6, 0.64), 0.5 * (k % 2))) for k in range(7))
    hand = pp.Hand(turns=turns, holds=((0.1, 100.0),), intent=((0.0, (-0.01, 0, 0)),))
    run, _ = held(NAME, hand, mass=0.2)
    run.go(3.5)
    ports = dict(zip(DEVICE_PORTS, run["device_energy"][:, 0].T, strict=True))
    account = run.reaching[0].weight * (ports["hand"] + ports["hand_turn"]) + ports["coupling"]
    assert account.min() > -5e-4
    assert math.isfinite(account[-1])
