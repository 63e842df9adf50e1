"""How long one update of the proxy takes on every kind of shape and on large meshes: free, sliding and deep inside.

The hand goes along each thing at about SPEED_M_S, in directions d(t) seen from its middle, at the distance r(d) of its
surface plus 20 mm (free), minus 3 mm (sliding), or at 0.6 r (deep: some centimetres inside, the proxy outside).  It
stays on one face of a box and on the side of a cylinder: a hand that goes around an edge inside leaves its proxy
behind.  On the plane it goes to and fro, as high or deep.

Every motion is repeated from the start in some rounds; the time of an update is its median over the rounds, so that a
stall of the machine is not taken for one of the method.  The rate is that of the same updates in one compiled loop
without a clock in it, in the fastest round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import palpate as pp
from palpate.bench.rendering_loops import timed_updates
from palpate.haptics.rendering.entries import follow_entry
from palpate.haptics.rendering.facade import Proxy
from palpate.jit import warm
from palpate.model.model import Floats
from palpate.model.shapes import SHAPE_KINDS
from palpate.runtime.folders import Folder

SIZE_M, SPEED_M_S, DT_S = 0.1, 0.2, 1e-3
FREE_M, SLIDING_M = 0.02, 0.003
DEEP = 0.6  # of r; at less than the friction coefficient the proxy on a ball would stick for good
SITUATIONS = ("free", "sliding", "deep")
UPDATES, ROUNDS, BEFORE = 2000, 5, 100  # BEFORE: the proxy settles, and caches fill
# meridians and parallels of the meshes: 2 n (p - 1) triangles
MESHES = ((50, 51), (250, 201))
HULL = (20, 11)
WAVES, WAVE = 8.0, 0.05  # bumps of the meshes: sin(8 x) sin(8 y) sin(8 z) on the unit ball, by 5 %

TINY = 1e-12  # no direction is exactly along an axis

Radius = Callable[[Floats], Floats]  # unit vectors (n, 3) -> distance of the surface from the middle (n,) [m]


@dataclass(frozen=True)
class Thing:
    """Something to touch around the origin; `radius` None: the plane z = 0."""

    name: str
    shape: pp.Shape
    radius: Radius | None
    triangles: int = 0
    azimuth_rad: float = np.inf  # the hand goes this far to both sides of x; infinite: around and around
    elevation_rad: float = 1.2  # and so far up and down


def _box(h: Floats) -> Radius:
    return lambda d: (h / np.maximum(np.abs(d), TINY)).min(axis=1)


def _side(r: float, d: Floats) -> Floats:
    return r / np.maximum(np.hypot(d[:, 0], d[:, 1]), TINY)


def _cylinder(r: float, h: float) -> Radius:
    return lambda d: np.minimum(_side(r, d), h / np.maximum(np.abs(d[:, 2]), TINY))


def _capsule(r: float, h: float) -> Radius:
    def radius(d: Floats) -> Floats:
        side, up = _side(r, d), np.abs(d[:, 2])
        cap = h * up + np.sqrt(np.maximum((h * up) ** 2 - h * h + r * r, 0.0))
        return np.where(side * up <= h, side, cap)

    return radius


def _wavy(d: Floats) -> Floats:
    return SIZE_M * (1.0 + WAVE * np.prod(np.sin(WAVES * d), axis=1))


def _ball(d: Floats) -> Floats:
    return np.full(len(d), SIZE_M)


def ball_mesh(meridians: int, parallels: int, radius: Radius) -> tuple[Floats, np.ndarray]:
    """Vertices and 2 n (p - 1) triangles of a closed surface around the origin, from pole to pole."""
    n, rows = meridians, parallels - 1
    up, around = np.pi * np.arange(1, parallels) / parallels, 2.0 * np.pi * np.arange(n) / n
    ring = np.stack([np.outer(np.sin(up), np.cos(around)), np.outer(np.sin(up), np.sin(around)),
                     np.outer(np.cos(up), np.ones(n))], axis=2)  # fmt: skip
    d = np.vstack([[[0.0, 0.0, 1.0]], ring.reshape(-1, 3), [[0.0, 0.0, -1.0]]])
    i = np.arange(n)
    j, last = (i + 1) % n, 1 + n * rows
    k = n * np.arange(rows - 1)[:, None] + 1
    a, b, c, e = k + i, k + j, k + n + i, k + n + j  # (rows - 1, n): corners of the squares between two parallels
    squares = np.stack([np.stack([a, c, b], axis=2), np.stack([b, c, e], axis=2)], axis=2).reshape(-1, 3)
    low = n * (rows - 1) + 1
    caps = [np.stack([0 * i, 1 + i, 1 + j], axis=1), np.stack([0 * i + last, low + j, low + i], axis=1)]
    return d * radius(d)[:, None], np.vstack([caps[0], squares, caps[1]])


def _mesh(folder: Path, size: tuple[int, int], radius: Radius, convex: bool) -> Thing:
    import trimesh

    vertices, triangles = ball_mesh(*size, radius)
    name, path = "convex mesh" if convex else "mesh", folder / f"{size[0]}x{size[1]}.ply"
    trimesh.Trimesh(vertices, triangles, process=False).export(path)
    return Thing(name, pp.Shape("mesh", (1.0, 1.0, 1.0), mesh=path, convex=convex), radius, len(triangles))


def things(folder: Path, meshes: Sequence[tuple[int, int]] = MESHES) -> list[Thing]:
    """Every kind of shape, a convex mesh, and wavy balls of many triangles; mesh files go into `folder`."""
    r, h = 0.6 * SIZE_M, 0.8 * SIZE_M
    half = SIZE_M * np.array([0.9, 0.7, 0.5])
    sizes: dict[str, tuple[tuple[float, ...], Radius | None]] = {
        "plane": ((), None),
        "sphere": ((SIZE_M,), _ball),
        "capsule": ((r, 2.0 * h), _capsule(r, h)),
        "cylinder": ((r, 2.0 * h), _cylinder(r, h)),
        "box": (tuple((2.0 * half).tolist()), _box(half)),
    }
    ways = {"cylinder": (np.inf, 0.8), "box": (0.5, 0.4)}  # not over their edges
    known = [
        Thing(kind, pp.Shape(kind, sizes[kind][0]), sizes[kind][1], 0, *ways.get(kind, ()))
        for kind in SHAPE_KINDS
        if kind != "mesh"
    ]
    return [*known, _mesh(folder, HULL, _ball, True), *(_mesh(folder, size, _wavy, False) for size in meshes)]


def hand(thing: Thing, situation: str, updates: int) -> Floats:
    """Where the hand is (updates, 3) [m]."""
    a = SPEED_M_S * DT_S / SIZE_M * np.arange(updates)
    if thing.radius is None:
        z = {"free": FREE_M, "sliding": -SLIDING_M, "deep": -(1.0 - DEEP) * SIZE_M}[situation]
        return np.stack([SIZE_M * np.cos(a), SIZE_M * np.sin(0.7 * a), np.full(updates, z)], axis=1)
    b = thing.elevation_rad * np.sin(0.37 * a)
    if np.isfinite(thing.azimuth_rad):
        a = thing.azimuth_rad * np.sin(a)
    d = np.stack([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)], axis=1)
    r = thing.radius(d)
    at = {"free": r + FREE_M, "sliding": r - SLIDING_M, "deep": DEEP * r}[situation]
    return np.ascontiguousarray(at[:, None] * d)


def measure(proxy: Proxy, path: Floats, rounds: int) -> dict[str, float]:
    """Times of an update [us], updates a second, and in which part of the updates the proxy touches."""
    n, address = len(path), proxy.rendering.address
    v = np.ascontiguousarray(np.gradient(path, DT_S, axis=0))
    clock, contacts = np.zeros(2, dtype=np.int64), np.zeros(n, dtype=np.int64)
    ns = np.zeros((rounds, n), dtype=np.int64)
    positions, forces, fastest_s = np.empty_like(path), np.empty_like(path), np.inf
    for k in range(rounds):
        proxy.reset()
        timed_updates(address, path, v, DT_S, clock, ns[k], contacts)
        proxy.reset()
        follow_entry(address, path[:BEFORE], v[:BEFORE], DT_S, positions[:BEFORE], forces[:BEFORE])
        began = time.perf_counter()
        follow_entry(address, path[BEFORE:], v[BEFORE:], DT_S, positions[BEFORE:], forces[BEFORE:])
        fastest_s = min(fastest_s, time.perf_counter() - began)
    us = 1e-3 * np.median(ns[:, BEFORE:], axis=0)
    p50, p99, largest = np.percentile(us, (50, 99, 100))
    return {
        "p50_us": float(p50),
        "p99_us": float(p99),
        "max_us": float(largest),
        "rate_hz": (n - BEFORE) / fastest_s,
        "touching": float(np.mean(contacts[BEFORE:] > 0)),
        "largest_force_N": float(np.linalg.norm(forces, axis=1).max()),
    }


def clock_ns(readings: int = 10000) -> float:
    """What reading the clock adds to each time [ns]."""
    nowhere, ns = np.zeros((readings, 3)), np.zeros(readings, dtype=np.int64)
    timed_updates(0, nowhere, nowhere, DT_S, np.zeros(2, dtype=np.int64), ns, ns.copy())
    return float(np.median(ns))


def run(
    updates: int = UPDATES,
    rounds: int = ROUNDS,
    meshes: Sequence[tuple[int, int]] = MESHES,
    progress: Callable[[str], None] = lambda what: None,
) -> dict[str, Any]:
    """Measure everything: {"rows": one per thing and situation, "clock_ns", "updates", "rounds"}."""
    for entry in (timed_updates, follow_entry):
        warm(entry)
    rows = []
    with Folder("bench") as folder:
        for thing in things(folder, meshes):
            of = f"{thing.name} of {thing.triangles} triangles" if thing.triangles else thing.name
            progress(f"rendering: {of}")
            began = time.perf_counter()
            proxy = Proxy(thing.shape, dt_s=DT_S)
            built_s = time.perf_counter() - began
            for situation in SITUATIONS:
                row = {"thing": thing.name, "triangles": thing.triangles, "situation": situation, "built_s": built_s}
                rows.append(row | measure(proxy, hand(thing, situation, BEFORE + updates), rounds))
    return {"rows": rows, "clock_ns": clock_ns(), "updates": updates, "rounds": rounds}
