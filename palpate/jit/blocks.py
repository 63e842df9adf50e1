"""Blocks of arrays: many NamedTuples of arrays behind one address."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import extending
from numba.core import types

from palpate.jit.decorators import DISABLED

_plain: list[tuple[Any, ...]] = []  # without the compiler an address is a place in this list, and one


class Block:
    """NamedTuples of arrays whose descriptors lie in one piece of memory: compiled code gets them all from `address`.

    A call then unpacks one integer instead of fifty arrays.  Whoever passes the address keeps the Block alive.
    """

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        if DISABLED:
            _plain.append(parts)
            self.address = len(_plain)
        else:
            words = [word for part in parts for x in part for word in _descriptor(x)]
            self._memory = np.array(words, dtype=np.int64)
            self.address = self._memory.ctypes.data


def _descriptor(x: Any) -> tuple[int, ...]:
    """A value as compiled code lays it out; arrays: owner (2, none), items, item size, data, shape, strides."""
    if isinstance(x, np.ndarray):
        return (0, 0, x.size, x.itemsize, x.ctypes.data, *x.shape, *x.strides)
    return (int(x),)


def block_loader(*layouts: tuple[type, bool]) -> Any:
    """load(address) -> the NamedTuples of a Block, in compiled code.

    Each layout is a NamedTuple class and whether its arrays are read-only; its fields are annotated with the names
    Floats1, Floats2 (float64 of that many dimensions), Ints1 (int64) or int.
    """
    if DISABLED:
        return lambda address: _plain[address - 1][: len(layouts)]
    block = types.Tuple(tuple(_named_tuple_type(layout, readonly) for layout, readonly in layouts))

    @extending.intrinsic
    def load(typingctx, address):
        def codegen(context, builder, signature, args):
            return builder.load(builder.inttoptr(args[0], context.get_value_type(block).as_pointer()))

        return block(types.intp), codegen

    return load


def _named_tuple_type(layout: type, readonly: bool) -> Any:
    known = {"Floats1": (types.float64, 1), "Floats2": (types.float64, 2), "Ints1": (types.int64, 1)}
    fields = []
    for annotation in layout.__annotations__.values():
        name = str(getattr(annotation, "__forward_arg__", annotation))  # NamedTuple wraps the names
        fields.append(types.int64 if name == "int" else types.Array(*known[name], "C", readonly=readonly))
    return types.NamedTuple(fields, layout)
