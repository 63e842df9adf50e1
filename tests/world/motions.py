"""What the laws of this folder look at: velocities in world axes, totals, and the natural map by plain numpy."""

from __future__ import annotations

import math

import numpy as np

import palpate as pp
from palpate.contact.rows import CONTACT

G = 9.81


def velocity(world, body):
    """Velocity of a free body's origin, world axes."""
    return world.pose(body)[:3, :3] @ world.v[world.model.v_index[body]][3:]


def spin(world, body):
    """Angular velocity of a free body, world axes."""
    return world.pose(body)[:3, :3] @ world.v[world.model.v_index[body]][:3]


def set_velocity(world, body, linear=(0, 0, 0), angular=(0, 0, 0)):
    """Give a free body a velocity, world axes."""
    R = world.pose(body)[:3, :3]
    world.v[world.model.v_index[body]] = (*(R.T @ angular), *(R.T @ linear))


def total(energy):
    return energy.kinetic + energy.potential


def force_between(world, a, b):
    """Sum of the forces of the last step on b by a (3,)."""
    signs = {(a, b): 1.0, (b, a): -1.0}
    pushes = [signs[c.body_a, c.body_b] * c.force for c in world.contacts if (c.body_a, c.body_b) in signs]
    return np.sum(pushes, axis=0) if pushes else np.zeros(3)


def penetration(world):
    """Deepest overlap of the last step's contacts [m]."""
    return max((-c.gap for c in world.contacts if c.gap < 0.0), default=0.0)


def project(x, mu):
    """The nearest point of the cone |x_t| <= mu x_n."""
    n, t = x[0], math.hypot(x[1], x[2])
    if t <= mu * n:
        return x
    if mu * t <= -n:
        return np.zeros(3)
    n = (n + mu * t) / (1.0 + mu * mu)
    return np.array([n, mu * n * x[1] / t, mu * n * x[2] / t])


def dense_problem(world):
    """W and c of u = W l + c for the rows of the last step, by plain products of the table and the rows' Jacobians."""
    r = world.arrays.rows
    R, S = r.n_rows, r.n_slots
    Om, J = np.zeros((6 * S, 6 * S)), np.zeros((3 * R, 6 * S))
    for a in range(1, S):
        first, width = r.slot_first[a], 6 * r.slot_count[a]
        rows = r.table[r.table_at[a] : r.table_at[a] + 6 * width].reshape(6, width)
        Om[6 * a : 6 * a + 6, 6 * first : 6 * first + width] = rows
    for i in range(R):
        for side in range(2):
            slot = r.slot[2 * i + side]
            if slot:
                J[3 * i : 3 * i + 3, 6 * slot : 6 * slot + 6] += r.J[i, 18 * side : 18 * side + 18].reshape(3, 6)
    free = r.W_free[: 6 * S].copy()
    free[:6] = 0.0
    return J @ Om @ J.T, J @ free + r.offset[:R].ravel()


def natural_maps(world):
    """Of the contacts of the last step, from their impulses alone: the largest |F| [N s], the largest as a velocity
    [m/s], and that beside the fastest approach in its island.  F = l - P(l - u~ / g); a step's blows come before it.
    """
    r = world.arrays.rows
    R = r.n_rows
    if R == 0:
        return 0.0, 0.0, 0.0
    assert (r.kind[:R] == CONTACT).all()
    lam = r.lam[:R] - r.blow[:R] if r.n_rounds else r.lam[:R]
    W, c = dense_problem(world)
    velocities = (W @ lam.ravel() + c).reshape(R, 3)
    approach, maps, relative = np.maximum(-c[::3], 0.0), np.zeros(R), 0.0
    for i in range(R):
        l, u, g, mu = lam[i], velocities[i], np.trace(W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]) / 3.0, r.mu[i]
        maps[i] = np.linalg.norm(l - project(l - (u + [mu * math.hypot(u[1], u[2]), 0.0, 0.0]) / g, mu))
        fastest = max(approach[r.island[:R] == r.island[i]])
        relative = max(relative, g * maps[i] / fastest if fastest else 0.0)
    return float(maps.max()), float((r.scale[:R] * maps).max()), relative


def momentum(world):
    """(angular about the world's origin, linear) of everything, world axes."""
    h = pp.momentum(world.model, world.q, world.v)
    c = pp.center_of_mass(world.model, world.q)
    return np.concatenate([h[:3] + np.cross(c, h[3:]), h[3:]])


def random_solid(rng, name, at, material):
    """A box, ball, capsule or cylinder of some 10 cm, turned by chance."""
    R = pp.Rotation.about(rng.normal(size=3), rng.uniform(0.0, math.pi))
    options = {"at": at, "R": R, "name": name, "material": material, "density": rng.uniform(300.0, 3000.0)}
    size = rng.uniform(0.04, 0.12, size=3)
    kind = rng.integers(4)
    if kind == 0:
        return pp.models.box(size, **options)
    if kind == 1:
        return pp.models.ball(0.5 * size[0], **options)
    if kind == 2:
        return pp.models.capsule(0.4 * size[0], size[1], **options)
    return pp.models.cylinder(0.5 * size[0], size[1], **options)


def random_world(rng, n, restitution=0.0, **options):
    """n solids a little above a floor and above each other, moving and turning at random."""
    material = pp.Material("any", rng.uniform(0.0, 1.0), restitution=restitution)
    parts = [pp.models.plane(name="floor", material=material)]
    for i in range(n):
        at = (*rng.uniform(-0.12, 0.12, size=2), 0.15 + 0.2 * i)
        parts.append(random_solid(rng, f"solid{i}", at, material))
    world = pp.World(parts, **options)
    world.v[:] = rng.normal(size=world.model.nv)
    return world
