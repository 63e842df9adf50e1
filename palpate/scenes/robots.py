"""Robots by name or file, and the arm in them: what `any_arm` makes its scenes of.

A file is looked for where its name says, then in the installed package example-robot-data, with or without ".urdf" and
"_robot".  An arm is the longest run of joints of one coordinate each, one hanging on the other, with nothing else that
moves in between: it begins at the base or where a trunk branches, and ends before fingers do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from palpate.dynamics.facade import forward_kinematics, inverse_dynamics, mass_matrix
from palpate.model.compile import compile
from palpate.model.description import Joint, ModelError, ModelWarning, MultiBody
from palpate.model.library import hrp2, human, puma560
from palpate.model.load import load, of_file
from palpate.model.meshes import load_mesh
from palpate.model.model import Floats, Floats2, Model
from palpate.model.shapes import Shape
from palpate.registry import guess
from palpate.spatial.placement import IDENTITY, Rotation, Transform

PACKAGE = "example-robot-data"
SUFFIXES = (".urdf", ".xml", ".mjcf")
LIBRARY: dict[str, Callable[[], MultiBody]] = {"puma560": puma560, "hrp2": hrp2, "human": human}
MOST_JOINTS = 7  # of an arm: what follows is a hand
LARGEST_M = 1e4  # of a robot, and of each of its meshes: nothing that a page can show is larger
ROUNDING = 1e-12  # of a mass matrix whose diagonal is 1
ALL_HERE = ".palpate-all-here"  # an empty file in a folder that holds all there is of a robot that was sent


class Arm(NamedTuple):
    """joints: names, from the base to the tool; tool: the body that they move about."""

    joints: tuple[str, ...]
    tool: str


def is_file_name(name: str) -> bool:
    """Whether a name is meant as that of a file."""
    return Path(name).suffix.lower() in SUFFIXES


def shown_name(robot: str) -> str:
    """What a robot is called in recordings, on pages and over links: of a file its name, not the folders above it."""
    return Path(robot).name if is_file_name(robot) else robot


@cache
def known_robots() -> dict[str, Path]:
    """Robots of example-robot-data by short name ("ur5", "panda", ...); empty if it is not installed."""
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        return {}
    found: dict[str, Path] = {}
    urdfs = (f for f in files if f.name.endswith(".urdf"))  # ur3.urdf is only a part of ur3_robot.urdf
    for file in sorted(urdfs, key=lambda f: (not f.name.endswith("_robot.urdf"), len(f.parts), str(f))):
        found.setdefault(file.name.removesuffix(".urdf").removesuffix("_robot"), Path(str(file.locate())))
    return found


def find_robot(name: str) -> Path:
    """The file of a robot: a path to it, or a name in example-robot-data such as "ur5" or "ur5_robot.urdf"."""
    if is_file_name(name) and Path(name).expanduser().is_file():
        return Path(name).expanduser()
    known, short = known_robots(), name.removesuffix(".urdf").removesuffix("_robot")
    if short in known:
        return known[short]
    if is_file_name(name):
        raise ModelError(f"there is no file {name}, and {PACKAGE} has none of that name")
    if not known:
        raise ModelError(f"{name!r} is not here, and robots are known by name only with the package {PACKAGE}: "
                         f"pip install {PACKAGE}")  # fmt: skip
    raise ModelError(f"no robot is called {name!r}; {guess(short, known)}")


def load_robot(name: str) -> MultiBody:
    """A robot by name or file: meshes are seen, and touched as capsules around them; no joint follows another."""
    if name in LIBRARY:
        return LIBRARY[name]()
    path = find_robot(name)
    among = _all_here(path)
    with warnings.catch_warnings():
        # of inertias, as most files in daily use give; what was sent is its sender's affair
        warnings.filterwarnings("ignore", "" if among else "(?!.*not there)", ModelWarning)
        options: dict[str, Any] = {"mimic": False, "skip_missing_meshes": True}
        robot = load(path, among=among, **(options if path.suffix.lower() == ".urdf" else {}))
    with of_file(path):
        _check_start(robot)
        return replace(robot, bodies=tuple(
            replace(body, shapes=tuple(part for shape in body.shapes for part in _affordable(shape)))
            for body in robot.bodies
        ))  # fmt: skip


def _check_start(robot: MultiBody) -> None:
    """A ModelError unless it can be calculated with where it starts: nothing far away, no inertia lost in rounding."""
    model = compile(robot)
    q, still = start_of(model), np.zeros(model.nv)
    poses = forward_kinematics(model, q)
    coms = {body.name: body.com for body in robot.bodies}
    for name, X in zip(model.body_names, poses, strict=True):
        far_m = float(np.abs([X[:3, 3], X[:3, :3] @ coms.get(name, (0.0, 0.0, 0.0)) + X[:3, 3]]).max())
        if not far_m <= LARGEST_M:
            raise ModelError(f"body {name!r} is {far_m:.3g} m away; is it in metres?")
    H = mass_matrix(model, q)
    size = np.sqrt(np.diag(H))
    unlike = H / np.outer(size, size)
    held = inverse_dynamics(model, q, still, still)
    # robots in daily use come down to rounding, where two joints turn a point mass about one axis: springs hold them
    if not np.isfinite([*unlike.ravel(), *held]).all() or (len(H) and np.linalg.eigvalsh(unlike)[0] < -ROUNDING):
        raise ModelError("its masses and lengths are too unlike: what a joint moves is lost in rounding")


def _all_here(path: Path) -> Path | None:
    """The folder around a robot's file beyond which nothing of it is looked for; None: anywhere."""
    return next((folder for folder in reversed(path.parents) if (folder / ALL_HERE).is_file()), None)


