"""A haptic point on a moving base leaps when the base's pose is held between packets.  Mobile display, 1.4.

A base in random motion; its pose by packets of 100 Hz that are late, and some lost; five ways to know it at 1 kHz.
Excess step: the largest change in a tick of estimated minus true haptic interface point.  A Kalman filter alone does
not remove the leap; bounding the correction does.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.mobile.estimate.leaps import PACKETS, TRIP_M_S, Leaps, Motion, leap
from palpate.mobile.estimate.prediction import Prediction

QUICK = {"drive_m_s2_rtHz": 0.3, "drive_rad_s2_rtHz": 1.2}  # without the command the model knows less
ROUGH = {"noise_m": 0.002, "noise_rad": math.radians(0.25)}
SLOW, FAST, STILL = Motion(), Motion(speed_m_s=0.5), Motion(speed_m_s=0.0, turn_rad_s=0.0)
COLOURS = {"hold": "#d9534f", "constant": "#e58a2b", "constant, bled in": "#8fbf5a", "command, bled in": "#1f5fa8"}


@dataclass(frozen=True)
class Way:
    """A row of the table: how, under which motion and noise."""

    prediction: Prediction
    motion: Motion = SLOW
    worst: bool = False


WAYS = {
    "hold": Way(Prediction(method="hold")),
    "constant": Way(Prediction(method="constant", bleed=False, **QUICK)),
    "constant, bled in": Way(Prediction(method="constant", **QUICK)),  # type: ignore[arg-type]
    "command, bled in": Way(Prediction()),
    "hold, worst": Way(Prediction(method="hold"), FAST, True),
    "command, bled in, worst": Way(Prediction(**ROUGH), FAST, True),  # type: ignore[arg-type]
    "hold, still": Way(Prediction(method="hold"), STILL),
    "command, bled in, still": Way(Prediction(), STILL),
}
# bounds on: largest step, excess step, error rms, largest error [mm]; the reference's row is inside
Bounds = tuple[float | None, float | None]
BOUNDS: dict[str, tuple[Bounds, Bounds, Bounds, Bounds]] = {
    "hold": ((5.0, 15.0), (5.0, 15.0), (3.0, 6.0), (8.0, 20.0)),
    "constant": ((2.0, None), (2.0, None), (None, 2.0), (None, 8.0)),
    "constant, bled in": ((None, 0.8), (None, 0.35), (None, 4.0), (None, 20.0)),
    "command, bled in": ((None, 0.65), (None, 0.15), (None, 1.2), (None, 4.0)),
    "hold, worst": ((15.0, 30.0), (15.0, 30.0), (5.0, 10.0), (15.0, 35.0)),
    "command, bled in, worst": ((None, 1.0), (None, 0.2), (None, 5.0), (None, 16.0)),
    "hold, still": ((2.5, 5.0), (2.5, 5.0), (0.4, 1.2), (1.5, 4.0)),
    "command, bled in, still": ((None, 0.15), (None, 0.15), (None, 0.8), (None, 2.5)),
}
COLUMNS = ("largest step", "excess step", "error rms", "largest error")


@dataclass(frozen=True)
class Setup:
    """Of all runs."""

    seconds: float = 20.0
    runs: float = 4
    seed: float = 1
    loss: float = 0.01
    delay_s: float = 0.006

    def __post_init__(self) -> None:
        if not (self.seconds >= 2.0 and 1 <= self.runs <= 100 and self.seed >= 0):
            raise ValueError("mobile-leaps: seconds at least 2, runs 1 .. 100, seed 0 or more")


def runs_of(way: Way, setup: Setup) -> list[Leaps]:
    tracker = replace(PACKETS.worst() if way.worst else PACKETS, loss=setup.loss, latency_s=setup.delay_s)
    motion = replace(way.motion, seconds=setup.seconds)
    first = int(setup.seed)
    return [leap(way.prediction, motion, tracker, seed=first + i) for i in range(int(setup.runs))]


def row_of(runs: list[Leaps]) -> tuple[float, float, float, float]:
    """COLUMNS [mm]: the largest of all runs, their common rms."""
    return (
        1e3 * max(float(r.step_m.max()) for r in runs), 1e3 * max(float(r.excess_m.max()) for r in runs),
        1e3 * math.sqrt(float(np.mean([(r.error_m**2).mean() for r in runs]))),
        1e3 * max(float(r.error_m.max()) for r in runs),
    )  # fmt: skip


def claim_order(report: Report, rows: dict[str, tuple[float, float, float, float]]) -> None:
    """What holds for any packets: the lesson of 1.4."""
    excess = {name: row[1] for name, row in rows.items()}
    report.claim("a filter alone still leaps: its excess step over that of the bled-in one",
                 excess["constant"] / excess["constant, bled in"], low=3.0)  # fmt: skip
    report.claim("holding leaps more than the command-driven filter, times",
                 excess["hold"] / excess["command, bled in"], low=20.0)  # fmt: skip


def claim_protection(report: Report, setup: Setup) -> None:
    """Acceptance 25, by the HIP's apparent speed: holding trips it, the filter does not; the hand at up to 0.5 m/s."""
    hand = replace(SLOW, seconds=60.0, hand_m_s=0.5)
    held = leap(WAYS["hold"].prediction, replace(hand, seconds=5.0), seed=int(setup.seed)).tripped_s
    filtered = leap(WAYS["command, bled in"].prediction, hand, seed=int(setup.seed))
    report.claim("holding trips the protection after", held, high=5.0, unit="s")
    fastest = float(filtered.step_m.max()) / filtered.dt_s
    report.claim("with the filter the HIP's largest apparent speed in 60 s", fastest, high=TRIP_M_S, unit="m/s")


