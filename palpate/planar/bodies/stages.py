"""The two stages of a step of the planar bodies, between which a servo step computes its command: reference 1.10, 10.1.

    contact_stage   d and v of step k -> impulses -> forces        Motion.contact, Motion.struck, Contacts
    motion_stage    all forces, held -> X and v of step k + 1      audit

Called with the address of a Block that begins with the parts of tables.PARTS.
"""

from palpate.jit import entry, kernel, shared
from palpate.planar.bodies.audit import count_works, observe_contacts, restart_audit
from palpate.planar.bodies.forces import apply_forces, bodies_of, measure_speeds, place_contact
from palpate.planar.bodies.impacts.strike import strike
from palpate.planar.bodies.integrate import move
from palpate.planar.bodies.nearness.proximity import forget_pairs, look, look_is_due, put_here, turn_bodies
from palpate.planar.bodies.nearness.vertex_edge import find_contacts, seen, seen_from
from palpate.planar.bodies.states import clear_contact, forget_edge, go_on, new_state
from palpate.planar.bodies.tables import (
    COLLIDING,
    CONTINUOUS,
    HAND,
    MAX_CONTACTS,
    NONE,
    load_all,
    load_bodies,
)
from palpate.spatial.vectors import get3, put3

TRACED = 17  # numbers of a body in a step


@shared("void(intp, float64)")
def look_stage(address, dt):
    """Level 1, when it is due."""
    polygons, motion, _laws, _contacts, _audit, rules, nearness, _impact, _start = load_all(address)
    look(polygons, motion, rules, nearness, dt)


@shared("void(intp)")
def find_stage(address):
    """Level 2: contacts that last or end, and new ones."""
    polygons, motion, laws, contacts, audit, rules, nearness, _impact, _start = load_all(address)
    for row in range(contacts.count):
        if contacts.state[row] == COLLIDING:
            contacts.state[row] = CONTINUOUS
    # First the new ones: a vertex that comes back out through something thin still has its contact, and begins none.
    find_contacts(polygons, motion, nearness, contacts)
    last = -1
    for row in range(contacts.count):
        if contacts.state[row] == CONTINUOUS:
            V, E = bodies_of(polygons, contacts, row)
            p = seen(polygons, seen_from(motion, nearness, V, E), contacts.vertex[row])
            taken = contacts.absorbed[row]
            go_on(polygons, laws, contacts, row, p)
            if contacts.state[row] == NONE:
                audit.ended += taken
        last = row if contacts.state[row] != NONE else last
    contacts.count = last + 1
    for row in range(contacts.count):
        if contacts.state[row] != NONE:
            place_contact(polygons, motion, nearness, contacts, row)
            measure_speeds(polygons, motion, contacts, row)
            if contacts.state[row] == COLLIDING:
                new_state(rules, laws, contacts, row)


@shared("void(intp, float64)")
def strike_stage(address, dt):
    """Impulses of this step's impacts."""
    polygons, motion, laws, contacts, audit, rules, _nearness, impact, _start = load_all(address)
    strike(polygons, motion, laws, contacts, rules, audit, impact, dt)
    for row in range(contacts.count):
        if contacts.state[row] != NONE:
            measure_speeds(polygons, motion, contacts, row)


@shared("void(intp, float64)")
def contact_stage(address, dt):
    """Detect, resolve impacts, compute forces: at the bodies' poses and velocities now."""
    polygons, motion, laws, contacts, _audit, rules, nearness, _impact, _start = load_all(address)
    contacts.fault = 0
    turn_bodies(motion, nearness)
    if look_is_due(polygons, motion, rules, nearness, dt):
        look_stage(address, dt)
    if nearness.n_active > 0 or contacts.count > 0:
        find_stage(address)
    for b in range(motion.struck.shape[0]):
        motion.struck[b, 0] = motion.struck[b, 1] = motion.struck[b, 2] = 0.0
    if collides(contacts):
        strike_stage(address, dt)
    apply_forces(polygons, motion, laws, contacts, dt)


