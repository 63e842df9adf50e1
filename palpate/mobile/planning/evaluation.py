"""What a planner can follow at best: an ideal robot that always goes at its greatest speed.  Mobile display, 4.8.

The user, at (0, 0) and facing along z with the hand 0.60 m ahead, goes to a place within a second, and perhaps turns;
the robot, at (0, 0.85) facing the user, replans every step.  Success: after that second the hand is within 95.5 mm of
the HIP's centre, 0.2358 m before the robot, and the robot was never nearer than 0.5 m.

row of a trial: x, z of the user at the end [m], turn [rad], 1: at once (jump), 0: at constant speed (walk)
row of a start: x, z, phi of a robot whose user stands still (acceptance 14, 15)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from palpate.jit import Block, Struct, block_loader, entry, kernel
from palpate.mobile.planning.target import bearing_of_hand, facing, waypoint
from palpate.mobile.rates import clip, wrap
from palpate.model.model import Floats


@dataclass(frozen=True)
class Ideal:
    """The set-up of 4.8."""

    speed_m_s: float = 0.5
    turn_rad_s: float = math.radians(90.0)
    step_s: float = 0.010
    plan_every: int = 1  # steps
    seconds: float = 1.0
    distance_m: float = 0.85
    contact_m: float = 0.50
    arm_m: float = 0.60
    around_rad: float = math.radians(20.0)
    hip_ahead_m: float = 0.2358
    usable_m: float = 0.0955

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value > 0.0):
                raise ValueError(f"{name} is {value}; it must be positive")


class Evaluation(Struct):
    """An Ideal for kernels."""

    vmax: float
    wmax: float
    dt: float
    every: int
    steps: int
    d1: float
    r_c: float
    arm: float
    pi1: float
    ahead: float


load_evaluation = block_loader((Evaluation, True))


def evaluation(ideal: Ideal) -> Block:
    return Block(
        Evaluation(
            vmax=ideal.speed_m_s, wmax=ideal.turn_rad_s, dt=ideal.step_s, every=ideal.plan_every,
            steps=round(ideal.seconds / ideal.step_s), d1=ideal.distance_m, r_c=ideal.contact_m, arm=ideal.arm_m,
            pi1=ideal.around_rad, ahead=ideal.hip_ahead_m,
        )
    )  # fmt: skip


@kernel
def towards(robot, way, goal, step, turn):
    """The robot (x, z, phi) a step on, at its greatest speed."""
    x, z = way[0] - robot[0], way[1] - robot[1]
    d = math.sqrt(x * x + z * z)
    f = 1.0 if d <= step else step / d
    return robot[0] + f * x, robot[1] + f * z, robot[2] + clip(wrap(goal - robot[2]), turn)


@entry("intp, float64[:, ::1], float64[:, ::1]")
def evaluation_entry(address, trials, out):
    """out (n, 2): hand to HIP centre at the end, least distance of robot and user [m]."""
    (s,) = load_evaluation(address)
    for i in range(trials.shape[0]):
        X, Z, turn, jump = trials[i, 0], trials[i, 1], trials[i, 2], trials[i, 3]
        robot, way, side, beta, least = (0.0, s.d1, 0.0), (0.0, s.d1), 0.0, 0.5 * math.pi, 1e9
        user, hand = (0.0, 0.0), (0.0, s.arm)
        for k in range(1, s.steps + 1):
            f = 1.0 if jump > 0.0 else k / s.steps
            user, g = (f * X, f * Z), f * turn
            hand = (user[0] + s.arm * math.sin(g), user[1] + s.arm * math.cos(g))
            if (k - 1) % s.every == 0:
                beta = bearing_of_hand(user, hand, beta)
                way, _, side = waypoint((robot[0], robot[1]), user, beta, s.d1, s.r_c, s.pi1, side)
            robot = towards(robot, way, facing((robot[0], robot[1]), user), s.vmax * s.dt, s.wmax * s.dt)
            least = min(least, math.sqrt((robot[0] - user[0]) ** 2 + (robot[1] - user[1]) ** 2))
        x = robot[0] + s.ahead * math.sin(robot[2]) - hand[0]
        z = robot[1] - s.ahead * math.cos(robot[2]) - hand[1]
        out[i, 0], out[i, 1] = math.sqrt(x * x + z * z), least


@entry("intp, float64[:, ::1], float64, float64[:, ::1], float64[:, ::1]")
def approach_entry(address, starts, within, out, distance):
    """A user who stands: out (n, 2) when the robot is within so much of the target [s], least distance; nan: it is not.

    distance (n, steps): of robot and user at each step.
    """
    (s,) = load_evaluation(address)
    for i in range(starts.shape[0]):
        robot, side, least = (starts[i, 0], starts[i, 1], starts[i, 2]), 0.0, 1e9
        out[i, 0] = math.nan
        for k in range(s.steps):
            d = math.sqrt(robot[0] ** 2 + robot[1] ** 2)
            distance[i, k], least = d, min(least, d)
            if out[i, 0] != out[i, 0] and math.sqrt(robot[0] ** 2 + (robot[1] - s.d1) ** 2) <= within:
                out[i, 0] = k * s.dt
            way, _, side = waypoint((robot[0], robot[1]), (0.0, 0.0), 0.5 * math.pi, s.d1, s.r_c, s.pi1, side)
            robot = towards(
                robot, way, facing((robot[0], robot[1]), (0.0, 0.0)), s.vmax * s.dt, s.wmax * s.dt
            )  # fmt: skip
        out[i, 1] = least


def reached(ideal: Ideal, trials: Floats) -> np.ndarray:
    """(n,) whether each trial (n, 4) succeeds."""
    rows = np.ascontiguousarray(trials, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 4 or not np.isfinite(rows).all():
        raise ValueError(f"trials must be finite numbers (n, 4), got shape {rows.shape}")
    out = np.zeros((len(rows), 2))
    block = evaluation(ideal)  # kept until the call is over
    evaluation_entry(block.address, rows, out)
    return (out[:, 0] <= ideal.usable_m) & (out[:, 1] >= ideal.contact_m - 1e-9)


def region(
    ideal: Ideal, jump: bool = False, turn_rad: float = 0.0, half_m: float = 0.8, grid_m: float = 0.04
) -> tuple[Floats, np.ndarray]:
    """(places of the grid (n,), success (n, n) by z and x)."""
    n = round(half_m / grid_m)
    places = np.linspace(-n * grid_m, n * grid_m, 2 * n + 1)
    x, z = np.meshgrid(places, places)
    rows = np.column_stack([x.ravel(), z.ravel(), np.full(x.size, turn_rad), np.full(x.size, float(jump))])
    return places, reached(ideal, rows).reshape(x.shape)


def largest_turn_deg(ideal: Ideal, step_deg: float = 0.25) -> float:
    """On the spot, in the second: all smaller turns succeed, too."""
    turns = np.arange(0.0, 180.0, step_deg)
    rows = np.zeros((len(turns), 4))
    rows[:, 2] = np.radians(turns)
    bad = np.flatnonzero(~reached(ideal, rows))
    return float(turns[bad[0] - 1]) if len(bad) else 180.0
