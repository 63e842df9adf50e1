"""The hand's end of a link: a world that is not stepped but mirrored, and touched as if it were here.

Every tick, on the absolute schedule of the servo:

    QUERY: what the hand does to which body, and the time, for the other end's answer
    the newest state, all of its parts; if none is new by the deadline, the previous one  stale, counted
    q_hat, v_hat at this moment, from the two newest                                      link/estimate.py
    devices: what they touch and hold there is felt at once                               haptics/reach_kernels.py
    a frame, for this side's page and recorder

h, o, m, w, s  as in runtime/world/tick.py;  x  Mirror;  e  Estimate;  c  ClockOffset;
there, back  Queue: a bad network on purpose (link/impair.py), perfect unless asked
"""

from __future__ import annotations

from palpate.conventions import WORLD
from palpate.dynamics.workspace import Workspace
from palpate.frame import COUNTERS, EVENT_AT, HAND_AT, HANDS, PRESS, PULL, PUSH, RUNNING
from palpate.haptics.devices.messages import STALE_NS
from palpate.haptics.devices.want import NOTHING
from palpate.haptics.reach_tables import (
    CUT,
    FEELING,
    HELD_TURN,
    ORIENTATION,
    RESTING,
    TANK,
    load_head,
    load_reach,
)  # fmt: skip
from palpate.jit import Struct, block_loader, kernel
from palpate.jit.atomics import monotonic_ns
from palpate.jit.routines import routine
from palpate.link.clock import ClockOffset, forget_exchanges, newest_round_trip_ns, note_exchange, offset_ns
from palpate.link.estimate import Estimate, estimate, forget_states, note_state
from palpate.link.impair import Queue, next_due_ns, put, take
from palpate.link.parts import spread, take_part
from palpate.link.sockets import receive, send, wait_readable
from palpate.link.wire import (
    HAND_WORDS,
    HELLO,
    HELLO_AT,
    HOLD,
    QUERY,
    QUERY_AT,
    SEQUENCE,
    SESSION,
    STATE,
    STATE_AT,
    TIME_NS,
    WATCH,
    WELCOME,
    WELCOME_AT,
    open_packet,
    seal,
)  # fmt: skip
from palpate.model.model import Floats1, Ints1, ModelArrays
from palpate.runtime.world.publish import publish
from palpate.runtime.world.state import LINKED_HAND, Offsets, TickState
from palpate.runtime.world.tick import devices
from palpate.servo.head import Head
from palpate.spatial.quaternions import quaternion_product
from palpate.spatial.vectors import add, part3, part4, put_part
from palpate.world.step import begin_step, free_motion

MOST_DELAY_MS = 300.0  # there and back: a queue holds a quarter of a second
GREET_EVERY = 100  # ticks, while the other end is silent
LINK_STALE, LINK_SILENT = COUNTERS.index("link_stale"), COUNTERS.index("link_silent")


class Mirror(Struct):
    """What the loop keeps beside the servo's state."""

    session_id: int
    nonce: int  # of the next HELLO
    fingerprint: int  # of the model
    sent: int  # sequence of the last QUERY
    answered: int  # sequence of the newest QUERY that was
    seen: int  # sequence of the last part of the newest state,
    seen_time_ns: int  # its time on the server's clock, and
    heard_ns: int  # when it came, on ours
    deadline_ns: int  # of a STATE, after the tick began
    silent: int  # whether the other end is
    holder: int  # who holds the hand
    may_hold: int  # whether to ask for it
    periods: int  # so far
    event_kind: int  # the event under way,
    event_value: float
    event_number: int  # its number, and
    event_seen: int  # of the last one seen
    delay_kind: int  # of the event that is about the network, and goes nowhere
    dropped: int  # packets
    logged: int  # exchanges
    backlog: int  # most packets that ever came in one tick
    clock: Ints1  # (2,) scratch
    handle: int  # of the socket
    key: Ints1  # (2,)
    lengths: Ints1  # of the packets that are taken
    lengths_out: Ints1  # of those that are sent
    words: Ints1  # (LARGEST_WORDS,) the packet that came, and
    words_f: Floats1  # the same words as floats
    raw: Ints1  # (LARGEST_WORDS,) it, before the bad network
    sender: Ints1
    query: Ints1  # (LARGEST_WORDS,) the packet that goes, and
    query_f: Floats1  # the same words as floats
    parts: int  # of a state
    first: int  # sequence of the first part of the one that is coming in,
    got: int  # bit k: part k of it is there
    rest: Ints1  # (words of all parts,) what came of it
    rest_f: Floats1
    q: Floats1  # (nq,) of a state
    v: Floats1  # (nv,)
    own: Ints1  # (n,) what the other end's controllers published
    round_trips: Ints1  # (n,) of the first n exchanges [ns], for the bench; usually empty
    placeable: Ints1  # (n,) bodies that can be placed


