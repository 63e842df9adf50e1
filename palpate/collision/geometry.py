"""geometry: Model -> what can be touched, as arrays.  Reads meshes, bounds shapes, applies filters.

Shapes of role "visual" are left out.  A mesh is its convex hull or its triangles, as Shape.convex says.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from palpate.collision import filters
from palpate.collision.contacts import contacts
from palpate.collision.entries import detect_at_entry
from palpate.collision.polyhedra import Hull, Tree, hull, least_volume, merged, tree, volume
from palpate.collision.tables import BOX, CAPSULE, CYLINDER, HULL, MESH, PLANE, SPHERE, Geometry
from palpate.dynamics.coordinates import FINE
from palpate.dynamics.workspace import address_of
from palpate.jit import Block
from palpate.model.description import ModelError
from palpate.model.meshes import load_mesh
from palpate.model.model import Floats, Model
from palpate.model.shapes import Material, Shape

__all__ = ["Geometry", "Shapes", "geometry", "shapes"]

KINDS = {"plane": PLANE, "sphere": SPHERE, "capsule": CAPSULE, "box": BOX, "cylinder": CYLINDER}
# A mesh whose hull has at most this much more volume is touched as its hull.
HULL_EXCESS = 0.05
# Shapes of one tree that are nearer than this part of the smaller one where the model starts were drawn overlapping.
OVERLAP = 1e-3


@dataclass(frozen=True, eq=False)
class Shapes:
    """What can be touched in a model: arrays for kernels; materials and names for people, in the order of the rows."""

    geometry: Geometry = field(repr=False)
    materials: tuple[Material, ...]
    names: tuple[str, ...] = field(repr=False)  # of each shape: "body" or, if it has several, "body[2]"


@dataclass(eq=False)
class _Touchable:
    """One shape while the tables are made: R, p in the link; a box around it in its own frame."""

    kind: int
    link: int
    body: int
    name: str
    material: int
    R: Floats
    p: Floats
    size: tuple[float, float, float]
    centre: Floats
    half: Floats
    radius: float
    table: int = 0
    proxy: int = -1

    def link_box(self) -> tuple[Floats, Floats]:
        centre, half = self.R @ self.centre + self.p, np.abs(self.R) @ self.half
        if self.kind == SPHERE:
            half = self.half  # turning it changes nothing
        return centre - half, centre + half


class _Tables:
    """Hulls and meshes, each once, however many shapes use it."""

    def __init__(self) -> None:
        self.hulls: list[Hull] = []
        self.trees: list[Tree] = []
        self._known: dict[Any, tuple[int, int]] = {}

    def add(self, shape: Shape) -> tuple[int, int]:
        """(HULL or MESH, its row)."""
        key = (shape.mesh, shape.size, shape.convex)
        if key not in self._known:
            self._known[key] = self._read(shape)
        return self._known[key]

    def _read(self, shape: Shape) -> tuple[int, int]:
        assert shape.mesh is not None
        vertices, triangles = load_mesh(shape.mesh)
        vertices = vertices * np.array(shape.size)
        if np.prod(shape.size) < 0.0:  # a mirrored mesh would be inside out
            triangles = triangles[:, ::-1]
        vertices, triangles = merged(vertices, triangles)
        if len(triangles) == 0:
            raise ModelError(f"mesh {shape.mesh} has no triangle with an area")
        convex = shape.convex
        filled = volume(vertices, triangles)
        hollow = convex is None and least_volume(vertices) > (1.0 + HULL_EXCESS) * filled  # its hull would be in vain
        solid = hull(vertices) if convex is not False and not hollow else None
        if solid is None and convex:
            raise ModelError(f"mesh {shape.mesh} is flat and has no convex hull; touch its triangles with convex=False")
        if solid is not None and (convex or _nearly(solid, filled)):
            self.hulls.append(solid)
            return HULL, len(self.hulls) - 1
        self.trees.append(tree(vertices, triangles))
        return MESH, len(self.trees) - 1


def _nearly(solid: Hull, filled: float) -> bool:
    """Whether a mesh that encloses `filled` [m^3] fills its hull, but for a few percent."""
    fans = np.array([(f[0], a, b) for f in solid.faces for a, b in itertools.pairwise(f[1:])])
    return volume(solid.vertices, fans) <= (1.0 + HULL_EXCESS) * filled


def _bounds(shape: Shape, tables: _Tables) -> tuple[int, int, tuple[float, float, float], Floats, Floats, float]:
    """kind, table, size, box (centre, half) and radius of a ball around that centre, in the shape's frame."""
    zero = np.zeros(3)
    if shape.kind == "mesh":
        kind, row = tables.add(shape)
        vertices = (tables.hulls[row] if kind == HULL else tables.trees[row]).vertices
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        centre = 0.5 * (low + high)
        radius = float(np.linalg.norm(vertices - centre, axis=1).max())
        return kind, row, (0.0, 0.0, 0.0), centre, 0.5 * (high - low), radius
    kind, s = KINDS[shape.kind], shape.size
    if kind == PLANE:
        return kind, 0, (0.0, 0.0, 0.0), zero, zero, np.inf
    if kind == SPHERE:
        return kind, 0, (s[0], 0.0, 0.0), zero, np.full(3, s[0]), s[0]
    if kind == BOX:
        half = 0.5 * np.array(s)
        return kind, 0, (half[0], half[1], half[2]), zero, half, float(np.linalg.norm(half))
    r, h = s[0], 0.5 * s[1]
    if kind == CAPSULE:
        return kind, 0, (r, h, 0.0), zero, np.array([r, r, r + h]), r + h
    return kind, 0, (r, h, 0.0), zero, np.array([r, r, h]), float(np.hypot(r, h))


