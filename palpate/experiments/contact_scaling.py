"""How the time of a contact solve grows with contacts and with bodies: the (3m x 3m) form, Lemke, the World.

A stack of boxes, each face on a ring of contact points; the top box has been kicked along x, which is one of Lemke's
directions, so that all methods have the same solution.  Impulses of redundant points are not unique, velocities are:
they are what is compared.  Times are of this run and make no claims.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import palpate as pp
from palpate.contact.lemke import lemke_contacts
from palpate.experiments.report import Report

HALF_M = 0.1  # half the edge of a box
MASS_KG = 1.0
MU = 0.5
DT_S = 1e-3
KICK_M_S = 0.05
LEMKE_EDGES = 8
POINTS = (4, 8, 16, 24, 32, 64, 104)  # under one box
BOXES = (1, 2, 4, 6, 8, 12, 16)  # with four points each
TOLERANCE = 1e-8
FOOT_M = 0.004  # radius of the spheres a box of the World stands on


@dataclass(frozen=True)
class Stack:
    """Boxes on the ground and on each other; `points` contacts on each face, rows (n, t1, t2) = (z, x, y)."""

    boxes: int
    points: int

    @property
    def contacts(self) -> int:
        return self.boxes * self.points

    @cached_property
    def J(self) -> np.ndarray:
        """(3m, 6 boxes): velocities of contact points from twists (angular, linear) of the boxes, world axes."""
        J = np.zeros((self.boxes, self.points, 3, self.boxes, 6))
        angle = 2.0 * np.pi * (np.arange(self.points) + 0.5) / self.points
        axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        for k, (x, y) in enumerate(HALF_M * np.stack([np.cos(angle), np.sin(angle)], axis=1)):
            below, above = np.array([x, y, -HALF_M]), np.array([x, y, HALF_M])
            for box in range(self.boxes):
                J[box, k, :, box] = np.hstack([np.cross(below, axes), axes])
                if box > 0:
                    J[box, k, :, box - 1] = -np.hstack([np.cross(above, axes), axes])
        return J.reshape(3 * self.contacts, 6 * self.boxes)

    @cached_property
    def inverse_inertia(self) -> np.ndarray:
        turning = MASS_KG * (2.0 * HALF_M) ** 2 / 6.0
        return np.tile(1.0 / np.array([turning] * 3 + [MASS_KG] * 3), self.boxes)

    @cached_property
    def free_velocity(self) -> np.ndarray:
        """After a step of falling, without contact."""
        v = np.zeros((self.boxes, 6))
        v[:, 5] = -9.81 * DT_S
        v[-1, 3] = KICK_M_S
        return v.ravel()

    @property
    def G(self) -> np.ndarray:
        return (self.J * self.inverse_inertia) @ self.J.T

    @property
    def c(self) -> np.ndarray:
        return self.J @ self.free_velocity

    def velocity(self, lam: np.ndarray) -> np.ndarray:
        """(boxes, 6) after the impulses."""
        return (self.free_velocity + self.inverse_inertia * (self.J.T @ lam)).reshape(-1, 6)


class Outcome(NamedTuple):
    """velocity (boxes, 6) after the step; milliseconds of the solve; relative residual, if the method has one."""

    velocity: np.ndarray
    ms: float
    residual: float


def timed(solve: Callable[[], np.ndarray], most_s: float = 0.3) -> tuple[np.ndarray, float]:
    """(result, median milliseconds) of as many calls as fit, at least one after a first."""
    result = solve()
    times: list[float] = []
    end = time.perf_counter() + most_s
    while not times or (time.perf_counter() < end and len(times) < 50):
        began = time.perf_counter()
        result = solve()
        times.append(time.perf_counter() - began)
    return result, 1e3 * float(np.median(times))


def dense(stack: Stack) -> Outcome | None:
    """pp.solve_contacts on the (3m x 3m) matrix, cold; forming the matrix is not in the time."""
    G, c = stack.G, stack.c
    lam, ms = timed(lambda: pp.solve_contacts(G, c, MU, TOLERANCE)[0])
    return Outcome(stack.velocity(lam), ms, pp.solve_contacts(G, c, MU, TOLERANCE)[1].relative_residual)


def lemke(stack: Stack) -> Outcome | None:
    """Lemke with polygons, in plain numpy; no point where its path ends in a ray, nor beyond 48 contacts (slow)."""
    if stack.contacts > 48:
        return None
    G, c = stack.G, stack.c
    solution = lemke_contacts(G, c, MU, LEMKE_EDGES)
    if not solution.ok:
        return None
    _, ms = timed(lambda: lemke_contacts(G, c, MU, LEMKE_EDGES).lam)
    return Outcome(stack.velocity(solution.lam), ms, np.nan)


def standing_boxes(stack: Stack) -> pp.World:
    """The same stack as a World: each box stands on small spheres at the stack's points, and on nothing else."""
    angle = 2.0 * np.pi * (np.arange(stack.points) + 0.5) / stack.points
    rubber = pp.Material("rubber", friction=MU)
    body = pp.Shape("box", (2 * HALF_M, 2 * HALF_M, 2 * HALF_M - FOOT_M), pp.Transform(p=(0, 0, FOOT_M / 2)), rubber)
    feet = tuple(
        pp.Shape("sphere", (FOOT_M,), pp.Transform(p=(x, y, FOOT_M - HALF_M)), rubber)
        for x, y in zip((HALF_M * np.cos(angle)).tolist(), (HALF_M * np.sin(angle)).tolist(), strict=True)
    )
    parts = []
    for i in range(stack.boxes):
        box = pp.models.box((2 * HALF_M,) * 3, mass=MASS_KG, at=(0, 0, HALF_M * (2 * i + 1)), name=f"box{i}")
        parts.append(replace(box, bodies=(replace(box.bodies[0], shapes=(body, *feet)),)))
    floor = pp.models.plane(material=rubber)
    return pp.World([*parts, floor], DT_S, full=True, margin=0.5 * FOOT_M, tolerance=TOLERANCE, budget=10**9)


