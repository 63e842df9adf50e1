"""Meshes prepared for touch: hulls as triangles, blended normals at corners, sharp edges, closed or open.

The proxy meets convex meshes as triangles too: they share sweeps and shading with the others.
Corner k of triangle t gets the mean of the normals around its vertex, weighted with the angle each face has there, over
the faces within the sharp angle of t's own.  The mean over all faces is the pseudo-normal, which tells the sides apart.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from palpate.collision.polyhedra import Ints, tree
from palpate.collision.tables import HULL, MESH, Geometry
from palpate.haptics.rendering.tables import ROUND_CORNER, ROUND_EDGE
from palpate.model.model import Floats


class MeshNormals(NamedTuple):
    """Of all triangles of a Geometry; as in Surfaces, but `closed` per mesh."""

    blend: Floats  # (t, 9)
    round: Ints  # (t,)
    pseudo: Floats  # (v, 3)
    closed: Ints  # (M,)


def triangulated(g: Geometry) -> Geometry:
    """The same geometry with every hull as a mesh; meshes of hulls come after the others."""
    n_hulls, n_meshes = len(g.hull_vertex) - 1, len(g.mesh_node) - 1
    if n_hulls == 0:
        return g
    kind, table = g.kind.copy(), g.table.copy()
    kind[g.kind == HULL] = MESH
    table[g.kind == HULL] += n_meshes
    # what each mesh adds to a table, with the numbers in it counted from the table's end
    parts: dict[str, list[np.ndarray]] = {
        name: [getattr(g, name)]
        for name in (
            "mesh_node", "vertex", "near_begin", "near", "triangle", "triangle_vertex", "triangle_normal", "wing",
            "owns", "node_low", "node_high", "node_skip", "node_first", "node_count",
        )
    }  # fmt: skip
    nodes, triangles, vertices, links = len(g.node_low), len(g.triangle), len(g.vertex), len(g.near)
    for h in range(n_hulls):
        begin, end = g.hull_vertex[h], g.hull_vertex[h + 1]
        t = tree(g.vertex[begin:end], _fans(g, h) - begin)
        degrees = [len(x) for x in t.neighbours]
        parts["vertex"].append(t.vertices)
        parts["near_begin"].append(links + np.cumsum(degrees))
        parts["near"].append(np.array([k for x in t.neighbours for k in x], dtype=np.int64) + vertices)
        parts["triangle"].append(t.vertices[t.triangles].reshape(-1, 9))
        parts["triangle_vertex"].append(t.triangles.ravel() + vertices)
        parts["triangle_normal"].append(t.normals)
        parts["wing"].append(t.wings)
        parts["owns"].append(t.owns)
        parts["node_low"].append(t.low)
        parts["node_high"].append(t.high)
        parts["node_skip"].append(t.skip + nodes)
        parts["node_first"].append(t.first + triangles)
        parts["node_count"].append(t.count)
        nodes, triangles = nodes + len(t.low), triangles + len(t.triangles)
        vertices, links = vertices + len(t.vertices), links + sum(degrees)
        parts["mesh_node"].append(np.array([nodes]))
    tables: dict[str, Any] = {name: np.ascontiguousarray(np.concatenate(x)) for name, x in parts.items()}
    changed = g._replace(kind=kind, table=table, **tables)
    for array in changed:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return changed


def _fans(g: Geometry, h: int) -> Ints:
    """Triangles of the faces of hull h, as rows of g.vertex."""
    faces = [
        g.face_vertex[g.face_begin[f] : g.face_begin[f + 1]].tolist() for f in range(g.hull_face[h], g.hull_face[h + 1])
    ]
    return np.array([(f[0], a, b) for f in faces for a, b in itertools.pairwise(f[1:])], dtype=np.int64)


def mesh_normals(g: Geometry, sharp_deg: float) -> MeshNormals:
    """Normals at corners and what is round, for all triangles of a geometry without hulls."""
    n, n_vertices = len(g.triangle), len(g.vertex)
    if n == 0:
        empty = np.zeros(0, dtype=np.int64)
        return MeshNormals(np.zeros((0, 9)), empty, np.zeros((n_vertices, 3)), empty)
    corners, normals = g.triangle_vertex.reshape(n, 3), g.triangle_normal
    smooth = np.cos(np.radians(sharp_deg))
    weighted = _angles(g.triangle.reshape(n, 3, 3))[..., None] * normals[:, None, :]  # (t, 3, 3)
    pseudo = np.zeros((n_vertices, 3))
    np.add.at(pseudo, corners.ravel(), weighted.reshape(-1, 3))
    # every corner (t, k) with every corner at the same vertex
    mine, other = _pairs(corners.ravel(), n_vertices)
    alike = np.einsum("ij,ij->i", normals[mine // 3], normals[other // 3])
    blend = np.zeros((3 * n, 3))
    near = alike > smooth
    np.add.at(blend, mine[near], weighted.reshape(-1, 3)[other[near]])
    least = np.ones(3 * n)
    np.minimum.at(least, mine, alike)
    border, mesh_of = _borders(corners, n_vertices), _mesh_of(g)
    wings = np.einsum("tkj,tj->tk", g.wing.reshape(n, 3, 3), normals)
    edge_round = (wings > smooth) & ~border
    on_border = np.zeros(n_vertices, dtype=bool)
    on_border[corners[border]] = True
    on_border[np.roll(corners, -1, axis=1)[border]] = True
    corner_round = (least.reshape(n, 3) > smooth) & ~on_border[corners]
    bits = np.array([1, 2, 4])
    closed = np.ones(len(g.mesh_node) - 1, dtype=np.int64)
    closed[mesh_of[border.any(axis=1)]] = 0
    length = np.linalg.norm(blend, axis=1, keepdims=True)
    blend = np.divide(blend, length, out=np.repeat(normals, 3, axis=0), where=length > 0.0)
    flags = (edge_round * bits * ROUND_EDGE + corner_round * bits * ROUND_CORNER).sum(axis=1)
    return MeshNormals(blend.reshape(n, 9), flags.astype(np.int64), pseudo, closed)


def _angles(x: Floats) -> Floats:
    """Angle at each corner of triangles (t, 3, 3) -> (t, 3)."""
    a, b = np.roll(x, -1, axis=1) - x, np.roll(x, 1, axis=1) - x
    across = np.linalg.norm(np.cross(a, b), axis=2)
    return np.arctan2(across, np.einsum("tkj,tkj->tk", a, b))


def _pairs(vertex: Ints, n_vertices: int) -> tuple[Ints, Ints]:
    """All pairs (i, j) with vertex[i] == vertex[j]."""
    order = np.argsort(vertex, kind="stable")
    degree = np.bincount(vertex, minlength=n_vertices)
    start = np.concatenate([[0], np.cumsum(degree)])[:-1]
    each = degree[vertex]
    mine = np.repeat(np.arange(len(vertex)), each)
    within = np.arange(len(mine)) - np.repeat(np.cumsum(each) - each, each)
    return mine, order[start[vertex[mine]] + within]


def _borders(corners: Ints, n_vertices: int) -> np.ndarray:
    """(t, 3) whether the edge from corner k to the next has no triangle on its other side."""
    there = corners * n_vertices + np.roll(corners, -1, axis=1)
    back = np.roll(corners, -1, axis=1) * n_vertices + corners
    return ~np.isin(back, there)


def _mesh_of(g: Geometry) -> Ints:
    """(t,) the mesh of each triangle."""
    leaf = g.node_count > 0
    nodes = np.flatnonzero(leaf)
    of_node = np.searchsorted(g.mesh_node, nodes, side="right") - 1
    mesh = np.zeros(len(g.triangle), dtype=np.int64)
    for k in range(int(g.node_count.max())):
        with_k = g.node_count[nodes] > k
        mesh[g.node_first[nodes[with_k]] + k] = of_node[with_k]
    return mesh
