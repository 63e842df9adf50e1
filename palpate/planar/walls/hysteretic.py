"""Springs that end on blocks with friction, beside one that ends on the ground: a wall that loses energy each cycle.

Reference on planar haptics 6.2; M. Goldfarb and J. Wang 1999; Maxwell-slip elements, their blocks without inertia:

    F_i = k_i (d* - s_i);   |F_i| > f_i:  F_i = +-f_i,  s_i = d* - F_i/k_i        s_i where block i is
    Fn  = K_0 d* + sum F_i + B C0

A closed cycle of amplitude A loses 4 f_i (A - f_i/k_i) in element i.  The stiffness K of the settings is that of all
springs together, which is felt at first; k_i = share_i K and K_0 = (1 - sum share) K is what is left once all blocks
slide, so that a rest lies deeper than F/K.  Passive as SEH is: each contact of a free mass takes at least what it gives
up to K T^2/m = 0.5.

share_i   of element i in K; 0: there is none
slip_i_N  f_i, at which its block slides [N]
hold      0 ZOH, 1 SEH
"""

from palpate.haptics.contact_laws import wall_law
from palpate.planar.walls.hold import HISTORY, held_depth

ELEMENTS = 5
FIRST_SHARE, FIRST_SLIP, HOLD = 2, 2 + ELEMENTS, 2 + 2 * ELEMENTS  # places of settings

# The reference's two, at K = 2500 N/m: many elements, which is the default, and few.
MANY = {f"share_{i + 1}": 0.16 for i in range(ELEMENTS)} | {
    f"slip_{i + 1}_N": f for i, f in enumerate((0.05, 0.15, 0.40, 0.90, 1.60))
}
FEW = {f"share_{i + 1}": share for i, share in enumerate((1 / 6, 1 / 6, 1 / 6, 0.0, 0.0))} | {
    f"slip_{i + 1}_N": f for i, f in enumerate((0.2, 0.6, 1.5, 0.0, 0.0))
}


@wall_law(passive=True, stiffness_N_m=2500.0, damping_Ns_m=0.0, **MANY, hold=1.0)
def hysteretic(depth, approach, dt, mass, setting, state):
    """Fn = K_0 d* + sum F_i + B C0."""
    K, d = setting[0], held_depth(setting[HOLD], depth, state)
    K_0, force = K, setting[1] * approach
    for i in range(ELEMENTS):
        k, f = setting[FIRST_SHARE + i] * K, setting[FIRST_SLIP + i]
        if k <= 0.0:
            continue
        F = k * (d - state[HISTORY + i])
        if abs(F) > f:
            F = f if F > 0.0 else -f
            state[HISTORY + i] = d - F / k
        K_0 -= k
        force += F
    return K_0 * d + force
