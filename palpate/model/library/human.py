"""A human avatar of any stature with spherical joints, from the anthropometry of de Leva 1996 (men).

Mass fractions, centres of mass and radii of gyration are de Leva's (J. Biomechanics 29(9), adjusted from
Zatsiorsky-Seluyanov); lengths are the mean man's.  Neck gap, ankle height, ranges and shapes are chosen.
Everything below is a body of 1.75 m; `human` scales it.  In the zero pose all frames are parallel to the world and the
arms hang straight down.
"""

from __future__ import annotations

import math
from math import radians
from typing import Any, NamedTuple

from palpate.model.description import Body, Joint, ModelError, MultiBody
from palpate.model.library.soles import foot_shapes
from palpate.model.shapes import Material, Shape, capsule_between
from palpate.spatial.placement import IDENTITY, Rotation, Transform, Vector3


class Segment(NamedTuple):
    mass: float  # fraction of the body's
    length: float  # [m]
    com: float  # fraction of the length, from the first-named end
    sagittal: float  # radii of gyration as fractions of the length: about the antero-posterior axis (x),
    transverse: float  # the medio-lateral axis (y)
    longitudinal: float  # and the segment's own axis (z; for a foot it is x, and sagittal is z)


class Row(NamedTuple):
    """One joint and the segment it carries."""

    joint: str
    kind: str
    parent: str
    child: str
    offset: Vector3  # in the parent's frame [m]


STATURE = 1.75  # of this table [m]; its parts sum to 1.749

# fmt: off
TABLE = {  #               mass   length  com    r_sag  r_trans r_long
    "head":      Segment(0.0694, 0.2044, 0.5976, 0.362, 0.376, 0.312),  # vertex to mid-gonion
    "thorax":    Segment(0.1596, 0.1716, 0.2999, 0.716, 0.454, 0.659),  # suprasternale to xiphion
    "lumbar":    Segment(0.1633, 0.2166, 0.4502, 0.482, 0.383, 0.468),  # xiphion to navel
    "pelvis":    Segment(0.1117, 0.1465, 0.6115, 0.615, 0.551, 0.587),  # navel to mid-hip
    "upper_arm": Segment(0.0271, 0.2832, 0.5772, 0.285, 0.269, 0.158),  # shoulder to elbow
    "forearm":   Segment(0.0162, 0.2703, 0.4574, 0.276, 0.265, 0.121),  # elbow to wrist
    "hand":      Segment(0.0061, 0.0866, 0.7900, 0.628, 0.513, 0.401),  # wrist to third metacarpal
    "thigh":     Segment(0.1416, 0.4244, 0.4095, 0.329, 0.329, 0.149),  # hip to knee
    "shank":     Segment(0.0433, 0.4362, 0.4395, 0.251, 0.246, 0.102),  # knee to ankle
    "foot":      Segment(0.0137, 0.2594, 0.4415, 0.257, 0.245, 0.124),  # heel to toe tip
}
# The trunk stands on its frames, the limbs hang from theirs; y of the left side, the right is its mirror.
ROOT = (
    Row("root",     "free",      "world",     "pelvis",    (0.0, 0.0   ,  0.0)),
)
LEG = (
    Row("hip",      "spherical", "pelvis",    "thigh",     (0.0, 0.0834,  0.0)),
    Row("knee",     "revolute",  "thigh",     "shank",     (0.0, 0.0   , -0.4244)),
    Row("ankle",    "spherical", "shank",     "foot",      (0.0, 0.0   , -0.4362)),
)
TRUNK = (
    Row("lumbar",   "spherical", "pelvis",    "lumbar",    (0.0, 0.0   ,  0.1465)),
    Row("thorax",   "spherical", "lumbar",    "thorax",    (0.0, 0.0   ,  0.2166)),
    Row("neck",     "spherical", "thorax",    "head",      (0.0, 0.0   ,  0.1716 + 0.0689)),
)
ARM = (
    Row("shoulder", "spherical", "thorax",    "upper_arm", (0.0, 0.1709,  0.1716 - 0.0165)),
    Row("elbow",    "spherical", "upper_arm", "forearm",   (0.0, 0.0   , -0.2832)),
    Row("wrist",    "spherical", "forearm",   "hand",      (0.0, 0.0   , -0.2703)),
)
# fmt: on

