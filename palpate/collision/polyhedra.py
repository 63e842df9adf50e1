"""Convex hulls and trees of boxes, made once from the vertices and triangles of a mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from palpate.collision.tables import OWNS_CORNER, OWNS_EDGE, RIDGE
from palpate.model.model import Floats

Ints = NDArray[np.int64]

# Relative to the size of the whole: vertices closer than this are one, points this little outside a face are on it.
SAME = 1e-9
# Faces whose normals differ by less (1 - cos) are one flat face.
FLAT = 1e-9
# An edge sticks out if its two faces differ by more than this [rad]: seams of a flat floor do not.
RIDGE_ANGLE = 1e-3
LEAF = 2  # triangles
DIRECTIONS = 200  # of least_volume


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex polyhedron: vertices (v, 3), neighbours of each, outward normals (f, 3), corners of each face."""

    vertices: Floats
    neighbours: list[list[int]]
    normals: Floats
    faces: list[list[int]]


@dataclass(frozen=True, eq=False)
class Tree:
    """Triangles in the order of a depth-first tree of boxes; arrays as the tables of Geometry."""

    vertices: Floats
    neighbours: list[list[int]]
    triangles: Ints  # (t, 3)
    normals: Floats
    wings: Floats
    owns: Ints
    low: Floats
    high: Floats
    skip: Ints
    first: Ints
    count: Ints


def merged(vertices: Floats, triangles: Ints) -> tuple[Floats, Ints]:
    """The same triangles with equal vertices made one, and without those that have no area."""
    size = float(np.ptp(vertices, axis=0).max()) or 1.0
    _, first, where = np.unique(np.round(vertices / (SAME * size)), axis=0, return_index=True, return_inverse=True)
    vertices, triangles = vertices[first], where.reshape(-1)[triangles]
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    kept = triangles[area > (SAME * size) ** 2]
    used, where = np.unique(kept, return_inverse=True)
    return np.ascontiguousarray(vertices[used]), where.reshape(-1, 3).astype(np.int64)


def volume(vertices: Floats, triangles: Ints) -> float:
    """Volume inside a closed mesh; without meaning if it is open."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def hull_triangles(points: Floats) -> Ints | None:
    """Triangles of the convex hull, counter-clockwise from outside; None if the points are flat.

    Points are added one by one; each takes the place of the faces that it sees.
    """
    size = float(np.ptp(points, axis=0).max()) or 1.0
    start = _tetrahedron(points, SAME * size)
    if start is None:
        return None
    a, b, c, d = start
    inside = points[[a, b, c, d]].mean(axis=0)
    faces = np.array([_outward(points, f, inside) for f in ((a, b, c), (a, b, d), (a, c, d), (b, c, d))])
    normals, offsets = _planes(points, faces)
    # far points first: most of the others are then inside at once
    for k in np.argsort(-np.linalg.norm(points - inside, axis=1)):
        seen = normals @ points[k] - offsets > SAME * size
        if not seen.any():
            continue
        edges = {(int(f[i]), int(f[(i + 1) % 3])) for f in faces[seen] for i in range(3)}
        horizon = [e for e in edges if (e[1], e[0]) not in edges]
        new = np.array([(i, j, int(k)) for i, j in sorted(horizon)])
        more_normals, more_offsets = _planes(points, new)
        faces = np.vstack([faces[~seen], new])
        normals = np.vstack([normals[~seen], more_normals])
        offsets = np.concatenate([offsets[~seen], more_offsets])
    return faces


def least_volume(points: Floats) -> float:
    """Less than the volume of the convex hull, by a few percent: that of the points farthest in some directions; 0 if
    they are flat."""
    k = np.arange(DIRECTIONS) + 0.5
    height, turn = 1.0 - 2.0 * k / DIRECTIONS, np.pi * (1.0 + 5.0**0.5) * k  # evenly over a sphere: Fibonacci's lattice
    around = np.sqrt(1.0 - height * height)
    directions = np.stack([around * np.cos(turn), around * np.sin(turn), height], axis=1)
    span = np.ptp(points, axis=0)
    far = points[np.unique(np.argmax(points / np.where(span > 0.0, span, 1.0) @ directions.T, axis=0))]
    triangles = hull_triangles(far) if len(far) >= 4 else None
    return 0.0 if triangles is None else volume(far, triangles)


def _tetrahedron(points: Floats, least: float) -> tuple[int, int, int, int] | None:
    """Four points that span a volume, each the farthest from those before."""
    a = int(np.argmin(points[:, 0]))
    from_a = points - points[a]
    b = int(np.argmax(np.linalg.norm(from_a, axis=1)))
    across = np.cross(from_a, from_a[b] / (np.linalg.norm(from_a[b]) or 1.0))
    c = int(np.argmax(np.linalg.norm(across, axis=1)))
    n = np.cross(from_a[b], from_a[c])
    length = float(np.linalg.norm(n))
    if length <= least * least:
        return None
    height = np.abs(from_a @ n) / length
    d = int(np.argmax(height))
    return (a, b, c, d) if height[d] > 1e3 * least else None


def _outward(points: Floats, face: tuple[int, int, int], inside: Floats) -> tuple[int, int, int]:
    a, b, c = face
    n = np.cross(points[b] - points[a], points[c] - points[a])
    return face if n @ (inside - points[a]) < 0.0 else (a, c, b)


def _planes(points: Floats, faces: Ints) -> tuple[Floats, Floats]:
    """Unit normals and offsets; a face without area gets a zero normal, which sees nothing."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    length = np.linalg.norm(n, axis=1, keepdims=True)
    n = np.divide(n, length, out=np.zeros_like(n), where=length > 0.0)
    return n, np.einsum("ij,ij->i", n, a)


