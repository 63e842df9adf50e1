"""Two convex shapes: one contact where they are nearest, or the whole patch where faces or sides meet.

The normal n comes from distance or penetration.  If it is that of a face of one shape, the polygon that the other
turns towards it is clipped by the sides of that face: Sutherland and Hodgman 1974.  If two sides of cylinders or
capsules lie along each other, the ends of their common stretch.  Otherwise the one point, and what else of a
polyhedron is about to come down beside it.  All in a's frame, then out.
"""

import math

from palpate.collision.contacts import SINGLE, load_collision
from palpate.collision.epa import epa
from palpate.collision.faces import put_face
from palpate.collision.found import touch
from palpate.collision.gjk import FAR, OVERLAP, gjk
from palpate.collision.support import relate
from palpate.collision.tables import CYLINDER
from palpate.jit import kernel, shared
from palpate.spatial.vectors import (
    add,
    add_scaled,
    cross,
    dot,
    get3,
    get9,
    put3,
    rotate,
    rotate_back,
    scale,
    sub,
)  # fmt: skip

# A normal this near to a face's is the face's (1 - cos of the angle).
ALIGNED = 1e-6
# The second shape's face is taken as reference only if it is nearer to the normal by this, so that the choice, and
# with it the names of the points, does not flicker.
PREFER_FIRST = 1e-7
# Part of the smaller shape: corners this little outside the other face still belong to it, so that equal faces keep
# their own corners.
SLACK = 1e-5
# Sides that lie along each other (sine of the angle).
PARALLEL = 0.05
# Nearly the normal of a face: within 10 degrees (1 - cos).
NEARLY = 0.015


@kernel
def cut_by_side(clip, label, begin, n, closed, to, at, inward, side, slack):
    """Clip the n corners at `begin` into those at `to`; returns how many there are.  A line is not closed."""
    m = 0
    previous = begin + n - 1
    x = get3(clip, previous)
    dx = dot(inward, sub(x, at))
    for k in range(begin, begin + n):
        y = get3(clip, k)
        dy = dot(inward, sub(y, at))
        if (closed or k > begin) and (dx < -slack) != (dy < -slack):  # the edge x -> y crosses: a new corner
            put3(clip, to + m, add_scaled(x, min(max(dx / (dx - dy), 0.0), 1.0), sub(y, x)))  # within the slack: an end
            # going out, the next edge is the cutting side's; coming in, the rest of x -> y
            label[to + m] = side if dy < -slack else label[previous]
            m += 1
        if dy >= -slack:
            put3(clip, to + m, y)
            label[to + m] = label[k]
            m += 1
        previous, x, dx = k, y, dy
    return m


@kernel
def clip_polygon(polygon, clip, label, reference, sides, incident, n, normal, slack):
    """Clip the n corners at row `incident` by the sides of those at `reference`; (first row, corners) in `clip`."""
    Q, closed = clip.shape[0] // 2, n > 2
    middle = (0.0, 0.0, 0.0)
    for k in range(sides):
        middle = add_scaled(middle, 1.0 / sides, get3(polygon, reference + k))
    for k in range(n):
        put3(clip, k, get3(polygon, incident + k))
        label[k] = k
    begin = 0
    for k in range(sides):
        at = get3(polygon, reference + k)
        edge = sub(get3(polygon, reference + (k + 1 if k + 1 < sides else 0)), at)
        inward = cross(normal, edge)
        size = dot(inward, inward)
        if size > 0.0 and n > 0:
            s = math.copysign(1.0 / math.sqrt(size), dot(inward, sub(middle, at)))
            n = cut_by_side(clip, label, begin, n, closed, Q - begin, at, scale(s, inward), Q + k, slack)
            begin = Q - begin
    return begin, n


@kernel
def slack_of(c):
    return SLACK * min(c.slot_extent[0], c.slot_extent[1])


@kernel
def to_world(slot_R, slot_p, x):
    """A point of the first slot's frame."""
    return add(get3(slot_p, 0), rotate(get9(slot_R, 0), x))


@kernel
def patch(address, c, side, least):
    """The face of slot `side` against the polygon of the other; returns the smallest gap, infinite if none is near.

    Gaps that are no larger than `least` are left out.

    A corner of the patch is where two edges meet, of the clipped polygon or sides of the face; with the numbers of
    both faces these are its feature.
    """
    Q = c.polygon.shape[0] // 2
    normal, plane = get3(c.facing, side), get3(c.polygon, side * Q)
    radius, margin, lowest = c.slot_radius[1 - side], c.margin, math.inf
    begin, n = clip_polygon(
        c.polygon, c.clip, c.label, side * Q, c.corners[side], (1 - side) * Q, c.corners[1 - side], normal, slack_of(c)
    )  # fmt: skip
    ids = (side * 256 + c.corners[2] % 256) * 256 + c.corners[3] % 256
    out = rotate(get9(c.slot_R, 0), scale(1.0 - 2.0 * side, normal))
    for k in range(n):
        x = get3(c.clip, begin + k)
        gap = dot(normal, sub(x, plane)) - radius
        if least < gap < margin:
            enters = c.label[begin + (k - 1 if k > 0 else n - 1)]
            feature = (ids * 256 + enters % 256) * 256 + c.label[begin + k] % 256
            touch(
                address, to_world(c.slot_R, c.slot_p, add_scaled(x, -(radius + 0.5 * gap), normal)), out, gap, feature
            )
            lowest = min(lowest, gap)
    return lowest


