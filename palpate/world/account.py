"""The energy ledger: who did how much work in a step.

Between two velocities the kinetic energy of a body changes by impulse times mean velocity, exactly.  So every work here
is an impulse times the mean of the velocities before and after the step; what is then left of the change of energy was
made or lost by the step itself: positions taken along one velocity only, axes that turn, penetration taken out.

actuators   dt tau - (dt kv + dt^2 kp) (v+ - v): torques with the implicit springs and dampers of `hold`
hands       dt wrench, of `apply` and of devices
contacts    l of contact rows;  joints    l of ends, dry friction and connections
"""

from palpate.contact.rows import CONTACT
from palpate.contact.sweeps import relative
from palpate.dynamics.energy import energy
from palpate.dynamics.jacobian import body_frame
from palpate.dynamics.kinematics import link_twist, velocities
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add, cross, dot, get3, get6
from palpate.world.state import ACTUATORS, CONTACTS, FLUNG, HANDS, JOINTS, START, load

COUNTING = 2  # integer[LEDGER] once the first step has noted the energy at the start


@shared("void(intp)")
def note_start(address):
    """The energy before the first step that is counted."""
    m, w, _, _, _, s = load(address)
    if s.keeps_ledger != COUNTING:
        velocities(m, s.v, w)
        kinetic, potential = energy(m, s.v, w)
        s.ledger[START] = kinetic + potential
        s.keeps_ledger = COUNTING


@kernel
def power_of_wrench(m, w, s, b, v):
    """Of the wrench on body b, at velocities v [W]."""
    n, f = get6(s.wrenches, b)
    _, p = body_frame(m, w, b)
    omega, u = link_twist(m, w, m.body_link[b], v)
    return dot(n, omega) + dot(f, add(u, cross(omega, p)))


@shared("void(intp)")
def account(address):
    """Add the works of the step whose velocities are v_begin and v_next, both in the same axes.

    What is FLUNG has been counted on its way.
    """
    m, w, _, _, r, s = load(address)
    dt = s.dt
    for j in range(m.nv):
        s.mean[j] = 0.5 * (s.v_begin[j] + s.v_next[j])
    for k in range(m.axis_v.shape[0]):
        if s.way[s.tree[k]] != FLUNG:
            j = m.axis_v[k]
            change = s.v_next[j] - s.v_begin[j]
            work = (dt * s.torque[j] - (s.armature[k] - m.armature[k]) * change) * s.mean[j]
            s.work[j] += work
            s.ledger[ACTUATORS] += work
    for b in range(1, s.n_wrenches):
        if s.way[m.root[m.body_link[b]]] != FLUNG:
            s.ledger[HANDS] += dt * power_of_wrench(m, w, s, b, s.mean)
    for k in range(1, r.n_slots):  # mean twists of the slots
        link = r.slot_link[k]
        omega, u = get6(w.V, link)
        u = add(u, get3(w.drift, m.root[link]))
        for c in range(3):
            r.dW[6 * k + c] = 0.5 * (omega[c] + r.W[6 * k + c])
            r.dW[6 * k + 3 + c] = 0.5 * (u[c] + r.W[6 * k + 3 + c])
    for i in range(r.n_rows):
        u = relative(r, i, r.dW)
        s.ledger[CONTACTS if r.kind[i] == CONTACT else JOINTS] += dot(get3(r.lam, i), u)
