"""The offset between two clocks as laws: exact where the network is symmetric, bounded by the round trip where not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate import jit
from palpate.jit import Block, block_loader, entry
from palpate.link.clock import (
    WINDOW,
    ClockOffset,
    forget_exchanges,
    newest_round_trip_ns,
    note_exchange,
    offset_ns,
    open_clock,
    round_trip_ns,
)

pytestmark = pytest.mark.nojit
EXAMPLES = settings(max_examples=40 if jit.DISABLED else 300, deadline=None)

load = block_loader((ClockOffset, False))


@entry("intp, int64[:, ::1], int64[:, ::1]")
def exchanges(address, times, out):
    """times (n, 4): t0 t1 t2 t3;  out (n, 4): taken, offset, smallest and newest round trip after each."""
    (c,) = load(address)
    for k in range(times.shape[0]):
        out[k, 0] = note_exchange(c, times[k, 0], times[k, 1], times[k, 2], times[k, 3])
        out[k, 1], out[k, 2], out[k, 3] = offset_ns(c), round_trip_ns(c), newest_round_trip_ns(c)


@entry("intp")
def forget_entry(address):
    (c,) = load(address)
    forget_exchanges(c)


def exchange(c, times, out):
    block = Block(c)
    exchanges(block.address, np.ascontiguousarray(times), out)


def exchanged(offset, sent, there, waited, back, drift=0.0):
    """times (n, 4) of exchanges with this true offset at t = 0 [ns], sent and on the way so long [ns]."""
    sent, there, waited, back = (np.asarray(x, dtype=np.int64) for x in (sent, there, waited, back))

    def server(t):
        return t + offset + np.round(drift * t).astype(np.int64)

    came, replied = sent + there, sent + there + waited
    return np.stack([sent, server(came), server(replied), replied + back], axis=1)


def noted(times, window=WINDOW):
    c, out = open_clock(window), np.zeros((len(times), 4), dtype=np.int64)
    exchange(c, times, out)
    return c, out


ways = st.integers(0, 100_000_000)
offsets = st.integers(-(2**61), 2**61)  # decades: two machines that count from their own start
EVERY_MS = 1_000_000


@EXAMPLES
@given(offsets, ways, ways, st.integers(0, 10**15))
def test_the_offset_is_exact_on_a_symmetric_network(offset, way, waited, sent):
    c, out = noted(exchanged(offset, [sent], [way], [waited], [way]))
    assert out[0].tolist() == [1, offset, 2 * way, 2 * way]
    assert c.noted == 1


@EXAMPLES
@given(offsets, ways, ways, ways)
def test_the_error_of_one_exchange_is_half_the_asymmetry(offset, there, waited, back):
    """And never more than half the round trip; half a nanosecond is rounding."""
    _, out = noted(exchanged(offset, [0], [there], [waited], [back]))
    assert out[0, 2] == there + back
    assert abs(2 * (int(out[0, 1]) - offset) - (there - back)) <= 1
    assert abs(int(out[0, 1]) - offset) <= (there + back) // 2 + 1


@EXAMPLES
@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 200), st.integers(0, 10_000_000))
def test_jitter_leaves_at_most_half_of_the_smallest_round_trip(seed, window, n, base):
    """Of the last `window` exchanges, whatever waits in queues either way: the best one counts."""
    rng = np.random.default_rng(seed)
    there, back = base + rng.integers(0, 20_000_000, n), base + rng.integers(0, 20_000_000, n)
    _, out = noted(exchanged(-77, EVERY_MS * np.arange(n), there, rng.integers(0, 900_000, n), back), window)
    for k in range(n):
        last = slice(max(0, k + 1 - window), k + 1)
        smallest = (there + back)[last].min()
        assert out[k, 2] == smallest
        assert abs(out[k, 1] + 77) <= smallest // 2 + 1
    assert (out[:, 3] == there + back).all()


def test_filtering_is_better_than_the_mean_on_a_network_whose_queues_are_mostly_short():
    """Exponential waits of 1 ms on 2 ms each way: the best of 128 is within 0.1 ms, single ones are off by 1 ms."""
    rng = np.random.default_rng(3)
    n = 2000
    there, back = (2_000_000 + rng.exponential(1e6, (2, n))).astype(np.int64)
    _, out = noted(exchanged(123_456, EVERY_MS * np.arange(n), there, np.zeros(n), back))
    error = np.abs(out[:, 1] - 123_456)[WINDOW:]
    assert np.median(error) < 0.1e6
    assert np.median(np.abs(there - back) / 2) > 0.3e6


@pytest.mark.parametrize("ppm", [-100, 50])
def test_a_drifting_clock_is_followed_within_a_window(ppm):
    """The error is what the clock drifts in 128 exchanges at 1 kHz, 13 us at 100 ppm, and half the asymmetry."""
    n, rng = 5000, np.random.default_rng(8)
    sent, way = EVERY_MS * np.arange(n), 200_000 + rng.integers(0, 50_000, n)
    times = exchanged(10**9, sent, way, np.zeros(n), way, drift=ppm * 1e-6)
    _, out = noted(times)
    true = 10**9 + ppm * 1e-6 * times[:, 3]
    assert np.abs(out[:, 1] - true).max() <= abs(ppm) * 1e-6 * (WINDOW * EVERY_MS + way.max()) + 2.0
    assert abs(out[-1, 1] - 10**9) > 1e5  # it has gone far


@EXAMPLES
@given(offsets, st.integers(1, 10**9), ways)
def test_a_reply_before_its_query_is_refused(offset, early, way):
    good = exchanged(offset, [0], [way], [0], [way])
    before, out = noted(good)
    for wrong in (
        good - [0, 0, 0, 2 * way + early],  # came before it was sent
        good + [0, early, 0, 0],  # answered before it came
        good + [0, 0, 2 * way + early, 0],  # waited longer than it was away
    ):
        c, out = noted(np.concatenate([good, wrong]))
        assert out[1].tolist() == [0, *out[0, 1:]]
        assert c.refused == 1
        assert c.offset[0] == before.offset[0]


def test_before_the_first_exchange_and_after_forgetting_there_is_no_offset():
    c, _ = noted(exchanged(5_000, EVERY_MS * np.arange(300), np.full(300, 10), np.zeros(300), np.full(300, 10)))
    block = Block(c)
    forget_entry(block.address)
    out = np.zeros((1, 4), dtype=np.int64)
    exchange(c, np.array([[5, 0, 0, 0]]), out)  # refused
    assert out[0].tolist()[:3] == [0, 0, 0]
    exchange(c, exchanged(-9, [0], [1000], [0], [1000]), out)  # another server, farther away
    assert out[0].tolist() == [1, -9, 2000, 2000]


def test_a_window_of_nothing_is_refused():
    with pytest.raises(ValueError, match="window is 0"):
        open_clock(0)
