"""The frame of one tick, from the servo's state to the ring that everybody reads.

m model, w workspace, s servo state, o offsets of the messages: what `state.load` gives
"""

from palpate.contact.assemble import tangents
from palpate.contact.mode import mode_of
from palpate.contact.rows import N_CONTACTS, N_ROWS, RELATIVE
from palpate.control.guide_tables import load_guide
from palpate.conventions import WORLD
from palpate.dynamics.energy import energy, link_motion
from palpate.dynamics.jacobian import body_frame
from palpate.frame import HANDS, UNKNOWN
from palpate.haptics.reach_tables import AGE_S, BODIES_FORCE, HELD, HIP, POINT, SENT, TORQUE_SENT, load_head
from palpate.haptics.tank import GRANTED
from palpate.jit import kernel
from palpate.runtime.ring_kernels import begin_write, end_write
from palpate.runtime.state import (
    DISTANCE_M,
    DT_S,
    EDIT_MODE,
    EDIT_STAGE,
    FRICTION_TIMES,
    GRAVITY_TIMES,
    PATH_M,
    PEAK_N,
    SCORE_TIME_S,
    SPEED,
    STATE,
    TASK_COLLISIONS,
    TASK_STATE,
    TASK_TRIAL,
    TICK,
    TICK_US,
    TIME_S,
    WORK_J,
)  # fmt: skip
from palpate.spatial.quaternions import matrix_quaternion
from palpate.spatial.vectors import add, add_scaled, dot, get3, get6, part4, put_part, scale
from palpate.world.state import load as load_world

ZERO = (0.0, 0.0, 0.0)


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
    floats[at + o.speed] = s.number[SPEED]
    floats[at + o.gravity] = s.number[GRAVITY_TIMES]
    floats[at + o.friction] = s.number[FRICTION_TIMES]
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
        put_part(floats, at + o.hand_point + 3 * k, get3(s.hand_point, k))
        put_part(floats, at + o.hand_target + 3 * k, get3(s.hand_target, k))
        put_part(floats, at + o.hand_force + 3 * k, get3(s.hand_force, k))
        put_part(floats, at + o.hand_torque + 3 * k, get3(s.hand_torque, k))
        message, held = k * s.message.shape[0], s.held[k] != WORLD
        words[at + o.hand_kind + k] = s.hand[message + o.hold] if held else 0
        floats[at + o.hand_age_s + k] = 1e-9 * (now_ns - s.hand[message + o.sent_ns]) if held else 0.0
    put_contacts(s, o, words, floats, at)
    put_words(words, at + o.parked, s.parked)
    words[at + o.task_trial], words[at + o.task_state] = s.task_integer[TASK_TRIAL], s.task_integer[TASK_STATE]
    words[at + o.task_collisions] = s.task_integer[TASK_COLLISIONS]
    floats[at + o.task_time_s], floats[at + o.task_path_m] = s.task_number[SCORE_TIME_S], s.task_number[PATH_M]
    floats[at + o.task_peak_N], floats[at + o.task_distance_m] = s.task_number[PEAK_N], s.task_number[DISTANCE_M]
    floats[at + o.granted_J] = s.tank_energy[GRANTED]
    for k in range(s.devices.shape[0]):
        put_device(s, o, k, words, floats, at)
    kinetic, potential = energy(m, s.v, w)
    floats[at + o.energy] = kinetic
    floats[at + o.energy + 1] = potential - parked_energy(m, w, s)
    floats[at + o.energy + 2] = s.number[WORK_J]
    for body in range(m.body_link.shape[0]):
        put_pose(m, w, body, floats, at + o.pose + 7 * body)
    end_write(s.frames)


@kernel
def parked_energy(m, w, s):
    """Potential energy [J] of what is parked: it takes no part."""
    total, (_, up) = 0.0, get6(w.A, WORLD)  # the world's own acceleration: -g
    for i in range(1, m.parent.shape[0]):
        if s.pushed[i] == WORLD:
            mass, c, _, _, _ = link_motion(m, w, i)
            total += mass * dot(up, c)
    return total


@kernel
def put_contacts(s, o, words, floats, at):
    """Who touched whom in the tick before, where, how hard and what they did, as far as there is room."""
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
        words[at + o.contact_mode + i] = mode_of(c, r, i) if there else UNKNOWN
        put_part(floats, at + o.contact_point + 3 * i, point)
        put_part(floats, at + o.contact_force + 3 * i, force)


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
    put_part(floats, at + o.device_position + 3 * k, get3(a.vector, HIP))
    put_part(floats, at + o.device_point + 3 * k, get3(a.vector, POINT))
    put_part(floats, at + o.device_force + 3 * k, get3(a.vector, SENT))
    put_part(floats, at + o.device_torque + 3 * k, get3(a.vector, TORQUE_SENT))
    put_part(floats, at + o.device_body_force + 3 * k, get3(a.vector, BODIES_FORCE))
    put_part(floats, at + o.device_quaternion + 4 * k, part4(a.turn, 0))


@kernel
def put_pose(m, w, body, floats, at):
    """Position and quaternion of a body."""
    R, p = body_frame(m, w, body)
    put_part(floats, at, add(get3(w.origin, m.root[m.body_link[body]]), p))
    put_part(floats, at + 3, matrix_quaternion(R))
