"""Routines: functions of one address, compiled to C functions, that a tick calls without knowing them.

A device, real or simulated, is reached by two of them.  The address is that of a Block, whose first part the tick
knows too; the rest is the routine's own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from llvmlite import ir
from numba import extending, types

from palpate.jit.decorators import DISABLED, around_entries
from palpate.jit.shared import CFunction, plain_function

SIGNATURE = "int64(intp)"


class Routine(CFunction):
    """A compiled C function int64(address); made by `routine`.  Calling it runs the compiled code."""

    def __init__(self, function: Callable[[Any], int]) -> None:
        super().__init__(function, SIGNATURE)

    def compiled(self) -> Any:
        """As any C function, with what is done around entries: the shared functions that it may call come first."""
        with ExitStack() as stack:
            for around in around_entries:
                stack.enter_context(around(self.function))
            return super().compiled()

    @property
    def is_compiled(self) -> bool:
        """Whether this process has it."""
        return "_callback" in self.__dict__

    def warm(self) -> None:
        """Compile, or load from the cache, ahead of the first call."""
        self.address  # noqa: B018

    def __call__(self, block: Any) -> int:
        if DISABLED:
            return int(self.function(block))
        return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_ssize_t)(self.address)(block))


@extending.intrinsic
def call_routine(typingctx, address, block):
    """What the routine at an address returns for a Block's address."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1]])

    return types.int64(types.intp, types.intp), codegen


routines: list[Routine] = []  # all that are imported, for `palpate doctor --warm`


def routine(function: Callable[[Any], int]) -> Routine:
    """Decorator: function(address of a Block) -> int64 as a routine; it may call kernels, not allocate or raise."""
    routines.append(Routine(function))
    return routines[-1]


if DISABLED:

    def call_routine(address, block):
        return plain_function(address)(block)
