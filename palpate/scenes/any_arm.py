"""The task of `arm-line` for any arm: a straight line of the tool to a wall, and a ball in the way of another link."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from palpate.control.plans.guide_tables import Editing
from palpate.control.plans.plan import Plan, PlanError, line, tool_path
from palpate.dynamics.facade import inverse_dynamics
from palpate.model.description import ModelError, MultiBody
from palpate.model.library import ball, plane
from palpate.model.model import Floats, Floats2, Model
from palpate.registry import everything, find
from palpate.scenes import SCENES
from palpate.scenes.arm_search import PASS_AT, PASS_M, Task, search, searched
from palpate.scenes.arm_stage import Stage
from palpate.scenes.looks import floor
from palpate.scenes.robots import LIBRARY, Arm, is_file_name, known_robots, shown_name
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Vector3
from palpate.world.world import World

LONGEST_LINE_S = 600.0  # a plan has a row for each tick: one that takes days would fill the memory
LINE_SECONDS, BELOW_LIMIT = 2.0, 0.7  # longer for joints that would be faster than this share of their limits
STIFFNESS, DAMPING = 2000.0, 60.0  # of the joints that are not the arm's [N m/rad, N m s/rad], implicit


def any_arm_line(robot: str | MultiBody, rate_hz: float = 1000.0, solid: bool = True, mode: str = "resume") -> Scene:
    """The line towards a wall of any robot's arm, with a ball in the way of a link: push or pull it past.

    robot  a name or file (robots.py), or a description.  A free base is pinned where the robot starts; joints that are
           not the arm's are held by springs
    solid  False: ball and wall are seen and not felt
    mode   what a touch does to the plan (control/plans/modes.py)
    `place` of the session moves the ball.  The same name and rate give the same scene, everywhere.
    """
    name = shown_name(robot) if isinstance(robot, str) else robot.name
    pinned, stage, task = searched(robot) if isinstance(robot, str) else search(robot)
    if task is None:
        joints, tool = stage.arm
        raise ModelError(f"{name}: no straight line with a wall and an obstacle was found for the {len(joints)} joints "
                         f"from {joints[0]!r} to {tool!r}")  # fmt: skip
    normal, centre = tuple(-task.line.d), tuple(task.obstacle_m.tolist())
    world = World(
        [
            pinned,
            floor(height=stage.floor_m),
            ball(task.radius_m, at=centre, placed=True, name="obstacle"),
            plane(at=tuple(task.wall_m.tolist()), normal=normal, name="wall"),
        ],
        dt=1.0 / rate_hz,
        ignore=[] if solid else [(pinned.name, "obstacle"), (pinned.name, "wall")],
    )
    plan = planned(stage, world.model, task, world.dt)
    put(world, stage.arm, plan.q[0])
    arm = stage.arm
    editing = Editing(mode, joints=arm.joints, tool=arm.tool, wall=(tuple(task.line.end.tolist()), normal),
                      loops=False, slide=tuple(task.slide.tolist()))  # fmt: skip
    rows = np.tile(world.q, (len(plan.q), 1))
    rows[:, [world.model.q_index[j].start for j in arm.joints]] = plan.q
    path = tool_path(world.model, plan._replace(q=rows), arm.tool)
    return Scene(name, f"{name}, wall and obstacle", world, plan, path, editing, ("obstacle", "wall"))


def planned(stage: Stage, model: Model, task: Task, dt: float) -> Plan:
    """The line as a plan of the arm's joints."""
    found = task.line
    try:
        make = partial(line, stage.model, stage.arm.tool, tuple(found.start), tuple(found.end), found.R,
                       seed=found.q[0])  # fmt: skip
        plan = make(dt=dt, seconds=line_seconds(make(dt=0.01, seconds=LINE_SECONDS).v, stage.model.velocity_limit))
    except (PlanError, ModelError) as error:
        raise ModelError(f"{model.name}: {error}") from None
    v_at = np.array([stage.model.v_index[name].start for name in stage.arm.joints])
    return Plan(plan.q[:, stage.columns], plan.v[:, v_at], plan.a[:, v_at])


def line_seconds(v: Floats2, limit: Floats) -> float:
    """How long a line takes whose velocities are v (n, nv) in LINE_SECONDS; within `limit` (nv,)."""
    with np.errstate(divide="ignore", over="ignore"):
        share = np.divide(np.abs(v), limit, out=np.zeros_like(v), where=v != 0.0).max()
    seconds = LINE_SECONDS * max(1.0, float(share) / BELOW_LIMIT)
    if not seconds <= LONGEST_LINE_S:
        raise ModelError(f"its velocity limits are so low that a line would take {seconds:.3g} s")
    return seconds


def put(world: World, arm: Arm, q_arm: Floats) -> None:
    """The arm where its line begins; all other joints held as they are, and their weight borne."""
    model = world.model
    for name, x in zip(arm.joints, q_arm, strict=True):
        world.q[model.q_index[name]] = x
    held = [j.name for j in model.description.joints if j.name in model.q_index and j.kind != "free"
            and j.name not in arm.joints]  # fmt: skip
    if held:
        weight = inverse_dynamics(model, world.q, np.zeros(model.nv), np.zeros(model.nv))
        for name in held:
            world.tau[model.v_index[name]] = weight[model.v_index[name]]
        world.hold(STIFFNESS, DAMPING, joints=held)


def way_around(scene: Scene) -> tuple[Vector3, Vector3]:
    """Where two pulls of the tool lead past the obstacle: beside it, and from there to the wall [m]."""
    aside = PASS_M * np.array(scene.editing.slide)
    beside = scene.path[0] + PASS_AT * (scene.path[-1] - scene.path[0]) + aside
    return tuple(beside.tolist()), tuple((scene.path[-1] + aside).tolist())


def robot_scene(robot: str) -> Scene:
    """A robot with its arm's line; one for which there is none stands there, held by springs, to be pulled about."""
    pinned, stage, task = searched(robot)
    if task is not None:
        return any_arm_line(robot)
    world = World([pinned, floor(height=stage.floor_m)])
    put(world, Arm((), stage.arm.tool), np.zeros(0))
    name = shown_name(robot)
    return Scene(name, f"{name}, held by springs", world)


def scene_of(name: str) -> Callable[[], Scene]:
    """What makes a scene: a name in SCENES, else a robot's name or file, whose arm gets its line."""
    if name in everything(SCENES, "scenes"):
        return find(SCENES, "scenes", name)
    if is_file_name(name) or name in LIBRARY or name in known_robots():
        return partial(robot_scene, name)
    try:
        return find(SCENES, "scenes", name)
    except ValueError as error:
        raise ValueError(f"{error}; a robot's name or file (.urdf, .xml) makes a scene too") from None