def _touchables(model: Model, tables: _Tables) -> tuple[list[_Touchable], tuple[Material, ...]]:
    """All shapes that can be touched, by link: static ones, those that are placed, those that move."""
    found, materials = [], dict[Material, int]()
    bodies = {b.name: b for b in model.description.bodies}
    arrays, placed = model.arrays, filters.placed(model)
    for row, name in enumerate(model.body_names[1:], start=1):
        R_body, p_body = arrays.body_R[row].reshape(3, 3), arrays.body_p[row]
        several = len([s for s in bodies[name].shapes if s.role != "visual"]) > 1
        for number, shape in enumerate(s for s in bodies[name].shapes if s.role != "visual"):
            kind, table, size, centre, half, radius = _bounds(shape, tables)
            found.append(_Touchable(
                kind=kind, link=int(arrays.body_link[row]), body=row, table=table, size=size,
                name=f"{name}[{number}]" if several else name,
                material=materials.setdefault(shape.material, len(materials)),
                R=R_body @ shape.placement.R.matrix(), p=R_body @ np.array(shape.placement.p) + p_body,
                centre=centre, half=half, radius=radius,
            ))  # fmt: skip
    # what cannot be pushed comes first of a pair, so that a placed body is met in the very way a static one is
    return sorted(found, key=lambda s: (s.link != 0 and s.body not in placed, s.link)), tuple(materials)


def shapes(model: Model, ignore: filters.Ignore = (), parts: Mapping[str, Sequence[str]] | None = None) -> Shapes:
    """Everything of a model that can be touched.

    ignore  pairs of names that never touch: bodies, copies ("puma560.2"), or names in `parts`
    parts   name -> names of the bodies it stands for
    """
    tables = _Tables()
    found, materials = _touchables(model, tables)
    apart = filters.named(model, ignore, parts or {})
    arrays = _geometry(model, found, tables, apart)
    drawn = _overlapping(model, arrays)
    if drawn:
        arrays = _geometry(model, found, tables, apart | drawn)
    return Shapes(arrays, materials, tuple(s.name for s in found))


def geometry(model: Model, ignore: filters.Ignore = (), parts: Mapping[str, Sequence[str]] | None = None) -> Geometry:
    """The arrays of `shapes`."""
    return shapes(model, ignore, parts).geometry


def start_posture(model: Model) -> Floats:
    """Where a model starts: its posture "start", or neutral."""
    return model.posture("start") if "start" in model.description.postures else model.neutral()


