"""The same task, past the obstacle and to the wall, by pushes and by pulls: what each asks of the hand.

Reference on articulated bodies 5.1, 5.5.  The papers report that pulling takes more force and less skill than pushing.
The first holds here for the pushes and pulls of 5.4 and 5.5.  It is not a law: the peak of a pull follows the stiffness
of the hand's spring and the hand's speed, and a push that is kept up until the plan can be resumed needs more than one
whose effect is held.  Hands here are scripts, and skill is not measured.

    impulse = integral |F| dt,  work = integral F v dt (and torques),  strays: mean distance of the tool from its plan
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from palpate.experiments import arm_blend, arm_pull, arm_push, arm_resume, arm_teach
from palpate.experiments.arm_figures import STEPS_PER_S, Motion, move, wall_tick
from palpate.experiments.report import Report
from palpate.haptics.devices.simulation.scripted import AT_ONCE_N_S
from palpate.scenes.arm import LINE_END_M, LINE_START_M, OBSTACLE_M, OBSTACLE_RADIUS_M, WALL_X_M, arm_line
from palpate.scenes.scene import Scene

AT_THE_WALL_M = 1e-3  # a plan that ends at the wall is there


@dataclass(frozen=True)
class Effort:
    """What a way of editing asked of the hand, until the tool was at the wall."""

    interactions: int
    peak_N: float
    impulse_Ns: float
    work_J: float
    seconds: float
    path_m: float
    strays_m: float
    clearance_m: float


def effort(motion: Motion, interactions: int) -> Effort:
    """Of a motion that reached the wall; NaN seconds: it did not."""
    at_wall = wall_tick(motion.tool[:, 0] + AT_THE_WALL_M)
    last = len(motion.steps) - 1 if at_wall is None else at_wall
    cut = Motion(motion.model, {name: values[: last + 1] for name, values in motion.frames.items()}, motion.wall_s)
    dt, tool = motion.time_s[1], cut.tool
    begin, along = np.array(LINE_START_M), np.subtract(LINE_END_M, LINE_START_M)
    share = np.clip((tool - begin) @ along / (along @ along), 0.0, 1.0)
    return Effort(
        interactions,
        peak_N=float(cut.force_N.max()),
        impulse_Ns=float(cut.force_N.sum() * dt),
        work_J=float(cut.frames["energy"][-1, 2]),
        seconds=float("nan") if at_wall is None else float(cut.time_s[-1]),
        path_m=float(np.linalg.norm(np.diff(tool, axis=0), axis=1).sum()),
        strays_m=float(np.linalg.norm(tool - begin - share[:, None] * along, axis=1).mean()),
        clearance_m=cut.clearance_m,
    )


def ways(scene: Scene, record: Path | None) -> dict[str, tuple[Motion, int]]:
    """Motions and numbers of interactions, by name."""

    def mode(name: str) -> Scene:
        return replace(scene, editing=replace(scene.editing, mode=name))

    hold = mode("hold")
    pulled = arm_pull.left_alone_at_step_11(hold)
    blend = arm_push.push(arm_push.FIRST_STEP, -arm_blend.PUSH_N, arm_blend.PUSH_S * STEPS_PER_S)
    lesson = arm_teach.lesson()
    return {
        "2 pushes, hold": (move(hold, arm_push.SECONDS, arm_push.both(), record), 2),
        "1 push of 40 N, resume": (arm_resume.pushed(mode("resume"), 40.0, 0.2), 1),
        "1 push of 60 N, resume": (arm_resume.pushed(mode("resume"), 60.0, 0.25), 1),
        "1 push, blend": (move(mode("blend"), arm_blend.SECONDS, (blend,)), 1),
        "2 pulls, 800 N/m": (move(pulled, arm_pull.SECONDS, arm_pull.pulls(own=True), rise_N_s=AT_ONCE_N_S), 2),
        "2 pulls, 200 N/m": (move(pulled, arm_pull.SECONDS, arm_pull.pulls(200.0, own=True), rise_N_s=AT_ONCE_N_S), 2),
        "led by hand, teach": (move(mode("teach"), lesson[-1].end_s, lesson), 1),
    }


def draw(motions: dict[str, Motion], efforts: dict[str, Effort]) -> Figure:
    """Bars of what each way asked for, and the ways of the tool from above."""
    figure = Figure(figsize=(14.0, 6.4), layout="constrained")
    grid = figure.add_gridspec(2, 4)
    colours = [f"C{k}" for k in range(len(efforts))]
    rows = np.arange(len(efforts))[::-1]
    wanted = {
        "interactions": "interactions",
        "peak_N": "peak force [N]",
        "impulse_Ns": "impulse [N s]",
        "work_J": "work [J]",
        "path_m": "length of the tool's path [m]",
        "strays_m": "mean distance from the plan [m]",
    }
    for k, (name, label) in enumerate(wanted.items()):
        axes = figure.add_subplot(grid[k // 3, k % 3])
        axes.barh(rows, [getattr(e, name) for e in efforts.values()], color=colours, height=0.7)
        axes.set(xlabel=label, yticks=rows)
        axes.set_yticklabels(list(efforts) if k % 3 == 0 else [], fontsize=8)
        axes.grid(alpha=0.25, axis="x")
    above = figure.add_subplot(grid[:, 3])
    for motion, colour in zip(motions.values(), colours, strict=True):
        above.plot(motion.tool[:, 0], motion.tool[:, 1], color=colour, lw=1.5)
    above.plot(*np.array([LINE_START_M, LINE_END_M]).T[:2], "k--", lw=1, label="planned")
    ring = complex(*OBSTACLE_M[:2]) + OBSTACLE_RADIUS_M * np.exp(1j * np.linspace(0, 2 * np.pi, 60))
    above.plot(ring.real, ring.imag, color="#d9534f", label="obstacle")
    above.axvline(WALL_X_M, color="#555555", lw=3, label="wall")
    above.set(
        xlabel="x [m]",
        ylabel="y [m]",
        title="the tool from above",
        aspect="equal",
        xlim=(0.34, 0.93),
        ylim=(-0.4, 0.45),
    )
    above.legend(fontsize=7, loc="lower left")
    above.grid(alpha=0.25)
    return figure


def run(report: Report) -> None:
    found = ways(arm_line(solid=False, mode="hold"), report.recording("arm-effort"))
    motions = {name: motion for name, (motion, _) in found.items()}
    efforts = {name: effort(motion, count) for name, (motion, count) in found.items()}
    for name, e in efforts.items():
        report.say(f"{name}: {e.interactions} x, peak {e.peak_N:.1f} N, {e.impulse_Ns:.1f} N s, {e.work_J:.2f} J, "
                   f"path {e.path_m:.3f} m, wall at {e.seconds:.2f} s")  # fmt: skip
        report.claim(f"{name}: smallest clearance", e.clearance_m, low=0.0, unit="m")
        report.claim(f"{name}: wall reached", e.seconds, high=4.5, unit="s")
    push, pull = efforts["2 pushes, hold"], efforts["2 pulls, 800 N/m"]
    report.claim(
        "here, as the papers report: peak of the pulls over that of the held pushes", pull.peak_N / push.peak_N, low=1.0
    )
    report.claim(
        "here, too: impulse of the pulls over that of the held pushes", pull.impulse_Ns / push.impulse_Ns, low=1.0
    )
    report.claim("but not in general: peak of a resumed push over that of a soft pull",
                 efforts["1 push of 60 N, resume"].peak_N / efforts["2 pulls, 200 N/m"].peak_N, low=1.0)  # fmt: skip
    report.values |= {name: asdict(e) for name, e in efforts.items()}
    report.values["not_general"] = (
        "peaks of pulls follow the stiffness of the hand's spring and its speed; held pushes act on after the touch; "
        "hands are scripts, skill is not measured"
    )
    report.figure("arm-effort", draw(motions, efforts))