def _affordable(shape: Shape) -> list[Shape]:
    """A mesh of ten thousand triangles is too much for a tick: what touches is a capsule around it."""
    if shape.kind != "mesh" or shape.role == "visual":
        return [shape]
    assert shape.mesh is not None
    (radius, length), at = capsule_around(shape.mesh, shape.size)
    kind, size = ("capsule", (radius, length)) if length > 0.0 else ("sphere", (radius,))
    touched = Shape(kind, size, shape.placement @ at, shape.material, "collision")
    return [touched] if shape.role == "collision" else [replace(shape, role="visual"), touched]


def check_reach(mesh: Path, vertices: Floats2, scale: tuple[float, ...]) -> None:
    """A ModelError if a mesh of these vertices [m, scaled] is larger than anything that can be shown."""
    reach_m = float(np.max(np.abs(vertices).max(axis=0) * np.abs(scale)))
    if not reach_m <= LARGEST_M:
        raise ModelError(f"mesh {mesh.name} reaches {reach_m:.3g} m: is it in metres?")


@lru_cache(maxsize=1000)
def capsule_around(mesh: Path, scale: tuple[float, ...]) -> tuple[tuple[float, float], Transform]:
    """((radius, length) [m], place) of the smallest of a few capsules that hold all vertices of a mesh.

    Tried are the axes of the file and the principal ones of its vertices, each through the middle of their box.
    """
    vertices = load_mesh(mesh)[0]
    check_reach(mesh, vertices, scale)
    vertices = vertices * np.array(scale)
    principal = np.linalg.eigh(np.cov(vertices.T, ddof=0))[1].T
    best, found = np.inf, ((1e-3, 0.0), IDENTITY)
    for axis in (*np.eye(3), *principal):
        R = Rotation.between((0, 0, 1), tuple(axis / np.linalg.norm(axis)))
        turned = vertices @ np.array(R.matrix())
        middle = 0.5 * (turned.min(axis=0) + turned.max(axis=0))
        x = turned - middle
        away = np.hypot(x[:, 0], x[:, 1])
        r = max(float(away.max()), 1e-3)
        half = max(float((np.abs(x[:, 2]) - np.sqrt(np.maximum(r * r - away**2, 0.0))).max()), 0.0)
        volume = np.pi * r * r * (2.0 * half + 4.0 / 3.0 * r)
        if volume < best:
            place = Transform(R, tuple((np.array(R.matrix()) @ middle).tolist()))
            best, found = volume, ((r, 2.0 * half), place)
    return found


# ---- the arm


def start_of(model: Model) -> Floats:
    """q (nq,) of the posture "start", or neutral, within limits."""
    q = model.posture("start") if "start" in model.description.postures else model.neutral()
    return np.clip(q, model.lower, model.upper)


def find_arm(model: Model) -> Arm:
    """The longest run of joints, at most seven; of equal ones the first."""
    link = {name: int(row) for name, row in zip(model.body_names, model.arrays.body_link, strict=True)}
    carried: dict[int, list[Joint]] = {}
    for joint in model.description.joints:
        if joint.name in model.q_index or joint.mimic is not None:
            carried.setdefault(link[joint.parent], []).append(joint)

    def simple(joint: Joint) -> bool:
        return joint.kind in ("revolute", "prismatic") and joint.mimic is None

    runs, inside = [], set[str]()
    for first in (j for joints in carried.values() for j in joints if simple(j)):
        run = [first]
        while len(after := carried.get(link[run[-1].child], [])) == 1 and simple(after[0]):
            run.append(after[0])
            inside.add(after[0].name)
        runs.append(run)
    runs = [run[:MOST_JOINTS] for run in runs if run[0].name not in inside]
    if not runs:
        raise ModelError(f"{model.name!r} has no joint that turns or slides: there is no arm in it")
    best = max(runs, key=len)
    welded = [row for row in range(1, model.n_bodies) if link[model.body_names[row]] == link[best[-1].child]]
    reach = [round(float(np.linalg.norm(model.arrays.body_p[row])), 6) for row in welded]
    return Arm(tuple(j.name for j in best), model.body_names[welded[int(np.argmax(reach))]])


def locked(robot: MultiBody, q: Floats, free: Callable[[Joint], bool]) -> MultiBody:
    """The robot with all joints fixed where q (nq,) has them, but for those that `free` says yes to."""
    model = compile(robot)
    X = {name: Transform.from_matrix(pose) for name, pose in zip(model.body_names, forward_kinematics(model, q),
                                                                   strict=True)}  # fmt: skip
    joints = tuple(
        joint if joint.kind == "fixed" or free(joint)
        else Joint(joint.name, "fixed", joint.parent, joint.child, X[joint.parent].inv() @ X[joint.child], IDENTITY)
        for joint in robot.joints
    )  # fmt: skip
    kept = {joint.name for joint in joints if joint.kind != "fixed"}
    postures = {"start": {name: tuple(q[model.q_index[name]].tolist()) for name in kept}}
    return replace(robot, joints=joints, postures=postures)
