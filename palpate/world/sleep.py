"""Free bodies that rest fall asleep: frozen to the bit, at no cost, until something changes.

Who may.  A free body by itself, that no hand pushes and nothing ties, has been slower than REST_M_S, with all its
points and with what takes out penetration, for REST_S; and so have all to which it passes a force: they fall asleep
together, as a group, if what is fixed or placed carries them.  The velocity goes (a micrometre a second), positions and
contact impulses stay.

The neighbours.  What is awake and touches a sleeper meets something that does not move.  That is so while what it does
to the sleeper, the net force and moment, is what it did when that fell asleep, mostly nothing: what a group does not
bear wakes it, within the step, whose impulses are solved again (waking.py).  LOOSE is the tolerance of the solver.  One
ball that rolls is not to keep the heap awake on which it does: a group each of whose loaded patches has friction to
spare (SPARE) stands whatever changes a little, bears changes of a hundredth of a weight (FIRM), and only such a group
sleeps beside what pushes it.  Who has woken by such a change, and not moved, sleeps again at the next look, but no
account is forgotten for that: felt_then less what the awake do is always what a sleeper lacks of its balance.

A group has the number of its lowest link.
"""

import math

from palpate.contact.assemble import tangents
from palpate.contact.islands import join, leader
from palpate.contact.rows import CONTACT
from palpate.conventions import WORLD
from palpate.jit import kernel, shared
from palpate.model.model import FREE
from palpate.spatial.vectors import (
    add,
    add_scaled,
    cross,
    dot,
    get3,
    get6,
    length,
    put3,
    put6,
    scale,
    sub,
    symmetric_times,
)  # fmt: skip
from palpate.world.connections import FREE as UNTIED
from palpate.world.kept import keep_contacts
from palpate.world.state import CONTACTS, load

REST_M_S = 1e-6  # what is slower is at rest
REST_S, LEAST_STEPS = 0.1, 10  # for so long, and so many steps
EVERY = 8  # steps from one look for groups that may sleep to the next
LOOSE, FIRM = 1e-6, 1e-2  # changes of what awake neighbours do that a sleeper takes, in parts of its weight
SPARE = 0.99  # of friction's limit: what uses more of it has nothing to spare
LOADED = 1e-3  # parts of a weight: a contact that carries less decides nothing
ZERO = (0.0, 0.0, 0.0)
# State.verdict of a group
CARRIED, PUSHED, SLIPPING, DISTURBED = 1, 2, 4, 8
FRESH = 2  # State.tired of who has fallen asleep in this step


@kernel
def may_sleep(m, s, i):
    """Whether link i is a free body that moves by itself, and by nothing but contact and its weight."""
    if m.kind[i] != FREE or s.lone[i] == 0 or s.pushed[i] != i or s.guided[i] != 0:
        return False
    for k in range(m.axis_begin[i], m.axis_begin[i] + 6):
        if s.tau[m.axis_v[k]] != 0.0 or s.kp[k] != 0.0 or s.kv[k] != 0.0:
            return False
    return True


@kernel
def weight(m, s, i):
    """Of a link, as an impulse in a step [N s]."""
    return m.mass[i] * s.dt * length((m.gravity[0], m.gravity[1], m.gravity[2]))


@kernel
def moves(m, c, v, i):
    """Whether a point of free link i is faster than REST_M_S under velocities v."""
    j, reach = m.axis_v[m.axis_begin[i]], c.link_size[i, 0]
    w, u = (v[j], v[j + 1], v[j + 2]), (v[j + 3], v[j + 4], v[j + 5])
    return length(u) + reach * length(w) > REST_M_S


@kernel
def count_calm(m, c, r, s):
    """calm of every link; True if any could fall asleep."""
    enough = max(LEAST_STEPS, math.ceil(REST_S / s.dt))
    for b in range(1, s.n_wrenches):
        n, f = get6(s.wrenches, b)
        if dot(n, n) + dot(f, f) > 0.0:
            s.calm[m.body_link[b]] = -1
    for k in range(s.joined_kind.shape[0]):
        if s.joined_kind[k] != UNTIED:
            s.calm[s.joined[2 * k]] = s.calm[s.joined[2 * k + 1]] = -1
    any_calm = False
    for i in range(1, m.parent.shape[0]):
        if s.asleep[i] == 0 and s.lone[i]:
            rests = r.link_slot[i] != 0 and not moves(m, c, s.v_next, i) and not moves(m, c, s.shift, i)
            s.calm[i] = s.calm[i] + 1 if rests and may_sleep(m, s, i) else 0
            s.tired[i] = s.calm[i] >= enough
            any_calm = any_calm or s.tired[i] != 0
        else:
            s.tired[i] = s.asleep[i] != 0
    return any_calm


