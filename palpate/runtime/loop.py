"""The schedule: the servo loop in real time, and the same ticks as fast as possible in simulated time.

Ticks are due at t_0 + k T (absolute, so lateness does not add up).  The loop sleeps until shortly before, spins the
rest, and gives up ticks that are more than one period behind instead of chasing them.
"""

from palpate.control.guide import begin_plan, change_mode
from palpate.control.guide_tables import load_guide, load_plan
from palpate.conventions import WORLD
from palpate.dynamics.coordinates import put_quaternion
from palpate.frame import (
    COUNTERS,
    FAULT,
    FOLLOW,
    FRICTION,
    GRAVITY,
    HANDS,
    MODE,
    PAUSE,
    PAUSED,
    PLACE,
    PLAY,
    RESET,
    RUNNING,
    SPEED,
    STEP,
)
from palpate.haptics.devices.messages import UNIT
from palpate.haptics.reach_tables import FEELING, RESTING
from palpate.jit import entry, kernel
from palpate.jit.atomics import load_acquire, monotonic_ns, sleep_until_ns, store_release
from palpate.runtime.ring import HEAD
from palpate.runtime.ring_kernels import SLOTS, copy_message
from palpate.runtime.state import (
    HEARTBEAT_NS,
    PERIOD_NS,
    SPIN_NS,
    STOP,
    WATCHDOG,
    load,
)  # fmt: skip
from palpate.runtime.tick import devices, reset, tick
from palpate.spatial.quaternions import quaternion_matrix, quaternion_product
from palpate.spatial.vectors import add, part3, part4, put_part, rotate
from palpate.world.build import FARTHEST_M

LATE, SKIPPED, EVENTS_LOST, WATCHDOGS = (COUNTERS.index(c) for c in ("late", "skipped", "events_lost", "watchdog"))
IDLE_EVERY = 20  # while paused, one frame in so many periods
MOST_TICKS = 8  # in one period, at speeds above one
MOST_TIMES = 10.0  # the scene's gravity, or friction


@kernel
def take_hand(s, o):
    """The newest message of each hand, if there are new ones; what was overwritten was older."""
    newest = load_acquire(s.hands, HEAD)
    first = max(s.hand_seen + 1, newest - s.hands[SLOTS] + 2)
    for number in range(first, newest + 1):
        if copy_message(s.hands, number, s.message):
            keep_hand(s, o)
    s.hand_seen = newest


@kernel
def keep_hand(s, o):
    """s.message is the newest of its hand."""
    k, words = s.message[o.hand], s.message.shape[0]
    if 0 <= k < HANDS:
        for i in range(words):
            s.hand[k * words + i] = s.message[i]


@kernel
def take_events(m, s, o):
    """Every event since the last period, in order; those overwritten before they were taken are counted."""
    newest = load_acquire(s.events, HEAD)
    while s.next_event <= newest:
        if copy_message(s.events, s.next_event, s.event):
            take_event(m, s, o, s.event[o.kind], s.event_f[o.value])
            s.next_event += 1
        else:
            oldest = max(s.next_event + 1, newest - s.events[SLOTS] + 2)
            s.counters[EVENTS_LOST] += oldest - s.next_event
            s.next_event = oldest


@kernel
def take_event(m, s, o, kind, value):
    if kind == RESET:
        reset(m, s)
        if s.state == FAULT:
            s.state = PAUSED
    elif s.state == FAULT:
        return  # only a reset leaves a fault
    elif kind == PLAY:
        s.state = RUNNING
    elif kind == PAUSE:
        s.state, s.steps = PAUSED, 0
    elif kind == STEP:
        s.state = PAUSED
        s.steps += 1
    elif kind == SPEED and 0.0 < value <= MOST_TICKS:
        s.speed = value
    elif kind == GRAVITY and 0.0 <= value <= MOST_TIMES:
        s.gravity_times = value
        for r in range(3):
            s.gravity[r] = value * s.gravity_own[r]
    elif kind == FRICTION and 0.0 <= value <= MOST_TIMES:
        s.friction_times = value
        T = s.mu_static.shape[0]
        for a in range(T):
            for b in range(T):
                s.mu_static[a, b], s.mu_sliding[a, b] = value * s.mu_own[a, b], value * s.mu_own[a, T + b]
    elif kind == PLACE:
        place(m, s, o, s.event[o.event_body], value != 0.0)
    elif s.guide != 0 and kind == MODE:
        change_mode(load_guide(s.guide)[2], int(value))
    elif s.guide != 0 and kind == FOLLOW and s.event[o.event_body] != 0:
        follow(m, s, s.event[o.event_body])


