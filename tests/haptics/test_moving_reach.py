"""A reach whose device is carried: its frame moves, its workspace has an edge, and its force may be given in part."""

import math

import numpy as np
import pytest

import palpate as pp
from palpate.haptics.devices.simulation.playback import HandRecording, Playback
from palpate.spatial.placement import Rotation, Transform

DT = 1e-3
STILL = (0.0, 0.0, 0.0)
EDGE = {"edge_m": 0.0955, "edge_N_m": 50.0, "edge_N": 1.5}  # mobile display, 5.2
PLACES = [Transform(), Transform(Rotation.rpy(0.3, -0.4, 2.0), (1.0, -2.0, 0.7))]


def hand(*rows) -> Playback:
    """A recorded hand through (time, position), open; after the last row it rests."""
    times, places = zip(*rows, strict=True)
    device = Playback(HandRecording(times, places, None, np.zeros(len(times), dtype=int)))
    device.open()
    return device


class Reached:
    """A device that touches, in simulated time; `arrays` are those of its reach."""

    def __init__(self, device, *bodies, **reach) -> None:
        far = pp.models.box((0.1, 0.1, 0.1), at=(9.0, 9.0, 9.0), fixed=True, name="far")
        world = pp.World([far, *bodies], dt=DT, gravity=STILL)
        self.session = pp.touch(world, device, "push", **reach)
        self.arrays = self.session.reaching[0].arrays
        self.arrays.real_time = 0
        self._run = pp.Run(self.session.simulation)

    def go(self, seconds=DT) -> "Reached":
        self._run.seconds(seconds)
        return self

    @property
    def felt(self) -> np.ndarray:
        """World axes, before the guard."""
        return np.array(self.arrays.felt)

    @property
    def sent(self) -> np.ndarray:
        return np.array(self.arrays.sent)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("away_mm", "force_N"), [(0.0, 0.0), (95.5, 0.0), (96.5, 0.05), (105.5, 0.5), (125.5, 1.5), (300.0, 1.5)]
)
def test_beyond_the_edge_of_its_workspace_the_hand_is_pushed_back(place, away_mm, force_N):
    """Mobile display, 5.2: a spring from 95.5 mm on, 0.05 N/mm, at most 1.5 N; inward in the device's frame."""
    direction = np.array([2.0, -1.0, 2.0]) / 3.0
    at = tuple(1e-3 * away_mm * direction)
    reached = Reached(hand((0.0, STILL), (0.6, at), (9.0, at)), place=place, **EDGE).go(1.6)
    expected = -force_N * np.array(place.R.matrix()) @ direction
    assert reached.felt == pytest.approx(expected, abs=1e-9)
    assert reached.sent == pytest.approx(expected, abs=1e-9)  # the guard has let it come


def test_without_an_edge_there_is_none():
    reached = Reached(hand((0.0, (0.5, 0.0, 0.0)), (9.0, (0.5, 0.0, 0.0)))).go(1.0)
    assert reached.felt.tolist() == [0.0, 0.0, 0.0]


def test_an_edge_that_is_not_one_is_told_in_a_line():
    for wrong, told in (({"edge_m": 0.0}, "edge_m must be positive"), ({"edge_m": math.nan}, "edge_m must be positive"),
                        ({"edge_N": -1.0}, "edge_N must be positive and finite")):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            pp.Reach(**wrong)


@pytest.mark.parametrize("share", [1.0, 0.4, 0.0])
def test_a_share_is_a_share_of_all_that_is_felt(share):
    """Of a wall and of the edge together."""
    wall = pp.models.box((0.2, 0.4, 0.4), at=(0.2, 0.0, 0.0), fixed=True, name="wall")
    at = (0.103, 0.0, 0.0)
    surface = pp.Surface(400.0, 0.0, 0.0, 0.0)
    reached = Reached(hand((0.0, (0.05, 0.0, 0.0)), (0.3, at), (9.0, at)), wall, surface=surface, **EDGE)
    reached.arrays.share = share
    reached.go(1.2)
    whole = -400.0 * 0.003 - 50.0 * 0.0075
    assert reached.felt == pytest.approx([share * whole, 0.0, 0.0], abs=1e-3)


# ---- a frame that moves


def carried(t):
    """Where the device's origin is and how it is turned: o, o', R, W."""
    o = np.array([0.3 * math.sin(2.0 * t), 0.2 * t, 0.1 * math.cos(3.0 * t)])
    v = np.array([0.6 * math.cos(2.0 * t), 0.2, -0.3 * math.sin(3.0 * t)])
    psi, spin = 0.5 * math.sin(1.5 * t), 0.75 * math.cos(1.5 * t)
    return o, v, Rotation.rpy(0.0, 0.0, psi), (0.0, 0.0, spin)


def put(arrays, t):
    o, v, R, spin = carried(t)
    arrays.frame[0], arrays.frame_origin[0] = np.array(R.matrix()).ravel(), o
    arrays.frame_turn[:4] = R.wxyz
    arrays.frame_velocity, arrays.frame_spin = tuple(v), spin


def test_the_velocity_of_a_hand_on_a_carried_device_is_that_of_its_way_in_the_world():
    """x' = o' + R x_dev' + W x (x - o), against differences of x."""
    ends = (0.05, -0.03, 0.02), (-0.04, 0.05, 0.0)
    reached = Reached(hand((0.0, ends[0]), (2.0, ends[1]), (3.0, ends[1])))
    ways, velocities = [], []
    for k in range(1500):
        put(reached.arrays, k * DT)
        reached.go()
        ways.append(np.array(reached.arrays.aim))
        velocities.append(np.array(reached.arrays.hip_velocity))
    ways, velocities = np.array(ways), np.array(velocities)
    differences = (ways[2:] - ways[:-2]) / (2.0 * DT)
    assert np.linalg.norm(differences, axis=1).max() > 0.5
    # what a recording says of its own velocity is filtered at its beginning
    assert velocities[201:-1] == pytest.approx(differences[200:], abs=1e-4)


def test_a_wall_damps_a_hand_that_is_carried_into_it():
    """The device's own reading rests; its base moves at 0.05 m/s: F = K d + B v."""
    wall = pp.models.box((0.4, 0.4, 0.4), at=(0.25, 0.0, 0.0), fixed=True, name="wall")
    reached = Reached(hand((0.0, STILL), (9.0, STILL)), wall, surface=pp.Surface(500.0, 4.0, 0.0, 0.0))
    reached.go(1.0)
    for k in range(1100):
        x = 0.05 * k * DT
        reached.arrays.frame_origin[0], reached.arrays.frame_velocity = (x, 0.0, 0.0), (0.05, 0.0, 0.0)
        reached.go()
        if x > 0.0505:
            assert reached.felt[0] == pytest.approx(-(500.0 * (x - 0.05) + 4.0 * 0.05), abs=0.02)


def test_friction_drags_a_hand_that_is_carried_along_a_wall():
    """Carried across by its base, it slides: the force across is mu times that of the wall."""
    floor = pp.models.plane(name="floor")
    at = (0.0, 0.0, -0.004)
    reached = Reached(hand((0.0, (0.0, 0.0, 0.01)), (0.5, at), (9.0, at)), floor,
                      surface=pp.Surface(500.0, 0.0, 0.4, 0.3))  # fmt: skip
    reached.go(1.2)
    for k in range(400):
        reached.arrays.frame_origin[0], reached.arrays.frame_velocity = (0.1 * k * DT, 0.0, 0.0), (0.1, 0.0, 0.0)
        reached.go()
    assert reached.felt == pytest.approx([-0.3 * 2.0, 0.0, 2.0], abs=0.02)
