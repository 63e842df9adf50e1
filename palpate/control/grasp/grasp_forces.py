"""What palms feel of what they hold, and the forces that hold it: squeeze, its slow loop, slip, weight.

m, ww, s  model, scratch and state of the World;  a  Avatar;  t  TwoPalms;  o  ObjectForm;  g  Grasp
"""

import math

from palpate.control.grasp.grasp_tables import CARRY, IDLE, LIFT, LOWER, PRESS, load_grasp
from palpate.control.grasp.palms import palm_frame
from palpate.control.limbs import LEFT, RIGHT, TRUNK
from palpate.jit import kernel, shared
from palpate.spatial.vectors import (
    add,
    add6,
    add_scaled,
    cross,
    dot,
    finite3,
    get3,
    get6,
    get9,
    put3,
    put6,
    rotate,
    rotate_back,
    scale,
    sub,
)
from palpate.world.state import load as load_world

ZERO, UP = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
PRESS_S = 0.3  # that the squeeze takes to rise
WEIGHT_S = 0.2  # and the weight that is fed forward
MOST_N = 60.0  # of a palm: squeeze, and what the loop may add
RISE_N_S, FALL_N_S = 200.0, 500.0  # of the squeeze; the ramp of press is slower
LOOP_NS_M, LOOP_M_S = 1000.0, 0.05
SLIP_M, SLIP_N = 0.5e-3, 4.0  # every so much slip adds so much squeeze
NEAR_CONE, CONE_N_S = 0.8, 60.0  # friction beyond this part of its limit raises the squeeze so fast
FELT_S = 0.005  # smooths what is felt
DEAF_N = 0.5  # of it that leads nowhere, so that nothing drifts
GONE_N = 0.5  # a palm with less presses against nothing
FAST_M_S, BRAKE_NS_M = 0.35, 200.0  # a palm that is faster is braked, with at most MOST_N


@kernel
def in_hands(g):
    return PRESS <= g.state <= LOWER


@kernel
def feel(s, a, o, g):
    """The known force of hands on the object; if it listens, also what that does to the palms beyond its weight."""
    f, n = ZERO, ZERO
    if g.body < s.n_wrenches:
        n, f = get6(s.wrenches, g.body)
    carried = add(get3(a.palm_force, RIGHT), get3(a.palm_force, LEFT))
    away = sub(add(carried, scale(g.weight_now_N, UP)), g.felt)
    g.felt = add_scaled(g.felt, t_part(o.dt), away)
    n = sub(n, cross(g.arm, f))  # at its origin; here where the hands are
    if g.listens:
        level = (g.felt[0], g.felt[1], 0.0)
        size = math.sqrt(dot(level, level))
        f = add_scaled(f, max(size - DEAF_N, 0.0) / max(size, 1e-9), level)
    if not (finite3(f) and finite3(n)):
        f, n = ZERO, ZERO
    o.force, o.torque = f, n
    return math.sqrt(dot(f, f))


@kernel
def t_part(dt):
    return dt / (FELT_S + dt)


@kernel
def feel_slip(R, a, g):
    """How far the palms went against the object since it was taken."""
    g.slip_m = 0.0
    for side in range(2):
        way = sub(rotate_back(R, sub(get3(a.palm, side), g.p)), get3(g.taken_at, side))
        g.slip_m = max(g.slip_m, math.sqrt(dot(way, way)))


@kernel
def note_taken(R, a, g):
    for side in range(2):
        put3(g.taken_at, side, rotate_back(R, sub(get3(a.palm, side), g.p)))
    g.slip_m, g.slip_answered_m = 0.0, 0.0


