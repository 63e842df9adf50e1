"""Distance of two convex polygons: reference 2.2; Gilbert, Johnson and Keerthi 1988, with Cameron's hill climbing 1997.

S   simplex of 1 to 3 points w = a - b of the Minkowski difference A - B, kept as pairs of vertices (i of A, k of B)
v   its point closest to the origin;  w = s_A(-v) - s_B(v) the next one
D   centre of A less that of B: what is far from the origin keeps its digits
Ra, Rb  (cosine, sine) of the two

It ends when |v|^2 - v.w <= EPSILON |v|^2: the distance is then right to that share.  A simplex that is handed in again
a little later is nearly the answer: one or two supports, each a step or none from the vertex it begins at.
"""

import math

from palpate.jit import kernel

EPSILON = 1e-12  # [reference 2.2]
TOUCHING = 1e-30  # |v|^2 over the size squared, below which they touch: rounding


@kernel
def turn(R, x, y):
    """R (x, y)."""
    return R[0] * x - R[1] * y, R[1] * x + R[0] * y


@kernel
def turn_back(R, x, y):
    """R^T (x, y)."""
    return R[0] * x + R[1] * y, R[0] * y - R[1] * x


@kernel
def following(first, end, i):
    """The next vertex or edge around a polygon whose own are first .. end - 1."""
    return i + 1 if i + 1 < end else first


@kernel
def preceding(first, end, i):
    return i - 1 if i > first else end - 1


@kernel
def support(polygons, body, start, x, y):
    """The vertex farthest along (x, y), in body axes: from `start` to the neighbour while that is farther."""
    first, end, vertex = polygons.first[body], polygons.first[body + 1], polygons.vertex
    i = start
    best = vertex[i, 0] * x + vertex[i, 1] * y
    for way in range(2):
        moved = False
        for _ in range(end - first):
            k = following(first, end, i) if way == 0 else preceding(first, end, i)
            far = vertex[k, 0] * x + vertex[k, 1] * y
            if far <= best:
                break
            i, best, moved = k, far, True
        if moved:
            break
    return i


@kernel
def difference(polygons, D, Ra, Rb, i, k):
    """Vertex i of A less vertex k of B, in world axes."""
    ax, ay = turn(Ra, polygons.vertex[i, 0], polygons.vertex[i, 1])
    bx, by = turn(Rb, polygons.vertex[k, 0], polygons.vertex[k, 1])
    return D[0] + (ax - bx), D[1] + (ay - by)


@kernel
def on_segment(p, q):
    """(share of q, |v|^2) of the point v of the segment p q that is closest to the origin."""
    dx, dy = q[0] - p[0], q[1] - p[1]
    size = dx * dx + dy * dy
    s = -(p[0] * dx + p[1] * dy) / size if size > 0.0 else 0.0
    s = min(max(s, 0.0), 1.0)
    x, y = p[0] + s * dx, p[1] + s * dy
    return s, x * x + y * y


@kernel
def holds_origin(p, q, r):
    """Whether the triangle has it, on its border too."""
    a = p[0] * q[1] - p[1] * q[0]
    b = q[0] * r[1] - q[1] * r[0]
    c = r[0] * p[1] - r[1] * p[0]
    return (a >= 0.0 and b >= 0.0 and c >= 0.0) or (a <= 0.0 and b <= 0.0 and c <= 0.0)


@kernel
def gjk(polygons, A, B, D, Ra, Rb, n, i0, k0, i1, k1, i2, k2):
    """(distance, 0 if they overlap; share; n, i0, k0, i1, k1, i2, k2) from the simplex given, n = 0: none.

    The closest point on A is vertex i0 (1 - share) + vertex i1 share, on B as well with k; of a simplex of one the
    share is 0, of a triangle there is overlap and no closest point.
    """
    if n == 0:
        n, i0, k0 = 1, polygons.first[A], polygons.first[B]
    r = polygons.radius[A] + polygons.radius[B]
    small = TOUCHING * r * r
    w0 = difference(polygons, D, Ra, Rb, i0, k0)
    w1 = difference(polygons, D, Ra, Rb, i1, k1) if n > 1 else w0
    w2 = difference(polygons, D, Ra, Rb, i2, k2) if n > 2 else w0
    share, before = 0.0, math.inf
    edges = polygons.first[A + 1] - polygons.first[A] + polygons.first[B + 1] - polygons.first[B]
    for _ in range(4 * edges + 16):
        # v of the simplex, which is left with those points alone that v needs
        if n == 3:
            area = (w1[0] - w0[0]) * (w2[1] - w0[1]) - (w1[1] - w0[1]) * (w2[0] - w0[0])
            if area != 0.0 and holds_origin(w0, w1, w2):
                return 0.0, 0.0, 3, i0, k0, i1, k1, i2, k2
            s01, d01 = on_segment(w0, w1)
            s12, d12 = on_segment(w1, w2)
            s20, d20 = on_segment(w2, w0)
            if d12 <= d01 and d12 <= d20:
                w0, i0, k0, w1, i1, k1, share = w1, i1, k1, w2, i2, k2, s12
            elif d20 <= d01:
                w1, i1, k1, w0, i0, k0, share = w0, i0, k0, w2, i2, k2, s20
            else:
                share = s01
            n = 2
        elif n == 2:
            share, _d = on_segment(w0, w1)
        else:
            share = 0.0
        if n == 2 and share <= 0.0:
            n, share = 1, 0.0
        elif n == 2 and share >= 1.0:
            n, share, w0, i0, k0 = 1, 0.0, w1, i1, k1
        x, y = w0[0], w0[1]
        if n == 2:
            x, y = x + share * (w1[0] - x), y + share * (w1[1] - y)
        size = x * x + y * y
        if size <= small:
            return 0.0, share, n, i0, k0, i1, k1, i2, k2
        ax, ay = turn_back(Ra, -x, -y)
        bx, by = turn_back(Rb, x, y)
        i2, k2 = support(polygons, A, i0, ax, ay), support(polygons, B, k0, bx, by)
        w2 = difference(polygons, D, Ra, Rb, i2, k2)
        gain = size - (x * w2[0] + y * w2[1])
        again = (i2 == i0 and k2 == k0) or (n == 2 and i2 == i1 and k2 == k1)
        if gain <= EPSILON * size or again or size >= before:  # no closer: rounding
            break
        before = size
        if n == 1:
            w1, i1, k1, n = w2, i2, k2, 2
        else:
            n = 3
    if n == 1:
        i1, k1 = i0, k0
    return math.sqrt(size), share, n, i0, k0, i1, k1, i2, k2
