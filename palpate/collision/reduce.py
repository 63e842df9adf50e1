"""A patch of contacts as the corners of its hull.

Points that press along one normal with the same friction carry, together, exactly the wrenches that the corners of
their hull carry; more points only slow the solver down and leave it a choice.  So each cluster of points whose normals
agree keeps four of those that touch:
  1  the extreme along a direction fixed in the moving body, so that the choice does not flicker from tick to tick
  2  the farthest from 1
  3  the farthest to the left of the line 1-2, and  4  the farthest to its right, or, if there is none, beyond 3
and the deepest, if it is clearly deeper than these.  Where a patch sticks out far between two of them, as one with five
legs does, that corner stays, too.
What is near and does not touch never takes the place of what does: of those the same choice among all points adds at
most three, where the body may come down next.  Of points above each other, as on both faces of a coin, the lowest is
taken.
"""

import math

from palpate.collision.contacts import load_collision
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add_scaled, cross, dot, get3, get9, put3, rotate, scale, sub

COS_CLUSTER = 0.984807753012208  # normals within 10 degrees
CORNERS = 4
DIRECTIONS = 16
# Parts of a patch's extent: gaps no larger than the smallest (or than none) by this touch, too;
TOUCHING = 1e-5
# a point lies below another if it does by this, so that rounding does not decide;
BELOW = 1e-6
# of points that reach equally far up to this the lowest is taken, of equally low ones the first that was found;
TIE = 1e-4
# what is no farther off a line than this is on it;
ON_LINE = 1e-6
# and what is farther outside four corners than this is missed.  An octagon, the cap of a cylinder, sticks out by 0.15.
STICKS_OUT = 0.2
# No edge of a body is along these.
GENERIC = (0.7181, 0.5437, 0.4341)
GENERIC_2 = (-0.5927, 0.7603, 0.2657)
GAP = 6  # column of Contacts.found


@kernel
def normal_of(found, k):
    return (found[k, 3], found[k, 4], found[k, 5])


@kernel
def across(x, normal):
    """The part of x in the plane of the patch."""
    return add_scaled(x, -dot(x, normal), normal)


@kernel
def extreme(found, member, size, p, along, least, extent):
    """The member farthest from p along a direction, if that is more than `least`; of equally far ones the lowest."""
    best, most, low, tie, below = -1, least, 0.0, 0.0, BELOW * extent
    for i in range(size):
        x = dot(along, sub(get3(found, member[i]), p))
        if x > most + tie or (x > least and x > most - tie and found[member[i], GAP] < low - below):
            best, most, low, tie = i, max(x, most), found[member[i], GAP], TIE * extent
    return best


@kernel
def farthest(found, member, size, p, normal, extent):
    """The member farthest from p in the plane of the patch, if any is off it; of equally far ones the lowest."""
    best, most, low, below = -1, ON_LINE * extent, 0.0, BELOW * extent
    most *= most
    for i in range(size):
        e = across(sub(get3(found, member[i]), p), normal)
        x = dot(e, e)
        if x > most + TIE * most or (x > most - TIE * most and found[member[i], GAP] < low - below):
            best, most, low = i, max(x, most), found[member[i], GAP]
    return best


@kernel
def beside(p, q, normal):
    """The unit vector to the left of the way from p to q."""
    e = cross(normal, sub(q, p))
    return scale(1.0 / math.sqrt(dot(e, e)), e)


@kernel
def sides(found, member, size, p, along, least, extent):
    """`extreme` along a direction and against it."""
    left, right, most, fewest, low_left, low_right = -1, -1, least, -least, 0.0, 0.0
    tie_left, tie_right, tie, below = 0.0, 0.0, TIE * extent, BELOW * extent
    for i in range(size):
        x, gap = dot(along, sub(get3(found, member[i]), p)), found[member[i], GAP]
        if x > most + tie_left or (x > least and x > most - tie_left and gap < low_left - below):
            left, most, low_left, tie_left = i, max(x, most), gap, tie
        elif x < fewest - tie_right or (x < -least and x < fewest + tie_right and gap < low_right - below):
            right, fewest, low_right, tie_right = i, min(x, fewest), gap, tie
    return left, right


