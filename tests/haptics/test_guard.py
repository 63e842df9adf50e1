"""The guard: every row of its table broken on purpose, the limits of acceptance item 35, and a million fuzzed ticks."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate.haptics import guard as guard_module
from palpate.haptics.devices.port import LOST, NOTHING_NEW, SATURATED
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.haptics.guard import (
    COUNTS,
    FAULT,
    FORCE,
    GROWTH,
    LAW_FAILED,
    LINK_LOST,
    MOST,
    STATES,
    TORQUE,
    ForceGuard,
    engage,
    guard,
    load_guard,
    new_guard,
)
from palpate.haptics.safety import limit_by_heat
from palpate.jit import DISABLED, Block, entry, kernel
from palpate.spatial.vectors import dot, get3, is_finite, scale, sub

pytestmark = pytest.mark.nojit

DT = 1e-3
STILL = np.zeros(3)
SPEC = DeviceSpec("test", force_limit_N=8.5, torque_limit_Nm=0.2, velocity_limit_m_s=1.0)
WARMING = replace(SPEC, continuous_force_N=1.4)
# no rise to wait for: shows the other rows alone
SUDDEN = DeviceSpec("sudden", force_limit_N=8.5, force_rise_N_s=np.inf, torque_limit_Nm=0.2, velocity_limit_m_s=1.0)


@pytest.fixture(autouse=True, scope="module")
def overflow_in_silence():
    """As compiled code does; without the compiler numpy's scalars would warn."""
    with np.errstate(over="ignore", invalid="ignore"):
        yield


def switched_on(spec=SPEC, **options):
    """A guard past its gate and its rise."""
    g = ForceGuard(spec, **options)
    g(STILL, STILL, 1.0)
    assert g.state == "on"
    return g


def showing(force, spec=SUDDEN, **options):
    """A guard that shows this force."""
    g = switched_on(spec, **options)
    while not np.allclose(g(force, STILL, DT)[0], force, rtol=1e-9):
        pass
    return g


class PointHand:
    """A mass held by a spring and damper towards where its owner wants it; the x axis alone."""

    def __init__(self, intent_m, x_m=0.0, v_m_s=0.0, mass_kg=0.25, stiffness_N_m=400.0, damping_Ns_m=6.0):
        self.x, self.v, self.intent = x_m, v_m_s, intent_m
        self.m, self.k, self.b = mass_kg, stiffness_N_m, damping_Ns_m

    def feel(self, force_N):
        """One tick under a force on the hand."""
        self.v += DT / self.m * (force_N + self.k * (self.intent - self.x) - self.b * self.v)
        self.x += DT * self.v

    @property
    def velocity(self):
        return np.array([self.v, 0.0, 0.0])

    @property
    def energy_J(self):
        return 0.5 * self.m * self.v**2 + 0.5 * self.k * (self.intent - self.x) ** 2


def wall(hand, stiffness_N_m=1000.0):
    """Solid where x > 0; force on the hand."""
    return np.array([-stiffness_N_m * max(hand.x, 0.0), 0.0, 0.0])


def push(g, hand, ticks, **tick):
    """The hand against the wall through the guard -> what was sent along x (ticks,)."""
    sent = np.empty(ticks)
    for i in range(ticks):
        force, _ = g(wall(hand), hand.velocity, DT, **tick)
        sent[i] = force[0]
        hand.feel(force[0])
    return sent


# ---- limits


forces = st.tuples(*[st.floats(-1e300, 1e300)] * 3).map(np.array)


@settings(max_examples=200, deadline=None)
@given(forces, st.floats(0.01, 100))
def test_a_force_never_exceeds_the_limit_and_keeps_its_direction(force, most):
    """articulated-haptics.md acceptance 35, mobile-haptic-display.md acceptance 30; up to 1e300 N."""
    g = switched_on(DeviceSpec("any", force_limit_N=most, force_rise_N_s=np.inf))
    sent, _ = g(force, STILL, DT)
    assert np.linalg.norm(sent) <= most
    size = max(np.abs(force).max(), 1e-300)
    wanted = np.linalg.norm(force / size) * size
    if wanted > 0.0:
        assert np.abs(sent - force / size * (min(most, wanted) / (wanted / size))).max() <= 1e-12 * min(most, wanted)
    assert g.counts["clamped"] == (wanted > most) or math.isclose(wanted, most)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-20, 20)] * 3), min_size=2, max_size=20))
