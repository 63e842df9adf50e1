"""One tick: hand in, coupling, reference, dynamics, safety, publish, step.  The same in real and in simulated time.

m model, w workspace, s servo state, o offsets of the messages: what `state.load` gives
"""

import math

from palpate.collision.contacts import LOST
from palpate.contact.assemble import tangents
from palpate.contact.rows import N_CONTACTS, N_ROWS, N_WARM, RAN_OUT, RELATIVE
from palpate.control.guide import guide, restart_guide
from palpate.control.guide_tables import MODE, MOVING, PUSH_N, STAGE, TOUCHING, load_guide
from palpate.conventions import WORLD
from palpate.dynamics.energy import energy
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.dynamics.mobility import point_mobility, turn_mobility
from palpate.frame import COUNTERS, FAULT, HANDS, PULL, PUSH
from palpate.haptics.coupling import effective_mass, pull, turn
from palpate.haptics.grasp import push_body
from palpate.haptics.reach_tables import (
    ACTING,
    AGE_S,
    BODIES_FORCE,
    DOING,
    ENGAGE,
    HELD,
    HIP,
    LATE_S,
    LEVER_M,
    NOW_S,
    POINT,
    RESTING,
    SENT,
    TORQUE_SENT,
    load_head,
)  # fmt: skip
from palpate.haptics.safety import limit_norm, limit_rise
from palpate.haptics.tank import GRANTED, absorb, empty, grant, keep_passive, load_tank, receive
from palpate.jit import kernel
from palpate.jit.routines import call_routine
from palpate.runtime.ring_kernels import begin_write, end_write
from palpate.runtime.state import (
    DT_S,
    EDIT_MODE,
    EDIT_STAGE,
    FAULT_AT,
    FORCE_LIMIT_N,
    LATE,
    LINKED,
    RISE_N_S,
    SMOOTH_S,
    SPENDING,
    STATE,
    TICK,
    TICK_US,
    TIME_S,
    WORK_J,
)  # fmt: skip
from palpate.spatial.quaternions import matrix_quaternion
from palpate.spatial.vectors import add_scaled, dot, get3, part3, part4, put3, rotate, scale, sub
from palpate.world.state import FAULT_AT as WORLD_FAULT_AT
from palpate.world.state import TICK as WORLD_TICK
from palpate.world.state import TIME_S as WORLD_TIME_S
from palpate.world.state import WRENCHES
from palpate.world.state import load as load_world
from palpate.world.step import begin_step, end_step, free_motion

STALE_NS = 100_000_000  # a hand that has not been heard of for this long lets go
HAND_STALE, HAND_REFUSED = COUNTERS.index("hand_stale"), COUNTERS.index("hand_refused")
CAPPED = COUNTERS.index("capped")
CONTACTS_LOST, RAN_OUT_COUNTER = COUNTERS.index("contacts_lost"), COUNTERS.index("ran_out")
CLAMPED, RATE_LIMITED = COUNTERS.index("clamped"), COUNTERS.index("rate_limited")
STIFFEST_N_M, STIFFEST_NM_RAD = 1e5, 1e3
LARGEST_SANE = 1e6  # [m, N/m, N m/rad, N, J]: no honest hand has more
LIGHTEST_KG, MOST_DAMPING = 1e-3, 10.0
LINKED_HAND = 0  # a link has one hand
ZERO = (0.0, 0.0, 0.0)


@kernel
def reset(m, s):
    """Back to the start, as fast as then."""
    for j in range(m.nq):
        s.q[j] = s.q_start[j]
    for j in range(m.nv):
        s.v[j], s.tau[j] = s.v_start[j], s.tau_start[j]
    s.number[TIME_S], s.number[WORK_J] = 0.0, 0.0
    s.integer[TICK], s.integer[FAULT_AT] = 0, -1
    s.held[:] = WORLD
    s.world_integer[WORLD_TICK], s.world_number[WORLD_TIME_S] = 0, 0.0
    s.world_integer[WRENCHES], s.rows_integer[N_WARM] = 0, 0
    for k in range(s.devices.shape[0]):
        load_head(s.devices[k])[0].integer[ENGAGE] = 1
    s.hand_force[:, :] = 0.0
    s.hand_torque[:, :] = 0.0
    s.wrenches[:, :] = 0.0
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
    if stale or not sane:
        s.counters[HAND_STALE if sane else HAND_REFUSED] += 1
        s.hand[at + o.body] = WORLD
        return WORLD
    return body


