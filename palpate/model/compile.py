"""compile: MultiBody -> Model.  Orders bodies depth-first, welds fixed joints, turns every joint into axes.

A revolute or prismatic joint about any axis becomes one axis that is the z of its own frame: the fixed part of the
turn goes into axis_R before the motion and, inverted, into the bodies' places after it.  Cylindrical, universal,
planar and composite joints are several such axes on one link: a true joint of that many freedoms, no massless bodies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from palpate.conventions import GRAVITY
from palpate.model.description import NEGLIGIBLE_GYRATION, WORLD_NAME, Joint, ModelError, MultiBody
from palpate.model.model import CHAIN, FREE, PRISMATIC, REVOLUTE, SPHERICAL, Model, ModelArrays
from palpate.spatial.placement import IDENTITY, LARGEST, Rotation, Transform, Vector3, point3, skew

# An inertia about a joint's axis below this part of the moved body's whole inertia and mass is rounding, not physics.
NEGLIGIBLE_INERTIA = 1e-15

# What a placed body has on its six axes instead of mass [kg, kg m^2]: gravity does not act on it, and 100 N give it
# 1e-10 m/s^2.  The mass matrix stays finite and positive; a World does not move it at all.
PLACED_INERTIA = 1e12

X_AXIS, Y_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass
class _Axis:
    """One axis while compiling: X places its frame in the frame after the previous axis."""

    kind: int
    X: Transform
    q: int
    v: int
    ratio: float
    offset: float
    armature: float


@dataclass
class _Link:
    parent: int
    kind: int
    axes: list[_Axis]
    q_begin: int
    placed: bool = False
    mass: float = 0.0
    first_moment: np.ndarray = field(default_factory=lambda: np.zeros(3))  # sum of m c, link axes
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))  # about the link origin

    def weld(self, mass: float, com: np.ndarray, inertia_com: np.ndarray) -> None:
        """Add a rigid part whose centre of mass and inertia about it are given in link axes."""
        self.mass += mass
        self.first_moment += mass * com
        self.inertia += inertia_com + mass * ((com @ com) * np.eye(3) - np.outer(com, com))

    def com(self) -> np.ndarray:
        return self.first_moment / self.mass if self.mass > 0.0 else np.zeros(3)

    def inertia_com(self) -> np.ndarray:
        c = self.com()
        return self.inertia - self.mass * ((c @ c) * np.eye(3) - np.outer(c, c))


def _steps(joint: Joint) -> list[tuple[int, Vector3, Vector3]]:
    """(what, axis, anchor) of each single motion of a chain joint, in the joint frame at q = 0."""
    at = (0.0, 0.0, 0.0)
    match joint.kind:
        case "revolute":
            return [(REVOLUTE, joint.axis, at)]
        case "prismatic":
            return [(PRISMATIC, joint.axis, at)]
        case "cylindrical":
            return [(REVOLUTE, joint.axis, at), (PRISMATIC, joint.axis, at)]
        case "universal":
            return [(REVOLUTE, joint.axis, at), (REVOLUTE, joint.axis2, at)]
        case "planar":
            turn = Rotation.between(Z_AXIS, joint.axis)
            x, y = tuple(turn.apply(X_AXIS)), tuple(turn.apply(Y_AXIS))
            return [(PRISMATIC, x, at), (PRISMATIC, y, at), (REVOLUTE, joint.axis, at)]
        case "composite":
            return [(REVOLUTE if s.kind == "revolute" else PRISMATIC, s.axis, s.anchor) for s in joint.steps]
    raise ModelError(f"joint {joint.name!r}: kind {joint.kind!r} is not a chain of axes")


def _chain(joint: Joint, X_parent: Transform) -> tuple[list[tuple[int, Transform]], Transform]:
    """Axes of a chain joint, each with its place after the previous one, and the joint frame seen from the last."""
    axes, X = [], X_parent  # X: the joint frame at q = 0, seen from the frame after the previous axis
    for what, axis, anchor in _steps(joint):
        X_joint_axis = Transform(Rotation.between(Z_AXIS, axis), anchor)
        axes.append((what, X @ X_joint_axis))
        X = X_joint_axis.inv()
    return axes, X


def _depth_first(multibody: MultiBody) -> list[Joint]:
    """Joints in the order of their children's rows: parents first, subtrees contiguous, siblings as written."""
    children: dict[str, list[Joint]] = {}
    for joint in multibody.joints:
        children.setdefault(joint.parent, []).append(joint)
    order, stack = [], list(reversed(children.get(WORLD_NAME, [])))
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += reversed(children.get(joint.child, []))
    return order