def test_a_force_never_grows_faster_than_500_N_s_and_never_exceeds_what_is_wanted(wants):
    """articulated-haptics.md acceptance 35."""
    g = switched_on()
    before = np.zeros(3)
    for want in wants:
        sent, _ = g(np.array(want), STILL, DT)
        assert np.linalg.norm(sent) <= np.linalg.norm(before) + 0.5 * (1 + 1e-12)
        assert np.linalg.norm(sent) <= np.linalg.norm(want) * (1 + 1e-12)
        before = sent.copy()


def test_falling_is_free_growing_is_not_and_turning_round_goes_through_nothing():
    g = showing((5.0, 0.0, 0.0), SPEC)
    assert g((1.0, 0.0, 0.0), STILL, DT)[0] == pytest.approx((1.0, 0.0, 0.0))
    assert g((5.0, 0.0, 0.0), STILL, DT)[0] == pytest.approx((1.5, 0.0, 0.0))
    assert g((-5.0, 0.0, 0.0), STILL, DT)[0] == pytest.approx((-0.5, 0.0, 0.0))
    assert g((-5.0, 0.0, 0.0), STILL, DT)[0] == pytest.approx((-1.0, 0.0, 0.0))
    assert g.counts["rate_limited"] >= 3


def test_a_torque_has_limits_of_its_own_in_proportion():
    g = switched_on()
    _, torque = g(STILL, STILL, DT, torque_Nm=(0.0, 0.0, 1.0))
    assert torque == pytest.approx((0.0, 0.0, 500.0 * 0.2 / 8.5 * DT))
    for _ in range(100):
        force, torque = g((0.0, 3.0, 0.0), STILL, DT, torque_Nm=(0.0, 0.6, 0.8))
    assert np.linalg.norm(torque) <= 0.2
    assert torque == pytest.approx((0.0, 0.12, 0.16), rel=1e-12)
    assert force == pytest.approx((0.0, 3.0, 0.0))


def test_a_torque_that_the_device_cannot_make_is_ignored_unless_it_is_not_a_number():
    g = switched_on(DeviceSpec("no torque", force_limit_N=3.3))
    force, torque = g((0.1, 0.0, 0.0), STILL, DT, torque_Nm=(5.0, 0.0, 0.0), spin_rad_s=(1.0, 0.0, 0.0))
    assert force == pytest.approx((0.1, 0.0, 0.0))
    assert not torque.any()
    assert g.work_J == 0.0
    assert not g.counts["clamped"]
    fresh = ForceGuard(DeviceSpec("no torque", force_limit_N=3.3))
    fresh(STILL, STILL, DT, torque_Nm=(5.0, 0.0, 0.0))
    assert fresh.state == "rising"  # the gate does not wait for it either
    g(STILL, STILL, DT, torque_Nm=(np.nan, 0.0, 0.0))
    assert g.state == "fault"


# ---- engaging


def test_no_force_until_little_is_wanted_then_it_rises_in_half_a_second():
    """The hand is inside the wall when it starts: it feels nothing until it has been out once."""
    g, hand = ForceGuard(SPEC), PointHand(intent_m=0.01, x_m=0.01)
    assert not push(g, hand, 400).any()
    assert g.state == "engaging"
    assert g.counts["gated"] == 400
    hand.intent = -0.01
    push(g, hand, 300)
    assert g.state in ("rising", "on")
    hand.intent = 0.01
    push(g, hand, 1000)
    assert g.state == "on"
    assert hand.x == pytest.approx(400.0 * 0.01 / 1400.0, rel=1e-3)  # springs in balance: the wall is there now


def test_the_rise_is_a_straight_line_of_half_a_second_even_where_the_want_is_above_the_limit():
    g = ForceGuard(SPEC)
    g((0.19, 0.0, 0.0), STILL, DT)
    for tick in range(2, 600):
        sent, _ = g((30.0, 0.0, 0.0), STILL, DT)
        assert sent[0] == pytest.approx(8.5 * min(1.0, tick * DT / 0.5), rel=1e-9)
    assert g.counts["rising"] == 499


