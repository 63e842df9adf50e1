"""The planar device over its plane: where it reaches, how evenly, how strongly and how finely.  Planar haptics, 1.1.

At every place the worst of all angles counts:
isotropy    condition number of the Jacobian A, rotation scaled by half the crank; 1: all directions alike
force       what motors at their continuous torque make in the worst direction, torques of least norm:
            tau_c / max |B_i|,  B = A (A^T A)^-1
resolution  sum of |A+| times one count of the encoders: what X changes by if all four are off by one, at worst
Other devices: `palpate run planar-device --set distal_m=0.3 crank_m=0.06`, the fields of Pantograph.
"""

from __future__ import annotations

import math
from dataclasses import asdict, fields

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from palpate.experiments.report import Report
from palpate.planar.pantograph.facade import PantographModel
from palpate.planar.pantograph.mechanism import Pantograph

ANGLES = 36
SHOWN = (0.02, 0.015, 0.6)  # the pose that is drawn
BLUE, RED, GREY = "#1f5fa8", "#b02a2a", "#555555"


def measures(model: PantographModel, poses: np.ndarray) -> dict[str, np.ndarray]:
    """(n,) each, of n poses: condition; continuous force in x, in y and in the worst direction [N], torque [N m];
    resolution in x, in y [m] and of the angle [rad]."""
    p, A = model.pantograph, model.jacobians(poses)
    inverse = np.linalg.inv(A.transpose(0, 2, 1) @ A)
    B, plus = A @ inverse, inverse @ A.transpose(0, 2, 1)
    finest = np.abs(plus).sum(axis=2) * 2.0 * math.pi / p.encoder_counts
    most = p.continuous_Nm / np.abs(B).max(axis=1)
    return {
        "condition": np.linalg.cond(A / [1.0, 1.0, 0.5 * p.crank_m]),
        "force_x_N": most[:, 0], "force_y_N": most[:, 1], "torque_Nm": most[:, 2],
        "force_N": p.continuous_Nm / np.hypot(B[:, :, 0], B[:, :, 1]).max(axis=1),
        "resolution_x_m": finest[:, 0], "resolution_y_m": finest[:, 1], "resolution_rad": finest[:, 2],
    }  # fmt: skip


