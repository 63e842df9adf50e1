"""A bad network as laws: what it loses, how long it delays, what may overtake what; always the same for a seed."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate import jit
from palpate.jit import Block, block_loader, entry
from palpate.link.impair import (
    NEVER_NS,
    PACKET_WORDS,
    QUEUE_COUNTERS,
    Impairments,
    Queue,
    next_due_ns,
    open_queue,
    put,
    take,
)

pytestmark = pytest.mark.nojit
EXAMPLES = settings(max_examples=10 if jit.DISABLED else 100, deadline=None)
MS = 1_000_000
MANY = 2000 if jit.DISABLED else 20_000

load = block_loader((Queue, False))


@entry("intp, int64[::1], intp, intp")
def put_entry(address, words, n_words, now_ns):
    (q,) = load(address)
    return put(q, words, n_words, now_ns)


@entry("intp, int64[::1], intp")
def take_entry(address, out, now_ns):
    (q,) = load(address)
    return take(q, out, now_ns)


@entry("intp")
def next_due_entry(address):
    (q,) = load(address)
    return next_due_ns(q)


@entry("intp, int64[::1], int64[::1], int64[:, ::1], intp, intp")
def send_and_receive(address, words, out, arrived, n, step_ns):
    """Packets 0..n-1, one every millisecond; looks every step_ns, or if 0 when one is due, until nothing is under way.

    arrived (2n, 2): number and time of each; returns how many."""
    (q,) = load(address)
    count, now_ns, sent = 0, 0, 0
    while sent < n or next_due_ns(q) != NEVER_NS:
        while sent < n and sent * MS <= now_ns:
            words[0] = sent
            put(q, words, 1, sent * MS)
            sent += 1
        while take(q, out, now_ns) > 0:
            arrived[count, 0], arrived[count, 1] = out[0], now_ns
            count += 1
        if step_ns > 0:
            now_ns += step_ns
        else:
            now_ns = min(next_due_ns(q), sent * MS) if sent < n else next_due_ns(q)
    return count


def through(network: Impairments, n: int = 1000, step_ns: int = MS, start_ns: int = 0, capacity: int = 256):
    """(numbers of the packets in the order in which they came, their times [ns], the counters)."""
    queue = open_queue(network, start_ns, capacity)
    block = Block(queue)
    words, arrived = np.zeros(PACKET_WORDS, dtype=np.int64), np.zeros((2 * n, 2), dtype=np.int64)
    count = send_and_receive(block.address, words, words.copy(), arrived, n, step_ns)
    return arrived[:count, 0], arrived[:count, 1], {name: getattr(queue, name) for name in QUEUE_COUNTERS}


def within_binomial(count: int, n: int, p: float) -> bool:
    """Five standard deviations: one seed in a million would fail, and the seed is fixed."""
    return abs(count - n * p) <= 5.0 * math.sqrt(n * p * (1.0 - p))


def test_a_perfect_network_passes_everything_at_once_and_in_order():
    number, time, counted = through(Impairments())
    assert (number == np.arange(1000)).all()
    assert (time == number * MS).all()
    assert counted == {**dict.fromkeys(QUEUE_COUNTERS, 0), "given": 1000, "taken": 1000}


@EXAMPLES
@given(st.integers(0, 60))
def test_delay_alone_is_exact(delay_ms):
    number, time, _ = through(Impairments(delay_s=delay_ms * 1e-3), n=100)
    assert (number == np.arange(100)).all()
    assert (time - number * MS == delay_ms * MS).all()


@pytest.mark.parametrize("loss", [0.01, 0.05, 0.2, 0.5])
def test_loss_is_the_fraction_asked_for(loss):
    """articulated-haptics.md section 4: loss of 0, 1, 5, 20 %."""
    number, _, counted = through(Impairments(loss=loss, seed=1), n=MANY)
    assert within_binomial(counted["lost"], MANY, loss)
    assert len(number) == MANY - counted["lost"]
    assert (np.diff(number) > 0).all()


def test_losses_do_not_follow_each_other():
    """Independent: after a lost packet the next is lost as often as any."""
    number, _, _ = through(Impairments(loss=0.3, seed=4), n=MANY)
    lost = np.setdiff1d(np.arange(MANY), number)
    assert within_binomial(int((np.diff(lost) == 1).sum()), len(lost), 0.3)


@EXAMPLES
@given(st.floats(0.0, 0.02), st.floats(1e-4, 0.02), st.integers(0, 2**64 - 1))
def test_jitter_stays_within_its_bounds_and_overtakes_nobody(delay_s, jitter_s, seed):
    number, time, _ = through(Impairments(delay_s=delay_s, jitter_s=jitter_s, seed=seed), n=200, step_ns=0)
    assert (number == np.arange(200)).all()
    late = time - number * MS
    assert late.min() >= round(delay_s * 1e9)
    assert late.max() <= round(delay_s * 1e9) + round(jitter_s * 1e9)


def test_jitter_is_uniform_where_packets_do_not_wait_for_each_other():
    """Half of a millisecond at 1 kHz: no packet can meet the one before; mean J/2, variance J^2/12."""
    number, time, _ = through(Impairments(jitter_s=0.5e-3, seed=2), n=MANY, step_ns=0, capacity=4)
    late, n = (time - number * MS) / 0.5e6, len(number)
    assert n == MANY
    assert abs(late.mean() - 0.5) < 5.0 / math.sqrt(12.0 * n)
    assert np.histogram(late, bins=10, range=(0.0, 1.0))[0] == pytest.approx(n / 10, abs=5.0 * math.sqrt(0.09 * n))


@pytest.mark.parametrize("reorder", [0.1, 0.3])
def test_packets_overtake_only_when_asked(reorder):
    hold_back_s = 0.0025
    number, time, counted = through(Impairments(delay_s=0.005, reorder=reorder, hold_back_s=hold_back_s, seed=3), MANY)
    assert sorted(number) == list(range(MANY))
    assert within_binomial(counted["held_back"], MANY, reorder)
    late = time - number * MS
    assert set(late.tolist()) == {5 * MS, 8 * MS}  # 5 and 7.5 ms, as often as we look
    assert (late == 8 * MS).sum() == counted["held_back"]
    assert (np.diff(number) < 0).any()
    assert (np.diff(number[late == 5 * MS]) > 0).all()


@pytest.mark.parametrize("duplicate", [0.05, 1.0])
def test_duplicates_are_counted_and_are_the_same_packet(duplicate):
    number, _, counted = through(Impairments(delay_s=0.002, duplicate=duplicate, seed=6), n=MANY)
    times, extra = np.unique(number, return_counts=True)
    assert len(times) == MANY
    assert (extra - 1).sum() == counted["duplicated"]
    assert extra.max() == 2
    assert within_binomial(counted["duplicated"], MANY, duplicate)
    assert (np.diff(number) >= 0).all()


@EXAMPLES
@given(st.integers(0, 300), st.integers(0, 300), st.integers(-50, 50))
def test_an_outage_loses_exactly_what_is_given_in_it(begin_ms, length_ms, start_ms):
    network = Impairments(delay_s=0.004, outage=(begin_ms * 1e-3, length_ms * 1e-3))
    number, _, counted = through(network, n=500, start_ns=start_ms * MS)
    begin = start_ms + begin_ms
    expected = [i for i in range(500) if not begin <= i < begin + length_ms]
    assert number.tolist() == expected
    assert counted["lost"] == 500 - len(expected)


networks = st.builds(
    Impairments,
    loss=st.floats(0.0, 1.0), delay_s=st.floats(0.0, 0.05), jitter_s=st.floats(0.0, 0.02),
    reorder=st.floats(0.0, 1.0), duplicate=st.floats(0.0, 1.0), seed=st.integers(0, 2**64 - 1),
    outage=st.none() | st.tuples(st.floats(0.0, 0.2), st.floats(0.0, 0.2)),
)  # fmt: skip


@EXAMPLES
@given(networks)
def test_the_same_seed_is_the_same_fate_and_every_packet_is_accounted_for(network):
    one, two = through(network, n=200), through(network, n=200)
    assert (one[0] == two[0]).all()
    assert (one[1] == two[1]).all()
    counted = one[2]
    assert counted == two[2]
    assert counted["given"] == 200
    assert counted["taken"] == len(one[0]) == 200 - counted["lost"] + counted["duplicated"]


@EXAMPLES
@given(st.integers(0, 2**64 - 1), st.floats(0.0, 0.5), st.floats(0.0, 0.5))
def test_more_loss_loses_what_less_loss_lost_and_leaves_the_rest_as_it_was(seed, p, more):
    few = through(Impairments(loss=p, jitter_s=0.5e-3, seed=seed), n=200, step_ns=0)
    many = through(Impairments(loss=p + more, jitter_s=0.5e-3, seed=seed), n=200, step_ns=0)
    assert set(many[0].tolist()) <= set(few[0].tolist())
    came = dict(zip(few[0].tolist(), few[1].tolist(), strict=True))
    assert all(came[i] == t for i, t in zip(many[0].tolist(), many[1].tolist(), strict=True))


@EXAMPLES
@given(st.integers(0, 2**64 - 1))
def test_chance_is_xorshift_of_the_seed_on_every_machine(seed):
    """Marsaglia 2003, with Python's integers; six numbers a packet, the first decides about its loss."""
    word, kept, mask = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) or 1, [], 2**64 - 1
    for i in range(100):
        for k in range(6):
            word ^= (word << 13) & mask
            word ^= word >> 7
            word ^= (word << 17) & mask
            if k == 0 and (word >> 11) / 2**53 >= 0.5:
                kept.append(i)
    assert through(Impairments(loss=0.5, seed=seed), n=100)[0].tolist() == kept


