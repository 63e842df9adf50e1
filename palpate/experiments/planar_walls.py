"""Virtual walls compared: a block is pushed flat onto each.  Reference on planar haptics 6.3; the paper's figure 4.

A block of 1 kg, 0.10 x 0.06 m, is pushed with 5 N from 20 mm onto an undamped wall of 5000 N/m and touches it with two
vertices, at 500 Hz.  Nothing else takes energy away, so a wall shows what it is: it creates energy (the apex of each
flight is above the one before), keeps it, or takes it until the block rests.

ZOH          spring held over the sample: acts as a damper of -K T/2
SEH          held at what it will be on average, estimated: almost lossless
PI           with an integral, weak or strong, on SEH and on ZOH
hysteretic   springs that end on blocks with dry friction: D five elements, E three
pulse        the impact as one impulse, with restitution e; then SEH

Then over 30 gaps drawn between 15 and 25 mm; over the integral gain, to see where SEH stops paying for it; with a
tilted start; and the pulse on a ZOH spring, which does not settle: it bounces, until rocking, which a held spring feeds
too, has grown out of rounding.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.planar_drops import Flights, audit_of, lowest
from palpate.experiments.report import Report
from palpate.haptics.contact_laws import WallLaw
from palpate.planar.bodies.description import EdgeSurface
from palpate.planar.bodies.rooms import wall_drop
from palpate.planar.bodies.world import PlanarWorld
from palpate.planar.walls.hysteretic import FEW, MANY


@dataclass(frozen=True)
class Setup:
    """Block, push and protocol."""

    mass_kg: float = 1.0
    push_N: float = 5.0
    gap_m: float = 0.020
    tilt_rad: float = 0.02
    stiffness_N_m: float = 2500.0  # of each of the two vertices
    rate_hz: float = 500.0
    seconds: float = 10.0
    seed: float = 1
    draws: float = 30

    def __post_init__(self) -> None:
        for name in ("mass_kg", "push_N", "gap_m", "stiffness_N_m", "rate_hz"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"planar-walls: {name} must be positive")
        if not self.seconds >= 4.0:
            raise ValueError("planar-walls: seconds must be at least 4")
        if not 2 <= self.draws <= 1000:
            raise ValueError("planar-walls: draws must be 2 .. 1000")


@dataclass(frozen=True)
class Wall:
    """One of those compared: a law, its settings beside stiffness and damping, the restitution of its impulses."""

    law: str | WallLaw
    colour: str
    settings: dict[str, float] = field(default_factory=dict)
    restitution: float | None = None  # None: its spring alone stops what comes


STRONG_N_MS = 10_000.0
WALLS = {
    "ZOH": Wall("zoh", "#d9534f"),
    "SEH": Wall("seh", "#1f5fa8"),
    "PI weak, SEH": Wall("pi", "#4aa3c7", {"integral_N_ms": 100.0}),
    "PI strong, SEH": Wall("pi", "#e58a2b", {"integral_N_ms": STRONG_N_MS}),
    "PI strong, ZOH": Wall("pi", "#8a1f1f", {"integral_N_ms": STRONG_N_MS, "hold": 0.0}),
    "hysteretic D": Wall("hysteretic", "#2a8a4a", MANY),
    "hysteretic E": Wall("hysteretic", "#8fbf5a", FEW),
    "pulse e = 0": Wall("pulse", "#6a3d9a", restitution=0.0),
    "pulse e = 0.5": Wall("pulse", "#a98ad0", restitution=0.5),
}
PULSE_ON_ZOH = Wall("pulse", "#6a3d9a", {"hold": 0.0}, restitution=0.0)


def surface(wall: Wall, stiffness_N_m: float) -> EdgeSurface:
    """Undamped and without friction."""
    return EdgeSurface(
        wall=wall.law, wall_settings={"stiffness_N_m": stiffness_N_m, "damping_Ns_m": 0.0, **wall.settings},
        friction=None, impulse=wall.restitution is not None, restitution=wall.restitution or 0.0,
    )  # fmt: skip


def drop(wall: Wall, setup: Setup, gap_m: float, seconds: float, tilt_rad: float = 0.0) -> Flights:
    """Push the block onto the wall, in the planar world."""
    block, floor = wall_drop(surface(wall, setup.stiffness_N_m), gap_m, tilt_rad)
    world = PlanarWorld([replace(block, mass_kg=setup.mass_kg), floor], rate_hz=setup.rate_hz)
    world.apply("block", (0.0, -setup.push_N, 0.0))
    start = world.X[1].copy()
    poses = np.vstack([start, world.trace(round(seconds * setup.rate_hz)).X])
    return Flights(lowest(block.outline, poses), world.dt_s, audit_of(world))


# ---- claims

# the reference's table over 30 gaps: apex ratio mean, lowest, highest; impacts; last loss [s]; motion 1 s later [mm]
Row = tuple[tuple[float, float, float] | None, tuple[int, int], tuple[float, float] | None, tuple[float, float] | None]
REFERENCE: dict[str, Row] = {
    "ZOH": ((1.291, 1.271, 1.324), (9, 11), None, None),
    "SEH": ((0.9905, 0.987, 0.994), (17, 20), None, (21.0, 31.0)),
    "PI strong, ZOH": ((1.551, 1.481, 1.651), (7, 8), None, None),
    "PI weak, SEH": ((0.9929, 0.989, 0.996), (17, 20), None, (21.0, 32.0)),
    "PI strong, SEH": ((1.232, 1.200, 1.269), (10, 12), None, None),
    "hysteretic D": (None, (1, 2), (0.0, 0.142), (0.28, 0.33)),
    "hysteretic E": ((0.36, 0.02, 0.52), (4, 5), (0.42, 0.60), (1.0, 1.2)),
    "pulse e = 0": (None, (1, 1), (0.0, 0.0), (0.2, 1.9)),
    "pulse e = 0.5": ((0.20, 0.01, 0.26), (4, 6), (0.14, 0.19), (1.9, 1.9)),
}


@dataclass(frozen=True)
class Outcome:
    """Of one wall over many gaps: apex ratios of all flights, the rest (n,) each."""

    ratios: np.ndarray
    impacts: np.ndarray
    last_loss_s: np.ndarray
    motion_mm: np.ndarray
    depth_mm: np.ndarray

    @property
    def settles(self) -> bool:
        """Contact is kept from the fourth second's middle on, whatever the gap."""
        return bool(self.last_loss_s.max() < 2.0)


