"""Names that people choose from: built-in ones, and those that other packages add through entry points.

A registry maps a name to ("module:function", one line about it), so that listing it imports nothing.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Collection
from importlib.metadata import entry_points
from typing import Any

Registry = dict[str, tuple[str, str]]


def guess(name: str, known: Collection[str], otherwise: str = "") -> str:
    """What somebody who wrote this name may have meant, or could have; `otherwise` says the latter in other words."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise or f"there are: {', '.join(sorted(known)) or 'none'}"


def everything(registry: Registry, group: str) -> Registry:
    """The built-in names and those of installed packages (entry-point group "palpate.<group>")."""
    found = {e.name: (e.value, f"from {e.dist.name if e.dist else 'another package'}")
             for e in entry_points(group=f"palpate.{group}")}  # fmt: skip
    return found | registry


def find(registry: Registry, group: str, name: str) -> Any:
    """What a name stands for, imported; an unknown name is a ValueError that lists or guesses."""
    known = registry if name in registry else everything(registry, group)  # looking at what is installed takes 8 ms
    if name not in known:
        hint = guess(name, known) if known else "there are: none yet"
        raise ValueError(f"no {group.rstrip('s')} is called {name!r}; {hint}")
    module, _, function = known[name][0].partition(":")
    return getattr(importlib.import_module(module), function)
