"""Ways of the palms: to beside an object, back to below the shoulders, home; minimum jerk, no faster than hands may be.

m, ww, s  model, scratch and state of the World;  a  Avatar;  t  TwoPalms;  g  Grasp
"""

import math

from palpate.control.grasp.grasp_tables import APPROACH, load_grasp
from palpate.control.grasp.palms import palm_frame, rebase
from palpate.control.limbs import RIGHT
from palpate.dynamics.coordinates import difference
from palpate.dynamics.jacobian import body_frame
from palpate.jit import kernel, shared
from palpate.spatial.quaternions import (
    conjugate,
    matrix_quaternion,
    quaternion_exp,
    quaternion_product,
    rotation_between,
)
from palpate.spatial.vectors import add, add_scaled, cross, dot, get3, get4, put3, rotate, rotate_back, scale, sub
from palpate.world.state import load as load_world

UP = (0.0, 0.0, 1.0)
BESIDE, BEHIND, AWAY = range(3)
OFF_M = 0.05  # of the palms from the object's sides before they close, and after they open
BACK_M = 0.08  # of the wrists behind the shoulders, so that fingers clear the edge of what the object lies on
ASIDE_M = 0.03  # of the palms outside of the shoulders, there
OPEN_S = 0.6
HAND_M_S = 0.4  # of a target; the hand itself stays below 0.5
LEG_S = 1.0  # the shortest way
LEAD_S, LEAD_M_S = 1.5, 0.15  # of a way that others are led along: the shortest, and the largest speed


