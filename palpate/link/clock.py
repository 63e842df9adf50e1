"""How far the server's clock is ahead of the client's, and how long the way there and back takes.

Every reply says when the query that it answers was sent (t0, client) and came (t1, server), and when the reply was
sent (t2, server) and came (t3, client).  A server that answers only now and then knows t1 as t2 less the wait.

round trip  r = (t3 - t0) - (t2 - t1)
offset      o = ((t1 - t0) + (t2 - t3)) / 2 = (t1 - t0) - r/2            server time = client time + o

With d1 the way there and d2 the way back, r = d1 + d2 and the error of o is (d1 - d2)/2: none on a symmetric network,
and never more than r/2.  Whatever waits in a queue on the way makes r longer, so of the last exchanges the one with the
smallest r is the best bound (the clock filter of NTP, Mills, RFC 5905, section 10).  Clocks drift slowly, some 50 us a
second: in a window of 128 exchanges at 1 kHz that is 6 us, and older exchanges are forgotten.

The offset may step when a better exchange comes.  Only the times of states that come later feel it, and the jump of
the estimate that this makes is blended out (estimate.py), so it is not smoothed here.
"""

from __future__ import annotations

import numpy as np

from palpate.jit import Struct, kernel
from palpate.model.model import Ints1

WINDOW = 128  # exchanges


class ClockOffset(Struct):
    """The last exchanges; all of it is written by note_exchange."""

    next: int  # row to write
    noted: int  # so far
    best: int  # row
    refused: int  # exchanges with a negative time
    offset: Ints1  # (window,) o of each [ns]
    round_trip: Ints1  # (window,) r of each [ns]


def open_clock(window: int = WINDOW) -> ClockOffset:
    """No exchange yet; the best of the last `window` will count."""
    if window < 1:
        raise ValueError(f"window is {window}; it is a number of exchanges, 1 or more")
    rows = np.zeros(window, dtype=np.int64)
    return ClockOffset(offset=rows, round_trip=rows.copy())


@kernel
def note_exchange(c: ClockOffset, t0: int, t1: int, t2: int, t3: int) -> bool:
    """Take in one exchange [ns]: t0 sent, t3 received, by the client's clock; t1 received, t2 sent, by the server's.

    False, and counted, if a reply came before its query or a round trip took less than nothing.
    """
    there_and_back = (t3 - t0) - (t2 - t1)
    if t3 < t0 or t2 < t1 or there_and_back < 0:
        c.refused += 1
        return False
    row, n = c.next, c.offset.shape[0]
    c.offset[row], c.round_trip[row] = (t1 - t0) - there_and_back // 2, there_and_back
    c.next = (row + 1) % n
    c.noted += 1
    best = row  # of equal ones the newest, which has drifted least
    for i in range(min(c.noted, n)):
        if c.round_trip[i] < c.round_trip[best]:
            best = i
    c.best = best
    return True


@kernel
def forget_exchanges(c: ClockOffset) -> None:
    """Begin again: another server, or one that started anew."""
    c.next, c.noted, c.best = 0, 0, 0
    c.offset[:] = 0
    c.round_trip[:] = 0


@kernel
def offset_ns(c: ClockOffset) -> int:
    """The server's clock less the client's [ns]; 0 before the first exchange."""
    return c.offset[c.best]


@kernel
def round_trip_ns(c: ClockOffset) -> int:
    """The smallest round trip of the window [ns], twice the largest error of the offset; 0 before the first."""
    return c.round_trip[c.best]


@kernel
def newest_round_trip_ns(c: ClockOffset) -> int:
    """The round trip of the newest exchange [ns]."""
    n = c.offset.shape[0]
    return c.round_trip[(c.next + n - 1) % n]
