"""How machine code is made: our arithmetic, and the settings of numba that change what it emits."""

from __future__ import annotations

import hashlib
from typing import Any

import numba
from numba.core.targetconfig import TargetConfig

# Contraction and reassociation let LLVM use FMA and SIMD; "nnan" and "ninf" are left out: they make isnan() false.
FASTMATH = frozenset({"contract", "reassoc", "nsz", "arcp"})

PROCESSOR = ("CPU_NAME", "CPU_FEATURES")  # given, not found out
_FLAGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO_DEFAULT", "DEBUG_NRT")


def flags_stamp(*more: str) -> str:
    """A digest of all settings of numba that matter, and of others that are named."""
    flags = repr([(name, getattr(numba.config, name, None)) for name in _FLAGS + more]) + repr(sorted(FASTMATH))
    return hashlib.sha256(flags.encode()).hexdigest()[:8]


# ---- settings of a function, which numba compares for every call that it types: a hundred thousand times in a first
# start, option by option through properties, an eighth of its time.  These say the same, sooner.

_slowly = TargetConfig.__eq__


def _same(self: TargetConfig, other: Any) -> Any:
    if self is other or (type(self) is type(other) and self._values == other._values):
        return True
    return _slowly(self, other)  # one may say what is the other's default


TargetConfig.__eq__ = _same
TargetConfig.__hash__ = lambda self: hash(tuple(self.options))  # of the names alone, as numba's