def _coordinates(order: list[Joint]) -> tuple[dict[str, slice], dict[str, slice]]:
    q_index, v_index, nq, nv = {}, {}, 0, 0
    for joint in order:
        if joint.nv:
            q_index[joint.name] = slice(nq, nq + joint.nq)
            v_index[joint.name] = slice(nv, nv + joint.nv)
            nq, nv = nq + joint.nq, nv + joint.nv
    return q_index, v_index


def _leader(joint: Joint, by_name: dict[str, Joint]) -> tuple[Joint, float, float]:
    """The joint whose coordinate this one follows, with the ratio and offset through chains of mimics."""
    ratio, offset, seen = 1.0, 0.0, {joint.name}
    while joint.mimic is not None:
        offset += ratio * joint.mimic.offset
        ratio *= joint.mimic.ratio
        joint = by_name[joint.mimic.joint]
        if joint.name in seen:
            raise ModelError(f"joint {joint.name!r} mimics itself")
        seen.add(joint.name)
    if joint.nv != 1:
        raise ModelError(f"joint {joint.name!r} is mimicked but has {joint.nv} freedoms; only one can be followed")
    return joint, ratio, offset


def compile(multibody: MultiBody | Sequence[MultiBody], gravity: Vector3 = GRAVITY, name: str | None = None) -> Model:
    """Compile a description, or several as one forest, to the read-only arrays that the dynamics read.

    multibody  a MultiBody or a sequence; the second and further copies of one name are prefixed ("puma560.2/link2")
    gravity    [m/s^2], world axes
    """
    multibody, gravity = _merge(multibody), point3(gravity, "gravity")
    try:
        return _compiled(multibody, gravity, name)
    except ModelError:
        raise
    except ValueError as error:  # of lengths that are beyond what can be calculated with only when they add up
        raise ModelError(f"{multibody.name!r}: {error}") from None


def _compiled(multibody: MultiBody, gravity: Vector3, name: str | None) -> Model:
    order = _depth_first(multibody)
    q_index, v_index = _coordinates(order)
    by_name = {j.name: j for j in order}
    bodies = {b.name: b for b in multibody.bodies}

    links = [_Link(0, CHAIN, [], 0)]
    place: dict[str, tuple[int, Transform]] = {WORLD_NAME: (0, IDENTITY)}  # body -> (link, X_link_body)
    for joint in order:
        link, X_body = place[joint.parent]
        X_joint = X_body @ joint.placement
        if joint.kind != "fixed":
            leader, ratio, offset = _leader(joint, by_name) if joint.mimic else (joint, 1.0, 0.0)
            q, v = q_index[leader.name].start, v_index[leader.name].start
            armature = (PLACED_INERTIA,) * 6 if joint.placed else joint.per_velocity("armature")
            if joint.kind in ("spherical", "free"):
                kind = SPHERICAL if joint.kind == "spherical" else FREE
                axes = [_Axis(REVOLUTE, X_joint if k == 0 else IDENTITY, 0, v + k, 1.0, 0.0, armature[k])
                        for k in range(joint.nv)]  # fmt: skip
                X_joint = IDENTITY
            else:
                kind = CHAIN
                steps, X_joint = _chain(joint, X_joint)
                axes = [_Axis(what, X, q + k, v + k, ratio, offset, armature[k]) for k, (what, X) in enumerate(steps)]
            links.append(_Link(link, kind, axes, q, joint.placed))
            link = len(links) - 1
        X_body = X_joint @ joint.child_placement.inv()
        place[joint.child] = (link, X_body)
        body = bodies[joint.child]
        R = X_body.R.matrix()
        if not links[link].placed:
            links[link].weld(body.mass, X_body.apply(body.com), R @ np.asarray(body.inertia) @ R.T)

    body_names = (WORLD_NAME, *(j.child for j in order))
    nq, nv = sum(j.nq for j in order), sum(j.nv for j in order)
    arrays = _arrays(links, [place[name] for name in body_names], gravity, nq, nv)
    moving = [by_name[name] for name in v_index]
    _check_inertias(arrays, links, [j.name for j in order if j.kind != "fixed"])

    def per(what: str) -> np.ndarray:
        return _frozen([x for j in moving for x in j.per_velocity(what)])

    return Model(
        name=name or multibody.name,
        description=multibody,
        arrays=arrays,
        nq=nq,
        nv=nv,
        n_bodies=len(body_names),
        n_links=len(links),
        body_names=body_names,
        joint_names=tuple(v_index),
        q_index=q_index,
        v_index=v_index,
        lower=_frozen([x if x > -LARGEST else -np.inf for j in moving for x in j.per_coordinate("lower")]),
        upper=_frozen([x if x < LARGEST else np.inf for j in moving for x in j.per_coordinate("upper")]),
        velocity_limit=_frozen([j.velocity_limit for j in moving for _ in range(j.nv)]),
        effort_limit=_frozen([j.effort_limit for j in moving for _ in range(j.nv)]),
        damping=per("damping"),
        friction=per("friction"),
        _neutral=_frozen([x for j in moving for x in _zero(j)]),
        _joint_of_body={j.child: j for j in order},
    )


