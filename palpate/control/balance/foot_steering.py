"""A leg that is steered: its foot is brought to a place, and held there, by the springs of the leg's joints.

    e  = (log(R_d R^T), x_d - x) of the sole's middle
    dq = J^T (J J^T + l^2)^-1 e + (1 - J^# J)(q_rest - q)          targets q_hold = q (+) dq
    v_hold = J^# (x'_d - (x' of the waist alone)),   a_ref = J^# x''_d
J  (6, n) of the leg's own axes: what the waist does is not the leg's to undo, only to make up for.

Used for a foot that swings, and, by the part `steered`, for a sole that bears too little to stay where it is.
"""

from __future__ import annotations

import math

import numpy as np

from palpate.control.avatar import Avatar
from palpate.dynamics.cholesky import cholesky_solve
from palpate.dynamics.coordinates import links_difference, put_quaternion, quaternion_at
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.jit import Struct, kernel
from palpate.model.model import CHAIN, Floats1, Floats2, Ints1, Model
from palpate.spatial.quaternions import matrix_quaternion, quaternion_exp, quaternion_log, quaternion_product
from palpate.spatial.vectors import add, compose, cross, get3, get6, get9, sub, transpose

DAMPING = 0.02  # l [m]: of the inverse where the leg is nearly straight
FAR_M = 0.10  # a foot is called no farther than this at once
FARTHEST_RAD = 0.4  # nor a joint
REST, PLACE, SPEED, ACCELERATION = range(4)  # what the inverse is asked for, one after the other
WAYS = 4
KP, KV = 1000.0, 60.0  # of a steered leg [N m/rad, N m s/rad]: softer it lags, stiffer the landing is a blow


class Legs(Struct):
    """n axes of a leg at most."""

    kp: float  # of a steered leg [N m/rad]
    kv: float
    middle: Floats2  # (2, 3) of the soles, in the axes of the feet
    count: Ints1  # (2,) links of each leg, and
    link: Ints1  # (2 * n,) those, from the hip down
    J: Floats2  # (6, n)
    JJ: Floats2  # (6, 6)
    e: Floats1  # (6,)
    x: Floats1  # (n,)
    rest: Floats1  # (n,)
    dq: Floats1  # (n,)
    vq: Floats1  # (n,)


def legs_of(model: Model, a: Avatar, size: float = 1.0) -> Legs:
    """size: of the gains, 1 for an adult."""
    m, zeros, links = model.arrays, np.zeros, []
    for side in range(2):
        leg, i = [], int(m.body_link[a.foot[side]])
        while i != a.first:
            leg.append(i)
            i = int(m.parent[i])
        links.append(leg[::-1])
    n = max(int(sum(m.axis_count[i] for i in leg)) for leg in links)
    longest = max(map(len, links))
    table = zeros(2 * longest, dtype=np.int64)
    for side in range(2):
        table[side * longest : side * longest + len(links[side])] = links[side]
    middle = np.array([a.sole_at[:4].mean(axis=0), a.sole_at[4:].mean(axis=0)])
    return Legs(
        kp=size * KP, kv=size * KV, middle=middle, count=np.array([len(leg) for leg in links]), link=table,
        J=zeros((6, n)), JJ=zeros((6, 6)), e=zeros(6), x=zeros(n), rest=zeros(n), dq=zeros(n), vq=zeros(n),
    )  # fmt: skip