def outcomes(setup: Setup, seconds: float = 4.0) -> dict[str, Outcome]:
    """Each wall over gaps drawn within a quarter of the set-up's."""
    gaps = setup.gap_m * np.random.default_rng(int(setup.seed)).uniform(0.75, 1.25, int(setup.draws))
    found = {}
    for name, wall in WALLS.items():
        runs = [drop(wall, setup, gap, seconds) for gap in gaps]
        found[name] = Outcome(
            np.concatenate([run.ratios for run in runs]), np.array([len(run.impacts) for run in runs]),
            np.array([run.last_loss_s for run in runs]), np.array([1e3 * run.motion_m(1.0, 1.2) for run in runs]),
            np.array([1e3 * run.depth_m() for run in runs]),
        )  # fmt: skip
    return found


def claim_table(report: Report, found: dict[str, Outcome]) -> None:
    """The outcome table of 6.3: other draws, so the means within 1.5 % and the spreads within as much."""
    for name, (ratios, impacts, last_loss, motion) in REFERENCE.items():
        wall = found[name]
        if ratios is None:
            report.claim(f"{name}: largest apex ratio", wall.ratios.max(initial=0.0), high=0.001)
        else:
            mean, low, high = ratios
            slack = 0.015 if low > 0.5 else 0.05  # the few flights of a wall that settles depend on the gap
            report.claim(f"{name}: apex ratio, mean", wall.ratios.mean(), mean - slack * mean, mean + slack * mean)
            report.claim(f"{name}: apex ratio, lowest", wall.ratios.min(), low - slack, mean)
            report.claim(f"{name}: apex ratio, highest", wall.ratios.max(), mean, high + slack)
        # the extremes of other gaps
        report.claim(f"{name}: fewest impacts", wall.impacts.min(), impacts[0] - (ratios is not None), impacts[1])
        report.claim(f"{name}: most impacts", wall.impacts.max(), impacts[0], impacts[1] + (ratios is not None))
        if last_loss is None:
            report.claim(f"{name}: last loss of contact, earliest", wall.last_loss_s.min(), low=2.5, unit="s")
        else:
            report.claim(f"{name}: last loss of contact, latest", wall.last_loss_s.max(), high=last_loss[1] + 0.02,
                         unit="s")  # fmt: skip
        if motion is not None:
            report.claim(f"{name}: motion a second after the impact, most", wall.motion_mm.max(),
                         high=1.05 * motion[1], unit="mm")  # fmt: skip


