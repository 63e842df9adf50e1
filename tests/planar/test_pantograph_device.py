"""simulated:pantograph is a device like any other: limits, readings, faults, and a World that is felt through it."""

import math
from dataclasses import replace

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.haptics.devices.port import LOST, OK, SATURATED
from palpate.haptics.devices.protocol import DeviceReading, wrench
from palpate.haptics.guard import STATES
from palpate.planar.pantograph.device import SUB_STEP_S, SimulatedPantograph, device_spec, sample, send
from palpate.planar.pantograph.drive import FAULTS
from palpate.planar.pantograph.facade import PantographModel
from tests.planar.pantographs import STANDARD, pantographs, poses_in

FREE = pp.Hand(release_s=0.0)


def opened(**options):
    device = SimulatedPantograph(**options)
    device.open()
    return device


def waited(device, seconds, dt_s=2e-3):
    """Read, hold and wait, as a tick does."""
    reading = DeviceReading()
    for _ in range(round(seconds / dt_s)):
        device.read(reading)
        device.advance(dt_s)
    device.read(reading)
    return reading


# ---- limits


@pytest.mark.nojit
@pytest.mark.parametrize("p", [STANDARD, *pantographs(4)])
def test_its_limits_are_kept_by_the_motors_in_every_direction_at_every_pose(p):
    """Over the nominal workspace: just so in the worst case, and with torque alone as well."""
    spec, model, poses = device_spec(p), PantographModel(p), poses_in(p, 300)
    free = PantographModel(replace(p, peak_Nm=1e9))
    direction = np.random.default_rng(4).normal(size=(300, 2))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    wanted = np.concatenate([spec.force_limit_N * direction, np.zeros((300, 1))], axis=1)
    twisted = np.tile([0.0, 0.0, spec.torque_limit_Nm], (300, 1))
    for w in (wanted, twisted):
        assert (model.torques(poses, 0.999 * w)[1] == 1.0).all()
        assert np.abs(free.torques(poses, w, "minimum-norm")[0]).max() > 0.5 * p.peak_Nm  # and it is no wild guess
    assert spec.continuous_force_N / spec.force_limit_N == pytest.approx(p.continuous_Nm / p.peak_Nm)
    assert (spec.senses, spec.actuates, spec.senses_turn) == (3, 3, True)


@pytest.mark.nojit
def test_the_standard_device_has_the_figures_of_the_reference():
    """Planar haptics 1.1: at worst 0.158 N m for ever, 0.157 on a finer grid; forces as in x and y."""
    spec = device_spec(STANDARD)
    assert spec.continuous_torque_Nm == pytest.approx(0.157, abs=1e-3)
    assert 2.5 < spec.continuous_force_N <= 3.04


# ---- what it tells


@pytest.mark.nojit
def test_it_tells_position_and_turn_to_an_encoder_step_and_no_more():
    start = pp.Hand(intent=((0.0, (0.03, -0.02, 0.5)),), turns=((0.0, pp.Rotation.about((0, 0, 1), 0.7)),))
    device, reading = opened(hand=start), DeviceReading()
    device.read(reading)
    assert reading.position_m == pytest.approx([0.03, -0.02, 0.0], abs=4e-5)
    assert 2.0 * math.atan2(reading.quaternion[3], reading.quaternion[0]) == pytest.approx(0.7, abs=8e-4)
    assert reading.quaternion[1] == reading.quaternion[2] == reading.position_m[2] == 0.0
    assert not np.array_equal(reading.position_m, device.tip_m)
    assert np.linalg.norm(reading.quaternion) == pytest.approx(1.0)


def test_its_angle_goes_on_through_turns_while_the_hand_turns_it():
    turns = tuple((0.25 * k, pp.Rotation.about((0, 0, 1), 0.5 * math.pi * k)) for k in range(9))
    device = opened(hand=pp.Hand(turns=turns, motion="straight"))
    reading = waited(device, 2.6)
    assert device.pose[2] == pytest.approx(4.0 * math.pi, abs=0.02)
    assert device.hand_angle_rad == pytest.approx(4.0 * math.pi, abs=0.02)
    assert device._drive.X[2] == pytest.approx(device.pose[2], abs=1e-3)
    assert abs(reading.spin_rad_s[2]) < 0.2
    assert device.fault == ""


