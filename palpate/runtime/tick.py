"""One tick of a World: hand in, coupling, reference, dynamics, safety, publish, step.

h Head, o offsets of the frame's fields, m model, w workspace, s Servo: what `state.load` gives
"""

import math

from palpate.conventions import WORLD
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.dynamics.mobility import point_mobility, turn_mobility
from palpate.frame import COUNTERS, HAND_AT, HAND_WORDS, HANDS, PRESS, PUSH, RUNNING
from palpate.haptics.coupling import effective_mass, pull, turn
from palpate.haptics.grasp import push_body
from palpate.haptics.press import depth_of, press, touched_point
from palpate.haptics.reach_tables import (
    ACTING,
    FEELING,
    LEVER_M,
    RESTING,
    load_head,
)  # fmt: skip
from palpate.haptics.safety import limit_norm, limit_rise
from palpate.haptics.tank import absorb, empty, grant, keep_passive, load_tank, receive
from palpate.jit import kernel
from palpate.jit.routines import call_routine, routine
from palpate.runtime.publish import publish
from palpate.runtime.score import keep_score, restart_score
from palpate.runtime.start import restore
from palpate.runtime.state import LINKED_HAND, load
from palpate.servo.head import advance
from palpate.servo.parts import RESET, call_parts, tick_parts
from palpate.spatial.vectors import add, add_scaled, cross, dot, get3, part3, part4, put3, rotate, scale, sub
from palpate.world.state import load as load_world
from palpate.world.step import begin_step, end_step, free_motion

STALE_NS = 100_000_000  # a hand that has not been heard of for this long lets go
HAND_STALE, HAND_REFUSED = COUNTERS.index("hand_stale"), COUNTERS.index("hand_refused")
CAPPED = COUNTERS.index("capped")
CONTACTS_LOST, RAN_OUT = COUNTERS.index("contacts_lost"), COUNTERS.index("ran_out")
CLAMPED, RATE_LIMITED = COUNTERS.index("clamped"), COUNTERS.index("rate_limited")
STIFFEST_N_M, STIFFEST_NM_RAD = 1e5, 1e3
LARGEST_SANE = 1e6  # [m, N/m, N m/rad, N, J]: no honest hand has more
LIGHTEST_KG, MOST_DAMPING = 1e-3, 10.0
UNIT = 1e-3  # how far from one the square of a direction's length may be
ZERO = (0.0, 0.0, 0.0)


@kernel
def held_body(m, h, s, k, now_ns):
    """The body that hand k holds; none if it is not a body, makes no sense, or has fallen silent."""
    words = HAND_WORDS
    at = k * words
    body = h.hand[at + HAND_AT.body]
    if body <= WORLD or body >= m.body_link.shape[0] or m.body_link[body] == WORLD:
        return WORLD
    stale, sane = now_ns - h.hand[at + HAND_AT.sent_ns] > STALE_NS, True
    for i in range(at + HAND_AT.at_body, at + words):  # all its floats
        sane = sane and abs(h.hand_f[i]) <= LARGEST_SANE
    if h.hand[at + HAND_AT.hold] == PRESS:  # along a longer normal a limited force would be larger than its limit
        n = part3(h.hand_f, at + HAND_AT.normal)
        sane = sane and abs(dot(n, n) - 1.0) < 2.0 * UNIT
    if stale or not sane:
        h.counters[HAND_STALE if sane else HAND_REFUSED] += 1
        h.hand[at + HAND_AT.body] = WORLD
        return WORLD
    return body


@kernel
def couple(m, w, h, s, k, body):
    """The force of hand k on the body it holds or presses, limited for the hand's sake, as a wrench on the body."""
    at = k * HAND_WORDS
    pressing = h.hand[at + HAND_AT.hold] == PRESS
    if k == LINKED_HAND:
        s.spending = h.hand[at + HAND_AT.session] != 0
    if s.held[k] != body:  # a new grasp begins where the point is, without a jerk; a tip where it is
        _, _, point, _, _ = point_motion(m, w, body, part3(h.hand_f, at + HAND_AT.at_body))
        put3(s.hand_target, k, part3(h.hand_f, at + HAND_AT.target) if pressing else point)
        put3(s.hand_force, k, ZERO)
        s.stored_J[k] = 0.0
    if pressing:
        press_body(m, w, h, s, k, body)
    else:
        hold_body(m, w, h, s, k, body)


@kernel
def smoothed_target(h, s, k):
    """(where hand k is now, how it moves): messages of a page come sixty times a second, ticks a thousand times."""
    dt, at = h.dt, k * HAND_WORDS
    wanted, before = part3(h.hand_f, at + HAND_AT.target), get3(s.hand_target, k)
    if (
        h.hand[at + HAND_AT.session] != 0
    ):  # across a link they come a thousand times a second, and say how the hand moves
        return wanted, part3(h.hand_f, at + HAND_AT.velocity)
    share = 1.0 - math.exp(-dt / s.smooth_s) if s.smooth_s > 0.0 else 1.0
    target = add_scaled(before, share, sub(wanted, before))
    return target, scale(1.0 / dt, sub(target, before))