def claim_order(report: Report, found: dict[str, Outcome]) -> None:
    """The order of effectiveness: pulse >= hysteresis > SEH >= weak PI > strong PI and ZOH; strong PI on ZOH worst."""
    rest = {name: np.median(wall.last_loss_s) for name, wall in found.items()}
    grows = {name: wall.ratios.mean() for name, wall in found.items() if len(wall.ratios)}
    later = {
        "hysteretic D rests no sooner than pulse e = 0, by": rest["hysteretic D"] - rest["pulse e = 0"],
        "hysteretic E rests later than hysteretic D, by": rest["hysteretic E"] - rest["hysteretic D"],
        "SEH rests later than hysteretic E, by": rest["SEH"] - rest["hysteretic E"],
    }
    for name, value in later.items():
        report.claim(f"order: {name}", value, low=0.0, unit="s")
    for better, worse, by in (
        ("SEH", "PI weak, SEH", 0.0), ("PI weak, SEH", "PI strong, SEH", 0.1), ("PI weak, SEH", "ZOH", 0.1),
        ("ZOH", "PI strong, ZOH", 0.1), ("PI strong, SEH", "PI strong, ZOH", 0.1),
    ):  # fmt: skip
        report.claim(f"order: apex ratio of {worse} above that of {better}, by", grows[worse] - grows[better], low=by)


def claim_fixed(report: Report, runs: dict[str, Flights]) -> None:
    """Acceptance 19, 20, 22 and 23: the drop from 20 mm."""
    zoh, seh, many, few = (runs[name] for name in ("ZOH", "SEH", "hysteretic D", "hysteretic E"))
    report.claim("ZOH: apex ratio of the first 6 bounces, lowest", zoh.ratios[:6].min(), low=1.20)
    report.claim("ZOH: apex ratio of the first 6 bounces, highest", zoh.ratios[:6].max(), high=1.40)
    report.claim("SEH: apex ratio, lowest", seh.ratios.min(), low=0.98)
    report.claim("SEH: apex ratio, highest", seh.ratios.max(), high=1.0)
    report.claim("SEH: last impact", seh.time_s[seh.impacts[-1]], low=9.0, unit="s")
    report.claim("hysteretic D: impacts", len(many.impacts), high=2)
    report.claim("hysteretic D: last loss of contact", many.last_loss_s, high=0.2, unit="s")
    report.claim("hysteretic D: motion a second after the impact", 1e3 * many.motion_m(1.0, 1.2), high=0.5, unit="mm")
    report.claim("hysteretic D: rest penetration, its price", 1e3 * many.depth_m(), 4.6, 5.2, "mm")
    report.claim("hysteretic E: last loss of contact", few.last_loss_s, high=0.8, unit="s")
    flat, half = runs["pulse e = 0"], runs["pulse e = 0.5"]
    report.claim("pulse e = 0: impacts", len(flat.impacts), 1, 1)
    report.claim("pulse e = 0: deepest", -1e3 * flat.gap_m.min(), high=2.02, unit="mm")
    report.claim("pulse e = 0.5: last loss of contact", half.last_loss_s, high=0.3, unit="s")


def crossing(gains: np.ndarray, ratios: np.ndarray) -> float:
    """Where the ratio first goes through 1, between two gains by a straight line; NaN: nowhere."""
    above = np.flatnonzero((ratios[1:] >= 1.0) & (ratios[:-1] < 1.0))
    if len(above) == 0:
        return float("nan")
    k = above[0]
    share = (1.0 - ratios[k]) / (ratios[k + 1] - ratios[k])
    return float(gains[k] + share * (gains[k + 1] - gains[k]))


# ---- figures


def draw_drop(axes: Axes, name: str, run: Flights, seconds: float) -> None:
    """Gap over time; a wall that throws the block higher and higher gets an axis of its own."""
    shown = run.time_s <= seconds
    gap = 1e3 * run.gap_m[shown]
    axes.axhspan(-1e3, 0.0, color="#e8e8e8", lw=0)
    axes.plot(run.time_s[shown], gap, color=WALLS[name].colour, lw=1.2)
    top = max(24.0, 1.08 * gap.max())
    axes.set(xlim=(0.0, seconds), ylim=(min(-0.12 * top, 1.3 * gap.min()), top))
    axes.set_title(f"{name}: {judgement(run)}", fontsize=10)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def judgement(run: Flights) -> str:
    """In a few words."""
    if len(run.ratios) and run.ratios.mean() > 1.02:
        return f"active, apex × {run.ratios.mean():.2f} a bounce"
    if run.last_loss_s > 0.7 * (run.time_s[-1] - run.time_s[run.impacts[0]]):
        return f"bounces on, apex × {run.ratios.mean():.3f}"
    if run.last_loss_s == 0.0:
        return f"rests from the first impact, {1e3 * run.depth_m():.1f} mm deep"
    return f"rests after {run.last_loss_s:.2f} s, {1e3 * run.depth_m():.1f} mm deep"


