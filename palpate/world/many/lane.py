"""A lane: the World of a thread, in which copies of another take turns; and what makes a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from palpate.jit.blocks import Block
from palpate.jit.routines import Routine
from palpate.model.compile import welded
from palpate.model.description import MultiBody
from palpate.world.build import lone_links
from palpate.world.many.turns import LaneTable
from palpate.world.reading import remembered_awake
from palpate.world.views import Snapshot
from palpate.world.world import World

# What a step reads and does not change, and copies may have their own of: of ModelArrays, of State.
OF_MODEL = ("mass", "com", "inertia")
OF_STATE = ("mu_static", "mu_sliding", "spin", "middle")


class Control(Protocol):
    """A compiled controller, made for one World: a `ControlPart` is one.

    tick       called before steps k with k % every == phase, with where everything is and how it moves
    remembers  arrays, or numbers as `Struct.array` gives them, that its next tick depends on, by name: each copy has
               its own.  {} if there are none; None: unknown, which a Batch refuses
    """

    @property
    def name(self) -> str: ...
    @property
    def tick(self) -> Routine: ...
    @property
    def block(self) -> Block: ...
    @property
    def every(self) -> int: ...
    @property
    def phase(self) -> int: ...
    @property
    def remembers(self) -> Mapping[str, np.ndarray] | None: ...


Controls = Callable[[World], Control | Iterable[Control]]


class Lane(World):
    """A World with the bodies and options of another, and with arrays of its own, the model's among them."""

    def __init__(self, world: World, controls: Controls | None) -> None:
        self._laws, self._options = world._laws, replace(world._options, sleep=False)
        self._seen, self._modules, self.in_session = None, None, False
        self._parts, self._tied = dict(world._parts), dict(world._tied)
        own: dict[str, Any] = {name: getattr(world.model.arrays, name).copy() for name in OF_MODEL}
        self._furnish(replace(world.model, arrays=world.model.arrays._replace(**own), _scratch={}, _blocks=[]))
        made: Any = () if controls is None else controls(self)
        self.controls: tuple[Control, ...] = (made,) if hasattr(made, "tick") else tuple(made)
        for each in self.controls:
            if getattr(each, "remembers", None) is None:
                raise ValueError(
                    f"the control {getattr(each, 'name', each)!r} does not say what it remembers, which each copy must "
                    "have for itself; give it remembers={...}, or {} if that is nothing"
                )
        numbers = [x for c in self.controls for x in (c.tick.address, c.block.address, c.every, c.phase)]
        at = [x.ctypes.data for x in pieces(self, self.controls).values()]
        self.table = LaneTable(world=self._address, at=np.array(at), controls=np.array(numbers, dtype=np.int64))

    def restore(self, snapshot: Snapshot) -> None:
        """Back to a snapshot, in which whoever slept is awake."""
        super().restore(snapshot)
        s, r, c = self._arrays.state, self._arrays.rows, self._arrays.contacts
        s.n_asleep, r.n_kept, c.kept = 0, 0, 0
        s.asleep[:] = c.still[:] = 0
        self.forget_contacts()

    def add(self, part: MultiBody) -> str:
        raise ValueError("a copy has the bodies of all: add to the world and make another batch")

    def remove(self, name: str) -> None:
        raise ValueError("a copy has the bodies of all: remove from the world and make another batch")

    def weigh(self, body: str, masses: np.ndarray) -> None:
        """The link of a body, with masses of all bodies (n_bodies,), as `compile` and `build` would have it."""
        m, s, g = self.model.arrays, self.arrays.state, self.arrays.shapes.geometry
        link = m.body_link[self.model.body(body)]
        m.mass[link], m.com[link], m.inertia[link] = welded(self.model, link, masses)
        s.spin[link] = lone_links(self.model)[1][link]
        if link not in g.proxy_link[: len(g.proxy_link) - g.n_planes]:
            s.middle[link] = m.com[link]

    def forget_contacts(self) -> None:
        """Those of the copy that was here before are not this one's."""
        self._arrays.contacts.count = 0
        self._arrays.rows.n_contacts = 0


def read_pieces(world: World) -> dict[str, np.ndarray]:
    """What a step only reads and copies may differ in."""
    m, s = world.model.arrays, world.arrays.state
    return {name: getattr(m, name) for name in OF_MODEL} | {name: s.array(name) for name in OF_STATE}


def pieces(world: World, controls: Iterable[Control] = ()) -> dict[str, np.ndarray]:
    """All that makes a copy, by name, in the order of its row; what controls remember is "control.name"."""
    known = remembered_awake(world.arrays)  # copies do not sleep: they would carry what is known of it to and fro
    warm = {name: x for name, x in known.items() if name.startswith("warm_")}
    kept = {name: x for name, x in known.items() if name not in warm}
    own = {f"{c.name}.{name}": x for c in controls for name, x in (c.remembers or {}).items()}
    for name, x in own.items():
        if not (isinstance(x, np.ndarray) and x.itemsize == 8 and x.flags.c_contiguous):
            raise ValueError(f"{name} must be a contiguous array of float64 or int64, or Struct.array of a number")
    return {name: x for name, x in (read_pieces(world) | kept | own | warm).items() if x.size}
