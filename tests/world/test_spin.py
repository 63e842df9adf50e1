"""Things that spin: free, on a pivot, on a floor."""

import math

import numpy as np
import pytest
from motions import set_velocity, spin, total

import palpate as pp
from palpate.scenes.balls import ball_on_plane
from palpate.scenes.spinning import (
    TOP_HEIGHT_M,
    TOP_KG,
    spinning_top,
    steady_precession,
    tippe_top,
    top_inertia,
)  # fmt: skip

G = 9.81


def test_a_free_spinning_box_keeps_its_energy_and_the_size_of_its_momentum():
    """The midpoint rule: to rounding over 10 s, through the flips about the middle axis."""
    world = pp.World(pp.models.box((0.1, 0.2, 0.3), mass=1.0), gravity=(0, 0, 0))
    set_velocity(world, "box", angular=(0.01, 10.0, 0.02))
    energy, L = world.energy.kinetic, pp.momentum(world.model, world.q, world.v)[:3]
    flips, was = 0, 1.0
    for _ in range(500):
        world.step(20)
        y = world.pose("box")[1, 1]
        flips, was = flips + (y * was < 0), y
    assert flips >= 2  # it does tumble
    assert world.energy.kinetic == pytest.approx(energy, rel=1e-10)
    after = pp.momentum(world.model, world.q, world.v)[:3]
    assert np.linalg.norm(after) == pytest.approx(np.linalg.norm(L), rel=1e-10)
    assert after == pytest.approx(L, abs=1e-4 * np.linalg.norm(L))  # its direction to the second order of the step


def test_a_thrown_body_follows_its_parabola_exactly():
    world = pp.World(pp.models.box((0.1, 0.2, 0.3), mass=1.0, at=(0, 0, 50)))
    set_velocity(world, "box", (1, 2, 3), (4, -5, 6))
    world.step(2000)
    assert world.pose("box")[:3, 3] == pytest.approx((2, 4, 50 + 6 - 0.5 * G * 4), abs=1e-9)


def azimuth(world):
    axis = world.pose("top")[:3, 2]
    return math.atan2(axis[1], axis[0])


def precession(spin_rate, rate_hz, seconds=2.0):
    """Mean rate at which a top set on its steady course circles; on the way its tilt must not change."""
    world = spinning_top(spin_rate, 30.0, rate_hz=rate_hz).world
    angles, energy = [0.0], total(world.energy)
    for _ in range(40):
        world.step(round(seconds / 40 * rate_hz))
        angles.append(azimuth(world))
        assert math.acos(world.pose("top")[2, 2]) == pytest.approx(math.radians(30.0), abs=math.radians(0.1))
    assert total(world.energy) == pytest.approx(energy, rel=1e-5)
    return np.unwrap(angles)[-1] / world.time


@pytest.mark.parametrize(("spin_rate", "rate_hz"), [(100.0, 2000.0), (200.0, 4000.0), (400.0, 8000.0)])
def test_a_heavy_top_circles_at_its_steady_rate(spin_rate, rate_hz):
    """Steady precession: I1 p^2 cos - I3 w3 p + m g l = 0; neither tilt nor energy change."""
    assert precession(spin_rate, rate_hz) == pytest.approx(steady_precession(spin_rate, math.radians(30.0)), rel=2e-3)


def test_a_spinning_top_is_right_to_the_second_order_of_the_step():
    p = steady_precession(200.0, math.radians(30.0))
    coarse, fine = (abs(precession(200.0, rate_hz) / p - 1) for rate_hz in (1000.0, 2000.0))
    assert coarse < 0.02
    assert fine < coarse / 3


def test_a_fast_top_circles_at_m_g_l_by_I3_w3():
    """The rate of the textbook, which a fast top approaches: within 1 % at 600 rad/s."""
    w3 = 600.0
    world = spinning_top(w3, 60.0, rate_hz=8000.0).world
    _, along = top_inertia()
    world.step(8000)
    assert azimuth(world) % (2 * math.pi) == pytest.approx(TOP_KG * G * TOP_HEIGHT_M / (along * w3), rel=1e-2)


def test_a_spherical_pendulum_neither_gains_nor_loses_energy():
    """Bounded over 20 s: the error of each swing does not add up."""
    world = spinning_top(0.001, 30.0, precession=0.0).world
    world.q[world.model.q_index["top"]] = pp.Rotation.about((0, 1, 0), math.pi - 0.8).wxyz
    world.v[:] = (0.0, 0.0, 0.0)
    bottom = -TOP_KG * G * TOP_HEIGHT_M
    start = total(world.energy)
    swing = start - (bottom + TOP_KG * G * 0.12)
    errors = []
    for _ in range(200):
        world.step(100)
        errors.append((total(world.energy) - start) / swing)
    assert np.abs(errors).max() < 0.05
    assert abs(np.mean(errors[:50]) - np.mean(errors[-50:])) < 5e-3


def jellett(world):
    """L . r of the top: angular momentum about the centre of mass, by the vector from there to the contact."""
    L = pp.momentum(world.model, world.q, world.v)[:3]
    foot = world.pose("top")[:3, 3] - (0, 0, 0.05)
    return L @ (foot - pp.center_of_mass(world.model, world.q))


def test_jelletts_invariant_of_a_sliding_spinning_top():
    """Friction at a point of a sphere cannot change L . r, whether it slides or rolls, while the top turns over."""
    world = tippe_top().world
    start, modes = jellett(world), set()
    for _ in range(200):
        world.step(10)
        modes |= {c.mode for c in world.contacts}
        assert jellett(world) == pytest.approx(start, rel=1e-4)
    assert "slide" in modes


@pytest.mark.parametrize("offset", [0.0, 0.003, 0.01, 0.03])
def test_a_ball_with_its_weight_off_the_middle_stays_on_the_floor_and_gains_no_energy(offset):
    """Slow enough, its weight never lifts it: the middle keeps its height while all of it spins, slides and rolls."""
    world = tippe_top(spin=60.0, offset=offset).world
    energy = total(world.energy)
    for _ in range(150):
        world.step(10)
        assert world.pose("top")[2, 3] == pytest.approx(0.05, abs=1e-7)
        assert total(world.energy) <= energy * (1.0 + 1e-6)
        energy = total(world.energy)


def test_a_tippe_top_turns_over():
    """Spun fast enough, it lifts its weight above its middle: friction does what energy alone would not."""
    world = tippe_top().world
    start = world.energy.potential
    highest = start
    for _ in range(400):
        world.step(10)
        highest = max(highest, world.energy.potential)
    gain = highest - start
    assert gain > 0.8 * 0.2 * G * (0.01 + 0.01 * math.cos(math.radians(10)))


def test_a_ball_spinning_about_the_vertical_keeps_its_spin():
    """A point of contact has no moment about its normal: Jellett's invariant of a homogeneous ball."""
    world = ball_on_plane(0.2).world
    set_velocity(world, "ball", (1.0, 0.5, 0), (3.0, 0.0, 40.0))
    world.step(1000)
    assert spin(world, "ball")[2] == pytest.approx(40.0, rel=1e-6)
