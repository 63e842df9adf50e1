"""Simulated devices: encoders, motors, mechanics with a hand on them, and a virtual wall through the tick's door."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from palpate.haptics.devices.port import LOST, OK, SATURATED, load_port
from palpate.haptics.devices.protocol import DeviceError, DeviceReading, wrench
from palpate.haptics.devices.simulation import phantom
from palpate.haptics.devices.simulation.phantom import MODELS
from palpate.haptics.devices.simulation.simulated import SUB_STEP_S, VELOCITY_CUTOFF_HZ, Simulated
from palpate.haptics.hand import Hand
from palpate.jit import entry
from palpate.jit.routines import call_routine

PREMIUM = "phantom-premium-1.5"
ARM_QUANTUM_M = 0.215 * MODELS[PREMIUM].quantum  # one step of the encoder of the longer link, at the tip
LET_GO = Hand(release_s=0.0)
TOUR = Hand(
    intent=((0.05, (0.0, 0.0, 0.0)), (0.15, (0.02, -0.03, 0.02)), (0.3, (-0.02, 0.03, 0.01))), holds=((0.1, 0.2),)
)


@pytest.fixture(params=MODELS)
def model(request):
    return request.param


def opened(model=PREMIUM, hand=None, **options) -> Simulated:
    device = Simulated(model, hand, **options)
    device.open()
    return device


def waited(device: Simulated, seconds: float, dt_s: float = 1e-3) -> Simulated:
    for _ in range(round(seconds / dt_s)):
        device.advance(dt_s)
    return device


@entry("intp, float64[::1], float64[::1], float64[::1], float64[::1], float64[::1]")
def mechanics_entry(kind, q, rate, x, J, dynamics):
    """x (3,), J (9,), and M (4,) with C q' + G (3,) of the arm, in the device's frame."""
    theta, v = (q[0], q[1], q[2]), (rate[0], rate[1], rate[2])
    tip, j = phantom.tip_and_jacobian(kind, theta)
    m, c, g = phantom.inertia(theta), phantom.coriolis(theta, v), phantom.weight_torque(theta)
    for i in range(3):
        x[i] = tip[i]
        dynamics[4 + i] = c[3 * i] * v[0] + c[3 * i + 1] * v[1] + c[3 * i + 2] * v[2] + g[i]
    for i in range(9):
        J[i] = j[i]
    for i in range(4):
        dynamics[i] = m[i]


def mechanics(kind, q, rate=(0, 0, 0)):
    """x (3,), J (3, 3), M (3, 3), C q' + G (3,); the last two are the arm's."""
    x, J, d = np.empty(3), np.empty(9), np.empty(7)
    mechanics_entry(kind, np.array(q, dtype=float), np.array(rate, dtype=float), x, J, d)
    return x, J.reshape(3, 3), np.array([[d[0], 0, 0], [0, d[1], d[3]], [0, d[3], d[2]]]), d[4:]


# ---- what it tells


def test_the_limits_are_those_of_the_real_devices():
    """devices.md section 5; mobile-haptic-display.md 1.2."""
    premium, touch, omni = (Simulated(name).spec for name in (PREMIUM, "touch", "omni"))
    assert (premium.force_limit_N, premium.stiffness_limit_N_m, premium.workspace_radius_m) == (8.5, 3500.0, 0.0955)
    assert (touch.force_limit_N, touch.stiffness_limit_N_m) == (3.3, 400.0)
    assert (omni.force_limit_N, omni.stiffness_limit_N_m) == (3.3, 700.0)
    assert "approximate" in touch.name
    assert "approximate" in omni.name
    assert "approximate" not in premium.name
    assert MODELS[PREMIUM].quantum == pytest.approx(1.43e-4, abs=0.005e-4)


@pytest.mark.nojit
def test_readings_are_where_encoders_can_be_and_within_half_a_step_of_the_truth(model):
    device, reading = opened(model, TOUR), DeviceReading()
    quantum, kind = MODELS[model].quantum, MODELS[model].kind
    for _ in range(100):
        device.advance(2e-3)
        device.read(reading)
        steps = np.round(device.coordinates / quantum)
        assert reading.position_m == pytest.approx(mechanics(kind, steps * quantum)[0], abs=1e-15)
        reach = np.abs(mechanics(kind, device.coordinates)[1]).sum(axis=1)  # [m] per unit of every coordinate
        assert (np.abs(reading.position_m - device.tip_m) <= 0.5 * quantum * reach + 1e-8).all()
        assert device.tip_m == pytest.approx(mechanics(kind, device.coordinates)[0], abs=1e-15)


@pytest.mark.nojit
def test_velocity_is_the_low_passed_difference_of_the_readings(model):
    device, reading = opened(model, TOUR), DeviceReading()
    device.read(reading)
    before, expected = reading.position_m.copy(), np.zeros(3)
    assert reading.velocity_m_s.tolist() == [0, 0, 0]
    for dt_s in [1e-3] * 60 + [2.5e-4] * 30:
        device.advance(dt_s)
        device.read(reading)
        share = 1 - math.exp(-2 * math.pi * VELOCITY_CUTOFF_HZ * dt_s)
        expected += share * ((reading.position_m - before) / dt_s - expected)
        before[:] = reading.position_m
        assert reading.velocity_m_s == pytest.approx(expected, abs=1e-9)
    device.read(reading)  # twice at once changes nothing
    assert reading.velocity_m_s == pytest.approx(expected, abs=1e-9)


def test_velocity_of_a_steady_hand_is_its_speed():
    """About 0.1 m/s; one encoder step a tick is 0.03 m/s, of which the filter leaves less than half."""
    device = opened(hand=Hand(intent=((0.0, (0.0, -0.05, 0.0)), (1.0, (0.0, 0.05, 0.0))), motion="straight"))
    reading, seen, truly = DeviceReading(), [], []
    waited(device, 0.6)
    for k in range(250):
        device.advance(1e-3)
        device.read(reading)
        if k >= 50:  # the filter has begun to know
            seen.append(reading.velocity_m_s.copy())
            truly.append(device.tip_velocity_m_s)
    assert np.mean(truly, axis=0) == pytest.approx([0.0, 0.1, 0.0], abs=1e-3)
    assert np.mean(seen, axis=0) == pytest.approx(np.mean(truly, axis=0), abs=2 * ARM_QUANTUM_M / 0.2)
    assert np.abs(np.subtract(seen, truly)).max() < 0.5 * ARM_QUANTUM_M / 1e-3


@pytest.mark.nojit
def test_the_tick_reads_its_own_clock_and_the_hands_button():
    device = opened(hand=TOUR)
    port, block = device.in_tick.port, device.in_tick.block.address
    port.dt = 1e-2
    for k in range(25):
        port.now_s = 1000.0 + k
        assert device.in_tick.sample(block) == OK
        assert port.sampled_s == 1000.0 + k
        assert port.buttons == (0.1 <= device.time_s < 0.2)
        assert device.in_tick.send(block) == OK


@pytest.mark.nojit
def test_a_closed_device_is_lost_to_the_tick_and_time_stands_still():
    device = opened()
    device.advance(1e-3)
    device.close()
    block, before = device.in_tick.block.address, device.time_s
    assert device.in_tick.sample(block) == LOST
    assert device.in_tick.send(block) == LOST
    assert device.time_s == before
    with pytest.raises(DeviceError, match="is not open"):
        device.advance(1e-3)


@pytest.mark.nojit
@pytest.mark.parametrize("wrong", [0.0, -1e-3, math.nan, math.inf])
def test_time_only_goes_forward(wrong):
    with pytest.raises(ValueError, match="a positive number of seconds"):
        opened().advance(wrong)


@pytest.mark.nojit
def test_what_cannot_be_simulated_is_refused():
    with pytest.raises(ValueError, match="no simulated device is called 'falcon'; there are: phantom"):
        Simulated("falcon")
    for name, away in ((PREMIUM, (0.3, 0.0, 0.0)), (PREMIUM, (-0.2, 0.0, 0.0)), ("omni", (0.05, 0.0, 0.0))):
        with pytest.raises(ValueError, match="cannot reach"):
            Simulated(name, Hand(intent=((0.0, away),)))


# ---- the same every time


def trace(device: Simulated, ticks: int = 300) -> np.ndarray:
    reading, rows = DeviceReading(), []
    for k in range(ticks):
        device.read(reading)
        device.write(wrench([math.sin(0.05 * k), 0.5, -1.0 * (k > 100)]))
        device.advance(1e-3)
        rows.append(np.r_[reading.position_m, reading.velocity_m_s, reading.buttons, device.tip_m, device.hand_m])
    return np.array(rows)


def test_two_runs_have_the_same_bits_and_opening_begins_anew(model):
    device = opened(model, TOUR)
    first = trace(device)
    assert np.ptp(first[:, 0]) > 0.01
    device.close()
    device.open()
    for again in (device, opened(model, TOUR)):
        assert trace(again).tobytes() == first.tobytes()


@entry("intp, intp, intp, float64, float64, intp, float64, float64[:, ::1]")
def wall_entry(block, sample, send, stiffness, wall, axis, dt_s, out):
    """Ticks against a wall across an axis of the device: out (n, 2) its reading there, and the force on the hand."""
    port = load_port(block)[0]
    port.dt = dt_s
    port.torque, port.force = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for n in range(out.shape[0]):
        port.now_s = n * dt_s
        call_routine(sample, block)
        out[n, 0] = port.position[axis]
        out[n, 1] = min(0.0, stiffness * (wall - out[n, 0]))
        f = out[n, 1]
        port.force = (f if axis == 0 else 0.0, f if axis == 1 else 0.0, f if axis == 2 else 0.0)
        call_routine(send, block)


def against_a_wall(device: Simulated, stiffness, wall=0.0, axis=0, seconds=2.0, dt_s=1e-3) -> np.ndarray:
    out, t = np.empty((round(seconds / dt_s), 2)), device.in_tick
    wall_entry(t.block.address, t.sample.address, t.send.address, stiffness, wall, axis, dt_s, out)
    return out


@pytest.mark.nojit
def test_the_tick_and_the_plain_calls_do_the_same(model):
    hand = Hand(intent=((0.0, (0.0, 0.0, 0.0)), (0.1, (0.01, 0.0, 0.0))))
    ticked = against_a_wall(opened(model, hand), 1000.0, seconds=0.15)
    device, reading = opened(model, hand), DeviceReading()
    for x, force in ticked:
        device.read(reading)
        assert reading.position_m[0] == x
        device.write(wrench([force, 0.0, 0.0]))
        device.advance(1e-3)


# ---- motors


@pytest.mark.nojit
@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(MODELS)),
    st.tuples(*[st.floats(-0.03, 0.03)] * 3),
    st.tuples(*[st.floats(-1.0, 1.0)] * 3),
    st.floats(0.0, 1e4),
)
def test_motors_never_make_more_than_the_limit_and_keep_the_direction(name, where, direction, size):
    """mobile-haptic-display.md 5.2; articulated-haptics.md 3.3: scaled by norm, never clipped per axis."""
    device = opened(name, Hand(intent=((0.0, where),)))
    port, block = device.in_tick.port, device.in_tick.block.address
    port.dt = 0.0  # no time passes
    port.force = size * np.array(direction)
    model, wanted = MODELS[name], np.linalg.norm(port.force)
    result = device.in_tick.send(block)
    steps = np.round(device.coordinates / model.quantum)
    made = np.linalg.solve(mechanics(model.kind, steps * model.quantum)[1].T, device.motors)
    assert np.linalg.norm(made) <= model.spec.force_limit_N * (1 + 1e-12)
    assert (np.abs(device.motors) <= np.array(model.motor) * (1 + 1e-12)).all()
    if wanted > 0.0:
        assert np.cross(made, np.array(port.force) / wanted) == pytest.approx(
            [0, 0, 0], abs=1e-12 * model.spec.force_limit_N
        )
        assert made @ np.array(port.force) >= 0.0
    assert (result == SATURATED) == (np.linalg.norm(made) < wanted * (1 - 1e-12))


@pytest.mark.nojit
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_command_that_is_not_finite_is_no_force(model, bad):
    device = opened(model)
    device.in_tick.port.force = (1.0, bad, 0.0)
    assert device.in_tick.send(device.in_tick.block.address) == SATURATED
    assert device.motors.tolist() == [0, 0, 0]


@pytest.mark.nojit
def test_at_joint_zero_the_motors_make_the_full_force_in_every_direction_and_far_out_they_cannot():
    for direction in np.random.default_rng(4).normal(size=(50, 3)):
        device = opened()
        device.in_tick.port.force = 8.4999 * direction / np.linalg.norm(direction)
        assert device.in_tick.send(device.in_tick.block.address) == OK
    device = opened(hand=Hand(intent=((0.0, (-0.09, 0.0, 0.0)),)))  # the arm reaches towards the person: a longer lever
    device.write(wrench([0.0, 8.5, 0.0]))
    assert device.in_tick.send(device.in_tick.block.address) == SATURATED
    assert abs(device.motors[0]) == pytest.approx(8.5 * 0.215)


@pytest.mark.nojit
@pytest.mark.parametrize("axis", range(3))
def test_the_motors_push_the_tip_with_the_force_on_the_hand(model, axis):
    """The command's sign: a tip that nobody holds goes where the force points."""
    device, force = opened(model, LET_GO, compensated=True), 1.0 * np.eye(3)[axis]
    device.write(wrench(force))
    waited(device, 0.02)
    assert device.tip_m[axis] > 1e-3
    assert device.force_on_hand_N.tolist() == [0, 0, 0]


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("size", [-2.0, 2.0])
def test_a_still_hand_feels_the_commanded_force(axis, size):
    """mobile-haptic-display.md 5.5, 2 N constant, hand still: 2.00 N; mean over 0.1 s, weight compensated."""
    device, force = opened(compensated=True), size * np.eye(3)[axis]
    device.write(wrench(force))
    waited(device, 1.0)
    felt = np.mean([waited(device, 1e-3).force_on_hand_N for _ in range(100)], axis=0)
    assert felt == pytest.approx(force, abs=0.03)


