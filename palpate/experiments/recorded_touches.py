"""Touches of bodies that are simulated: a hand through palpate's own coupling on an avatar that stands.

A ball presses (taps, pushes, strokes), or a spring grip of 150 to 2000 N/m holds (pulls, pushes, shakes, holds); the
hand speaks every tick or, like a page, 60 times a second.  Force, point and body are those of the frames.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from palpate.experiments.touches import (
    AROUND_S,
    PATTERNS,
    RATE_HZ,
    Touch,
    bump,
    plateau,
    rising,
    stair,
    wander,
)
from palpate.frame import PRESS, PULL
from palpate.haptics.spring import spring_fields
from palpate.runtime.world.simulation import WorldSimulation, running
from palpate.scenes.scene import Scene
from palpate.servo.run import Run
from palpate.spatial.placement import Rotation

SECONDS = 3.0  # of each: it begins at AROUND_S
SETTLED = 2000  # ticks after which the avatar has sunk into its springs; then the three seconds begin
BALL_M = 0.008
PAGE_HZ, PAGE_SMOOTH_S = 60.0, 0.016
SKIN_N_M = 300.0  # of a hand that presses: soft, as a finger is, and so it follows what sways


class Place(NamedTuple):
    """Somewhere on a body, in its axes."""

    body: str
    at: tuple[float, float, float]  # on its surface
    normal: tuple[float, float, float]  # outward, and
    along: tuple[float, float, float]  # a direction in which there is room for a stroke
    strongest_N: float


CHEST = Place("CHEST_JOINT1", (0.09, 0.0, 0.12), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), 15.0)
FOREARM = Place("RARM_JOINT4", (0.04, 0.0, -0.135), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), 20.0)
HAND = Place("RARM_JOINT6", (0.03, 0.0, -0.055), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), 20.0)
PLACES = (CHEST, FOREARM, HAND)


class Script(NamedTuple):
    """What the hand does: away from the surface (m,) and along it (m,), holding or not, from when to when [s]."""

    out: np.ndarray
    along: np.ndarray
    holds: bool
    begin_s: float
    end_s: float


def script(name: str, place: Place, holds: bool, stiffness_N_m: float, rng: np.random.Generator) -> Script:
    """A hand that means `name`."""
    t, begin = np.arange(round(SECONDS * RATE_HZ)) / RATE_HZ, AROUND_S
    force = rng.uniform(3.0, place.strongest_N)
    deep, zero, above = force / stiffness_N_m, np.zeros_like(t), 0.01
    if name in ("push", "pull"):
        length = rng.uniform(0.35, 0.8)
        path = plateau(t, begin, length, rng.uniform(0.2, 0.4), rng.uniform(0.2, 0.4))
        if holds:  # and lets go: it does not carry the body back
            path = rising(t, begin, rng.uniform(0.4, 0.8) * length)
        else:
            return Script(above - (above + deep) * path, zero, False, begin - 0.2, begin + length + 0.2)
        return Script(deep * path * (1.0 if name == "pull" else -1.0), zero, True, begin, begin + length)
    if name in ("tap", "double tap"):
        width = rng.uniform(0.06, 0.16)
        path, end = bump(t, begin, width, 1.0), begin + width
        if name == "double tap":
            gap, second = rng.uniform(0.14, 0.35), rng.uniform(0.06, 0.16)
            path, end = path + bump(t, end + gap, second, 1.0), end + gap + second
        return Script(above - (above + deep) * path, zero, False, begin - 0.2, end + 0.2)
    if name == "shake":
        wave = 0.2 * deep * np.sin(2 * np.pi * rng.uniform(1.7, 4.0) * (t - begin)) * rising(t, begin, 0.1)
        turn = rng.uniform(0.0, 2.0 * np.pi)
        return Script(np.cos(turn) * wave, np.sin(turn) * wave, True, begin, begin + rng.uniform(1.0, 1.6))
    if name == "hold":
        path = deep * rising(t, begin, rng.uniform(0.3, 0.5)) * (1.0 + wander(t, rng, 0.1))
        return Script(path * rng.choice([-1.0, 1.0]), zero, True, begin, begin + rng.uniform(1.2, 1.7))
    if name == "stroke":
        length, light = rng.uniform(0.4, 0.8), rng.uniform(1.0, 3.5) / stiffness_N_m
        far = min(rng.uniform(0.08, 0.3) * length, 0.09)
        path = above - (above + light) * plateau(t, begin, length, 0.2, 0.2)
        way = far * ((t - begin) / length).clip(0.0, 1.0) - 0.5 * far
        return Script(path, way, False, begin - 0.2, begin + length + 0.2)
    return Script(zero + above, zero, False, begin, begin + 1.0)  # near it, and never there


def recorded(scene: Scene, each: int, seed: int, places: tuple[Place, ...] = PLACES) -> list[Touch]:
    """So many of each pattern at each place, each from the scene's start; the scene stays as it was."""
    rng = np.random.default_rng([seed, 16])
    found: list[Touch] = []
    for smooth_s in (0.0, PAGE_SMOOTH_S):  # a device, and a page
        with running(scene, smooth_s=smooth_s) as run:
            run.simulation.learn_to_touch()
            for place, name in product(places, PATTERNS):
                n = (each + (smooth_s == 0.0)) // 2
                found += [_touch(run, place, name, smooth_s > 0.0, rng) for _ in range(n)]
    return found


