"""The same scene in Drake: a peer of `palpate bench contact`.

A discrete MultibodyPlant with its SceneGraph: same placements, masses, inertias, friction and step of 1 ms; restitution
zero, as all of these scenes have it.  What was tried, and what is used:
  approximation  lagged, its default.  With SAP and similar what slides floats, the box 2 mm above the floor after
                 0.2 s; TAMSI, faster for one box, does not converge for robots and piles of balls
  boxes          two settings, as neither is the best everywhere.  "points": it has but one for a pair of boxes, with
                 which a stack of ten falls; so each box has spheres of 5 mm in its corners too.  Twice as fast for the
                 stack, but boxes of a pile sink into each other: 27 mm in 0.6 s, with spheres of 1 mm 95 mm in 2 s.
                 "surfaces": hydroelastic, compliant boxes of 1e8 Pa on rigid planes, up to 39 points for a pair.  Piles
                 of boxes are run with surfaces alone, one box and the stack with both, and the faster counts; spheres
                 have their points
  stiffness      1e6 N/m for a pair: robots sink in by 0.1 mm; ten times more or less takes as long
  dissipation    50 s/m, its default: nothing bounces.  With 10 a ball dropped by half a metre bounces by 0.3 mm, with
                 1000 it comes to rest 0.4 mm in the floor
  friction       it takes the harmonic mean of a pair; what is fixed gets the one that makes it our geometric mean
  PD             springs, and in the joints the damping d = kv + h kp, which it treats implicitly: the same linear
                 system as our implicit PD.  Actuators with PD gains move alike to 8 digits, but are constraints: a
                 third slower
  ball joints    in roll, pitch and yaw from the posture that is held, where they are far from singular; the spring is a
                 bushing in these angles, to first order ours: after its push the human is 20.4 mm off, ours 20.0
  output ports   not sampled; sampled they cost a robot 15 % more
  step           the update of its diagram, called directly; through a Simulator it takes as long, and so does its loop
  solver         its tolerance and iterations cannot be set from Python
  sleep          it has none: the scenes that sleep are not measured
  posture        boxes and balls start where ours came to rest: its step of 200 boxes takes a tenth of a second
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    Box,
    CollisionFilterDeclaration,
    GeometryId,
    GeometrySet,
    HalfSpace,
    ProximityProperties,
    Sphere,
)
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    ContactModel,
    CoulombFriction,
    DiscreteContactApproximation,
    ExternallyAppliedSpatialForce,
)
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    LinearBushingRollPitchYaw,
    RevoluteJoint,
    RevoluteSpring,
    RotationalInertia,
    SpatialInertia,
)
from pydrake.systems.framework import DiagramBuilder

import palpate as pp
from palpate.bench.contact_scenes import DAMPING, DT, STIFFNESS, BenchScene, Vector, touching

logging.getLogger("drake").setLevel(logging.ERROR)  # it warns of planes, which deformable bodies would not touch

CONTACT_STIFFNESS = 1e6  # of a pair [N/m]
DISSIPATION = 50.0  # Hunt and Crossley's [s/m]
CORNER = 0.005  # points: radius of the spheres in the corners of boxes [m]
MODULUS = 1e8  # surfaces: of boxes [Pa]


class DrakePeer:
    """A scene in Drake; `setting` is "points" or "surfaces".

    posture  (nq,) the whole scene's q, where it begins; None: in "start", in which robots are held
    """

    name = "Drake"
    loops = False

    def __init__(self, scene: BenchScene, setting: str, posture: np.ndarray | None = None) -> None:
        if scene.sleep:
            raise ValueError("bodies do not sleep in Drake")
        if scene.held and posture is not None:
            raise ValueError("a robot that is held starts in the posture that is held")
        self.setting = setting
        model = pp.compile(scene.parts)
        posture = model.posture("start") if posture is None else posture
        poses = dict(zip(model.body_names, pp.forward_kinematics(model, posture), strict=True))
        builder = DiagramBuilder()
        self.plant, graph = AddMultibodyPlantSceneGraph(builder, DT)
        points, surfaces = ContactModel.kPoint, ContactModel.kHydroelasticWithFallback
        self.plant.set_contact_model({"points": points, "surfaces": surfaces}[setting])
        self.plant.set_discrete_contact_approximation(DiscreteContactApproximation.kLagged)
        self.plant.SetUseSampledOutputPorts(False)
        self.plant.mutable_gravity_field().set_gravity_vector(model.arrays.gravity)
        self.friction = frictions(scene)
        self.body: dict[str, Any] = {}  # that moves
        self.moving: list[GeometryId] = []
        self.corners: list[GeometryId] = []
        for part in scene.parts:
            for body in part.bodies:
                self.add(body, pp.Transform.from_matrix(poses[body.name]), part.joints[0].kind == "free")
            for joint in part.joints[1:]:
                self.connect(joint, posture[model.q_index[joint.name]], scene.held)
        self.plant.Finalize()
        # Corners touch boxes and planes, not each other; of robots nothing touches what moves.
        apart = self.corners if scene.moving_touch else self.moving
        filters = graph.collision_filter_manager()
        filters.Apply(CollisionFilterDeclaration().ExcludeWithin(GeometrySet(apart)))
        self.diagram = builder.Build()
        self.root = self.diagram.CreateDefaultContext()
        self.context = self.plant.GetMyMutableContextFromRoot(self.root)
        for part in scene.parts:
            if part.joints[0].kind == "free":
                base = part.bodies[0].name
                self.plant.SetFreeBodyPose(self.context, self.body[base], RigidTransform(poses[base]))
            for joint in part.joints[1:]:
                if joint.kind == "revolute":
                    angle = float(posture[model.q_index[joint.name]][0])
                    self.plant.GetJointByName(joint.name).set_angle(self.context, angle)

    @staticmethod
    def settings(scene: BenchScene) -> tuple[str, ...]:
        """Those that do a scene justice."""
        if all(shape.kind != "box" for part in scene.parts for body in part.bodies for shape in touching(body)):
            return ("points",)
        return ("points", "surfaces") if scene.points else ("surfaces",)  # piles: as many points as there come

    # ---- building

    def add(self, body: pp.Body, X: pp.Transform, moves: bool) -> None:
        on, at = self.plant.world_body(), X
        if moves:
            I = np.asarray(body.inertia)
            inertia = RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
            solid = SpatialInertia.MakeFromCentralInertia(body.mass, body.com, inertia)
            on, at = self.plant.AddRigidBody(body.name, solid), pp.Transform()
            self.body[body.name] = on
        for i, shape in enumerate(touching(body)):
            self.touch(on, f"{body.name} {i}", shape, at @ shape.placement, moves)

    def touch(self, on: Any, name: str, shape: pp.Shape, X: pp.Transform, moves: bool) -> None:
        material = ProximityProperties()
        mu = self.friction[shape.material.friction, moves]
        AddContactMaterial(
            dissipation=DISSIPATION, point_stiffness=2.0 * CONTACT_STIFFNESS,  # two springs in a row
            friction=CoulombFriction(mu, mu), properties=material,
        )  # fmt: skip
        if self.setting == "surfaces" and shape.kind == "box":
            AddCompliantHydroelasticProperties(min(shape.size), MODULUS, material)
        elif self.setting == "surfaces" and shape.kind == "plane":
            AddRigidHydroelasticProperties(material)
        corners = list[GeometryId]()
        first = self.plant.RegisterCollisionGeometry(on, rigid(X), geometry(shape), name, material)
        if self.setting == "points" and shape.kind == "box":
            for k, side in enumerate(np.ndindex(2, 2, 2)):
                centre = (2.0 * np.array(side) - 1.0) * (0.5 * np.array(shape.size) - CORNER)
                at = rigid(X) @ RigidTransform(centre)
                ball = self.plant.RegisterCollisionGeometry(on, at, Sphere(CORNER), f"{name} corner {k}", material)
                corners.append(ball)
        self.corners += corners
        if moves:
            self.moving += [first, *corners]

    def connect(self, joint: pp.Joint, q: np.ndarray, held: bool) -> None:
        """A joint on what is there, held at q."""
        damping = DAMPING + DT * STIFFNESS if held else 0.0
        armature = joint.per_velocity("armature")
        if joint.kind not in ("revolute", "spherical") or (joint.kind == "spherical" and any(armature)):
            raise ValueError(f"joint {joint.name!r} has no counterpart in this bench")
        turned = pp.Transform(pp.Rotation(tuple(q)) if joint.kind == "spherical" else pp.Rotation())
        inner = self.frame(f"{joint.name} in parent", joint.parent, joint.placement @ turned)
        outer = self.frame(f"{joint.name} in child", joint.child, joint.child_placement)
        if joint.kind == "spherical":
            self.plant.AddJoint(BallRpyJoint(joint.name, inner, outer, damping))
            if held:
                k, no = np.full(3, STIFFNESS), np.zeros(3)
                self.plant.AddForceElement(LinearBushingRollPitchYaw(inner, outer, k, no, no, no))
            return
        made = self.plant.AddJoint(RevoluteJoint(joint.name, inner, outer, joint.axis, damping))
        if held:
            self.plant.AddForceElement(RevoluteSpring(made, float(q[0]), STIFFNESS))
        if armature[0]:  # the rotor of an actuator that is never used
            rotor = self.plant.AddJointActuator(joint.name, made)
            rotor.set_default_rotor_inertia(armature[0])
            rotor.set_default_gear_ratio(1.0)

    def frame(self, name: str, body: str, X: pp.Transform) -> Any:
        return self.plant.AddFrame(FixedOffsetFrame(name, self.body[body].body_frame(), rigid(X)))

    # ---- running

    def step(self) -> None:
        self.root.SetDiscreteState(self.diagram.EvalUniquePeriodicDiscreteUpdate(self.root))

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def push(self, body: str, force: Vector) -> None:
        """Its forces stay: replaced for every step."""
        applied = ExternallyAppliedSpatialForce()
        applied.body_index = self.body[body].index()
        applied.p_BoBq_B = np.zeros(3)
        applied.F_Bq_W = SpatialForce(np.zeros(3), np.array(force))
        self.plant.get_applied_spatial_force_input_port().FixValue(self.context, [applied])

    def save(self) -> Any:
        return self.root.Clone()

    def restore(self, saved: Any) -> None:
        self.root.SetTimeStateAndParametersFrom(saved)

    def poses(self, bodies: Sequence[str]) -> np.ndarray:
        X = [self.plant.EvalBodyPoseInWorld(self.context, self.body[body]).GetAsMatrix4() for body in bodies]
        return np.array(X).reshape(-1, 4, 4)

    def contacts(self) -> int:
        """Where it is now: what the next step begins with."""
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        surfaces = map(results.hydroelastic_contact_info, range(results.num_hydroelastic_contacts()))
        faces = sum(surface.contact_surface().num_faces() for surface in surfaces)  # each is a point of its solver
        return int(results.num_point_pair_contacts() + faces)

    def mass(self) -> float:
        return float(self.plant.CalcTotalMass(self.context))

    def mass_matrix(self) -> np.ndarray:
        return self.plant.CalcMassMatrix(self.context)

    def residual(self) -> None:
        """It solves another, softened problem: no residual that compares."""

    def close(self) -> None:
        pass


def geometry(shape: pp.Shape) -> Any:
    match shape.kind:
        case "plane":
            return HalfSpace()
        case "sphere":
            return Sphere(shape.size[0])
        case "box":
            return Box(*shape.size)
    raise ValueError(f"no {shape.kind} in this bench")


def frictions(scene: BenchScene) -> dict[tuple[float, bool], float]:
    """(our friction, whether it moves) -> Drake's, whose 2 a b / (a + b) is then our geometric mean for every pair.

    What moves has `own`: ours where it touches its like, else any that is not below that of a pair.
    """
    of: dict[bool, set[float]] = {True: set(), False: set()}
    for part in scene.parts:
        for body in part.bodies:
            of[part.joints[0].kind == "free"] |= {shape.material.friction for shape in touching(body)}
    if len(of[True]) > 1:
        raise ValueError("moving bodies of several frictions: Drake's rule for a pair could not give ours")
    moving = min(of[True], default=0.0)
    pairs = {fixed: math.sqrt(moving * fixed) for fixed in of[False]}
    own = moving if scene.moving_touch else max(pairs.values(), default=moving)
    if any(mu >= 2.0 * own > 0.0 for mu in pairs.values()):
        raise ValueError("a floor four times as rough as what moves: Drake's rule for a pair could not give ours")
    # 2 / mu = 1 / own + 1 / its own
    return {(moving, True): own} | {(f, False): mu * own / (2.0 * own - mu) if mu else 0.0 for f, mu in pairs.items()}


def rigid(X: pp.Transform) -> Any:
    return RigidTransform(Quaternion(np.array(X.R.wxyz)), np.array(X.p))
