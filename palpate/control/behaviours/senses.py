"""What an avatar notices in a tick: who pulls or pushes where, whether it tips, what it was told.

Force on a hand   > 3 N for longer than a tap lasts: it is led;  < 1.5 N for 0.5 s: it is free      (reference 8)
Trunk             > 10 N for as long: it is pressed;  < 5 N for 0.3 s: released
Margin            of the capture point to the edge of the soles on the floor, < 0.02 m: it tips;  > 0.04 m for 0.5 s
What a hand bears 60 N, or 0.9 F_b, F_b = m g d / h: what would tip it if it lasted (reference 1), d the way from the
                  centre of mass to the edge in the direction of the pull, h the height of the hand
Limit             a palm presses on something with more than 60 N for 50 ms, or a number is none

a Avatar, b Machine, g Gestures
"""

import math

from palpate.control.avatar import LOADED_N
from palpate.control.balance.support import convex_hull, margin, reach
from palpate.control.behaviours.rows import GUARDS
from palpate.control.gestures.tables import HAND_N
from palpate.control.limbs import LEFT, RIGHT
from palpate.dynamics.jacobian import body_frame
from palpate.jit import kernel
from palpate.spatial.vectors import add, dot, finite3, get3, get6, is_finite, length, put3

PLACES = ("nowhere", "hand", "arm", "shoulder", "trunk", "head", "leg")
NOWHERE, HAND, ARM, SHOULDER, TRUNK, HEAD, LEG = range(len(PLACES))
(AT_HAND, AT_ARM, AT_TRUNK, IS_LED, IS_FREE, IS_PRESSED, IS_RELEASED, IS_TIPPING, IS_STEADY, AT_LIMIT, HAS_FALLEN,
 IS_HOLDING, HAS_LOST) = (1 << k for k in range(len(GUARDS)))  # fmt: skip
SMOOTH_S = 0.01  # of the size of a force
LED_N, FREE_N, FREE_S = 3.0, 1.5, 0.5
TAP_S = 0.3  # what lasts longer is no tap
PRESSED_N, RELEASED_N, RELEASED_S = 10.0, 5.0, 0.3
TIPPING_M, STEADY_M, STEADY_S = 0.02, 0.04, 0.5
TIPPING_S = 0.01  # a single tick is none
STRAIN_S = 0.05
BEARS = 0.9  # of what would tip it
FALLEN_Z, FALLEN_COS = (
    0.7,
    0.26,
)  # centre of mass below this part of its height, or the chest 75 degrees off (reference)
HOLDS, LIFTS, CARRIES, OPENS = 5, 6, 7, 9  # of a grasp's states (control/grasp/grasp_tables.py)
ZERO = (0.0, 0.0, 0.0)


@kernel
def lasted(so, before_s, dt):
    """For how long something is so."""
    return before_s + dt if so else 0.0


@kernel
def notice_hands(s, a, b):
    """Forces of persons on hands and trunk, and where the newest of them is."""
    b.hand_force[:, :] = 0.0
    trunk, held = ZERO, a.palm_on[RIGHT] if a.palm_on[RIGHT] == a.palm_on[LEFT] else 0
    b.object_N = 0.0
    for body in range(1, s.n_wrenches):
        _, f = get6(s.wrenches, body)
        if body == held:
            b.object_N = length(f)
        if a.own[body] == 0:
            continue
        if b.place[body] == HAND:
            side = b.side_of[body]
            put3(b.hand_force, side, add(get3(b.hand_force, side), f))
        elif b.place[body] in (TRUNK, HEAD, SHOULDER):
            trunk = add(trunk, f)
    b.trunk_force = trunk
    if a.touched != 0:
        b.where = a.touch_point
        if b.side_of[a.touched] >= 0 and b.place[a.touched] != LEG:
            b.side = b.side_of[a.touched]


@kernel
def time_forces(b, g):
    """How long they last."""
    part = b.dt / (SMOOTH_S + b.dt)
    for side in range(2):
        b.hand_N[side] += part * (length(get3(b.hand_force, side)) - b.hand_N[side])
        b.hand_led_s[side] = lasted(b.hand_N[side] > LED_N, b.hand_led_s[side], b.dt)
        b.hand_free_s[side] = lasted(b.hand_N[side] < FREE_N, b.hand_free_s[side], b.dt)
        g.pull_N[side] = b.hand_N[side]
    b.trunk_N += part * (length(b.trunk_force) - b.trunk_N)
    b.pressed_s = lasted(b.trunk_N > PRESSED_N, b.pressed_s, b.dt)
    b.released_s = lasted(b.trunk_N < RELEASED_N, b.released_s, b.dt)


