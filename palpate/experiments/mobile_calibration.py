"""A mobile display calibrated from recorded poses.  Reference on the mobile display, 3.1 to 3.4.

Truth are the offsets that the thesis found, with an error of the heading; the start is what its ruler said.  A hundred
poses: any heading, robot within 1 m, HIP anywhere in the workspace; 1 mm and 0.15 degrees of noise, 3 mm of uneven
floor.  Means over SEEDS or HEADING_SEEDS recordings.

The thesis' figures are lost, and drawn here as its text describes them: 4.5, a first check with the ruler's offsets;
4.7 and 4.8, the hundred poses before and after its calibration, of a display whose heading's error depends on the
heading: a constant psi does not go with the offsets that it found, this does (3.4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.mobile.calibration.choice import calibrate, spread_m
from palpate.mobile.calibration.figures import COLOURS, residual_figure
from palpate.mobile.calibration.linear import fit_linear, regressor
from palpate.mobile.calibration.nonlinear import Fit, fit
from palpate.mobile.calibration.poses import Poses, Residuals, residuals
from palpate.mobile.calibration.synthetic import QUIET, Recording, record
from palpate.mobile.geometry.chain import RULER, Chain
from palpate.mobile.geometry.kinematics import Kinematics

SEEDS, HEADING_SEEDS, CHOICES = 50, 20, 6
HARMONICS_DEG = (1.2, 0.8, 0.7, 0.5)
STAGES = ("before", "linear", "psi", "harmonics")
STAGE_COLOURS = ("#9a9a9a", "#e58a2b", "#1f5fa8", "#2a8a57")
# rms (x, y, z) [mm] of each stage in 3.4, and what is recorded
PSI_ROWS = {
    0.0: ((4.8, 36.0, 4.9), (1.7, 3.4, 1.9), (1.7, 3.4, 1.9)),
    3.0: ((18.6, 35.3, 18.6), (5.0, 3.3, 5.0), (1.6, 3.3, 1.6)),
    6.0: ((34.7, 35.3, 34.8), (9.6, 3.3, 9.6), (1.6, 3.3, 1.6)),
}
WHITE = Recording(heading_error_rad=np.radians(1.2))
HEADING_ROWS = {
    "harmonics": (HARMONICS_DEG, Recording(), (8.4, 6.55, 6.5, 1.6)),  # mean of x and z of each stage
    "white": ((0.0,) * 4, WHITE, (8.65, 6.75, 6.75, 6.55)),
    "none": ((0.0,) * 4, Recording(), (5.5, 1.7, 1.6, 1.6)),
}
SIGMAS = {5.0: 1.3, 40.0: 0.15, 80.0: 0.09}  # of psi [deg] by spread of the HIP on each axis [mm]


def display(psi_deg: float = 0.0, harmonics_deg: tuple[float, ...] = (0.0,) * 4) -> Chain:
    """The thesis' offsets with an error of the heading."""
    a1, b1, a2, b2 = np.radians(harmonics_deg)
    return replace(Chain(), psi_rad=float(np.radians(psi_deg)), harmonics_rad=(a1, b1, a2, b2))


@dataclass(frozen=True)
class Row:
    """Of many recordings of one display."""

    rms_mm: np.ndarray  # (4, 3) mean of each stage; (3, 3) without harmonics
    psi_deg: np.ndarray  # (n,) estimated, with psi alone
    harmonics_deg: np.ndarray  # (n, 4), or (n, 0)
    sigma_deg: np.ndarray  # (n,) of psi
    linear_change_mm: np.ndarray  # (3,) of u, v, h by the linear fit, mean


def row(truth: Chain, recording: Recording, seeds: int = SEEDS, harmonics: bool = False) -> Row:
    """Everything fitted to each recording."""
    rms, psis, waves, changes = [], [], [], []
    for seed in range(seeds):
        poses = record(truth, seed, recording)
        linear, psi = fit_linear(poses, RULER).chain, fit(poses, RULER)
        bent = [fit(poses, RULER, harmonics=True)] if harmonics else []
        chains = [RULER, linear, psi.chain, *(found.chain for found in bent)]
        rms.append([1e3 * residuals(chain, poses).rms_m for chain in chains])
        psis.append(np.degrees([psi.x[3], psi.sigma[3]]))
        waves.append([np.degrees(found.x[4:]) for found in bent])
        changes.append(1e3 * (np.array(linear.combinations_m) - RULER.combinations_m))
    estimates = np.array(psis)
    return Row(
        np.mean(rms, axis=0),
        estimates[:, 0],
        np.array(waves).reshape(seeds, -1),
        estimates[:, 1],
        np.mean(changes, axis=0),
    )