@kernel
def place(m, s, o, body, parked):
    """Put a body that may be placed (world/build.py says which) somewhere else, at rest; a reset finds it there.

    parked  it takes no part and stays there, as what is made with placed=True does
    """
    if not 0 < body < s.placeable.shape[0] or s.placeable[body] == WORLD:
        return
    link, at = s.placeable[body], o.placement
    p, x = part3(s.event_f, at), part4(s.event_f, at + 3)
    length = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]
    if not (abs(length - 1.0) < UNIT and max(abs(p[0]), abs(p[1]), abs(p[2])) <= FARTHEST_M):  # so a NaN is refused too
        return
    around = s.place_around[body]  # q = before o X o after
    R = quaternion_matrix(x[0], x[1], x[2], x[3])
    B = quaternion_matrix(around[3], around[4], around[5], around[6])
    p = add(part3(around, 0), rotate(B, add(p, rotate(R, part3(around, 7)))))
    x = quaternion_product(quaternion_product(part4(around, 3), x), part4(around, 10))
    n, j = m.q_begin[link], m.axis_v[m.axis_begin[link]]
    put_part(s.q, n, p)
    put_quaternion(s.q, n + 3, x)
    for r in range(7):
        s.q_start[n + r] = s.q[n + r]
    for r in range(6):
        s.v[j + r], s.v_start[j + r] = 0.0, 0.0
    s.pushed[link] = WORLD if parked else s.pushed_own[link]
    s.pushed_start[link], s.parked[body] = s.pushed[link], parked


@kernel
def follow(m, s, plan):
    """Another plan under the guide, from its beginning; a reset finds it there.  Before the first tick that is now."""
    g = load_guide(s.guide)[2]
    begin_plan(g, plan)
    p = load_plan(plan)[0]
    for k in range(g.q_at.shape[0]):
        s.q_start[g.q_at[k]], s.v_start[g.v_at[k]] = p.q[0, k], p.v[0, k]
    if s.tick == 0:
        reset(m, s)


@kernel
def ticks_due(s, period):
    """(ticks of this period, whether they move): as many as the speed has earned, single steps, or a still frame."""
    if s.state == RUNNING:
        s.credit += s.speed
        earned = int(s.credit)
        s.credit -= earned
        return earned, True
    if s.steps > 0:
        s.steps -= 1
        return 1, True
    return int(period % IDLE_EVERY == 0), False


@kernel
def note_lateness(s, late_ns):
    bucket = 0
    while bucket < s.edges_ns.shape[0] and late_ns > s.edges_ns[bucket]:
        bucket += 1
    s.lateness[bucket] += 1


@kernel
def wait_until_due(s, due):
    """Sleep until shortly before, spin the rest; the time it then is [ns]."""
    sleep_until_ns(s.clock, due - s.control[SPIN_NS])
    now = monotonic_ns(s.clock)
    while now < due:
        now = monotonic_ns(s.clock)
    return now


@kernel
def begin_period(s, due, before, now, periods):
    """Note how late this period begins, and that the loop is alive."""
    store_release(s.control, HEARTBEAT_NS, now)
    note_lateness(s, now - due)
    if periods < s.lateness_log.shape[0]:
        s.lateness_log[periods] = now - due
    s.late_s = 1e-9 * max(now - before - s.control[PERIOD_NS], 0)
    s.counters[WATCHDOGS] = load_acquire(s.control, WATCHDOG)


@kernel
def end_period(s, due, now):
    """When the next period is due; those that are over already are given up, and counted."""
    ended, period_ns = monotonic_ns(s.clock), s.control[PERIOD_NS]
    s.tick_us = 1e-3 * (ended - now)
    due += period_ns
    if ended > due:
        s.counters[LATE] += 1
        behind = (ended - due) // period_ns
        s.counters[SKIPPED] += behind
        due += behind * period_ns
    return due


@entry("intp, intp")
def servo_loop(address, most):
    """Run in real time until control[STOP] is set, or for `most` periods if that is positive; returns the periods."""
    m, w, s, o = load(address)
    before = monotonic_ns(s.clock)
    due, periods = before + s.control[PERIOD_NS], 0
    while load_acquire(s.control, STOP) == 0 and (most <= 0 or periods < most):
        now = wait_until_due(s, due)
        begin_period(s, due, before, now, periods)
        before = now
        take_hand(s, o)
        take_events(m, s, o)
        ticks, moving = ticks_due(s, periods)
        for _ in range(ticks):
            tick(m, w, s, o, now, moving and s.state != FAULT)
        if ticks == 0:  # devices want an answer in every period
            devices(s, now, FEELING if s.state == RUNNING else RESTING)
        due = end_period(s, due, now)
        periods += 1
    return periods


@entry("intp")
def restart(address):
    """Back to the start of the scene, paused or running as it was."""
    m, _, s, _ = load(address)
    reset(m, s)


@entry("intp, intp, int64[:, ::1]")
def simulate(address, ticks, hands):
    """`ticks` ticks in simulated time; row k of hands (ticks, words) is the hand message of tick k, or hands is empty.

    Returns how many were done: fewer if the world stopped.
    """
    m, w, s, o = load(address)
    for k in range(ticks):
        take_events(m, s, o)
        now = round(1e9 * s.dt * s.tick)
        if hands.shape[0]:
            for i in range(s.message.shape[0]):
                s.message[i] = hands[k, i]
            s.message[o.sent_ns] = now
            keep_hand(s, o)
        tick(m, w, s, o, now, True)
        if s.state == FAULT:
            return k
    return ticks
