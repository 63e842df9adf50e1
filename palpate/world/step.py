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
from palpate.contact.project import project_positions
from palpate.contact.rows import (
    CONTACT,
)  # fmt: skip
from palpate.contact.solve import solve
from palpate.contact.table import build_table, mark_links, spread
from palpate.contact.warm import contact_key, recall, remember
from palpate.contact.watched import watch
from palpate.conventions import WORLD
from palpate.dynamics.aba import articulated
from palpate.dynamics.kinematics import link_twist, positions, velocities
from palpate.jit import kernel, shared
from palpate.model.model import FREE
from palpate.spatial.vectors import add, cross, get3, get6, is_finite, put3, sub
from palpate.world.account import account, note_start
from palpate.world.advance import advance
from palpate.world.blows import add_blows, blows
from palpate.world.connections import connection_rows
from palpate.world.fast import leave_out_what_flies_past, stay_outside
from palpate.world.flight import fly
from palpate.world.gaps import closing, contact_slop, parting
from palpate.world.joints import joint_rows, joint_torques
from palpate.world.sleep import fall_asleep, list_all, list_still
from palpate.world.state import (
    FRICTION_FAULT,
    VELOCITY_FAULT,
    load,
)  # fmt: skip
from palpate.world.waking import remind, rouse, struck_by_the_awake, struck_by_what_is_placed, wake_all

FASTEST_M_S = 1.0  # penetration is taken out no faster than this
FASTEST = 1e6  # [m/s, rad/s]: what is faster has diverged
FAILED, SOLVED, WOKEN = range(3)  # what became of a solve: a law failed, impulses, or somebody woke by them


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
def pushed_by_contact(s, link):
    """The link that a contact with this one acts on; nothing moves what sleeps while it does (waking.py)."""
    return WORLD if s.asleep[link] else s.pushed[link]


@kernel
def contact_rows(m, w, g, c, r, s):
    """A row for each contact, in their order, with the impulses of the last step."""
    dt = s.dt
    for i in range(c.kept, c.count):
        a, b = pushed_by_contact(s, c.link_a[i]), pushed_by_contact(s, c.link_b[i])
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
            if r.elastic[row]:
                free = in_frame(n, t1, t2, relative_motion(m, w, a, b, point, s.v_next))
                put3(r.forced, row, sub(free, slip))
            if not is_friction(mu):
                s.fault, s.fault_at = FRICTION_FAULT, i
                return
        r.mu[row] = mu
        slop = contact_slop(g, c, i)
        r.offset[row, 0] = closing(gap, slop, dt)
        r.push[row, 0] = min(parting(gap, slop, dt), FASTEST_M_S)
    r.n_contacts = r.n_rows


@shared("void(intp)")
def prepare_rows(address):
    """Slots, table and blocks of the rows there are."""
    m, w, _, _, r, s = load(address)
    mark_links(m, r)
    number_slots(r)
    build_table(m, w, s.v_next, r)
    own_blocks(r)


@shared("void(intp, intp)")
def spread_impulses(address, to_shift):
    """The impulses on the slots to all joints: into v_next, or into shift."""
    m, w, _, _, r, s = load(address)
    spread(m, w, r, s.shift if to_shift else s.v_next)


@kernel
def solve_rows(address, r, s, tries):
    """Impulses; adds their effect to v_next, and what takes out penetration to shift.  SOLVED, FAILED or WOKEN."""
    prepare_rows(address)
    if not blows(address):
        return FAILED
    watch(r)
    find_islands(r)
    solve(s.rows, 1)
    if s.n_asleep and struck_by_the_awake(address, tries):
        return WOKEN
    remember(r)
    if r.n_rounds:
        add_blows(r)
    spread_impulses(address, 0)
    if project_positions(s.rows):
        spread_impulses(address, 1)
    return SOLVED


