"""Loops of a device at a wall, sample by sample: the kernels of the experiments z-width and sync-vs-async.

The device is a mass with damping on one axis, m x'' = -b x' + f - push; the wall, any law of haptics/contact_laws.py,
fills x < 0 and only pushes.  A force is held for a period T, and the motion meanwhile is exact.  Remedies here see the
device in the air too, where the keepers of planar/keepers, which are of one contact, do not.

f on the device [N];  E energy that the wall absorbed [J].
"""

from __future__ import annotations

import math

import numpy as np

from palpate.haptics.contact_laws import call_wall, pushing
from palpate.haptics.passivity import PortEnergy, bound_axis, control_axis, forget, observe_axis
from palpate.haptics.virtual_coupling import coupling_force, drawn, pressed, shown_mass
from palpate.jit import Struct, block_loader, entry, kernel
from palpate.link.estimate import EXTRAPOLATE, INTERPOLATE
from palpate.planar.trial_kernels import clear, held_motion

# what a force is made with
NONE, COUPLING, CONTROLLER, BOUNDING = range(4)
X_AXIS = (1.0, 0.0, 0.0)
ORIGIN = (0.0, 0.0, 0.0)


class Loop(Struct):
    """Device, loop and protocol; what is zero is not used."""

    mass: float  # [kg]
    damping: float  # [N s/m]
    dt: float  # [s]
    push: float  # [N]
    gap: float  # [m]
    encoder: float  # step [m], 0: none
    smoothing: float  # share of a new velocity in the filtered one
    steps: int
    watched: int  # the last of them
    coupling_stiffness: float  # [N/m]
    coupling_damping: float  # [N s/m]
    tool: float  # [kg]
    declared: float  # damping that energy bounding counts on [N s/m]
    forget_s: float  # of the passivity controller
    method: int  # NONE, COUPLING, ...
    wall: int  # address of its law


load = block_loader((Loop, True), (PortEnergy, False))


@kernel
def wall_force(wall: int, setting: np.ndarray, state: np.ndarray, x: float, v: float, dt: float, mass: float) -> float:
    """The force on the device of the wall law at an address, which fills x < 0 and only pushes [N]."""
    if x < 0.0:
        force: float = pushing(call_wall(wall, -x, -v, dt, mass, setting, state))
        return force
    clear(state)
    return 0.0


