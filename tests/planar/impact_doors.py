"""Many impacts at once, and a generator of them that knows only mechanics: vertices, normals, masses, velocities."""

from typing import NamedTuple

import numpy as np

from palpate.jit import entry
from palpate.planar.bodies.impacts.frictional import frictional
from palpate.planar.bodies.impacts.poisson import poisson
from palpate.planar.bodies.impacts.restitution import restitution_bound


@entry("float64[:,:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[::1]")
def poissons(G, g, e, impulse, work):
    """Every case of a family of equally many contacts."""
    for k in range(G.shape[0]):
        poisson(g.shape[1], G[k], g[k], e[k], impulse[k], work)


@entry("float64[:,:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[::1]")
def frictionals(G, u, e, mu, impulse, work):
    """The same with friction."""
    for k in range(G.shape[0]):
        frictional(e.shape[1], G[k], u[k], e[k], mu[k], impulse[k], work)


@entry("float64, float64, float64")
def bound(K, dt, mass):
    return restitution_bound(K, dt, mass)


class Impacts(NamedTuple):
    """Of two bodies, N cases of n contacts; `rows` (N, 2n, 6) are normal and tangent of each contact in turn."""

    rows: np.ndarray
    mass: np.ndarray  # (N, 6)
    v: np.ndarray  # (N, 6)
    e: np.ndarray  # (N, n)
    mu: np.ndarray  # (N, n)

    @property
    def W(self):
        """(N, n, 6) normals alone."""
        return np.ascontiguousarray(self.rows[:, ::2])

    def delassus(self, W):
        return np.ascontiguousarray(np.einsum("kid,kd,kjd->kij", W, 1.0 / self.mass, W))

    def after(self, W, impulse):
        return self.v + np.einsum("kid,ki->kd", W, impulse) / self.mass

    def energy(self, v):
        return 0.5 * (self.mass * v * v).sum(axis=1)


FAMILIES = ("any", "parallel", "doubled", "heavy and light", "tiny inertia", "wall", "grazing", "square")


def impacts(family, N, n, seed):
    """A vertex of body 1 at an arm from each centre, on a face of body 2 with normal (cos, sin)."""
    rng = np.random.default_rng([FAMILIES.index(family), n, seed])
    angle = rng.uniform(-np.pi, np.pi, (N, n))
    arm1, arm2 = rng.uniform(-0.1, 0.1, (2, N, n, 2))
    mass = np.exp(rng.uniform(-2, 2, (N, 6)))
    mass[:, 1], mass[:, 4] = mass[:, 0], mass[:, 3]
    mass[:, [2, 5]] *= 2e-3
    v = rng.normal(size=(N, 6)) * [1, 1, 10, 1, 1, 10]
    if family == "parallel":
        angle = np.pi * rng.integers(0, 2, (N, n))
    if family == "square":  # corners and faces of a block at rest in its hole, exactly
        angle = np.pi / 2 * rng.integers(0, 4, (N, n))
        arm1 = rng.choice([-0.05, 0.05], (N, n, 2))
        arm2 = arm1.copy()
        v = rng.integers(-1, 2, (N, 6)).astype(float)
    if family == "doubled":
        for x in (angle, arm1, arm2):
            x[:, n // 2 :] = x[:, : n - n // 2]
        angle[N // 2 :, n - 1] += 1e-9 * rng.normal(size=N - N // 2)
    if family == "heavy and light":
        mass[:, 3:] *= 1e6
    if family == "tiny inertia":
        mass[:, 2] = 1e-6
    if family == "wall":
        v[:, 3:] = 0.0
    nx, ny = np.cos(angle), np.sin(angle)
    rows = np.zeros((N, n, 2, 6))
    for row, (x, y) in enumerate([(nx, ny), (-ny, nx)]):
        torque = [a[..., 0] * y - a[..., 1] * x for a in (arm1, arm2)]
        rows[:, :, row] = np.stack([x, y, torque[0], -x, -y, -torque[1]], axis=-1)
    rows = rows.reshape(N, 2 * n, 6)
    if family == "grazing":  # one contact neither opens nor closes
        w = rows[:, 0]
        v -= w * ((w * v).sum(axis=1) / (w * w).sum(axis=1))[:, None]
    if family == "wall":
        rows[:, :, 3:] = 0.0
    e = rng.uniform(0, 1, (N, n)) * rng.integers(0, 2, (N, n))
    e[rng.uniform(size=(N, n)) < 0.2] = 1.0
    mu = rng.uniform(0, 1.5, (N, n)) * (rng.uniform(size=(N, n)) > 0.15)
    return Impacts(rows, mass, v, e, mu)