# ---- balance


@kernel
def find_hull(a, b):
    """Of the corners of soles that bear something."""
    n = 0
    for k in range(8):
        if a.foot_load[k // 4] > LOADED_N:
            b.point[n, 0], b.point[n, 1] = a.sole[k, 0], a.sole[k, 1]
            n += 1
    b.n_hull = convex_hull(b.point, n, b.hull) if n > 0 else 0


@kernel
def tipping_force(a, b, weight, side):
    """The force that would tip it, in the direction of what a person does to a hand: m g d / h [N]."""
    f = get3(b.hand_force, side)
    size = math.sqrt(f[0] * f[0] + f[1] * f[1])
    if size == 0.0:
        return math.inf
    way = reach(b.hull, b.n_hull, a.com[0], a.com[1], f[0] / size, f[1] / size)
    return weight * way / max(a.palm[side, 2] - a.floor_m, 0.2)


@kernel
def notice_balance(m, w, a, b, g):
    find_hull(a, b)
    b.margin_m = margin(b.hull, b.n_hull, a.capture[0], a.capture[1]) if b.n_hull > 0 else -1.0
    b.tipping_s = lasted(b.margin_m < TIPPING_M, b.tipping_s, b.dt)
    b.steady_s = lasted(b.margin_m > STEADY_M, b.steady_s, b.dt)
    weight = a.mass * math.sqrt(m.gravity[0] ** 2 + m.gravity[1] ** 2 + m.gravity[2] ** 2)
    for side in range(2):
        g.bearable_N[side] = min(HAND_N, BEARS * tipping_force(a, b, weight, side)) if b.n_hull > 0 else HAND_N
    R, _ = body_frame(m, w, a.chest)
    if a.com[2] - a.floor_m < FALLEN_Z * a.height_m or R[8] < FALLEN_COS:
        b.fallen = 1
    a.fallen = b.fallen


@kernel
def notice_limits(a, b):
    """What should not be."""
    strain = max(length(get3(a.palm_force, RIGHT)), length(get3(a.palm_force, LEFT)))
    b.strain_s = lasted(strain > HAND_N, b.strain_s, b.dt)
    sane = finite3(a.com) and finite3(a.com_velocity) and is_finite(dot(a.push, a.push))
    passed = b.strain_s > STRAIN_S or not sane
    b.limits += passed
    return passed


# ---- all of it, as bits


@kernel
def where_bits(b, body):
    """Of a pattern's place."""
    place = b.place[body]
    bits = AT_HAND if place == HAND else 0
    bits |= AT_ARM if place in (ARM, SHOULDER, HAND) else 0
    return bits | (AT_TRUNK if place in (TRUNK, SHOULDER) else 0)


@kernel
def hear(a, b):
    """Patterns, commands, and the end of what is done become events; where a pattern was stays known."""
    if b.said_count[0] != b.heard_count:
        b.heard_count = b.said_count[0]
        if b.said[0] > 0:
            b.events |= 1 << (b.said[0] - 1)
    if a.touched != 0:
        b.guards = (b.guards & ~(AT_HAND | AT_ARM | AT_TRUNK)) | where_bits(b, a.touched)
    told = int(b.told)
    if b.told >= 0.0:
        b.events |= 1 << (b.first_command + told)
        b.told = -1.0


@kernel
def set_bit(bits, bit, so):
    return bits | bit if so else bits & ~bit


@kernel
def notice(m, w, s, a, b, g):
    notice_hands(s, a, b)
    time_forces(b, g)
    notice_balance(m, w, a, b, g)
    hear(a, b)
    bits = b.guards
    bits = set_bit(bits, IS_LED, max(b.hand_led_s[RIGHT], b.hand_led_s[LEFT]) > TAP_S)
    bits = set_bit(bits, IS_FREE, min(b.hand_free_s[RIGHT], b.hand_free_s[LEFT]) > FREE_S)
    bits = set_bit(bits, IS_PRESSED, b.pressed_s > TAP_S)
    bits = set_bit(bits, IS_RELEASED, b.released_s > RELEASED_S)
    bits = set_bit(bits, IS_TIPPING, b.tipping_s > TIPPING_S)
    bits = set_bit(bits, IS_STEADY, b.steady_s > STEADY_S)
    bits = set_bit(bits, AT_LIMIT, notice_limits(a, b))
    bits = set_bit(bits, HAS_FALLEN, b.fallen)
    bits = set_bit(bits, IS_HOLDING, HOLDS <= b.grasp_state[0] <= CARRIES)
    b.guards = set_bit(bits, HAS_LOST, b.grasp_state[0] >= OPENS)
