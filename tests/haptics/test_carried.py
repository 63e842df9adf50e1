"""A simulated device that is carried, against mechanics in the room: links as bodies, their energy, Lagrange; Newton.

The ride is a path o(t) of the device's origin and a turn psi(t) about the vertical, both sums of sines, so that its
accelerations are known by heart; the device is only told them.
"""

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from palpate.haptics.devices.protocol import wrench
from palpate.haptics.devices.simulation import phantom
from palpate.haptics.devices.simulation.carried import Carried, carried_inertia_and_bias, frame_acceleration
from palpate.haptics.devices.simulation.phantom import MODELS, Mechanism
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.hand import Hand
from palpate.jit import Block, block_loader, entry

PREMIUM, POINT = "phantom-premium-1.5", "omni"
LET_GO = Hand(release_s=0.0)
TICK_S = 1e-3


class Ride:
    """Where the device's origin is and how it is turned: o = sum of amplitude sin(w t + phase), the same for psi."""

    def __init__(self, way=((0.0, 0.0, 0.0),), turn=(0.0,), w=(1.0,), phase=None, gain=(0.0, 0.0, 0.0), spin=0.0):
        self.way, self.turn = np.atleast_2d(way).astype(float), np.array(turn, dtype=float)
        self.w = np.array(w, dtype=float)
        self.phase = np.zeros(len(self.w)) if phase is None else np.array(phase, dtype=float)
        self.gain, self.spin = np.array(gain, dtype=float), spin  # a constant acceleration and a constant turn

    def at(self, t):
        """o, o', o'' (room axes), psi, psi', psi''."""
        s, c = np.sin(self.w * t + self.phase), np.cos(self.w * t + self.phase)
        weights = (s, self.w * c, -(self.w**2) * s)
        lines = (0.5 * t * t, t, 1.0)
        turns = (self.spin * t, self.spin, 0.0)
        return (*(x @ self.way + line * self.gain for x, line in zip(weights, lines, strict=True)),
                *(float(x @ self.turn) + turn for x, turn in zip(weights, turns, strict=True)))  # fmt: skip

    def tell(self, ride, t):
        """Put into a device's ride what it is at t."""
        _, _, a, psi, spin, rate = self.at(t)
        ride.moves, ride.acceleration = 1, tuple(turned(-psi, a))
        ride.spin, ride.spin_rate = spin, rate


def turned(psi, p):
    c, s = math.cos(psi), math.sin(psi)
    return np.array([c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]])


def random_ride(seed):
    """Smooth: to 0.4 m/s^2 and 1.5 rad/s^2 at 0.3 to 2 Hz, as a robot that follows a person."""
    rng = np.random.default_rng(seed)
    w = 2 * np.pi * rng.uniform(0.3, 2.0, 4)
    return Ride(
        rng.uniform(-0.4, 0.4, (4, 3)) / w[:, None] ** 2, rng.uniform(-1.5, 1.5, 4) / w**2, w,
        rng.uniform(0, 2 * np.pi, 4), rng.uniform(-0.3, 0.3, 3), rng.uniform(-0.7, 0.7),
    )  # fmt: skip


RIDES = {
    "still": Ride(),
    "constant acceleration": Ride(gain=(1.0, -0.6, 0.4)),
    "spin": Ride(spin=2.0),
    "spin rate": Ride(turn=(1.5,), w=(3.0,)),
    **{f"random {seed}": random_ride(seed) for seed in range(6)},
}


# ---- the arm in the room


def link_vectors(q):
    """Along link 1 and link 2, from the shoulder, in the device's axes."""
    (s1, s2, s3), (c1, c2, c3) = np.sin(q), np.cos(q)
    return np.array([-c2 * c1, -c2 * s1, s2]), np.array([-s3 * c1, -s3 * s1, -c3])


# mass, where it is along link 1 and link 2, inertia about its centre (xx, yy, zz), and which joint it turns with
P = phantom
LINKS = (
    (P.M_A, (P.L1, P.L2 / 2), P.I_A, 2),
    (P.M_C, (P.L1 / 2, P.L3), P.I_C, 1),
    (P.M_BE, (P.L5, 0.0), (P.I_BE[0] - P.M_BE * P.L5**2, P.I_BE[1] - P.M_BE * P.L5**2, P.I_BE[2]), 1),
    (P.M_DF, (0.0, -P.L6), (P.I_DF[0] - P.M_DF * P.L6**2, P.I_DF[1], P.I_DF[2] - P.M_DF * P.L6**2), 2),
)  # fmt: skip


