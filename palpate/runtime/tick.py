"""One tick: hand in, coupling, reference, dynamics, safety, publish, step.  The same in real and in simulated time.

m model, w workspace, s servo state, o offsets of the messages: what `state.load` gives
"""

import math

from palpate.control.guide import guide, restart_guide
from palpate.control.guide_tables import load_guide
from palpate.conventions import WORLD
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.dynamics.mobility import point_mobility, turn_mobility
from palpate.frame import COUNTERS, FAULT, HANDS, PRESS, PUSH
from palpate.haptics.coupling import effective_mass, pull, turn
from palpate.haptics.grasp import push_body
from palpate.haptics.press import depth_of, press, touched_point
from palpate.haptics.reach_tables import (
    ACTING,
    LEVER_M,
    RESTING,
    load_head,
)  # fmt: skip
from palpate.haptics.safety import limit_norm, limit_rise
from palpate.haptics.tank import absorb, empty, grant, keep_passive, load_tank, receive
from palpate.jit import kernel
from palpate.jit.routines import call_routine
from palpate.runtime.publish import publish
from palpate.runtime.score import keep_score, restart_score
from palpate.runtime.start import restore
from palpate.runtime.state import (
    LINKED_HAND,
)  # fmt: skip
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
def reset(m, s):
    """Back to the start, all of it; settings stay: speed, gravity, friction, what a touch does to the plan."""
    restore(s.world, s.start)
    s.time, s.work_J, s.credit = 0.0, 0.0, 0.0
    s.tick, s.fault_at, s.steps = 0, -1, 0
    s.held[:] = WORLD
    for k in range(s.devices.shape[0]):
        load_head(s.devices[k])[0].engage = 1
    s.hand_force[:, :] = 0.0
    s.hand_torque[:, :] = 0.0
    s.stored_J[:] = 0.0
    restart_score(s)
    if s.guide != 0:
        restart_guide(load_guide(s.guide)[2])
    begin_step(s.world)  # a hand feels the articulated inertias of the tick before: there is none, so make them now
    free_motion(s.world)


@kernel
def held_body(m, s, o, k, now_ns):
    """The body that hand k holds; none if it is not a body, makes no sense, or has fallen silent."""
    words = s.message.shape[0]
    at = k * words
    body = s.hand[at + o.body]
    if body <= WORLD or body >= m.body_link.shape[0] or m.body_link[body] == WORLD:
        return WORLD
    stale, sane = now_ns - s.hand[at + o.sent_ns] > STALE_NS, True
    for i in range(at + o.at_body, at + words):  # all its floats
        sane = sane and abs(s.hand_f[i]) <= LARGEST_SANE
    if s.hand[at + o.hold] == PRESS:  # along a longer normal a limited force would be larger than its limit
        n = part3(s.hand_f, at + o.normal)
        sane = sane and abs(dot(n, n) - 1.0) < 2.0 * UNIT
    if stale or not sane:
        s.counters[HAND_STALE if sane else HAND_REFUSED] += 1
        s.hand[at + o.body] = WORLD
        return WORLD
    return body


@kernel
def couple(m, w, s, o, k, body):
    """The force of hand k on the body it holds or presses, limited for the hand's sake, as a wrench on the body."""
    at = k * s.message.shape[0]
    pressing = s.hand[at + o.hold] == PRESS
    if k == LINKED_HAND:
        s.spending = s.hand[at + o.session] != 0
    if s.held[k] != body:  # a new grasp begins where the point is, without a jerk; a tip where it is
        _, _, point, _, _ = point_motion(m, w, body, part3(s.hand_f, at + o.at_body))
        put3(s.hand_target, k, part3(s.hand_f, at + o.target) if pressing else point)
        put3(s.hand_force, k, ZERO)
        s.stored_J[k] = 0.0
    if pressing:
        press_body(m, w, s, o, k, body)
    else:
        hold_body(m, w, s, o, k, body)


