"""The same scene in MuJoCo: a peer of `palpate bench contact`.

Newton, elliptic cones, 3 dimensions per contact, its own tolerance (1e-8).  What was tried, and what is used:
  Jacobian    dense and sparse move alike; alike in time on robots that stand, sparse up to 3 times faster on those that
              slide, and dense no way at all for hundreds of bodies: a scene names what is measured, the fastest counts
  PD          springs (stiffness, reference posture) and the damping d = kv + h kp, with h d in the armature too: the
              same linear system as our implicit PD, which its contact solver then sees.  With its own implicit damping
              (Euler or implicitfast) each step factors a second matrix: 5 % slower standing, up to 40 % pushed
  islands     off, 10 % faster where there is but one; on with CG
  sleep       off, its default, as in all engines; on in the scenes that sleep, with islands, which it needs, and
              its own threshold (1 mm/s)
  flags       off what these scenes do not have (sensors, actuators, equalities, dry friction ...): 5 to 10 %
  others      iterations, line search, tolerance 1e-6, impratio: no difference beyond noise, left alone
  pyramids    no faster standing, and another friction law
  CG          for the piles: about as fast as Newton on boxes, ten times faster on balls
  softness    its default, except in the stack, where ten soft contacts on each other would sag by 6 mm
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as xml

import mujoco
import numpy as np

import palpate as pp
from palpate.bench.contact_scenes import DAMPING, DT, STIFFNESS, BenchScene, Vector, touching

_JOINTS = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free"}
_OPTIONS = {"timestep": repr(DT), "cone": "elliptic", "integrator": "Euler"}
_SETTINGS = {
    "dense": {"solver": "Newton", "jacobian": "dense"},
    "sparse": {"solver": "Newton", "jacobian": "sparse"},
    "CG": {"solver": "CG", "jacobian": "sparse"},
}
_OFF = ("sensor", "actuation", "equality", "frictionloss", "autoreset", "clampctrl", "eulerdamp")
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION


class MujocoPeer:
    """A scene in MuJoCo; `setting` is "dense", "sparse" or "CG"."""

    name = "MuJoCo"
    loops = True

    def __init__(self, scene: BenchScene, setting: str) -> None:
        self.setting = setting
        self.model = pp.compile(scene.parts)
        flags = dict.fromkeys((*_OFF, *(("island",) if setting != "CG" and not scene.sleep else ())), "disable")
        if scene.sleep:
            flags["sleep"] = "enable"
        text = mjcf(self.model, scene.moving_touch, scene.peer_time_constant, _OPTIONS | _SETTINGS[setting], flags)
        self.m = mujoco.MjModel.from_xml_string(text)
        self.d = mujoco.MjData(self.m)
        self.d.qpos[:] = self.m.qpos_spring[:] = self.model.posture("start")
        self.implicit = np.zeros(self.m.nv)  # what the implicit PD adds to the inertia
        if scene.held:
            self.m.jnt_stiffness[self.m.jnt_type != mujoco.mjtJoint.mjJNT_FREE] = STIFFNESS
            held = self.m.jnt_type[self.m.dof_jntid] != mujoco.mjtJoint.mjJNT_FREE
            self.m.dof_damping[held] = DAMPING + DT * STIFFNESS
            self.implicit[held] = DT * self.m.dof_damping[held]
            self.m.dof_armature += self.implicit
        mujoco.mj_forward(self.m, self.d)
        self.step = functools.partial(mujoco.mj_step, self.m, self.d)

    def advance(self, steps: int) -> None:
        mujoco.mj_step(self.m, self.d, steps)

    def push(self, body: str, force: Vector) -> None:
        """Its forces act at the centre of mass and stay: moved to the body's origin, again for every step."""
        i = self.m.body(body).id
        self.d.xfrc_applied[i, :3] = force
        self.d.xfrc_applied[i, 3:] = np.cross(self.d.xpos[i] - self.d.xipos[i], force)

    def save(self) -> np.ndarray:
        state = np.empty(mujoco.mj_stateSize(self.m, _STATE))
        mujoco.mj_getState(self.m, self.d, state, _STATE)
        return state

    def restore(self, saved: np.ndarray) -> None:
        mujoco.mj_setState(self.m, self.d, saved, _STATE)
        mujoco.mj_forward(self.m, self.d)
        mujoco.mj_setState(self.m, self.d, saved, _STATE)  # the warm start as it was

    def poses(self, bodies: Sequence[str]) -> np.ndarray:
        X = np.tile(np.eye(4), (len(bodies), 1, 1))
        for i, body in enumerate(map(self.d.body, bodies)):
            X[i, :3, :3], X[i, :3, 3] = body.xmat.reshape(3, 3), body.xpos
        return X

    def contacts(self) -> int:
        return int(self.d.ncon)

    def residual(self) -> None:
        """It solves another, softened problem: no residual that compares."""

    def q(self) -> np.ndarray:
        return self.d.qpos.copy()

    def close(self) -> None:
        pass

    def mass_matrix(self) -> np.ndarray:
        """Of the present posture, in our order and axes, without what the PD adds."""
        M = np.zeros((self.m.nv, self.m.nv))
        mujoco.mj_fullM(self.m, self.d, M)
        T = self.to_theirs()
        return T.T @ (M - np.diag(self.implicit)) @ T

    def bias(self) -> np.ndarray:
        """Forces of gravity and motion in the present state, in our order and axes."""
        return self.to_theirs().T @ self.d.qfrc_bias

    def to_theirs(self) -> np.ndarray:
        """(nv, nv) our velocities -> its: a free joint's are (linear in world axes, angular in body axes)."""
        T = np.eye(self.m.nv)
        for name, s in self.model.v_index.items():
            q = self.d.qpos[self.model.q_index[name]]
            if len(q) == 7:
                T[s, s] = 0.0
                T[s.start : s.start + 3, s.start + 3 : s.stop] = pp.Rotation(tuple(q[3:])).matrix()
                T[s.start + 3 : s.stop, s.start : s.start + 3] = np.eye(3)
        return T


