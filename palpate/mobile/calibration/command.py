"""`palpate calibrate FILE`: a table of what was found, and a folder with all of it."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from palpate.mobile.calibration.choice import Calibration, calibrate
from palpate.mobile.calibration.nonlinear import NAMES
from palpate.mobile.calibration.poses import Poses, read_poses
from palpate.mobile.geometry.chain import RULER, Chain
from palpate.printable import printable
from palpate.whole_files import write_whole, written_whole

OFFSETS = ("SRx", "SRy", "SRz", "RPx", "RPy", "RPz")
MODEL = {"linear": "offsets alone", "psi": "offsets and psi", "harmonics": "offsets, psi and harmonics"}


def calibrate_file(path: Path, out: Path | None, console: Console) -> Calibration:
    """Calibrate with the poses of a file, from the offsets that the thesis measured with a ruler."""
    poses = read_poses(path)
    found = calibrate(poses, RULER)
    show(console, found, RULER, poses, str(path))
    if out is not None:
        write(out, found, RULER)
        console.print(f"report.json and residuals.png in {printable(str(out))}", soft_wrap=True)
    return found


def show(console: Console, found: Calibration, start: Chain, poses: Poses, name: str) -> None:
    """What was chosen, how sure it is, and what it leaves."""
    console.print(f"{len(poses)} poses of {printable(name)}: {MODEL[found.model]}", soft_wrap=True)
    for note in found.notes:
        console.print(f"note: {printable(note)}", soft_wrap=True)
    console.print()
    for table in (offsets_table(found, start), estimates_table(found), residuals_table(found)):
        console.print(table)
        console.print()


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for k, column in enumerate(columns):
        table.add_column(column, justify="right" if k else "left")
    return table


def offsets_table(found: Calibration, start: Chain) -> Table:
    """The six offsets; each pair shares its correction."""
    table = _table("offset [mm]", "before", "calibrated")
    pairs = zip(OFFSETS, _offsets_mm(start), _offsets_mm(found.chain), strict=True)
    for name, before, after in pairs:
        table.add_row(name, f"{before:.2f}", f"{after:.2f}")
    return table


def estimates_table(found: Calibration) -> Table:
    """What poses tell: three combinations of the offsets, and the heading's error."""
    table = _table("estimate", "value", "sigma")
    names = ("u = SRx - RPy [mm]", "v = SRy - RPx [mm]", "h = SRz + RPz [mm]", *(f"{n} [deg]" for n in NAMES[3:]))
    for k, name in enumerate(names):
        if found.fit.free[k]:
            scale, places = (1e3, 2) if k < 3 else (180.0 / np.pi, 3)
            value, sigma = scale * found.fit.x[k], scale * found.fit.sigma[k]
            table.add_row(name, f"{value:.{places}f}", f"{sigma:.{places}f}")
    return table


def residuals_table(found: Calibration) -> Table:
    """Before, with each model, and how well each foretells what it has not seen; drop-outs count in none."""
    table = _table("error, rms [mm]", "x", "y", "z", "not seen")
    before = 1e3 * found.without_drop_outs(found.before).rms_m
    table.add_row("before", *(f"{x:.2f}" for x in before), "")
    for name, residuals in found.remaining.items():
        rms = 1e3 * found.without_drop_outs(residuals).rms_m
        mark = " *" if name == found.model else ""
        table.add_row(MODEL[name] + mark, *(f"{x:.2f}" for x in rms), f"{1e3 * found.held_out_m[name]:.2f}")
    return table


def _offsets_mm(chain: Chain) -> list[float]:
    return [1e3 * x for x in chain.sensor_to_robot_m + chain.robot_to_device_m]


def write(out: Path, found: Calibration, start: Chain) -> None:
    """report.json, residuals.png and residuals.svg."""
    from palpate.mobile.calibration.figures import residual_figure

    out.mkdir(parents=True, exist_ok=True)
    shown = {"before": found.before} | {MODEL[name]: found.remaining[name] for name in ("linear", found.model)}
    figure = residual_figure({name: found.without_drop_outs(residuals) for name, residuals in shown.items()})
    for suffix in ("png", "svg"):
        with written_whole(out / f"residuals.{suffix}", "wb") as file:
            figure.savefig(file, format=suffix, dpi=150, bbox_inches="tight")
    write_whole(out / "report.json", json.dumps(document(found, start), indent=2) + "\n")


def document(found: Calibration, start: Chain) -> dict[str, Any]:
    """All of it, as JSON takes it; SI units."""
    fit = found.fit
    return {
        "model": found.model,
        "notes": list(found.notes),
        "chain": vars(found.chain),
        "start": vars(start),
        "estimates": {
            name: {"value": float(fit.x[k]), "sigma": float(fit.sigma[k]), "unit": "m" if k < 3 else "rad"}
            for k, name in enumerate(NAMES) if fit.free[k]
        },
        "covariance": fit.covariance[np.ix_(fit.free, fit.free)].tolist(),
        "held_out_m": found.held_out_m,
        "drop_outs": [int(k) + 1 for k in found.drop_outs],
        "rms_m": {name: found.without_drop_outs(residuals).rms_m.tolist()
                  for name, residuals in {"before": found.before, **found.remaining}.items()},
        "residuals_m": {"before": found.before.error_m.tolist(), "after": found.after.error_m.tolist()},
        "heading_rad": found.after.heading_rad.tolist(),
        "hip_in_device_m": found.after.device_m.tolist(),
        "robot_on_floor_m": found.after.floor_m.tolist(),
        "versions": {"palpate": version("palpate"), "numpy": version("numpy")},
    }  # fmt: skip