@kernel
def stiffness_of(h, s, k):
    """Of hand k's spring on each world axis."""
    at = k * HAND_WORDS
    all_axes, more = h.hand_f[at + HAND_AT.stiffness_N_m], part3(h.hand_f, at + HAND_AT.stiffer_N_m)
    return (min(max(all_axes + more[0], 0.0), STIFFEST_N_M), min(max(all_axes + more[1], 0.0), STIFFEST_N_M),
            min(max(all_axes + more[2], 0.0), STIFFEST_N_M))  # fmt: skip


@kernel
def hold_body(m, w, h, s, k, body):
    """PULL: a spring between the held point and the hand.  PUSH: the force that the message says."""
    dt, at, link = h.dt, k * HAND_WORDS, m.body_link[body]
    at_body = part3(h.hand_f, at + HAND_AT.at_body)
    lever, p, point, velocity, omega = point_motion(m, w, body, at_body)
    target, moves = smoothed_target(h, s, k)
    stiffness, ratio = stiffness_of(h, s, k), h.hand_f[at + HAND_AT.damping]
    ratio = min(max(ratio, 0.0), MOST_DAMPING) if ratio != 0.0 else 1.0
    mass = effective_mass(point_mobility(m, w, link, p))
    given, most = part3(h.hand_f, at + HAND_AT.damping_Ns_m), s.force_limit_N
    force, capped = pull(stiffness, given, ratio, mass, most, target, moves, point, velocity, dt)
    if h.hand[at + HAND_AT.hold] == PUSH:
        force, target = part3(h.hand_f, at + HAND_AT.force), point
    force, clamped = limit_norm(force, s.force_limit_N)
    force, limited = limit_rise(force, get3(s.hand_force, k), s.rise_N_s * dt)
    if h.hand[at + HAND_AT.session] != 0:
        force = spend(h, s, at, force, velocity, mass)
    h.counters[CAPPED] += capped
    torque = hand_torque(m, w, h, s, at, body, link)
    put3(s.hand_at, k, at_body)
    put_hand(h, s, k, point, target, force, torque, clamped, limited)
    push_body(load_world(s.world)[5], body, lever, force, torque)
    s.work_J += (dot(force, velocity) + dot(torque, omega)) * dt


@kernel
def press_body(m, w, h, s, k, body):
    """PRESS: the surface at the message's point is a plane, the hand a tip that it keeps out (haptics/press.py)."""
    dt, at, link = h.dt, k * HAND_WORDS, m.body_link[body]
    before, last = get3(s.hand_target, k), get3(s.hand_force, k)
    tip, moves = smoothed_target(h, s, k)
    _, _, _, drift, omega = point_motion(m, w, body, ZERO)
    reached = add(drift, cross(omega, get3(s.hand_lever, k)))  # by the point that was pressed in the tick before
    mean = scale(0.5 * dt, add(get3(s.hand_velocity, k), reached))
    s.stored_J[k] += dot(last, sub(sub(tip, before), mean))
    R, _ = body_frame(m, w, body)
    normal = rotate(R, part3(h.hand_f, at + HAND_AT.normal))
    lever, p, point, velocity, _ = point_motion(m, w, body, part3(h.hand_f, at + HAND_AT.at_body))
    depth, force, clamped, limited = depth_of(normal, point, tip), ZERO, False, False
    if depth > 0.0:
        along = sub(touched_point(normal, tip, depth), point)  # in the plane, to where the tip is
        lever, p, point = add(lever, along), add(p, along), add(point, along)
        velocity = add(velocity, cross(omega, along))
        mass, closing = effective_mass(point_mobility(m, w, link, p)), dot(normal, sub(velocity, moves))
        K = stiffness_of(h, s, k)
        along_normal = K[0] * normal[0] ** 2 + K[1] * normal[1] ** 2 + K[2] * normal[2] ** 2
        size, clamped, limited = press(
            along_normal, mass, depth, closing, math.sqrt(dot(last, last)), s.force_limit_N,
            s.rise_N_s * dt, s.stored_J[k], dt,
        )  # fmt: skip
        force = scale(-size, normal)
        push_body(load_world(s.world)[5], body, lever, force, ZERO)
    else:
        s.stored_J[k] = 0.0  # what one contact stored must not pay for the next
    put3(s.hand_lever, k, lever)
    put3(s.hand_velocity, k, velocity)
    put_hand(h, s, k, point, tip, force, ZERO, clamped, limited)
    s.work_J += dot(force, velocity) * dt