def draw_path(axes: Axes, found: dict[str, list[Leaps]]) -> None:
    begin, end = 3000, 3120
    first = found["hold"][0]
    t = 1e3 * first.dt_s * np.arange(begin, end) - 1e3 * first.dt_s * begin
    origin = first["true_x"][begin]
    axes.plot(t, 1e3 * (first["true_x"][begin:end] - origin), color="black", lw=2.5, label="true")
    for name, colour in COLOURS.items():
        axes.plot(t, 1e3 * (found[name][0]["seen_x"][begin:end] - origin), color=colour, lw=1.3, label=name)
    axes.set(xlabel="time [ms]", ylabel="x of the HIP [mm]", title="0.12 s of the haptic point")
    axes.legend(fontsize=8)


def draw_error(axes: Axes, found: dict[str, list[Leaps]]) -> None:
    for name, colour in COLOURS.items():
        r = found[name][0]
        axes.plot(r.dt_s * np.arange(len(r.trace)), 1e3 * r.error_m, color=colour, lw=0.8, label=name)
    axes.set(xlabel="time [s]", ylabel="error [mm]", title="error of the haptic point, 0.2 m/s and 40 deg/s",
             ylim=(0.0, None))  # fmt: skip
    axes.legend(fontsize=8, loc="upper right")


def draw_steps(axes: Axes, found: dict[str, list[Leaps]]) -> None:
    bins = np.geomspace(1e-4, 30.0, 90).tolist()
    for name, colour in COLOURS.items():
        excess = 1e3 * np.concatenate([r.excess_m for r in found[name]])
        axes.hist(np.maximum(excess, bins[0]), bins, histtype="step", color=colour, label=name, lw=1.5)
    axes.axvline(0.15, color="black", lw=1, ls="--")
    axes.text(0.16, 2.0, "0.15 mm", fontsize=8)
    axes.set(xscale="log", yscale="log", xlabel="excess step in a tick [mm]", ylabel="ticks",
             title="how often it leaps, and how far")  # fmt: skip
    axes.legend(fontsize=8, loc="upper left")


def draw_table(axes: Axes, rows: dict[str, tuple[float, float, float, float]]) -> None:
    at = np.arange(len(rows))
    for k, (label, colour) in enumerate(zip(COLUMNS, ("#999999", "#d9534f", "#1f5fa8", "#4aa3c7"), strict=True)):
        axes.barh(at + 0.2 * (k - 1.5), [row[k] for row in rows.values()], 0.19, color=colour, label=label)
    axes.set_yticks(at, list(rows), fontsize=8)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="[mm]", title="each way: steps and errors")
    axes.legend(fontsize=8, loc="lower right")


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup."""
    setup = Setup(**options)  # type: ignore[arg-type]
    found = {name: runs_of(way, setup) for name, way in WAYS.items()}
    rows = {name: row_of(runs) for name, runs in found.items()}
    for name, row in rows.items():
        report.say(f"{name}: step {row[0]:.2f}, excess {row[1]:.2f}, error {row[2]:.2f} rms, {row[3]:.1f} mm at most")
    claim_order(report, rows)
    if setup == Setup():
        for name, bounds in BOUNDS.items():
            for column, value, (low, high) in zip(COLUMNS, rows[name], bounds, strict=True):
                report.claim(f"{name}: {column}", value, low, high, "mm")
        claim_protection(report, setup)
    report.values |= {"setup": asdict(setup), "seed": setup.seed, "columns_mm": COLUMNS,
                      "rows": {name: list(row) for name, row in rows.items()},
                      "packets": {name: runs[0].counts for name, runs in found.items()}}  # fmt: skip
    figure = Figure(figsize=(14.0, 10.0), layout="constrained")
    (path, error), (steps, table) = figure.subplots(2, 2)
    draw_path(path, found)
    draw_error(error, found)
    draw_steps(steps, found)
    draw_table(table, rows)
    for axes in (path, error, steps, table):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.figure("mobile-leaps", figure)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
