"""The same scene in PyBullet: a peer of `palpate bench contact`.

Robots become URDF with the same links, joints, masses and sole spheres; boxes, balls and planes are its own shapes.
  iterations  50, its default.  With 10 the floor carries up to a third more than the robot weighs, with 20 (about half
              the time) the robot creeps by more than a centimetre when it is pushed
  PD          its position motors, which are constraints: they hold without sagging.  So it starts in, and they hold,
              the posture into which the implicit PD of the other engines sags, and all stand at the same height; when
              pushed, its robot is the stiffer one
  friction    it multiplies the coefficients of a pair; with their roots the product is our geometric mean
  damping     its default of velocities is switched off
Its quaternions are (x, y, z, w) and the frame of a base is its centre of mass; the conversions end here.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np

import palpate as pp
from palpate.bench.contact_scenes import DT, NO_FORCE, BenchScene, Vector, touching
from palpate.runtime.folders import Folder


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """PyBullet writes to the streams of the process, beside Python's."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for file in (*kept, nowhere):
            os.close(file)


with quiet():  # it greets when it is imported
    import pybullet

ITERATIONS = 50
POSITION_GAIN, VELOCITY_GAIN = 0.1, 1.0  # of its motors: part of the error that one step removes
STRONG = 1e5  # [N m]: no motor gives way


class BulletPeer:
    """A scene in PyBullet, placed and held in `posture` (nq,), the whole scene's q."""

    name = "PyBullet"
    setting = ""  # it has one solver
    loops = False

    def __init__(self, scene: BenchScene, posture: np.ndarray) -> None:
        model = pp.compile(scene.parts)
        with quiet():
            self.client = pybullet.connect(pybullet.DIRECT)
        self.where: dict[str, tuple[int, int]] = {}  # body -> (its body, its link; -1 the base)
        self.com: dict[int, np.ndarray] = {}  # its body -> centre of mass of the base, in the base's own frame
        self.call("setGravity", *model.arrays.gravity.tolist())
        self.call("setTimeStep", DT)
        self.call("setPhysicsEngineParameter", numSolverIterations=ITERATIONS, enableFileCaching=0)
        q = {name: posture[s] for name, s in model.q_index.items()}
        for part in scene.parts:
            (self.add_robot if len(part.bodies) > 1 else self.add_solid)(part, q)
        self.step = functools.partial(pybullet.stepSimulation, physicsClientId=self.client)

    def call(self, function: str, *arguments: Any, **options: Any) -> Any:
        return getattr(pybullet, function)(*arguments, **options, physicsClientId=self.client)

    # ---- building

    def add_robot(self, robot: pp.MultiBody, q: dict[str, np.ndarray]) -> None:
        with Folder("bench") as folder, quiet():
            file = folder / "robot.urdf"
            file.write_text(urdf(robot), encoding="utf-8")
            flags = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_MAINTAIN_LINK_ORDER
            robot_id = self.call("loadURDF", str(file), flags=flags)
        root, base = robot.joints[0], robot.bodies[0]
        self.where[base.name] = (robot_id, -1)
        self.place(robot_id, base, q[root.name])
        for link in range(self.call("getNumJoints", robot_id)):
            info = self.call("getJointInfo", robot_id, link)
            joint, body = info[1].decode(), info[12].decode()
            self.where[body] = (robot_id, link)
            gains = {"positionGain": POSITION_GAIN, "velocityGain": VELOCITY_GAIN}
            if len(q[joint]) == 1:
                self.call("resetJointState", robot_id, link, float(q[joint][0]))
                self.call("setJointMotorControl2", robot_id, link, pybullet.POSITION_CONTROL, force=STRONG,
                          targetPosition=float(q[joint][0]), **gains)  # fmt: skip
            else:
                self.call("resetJointStateMultiDof", robot_id, link, _xyzw(q[joint]))
                self.call("setJointMotorControlMultiDof", robot_id, link, pybullet.POSITION_CONTROL,
                          force=[STRONG] * 3, targetPosition=_xyzw(q[joint]), **gains)  # fmt: skip
        for body in robot.bodies:
            self.finish(body)

    def add_solid(self, part: pp.MultiBody, q: dict[str, np.ndarray]) -> None:
        body, joint = part.bodies[0], part.joints[0]
        (shape,) = touching(body)
        if any(body.com):
            raise ValueError(f"{body.name!r}: here a solid has its centre of mass at its origin")
        match shape.kind:
            case "plane":
                options: dict[str, Any] = {"planeNormal": list(joint.placement.R.apply((0.0, 0.0, 1.0)))}
            case "sphere":
                options = {"radius": shape.size[0]}
            case "box":
                options = {"halfExtents": [0.5 * x for x in shape.size]}
            case _:
                raise ValueError(f"no {shape.kind} in this bench")
        geometry = self.call("createCollisionShape", getattr(pybullet, f"GEOM_{shape.kind.upper()}"), **options)
        free = joint.kind == "free"
        solid = self.call("createMultiBody", body.mass if free else 0.0, geometry)
        self.where[body.name] = (solid, -1)
        if free:
            self.place(solid, body, q[joint.name])
            self.call("changeDynamics", solid, -1, localInertiaDiagonal=np.diag(np.asarray(body.inertia)).tolist())
        else:
            self.call("resetBasePositionAndOrientation", solid, list(joint.placement.p), [0, 0, 0, 1])
        self.finish(body)

    def place(self, at: int, base: pp.Body, q: np.ndarray) -> None:
        self.com[at] = np.array(base.com)
        centre = q[:3] + pp.Rotation(tuple(q[3:])).matrix() @ self.com[at]
        self.call("resetBasePositionAndOrientation", at, centre.tolist(), _xyzw(q[3:]))

    def finish(self, body: pp.Body) -> None:
        friction = math.sqrt(touching(body)[0].material.friction) if touching(body) else 0.0
        self.call("changeDynamics", *self.where[body.name], lateralFriction=friction, linearDamping=0.0,
                  angularDamping=0.0, jointDamping=0.0, restitution=0.0)  # fmt: skip

    # ---- running

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def push(self, body: str, force: Vector) -> None:
        """Acts in the next step."""
        if force != NO_FORCE:
            at = list(self.pose(body).p)
            self.call("applyExternalForce", *self.where[body], list(force), at, pybullet.WORLD_FRAME)

    def pose(self, body: str) -> pp.Transform:
        at, link = self.where[body]
        if link >= 0:
            p, (x, y, z, w) = self.call("getLinkState", at, link, computeForwardKinematics=1)[4:6]
            return pp.Transform(pp.Rotation((w, x, y, z)), tuple(p))
        p, (x, y, z, w) = self.call("getBasePositionAndOrientation", at)
        R = pp.Rotation((w, x, y, z))
        return pp.Transform(R, tuple(np.array(p) - R.matrix() @ self.com[at]))

    def save(self) -> int:
        return int(self.call("saveState"))

    def restore(self, saved: int) -> None:
        self.call("restoreState", saved)

    def poses(self, bodies: Sequence[str]) -> np.ndarray:
        return np.array([self.pose(body).matrix() for body in bodies])

    def contacts(self) -> int:
        return len(self.call("getContactPoints"))

    def mass(self) -> float:
        return float(sum(self.call("getDynamicsInfo", *place)[0] for place in self.where.values()))

    def residual(self) -> None:
        """It says none."""

    def close(self) -> None:
        self.call("disconnect")


