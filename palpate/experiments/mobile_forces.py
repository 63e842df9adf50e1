"""Chapter 6: the motion of the base does not alter the force that is felt.  Mobile display, 5.5; acceptance 31 and 32.

A simulated PHANToM on a base, a hand on it, and a force sensor between the two, logged as means of 100 ms.  Commanded:
nothing, 2 N, or a wall by the virtual proxy; what moves: the hand, the base, or both, as a person walks who is
followed.  Then the same wall with the base's pose held between packets, and predicted.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.mobile.estimate.prediction import Prediction
from palpate.mobile.forces.trials import AXES, FREE, Felt, Swing, Trying, force_trial
from palpate.mobile.hardware.base import Base
from palpate.mobile.walking.follow import HOLD
from palpate.mobile.walking.users import walk

TO_AND_FRO = {axis: (Swing(axis, 0.08, 0.8),) for axis in ("x", "z")}
PUSH = (Swing("z", 0.012, 0.5),)
TWO = (0.0, 0.0, 2.0)
WALKED = Trying(base="follow", walk=(walk(1.0, 3.0, 0.3, 90.0),), carrier=Base(), pose=Prediction())
LEANT = Trying(
    base="z", base_m_s=0.05, wall_N_m=1000.0, hold_m=(0.0, 0.0, -0.0056), carrier=Base(slip=0.0, events_1_s=0.0)
)
NOTHING = {
    "free motion": Trying(hand=FREE),
    "hand along z": Trying(hand=TO_AND_FRO["z"]),
    "base along z": Trying(base="z"),
    "hand along x": Trying(hand=TO_AND_FRO["x"]),
    "base along x": Trying(base="x"),
    "base in yaw": Trying(base="yaw"),
}
CONSTANT = {
    "2 N, all still": Trying(force_N=TWO),
    "2 N, hand along z": Trying(force_N=TWO, hand=TO_AND_FRO["z"]),
    "2 N, base along z": Trying(force_N=TWO, base="z"),
    "2 N, person walks, base follows": replace(WALKED, force_N=TWO),
}
WALLS = {
    "wall, base still": Trying(wall_N_m=1000.0, hand=PUSH),
    "wall, base along z": Trying(wall_N_m=1000.0, hand=PUSH, base="z"),
    "wall, base along x": Trying(wall_N_m=1000.0, hand=PUSH, base="x"),
    "wall, person walks along it": replace(WALKED, wall_N_m=1000.0, hold_m=(0.0, 0.0, -0.008)),
}
POSES = {
    "pose known": LEANT,
    "pose held at 100 Hz": replace(LEANT, pose=HOLD),
    "pose predicted": replace(LEANT, pose=Prediction()),
}
TRIALS = NOTHING | CONSTANT | WALLS | POSES
COLOURS = dict(zip(AXES, ("#d9534f", "#2a8a4a", "#1f5fa8"), strict=True))


@dataclass(frozen=True)
class Setup:
    """Of all trials; the hand's stiffness, damping and grip may be multiplied."""

    seconds: float = 9.0
    grip: float = 1.0
    seed: float = 1

    def __post_init__(self) -> None:
        if not (4.0 <= self.seconds <= 600.0 and 0.25 <= self.grip <= 4.0 and self.seed >= 0):
            raise ValueError("mobile-forces: seconds 4 .. 600, grip 0.25 .. 4, seed 0 or more")


def tried(setup: Setup) -> dict[str, Felt]:
    found = {}
    for name, trial in TRIALS.items():
        h = trial.holder
        holder = replace(h, grip_N_m=setup.grip * h.grip_N_m, grip_Ns_m=setup.grip * h.grip_Ns_m)
        found[name] = force_trial(replace(trial, seconds=setup.seconds, seed=int(setup.seed), holder=holder))
    return found


def claim_nothing(report: Report, found: dict[str, Felt]) -> None:
    """Acceptance 31."""
    for name in NOTHING:
        force = found[name].measured_N
        report.claim(f"{name}: largest force", np.linalg.norm(force, axis=1).max(), high=0.5, unit="N")
        moved = name[-1]
        if moved in ("x", "z"):
            other = max(found[name].rms_N[AXES.index(axis)] for axis in AXES if axis != moved)
            report.claim(f"{name}: rms on {moved} over the next largest", found[name].rms_N[AXES.index(moved)] / other,
                         low=1.0)  # fmt: skip
    report.claim("free motion: peak", np.linalg.norm(found["free motion"].measured_N, axis=1).max(), 0.1, 0.4, "N")


def claim_constant(report: Report, found: dict[str, Felt]) -> None:
    """Acceptance 32, first half; someone who walks stops at once, which is more than an oscillation."""
    for name in CONSTANT:
        z = found[name].measured_N[:, 2]
        report.claim(f"{name}: mean", z.mean(), 1.97, 2.03, "N")
        report.claim(f"{name}: largest deviation", np.abs(z - 2.0).max(), high=0.4, unit="N")


