"""Motion within a step: when two shapes that move first come near.  Conservative advancement: Mirtich 1996.

Each link has a row in Contacts.move, its motion in the step: the path of its centre of mass, straight, and the turn
about it, steady, both done up to a fraction t.  At a time tau of 0 .. 1 two shapes are `gap` apart along n.  From
there on they close along n by no more than

    rate = n . (d_a - d_b) + |turn_a| reach_a + |turn_b| reach_b          per unit of tau

so that nothing can happen for another gap / rate.  d: path of the centre, reach: how far the shape is from it.  That
holds for convex shapes; a mesh may be met elsewhere than where it is nearest, and closes by up to |d_a - d_b|.
"""

import math

from palpate.collision.broad import excludes
from palpate.collision.contacts import FRACTION, load_collision
from palpate.collision.detect import look_at_pair, plane_in_world
from palpate.collision.tables import MESH, PLANE
from palpate.jit import kernel, shared
from palpate.spatial.quaternions import quaternion_exp, quaternion_matrix
from palpate.spatial.vectors import add, add_scaled, compose, dot, get3, get9, length, put3, put9, rotate, scale, sub

# Motion of less than this part of a body's smallest half edge leaves it on its own side of everything it meets.
HARMLESS = 0.5
# A body is held this part of the margin before what it would hit: there the next step sees it coming.
HELD = 0.1
# What moves no nearer than this part of the margin flies past.
PAST = 0.02
# What is already near may sink by this part of the thinner of the two before it is held.
SINKS = 0.2
NEVER = 2.0
ROUNDS = 4
ITERATIONS = 40


@kernel
def part(move, link, k):
    return (move[link, k], move[link, k + 1], move[link, k + 2])


@kernel
def put_pose(c, link, R, p, tau):
    """Where a link that began at R, p is at tau."""
    t, com = min(tau, c.move[link, FRACTION]), part(c.move, link, 0)
    x, y, z = scale(t, part(c.move, link, 6))
    w, x, y, z = quaternion_exp(x, y, z)
    S = compose(R, quaternion_matrix(w, x, y, z))
    centre = add_scaled(add(p, rotate(R, com)), t, part(c.move, link, 3))
    put9(c.link_R, link, S)
    put3(c.link_p, link, sub(centre, rotate(S, com)))


@kernel
def reach_of(g, c, shape):
    """How far a shape is from the centre of mass of its link."""
    e = sub(get3(g.centre, shape), part(c.move, g.link[shape], 0))
    return length(e) + g.radius[shape]


@kernel
def half_of(g, shape):
    """Half of the thinnest way through a shape; through a plane there is none."""
    if g.kind[shape] == PLANE:
        return math.inf
    return min(g.own_half[shape, 0], g.own_half[shape, 1], g.own_half[shape, 2])


@kernel
def advance_pair(address, g, c, a, b, limit, near, sinks):
    """The first tau below `limit` at which shapes a and b come as near as `near`, or NEVER; moves their links."""
    i, j, margin = g.link[a], g.link[b], c.margin
    R, p, S, q = get9(c.link_R, i), get3(c.link_p, i), get9(c.link_R, j), get3(c.link_p, j)
    d, e, turn = part(c.move, i, 3), part(c.move, j, 3), 0.0
    for side in range(2):
        link, shape = (j, b) if side else (i, a)
        angle = length(part(c.move, link, 6))
        if angle > 0.0:
            turn += angle * reach_of(g, c, shape)
    most, tau = length(sub(d, e)) + turn, 0.0
    for k in range(ITERATIONS):
        if k > 0:
            put_pose(c, i, R, p, tau)
            put_pose(c, j, S, q, tau)
        c.margin = margin + most * (limit - tau)
        at = look_at_pair(address, g, c, a, b)
        if at < 0:
            return NEVER
        gap, n = c.found[at, 6], (c.found[at, 3], c.found[at, 4], c.found[at, 5])
        if k == 0 and gap < margin:
            near = min(near, gap - sinks * min(half_of(g, a), half_of(g, b)))
        if gap <= near + PAST * margin:
            return tau
        end, u = limit, (0.0, 0.0, 0.0)
        if tau < c.move[i, FRACTION]:  # what has come to its end stays there
            end, u = min(end, c.move[i, FRACTION]), d
        if tau < c.move[j, FRACTION]:
            end, u = min(end, c.move[j, FRACTION]), sub(u, e)
        rate = (length(u) if MESH in (g.kind[a], g.kind[b]) else dot(n, u)) + turn
        tau = tau + (gap - near) / rate if rate * (end - tau) > gap - near else end
        if tau >= limit:
            return NEVER
    return tau


