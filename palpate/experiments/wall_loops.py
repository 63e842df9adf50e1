"""Loops of a device at a wall, sample by sample: the kernels of the experiments z-width and sync-vs-async.

The device is a mass with damping on one axis, m x'' = -b x' + f - push; the wall fills x < 0 and only pushes.  A force
is held for a period T, and the motion meanwhile is exact.  f on the device [N];  E energy that the wall absorbed [J].
"""

from __future__ import annotations

import math

import numpy as np

from palpate.haptics.passivity import PortEnergy, bound_axis, control_axis, forget, observe_axis
from palpate.haptics.virtual_coupling import coupling_force, drawn, pressed, shown_mass
from palpate.jit import entry, kernel

# what a force is made with
NONE, COUPLING, CONTROLLER, BOUNDING = range(4)
# rows of the settings that kernels read
(MASS, DAMPING, DT, PUSH, GAP, ENCODER, SMOOTHING, STEPS, WATCHED, COUPLING_K, COUPLING_B, TOOL, DECLARED,
 FORGET) = range(14)  # fmt: skip
# columns of what a drop leaves: position in the last second [m]; energy no hand has given, and the lowest of
# energy bounding's sum [J]
HIGHEST, LOWEST, MEAN, CREATED, SPARED = range(5)
# how a slow simulation's force is filled in between its steps
HOLD, INTERPOLATE, EXTRAPOLATE = range(3)
X_AXIS = (1.0, 0.0, 0.0)
ORIGIN = (0.0, 0.0, 0.0)


@kernel
def held_motion(mass: float, damping: float, dt: float) -> tuple[float, float, float, float]:
    """(a, g, p, h) of x+ = x + p v + h u, v+ = a v + g u: m v' = -b v + u, u held, exactly."""
    z = damping * dt / mass
    if z > 1e-4:
        first = -math.expm1(-z) / z
        second = (1.0 - first) / z
    else:  # their series, which need no damping
        first = 1.0 - z / 2.0 + z * z / 6.0
        second = 0.5 - z / 6.0 + z * z / 24.0
    return math.exp(-z), dt * first / mass, dt * first, dt * dt * second / mass


@kernel
def spring_wall(stiffness: float, damping: float, x: float, v: float) -> float:
    """The force on the device of a wall that fills x < 0 and only pushes [N]."""
    return max(0.0, -stiffness * x - damping * v) if x < 0.0 else 0.0


@kernel
def drop(s: np.ndarray, stiffness: float, damping: float, method: int, e: PortEnergy, row: np.ndarray,
         trace: np.ndarray) -> None:  # fmt: skip
    """One drop on one wall; `row` gets the outcome, `trace` (steps, 3), if it has rows, position, force and energy."""
    m, dt, push, step = s[MASS], s[DT], s[PUSH], s[ENCODER]
    a, g, p, h = held_motion(m, s[DAMPING], dt)
    steps, watched = int(s[STEPS]), int(s[WATCHED])
    coupling = (s[COUPLING_K], s[COUPLING_B])
    shown = shown_mass(coupling, s[TOOL], dt)
    x, v = s[GAP], 0.0
    before = step * math.floor(x / step + 0.5) if step > 0.0 else x
    f = smooth = spared = 0.0
    y, u = (before, 0.0, 0.0), ORIGIN
    e.absorbed[0] = e.lowest[0] = e.away_s[0] = 0.0
    row[HIGHEST], row[LOWEST], row[MEAN], row[CREATED], row[SPARED] = -math.inf, math.inf, 0.0, 0.0, 0.0
    for k in range(steps):
        seen = step * math.floor(x / step + 0.5) if step > 0.0 else x
        dx = seen - before
        before = seen
        smooth += s[SMOOTHING] * (dx / dt - smooth)
        observe_axis(e, 0, f, dx)
        spared += -f * dx + s[DECLARED] / dt * dx * dx
        wanted = spring_wall(stiffness, damping, seen, smooth)
        if method == COUPLING:
            at, speed = (seen, 0.0, 0.0), (dx / dt, 0.0, 0.0)
            u = drawn(coupling, s[TOOL], at, speed, y, u, ORIGIN, dt)
            y, u, _ = pressed((stiffness, damping), shown, ORIGIN, X_AXIS, y, u, dt)
            f = coupling_force(coupling, at, speed, y, u)[0]
        elif method == CONTROLLER:
            forget(e, 0, seen < 0.0, s[FORGET], dt)
            f = control_axis(e, 0, wanted, dx, m, dt)
        elif method == BOUNDING:
            f = bound_axis(f, wanted, dx, s[DECLARED], dt)
        else:
            f = wanted
        # energy that neither the push nor anything else accounts for: it came out of the wall
        row[CREATED] = max(row[CREATED], 0.5 * m * v * v - push * (s[GAP] - x))
        if s[DECLARED] > 0.0:
            row[SPARED] = min(row[SPARED], spared - 0.25 * dt / s[DECLARED] * f * f)
        if k >= steps - watched:
            row[HIGHEST], row[LOWEST] = max(row[HIGHEST], x), min(row[LOWEST], x)
            row[MEAN] += x / watched
        if k < trace.shape[0]:
            trace[k, 0], trace[k, 1], trace[k, 2] = x, f, e.absorbed[0]
        x, v = x + p * v + h * (f - push), a * v + g * (f - push)