@pytest.mark.parametrize("want", [0.2, 0.21, 8.5, 1e300])
def test_the_gate_stays_shut_at_and_above_a_fifth_of_a_newton(want):
    g = ForceGuard(SPEC)
    for _ in range(10):
        assert not g((0.0, want, 0.0), STILL, DT)[0].any()
    assert g.state == "engaging"


# ---- faults

FAULTS = [
    ("not_finite", {"force_N": (np.nan, 0.0, 0.0)}, "the wanted force is not a number"),
    ("not_finite", {"force_N": (0.0, -np.inf, 0.0)}, "the wanted force is not a number"),
    ("not_finite", {"torque_Nm": (0.0, np.nan, 0.0)}, "the wanted force is not a number"),
    ("bad_reading", {"velocity_m_s": (0.0, np.nan, 0.0)}, "the device's reading is not a number"),
    ("bad_reading", {"spin_rad_s": (0.0, np.inf, 0.0)}, "the device's reading is not a number"),
    ("device_lost", {"status": LOST}, "the device was lost"),
    ("device_lost", {"status": -77}, "the device was lost"),
    ("link_lost", {"status": LINK_LOST}, "the link was lost"),
    ("law_failed", {"status": LAW_FAILED}, "a law failed"),
]


@pytest.mark.parametrize(("kind", "breaking", "why"), FAULTS)
def test_a_fault_takes_the_force_away_in_20_ms_and_stays(kind, breaking, why):
    g = showing((3.0, -4.0, 0.0))
    good = {"force_N": (3.0, -4.0, 0.0), "velocity_m_s": STILL, "dt_s": DT}
    for tick in range(1, 41):
        sent, _ = g(**(good | breaking if tick < 3 else good))  # two bad ticks, then all is well again
        assert sent == pytest.approx(np.array([3.0, -4.0, 0.0]) * max(0.0, 1 - tick / 20), abs=1e-9)
    assert not sent.any()
    assert g.state == "fault"
    assert g.why == why
    assert {k: n for k, n in g.counts.items() if n and k in COUNTS[:5]} == {kind: 1}
    g.engage()
    assert g.why == ""
    for _ in range(5):
        assert not g(**good)[0].any()  # the gate is shut again
    g(STILL, STILL, DT)
    assert g(**good)[0][0] == pytest.approx(3.0 * 2 * DT / 0.5)
    assert g.counts[kind] == 1


def test_the_first_fault_is_the_one_that_is_told():
    g = showing((1.0, 0.0, 0.0))
    g(STILL, STILL, DT, status=LINK_LOST)
    g((np.nan, 0.0, 0.0), STILL, DT, status=LOST)
    assert g.why == "the link was lost"
    assert g.counts["device_lost"] == g.counts["not_finite"] == 0


def test_a_hand_that_leans_on_a_wall_that_is_lost_comes_to_rest_where_it_wants_to_be():
    g, hand = switched_on(), PointHand(intent_m=0.01)
    leaning = push(g, hand, 1500)[-1]
    assert leaning == pytest.approx(-1000 * 400.0 * 0.01 / 1400.0, rel=1e-3)
    sent = push(g, hand, 20, status=LOST)
    assert sent == pytest.approx(leaning * (1 - np.arange(1, 21) / 20), abs=1e-9)
    energy = []
    for _ in range(1000):  # nothing from the device any more: the hand only loses energy
        push(g, hand, 1)
        energy.append(hand.energy_J)
    assert not g.arrays.sent.any()
    assert energy[-1] < 1e-9
    assert hand.x == pytest.approx(0.01, abs=1e-5)


def test_stale_readings_and_saturated_motors_are_counted_and_change_nothing():
    g = showing((1.0, 0.0, 0.0))
    for status in (NOTHING_NEW, SATURATED, SATURATED):
        assert g((1.0, 0.0, 0.0), STILL, DT, status=status)[0] == pytest.approx((1.0, 0.0, 0.0))
    assert (g.counts["stale"], g.counts["saturated"], g.state) == (1, 2, "on")


# ---- too fast


