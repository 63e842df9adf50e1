"""The state between relays as laws: errors of the three modes, no jumps, nothing that goes back."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mechanisms import all_kinds_forest, random_state

import palpate as pp
from palpate import jit
from palpate.dynamics import workspace
from palpate.jit import Block, block_loader, entry
from palpate.link.estimate import (
    BLEND_S,
    CAP_S,
    ESTIMATES,
    Estimate,
    change_mode,
    estimate,
    forget_states,
    note_state,
    open_estimate,
)

pytestmark = pytest.mark.nojit
EXAMPLES = settings(max_examples=15 if jit.DISABLED else 100, deadline=None)
DT = 1e-3

load = block_loader((Estimate, False))
FOREST = all_kinds_forest(5)
SLIDER = pp.compile(
    pp.MultiBody("slider", [pp.Body("block", 1.0)], [pp.Joint("slide", "prismatic", "world", "block", axis=(1, 0, 0))])
)


@entry("intp, intp, intp, float64, float64[::1], float64[::1], float64")
def note_entry(model, address, sequence, time_s, q, v, now_s):
    m, _ = workspace.load(model)
    (e,) = load(address)
    return note_state(m, e, sequence, time_s, q, v, now_s)


@entry("intp, intp, float64, float64[::1], float64[::1]")
def estimate_entry(model, address, now_s, q, v):
    m, _ = workspace.load(model)
    (e,) = load(address)
    estimate(m, e, now_s, q, v)


@entry("intp, intp, intp, float64")
def change_entry(model, address, mode, now_s):
    m, _ = workspace.load(model)
    (e,) = load(address)
    change_mode(m, e, mode, now_s)


@entry("intp")
def forget_entry(address):
    (e,) = load(address)
    forget_states(e)


class Known:
    """An estimate of a model's state, from Python."""

    def __init__(self, model: pp.Model, mode: str, **options: float) -> None:
        self.model, self.arrays = model, open_estimate(model, mode, **options)
        self.block, self.at = Block(self.arrays), workspace.address_of(model)

    def note(self, sequence, time_s, q, v, now_s) -> bool:
        q, v = np.array(q, dtype=float), np.array(v, dtype=float)
        return bool(note_entry(self.at, self.block.address, sequence, time_s, q, v, now_s))

    def shown(self, now_s):
        q, v = np.full(self.model.nq, np.nan), np.full(self.model.nv, np.nan)
        estimate_entry(self.at, self.block.address, now_s, q, v)
        return q, v

    def x(self, now_s) -> float:
        """The position of a slider."""
        return float(self.shown(now_s)[0][0])


def along(known: Known, path, relays, ticks):
    """x shown at each tick while states of path(t) -> (x, v) arrive at once, at the relays."""
    out, relays, sequence = [], list(relays), 0
    for t in ticks:
        while relays and relays[0] <= t + 1e-12:
            sequence += 1
            x, v = path(relays[0])
            known.note(sequence, relays[0], [x], [v], relays.pop(0))
        out.append(known.x(t))
    return np.array(out)


# ---- the errors of the modes


@EXAMPLES
@given(st.floats(-2.0, 2.0), st.floats(1e-3, 0.02))
def test_the_error_of_hold_is_v_D(v, D):
    """articulated-haptics.md section 4."""
    known = Known(SLIDER, "hold")
    for k in range(3):
        known.note(k, k * D, [v * k * D], [v], k * D)
    assert v * 3 * D - known.x(2 * D + BLEND_S + 3 * D) == pytest.approx(v * D, abs=1e-12)
    assert known.shown(1.0)[1][0] == v


@EXAMPLES
@given(st.floats(-1.0, 1.0), st.floats(-2.0, 2.0), st.floats(-9.0, 9.0), st.floats(1e-3, 0.02), st.floats(0.0, CAP_S))
def test_extrapolation_is_exact_for_constant_acceleration(x, v, a, D, t):
    known = Known(SLIDER, "extrapolate", blend_s=0.0)
    for k in (0, 1):
        known.note(k, k * D, [x + v * k * D + a * (k * D) ** 2 / 2], [v + a * k * D], k * D)
    T = D + t
    q, u = known.shown(T)
    assert q[0] == pytest.approx(x + v * T + a * T**2 / 2, abs=1e-9)
    assert u[0] == pytest.approx(v + a * T, abs=1e-9)