def points(p: Pantograph, poses: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Base joints (4, 2), elbows and end points (n, 4, 2)."""
    base = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [0.5 * p.base_m, p.offset_m]
    elbows = base + p.proximal_m * np.stack([np.cos(q), np.sin(q)], axis=2)
    u = 0.5 * p.crank_m * np.stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])], axis=1)
    ends = poses[:, None, :2] + np.array([-1, -1, 1, 1])[None, :, None] * u[:, None, :]
    return base, elbows, ends


def over_the_plane(
    model: PantographModel, cells: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Places x, y; the share of angles that can be taken at each, (y, x); and the worst of each measure over angles,
    NaN where not all can be taken."""
    p = model.pantograph
    reach = 1.05 * (p.proximal_m + p.distal_m - 0.5 * p.crank_m)
    high = 0.8 * max(p.distal_m, p.proximal_m)
    x, y = np.linspace(-reach, reach, cells) * 0.85, np.linspace(-high, high, cells)
    turn = 2.0 * math.pi / ANGLES * np.arange(ANGLES)
    Y, X, T = np.meshgrid(y, x, turn, indexing="ij")
    poses = np.stack([X.ravel(), Y.ravel(), T.ravel()], axis=1)
    inside = model.reaches(poses)
    share = inside.reshape(cells, cells, ANGLES).mean(axis=2)
    found = measures(model, poses[inside])
    maps = {}
    for name, values in found.items():
        worst = np.full(len(poses), np.nan)
        worst[inside] = values
        grid = worst.reshape(cells, cells, ANGLES)
        least = name.startswith(("force", "torque"))
        maps[name] = np.where(share == 1.0, (grid.min if least else grid.max)(axis=2), np.nan)
    return x, y, share, maps


def draw_mechanism(axes: Axes, model: PantographModel, x: np.ndarray, y: np.ndarray, share: np.ndarray) -> None:
    p, pose = model.pantograph, np.array([SHOWN])
    shade = axes.pcolormesh(
        x, y, np.where(share > 0.0, share, np.nan), cmap="Greens", vmin=0, vmax=1.6, shading="nearest"
    )
    base, elbows, ends = points(p, pose, model.angles(pose))
    for k, colour in enumerate((BLUE, BLUE, RED, RED)):
        axes.plot(*np.stack([base[k], elbows[0, k], ends[0, k]]).T, "-o", color=colour, lw=2.5, ms=4)
        axes.plot(*base[k], "s", color=colour, ms=8)
    axes.plot(*ends[0][[0, 2]].T, color="black", lw=4)
    axes.plot(*pose[0, :2], "o", color="black", ms=8)
    axes.text(0.02, 0.97, "dark: every angle\nlight: some angles", transform=axes.transAxes, va="top", fontsize=9)
    axes.set_title("the mechanism, and where it reaches")
    shade.set_rasterized(True)


def draw_map(axes: Axes, x: np.ndarray, y: np.ndarray, values: np.ndarray, title: str, levels: list[float]) -> None:
    filled = axes.contourf(x, y, values, levels=levels, cmap="viridis", extend="both")
    axes.contour(x, y, values, levels=levels, colors="white", linewidths=0.5)
    axes.figure.colorbar(filled, ax=axes, orientation="horizontal", fraction=0.06, pad=0.02, aspect=45)
    axes.set_title(title, fontsize=11)


def claim_reference(report: Report, model: PantographModel) -> None:
    """The figures of 1.1, as rounded there."""
    p = model.pantograph
    poses = p.border(17, 180)
    base, elbows, ends = points(p, poses, model.angles(poses))
    reach = np.linalg.norm(ends - base, axis=2)
    gap = np.linalg.norm(elbows[:, [0, 2]] - elbows[:, [1, 3]], axis=2)
    report.claim("shortest reach from a base joint", reach.min(), 0.1695, 0.1705, "m")
    report.claim("longest reach", reach.max(), 0.4135, 0.4145, "m")
    report.claim("widest gap between elbows", gap.max(), 0.4665, 0.4675, "m")
    found = measures(model, poses)
    report.claim("largest condition number", found["condition"].max(), 2.3235, 2.33)
    report.claim("median condition number", float(np.median(found["condition"])), 1.37, 1.47)
    corner = measures(model, np.array([[0.0, 0.06, 0.5 * math.pi], [0.0, -0.06, 0.5 * math.pi]]))["condition"]
    report.claim("condition at (0, 60 mm, 90 degrees)", corner.max(), 2.3235, 2.3245)
    for name, worst, centre, unit in (("force_x_N", 3.4, 4.7, "N"), ("force_y_N", 3.0, 4.0, "N"),
                                      ("torque_Nm", 0.1575, 0.185, "N m")):  # fmt: skip
        digit = 0.05 if unit == "N" else 0.001  # the worst torque is 0.158 in the reference, 0.157 on a finer grid
        at = measures(model, np.zeros((1, 3)))[name][0]
        report.claim(f"continuous {name[:-2].strip('_')}, worst", found[name].min(), worst - digit, worst + digit, unit)
        report.claim(f"continuous {name[:-2].strip('_')}, centre", at, centre - digit, centre + digit, unit)
    centre_found = measures(model, np.zeros((1, 3)))
    for name, given, scale, unit, digit in (("resolution_x_m", 0.023, 1e3, "mm", 0.0005),
                                            ("resolution_y_m", 0.031, 1e3, "mm", 0.0005),
                                            ("resolution_rad", 0.60, 1e3, "mrad", 0.005)):  # fmt: skip
        report.claim(f"{name.replace('_', ' ')} at the centre", scale * centre_found[name][0], given - digit,
                     given + digit, unit)  # fmt: skip


def claim_law(report: Report, model: PantographModel) -> None:
    """Of any mechanism: angles and poses are each other's inverse, and peak torque is enough for what is promised."""
    p = model.pantograph
    poses = p.border(7, 24)
    back = np.concatenate([model.poses(q, pose[2])[0] for q, pose in zip(model.angles(poses), poses, strict=True)])
    report.claim("pose from angles from pose, largest error", np.abs(back - poses).max(), high=1e-10, unit="m, rad")
    least = measures(model, poses)["force_N"].min() / p.continuous_Nm * p.peak_Nm
    turn = np.linspace(0.0, 2.0 * math.pi, len(poses))
    pushed = 0.999 * least * np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    report.claim("share of the peak force that motors make, least", model.torques(poses, pushed)[1].min(), low=1.0)


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Pantograph; the claims of the reference are made for its own."""
    whole = {f.name for f in fields(Pantograph) if f.type == "int"}
    p = Pantograph(**{k: int(v) if k in whole else v for k, v in options.items()})  # type: ignore[arg-type]
    model = PantographModel(p)
    x, y, share, maps = over_the_plane(model, 81)
    if p == Pantograph():
        claim_reference(report, model)
    claim_law(report, model)
    report.say(f"every angle in {1e4 * (share == 1.0).sum() * (x[1] - x[0]) * (y[1] - y[0]):.0f} cm^2 of the plane")
    figure = Figure(figsize=(15, 8), layout="constrained")
    panels = figure.subplots(2, 3)
    draw_mechanism(panels[0, 0], model, x, y, share)
    inner = {name: values[np.isfinite(values)] for name, values in maps.items()}
    for axes, name, scale, title in (
        (panels[0, 1], "condition", 1.0, "isotropy: condition number, worst angle"),
        (panels[0, 2], "force_N", 1.0, "continuous force, worst direction and angle [N]"),
        (panels[1, 0], "torque_Nm", 1.0, "continuous torque, worst angle [N m]"),
        (panels[1, 1], "resolution_y_m", 1e6, "resolution in y, worst angle [µm]"),
        (panels[1, 2], "resolution_rad", 1e3, "resolution of the angle, worst [mrad]"),
    ):
        low, high = np.percentile(scale * inner[name], [1, 92])
        draw_map(axes, x, y, scale * maps[name], title, list(MaxNLocator(8).tick_values(low, high)))
    for axes in panels.flat:
        box = (-p.half_width_m, -p.half_height_m), 2.0 * p.half_width_m, 2.0 * p.half_height_m
        axes.add_patch(Rectangle(*box, fill=False, ec="black", ls="--", lw=1.2))
        axes.set(aspect="equal", xlim=(x[0], x[-1]), xlabel="x [m]", ylabel="y [m]")
    every = share == 1.0
    across, up = 1.08 * np.abs(x[every.any(axis=0)]).max(), 1.15 * np.abs(y[every.any(axis=1)]).max()
    for axes in panels.flat[1:]:
        axes.set(xlim=(-across, across), ylim=(-up, up))
    report.values |= {"pantograph": asdict(p), "x_m": x.tolist(), "y_m": y.tolist(), "all_angles_share": share.tolist()}
    report.figure("planar-device", figure)


run.options = tuple(Pantograph.__dataclass_fields__)  # type: ignore[attr-defined]
