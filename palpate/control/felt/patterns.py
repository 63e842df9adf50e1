"""Touch patterns from Python: push, pull, tap, double tap, shake, hold, stroke, or none.

    name, sureness = recognise(force_N, point_m, normal, rate_hz)          one second, or less, already recorded
    heard = listen(force_N, point_m, normal, rate_hz)                      a stream of any length, as a tick hears it

Body axes; the normal is outward, the force is that on the body.  In a tick: control/felt/stream.py, `feel` and
`recognise`, on a Felt of `new_felt(dt_s)`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.control.felt.stream import go_on, look_at
from palpate.control.felt.tables import PATTERNS, Felt, new_felt
from palpate.jit import Block

__all__ = ["PATTERNS", "Felt", "Heard", "listen", "new_felt", "recognise"]


class Heard(NamedTuple):
    """A pattern that was said."""

    time_s: float  # from the beginning of the stream
    name: str
    sureness: float


def recognise(force_N: ArrayLike, point_m: ArrayLike, normal: ArrayLike, rate_hz: float = 1000.0) -> tuple[str, float]:
    """(name, sureness 0..1) of the last second of a touch.

    force_N  (n, 3) on the body;  point_m  (n, 3) where;  normal  (3,) or (n, 3), outward;  all in body axes
    """
    force, point, normals = _checked(force_N, point_m, normal, rate_hz)
    felt = new_felt(1.0 / rate_hz)
    block = Block(felt)
    look_at(block.address, force, point, normals)
    return PATTERNS[felt.pattern], felt.sureness


def listen(force_N: ArrayLike, point_m: ArrayLike, normal: ArrayLike, rate_hz: float = 1000.0) -> list[Heard]:
    """What a tick would say of a stream, and when: taps when no second one came, what lasts while it lasts."""
    force, point, normals = _checked(force_N, point_m, normal, rate_hz)
    felt = new_felt(1.0 / rate_hz)
    block = Block(felt)
    said = np.zeros((len(force), 2))
    go_on(block.address, force, point, normals, said)
    return [Heard((i + 1) / rate_hz, PATTERNS[int(said[i, 0])], float(said[i, 1])) for i in np.flatnonzero(said[:, 0])]


def _checked(
    force_N: ArrayLike, point_m: ArrayLike, normal: ArrayLike, rate_hz: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not 50.0 <= rate_hz < np.inf:
        raise ValueError(f"rate_hz must be 50 or more, got {rate_hz!r}")
    force = np.array(force_N, dtype=float, order="C")
    if force.ndim != 2 or force.shape[1] != 3:
        raise ValueError(f"force_N has shape {force.shape}, a touch has (n, 3)")
    point = np.array(point_m, dtype=float, order="C")
    if point.shape != force.shape:
        raise ValueError(f"point_m has shape {point.shape}, the force has {force.shape}")
    normals = np.asarray(normal, dtype=float)
    if normals.shape not in ((3,), force.shape):
        raise ValueError(f"normal has shape {normals.shape}, it needs (3,) or {force.shape}")
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    if not (np.isfinite(length) & (length > 0.0)).all():
        raise ValueError("a normal has no direction")
    return force, point, np.ascontiguousarray(np.broadcast_to(normals / length, force.shape)).copy()
