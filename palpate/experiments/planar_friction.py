"""Frictions compared below break-away: drift, dither, unloading, a ramp, settling.  Reference on planar haptics 7.3.

A mass of 2 kg lies on four contacts of 5 N each with mu = 0.3, as the peg does: F_C = 6 N, F_S = 6.6 N.  It is pushed
with less than F_S, so a rigid body would not move: what moves is the model.

constant    0.8 F_S, reached in 1 s; drift between 2 and 12 s, deflection at the end
dither      (0.4 + 0.2 sin 2 pi t) F_S; drift from the mean over 2 to 3 s to that of the last of 22 s (the reference
            says 20 s, but its numbers are those of 22)
unloading   to 0.8 F_S in 1 s, held, back to 0 at 3 s: what is left at 6 s
ramp        1 N/s until it slips
settling    the reset integrator after its first return to stick, over its damping beta
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.planar.trials import Slid, slide

CONTACTS, NORMAL_N, MU = 4, 5.0, 0.3


class Model(NamedTuple):
    """A friction that is compared, and what the reference measured of it [mm]; None: no number."""

    label: str
    colour: str
    deflection: float | None
    constant: tuple[float, float]  # drift, bounds
    dither: tuple[float, float]
    residual: tuple[float, float]
    presliding: float | None  # at the first slip on the ramp


def _near(value: float, share: float = 0.03) -> tuple[float, float]:
    return value * (1.0 - share), value * (1.0 + share)


def _below(value: float) -> tuple[float, float]:
    return -value, value


MODELS = {
    "reset-integrator": Model("reset integrator", "#2a8a4a", 0.480, _below(1e-6), _below(1e-3), _below(5e-4), 0.60),
    "karnopp": Model("modified Karnopp", "#1f5fa8", 1.056, _below(1e-6), _below(1e-3), _below(5e-4), 1.32),
    "dahl": Model("Dahl, drift-free", "#e58a2b", 3.520, _below(0.05), _below(1e-3), _below(5e-4), 4.40),
    "finger-pad": Model("finger-pad", "#c2578f", 6.600, _below(0.01), _below(1e-3), _below(5e-4), 8.25),
    "classical": Model("classical", "#d9534f", None, _near(160.0, 0.01), _near(152.0, 0.01), _near(32.0), 66.0),
    "dahl-original": Model("Dahl, original", "#8a5a2b", 9.3, _near(0.27), _near(39.1), _near(6.4), None),
    "lugre": Model("LuGre", "#6a3d9a", 2.31, _below(0.005), _near(10.6), _near(1.54), None),
    "elasto-plastic": Model("elasto-plastic", "#4aa3c7", 1.09, _below(0.005), _below(1e-3), (0.03, 0.05), None),
}
FIVE = ("reset-integrator", "karnopp", "dahl", "finger-pad", "classical")  # that slip and stick by a rule
BETAS_NS_M = (50.0, 100.0, 150.0, 300.0, 600.0)  # of all contacts
SETTLING_MS = {50.0: 448.0, 100.0: 210.0, 150.0: 134.0, 300.0: 108.0, 600.0: 202.0}


@dataclass(frozen=True)
class Setup:
    """Mass, friction level and rate."""

    mass_kg: float = 2.0
    stiction: float = 0.1
    share: float = 0.8  # of break-away, of the constant push
    rate_hz: float = 500.0

    def __post_init__(self) -> None:
        for name in ("mass_kg", "stiction", "share", "rate_hz"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"planar-friction: {name} must be positive")
        if not self.share < 1.0:
            raise ValueError("planar-friction: share must be below 1: the push is to stay below break-away")

    @property
    def coulomb_N(self) -> float:
        return CONTACTS * MU * NORMAL_N

    @property
    def breakaway_N(self) -> float:
        return (1.0 + self.stiction) * self.coulomb_N

    def time_s(self, seconds: float) -> np.ndarray:
        """Of the samples, the last included."""
        return np.arange(round(seconds * self.rate_hz) + 1) / self.rate_hz


def pushed(setup: Setup, name: str, force_N: np.ndarray, **settings: float) -> Slid:
    """The mass on four contacts under a history of forces."""
    return slide(
        name, force_N, NORMAL_N, setup.mass_kg, 1.0 / setup.rate_hz, contacts=CONTACTS,
        settings={"mu": MU, "stiction": setup.stiction, **settings},
    )  # fmt: skip


@dataclass(frozen=True)
class Trials:
    """What one friction did in each of the tests."""

    constant: Slid
    dither: Slid
    unloading: Slid
    ramp: Slid
    ramp_N: np.ndarray

    @property
    def drift_mm(self) -> float:
        x, t = self.constant.x, self.constant.t
        return 1e3 * float(x[-1] - x[np.searchsorted(t, 2.0 - 1e-9)])

    @property
    def deflection_mm(self) -> float:
        return 1e3 * float(self.constant.x[-1])

    @property
    def dither_mm(self) -> float:
        x, t = self.dither.x, self.dither.t
        return 1e3 * float(x[t >= t[-1] - 1.0].mean() - x[(t >= 2.0) & (t < 3.0)].mean())

    @property
    def residual_mm(self) -> float:
        return 1e3 * float(self.unloading.x[-1])

    @property
    def breakaway(self) -> tuple[float, float]:
        """Force [N] and way [mm] at the first sample that slips."""
        k = int(np.argmax(self.ramp.slips > 0.5))
        return float(self.ramp_N[k]), 1e3 * float(self.ramp.x[k])


def trials(setup: Setup, name: str) -> Trials:
    F_S = setup.breakaway_N
    t = setup.time_s(12.0)
    constant = pushed(setup, name, setup.share * F_S * np.minimum(1.0, t))
    t = setup.time_s(22.0)
    dither = pushed(setup, name, (0.4 + 0.2 * np.sin(2.0 * math.pi * t)) * F_S * np.minimum(1.0, t))
    t = setup.time_s(6.0)
    unloading = pushed(setup, name, setup.share * F_S * np.clip(np.minimum(t, 3.0 - t), 0.0, 1.0))
    t = setup.time_s(1.1 * F_S)
    return Trials(constant, dither, unloading, pushed(setup, name, t), t)


def restuck(setup: Setup, beta_Ns_m: float) -> tuple[Slid, int]:
    """The first cycle of the peg's force on the reset integrator of this damping; the last sample of its first slip."""
    t = setup.time_s(2.5)
    run = pushed(setup, "reset-integrator", 6.8 * np.sin(0.5 * math.pi * t) ** 2, stick_Ns_m=beta_Ns_m / CONTACTS)
    back = np.flatnonzero((run.slips[:-1] > 0.5) & (run.slips[1:] < 0.5))
    return run, int(back[0]) if len(back) else -1


