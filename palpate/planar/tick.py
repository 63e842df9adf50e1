"""One tick of the planar interface: hand, servo steps of one or two lanes, a frame.

The servo has its own rate: several steps in a tick, or one in several ticks.  Its first step is halved by the frame,
which so shows poses and the contacts, forces and commands of the same moment.

A fault takes all torque away at once and stops the simulation; only a reset leaves it.
"""

from palpate.frame import COUNTERS, EVENT_AT, FIRST_OWN, HANDS
from palpate.haptics.devices.messages import load_speaking
from palpate.haptics.devices.port import load_port
from palpate.jit import kernel, shared
from palpate.jit.routines import call_routine, routine
from palpate.planar.bodies.stages import reset_bodies
from palpate.planar.bodies.tables import load_bodies
from palpate.planar.control.channels import FORCE, POSITION
from palpate.planar.control.impedance import NATURAL, SHAPED
from palpate.planar.held import move_hand
from palpate.planar.lane import lane_feel, lane_move, load_lane, stop_lane
from palpate.planar.port_drive import load_port_drive
from palpate.planar.publish import publish
from palpate.planar.settings import (
    COMPARE,
    COUPLING,
    EXAGGERATION,
    FRICTION,
    OBSERVER,
    OTHER_FRICTION,
    OTHER_WALL,
    PROXIMITY_S,
    RATE,
    WALL,
    set_laws,
    take_setting,
)
from palpate.planar.stage import load_stage
from palpate.servo.head import advance
from palpate.servo.kept import restore_kept

CAPPED, CONTACTS_LOST = COUNTERS.index("capped"), COUNTERS.index("contacts_lost")
HAND_STALE, HAND_REFUSED = COUNTERS.index("hand_stale"), COUNTERS.index("hand_refused")
FASTEST = 0.4  # of an observer: omega T and K_I T at most (reference 1.7)


@kernel
def both(st, s):
    """The lanes that run."""
    return (st.lane, st.other) if s.value[COMPARE] != 0.0 else (st.lane, 0)


@kernel
def note_fault(st, s, fault):
    """Of either lane: no torque in both."""
    if fault == 0:
        return False
    for address in both(st, s):
        if address != 0:
            a, _, plant, _, drive, _, _, _, _ = load_lane(address)
            stop_lane(a, drive, plant, fault)
    st.fault, st.faults = fault, st.faults + 1
    return True


@kernel
def servo_step(address, st, s, dt, shown):
    """One of both lanes, with a frame in its middle if it is shown; whether all went well."""
    fault = 0
    for lane in both(st, s):
        if lane != 0 and fault == 0:
            fault = lane_feel(lane, dt)
    well = not note_fault(st, s, fault)
    if shown:
        publish(address)
    if not well:
        return False
    for lane in both(st, s):
        if lane != 0 and fault == 0:
            fault = lane_move(lane, dt)
    st.done += 1
    return not note_fault(st, s, fault)


@kernel
def count(h, st, held):
    stale, refused = 0, 0
    for k in range(HANDS):
        heard = load_speaking(st.hands[k])[2]
        stale, refused = stale + heard.stale, refused + heard.refused
    h.counters[HAND_STALE], h.counters[HAND_REFUSED], h.counters[CAPPED] = stale, refused, held.capped
    h.counters[CONTACTS_LOST] = load_bodies(load_lane(st.lane)[0].bodies)[3].lost


@kernel
def rest(st):
    """Devices want an answer in every period."""
    a = load_lane(st.lane)[0]
    if a.device != 0 and st.rest != 0:
        call_routine(st.rest, a.device)


@routine
def tick_planar(address):
    h, _, st, s, _, held, path = load_stage(address)
    if not h.moving or st.fault != 0:
        rest(st)
        if h.showing:
            publish(address)
        return -1 if st.fault != 0 else 0
    count(h, st, held)
    move_hand(h, st, held, path, h.dt)
    well = True
    if st.wait == 0:
        for step in range(st.steps):
            well = well and servo_step(address, st, s, st.dt, step == 0)
    else:
        publish(address)
    st.wait = (st.wait + 1) % st.every
    if not well:
        rest(st)
        return -1
    advance(h)
    return 0


# ---- settings


@kernel
def set_rate(st, s):
    """Of the servo: steps in a tick, or ticks for a step; the observers' speed, where it must be slower."""
    rate = st.rates[int(s.value[RATE])]
    st.dt, st.wait = 1.0 / rate, 0
    st.steps, st.every = max(1, round(rate / st.tick_hz)), max(1, round(st.tick_hz / rate))
    for lane in (st.lane, st.other):
        a, _, _, _, drive, o, _, _, _ = load_lane(lane)
        load_bodies(a.bodies)[5].proximity_every = max(1, round(PROXIMITY_S * rate))
        o.omega, o.gain = min(st.omega, FASTEST * rate), min(st.gain, FASTEST * rate)
        o.started, drive.dt = 0, st.dt


@kernel
def set_control(st, s):
    """Observer and coupling; with forces alone device and body go alike only with one inertia: so it is shaped."""
    for lane in (st.lane, st.other):
        _, _, _, _, drive, o, c, z, _ = load_lane(lane)
        o.way, o.started = int(s.value[OBSERVER]), 0
        c.mode = int(s.value[COUPLING]) if drive.known else POSITION
        z.way = SHAPED if c.mode == FORCE or st.shapes else NATURAL


@kernel
def set_lane_laws(st, s, c):
    v = s.value
    set_laws(c, s, load_lane(st.lane)[0].bodies, int(v[WALL]), int(v[FRICTION]))
    set_laws(c, s, load_lane(st.other)[0].bodies, int(v[OTHER_WALL]), int(v[OTHER_FRICTION]))


@shared("void(intp)")
def restore(address):
    """Both lanes at their start; settings stay."""
    _, _, st, s, c, _, _ = load_stage(address)
    restore_kept(st.kept)
    for lane in (st.lane, st.other):
        a = load_lane(lane)[0]
        reset_bodies(a.bodies)
        if a.device != 0:
            p = load_port_drive(a.device)[1]
            p.engage, load_port(p.port)[0].anew = 1, 1
    st.fault, st.wait = 0, 0
    set_rate(st, s)
    set_control(st, s)
    set_lane_laws(st, s, c)


@routine
def reset_planar(address):
    restore(address)
    load_stage(address)[2].done = 0
    return 0


@routine
def take_planar(address):
    """1 if the event is a setting; one out of bounds changes nothing."""
    h, _, st, s, c, _, _ = load_stage(address)
    which = h.event[EVENT_AT.kind] - FIRST_OWN
    if not 0 <= which < s.value.shape[0]:
        return 0
    if take_setting(s, which, h.event_f[EVENT_AT.value]):
        if which == COMPARE:
            restore(address)
        elif which == RATE:
            set_rate(st, s)
        elif which in (COUPLING, OBSERVER):
            set_control(st, s)
        elif which != EXAGGERATION:
            set_lane_laws(st, s, c)
    return 1