@kernel
def leg_jacobian(m, w, legs, side, p):
    """J of the point p [from the reference point] of a foot, over the axes of its leg; how many."""
    n, first = 0, side * (legs.link.shape[0] // 2)
    for row in range(legs.count[side]):
        i = legs.link[first + row]
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            sw, sv = get6(w.S, k)
            u = add(sv, cross(sw, p))
            for r in range(3):
                legs.J[r, n], legs.J[3 + r, n] = sw[r], u[r]
            n += 1
    return n


@kernel
def damped_inverse(legs, n):
    """x = J^T (J J^T + l^2)^-1 e."""
    for r in range(6):
        for c in range(r + 1):
            total = DAMPING * DAMPING if r == c else 0.0
            for k in range(n):
                total += legs.J[r, k] * legs.J[c, k]
            legs.JJ[r, c] = total
    cholesky_solve(legs.JJ, legs.e)
    for k in range(n):
        legs.x[k] = 0.0
        for r in range(6):
            legs.x[k] += legs.J[r, k] * legs.e[r]


@kernel
def put_targets(m, s, b, legs, side, part, kp, kv):
    """q_hold, v_hold and gains of the leg."""
    n, first = 0, side * (legs.link.shape[0] // 2)
    for row in range(legs.count[side]):
        i = legs.link[first + row]
        k = m.axis_begin[i]
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                at = m.axis_q[k]
                s.q_hold[at] = min(max(s.q[at] + legs.dq[n], s.lower[k]), s.upper[k])
                n += 1
        else:
            turned = quaternion_exp(legs.dq[n], legs.dq[n + 1], legs.dq[n + 2])
            put_quaternion(s.q_hold, m.q_begin[i], quaternion_product(quaternion_at(s.q, m.q_begin[i]), turned))
            n += 3
    n = 0
    for row in range(legs.count[side]):
        i = legs.link[first + row]
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            s.v_hold[m.axis_v[k]] = part * legs.vq[n]
            s.kp[k] += part * (kp - s.kp[k])
            s.kv[k] += part * (kv - s.kv[k])
            n += 1


@kernel
def asked_twist(m, w, s, a, b, legs, side, way, n, R, point, velocity, spin):
    """e of the foot: REST what the posture would move it by, PLACE, SPEED and ACCELERATION as they are planned."""
    e = legs.e
    for r in range(6):
        e[r] = 0.0
    if way == REST:
        for r in range(6):
            for k in range(n):
                e[r] += legs.J[r, k] * legs.rest[k]
    elif way == PLACE:
        turned = quaternion_log(matrix_quaternion(compose(get9(b.turn, side), transpose(R))))
        away = sub(get3(b.place, side), point)
        far = math.sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2])
        part = min(1.0, FAR_M / far) if far > 0.0 else 0.0
        for r in range(3):
            e[r], e[3 + r] = turned[r], part * away[r]
    elif way == SPEED:  # the leg's own: what is asked, less what the waist alone does
        for r in range(3):
            e[r], e[3 + r] = -spin[r], b.place_velocity[side, r] - velocity[r]
        first, j = side * (legs.link.shape[0] // 2), 0
        for row in range(legs.count[side]):
            i = legs.link[first + row]
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                for r in range(6):
                    e[r] += legs.J[r, j] * s.v[m.axis_v[k]]
                j += 1
    else:
        for r in range(3):
            e[3 + r] = b.place_acceleration[side, r]


@kernel
def put_acceleration(m, b, legs, side, part):
    """a_ref of the leg's axes."""
    first, j = side * (legs.link.shape[0] // 2), 0
    for row in range(legs.count[side]):
        i = legs.link[first + row]
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            b.a_ref[m.axis_v[k]] = part * legs.x[j]
            j += 1


@kernel
def steer_leg(m, w, s, a, b, legs, side):
    """Targets of a leg: at rest, or of a foot that is brought to its place."""
    part, n = b.steered[side], legs.rest.shape[0]
    first = side * (legs.link.shape[0] // 2)
    links_difference(m, legs.link[first : first + legs.count[side]], s.q, b.q_rest, legs.rest)
    for k in range(n):
        legs.dq[k], legs.vq[k] = legs.rest[k], 0.0
    if part > 0.0:
        body = a.foot[side]
        _, p, point, velocity, spin = point_motion(m, w, body, get3(legs.middle, side))
        R, _ = body_frame(m, w, body)
        n = leg_jacobian(m, w, legs, side, p)
        for way in range(WAYS):  # one loop, so that the inverse is compiled once
            asked_twist(m, w, s, a, b, legs, side, way, n, R, point, velocity, spin)
            damped_inverse(legs, n)
            for k in range(n):
                if way == REST:
                    legs.dq[k] -= part * legs.x[k]
                elif way == PLACE:
                    legs.dq[k] = min(max(legs.dq[k] + part * legs.x[k], -FARTHEST_RAD), FARTHEST_RAD)
                elif way == SPEED:
                    legs.vq[k] = legs.x[k]
        put_acceleration(m, b, legs, side, part)  # of the last way
    put_targets(m, s, b, legs, side, part, legs.kp, legs.kv)
