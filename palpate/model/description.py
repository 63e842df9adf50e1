"""Frozen descriptions: MultiBody = bodies + joints, in names and units, before any array exists.

They check themselves when made, so that a wrong number is reported where it was written, by name and in one line.
`palpate.model.compile` turns a description into the arrays the kernels read.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from palpate.model.shapes import Material, Shape
from palpate.printable import printable
from palpate.spatial.placement import IDENTITY, LARGEST, Transform, Vector3, point3, unit3

__all__ = ["DH", "Body", "Joint", "Material", "Mimic", "ModelError", "ModelWarning", "MultiBody", "Shape"]

WORLD_NAME = "world"

# kind -> (coordinates nq, velocities nv).  The one table of joint kinds; `compile` says how each one moves.
JOINT_KINDS: dict[str, tuple[int, int]] = {
    "fixed": (0, 0),
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "cylindrical": (2, 2),
    "universal": (2, 2),
    "planar": (3, 3),
    "composite": (0, 0),  # as many as its steps: see Joint.steps
    "spherical": (4, 3),
    "free": (7, 6),
}


class ModelError(ValueError):
    """A description that cannot be a mechanism; the message names the part and what is wrong with it."""


class ModelWarning(UserWarning):
    """A file was read, but something in it is doubtful or was left out; the message names it."""


def warn(message: str) -> None:
    """Give a ModelWarning that points at the first caller outside palpate."""
    frame, depth = inspect.currentframe(), 1
    while frame and str(frame.f_globals.get("__name__")).partition(".")[0] == "palpate":
        frame, depth = frame.f_back, depth + 1
    warnings.warn(printable(message), ModelWarning, stacklevel=depth)


Inertia = tuple[Vector3, Vector3, Vector3]
Postures = dict[str, dict[str, float | tuple[float, ...]]]  # posture -> joint -> its coordinates

INERTIA_ROUNDING = 0.01  # relative slack of the triangle inequality: CAD exports round thin plates beyond it
NEGLIGIBLE_GYRATION = 1e-12  # [m^2] moments below mass times this (gyration 1 um) are the noise of a point mass


def _checked_inertia(value: ArrayLike, name: str, mass: float, check: bool) -> Inertia:
    try:
        I = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"body {name!r}: inertia must be three or (3, 3) finite numbers, got {value!r}") from None
    I = np.diag(I) if I.shape == (3,) else I
    if I.shape != (3, 3) or not np.isfinite(I).all():
        raise ModelError(f"body {name!r}: inertia must be three or (3, 3) finite numbers, got {I.tolist()}")
    scale = max(float(np.abs(I).max()), 1e-300)
    if scale > LARGEST**3:
        raise ModelError(f"body {name!r}: inertia must not be beyond {LARGEST**3:g} kg m^2, got {scale:g}")
    if np.abs(I - I.T).max() > 1e-6 * scale:
        raise ModelError(f"body {name!r}: the inertia matrix is not symmetric")
    I = 0.5 * (I + I.T)
    problem = inertia_problem(I, mass)
    if check and problem:
        raise ModelError(f"body {name!r}: {problem}")
    rows = I.tolist()
    return (tuple(rows[0]), tuple(rows[1]), tuple(rows[2]))


def inertia_problem(I: ArrayLike, mass: float) -> str | None:
    """Why no distribution of `mass` [kg] has the inertia I (3, 3) [kg m^2] about its centre; None if one has."""
    principal = np.linalg.eigvalsh(np.asarray(I, dtype=float))
    noise = NEGLIGIBLE_GYRATION * mass
    if principal[0] < -1e-9 * np.abs(principal).max() - noise:
        return f"the inertia has the negative principal moment {principal[0]:.3g} kg m^2"
    # Ixx + Iyy >= Izz for any mass distribution; files round to a few digits, hence the percent
    if principal[0] + principal[1] < principal[2] * (1.0 - INERTIA_ROUNDING) - noise:
        return (
            f"principal moments {principal[0]:.4g}, {principal[1]:.4g}, {principal[2]:.4g} kg m^2 break "
            "the triangle inequality: the two smaller must sum to at least the largest"
        )
    return None


@dataclass(frozen=True)
class Body:
    """One rigid body: mass [kg], centre of mass [m] and inertia about it [kg m^2], all in the body's axes."""

    name: str
    mass: float = 0.0
    com: Vector3 = (0.0, 0.0, 0.0)
    inertia: ArrayLike = (0.0, 0.0, 0.0)  # (3,) diagonal or (3, 3), about the centre of mass
    shapes: tuple[Shape, ...] = ()
    check: bool = True  # False: a loader already warned that no mass distribution has this inertia

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise ModelError("a body needs a name")
        if not isinstance(self.mass, (int, float, np.number)) or not math.isfinite(self.mass) or self.mass < 0.0:
            raise ModelError(f"body {self.name!r}: mass must be finite and not negative, got {self.mass}")
        if self.mass and not 1.0 / LARGEST <= self.mass <= LARGEST:
            raise ModelError(
                f"body {self.name!r}: mass must be 0 or {1.0 / LARGEST:g} .. {LARGEST:g} kg, got {self.mass:g}"
            )
        try:
            object.__setattr__(self, "com", point3(self.com, "centre of mass"))
        except ValueError as error:
            raise ModelError(f"body {self.name!r}: {error}") from None
        object.__setattr__(self, "mass", float(self.mass))
        object.__setattr__(self, "inertia", _checked_inertia(self.inertia, self.name, self.mass, self.check))
        object.__setattr__(self, "shapes", tuple(self.shapes))


