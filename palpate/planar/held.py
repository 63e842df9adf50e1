"""The page's hand, or a path that is given, as the spring on the handle.

What is held, the handle or the body, is drawn to where the hand wants it, by the hand's spring at the device:
F = K (aim - Y), Y its pose now, of a body as the handle has it: a spring on the handle that looked at the body would be
unstable where it is stiffer than what is between them.  Held off its middle it turns, unless the hand turns it: then a
spring does.  A message's stiffness is that on what is held, in the room, K_device = s^2 K; no stiffer than the step
allows, and spring and damper together pull no harder than a hand does.

held  Held, x  HandSpring, a  Lane, want and port of the message (haptics/devices)
"""

import math

from palpate.frame import HANDS
from palpate.haptics.devices.messages import load_speaking
from palpate.haptics.devices.protocol import HAND_SPEED_M_S, WRIST_SPEED_RAD_S
from palpate.haptics.devices.want import HOLD
from palpate.jit import kernel
from palpate.jit.routines import call_routine
from palpate.planar.bodies.tables import load_bodies
from palpate.planar.lane import in_room, load_lane, over_scale
from palpate.planar.stage import HANDLE, NOT
from palpate.spatial.vectors import add, get3, scale, sub

ZERO = (0.0, 0.0, 0.0)
TURN = 2.0 * math.pi


@kernel
def nearest_turn(angle, before):
    """The same direction, within half a turn of `before`."""
    return angle - TURN * math.floor((angle - before) / TURN + 0.5)


@kernel
def speaking(h, st):
    """(which hand takes something that can be taken, -1: none)."""
    first = -1
    for k in range(HANDS):
        port, want, _ = load_speaking(st.hands[k])
        port.now_s = 1e-9 * h.now_ns
        call_routine(st.sample, st.hands[k])
        body = want.body
        takes = want.does == HOLD and 0 < body < st.grips.shape[0] and st.grips[body] != NOT
        if takes and first < 0:
            first = k
    return first


@kernel
def springs(held, want, s):
    """(K, B) at the device, and whether the hand turns what it holds."""
    most, m, turns = held.sharpest, held.inertia, want.stiffness_Nm_rad > 0.0
    K = min(s * s * max(want.stiffness[0], want.stiffness[1]), most[0])
    K_turn = min(want.stiffness_Nm_rad, most[2]) if turns else 0.0
    b, b_turn = 2.0 * want.ratio * math.sqrt(K * m[0]), held.damping[2]
    if want.damping[0] > 0.0:
        b = s * s * want.damping[0]
    if turns:
        b_turn = want.damping_Nms_rad if want.damping_Nms_rad > 0.0 else 2.0 * want.ratio * math.sqrt(K_turn * m[2])
    return (K, K, K_turn), (b, b, b_turn), turns


@kernel
def within(x, border):
    return min(max(x, -border), border) if border > 0.0 else x


@kernel
def lever_of(want, Y):
    """From the middle of what is held to the point that is, in the room."""
    at, c, s = want.at_body, math.cos(Y[2]), math.sin(Y[2])
    return (c * at[0] - s * at[1], s * at[0] + c * at[1], 0.0)


@kernel
def follow_pointer(held, port, Y, turns, dt):
    """Where the hand is and how it is turned, smoothly; how fast that changes."""
    q, p = port.quaternion, port.position
    held.aim = (p[0], p[1], nearest_turn(2.0 * math.atan2(q[3], q[0]), held.aim[2]) if turns else Y[2])
    share, before = 1.0 - math.exp(-dt / held.smooth_s), held.target
    held.target = add(before, scale(share, sub(held.aim, before)))
    return scale(1.0 / dt, sub(held.target, before))


@kernel
def limited(held, K, b, e, v):
    """The stretch e with which spring and damper, v the speed between them, pull no harder than a hand does."""
    x, y = K * e[0] + b * v[0], K * e[1] + b * v[1]
    force = math.sqrt(x * x + y * y)
    if force <= held.most_N:
        return e
    held.capped += 1
    share = held.most_N / force
    return ((share * x - b * v[0]) / K, (share * y - b * v[1]) / K, e[2])


@kernel
def limited_turn(held, K, b, e, v):
    """The same of a turn."""
    if K <= 0.0:
        return 0.0
    return (min(max(K * e + b * v, -held.most_Nm), held.most_Nm) - b * v) / K


