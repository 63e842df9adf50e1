"""The same mechanism in Pinocchio: the peer of `palpate bench`, the oracle of the tests.

Its twists are (linear, angular), its quaternions (x, y, z, w); the conversions end here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

import palpate as pp


def se3(X: pp.Transform) -> Any:
    return pin.SE3(X.R.matrix(), np.array(X.p))


def composite(*steps: tuple[Any, np.ndarray]) -> Any:
    """Single motions in order, each about an anchor in the child's coordinates at q = 0."""
    joint, before = pin.JointModelComposite(), np.zeros(3)
    for model, anchor in steps:
        joint.addJoint(model, pin.SE3(np.eye(3), anchor - before))
        before = anchor
    return joint


def turn(axis: Any) -> Any:
    """Its fastest joint for this axis."""
    aligned = {(1, 0, 0): pin.JointModelRX, (0, 1, 0): pin.JointModelRY, (0, 0, 1): pin.JointModelRZ}.get(tuple(axis))
    return aligned() if aligned else pin.JointModelRevoluteUnaligned(np.array(axis))


def slide(axis: Any) -> Any:
    aligned = {(1, 0, 0): pin.JointModelPX, (0, 1, 0): pin.JointModelPY, (0, 0, 1): pin.JointModelPZ}.get(tuple(axis))
    return aligned() if aligned else pin.JointModelPrismaticUnaligned(np.array(axis))


def planar(j: pp.Joint) -> Any:
    R = pp.Rotation.between((0, 0, 1), j.axis).matrix()
    return composite((slide(R[:, 0]), O), (slide(R[:, 1]), O), (turn(j.axis), O))


O = np.zeros(3)
_JOINTS: dict[str, Callable[[pp.Joint], Any]] = {
    "revolute": lambda j: turn(j.axis),
    "prismatic": lambda j: slide(j.axis),
    "cylindrical": lambda j: composite((turn(j.axis), O), (slide(j.axis), O)),
    "universal": lambda j: composite((turn(j.axis), O), (turn(j.axis2), O)),
    "planar": planar,
    "composite": lambda j: composite(
        *(((turn if s.kind == "revolute" else slide)(s.axis), np.array(s.anchor)) for s in j.steps)
    ),
    "spherical": lambda j: pin.JointModelSpherical(),
    "free": lambda j: pin.JointModelFreeFlyer(),
}


class Mirror:
    """A Pinocchio model of a palpate Model, and the conversions between their vectors."""

    def __init__(self, model: pp.Model) -> None:
        self.model, self.pin = model, pin.Model()
        self.pin.gravity.linear = np.array(model.arrays.gravity)
        self.kind = {j.name: j.kind for j in model.description.joints}
        place = {"world": (0, pin.SE3.Identity())}
        bodies = {b.name: b for b in model.description.bodies}
        for name in model.body_names[1:]:
            joint, body = model.parent_joint(name), bodies[name]
            assert joint is not None
            parent, X = place[joint.parent]
            X = X * se3(joint.placement)
            if joint.kind != "fixed":
                parent = self.pin.addJoint(parent, _JOINTS[joint.kind](joint), X, joint.name)
                # a composite ends at its last anchor, the joint frame is one anchor back
                X = pin.SE3(np.eye(3), -np.array(joint.steps[-1].anchor)) if joint.steps else pin.SE3.Identity()
                armature = self.pin.armature.copy()
                at = self.pin.joints[parent].idx_v
                armature[at : at + joint.nv] = joint.per_velocity("armature")
                self.pin.armature = armature
            X = X * se3(joint.child_placement).inverse()
            place[name] = (parent, X)
            self.pin.appendBodyToJoint(parent, pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia)), X)
        self.place = place
        self.data = self.pin.createData()

    def q(self, q: np.ndarray) -> np.ndarray:
        """(w, x, y, z) -> (x, y, z, w)."""
        out = q.copy()
        for name, s in self.model.q_index.items():
            if self.kind[name] in ("spherical", "free"):
                out[s.stop - 4 : s.stop] = np.roll(q[s.stop - 4 : s.stop], -1)
        return out

    def v(self, v: np.ndarray) -> np.ndarray:
        """(angular, linear) <-> (linear, angular) of free joints; its own inverse."""
        out = v.copy()
        for name, s in self.model.v_index.items():
            if self.kind[name] == "free":
                out[s] = np.roll(v[s], 3)
        return out

    def wrenches(self, q: np.ndarray, wrenches: np.ndarray) -> Any:
        """World-aligned (torque, force) at body origins -> forces in joint frames."""
        pin.forwardKinematics(self.pin, self.data, self.q(q))
        forces = [pin.Force.Zero() for _ in range(self.pin.njoints)]
        for row, name in enumerate(self.model.body_names[1:], start=1):
            joint, X = self.place[name]
            if joint:
                oMb = self.data.oMi[joint] * X
                n, f = wrenches[row, :3], wrenches[row, 3:]
                forces[joint] += self.data.oMi[joint].actInv(pin.Force(f, n + np.cross(oMb.translation, f)))
        return pin.StdVec_Force(forces)

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, wrenches: np.ndarray | None = None) -> np.ndarray:
        """Forward dynamics, in and out in our orders."""
        args = (self.pin, self.data, self.q(q), self.v(v), self.v(tau))
        return self.v(pin.aba(*args) if wrenches is None else pin.aba(*args, self.wrenches(q, wrenches)))

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, wrenches: np.ndarray | None = None) -> np.ndarray:
        """Inverse dynamics, in and out in our orders."""
        args = (self.pin, self.data, self.q(q), self.v(v), self.v(a))
        tau = pin.rnea(*args) if wrenches is None else pin.rnea(*args, self.wrenches(q, wrenches))
        return self.v(tau)

    def timed(self, algorithm: str, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> Callable[[], int]:
        """A function that runs Pinocchio over all rows and returns how many; converted beforehand, so not timed."""
        function = pin.aba if algorithm == "forward" else pin.rnea
        states = [(self.q(a), self.v(b), self.v(c)) for a, b, c in zip(q, v, x, strict=True)]
        model, data = self.pin, self.data

        def run() -> int:
            for a, b, c in states:
                function(model, data, a, b, c)
            return len(states)

        return run