# ---- the hand


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_a_hand_at_rest_comes_to_its_intent(model, scale):
    """Within what friction can hold against the hand's spring; mobile-haptic-display.md 5.4, grip x0.5 .. x2."""
    goal = (0.02, -0.02, 0.01)
    hand = Hand(intent=((0.0, (0.0, 0.0, 0.0)), (0.3, goal)), grip_N_m=4000.0 * scale, grip_Ns_m=4.0 * scale)
    device = waited(opened(model, hand, compensated=True), 2.0)
    friction_N = 0.26 if model != PREMIUM else 0.05
    assert np.abs(device.hand_m - goal).max() <= friction_N / 400.0
    assert np.abs(device.tip_velocity_m_s).max() < 1e-3


def test_an_uncompensated_arm_leans_on_the_hand_with_its_weight():
    """mobile-haptic-display.md 5.4: gravity at the tip 0.08 .. 0.11 N; the counterweights win, so it lifts."""
    device = waited(opened(), 2.0)
    _, J, _, G = mechanics(0, device.coordinates)
    weight = -np.linalg.solve(J.T, G)  # at the tip, device frame
    assert device.force_on_hand_N == pytest.approx(weight, abs=5e-3)
    assert 0.07 < np.linalg.norm(weight) < 0.12
    assert weight[2] > 0.0


