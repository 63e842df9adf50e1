"""Blocks: structs of numbers and arrays behind one address.

A part of a Block is a NamedTuple of arrays, which never changes, or a Struct, whose numbers do: Python and compiled
code read and write the same words, `head.tick` on both sides.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any, NamedTuple, Self

import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate

from palpate.jit.decorators import DISABLED

WORD = ir.IntType(64)
ITEM_BYTES = ir.Constant(WORD, 8)  # of every array in a Block
# (item, dimensions, how many) of what a field may be annotated with
KINDS = {
    "Floats1": (types.float64, 1, 0), "Floats2": (types.float64, 2, 0), "Ints1": (types.int64, 1, 0),
    "float": (types.float64, 0, 1), "int": (types.int64, 0, 1), "Vector": (types.float64, 0, 3),
    "Quaternion": (types.float64, 0, 4),
}  # fmt: skip
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # (w, x, y, z)
ITEMS = {types.float64: np.dtype(np.float64), types.int64: np.dtype(np.int64)}

_plain: list[tuple[Any, ...]] = []  # without the compiler an address is a place in this list, and one


class Field(NamedTuple):
    """One of a part's."""

    name: str
    item: Any  # numba's type of a number, or of the items of an array
    ndim: int  # 0: a number, or a vector
    length: int  # of an array 0, of a number 1, of a vector 3, of a quaternion 4
    place: int  # where it begins [words]

    @property
    def words(self) -> int:
        """Of an array's descriptor, or of the numbers themselves."""
        return self.length or 5 + 2 * self.ndim


def fields_of(layout: type) -> tuple[Field, ...]:
    """Of a part, as they lie in memory."""
    fields, place = [], 0
    for name, annotation in annotations_of(layout):
        fields.append(Field(name, *KINDS[annotation], place))
        place += fields[-1].words
    return tuple(fields)


class Struct:
    """Numbers, vectors and arrays with names, in memory that compiled code shares.

        class Head(Struct):
            tick: int
            dt: float  # [s]
            point: Vector  # [m]
            q: Floats1  # (nq,)

        head = Head(dt=1e-3, q=np.zeros(6))

    Numbers, vectors (tuples of three) and quaternions (of four) may be written, arrays written into.  What is not given
    is zero; an array must be.
    """

    _fields: tuple[Field, ...] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = fields_of(cls)
        for field in cls._fields:
            if not field.ndim:
                setattr(cls, field.name, _Number(field))

    def __init__(self, **values: Any) -> None:
        self._memory = np.zeros(sum(field.words for field in self._fields), dtype=np.int64)
        self._floats = self._memory.view(np.float64)
        for field in self._fields:
            if field.ndim:
                x = _checked(f"{type(self).__name__}.{field.name}", values.pop(field.name, None), field)
                self.__dict__[field.name] = x
                self._memory[field.place : field.place + field.words] = _descriptor(x)
            elif field.name in values:
                setattr(self, field.name, values.pop(field.name))
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and not isinstance(getattr(type(self), name, None), _Number):
            raise AttributeError(f"{type(self).__name__}.{name} is no number: write into the array")
        super().__setattr__(name, value)

    def array(self, name: str) -> np.ndarray:
        """A field as an array that shares its memory; a number's has no dimensions."""
        number = getattr(type(self), name, None)
        return number.view(self) if isinstance(number, _Number) else getattr(self, name)

    def arrays(self) -> dict[str, np.ndarray]:
        """All fields so, by name."""
        return {field.name: self.array(field.name) for field in self._fields}

    def frozen(self) -> Self:
        """Itself, which Python cannot write from now on."""
        for memory in (self._memory, self._floats, *self.arrays().values()):
            memory.setflags(write=False)
        return self


class _Number:
    """A number or a vector in a Struct's memory."""

    def __init__(self, field: Field) -> None:
        self._where = slice(field.place, field.place + field.length)
        self._shape = () if field.length == 1 else (field.length,)
        self._is_float = field.item is types.float64

    def view(self, struct: Struct) -> np.ndarray:
        return (struct._floats if self._is_float else struct._memory)[self._where].reshape(self._shape)

    def __get__(self, struct: Struct | None, owner: type) -> Any:
        if struct is None:
            return self
        value = self.view(struct).tolist()
        return tuple(value) if self._shape else value

    def __set__(self, struct: Struct, value: Any) -> None:
        self.view(struct)[...] = value


