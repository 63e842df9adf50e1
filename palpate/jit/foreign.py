"""Foreign C functions, called from compiled code by their address: a vendor's library inside the tick.

call_int32(address, (a, b, ...))   what the C function at `address` returns, its arguments int64, float64 or addresses
call_int64(address, (a, b, ...))   the same with 64 bits: also the first half of a small struct returned by value
address_of(array, i)               where element i lies, for functions that fill memory

An int64 stands for every integer type and for pointers: the calling conventions of x86-64 and ARM64 pass them all in
the same registers, and the callee reads as much as it needs.  `void` functions return garbage: ignore it.

A gate keeps a library open while it is being called: (2,) int64, OPEN and BUSY.  The caller announces itself before it
looks whether the gate is open, the closer shuts it before it looks whether somebody is inside, with a fence between:
so one of the two sees the other.  One caller and one closer per gate.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.np import arrayobj

from palpate.jit.atomics import fence, load_acquire, store_release
from palpate.jit.decorators import DISABLED, entry, kernel
from palpate.jit.routines import Routine

OPEN, BUSY = range(2)  # of a gate
LONGEST_CALL_S = 0.5  # what a closer waits for: far longer than a USB transfer


def _caller(bits: int) -> Any:
    result = {32: types.int32, 64: types.int64}[bits]

    @extending.intrinsic
    def call(typingctx, address, arguments):
        members = [types.unliteral(member) for member in arguments.types]
        if any(member not in (types.int64, types.float64) for member in members):
            raise TypeError(f"a foreign function takes int64 and float64, not {arguments}")
        given = types.Tuple(members)

        def codegen(context, builder, signature, values):
            kinds = [ir.DoubleType() if member == types.float64 else ir.IntType(64) for member in members]
            function = ir.FunctionType(ir.IntType(bits), kinds).as_pointer()
            unpacked = cgutils.unpack_tuple(builder, values[1], len(members))
            return builder.call(builder.inttoptr(values[0], function), unpacked)

        return result(types.intp, given), codegen

    return call


_call_int32, _call_int64 = _caller(32), _caller(64)


@extending.intrinsic
def _element_address(typingctx, array, i):
    def codegen(context, builder, signature, values):
        data = arrayobj.make_array(signature.args[0])(context, builder, values[0]).data
        return builder.ptrtoint(cgutils.gep(builder, data, values[1]), context.get_value_type(types.intp))

    return types.intp(array, types.intp), codegen


@kernel
def call_int32(address, arguments):
    """The int32 that the C function at an address returns for a tuple of int64 and float64, widened."""
    return np.int64(_call_int32(address, arguments))


@kernel
def call_int64(address, arguments):
    """The int64 that the C function at an address returns for a tuple of int64 and float64."""
    return _call_int64(address, arguments)


@kernel
def address_of(array, i):
    """Where element i of an array of 64-bit numbers lies."""
    return _element_address(array, i)


@kernel
def enter_gate(gate):
    """True: inside, and the closer waits for leave_gate; False: it is shut."""
    store_release(gate, BUSY, 1)
    fence()
    if load_acquire(gate, OPEN) == 1:
        return True
    store_release(gate, BUSY, 0)
    return False


@kernel
def leave_gate(gate):
    store_release(gate, BUSY, 0)


@entry("int64[::1], int64")
def _set_gate(gate, value):
    store_release(gate, OPEN, value)
    fence()
    return load_acquire(gate, BUSY)


def open_gate(gate: np.ndarray) -> None:
    """Let callers in."""
    _set_gate(gate, 1)


def shut_gate(gate: np.ndarray) -> bool:
    """Let nobody in any more and wait until nobody is inside; False if somebody stays (LONGEST_CALL_S)."""
    until = time.monotonic() + LONGEST_CALL_S
    while _set_gate(gate, 0) != 0:
        if time.monotonic() > until:
            return False
        time.sleep(1e-4)
    return True


def c_address(routine: Routine) -> int:
    """A routine as a C function for a foreign scheduler to call; keep the routine alive.

    Compiled, it is the routine's own machine code, which needs neither Python nor its lock.
    """
    if not DISABLED:
        return routine.address
    callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_ssize_t)(routine.function)
    routine.__dict__.setdefault("_c_functions", []).append(callback)
    return int(ctypes.cast(callback, ctypes.c_void_p).value or 0)


if DISABLED:

    def _plain(result, address, arguments):
        kinds = [ctypes.c_double if isinstance(x, float) else ctypes.c_int64 for x in arguments]
        return ctypes.CFUNCTYPE(result, *kinds)(int(address))(*(k(x).value for k, x in zip(kinds, arguments)))

    def call_int32(address, arguments):
        return _plain(ctypes.c_int32, address, arguments)

    def call_int64(address, arguments):
        return _plain(ctypes.c_int64, address, arguments)

    def address_of(array, i):
        return int(array.ctypes.data) + 8 * int(i)
