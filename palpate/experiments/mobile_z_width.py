"""How stiff a wall may be on a base that moves, and what knowing its pose has to do with it.  Mobile display, 5.2.

A hand leans on a wall of stiffness K, 5.6 mm beyond its face, while the base goes to and fro along the wall's normal.
A wall is *quiet* if over 4 s the force on the hand has less than 0.1 N rms above 20 Hz, where no hand moves on purpose:
no oscillation that grows, none that is sustained, none that the base's pose forces on it.  The limit is where walls
cease to be quiet.  Rendering knows the base's pose

perfectly, as the tracker's last packet has it (hold), as a Kalman filter of constant velocity has it, or as the one
that knows the command and bleeds its corrections in (command).

With a perfect pose the limit is that of the sampled wall, near 2 b/T; on a base that moves the arm's joints never rest,
and their friction no longer holds small oscillations.  Loss: how far below that a limit is, in decades.  All of it with
the tracker's jitter and without: jitter limits the wall even on a base that stands, which is why the display freezes
the pose there while something is touched; without it the leaps between packets are left, and prediction ends them.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.mobile_leaps import QUICK
from palpate.experiments.report import Report
from palpate.mobile.estimate.leaps import PACKETS
from palpate.mobile.estimate.prediction import Prediction
from palpate.mobile.forces.trials import Felt, Trying, force_trial
from palpate.mobile.hardware.base import Base
from palpate.mobile.walking.follow import HOLD

POSES: dict[str, Prediction | None] = {
    "perfect": None,
    "hold": HOLD,
    "constant": Prediction(method="constant", bleed=False, **QUICK),
    "constant, bled in": Prediction(method="constant", **QUICK),  # type: ignore[arg-type]
    "command, bled in": Prediction(),
}
SPEEDS_M_S = (0.0, 0.05, 0.1, 0.2)
Limits = dict[str, dict[float, float]]  # by pose and speed of the base [N/m]
COLOURS = dict(zip(POSES, ("black", "#d9534f", "#e58a2b", "#8fbf5a", "#1f5fa8"), strict=True))
LOW_N_M, HIGH_N_M = 50.0, 50e3
SHAKE_N = 0.1


@dataclass(frozen=True)
class Setup:
    """Of all walls: the hand, the damping of the walls, the tracker's jitter."""

    lean_m: float = 5.6e-3
    grip: float = 1.0
    wall_Ns_m: float = 1.0
    jitter_m: float = 0.5e-3
    seconds: float = 5.0
    halvings: float = 8  # of the search for a limit, in the logarithm of K
    seeds: float = 2
    seed: float = 1

    def __post_init__(self) -> None:
        if not (0.0 < self.lean_m <= 0.02 and 0.25 <= self.grip <= 4.0 and 0.0 <= self.wall_Ns_m <= 10.0):
            raise ValueError("mobile-z-width: lean_m up to 0.02, grip 0.25 .. 4, wall_Ns_m 0 .. 10")
        if not (0.0 <= self.jitter_m <= 0.01 and 2.0 <= self.seconds <= 60.0 and 2 <= self.halvings <= 20):
            raise ValueError("mobile-z-width: jitter_m up to 0.01, seconds 2 .. 60, halvings 2 .. 20")
        if not (1 <= self.seeds <= 100 and self.seed >= 0):
            raise ValueError("mobile-z-width: seeds 1 .. 100, seed 0 or more")


def leant(setup: Setup, pose: Prediction | None, speed_m_s: float, stiffness_N_m: float, seed: int) -> Felt:
    grip = Trying().holder
    return force_trial(Trying(
        seconds=setup.seconds, hold_m=(0.0, 0.0, -setup.lean_m), base="z" if speed_m_s > 0.0 else "still",
        base_m_s=speed_m_s, wall_N_m=stiffness_N_m, wall_Ns_m=setup.wall_Ns_m, pose=pose, seed=seed,
        tracker=replace(PACKETS, jitter_m=setup.jitter_m, jitter_rad=math.radians(0.05) * setup.jitter_m / 0.5e-3),
        carrier=Base(slip=0.0, events_1_s=0.0),
        holder=replace(grip, grip_N_m=setup.grip * grip.grip_N_m, grip_Ns_m=setup.grip * grip.grip_Ns_m),
    ))  # fmt: skip


def limit_N_m(setup: Setup, pose: Prediction | None, speed_m_s: float) -> float:
    """The stiffness below which walls are quiet, for every seed, by halving its logarithm."""
    low, high = math.log(LOW_N_M), math.log(HIGH_N_M)
    first = int(setup.seed)
    for _ in range(int(setup.halvings)):
        middle = 0.5 * (low + high)
        runs = (leant(setup, pose, speed_m_s, math.exp(middle), first + i) for i in range(int(setup.seeds)))
        if all(felt.shake_N < SHAKE_N for felt in runs):
            low = middle
        else:
            high = middle
    return math.exp(low)