class Block:
    """Structs and NamedTuples of arrays, of which compiled code gets all from `address`.

    A call then unpacks one integer instead of fifty arrays.  Whoever passes the address keeps the Block alive.
    """

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        if DISABLED:
            _plain.append(parts)
            self.address = len(_plain)
        else:
            self._memories = [part._memory if isinstance(part, Struct) else _described(part) for part in parts]
            self._table = np.array([memory.ctypes.data for memory in self._memories], dtype=np.int64)
            self.address = self._table.ctypes.data


def annotations_of(layout: type) -> tuple[tuple[str, str], ...]:
    """(name, one of KINDS) of each field; NamedTuple wraps the names."""
    found = [(name, _written(kind)) for name, kind in layout.__annotations__.items()]
    for name, kind in found:
        if kind not in KINDS:
            raise TypeError(f"{layout.__name__}.{name} is annotated with {kind!r}, not with one of the names "
                            f"{', '.join(KINDS)} (from __future__ import annotations)")  # fmt: skip
    return tuple(found)


def _written(kind: Any) -> str:
    """An annotation as it stands in the source: it may be a string, one that NamedTuple wrapped, or the class."""
    return kind.__name__ if kind in (int, float) else str(getattr(kind, "__forward_arg__", kind))


def _checked(name: str, x: Any, field: Field) -> np.ndarray:
    """The array; compiled code would read anything else as if it were one."""
    dtype = ITEMS[field.item]
    if not (isinstance(x, np.ndarray) and x.dtype == dtype and x.ndim == field.ndim and x.flags.c_contiguous):
        said = f"{x.dtype} {x.shape}{'' if x.flags.c_contiguous else ', not contiguous'}" if hasattr(x, "dtype") else x
        raise TypeError(f"{name} must be a contiguous array of {dtype} with {field.ndim} dimensions, not {said}")
    return x


def _descriptor(x: np.ndarray) -> tuple[int, ...]:
    """An array as compiled code lays it out: owner (2, none), items, item size, data, shape, strides."""
    return (0, 0, x.size, x.itemsize, x.ctypes.data, *x.shape, *x.strides)


def _described(part: Any) -> np.ndarray:
    """The descriptors of a NamedTuple's arrays, and its numbers, in its order."""
    words: list[int] = []
    for field, x in zip(fields_of(type(part)), part, strict=True):
        if field.ndim:
            words += _descriptor(_checked(f"{type(part).__name__}.{field.name}", x, field))
        else:
            words.append(int(np.array(x, dtype=ITEMS[field.item]).view(np.int64)))
    return np.array(words, dtype=np.int64)


class Part(types.Type):
    """A part of a Block in compiled code: an address, behind which its fields are looked up when they are used.

    To numba it is one pointer, not fifty arrays of seven members each: kernels hand several of them to each other, and
    compile in half the time.
    """

    def __init__(self, layout: type, readonly: bool) -> None:
        self.readonly = readonly
        self.fixed = readonly or not issubclass(layout, Struct)  # its numbers
        self.fields = fields_of(layout)
        # the cache knows it by its name, and a kernel's file need not import the layout's: so the name has its edits
        digest = hashlib.blake2b(repr(self.fields).encode(), digest_size=4).hexdigest()
        self.title = f"{layout.__module__}.{layout.__qualname__}{' const' if readonly else ''}"
        super().__init__(name=f"{self.title} {digest}")

    @property
    def key(self) -> Any:
        """What makes two of them one: in a notebook a class may be written again, under its name with other fields."""
        return self.name, self.fields

    def __hash__(self) -> int:
        return hash(self.name)  # looked up by the thousand; a hash of all fields takes long

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.key == other.key)


@functools.cache
def _fields(part: Part) -> dict[str, tuple[Any, int]]:
    """(type, place [words]) by name."""
    return {field.name: (_type(field, part.readonly), field.place) for field in part.fields}


