"""Limits on the force to a hand: its length, how fast it rises, and how warm it may make the motors.  Never a NaN.

The kernels of the last stage before a device; haptics/guard.py puts them in order.

    length   F <- F min(1, F_max / |F|)                           direction kept, never clipped by axis
    growth   |F - c| <= most, c the point of the segment from 0 to the last force that is nearest to the wanted one:
             falling and letting go are free, growing and turning are not
    heat     m' = (|F|^2 - m) / T                                 mean square over a memory T, such as 10 s
             |F| <= F_max at sqrt(m) <= WARM F_cont, falling linearly to F_cont at sqrt(m) = F_cont: so sqrt(m) never
             exceeds F_cont, and a force that goes on falls to it at least as fast as
             |F| - F_cont ~ exp(-k t),  k = (1 + (F_max/F_cont - 1) / (1 - WARM)) / T
"""

import math

from palpate.jit import kernel
from palpate.spatial.vectors import add, dot, finite3, is_finite, scale, sub

BELOW_ONE = 1.0 - 2e-15  # rounding must not lift a force above its limit, in whatever order its length is summed
# Of the continuous force: from here on the limit comes down.  Half of the heat is left then, so that it comes down
# gently: from 8.5 to 1.4 N at 60 N/s at most, and with a time constant of 0.6 s in the end.
WARM = 0.7
SMALL = 1e-160  # brings a finite force whose square overflows back into range


@kernel
def limit_norm(force, most):
    """(force scaled to at most `most` [N] with its direction kept, whether it was); a NaN becomes zero."""
    square, inside = dot(force, force), BELOW_ONE * most
    if not is_finite(square):
        if not finite3(force):
            return (0.0, 0.0, 0.0), True
        if not is_finite(most):
            return force, False
        force = scale(SMALL, force)
        square = dot(force, force)
    elif square <= inside * inside:
        return force, False
    return scale(inside / math.sqrt(square), force), True


@kernel
def limit_rise(force, before, most):
    """(force whose length exceeds the one before by at most `most` [N], whether it was held back); falling is free."""
    wanted, had = math.sqrt(dot(force, force)), math.sqrt(dot(before, before))
    if wanted <= had + most:
        return force, False
    # towards the wanted force as far as the rise allows
    step = sub(force, before)
    length = math.sqrt(dot(step, step))
    moved = add(before, scale(min(1.0, most / length), step))
    return moved, True


@kernel
def limit_growth(force, before, most):
    """(force that lets go of the one before at will and grows from there by at most `most` [N], whether held back).

    Never longer than the wanted one.  Unlike limit_rise it does not let a force turn round at once: from 5 N to the
    right to 5 N to the left it falls to nothing and rises from there.
    """
    had = dot(before, before)
    share = min(max(dot(force, before) / had, 0.0), 1.0) if had > 0.0 else 0.0
    kept = scale(share, before)  # what of the force before may stay
    step = sub(force, kept)
    length = math.sqrt(dot(step, step))
    if length <= most:
        return force, False
    return add(kept, scale(most / length, step)), True


@kernel
def warmed(mean_square, force, memory, dt):
    """The mean square [N^2] over a memory [s] after `force` has been shown for dt [s]."""
    return mean_square + min(1.0, dt / memory) * (dot(force, force) - mean_square)


@kernel
def limit_by_heat(mean_square, continuous, most):
    """The largest force [N] that motors as warm as this may make; `continuous` infinite: heat does not matter."""
    if not continuous < most:
        return most
    warmth = math.sqrt(mean_square) / continuous
    spare = min(max((1.0 - warmth) / (1.0 - WARM), 0.0), 1.0)
    return continuous + spare * (most - continuous)
