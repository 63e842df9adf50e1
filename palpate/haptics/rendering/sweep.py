"""Where a moving ball first touches: the path a -> b of its centre against surfaces offset by rho.

    d(x + l u) is convex along a line for a convex shape, so Newton's steps  l += (d - rho) / (-n.u)  come to the first
    root from the free side and never pass it.  The path is free where n.u >= 0, or where it ends before.

A mesh is swept triangle by triangle: each is a convex shape, touched only from its front.  rho is the proxy's radius
and a skin that keeps the centre off the surface, so that neighbouring triangles overlap and there is no seam to slip
through.  What is already touched stops every motion into it, and none out of it.
"""

import math

from palpate.collision.tables import MESH
from palpate.collision.triangles import corner
from palpate.haptics.rendering.nearest import nearest_primitive, put_hit, triangle_nearest
from palpate.haptics.rendering.tables import load_proxy
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add, add_scaled, dot, get3, get9, rotate, rotate_back, scale, sub

# Closer than this to touching is touching [m].
TOUCH = 1e-10
# A path that would go less deep than this is parallel [m]: rounding must not stop a ball that slides.
DIP = 1e-11
# Newton's steps; a graze that takes more counts as touching, and the next update goes on from there.
STEPS = 40
# A touch whose normal leans back from the face by more than this is from behind (cosine); 0 would open knife edges.
FRONT = -1e-9
MISS = (math.inf, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


@kernel
def sweep_primitive(collision, kind, size, a, u, length, rho):
    """(length gone, normal, surface point), the length infinite if nothing is met; the shape's frame."""
    gone, n, near = 0.0, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    for _ in range(STEPS):
        x = add_scaled(a, gone, u)
        d, n = nearest_primitive(collision, kind, size, x)
        near = add_scaled(x, -d, n)
        closing = -dot(u, n)
        if closing * (length - gone) <= DIP:
            return MISS
        if d - rho <= TOUCH:
            return gone, n, near
        gone += (d - rho) / closing
        if gone >= length:
            return MISS
    return gone, n, near


@kernel
def sweep_triangle(g, t, a, u, length, rho):
    """The same for one triangle, from its front."""
    f = get3(g.triangle_normal, t)
    height, rate = dot(f, sub(a, corner(g.triangle, t, 0))), dot(f, u)
    end = height + length * rate
    if (height > rho and end > rho) or (height <= 0.0 and end <= 0.0):
        return MISS
    gone, m, near = 0.0, f, (0.0, 0.0, 0.0)
    if height > rho:
        gone = (height - rho) / -rate  # no feature is met before the plane
    for _ in range(STEPS):
        x = add_scaled(a, gone, u)
        near, w = triangle_nearest(g, t, x)
        e = sub(x, near)
        d, m = dot(f, e), f
        if w[0] <= 0.0 or w[1] <= 0.0 or w[2] <= 0.0:  # at an edge or corner
            far = math.sqrt(dot(e, e))
            if far > abs(d) * (1.0 + 1e-12):
                d, m = far, scale(1.0 / far, e)
        elif d < 0.0:
            return MISS  # from behind, through the face
        closing = -dot(u, m)
        if closing * (length - gone) <= DIP:
            return MISS
        if d - rho <= TOUCH:
            return (gone, m, near) if dot(m, f) > FRONT else MISS
        gone += (d - rho) / closing
        if gone >= length:
            return MISS
    return gone, m, near


@kernel
def misses_box(low, high, node, a, u, length, rho):
    """Whether a path of a ball misses the box of a node."""
    enter, leave = 0.0, length
    for k in range(3):
        below, above = low[node, k] - rho - a[k], high[node, k] + rho - a[k]
        if abs(u[k]) < 1e-14:
            if below > 0.0 or above < 0.0:
                return True
        else:
            v = 1.0 / u[k]
            enter, leave = max(enter, min(below * v, above * v)), min(leave, max(below * v, above * v))
    return enter > leave


@shared("float64(intp, intp, float64, float64, float64, float64, float64, float64, float64)")
def sweep_shape(address, i, ax, ay, az, bx, by, bz, rho):
    """The part of the path a -> b, in the frame of shape i, that is free: 1 if all is; else with hit[0]."""
    g, _, _, s = load_proxy(address)
    a, e = (ax, ay, az), (bx - ax, by - ay, bz - az)
    length = math.sqrt(dot(e, e))
    if length <= DIP:
        return 1.0
    u, reach = scale(1.0 / length, e), rho + TOUCH
    s.hit_triangle = -1
    if g.kind[i] != MESH:
        gone, n, near = sweep_primitive(s.collision, g.kind[i], get3(g.size, i), a, u, length, rho)
        if gone < length:
            put_hit(s.hit, 0, gone / length, n, near)
            return gone / length
        return 1.0
    best, table = length, g.table[i]
    node, end = g.mesh_node[table], g.mesh_node[table + 1]
    while node < end:
        if misses_box(g.node_low, g.node_high, node, a, u, best, reach):
            node = g.node_skip[node]
            continue
        for t in range(g.node_first[node], g.node_first[node] + g.node_count[node]):
            gone, n, near = sweep_triangle(g, t, a, u, length, rho)
            if gone < best:
                best = gone
                put_hit(s.hit, 0, gone / length, n, near)
                s.hit_triangle = t
        node += 1
    return best / length


@shared("float64(intp, float64, float64, float64, float64, float64, float64, float64)")
def sweep_all(address, ax, ay, az, bx, by, bz, rho):
    """The free part of the path a -> b in the world, among the shapes of `near`; 1 if all is, else with hit[1]."""
    _, _, _, s = load_proxy(address)
    a, e, best = (ax, ay, az), (bx - ax, by - ay, bz - az), 1.0
    shape, triangle = -1, -1
    for k in range(s.n_near):
        R, p = get9(s.shape_R, k), get3(s.shape_p, k)
        x, y = rotate_back(R, sub(a, p)), rotate_back(R, sub(add_scaled(a, best, e), p))
        t = sweep_shape(address, s.near[k], x[0], x[1], x[2], y[0], y[1], y[2], rho)
        if t < 1.0:
            best *= t
            shape, triangle = s.near[k], s.hit_triangle
            n, near = (s.hit[0, 1], s.hit[0, 2], s.hit[0, 3]), (s.hit[0, 4], s.hit[0, 5], s.hit[0, 6])
            put_hit(s.hit, 1, best, rotate(R, n), add(p, rotate(R, near)))
    s.hit_shape, s.hit_triangle = shape, triangle
    return best
