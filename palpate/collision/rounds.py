"""Spheres and capsules: pairs with a closed form.  World axes; each normal goes from the first to the second shape."""

import math

from palpate.collision.found import touch
from palpate.jit import kernel
from palpate.spatial.vectors import add, add_scaled, column, dot, rotate, rotate_back, scale, sub

# Centres closer than this part of the radii have no direction between them; up is as good as any.
COINCIDENT = 1e-12
# Capsules that lie along each other touch along a line (sine of the angle).
PARALLEL = 0.1
# Between the ends of that line a nearer point counts only if it is nearer by this part of the radii.
NEARER = 1e-5


@kernel
def balls(address, x, r, y, s, fallback, feature):
    """Balls of radii r and s around x and y; `fallback` is the normal of concentric ones."""
    d = sub(y, x)
    distance = math.sqrt(dot(d, d))
    n = scale(1.0 / distance, d) if distance > COINCIDENT * (r + s) else fallback
    gap = distance - r - s
    touch(address, add_scaled(x, r + 0.5 * gap, n), n, gap, feature)


@kernel
def sphere_sphere(address, x, r, y, s):
    balls(address, x, r, y, s, (0.0, 0.0, 1.0), 0)


@kernel
def sphere_capsule(address, x, r, R, p, s, h):
    u = column(R, 2)
    t = min(max(dot(sub(x, p), u), -h), h)
    balls(address, x, r, add_scaled(p, t, u), s, column(R, 0), 0)


@kernel
def segments(p, u, h, q, w, k):
    """(t, r) of the nearest points p + t u, |t| <= h, and q + r w, |r| <= k.  Ericson 2005, 5.1.9."""
    d, uw = sub(q, p), dot(u, w)
    du, dw = dot(d, u), dot(d, w)
    size = 1.0 - uw * uw
    t = min(max((du - uw * dw) / size, -h), h) if size > 1e-12 else min(max(du, -h), h)
    r = t * uw - dw
    if abs(r) > k:
        r = min(max(r, -k), k)
        t = min(max(r * uw + du, -h), h)
    return t, r


@kernel
def distance_between(x, y):
    d = sub(y, x)
    return math.sqrt(dot(d, d))


@kernel
def capsule_capsule(address, R, p, r, h, S, q, s, k):
    """The nearest points; if the capsules lie along each other, the ends of their common stretch."""
    u, w, fallback = column(R, 2), column(S, 2), column(R, 0)
    t, v = segments(p, u, h, q, w, k)
    x, y = add_scaled(p, t, u), add_scaled(q, v, w)
    uw = dot(u, w)
    if 1.0 - uw * uw < PARALLEL * PARALLEL:
        middle, half = dot(sub(q, p), u), k * abs(uw)
        low, high = max(-h, middle - half), min(h, middle + half)
        if low < high:
            x0, x1 = add_scaled(p, low, u), add_scaled(p, high, u)
            y0 = add_scaled(q, min(max(dot(sub(x0, q), w), -k), k), w)
            y1 = add_scaled(q, min(max(dot(sub(x1, q), w), -k), k), w)
            balls(address, x0, r, y0, s, fallback, 1)
            balls(address, x1, r, y1, s, fallback, 2)
            if distance_between(x, y) > min(distance_between(x0, y0), distance_between(x1, y1)) - NEARER * (r + s):
                return
    balls(address, x, r, y, s, fallback, 0)


@kernel
def sphere_box(address, x, r, R, p, h):
    q = rotate_back(R, sub(x, p))
    near = (min(max(q[0], -h[0]), h[0]), min(max(q[1], -h[1]), h[1]), min(max(q[2], -h[2]), h[2]))
    d = sub(q, near)
    distance = math.sqrt(dot(d, d))
    if distance > COINCIDENT * r:
        out, height = scale(1.0 / distance, d), distance
    else:  # the centre is inside: out through the nearest face
        a, b, c = h[0] - abs(q[0]), h[1] - abs(q[1]), h[2] - abs(q[2])
        if a <= b and a <= c:
            out, height = (math.copysign(1.0, q[0]), 0.0, 0.0), -a
        elif b <= c:
            out, height = (0.0, math.copysign(1.0, q[1]), 0.0), -b
        else:
            out, height = (0.0, 0.0, math.copysign(1.0, q[2])), -c
    ball_above(address, x, r, rotate(R, out), height)


@kernel
def ball_above(address, x, r, out, height):
    """A ball whose centre is `height` above a surface, `out` of it."""
    gap = height - r
    touch(address, add_scaled(x, -(r + 0.5 * gap), out), scale(-1.0, out), gap, 0)


@kernel
def sphere_cylinder(address, x, r, R, p, radius, h):
    q = rotate_back(R, sub(x, p))
    across = math.sqrt(q[0] * q[0] + q[1] * q[1])
    radial = (q[0] / across, q[1] / across, 0.0) if across > COINCIDENT * radius else (1.0, 0.0, 0.0)
    side, cap = across - radius, abs(q[2]) - h  # how far outside of each
    axial = (0.0, 0.0, math.copysign(1.0, q[2]))
    if side > 0.0 and cap > 0.0:  # beyond the rim
        height = math.sqrt(side * side + cap * cap)
        out = add(scale(side / height, radial), scale(cap / height, axial))
    elif side > cap:
        out, height = radial, side
    else:
        out, height = axial, cap
    ball_above(address, x, r, rotate(R, out), height)