@kernel
def press(stiffness, normal, tip, point, velocity, mass):
    """Force on the body [N] of a tip inside its surface, taken as a plane: damped on the way in, never sticky.

    c = -(k d + b max(0, d')) n,  d = n.(point - tip)                      reference on articulated bodies 3.1
    """
    depth = dot(normal, sub(point, tip))
    if depth <= 0.0:
        return ZERO
    closing = max(0.0, dot(normal, velocity))
    return scale(-(stiffness * depth + math.sqrt(stiffness * mass) * closing), normal)


@kernel
def couple(m, w, s, o, k, body):
    """The force of hand k on the body it holds, limited for the hand's sake, as a wrench at the body's origin."""
    dt, at, link = s.number[DT_S], k * s.message.shape[0], m.body_link[body]
    at_body = part3(s.hand_f, at + o.at_body)
    lever, p, point, velocity, omega = point_motion(m, w, body, at_body)
    kind, linked = s.hand[at + o.hand_kind], s.hand[at + o.session] != 0
    wanted, before, last = part3(s.hand_f, at + o.target), get3(s.hand_target, k), get3(s.hand_force, k)
    if s.held[k] != body:  # a new grasp begins where the point is, without a jerk
        before, last = point, ZERO
        put3(s.hand_force, k, ZERO)
    smooth = s.number[SMOOTH_S] > 0.0 and not linked  # a hand across a link comes a thousand times a second
    share = 1.0 - math.exp(-dt / s.number[SMOOTH_S]) if smooth else 1.0
    target = add_scaled(before, share, sub(wanted, before))
    moves = part3(s.hand_f, at + o.velocity) if linked else scale(1.0 / dt, sub(target, before))
    stiffness = min(max(s.hand_f[at + o.stiffness_N_m], 0.0), STIFFEST_N_M)
    ratio = s.hand_f[at + o.damping]
    ratio = min(max(ratio, 0.0), MOST_DAMPING) if ratio != 0.0 else 1.0
    mass = effective_mass(point_mobility(m, w, link, p))
    cap = s.number[FORCE_LIMIT_N] / max(stiffness, 1.0)
    force, capped = pull(stiffness, ratio * ratio * mass, cap, target, moves, point, velocity)
    if kind != PULL:
        R, _ = body_frame(m, w, body)
        normal = rotate(R, part3(s.hand_f, at + o.normal))
        force, capped = press(stiffness, normal, target, point, velocity, mass), False
    if kind == PUSH:
        force, target = part3(s.hand_f, at + o.force), point
    force, clamped = limit_norm(force, s.number[FORCE_LIMIT_N])
    force, limited = limit_rise(force, last, s.number[RISE_N_S] * dt)
    if k == LINKED_HAND:
        s.integer[SPENDING] = linked
    if linked:
        force = spend(s, o, at, force, velocity, mass)
    s.counters[CAPPED] += capped
    s.counters[CLAMPED] += clamped
    s.counters[RATE_LIMITED] += limited
    put3(s.hand_at, k, at_body)
    put3(s.hand_point, k, point)
    put3(s.hand_target, k, target)
    put3(s.hand_force, k, force)
    torque = hand_torque(m, w, s, o, at, body, link)
    put3(s.hand_torque, k, torque)
    push_body(s.wrenches, s.world_integer, body, lever, force, torque)
    s.number[WORK_J] += (dot(force, velocity) + dot(torque, omega)) * dt


@kernel
def count_work(m, w, s):
    """What the force of the tick before did on the body that a hand across a link held."""
    body = s.held[LINKED_HAND]
    if body != WORLD and s.integer[SPENDING]:
        _, _, point, _, _ = point_motion(m, w, body, get3(s.hand_at, LINKED_HAND))
        moved = sub(point, get3(s.hand_point, LINKED_HAND))
        absorb(load_tank(s.tank)[0], get3(s.hand_force, LINKED_HAND), moved)