@kernel
def clear_rows(m, r):
    for i in range(m.parent.shape[0]):
        r.link_slot[i] = 0
    r.n_rows, r.n_contacts, r.n_slots, r.n_islands = r.n_kept, r.n_kept, 1, 0
    r.n_elastic, r.n_rounds, r.n_watched = 0, 0, 0
    r.residual, r.relative, r.speed = 0.0, 0.0, 0.0
    r.hashed = 0
    r.sweeps, r.newton, r.admm, r.multi_roots, r.ran_out = 0, 0, 0, 0, 0


@kernel
def commit(m, s):
    """The next state becomes the present one."""
    for j in range(m.nv):
        s.v[j] = s.v_next[j]
    for j in range(m.nq):
        s.q[j] = s.q_next[j]
    next_tick(s)


@kernel
def next_tick(s):
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
def free_motion(address):
    """The articulated inertias at the beginning of the step, before there is any: what a hand feels."""
    m, w, _, _, _, s = load(address)
    joint_torques(m, s, s.q, s.v, s.dt)
    articulated(m, s.torque, s.armature, s.wrenches[: s.n_wrenches], w, s.a)


@shared("void(intp)")
def place(address):
    """Where everything is."""
    m, w, _, c, r, s = load(address)
    if s.sleeps:
        rouse(address)
        if s.stale:
            list_all(m, w)
    if w.awake[0] == 0:
        return
    positions(m, s.q, w)
    place_links(m, w, c)
    if s.sleeps and s.stale:
        list_still(m, w, c)
        free_motion(address)
        remind(m, w, c, r, s)


@shared("void(intp)")
def begin_step(address):
    """Where everything is and how it moves: what hands and controllers read before they push."""
    m, w, _, _, _, s = load(address)
    place(address)
    velocities(m, s.v, w)


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


@kernel
def sleep_on(m, c, r, s):
    """A step of a world in which all sleep."""
    clear_rows(m, r)
    c.count = c.candidates = c.kept
    c.pairs, r.n_warm = 0, r.n_kept
    next_tick(s)


@kernel
def touch(address, m, c, r, s):
    """Free motion, contacts and their impulses, again for as long as they wake somebody; False if a law failed."""
    lost, flown, tries = c.lost, False, 0
    while True:
        c.lost = lost
        tries += 1
        detect(s.collision, s.full)
        if s.n_asleep and struck_by_what_is_placed(address):
            continue
        if not flown:  # who wakes later has fallen already (waking.py)
            if s.keeps_ledger:
                note_start(address)
            fly(address)
            flown = True
        leave_out_what_flies_past(address)
        if not put_rows(address):
            return False
        for j in range(m.nv):
            s.shift[j] = 0.0
        if r.n_rows > r.n_kept:
            done = solve_rows(address, r, s, tries)
        elif s.n_asleep and struck_by_the_awake(address, tries):  # who leaned on them is gone
            done = WOKEN
        else:
            r.n_warm, done = r.n_kept, SOLVED
        if done != WOKEN:
            return done == SOLVED


@shared("int64(intp)")
def move(address):
    """The rest of a step, of those who are awake; False as `end_step`."""
    m, w, _, c, r, s = load(address)
    if s.n_asleep and w.awake[0] == 0 and s.keeps_ledger != 1:
        sleep_on(m, c, r, s)
        return True
    if not touch(address, m, c, r, s):
        return False
    for j in range(m.nv):
        s.shift[j] += s.v_next[j]
    s.fault_at = diverging(m, s)
    if s.fault_at >= 0:
        s.wrenches[:, :] = 0.0  # they were for this step, and what is left of it must not spoil the next
        wake_all(address)
        s.n_wrenches, r.n_warm = 0, 0
        return False
    if s.keeps_ledger:
        account(address)
    if s.sleeps:
        fall_asleep(address)
    advance(m, s, r.link_slot, s.shift, s.dt)
    stay_outside(address)
    commit(m, s)
    return True


@shared("int64(intp)")
def end_step(address):
    """The rest; False, with the last good state kept and FAULT set, if a law fails or the next is not finite."""
    if load(address)[5].n_asleep:  # hands and controllers have acted
        rouse(address)
    return move(address)


@kernel
def step(address):
    """One step; False if the world stopped."""
    place(address)  # how it moves is for the rest to find out
    return move(address)