def hull(points: Floats) -> Hull | None:
    """The convex hull with its flat faces whole; None if the points are flat."""
    triangles = hull_triangles(points)
    if triangles is None:
        return None
    used, where = np.unique(triangles, return_inverse=True)
    vertices, triangles = np.ascontiguousarray(points[used]), where.reshape(-1, 3)
    normals, offsets = _planes(vertices, triangles)
    size = float(np.ptp(vertices, axis=0).max())
    left, faces, face_normals = np.any(normals != 0.0, axis=1), [], []
    alone = _bent(vertices, triangles, normals)
    for f in range(len(triangles)):
        if not left[f]:
            continue
        if alone[f]:
            faces.append([int(k) for k in triangles[f]])
            face_normals.append(normals[f])
            continue
        same = left & (normals @ normals[f] > 1.0 - FLAT)
        same &= np.abs(np.einsum("ijk,k->ij", vertices[triangles], normals[f]) - offsets[f]).max(axis=1) < 1e-7 * size
        same[f] = True
        left &= ~same
        corners = np.unique(triangles[same])
        middle = vertices[corners].mean(axis=0)
        u = vertices[corners[0]] - middle
        v = np.cross(normals[f], u)
        angle = np.arctan2((vertices[corners] - middle) @ v, (vertices[corners] - middle) @ u)
        faces.append([int(k) for k in corners[np.argsort(angle)]])
        face_normals.append(normals[f])
    return Hull(vertices, _neighbours(len(vertices), triangles), np.array(face_normals), faces)


