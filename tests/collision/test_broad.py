"""The broad phase finds what looking at all pairs finds, in an order that no earlier call changes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenes import SOLIDS, body, pose, random_rotation

import palpate as pp
from palpate.collision.facade import Collider

N = 12
KINDS = list(SOLIDS)


def scene() -> pp.Model:
    parts = [body(f"b{k}", SOLIDS[KINDS[k % 4]]) for k in range(N)]
    parts += [body(f"s{k}", SOLIDS[KINDS[k]], fixed=True, at=pp.Transform(p=(0.1 * k, 0.0, 0.0))) for k in range(4)]
    return pp.compile([*parts, pp.models.plane((0, 0, -0.1))])


@pytest.fixture(scope="module")
def collider():
    return Collider(scene(), margin=0.01)


def scattered(seed: int, spread: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([pose(random_rotation(rng), rng.uniform(-spread, spread, 3)) for _ in range(N)])


def summary(found):
    return [(c.body_a, c.body_b, c.feature, c.gap, *c.point) for c in found]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.2, 0.4]))
def test_same_pairs_as_all_against_all(collider, seed, spread):
    q, model = scattered(seed, spread), collider.model
    names = list(model.body_names[1:])
    expected = set()
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            if (a[0] == "b" or b[0] == "b") and collider.distance(q, a, b).gap < 0.01:
                expected.add(frozenset((a, b)))
    assert {frozenset((c.body_a, c.body_b)) for c in collider.contacts(q)} == expected


@pytest.fixture(scope="module")
def lopsided():
    """Bodies of two or three solids, none of them at the origin: the balls around them are not where they are."""
    rng = np.random.default_rng(7)

    def solids(k):
        places = [pp.Transform(random_rotation(rng), rng.normal(scale=0.1, size=3)) for _ in range(2 + k % 2)]
        return [replace(SOLIDS[KINDS[(k + n) % 4]], placement=place) for n, place in enumerate(places)]

    return Collider(pp.compile([body(f"b{k}", *solids(k)) for k in range(N)]), margin=0.01)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.4, 0.8]))
def test_same_pairs_of_lopsided_bodies(lopsided, seed, spread):
    q, names = scattered(seed, spread), lopsided.model.body_names[1:]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    expected = {frozenset(pair) for pair in pairs if lopsided.distance(q, *pair).gap < 0.01}
    assert {frozenset((c.body_a, c.body_b)) for c in lopsided.contacts(q)} == expected


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_outcome_does_not_depend_on_what_was_asked_before(collider, before, now):
    q = scattered(now, 0.2)
    fresh = summary(Collider(collider.model, margin=0.01).contacts(q))
    collider.contacts(scattered(before, 0.3))
    assert summary(collider.contacts(q)) == fresh


def test_not_a_number_is_refused_and_far_away_is_quiet(collider):
    q = scattered(1, 0.2)
    q[0] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        collider.contacts(q)
    q = scattered(1, 0.2)
    q[0::7] += 1e6 * np.arange(1, N + 1)
    q[2::7] = 1e6
    assert collider.contacts(q) == []