# scratch (3,) and count (1,): an account of energy
@entry("float64[::1], float64[:, ::1], intp, float64[::1], int64[::1], float64[:, ::1], float64[:, ::1]")
def drops_entry(settings, walls, method, scratch, count, out, trace):  # type: ignore[no-untyped-def]
    e = PortEnergy(scratch[0:1], scratch[1:2], scratch[2:3], count)
    for i in range(walls.shape[0]):
        drop(settings, walls[i, 0], walls[i, 1], method, e, out[i], trace)


# ---- a wall whose simulation is slower than the servo


@kernel
def filled_in(mode: int, newest: float, before: float, phase: float) -> float:
    """The force [N] at `phase` (0 .. 1) of a slow period, from the last two that were simulated; a wall never pulls."""
    if mode == INTERPOLATE:
        return before + phase * (newest - before)
    if mode == EXTRAPOLATE:
        return max(0.0, newest + phase * (newest - before))
    return newest


@entry("float64[::1], float64, intp, intp, float64[::1], float64[::1]")
def follow_entry(path, stiffness, ratio, mode, force, absorbed):  # type: ignore[no-untyped-def]
    """The device is led along a path [m], one point a tick; the wall is simulated every `ratio` ticks."""
    newest = before = 0.0
    for k in range(path.shape[0]):
        absorbed[k] = absorbed[k - 1] - force[k - 1] * (path[k] - path[k - 1]) if k > 0 else 0.0
        if k % ratio == 0:
            before, newest = newest, spring_wall(stiffness, 0.0, path[k], 0.0)
        force[k] = filled_in(mode, newest, before, (k % ratio) / ratio)


@entry("float64[::1], float64, intp, intp, float64, float64[:, ::1]")
def meet_entry(settings, stiffness, ratio, mode, start, trace):  # type: ignore[no-untyped-def]
    """The device is let go at `start` [m]; trace (ticks, 3): position, force, energy absorbed."""
    a, g, p, h = held_motion(settings[MASS], settings[DAMPING], settings[DT])
    x, v, f, absorbed = start, 0.0, 0.0, 0.0
    newest = before = spring_wall(stiffness, 0.0, x, 0.0)
    for k in range(trace.shape[0]):
        if k % ratio == 0:
            before, newest = newest, spring_wall(stiffness, 0.0, x, 0.0)
        f = filled_in(mode, newest, before, (k % ratio) / ratio)
        trace[k, 0], trace[k, 1], trace[k, 2] = x, f, absorbed
        u = f - settings[PUSH]
        dx = p * v + h * u
        absorbed -= f * dx
        x, v = x + dx, a * v + g * u
