"""Z-width: which virtual walls a sampled device can show.  Colgate & Brown 1994; reference on planar haptics 8.5.

A device of mass m and damping b, held force (its motion between samples is exact), is let go 5 mm before a wall
f = -K x - B v^ and pushed with 2 N.  v^ is the backward difference, low-pass filtered.  A wall is *stable* when in the
last of 5 s contact is never lost and the motion is small.  K is raised until it is not.  Beside that:

linear limit   spectral radius < 1 of device, hold, difference and filter, contact never lost; near 2 (b + B)/T
passive limit  K < 2 (b - |B|)/T: no hand whatever can make this wall give energy (Colgate & Schenkel 1997)

Virtual damping raises the first and lowers the second.  Then the remedies of haptics/passivity.py and
haptics/virtual_coupling.py: how far a device that a hand damps to 2.5 N s/m moves in the last second, and what is felt.
Other devices, rates and methods: `run(report, mass_kg=..., rate_hz=..., method=...)`, the fields of Setup.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from palpate.experiments.report import Report
from palpate.experiments.wall_loops import Loop, drops_entry
from palpate.haptics.contact_laws import STATE, WallLaw, find_contact_law
from palpate.haptics.passivity import open_accounts
from palpate.jit import Block

METHODS = ("none", "coupling", "controller", "bounding")  # in the order of wall_loops


# ---- the protocol


@dataclass(frozen=True)
class Setup:
    """Device, loop and protocol of a drop."""

    mass_kg: float = 0.35
    damping_Ns_m: float = 0.5
    rate_hz: float = 500.0
    filter_hz: float = 30.0  # of the velocity; inf: raw
    method: str = "none"  # one of METHODS
    wall: str = "zoh"  # law of haptics/contact_laws.py, with its settings but stiffness and damping as they are
    coupling_N_m: float = 1500.0
    coupling_Ns_m: float = 2.0
    tool_kg: float = 0.1
    declared_Ns_m: float = 0.5  # device damping that energy bounding counts on
    forget_s: float = math.inf  # passivity controller: E is set to 0 after this long without contact
    push_N: float = 2.0
    gap_m: float = 5e-3
    encoder_m: float = 20e-6  # step of the position sensor; 0: none
    seconds: float = 5.0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"z-width: method is {self.method!r}, it must be one of {', '.join(METHODS)}")
        if self.method == "coupling" and self.wall != "zoh":
            raise ValueError("z-width: the coupling's tool meets a spring and damper, so the wall must be 'zoh'")
        find_contact_law(WallLaw, self.wall)
        for name in ("mass_kg", "damping_Ns_m", "rate_hz", "filter_hz", "tool_kg", "push_N", "gap_m", "forget_s"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"z-width: {name} must be positive")
        for name in ("coupling_N_m", "coupling_Ns_m", "declared_Ns_m", "encoder_m"):
            if not getattr(self, name) >= 0.0:
                raise ValueError(f"z-width: {name} must not be negative")
        if not 1.0 <= self.seconds < math.inf:
            raise ValueError("z-width: seconds must be at least 1: the last second is judged")

    @property
    def dt_s(self) -> float:
        return 1.0 / self.rate_hz

    def loop(self) -> Loop:
        """For kernels."""
        return Loop(
            mass=self.mass_kg, damping=self.damping_Ns_m, dt=self.dt_s, push=self.push_N, gap=self.gap_m,
            encoder=self.encoder_m, smoothing=1.0 - math.exp(-2.0 * math.pi * self.filter_hz * self.dt_s),
            steps=round(self.seconds * self.rate_hz), watched=round(self.rate_hz),
            coupling_stiffness=self.coupling_N_m, coupling_damping=self.coupling_Ns_m, tool=self.tool_kg,
            declared=self.declared_Ns_m, forget_s=self.forget_s, method=METHODS.index(self.method),
            wall=find_contact_law(WallLaw, self.wall).address,
        )  # fmt: skip


class Drops(NamedTuple):
    """What drops on n walls left, (n,) each; trace (steps, 3) of the last: position [m], force [N], energy [J]."""

    highest_m: np.ndarray
    lowest_m: np.ndarray
    mean_m: np.ndarray
    created_J: np.ndarray
    spared_J: np.ndarray
    trace: np.ndarray

    @property
    def motion_m(self) -> np.ndarray:
        """Peak to peak, in the last second."""
        return self.highest_m - self.lowest_m

    @property
    def touching(self) -> np.ndarray:
        """Contact was never lost in the last second."""
        return self.highest_m < 0.0


def drops(setup: Setup, stiffness_N_m: ArrayLike, damping_Ns_m: ArrayLike, trace: bool = False) -> Drops:
    """Let the device go before walls of these stiffnesses and dampings (broadcast against each other)."""
    K, B = np.broadcast_arrays(np.asarray(stiffness_N_m, float), np.asarray(damping_Ns_m, float))
    settings = np.tile(find_contact_law(WallLaw, setup.wall).row(), (K.size, 1))
    settings[:, 0], settings[:, 1] = K.ravel(), B.ravel()
    loop, out = setup.loop(), np.empty((K.size, 5))
    block, path = Block(loop, open_accounts(1)), np.empty((loop.steps if trace else 0, 3))
    drops_entry(block.address, settings, np.zeros(STATE), out, path)
    highest, lowest, mean, created, spared = out.T.reshape(5, *K.shape)
    return Drops(highest, lowest, mean, created, spared, path)


def stable(setup: Setup, found: Drops) -> np.ndarray:
    """In the last second contact is never lost and motion is below half the penetration and five encoder steps."""
    return found.touching & (found.motion_m < 0.5 * np.abs(found.mean_m) + 5.0 * setup.encoder_m)


def stiffest(stiffness_N_m: np.ndarray, ok: np.ndarray) -> np.ndarray:
    """The last stable K before the first failure, for each row of ok (B, K); 0: none."""
    count = np.where(ok.all(axis=1), ok.shape[1], np.argmin(ok, axis=1))
    return np.where(count > 0, stiffness_N_m[count - 1], 0.0)


def linear_limit(setup: Setup, damping_Ns_m: float) -> float:
    """The K [N/m] at which device, hold, difference and filter first have an eigenvalue on the unit circle."""
    m, dt, w = setup.mass_kg, setup.dt_s, setup.loop().smoothing
    z = setup.damping_Ns_m * dt / m
    # not from held_motion: another way to the same numbers, the matrix exponential's series
    A = np.array([[0.0, 1.0, 0.0], [0.0, -z / dt, 1.0 / m], [0.0, 0.0, 0.0]]) * dt
    E, term = np.eye(3), np.eye(3)
    for n in range(1, 30):
        term = term @ A / n
        E = E + term

    def radius(K: np.ndarray) -> np.ndarray:
        """Of the state (x, v, x before, filtered velocity before)."""
        velocity = np.array([w / dt, 0.0, -w / dt, 1.0 - w])
        force = -damping_Ns_m * velocity - K[:, None] * np.array([1.0, 0.0, 0.0, 0.0])
        M = np.zeros((len(K), 4, 4))
        M[:, 0], M[:, 1] = np.r_[E[0, :2], 0, 0] + E[0, 2] * force, np.r_[E[1, :2], 0, 0] + E[1, 2] * force
        M[:, 2, 0], M[:, 3] = 1.0, velocity
        return np.abs(np.linalg.eigvals(M)).max(axis=1)

    grid = np.geomspace(1.0, 1e7, 400)
    fails = np.flatnonzero(radius(grid) >= 1.0)
    if len(fails) == 0 or fails[0] == 0:
        return math.inf if len(fails) == 0 else 0.0
    low, high = grid[fails[0] - 1], grid[fails[0]]
    while high / low > 1.0 + 1e-6:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if radius(np.array([middle]))[0] < 1.0 else (low, middle)
    return float(low)


def passive_limit(setup: Setup, damping_Ns_m: np.ndarray) -> np.ndarray:
    """K [N/m] below which the wall is passive, with raw velocity: 2 (b - |B|)/T; 0: none is."""
    return np.maximum(0.0, 2.0 * (setup.damping_Ns_m - np.abs(damping_Ns_m)) * setup.rate_hz)


def least_damping(stiffness_N_m: float, damping_Ns_m: float, dt_s: float, points: int = 20_000) -> float:
    """The device damping b [N s/m] below which a hand exists that draws energy from the wall: sup over frequencies.

    (T/2) / (1 - cos wT) Re{(1 - e^-jwT) H(e^jwT)},  H = K + B (1 - z^-1)/T     Colgate & Schenkel
    """
    angle = np.linspace(1e-4, math.pi, points)  # w T
    back = 1.0 - np.exp(-1j * angle)
    H = stiffness_N_m + damping_Ns_m / dt_s * back
    return float((0.5 * dt_s / (1.0 - np.cos(angle)) * (back * H).real).max())


# ---- figure and claims

# the reference's table: B [N s/m]: linear limit raw, linear limit and drops with the 30 Hz filter (None: not run) [N/m]
REFERENCE: dict[float, tuple[float, float, float | None]] = {
    0: (499, 499, 204), 1: (1486, 1370, None), 2: (2463, 2127, 1676), 5: (5338, 3949, 3384), 10: (9911, 6130, 5406),
    20: (18253, 9062, 8635), 40: (32014, 12348, 12269), 80: (50511, 14891, None), 140: (59930, 14532, None),
    200: (54796, 11855, None),
}  # fmt: skip
STIFFNESS_N_M = np.geomspace(50.0, 50_000.0, 60)
DAMPING_NS_M = np.r_[0.0, np.geomspace(0.25, 200.0, 48)]
HELD = Setup(damping_Ns_m=2.5, push_N=3.0, gap_m=10e-3, encoder_m=0.0, seconds=6.0)  # a hand adds 2 N s/m
REMEDIES = {
    "none: the wall itself": (HELD, "#d9534f"),
    "passivity controller": (replace(HELD, method="controller"), "#e58a2b"),
    "energy bounding, b = 0.5 declared": (replace(HELD, method="bounding"), "#2a8a4a"),
    "virtual coupling, 1500 N/m, 2 N s/m": (replace(HELD, method="coupling"), "#1f5fa8"),
}
REMEDY_N_M = np.geomspace(50.0, 20_000.0, 50)
LIMIT, PASSIVE = "#1f5fa8", "#b02a2a"


def paint(axes: Axes, B: np.ndarray, K: np.ndarray, ok: np.ndarray) -> None:
    """Stable walls green."""
    shade = np.where(ok.T, 1.0, np.nan)
    axes.pcolormesh(B, K, shade, cmap="Greens", vmin=0, vmax=3, shading="nearest", rasterized=True)
    axes.set(xlabel="virtual damping B [N s/m]", ylabel="virtual stiffness K [N/m]")


def draw_region(axes: Axes, setup: Setup, ok: np.ndarray, raw: np.ndarray, filtered: np.ndarray) -> None:
    """The whole plane: what drops found, below the linear limits."""
    B, K, b, rate = DAMPING_NS_M, STIFFNESS_N_M, setup.damping_Ns_m, setup.rate_hz
    paint(axes, B, K, ok)
    axes.plot(B, stiffest(K, ok), "o", color="#2a8a4a", ms=3.5, label="drops: last stable K")
    if setup == Setup():
        given = np.array([(b, k) for b, (_, _, k) in REFERENCE.items() if k is not None])
        axes.plot(*given.T, "D", mfc="none", mec="black", ms=7, label="drops, reference")
    axes.plot(B, filtered, color=LIMIT, lw=2, label=f"linear limit, velocity filtered at {setup.filter_hz:g} Hz")
    axes.plot(B, raw, "--", color=LIMIT, lw=1.4, label="linear limit, raw velocity")
    axes.plot(B, 2.0 * (b + B) * rate, ":", color="#777777", lw=1.4, label="2 (b + B) / T")
    fine = np.linspace(0.0, 0.999 * b, 200)
    axes.plot(fine, passive_limit(setup, fine), color=PASSIVE, lw=2, label="passive limit  2 (b − B) / T")
    axes.axvline(setup.mass_kg * rate, color="#777777", lw=0.8)
    axes.text(0.96 * setup.mass_kg * rate, 1.1e5, "m/T", fontsize=8, color="#555555", ha="right")
    axes.set_xscale("symlog", linthresh=1.0, linscale=0.7)
    axes.set_xticks([0, 0.5, 1, 2, 5, 10, 20, 50, 100, 200], ["0", "½", "1", "2", "5", "10", "20", "50", "100", "200"])
    axes.set(yscale="log", xlim=(0, 200), ylim=(50, 1.5e5))
    axes.set_title(
        f"{setup.wall} walls that settle in {setup.seconds:g} s: {setup.mass_kg:g} kg, b = {b:g} N s/m, {rate:g} Hz"
    )
    axes.legend(fontsize=8, loc="lower center")


def draw_near(axes: Axes, setup: Setup) -> None:
    """The corner near B = 0, where passive walls are; drops without filter and encoder."""
    plain, b = replace(setup, filter_hz=math.inf, encoder_m=0.0), setup.damping_Ns_m
    top = 6.0 * b * setup.rate_hz
    B, K = np.linspace(0.0, 2.4 * b, 25), np.linspace(0.0, top, 61)
    paint(axes, B, K, stable(plain, drops(plain, K[None, :], B[:, None])))
    axes.plot(B, [linear_limit(plain, x) for x in B], "--", color=LIMIT, lw=1.6)
    axes.plot(B, passive_limit(setup, B), color=PASSIVE, lw=2)
    axes.fill_between(B, passive_limit(setup, B), color=PASSIVE, alpha=0.18, lw=0)
    for x, y, words, colour in (
        (0.05, 0.07, "passive: no hand\ncan draw energy", "#8a1f1f"),
        (1.45, 0.3, "settles after this drop,\nbut is not passive", "#1d6535"),
        (1.3, 0.68, f"still moving after {setup.seconds:g} s", "#444444"),
        (0.3, 0.78, "unstable", LIMIT),
    ):
        axes.text(x * b, y * top, words, color=colour, fontsize=9)
    axes.set(
        xlim=(0, B[-1]), ylim=(0, top), title="near B = 0, raw velocity: damping widens one limit, narrows the other"
    )


def draw_remedies(motion: Axes, felt: Axes, found: dict[str, Drops]) -> None:
    K = REMEDY_N_M
    felt.loglog(K, K, ":", color="#777777", lw=1.2)
    for (name, (setup, colour)), width in zip(REMEDIES.items(), (6.0, 1.8, 1.8, 1.8), strict=True):
        drop = found[name]
        settled, shown = stable(setup, drop), setup.push_N / -drop.mean_m
        motion.loglog(K, 1e3 * drop.motion_m, color=colour, lw=1.8, label=name)
        felt.loglog(K[settled], shown[settled], color=colour, lw=width, alpha=0.45 if width > 2 else 1.0)
        felt.loglog(K[settled][-1], shown[settled][-1], "o", color=colour, ms=7)
    motion.set(
        ylabel="motion in the last second [mm]", ylim=(3e-6, 100), title="remedies at B = 0: how far it still moves"
    )
    felt.set(ylabel="stiffness felt [N/m]", ylim=(30, 3e4), title="... and what is felt, where it settles")
    for words, x, y, colour in (("as asked", 52, 160, "#777777"), ("the wall itself ends here", 2900, 1900, "#d9534f"),
                                ("coupling in series", 4000, 900, "#1f5fa8"),
                                ("2 b/T: all that declared damping can pay for", 900, 380, "#2a8a4a")):  # fmt: skip
        felt.text(x, y, words, fontsize=9, color=colour)
    motion.legend(fontsize=8)
    for axes in (motion, felt):
        axes.set_xlabel(f"stiffness asked for [N/m], device held by a hand: b = {HELD.damping_Ns_m:g} N s/m")


def claim_reference(report: Report, setup: Setup, raw_setup: Setup) -> None:
    """The table of 8.5, and acceptance 34 and 38 of the reference on planar haptics."""
    limits = {B: (linear_limit(raw_setup, B), linear_limit(setup, B)) for B in REFERENCE}
    for B, (raw, filtered, dropped) in REFERENCE.items():
        for name, limit, given in (("raw", limits[B][0], raw), ("filtered", limits[B][1], filtered)):
            # the reference names the last stable point of a grid of 0.8 %, rounded
            report.claim(f"linear limit at B = {B:g}, {name}", limit, given - 0.5, 1.008 * (given + 0.5), "N/m")
        if dropped is not None:
            found = stiffest(STIFFNESS_N_M, stable(setup, drops(setup, STIFFNESS_N_M[None, :], B)))[0]
            report.claim(f"drops at B = {B:g}, last stable K", found, dropped - 0.5, dropped + 0.5, "N/m")
    report.claim("linear limit at B = 0", limits[0][0], 495.0, 505.0, "N/m")
    apart = [abs(limits[B][0] / (2.0 * (setup.damping_Ns_m + B) * setup.rate_hz) - 1.0) for B in REFERENCE if B <= 10]
    report.claim("raw limit off 2 (b + B)/T, largest for B <= 10", max(apart), high=0.08)
    best = max(np.arange(100.0, 200.1, 2.0), key=lambda B: linear_limit(raw_setup, B))
    report.claim("B of the largest raw limit", best, 120, 180, "N s/m")
    for K, b in ((500.0, 0.0), (500.0, 0.3), (500.0, -0.3), (2000.0, 1.0)):
        report.claim(f"damping that passivity asks for over K T/2 + |B|, K = {K:g}, B = {b:g}",
                     least_damping(K, b, setup.dt_s) / (0.5 * K * setup.dt_s + abs(b)), 0.999, 1.001)  # fmt: skip


def claim_passive(report: Report, setup: Setup) -> None:
    """Below the passive limit no drop gets energy out of the wall; at four times the linear limit drops do."""
    plain = replace(setup, filter_hz=math.inf, encoder_m=0.0, method="none", wall="zoh")
    B = np.linspace(0.0, 0.95 * setup.damping_Ns_m, 20)
    inside = drops(plain, np.linspace(0.05, 1.0, 20)[:, None] * passive_limit(setup, B), B)
    report.claim("energy created by passive walls, largest", inside.created_J.max(), high=1e-12, unit="J")
    beyond = drops(plain, 4.0 * linear_limit(plain, 0.0), 0.0)
    report.claim("energy created at four times the linear limit", beyond.created_J.max(), low=1e-6, unit="J")


def claim_remedies(report: Report, found: dict[str, Drops]) -> None:
    """What 8.1 to 8.3 promise, on a device that a hand damps."""
    none, controller, bounding, coupling = found.values()
    report.claim("motion without a remedy at 20 kN/m", 1e3 * none.motion_m[-1], low=10.0, unit="mm")
    report.claim("passivity controller, largest motion", 1e3 * controller.motion_m.max(), high=2.0, unit="mm")
    report.claim("passivity controller, walls on which contact is lost", np.sum(~controller.touching), high=0)
    report.claim("energy bounding, largest motion", 1e3 * bounding.motion_m.max(), high=0.01, unit="mm")
    report.claim("energy bounding, lowest of its sum", bounding.spared_J.min(), low=-1e-9, unit="J")
    report.claim("virtual coupling, largest motion", 1e3 * coupling.motion_m.max(), high=0.01, unit="mm")


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup; the claims of the reference's table are made for its own set-up."""
    setup = Setup(**options)  # type: ignore[arg-type]
    raw_setup = replace(setup, filter_hz=math.inf)
    ok = stable(setup, drops(setup, STIFFNESS_N_M[None, :], DAMPING_NS_M[:, None]))
    dropped = stiffest(STIFFNESS_N_M, ok)
    filtered, raw = (np.array([linear_limit(s, B) for B in DAMPING_NS_M]) for s in (setup, raw_setup))
    report.say(f"{ok.size} walls, {ok.sum()} settle; stiffest {dropped.max():.0f} N/m")
    if setup == Setup():
        claim_reference(report, setup, raw_setup)
    if setup.method == "none" and setup.wall == "zoh":
        grid = STIFFNESS_N_M[1] / STIFFNESS_N_M[0]
        report.claim("walls that settle above the linear limit, by more than the grid",
                     np.sum(dropped > grid * filtered), high=0)  # fmt: skip
    claim_passive(report, setup)
    found = {name: drops(remedy, REMEDY_N_M, 0.0) for name, (remedy, _) in REMEDIES.items()}
    claim_remedies(report, found)
    figure = Figure(figsize=(13.5, 9.5), layout="constrained")
    (whole, near), (motion, felt) = figure.subplots(2, 2)
    draw_region(whole, setup, ok, raw, filtered)
    draw_near(near, setup)
    draw_remedies(motion, felt, found)
    for axes in (whole, near, motion, felt):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.values |= {
        "setup": asdict(setup), "B_Ns_m": DAMPING_NS_M.tolist(), "drops_N_m": dropped.tolist(),
        "linear_limit_N_m": filtered.tolist(), "linear_limit_raw_N_m": raw.tolist(),
    }  # fmt: skip
    report.figure("z-width", figure)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
