"""Six numbers as one vector of the processor: a spatial vector, or a row of a 6 x 6 matrix.

The compiler turns loops over six numbers into single multiplications; with these it uses its vector registers, and a
6 x 6 update takes a third of the time.  Kernels only: a Six lives in registers, and is loaded and stored by row.
Without the compiler a Six is a numpy array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import datamodel
from numba.np import arrayobj

from palpate.jit.compiler.flags import FASTMATH
from palpate.jit.decorators import DISABLED

VECTOR = ir.VectorType(ir.DoubleType(), 6)
FLAGS = tuple(FASTMATH)


class SixType(types.Type):
    def __init__(self) -> None:
        super().__init__("Six")


six_type = SixType()


@datamodel.register_default(SixType)
class SixModel(datamodel.models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


def _row(context: Any, builder: Any, array_type: Any, array: Any, i: Any, at: Any) -> Any:
    """Address of array[i, at] as that of a Six; array (n, columns) float64."""
    a = arrayobj.make_array(array_type)(context, builder, array)
    columns = builder.extract_value(a.shape, array_type.ndim - 1)
    offset = builder.add(builder.mul(i, columns), at)
    return builder.bitcast(builder.gep(a.data, [offset]), VECTOR.as_pointer())


def _spread(builder: Any, x: Any) -> Any:
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), x, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), 6), [0] * 6)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), zeros)


@extending.intrinsic
def six(typingctx, array, i, at):
    """array[i, at : at + 6]; a one-dimensional array is one row."""

    def codegen(context, builder, signature, args):
        return builder.load(_row(context, builder, signature.args[0], *args), align=8)

    return six_type(array, types.intp, types.intp), codegen


@extending.intrinsic
def put_six(typingctx, array, i, at, x):
    """array[i, at : at + 6] = x."""

    def codegen(context, builder, signature, args):
        builder.store(args[3], _row(context, builder, signature.args[0], *args[:3]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, six_type), codegen


@extending.intrinsic
def plus(typingctx, x, y):
    """x + y."""

    def codegen(context, builder, signature, args):
        return builder.fadd(*args, flags=FLAGS)

    return six_type(six_type, six_type), codegen


@extending.intrinsic
def times(typingctx, a, x):
    """a x, a number."""

    def codegen(context, builder, signature, args):
        return builder.fmul(_spread(builder, args[0]), args[1], flags=FLAGS)

    return six_type(types.float64, six_type), codegen


@extending.intrinsic
def plus_times(typingctx, y, a, x):
    """y + a x, a number."""

    def codegen(context, builder, signature, args):
        return builder.fadd(args[0], builder.fmul(_spread(builder, args[1]), args[2], flags=FLAGS), flags=FLAGS)

    return six_type(six_type, types.float64, six_type), codegen


@extending.intrinsic
def inner(typingctx, x, y):
    """x . y."""

    def codegen(context, builder, signature, args):
        z, index = builder.fmul(*args, flags=FLAGS), ir.IntType(32)
        pairs = [builder.shuffle_vector(z, z, ir.Constant(ir.VectorType(index, 2), [k, k + 1])) for k in (0, 2, 4)]
        two = builder.fadd(builder.fadd(pairs[0], pairs[1], flags=FLAGS), pairs[2], flags=FLAGS)
        return builder.fadd(*(builder.extract_element(two, ir.Constant(index, k)) for k in range(2)), flags=FLAGS)

    return types.float64(six_type, six_type), codegen


@extending.intrinsic
def lane(typingctx, x, k):
    """x[k]."""

    def codegen(context, builder, signature, args):
        return builder.extract_element(args[0], args[1])

    return types.float64(six_type, types.intp), codegen


@extending.intrinsic
def with_lane(typingctx, x, k, a):
    """x, but x[k] = a."""

    def codegen(context, builder, signature, args):
        x, k, a = args
        return builder.insert_element(x, a, k)

    return six_type(six_type, types.intp, types.float64), codegen


@extending.intrinsic
def no_six(typingctx):
    """Six zeros."""

    def codegen(context, builder, signature, args):
        return ir.Constant(VECTOR, [0.0] * 6)

    return six_type(), codegen


if DISABLED:

    def six(array, i, at):
        return np.array(array[i, at : at + 6] if array.ndim == 2 else array[at : at + 6])

    def put_six(array, i, at, x):
        if array.ndim == 2:
            array[i, at : at + 6] = x
        else:
            array[at : at + 6] = x

    def plus(x, y):
        return x + y

    def times(a, x):
        return a * x

    def plus_times(y, a, x):
        return y + a * x

    def inner(x, y):
        return float(x @ y)

    def lane(x, k):
        return float(x[k])

    def with_lane(x, k, a):
        x = x.copy()
        x[k] = a
        return x

    def no_six():
        return np.zeros(6)