def welded(model: Model, link: int, masses: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass (3,) and inertia (6,) of a link, as in ModelArrays, if bodies had these masses (B,) [kg].

    The inertia of each is in proportion to its mass.
    """
    m, bodies = model.arrays, {body.name: body for body in model.description.bodies}
    whole = _Link(0, CHAIN, [], 0)
    for row in np.flatnonzero(m.body_link == link):
        body, R = bodies[model.body_names[row]], m.body_R[row].reshape(3, 3)
        ratio = masses[row] / body.mass if body.mass > 0.0 else 1.0
        whole.weld(
            masses[row], np.asarray(body.com) @ R.T + m.body_p[row], R @ (ratio * np.asarray(body.inertia)) @ R.T
        )
    return whole.mass, whole.com(), _six(whole.inertia_com())


def _six(I: np.ndarray) -> np.ndarray:
    return np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def _zero(joint: Joint) -> tuple[float, ...]:
    identity = (1.0, 0.0, 0.0, 0.0)
    return {"spherical": identity, "free": (0.0, 0.0, 0.0, *identity)}.get(joint.kind, (0.0,) * joint.nq)


def _frozen(values: object, dtype: type = np.float64) -> np.ndarray:
    array: np.ndarray = np.ascontiguousarray(np.array(values, dtype=dtype))
    array.setflags(write=False)
    return array


def _arrays(links: list[_Link], places: list[tuple[int, Transform]], gravity: Vector3, nq: int, nv: int) -> ModelArrays:
    axes = [axis for link in links for axis in link.axes]
    counts = [len(link.axes) for link in links]
    root = [0]
    for i, link in enumerate(links[1:], start=1):
        root.append(root[link.parent] if link.parent else i)
    ints, floats = (lambda v: _frozen(v, np.int64)), _frozen
    return ModelArrays(
        parent=ints([link.parent for link in links]),
        root=ints(root),
        kind=ints([link.kind for link in links]),
        axis_begin=ints(np.cumsum([0, *counts[:-1]])),
        axis_count=ints(counts),
        q_begin=ints([link.q_begin for link in links]),
        mass=floats([link.mass for link in links]),
        com=floats([link.com() for link in links]),
        inertia=floats([_six(link.inertia_com()) for link in links]),
        axis_kind=ints([axis.kind for axis in axes]),
        axis_R=floats(np.reshape([axis.X.R.matrix() for axis in axes], (-1, 9))),
        axis_p=floats(np.reshape([axis.X.p for axis in axes], (-1, 3))),
        axis_q=ints([axis.q for axis in axes]),
        axis_v=ints([axis.v for axis in axes]),
        axis_ratio=floats([axis.ratio for axis in axes]),
        axis_offset=floats([axis.offset for axis in axes]),
        armature=floats([axis.armature for axis in axes]),
        body_link=ints([link for link, _ in places]),
        body_R=floats([X.R.matrix().ravel() for _, X in places]),
        body_p=floats([X.p for _, X in places]),
        gravity=floats(gravity),
        nq=nq,
        nv=nv,
    )


def _merge(multibody: MultiBody | Sequence[MultiBody]) -> MultiBody:
    if isinstance(multibody, MultiBody):
        return multibody
    parts: list[MultiBody] = []
    count: dict[str, int] = {}
    for part in multibody if isinstance(multibody, Iterable) else [multibody]:
        if not isinstance(part, MultiBody):
            raise ModelError(f"compile takes MultiBody descriptions, got {type(part).__name__}")
        count[part.name] = count.get(part.name, 0) + 1
        n = count[part.name]
        parts.append(part if n == 1 else part.prefixed(f"{part.name}.{n}/"))
    if not parts:
        raise ModelError("there is nothing to compile: the list of bodies is empty")
    if len(parts) == 1:
        return parts[0]
    return MultiBody(
        name="+".join(p.name for p in parts),
        bodies=tuple(b for p in parts for b in p.bodies),
        joints=tuple(j for p in parts for j in p.joints),
        postures={  # a posture of the whole is that posture of every part that knows it
            name: {joint: q for p in parts for joint, q in p.postures.get(name, {}).items()}
            for name in dict.fromkeys(name for p in parts for name in p.postures)
        },
    )


def _check_inertias(arrays: ModelArrays, links: list[_Link], names: list[str]) -> None:
    """Every joint must move something with inertia about its axes, or it has an acceleration without end.

    Looks at each joint as if all beyond it were locked, at q = 0: its block S^T Ic S of the mass matrix must be
    positive definite.  A necessary condition; it catches massless ends of chains and point masses on their own axis.
    """
    frames, composite = [IDENTITY], [np.zeros((6, 6)) for _ in links]
    for i, link in enumerate(links[1:], start=1):
        lowest = float(np.linalg.eigvalsh(link.inertia_com())[0])
        # a loader lets single bodies pass with a warning; what moves as one must be physical
        if lowest < -1e-9 * float(np.abs(link.inertia).max()) - NEGLIGIBLE_GYRATION * link.mass:
            raise ModelError(f"joint {names[i - 1]!r} moves the negative principal moment {lowest:.3g} kg m^2")
        X = frames[link.parent]
        for axis in link.axes:
            X = X @ axis.X
        frames.append(X)
        c, R = X.apply(link.com()), X.R.matrix()
        I = R @ link.inertia_com() @ R.T + link.mass * ((c @ c) * np.eye(3) - np.outer(c, c))
        composite[i] = np.block([[I, link.mass * skew(c)], [link.mass * skew(c).T, link.mass * np.eye(3)]])
    for i in range(len(links) - 1, 0, -1):
        composite[links[i].parent] += composite[i]
    together: dict[int, float] = {}  # velocity -> inertia of all joints that share it: a joint and those that mimic it
    for i in range(1, len(links)):
        S = _motion_at_zero(links, frames, i)
        block = S.T @ composite[i] @ S + np.diag([axis.armature for axis in links[i].axes])
        p = np.array(frames[i].p)
        about = composite[i][:3, :3] - composite[i][3, 3] * ((p @ p) * np.eye(3) - np.outer(p, p))
        size = abs(float(np.trace(about))) + float(composite[i][3, 3])
        least = float(np.linalg.eigvalsh(block)[0])
        v = links[i].axes[0].v
        together[v] = together.get(v, 0.0) + (least if least > max(NEGLIGIBLE_INERTIA * size, LARGEST**-3) else 0.0)
    for i in range(1, len(links)):
        if together[links[i].axes[0].v] <= 0.0:
            raise ModelError(
                f"joint {names[i - 1]!r} moves nothing that has inertia about its axis; give its body a mass and an "
                "inertia, the joint an armature, or fix it"
            )


def _motion_at_zero(links: list[_Link], frames: list[Transform], i: int) -> np.ndarray:
    """S (6, n) of link i at q = 0, about the world's origin."""
    link, columns = links[i], []
    if link.kind != CHAIN:
        R, p = frames[i].R.matrix(), np.array(frames[i].p)
        turning = np.vstack([R, skew(p) @ R])
        return turning if link.kind == SPHERICAL else np.hstack([turning, np.vstack([np.zeros((3, 3)), R])])
    X = frames[link.parent]
    for axis in link.axes:
        X = X @ axis.X
        z = X.R.apply(Z_AXIS)
        columns.append(np.r_[z, np.cross(X.p, z)] if axis.kind == REVOLUTE else np.r_[0.0, 0.0, 0.0, z])
    return np.array(columns).T