def _type(field: Field, readonly: bool) -> Any:
    if field.ndim:
        return types.Array(field.item, field.ndim, "C", readonly=readonly)
    return field.item if field.length == 1 else types.UniTuple(field.item, field.length)


@extending.register_model(Part)
class PartModel(extending.models.OpaqueModel):
    """A pointer."""


@extending.infer_getattr
class PartFields(AttributeTemplate):
    key = Part

    def generic_resolve(self, part: Part, name: str) -> Any:
        return _fields(part).get(name, (None, 0))[0]


def _known(builder: Any, value: Any) -> Any:
    """A word that never changes, so that what is loaded once is known."""
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _numbers_at(builder: Any, pointer: Any, kind: Any, place: int) -> list[Any]:
    """Where a number is, or each of a vector's."""
    item, count = (kind.dtype, kind.count) if isinstance(kind, types.UniTuple) else (kind, 1)
    words = builder.bitcast(pointer, (ir.DoubleType() if item is types.float64 else WORD).as_pointer())
    return [builder.gep(words, [ir.Constant(WORD, place + k)]) for k in range(count)]


@extending.lower_getattr_generic(Part)
def load_field(context: Any, builder: Any, part: Part, pointer: Any, name: str) -> Any:
    """An array as the part has it, or a number or a vector as it is now."""
    kind, place = _fields(part)[name]
    if not isinstance(kind, types.Array):
        numbers = [builder.load(at) for at in _numbers_at(builder, pointer, kind, place)]
        numbers = [_known(builder, number) for number in numbers] if part.fixed else numbers
        return context.make_tuple(builder, kind, numbers) if isinstance(kind, types.UniTuple) else numbers[0]
    words = builder.bitcast(pointer, WORD.as_pointer())

    def word(at: int) -> Any:
        return _known(builder, builder.load(builder.gep(words, [ir.Constant(WORD, place + at)])))

    array = context.get_value_type(kind)
    value = builder.insert_value(ir.Constant(array, None), word(2), 2)  # as in _descriptor; the owner is none
    value = builder.insert_value(value, ITEM_BYTES, 3)
    value = builder.insert_value(value, builder.inttoptr(word(4), array.elements[4]), 4)
    for axis in range(kind.ndim):
        stride = ITEM_BYTES if axis == kind.ndim - 1 else word(5 + kind.ndim + axis)
        value = builder.insert_value(value, word(5 + axis), (5, axis))
        value = builder.insert_value(value, stride, (6, axis))
    return value


@extending.lower_setattr_generic(Part)
def store_field(context: Any, builder: Any, signature: Any, values: Any, name: str) -> None:
    """A number or a vector of a Struct, written."""
    part = signature.args[0]
    kind, place = _fields(part)[name]
    if part.fixed or isinstance(kind, types.Array):
        raise TypeError(f"{part.title}.{name} cannot be written: only numbers and vectors of a Struct can")
    numbers = cgutils.unpack_tuple(builder, values[1]) if isinstance(kind, types.UniTuple) else [values[1]]
    for number, at in zip(numbers, _numbers_at(builder, values[0], kind, place), strict=True):
        builder.store(number, at)


def block_loader(*layouts: tuple[type, bool]) -> Any:
    """load(address) -> the parts of a Block, in compiled code.

    Each layout is a Struct or a NamedTuple class and whether all in it is read-only; its fields are annotated with the
    names Floats1, Floats2 (float64 of that many dimensions), Ints1 (int64), float, int, Vector or Quaternion.
    """
    if DISABLED:
        return lambda address: _plain[address - 1][: len(layouts)]
    parts = [Part(layout, readonly) for layout, readonly in layouts]
    block = types.Tuple(parts)

    @extending.intrinsic
    def load(typingctx, address):
        def codegen(context, builder, signature, args):
            table = builder.inttoptr(args[0], WORD.as_pointer())
            pointers = []
            for k, part in enumerate(parts):
                start = _known(builder, builder.load(builder.gep(table, [ir.Constant(WORD, k)])))
                pointers.append(builder.inttoptr(start, context.get_value_type(part)))
            return context.make_tuple(builder, block, pointers)

        return block(types.intp), codegen

    return load
