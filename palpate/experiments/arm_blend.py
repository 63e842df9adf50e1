"""A push shifts the I-GMS arm off its plan, which goes on: the offset stays (no spring), or swings back (spring).

Reference on articulated bodies 2.4, BLEND.  The joints follow plan + d, and the hand drives d like a mass:

    M_d d'' + B_d d' + K_d d = J^T c        M_d: what each joint weighs at the start;  B_d = M_d / blend_time_s

With K_d = M_d (2 pi / blend_period_s)^2 the arm comes back to its plan, and in this scene so runs into the obstacle;
with K_d = 0 the offset stays and leads past it.  d is compared with an independent solution of its equation: exact over
each tick, with J^T c from the recorded motion.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

import palpate as pp
from palpate.experiments.arm_figures import GREY, STEPS_PER_S, Band, Motion, draw_above, draw_gaps, edit_figure, move
from palpate.experiments.arm_push import FIRST_STEP, push
from palpate.experiments.report import Report
from palpate.scenes.arm import LINE_SECONDS, arm_line
from palpate.scenes.scene import Scene

PUSH_N, PUSH_S = 40.0, 0.5
PERIOD_S = 1.0
SECONDS = 4.0
SHOWN_S = 2.4  # of that, in the figure of the kept offset
BEGIN_S, END_S = FIRST_STEP / STEPS_PER_S, FIRST_STEP / STEPS_PER_S + PUSH_S
STILL_S = 10.0  # blend times after which what is left of a motion is 5e-5 of it
NOMINAL_END_M = -0.0486  # clearance of link 2 in the plan's last posture, reference 2.4


def blended(scene: Scene, period_s: float | None) -> Scene:
    """The scene with an offset that swings back with this period, or stays."""
    return replace(scene, editing=replace(scene.editing, blend_period_s=period_s))


def offsets(scene: Scene, motion: Motion) -> np.ndarray:
    """d (n, 6), as the tick had it."""
    assert scene.plan is not None
    rows = np.minimum(np.arange(len(motion.steps)), len(scene.plan.q) - 1)
    return motion.frames["plan_q"] - scene.plan.q[rows]


def solved_offsets(scene: Scene, motion: Motion) -> np.ndarray:
    """d (n, 6) by the exact solution of its equation over every tick, with the push as recorded."""
    model, editing, dt = scene.model, scene.editing, scene.world.dt
    mass = np.diag(pp.mass_matrix(model, scene.plan.q[0]))  # type: ignore[union-attr]
    stiffness = 0.0 if editing.blend_period_s is None else (2.0 * np.pi / editing.blend_period_s) ** 2
    # x' = A x + B u of (d, d'), the same for every joint: u = J^T c / M_d
    A = np.zeros((3, 3))
    A[0, 1], A[1, 0], A[1, 1], A[1, 2] = 1.0, -stiffness, -1.0 / editing.blend_time_s, 1.0
    over_a_tick = exponential(A * dt)
    x, path = np.zeros((2, model.nv)), []
    for n in range(len(motion.steps)):
        path.append(x[0])
        u = push_on_joints(model, motion, n) / mass
        x = (over_a_tick @ np.vstack([x, u]))[:2]
    return np.array(path)


def exponential(A: np.ndarray) -> np.ndarray:
    """exp(A) of a small matrix, by its series."""
    total = term = np.eye(len(A))
    for n in range(1, 20):
        term = term @ A / n
        total = total + term
    return total


def push_on_joints(model: pp.Model, motion: Motion, n: int) -> np.ndarray:
    """J^T c (nv,) of the hand in tick n [N m]."""
    force = motion.frames["hand_force"][n]
    if not force.any():
        return np.zeros(model.nv)
    q = motion.frames["q"][n]
    X = pp.forward_kinematics(model, q)[model.body("link2")]
    at = X[:3, :3].T @ (motion.frames["hand_point"][n] - X[:3, 3])
    return pp.jacobian(model, q, "link2", at)[3:].T @ force


def blend_error(scene: Scene, motion: Motion) -> float:
    """How far d is from its solution, relative to its largest value."""
    wanted = solved_offsets(scene, motion)
    return float(np.abs(offsets(scene, motion) - wanted).max() / np.abs(wanted).max())


def draw_offsets(kept: tuple[Scene, Motion], returning: tuple[Scene, Motion]) -> Figure:
    """d of both versions beside its solution, clearances, and the way that comes back from above."""
    figure = Figure(figsize=(13.0, 6.6), layout="constrained")
    for row, (name, (scene, motion)) in zip(
        figure.subplots(2, 3), {"no spring": kept, "spring": returning}.items(), strict=True
    ):
        shift, gap, above = row
        shift.plot(motion.steps, np.degrees(offsets(scene, motion)), lw=2.0, alpha=0.6)
        shift.plot(motion.steps, np.degrees(solved_offsets(scene, motion)), "k--", lw=0.8)
        shift.set(xlabel="step", ylabel="offset from the plan [deg]", title=f"{name}; dashed: the equation solved")
        shift.legend([f"joint {j + 1}" for j in range(6)], fontsize=7, ncols=3)
        draw_gaps(gap, motion)
        draw_above(above, motion, scene.path)
        for axes in (shift, gap):
            axes.axvspan(BEGIN_S * STEPS_PER_S, END_S * STEPS_PER_S, color="#f2b134", alpha=0.25, lw=0)
            axes.axvline(LINE_SECONDS * STEPS_PER_S, color=GREY, lw=1, ls=":")  # the plan ends
            axes.grid(alpha=0.25)
    return figure


def run(report: Report) -> None:
    once = push(FIRST_STEP, -PUSH_N, PUSH_S * STEPS_PER_S)
    line = arm_line(solid=False, mode="blend")
    scenes = {"kept": blended(line, None), "returning": blended(line, PERIOD_S)}
    motions = {}
    for name, scene in scenes.items():
        record = report.recording("arm-blend") if name == "kept" else None
        motion = motions[name] = move(scene, SECONDS, (once,), record, to_the_end=True)
        report.say(
            f"offset {name}: clearance {motion.clearance_m:.4f} m, the tool ends at {motion.tool[-1].round(3).tolist()}"
        )
        report.claim(f"offset {name}: error of its equation, relative", blend_error(scene, motion), high=0.01)
    kept, returning = motions["kept"], motions["returning"]
    still = round((END_S + STILL_S * scenes["kept"].editing.blend_time_s) * scenes["kept"].rate_hz)
    offset = offsets(scenes["kept"], kept)
    report.claim("offset kept: size of joint 1's", abs(offset[-1, 0]), low=0.05, unit="rad")
    report.claim(
        "offset kept: change once it has come to rest", np.ptp(offset[still:], axis=0).max(), high=1e-3, unit="rad"
    )
    report.claim("offset kept: arm from plan and offset at the end",
                 np.abs(kept.frames["q"][-1] - kept.frames["plan_q"][-1]).max(), high=1e-3, unit="rad")  # fmt: skip
    report.claim("offset kept: smallest clearance", kept.clearance_m, low=0.0, unit="m")
    plan_end = scenes["returning"].plan.q[-1]  # type: ignore[union-attr]
    report.claim("offset returning: arm from the plan at the end", np.abs(returning.frames["q"][-1] - plan_end).max(),
                 high=1e-3, unit="rad")  # fmt: skip
    report.claim("offset returning: clearance of link 2 at the end, as planned", returning.gaps["link 2"][-1],
                 NOMINAL_END_M - 1e-3, NOMINAL_END_M + 1e-3, "m")  # fmt: skip
    half = blended(arm_line(500.0, solid=False, mode="blend"), PERIOD_S)
    coarser = blend_error(half, move(half, SECONDS, (once,), to_the_end=True))
    share = blend_error(scenes["returning"], returning) / coarser
    report.claim("error of the equation at 1 kHz over that at 500 Hz", share, 0.4, 0.6)
    report.values |= {
        "kept_offset_rad": offset[-1].round(5).tolist(),
        "kept_end_m": kept.tool[-1].round(4).tolist(),
        "kept_clearance_m": round(kept.clearance_m, 5),
        "returning_clearance_m": round(returning.clearance_m, 5),
    }
    bands: list[Band] = [
        (0.0, BEGIN_S, "planned"),
        (BEGIN_S, END_S, "pushing"),
        (END_S, LINE_SECONDS, "edited: plan and offset"),
        (LINE_SECONDS, SHOWN_S, "edited: at rest"),
    ]
    report.figure("arm-blend", edit_figure(kept.until(SHOWN_S), bands, scenes["kept"].path))
    report.figure("arm-blend-offsets", draw_offsets((scenes["kept"], kept), (scenes["returning"], returning)))