@kernel
def collides(contacts):
    for row in range(contacts.count):
        if contacts.state[row] == COLLIDING:
            return True
    return False


@shared("void(intp, float64)")
def motion_stage(address, dt):
    """Move all bodies by dt under what pushes them, and say where the energy went."""
    polygons, motion, _laws, contacts, audit, _rules = load_bodies(address)
    move(polygons, motion, dt)
    count_works(polygons, motion, audit)
    observe_contacts(polygons, motion, contacts, audit)


@kernel
def put_bodies(address):
    """After X or v were written: nothing has moved, nothing touches yet, and the audit begins here."""
    polygons, motion, _laws, contacts, audit, _rules, nearness, _impact, _start = load_all(address)
    put_here(motion, nearness)
    forget_pairs(nearness)
    for row in range(MAX_CONTACTS):
        clear_contact(contacts, row)
    contacts.count = contacts.fault = 0
    restart_audit(polygons, motion, audit)


@shared("void(intp)")
def reset_bodies(address):
    """Back to the start, with no memory of what was; the laws stay as they are."""
    _polygons, motion, _laws, contacts, _audit, _rules, _nearness, _impact, start = load_all(address)
    for b in range(motion.X.shape[0]):
        for k in range(3):
            motion.X[b, k], motion.v[b, k] = start.X[b, k], start.v[b, k]
            motion.contact[b, k] = motion.struck[b, k] = motion.moved[b, k] = 0.0
    for row in range(motion.applied.shape[0]):
        for k in range(3):
            motion.applied[row, k] = 0.0
    contacts.lost = contacts.caught = contacts.faults = 0
    put_bodies(address)


@shared("void(intp, intp)")
def laws_changed(address, edge):
    """After the laws of an edge were written, or of all (-1): what contacts kept for the old ones is cleared."""
    _polygons, _motion, _laws, contacts, _audit, _rules = load_bodies(address)
    forget_edge(contacts, edge)


# ---- doors from Python


@kernel
def put_trace(address, body, row):
    """What world.Trace has of a step, into a row."""
    polygons, motion, _laws, contacts, audit, _rules = load_bodies(address)
    for i in range(3):
        row[i], row[3 + i] = motion.X[body, i], motion.v[body, i]
        row[6 + i], row[9 + i] = motion.contact[body, i], motion.struck[body, i]
    touching, slipping, depth, all_touching = 0, 0, 0.0, 0
    for k in range(contacts.count):
        if contacts.state[k] != NONE:
            all_touching += 1
            V, E = bodies_of(polygons, contacts, k)
            if body in (V, E):
                touching += 1
                slipping += contacts.slips[k]
                depth = max(depth, contacts.depth[k])
    row[12], row[13], row[14], row[15] = touching, slipping, depth, audit.kinetic
    row[16] = 1.0 if all_touching == 0 else 0.0


@entry("intp, float64, intp, intp, float64[:,::1], float64[:,::1]")
def step_entry(address, dt, steps, body, wrenches, trace):
    """Steps, with the hand's wrench on a body in each if there are any; `trace`, if it has rows, takes what it did."""
    _polygons, motion, _laws, _contacts, _audit, _rules = load_bodies(address)
    for k in range(steps):
        if k < wrenches.shape[0]:
            put3(motion.applied, HAND * motion.X.shape[0] + body, get3(wrenches, k))
        contact_stage(address, dt)
        motion_stage(address, dt)
        if k < trace.shape[0]:
            put_trace(address, body, trace[k])


@entry("intp, float64")
def contact_entry(address, dt):
    contact_stage(address, dt)


@entry("intp, float64")
def motion_entry(address, dt):
    motion_stage(address, dt)


@entry("intp")
def put_entry(address):
    put_bodies(address)


@entry("intp")
def reset_entry(address):
    reset_bodies(address)


@entry("intp, intp")
def laws_changed_entry(address, edge):
    laws_changed(address, edge)
