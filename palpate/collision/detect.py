"""detect: poses of links in, contacts out.

Planes first, proxy by proxy; then the pairs of proxies whose boxes overlap; in each the pairs of shapes whose bounding
balls do; the points of one pair of proxies are reduced together.  What comes out depends on the poses and on nothing
before, but for links that are still: contacts between two of them are kept, the first in the list, and not looked for.
"""

from palpate.collision.broad import excludes, place_boxes, sort_boxes, widest_axis
from palpate.collision.contacts import load_collision
from palpate.collision.found import begin_pair, put_row
from palpate.collision.pairs import shape_pair
from palpate.collision.planes import plane_shape
from palpate.collision.reduce import end_pair
from palpate.collision.tables import PLANE, SPHERE
from palpate.jit import kernel, shared, stage
from palpate.spatial.vectors import add, add_scaled, dot, get3, get9, rotate, rotate_back, scale, sub

__all__ = ["detect", "load_collision"]

FEW = 16  # one of so many boxes: to look at each of those that move beside all is then quicker than to sort


@kernel
def plane_in_world(g, c, shape):
    """n and offset of the plane n.x = offset."""
    link = g.link[shape]
    R = get9(c.link_R, link)
    n = rotate(R, (g.R[shape, 2], g.R[shape, 5], g.R[shape, 8]))
    return n, dot(n, add(get3(c.link_p, link), rotate(R, get3(g.p, shape))))


@kernel
def look_at_pair(address, g, c, a, b):
    """Points of shapes a and b within the margin, into c.found; returns the row of the nearest, -1 if there is none."""
    c.n_found, c.reduce = 0, 0
    if g.kind[a] == PLANE or g.kind[b] == PLANE:
        plane, other = (a, b) if g.kind[a] == PLANE else (b, a)
        begin_pair(c, a, b, 0 if plane == a else 1)
        n, offset = plane_in_world(g, c, plane)
        plane_shape(address, other, n[0], n[1], n[2], offset)
    else:
        shape_pair(address, a, b)
    nearest = -1
    for k in range(c.n_found):
        if nearest < 0 or c.found[k, 6] < c.found[nearest, 6]:
            nearest = k
    return nearest


@stage
def plane_proxy(address, k, i, nx, ny, nz, offset):
    """The plane of proxy k, n.x = offset, against all shapes of proxy i, in the frame of its link."""
    g, c = load_collision(address)
    plane, link, plane_link = g.proxy_begin[k], g.proxy_link[i], g.proxy_link[k]
    n, R, p = (nx, ny, nz), get9(c.link_R, link), get3(c.link_p, link)
    d, height = rotate_back(R, n), dot(n, p) - offset
    margin, found, room = c.margin, 0, c.found.shape[0]
    flip = plane_link > link
    out = scale(-1.0, n) if flip else n
    for s in range(g.proxy_begin[i], g.proxy_end[i]):
        x, r = get3(g.centre, s), g.radius[s]
        gap = height + dot(d, x) - r
        if gap < margin:
            a, b = (s, plane) if flip else (plane, s)
            if g.kind[s] == SPHERE and found < room:  # the commonest contact, the fast way
                point = add_scaled(add(p, rotate(R, x)), -(r + 0.5 * gap), n)
                put_row(c.found, c.found_id, found, point, out, gap, a, b, 0)
                found += 1
            else:
                c.n_found = found
                begin_pair(c, a, b, 1 if flip else 0)
                plane_shape(address, s, nx, ny, nz, offset)
                found = c.n_found
    c.n_found = found
    if found > 0:
        end_pair(address, min(link, plane_link), max(link, plane_link))


@stage
def detect_planes(address):
    """All planes against all other proxies."""
    g, c = load_collision(address)
    proxies = g.proxy_link.shape[0]
    boxes, margin = proxies - g.n_planes, c.margin
    for k in range(boxes, proxies):
        n, offset = plane_in_world(g, c, g.proxy_begin[k])
        near = offset + margin - 0.5 * margin * (abs(n[0]) + abs(n[1]) + abs(n[2]))  # the boxes are that much larger
        for i in range(boxes):
            lowest = 0.0
            for r in range(3):
                lowest += min(n[r] * c.low[i, r], n[r] * c.high[i, r])
            if (
                lowest < near
                and g.proxy_link[i] != g.proxy_link[k]
                and not (c.still[g.proxy_link[i]] and c.still[g.proxy_link[k]])
                and not excludes(g.excluded_begin, g.excluded, i, k)
            ):
                c.pairs += 1
                plane_proxy(address, k, i, n[0], n[1], n[2], offset)