load_mirror = block_loader(
    (Head, False), (Offsets, False), (ModelArrays, True), (Workspace, False), (TickState, False), (Mirror, False),
    (Estimate, False), (ClockOffset, False), (Queue, False), (Queue, False),
)  # fmt: skip


# ---- what the other end says


@kernel
def begin_again(s, x, e, c):
    """A WELCOME: the other end was away, or has started anew.  Whatever it sent before must not count any more."""
    if x.words[WELCOME_AT.nonce] != x.nonce or x.words[WELCOME_AT.fingerprint] != x.fingerprint:
        x.dropped += 1
        return
    if x.words[SESSION] != x.session_id:  # else the other end has kept its accounts of our energy and events
        for k in range(HANDS, s.devices.shape[0]):
            a = load_head(s.devices[k])[0]
            a.new_link, a.energy_J, a.granted_J = 1, 0.0, 0.0
        x.event_number = x.event_number > x.event_seen  # what nobody has seen yet is for it
        x.event_seen = 0
    x.session_id, x.seen = x.words[SESSION], x.words[SEQUENCE]
    x.seen_time_ns = x.words[TIME_NS]
    x.first = x.got = 0
    x.nonce += 1  # one answer counts
    forget_states(e)
    forget_exchanges(c)


@kernel
def take_state(m, h, s, x, e, c, n, now):
    """One packet of n bytes in x.words that came now; whether with it a state newer than all before is complete."""
    kind = open_packet(x.words, n, x.lengths, x.key)
    if kind == WELCOME:
        begin_again(s, x, e, c)
        return False
    if kind != STATE or x.words[SESSION] != x.session_id:
        x.dropped += 1
        return False
    if x.words[SEQUENCE] <= x.seen:
        return False  # overtaken, or a second time
    sent, waited = x.words[TIME_NS], x.words[STATE_AT.waited_ns]
    if x.words[STATE_AT.query_seen] > x.answered:  # the first answer to this query: a new exchange
        x.answered = x.words[STATE_AT.query_seen]
        if note_exchange(c, x.words[STATE_AT.query_time_ns], sent - waited, sent, now):
            if x.logged < x.round_trips.shape[0]:
                x.round_trips[x.logged] = newest_round_trip_ns(c)
            x.logged += 1
    if not take_part(x):
        return False
    spread(m, x)
    there = sent - x.words[STATE_AT.age_ns]  # when that state was, on the server's clock
    last = x.first + x.parts - 1
    if not note_state(m, e, last, 1e-9 * (there - offset_ns(c)), x.q, x.v, 1e-9 * now):
        return False
    for i in range(x.own.shape[0]):
        x.own[i] = x.rest[m.nq + m.nv + i]
    x.seen, x.seen_time_ns, x.heard_ns = last, sent, now
    x.holder = x.words[STATE_AT.holder]
    x.event_seen = max(x.event_seen, x.words[STATE_AT.event_seen])  # it may have forgotten us
    h.tick, h.state = x.words[STATE_AT.tick], x.words[STATE_AT.state]
    s.edit_mode, s.edit_stage = x.words[STATE_AT.edit_mode], x.words[STATE_AT.edit_stage]
    h.time = x.words_f[STATE_AT.sim_time_s]
    for k in range(HANDS):
        a = load_head(s.devices[k])[0]
        a.held = x.words[STATE_AT.hand_body + k]
        a.bodies_force = part3(x.words_f, STATE_AT.hand_force + 3 * k)
        a.point = part3(x.words_f, STATE_AT.hand_point + 3 * k)
    for k in range(min(x.placeable.shape[0], 62)):
        s.parked[x.placeable[k]] = x.words[STATE_AT.parked] >> k & 1
    for k in range(HANDS, s.devices.shape[0]):
        load_head(s.devices[k])[0].energy_J = x.words_f[STATE_AT.granted_J]
    return True