@shared("float64(intp, intp, intp, float64, float64, float64)")
def first_touch(address, a, b, limit, near, sinks):
    """`advance_pair`, with everything left as it was."""
    g, c = load_collision(address)
    i, j, margin, lost = g.link[a], g.link[b], c.margin, c.lost
    R, p, S, q = get9(c.link_R, i), get3(c.link_p, i), get9(c.link_R, j), get3(c.link_p, j)
    tau = advance_pair(address, g, c, a, b, limit, near, sinks)
    put9(c.link_R, i, R)
    put3(c.link_p, i, p)
    put9(c.link_R, j, S)
    put3(c.link_p, j, q)
    c.margin, c.lost = margin, lost
    return tau


@kernel
def fly_by(address, a, b):
    """Whether shapes a and b, a little apart, do not meet on their ways."""
    return first_touch(address, a, b, 1.0, 0.0, 0.0) >= 1.0


@kernel
def in_the_way(g, c, i, k):
    """Whether what proxy i sweeps may meet proxy k: balls around the links, moved along their paths."""
    link, other = g.proxy_link[i], g.proxy_link[k]
    x = add(get3(c.link_p, link), rotate(get9(c.link_R, link), part(c.move, link, 0)))
    y, r = add(x, part(c.move, link, 3)), c.link_size[link, 0] + length(part(c.move, link, 0)) + c.margin
    if g.kind[g.proxy_begin[k]] == PLANE:
        n, offset = plane_in_world(g, c, g.proxy_begin[k])
        return min(dot(n, x), dot(n, y)) - offset < r or c.move[other, FRACTION] > 0.0
    for m in range(3):
        ahead = c.move[other, 3 + m]
        slack = r + (length(part(c.move, other, 6)) * c.link_size[other, 0] if c.move[other, FRACTION] > 0.0 else 0.0)
        if max(x[m], y[m]) + slack < c.low[k, m] + min(ahead, 0.0) or min(x[m], y[m]) - slack > c.high[k, m] + max(
            ahead, 0.0
        ):
            return False
    return True


@kernel
def hold_proxies(address, g, c, i, k):
    """Shorten the motion of proxies i and k to where they meet; whether that was before their ends."""
    link, other, near = g.proxy_link[i], g.proxy_link[k], HELD * c.margin
    held = False
    for a in range(g.proxy_begin[i], g.proxy_end[i]):
        for b in range(g.proxy_begin[k], g.proxy_end[k]):
            limit = c.move[link, FRACTION]
            if c.fast[other]:
                limit = max(limit, c.move[other, FRACTION])
            first, second = (a, b) if a < b else (b, a)
            tau = first_touch(address, first, second, limit, near, SINKS)
            if tau < limit:
                held = True
                c.move[link, FRACTION] = min(c.move[link, FRACTION], tau)
                if c.fast[other]:
                    c.move[other, FRACTION] = min(c.move[other, FRACTION], tau)
    return held


@shared("int64(intp)")
def hold_back(address):
    """Shorten the motion of links that are fast, c.fast, so that none passes through anything; how many are held.

    What is stopped early may be met by what was to come behind it: so until nothing changes, or a few times.
    """
    g, c = load_collision(address)
    n = g.proxy_link.shape[0]
    for _ in range(ROUNDS):
        held = 0
        for i in range(n - g.n_planes):
            if c.fast[g.proxy_link[i]] == 0:
                continue
            for k in range(n):
                link, other = g.proxy_link[i], g.proxy_link[k]
                if (
                    link == other
                    or (c.fast[other] and k < i)
                    or excludes(g.excluded_begin, g.excluded, min(i, k), max(i, k))
                ):
                    continue
                if in_the_way(g, c, i, k) and hold_proxies(address, g, c, i, k):
                    held += 1
        if held == 0:
            return 0
    return held
