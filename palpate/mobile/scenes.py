"""Scenes of the mobile display: rooms to walk through, in the World's axes, z up.

| scene           | room                                                                | who walks             |
|-----------------|---------------------------------------------------------------------|-----------------------|
| mobile          | two walls, a cube, a column, a boat, slabs with textures            | you: keys and pointer |
| mobile-two      | a beam on a table, touched from both ends                           | you, and another      |
| mobile-recorded | as mobile; a walk that was recorded                                 | a recording           |
"""

from __future__ import annotations

import math
from typing import Any

from palpate.haptics.reach import Reach
from palpate.haptics.rendering.surface import Surface
from palpate.mobile.display.configuration import MobileConfiguration, Who
from palpate.mobile.display.displays import MobileDisplays
from palpate.mobile.display.recorded import load_walk
from palpate.mobile.things import boat, slab, surfaces
from palpate.mobile.tour import TOUR_FILE
from palpate.mobile.walking.users import reach
from palpate.model.description import MultiBody
from palpate.model.library.primitives import box, cylinder, plane
from palpate.model.shapes import Material
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Rotation
from palpate.world.world import World

WALL, WOOD, STONE = (0.83, 0.82, 0.78, 1.0), (0.66, 0.52, 0.36, 1.0), (0.62, 0.64, 0.66, 1.0)
MARKS_M = 0.5  # of the floor's survey
FACING = Rotation.about((0.0, 1.0, 0.0), 0.5 * math.pi)  # its face to the person
SLIPPERY = Material("slippery", friction=0.1)
STIFF_N_M, SOFT_N_M, EDGE_M = 1000.0, 200.0, 0.0955  # of surfaces; of what can move (reference 6.3)


def reach_of(by_body: dict[str, Surface] | None = None, stiffness_N_m: float = STIFF_N_M) -> Reach:
    """How a carried device feels a room: by a point, with the edge of its workspace (5.1, 5.2)."""
    return Reach(mode="push", strength_N=8.5, surface=Surface(stiffness_N_m=stiffness_N_m), surfaces=by_body or {},
                 edge_m=EDGE_M, edge_N_m=50.0, edge_N=1.5)  # fmt: skip


def room() -> list[MultiBody]:
    """What stands around a person at the origin who looks along -x."""
    return [
        plane(name="floor"),
        box((0.10, 5.0, 2.2), at=(-2.6, 0.0, 1.1), fixed=True, name="wall", color=WALL),
        box((3.4, 0.10, 2.2), at=(-0.95, 2.5, 1.1), fixed=True, name="side wall", color=WALL),
        box((0.4, 0.4, 0.4), at=(-1.0, -0.5, 1.0), fixed=True, name="cube", color=WOOD),
        box((0.3, 0.3, 0.8), at=(-1.0, -0.5, 0.4), fixed=True, name="pedestal", color=STONE),
        cylinder(0.18, 2.2, at=(-1.3, 1.2, 1.1), fixed=True, name="column", color=STONE),
        boat((-0.4, -2.0, 1.0)),
        slab("ridges", (-0.72, 0.28, 1.0), FACING),
        slab("gravel", (-0.72, 0.62, 1.0), FACING),
    ]


def mobile(**changed: Any) -> Scene:
    """A room to walk through with keys, its walls to be felt with the pointer; keywords as of MobileConfiguration."""
    return _scene("mobile", "A room to walk through", room(), [Who(by_keys=True)], changed)


def mobile_two(**changed: Any) -> Scene:
    """Two people at the ends of a beam, each with a robot: what one pushes, the other feels."""
    apart = 2.6
    nudges = [reach(3.0 + 4.0 * n, 0.8, ahead_m=0.045 * (-1.0) ** n) for n in range(100)]
    people = [Who(by_keys=True), Who((0.0, apart, math.pi), events=nudges)]
    things = [
        plane(name="floor"),
        box((1.6, 0.6, 0.06), at=(-0.5 * apart, 0.0, 0.87), fixed=True, name="table", color=STONE, material=SLIPPERY),
        box(
            (apart - 1.24, 0.20, 0.20),
            mass=1.5,
            at=(-0.5 * apart, 0.0, 1.0),
            name="beam",
            color=WOOD,
            material=SLIPPERY,
        ),
    ]
    return _scene("mobile-two", "Two people, one beam", things, people, changed, SOFT_N_M)


def mobile_recorded(**changed: Any) -> Scene:
    """The room of `mobile`, walked through as tour.csv has it: cube, slabs, boat."""
    return _scene("mobile-recorded", "A recorded walk", room(), [Who(recorded=load_walk(TOUR_FILE))], changed)


def _scene(
    name: str, title: str, things: list[MultiBody], people: list[Who], changed: dict[str, Any],
    stiffness_N_m: float = STIFF_N_M,
) -> Scene:  # fmt: skip
    world = World(things, dt=1.0 / MobileConfiguration().rig.tick_hz)
    displays = MobileDisplays(people, **{"survey": MARKS_M} | changed)
    felt = {body: how for body, how in surfaces().items() if body in world.model.body_names}
    return Scene(name, title, world, controllers=(displays,),
                 devices=displays.devices(reach_of(felt, stiffness_N_m)))  # fmt: skip