def test_a_turn_at_a_steady_rate_is_told_as_a_spin():
    turns = tuple((0.25 * k, pp.Rotation.about((0, 0, 1), 1.0 * k)) for k in range(9))
    reading = waited(opened(hand=pp.Hand(turns=turns, motion="straight")), 1.5)
    assert reading.spin_rad_s[2] == pytest.approx(4.0, rel=0.1)


def test_two_runs_are_the_same_to_the_last_bit():
    paths = []
    for _ in range(2):
        device, path = opened(hand=pp.Hand(intent=((0.0, (0, 0, 0)), (0.3, (0.04, 0.03, 0))))), []
        for _ in range(100):
            device.advance(2e-3)
            path.append(device.pose)
        paths.append(np.array(path))
    assert np.array_equal(*paths)


# ---- forces


def test_a_hand_that_rests_holds_the_wrench_that_is_written():
    device = opened()
    for force, torque in (((2.0, -1.0, 0.0), 0.05), ((0.0, 0.0, 0.0), -0.1), ((-1.0, 0.5, 5.0), 0.0)):
        device.write(wrench(force, (0.3, -0.2, torque) if torque else (0.0, 0.0, 0.0)))
        waited(device, 1.0)
        assert device.force_on_hand_N == pytest.approx([*force[:2], 0.0], abs=5e-3)  # the bearings take the rest
        assert device.torque_on_hand_Nm == pytest.approx([0.0, 0.0, torque], abs=5e-4)


def test_what_the_motors_make_is_what_the_handle_gains():
    """Nobody holds it: energy is torque times angle, less friction."""
    lossless = opened(pantograph=replace(STANDARD, friction_Nms=0.0), hand=FREE)
    model = PantographModel(lossless.pantograph)
    before, worked = model.angles(lossless.pose)[0], 0.0
    lossless.write(wrench((0.5, 0.3, 0.0), (0.0, 0.0, 0.004)))
    for _ in range(200):
        reading = DeviceReading()
        lossless.read(reading)
        lossless.advance(1e-3)
        after = model.angles(lossless.pose)[0]
        worked += lossless.motors @ (after - before)
        before = after
    V = lossless.pose_rate
    assert 0.5 * V @ model.mass_matrices(lossless.pose)[0] @ V == pytest.approx(worked, rel=2e-3)


def test_let_go_it_moves_as_the_equations_of_motion_say():
    """Its own sub-steps against Runge and Kutta's of the plant, exact Coriolis terms and friction in both."""
    device = opened(hand=FREE)
    device._plant.V = (0.25, -0.15, 4.0)
    path = PantographModel(replace(STANDARD, sub_steps=8)).coast((0.0, 0.0, 0.0), (0.25, -0.15, 4.0), 1e-3, 200)
    for k in range(200):
        device.advance(1e-3)
        assert device.pose == pytest.approx(path.X[k], abs=2e-5)
    assert device.pose_rate == pytest.approx(path.V[-1], rel=2e-3)


def test_any_grip_is_stable():
    for grip, damping in ((1e2, 4.0), (4e3, 4.0), (1e7, 0.0), (1e9, 1e5)):
        hand = pp.Hand(intent=((0.0, (0, 0, 0)), (0.2, (0.03, 0.02, 0))), grip_N_m=grip, grip_Ns_m=damping,
                       grip_Nm_rad=grip / 100)  # fmt: skip
        device = opened(hand=hand)
        waited(device, 1.5)
        assert np.isfinite(device.pose).all()
        assert device.pose[:2] == pytest.approx([0.03, 0.02], abs=6e-3)
    assert SUB_STEP_S <= 5e-4


def test_motors_get_warm_and_their_torque_comes_down_to_what_they_can_give_for_ever():
    """Planar haptics 1.1: continuous torque; the direction of the force is kept."""
    device = opened(hand=pp.Hand(stiffness_N_m=2000.0, damping_Ns_m=40.0))
    most = device.spec.force_limit_N
    device.write(wrench((0.8 * most, 0.6 * most, 0.0)))
    waited(device, 0.5)
    assert np.linalg.norm(device.force_on_hand_N) == pytest.approx(most, rel=0.02)
    waited(device, 60.0, 5e-3)
    assert np.abs(device.motors).max() == pytest.approx(STANDARD.continuous_Nm, rel=0.03)
    force = device.force_on_hand_N
    assert force[1] / force[0] == pytest.approx(0.75, rel=0.01)
    assert device.counts["scaled"] > 1000