def urdf(robot: pp.MultiBody) -> str:
    """URDF text of a robot on a free root.  Spherical joints are its own addition to the format."""
    root = xml.Element("robot", name=robot.name)
    for body in robot.bodies:
        link = xml.SubElement(root, "link", name=body.name)
        inertial = xml.SubElement(link, "inertial")
        xml.SubElement(inertial, "origin", xyz=_numbers(body.com))
        xml.SubElement(inertial, "mass", value=repr(body.mass))
        I = np.asarray(body.inertia).tolist()
        entries = {"ixx": I[0][0], "iyy": I[1][1], "izz": I[2][2], "ixy": I[0][1], "ixz": I[0][2], "iyz": I[1][2]}
        xml.SubElement(inertial, "inertia", {name: repr(value) for name, value in entries.items()})
        for shape in touching(body):
            if shape.kind != "sphere":
                raise ValueError(f"{robot.name!r} touches with a {shape.kind}; here robots do only with spheres")
            collision = xml.SubElement(link, "collision")
            xml.SubElement(collision, "origin", xyz=_numbers(shape.placement.p))
            xml.SubElement(xml.SubElement(collision, "geometry"), "sphere", radius=repr(shape.size[0]))
    for joint in robot.joints:
        if joint.kind == "free":
            continue
        if joint.kind not in ("revolute", "spherical") or joint.child_placement != pp.Transform():
            raise ValueError(f"joint {joint.name!r} has no counterpart in this bench")
        element = xml.SubElement(root, "joint", name=joint.name, type=joint.kind)
        xml.SubElement(element, "parent", link=joint.parent)
        xml.SubElement(element, "child", link=joint.child)
        roll_pitch_yaw = _numbers(_rpy(joint.placement.R))
        xml.SubElement(element, "origin", xyz=_numbers(joint.placement.p), rpy=roll_pitch_yaw)
        xml.SubElement(element, "axis", xyz=_numbers(joint.axis))
        if joint.kind == "revolute":
            low, high = joint.per_coordinate("lower")[0], joint.per_coordinate("upper")[0]
            xml.SubElement(element, "limit", lower=repr(low), upper=repr(high), effort=repr(STRONG), velocity="1000")
    xml.indent(root)  # it reads lines of up to 1024 characters
    return xml.tostring(root, encoding="unicode")


def _rpy(R: pp.Rotation) -> tuple[float, float, float]:
    M = R.matrix()
    return (math.atan2(M[2, 1], M[2, 2]), math.asin(max(-1.0, min(1.0, -M[2, 0]))), math.atan2(M[1, 0], M[0, 0]))


def _numbers(values: Sequence[float]) -> str:
    return " ".join(repr(float(x)) for x in values)


def _xyzw(wxyz: np.ndarray) -> list[float]:
    return [float(x) for x in np.roll(wxyz, -1)]
