"""The schedule: a simulation's ticks in real time, and the same ticks as fast as possible in simulated time.

Ticks are due at t_0 + k T (absolute, so lateness does not add up).  The loop sleeps until shortly before, spins the
rest, and gives up ticks that are more than one period behind instead of chasing them.  What a tick does it does not
know: it calls the simulation's routines by their addresses (simulation.py).

b  Beat;  h  Head (head.py)
"""

from __future__ import annotations

from palpate.frame import (
    COUNTERS,
    EVENT_AT,
    FAULT,
    HAND_AT,
    HAND_WORDS,
    HANDS,
    PAUSE,
    PAUSED,
    PLAY,
    RESET,
    RUNNING,
    SPEED,
    STEP,
)
from palpate.jit import Struct, block_loader, entry, kernel
from palpate.jit.atomics import load_acquire, monotonic_ns, sleep_until_ns, store_release
from palpate.jit.routines import call_routine
from palpate.model.model import Ints1
from palpate.servo.head import Head
from palpate.servo.ring import HEAD
from palpate.servo.ring_kernels import SLOTS, copy_message

LATE, SKIPPED, EVENTS_LOST, WATCHDOGS = (COUNTERS.index(c) for c in ("late", "skipped", "events_lost", "watchdog"))
IDLE_EVERY = 20  # while paused, one frame in so many periods
MOST_TICKS = 8  # in one period, at speeds above one
SOLVING = 0.75  # part of a period after which a tick should only finish: the rest is for that, and for what else runs

# words of Beat.control, which Python shares with the loop
STOP, HEARTBEAT_NS, WATCHDOG, PERIOD_NS, SPIN_NS = range(5)


class Beat(Struct):
    """What the loop keeps to itself."""

    # addresses: of the simulation's Block and of the routines that are called with it
    simulation: int
    tick: int
    reset: int
    take: int  # 0: it has no events of its own
    credit: float  # ticks that are due by the speed
    steps: int  # still to be made while paused
    hand_seen: int  # number of the newest message of the ring of hands, and
    next_event: int  # of the event that comes next
    message: Ints1  # (HAND_WORDS,) one being taken
    edges_ns: Ints1  # of the lateness histogram
    lateness_log: Ints1  # (n,) lateness of the first n periods [ns], for the bench; usually empty
    control: Ints1  # STOP, HEARTBEAT_NS, ...
    clock: Ints1  # (2,) scratch of the clock
    hands: Ints1  # the rings' memory
    events: Ints1


load_beat = block_loader((Beat, False), (Head, False))


# ---- what comes from outside


@kernel
def take_hands(b, h):
    """The newest message of each hand, if there are new ones; what was overwritten was older."""
    newest = load_acquire(b.hands, HEAD)
    first = max(b.hand_seen + 1, newest - b.hands[SLOTS] + 2)
    for number in range(first, newest + 1):
        if copy_message(b.hands, number, b.message):
            keep_hand(b, h)
    b.hand_seen = newest


@kernel
def keep_hand(b, h):
    """b.message is the newest of its hand."""
    k = b.message[HAND_AT.hand]
    if 0 <= k < HANDS:
        for i in range(HAND_WORDS):
            h.hand[k * HAND_WORDS + i] = b.message[i]


@kernel
def take_events(b, h):
    """Every event since the last period, in order; those overwritten before they were taken are counted."""
    newest = load_acquire(b.events, HEAD)
    while b.next_event <= newest:
        if copy_message(b.events, b.next_event, h.event):
            if not take_event(b, h, h.event[EVENT_AT.kind], h.event_f[EVENT_AT.value]):
                return
            b.next_event += 1
        else:
            oldest = max(b.next_event + 1, newest - b.events[SLOTS] + 2)
            h.counters[EVENTS_LOST] += oldest - b.next_event
            b.next_event = oldest


@kernel
def take_event(b, h, kind, value):
    """False: not now.  The simulation is asked first: one that runs elsewhere passes all of them on."""
    if b.take != 0:
        taken = call_routine(b.take, b.simulation)
        if taken != 0:
            return taken > 0
    if kind == RESET:
        reset(b, h)
        if h.state == FAULT:
            h.state = PAUSED
    elif h.state == FAULT:
        return True  # only a reset leaves a fault
    elif kind == PLAY:
        h.state = RUNNING
    elif kind == PAUSE:
        h.state, b.steps = PAUSED, 0
    elif kind == STEP:
        h.state = PAUSED
        b.steps += 1
    elif kind == SPEED and 0.0 < value <= MOST_TICKS:
        h.speed = value
    return True


