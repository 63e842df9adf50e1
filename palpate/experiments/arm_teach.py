"""A hand leads the tool of the I-GMS arm around the obstacle; what it did becomes a plan, and the arm does it again.

Mode TEACH: the arm bears its weight and follows the hand.  The motion is smoothed and checked against limits, wall and
obstacle (control/plans/trajectory.py), put onto ticks and followed by computed torque, without a hand.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from palpate.control.plans.trajectory import Trajectory
from palpate.experiments.arm_figures import BLUE, Band, Motion, draw_above, edit_figure, move
from palpate.experiments.report import Report
from palpate.haptics.devices.simulation.scripted import Grasp
from palpate.scenes.arm import TOOL_ALONG_X, WALL_X_M, arm_line
from palpate.scenes.scene import Scene

# where the hand leads the tool [m], and how long that takes [s]
LEGS = (((0.62, -0.10, -0.05), 0.9), ((0.76, -0.15, -0.05), 0.9), ((0.885, -0.15, -0.05), 0.9))
BEGIN_S = 0.2
SETTLE_S = 1.5
STIFFNESS_N_M, TURN_NM_RAD = 800.0, 20.0
WINDOW_S = 0.12  # of the smoothing
KEEP_CLEAR_M = 0.02  # from the obstacle
NEAR_M = 5e-3  # what a replay may be away from what was taught


def lesson() -> tuple[Grasp, ...]:
    """A hand that leads the tool along LEGS, holds it there, and never lets go in between."""
    grasps, begin = [], BEGIN_S
    for n, (to, seconds) in enumerate(LEGS):
        end = begin + seconds + (SETTLE_S if n == len(LEGS) - 1 else 0.0)
        grasps.append(Grasp("tool", begin, end, to, move_s=seconds, stiffness_N_m=STIFFNESS_N_M,
                            orientation=tuple(TOOL_ALONG_X.wxyz), stiffness_Nm_rad=TURN_NM_RAD))  # type: ignore[arg-type]  # fmt: skip
        begin = end
    return tuple(grasps)


def taught(scene: Scene, motion: Motion) -> Trajectory:
    """The lesson as a trajectory, smoothed."""
    frames = motion.frames
    seen = Trajectory.from_motion(motion.time_s, frames["q"], frames["v"], scene.model.joint_names)
    return seen.smooth(scene.model, WINDOW_S)


def path_distance(path: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Distance (n,) of every point of a path (n, 3) to the nearest point of another (m, 3)."""
    return np.array([np.linalg.norm(other - x, axis=1).min() for x in path])


def draw(led: Motion, replay: Motion, off_m: np.ndarray) -> Figure:
    """What was taught and what was replayed."""
    figure = Figure(figsize=(13.0, 4.0), layout="constrained")
    angle, away, above = figure.subplots(1, 3)
    for name, motion, style in (("taught", led, "-"), ("replayed", replay, "k:")):
        lines = angle.plot(motion.steps, np.degrees(motion.frames["q"]), style, lw=2.2 if style == "-" else 1.0)
        lines[0].set_label(name)
    angle.set(xlabel="step", ylabel="angle [deg]")
    angle.legend(fontsize=8)
    away.plot(replay.steps, 1e3 * off_m, color=BLUE)
    away.set(xlabel="step", ylabel="tool, replayed from taught [mm]", ylim=(0, None))
    draw_above(above, replay)
    above.plot(led.tool[:, 0], led.tool[:, 1], "k:", lw=1)
    for axes in (angle, away):
        axes.grid(alpha=0.25)
    return figure


def run(report: Report) -> None:
    scene = arm_line(solid=False, mode="teach")
    hand = lesson()
    led = move(scene, hand[-1].end_s, hand, report.recording("arm-teach"), to_the_end=True)
    report.say(f"led with at most {led.force_N.max():.1f} N; clearance {led.clearance_m:.4f} m")
    trajectory = taught(scene, led)
    faults = trajectory.check(scene.world, KEEP_CLEAR_M, obstacles=("obstacle",))
    for fault in faults:
        report.say(fault)
    plan = trajectory.resample(scene.model, scene.world.dt)
    again = replace(scene, plan=plan, editing=replace(scene.editing, mode="wait"))
    replay = move(again, len(plan.q) * scene.world.dt, record=report.recording("arm-teach-replay"), to_the_end=True)
    off = np.linalg.norm(replay.tool - led.tool[: len(replay.tool)], axis=1)
    report.say(f"replayed within {1e3 * off.max():.2f} mm; clearance {replay.clearance_m:.4f} m, "
               f"wall at {replay.wall_s:.3f} s")  # fmt: skip

    model, frames = scene.model, replay.frames
    margin = np.minimum(model.upper - frames["q"], frames["q"] - model.lower).min()
    report.claim("what is wrong with the taught motion: number of complaints", len(faults), high=0)
    report.claim("replayed tool from the taught one, at the same time", off.max(), high=NEAR_M, unit="m")
    report.claim("replayed path from the taught path", path_distance(replay.tool, led.tool).max(), high=2e-3, unit="m")
    report.claim("replay: smallest clearance", replay.clearance_m, low=KEEP_CLEAR_M, unit="m")
    report.claim("replay: wall reached", replay.wall_s, high=hand[-1].end_s, unit="s")
    report.claim("replay: joints stay within their ranges by", margin, low=0.0, unit="rad")
    report.claim(
        "replay: largest deviation from its plan", np.abs(frames["q"] - frames["plan_q"]).max(), high=1e-3, unit="rad"
    )
    report.claim("replay: speed at the end", np.abs(frames["v"][-1]).max(), high=1e-2, unit="rad/s")
    report.values |= {
        "led_peak_N": round(float(led.force_N.max()), 2),
        "led_work_J": round(float(led.frames["energy"][-1, 2]), 3),
        "replay_rms_off_m": float(np.sqrt((off**2).mean())),
        "largest_velocities_rad_s": np.abs(frames["v"]).max(axis=0).round(3).tolist(),
        "largest_torques_N_m": np.abs(frames["tau"]).max(axis=0).round(2).tolist(),
        "end_m": replay.tool[-1].round(4).tolist(),
        "wall_x_m": WALL_X_M,
    }
    bands: list[Band] = [(0.0, BEGIN_S, "planned"), (BEGIN_S, hand[-1].end_s, "pulling: the hand leads the tool")]
    report.figure("arm-teach", edit_figure(led, bands, scene.path))
    report.figure("arm-teach-replay", draw(led, replay, off))
