"""A target past an obstacle, reached by touch alone, and better from trial to trial.

The hand (felt.py) is shown nothing but force: it knows its own place and its goal, and of what is in the way only what
it feels.  In its first trial it finds the way round a bar, wherever the bar is and however it is turned; in later
trials it remembers, and time and collisions fall.  It is a script, and learns by one rule: people do better and worse.
On the page the same scene is `palpate touch training`, with "Lights off" for whoever wants to try.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from palpate.experiments.felt import FeltHand, felt_trials
from palpate.experiments.report import Report
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted
from palpate.scenes.past import (
    BAR_M,
    PILLAR_AT_M,
    PUCK_M,
    PUCK_START_M,
    PUCK_TARGET_M,
    TOOL_TARGET_M,
    inspection,
    training,
)
from palpate.scenes.task import Trial, trend, trials_of

TRIALS, SECONDS = 8, 12.0
MOST_N = 10.0  # of the hand: it meets the bar at 0.12 m/s and then presses with 3 N
LAYOUTS: dict[str, dict[str, Any]] = {
    "6 cm to the left": {"aside_m": 0.06},
    "5 cm to the right": {"aside_m": -0.05},
    "wide and thick": {"bar_m": (0.10, 0.30, 0.08)},
    "turned by 29 degrees": {"turned_rad": 0.5},
    "turned by -46 degrees": {"turned_rad": -0.8},
    "short, nearly along the way": {"bar_m": (0.06, 0.20, 0.08), "aside_m": 0.03, "turned_rad": 1.2},
}
LABELS = {"seconds": "time [s]", "path_m": "path [m]", "peak_N": "peak force [N]", "collisions": "collisions"}


def draw(frames: dict[str, np.ndarray], puck: int, trials: list[Trial], blind: dict[str, np.ndarray]) -> Figure:
    """Ways of the puck by trial, scores by trial, and the first ways in other layouts."""
    figure = Figure(figsize=(13.0, 6.4), layout="constrained")
    grid = figure.add_gridspec(2, 4, width_ratios=(1.7, 1.7, 1.0, 1.0))
    above, others = figure.add_subplot(grid[0, :2]), figure.add_subplot(grid[1, :2])
    for trial in trials:
        way = frames["pose"][frames["task_trial"] == trial.number, puck, :2]
        shade = (trial.number - 1) / max(len(trials) - 1, 1)
        above.plot(*way.T, color=(0.85 - 0.7 * shade, 0.33 + 0.15 * shade, 0.2 + 0.5 * shade), lw=1.5,
                   label=f"trial {trial.number}" if trial.number in (1, len(trials)) else None)  # fmt: skip
    x, y = BAR_M[0] / 2, BAR_M[1] / 2
    above.fill([-x, x, x, -x], [-y, -y, y, y], color="#b8875a")
    for name, way in blind.items():
        others.plot(*way[:, :2].T, lw=1.3, label=name)
    for axes, title in (
        (above, "the puck from above"),
        (others, "first trials in other layouts: found by force alone"),
    ):
        axes.plot(*PUCK_START_M[:2], "ks", ms=4)
        axes.plot(*PUCK_TARGET_M[:2], "o", color="#40b36b", ms=9, alpha=0.6)
        axes.set(xlabel="x [m]", ylabel="y [m]", title=title, aspect="equal")
        axes.grid(alpha=0.25)
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    for k, (name, label) in enumerate(LABELS.items()):
        axes = figure.add_subplot(grid[k // 2, 2 + k % 2])
        axes.plot([t.number for t in trials], [getattr(t, name) for t in trials], "o-", color="#1f5fa8", ms=4)
        axes.set(xlabel="trial", ylabel=label, ylim=(0, None))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=name == "collisions"))
        axes.grid(alpha=0.25)
    return figure


def led_past_the_pillar(straight: bool = False) -> Trial:
    """The inspection scene, by a hand that sees: to the side of the pillar, and past it; or straight, and into it."""
    x, y, z = TOOL_TARGET_M
    places = ((x, y, z),) if straight else ((0.52, PILLAR_AT_M[1] - 0.16, z), (x, y, z))
    grasps = tuple(Grasp("tool", 0.2 + 1.5 * k, 0.2 + 1.5 * (k + 1), to) for k, to in enumerate(places))
    (trial,) = trials_of(simulated_run(inspection(), 4000, Scripted(grasps)))
    return trial


def run(report: Report) -> None:
    scene, hand = training(), FeltHand(PUCK_TARGET_M)
    frames = felt_trials(scene, hand, TRIALS, SECONDS, report.recording("learn-by-touch"))
    trials, puck = trials_of(frames), scene.model.body("puck")
    for t in trials:
        report.say(f"trial {t.number}: {t.seconds:.2f} s, {t.path_m:.3f} m, peak {t.peak_N:.1f} N, {t.collisions} hits")
    first, last, slope = trials[0], trials[-1], trend(trials)
    report.claim("trials that reached the target", sum(t.reached for t in trials), low=TRIALS)
    report.claim("first trial, by force alone: collisions", first.collisions, low=1)
    report.claim("last trial: collisions", last.collisions, high=0)
    report.claim("last trial over first: time", last.seconds / first.seconds, high=0.6)
    report.claim("trend of time", slope["seconds"], high=-0.1, unit="s a trial")
    report.claim("trend of collisions", slope["collisions"], high=-0.05, unit="a trial")
    report.claim("path of the last trial over the straight way", last.path_m / abs(PUCK_TARGET_M[0] - PUCK_START_M[0]),
                 1.0, 1.3)  # fmt: skip
    report.claim("largest force of any trial", max(t.peak_N for t in trials), high=MOST_N, unit="N")
    blind = {}
    for name, layout in LAYOUTS.items():
        other = training(**layout)
        seen = felt_trials(other, FeltHand(PUCK_TARGET_M), 1, SECONDS)
        (trial,) = trials_of(seen)
        blind[name] = seen["pose"][:, other.model.body("puck")]
        report.claim(f"by force alone, bar {name}: reached in", trial.seconds if trial.reached else np.nan,
                     high=SECONDS, unit="s")  # fmt: skip
        report.claim(f"by force alone, bar {name}: largest force", trial.peak_N, high=MOST_N, unit="N")
    led, straight = led_past_the_pillar(), led_past_the_pillar(straight=True)
    report.claim("inspection, led by a hand that sees: reached after", led.seconds if led.reached else np.nan, high=4.5,
                 unit="s")  # fmt: skip
    report.claim("inspection, led by a hand that sees: collisions", led.collisions, high=0)
    report.claim("inspection, led straight for it: collisions", straight.collisions, low=1)
    report.values |= {"trials": [t._asdict() for t in trials], "trend_per_trial": slope, "puck_radius_m": PUCK_M,
                      "inspection": led._asdict()}  # fmt: skip
    report.figure("learn-by-touch", draw(frames, puck, trials, blind))
