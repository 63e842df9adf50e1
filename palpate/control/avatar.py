"""Avatar: what one avatar feels, and what its controllers tell each other; and `sense`, the first of them in a tick.

A World may hold several; each has its own tree of links first .. end, on a free waist.  World axes, SI; pairs are
(right, left).  Controllers come after `sense`, one after the other: they add to State.tau and set State.q_hold,
v_hold, kp and kv of the avatar's own joints (the implicit springs of world/joints.py).  `sense` begins each tick with
the gains at rest, no torques and targets that stand still.

c, c'   centre of mass and its velocity;  w = sqrt(g / z), z its height at rest
xi      = c + c'/w on the floor: the capture point (Pratt 2006), where a step would bring it to rest
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from palpate.contact.assemble import tangents
from palpate.control.limbs import LEFT, RIGHT, Limbs, limb_of_axes, limbs_of
from palpate.control.part import ControlPart, Shown
from palpate.dynamics.energy import link_motion
from palpate.dynamics.facade import forward_kinematics
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.frame import Field
from palpate.jit import Block, Struct, Vector, block_loader, kernel
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.spatial.vectors import add, add_scaled, cross, dot, get3, get6, put3, scale, sub
from palpate.world.state import load as load_world
from palpate.world.step import begin_step
from palpate.world.world import World

ZERO = (0.0, 0.0, 0.0)
PUSH_S = 0.05  # time constant with which the known force of hands is smoothed
LOADED_N = 5.0  # a sole that bears less is in the air


class Avatar(Struct):
    """A axes, B bodies of the whole World."""

    world: int  # address of the World's block
    # its tree: links, axes, coordinates and velocities first .. end
    first: int
    end: int
    axis_first: int
    axis_end: int
    q_first: int
    q_end: int
    v_first: int
    v_end: int
    mass: float  # [kg]
    own: Ints1  # (B,) 1: a body of its own
    limb: Ints1  # (A,) which limb an axis belongs to (limbs.py), -1: none of its own
    # bodies
    waist: int
    chest: int
    head: int
    foot: Ints1  # (2,)
    hand: Ints1  # (2,)
    elbow: Ints1  # (2,)
    sole_at: Floats2  # (8, 3) corners of the soles, around the right and around the left, in the axes of the feet
    palm_at: Floats2  # (2, 3) middle of each palm, and
    palm_normal: Floats2  # (2, 3) out of it, in the axes of the hands
    # at rest
    kp_rest: Floats1  # (A,) [N m/rad]
    kv_rest: Floats1  # (A,) [N m s/rad]
    floor_m: float  # height of the floor
    height_m: float  # z of its centre of mass above it
    w: float  # [1/s]
    # sensed: where it is and how it moves
    com: Vector
    com_velocity: Vector
    capture: Vector  # xi, on the floor
    sole: Floats2  # (8, 3) corners of the soles
    palm: Floats2  # (2, 3) middle of the palms,
    palm_velocity: Floats2  # (2, 3)
    palm_out: Floats2  # (2, 3) their normals
    # what the world did to it in the step before [N]
    foot_force: Floats2  # (2, 3) on each foot
    foot_load: Floats1  # (2,) its part along z
    palm_force: Floats2  # (2, 3) on each hand
    palm_load: Floats1  # (2,) against the palm
    palm_on: Ints1  # (2,) body that the hand touches with most of it, 0: none
    # the known force of hands on its own bodies: the page's pointer, devices, hands across a link
    push: Vector  # their sum [N]
    push_moment: Vector  # about the centre of mass [N m]
    push_smooth: Vector  # both, smoothed with PUSH_S
    push_moment_smooth: Vector
    touched: int  # body with the largest of them, 0: none
    touch_force: Vector  # on that body
    touch_point: Vector  # where, world; as far as force and torque tell
    # what behaviours ask of balance, hands and gaze
    lean: Vector  # of the centre of mass, from where it rests
    load: Vector  # force of what it carries, on the hands, as known; and
    load_moment: Vector  # its moment about the centre of mass
    fallen: int


load_avatar = block_loader((Avatar, False))


@kernel
def sense_mass(m, w, a):
    """c, c' over its own links."""
    moment, momentum = ZERO, ZERO
    for i in range(a.first, a.end):
        mass, c, u, _, _ = link_motion(m, w, i)
        moment, momentum = add_scaled(moment, mass, c), add_scaled(momentum, mass, u)
    a.com, a.com_velocity = scale(1.0 / a.mass, moment), scale(1.0 / a.mass, momentum)


