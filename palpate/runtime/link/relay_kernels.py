"""The server's end of a link: takes packets, gives the holder's hand to the servo, answers with the newest frame.

A thread of its own, compiled, without the GIL.  It reads frames and writes hands and events as a page does, so nothing
that arrives can delay a tick.  Whatever is in the socket is drained at once: of each peer only the newest QUERY counts
(a server that answers one by one builds a queue: reference on articulated bodies, section 4).

The servo has one tank of energy (haptics/tank.py) and empties it for another hand.  A hand keeps its own for as long as
its session lasts, so when it holds again both of its counters go on from where they were: what it granted before was
spent, and what it was told of before it has.

r  Relay;  peers  Peers (link/peers.py);  the offsets `o` are those of the World's fields in a frame
"""

from __future__ import annotations

import math

from palpate.frame import BASE_AT, EVENT_AT, FIRST_OWN, HAND_AT, HANDS, MODE, PAUSE, PLAY, PRESS, RESET, SPEED, STEP
from palpate.jit import Struct, block_loader, entry, kernel
from palpate.jit.atomics import load_acquire, monotonic_ns
from palpate.link.peers import (
    NOBODY,
    SEATS,
    Peers,
    accept_bye,
    accept_hello,
    accept_query,
    choose_holder,
    cookie,
    copy_sender,
    dropped,
)  # fmt: skip
from palpate.link.sockets import receive, send_to, wait_readable
from palpate.link.wire import (
    ANOTHER_HOLDS,
    BYE,
    HAND_WORDS,
    HELLO,
    HELLO_AT,
    NOBODY_HOLDS,
    OTHER_VERSION,
    QUERY,
    QUERY_AT,
    QUERY_WORDS,
    SEQUENCE,
    STATE,
    STATE_AT,
    TIME_NS,
    WELCOME,
    WELCOME_AT,
    YOU_HOLD,
    open_packet,
    seal,
)  # fmt: skip
from palpate.model.model import Floats1, Ints1
from palpate.runtime.world.state import LINKED_HAND, Offsets
from palpate.servo.ring import HEAD
from palpate.servo.ring_kernels import SLOTS, begin_write, copy_message, copy_part, end_write

PATIENCE_NS = 1_000_000  # between two looks at who holds the hand, when nothing arrives
MOST_AT_ONCE = 4096  # packets in one draining: then peers are answered, whatever else comes


class Relay(Struct):
    """What the thread reads and writes."""

    nq: int
    nv: int
    ints_at: int  # where the fields of controllers lie in a frame,
    n_ints: int
    floats_at: int
    n_floats: int
    parts: int  # of a state
    first: int  # sequence of the first part of the newest
    sequence_sent: int
    received: int  # packets
    answered: int
    holder_before: int  # row of Peers
    account: int  # number of the newest account of energy at the servo,
    account_of: int  # whose session it is, 0: nobody's, and
    account_ns: int  # when it begins
    hand_passed: int  # number of the newest message of own_hands that was passed on, and
    event_passed: int  # of own_events
    handle: int  # of the socket
    key: Ints1  # (2,)
    lengths_in: Ints1  # of the packets that are taken, and
    lengths_out: Ints1  # of those that are sent
    words: Ints1  # (LARGEST_WORDS,) the packet that came
    sender: Ints1  # whose it is
    answer: Ints1  # (LARGEST_WORDS,) the packet that goes, and
    answer_f: Floats1  # the same words as floats
    welcome: Ints1  # (words of a WELCOME,) its payload in place
    rest: Ints1  # (words of all parts,) q, v and what controllers publish, of the newest frame
    rest_f: Floats1
    frame: Ints1  # the newest frame, and
    frame_f: Floats1  # the same words as floats
    frames: Ints1  # the rings' memory
    hands: Ints1  # of this ring and
    hands_f: Floats1
    events: Ints1  # of this one the thread is the only writer:
    events_f: Floats1
    own_hands: Ints1  # what this side's program says comes through rings of its own, and is passed on, too
    own_events: Ints1
    placeable: Ints1  # (n,) bodies that can be placed
    event_open: Ints1  # (n,) of each of the simulation's own events: 1 if a hand may send it, with a value
    event_low: Floats1  # (n,) from here
    event_high: Floats1  # (n,) to there,
    event_whole: Ints1  # (n,) 1: a whole number
    due: Ints1  # (SEATS,) 1: to be answered
    arrived_ns: Ints1  # (SEATS,) when the newest query came
    session: Ints1  # (SEATS,) whose
    event_seen: Ints1  # (SEATS,) number of the newest event
    spent_J: Floats1  # (SEATS,) what it had granted when it began to hold, and
    given_J: Floats1  # (SEATS,) what it had been told by then
    told_J: Floats1  # (SEATS,) that was granted to it, so far
    clock: Ints1  # (2,) scratch
    stop: Ints1  # (1,) 1 ends the thread


load = block_loader((Relay, False), (Peers, False), (Offsets, False))


