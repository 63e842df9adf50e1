"""Newton's law of impact with friction, as far as it creates no energy."""

import numpy as np
import pytest
from motions import random_world, total

import palpate as pp

DT_S = 1e-5


def newton(G, u, mu, e):
    """Impulse (2,) of one contact in a plane, normal first, and the velocity after it: G (2, 2), u (2,) before.

    Sticks if it can, else slides one way or the other: by cases, with nothing of the solver's.
    """
    aim = np.array([-e * u[0], 0.0])
    cases = [np.linalg.solve(G, aim - u)]
    for sign in (1.0, -1.0):
        along = np.array([1.0, -sign * mu])  # friction against a slip of this sign
        cases.append((aim[0] - u[0]) / (G[0] @ along) * along)
    for k, l in enumerate(cases):
        after = u + G @ l
        if l[0] < 0.0 or abs(l[1]) > mu * l[0] * (1 + 1e-9):
            continue
        if k == 0 or after[1] * (1.0, -1.0)[k - 1] >= 0.0:
            return l, after
    raise AssertionError("no case")


def rod_on_a_floor(rng, far=()):
    """A rod of any length and mass whose lower end is about to strike; moves in the plane x z, without weight.

    Returns a World, also with what is far away, and of the contact G (2, 2), u (2,), mu and e.
    """
    mu, e = rng.uniform(0.0, 2.0), rng.choice([0.3, 0.7, 1.0])
    radius, length, mass = 10.0 ** rng.uniform(-3, -1), 10.0 ** rng.uniform(-1.5, 0.5), 10.0 ** rng.uniform(-3, 3)
    rubber, angle = pp.Material("rubber", mu, restitution=e), rng.uniform(-1.4, 1.4)
    R = pp.Rotation.about((0, 1, 0), angle)
    at = (0.0, 0.0, 0.5 * length * np.cos(angle) + radius)
    rod = pp.models.capsule(radius, length, mass=mass, material=rubber, R=R, at=at)
    world = pp.World([pp.models.plane(material=rubber), rod, *far], gravity=(0, 0, 0), dt=DT_S, tolerance=1e-10)
    linear = rng.normal(size=3) * (1, 0, 1)
    turn = np.array([0.0, rng.normal() * 2.0 / length, 0.0])
    world.v[:6] = [*R.inv().apply(turn), *R.inv().apply(linear)]
    arm = np.array([-np.sin(angle), 0.0, -np.cos(angle)]) * 0.5 * length - (0, 0, radius)  # centre to what touches
    u = linear + np.cross(turn, arm)
    moments = np.array([-arm[0], arm[2]])  # about y, of pushes along z and x
    G = np.eye(2) / mass + np.outer(moments, moments) / rod.bodies[0].inertia[1][1]
    return world, G, u[[2, 0]], mu, e


@pytest.mark.repeated
def test_one_blow_is_newtons_or_the_part_of_it_that_keeps_energy():
    """600 rods: Newton's law by cases where that takes energy; elsewhere energy is kept and it parts more slowly."""
    rng, parts = np.random.default_rng(3), 0
    for _ in range(600):
        world, G, u, mu, e = rod_on_a_floor(rng)
        if u[0] > -0.05:
            continue
        l, after = newton(G, u, mu, e)
        added = l @ (u + after) / 2
        before = total(world.energy)
        world.step()
        gain = (total(world.energy) - before) / before
        assert gain <= 1e-9
        (contact,) = world.contacts
        felt = contact.force[[2, 0]] * DT_S
        if added <= 0.0:
            assert felt == pytest.approx(l, rel=1e-6, abs=1e-6 * l[0])
            assert gain == pytest.approx(added / before, abs=1e-8)
        else:
            parts += 1
            assert gain == pytest.approx(0.0, abs=1e-8)
            parting = (u + G @ felt)[0]
            assert 0.0 <= parting < -e * u[0]
            assert abs(felt[1]) <= mu * felt[0] * (1 + 1e-9)
    assert parts > 10  # the family has both


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("e", [0.3, 1.0])
def test_bounces_of_many_bodies_never_end_with_more_energy(e, full):
    """40 random heaps of up to eight solids, 0.6 s of blows; by Newton's law alone one of these gains a fifth."""
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        world = random_world(rng, int(rng.integers(1, 9)), e, full=full)
        start = total(world.energy)
        for _ in range(12):
            world.step(50)
            assert total(world.energy) <= start * (1 + 1e-9)


def test_a_blow_that_bounces_in_part_leaves_others_alone():
    """A ball that strikes the floor far away bounces by its e, whatever a rod does in the same step."""
    steel = pp.Material("steel", 0.5, restitution=1.0)
    ball = pp.models.ball(0.05, mass=1.0, at=(50.0, 0, 0.05), material=steel, name="ball")
    parts = 0
    for seed in range(200):
        alone, G, u, mu, e = rod_on_a_floor(np.random.default_rng([5, seed]))
        if u[0] > -0.05:
            continue
        l, after = newton(G, u, mu, e)
        parts += l @ (u + after) > 1e-6 * total(alone.energy)
        both, *_ = rod_on_a_floor(np.random.default_rng([5, seed]), far=[ball])
        both.v[6:] = (0, 0, 0, 0, 0, -2.0)
        both.step()
        alone.step()
        assert both.v[11] == pytest.approx(2.0, rel=1e-9)
        assert both.v[:6] == pytest.approx(alone.v, rel=1e-9, abs=1e-9)
    assert parts > 3
