"""Items and rows of arrays in our compiled code, in as few instructions as they need.

Numba lays an array's descriptor out in memory for each item that is read or written, and reads its shape from there,
twice: some forty instructions, all but seven of which LLVM finds out to be for nothing.  Here the few are emitted at
once: a sixth less of what LLVM is given in a first start.  What LLVM cannot find out is that an index is not negative:
numba then looks at the array's length for each, to count from its end.  Here indices count from the start, and only a
number written into the code (x[-1]) from the end: a step of a humanoid takes an eighth less time.

For integers as indices of contiguous arrays, as many as it has dimensions or one less (a row), in functions compiled by
this package's decorators, which do without numba's runtime.  Everything else is numba's, as before.  With bounds checks
a negative index is an error like one beyond the end.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin
from numba.np import arrayobj

NITEMS, ITEMSIZE, DATA, SHAPE, STRIDES = range(2, 7)  # in numba's descriptor, after the owners of the memory


def _plain_indices(context: Any, array: Any, index: Any) -> tuple[Any, ...] | None:
    """Types of integers that lead to an item or a row; None: to something else."""
    kinds = index.types if isinstance(index, types.BaseTuple) else (index,)
    plain = (
        isinstance(array, types.Array)
        and array.layout == "C"
        and array.aligned
        and isinstance(array.dtype, (types.Number, types.Boolean))
        and not context.enable_nrt
        and len(kinds) in (array.ndim, array.ndim - 1)
        and all(isinstance(kind, types.Integer) for kind in kinds)
    )
    return kinds if plain and kinds else None


def _pointer(context: Any, builder: Any, sig: Any, kinds: tuple[Any, ...], value: Any, index: Any) -> Any:
    """Where the item or the row begins."""
    array, place = sig.args[0], None
    is_tuple = isinstance(sig.args[1], types.BaseTuple)
    given = [_put_together(builder, index, k) for k in range(len(kinds))] if is_tuple else [index]
    for axis in range(array.ndim):
        length = builder.extract_value(value, (SHAPE, axis))
        if place is not None:
            place = builder.mul(place, length)
        if axis < len(kinds):
            at = _from_the_start(context, builder, kinds[axis], given[axis], length)
            if context.enable_boundscheck:
                cgutils.do_boundscheck(context, builder, at, length, axis)
            place = at if place is None else builder.add(place, at)
    return builder.gep(builder.extract_value(value, DATA), [place])


def _put_together(builder: Any, values: Any, k: int) -> Any:
    """An item of a tuple: what it was made of, if it was made here, so that a constant is seen as one."""
    made = values
    while isinstance(made, ir.instructions.InsertValue):
        if list(made.indices) == [k]:
            return made.operands[1]
        made = made.operands[0]
    return builder.extract_value(values, k)


def _from_the_start(context: Any, builder: Any, kind: Any, index: Any, length: Any) -> Any:
    """An index as a number of the machine's width; a negative one that is known now counts from the end."""
    at = context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)
    known = isinstance(at, ir.Constant) and at.constant < 0
    return builder.add(at, length) if known else at


@lower_builtin(operator.getitem, types.Array, types.Integer)
def item_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """array[i]"""
    kinds = _plain_indices(context, *sig.args)
    if kinds is None:
        return arrayobj.getitem_arraynd_intp(context, builder, sig, args)
    return _item_or_row(context, builder, sig, args, kinds)


@lower_builtin(operator.getitem, types.Array, types.BaseTuple)
def item_at_tuple(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """array[i, j]"""
    kinds = _plain_indices(context, *sig.args)
    if kinds is None:
        return arrayobj.getitem_array_tuple(context, builder, sig, args)
    return _item_or_row(context, builder, sig, args, kinds)


def _item_or_row(context: Any, builder: Any, sig: Any, args: Any, kinds: tuple[Any, ...]) -> Any:
    array, value = sig.args[0], args[0]
    pointer = _pointer(context, builder, sig, kinds, value, args[1])
    if len(kinds) == array.ndim:
        return arrayobj.load_item(context, builder, array, pointer)
    length, stride = (builder.extract_value(value, (which, len(kinds))) for which in (SHAPE, STRIDES))
    row = context.get_value_type(sig.return_type)(None)
    for k in (0, 1, ITEMSIZE):
        row = builder.insert_value(row, builder.extract_value(value, k), k)
    for part, where in ((length, NITEMS), (pointer, DATA), (length, (SHAPE, 0)), (stride, (STRIDES, 0))):
        row = builder.insert_value(row, part, where)
    return arrayobj.impl_ret_borrowed(context, builder, sig.return_type, row)


@lower_builtin(operator.setitem, types.Array, types.Integer, types.Any)
@lower_builtin(operator.setitem, types.Array, types.BaseTuple, types.Any)
def put_item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """array[i] = x, array[i, j] = x"""
    array, index, kind = sig.args
    kinds = _plain_indices(context, array, index)
    if kinds is None or len(kinds) != array.ndim:
        return arrayobj.setitem_array(context, builder, sig, args)
    pointer = _pointer(context, builder, sig, kinds, *args[:2])
    arrayobj.store_item(context, builder, array, context.cast(builder, args[2], kind, array.dtype), pointer)
    return context.get_dummy_value()
