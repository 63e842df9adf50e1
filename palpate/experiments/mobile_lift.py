"""A lift under the device follows the height of the hand.  Mobile display, 2.6; acceptance 34.

The thesis had none, and height was limited to the device's workspace.  Steps of the hand's height; a gait, which must
not move it; then a hand that goes up and down by 0.4 m on a simulated device, with the lift and without, and what the
lift's acceleration adds to the force that is felt.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.mobile.forces.trials import Felt, Swing, Trying, force_trial
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.hardware.lift import Spindle, lift_along, new_lift
from palpate.mobile.walking.follow import USABLE_M
from palpate.model.model import Floats

TICK_HZ = 1000
REST_M = 0.96  # of the robot's frame, the lift in its middle
STEPS_M = (-0.2, 0.1, 0.2, 0.3, 0.4)  # the last from 0.1 m below the middle, or it would leave the travel


@dataclass(frozen=True)
class Setup:
    """Of the hand that goes up and down."""

    swing_m: float = 0.2
    hz: float = 0.08
    seconds: float = 27.0
    seed: float = 1

    def __post_init__(self) -> None:
        if not (0.0 < self.swing_m <= 0.3 and 0.0 < self.hz <= 1.0 and 4.0 <= self.seconds <= 600.0 and self.seed >= 0):
            raise ValueError("mobile-lift: swing_m up to 0.3, hz up to 1, seconds 4 .. 600, seed 0 or more")


def stepped(step_m: float, seconds: float = 8.0) -> tuple[Floats, Floats]:
    """Ry (n,) after a step of the hand's height, and how far the hand is from the device's middle height (n,) [m]."""
    lift = new_lift(REST_M, tick_hz=TICK_HZ)
    lift.y = -0.1 if step_m > 0.3 else 0.0
    hand = np.full(round(seconds * TICK_HZ), REST_M + Chain().robot_to_device_m[2] + lift.y + step_m)
    height = REST_M + lift_along(lift, hand)[:, 0]
    return height, hand - Chain().robot_to_device_m[2] - height


def gait(seconds: float = 20.0) -> Floats:
    """(n, 4) of the lift under a hand that goes up and down 15 mm at 2 Hz, as that of someone who walks."""
    t = np.arange(round(seconds * TICK_HZ)) / TICK_HZ
    lift = new_lift(REST_M, tick_hz=TICK_HZ)
    return lift_along(lift, REST_M + Chain().robot_to_device_m[2] + 0.015 * np.sin(4.0 * np.pi * t))


def claim(report: Report, steps: dict[float, tuple[Floats, Floats]], runs: dict[str, Felt]) -> None:
    for step, (_, left) in steps.items():
        late = 1e3 * np.abs(left[4 * TICK_HZ :]).max()
        report.claim(f"step of {1e3 * step:+.0f} mm: left after 4 s", late, high=50.0, unit="mm")
    report.claim("a gait moves it by", 1e3 * np.ptp(gait()[:, 0]), high=0.0, unit="mm")
    with_it, without = runs["lift"], runs["no lift"]
    off = {name: 100.0 * float((felt["off_m"] > USABLE_M).mean()) for name, felt in runs.items()}
    report.claim("hand outside the usable sphere with the lift", off["lift"], high=0.0, unit="%")
    report.claim("the same without", off["no lift"], low=30.0, unit="%")
    report.claim("largest force with nothing commanded", np.linalg.norm(with_it.measured_N, axis=1).max(), high=0.5,
                 unit="N")  # fmt: skip
    down = runs["lift, 1 N down"].measured_N[:, 1]
    report.claim("1 N down: mean", down.mean(), -1.03, -0.97, "N")
    report.claim("1 N down: largest deviation", np.abs(down + 1.0).max(), high=0.4, unit="N")
    report.claim(
        "without a lift the height of the device changes by", float(np.ptp(without["height_m"])), high=0.0, unit="m"
    )


# ---- figures


def draw_steps(axes: Axes, steps: dict[float, tuple[Floats, Floats]]) -> None:
    for (step, (_, left)), colour in zip(steps.items(), ("#999999", "#8fbf5a", "#2a8a4a", "#4aa3c7", "#1f5fa8"),
                                         strict=True):  # fmt: skip
        axes.plot(np.arange(len(left)) / TICK_HZ, 1e3 * left, color=colour, label=f"{1e3 * step:+.0f} mm")
    axes.axhspan(-50.0, 50.0, color="#dfeedd", lw=0)
    axes.axvline(4.0, color="black", lw=1, ls="--")
    axes.set(xlabel="time [s]", ylabel="hand above the device's middle [mm]", title="steps of the hand's height")
    axes.legend(fontsize=8)


def draw_heights(axes: Axes, felt: Felt, setup: Setup) -> None:
    t = felt["time_s"]
    axes.plot(t, 1e3 * setup.swing_m * np.sin(2.0 * np.pi * setup.hz * t), color="black", lw=1, label="hand")
    axes.plot(t, 1e3 * (felt["height_m"] - felt["height_m"][0]), color="#1f5fa8", label="lift")
    axes.set(xlabel="time [s]", ylabel="height [mm]", title="up and down, on a simulated device")
    axes.legend(fontsize=8)


def draw_off(axes: Axes, runs: dict[str, Felt]) -> None:
    for name, colour in (("no lift", "#d9534f"), ("lift", "#1f5fa8")):
        axes.plot(runs[name]["time_s"], 1e3 * runs[name]["off_m"], color=colour, label=name)
    axes.axhline(1e3 * USABLE_M, color="black", lw=1, ls="--")
    axes.text(-1.0, 1e3 * USABLE_M, "usable", fontsize=8, va="bottom")
    axes.set(xlabel="time [s]", ylabel="hand from the device's middle [mm]", title="the same hand", ylim=(0.0, None))
    axes.legend(fontsize=8, loc="upper right")


def draw_force(axes: Axes, runs: dict[str, Felt]) -> None:
    for name, colour in (("lift", "#1f5fa8"), ("lift, 1 N down", "#2a8a4a")):
        felt = runs[name]
        axes.plot(felt.time_s, felt.commanded_N[:, 1], color=colour, lw=2.5, alpha=0.3)
        axes.plot(felt.time_s, felt.measured_N[:, 1], color=colour, lw=1.1, label=name)
    axes.set(xlabel="time [s]", ylabel="force upwards [N]", title="measured, and pale what was commanded",
             ylim=(-1.5, 0.5))  # fmt: skip
    axes.legend(fontsize=8)


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup."""
    setup = Setup(**options)  # type: ignore[arg-type]
    hand = (Swing("y", setup.swing_m, setup.hz),)
    common = {"seconds": setup.seconds, "hand": hand, "seed": int(setup.seed)}
    runs = {
        "no lift": force_trial(Trying(**common)),  # type: ignore[arg-type]
        "lift": force_trial(Trying(base="lift", **common)),  # type: ignore[arg-type]
        "lift, 1 N down": force_trial(Trying(base="lift", force_N=(0.0, -1.0, 0.0), **common)),  # type: ignore[arg-type]
    }
    steps = {step: stepped(step) for step in STEPS_M}
    claim(report, steps, runs)
    for step, (_, left) in steps.items():
        inside = np.flatnonzero(np.abs(left) > 0.05)
        report.say(f"step of {step:+.1f} m: within 50 mm after {(inside[-1] + 1) / TICK_HZ:.2f} s")
    report.values |= {
        "setup": asdict(setup), "seed": setup.seed, "spindle": asdict(Spindle()),
        "most_off_m": {name: float(felt["off_m"].max()) for name, felt in runs.items()},
    }  # fmt: skip
    figure = Figure(figsize=(13.0, 8.0), layout="constrained")
    (top, heights), (off, force) = figure.subplots(2, 2)
    draw_steps(top, steps)
    draw_heights(heights, runs["lift"], setup)
    draw_off(off, runs)
    draw_force(force, runs)
    for axes in (top, heights, off, force):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.figure("mobile-lift", figure)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