@kernel
def span(found, member, size, first, normal, extent):
    """The ring of corners chosen from `first`, counter-clockwise; -1 where there is none."""
    p, least = get3(found, member[first]), ON_LINE * extent
    far = farthest(found, member, size, p, normal, extent)
    if far < 0:
        return first, -1, -1, -1
    q = get3(found, member[far])
    aside = beside(p, q, normal)
    left, right = sides(found, member, size, p, aside, least, extent)
    if (left < 0) == (right < 0):
        return first, right, far, left
    # all on one side: the line is an edge, and the fourth is beyond one of the other two
    begin, end, tip = first, far, left
    if left < 0:
        begin, end, tip, p, q = far, first, right, q, p
    x = get3(found, member[tip])
    one, other = beside(x, q, normal), beside(p, x, normal)
    third = extreme(found, member, size, q, one, least, extent)
    fourth = extreme(found, member, size, p, other, least, extent)
    if third >= 0 and fourth >= 0:
        if dot(one, sub(get3(found, member[third]), q)) > dot(other, sub(get3(found, member[fourth]), p)):
            fourth = -1
        else:
            third = -1
    return (begin, end, third, tip) if third >= 0 else (begin, end, tip, fourth)


@kernel
def mark_beyond(found, mark, member, size, ring, normal, extent):
    """Mark what sticks out of a ring of four."""
    if min(ring[0], ring[1], ring[2], ring[3]) < 0:
        return
    a, b = get3(found, member[ring[0]]), get3(found, member[ring[1]])
    d, e = get3(found, member[ring[2]]), get3(found, member[ring[3]])
    ab, bd, de, ea = beside(b, a, normal), beside(d, b, normal), beside(e, d, normal), beside(a, e, normal)
    p, q, r, t = dot(ab, a), dot(bd, b), dot(de, d), dot(ea, e)
    out = STICKS_OUT * extent
    for i in range(size):
        x = get3(found, member[i])
        if max(dot(ab, x) - p, dot(bd, x) - q, dot(de, x) - r, dot(ea, x) - t) > out:
            for along, at in ((ab, a), (bd, b), (de, d), (ea, e)):
                more = extreme(found, member, size, at, along, out, extent)
                if more >= 0:
                    mark[member[more]] = 2
            return


@kernel
def touching_first(found, member, size, highest):
    """Bring the members whose gaps are not above `highest` to the front; returns how many."""
    n = 0
    for i in range(size):
        if found[member[i], GAP] <= highest:
            member[n], member[i] = member[i], member[n]
            n += 1
    return n


@kernel
def survey(found, member, size, normal):
    """(Deepest member, largest gap, extent: how far the patch reaches from one of its points)."""
    p, most, deepest, highest = get3(found, member[0]), 0.0, 0, found[member[0], GAP]
    for i in range(1, size):
        e, gap = across(sub(get3(found, member[i]), p), normal), found[member[i], GAP]
        most, highest = max(most, dot(e, e)), max(highest, gap)
        if gap < found[member[deepest], GAP]:
            deepest = i
    return deepest, highest, math.sqrt(most)


@kernel
def begin_at(found, member, size, normal, extent, R):
    """The member at which the choice begins, fixed in the body whose axes are R."""
    along = rotate(R, GENERIC)
    if abs(dot(along, normal)) > 0.8:
        along = rotate(R, GENERIC_2)
    return extreme(found, member, size, get3(found, member[0]), across(along, normal), -math.inf, extent)