def claim_walls(report: Report, found: dict[str, Felt]) -> None:
    """Acceptance 32, second half; and the wall that a person walks along."""
    for name in WALLS:
        measured, commanded = found[name].measured_N[:, 2], found[name].commanded_N[:, 2]
        rms = math.sqrt(((measured - commanded) ** 2).mean())
        report.claim(f"{name}: measured minus commanded, rms", rms, high=0.15, unit="N")
        if "walks" not in name:
            report.claim(f"{name}: correlation", np.corrcoef(measured, commanded)[0, 1], low=0.99)


def claim_poses(report: Report, found: dict[str, Felt]) -> None:
    """What the pose does to a wall that is leant on: the reference has 0.14 N when held and 0.011 N when known."""
    held, known, predicted = (
        float(found[name].rms_N[2]) for name in ("pose held at 100 Hz", "pose known", "pose predicted")
    )
    report.claim("leaning on a wall, pose known: deviation", known, high=0.03, unit="N")
    report.claim("the same, held at 100 Hz and 6 ms late", held, 0.10, 0.25, "N")
    report.claim("prediction takes away, of what holding adds", 100.0 * (held - predicted) / (held - known), low=50.0,
                 unit="%")  # fmt: skip
    shakes = [found[name].shake_N for name in ("pose held at 100 Hz", "pose predicted")]
    report.claim("of the shaking above 20 Hz, predicted over held", shakes[1] / shakes[0], high=0.25)


# ---- figures


def draw(axes: Axes, name: str, felt: Felt, shown: tuple[str, ...] = AXES) -> None:
    for axis in shown:
        k = AXES.index(axis)
        axes.plot(felt.time_s, felt.commanded_N[:, k], color=COLOURS[axis], lw=2.2, alpha=0.3)
        axes.plot(felt.time_s, felt.measured_N[:, k], color=COLOURS[axis], lw=1.1, label=axis)
    axes.set(title=name, xlabel="time [s]", ylabel="force [N]")
    axes.grid(alpha=0.25)


def figure_of(found: dict[str, Felt], names: list[str], columns: int, limits: tuple[float, float]) -> Figure:
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(4.6 * columns, 3.2 * rows), layout="constrained")
    for k, (axes, name) in enumerate(zip(figure.subplots(rows, columns).flat, names, strict=True)):
        draw(axes, name, found[name])
        axes.set_ylim(limits)
        if k == 0:
            axes.plot([], [], color="#888888", lw=2.2, alpha=0.5, label="commanded")
            axes.legend(fontsize=8, ncols=4, loc="upper right")
    return figure


def draw_poses(found: dict[str, Felt]) -> Figure:
    figure = Figure(figsize=(13.0, 4.2), layout="constrained")
    slow, fast = figure.subplots(1, 2)
    for name, colour in zip(POSES, ("black", "#d9534f", "#1f5fa8"), strict=True):
        felt = found[name]
        slow.plot(felt.time_s, felt.measured_N[:, 2], color=colour, label=f"{name}, {felt.rms_N[2]:.3f} N rms")
        part = (felt["time_s"] >= 3.0) & (felt["time_s"] < 3.5)
        fast.plot(1e3 * (felt["time_s"][part] - 3.0), felt["measured_z"][part], color=colour, lw=0.9,
                  label=f"{name}, {felt.shake_N:.3f} N above 20 Hz")  # fmt: skip
    slow.set(xlabel="time [s]", ylabel="measured on z [N]", ylim=(1.0, 2.1),
             title="leaning on a wall, base at 0.05 m/s: means of 100 ms")  # fmt: skip
    fast.set(xlabel="time [ms]", title="half a second of it, every millisecond", ylim=(0.0, 4.0))
    for axes in (slow, fast):
        axes.grid(alpha=0.25)
        axes.legend(fontsize=8, loc="upper right")
    return figure


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup."""
    setup = Setup(**options)  # type: ignore[arg-type]
    found = tried(setup)
    for name, felt in found.items():
        peaks = ", ".join(f"{axis} {np.abs(felt.measured_N[:, k]).max():.2f}" for k, axis in enumerate(AXES))
        report.say(f"{name}: largest {peaks} N; mean on z {felt.measured_N[:, 2].mean():.3f} N")
    claim_nothing(report, found)
    claim_constant(report, found)
    claim_walls(report, found)
    claim_poses(report, found)
    report.values |= {
        "setup": asdict(setup), "seed": setup.seed,
        "trials": {name: {"peak_N": np.abs(felt.measured_N).max(axis=0).tolist(), "rms_N": felt.rms_N.tolist(),
                          "mean_N": felt.measured_N.mean(axis=0).tolist(), "shake_N": felt.shake_N}
                   for name, felt in found.items()},
    }  # fmt: skip
    report.figure("mobile-forces", figure_of(found, list(NOTHING), 3, (-0.3, 0.3)))
    report.figure("mobile-forces-commanded", figure_of(found, [*CONSTANT, *WALLS], 4, (-0.6, 3.6)))
    report.figure("mobile-forces-poses", draw_poses(found))


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