@EXAMPLES
@given(st.floats(1.0, 50.0), st.floats(1e-4, 0.01), st.floats(BLEND_S, CAP_S))
def test_the_error_of_extrapolation_is_that_of_the_jerk(j, D, t):
    """articulated-haptics.md section 4: j t^3/6 with the true acceleration; a difference over D adds j t^2 D/4."""
    known = Known(SLIDER, "extrapolate")
    for s in (1.0 - D, 1.0):
        known.note(round(s * 1e6), s, [j * s**3 / 6], [j * s**2 / 2], s)
    error = j * (1.0 + t) ** 3 / 6 - known.x(1.0 + t)
    assert error == pytest.approx(j * t**3 / 6 + j * t**2 * D / 4, rel=1e-6, abs=1e-11)


def test_with_states_close_together_the_error_is_a_sixth_of_j_D_cubed():
    """articulated-haptics.md section 4: within 1 % where the acceleration is measured over a hundredth of the gap."""
    j, D = 30.0, 0.01
    known = Known(SLIDER, "extrapolate")
    for s in (-D / 200, 0.0):
        known.note(round(s * 1e6), s, [j * s**3 / 6], [j * s**2 / 2], s)
    assert j * D**3 / 6 - known.x(D) == pytest.approx(j * D**3 / 6, rel=0.01)


def test_a_prediction_ends_at_its_cap_and_holds():
    """articulated-haptics.md section 4: capped at 20 ms."""
    known = Known(SLIDER, "extrapolate")
    known.note(0, 0.0, [0.0], [1.0], 0.0)
    assert known.x(0.5 * CAP_S) == pytest.approx(0.5 * CAP_S, rel=1e-12)
    assert known.x(CAP_S) == pytest.approx(CAP_S, rel=1e-12)
    assert known.x(CAP_S + 1.0) == known.x(CAP_S + 5.0) == pytest.approx(CAP_S, rel=1e-12)


def test_extrapolation_makes_up_for_a_delay_that_the_clock_knows():
    """A state of 12 ms ago: shown is where the thing is now."""
    known = Known(SLIDER, "extrapolate")
    for k in range(40):
        known.note(k, k * DT, [0.3 * k * DT], [0.3], k * DT + 0.012)
    now = 39 * DT + 0.012
    assert known.x(now) == pytest.approx(0.3 * now, abs=1e-12)


@EXAMPLES
@given(st.floats(-2.0, 2.0), st.floats(2e-3, 0.02), st.floats(0.0, 0.05))
def test_interpolation_is_one_relay_late_and_invents_nothing(v, D, delay):
    known = Known(SLIDER, "interpolate")
    for k in range(5):
        known.note(k, k * D, [v * k * D], [v], k * D + delay)
        for part in (0.0, 0.3, 0.99):
            since = (k + part) * D
            assert known.x(since + delay) == pytest.approx(v * max(0.0, since - D), abs=1e-12)
    assert known.x(1e3) == pytest.approx(v * 4 * D, abs=1e-12)


def test_on_the_manifold_interpolation_goes_from_one_state_to_the_next():
    """Every joint kind: at u = 0, 1/2 and 1 of the way q1 (-) q0, half of it, and nothing is left to go."""
    rng = np.random.default_rng(1)
    (q0, v0, _), (q1, v1, _) = random_state(rng, FOREST), random_state(rng, FOREST)
    known = Known(FOREST, "interpolate", blend_s=0.0)
    known.note(0, 0.0, q0, v0, 0.0)
    known.note(1, 0.01, q1, v1, 0.01)
    way = pp.difference(FOREST, q0, q1)
    for u in (0.0, 0.5, 1.0):
        q, v = known.shown(0.01 + 0.01 * u)
        assert pp.difference(FOREST, q0, q) == pytest.approx(u * way, abs=1e-9)
        assert v == pytest.approx(v0 + u * (v1 - v0), abs=1e-12)


def test_extrapolation_follows_a_steady_twist_exactly_on_every_joint():
    """Free and spherical joints along screws and great circles: q(t) = q (+) v t."""
    q, v, _ = random_state(np.random.default_rng(2), FOREST)
    known = Known(FOREST, "extrapolate")
    for k in range(3):
        known.note(k, k * 0.005, pp.integrate(FOREST, q, v, k * 0.005), v, k * 0.005)
    for t in (0.011, 0.02, 0.03):
        shown, u = known.shown(t)
        assert np.abs(pp.difference(FOREST, pp.integrate(FOREST, q, v, t), shown)).max() < 1e-9
        assert u == pytest.approx(v, abs=1e-9)


