"""HRP-2 with 32 joints on a free waist, 1.54 m, 58 kg (Kaneko et al. 2004: 30; here each wrist has a third axis).

Half-sitting angles, ankle height and foot outline are those of public HRP-2 code.  Leg lengths, offsets and ranges are
approximate, masses are chosen to the published total and inertias are those of solid boxes: not the maker's data.
In the zero pose every frame is parallel to the world.  A body bears the name of the joint that carries it.
"""

from __future__ import annotations

from math import cos, radians
from typing import Any, NamedTuple

from palpate.model.description import Body, Joint, MultiBody
from palpate.model.library.primitives import box_inertia
from palpate.model.library.soles import foot_shapes
from palpate.model.shapes import Material, Shape
from palpate.spatial.placement import IDENTITY, Rotation, Transform, Vector3


class Row(NamedTuple):
    """One joint and the body it carries; it hangs on the body of the row above."""

    name: str
    axis: str
    offset: Vector3  # of the joint, in the parent's frame [m]
    mass: float  # [kg]
    com: Vector3  # [m]
    box: Vector3  # edges of the solid box that gives the inertia [m]
    lower: float  # [deg]
    upper: float  # [deg]
    half_sitting: float  # [deg]


# The right side and the middle; the left side is mirrored in y.  Ranges of ARM_JOINT6 and of the gripper are chosen.
# fmt: off
WAIST_MASS, WAIST_COM, WAIST_BOX = 8.0, (-0.01, 0.0, 0.10), (0.22, 0.28, 0.24)

LEG = (  # on WAIST
    #    name         axis  offset               mass  com                    box         lower, upper, half sitting
    Row("RLEG_JOINT0", "z", (0.0, -0.060,  0.00), 0.60, (0.000, 0.0,  0.00), (0.10, 0.08, 0.08),  -45,  30,   0),
    Row("RLEG_JOINT1", "x", (0.0,  0.000,  0.00), 1.00, (0.000, 0.0, -0.02), (0.10, 0.08, 0.10),  -35,  20,   0),
    Row("RLEG_JOINT2", "y", (0.0, -0.035,  0.00), 4.00, (0.010, 0.0, -0.14), (0.12, 0.12, 0.30), -125,  42, -26),
    Row("RLEG_JOINT3", "y", (0.0,  0.000, -0.30), 2.60, (0.010, 0.0, -0.13), (0.11, 0.11, 0.30),    0, 150,  50),
    Row("RLEG_JOINT4", "y", (0.0,  0.000, -0.30), 0.40, (0.000, 0.0,  0.00), (0.06, 0.06, 0.06),  -75,  42, -24),
    Row("RLEG_JOINT5", "x", (0.0,  0.000,  0.00), 1.60, (0.015, 0.0, -0.07), (0.23, 0.13, 0.06),  -20,  35,   0),
)
TRUNK = (  # on WAIST
    Row("CHEST_JOINT0", "z", ( 0.032, 0.0, 0.3507),  1.0, ( 0.00, 0.0, 0.00), (0.12, 0.12, 0.08), -45, 45, 0),
    Row("CHEST_JOINT1", "y", ( 0.000, 0.0, 0.0000), 17.6, (-0.05, 0.0, 0.13), (0.28, 0.34, 0.36),  -5, 60, 0),
    Row("HEAD_JOINT0",  "z", (-0.007, 0.0, 0.2973),  0.4, ( 0.00, 0.0, 0.00), (0.06, 0.06, 0.06), -45, 45, 0),
    Row("HEAD_JOINT1",  "y", ( 0.000, 0.0, 0.0000),  1.6, ( 0.01, 0.0, 0.09), (0.18, 0.16, 0.18), -30, 45, 0),
)
ARM = (  # on CHEST_JOINT1
    Row("RARM_JOINT0",  "y", (0.008, -0.25,  0.181), 0.80, (0.0, 0.0,  0.00), (0.10, 0.10, 0.10), -180, 60,  15),
    Row("RARM_JOINT1",  "x", (0.000,  0.00,  0.000), 0.60, (0.0, 0.0, -0.03), (0.09, 0.09, 0.09),  -95, 10, -10),
    Row("RARM_JOINT2",  "z", (0.000,  0.00,  0.000), 1.40, (0.0, 0.0, -0.14), (0.09, 0.09, 0.22),  -92, 92,   0),
    Row("RARM_JOINT3",  "y", (0.000,  0.00, -0.250), 0.50, (0.0, 0.0, -0.02), (0.08, 0.08, 0.09), -137,  2, -30),
    Row("RARM_JOINT4",  "z", (0.000,  0.00,  0.000), 0.70, (0.0, 0.0, -0.12), (0.08, 0.08, 0.22),  -92, 92,   0),
    Row("RARM_JOINT5",  "y", (0.000,  0.00, -0.250), 0.15, (0.0, 0.0,  0.00), (0.05, 0.05, 0.05),  -92, 92,   0),
    Row("RARM_JOINT6",  "x", (0.000,  0.00,  0.000), 0.25, (0.0, 0.0, -0.05), (0.06, 0.08, 0.10),  -92, 92,   0),
    Row("RHAND_JOINT0", "x", (0.000,  0.02, -0.090), 0.10, (0.0, 0.0, -0.03), (0.05, 0.03, 0.07),    0, 60,  10),
)

