"""What the page's process says on stderr: a line about what went wrong, at most one a minute, with how often.

aiohttp and asyncio write the whole traceback of every request that is no request; whoever sends a thousand of them
would fill the terminal of the person who started palpate.
"""

from __future__ import annotations

import logging
import time
import traceback

from palpate.printable import complain, printable

SAID_EVERY_S = 60.0


class Complaints(logging.Handler):
    """Takes every warning of this process; `count` is how many came."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count, self._untold = 0, 0
        self._last, self._told_s = "", -SAID_EVERY_S

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1
        self._untold += 1
        self._last = one_line(record)
        self.look(time.monotonic())

    def look(self, now_s: float) -> None:
        """Say what has not been said, if it is time."""
        if self._untold and now_s - self._told_s >= SAID_EVERY_S:
            more = f" ({self._untold} times in a minute or more, this the last)" if self._untold > 1 else ""
            complain(f"the page: {self._last}{more}")
            self._untold, self._told_s = 0, now_s


def one_line(record: logging.LogRecord) -> str:
    """What was logged; of an exception its kind, its first line and where it was raised."""
    text = record.getMessage()
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        where = traceback.extract_tb(error.__traceback__)[-1:]
        at = f" at {where[0].filename.rpartition('/')[2]}:{where[0].lineno}" if where else ""
        text = f"{text}: {type(error).__name__}{at}: {error}"
    return printable(text)[:300]