def _overlapping(model: Model, arrays: Geometry) -> set[filters.Pair]:
    """Pairs of body rows of one tree whose shapes overlap where the model starts."""
    root = filters.roots(model)
    if len(arrays.kind) == 0 or len(set(root)) == len(root):  # no tree has two bodies
        return set()
    largest = float(arrays.radius[np.isfinite(arrays.radius)].max(initial=0.0))
    found = contacts(arrays, model.n_links, capacity=8192, margin=OVERLAP * largest)
    place_and_detect(model, Block(arrays, found), start_posture(model), full=True)
    n = found.count
    first, second = found.shape_a[:n], found.shape_b[:n]
    near = found.gap[:n] < OVERLAP * np.minimum(arrays.radius[first], arrays.radius[second])
    a, b = arrays.body[first[near]].tolist(), arrays.body[second[near]].tolist()
    return {(min(i, j), max(i, j)) for i, j in zip(a, b, strict=True) if root[i] == root[j]}


def place_and_detect(model: Model, block: Block, q: Floats, full: bool) -> None:
    """Contacts at q, into the Contacts of a block of Geometry and Contacts."""
    check(model, detect_at_entry(address_of(model), block.address, q, int(full)))


def check(model: Model, code: int) -> None:
    """Raise for a q that an entry refused."""
    if code != FINE:
        raise ValueError(f"q[{code}] of {model.name!r} is not finite, or begins a quaternion that is not of length 1")


def _geometry(model: Model, found: list[_Touchable], tables: _Tables, apart: set[filters.Pair]) -> Geometry:
    """The arrays; `apart` are pairs of body rows that never touch."""
    proxies = _proxies(found)
    n_planes = sum(1 for p in proxies if found[p[0]].kind == PLANE)
    boxes = [_proxy_box(found[begin:end]) for begin, end in proxies]
    middles = [0.5 * (b[0] + b[1]) for b in boxes]
    lists = _exclusions(model, [found[begin:end] for begin, end in proxies], apart)
    hull_tables, mesh_tables = _hull_tables(tables.hulls, tables.trees), _mesh_tables(tables.hulls, tables.trees)
    arrays = Geometry(
        kind=_ints([s.kind for s in found]), link=_ints([s.link for s in found]), body=_ints([s.body for s in found]),
        material=_ints([s.material for s in found]), R=_rows([s.R.ravel() for s in found], 9),
        p=_rows([s.p for s in found], 3), size=_rows([s.size for s in found], 3), table=_ints([s.table for s in found]),
        centre=_rows([s.R @ s.centre + s.p for s in found], 3), radius=np.array([s.radius for s in found], dtype=float),
        own_centre=_rows([s.centre for s in found], 3), own_half=_rows([s.half for s in found], 3),
        proxy_link=_ints([found[begin].link for begin, _ in proxies]), proxy_begin=_ints([p[0] for p in proxies]),
        proxy_end=_ints([p[1] for p in proxies]), proxy_centre=_rows(middles, 3),
        proxy_half=_rows([0.5 * (b[1] - b[0]) for b in boxes], 3),
        proxy_radius=np.array([_reach(found[slice(*p)], x) for p, x in zip(proxies, middles, strict=True)]),
        excluded_begin=_starts(lists),
        excluded=_ints([j for x in lists for j in x]), n_planes=n_planes, **hull_tables, **mesh_tables,
    )  # fmt: skip
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return arrays


def _reach(found: list[_Touchable], centre: Floats) -> float:
    """How far the balls around these shapes reach from a point of their link."""
    return max(float(np.linalg.norm(s.R @ s.centre + s.p - centre)) + s.radius for s in found)


def _proxies(found: list[_Touchable]) -> list[tuple[int, int]]:
    """Ranges of shapes: one per moving link, one per static shape; planes apart and last."""
    ranges, planes, i = [], [], 0
    while i < len(found):
        end = i + 1
        while found[i].link and end < len(found) and found[end].link == found[i].link:
            end += 1
        planes += [(k, k + 1) for k in range(i, end) if found[k].kind == PLANE]
        if any(found[k].kind != PLANE for k in range(i, end)):
            ranges.append((i, end))
        i = end
    return ranges + planes


