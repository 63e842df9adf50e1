"""The pantograph from Python: poses, angles, Jacobians, torques and inertia of many poses at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.jit import Block
from palpate.planar.pantograph.entries import (
    dynamics_rows,
    forward_rows,
    inside_rows,
    inverse_rows,
    jacobian_rows,
    move_rows,
    torque_rows,
)
from palpate.planar.pantograph.mechanism import WAYS, Pantograph
from palpate.planar.pantograph.plant import HandSpring, Plant


class Path(NamedTuple):
    """A free motion, (n, 3), (n, 3), (n,)."""

    X: np.ndarray
    V: np.ndarray
    energy_J: np.ndarray


class PantographModel:
    """Kinematics, statics and dynamics of one mechanism; poses (n, 3) are x, y [m] and angle [rad].

    model = PantographModel()
    q = model.angles([[0.03, -0.02, 0.7]])
    """

    def __init__(self, pantograph: Pantograph | None = None) -> None:
        self.pantograph = pantograph or Pantograph()
        self._block = Block(self.pantograph.mechanism)

    def _rows(self, given: ArrayLike, columns: int, what: str) -> np.ndarray:
        rows = np.ascontiguousarray(np.atleast_2d(np.asarray(given, dtype=float)))
        if rows.ndim != 2 or rows.shape[1] != columns:
            raise ValueError(f"{what} are rows of {columns} numbers, got an array {np.shape(given)}")
        return rows

    def _poses(self, given: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Poses and joint angles; ValueError where the mechanism cannot be."""
        poses = self._rows(given, 3, "poses")
        out = np.empty((len(poses), 5))
        inverse_rows(self._block.address, poses, out)
        if not out[:, 4].all():
            raise ValueError(f"the pantograph cannot be at {poses[np.argmin(out[:, 4])].tolist()}")
        return poses, np.ascontiguousarray(out[:, :4])

    def reaches(self, poses: ArrayLike) -> np.ndarray:
        """(n,) whether each is in the workspace of the mechanism."""
        rows = self._rows(poses, 3, "poses")
        out = np.empty(len(rows))
        inside_rows(self._block.address, rows, out)
        return out > 0.0

    def angles(self, poses: ArrayLike) -> np.ndarray:
        """(n, 4) q [rad]; ValueError for a pose outside the workspace."""
        return self._poses(poses)[1]

    def poses(self, angles: ArrayLike, angle_before: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) poses and (n,) residuals [m] of joint angles one after the other; NaN where the elbows are apart."""
        rows = self._rows(angles, 4, "joint angles")
        out = np.empty((len(rows), 5))
        forward_rows(self._block.address, rows, angle_before, out)
        out[out[:, 4] == 0.0, :4] = np.nan
        return out[:, :3], out[:, 3]

    def jacobians(self, poses: ArrayLike) -> np.ndarray:
        """(n, 4, 3) A."""
        rows, q = self._poses(poses)
        out = np.empty((4 * len(rows), 3))
        jacobian_rows(self._block.address, rows, q, out)
        return out.reshape(-1, 4, 3)

    def torques(self, poses: ArrayLike, wrenches: ArrayLike, way: str = "min-max") -> tuple[np.ndarray, np.ndarray]:
        """(n, 4) torques [N m] within the peak, and (n,) the share of the wrench that they make."""
        if way not in WAYS:
            raise ValueError(f"way is one of {', '.join(WAYS)}, not {way!r}")
        rows, _ = self._poses(poses)
        wanted = np.array(np.broadcast_to(self._rows(wrenches, 3, "wrenches"), rows.shape), order="C")
        out = np.empty((len(rows), 5))
        torque_rows(self._block.address, rows, wanted, WAYS.index(way), out)
        return out[:, :4], out[:, 4]

    def _dynamics(self, poses: ArrayLike, rates: ArrayLike) -> np.ndarray:
        rows, _ = self._poses(poses)
        moving = np.array(np.broadcast_to(self._rows(rates, 3, "rates"), rows.shape), order="C")
        out = np.empty((len(rows), 13))
        dynamics_rows(self._block.address, rows, moving, out)
        return out

    def mass_matrices(self, poses: ArrayLike) -> np.ndarray:
        """(n, 3, 3) M."""
        return self._dynamics(poses, np.zeros(3))[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)

    def coriolis(self, poses: ArrayLike, rates: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) C V, and (n, 3) C^T V."""
        out = self._dynamics(poses, rates)
        return out[:, 6:9], out[:, 9:12]

    def coast(
        self,
        pose: ArrayLike,
        rate: ArrayLike,
        dt_s: float,
        steps: int,
        hand: HandSpring | None = None,
        torque_Nm: ArrayLike = (0.0, 0.0, 0.0, 0.0),
    ) -> Path:
        """How the handle moves from a pose at a rate under held torques, with nobody holding it, or a hand."""
        plant = Plant(X=np.asarray(pose, float), V=np.asarray(rate, float), torque=np.asarray(torque_Nm, float))
        block = Block(self._block.parts[0], plant, hand or HandSpring())
        out = np.empty((steps, 7))
        move_rows(block.address, dt_s, out)
        return Path(out[:, :3], out[:, 3:6], out[:, 6])
