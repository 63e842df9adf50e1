"""A bad network inside one process: packets are delayed, lost, held back, doubled, or cut off for a while.

One `Queue` is one direction.  `put` schedules a copy, `take` hands out what is due: a scheduled send, so nobody sleeps
and the loop keeps its rate.  Time comes in as now_ns, chance from the seed: the same packets have the same fate.

due = now + D + U(0, J)               D delay, J jitter: a uniform extra, so a packet is never before D nor after D + J
due >= due of all before it           as in one router's queue: jitter alone never lets a packet overtake another
held back (probability `reorder`):    due = now + D + U(0, J) + H, and those after it need not wait: they overtake
doubled (probability `duplicate`):    a second copy, as if given right after the first, with a jitter of its own
outage:                               what is given in [begin, begin + length) is lost; what is under way arrives

Every packet draws the same number of random numbers, whatever the settings: with more loss the packets that were lost
before are lost again, and the others keep their jitter.  Random numbers: xorshift, Marsaglia 2003, period 2^64 - 1.
Articulated reference, section 4: inject delay by a scheduled send, never by sleeping in the serving loop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from palpate.jit import Struct, kernel
from palpate.model.model import Ints1

PACKET_WORDS = 184  # of 8 bytes: 1472 bytes, what an Ethernet frame carries of a UDP packet
NS_PER_S = 1_000_000_000
NEVER_NS = 2**63 - 1

QUEUE_COUNTERS = ("given", "lost", "duplicated", "held_back", "overflowed", "taken")  # of a Queue
LOW_53 = 2**53 - 1  # as many bits as a float has
LOW_57 = 2**57 - 1  # what is left of a word after a shift by 7 to the right


@dataclass(frozen=True)
class Impairments:
    """What one direction of a network does to packets.  The default is a perfect one."""

    loss: float = 0.0  # probability that a packet is lost
    delay_s: float = 0.0  # of every packet
    jitter_s: float = 0.0  # further delay, uniform between 0 and this
    reorder: float = 0.0  # probability that a packet is held back, so that later ones overtake it
    hold_back_s: float = 0.003  # by so much: three packets at 1 kHz
    duplicate: float = 0.0  # probability that a packet comes twice
    outage: tuple[float, float] | None = None  # (begin_s, length_s), counted from the queue's start: all is lost
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("loss", "reorder", "duplicate"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} is {getattr(self, name)}; it is a probability, 0 to 1")
        for name in ("delay_s", "jitter_s", "hold_back_s"):
            _check_seconds(name, getattr(self, name))
        if self.outage is not None:
            if len(self.outage) != 2:
                raise ValueError(f"outage is {self.outage}; it is (begin_s, length_s), or None")
            _check_seconds("outage begin_s", self.outage[0])
            _check_seconds("outage length_s", self.outage[1])
        if not 0 <= self.seed < 2**64:
            raise ValueError(f"seed is {self.seed}; it is an integer from 0 to 2^64 - 1")


def _check_seconds(name: str, value: float) -> None:
    if not (math.isfinite(value) and 0.0 <= value <= 1e6):
        raise ValueError(f"{name} is {value}; it is a time in seconds, 0 or more")


class Queue(Struct):
    """Packets under way in one direction.  A slot is free while its length is 0."""

    # settings: probabilities, and times [ns]
    loss: float
    reorder: float
    duplicate: float
    delay_ns: int
    jitter_ns: int
    hold_back_ns: int
    outage_begin_ns: int
    outage_length_ns: int
    start_ns: int
    # written by put
    latest_due_ns: int  # of the orderly packets
    random: int  # state of the random numbers
    next_order: int  # packets that were scheduled
    # QUEUE_COUNTERS, written by put and take
    given: int
    lost: int
    duplicated: int
    held_back: int
    overflowed: int
    taken: int
    words: Ints1  # (capacity * PACKET_WORDS,) the packets, slot by slot, written by put
    length: Ints1  # (capacity,) words of each, written by put and take
    due_ns: Ints1  # (capacity,) when each arrives, written by put
    order: Ints1  # (capacity,) in which they were scheduled: decides between equal due times, written by put


def open_queue(impairments: Impairments, start_ns: int = 0, capacity: int = 256) -> Queue:
    """An empty queue for up to `capacity` packets under way; an outage is counted from start_ns [ns].

    At 1 kHz 256 are a quarter of a second, or half of that if every packet is doubled.
    """
    if capacity < 1:
        raise ValueError(f"capacity is {capacity}; a queue holds at least one packet")
    x, (begin_s, length_s) = impairments, impairments.outage or (0.0, 0.0)
    seconds = {"delay_ns": x.delay_s, "jitter_ns": x.jitter_s, "hold_back_ns": x.hold_back_s,
               "outage_begin_ns": begin_s, "outage_length_ns": length_s}  # fmt: skip
    return Queue(
        loss=x.loss, reorder=x.reorder, duplicate=x.duplicate, start_ns=start_ns, latest_due_ns=-NEVER_NS,
        random=random_state(x.seed), **{name: round(s * NS_PER_S) for name, s in seconds.items()},
        words=_zeros(capacity * PACKET_WORDS), length=_zeros(capacity), due_ns=_zeros(capacity), order=_zeros(capacity),
    )  # fmt: skip


def _zeros(n: int) -> NDArray[np.int64]:
    return np.zeros(n, dtype=np.int64)


def random_state(seed: int) -> int:
    """A word that is not 0, far from that of the next seed."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64).view(np.int64)[0]) or 1