@kernel
def reset(b, h):
    """Back to the start; settings stay."""
    h.tick, h.time = 0, 0.0
    b.credit, b.steps = 0.0, 0
    call_routine(b.reset, b.simulation)


# ---- a period


@kernel
def tick(b, h, now, moving, showing):
    h.now_ns, h.moving, h.showing = now, moving, showing
    if call_routine(b.tick, b.simulation) < 0:
        h.state = FAULT


@kernel
def ticks_due(b, h):
    """Ticks of this period that move: as many as the speed has earned, single steps, or none."""
    if h.state == RUNNING:
        b.credit += h.speed
        earned = int(b.credit)
        b.credit -= earned
        return earned
    if b.steps > 0:
        b.steps -= 1
        return 1
    return 0


@kernel
def note_lateness(b, h, late_ns):
    bucket = 0
    while bucket < b.edges_ns.shape[0] and late_ns > b.edges_ns[bucket]:
        bucket += 1
    h.lateness[bucket] += 1


@kernel
def wait_until_due(b, due):
    """Sleep until shortly before, spin the rest; the time it then is [ns]."""
    sleep_until_ns(b.clock, due - b.control[SPIN_NS])
    now = monotonic_ns(b.clock)
    while now < due:
        now = monotonic_ns(b.clock)
    return now


@kernel
def begin_period(b, h, due, before, now, periods):
    """Note how late this period begins, and that the loop is alive."""
    store_release(b.control, HEARTBEAT_NS, now)
    note_lateness(b, h, now - due)
    if periods < b.lateness_log.shape[0]:
        b.lateness_log[periods] = now - due
    h.late_s = 1e-9 * max(now - before - b.control[PERIOD_NS], 0)
    h.counters[WATCHDOGS] = load_acquire(b.control, WATCHDOG)


@kernel
def end_period(b, h, due, now):
    """When the next period is due; those that are over already are given up, and counted."""
    ended, period_ns = monotonic_ns(b.clock), b.control[PERIOD_NS]
    h.tick_us = 1e-3 * (ended - now)
    due += period_ns
    if ended > due:
        h.counters[LATE] += 1
        behind = (ended - due) // period_ns
        h.counters[SKIPPED] += behind
        due += behind * period_ns
    return due


@entry("intp, intp")
def servo_loop(address, most):
    """Run in real time until control[STOP] is set, or for `most` periods if that is positive; returns the periods."""
    b, h = load_beat(address)
    before = monotonic_ns(b.clock)
    due, periods = before + b.control[PERIOD_NS], 0
    while load_acquire(b.control, STOP) == 0 and (most <= 0 or periods < most):
        now = wait_until_due(b, due)
        begin_period(b, h, due, before, now, periods)
        before = now
        take_hands(b, h)
        take_events(b, h)
        due_ticks = ticks_due(b, h)
        for k in range(due_ticks):
            h.until_ns = due + int(SOLVING * b.control[PERIOD_NS] * (k + 1) / due_ticks)
            tick(b, h, now, h.state != FAULT, True)
        if due_ticks == 0:  # devices want an answer in every period
            tick(b, h, now, False, h.state != RUNNING and periods % IDLE_EVERY == 0)
        due = end_period(b, h, due, now)
        periods += 1
    return periods


@entry("intp")
def restart(address):
    """Back to the start, paused or running as it was."""
    b, h = load_beat(address)
    reset(b, h)


@entry("intp, intp, int64[:, ::1]")
def simulate(address, ticks, hands):
    """`ticks` ticks in simulated time; row k of hands (ticks, words) is the hand message of tick k, or hands is empty.

    Returns how many were done: fewer if the simulation stopped.
    """
    b, h = load_beat(address)
    h.until_ns = 0
    for k in range(ticks):
        take_events(b, h)
        now = round(1e9 * h.dt * h.tick)
        if hands.shape[0]:
            for i in range(HAND_WORDS):
                b.message[i] = hands[k, i]
            b.message[HAND_AT.sent_ns] = now
            keep_hand(b, h)
        tick(b, h, now, True, True)
        if h.state == FAULT:
            return k
    return ticks
