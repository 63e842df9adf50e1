"""The nearest point of a surface: signed distance and outward normal of a point to one shape, and to all.

d > 0 outside, d < 0 inside; n = grad d, unit; the nearest point is x - d n.  Primitives: the closed forms of
collision/rounds.py for a ball of radius 0.  Meshes: the nearest triangle by branch and bound over the tree of boxes;
the sign is that of (x - nearest) . pseudo-normal, the mean over the face, edge or corner where the nearest point lies
(Baerentzen and Aanaes 2005).  A mesh that is not closed has a front and a back, but no inside.
"""

import math

from palpate.collision.contacts import load_collision
from palpate.collision.gjk import triangle_weights
from palpate.collision.rounds import sphere_box, sphere_capsule, sphere_cylinder, sphere_sphere
from palpate.collision.support import shape_pose
from palpate.collision.tables import BOX, CAPSULE, MESH, PLANE, SPHERE
from palpate.collision.triangles import corner
from palpate.haptics.rendering.tables import load_proxy
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add, add_scaled, dot, get3, get9, rotate, rotate_back, scale, sub

ZERO = (0.0, 0.0, 0.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
# Nearer than this to a triangle, the direction to it is rounding [m]: its normal is used.
ON_SURFACE = 1e-12


@kernel
def nearest_primitive(collision, kind, size, x):
    """(d, n) of a point x to a primitive, in the shape's frame."""
    if kind == PLANE:
        return x[2], (0.0, 0.0, 1.0)
    _, c = load_collision(collision)
    c.n_found = 0
    if kind == SPHERE:
        sphere_sphere(collision, x, 0.0, ZERO, size[0])
    elif kind == CAPSULE:
        sphere_capsule(collision, x, 0.0, IDENTITY, ZERO, size[0], size[1])
    elif kind == BOX:
        sphere_box(collision, x, 0.0, IDENTITY, ZERO, size)
    else:
        sphere_cylinder(collision, x, 0.0, IDENTITY, ZERO, size[0], size[1])
    return c.found[0, 6], (-c.found[0, 3], -c.found[0, 4], -c.found[0, 5])


@kernel
def put_hit(hit, row, t, n, near):
    hit[row, 0] = t
    for k in range(3):
        hit[row, 1 + k], hit[row, 4 + k] = n[k], near[k]


@kernel
def triangle_nearest(g, t, x):
    """(nearest point, weights of the corners) of triangle t."""
    a, b, e = corner(g.triangle, t, 0), corner(g.triangle, t, 1), corner(g.triangle, t, 2)
    w = triangle_weights(sub(a, x), sub(b, x), sub(e, x))
    return add(add(scale(w[0], a), scale(w[1], b)), scale(w[2], e)), w


@kernel
def box_distance(low, high, node, x):
    """Squared distance of a point to the box of a node."""
    square = 0.0
    for k in range(3):
        e = max(low[node, k] - x[k], 0.0, x[k] - high[node, k])
        square += e * e
    return square


@kernel
def pseudo_normal(g, f, t, w):
    """Mean normal at the feature of triangle t on which the weights w are; not of unit length."""
    n = get3(g.triangle_normal, t)
    zeros, off, on = 0, 0, 0
    for k in range(3):
        if w[k] <= 0.0:
            zeros += 1
            off = k
        else:
            on = k
    if zeros == 0:
        return n
    if zeros == 1:
        k = (off + 1) % 3  # the edge opposite to that corner
        return add(n, (g.wing[t, 3 * k], g.wing[t, 3 * k + 1], g.wing[t, 3 * k + 2]))
    return get3(f.pseudo, g.triangle_vertex[3 * t + on])


@shared("float64(intp, intp, float64, float64, float64, float64)")
def nearest_mesh(address, i, x, y, z, limit):
    """Signed distance of a point to the mesh of shape i, in its frame, with hit[0]; infinite if beyond `limit`."""
    g, _, f, s = load_proxy(address)
    table, at = g.table[i], (x, y, z)
    node, end = g.mesh_node[table], g.mesh_node[table + 1]
    best, found = limit * limit, -1
    while node < end:
        if box_distance(g.node_low, g.node_high, node, at) >= best:
            node = g.node_skip[node]
            continue
        for t in range(g.node_first[node], g.node_first[node] + g.node_count[node]):
            near, _ = triangle_nearest(g, t, at)
            d = sub(at, near)
            if dot(d, d) < best:
                best, found = dot(d, d), t
        node += 1
    if found < 0:
        return math.inf
    near, w = triangle_nearest(g, found, at)
    d, side = sub(at, near), pseudo_normal(g, f, found, w)
    distance = math.copysign(math.sqrt(best), dot(d, side))
    if abs(distance) > ON_SURFACE:
        n = scale(1.0 / distance, d)
    else:
        n = scale(1.0 / math.sqrt(dot(side, side)), side)
    put_hit(s.hit, 0, distance, n, near)
    s.hit_triangle = found
    return distance


@shared("float64(intp, intp, float64, float64, float64, float64)")
def nearest_shape(address, i, x, y, z, limit):
    """Signed distance of a point of the world to shape i, with hit[1]; infinite if a mesh is beyond `limit`."""
    g, c, _, s = load_proxy(address)
    R, p = shape_pose(g, c, i)
    at = rotate_back(R, sub((x, y, z), p))
    if g.kind[i] == MESH:
        d = nearest_mesh(address, i, at[0], at[1], at[2], limit)
        n, near = (s.hit[0, 1], s.hit[0, 2], s.hit[0, 3]), (s.hit[0, 4], s.hit[0, 5], s.hit[0, 6])
    else:
        s.hit_triangle = -1
        d, n = nearest_primitive(s.collision, g.kind[i], get3(g.size, i), at)
        near = add_scaled(at, -d, n)
    put_hit(s.hit, 1, d, rotate(R, n), add(p, rotate(R, near)))
    return d


@shared("int64(intp, float64, float64, float64, intp)")
def nearest_of_all(address, x, y, z, solid):
    """The shape whose signed distance is least, with hit[1]; -1: none.  solid: only shapes with an inside."""
    g, c, f, _ = load_proxy(address)
    best, found, at = math.inf, -1, (x, y, z)
    for i in range(g.kind.shape[0]):
        if f.touchable[i] == 0 or (solid and f.closed[i] == 0):
            continue
        if g.kind[i] != PLANE:
            link = g.link[i]
            d = sub(add(get3(c.link_p, link), rotate(get9(c.link_R, link), get3(g.centre, i))), at)
            if math.sqrt(dot(d, d)) - g.radius[i] >= best:  # its ball is farther than what was found
                continue
        d = nearest_shape(address, i, x, y, z, math.inf)
        if d < best:
            best, found = d, i
    if found >= 0:
        nearest_shape(address, found, x, y, z, math.inf)
    return found
