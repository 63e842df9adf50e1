"""PUMA 560, modified DH (Craig).  Armstrong, Khatib & Burdick 1986; Corke & Armstrong-Helouvry 1994.

Zero pose: upper arm along +x, forearm along +z; a negative second angle raises the arm.  The base frame is at the
height of the shoulder, so that the column reaches below it.  Link frames are the frames of the table.
"""

from __future__ import annotations

from math import cos, radians, sin
from typing import NamedTuple

from palpate.model.description import Body, Joint, MultiBody
from palpate.model.shapes import Shape, capsule_between
from palpate.spatial.placement import IDENTITY, Rotation, Transform, Vector3


class Row(NamedTuple):
    """One link: T = Rx(alpha) Tx(a) Rz(theta) Tz(d) from the frame before it, alpha in degrees."""

    alpha: float  # [deg]
    a: float  # [m]
    d: float  # [m]
    mass: float  # [kg]
    com: Vector3  # [m], link frame
    inertia: Vector3  # [kg m^2], about the centre of mass
    motor: float  # rotor inertia seen at the joint [kg m^2]
    lower: float  # [deg]
    upper: float  # [deg]


# Link 1 is published with Izz alone, and it can only turn about z: the other two moments never act.  They are those of
# a thin disc, since no solid has (0, 0, 0.35).  Link 3: Izz is 0.086 (a circulated listing has 0.066); as measured, its
# moments break the triangle inequality by 9 %, and are kept so that published results can be compared.
MEASURED_INERTIA = "link3"
# fmt: off
TABLE = (
    #    alpha      a        d     mass    com                        inertia                   motor  lower  upper
    Row(   0.0,  0.0000,  0.0000,  0.00, (0.000,  0.000,  0.000), (0.175  , 0.175  , 0.350  ), 1.140, -160.0, 160.0),
    Row( -90.0,  0.0000,  0.2435, 17.40, (0.068,  0.006, -0.016), (0.130  , 0.524  , 0.539  ), 4.710, -225.0,  45.0),
    Row(   0.0,  0.4318, -0.0934,  4.80, (0.000, -0.070,  0.014), (0.066  , 0.0125 , 0.086  ), 0.830,  -45.0, 225.0),
    Row(  90.0, -0.0203,  0.4331,  0.82, (0.000,  0.000, -0.019), (0.0018 , 0.0018 , 0.0013 ), 0.200, -110.0, 170.0),
    Row( -90.0,  0.0000,  0.0000,  0.34, (0.000,  0.000,  0.000), (0.0003 , 0.0003 , 0.0004 ), 0.179, -100.0, 100.0),
    Row(  90.0,  0.0000,  0.0000,  0.09, (0.000,  0.000,  0.032), (0.00015, 0.00015, 0.00004), 0.193, -266.0, 266.0),
)
# Start and end of the straight tool line of the push and pull scenes, elbow up [deg]
LINE_START = (0.0, -55.335, 217.157, 0.0, -71.822, 0.0)
LINE_END   = (0.0, -21.807, 143.522, 0.0, -31.715, 0.0)
# fmt: on

TOOL_LENGTH = 0.10  # from the wrist centre along z6 to the tool point [m]

WHITE = (0.90, 0.89, 0.86, 1.0)
GREY = (0.32, 0.34, 0.37, 1.0)
TOOL_COLOR = (0.85, 0.45, 0.15, 1.0)

ALONG_Y = Rotation.about((1, 0, 0), radians(-90.0))  # z of a shape to y of its link

# What the arm touches with is three capsules; the column and the shoulder are only seen.
SHAPES: dict[str, tuple[Shape, ...]] = {
    "base": (
        Shape("cylinder", (0.17, 0.03), Transform(p=(0.0, 0.0, -0.645)), role="visual", color=GREY),
        Shape("cylinder", (0.085, 0.53), Transform(p=(0.0, 0.0, -0.365)), role="visual", color=WHITE),
    ),
    "link1": (
        Shape("cylinder", (0.09, 0.10), Transform(p=(0.0, 0.0, -0.05)), role="visual", color=GREY),
        Shape("cylinder", (0.09, 0.26), Transform(ALONG_Y, (0.0, 0.03, 0.0)), role="visual", color=WHITE),
    ),
    "link2": (capsule_between((0.0, 0.0, 0.0), (0.4318, 0.0, 0.0), 0.09, color=WHITE),),
    "link3": (capsule_between((0.0, 0.0, 0.0), (-0.0203, -0.4331, 0.0), 0.07, color=WHITE),),
    "tool": (capsule_between((0.0, 0.0, -TOOL_LENGTH), (0.0, 0.0, 0.0), 0.05, color=TOOL_COLOR),),
}


def puma560(at: Vector3 = (0.0, 0.0, 0.0), R: Rotation = IDENTITY.R) -> MultiBody:
    """The arm with its base frame (at shoulder height) welded to the world.  At (0, 0, 0.66) it stands on z = 0.

    Bodies base, link1 .. link6 and tool (the tool point, without mass); joints joint1 .. joint6.
    Postures "zero", "line_start" and "line_end" (the tool line of the push and pull scenes), "start" = "zero".
    """
    bodies = [Body("base", shapes=SHAPES["base"])]
    joints = [Joint("base", "fixed", "world", "base", Transform(R, at))]
    for i, row in enumerate(TABLE, start=1):
        name = f"link{i}"
        check = name != MEASURED_INERTIA
        bodies.append(Body(name, row.mass, row.com, row.inertia, SHAPES.get(name, ()), check))
        joints.append(Joint(
            f"joint{i}", "revolute", bodies[-2].name, name, _placement(row),
            lower=radians(row.lower), upper=radians(row.upper), armature=row.motor))  # fmt: skip
    bodies.append(Body("tool", shapes=SHAPES["tool"]))
    joints.append(Joint("tool", "fixed", "link6", "tool", Transform(p=(0.0, 0.0, TOOL_LENGTH))))
    zero = _posture((0.0,) * 6)
    postures = {
        "start": zero, "zero": zero, "line_start": _posture(LINE_START), "line_end": _posture(LINE_END)
    }  # fmt: skip
    return MultiBody("puma560", tuple(bodies), tuple(joints), postures)


def _placement(row: Row) -> Transform:
    """Rx(alpha) Tx(a) Tz(d): the joint then turns about its own z."""
    alpha = radians(row.alpha)
    return Transform(Rotation.about((1, 0, 0), alpha), (row.a, -sin(alpha) * row.d, cos(alpha) * row.d))


def _posture(angles_deg: tuple[float, ...]) -> dict[str, float]:
    return {f"joint{i}": radians(angle) for i, angle in enumerate(angles_deg, start=1)}
