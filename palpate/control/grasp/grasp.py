"""Grasp by friction: two palms on the sides of an object; nothing is welded.

    idle -> raise -> approach -> close -> press -> hold -> lift -> carry         as far as `wish` wants
                                                    hold <- lower <- carry
    any that holds -> open -> withdraw -> return -> rest -> idle                 wish, lost, pulled

raise     palms beside the object, but back where the wrists are below the shoulders: clear of what it lies on
approach  0.05 m off its sides, at its middle, palms towards it, fingers ahead
close     CLOSE_M_S inwards, each until it feels CLOSED_N
press     q_d := q ("rebase"), so that the load spreads over the palm; then the squeeze rises as a torque,
          tau = J_R^T (+f) + J_L^T (-f)
hold      on what bears it: it yields along x and y;   carry  lifted: along all, and turns about z (object_form.py)
          squeeze: targets approach by (f - least palm force)/1000 N s/m, not above 60 N
          slip, or friction near its limit: more squeeze
open      lost (a palm has < LOST_N for 50 ms), pulled beyond a limit, or asked: no squeeze, palms outwards

The hands' speed, force, and the growth of force are limited throughout: a person is never held by force, nor struck.

m, ww, s  model, scratch and state of the World;  a  Avatar;  w, t  palms.py;  o, j  object_form.py;  g  Grasp
"""

from palpate.control.grasp.grasp_forces import (
    PRESS_S,
    answer_slip,
    feed_forward,
    feel,
    feel_slip,
    in_hands,
    keep_squeeze,
    note_taken,
    tell_balance,
)
from palpate.control.grasp.grasp_tables import (
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
    RETURN,
    UNREACHED,
    UNTOUCHED,
    WITHDRAW,
    load_grasp,
)  # fmt: skip
from palpate.control.grasp.grasp_ways import (
    AWAY,
    BEHIND,
    BESIDE,
    begin_rest,
    go_on,
    lead_on,
    note_home,
    palms_off,
    plan_beside,
    plan_home,
    plan_outwards,
    plan_way,
    see_object,
    smooth_step,
    start_at_palms,
)
from palpate.control.grasp.object_form import begin_form, lead_palms, yield_joints, yield_to
from palpate.control.grasp.palms import hold_arms, place_palms, reach_palms
from palpate.control.limbs import LEFT, RIGHT
from palpate.dynamics.coordinates import integrate
from palpate.jit import kernel, shared
from palpate.jit.routines import routine
from palpate.spatial.vectors import add_scaled, get3, put3, scale
from palpate.world.state import load as load_world

ZERO = (0.0, 0.0, 0.0)
CLOSE_M_S, CLOSED_N, CLOSE_S = 0.05, 1.0, 2.5
SETTLE_S = 0.3  # after the squeeze has risen
LIFT_S, LOWER_M_S, DEEPEST_M = 1.0, 0.05, 0.6
REST_S = 0.5
LOST_N, LOST_PART, LOST_S = 5.0, 0.4, 0.05  # a palm with less, or less than this part of its squeeze, for so long
PULLED_S = 0.02
NEAR_M = 0.005  # a palm that is not nearer to its place after a way does not reach it
LATE_S = 1.0  # and so long it may take
BORNE_PART, BORNE_S = 0.3, 0.03  # of its weight that the palms bear when something else bears it


@kernel
def enter(g, state):
    g.state, g.since_s = state, 0.0


@shared("void(intp, int64)")
def let_go(address, why):
    """Open both hands; nobody is asked."""
    a, _, t, _, _, g = load_grasp(address)
    g.wish, g.why, g.more_N = float(FREE), why, 0.0
    plan_outwards(a, t, g)
    enter(g, OPEN)


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
        g.go_m, g.go_from_m, g.go_to_m, g.gone_m = 0.0, 0.0, 0.0, 0.0
        enter(g, PRESS)
    elif g.since_s > CLOSE_S:
        g.wish, g.why = float(FREE), UNTOUCHED


@kernel
def before_contact(address, m, ww, s, a, t, g):
    """idle, raise, approach, close."""
    wants = g.wish > FREE
    if g.state == IDLE:
        if wants and not a.fallen:
            for n in range(t.coordinate.shape[0]):
                g.q_rest[t.coordinate[n]] = s.q_hold[t.coordinate[n]]
            start_at_palms(address)
            note_home(m, ww, a, t, g)
            plan_way(address, BEHIND)
            g.why = 0
            enter(g, RAISE)
    elif not wants:
        plan_way(address, AWAY)
        enter(g, WITHDRAW)
    elif g.state == RAISE:
        go_on(address)
        if g.since_s >= g.leg_s:
            plan_way(address, BESIDE)
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
        lead_on(g, t)
        if g.wish != LIFTED:
            g.borne_s, g.lowered_m = 0.0, 0.0
            enter(g, LOWER)
    else:
        lower(a, t, g)


@kernel
def watch(address, a, t, g, pull_N):
    """Lost, or pulled beyond the limit: let go."""
    least = min(a.palm_load[RIGHT], a.palm_load[LEFT])
    g.lost_s = g.lost_s + t.dt if least < min(LOST_N, LOST_PART * g.squeeze_N) and g.state > PRESS else 0.0
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
    o.admits, o.admits_turn = (level, level, carried), (0.0, 0.0, carried * g.turns)


@kernel
def after(address, m, ww, s, a, t, g):
    """open, withdraw, return, rest."""
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
        plan_way(address, AWAY)
        enter(g, WITHDRAW)
    elif g.state == WITHDRAW:
        plan_home(m, ww, a, t, g)
        enter(g, RETURN)
    else:
        begin_rest(m, t, g)
        enter(g, REST)


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


@routine
def grasp(address):
    """A tick: see, feel, decide, move the targets, the arms, and what is fed forward."""
    a, _, t, o, j, g = load_grasp(address)
    m, ww, _, _, _, s = load_world(a.world)
    R = see_object(m, ww, a, g)
    pull_N = feel(s, a, o, g)
    if g.watches and in_hands(g):
        watch(address, a, t, g, pull_N)
    if g.state <= CLOSE:
        before_contact(address, m, ww, s, a, t, g)
    elif g.state <= LOWER:
        held(address, R, a, t, o, j, g)
    else:
        after(address, m, ww, s, a, t, g)
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
