"""Level 1: which pairs are near, at a rate of its own; reference 2.2.

1  boxes, inflated by d_off/2 + v_max (time to the next look), swept along x; the reference's 5 mm would leave no d_off
2  distance of those whose boxes overlap, by GJK from the last simplex
3  nearer than d_on: handed to level 2;  farther than d_off: taken from it

The reference's distances alone would miss who comes faster than d_on per look: both grow by what the two fastest
points can do until the next look.  A look comes earlier if bodies may have moved by more than that: none is missed,
however they are pushed.
"""

import math

from palpate.jit import kernel
from palpate.planar.bodies.nearness.gjk import gjk, turn


@kernel
def turn_bodies(motion, nearness):
    """Where the bodies were and are: cosines and sines for this step."""
    X, turned, before = motion.X, nearness.turned, nearness.before
    for b in range(1, X.shape[0]):
        before[b, 0], before[b, 1] = nearness.last[b, 0], nearness.last[b, 1]
        before[b, 2], before[b, 3] = turned[b, 0], turned[b, 1]
        nearness.last[b, 0], nearness.last[b, 1] = X[b, 0], X[b, 1]
        if X[b, 2] != nearness.last[b, 2]:
            turned[b, 0], turned[b, 1] = math.cos(X[b, 2]), math.sin(X[b, 2])
            nearness.last[b, 2] = X[b, 2]


@kernel
def put_here(motion, nearness):
    """Forget where they were: nothing has moved, whatever was written to X."""
    X = motion.X
    for b in range(X.shape[0]):
        c, s = math.cos(X[b, 2]), math.sin(X[b, 2])
        nearness.turned[b, 0], nearness.turned[b, 1] = c, s
        nearness.last[b, 0], nearness.last[b, 1], nearness.last[b, 2] = X[b, 0], X[b, 1], X[b, 2]
        nearness.before[b, 0], nearness.before[b, 1] = X[b, 0], X[b, 1]
        nearness.before[b, 2], nearness.before[b, 3] = c, s
    nearness.since = -1


@kernel
def forget_pairs(nearness):
    """As if nobody had ever looked."""
    nearness.n_active, nearness.looks, nearness.since = 0, 0, -1
    nearness.slack = nearness.moved = 0.0
    for pair in range(nearness.first.shape[0]):
        nearness.active[pair] = nearness.met[pair] = nearness.corners[pair] = 0
        nearness.axis[pair], nearness.across[pair], nearness.distance[pair] = -1, 0, 0.0
        for k in range(4):
            nearness.closest[pair, k] = 0.0
        for k in range(6):
            nearness.simplex[6 * pair + k] = 0
    for b in range(nearness.order.shape[0]):
        nearness.order[b] = b


@kernel
def fastest(polygons, motion):
    """Bound of the speed of any point of any body [m/s]."""
    v, most = motion.v, 0.0
    for b in range(1, v.shape[0]):
        speed = math.sqrt(v[b, 0] * v[b, 0] + v[b, 1] * v[b, 1]) + abs(v[b, 2]) * polygons.radius[b]
        most = max(most, speed)
    return most


@kernel
def inflate_boxes(polygons, motion, nearness, margin):
    box, turned = nearness.box, nearness.turned
    for b in range(1, motion.X.shape[0]):
        R = (turned[b, 0], turned[b, 1])
        left = low = math.inf
        right = high = -math.inf
        for i in range(polygons.first[b], polygons.first[b + 1]):
            x, y = turn(R, polygons.vertex[i, 0], polygons.vertex[i, 1])
            left, right, low, high = min(left, x), max(right, x), min(low, y), max(high, y)
        box[b, 0], box[b, 2] = motion.X[b, 0] + left - margin, motion.X[b, 0] + right + margin
        box[b, 1], box[b, 3] = motion.X[b, 1] + low - margin, motion.X[b, 1] + high + margin


