"""What a polygon in place of the friction cone costs: a particle slides in every direction, on k edges and on the cone.

Reference on articulated bodies 6.2c, acceptance item 25.  With edges (Lemke's algorithm) friction acts along the
nearest corner: it pulls sideways, by up to 180/k degrees, and drags too little, by up to 1 - cos(pi/k).  The exact cone
has neither error.  Times are of this run and make no claims.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.figure import Figure

import palpate as pp
from palpate.contact.lemke import lemke_contacts
from palpate.experiments.report import Report

EDGES = (4, 8, 16, 32)
MU = 0.5
SPEED_M_S = 1.0
MASS_KG = 2.0
DT_S = 1e-3
PATH_DT_S = 4e-3
GRAVITY_M_S2 = 9.81
DIRECTIONS = 720
REFERENCE = {4: (44.7, 0.289), 8: (22.2, 0.074), 16: (10.3, 0.016), 32: (5.3, 0.004)}  # worst [deg], drag lost
PROBLEMS = 50
COLOURS = {4: "#d9534f", 8: "#e58a2b", 16: "#7d5ba6", 32: "#2a8a4a"}
EXACT = "#1f5fa8"

Solve = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (G, c) -> lam, for friction MU


def with_edges(k: int, G: np.ndarray, c: np.ndarray, mu: float = MU) -> np.ndarray:
    solution = lemke_contacts(G, c, mu, k)
    if not solution.ok:
        raise RuntimeError(f"Lemke found no solution with {k} edges")
    return solution.lam


def with_cone(G: np.ndarray, c: np.ndarray, mu: float = MU) -> np.ndarray:
    return pp.solve_contacts(G, c, mu, tolerance=1e-13)[0]


def friction(solve: Solve, angles: np.ndarray) -> np.ndarray:
    """Friction over its limit mu l_n, (n, 2), of a particle that slides in these directions under its weight."""
    G = np.eye(3) / MASS_KG
    rows = []
    for angle in angles:
        lam = solve(G, np.array([-GRAVITY_M_S2 * DT_S, SPEED_M_S * np.cos(angle), SPEED_M_S * np.sin(angle)]))
        rows.append(lam[1:] / (MU * lam[0]))
    return np.array(rows)


def errors(f: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(sideways angle [deg], part of the drag that is lost) against friction that opposes the sliding."""
    against = -np.stack([np.cos(angles), np.sin(angles)], axis=1)
    along = (f * against).sum(axis=1)
    across = f[:, 0] * against[:, 1] - f[:, 1] * against[:, 0]
    return np.degrees(np.abs(np.arctan2(across, along))), 1.0 - along


def path(solve: Solve, angle: float) -> np.ndarray:
    """Where a particle slides that starts at the origin in this direction, until it stops (n, 2) [m]."""
    G = np.eye(3) / MASS_KG
    v, at = SPEED_M_S * np.array([np.cos(angle), np.sin(angle)]), np.zeros(2)
    points = [at]
    while np.linalg.norm(v) > 1e-6 and len(points) < 1000:
        v = v + solve(G, np.array([-GRAVITY_M_S2 * PATH_DT_S, *v]))[1:] / MASS_KG
        at = at + PATH_DT_S * v
        points.append(at)
    return np.array(points)