def test_a_push_is_felt_by_the_spring_towards_the_intent():
    device = waited(opened("omni", Hand(push_N=(1.0, 0.0, -0.5))), 1.0)
    assert device.hand_m == pytest.approx([1.0 / 400, 0.0, -0.5 / 400], abs=0.26 / 400)


STOPPED = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, -1]])  # what has stops, of the coordinates


def motion_by_other_means(device: Simulated, seconds: float, max_step: float = np.inf) -> np.ndarray:
    """q, q', x_h, x_h' after a time in which the motors hold what they have: section 5.4 as printed, by Radau."""
    hand, model = device.hand, MODELS[PREMIUM]
    torque = device.motors

    def intent(t):
        for (t0, a), (t1, b) in zip(hand.intent[:-1], hand.intent[1:], strict=True):
            if t0 <= t < t1:
                u, way = (t - t0) / (t1 - t0), np.subtract(b, a)
                return a + (10 * u**3 - 15 * u**4 + 6 * u**5) * way, 30 * u**2 * (1 - u) ** 2 / (t1 - t0) * way
        return np.array(hand.intent[-1 if t >= hand.intent[-1][0] else 0][1]), np.zeros(3)

    def slope(t, y):
        q, rate, x_h, v_h = y.reshape(4, 3)
        x, J, M, bias = mechanics(0, q, rate)
        x_d, v_d = intent(t)
        sensor = hand.grip_N_m * (x - x_h) + hand.grip_Ns_m * (J @ rate - v_h)
        sensor *= t < hand.release_s
        friction = model.coulomb * np.tanh(rate / model.creep) + model.viscous * rate
        for row, (low, high) in zip(STOPPED, (*model.stops, model.difference), strict=True):
            if not low <= row @ q <= high:
                over = row @ q - np.clip(row @ q, low, high)
                friction += row * (model.stop_stiffness * over + model.stop_damping * (row @ rate))
        a_h = (sensor + hand.stiffness_N_m * (x_d - x_h) + hand.damping_Ns_m * (v_d - v_h) + hand.push_N) / hand.mass_kg
        return np.r_[rate, np.linalg.solve(M, torque - bias - friction - J.T @ sensor), v_h, a_h]

    y0 = np.r_[device.coordinates, np.zeros(3), device.hand_m, np.zeros(3)]
    return solve_ivp(slope, (0.0, seconds), y0, method="Radau", rtol=1e-8, atol=1e-10, max_step=max_step).y[:, -1]


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("push", [(0.0, 0.0, 0.0), (1.0, -2.0, 0.5)])
def test_device_and_hand_move_as_their_equations_say(scale, push):
    """mobile-haptic-display.md 5.4: against an implicit solver, grip x0.5 .. x2."""
    hand = Hand(
        intent=((0.0, (-0.02, 0.01, -0.01)), (0.12, (0.03, -0.03, 0.02))), push_N=push,
        grip_N_m=4000.0 * scale, grip_Ns_m=4.0 * scale,
    )  # fmt: skip
    device = opened(hand=hand)
    device.write(wrench([0.5, 1.0, -0.7]))
    device.in_tick.port.dt = 0.0
    device.in_tick.send(device.in_tick.block.address)  # the motors have it, no time has passed
    expected = motion_by_other_means(device, 0.1)
    device.advance(0.1)
    moved = np.linalg.norm(device.tip_m - hand.intent[0][1])
    assert moved > 0.02
    assert device.tip_m == pytest.approx(mechanics(0, expected[:3])[0], abs=1e-4 * moved)
    assert device.hand_m == pytest.approx(expected[6:9], abs=1e-4 * moved)