SOLE_DEPTH = 0.0804  # below the ankle [m]
HEEL = 0.25  # fraction of the foot behind the ankle
SOLE_GRID = (13, 4)
PELVIS_HEIGHT = 0.4244 + 0.4362 + SOLE_DEPTH  # of the mid-hip, standing [m]
ARMS_OUT = 15.0  # standing: the arms clear the trunk [deg]
READY = {"hip": -12.0, "knee": 24.0, "ankle": -12.0}  # knees bent: a straight leg is singular [deg]
HAND_BOX, PALM_SHIFT = (0.085, 0.050, 0.180), 0.015  # edges, and towards the body: the palm is 0.040 from the wrist [m]
KNEE_RANGE = (-5.0, 150.0)  # bending is positive; a stretched knee gives a little further [deg]

HEIGHTS, MASSES = (0.5, 2.5), (5.0, 400.0)  # [m], [kg]: beyond them a unit was mistaken

HAND = Material("hand", friction=0.8)
SKIN = (0.87, 0.68, 0.55, 1.0)
CLOTH = (0.30, 0.45, 0.62, 1.0)
SHOE = (0.20, 0.20, 0.24, 1.0)


def human(
    height: float = 1.75,
    mass: float = 75.0,
    at: Vector3 = (0.0, 0.0, 0.0),
    R: Rotation = IDENTITY.R,
    sole: str = "box",
) -> MultiBody:
    """A person of `height` [m] and `mass` [kg], standing with the soles on the ground at `at`, facing x of `R`.

    sole  "box": each foot touches with a box; "spheres": with 13 x 4 points, 104 in all
    Lengths scale with the height, masses with the mass, inertias with both (m L^2).
    Postures "standing" = "start", and "ready", with bent knees.
    47 freedoms: root, legs (right, left), trunk, head, arms (right, left).
    """
    s = _check("height", height, HEIGHTS, "m", "cm") / STATURE
    mass = _check("mass", mass, MASSES, "kg", "g")
    shapes = _shapes(sole)
    rows = (*ROOT, *_side(LEG, "r"), *_side(LEG, "l"), *TRUNK, *_side(ARM, "r"), *_side(ARM, "l"))
    X = Transform(R, at) @ Transform(p=(0.0, 0.0, s * PELVIS_HEIGHT))
    standing: dict[str, Any] = {
        "root": (*X.p, *X.R.wxyz),
        "shoulder_r": Rotation.about((1, 0, 0), radians(-ARMS_OUT)).wxyz,
        "shoulder_l": Rotation.about((1, 0, 0), radians(ARMS_OUT)).wxyz,
    }
    legs = {f"{joint}_{side}": angle for joint, angle in READY.items() for side in "rl"}
    thigh, shank = TABLE["thigh"].length, TABLE["shank"].length
    bend = radians(-READY["hip"]), radians(-READY["ankle"])
    lower = s * (thigh * (1.0 - math.cos(bend[0])) + shank * (1.0 - math.cos(bend[1])))
    X_ready = X @ Transform(p=(s * (shank * math.sin(bend[1]) - thigh * math.sin(bend[0])), 0.0, -lower))
    ready = standing | {
        joint: radians(angle) if joint.startswith("knee") else Rotation.about((0, 1, 0), radians(angle)).wxyz
        for joint, angle in legs.items()
    } | {"root": (*X_ready.p, *X_ready.R.wxyz)}  # fmt: skip
    return MultiBody(
        "human",
        bodies=tuple(_body(row.child, mass, s, shapes) for row in rows),
        joints=tuple(_joint(row, s) for row in rows),
        postures={"start": standing, "standing": standing, "ready": ready},
    )


def _side(rows: tuple[Row, ...], side: str) -> tuple[Row, ...]:
    """A limb's rows with their names and their y for one side."""
    sign = 1.0 if side == "l" else -1.0
    return tuple(
        Row(f"{joint}_{side}", kind, parent if i == 0 else f"{parent}_{side}", f"{child}_{side}", (x, sign * y, z))
        for i, (joint, kind, parent, child, (x, y, z)) in enumerate(rows)
    )


