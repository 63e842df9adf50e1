"""Collider: contacts and distances of a model for people; the World calls `detect` itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.collision.contacts import contacts
from palpate.collision.entries import distance_entry
from palpate.collision.filters import Ignore
from palpate.collision.geometry import check, place_and_detect, shapes
from palpate.collision.tables import PLANE
from palpate.dynamics.workspace import address_of
from palpate.jit import Block
from palpate.model.model import Floats, Model

NEAR, FARTHEST = 0.01, 1e4  # [m] where the search for a distance begins and ends


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """Where two bodies touch or nearly do; world axes, see collision/contacts.py."""

    body_a: str
    body_b: str
    shape_a: str
    shape_b: str
    point: Floats  # (3,) midway between the surfaces [m]
    normal: Floats  # (3,) unit, from a to b
    gap: float  # [m]; negative: penetration
    feature: int  # the same while the same corners, edges and faces touch


class Distance(NamedTuple):
    """gap [m], negative: penetration; the nearest points of both bodies; unit normal from the first to the second."""

    gap: float
    point_a: Floats
    point_b: Floats
    normal: Floats


class Collider:
    """Finds what touches in a model.

    margin    contacts exist where the gap is below it [m]
    ignore    pairs of names that never touch: bodies, copies ("puma560.2"), or names in `parts`
    full      every point of a patch instead of its corners
    capacity  contacts that fit; `lost` counts the others
    """

    def __init__(
        self,
        model: Model,
        margin: float = 0.005,
        ignore: Ignore = (),
        full: bool = False,
        capacity: int | None = None,
        parts: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.model, self.full = model, bool(full)
        self.shapes = shapes(model, ignore, parts)
        room = 64 + 32 * model.n_links if capacity is None else int(capacity)
        self._contacts = contacts(self.shapes.geometry, model.n_links, room, margin)
        self._block = Block(self.shapes.geometry, self._contacts)
        self._far = contacts(self.shapes.geometry, model.n_links, 1)
        self._far_block = Block(self.shapes.geometry, self._far)

    @property
    def lost(self) -> int:
        """Contacts that did not fit, since the start."""
        return self._contacts.lost

    def contacts(self, q: ArrayLike) -> list[ContactPoint]:
        """All contacts at q (nq,)."""
        c, g = self._contacts, self.shapes.geometry
        place_and_detect(self.model, self._block, self._position(q), self.full)
        names, bodies = self.shapes.names, self.model.body_names
        return [
            ContactPoint(
                bodies[g.body[c.shape_a[k]]], bodies[g.body[c.shape_b[k]]], names[c.shape_a[k]], names[c.shape_b[k]],
                c.point[k].copy(), c.normal[k].copy(), float(c.gap[k]), int(c.feature[k]),
            )
            for k in range(c.count)
        ]  # fmt: skip

    def distance(self, q: ArrayLike, a: str, b: str) -> Distance:
        """The nearest points of two bodies at q, however far apart; filters do not count here."""
        c, g, position = self._far, self.shapes.geometry, self._position(q)
        rows = [np.flatnonzero(g.body == self.model.body(name)) for name in (a, b)]
        for name, found in zip((a, b), rows, strict=True):
            if len(found) == 0:
                raise ValueError(f"body {name!r} has no shape that can be touched")
        if a == b:
            raise ValueError(f"the distance of {a!r} from itself is not asked")
        best, out = np.full(7, np.inf), np.empty(7)
        c.margin = NEAR
        while best[0] == np.inf and c.margin < FARTHEST:  # a mesh is searched no wider than it must be
            for i in rows[0]:
                for j in rows[1]:
                    if g.kind[i] != PLANE or g.kind[j] != PLANE:
                        address = address_of(self.model)
                        code = distance_entry(address, self._far_block.address, position, int(i), int(j), out)
                        check(self.model, code)
                        best = out.copy() if out[0] < best[0] else best
            c.margin *= 8.0
        gap, point, normal = float(best[0]), best[1:4], best[4:]
        return Distance(gap, point - 0.5 * gap * normal, point + 0.5 * gap * normal, normal)

    def _position(self, q: ArrayLike) -> Floats:
        array = np.array(q, dtype=np.float64)
        if array.shape != (self.model.nq,):
            raise ValueError(f"q has shape {array.shape}, the model needs ({self.model.nq},)")
        return array
