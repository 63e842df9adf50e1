"""The I-GMS line without any interaction: the tool goes straight to the wall, and link 2 runs into the obstacle.

Reference on articulated bodies 5.3, acceptance item 16.  The arm follows its plan through inverse and forward dynamics
in the same tick as a live session; the obstacle is sensed, not solid.  Steps are of 0.05 s, as in the paper.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from palpate.experiments.arm_figures import Motion, draw_above, draw_gaps, move
from palpate.experiments.report import Report
from palpate.scenes.arm import LINE_SECONDS, WALL_X_M, arm_line


def draw(motion: Motion) -> Figure:
    """Joint angles, velocities and accelerations over steps, clearances, torques, and the arm from above."""
    figure = Figure(figsize=(12.5, 7.2), layout="constrained")
    (angle, speed, acceleration), (gap, torque, above) = figure.subplots(2, 3)
    curves = {
        "angle [deg]": (angle, np.degrees(motion.frames["q"])),
        "velocity [rad/s]": (speed, motion.frames["v"]),
        "acceleration [rad/s²]": (acceleration, motion.acceleration),
        "joint torque [N m]": (torque, motion.frames["tau"]),
    }
    for label, (axes, values) in curves.items():
        axes.plot(motion.steps, values, lw=1.4)
        axes.set(xlabel="step", ylabel=label)
        axes.grid(alpha=0.25)
    angle.legend([f"joint {j + 1}" for j in range(6)], fontsize=7, ncols=2)
    draw_gaps(gap, motion)
    gap.grid(alpha=0.25)
    draw_above(above, motion)
    return figure


def run(report: Report) -> None:
    scene = arm_line(solid=False)
    motion = move(scene, LINE_SECONDS, record=report.recording("arm-line"), to_the_end=True)
    gaps, tool, frames = motion.gaps, motion.tool, motion.frames
    inside = gaps["link 2"] < 0.0
    contact = motion.steps[np.argmax(inside)] if inside.any() else np.nan
    report.say(
        f"the tool went from x = {tool[0, 0]:.3f} to {tool[-1, 0]:.3f} m; link 2 met the obstacle at step {contact:.2f}"
    )
    report.claim("first contact of link 2 with the obstacle", contact, 21.5, 22.5, "steps")
    report.claim("deepest clearance of link 2", gaps["link 2"].min(), -0.0516, -0.0496, "m")
    report.claim("smallest clearance of link 3", gaps["link 3"].min(), low=0.05, unit="m")
    report.claim("smallest clearance of the tool", gaps["tool"].min(), low=0.19, unit="m")
    report.claim("tool at the end, from the wall", abs(tool[-1, 0] - WALL_X_M), high=1e-4, unit="m")
    report.claim("largest deviation from the plan", np.abs(frames["q"] - frames["plan_q"]).max(), high=1e-3, unit="rad")
    largest = np.abs(frames["tau"]).max(axis=0)
    report.claim("largest torque of joint 2 (reference 48.9)", largest[1], 48.9 * 0.98, 48.9 * 1.02, "N m")
    report.claim("largest torque of joint 3 (reference 7.3)", largest[2], 7.3 * 0.97, 7.3 * 1.03, "N m")
    report.values |= {
        "largest_torques_N_m": largest.round(4).tolist(),
        "largest_velocities_rad_s": np.abs(frames["v"]).max(axis=0).round(4).tolist(),
        "largest_accelerations_rad_s2": np.abs(motion.acceleration).max(axis=0).round(4).tolist(),
        "ticks": len(motion.steps),
    }
    report.figure("arm-line", draw(motion))