@kernel
def same_pair(c, i, k):
    return c.link_a[i] == c.link_a[k] and c.link_b[i] == c.link_b[k]


@kernel
def patch_slips(c, r, i, load):
    """Whether contact i and those after it, between the same links, carry more than `load` and use up their friction.

    Together: how points of one patch share its friction is anybody's guess, and some may be at their limit, held by
    others.  False for all but the first of them.
    """
    if i > r.n_kept and same_pair(c, i, i - 1):
        return False
    pressed, limit, across, k = 0.0, 0.0, ZERO, i
    while k < r.n_contacts and same_pair(c, i, k):
        l = get3(r.lam, k)
        t1, t2 = tangents(get3(c.normal, k))
        across = add_scaled(add_scaled(across, l[1], t1), l[2], t2)
        pressed += l[0]
        limit += r.mu[k] * l[0]
        k += 1
    return pressed > load and length(across) >= SPARE * limit


@kernel
def judge(m, c, s, r, i, link, other):
    """What row i, with an impulse, says of the group of `link`."""
    found = 0
    if s.pushed[other] == WORLD:
        found = CARRIED
    elif s.tired[other] == 0:  # it moves, or would be tired soon
        found = PUSHED if s.lone[other] and m.kind[other] == FREE and s.calm[other] == 0 else DISTURBED
    if patch_slips(c, r, i, LOADED * weight(m, s, link)):
        found |= SLIPPING
    return found


@kernel
def find_groups(m, c, r, s):
    """group of all that are tired or asleep and pass forces to each other; the verdict on each, in its leader's row."""
    for i in range(m.parent.shape[0]):
        s.group[i] = s.asleep[i] if s.asleep[i] else i
        s.verdict[i] = CARRIED if s.asleep[i] == i and i else 0
        if s.asleep[i] == i and i and s.bears[i] < FIRM * weight(m, s, i):
            s.verdict[i] |= SLIPPING
    for i in range(r.n_kept, r.n_contacts):
        a, b = c.link_a[i], c.link_b[i]
        if r.kind[i] == CONTACT and dot(get3(r.lam, i), get3(r.lam, i)) > 0.0 and s.tired[a] and s.tired[b]:
            joined = s.verdict[leader(s.group, a)] | s.verdict[leader(s.group, b)]
            join(s.group, a, b)
            s.verdict[leader(s.group, a)] = joined
    for i in range(r.n_kept, r.n_contacts):
        if r.kind[i] != CONTACT or dot(get3(r.lam, i), get3(r.lam, i)) == 0.0:
            continue
        for side in range(2):
            link, other = (c.link_b[i], c.link_a[i]) if side else (c.link_a[i], c.link_b[i])
            if s.tired[link]:
                found = judge(m, c, s, r, i, link, other)
                if found & CARRIED and c.still[other] == 0:  # what is placed has moved
                    found = DISTURBED
                s.verdict[leader(s.group, link)] |= found


@kernel
def accepted(verdict):
    """Whether a group may fall asleep."""
    if not verdict & CARRIED or verdict & DISTURBED:
        return False
    return not (verdict & PUSHED and verdict & SLIPPING)


