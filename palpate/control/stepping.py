"""Stepping: when the capture point leaves the feet, one of them is put where it will be (avatars.md 3).

    xi(T) = p + (xi - p) e^(w T) + f (e^(w T) - 1)/(m w^2)       p  point of the other sole nearest to xi

when   xi, foreseen, is outside the support polygon by more than `slack` and goes farther out
which  the foot after whose step xi(T) lies deepest in the polygon of both soles: each is tried
where  xi(T), within reach of the other foot and never across it; planned anew in every tick until LAST_S before the end
how    the sole bears less and less over `fade`; then least jerk to the target, height h (64 u^3 (1 - u)^3), sole level
       j = 60 (x_T - x)/T^3 - 36 v/T^2 - 9 a/T               the jerk of the least-jerk way from (x, v, a) to rest in T
ends   when the sole bears, or the time is over; the next step follows if xi still leaves

forward, left  axes of the feet on the floor;  a Avatar, b Balance, t Steps
"""

from __future__ import annotations

import math

from palpate.control.avatar import Avatar
from palpate.control.balance import Balance, sole_middle
from palpate.control.support import convex_hull, margin
from palpate.jit import Struct, Vector, block_loader, kernel
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Floats2
from palpate.spatial.vectors import put3
from palpate.world.state import load as load_world

ZERO = (0.0, 0.0, 0.0)
LAST_S = 0.06  # the target stays from so long before the end on
LAND_N = 30.0  # a foot that bears this much in the second half of its way has landed
SINK_M_S = 0.3  # a foot that is late goes down with this
RISE_S = 0.02  # in which a landed foot takes weight
OUTWARD_M = 0.005
AWAY_M, BRACE_N = 0.02, 100.0  # it braces itself when its capture point is so far off, or pushed so hard
STRAIGHT = 0.3  # sideways against forward: less is straight
STAND, FADE, SWING, LAND = range(4)


class Steps(Struct):
    on: float
    swing_s: float  # shortest time of a swing, and
    slow_s: float  # that of a step straight forward or back, where there is more time
    height_m: float  # of the swing
    reach_m: float  # forward and back, from the other foot
    wide_m: float  # sideways, of the middles of the soles
    near_m: float
    ahead_s: float  # how far the capture point is foreseen before a step is decided
    push_lasts_s: float  # a hand that pushes now is taken to push so much longer
    fade_s: float  # in which the foot to be lifted is unloaded
    slack_m: float  # how far beyond the polygon the foreseen capture point may be
    lower_m: float  # the centre of mass sinks so much for a step: legs reach farther
    overshoot: float  # the target is so much farther out than xi(T), as part of its way from the other foot
    most: float  # steps in a row, 0: any
    # state
    phase: int
    side: int  # that steps
    since_s: float  # the phase began
    time_s: float  # of this swing
    count: int  # of steps since the start, and
    in_row: int  # since it last stood still
    still_s: float
    target: Vector  # of the middle of the sole
    position: Vector  # planned: least jerk, and
    velocity: Vector
    acceleration: Vector
    error: float  # how far xi(T) will be outside [m], negative: inside
    try_point: Floats2  # (16, 2) scratch
    try_hull: Floats2  # (16, 2)
    half: Floats1  # (2,) of a sole, forward and sideways [m]


load = block_loader((Avatar, False), (Balance, False), (Steps, False))


@kernel
def heading(b):
    """Forward and left on the floor: the right foot's, which the left one shares."""
    x, y = b.turn[0, 0], b.turn[0, 3]
    size = math.sqrt(x * x + y * y)
    return x / size, y / size


@kernel
def nearest_on_sole(t, hx, hy, at, x, y):
    """The point of a sole (its middle `at`) that is nearest to (x, y)."""
    dx, dy = x - at[0], y - at[1]
    fore, side = hx * dx + hy * dy, -hy * dx + hx * dy
    fore, side = min(max(fore, -t.half[0]), t.half[0]), min(max(side, -t.half[1]), t.half[1])
    return at[0] + hx * fore - hy * side, at[1] + hy * fore + hx * side


