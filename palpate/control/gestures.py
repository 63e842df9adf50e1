"""Hands, gaze and stiffness as an Intent asks: targets of arms and neck, within the limits that keep a person safe.

Hand       u = clip(u_hand + K (x_hand - x_d), 0.5 m/s), |u'| <= 12 m/s^2;  one step of chain.py moves the targets by
           dt u, at most 4 rad/s in any joint.  x_d is where the targets would have the palm.
At rest    the targets go back to the posture along the joints, the palm no faster.
Springs    kp, kv of the arm times the stiffness asked, its weight borne by torques.  If they would hold the palm with
           more than 60 N the targets slip back to the joints: it holds on to nothing, and springs back from nowhere.
Yielding   pulled beyond what it can bear (60 N, or 0.9 of what would tip it) a hand goes limp within 0.1 s, its targets
           where the hand is, and comes back when the pull is half of that for 0.5 s.
Gaze       the head's x axis to a point, within what a neck can do, and nods.

A target that is not finite is not followed.  a Avatar, i Intent, g Gestures, c Chain;  m, w, s of the World
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from palpate.control.avatar import Actor, Avatar
from palpate.control.chain import (
    bend_outwards,
    chain_frames,
    chain_jacobian,
    chain_of,
    draw_targets,
    end_motion,
    held_force,
    largest,
    load_chain,
    move_targets,
    posture_error,
    push_chain,
    solve_step,
    target_ahead,
    turn_to,
)  # fmt: skip
from palpate.control.intent import AT_REST, LEFT_ALONE, STILL, TO_TARGET, Intent
from palpate.control.limbs import LEFT, RIGHT, TRUNK
from palpate.control.part import ControlPart, Setting
from palpate.dynamics.inertia import link_mass
from palpate.dynamics.jacobian import body_frame
from palpate.frame import Field
from palpate.jit import Block, Struct, Vector, block_loader, kernel
from palpate.jit.routines import routine
from palpate.model.model import CHAIN, Floats1, Floats2, Ints1
from palpate.spatial.quaternions import quaternion_matrix
from palpate.spatial.vectors import (
    add,
    add_scaled,
    column,
    compose,
    cross,
    dot,
    get3,
    get4,
    get6,
    get9,
    is_finite,
    put3,
    rotate_back,
    scale,
    sub,
)
from palpate.world.state import load as load_world

HAND_M_S, HAND_M_S2, HAND_N = 0.5, 12.0, 60.0  # reference 8; the second so that a start is no blow
JOINT_RAD_S = 4.0  # reference 8
PULL_1_S = 12.0  # K: a hand that is off comes back at this rate
REST_1_S = 4.0  # and one that rests: within about 0.75 s, if the way is short
EASE_S = 0.08  # in which a return starts and ends
POSTURE_1_S, ELBOW_1_S = 0.6, 6.0  # of the null space
ELBOW_M = 0.30  # of a body of ordinary size: an elbow this far from the middle is clear of the trunk (reference 4.1)
ARM_KP, ARM_KV = 200.0, 30.0  # [N m/rad, N m s/rad]; kp / kv small, so that what is let go does not snap back
LIMP_KV = 0.15  # of an arm without stiffness, times its own: it sinks, it does not drop
NECK_KP, NECK_KV = 200.0, 8.0
LIMP_S, BACK_S, CALM_S = 0.1, 0.5, 0.5  # to give way, to take hold again, and how long the pull is small before
TURN_M_RAD = 0.3  # what a radian of the hand's turn counts in metres
LOOK_1_S, LOOK_RAD_S = 6.0, 2.0  # how a gaze moves on
LOOK_YAW, LOOK_DOWN, LOOK_UP = 1.1, 0.75, 0.5  # how far a neck goes [rad]
BREATH_HZ, BREATH_RAD = 0.25, 0.004  # of the shoulders
WANDER_RAD = 0.03  # of a gaze that looks at nothing
ZERO = (0.0, 0.0, 0.0)


class Gestures(Struct):
    """Pairs are (right, left)."""

    ticks: int  # since the start
    chains: Ints1  # (3,) addresses: right arm, left arm, neck
    bears: float  # 1: torques bear the arms' weight here, 0: another controller's do
    elbow_out_m: float  # how far from the middle elbows stay
    hand_rate: Floats2  # (2, 3) of the palms' targets [m/s]
    pull_N: Floats1  # (2,) force of persons on each hand, written by who knows it (behaviours/senses.py), and
    bearable_N: Floats1  # (2,) what it may be
    limp: Floats1  # (2,) 0: as stiff as asked .. 1: not at all
    calm_s: Floats1  # (2,) since the pull became small
    hand_yields: Ints1  # (2,) 1: pulled beyond what it can bear
    slips: Ints1  # (2,) ticks in which targets slipped at the force limit
    look: Vector  # yaw and pitch of the gaze in the chest's axes [rad]; the third is not used
    eyes: Vector  # in the head's axes
    refused: int  # targets that were no numbers


load = block_loader((Avatar, False), (Intent, False), (Gestures, False))


@kernel
def finite3(x):
    return is_finite(x[0]) and is_finite(x[1]) and is_finite(x[2])


@kernel
def length(x):
    return math.sqrt(dot(x, x))


@kernel
def clipped(x, most):
    """A vector no longer than that."""
    size = length(x)
    return scale(most / size, x) if size > most else x


# ---- hands


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
    for n in range(c.axes.shape[0]):
        s.kp[c.axes[n]], s.kv[c.axes[n]] = ARM_KP * times, ARM_KV * damped


@kernel
def bear(m, w, s, c):
    """tau of a limb's own weight: - J^T m g of its links."""
    for i in c.links:
        mass, at, _ = link_mass(m, w, i)
        weight = (-mass * m.gravity[0], -mass * m.gravity[1], -mass * m.gravity[2])
        for n in range(c.axes.shape[0]):
            k = c.axes[n]
            sw, sv = get6(w.S, k)
            if k < m.axis_begin[i] + m.axis_count[i]:  # numbered outwards: it carries the link
                s.tau[m.axis_v[k]] += dot(add(sv, cross(sw, at)), weight)


