"""Laws: functions of a fixed signature, compiled to C functions, that a step calls by their address.

A compiled step cannot take a Python function as an argument and stay in the cache; it can take an integer.  A call
through it costs a few nanoseconds.

A law that has one argument more than its kind has state: a row of STATE numbers, one row for each place where the law
is used, zero at first and then as the law left it.
"""

from __future__ import annotations

import ctypes
import dis
import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.np import arrayobj

from palpate.jit.decorators import DISABLED, entry, kernel
from palpate.jit.shared import CFunction, plain_function

STATE = 4  # numbers in a law's row
NUMBER, THREE, FOUR = "float64", "UniTuple(float64, 3)", "UniTuple(float64, 4)"


class Law(CFunction):
    """A compiled C function of numbers, and of its state if it keeps any; made by `law`.

    Calling it runs the compiled code, with `state` (STATE,) as the last argument, or all zero.
    """

    def __init__(self, function: Callable[..., Any], takes: Sequence[str], gives: str = NUMBER) -> None:
        self.takes = tuple(takes)  # without the state
        given = len(inspect.signature(function).parameters)
        self.state_size = STATE if given == len(self.takes) + 1 else 0
        arguments = (*self.takes, "CPointer(float64)") if self.state_size else self.takes
        super().__init__(function, f"{gives}({', '.join(arguments)})")
        if given != len(arguments):
            raise TypeError(
                f"the law {self.name!r} must take {len(self.takes)} arguments, or one more for its state: "
                f"{', '.join(self.takes)}"
            )
        if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(function)):
            raise TypeError(
                f"the law {self.name!r} raises or asserts, which a C function cannot; return math.nan instead"
            )

    @cached_property
    def _call(self) -> Callable[..., float]:
        if DISABLED:
            return self.function
        kinds = [ctypes.c_double] * (1 + len(self.takes)) + [ctypes.c_void_p] * (self.state_size > 0)
        return ctypes.CFUNCTYPE(*kinds)(self.address)

    def __call__(self, *arguments: Any) -> Any:
        numbers, given = arguments[: len(self.takes)], arguments[len(self.takes) :]
        if not self.state_size:
            return float(self._call(*arguments))
        state = self._state(*given)
        return float(self._call(*numbers, state if DISABLED else state.ctypes.data))

    def _state(self, given: Any = None) -> np.ndarray:
        """As compiled code takes it; none is empty."""
        state = np.zeros(self.state_size) if given is None else given
        if state.shape != (self.state_size,) or state.dtype != np.float64 or not state.flags.c_contiguous:
            raise TypeError(f"the state of the law {self.name!r} is {self.state_size} contiguous numbers of float64")
        return state

    def __repr__(self) -> str:
        return f"<law {self.name}: {self.signature}>"


def law(count: int) -> Callable[[Callable[..., float]], Law]:
    """Decorator: a function of so many float64 numbers as a law; with one argument more, `state`, it may remember.

    It may call kernels and `math`; it cannot allocate or raise.  What is not a number it says by math.nan.
    """
    return lambda function: Law(function, (NUMBER,) * count)


class FieldLaw(Law):
    """A compiled vector field: three numbers at a position, a velocity and a time; made by `field_law`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, (THREE, THREE, NUMBER, FOUR), THREE)

    def __call__(
        self, position: Any, velocity: Any, time_s: float = 0.0, settings: Any = (), state: Any = None
    ) -> np.ndarray:
        """The field (3,) there and then; settings not given are 0."""
        x, out = np.zeros(11), np.empty(3)
        x[0:3], x[3:6], x[6], x[7 : 7 + len(settings)] = position, velocity, time_s, settings
        field_entry(self.address, x, self._state(state), out)
        return out


def field_law(function: Callable[..., Any]) -> FieldLaw:
    """Decorator: function(position, velocity, time_s, settings) -> three numbers, as a law.

    Position and velocity are tuples of three, settings of four; with a fifth argument, `state`, it may remember.  As
    with `law`: kernels and `math`, but no allocation, no raise; what is not a number it says by math.nan.
    """
    return FieldLaw(function)


def _caller(result: Any) -> Any:
    """call(address, (a, b, ...)): the law there, which gives a `result`.

    Caller and law are compiled alike, so tuples travel as they are; an array goes as the address of its numbers.
    """
    if DISABLED:
        nothing = np.nan if result is types.float64 else (np.nan,) * result.count

        def plain(address, arguments):
            try:
                return plain_function(address)(*arguments)
            except (ArithmeticError, ValueError):  # sqrt(-1) and 1/0 are numbers, or NaN, in compiled code
                return nothing

        return plain

    @extending.intrinsic
    def call(typingctx, address, arguments):
        members = [types.unliteral(member) for member in arguments.types]
        if any(getattr(member, "dtype", member) not in (types.float64, types.intp) for member in members):
            raise TypeError(f"a law takes numbers of float64, not {arguments}")

        def codegen(context, builder, signature, values):
            given = []
            for member, x in zip(members, cgutils.unpack_tuple(builder, values[1], len(members)), strict=True):
                is_array = isinstance(member, types.Array)
                given.append(arrayobj.make_array(member)(context, builder, x).data if is_array else x)
            kind = ir.FunctionType(context.get_value_type(result), [x.type for x in given])
            return builder.call(builder.inttoptr(values[0], kind.as_pointer()), given)

        return result(types.intp, types.Tuple(members)), codegen

    return call


number_at, _three = _caller(types.float64), _caller(types.UniTuple(types.float64, 3))


@kernel
def call_law(address, numbers, state):
    """The law of numbers, a tuple of as many as it takes, at an address; state: its row, empty if it keeps none."""
    if state.shape[0] > 0:
        return number_at(address, (*numbers, state))
    return number_at(address, numbers)


@kernel
def call_field(address, position, velocity, time_s, settings, state):
    """The field law at an address; state as in `call_law`."""
    if state.shape[0] > 0:
        return _three(address, (position, velocity, time_s, settings, state))
    return _three(address, (position, velocity, time_s, settings))


@entry("intp, float64[::1], float64[::1], float64[::1]")
def field_entry(address, x, state, out):
    """x (11,): position, velocity, time, four settings."""
    here, moving, settings = (x[0], x[1], x[2]), (x[3], x[4], x[5]), (x[7], x[8], x[9], x[10])
    out[0], out[1], out[2] = call_field(address, here, moving, x[6], settings, state)