def test_a_device_that_is_too_fast_loses_its_force_in_20_ms_and_gets_it_back_in_half_a_second():
    g, want, fast = showing((4.0, 0.0, 0.0)), (4.0, 0.0, 0.0), np.array([0.0, 0.8, 0.7])
    for tick in range(1, 31):
        sent, _ = g(want, fast, DT)
        assert sent[0] == pytest.approx(4.0 * max(0.0, 1 - tick / 20), abs=1e-8)
        assert g.state == "slowed"
    assert not sent.any()
    assert g.counts["too_fast"] == 30
    for tick in range(1, 501):
        assert g(want, STILL, DT)[0][0] == pytest.approx(4.0 * tick * DT / 0.5, abs=1e-8)
    assert g.state == "on"


def test_no_force_grows_while_the_device_is_too_fast():
    g = switched_on()
    for _ in range(4):  # 2 N of the 8 N wanted: still growing
        sent, _ = g((8.0, 0.0, 0.0), STILL, DT)
    for tick in range(1, 21):
        now, _ = g((8.0, 0.0, 0.0), np.array([2.0, 0.0, 0.0]), DT)
        assert now[0] == pytest.approx(sent[0] * (1 - tick / 20), abs=1e-8)


def test_a_hand_thrown_at_a_wall_faster_than_the_limit_is_not_thrown_back():
    limited, free = switched_on(), switched_on(DeviceSpec("no limit", force_limit_N=8.5))
    back = []
    for g in (limited, free):
        hand = PointHand(intent_m=0.0, v_m_s=2.0, stiffness_N_m=0.0, damping_Ns_m=0.0)
        sent = push(g, hand, 15)
        back.append(sent.min())
    assert limited.counts["too_fast"] == 15
    assert back[0] > 0.3 * back[1]  # both negative: much less force
    assert limited.work_J > 0.0  # what was held back would have taken energy from the hand


# ---- late


def test_a_late_tick_sends_what_was_sent_before():
    g = showing((2.0, 1.0, 0.0))
    sent, _ = g((-3.0, 0.0, 5.0), STILL, DT, late_s=0.0011)
    assert sent == pytest.approx((2.0, 1.0, 0.0))
    assert (g.state, g.counts["late_held"]) == ("late", 1)
    sent, _ = g((0.0, 0.0, 1.0), STILL, DT, late_s=0.0009)  # within a tick is not late
    assert sent == pytest.approx((0.0, 0.0, 1.0))
    assert (g.state, g.counts["late_held"]) == ("on", 1)


def test_after_5_ms_the_force_is_a_damper_within_the_limits():
    g = showing((2.0, 0.0, 0.0), damping_Ns_m=3.0)
    sent, torque = g((2.0, 0.0, 0.0), np.array([0.0, 0.5, 0.0]), DT, late_s=0.006, spin_rad_s=(0.0, 0.0, 2.0))
    assert sent == pytest.approx((0.0, -1.5, 0.0))
    assert torque == pytest.approx((0.0, 0.0, -2e-3))
    assert (g.state, g.counts["late_damped"]) == ("late", 1)
    strong = showing((2.0, 0.0, 0.0), damping_Ns_m=1000.0)
    sent, _ = strong((2.0, 0.0, 0.0), np.array([0.0, 0.0, 0.5]), DT, late_s=0.006)
    assert sent == pytest.approx((0.0, 0.0, -8.5))
    assert np.linalg.norm(sent) <= 8.5
    slow = showing((2.0, 0.0, 0.0), SPEC, damping_Ns_m=1000.0)
    sent, _ = slow((2.0, 0.0, 0.0), np.array([0.0, 0.0, 0.5]), DT, late_s=0.006)
    assert sent == pytest.approx((0.0, 0.0, -0.5))  # lets go at once, grows by 500 N/s


@pytest.mark.parametrize("late_s", [0.051, 3.0, np.inf, np.nan])
def test_after_50_ms_there_is_no_force_and_it_comes_back_with_the_rise(late_s):
    g = showing((2.0, 0.0, 0.0))
    sent, _ = g((2.0, 0.0, 0.0), np.array([0.5, 0.0, 0.0]), DT, late_s=late_s)
    assert not sent.any()
    assert (g.state, g.counts["late_zeroed"]) == ("late", 1)
    assert g((2.0, 0.0, 0.0), STILL, DT)[0][0] == pytest.approx(2.0 * DT / 0.5)
    assert g.state == "rising"


