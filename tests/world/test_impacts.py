"""Blows: restitution, momentum, several at once."""

import math

import numpy as np
import pytest
from motions import G, momentum, random_solid, set_velocity, spin, total, velocity

import palpate as pp
from palpate.scenes.balls import bouncing_balls, cradle

WEIGHTLESS = (0.0, 0.0, 0.0)


def peaks(restitution, rate_hz, bounces=3):
    """Heights and times of the first peaks of a ball dropped from 1 m."""
    world = bouncing_balls((restitution,), rate_hz=rate_hz).world
    index, found, before = world.model.q_index["ball0"], [], (world.q[2], 0.0)
    rising = False
    while len(found) < bounces:
        world.step()
        z, v = world.q[index][2], velocity(world, "ball0")[2]
        if v > 0.0:
            rising = True
        elif rising:
            rising = False
            at = before[1] / (before[1] - v)  # between the steps where the velocity is zero
            found.append((z + 0.5 * v * v / G - 0.05, world.time - (1 - at) * world.dt))
        before = (z, v)
    return np.array(found).T


@pytest.mark.parametrize("restitution", [0.9, 0.6])
def test_a_ball_bounces_to_e_2n_of_its_height_at_the_times_it_should(restitution):
    """Bounce heights e^(2n) h; peaks at t0 (1 + 2 (e + ... + e^n) - e^n).

    First order in the step: an impact comes up to a step early, in which the ball would have fallen by v dt.
    """
    e, n = restitution, np.arange(1, 4)
    height = e ** (2 * n)
    fall = math.sqrt(2.0 / G)
    time = fall * (1 + 2 * np.cumsum(e**n) - e**n)
    errors = {}
    for rate_hz in (1000.0, 10000.0):
        h, t = peaks(restitution, rate_hz)
        way = G * fall / rate_hz  # of one step at the speed of the first impact
        assert np.abs(h - height).max() < n[-1] * way
        assert np.abs(t - time).max() < 4 * n[-1] / rate_hz
        errors[rate_hz] = np.abs(h - height).max()
    assert errors[10000.0] < 0.2 * errors[1000.0]


def test_a_ball_without_restitution_stays_where_it_fell():
    world = bouncing_balls((0.0,)).world
    world.step(1000)
    assert world.pose("ball0")[2, 3] == pytest.approx(0.05, abs=1e-6)
    assert np.linalg.norm(velocity(world, "ball0")) < 1e-6


