"""Kept: memory as it is and as it was at the start, so that a reset is a restore of all of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from palpate.jit import Block, Struct, block_loader, kernel
from palpate.model.model import Ints1


class Kept(Struct):
    """Some words as they are, and as they were at the start."""

    words: Ints1
    start: Ints1


load_kept = block_loader((Kept, False))


@kernel
def restore_kept(addresses):
    """All as it was."""
    for n in range(addresses.shape[0]):
        kept = load_kept(addresses[n])[0]
        for i in range(kept.words.shape[0]):
            kept.words[i] = kept.start[i]


def words_of(struct: Struct) -> list[Ints1]:
    """All memory of a Struct, as words."""
    return [array.reshape(-1).view(np.int64) for array in struct.arrays().values()]


class Keeping:
    """The start of some Structs: `addresses` are what restore_kept takes; `note` makes now the start."""

    def __init__(self, structs: Iterable[Struct]) -> None:
        words = [part for struct in structs for part in words_of(struct)]
        self._kept = [Kept(words=part, start=part.copy()) for part in words]
        self._blocks = [Block(kept) for kept in self._kept]
        self.addresses: Ints1 = np.array([block.address for block in self._blocks], dtype=np.int64)

    def note(self) -> None:
        for kept in self._kept:
            kept.start[:] = kept.words