def test_once_let_go_the_device_moves_freely():
    """It falls, here upwards, as its weight and friction alone say; the hand goes on without it."""
    hand = Hand(intent=((0.0, (0.0, 0.0, 0.0)), (0.2, (0.02, 0.0, 0.0))), release_s=0.0)
    device = opened(hand=hand)
    expected = motion_by_other_means(device, 0.3)
    device.advance(0.3)
    assert device.tip_m == pytest.approx(mechanics(0, expected[:3])[0], abs=1e-6)
    assert device.tip_m[2] > 0.005
    assert device.hand_m[0] - device.tip_m[0] > 0.01
    assert device.hand_m == pytest.approx(expected[6:9], abs=1e-6)
    assert device.force_on_hand_N.tolist() == [0, 0, 0]


def test_letting_go_takes_the_grip_away_at_its_time():
    device = opened(hand=Hand(release_s=0.1))
    device.write(wrench([2.0, 0.0, 0.0]))
    waited(device, 0.099)
    assert np.linalg.norm(device.force_on_hand_N) > 1.0
    before = device.tip_m
    waited(device, 0.031)
    assert device.force_on_hand_N.tolist() == [0, 0, 0]
    assert device.tip_m[0] - before[0] > 0.01  # 2 N on some 32 g


@pytest.mark.parametrize("goal", [(0.5, 0, 0), (-0.5, 0, 0), (0, 0.5, 0.3), (0, -0.5, -0.5), (0, 0, 0.6)])
def test_stops_hold_against_a_hand_that_wants_out(model, goal):
    device, m = opened(model, Hand(intent=((0.0, (0.0, 0.0, 0.0)), (0.5, goal)))), MODELS[model]
    low, high = np.array([*m.stops, m.difference]).T
    # twice what the hand's spring can do at rest, with the whole arm as its lever: the factor is for its swing
    lever_m = 0.385 if model == PREMIUM else 1.0
    most = 2.0 * 400.0 * np.linalg.norm(goal) * lever_m / m.stop_stiffness
    for _ in range(1500):
        device.advance(1e-3)
        q = device.coordinates
        q = np.r_[q, q[1] - q[2]]
        assert (q >= low - most).all()
        assert (q <= high + most).all()
    assert np.linalg.norm(device.tip_m - goal) > 0.1
    assert np.abs(device.tip_velocity_m_s).max() < 0.02