@kernel
def sort_by_left(nearness):
    """By insertion: nearly in order since the last look."""
    order, box = nearness.order, nearness.box
    for k in range(2, order.shape[0]):
        b, i = order[k], k
        while i > 1 and box[order[i - 1], 0] > box[b, 0]:
            order[i] = order[i - 1]
            i -= 1
        order[i] = b


@kernel
def measure(polygons, motion, nearness, pair):
    """Distance of a pair by GJK, from where the last one ended."""
    A, B, at, corner = nearness.first[pair], nearness.second[pair], 6 * pair, nearness.simplex
    D = (motion.X[A, 0] - motion.X[B, 0], motion.X[A, 1] - motion.X[B, 1])
    Ra, Rb = (nearness.turned[A, 0], nearness.turned[A, 1]), (nearness.turned[B, 0], nearness.turned[B, 1])
    distance, s, n, i0, k0, i1, k1, i2, k2 = gjk(
        polygons, A, B, D, Ra, Rb, nearness.corners[pair],
        corner[at], corner[at + 1], corner[at + 2], corner[at + 3], corner[at + 4], corner[at + 5],
    )  # fmt: skip
    nearness.distance[pair], nearness.corners[pair] = distance, n
    corner[at], corner[at + 1], corner[at + 2], corner[at + 3], corner[at + 4], corner[at + 5] = i0, k0, i1, k1, i2, k2
    if n < 3:
        vertex = polygons.vertex
        ax, ay = turn(
            Ra, vertex[i0, 0] + s * (vertex[i1, 0] - vertex[i0, 0]), vertex[i0, 1] + s * (vertex[i1, 1] - vertex[i0, 1])
        )
        bx, by = turn(
            Rb, vertex[k0, 0] + s * (vertex[k1, 0] - vertex[k0, 0]), vertex[k0, 1] + s * (vertex[k1, 1] - vertex[k0, 1])
        )
        nearness.closest[pair, 0], nearness.closest[pair, 1] = motion.X[A, 0] + ax, motion.X[A, 1] + ay
        nearness.closest[pair, 2], nearness.closest[pair, 3] = motion.X[B, 0] + bx, motion.X[B, 1] + by
    return distance


@kernel
def look(polygons, motion, rules, nearness, dt):
    """All pairs anew."""
    until_next = fastest(polygons, motion) * dt * rules.proximity_every
    margin = 0.5 * rules.far + until_next
    inflate_boxes(polygons, motion, nearness, margin)
    sort_by_left(nearness)
    nearness.looks += 1
    box, order, n = nearness.box, nearness.order, motion.X.shape[0]
    for k in range(1, n):
        a = order[k]
        for m in range(k + 1, n):
            b = order[m]
            if box[b, 0] > box[a, 2]:
                break  # this one and all after it begin further right
            pair = nearness.number[a * n + b]
            if pair < 0 or box[a, 1] > box[b, 3] or box[b, 1] > box[a, 3]:
                continue
            nearness.met[pair] = nearness.looks
            far = measure(polygons, motion, nearness, pair) - 2.0 * until_next
            if far < rules.near:
                nearness.active[pair] = 1
            elif far > rules.far:
                nearness.active[pair] = 0
    nearness.n_active = 0
    for pair in range(nearness.first.shape[0]):
        if nearness.met[pair] != nearness.looks:
            nearness.active[pair] = 0
        if nearness.active[pair] == 1:
            nearness.listed[nearness.n_active] = pair
            nearness.n_active += 1
    nearness.slack, nearness.moved, nearness.since = rules.near + 2.0 * until_next, 0.0, 0


@kernel
def look_is_due(polygons, motion, rules, nearness, dt):
    """At the rate of level 1, or at once where bodies may have come as near as a pair that is not active."""
    nearness.since += 1
    nearness.moved += 2.0 * dt * fastest(polygons, motion)
    return nearness.since <= 0 or nearness.since >= rules.proximity_every or nearness.moved >= nearness.slack