def _bent(vertices: Floats, triangles: Ints, normals: Floats) -> NDArray[np.bool_]:
    """(t,) whether all three neighbours of a triangle of a hull have an area and bend away: then it is a face alone."""
    n, a, b = len(vertices), triangles, np.roll(triangles, -1, axis=1)
    edges, first = np.unique(a * n + b, return_index=True)
    at = np.minimum(np.searchsorted(edges, b * n + a), len(edges) - 1)
    across = normals[first[at] // 3]  # (t, 3, 3)
    bent = np.einsum("tkj,tj->tk", across, normals) <= 1.0 - FLAT
    return (bent & np.any(across != 0.0, axis=2) & (edges[at] == b * n + a)).all(axis=1)


def _neighbours(n: int, triangles: Ints) -> list[list[int]]:
    """Of each of n vertices those that share an edge with it, in order."""
    a, b, c = triangles.T
    pairs = np.unique(np.concatenate([x * n + y for x, y in ((a, b), (b, a), (b, c), (c, b), (c, a), (a, c))]))
    ends = np.searchsorted(pairs, n * np.arange(1, n))
    return [near.tolist() for near in np.split(pairs % n, ends)]


def tree(vertices: Floats, triangles: Ints) -> Tree:
    """The tree of boxes over the triangles, halved at the middle of the longest side; and who owns which edge."""
    corners = vertices[triangles]  # (t, 3, 3)
    low, high = corners.min(axis=1), corners.max(axis=1)
    order = _halved(0.5 * (low + high))
    triangles = triangles[order]
    normals, _ = _planes(vertices, triangles)
    wings, owns = _ridges(vertices, triangles, normals)
    first, ends, skip = _nodes(len(triangles), {}).T.copy()
    boxes = _spanned(low[order], high[order], first, ends)
    count = np.where(ends - first <= LEAF, ends - first, 0)
    return Tree(vertices, _neighbours(len(vertices), triangles), triangles, normals, wings, owns, *boxes, skip, first,
                count)  # fmt: skip


def _halved(centres: Floats) -> Ints:
    """Rows in the order of the leaves: each part is sorted along its longest side and cut in the middle, all parts of
    a depth at once."""
    order, cuts = np.arange(len(centres)), np.array([0, len(centres)])
    while (sizes := np.diff(cuts)).max() > LEAF:
        begins, part = cuts[:-1], np.repeat(np.arange(len(sizes)), sizes)
        spread = np.maximum.reduceat(centres[order], begins) - np.minimum.reduceat(centres[order], begins)
        along = centres[order, np.argmax(spread, axis=1)[part]]
        along[sizes[part] <= LEAF] = 0.0  # a leaf stays as it is: sorting is stable
        order = order[np.lexsort((along, part))]
        cuts = np.sort(np.concatenate([cuts, (begins + sizes // 2)[sizes > LEAF]]))
    return order


def _nodes(n: int, known: dict[int, Ints]) -> Ints:
    """(k, 3) depth first: from which of n rows, to which, and the node after its last.

    Halves of a number are of one or two sizes at each depth, and so are their nodes: few are made, and `known`.
    """
    if n not in known:
        below = [] if n <= LEAF else [_nodes(n // 2, known), _nodes(n - n // 2, known) + np.array([n // 2, n // 2, 0])]
        begins = np.cumsum([1, *map(len, below)])
        parts = [part + np.array([0, 0, begin]) for part, begin in zip(below, begins, strict=False)]
        known[n] = np.vstack([[[0, n, begins[-1]]], *parts])
    return known[n]


def _spanned(low: Floats, high: Floats, first: Ints, ends: Ints) -> tuple[Floats, Floats]:
    """Lowest and highest corners of the rows from `first` to `ends`, all at once."""
    rows = np.stack([first, ends], axis=1).reshape(-1)  # reduceat takes every second part: the others are not used
    low, high = np.vstack([low, low[-1:]]), np.vstack([high, high[-1:]])  # so that an end is a row too
    return np.minimum.reduceat(low, rows)[::2], np.maximum.reduceat(high, rows)[::2]


def _ridges(vertices: Floats, triangles: Ints, normals: Floats) -> tuple[Floats, Ints]:
    """Normals across each edge (t, 9), and the bits of Geometry.owns.  Edge k goes from corner a to the next, b."""
    n, a, b = len(vertices), triangles, np.roll(triangles, -1, axis=1)  # (t, 3)
    # the first triangle that has this edge the other way round; one that nobody has is an open border
    edges, first = np.unique(a * n + b, return_index=True)
    at = np.minimum(np.searchsorted(edges, b * n + a), len(edges) - 1)
    border = edges[at] != b * n + a
    me = np.arange(len(triangles))[:, None]
    other = np.where(border, me, first[at] // 3)
    wings = normals[other]  # (t, 3, 3)
    # the neighbour bends back if its normal leans away across the edge
    out = np.cross(vertices[b] - vertices[a], normals[:, None, :])
    length = np.linalg.norm(out, axis=2)
    lean = np.einsum("tkj,tkj->tk", wings, out) / np.where(length > 0.0, length, 1.0)
    corner = np.zeros(triangles.size, dtype=bool)
    corner[np.unique(a, return_index=True)[1]] = True  # where each vertex comes first
    bits = np.array([1, 2, 4])
    owns = OWNS_CORNER * corner.reshape(-1, 3) + OWNS_EDGE * (border | (me < other))
    owns = owns + RIDGE * (border | (lean > RIDGE_ANGLE))
    return wings.reshape(-1, 9), (owns * bits).sum(axis=1)
