"""The physics step: free motion, contacts, impulses, positions.  Moreau-Jean, semi-implicit, at velocity level.

    v_free = v + dt H^-1 (tau - C v - G + J^T wrenches)          articulated-body algorithm, springs implicit
    u = J v_free + G l + offset;  l by contact/solve.py           offset: gap / dt before touching, e u_before at impact
    v+ = v_free + H^-1 J^T l;  q+ = q (+) dt (v+ + shift)

`shift` takes out penetration and drift: a second, frictionless solve whose velocities move positions and are then
forgotten, so that what overlaps separates without being shot away.
"""

import math

from palpate.collision.detect import detect
from palpate.contact.assemble import (
    begin_row,
    in_frame,
    number_slots,
    own_blocks,
    put_point,
    tangents,
)  # fmt: skip
from palpate.contact.islands import find_islands
from palpate.contact.laws.calls import friction_of, is_friction
from palpate.contact.project import SHARE, project_positions
from palpate.contact.rows import (
    CONTACT,
)  # fmt: skip
from palpate.contact.solve import solve
from palpate.contact.table import build_table, mark_links, spread
from palpate.contact.warm import contact_key, recall, remember
from palpate.conventions import WORLD
from palpate.dynamics.aba import articulated
from palpate.dynamics.kinematics import link_twist, positions, velocities
from palpate.jit import kernel, shared
from palpate.model.model import FREE
from palpate.spatial.vectors import add, cross, dot, get3, get6, is_finite, put3, sub
from palpate.world.account import account, note_start
from palpate.world.advance import advance
from palpate.world.blows import add_blows, blows
from palpate.world.connections import connection_rows
from palpate.world.fast import leave_out_what_flies_past, stay_outside
from palpate.world.flight import fly
from palpate.world.joints import joint_rows, joint_torques
from palpate.world.state import (
    FRICTION_FAULT,
    VELOCITY_FAULT,
    load,
)  # fmt: skip

SLOP_M, SLOP_PART = 1e-4, 1e-3  # penetration that is left alone: no more than this, nor than this part of a radius
FASTEST_M_S = 1.0  # what is beyond it is taken out no faster than this
FASTEST = 1e6  # [m/s, rad/s]: what is faster has diverged


@kernel
def place_links(m, w, c):
    """World positions of links for collision; orientations are shared with the workspace."""
    for i in range(1, m.parent.shape[0]):
        put3(c.link_p, i, add(get3(w.origin, m.root[i]), get3(w.p, i)))


@kernel
def point_velocity(m, w, link, point):
    """Velocity of a point of a link at the beginning of the step."""
    if link == WORLD:
        return (0.0, 0.0, 0.0)
    root = m.root[link]
    omega, u = get6(w.V, link)
    return add(add(u, get3(w.drift, root)), cross(omega, sub(point, get3(w.origin, root))))


@kernel
def relative_velocity(m, w, a, b, point):
    """Velocity of link b against link a at a point, at the beginning of the step."""
    u = (0.0, 0.0, 0.0)
    for side in range(2):  # loops here and below, so that each is compiled once
        u = sub(point_velocity(m, w, b if side else a, point), u)
    return u


@kernel
def relative_motion(m, w, a, b, point, v):
    """The same under velocities v, with the axes of the beginning of the step."""
    relative = (0.0, 0.0, 0.0)
    for side in range(2):
        link = b if side else a
        omega, u = link_twist(m, w, link, v)
        relative = sub(add(u, cross(omega, sub(point, get3(w.origin, m.root[link])))), relative)
    return relative


@kernel
def contact_rows(m, w, g, c, r, s):
    """A row for each contact, in their order, with the impulses of the last step."""
    dt = s.dt
    for i in range(c.count):
        a, b = s.pushed[c.link_a[i]], s.pushed[c.link_b[i]]
        row = begin_row(r, CONTACT, a, b)
        if row < 0:
            return
        n, point, gap = get3(c.normal, i), get3(c.point, i), c.gap[i]
        t1, t2 = tangents(n)
        for side in range(2):
            put_point(m, w, r, row, side, b if side else a, point, n, t1, t2)
        ma, mb = g.material[c.shape_a[i]], g.material[c.shape_b[i]]
        mu, sliding = s.mu_static[ma, mb], s.mu_sliding[ma, mb]
        r.elastic[row] = s.restitution[ma, mb] > 0.0 or s.restitution_law != 0
        r.n_elastic += r.elastic[row]
        recall(r, row, contact_key(c.shape_a[i], c.shape_b[i], c.feature[i]))
        if sliding < mu or s.friction_law != 0 or r.elastic[row]:
            u = relative_velocity(m, w, a, b, point)
            slip = in_frame(n, t1, t2, u)
            speed = math.sqrt(slip[1] * slip[1] + slip[2] * slip[2])
            mu = friction_of(s.friction_law, mu, sliding, speed, r.lam[row, 0], r.friction_state[row])
            r.forced[row] = dot(n, relative_motion(m, w, a, b, point, s.v_next)) - slip[0] if r.elastic[row] else 0.0
            if not is_friction(mu):
                s.fault, s.fault_at = FRICTION_FAULT, i
                return
        r.mu[row] = mu
        r.offset[row, 0] = max(gap, 0.0) / dt
        slop = min(SLOP_M, SLOP_PART * min(g.radius[c.shape_a[i]], g.radius[c.shape_b[i]]))
        r.push[row, 0] = min(SHARE * max(-gap - slop, 0.0) / dt, FASTEST_M_S)
    r.n_contacts = r.n_rows


