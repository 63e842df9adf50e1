"""Motions of the I-GMS scene: how far from obstacle and wall they stay, and the figures of the experiments.

Steps are of 0.05 s, as in the paper; the capsules are those of the reference on articulated bodies, 5.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.dynamics.facade import forward_kinematics, jacobian
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Grasp, Push, Scripted
from palpate.model.model import Model
from palpate.scenes.arm import OBSTACLE_M, OBSTACLE_RADIUS_M, WALL_X_M
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Rotation, Vector3

STEPS_PER_S = 20
STEP_S = 1.0 / STEPS_PER_S
# body, ends in its frame [m], radius [m]
CAPSULES = {
    "link 2": ("link2", (0.0, 0.0, 0.0), (0.4318, 0.0, 0.0), 0.09),
    "link 3": ("link3", (0.0, 0.0, 0.0), (-0.0203, -0.4331, 0.0), 0.07),
    "tool": ("link6", (0.0, 0.0, 0.0), (0.0, 0.0, 0.10), 0.05),
}
LINK2_RADIUS_M = CAPSULES["link 2"][3]
PUSH_AT_M = (0.9 * CAPSULES["link 2"][2][0], 0.0, 0.0)  # on the axis of link 2: where the pushes of 5.4 act

N_CM_PER_N_M = 100.0  # the papers print torques of the hand in N cm

BAND_COLOURS = {"planned": "#dfe6ee", "push": "#f2b134", "pull": "#f2b134", "held": "#b7d7c1", "edited": "#b7d7c1"}
BLUE, GREEN, RED, GREY = "#1f5fa8", "#2a8a4a", "#d9534f", "#555555"
Band = tuple[float, float, str]  # from a time to a time [s], what the motion is then


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


@dataclass(frozen=True)
class Motion:
    """What the arm did, one row per tick: the histories of a frame's fields, from the start to the wall or the end."""

    model: Model
    frames: dict[str, np.ndarray]
    wall_s: float  # when the tool reached the wall, NaN: it did not

    def until(self, seconds: float) -> Motion:
        """Its beginning."""
        n = int(np.searchsorted(self.time_s.ravel(), seconds)) + 1
        return Motion(self.model, {name: values[:n] for name, values in self.frames.items()}, self.wall_s)

    @property
    def time_s(self) -> np.ndarray:
        return self.frames["time_s"]

    @property
    def steps(self) -> np.ndarray:
        return self.time_s * STEPS_PER_S

    @property
    def wall_step(self) -> float:
        return self.wall_s * STEPS_PER_S

    @property
    def tool(self) -> np.ndarray:
        """Positions (n, 3) of the tool's point [m]."""
        return self.frames["pose"][:, self.model.body("tool"), :3]

    @property
    def acceleration(self) -> np.ndarray:
        """Of the joints (n, nv): what each tick added to their velocities."""
        dv = np.diff(self.frames["v"], axis=0) / np.diff(self.time_s)[:, None]
        return np.concatenate([dv, dv[-1:]])

    @property
    def force_N(self) -> np.ndarray:
        """Size (n,) of the hand's force on the arm."""
        return np.linalg.norm(self.frames["hand_force"], axis=1)

    @property
    def external_N_cm(self) -> np.ndarray:
        """U_E = J^T c (n, nv): what the hand asks of the joints, in the unit of the paper's figures."""
        external, frames = np.zeros_like(self.frames["v"]), self.frames
        for n in np.flatnonzero(self.force_N > 0.0):
            body = int(frames["hand_body"][n])
            pose = frames["pose"][n, body]
            at_body = rotation(pose[None, 3:])[0].T @ (frames["hand_point"][n] - pose[:3])
            J = jacobian(self.model, frames["q"][n], body, at_body)
            external[n] = J.T @ np.r_[frames["hand_torque"][n], frames["hand_force"][n]]
        return N_CM_PER_N_M * external

    @property
    def gaps(self) -> dict[str, np.ndarray]:
        """Clearance (n,) of each capsule to the obstacle [m]."""
        return {name: clearance(self.frames["pose"][:, self.model.body(body)], a, b, r)
                for name, (body, a, b, r) in CAPSULES.items()}  # fmt: skip

    @property
    def clearance_m(self) -> float:
        """The smallest of them all."""
        return float(min(gap.min() for gap in self.gaps.values()))


