"""The most restitution that pays for the spring it leaves behind: reference 3.3.

When a contact is seen it is already up to v T deep: its spring starts with 1/2 K d^2 that nobody paid for, and the
first held force of a sample-estimate-hold is twice as strong.  An impulse takes (1 - e^2) 1/2 m v^2; with
kappa = K T^2 / m the two balance where 1 - e^2 = (1 + 2 e) kappa.
"""

from __future__ import annotations

import math

from palpate.jit import kernel


@kernel
def restitution_bound(K, dt, mass):
    """e_max of a contact of stiffness K [N/m] between bodies of effective mass `mass` [kg] along its normal."""
    kappa = K * dt * dt / mass
    return min(max(math.sqrt(1.0 - kappa + kappa * kappa) - kappa, 0.0), 1.0)
