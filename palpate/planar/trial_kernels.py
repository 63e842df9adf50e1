"""One mass against one law, sample by sample; the force is held for a period T, the motion meanwhile exact.

slide   m v' = F - n Ff              a friction law and a history of forces; Ff pushes against the sliding
press   m v' = -b v + n Fn - push    a wall law at x < 0, with or without a keeper; starts at rest at x = gap

n contacts that are alike, each feeling m/n.  Order of a step (reference on planar haptics 10.1): measure, impact,
forces from (x_k, v_k), motion.  A law's rows are zero when a contact begins.
"""

import math

from palpate.haptics.contact_laws import STATE, call_friction, call_keeper, call_wall, pushing
from palpate.jit import Struct, block_loader, entry, kernel

FORCE, ABSORBED = 2, 3  # columns of a press beside x, v
SLIPS = 3  # column of a slide beside x, v, Ff


class Press(Struct):
    """What is pressed, how, and how it is seen."""

    mass: float  # [kg]
    damping: float  # of the device [N s/m]
    dt: float  # [s]
    push: float  # towards the wall [N]
    gap: float  # at first [m]
    restitution: float  # of an impulse at the first sample of a contact; below 0: none
    encoder: float  # step of the position that is seen [m], 0: none
    smoothing: float  # share of a new difference in the velocity that is seen; 0: the true velocity is
    contacts: int
    wall: int  # addresses
    keeper: int  # 0: none


load_press = block_loader((Press, True))


@kernel
def held_motion(mass, damping, dt):
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
def clear(row):
    for i in range(STATE):
        row[i] = 0.0


@kernel
def seen_through(encoder, x):
    """A position [m] as an encoder of this step shows it."""
    return encoder * math.floor(x / encoder + 0.5) if encoder > 0.0 else x


@kernel
def kept_wall(wall, keeper, depth, approach, dt, mass, settings, states):
    """Fn >= 0 [N] of a wall, or of a keeper around it; rows 0 of settings and states are the wall's, 1 the keeper's."""
    if keeper != 0:
        f = call_keeper(keeper, wall, settings[0], states[0], depth, approach, dt, mass, settings[1], states[1])
    else:
        f = call_wall(wall, depth, approach, dt, mass, settings[0], states[0])
    return pushing(f)


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def press_entry(address, settings, states, trace):
    """trace (n, 4): x, v (before an impact), force on the mass, energy that the wall absorbed.

    Returns the first step in which a law gave what is not a number, or -1.
    """
    (s,) = load_press(address)
    a, g, p, h = held_motion(s.mass, s.damping, s.dt)
    x, v, f, absorbed, smooth = s.gap, 0.0, 0.0, 0.0, 0.0
    before, was_in = seen_through(s.encoder, x), False
    clear(states[0])
    clear(states[1])
    for k in range(trace.shape[0]):
        seen = seen_through(s.encoder, x)
        smooth += s.smoothing * ((seen - before) / s.dt - smooth)
        before = seen
        trace[k, 0], trace[k, 1], f = x, v, 0.0
        if seen < 0.0:
            if not was_in and s.restitution >= 0.0 and v < 0.0:
                v *= -s.restitution
            approach = -smooth if s.smoothing > 0.0 else -v
            f = s.contacts * kept_wall(
                s.wall, s.keeper, -seen, approach, s.dt, s.mass / s.contacts, settings, states
            )  # fmt: skip
            if not math.isfinite(f):
                return k
        elif was_in:
            clear(states[0])
            clear(states[1])
        was_in = seen < 0.0
        trace[k, FORCE], trace[k, ABSORBED] = f, absorbed
        dx = p * v + h * (f - s.push)
        absorbed -= f * dx
        x, v = x + dx, a * v + g * (f - s.push)
    return -1


@entry("intp, float64[::1], float64[::1], float64[::1], float64[::1], float64, float64, intp, float64, float64[:, ::1]")
def slide_entry(friction, setting, state, force, normal, mass, dt, contacts, start, trace):
    """trace (n, 4): x, v (at first as trace[0, 1] says), Ff of all, 1 while it slips; the first bad step or -1."""
    x, v = start, trace[0, 1]
    clear(state)
    for k in range(force.shape[0]):
        Ff = contacts * call_friction(friction, x - start, v, normal[k], dt, mass / contacts, setting, state)
        if not math.isfinite(Ff):
            return k
        trace[k, 0], trace[k, 1], trace[k, 2], trace[k, SLIPS] = x, v, Ff, state[0]
        after = v + dt / mass * (force[k] - Ff)
        x, v = x + 0.5 * dt * (v + after), after
    return -1


@entry("intp, float64[::1], float64[::1], float64[:, ::1], float64, float64, float64[::1]")
def wall_along_entry(wall, setting, state, path, dt, mass, force):
    """A wall led along a path (n, 2), depth and approach, one row a sample; force (n,).  The first bad step or -1."""
    clear(state)
    for k in range(path.shape[0]):
        f = call_wall(wall, path[k, 0], path[k, 1], dt, mass, setting, state)
        if not math.isfinite(f):
            return k
        force[k] = f
    return -1


@entry("intp, float64[::1], float64[::1], float64[:, ::1], float64, float64, float64[::1]")
def friction_along_entry(friction, setting, state, path, dt, mass, force):
    """A friction led along a path (n, 3), travel, slide and normal force; force (n,).  The first bad step or -1."""
    clear(state)
    for k in range(path.shape[0]):
        f = call_friction(friction, path[k, 0], path[k, 1], path[k, 2], dt, mass, setting, state)
        if not math.isfinite(f):
            return k
        force[k] = f
    return -1
