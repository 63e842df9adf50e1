"""Distance between two convex cores.  Gilbert, Johnson and Keerthi 1988; the sub-simplex by regions, Ericson 2005, 5.1.

W = {a - b} is the difference of the two shapes, in the first one's frame; its point v nearest to the origin is
a - b for the two points that are nearest to each other.  A simplex of at most four points of W closes in on v.
The first rows of c.vertex hold its (w, a, b), c.weight the weights that make v.
"""

import math

from palpate.collision.contacts import load_collision
from palpate.collision.support import put_support
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add, add_scaled, cross, dot, get3, scale, sub

# Cores closer than this part of their size overlap: the direction between them would be rounding.
TOUCHING = 1e-9
# The same where the search ends for rounding, and not because it is there.
NEARLY = 1e-6
# |v|^2 - v.w bounds |v|^2 (relative error of the distance); flat shapes end exactly, curved ones here.
CONVERGED = 1e-12
ENOUGH = 1e-6  # what ends less exact than this begins again from another side
# A triangle this much thinner than long is one of its edges (sine of an angle, squared).
THIN = 1e-20
# Points of W this near to each other are one (part of its size, squared).
SAME = 1e-30
STARTS = 3
ITERATIONS = 64
# outcomes
FAR, APART, OVERLAP = 0, 1, 2


@kernel
def put_answer(answer, distance, n, a, b):
    answer[0] = distance
    for k in range(3):
        answer[1 + k], answer[4 + k], answer[7 + k] = n[k], a[k], b[k]


@kernel
def segment_weights(a, b):
    """Weights of the point of a segment nearest to the origin."""
    e = sub(b, a)
    ee = dot(e, e)
    t = -dot(a, e) / ee if ee > 0.0 else 0.0
    t = min(max(t, 0.0), 1.0)
    return (1.0 - t, t)


@kernel
def triangle_weights(a, b, c):
    """Weights of the point of a triangle nearest to the origin, never negative, of sum 1, however thin it is.

    Twice the signed areas that the origin's foot spans with each edge, times the normal, are the weights of the face;
    where one is not positive the point is on an edge, and the nearest of the three edges has it.
    """
    ab, ac = sub(b, a), sub(c, a)
    n = cross(ab, ac)
    va, vb, vc = dot(n, cross(b, sub(c, b))), dot(n, cross(ac, a)), dot(n, cross(a, ab))
    if va > 0.0 and vb > 0.0 and vc > 0.0 and dot(n, n) > THIN * dot(ab, ab) * dot(ac, ac):
        s = 1.0 / (va + vb + vc)
        return (va * s, vb * s, vc * s)
    best, weights = math.inf, (1.0, 0.0, 0.0)
    u, v = segment_weights(a, b)
    near = add(scale(u, a), scale(v, b))
    if dot(near, near) < best:
        best, weights = dot(near, near), (u, v, 0.0)
    u, v = segment_weights(b, c)
    near = add(scale(u, b), scale(v, c))
    if dot(near, near) < best:
        best, weights = dot(near, near), (0.0, u, v)
    u, v = segment_weights(c, a)
    near = add(scale(u, c), scale(v, a))
    if dot(near, near) < best:
        best, weights = dot(near, near), (v, 0.0, u)
    return weights


@kernel
def outside(a, b, c, d):
    """Whether the origin is not on d's side of the plane a, b, c; also if the four are flat."""
    n = cross(sub(b, a), sub(c, a))
    origin, inner = -dot(a, n), dot(sub(d, a), n)
    flat = 1e-14 * dot(n, n) * dot(sub(d, a), sub(d, a))
    return inner * inner <= flat or origin * inner < 0.0


