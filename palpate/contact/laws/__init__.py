"""Laws of friction and restitution, one per file: compiled functions that the step calls by address.

A friction law gives the coefficient of a contact for this step, a restitution law that of an impact:

    mu = law(mu_static, mu_sliding, slip_m_s, normal_impulse_Ns)       0 <= mu <= 1e6
    e  = law(e, approach_m_s)                                          0 <= e <= 1

mu_static, mu_sliding and e are those of the pair of materials; slip and approach are speeds (>= 0) at the beginning of
the step; the normal impulse is that of the last step, 0 for a new contact.  Whatever coefficient a law gives, the
solver keeps the exact cone, so friction never creates energy.  What is outside the bounds stops the world.

With one argument more, `state`, a law has four numbers of its own at every contact: zero for a new one, then as the law
left them.

A new law: one file here and one line below, or an entry point of the group "palpate.laws" in another package.
"""

from __future__ import annotations

from collections.abc import Callable

from palpate.jit.laws import NUMBER, Law, law
from palpate.registry import Registry, find

LAWS: Registry = {
    "coulomb": (
        "palpate.contact.laws.coulomb:coulomb",
        "friction: static at rest, sliding when it slips (the default)",
    ),
    "stribeck": ("palpate.contact.laws.stribeck:stribeck", "friction: falls smoothly from static to sliding with slip"),
    "constant": ("palpate.contact.laws.constant:constant", "restitution: the same at every speed (the default)"),
    "walton": (
        "palpate.contact.laws.walton:walton",
        "restitution: falls with the speed of the impact, as solids yield",
    ),
}

FRICTION, RESTITUTION = "friction", "restitution"
ARGUMENTS = {
    FRICTION: ("mu_static", "mu_sliding", "slip_m_s", "normal_impulse_Ns"),
    RESTITUTION: ("e", "approach_m_s"),
}
BUILT_IN = {FRICTION: "coulomb", RESTITUTION: "constant"}  # part of the step itself: address 0


def friction_law(function: Callable[..., float]) -> Law:
    """Make a function of (mu_static, mu_sliding, slip_m_s, normal_impulse_Ns) a friction law for `World`.

    It is compiled: it may use `math` and other laws' kernels, but not allocate or raise.  With a fifth argument,
    `state`, it keeps four numbers at every contact.  It returns mu, between 0 and 1e6; anything else stops the world.
    """
    return law(len(ARGUMENTS[FRICTION]))(function)


def restitution_law(function: Callable[..., float]) -> Law:
    """Make a function of (e, approach_m_s) a restitution law for `World`; it returns e, between 0 and 1.

    With a third argument, `state`, it keeps four numbers at every contact.
    """
    return law(len(ARGUMENTS[RESTITUTION]))(function)


def find_law(kind: str, which: str | Law) -> Law:
    """A law of a kind, by its name or as it is."""
    found = find(LAWS, "laws", which) if isinstance(which, str) else which
    if not isinstance(found, Law):
        raise ValueError(f"{kind}_law must be a name or made with @{kind}_law, got {type(found).__name__}")
    if found.takes != (NUMBER,) * len(ARGUMENTS[kind]):
        wanted = ", ".join(ARGUMENTS[kind])
        raise ValueError(f"the law {found.name!r} is no {kind} law: it must be a function of ({wanted})")
    return found


def law_address(kind: str, found: Law) -> int:
    """What the step calls: 0 for the one that is part of it."""
    return 0 if found is find(LAWS, "laws", BUILT_IN[kind]) else found.address