@kernel
def spend(s, o, at, force, velocity, mass):
    """The force of a hand at the other end of a link, as far as its energy goes (haptics/tank.py)."""
    t = load_tank(s.tank)[0]
    if s.integer[LINKED] != s.hand[at + o.session]:  # another hand: it brings its own
        empty(t)
        s.integer[LINKED] = s.hand[at + o.session]
    grant(t)
    receive(t, s.hand_f[at + o.energy_J])
    return keep_passive(t, force, velocity, max(mass, LIGHTEST_KG), s.number[DT_S])


@kernel
def hand_torque(m, w, s, o, at, body, link):
    """The torque of a hand that also holds an orientation; none if it does not, or gives no orientation."""
    stiffness = min(max(s.hand_f[at + o.stiffness_Nm_rad], 0.0), STIFFEST_NM_RAD)
    x = part4(s.hand_f, at + o.orientation)
    length = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]
    if not (stiffness > 0.0 and abs(length - 1.0) < 1e-3):  # written so that a NaN is refused too
        return ZERO
    inertia = effective_mass(turn_mobility(m, w, link))
    R, _ = body_frame(m, w, body)
    torque, _ = limit_norm(turn(stiffness, inertia, x, R, get3(w.V, link)), s.number[FORCE_LIMIT_N] * LEVER_M)
    return torque


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
        f = get3(load_head(s.devices[k])[0].vector, BODIES_FORCE)
        push += math.sqrt(dot(f, f))
    g.number[PUSH_N], g.integer[TOUCHING], g.integer[MOVING] = push, touching, moving
    guide(s.guide)
    s.integer[EDIT_MODE], s.integer[EDIT_STAGE] = g.integer[MODE], g.integer[STAGE]


@kernel
def put_words(array, at, values):
    for i in range(values.shape[0]):
        array[at + i] = values[i]


@kernel
def publish(m, w, s, o, now_ns):
    """The state at the beginning of this tick, with the forces of this tick, as a frame."""
    at = begin_write(s.frames)
    words, floats = s.frames, s.frames_f
    words[at + o.tick] = s.integer[TICK]
    words[at + o.wall_ns] = now_ns
    words[at + o.state] = s.integer[STATE]
    put_words(words, at + o.hand_body, s.held)
    words[at + o.contacts] = s.rows_integer[N_CONTACTS]
    floats[at + o.residual] = s.rows_number[RELATIVE] if s.rows_integer[N_ROWS] else 0.0
    put_words(words, at + o.counters, s.counters)
    put_words(words, at + o.lateness, s.lateness)
    floats[at + o.time_s] = s.number[TIME_S]
    floats[at + o.tick_us] = s.number[TICK_US]
    put_words(floats, at + o.q, s.q)
    put_words(floats, at + o.v, s.v)
    put_words(floats, at + o.tau, s.tau)
    put_words(floats, at + o.plan_q, s.q_hold)
    words[at + o.edit_mode], words[at + o.edit_stage] = s.integer[EDIT_MODE], s.integer[EDIT_STAGE]
    if s.guide != 0:
        g = load_guide(s.guide)[2]
        for k in range(g.q_at.shape[0]):
            floats[at + o.plan_q + g.q_at[k]] = g.q_shown[k]
    for k in range(HANDS):
        put_row(floats, at + o.hand_point, s.hand_point, k)
        put_row(floats, at + o.hand_target, s.hand_target, k)
        put_row(floats, at + o.hand_force, s.hand_force, k)
        put_row(floats, at + o.hand_torque, s.hand_torque, k)
        age = 1e-9 * (now_ns - s.hand[k * s.message.shape[0] + o.sent_ns])
        floats[at + o.hand_age_s + k] = age if s.held[k] != WORLD else 0.0
    put_contacts(s, o, words, floats, at)
    floats[at + o.granted_J] = s.tank_energy[GRANTED]
    for k in range(s.devices.shape[0]):
        put_device(s, o, k, words, floats, at)
    kinetic, potential = energy(m, s.v, w)
    floats[at + o.energy] = kinetic
    floats[at + o.energy + 1] = potential
    floats[at + o.energy + 2] = s.number[WORK_J]
    for body in range(m.body_link.shape[0]):
        put_pose(m, w, body, floats, at + o.pose + 7 * body)
    end_write(s.frames)


