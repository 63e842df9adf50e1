"""Many bodies around an arm, to push about."""

from __future__ import annotations

import math

import numpy as np

from palpate.model.description import MultiBody
from palpate.model.library import ball, box, capsule, cylinder, puma560
from palpate.scenes.arm import FLOOR_Z_M
from palpate.scenes.looks import colour, floor
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Rotation, Vector3
from palpate.world.world import World

INNER_M, PITCH_M, SIZE_M = 0.35, 0.13, 0.08  # first ring around the column, between neighbours, largest edge


def crowd(n: int = 200, layers: int = 2, seed: int = 0, rate_hz: float = 1000.0) -> Scene:
    """A PUMA 560 held in the middle of n boxes, balls, capsules and cylinders in rings, a little above the floor."""
    rng = np.random.default_rng(seed)
    world = World([puma560(), floor(height=FLOOR_Z_M), *_solids(n, layers, rng)], dt=1.0 / rate_hz, sleep=True)
    arm = world.model.q_index
    line_start = world.model.posture("line_start")
    for name in (j.name for j in puma560().joints if j.kind == "revolute"):
        world.q[arm[name]] = line_start[arm[name]]
    world.hold(2000.0, 200.0)
    return Scene("crowd", f"{n} bodies around an arm", world)


def _solids(n: int, layers: int, rng: np.random.Generator) -> list[MultiBody]:
    solids: list[MultiBody] = []
    ring = 0
    while len(solids) < n:
        radius = INNER_M + PITCH_M * ring
        places = int(2.0 * math.pi * radius / PITCH_M)
        for k in range(places):
            for layer in range(layers):
                if len(solids) < n:
                    angle = 2.0 * math.pi * k / places
                    z = FLOOR_Z_M + 0.6 * PITCH_M + PITCH_M * layer
                    at = (radius * math.cos(angle), radius * math.sin(angle), z)
                    solids.append(_solid(len(solids), at, rng))
        ring += 1
    return solids


def _solid(i: int, at: Vector3, rng: np.random.Generator) -> MultiBody:
    """One of four kinds in turn, of a size and turned by chance, small enough not to reach its neighbour."""
    x, y, z = rng.normal(size=3).tolist()
    R = Rotation.about((x, y, z), rng.uniform(0.0, math.pi))
    s = SIZE_M * rng.uniform(0.6, 1.0)
    name, color = f"solid{i}", colour(i)
    if i % 4 == 0:
        return box((s, 0.8 * s, 0.6 * s), at=at, R=R, name=name, color=color)
    if i % 4 == 1:
        return ball(0.5 * s, at=at, R=R, name=name, color=color)
    if i % 4 == 2:
        return capsule(0.25 * s, 0.5 * s, at=at, R=R, name=name, color=color)
    return cylinder(0.35 * s, 0.7 * s, at=at, R=R, name=name, color=color)
