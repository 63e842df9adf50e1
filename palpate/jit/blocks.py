"""Blocks of arrays: many NamedTuples of arrays behind one address."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import types
from numba.core.typing.templates import AttributeTemplate

from palpate.jit.decorators import DISABLED

WORD = ir.IntType(64)
ITEM_BYTES = ir.Constant(WORD, 8)  # of every array in a Block
# (item, dimensions) of what a field may be annotated with
KINDS = {
    "Floats1": (types.float64, 1), "Floats2": (types.float64, 2), "Ints1": (types.int64, 1), "int": (types.int64, 0),
}  # fmt: skip

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


class Part(types.Type):
    """A NamedTuple of a Block in compiled code: an address, behind which its fields are looked up when they are used.

    To numba it is one pointer, not fifty arrays of seven members each: kernels hand several of them to each other, and
    compile in half the time.
    """

    def __init__(self, layout: type, readonly: bool) -> None:
        self.readonly = readonly
        self.annotations: tuple[tuple[str, Any], ...] = tuple(  # NamedTuple wraps the names
            (name, getattr(kind, "__forward_arg__", kind)) for name, kind in layout.__annotations__.items()
        )
        for name, kind in self.annotations:
            if kind not in KINDS:
                raise TypeError(f"{layout.__name__}.{name} is annotated with {kind!r}, not with one of the names "
                                f"{', '.join(KINDS)} (from __future__ import annotations)")  # fmt: skip
        super().__init__(name=f"{layout.__module__}.{layout.__qualname__}{' const' if readonly else ''}")

    @property
    def key(self) -> Any:
        """What makes two of them one: in a notebook a class may be written again, under its name with other fields."""
        return self.name, self.annotations

    def words(self) -> int:
        """Of its descriptors."""
        return sum(_words(kind) for kind, _ in _fields(self).values())


def _words(kind: Any) -> int:
    return 5 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


@functools.cache
def _fields(part: Part) -> dict[str, tuple[Any, int]]:
    """(type, place [words]) by name."""
    fields: dict[str, tuple[Any, int]] = {}
    place = 0
    for name, annotation in part.annotations:
        item, ndim = KINDS[annotation]
        kind = types.Array(item, ndim, "C", readonly=part.readonly) if ndim else item
        fields[name] = kind, place
        place += _words(kind)
    return fields


@extending.register_model(Part)
class PartModel(extending.models.OpaqueModel):
    """A pointer."""


@extending.infer_getattr
class PartFields(AttributeTemplate):
    key = Part

    def generic_resolve(self, part: Part, name: str) -> Any:
        return _fields(part).get(name, (None, 0))[0]


@extending.lower_getattr_generic(Part)
def load_field(context: Any, builder: Any, part: Part, pointer: Any, name: str) -> Any:
    """An array, or an integer, as the Block has it; a Block never changes, so that what is loaded once is known."""
    kind, place = _fields(part)[name]
    words = builder.bitcast(pointer, WORD.as_pointer())

    def word(at: int) -> Any:
        value = builder.load(builder.gep(words, [ir.Constant(WORD, place + at)]))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    if kind is types.int64:
        return word(0)
    array = context.get_value_type(kind)
    value = builder.insert_value(ir.Constant(array, None), word(2), 2)  # as in _descriptor; the owner is none
    value = builder.insert_value(value, ITEM_BYTES, 3)
    value = builder.insert_value(value, builder.inttoptr(word(4), array.elements[4]), 4)
    for axis in range(kind.ndim):
        stride = ITEM_BYTES if axis == kind.ndim - 1 else word(5 + kind.ndim + axis)
        value = builder.insert_value(value, word(5 + axis), (5, axis))
        value = builder.insert_value(value, stride, (6, axis))
    return value


def block_loader(*layouts: tuple[type, bool]) -> Any:
    """load(address) -> the NamedTuples of a Block, in compiled code.

    Each layout is a NamedTuple class and whether its arrays are read-only; its fields are annotated with the names
    Floats1, Floats2 (float64 of that many dimensions), Ints1 (int64) or int.
    """
    if DISABLED:
        return lambda address: _plain[address - 1][: len(layouts)]
    parts = [Part(layout, readonly) for layout, readonly in layouts]
    block = types.Tuple(parts)

    @extending.intrinsic
    def load(typingctx, address):
        def codegen(context, builder, signature, args):
            at, pointers = 0, []
            for part in parts:
                start = builder.add(args[0], ir.Constant(WORD, 8 * at))
                pointers.append(builder.inttoptr(start, context.get_value_type(part)))
                at += part.words()
            return context.make_tuple(builder, block, pointers)

        return block(types.intp), codegen

    return load
