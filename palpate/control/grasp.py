"""Grasp by friction: two palms on the sides of an object; nothing is welded.

    idle -> raise -> approach -> close -> press -> hold -> lift -> carry         as far as `wish` wants
                                                    hold <- lower <- carry
    any that holds -> open -> withdraw -> rest -> idle                           wish, lost, pulled

raise     palms beside the object, but back where the wrists are below the shoulders: clear of what it lies on
approach  OFF_M off its sides, at its middle, palms towards it, fingers ahead
close     CLOSE_M_S inwards, each until it feels CLOSED_N
press     q_d := q ("rebase"), so that the load spreads over the palm; then the squeeze rises as a torque,
          tau = J_R^T (+s) + J_L^T (-s)
hold      on what bears it: it yields along x and y;   carry  lifted: along all, and turns about z (object_form.py)
          squeeze: targets approach by (s - least palm force)/1000 N s/m, not above MOST_N
          slip, or friction near its limit: more squeeze
open      lost (a palm has < LOST_N for 50 ms), pulled beyond a limit, or asked: no squeeze, palms outwards

The hands' speed, force, and the growth of force are limited throughout: a person is never held by force, nor struck.

s  squeeze;  m, ww, s  model, scratch and state of the World;  a  Avatar;  w, t  palms.py;  o, j  object_form.py;  g  Grasp
"""

import math

from palpate.control.grasp_tables import (
    APPROACH,
    ASKED,
    CARRY,
    CLOSE,
    FELL,
    FREE,
    HOLD,
    IDLE,
    JOINT_FORM,
    LIFT,
    LIFTED,
    LOST,
    LOWER,
    OBJECT_FORM,
    OPEN,
    PRESS,
    PULLED,
    RAISE,
    REST,
    UNREACHED,
    UNTOUCHED,
    WITHDRAW,
    load_grasp,
)  # fmt: skip
from palpate.control.limbs import LEFT, RIGHT, TRUNK
from palpate.control.object_form import begin_form, finite3, lead_palms, yield_joints, yield_to
from palpate.control.palms import hold_arms, palm_frame, place_palms, reach_palms, rebase
from palpate.dynamics.coordinates import difference, integrate
from palpate.dynamics.jacobian import body_frame
from palpate.jit import kernel, shared
from palpate.jit.routines import routine
from palpate.spatial.quaternions import matrix_quaternion, quaternion_exp, quaternion_product, rotation_between
from palpate.spatial.vectors import (
    add,
    add6,
    add_scaled,
    cross,
    dot,
    get3,
    get4,
    get6,
    get9,
    put3,
    put6,
    rotate,
    rotate_back,
    scale,
    sub,
)  # fmt: skip
from palpate.world.state import load as load_world

ZERO, UP = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
OFF_M = 0.05  # of the palms from the object's sides before they close, and after they open
CLOSE_M_S, CLOSED_N, CLOSE_S = 0.05, 1.0, 2.5
PRESS_S, SETTLE_S = 0.3, 0.3
LIFT_S, WEIGHT_S, LOWER_M_S, DEEPEST_M = 1.0, 0.2, 0.05, 0.6
OPEN_S, REST_S = 0.6, 1.2
HAND_M_S = 0.4  # of a target; the hand itself stays below 0.5
LEG_S = 1.0  # the shortest way
MOST_N = 60.0  # of a palm: squeeze, and what the loop may add
RISE_N_S, FALL_N_S = 200.0, 500.0  # of the squeeze; the ramp of press is slower
LOOP_NS_M, LOOP_M_S = 1000.0, 0.05
LOST_N, LOST_S = 5.0, 0.05
PULLED_S = 0.02
NEAR_M = 0.005  # a palm that is not nearer to its place after a way does not reach it
LATE_S = 1.0  # and so long it may take
BORNE_PART, BORNE_S = 0.3, 0.03  # of its weight that the palms bear when something else bears it
SLIP_M, SLIP_N = 0.5e-3, 4.0  # every so much slip adds so much squeeze
NEAR_CONE, CONE_N_S = 0.8, 60.0  # friction beyond this part of its limit raises the squeeze so fast
FELT_S = 0.02