@kernel
def sense_points(m, w, a):
    """Corners of the soles, and palms."""
    for k in range(8):
        put3(a.sole, k, point_motion(m, w, a.foot[k // 4], get3(a.sole_at, k))[2])
    for side in range(2):
        _, _, point, velocity, _ = point_motion(m, w, a.hand[side], get3(a.palm_at, side))
        R, _ = body_frame(m, w, a.hand[side])
        n = get3(a.palm_normal, side)
        put3(a.palm, side, point)
        put3(a.palm_velocity, side, velocity)
        for r in range(3):
            a.palm_out[side, r] = R[3 * r] * n[0] + R[3 * r + 1] * n[1] + R[3 * r + 2] * n[2]


@kernel
def sense_contacts(g, c, r, s, a):
    """Forces on feet and hands in the step before, and what the hands touched."""
    a.foot_force[:, :] = 0.0
    a.palm_force[:, :] = 0.0
    most_right, most_left = 0.0, 0.0
    a.palm_on[RIGHT], a.palm_on[LEFT] = 0, 0
    for i in range(r.n_contacts):
        n = get3(c.normal, i)
        t1, t2 = tangents(n)
        impulse = add_scaled(add_scaled(scale(r.lam[i, 0], n), r.lam[i, 1], t1), r.lam[i, 2], t2)
        for end in range(2):  # the impulse is on b, its opposite on a
            body, other = g.body[c.shape_b[i] if end else c.shape_a[i]], g.body[c.shape_a[i] if end else c.shape_b[i]]
            if a.own[body] == 0 or a.own[other] != 0:
                continue
            f = scale((1.0 if end else -1.0) / s.dt, impulse)
            for side in range(2):
                if body == a.foot[side]:
                    put3(a.foot_force, side, add(get3(a.foot_force, side), f))
                elif body == a.hand[side]:
                    put3(a.palm_force, side, add(get3(a.palm_force, side), f))
                    if r.lam[i, 0] > (most_left if side else most_right):
                        a.palm_on[side] = other
                        most_right, most_left = (most_right, r.lam[i, 0]) if side else (r.lam[i, 0], most_left)
    for side in range(2):
        a.foot_load[side] = a.foot_force[side, 2]
        a.palm_load[side] = -dot(get3(a.palm_force, side), get3(a.palm_out, side))


@kernel
def sense_hands(m, w, s, a):
    """What hands do to its bodies in this tick: their sum, its moment about c, and the body that feels most."""
    force, moment, most, touched = ZERO, ZERO, 0.0, 0
    a.touch_force, a.touch_point = ZERO, ZERO
    for body in range(1, s.n_wrenches):
        if a.own[body] == 0:
            continue
        n, f = get6(s.wrenches, body)
        square = dot(f, f)
        if square + dot(n, n) == 0.0:
            continue
        origin = point_motion(m, w, body, ZERO)[2]
        force = add(force, f)
        moment = add(moment, add(n, cross(sub(origin, a.com), f)))
        if square > most:  # nearest point to the origin on the line on which f acts: r = f x n / f.f
            most, touched = square, body
            a.touch_force, a.touch_point = f, add(origin, scale(1.0 / square, cross(f, n)))
    a.push, a.push_moment, a.touched = force, moment, touched
    part = s.dt / (PUSH_S + s.dt)
    a.push_smooth = add_scaled(a.push_smooth, part, sub(force, a.push_smooth))
    a.push_moment_smooth = add_scaled(a.push_moment_smooth, part, sub(moment, a.push_moment_smooth))


@kernel
def rest(m, s, a):
    """Joints as they are without a controller: gains at rest, targets that stand still, no torques."""
    for k in range(a.axis_first, a.axis_end):
        s.kp[k], s.kv[k] = a.kp_rest[k], a.kv_rest[k]
    for j in range(a.v_first, a.v_end):
        s.tau[j], s.v_hold[j] = 0.0, 0.0


@routine
def sense(address):
    a = load_avatar(address)[0]
    m, w, g, c, r, s = load_world(a.world)
    sense_mass(m, w, a)
    sense_points(m, w, a)
    sense_contacts(g, c, r, s, a)
    sense_hands(m, w, s, a)
    a.capture = (a.com[0] + a.com_velocity[0] / a.w, a.com[1] + a.com_velocity[1] / a.w, a.floor_m)
    rest(m, s, a)
    return 0


@routine
def forget(address):
    """Nothing was felt yet; where it stands is known."""
    a = load_avatar(address)[0]
    begin_step(a.world)  # a reset has moved coordinates and nothing else: without it, it would stand where it fell
    m, w, _, _, _, _ = load_world(a.world)
    begin_step(a.world)  # before the first tick nobody has looked where things are
    a.push, a.push_moment, a.push_smooth, a.push_moment_smooth = ZERO, ZERO, ZERO, ZERO
    a.touched, a.fallen, a.lean, a.load, a.load_moment = 0, 0, ZERO, ZERO, ZERO
    a.foot_force[:, :] = 0.0
    a.palm_force[:, :] = 0.0
    sense_mass(m, w, a)
    sense_points(m, w, a)
    a.capture = (a.com[0], a.com[1], a.floor_m)
    return 0


class Actor:
    """One avatar of a World, and its controllers in the order in which a tick calls them:

        actor = Actor(world)                      HRP-2 or a human; prefix="hrp2.2/" for the second one
        actor.add(balance(actor))
        scene = Scene(..., world, controllers=actor.parts)

    The world holds its joints as at rest already (`World.hold`): their gains and targets are the posture.
    number  0, 1, ...: frames have its fields as `avatar_...`, `avatar2_...`
    """

    def __init__(self, world: World, prefix: str = "", limbs: Limbs | None = None, number: int = 0) -> None:
        model, state = world.model, world.arrays.state
        m = model.arrays
        self.world, self.prefix, self.limbs = world, prefix, limbs or limbs_of(model, prefix)
        self.number, self.field_prefix = number, "avatar_" if number == 0 else f"avatar{number + 1}_"

        def body(name: str) -> int:
            return model.body(prefix + name)

        first = int(m.body_link[body(self.limbs.waist)])
        tree = np.flatnonzero(m.root == m.root[first])
        if m.root[first] != first or m.axis_count[first] != 6:
            raise ValueError(f"the waist {prefix + self.limbs.waist!r} of an avatar moves freely; this one does not")
        end = int(tree[-1]) + 1
        axes = slice(int(m.axis_begin[first]), int(m.axis_begin[end - 1] + m.axis_count[end - 1]))
        v_at = m.axis_v[axes]
        joints = [j for j, where in model.v_index.items() if v_at.min() <= where.start <= v_at.max()]
        q_at = [n for j in joints for n in range(model.q_index[j].start, model.q_index[j].stop)]
        own = np.isin(m.body_link, tree).astype(np.int64)
        own[0] = 0
        mirror = np.array([1.0, -1.0, 1.0])
        zeros, ints = np.zeros, lambda *rows: np.array(rows, dtype=np.int64)
        self.avatar = a = Avatar(
            world=world.arrays.block.address, first=first, end=end, axis_first=axes.start, axis_end=axes.stop,
            q_first=min(q_at), q_end=max(q_at) + 1, v_first=int(v_at.min()), v_end=int(v_at.max()) + 1,
            mass=float(m.mass[tree].sum()), own=own, limb=limb_of_axes(model, self.limbs, prefix),
            waist=body(self.limbs.waist), chest=body(self.limbs.chest), head=body(self.limbs.head),
            foot=ints(*map(body, self.limbs.feet)), hand=ints(*map(body, self.limbs.hands)),
            elbow=ints(*map(body, self.limbs.elbows)), sole_at=self.limbs.sole_corners(),
            palm_at=np.array([self.limbs.palm, self.limbs.palm * mirror]),
            palm_normal=np.array([self.limbs.palm_normal, self.limbs.palm_normal * mirror]),
            kp_rest=state.kp.copy(), kv_rest=state.kv.copy(), sole=zeros((8, 3)), palm=zeros((2, 3)),
            palm_velocity=zeros((2, 3)), palm_out=zeros((2, 3)), foot_force=zeros((2, 3)), foot_load=zeros(2),
            palm_force=zeros((2, 3)), palm_load=zeros(2), palm_on=ints(0, 0),
        )  # fmt: skip
        state.guided[first] = 1
        self.block = Block(a)
        self._measure(world)
        self.parts: list[ControlPart] = [
            ControlPart("sense", sense, self.block, reset=forget, world=a.world, hello=self.hello,
                        shows=self.shown(a, SENSED, capture_point="capture"))
        ]  # fmt: skip

    def _measure(self, world: World) -> None:
        """Where the floor is, and how high the centre of mass above it."""
        a, m = self.avatar, world.model.arrays
        X = forward_kinematics(world.model, world.q)
        corners = [X[a.foot[k // 4]] @ np.append(a.sole_at[k], 1.0) for k in range(8)]
        a.floor_m = float(min(corner[2] for corner in corners))
        links = range(a.first, a.end)
        bodies = [int(np.flatnonzero(m.body_link == i)[0]) for i in links]
        place = [X[b] @ inverse(m.body_R[b], m.body_p[b]) for b in bodies]
        com = sum(m.mass[i] * (L @ np.append(m.com[i], 1.0))[:3] for i, L in zip(links, place, strict=True)) / a.mass
        a.height_m = float(com[2]) - a.floor_m
        a.w = math.sqrt(float(np.linalg.norm(m.gravity)) / a.height_m)

    @property
    def name(self) -> str:
        return self.prefix.rstrip("/") or self.world.model.name.split("+")[0]

    def hello(self) -> dict[str, Any]:
        """What a page knows of it, whatever controls it (runtime/world/avatars.py)."""
        settings = [setting.event for part in self.parts for setting in part.settings if setting.label]
        return {"avatars": [{
            "name": self.name, "prefix": self.field_prefix, "head": self.prefix + self.limbs.head,
            "palms": [self.prefix + hand for hand in self.limbs.hands],
            "palm_axes": self.avatar.palm_normal.tolist(), "settings": settings,
        }]}  # fmt: skip

    def add(self, part: ControlPart) -> None:
        self.parts.append(part)

    def shown(self, struct: Struct, fields: tuple[Field, ...], **within: str) -> tuple[Shown, ...]:
        """Fields of a Struct, with this avatar's prefix in frames; within: their names in it, where they are others."""
        return tuple(
            Shown(each._replace(name=self.field_prefix + each.name), struct, within.get(each.name, each.name))
            for each in fields
        )


def inverse(R: Floats1, p: Floats1) -> np.ndarray:
    """(4, 4) of the frame (R, p), turned around."""
    X = np.eye(4)
    X[:3, :3] = R.reshape(3, 3).T
    X[:3, 3] = -X[:3, :3] @ p
    return X


SENSED = (
    Field("com", "f", (3,), "centre of mass of the avatar, world [m]"),
    Field("capture_point", "f", (3,), "its capture point on the floor, world [m]"),
    Field("touched", "i", (), "body of the avatar that hands push most, 0: none"),
    Field("foot_load", "f", (2,), "that the right and the left foot bear [N]"),
    Field("palm_load", "f", (2,), "against the right and the left palm [N]"),
    Field("push", "f", (3,), "known force of hands on the avatar [N]"),
)
