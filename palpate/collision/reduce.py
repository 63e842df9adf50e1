"""A patch of contacts as the corners of its hull.

Points that press along one normal with the same friction carry, together, exactly the wrenches that the corners of
their hull carry; more points only slow the solver down and leave it a choice.  So each cluster of points whose normals
agree keeps at most four:
  1  the extreme along a direction fixed in the moving body, so that the choice does not flicker from tick to tick
  2  the farthest from 1
  3  the farthest to the left of the line 1-2, and  4  the farthest to its right
unless a fifth is clearly deeper than these: then it is the first, and the others are chosen from it.
"""

import math

from palpate.collision.contacts import CANDIDATES, COUNT, FOUND, LOST, REDUCE, load_collision
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add_scaled, cross, dot, get3, get9, put3, rotate, scale, sub

COS_CLUSTER = 0.984807753012208  # normals within 10 degrees
CORNERS = 4
DIRECTIONS = 16
# A point this much deeper than the corners is a bump and not the noise of a flat patch [m].
BUMP = 1e-4
# Of two points equally good up to this the one found first is taken, so that rounding does not decide.
TIE = 1e-6
# No edge of a body is along these.
GENERIC = (0.7181, 0.5437, 0.4341)
GENERIC_2 = (-0.5927, 0.7603, 0.2657)
GAP = 6  # column of Contacts.found


@kernel
def normal_of(found, k):
    return (found[k, 3], found[k, 4], found[k, 5])


@kernel
def extreme(found, member, size, along):
    best, value = 0, -math.inf
    for i in range(size):
        x = dot(along, get3(found, member[i]))
        if x > value + TIE:
            best, value = i, x
    return best


@kernel
def swap(member, i, j):
    member[i], member[j] = member[j], member[i]


@kernel
def span(found, member, size, first, normal):
    """Bring the corners chosen from `first` to the front of `member`; returns how many."""
    swap(member, 0, first)
    p = get3(found, member[0])
    best, far = 0, TIE * TIE
    for i in range(1, size):
        e = sub(get3(found, member[i]), p)
        if dot(e, e) > far + TIE * far:
            best, far = i, dot(e, e)
    if best == 0:
        return 1
    swap(member, 1, best)
    line = cross(normal, sub(get3(found, member[1]), p))  # to the left of the line, times its length
    left, right, most, least = 0, 0, TIE * far, -TIE * far
    for i in range(2, size):
        x = dot(line, sub(get3(found, member[i]), p))
        if x > most + TIE * far:
            left, most = i, x
        if x < least - TIE * far:
            right, least = i, x
    n = 2
    if left:
        swap(member, n, left)
        if right == n:  # the swap moved it
            right = left
        n += 1
    if right:
        swap(member, n, right)
        n += 1
    return n


@shared("int64(intp, intp, intp)")
def corners(address, size, link):
    """Bring the corners of a cluster to the front of c.member; the choice is fixed in `link`.  Returns how many."""
    _, c = load_collision(address)
    if size <= CORNERS:
        return size
    found, member = c.found, c.member
    normal, R = normal_of(found, member[0]), get9(c.link_R, link)
    along = rotate(R, GENERIC)
    if abs(dot(along, normal)) > 0.8:
        along = rotate(R, GENERIC_2)
    first = extreme(found, member, size, add_scaled(along, -dot(along, normal), normal))
    deepest = 0
    for i in range(1, size):
        if found[member[i], GAP] < found[member[deepest], GAP]:
            deepest = i
    bottom = member[deepest]
    n = 0
    for _ in range(2):
        n = span(found, member, size, first, normal)
        for i in range(n):
            if found[member[i], GAP] < found[bottom, GAP] + BUMP:
                return n
        for i in range(size):  # none of them is as deep: begin with the deepest
            if member[i] == bottom:
                first = i
    return n


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

    The extremes in DIRECTIONS of each cluster, and its deepest: the corners of the whole are among them.
    """
    _, c = load_collision(address)
    found, mark, member = c.found, c.mark, c.member
    c.count[CANDIDATES] += n
    for k in range(n):
        mark[k] = 0
    for seed in range(n):
        if mark[seed] == 0:
            size, deepest = next_cluster(found, mark, member, seed, n), 0
            u = cross(normal_of(found, seed), GENERIC)
            v = cross(normal_of(found, seed), u)
            for i in range(DIRECTIONS):
                angle = 2.0 * math.pi * i / DIRECTIONS
                along = add_scaled(scale(math.cos(angle), u), math.sin(angle), v)
                mark[member[extreme(found, member, size, along)]] = 2
            for i in range(1, size):
                if found[member[i], GAP] < found[member[deepest], GAP]:
                    deepest = i
            mark[member[deepest]] = 2
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
    n, row, capacity = c.now[FOUND], c.count[COUNT], c.gap.shape[0]
    c.now[FOUND] = 0
    c.count[CANDIDATES] += n
    every = n <= CORNERS or not c.now[REDUCE]
    if not every:
        for k in range(n):
            mark[k] = 0
        for seed in range(n):
            if mark[seed] == 0:
                for i in range(corners(address, next_cluster(found, mark, member, seed, n), link_b)):
                    mark[member[i]] = 2
    for k in range(n):
        if every or mark[k] == 2:
            if row == capacity:
                c.count[LOST] += 1
                continue
            c.link_a[row], c.link_b[row] = link_a, link_b
            c.shape_a[row], c.shape_b[row] = c.found_id[3 * k], c.found_id[3 * k + 1]
            c.feature[row], c.gap[row] = c.found_id[3 * k + 2], found[k, GAP]
            put3(c.point, row, get3(found, k))
            put3(c.normal, row, normal_of(found, k))
            row += 1
    c.count[COUNT] = row
