"""Energy, momentum and centre of mass, over all trees of a model; true velocities, the drift of each tree put back."""

from palpate.dynamics.inertia import link_mass
from palpate.jit import kernel
from palpate.spatial.vectors import add, add_scaled, cross, dot, get3, get6, scale, sub, symmetric_times

ZERO = (0.0, 0.0, 0.0)


@kernel
def link_motion(m, w, i):
    """(mass, centre of mass in the world, its velocity, I about it, angular velocity) of link i."""
    mass, c, I = link_mass(m, w, i)
    omega, v = get6(w.V, i)
    velocity = add(get3(w.drift, m.root[i]), add(v, cross(omega, c)))
    return mass, add(get3(w.origin, m.root[i]), c), velocity, I, omega


@kernel
def energy(m, v, w):
    """(kinetic, potential) [J]: 1/2 v^T H v with the rotors of `armature`, and -sum m g.c with zero at the origin."""
    kinetic, potential = 0.0, 0.0
    gravity = (m.gravity[0], m.gravity[1], m.gravity[2])
    for i in range(1, m.parent.shape[0]):
        mass, c, u, I, omega = link_motion(m, w, i)
        kinetic += 0.5 * (mass * dot(u, u) + dot(omega, symmetric_times(I, omega)))
        potential -= mass * dot(gravity, c)
    for k in range(m.axis_v.shape[0]):
        rate = m.axis_ratio[k] * v[m.axis_v[k]]
        kinetic += 0.5 * m.armature[k] * rate * rate
    return kinetic, potential


@kernel
def center_of_mass(m, w):
    total, moment = 0.0, ZERO
    for i in range(1, m.parent.shape[0]):
        mass, c, _ = link_mass(m, w, i)
        total += mass
        moment = add_scaled(moment, mass, add(get3(w.origin, m.root[i]), c))
    return scale(1.0 / total, moment) if total > 0.0 else ZERO  # placed bodies have no mass


@kernel
def momentum(m, w, centre):
    """(angular about `centre`, linear)."""
    angular, linear = ZERO, ZERO
    for i in range(1, m.parent.shape[0]):
        mass, c, u, I, omega = link_motion(m, w, i)
        p = scale(mass, u)
        linear = add(linear, p)
        angular = add(angular, add(symmetric_times(I, omega), cross(sub(c, centre), p)))
    return angular, linear
