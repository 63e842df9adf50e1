"""Forces of the contacts: reference 4.  Laws of the edge, by address, with what they keep for this contact.

n, t     normal out of the edge's body, tangent (-n_y, n_x) along the edge
r        from a body's centre of mass to the vertex;  W = (n, r x n) the row of the normal
C0, S0   -n.v_rel and t.v_rel;  m_eff = 1 / (W M^-1 W')
V the body of the vertex, E that of the edge: what the one gets, the other gives
"""

from palpate.haptics.contact_laws import SLIPS, call_friction, call_keeper, call_wall
from palpate.jit import kernel
from palpate.planar.bodies.nearness.gjk import turn
from palpate.planar.bodies.states import clear_laws
from palpate.planar.bodies.tables import NONE
from palpate.spatial.vectors import is_finite


@kernel
def bodies_of(polygons, contacts, row):
    """(V, E)."""
    return polygons.body[contacts.vertex[row]], polygons.body[contacts.edge[row]]


@kernel
def levers(motion, contacts, row, V, E):
    """r of either body."""
    x, y = contacts.point[row, 0], contacts.point[row, 1]
    return (x - motion.X[V, 0], y - motion.X[V, 1]), (x - motion.X[E, 0], y - motion.X[E, 1])


@kernel
def relative_velocity(motion, V, E, rV, rE):
    """Of the vertex to the point of E that is there."""
    v = motion.v
    x = (v[V, 0] - v[V, 2] * rV[1]) - (v[E, 0] - v[E, 2] * rE[1])
    y = (v[V, 1] + v[V, 2] * rV[0]) - (v[E, 1] + v[E, 2] * rE[0])
    return x, y


@kernel
def moment(r, n):
    """z of r x n."""
    return r[0] * n[1] - r[1] * n[0]


@kernel
def effective_mass(inverse_mass, V, E, rV, rE, n):
    """What a push along n feels of both bodies [kg]; of two that cannot move none."""
    a, b = moment(rV, n), moment(rE, n)
    inverse = inverse_mass[V, 0] + inverse_mass[E, 0] + inverse_mass[V, 2] * a * a + inverse_mass[E, 2] * b * b
    return 1.0 / inverse if inverse > 0.0 else 0.0


@kernel
def place_contact(polygons, motion, nearness, contacts, row):
    """Its point, god-object and normal in the world, from place and depth on its edge."""
    V, E = bodies_of(polygons, contacts, row)
    edge, i = contacts.edge[row], contacts.vertex[row]
    RV, RE = (nearness.turned[V, 0], nearness.turned[V, 1]), (nearness.turned[E, 0], nearness.turned[E, 1])
    x, y = turn(RV, polygons.vertex[i, 0], polygons.vertex[i, 1])
    n = turn(RE, polygons.normal[edge, 0], polygons.normal[edge, 1])
    contacts.point[row, 0], contacts.point[row, 1] = motion.X[V, 0] + x, motion.X[V, 1] + y
    contacts.normal[row, 0], contacts.normal[row, 1] = n
    d = contacts.depth[row]
    contacts.god[row, 0], contacts.god[row, 1] = contacts.point[row, 0] + d * n[0], contacts.point[row, 1] + d * n[1]


@kernel
def measure_speeds(polygons, motion, contacts, row):
    """C0 and S0."""
    V, E = bodies_of(polygons, contacts, row)
    rV, rE = levers(motion, contacts, row, V, E)
    x, y = relative_velocity(motion, V, E, rV, rE)
    nx, ny = contacts.normal[row, 0], contacts.normal[row, 1]
    contacts.approach[row], contacts.slide[row] = -(nx * x + ny * y), nx * y - ny * x


@kernel
def push(wrench, body, r, fx, fy):
    """A force at r, as a wrench about the centre."""
    wrench[body, 0] += fx
    wrench[body, 1] += fy
    wrench[body, 2] += r[0] * fy - r[1] * fx


@kernel
def contact_force(laws, contacts, row, mass_n, mass_t, dt):
    """(Fn, Ff) by the laws of its edge; what is not a number is a fault, and no force."""
    edge, d, C0 = contacts.edge[row], contacts.depth[row], contacts.approach[row]
    wall, keeper, friction = laws.wall[edge], laws.keeper[edge], laws.friction[edge]
    wall_setting, wall_state = laws.wall_setting[edge], contacts.wall_state[row]
    if keeper != 0:
        Fn = call_keeper(
            keeper, wall, wall_setting, wall_state, d, C0, dt, mass_n, laws.keeper_setting[edge],
            contacts.keeper_state[row],
        )  # fmt: skip
    else:
        Fn = call_wall(wall, d, C0, dt, mass_n, wall_setting, wall_state)
    Ff = 0.0
    if is_finite(Fn):
        Fn = max(Fn, 0.0)
        if friction != 0:
            state = contacts.friction_state[row]
            Ff = call_friction(
                friction, contacts.travel[row], contacts.slide[row], Fn, dt, mass_t, laws.friction_setting[edge], state
            )
            contacts.slips[row] = 1 if state[SLIPS] > 0.5 else 0
    if not (is_finite(Fn) and is_finite(Ff)):
        contacts.fault = 1 + row
        contacts.faults += 1
        clear_laws(contacts, row)
        return 0.0, 0.0
    return Fn, Ff


@kernel
def apply_forces(polygons, motion, laws, contacts, dt):
    """Motion.contact: all contacts' forces, with the velocities after the impacts."""
    for b in range(motion.contact.shape[0]):
        motion.contact[b, 0] = motion.contact[b, 1] = motion.contact[b, 2] = 0.0
    for row in range(contacts.count):
        if contacts.state[row] == NONE:
            continue
        V, E = bodies_of(polygons, contacts, row)
        rV, rE = levers(motion, contacts, row, V, E)
        n = (contacts.normal[row, 0], contacts.normal[row, 1])
        t = (-n[1], n[0])
        mass_n = effective_mass(polygons.inverse_mass, V, E, rV, rE, n)
        mass_t = effective_mass(polygons.inverse_mass, V, E, rV, rE, t)
        Fn, Ff = contact_force(laws, contacts, row, mass_n, mass_t, dt)
        contacts.normal_force[row], contacts.friction_force[row] = Fn, Ff
        fx, fy = Fn * n[0] - Ff * t[0], Fn * n[1] - Ff * t[1]
        push(motion.contact, V, rV, fx, fy)
        push(motion.contact, E, rE, -fx, -fy)