def settling_ms(setup: Setup, beta_Ns_m: float) -> float:
    """From the end of the first slip to the last |v| > 1 mm/s within half a second; NaN: it never returned."""
    run, back = restuck(setup, beta_Ns_m)
    if back < 0:
        return float("nan")
    moving = np.flatnonzero(np.abs(run.v[back : back + round(0.5 * setup.rate_hz)]) > 1e-3)
    return 1e3 * (moving[-1] if len(moving) else 0) / setup.rate_hz


# ---- claims


def claim_states(report: Report, setup: Setup, found: dict[str, Trials]) -> None:
    """What holds for any mass, level and rate."""
    creep = found["classical"].constant
    speed = float(creep.v[creep.t >= 2.0].mean())
    report.claim("classical: creep over v_s F/F_S", speed / (0.02 * setup.share), 0.99, 1.01)
    for name in FIVE:
        slips = found[name].ramp.slips
        report.claim(f"{MODELS[name].label}: sticks, then slips, on the ramp", slips.max() - slips[0], 1.0, 1.0)
    soft = min(found[name].deflection_mm for name in ("dahl", "finger-pad"))
    stiff = max(found[name].deflection_mm for name in ("reset-integrator", "karnopp"))
    report.claim("Dahl and finger-pad give in stick more than the others, times", soft / stiff, low=2.0)


