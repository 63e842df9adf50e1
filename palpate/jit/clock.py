"""The clock and the sleep of compiled code: libc's, or Python's where there is no such libc, or where that is chosen.

Compiled code knows two symbols of ours, with the signatures of libc's clock_gettime and clock_nanosleep; what is behind
them is decided when palpate is imported, so that the machine code is the same everywhere and one cache serves both.

    PALPATE_CLOCK=libc     Linux: the loop needs neither Python nor its lock (the default there)
    PALPATE_CLOCK=python   every system: time.monotonic_ns and time.sleep, called back from compiled code.  Each call
                           takes Python's lock, so that the loop waits for whatever holds it: best effort
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from typing import Any

import llvmlite.binding

GETTIME, NANOSLEEP = "palpate_clock_gettime", "palpate_clock_nanosleep"
SECOND_NS = 1_000_000_000
_gettime_type = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_ssize_t)
_nanosleep_type = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_ssize_t, ctypes.c_ssize_t)


def chosen_clock() -> str:
    """ "libc" or "python", as PALPATE_CLOCK says, or else as this system can."""
    able = "libc" if sys.platform == "linux" else "python"
    said = os.environ.get("PALPATE_CLOCK") or able
    if said not in ("libc", "python") or (said == "libc" and able != "libc"):
        raise ValueError(f"PALPATE_CLOCK is {said!r}, here it can be {'libc or ' if able == 'libc' else ''}python")
    return said


class PythonClock:
    """What the portable loop is timed by; a test may put its own in its place."""

    now_ns = staticmethod(time.monotonic_ns)
    sleep_s = staticmethod(time.sleep)


def _gettime(_: int, address: int) -> int:
    """Seconds and nanoseconds into two int64, as struct timespec has them."""
    to = (ctypes.c_int64 * 2).from_address(address)
    to[0], to[1] = divmod(PythonClock.now_ns(), SECOND_NS)
    return 0


def _nanosleep(_: int, _absolute: int, address: int, _rest: int) -> int:
    """Until the clock shows what lies there; the loop spins what a coarse timer leaves."""
    due = (ctypes.c_int64 * 2).from_address(address)
    PythonClock.sleep_s(max(0.0, 1e-9 * (due[0] * SECOND_NS + due[1] - PythonClock.now_ns())))
    return 0


def _functions(clock: str) -> tuple[Any, Any]:
    if clock == "python":
        return _gettime_type(_gettime), _nanosleep_type(_nanosleep)
    libc = ctypes.CDLL(None)
    return libc.clock_gettime, libc.clock_nanosleep


CLOCK = chosen_clock()
_bound = _functions(CLOCK)  # kept alive: compiled code has their addresses
for _name, _function in zip((GETTIME, NANOSLEEP), _bound, strict=True):
    llvmlite.binding.add_symbol(_name, ctypes.cast(_function, ctypes.c_void_p).value)
