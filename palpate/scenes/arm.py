"""The PUMA 560 of the I-GMS experiments, on its line (reference on articulated bodies, 5.3)."""

from __future__ import annotations

from palpate.control.plans.guide_tables import Editing
from palpate.control.plans.plan import Plan, line, rest, there_and_back, tool_path
from palpate.model.compile import compile
from palpate.model.library import ball, plane, puma560
from palpate.model.model import Model
from palpate.scenes.looks import floor
from palpate.scenes.scene import PARKED_M, Scene
from palpate.spatial.placement import Rotation
from palpate.world.world import World

LINE_START_M, LINE_END_M = (0.50, 0.1501, -0.05), (0.88, 0.1501, -0.05)
TOOL_ALONG_X = Rotation.from_matrix([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
ELBOW_UP = (0.0, -0.96, 3.74, 0.0, -1.2, 0.0)  # seed of the inverse kinematics [rad]; others find the elbow down
LINE_SECONDS = 2.0
WALL_X_M = 0.88
OBSTACLE_M, OBSTACLE_RADIUS_M = (0.44, 0.34, 0.20), 0.07
SPARES = ("obstacle2", "obstacle3", "obstacle4")  # obstacles to add while it runs
FLOOR_Z_M = -0.66  # where the arm's column ends


def tool_line(model: Model, dt: float, seconds: float = LINE_SECONDS) -> Plan:
    """The straight line of the tool, once."""
    return line(model, "tool", LINE_START_M, LINE_END_M, TOOL_ALONG_X, seconds, dt, ELBOW_UP)


def arm(rate_hz: float = 1000.0) -> Scene:
    """The arm draws its line there and back, above a floor."""
    world = World([puma560(), floor(height=FLOOR_Z_M)], dt=1.0 / rate_hz)
    plan = there_and_back(tool_line(world.model, world.dt), pause_rows=round(0.5 * rate_hz))
    world.q = plan.q[0]
    return Scene("arm", "PUMA 560 on a line", world, plan, tool_path(world.model, plan, "tool"))


def arm_line(rate_hz: float = 1000.0, solid: bool = True, mode: str = "resume") -> Scene:
    """The line towards a wall at x = 0.88 m, with a ball in the way of link 2: push or pull the arm past it.

    solid  False: ball and wall are seen and not felt, as in the papers' experiments
    mode   what a touch does to the plan (control/plans/modes.py)
    """
    arm, spares = puma560(), SPARES if solid else ()
    world = World(
        [
            arm,
            floor(height=FLOOR_Z_M),
            ball(OBSTACLE_RADIUS_M, at=OBSTACLE_M, placed=solid, fixed=not solid, name="obstacle"),
            plane(at=(WALL_X_M, 0, 0), normal=(-1, 0, 0), name="wall"),
            *(ball(OBSTACLE_RADIUS_M, at=(0, 0, PARKED_M), placed=True, name=name) for name in spares),
        ],
        dt=1.0 / rate_hz,
        ignore=[] if solid else [("puma560", "obstacle"), ("puma560", "wall")],
    )
    model = compile(arm)
    plan = tool_line(model, world.dt)
    world.q[: model.nq] = plan.q[0]
    editing = Editing(mode, tool="tool", wall=((WALL_X_M, 0, 0), (-1, 0, 0)), loops=False, slide=(0, 1, 0))
    path = tool_path(model, plan, "tool")
    return Scene("arm-line", "PUMA 560, wall and obstacle", world, plan, path, editing, ("obstacle", "wall"), spares)


def arm_at_rest(rate_hz: float = 1000.0) -> Scene:
    """The arm holds still where its line begins."""
    world = World([puma560(), floor(height=FLOOR_Z_M)], dt=1.0 / rate_hz)
    world.q = world.model.posture("line_start")
    return Scene("arm-rest", "PUMA 560 at rest", world, rest(world.model, world.q.copy()))