@kernel
def slip(m, w, s, g, c, side, x):
    """Targets that would hold the palm, at x, with more than HAND_N come back to where it is."""
    target_ahead(m, s, c)
    force = held_force(m, w, s, c, x)
    if g.limp[side] >= 1.0:
        draw_targets(m, s, c, 0.0)
    elif force > HAND_N:
        draw_targets(m, s, c, HAND_N / force)
        g.slips[side] += 1


@kernel
def elbow_out(m, w, a, g, c, side, dt):
    """The null space keeps the elbow clear of the trunk."""
    R, p = body_frame(m, w, a.chest)
    out = scale(-1.0 if side == RIGHT else 1.0, column(R, 1))
    missing = g.elbow_out_m - dot(out, sub(get3(c.at, c.bend), p))
    if missing > 0.0:
        bend_outwards(c, out, dt * ELBOW_1_S * missing)


@kernel
def rate_to_target(m, w, s, a, i, g, c, side, origin, dt):
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
    posture_error(m, s.q_hold, c)
    for n in range(c.axes.shape[0]):
        c.dq0[n] *= dt * POSTURE_1_S
    elbow_out(m, w, a, g, c, side, dt)
    solve_step(m, s.q_hold, c)
    for n in range(c.axes.shape[0]):
        c.rate[n] = c.dq[n] / dt