def centres(ride, q, t):
    """(4, 3) of the links in the room; the shoulder is l1 away from the device's origin, some height above."""
    o, _, _, psi, _, _ = ride.at(t)
    a, b = link_vectors(q)
    return np.array([o + turned(psi, np.array([P.L1, 0.0, 0.1]) + m[0] * a + m[1] * b) for _, m, _, _ in LINKS])


def kinetic(ride, q, rate, t, h=1e-5):
    """Energy of all links in the room [J]."""
    v = (centres(ride, q + h * rate, t + h) - centres(ride, q - h * rate, t - h)) / (2 * h)
    spin = rate[0] + ride.at(t)[4]
    total = 0.5 * P.I_BASE * spin**2
    for (m, _, (xx, yy, zz), k), speed in zip(LINKS, v, strict=True):
        about_up = yy * math.cos(q[k]) ** 2 + zz * math.sin(q[k]) ** 2
        total += 0.5 * (m * speed @ speed + xx * rate[k] ** 2 + about_up * spin**2)
    return total


def momenta(ride, q, rate, t):
    """dT/dq': T is a polynomial of the second degree, so that this difference is exact."""
    return np.array([0.5 * (kinetic(ride, q, rate + e, t) - kinetic(ride, q, rate - e, t)) for e in np.eye(3)])


def inertia_and_bias(ride, q, rate, t, h=1e-4):
    """M, and d/dt dT/dq' - d(T - V)/dq at q'' = 0: what the motors have to do to keep the rates."""
    still = momenta(ride, q, np.zeros(3), t)
    M = np.array([momenta(ride, q, e, t) - still for e in np.eye(3)])
    ahead, behind = momenta(ride, q + h * rate, rate, t + h), momenta(ride, q - h * rate, rate, t - h)
    bias = (ahead - behind) / (2 * h)

    def lagrangian(x):
        heights = sum(m * (along[0] * link_vectors(x)[0][2] + along[1] * link_vectors(x)[1][2])
                      for m, along, _, _ in LINKS)  # fmt: skip
        return kinetic(ride, x, rate, t) - 9.81 * heights

    return M, bias - [(lagrangian(q + s) - lagrangian(q - s)) / (2 * h) for s in h * np.eye(3)]


load_law = block_loader((Mechanism, True), (Carried, True))


@entry("intp, float64[::1], float64[::1], float64[::1]")
def law_entry(address, q, rate, out):
    """out: M (4), bias (3), a(q, rate) (3)."""
    mechanism, ride = load_law(address)
    x, v = (q[0], q[1], q[2]), (rate[0], rate[1], rate[2])
    M, bias = carried_inertia_and_bias(mechanism, ride, x, v)
    a = frame_acceleration(ride, x, v)
    for i in range(4):
        out[i] = M[i]
    for i in range(3):
        out[4 + i], out[7 + i] = bias[i], a[i]


def law(ride, t, q, rate, model=PREMIUM):
    """M (3, 3), bias and a(q, rate) (3,) as the kernels have them."""
    told, out = Carried(), np.empty(10)
    ride.tell(told, t)
    block = Block(MODELS[model].mechanism(False), told.frozen())
    law_entry(block.address, np.array(q, dtype=float), np.array(rate, dtype=float), out)
    m = out[:4]
    return np.array([[m[0], 0, 0], [0, m[1], m[3]], [0, m[3], m[2]]]), out[4:7], out[7:]


@pytest.mark.nojit
@pytest.mark.parametrize("name", RIDES)
def test_a_carried_arm_moves_as_lagrange_says_in_the_room(name):
    """Mobile display, 5.4: base acceleration, spin and spin rate."""
    ride, rng = RIDES[name], np.random.default_rng(4)
    low, high = np.array(phantom.LOW), np.array(phantom.HIGH)
    for _ in range(6):
        q = rng.uniform(0.6 * low[:3], 0.6 * high[:3])
        rate, t = rng.uniform(-4.0, 4.0, 3), rng.uniform(0.0, 2.0)
        M, bias, _ = law(ride, t, q, rate)
        expected_M, expected = inertia_and_bias(ride, q, rate, t)
        assert pytest.approx(expected_M, abs=1e-9) == M
        assert bias == pytest.approx(expected, abs=5e-7)
        if name not in ("still", "constant acceleration"):
            resting = law(Ride(), t, q, rate)[1]
            assert np.abs(bias - resting).max() > 1e-4  # a ride that is not felt proves nothing


