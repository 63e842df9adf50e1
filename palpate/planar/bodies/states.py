"""The rows of the contacts and their states: reference 3.1.

NONE        -> COLLIDING    d > 0, C0 > v_threshold: an impact of this step
            -> CONTINUOUS   d > 0 but departing or grazing (an invalid impact state): no impulse
COLLIDING   -> CONTINUOUS   the next step, if d > 0 still; its penalty force is there from the first step
CONTINUOUS  -> NONE         d <= 0: all that its laws kept is cleared
"""

from palpate.haptics.contact_laws import STATE
from palpate.jit import kernel
from palpate.planar.bodies.nearness.god_object import along_edge, follow, outside
from palpate.planar.bodies.tables import COLLIDING, CONTINUOUS, MAX_CONTACTS, NONE


@kernel
def clear_laws(contacts, row):
    """What its laws kept."""
    for k in range(STATE):
        contacts.wall_state[row, k] = 0.0
        contacts.friction_state[row, k] = 0.0
        contacts.keeper_state[row, k] = 0.0
    contacts.slips[row] = 0


@kernel
def clear_contact(contacts, row):
    contacts.state[row] = NONE
    contacts.depth[row] = contacts.approach[row] = contacts.slide[row] = contacts.travel[row] = 0.0
    contacts.normal_force[row] = contacts.friction_force[row] = contacts.absorbed[row] = 0.0
    contacts.impulse[row] = contacts.friction_impulse[row] = 0.0
    clear_laws(contacts, row)


@kernel
def forget_edge(contacts, edge):
    """After the laws of an edge were written: what its contacts kept was another law's.  Below 0: of all edges."""
    for row in range(contacts.count):
        if contacts.state[row] != NONE and (edge < 0 or contacts.edge[row] == edge):
            clear_laws(contacts, row)


@kernel
def contact_of(polygons, contacts, vertex, body):
    """The row in which a vertex touches a body, or -1."""
    for row in range(contacts.count):
        if contacts.state[row] != NONE and contacts.vertex[row] == vertex and polygons.body[contacts.edge[row]] == body:
            return row
    return -1


@kernel
def begin_contact(polygons, contacts, vertex, edge, p):
    """A row for a vertex that came in by an edge, p in the axes of the edge's body; False: it is none after all."""
    edge, _ = follow(polygons, edge, p)
    if edge < 0:
        return False
    row = 0
    while row < contacts.count and contacts.state[row] != NONE:
        row += 1
    if row == MAX_CONTACTS:
        contacts.lost += 1
        return False
    contacts.count = max(contacts.count, row + 1)
    clear_contact(contacts, row)
    contacts.state[row] = COLLIDING  # or not: `new_state` says, once it is known how fast it comes
    contacts.vertex[row], contacts.edge[row] = vertex, edge
    contacts.depth[row], contacts.along[row] = -outside(polygons, edge, p), along_edge(polygons, edge, p)
    return True


@kernel
def go_on(polygons, laws, contacts, row, p):
    """The next sample of a contact that is CONTINUOUS: its god-object follows p, or it ends."""
    before = contacts.edge[row]
    edge, way = follow(polygons, before, p)
    if edge < 0:
        clear_contact(contacts, row)
        return
    s = along_edge(polygons, edge, p)
    contacts.travel[row] += s + way - contacts.along[row]
    contacts.edge[row], contacts.along[row], contacts.depth[row] = edge, s, -outside(polygons, edge, p)
    contacts.impulse[row] = contacts.friction_impulse[row] = 0.0
    if edge != before and not same_laws(laws, edge, before):
        clear_laws(contacts, row)


@kernel
def same_laws(laws, a, b):
    return laws.wall[a] == laws.wall[b] and laws.friction[a] == laws.friction[b] and laws.keeper[a] == laws.keeper[b]


@kernel
def new_state(rules, laws, contacts, row):
    """Of a contact that began in this step."""
    impact = contacts.approach[row] > rules.v_threshold and laws.impulse[contacts.edge[row]] == 1
    contacts.state[row] = COLLIDING if impact else CONTINUOUS
