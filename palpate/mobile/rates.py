"""Chance and rates that the models of the mobile display share.

due    a rate that need not divide the tick rate: event j is at the first tick k with k >= j tick_hz / rate_hz, so that
       n ticks have n rate_hz / tick_hz of them, whatever n is.  Mobile display, acceptance 37.
s      any Struct with a field `random: int`, which random_state(seed) begins
"""

import math

from palpate.jit import kernel
from palpate.link.impair import next_uniform


@kernel
def due(k, rate_hz, tick_hz):
    """Whether tick k is one of a slower rate; tick 0 is."""
    return k == 0 or (k * rate_hz) // tick_hz != ((k - 1) * rate_hz) // tick_hz


@kernel
def normal(s):
    """The next number of a normal distribution with mean 0 and deviation 1.  Box and Muller 1958."""
    u, v = 1.0 - next_uniform(s), next_uniform(s)
    return math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)


@kernel
def exponential(s, mean):
    return -mean * math.log(1.0 - next_uniform(s))


@kernel
def clip(x, limit):
    """x within +-limit."""
    return min(max(x, -limit), limit)


@kernel
def wrap(angle):
    """The same angle within (-pi, pi]."""
    if -math.pi < angle <= math.pi:
        return angle
    return math.pi - (math.pi - angle) % (2.0 * math.pi)
