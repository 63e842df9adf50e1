"""The memory of all copies: a row of words for each, and where in it things lie."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from palpate.world.many.lane import Lane, pieces, read_pieces
from palpate.world.many.turns import Copies
from palpate.world.world import World

# Of what a World remembers: what a reset of a copy leaves as it is.
GAINS = ("kp", "kv", "q_hold", "v_hold")


class Piece(NamedTuple):
    """Where something lies in the row of a copy."""

    begin: int  # [words]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def of(self, memory: np.ndarray) -> np.ndarray:
        """(n, *shape) of all copies; writes go into their rows.  memory (n, words)"""
        size = int(np.prod(self.shape, dtype=np.int64))
        rows = memory[:, self.begin : self.begin + size].view(self.dtype)
        # one axis split into several, the rows still apart: never a copy
        return np.lib.stride_tricks.as_strided(
            rows, (len(memory), *self.shape), (memory.strides[0], *_strides(self.shape))
        )


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """[bytes] of a contiguous array of words."""
    return tuple(8 * int(np.prod(shape[k + 1 :], dtype=np.int64)) for k in range(len(shape)))


class Memory:
    """n rows, all as a world is now, with the controls of a lane as they begin; the lane is then as the world is."""

    def __init__(self, world: World, lane: Lane, n: int) -> None:
        lane.restore(world.snapshot())
        read, given = read_pieces(lane), read_pieces(world)
        for name, x in read.items():
            x[...] = given[name]
        found = pieces(lane, lane.controls)
        sizes = [x.size for x in found.values()]
        begins = np.cumsum([0, *sizes])[:-1]
        self.pieces = {
            name: Piece(int(begin), x.shape, x.dtype) for (name, x), begin in zip(found.items(), begins, strict=True)
        }
        self._start = np.concatenate([x.ravel().view(np.int64) for x in found.values()])[None]
        self.rows = np.tile(self._start, (n, 1))
        self._stays = {*read, *GAINS}
        is_warm, room = [name.startswith("warm_") for name in found], len(lane.arrays.rows.warm_key)
        self.copies = Copies(
            memory=self.rows.ctypes.data, words=self.rows.shape[1], n_read=sum(name in found for name in read),
            n_kept=is_warm.count(False), place=begins.astype(np.int64),
            size=np.array([size // room if warm else size for size, warm in zip(sizes, is_warm, strict=True)]),
        )  # fmt: skip

    def of(self, name: str) -> np.ndarray:
        """(n, ...) of all copies, to be read and written."""
        return self.pieces[name].of(self.rows)

    def reset(self, which: np.ndarray) -> None:
        """Copies as they began, but for what they may differ in."""
        for name, piece in self.pieces.items():
            if name not in self._stays:
                self.of(name)[which] = piece.of(self._start)[0]
