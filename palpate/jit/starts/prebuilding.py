"""What a wheel is to bring: the functions that this process has compiled, for a level of processors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
from numba.core import registry

from palpate.jit.cache import prebuilt
from palpate.jit.cache.digests import digest
from palpate.jit.cache.functions import FunctionCache
from palpate.jit.decorators import entries
from palpate.jit.routines import routines
from palpate.jit.shared import all_shared
from palpate.jit.starts.remaining import Compiled, python_of, signature_of


def environment(level: str) -> dict[str, str]:
    """In which a process compiles for a level of processors: nothing of the machine that it runs on."""
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", prebuilt.VARIABLE: "0"}


def compiled_here() -> list[Compiled]:
    """Entries, routines and shared functions that this process has compiled or loaded."""
    found: list[Compiled] = [each for each in all_shared if each.callback is not None]
    found += [each for each in routines if each.is_compiled]
    return found + [each for each in entries if each.overloads]


def put_prebuilt(folder: Path) -> int:
    """Write the code of all of them from the cache into a folder, for the processors it was made for; how many."""
    level: Any = numba.config.CPU_NAME
    if level not in prebuilt.LEVELS or numba.config.CPU_FEATURES != "":
        raise ValueError(f"compiled for {level or 'this machine'}, not for one of {', '.join(prebuilt.LEVELS)}")
    made = prebuilt.described(prebuilt.made_for(level))
    folder.mkdir(parents=True, exist_ok=True)
    context, found = registry.cpu_target.target_context, compiled_here()
    for each in found:
        cache, signature = FunctionCache.of(python_of(each)), signature_of(each)
        content = cache.content(signature, context) if isinstance(cache, FunctionCache) else None
        if content is None:
            raise ValueError(f"{each.__name__} is not in the cache")
        name, identity = cache.prebuilt(signature, context.codegen(), made)
        (folder / name).write_bytes(digest(identity, content) + content)
    (folder / prebuilt.MADE_FOR).write_text(made + "\n")
    return len(found)