def limits_of(setup: Setup) -> Limits:
    return {name: {v: limit_N_m(setup, pose, v) for v in SPEEDS_M_S} for name, pose in POSES.items()}


def given_back(limits: Limits, v: float) -> float:
    """Of the decades that holding the pose loses, those that the command-driven filter does not [%]."""
    perfect, hold, best = (limits[name][v] for name in ("perfect", "hold", "command, bled in"))
    return 100.0 * math.log(best / hold) / math.log(perfect / hold)


def claim(report: Report, limits: Limits, exact: Limits) -> None:
    """With the tracker's jitter, and without."""
    perfect, hold, best = limits["perfect"], limits["hold"], limits["command, bled in"]
    report.claim("base still, pose known: stiffest quiet wall", 1e-3 * perfect[0.0], 5.0, 24.0, "N/mm")
    report.claim("base moving, pose known: the least, over that of a base that stands",
                 min(perfect[v] / perfect[0.0] for v in SPEEDS_M_S), low=0.5)  # fmt: skip
    report.claim("pose held: the stiffest at any speed", 1e-3 * max(hold.values()), high=0.5, unit="N/mm")
    report.claim("command-driven, bled in: the softest limit at any speed", 1e-3 * min(best.values()), low=1.0,
                 unit="N/mm")  # fmt: skip
    for v in SPEEDS_M_S:
        report.claim(f"{v:g} m/s: of the decades lost by holding, prediction gives back", given_back(limits, v),
                     low=50.0, unit="%")  # fmt: skip
    for v in SPEEDS_M_S[1:]:
        report.claim(f"{v:g} m/s, tracker without jitter: it gives back", given_back(exact, v), low=85.0, unit="%")
    report.claim("tracker without jitter, pose held at 0.2 m/s", 1e-3 * exact["hold"][0.2], high=1.0, unit="N/mm")


def draw_limits(axes: Axes, limits: Limits, title: str) -> None:
    width = 0.16
    for k, (name, by) in enumerate(limits.items()):
        at = np.arange(len(by)) + width * (k - 2)
        axes.bar(at, [1e-3 * x for x in by.values()], 0.95 * width, color=COLOURS[name], label=name)
    axes.axhline(1.0, color="black", lw=1, ls="--")
    axes.text(3.95, 1.0, "1 N/mm", fontsize=8, ha="right", va="bottom")
    axes.set_xticks(range(len(SPEEDS_M_S)), [f"{v:g}" for v in SPEEDS_M_S])
    axes.set(yscale="log", xlabel="speed of the base [m/s]", ylabel="stiffest quiet wall [N/mm]",
             title=title, xlim=(-0.6, 4.0), ylim=(0.03, 60.0))  # fmt: skip
    axes.legend(fontsize=8, ncols=3, loc="upper center")


def draw_forces(axes: Axes, setup: Setup) -> None:
    for name, pose in POSES.items():
        if name == "constant, bled in":
            continue
        felt = leant(setup, pose, 0.1, 1000.0, int(setup.seed))
        part = felt["time_s"] > setup.seconds - 0.4
        t = 1e3 * (felt["time_s"][part] - setup.seconds + 0.4)
        axes.plot(t, felt["measured_z"][part], color=COLOURS[name], lw=0.9,
                  label=f"{name}, {felt.shake_N:.2f} N above 20 Hz")  # fmt: skip
    axes.set(
        xlabel="time [ms]", ylabel="force on the hand [N]", title="a wall of 1 N/mm, base at 0.1 m/s", ylim=(-1, 5)
    )
    axes.legend(fontsize=8, loc="upper right")


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup."""
    setup = Setup(**options)  # type: ignore[arg-type]
    limits, exact = limits_of(setup), limits_of(replace(setup, jitter_m=0.0))
    for title, found in ((f"jitter of {1e3 * setup.jitter_m:g} mm", limits), ("no jitter", exact)):
        for name, by in found.items():
            report.say(f"{title}, {name}: {', '.join(f'{1e-3 * x:.2f}' for x in by.values())} N/mm at {SPEEDS_M_S} m/s")
    if setup == Setup():
        claim(report, limits, exact)
    else:
        least = min(limits["perfect"][v] / limits["hold"][v] for v in SPEEDS_M_S)
        report.claim("a known pose shows stiffer walls than a held one, times", least, low=1.0)
    report.values |= {"setup": asdict(setup), "seed": setup.seed, "speeds_m_s": SPEEDS_M_S,
                      "limits_N_m": {name: list(by.values()) for name, by in limits.items()},
                      "without_jitter_N_m": {name: list(by.values()) for name, by in exact.items()}}  # fmt: skip
    figure = Figure(figsize=(16.5, 4.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    draw_limits(left, limits, f"walls that stay quiet, jitter of {1e3 * setup.jitter_m:g} mm")
    draw_limits(middle, exact, "the same without the tracker's jitter")
    draw_forces(right, setup)
    for axes in (left, middle, right):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.figure("mobile-z-width", figure)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
