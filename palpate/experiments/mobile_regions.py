"""Where a mobile haptic display can follow to: reachable regions over speed and turning.  Mobile display, 4.8.

The thesis' figures 3.8 to 3.10.  A user goes to a place within a second, at constant speed or at once, or turns on the
spot; an ideal robot always moves at its greatest speed.  Success: the hand is inside the usable sphere after that
second, and the robot never touched the user.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.mobile.planning.evaluation import Ideal, largest_turn_deg, reached, region

SPEEDS_M_S = (0.1, 0.2, 0.3, 0.4, 0.5)
TURNS_DEG_S = (10.0, 20.0, 45.0, 90.0)
COLOURS = ("#d9534f", "#e58a2b", "#8fbf5a", "#4aa3c7", "#1f5fa8")
# the reference's table
WALK_M2 = (0.138, 0.309, 0.528, 0.824, 1.174)
JUMP_M2 = (0.138, 0.309, 0.512, 0.763, 1.035)
REACH_M = ((0.205, 0.225, 0.180), (0.305, 0.325, 0.280), (0.405, 0.425, 0.380), (0.505, 0.525, 0.480),
           (0.605, 0.625, 0.580))  # fmt: skip
TURN_DEG = (15.0, 22.0, 29.0, 36.0, 42.0)
TURNING_USER_M2 = {10.0: 0.971, 20.0: 1.005, 45.0: 1.034, 90.0: 1.034}
SIDES = {"towards": (0.0, 1.0), "sideways": (1.0, 0.0), "away": (0.0, -1.0)}


@dataclass(frozen=True)
class Setup:
    """Of all runs."""

    grid_m: float = 0.04
    half_m: float = 0.8
    turn_deg_s: float = 90.0
    user_turn_deg: float = 30.0
    usable_m: float = 0.0955

    def __post_init__(self) -> None:
        if not (self.grid_m > 0.0 and self.half_m > self.grid_m and self.turn_deg_s > 0.0 and self.usable_m > 0.0):
            raise ValueError("mobile-regions: grid_m, half_m above it, turn_deg_s and usable_m must be positive")
        if self.half_m / self.grid_m > 200.0:
            raise ValueError("mobile-regions: grid_m is too fine, at most 200 steps to half_m")


@dataclass(frozen=True)
class Found:
    """A region and its area."""

    places: np.ndarray
    inside: np.ndarray

    @property
    def area_m2(self) -> float:
        return float(self.inside.sum()) * float(self.places[1] - self.places[0]) ** 2


def ideal(setup: Setup, speed_m_s: float, turn_deg_s: float | None = None) -> Ideal:
    turn = setup.turn_deg_s if turn_deg_s is None else turn_deg_s
    return Ideal(speed_m_s=speed_m_s, turn_rad_s=math.radians(turn), usable_m=setup.usable_m)


def found(setup: Setup, robot: Ideal, jump: bool = False, turn_deg: float = 0.0) -> Found:
    return Found(*region(robot, jump, math.radians(turn_deg), setup.half_m, setup.grid_m))


def reach(robot: Ideal, side: tuple[float, float]) -> float:
    """How far a user may walk in a second in this direction [m]."""
    d = np.arange(0.0, 1.2, 0.005)
    rows = np.column_stack([side[0] * d, side[1] * d, np.zeros((len(d), 2))])
    bad = np.flatnonzero(~reached(robot, rows))
    return float(d[bad[0] - 1]) if len(bad) else float(d[-1])


def claim_table(
    report: Report, walks: list[Found], jumps: list[Found], reaches: np.ndarray, turns: list[float]
) -> None:
    """The table of 4.8, acceptance 16 and 17."""
    for i, v in enumerate(SPEEDS_M_S):
        report.claim(f"{v:g} m/s: area, walk", walks[i].area_m2, 0.95 * WALK_M2[i], 1.05 * WALK_M2[i], "m²")
        report.claim(f"{v:g} m/s: area, jump", jumps[i].area_m2, 0.95 * JUMP_M2[i], 1.05 * JUMP_M2[i], "m²")
        for k, side in enumerate(SIDES):
            report.claim(f"{v:g} m/s: reach {side}", reaches[i, k], REACH_M[i][k] - 0.0075, REACH_M[i][k] + 0.0075, "m")
        report.claim(f"{v:g} m/s: largest turn on the spot", turns[i], TURN_DEG[i] - 2.0, TURN_DEG[i] + 2.0, "deg")


def claim_turning(report: Report, walks: dict[float, Found], turning: dict[float, Found]) -> None:
    """Turning speed matters little, unless the user turns."""
    change = abs(walks[45.0].area_m2 / walks[90.0].area_m2 - 1.0)
    report.claim("45 instead of 90 deg/s changes the area by", 100.0 * change, high=2.0, unit="%")
    for w, area in TURNING_USER_M2.items():
        report.claim(f"{w:g} deg/s, the user turns by 30 deg: area", turning[w].area_m2, 0.95 * area, 1.05 * area, "m²")


def draw_regions(axes: Axes, regions: list[Found], title: str) -> None:
    for i in reversed(range(len(regions))):
        x = 1e3 * regions[i].places
        axes.contourf(x, x, regions[i].inside, levels=[0.5, 1.5], colors=[COLOURS[i]], alpha=0.35)
        axes.contour(x, x, regions[i].inside, levels=[0.5], colors=[COLOURS[i]], linewidths=1.5)
        axes.plot([], [], color=COLOURS[i], label=f"{SPEEDS_M_S[i]:g} m/s, {regions[i].area_m2:.2f} m²")
    axes.plot(0, 0, "k^", ms=8)
    axes.text(0, 960 * regions[0].places[-1], "robot at 850 mm ↑", ha="center", va="top", fontsize=8)
    axes.set(aspect="equal", xlabel="x [mm]", ylabel="z [mm]", title=title)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, loc="lower right")


def draw_turning(axes: Axes, walks: dict[float, Found], jumps: dict[float, Found], turning: dict[float, Found]) -> None:
    for name, by, style in (("walk", walks, "o-"), ("jump", jumps, "s--"), ("walk, user turns by 30°", turning, "^:")):
        axes.plot(list(by), [area.area_m2 for area in by.values()], style, label=name, ms=6)
    axes.set(xlabel="greatest turning speed [deg/s]", ylabel="area [m²]", ylim=(0.0, 1.4), title="turning, at 0.5 m/s")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, loc="lower right")


def draw_speeds(axes: Axes, walks: list[Found], jumps: list[Found], turns: list[float], setup: Setup) -> None:
    v = np.array(SPEEDS_M_S)
    axes.plot(v, [a.area_m2 for a in walks], "o-", color="#1f5fa8", label="area, walk")
    axes.plot(v, [a.area_m2 for a in jumps], "s--", color="#4aa3c7", label="area, jump")
    axes.plot(v, math.pi * (v + setup.usable_m) ** 2, ":", color="#777777", label="π (v + usable radius)²")
    axes.set(xlabel="greatest speed [m/s]", ylabel="area [m²]", ylim=(0.0, 1.4), title="speed")
    other = axes.twinx()
    other.plot(v, turns, "^-", color="#e58a2b", label="largest turn")
    other.set(ylabel="turn on the spot in 1 s [deg]", ylim=(0.0, 60.0))
    lines, names = axes.get_legend_handles_labels()
    more, further = other.get_legend_handles_labels()
    axes.legend(lines + more, names + further, fontsize=8, loc="upper left")
    axes.grid(alpha=0.25)


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup."""
    setup = Setup(**options)  # type: ignore[arg-type]
    robots = [ideal(setup, v) for v in SPEEDS_M_S]
    walks, jumps = ([found(setup, robot, jump) for robot in robots] for jump in (False, True))
    reaches = np.array([[reach(robot, side) for side in SIDES.values()] for robot in robots])
    turns = [largest_turn_deg(robot) for robot in robots]
    by_turn = {w: ideal(setup, 0.5, w) for w in TURNS_DEG_S}
    turned_walks = {w: found(setup, robot) for w, robot in by_turn.items()}
    turned_jumps = {w: found(setup, robot, True) for w, robot in by_turn.items()}
    turning = {w: found(setup, robot, False, setup.user_turn_deg) for w, robot in by_turn.items()}
    for v, area, turn in zip(SPEEDS_M_S, walks, turns, strict=True):
        report.say(f"{v:g} m/s: {area.area_m2:.3f} m² in a second, a turn of {turn:.0f} deg")
    growth = [b.area_m2 - a.area_m2 for a, b in pairwise(walks)]
    report.claim("area grows with every 0.1 m/s, least", min(growth), low=0.0, unit="m²")
    if setup == Setup():
        claim_table(report, walks, jumps, reaches, turns)
        claim_turning(report, turned_walks, turning)
    report.values |= {
        "setup": asdict(setup), "seed": None, "speeds_m_s": SPEEDS_M_S, "walk_m2": [a.area_m2 for a in walks],
        "jump_m2": [a.area_m2 for a in jumps], "reach_m": reaches.tolist(), "turn_deg": turns,
        "turning_user_m2": {f"{w:g}": a.area_m2 for w, a in turning.items()},
    }  # fmt: skip
    figure = Figure(figsize=(13.0, 11.0), layout="constrained")
    (walk, jump), (speed, turn) = figure.subplots(2, 2)
    draw_regions(walk, walks, "where a user may walk to in 1 s (figure 3.8)")
    draw_regions(jump, jumps, "and jump to at once (figure 3.9)")
    draw_speeds(speed, walks, jumps, turns, setup)
    draw_turning(turn, turned_walks, turned_jumps, turning)
    report.figure("mobile-regions", figure)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
