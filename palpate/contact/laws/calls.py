"""How the step asks for a law: inline where it is the built-in one, through its address otherwise."""

from palpate.contact.laws.coulomb import coulomb_mu
from palpate.jit import kernel
from palpate.jit.laws import call_law2, call_law4

MU_LARGEST = 1e6


@kernel
def friction_of(law, mu_static, mu_sliding, slip_m_s, normal_impulse_Ns):
    """law: address, or 0 for `coulomb`."""
    if law == 0:
        return coulomb_mu(mu_static, mu_sliding, slip_m_s)
    return call_law4(law, mu_static, mu_sliding, slip_m_s, normal_impulse_Ns)


@kernel
def restitution_of(law, e, approach_m_s):
    """law: address, or 0 for `constant`."""
    if law == 0:
        return e
    return call_law2(law, e, approach_m_s)


@kernel
def is_friction(mu):
    return 0.0 <= mu <= MU_LARGEST  # a NaN is not


@kernel
def is_restitution(e):
    return 0.0 <= e <= 1.0
