"""What makes two tasks the same: function, parameters, seed and version.  In every process and on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

DIGITS = 32  # of a key, hexadecimal
SEEDS = 2**31  # derived ones are below it: every generator takes them


def canonical(value: Any) -> str:
    """One text for one value: names in order, 1.0 as 1."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Whole numbers as such: 1 and 1.0 in a file mean the same."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in parameters.items()
    }


def task_key(function: str, parameters: Mapping[str, Any], seed: int, version: str) -> str:
    """The key of a task."""
    return _digest([function, plain(parameters), seed, version])[:DIGITS]


def task_seed(seed: int, repeat: int, parameters: Mapping[str, Any]) -> int:
    """The seed of one repeat at one point, from that of the sweep: no two points have the same noise."""
    return int(_digest([seed, repeat, plain(parameters)])[:15], 16) % SEEDS


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()
