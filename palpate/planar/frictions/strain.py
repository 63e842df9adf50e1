"""The strain of Dahl's friction: what both forms share (reference on planar haptics 7.1 c).

V. Hayward and B. Armstrong 2000.  w adhesion point [m], x travel, z = x - w strain:

    w' = alpha |x'| z,   Ff = K z

The update, stable for any alpha:

    z = x_k - w_{k-1};   z <- z/(1 + alpha |x_k - x_{k-1}|);   w_k = x_k - z
"""

from palpate.jit import kernel

ADHESION, TRAVEL = 1, 2  # places in the state: w, and x of the sample before [m]


@kernel
def strained(x, travelled, level, slides, most, state):
    """z [m] with alpha = 1/level where it slides, else 0; never beyond `most`, as the normal force may have fallen."""
    z = x - state[ADHESION]
    if slides:
        z *= level / (level + abs(travelled)) if level > 0.0 else 0.0
    z = min(max(z, -most), most)
    state[ADHESION], state[TRAVEL] = x - z, x
    return z