@pytest.mark.parametrize("force", [(0.0, 0.0, 3.0), (2.0, 0.0, 3.0), (0.0, 1.0, 5.0)])
def test_an_arm_pushed_into_the_stop_between_its_links_moves_as_the_equations_say(force):
    """The stop couples the two links, and does not brake the turn that they share."""
    theta = np.array([0.1, 0.9, 0.9 - phantom.HIGH[3] + 0.01])
    device = opened(hand=Hand(intent=((0.0, tuple(mechanics(0, theta)[0])),), release_s=0.0))
    assert device.coordinates == pytest.approx(theta)
    device.write(wrench(force))
    device.in_tick.port.dt = 0.0
    device.in_tick.send(device.in_tick.block.address)
    expected = motion_by_other_means(device, 0.06, max_step=1e-3)
    device.advance(0.06)
    q = device.coordinates
    assert q[1] - q[2] > phantom.HIGH[3]  # it leans on the stop
    assert q[1] - theta[1] > 0.1  # and both links turn
    assert q == pytest.approx(expected[:3], abs=1e-4)


@pytest.mark.parametrize("stiff", [10.0, 10_000.0])
def test_no_grip_is_too_stiff_for_the_integrator(model, stiff):
    """The middle rule has no bound; symplectic Euler ends at 4 m / h^2 = 1.3e7 N/m on 32 g at this sub-step."""
    hand = Hand(intent=TOUR.intent, grip_N_m=4000.0 * stiff, grip_Ns_m=4.0)
    device = opened(model, hand)
    for _ in range(600):
        device.advance(1e-3)
        assert np.abs(device.tip_m - device.hand_m).max() < 0.001
    assert SUB_STEP_S <= 1 / 5000


