"""Figures of docs/planar.md, drawn by figures.py from what the same lines of that page compute."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from palpate.planar.control.loops import four_channel_loop, four_channel_path, push_history, pushed_loop
from palpate.planar.pantograph.facade import PantographModel
from palpate.planar.pantograph.mechanism import Pantograph
from palpate.planar.trials import press, slide

BLUE, ORANGE, GREEN, RED, GREY = "#2f5bea", "#e2762b", "#1f9d8a", "#c2418c", "#70767c"


def plain(axes: Axes, **words: object) -> None:
    """Labels, and no frame."""
    axes.set(**words)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


def draw_mechanism(axes: Axes, X: np.ndarray, labels: bool) -> None:
    """Links, crank and handle at a pose."""
    device, model = Pantograph(), PantographModel()
    bases = np.array([(-0.5, -1), (0.5, -1), (0.5, 1), (-0.5, 1)]) * (device.base_m, device.offset_m)
    q = model.angles(X)[0]
    elbows = bases + device.proximal_m * np.stack([np.cos(q), np.sin(q)], axis=1)
    half = 0.5 * device.crank_m * np.array([math.cos(X[2]), math.sin(X[2])])
    ends = X[:2] + np.array([-half, -half, half, half])
    for i, color in enumerate((BLUE, BLUE, ORANGE, ORANGE)):
        axes.plot(*np.array([bases[i], elbows[i], ends[i]]).T, color=color, lw=3.5, solid_capstyle="round")
        axes.plot(*elbows[i], "o", color="white", mec=color, ms=5)
        axes.plot(*bases[i], "o", color="#202428", ms=8)
        if labels:
            away = (0, -15 if bases[i, 1] < 0 else 8)
            axes.annotate(f"{i + 1}", bases[i], away, textcoords="offset points", ha="center")
    axes.plot(*np.array([ends[0], ends[2]]).T, color="#202428", lw=5, solid_capstyle="round")
    axes.plot(*X[:2], "o", color="white", mec="#202428", ms=9)
    if labels:
        axes.annotate("$P_A$", ends[0], (-12, 8), textcoords="offset points")
        axes.annotate("$P_B$", ends[2], (7, 6), textcoords="offset points")
    width, height = 2.0 * device.half_width_m, 2.0 * device.half_height_m
    axes.add_patch(Rectangle((-0.5 * width, -0.5 * height), width, height, fill=False, ec=GREY, ls=":"))
    axes.set(aspect="equal", xlim=(-0.32, 0.32), ylim=(-0.34, 0.34))
    axes.set_axis_off()


def mechanism() -> Figure:
    figure = Figure(figsize=(8.4, 3.2), layout="constrained")
    poses = ([0.03, -0.02, 0.7], [-0.06, 0.04, 2.4], [0.06, 0.05, -1.2])
    for k, (axes, X) in enumerate(zip(figure.subplots(1, 3), poses, strict=True)):
        draw_mechanism(axes, np.array(X), k == 0)
    return figure


def observer() -> Figure:
    run = pushed_loop().observe(push_history(0.4))
    figure = Figure(figsize=(8.4, 2.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(run.time_s, run.hand[:, 0], color=GREY, lw=3, alpha=0.6, label="true")
    left.plot(run.time_s, run.felt[:, 0], color=BLUE, label="felt")
    plain(left, xlabel="t [s]", ylabel="hand's force in x [N]")
    right.plot(run.time_s, 1e3 * run.V[:, 0], color=GREY, lw=3, alpha=0.6, label="true")
    right.plot(run.time_s, 1e3 * run.rate[:, 0], color=BLUE, label=r"$\hat v$")
    right.plot(run.time_s, 1e3 * run.copy_rate[:, 0], color=ORANGE, label=r"$\hat x_2$, biased")
    plain(right, xlabel="t [s]", ylabel="velocity in x [mm/s]")
    for axes in (left, right):
        axes.legend(fontsize=8, frameon=False)
    return figure


def channels() -> Figure:
    figure = Figure(figsize=(8.4, 2.6), layout="constrained")
    modes = {"position": "two channels: positions", "position-force": "four: positions and forces"}
    for axes, (mode, words) in zip(figure.subplots(1, 2, sharey=True), modes.items(), strict=True):
        run = four_channel_loop(mode).couple(four_channel_path())
        axes.plot(run.time_s, 1e3 * run.X[:, 0], color=BLUE, label="device")
        axes.plot(run.time_s, 1e3 * run.body[:, 0], color=ORANGE, ls="--", label="block")
        axes.axhline(5.0, color=GREY, lw=1)
        axes.text(1.8, 4.4, "wall", ha="right", va="top", fontsize=8, color=GREY)
        plain(axes, xlabel="t [s]", title=words)
        axes.title.set_fontsize(9)
    figure.axes[0].set_ylabel("x [mm]")
    figure.axes[0].legend(fontsize=8, frameon=False, loc="lower right")
    return figure


def walls() -> Figure:
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    kinds = (("zoh", {}, RED), ("pi", {"integral_N_ms": 10_000.0}, ORANGE), ("seh", {}, BLUE),
             ("hysteretic", {}, GREEN), ("pulse", {}, "#202428"))  # fmt: skip
    whole, near = figure.subplots(1, 2)
    for name, settings, color in kinds:
        drop = press(name, wall_settings=settings, contacts=2, seconds=3.0)
        whole.plot(drop.t, 1e3 * drop.x, color=color, lw=1.2, label=name)
        near.plot(drop.t, 1e3 * drop.x, color=color, lw=1.2)
    plain(whole, xlabel="t [s]", ylabel="block above the wall [mm]", ylim=(-12, 110))
    plain(near, xlabel="t [s]", xlim=(0.05, 0.35), ylim=(-16, 6))
    near.axhline(0.0, color=GREY, lw=1)
    whole.legend(fontsize=8, frameon=False, loc="upper left")
    return figure


def friction() -> Figure:
    t = 2e-3 * np.arange(10_000)
    figure = Figure(figsize=(8.4, 3.0), layout="constrained")
    axes = figure.subplots()
    for name, color in (("classical", RED), ("finger-pad", ORANGE), ("reset-integrator", BLUE), ("karnopp", "#202428"),
                        ("dahl", GREEN)):  # fmt: skip
        run = slide(name, 6.8 * np.sin(np.pi * t / 2.0) ** 2, normal_N=5.0, mass_kg=2.0, contacts=4, x_m=0.10)
        axes.plot(run.t, run.x, color=color, lw=1.4, label=name)
    plain(axes, xlabel="t [s]", ylabel="peg [m]")
    axes.legend(fontsize=8, frameon=False)
    return figure


FIGURES = {"mechanism": mechanism, "observer": observer, "channels": channels, "walls": walls, "friction": friction}