def test_seeds_differ():
    fates = {tuple(through(Impairments(loss=0.5, seed=s), n=64)[0].tolist()) for s in range(50)}
    assert len(fates) == 50


def test_what_does_not_fit_is_counted_and_dropped():
    """Fixed capacity: 10 packets under way at 1 kHz with 10 ms of delay, and room for 4."""
    number, _, counted = through(Impairments(delay_s=0.010), n=100, capacity=4)
    assert counted["overflowed"] == 100 - len(number) > 0
    assert counted["taken"] == len(number)
    assert number[:4].tolist() == [0, 1, 2, 3]


@EXAMPLES
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=PACKET_WORDS))
def test_a_packet_arrives_as_it_was_sent(payload):
    block = Block(open_queue(Impairments(delay_s=1e-3)))
    words, out = np.array(payload, dtype=np.int64), np.zeros(PACKET_WORDS, dtype=np.int64)
    assert put_entry(block.address, words, len(payload), 7) == 1
    words[:] = 0  # the queue has a copy
    assert next_due_entry(block.address) == MS + 7
    assert take_entry(block.address, out, MS + 6) == 0
    assert take_entry(block.address, out, MS + 7) == len(payload)
    assert out[: len(payload)].tolist() == payload
    assert take_entry(block.address, out, NEVER_NS) == 0
    assert next_due_entry(block.address) == NEVER_NS


