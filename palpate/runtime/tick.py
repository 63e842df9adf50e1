"""One tick: hands and devices, reference, dynamics, publish, step.  The same in real and in simulated time.

m model, w workspace, s servo state, o offsets of the messages: what `state.load` gives
"""

import math

from palpate.collision.contacts import LOST
from palpate.control.guide import guide, restart_guide
from palpate.control.guide_tables import load_guide
from palpate.conventions import WORLD
from palpate.frame import COUNTERS, FAULT, HANDS
from palpate.haptics.devices.messages import is_open, load_speaking
from palpate.haptics.devices.want import NOTHING
from palpate.haptics.reach_tables import ACTING, RESTING, load_head
from palpate.jit import kernel
from palpate.jit.routines import call_routine
from palpate.runtime.publish import publish
from palpate.runtime.score import keep_score, restart_score
from palpate.runtime.start import restore
from palpate.spatial.vectors import dot
from palpate.world.state import load as load_world
from palpate.world.step import begin_step, end_step, free_motion

HAND_STALE, HAND_REFUSED = COUNTERS.index("hand_stale"), COUNTERS.index("hand_refused")
CAPPED = COUNTERS.index("capped")
CONTACTS_LOST, RAN_OUT = COUNTERS.index("contacts_lost"), COUNTERS.index("ran_out")
CLAMPED, RATE_LIMITED = COUNTERS.index("clamped"), COUNTERS.index("rate_limited")


@kernel
def reset(m, s):
    """Back to the start, all of it; settings stay: speed, gravity, friction, what a touch does to the plan."""
    restore(s.world, s.start)
    s.time, s.credit = 0.0, 0.0
    s.tick, s.fault_at, s.steps = 0, -1, 0
    for k in range(s.devices.shape[0]):
        a = load_head(s.devices[k])[0]
        a.engage = 1
        if k < HANDS:  # the work of the hands is counted from the start on, that of devices for their report
            a.absorbed[:] = 0.0
    restart_score(s)
    if s.guide != 0:
        restart_guide(load_guide(s.guide)[2])
    begin_step(s.world)  # a hand feels the articulated inertias of the tick before: there is none, so make them now
    free_motion(s.world)


@kernel
def guide_joints(s, moving, touching):
    """The torques of the planned joints; tells their guide what hands do."""
    g = load_guide(s.guide)[2]
    push = 0.0
    for k in range(s.devices.shape[0]):
        f = load_head(s.devices[k])[0].bodies_force
        push += math.sqrt(dot(f, f))
    g.push_N, g.touching, g.moving = push, touching, moving
    guide(s.guide)
    s.edit_mode, s.edit_stage = g.mode, g.stage


@kernel
def count_hands(s):
    """What came between the hands of the page, or of a link, and what they want."""
    stale, refused, capped, clamped, limited = 0, 0, 0, 0, 0
    for k in range(HANDS):
        a = load_head(s.devices[k])[0]
        heard = load_speaking(a.port)[2]
        stale, refused, capped = stale + heard.stale, refused + heard.refused, capped + a.capped
        clamped, limited = clamped + a.clamped, limited + a.rate_limited
    s.counters[HAND_STALE], s.counters[HAND_REFUSED], s.counters[CAPPED] = stale, refused, capped
    s.counters[CLAMPED], s.counters[RATE_LIMITED] = clamped, limited


@kernel
def devices(s, now_ns, doing):
    """Every hand and device once: RESTING, FEELING or ACTING; True if one touches or holds a body.

    The first HANDS are those of the page, or of a link, which feel nothing: they are left out where nothing acts.
    """
    touching = False
    for k in range(0 if doing in (ACTING, RESTING) else HANDS, s.devices.shape[0]):
        a = load_head(s.devices[k])[0]
        if k < HANDS and a.does == NOTHING and is_open(load_speaking(a.port)[2]):
            continue  # most of the time
        a.now_s, a.late_s, a.doing = 1e-9 * now_ns, s.late_s, doing
        call_routine(s.reach, s.devices[k])
        touching = touching or a.held != WORLD or dot(a.bodies_force, a.bodies_force) > 0.0
    return touching


@kernel
def tick(m, w, s, o, now_ns, moving):
    """Publish one tick and, if moving, advance by it; a paused or stopped world is published as it is."""
    begin_step(s.world)
    touching = devices(s, now_ns, ACTING if moving else RESTING)
    count_hands(s)
    if s.guide != 0:
        guide_joints(s, moving, touching)
    if moving:
        keep_score(m, w, s, touching)
    publish(m, w, s, o, now_ns)
    if moving:
        if end_step(s.world):
            s.tick += 1
            s.time = s.tick * s.dt
            s.counters[RAN_OUT] += load_world(s.world)[4].ran_out > 0
            s.counters[CONTACTS_LOST] = s.contact_count[LOST]
        else:
            s.state, s.fault_at = FAULT, load_world(s.world)[5].fault_at