@kernel
def hold(held, x, a, port, want, X, Y, dt):
    """The spring on the handle at X from a hand that holds what is at Y, in the room."""
    s, lever = a.scale, lever_of(want, Y)
    K, B, turns = springs(held, want, s)
    moves = over_scale(s, follow_pointer(held, port, Y, turns, dt))
    speed = math.sqrt(moves[0] * moves[0] + moves[1] * moves[1])
    slower = HAND_SPEED_M_S / speed if speed > HAND_SPEED_M_S else 1.0
    spin = min(max(moves[2], -WRIST_SPEED_RAD_S), WRIST_SPEED_RAD_S) if turns else 0.0
    moves = (slower * moves[0], slower * moves[1], spin)
    e, v = over_scale(s, sub(sub(held.target, lever), Y)), sub(moves, a.v_m)
    e = (within(X[0] + e[0], held.border[0]) - X[0], within(X[1] + e[1], held.border[1]) - X[1], e[2])
    stretch = limited(held, K[0], B[0], e, v)
    stretch = (stretch[0], stretch[1], limited_turn(held, K[2], B[2], e[2], v[2]))
    held.force = (K[0] * stretch[0] / s, K[1] * stretch[1] / s, 0.0)
    turning = 0.0
    if not turns:  # what pulls off the middle turns, as far as a hand can, and as damped as the rest
        turning = min(max(lever[0] * held.force[1] - lever[1] * held.force[0], -held.most_Nm), held.most_Nm)
        square = (lever[0] * lever[0] + lever[1] * lever[1]) / (s * s)
        B = (B[0], B[1], max(B[2], 2.0 * math.sqrt(K[0] * square * held.inertia[2])))
    x.target, x.target_velocity, x.stiffness, x.damping, x.holds = add(X, stretch), moves, K, B, 1
    x.push, held.torque = (0.0, 0.0, turning), K[2] * stretch[2] + turning
    held.point, held.to = (Y[0] + lever[0], Y[1] + lever[1], port.position[2]), port.position


@kernel
def let_go(held, x):
    held.body, held.force, held.torque = 0, ZERO, 0.0
    x.holds, x.push, x.target_velocity = 0, ZERO, ZERO


@kernel
def follow(held, path, x, time):
    """The path's pose at a time, straight between its rows."""
    n = path.row.shape[0]
    if path.at >= n or time < path.row[path.at, 0]:
        path.at = 0
    while path.at + 1 < n and path.row[path.at + 1, 0] <= time:
        path.at += 1
    k = path.at
    if k + 1 < n and time >= path.row[k, 0]:
        span = path.row[k + 1, 0] - path.row[k, 0]
        way = sub((path.row[k + 1, 1], path.row[k + 1, 2], path.row[k + 1, 3]),
                  (path.row[k, 1], path.row[k, 2], path.row[k, 3]))  # fmt: skip
        share = (time - path.row[k, 0]) / span
        x.target_velocity = scale(1.0 / span, way)
        x.target = add((path.row[k, 1], path.row[k, 2], path.row[k, 3]), scale(share, way))
    else:
        x.target, x.target_velocity = (path.row[k, 1], path.row[k, 2], path.row[k, 3]), ZERO
    x.stiffness, x.damping, x.push, x.holds = held.stiffness, held.damping, ZERO, 1


@kernel
def move_hand(h, st, held, path, dt):
    """What the hand does in this tick, in both lanes."""
    a, _, _, x, drive, _, _, _, _ = load_lane(st.lane)
    motion = load_bodies(a.bodies)[1]
    k = speaking(h, st)
    if k >= 0:
        port, want, _ = load_speaking(st.hands[k])
        here = in_room(a, drive.X)
        if held.body != want.body or held.hand != k:
            held.shift = ZERO if st.grips[want.body] == HANDLE else sub(get3(motion.X, a.body), here)
            held.body, held.hand = want.body, k
            held.aim = held.target = add(add(here, held.shift), lever_of(want, add(here, held.shift)))
        Y = add(here, held.shift)
        hold(held, x, a, port, want, drive.X, Y, dt)
    elif held.body != 0:
        let_go(held, x)
    elif path.row.shape[0] > 0:
        follow(held, path, x, h.time)
    y = load_lane(st.other)[3]
    y.target, y.target_velocity, y.stiffness, y.damping = x.target, x.target_velocity, x.stiffness, x.damping
    y.push, y.holds = x.push, x.holds