@kernel
def smooth_step(u):
    """Minimum jerk, 0 .. 1."""
    u = min(max(u, 0.0), 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


@kernel
def see_object(m, ww, a, g):
    """Where it is, and, until it is in the hands, which of its sides the palms go to: those to the right and left."""
    R, p = body_frame(m, ww, g.body)
    g.arm = rotate(R, g.at)
    g.p = add(add(p, g.arm), get3(ww.origin, m.root[m.body_link[g.body]]))
    chest = body_frame(m, ww, a.chest)[0]
    if g.state <= APPROACH:
        best = -1.0
        for k in range(2):
            along = R[k] * chest[1] + R[3 + k] * chest[4]
            if abs(along) > best:
                best, g.on, g.sign = abs(along), k, 1.0 if along > 0.0 else -1.0
    g.left = scale(g.sign, (R[g.on], R[3 + g.on], R[6 + g.on]))
    return R


@kernel
def palm_turn(g):
    """Orientation of both hands: their y from the right to the left, fingers ahead and level."""
    ahead = cross(g.left, UP)
    ahead = scale(1.0 / max(math.sqrt(dot(ahead, ahead)), 1e-9), ahead)
    x = cross(g.left, scale(-1.0, ahead))
    y = cross(scale(-1.0, ahead), x)
    return matrix_quaternion((x[0], y[0], -ahead[0], x[1], y[1], -ahead[1], x[2], y[2], -ahead[2])), ahead


@kernel
def drawn_back(m, ww, a, t, side, p):
    """A palm's place beside the body: wrist behind the shoulder, and no nearer to the middle than that."""
    R, chest = body_frame(m, ww, a.chest)
    left = (R[1], R[4], 0.0)
    left = scale(1.0 / max(math.sqrt(dot(left, left)), 1e-9), left)
    outwards, ahead = scale(-1.0 if side == RIGHT else 1.0, left), cross(left, UP)
    origin, shoulder = get3(ww.origin, a.first), get3(ww.p, t.shoulder[side])
    wide = dot(outwards, sub(shoulder, chest)) + ASIDE_M
    p = add_scaled(p, max(wide - dot(outwards, sub(p, add(origin, chest))), 0.0), outwards)
    to_shoulder = dot(ahead, sub(add(origin, shoulder), p)) - a.palm_at[side, 2]
    return add_scaled(p, min(to_shoulder - BACK_M, 0.0), ahead)


@kernel
def plan_beside(m, ww, a, t, g, back):
    """Targets OFF_M off the object's sides; back: drawn back to below the shoulders."""
    turn, _ = palm_turn(g)
    for side in range(2):
        outwards = scale(-1.0 if side == RIGHT else 1.0, g.left)
        p = add_scaled(g.p, g.half[g.on] + OFF_M, outwards)
        put3(g.to_p, side, drawn_back(m, ww, a, t, side, p) if back else p)
        for r in range(4):
            g.to_turn[side, r] = turn[r]


@kernel
def begin_way(a, t, g):
    """From where the targets are."""
    for side in range(2):
        put3(g.from_p, side, get3(t.target, side))
        for r in range(4):
            g.from_turn[side, r] = t.turn[side, r]


@kernel
def take_time(g):
    """Minimum jerk peaks at 15/8 of the mean speed."""
    far = 0.0
    for side in range(2):
        way = sub(get3(g.to_p, side), get3(g.from_p, side))
        far = max(far, math.sqrt(dot(way, way)))
    g.leg_s = max(LEG_S, 1.875 * far / HAND_M_S)


@kernel
def plan_outwards(a, t, g):
    """Targets off what was held, from where the palms are, as they are turned."""
    begin_way(a, t, g)
    for side in range(2):
        put3(g.to_p, side, add_scaled(get3(a.palm, side), -OFF_M, get3(a.palm_out, side)))
        for r in range(4):
            g.to_turn[side, r] = t.turn[side, r]
    g.leg_s = OPEN_S


@shared("void(intp, int64)")
def plan_way(address, to):
    """A new way: BESIDE the object, BEHIND that, or AWAY from wherever the palms are."""
    a, _, t, _, _, g = load_grasp(address)
    m, ww, _, _, _, _ = load_world(a.world)
    begin_way(a, t, g)
    if to == AWAY:  # not where the object is: it may have fallen to the floor
        for side in range(2):
            put3(g.to_p, side, drawn_back(m, ww, a, t, side, get3(t.target, side)))
            for r in range(4):
                g.to_turn[side, r] = t.turn[side, r]
    else:
        plan_beside(m, ww, a, t, g, to == BEHIND)
    take_time(g)


@kernel
def lead_on(g, t):
    """The targets of a leader: by go_m along go_way, minimum jerk, from wherever the last wish got to."""
    if g.go_m != g.go_to_m:
        g.go_from_m, g.go_to_m, g.go_s = g.gone_m, g.go_m, 0.0
        g.go_leg_s = max(LEAD_S, 1.875 * abs(g.go_to_m - g.go_from_m) / LEAD_M_S)
    g.go_s += t.dt
    u = smooth_step(g.go_s / max(g.go_leg_s, t.dt))
    now = g.go_from_m + u * (g.go_to_m - g.go_from_m)
    for side in range(2):
        put3(t.target, side, add_scaled(get3(t.target, side), now - g.gone_m, g.go_way))
    g.gone_m = now


@shared("void(intp)")
def go_on(address):
    """Targets along their way, no faster than HAND_M_S."""
    _, _, t, _, _, g = load_grasp(address)
    u = smooth_step(g.since_s / g.leg_s)
    for side in range(2):
        begin, here = get3(g.from_p, side), get3(t.target, side)
        step = sub(add_scaled(begin, u, sub(get3(g.to_p, side), begin)), here)
        far = math.sqrt(dot(step, step))
        put3(t.target, side, add_scaled(here, min(1.0, HAND_M_S * t.dt / max(far, 1e-12)), step))
        begin_turn = get4(g.from_turn, side)
        r = scale(u, rotation_between(begin_turn, get4(g.to_turn, side)))
        turn = quaternion_product(quaternion_exp(r[0], r[1], r[2]), begin_turn)
        for k in range(4):
            t.turn[side, k] = turn[k]


@kernel
def waist_frame(m, ww, a):
    """(R, its quaternion, p)."""
    R, p = body_frame(m, ww, a.waist)
    return R, matrix_quaternion(R), add(p, get3(ww.origin, a.first))


@kernel
def note_home(m, ww, a, t, g):
    """Where the palms were, in the waist's axes."""
    R, x, p = waist_frame(m, ww, a)
    for side in range(2):
        put3(g.home_p, side, rotate_back(R, sub(get3(t.target, side), p)))
        turn = quaternion_product(conjugate(x), get4(t.turn, side))
        for r in range(4):
            g.home_turn[side, r] = turn[r]


@kernel
def plan_home(m, ww, a, t, g):
    """A way back there."""
    begin_way(a, t, g)
    R, x, p = waist_frame(m, ww, a)
    for side in range(2):
        put3(g.to_p, side, add(p, rotate(R, get3(g.home_p, side))))
        turn = quaternion_product(x, get4(g.home_turn, side))
        for r in range(4):
            g.to_turn[side, r] = turn[r]
    take_time(g)


@shared("void(intp)")
def start_at_palms(address):
    """Both q_d and the targets: where they are now."""
    a, _, t, _, _, _ = load_grasp(address)
    m, ww, _, _, _, s = load_world(a.world)
    rebase(s, t)
    for side in range(2):
        put3(t.target, side, get3(a.palm, side))
        turn = matrix_quaternion(palm_frame(m, ww, a, side)[0])
        for r in range(4):
            t.turn[side, r] = turn[r]


@kernel
def palms_off(a, t):
    """How far the farther palm is from its target."""
    most = 0.0
    for side in range(2):
        gap = sub(get3(t.target, side), get3(a.palm, side))
        most = max(most, math.sqrt(dot(gap, gap)))
    return most


@kernel
def begin_rest(m, t, g):
    """The way of the arms back, on the manifold."""
    for n in range(m.nq):
        g.q_from[n] = t.q[n]
    for n in range(t.coordinate.shape[0]):
        t.q[t.coordinate[n]] = g.q_rest[t.coordinate[n]]
    difference(m, g.q_from, t.q, g.way)
    for n in range(t.coordinate.shape[0]):
        t.q[t.coordinate[n]] = g.q_from[t.coordinate[n]]
