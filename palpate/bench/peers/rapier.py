"""Boxes and balls in Rapier: a peer of `palpate bench contact`, for every scene without joints.

Same placements, masses, inertias, friction, restitution and step of 1 ms.  What was tried, and what is used:
  iterations    4, its default: substeps of 0.25 ms with a sweep each
  precision     single: its package for Python has no other, all other engines here compute in double
  sleep         off, as in all engines: what lies is solved in every step
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
Robots are left out: motors of its multibodies are constraints, swept with those of the contacts, and not an implicit
PD; whether robots would then stand alike was not tried.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import rapier3d

import palpate as pp
from palpate.bench.contact_scenes import DT, BenchScene, Vector, touching

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # threads of its pool, which is made at the first step
ITERATIONS = 4
LENGTH_UNIT = 0.1  # [m]
MOVING_HZ, FIXED_HZ, DAMPING_RATIO = 240.0, 480.0, 10.0


class RapierPeer:
    """A scene of free and fixed solids in Rapier."""

    name = "Rapier"
    setting = f"{ITERATIONS} substeps"
    loops = False

    def __init__(self, scene: BenchScene) -> None:
        model = pp.compile(scene.parts)
        posture = model.posture("start")
        self.world = rapier3d.PhysicsWorld(gravity=model.arrays.gravity.tolist())
        self.world.physics_pipeline.counters.disable()
        parameters = self.world.integration_parameters
        parameters.dt, parameters.length_unit, parameters.num_solver_iterations = DT, LENGTH_UNIT, ITERATIONS
        parameters.contact_softness = rapier3d.SpringCoefficients(MOVING_HZ, DAMPING_RATIO)
        parameters.static_contact_softness = rapier3d.SpringCoefficients(FIXED_HZ, DAMPING_RATIO)
        self.handle: dict[str, Any] = {}  # of bodies that move
        for part in scene.parts:
            if len(part.bodies) > 1:
                raise ValueError(f"{part.name!r} has joints; here Rapier has only solids")
            if part.joints[0].kind == "free":
                self.add_moving(part.bodies[0], posture[model.q_index[part.joints[0].name]])
            else:
                self.add_fixed(part.bodies[0], part.joints[0].placement)

    # ---- building

    def add_moving(self, body: pp.Body, q: np.ndarray) -> None:
        if any(body.com) or touching(body)[0].placement != pp.Transform():
            raise ValueError(f"{body.name!r}: here a solid has its shape and its centre of mass at its origin")
        inertia = np.diag(np.asarray(body.inertia)).tolist()
        mass = rapier3d.MassProperties((0.0, 0.0, 0.0), body.mass, inertia)
        pose = rapier3d.Isometry3(q[:3].tolist(), rapier3d.Rotation3(*q[3:].tolist()))
        solid = rapier3d.RigidBody.dynamic().position(pose).can_sleep(False)
        self.handle[body.name] = self.world.add_body(solid, [collider(body).mass_properties(mass)])

    def add_fixed(self, body: pp.Body, X: pp.Transform) -> None:
        pose = rapier3d.Isometry3(X.p, rapier3d.Rotation3(*X.R.wxyz))
        self.world.add_collider(collider(body).position(pose))

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
        solid.add_force(force)

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


def collider(body: pp.Body) -> Any:
    """The shape of a solid, with our rules for pairs: friction by the geometric mean, restitution by the larger."""
    (shape,) = touching(body)
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
    made = made.friction(shape.material.friction).friction_combine_rule(rule.GEOMETRIC_MEAN)
    return made.restitution(shape.material.restitution).restitution_combine_rule(rule.MAX)
