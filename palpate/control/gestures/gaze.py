"""Gaze: the head's x axis to a point, or ahead with a little wandering, within what a neck can do; and nods.

a Avatar, i Intent, g Gestures, c Chain of the neck;  m, w, s of the World
"""

import math

from palpate.control.gestures.chain import chain_frames, chain_jacobian, largest, move_targets, solve_step, turn_to
from palpate.control.gestures.tables import JOINT_RAD_S
from palpate.dynamics.jacobian import body_frame
from palpate.jit import kernel
from palpate.spatial.vectors import add, compose, finite3, get3, get9, is_finite, rotate_back, sub

NECK_KP, NECK_KV = 200.0, 8.0
LOOK_1_S, LOOK_RAD_S = 6.0, 2.0  # how a gaze moves on
LOOK_YAW, LOOK_DOWN, LOOK_UP = 1.1, 0.75, 0.5  # how far a neck goes [rad]
WANDER_RAD = 0.03  # of a gaze that looks at nothing


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
    chain_frames(a.world, g.chains[2])
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
    solve_step(a.world, g.chains[2])
    fastest = largest(c.dq) / dt
    part = min(1.0, JOINT_RAD_S / fastest if fastest > 0.0 else 1.0)
    for n in range(c.axes.shape[0]):
        c.rate[n] = part * c.dq[n] / dt
    move_targets(a.world, g.chains[2])
