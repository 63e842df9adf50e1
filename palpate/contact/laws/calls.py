"""How the step asks for a law: inline where it is the built-in one, through its address otherwise."""

from palpate.contact.laws.coulomb import coulomb_mu
from palpate.jit import kernel
from palpate.jit.laws import call_law

MU_LARGEST = 1e6


@kernel
def friction_of(law, mu_static, mu_sliding, slip_m_s, normal_impulse_Ns, state):
    """law: address, or 0 for `coulomb`; state: the contact's row for it."""
    if law == 0:
        return coulomb_mu(mu_static, mu_sliding, slip_m_s)
    return call_law(law, (mu_static, mu_sliding, slip_m_s, normal_impulse_Ns), state)


@kernel
def restitution_of(law, e, approach_m_s, state):
    """law: address, or 0 for `constant`; state: the contact's row for it."""
    if law == 0:
        return e
    return call_law(law, (e, approach_m_s), state)


@kernel
def is_friction(mu):
    return 0.0 <= mu <= MU_LARGEST  # a NaN is not


@kernel
def is_restitution(e):
    return 0.0 <= e <= 1.0
