"""The frame of one tick, from the servo's state to the ring that everybody reads.

m model, w workspace, s servo state, o offsets of the messages: what `state.load` gives
"""

from palpate.contact.assemble import tangents
from palpate.contact.mode import mode_of
from palpate.control.guide_tables import load_guide
from palpate.conventions import WORLD
from palpate.dynamics.energy import energy, link_motion
from palpate.dynamics.jacobian import body_frame
from palpate.frame import HANDS, UNKNOWN
from palpate.haptics.devices.want import NOTHING
from palpate.haptics.reach_tables import COUPLING, SURFACES, load_head, load_shown
from palpate.jit import kernel
from palpate.runtime.ring_kernels import begin_write, end_write
from palpate.runtime.state import LINKED_HAND
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
    words[at + o.tick] = s.tick
    words[at + o.wall_ns] = now_ns
    words[at + o.state] = s.state
    floats[at + o.speed] = s.speed
    floats[at + o.gravity] = s.gravity_times
    floats[at + o.friction] = s.friction_times
    r = load_world(s.world)[4]
    words[at + o.contacts] = r.n_contacts
    floats[at + o.residual] = r.relative if r.n_rows else 0.0
    put_words(words, at + o.counters, s.counters)
    put_words(words, at + o.lateness, s.lateness)
    floats[at + o.time_s] = s.time
    floats[at + o.tick_us] = s.tick_us
    put_words(floats, at + o.q, s.q)
    put_words(floats, at + o.v, s.v)
    put_words(floats, at + o.tau, s.tau)
    put_words(floats, at + o.plan_q, s.q_hold)
    words[at + o.edit_mode], words[at + o.edit_stage] = s.edit_mode, s.edit_stage
    if s.guide != 0:
        g = load_guide(s.guide)[2]
        for k in range(g.q_at.shape[0]):
            floats[at + o.plan_q + g.q_at[k]] = g.q_shown[k]
    work_J = 0.0
    for k in range(HANDS):
        work_J += put_hand(s, o, k, words, floats, at)
    put_contacts(s, o, words, floats, at)
    put_words(words, at + o.parked, s.parked)
    words[at + o.task_trial], words[at + o.task_state] = s.task_trial, s.task_state
    words[at + o.task_collisions] = s.task_collisions
    floats[at + o.task_time_s], floats[at + o.task_path_m] = s.task_time_s, s.task_path_m
    floats[at + o.task_peak_N], floats[at + o.task_distance_m] = s.task_peak_N, s.task_distance_m
    for k in range(s.devices.shape[0] - HANDS):
        put_device(s, o, k, words, floats, at)
    kinetic, potential = energy(m, s.v, w)
    floats[at + o.energy] = kinetic
    floats[at + o.energy + 1] = potential - parked_energy(m, w, s)
    floats[at + o.energy + 2] = work_J
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
        there = i < r.n_contacts
        point, force = ZERO, ZERO
        if there:
            n = get3(c.normal, i)
            t1, t2 = tangents(n)
            impulse = add_scaled(add_scaled(scale(r.lam[i, 0], n), r.lam[i, 1], t1), r.lam[i, 2], t2)
            point, force = get3(c.point, i), scale(1.0 / s.dt, impulse)
        words[at + o.contact_body + 2 * i] = g.body[c.shape_a[i]] if there else 0
        words[at + o.contact_body + 2 * i + 1] = g.body[c.shape_b[i]] if there else 0
        words[at + o.contact_mode + i] = mode_of(c, r, i) if there else UNKNOWN
        put_part(floats, at + o.contact_point + 3 * i, point)
        put_part(floats, at + o.contact_force + 3 * i, force)


@kernel
def put_hand(s, o, k, words, floats, at):
    """What a hand did in this tick; its work on bodies so far [J]."""
    a = load_head(s.devices[k])[0]
    acts = a.does != NOTHING
    words[at + o.hand_body + k] = a.held if a.held != WORLD else a.touched
    words[at + o.hand_kind + k] = a.does - 1 if acts else 0  # PULL, PUSH, PRESS: in the order of devices/want.py
    floats[at + o.hand_age_s + k] = a.age_s if acts else 0.0
    put_part(floats, at + o.hand_point + 3 * k, a.point if acts else ZERO)
    put_part(floats, at + o.hand_target + 3 * k, a.target if acts else ZERO)
    put_part(floats, at + o.hand_force + 3 * k, a.bodies_force)
    put_part(floats, at + o.hand_torque + 3 * k, a.bodies_torque)
    if k == LINKED_HAND:
        floats[at + o.granted_J] = a.granted_J
    return -a.absorbed[COUPLING] - a.absorbed[SURFACES]


@kernel
def put_device(s, o, k, words, floats, at):
    """What a device did in this tick."""
    a, g = load_shown(s.devices[HANDS + k])
    words[at + o.device_held + k] = a.held
    words[at + o.device_state + k] = g.state
    words[at + o.device_buttons + k] = a.port_integer[0]
    put_words(words, at + o.device_counters + k * g.counts.shape[0], g.counts)
    put_words(floats, at + o.device_energy + k * a.absorbed.shape[0], a.absorbed)
    floats[at + o.device_age_s + k] = a.age_s
    put_part(floats, at + o.device_position + 3 * k, a.hip)
    put_part(floats, at + o.device_point + 3 * k, a.point)
    put_part(floats, at + o.device_force + 3 * k, a.sent)
    put_part(floats, at + o.device_torque + 3 * k, a.torque_sent)
    put_part(floats, at + o.device_body_force + 3 * k, a.bodies_force)
    put_part(floats, at + o.device_quaternion + 4 * k, part4(a.turn, 0))


@kernel
def put_pose(m, w, body, floats, at):
    """Position and quaternion of a body."""
    R, p = body_frame(m, w, body)
    put_part(floats, at, add(get3(w.origin, m.root[m.body_link[body]]), p))
    put_part(floats, at + 3, matrix_quaternion(R))
