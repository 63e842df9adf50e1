"""The doors from Python to the step."""

from palpate.jit import entry
from palpate.world.step import step


@entry("intp, intp")
def steps(address, n):
    """n steps; returns how many were done, fewer if the world stopped."""
    for k in range(n):
        if not step(address):
            return k
    return n
