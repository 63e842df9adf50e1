"""Walls on the device: a hand leads a block into each.  Reference on planar haptics 6.3; the paper's figures 5 and 6.

The whole servo step at 500 Hz in simulated time: encoders, observer, four channels, contacts, motors, the mechanism's
dynamics and a hand (K_h = 150 N/m) that moves 60 mm in half a second, to 20 mm behind the wall's face, and stays there.
The block comes tilted, and the hand straightens it on the way: one vertex meets the wall, then the edge does.

figure 5   a relaxed hand, 4 N s/m: what a wall creates or keeps is seen
figure 6   a firm one, 6 N s/m: it pays for a lossless wall, and not for an active one

In a loose hand, 1 N s/m, a pulse does not rest either, though the wall takes energy: the observer's lag feeds the loop,
and only hysteresis pays for that.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import palpate as pp
from palpate.experiments.planar_drops import Flights, lowest
from palpate.experiments.planar_walls import WALLS, Wall
from palpate.experiments.report import Report
from palpate.haptics.contact_laws import WallLaw, find_contact_law
from palpate.planar.bodies.description import PlanarBody, Polygon
from palpate.planar.configuration import HandNumbers
from palpate.planar.fields import PORTS
from palpate.planar.scenes import DEVICE_KG, DEVICE_KG_M2
from palpate.planar.simulation import PlanarSimulation

BLOCK_M, START_X_M, FACE_X_M, AIM_X_M = (0.03, 0.02), -0.02, 0.02, 0.04
LEAVE_S, ARRIVE_S = 0.1, 0.6
GRIPS = {"relaxed": (4.0, 0.004), "firm": (6.0, 0.006), "loose": (1.0, 0.001)}  # B_h [N s/m, N m s/rad]
ACTIVE = ("ZOH", "PI strong, SEH", "PI strong, ZOH")
LOSSLESS = ("SEH", "PI weak, SEH")
SHOWN_S = (0.2, 2.2)
SETTLING = ("hysteretic D", "hysteretic E", "pulse e = 0", "pulse e = 0.5")


@dataclass(frozen=True)
class Setup:
    """Block, wall and rate."""

    tilt_rad: float = 0.15
    stiffness_N_m: float = 2500.0  # of each vertex
    hand_N_m: float = 150.0
    servo_hz: float = 500.0  # 250, 500, 1000, 2000 or 4000
    seconds: float = 4.0

    def __post_init__(self) -> None:
        for name in ("stiffness_N_m", "hand_N_m", "servo_hz"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"planar-walls-device: {name} must be positive")
        if not self.seconds >= 2.0:
            raise ValueError("planar-walls-device: seconds must be at least 2")
        if not abs(self.tilt_rad) <= 0.5:
            raise ValueError("planar-walls-device: tilt_rad must be within 0.5")


@dataclass(frozen=True)
class Met:
    """What happened at one wall, in one hand."""

    flights: Flights  # of the vertex nearest to the wall
    contacts: np.ndarray  # (n,) at once
    angle: np.ndarray
    hand_N: np.ndarray  # towards the wall, true
    estimate_N: np.ndarray
    energy_J: dict[str, float]  # into the block, at each port
    worst: float  # of the audit

    @property
    def given_J(self) -> float:
        """By the contacts, impulses too; below 0: taken."""
        return self.energy_J["contacts"] + self.energy_J["impulses"]

    @property
    def last_loss_s(self) -> float:
        return self.flights.last_loss_s


def simulation(setup: Setup, wall: Wall, grip: str) -> PlanarSimulation:
    """A tilted block, a wall, and a hand that leads it there."""
    block = PlanarBody("block", Polygon.box(*BLOCK_M), DEVICE_KG, DEVICE_KG_M2, pose=(START_X_M, 0.0, setup.tilt_rad))
    solid = PlanarBody("wall", Polygon.box(0.05, 0.20, (FACE_X_M + 0.025, 0.0)))
    damping, turning = GRIPS[grip]
    K = setup.hand_N_m
    hand = HandNumbers(stiffness=(K, K, 0.3), damping=(damping, damping, turning))
    begin, end = (START_X_M, 0.0, setup.tilt_rad), (AIM_X_M, 0.0, 0.0)
    path = [(0.0, *begin), (LEAVE_S, *begin), (ARRIVE_S, *end), (ARRIVE_S + 1.0, *end)]
    law = find_contact_law(WallLaw, wall.law)
    made = PlanarSimulation(
        [block, solid], rate_hz=500.0, path=path, wall=law, friction="none",
        stiffness_N_m=setup.stiffness_N_m, damping_Ns_m=0.0, hand=hand, servo_hz=round(setup.servo_hz), shared=False,
        impact="none" if wall.restitution is None else "poisson", restitution=wall.restitution or 0.0,
    )  # fmt: skip
    made.choices.wall_row[made.walls.names.index(law.name)] = law.row(**wall.settings)
    return made


def meet(setup: Setup, wall: Wall, grip: str) -> Met:
    """Run it, whole."""
    made = simulation(setup, wall, grip)
    try:
        run = pp.Run(made)
        run.seconds(setup.seconds)
        seen = run.histories()
    finally:
        made.close()
    corners = Polygon.box(*BLOCK_M).vertices
    pose = seen["block"]
    # the wall's face is at x: the same as a floor, seen with the head turned
    turned = np.stack([pose[:, 1], -pose[:, 0], pose[:, 2] - 0.5 * math.pi], axis=1)
    return Met(
        Flights(FACE_X_M + lowest(corners, turned), 1.0 / made.rate_hz), seen["contacts"], pose[:, 2],
        seen["hand_true"][:, 0], seen["hand_estimate"][:, 0],
        dict(zip(PORTS, seen["energy_J"][-1].tolist(), strict=True)), float(seen["audit_worst"][-1]),
    )  # fmt: skip


# ---- claims


def claim_first_contact(report: Report, found: dict[str, dict[str, Met]]) -> None:
    every = [met for grip in found.values() for met in grip.values()]
    first = [met.contacts[met.contacts > 0][0] for met in every]
    report.claim("vertices that meet the wall first", max(first), 1, 1)
    report.claim("energy audit: worst of invariant 1", max(met.worst for met in every), high=1e-9)
    settled = [met for name, met in found["firm"].items() if name not in ACTIVE]
    off = max(abs(met.estimate_N[-500:].mean() / met.hand_N[-500:].mean() - 1.0) for met in settled)
    report.claim("hand force at rest, estimated over true, off by at most", off, high=0.02)


def claim_walls(report: Report, setup: Setup, found: dict[str, dict[str, Met]]) -> None:
    """What sections 6.2 and 6.3 say of each, with a hand."""
    relaxed, firm, late = found["relaxed"], found["firm"], 0.8 * setup.seconds
    for name in ACTIVE:
        report.claim(f"{name}, firm: energy that the wall created", firm[name].given_J, low=0.05, unit="J")
        report.claim(f"{name}, firm: contact is still lost after", firm[name].last_loss_s, low=late, unit="s")
    for name in LOSSLESS:
        report.claim(f"{name}, relaxed: energy that the wall created", relaxed[name].given_J, high=0.0, unit="J")
        report.claim(f"{name}, relaxed: contact is still lost after", relaxed[name].last_loss_s, low=late, unit="s")
        report.claim(f"{name}, firm: last loss of contact", firm[name].last_loss_s, high=0.3, unit="s")
    for name in SETTLING:
        for grip, limit in (("relaxed", 0.4), ("firm", 0.15)):
            met = found[grip][name]
            report.claim(f"{name}, {grip}: last loss of contact", met.last_loss_s, high=limit, unit="s")
            report.claim(f"{name}, {grip}: energy that the wall created", met.given_J, high=0.0, unit="J")
    report.claim("pulse e = 0, firm: losses of contact", len(firm["pulse e = 0"].flights.losses), high=0)
    loose = found["loose"]
    report.claim("hysteretic D, loose: last loss of contact", loose["hysteretic D"].last_loss_s, high=0.4, unit="s")
    pulse = loose["pulse e = 0"]
    report.claim("pulse e = 0, loose: contact is still lost after", pulse.last_loss_s, low=late, unit="s")
    report.claim("pulse e = 0, loose: energy that the wall created", pulse.given_J, high=0.0, unit="J")
    rest = [firm[name].last_loss_s for name in ("pulse e = 0", "hysteretic D", "SEH", "ZOH")]
    for k, (better, worse) in enumerate((("pulse", "hysteresis"), ("hysteresis", "SEH"), ("SEH", "ZOH"))):
        report.claim(f"order, firm: {worse} rests later than {better}, by", rest[k + 1] - rest[k], low=0.0, unit="s")


# ---- figures


def draw_gap(axes: Axes, name: str, met: Met, seconds: float, top: float) -> None:
    t, gap = met.flights.time_s, 1e3 * met.flights.gap_m
    axes.axhspan(-20.0, 0.0, color="#e8e8e8", lw=0)
    axes.plot(t, gap, color=WALLS[name].colour, lw=1.1)
    gives = "gives" if met.given_J > 0.0 else "takes"
    rests = "rests at once" if met.last_loss_s == 0.0 else f"rests after {met.last_loss_s:.2f} s"
    words = "never rests" if met.last_loss_s > 0.8 * seconds - 1.0 else rests
    axes.set_title(f"{name}: {words}, {gives} {1e3 * abs(met.given_J):.0f} mJ", fontsize=10)
    axes.set(xlim=SHOWN_S, ylim=(-7.0, top))


def draw_hand(axes: Axes, found: dict[str, Met], names: tuple[str, ...]) -> None:
    for name in names:
        met, colour = found[name], WALLS[name].colour
        axes.plot(met.flights.time_s, met.hand_N, color=colour, lw=1.4, label=f"{name}, true")
        axes.plot(met.flights.time_s, met.estimate_N, color=colour, lw=0.9, ls=":", label=f"{name}, estimated")
    axes.set(xlim=(0.2, 1.2), xlabel="time [s]", ylabel="hand's force [N]", title="what the hand feels")
    axes.legend(fontsize=7, loc="lower right")


def draw_angle(axes: Axes, found: dict[str, Met], names: tuple[str, ...]) -> None:
    for name in names:
        axes.plot(found[name].flights.time_s, 1e3 * found[name].angle, color=WALLS[name].colour, lw=1.2, label=name)
    axes.axhline(0.0, color="#777777", lw=0.8)
    axes.set(xlim=SHOWN_S, xlabel="time [s]", ylabel="angle of the block [mrad]", title="from a vertex to the edge")
    axes.legend(fontsize=7, loc="upper right")


def draw_energy(axes: Axes, found: dict[str, Met]) -> None:
    names = list(found)
    values = np.array([1e3 * found[name].given_J for name in names])
    axes.barh(range(len(names)), values, color=[WALLS[name].colour for name in names])
    axes.axvline(0.0, color="black", lw=1)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xscale("symlog", linthresh=10.0)
    axes.set(ylim=(len(names) - 0.5, -0.5), xlabel="energy that the wall gave [mJ]", title="taken  |  created")


def figure_of(found: dict[str, Met], grip: str, setup: Setup) -> Figure:
    figure = Figure(figsize=(13.5, 11.0), layout="constrained")
    grid = figure.subplots(4, 3)
    first = max(met.flights.impacts[0] for met in found.values())
    top = max(3.0, 1.15e3 * max(met.flights.gap_m[first:].max() for met in found.values()))
    for axes, (name, met) in zip(grid[:3].flat, found.items(), strict=True):
        draw_gap(axes, name, met, setup.seconds, top)
    for axes in grid[:3, 0]:
        axes.set_ylabel("gap of the nearest vertex [mm]", fontsize=8)
    for axes in grid[2]:
        axes.set_xlabel("time [s]")
    draw_energy(grid[3, 0], found)
    draw_hand(grid[3, 1], found, ("SEH", "pulse e = 0"))
    draw_angle(grid[3, 2], found, ("SEH", "hysteretic D", "pulse e = 0"))
    for axes in grid.flat:
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    damping = GRIPS[grip][0]
    figure.suptitle(
        f"on the device, {setup.servo_hz:g} Hz: a {grip} hand ({setup.hand_N_m:g} N/m, {damping:g} N s/m) "
        f"leads a tilted block into each wall, 2 × {setup.stiffness_N_m:g} N/m"
    )
    return figure


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup; what the reference says of the walls is claimed for its own."""
    setup = Setup(**options)  # type: ignore[arg-type]
    found = {grip: {name: meet(setup, wall, grip) for name, wall in WALLS.items()} for grip in GRIPS}
    for grip, walls in found.items():
        for name, met in walls.items():
            report.say(f"{name}, {grip} hand: impacts {len(met.flights.impacts)}, contact last lost "
                       f"{met.last_loss_s:.2f} s after the first, gave {1e3 * met.given_J:.1f} mJ")  # fmt: skip
    claim_first_contact(report, found)
    if not options:
        claim_walls(report, setup, found)
    made = simulation(setup, WALLS["SEH"], "firm")
    report.values |= {
        "setup": asdict(setup), "seed": made.configuration.seed, "configuration": made.configuration.told(),
        "energy_J": {grip: {name: met.energy_J for name, met in walls.items()} for grip, walls in found.items()},
    }  # fmt: skip
    made.close()
    report.figure("planar-walls-device", figure_of(found["relaxed"], "relaxed", setup))
    report.figure("planar-walls-device-firm", figure_of(found["firm"], "firm", setup))


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