@kernel
def turn_faces(address, c, n):
    """The polygons of both slots towards each other along n; how far their normals are off it (1 - cos), 2: no face."""
    for side in range(2):
        d = n if side == 0 else scale(-1.0, rotate_back(get9(c.pair_R, 0), n))
        put_face(address, side, d[0], d[1], d[2])
    off_a = 1.0 - dot(get3(c.facing, 0), n) if c.corners[0] > 2 else 2.0
    off_b = 1.0 + dot(get3(c.facing, 1), n) if c.corners[1] > 2 else 2.0
    return off_a, off_b


@shared("float64(intp, float64, float64, float64)")
def meet(address, nx, ny, nz):
    """Contacts of the two slots if n, in a's frame, is the normal of a face: the smallest gap, or infinite."""
    _, c = load_collision(address)
    off_a, off_b = turn_faces(address, c, (nx, ny, nz))
    if min(off_a, off_b) > ALIGNED:
        return math.inf
    return patch(address, c, 0 if off_a < ALIGNED and off_a <= off_b + PREFER_FIRST else 1, -math.inf)


@shared("void(intp, float64, float64, float64, float64)")
def come_down(address, nx, ny, nz, gap):
    """Beside the one contact along n, nearly the normal of a face: what else is about to come down on that face.

    A box that lands on one edge turns about it, and within the same step its other corners may strike.  Of polyhedra:
    a rim has no corners.
    """
    _, c = load_collision(address)
    if c.slot_kind[0] == CYLINDER or c.slot_kind[1] == CYLINDER:
        return
    off_a, off_b = turn_faces(address, c, (nx, ny, nz))
    if min(off_a, off_b) < NEARLY:
        patch(address, c, 0 if off_a <= off_b else 1, max(gap, 0.0) + slack_of(c))


@kernel
def side_by_side(address, c, n, nearest):
    """Two lines, of a at row 0 and of b at row Q, along each other: the ends of their common stretch."""
    Q = c.polygon.shape[0] // 2
    a, d = get3(c.polygon, 0), get3(c.polygon, Q)
    u, w = sub(get3(c.polygon, 1), a), sub(get3(c.polygon, Q + 1), d)
    turn, uu, ww = cross(u, w), dot(u, u), dot(w, w)
    if dot(turn, turn) > PARALLEL * PARALLEL * uu * ww or abs(dot(u, n)) > PARALLEL * math.sqrt(uu):
        return False
    # along a's line, 0 .. 1
    t0 = dot(sub(d, a), u) / uu
    t1 = t0 + dot(w, u) / uu
    low, high = max(0.0, min(t0, t1)), min(1.0, max(t0, t1))
    if not low < high:
        return False
    radii, lowest = c.slot_radius[0] + c.slot_radius[1], math.inf
    out = rotate(get9(c.slot_R, 0), n)
    for k in range(2):
        t = low if k == 0 else high
        x, y = add_scaled(a, t, u), add_scaled(d, (t - t0) / (t1 - t0), w)
        gap = dot(n, sub(y, x)) - radii
        touch(
            address,
            to_world(c.slot_R, c.slot_p, add_scaled(x, c.slot_radius[0] + 0.5 * gap, n)),
            out,
            gap,
            SINGLE + 1 + k,
        )
        lowest = min(lowest, gap)
    return lowest < nearest + slack_of(c)  # crossing sides are nearest between the ends


@shared("void(intp)")
def manifold(address):
    """Contacts of the two slots, given how far apart they are and along what: c.answer."""
    _, c = load_collision(address)
    n, a = (c.answer[1], c.answer[2], c.answer[3]), (c.answer[4], c.answer[5], c.answer[6])
    gap = c.answer[0] - c.slot_radius[0] - c.slot_radius[1]
    # the nearest point is there too, unless the patch reaches as deep: a rim is clipped as a polygon, a face is tilted
    if meet(address, n[0], n[1], n[2]) < gap + slack_of(c):
        return
    if c.corners[0] == 2 and c.corners[1] == 2 and side_by_side(address, c, n, gap):
        return
    middle = add_scaled(a, c.slot_radius[0] + 0.5 * gap, n)
    touch(address, to_world(c.slot_R, c.slot_p, middle), rotate(get9(c.slot_R, 0), n), gap, SINGLE)
    come_down(address, n[0], n[1], n[2], gap)


@shared("int64(intp)")
def solve(address):
    """Distance or penetration of the two slots into c.answer; 0 if they are farther apart than the margin."""
    _, c = load_collision(address)
    relate(c)
    outcome = gjk(address, c.margin + c.slot_radius[0] + c.slot_radius[1])
    if outcome > OVERLAP:
        epa(address, outcome - OVERLAP)
    return 0 if outcome == FAR else 1


@kernel
def convex(address):
    """Contacts of the two convex shapes in the slots."""
    if solve(address):
        manifold(address)
