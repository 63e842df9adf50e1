"""Whatever changes wakes who sleeps, in the step in which it does (sleep.py).

Before a step: coordinates, velocities, torques, wrenches and ties of sleepers, gravity, friction and the step itself,
compared with what they were; bodies that are placed, if they have moved.  All of a group wake.  In a step: what the
awake do to them.  If that is little (MUCH), only who feels it wakes, and hands it on to its neighbours when the step is
solved again; after some TRIES the group does.  Who wakes has contacts that begin with the impulses it fell asleep with,
so nothing jolts.
"""

from palpate.conventions import WORLD
from palpate.jit import kernel, shared
from palpate.model.model import FREE
from palpate.spatial.vectors import add, dot, get3, get6, get9, put6, rotate_back, sub
from palpate.world.connections import FREE as UNTIED
from palpate.world.kept import let_go_contacts, put_aside
from palpate.world.sleep import add_felt, list_awake, still_motion
from palpate.world.state import load

WAKING = 3  # State.tired of who wakes by itself
MUCH = 100.0  # times what it bears
TRIES = 20  # each is a solve with a few bodies; a heap that wakes takes a hundred with all of them
ZERO = (0.0, 0.0, 0.0)


@kernel
def wake(m, w, c, s, i):
    """Link i, at rest, with what a step without contact does to it as v_next: it may be under way already."""
    s.asleep[i], c.still[i] = 0, 0
    s.n_asleep -= 1
    put6(s.felt_then, i, ZERO, ZERO)
    j, g = m.axis_v[m.axis_begin[i]], rotate_back(get9(w.R, i), (m.gravity[0], m.gravity[1], m.gravity[2]))
    for k in range(3):
        s.a[j + k], s.a[j + 3 + k] = 0.0, g[k]
        s.v_next[j + k], s.v_next[j + 3 + k] = 0.0, s.dt * g[k]


@kernel
def wake_group(m, w, c, s, group):
    """All of a group; what they do to others is nothing."""
    for i in range(1, m.parent.shape[0]):
        if s.asleep[i] == group:
            wake(m, w, c, s, i)
            s.calm[i] = 0


@kernel
def wake_one(m, w, c, r, s, link):
    """A link, out of its group: what it does to its neighbours is now what one of the awake does."""
    group, lowest = s.asleep[link], 0
    wake(m, w, c, s, link)
    for i in range(c.kept):
        a, b = c.link_a[i], c.link_b[i]
        other = b if a == link else a if b == link else WORLD
        if s.asleep[other]:
            add_felt(w, c, i, get3(r.lam, i), other, s.felt_then)
    for i in range(m.parent.shape[0] - 1, 0, -1):
        lowest = i if s.asleep[i] == group else lowest
    for i in range(lowest, m.parent.shape[0] if lowest else 0):
        if s.asleep[i] == group:
            s.asleep[i] = lowest


@kernel
def differ(x, y, begin, end):
    for k in range(begin, end):
        if x[k] != y[k]:
            return True
    return False


@kernel
def see(seen, k, x):
    """Note number k of what all depend on; whether it is another than before."""
    if seen[k] == x:
        return False
    seen[k] = x
    return True


@kernel
def laws_changed(m, c, s):
    """Whether gravity, the step, the margin or a material has changed since the last time."""
    new, n, seen = False, s.mu_static.shape[0], s.seen
    for k in range(3):
        new = see(seen, k, m.gravity[k]) or new
    new = see(seen, 3, s.dt) or new
    new = see(seen, 4, c.margin) or new
    new = see(seen, 5, float(s.full)) or new
    for a in range(n):
        for b in range(n):
            at = 6 + 3 * (n * a + b)
            new = see(seen, at, s.mu_static[a, b]) or new
            new = see(seen, at + 1, s.mu_sliding[a, b]) or new
            new = see(seen, at + 2, s.restitution[a, b]) or new
    return new


@kernel
def disturbed(m, s, i):
    """Whether somebody has moved sleeper i, or acts on its joint."""
    n, j = m.q_begin[i], m.axis_v[m.axis_begin[i]]
    if differ(s.q, s.q_rest, n, n + 7) or s.guided[i] != 0:
        return True
    for k in range(j, j + 6):
        if s.v[k] != 0.0 or s.tau[k] != 0.0:
            return True
    return False


@kernel
def all_undisturbed(m, w, s):
    """Whether all sleep, or are placed, as they did: the common case, by sums over whole arrays, several at a time."""
    if w.awake[0] != 0 or s.n_wrenches != 0 or s.stale != 0:
        return False
    changes = 0
    for k in range(m.nq):
        changes += s.q[k] != s.q_rest[k]
    for k in range(m.nv):
        changes += (s.v[k] != 0.0) + (s.tau[k] != 0.0)
    for i in range(1, m.parent.shape[0]):
        changes += ((s.pushed[i] == i) != (s.asleep[i] != 0)) + (s.guided[i] != 0)
    for k in range(s.joined_kind.shape[0]):
        changes += s.joined_kind[k] != UNTIED
    return changes == 0


@kernel
def wake_touching(m, w, c, s, link):
    """Whoever slept on a link that is placed, and has moved."""
    for i in range(c.kept):
        a, b = c.link_a[i], c.link_b[i]
        other = b if a == link else a if b == link else WORLD
        if s.asleep[other]:
            wake_group(m, w, c, s, s.asleep[other])


