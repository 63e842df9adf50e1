"""Penetration of two convex cores: the expanding polytope algorithm.  van den Bergen 2001.

W, the difference of the shapes, holds the origin; the nearest point of its surface is the shortest way out.  A
polytope inside W grows, by one point of W a time, where it is nearest to the origin, until it has W's own face there.
Faces are triples of rows of c.vertex, counter-clockwise from outside; c.plane holds their normals and distances.
"""

import math

from palpate.collision.contacts import MAX_FACES, MAX_VERTICES, load_collision
from palpate.collision.gjk import APART, gjk, put_answer, triangle_weights
from palpate.collision.support import put_support
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add, add_scaled, cross, dot, get3, put3, scale, sub

# Parts of W's size.  A face is W's own if W reaches no farther than this beyond it, or than this part of the depth.
EXACT = 1e-9
RELATIVE = 1e-7
# Less than this is flat: a tetrahedron that thin would be rounding, and there may be more on the other side.
FLAT = 1e-7
# Faces that are in one plane: distance, and cosine.
SAME_PLANE, SAME_WAY = 1e-9, 1.0 - 1e-9
# A face that is seen from no higher than this is in the same plane.
ROUNDING = 1e-10
# A face with a smaller area has no normal (squares of the size).
NO_AREA = 1e-20
# Shapes this far apart have a distance beyond rounding; how often they are moved so far.
CLEAR, SETTLE = 0.1, 12