def across(rms_mm: np.ndarray) -> np.ndarray:
    """Mean of x and z."""
    return rms_mm[..., [0, 2]].mean(axis=-1)


# ---- claims


def claim_rank(report: Report) -> None:
    """3.1 and 3.2: rank 3, halves, and what 572.7 and 200.6 can mean."""
    headings = np.random.default_rng(1).uniform(0.0, 2.0 * np.pi, 100)
    singular = np.linalg.svd(regressor(headings), compute_uv=False)
    report.claim("rank of the thesis' regressor of six offsets", int((singular > 1e-9 * singular[0]).sum()), 3, 3)
    report.claim("its singular values, the three largest (sqrt 200)", singular[:3].mean(), 14.141, 14.143)
    report.claim("its singular values, the three others", singular[3:].max(), high=1e-12)
    exact = fit_linear(record(Chain(), 0, QUIET), RULER).chain
    u, v, h = 1e3 * (np.array(exact.combinations_m) - RULER.combinations_m)
    for name, found, told in (("u", u, -5.9), ("v", v, 2.3), ("h", h, -35.2)):
        report.claim(f"change of {name} without noise (thesis {told:g})", found, told - 1e-6, told + 1e-6, "mm")
    halves = 1e3 * (np.array(exact.sensor_to_robot_m) - RULER.sensor_to_robot_m)
    uneven = np.abs(halves - (0.5 * u, 0.5 * v, 0.5 * h)).max()
    report.claim("minimum norm: a pair's halves differ by", uneven, high=1e-9, unit="mm")
    samples = (572.7**2 - 200.6**2) / (u * u + v * v + h * h)
    report.claim("samples that the printed 572.7 -> 200.6 go with (inference: 225)", samples, 220.0, 230.0)


def claim_psi(report: Report, rows: dict[float, Row]) -> None:
    """3.3 and the first table of 3.4; acceptance 10."""
    for psi, found in rows.items():
        for stage, told in zip(STAGES, PSI_ROWS[psi], strict=False):
            x, y, z = found.rms_mm[STAGES.index(stage)]
            slack = {"before": 2.0, "linear": 0.8, "psi": 0.4}[stage]
            for axis, value, wanted in zip("xyz", (x, y, z), told, strict=True):
                report.claim(f"psi {psi:g} deg, {stage}: rms {axis} (reference {wanted:g})", value, wanted - slack,
                             wanted + slack, "mm")  # fmt: skip
        report.claim(f"psi {psi:g} deg: estimate, mean", found.psi_deg.mean(), psi - 0.05, psi + 0.05, "deg")
        report.claim(f"psi {psi:g} deg: its sigma over its spread", found.sigma_deg.mean() / found.psi_deg.std(),
                     0.67, 1.5)  # fmt: skip
    v = 1.6 + rows[6.0].linear_change_mm[1]
    report.claim("psi 6 deg: v of the linear fit (truth 3.9, reference 47.9)", v, 45.0, 51.0, "mm")


def claim_headings(report: Report, rows: dict[str, Row]) -> None:
    """The second table of 3.4; acceptance 10b."""
    for name, found in rows.items():
        for stage, value, told in zip(STAGES, across(found.rms_mm), HEADING_ROWS[name][2], strict=True):
            report.claim(f"heading error {name}, {stage}: rms of x, z (reference {told:g})", value, told - 0.4,
                         told + 0.4, "mm")  # fmt: skip
        u, v, h = found.linear_change_mm
        report.claim(f"heading error {name}: u of the linear fit changes by (thesis -5.9)", u, -6.6, -5.2, "mm")
        report.claim(f"heading error {name}: v changes by (reference 4.5, thesis 2.3)", v, 3.5, 5.5, "mm")
        report.claim(f"heading error {name}: h changes by (thesis -35.2)", h, -35.5, -34.9, "mm")
    off = np.abs(rows["harmonics"].harmonics_deg.mean(axis=0) - HARMONICS_DEG).max()
    report.claim("harmonics: estimates off by at most", off, high=0.1, unit="deg")


def claim_choices(report: Report) -> dict[str, dict[str, int]]:
    """Which model is chosen, how often."""
    counts: dict[str, dict[str, int]] = {}
    for name, (harmonics, recording, _) in HEADING_ROWS.items():
        chosen = [calibrate(record(display(0.3, harmonics), seed, recording)).model for seed in range(CHOICES)]
        counts[name] = {model: chosen.count(model) for model in ("linear", "psi", "harmonics")}
    for name, share, low, high in (
        ("harmonics chosen where they are", counts["harmonics"]["harmonics"] / CHOICES, 1.0, None),
        ("harmonics chosen where there are none", counts["none"]["harmonics"] / CHOICES, None, 0.0),
        ("harmonics chosen where the heading is noisy", counts["white"]["harmonics"] / CHOICES, None, 0.0),
    ):  # fmt: skip
        report.claim(name, share, low, high)
    turned = [calibrate(record(display(3.0), seed)).model for seed in range(CHOICES)]
    report.claim("psi chosen where it is 3 deg", turned.count("psi") / CHOICES, low=1.0)
    return counts | {"psi 3 deg": {model: turned.count(model) for model in ("linear", "psi", "harmonics")}}


