"""A plane against everything: the points of a shape that are within the margin above it, or below.

n, offset: the plane n.x = offset, in the world; the solid is below.
"""

import math

from palpate.collision.contacts import load_collision
from palpate.collision.found import touch
from palpate.collision.support import shape_pose
from palpate.collision.tables import BOX, CAPSULE, CYLINDER, HULL, MESH, OWNS_CORNER, SPHERE
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add, add_scaled, column, dot, get3, rotate, rotate_back

# A rim that tilts less than this has no lowest point worth following; its points then stay where they are (sine).
UPRIGHT = 1e-3
RIM_POINTS = 4


@kernel
def above(address, margin, x, n, offset, feature):
    """A point x of a surface above the plane."""
    gap = dot(n, x) - offset
    if gap < margin:
        touch(address, add_scaled(x, -0.5 * gap, n), n, gap, feature)


@kernel
def plane_box(address, margin, R, p, h, n, offset):
    """The corners of the lowest face.  Of a thin box the others are near as well, but above these: none of them can
    come down before the box has turned by 35 degrees."""
    d = rotate_back(R, n)
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    axis = 0 if x >= y and x >= z else (1 if y >= z else 2)
    upper = 1 if d[axis] > 0.0 else 0
    for k in range(8):
        if (k >> axis) & 1 != upper:
            x = (h[0] if k & 1 else -h[0], h[1] if k & 2 else -h[1], h[2] if k & 4 else -h[2])
            above(address, margin, add(p, rotate(R, x)), n, offset, k)


@kernel
def plane_cylinder(address, margin, R, p, r, h, n, offset):
    """Four points of the lower rim, from its lowest on; lying on its side the lowest of both."""
    d = rotate_back(R, n)
    across = math.sqrt(d[0] * d[0] + d[1] * d[1])
    x, y = (-d[0] / across, -d[1] / across) if across > UPRIGHT else (1.0, 0.0)
    lying, lower = across > abs(d[2]), 1 if d[2] > 0.0 else 0
    for k in range(2 * RIM_POINTS):
        if k % RIM_POINTS == 0 if lying else k // RIM_POINTS == lower:
            above(address, margin, add(p, rotate(R, (r * x, r * y, h if k < RIM_POINTS else -h))), n, offset, k)
        x, y = -y, x


@kernel
def plane_mesh(address, margin, g, table, R, p, n, offset):
    """Every corner of every triangle near the plane, once."""
    d, height = rotate_back(R, n), dot(n, p) - offset
    node, end = g.mesh_node[table], g.mesh_node[table + 1]
    while node < end:
        lowest = height
        for k in range(3):
            lowest += min(d[k] * g.node_low[node, k], d[k] * g.node_high[node, k])
        if not lowest < margin:
            node = g.node_skip[node]
            continue
        for t in range(g.node_first[node], g.node_first[node] + g.node_count[node]):
            for k in range(3):
                if g.owns[t] & (OWNS_CORNER << k):
                    x = (g.triangle[t, 3 * k], g.triangle[t, 3 * k + 1], g.triangle[t, 3 * k + 2])
                    above(address, margin, add(p, rotate(R, x)), n, offset, 3 * t + k)
        node += 1


@shared("void(intp, intp, float64, float64, float64, float64)")
def plane_shape(address, i, nx, ny, nz, offset):
    """Contacts of a plane, the first shape, with shape i."""
    g, c = load_collision(address)
    R, p = shape_pose(g, c, i)
    n, kind, size, margin = (nx, ny, nz), g.kind[i], get3(g.size, i), c.margin
    if kind == SPHERE:
        above(address, margin, add_scaled(p, -size[0], n), n, offset, 0)
    elif kind == CAPSULE:
        for k in range(2):
            end = add_scaled(p, size[1] if k == 0 else -size[1], column(R, 2))
            above(address, margin, add_scaled(end, -size[0], n), n, offset, k)
    elif kind == BOX:
        plane_box(address, margin, R, p, size, n, offset)
    elif kind == CYLINDER:
        plane_cylinder(address, margin, R, p, size[0], size[1], n, offset)
    elif kind == HULL:
        begin = g.hull_vertex[g.table[i]]
        for k in range(begin, g.hull_vertex[g.table[i] + 1]):
            above(address, margin, add(p, rotate(R, get3(g.vertex, k))), n, offset, k - begin)
    elif kind == MESH:
        plane_mesh(address, margin, g, g.table[i], R, p, n, offset)
