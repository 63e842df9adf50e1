"""Numbers in JSON that somebody else wrote: it knows 1e999, and integers of any length."""

from __future__ import annotations

import math
from typing import Any


def finite_number(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
