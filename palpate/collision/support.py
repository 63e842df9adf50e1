"""Convex shapes as compiled code sees them: two slots, each a core rounded by a ball.

A sphere is a point with a radius, a capsule a segment with a radius; the others have no radius.  All that the distance
between two convex shapes needs is the farthest point of each core in a direction, in the shape's own frame.
"""

import math

from palpate.collision.contacts import load_collision
from palpate.collision.tables import BOX, CAPSULE, CYLINDER, HULL, SPHERE, TRIANGLE
from palpate.jit import kernel, shared, stage
from palpate.spatial.vectors import (
    add,
    compose,
    dot,
    get3,
    get9,
    put3,
    put9,
    rotate,
    rotate_back,
    scale,
    sub,
    transpose,
)

# Hulls of fewer vertices are searched whole, larger ones by walking along edges.
SMALL_HULL = 24


@kernel
def shape_pose(g, c, i):
    """Shape i in the world: R, p."""
    link = g.link[i]
    R = get9(c.link_R, link)
    return compose(R, get9(g.R, i)), add(get3(c.link_p, link), rotate(R, get3(g.p, i)))


@shared("void(intp, intp, intp)")
def fill_slot(address, side, i):
    """Shape i, where it is in the world, as the first (0) or second (1) of two."""
    g, c = load_collision(address)
    kind, table = g.kind[i], g.table[i]
    R, p = shape_pose(g, c, i)
    put9(c.slot_R, side, R)
    put3(c.slot_p, side, p)
    put3(c.slot_size, side, get3(g.size, i))
    c.slot_kind[side], c.slot_table[side] = kind, table
    c.slot_last[side] = g.hull_vertex[table] if kind == HULL else 0
    c.slot_radius[side] = g.size[i, 0] if kind in (SPHERE, CAPSULE) else 0.0
    c.slot_extent[side] = g.radius[i]


@shared("void(intp, intp, intp)")
def fill_triangle(address, side, t):
    """Triangle t of the mesh whose frame the slot has."""
    g, c = load_collision(address)
    c.slot_kind[side] = TRIANGLE
    c.slot_radius[side] = 0.0
    for k in range(9):
        c.slot_corner[3 * side + k // 3, k % 3] = g.triangle[t, k]
    u = sub(get3(c.slot_corner, 3 * side + 1), get3(c.slot_corner, 3 * side))
    v = sub(get3(c.slot_corner, 3 * side + 2), get3(c.slot_corner, 3 * side))
    c.slot_extent[side] = math.sqrt(max(dot(u, u), dot(v, v)))


@kernel
def relate(c):
    """The second slot seen from the first, once both are filled."""
    R = get9(c.slot_R, 0)
    Rt = transpose(R)
    put9(c.pair_R, 0, compose(Rt, get9(c.slot_R, 1)))
    put3(c.pair_p, 0, rotate(Rt, sub(get3(c.slot_p, 1), get3(c.slot_p, 0))))


@stage
def hull_support(address, side, x, y, z):
    """The vertex of a hull farthest along (x, y, z), its row."""
    g, c = load_collision(address)
    d, vertex, near = (x, y, z), g.vertex, g.near
    begin, end = g.hull_vertex[c.slot_table[side]], g.hull_vertex[c.slot_table[side] + 1]
    best = c.slot_last[side]
    far = dot(d, get3(vertex, best))
    if end - begin <= SMALL_HULL:
        for k in range(begin, end):
            height = dot(d, get3(vertex, k))
            if height > far:
                best, far = k, height
    else:
        here = -1
        while here != best:  # uphill along edges: a hull has no other tops
            here = best
            for k in range(g.near_begin[here], g.near_begin[here + 1]):
                height = dot(d, get3(vertex, near[k]))
                if height > far:
                    best, far = near[k], height
    c.slot_last[side] = best
    return best


@stage
def support(address, side, dx, dy, dz):
    """The point of a core farthest along d, both in the shape's frame."""
    g, c = load_collision(address)
    kind = c.slot_kind[side]
    x, y, z = get3(c.slot_size, side)
    if kind == BOX:
        return (math.copysign(x, dx), math.copysign(y, dy), math.copysign(z, dz))
    if kind == CAPSULE:
        return (0.0, 0.0, math.copysign(y, dz))
    if kind == CYLINDER:
        across = math.sqrt(dx * dx + dy * dy)
        s = x / across if across > 1e-12 * abs(dz) else 0.0
        return (s * dx, s * dy, math.copysign(y, dz))
    if kind == HULL:
        return get3(g.vertex, hull_support(address, side, dx, dy, dz))
    if kind == TRIANGLE:
        best, far = 3 * side, -math.inf
        for k in range(3 * side, 3 * side + 3):
            height = dot((dx, dy, dz), get3(c.slot_corner, k))
            if height > far:
                best, far = k, height
        return get3(c.slot_corner, best)
    return (0.0, 0.0, 0.0)  # SPHERE


@shared("void(intp, float64, float64, float64, intp)")
def put_support(address, dx, dy, dz, row):
    """A row of c.vertex: the point w = a - b farthest along d of the difference of both cores, with its a and b."""
    _, c = load_collision(address)
    R, p, d = get9(c.pair_R, 0), get3(c.pair_p, 0), (dx, dy, dz)
    for side in range(2):
        e = d if side == 0 else rotate_back(R, scale(-1.0, d))
        x = support(address, side, e[0], e[1], e[2])
        if side == 1:
            x = add(p, rotate(R, x))
        for k in range(3):
            c.vertex[row, 3 + 3 * side + k] = x[k]
    for k in range(3):
        c.vertex[row, k] = c.vertex[row, 3 + k] - c.vertex[row, 6 + k]
