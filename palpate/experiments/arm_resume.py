"""One push on link 2, and the plan resumed from where it left the I-GMS arm: past the obstacle, and to the wall.

Reference on articulated bodies 2.4 (RESUME), end of 5.4, acceptance item 19.  While the hand pushes, the planned
acceleration goes on and the push adds to it; let go, the tool is led in 1.2 s to the wall, at rest, sideways to where
it would be half a second later.  Here this is done by torques, in the servo's tick; the reference did it by kinematics.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import palpate as pp
from palpate.experiments.arm_figures import STEPS_PER_S, Band, Motion, draw_above, edit_figure, move
from palpate.experiments.arm_push import FIRST_STEP, push
from palpate.experiments.report import Report
from palpate.scenes.arm import LINE_END_M, arm_line
from palpate.scenes.scene import Scene

# force [N] and time [s] of the push, and whether the wall is then within reach (5.4)
SETTINGS = ((40.0, 0.20, True), (40.0, 0.30, True), (60.0, 0.25, True), (50.0, 0.30, True), (60.0, 0.30, False))
SETTLE_S = 1.5  # after the new way has ended
SHOWN_S = 0.2  # of that, in the figure


def pushed(scene: Scene, force_N: float, seconds: float, **options: object) -> Motion:
    """The motion under one push from step 11 on, until it has settled."""
    until = FIRST_STEP / STEPS_PER_S + seconds + scene.editing.resume_s + SETTLE_S
    once = push(FIRST_STEP, -force_N, seconds * STEPS_PER_S)
    return move(scene, until, (once,), to_the_end=True, **options)  # type: ignore[arg-type]


def goal(scene: Scene, motion: Motion, seconds: float) -> np.ndarray:
    """Where the tool is to end (3,): on the wall, shifted sideways by its velocity when the hand let go."""
    row = round((FIRST_STEP / STEPS_PER_S + seconds) * scene.rate_hz)
    velocity = (pp.jacobian(scene.model, motion.frames["q"][row], "tool") @ motion.frames["v"][row])[3:]
    return np.array([LINE_END_M[0], motion.tool[row, 1] + scene.editing.ahead_s * velocity[1], LINE_END_M[2]])


def draw_settings(motions: dict[str, Motion], nominal: np.ndarray) -> Figure:
    """The arm from above in every setting."""
    figure = Figure(figsize=(15.0, 3.8), layout="constrained")
    for axes, (name, motion) in zip(figure.subplots(1, len(motions), sharey=True), motions.items(), strict=True):
        draw_above(axes, motion, nominal, shots=7)
        axes.set(title=name, ylim=(-0.5, 0.55))
        if axes is not figure.axes[0]:
            axes.set_ylabel("")
            axes.get_legend().remove()
    return figure


def run(report: Report) -> None:
    scene = arm_line(solid=False, mode="resume")
    motions: dict[str, Motion] = {}
    table = []
    for force, seconds, reaches in SETTINGS:
        name = f"{force:g} N for {seconds:g} s"
        record = {} if motions else {"record": report.recording("arm-resume")}
        motion = motions[name] = pushed(scene, force, seconds, **record)
        end = motion.tool[-1]
        away = float(np.linalg.norm(end - goal(scene, motion, seconds)))
        speed = float(np.linalg.norm((pp.jacobian(scene.model, motion.frames["q"][-1], "tool")
                                      @ motion.frames["v"][-1])[3:]))  # fmt: skip
        report.say(f"{name}: clearance {motion.clearance_m:.4f} m, ends at {end.round(3).tolist()}")
        report.claim(f"{name}: smallest clearance", motion.clearance_m, low=0.02, unit="m")
        if reaches:
            report.claim(f"{name}: end of the tool from its goal", away, high=1e-3, unit="m")
            report.claim(f"{name}: final speed of the tool", speed, high=1e-6, unit="m/s")
        else:
            short = LINE_END_M[0] - motion.tool[:, 0].max()
            report.claim(f"{name}: the wall is out of reach by", short, low=1e-3, unit="m")
        table.append({"force_N": force, "seconds": seconds, "clearance_m": round(motion.clearance_m, 5),
                      "end_m": end.round(5).tolist(), "from_goal_m": away, "speed_m_s": speed,
                      "largest_torques_N_m": np.abs(motion.frames["tau"]).max(axis=0).round(2).tolist()})  # fmt: skip
    report.values["settings"] = table
    first = next(iter(motions.values()))
    begin, let_go = FIRST_STEP / STEPS_PER_S, FIRST_STEP / STEPS_PER_S + SETTINGS[0][1]
    there = let_go + scene.editing.resume_s
    bands: list[Band] = [
        (0.0, begin, "planned"),
        (begin, let_go, "pushing"),
        (let_go, there, "edited: a new way to the wall"),
        (there, there + SHOWN_S, "there"),
    ]
    report.figure("arm-resume", edit_figure(first.until(there + SHOWN_S), bands, scene.path))
    shown = {name: motion.until(there + 0.1) for name, motion in motions.items()}
    report.figure("arm-resume-settings", draw_settings(shown, scene.path))
