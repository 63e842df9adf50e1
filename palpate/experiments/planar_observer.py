"""The hand's force without a sensor: two observers on the planar device.  Planar haptics, 1.7; set-up of 10.1.

The device starts at rest under a soft spring and is pushed with (2 N, -1 N, 0.03 N m); encoders of 65 536 counts.  The
observers get joint angles and the torques that were given.  With N = s^2 + 2 zeta omega s + omega^2 they follow the
hand as

position   omega^2 / N
momentum   K_I / (s + K_I)  (2 zeta omega s + omega^2) / N: the second factor is that of the velocity, which is the same

Pitfall: the copy's own rate x2 is off by 2 zeta f / (M omega) while a hand pushes; its x1' is not.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.planar.control.loops import PUSH, Track, push_history, pushed_loop
from palpate.planar.control.observer import OBSERVERS, new_observer
from palpate.planar.pantograph.mechanism import Pantograph

COLOUR = {"position": "#1f5fa8", "momentum": "#e58a2b"}
TRUE, BIASED = "#333333", "#b02a2a"
OMEGA, GAIN = 150.0, 60.0
OMEGAS = np.array([20.0, 30.0, 45.0, 67.0, 100.0, 150.0, 200.0])
FREQUENCIES_HZ = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
NOISES_RAD = np.geomspace(1e-6, 1e-3, 7)  # rms on every joint's angle, beside the encoders' counts
SEED = 7


def rise_s(track: Track, k: int, begin_s: float) -> float:
    """From the push until the estimate is at 90 % of it."""
    return float(track.time_s[np.argmax(np.abs(track.felt[:, k]) >= 0.9 * abs(PUSH[k]))] - begin_s)


def pushed(way: str, seconds: float = 1.5, begin_s: float = 0.05, noise_rad: float = 0.0, **observer: Any) -> Track:
    """The push of 10.1."""
    loop, pushes = pushed_loop(way, observer=new_observer(way, **observer)), push_history(seconds, begin_s)
    noise = noise_rad * np.random.default_rng(SEED).normal(size=(len(pushes), 4)) if noise_rad else None
    return loop.observe(pushes, noise)


def response(way: str, frequency_hz: float) -> complex:
    """Estimate over truth for a small push to and fro in x, fine encoders."""
    fine = replace(Pantograph(), encoder_counts=2**26)
    seconds = max(2.0, 6.0 / frequency_hz)
    t = 2e-3 * np.arange(round(seconds / 2e-3))
    push = np.stack([0.5 * np.sin(2.0 * math.pi * frequency_hz * t), 0.0 * t, 0.0 * t], axis=1)
    loop = pushed_loop(way, pantograph=fine, start=(0.0, 0.0, 0.4), damping=(12.0, 12.0, 0.03))
    track = loop.observe(push)
    late = t >= t[-1] - 4.0 / frequency_hz
    waves = np.exp(2j * math.pi * frequency_hz * t[late])
    parts = np.stack([waves.real, waves.imag, np.ones(late.sum())], axis=1)
    a, b = (np.linalg.lstsq(parts, y[late], rcond=None)[0] for y in (track.felt[:, 0], push[:, 0]))
    return complex((a[0] - 1j * a[1]) / (b[0] - 1j * b[1]))


def law(way: str, frequency_hz: np.ndarray) -> np.ndarray:
    """What the header says, zeta = 1."""
    s = 2j * math.pi * frequency_hz
    N = s**2 + 2 * OMEGA * s + OMEGA**2
    return OMEGA**2 / N if way == "position" else GAIN / (s + GAIN) * (2 * OMEGA * s + OMEGA**2) / N


def draw_push(axes: Axes, found: dict[str, Track]) -> None:
    for way, track in found.items():
        for k, style in ((0, "-"), (1, "--")):
            axes.plot(track.time_s, track.felt[:, k], style, color=COLOUR[way], lw=1.2,
                      label=f"{way}, {'xy'[k]}")  # fmt: skip
    track = next(iter(found.values()))
    true = push_history(1.5)
    axes.plot(track.time_s, true[:, 0], color=TRUE, lw=0.9, drawstyle="steps-post", label="the hand")
    axes.plot(track.time_s, true[:, 1], "--", color=TRUE, lw=0.9, drawstyle="steps-post")
    axes.set(xlim=(0, 0.4), xlabel="time [s]", ylabel="force [N]", title="a push, and what is felt of it")
    axes.legend(fontsize=8, ncols=2, loc="center right")


def draw_velocity(axes: Axes, track: Track) -> None:
    axes.plot(track.time_s, 1e3 * track.copy_rate[:, 0], color=BIASED, lw=1.2, label="$\\hat x_2$, the copy's own rate")
    axes.plot(track.time_s, 1e3 * track.rate[:, 0], color=COLOUR["position"], lw=1.2, label="$\\hat v$, used")
    axes.plot(track.time_s, 1e3 * track.V[:, 0], color=TRUE, lw=1.0, label="true")
    axes.set(xlim=(0, 0.8), xlabel="time [s]", ylabel="velocity in x [mm/s]", title="the pitfall: a bias of 2ζf/(Mω)")
    axes.legend(fontsize=8)


def draw_response(axes: Axes, found: dict[str, np.ndarray]) -> None:
    f = np.geomspace(FREQUENCIES_HZ[0], FREQUENCIES_HZ[-1], 200)
    for way in OBSERVERS:
        axes.plot(f, np.abs(law(way, f)), color=COLOUR[way], lw=1.2, label=f"{way}: law")
        axes.plot(FREQUENCIES_HZ, np.abs(found[way]), "o", color=COLOUR[way], ms=5, label=f"{way}: measured")
    axes.set(xscale="log", xlabel="frequency of the push [Hz]", ylabel="felt / true", ylim=(0, 1.1),
             title="what is felt of a push to and fro")  # fmt: skip
    axes.set_xticks(FREQUENCIES_HZ, [f"{x:g}" for x in FREQUENCIES_HZ])
    axes.minorticks_off()
    axes.legend(fontsize=8)


def draw_trade(axes: Axes, rises: np.ndarray, ripples: np.ndarray, noisy: np.ndarray) -> None:
    axes.plot(1e3 * rises, ripples, "-o", color=COLOUR["position"], ms=5, label="position, encoders alone")
    axes.plot(1e3 * rises, noisy, "--o", color=COLOUR["position"], ms=4, mfc="white", label="with 0.1 mrad of noise")
    for k, omega in enumerate(OMEGAS):
        axes.annotate(f"{omega:g}", (1e3 * rises[k], ripples[k]), textcoords="offset points", xytext=(0, -13),
                      fontsize=8, color="#666666", ha="center")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="rise to 90 % [ms]", ylabel="ripple in x, rms [N]",
             title="faster is rougher: ω from 20 to 200 rad/s")  # fmt: skip
    axes.set_ylim(0.5 * ripples.min(), 2.0 * noisy.max())
    axes.set_xticks([20, 30, 50, 100, 200], ["20", "30", "50", "100", "200"])
    axes.minorticks_off()
    axes.legend(fontsize=8)


def claim_push(report: Report, way: str, track: Track) -> None:
    """Acceptance 8, and the values of section 10 of the reference."""
    felt = track.felt[track.time_s >= 0.3]
    for k, name in enumerate(("x", "y", "angle")):
        unit, most = ("N m", 0.004) if k == 2 else ("N", 0.08)
        report.claim(f"{way}: mean estimate over the push, {name}", felt[:, k].mean() / PUSH[k], 0.98, 1.02)
        report.claim(f"{way}: ripple, {name}, rms", felt[:, k].std(), high=most, unit=unit)
        report.claim(f"{way}: rise to 90 %, {name}", 1e3 * rise_s(track, k, 0.05), 20.0, 40.0, "ms")
    report.claim(f"{way}: largest closure residual", 1e3 * np.abs(track.residual).max(), high=0.2, unit="mm")


def claim_velocity(report: Report, track: Track) -> None:
    """Acceptance 9."""
    after = track.time_s >= 0.4
    true = track.V[after].mean(axis=0)
    for k, name in enumerate("xy"):
        report.claim(f"bias of the velocity used, {name}", 1e3 * (track.rate[after, k].mean() - true[k]), -2.0, 2.0,
                     "mm/s")  # fmt: skip
    report.claim("bias of the copy's own rate, x (reference -70)", 1e3 * (track.copy_rate[after, 0].mean() - true[0]),
                 high=-30.0, unit="mm/s")  # fmt: skip


def run(report: Report) -> None:
    found = {way: pushed(way) for way in OBSERVERS}
    for way, track in found.items():
        claim_push(report, way, track)
    biased = pushed("position", begin_s=0.0)
    claim_velocity(report, biased)
    responses = {way: np.array([response(way, f) for f in FREQUENCIES_HZ]) for way in OBSERVERS}
    lag = -np.angle(responses["position"][1]) / (2.0 * math.pi * FREQUENCIES_HZ[1])
    report.claim("position: lag of a slow push (2 zeta/omega = 13.3)", 1e3 * lag, 12.5, 15.5, "ms")
    for way in OBSERVERS:
        off = np.abs(np.abs(responses[way]) - np.abs(law(way, FREQUENCIES_HZ))).max()
        report.claim(f"{way}: gain off its law, largest up to 32 Hz", off, high=0.05)
    quick = [pushed("position", seconds=2.0, omega_rad_s=omega) for omega in OMEGAS]
    noisy = [pushed("position", seconds=2.0, omega_rad_s=omega, noise_rad=1e-4) for omega in OMEGAS]
    rises = np.array([rise_s(track, 0, 0.05) for track in quick])
    ripples, rough = (np.array([t.felt[t.time_s > 1.0, 0].std() for t in tracks]) for tracks in (quick, noisy))
    report.claim("omega tenfold: rise falls by", rises[0] / rises[-1], 5.0, 15.0)
    report.claim("omega tenfold: ripple grows by", ripples[-1] / ripples[0], low=5.0)
    noises = np.array([pushed("position", noise_rad=n).felt[500:, 0].std() for n in NOISES_RAD])
    report.claim("ten times the noise, ripple grows by", noises[-1] / noises[-3], 7.0, 13.0)
    report.claim("mean estimate with 0.1 mrad of noise, x", noisy[5].felt[noisy[5].time_s > 1.0, 0].mean() / PUSH[0],
                 0.98, 1.02)  # fmt: skip
    for way in OBSERVERS:
        mean = found[way].felt[found[way].time_s >= 0.3].mean(axis=0)
        report.say(f"{way}: felt ({mean[0]:.4f} N, {mean[1]:.4f} N, {mean[2]:.5f} N m) of {PUSH}")
    figure = Figure(figsize=(12.5, 8.5), layout="constrained")
    panels = figure.subplots(2, 2)
    draw_push(panels[0, 0], found)
    draw_velocity(panels[0, 1], biased)
    draw_response(panels[1, 0], responses)
    draw_trade(panels[1, 1], rises, ripples, rough)
    for axes in panels.flat:
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.values |= {
        "omega_rad_s": OMEGAS.tolist(), "rise_s": rises.tolist(), "ripple_N": ripples.tolist(),
        "noise_rad": NOISES_RAD.tolist(), "noisy_ripple_N": noises.tolist(), "frequency_hz": FREQUENCIES_HZ.tolist(),
        "gain": {way: np.abs(responses[way]).tolist() for way in OBSERVERS},
    }  # fmt: skip
    report.figure("planar-observer", figure)