@kernel
def write_welcome(r, peers, now):
    """WELCOME, with the session that this address has anyway: nothing is remembered.  Its length in bytes."""
    for i in range(r.welcome.shape[0]):
        r.answer[i] = r.welcome[i]
    r.answer[WELCOME_AT.nonce] = r.words[HELLO_AT.nonce]
    r.sequence_sent += 1
    return seal(r.answer, r.lengths_out, WELCOME, cookie(peers.secret, r.sender), r.sequence_sent, now, r.key)


@kernel
def take_packet(r, peers, n, now):
    """One packet of n bytes, whatever it is; its type, or a reason below 0."""
    kind = open_packet(r.words, n, r.lengths_in, r.key)
    if kind == OTHER_VERSION:  # told which is ours, by a WELCOME that is no longer than what came
        dropped(peers, kind)
        return accept_hello(peers, r.sender, now) if n >= 8 * r.lengths_out[WELCOME] else kind
    if kind < 0:
        return dropped(peers, kind)
    if kind == QUERY:
        row = accept_query(peers, r.words, r.sender, now)
        if row < 0:
            return row
        if r.session[row] != peers.session[row]:  # somebody else sits here now
            r.session[row], r.event_seen[row], r.told_J[row] = peers.session[row], 0, 0.0
            if r.account_of == r.session[row]:  # it was forgotten while it was away
                r.account_of = 0
        r.due[row], r.arrived_ns[row] = 1, now
    elif kind == BYE:
        return accept_bye(peers, r.words, r.sender, now)
    elif kind == HELLO:
        return accept_hello(peers, r.sender, now)
    return kind


@kernel
def drain(r, peers):
    """Everything that has arrived; how much it was."""
    taken = 0
    while taken < MOST_AT_ONCE:
        n = receive(r.handle, r.words, r.sender)
        if n < 0:
            break
        if take_packet(r, peers, n, monotonic_ns(r.clock)) == HELLO:
            send_to(r.handle, r.answer, write_welcome(r, peers, monotonic_ns(r.clock)), r.sender)
        taken += 1
    r.received += taken
    return taken


@kernel
def is_allowed(r, kind, value):
    """Those of every session, the mode, and those of controllers with a value within their bounds."""
    if kind in (PLAY, PAUSE, STEP, RESET, SPEED, MODE):
        return True
    k = kind - FIRST_OWN
    if k < 0 or k >= r.event_open.shape[0] or not r.event_open[k]:
        return False
    return r.event_low[k] <= value <= r.event_high[k] and (not r.event_whole[k] or value == math.floor(value))


@kernel
def account(r, peers, row, granted_J, now):
    """The number of this hand's account at the servo, never 0: a new one if another hand's was the last."""
    if r.account_of != peers.session[row]:
        r.account_of, r.account_ns = peers.session[row], now + PATIENCE_NS
        r.account += 1
        r.spent_J[row] = granted_J
        r.given_J[row] = r.told_J[row]
    return r.account


@kernel
def pass_hands(r, peers, holder, now):
    """The hands of the holder's newest query as the servo's; open hands once when nobody holds them any more."""
    if holder == NOBODY and r.holder_before == NOBODY:
        return
    for k in range(HANDS):
        at, out = begin_write(r.hands), r.hands_f
        for i in range(HAND_WORDS):
            r.hands[at + i] = 0
        r.hands[at + HAND_AT.hand], r.hands[at + HAND_AT.sent_ns] = k, now
        if holder != NOBODY:
            q = holder * QUERY_WORDS + QUERY_AT.hands + k * HAND_WORDS
            limited = (
                k == LINKED_HAND and peers.query[q + HAND_AT.session] != 0 and peers.query[q + HAND_AT.hold] != PRESS
            )
            for i in range(HAND_WORDS):
                r.hands[at + i] = peers.query[q + i]
            granted_J = peers.query_f[q + HAND_AT.energy_J]
            r.hands[at + HAND_AT.hand], r.hands[at + HAND_AT.sent_ns] = k, r.arrived_ns[holder]
            r.hands[at + HAND_AT.session] = account(r, peers, holder, granted_J, now) if limited else 0
            out[at + HAND_AT.energy_J] = granted_J - r.spent_J[holder] if limited else 0.0
        end_write(r.hands)
    r.holder_before = holder


@kernel
def pass_own(ring, own, passed):
    """What this side's program wrote since, into the servo's ring; how much that is by now."""
    newest = load_acquire(own, HEAD)
    for number in range(max(passed + 1, newest - own[SLOTS] + 2), newest + 1):
        if copy_part(own, number, ring, begin_write(ring)):  # else it was overwritten meanwhile
            end_write(ring)
    return newest


@kernel
def pass_event(r, peers, row, holder):
    """An event of a peer, once; of the holder, or of anyone while nobody holds the hand."""
    q = row * QUERY_WORDS
    number, kind = peers.query[q + QUERY_AT.event_number], peers.query[q + QUERY_AT.event_kind]
    if number <= r.event_seen[row]:
        return
    r.event_seen[row] = number
    value = peers.query_f[q + QUERY_AT.event_value]
    if is_allowed(r, kind, value) and holder in (row, NOBODY):
        at = begin_write(r.events)
        for i in range(at, at + r.events[2]):
            r.events[i] = 0
        r.events[at + EVENT_AT.kind] = kind
        r.events_f[at + EVENT_AT.value] = value
        end_write(r.events)


