"""The depth that a wall holds for a period (reference on planar haptics 4.1).

ZOH   d                                            sampled and held: acts as a damper of -K T/2
SEH   d~ = 2 d_k - 1.5 d_{k-1} + 0.5 d_{k-2}       sample, estimate, hold (R. Ellis, N. Sarkar, M. Jenkins 1997)

SEH predicts the mean depth of the coming period and corrects the error of the one before.  Its loss is of fourth order
in the angle that a motion turns through in a period; above a quarter of the sample rate it is active.  The depths
before a contact count as 0 ("clipped" history): with the signed gap instead a bounce can gain.
"""

from palpate.jit import kernel

ZOH, SEH = 0.0, 1.0  # as a setting
HISTORY = 2  # numbers of a wall's state, the first ones, that the hold keeps: d_{k-1}, d_{k-2}


@kernel
def held_depth(hold, depth, state):
    """d* [m]: as it is, or estimated; notes the depth."""
    d = 2.0 * depth - 1.5 * state[0] + 0.5 * state[1] if hold > 0.5 else depth
    state[1] = state[0]
    state[0] = depth
    return d
