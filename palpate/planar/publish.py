"""What a frame of the planar interface says.  The plane is horizontal, z up: a pose (x, y, angle) turns about z.

f, i  the frame's words as floats and as integers;  k  where the frame begins in them;  at  where its fields lie
"""

import math

from palpate.conventions import WORLD
from palpate.frame import HANDS, PULL, SLIDE, STICK
from palpate.jit import kernel, shared
from palpate.planar.bodies.tables import MAX_CONTACTS, NONE, SOURCES, load_bodies
from palpate.planar.lane import in_room, load_lane
from palpate.planar.pantograph.kinematics import elbows
from palpate.planar.port_drive import publish_device
from palpate.planar.settings import COMPARE, EXAGGERATION
from palpate.planar.stage import LINKS, load_stage
from palpate.servo.head import begin_frame, end_frame, put_pose, put_words
from palpate.spatial.vectors import get3, put_part, sub

MM = 1e3
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@kernel
def put_planar(f, at, X):
    """A pose of the plane as a row of `pose`."""
    put_pose(f, at, (X[0], X[1], 0.0), (math.cos(0.5 * X[2]), 0.0, 0.0, math.sin(0.5 * X[2])))


@kernel
def put_rod(f, at, a, x0, y0, x1, y1):
    """A link from one joint to the next, at its middle."""
    o, s = a.offset, 0.5 * a.scale
    put_planar(f, at, (o[0] + s * (x0 + x1), o[1] + s * (y0 + y1), math.atan2(y1 - y0, x1 - x0)))


@kernel
def put_links(f, at, m, X, a):
    """The mechanism with its handle at X, as large as the room is; the crank alone if it cannot be there."""
    e, ok = elbows(m, X)
    c, sn = m.r * math.cos(X[2]), m.r * math.sin(X[2])
    for i in range(4):
        side = -1.0 if i < 2 else 1.0  # base joints 1 and 2 carry A, 3 and 4 carry B
        bx, by = m.bx if i in (1, 2) else -m.bx, side * m.by
        if ok:
            x, y = bx + e[i][0], by + e[i][1]
            put_rod(f, at + 7 * i, a, bx, by, x, y)
            put_rod(f, at + 7 * (4 + i), a, x, y, X[0] + side * c, X[1] + side * sn)
    handle = in_room(a, X)
    put_planar(f, at + 7 * 8, (handle[0], handle[1], X[2]))


@kernel
def sunk(contacts, polygons, body, times):
    """By how much a body is shown deeper than it is: (times - 1) of its deepest contact."""
    deepest, x, y = 0.0, 0.0, 0.0
    for row in range(contacts.count):
        if contacts.state[row] == NONE or contacts.depth[row] <= deepest:
            continue
        mine, others = polygons.body[contacts.vertex[row]] == body, polygons.body[contacts.edge[row]] == body
        if mine or others:
            deepest = contacts.depth[row]
            out = 1.0 if mine else -1.0
            x = out * (contacts.point[row, 0] - contacts.god[row, 0])
            y = out * (contacts.point[row, 1] - contacts.god[row, 1])
    return (times - 1.0) * x, (times - 1.0) * y


@kernel
def put_bodies(f, at, address, st, first, last, times):
    """Rows of `pose` of a lane's bodies."""
    polygons, motion, _, contacts, _, _ = load_bodies(address)
    for row in range(first, last):
        b = st.bodies[row]
        X = get3(motion.X, b)
        if times != 1.0 and polygons.inverse_mass[b, 0] > 0.0:
            x, y = sunk(contacts, polygons, b, times)
            X = (X[0] + x, X[1] + y, X[2])
        put_planar(f, at + 7 * row, X)


@kernel
def put_contact(f, i, k, at, n, contacts, polygons, row, times):
    """Row n of the contacts that are shown."""
    x, y = contacts.normal[row, 0], contacts.normal[row, 1]
    Fn, Ff = contacts.normal_force[row], contacts.friction_force[row]
    push, rub = (Fn * x, Fn * y, 0.0), (Ff * y, -Ff * x, 0.0)  # Fn n and -Ff t
    point = (contacts.point[row, 0], contacts.point[row, 1], 0.0)
    god = (contacts.god[row, 0], contacts.god[row, 1], 0.0)
    i[k + at.contact_body + 2 * n] = polygons.body[contacts.edge[row]]
    i[k + at.contact_body + 2 * n + 1] = polygons.body[contacts.vertex[row]]
    i[k + at.contact_mode + n] = SLIDE if contacts.slips[row] else STICK
    i[k + at.contact_state + n] = contacts.state[row]
    f[k + at.contact_sunk_mm + n] = MM * contacts.depth[row]
    put_part(f, k + at.contact_point + 3 * n, point)
    put_part(f, k + at.contact_force + 3 * n, (push[0] + rub[0], push[1] + rub[1], 0.0))
    put_part(f, k + at.contact_normal + 3 * n, push)
    put_part(f, k + at.contact_friction + 3 * n, rub)
    put_part(f, k + at.contact_god + 3 * n, god)
    put_part(f, k + at.contact_sink + 3 * n, (times * (point[0] - god[0]), times * (point[1] - god[1]), 0.0))


@kernel
def clear_contact(f, i, k, at, n):
    i[k + at.contact_mode + n] = i[k + at.contact_state + n] = 0
    f[k + at.contact_sunk_mm + n] = 0.0
    i[k + at.contact_body + 2 * n] = i[k + at.contact_body + 2 * n + 1] = WORLD
    for j in range(3 * n, 3 * n + 3):
        f[k + at.contact_point + j] = f[k + at.contact_force + j] = f[k + at.contact_normal + j] = 0.0
        f[k + at.contact_friction + j] = f[k + at.contact_god + j] = f[k + at.contact_sink + j] = 0.0