@kernel
def foresee(a, b, x, y, px, py, seconds, lasts):
    """xi after a while with the pressure at p, hands pushing a little longer."""
    grow = math.exp(a.w * seconds)
    last = min(seconds, lasts)
    mw = a.mass * a.w
    s = b.feeds * (1.0 - math.exp(-a.w * last)) / (a.w * mw) * grow
    return px + (x - px) * grow + s * a.push[0], py + (y - py) * grow + s * a.push[1]


@kernel
def landing(a, b, t, side, seconds):
    """(x, y) where the foot `side` should land, and how far outside xi(T) is then."""
    hx, hy = heading(b)
    other = sole_middle(a, 1 - side)
    px, py = nearest_on_sole(t, hx, hy, other, a.capture[0], a.capture[1])
    x, y = foresee(a, b, a.capture[0], a.capture[1], px, py, seconds, t.push_lasts_s)
    dx, dy = (1.0 + t.overshoot) * (x - other[0]), (1.0 + t.overshoot) * (y - other[1])
    sign = 1.0 if side == 1 else -1.0
    fore, out = hx * dx + hy * dy, sign * (-hy * dx + hx * dy)
    fore, out = min(max(fore, -t.reach_m), t.reach_m), min(max(out, t.near_m), t.wide_m)
    size = math.sqrt(fore * fore / (t.reach_m * t.reach_m) + out * out / (t.wide_m * t.wide_m))
    if size > 1.0:  # both at once reach less
        fore, out = fore / size, max(out / size, t.near_m)
    tx, ty = other[0] + hx * fore - hy * sign * out, other[1] + hy * fore + hx * sign * out
    n = 0
    for foot in range(2):
        cx, cy = (tx, ty) if foot else (other[0], other[1])
        for k in range(4):
            f = t.half[0] if k < 2 else -t.half[0]
            s = t.half[1] if k % 2 else -t.half[1]
            t.try_point[n, 0], t.try_point[n, 1] = cx + hx * f - hy * s, cy + hy * f + hx * s
            n += 1
    corners = convex_hull(t.try_point, n, t.try_hull)
    return tx, ty, -margin(t.try_hull, corners, x, y)


@kernel
def choose(a, b, t):
    """The foot whose step leaves xi deepest inside; with little difference the one that bears less."""
    T = t.fade_s + t.time_s
    _, _, right = landing(a, b, t, 0, T)
    _, _, left = landing(a, b, t, 1, T)
    if abs(right - left) < 0.02:
        return 0 if a.foot_load[0] <= a.foot_load[1] else 1
    return 0 if right < left else 1


@kernel
def must_step(a, b, t):
    """How far xi, foreseen, is outside, if it goes farther out."""
    x, y = foresee(a, b, a.capture[0], a.capture[1], b.cop[0], b.cop[1], t.ahead_s, t.push_lasts_s)
    out = -margin(b.polygon, b.corners, x, y)
    return out if out > -b.margin + OUTWARD_M else -1.0


@kernel
def begin_step(a, b, t):
    """With the foot that serves best."""
    hx, hy = heading(b)
    dx, dy = a.capture[0] - b.wanted[0], a.capture[1] - b.wanted[1]
    straight = abs(hx * dy - hy * dx) < STRAIGHT * abs(hx * dx + hy * dy)
    t.time_s = t.slow_s if straight else t.swing_s
    t.side = choose(a, b, t)
    t.phase, t.since_s = FADE, 0.0
    at = sole_middle(a, t.side)
    t.position, t.velocity, t.acceleration = (at[0], at[1], a.floor_m), ZERO, ZERO
    t.count, t.in_row, t.still_s = t.count + 1, t.in_row + 1, 0.0


@kernel
def least_jerk(x, v, a, target, T, dt):
    """(x, v, a) a tick later on the least-jerk way to rest at the target in T."""
    j = 60.0 * (target - x) / (T * T * T) - 36.0 * v / (T * T) - 9.0 * a / T
    return x + dt * (v + 0.5 * dt * (a + dt * j / 3.0)), v + dt * (a + 0.5 * dt * j), a + dt * j


@kernel
def lift(t, u):
    """Height, its rate and its acceleration at u = 0 .. 1 of the swing."""
    r = u * (1.0 - u)
    h, T = 64.0 * t.height_m, t.time_s
    slope = 1.0 - 2.0 * u
    return h * r * r * r, h * 3.0 * r * r * slope / T, h * (6.0 * r * slope * slope - 6.0 * r * r) / (T * T)