def test_a_loop_that_is_never_on_time_ends_at_zero_and_not_in_a_frozen_force():
    g = showing((2.0, 0.0, 0.0))
    sent = [g((2.0, 0.0, 0.0), np.array([0.1, 0.0, 0.0]), DT, late_s=0.0021)[0][0] for _ in range(30)]
    assert sent[:2] == pytest.approx([2.0, 2.0])
    assert sent[2:23] == pytest.approx([-0.2] * 21)  # 2 N s/m
    assert sent[23:] == [0.0] * 7
    assert (g.counts["late_held"], g.counts["late_damped"], g.counts["late_zeroed"]) == (2, 21, 7)


def test_a_late_loop_only_takes_energy_from_the_hand():
    g, hand = switched_on(), PointHand(intent_m=0.0, x_m=-1.0, v_m_s=0.6, stiffness_N_m=0.0, damping_Ns_m=0.0)
    energy = hand.energy_J
    for late_s in [0.007] * 8:
        push(g, hand, 1, late_s=late_s)
        assert hand.energy_J <= energy
        energy = hand.energy_J
    assert energy < 0.5 * 0.25 * 0.6**2
    assert g.work_J < 0.0


@pytest.mark.parametrize("late_s", [0.002, 0.006])
def test_a_late_tick_does_not_bring_the_rise_forward(late_s):
    g = ForceGuard(SUDDEN)
    for _ in range(10):
        g((0.1, 0.0, 0.0), STILL, DT)
    g((0.1, 0.0, 0.0), STILL, DT, late_s=late_s)
    assert g((4.0, 0.0, 0.0), STILL, DT)[0][0] == pytest.approx(4.0 * 11 * DT / 0.5)


def test_before_the_gate_opens_a_late_tick_makes_no_damper():
    g = ForceGuard(SUDDEN)
    for late_s in (0.002, 0.006, 0.06, np.nan):
        assert not g((5.0, 0.0, 0.0), np.array([0.5, 0.0, 0.0]), DT, late_s=late_s)[0].any()


# ---- heat


@entry("float64, float64, float64")
def heat_entry(mean_square, continuous, most):
    return limit_by_heat(mean_square, continuous, most)


def test_warm_motors_lower_the_limit_linearly_to_the_continuous_force():
    """mobile-haptic-display.md 5.2."""
    for rms, limit in ((0.0, 8.5), (0.98, 8.5), (1.19, 4.95), (1.4, 1.4), (5.0, 1.4)):
        assert heat_entry(rms**2, 1.4, 8.5) == pytest.approx(limit)
    assert heat_entry(100.0, np.inf, 8.5) == 8.5  # off
    assert heat_entry(100.0, 9.0, 8.5) == 8.5


def test_the_rms_of_10_s_never_exceeds_the_continuous_force():
    """mobile-haptic-display.md 5.2: 1.4 N, the mean taken over a memory of 10 s; rest gives part of the peak back."""
    g, dt = switched_on(replace(SUDDEN, continuous_force_N=1.4)), 0.01
    mean_square, sent = 0.0, []
    for _ in range(4000):
        sent.append(g((0.0, 30.0, 0.0), STILL, dt)[0][1])
        mean_square += dt / SUDDEN.heat_s * (sent[-1] ** 2 - mean_square)
        assert math.sqrt(mean_square) <= 1.4
    assert sent[0] == pytest.approx(8.5)
    assert np.diff(sent).max() <= 0.0  # the limit only comes down while the force is wanted
    assert sent[-1] == pytest.approx(1.4, rel=1e-6)
    assert g.counts["heat_limited"] > 3900
    for _ in range(200):
        g(STILL, STILL, dt)
    assert g((0.0, 30.0, 0.0), STILL, dt)[0][1] > 2.0


# ---- ledger


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_ledger_is_the_work_of_what_was_altered(seed):
    rng = np.random.default_rng(seed)
    g, work = switched_on(WARMING), 0.0
    for _ in range(50):
        want, turn, velocity, spin = rng.normal(scale=[[6.0], [0.2], [0.5], [2.0]], size=(4, 3))
        status = LOST if rng.random() < 0.01 else 0
        late_s = rng.exponential(0.002)
        sent, torque = g(want, velocity, DT, turn, spin, status=status, late_s=late_s)
        work += ((sent - want) @ velocity + (torque - turn) @ spin) * DT
    assert g.work_J == pytest.approx(work, rel=1e-9, abs=1e-12)