@kernel
def tetrahedron_weights(x, weight, bound):
    """Weights of the point of a tetrahedron nearest to the origin; False if the origin is inside.

    Some face holds a point nearer than `bound` (squared).  If those that the origin seems to be outside of do not,
    rounding decided, and any may.
    """
    for every in range(2):
        best = math.inf
        for m in range(4):
            i, j, k = (m + 1) % 4, (m + 2) % 4, (m + 3) % 4
            a, b, c = get3(x, i), get3(x, j), get3(x, k)
            if every or outside(a, b, c, get3(x, m)):
                u, v, w = triangle_weights(a, b, c)
                near = add(add(scale(u, a), scale(v, b)), scale(w, c))
                if dot(near, near) < best:
                    best = dot(near, near)
                    weight[m], weight[i], weight[j], weight[k] = 0.0, u, v, w
        if best == math.inf:
            return False
        if best < bound:
            return True
    return True


@kernel
def nearest(x, weight, n, bound):
    """Weights of the point nearest to the origin of the simplex of n rows; False if the origin is inside."""
    if n == 2:
        weight[0], weight[1] = segment_weights(get3(x, 0), get3(x, 1))
    elif n == 3:
        weight[0], weight[1], weight[2] = triangle_weights(get3(x, 0), get3(x, 1), get3(x, 2))
    elif n == 4:
        return tetrahedron_weights(x, weight, bound)
    return True


@kernel
def shrink(x, weight, n):
    """Drop the rows that carry no weight; returns how many stay."""
    kept = 0
    for i in range(n):
        if weight[i] > 0.0:
            weight[kept] = weight[i]
            for k in range(9):
                x[kept, k] = x[i, k]
            kept += 1
    return kept


@kernel
def mix(x, weight, n, begin):
    """sum weight row[begin : begin + 3]: v, the point on a, or the point on b."""
    y = (0.0, 0.0, 0.0)
    for i in range(n):
        y = add_scaled(y, weight[i], (x[i, begin], x[i, begin + 1], x[i, begin + 2]))
    return y


@kernel
def known(x, n, size):
    """Whether the new row n is already a corner of the simplex."""
    for i in range(n):
        e = sub(get3(x, n), get3(x, i))
        if dot(e, e) <= SAME * size:
            return True
    return False


@kernel
def first_direction(c, start):
    """Where to look first: towards the other shape, and if rounding stopped that early, other ways."""
    if start == 0:
        return scale(-1.0, get3(c.pair_p, 0))
    return (1.0, 0.1, 0.01) if start == 1 else (0.01, 1.0, 0.1)


@shared("int64(intp, float64)")
def gjk(address, limit):
    """APART, with c.answer; or FAR, if the cores are `limit` or more apart; or OVERLAP + rows of the simplex."""
    _, c = load_collision(address)
    x, weight = c.vertex, c.weight
    best = math.inf
    for start in range(STARTS):
        n, vv, v, size = 0, math.inf, first_direction(c, start), 0.0
        met = False
        for _ in range(ITERATIONS):
            put_support(address, -v[0], -v[1], -v[2], n)
            size = max(size, dot(get3(x, n), get3(x, n)))
            if n > 0:
                vw = dot(v, get3(x, n))
                if vw > 0.0 and vw * vw > limit * limit * vv:  # v.w / |v| is never more than the distance
                    return FAR
                met = vv - vw <= ENOUGH * vv
                if vv - vw <= CONVERGED * vv or known(x, n, size):
                    break
            weight[n] = 1.0
            if not nearest(x, weight, n + 1, vv):
                return OVERLAP + 4
            u = mix(x, weight, n + 1, 0)
            if dot(u, u) >= vv:  # rounding: it comes no nearer
                nearest(x, weight, n, math.inf)
                break
            n = shrink(x, weight, n + 1)
            v, vv = u, dot(u, u)
            if vv <= TOUCHING * TOUCHING * size:
                return OVERLAP + n
        if not met and vv <= NEARLY * NEARLY * size:
            return OVERLAP + n
        distance = math.sqrt(vv)
        if distance < best:
            best = distance
            put_answer(c.answer, distance, scale(-1.0 / distance, v), mix(x, weight, n, 3), mix(x, weight, n, 6))
        if met:
            break
    return APART
