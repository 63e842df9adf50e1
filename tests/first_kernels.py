"""`python tests/first_kernels.py`: compiles what most tests need, on all cores, unless it is cached.

Two workers of pytest would come to it one after the other, and wait: of those that need a kernel one compiles it.
"""

from palpate import jit
from palpate.jit.starts.ahead import compiled_ahead
from palpate.runtime.page.early import AHEAD
from palpate.world.entries import steps

if __name__ == "__main__" and not jit.DISABLED:
    with compiled_ahead("palpate.runtime.page.early", "AHEAD"):
        for door in (*AHEAD, steps):
            door.warm()
