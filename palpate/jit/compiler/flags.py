"""How machine code is made: our arithmetic, and the settings of numba that change what it emits."""

from __future__ import annotations

import hashlib

import numba

# Contraction and reassociation let LLVM use FMA and SIMD; "nnan" and "ninf" are left out: they make isnan() false.
FASTMATH = frozenset({"contract", "reassoc", "nsz", "arcp"})

PROCESSOR = ("CPU_NAME", "CPU_FEATURES")  # given, not found out
_FLAGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO_DEFAULT", "DEBUG_NRT")


def flags_stamp(*more: str) -> str:
    """A digest of all settings of numba that matter, and of others that are named."""
    flags = repr([(name, getattr(numba.config, name, None)) for name in _FLAGS + more]) + repr(sorted(FASTMATH))
    return hashlib.sha256(flags.encode()).hexdigest()[:8]
