"""The rooms of the reference (2.1), as lists of bodies: the one that moves first.  All their numbers are chosen."""

from __future__ import annotations

from math import cos, sin

from palpate.planar.bodies.description import EdgeSurface, PlanarBody, Polygon, Pose

ROOM_M, WALL_M = (0.40, 0.30), 0.05  # free space inside, thickness of its walls
BLOCK_M, BLOCK_KG = (0.10, 0.06), 1.0
PEG_M, PEG_KG, INTERFERENCE_M = (0.05, 0.12), 2.0, 0.001  # per side
PEG_START_M = 0.10  # y of its centre
DROP_GAP_M = 0.020
ORDINARY = EdgeSurface(wall_settings={"damping_Ns_m": 10.0})  # K 2500 N/m per contact, B 10 N s/m, mu 0.3


def block(
    pose: Pose = (0.0, 0.0, 0.0), velocity: Pose = (0.0, 0.0, 0.0), surface: EdgeSurface = ORDINARY, name: str = "block"
) -> PlanarBody:
    """The one that is moved."""
    return PlanarBody(name, Polygon.box(*BLOCK_M), BLOCK_KG, pose=pose, velocity=velocity, surface=surface)


def walls(
    surface: EdgeSurface = ORDINARY, room_m: tuple[float, float] = ROOM_M, beyond_m: float = WALL_M
) -> list[PlanarBody]:
    """Four, around (0, 0), each a little beyond the corners.

    They overlap there, so that no corner has an inner edge to be caught on.  What is pressed past the end of a wall
    comes out: an active wall that is to gain without end needs long ones.
    """
    x, y = 0.5 * room_m[0] + 0.5 * WALL_M, 0.5 * room_m[1] + 0.5 * WALL_M
    wide, high = room_m[0] + 2.0 * beyond_m, room_m[1] + 2.0 * beyond_m
    places = {
        "left": (WALL_M, high, (-x, 0.0)), "right": (WALL_M, high, (x, 0.0)),
        "bottom": (wide, WALL_M, (0.0, -y)), "top": (wide, WALL_M, (0.0, y)),
    }  # fmt: skip
    return [PlanarBody(name, Polygon.box(*box), surface=surface) for name, box in places.items()]


def enclosure(
    surface: EdgeSurface = ORDINARY, pose: Pose = (0.0, 0.0, 0.0), velocity: Pose = (0.0, 0.0, 0.0),
    beyond_m: float = WALL_M,
) -> list[PlanarBody]:  # fmt: skip
    """A block within four walls."""
    return [block(pose, velocity, surface), *walls(surface, beyond_m=beyond_m)]


def free_room() -> list[PlanarBody]:
    """A block, and nothing to touch."""
    return [block()]


def peg_in_hole(
    surface: EdgeSurface = ORDINARY, start_m: float = PEG_START_M, mouth_m: float = 0.0, depth_m: float = 1.0
) -> list[PlanarBody]:
    """A peg with its centre at y = start_m in a hole that is too narrow for it, open at both ends.

    The hole runs along y from mouth_m on.  With the usual numbers the peg is wholly inside: its four corners touch.
    With the mouth between its ends two corners of the peg and two of the mouth touch.
    """
    w, h = PEG_M
    inner = 0.5 * w - INTERFERENCE_M
    x, y = inner + 0.5 * WALL_M, mouth_m + 0.5 * depth_m
    peg = PlanarBody("peg", Polygon.box(w, h), PEG_KG, pose=(0.0, start_m, 0.0), surface=surface)
    sides = [
        PlanarBody(name, Polygon.box(WALL_M, depth_m, (side * x, y)), surface=surface)
        for name, side in (("left", -1.0), ("right", 1.0))
    ]
    return [peg, *sides]


def wall_drop(surface: EdgeSurface = ORDINARY, gap_m: float = DROP_GAP_M, tilt_rad: float = 0.0) -> list[PlanarBody]:
    """A block above a wall whose face is y = 0, its long side down, its lowest point gap_m above it."""
    body = block((0.0, 0.0, tilt_rad), surface=surface)
    pose, _ = body.start
    low = -min(_turned_y(body, tilt_rad))
    floor = PlanarBody("wall", Polygon.box(ROOM_M[0], WALL_M, (0.0, -0.5 * WALL_M)), surface=surface)
    return [block((pose[0], low + gap_m, tilt_rad), surface=surface), floor]


def _turned_y(body: PlanarBody, angle: float) -> list[float]:
    return [float(sin(angle) * x + cos(angle) * y) for x, y in body.outline]