# What is touched: shape, size, centre in the body's frame [m].  Between them sit joint blocks that are only seen (the
# box of their row).  Bodies that share no joint stay apart over most of the ranges: the thighs clear the pelvis to 90
# degrees, forearms clear the upper arms to 120.
TOUCH = {
    "WAIST":        ("box",     (0.22, 0.28, 0.16), (-0.01, 0.0,  0.140)),
    "RLEG_JOINT2":  ("capsule", (0.060, 0.15),      ( 0.00, 0.0, -0.165)),
    "RLEG_JOINT3":  ("capsule", (0.055, 0.23),      ( 0.00, 0.0, -0.115)),
    "CHEST_JOINT1": ("box",     (0.28, 0.34, 0.33), (-0.05, 0.0,  0.115)),
    "HEAD_JOINT1":  ("sphere",  (0.085,),           ( 0.00, 0.0,  0.102)),  # its top 0.187 above the neck: 1.540 m
    "RARM_JOINT0":  ("sphere",  (0.050,),           ( 0.00, 0.0,  0.000)),
    "RARM_JOINT2":  ("capsule", (0.045, 0.06),      ( 0.00, 0.0, -0.130)),
    "RARM_JOINT3":  ("sphere",  (0.045,),           ( 0.00, 0.0,  0.000)),
    "RARM_JOINT4":  ("capsule", (0.040, 0.09),      ( 0.00, 0.0, -0.135)),
    "RARM_JOINT6":  ("box",     (0.06, 0.08, 0.09), ( 0.00, 0.0, -0.055)),
    "RHAND_JOINT0": ("box",     (0.05, 0.03, 0.07), ( 0.00, 0.0, -0.030)),
}
# The right foot: its sole is 0.105 m below the ankle.
SOLE_X, SOLE_Y, FOOT_Z = (-0.10, 0.13), (-0.075, 0.055), (-0.105, -0.04)
SOLE_GRID = (4, 4)
# fmt: on

# The height at which the soles of the half-sitting robot touch z = 0: 0.6487 m.
WAIST_HEIGHT = -FOOT_Z[0] + 0.30 * cos(radians(26)) + 0.30 * cos(radians(50 - 26))

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
HAND = Material("hand", friction=0.8)
SHELL = (0.78, 0.80, 0.83, 1.0)
BLOCK = (0.25, 0.27, 0.32, 1.0)
SEEN = {  # and never touched: the waist down to the hips and up to the chest, and a visor that shows the front
    "WAIST": (
        Shape("box", (0.20, 0.26, 0.08), Transform(p=(-0.01, 0.0, 0.02)), role="visual", color=BLOCK),
        Shape("cylinder", (0.07, 0.12), Transform(p=(0.0, 0.0, 0.27)), role="visual", color=BLOCK),
    ),
    "HEAD_JOINT1": (Shape("box", (0.04, 0.11, 0.035), Transform(p=(0.07, 0.0, 0.11)), role="visual", color=BLOCK),),
}