@dataclass(frozen=True)
class Mimic:
    """This joint follows another: q = ratio * q_other + offset.  It adds no coordinate of its own."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Step:
    """One single-axis motion of a composite joint, in child-body coordinates at q = 0."""

    kind: str  # "revolute" or "prismatic"
    axis: Vector3
    anchor: Vector3 = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.kind not in ("revolute", "prismatic"):
            raise ModelError(f"a composite joint is made of revolute and prismatic steps, not {self.kind!r}")
        object.__setattr__(self, "axis", unit3(self.axis, "a joint axis"))
        object.__setattr__(self, "anchor", point3(self.anchor, "a joint anchor"))


@dataclass(frozen=True)
class Joint:
    """How `child` moves on `parent`.

    placement        the joint frame seen from the parent body
    child_placement  the joint frame seen from the child body (identity: the child's frame sits on the joint)
    axis, axis2      in the joint frame; axis2 is the second axis of a universal joint
    lower, upper     one number per coordinate (revolute rad, prismatic m), or one for all; infinite: no limit
    armature         rotor inertia seen at the joint, added to the diagonal of H [kg m^2 or kg]
    damping          viscous, per velocity [N m s/rad or N s/m]; friction: dry [N m or N]
    placed           of a free joint to the world: its child stays where q puts it, whatever pushes it
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: Transform = IDENTITY
    child_placement: Transform = IDENTITY
    axis: Vector3 = (0.0, 0.0, 1.0)
    axis2: Vector3 = (0.0, 1.0, 0.0)
    steps: tuple[Step, ...] = ()  # of a composite joint only
    lower: float | tuple[float, ...] = -math.inf
    upper: float | tuple[float, ...] = math.inf
    velocity_limit: float = math.inf
    effort_limit: float = math.inf
    armature: float | tuple[float, ...] = 0.0
    damping: float | tuple[float, ...] = 0.0
    friction: float | tuple[float, ...] = 0.0
    mimic: Mimic | None = None
    placed: bool = False

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise ModelError("a joint needs a name")
        if self.kind not in JOINT_KINDS:
            raise ModelError(f"joint {self.name!r}: unknown kind {self.kind!r}; known: {', '.join(JOINT_KINDS)}")
        if (self.kind == "composite") != bool(self.steps):
            raise ModelError(f"joint {self.name!r}: steps belong to a composite joint, and it needs at least one")
        if len(self.steps) > 6:
            raise ModelError(f"joint {self.name!r}: a composite joint has at most 6 steps, got {len(self.steps)}")
        for what in ("placement", "child_placement"):
            if not isinstance(getattr(self, what), Transform):
                kind = type(getattr(self, what)).__name__
                raise ModelError(f"joint {self.name!r}: {what} must be a Transform, got {kind}")
        for axis in ("axis", "axis2"):
            try:
                object.__setattr__(self, axis, unit3(getattr(self, axis), axis))
            except ValueError as error:
                raise ModelError(f"joint {self.name!r}: {error}") from None
        if self.kind == "universal" and abs(float(np.dot(self.axis, self.axis2))) > 1.0 - 1e-6:
            raise ModelError(f"joint {self.name!r}: the two axes of a universal joint must not be parallel")
        if self.kind in ("free", "spherical") and np.abs(self.child_placement.R.log()).max() > 1e-9:
            raise ModelError(f"joint {self.name!r}: a {self.kind} joint cannot be turned in its child")
        if self.placed and (self.kind != "free" or self.parent != WORLD_NAME):
            raise ModelError(f"joint {self.name!r}: only a free joint to the world can be placed")
        if self.mimic is not None and self.kind not in ("revolute", "prismatic"):
            raise ModelError(f"joint {self.name!r}: only revolute and prismatic joints can mimic another")
        if self.mimic is not None and not (math.isfinite(self.mimic.ratio) and math.isfinite(self.mimic.offset)):
            raise ModelError(f"joint {self.name!r}: the ratio and offset of a mimic must be finite")
        if self.mimic is not None and max(abs(self.mimic.ratio), abs(self.mimic.offset)) > LARGEST:
            raise ModelError(f"joint {self.name!r}: the ratio and offset of a mimic must not be beyond {LARGEST:g}")
        for what in ("velocity_limit", "effort_limit"):
            if not getattr(self, what) >= 0.0:  # also a NaN
                raise ModelError(f"joint {self.name!r}: {what} must not be negative, got {getattr(self, what)}")
        for what in ("armature", "damping", "friction"):
            values = self.per_velocity(what)
            if not all(math.isfinite(x) and x >= 0.0 for x in values):
                raise ModelError(f"joint {self.name!r}: {what} must be finite and not negative")
            if max(values, default=0.0) > LARGEST**3:
                raise ModelError(f"joint {self.name!r}: {what} must not be beyond {LARGEST**3:g}, got {max(values):g}")
        for lower, upper in zip(self.per_coordinate("lower"), self.per_coordinate("upper"), strict=True):
            if math.isnan(lower) or math.isnan(upper) or lower > upper or lower > LARGEST or upper < -LARGEST:
                raise ModelError(f"joint {self.name!r}: the limits {lower} .. {upper} hold no value")

    @property
    def nq(self) -> int:
        """Coordinates; a joint that mimics another has none."""
        return 0 if self.mimic else len(self.steps) or JOINT_KINDS[self.kind][0]

    @property
    def nv(self) -> int:
        """Velocities (degrees of freedom); a joint that mimics another has none."""
        return 0 if self.mimic else len(self.steps) or JOINT_KINDS[self.kind][1]

    def _spread(self, what: str, count: int) -> tuple[float, ...]:
        value = getattr(self, what)
        values = tuple(float(x) for x in np.atleast_1d(np.asarray(value, dtype=float)))
        if len(values) not in (1, count):
            expected = "1 number" if count == 1 else f"1 or {count} numbers"
            raise ModelError(f"joint {self.name!r}: {what} needs {expected}, got {len(values)}")
        return values * count if len(values) == 1 else values

    def per_velocity(self, what: str) -> tuple[float, ...]:
        """`armature`, `damping` or `friction` as one number per axis of motion (also for a mimic joint)."""
        return self._spread(what, len(self.steps) or JOINT_KINDS[self.kind][1])

    def per_coordinate(self, what: str) -> tuple[float, ...]:
        """`lower` or `upper` as one number per coordinate; quaternions have no limits."""
        count = len(self.steps) or JOINT_KINDS[self.kind][0]
        if self.kind in ("spherical", "free"):
            if np.isfinite(np.asarray(getattr(self, what), dtype=float)).any():
                raise ModelError(f"joint {self.name!r}: a {self.kind} joint cannot have limits")
            return (-math.inf if what == "lower" else math.inf,) * count
        return self._spread(what, count)


@dataclass(frozen=True)
class MultiBody:
    """An articulated structure: any number of trees of bodies hung on each other, or on "world", by joints."""

    name: str
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    # name -> joint -> its coordinates
    postures: Mapping[str, Mapping[str, float | tuple[float, ...]]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bodies", tuple(self.bodies))
        object.__setattr__(self, "joints", tuple(self.joints))
        for part, kind in (*((b, Body) for b in self.bodies), *((j, Joint) for j in self.joints)):
            if not isinstance(part, kind):
                raise ModelError(f"{self.name!r} is made of Body and Joint, got {type(part).__name__}")
        bodies = self._unique("body", (b.name for b in self.bodies))
        joints = self._unique("joint", (j.name for j in self.joints))
        if WORLD_NAME in bodies:
            raise ModelError(f"{self.name!r}: 'world' is the name of the world and cannot be a body's")
        parent_of: dict[str, str] = {}
        for joint in self.joints:
            for role, body in (("parent", joint.parent), ("child", joint.child)):
                if body not in bodies and not (role == "parent" and body == WORLD_NAME):
                    raise ModelError(f"joint {joint.name!r}: its {role} {body!r} is not a body of {self.name!r}")
            if joint.child in parent_of:
                raise ModelError(f"body {joint.child!r} has two parents: joint {joint.name!r} is the second")
            parent_of[joint.child] = joint.parent
            if joint.mimic and joint.mimic.joint not in joints:
                raise ModelError(f"joint {joint.name!r} mimics {joint.mimic.joint!r}, which does not exist")
        for name in (b.name for b in self.bodies):
            if name not in parent_of:
                raise ModelError(f"body {name!r} hangs on nothing; give it a joint, to 'world' if it is a root")
            seen = {name}
            while (name := parent_of[name]) != WORLD_NAME:
                if name in seen:
                    raise ModelError(f"the joints form a cycle through body {name!r}; a tree is needed")
                seen.add(name)
        for posture, places in self.postures.items():
            for name, q in places.items():
                if not (np.abs(np.asarray(q, dtype=float)) <= LARGEST).all():  # no NaN is
                    raise ModelError(f"posture {posture!r}: {name!r} must be finite, and not beyond {LARGEST:g}")
        self._check_placed()

    def _check_placed(self) -> None:
        """What a placed body carries must be welded to it: what moves on it would push it."""
        placed = {j.child for j in self.joints if j.placed}
        more = placed
        while more:
            carried = [j for j in self.joints if j.parent in more]
            for joint in carried:
                if joint.kind != "fixed":
                    raise ModelError(f"joint {joint.name!r} moves on {joint.parent!r}, which is placed; fix it there")
            more = {j.child for j in carried}

    def _unique(self, what: str, names: Iterable[str]) -> set[str]:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise ModelError(f"{self.name!r} has two of the {what} name {name!r}; prefixed() renames a part")
            seen.add(name)
        return seen

    def __getattr__(self, name: str) -> Any:
        if name in ("arrays", "nq", "nv", "n_bodies"):  # what functions of a Model ask for first
            raise TypeError(f"{self.name!r} is a description: compile it first, model = palpate.compile(...)")
        raise AttributeError(f"'MultiBody' object has no attribute {name!r}")

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return math.fsum(b.mass for b in self.bodies)

    def placed(self, X: Transform) -> MultiBody:
        """The same structure with its joints to the world moved by X (a free root starts there through q)."""
        return replace(self, joints=tuple(
            replace(j, placement=X @ j.placement) if j.parent == WORLD_NAME else j for j in self.joints))  # fmt: skip

    def prefixed(self, prefix: str) -> MultiBody:
        """The same structure with `prefix` before every name, so that two copies can share a world."""

        def renamed(name: str) -> str:
            return name if name == WORLD_NAME else prefix + name

        return replace(
            self,
            bodies=tuple(replace(b, name=renamed(b.name)) for b in self.bodies),
            joints=tuple(replace(
                j, name=prefix + j.name, parent=renamed(j.parent), child=renamed(j.child),
                mimic=replace(j.mimic, joint=prefix + j.mimic.joint) if j.mimic else None) for j in self.joints),
            postures={name: {prefix + j: q for j, q in values.items()} for name, values in self.postures.items()},
        )  # fmt: skip


@dataclass(frozen=True)
class DH:
    """One row of a Denavit-Hartenberg table: lengths in m, angles in rad; theta is the angle at q = 0.

    modified (Craig)   T = Rx(alpha) Tx(a) Rz(theta) Tz(d): alpha and a belong to the link before the joint
    standard (Paul)    T = Rz(theta) Tz(d) Tx(a) Rx(alpha): alpha and a belong to the link after the joint
    """

    alpha: float = 0.0
    a: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    convention: str = "modified"

    def __post_init__(self) -> None:
        if self.convention not in ("modified", "standard"):
            raise ModelError(f"a DH convention is 'modified' or 'standard', got {self.convention!r}")
        if not all(abs(x) <= LARGEST for x in (self.alpha, self.a, self.d, self.theta)):  # no NaN is
            raise ModelError(f"DH parameters must be finite, and not beyond {LARGEST:g}")