@kernel
def parked_bits(r, o):
    """Of a STATE, from those of the frame: bodies that can be placed have seven coordinates each, so all fit."""
    bits = 0
    for k in range(min(r.placeable.shape[0], 62)):
        bits |= r.frame[o.parked + r.placeable[k]] << k
    return bits


@kernel
def write_state(r, peers, o, row, holder, now):
    """STATE: the newest frame, and what was heard of this peer; all that its parts have in common."""
    x, f = r.answer, r.answer_f
    x[STATE_AT.query_seen] = peers.query[row * QUERY_WORDS + SEQUENCE]
    x[STATE_AT.query_time_ns] = peers.query[row * QUERY_WORDS + TIME_NS]
    x[STATE_AT.waited_ns] = now - r.arrived_ns[row]
    x[STATE_AT.age_ns] = now - r.frame[BASE_AT.wall_ns]
    x[STATE_AT.tick], x[STATE_AT.state] = r.frame[BASE_AT.tick], r.frame[BASE_AT.state]
    x[STATE_AT.edit_mode], x[STATE_AT.edit_stage] = r.frame[o.edit_mode], r.frame[o.edit_stage]
    x[STATE_AT.holder] = YOU_HOLD if holder == row else NOBODY_HOLDS if holder == NOBODY else ANOTHER_HOLDS
    x[STATE_AT.event_seen], x[STATE_AT.parked] = r.event_seen[row], parked_bits(r, o)
    for i in range(3):
        x[STATE_AT.dropped + i] = peers.counters[i]
    for k in range(HANDS):
        x[STATE_AT.hand_body + k] = r.frame[o.hand_body + k]
    for i in range(3 * HANDS):
        f[STATE_AT.hand_force + i] = r.frame_f[o.hand_force + i]
        f[STATE_AT.hand_point + i] = r.frame_f[o.hand_point + i]
    f[STATE_AT.sim_time_s] = r.frame_f[BASE_AT.time_s]
    held = r.frame[o.hand_body] != 0 and r.frame[BASE_AT.wall_ns] > r.account_ns  # before, its tank was another's
    if held and holder == row and r.account_of == peers.session[row]:
        r.told_J[row] = max(r.told_J[row], r.given_J[row] + r.frame_f[o.granted_J])
    f[STATE_AT.granted_J] = r.told_J[row]
    gather(r, o)
    r.first = x[STATE_AT.first] = r.sequence_sent + 1
    r.answered += 1
    r.due[row] = 0


@kernel
def gather(r, o):
    """q, v and what controllers publish, one after the other, as they are in the frame."""
    for i in range(r.nq):
        r.rest_f[i] = r.frame_f[o.q + i]
    for i in range(r.nv):
        r.rest_f[r.nq + i] = r.frame_f[o.v + i]
    at = r.nq + r.nv
    for i in range(r.n_ints):
        r.rest[at + i] = r.frame[r.ints_at + i]
    for i in range(r.n_floats):
        r.rest[at + r.n_ints + i] = r.frame[r.floats_at + i]


@kernel
def write_part(r, peers, row, part, now):
    """The next STATE of what write_state has prepared; its length in bytes."""
    n = r.rest.shape[0] // r.parts
    r.answer[STATE_AT.part] = part
    for i in range(n):
        r.answer[STATE_AT.rest + i] = r.rest[part * n + i]
    r.sequence_sent += 1
    return seal(r.answer, r.lengths_out, STATE, peers.session[row], r.sequence_sent, now, r.key)


@kernel
def pass_on(r, peers, now):
    """(who holds the hand, a row or NOBODY; whether there is a frame to answer with); passes on hand and events."""
    r.hand_passed = pass_own(r.hands, r.own_hands, r.hand_passed)
    r.event_passed = pass_own(r.events, r.own_events, r.event_passed)
    holder = choose_holder(peers, now)
    if holder == NOBODY or r.due[holder] or holder != r.holder_before:
        pass_hands(r, peers, holder, now)
    for row in range(SEATS):
        if r.due[row]:
            pass_event(r, peers, row, holder)
    return holder, copy_message(r.frames, load_acquire(r.frames, HEAD), r.frame)


@entry("intp")
def relay_loop(address):
    """Until `stop` is set."""
    r, peers, o = load(address)
    while load_acquire(r.stop, 0) == 0:
        wait_readable(r.handle, PATIENCE_NS)
        drain(r, peers)
        holder, fresh = pass_on(r, peers, monotonic_ns(r.clock))
        for row in range(SEATS):
            if r.due[row] and fresh:  # else the frame was overwritten while it was read: the next turn answers
                now = monotonic_ns(r.clock)
                write_state(r, peers, o, row, holder, now)
                copy_sender(peers, row, r.sender)
                for part in range(r.parts):
                    send_to(r.handle, r.answer, write_part(r, peers, row, part, now), r.sender)
