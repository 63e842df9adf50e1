"""Ready-made descriptions, as `palpate.models`: each function returns a frozen MultiBody to compile or put in a World.

    puma560()                        six-axis arm on a fixed base (Armstrong, Khatib & Burdick 1986)
    hrp2()                           humanoid of 32 joints on a free waist, 58 kg
    human(height=1.75, mass=75)      avatar with spherical joints, 47 freedoms, any stature (de Leva 1996)
    ball(), box(), capsule(), cylinder()   solids; fixed=True pins one to the world, else it moves freely
    plane()                          a wall, a floor or a slope; always fixed

Each takes `at` [m] and `R` (a plane its `normal`) and has the posture "start": where it is when a world begins.
"""

from palpate.model.library.hrp2 import hrp2
from palpate.model.library.human import human
from palpate.model.library.primitives import ball, box, capsule, cylinder, plane
from palpate.model.library.puma560 import puma560

__all__ = ["ball", "box", "capsule", "cylinder", "hrp2", "human", "plane", "puma560"]
