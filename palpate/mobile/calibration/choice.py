"""Which model the poses ask for: offsets alone, with psi, or with psi and harmonics.  Reference 3.4.

Cross-validation: of five parts each is foretold by the model fitted to the others.  A larger model is taken if that
lowers the held-out error across the floor by more than 5 %; upwards all models are the same.  Poses far off for every
model, because a station lost its way, are named and count in no score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palpate.mobile.calibration.nonlinear import CONDITION_LIMIT, HUBER_M, Fit, fit
from palpate.mobile.calibration.poses import FEWEST, Poses, Residuals, residuals
from palpate.mobile.geometry.chain import RULER, Chain

MODELS = {"linear": (False, False), "psi": (True, False), "harmonics": (True, True)}  # psi, harmonics
FOLDS, GAIN, SEED = 5, 0.05, 18
SPREAD_M = 0.040  # rms of the HIP on each axis across the workspace that psi needs (3.3)
FAR = 5.0  # times the median size of an error: a drop-out


@dataclass(frozen=True)
class Calibration:
    """The chosen model, and the others beside it."""

    model: str
    fit: Fit
    fits: dict[str, Fit]  # of the models that could be told apart
    held_out_m: dict[str, float]  # rms across the floor of each
    drop_outs: np.ndarray  # poses left out of the scores
    before: Residuals
    remaining: dict[str, Residuals]  # of each model
    notes: tuple[str, ...]  # what whoever recorded the poses should know

    @property
    def chain(self) -> Chain:
        return self.fit.chain

    @property
    def after(self) -> Residuals:
        return self.remaining[self.model]

    def without_drop_outs(self, residuals: Residuals) -> Residuals:
        """Of all other poses."""
        return residuals[np.setdiff1d(np.arange(len(residuals.error_m)), self.drop_outs)]


def calibrate(poses: Poses, start: Chain = RULER) -> Calibration:
    """Fit all models, choose one; `start` has the measured offsets, and links and ceiling, which are not estimated."""
    if len(poses) < FEWEST:
        raise ValueError(f"a calibration takes at least {FEWEST} poses, got {len(poses)}")
    fits: dict[str, Fit] = {}
    notes: list[str] = []
    for name, (psi, harmonics) in MODELS.items():
        found = fit(poses, start, psi, harmonics)
        if name in found.refused:
            notes.append(f"{name} cannot be told from these poses: condition {found.condition:.1e} of the Jacobian, "
                         f"beyond {CONDITION_LIMIT:g}")  # fmt: skip
        else:
            fits[name] = found
    far = drop_outs(poses, list(fits.values()))
    scores = {name: held_out_m(poses, start, name, far) for name in fits}
    best = "linear"
    for name in fits:
        if scores[name] < (1.0 - GAIN) * scores[best]:
            best = name
    before = residuals(start, poses)
    spread = spread_m(before.device_m)
    if spread < SPREAD_M:
        notes.append(f"the HIP spreads by {1e3 * spread:.1f} mm rms in the workspace: psi needs {1e3 * SPREAD_M:g} mm")
    if len(far):
        rows = ", ".join(str(k + 1) for k in far[:8])
        notes.append(f"{len(far)} of {len(poses)} poses are far off: {rows}{', ...' if len(far) > 8 else ''}")
    if not fits[best].converged:
        notes.append(f"the fit did not come to rest: do not trust {best}")
    remaining = {name: residuals(found.chain, poses) for name, found in fits.items()}
    return Calibration(best, fits[best], fits, scores, far, before, remaining, tuple(notes))


def spread_m(device_m: np.ndarray) -> float:
    """Rms of points about their mean, of the two axes across the workspace."""
    across = device_m[:, [0, 2]]
    return float(np.sqrt(((across - across.mean(axis=0)) ** 2).mean()))


def drop_outs(poses: Poses, fits: list[Fit]) -> np.ndarray:
    """Poses that are far off for every model."""
    sizes = np.array([np.linalg.norm(residuals(f.chain, poses).error_m, axis=1) for f in fits])
    limits = np.maximum(FAR * np.median(sizes, axis=1), HUBER_M)
    return np.flatnonzero((sizes > limits[:, None]).all(axis=0))


def held_out_m(poses: Poses, start: Chain, model: str, without: np.ndarray, seed: int = SEED) -> float:
    """Rms across the floor of poses that a model did not see [m]."""
    psi, harmonics = MODELS[model]
    order, squares = np.random.default_rng(seed).permutation(len(poses)), []
    for part in np.array_split(order, FOLDS):
        chain = fit(poses[np.setdiff1d(order, part)], start, psi, harmonics).chain
        seen = np.setdiff1d(part, without)
        squares.append((residuals(chain, poses[seen]).error_m[:, [0, 2]] ** 2).reshape(-1))
    return float(np.sqrt(np.concatenate(squares).mean()))
