"""Calibration with the heading's error: psi, harmonics, robust loss, covariance.  Reference 3.3 and 3.4.

x = (u, v, h, psi, a1, b1, a2, b2)    phi = phi_t + psi + a1 cos phi_t + b1 sin phi_t + a2 cos 2 phi_t + b2 sin 2 phi_t
X = Sy + r sin(phi - theta1) + (u - l1) sin phi + v cos phi
Y = ceiling + h + l2 + l1 s2 - l2 c3 - Sz
Z = -Sx - r cos(phi - theta1) - (u - l1) cos phi + v sin phi

Gauss-Newton with Huber's weights, one for each pose: a station that lost its way spoils all three of its axes.  psi is
seen only by the spread of the HIP in the device's workspace; with the arm locked (u, v) absorb it.  So the condition
number of the Jacobian, its columns scaled to one, is asked first: beyond 1e6 psi is refused and kept.
Covariance: sigma^2 (J^T W J)^-1, with sigmas of their own across the floor and upwards, where the floor is uneven; the
two do not mix, for Y has only h.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from palpate.mobile.calibration.poses import Poses
from palpate.mobile.geometry.chain import Chain

NAMES = ("u", "v", "h", "psi", "a1", "b1", "a2", "b2")
OFFSETS, PSI, HARMONICS = slice(0, 3), 3, slice(4, 8)
HUBER_M = 0.010  # [C]
CONDITION_LIMIT = 1e6  # beyond it a pseudo-inverse reports a falsely small sigma
PARTS = {"psi": slice(3, 4), "harmonics": HARMONICS}
WITHOUT: tuple[tuple[str, ...], ...] = ((), ("psi",), ("harmonics",), ("psi", "harmonics"))  # tried in this order
STEPS, HALVINGS = 100, 30
AT_REST = 1e-11  # a step [m, rad] that moves nothing any more
STARTS = 8  # values of psi tried first: a station may be mounted any way round


@dataclass(frozen=True)
class Fit:
    """What was estimated, and how surely."""

    chain: Chain
    x: np.ndarray  # (8,) NAMES, [m] and [rad]; as at the start where not estimated
    free: np.ndarray  # (8,) whether each was estimated
    covariance: np.ndarray  # (8, 8), zero where not estimated
    condition: float  # of the scaled Jacobian of all that were asked for
    refused: tuple[str, ...]  # of those asked for, which poses cannot tell
    weights: np.ndarray  # (n,) of Huber's loss: less than one is suspect
    converged: bool

    @property
    def sigma(self) -> np.ndarray:
        """(8,) standard deviations."""
        return np.sqrt(np.diag(self.covariance))


class HipModel:
    """The three equations for one set of poses."""

    def __init__(self, poses: Poses, chain: Chain) -> None:
        l1, l2 = chain.link1_m, chain.link2_m
        self.tracker, (theta1, theta2, theta3) = poses.heading_rad, poses.theta_rad.T
        self.theta1, self.l1, self.r = theta1, l1, l1 * np.cos(theta2) + l2 * np.sin(theta3)
        self.waves = np.column_stack([np.cos(self.tracker), np.sin(self.tracker), np.cos(2.0 * self.tracker),
                                      np.sin(2.0 * self.tracker)])  # fmt: skip
        Sx, Sy, Sz = poses.sensor_m.T
        self.base = np.column_stack([Sy, chain.ceiling_m + l2 + l1 * np.sin(theta2) - l2 * np.cos(theta3) - Sz, -Sx])
        self.measured = poses.hips_m(chain)

    def error(self, x: np.ndarray) -> np.ndarray:
        """(n, 3) measured minus computed."""
        u, v, h = x[OFFSETS]
        phi = self.tracker + x[PSI] + self.waves @ x[HARMONICS]
        c, s, a = np.cos(phi), np.sin(phi), phi - self.theta1
        across = np.column_stack([self.r * np.sin(a) + (u - self.l1) * s + v * c, np.full(len(phi), h),
                                  -self.r * np.cos(a) - (u - self.l1) * c + v * s])  # fmt: skip
        return self.measured - self.base - across

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """(n, 3, 8) of the computed HIP."""
        u, v, _ = x[OFFSETS]
        phi = self.tracker + x[PSI] + self.waves @ x[HARMONICS]
        c, s, a = np.cos(phi), np.sin(phi), phi - self.theta1
        J = np.zeros((len(phi), 3, 8))
        J[:, 0, 0], J[:, 2, 0] = s, -c
        J[:, 0, 1], J[:, 2, 1] = c, s
        J[:, 1, 2] = 1.0
        J[:, 0, 3] = self.r * np.cos(a) + (u - self.l1) * c - v * s  # d / d phi
        J[:, 2, 3] = self.r * np.sin(a) + (u - self.l1) * s + v * c
        J[:, :, HARMONICS] = J[:, :, 3, None] * self.waves[:, None, :]
        return J


def scaled_condition(J: np.ndarray) -> float:
    """Of a Jacobian (m, k) whose columns are scaled to one; infinite if one is zero."""
    lengths = np.linalg.norm(J, axis=0)
    if not lengths.all():
        return np.inf
    singular = np.linalg.svd(J / lengths, compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 0.0 else np.inf


def fit(poses: Poses, start: Chain, psi: bool = True, harmonics: bool = False, huber_m: float | None = HUBER_M) -> Fit:
    """Estimate u, v, h and what else is asked for; huber_m None: plain least squares.

    What the poses cannot tell is refused and named; it stays as in `start`, and the rest is estimated.
    """
    if huber_m is not None and not huber_m > 0.0:
        raise ValueError(f"huber_m is a length above zero, got {huber_m!r}")
    if 3 * len(poses) <= 3 + psi + 4 * harmonics:
        raise ValueError(f"{len(poses)} poses are too few for {3 + psi + 4 * harmonics} numbers")
    model, asked = HipModel(poses, start), np.array([True, True, True, psi, *[harmonics] * 4])
    conditions: list[float] = []
    refused: tuple[str, ...] = ()
    for without in WITHOUT:
        free = asked.copy()
        for name in without:
            free[PARTS[name]] = False
        x = _first(model, start, bool(free[PSI]))
        conditions.append(_condition_at(model, x, free))
        refused = tuple(name for name in without if asked[PARTS[name]].any())
        if conditions[-1] > CONDITION_LIMIT:
            continue
        x, weights, converged = _descend(model, x, free, np.inf if huber_m is None else huber_m)
        if _condition_at(model, x, free) <= CONDITION_LIMIT:  # at the last offsets alone are free: it is 1
            break
    x[PSI] = np.remainder(x[PSI] + np.pi, 2.0 * np.pi) - np.pi
    covariance = _covariance(model, x, free, weights)
    chain = replace(start.with_combinations(*x[OFFSETS]), psi_rad=float(x[PSI]), harmonics_rad=tuple(x[HARMONICS]))
    return Fit(chain, x, free, covariance, conditions[0], refused, weights, converged)


def _condition_at(model: HipModel, x: np.ndarray, free: np.ndarray) -> float:
    return scaled_condition(model.jacobian(x)[:, :, free].reshape(-1, free.sum()))


def _first(model: HipModel, start: Chain, scan: bool) -> np.ndarray:
    """x as in `start` with the offsets that fit it, by medians; of several psi, if it is free, the best."""
    best, least = np.zeros(8), np.inf
    for turn in 2.0 * np.pi / STARTS * np.arange(STARTS if scan else 1):
        x = np.array([0.0, 0.0, 0.0, start.psi_rad + turn, *start.harmonics_rad])
        error, J = model.error(x), model.jacobian(x)[:, :, OFFSETS]
        x[OFFSETS] = np.median(np.einsum("nij,ni->nj", J, error), axis=0)  # the columns of a pose are orthonormal
        size = float(np.median(np.linalg.norm(model.error(x), axis=1)))
        if size < least:
            best, least = x, size
    return best


def _huber(error: np.ndarray, huber_m: float) -> tuple[np.ndarray, float]:
    """(weights of the poses, loss)."""
    size = np.linalg.norm(error, axis=1)
    weights = np.minimum(1.0, huber_m / np.maximum(size, 1e-300))
    loss = np.where(size <= huber_m, size**2, 0.0 if huber_m == np.inf else huber_m * (2.0 * size - huber_m))
    return weights, float(loss.sum())


def _descend(model: HipModel, x: np.ndarray, free: np.ndarray, huber_m: float) -> tuple[np.ndarray, np.ndarray, bool]:
    """(x, weights, whether it came to rest)."""
    error = model.error(x)
    weights, loss = _huber(error, huber_m)
    for _ in range(STEPS):
        root = np.sqrt(weights)[:, None]
        J = (root[:, :, None] * model.jacobian(x)[:, :, free]).reshape(-1, free.sum())
        scale = np.maximum(np.linalg.norm(J, axis=0), 1e-300)
        step = np.linalg.lstsq(J / scale, (root * error).reshape(-1), rcond=None)[0] / scale
        for _ in range(HALVINGS):
            new = x.copy()
            new[free] += step
            new_error = model.error(new)
            new_weights, new_loss = _huber(new_error, huber_m)
            if new_loss <= loss:
                break
            step = 0.5 * step
        else:
            return x, weights, bool(np.abs(step).max() < AT_REST)  # no way down: rounding, if the step is tiny
        x, error, weights, loss = new, new_error, new_weights, new_loss
        if np.abs(step).max() < AT_REST:
            return x, weights, True
    return x, weights, False


def _covariance(model: HipModel, x: np.ndarray, free: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(8, 8): across the floor u, v and the heading's, upwards h."""
    error, J, covariance = weights[:, None] * model.error(x), model.jacobian(x), np.zeros((8, 8))
    for axes, mask in (([0, 2], np.arange(8) != 2), ([1], np.arange(8) == 2)):
        index = np.flatnonzero(free & mask)
        rows = (np.sqrt(weights)[:, None, None] * J[:, axes][:, :, index]).reshape(-1, len(index))
        scale = np.linalg.norm(rows, axis=0)
        freedom = max(1, len(rows) - len(index))
        variance = float((error[:, axes] ** 2).sum()) / freedom
        inverse = np.linalg.inv((rows / scale).T @ (rows / scale))
        covariance[np.ix_(index, index)] = variance * inverse / np.outer(scale, scale)
    return covariance
