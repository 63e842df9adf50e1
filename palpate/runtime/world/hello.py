"""The hello of a World: its bodies, joints, obstacles, devices and task.

`shown.py` has what a page shows and sets of them, `hello.py` what every simulation tells, and what it means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.control.plans.modes import MODES
from palpate.conventions import WORLD
from palpate.dynamics.facade import forward_kinematics
from palpate.model.model import CHAIN, PRISMATIC
from palpate.model.shapes import Shape
from palpate.runtime.hello import merge_hello
from palpate.runtime.world.avatars import describe_avatars, merge_avatars
from palpate.runtime.world.meshes import mesh_key, meshes_of
from palpate.runtime.world.shown import SETTINGS, describe_page
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Transform

if TYPE_CHECKING:
    from palpate.runtime.world.simulation import WorldSimulation

STIFFNESS_N_M, STIFFNESS_NM_RAD = 800.0, 20.0  # of a pull, unless the hand asks for others (reference 3.2)


def describe_shape(shape: Shape, meshes: dict[Any, int]) -> dict[str, Any]:
    """A shape; `mesh` is the number of a mesh, which the page asks for as /mesh/NUMBER."""
    return {
        "kind": shape.kind,
        "size": list(shape.size),
        "position": list(shape.placement.p),
        "quaternion": list(shape.placement.R.wxyz),
        "color": list(shape.color) if shape.color else None,
        "role": shape.role,
        "mesh": meshes[mesh_key(shape)] if shape.kind == "mesh" else None,
    }


def describe_axes(engine: WorldSimulation) -> list[dict[str, Any]]:
    """Coordinates that are one angle or one length each: all but those of free and spherical joints.

    index    into q of a frame;  v_index  into v
    held     whether a plan or a spring wants it somewhere: else plan_q says nothing about it
    """
    model, kp = engine.model, engine.world.arrays.state.kp
    m = model.arrays
    planned = set() if engine.guiding is None else set(engine.guiding.arrays.q_at.tolist())
    links = [i for i, kind in enumerate(m.kind) if kind == CHAIN]
    rows = [k for i in links for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i])]
    axis_of = {int(m.axis_q[k]): k for k in reversed(rows)}  # a mimic joint's axes come after its leader's
    axes: dict[int, dict[str, Any]] = {}
    for joint, where in model.q_index.items():
        several = where.stop - where.start > 1
        for n, index in enumerate(range(where.start, where.stop)):
            if (k := axis_of.get(index)) is not None:
                axes[index] = {
                    "name": f"{joint}.{n + 1}" if several else joint,
                    "unit": "m" if m.axis_kind[k] == PRISMATIC else "rad",
                    "index": index,
                    "v_index": model.v_index[joint].start + n,
                    "held": bool(index in planned or kp[k] > 0.0),
                }
    return [axes[index] for index in sorted(axes)]


def describe_start(engine: WorldSimulation) -> list[list[float]]:
    """Position and quaternion of each body where the scene begins, as rows of `pose` in a frame."""
    placements = [Transform.from_matrix(X) for X in forward_kinematics(engine.model, engine.arrays.q_start)]
    return np.round([[*X.p, *X.R.wxyz] for X in placements], 6).tolist()


def describe_world(engine: WorldSimulation) -> dict[str, Any]:
    """What is a World's own in its hello."""
    scene, model = engine.scene, engine.model
    bodies, meshes = {b.name: b for b in model.description.bodies}, meshes_of(model)
    placed = {j.child for j in model.description.joints if j.placed}
    loose = {name for names in scene.loose.values() for name in names}
    own = {
        "joints": list(model.joint_names),
        "joint_units": ["m" if j.kind == "prismatic" else "rad" for j in _moving(scene)],
        "axes": describe_axes(engine),
        "bodies": [
            {
                "name": name,
                "touchable": bool(model.arrays.body_link[row] != WORLD) and name not in placed,
                "movable": name in placed,
                "spare": name in scene.spares,
                "loose": name in loose,
                "parked": bool(engine.arrays.parked[row]),
                "shapes": [describe_shape(s, meshes) for s in (bodies[name].shapes if name in bodies else ())],
            }
            for row, name in enumerate(model.body_names)
        ]
        + engine.shown,
        "start": describe_start(engine) + [body["start"] for body in engine.shown],
        "edit_modes": list(MODES) if engine.guiding else [],
        "tool": scene.editing.tool,
        "obstacles": list(scene.obstacles),
        "task": scene.task.describe() if scene.task else None,
        "loose": {kind: list(names) for kind, names in scene.loose.items()},
        "hand": {"stiffness_N_m": STIFFNESS_N_M, "force_limit_N": engine.device.force_limit_N},
        "devices": [{"name": d.spec.name, "force_limit_N": d.spec.force_limit_N} for d in engine.devices],
        "path": scene.path.round(5).tolist(),
        "settings": SETTINGS,
    }
    movable = [row for row, name in enumerate(model.body_names) if name in placed]
    shown = describe_page(own, set(engine.layout.offset))
    told = own | {"events": {"place": {"bodies": movable}}} | shown  # value 1: it is parked there
    for controller in engine.controllers:
        if hasattr(controller, "hello"):
            told = merge_hello(told, controller.hello())
    if scene.devices:  # what happens at them is what such a scene is about: plots of their controllers come first
        told["plots"] = [*(p for p in told["plots"] if p not in shown["plots"]), *shown["plots"]]
    told |= {"avatars": merge_avatars(told.get("avatars", []))}
    return merge_hello(told, describe_avatars(told["avatars"], set(engine.layout.offset), engine.takes))


def _moving(scene: Scene) -> list[Any]:
    by_name = {j.name: j for j in scene.model.description.joints}
    return [by_name[name] for name in scene.model.joint_names]
