"""The same scene in Rapier: a peer of `palpate bench contact`.

Same placements, masses, inertias, friction, restitution and step of 1 ms.  What was tried, and what is used:
  iterations    4, its default: substeps of 0.25 ms with a sweep each
  precision     single: its package for Python has no other, all other engines here compute in double
  sleep         off, as in all engines: what lies is solved in every step; on, with its own thresholds (half a radian a
                second), in the scenes that sleep
  threads       one, as all engines; with two no scene is faster.  It is the one of its common pool, to which it hands
                part of a large scene: with a pool of its own it would hand over every step, 15 us each.  On a machine
                that is busy its steps wait for that thread, and times of piles say less
  length unit   0.1 m, the size of the bodies: with 1 m it looks for contacts within 2 cm and keeps them over 5 cm;
                piles take half as long again, and boxes land 16 mm in each other
  softness      240 Hz between what moves, 480 Hz on what is fixed, damping ratio 10.  With its default of 30 and 60 Hz
                ten boxes sink by 18 mm and go on sinking; harder costs no time, but at 500 Hz boxes that lie stir
  friction      its default, one for up to four points of a patch and one of twist; one per point: up to 20 % slower
  recycling     of contacts that moved little, its default; without it boxes are 10 % slower
  counters      off
  robots        multibodies in the coordinates of their joints, without limits, which nothing here reaches; the PD as
                motors of force, which are constraints, swept with those of the contacts: they sag, stand and give way
                to a push as under our implicit PD, to a millimetre standing and a centimetre pushed
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import rapier3d

import palpate as pp
from palpate.bench.contact_scenes import DAMPING, DT, STIFFNESS, BenchScene, Vector, touching

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # threads of its pool, which is made at the first step
ITERATIONS = 4
LENGTH_UNIT = 0.1  # [m]
MOVING_HZ, FIXED_HZ, DAMPING_RATIO = 240.0, 480.0, 10.0

_AXIS = rapier3d.JointAxis
_AXES = {"revolute": (_AXIS.ANG_X,), "spherical": (_AXIS.ANG_X, _AXIS.ANG_Y, _AXIS.ANG_Z)}


class RapierPeer:
    """A scene in Rapier."""

    name = "Rapier"
    setting = f"{ITERATIONS} substeps"
    loops = False

    def __init__(self, scene: BenchScene) -> None:
        model, self.sleep = pp.compile(scene.parts), scene.sleep
        posture = model.posture("start")
        poses = dict(zip(model.body_names, pp.forward_kinematics(model, posture), strict=True))
        self.world = rapier3d.PhysicsWorld(gravity=model.arrays.gravity.tolist())
        self.world.physics_pipeline.counters.disable()
        parameters = self.world.integration_parameters
        parameters.dt, parameters.length_unit, parameters.num_solver_iterations = DT, LENGTH_UNIT, ITERATIONS
        parameters.contact_softness = rapier3d.SpringCoefficients(MOVING_HZ, DAMPING_RATIO)
        parameters.static_contact_softness = rapier3d.SpringCoefficients(FIXED_HZ, DAMPING_RATIO)
        self.handle: dict[str, Any] = {}  # of bodies that move
        for part in scene.parts:
            for body in part.bodies:
                self.add(body, pp.Transform.from_matrix(poses[body.name]), part.joints[0].kind == "free")
            if len(part.bodies) > 1:
                self.connect(part.joints, {joint.name: posture[model.q_index[joint.name]] for joint in part.joints})

    # ---- building

    def add(self, body: pp.Body, X: pp.Transform, moves: bool) -> None:
        if not moves:
            for shape in touching(body):
                self.world.add_collider(collider(shape, X @ shape.placement))
            return
        inertia, axes = np.linalg.eigh(np.asarray(body.inertia))
        R = pp.Rotation.from_matrix(axes * np.sign(np.linalg.det(axes)))  # a rotation, not a mirror
        mass = rapier3d.MassProperties(body.com, body.mass, inertia.tolist(), rapier3d.Rotation3(*R.wxyz))
        solid = (
            rapier3d.RigidBody.dynamic().position(isometry(X)).can_sleep(self.sleep).additional_mass_properties(mass)
        )
        shapes = [collider(shape, shape.placement).density(0.0) for shape in touching(body)]
        self.handle[body.name] = self.world.add_body(solid, shapes)
        made = self.world.rigid_bodies[self.handle[body.name]]
        made.recompute_mass_properties_from_colliders(self.world.colliders)

    def connect(self, joints: Sequence[pp.Joint], q: dict[str, np.ndarray]) -> None:
        """A tree of joints on a free root, in their coordinates, held by motors where they are."""
        made, every = list[Any](), self.world.multibody_joints
        for joint in joints[1:]:
            if joint.kind not in _AXES:
                raise ValueError(f"joint {joint.name!r} has no counterpart in this bench")
            turns = joint.kind == "revolute"  # about x, as it has it
            data = (rapier3d.RevoluteJoint((1.0, 0.0, 0.0)) if turns else rapier3d.SphericalJoint()).data
            turned = pp.Transform(pp.Rotation.between((1.0, 0.0, 0.0), joint.axis) if turns else pp.Rotation())
            data.local_frame1 = isometry(joint.placement @ turned)
            data.local_frame2 = isometry(joint.child_placement @ turned)
            made.append(every.insert(self.handle[joint.parent], self.handle[joint.child], data))
        tree: Any = every.multibody(made[0])
        tree.set_self_contacts_enabled(False)
        tree.set_damping([0.0] * tree.ndofs)
        armature, there = [0.0] * 6, [0.0] * 6
        for joint, handle in zip(joints[1:], made, strict=True):
            link = every[handle].link_id
            angles = q[joint.name] if joint.kind == "revolute" else pp.Rotation(tuple(q[joint.name])).log()
            for axis, angle in zip(_AXES[joint.kind], angles.tolist(), strict=True):
                tree.set_link_motor_model(link, axis, rapier3d.MotorModel.FORCE_BASED)
                tree.set_link_motor(link, axis, angle, 0.0, STIFFNESS, DAMPING)
            armature += joint.per_velocity("armature")
            there += angles.tolist()
        tree.set_armature(armature)
        tree.apply_displacements(there)
        tree.forward_kinematics(self.world.rigid_bodies, read_root_pose_from_rigid_body=True)
        tree.update_rigid_bodies(self.world.rigid_bodies, True)

    # ---- running

    @property
    def step(self) -> Callable[[], Any]:
        return self.world.step

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.world.step()

    def push(self, body: str, force: Vector) -> None:
        """Its forces stay: replaced for every step."""
        solid = self.world.rigid_bodies[self.handle[body]]
        solid.reset_forces()
        solid.reset_torques()
        solid.add_force_at_point(force, solid.translation)

    def save(self) -> bytes:
        return self.world.snapshot()

    def restore(self, saved: bytes) -> None:
        self.world = rapier3d.PhysicsWorld.restore(saved)
        self.world.physics_pipeline.counters.disable()  # is not among what is saved

    def poses(self, bodies: Sequence[str]) -> np.ndarray:
        solids = self.world.rigid_bodies
        X = np.array([solids[self.handle[body]].position.to_matrix() for body in bodies], dtype=float)
        return X.reshape(-1, 4, 4)

    def contacts(self) -> int:
        pairs = self.world.narrow_phase.contact_pairs()
        return sum(manifold.data.num_active_contacts for pair in pairs for manifold in pair.manifolds)

    def mass(self) -> float:
        return float(sum(self.world.rigid_bodies[handle].mass for handle in self.handle.values()))

    def residual(self) -> None:
        """It says none."""

    def close(self) -> None:
        pass


def collider(shape: pp.Shape, X: pp.Transform) -> Any:
    """A shape at X, with our rules for pairs: friction by the geometric mean, restitution by the larger."""
    match shape.kind:
        case "plane":
            made = rapier3d.Collider.halfspace((0.0, 0.0, 1.0))
        case "sphere":
            made = rapier3d.Collider.ball(shape.size[0])
        case "box":
            made = rapier3d.Collider.cuboid(*(0.5 * x for x in shape.size))
        case _:
            raise ValueError(f"no {shape.kind} in this bench")
    rule = rapier3d.CoefficientCombineRule
    made = made.position(isometry(X)).friction(shape.material.friction).friction_combine_rule(rule.GEOMETRIC_MEAN)
    return made.restitution(shape.material.restitution).restitution_combine_rule(rule.MAX)


def isometry(X: pp.Transform) -> Any:
    return rapier3d.Isometry3(X.p, rapier3d.Rotation3(*X.R.wxyz))