@kernel
def perpendicular(d, k):
    """A vector across d, of three around it (k = 0, 1, 2), the first across its smallest part."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    e = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
    u = cross(d, e)
    if k == 0:
        return u
    v = cross(d, u)
    s = math.sqrt(dot(u, u) / max(dot(v, v), 1e-300))
    c, t = -0.5, 0.8660254037844386 if k == 1 else -0.8660254037844386
    return add(scale(c, u), scale(t * s, v))


@kernel
def outward_of(x, n, k):
    """The k-th direction in which to look for a point off the simplex of n rows."""
    sign = 1.0 if k < 3 else -1.0
    if n == 1:
        return (sign if k % 3 == 0 else 0.0, sign if k % 3 == 1 else 0.0, sign if k % 3 == 2 else 0.0)
    if n == 2:
        return scale(sign, perpendicular(sub(get3(x, 1), get3(x, 0)), k % 3))
    return scale(1.0 if k == 0 else -1.0, cross(sub(get3(x, 1), get3(x, 0)), sub(get3(x, 2), get3(x, 0))))


@kernel
def widens(x, n, flat):
    """Whether row n lies off the simplex of the n rows before it, by more than `flat` [m]."""
    e = sub(get3(x, n), get3(x, 0))
    if n == 1:
        return dot(e, e) > flat * flat
    u = sub(get3(x, 1), get3(x, 0))
    if n == 2:
        across = cross(u, e)
        return dot(across, across) > flat * flat * dot(u, u)
    normal = cross(u, sub(get3(x, 2), get3(x, 0)))
    return abs(dot(e, normal)) > flat * math.sqrt(dot(normal, normal))


@kernel
def length(x, i):
    return math.sqrt(dot(get3(x, i), get3(x, i)))


@kernel
def fill_simplex(address, x, rows):
    """Complete the rows of the simplex to four that are not flat: (how many could be found, how far they reach)."""
    size = 0.0
    for k in range(rows):
        size = max(size, length(x, k))
    n = 1
    for k in range(1, rows):  # first without those that are in the way
        for r in range(9):
            x[n, r] = x[k, r]
        if widens(x, n, FLAT * size):
            n += 1
    k = 0
    while n < 4 and k < (2 if n == 3 else 6):
        d = outward_of(x, n, k)
        put_support(address, d[0], d[1], d[2], n)
        size = max(size, length(x, n))
        k += 1
        if widens(x, n, FLAT * size):
            n += 1
            k = 0
    return n, size


@kernel
def put_face(face, plane, x, f, i, j, k, least):
    """Face f through vertices i, j, k; one of no more than the least area is never chosen: its distance is infinite."""
    face[3 * f], face[3 * f + 1], face[3 * f + 2] = i, j, k
    a = get3(x, i)
    n = cross(sub(get3(x, j), a), sub(get3(x, k), a))
    size = math.sqrt(dot(n, n))
    if size > least:
        n = scale(1.0 / size, n)
        plane[f, 0], plane[f, 1], plane[f, 2], plane[f, 3] = n[0], n[1], n[2], dot(n, a)
    else:
        plane[f, 0], plane[f, 1], plane[f, 2], plane[f, 3] = 0.0, 0.0, 0.0, math.inf


@kernel
def nearest_face(plane, n):
    best = 0
    for f in range(1, n):
        if plane[f, 3] < plane[best, 3]:
            best = f
    return best


@kernel
def put_edge(horizon, n, i, j):
    """Edge i -> j of a face that goes: on the horizon, unless the face on its other side goes too."""
    for k in range(n):
        if horizon[2 * k] == j and horizon[2 * k + 1] == i:
            horizon[2 * k], horizon[2 * k + 1] = horizon[2 * n - 2], horizon[2 * n - 1]
            return n - 1
    horizon[2 * n], horizon[2 * n + 1] = i, j
    return n + 1


@kernel
def cut(face, plane, horizon, n, w, height):
    """Remove the faces that w is more than `height` above: the faces left, and the edges of the hole in c.horizon."""
    edges, f = 0, 0
    while f < n:
        seen = plane[f, 0] * w[0] + plane[f, 1] * w[1] + plane[f, 2] * w[2] - plane[f, 3]
        if seen > height:
            for m in range(3):
                edges = put_edge(horizon, edges, face[3 * f + m], face[3 * f + (m + 1) % 3])
            n -= 1
            for m in range(3):
                face[3 * f + m] = face[3 * n + m]
            for m in range(4):
                plane[f, m] = plane[n, m]
        else:
            f += 1
    return n, edges


@kernel
def is_ring(horizon, n):
    """Whether n edges are a hole that one point can close: no vertex is left twice."""
    for i in range(n):
        for j in range(i):
            if horizon[2 * i] == horizon[2 * j]:
                return False
    return n > 2


@kernel
def flat_way(x, n, answer):
    """Of two shapes that are flat and in one plane: any way across it."""
    d = (0.0, 0.0, 1.0)
    if n == 3:
        d = cross(sub(get3(x, 1), get3(x, 0)), sub(get3(x, 2), get3(x, 0)))
    elif n == 2:
        d = perpendicular(sub(get3(x, 1), get3(x, 0)), 0)
    a = (x[0, 3], x[0, 4], x[0, 5])
    put_answer(answer, 0.0, scale(1.0 / math.sqrt(dot(d, d)), d), a, a)


@kernel
def axis_of(R, k):
    """The k-th of 12 directions: both ways along the three axes of the first shape, then of the second."""
    sign, r = 1.0 - 2.0 * (k % 2), (k // 2) % 3
    if k < 6:
        return (sign if r == 0 else 0.0, sign if r == 1 else 0.0, sign if r == 2 else 0.0)
    return (sign * R[0, r], sign * R[0, 3 + r], sign * R[0, 6 + r])


@shared("void(intp, intp)")
def epa(address, n):
    """From the n rows of a simplex that holds the origin to c.answer; the distance is not positive."""
    _, c = load_collision(address)
    x = c.vertex
    n, size = fill_simplex(address, x, n)
    if n < 4:
        flat_way(x, n, c.answer)
        return
    for f in range(2):  # both sides of the triangle 0, 1, 2; the fourth corner sees one of them
        put_face(c.face, c.plane, x, f, 0, 1 + f, 2 - f, NO_AREA * size * size)
    faces, best, n, shortest = 2, 0, 3, math.inf
    out, a = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    while n < MAX_VERTICES - 1:
        if n > 3:
            d, depth = get3(c.plane, best), c.plane[best, 3]
            put_support(address, d[0], d[1], d[2], n)
            reach = dot(d, get3(x, n))
            if reach - depth <= EXACT * size + RELATIVE * abs(depth):
                way_out(c.face, c.plane, x, faces, best, SAME_PLANE * size, c.answer)
                return
            if reach < shortest:
                shortest, out, a = reach, d, (x[n, 3], x[n, 4], x[n, 5])
        left, edges = cut(c.face, c.plane, c.horizon, faces, get3(x, n), ROUNDING * size)
        if left + edges > MAX_FACES or not is_ring(c.horizon, edges):
            break
        for k in range(edges):
            put_face(c.face, c.plane, x, left + k, c.horizon[2 * k], c.horizon[2 * k + 1], n, NO_AREA * size * size)
        faces = left + edges
        n += 1
        best = nearest_face(c.plane, faces)
    # Rounding broke the polytope: shapes whose axes all but agree, or round ones.  The shortest way out seen so far is
    # one; along the axes of the two, or across a face that was not looked at, there may be a shorter.
    for k in range(12 + faces):
        d = axis_of(c.pair_R, k) if k < 12 else get3(c.plane, k - 12)
        if k < 12 or c.plane[k - 12, 3] < shortest:
            put_support(address, d[0], d[1], d[2], n)
            reach = dot(d, get3(x, n))
            if reach < shortest:
                shortest, out, a = reach, d, (x[n, 3], x[n, 4], x[n, 5])
    put_answer(c.answer, -shortest, out, a, sub(a, scale(shortest, out)))
    settle(address, size)


@kernel
def settle(address, size):
    """From a way out, in c.answer, to the shortest near it.

    The second shape is moved along it until the two are clearly apart, where their distance is beyond rounding.  The
    direction of that distance is no longer a way out than the one moved along, and the same only if it is the shortest.
    """
    _, c = load_collision(address)
    depth, n, a = -c.answer[0], (c.answer[1], c.answer[2], c.answer[3]), (c.answer[4], c.answer[5], c.answer[6])
    p = get3(c.pair_p, 0)
    for _ in range(SETTLE):
        s = depth + CLEAR * size
        put3(c.pair_p, 0, add_scaled(p, s, n))
        if gjk(address, 4.0 * (size + s)) != APART:
            break
        m = (c.answer[1], c.answer[2], c.answer[3])
        shorter = s * dot(m, n) - c.answer[0]
        if not shorter < depth:
            break
        depth, n, a = shorter, m, (c.answer[4], c.answer[5], c.answer[6])
    put3(c.pair_p, 0, p)
    put_answer(c.answer, -depth, n, a, sub(a, scale(depth, n)))


@kernel
def way_out(face, plane, x, n, nearest, same_plane, answer):
    """Depth, normal and the two points, given the nearest of n faces.

    W's own face may be many triangles in one plane: the points come from the one that the origin's foot lies on.
    """
    normal, depth = get3(plane, nearest), plane[nearest, 3]
    foot, best, a = scale(depth, normal), math.inf, (0.0, 0.0, 0.0)
    for f in range(n):
        if f == nearest or (abs(plane[f, 3] - depth) <= same_plane and dot(get3(plane, f), normal) > SAME_WAY):
            i, j, k = face[3 * f], face[3 * f + 1], face[3 * f + 2]
            wi, wj, wk = sub(get3(x, i), foot), sub(get3(x, j), foot), sub(get3(x, k), foot)
            r, s, t = triangle_weights(wi, wj, wk)
            miss = add(add(scale(r, wi), scale(s, wj)), scale(t, wk))
            if dot(miss, miss) < best:
                best = dot(miss, miss)
                a = (r * x[i, 3] + s * x[j, 3] + t * x[k, 3], r * x[i, 4] + s * x[j, 4] + t * x[k, 4],
                     r * x[i, 5] + s * x[j, 5] + t * x[k, 5])  # fmt: skip
    put_answer(answer, -depth, normal, a, sub(a, foot))