def _touch(run: Run[WorldSimulation], place: Place, name: str, pages: bool, rng: np.random.Generator) -> Touch:
    engine = run.simulation
    frames: list[np.ndarray] = []
    run.keep, run.sink = False, frames.append
    body = engine.model.body(place.body)
    holds = name in ("pull", "shake", "hold") or (name == "push" and rng.uniform() < 0.5)
    grip = float(np.exp(rng.uniform(np.log(150.0), np.log(2000.0)))) if holds else SKIN_N_M
    done = script(name, place, holds, grip, rng)
    engine.restart()
    nothing = engine.hand_layout.pack()
    run.ticks(SETTLED, np.resize(nothing, (SETTLED, len(nothing))))
    frames.clear()
    begin = round(done.begin_s * RATE_HZ)
    run.ticks(begin, np.resize(nothing, (begin, len(nothing))))
    X = engine.layout.column(frames[-1], "pose")[-1, body]
    at, n, s = np.array(place.at), np.array(place.normal), np.array(place.along)
    local = at + np.outer(done.out + (0.0 if done.holds else BALL_M), n) + np.outer(done.along, s)
    target = Rotation(tuple(X[3:].tolist())).apply(local) + X[:3]
    if pages:
        target = stair(target, 1.0 / PAGE_HZ, rng.uniform())
    how: dict[str, Any] = spring_fields(grip)
    how |= {"body": body, "hold": PULL, "at_body": at} if done.holds else {"hold": PRESS, "radius_m": BALL_M}
    pack, rows = engine.hand_layout.pack, []
    for k in range(begin, len(target)):
        acts = done.begin_s <= k / RATE_HZ < done.end_s
        rows.append(pack(target=target[k], **how) if acts else pack())
    run.ticks(len(rows), np.array(rows))
    run.sink = lambda frames: None
    words, column = np.concatenate(frames), engine.layout.column
    pose, force = column(words, "pose")[:, body], column(words, "hand_force")[:, 0]
    point = column(words, "hand_point")[:, 0]
    return Touch(name, into_body(pose, force), into_body(pose, point - pose[:, :3]), n)


def into_body(pose: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Vectors (n, 3) of the world in the axes of a body of poses (n, 7)."""
    w, u = pose[:, 3:4], -pose[:, 4:]
    t = 2.0 * np.cross(u, x)
    return x + w * t + np.cross(u, t)