@kernel
def look_at_links(m, w, c, s):
    """Wakes sleepers that were disturbed or lie on what moved; True if anyone woke, came to a stand or moved."""
    changed = False
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] == FREE and s.pushed[i] != i:  # placed
            if s.asleep[i]:
                wake_group(m, w, c, s, s.asleep[i])
            rests = not differ(s.q, s.q_rest, m.q_begin[i], m.q_begin[i] + 7)
            if c.still[i] != rests:
                c.still[i], changed = rests, True
                if not rests:
                    wake_touching(m, w, c, s, i)
        elif s.asleep[i] and disturbed(m, s, i):
            wake_group(m, w, c, s, s.asleep[i])
            changed = True
        elif s.asleep[i] == 0 and c.still[i]:  # is placed no longer
            c.still[i], changed = 0, True
    return changed


@shared("void(intp)")
def rouse(address):
    """Before a step, as often as one likes: who was disturbed wakes, and the awake are listed."""
    m, w, _, c, r, s = load(address)
    c.still[WORLD] = 1
    asleep, changed = s.n_asleep, laws_changed(m, c, s)
    if not changed and all_undisturbed(m, w, s):
        return
    if changed and asleep:
        for i in range(1, m.parent.shape[0]):
            if s.asleep[i] == i:
                wake_group(m, w, c, s, i)
    changed = look_at_links(m, w, c, s) or changed
    for b in range(1, s.n_wrenches if s.n_asleep else 0):
        n, f = get6(s.wrenches, b)
        i = m.body_link[b]
        if s.asleep[i] and dot(n, n) + dot(f, f) > 0.0:
            wake_group(m, w, c, s, s.asleep[i])
    for k in range(2 * s.joined_kind.shape[0] if s.n_asleep else 0):
        if s.joined_kind[k // 2] != UNTIED and s.asleep[s.joined[k]]:
            wake_group(m, w, c, s, s.asleep[s.joined[k]])
    if changed or s.n_asleep < asleep:
        let_go_contacts(c, r, s)
        list_awake(m, w, c, s)


@kernel
def remind(m, w, c, r, s):
    """After a restore, with all links placed: what is not kept with a state, of those who sleep in it."""
    for i in range(1, m.parent.shape[0]):
        if s.asleep[i]:
            still_motion(m, w, i)
            j, n = m.axis_v[m.axis_begin[i]], m.q_begin[i]
            for k in range(7):
                s.q_next[n + k] = s.q[n + k]
            for k in range(6):
                s.a[j + k], s.v_next[j + k] = 0.0, 0.0
    for i in range(r.n_kept):
        put_aside(r, i)
    list_awake(m, w, c, s)
    c.anew, s.stale = 1, 0


@shared("int64(intp)")
def struck_by_what_is_placed(address):
    """After `detect`: what is placed, has moved and now touches a sleeper wakes it; True: look again."""
    m, w, _, c, r, s = load(address)
    asleep = s.n_asleep
    for i in range(c.kept, c.count):
        a, b = c.link_a[i], c.link_b[i]
        for side in range(2):
            link, other = (b, a) if side else (a, b)
            if s.asleep[link] and s.pushed[other] == WORLD:
                wake_group(m, w, c, s, s.asleep[link])
    if s.n_asleep < asleep:
        let_go_contacts(c, r, s)
        list_awake(m, w, c, s)
    return s.n_asleep < asleep


@shared("int64(intp, intp)")
def struck_by_the_awake(address, tries):
    """After the solve: those to whom the awake do what they do not bear wake; True: look and solve again."""
    m, w, _, c, r, s = load(address)
    asleep = s.n_asleep
    for i in range(1, m.parent.shape[0]):
        put6(s.felt, i, ZERO, ZERO)
    for i in range(r.n_kept, r.n_contacts):
        l = add(get3(r.lam, i), get3(r.blow, i)) if r.n_rounds else get3(r.lam, i)
        for side in range(2):
            link = c.link_b[i] if side else c.link_a[i]
            if s.asleep[link]:
                add_felt(w, c, i, l, link, s.felt)
    for i in range(1, m.parent.shape[0]):
        if s.asleep[i]:
            (n, f), (n_then, f_then) = get6(s.felt, i), get6(s.felt_then, i)
            n, f, bears, arm = sub(n, n_then), sub(f, f_then), s.bears[i], c.link_size[i, 0]
            change = max(dot(f, f), dot(n, n) / (arm * arm))
            if change > (MUCH * bears) ** 2 or (change > bears * bears and tries > TRIES):
                wake_group(m, w, c, s, s.asleep[i])
            elif change > bears * bears:
                s.tired[i] = WAKING
    for i in range(1, m.parent.shape[0]):
        if s.tired[i] == WAKING and s.asleep[i]:
            wake_one(m, w, c, r, s, i)
    if s.n_asleep < asleep:
        let_go_contacts(c, r, s)
        list_awake(m, w, c, s)
    return s.n_asleep < asleep


@shared("void(intp)")
def wake_all(address):
    m, w, _, c, r, s = load(address)
    for i in range(1, m.parent.shape[0]):
        if s.asleep[i]:
            wake_group(m, w, c, s, s.asleep[i])
    if s.sleeps:
        let_go_contacts(c, r, s)
        list_awake(m, w, c, s)