def test_a_perfectly_elastic_ball_keeps_its_energy():
    """e = 1: ten bounces create nothing, and lose at most (g dt)^2 / 2 of each kilogram in a step with contact."""
    world = bouncing_balls((1.0,)).world
    start = total(world.energy)
    touched = 0
    for _ in range(9000):
        world.step()
        touched += len(world.contacts) > 0
        assert total(world.energy) <= start * (1 + 1e-6)
    assert touched >= 9
    assert total(world.energy) == pytest.approx(start, abs=touched * 0.2 * 0.5 * (G * world.dt) ** 2 + 1e-6 * start)


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("ratio", [0.1, 1.0, 20.0])
def test_a_central_impact_obeys_newtons_law_and_keeps_momentum(e, ratio):
    """v' of two balls on a line: relative velocity times -e, momentum as before."""
    material = pp.Material("m", 0.0, restitution=e)
    a = pp.models.ball(0.1, mass=1.0, at=(-0.15, 0, 0), name="a", material=material)
    b = pp.models.ball(0.1, mass=ratio, at=(0.15, 0, 0), name="b", material=material)
    world = pp.World([a, b], gravity=WEIGHTLESS, tolerance=1e-12)
    set_velocity(world, "a", (2, 0, 0))
    set_velocity(world, "b", (-1, 0, 0))
    world.step(200)
    va, vb = velocity(world, "a"), velocity(world, "b")
    assert vb[0] - va[0] == pytest.approx(3 * e, abs=1e-9)
    assert va[0] + ratio * vb[0] == pytest.approx(2 - ratio, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_momentum_is_conserved_when_free_bodies_collide(seed):
    """Linear momentum to rounding; angular momentum to the first order of spin times step."""
    rng = np.random.default_rng(seed)
    material = pp.Material("m", 0.4, restitution=0.5)
    parts = [random_solid(rng, f"s{i}", 0.25 * np.array(p), material) for i, p in
             enumerate([(-1, 0, 0), (1, 0.1, 0), (0, 1, 0.1), (0, -1, 0)])]  # fmt: skip
    world = pp.World(parts, gravity=WEIGHTLESS)
    for i in range(4):
        at = world.pose(f"s{i}")[:3, 3]
        set_velocity(world, f"s{i}", -2.0 * at / np.linalg.norm(at), rng.normal(size=3))
    before, energy, touched = momentum(world), total(world.energy), 0
    scale = sum(b.mass for part in parts for b in part.bodies) * 2.0
    for _ in range(400):
        world.step()
        touched += len(world.contacts)
        assert total(world.energy) <= energy * (1 + 1e-6)
    assert touched > 0
    after = momentum(world)
    assert after[3:] == pytest.approx(before[3:], abs=1e-12 * scale)
    assert after[:3] == pytest.approx(before[:3], abs=5e-4 * 0.25 * scale)


def test_bodies_out_of_reach_of_each_other_keep_their_momentum_to_rounding():
    rng = np.random.default_rng(0)
    parts = [random_solid(rng, f"s{i}", (i, 0, 0), pp.Material()) for i in range(4)]
    world = pp.World(parts, gravity=WEIGHTLESS)
    world.v[:] = rng.normal(size=world.model.nv)
    before = momentum(world)
    world.step(300)
    assert momentum(world)[3:] == pytest.approx(before[3:], abs=1e-12)


def balls_on_a_line(gap):
    """Three balls at rest but the first, which comes at 1 m/s."""
    steel = pp.Material("steel", 0.0, restitution=1.0)
    at = (-0.5, 0.0, 0.1 + gap)
    parts = [pp.models.ball(0.05, mass=1.0, at=(x, 0, 0), name=f"b{i}", material=steel) for i, x in enumerate(at)]
    world = pp.World(parts, gravity=WEIGHTLESS, tolerance=1e-12)
    set_velocity(world, "b0", (1, 0, 0))
    world.step(1000)
    return [velocity(world, f"b{i}")[0] for i in range(3)]


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-6, 1e-4, 1e-3, 3e-3])
def test_three_balls_hand_the_blow_on_whatever_the_gap(gap):
    """One blow after the other, within a step if need be: (0, 0, 1), and no jump where the gap closes."""
    assert balls_on_a_line(gap) == pytest.approx((0, 0, 1), abs=1e-6)


def in_a_line(masses, gaps, speed, restitution=1.0, radius=0.02):
    """Balls along x, the first coming at `speed` from 30 mm away."""
    steel = pp.Material("steel", 0.0, restitution=restitution)
    at = np.cumsum([0.0, 2 * radius + 0.03, *(2 * radius + gap for gap in gaps)])
    parts = [pp.models.ball(radius, mass=m, at=(x, 0, 0), name=f"b{i}", material=steel)
             for i, (m, x) in enumerate(zip(masses, at, strict=True))]  # fmt: skip
    world = pp.World(parts, gravity=WEIGHTLESS)
    set_velocity(world, "b0", (speed, 0, 0))
    return world