@kernel
def drop(
    s: Loop, setting: np.ndarray, state: np.ndarray, e: PortEnergy, trace: np.ndarray
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """One drop on one wall; `trace` (steps, 3), if it has rows, gets position, force and energy.

    Returns the highest, lowest and mean position of the watched steps [m], the energy that no hand has given, and the
    lowest of energy bounding's sum [J].
    """
    m, dt, push, step = s.mass, s.dt, s.push, s.encoder
    a, g, p, h = held_motion(m, s.damping, dt)
    coupling = (s.coupling_stiffness, s.coupling_damping)
    shown = shown_mass(coupling, s.tool, dt)
    x, v = s.gap, 0.0
    before = step * math.floor(x / step + 0.5) if step > 0.0 else x
    f = smooth = spared = 0.0
    y, u = (before, 0.0, 0.0), ORIGIN
    e.absorbed[0] = e.lowest[0] = e.away_s[0] = 0.0
    clear(state)
    highest, lowest, mean, created, least = -math.inf, math.inf, 0.0, 0.0, 0.0
    for k in range(s.steps):
        seen = step * math.floor(x / step + 0.5) if step > 0.0 else x
        dx = seen - before
        before = seen
        smooth += s.smoothing * (dx / dt - smooth)
        observe_axis(e, 0, f, dx)
        spared += -f * dx + s.declared / dt * dx * dx
        wanted = wall_force(s.wall, setting, state, seen, smooth, dt, m)
        if s.method == COUPLING:
            at, speed = (seen, 0.0, 0.0), (dx / dt, 0.0, 0.0)
            u = drawn(coupling, s.tool, at, speed, y, u, ORIGIN, dt)
            y, u, _ = pressed((setting[0], setting[1]), shown, ORIGIN, X_AXIS, y, u, dt)
            f = coupling_force(coupling, at, speed, y, u)[0]
        elif s.method == CONTROLLER:
            forget(e, 0, seen < 0.0, s.forget_s, dt)
            f = control_axis(e, 0, wanted, dx, m, dt)
        elif s.method == BOUNDING:
            f = bound_axis(f, wanted, dx, s.declared, dt)
        else:
            f = wanted
        # energy that neither the push nor anything else accounts for: it came out of the wall
        created = max(created, 0.5 * m * v * v - push * (s.gap - x))
        if s.declared > 0.0:
            least = min(least, spared - 0.25 * dt / s.declared * f * f)
        if k >= s.steps - s.watched:
            highest, lowest = max(highest, x), min(lowest, x)
            mean += x / s.watched
        if k < trace.shape[0]:
            trace[k, 0], trace[k, 1], trace[k, 2] = x, f, e.absorbed[0]
        x, v = x + p * v + h * (f - push), a * v + g * (f - push)
    return highest, lowest, mean, created, least


@entry("intp, float64[:, ::1], float64[::1], float64[:, ::1], float64[:, ::1]")
def drops_entry(address, settings, state, out, trace):  # type: ignore[no-untyped-def]
    """A drop on the wall with each settings (n, SETTINGS); out (n, 5): see `drop`."""
    s, e = load(address)
    for i in range(settings.shape[0]):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = drop(s, settings[i], state, e, trace)


# ---- a wall whose simulation is slower than the servo


@kernel
def filled_in(mode: int, newest: float, before: float, phase: float) -> float:
    """The force [N] at `phase` (0 .. 1) of a slow period, from the last two that were simulated; a wall never pulls."""
    if mode == INTERPOLATE:
        return before + phase * (newest - before)
    if mode == EXTRAPOLATE:
        return max(0.0, newest + phase * (newest - before))
    return newest


@entry("float64[::1], intp, float64[::1], float64[::1], intp, intp, float64[::1], float64[::1]")
def follow_entry(path, wall, setting, state, ratio, mode, force, absorbed):  # type: ignore[no-untyped-def]
    """The device is led along a path [m], one point a tick; the wall is simulated every `ratio` ticks."""
    newest = before = 0.0
    for k in range(path.shape[0]):
        absorbed[k] = absorbed[k - 1] - force[k - 1] * (path[k] - path[k - 1]) if k > 0 else 0.0
        if k % ratio == 0:
            before, newest = newest, wall_force(wall, setting, state, path[k], 0.0, 0.0, 0.0)
        force[k] = filled_in(mode, newest, before, (k % ratio) / ratio)


@entry("intp, float64[::1], float64[::1], intp, intp, float64[:, ::1]")
def meet_entry(address, setting, state, ratio, mode, trace):  # type: ignore[no-untyped-def]
    """The device is let go at its gap; trace (ticks, 3): position, force, energy absorbed."""
    s, _ = load(address)
    a, g, p, h = held_motion(s.mass, s.damping, s.dt)
    x, v, f, absorbed = s.gap, 0.0, 0.0, 0.0
    newest = before = wall_force(s.wall, setting, state, x, 0.0, s.dt, s.mass)
    for k in range(trace.shape[0]):
        if k % ratio == 0:
            before, newest = newest, wall_force(s.wall, setting, state, x, 0.0, s.dt, s.mass)
        f = filled_in(mode, newest, before, (k % ratio) / ratio)
        trace[k, 0], trace[k, 1], trace[k, 2] = x, f, absorbed
        u = f - s.push
        dx = p * v + h * u
        absorbed -= f * dx
        x, v = x + dx, a * v + g * u