def _proxy_box(group: list[_Touchable]) -> tuple[Floats, Floats]:
    boxes = [s.link_box() for s in group if s.kind != PLANE] or [(np.zeros(3), np.zeros(3))]
    return np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)


def _exclusions(model: Model, proxies: list[list[_Touchable]], apart: set[filters.Pair]) -> list[list[int]]:
    """For each proxy, those after it that it never touches."""
    weld, joined = filters.welds(model), filters.neighbours(model)
    of_weld: dict[int, set[int]] = {}
    of_body: dict[int, set[int]] = {}
    for k, group in enumerate(proxies):
        for s in group:
            of_weld.setdefault(weld[s.body], set()).add(k)
            of_body.setdefault(s.body, set()).add(k)
    pairs = [(of_weld.get(a, set()), of_weld.get(b, set())) for a, b in joined]
    pairs += [(of_body.get(a, set()), of_body.get(b, set())) for a, b in apart]
    placed = set().union(*(of_body.get(row, set()) for row in filters.placed(model)))
    pairs.append((placed, placed | {k for k, group in enumerate(proxies) if group[0].link == 0}))
    lists: list[set[int]] = [set() for _ in proxies]
    for first, second in pairs:
        for i in first:
            for j in second:
                if i != j:
                    lists[min(i, j)].add(max(i, j))
    return [sorted(x) for x in lists]


def _ints(values: object) -> np.ndarray:
    return np.ascontiguousarray(np.array(values, dtype=np.int64).reshape(-1))


def _rows(values: Sequence[Any], width: int) -> np.ndarray:
    return np.ascontiguousarray(np.array(values, dtype=np.float64).reshape(-1, width))


def _starts(lists: Sequence[Any]) -> np.ndarray:
    """First row of each list when all are put end to end, and one past the last."""
    return _ints(np.cumsum([0, *(len(x) for x in lists)]))


def _hull_tables(hulls: list[Hull], trees: list[Tree]) -> dict[str, np.ndarray]:
    solids: list[Hull | Tree] = [*hulls, *trees]
    starts = _starts([h.vertices for h in solids])
    near = [[k + start for k in x] for h, start in zip(solids, starts, strict=False) for x in h.neighbours]
    faces = [[k + start for k in f] for h, start in zip(hulls, starts, strict=False) for f in h.faces]
    return {
        "hull_vertex": starts[: len(hulls) + 1],
        "hull_face": _starts([h.faces for h in hulls]),
        "vertex": _rows([x for h in solids for x in h.vertices], 3),
        "near_begin": _starts(near),
        "near": _ints([k for x in near for k in x]),
        "face_normal": _rows([x for h in hulls for x in h.normals], 3),
        "face_begin": _starts(faces),
        "face_vertex": _ints([k for f in faces for k in f]),
    }


def _mesh_tables(hulls: list[Hull], trees: list[Tree]) -> dict[str, np.ndarray]:
    solids: list[Hull | Tree] = [*hulls, *trees]
    vertices = _starts([h.vertices for h in solids])[len(hulls) :]
    nodes, triangles = _starts([t.low for t in trees]), _starts([t.triangles for t in trees])
    each = list(zip(trees, vertices, nodes, triangles, strict=False))
    return {
        "mesh_node": nodes,
        "triangle": _rows([x for t in trees for x in t.vertices[t.triangles].reshape(-1, 9)], 9),
        "triangle_vertex": _ints([k + v for t, v, _, _ in each for k in t.triangles.ravel()]),
        "triangle_normal": _rows([x for t in trees for x in t.normals], 3),
        "wing": _rows([x for t in trees for x in t.wings], 9),
        "owns": _ints([x for t in trees for x in t.owns]),
        "node_low": _rows([x for t in trees for x in t.low], 3),
        "node_high": _rows([x for t in trees for x in t.high], 3),
        "node_skip": _ints([x + n for t, _, n, _ in each for x in t.skip]),
        "node_first": _ints([x + k for t, _, _, k in each for x in t.first]),
        "node_count": _ints([x for t in trees for x in t.count]),
    }
