"""Scenes to learn in: reach a target past an obstacle, by touch; each with a task that keeps the score."""

from __future__ import annotations

from dataclasses import replace

from palpate.control.plans.guide_tables import Editing
from palpate.control.plans.plan import rest
from palpate.model.compile import compile
from palpate.model.description import MultiBody
from palpate.model.library import ball, box, cylinder, puma560
from palpate.scenes.arm import FLOOR_Z_M
from palpate.scenes.looks import DARK_STEEL, PALETTE, WOOD, floor, surface
from palpate.scenes.scene import Scene
from palpate.scenes.task import Task
from palpate.spatial.placement import Rotation, Vector3
from palpate.world.world import World

GREEN = (0.25, 0.70, 0.42, 0.45)
PUCK_M, PUCK_TALL_M, PUCK_KG = 0.03, 0.03, 0.3
PUCK_START_M, PUCK_TARGET_M = (-0.25, 0.0, 0.5 * PUCK_TALL_M), (0.25, 0.0, 0.5 * PUCK_TALL_M)
BAR_M = (0.04, 0.24, 0.08)  # edges of the bar between them
TOOL_TARGET_M = (0.80, 0.0, -0.05)  # the straight way of the tool leads into the pillar
PILLAR_M, PILLAR_AT_M = (0.06, 0.06, 0.30), (0.67, 0.13, -0.05)


def target(at: Vector3, radius: float) -> MultiBody:
    """A ball that is seen and never touched."""
    made = ball(radius, at=at, fixed=True, name="target", color=GREEN)
    (body,) = made.bodies
    return replace(made, bodies=(replace(body, shapes=tuple(replace(s, role="visual") for s in body.shapes)),))


def training(
    rate_hz: float = 1000.0,
    radius_m: float = 0.02,
    bar_m: Vector3 = BAR_M,
    aside_m: float = 0.0,
    turned_rad: float = 0.0,
) -> Scene:
    """A puck on a table, a bar across its way, and a target behind it: pull the puck there, round the bar.

    radius_m  of the target;  bar_m, aside_m, turned_rad  edges of the bar, how far to the left, and how it is turned
    """
    smooth = surface(0.1, name="smooth")
    world = World(
        [
            floor(smooth),
            cylinder(
                PUCK_M, PUCK_TALL_M, mass=PUCK_KG, at=PUCK_START_M, material=smooth, name="puck", color=PALETTE[1]
            ),
            box(
                bar_m,
                at=(0.0, aside_m, 0.5 * bar_m[2]),
                R=Rotation.about((0.0, 0.0, 1.0), turned_rad),
                fixed=True,
                material=smooth,
                name="bar",
                color=WOOD,
            ),
            target(PUCK_TARGET_M, radius_m),
        ],
        dt=1.0 / rate_hz,
    )
    task = Task("Bring the puck to the target; do not hit the bar", "puck", PUCK_TARGET_M, radius_m, ("bar",))
    return Scene("training", "a puck, a bar and a target", world, obstacles=("bar",), task=task)


def inspection(rate_hz: float = 1000.0, radius_m: float = 0.03) -> Scene:
    """A PUMA whose tool is to look behind a pillar: lead the tool there; the arm stays where it is led."""
    arm = puma560()
    world = World(
        [
            arm,
            floor(height=FLOOR_Z_M),
            box(PILLAR_M, at=PILLAR_AT_M, fixed=True, name="pillar", color=DARK_STEEL),
            target(TOOL_TARGET_M, radius_m),
        ],
        dt=1.0 / rate_hz,
    )
    model = compile(arm)
    start = model.posture("line_start")
    world.q[: model.nq] = start
    task = Task("Lead the tool behind the pillar; do not hit it", "tool", TOOL_TARGET_M, radius_m, ("pillar",))
    editing = Editing("teach", tool="tool", loops=False)
    return Scene("inspection", "PUMA 560, a pillar and what is behind it", world, rest(model, start), editing=editing,
                 obstacles=("pillar",), task=task)  # fmt: skip