# ---- faults


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("error", "samples", "why"),
    [
        ((0.2, 0.0, 0.0, 0.0), 1, "an encoder jumped"),
        ((math.nan, 0.0, 0.0, 0.0), 1, "an encoder is not a number"),
        ((0.0, 0.012, 0.0, 0.0), 5, "the encoders contradict each other: the crank's length is off"),
    ],
)
def test_an_encoder_that_fails_takes_the_torque_away_until_a_reset(error, samples, why):
    device, reading = opened(), DeviceReading()
    device.write(wrench((1.0, 0.0, 0.0)))
    for _ in range(3):
        device.read(reading)
        device.advance(2e-3)
    assert np.abs(device.motors).max() > 0.01
    device._plant.encoder_error = error
    address = device.in_tick.block.address
    for k in range(samples):
        assert device.fault == ""
        device.in_tick.port.dt = 2e-3
        assert sample(address) == (OK if k + 1 < samples else LOST)
        send(address)
    assert device.fault == why
    assert why in FAULTS
    assert (device.motors == 0.0).all()
    device._plant.encoder_error = (0.0, 0.0, 0.0, 0.0)
    for _ in range(3):  # it stays, though the encoder is well again
        assert sample(address) == LOST
        assert send(address) == LOST
    assert (device.motors == 0.0).all()
    assert sum(n for name, n in device.counts.items() if name not in ("samples", "scaled")) == 1
    device.reset()
    assert sample(address) == OK
    assert send(address) == OK
    assert device.fault == ""
    assert np.abs(device.motors).max() > 0.01


@pytest.mark.nojit
def test_one_odd_residual_is_no_fault_but_five_in_a_row_are():
    device, reading = opened(), DeviceReading()
    for k in range(40):
        device._plant.encoder_error = (0.0, 0.012 * (k % 5 != 0), 0.0, 0.0)
        device.read(reading)
        device.advance(2e-3)
    assert device.fault == ""


def test_a_hand_that_drags_it_out_of_its_workspace_ends_in_a_fault():
    """And back in, after a reset, it works again: stops do not hold it."""
    away = pp.Hand(intent=((0.0, (0, 0, 0)), (0.5, (0.0, 0.0, 0.0)), (1.5, (0.5, 0.0, 0.0)), (3.0, (0, 0, 0))))
    device = opened(hand=away)
    waited(device, 1.7)
    assert device.fault == "the pose is outside the mechanism's workspace"
    assert (device.motors == 0.0).all()
    assert np.isfinite(device.pose).all()
    waited(device, 2.5)
    assert device.fault != ""
    device.reset()
    device.write(wrench((1.0, 0.0, 0.0)))
    waited(device, 1.0)
    assert device.fault == ""
    assert device.force_on_hand_N[0] == pytest.approx(1.0, abs=0.01)


@pytest.mark.nojit
def test_force_and_torque_together_may_be_more_than_the_motors_can_and_are_scaled():
    device = opened()
    most = device.spec
    device.write(wrench((0.0, most.force_limit_N, 0.0), (0.0, 0.0, most.torque_limit_Nm)))
    device.read(DeviceReading())
    device.in_tick.port.dt = 2e-3
    assert send(device.in_tick.block.address) == SATURATED
    assert np.abs(device.motors).max() <= STANDARD.peak_Nm * (1 + 1e-12)
    A = PantographModel().jacobians(np.array(device._drive.X))[0]
    made = A.T @ device.motors
    assert made[2] / made[1] == pytest.approx(most.torque_limit_Nm / most.force_limit_N, rel=1e-3)


@pytest.mark.nojit
def test_what_it_cannot_reach_is_said_in_one_line():
    with pytest.raises(ValueError, match="cannot reach"):
        SimulatedPantograph(hand=pp.Hand(intent=((0.0, (0.4, 0.0, 0.0)),)))
    with pytest.raises(ValueError, match="no simulated device is called"):
        pp.open_device("simulated:pantgraph")


# ---- a World through it

compiled = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")


