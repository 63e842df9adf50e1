"""A hanging bridge: planks on spherical joints, tied to the world at both ends."""

from __future__ import annotations

import math

from palpate.model.description import Body, Joint, MultiBody
from palpate.model.library import ball
from palpate.model.library.primitives import box_inertia
from palpate.model.shapes import Shape
from palpate.scenes.looks import DARK_WOOD, WOOD, colour, floor
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Rotation, Transform
from palpate.world.world import World

PLANK_M = (0.12, 0.30, 0.02)  # along the bridge, across it, thick
PLANK_KG = 0.4
HINGE_M = 0.03  # of rope between two planks


def bridge(n: int = 10, slack: float = 1.1, load: bool = True, damping: float = 0.01, rate_hz: float = 1000.0) -> Scene:
    """n planks along x, `slack` times as long as the span; `load` drops a ball on it."""
    pitch = PLANK_M[0] + HINGE_M
    turn = _arc(n, slack)
    span, height = n * pitch / slack, 0.8
    # an arc to begin with: plank k is tilted by tilt[k], its ends on the polygon
    tilts = [turn * (0.5 * (n - 1) - k) for k in range(n)]  # positive: downhill
    x, z, centres = -0.5 * span, height, []
    for tilt in tilts:
        centres.append((x + 0.5 * pitch * math.cos(tilt), z - 0.5 * pitch * math.sin(tilt)))
        x, z = x + pitch * math.cos(tilt), z - pitch * math.sin(tilt)
    parts = [floor(), _planks(n, tilts, centres[0], damping), *_posts(span, height)]
    if load:
        parts.append(ball(0.06, mass=1.0, at=(0.0, 0.0, height + 0.3), name="load", color=colour(0)))
    world = World(parts, dt=1.0 / rate_hz)
    world.connect("world", "plank0", (-0.5 * span, 0.0, height))
    world.connect("world", f"plank{n - 1}", (0.5 * span, 0.0, height))
    return Scene("bridge", "a bridge of hanging planks", world)


def _arc(n: int, slack: float) -> float:
    """Angle between neighbours of a polygon of n equal sides, `slack` times as long as its chord [rad]."""
    if slack <= 1.0:
        raise ValueError(f"a hanging bridge is longer than its span: slack must be above 1, got {slack}")
    low, high = 0.0, 2.0 * math.pi / n
    for _ in range(60):
        turn = 0.5 * (low + high)
        chord = math.sin(0.5 * n * turn) / (n * math.sin(0.5 * turn))  # by the length
        low, high = (turn, high) if chord > 1.0 / slack else (low, turn)
    return 0.5 * (low + high)


def _planks(n: int, tilts: list[float], first: tuple[float, float], damping: float) -> MultiBody:
    """The first plank is free, each next one hangs on the one before; the hinges lie in the planks' upper faces."""
    half, top = 0.5 * (PLANK_M[0] + HINGE_M), 0.5 * PLANK_M[2]
    inertia = box_inertia(PLANK_KG, PLANK_M)
    bodies, joints = [], []
    start: dict[str, tuple[float, ...]] = {}
    for k in range(n):
        name = f"plank{k}"
        seen = Shape("box", PLANK_M, color=WOOD if k % 2 else DARK_WOOD)
        bodies.append(Body(name, PLANK_KG, inertia=inertia, shapes=(seen,)))
        if k == 0:
            joints.append(Joint(name, "free", "world", name))
            R = Rotation.about((0, 1, 0), tilts[0])
            sunk = R.apply((0.0, 0.0, top))
            start[name] = (first[0] - sunk[0], 0.0, first[1] - sunk[2], *R.wxyz)
            continue
        before, after = Transform(p=(half, 0.0, top)), Transform(p=(-half, 0.0, top))
        joints.append(Joint(name, "spherical", f"plank{k - 1}", name, before, after, damping=damping))
        start[name] = Rotation.about((0, 1, 0), tilts[k] - tilts[k - 1]).wxyz
    return MultiBody("bridge", tuple(bodies), tuple(joints), {"start": start})


def _posts(span: float, height: float) -> list[MultiBody]:
    """Two posts, only seen."""
    posts = []
    for side, name in ((-1.0, "post"), (1.0, "post2")):
        shape = Shape("box", (0.06, 0.3, height), Transform(p=(0.0, 0.0, 0.5 * height)), role="visual", color=DARK_WOOD)
        joint = Joint(name, "fixed", "world", name, Transform(p=(side * (0.5 * span + 0.03), 0.0, 0.0)))
        posts.append(MultiBody(name, (Body(name, shapes=(shape,)),), (joint,)))
    return posts
