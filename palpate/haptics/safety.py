"""The last stage before a hand: no force above the device's limit, none that rises faster than allowed, never a NaN."""

import math

from palpate.jit import kernel
from palpate.spatial.vectors import add, dot, is_finite, scale, sub

BELOW_ONE = 1.0 - 1e-15  # rounding must not lift a scaled force above its limit


@kernel
def limit_norm(force, most):
    """(force scaled to at most `most` [N] with its direction kept, whether it was); a NaN becomes zero."""
    square = dot(force, force)
    if not is_finite(square):
        return (0.0, 0.0, 0.0), True
    if square <= most * most:
        return force, False
    return scale(BELOW_ONE * most / math.sqrt(square), force), True


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