@shared("void(intp, intp, intp)")
def corners(address, size, link):
    """Mark (2) the corners of the cluster of the first `size` rows of c.member; the choice is fixed in `link`."""
    _, c = load_collision(address)
    found, mark, member = c.found, c.mark, c.member
    if size <= CORNERS:
        for i in range(size):
            mark[member[i]] = 2
        return
    normal = normal_of(found, member[0])
    bottom, highest, extent = survey(found, member, size, normal)
    bottom = member[bottom]
    least, slack, touching = found[bottom, GAP], TOUCHING * extent, size
    if highest > max(least, 0.0) + slack:
        touching = touching_first(found, member, size, max(least, 0.0) + slack)
    first = begin_at(found, member, touching, normal, extent, get9(c.link_R, link))
    ring = span(found, member, touching, first, normal, extent)
    low = math.inf
    for i in ring:
        if i >= 0:
            low = min(low, found[member[i], GAP])
    if low > least + slack:  # none of them is as deep
        mark[bottom] = 2
    for i in ring:
        if i >= 0:
            mark[member[i]] = 2
    mark_beyond(found, mark, member, touching, ring, normal, extent)
    if touching < size:
        for i in span(found, member, size, first, normal, extent):
            if i >= touching:
                mark[member[i]] = 2


@kernel
def next_cluster(found, mark, member, seed, n):
    """Take the points whose normals agree with the seed's; their rows go to `member`."""
    normal, size = normal_of(found, seed), 0
    for k in range(seed, n):
        if mark[k] == 0 and dot(normal, normal_of(found, k)) > COS_CLUSTER:
            mark[k] = 1
            member[size] = k
            size += 1
    return size


@shared("int64(intp, intp)")
def condense(address, n):
    """Keep of the first n points only what may be a corner, when there is no room for more; returns how many.

    The extremes in DIRECTIONS of each cluster and of what touches in it, and the deepest: the corners of the whole are
    among them.
    """
    _, c = load_collision(address)
    found, mark, member = c.found, c.mark, c.member
    c.candidates += n
    for k in range(n):
        mark[k] = 0
    for seed in range(n):
        if mark[seed] == 0:
            size, normal = next_cluster(found, mark, member, seed, n), normal_of(found, seed)
            deepest, _, extent = survey(found, member, size, normal)
            deepest = member[deepest]
            touching = touching_first(found, member, size, max(found[deepest, GAP], 0.0) + TOUCHING * extent)
            u = cross(normal, GENERIC)
            v = cross(normal, u)
            for i in range(DIRECTIONS):
                angle = 2.0 * math.pi * i / DIRECTIONS
                along = add_scaled(scale(math.cos(angle), u), math.sin(angle), v)
                for some in (touching, size):
                    at = extreme(found, member, some, get3(found, deepest), along, 0.0, extent)
                    if at >= 0:
                        mark[member[at]] = 2
            mark[deepest] = 2
    kept = 0
    for k in range(n):
        if mark[k] == 2:
            for r in range(7):
                found[kept, r] = found[k, r]
            for r in range(3):
                c.found_id[3 * kept + r] = c.found_id[3 * k + r]
            kept += 1
    return kept


@shared("void(intp, intp, intp)")
def end_pair(address, link_a, link_b):
    """The points found between two proxies become contacts; what does not fit is counted as lost."""
    _, c = load_collision(address)
    found, mark, member = c.found, c.mark, c.member
    n, row, capacity = c.n_found, c.count, c.gap.shape[0]
    c.n_found = 0
    c.candidates += n
    every = n <= CORNERS or not c.reduce
    if not every:
        for k in range(n):
            mark[k] = 0
        for seed in range(n):
            if mark[seed] == 0:
                corners(address, next_cluster(found, mark, member, seed, n), link_b)
    for k in range(n):
        if every or mark[k] == 2:
            if row == capacity:
                c.lost += 1
                continue
            c.link_a[row], c.link_b[row] = link_a, link_b
            c.shape_a[row], c.shape_b[row] = c.found_id[3 * k], c.found_id[3 * k + 1]
            c.feature[row], c.gap[row] = c.found_id[3 * k + 2], found[k, GAP]
            put3(c.point, row, get3(found, k))
            put3(c.normal, row, normal_of(found, k))
            row += 1
    c.count = row
