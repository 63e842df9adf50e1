"""Restitution that falls with the speed of the impact: a spring that yields.

    e = e_slow / sqrt(1 + approach / YIELD_M_S)

Loading goes along a spring k1; unloading along a stiffer one, k2 = k1 + s F_max, so e = sqrt(k1 / k2).  The largest
force of an impact at speed v is F_max = v sqrt(m k1), hence e = sqrt(w0 / (w0 + S v)): the second model of O. R. Walton
and R. L. Braun, Journal of Rheology 30, 1986.  The pair's coefficient is that of slow impacts; w0 / S, the speed at
which e has fallen to 0.71 of it, depends on mass and stiffness and is one number here.
"""

import math

from palpate.contact.laws import restitution_law

YIELD_M_S = 2.0  # w0 / S


@restitution_law
def walton(e, approach_m_s):
    """Bounces less the harder it hits."""
    return e / math.sqrt(1.0 + approach_m_s / YIELD_M_S)
