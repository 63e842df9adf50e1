"""Clearance: how near a motion comes to what is in its way, row by row; negative where it runs into it.

Distances are those of collision/ (nothing is solved, nothing moves), by one compiled call for all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.collision import filters
from palpate.collision.contacts import contacts
from palpate.collision.entries import path_gaps_entry
from palpate.collision.geometry import Shapes, check, shapes
from palpate.collision.tables import PLANE, Geometry
from palpate.dynamics.workspace import address_of
from palpate.jit import Block
from palpate.model.model import Floats1, Floats2, Ints1, Model
from palpate.world.world import World

# Overlap that is a touch and no collision: bodies that rest on each other overlap by rounding, and a blow that is felt
# in time leaves some micrometres.  Smaller, and rest would be called a collision; larger, and a scratch would be none.
RESTING_M = 1e-4


class Nearest(NamedTuple):
    """The smallest gap [m] of a motion, at which row, and between whom."""

    gap_m: float
    row: int
    body: str
    obstacle: str


@dataclass(frozen=True, eq=False)
class Clearance:
    """Gaps [m] along a motion of n rows, negative: penetration; infinite where there is nothing to run into."""

    pairs: tuple[tuple[str, str], ...]  # (body, obstacle), k of them
    gaps_m: Floats2  # (n, k)
    gap_m: Floats1  # (n,) the smallest of each row
    pair: Ints1  # (n,) whose it is: a row of `pairs`, -1 if there are none

    @property
    def smallest(self) -> Nearest:
        """The smallest of all rows."""
        row = int(np.argmin(self.gap_m))
        body, obstacle = self.pairs[self.pair[row]] if self.pairs else ("", "")
        return Nearest(float(self.gap_m[row]), row, body, obstacle)

    def of(self, body: str | None = None, obstacle: str | None = None) -> Clearance:
        """Only what concerns this body, this obstacle, or this pair."""
        keep = [k for k, (a, b) in enumerate(self.pairs) if body in (None, a) and obstacle in (None, b)]
        if not keep:
            wanted = " and ".join(repr(name) for name in (body, obstacle) if name is not None)
            raise ValueError(f"nothing was asked about {wanted or 'anything'}; there are {list(self.pairs)}")
        return _clearance(tuple(self.pairs[k] for k in keep), np.ascontiguousarray(self.gaps_m[:, keep]))

    def first_below(self, gap_m: float = 0.0) -> int | None:
        """The first row that comes nearer than `gap_m`; None: it never does."""
        rows = np.flatnonzero(self.gap_m < gap_m)
        return int(rows[0]) if len(rows) else None

    def told(self, time_s: Floats1, clearance_m: float = 0.0) -> list[str]:
        """Who comes nearer than `clearance_m` [m] to whom, and when, in plain words, one line for each pair.

        time_s       (n,) of the rows
        clearance_m  0: only collisions; bodies that touch and rest on each other (RESTING_M) do not collide
        """
        lines = []
        for k, (body, obstacle) in enumerate(self.pairs):
            gaps = self.gaps_m[:, k]
            row = int(np.argmin(gaps)) if len(gaps) else -1
            if row < 0 or gaps[row] >= (clearance_m or -RESTING_M):
                continue
            first, gap_mm = int(np.flatnonzero(gaps < clearance_m)[0]), 1e3 * gaps[row]
            what = f"runs {-gap_mm:.3g} mm into" if gap_mm < 0.0 else f"comes within {gap_mm:.3g} mm of"
            since = "touches it" if clearance_m == 0.0 else f"is nearer than {1e3 * clearance_m:.3g} mm"
            lines.append(f"{body} {what} {obstacle} at {time_s[row]:.4g} s; it first {since} at {time_s[first]:.4g} s")
        return lines


def clearance(
    where: Model | World,
    q_rows: ArrayLike,
    bodies: Sequence[str] | None = None,
    obstacles: Sequence[str] | None = None,
) -> Clearance:
    """Gaps between bodies and obstacles at every row of q_rows (n, nq).

    bodies     default: all that the joints move which these rows move (if none does, all that any joint moves)
    obstacles  default: all other bodies, static or not; planes count
    What two bodies of one mechanism that a joint connects, or that were drawn overlapping, do is not looked at; pairs
    that a World ignores are, for what is not solid can still be in the way.
    """
    model = where.model if isinstance(where, World) else where
    rows = np.array(q_rows, dtype=np.float64, order="C")
    if rows.ndim != 2 or rows.shape[1] != model.nq:
        raise ValueError(f"q_rows has shape {rows.shape}, the model needs (n, {model.nq})")
    found = _shapes(model)
    moving = _moving(model, rows) if bodies is None else {model.body(name) for name in bodies}
    others = set(range(1, model.n_bodies)) - moving if obstacles is None else {model.body(name) for name in obstacles}
    pairs, names = _pairs(model, found.geometry, moving, others)
    return _clearance(names, _gaps(model, found, pairs, len(names), rows))


class Gaps:
    """Gaps between named bodies and obstacles for many sets of rows: what does not change is found once."""

    def __init__(self, model: Model, bodies: Sequence[str], obstacles: Sequence[str]) -> None:
        self.model, self.found = model, _shapes(model)
        moving, others = ({model.body(name) for name in names} for names in (bodies, obstacles))
        self.pairs, self.names = _pairs(model, self.found.geometry, moving, others)

    def __call__(self, rows: Floats2) -> Floats2:
        """(n, k) [m] of rows (n, nq); columns as `names`."""
        return _gaps(self.model, self.found, self.pairs, len(self.names), np.ascontiguousarray(rows))


def _gaps(model: Model, found: Shapes, pairs: Ints1, columns: int, rows: Floats2) -> Floats2:
    gaps = np.empty((len(rows), columns))
    if columns and len(rows):
        block = Block(found.geometry, contacts(found.geometry, model.n_links, 1))
        bad_row = np.zeros(1, dtype=np.intp)
        code = path_gaps_entry(address_of(model), block.address, rows, pairs, gaps, bad_row)
        try:
            check(model, code)
        except ValueError as error:
            raise ValueError(f"row {bad_row[0]}: {error}") from None
    return gaps


@lru_cache(maxsize=8)
def _shapes(model: Model) -> Shapes:
    """What can be touched; kept, since meshes take a while to read."""
    return shapes(model)


def _clearance(names: tuple[tuple[str, str], ...], gaps: Floats2) -> Clearance:
    n = len(gaps)
    if not names:
        return Clearance(names, gaps, np.full(n, np.inf), np.full(n, -1))
    return Clearance(names, gaps, gaps.min(axis=1), np.argmin(gaps, axis=1))


def _moving(model: Model, rows: Floats2) -> set[int]:
    """Rows of the bodies that can move, in the mechanisms whose coordinates change."""
    changes = np.ptp(rows, axis=0) > 0.0 if len(rows) else np.zeros(model.nq, dtype=bool)
    root, link = filters.roots(model), model.arrays.body_link
    active = set()
    for row in range(1, model.n_bodies):
        joint = model.parent_joint(row)
        if joint is not None and joint.name in model.q_index and changes[model.q_index[joint.name]].any():
            active.add(root[row])
    return {row for row in range(1, model.n_bodies) if link[row] and (not active or root[row] in active)}


def _pairs(model: Model, g: Geometry, moving: set[int], others: set[int]) -> tuple[Ints1, tuple[tuple[str, str], ...]]:
    """Pairs of shapes to look at (k, 3) shape, shape, column; and the bodies of each column."""
    proxy = np.empty(len(g.kind), dtype=np.int64)
    for p, (begin, end) in enumerate(zip(g.proxy_begin, g.proxy_end, strict=True)):
        if end - begin == 1 or g.kind[begin] != PLANE:
            inside = np.arange(begin, end)
            proxy[inside if end - begin == 1 else inside[g.kind[begin:end] != PLANE]] = p
    apart = {(p, int(k)) for p in range(len(g.proxy_link))
             for k in g.excluded[g.excluded_begin[p] : g.excluded_begin[p + 1]]}  # fmt: skip
    columns: dict[tuple[int, int], int] = {}
    rows = []
    for a in np.flatnonzero(np.isin(g.body, list(moving))):
        for b in np.flatnonzero(np.isin(g.body, list(others))):
            i, j = int(g.body[a]), int(g.body[b])
            between = (int(min(proxy[a], proxy[b])), int(max(proxy[a], proxy[b])))
            if g.link[a] == g.link[b] or between in apart or (g.kind[a] == PLANE and g.kind[b] == PLANE):
                continue
            if (j, i) not in columns:  # both ways round when a body is named in both lists
                rows.append((int(a), int(b), columns.setdefault((i, j), len(columns))))
    names = tuple((model.body_names[i], model.body_names[j]) for i, j in columns)
    return np.array(rows, dtype=np.int64).reshape(-1, 3), names
