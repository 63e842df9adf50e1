"""How fast the robot goes to its waypoint: the thesis' law, and the improved follower.  Mobile display, 4.5 and 4.7.

e = waypoint - robot
thesis    v = 0 within the stop interval; else vmax min(1, |e|/D_dec), along e
improved  v = 4 e + v_target, no dead band beyond 10 mm; v_target, the target's velocity, low-passed, in case 2 only
turning   k (phi* - phi) within +-wmax, 0 within 2 deg
"""

import math

from palpate.jit import kernel
from palpate.mobile.rates import clip, wrap


@kernel
def thesis_velocity(ex, ez, vmax, stop, slow):
    d = math.sqrt(ex * ex + ez * ez)
    if d < stop:
        return 0.0, 0.0
    v = vmax * min(1.0, d / slow) / d
    return v * ex, v * ez


@kernel
def improved_velocity(ex, ez, ahead, vmax, gain, dead):
    """ahead (vx, vz): the target's velocity."""
    d = math.sqrt(ex * ex + ez * ez)
    g = gain if d > dead else 0.0
    return capped(g * ex + ahead[0], g * ez + ahead[1], vmax)


@kernel
def capped(vx, vz, vmax):
    """The same direction, at most so fast."""
    v = math.sqrt(vx * vx + vz * vz)
    if v <= vmax:
        return vx, vz
    return vx * vmax / v, vz * vmax / v


@kernel
def turning(goal, phi, gain, wmax, dead):
    error = wrap(goal - phi)
    if abs(error) < dead:
        return 0.0
    return clip(gain * error, wmax)
