"""Meshes: triangles one by one, found by a tree of boxes, each a convex shape of which only the front can be touched.

A triangle knows only itself, so what it reports at an edge or corner may be wrong for the whole: a box that slides over
a flat floor would stumble at every seam.  A contact at an edge counts only if the edge sticks out and the normal lies
between those of its two faces; at a corner only if it leads away from all its neighbours.  Each edge and corner is
reported by one triangle, its owner.  The solid is behind the triangles; nothing is pushed through to the back.
"""

import math

from palpate.collision.contacts import load_collision
from palpate.collision.found import touch
from palpate.collision.gjk import triangle_weights
from palpate.collision.manifold import manifold, solve
from palpate.collision.support import fill_slot, fill_triangle
from palpate.collision.tables import MESH, OWNS_CORNER, OWNS_EDGE, RIDGE, SPHERE
from palpate.jit import kernel, shared
from palpate.spatial.vectors import (
    add,
    add_scaled,
    compose,
    cross,
    dot,
    get3,
    get9,
    rotate,
    rotate_back,
    scale,
    sub,
    transpose,
)  # fmt: skip

# A normal this near to the face's is the face's (1 - cos).
ALIGNED = 1e-6
# Weights of corners below this are none: the point is on an edge.
ON_EDGE = 1e-6
# Slack of the test whether a normal belongs to an edge or corner (cosine).
BETWEEN = 1e-4
# A ball this part of its radius off a point of the face is above it.
ROUNDING = 1e-12
# What is deeper than this part of the sphere's radius below a face was never above it.
DEEPEST = 1.0


@kernel
def corner(triangle, t, k):
    return (triangle[t, 3 * k], triangle[t, 3 * k + 1], triangle[t, 3 * k + 2])


@kernel
def on_edge(g, t, k, m):
    """Whether a contact at edge k of triangle t may push along m."""
    if not (g.owns[t] & (OWNS_EDGE << k) and g.owns[t] & (RIDGE << k)):
        return False
    e = sub(corner(g.triangle, t, (k + 1) % 3), corner(g.triangle, t, k))
    f, w = get3(g.triangle_normal, t), (g.wing[t, 3 * k], g.wing[t, 3 * k + 1], g.wing[t, 3 * k + 2])
    slack = -BETWEEN * math.sqrt(dot(e, e))
    # away from this triangle, and away from its neighbour
    return dot(m, cross(e, f)) >= slack and dot(m, cross(w, e)) >= slack


@kernel
def at_corner(g, t, k, m):
    """Whether a contact at corner k of triangle t may push along m: away from all edges that meet there."""
    if not g.owns[t] & (OWNS_CORNER << k):
        return False
    v = g.triangle_vertex[3 * t + k]
    x = get3(g.vertex, v)
    for i in range(g.near_begin[v], g.near_begin[v + 1]):
        e = sub(get3(g.vertex, g.near[i]), x)
        if dot(m, e) > BETWEEN * math.sqrt(dot(e, e)):
            return False
    return True


@shared("int64(intp, intp, float64, float64, float64, float64, float64, float64)")
def admits(address, t, mx, my, mz, x, y, z):
    """Whether triangle t, touched at (x, y, z) of it, may push along the unit vector m; all in the mesh's frame."""
    g, _ = load_collision(address)
    m, at = (mx, my, mz), (x, y, z)
    if 1.0 - dot(m, get3(g.triangle_normal, t)) < ALIGNED:
        return 1
    weights = triangle_weights(
        sub(corner(g.triangle, t, 0), at), sub(corner(g.triangle, t, 1), at), sub(corner(g.triangle, t, 2), at)
    )
    on, last, off = 0, 0, 0  # corners that carry weight, the last of them, one that carries none
    for k in range(3):
        if weights[k] > ON_EDGE:
            on += 1
            last = k
        else:
            off = k
    if on == 3:
        return 0
    fits = at_corner(g, t, last, m) if on == 1 else on_edge(g, t, (off + 1) % 3, m)
    return 1 if fits else 0


@kernel
def sphere_triangle(address, g, c, t, q, r):
    """A ball around q, in the mesh's frame (slot 1); normals from the ball to the triangle."""
    a, b, e, f = (
        corner(g.triangle, t, 0),
        corner(g.triangle, t, 1),
        corner(g.triangle, t, 2),
        get3(g.triangle_normal, t),
    )
    height = dot(f, sub(q, a))
    if height > r + c.margin or height < -DEEPEST * r:
        return
    u, v, w = triangle_weights(sub(a, q), sub(b, q), sub(e, q))
    near = add(add(scale(u, a), scale(v, b)), scale(w, e))
    d = sub(q, near)
    distance = math.sqrt(dot(d, d))
    if distance <= abs(height) * (1.0 + ALIGNED) + ROUNDING * r:  # above or below the face itself
        m, distance = f, height
    else:
        m = scale(1.0 / distance, d)
        if height <= 0.0 or not admits(address, t, m[0], m[1], m[2], near[0], near[1], near[2]):
            return
    gap = distance - r
    if gap < c.margin:
        R, p = get9(c.slot_R, 1), get3(c.slot_p, 1)
        point = add(p, rotate(R, add_scaled(q, -(r + 0.5 * gap), m)))
        touch(address, point, rotate(R, scale(-1.0, m)), gap, 0)


