"""Hands at places: postures of an avatar's arms and trunk that bring its palms where a task wants them.

    e = (0.7 log(R_d R^T), p_d - p),   dq = W J^T (J W J^T + damping^2)^-1 e

W holds how willingly each joint moves; a joint at its range loses its column, and the step is solved again
(reference on avatars 4.2).  The root and all other joints stay, and with them the feet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from palpate.dynamics.facade import forward_kinematics, jacobian
from palpate.model.library.hrp2 import FOOT_Z, SOLE_X, SOLE_Y
from palpate.model.model import FREE, Floats, Floats1, Floats2, Model
from palpate.spatial.placement import Rotation, Vector3

ARRIVED = 1e-9  # length of the twist that is left [rad and m]
ITERATIONS = 200
DAMPING = 0.02
TURN = 0.7  # of a missing rotation in one step
LEAN, LEANT = 0.2, 1e-4  # of the way to `rest` in one step; a step [rad] that ends it
LONGEST = 0.1  # [rad] of a joint in one step
CLEAR_OF_ENDS = 0.02  # [rad] that postures found here keep from the ends of ranges: curves swing a little beyond them


class Unreachable(ValueError):
    """No posture brings the palms there; one line says by how much."""


@dataclass(frozen=True)
class Hand:
    """A body, the palm's centre in its axes [m], and how the body is turned in the world when it grasps."""

    body: str
    palm: Vector3
    R: Rotation


