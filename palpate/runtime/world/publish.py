"""The frame of one tick of a World, for the ring that everybody reads.

h Head, o offsets of the frame's fields, m model, w workspace, s TickState: what `state.load` gives
"""

from palpate.contact.assemble import tangents
from palpate.contact.mode import mode_of
from palpate.conventions import WORLD
from palpate.dynamics.energy import energy, link_motion
from palpate.dynamics.jacobian import body_frame
from palpate.frame import HANDS, UNKNOWN
from palpate.haptics.devices.port import load_port
from palpate.haptics.devices.want import NOTHING
from palpate.haptics.reach_tables import COUPLING, SURFACES, load_head, load_shown
from palpate.jit import kernel
from palpate.runtime.world.state import LINKED_HAND
from palpate.servo.head import begin_frame, end_frame, put_pose, put_words
from palpate.servo.parts import PUBLISH, call_parts
from palpate.spatial.quaternions import matrix_quaternion
from palpate.spatial.vectors import add, add_scaled, dot, get3, get6, part4, put_part, scale
from palpate.world.state import load as load_world

ZERO = (0.0, 0.0, 0.0)


@kernel
def publish(h, o, m, w, s):
    """The state at the beginning of this tick, with the forces of this tick, as a frame."""
    at = begin_frame(h)
    words, floats = h.frames, h.frames_f
    floats[at + o.gravity] = s.gravity_times
    floats[at + o.friction] = s.friction_times
    r = load_world(s.world)[4]
    words[at + o.contacts] = r.n_contacts
    floats[at + o.residual] = r.relative if r.n_rows else 0.0
    put_words(floats, at + o.q, s.q)
    put_words(floats, at + o.v, s.v)
    put_words(floats, at + o.tau, s.tau)
    put_words(floats, at + o.plan_q, s.q_hold)
    words[at + o.edit_mode], words[at + o.edit_stage] = s.edit_mode, s.edit_stage
    work_J = 0.0
    for k in range(HANDS):
        work_J += put_hand(h, o, s, k, at)
    put_contacts(h, o, s, at)
    put_words(words, at + o.parked, s.parked)
    words[at + o.task_trial], words[at + o.task_state] = s.task_trial, s.task_state
    words[at + o.task_collisions] = s.task_collisions
    floats[at + o.task_time_s], floats[at + o.task_path_m] = s.task_time_s, s.task_path_m
    floats[at + o.task_peak_N], floats[at + o.task_distance_m] = s.task_peak_N, s.task_distance_m
    for k in range(s.devices.shape[0] - HANDS):
        put_device(h, o, s, k, at)
    kinetic, potential = energy(m, s.v, w)
    floats[at + o.energy] = kinetic
    floats[at + o.energy + 1] = potential - parked_energy(m, w, s)
    floats[at + o.energy + 2] = work_J
    for body in range(m.body_link.shape[0]):
        R, p = body_frame(m, w, body)
        position = add(get3(w.origin, m.root[m.body_link[body]]), p)
        put_pose(floats, at + o.pose + 7 * body, position, matrix_quaternion(R))
    call_parts(s.parts, PUBLISH)
    end_frame(h)


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
def put_contacts(h, o, s, at):
    """Who touched whom in the tick before, where, how hard and what they did, as far as there is room."""
    _, _, g, c, r, _ = load_world(s.world)
    words, floats = h.frames, h.frames_f
    room = (o.contact_force - o.contact_point) // 3
    for i in range(room):
        there = i < r.n_contacts
        k = (i + r.n_kept) % r.n_contacts if there else 0  # those of sleepers last, should room be short
        point, force = ZERO, ZERO
        if there:
            n = get3(c.normal, k)
            t1, t2 = tangents(n)
            impulse = add_scaled(add_scaled(scale(r.lam[k, 0], n), r.lam[k, 1], t1), r.lam[k, 2], t2)
            point, force = get3(c.point, k), scale(1.0 / h.dt, impulse)
        words[at + o.contact_body + 2 * i] = g.body[c.shape_a[k]] if there else 0
        words[at + o.contact_body + 2 * i + 1] = g.body[c.shape_b[k]] if there else 0
        words[at + o.contact_mode + i] = mode_of(c, r, k) if there else UNKNOWN
        put_part(floats, at + o.contact_point + 3 * i, point)
        put_part(floats, at + o.contact_force + 3 * i, force)


@kernel
def put_hand(h, o, s, k, at):
    """What a hand did in this tick; its work on bodies so far [J]."""
    a, words, floats = load_head(s.devices[k])[0], h.frames, h.frames_f
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
def put_device(h, o, s, k, at):
    """What a device did in this tick."""
    words, floats = h.frames, h.frames_f
    a, g = load_shown(s.devices[HANDS + k])
    words[at + o.device_held + k] = a.held
    words[at + o.device_state + k] = g.state
    words[at + o.device_buttons + k] = load_port(a.port)[0].buttons
    put_words(words, at + o.device_counters + k * g.counts.shape[0], g.counts)
    put_words(floats, at + o.device_energy + k * a.absorbed.shape[0], a.absorbed)
    floats[at + o.device_age_s + k] = a.age_s
    put_part(floats, at + o.device_position + 3 * k, a.hip)
    put_part(floats, at + o.device_point + 3 * k, a.point)
    put_part(floats, at + o.device_force + 3 * k, a.sent)
    put_part(floats, at + o.device_torque + 3 * k, a.torque_sent)
    put_part(floats, at + o.device_body_force + 3 * k, a.bodies_force)
    put_part(floats, at + o.device_quaternion + 4 * k, part4(a.turn, 0))