@kernel
def smooth_step(u):
    """Minimum jerk, 0 .. 1."""
    u = min(max(u, 0.0), 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


@kernel
def enter(g, state):
    g.state, g.since_s = state, 0.0


@kernel
def in_hands(g):
    return PRESS <= g.state <= LOWER


# ---- the object


@kernel
def see_object(m, ww, a, g):
    """Where it is, and, until it is in the hands, which of its sides the palms go to: those to the right and left."""
    R, p = body_frame(m, ww, g.body)
    g.p = add(p, get3(ww.origin, m.root[m.body_link[g.body]]))
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
def plan_beside(m, ww, a, t, g, back):
    """Targets OFF_M off the object's sides; back: drawn back to below the shoulders."""
    turn, ahead = palm_turn(g)
    for side in range(2):
        outwards = scale(-1.0 if side == RIGHT else 1.0, g.left)
        p = add_scaled(g.p, g.half[g.on] + OFF_M, outwards)
        if back:
            shoulder = add(get3(ww.origin, a.first), get3(ww.p, t.shoulder[side]))
            to_shoulder = dot(ahead, sub(shoulder, p)) - a.palm_at[side, 2]
            p = add_scaled(p, min(to_shoulder, 0.0), ahead)
        put3(g.to_p, side, p)
        for r in range(4):
            g.to_turn[side, r] = turn[r]


@kernel
def plan_outwards(a, t, g):
    """Targets off what was held, from where the palms are, as they are turned."""
    begin_way(a, t, g)
    for side in range(2):
        put3(g.to_p, side, add_scaled(get3(a.palm, side), -OFF_M, get3(a.palm_out, side)))
        for r in range(4):
            g.to_turn[side, r] = t.turn[side, r]
    g.leg_s = OPEN_S


@kernel
def begin_way(a, t, g):
    """From where the targets are."""
    for side in range(2):
        put3(g.from_p, side, get3(t.target, side))
        for r in range(4):
            g.from_turn[side, r] = t.turn[side, r]


@shared("void(intp, int64)")
def let_go(address, why):
    """Open both hands; nobody is asked."""
    a, _, t, _, _, g = load_grasp(address)
    g.wish, g.why, g.more_N = float(FREE), why, 0.0
    plan_outwards(a, t, g)
    enter(g, OPEN)


@kernel
def take_time(g):
    """Minimum jerk peaks at 15/8 of the mean speed."""
    far = 0.0
    for side in range(2):
        way = sub(get3(g.to_p, side), get3(g.from_p, side))
        far = max(far, math.sqrt(dot(way, way)))
    g.leg_s = max(LEG_S, 1.875 * far / HAND_M_S)


@shared("void(intp, int64)")
def plan_way(address, back):
    """A new way to beside the object."""
    a, _, t, _, _, g = load_grasp(address)
    m, ww, _, _, _, _ = load_world(a.world)
    begin_way(a, t, g)
    plan_beside(m, ww, a, t, g, back)
    take_time(g)


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
def palms_off(a, t):
    """How far the farther palm is from its target."""
    most = 0.0
    for side in range(2):
        gap = sub(get3(t.target, side), get3(a.palm, side))
        most = max(most, math.sqrt(dot(gap, gap)))
    return most


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


# ---- what is felt


@kernel
def feel(s, a, o, g):
    """The known force of hands on the object; and, if it listens, what the object does to the palms beyond its weight."""
    f, n = ZERO, ZERO
    if g.body < s.n_wrenches:
        n, f = get6(s.wrenches, g.body)
    carried = add(get3(a.palm_force, RIGHT), get3(a.palm_force, LEFT))
    away = sub(add(carried, scale(g.weight_now_N, UP)), g.felt)
    g.felt = add_scaled(g.felt, t_part(o.dt), away)
    if g.listens:
        f = add(f, g.felt)
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


# ---- states


@kernel
def before_contact(address, m, ww, s, a, t, g):
    """idle, raise, approach, close."""
    wants = g.wish > FREE
    if g.state == IDLE:
        if wants and not a.fallen:
            for n in range(t.coordinate.shape[0]):
                g.q_rest[t.coordinate[n]] = s.q_hold[t.coordinate[n]]
            start_at_palms(address)
            plan_way(address, 1)
            g.why = 0
            enter(g, RAISE)
    elif not wants:
        plan_way(address, 1)
        enter(g, WITHDRAW)
    elif g.state == RAISE:
        go_on(address)
        if g.since_s >= g.leg_s:
            plan_way(address, 0)
            enter(g, APPROACH)
    elif g.state == APPROACH:
        plan_beside(m, ww, a, t, g, False)  # it may have been moved
        go_on(address)
        if g.since_s >= g.leg_s and palms_off(a, t) < NEAR_M:
            g.touched[RIGHT], g.touched[LEFT] = 0, 0
            enter(g, CLOSE)
        elif g.since_s >= g.leg_s + LATE_S:
            g.wish, g.why = float(FREE), UNREACHED
    else:
        close(address, a, t, g)


@kernel
def close(address, a, t, g):
    """Each palm inwards until it feels the object; then q_d := q."""
    for side in range(2):
        if a.palm_load[side] > CLOSED_N and a.palm_on[side] == g.body:
            g.touched[side] = 1
        if not g.touched[side]:
            inwards = scale(1.0 if side == RIGHT else -1.0, g.left)
            put3(t.target, side, add_scaled(get3(t.target, side), CLOSE_M_S * t.dt, inwards))
    if g.touched[RIGHT] and g.touched[LEFT]:
        start_at_palms(address)
        g.more_N, g.lost_s, g.pulled_s, g.raised = 0.0, 0.0, 0.0, 0.0
        enter(g, PRESS)
    elif g.since_s > CLOSE_S:
        g.wish, g.why = float(FREE), UNTOUCHED


@kernel
def held(address, R, a, t, o, j, g):
    """press, hold, lift, carry, lower."""
    if g.state == PRESS:
        note_taken(R, a, g)
        if g.since_s > PRESS_S + SETTLE_S:
            begin_form(o, j)
            enter(g, HOLD)
        elif g.wish == FREE:
            let_go(address, ASKED)
        return
    feel_slip(R, a, g)
    answer_slip(a, t, g)
    if g.state == HOLD:
        if g.wish == FREE:
            let_go(address, ASKED)
        elif g.wish == LIFTED:
            g.raised = 0.0
            enter(g, LIFT)
    elif g.state == LIFT:
        u = smooth_step(g.since_s / LIFT_S)
        raise_targets(t, g.lift_m * (u - g.raised))
        g.raised = u
        if g.since_s >= LIFT_S:
            enter(g, CARRY)
    elif g.state == CARRY:
        if g.wish != LIFTED:
            g.borne_s, g.lowered_m = 0.0, 0.0
            enter(g, LOWER)
    else:
        lower(a, t, g)


@kernel
def raise_targets(t, by):
    for side in range(2):
        t.target[side, 2] += by


@kernel
def lower(a, t, g):
    """Down until something else bears most of the object."""
    raise_targets(t, -LOWER_M_S * t.dt)
    g.lowered_m += LOWER_M_S * t.dt
    borne = -(a.palm_force[RIGHT, 2] + a.palm_force[LEFT, 2])
    g.borne_s = g.borne_s + t.dt if borne < BORNE_PART * g.weight_N else 0.0
    if g.borne_s > BORNE_S or g.lowered_m > DEEPEST_M:
        enter(g, HOLD)


@kernel
def watch(address, a, t, g, pull_N):
    """Lost, or pulled beyond the limit: let go."""
    least = min(a.palm_load[RIGHT], a.palm_load[LEFT])
    g.lost_s = g.lost_s + t.dt if least < min(LOST_N, 0.4 * g.squeeze_N) and g.state > PRESS else 0.0
    g.pulled_s = g.pulled_s + t.dt if pull_N > g.pull_limit_N else 0.0
    if g.lost_s > LOST_S:
        let_go(address, LOST)
    elif g.pulled_s > PULLED_S:
        let_go(address, PULLED)


@kernel
def admit(o, g):
    """What it yields along: level while something bears it, all ways and about z when it is carried."""
    level = 1.0 if g.state in (HOLD, LIFT, CARRY) else 0.0
    carried = 1.0 if g.state == CARRY else 0.0
    o.admits, o.admits_turn = (level, level, carried), (0.0, 0.0, carried)


@kernel
def after(address, m, s, t, g):
    """open, withdraw, rest."""
    if g.state == REST:
        u = smooth_step(g.since_s / REST_S)
        integrate(m, g.q_from, g.way, u, t.q)
        t.dq[:] = 0.0
        if g.since_s >= REST_S:
            for n in range(t.coordinate.shape[0]):
                s.q_hold[t.coordinate[n]] = g.q_rest[t.coordinate[n]]
            enter(g, IDLE)
        return
    go_on(address)
    if g.since_s < g.leg_s:
        return
    if g.state == OPEN:
        plan_way(address, 1)
        enter(g, WITHDRAW)
    else:
        begin_rest(m, t, g)
        enter(g, REST)


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


# ---- torques


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
        add6(g.load, m.body_link[a.hand[side]], cross(palm_frame(m, ww, a, side)[1], f), f)
    for i in range(a.end - 1, a.first, -1):
        n, f = get6(g.load, i)
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            if a.limb[k] >= TRUNK:
                sw, sv = get6(ww.S, k)
                s.tau[m.axis_v[k]] += dot(sw, n) + dot(sv, f)
        add6(g.load, m.parent[i], n, f)


@shared("void(intp)")
def move_arms(address):
    """q_d: what is held yields, and the palms go to their targets."""
    a, w, t, o, j, g = load_grasp(address)
    m, _, _, _, _, s = load_world(a.world)
    yields = HOLD <= g.state <= CARRY
    if yields and g.form == JOINT_FORM:
        place_palms(m, s, w, a, t)
        yield_joints(m, w, a, t, o, j, g.p)
    else:
        if yields and g.form == OBJECT_FORM:
            yield_to(o)
            lead_palms(o, t, a, g.p)
        if g.state != REST:
            reach_palms(m, s, w, a, t)
    hold_arms(m, s, t)


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


@routine
def grasp(address):
    """A tick: see, feel, decide, move the targets, the arms, and what is fed forward."""
    a, _, t, o, j, g = load_grasp(address)
    m, ww, _, _, _, s = load_world(a.world)
    R = see_object(m, ww, a, g)
    pull_N = feel(s, a, o, g)
    if in_hands(g):
        watch(address, a, t, g, pull_N)
    if g.state <= CLOSE:
        before_contact(address, m, ww, s, a, t, g)
    elif g.state <= LOWER:
        held(address, R, a, t, o, j, g)
    else:
        after(address, m, s, t, g)
    if a.fallen and g.state != IDLE:
        g.wish, g.why = float(FREE), FELL
        enter(g, IDLE)
    keep_squeeze(a, t, g)
    if g.state != IDLE:
        admit(o, g)
        move_arms(address)
    if g.state != IDLE or g.bears:
        feed_forward(address)
    tell_balance(a, g)
    g.since_s += t.dt
    return 0


@routine
def forget_grasp(address):
    """Empty hands, as at the start."""
    _, _, _, o, j, g = load_grasp(address)
    g.state, g.why, g.since_s, g.wish = IDLE, 0, 0.0, g.wish_start
    g.squeeze_now_N, g.more_N, g.weight_now_N, g.slip_m, g.slip_answered_m = 0.0, 0.0, 0.0, 0.0, 0.0
    g.felt, o.force, o.torque = ZERO, ZERO, ZERO
    begin_form(o, j)
    return 0
