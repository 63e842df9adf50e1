"""Palpate: touch a simulation.

    import palpate as pp

    arm = pp.models.puma560()
    model = pp.compile(arm)
    a = pp.forward_dynamics(model, q, v, tau)

Frames, orders, signs and units: `palpate.conventions`.  Names load when first used, so importing palpate is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# public name -> where it lives; the one list of the front door
_FRONT_DOOR = {
    **dict.fromkeys(
        ["DH", "Body", "Joint", "Mimic", "ModelError", "ModelWarning", "MultiBody", "Step"], "palpate.model.description"
    ),
    **dict.fromkeys(["Material", "Shape"], "palpate.model.shapes"),
    **dict.fromkeys(["Rotation", "Transform"], "palpate.spatial.placement"),
    "Model": "palpate.model.model",
    "compile": "palpate.model.compile",
    "load": "palpate.model.load",
    "from_dh": "palpate.model.dh",
    **dict.fromkeys(
        [
            "Energy", "InverseKinematics",
            "bias", "center_of_mass", "difference", "energy", "forward_dynamics", "forward_kinematics", "integrate",
            "inverse_dynamics", "inverse_kinematics", "jacobian", "mass_matrix", "momentum",
        ],
        "palpate.dynamics.facade",
    ),
    "World": "palpate.world.world",
    **dict.fromkeys(["Batch", "Rollout"], "palpate.world.many.batch"),
    **dict.fromkeys(["Contact", "Ledger", "Snapshot", "StepReport", "WorldError"], "palpate.world.views"),
    **dict.fromkeys(["SolveReport", "solve_contacts"], "palpate.contact.facade"),
    **dict.fromkeys(["friction_law", "restitution_law"], "palpate.contact.laws"),
    "run_simulation": "palpate.world.simulation",
    "Editing": "palpate.control.plans.guide_tables",
    "Tasks": "palpate.control.prioritised.tasks",
    **dict.fromkeys(["Trajectory", "TrajectoryError"], "palpate.control.plans.trajectory"),
    **dict.fromkeys(["Clearance", "clearance"], "palpate.control.plans.clearance"),
    "Scene": "palpate.scenes.scene",
    "Hand": "palpate.haptics.hand",
    "Reach": "palpate.haptics.reach",
    **dict.fromkeys(["HeightMap", "Sinusoid", "Surface", "Transient"], "palpate.haptics.rendering.surface"),
    "Proxy": "palpate.haptics.rendering.facade",
    "open_device": "palpate.haptics.devices.opening",
    "DeviceError": "palpate.haptics.devices.protocol",
    "effect_law": "palpate.haptics.laws",
    **dict.fromkeys(["contact_friction", "keeper_law", "wall_law"], "palpate.haptics.contact_laws"),
    "touch": "palpate.runtime.touch",
    **dict.fromkeys(["Event", "Simulation"], "palpate.servo.simulation"),
    "Run": "palpate.servo.run",
    "Session": "palpate.runtime.session",
    "sweep": "palpate.experiments.studies.sweeps.front",
}  # fmt: skip

_MODULES = {
    "models": "palpate.model.library",
    "effects": "palpate.haptics.rendering.effects",
    "plans": "palpate.control.plans.plan",
    "tasks": "palpate.control.prioritised.tasks",
    "trajectories": "palpate.control.plans.files",
}

if TYPE_CHECKING:
    from palpate.contact.facade import SolveReport, solve_contacts
    from palpate.contact.laws import friction_law, restitution_law
    from palpate.control.plans import files as trajectories
    from palpate.control.plans import plan as plans
    from palpate.control.plans.clearance import Clearance, clearance
    from palpate.control.plans.guide_tables import Editing
    from palpate.control.plans.trajectory import Trajectory, TrajectoryError
    from palpate.control.prioritised import tasks
    from palpate.control.prioritised.tasks import Tasks
    from palpate.dynamics.facade import (
        Energy,
        InverseKinematics,
        bias,
        center_of_mass,
        difference,
        energy,
        forward_dynamics,
        forward_kinematics,
        integrate,
        inverse_dynamics,
        inverse_kinematics,
        jacobian,
        mass_matrix,
        momentum,
    )  # fmt: skip
    from palpate.experiments.studies.sweeps.front import sweep
    from palpate.haptics.contact_laws import contact_friction, keeper_law, wall_law
    from palpate.haptics.devices.opening import open_device
    from palpate.haptics.devices.protocol import DeviceError
    from palpate.haptics.hand import Hand
    from palpate.haptics.laws import effect_law
    from palpate.haptics.reach import Reach
    from palpate.haptics.rendering import effects
    from palpate.haptics.rendering.facade import Proxy
    from palpate.haptics.rendering.surface import HeightMap, Sinusoid, Surface, Transient
    from palpate.model import library as models
    from palpate.model.compile import compile
    from palpate.model.description import DH, Body, Joint, Mimic, ModelError, ModelWarning, MultiBody, Step
    from palpate.model.dh import from_dh
    from palpate.model.load import load
    from palpate.model.model import Model
    from palpate.model.shapes import Material, Shape
    from palpate.runtime.session import Session
    from palpate.runtime.touch import touch
    from palpate.scenes.scene import Scene
    from palpate.servo.run import Run
    from palpate.servo.simulation import Event, Simulation
    from palpate.spatial.placement import Rotation, Transform
    from palpate.world.many.batch import Batch, Rollout
    from palpate.world.simulation import run_simulation
    from palpate.world.views import Contact, Ledger, Snapshot, StepReport, WorldError
    from palpate.world.world import World

__all__ = [
    "DH", "Batch", "Body", "Clearance", "Contact", "DeviceError", "Editing", "Energy", "Event", "Hand", "HeightMap",
    "InverseKinematics", "Joint", "Ledger", "Material", "Mimic", "Model", "ModelError", "ModelWarning", "MultiBody",
    "Proxy", "Reach", "Rollout", "Rotation", "Run", "Scene", "Session", "Shape", "Simulation", "Sinusoid", "Snapshot",
    "SolveReport", "Step", "StepReport", "Surface", "Tasks", "Trajectory", "TrajectoryError", "Transform", "Transient",
    "World", "WorldError", "bias", "center_of_mass", "clearance", "compile", "contact_friction", "difference",
    "effect_law", "effects", "energy", "forward_dynamics", "forward_kinematics", "friction_law", "from_dh", "integrate",
    "inverse_dynamics", "inverse_kinematics", "jacobian", "keeper_law", "load", "mass_matrix", "models", "momentum",
    "open_device", "plans",
    "restitution_law", "run_simulation", "solve_contacts", "sweep", "tasks", "touch", "trajectories", "wall_law",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(_MODULES[name])
    elif name in _FRONT_DOOR:
        value = getattr(importlib.import_module(_FRONT_DOOR[name]), name)
    else:
        raise AttributeError(f"module 'palpate' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
