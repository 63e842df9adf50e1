"""Doors from Python to kernels of a lane."""

from palpate.jit import block_loader, entry
from palpate.planar.lane import Lane, next_pulse, over_scale, times_scale

load = block_loader((Lane, False))


@entry("float64, float64[::1], float64[::1], float64[::1]")
def scaled(s, x, times, over):
    """Both ways of the scale of motion."""
    times[0], times[1], times[2] = times_scale(s, (x[0], x[1], x[2]))
    over[0], over[1], over[2] = over_scale(s, (x[0], x[1], x[2]))


@entry("intp, float64[::1], float64, float64[::1]")
def pulse(address, struck, dt, felt):
    (a,) = load(address)
    felt[0], felt[1], felt[2] = next_pulse(a, (struck[0], struck[1], struck[2]), dt)
