"""The god-object of a vertex on a polygon: reference 2.4; Zilles and Salisbury 1995.

p0, p   the vertex a sample ago and now, in the axes of the polygon that has the edges: what moves needs no special case
a, n, t  an edge's beginning, outer normal and tangent;  depth d = n.(a - p), along s = t.(p - a)

A vertex that goes through a thin polygon between two samples enters by an edge too: its god-object is there, and the
contact lasts, as one that is slowly pressed through does, until it comes back or slides off the edge.
"""

from palpate.jit import kernel
from palpate.planar.bodies.nearness.gjk import following, preceding

APART, ENTERED, PASSED = range(3)  # what a vertex did between two samples
# Of a body's size: a vertex this little outside an edge's end is not beyond it.  Blocks of one width, stacked, have
# their corners exactly on each other's sides: without it rounding says whether they touch.
SKIN = 1e-9


@kernel
def outside(polygons, edge, p):
    """Signed distance of p from an edge's line, > 0 outside."""
    a, n = polygons.vertex, polygons.normal
    return n[edge, 0] * (p[0] - a[edge, 0]) + n[edge, 1] * (p[1] - a[edge, 1])


@kernel
def along_edge(polygons, edge, p):
    """s of p's foot on an edge's line."""
    a, t = polygons.vertex, polygons.tangent
    return t[edge, 0] * (p[0] - a[edge, 0]) + t[edge, 1] * (p[1] - a[edge, 1])


@kernel
def nearest_edge(polygons, body, p):
    """(edge, distance outside it) of the edge whose line is the least inside of, or the most outside of."""
    first, end = polygons.first[body], polygons.first[body + 1]
    best, far = first, outside(polygons, first, p)
    for edge in range(first + 1, end):
        d = outside(polygons, edge, p)
        if d > far:
            best, far = edge, d
    return best, far


@kernel
def entered_by(polygons, body, p0, p, likely):
    """(what it did, by which edge): the edge that the way p0 -> p crossed last on its way in.

    One that was inside before, too, has no such edge (it was put there): then `likely`, the edge of which the whole
    other body is the least inside.
    """
    first, end, skin = polygons.first[body], polygons.first[body + 1], SKIN * polygons.radius[body]
    edge, into, out, inside = -1, -2.0, 2.0, True
    for i in range(first, end):
        d0, d1 = outside(polygons, i, p0), outside(polygons, i, p)
        if d1 >= skin:
            inside = False
            if d0 >= 0.0:
                return APART, -1
            out = min(out, d0 / (d0 - d1))
        elif d1 < -skin and d0 >= -skin and d0 / (d0 - d1) >= into:
            edge, into = i, d0 / (d0 - d1)
    if inside and edge < 0 and outside(polygons, likely, p) < -skin:
        edge = likely
    if inside and edge >= 0:
        return ENTERED, edge
    if not inside and edge >= 0 and into < out:
        return PASSED, edge
    return APART, -1


@kernel
def follow(polygons, edge, p):
    """(edge, or -1: the contact ends; way): where the god-object of a contact goes, and the surface it passes on it.

    `way`: what is added to s of the new edge so that the place along the surface goes on from the old edge's.
    """
    body = polygons.body[edge]
    first, end = polygons.first[body], polygons.first[body + 1]
    way, skin = 0.0, SKIN * polygons.radius[body]
    for _ in range(end - first):
        d, s = outside(polygons, edge, p), along_edge(polygons, edge, p)
        if d >= 0.0:
            return -1, way
        if -skin <= s <= polygons.length[edge] + skin:
            return edge, way
        beyond = s > 0.0
        neighbour = following(first, end, edge) if beyond else preceding(first, end, edge)
        if nearest_edge(polygons, body, p)[1] >= skin:  # not inside: it slid off, or went right through and past
            return -1, way
        way += polygons.length[edge] if beyond else -polygons.length[neighbour]
        edge = neighbour
    return -1, way