def figure_4(runs: dict[str, Flights], setup: Setup) -> Figure:
    """The nine walls."""
    figure = Figure(figsize=(13.0, 8.0), layout="constrained")
    grid = figure.subplots(3, 3)
    for axes, (name, run) in zip(grid.flat, runs.items(), strict=True):
        draw_drop(axes, name, run, 4.0)
    for axes in grid[:, 0]:
        axes.set_ylabel("gap to the wall [mm]")
    for axes in grid[-1]:
        axes.set_xlabel("time [s]")
    figure.suptitle(
        f"{setup.mass_kg:g} kg pushed with {setup.push_N:g} N from {1e3 * setup.gap_m:g} mm onto each wall, "
        f"2 × {setup.stiffness_N_m:g} N/m, no damping, {setup.rate_hz:g} Hz; grey: inside the wall"
    )
    return figure


def draw_ratios(axes: Axes, found: dict[str, Outcome]) -> None:
    """Apex ratios of all flights, and how long contact was still lost."""
    for row, (name, wall) in enumerate(found.items()):
        at = row + np.linspace(-0.25, 0.25, len(wall.ratios))
        axes.plot(wall.ratios, at, ".", color=WALLS[name].colour, ms=3)
        words = "no second flight" if len(wall.ratios) == 0 else f"mean {wall.ratios.mean():.3f}"
        late = wall.last_loss_s.max()
        settled = "never rests" if not wall.settles else f"rests within {late:.2f} s" if late > 0.0 else "rests at once"
        axes.text(1.72, row, f"{words}; {settled}", va="center", fontsize=8)
    axes.axvline(1.0, color="black", lw=1)
    axes.text(0.97, -0.75, "loses energy", ha="right", va="center", fontsize=8)
    axes.text(1.03, -0.75, "creates energy", va="center", fontsize=8)
    axes.set_yticks(range(len(found)), list(found))
    axes.set(xlim=(0.0, 2.65), ylim=(len(found) - 0.5, -1.1), xlabel="apex of a flight over the one before")
    axes.set_xticks(np.arange(0.0, 1.7, 0.25))
    axes.set_title("over many gaps: every flight a dot")


def draw_gains(axes: Axes, gains: np.ndarray, ratios: np.ndarray, at: float) -> None:
    axes.plot(gains, ratios, "o-", color=WALLS["PI strong, SEH"].colour, ms=4)
    axes.axhline(1.0, color="black", lw=1)
    if np.isfinite(at):
        axes.axvline(at, color="#777777", lw=1, ls="--")
        axes.text(0.93 * at, 1.1, f"{at:.0f} N/(m s)", fontsize=9, color="#555555", ha="right")
    axes.set(xscale="log", xlabel="integral gain of both vertices [N/(m s)]", ylabel="mean apex ratio",
             title="PI on SEH: where SEH stops paying for the integral")  # fmt: skip


def draw_tilted(axes: Axes, runs: dict[str, Flights], tilt_rad: float) -> None:
    for name, run in runs.items():
        axes.plot(run.time_s, 1e3 * run.gap_m, color=WALLS[name].colour, lw=1.2, label=name)
    axes.axhspan(-10.0, 0.0, color="#e8e8e8", lw=0)
    axes.set(xlim=(0.0, 4.0), ylim=(-6.0, 80.0), xlabel="time [s]", ylabel="gap of the nearest vertex [mm]",
             title=f"tilted by {tilt_rad:g} rad: one vertex meets the wall first")  # fmt: skip
    axes.legend(fontsize=8, loc="upper left")


