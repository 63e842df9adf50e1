"""Spring and damper, sampled and held (reference on planar haptics 6.2): Fn = K d + B C0.

The hold acts as a damper of -K T/2: an active wall, unless the device's own damping b > K T/2 + |B| (J. Colgate and
G. Schenkel, J. Robotic Systems 14, 1997).
"""

from palpate.haptics.contact_laws import wall_law


@wall_law(stiffness_N_m=2500.0, damping_Ns_m=0.0)
def zoh(depth, approach, dt, mass, setting, state):
    """Fn = K d + B C0."""
    return setting[0] * depth + setting[1] * approach