@pytest.mark.parametrize("speed", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("seed", range(6))
def test_elastic_blows_across_small_gaps_keep_energy_and_momentum(seed, speed):
    """Five balls with gaps of 0 to 3 mm, less than their way in a step; equal ones, and masses over two decades."""
    rng = np.random.default_rng(seed)
    masses = np.full(5, 0.1) if seed < 3 else 10.0 ** rng.uniform(-1.5, 0.5, size=5)
    world = in_a_line(masses, rng.uniform(0.0, 3e-3, size=3) * (seed > 0), speed)
    energy, before = total(world.energy), momentum(world)
    world.step(250)
    assert total(world.energy) == pytest.approx(energy, rel=1e-6)
    assert momentum(world)[3:] == pytest.approx(before[3:], rel=1e-12, abs=1e-12)
    if seed < 3:
        assert [velocity(world, f"b{i}")[0] for i in range(5)] == pytest.approx([0, 0, 0, 0, speed], abs=1e-5 * speed)
    assert all(velocity(world, f"b{i + 1}")[0] >= velocity(world, f"b{i}")[0] - 1e-6 * speed for i in range(4))


@pytest.mark.parametrize("e", [0.3, 0.8])
@pytest.mark.parametrize("gap", [0.0, 2e-3])
def test_each_blow_of_a_row_loses_what_its_coefficient_says(e, gap):
    """Of n equal balls the last leaves with ((1 + e) / 2)^(n - 1) of the speed, for any gap."""
    world = in_a_line([0.1] * 4, [gap] * 2, 5.0, restitution=e)
    fastest = 0.0
    for _ in range(30):
        world.step()
        fastest = max(fastest, velocity(world, "b3")[0])
        if fastest > 0.0:
            break
    assert fastest == pytest.approx(5.0 * (0.5 * (1.0 + e)) ** 3, rel=1e-6)


def test_a_rain_of_elastic_balls_keeps_its_energy():
    """As SimBenchmark's 666 balls, fewer: they fall on a floor and on each other, e = 1."""
    rng = np.random.default_rng(0)
    rubber = pp.Material("rubber", 0.0, restitution=1.0)
    parts = [pp.models.plane(material=rubber)]
    for i in range(64):
        x, y, z = i % 4, i // 4 % 4, i // 16
        at = (*(0.4 * np.array((x, y)) + rng.uniform(-0.01, 0.01, size=2)), 0.5 + 0.4 * z)
        parts.append(pp.models.ball(0.1, mass=10.0, at=at, material=rubber, name=f"ball{i}"))
    world = pp.World(parts)
    start, touched = total(world.energy), 0
    for _ in range(30):
        world.step(50)
        touched += len(world.contacts)
        assert total(world.energy) == pytest.approx(start, rel=2e-4)
    assert touched > 0


@pytest.mark.parametrize("lifted", [1, 2])
def test_as_many_balls_leave_a_cradle_as_come(lifted):
    world = cradle(5, lifted).world
    names = [f"ball{i}" for i in range(5)]
    lift = world.q[0]
    highest = np.zeros(5)
    for _ in range(450):  # a little more than half a swing
        world.step()
        highest = np.maximum(highest, -world.q)
    flown = [name for name, h in zip(names, highest, strict=True) if h > 0.5 * lift]
    assert flown == names[5 - lifted :]


def test_a_slow_touch_does_not_bounce():
    """Slower than twice what gravity adds in a step restitution is off: things come to rest."""
    world = bouncing_balls((1.0,), height=1e-5).world
    world.step(50)
    assert np.linalg.norm(velocity(world, "ball0")) < 1e-6 * G * world.dt  # the solver's tolerance


def test_an_oblique_blow_with_friction_takes_spin_up():
    """A ball that hits the floor at an angle and grips: v_t' = 5/7 v_t, w = v_t' / R, whatever e.

    The blow acts midway between the two surfaces, which may be up to a step's way apart: first order in the step.
    """
    R, v = 0.05, 1.0
    rubber = pp.Material("rubber", 5.0, restitution=0.5)
    for dt in (1e-3, 1e-4):
        ball = pp.models.ball(R, mass=0.2, at=(0, 0, 0.2), material=rubber)
        world = pp.World([pp.models.plane(material=rubber), ball], dt=dt)
        set_velocity(world, "ball", (v, 0, 0))
        while velocity(world, "ball")[2] <= 0.0:
            world.step()
        error = max(world.contacts[0].gap, 0.0) / R
        assert 0.0 <= error < 2.0 * dt / R
        assert velocity(world, "ball")[0] == pytest.approx(5 / 7 * v, rel=0.5 * error + 1e-6)
        assert spin(world, "ball")[1] == pytest.approx(5 / 7 * v / R, rel=0.5 * error + 1e-6)