@pytest.mark.nojit
@pytest.mark.parametrize("name", RIDES)
def test_a_point_of_the_frame_is_accelerated_as_its_path_in_the_room_is(name):
    ride, rng, h = RIDES[name], np.random.default_rng(5), 1e-3
    for _ in range(10):
        x, v, t = rng.uniform(-0.3, 0.3, 3), rng.uniform(-0.5, 0.5, 3), rng.uniform(0.0, 5.0)

        def path(s, t=t, x=x, v=v):
            o, _, _, psi, _, _ = ride.at(t + s)
            return o + turned(psi, x + s * v)

        # fourth order in h
        a = (-path(2 * h) + 16 * path(h) - 30 * path(0.0) + 16 * path(-h) - path(-2 * h)) / (12 * h * h)
        psi = ride.at(t)[3]
        _, bias, felt = law(ride, t, x, v, POINT)
        assert turned(psi, felt) == pytest.approx(a, abs=1e-6)
        assert bias == pytest.approx(MODELS[POINT].tip_mass_kg * felt, abs=1e-15)


# ---- device and hand, on the way


def opened(model=PREMIUM, hand=None, **options):
    device = Simulated(model, hand, **options)
    device.open()
    return device


def carried(device, ride, ticks, lead=None):
    """Told what the ride is in the middle of each tick; lead(t): where the hand is led in the room."""
    for k in range(ticks):
        t = k * TICK_S
        ride.tell(device.ride, t + 0.5 * TICK_S)
        if lead is not None:
            led(device, ride, lead, t)
        device.advance(TICK_S)


def led(device, ride, lead, t):
    """The lead of a tick, through where it is at its begin and end, seen from the device."""
    ends = []
    for s in (t, t + TICK_S):
        o, _, _, psi, _, _ = ride.at(s)
        ends.append(turned(-psi, lead(s) - o))
    device.ride.leads, device.ride.lead, device.ride.lead_s = 1, tuple(ends[0]), t
    device.ride.lead_velocity = tuple((ends[1] - ends[0]) / TICK_S)


def by_newton(device, ride, seconds, x_d, model):
    """Tip of a point mass and hand in the room, by another integrator; x_d(t) in the room.

    What rubs and what damps is fixed to the device, which turns: their rates are those seen from it.
    """
    hand, m = device.hand, MODELS[model]

    def from_device(t, x, v):
        """Where and how fast, as the device sees it."""
        o, o_rate, _, psi, spin, _ = ride.at(t)
        seen = turned(-psi, x - o)
        return seen, turned(-psi, v - o_rate) - np.cross([0, 0, spin], seen)

    def slope(t, y):
        x, v, x_h, v_h = y.reshape(4, 3)
        psi = ride.at(t)[3]
        seen, rate = from_device(t, x, v)
        seen_h, rate_h = from_device(t, x_h, v_h)
        h = 1e-5
        seen_d, ahead, behind = (from_device(s, x_d(s), np.zeros(3))[0] for s in (t, t + h, t - h))
        rate_d = (ahead - behind) / (2 * h)
        grip = (hand.grip_N_m * (seen - seen_h) + hand.grip_Ns_m * (rate - rate_h)) * (t < hand.release_s)
        friction = m.coulomb * np.tanh(rate / m.creep) + m.viscous * rate
        pull = hand.stiffness_N_m * (seen_d - seen_h) + hand.damping_Ns_m * (rate_d - rate_h) + hand.push_N
        on_tip, on_hand = device.motors - friction - grip, grip + pull
        return np.r_[v, turned(psi, on_tip) / m.tip_mass_kg, v_h, turned(psi, on_hand) / hand.mass_kg]

    o, o_rate, _, psi, spin, _ = ride.at(0.0)
    start = [(o + turned(psi, p), o_rate + turned(psi, np.cross([0, 0, spin], p)))
             for p in (device.tip_m, device.hand_m)]  # fmt: skip
    end = solve_ivp(slope, (0.0, seconds), np.ravel(start), method="Radau", rtol=1e-6, atol=1e-8, max_step=0.02)
    x, v, x_h, v_h = end.y[:, -1].reshape(4, 3)
    return from_device(seconds, x, v)[0], from_device(seconds, x_h, v_h)[0]


