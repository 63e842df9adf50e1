"""Level 2: the vertices of a pair that have come into the other body, every step; reference 2.3.

Most pairs are near, not in touch: then one edge has the whole other body on its outer side, now and a sample ago, and
that is found in a step or two from the edge and the vertex of the step before.  Only without such an edge are vertices
looked at: those beyond the edge that is the least inside of (they follow each other around the polygon, so it is a walk
from the deepest to both sides), or all of a body that moved by a share of the other's width, which may be through it.

Every vertex inside is a contact.  That is at most two per pair for blocks and walls, as the reference has it; a
many-sided body has more, and each of them begins with d near 0, where choosing two would let forces jump.

V the body of the vertex, E that of the edge
"""

from palpate.jit import kernel
from palpate.planar.bodies.nearness.gjk import following, preceding, support, turn, turn_back
from palpate.planar.bodies.nearness.god_object import APART, PASSED, entered_by, outside
from palpate.planar.bodies.states import begin_contact, contact_of

FAST = 0.25  # of the other's width: one that moves more in a step may have gone through it, and is looked at whole


@kernel
def seen_from(motion, nearness, V, E):
    """(D, R): centre and (cosine, sine) of V in the axes of E, now."""
    c, s = nearness.turned[E, 0], nearness.turned[E, 1]
    C, S = nearness.turned[V, 0], nearness.turned[V, 1]
    D = turn_back((c, s), motion.X[V, 0] - motion.X[E, 0], motion.X[V, 1] - motion.X[E, 1])
    return D, (c * C + s * S, c * S - s * C)


@kernel
def seen_before(nearness, V, E):
    """The same a sample ago."""
    b = nearness.before
    c, s, C, S = b[E, 2], b[E, 3], b[V, 2], b[V, 3]
    return turn_back((c, s), b[V, 0] - b[E, 0], b[V, 1] - b[E, 1]), (c * C + s * S, c * S - s * C)


@kernel
def seen(polygons, place, vertex):
    """A vertex of V in the axes of E."""
    D, R = place
    x, y = turn(R, polygons.vertex[vertex, 0], polygons.vertex[vertex, 1])
    return D[0] + x, D[1] + y


@kernel
def gap_of_edge(polygons, edge, V, start, place):
    """(least distance of V outside an edge's line, its vertex)."""
    x, y = turn_back(place[1], -polygons.normal[edge, 0], -polygons.normal[edge, 1])
    vertex = support(polygons, V, start, x, y)
    return outside(polygons, edge, seen(polygons, place, vertex)), vertex


@kernel
def most_outside(polygons, E, V, start, place):
    """(gap, edge of E, vertex of V): the edge that V is the most outside of, or the least inside."""
    best, edge, vertex = -1e300, polygons.first[E], start
    at = start
    for i in range(polygons.first[E], polygons.first[E + 1]):
        gap, at = gap_of_edge(polygons, i, V, at, place)
        if gap > best:
            best, edge, vertex = gap, i, at
    return best, edge, vertex


@kernel
def separated(polygons, motion, nearness, pair):
    """Whether one edge has the other body outside, now and a sample ago; it is kept for the next step."""
    A, B = nearness.first[pair], nearness.second[pair]
    edge = nearness.axis[pair]
    if edge < 0:
        return False
    E = polygons.body[edge]
    V = A + B - E
    place, earlier = seen_from(motion, nearness, V, E), seen_before(nearness, V, E)
    first, end = polygons.first[E], polygons.first[E + 1]
    gap, vertex = gap_of_edge(polygons, edge, V, nearness.across[pair], place)
    if gap <= 0.0:  # to the neighbours, while that is better
        for i in (following(first, end, edge), preceding(first, end, edge)):
            other, at = gap_of_edge(polygons, i, V, vertex, place)
            if other > gap:
                gap, edge, vertex = other, i, at
    if gap <= 0.0:
        return False
    nearness.axis[pair], nearness.across[pair] = edge, vertex
    return gap_of_edge(polygons, edge, V, vertex, earlier)[0] > 0.0


@kernel
def try_vertex(polygons, contacts, E, likely, vertex, place, earlier):
    """A contact if a vertex came into E, or through it, since the last step; if it was put there, of edge `likely`."""
    p0, p = seen(polygons, earlier, vertex), seen(polygons, place, vertex)
    how, edge = entered_by(polygons, E, p0, p, likely)
    if how == APART or contact_of(polygons, contacts, vertex, E) >= 0:
        return
    if begin_contact(polygons, contacts, vertex, edge, p) and how == PASSED:
        contacts.caught += 1


@kernel
def enter(polygons, contacts, E, V, edge, vertex, place, earlier, whole):
    """Contacts of V's vertices in E; all are tried, or those beyond an edge, around the deepest."""
    first, end = polygons.first[V], polygons.first[V + 1]
    if whole:
        for i in range(first, end):
            try_vertex(polygons, contacts, E, edge, i, place, earlier)
        return
    i = vertex
    for _ in range(end - first):
        if outside(polygons, edge, seen(polygons, place, i)) >= 0.0:
            break
        try_vertex(polygons, contacts, E, edge, i, place, earlier)
        i = following(first, end, i)
    last, i = i, preceding(first, end, vertex)
    for _ in range(end - first - 1):
        if i == last or outside(polygons, edge, seen(polygons, place, i)) >= 0.0:
            break
        try_vertex(polygons, contacts, E, edge, i, place, earlier)
        i = preceding(first, end, i)


@kernel
def moved_at_most(polygons, motion, nearness, A, B):
    """How far a point of one can have moved in the axes of the other since the last step [m]."""
    X, b, turned = motion.X, nearness.before, nearness.turned
    x = (X[A, 0] - b[A, 0]) - (X[B, 0] - b[B, 0])
    y = (X[A, 1] - b[A, 1]) - (X[B, 1] - b[B, 1])
    far = abs(x) + abs(y)
    reach = polygons.radius[A] + polygons.radius[B]  # they are near each other
    for k in (A, B):  # chords of the two turns
        far += reach * (abs(turned[k, 0] - b[k, 2]) + abs(turned[k, 1] - b[k, 3]))
    return far


@kernel
def find_contacts(polygons, motion, nearness, contacts):
    """New contacts of all active pairs."""
    for k in range(nearness.n_active):
        pair = nearness.listed[k]
        if separated(polygons, motion, nearness, pair):
            continue
        A, B = nearness.first[pair], nearness.second[pair]
        of_B, of_A = seen_from(motion, nearness, B, A), seen_from(motion, nearness, A, B)
        gap_A, edge_A, vertex_B = most_outside(polygons, A, B, polygons.first[B], of_B)
        gap_B, edge_B, vertex_A = most_outside(polygons, B, A, polygons.first[A], of_A)
        if gap_A >= gap_B:
            nearness.axis[pair], nearness.across[pair] = edge_A, vertex_B
        else:
            nearness.axis[pair], nearness.across[pair] = edge_B, vertex_A
        if max(gap_A, gap_B) > 0.0 and separated(polygons, motion, nearness, pair):
            continue
        B_before, A_before = seen_before(nearness, B, A), seen_before(nearness, A, B)
        fast = moved_at_most(polygons, motion, nearness, A, B) > FAST * min(polygons.width[A], polygons.width[B])
        enter(polygons, contacts, A, B, edge_A, vertex_B, of_B, B_before, fast)
        enter(polygons, contacts, B, A, edge_B, vertex_A, of_A, A_before, fast)