@kernel
def put_row(floats, at, rows, k):
    """Row k of (n, 3) at its place in a field of that shape."""
    for r in range(3):
        floats[at + 3 * k + r] = rows[k, r]


@kernel
def put_contacts(s, o, words, floats, at):
    """Who touched whom in the tick before, where and how hard, as far as there is room."""
    _, _, g, c, r, _ = load_world(s.world)
    room = (o.contact_force - o.contact_point) // 3
    for i in range(room):
        there = i < s.rows_integer[N_CONTACTS]
        point, force = ZERO, ZERO
        if there:
            n = get3(c.normal, i)
            t1, t2 = tangents(n)
            impulse = add_scaled(add_scaled(scale(r.lam[i, 0], n), r.lam[i, 1], t1), r.lam[i, 2], t2)
            point, force = get3(c.point, i), scale(1.0 / s.number[DT_S], impulse)
        words[at + o.contact_body + 2 * i] = g.body[c.shape_a[i]] if there else 0
        words[at + o.contact_body + 2 * i + 1] = g.body[c.shape_b[i]] if there else 0
        for k in range(3):
            floats[at + o.contact_point + 3 * i + k] = point[k]
            floats[at + o.contact_force + 3 * i + k] = force[k]


@kernel
def put_device(s, o, k, words, floats, at):
    """What a device did in this tick."""
    a = load_head(s.devices[k])[0]
    words[at + o.device_held + k] = a.integer[HELD]
    words[at + o.device_state + k] = a.guard_integer[0]
    words[at + o.device_buttons + k] = a.port_integer[0]
    put_words(words, at + o.device_counters + k * a.guard_counts.shape[0], a.guard_counts)
    put_words(floats, at + o.device_energy + k * a.absorbed.shape[0], a.absorbed)
    floats[at + o.device_age_s + k] = a.number[AGE_S]
    for r in range(3):
        floats[at + o.device_position + 3 * k + r] = a.vector[HIP, r]
        floats[at + o.device_point + 3 * k + r] = a.vector[POINT, r]
        floats[at + o.device_force + 3 * k + r] = a.vector[SENT, r]
        floats[at + o.device_torque + 3 * k + r] = a.vector[TORQUE_SENT, r]
        floats[at + o.device_body_force + 3 * k + r] = a.vector[BODIES_FORCE, r]
    for r in range(4):
        floats[at + o.device_quaternion + 4 * k + r] = a.turn[r]


@kernel
def put_pose(m, w, body, floats, at):
    """Position and quaternion of a body."""
    R, p = body_frame(m, w, body)
    reference = get3(w.origin, m.root[m.body_link[body]])
    for r in range(3):
        floats[at + r] = reference[r] + p[r]
    x = matrix_quaternion(R)
    for r in range(4):
        floats[at + 3 + r] = x[r]


@kernel
def devices(s, now_ns, doing):
    """Every device once: RESTING, FEELING or ACTING; True if one touches or holds a body."""
    touching = False
    for k in range(s.devices.shape[0]):
        a = load_head(s.devices[k])[0]
        a.number[NOW_S], a.number[LATE_S], a.integer[DOING] = 1e-9 * now_ns, s.number[LATE], doing
        call_routine(s.reach, s.devices[k])
        f = (a.vector[BODIES_FORCE, 0], a.vector[BODIES_FORCE, 1], a.vector[BODIES_FORCE, 2])
        touching = touching or a.integer[HELD] != WORLD or dot(f, f) > 0.0
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
    publish(m, w, s, o, now_ns)
    if moving:
        if end_step(s.world):
            s.integer[TICK] += 1
            s.number[TIME_S] = s.integer[TICK] * s.number[DT_S]
            s.counters[RAN_OUT_COUNTER] += s.rows_effort[RAN_OUT] > 0
            s.counters[CONTACTS_LOST] = s.contact_count[LOST]
        else:
            s.integer[STATE], s.integer[FAULT_AT] = FAULT, s.world_integer[WORLD_FAULT_AT]