def mjcf(
    model: pp.Model, moving_touch: bool, time_constant: float, options: dict[str, str], flags: dict[str, str]
) -> str:
    """MJCF text: its q is ours, its bodies and joints have our names and order."""
    root = xml.Element("mujoco")
    xml.SubElement(root, "compiler", angle="radian", autolimits="true")
    xml.SubElement(xml.SubElement(root, "option", {"gravity": _numbers(model.arrays.gravity)} | options), "flag", flags)
    default = xml.SubElement(xml.SubElement(root, "default"), "geom", condim="3", mass="0")
    default.set("solref", _numbers((time_constant, 1.0)))
    bodies = {body.name: body for body in model.description.bodies}
    moves = {name: bool(model.arrays.body_link[row]) for row, name in enumerate(model.body_names)}
    frictions = {shape.material.friction for name in bodies if moves[name] for shape in touching(bodies[name])}
    if len(frictions) > 1:
        raise ValueError("moving bodies of several frictions: MuJoCo's rule for a pair could not give ours")
    of_moving = frictions.pop() if frictions else 0.0
    element = {"world": xml.SubElement(root, "worldbody")}
    for name in model.body_names[1:]:
        joint = model.parent_joint(name)
        assert joint is not None
        element[name] = _body(element[joint.parent], bodies[name], joint)
        for shape in touching(bodies[name]):
            # It takes the friction of higher priority, else the larger: what is fixed decides for the pair.
            mu = of_moving if moves[name] else math.sqrt(of_moving * shape.material.friction)
            xml.SubElement(
                element[name], "geom", _place(shape.placement), type=shape.kind, size=_numbers(_halves(shape)),
                friction=_numbers((mu, 0.0, 0.0)), priority="0" if moves[name] else "1",
                contype="1" if moves[name] else "0", conaffinity="1" if moving_touch or not moves[name] else "0",
            )  # fmt: skip
    return xml.tostring(root, encoding="unicode")


def _body(parent: xml.Element, body: pp.Body, joint: pp.Joint) -> xml.Element:
    element = xml.SubElement(parent, "body", _place(joint.placement @ joint.child_placement.inv()), name=body.name)
    if joint.kind != "fixed":
        options = {"pos": _numbers(joint.child_placement.p), "armature": repr(joint.per_velocity("armature")[0])}
        if joint.kind in ("revolute", "prismatic"):
            options["axis"] = _numbers(joint.child_placement.R.apply(joint.axis))
            limits = (*joint.per_coordinate("lower"), *joint.per_coordinate("upper"))
            if all(map(math.isfinite, limits)):
                options["range"] = _numbers(limits)
        xml.SubElement(element, "joint", options, name=joint.name, type=_JOINTS[joint.kind])
    if body.mass > 0.0:
        I = np.asarray(body.inertia)
        full = _numbers((I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))
        xml.SubElement(element, "inertial", pos=_numbers(body.com), mass=repr(body.mass), fullinertia=full)
    return element


def _halves(shape: pp.Shape) -> tuple[float, ...]:
    """Its sizes: half edges, and half the length of what has a radius; a plane's are only drawn."""
    match shape.kind:
        case "plane":
            return (1.0, 1.0, 1.0)
        case "box":
            return tuple(0.5 * x for x in shape.size)
        case "sphere" | "capsule" | "cylinder":
            return (shape.size[0], *(0.5 * x for x in shape.size[1:]))
    raise ValueError(f"no {shape.kind} in this bench")


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in values)


def _place(X: pp.Transform) -> dict[str, str]:
    return {"pos": _numbers(X.p), "quat": _numbers(X.R.wxyz)}
