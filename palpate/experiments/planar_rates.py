"""What the sample rate does to each wall, from 250 Hz to 4 kHz.  Reference on planar haptics 6 and 8.5.

Three questions, each with the same walls as in planar-walls:

bounce     the drop of 6.3 at each rate: how much energy a bounce creates or loses
Z-width    a device of 0.35 kg, 0.5 N s/m, encoder of 20 um, let go 5 mm before a wall with B = 5 N s/m on the raw
           difference and pushed with 2 N: the stiffest wall that settles in 5 s.  It grows with the rate, as published
           (J. Colgate and J. Brown 1994)
cut-off    a strongly damped wall whose velocity is low-passed: a low cut-off is late, none lets the encoder's steps
           through; between them is a best one
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments import planar_walls
from palpate.experiments.planar_walls import WALLS
from palpate.experiments.report import Report
from palpate.planar.trials import press

RATES_HZ = (250.0, 500.0, 1000.0, 2000.0, 4000.0)
BOUNCING = ("ZOH", "SEH", "PI strong, SEH", "PI strong, ZOH", "hysteretic E")
WIDE = {"ZOH": "zoh", "SEH": "seh", "hysteretic D": "hysteretic", "pulse e = 0": "pulse"}
UNDAMPED = "ZOH, B = 0"
STIFFNESS_N_M = np.geomspace(50.0, 200_000.0, 50)
CUT_OFFS_HZ = (10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0, math.inf)


@dataclass(frozen=True)
class Setup:
    """Device and protocol of the Z-width."""

    mass_kg: float = 0.35
    device_Ns_m: float = 0.5
    damping_Ns_m: float = 5.0  # B of the walls
    strong_Ns_m: float = 320.0  # B of the wall with the filter
    filter_rate_hz: float = 2000.0
    encoder_m: float = 20e-6
    push_N: float = 2.0
    gap_m: float = 5e-3
    seconds: float = 5.0

    def __post_init__(self) -> None:
        for name in ("mass_kg", "device_Ns_m", "filter_rate_hz", "push_N", "gap_m"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"planar-rates: {name} must be positive")
        for name in ("damping_Ns_m", "strong_Ns_m", "encoder_m"):
            if not getattr(self, name) >= 0.0:
                raise ValueError(f"planar-rates: {name} must not be negative")
        if not self.seconds >= 2.0:
            raise ValueError("planar-rates: seconds must be at least 2: the last one is judged")


def settles(setup: Setup, law: str, rate_hz: float, K: float, B: float, cut_off_hz: float) -> bool:
    """In the last second contact is never lost and the motion is below half the penetration and five encoder steps."""
    x = press(
        law, wall_settings={"stiffness_N_m": K, "damping_Ns_m": B}, push_N=setup.push_N, gap_m=setup.gap_m,
        mass_kg=setup.mass_kg, damping_Ns_m=setup.device_Ns_m, dt_s=1.0 / rate_hz, seconds=setup.seconds,
        encoder_m=setup.encoder_m, velocity_hz=cut_off_hz,
    ).x[-round(rate_hz) :]  # fmt: skip
    return bool(x.max() < 0.0 and np.ptp(x) < 0.5 * abs(x.mean()) + 5.0 * setup.encoder_m)


def stiffest(setup: Setup, law: str, rate_hz: float, B: float, cut_off_hz: float = math.inf) -> float:
    """The last K [N/m] that settles before the first that does not; 0: none does."""
    last = 0.0
    for K in STIFFNESS_N_M:
        if not settles(setup, law, rate_hz, K, B, cut_off_hz):
            break
        last = float(K)
    return last


def bounces() -> tuple[dict[str, np.ndarray], float]:
    """Mean apex ratio of each wall at each rate, in the drop of 6.3 from a few gaps; the worst of the energy audit."""
    ratios: dict[str, np.ndarray] = {}
    worst = 0.0
    for name in BOUNCING:
        row = []
        for rate in RATES_HZ:
            drop = planar_walls.Setup(rate_hz=rate)
            runs = [planar_walls.drop(WALLS[name], drop, gap, 2.0) for gap in (0.016, 0.019, 0.022, 0.025)]
            worst = max(worst, *(run.audit["worst"] for run in runs))
            row.append(np.mean(np.concatenate([run.ratios for run in runs])))
        ratios[name] = np.array(row)
    return ratios, worst


# ---- claims


def claim_bounces(report: Report, ratios: dict[str, np.ndarray]) -> None:
    zoh, seh, strong = ratios["ZOH"], ratios["SEH"], ratios["PI strong, SEH"]
    halved = (zoh[1:] - 1.0) / (zoh[:-1] - 1.0)
    report.claim("ZOH: energy that a bounce creates, over that at half the rate, least", halved.min(), low=0.3)
    report.claim("ZOH: energy that a bounce creates, over that at half the rate, most", halved.max(), high=0.7)
    report.claim("ZOH: apex ratio at 4 kHz: still active", zoh[-1], low=1.005)
    report.claim("SEH: apex ratio, highest over the rates", seh.max(), high=1.0)
    report.claim("SEH: apex ratio at 4 kHz: lossless", seh[-1], low=0.999)
    report.claim("PI strong on SEH: apex ratio at 4 kHz: active in continuous time too", strong[-1], low=1.10)
    report.claim("hysteretic E: apex ratio, highest over the rates", ratios["hysteretic E"].max(), high=0.6)


def claim_widths(report: Report, widths: dict[str, np.ndarray]) -> None:
    """Z-width grows with the rate."""
    grid = STIFFNESS_N_M[1] / STIFFNESS_N_M[0]
    for name, K in widths.items():
        report.claim(f"{name}: stiffest wall at 4 kHz over that at 250 Hz", K[-1] / K[0], low=3.0)
        report.claim(f"{name}: stiffest wall over that at half the rate, least", (K[1:] / K[:-1]).min(), low=1.0 / grid)
    for name in (UNDAMPED, "ZOH"):
        grows = widths[name][1:] / widths[name][:-1]
        report.claim(f"{name}: grows with every doubling of the rate, least", grows.min(), low=1.3)
    report.claim("at 500 Hz SEH shows stiffer walls than ZOH, times", widths["SEH"][1] / widths["ZOH"][1], low=3.0)


def claim_cut_off(report: Report, by_cut_off: np.ndarray, plain: np.ndarray) -> None:
    """With an encoder the best cut-off is neither the lowest nor none; without one no filter is best."""
    best = int(np.argmax(by_cut_off))
    report.claim("best cut-off", CUT_OFFS_HZ[best], 20.0, 1280.0, "Hz")
    report.claim(
        "stiffest wall at the best cut-off over that without filter", by_cut_off[best] / by_cut_off[-1], low=2.0
    )
    report.claim("stiffest wall at the best cut-off over that at 20 Hz", by_cut_off[best] / max(by_cut_off[1], 50.0),
                 low=2.0)  # fmt: skip
    report.claim("without encoder steps: raw over the best filtered", plain[-1] / plain[:-1].max(), low=1.0)


# ---- figure


def rate_axis(axes: Axes) -> None:
    axes.set(xscale="log", xlabel="sample rate [Hz]")
    axes.set_xticks(RATES_HZ, [f"{rate:g}" for rate in RATES_HZ])
    axes.minorticks_off()
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def draw_bounces(axes: Axes, ratios: dict[str, np.ndarray]) -> None:
    for name, row in ratios.items():
        axes.plot(RATES_HZ, row, "o-", color=WALLS[name].colour, label=name, ms=5)
    axes.axhline(1.0, color="black", lw=1)
    axes.set(
        ylabel="apex of a flight over the one before", ylim=(0.0, None), title="a bounce: what it creates or loses"
    )
    axes.legend(fontsize=8)


def draw_widths(axes: Axes, widths: dict[str, np.ndarray], setup: Setup) -> None:
    for name, K in widths.items():
        colour, style = (WALLS["ZOH"].colour, "s:") if name == UNDAMPED else (WALLS[name].colour, "o-")
        over = name.startswith("pulse")  # it lies on SEH
        axes.plot(RATES_HZ, K, "o--" if over else style, color=colour, label=name, ms=3 if over else 6)
    rates = np.array(RATES_HZ)
    axes.plot(rates, 2.0 * setup.device_Ns_m * rates, ":", color="#777777", lw=1.2, label="2 b / T")
    axes.plot(rates, 2.0 * (setup.device_Ns_m + setup.damping_Ns_m) * rates, "--", color="#777777", lw=1.2,
              label="2 (b + B) / T")  # fmt: skip
    top = STIFFNESS_N_M[-1]
    axes.axhspan(top, 1.6 * top, color="#eeeeee", lw=0)
    axes.text(RATES_HZ[0], 1.2 * top, "stiffer was not tried", fontsize=8, color="#555555", va="center")
    axes.set(yscale="log", ylabel="stiffest wall that settles [N/m]", ylim=(50, 1.6 * top),
             title=f"Z-width, B = {setup.damping_Ns_m:g} N s/m, raw velocity")  # fmt: skip
    axes.legend(fontsize=8, loc="lower right", ncols=2)


def draw_cut_off(axes: Axes, found: np.ndarray, plain: np.ndarray, setup: Setup) -> None:
    at = np.r_[CUT_OFFS_HZ[:-1], 2560.0]
    for K, style, label in (
        (found, "o-", f"encoder of {1e6 * setup.encoder_m:g} µm"), (plain, "s--", "no encoder steps"),
    ):  # fmt: skip
        axes.plot(at, np.maximum(K, 50.0), style, color="#1f5fa8" if style == "o-" else "#999999", label=label, ms=5)
    axes.set(xscale="log", yscale="log", xlabel="cut-off of the velocity filter [Hz]", ylim=(25, 3e5),
             ylabel="stiffest wall that settles [N/m]",
             title=f"ZOH with B = {setup.strong_Ns_m:g} N s/m at {setup.filter_rate_hz:g} Hz")  # fmt: skip
    axes.text(at[0], 31.0, "none settles", fontsize=8, color="#555555")
    axes.set_xticks(at, [f"{x:g}" if math.isfinite(x) else "none" for x in CUT_OFFS_HZ])
    axes.minorticks_off()
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, loc="lower right")


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup."""
    setup = Setup(**options)  # type: ignore[arg-type]
    ratios, worst = bounces()
    report.claim("energy audit: worst of invariant 1", worst, high=1e-9)
    claim_bounces(report, ratios)
    widths = {UNDAMPED: np.array([stiffest(setup, "zoh", rate, 0.0) for rate in RATES_HZ])}
    for name, law in WIDE.items():
        widths[name] = np.array([stiffest(setup, law, rate, setup.damping_Ns_m) for rate in RATES_HZ])
        report.say(
            f"{name}: {', '.join(f'{K:.0f}' for K in widths[name])} N/m at {RATES_HZ[0]:g} .. {RATES_HZ[-1]:g} Hz"
        )
    smooth = Setup(**(asdict(setup) | {"encoder_m": 0.0}))
    found, plain = (np.array([stiffest(s, "zoh", s.filter_rate_hz, s.strong_Ns_m, hz) for hz in CUT_OFFS_HZ])
                    for s in (setup, smooth))  # fmt: skip
    report.say(f"best cut-off {CUT_OFFS_HZ[int(np.argmax(found))]:g} Hz: {found.max():.0f} N/m; without filter "
               f"{found[-1]:.0f} N/m")  # fmt: skip
    if setup == Setup():
        claim_widths(report, widths)
        claim_cut_off(report, found, plain)
    report.values |= {
        "setup": asdict(setup), "seed": None, "audit": {"worst": worst}, "rates_hz": RATES_HZ,
        "cut_offs_hz": [f"{hz:g}" for hz in CUT_OFFS_HZ],
        "apex_ratios": {name: row.tolist() for name, row in ratios.items()},
        "stiffest_N_m": {name: K.tolist() for name, K in widths.items()}, "stiffest_by_cut_off_N_m": found.tolist(),
    }  # fmt: skip
    figure = Figure(figsize=(14.5, 5.0), layout="constrained")
    bounce, width, cut_off = figure.subplots(1, 3)
    draw_bounces(bounce, ratios)
    draw_widths(width, widths, setup)
    rate_axis(bounce)
    rate_axis(width)
    draw_cut_off(cut_off, found, plain, setup)
    report.figure("planar-rates", figure)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
