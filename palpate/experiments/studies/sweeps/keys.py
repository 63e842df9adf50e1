"""What makes two tasks the same: function, parameters, seed and version.  In every process and on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

DIGITS = 32  # of a key, hexadecimal
SEEDS = 2**31  # derived ones are below it: every generator takes them


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def canonical(parameters: Mapping[str, Any]) -> str:
    """One text for the same parameters: names in order, and whole numbers as such, for 1 and 1.0 mean the same."""
    return _encode({n: int(v) if isinstance(v, float) and v.is_integer() else v for n, v in parameters.items()})


def task_key(function: str, parameters: str, seed: int, version: str) -> str:
    """The key of a task, with canonical parameters."""
    return _digest(f"[{_encode(function)},{parameters},{seed},{_encode(version)}]")[:DIGITS]


def task_seed(seed: int, repeat: int, parameters: str) -> int:
    """The seed of one repeat at one point, from that of the sweep: no two points have the same noise."""
    return int(_digest(f"[{seed},{repeat},{parameters}]")[:15], 16) % SEEDS


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