@kernel
def put_contacts(f, i, k, at, contacts, polygons, room, times):
    """All contacts, one after the other; their sums; depth and energy of each in its own place."""
    n, depth, push, rub, slip = 0, 0.0, 0.0, 0.0, 0
    for row in range(max(contacts.count, room)):
        there = row < min(contacts.count, MAX_CONTACTS) and contacts.state[row] != NONE
        if row < room:
            f[k + at.contact_depth_mm + row] = MM * contacts.depth[row] if there else 0.0
            f[k + at.contact_energy_J + row] = contacts.absorbed[row] if there else 0.0
        if not there:
            continue
        depth, push = max(depth, contacts.depth[row]), push + contacts.normal_force[row]
        rub, slip = rub + abs(contacts.friction_force[row]), slip + (contacts.slips[row] != 0)
        if n < room:
            put_contact(f, i, k, at, n, contacts, polygons, row, times)
        n += 1
    for j in range(min(n, room), room):
        clear_contact(f, i, k, at, j)
    i[k + at.contacts] = min(n, room)
    f[k + at.penetration_mm], f[k + at.normal_N], f[k + at.friction_N] = MM * depth, push, rub
    f[k + at.slips] = slip / n if n > 0 else 0.0


@kernel
def put_energy(f, k, at, audit):
    for j in range(SOURCES):
        f[k + at.energy_J + j] = audit.work[j]
    f[k + at.energy_J + SOURCES], f[k + at.energy_J + SOURCES + 1] = audit.impulses, audit.contacts
    f[k + at.kinetic_J], f[k + at.audit_J], f[k + at.audit_worst] = audit.kinetic, audit.error, audit.worst


@shared("void(intp, intp, intp, float64)")
def publish_lane(address, stage, room, times):
    """A lane's own fields into the frame that is being written; room: of contacts."""
    a, _, plant, _, drive, _, _, _, at = load_lane(address)
    polygons, motion, _, contacts, audit, _ = load_bodies(a.bodies)
    h = load_stage(stage)[0]
    f, i, k = h.frames_f, h.frames, h.frame_at
    put_contacts(f, i, k, at, contacts, polygons, room, times)
    X_s = get3(motion.X, a.body)
    away = sub(in_room(a, drive.X), X_s)
    put_part(f, k + at.handle, drive.X)
    put_part(f, k + at.handle_true, plant.X if a.device == 0 else drive.X)
    put_part(f, k + at.block, X_s)
    put_part(f, k + at.block_velocity, get3(motion.v, a.body))
    put_part(f, k + at.hand_true, plant.hand_wrench)
    put_part(f, k + at.hand_estimate, a.f_h)
    put_part(f, k + at.command, drive.wrench)
    put_part(f, k + at.applied, drive.applied)
    put_part(f, k + at.pull, a.f_c)
    put_part(f, k + at.environment, a.f_e)
    for j in range(4):
        f[k + at.torque + j] = drive.torque[j]
    f[k + at.residual_mm] = MM * drive.residual
    f[k + at.offset_mm] = MM * math.sqrt(away[0] * away[0] + away[1] * away[1])
    put_energy(f, k, at, audit)


@kernel
def put_hands(f, i, k, at, held):
    for n in range(HANDS):
        mine = held.body != 0 and held.hand == n
        i[k + at.hand_body + n], i[k + at.hand_kind + n] = held.body if mine else WORLD, PULL
        zero = (0.0, 0.0, 0.0)
        put_part(f, k + at.hand_point + 3 * n, held.point if mine else zero)
        put_part(f, k + at.hand_target + 3 * n, held.to if mine else zero)
        put_part(f, k + at.hand_force + 3 * n, held.force if mine else zero)
        put_part(f, k + at.hand_torque + 3 * n, (0.0, 0.0, held.torque) if mine else zero)


@shared("void(intp)")
def publish(address):
    """The whole frame."""
    h, at, st, s, _, held, _ = load_stage(address)
    k = begin_frame(h)
    f, i = h.frames_f, h.frames
    a, m, plant, _, drive, _, _, _, _ = load_lane(st.lane)
    room, times, compares = st.shown, s.value[EXAGGERATION], s.value[COMPARE] != 0.0
    n = st.bodies.shape[0]
    put_words(f, k + at.wall, s.value)  # all of them, one after the other (fields.py)
    put_pose(f, k + at.pose, (0.0, 0.0, 0.0), UPRIGHT)
    put_bodies(f, k + at.pose, a.bodies, st, 1, st.first_link, times)
    put_links(f, k + at.pose + 7 * st.first_link, m, plant.X if a.device == 0 else drive.X, a)
    put_bodies(f, k + at.pose, load_lane(st.other)[0].bodies, st, st.first_other, n, times)
    for row in range(n):
        link = st.first_link <= row < st.first_link + LINKS - 1
        gone = (row >= st.first_other and not compares) or (link and not drive.known)
        i[k + at.parked + row] = gone
    i[k + at.fault], i[k + at.faults], i[k + at.steps] = st.fault, st.faults, st.done
    put_hands(f, i, k, at, held)
    publish_device(f, i, k, at, a.device)
    publish_lane(st.lane, address, room, times)
    publish_lane(st.other, address, room, times)
    end_frame(h)