def claim_reference(report: Report, setup: Setup, found: dict[str, Trials]) -> None:
    """The table of 7.3, and acceptance 29 to 33."""
    for name, model in MODELS.items():
        trial, label = found[name], model.label
        if model.deflection is not None:
            report.claim(f"{label}: deflection in stick", trial.deflection_mm, *_near(model.deflection, 0.02), "mm")
        report.claim(f"{label}: drift under a constant force", trial.drift_mm, *model.constant, "mm")
        report.claim(f"{label}: drift under dither", trial.dither_mm, *model.dither, "mm")
        report.claim(f"{label}: left after unloading", trial.residual_mm, *model.residual, "mm")
        if model.presliding is not None:
            force, way = trial.breakaway
            report.claim(f"{label}: break-away on the ramp", force, 6.60, 6.65, "N")
            report.claim(f"{label}: way until break-away", way, *_near(model.presliding, 0.01), "mm")
    settled = {beta: settling_ms(setup, beta) for beta in BETAS_NS_M}
    for beta, given in SETTLING_MS.items():
        report.claim(f"reset integrator, beta = {beta:g}: settling", settled[beta], *_near(given, 0.02), "ms")
    for slower, faster in ((50.0, 100.0), (100.0, 150.0), (150.0, 300.0), (600.0, 300.0)):
        report.claim(f"reset integrator: settling with beta = {slower:g} over that with {faster:g}",
                     settled[slower] / settled[faster], low=1.0)  # fmt: skip
    report.values["settling_ms"] = {f"{beta:g}": value for beta, value in settled.items()}


# ---- figure


def dashes(name: str) -> str:
    """Of a curve: the elasto-plastic one lies on Karnopp's for long."""
    return "--" if name == "elasto-plastic" else "-"


def draw_history(axes: Axes, found: dict[str, Trials], test: str, linear_mm: float, title: str) -> None:
    """Place over time of all; linear up to a limit, logarithmic above, as the classical one is far away."""
    for name, trial in found.items():
        run: Slid = getattr(trial, test)
        axes.plot(run.t, 1e3 * run.x, color=MODELS[name].colour, lw=1.4, ls=dashes(name))
    axes.set_yscale("symlog", linthresh=linear_mm, linscale=2.5)
    ticks = [0, 2, 4, 6, 8, 10, 30, 100, 200] if linear_mm == 10.0 else [0, 1, 2, 3, 4, 5, 10, 30]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.set(xlabel="time [s]", ylabel="place [mm]", title=title, xlim=(0.0, run.t[-1]))


def draw_ramp(axes: Axes, found: dict[str, Trials]) -> None:
    """Friction over the way: how stiff each is in stick, and where it breaks away."""
    for name, trial in found.items():
        upto = np.searchsorted(trial.ramp.x, 0.0245)
        x, f = 1e3 * trial.ramp.x[:upto], trial.ramp.friction[:upto]
        axes.plot(x, f, color=MODELS[name].colour, lw=1.4, ls=dashes(name), label=MODELS[name].label)
        if name in FIVE and trial.breakaway[1] < 24.0:
            axes.plot(trial.breakaway[1], trial.breakaway[0], "o", color=MODELS[name].colour, ms=5)
    axes.axhline(6.6, color="#777777", lw=0.8, ls="--")
    axes.text(12.5, 6.68, "break-away", ha="center", fontsize=8, color="#555555")
    axes.axhline(6.0, color="#777777", lw=0.8, ls=":")
    axes.text(23.8, 5.75, "Coulomb", ha="right", fontsize=8, color="#555555")
    axes.set(
        xlim=(0, 24), ylim=(0, 7.2), xlabel="way [mm]", ylabel="friction [N]", title="ramp of 1 N/s; dots: it slips"
    )
    axes.legend(fontsize=8, loc="lower right")


