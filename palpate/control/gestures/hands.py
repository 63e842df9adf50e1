"""Hands as an Intent asks: targets and stiffness of arms, within the limits that keep a person safe.

Hand       u = clip(u_hand + K (x_hand - x_d), 0.5 m/s), |u'| <= 12 m/s^2;  one step of chain.py moves the targets by
           dt u, at most 4 rad/s in any joint.  x_d is where the targets would have the palm.
At rest    the targets go back to the posture along the joints, the palm no faster.
Springs    kp, kv of the arm times the stiffness asked, its weight borne by torques.  If they would hold the palm with
           more than 60 N the targets slip back to the joints: it holds on to nothing, and springs back from nowhere.
Yielding   pulled beyond what it can bear (60 N, or 0.9 of what would tip it) a hand goes limp within 0.1 s, its targets
           where the hand is, and comes back when the pull is half of that for 0.5 s.

A target that is not finite is not followed.  a Avatar, i Intent, g Gestures, c Chain;  m, w, s of the World
"""

import math

from palpate.control.gestures.chain import (
    bend_outwards,
    chain_frames,
    chain_jacobian,
    end_motion,
    largest,
    move_targets,
    posture_error,
    push_chain,
    slip_targets,
    solve_step,
    turn_to,
)
from palpate.control.gestures.intent import AT_REST, LEFT_ALONE, STILL, TO_TARGET
from palpate.control.gestures.tables import HAND_M_S, HAND_M_S2, HAND_N, JOINT_RAD_S, clipped
from palpate.control.limbs import RIGHT
from palpate.dynamics.inertia import link_mass
from palpate.dynamics.jacobian import body_frame
from palpate.jit import kernel
from palpate.spatial.quaternions import quaternion_matrix
from palpate.spatial.vectors import (
    add,
    add_scaled,
    column,
    cross,
    dot,
    finite3,
    get3,
    get4,
    get6,
    get9,
    is_finite,
    length,
    put3,
    scale,
    sub,
)

PULL_1_S = 12.0  # K: a hand that is off comes back at this rate
REST_1_S = 4.0  # and one that rests: within about 0.75 s, if the way is short
HOME = 0.7  # of the speed limit on the way home: the body may sway meanwhile
EASE_S = 0.08  # in which a return starts and ends
POSTURE_1_S, ELBOW_1_S = 0.6, 6.0  # of the null space
ARM_KP, ARM_KV = 200.0, 30.0  # [N m/rad, N m s/rad]; kp / kv small, so that what is let go does not snap back
LIMP_KV = 0.15  # of an arm without stiffness, times its own: it sinks, it does not drop
LIMP_S, BACK_S, CALM_S = 0.1, 0.5, 0.5  # to give way, to take hold again, and how long the pull is small before
TURN_M_RAD = 0.3  # what a radian of the hand's turn counts in metres
BREATH_HZ, BREATH_RAD = 0.25, 0.004  # of the shoulders
ZERO = (0.0, 0.0, 0.0)


@kernel
def give_way(g, side, dt):
    """How limp an arm is, by what pulls at its hand."""
    if g.pull_N[side] > g.bearable_N[side]:
        g.hand_yields[side], g.calm_s[side] = 1, 0.0
    elif g.pull_N[side] > 0.5 * g.bearable_N[side]:
        g.calm_s[side] = 0.0
    else:
        g.calm_s[side] += dt
        if g.calm_s[side] >= CALM_S:
            g.hand_yields[side] = 0
    rate = dt / LIMP_S if g.hand_yields[side] else -dt / BACK_S
    g.limp[side] = min(max(g.limp[side] + rate, 0.0), 1.0)


@kernel
def stiffen(m, s, i, g, c, side):
    """kp and kv of an arm: as stiff as asked, less what is limp."""
    times = max(i.stiffness[side], 0.0) * (1.0 - g.limp[side])
    times = times if is_finite(times) else 0.0
    damped = LIMP_KV + (1.0 - LIMP_KV) * min(times, 1.0)
    if i.damping[side] >= 0.0:
        damped = i.damping[side]
    if g.limp[side] > 0.0 and g.calm_s[side] > 0.0:
        damped = 1.0  # nobody pulls any more: what is limp and thrown is braked
    for n in range(c.axes.shape[0]):
        s.kp[c.axes[n]], s.kv[c.axes[n]] = ARM_KP * times, ARM_KV * damped


@kernel
def bear(m, w, s, c):
    """tau of a limb's own weight: - J^T m g of its links."""
    for i in c.borne:
        mass, at, _ = link_mass(m, w, i)
        weight = (-mass * m.gravity[0], -mass * m.gravity[1], -mass * m.gravity[2])
        for n in range(c.axes.shape[0]):
            k = c.axes[n]
            sw, sv = get6(w.S, k)
            if k < m.axis_begin[i] + m.axis_count[i]:  # numbered outwards: it carries the link
                s.tau[m.axis_v[k]] += dot(add(sv, cross(sw, at)), weight)