def well_conditioned(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A random problem of acceptance item 25: m <= 4 contacts, G = J J^T / n + 0.2."""
    n = 3 * int(rng.integers(1, 5))
    J = rng.normal(size=(n, n))
    return J @ J.T / n + 0.2 * np.eye(n), rng.normal(size=n)


def normal_differences(k: int, rng: np.random.Generator) -> np.ndarray:
    """Normal impulses with k edges against the exact ones, over the largest of each problem."""
    found = []
    for _ in range(PROBLEMS):
        G, c = well_conditioned(rng)
        exact = with_cone(G, c, 0.4)[::3]
        if exact.max() > 0.0:
            found.append(np.abs(with_edges(k, G, c, 0.4)[::3] - exact) / exact.max())
    return np.concatenate(found)


def microseconds(solve: Solve, G: np.ndarray, c: np.ndarray, repeat: int = 20) -> float:
    """The median time of a call."""
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        solve(G, c)
        times.append(time.perf_counter() - began)
    return 1e6 * float(np.median(times))


def draw(angles: np.ndarray, f: dict[int, np.ndarray], worst: dict[int, tuple[float, float]],
         paths: dict[str, np.ndarray], times: dict[str, tuple[float, float]]) -> Figure:  # fmt: skip
    figure = Figure(figsize=(12.5, 7.6), layout="constrained")
    (sideways, size), (above, duration) = figure.subplots(2, 2)
    heading = np.degrees(angles)
    for k in EDGES:
        sideways.plot(heading, errors(f[k], angles)[0], color=COLOURS[k], lw=1.4, label=f"{k} edges")
    sideways.plot(heading, 0.0 * heading, color=EXACT, lw=2.4, label="exact cone")
    sideways.set(xlabel="direction of sliding [deg]", ylabel="friction off by [deg]", xlim=(0, 180), ylim=(-2, 60),
                 title="direction of friction", xticks=range(0, 181, 45))  # fmt: skip
    sideways.legend(fontsize=8, ncols=5, loc="upper center", columnspacing=1.0, handlelength=1.4)
    ks = np.array(EDGES)
    smooth = np.geomspace(3.6, 36, 60)
    size.loglog(smooth, 180 / smooth, "--", color="#999999", lw=1)
    size.loglog(
        smooth, 100 * (1 - np.cos(np.pi / smooth)), "--", color="#999999", lw=1, label="180°/k and 1 − cos(π/k)"
    )
    size.loglog(ks, [worst[k][0] for k in EDGES], "o", color="#d9534f", ms=7, label="worst direction [deg]")
    size.loglog(ks, [100 * worst[k][1] for k in EDGES], "s", color="#7d5ba6", ms=7, label="worst loss of drag [%]")
    size.set(xlabel="edges k", ylabel="worst error", title="error over number of edges; exact cone: rounding")
    size.set_xticks(EDGES, [str(k) for k in EDGES])
    size.minorticks_off()
    size.legend(fontsize=8)
    for name, points in paths.items():
        colour = EXACT if name == "exact cone" else COLOURS[int(name.split()[0])]
        above.plot(100 * points[:, 0], 100 * points[:, 1], color=colour, lw=2.2 if colour == EXACT else 1.4, label=name)
        above.plot(*(100 * points[-1]), "o", color=colour, ms=5)
    above.set(xlabel="x [cm]", ylabel="y [cm]", title="a sliding particle from above, until it stops", aspect="equal")
    above.legend(fontsize=8, loc="lower right")
    place = np.arange(len(times))
    for offset, column, label, shade in ((-0.2, 0, "1 contact", 0.55), (0.2, 1, "8 contacts", 1.0)):
        values = [t[column] for t in times.values()]
        colours = [EXACT if "exact" in name else "#8a8a8a" for name in times]
        bars = duration.bar(place + offset, values, 0.38, color=colours, alpha=shade, label=label)
        duration.bar_label(bars, [f"{v:.0f}" if v < 9950 else f"{v / 1000:.0f}k" for v in values], fontsize=7)
    duration.set(
        yscale="log",
        ylabel="time in this run [µs]",
        title="time of a whole call from Python; Lemke in plain numpy",
        ylim=(50, None),
    )
    duration.set_xticks(place, list(times), fontsize=8)
    duration.margins(y=0.12)
    duration.legend(fontsize=8, loc="upper left")
    for axes in (sideways, size, above, duration):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    return figure


def run(report: Report) -> None:
    angles = 2.0 * np.pi * (np.arange(DIRECTIONS) + 0.25) / DIRECTIONS
    f = {k: friction(partial(with_edges, k), angles) for k in EDGES}
    worst = {}
    for k in EDGES:
        off, lost = errors(f[k], angles)
        worst[k] = float(off.max()), float(lost.max())
        report.say(f"{k} edges: friction up to {worst[k][0]:.1f} deg off, up to {100 * worst[k][1]:.2f} % of the drag "
                   f"lost (reference {REFERENCE[k][0]} deg, {100 * REFERENCE[k][1]:.1f} %)")  # fmt: skip
        report.claim(f"{k} edges, worst direction error", worst[k][0], 0.9 * 180 / k, 180 / k, "deg")
        limit = 1.0 - float(np.cos(np.pi / k))
        report.claim(f"{k} edges, largest part of the drag lost", worst[k][1], 0.8 * limit, limit + 1e-9)
    off, lost = errors(friction(with_cone, angles), angles)
    report.claim("exact cone, worst direction error", off.max(), high=1e-5, unit="deg")
    report.claim("exact cone, largest part of the drag lost", np.abs(lost).max(), high=1e-12)
    for k, median, largest in ((16, 0.015, 0.06), (32, 0.005, 0.03)):
        apart = normal_differences(k, np.random.default_rng(25))
        report.claim(f"{k} edges, normal impulses of {PROBLEMS} problems, median difference",
                     np.median(apart), high=median)  # fmt: skip
        report.claim(
            f"{k} edges, normal impulses of {PROBLEMS} problems, largest difference", apart.max(), high=largest
        )
    heading = np.radians(18.0)
    paths = {f"{k} edges": path(partial(with_edges, k), heading) for k in EDGES}
    paths["exact cone"] = path(with_cone, heading)
    end = paths["exact cone"][-1]
    report.claim("exact cone, sideways at the end of the path",
                 abs(end[1] * np.cos(heading) - end[0] * np.sin(heading)), high=1e-12, unit="m")  # fmt: skip
    rng = np.random.default_rng(8)
    J = rng.normal(size=(24, 24))
    small = np.eye(3) / MASS_KG, np.array([-GRAVITY_M_S2 * DT_S, SPEED_M_S, 0.3])
    large = J @ J.T / 24 + 0.2 * np.eye(24), rng.normal(size=24)
    solvers: dict[str, Solve] = {f"{k} edges": partial(with_edges, k) for k in EDGES} | {"exact cone": with_cone}
    times = {name: (microseconds(solve, *small), microseconds(solve, *large)) for name, solve in solvers.items()}
    report.values |= {
        "worst_direction_deg": {k: worst[k][0] for k in EDGES},
        "drag_lost": {k: worst[k][1] for k in EDGES},
        "microseconds_1_and_8_contacts": times,
    }
    report.figure("friction-cones", draw(angles, f, worst, paths, times))
