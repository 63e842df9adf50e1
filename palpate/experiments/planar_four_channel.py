"""A hand leads a body onto a wall through the planar device.  Planar haptics, 1.9; set-up of 10.1.

The hand takes the device from x = -20 to 40 mm in half a second, with y and angle to and fro; the body, 0.35 kg, meets
a wall at x = 20 mm with two vertices (2000 N/m and 4 N s/m in all).  The coupling is one of

position-force   four channels: positions and forces both ways; device and body stay together
force            forces alone, as the published system has it: nothing pulls device and body together again
position         two channels, the baseline: what the hand feels of the wall is how far both are apart

No force sensor: the hand's force is the observer's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.planar.control.channels import MODES, new_channels
from palpate.planar.control.loops import Track, four_channel_loop, four_channel_path

COLOUR = {"position-force": "#1f5fa8", "force": "#2a8a4a", "position": "#d9534f"}
NAME = {"position-force": "position and force", "force": "force alone", "position": "two channels"}
WALLS_N_M = np.geomspace(200.0, 8000.0, 12)
OMEGAS = np.array([10.0, 20.0, 30.0, 40.0, 55.0])
WALL_M, END_S = 0.02 - 0.015, 1.4


def coupled(mode: str, **changed: Any) -> Track:
    return four_channel_loop(mode, **changed).couple(four_channel_path())


def apart(track: Track) -> float:
    """Between device and body in x at the end [m]."""
    return float((track.X - track.body)[track.time_s >= END_S, 0].mean())


def largest_apart(track: Track) -> float:
    """Between device and body in x towards the end, at most [m]."""
    return float(np.abs((track.X - track.body)[track.time_s >= END_S, 0]).max())


def draw_paths(axes: Axes, found: dict[str, Track]) -> None:
    axes.axhspan(1e3 * WALL_M, 40, color="#888888", alpha=0.18, lw=0)
    axes.text(0.03, 1e3 * WALL_M + 1.0, "wall", fontsize=9, color="#555555")
    for mode, track in found.items():
        axes.plot(track.time_s, 1e3 * track.X[:, 0], color=COLOUR[mode], lw=1.8, label=f"{NAME[mode]}: device")
        axes.plot(track.time_s, 1e3 * track.body[:, 0], ":", color=COLOUR[mode], lw=2.0, label="body")
    axes.set(xlim=(0, 1.8), ylim=(-22, 36), xlabel="time [s]", ylabel="x [mm]",
             title="a hand leads device and body to a wall")  # fmt: skip
    axes.legend(fontsize=8, ncols=3, loc="lower right")


def draw_apart(axes: Axes, found: dict[str, Track]) -> None:
    for mode, track in found.items():
        error = np.linalg.norm((track.X - track.body)[:, :2], axis=1)
        axes.semilogy(track.time_s, 1e3 * np.maximum(error, 1e-7), color=COLOUR[mode], lw=1.2, label=NAME[mode])
    axes.axhline(1.0, color="#777777", lw=0.8, ls="--")
    axes.set(xlim=(0, 1.8), ylim=(1e-3, 60), xlabel="time [s]", ylabel="between device and body [mm]",
             title="how far they are apart")  # fmt: skip
    axes.legend(fontsize=8)


def draw_forces(axes: Axes, found: dict[str, Track]) -> None:
    for mode, track in found.items():
        axes.plot(track.time_s, track.hand[:, 0], color=COLOUR[mode], lw=1.6, label=f"{NAME[mode]}: hand")
        axes.plot(track.time_s, -track.wall[:, 0], ":", color=COLOUR[mode], lw=1.8, label="wall")
    axes.set(xlim=(0, 1.8), xlabel="time [s]", ylabel="force in x [N]", title="what the hand and the wall push with")
    axes.legend(fontsize=8, ncols=2)


def draw_walls(axes: Axes, errors: dict[str, np.ndarray]) -> None:
    for mode, values in errors.items():
        axes.loglog(WALLS_N_M, 1e3 * values, "-o", ms=4, color=COLOUR[mode], label=NAME[mode])
    axes.set(xlabel="stiffness of the wall [N/m]", ylabel="apart at the end, at most [mm]", ylim=(1e-3, 100),
             title="the error of position and force does not know the wall")  # fmt: skip
    axes.set_xticks([200, 500, 1000, 2000, 5000], ["200", "500", "1000", "2000", "5000"])
    axes.minorticks_off()
    axes.legend(fontsize=8)


def claim_modes(report: Report, found: dict[str, Track]) -> None:
    """Acceptance 10, and the values of section 10 of the reference."""
    track = found["position-force"]
    after, end = track.time_s > 0.1, track.time_s >= END_S
    error = np.abs(track.X - track.body)
    report.claim("position and force: largest distance after 0.1 s (reference 0.51)", 1e3 * error[after, :2].max(),
                 high=1.0, unit="mm")  # fmt: skip
    report.claim("position and force: distance at the end (reference 0.001)", 1e3 * abs(apart(track)), high=0.05,
                 unit="mm")  # fmt: skip
    hand, wall = track.hand[end, 0].mean(), track.wall[end, 0].mean()
    report.claim("position and force: force of the hand at the end (reference 4.884)", hand, 4.88, 4.89, "N")
    report.claim("position and force: |hand + wall| over the wall's", abs((hand + wall) / wall), high=0.02)
    report.claim(
        "position and force: largest torque of a motor (reference 0.40)", track.torque.max(), 0.39, 0.41, "N m"
    )
    report.claim("two channels: distance at the end (reference 11.6)", 1e3 * abs(apart(found["position"])), 11.5, 11.7,
                 "mm")  # fmt: skip
    report.claim("two channels: distance at the end, at least", 1e3 * abs(apart(found["position"])), low=5.0, unit="mm")
    alone = found["force"]
    report.claim("force alone: distance at the end", 1e3 * abs(apart(alone)), low=5.0, unit="mm")
    hand, wall = alone.hand[end, 0].mean(), alone.wall[end, 0].mean()
    report.claim("force alone: |hand + wall| over the wall's", abs((hand + wall) / wall), high=0.02)
    report.claim("faults in any", sum(t.fault.max() for t in found.values()), high=0)


def run(report: Report) -> None:
    found = {mode: coupled(mode) for mode in ("position-force", "force", "position")}
    assert set(found) == set(MODES)
    claim_modes(report, found)
    biased = coupled("position-force", biased=True)
    report.claim("with the copy's own rate as velocity: distance at the end (reference 7.4)", 1e3 * abs(apart(biased)),
                 7.2, 7.6, "mm")  # fmt: skip
    errors = {
        mode: np.array([largest_apart(coupled(mode, wall_K=K)) for K in WALLS_N_M])
        for mode in ("position-force", "position")
    }
    report.claim("position and force: distance at the end, at most, any wall", 1e3 * errors["position-force"].max(),
                 high=0.05, unit="mm")  # fmt: skip
    two = errors["position"]
    report.claim("two channels: distance grows with the wall's stiffness, least step", 1e3 * np.diff(two).min(), 0.0,
                 unit="mm")  # fmt: skip
    momentum = four_channel_loop(way="momentum").couple(four_channel_path())
    report.claim("momentum observer: largest distance after 0.1 s", 1e3 * np.abs(
        momentum.X - momentum.body)[momentum.time_s > 0.1, :2].max(), high=1.0, unit="mm")  # fmt: skip
    stiffer = [apart(coupled("position", channels=new_channels("position", omega_rad_s=w))) for w in OMEGAS]
    report.claim(
        "two channels: distance falls with their stiffness, in all steps", np.diff(np.abs(stiffer)).max(), high=0
    )
    for mode, track in found.items():
        report.say(f"{NAME[mode]}: {1e3 * apart(track):.3f} mm apart at the end, hand {track.hand[-1, 0]:.3f} N")
    figure = Figure(figsize=(13, 8.6), layout="constrained")
    panels = figure.subplots(2, 2)
    draw_paths(panels[0, 0], found)
    draw_apart(panels[0, 1], found)
    draw_forces(panels[1, 0], found)
    draw_walls(panels[1, 1], errors)
    for axes in panels.flat:
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.values |= {
        "wall_N_m": WALLS_N_M.tolist(), "apart_m": {mode: values.tolist() for mode, values in errors.items()},
        "omega_rad_s": OMEGAS.tolist(), "two_channels_apart_m": [float(value) for value in stiffer],
    }  # fmt: skip
    report.figure("planar-four-channel", figure)
