"""In step or not: the same wall simulated with the servo (T = 1 ms), and by a slow simulation (P = 16 ms) beside it.

Many systems run dynamics at the rate of graphics and fill in the force between its steps.  What that costs is lag, and
lag is negative damping: a spring K that lags by tau pushes with -K x + K tau v, so of the device's damping b there is
left b - K tau, and the limit is K < b / tau.  A person who goes in and out of the wall with it takes energy home.

filled in by   force on [jP, (j+1)P), s = (t - jP)/P   lag tau    energy for one visit: depth D, speed v in and out
in step        K d every T                             T/2        K D v T
hold           F_j                                     P/2        K D v P
interpolation  F_{j-1} + s (F_j - F_{j-1})             P + T/2    K v P (2D - v P/2) + K v T (D - v P/2)
extrapolation  F_j + s (F_j - F_{j-1}), never < 0      T/2        K (v P)^2 + K v T (D - v P)

The visit begins and turns at samples and rests in between; then these are exact sums, servo's hold included.  Linear
interpolation is smooth and twice as late as hold, which is rough: steps of K v P.  Extrapolation is in time on a ramp,
and overshoots by a whole step at every corner.  Stability from the eigenvalues of one slow period.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.experiments.wall_loops import Loop, follow_entry, meet_entry
from palpate.haptics.contact_laws import STATE, WallLaw, find_contact_law
from palpate.haptics.passivity import open_accounts
from palpate.jit import Block
from palpate.link.estimate import EXTRAPOLATE, HOLD, INTERPOLATE

MASS_KG, DAMPING_NS_M, PUSH_N = 0.35, 2.5, 3.0  # device and hand; towards the wall
DT_S = 1e-3
RATIO = 16  # ticks of a slow period: 62.5 Hz
SPEED_M_S, DEPTH_PERIODS = 0.1, 5  # of the visit; D = 5 v P
STIFFNESS_N_M = 500.0
P_S = RATIO * DT_S
DEPTH_M = DEPTH_PERIODS * SPEED_M_S * P_S


@dataclass(frozen=True)
class Way:
    """A way of filling in; lag [s] and energy of a visit [J] as derived above."""

    name: str
    mode: int
    ratio: int
    lag_s: float
    visit_J: float
    colour: str


def _ways() -> tuple[Way, ...]:
    K, D, vP, vT = STIFFNESS_N_M, DEPTH_M, SPEED_M_S * P_S, SPEED_M_S * DT_S
    return (
        Way("in step", HOLD, 1, DT_S / 2, K * D * vT, "#2a8a4a"),
        Way("hold", HOLD, RATIO, P_S / 2, K * D * vP, "#d9534f"),
        Way("interpolation", INTERPOLATE, RATIO, P_S + DT_S / 2, K * (vP * (2 * D - vP / 2) + vT * (D - vP / 2)),
            "#7d5ba6"),
        Way("extrapolation", EXTRAPOLATE, RATIO, DT_S / 2, K * (vP**2 + vT * (D - vP)), "#e58a2b"),
    )  # fmt: skip


WAYS = _ways()


# ---- a person leads the device


def wall(stiffness_N_m: float) -> tuple[int, np.ndarray]:
    """(address, settings) of the spring that is simulated."""
    law = find_contact_law(WallLaw, "zoh")
    return law.address, law.row(stiffness_N_m=float(stiffness_N_m))


def follow(way: Way, path_m: np.ndarray, stiffness_N_m: float = STIFFNESS_N_M) -> tuple[np.ndarray, np.ndarray]:
    """(force on the device [N], energy the wall absorbed [J]) at every tick along a path."""
    path = np.ascontiguousarray(path_m, dtype=float)
    force, absorbed = np.empty(len(path)), np.empty(len(path))
    spring, setting = wall(stiffness_N_m)
    follow_entry(path, spring, setting, np.zeros(STATE), way.ratio, way.mode, force, absorbed)
    return force, absorbed


def visit_path() -> np.ndarray:
    """Towards the wall, in, a rest of four periods, and out again [m]; corners at samples of the slow simulation."""
    step = SPEED_M_S * DT_S
    n = (DEPTH_PERIODS + 2) * RATIO
    way_in = -step * np.arange(-2 * RATIO, DEPTH_PERIODS * RATIO)
    rest = np.full(4 * RATIO, -DEPTH_M)
    return np.concatenate([way_in, rest, -DEPTH_M + step * np.arange(n + 1)])


def measured_lag(force: np.ndarray, path: np.ndarray) -> float:
    """How much later than K d(t) a held force is, on the ramp, beyond its first two periods [s]."""
    inside = slice(4 * RATIO, (2 + DEPTH_PERIODS) * RATIO)
    wanted = STIFFNESS_N_M * (-path[inside] + 0.5 * SPEED_M_S * DT_S)  # mean over the tick
    return float(np.mean(wanted - force[inside]) / (STIFFNESS_N_M * SPEED_M_S))


def rise(way: Way) -> tuple[float, float]:
    """(mean time to 90 % of the force [s], overshoot) after a jump into the wall, over all phases of a slow period."""
    times, most = [], 0.0
    full = STIFFNESS_N_M * DEPTH_M
    for jump in range(RATIO, 2 * RATIO):
        path = np.zeros(6 * RATIO)
        path[jump:] = -DEPTH_M
        force, _ = follow(way, path)
        times.append(DT_S * (np.argmax(force >= 0.9 * full * (1.0 - 1e-12)) - jump))
        most = max(most, force.max() / full - 1.0)
    return float(np.mean(times)), most


# ---- device and hand on their own


def meet(way: Way, stiffness_N_m: float, start_m: float, seconds: float) -> np.ndarray:
    """(ticks, 3) position, force, energy absorbed of a device that is let go at rest and pushed towards the wall."""
    spring, setting = wall(stiffness_N_m)
    loop = Loop(mass=MASS_KG, damping=DAMPING_NS_M, dt=DT_S, push=PUSH_N, gap=start_m, wall=spring)
    block, trace = Block(loop, open_accounts(1)), np.empty((round(seconds / DT_S), 3))
    meet_entry(block.address, setting, np.zeros(STATE), way.ratio, way.mode, trace)
    return trace


def multiplier(way: Way, stiffness_N_m: float) -> float:
    """By how much a small motion grows in one slow period, contact kept: spectral radius of (x, v, F_j-1, F_j)."""
    z = DAMPING_NS_M * DT_S / MASS_KG
    a, first = math.exp(-z), -math.expm1(-z) / z
    move = np.array([[1.0, DT_S * first], [0.0, a]])
    pushed = np.array([DT_S**2 * (1.0 - first) / z, DT_S * first]) / MASS_KG
    M = np.eye(4)
    for tick in range(RATIO):
        if tick % way.ratio == 0:
            sample = np.diag([1.0, 1.0, 0.0, 0.0])
            sample[2, 3], sample[3, 0] = 1.0, -stiffness_N_m
            M = sample @ M
        s = (tick % way.ratio) / way.ratio
        weights = {HOLD: (0.0, 1.0), INTERPOLATE: (1.0 - s, s), EXTRAPOLATE: (-s, 1.0 + s)}[way.mode]
        step = np.eye(4)
        step[:2, :2], step[:2, 2:] = move, np.outer(pushed, weights)
        M = step @ M
    return float(np.abs(np.linalg.eigvals(M)).max())


def limit(way: Way) -> float:
    """The stiffness at which a small motion begins to grow [N/m]."""
    low, high = 1.0, 1e5
    while high / low > 1.0 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if multiplier(way, middle) < 1.0 else (low, middle)
    return low


def damping_left(way: Way, stiffness_N_m: float) -> float:
    """2 m times the rate at which a small motion about rest in the wall dies out [N s/m]: b, without a wall."""
    rest = -PUSH_N / stiffness_N_m
    x = np.abs(meet(way, stiffness_N_m, 0.999 * rest, 3.0)[:, 0] - rest)
    peak = np.flatnonzero((x[1:-1] >= x[:-2]) & (x[1:-1] > x[2:])) + 1
    peak = peak[(peak * DT_S > 0.1) & (x[peak] > 1e-13) & (x[peak] < -0.5 * rest)]  # contact kept, above rounding
    return float(-2.0 * MASS_KG * np.polyfit(peak * DT_S, np.log(x[peak]), 1)[0])


# ---- figure and claims


def draw_visit(force_axes: Axes, energy_axes: Axes) -> None:
    path = visit_path()
    t = 1e3 * DT_S * np.arange(len(path))
    force_axes.plot(t, STIFFNESS_N_M * np.maximum(0.0, -path), color="black", lw=0.8, label="the wall, exactly")
    for way in WAYS:
        force, absorbed = follow(way, path)
        force_axes.step(t, force, where="post", color=way.colour, lw=2.4 if way.ratio == 1 else 1.5,
                        alpha=0.55 if way.ratio == 1 else 1.0, label=way.name)  # fmt: skip
        energy_axes.plot(t, -1e3 * absorbed, color=way.colour, lw=1.6,
                         label=f"{way.name}: {-1e3 * absorbed[-1]:.2f} mJ")  # fmt: skip
        energy_axes.plot(t[-1], 1e3 * way.visit_J, "D", color=way.colour, mec="black", ms=7, clip_on=False, zorder=3)
    force_axes.set(ylabel="force on the hand [N]", title=f"a visit to the wall: {100 * SPEED_M_S:g} cm/s, "
                   f"{1e3 * DEPTH_M:g} mm deep, {STIFFNESS_N_M:g} N/m, slow period {1e3 * P_S:g} ms")  # fmt: skip
    energy_axes.axhline(0.0, color="black", lw=0.8)
    energy_axes.set(
        ylabel="energy from the wall to the hand [mJ]", title="what the visitor takes home; diamonds: derived"
    )
    force_axes.legend(fontsize=8)
    energy_axes.legend(fontsize=8, loc="upper left")
    for axes in (force_axes, energy_axes):
        axes.set(xlabel="time [ms]", xlim=(0, t[-1]))


def draw_damping(axes: Axes) -> None:
    fine, some = np.linspace(15.0, 1000.0, 120), np.array([50.0, 100, 150, 200, 300, 400, 500, 600, 700, 800, 900])
    axes.axhspan(-10, 0, color="#b02a2a", alpha=0.08, lw=0)
    axes.axhline(0.0, color="#b02a2a", lw=1)
    axes.text(990, -3.9, "below zero every touch grows", color="#8a1f1f", fontsize=9, ha="right")
    for way in WAYS:
        axes.plot(fine, [-2 * MASS_KG * math.log(multiplier(way, K)) / P_S for K in fine], color=way.colour, lw=1.6,
                  label=f"{way.name}: up to {limit(way):.0f} N/m")  # fmt: skip
        axes.plot(some, [damping_left(way, K) for K in some], "o", color=way.colour, ms=4)
        if way.mode != EXTRAPOLATE:
            axes.plot(fine, DAMPING_NS_M - fine * way.lag_s, ":", color=way.colour, lw=1.2)
    axes.set(xlabel="stiffness K [N/m]", ylabel="damping left [N s/m]", xlim=(0, 1000), ylim=(-4, 3),
             title="what lag leaves of b = 2.5 N s/m; dots: simulated, dotted: b − K τ")  # fmt: skip
    axes.legend(fontsize=8, loc="lower left")


def draw_drop(axes: Axes) -> None:
    axes.axhspan(-80, 0, color="#888888", alpha=0.18, lw=0)
    for way in sorted(WAYS, key=lambda way: -way.lag_s):
        x = meet(way, STIFFNESS_N_M, 10e-3, 2.0)[:, 0]
        axes.plot(DT_S * np.arange(len(x)), 1e3 * x, color=way.colour, lw=1.5, label=way.name)
    axes.text(0.02, -37, "inside the wall", fontsize=9, color="#444444")
    axes.set(xlabel="time [s]", ylabel="position [mm]", xlim=(0, 2), ylim=(-40, 40),
             title=f"pushed with {PUSH_N:g} N against the same wall of {STIFFNESS_N_M:g} N/m")  # fmt: skip
    axes.legend(fontsize=8, loc="upper right", ncols=2)


def claim_visit(report: Report) -> None:
    path = visit_path()
    step, rough = STIFFNESS_N_M * SPEED_M_S * DT_S, STIFFNESS_N_M * SPEED_M_S * P_S
    wait = 0.5 * (P_S - DT_S)  # until the slow simulation looks, on average
    risen = (0.0, wait, wait + math.ceil(0.9 * RATIO) * DT_S, wait)
    for way, rise_s, steps in zip(WAYS, risen, (step, rough, step, rough), strict=True):
        force, absorbed = follow(way, path)
        lag, taken, (rose, over) = measured_lag(force, path), -absorbed[-1], rise(way)
        report.say(
            f"{way.name}: {1e3 * lag:.2f} ms late, gives {1e3 * taken:.2f} mJ a visit, 90 % after {1e3 * rose:.1f} ms"
        )
        expected = (
            ("lag on a ramp", lag, way.lag_s, "s"), ("energy given in a visit", taken, way.visit_J, "J"),
            ("mean time to 90 % after a jump", rose, rise_s, "s"),
            ("largest step of the force", np.abs(np.diff(force)).max(), steps, "N"),
            ("overshoot after a jump", over, (RATIO - 1) / RATIO if way.mode == EXTRAPOLATE else 0.0, ""),
        )  # fmt: skip
        for name, value, derived, unit in expected:
            report.claim(f"{way.name}: {name}", value, derived * (1 - 1e-6) - 1e-12, derived * (1 + 1e-6) + 1e-12, unit)


def claim_loop(report: Report) -> None:
    limits = {way.name: limit(way) for way in WAYS}
    for way in WAYS:
        K = np.array([50.0, 100.0, 200.0, 300.0])
        simulated = np.array([damping_left(way, k) for k in K])
        exact = np.array([-2 * MASS_KG * math.log(multiplier(way, k)) / P_S for k in K])
        report.claim(f"{way.name}: damping left, simulated less eigenvalues, over b",
                     np.abs(simulated - exact).max() / DAMPING_NS_M, high=1e-3)  # fmt: skip
        report.claim(f"{way.name}: damping left at 100 N/m less b - K tau, over b",
                     abs(simulated[1] - DAMPING_NS_M + 100.0 * way.lag_s) / DAMPING_NS_M, high=0.03)  # fmt: skip
        if way.mode != EXTRAPOLATE:
            derived = DAMPING_NS_M / way.lag_s
            report.claim(f"{way.name}: stiffest stable wall over b / tau", limits[way.name] / derived, 0.95, 1.05)
    report.claim(
        "extrapolation: stiffest stable wall over that of hold", limits["extrapolation"] / limits["hold"], low=1.5
    )
    report.claim("in step: stiffest stable wall over that of extrapolation",
                 limits["in step"] / limits["extrapolation"], low=3.0)  # fmt: skip
    for stiffness, settle in ((STIFFNESS_N_M, ("in step", "extrapolation")), (2.0 * STIFFNESS_N_M, ("in step",))):
        for way in WAYS:
            x = 1e3 * meet(way, stiffness, 10e-3, 4.0)[-1000:, 0]
            name = f"{way.name}, {stiffness:g} N/m: motion in the fourth second"
            if way.name in settle:
                report.claim(name, np.ptp(x), high=0.1, unit="mm")
                report.claim(
                    f"{way.name}, {stiffness:g} N/m: highest in the fourth second", x.max(), high=-0.5, unit="mm"
                )
            else:
                report.claim(name, np.ptp(x), low=20.0, unit="mm")


def run(report: Report) -> None:
    claim_visit(report)
    claim_loop(report)
    figure = Figure(figsize=(13.5, 9.0), layout="constrained")
    (force, energy), (damping, drop) = figure.subplots(2, 2)
    draw_visit(force, energy)
    draw_damping(damping)
    draw_drop(drop)
    for axes in (force, energy, damping, drop):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.values |= {
        "servo_period_s": DT_S, "slow_period_s": P_S,
        "stiffest_stable_wall_N_m": {way.name: limit(way) for way in WAYS},
    }  # fmt: skip
    report.figure("sync-vs-async", figure)
