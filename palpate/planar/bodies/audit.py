"""Where the energy goes: reference 5; every step, always.

W_s   += f_s.dX            of each source and of the contacts, with the increment of this step
W_imp += T(v+) - T(v-)     of impacts, never above 0
invariant 1   |T - T_0 - sum W_s - W_imp| <= 1e-9 max(1 J, gross),  gross = sum |W_s|:  rounding alone
E_c   += -F_c.(how its two bodies moved there)      what a contact took; below 0 it has created energy
"""

from palpate.jit import kernel
from palpate.planar.bodies.forces import bodies_of, levers, moment
from palpate.planar.bodies.integrate import kinetic_energy
from palpate.planar.bodies.tables import NONE, SOURCES


@kernel
def work_of(motion, wrench, row, body):
    """Of a wrench on a body in this step [J]."""
    moved = motion.moved
    return wrench[row, 0] * moved[body, 0] + wrench[row, 1] * moved[body, 1] + wrench[row, 2] * moved[body, 2]


@kernel
def count_works(polygons, motion, audit):
    """After `move`: the works of this step, and invariant 1."""
    n = motion.X.shape[0]
    for b in range(1, n):
        if polygons.inverse_mass[b, 0] == 0.0 and polygons.inverse_mass[b, 2] == 0.0:
            continue
        for s in range(SOURCES):
            W = work_of(motion, motion.applied, s * n + b, b)
            audit.work[s] += W
            audit.gross += abs(W)
        W = work_of(motion, motion.contact, b, b)
        audit.contacts += W
        audit.gross += abs(W)
    audit.kinetic = kinetic_energy(polygons, motion)
    total = audit.kinetic_start + audit.impulses + audit.contacts
    for s in range(SOURCES):
        total += audit.work[s]
    audit.error = audit.kinetic - total
    audit.worst = max(audit.worst, abs(audit.error) / max(1.0, audit.gross))


@kernel
def levers_before(motion, contacts, row, V, E):
    """r of either body when the forces were given: before the last step."""
    rV, rE = levers(motion, contacts, row, V, E)
    m = motion.moved
    return (rV[0] + m[V, 0], rV[1] + m[V, 1]), (rE[0] + m[E, 0], rE[1] + m[E, 1])


@kernel
def observe_contacts(polygons, motion, contacts, audit):
    """E_c of each contact, after `move`."""
    m = motion.moved
    for row in range(contacts.count):
        if contacts.state[row] == NONE:
            continue
        V, E = bodies_of(polygons, contacts, row)
        rV, rE = levers_before(motion, contacts, row, V, E)
        n = (contacts.normal[row, 0], contacts.normal[row, 1])
        Fn, Ff = contacts.normal_force[row], contacts.friction_force[row]
        f = (Fn * n[0] + Ff * n[1], Fn * n[1] - Ff * n[0])
        W = f[0] * (m[V, 0] - m[E, 0]) + f[1] * (m[V, 1] - m[E, 1])
        W += moment(rV, f) * m[V, 2] - moment(rE, f) * m[E, 2]
        contacts.absorbed[row] -= W
        audit.lowest = min(audit.lowest, contacts.absorbed[row])


@kernel
def restart_audit(polygons, motion, audit):
    """From here on."""
    audit.kinetic = audit.kinetic_start = kinetic_energy(polygons, motion)
    audit.impulses = audit.contacts = audit.gross = audit.error = audit.worst = 0.0
    audit.lowest = audit.ended = 0.0
    for s in range(SOURCES):
        audit.work[s] = 0.0