def draw_settling(axes: Axes, setup: Setup) -> None:
    shades = ("#bcd9f0", "#7db3de", "#4389c7", "#1f5fa8", "#0b2f5c")
    for beta, colour in zip(BETAS_NS_M, shades, strict=True):
        run, back = restuck(setup, beta)
        part = slice(back - 10, back + 200)
        axes.plot(1e3 * (run.t[part] - run.t[back]), 1e3 * run.v[part], color=colour, lw=1.5,
                  label=f"β = {beta:g}: {settling_ms(setup, beta):.0f} ms")  # fmt: skip
    axes.axhspan(-1.0, 1.0, color="#e8e8e8", lw=0)
    axes.set(xlabel="time since the return to stick [ms]", ylabel="speed [mm/s]", ylim=(-16, 16), xlim=(-20, 400),
             title="reset integrator after a slip, over β [N s/m]")  # fmt: skip
    axes.legend(fontsize=8)


def draw_bars(axes: Axes, found: dict[str, Trials]) -> None:
    """The three that should be zero, on a logarithmic axis."""
    rows, height = np.arange(len(found)), 0.26
    for k, (what, shade) in enumerate((("drift_mm", 1.0), ("dither_mm", 0.65), ("residual_mm", 0.35))):
        values = [max(abs(getattr(trial, what)), 1e-7) for trial in found.values()]
        for row, value, name in zip(rows, values, found, strict=True):
            axes.barh(row + (k - 1) * height, value, height, left=0.0, color=MODELS[name].colour, alpha=shade)
    axes.axvspan(1e-7, 1e-3, color="#e8f3e8", lw=0, zorder=0)
    axes.text(1.3e-7, -0.72, "nothing to feel", fontsize=8, color="#2a6a3a")
    axes.set_yticks(rows, [MODELS[name].label for name in found])
    axes.set(xscale="log", xlim=(1e-7, 1e3), ylim=(len(found) - 0.5, -1.0), xlabel="[mm]",
             title="drift, dither, left after unloading (dark to light)")  # fmt: skip


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup; the reference's table is claimed for its own."""
    setup = Setup(**options)  # type: ignore[arg-type]
    found = {name: trials(setup, name) for name in MODELS}
    for name, trial in found.items():
        report.say(f"{MODELS[name].label}: gives {trial.deflection_mm:.3f} mm, drifts {trial.drift_mm:.3f} mm, "
                   f"{trial.dither_mm:.3f} mm under dither, {trial.residual_mm:.3f} mm left")  # fmt: skip
    claim_states(report, setup, found)
    if setup == Setup():
        claim_reference(report, setup, found)
    report.values |= {"setup": asdict(setup), "seed": None} | {
        name: {"deflection_mm": t.deflection_mm, "drift_mm": t.drift_mm, "dither_mm": t.dither_mm,
               "residual_mm": t.residual_mm, "breakaway_N_mm": t.breakaway} for name, t in found.items()
    }  # fmt: skip
    figure = Figure(figsize=(14.0, 8.4), layout="constrained")
    (constant, dither, unloading), (ramp, settling, bars) = figure.subplots(2, 3)
    draw_history(constant, found, "constant", 10.0, f"constant, {setup.share:g} of break-away")
    draw_history(dither, found, "dither", 10.0, "dither, 0.2 to 0.6 of break-away at 1 Hz")
    draw_history(unloading, found, "unloading", 5.0, "loaded for 2 s, unloaded at 3 s")
    draw_ramp(ramp, found)
    draw_settling(settling, setup)
    draw_bars(bars, found)
    for axes in (constant, dither, unloading, ramp, settling, bars):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.figure("planar-friction", figure)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
