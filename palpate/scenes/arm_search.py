"""The search for a line, a wall and an obstacle for an arm, in the same order every time.

    postures   at random within limits, a fixed seed; the tool turned to point level; the best conditioned first
    line       through such a posture, the way the tool points (d), solved at a few places both ways
    wall       perpendicular to d, where the foremost part of the tool comes to at the end
    obstacle   a ball beside a link on the way, on the side away from `slide`; `slide` is level and along the wall
    way past   the same line, led aside by PASS_M along `slide` before it gets there: within limits, and clear

A candidate that fails anywhere gives way to the next.  u, 0 to 1, is the share of the line that is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from palpate.control.plans.clearance import clearance
from palpate.dynamics.facade import forward_kinematics
from palpate.model.compile import compile
from palpate.model.description import MultiBody
from palpate.model.model import Floats, Floats2
from palpate.scenes.arm_stage import FROM_LIMIT, RADII_M, UP, Stage
from palpate.scenes.robots import find_arm, load_robot, locked, start_of
from palpate.spatial.placement import Rotation, Transform

FEWEST_JOINTS = 5  # with fewer an arm cannot turn its tool as a line wants it
SEED, BATCHES, POSTURES = 1, 6, 300  # postures are drawn and sorted so many at a time, until one will do
LENGTHS_M = (0.25, 0.33, 0.42)  # of lines, the longest that fits
SHARES, THROUGH = np.linspace(0.0, 1.0, 9), (4, 2, 6)  # places on a line; at which of them the posture may be
LEVEL = 0.5  # height of a unit vector that is nearly level
ASIDE_M = np.arange(0.02, 0.25, 0.015)  # of its centre from that of a link
DEPTH_M = (0.025, 0.05)  # that a link runs into it
FREE_M = 0.02  # that everything is away from it at both ends, and all the way on the way past; and the tool always
PASS_M, PASS_FROM, PASS_AT = 0.15, 0.05, 0.42  # how far aside the way past leads, and between which shares


class Line(NamedTuple):
    """Postures q (n, nq) at SHARES of the tool's way from start along d (unit, level) to end [m], turned as R."""

    q: Floats2
    start: Floats
    end: Floats
    d: Floats
    R: Rotation


class Task(NamedTuple):
    """A line, its wall (a point, normal -d), the obstacle, and the direction that leads past it."""

    line: Line
    wall_m: Floats
    obstacle_m: Floats
    radius_m: float
    slide: Floats


# ---- the line


def postures(stage: Stage, rng: np.random.Generator) -> list[Floats]:
    """Postures, of a number of random ones: well conditioned and the tool pointing away from the base first."""
    found = []
    low = np.maximum(stage.model.lower[stage.columns] + FROM_LIMIT, -2.8)
    high = np.maximum(np.minimum(stage.model.upper[stage.columns] - FROM_LIMIT, 2.8), low)
    for _ in range(POSTURES):
        q = stage.rest.copy()
        q[stage.columns] = rng.uniform(low, high)
        X = stage.place(q)
        d = pointing(stage, q)
        out = np.array([X.p[0] - stage.base[0], X.p[1] - stage.base[1], 0.0])
        away = float(np.linalg.norm(out))
        if away < 0.25 * stage.reach or X.p[2] < stage.floor_m + 0.15 or d @ out < -0.5 * away:
            continue
        found.append((stage.steadiness(q) * (1.0 + (d @ out) / away), q))
    found.sort(key=lambda x: -x[0])
    return [q for _, q in found]


def pointing(stage: Stage, q: Floats) -> Floats:
    """Unit vector from the joint before the last, or the last, to the middle of what the tool is."""
    poses, model = forward_kinematics(stage.model, q), stage.model
    tool = poses[model.body(stage.arm.tool)]
    bodies = {b.name: b for b in model.description.bodies}
    child = stage.child(stage.arm.joints[-1])
    tip = tool[:3, 3]
    if np.linalg.norm(tip - poses[model.body(child)][:3, 3]) < 1e-3:  # it is at its own joint: look at its mass
        tip = tool[:3, :3] @ np.array(bodies[stage.arm.tool].com) + tool[:3, 3]
    way = tip - poses[model.body(child)][:3, 3]
    length = float(np.linalg.norm(way))
    return way / length if length > 1e-6 else tool[:3, 2]


def heading(stage: Stage, q: Floats, X: Transform) -> tuple[Floats, Rotation]:
    """Which way a line goes, and how the tool is turned: where it points, if that is nearly level; else outwards."""
    way = pointing(stage, q)
    if abs(way[2]) < LEVEL:
        d = np.array([way[0], way[1], 0.0]) / np.hypot(way[0], way[1])
        return d, Rotation.between(tuple(way), tuple(d)) @ X.R
    out = np.array([X.p[0] - stage.base[0], X.p[1] - stage.base[1], 0.0])
    return out / np.linalg.norm(out), X.R


def lines(stage: Stage) -> Iterator[Line]:
    """Straight lines that the arm can follow well, better ones first."""
    rng = np.random.default_rng(SEED)
    for posture in (q for _ in range(BATCHES) for q in postures(stage, rng)):
        X = stage.place(posture)
        d, R = heading(stage, posture, X)
        middle = stage.solved([Transform(R, X.p)], posture)
        if middle is None:
            continue
        best = None
        for length in LENGTHS_M:
            found = (line_through(stage, middle[0], Transform(R, X.p), d, length, k) for k in THROUGH)
            longer = next((each for each in found if each is not None), None)
            if longer is None:
                break
            best = longer
        if best is not None:
            yield best


