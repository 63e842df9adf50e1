"""Where a sweep looks: what each kind of sample promises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palpate.experiments.studies.sweeps import samples


@given(st.integers(1, 200), st.integers(0, 2**40), st.floats(-1e3, 1e3), st.floats(1e-3, 1e6))
def test_every_interval_of_a_latin_hypercube_has_exactly_one_sample(count, seed, low, width):
    factor = samples.latin(count, {"a": [low, low + width], "b": {"low": 1e-3, "high": 1e3, "log": True}}, seed)
    a = (np.array(factor.columns[0]) - low) / width
    b = np.log(np.array(factor.columns[1]) / 1e-3) / math.log(1e6)
    for share in (a, b):
        # a sample at the very end of its interval may round into the next
        nearest = np.sort(share) * count - np.arange(count)
        assert (nearest > -1e-6).all()
        assert (nearest < 1.0 + 1e-6).all()


@pytest.mark.parametrize("draw", [samples.random, samples.latin])
def test_a_further_parameter_changes_nothing_in_the_others(draw):
    few = draw(50, {"a": [0, 1], "b": [2, 3]}, 7)
    more = draw(50, {"b": [2, 3], "c": [4, 5], "a": [0, 1]}, 7)
    for name in "ab":
        assert few.columns[few.names.index(name)] == more.columns[more.names.index(name)]
    assert more.columns[0] != more.columns[1]


@pytest.mark.parametrize("draw", [samples.random, samples.latin])
def test_samples_lie_within_their_ranges_and_are_those_of_their_seed(draw):
    ranges = {"a": [-2.0, 5], "n": {"low": 1, "high": 6, "whole": True}, "w": {"choices": ["x", "y", True]}}
    a, n, w = draw(300, ranges, 1).columns
    assert all(-2.0 <= x <= 5.0 for x in a)
    assert set(n) == {1, 2, 3, 4, 5, 6}
    assert set(w) == {"x", "y", True}
    assert draw(300, ranges, 1) == draw(300, ranges, 1) != draw(300, ranges, 2)


def test_a_latin_hypercube_takes_choices_and_whole_numbers_equally_often():
    n, w = samples.latin(60, {"n": {"low": 1, "high": 6, "whole": True}, "w": {"choices": list("abc")}}, 3).columns
    assert [n.count(k) for k in range(1, 7)] == [10] * 6
    assert [w.count(k) for k in "abc"] == [20] * 3


def test_an_axis_is_a_list_or_spread_evenly():
    assert samples.axis("k", {"from": 1, "to": 100, "count": 3, "log": True}).columns[0] == pytest.approx([1, 10, 100])
    assert samples.axis("k", {"from": 0, "to": 1, "count": 3}).columns == ([0.0, 0.5, 1.0],)
    assert samples.axis("k", np.arange(3)).columns == ([0, 1, 2],)
