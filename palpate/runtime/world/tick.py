"""One tick of a World: hands and devices, controllers, publish, step.  The same in real and in simulated time.

h Head, o offsets of the frame's fields, m model, w workspace, s TickState: what `state.load` gives
"""

import math

from palpate.conventions import WORLD
from palpate.frame import COUNTERS, HANDS, RUNNING
from palpate.haptics.devices.messages import is_open, load_speaking
from palpate.haptics.devices.port import load_port
from palpate.haptics.devices.want import NOTHING
from palpate.haptics.reach_tables import ACTING, FEELING, RESTING, load_head
from palpate.jit import kernel
from palpate.jit.routines import call_routine, routine
from palpate.runtime.world.publish import publish
from palpate.runtime.world.score import keep_score, restart_score
from palpate.runtime.world.start import restore
from palpate.runtime.world.state import load
from palpate.servo.head import advance
from palpate.servo.parts import RESET, call_parts, tick_parts
from palpate.spatial.vectors import dot
from palpate.world.state import load as load_world
from palpate.world.step import begin_step, end_step, free_motion

HAND_STALE, HAND_REFUSED = COUNTERS.index("hand_stale"), COUNTERS.index("hand_refused")
CAPPED = COUNTERS.index("capped")
CONTACTS_LOST, RAN_OUT = COUNTERS.index("contacts_lost"), COUNTERS.index("ran_out")
CLAMPED, RATE_LIMITED = COUNTERS.index("clamped"), COUNTERS.index("rate_limited")


@kernel
def count_hands(h, s):
    """What came between the hands of the page, or of a link, and what they want."""
    stale, refused, capped, clamped, limited = 0, 0, 0, 0, 0
    for k in range(HANDS):
        a = load_head(s.devices[k])[0]
        heard = load_speaking(a.port)[2]
        stale, refused, capped = stale + heard.stale, refused + heard.refused, capped + a.capped
        clamped, limited = clamped + a.clamped, limited + a.rate_limited
    h.counters[HAND_STALE], h.counters[HAND_REFUSED], h.counters[CAPPED] = stale, refused, capped
    h.counters[CLAMPED], h.counters[RATE_LIMITED] = clamped, limited


@kernel
def devices(h, s, doing):
    """Every hand and device once: RESTING, FEELING or ACTING; True if one touches or holds a body.

    The first HANDS are those of the page, or of a link, which feel nothing: they are left out where nothing acts.
    """
    touching = False
    for k in range(0 if doing in (ACTING, RESTING) else HANDS, s.devices.shape[0]):
        a = load_head(s.devices[k])[0]
        if k < HANDS and a.does == NOTHING and is_open(load_speaking(a.port)[2]):
            continue  # most of the time
        a.now_s, a.late_s, a.doing = 1e-9 * h.now_ns, h.late_s, doing
        call_routine(s.reach, s.devices[k])
        touching = touching or a.held != WORLD or dot(a.bodies_force, a.bodies_force) > 0.0
    return touching


@kernel
def pushes(s):
    """Sum of the forces of all hands and devices on bodies [N]."""
    push = 0.0
    for k in range(s.devices.shape[0]):
        f = load_head(s.devices[k])[0].bodies_force
        push += math.sqrt(dot(f, f))
    return push


@routine
def tick_world(address):
    """Hands and devices, controllers, a frame and, if the world moves, its step; < 0 if that was its last."""
    h, o, m, w, s = load(address)
    if not (h.moving or h.showing):  # nothing has changed since the tick before but the hand
        devices(h, s, FEELING if h.state == RUNNING else RESTING)
        return 0
    begin_step(s.world)
    s.touching = devices(h, s, ACTING if h.moving else RESTING)
    s.push_N = pushes(s)
    count_hands(h, s)
    tick_parts(s.parts, h.tick)
    if h.moving:
        keep_score(h, m, w, s)
    publish(h, o, m, w, s)
    if not h.moving:
        return 0
    rows = load_world(s.world)[4]
    rows.until_ns = h.until_ns
    alive = end_step(s.world)
    rows.until_ns = 0  # whoever steps this world after the session has all the time there is
    if not alive:
        return -1
    advance(h)
    h.counters[RAN_OUT] += rows.ran_out > 0
    h.counters[CONTACTS_LOST] = load_world(s.world)[3].lost
    return 0


@kernel
def reset_world(s):
    """Back to the start, all of it; settings stay: gravity, friction, what a touch does to the plan."""
    restore(s.world, s.start)
    for k in range(s.devices.shape[0]):
        a = load_head(s.devices[k])[0]
        a.engage, load_port(a.port)[0].anew = 1, 1
        if k < HANDS:  # the work of the hands is counted from the start on, that of devices for their report
            a.absorbed[:] = 0.0
    restart_score(s)
    call_parts(s.parts, RESET)
    begin_step(s.world)  # a hand feels the articulated inertias of the tick before: there is none, so make them now
    free_motion(s.world)


@routine
def restart_world(address):
    """reset_world, as a routine."""
    reset_world(load(address)[4])
    return 0