@pytest.mark.parametrize("n_words", [0, -1, PACKET_WORDS + 1])
def test_a_packet_of_an_impossible_length_goes_nowhere(n_words):
    queue = open_queue(Impairments(duplicate=1.0), start_ns=5)
    block = Block(queue)
    words = np.zeros(PACKET_WORDS + 10, dtype=np.int64)
    assert put_entry(block.address, words, n_words, 0) == 0
    assert next_due_entry(block.address) == NEVER_NS
    assert queue.overflowed == 1
    assert queue.start_ns == 5


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"loss": 1.5}, "loss is 1.5"),
        ({"reorder": -0.1}, "reorder is -0.1"),
        ({"duplicate": math.nan}, "duplicate is nan"),
        ({"delay_s": -1.0}, "delay_s is -1.0"),
        ({"jitter_s": math.inf}, "jitter_s is inf"),
        ({"hold_back_s": math.nan}, "hold_back_s is nan"),
        ({"outage": (1.0,)}, "outage is"),
        ({"outage": (1.0, -1.0)}, "outage length_s is -1.0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_an_impossible_network_is_refused_in_one_line(wrong, says):
    with pytest.raises(ValueError, match=says):
        Impairments(**wrong)
    with pytest.raises(ValueError, match="capacity is 0"):
        open_queue(Impairments(), capacity=0)
