"""Blocks in a room in pymunk (Chipmunk): a peer of `palpate bench planar`, for bodies and walls alone.

The same blocks, masses, walls, friction and step of 2 ms, the same pushes.  Its contacts are hard and solved by
impulses in ITERATIONS sweeps, ours springs after an impact: so the work is the same in its purpose, not line by line.
It has no device, no control, no laws to choose, no god-objects and no energy audit.  Walls are the same four boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from palpate.planar.bodies.description import PlanarBody

ITERATIONS = 10  # its default


def version() -> str | None:
    """Of pymunk, None: it is not installed."""
    try:
        import pymunk
    except ImportError:
        return None
    return str(pymunk.version)


class Room:
    """A list of bodies (bodies/rooms.py) in pymunk."""

    def __init__(self, bodies: Sequence[PlanarBody], mu: float, restitution: float) -> None:
        import pymunk

        self.space = pymunk.Space()
        self.space.iterations = ITERATIONS
        self.space.gravity = (0.0, 0.0)
        self.space.collision_slop = 1e-4  # metres here, pixels by default
        self.moving: list[Any] = []
        for body in bodies:
            corners = [(float(x), float(y)) for x, y in body.outline]
            (x, y, angle), velocity = body.start
            if body.mass_kg is None:
                made = self.space.static_body
                c = pymunk.Transform(1.0, 0.0, 0.0, 1.0, x, y)
                shape = pymunk.Poly(made, corners, c)
            else:
                made = pymunk.Body(body.mass_kg, 1.0 / body.inverse_mass[2])
                made.position, made.angle = (x, y), angle
                made.velocity, made.angular_velocity = velocity[:2], velocity[2]
                shape = pymunk.Poly(made, corners)
                self.space.add(made)
                self.moving.append(made)
            shape.friction, shape.elasticity = mu**0.5, restitution**0.5  # it multiplies those of a pair
            self.space.add(shape)

    def push(self, k: int, fx: float, fy: float, torque: float) -> None:
        """For the next step, on the k-th that moves."""
        body = self.moving[k]
        body.force, body.torque = (fx, fy), torque

    def step(self, dt: float) -> None:
        self.space.step(dt)