@kernel
def swing(a, b, t, dt):
    """A tick on the way."""
    left_s = t.time_s - t.since_s
    if left_s > LAST_S:
        x, y, t.error = landing(a, b, t, t.side, left_s)
        t.target = (x, y, a.floor_m)
    if left_s > 2.0 * dt:
        x, u, ax = least_jerk(t.position[0], t.velocity[0], t.acceleration[0], t.target[0], left_s, dt)
        y, v, ay = least_jerk(t.position[1], t.velocity[1], t.acceleration[1], t.target[1], left_s, dt)
    else:
        x, y, u, v, ax, ay = t.target[0], t.target[1], 0.0, 0.0, 0.0, 0.0
    t.position, t.velocity, t.acceleration = (x, y, a.floor_m), (u, v, 0.0), (ax, ay, 0.0)
    z, w, az = lift(t, min(t.since_s / t.time_s, 1.0))
    if left_s < 0.0:  # not there yet: on, gently, until it bears
        z, w = SINK_M_S * left_s, -SINK_M_S
    put3(b.place, t.side, (x, y, a.floor_m + z))
    put3(b.place_velocity, t.side, (u, v, w))
    put3(b.place_acceleration, t.side, (ax, ay, az))


@kernel
def landed(a, t):
    late = t.since_s > 1.5 * t.time_s  # there is no floor, or it is lower: stand all the same
    return late or (t.since_s > 0.6 * t.time_s and a.foot_load[t.side] > LAND_N)


@kernel
def is_disturbed(a, b):
    """Whether it braces itself: a hand pushes, or xi is not where it should be."""
    x, y = a.capture[0] - b.wanted[0], a.capture[1] - b.wanted[1]
    pushed = b.feeds * (a.push[0] * a.push[0] + a.push[1] * a.push[1])
    return x * x + y * y > AWAY_M * AWAY_M or pushed > BRACE_N * BRACE_N


@routine
def tick_steps(address):
    a, b, t = load(address)
    dt = load_world(a.world)[5].dt
    if b.on == 0.0 or a.fallen != 0:
        t.phase = STAND
        return 0
    t.since_s += dt
    if t.phase == STAND:
        may = t.on > 0.0 and (t.most == 0.0 or t.in_row < t.most)
        if may and b.corners > 2 and must_step(a, b, t) > t.slack_m:
            begin_step(a, b, t)
        else:
            still = b.margin > 0.03 and abs(a.com_velocity[0]) + abs(a.com_velocity[1]) < 0.1
            t.still_s = t.still_s + dt if still else 0.0
            if t.still_s > 0.5:
                t.in_row = 0
    if t.phase == FADE:
        b.bears[t.side] = max(1.0 - t.since_s / t.fade_s, 0.0)
        if t.since_s >= t.fade_s:
            t.phase, t.since_s = SWING, 0.0
            b.swings[t.side], b.bears[t.side] = 1.0, 0.0
            _, _, t.error = landing(a, b, t, t.side, t.time_s)
    if t.phase == SWING:
        swing(a, b, t, dt)
        if landed(a, t):
            t.phase, t.since_s = LAND, 0.0
            b.swings[t.side] = 0.0
            put3(b.place_velocity, t.side, ZERO)
            put3(b.place_acceleration, t.side, ZERO)
    if t.phase == LAND:
        b.bears[t.side] = min(t.since_s / RISE_S, 1.0)
        if t.since_s >= RISE_S:
            b.bears[t.side] = 1.0
            t.phase = STAND
    b.braced = 1.0 if t.phase != STAND or (t.on > 0.0 and is_disturbed(a, b)) else 0.0
    sunk = t.lower_m if t.phase != STAND or t.in_row > 0 else 0.0
    b.lower_m += dt / 0.08 * (sunk - b.lower_m)
    return 0


@routine
def reset_steps(address):
    _, b, t = load(address)
    t.phase, t.side, t.since_s, t.count, t.in_row, t.still_s = STAND, 0, 0.0, 0, 0, 0.0
    t.target, t.velocity, t.acceleration, t.error = ZERO, ZERO, ZERO, 0.0
    b.lower_m = 0.0
    return 0