def claim_sureness(report: Report) -> tuple[np.ndarray, np.ndarray]:
    """(spread [mm], sigma [deg]) of psi over the share of the workspace that the hand visits; acceptance 11."""
    whole = 1e3 * spread_m(Kinematics().tips(record(Chain(), 0).theta_rad))
    spreads = np.array([2.5, *SIGMAS, 10.0, 20.0])
    spreads.sort()
    sigmas = []
    for spread in spreads:
        recording = Recording(workspace=spread / whole, floor_m=0.0)
        sigmas.append(np.mean([np.degrees(fit(record(Chain(), s, recording), RULER).sigma[3]) for s in range(10)]))
        if spread in SIGMAS:
            told = SIGMAS[spread]
            report.claim(f"sigma of psi at a spread of {spread:g} mm (reference {told:g})", sigmas[-1], 0.8 * told,
                         1.2 * told, "deg")  # fmt: skip
    locked = fit(record(display(6.0), 0, Recording(locked=True)), RULER)
    report.claim("arm locked: condition of the Jacobian", min(locked.condition, 1e300), low=1e6)
    report.claim("arm locked: psi refused", float(locked.refused == ("psi",)), 1.0, 1.0)
    return spreads, np.array(sigmas)


def claim_thesis(report: Report, first: Residuals, before: Residuals, after: Residuals) -> None:
    """3.1: errors of 0 to 40 mm on an axis; y falls to below 10 mm, x and z hardly."""
    report.claim("first check: errors that are at most 45 mm", (np.abs(first.error_m) <= 0.045).mean(), low=0.98)
    ratio = after.rms_m / before.rms_m
    report.claim("thesis' calibration: y after over before", ratio[1], high=0.15)
    report.claim("thesis' calibration: y after, rms", 1e3 * after.rms_m[1], high=10.0, unit="mm")
    report.claim("thesis' calibration: x, z after over before", ratio[[0, 2]].mean(), low=0.6)


# ---- figures


def draw_samples(axes: Axes, residuals: Residuals, title: str) -> None:
    """Sizes of errors, pose by pose."""
    for k, (name, colour) in enumerate(COLOURS.items()):
        axes.plot(1e3 * np.abs(residuals.error_m[:, k]), "-o", color=colour, ms=3, lw=0.8, label=name)
    axes.set(xlabel="pose", ylabel="size of the error [mm]", ylim=(0, 50), title=title)
    axes.legend(fontsize=8, ncols=3, loc="upper right")


def draw_stages(axes: Axes, labels: list[str], found: np.ndarray, told: list[tuple[float, ...]], title: str) -> None:
    """found (rows, stages) as bars, the reference's as dashes."""
    n = found.shape[1]
    for k in range(n):
        places = np.arange(len(labels)) + 0.8 * ((k + 0.5) / n - 0.5)
        axes.bar(places, found[:, k], 0.75 / n, color=STAGE_COLOURS[k], label=STAGES[k])
        axes.plot(places, [values[k] for values in told], "_", color="#000000", ms=16,
                  label="reference" if k == n - 1 else None)  # fmt: skip
    axes.set_xticks(range(len(labels)), labels)
    axes.set(ylabel="rms of x and z [mm]", title=title, ylim=(0.0, 1.25 * found.max()))
    axes.legend(fontsize=8, ncols=3, loc="upper left")


def draw_sureness(axes: Axes, spreads: np.ndarray, sigmas: np.ndarray) -> None:
    axes.plot(spreads, sigmas, "-o", color=STAGE_COLOURS[2], ms=5, label="measured")
    axes.plot(list(SIGMAS), list(SIGMAS.values()), "_", color="#000000", ms=16, label="reference")
    axes.set(xscale="log", yscale="log", xlabel="spread of the HIP on each axis, rms [mm]", ylabel="sigma of psi [deg]",
             title="psi is as sure as the hand went about")  # fmt: skip
    axes.set_xticks(spreads, [f"{x:g}" for x in spreads])
    axes.set_yticks([0.1, 0.2, 0.5, 1.0, 2.0], ["0.1", "0.2", "0.5", "1", "2"])
    axes.minorticks_off()
    axes.legend(fontsize=8)


