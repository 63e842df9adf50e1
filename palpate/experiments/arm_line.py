"""The I-GMS line without any interaction: the tool goes straight to the wall, and link 2 runs into the obstacle.

Reference on articulated bodies 5.3, acceptance item 16.  The arm follows its plan through inverse and forward dynamics
in the same tick as a live session; the obstacle is sensed, not solid.  Steps are of 0.05 s, as in the paper.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.experiments.simulated import simulated_run
from palpate.scenes.arm import LINE_SECONDS, OBSTACLE_M, OBSTACLE_RADIUS_M, WALL_X_M, arm_line
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Vector3

STEP_S = 0.05
# capsules of reference 5.3: body, ends in its frame [m], radius [m]
CAPSULES = {
    "link 2": ("link2", (0.0, 0.0, 0.0), (0.4318, 0.0, 0.0), 0.09),
    "link 3": ("link3", (0.0, 0.0, 0.0), (-0.0203, -0.4331, 0.0), 0.07),
    "tool": ("link6", (0.0, 0.0, 0.0), (0.0, 0.0, 0.10), 0.05),
}


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Matrices (n, 3, 3) of quaternions (n, 4)."""
    w, x, y, z = quaternion.T
    return np.stack([
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ], axis=-1).reshape(-1, 3, 3)  # fmt: skip


def clearance(poses: np.ndarray, a: Vector3, b: Vector3, radius: float) -> np.ndarray:
    """Distance (n,) between the obstacle and a capsule from a to b on a body with poses (n, 7)."""
    R, p = rotation(poses[:, 3:]), poses[:, :3]
    begin, end = p + R @ np.asarray(a), p + R @ np.asarray(b)
    along = end - begin
    t = np.clip(((OBSTACLE_M - begin) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
    return np.linalg.norm(OBSTACLE_M - begin - t[:, None] * along, axis=1) - radius - OBSTACLE_RADIUS_M


def draw(scene: Scene, run: dict[str, np.ndarray], gaps: dict[str, np.ndarray]) -> Figure:
    """Joint angles, velocities and accelerations over steps, clearances, and the arm from above."""
    figure = Figure(figsize=(12.5, 7.2), layout="constrained")
    (angle, speed, acceleration), (gap, torque, above) = figure.subplots(2, 3)
    steps = run["time_s"] / STEP_S
    curves = (np.degrees(run["q"]), run["v"], np.gradient(run["v"], run["time_s"], axis=0))
    labels = ("angle [deg]", "velocity [rad/s]", "acceleration [rad/s²]")
    for axes, values, label in zip((angle, speed, acceleration), curves, labels, strict=True):
        axes.plot(steps, values, lw=1.4)
        axes.set(xlabel="step", ylabel=label)
    angle.legend([f"joint {j + 1}" for j in range(6)], fontsize=7, ncols=2)
    for name, values in gaps.items():
        gap.plot(steps, values, label=name)
    gap.axhline(0.0, color="#b02a2a", lw=1)
    gap.set(xlabel="step", ylabel="clearance to the obstacle [m]")
    gap.legend(fontsize=8)
    torque.plot(steps, run["tau"], lw=1.4)
    torque.set(xlabel="step", ylabel="joint torque [N m]")
    model = scene.model
    for n in np.linspace(0, len(steps) - 1, 9).astype(int):
        for body, begin, end, _ in CAPSULES.values():
            pose = run["pose"][n, model.body(body)][None]
            ends = np.array([pose[0, :3] + rotation(pose[:, 3:])[0] @ x for x in (begin, end)])
            above.plot(ends[:, 0], ends[:, 1], "-o", ms=2.5, lw=1.6, color="#1f5fa8", alpha=0.2 + 0.8 * n / len(steps))
    tool = run["pose"][:, model.body("tool"), :2]
    above.plot(tool[:, 0], tool[:, 1], color="#2a8a4a", lw=2, label="tool path")
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 60))
    centre = complex(*OBSTACLE_M[:2])
    for radius, style in ((OBSTACLE_RADIUS_M, "-"), (OBSTACLE_RADIUS_M + CAPSULES["link 2"][3], "--")):
        ring = centre + radius * circle
        above.plot(ring.real, ring.imag, style, color="#d9534f",
                   label="obstacle" if style == "-" else "obstacle + radius of link 2")  # fmt: skip
    above.axvline(WALL_X_M, color="#555555", lw=3, label="wall")
    above.set(xlabel="x [m]", ylabel="y [m]", title="from above", aspect="equal", ylim=(-0.15, 0.6))
    above.legend(fontsize=6, ncols=2, loc="lower left")
    for axes in figure.axes:
        axes.grid(alpha=0.25)
    return figure


def run(report: Report) -> None:
    scene = arm_line()
    ticks = round(LINE_SECONDS * scene.rate_hz)
    run = simulated_run(scene, ticks, record=report.recording("arm-line"))
    gaps = {name: clearance(run["pose"][:, scene.model.body(body)], a, b, r)
            for name, (body, a, b, r) in CAPSULES.items()}  # fmt: skip
    contact = run["time_s"][np.argmax(gaps["link 2"] < 0.0)] / STEP_S if (gaps["link 2"] < 0.0).any() else np.nan
    tool = run["pose"][:, scene.model.body("tool"), :3]
    report.say(
        f"the tool went from x = {tool[0, 0]:.3f} to {tool[-1, 0]:.3f} m; link 2 met the obstacle at step {contact:.2f}"
    )
    report.claim("first contact of link 2 with the obstacle", contact, 21.5, 22.5, "steps")
    report.claim("deepest clearance of link 2", gaps["link 2"].min(), -0.0516, -0.0496, "m")
    report.claim("smallest clearance of link 3", gaps["link 3"].min(), low=0.05, unit="m")
    report.claim("smallest clearance of the tool", gaps["tool"].min(), low=0.19, unit="m")
    report.claim("tool at the end, from the wall", abs(tool[-1, 0] - WALL_X_M), high=1e-4, unit="m")
    report.claim("largest deviation from the plan", np.abs(run["q"] - run["plan_q"]).max(), high=1e-3, unit="rad")
    largest = np.abs(run["tau"]).max(axis=0)
    report.claim("largest torque of joint 2 (reference 48.9)", largest[1], 48.9 * 0.98, 48.9 * 1.02, "N m")
    report.claim("largest torque of joint 3 (reference 7.3)", largest[2], 7.3 * 0.97, 7.3 * 1.03, "N m")
    report.values |= {"largest_torques_N_m": largest.round(4).tolist(), "ticks": ticks}
    report.figure("arm-line", draw(scene, run, gaps))
