"""Scenes of the planar interface.

A room larger than the device's workspace (0.16 by 0.12 m) is moved in with a scale, metres of the room per metre of the
device: what is felt is then scaled too, so that power is carried over (lane.py).

| scene        | room                                             | scale | body                     |
|--------------|--------------------------------------------------|-------|--------------------------|
| planar-block | 0.40 by 0.30 m, four walls (reference 2.1)       | 2     | 0.10 by 0.06 m, 1 kg     |
| planar-peg   | a hole 2 mm too narrow for the peg               | 1     | 0.05 by 0.12 m, 0.35 kg  |
| planar-wall  | one wall, as large as the device                 | 1     | 0.03 by 0.02 m, 0.35 kg  |
| planar-free  | nothing to touch                                 | 1     | 0.10 by 0.06 m, 0.35 kg  |
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from palpate.planar.bodies.description import PlanarBody, Polygon
from palpate.planar.bodies.rooms import enclosure, free_room, peg_in_hole
from palpate.planar.simulation import PlanarSimulation

TICK = ("palpate.planar.tick", "tick_planar")  # what a first start compiles ahead
SCALED: dict[str, Any] = {"scale": 2.0, "impedance": "shaped"}
DEVICE_KG, DEVICE_KG_M2 = 0.35, 4e-4  # near to the device's own inertia: the coupling is then at its best (1.9)


def planar_block(**changed: Any) -> PlanarSimulation:
    """The reference's enclosure; keywords as those of PlanarConfiguration."""
    return PlanarSimulation(enclosure(), name="planar-block", title="A block among walls", **SCALED | changed)


def planar_peg(**changed: Any) -> PlanarSimulation:
    """A peg in a hole that is too narrow: friction holds it until the hand pulls hard enough."""
    peg, *sides = peg_in_hole(start_m=-0.03, mouth_m=-0.11, depth_m=0.22)
    room = [replace(peg, mass_kg=DEVICE_KG), *sides]
    return PlanarSimulation(room, name="planar-peg", title="A peg in a narrow hole", **changed)


def planar_wall(**changed: Any) -> PlanarSimulation:
    """A small block in front of one wall: what a wall's law does is felt one to one."""
    small = PlanarBody("block", Polygon.box(0.03, 0.02), DEVICE_KG, DEVICE_KG_M2, pose=(-0.02, 0.0, 0.0))
    wall = PlanarBody("wall", Polygon.box(0.05, 0.20, (0.02 + 0.025, 0.0)))
    return PlanarSimulation([small, wall], name="planar-wall", title="A block and a wall", **changed)


def planar_free(**changed: Any) -> PlanarSimulation:
    """Nothing to touch: the device alone, its coupling and its observer."""
    room = [replace(body, mass_kg=DEVICE_KG, inertia_kg_m2=DEVICE_KG_M2) for body in free_room()]
    return PlanarSimulation(room, name="planar-free", title="A block in free space", **changed)
