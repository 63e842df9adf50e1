"""Two boxes: the axis that separates them best, of 15; then faces by clipping, or the point between two edges.

Gottschalk, Lin and Manocha 1996.  In a's frame: b's axes are the columns of R, its centre is p.  The separation s along
an axis is never more than the distance; where the boxes overlap, -s of the best axis is the depth.
"""

import math

from palpate.collision.contacts import SINGLE, load_collision
from palpate.collision.found import touch
from palpate.collision.manifold import come_down, convex, meet, to_world
from palpate.collision.support import relate
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add, add_scaled, cross, dot, get3, get9, rotate, rotate_back, scale, sub, transpose

# Another axis must be better by this part of the smaller box to be preferred to a face of the first: resting boxes then
# keep their reference face, and with it the names of their points, through the jitter of a solver.
PREFER_FIRST = 1e-4
# Edges whose cross product is shorter than this are parallel: a face says the same, better.
PARALLEL = 1e-4
# A gap that a pair of points has is the distance; up to this part of the smaller box it is the same.
SAME = 1e-8


@kernel
def axis(k):
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@kernel
def column(R, k):
    return (R[0], R[3], R[6]) if k == 0 else ((R[1], R[4], R[7]) if k == 1 else (R[2], R[5], R[8]))


@kernel
def reach(x, h):
    """How far a box of half edges h reaches along x, in its own axes."""
    return abs(x[0]) * h[0] + abs(x[1]) * h[1] + abs(x[2]) * h[2]


@kernel
def best_face(R, p, h, k):
    """The best of three face normals: (separation, axis)."""
    best, at = -math.inf, 0
    for i in range(3):
        x = axis(i)
        s = abs(p[i]) - h[i] - reach(rotate_back(R, x), k)
        if s > best:
            best, at = s, i
    return best, at


@kernel
def best_edges(R, p, h, k):
    """The best of nine pairs of edges: (separation, i, j, unit normal towards b).

    The axis e_i x R_j has two numbers of R in a's frame and two in b's: i, i + 1, i + 2 and j, j + 1, j + 2 go round.
    """
    best, at_i, at_j = -math.inf, 0, 0
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            x, y = R[3 * i1 + j], R[3 * i2 + j]
            square = x * x + y * y
            if square > PARALLEL * PARALLEL:
                s = abs(x * p[i2] - y * p[i1]) - abs(y) * h[i1] - abs(x) * h[i2]
                s -= abs(R[3 * i + j2]) * k[j1] + abs(R[3 * i + j1]) * k[j2]
                s /= math.sqrt(square)
                if s > best:
                    best, at_i, at_j = s, i, j
    n = cross(axis(at_i), column(R, at_j))
    size = math.copysign(math.sqrt(dot(n, n)), dot(n, p))
    return best, at_i, at_j, scale(1.0 / size if size != 0.0 else 0.0, n)


@kernel
def corner(h, d):
    return (math.copysign(h[0], d[0]), math.copysign(h[1], d[1]), math.copysign(h[2], d[2]))


@kernel
def edge_point(address, slot_R, slot_p, R, p, h, k, s, i, j, n):
    """One contact between edge i of a and edge j of b; False if they are not nearest between their ends."""
    a, b = corner(h, n), corner(k, scale(-1.0, rotate_back(R, n)))
    u, w = axis(i), column(R, j)
    a = add_scaled(a, -dot(a, u), u)  # the middles of both edges
    b = add_scaled(b, -dot(b, axis(j)), axis(j))
    b = add(p, rotate(R, b))
    # a + t u and b + r w: the points nearest to each other on the two lines
    d, uw = sub(b, a), dot(u, w)
    s_inv = 1.0 / (1.0 - uw * uw)
    t = (dot(d, u) - uw * dot(d, w)) * s_inv
    r = (uw * dot(d, u) - dot(d, w)) * s_inv
    if s > 0.0 and (abs(t) > h[i] or abs(r) > k[j]):
        return False
    t, r = min(max(t, -h[i]), h[i]), min(max(r, -k[j]), k[j])
    x, y = add_scaled(a, t, u), add_scaled(b, r, w)
    middle = scale(0.5, add(x, y))
    touch(address, to_world(slot_R, slot_p, middle), rotate(get9(slot_R, 0), n), s, SINGLE + 16 + 3 * i + j)
    return True


@shared("void(intp)")
def box_box(address):
    """Contacts of the two boxes in the slots."""
    _, c = load_collision(address)
    relate(c)
    R, p = get9(c.pair_R, 0), get3(c.pair_p, 0)
    h, k, margin = get3(c.slot_size, 0), get3(c.slot_size, 1), c.margin
    s, i = best_face(R, p, h, k)
    if s > margin:
        return
    n = scale(math.copysign(1.0, p[i]), axis(i))
    Rt = transpose(R)
    q = rotate_back(R, p)
    s_b, j = best_face(Rt, q, k, h)
    if s_b > margin:
        return
    size = min(c.slot_extent[0], c.slot_extent[1])
    if s_b > s + PREFER_FIRST * size:
        s, n = s_b, scale(math.copysign(1.0, q[j]), column(R, j))
    s_edge, i, j, n_edge = best_edges(R, p, h, k)
    if s_edge > margin:
        return
    before = c.n_found
    if s_edge > s + PREFER_FIRST * size:
        if edge_point(address, c.slot_R, c.slot_p, R, p, h, k, s_edge, i, j, n_edge):
            come_down(address, n_edge[0], n_edge[1], n_edge[2], s_edge)
            return
        s = s_edge
    else:
        lowest = meet(address, n[0], n[1], n[2])
        if (s <= 0.0 and lowest < math.inf) or lowest <= s + SAME * size:
            return
    c.n_found = before
    convex(address)  # nearest at a corner: the axes only bound the distance
