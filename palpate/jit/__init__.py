"""The compiler, in one place: its decorators, blocks of arrays, and a cache that notices every edit.

kernel   compiled code that only compiled code calls.  It has no Python wrapper (half the compile time), so a call
         from Python would crash the process; here it is a TypeError.
stage    a kernel that is not inlined into its callers: takes an address and a few numbers.
shared   compiled once and called by its symbol: numbers in, one number out.
entry    the few functions Python calls, each of one signature: the address of a Block and a few float64 arrays.
Block    numbers and arrays with names behind one address, so that a call passes that instead of fifty arrays.

six, atomics, clock, words, laws, routines, foreign and crew are for kernels too; the rooms are cache/ (compiled code on
disk), compiler/ (numba as it is used here) and starts/ (first starts).

This folder is the only one that imports numba.  With NUMBA_DISABLE_JIT=1 the decorators return the plain function.
"""

from palpate.jit.blocks import Block, Quaternion, Struct, Vector, block_loader
from palpate.jit.cache.functions import cache_dir
from palpate.jit.cache.stamps import import_closure
from palpate.jit.decorators import DISABLED, allocations, entries, entry, exact_kernel, kernel, stage, warm
from palpate.jit.shared import shared
from palpate.jit.starts.progress import compile_listener

__all__ = [
    "DISABLED", "Block", "Quaternion", "Struct", "Vector", "allocations", "block_loader", "cache_dir",
    "compile_listener", "entries", "entry", "exact_kernel", "import_closure", "kernel", "shared", "stage", "warm",
]  # fmt: skip
