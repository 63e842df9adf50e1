"""The support polygon: the convex hull of what bears, on the floor, and how a point lies in it.

H       (k, 2) corners in order, counter-clockwise, the interior on the left;  n of them
n_e     outward normal of edge e, from corner e to the next;  d_e = n_e . corner
inside  n_e . p <= d_e for all e
"""

import math

from palpate.jit import kernel

FLAT = 1e-12  # [m^2] a corner that turns less than this is none: it lies on the edge between its neighbours


@kernel
def turn(ax, ay, bx, by, cx, cy):
    """Twice the area of a triangle, positive counter-clockwise."""
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@kernel
def sort_points(points, n):
    """In place, by x and then y: there are few, and in the next tick they are nearly sorted."""
    for i in range(1, n):
        x, y = points[i, 0], points[i, 1]
        j = i - 1
        while j >= 0 and (points[j, 0] > x or (points[j, 0] == x and points[j, 1] > y)):
            points[j + 1, 0], points[j + 1, 1] = points[j, 0], points[j, 1]
            j -= 1
        points[j + 1, 0], points[j + 1, 1] = x, y


@kernel
def convex_hull(points, n, H):
    """Corners of the hull of n points (n, 2), which are sorted, into H (n + 1, 2); how many (Andrew 1979)."""
    sort_points(points, n)
    count = 0
    for half in range(2):  # the lower side from left to right, the upper back
        base = count
        for i in range(n):
            k = n - 1 - i if half else i
            x, y = points[k, 0], points[k, 1]
            while count - base >= 2 and (
                turn(H[count - 2, 0], H[count - 2, 1], H[count - 1, 0], H[count - 1, 1], x, y) <= FLAT
            ):
                count -= 1
            H[count, 0], H[count, 1] = x, y
            count += 1
        count -= 1  # its last is the first of the other side
    return max(count, 1)


@kernel
def edge(H, n, e):
    """(n_x, n_y, d) of edge e; a normal of zero where two corners are one."""
    f = e + 1 if e + 1 < n else 0
    x, y = H[f, 1] - H[e, 1], H[e, 0] - H[f, 0]
    size = math.sqrt(x * x + y * y)
    s = 1.0 / size if size > 0.0 else 0.0
    return s * x, s * y, s * (x * H[e, 0] + y * H[e, 1])


@kernel
def margin(H, n, x, y):
    """Distance of a point from the polygon's edge [m], negative outside."""
    nearest, outside = math.inf, False
    for e in range(n):
        f = e + 1 if e + 1 < n else 0
        u, v = H[f, 0] - H[e, 0], H[f, 1] - H[e, 1]
        px, py = x - H[e, 0], y - H[e, 1]
        square = u * u + v * v
        t = min(max((px * u + py * v) / square, 0.0), 1.0) if square > 0.0 else 0.0
        dx, dy = px - t * u, py - t * v
        nearest = min(nearest, dx * dx + dy * dy)
        outside = outside or u * py - v * px < 0.0
    return math.sqrt(nearest) * (-1.0 if outside or n < 3 else 1.0)


@kernel
def reach(H, n, x, y, ux, uy):
    """How far it is from a point to the edge along the direction (ux, uy), of unit length [m]; 0 from outside."""
    way = math.inf
    for e in range(n):
        nx, ny, d = edge(H, n, e)
        rate = nx * ux + ny * uy
        if rate > 1e-9:
            way = min(way, (d - nx * x - ny * y) / rate)
    return max(way, 0.0) if n >= 3 and way < math.inf else 0.0


@kernel
def middle(H, n):
    """Mean of the corners."""
    x, y = 0.0, 0.0
    for e in range(n):
        x, y = x + H[e, 0], y + H[e, 1]
    return x / n, y / n


@kernel
def pull_in(H, n, x, y, slack):
    """A point pulled towards the middle until n_e . p <= d_e + slack for every edge; slack [m] < 0: a margin."""
    cx, cy = middle(H, n)
    part = 1.0
    for e in range(n):
        nx, ny, d = edge(H, n, e)
        room, want = d + slack - (nx * cx + ny * cy), nx * (x - cx) + ny * (y - cy)
        if want > room and want > 0.0:
            part = min(part, max(room, 0.0) / want)
    return cx + part * (x - cx), cy + part * (y - cy)
