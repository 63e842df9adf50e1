"""Passive integration: reference 5; Brown and Colgate 1997.

    v+ = v + T M^-1 f        x+ = x + T/2 (v + v+)

The work f.(x+ - x) is the change of kinetic energy, identically, for any forces and any T.
"""

from palpate.jit import kernel
from palpate.planar.bodies.tables import SOURCES


@kernel
def kinetic_energy(polygons, motion):
    """Of all bodies that can move [J]."""
    v, m, T = motion.v, polygons.inverse_mass, 0.0
    for b in range(v.shape[0]):
        for k in range(3):
            if m[b, k] > 0.0:
                T += 0.5 * v[b, k] * v[b, k] / m[b, k]
    return T


@kernel
def move(polygons, motion, dt):
    """All bodies by a step; Motion.moved is by how much.  What has no mass keeps its velocity."""
    X, v, moved, n = motion.X, motion.v, motion.moved, motion.X.shape[0]
    for b in range(1, n):
        for k in range(3):
            f = motion.contact[b, k]
            for s in range(SOURCES):
                f += motion.applied[s * n + b, k]
            v0 = v[b, k]
            v1 = v0 + dt * polygons.inverse_mass[b, k] * f
            moved[b, k] = 0.5 * dt * (v0 + v1)
            v[b, k] = v1
            X[b, k] += moved[b, k]
