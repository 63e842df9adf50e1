"""What the controllers of a scene publish and take, at the hand's end of a link: they act at the other end, and their
fields come with each state, word for word.

h Head, r Reflection
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.frame import Field
from palpate.jit import Block, Struct, block_loader
from palpate.jit.routines import routine
from palpate.link.fingerprint import fingerprint
from palpate.model.model import Ints1
from palpate.runtime.hello import merge_hello
from palpate.runtime.world.controllers import Controller, controllers_of
from palpate.scenes.scene import Scene
from palpate.servo.head import Head
from palpate.servo.parts import Part
from palpate.servo.simulation import Event

if TYPE_CHECKING:
    from palpate.runtime.world.simulation import WorldSimulation


def own_fields(scene: Scene) -> tuple[Field, ...]:
    """Those that its controllers add to a frame."""
    return tuple(field for each in controllers_of(scene) for field in each.fields)


def words_of(scene: Scene) -> int:
    """How many words these are; ValueError if that is not the same at both ends."""
    model = scene.model
    sizes = {"nq": model.nq, "nv": model.nv, "n_bodies": model.n_bodies}
    words = 0
    for field in own_fields(scene):
        if odd := [size for size in field.shape if isinstance(size, str) and size not in sizes]:
            raise ValueError(f"the field {field.name!r} is as long as there are {odd[0]}: it cannot cross a link")
        words += int(np.prod([sizes[n] if isinstance(n, str) else n for n in field.shape], dtype=int))
    return words


def scene_fingerprint(scene: Scene) -> int:
    """Of its model, and of what its controllers publish and take."""
    events = [take.name for each in controllers_of(scene) for take in each.takes]
    return fingerprint(scene.model, own_fields(scene), events)


class Reflection(Struct):
    """Where the fields lie in a frame, and what they are."""

    ints_at: int
    n_ints: int
    floats_at: int
    words: Ints1  # (n,) as they came: all whole numbers, then all others


load = block_loader((Head, False), (Reflection, False))


@routine
def tick_reflected(address):
    return 0


@routine
def publish_reflected(address):
    h, r = load(address)
    for i in range(r.words.shape[0]):
        at = r.ints_at + i if i < r.n_ints else r.floats_at + i - r.n_ints
        h.frames[h.frame_at + at] = r.words[i]
    return 0


class Reflected:
    """All controllers of a scene as one that does nothing but show what theirs did; `words` is what comes."""

    def __init__(self, controllers: Sequence[Controller], words: Ints1) -> None:
        self.controllers, self.words = list(controllers), words
        self.fields: tuple[Field, ...] = tuple(field for each in self.controllers for field in each.fields)
        self.takes: tuple[Event, ...] = tuple(take for each in self.controllers for take in each.takes)

    def part(self, engine: WorldSimulation) -> Part:
        at = {kind: [engine.layout.offset[f.name] for f in self.fields if f.kind == kind] for kind in "if"}
        n_ints = sum(engine.layout.length[f.name] for f in self.fields if f.kind == "i")
        own = Reflection(
            ints_at=at["i"][0] if at["i"] else 0, n_ints=n_ints, floats_at=at["f"][0] if at["f"] else 0,
            words=self.words,
        )  # fmt: skip
        self._block = Block(engine.head, own)
        return Part(tick_reflected, self._block, publish=publish_reflected)

    def hello(self) -> dict[str, Any]:
        """As they tell it at the other end."""
        told = (each.hello() for each in self.controllers if hasattr(each, "hello"))
        return reduce(merge_hello, told, {})
