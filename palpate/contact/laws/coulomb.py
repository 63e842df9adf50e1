"""Coulomb friction with two coefficients.

    mu = mu_static   where the slip is below SLIDING_M_S
         mu_sliding  above it

C. A. Coulomb, Theorie des machines simples, 1785: friction at rest may exceed friction in motion, and neither depends
on the speed.
"""

from palpate.contact.laws import friction_law
from palpate.jit import kernel

SLIDING_M_S = 1e-4  # slower is rest: what the solver leaves of a sticking contact, and creep, stay well below


@kernel
def coulomb_mu(mu_static, mu_sliding, slip_m_s):
    return mu_sliding if slip_m_s > SLIDING_M_S else mu_static


@friction_law
def coulomb(mu_static, mu_sliding, slip_m_s, normal_impulse_Ns):
    """Static at rest, sliding in motion."""
    return coulomb_mu(mu_static, mu_sliding, slip_m_s)