@kernel
def ball_misses_box(low, high, x, r, j):
    for k in range(3):
        if x[k] + r < low[j, k] or x[k] - r > high[j, k]:
            return True
    return False


@stage
def proxy_pair(address, i, j):
    """All shapes of proxy i against all of proxy j > i; the first body is that of i."""
    g, c = load_collision(address)
    link_a, link_b, margin = g.proxy_link[i], g.proxy_link[j], c.margin
    R, p = get9(c.link_R, link_a), get3(c.link_p, link_a)
    S, q = get9(c.link_R, link_b), get3(c.link_p, link_b)
    for a in range(g.proxy_begin[i], g.proxy_end[i]):
        x, r = add(p, rotate(R, get3(g.centre, a))), g.radius[a] + margin
        if g.kind[a] == PLANE or ball_misses_box(c.low, c.high, x, r, j):
            continue
        for b in range(g.proxy_begin[j], g.proxy_end[j]):
            d = sub(add(q, rotate(S, get3(g.centre, b))), x)
            reach = r + g.radius[b]
            if dot(d, d) < reach * reach and g.kind[b] != PLANE:
                shape_pair(address, a, b)
    c.pairs += 1
    if c.n_found > 0:
        end_pair(address, link_a, link_b)


@kernel
def balls_apart(g, c, i, j):
    """Whether the balls around proxies i and j are farther apart than the margin."""
    d = sub(add(get3(c.low, i), get3(c.high, i)), add(get3(c.low, j), get3(c.high, j)))  # twice from centre to centre
    reach = 2.0 * (g.proxy_radius[i] + g.proxy_radius[j] + c.margin)
    return dot(d, d) >= reach * reach


@kernel
def candidate_pair(address, g, c, i, j):
    """Proxies i and j, whose boxes overlap, unless both are of one link, or still, or kept apart."""
    if balls_apart(g, c, i, j):
        return
    a, b = min(i, j), max(i, j)
    link, other = g.proxy_link[a], g.proxy_link[b]
    if link != other and not (c.still[link] and c.still[other]) and not excludes(g.excluded_begin, g.excluded, a, b):
        proxy_pair(address, a, b)


@kernel
def pairs_of_the_few(address, g, c, n):
    """Where few move: each of them against all."""
    for i in range(n):
        if c.still[g.proxy_link[i]]:
            continue
        low, high = get3(c.low, i), get3(c.high, i)
        for j in range(n):
            if (
                c.low[j, 0] <= high[0]
                and c.high[j, 0] >= low[0]
                and c.low[j, 1] <= high[1]
                and c.high[j, 1] >= low[1]
                and c.low[j, 2] <= high[2]
                and c.high[j, 2] >= low[2]
                and (j > i or c.still[g.proxy_link[j]])
            ):
                candidate_pair(address, g, c, i, j)


@shared("void(intp, intp)")
def detect(address, full):
    """Fill Contacts from link_R and link_p; full != 0 keeps every point, else patches are reduced to corners."""
    g, c = load_collision(address)
    c.count = c.candidates = c.kept
    c.pairs = 0
    c.n_found, c.reduce = 0, 0 if full else 1
    place_boxes(g, c)
    c.anew = 0
    detect_planes(address)
    n, moving = g.proxy_link.shape[0] - g.n_planes, 0
    for i in range(n):
        moving += c.still[g.proxy_link[i]] == 0
    if FEW * moving < n:
        pairs_of_the_few(address, g, c, n)
        return
    sort_boxes(c.order, c.sorted, c.low, c.high, n, widest_axis(g.proxy_link, c.low, c.high, n))
    for i in range(n):
        high, low_u, high_u = c.sorted[i, 1], c.sorted[i, 2], c.sorted[i, 3]
        low_v, high_v = c.sorted[i, 4], c.sorted[i, 5]
        for j in range(i + 1, n):
            if c.sorted[j, 0] > high:
                break
            if (  # one branch, that is seldom taken, instead of four that nobody can foresee
                (c.sorted[j, 2] <= high_u)
                & (c.sorted[j, 3] >= low_u)
                & (c.sorted[j, 4] <= high_v)
                & (c.sorted[j, 5] >= low_v)
            ):
                candidate_pair(address, g, c, c.order[i], c.order[j])
