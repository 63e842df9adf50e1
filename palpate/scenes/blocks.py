"""Boxes, tiles and cards: on a slope, stacked, in a row, leaning, on a table."""

from __future__ import annotations

import math

from palpate.model.description import Body, Joint, MultiBody
from palpate.model.library import box, plane
from palpate.model.library.primitives import box_inertia
from palpate.model.shapes import Material, Shape
from palpate.scenes.looks import DARK_WOOD, PAPER, WOOD, colour, floor, surface
from palpate.scenes.scene import Scene
from palpate.spatial.placement import IDENTITY, Rotation, Transform, Vector3
from palpate.world.world import World


def incline(
    angle_deg: float = 20.0,
    azimuth_deg: float = 0.0,
    friction: float = 0.4,
    size: Vector3 = (0.2, 0.2, 0.1),
    mass: float = 1.0,
    rate_hz: float = 1000.0,
) -> Scene:
    """A box on a slope that falls off towards the azimuth (0: along x, counted from there towards y)."""
    angle, azimuth = math.radians(angle_deg), math.radians(azimuth_deg)
    normal = (math.sin(angle) * math.cos(azimuth), math.sin(angle) * math.sin(azimuth), math.cos(angle))
    R = Rotation.about((0, 0, 1), azimuth) @ Rotation.about((0, 1, 0), angle)
    rough = surface(friction)
    block = box(size, mass=mass, at=tuple(R.apply((0.0, 0.0, 0.5 * size[2]))), R=R, material=rough, color=colour(1))
    slope = plane(normal=normal, material=rough, name="slope", color=WOOD)
    return Scene("incline", "a box on a slope", World([slope, block], dt=1.0 / rate_hz))


def stack(n: int = 5, ratio: float = 1.0, edge: float = 0.1, mass: float = 1.0, rate_hz: float = 1000.0) -> Scene:
    """n cubes on each other, the lowest of `mass` [kg], the topmost `ratio` times as heavy."""
    parts = [floor()]
    for i in range(n):
        m = mass * ratio ** (i / max(n - 1, 1))
        parts.append(box((edge,) * 3, mass=m, at=(0.0, 0.0, edge * (i + 0.5)), name=f"box{i}", color=colour(i)))
    return Scene("stack", f"{n} boxes on each other", World(parts, dt=1.0 / rate_hz))


def dominoes(n: int = 20, spacing: float = 0.03, push: float = 5.0, rate_hz: float = 1000.0) -> Scene:
    """A row of tiles, `spacing` [m] apart; the first is pushed over, starting to turn at `push` [rad/s]."""
    size = (0.008, 0.024, 0.048)
    tile = surface(0.4, name="tile")
    parts = [floor(tile)]
    for i in range(n):
        at = (spacing * i, 0.0, 0.5 * size[2])
        parts.append(box(size, mass=0.01, at=at, material=tile, name=f"tile{i}", color=colour(i)))
    # a falling row is a chain of slips that the solver rarely ends; with this budget it still holds the servo's rate
    world = World(parts, dt=1.0 / rate_hz, budget=12_000)
    if push:  # about its lower front edge
        world.v[world.model.v_index["tile0"]] = (0.0, push, 0.0, 0.5 * size[2] * push, 0.0, 0.5 * size[0] * push)
    return Scene("dominoes", "a row of tiles that falls", world)


def cards(
    half_angle_deg: float = 25.0,
    friction: float = 0.5,
    length: float = 0.09,
    radius: float = 0.001,
    rate_hz: float = 1000.0,
) -> Scene:
    """Two cards that lean on each other; they touch with rounded edges, `length` [m] apart.

    Each pushes the other with H, by symmetry without friction, and stands on N = m g with friction H.  Moments about
    its foot: H (length cos + radius) = m g (length / 2) sin: they stand if H <= friction N, else slide apart.
    """
    angle = math.radians(half_angle_deg)
    rough = surface(friction)
    parts = [floor(rough)]
    for side, name in ((-1.0, "left"), (1.0, "right")):
        R = Rotation.about((0, 1, 0), -side * angle)
        top = (side * radius, 0.0, radius + length * math.cos(angle))
        centre = tuple(R.apply((0.0, 0.0, -0.5 * length)) + top)
        parts.append(_card(name, length, radius, rough, Transform(R, centre)))
    return Scene("cards", "two cards that lean on each other", World(parts, dt=1.0 / rate_hz))


def _card(name: str, length: float, radius: float, material: Material, X: Transform) -> MultiBody:
    """A card in the y-z plane, touched along its upper and its lower edge."""
    width, mass = 0.06, 0.002
    along_y = Rotation.about((1, 0, 0), math.radians(90.0))
    edges = tuple(
        Shape("capsule", (radius, width), Transform(along_y, (0.0, 0.0, z)), material, color=PAPER)
        for z in (-0.5 * length, 0.5 * length)
    )
    sheet = Shape("box", (2.0 * radius, width, length), role="visual", color=PAPER)
    body = Body(name, mass, inertia=box_inertia(mass, (2.0 * radius, width, length)), shapes=(sheet, *edges))
    start = {"start": {name: (*X.p, *X.R.wxyz)}}
    return MultiBody(name, (body,), (Joint(name, "free", "world", name),), start)


TABLE_TOP_M, TABLE_SIZE_M = (0.55, 0.0, 0.735), (0.60, 1.00, 0.03)
BOX_AT_M, BOX_SIZE_M, BOX_KG = (0.42, 0.0, 0.825), (0.20, 0.30, 0.15), 2.0
FRICTION_BOX_TABLE, FRICTION_HAND_BOX = 0.4, 0.8


def table() -> MultiBody:
    """The table of reference 6.6: its top touches, its legs are only seen."""
    x, y, z = TABLE_SIZE_M
    leg = TABLE_TOP_M[2] - 0.5 * z
    shapes = [Shape("box", TABLE_SIZE_M, IDENTITY, surface(FRICTION_BOX_TABLE, name="table"), color=WOOD)]
    for sx in (-1.0, 1.0):
        for sy in (-1.0, 1.0):
            foot = Transform(p=(sx * (0.5 * x - 0.04), sy * (0.5 * y - 0.04), -0.5 * (z + leg)))
            shapes.append(Shape("box", (0.04, 0.04, leg), foot, role="visual", color=DARK_WOOD))
    body = Body("table", shapes=tuple(shapes))
    return MultiBody("table", (body,), (Joint("table", "fixed", "world", "table", Transform(p=TABLE_TOP_M)),))


def box_on_table(rate_hz: float = 1000.0) -> Scene:
    """A box of 2 kg on a table (reference 6.6): drag it about, and over the edge."""
    card = Material("carton", friction=FRICTION_HAND_BOX)
    carton = box(BOX_SIZE_M, mass=BOX_KG, at=BOX_AT_M, material=card, color=colour(1))
    pairs = {("carton", "table"): Material("carton on table", friction=FRICTION_BOX_TABLE)}
    return Scene("box-on-table", "a box on a table", World([floor(), table(), carton], dt=1.0 / rate_hz, pairs=pairs))
