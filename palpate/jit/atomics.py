"""Shared memory and the clock, from compiled code: loads and stores that keep their order, and timers (clock.py).

A plain store may be dropped or moved by the optimiser (a sequence lock made of them gave no good read in ten million);
these are LLVM's atomic instructions.  Arrays are int64; i is an index into them.
"""

from __future__ import annotations

import time
from typing import Any

from numba import extending, types
from numba.core import cgutils
from numba.np import arrayobj

from palpate.jit.clock import GETTIME, NANOSLEEP
from palpate.jit.decorators import DISABLED, kernel

CLOCK_MONOTONIC, TIMER_ABSTIME = 1, 1  # of Linux; Python's clock does not look at them


def _element(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = arrayobj.make_array(array_type)(context, builder, array).data
    return cgutils.gep(builder, data, index)


@extending.intrinsic
def _load_acquire(typingctx, array, i):
    def codegen(context, builder, signature, args):
        return builder.load_atomic(_element(context, builder, signature.args[0], *args), "acquire", 8)

    return types.int64(array, types.intp), codegen


@extending.intrinsic
def _store_release(typingctx, array, i, value):
    def codegen(context, builder, signature, args):
        pointer = _element(context, builder, signature.args[0], *args[:2])
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), codegen


@extending.intrinsic
def _fetch_add(typingctx, array, i, value):
    def codegen(context, builder, signature, args):
        pointer = _element(context, builder, signature.args[0], *args[:2])
        return builder.atomic_rmw("add", pointer, args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), codegen


@extending.intrinsic
def _fence(typingctx):
    def codegen(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


@extending.intrinsic
def _address(typingctx, array):
    def codegen(context, builder, signature, args):
        data = arrayobj.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.intp))

    return types.intp(array), codegen


_clock_gettime = types.ExternalFunction(GETTIME, types.int32(types.int32, types.intp))
_clock_nanosleep = types.ExternalFunction(NANOSLEEP, types.int32(types.int32, types.int32, types.intp, types.intp))


@kernel
def monotonic_ns(scratch):
    """The monotonic clock [ns]; scratch (2,) int64 is overwritten."""
    _clock_gettime(CLOCK_MONOTONIC, _address(scratch))
    return scratch[0] * 1_000_000_000 + scratch[1]


@kernel
def sleep_until_ns(scratch, due):
    """Sleep until the monotonic clock shows `due` [ns], whatever happens meanwhile."""
    scratch[0], scratch[1] = due // 1_000_000_000, due % 1_000_000_000
    _clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, _address(scratch), 0)


@kernel
def load_acquire(array, i):
    """array[i], before anything that is read later."""
    return _load_acquire(array, i)


@kernel
def store_release(array, i, value):
    """array[i] = value, after everything that was written before."""
    _store_release(array, i, value)


@kernel
def fetch_add(array, i, value):
    """array[i] as it was, with `value` added to it at once: of several threads each gets another."""
    return _fetch_add(array, i, value)


@kernel
def fence():
    """Nothing written later is seen before what was written earlier."""
    _fence()


if DISABLED:  # plain Python: one thread, program order

    def monotonic_ns(scratch):
        return time.monotonic_ns()

    def sleep_until_ns(scratch, due):
        time.sleep(max(0.0, (due - time.monotonic_ns()) * 1e-9))

    def load_acquire(array, i):
        return int(array[i])

    def store_release(array, i, value):
        array[i] = value

    def fetch_add(array, i, value):
        before = int(array[i])
        array[i] = before + value
        return before

    def fence():
        pass
