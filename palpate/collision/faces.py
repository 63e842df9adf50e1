"""The polygon that a convex shape turns towards a direction: a face, a cap, the line of a side, or a point.

Written to c.polygon, in the first shape's frame: that of the first from row 0, of the second from row Q.
"""

import math

from palpate.collision.contacts import RIM, load_collision
from palpate.collision.tables import BOX, CAPSULE, CYLINDER, HULL, TRIANGLE
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add, cross, dot, get3, get9, put3, rotate, scale, sub

# A rim that tilts less than this has no lowest point worth following; its corners then stay where they are (sine).
UPRIGHT = 1e-3
SIDE = 0.7  # a cylinder turns its side, not its cap, towards what is more than about 45 degrees off its axis


@kernel
def box_face(polygon, row, size, n):
    """The face of a box most along n: (corners, its number, its normal)."""
    x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
    k = 0 if x >= y and x >= z else (1 if y >= z else 2)
    u, v = (k + 1) % 3, (k + 2) % 3
    s = math.copysign(1.0, n[k])
    for i in range(4):  # counter-clockwise about +k
        polygon[row + i, k] = s * size[k]
        polygon[row + i, u] = size[u] if i == 1 or i == 2 else -size[u]
        polygon[row + i, v] = size[v] if i >= 2 else -size[v]
    return 4, 2 * k + (1 if s < 0.0 else 0), (s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0)


@kernel
def cylinder_face(polygon, row, r, h, n):
    """The cap of a cylinder as a polygon that begins at its lowest point, or the line of its side."""
    across = math.sqrt(n[0] * n[0] + n[1] * n[1])
    x, y = (n[0] / across, n[1] / across) if across > UPRIGHT else (1.0, 0.0)
    if across > SIDE:
        put3(polygon, row, (r * x, r * y, -h))
        put3(polygon, row + 1, (r * x, r * y, h))
        return 2, 2, (x, y, 0.0)
    s = math.copysign(1.0, n[2])
    for k in range(RIM):
        put3(polygon, row + k, (r * x, r * y, s * h))
        x, y = 0.7071067811865476 * (x - y), 0.7071067811865476 * (x + y)  # an eighth of a turn
    return RIM, 1 if s < 0.0 else 0, (0.0, 0.0, s)


@kernel
def hull_face(g, polygon, row, table, n):
    """The face of a hull most along n."""
    begin, end = g.hull_face[table], g.hull_face[table + 1]
    best, along = begin, -2.0
    for f in range(begin, end):
        x = dot(n, get3(g.face_normal, f))
        if x > along:
            best, along = f, x
    first, last = g.face_begin[best], g.face_begin[best + 1]
    for k in range(first, last):
        put3(polygon, row + k - first, get3(g.vertex, g.face_vertex[k]))
    return last - first, best - begin, get3(g.face_normal, best)


@kernel
def triangle_face(polygon, row, a, b, e, n):
    """A triangle, whichever side of it is along n."""
    put3(polygon, row, a)
    put3(polygon, row + 1, b)
    put3(polygon, row + 2, e)
    normal = cross(sub(b, a), sub(e, a))
    size = math.sqrt(dot(normal, normal))
    s = math.copysign(1.0 / size if size > 0.0 else 0.0, dot(normal, n))
    return 3, 0, scale(s, normal)


@shared("void(intp, intp, float64, float64, float64)")
def put_face(address, side, x, y, z):
    """The polygon of a slot towards (x, y, z), given in its own frame, into c.polygon, c.corners and c.facing."""
    g, c = load_collision(address)
    row, n = side * (c.polygon.shape[0] // 2), (x, y, z)
    kind, size = c.slot_kind[side], get3(c.slot_size, side)
    if kind == BOX:
        corners, number, normal = box_face(c.polygon, row, size, n)
    elif kind == CYLINDER:
        corners, number, normal = cylinder_face(c.polygon, row, size[0], size[1], n)
    elif kind == HULL:
        corners, number, normal = hull_face(g, c.polygon, row, c.slot_table[side], n)
    elif kind == TRIANGLE:
        a, b = get3(c.slot_corner, 3 * side), get3(c.slot_corner, 3 * side + 1)
        corners, number, normal = triangle_face(c.polygon, row, a, b, get3(c.slot_corner, 3 * side + 2), n)
    else:  # the segment of a capsule, the point of a sphere
        h = size[1] if kind == CAPSULE else 0.0
        put3(c.polygon, row, (0.0, 0.0, -h))
        put3(c.polygon, row + 1, (0.0, 0.0, h))
        corners, number, normal = (2 if kind == CAPSULE else 1), 0, n
    if side == 1:
        R, p = get9(c.pair_R, 0), get3(c.pair_p, 0)
        for k in range(row, row + corners):
            put3(c.polygon, k, add(p, rotate(R, get3(c.polygon, k))))
        normal = rotate(R, normal)
    c.corners[side], c.corners[2 + side] = corners, number
    put3(c.facing, side, normal)
