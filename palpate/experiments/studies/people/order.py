"""In which order conditions come: counterbalanced by a Williams design, so that each comes at each place, and after
each other one, equally often.  An even number of conditions needs as many participants, an odd one twice as many.

Williams: Experimental designs balanced for the estimation of residual effects.  Aust. J. Sci. Res. A 2, 1949.
"""

from __future__ import annotations

import numpy as np


def williams(n: int) -> list[list[int]]:
    """The rows of the design: orders of 0 .. n - 1."""
    zigzag = [k // 2 if k % 2 == 0 else n - (k + 1) // 2 for k in range(n)]  # 0, n-1, 1, n-2, ...
    rows = [[(place + shift) % n for place in zigzag] for shift in range(n)]
    return rows if n % 2 == 0 else rows + [row[::-1] for row in rows]


def order_of(participant: int, n: int) -> list[int]:
    """The conditions of a participant, who are numbered from 1."""
    rows = williams(n)
    return rows[(participant - 1) % len(rows)]


def generator(seed: int, participant: int, *what: int) -> np.random.Generator:
    """Chance of its own for each part of a study: what one part draws changes nothing in the others."""
    return np.random.default_rng([seed, participant, *what])