@pytest.mark.parametrize("release_s", [math.inf, 0.0])
def test_a_carried_point_mass_and_its_hand_move_as_newton_says_in_the_room(release_s, monkeypatch):
    """With and without a hand on it; the hand is led along a path of the room."""
    ride = random_ride(11)
    quiet = dataclasses.replace(MODELS[POINT], coulomb=0.005, viscous=0.02, stops=((-1.0, 1.0),) * 3)
    monkeypatch.setitem(MODELS, "free", quiet)
    device = opened("free", Hand(release_s=release_s, push_N=(0.1, -0.2, 0.3)))
    device.write(wrench([0.2, -0.1, 0.15]))
    device.in_tick.port.dt = 0.0
    device.in_tick.send(device.in_tick.block.address)
    start = ride.at(0.0)[0]

    def lead(t):
        return start + np.array([0.02 * math.sin(9.0 * t), 0.03 * math.sin(7.0 * t), 0.01 * t])

    tip, hand = by_newton(device, ride, 0.15, lead, "free")
    carried(device, ride, 150, lead)
    assert np.linalg.norm(device.tip_m) > 0.01
    assert device.tip_m == pytest.approx(tip, abs=2e-5)
    assert device.hand_m == pytest.approx(hand, abs=2e-5)


def frictionless(monkeypatch):
    free = dataclasses.replace(MODELS[PREMIUM], coulomb=0.0, viscous=0.0, quantum=1e-10)
    monkeypatch.setitem(MODELS, "free", free)
    return "free"


@pytest.mark.parametrize("first", [(0.0, 0.0, 0.0), (0.03, -0.05, 0.02)])
def test_an_arm_at_rest_in_the_room_seems_to_turn_backwards_on_a_spinning_base(first, monkeypatch):
    """The base spins up about the arm's first axis; without friction nothing acts on the arm: it stays as it is."""
    model = frictionless(monkeypatch)
    device = opened(model, Hand(intent=((0.0, first),), release_s=0.0), compensated=True)
    start = device.coordinates
    ride, axis = Ride(turn=(-0.4,), w=(4.0,), phase=(math.pi / 2,)), np.array([P.L1, 0.0, 0.0])
    begun = ride.at(0.0)[3]
    for k in range(500):
        spin, rate = ride.at((k + 0.5) * TICK_S)[4:]
        device.ride.moves, device.ride.spin, device.ride.spin_rate = 1, spin, rate
        # the axis stands still, so the device's origin goes around it
        device.ride.acceleration = (spin**2 * axis[0], -rate * axis[0], 0.0)
        device.advance(TICK_S)
    turned_by = ride.at(0.5)[3] - begun
    assert turned_by > 0.3
    assert device.coordinates == pytest.approx(start - [turned_by, 0.0, 0.0], abs=2e-5)


def test_a_free_arm_keeps_its_way_in_the_room_on_a_turning_base(monkeypatch):
    """Pushed off, it moves as one on a base that stands: what it does in the room is the same whatever turns below."""
    model = frictionless(monkeypatch)
    ends = []
    for spin in (0.0, 1.5):
        device = opened(model, LET_GO, compensated=True)
        device.ride.moves, device.ride.spin = 1, spin
        device.ride.acceleration = (spin**2 * P.L1, 0.0, 0.0)
        device._motion.rate = (0.8 - spin, -0.5, 0.6)
        device.advance(0.2)
        ends.append(device.coordinates + [0.2 * spin, 0.0, 0.0])
    assert ends[1] == pytest.approx(ends[0], abs=2e-5)


