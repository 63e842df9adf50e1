"""What a page or a recording needs to know of a scene before its first frame, as JSON can hold it."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from palpate.conventions import WORLD
from palpate.frame import COUNTERS, LATENESS_EDGES_US
from palpate.model.shapes import Shape
from palpate.runtime.state import Engine
from palpate.scenes.scene import Scene

STIFFNESS_N_M, STIFFNESS_NM_RAD = 800.0, 20.0  # of a pull, unless the hand asks for others (reference 3.2)


def describe_shape(shape: Shape) -> dict[str, Any]:
    return {
        "kind": shape.kind,
        "size": list(shape.size),
        "position": list(shape.placement.p),
        "quaternion": list(shape.placement.R.wxyz),
        "color": list(shape.color) if shape.color else None,
        "role": shape.role,
    }


def describe(scene: Scene, engine: Engine, mode: str = "live") -> dict[str, Any]:
    """The hello message: see page/server.py for who reads it."""
    model = scene.model
    bodies = {b.name: b for b in model.description.bodies}
    return {
        "palpate": version("palpate"),
        "mode": mode,
        "scene": scene.name,
        "title": scene.title,
        "rate_hz": engine.rate_hz,
        "sizes": dict(engine.frame_layout.sizes),
        "joints": list(model.joint_names),
        "joint_units": ["m" if j.kind == "prismatic" else "rad" for j in _moving(scene)],
        "bodies": [
            {
                "name": name,
                "touchable": bool(model.arrays.body_link[row] != WORLD),
                "shapes": [describe_shape(s) for s in (bodies[name].shapes if name in bodies else ())],
            }
            for row, name in enumerate(model.body_names)
        ],
        "hand": {"stiffness_N_m": STIFFNESS_N_M, "force_limit_N": engine.device.force_limit_N},
        "frame": engine.frame_layout.describe(),
        "counters": list(COUNTERS),
        "lateness_edges_us": list(LATENESS_EDGES_US),
        "path": scene.path.round(5).tolist(),
    }


def _moving(scene: Scene) -> list[Any]:
    by_name = {j.name: j for j in scene.model.description.joints}
    return [by_name[name] for name in scene.model.joint_names]
