"""The planner: from seen poses to a velocity command, at its own rate.  Mobile display, 4.

see the user -> target and case -> active or idle -> velocity law -> room -> barrier -> warnings

The head is tracked, not the trunk: 0.08 m behind the gaze is the trunk, and an alpha-beta filter (critically damped, of
the given time) takes the sway out without lagging behind a steady walk; 0 s: as it is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from palpate.jit import Struct, Vector, kernel
from palpate.mobile.planning.barrier import seconds_to_contact
from palpate.mobile.planning.others import OTHERS, past_all, retreating
from palpate.mobile.planning.room import Room, clearance, free_bearing, open_room, search
from palpate.mobile.planning.target import STRAIGHT, at, bearing_of_hand, facing, waypoint
from palpate.mobile.planning.velocity import capped, improved_velocity, thesis_velocity, turning
from palpate.model.model import Floats2

GROWTH_S = 0.03  # low-pass of how a user's velocity grows
WARN_NEAR, WARN_TOUCH, WARN_COMING, WARN_LOST = 1, 2, 4, 8  # bits: robot fades in; sound; contact predicted; no pose


@dataclass(frozen=True)
class Follower:
    """How the robot follows; the defaults are those of the thesis in operation."""

    improved: bool = False
    rate_hz: int = 10
    speed_m_s: float = 0.2
    turn_rad_s: float = math.radians(40.0)
    distance_m: float = 0.85  # d' = arm + robot radius
    around_rad: float = math.radians(20.0)  # pi'
    stop_m: float = 0.050  # stop interval, of the improved one its dead band
    slow_m: float = 0.30  # D_dec
    turn_gain_1_s: float = 2.0
    turn_dead_rad: float = math.radians(2.0)
    activation_m: float = 0.057  # of the HIP from its centre; 0: always active
    gain_1_s: float = 4.0  # of the improved one
    target_s: float = 0.15  # low-pass of the target's velocity
    hip_ahead_m: float = 0.2358  # of the robot's centre
    user_s: float = 0.0  # filter of the head

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            zero = name in ("activation_m", "user_s", "turn_dead_rad", "stop_m")
            if not (math.isfinite(value) and (value >= 0.0 if zero or name == "improved" else value > 0.0)):
                raise ValueError(f"{name} is {value}; it must be {'0 or more' if zero else 'positive'}")

    def fast(self) -> Follower:
        """At the full speed of the base."""
        return replace(self, speed_m_s=0.5)


THESIS = Follower()
# The reference smooths the target's velocity by 0.15 s and the head not at all: who walks at the robot at 0.5 m/s is
# then beyond the usable 95.5 mm in 792 of 1000 runs, by up to 15 mm (2 mm of noise).  Filtered where it is seen, 180
# times a second, the user leaves so little noise that 0.04 s are enough: 2 to 8 of a thousand runs, by up to 3 mm.
IMPROVED = Follower(
    improved=True, rate_hz=50, speed_m_s=0.5, around_rad=math.radians(30.0), stop_m=0.010, activation_m=0.0,
    target_s=0.04, user_s=0.03,
)  # fmt: skip


@dataclass(frozen=True)
class Safety:
    """How near the robot may come."""

    robot_radius_m: float = 0.25  # rho_R; 0.354 around its corners
    user_radius_m: float = 0.25  # rho_H
    margin_m: float = 0.10
    gain_1_s: float = 2.0
    barrier: bool = True
    look_ahead_s: float = (
        0.2  # the barrier holds for where they will be; 0: for where they are, as the reference has it
    )
    response_s: float = 0.10  # of the base, to know its velocity
    brake_m_s2: float = 1.0
    user_velocity: bool = True  # in the barrier; the reference's is without, and comes 0.12 m nearer (100 random walks)
    base_distance_m: float = 0.80  # kept to other robots, so that they are never nearer than 2 rho_R + 0.2 m
    retreat_m_s: float = 0.5  # the barrier's cap, and that of case 1; the follower's own is no limit to a retreat
    show_m: float = 0.15  # the robot fades into view when it is nearer than d' by this
    foresee_s: float = 0.8  # a contact that cannot be avoided is warned of so long before
    sets_out_m_s: float = 0.15  # a user who comes faster, and faster and faster, is foreseen to go on so;
    calm_m_s2: float = 0.75  # less growth is calm: with it and the above 1 false alarm in 25 min, without 4 a minute
    grows_s: float = 0.3  # for so long,
    walking_m_s: float = 1.4  # up to this

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value >= 0.0):
                raise ValueError(f"{name} is {value}; it is 0 or more")

    @property
    def contact_m(self) -> float:
        """r_c, of the cylinder around the user."""
        return self.robot_radius_m + self.user_radius_m


class Planner(Struct):
    """Settings, what is seen, and what was decided last."""

    improved: int
    rate_hz: int
    dt: float  # between plans [s]
    vmax: float
    wmax: float
    d1: float
    pi1: float
    stop: float
    slow: float
    turn_gain: float
    turn_dead: float
    activation: float
    gain: float
    smooth: float  # share of a new difference in the target's velocity
    ahead: float
    r_c: float
    keep: float  # r_c + margin
    barrier_gain: float
    barrier: int
    user_velocity: int
    look_ahead: float
    response: float  # share of a new command that the base has after a period
    brake: float  # by how much it can change its velocity in one [m/s]
    sharp: float  # a change of the command that takes all of its acceleration [m/s]
    own: Vector  # velocity of the base as the commands make it; third unused
    retreat: float
    show: float
    foresee: float
    sets_out: float
    calm: float
    grows: float
    walking: float
    user_tau: float
    head_behind: float
    heard: int  # a head pose was seen; written by see_user
    seen_at: int  # its tick
    user: Vector  # x, z, gaze as planned with
    user_v: Vector  # velocity of the trunk; third unused
    user_a: Vector  # and its growth, low-passed
    robot: Vector  # x, z, phi as planned with, written by plan
    target: Vector  # x, z, phi*
    target_v: Vector
    way: Vector  # the waypoint; third: its distance
    bearing: float
    side: float
    case: int
    active: int
    plans: int
    command: Vector
    warning: int
    warned_at: int  # plan at which a sound first rang; -1: never
    foreseen_at: int  # at which a contact was first predicted
    blocked: int  # plans for which the room had no way
    base_keep: float  # to other bases [m]
    other_users: int  # how many of `others` there are; written, with others and bases, by whoever knows of them
    other_bases: int
    others: Floats2  # (OTHERS, 6) other users as seen: x, z, velocity, its growth
    bases: Floats2  # (OTHERS, 2) other robots: x, z
    limits: Floats2  # (1 + 2 OTHERS, 3) barriers of the last plan: n, and the least velocity along it
    has_room: int
    origin: Vector  # of the room's grid x, z; third: its step [m]
    clear: Floats2  # (nz, nx) distance to the nearest obstacle [m], for the robot's centre


def new_planner(
    follower: Follower, safety: Safety | None = None, room: Room | None = None, head_ahead_m: float = 0.08
) -> Planner:
    """One that has planned nothing yet."""
    f, s = follower, safety or Safety()
    if not f.distance_m * math.cos(0.5 * f.around_rad) > s.contact_m:
        raise ValueError(f"distance_m {f.distance_m} is too near: the way round the user would touch them")
    where = room or open_room()
    return Planner(
        improved=int(f.improved), rate_hz=f.rate_hz, dt=1.0 / f.rate_hz, vmax=f.speed_m_s, wmax=f.turn_rad_s,
        d1=f.distance_m, pi1=f.around_rad, stop=f.stop_m, slow=f.slow_m, turn_gain=f.turn_gain_1_s,
        turn_dead=f.turn_dead_rad, activation=f.activation_m, gain=f.gain_1_s,
        smooth=1.0 - math.exp(-1.0 / (f.rate_hz * f.target_s)), ahead=f.hip_ahead_m, r_c=s.contact_m,
        keep=s.contact_m + s.margin_m, barrier_gain=s.gain_1_s, barrier=int(s.barrier),
        user_velocity=int(s.user_velocity), look_ahead=s.look_ahead_s,
        response=1.0 - math.exp(-1.0 / (f.rate_hz * s.response_s)), brake=s.brake_m_s2 / f.rate_hz,
        sharp=s.brake_m_s2 * s.response_s, retreat=s.retreat_m_s, show=f.distance_m - s.show_m, foresee=s.foresee_s,
        sets_out=s.sets_out_m_s, calm=s.calm_m_s2, grows=s.grows_s, walking=s.walking_m_s, user_tau=f.user_s,
        head_behind=head_ahead_m, bearing=0.5 * math.pi, case=STRAIGHT, warned_at=-1,
        foreseen_at=-1, base_keep=s.base_distance_m, others=np.zeros((OTHERS, 6)), bases=np.zeros((OTHERS, 2)),
        limits=np.zeros((1 + 2 * OTHERS, 3)), has_room=int(room is not None),
        origin=where.origin, clear=where.clear,
    )  # fmt: skip


@kernel
def see_user(s, ts, dt_tick, x, z, gaze):
    """A packet of the head: position and gaze at tick ts."""
    tx, tz = x - s.head_behind * math.sin(gaze), z - s.head_behind * math.cos(gaze)
    if s.heard == 0:
        s.user, s.heard, s.seen_at = (tx, tz, gaze), 1, ts
        return
    if ts <= s.seen_at:
        return
    h = (ts - s.seen_at) * dt_tick
    s.seen_at = ts
    tau = s.user_tau if s.user_tau > 0.0 else 0.1  # the velocity is always estimated
    theta, before = math.exp(-h / tau), s.user_v
    alpha, beta = 1.0 - theta * theta, (1.0 - theta) * (1.0 - theta)  # critically damped, Benedict and Bordner 1962
    if s.user_tau > 0.0:
        px, pz = s.user[0] + h * s.user_v[0], s.user[1] + h * s.user_v[1]
        ex, ez = tx - px, tz - pz
        s.user = (px + alpha * ex, pz + alpha * ez, gaze)
        s.user_v = (s.user_v[0] + beta / h * ex, s.user_v[1] + beta / h * ez, 0.0)
    else:
        f = 1.0 - theta
        vx, vz = (tx - s.user[0]) / h, (tz - s.user[1]) / h
        s.user_v = (s.user_v[0] + f * (vx - s.user_v[0]), s.user_v[1] + f * (vz - s.user_v[1]), 0.0)
        s.user = (tx, tz, gaze)
    f, a = 1.0 - math.exp(-h / GROWTH_S), s.user_a
    ax, az = (s.user_v[0] - before[0]) / h, (s.user_v[1] - before[1]) / h
    s.user_a = (a[0] + f * (ax - a[0]), a[1] + f * (az - a[1]), 0.0)


@kernel
def follow_target(s, beta, wide):
    """Target and its velocity, low-passed; a target that jumps by more than is walked in a period has none."""
    x, z = at(s.user, s.d1, beta)
    if s.plans > 0:
        vx, vz = (x - s.target[0]) / s.dt, (z - s.target[1]) / s.dt
        if vx * vx + vz * vz < wide * wide:
            f = s.smooth
            s.target_v = (s.target_v[0] + f * (vx - s.target_v[0]), s.target_v[1] + f * (vz - s.target_v[1]), 0.0)
    s.target = (x, z, facing(s.robot, s.user))


@kernel
def plan(s, robot, hand, off_centre, lost):
    """One plan: robot (x, z, phi) and hand (x, z) as seen, the HIP's distance from its centre; writes s.command.

    lost: no pose for too long; the base stops.
    """
    s.robot = robot
    here, user = (robot[0], robot[1]), (s.user[0], s.user[1])
    beta = bearing_of_hand(user, hand, s.bearing)
    s.bearing = beta
    if s.has_room:
        beta = free_bearing(s, user, beta)
    follow_target(s, beta, 5.0)
    (wx, wz), s.case, s.side = waypoint(here, user, beta, s.d1, s.r_c, s.pi1, s.side)
    ex, ez = wx - here[0], wz - here[1]
    e = math.sqrt(ex * ex + ez * ez)
    s.way = (wx, wz, e)
    on = off_centre > s.activation or s.case != STRAIGHT
    s.active = 1 if on or (s.active and e >= s.stop) else 0
    vx, vz, w, cap = 0.0, 0.0, 0.0, s.vmax
    if s.active:
        cap = s.vmax if s.case != 1 else max(s.vmax, s.retreat)
        if s.improved:
            ahead = (s.target_v[0], s.target_v[1]) if s.case == STRAIGHT else (0.0, 0.0)
            vx, vz = improved_velocity(ex, ez, ahead, cap, s.gain, s.stop)
        else:
            vx, vz = thesis_velocity(ex, ez, cap, s.stop, s.slow)
        w = turning(s.target[2], robot[2], s.turn_gain, s.wmax, s.turn_dead)
    if s.has_room and (vx != 0.0 or vz != 0.0):
        vx, vz = search(s, here, user, (wx, wz), vx, vz)
    if s.barrier:
        vx, vz = past_all(s, vx, vz, here, max(s.vmax, s.retreat))
        if s.has_room and clearance(s, here[0] + 0.2 * vx, here[1] + 0.2 * vz) <= 0.0 < clearance(s, here[0], here[1]):
            vx, vz = 0.0, 0.0  # away from the user is a wall: it stops
    if lost:
        vx, vz, w = 0.0, 0.0, 0.0
    s.command = (vx, vz, w)
    ax, az = capped(s.response * (vx - s.own[0]), s.response * (vz - s.own[1]), s.brake)
    s.own = (s.own[0] + ax, s.own[1] + az, 0.0)
    warn(s, here, lost)
    s.plans += 1


@kernel
def foreseen(s, here, user, v, a):
    """(distance to a user, seconds to a contact that cannot be avoided)."""
    x, z = here[0] - user[0], here[1] - user[1]
    d = math.sqrt(x * x + z * z)
    n = max(d, 1e-9)
    approach, growth = (v[0] * x + v[1] * z) / n, (a[0] * x + a[1] * z) / n
    growth = max(growth - s.calm, 0.0) if approach > s.sets_out else 0.0
    return d, seconds_to_contact(d, max(approach, 0.0), growth, retreating(s, here, user), s.r_c,
                                 max(s.vmax, s.retreat), s.brake * s.rate_hz, s.walking, s.grows,
                                 s.foresee)  # fmt: skip


@kernel
def warn(s, here, lost):
    """Bits of s.warning, of all users, and the first plans at which it rang."""
    d, seconds = foreseen(s, here, (s.user[0], s.user[1]), (s.user_v[0], s.user_v[1]), (s.user_a[0], s.user_a[1]))
    for i in range(s.other_users):
        o = s.others[i]
        near, soon = foreseen(s, here, (o[0], o[1]), (o[2], o[3]), (o[4], o[5]))
        d, seconds = min(d, near), min(seconds, soon)
    bits = (WARN_NEAR if d < s.show else 0) | (WARN_TOUCH if d < s.keep else 0) | (WARN_LOST if lost else 0)
    if seconds < s.foresee:
        bits |= WARN_COMING
        if s.foreseen_at < 0:
            s.foreseen_at = s.plans
    if bits & WARN_TOUCH and s.warned_at < 0:
        s.warned_at = s.plans
    s.warning = bits
