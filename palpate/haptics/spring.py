"""The spring between a hand and what it holds, as people give it: one number, or one for each world axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from palpate.model.model import Floats1
from palpate.spatial.placement import Vector3

PerAxis = float | Vector3


def per_axis(value: PerAxis, what: str, least: str = "zero or more") -> Floats1:
    """(3,) from one number or three, all finite and not negative, nor zero if they must be positive."""
    try:
        given = np.asarray(value, dtype=float)
        axes = np.broadcast_to(given, (3,)).copy() if given.shape in ((), (3,)) else None
    except (TypeError, ValueError):
        axes = None
    if axes is None or not (np.isfinite(axes) & (axes >= 0.0)).all() or (least == "positive" and not axes.all()):
        raise ValueError(f"{what} must be {least} and finite: one number, or one for each world axis; got {value!r}")
    return axes


def spring_fields(stiffness_N_m: PerAxis, damping_Ns_m: PerAxis | None = None) -> dict[str, Any]:
    """Fields of a HAND message (frame.py); damping None: critical."""
    K = per_axis(stiffness_N_m, "stiffness_N_m")
    B = np.zeros(3) if damping_Ns_m is None else per_axis(damping_Ns_m, "damping_Ns_m", "positive")
    return {"stiffness_N_m": float(K.min()), "stiffer_N_m": K - K.min(), "damping_Ns_m": B}
