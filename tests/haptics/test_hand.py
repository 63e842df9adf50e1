"""The person's hand: its path, its buttons, and what it does not accept."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate.haptics.hand import Hand, HandArrays, grips_at, intent_at, presses_at
from palpate.jit import Block, block_loader, entry

pytestmark = pytest.mark.nojit

load = block_loader((HandArrays, True))


@entry("intp, float64, float64[::1], float64[::1]")
def hand_entry(address, t, x, v):
    (hand,) = load(address)
    a, b = intent_at(hand, t)
    for i in range(3):
        x[i], v[i] = a[i], b[i]
    return (1 if grips_at(hand, t) else 0) + (2 if presses_at(hand, t) else 0)


class Asked:
    """A hand's path, one time after the other."""

    def __init__(self, hand: Hand) -> None:
        self.arrays = hand.arrays()
        self.block = Block(self.arrays)

    def __call__(self, t):
        """(x_d, x_d', whether it grips, whether it presses)"""
        x, v = np.empty(3), np.empty(3)
        bits = hand_entry(self.block.address, float(t), x, v)
        return x, v, bool(bits & 1), bool(bits & 2)


points = st.tuples(*[st.floats(-0.1, 0.1)] * 3)
paths = st.lists(st.tuples(st.floats(0.05, 2.0), points), min_size=1, max_size=6).map(
    lambda steps: tuple(zip(np.cumsum([t for t, _ in steps]).tolist(), [p for _, p in steps], strict=True))
)
motions = st.sampled_from(["minimum-jerk", "straight"])


@settings(max_examples=60, deadline=None)
@given(paths, motions)
def test_the_hand_is_at_its_way_points_in_time_and_rests_outside(path, motion):
    asked = Asked(Hand(intent=path, motion=motion))
    for time, point in path:
        assert asked(time)[0] == pytest.approx(point, abs=1e-12)
    for time, point in ((-1.0, path[0][1]), (path[-1][0] + 3.0, path[-1][1])):
        x, v, _, _ = asked(time)
        assert x.tolist() == list(point)
        assert v.tolist() == [0, 0, 0]


@settings(max_examples=60, deadline=None)
@given(paths, motions, st.floats(0.0, 1.0))
def test_the_velocity_is_the_derivative_of_the_path(path, motion, where):
    asked = Asked(Hand(intent=path, motion=motion))
    h = 1e-6  # its error is h^2/6 times the third derivative, at most 60 * 0.2 m / (0.05 s)^3
    t = path[0][0] + where * (path[-1][0] - path[0][0])
    if min(abs(t - time) for time, _ in path) < 2 * h:
        return  # straight paths have corners
    difference = (asked(t + h)[0] - asked(t - h)[0]) / (2 * h)
    assert asked(t)[1] == pytest.approx(difference, abs=1e-6 * max(1.0, np.abs(difference).max()))


@settings(max_examples=40, deadline=None)
@given(paths)
def test_minimum_jerk_rests_at_every_way_point(path):
    asked = Asked(Hand(intent=path))
    for time, _ in path:
        for side in (-1e-7, 1e-7):
            assert np.abs(asked(time + side)[1]).max() < 1e-6


def test_half_way_in_time_is_half_way_in_space_at_15_eighths_of_the_mean_speed():
    """The known peak of the minimum-jerk profile."""
    x, v, _, _ = Asked(Hand(intent=((1.0, (0, 0, 0)), (3.0, (0.08, 0, -0.04)))))(2.0)
    assert x == pytest.approx([0.04, 0, -0.02])
    assert v == pytest.approx([15 / 8 * 0.04, 0, -15 / 8 * 0.02])


def test_the_button_is_pressed_during_holds_until_the_hand_lets_go():
    asked = Asked(Hand(holds=((0.5, 1.0), (2.0, 4.0)), release_s=3.0))
    for time, grips, presses in (
        (0.0, 1, 0),
        (0.5, 1, 1),
        (0.999, 1, 1),
        (1.0, 1, 0),
        (2.5, 1, 1),
        (3.0, 0, 0),
        (3.5, 0, 0),
    ):
        assert asked(time)[2:] == (bool(grips), bool(presses))
    assert Asked(Hand())(1e9)[2]  # never, unless told


def test_its_arrays_are_read_only():
    hand = Hand(holds=((0.0, 1.0),)).arrays()
    for array in hand.arrays().values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        hand.mass = 1.0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mass_kg": 0.0}, "mass_kg must be positive"),
        ({"mass_kg": math.nan}, "mass_kg must be a finite number"),
        ({"damping_Ns_m": -1.0}, "damping_Ns_m must be zero or more"),
        ({"grip_N_m": math.inf}, "grip_N_m must be a finite number"),
        ({"stiffness_N_m": "stiff"}, "stiffness_N_m must be a finite number"),
        ({"intent": ()}, "at least one way point"),
        ({"intent": ((0.0, (0, 0)),)}, "three finite numbers"),
        ({"intent": (0.0, (0, 0, 0))}, "a way point is"),
        ({"intent": ((0.0, (0, 0, math.nan)),)}, "three finite numbers"),
        ({"intent": ((1.0, (0, 0, 0)), (1.0, (0, 0, 1)))}, "times must increase"),
        ({"holds": ((1.0, 1.0),)}, "a hold ends at 1 s and begins at 1 s"),
        ({"holds": (1.0,)}, "a hold is"),
        ({"push_N": (1.0, math.inf, 0.0)}, "push_N must be three finite numbers"),
        ({"release_s": math.nan}, "release_s must be a time"),
        ({"motion": "jerky"}, 'motion is "minimum-jerk" or "straight"'),
    ],
)
def test_an_impossible_hand_is_refused_in_one_line(wrong, said):
    with pytest.raises(ValueError, match=said) as caught:
        Hand(**wrong)
    assert "\n" not in str(caught.value)


def test_lists_and_arrays_are_taken_and_the_hand_stays_comparable():
    hand = Hand(intent=[(0, np.zeros(3)), (1, [0.1, 0, 0])], holds=[[0, 1]], push_N=np.ones(3))
    assert hand == Hand(intent=((0.0, (0.0, 0.0, 0.0)), (1.0, (0.1, 0.0, 0.0))), holds=((0.0, 1.0),), push_N=(1, 1, 1))
    assert hash(hand) == hash(Hand(**{f: getattr(hand, f) for f in hand.__dataclass_fields__}))
