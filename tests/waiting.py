"""Waiting for what another thread or process does: one way, and one limit.

Nothing is said about how long anything takes.  A limit is there so that a run ends which would otherwise hang.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from typing import Any

WAIT_S = 600.0  # experiments give way to everything else on the machine, and scenes are compiled meanwhile
# For processes of a test: they find what this one does, this file among it.
FINDS_US = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def until(condition: Callable[[], Any], what: Any = "") -> Any:
    """Until a condition holds; its value.  It may also act, to be repeated until it holds.

    what  is said in vain: words, or a function that makes them when it is known that they are needed
    """
    ended = time.monotonic() + WAIT_S
    while not (value := condition()):
        assert time.monotonic() < ended, f"waited in vain: {what() if callable(what) else what}"
        time.sleep(0.005)
    return value


async def until_async(condition: Callable[[], Any], what: str = "") -> Any:
    """The same, while an event loop goes on."""
    ended = time.monotonic() + WAIT_S
    while not (value := condition()):
        assert time.monotonic() < ended, f"waited in vain: {what}"
        await asyncio.sleep(0.005)
    return value
