"""The omnidirectional base as it is simulated: three wheels, first-order response, limits, slip, pushes.

Mobile display, 1.2 and 4.6.  Commands are velocities (vx, vz, vphi) in the world; the base takes the newest at 50 Hz.

    wheel i:  w_i = (-sin b_i vx_R + cos b_i vy_R + rho w_z) / radius        b = 90, 210, 330 deg in robot axes
              v_R = v . (-cos phi, -sin phi), v . (-sin phi, cos phi);   w_z = -vphi
    v' = clip((v_cmd - v)/tau, a_max) + F/m + k e  F the reaction of what is felt, a disturbance
    e' = v_m - v                                   v_m the same without F: what the wheels' position control holds
    p' = (1 - slip) v                              slip 0 .. 3 %, new every 20 ms; and now and then an event

An event of 10 mm or 1 deg is spread over one slip period: the base itself does not leap.  `grip` is how much of its
speed each wheel passes on: (1, 1, 1), unless something is wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from palpate.jit import Struct, Vector, kernel
from palpate.link.impair import next_uniform, random_state
from palpate.mobile.rates import clip, due, wrap
from palpate.spatial.vectors import add_scaled, sub

BETA = (math.pi / 2.0, 7.0 * math.pi / 6.0, 11.0 * math.pi / 6.0)
SIN_BETA, COS_BETA = tuple(math.sin(b) for b in BETA), tuple(math.cos(b) for b in BETA)


@dataclass(frozen=True)
class Base:
    """The robot of the thesis."""

    speed_m_s: float = 0.5  # what it can do; how fast it is driven is the planner's
    turn_rad_s: float = math.radians(40.0)
    wheel_radius_m: float = 0.040
    wheel_distance_m: float = 0.20  # from the centre
    wheel_rad_s: float = 20.0  # of the motors
    rate_hz: int = 50
    tau_s: float = 0.10
    acceleration_m_s2: float = 1.0
    acceleration_rad_s2: float = 4.0
    mass_kg: float = 22.0
    inertia_kgm2: float = 0.92  # of a square of 0.5 m
    hold_1_s2: float = 100.0  # k of the wheels' position control: 8.5 N push it off by 4 mm; 0: velocity control alone
    slip: float = 0.03  # at most
    slip_s: float = 0.020  # between new values
    events_1_s: float = 0.01  # chance per second
    event_m: float = 0.010
    event_rad: float = math.radians(1.0)
    silence_s: float = 0.5  # without a command it stops

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            none = name in ("slip", "events_1_s", "event_m", "event_rad", "hold_1_s2")
            if not (math.isfinite(value) and (value >= 0.0 if none else value > 0.0)):
                raise ValueError(f"{name} is {value}; it must be {'0 or more' if none else 'positive'}")
        if self.slip >= 1.0:
            raise ValueError(f"slip is {self.slip}; it is a share, below 1")


class Drive(Struct):
    """A base: settings and state."""

    rate_hz: int
    tick_hz: int
    dt: float
    speed: float
    turn: float
    radius: float
    rho: float
    motor: float
    tau: float
    a_max: float
    alpha_max: float
    mass: float
    inertia: float
    hold: float
    slip_max: float
    slip_ticks: int
    event_chance: float  # in a slip period
    event_m: float
    event_rad: float
    silence: int  # [ticks]
    random: int
    command: Vector  # vx, vz, vphi, written by whoever plans
    commanded_at: int  # tick
    target: Vector  # the command as the base took it, within its limits
    wheels: Vector  # its wheel speeds [rad/s]
    force: Vector  # on the base: fx, fz [N], moment about phi [N m]
    grip: Vector
    pose: Vector  # x, z, phi: the truth
    velocity: Vector
    acceleration: Vector  # of that
    model: Vector  # v_m
    lag: Vector  # e
    slip: float
    event: Vector  # velocity of an event that is going on
    events: int
    limited: int  # commands that were cut
    updates: int


def new_drive(base: Base, pose: tuple[float, float, float], seed: int, tick_hz: int = 1000) -> Drive:
    """Standing at a pose (x, z, phi)."""
    if len(pose) != 3 or not all(math.isfinite(x) for x in pose):
        raise ValueError(f"pose is {pose}; it is x, z [m] and phi [rad]")
    b = base
    return Drive(
        rate_hz=b.rate_hz, tick_hz=tick_hz, dt=1.0 / tick_hz, speed=b.speed_m_s, turn=b.turn_rad_s,
        radius=b.wheel_radius_m, rho=b.wheel_distance_m, motor=b.wheel_rad_s, tau=b.tau_s, a_max=b.acceleration_m_s2,
        alpha_max=b.acceleration_rad_s2, mass=b.mass_kg, inertia=b.inertia_kgm2, hold=b.hold_1_s2, slip_max=b.slip,
        slip_ticks=max(1, round(b.slip_s * tick_hz)), event_chance=b.events_1_s * b.slip_s, event_m=b.event_m,
        event_rad=b.event_rad, silence=round(b.silence_s * tick_hz), random=random_state(seed), pose=pose,
        grip=(1.0, 1.0, 1.0),
    )  # fmt: skip


@kernel
def wheel_speeds(v, phi, rho, radius):
    """(w_1, w_2, w_3) [rad/s] of a velocity (vx, vz, vphi) in the world."""
    s, c = math.sin(phi), math.cos(phi)
    x, y, w = -c * v[0] - s * v[1], -s * v[0] + c * v[1], -rho * v[2]
    return ((-SIN_BETA[0] * x + COS_BETA[0] * y + w) / radius, (-SIN_BETA[1] * x + COS_BETA[1] * y + w) / radius,
            (-SIN_BETA[2] * x + COS_BETA[2] * y + w) / radius)  # fmt: skip


@kernel
def velocity_of(wheels, phi, rho, radius):
    """The velocity (vx, vz, vphi) in the world of three wheel speeds: the inverse."""
    k = 2.0 / 3.0 * radius
    x = -k * (SIN_BETA[0] * wheels[0] + SIN_BETA[1] * wheels[1] + SIN_BETA[2] * wheels[2])
    y = k * (COS_BETA[0] * wheels[0] + COS_BETA[1] * wheels[1] + COS_BETA[2] * wheels[2])
    s, c = math.sin(phi), math.cos(phi)
    return -c * x - s * y, -s * x + c * y, -radius / (3.0 * rho) * (wheels[0] + wheels[1] + wheels[2])


@kernel
def accept(b, k):
    """The motor controller takes the newest command, cut to what base and motors can; 0 if it is too old or none."""
    b.updates += 1
    vx, vz, w = b.command
    known = abs(vx) <= 1e3 and abs(vz) <= 1e3 and abs(w) <= 1e3
    if not known or k - b.commanded_at > b.silence:
        vx, vz, w = 0.0, 0.0, 0.0
    speed = math.sqrt(vx * vx + vz * vz)
    scale = 1.0 if speed <= b.speed else b.speed / speed
    v = (vx * scale, vz * scale, clip(w, b.turn))
    wheels = wheel_speeds(v, b.pose[2], b.rho, b.radius)
    fastest = max(abs(wheels[0]), abs(wheels[1]), abs(wheels[2]))
    if fastest > b.motor:
        f = b.motor / fastest
        v, wheels = (v[0] * f, v[1] * f, v[2] * f), (wheels[0] * f, wheels[1] * f, wheels[2] * f)
    if v[0] != vx or v[1] != vz or v[2] != w:
        b.limited += 1
    b.target, b.wheels = v, wheels


@kernel
def answer(b, v):
    """How the motors answer to the command at a velocity v [m/s^2, rad/s^2]."""
    ax, az = (b.target[0] - v[0]) / b.tau, (b.target[1] - v[1]) / b.tau
    a = math.sqrt(ax * ax + az * az)
    if a > b.a_max:
        ax, az = ax * b.a_max / a, az * b.a_max / a
    return ax, az, clip((b.target[2] - v[2]) / b.tau, b.alpha_max)


@kernel
def slip_anew(b):
    """A new slip, and by chance the beginning of an event."""
    b.slip = b.slip_max * next_uniform(b)
    b.event = (0.0, 0.0, 0.0)
    if next_uniform(b) < b.event_chance:
        direction, period = 2.0 * math.pi * next_uniform(b), b.slip_ticks * b.dt
        turn = b.event_rad if next_uniform(b) < 0.5 else -b.event_rad
        b.event = (b.event_m * math.cos(direction) / period, b.event_m * math.sin(direction) / period, turn / period)
        b.events += 1


@kernel
def drive(b, tick):
    """One tick of the base's motion, from this tick to the next."""
    if due(tick, b.rate_hz, b.tick_hz):
        accept(b, tick)
    if tick % b.slip_ticks == 0:
        slip_anew(b)
    h, k = b.dt, b.hold
    a, e = answer(b, b.velocity), b.lag
    a = (a[0] + b.force[0] / b.mass + k * e[0], a[1] + b.force[1] / b.mass + k * e[1],
         a[2] + b.force[2] / b.inertia + k * e[2])  # fmt: skip
    b.lag = add_scaled(e, h, sub(b.model, b.velocity))
    b.model = add_scaled(b.model, h, answer(b, b.model))
    b.velocity, b.acceleration = add_scaled(b.velocity, h, a), a
    v, g = b.velocity, b.grip
    if g[0] != 1.0 or g[1] != 1.0 or g[2] != 1.0:
        r = wheel_speeds(v, b.pose[2], b.rho, b.radius)
        v = velocity_of((r[0] * g[0], r[1] * g[1], r[2] * g[2]), b.pose[2], b.rho, b.radius)
    share, e = h * (1.0 - b.slip), b.event
    b.pose = (b.pose[0] + share * v[0] + h * e[0], b.pose[1] + share * v[1] + h * e[1],
              wrap(b.pose[2] + share * v[2] + h * e[2]))  # fmt: skip