@kernel
def next_uniform(q: Queue) -> float:
    """The next random number, 0 <= u < 1."""
    x = np.int64(q.random)  # of 64 bits without the compiler, too
    x ^= x << 13
    x ^= (x >> 7) & LOW_57  # without the copies of the sign
    x ^= x << 17
    q.random = int(x)
    return float((x >> 11) & LOW_53) / (LOW_53 + 1.0)


@kernel
def schedule(q: Queue, words: Ints1, n_words: int, now_ns: int, late: float, held: bool) -> bool:
    """Put one copy into a free slot, `late` (0 to 1) of the jitter late; whether there was one."""
    due = now_ns + q.delay_ns + int(late * q.jitter_ns)
    if held:
        due += q.hold_back_ns
    else:
        due = max(due, q.latest_due_ns)
    for slot in range(q.length.shape[0]):
        if q.length[slot] == 0:
            for i in range(n_words):
                q.words[slot * PACKET_WORDS + i] = words[i]
            q.length[slot], q.due_ns[slot], q.order[slot] = n_words, due, q.next_order
            q.next_order += 1
            q.held_back += held
            if not held:
                q.latest_due_ns = due
            return True
    q.overflowed += 1
    return False


@kernel
def put(q: Queue, words: Ints1, n_words: int, now_ns: int) -> int:
    """Give the network a packet, words[:n_words], 1 to PACKET_WORDS of them; how many copies of it will arrive.

    One that is longer is counted as overflowed and goes nowhere.
    """
    q.given += 1
    lost = next_uniform(q) < q.loss
    late, held = next_uniform(q), next_uniform(q) < q.reorder
    twice, late2, held2 = next_uniform(q) < q.duplicate, next_uniform(q), next_uniform(q) < q.reorder
    since_outage = now_ns - q.start_ns - q.outage_begin_ns
    if lost or 0 <= since_outage < q.outage_length_ns:
        q.lost += 1
        return 0
    if not 1 <= n_words <= min(PACKET_WORDS, words.shape[0]):
        q.overflowed += 1
        return 0
    copies = int(schedule(q, words, n_words, now_ns, late, held))
    if twice:
        q.duplicated += 1
        copies += schedule(q, words, n_words, now_ns, late2, held2)
    return copies


@kernel
def arrives_before(q: Queue, a: int, b: int) -> bool:
    """Slot a's packet before slot b's; equal due times in the order of scheduling."""
    if q.due_ns[a] != q.due_ns[b]:
        return bool(q.due_ns[a] < q.due_ns[b])
    return bool(q.order[a] < q.order[b])


@kernel
def first_slot(q: Queue) -> int:
    """The slot whose packet arrives first; -1: nothing under way."""
    first = -1
    for slot in range(q.length.shape[0]):
        if q.length[slot] > 0 and (first < 0 or arrives_before(q, slot, first)):
            first = slot
    return first


@kernel
def next_due_ns(q: Queue) -> int:
    """When the next packet arrives; NEVER_NS if nothing is under way."""
    slot = first_slot(q)
    return q.due_ns[slot] if slot >= 0 else NEVER_NS


@kernel
def take(q: Queue, out: Ints1, now_ns: int) -> int:
    """The earliest packet that is due into out (PACKET_WORDS,), and how many words it has; 0: none is due."""
    slot = first_slot(q)
    if slot < 0 or q.due_ns[slot] > now_ns:
        return 0
    n_words = q.length[slot]
    for i in range(n_words):
        out[i] = q.words[slot * PACKET_WORDS + i]
    q.length[slot] = 0
    q.taken += 1
    return n_words
