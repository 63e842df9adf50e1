"""The walking person as simulated: what they do is a list of events, any of which may overlap.  Mobile display, 4.9.

    events = [walk(1.0, 3.0, 0.5, towards_deg=90.0), turn(2.0, 1.0, 45.0), reach(4.0, 0.5, ahead_m=0.1)]
    user = new_user(events, sway=True)

The person is at (x, z) and faces (sin g, cos g): g = 0 looks along z.  The hand is arm's length ahead, and where
reaches have brought it; the head is 0.08 m before the trunk, and sways with the gait.  Who would come too near to
another person, or leave home, turns aside and goes on as fast.

row of an event: begin, duration [s], kind, then
    WALK     speed, direction g of the walk [rad]; ramps up, and stops at once
    TURN     angle [rad], minimum jerk 10 x^3 - 15 x^4 + 6 x^5
    REACH    ahead, right, up [m], minimum jerk; the hand stays there
    CHASE    speed: walks at the robot, whatever it does, and turns to it
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from palpate.jit import Struct, Vector, kernel
from palpate.mobile.rates import clip, wrap
from palpate.model.model import Floats2

WALK, TURN, REACH, CHASE = range(4)
COLUMNS = 7
NOBODY_M = 1e6  # where another person is when there is none
ASIDE_1_S = 2.0  # from a limit so much of the distance to it may be walked in a second
CHASE_TURN_RAD_S = 1.5  # how fast a pursuer turns to the robot
Event = tuple[float, ...]


class Walker(Struct):
    """A person: settings and state."""

    dt: float
    arm: float  # [m]
    ramp: float  # of a walk [s]
    sway: float  # of the head, lateral [m]; 0: none
    bob: float  # vertical
    head_ahead: float
    height: float  # of the hand above the floor [m]
    eyes: float  # of the head
    x: float
    z: float
    g: float
    vx: float  # of the trunk, written by step_user
    vz: float
    hand: Vector  # x, y, z
    head: Vector
    reach: Vector  # ahead, right, up
    chasing: int  # 1 while a CHASE is going on
    other: Vector  # x, z of the nearest other person, written from outside; third: the distance that is kept, 0: none
    home: Vector  # x, z, radius [m]: it is not left; 0: there is none
    events: Floats2  # (n, COLUMNS)


def walk(begin_s: float, seconds: float, speed_m_s: float, towards_deg: float = 0.0) -> Event:
    """Walk in a direction of the room (0: along z, 90: along x) without turning."""
    return _event(begin_s, seconds, WALK, speed_m_s, math.radians(towards_deg))


def turn(begin_s: float, seconds: float, angle_deg: float) -> Event:
    """Turn on the spot, or while walking."""
    return _event(begin_s, seconds, TURN, math.radians(angle_deg))


def reach(begin_s: float, seconds: float, ahead_m: float = 0.0, right_m: float = 0.0, up_m: float = 0.0) -> Event:
    """Move the hand by so much, relative to the body, and leave it there."""
    if math.sqrt(ahead_m**2 + right_m**2 + up_m**2) > 0.15 + 1e-12:
        raise ValueError(f"a reach is at most 0.15 m, not {ahead_m}, {right_m}, {up_m}")
    return _event(begin_s, seconds, REACH, ahead_m, right_m, up_m)


def chase(begin_s: float, seconds: float, speed_m_s: float) -> Event:
    """The adversary: walk at the robot."""
    return _event(begin_s, seconds, CHASE, speed_m_s)


def explore(
    seed: int, seconds: float = 30.0, speed_m_s: float = 0.45, turn_deg: float = 90.0, chases: bool = False
) -> list[Event]:
    """A random mixture of walks in any direction, turns, reaches and pauses; with chases, of a hostile person.

    Walks follow one another, each at most at this speed, so that no sum of them is faster.
    """
    rng = np.random.default_rng(seed)
    events: list[Event] = []
    t = float(rng.uniform(0.5, 1.5))
    while t < seconds:
        lasts = float(rng.uniform(0.8, 4.0))
        speed = speed_m_s * math.sqrt(float(rng.uniform(0.0, 1.0)))
        if chases and rng.uniform() < 0.3:
            events.append(chase(t, lasts, speed))
        else:
            events.append(walk(t, lasts, speed, float(rng.uniform(-180.0, 180.0))))
        if rng.uniform() < 0.6:
            takes = float(rng.uniform(0.5, 2.0))
            events.append(turn(t + float(rng.uniform(0.0, 1.0)), takes, float(rng.uniform(-turn_deg, turn_deg))))
        if rng.uniform() < 0.4:
            d = rng.normal(size=3)
            d *= rng.uniform(0.0, 0.08) / np.linalg.norm(d)
            begin, takes = t + float(rng.uniform(0.0, 1.0)), float(rng.uniform(0.4, 1.0))
            events.append(reach(begin, takes, *d))
            events.append(reach(begin + takes + 0.5, takes, *-d))
        t += lasts + float(rng.uniform(0.0, 1.5))
    return events


def new_user(
    events: Sequence[Event], start: tuple[float, float, float] = (0.0, 0.0, 0.0), *, sway: bool = False,
    arm_m: float = 0.60, ramp_s: float = 0.4, head_ahead_m: float = 0.08, hand_height_m: float = 1.0,
    head_height_m: float = 1.65, apart_m: float = 0.0, home: tuple[float, float, float] = (0.0, 0.0, 0.0),
    tick_hz: int = 1000,
) -> Walker:  # fmt: skip
    """A person at start (x, z, g), standing.

    apart_m is kept to the nearest other person, once there is one; home (x, z, radius) is not left; 0: no such rule.
    """
    rows = np.array(sorted(events), dtype=np.float64).reshape(-1, COLUMNS)
    if not np.isfinite(rows).all() or not np.isfinite(start).all():
        raise ValueError("events and start must be finite numbers")
    if not (np.isfinite(home).all() and home[2] >= 0.0 and math.isfinite(apart_m) and apart_m >= 0.0):
        raise ValueError(f"apart_m {apart_m} and the radius of home {home} must be 0 or more")
    if not (arm_m > 0.0 and ramp_s > 0.0):
        raise ValueError(f"arm_m {arm_m} and ramp_s {ramp_s} must be positive")
    return Walker(
        dt=1.0 / tick_hz, arm=arm_m, ramp=ramp_s, sway=0.020 * sway, bob=0.015 * sway, head_ahead=head_ahead_m,
        height=hand_height_m, eyes=head_height_m, x=start[0], z=start[1], g=start[2],
        other=(NOBODY_M, NOBODY_M, apart_m), home=home, events=np.ascontiguousarray(rows),
    )  # fmt: skip


def _event(begin_s: float, seconds: float, kind: int, *values: float) -> Event:
    if not (math.isfinite(begin_s) and begin_s >= 0.0 and seconds > 0.0):
        raise ValueError(f"an event begins at 0 or later and lasts, not at {begin_s} for {seconds} s")
    return (begin_s, seconds, float(kind), *values, *([0.0] * (COLUMNS - 3 - len(values))))


@kernel
def eased(x):
    """Minimum jerk from 0 to 1."""
    x = min(max(x, 0.0), 1.0)
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


@kernel
def share_of(t, begin, seconds, ramp):
    """Of a walk's speed at time t: it ramps up, and ends at once."""
    return min(max((t - begin) / ramp, 0.0), 1.0) if t < begin + seconds else 0.0


