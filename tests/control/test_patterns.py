"""Touch patterns: recognised on touches that were not used to tune them, surely where they are right, and in time."""

import functools
import math
from itertools import pairwise

import numpy as np
import pytest

from palpate import jit
from palpate.control.felt.patterns import PATTERNS, listen, new_felt, recognise
from palpate.control.felt.stream import look_at
from palpate.experiments.touches import PATTERNS as MADE
from palpate.experiments.touches import Touch, bump, plateau, rising, touches
from palpate.jit import Block

SEEDS = (101, 102, 103)  # thresholds were chosen on others
ROWS = 200
UP = np.array([0.0, 0.0, 1.0])
compiled = pytest.mark.skipif(jit.DISABLED, reason="hundreds of windows")


@functools.cache
def judged(family, each, seed):
    """(what was meant, what was said, how surely) of each."""
    return [(t.name, *recognise(t.force, t.point, t.normal)) for t in touches(family, each, seed)]


def share_right(answers):
    return sum(meant == said for meant, said, _ in answers) / len(answers)


def one(shape, way=-UP, peak=8.0, point=(0.0, 0.0, 0.0)):
    """Force (n, 3) and points (n, 3) of a shape (n,)."""
    return peak * shape[:, None] * way, np.tile(point, (len(shape), 1)).astype(float)


def test_touches_are_made_of_every_pattern():
    assert MADE == PATTERNS


# ---- the goals


@compiled
@pytest.mark.parametrize("seed", SEEDS)
def test_plain_touches_are_recognised(seed):
    """avatars.md 10.31: at least 98 %."""
    assert share_right(judged("plain", 50, seed)) >= 0.98


@compiled
@pytest.mark.parametrize("seed", SEEDS)
def test_touches_under_stress_are_recognised(seed):
    """avatars.md 10.31: at least 80 %, the goal there is 90 %.  Without 'none', which it does not count."""
    assert share_right([x for x in judged("stress", 50, seed) if x[0] != "none"]) >= 0.90


@pytest.mark.repeated
@compiled
@pytest.mark.parametrize("seed", SEEDS)
def test_touches_through_other_grips_and_devices_are_recognised(seed):
    """At least 95 %."""
    assert share_right(judged("devices", 15, seed)) >= 0.95


@pytest.mark.repeated
@compiled
@pytest.mark.parametrize("family", ["plain", "devices"])
def test_no_pattern_is_given_up_for_the_others(family):
    answers = [x for seed in SEEDS for x in judged(family, 15 if family == "devices" else 50, seed)]
    for name in PATTERNS:
        assert share_right([x for x in answers if x[0] == name]) >= 0.93, name


# ---- sureness


@compiled
def test_right_answers_are_surer_than_wrong_ones():
    """Of a right and a wrong answer, drawn at random, the right one is the surer in at least 3 of 4 draws."""
    answers = [x for seed in SEEDS for family in ("plain", "stress") for x in judged(family, 50, seed)]
    assert all(0.0 <= sure < 1.0 for _, _, sure in answers)
    right = np.array([sure for meant, said, sure in answers if meant == said])
    wrong = np.array([sure for meant, said, sure in answers if meant != said])
    assert len(wrong) > 20
    assert (right[:, None] > wrong[None, :]).mean() > 0.75
    assert np.median(right) > np.median(wrong) + 0.1


@compiled
def test_the_surer_half_of_the_answers_is_right_more_often():
    answers = sorted((x for seed in SEEDS for x in judged("stress", 50, seed)), key=lambda x: x[2])
    half = len(answers) // 2
    assert share_right(answers[half:]) > share_right(answers[:half]) + 0.03


@compiled
def test_sureness_falls_to_zero_where_one_answer_becomes_another():
    """A press that lasts ever longer is a tap, then a push, and in between the answer is unsure."""
    t = np.arange(1000) * 1e-3
    said, sure = [], []
    for width in np.arange(0.06, 0.6, 0.004):
        name, sureness = recognise(*one(plateau(t, 0.2, width, 0.3, 0.3)), UP)
        said.append(name)
        sure.append(sureness)
    change = said.index("push")
    assert said == ["tap"] * change + ["push"] * (len(said) - change)
    assert min(sure) == min(sure[change - 1 : change + 1]) < 0.2
    assert sure[0] > 0.5
    assert sure[-1] > 0.5


# ---- what must not matter


@compiled
@pytest.mark.parametrize("family", ["plain", "stress"])
def test_turning_or_moving_the_bodys_axes_changes_nothing(family):
    rng = np.random.default_rng(5)
    for t in touches(family, 6, 104):
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        Q *= np.sign(np.linalg.det(Q))
        turned = recognise(t.force @ Q.T, t.point @ Q.T + rng.normal(size=3), Q @ t.normal)
        plain = recognise(t.force, t.point, t.normal)
        assert turned[0] == plain[0]
        assert turned[1] == pytest.approx(plain[1], abs=1e-6)


