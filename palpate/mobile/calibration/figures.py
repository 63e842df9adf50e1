"""Residuals of a calibration, drawn: over the heading, over the HIP's place in the workspace, over the robot's place.

What a wrong model leaves has a pattern in one of them; what noise leaves has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from palpate.mobile.calibration.poses import Residuals

COLOURS = {"x": "#1f5fa8", "y": "#8a8a8a", "z": "#e58a2b"}
ARROW = "#333333"


def residual_figure(columns: Mapping[str, Residuals]) -> Figure:
    """One column for each set of residuals."""
    figure = Figure(figsize=(4.3 * len(columns), 12.0), layout=ConstrainedLayoutEngine(hspace=0.06))
    panels = figure.subplots(3, len(columns), squeeze=False)
    for k, (name, residuals) in enumerate(columns.items()):
        x, y, z = 1e3 * residuals.rms_m
        draw_over_heading(panels[0, k], residuals)
        panels[0, k].set_title(f"{name}\nrms {x:.1f}, {y:.1f}, {z:.1f} mm")
        draw_arrows(panels[1, k], 1e3 * residuals.device_m[:, [0, 2]], residuals.device_error_m[:, [0, 2]])
        panels[1, k].set(xlabel="HIP to the right [mm]", ylabel="HIP towards the person [mm]")
        draw_arrows(panels[2, k], residuals.floor_m, residuals.error_m[:, [0, 2]])
        panels[2, k].set(xlabel="robot X [m]", ylabel="robot Z [m]")
    for axes in panels.flat:
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    return figure


def draw_over_heading(axes: Axes, residuals: Residuals) -> None:
    """All three axes, over the heading that the tracker gave."""
    heading = np.degrees(np.remainder(residuals.heading_rad, 2.0 * np.pi))
    for k, (name, colour) in enumerate(COLOURS.items()):
        axes.plot(heading, 1e3 * residuals.error_m[:, k], ".", color=colour, ms=5, label=name)
    axes.set(xlabel="heading [deg]", ylabel="measured - computed [mm]", xlim=(0, 360), xticks=range(0, 361, 60))
    axes.margins(y=0.15)
    axes.legend(fontsize=8, ncols=3, loc="upper right")


def draw_arrows(axes: Axes, places: np.ndarray, error_m: np.ndarray) -> None:
    """Errors across the floor at places; how long an arrow is, is said in the corner."""
    largest = max(float(np.linalg.norm(1e3 * error_m, axis=1).max()), 1e-9)
    key = 10.0 ** math.floor(math.log10(largest))  # of 1, 2 or 5 times a power of ten, the largest below
    key *= max(k for k in (1.0, 2.0, 5.0) if k * key <= largest or k == 1.0)
    width = max(float(np.ptp(places[:, 0])), float(np.ptp(places[:, 1])), 1e-9)
    arrows = axes.quiver(*places.T, *(1e3 * error_m.T), color=ARROW, angles="xy", scale_units="width",
                         scale=7.0 * largest, width=0.004, pivot="tail")  # fmt: skip
    axes.quiverkey(arrows, 0.86, 1.03, key, f"{key:g} mm", labelpos="E", fontproperties={"size": 8})
    centre = 0.5 * (places.max(axis=0) + places.min(axis=0))
    axes.set(
        xlim=(centre[0] - 0.6 * width, centre[0] + 0.6 * width), ylim=(centre[1] - 0.6 * width, centre[1] + 0.6 * width)
    )
    axes.set_aspect("equal")