def test_a_want_that_no_hand_could_feel_does_not_drown_the_ledger():
    g = switched_on()
    g((10.0, 0.0, 0.0), np.array([0.5, 0.0, 0.0]), DT)
    work = g.work_J
    assert work == pytest.approx((0.5 - 10.0) * 0.5 * DT)
    g((1e300, 0.0, 0.0), np.array([0.5, 0.0, 0.0]), DT)
    assert g.work_J == work


def test_an_unaltered_force_does_no_work_in_the_ledger():
    g = showing((1.0, 0.0, 0.0))
    for _ in range(10):
        g((1.0, 0.0, 0.0), np.array([0.3, 0.0, 0.0]), DT)
    assert g.work_J == 0.0


# ---- fuzz

BAD = (math.nan, math.inf, -math.inf, 1e300, -1e300, 0.0, 1e-300)
RANDOM_MOST = 2147483647


@kernel
def roll(state):
    """Park and Miller's minimal standard generator: the same with and without the compiler."""
    return (state * 48271) % RANDOM_MOST


@kernel
def beyond_growth(before, sent, most):
    """How far the step from the nearest part of the last force exceeds what may grow."""
    had = dot(before, before)
    share = min(max(dot(sent, before) / had, 0.0), 1.0) if had > 0.0 else 0.0
    step = sub(sent, scale(share, before))
    return math.sqrt(dot(step, step)) - most


@kernel
def note(g, row, before, sent, dt, worst):
    """worst: above the limit, above the growth, not numbers, the longest vector sent."""
    length = math.sqrt(dot(sent, sent))
    worst[row, 0] = max(worst[row, 0], length - g.limit[row, MOST])
    worst[row, 1] = max(worst[row, 1], beyond_growth(before, sent, g.limit[row, GROWTH] * dt))
    if not (is_finite(sent[0]) and is_finite(sent[1]) and is_finite(sent[2])):
        worst[row, 2] += 1.0
    if length > worst[row, 3]:
        worst[row, 3], worst[row, 4], worst[row, 5], worst[row, 6] = length, sent[0], sent[1], sent[2]


