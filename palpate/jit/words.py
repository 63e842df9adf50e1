"""Words moved from one address to another, for compiled code that knows where things lie and not what they are."""

from __future__ import annotations

import ctypes

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

from palpate.jit.decorators import DISABLED, kernel


@kernel
def copy_words(to, start, count):
    """`count` words of eight bytes from the address `start` to the address `to`, which do not overlap."""
    _copy(to, start, count)


@extending.intrinsic
def _copy(typingctx, to, start, count):
    def codegen(context, builder, signature, args):
        ends = [builder.inttoptr(address, ir.IntType(64).as_pointer()) for address in args[:2]]
        cgutils.raw_memcpy(builder, *ends, args[2], context.get_constant(types.intp, 8))
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), codegen


if DISABLED:

    def copy_words(to, start, count):
        ctypes.memmove(int(to), int(start), 8 * int(count))