@kernel
def aside(vx, vz, nx, nz, least):
    """A velocity whose part along n is at least this, as fast as it was; what it cannot be it is as far as it goes."""
    along, v2 = vx * nx + vz * nz, vx * vx + vz * vz
    if along >= least:
        return vx, vz
    ax, az = vx - along * nx, vz - along * nz
    across = math.sqrt(ax * ax + az * az)
    if across < 1e-9:
        ax, az, across = -nz, nx, 1.0
    along = min(least, math.sqrt(v2))
    f = math.sqrt(max(v2 - along * along, 0.0)) / across
    return along * nx + f * ax, along * nz + f * az


@kernel
def within_rules(u, vx, vz):
    """The velocity of a person who stays at home, unless it takes leaving it to keep apart from another."""
    if u.home[2] > 0.0:
        dx, dz = u.home[0] - u.x, u.home[1] - u.z
        r = max(math.sqrt(dx * dx + dz * dz), 1e-9)
        vx, vz = aside(vx, vz, dx / r, dz / r, ASIDE_1_S * (r - u.home[2]))
    if u.other[2] > 0.0:
        dx, dz = u.x - u.other[0], u.z - u.other[1]
        d = max(math.sqrt(dx * dx + dz * dz), 1e-9)
        vx, vz = aside(vx, vz, dx / d, dz / d, ASIDE_1_S * (u.other[2] - d))
    return vx, vz


@kernel
def step_user(u, k, robot_x, robot_z):
    """The person at tick k, from where they were a tick before."""
    e, t, h = u.events, k * u.dt, u.dt
    vx, vz, turned, ahead, right, up, chasing = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for i in range(e.shape[0]):
        begin, seconds = e[i, 0], e[i, 1]
        if begin > t:
            break
        kind, over = int(e[i, 2]), t - h >= begin + seconds
        if kind == REACH:
            s = 1.0 if over else eased((t - begin) / seconds)
            ahead, right, up = ahead + s * e[i, 3], right + s * e[i, 4], up + s * e[i, 5]
        elif over:
            continue
        elif kind == WALK:
            v = e[i, 3] * share_of(t - 0.5 * h, begin, seconds, u.ramp)
            vx, vz = vx + v * math.sin(e[i, 4]), vz + v * math.cos(e[i, 4])
        elif kind == TURN:
            turned += e[i, 3] * (eased((t - begin) / seconds) - eased((t - h - begin) / seconds))
        else:
            dx, dz = robot_x - u.x, robot_z - u.z
            d = max(math.sqrt(dx * dx + dz * dz), 1e-9)
            v = e[i, 3] * share_of(t - 0.5 * h, begin, seconds, u.ramp)
            vx, vz, chasing = vx + v * dx / d, vz + v * dz / d, 1
            turned += clip(wrap(math.atan2(dx, dz) - u.g), CHASE_TURN_RAD_S * h)
    vx, vz = within_rules(u, vx, vz)
    u.x += vx * h
    u.z += vz * h
    u.g += turned
    u.vx, u.vz, u.chasing = vx, vz, chasing
    s, c = math.sin(u.g), math.cos(u.g)
    u.reach = (ahead, right, up)
    u.hand = (u.x + (u.arm + ahead) * s - right * c, u.height + up, u.z + (u.arm + ahead) * c + right * s)
    lateral = u.sway * math.sin(2.0 * math.pi * t) if u.sway > 0.0 else 0.0
    bob = u.bob * math.sin(4.0 * math.pi * t) if u.bob > 0.0 else 0.0
    u.head = (u.x + u.head_ahead * s - lateral * c, u.eyes + bob, u.z + u.head_ahead * c + lateral * s)