@kernel
def smoothed_target(s, o, k):
    """(where hand k is now, how it moves): messages of a page come sixty times a second, ticks a thousand times."""
    dt, at = s.dt, k * s.message.shape[0]
    wanted, before = part3(s.hand_f, at + o.target), get3(s.hand_target, k)
    if s.hand[at + o.session] != 0:  # across a link they come a thousand times a second, and say how the hand moves
        return wanted, part3(s.hand_f, at + o.velocity)
    share = 1.0 - math.exp(-dt / s.smooth_s) if s.smooth_s > 0.0 else 1.0
    target = add_scaled(before, share, sub(wanted, before))
    return target, scale(1.0 / dt, sub(target, before))


@kernel
def stiffness_of(s, o, k):
    """Of hand k's spring on each world axis."""
    at = k * s.message.shape[0]
    all_axes, more = s.hand_f[at + o.stiffness_N_m], part3(s.hand_f, at + o.stiffer_N_m)
    return (min(max(all_axes + more[0], 0.0), STIFFEST_N_M), min(max(all_axes + more[1], 0.0), STIFFEST_N_M),
            min(max(all_axes + more[2], 0.0), STIFFEST_N_M))  # fmt: skip


@kernel
def hold_body(m, w, s, o, k, body):
    """PULL: a spring between the held point and the hand.  PUSH: the force that the message says."""
    dt, at, link = s.dt, k * s.message.shape[0], m.body_link[body]
    at_body = part3(s.hand_f, at + o.at_body)
    lever, p, point, velocity, omega = point_motion(m, w, body, at_body)
    target, moves = smoothed_target(s, o, k)
    stiffness, ratio = stiffness_of(s, o, k), s.hand_f[at + o.damping]
    ratio = min(max(ratio, 0.0), MOST_DAMPING) if ratio != 0.0 else 1.0
    mass = effective_mass(point_mobility(m, w, link, p))
    given, most = part3(s.hand_f, at + o.damping_Ns_m), s.force_limit_N
    force, capped = pull(stiffness, given, ratio, mass, most, target, moves, point, velocity, dt)
    if s.hand[at + o.hold] == PUSH:
        force, target = part3(s.hand_f, at + o.force), point
    force, clamped = limit_norm(force, s.force_limit_N)
    force, limited = limit_rise(force, get3(s.hand_force, k), s.rise_N_s * dt)
    if s.hand[at + o.session] != 0:
        force = spend(s, o, at, force, velocity, mass)
    s.counters[CAPPED] += capped
    torque = hand_torque(m, w, s, o, at, body, link)
    put3(s.hand_at, k, at_body)
    put_hand(s, k, point, target, force, torque, clamped, limited)
    push_body(load_world(s.world)[5], body, lever, force, torque)
    s.work_J += (dot(force, velocity) + dot(torque, omega)) * dt


@kernel
def press_body(m, w, s, o, k, body):
    """PRESS: the surface at the message's point is a plane, the hand a tip that it keeps out (haptics/press.py)."""
    dt, at, link = s.dt, k * s.message.shape[0], m.body_link[body]
    before, last = get3(s.hand_target, k), get3(s.hand_force, k)
    tip, moves = smoothed_target(s, o, k)
    _, _, _, drift, omega = point_motion(m, w, body, ZERO)
    reached = add(drift, cross(omega, get3(s.hand_lever, k)))  # by the point that was pressed in the tick before
    mean = scale(0.5 * dt, add(get3(s.hand_velocity, k), reached))
    s.stored_J[k] += dot(last, sub(sub(tip, before), mean))
    R, _ = body_frame(m, w, body)
    normal = rotate(R, part3(s.hand_f, at + o.normal))
    lever, p, point, velocity, _ = point_motion(m, w, body, part3(s.hand_f, at + o.at_body))
    depth, force, clamped, limited = depth_of(normal, point, tip), ZERO, False, False
    if depth > 0.0:
        along = sub(touched_point(normal, tip, depth), point)  # in the plane, to where the tip is
        lever, p, point = add(lever, along), add(p, along), add(point, along)
        velocity = add(velocity, cross(omega, along))
        mass, closing = effective_mass(point_mobility(m, w, link, p)), dot(normal, sub(velocity, moves))
        K = stiffness_of(s, o, k)
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
    put_hand(s, k, point, tip, force, ZERO, clamped, limited)
    s.work_J += dot(force, velocity) * dt