@dataclass(frozen=True, eq=False)
class Avatar:
    """What a sequence moves.

    hands   right, left; or one
    joints  that move: of one coordinate each
    ease    how willingly each of them helps a hand; default 1
    soles   (body, corners in its axes [m]): what it stands on; none: it is bolted to the ground
    rest    joints [rad or m] that postures lean to where hands leave them free: elbows out, trunk upright
    limbs, trunk    bodies that are to stay clear of each other
    """

    model: Model
    hands: tuple[Hand, ...]
    joints: tuple[str, ...]
    soles: tuple[tuple[str, tuple[Vector3, ...]], ...] = ()
    ease: Mapping[str, float] = field(default_factory=dict)
    rest: Mapping[str, float] = field(default_factory=dict)
    limbs: tuple[str, ...] = ()
    trunk: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for hand in self.hands:
            self.model.body(hand.body)
        for joint in self.joints:
            if joint not in self.model.q_index:
                raise ValueError(f"{self.model.name!r} has no joint {joint!r}")
            where = self.model.q_index[joint]
            if where.stop - where.start != 1:
                raise ValueError(f"joint {joint!r} has {where.stop - where.start} coordinates: only joints of one can "
                                 "be moved by a sequence")  # fmt: skip
        if len(self.hands) not in (1, 2):
            raise ValueError(f"an avatar has one hand or two here, got {len(self.hands)}")
        if self.soles and self.model.arrays.kind[1] != FREE:
            raise ValueError(f"{self.model.name!r} has soles but no free root")

    @cached_property
    def in_q(self) -> np.ndarray:
        """Of each joint, its place in q."""
        return np.array([self.model.q_index[j].start for j in self.joints])

    @cached_property
    def in_v(self) -> np.ndarray:
        return np.array([self.model.v_index[j].start for j in self.joints])

    @cached_property
    def palms_table(self) -> Floats2:
        """(k, 4), as dynamics.rows has them."""
        return np.array([(self.model.body(h.body), *h.palm) for h in self.hands], dtype=np.float64)

    def palms(self, q: Floats1) -> Floats2:
        """Where they are (k, 3)."""
        X = forward_kinematics(self.model, q)
        return np.array([(X[self.model.body(h.body)] @ (*h.palm, 1.0))[:3] for h in self.hands])

    def reach(self, q: Floats1, places: Mapping[int, Floats], lean: bool = False) -> Floats1:
        """A posture (nq,) near q with the palms of these hands at places (3,), turned as they grasp.

        lean  go towards `rest`, too, as far as the hands leave joints free
        """
        q, m = np.array(q, dtype=np.float64), self.model
        lower, upper = m.lower[self.in_q] + CLEAR_OF_ENDS, m.upper[self.in_q] - CLEAR_OF_ENDS
        ease = np.array([self.ease.get(j, 1.0) for j in self.joints])
        wish = np.array([self.rest.get(j, np.nan) for j in self.joints])
        wishes = np.isfinite(wish) & lean
        for _ in range(ITERATIONS):
            error, jac = self._missing(q, places)
            now = q[self.in_q]
            pull = np.where(wishes, LEAN * (wish - now), 0.0)
            free = np.ones(len(self.joints), dtype=bool)
            damping = DAMPING**2 * min(1.0, 10.0 * float(np.linalg.norm(error)))
            for _ in range(4):
                half = jac * (ease * free)
                K = half @ jac.T + damping * np.eye(len(error))
                step = ease * free * (jac.T @ np.linalg.solve(K, error - jac @ (pull * free))) + pull * free
                step *= min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-12))
                beyond = free & (((now + step > upper) & (step > 0.0)) | ((now + step < lower) & (step < 0.0)))
                if not beyond.any():
                    break
                free &= ~beyond
            if np.linalg.norm(error) < ARRIVED and (not lean or np.abs(step).max() < LEANT):
                return q
            q[self.in_q] = now + step * free
        if lean and np.linalg.norm(error) < 1e-3:  # there, but still on the way to its rest
            return self.reach(q, places)
        raise Unreachable(
            f"the palms stay {np.abs(error.reshape(-1, 6)[:, 3:]).max():.3f} m and "
            f"{np.abs(error.reshape(-1, 6)[:, :3]).max() / TURN:.2f} rad short of where they should be"
        )

    def _missing(self, q: Floats1, places: Mapping[int, Floats]) -> tuple[Floats1, Floats2]:
        """The twist that is missing, and the Jacobian of it, of all hands."""
        X, e, J = forward_kinematics(self.model, q), [], []
        for k, place in places.items():
            hand = self.hands[k]
            at = X[self.model.body(hand.body)]
            turn = Rotation.from_matrix(hand.R.matrix() @ at[:3, :3].T).log()
            e.append([*(TURN * turn), *(np.asarray(place) - (at @ (*hand.palm, 1.0))[:3])])
            J.append(jacobian(self.model, q, hand.body, hand.palm)[:, self.in_v])
        return np.concatenate(e), np.vstack(J)


def hrp2_avatar(model: Model) -> Avatar:
    """HRP-2: arms without grippers, and the waist's two joints; palms look at each other, hands point forward."""
    forward = Rotation.about((0.0, 1.0, 0.0), -0.5 * np.pi)
    hands = tuple(
        Hand(f"{side}ARM_JOINT6", (0.0, sign * 0.04, -0.055), forward) for side, sign in (("R", 1), ("L", -1))
    )
    joints = ("CHEST_JOINT0", "CHEST_JOINT1", *(f"{side}ARM_JOINT{n}" for side in "RL" for n in range(7)))
    x, y, z = SOLE_X, SOLE_Y, FOOT_Z[0]
    soles = tuple(
        (
            f"{side}LEG_JOINT5",
            tuple((px, sign * py, z) for px, py in ((x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1]))),
        )
        for side, sign in (("R", 1), ("L", -1))
    )
    rest = {"CHEST_JOINT1": 0.0} | {
        f"{side}ARM_JOINT1": np.radians(-sign * 8.0) for side, sign in (("R", 1), ("L", -1))
    }
    limbs = tuple(f"{side}ARM_JOINT{n}" for side in "RL" for n in (2, 3, 4))
    ease = {"CHEST_JOINT0": 1.0, "CHEST_JOINT1": 0.3}
    return Avatar(model, hands, joints, soles, ease, rest, limbs, ("CHEST_JOINT1",))