@kernel
def take_due(m, h, s, x, e, c, back, now):
    """All that the network has let through by now; whether something was new."""
    new, taken = False, 0
    while True:
        words = take(back, x.words, now)
        if words == 0:
            break
        new = take_state(m, h, s, x, e, c, 8 * words, now) or new
        taken += 1
    x.backlog = max(x.backlog, taken)
    return new


@kernel
def drain(x, back):
    """Everything in the socket into the network `back`, each at the time it is taken: no trip seems shorter than it
    was because something arrived while others were read."""
    while True:
        n = receive(x.handle, x.raw, x.sender)
        if n < 0:
            return
        if n % 8 == 0 and 0 < n <= 8 * x.raw.shape[0]:
            put(back, x.raw, n // 8, monotonic_ns(x.clock))
        else:
            x.dropped += 1


@kernel
def send_due(x, there, now):
    """What the network `there` lets go by now, into the socket."""
    while True:
        words = take(there, x.raw, now)
        if words == 0:
            return
        send(x.handle, x.raw, 8 * words)


@kernel
def await_state(m, h, s, x, e, c, there, back, now):
    """Take what there is; wait until the deadline for something new, and for the answer to this tick's query if that
    of the one before has only now come: else a loop that was late once would stay a tick behind for good."""
    until = now + x.deadline_ns
    new = False
    while True:
        send_due(x, there, monotonic_ns(x.clock))
        drain(x, back)
        new = take_due(m, h, s, x, e, c, back, monotonic_ns(x.clock)) or new
        now = monotonic_ns(x.clock)
        if now >= until or (new and x.sent - x.answered != 1):
            return new
        wait_readable(x.handle, max(min(until, next_due_ns(back), next_due_ns(there)) - now, 0))


# ---- what the hand says


@kernel
def write_hands(h, x, now):
    """What the page's hands do, as they said it, unlimited by energy: they feel nothing.  Whether they do anything."""
    acts = False
    for k in range(HANDS):
        at, to = k * HAND_WORDS, QUERY_AT.hands + k * HAND_WORDS
        does = h.hand[at + HAND_AT.body] > WORLD or h.hand[at + HAND_AT.hold] == PRESS
        if does and now - h.hand[at + HAND_AT.sent_ns] <= STALE_NS:
            for i in range(HAND_WORDS):
                x.query[to + i] = h.hand[at + i]
            x.query[to + HAND_AT.session] = 0
            acts = True
    return acts


@kernel
def write_device(x, a, want):
    """What a device does to a body, as hand LINKED_HAND, if the page's is open; whether it does anything."""
    f, at = x.query_f, QUERY_AT.hands + LINKED_HAND * HAND_WORDS
    body = a.held if a.held != WORLD else a.touched
    if body == WORLD or x.query[at + HAND_AT.body] != WORLD or x.query[at + HAND_AT.hold] == PRESS:
        return False
    x.query[at + HAND_AT.body] = body
    put_part(f, at + HAND_AT.at_body, a.at_body)
    if a.passivity == TANK:
        x.query[at + HAND_AT.session], f[at + HAND_AT.energy_J] = 1, a.granted_J
    if a.held == WORLD:
        x.query[at + HAND_AT.hold] = PUSH
        put_part(f, at + HAND_AT.force, a.pushing)
        return True
    x.query[at + HAND_AT.hold] = PULL
    put_part(f, at + HAND_AT.target, add(a.hip, a.offset))
    put_part(f, at + HAND_AT.velocity, a.hip_velocity)
    put_part(f, at + HAND_AT.orientation, quaternion_product(part4(a.turn, ORIENTATION), part4(a.turn, HELD_TURN)))
    f[at + HAND_AT.stiffness_N_m] = want.stiffness[0]
    f[at + HAND_AT.stiffness_Nm_rad] = want.stiffness_Nm_rad
    return True


@kernel
def write_event(x):
    """The event that the other end has not seen yet."""
    going = x.event_number > x.event_seen
    x.query[QUERY_AT.event_number] = x.event_number
    x.query[QUERY_AT.event_kind] = x.event_kind if going else 0
    x.query_f[QUERY_AT.event_value] = x.event_value if going else 0.0


@kernel
def write_query(h, s, x, now):
    """QUERY; its length in bytes."""
    for i in range(x.query.shape[0]):
        x.query[i] = 0
    acts = write_hands(h, x, now)
    if s.devices.shape[0] > HANDS:
        a, _, _, _, _, want = load_reach(s.devices[HANDS])
        acts = write_device(x, a, want) or acts
    x.query[QUERY_AT.wants] = HOLD if acts and x.may_hold else WATCH
    x.query[QUERY_AT.state_seen], x.query[QUERY_AT.state_time_ns] = x.seen, x.seen_time_ns
    write_event(x)
    x.sent += 1
    return seal(x.query, x.lengths_out, QUERY, x.session_id, x.sent, now, x.key)


@kernel
def write_hello(x, now):
    """HELLO, when nothing has been heard for a while; its length in bytes."""
    for i in range(HELLO_AT.padding, x.lengths_out[HELLO] - 1):
        x.query[i] = 0
    x.query[HELLO_AT.nonce] = x.nonce
    x.sent += 1
    return seal(x.query, x.lengths_out, HELLO, 0, x.sent, now, x.key)


# ---- the tick


@kernel
def show_hands(s, x, now):
    """What the hands do, where they are and when they said so, as this side knows it: for the frame."""
    for k in range(HANDS):
        a, at = load_head(s.devices[k])[0], QUERY_AT.hands + k * HAND_WORDS
        hold = x.query[at + HAND_AT.hold]
        acts = hold == PRESS or (a.held != WORLD and a.held == x.query[at + HAND_AT.body])
        a.does = hold + 1 if acts else NOTHING  # in the order of devices/want.py
        a.age_s = 1e-9 * (now - x.query[at + HAND_AT.sent_ns])
        if acts:
            a.target = a.point if hold == PUSH else part3(x.query_f, at + HAND_AT.target)


@kernel
def show_mirror(h, o, m, w, s, x, e, new, now):
    """Estimate, touch, and publish."""
    h.counters[LINK_STALE] += not new
    was_silent = x.silent != 0
    silent = now - x.heard_ns > STALE_NS
    h.counters[LINK_SILENT] += silent and not was_silent
    x.silent = silent
    estimate(m, e, 1e-9 * now, s.q, s.v)
    begin_step(s.world)
    free_motion(s.world)  # for the masses that bodies show to a hand
    for k in range(HANDS, s.devices.shape[0]):
        if was_silent and not silent:
            load_head(s.devices[k])[0].engage = 1
    show_hands(s, x, now)
    known = e.noted > 0  # before the first state nothing is where it seems to be
    h.now_ns = now
    devices(h, s, CUT if silent else FEELING if known and h.state == RUNNING else RESTING)
    publish(h, o, m, w, s)


@routine
def tick_mirror(address):
    """Say what the hand does, hear how the world is, show it.  Whether it moves is not this end's to say."""
    h, o, m, w, s, x, e, c, there, back = load_mirror(address)
    now = h.now_ns
    if x.periods == 0:
        x.heard_ns = now  # whatever was done since this end was made is not the other's silence
    put(there, x.query, write_query(h, s, x, now) // 8, now)
    if x.silent and x.periods % GREET_EVERY == 0:
        put(there, x.query, write_hello(x, now) // 8, now)
    new = await_state(m, h, s, x, e, c, there, back, now)
    show_mirror(h, o, m, w, s, x, e, new, monotonic_ns(x.clock))
    x.periods += 1
    return 0


@routine
def take_mirror(address):
    """Every event goes to the other end, one after the other: the next one when that has seen the one before.

    But for the delay [ms] of the network, there and back: that is between the two.
    """
    h, _, _, _, _, x, _, _, there, back = load_mirror(address)
    if h.event[EVENT_AT.kind] == x.delay_kind:
        value = h.event_f[EVENT_AT.value]
        if 0.0 <= value <= MOST_DELAY_MS:
            there.delay_ns = back.delay_ns = int(0.5e6 * value)
        return 1
    if x.event_number > x.event_seen:
        return -1
    x.event_number += 1
    x.event_kind, x.event_value = h.event[EVENT_AT.kind], h.event_f[EVENT_AT.value]
    return 1