@kernel
def answer_slip(a, t, g):
    """More squeeze."""
    if not g.answers:
        return
    if g.slip_m > g.slip_answered_m + SLIP_M:
        g.slip_answered_m = g.slip_m
        g.more_N += SLIP_N
    for side in range(2):
        load, f = a.palm_load[side], get3(a.palm_force, side)
        across = math.sqrt(max(dot(f, f) - load * load, 0.0))
        if load > 1.0 and across > NEAR_CONE * g.friction * load:
            g.more_N += CONE_N_S * t.dt
    g.more_N = min(g.more_N, max(MOST_N - g.squeeze_N, 0.0))


@kernel
def keep_squeeze(a, t, g):
    """The torque's part rises and falls at its rates; the loop brings the targets nearer."""
    wanted = 0.0
    if PRESS <= g.state <= LOWER:
        wanted = min(g.squeeze_N + g.more_N, MOST_N)
        if g.state == PRESS:
            wanted *= min(g.since_s / PRESS_S, 1.0)
    if PRESS < g.state <= LOWER and min(a.palm_load[RIGHT], a.palm_load[LEFT]) < GONE_N:
        g.squeeze_now_N, wanted = 0.0, 0.0  # at once: pressed against nothing, hands would clap together
    g.squeeze_now_N += min(max(wanted - g.squeeze_now_N, -FALL_N_S * t.dt), RISE_N_S * t.dt)
    lifted = g.state in (LIFT, CARRY, LOWER)
    rate = g.weight_N / WEIGHT_S * t.dt
    g.weight_now_N += min(max((g.weight_N if lifted else 0.0) - g.weight_now_N, -rate), rate)
    if not in_hands(g) or not g.loops:
        return
    least, most = min(a.palm_load[RIGHT], a.palm_load[LEFT]), max(a.palm_load[RIGHT], a.palm_load[LEFT])
    if most < MOST_N:
        v = min(max((g.squeeze_now_N - least) / LOOP_NS_M, -LOOP_M_S), LOOP_M_S)
        for side in range(2):
            inwards = scale(1.0 if side == RIGHT else -1.0, g.left)
            put3(t.target, side, add_scaled(get3(t.target, side), v * t.dt, inwards))


@kernel
def brake(v):
    """Force against a palm that is too fast."""
    speed = math.sqrt(dot(v, v))
    return scale(-min(BRAKE_NS_M * max(speed - FAST_M_S, 0.0), MOST_N) / max(speed, 1e-9), v)


@shared("void(intp)")
def feed_forward(address):
    """tau += J^T of what the palms do, squeeze and half of the weight each; and the weight of arms, trunk and head."""
    a, _, _, _, _, g = load_grasp(address)
    m, ww, _, _, _, s = load_world(a.world)
    for i in range(a.first, a.end):
        f = ZERO
        if g.bears:
            f = scale(-m.mass[i], (m.gravity[0], m.gravity[1], m.gravity[2]))
        c = add(get3(ww.p, i), rotate(get9(ww.R, i), get3(m.com, i)))
        put6(g.load, i, cross(c, f), f)
    for side in range(2):
        f = add_scaled(scale(0.5 * g.weight_now_N, UP), g.squeeze_now_N if side == RIGHT else -g.squeeze_now_N, g.left)
        if g.state != IDLE:
            f = add(f, brake(get3(a.palm_velocity, side)))
        add6(g.load, m.body_link[a.hand[side]], cross(palm_frame(m, ww, a, side)[1], f), f)
    for i in range(a.end - 1, a.first, -1):
        n, f = get6(g.load, i)
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            if a.limb[k] >= TRUNK:
                sw, sv = get6(ww.S, k)
                s.tau[m.axis_v[k]] += dot(sw, n) + dot(sv, f)
        add6(g.load, m.parent[i], n, f)


@kernel
def tell_balance(a, g):
    """What is carried, as the palms feel it."""
    if not in_hands(g):
        a.load, a.load_moment = ZERO, ZERO
        return
    force, moment = ZERO, ZERO
    for side in range(2):
        f = get3(a.palm_force, side)
        force, moment = add(force, f), add(moment, cross(sub(get3(a.palm, side), a.com), f))
    a.load, a.load_moment = force, moment
