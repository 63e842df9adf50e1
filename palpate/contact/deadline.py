"""In real time the solver has what is left of the tick: it looks at the clock, stops, and hands over its best."""

from palpate.jit import kernel
from palpate.jit.atomics import monotonic_ns


@kernel
def share_time(r, begin, end):
    """Give the island of rows begin .. end its part of the time that is left, by rows."""
    if r.until_ns > 0:
        now = monotonic_ns(r.clock)
        part = (end - begin) / (r.rows_begin[r.n_islands] - begin)
        r.island_until_ns = now + max(0, int(part * (r.until_ns - now)))


@kernel
def out_of_time(r):
    """Whether the island in hand has used up its time; never in simulated time, so that runs can be repeated."""
    return r.until_ns > 0 and monotonic_ns(r.clock) >= r.island_until_ns