@kernel
def freeze(m, w, c, s, i):
    """Link i stays where it is, with no velocity; its kinetic energy goes as contact takes it."""
    j, n = m.axis_v[m.axis_begin[i]], m.q_begin[i]
    if s.keeps_ledger:
        spin, u = (s.v_next[j], s.v_next[j + 1], s.v_next[j + 2]), (s.v_next[j + 3], s.v_next[j + 4], s.v_next[j + 5])
        I = (s.spin[i, 0], s.spin[i, 1], s.spin[i, 2], s.spin[i, 3], s.spin[i, 4], s.spin[i, 5])
        u = add(u, cross(spin, get3(m.com, i)))
        s.ledger[CONTACTS] -= 0.5 * (dot(spin, symmetric_times(I, spin)) + m.mass[i] * dot(u, u))
    for k in range(j, j + 6):
        s.v_next[k], s.shift[k], s.a[k] = 0.0, 0.0, 0.0
    for k in range(n, n + 7):
        s.q_next[k] = s.q[k]
    note_place(m, s, i)
    still_motion(m, w, i)
    c.still[i], s.tired[i] = 1, FRESH
    s.n_asleep += 1


@kernel
def note_place(m, s, i):
    """q_rest: where link i is."""
    for k in range(m.q_begin[i], m.q_begin[i] + 7):
        s.q_rest[k] = s.q[k]


@kernel
def still_motion(m, w, i):
    """What `velocities` would write of a free link without velocity."""
    put6(w.V, i, ZERO, ZERO)
    put3(w.drift, i, ZERO)
    put6(w.A, i, ZERO, (-m.gravity[0], -m.gravity[1], -m.gravity[2]))


@kernel
def add_felt(w, c, i, l, link, x):
    """What contact i with impulse l does to `link`, (moment about its origin, impulse), added to row `link` of x."""
    n = get3(c.normal, i)
    t1, t2 = tangents(n)
    f = add_scaled(add_scaled(scale(l[0], n), l[1], t1), l[2], t2)
    f = f if link == c.link_b[i] else scale(-1.0, f)
    moment, total = get6(x, link)
    moment = add(moment, cross(sub(get3(c.point, i), get3(w.origin, link)), f))
    put6(x, link, moment, add(total, f))


@kernel
def note_felt(w, c, r, s, kept):
    """felt_then: of the FRESH what the awake do to them; of who slept, no longer what the FRESH do.

    kept  contacts that were kept before
    """
    for i in range(kept, r.n_contacts):
        l = get3(r.lam, i)
        for side in range(2):
            link, other = (c.link_b[i], c.link_a[i]) if side else (c.link_a[i], c.link_b[i])
            if i >= r.n_kept and s.tired[link] == FRESH:
                add_felt(w, c, i, l, link, s.felt_then)
            elif i < r.n_kept and s.asleep[link] and s.tired[link] != FRESH and s.tired[other] == FRESH:
                add_felt(w, c, i, scale(-1.0, l), link, s.felt_then)


@kernel
def list_awake(m, w, c, s):
    """Whom kinematics and dynamics look at: not what sleeps, nor what is placed and has not moved."""
    w.awake[0] = 0
    for i in range(1, m.parent.shape[0]):
        w.awake[i] = s.asleep[i] == 0 and c.still[i] == 0
        w.awake[0] += w.awake[i]


@kernel
def list_still(m, w, c):
    """The others."""
    w.awake[0] = 0
    for i in range(1, m.parent.shape[0]):
        w.awake[i] = c.still[i]
        w.awake[0] += w.awake[i]


@kernel
def list_all(m, w):
    for i in range(1, m.parent.shape[0]):
        w.awake[i] = 1
    w.awake[0] = m.parent.shape[0] - 1


@shared("void(intp)")
def fall_asleep(address):
    """At the end of a step, before positions: whoever may falls asleep."""
    m, w, _, c, r, s = load(address)
    for i in range(1, m.parent.shape[0]):
        if c.still[i] == 0 and m.kind[i] == FREE and s.pushed[i] != i:  # placed
            note_place(m, s, i)
    if count_calm(m, c, r, s) and s.tick % EVERY == 0:
        find_groups(m, c, r, s)
        asleep, kept = s.n_asleep, c.kept
        for i in range(1, m.parent.shape[0]):
            group = leader(s.group, i)
            if s.tired[i] and accepted(s.verdict[group]):
                if s.asleep[i] == 0:
                    freeze(m, w, c, s, i)
                s.asleep[i] = group
                s.bears[i] = (LOOSE if s.verdict[group] & SLIPPING else FIRM) * weight(m, s, i)
        if s.n_asleep > asleep:
            keep_contacts(c, r, s)
            note_felt(w, c, r, s, kept)
            list_awake(m, w, c, s)
