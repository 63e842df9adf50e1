"""Denavit-Hartenberg tables -> MultiBody.  Angles in rad, lengths in m; body i's frame is DH frame i.

    modified (Craig)   T_i(q) = Rx(alpha) Tx(a) Rz(theta + q) Tz(d)
    standard (Paul)    T_i(q) = Rz(theta + q) Tz(d) Tx(a) Rx(alpha)

and d + q in place of theta + q for a prismatic joint.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from palpate.model.description import DH, WORLD_NAME, Body, Joint, ModelError, MultiBody
from palpate.spatial.placement import IDENTITY, Rotation, Transform

# A table says nothing of mass.  These stand in so that a kinematic chain compiles; dynamics from them mean nothing.
PLACEHOLDER_MASS = 1.0  # [kg]
PLACEHOLDER_INERTIA = (0.01, 0.01, 0.01)  # [kg m^2]

Row = DH | Sequence[float]


def dh_transform(row: Row, q: float = 0.0, kind: str = "revolute") -> Transform:
    """Frame i seen from frame i - 1 when the joint stands at q [rad, or m for kind="prismatic"]."""
    before, after = _halves(_row(row, 1, None))
    motion = Transform(Rotation.about((0, 0, 1), q)) if _kind(kind, 1) == "revolute" else Transform(p=(0.0, 0.0, q))
    return before @ motion @ after


def from_dh(
    rows: Sequence[Row],
    convention: str | None = None,
    *,
    name: str = "dh",
    bodies: Sequence[Body] | None = None,
    kinds: str | Sequence[str] = "revolute",
    lower: float | Sequence[float] = -math.inf,
    upper: float | Sequence[float] = math.inf,
    base: Transform = IDENTITY,
) -> MultiBody:
    """A serial chain from a DH table.

    rows          one per joint: DH(...), or (alpha, a, d, theta) [rad, m, m, rad]
    convention    "modified" or "standard"; None: what each DH says, and modified for plain tuples
    bodies        one per row, mass properties in that row's DH frame; None: link1, link2, ... of 1 kg and 0.01 kg m^2
                  at the frame's origin, which serve kinematics only
    kinds         "revolute" or "prismatic", one for all or one per row
    lower, upper  limits of q [rad or m], one for all or one per row
    base          frame 0 seen from the world
    """
    if isinstance(rows, DH) or len(rows) == 0:
        raise ModelError("a DH table is a sequence of at least one row")
    table = [_row(row, i, convention) for i, row in enumerate(rows, start=1)]
    n = len(table)
    if bodies is None:
        bodies = [Body(f"link{i + 1}", PLACEHOLDER_MASS, inertia=PLACEHOLDER_INERTIA) for i in range(n)]
    if len(bodies) != n:
        raise ModelError(f"the DH table has {n} rows but {len(bodies)} bodies were given")
    kinds = [kinds] * n if isinstance(kinds, str) else list(kinds)
    lowers, uppers = _per_row(lower, n), _per_row(upper, n)
    for what, count in (("kinds", len(kinds)), ("lower", len(lowers)), ("upper", len(uppers))):
        if count != n:
            raise ModelError(f"the DH table has {n} rows but {what} has {count} values")

    joints, parent = [], WORLD_NAME
    for i, (row, body) in enumerate(zip(table, bodies)):
        before, after = _halves(row)
        joints.append(Joint(
            f"joint{i + 1}", _kind(kinds[i], i + 1), parent, body.name,
            placement=base @ before if i == 0 else before,
            child_placement=after.inv(),  # the joint frame, seen from DH frame i
            lower=lowers[i], upper=uppers[i],
        ))  # fmt: skip
        parent = body.name
    return MultiBody(name, tuple(bodies), tuple(joints))


def _halves(row: DH) -> tuple[Transform, Transform]:
    """What comes before and after the joint's motion about or along z; Rz(theta) and Tz(d) commute with it."""
    link = Transform(Rotation.about((1, 0, 0), row.alpha), (row.a, 0.0, 0.0))
    joint = Transform(Rotation.about((0, 0, 1), row.theta), (0.0, 0.0, row.d))
    return (link @ joint, IDENTITY) if row.convention == "modified" else (joint, link)


def _row(row: Row, i: int, convention: str | None) -> DH:
    if isinstance(row, DH):
        if convention not in (None, row.convention):
            raise ModelError(f"DH row {i} is {row.convention}, but the convention asked for is {convention!r}")
        return row
    try:
        alpha, a, d, theta = (float(x) for x in row)
    except (TypeError, ValueError):
        raise ModelError(f"DH row {i} must be a DH or the four numbers (alpha, a, d, theta), got {row!r}") from None
    try:
        return DH(alpha, a, d, theta, convention or "modified")
    except ModelError as error:
        raise ModelError(f"DH row {i}: {error}") from None


def _kind(kind: str, i: int) -> str:
    if kind not in ("revolute", "prismatic"):
        raise ModelError(f"DH row {i}: a joint is 'revolute' or 'prismatic', got {kind!r}")
    return kind


def _per_row(value: float | Sequence[float], n: int) -> list[float]:
    return [float(value)] * n if isinstance(value, (int, float)) else [float(x) for x in value]
