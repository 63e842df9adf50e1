"""The rest of a step by another integrator than the usual one, as a routine: only a world that asks for it loads it."""

from palpate.jit.routines import routine
from palpate.world.runge_kutta import runge_kutta_steps


@routine
def runge_kutta_step(address):
    """1, or 0 if the world stopped.  It begins the step anew, which changes nothing."""
    return runge_kutta_steps(address, 1)