# ---- blending


@pytest.mark.parametrize("mode", ESTIMATES)
@pytest.mark.parametrize("seed", [3, 4])
def test_nothing_jumps_when_a_state_arrives_and_quaternions_stay_unit(mode, seed):
    """Every joint kind, states anywhere: shown just before and just after are the same; 5 ms later the jump is gone."""
    rng = np.random.default_rng(seed)
    known, sudden = Known(FOREST, mode), Known(FOREST, mode, blend_s=0.0)
    q, v, _ = random_state(rng, FOREST)
    turning = [s for s in FOREST.q_index.values() if s.stop - s.start in (4, 7)]
    assert len(turning) >= 2
    now, biggest = 0.0, 0.0
    for sequence in range(12):
        late = rng.uniform(0.0, 0.01)
        before = known.shown(now)
        known.note(sequence, now - late, q, v, now)
        sudden.note(sequence, now - late, q, v, now)
        after = known.shown(now)
        if sequence:
            assert np.abs(pp.difference(FOREST, before[0], after[0])).max() < 1e-7
            assert np.abs(before[1] - after[1]).max() < 1e-9
            biggest = max(biggest, np.abs(known.arrays.jump).max())
        for t in np.linspace(0.0, 0.006, 4):
            shown, _ = known.shown(now + t)
            for s in turning:
                assert np.linalg.norm(shown[s][-4:]) == pytest.approx(1.0, abs=1e-12)
        there, here = known.shown(now + BLEND_S), sudden.shown(now + BLEND_S)
        assert np.abs(pp.difference(FOREST, there[0], here[0])).max() < 1e-9
        assert np.abs(there[1] - here[1]).max() < 1e-12
        now += rng.uniform(0.001, 0.012)
        q, v = pp.integrate(FOREST, q, rng.normal(size=FOREST.nv), 0.1), rng.normal(size=FOREST.nv)
    assert biggest > 0.05


def test_the_force_of_the_reference_jumps_half_a_newton_and_blended_a_tenth_a_tick():
    """articulated-haptics.md section 4: k = 1000 N/m, v = 0.1 m/s, D = 5 ms; blended over 5 ms."""
    k, v, D = 1000.0, 0.1, 0.005
    ticks, relays = DT * np.arange(200), D * np.arange(40)

    def path(t):
        return v * t, v

    jumping = k * np.abs(np.diff(along(Known(SLIDER, "hold", blend_s=0.0), path, relays, ticks))).max()
    blended = k * np.abs(np.diff(along(Known(SLIDER, "hold"), path, relays, ticks))).max()
    assert jumping == pytest.approx(0.5, rel=1e-9)
    assert blended <= 0.1 + 1e-9


@EXAMPLES
@given(st.sampled_from(ESTIMATES), st.integers(0, 2**32 - 1))
@example("extrapolate", 137)  # speeds up so much that the tick in which the next state comes has its largest step
def test_each_step_a_tick_is_that_of_the_raw_estimate_and_a_fifth_of_the_jump(mode, seed):
    """Relays of a jerky path, some states lost: continuous whatever comes; without blending it is not.

    From tick k - 1 to k the same two states are known until, at k itself, a new one may come.  With r(t) the raw
    estimate of those two and J their jump,

        shown(k - 1) = r(k - 1) + s(k - 1) J
        shown(k)     = r(k) + s(k) J      whether a state comes at k or not: its own jump begins with all of it (above)

    hence |shown(k) - shown(k - 1)| <= |r(k) - r(k - 1)| + |J| dt/B, because s falls by dt/B a tick at most.  r(k) is
    what the *old* states say at k, asked for before the new one is noted: an accelerated estimate is fastest there.
    """
    rng = np.random.default_rng(seed)
    known, sudden = Known(SLIDER, mode), Known(SLIDER, mode, blend_s=0.0)
    knots, speeds = rng.normal(scale=0.02, size=60), rng.normal(scale=0.3, size=60)
    shown, raw, steps, jumps = [], [], [], []
    for tick in range(300):
        i, now = tick // 5, tick * DT
        steps.append(abs(sudden.x(now) - raw[-1]) if raw else 0.0)
        jumps.append(abs(known.arrays.jump[0]))
        if tick == 0 or (tick % 5 == 0 and rng.random() < 0.7):
            for each in (known, sudden):
                each.note(i, now, [knots[i]], [speeds[i]], now)
        shown.append(known.x(now))
        raw.append(sudden.x(now))
    bound = np.array(steps) + np.array(jumps) * DT / BLEND_S
    assert (np.abs(np.diff(shown)) <= bound[1:] + 1e-12).all()
    if mode == "hold":
        assert np.abs(np.diff(raw)).max() > 2.0 * np.abs(np.diff(shown)).max()


