"""The collector of garbage while something is compiled: it looks rarely.

The compiler makes objects by the million and keeps most of them for a while, so that looking for garbage every few
hundred, as Python does, took a fifth of a first start.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 100_000  # new ones between two looks: some 50 MB


@contextmanager
def collected_rarely() -> Iterator[None]:
    """While inside; as before afterwards."""
    before = gc.get_threshold()
    gc.set_threshold(max(OBJECTS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
