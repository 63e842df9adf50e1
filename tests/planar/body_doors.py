"""Doors into kernels of the planar bodies that Python has no other way to."""

import math

from palpate.jit import block_loader, entry
from palpate.planar.bodies.nearness.gjk import gjk, turn
from palpate.planar.bodies.nearness.god_object import along_edge, entered_by, follow, nearest_edge, outside
from palpate.planar.bodies.tables import Polygons

load_polygons = block_loader((Polygons, True))


@entry("intp, float64[:, ::1], int64[:, ::1], float64[:, ::1]")
def gjk_door(address, X, simplex, out):
    """Bodies 1 and 2, 3 and 4, ...; simplex (n, 7): how many, and three pairs of vertices.

    out (n, 5): distance, closest points about the centre of the first.
    """
    (polygons,) = load_polygons(address)
    for k in range(out.shape[0]):
        A, B = 2 * k + 1, 2 * k + 2
        Ra, Rb = (math.cos(X[A, 2]), math.sin(X[A, 2])), (math.cos(X[B, 2]), math.sin(X[B, 2]))
        D = (X[A, 0] - X[B, 0], X[A, 1] - X[B, 1])
        S = simplex[k]
        distance, s, n, i0, k0, i1, k1, i2, k2 = gjk(
            polygons, A, B, D, Ra, Rb, S[0], S[1], S[2], S[3], S[4], S[5], S[6]
        )
        S[0], S[1], S[2], S[3], S[4], S[5], S[6] = n, i0, k0, i1, k1, i2, k2
        v = polygons.vertex
        ax, ay = turn(Ra, v[i0, 0] + s * (v[i1, 0] - v[i0, 0]), v[i0, 1] + s * (v[i1, 1] - v[i0, 1]))
        bx, by = turn(Rb, v[k0, 0] + s * (v[k1, 0] - v[k0, 0]), v[k0, 1] + s * (v[k1, 1] - v[k0, 1]))
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4] = distance, ax, ay, bx - D[0], by - D[1]


@entry("intp, float64[:, ::1], float64[:, ::1]")
def god_door(address, way, out):
    """A point along `way` (n, 2) in the axes of body 1.

    out (n, 5): edge of its god-object or -1, depth, place along it, what it passed, nearest edge.
    """
    (polygons,) = load_polygons(address)
    edge = -1
    for k in range(1, way.shape[0]):
        p0, p = (way[k - 1, 0], way[k - 1, 1]), (way[k, 0], way[k, 1])
        passed = 0.0
        if edge < 0:
            _, edge = entered_by(polygons, 1, p0, p, nearest_edge(polygons, 1, p)[0])
        if edge >= 0:
            edge, passed = follow(polygons, edge, p)
        out[k, 0], out[k, 3], out[k, 4] = edge, passed, nearest_edge(polygons, 1, p)[0]
        out[k, 1] = -outside(polygons, edge, p) if edge >= 0 else 0.0
        out[k, 2] = along_edge(polygons, edge, p) if edge >= 0 else 0.0