@compiled
def test_a_push_turned_round_is_a_pull():
    for t in touches("plain", 10, 105):
        if t.name in ("push", "pull"):
            other = {"push": "pull", "pull": "push"}[t.name]
            assert recognise(-t.force, t.point, t.normal)[0] == other


@compiled
@pytest.mark.parametrize("rate_hz", [500.0, 2000.0, 4000.0])
def test_the_rate_of_the_tick_does_not_matter(rate_hz):
    for t in touches("plain", 4, 106):
        at = np.arange(round(rate_hz)) * 1000.0 / rate_hz
        force, point = (np.stack([np.interp(at, np.arange(1000), x) for x in a.T], axis=1) for a in (t.force, t.point))
        assert recognise(force, point, t.normal, rate_hz)[0] == recognise(t.force, t.point, t.normal)[0] == t.name


@compiled
def test_ticks_that_are_not_finite_are_left_out():
    t = next(x for x in touches("plain", 1, 107) if x.name == "push")
    force, point = t.force.copy(), t.point.copy()
    force[300], point[500], force[700, 1] = np.nan, np.inf, -np.inf
    assert recognise(force, point, t.normal)[0] == "push"
    assert recognise(np.full((1000, 3), np.nan), point, t.normal)[0] == "none"


@compiled
def test_where_nothing_touches_the_point_does_not_matter():
    """Frames of a hand that does nothing have it at the origin."""
    t = np.arange(1000) * 1e-3
    force, point = one(bump(t, 0.3, 0.12, 1.0), point=(0.5, 0.1, 1.2))
    point[np.linalg.norm(force, axis=1) == 0.0] = 0.0
    assert recognise(force, point, UP)[0] == "tap"


# ---- in the tick: when it is said


def stream(*parts, peak=8.0, way=-UP, seconds=4.0):
    """What is heard of (begin [s], length [s]) presses."""
    t = np.arange(round(seconds * 1000)) * 1e-3
    shape = sum(plateau(t, begin, length, 0.3, 0.3) for begin, length in parts)
    return listen(*one(shape, way, peak), UP)


@compiled
@pytest.mark.parametrize("width", [0.03, 0.08, 0.15])
def test_a_tap_is_said_once_when_no_second_one_came(width):
    """It waits for 0.6 s at most from its release."""
    (heard,) = stream((1.0, width))
    assert heard.name == "tap"
    assert 1.0 + width + 0.4 < heard.time_s <= 1.0 + width + 0.6


@compiled
@pytest.mark.parametrize("gap", [0.12, 0.25, 0.35, 0.44])
def test_a_double_tap_is_never_a_tap_first(gap):
    (heard,) = stream((1.0, 0.1), (1.1 + gap, 0.1))
    assert heard.name == "double tap"
    assert heard.time_s < 1.2 + gap + 0.1


@compiled
def test_taps_that_are_apart_are_taps():
    assert [x.name for x in stream((0.5, 0.1), (1.6, 0.1), (2.7, 0.1))] == ["tap"] * 3


@compiled
@pytest.mark.parametrize("name", ["push", "pull"])
def test_what_lasts_is_said_while_it_lasts_and_its_end_is_nothing_new(name):
    heard = stream((0.5, 2.5), way=UP if name == "pull" else -UP)
    assert [x.name for x in heard] == [name, "hold"]
    assert 0.5 < heard[0].time_s < 0.5 + 0.6
    assert heard[1].time_s < 0.5 + 1.5


@pytest.mark.repeated
@compiled
@pytest.mark.parametrize("family", ["plain", "devices"])
def test_the_last_word_on_a_touch_is_what_it_was(family):
    """Streams of three seconds, each with one touch; at least 95 %.  Before the last a shake may seem a pull."""
    made = touches(family, 20 if family == "plain" else 10, 108, whole=True)
    heard = [[x.name for x in listen(t.force, t.point, t.normal)] for t in made]
    right = [(said or ["none"])[-1] == t.name for t, said in zip(made, heard, strict=True)]
    assert np.mean(right) >= 0.95


@compiled
def test_a_shake_is_said_within_a_second():
    t = np.arange(3000) * 1e-3
    for hz in (1.6, 2.0, 3.0, 4.5):
        wave = np.sin(2 * np.pi * hz * (t - 0.5)) * rising(t, 0.5, 0.1)
        heard = listen(*one(wave, way=np.array([1.0, 0.0, 0.0])), UP)
        assert heard[-1].name == "shake"
        assert heard[-1].time_s < 0.5 + 1.0


@compiled
def test_a_sensor_with_a_bias_and_noise_says_nothing_by_itself():
    rng = np.random.default_rng(9)
    force = rng.normal(size=(20_000, 3)) * 0.5 + np.array([0.2, -0.1, 0.1])
    assert listen(force, np.zeros((20_000, 3)), UP) == []


# ---- features, against numpy