@kernel
def unfeed(m, w, s, a, g, c):
    """tau += J^T f of the push at this hand: a balance makes the arm stand against it; the trunk and legs shall, a hand
    is to yield.  f and its moment are about the centre of mass (balance.py, push_hands)."""
    if a.touched != 0:
        g.fed = a.touched
    link = m.body_link[g.fed]
    is_here = False
    for i in c.borne:
        is_here = is_here or i == link
    if not is_here:
        return
    at = sub(a.com, get3(w.origin, m.root[link]))
    f = a.push_smooth
    n = add(cross(at, f), a.push_moment_smooth)
    for k in c.axes:
        if k < m.axis_begin[link] + m.axis_count[link]:
            sw, sv = get6(w.S, k)
            s.tau[m.axis_v[k]] += dot(sw, n) + dot(sv, f)


@kernel
def slip(a, g, side, x):
    """Targets that would hold the palm, at x, with more than HAND_N come back to where it is."""
    limp = g.limp[side] >= 1.0
    slipped = slip_targets(a.world, g.chains[side], x[0], x[1], x[2], 0.0 if limp else HAND_N)
    g.slips[side] += slipped and not limp


@kernel
def elbow_out(m, w, a, g, c, side, dt):
    """The null space keeps the elbow clear of the trunk."""
    R, p = body_frame(m, w, a.chest)
    out = scale(-1.0 if side == RIGHT else 1.0, column(R, 1))
    missing = g.elbow_out_m - dot(out, sub(get3(c.at, c.bend), p))
    if missing > 0.0:
        bend_outwards(c, out, dt * ELBOW_1_S * missing)


@kernel
def rate_to_target(m, w, a, i, g, c, side, origin, dt):
    """c.rate that leads the palm's target to where the intent wants it."""
    chain_jacobian(c, TURN_M_RAD * i.turning[side])
    away = sub(sub(get3(i.hand_at, side), origin), c.x)
    u = clipped(add_scaled(get3(i.hand_velocity, side), PULL_1_S, away), HAND_M_S)
    before = get3(g.hand_rate, side)
    u = add(before, clipped(sub(u, before), HAND_M_S2 * dt))
    put3(g.hand_rate, side, u)
    qw, qx, qy, qz = get4(i.hand_turn, side)
    turn = clipped(turn_to(get9(c.R, 0), quaternion_matrix(qw, qx, qy, qz)), 0.25)
    for r in range(3):
        c.e[r] = dt * PULL_1_S * TURN_M_RAD * i.turning[side] * turn[r]
        c.e[3 + r] = dt * u[r]
    posture_error(a.world, g.chains[side])
    for n in range(c.axes.shape[0]):
        c.dq0[n] *= dt * POSTURE_1_S
    elbow_out(m, w, a, g, c, side, dt)
    solve_step(a.world, g.chains[side])
    for n in range(c.axes.shape[0]):
        c.rate[n] = c.dq[n] / dt


@kernel
def rate_to_rest(a, i, g, c, side, dt):
    """c.rate back to the posture, eased in and out; breathing on it."""
    posture_error(a.world, g.chains[side])
    if i.alive > 0.0:
        breath = i.alive * BREATH_RAD * math.sin(2.0 * math.pi * BREATH_HZ * dt * g.ticks)
        c.dq0[0] += breath
    speed = REST_1_S * length(end_motion(c, c.dq0))
    times = REST_1_S * min(1.0, HOME * HAND_M_S / speed if speed > 0.0 else 1.0)
    for n in range(c.axes.shape[0]):
        c.rate[n] += dt / EASE_S * (times * c.dq0[n] - c.rate[n])


@kernel
def limit_rate(g, c, side, dt):
    """No joint beyond JOINT_RAD_S, no palm beyond HAND_M_S."""
    fastest = largest(c.rate)
    speed = length(end_motion(c, c.rate))
    part = min(1.0, JOINT_RAD_S / fastest if fastest > 0.0 else 1.0, HAND_M_S / speed if speed > 0.0 else 1.0)
    for n in range(c.axes.shape[0]):
        c.rate[n] *= part
    put3(g.hand_rate, side, end_motion(c, c.rate))


@kernel
def move_hand(m, w, s, a, i, g, c, side, dt):
    """One arm, one tick."""
    x = sub(get3(a.palm, side), get3(w.origin, m.root[c.base]))  # from the tree's reference point
    give_way(g, side, dt)
    if i.reach[side] == LEFT_ALONE:
        for n in range(c.axes.shape[0]):
            c.rate[n] = 0.0
        put3(g.hand_rate, side, ZERO)
        return
    if g.balance_on[0] == 0.0:
        bear(m, w, s, c)
    elif g.balance_feeds[0] > 0.0:
        unfeed(m, w, s, a, g, c)
    stiffen(m, s, i, g, c, side)
    push = get3(i.hand_push, side)
    if finite3(push):
        push_chain(m, w, s, c, x, scale(1.0 - g.limp[side], clipped(push, HAND_N)))
    slip(a, g, side, x)
    chain_frames(a.world, g.chains[side])
    reach = i.reach[side]
    if reach == TO_TARGET and not (finite3(get3(i.hand_at, side)) and finite3(get3(i.hand_velocity, side))):
        reach = AT_REST
        g.refused += 1
    if reach == TO_TARGET:
        rate_to_target(m, w, a, i, g, c, side, get3(w.origin, m.root[c.base]), dt)
    elif reach == STILL or g.limp[side] > 0.0:  # what gave way stays where it was left, and goes home later
        for n in range(c.axes.shape[0]):
            c.rate[n] *= 1.0 - dt / EASE_S
    else:
        rate_to_rest(a, i, g, c, side, dt)
    limit_rate(g, c, side, dt)
    move_targets(a.world, g.chains[side])
