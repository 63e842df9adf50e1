"""Balls: rolled on a plane, dropped, hung in a row."""

from __future__ import annotations

import math
from collections.abc import Sequence

from palpate.model.description import Body, Joint, MultiBody
from palpate.model.library import ball
from palpate.model.shapes import Material, Shape, capsule_between
from palpate.scenes.looks import DARK_STEEL, DARK_WOOD, STEEL, colour, floor, surface
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Transform
from palpate.world.world import World


def ball_on_plane(
    friction: float = 0.2,
    mass: float = 1.0,
    radius: float = 0.1,
    *,
    speed: float = 0.0,
    finger_N: float = 0.0,
    finger_friction: float = 0.0,
    finger_mass: float = 0.05,
    rate_hz: float = 1000.0,
) -> Scene:
    """A ball on a floor, the finger the primary contact and the floor the secondary (reference 5.6).

    speed     of the ball's centre along x at the start, without spin [m/s]: row 6
    finger_N  a finger behind the ball pushes along x with this force [N], less what moves itself: rows 1, 2 and 5;
              0: no finger, push by `World.apply` (through the centre: rows 1 to 3; above it: row 4) or by hand
    """
    ground, tip = surface(friction, name="ground"), surface(finger_friction, name="finger")
    rolling = ball(radius, mass=mass, at=(0.0, 0.0, radius), material=ground, color=colour(0))
    parts = [rolling, floor(ground)]
    pairs = {}
    if finger_N > 0.0:
        parts.append(_finger(-radius, radius, finger_mass, tip))
        pairs = {("finger", "ground"): tip}
    world = World(parts, dt=1.0 / rate_hz, pairs=pairs)
    world.v[world.model.v_index["ball"]] = (0.0, 0.0, 0.0, speed, 0.0, 0.0)
    if finger_N > 0.0:
        world.tau[world.model.v_index["finger"]] = finger_N
    return Scene("ball-on-plane", "a ball to push and roll", world)


def _finger(x: float, height: float, mass: float, material: Material) -> MultiBody:
    """A fingertip that slides along x at some height, its front at x."""
    r = 0.2 * height
    tip = Shape("sphere", (r,), material=material, color=DARK_WOOD)
    body = Body("finger", mass, inertia=(0.4 * mass * r * r,) * 3, shapes=(tip,))
    slide = Joint("finger", "prismatic", "world", "finger", Transform(p=(x - r, 0.0, height)), axis=(1.0, 0.0, 0.0))
    return MultiBody("finger", (body,), (slide,))


def bouncing_balls(
    restitutions: Sequence[float] = (1.0, 0.9, 0.8, 0.6, 0.3, 0.0),
    height: float = 1.0,
    radius: float = 0.05,
    rate_hz: float = 1000.0,
) -> Scene:
    """Balls side by side, dropped so that each falls through `height` [m]; each has its own restitution."""
    dead = surface(0.5, name="floor")
    parts = [floor(dead)]
    for i, e in enumerate(restitutions):
        y = 3.0 * radius * (i - 0.5 * (len(restitutions) - 1))
        rubber = surface(0.5, e, name=f"bounces {e:g}")  # pairs have the larger restitution
        name = f"ball{i}"
        parts.append(ball(radius, mass=0.2, at=(0.0, y, height + radius), material=rubber, name=name, color=colour(i)))
    return Scene("bouncing-balls", "balls that bounce by their restitution", World(parts, dt=1.0 / rate_hz))


def cradle(
    n: int = 5,
    lifted: int = 1,
    lift_deg: float = 30.0,
    gap: float = 2e-3,
    restitution: float = 1.0,
    rate_hz: float = 1000.0,
) -> Scene:
    """Newton's cradle: n balls on strings, the first `lifted` of them raised.

    gap  between the balls at rest [m].  Wider than a ball moves in a step, the blow runs from ball to ball and the
         last one flies off; 0: all contacts in one, by Newton's law of impact for each, and the balls share the blow.
    """
    radius, string = 0.03, 0.30
    steel = surface(0.0, restitution, name="steel")
    mass = 7800.0 * 4.0 / 3.0 * math.pi * radius**3
    parts = [floor(surface(0.5, name="floor"))]
    height = string + 4.0 * radius
    for i in range(n):
        x = (2.0 * radius + gap) * (i - 0.5 * (n - 1))
        parts.append(_pendulum(f"ball{i}", x, height, string, radius, mass, _on_strings(radius, string, steel)))
    world = World(parts, dt=1.0 / rate_hz)
    for i in range(lifted):
        world.q[world.model.q_index[f"ball{i}"]] = math.radians(lift_deg)
    return Scene("cradle", "Newton's cradle", world)


def _on_strings(radius: float, string: float, steel: Material) -> tuple[Shape, ...]:
    """A ball at the origin and the two strings it hangs on, which are only seen."""
    strings = tuple(
        capsule_between((0.0, 0.0, 0.0), (0.0, side * 0.5 * string, string), 0.001, role="visual", color=DARK_STEEL)
        for side in (-1.0, 1.0)
    )
    return (Shape("sphere", (radius,), material=steel, color=STEEL), *strings)


def _pendulum(
    name: str, x: float, height: float, string: float, radius: float, mass: float, shapes: tuple[Shape, ...]
) -> MultiBody:
    """A ball that swings about y; its angle is positive towards -x."""
    body = Body(name, mass, inertia=(0.4 * mass * radius**2,) * 3, shapes=shapes)
    above, in_ball = Transform(p=(x, 0.0, height)), Transform(p=(0.0, 0.0, string))
    joint = Joint(name, "revolute", "world", name, above, in_ball, axis=(0.0, 1.0, 0.0))
    return MultiBody(name, (body,), (joint,))