def _joint(row: Row, s: float) -> Joint:
    place = Transform(p=_times(s, row.offset))
    if row.kind == "revolute":
        lower, upper = map(radians, KNEE_RANGE)
        return Joint(row.joint, row.kind, row.parent, row.child, place, axis=(0, 1, 0), lower=lower, upper=upper)
    return Joint(row.joint, row.kind, row.parent, row.child, place)


def _body(name: str, body_mass: float, s: float, shapes: dict[str, tuple[Shape, ...]]) -> Body:
    kind = name.removesuffix("_r").removesuffix("_l")
    segment = TABLE[kind]
    L = segment.length
    if kind == "foot":
        com = ((segment.com - HEEL) * L, 0.0, -0.5 * SOLE_DEPTH)
    elif kind in ("head", "thorax", "lumbar", "pelvis"):  # measured from the upper end
        com = (0.0, 0.0, (1.0 - segment.com) * L)
    else:
        com = (0.0, 0.0, -segment.com * L)
    m = body_mass * segment.mass
    inertia = [m * (r * s * L) ** 2 for r in (segment.sagittal, segment.transverse, segment.longitudinal)]
    if kind == "foot":
        inertia.reverse()
    return Body(
        name, m, _times(s, com), inertia, tuple(_scaled(shape, s) for shape in shapes.get(name, shapes.get(kind, ())))
    )


def _shapes(sole: str) -> dict[str, tuple[Shape, ...]]:
    """Capsules for limbs, boxes for the trunk, hands and feet, a sphere for the head; in the frame of each segment."""

    def limb(name: str, radius: float, color: tuple[float, float, float, float]) -> tuple[Shape, ...]:
        return (capsule_between((0.0, 0.0, 0.0), (0.0, 0.0, -TABLE[name].length), radius, color=color),)

    def trunk(name: str) -> Shape:
        L = TABLE[name].length
        return Shape("box", (0.22, 0.32, L), Transform(p=(0.0, 0.0, 0.5 * L)), color=CLOTH)

    def hand(inwards: float) -> tuple[Shape, ...]:
        """With the fingers, hence longer than the segment.  The palm faces the body and stands out beyond the forearm,
        which else would be the first to touch what is held."""
        return (Shape("box", HAND_BOX, Transform(p=(0.0, inwards * PALM_SHIFT, -0.5 * HAND_BOX[2])), HAND, color=SKIN),)

    foot = TABLE["foot"].length
    throat = capsule_between((0.0, 0.0, 0.1716), (0.0, 0.0, 0.1716 + 0.0689), 0.05, role="visual", color=SKIN)
    return {
        "pelvis": (trunk("pelvis"),),
        "lumbar": (trunk("lumbar"),),
        "thorax": (trunk("thorax"), throat),
        "head": (Shape("sphere", (0.10,), Transform(p=(0.0, 0.0, TABLE["head"].length - 0.10)), color=SKIN),),
        "upper_arm": limb("upper_arm", 0.045, CLOTH),
        "forearm": limb("forearm", 0.035, SKIN),
        "hand_r": hand(1.0),
        "hand_l": hand(-1.0),
        "thigh": limb("thigh", 0.075, CLOTH),
        "shank": limb("shank", 0.050, CLOTH),
        "foot": foot_shapes(
            sole, (-HEEL * foot, (1.0 - HEEL) * foot), (-0.045, 0.045), (-SOLE_DEPTH, -0.02), SOLE_GRID, SHOE
        ),
    }


def _scaled(shape: Shape, s: float) -> Shape:
    size = tuple(s * x for x in shape.size)
    place = Transform(shape.placement.R, _times(s, shape.placement.p))
    return Shape(shape.kind, size, place, shape.material, shape.role, shape.color)


def _times(s: float, v: Vector3) -> Vector3:
    return (s * v[0], s * v[1], s * v[2])


def _check(what: str, value: Any, limits: tuple[float, float], unit: str, mistaken: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    low, high = limits
    if not low <= number <= high:  # NaN is not
        hint = f"; is it in {mistaken}?" if high < number < math.inf else ""
        raise ModelError(f"human: {what} must be {low:g} .. {high:g} {unit}, got {value!r}{hint}")
    return number