def posture_gaps(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """Clearance (n,) of each capsule to the obstacle [m] in postures (n, nq)."""
    X = np.array([forward_kinematics(model, row) for row in q])

    def poses(body: str) -> np.ndarray:
        return np.array([np.r_[x[:3, 3], Rotation.from_matrix(x[:3, :3]).wxyz] for x in X[:, model.body(body)]])

    return {name: clearance(poses(body), a, b, r) for name, (body, a, b, r) in CAPSULES.items()}


def wall_tick(tool_x: np.ndarray) -> int | None:
    """The first row in which the tool is at the wall or behind it."""
    there = np.flatnonzero(tool_x >= WALL_X_M)
    return int(there[0]) if len(there) else None


def move(
    scene: Scene,
    seconds: float,
    actions: Sequence[Grasp | Push] = (),
    record: Path | None = None,
    *,
    to_the_end: bool = False,
    rise_N_s: float | None = None,
) -> Motion:
    """Run the scene under a scripted hand.  What comes after the wall is left out unless to_the_end."""
    frames = simulated_run(scene, round(seconds * scene.rate_hz), Scripted(actions, force_rise_N_s=rise_N_s), record)
    hit = wall_tick(frames["pose"][:, scene.model.body("tool"), 0])
    if hit is not None and not to_the_end:
        frames = {name: values[: hit + 1] for name, values in frames.items()}
    return Motion(scene.model, frames, np.nan if hit is None else float(hit / scene.rate_hz))


# ---- figures


def edit_figure(motion: Motion, bands: Sequence[Band], nominal: np.ndarray | None = None, title: str = "") -> Figure:
    """Angles, velocities, accelerations, the hand's force and torques, clearances, the arm from above, a time line.

    nominal  positions (n, 3) of the tool without the hand
    """
    figure = Figure(figsize=(13.0, 8.2), layout="constrained")
    grid = figure.add_gridspec(3, 3, height_ratios=(1.0, 1.0, 0.14))
    upper = [figure.add_subplot(grid[0, k]) for k in range(3)]
    lower = grid[1, :].subgridspec(1, 4, width_ratios=(1.0, 1.0, 1.0, 1.25))
    force, torque, gap, above = (figure.add_subplot(lower[0, k]) for k in range(4))
    curves = (np.degrees(motion.frames["q"]), motion.frames["v"], motion.acceleration)
    labels = ("angle [deg]", "velocity [rad/s]", "acceleration [rad/s²]")
    for axes, values, label in zip(upper, curves, labels, strict=True):
        axes.plot(motion.steps, values, lw=1.4)
        axes.set(xlabel="step", ylabel=label)
    upper[0].legend([f"joint {j + 1}" for j in range(values.shape[1])], fontsize=7, ncols=2)
    draw_force(force, motion)
    torque.plot(motion.steps, motion.external_N_cm, lw=1.2)
    torque.set(xlabel="step", ylabel="torques of the hand on the joints [N cm]")
    draw_gaps(gap, motion)
    for axes in (*upper, force, torque, gap):
        shade(axes, bands)
        axes.set_xlim(0.0, motion.steps[-1])
        axes.grid(alpha=0.25)
    draw_above(above, motion, nominal)
    draw_bands(figure.add_subplot(grid[2, :]), bands, motion.steps[-1])
    if title:
        figure.suptitle(title)
    return figure


def draw_force(axes: Axes, motion: Motion) -> None:
    for name, values in zip("xyz", motion.frames["hand_force"].T, strict=True):
        axes.plot(motion.steps, values, lw=1.2, label=name)
    axes.plot(motion.steps, motion.force_N, "k", lw=1.0, ls=":", label="size")
    axes.set(xlabel="step", ylabel="force of the hand on the arm [N]")
    axes.legend(fontsize=7, ncols=4)


def draw_gaps(axes: Axes, motion: Motion) -> None:
    for name, values in motion.gaps.items():
        axes.plot(motion.steps, values, label=name)
    axes.axhline(0.0, color="#b02a2a", lw=1)
    axes.set(xlabel="step", ylabel="clearance to the obstacle [m]")
    axes.legend(fontsize=8)


def draw_above(axes: Axes, motion: Motion, nominal: np.ndarray | None = None, shots: int = 9) -> None:
    """Snapshots of the arm, the tool's path, obstacle and wall, seen from above."""
    last = len(motion.steps) - 1
    for n in np.linspace(0, last, shots).astype(int):
        for body, begin, end, _ in CAPSULES.values():
            pose = motion.frames["pose"][n, motion.model.body(body)][None]
            ends = np.array([pose[0, :3] + rotation(pose[:, 3:])[0] @ x for x in (begin, end)])
            axes.plot(ends[:, 0], ends[:, 1], "-o", ms=2.5, lw=1.6, color=BLUE, alpha=0.15 + 0.8 * n / last)
    if nominal is not None:
        axes.plot(nominal[:, 0], nominal[:, 1], "--", color=GREY, lw=1.2, label="planned path")
    axes.plot(motion.tool[:, 0], motion.tool[:, 1], color=GREEN, lw=2, label="tool path")
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 60))
    for grown, style, label in ((0.0, "-", "obstacle"), (LINK2_RADIUS_M, "--", "obstacle + radius of link 2")):
        ring = complex(*OBSTACLE_M[:2]) + (OBSTACLE_RADIUS_M + grown) * circle
        axes.plot(ring.real, ring.imag, style, color=RED, lw=1.2, label=label)
    axes.axvline(WALL_X_M, color=GREY, lw=3, label="wall")
    low = min(-0.15, motion.tool[:, 1].min() - 0.08)
    axes.set(xlabel="x [m]", ylabel="y [m]", title="from above", aspect="equal", xlim=(-0.15, 0.97), ylim=(low, 0.55))
    axes.legend(fontsize=6, ncols=1, loc="lower left")
    axes.grid(alpha=0.25)


def band_colour(what: str) -> str:
    return next((colour for begins, colour in BAND_COLOURS.items() if what.startswith(begins)), "#dddddd")


def shade(axes: Axes, bands: Sequence[Band]) -> None:
    """The times of interaction behind a curve over steps."""
    for begin, end, what in bands:
        if what.startswith(("push", "pull")):
            axes.axvspan(begin * STEPS_PER_S, end * STEPS_PER_S, color=band_colour(what), alpha=0.25, lw=0)


def draw_bands(axes: Axes, bands: Sequence[Band], last_step: float) -> None:
    """The time line of interactions and new trajectories."""
    for begin, end, what in bands:
        left, right = begin * STEPS_PER_S, min(end * STEPS_PER_S, last_step)
        axes.axvspan(left, right, facecolor=band_colour(what), edgecolor="white", lw=1)
        narrow = right - left < 0.006 * len(what) * last_step  # then the words stand above their band
        axes.text(0.5 * (left + right), 1.06 if narrow else 0.5, what, ha="center", va="bottom" if narrow else "center",
                  fontsize=8)  # fmt: skip
    axes.set(xlim=(0.0, last_step), ylim=(0, 1), yticks=[], xlabel="step")
