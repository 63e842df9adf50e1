"""The peg on the device: a hand pushes it through a tight hole, with five frictions.  Reference 7.2; figures 8 to 11.

The whole servo step at 500 Hz in simulated time, from encoders to the mechanism's dynamics.  Four contacts press with
2.5 N each (2500 N/m x 1 mm, SEH), mu = 0.15: F_C = 1.5 N, F_S = 1.65 N.  A hand holds the handle sideways and in its
angle by springs, damps it with 6 N s/m, and pushes along the hole with F_pk sin^2(pi t/T_p), a little beyond F_S: what
it feels of each friction is how the peg gives before it slips, slips, and sticks.

The peg weighs 0.35 kg, as the device seems to: the coupling is then at its best (1.9).  The classical friction needs
F_S T/(v_s m) < 1 and trembles near it, hence so little friction, and v_s = 15 mm/s: 0.63.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import palpate as pp
from palpate.experiments.planar_friction import MODELS
from palpate.experiments.planar_peg import TABLE, begins
from palpate.experiments.report import Report
from palpate.haptics.contact_laws import FrictionLaw, find_contact_law
from palpate.planar.bodies.rooms import peg_in_hole
from palpate.planar.scenes import DEVICE_KG, DEVICE_KG_M2
from palpate.planar.simulation import PlanarSimulation

START_M, RATE_HZ = -0.05, 500.0
STIFFNESS_N_M, MU, BREAKAWAY_N = 2500.0, 0.15, 1.65
HELD_N_M, HELD_NM_RAD, HELD_NS_M, HELD_NMS_RAD = 150.0, 0.3, 6.0, 0.006  # the hand of 1.11


@dataclass(frozen=True)
class Setup:
    """The hand's push, and the classical friction's switching speed."""

    peak_N: float = 1.75
    period_s: float = 2.0
    cycles: float = 4
    switch_m_s: float = 0.015

    def __post_init__(self) -> None:
        for name in ("peak_N", "period_s", "switch_m_s"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"planar-peg-device: {name} must be positive")
        if not 1 <= self.cycles <= 20:
            raise ValueError("planar-peg-device: cycles must be 1 .. 20")
        if not self.peak_N <= 6.0:
            raise ValueError("planar-peg-device: peak_N must be at most 6: the motors have to answer it")

    @property
    def time_s(self) -> np.ndarray:
        return np.arange(round(self.cycles * self.period_s * RATE_HZ)) / RATE_HZ

    @property
    def push_N(self) -> np.ndarray:
        return self.peak_N * np.sin(math.pi * self.time_s / self.period_s) ** 2


@dataclass(frozen=True)
class Pushed:
    """What happened with one friction; all (n,) but the last."""

    t: np.ndarray
    y: np.ndarray  # of the peg
    v: np.ndarray
    offset_mm: np.ndarray  # between handle and peg
    hand_N: np.ndarray  # along the hole, true
    estimate_N: np.ndarray
    friction_N: np.ndarray
    slips: np.ndarray
    energy_J: dict[str, float]

    def given_mm(self, setup: Setup, upto: float = 0.9) -> float:
        """How far it moves in a period, on average, before the push reaches this share of break-away."""
        n = round(setup.period_s * RATE_HZ)
        rise = int(np.argmax(setup.push_N[:n] >= upto * BREAKAWAY_N))
        return 1e3 * float(np.mean([self.y[k + rise] - self.y[k] for k in range(0, len(self.y) - n + 1, n)]))


def simulation(setup: Setup, name: str) -> PlanarSimulation:
    """A peg in a hole that is longer than the way."""
    peg, *sides = peg_in_hole(start_m=START_M, mouth_m=-0.3, depth_m=0.6)
    law = find_contact_law(FrictionLaw, name)
    made = PlanarSimulation(
        [replace(peg, mass_kg=DEVICE_KG, inertia_kg_m2=DEVICE_KG_M2), *sides], rate_hz=RATE_HZ, wall="seh",
        friction=law, stiffness_N_m=STIFFNESS_N_M, damping_Ns_m=0.0, mu=MU, impact="none", shared=False,
    )  # fmt: skip
    own = {"switch_m_s": setup.switch_m_s} if name == "classical" else {}
    made.choices.friction_row[made.frictions.names.index(law.name)] = law.row(**own)
    return made


def pushed(setup: Setup, name: str) -> Pushed:
    """Run it, whole; the hand's push changes in every tick."""
    made = simulation(setup, name)
    try:
        run = pp.Run(made)
        hand = made.lanes[0].hand
        hand.holds, hand.target = 1, (0.0, 0.0, 0.0)
        hand.stiffness, hand.damping = (HELD_N_M, 0.0, HELD_NM_RAD), (HELD_NS_M, HELD_NS_M, HELD_NMS_RAD)
        for force in setup.push_N:
            hand.push = (0.0, float(force), 0.0)
            run.ticks(1)
        seen, energy = run.histories(), made.energy
    finally:
        made.close()
    return Pushed(
        setup.time_s, seen["block"][:, 1], seen["block_velocity"][:, 1], seen["offset_mm"], seen["hand_true"][:, 1],
        seen["hand_estimate"][:, 1], seen["friction_N"], seen["slips"], energy,
    )  # fmt: skip


# ---- claims