@pytest.mark.parametrize(("begin", "end"), [("hold", "extrapolate"), ("interpolate", "hold")])
def test_a_change_of_mode_does_not_jump(begin, end):
    known = Known(SLIDER, begin)
    for k in range(3):
        known.note(k, 0.005 * k, [0.1 * k], [20.0], 0.005 * k)
    known.shown(0.012)
    before = known.x(0.012)
    change_entry(known.at, known.block.address, ESTIMATES.index(end), 0.012)
    assert known.x(0.012) == pytest.approx(before, abs=1e-12)
    assert abs(known.x(0.012 + BLEND_S) - before) > 0.01


# ---- what comes late, twice, or wrong


@EXAMPLES
@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_a_late_or_repeated_state_never_takes_it_back(sequences):
    known, newest, late = Known(SLIDER, "hold", blend_s=0.0), -1, 0
    for i, sequence in enumerate(sequences):
        assert known.note(sequence, sequence * DT, [float(sequence)], [0.0], i * DT) == (sequence > newest)
        late += sequence <= newest
        newest = max(newest, sequence)
        assert known.x(i * DT) == newest
    assert known.arrays.sequence == newest
    assert known.arrays.late == late
    assert known.arrays.noted == len(sequences) - late


def test_a_state_that_is_none_is_refused_and_changes_nothing():
    rng = np.random.default_rng(6)
    q, v, _ = random_state(rng, FOREST)
    known = Known(FOREST, "extrapolate")
    known.note(0, 0.0, q, v, 0.0)
    before = known.shown(0.01)
    not_a_number, not_unit, infinite = q.copy(), q.copy(), v.copy()
    not_a_number[3] = np.nan
    not_unit[3:7] *= 1.1  # the first joint is free
    infinite[-1] = np.inf
    for wrong in ((0.005, not_a_number, v), (0.005, not_unit, v), (0.005, q, infinite), (np.nan, q, v)):
        assert not known.note(1, *wrong, 0.005)
    assert known.arrays.refused == 4
    assert (known.shown(0.01)[0] == before[0]).all()
    assert known.note(1, 0.005, q, v, 0.005)


def test_states_of_the_same_moment_have_no_acceleration():
    known = Known(SLIDER, "extrapolate", blend_s=0.0)
    known.note(0, 0.0, [0.0], [1.0], 0.0)
    known.note(1, 0.0, [0.0], [2.0], 0.001)
    assert known.x(0.01) == pytest.approx(0.02)
    known.note(2, -0.5, [0.0], [2.0], 0.002)  # a clock that was set back
    assert known.x(0.01) == pytest.approx(2.0 * CAP_S)


def test_the_first_state_is_shown_at_once_and_so_is_the_first_after_forgetting():
    """Another server may count from 0 again."""
    known = Known(SLIDER, "extrapolate")
    assert known.x(3.0) == 0.0
    known.note(100, 3.0, [0.4], [0.0], 3.0)
    assert known.x(3.0) == 0.4
    known.note(101, 3.004, [0.5], [0.0], 3.004)
    forget_entry(known.block.address)
    assert known.note(0, 3.005, [-1.0], [0.0], 3.005)
    assert known.x(3.005) == -1.0


@pytest.mark.parametrize(
    ("options", "says"),
    [({"mode": "guess"}, "mode is 'guess'"), ({"cap_s": -1.0}, "cap_s is -1"), ({"blend_s": np.nan}, "blend_s is nan")],
)
def test_wrong_settings_are_refused_in_one_line(options, says):
    with pytest.raises(ValueError, match=says):
        open_estimate(SLIDER, **options)