def _mirrored(row: Row) -> Row:
    """The same row on the left: y changes sign, and with it every turn about x or z, whose axes stay."""

    def flip(v: Vector3) -> Vector3:
        return (v[0], -v[1], v[2])

    row = row._replace(name="L" + row.name[1:], offset=flip(row.offset), com=flip(row.com))
    if row.axis == "y":
        return row
    return row._replace(lower=-row.upper, upper=-row.lower, half_sitting=-row.half_sitting)


# (what the chain hangs on, its rows), in the order of the arrays
CHAINS = (
    ("WAIST", LEG),
    ("WAIST", tuple(map(_mirrored, LEG))),
    ("WAIST", TRUNK),
    ("CHEST_JOINT1", ARM),
    ("CHEST_JOINT1", tuple(map(_mirrored, ARM))),
)


def hrp2(at: Vector3 = (0.0, 0.0, 0.0), R: Rotation = IDENTITY.R, sole: str = "box") -> MultiBody:
    """The robot, half sitting with its soles on the ground at `at`, facing x of `R`.

    sole  "box": each foot touches with a box; "spheres": with 4 x 4 points, 32 in all
    Posture "half_sitting" = "start"; 38 freedoms: waist, legs (right, left), chest, head, arms (right, left).
    """
    inertia = box_inertia(WAIST_MASS, WAIST_BOX)
    bodies = [Body("WAIST", WAIST_MASS, WAIST_COM, inertia, _shapes("WAIST"))]
    joints = [Joint("WAIST", "free", "world", "WAIST")]
    X = Transform(R, at) @ Transform(p=(0.0, 0.0, WAIST_HEIGHT))
    half_sitting: dict[str, Any] = {"WAIST": (*X.p, *X.R.wxyz)}
    for root, chain in CHAINS:
        parent = root
        for row in chain:
            shapes = _foot(row.name, sole) if row.name.endswith("LEG_JOINT5") else _shapes(row.name) or _block(row)
            bodies.append(Body(row.name, row.mass, row.com, box_inertia(row.mass, row.box), shapes))
            joints.append(Joint(
                row.name, "revolute", parent, row.name, Transform(p=row.offset), axis=AXES[row.axis],
                lower=radians(row.lower), upper=radians(row.upper)))  # fmt: skip
            half_sitting[row.name] = radians(row.half_sitting)
            parent = row.name
    return MultiBody("hrp2", tuple(bodies), tuple(joints), {"start": half_sitting, "half_sitting": half_sitting})


def _shapes(name: str) -> tuple[Shape, ...]:
    """The shapes of TOUCH and SEEN; the same on both sides, since they are symmetric in y."""
    right = "R" + name[1:] if name.startswith("L") else name
    if right not in TOUCH:
        return ()
    kind, size, centre = TOUCH[right]
    material = HAND if right in ("RARM_JOINT6", "RHAND_JOINT0") else Material()
    return (Shape(kind, size, Transform(p=centre), material, color=SHELL), *SEEN.get(name, ()))


def _block(row: Row) -> tuple[Shape, ...]:
    return (Shape("box", row.box, Transform(p=row.com), role="visual", color=BLOCK),)


def _foot(name: str, sole: str) -> tuple[Shape, ...]:
    y = SOLE_Y if name.startswith("R") else (-SOLE_Y[1], -SOLE_Y[0])
    return foot_shapes(sole, SOLE_X, y, FOOT_Z, SOLE_GRID, SHELL)