def draw_heading(axes: Axes, truth: Chain, fits: list[Fit]) -> None:
    """The heading's error over the heading."""
    phi = np.linspace(0.0, 2.0 * np.pi, 200)
    waves = np.stack([np.ones(200), np.cos(phi), np.sin(phi), np.cos(2.0 * phi), np.sin(2.0 * phi)])
    for k, found in enumerate(fits):
        axes.plot(np.degrees(phi), np.degrees(found.x[3:] @ waves), color=STAGE_COLOURS[3], lw=0.7, alpha=0.6,
                  label="estimates" if k == 0 else None)  # fmt: skip
    true = np.array([truth.psi_rad, *truth.harmonics_rad]) @ waves
    axes.plot(np.degrees(phi), np.degrees(true), color="#000000", lw=1.6, label="truth")
    axes.set(xlabel="heading [deg]", ylabel="error of the heading [deg]", xlim=(0, 360), xticks=range(0, 361, 60),
             title="an error that depends on the heading")  # fmt: skip
    axes.legend(fontsize=8)


def run(report: Report) -> None:
    claim_rank(report)
    psi_rows = {psi: row(display(psi), Recording()) for psi in PSI_ROWS}
    claim_psi(report, psi_rows)
    heading_rows = {
        name: row(display(0.3, waves), how, HEADING_SEEDS, True) for name, (waves, how, _) in HEADING_ROWS.items()
    }
    claim_headings(report, heading_rows)
    any_angle = row(display(3.0), Recording(any_angle=True), 10)
    report.claim("joint angles of 0 to 360 deg, as printed: x, z with psi (reference 1.55)",
                 across(any_angle.rms_mm)[2], 1.2, 1.9, "mm")  # fmt: skip
    counts = claim_choices(report)
    spreads, sigmas = claim_sureness(report)
    report.say("chosen: " + "; ".join(f"{name}: {', '.join(f'{m} {n}' for m, n in c.items() if n)}"
                                      for name, c in counts.items()))  # fmt: skip
    bent = display(0.3, HARMONICS_DEG)
    check, poses = record(bent, 101, Recording(n=40)), record(bent, 0)
    thesis = [residuals(RULER, check), residuals(RULER, poses), residuals(fit_linear(poses, RULER).chain, poses)]
    claim_thesis(report, *thesis)
    report.figure("mobile-calibration-thesis", thesis_figure(thesis))
    report.figure("mobile-calibration-residuals", residual_figure(all_stages(poses)))
    figure = Figure(figsize=(12.5, 8.5), layout="constrained")
    panels = figure.subplots(2, 2)
    told = [tuple(float(np.mean([x, z])) for x, _, z in stages) for stages in PSI_ROWS.values()]
    draw_stages(panels[0, 0], [f"psi {psi:g}°" for psi in PSI_ROWS],
                np.array([across(r.rms_mm)[:3] for r in psi_rows.values()]), told, "a constant error")  # fmt: skip
    draw_stages(panels[0, 1], list(HEADING_ROWS), np.array([across(r.rms_mm) for r in heading_rows.values()]),
                [told for _, _, told in HEADING_ROWS.values()], "an error of 1.2° rms beside 0.3°")  # fmt: skip
    draw_sureness(panels[1, 0], spreads, sigmas)
    some = partial(fit, start=RULER, harmonics=True)
    draw_heading(panels[1, 1], bent, [some(record(bent, seed)) for seed in range(10)])
    for axes in panels.flat:
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.figure("mobile-calibration", figure)
    named = {f"psi {psi:g} deg": found for psi, found in psi_rows.items()} | heading_rows
    report.values |= {
        "rms_mm": {name: found.rms_mm.tolist() for name, found in named.items()},
        "chosen": counts, "spread_mm": spreads.tolist(), "sigma_psi_deg": sigmas.tolist(),
    }  # fmt: skip


def thesis_figure(found: list[Residuals]) -> Figure:
    """4.5, 4.7 and 4.8."""
    figure = Figure(figsize=(13.0, 4.0), layout="constrained")
    titles = ("4.5: a first check", "4.7: before calibration", "4.8: after it, six offsets")
    for axes, residuals_, title in zip(figure.subplots(1, 3, sharey=True), found, titles, strict=True):
        draw_samples(axes, residuals_, title)
        axes.grid(alpha=0.25)
    return figure


def all_stages(poses: Poses) -> dict[str, Residuals]:
    """What each model leaves."""
    chains = {"before": RULER, "six offsets": fit_linear(poses, RULER).chain, "with psi": fit(poses, RULER).chain,
              "with psi and harmonics": fit(poses, RULER, harmonics=True).chain}  # fmt: skip
    return {name: residuals(chain, poses) for name, chain in chains.items()}
