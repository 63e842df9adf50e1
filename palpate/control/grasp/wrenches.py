"""Forces on a held object, as forces on the wrists that hold it.

G = [[1, 0, 1, 0], [r1^, 1, r2^, 1]],  r_k = wrist_k - point;   G (f1, n1, f2, n2) = (f, n)

pinv(G) in closed form.  About the middle c of the wrists, d half the way from the second to the first:

    n_c = n - (c - point) x f;     y = (n_c + d (d . n_c)) / (1 + d . d);     a = -1/2 d x y
    f1 = f/2 + a,  f2 = f/2 - a,  n1 = n2 = y/2

It is the smallest (f1, n1, f2, n2) with that sum, so it has no part along the null space of G; what is added there
(a squeeze, equal and opposite along the line between the wrists) moves nothing.  Newtons and newton metres are weighed
alike, as they are in the published split.

f, n  force [N] and torque [N m] on the object, at `point`;  f_k, n_k  on each wrist, at the wrist;  world axes [m]
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from palpate.jit import entry, kernel
from palpate.spatial.placement import vector3
from palpate.spatial.vectors import add, add_scaled, cross, dot, part3, put_part, scale, sub


@kernel
def split(f, n, point, wrist1, wrist2):
    """(f1, f2, n_each): pinv(G) (f, n)."""
    c, d = scale(0.5, add(wrist1, wrist2)), scale(0.5, sub(wrist1, wrist2))
    n_c = sub(n, cross(sub(c, point), f))
    y = scale(1.0 / (1.0 + dot(d, d)), add_scaled(n_c, dot(d, n_c), d))
    a = scale(-0.5, cross(d, y))
    return add(scale(0.5, f), a), sub(scale(0.5, f), a), scale(0.5, y)


@kernel
def carry(f, n, point, wrist):
    """(f, n) on one wrist that does the same: n + (point - wrist) x f."""
    return f, add(n, cross(sub(point, wrist), f))


@kernel
def squeeze(newtons, wrist1, wrist2):
    """(f1, f2) that press the wrists together: no net force and no net torque."""
    way = sub(wrist2, wrist1)
    f = scale(newtons / max(math.sqrt(dot(way, way)), 1e-9), way)
    return f, scale(-1.0, f)


@entry("float64[::1], float64[::1]")
def split_entry(given, out):
    """given: f, n, point, wrist1, wrist2, squeeze (16,);  out: f1, n1, f2, n2 (12,)."""
    wrist1, wrist2 = part3(given, 9), part3(given, 12)
    f1, f2, n = split(part3(given, 0), part3(given, 3), part3(given, 6), wrist1, wrist2)
    s1, s2 = squeeze(given[15], wrist1, wrist2)
    put_part(out, 0, add(f1, s1))
    put_part(out, 3, n)
    put_part(out, 6, add(f2, s2))
    put_part(out, 9, n)
    return 0


@entry("float64[::1], float64[::1]")
def carry_entry(given, out):
    """given: f, n, point, wrist (12,);  out: f, n (6,)."""
    f, n = carry(part3(given, 0), part3(given, 3), part3(given, 6), part3(given, 9))
    put_part(out, 0, f)
    put_part(out, 3, n)
    return 0


def wrist_wrenches(
    force: ArrayLike, torque: ArrayLike, point: ArrayLike, wrists: ArrayLike, squeeze_N: float = 0.0
) -> np.ndarray:
    """(k, 6) force and torque on each of one or two wrists (k, 3), for a force and torque on what they hold.

    squeeze_N  presses two of them together, beside that
    """
    places = np.asarray(wrists, dtype=float)
    if places.shape not in ((1, 3), (2, 3)) or not np.isfinite(places).all():
        raise ValueError(f"wrists are one or two points (k, 3), finite; got {wrists!r}")
    f, n, at = vector3(force, "force"), vector3(torque, "torque"), vector3(point, "point")
    out = np.empty(6 * len(places))
    if len(places) == 1:
        carry_entry(np.array([*f, *n, *at, *places[0]]), out)
    else:
        split_entry(np.array([*f, *n, *at, *places.ravel(), float(squeeze_N)]), out)
    return out.reshape(-1, 6)