def draw_pulses(axes: Axes, held: Flights, estimated: Flights) -> None:
    for run, name, colour in ((held, "on ZOH", "#d9534f"), (estimated, "on SEH", WALLS["pulse e = 0"].colour)):
        axes.plot(run.time_s, 1e3 * run.gap_m, lw=1.0, color=colour, label=f"{name}: impacts: {len(run.impacts)}")
    axes.axhspan(-10.0, 0.0, color="#e8e8e8", lw=0)
    axes.set(xlim=(0.0, held.time_s[-1]), ylim=(-2.5, 3.0), xlabel="time [s]", ylabel="gap of the nearest vertex [mm]",
             title="a pulse with e = 0 needs SEH (or damping)")  # fmt: skip
    axes.legend(fontsize=8, loc="upper right")


# ---- run

GAINS_N_MS = np.array([100.0, 200.0, 400.0, 600.0, 800.0, 1200.0, 2000.0, 5000.0, 10_000.0, 20_000.0])  # of both


def gain_sweep(setup: Setup) -> np.ndarray:
    """Mean apex ratio of the PI wall on SEH, for each of GAINS_N_MS, over a few gaps."""
    gaps = setup.gap_m * np.linspace(0.75, 1.25, 5)
    walls = [Wall("pi", "", {"integral_N_ms": 0.5 * gain}) for gain in GAINS_N_MS]
    return np.array([np.mean([drop(wall, setup, gap, 4.0).ratios.mean() for gap in gaps]) for wall in walls])


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup; the reference's numbers are claimed for its own set-up."""
    setup = Setup(**options)  # type: ignore[arg-type]
    runs = {name: drop(wall, setup, setup.gap_m, setup.seconds) for name, wall in WALLS.items()}
    for name, flights in runs.items():
        report.say(f"{name}: {judgement(flights)}")
    found = outcomes(setup)
    claim_order(report, found)
    if setup == Setup(seed=setup.seed):
        claim_fixed(report, runs)
        claim_table(report, found)
    ratios = gain_sweep(setup)
    at = crossing(GAINS_N_MS, ratios)
    tilted = {name: drop(WALLS[name], setup, setup.gap_m, setup.seconds, setup.tilt_rad)
              for name in ("ZOH", "SEH", "pulse e = 0")}  # fmt: skip
    held = drop(PULSE_ON_ZOH, setup, setup.gap_m, setup.seconds)
    if setup == Setup(seed=setup.seed):
        claim_rest(report, ratios, at, tilted, held)
    every = [*runs.values(), *tilted.values(), held]
    report.claim("energy audit: worst of invariant 1", max(flights.audit["worst"] for flights in every), high=1e-9)
    report.values |= {
        "setup": asdict(setup), "seed": setup.seed, "crossing_N_ms": at, "ratios_over_gain": ratios.tolist(),
        "audit": {name: flights.audit for name, flights in runs.items()},
    }  # fmt: skip
    report.figure("planar-walls", figure_4(runs, setup))
    figure = Figure(figsize=(13.0, 8.6), layout="constrained")
    (many, gain), (tilt, pulses) = figure.subplots(2, 2, width_ratios=(1.25, 1.0))
    draw_ratios(many, found)
    draw_gains(gain, GAINS_N_MS, ratios, at)
    draw_tilted(tilt, tilted, setup.tilt_rad)
    draw_pulses(pulses, held, runs["pulse e = 0"])
    for axes in (many, gain, tilt, pulses):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.figure("planar-walls-more", figure)


def claim_rest(report: Report, ratios: np.ndarray, at: float, tilted: dict[str, Flights], held: Flights) -> None:
    """Acceptance 21 and 24, the gain that SEH pays for, and the tilted start."""
    by_gain = dict(zip(GAINS_N_MS, ratios, strict=True))
    report.claim("PI on SEH, 200 N/(m s): apex ratio", by_gain[200.0], high=1.0)
    report.claim("PI on SEH, 20 000 N/(m s): apex ratio", by_gain[20_000.0], low=1.15)
    report.claim("PI: integral gain that SEH pays for", at, 600.0, 800.0, "N/(m s)")
    report.claim("pulse e = 0 on ZOH: impacts in 10 s", len(held.impacts), low=20)
    report.claim("tilted, pulse e = 0: losses of contact", len(tilted["pulse e = 0"].losses), high=0)
    seh, zoh = tilted["SEH"], tilted["ZOH"]
    report.claim("tilted, SEH: last impact", seh.time_s[seh.impacts[-1]], low=9.0, unit="s")
    report.claim("tilted, SEH: highest apex over the start", seh.apexes_m[1:].max() / seh.apexes_m[0], high=1.0)
    report.claim("tilted, ZOH: highest apex over the start", zoh.apexes_m.max() / zoh.apexes_m[0], low=5.0)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