@shared("void(intp)")
def prepare_rows(address):
    """Slots, table and blocks of the rows there are."""
    m, w, _, _, r, s = load(address)
    mark_links(m, r)
    number_slots(r)
    build_table(m, w, s.v_next, s.armature, r)
    own_blocks(r)


@shared("void(intp, intp)")
def spread_impulses(address, to_shift):
    """The impulses on the slots to all joints: into v_next, or into shift."""
    m, w, _, _, r, s = load(address)
    spread(m, w, r, s.shift if to_shift else s.v_next)


@kernel
def solve_rows(address, r, s):
    """Impulses; adds their effect to v_next, and what takes out penetration to shift.  False if a law failed."""
    prepare_rows(address)
    if not blows(address):
        return False
    find_islands(r)
    solve(s.rows, r.unmatched == 0)
    remember(r)
    if r.n_rounds:
        add_blows(r)
    spread_impulses(address, 0)
    if project_positions(s.rows):
        spread_impulses(address, 1)
    return True


@kernel
def clear_rows(m, r):
    for i in range(m.parent.shape[0]):
        r.link_slot[i] = 0
    r.n_rows, r.n_contacts, r.n_slots, r.n_islands = 0, 0, 1, 0
    r.n_elastic, r.n_rounds = 0, 0
    r.residual, r.relative, r.speed = 0.0, 0.0, 0.0
    r.hashed = 0
    r.sweeps, r.newton, r.admm, r.multi_roots, r.ran_out, r.unmatched = 0, 0, 0, 0, 0, 0


@kernel
def commit(m, s):
    """The next state becomes the present one."""
    for j in range(m.nv):
        s.v[j] = s.v_next[j]
    for j in range(m.nq):
        s.q[j] = s.q_next[j]
    if s.n_wrenches:
        s.wrenches[:, :] = 0.0
        s.n_wrenches = 0
    s.tick += 1
    s.time = s.tick * s.dt


@kernel
def diverging(m, s):
    """The first velocity that is not a number or beyond all sense, -1: none."""
    for j in range(m.nv):
        if not (abs(s.v_next[j]) <= FASTEST and abs(s.shift[j]) <= FASTEST):
            return j
    for i in range(1, m.parent.shape[0]):  # where a free root is does not enter its velocity
        n = m.q_begin[i]
        if m.kind[i] == FREE and not is_finite(s.q[n] + s.q[n + 1] + s.q[n + 2]):
            return m.axis_v[m.axis_begin[i]] + 3
    return -1


@shared("void(intp)")
def place(address):
    """Where everything is."""
    m, w, _, c, _, s = load(address)
    positions(m, s.q, w)
    place_links(m, w, c)


@shared("void(intp)")
def begin_step(address):
    """Where everything is and how it moves: what hands and controllers read before they push."""
    m, w, _, _, _, s = load(address)
    place(address)
    velocities(m, s.v, w)


@shared("void(intp)")
def free_motion(address):
    """The articulated inertias at the beginning of the step, before there is any: what a hand feels."""
    m, w, _, _, _, s = load(address)
    joint_torques(m, s, s.q, s.v, s.dt)
    articulated(m, s.torque, s.armature, s.wrenches[: s.n_wrenches], w, s.a)


@shared("int64(intp)")
def put_rows(address):
    """Rows of contacts, joints and connections; False if a law failed."""
    m, w, g, c, r, s = load(address)
    clear_rows(m, r)
    s.fault = VELOCITY_FAULT
    contact_rows(m, w, g, c, r, s)
    if s.fault != VELOCITY_FAULT:
        return False
    joint_rows(address, m, s, r)
    connection_rows(m, w, c, s, r)
    return True


@shared("int64(intp)")
def end_step(address):
    """The rest; False, with the last good state kept and FAULT set, if a law fails or the next is not finite."""
    m, _, _, _, r, s = load(address)
    detect(s.collision, s.full)
    if s.keeps_ledger:
        note_start(address)
    fly(address)
    leave_out_what_flies_past(address)
    if not put_rows(address):
        return False
    for j in range(m.nv):
        s.shift[j] = 0.0
    if r.n_rows:
        if not solve_rows(address, r, s):
            return False
    else:
        r.n_warm = 0
    for j in range(m.nv):
        s.shift[j] += s.v_next[j]
    s.fault_at = diverging(m, s)
    if s.fault_at >= 0:
        s.wrenches[:, :] = 0.0  # they were for this step, and what is left of it must not spoil the next
        s.n_wrenches, r.n_warm = 0, 0
        return False
    if s.keeps_ledger:
        account(address)
    advance(m, s, r.link_slot, s.shift, s.dt)
    stay_outside(address)
    commit(m, s)
    return True


@kernel
def step(address):
    """One step; False if the world stopped."""
    place(address)  # how it moves is for end_step to find out
    return end_step(address)