def body_space(stack: Stack) -> Outcome | None:
    """The World's solver, in the space of touching bodies, cold; the time is of the whole step, collision included."""
    world = standing_boxes(stack)
    world.v[6 * (stack.boxes - 1) + 3] = KICK_M_S
    start = world.snapshot()
    times = []
    for _ in range(30):
        world.restore(start)
        began = time.perf_counter()
        world.step()
        times.append(time.perf_counter() - began)
    assert world.report.contacts == stack.contacts
    turns = [world.pose(f"box{i}")[:3, :3] for i in range(stack.boxes)]
    velocity = np.array([np.r_[R @ v[:3], R @ v[3:]] for R, v in zip(turns, world.v.reshape(-1, 6), strict=True)])
    return Outcome(velocity, 1e3 * float(np.median(times)), world.report.relative_residual)


METHODS: dict[str, tuple[Callable[[Stack], Outcome | None], str]] = {
    "dense (3m × 3m), solve_contacts": (dense, "#1f5fa8"),
    f"Lemke, {LEMKE_EDGES} edges, numpy": (lemke, "#d9534f"),
    "in the space of bodies, the whole step": (body_space, "#2a8a4a"),
}
Curves = dict[str, list[tuple[int, Outcome]]]  # method -> (size, outcome)


def measure(stacks: dict[int, Stack]) -> Curves:
    found: Curves = {name: [] for name in METHODS}
    for size, stack in stacks.items():
        for name, (solve, _) in METHODS.items():
            outcome = solve(stack)
            if outcome is not None:
                found[name].append((size, outcome))
    return {name: points for name, points in found.items() if points}


def apart(curves: Curves) -> float:
    """The largest difference of velocities between any method and the first, where both were measured."""
    first = dict(next(iter(curves.values())))
    return max(float(np.abs(outcome.velocity - first[size].velocity).max())
               for points in curves.values() for size, outcome in points)  # fmt: skip


def draw(contacts: Curves, bodies: Curves) -> Figure:
    figure = Figure(figsize=(12.5, 4.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for axes, curves, label in ((left, contacts, "contacts under one box"), (middle, bodies, "boxes, 4 contacts each")):
        for name, points in curves.items():
            axes.loglog([size for size, _ in points], [o.ms for _, o in points], "o-", ms=4, lw=1.6,
                        color=METHODS[name][1], label=name)  # fmt: skip
        axes.set(xlabel=label, ylabel="time of a solve [ms]")
    left.set_title("one body")
    middle.set_title("a stack")
    figure.legend(*middle.get_legend_handles_labels(), fontsize=9, loc="outside lower center", ncols=3)
    for curves, marker, label in ((contacts, "o", "one body"), (bodies, "^", "a stack")):
        for name, points in curves.items():
            x = [o.velocity.shape[0] * 4 if curves is bodies else size for size, o in points]
            if not np.isnan(points[0][1].residual):
                right.loglog(x, [max(o.residual, 1e-17) for _, o in points], marker, color=METHODS[name][1],
                             label=f"{label}, {name.split(',')[0]}")  # fmt: skip
    right.axhline(TOLERANCE, color="#b02a2a", lw=1, label="tolerance")
    right.set(xlabel="contacts", ylabel="relative residual", title="how exact")
    right.legend(fontsize=8, loc=(0.3, 0.5))
    for axes, ticks in ((left, POINTS), (middle, BOXES), (right, (4, 8, 16, 32, 64))):
        axes.set_xticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
        axes.grid(alpha=0.25)
    return figure


def run(report: Report) -> None:
    contacts = measure({n: Stack(1, n) for n in POINTS})
    bodies = measure({n: Stack(n, 4) for n in BOXES})
    for what, curves in (("contacts under one box", contacts), ("boxes with 4 contacts each", bodies)):
        for name, points in curves.items():
            first, last = points[0], points[-1]
            report.say(f"{name}: {first[1].ms:.3g} ms at {first[0]}, {last[1].ms:.3g} ms at {last[0]} {what}")
            residuals = [o.residual for _, o in points if not np.isnan(o.residual)]
            if residuals:
                report.claim(f"{name}, {what}, largest relative residual", max(residuals), high=TOLERANCE)
        report.claim(f"velocities of all methods agree, {what}", apart(curves), high=1e-6, unit="m/s, rad/s")
    report.values |= {
        label: {name: {size: round(o.ms, 4) for size, o in points} for name, points in curves.items()}
        for label, curves in (("ms_over_contacts", contacts), ("ms_over_boxes", bodies))
    }
    report.figure("contact-scaling", draw(contacts, bodies))
