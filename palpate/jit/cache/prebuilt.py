"""Kernels that a wheel brings, compiled when it was built: a first start then compiles nothing.

They lie in the package and are trusted as its code is.  They are made for a level of processors, not for one processor,
and are used where numba, llvmlite, Python and flags are those that they were made with; otherwise one line says why
not, and what is needed is compiled.  The user's own cache comes before them, and they are never written to.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba

from palpate.jit.cache.digests import checked_content
from palpate.jit.cache.stamps import PACKAGE
from palpate.jit.compiler.flags import flags_stamp
from palpate.printable import say_once

FOLDER = PACKAGE / "jit" / "built"  # only in a wheel
MADE_FOR = "made_for.json"
VARIABLE = "PALPATE_PREBUILT"  # 0: use none of them, or put none into a wheel
# What LLVM calls the instructions that a level has beyond the one before
LEVELS = {
    "x86-64-v2": ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"),
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
}


def left_out() -> bool:
    """Whether the environment says that there shall be none."""
    return os.environ.get(VARIABLE) == "0"


def made_for(level: str) -> dict[str, str]:
    """All that the machine code depends on beside its source, as it is in this process."""
    return {
        "system": f"{sys.platform} {platform.machine()}", "python": "{}.{}".format(*sys.version_info),
        "numba": numba.__version__, "llvmlite": llvmlite.__version__, "flags": flags_stamp(), "level": level,
    }  # fmt: skip


def runs_here(level: str) -> bool:
    """Whether this processor has all instructions of a level."""
    if platform.machine() not in ("x86_64", "AMD64") or level not in LEVELS:
        return False
    has: dict[str, bool] = llvmlite.binding.get_host_cpu_features()
    names = list(LEVELS)
    return all(has.get(each) for name in names[: names.index(level) + 1] for each in LEVELS[name])


@functools.cache
def usable(folder: Path) -> str:
    """What the kernels in a folder were made for, if they run here and nothing else was asked for; "" if not."""
    if left_out() or numba.config.CPU_NAME or numba.config.CPU_FEATURES or not (folder / MADE_FOR).is_file():
        return ""
    try:
        theirs = json.loads((folder / MADE_FOR).read_bytes())
        ours = made_for(theirs["level"])
    except (OSError, ValueError, TypeError, KeyError):
        return _not("what they were made for cannot be read")
    if not runs_here(theirs["level"]):
        return _not(f"they are for processors of level {theirs['level']}, which this one is not")
    if theirs["flags"] != ours["flags"]:  # bounds checks, say: somebody asked for other code
        return ""
    for what, value in ours.items():
        if theirs.get(what) != value:
            return _not(f"they were made with {what} {theirs.get(what)}, here is {value}")
    return described(ours)


def described(made: dict[str, str]) -> str:
    """As a part of what a digest is of."""
    return json.dumps(made, sort_keys=True)


def content(name: str, identity: bytes) -> Any:
    """The code in one of their files; None if there is none, or it is damaged or of another source."""
    try:
        found = checked_content(FOLDER / name, identity)
    except FileNotFoundError:
        return None
    except OSError:
        found = None
    if found is None:
        _not("some are damaged, or of another source")
    return found


def _not(why: str) -> str:
    say_once(f"kernels that came with palpate are not used: {why}; compiling for this machine, once")
    return ""