@kernel
def rate_to_rest(m, s, i, g, c, side, dt):
    """c.rate back to the posture, eased in and out; breathing on it."""
    posture_error(m, s.q_hold, c)
    if i.alive > 0.0:
        breath = i.alive * BREATH_RAD * math.sin(2.0 * math.pi * BREATH_HZ * dt * g.ticks)
        c.dq0[0] += breath
    speed = REST_1_S * length(end_motion(c, c.dq0))
    times = REST_1_S * min(1.0, 0.9 * HAND_M_S / speed if speed > 0.0 else 1.0)
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
    if g.bears > 0.0:
        bear(m, w, s, c)
    if i.reach[side] == LEFT_ALONE:
        for n in range(c.axes.shape[0]):
            c.rate[n] = 0.0
        return
    stiffen(m, s, i, g, c, side)
    push = get3(i.hand_push, side)
    if finite3(push):
        push_chain(m, w, s, c, x, scale(1.0 - g.limp[side], clipped(push, HAND_N)))
    slip(m, w, s, g, c, side, x)
    chain_frames(m, w, s.q_hold, c)
    reach = i.reach[side]
    if reach == TO_TARGET and not (finite3(get3(i.hand_at, side)) and finite3(get3(i.hand_velocity, side))):
        reach = AT_REST
        g.refused += 1
    if reach == TO_TARGET:
        rate_to_target(m, w, s, a, i, g, c, side, get3(w.origin, m.root[c.base]), dt)
    elif reach == STILL:
        for n in range(c.axes.shape[0]):
            c.rate[n] *= 1.0 - dt / EASE_S
    else:
        rate_to_rest(m, s, i, g, c, side, dt)
    limit_rate(g, c, side, dt)
    move_targets(m, s, c, dt)


# ---- gaze


@kernel
def gaze_angles(m, w, a, i, g, c, dt):
    """(yaw, pitch) in the chest's axes at which the head should look; ahead, with a little wandering, or at a point."""
    R, _ = body_frame(m, w, a.chest)
    if i.gazing and finite3(i.gaze):
        eye = add(get3(w.origin, m.root[c.base]), c.x)
        x, y, z = rotate_back(R, sub(i.gaze, eye))
        yaw, pitch = math.atan2(y, x), -math.atan2(z, math.sqrt(x * x + y * y))
    else:
        t = dt * g.ticks  # two slow turns that never meet: alive, and the same every time
        yaw = i.alive * WANDER_RAD * (math.sin(0.9 * t) + math.sin(0.37 * t))
        pitch = i.alive * WANDER_RAD * 0.5 * math.sin(0.61 * t)
    return min(max(yaw, -LOOK_YAW), LOOK_YAW), min(max(pitch, -LOOK_UP), LOOK_DOWN)


@kernel
def head_turn(m, w, a, yaw, pitch):
    """R of a head that looks there: the chest's, turned left by yaw and then down by pitch."""
    R, _ = body_frame(m, w, a.chest)
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    return compose(R, (cy * cp, -sy, cy * sp, sy * cp, cy, sy * sp, -sp, 0.0, cp))


@kernel
def move_head(m, w, s, a, i, g, c, dt):
    """The neck, one tick."""
    chain_frames(m, w, s.q_hold, c)
    yaw, pitch = gaze_angles(m, w, a, i, g, c, dt)
    step = LOOK_RAD_S * dt
    now_yaw = g.look[0] + min(max(dt * LOOK_1_S * (yaw - g.look[0]), -step), step)
    now_pitch = g.look[1] + min(max(dt * LOOK_1_S * (pitch - g.look[1]), -step), step)
    g.look = (now_yaw, now_pitch, 0.0)
    nod = i.nod_rad if is_finite(i.nod_rad) else 0.0
    chain_jacobian(c, 1.0)
    turn = turn_to(get9(c.R, 0), head_turn(m, w, a, now_yaw, now_pitch + nod))
    for r in range(3):
        c.e[r], c.e[3 + r] = turn[r], 0.0
    for n in range(c.axes.shape[0]):
        c.dq0[n] = 0.0
        for r in range(3):
            c.J[3 + r, n] = 0.0  # where the head is does not matter
        s.kp[c.axes[n]], s.kv[c.axes[n]] = NECK_KP, NECK_KV
    solve_step(m, s.q_hold, c)
    fastest = largest(c.dq) / dt
    part = min(1.0, JOINT_RAD_S / fastest if fastest > 0.0 else 1.0)
    for n in range(c.axes.shape[0]):
        c.rate[n] = part * c.dq[n] / dt
    move_targets(m, s, c, dt)


# ---- all of it