@kernel
def put_hand(s, k, point, target, force, torque, clamped, limited):
    """What hand k does in this tick, for frames and for the next tick."""
    put3(s.hand_point, k, point)
    put3(s.hand_target, k, target)
    put3(s.hand_force, k, force)
    put3(s.hand_torque, k, torque)
    s.counters[CLAMPED] += clamped
    s.counters[RATE_LIMITED] += limited


@kernel
def count_work(m, w, s):
    """What the force of the tick before did on the body that a hand across a link held."""
    body = s.held[LINKED_HAND]
    if body != WORLD and s.spending:
        _, _, point, _, _ = point_motion(m, w, body, get3(s.hand_at, LINKED_HAND))
        moved = sub(point, get3(s.hand_point, LINKED_HAND))
        absorb(load_tank(s.tank)[0], get3(s.hand_force, LINKED_HAND), moved)


@kernel
def spend(s, o, at, force, velocity, mass):
    """The force of a hand at the other end of a link, as far as its energy goes (haptics/tank.py)."""
    t = load_tank(s.tank)[0]
    if s.linked != s.hand[at + o.session]:  # another hand: it brings its own
        empty(t)
        s.linked = s.hand[at + o.session]
    grant(t)
    receive(t, s.hand_f[at + o.energy_J])
    return keep_passive(t, force, velocity, max(mass, LIGHTEST_KG), s.dt)


@kernel
def hand_torque(m, w, s, o, at, body, link):
    """The torque of a hand that also holds an orientation; none if it does not, or gives no orientation."""
    stiffness = min(max(s.hand_f[at + o.stiffness_Nm_rad], 0.0), STIFFEST_NM_RAD)
    x = part4(s.hand_f, at + o.orientation)
    length = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]
    if not (stiffness > 0.0 and abs(length - 1.0) < UNIT):  # written so that a NaN is refused too
        return ZERO
    inertia = effective_mass(turn_mobility(m, w, link))
    R, _ = body_frame(m, w, body)
    torque = turn(stiffness, s.hand_f[at + o.damping_Nms_rad], inertia, x, R, get3(w.V, link), s.dt)
    return limit_norm(torque, s.force_limit_N * LEVER_M)[0]


@kernel
def hands(m, w, s, o, now_ns, moving):
    """All hands of the page, or of a link: what they hold, and their forces; True if one holds something."""
    holding = False
    for k in range(HANDS):
        body = held_body(m, s, o, k, now_ns) if moving else WORLD
        if body != WORLD:
            couple(m, w, s, o, k, body)
            holding = True
        else:
            put3(s.hand_force, k, ZERO)
            put3(s.hand_torque, k, ZERO)
        s.held[k] = body
    return holding


@kernel
def guide_joints(s, moving, touching):
    """The torques of the planned joints; tells their guide what hands do."""
    g = load_guide(s.guide)[2]
    push = 0.0
    for k in range(HANDS):
        f = get3(s.hand_force, k)
        push += math.sqrt(dot(f, f))
    for k in range(s.devices.shape[0]):
        f = load_head(s.devices[k])[0].bodies_force
        push += math.sqrt(dot(f, f))
    g.push_N, g.touching, g.moving = push, touching, moving
    guide(s.guide)
    s.edit_mode, s.edit_stage = g.mode, g.stage


@kernel
def devices(s, now_ns, doing):
    """Every device once: RESTING, FEELING or ACTING; True if one touches or holds a body."""
    touching = False
    for k in range(s.devices.shape[0]):
        a = load_head(s.devices[k])[0]
        a.now_s, a.late_s, a.doing = 1e-9 * now_ns, s.late_s, doing
        call_routine(s.reach, s.devices[k])
        touching = touching or a.held != WORLD or dot(a.bodies_force, a.bodies_force) > 0.0
    return touching


@kernel
def tick(m, w, s, o, now_ns, moving):
    """Publish one tick and, if moving, advance by it; a paused or stopped world is published as it is."""
    begin_step(s.world)
    touching = devices(s, now_ns, ACTING if moving else RESTING)
    if moving:
        count_work(m, w, s)
    touching = hands(m, w, s, o, now_ns, moving) or touching
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
            s.counters[CONTACTS_LOST] = load_world(s.world)[3].lost
        else:
            s.state, s.fault_at = FAULT, load_world(s.world)[5].fault_at
