"""Laws: functions of a few numbers, compiled to C functions, that a step calls by their address.

A compiled step cannot take a Python function as an argument and stay in the cache; it can take an integer.  A call
through it costs a few nanoseconds.
"""

from __future__ import annotations

import ctypes
import dis
import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import sigutils

from palpate.jit.decorators import DISABLED, entry
from palpate.jit.shared import CFunction, plain_function


class Law(CFunction):
    """A compiled C function of float64 numbers; made by `law`.  Calling it runs the compiled code."""

    takes = "numbers"

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        super().__init__(function, signature)
        wanted = len(sigutils.normalize_signature(signature)[0])
        if len(inspect.signature(function).parameters) != wanted:
            raise TypeError(f"the law {self.name!r} must take {wanted} {self.takes}: {signature}")
        if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(function)):
            raise TypeError(
                f"the law {self.name!r} raises or asserts, which a C function cannot; return math.nan instead"
            )

    @cached_property
    def _call(self) -> Callable[..., float]:
        if DISABLED:
            return self.function
        count = self.signature.count("float64")
        return ctypes.CFUNCTYPE(*[ctypes.c_double] * count)(self.address)

    def __call__(self, *numbers: float) -> float:
        return float(self._call(*numbers))

    def __repr__(self) -> str:
        return f"<law {self.name}: {self.signature}>"


def law(signature: str) -> Callable[[Callable[..., float]], Law]:
    """Decorator: a function of float64 numbers as a law, "float64(float64, float64)" with as many as it takes.

    It may call kernels and `math`; it cannot allocate, raise or keep state.  What is not a number it says by math.nan.
    """
    return lambda function: Law(function, signature)


THREE, FOUR = "UniTuple(float64, 3)", "UniTuple(float64, 4)"
FIELD = f"{THREE}({THREE}, {THREE}, float64, {FOUR})"


class FieldLaw(Law):
    """A compiled vector field: three numbers at a position, a velocity and a time; made by `field_law`."""

    takes = "arguments"

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, FIELD)

    def __call__(self, position: Any, velocity: Any, time_s: float = 0.0, settings: Any = ()) -> Any:  # type: ignore
        """The field (3,) there and then; settings not given are 0."""
        x, out = np.zeros(11), np.empty(3)
        x[0:3], x[3:6], x[6], x[7 : 7 + len(settings)] = position, velocity, time_s, settings
        field_entry(self.address, x, out)
        return out


def field_law(function: Callable[..., Any]) -> FieldLaw:
    """Decorator: function(position, velocity, time_s, settings) -> three numbers, as a law.

    Position and velocity are tuples of three, settings of four.  As with `law`: kernels and `math`, but no allocation,
    no raise, no memory; what is not a number it says by math.nan.
    """
    return FieldLaw(function)


def _call_through(builder: Any, address: Any, numbers: Any) -> Any:
    double = ir.DoubleType()
    kind = ir.FunctionType(double, [double] * len(numbers))
    return builder.call(builder.inttoptr(address, kind.as_pointer()), numbers)


@extending.intrinsic
def call_law2(typingctx, address, a, b):
    """The law of two numbers at an address."""

    def codegen(context, builder, signature, args):
        return _call_through(builder, args[0], args[1:])

    x = types.float64
    return x(types.intp, x, x), codegen


@extending.intrinsic
def call_law4(typingctx, address, a, b, c, d):
    """The law of four numbers at an address."""

    def codegen(context, builder, signature, args):
        return _call_through(builder, args[0], args[1:])

    x = types.float64
    return x(types.intp, x, x, x, x), codegen


@extending.intrinsic
def call_field(typingctx, address, position, velocity, time_s, settings):
    """The field law at an address.  Caller and law are compiled alike, so tuples travel as they are."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(context.get_value_type(signature.return_type), [x.type for x in args[1:]])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

    takes, gives = sigutils.normalize_signature(FIELD)
    return gives(types.intp, *takes), codegen


if DISABLED:

    def call_law2(address, a, b):
        return plain_function(address)(a, b)

    def call_law4(address, a, b, c, d):
        return plain_function(address)(a, b, c, d)

    def call_field(address, position, velocity, time_s, settings):
        try:
            return plain_function(address)(position, velocity, time_s, settings)
        except (ArithmeticError, ValueError):  # sqrt(-1) and 1/0 are numbers, or NaN, in compiled code
            return (np.nan, np.nan, np.nan)


@entry("intp, float64[::1], float64[::1]")
def field_entry(address, x, out):
    """x (11,): position, velocity, time, four settings."""
    here, moving, settings = (x[0], x[1], x[2]), (x[3], x[4], x[5]), (x[7], x[8], x[9], x[10])
    out[0], out[1], out[2] = call_field(address, here, moving, x[6], settings)