@compiled
def test_a_box_in_a_world_is_felt_through_it():
    """A box that cannot move, its face at x = 15 mm: the hand that wants to 40 mm stays before it."""
    world = pp.World([pp.models.box((0.05, 0.2, 0.2), fixed=True, at=(0.04, 0.0, 0.0))])
    hand = pp.Hand(intent=((0.0, (0, 0, 0)), (0.5, (0.04, 0, 0))), stiffness_N_m=100.0)
    with pp.open_device("simulated:pantograph", hand=hand) as device:
        session = pp.touch(world, device, mode="push")
        session.simulate(seconds=2.0)
        frame = session.frame()
        assert 0.015 < device.tip_m[0] < 0.02
        assert device.force_on_hand_N[0] == pytest.approx(-100.0 * (0.04 - device.hand_m[0]), abs=0.05)
        assert frame["device_force"][0, 0] == pytest.approx(device.force_on_hand_N[0], abs=0.1)
        assert device.fault == ""


@compiled
def test_what_it_holds_turns_with_it():
    """It senses three freedoms and one of them is a turn: a held box follows, and the hand feels its torque."""
    hand = pp.Hand(turns=((0.6, pp.Rotation()), (1.2, pp.Rotation.about((0, 0, 1), 0.5))), holds=((0.1, 9.0),))
    world = pp.World([pp.models.box((0.1, 0.1, 0.1), mass=1.0, at=(0.06, 0, 0))], gravity=(0, 0, 0))
    with pp.open_device("simulated:pantograph", hand=hand) as device:
        session = pp.touch(world, device)
        session.simulate(seconds=0.85)
        assert session.frame()["device_torque"][0, 2] < -1e-3
        session.simulate(seconds=2.0)
        q = world.q[3:7] if len(world.q) == 7 else None
        assert 2.0 * math.atan2(q[3], q[0]) == pytest.approx(0.5, abs=0.05)


@compiled
def test_an_encoder_that_jumps_while_a_wall_is_felt_ends_the_force():
    world = pp.World([pp.models.box((0.05, 0.2, 0.2), fixed=True, at=(0.04, 0.0, 0.0))])
    hand = pp.Hand(intent=((0.0, (0, 0, 0)), (0.5, (0.04, 0, 0))), stiffness_N_m=100.0)
    with pp.open_device("simulated:pantograph", hand=hand) as device:
        session = pp.touch(world, device, mode="push")
        session.simulate(seconds=1.0)
        assert device.force_on_hand_N[0] < -1.0
        device._plant.encoder_error = (0.3, 0.0, 0.0, 0.0)
        session.simulate(seconds=0.3)
        assert (device.motors == 0.0).all()
        assert abs(device.force_on_hand_N[0]) < 0.3
        assert session.faults() == ["the device was lost"]
        assert device.fault == "an encoder jumped"


@compiled
def test_a_reset_of_a_session_ends_its_fault():
    """As `reset` does; the guard engages slowly, from nothing."""
    world = pp.World([pp.models.box((0.05, 0.2, 0.2), fixed=True, at=(0.04, 0.0, 0.0))])
    intent = ((0.0, (0, 0, 0)), (0.5, (0.04, 0, 0)), (1.0, (0.04, 0, 0)), (1.5, (0, 0, 0)), (2.6, (0, 0, 0)))
    with pp.open_device("simulated:pantograph", hand=pp.Hand(intent=(*intent, (3.0, (0.04, 0, 0))))) as device:
        session = pp.touch(world, device, mode="push")
        session.simulate(seconds=1.7)
        device._plant.encoder_error = (0.3, 0.0, 0.0, 0.0)
        session.simulate(seconds=0.1)
        device._plant.encoder_error = (0.0, 0.0, 0.0, 0.0)
        session.simulate(seconds=0.1)
        assert device.fault == "an encoder jumped"
        session.simulation.restart()
        session.simulate(seconds=0.1)
        assert (device.fault, session.faults()) == ("", [""])
        assert session.frame()["device_state"][0] == STATES.index("rising")
        session.simulate(seconds=1.3)
        assert session.frame()["device_force"][0, 0] < -0.5


@compiled
def test_touch_opens_a_device_by_its_name_and_closes_it_with_the_session():
    world = pp.World([pp.models.plane()])
    session = pp.touch(world, "simulated:pantograph", mode="push")
    (device,) = session.owned
    assert isinstance(device, SimulatedPantograph)
    assert device.is_open
    session.simulate(seconds=0.02)
    assert device.time_s == pytest.approx(0.02)
    session.stop()
    assert not device.is_open
    with pytest.raises(ValueError, match="no device is called"):
        pp.touch(world, "simulatd", mode="push")