@kernel
def soften_trunk(s, a, times):
    for k in range(a.axis_first, a.axis_end):
        if a.limb[k] == TRUNK:
            s.kp[k] *= times
            s.kv[k] *= math.sqrt(times)


@routine
def gesture(address):
    a, i, g = load(address)
    m, w, _, _, _, s = load_world(a.world)
    dt = s.dt
    for k in range(3):
        c = load_chain(g.chains[k])[0]
        if k == 2:
            move_head(m, w, s, a, i, g, c, dt)
        else:
            move_hand(m, w, s, a, i, g, c, k, dt)
    times = i.trunk_stiffness
    if is_finite(times) and times < 1.0:
        soften_trunk(s, a, max(times, 0.05))
    if finite3(i.lean):
        a.lean = i.lean
    g.ticks += 1
    return 0


@routine
def rest_gestures(address):
    """As at the start."""
    a, _, g = load(address)
    m, _, _, _, _, s = load_world(a.world)
    g.ticks, g.refused, g.look = 0, 0, ZERO
    g.hand_rate[:, :] = 0.0
    for side in range(2):
        g.pull_N[side], g.limp[side], g.calm_s[side] = 0.0, 0.0, 0.0
        g.hand_yields[side], g.slips[side] = 0, 0
    for k in range(3):
        c = load_chain(g.chains[k])[0]
        c.rate[:] = 0.0
        for i in c.links:
            if m.kind[i] == CHAIN:
                for axis in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                    s.q_hold[m.axis_q[axis]] = c.q_rest[m.axis_q[axis]]
            else:
                for r in range(4):
                    s.q_hold[m.q_begin[i] + r] = c.q_rest[m.q_begin[i] + r]
    return 0


EYES = (0.08, 0.0, 0.1)  # of a head [m], in its axes

FIELDS = (
    Field("hand_yields", "i", (2,), "1: the right or the left hand is pulled beyond what it bears, and is limp"),
    Field("hand_rate", "f", (2, 3), "how fast the targets of the palms move, world [m/s]"),
    Field("look", "f", (3,), "yaw and pitch of the gaze in the chest's axes [rad]"),
)


class Gesturing:
    """Arms and neck of one avatar."""

    def __init__(self, actor: Actor, intent: Intent, bears: bool = True) -> None:
        a, model = actor.avatar, actor.world.model
        q_rest = actor.world.q.copy()
        self.chains = [
            chain_of(model, a.chest, int(body), tuple(point), q_rest, int(elbow))
            for body, point, elbow in (
                (a.hand[RIGHT], a.palm_at[RIGHT], a.elbow[RIGHT]), (a.hand[LEFT], a.palm_at[LEFT], a.elbow[LEFT]),
                (a.head, EYES, 0),
            )
        ]
        self.gestures = Gestures(
            chains=np.array([block.address for _, block in self.chains], dtype=np.int64), bears=float(bears),
            elbow_out_m=ELBOW_M, hand_rate=np.zeros((2, 3)), pull_N=np.zeros(2), bearable_N=np.full(2, HAND_N), limp=np.zeros(2),
            calm_s=np.zeros(2), hand_yields=np.zeros(2, dtype=np.int64), slips=np.zeros(2, dtype=np.int64), eyes=EYES,
        )  # fmt: skip
        self.intent = intent
        number = "" if actor.number == 0 else str(actor.number + 1)
        self.part = ControlPart(
            f"gestures{number}", gesture, Block(a, intent, self.gestures), reset=rest_gestures, world=a.world,
            hello=self.hello, shows=actor.shown(self.gestures, FIELDS),
            settings=(
                Setting(f"alive{number}", 0.0, 1.0, intent, "alive", label="alive", step=0.1,
                        about="breathing and looking about"),
                *(Setting(f"user_{axis}{number}", -50.0, 50.0, intent, f"user_{axis}") for axis in "xyz"),
            ),
        )  # fmt: skip

    def hello(self) -> dict[str, Any]:
        """Nothing of its own; the part keeps this alive, and with it what its addresses point at."""
        return {}