def to_and_fro(axis, speed_m_s=0.1, hz=0.625):
    """Smooth, with the speed of chapter 6."""
    w = 2 * np.pi * hz
    return Ride(np.eye(3)[axis] * speed_m_s / w, w=(w,))


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("model", [PREMIUM, POINT])
def test_a_hand_still_in_the_room_feels_the_inertia_and_friction_of_a_carried_device_alone(axis, model):
    """Its force is what Lagrange's equation asks of a tip that stands still, and nothing else.

    A point mass that stands still needs nothing but what rubs.
    """
    ride, hand = to_and_fro(axis), Hand(stiffness_N_m=4e4, damping_Ns_m=150.0)
    if model == POINT:
        ride = Ride(ride.way * 0.5, w=ride.w)  # its box is smaller
    device = opened(model, hand, compensated=True)
    still = ride.at(0.0)[0]
    felt, expected, m = [], [], MODELS[model]
    times = TICK_S * np.arange(1, 2001)
    for t in times:
        carried_once(device, ride, t - TICK_S, still)
        felt.append(device.force_on_hand_N)
        expected.append(asked(ride, still, t, m))
    felt, expected = np.array(felt)[400:], np.array(expected)[400:]
    most = np.abs(expected).max()
    assert most > 0.04
    # the friction of a joint that comes to rest turns over within milliseconds: the mean of the difference is small
    assert np.sqrt(((felt - expected) ** 2).mean()) < 0.12 * most
    assert np.abs(np.mean(felt, axis=0) - np.mean(expected, axis=0)).max() < 0.02 * most


def carried_once(device, ride, t, still):
    ride.tell(device.ride, t + 0.5 * TICK_S)
    led(device, ride, lambda _: still, t)
    device.advance(TICK_S)


def asked(ride, still, t, m, h=1e-4):
    """Force of the tip on a hand that stands still at a point of the room [N], device axes."""

    def seen(s):
        o, _, _, psi, _, _ = ride.at(s)
        return turned(-psi, still - o)

    if m.kind == phantom.POINT:
        rate = (seen(t + h) - seen(t - h)) / (2 * h)
        return -(m.coulomb * np.tanh(rate / m.creep) + m.viscous * rate)

    def angles(s):
        x = seen(s)
        return phantom.joint_angles((-x[1], x[2], -x[0]))

    q, ahead, behind = angles(t), angles(t + h), angles(t - h)
    rate, a = (ahead - behind) / (2 * h), (ahead - 2 * q + behind) / h**2
    M, bias, _ = law(ride, t, q, rate)
    _, weight, _ = law(Ride(), t, q, np.zeros(3))
    torque = M @ a + bias - weight + m.coulomb * np.tanh(rate / m.creep) + m.viscous * rate  # the motors carry weight
    J = np.array([tip(q + s) - tip(q - s) for s in 1e-6 * np.eye(3)]).T / 2e-6
    return -np.linalg.solve(J.T, torque)


def tip(q):
    a, b = link_vectors(q)
    return np.array([P.L1, 0.0, P.L2]) + P.L1 * a + P.L2 * b


# ---- what is not used changes nothing


@pytest.mark.parametrize("model", MODELS)
def test_a_device_that_nobody_carries_or_leads_is_the_same(model):
    """Carried by nothing: zeros add nothing; led to where it would have gone at rest: the same.

    To rounding: the compiler may fuse a product and a sum in one of the ways through the code and not in the other.
    """
    ends = []
    for moves, leads in ((0, 0), (1, 0), (0, 1)):
        device = opened(model, Hand(intent=((0.0, (0.01, -0.02, 0.01)),), push_N=(0.5, 1.0, -0.7)))
        device.ride.moves, device.ride.leads = moves, leads
        device.ride.lead = (0.01, -0.02, 0.01) if leads else (9.0, 9.0, 9.0)
        device.write(wrench([0.3, -0.2, 0.1]))
        for _ in range(100):
            device.advance(TICK_S)
        ends.append(np.r_[device.coordinates, device.tip_m, device.hand_m, device.force_on_hand_N])
    for other in ends[1:]:
        np.testing.assert_allclose(other, ends[0], rtol=1e-13, atol=1e-15)


def test_a_lead_goes_on_at_its_velocity():
    """A stiff hand is where it is led: at lead + v (t - t_0)."""
    device = opened(hand=Hand(stiffness_N_m=1e6, damping_Ns_m=500.0))
    device.ride.leads, device.ride.lead_s = 1, 0.05
    device.ride.lead, device.ride.lead_velocity = (0.01, 0.0, 0.0), (0.0, 0.1, -0.05)
    for _ in range(300):
        device.advance(TICK_S)
    assert device.hand_m == pytest.approx([0.01, 0.025, -0.0125], abs=1e-4)