@kernel
def put_hand(h, s, k, point, target, force, torque, clamped, limited):
    """What hand k does in this tick, for frames and for the next tick."""
    put3(s.hand_point, k, point)
    put3(s.hand_target, k, target)
    put3(s.hand_force, k, force)
    put3(s.hand_torque, k, torque)
    h.counters[CLAMPED] += clamped
    h.counters[RATE_LIMITED] += limited


@kernel
def count_work(m, w, s):
    """What the force of the tick before did on the body that a hand across a link held."""
    body = s.held[LINKED_HAND]
    if body != WORLD and s.spending:
        _, _, point, _, _ = point_motion(m, w, body, get3(s.hand_at, LINKED_HAND))
        moved = sub(point, get3(s.hand_point, LINKED_HAND))
        absorb(load_tank(s.tank)[0], get3(s.hand_force, LINKED_HAND), moved)


@kernel
def spend(h, s, at, force, velocity, mass):
    """The force of a hand at the other end of a link, as far as its energy goes (haptics/tank.py)."""
    t = load_tank(s.tank)[0]
    if s.linked != h.hand[at + HAND_AT.session]:  # another hand: it brings its own
        empty(t)
        s.linked = h.hand[at + HAND_AT.session]
    grant(t)
    receive(t, h.hand_f[at + HAND_AT.energy_J])
    return keep_passive(t, force, velocity, max(mass, LIGHTEST_KG), h.dt)


@kernel
def hand_torque(m, w, h, s, at, body, link):
    """The torque of a hand that also holds an orientation; none if it does not, or gives no orientation."""
    stiffness = min(max(h.hand_f[at + HAND_AT.stiffness_Nm_rad], 0.0), STIFFEST_NM_RAD)
    x = part4(h.hand_f, at + HAND_AT.orientation)
    length = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]
    if not (stiffness > 0.0 and abs(length - 1.0) < UNIT):  # written so that a NaN is refused too
        return ZERO
    inertia = effective_mass(turn_mobility(m, w, link))
    R, _ = body_frame(m, w, body)
    torque = turn(stiffness, h.hand_f[at + HAND_AT.damping_Nms_rad], inertia, x, R, get3(w.V, link), h.dt)
    return limit_norm(torque, s.force_limit_N * LEVER_M)[0]


@kernel
def hands(h, m, w, s):
    """All hands of the page, or of a link: what they hold, and their forces; True if one holds something."""
    holding = False
    for k in range(HANDS):
        body = held_body(m, h, s, k, h.now_ns) if h.moving else WORLD
        if body != WORLD:
            couple(m, w, h, s, k, body)
            holding = True
        else:
            put3(s.hand_force, k, ZERO)
            put3(s.hand_torque, k, ZERO)
        s.held[k] = body
    return holding


@kernel
def devices(h, s, doing):
    """Every device once: RESTING, FEELING or ACTING; True if one touches or holds a body."""
    touching = False
    for k in range(s.devices.shape[0]):
        a = load_head(s.devices[k])[0]
        a.now_s, a.late_s, a.doing = 1e-9 * h.now_ns, h.late_s, doing
        call_routine(s.reach, s.devices[k])
        touching = touching or a.held != WORLD or dot(a.bodies_force, a.bodies_force) > 0.0
    return touching


@kernel
def pushes(s):
    """Sum of the forces of all hands and devices on bodies [N]."""
    push = 0.0
    for k in range(HANDS):
        f = get3(s.hand_force, k)
        push += math.sqrt(dot(f, f))
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
    touching = devices(h, s, ACTING if h.moving else RESTING)
    if h.moving:
        count_work(m, w, s)
    touching = hands(h, m, w, s) or touching
    s.touching, s.push_N = touching, pushes(s)
    tick_parts(s.parts, h.tick)
    if h.moving:
        keep_score(h, m, w, s)
    publish(h, o, m, w, s)
    if not h.moving:
        return 0
    if not end_step(s.world):
        return -1
    advance(h)
    h.counters[RAN_OUT] += load_world(s.world)[4].ran_out > 0
    h.counters[CONTACTS_LOST] = load_world(s.world)[3].lost
    return 0


@kernel
def reset_world(s):
    """Back to the start, all of it; settings stay: gravity, friction, what a touch does to the plan."""
    restore(s.world, s.start)
    s.work_J = 0.0
    s.held[:] = WORLD
    for k in range(s.devices.shape[0]):
        load_head(s.devices[k])[0].engage = 1
    s.hand_force[:, :] = 0.0
    s.hand_torque[:, :] = 0.0
    s.stored_J[:] = 0.0
    restart_score(s)
    call_parts(s.parts, RESET)
    begin_step(s.world)  # a hand feels the articulated inertias of the tick before: there is none, so make them now
    free_motion(s.world)


@routine
def restart_world(address):
    """reset_world, as a routine."""
    reset_world(load(address)[4])
    return 0
