"""Stribeck friction: from static to sliding as slip begins, smoothly.

    mu = mu_sliding + (mu_static - mu_sliding) exp(-(slip / STRIBECK_M_S)^2)

The falling part of Stribeck's curve (R. Stribeck, Zeitschrift des VDI 46, 1902) in the Gaussian form used for control
(B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, Automatica 30, 1994, with exponent 2).  The rising, viscous part
is left out: it needs a viscosity, which a pair of materials here does not have.
"""

import math

from palpate.contact.laws import friction_law

STRIBECK_M_S = 0.01  # the fall is nearly over at twice this slip; dry metals: 1 to 50 mm/s


@friction_law
def stribeck(mu_static, mu_sliding, slip_m_s, normal_impulse_Ns):
    """Static at rest, sliding well above 10 mm/s, smooth between."""
    x = slip_m_s / STRIBECK_M_S
    return mu_sliding + (mu_static - mu_sliding) * math.exp(-x * x)