# ---- a virtual wall, as a sampled-data system: stability is tested, not assumed


def pushed_into(stiffness, scale=1.0, axis=0, dt_s=1e-3, model=PREMIUM, depth=0.012) -> np.ndarray:
    """The last half second of a hand that has pushed into a wall: (n, 2) reading across it, force."""
    goal = depth * np.eye(3)[axis]
    hand = Hand(intent=((0.0, (0.0, 0.0, 0.0)), (0.3, tuple(goal))), grip_N_m=4000.0 * scale, grip_Ns_m=4.0 * scale)
    return against_a_wall(opened(model, hand, compensated=True), stiffness, axis=axis, dt_s=dt_s)[-round(0.5 / dt_s) :]


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("stiffness", [1000.0, 2500.0])
def test_a_wall_below_the_bounds_is_still(axis, scale, stiffness):
    """mobile-haptic-display.md 5.2: default 1 N/mm and at most 2.5, below 2 f_c / quantum = 2.67 N/mm."""
    end = pushed_into(stiffness, scale, axis)
    assert end[:, 0].std() < ARM_QUANTUM_M
    assert np.ptp(end[:, 0]) < 4 * ARM_QUANTUM_M
    # wall, grip and the hand's spring share the way; friction and half a step of the encoders may add to it
    expected = -0.012 / (1 / stiffness + 1 / (4000 * scale) + 1 / 400)
    assert end[:, 1].mean() == pytest.approx(expected, abs=0.05 + 0.5 * stiffness * ARM_QUANTUM_M)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_a_wall_far_above_the_bounds_is_not(scale):
    """mobile-haptic-display.md 5.2: passive up to 2 b / T = 12 N/mm; 40 N/mm rattles by many encoder steps."""
    end = pushed_into(40_000.0, scale)
    assert end[:, 0].std() > 4 * ARM_QUANTUM_M
    assert (end[:, 1] == 0.0).any()  # it leaves the wall
    assert end[:, 1].min() < -8.5  # and asks for more than the device has


def test_the_bound_goes_with_the_tick():
    """K < 2 b / T: 20 N/mm rattles at 1 kHz and is still at 4 kHz."""
    assert pushed_into(20_000.0)[:, 0].std() > 4 * ARM_QUANTUM_M
    assert pushed_into(20_000.0, dt_s=2.5e-4)[:, 0].std() < ARM_QUANTUM_M


@pytest.mark.parametrize("name", ["touch", "omni"])
def test_a_desktop_device_renders_the_stiffness_it_states(name):
    end = pushed_into(MODELS[name].spec.stiffness_limit_N_m, model=name, depth=0.005)
    assert end[:, 0].std() < MODELS[name].quantum


def test_an_arm_alone_rests_on_a_wall_below_the_quantisation_bound_and_rattles_far_above():
    """mobile-haptic-display.md 5.2: 2 f_c / quantum = 2.67 N/mm for the device alone; its counterweights lift it."""
    quiet = against_a_wall(opened(hand=LET_GO), 2500.0, wall=0.002, axis=2, seconds=4.0)[-500:]
    assert quiet[:, 0].std() < ARM_QUANTUM_M
    assert quiet[:, 1].mean() < -0.05
    loud = against_a_wall(opened(hand=LET_GO), 40_000.0, wall=0.002, axis=2, seconds=4.0)[-500:]
    assert loud[:, 0].std() > 10 * ARM_QUANTUM_M
