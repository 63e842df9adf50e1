"""Which bodies of an avatar are its feet, palms, trunk and head: what its controllers need to know of a model.

Body axes are those of the models: x forward, y left, z up in the zero pose.  Pairs are (right, left).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from palpate.model.library.hrp2 import FOOT_Z, SOLE_X, SOLE_Y
from palpate.model.library.human import HAND_BOX, HEEL, PALM_SHIFT, SOLE_DEPTH, TABLE
from palpate.model.model import Floats, Ints1, Model
from palpate.spatial.placement import Vector3

RIGHT, LEFT = 0, 1
LIMBS = ("right leg", "left leg", "trunk", "neck", "right arm", "left arm", "grip")
RIGHT_LEG, LEFT_LEG, TRUNK, NECK, RIGHT_ARM, LEFT_ARM, GRIP = range(len(LIMBS))


@dataclass(frozen=True)
class Limbs:
    """Names of bodies, without the prefix that a second copy in a World has.

    waist    on the free joint;  chest  carries the arms and is upright in standing
    soles    of the right foot: x and y ranges and height in its body's axes [m]; the left one's y is mirrored
    palm     middle of the right palm in its hand's axes [m], and palm_normal out of it; the left ones' y are mirrored
    grips    joints of fingers
    """

    waist: str
    chest: str
    head: str
    feet: tuple[str, str]
    hands: tuple[str, str]
    elbows: tuple[str, str]
    soles: tuple[tuple[float, float], tuple[float, float], float]
    palm: Vector3
    palm_normal: Vector3 = (0.0, 1.0, 0.0)
    grips: tuple[str, ...] = ()

    def scaled(self, s: float) -> Limbs:
        """Of a body s times as large."""
        (x0, x1), (y0, y1), z = self.soles
        px, py, pz = self.palm
        return replace(self, soles=((s * x0, s * x1), (s * y0, s * y1), s * z), palm=(s * px, s * py, s * pz))

    def sole_corners(self) -> Floats:
        """(8, 3) in body axes: around the right sole, then around the left [m]."""
        (x0, x1), (y0, y1), z = self.soles
        right = np.array([(x1, y0, z), (x1, y1, z), (x0, y1, z), (x0, y0, z)])
        return np.vstack([right, right * (1.0, -1.0, 1.0)])


FOOT = TABLE["foot"].length
HRP2 = Limbs(
    waist="WAIST", chest="CHEST_JOINT1", head="HEAD_JOINT1", feet=("RLEG_JOINT5", "LLEG_JOINT5"),
    hands=("RARM_JOINT6", "LARM_JOINT6"), elbows=("RARM_JOINT3", "LARM_JOINT3"),
    soles=(SOLE_X, SOLE_Y, FOOT_Z[0]), palm=(0.0, 0.04, -0.055), grips=("RHAND_JOINT0", "LHAND_JOINT0"),
)  # fmt: skip
HUMAN = Limbs(
    waist="pelvis", chest="thorax", head="head", feet=("foot_r", "foot_l"), hands=("hand_r", "hand_l"),
    elbows=("forearm_r", "forearm_l"), soles=((-HEEL * FOOT, (1.0 - HEEL) * FOOT), (-0.045, 0.045), -SOLE_DEPTH),
    palm=(0.0, PALM_SHIFT + 0.5 * HAND_BOX[1], -0.5 * HAND_BOX[2]),
)  # fmt: skip


def limbs_of(model: Model, prefix: str = "") -> Limbs:
    """Of HRP-2, or of a human of whatever stature, in a model where its bodies' names begin with `prefix`."""
    names = set(model.body_names)
    if prefix + HRP2.waist in names and prefix + HRP2.chest in names:
        return HRP2
    if prefix + HUMAN.waist in names and prefix + HUMAN.chest in names:
        forearm = model.parent_joint(prefix + HUMAN.elbows[RIGHT])
        assert forearm is not None
        return HUMAN.scaled(-forearm.placement.p[2] / TABLE["upper_arm"].length)
    raise ValueError(f"{model.name!r} has no avatar whose bodies begin with {prefix!r}: give its Limbs")


def limb_of_axes(model: Model, limbs: Limbs, prefix: str = "") -> Ints1:
    """(A,) int: the limb that each axis belongs to (LIMBS), -1: none, or the free root's."""
    m = model.arrays
    limb = np.full(len(m.axis_v), -1, dtype=np.int64)
    link = {name: int(m.body_link[model.body(prefix + name)]) for name in (limbs.waist, limbs.chest, limbs.head)}

    def mark(tip: int, until: int, which: int) -> None:
        """The axes on the way from a link up to another, which is left out."""
        while tip not in (until, 0):
            limb[m.axis_begin[tip] : m.axis_begin[tip] + m.axis_count[tip]] = which
            tip = int(m.parent[tip])

    for side, leg, arm in ((RIGHT, RIGHT_LEG, RIGHT_ARM), (LEFT, LEFT_LEG, LEFT_ARM)):
        mark(int(m.body_link[model.body(prefix + limbs.feet[side])]), link[limbs.waist], leg)
        mark(int(m.body_link[model.body(prefix + limbs.hands[side])]), link[limbs.chest], arm)
    mark(link[limbs.chest], link[limbs.waist], TRUNK)
    mark(link[limbs.head], link[limbs.chest], NECK)
    for name in limbs.grips:
        row = int(m.body_link[model.body(prefix + name)])
        limb[m.axis_begin[row] : m.axis_begin[row] + m.axis_count[row]] = GRIP
    return limb