@entry("intp, float64[::1], float64[:, ::1], int64[::1], intp, intp, float64")
def fuzz(address, bad, worst, visits, seed, ticks, dt):
    """Stretches of calm, of hard pushing and of nonsense, with faults and engagements strewn in."""
    (g,) = load_guard(address)
    r, stretch, size, speed, jumpy = seed, 0, 0.0, 0.0, False
    x0, x1, x2 = 0.0, 0.0, 0.0
    for _ in range(ticks):
        if stretch == 0:
            r = roll(r)
            stretch, kind = 1 + r % 900, (r // 1024) % 5
            size = (0.05, 2.0, 20.0, 1e6, 1e300)[kind]
            r = roll(r)
            speed, jumpy = (0.1, 0.1, 0.1, 3.0)[r % 4], (r // 64) % 2 == 0
        stretch -= 1
        before, turned = get3(g.sent, FORCE), get3(g.sent, TORQUE)
        r = roll(r)
        a = r / RANDOM_MOST - 0.5
        r = roll(r)
        b = r / RANDOM_MOST - 0.5
        r = roll(r)
        c = r / RANDOM_MOST - 0.5
        if jumpy or r % 40 == 0:
            x0, x1, x2 = size * a, size * b, size * c
        force, torque = (x0, x1, x2), (0.1 * x2, 0.1 * x0, 0.1 * x1)
        velocity, spin = (speed * b, speed * c, speed * a), (c, a, b)
        r = roll(r)
        status, late_s, event = 0, 0.0, r % 12000
        if event < 7:
            force = (force[0], bad[event], force[2])
        elif event < 14:
            velocity = (bad[event - 7], velocity[1], velocity[2])
        elif event < 21:
            torque = (torque[0], torque[1], bad[event - 14])
        elif event < 25:
            status = -1 - (event - 21)
        elif event < 60:
            status = 1 + event % 2
        elif event < 400:
            late_s = dt * (1.0 + 6.0 * abs(a))
        elif event < 440:
            late_s = 0.1 * abs(b)
        elif event < 442:
            late_s = bad[event - 440]
        elif event < 444 or (g.state == FAULT and event < 640):
            engage(g)
            stretch, size, x0, x1, x2 = 200, 0.05, 0.0, 0.0, 0.0  # calm enough for the gate
        sent, turning = guard(g, force, torque, velocity, spin, status, late_s, dt)
        note(g, FORCE, before, sent, dt, worst)
        note(g, TORQUE, turned, turning, dt, worst)
        visits[g.state] += 1


def test_a_million_fuzzed_ticks_never_exceed_a_limit():
    """Neither the limit, exactly, nor the rise, nor a NaN; and the fuzz sees every state and every intervention."""
    g = new_guard(replace(WARMING, continuous_torque_Nm=0.05))
    worst, visits = np.zeros((2, 7)), np.zeros(len(STATES), dtype=np.int64)
    block = Block(g)
    fuzz(block.address, np.array(BAD), worst, visits, 20240607, 1000 if DISABLED else 1_000_000, DT)
    assert worst[:, 0].max() <= 0.0
    assert worst[:, 1].max() <= 1e-12
    assert worst[:, 2].max() == 0.0
    for row, most in ((FORCE, 8.5), (TORQUE, 0.2)):
        assert np.linalg.norm(worst[row, 4:7]) <= most  # in numpy's order of summing too
    assert np.isfinite([g.gain, g.fade_left_s, g.late_s, g.work_J]).all()
    if not DISABLED:
        assert visits.min() > 100, dict(zip(STATES, visits, strict=True))
        assert g.counts.min() > 0, dict(zip(COUNTS, g.counts, strict=True))
        assert worst[FORCE, 3] > 8.4  # it was pushed to its limit


anything = st.floats(allow_nan=True, allow_infinity=True)
vectors = st.tuples(anything, anything, anything)
mild = st.tuples(*[st.floats(-0.1, 0.1)] * 3)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            vectors | mild, vectors | mild, vectors | mild, vectors | mild,
            st.integers(-4, 3) | st.just(0), anything | st.just(0.0), st.floats(1e-5, 1.0), st.booleans(),
        ),
        max_size=30,
    )
)  # fmt: skip
def test_whatever_comes_what_is_sent_is_within_the_limits(ticks):
    g = ForceGuard(WARMING)
    before, turned = np.zeros(3), np.zeros(3)
    for force, torque, velocity, spin, status, late_s, dt, again in ticks:
        sent, turning = g(force, velocity, dt, torque, spin, status, late_s)
        assert np.linalg.norm(sent) <= 8.5
        assert np.linalg.norm(turning) <= 0.2
        assert np.linalg.norm(sent) <= np.linalg.norm(before) + 500.0 * dt * (1 + 1e-12)
        assert np.linalg.norm(turning) <= np.linalg.norm(turned) + 500.0 * 0.2 / 8.5 * dt * (1 + 1e-12)
        assert 0.0 <= g.arrays.gain <= 1.0
        assert abs(g.work_J) <= 1e3 * len(ticks) * 2
        if again:
            g.engage()
            assert (g.arrays.cause, g.arrays.is_open) == (0, 0)
        before, turned = sent.copy(), turning.copy()


# ---- descriptions


def test_the_table_beside_the_code_names_every_count():
    for name in COUNTS:
        assert f"| {name} " in guard_module.__doc__ or name in ("stale", "saturated")


def test_impossible_limits_are_refused_in_one_line():
    with pytest.raises(ValueError, match="continuous_force_N must be positive"):
        replace(SPEC, continuous_force_N=0.0)
    with pytest.raises(ValueError, match="damping_Ns_m must be finite and not negative"):
        new_guard(SPEC, damping_Ns_m=-1.0)
    with pytest.raises(ValueError, match="torque_limit_Nm must be finite"):
        DeviceSpec("odd", force_limit_N=1.0, torque_limit_Nm=np.nan)
    with pytest.raises(ValueError, match="velocity_limit_m_s must be positive"):
        DeviceSpec("odd", force_limit_N=1.0, velocity_limit_m_s=0.0)
    with pytest.raises(ValueError, match="three numbers each"):
        ForceGuard(SPEC)((1.0, 2.0), STILL, DT)