def claim_all(report: Report, setup: Setup, found: dict[str, Pushed]) -> None:
    """What holds of every friction, and of the device."""
    for name, peg in found.items():
        label = MODELS[name].label
        report.claim(f"{label}: slip episodes", begins(peg.slips), low=setup.cycles)
        report.claim(f"{label}: share of time sticking", 1.0 - peg.slips.mean(), low=0.5)
        report.claim(f"{label}: way", 1e3 * (peg.y[-1] - peg.y[0]), low=5.0, unit="mm")
        report.claim(f"{label}: handle off the peg, most", peg.offset_mm.max(), high=0.5, unit="mm")
        off = peg.estimate_N - peg.hand_N
        report.claim(f"{label}: estimated off true hand force, rms", np.sqrt(np.mean(off**2)), high=0.15, unit="N")
        report.claim(f"{label}: energy audit, worst", peg.energy_J["worst"], high=1e-9)
        report.claim(f"{label}: energy that contacts gave", peg.energy_J["contacts"], high=0.0, unit="J")


def claim_feel(report: Report, setup: Setup, found: dict[str, Pushed]) -> None:
    """The statements of 7.3, in the hand: creep, compliance, crispness."""
    gives = {name: peg.given_mm(setup) for name, peg in found.items()}
    report.claim("classical: creeps before break-away, in a period", gives["classical"], low=2.5, unit="mm")
    report.claim(
        "reset integrator: gives before break-away, in a period", gives["reset-integrator"], high=0.5, unit="mm"
    )
    report.claim("modified Karnopp: gives before break-away, in a period", gives["karnopp"], high=1.0, unit="mm")
    stiff = max(gives["reset-integrator"], gives["karnopp"])
    for name in ("dahl", "finger-pad"):
        report.claim(f"{MODELS[name].label}: gives more than the stiff ones, times", gives[name] / stiff, low=2.0)
    ways = {name: peg.y[-1] for name, peg in found.items()}
    others = max(y for name, y in ways.items() if name != "classical")
    report.claim(
        "classical goes farthest: ahead of the next by", 1e3 * (ways["classical"] - others), low=2.0, unit="mm"
    )


# ---- figure


def shade(axes: Axes, peg: Pushed) -> None:
    """When it slips."""
    across, slips = axes.get_xaxis_transform(), peg.slips > 0.0
    axes.fill_between(peg.t, 0.0, 1.0, where=slips, transform=across, color="#ece3d4", lw=0, step="post")


def draw_friction(column: np.ndarray, name: str, peg: Pushed, setup: Setup) -> None:
    """Place, forces and speed of one friction."""
    place, force, speed = column
    colour = MODELS[name].colour
    place.plot(peg.t, 1e3 * peg.y, color=colour, lw=1.6)
    place.set_title(f"{MODELS[name].label}\n{1e3 * (peg.y[-1] - peg.y[0]):.0f} mm in {peg.t[-1]:.0f} s, slips "
                    f"{100 * peg.slips.mean():.0f} %", fontsize=10)  # fmt: skip
    force.plot(peg.t, peg.estimate_N, color="#999999", lw=2.5, alpha=0.6, label="hand, estimated")
    force.plot(peg.t, peg.hand_N, color="black", lw=0.9, label="hand")
    force.plot(peg.t, peg.friction_N, color=colour, lw=1.2, label="friction")
    force.axhline(BREAKAWAY_N, color="#777777", lw=0.7, ls="--")
    speed.plot(peg.t, 1e3 * peg.v, color=colour, lw=1.1)
    speed.axhline(0.0, color="#777777", lw=0.8)
    speed.set_xlabel("time [s]")
    for axes in column:
        shade(axes, peg)
        axes.set_xlim(0.0, peg.t[-1])


def figure_of(found: dict[str, Pushed], setup: Setup) -> Figure:
    figure = Figure(figsize=(16.5, 8.4), layout="constrained")
    grid = figure.subplots(3, len(found), sharex=True, sharey="row")
    for k, (name, peg) in enumerate(found.items()):
        draw_friction(grid[:, k], name, peg, setup)
    for axes, label in zip(grid[:, 0], ("y of the peg [mm]", "force [N]", "speed of the peg [mm/s]"), strict=True):
        axes.set_ylabel(label)
    fastest = max(np.abs(peg.v).max() for peg in found.values())
    grid[2, 0].set_ylim(-300.0 * fastest, 1100.0 * fastest)
    grid[1, 0].set_ylim(-0.3, 1.45 * setup.peak_N)
    grid[1, 0].legend(fontsize=7, loc="upper left", ncols=3)
    for axes in grid.flat:
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    figure.suptitle(
        f"on the device: a hand pushes with {setup.peak_N:g} N sin²; break-away {BREAKAWAY_N:g} N (dashed); "
        "shaded: the peg slips"
    )
    return figure


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup; what each friction feels like is claimed for its own."""
    setup = Setup(**options)  # type: ignore[arg-type]
    found = {name: pushed(setup, name) for name in TABLE}
    for name, peg in found.items():
        way_mm, gives_mm = 1e3 * (peg.y[-1] - peg.y[0]), peg.given_mm(setup)
        report.say(f"{MODELS[name].label}: {way_mm:.1f} mm, gives {gives_mm:.2f} mm before break-away, slips "
                   f"{100 * peg.slips.mean():.0f} % of the time")  # fmt: skip
    if not options:
        claim_all(report, setup, found)
        claim_feel(report, setup, found)
    else:
        report.claim("energy audit, worst", max(peg.energy_J["worst"] for peg in found.values()), high=1e-9)
    made = simulation(setup, "classical")
    report.values |= {
        "setup": asdict(setup), "seed": made.configuration.seed, "configuration": made.configuration.told(),
        "audit": {name: peg.energy_J for name, peg in found.items()},
        "way_mm": {name: 1e3 * (peg.y[-1] - peg.y[0]) for name, peg in found.items()},
        "gives_mm": {name: peg.given_mm(setup) for name, peg in found.items()},
    }  # fmt: skip
    made.close()
    report.figure("planar-peg-device", figure_of(found, setup))


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