@kernel
def convex_triangle(address, g, c, t):
    """Slot 0, a convex shape or a triangle s >= 0 of another mesh, against triangle t, in slot 1."""
    if not solve(address):
        return
    answer = c.answer
    n, a, b = (answer[1], answer[2], answer[3]), (answer[4], answer[5], answer[6]), (answer[7], answer[8], answer[9])
    R, p, s = get9(c.pair_R, 0), get3(c.pair_p, 0), c.triangle_a
    m, x = rotate_back(R, scale(-1.0, n)), rotate_back(R, sub(b, p))
    if admits(address, t, m[0], m[1], m[2], x[0], x[1], x[2]) and (
        s < 0 or admits(address, s, n[0], n[1], n[2], a[0], a[1], a[2])
    ):
        manifold(address)


@kernel
def apart(low, high, node, centre, half):
    """Whether a box misses that of a node."""
    for k in range(3):
        if centre[k] + half[k] < low[node, k] or centre[k] - half[k] > high[node, k]:
            return True
    return False


@kernel
def turned_half(R, half):
    """Half edges of the box along the axes around a box of half edges `half` turned by R."""
    return (abs(R[0]) * half[0] + abs(R[1]) * half[1] + abs(R[2]) * half[2],
            abs(R[3]) * half[0] + abs(R[4]) * half[1] + abs(R[5]) * half[2],
            abs(R[6]) * half[0] + abs(R[7]) * half[1] + abs(R[8]) * half[2])  # fmt: skip


@shared("void(intp, intp, float64, float64, float64, float64, float64, float64)")
def descend(address, table, x, y, z, hx, hy, hz):
    """Slot 0, in a box around (x, y, z) of half edges h in the frame of the mesh in slot 1, against that mesh."""
    g, c = load_collision(address)
    R, p, s = get9(c.slot_R, 1), get3(c.slot_p, 1), c.triangle_a
    node, end = g.mesh_node[table], g.mesh_node[table + 1]
    while node < end:
        if apart(g.node_low, g.node_high, node, (x, y, z), (hx, hy, hz)):
            node = g.node_skip[node]
            continue
        for t in range(g.node_first[node], g.node_first[node] + g.node_count[node]):
            if s < 0:
                c.key = t % (1 << 28)
            else:
                c.key = (s % (1 << 14)) * (1 << 14) + t % (1 << 14)
            if c.slot_kind[0] == SPHERE:
                q = rotate_back(R, sub(get3(c.slot_p, 0), p))
                sphere_triangle(address, g, c, t, q, c.slot_radius[0])
            else:
                fill_triangle(address, 1, t)
                convex_triangle(address, g, c, t)
        node += 1


@kernel
def box_in(R, p, S, q, centre, half, margin):
    """A box of a frame at S, q, with the margin, as a box along the axes of the frame at R, p."""
    h = turned_half(compose(transpose(R), S), half)
    return rotate_back(R, sub(add(q, rotate(S, centre)), p)), add(h, (margin, margin, margin))


@shared("void(intp, intp, intp)")
def against_mesh(address, i, j):
    """Shape i, convex or a mesh, against the mesh of shape j."""
    g, c = load_collision(address)
    fill_slot(address, 0, i)
    fill_slot(address, 1, j)
    S, q = get9(c.slot_R, 0), get3(c.slot_p, 0)
    R, p = get9(c.slot_R, 1), get3(c.slot_p, 1)
    margin, mesh = c.margin, g.kind[i] == MESH
    # of a mesh, all leaves near the other mesh, triangle by triangle; of anything else, itself
    near, wide = box_in(S, q, R, p, get3(g.own_centre, j), get3(g.own_half, j), margin)
    node = g.mesh_node[g.table[i]] if mesh else 0
    end = g.mesh_node[g.table[i] + 1] if mesh else 1
    while node < end:
        if mesh and apart(g.node_low, g.node_high, node, near, wide):
            node = g.node_skip[node]
            continue
        first = g.node_first[node] if mesh else -1
        last = first + g.node_count[node] if mesh else 0
        for s in range(first, last):
            centre, half = get3(g.own_centre, i), get3(g.own_half, i)
            if mesh:
                fill_triangle(address, 0, s)
                a, b, e = corner(g.triangle, s, 0), corner(g.triangle, s, 1), corner(g.triangle, s, 2)
                low = (min(a[0], b[0], e[0]), min(a[1], b[1], e[1]), min(a[2], b[2], e[2]))
                high = (max(a[0], b[0], e[0]), max(a[1], b[1], e[1]), max(a[2], b[2], e[2]))
                centre, half = scale(0.5, add(low, high)), scale(0.5, sub(high, low))
            c.triangle_a = s
            x, h = box_in(R, p, S, q, centre, half, margin)
            descend(address, g.table[j], x[0], x[1], x[2], h[0], h[1], h[2])
        node += 1