def line_through(stage: Stage, posture: Floats, X: Transform, d: Floats, length: float, k: int) -> Line | None:
    """The line of this length along d whose place k is X, where the arm has this posture; None: it cannot be."""
    start = np.array(X.p) - SHARES[k] * length * d
    on = stage.solved((Transform(X.R, tuple(start + u * length * d)) for u in SHARES[k:]), posture)
    if on is None:
        return None
    back = stage.solved((Transform(X.R, tuple(start + u * length * d)) for u in SHARES[k::-1]), posture)
    if back is None:
        return None
    q = np.concatenate([back[:0:-1], on])
    return Line(q, start, start + length * d, d, X.R) if stage.stands(q) else None


# ---- wall and obstacle


def wall_of(stage: Stage, found: Line) -> Floats | None:
    """A point of the wall (3,), touched at the end by the tool; None: something else would get there first."""
    beyond, row, body = stage.extent(found.q, stage.robot, found.d, found.end)
    if row != len(found.q) - 1 or body not in stage.tool_bodies:
        return None
    return found.end + beyond * found.d


def tasks(stage: Stage, found: Line) -> Iterator[Task]:
    """A wall and an obstacle for a line, with a way past, the deepest penetration first."""
    wall = wall_of(stage, found)
    if wall is None:
        return
    aside = np.cross(UP, found.d)
    for slide in (aside, -aside):
        way = way_past(stage, found, slide)
        if way is None:
            continue
        for radius in RADII_M:
            centres = obstacles(stage, found, radius, slide, wall)
            near = clearance(stage.model, stage.with_ball(way, radius, centres), stage.robot, [f"obstacle {radius}"])
            for centre, gaps in zip(centres, near.gap_m.reshape(-1, len(way)), strict=True):
                if gaps.min() > FREE_M:
                    yield Task(found, wall, centre, radius, slide)


def way_past(stage: Stage, found: Line, slide: Floats) -> Floats2 | None:
    """Postures on the line led aside; None: the arm cannot go there."""
    s = np.clip((SHARES - PASS_FROM) / (PASS_AT - PASS_FROM), 0.0, 1.0)
    shift = PASS_M * s * s * (3.0 - 2.0 * s)
    p = found.start + SHARES[:, None] * (found.end - found.start) + shift[:, None] * slide
    q = stage.solved([Transform(found.R, tuple(x)) for x in p], found.q[0])
    return dense(q) if q is not None and stage.stands(q) else None


def obstacles(stage: Stage, found: Line, radius: float, slide: Floats, wall: Floats) -> Floats2:
    """Centres (n, 3) of a ball that some link but the tool runs into and leaves again, the deepest first.

    They are beside a link, on the side away from `slide`.
    """
    bodies = {b.name: b for b in stage.model.description.bodies}
    links = [name for name in stage.moving if name in stage.blocked]
    centres = []
    q = dense(found.q)
    for row in (7, 9):
        poses = forward_kinematics(stage.model, q[row])
        for name in links:
            X = poses[stage.model.body(name)]
            for x in (np.array(s.placement.p) for s in bodies[name].shapes if s.role != "visual"):
                centres += [X[:3, :3] @ x + X[:3, 3] - a * slide for a in ASIDE_M]
    at = np.unique(np.round(centres, 4), axis=0) if centres else np.zeros((0, 3))
    at = at[(at[:, 2] - radius > stage.floor_m + FREE_M) & ((wall - at) @ found.d > radius + FREE_M)]
    n = len(q)
    ends = stage.with_ball(q[[0, 8, n - 1]], radius, at)  # first who is clear at the ends and hit between
    near = clearance(stage.model, ends, stage.robot, [f"obstacle {radius}"]).gap_m.reshape(-1, 3)
    at = at[(near[:, [0, 2]] > FREE_M).all(axis=1) & (near[:, 1] < 0.05)][:200]
    if len(at) == 0:
        return at
    near_all = clearance(stage.model, stage.with_ball(q, radius, at), stage.robot, [f"obstacle {radius}"])
    may = np.array([body in stage.blocked for body, _ in near_all.pairs])
    gaps = near_all.gaps_m.reshape(len(at), n, -1)
    depth = -gaps[:, :, may].min(axis=(1, 2), initial=np.inf)
    clear = gaps[:, :, ~may].min(axis=(1, 2), initial=np.inf) > FREE_M
    good = np.flatnonzero(clear & (depth >= DEPTH_M[0]) & (depth <= DEPTH_M[1]))
    return at[good[np.argsort(-depth[good], kind="stable")]][:20]


def dense(q: Floats2) -> Floats2:
    """Postures (n, nq) and the means of neighbours between them: (2 n - 1, nq)."""
    rows = np.repeat(q, 2, axis=0)[:-1]
    rows[1::2] = 0.5 * (q[:-1] + q[1:])
    return rows


def find_task(stage: Stage) -> Task | None:
    """The first line that has a wall, an obstacle and a way past."""
    return next((task for found in lines(stage) for task in tasks(stage, found)), None)


def search(robot: MultiBody) -> tuple[MultiBody, Stage, Task | None]:
    """The robot with its base pinned, where the search was made, and what it found."""
    model = compile(robot)
    arm, start = find_arm(model), start_of(model)
    pinned = locked(robot, start, lambda joint: joint.kind != "free")
    whole = compile(pinned)
    held = {name for name, link in zip(whole.body_names, whole.arrays.body_link, strict=True) if link != 0}
    stage = Stage(locked(robot, start, lambda joint: joint.name in arm.joints), arm, held)
    return pinned, stage, find_task(stage) if len(arm.joints) >= FEWEST_JOINTS else None


@lru_cache(maxsize=4)
def searched(name: str) -> tuple[MultiBody, Stage, Task | None]:
    """The same for a name, kept: it is asked for again with another rate or mode."""
    return search(load_robot(name))