def rows_of(t: Touch):
    """Samples (200, 7) of 5 ms: force, point weighted with |f|, force along the normal."""
    f = t.force.reshape(ROWS, 5, 3)
    weight = np.linalg.norm(f, axis=2, keepdims=True)
    x = (weight * t.point.reshape(ROWS, 5, 3)).sum(axis=1) / weight.sum(axis=1)
    return np.hstack([f.mean(axis=1), x, (f.mean(axis=1) @ t.normal)[:, None]])


def turns(x, least):
    """How often a path turns by more than `least`, by its extremes: the definition, not the algorithm."""
    count, at, way = 0, 0, 0
    while True:
        rest = x[at:]
        drop = np.flatnonzero(np.maximum.accumulate(rest) - rest > least)
        climb = np.flatnonzero(rest - np.minimum.accumulate(rest) > least)
        ends = [(e[0], w) for e, w in ((drop, -1), (climb, 1)) if len(e) and w != way]
        if not ends:
            return count
        step, way = min(ends)
        count, at = count + 1, at + int(step)


def features(t: Touch):
    """The same by numpy, from the definitions at the top of features.py."""
    rows = rows_of(t)
    f, along = rows[:, :3].copy(), rows[:, 6].copy()
    d2 = (np.diff(f, 2, axis=0) ** 2).sum(axis=1)
    noise = math.sqrt(d2[d2 <= 3 * d2.mean()].mean() / 18)
    size = np.linalg.norm(f, axis=1)
    quiet = size < max(0.8, 0.15 * size.max(), 4 * noise)
    if quiet.sum() >= 10:
        bias = f[quiet].mean(axis=0)
        share = min(1.0, 0.5 / np.linalg.norm(bias))
        f, along = f - share * bias, along - share * along[quiet].mean()
    size = np.linalg.norm(f, axis=1)
    peak = size.max()
    begin, end = max(0.5, 0.25 * peak, 5.5 * noise), max(0.35, 0.12 * peak, 3 * noise)
    on, state = np.zeros(ROWS, dtype=bool), False
    for i in range(ROWS):
        on[i] = state = size[i] > (end if state else begin)
    where = np.flatnonzero(on)
    for a, b in pairwise(where):
        on[a:b] |= b - a <= 8  # 40 ms
    found = {"noise_N": noise, "peak_N": peak, "on_s": on.sum() * 5e-3}
    if not on.any():
        return found
    edges = np.flatnonzero(np.diff(np.r_[0, on.astype(int), 0]))
    g, s = f[on], size[on]
    V = np.linalg.eigh(np.cov(g.T, bias=True))[1] if len(g) > 1 else np.eye(3)
    first, last = np.flatnonzero(on)[[0, -1]]
    swing = (f @ V[:, -1])[max(first - 1, 0) : last + 2]
    sizes = {n: max((k for k in range(1, 64) if turns(swing, k / 64 * peak) >= n), default=0) / 64 for n in (3, 5)}
    where = rows[first : first + 3, 3:6].mean(axis=0)
    return found | {
        "width_s": max(size[a:b].sum() / size[a:b].max() for a, b in edges.reshape(-1, 2)) * 5e-3,
        "along": along[on].sum() / s.sum(), "one_way": np.linalg.norm(g.sum(axis=0)) / s.sum(),
        "unevenness": s.std() / s.mean(), "third": sizes[3], "fifth": sizes[5],
        "reach_m": np.linalg.norm(rows[on, 3:6] - where, axis=1).max(),
    }  # fmt: skip


@pytest.mark.nojit
@pytest.mark.parametrize("family", ["plain", "stress", "devices"])
def test_features_are_those_of_their_definitions(family):
    """All of them, on touches of every pattern; turns to the last halving."""
    felt = new_felt(1e-3)
    block = Block(felt)
    for t in touches(family, 1 if jit.DISABLED or family == "devices" else 8, 109):
        look_at(block.address, t.force, t.point, np.tile(t.normal, (1000, 1)))
        for name, value in features(t).items():
            if name in ("third", "fifth"):
                assert getattr(felt, name) == pytest.approx(value, abs=1 / 64 + 1e-9), (t.name, name)
            else:
                assert getattr(felt, name) == pytest.approx(value, rel=1e-6, abs=1e-9), (t.name, name)


# ---- the door


@pytest.mark.nojit
def test_a_wrong_call_is_told_what_is_wrong():
    force, point = np.zeros((100, 3)), np.zeros((100, 3))
    with pytest.raises(ValueError, match="force_N has shape"):
        recognise(np.zeros(100), point, UP)
    with pytest.raises(ValueError, match="point_m has shape"):
        recognise(force, np.zeros((99, 3)), UP)
    with pytest.raises(ValueError, match="normal has shape"):
        recognise(force, point, (1.0, 0.0))
    with pytest.raises(ValueError, match="no direction"):
        recognise(force, point, (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="rate_hz"):
        listen(force, point, UP, 10.0)


@pytest.mark.nojit
def test_no_touch_is_none():
    assert recognise(np.zeros((200, 3)), np.zeros((200, 3)), UP, 200.0)[0] == "none"
    assert recognise(np.zeros((0, 3)), np.zeros((0, 3)), UP) == ("none", pytest.approx(2 / 3))
