"""The impacts of a step: which contacts take part, and what becomes of the velocities; reference 3.2 and 3.3.

All contacts with d > 0 that the colliding ones feel take part: those of this step with their restitution, bounded by
what their springs will give (3.3, `first_push_bound`, `strike`), persistent ones with 0.

W = (n, r x n) a contact's row of each of its two bodies;  G = W M^-1 W';  g = W v;  v+ = v + M^-1 W' impulse
"""

from palpate.jit import kernel
from palpate.planar.bodies.forces import bodies_of, effective_mass, levers, moment, push
from palpate.planar.bodies.impacts.frictional import frictional
from palpate.planar.bodies.impacts.poisson import poisson
from palpate.planar.bodies.impacts.restitution import restitution_bound
from palpate.planar.bodies.integrate import kinetic_energy
from palpate.planar.bodies.tables import COLLIDING, FRICTIONAL, NONE

TRIES = 8  # shares of restitution: all, none, then by halving, within 1/32 of the most that is passive


@kernel
def takes_part(laws, contacts, row):
    return contacts.state[row] != NONE and laws.impulse[contacts.edge[row]] == 1


@kernel
def movable(polygons, body):
    return polygons.inverse_mass[body, 0] > 0.0 or polygons.inverse_mass[body, 2] > 0.0


@kernel
def join(polygons, impact, body):
    """1 if a body joins the impact now."""
    if impact.joined[body] == 1 or not movable(polygons, body):
        return 0
    impact.joined[body] = 1
    return 1


@kernel
def gather(polygons, laws, contacts, impact):
    """How many contacts take part, into impact.row: those of bodies that a colliding one is joined with by contacts."""
    for b in range(impact.joined.shape[0]):
        impact.joined[b] = 0
    for row in range(contacts.count):
        if contacts.state[row] == COLLIDING:
            V, E = bodies_of(polygons, contacts, row)
            join(polygons, impact, V)
            join(polygons, impact, E)
    grown = 1
    while grown > 0:
        grown = 0
        for row in range(contacts.count):
            V, E = bodies_of(polygons, contacts, row)
            if takes_part(laws, contacts, row) and (impact.joined[V] == 1 or impact.joined[E] == 1):
                grown += join(polygons, impact, V) + join(polygons, impact, E)
    n = 0
    for row in range(contacts.count):
        V, E = bodies_of(polygons, contacts, row)
        if takes_part(laws, contacts, row) and (impact.joined[V] == 1 or impact.joined[E] == 1):
            impact.row[n] = row
            n += 1
    return n


@kernel
def response(inverse_mass, body, ra, da, rb, db):
    """Velocity along db at rb for a unit impulse along da at ra, of one body."""
    return inverse_mass[body, 0] * (da[0] * db[0] + da[1] * db[1]) + inverse_mass[body, 2] * moment(ra, da) * moment(
        rb, db
    )


@kernel
def coupled(polygons, motion, contacts, i, k, di, dk):
    """W_i M^-1 W_k' of the rows along di and dk of two contacts."""
    Vi, Ei = bodies_of(polygons, contacts, i)
    Vk, Ek = bodies_of(polygons, contacts, k)
    rVi, rEi = levers(motion, contacts, i, Vi, Ei)
    rVk, rEk = levers(motion, contacts, k, Vk, Ek)
    m, x = polygons.inverse_mass, 0.0
    if Vi == Vk:
        x += response(m, Vi, rVi, di, rVk, dk)
    if Ei == Ek:
        x += response(m, Ei, rEi, di, rEk, dk)
    if Vi == Ek:
        x -= response(m, Vi, rVi, di, rEk, dk)
    if Ei == Vk:
        x -= response(m, Ei, rEi, di, rVk, dk)
    return x


@kernel
def normal_of(contacts, row):
    return contacts.normal[row, 0], contacts.normal[row, 1]


@kernel
def tangent_of(contacts, row):
    return -contacts.normal[row, 1], contacts.normal[row, 0]


@kernel
def restitution_of(polygons, motion, laws, contacts, row, dt):
    """e of a contact in this step's impact."""
    if contacts.state[row] != COLLIDING:
        return 0.0
    edge = contacts.edge[row]
    e = laws.restitution[edge]
    if laws.bounded[edge] == 1:
        V, E = bodies_of(polygons, contacts, row)
        rV, rE = levers(motion, contacts, row, V, E)
        mass = effective_mass(polygons.inverse_mass, V, E, rV, rE, normal_of(contacts, row))
        K = laws.wall_setting[edge, 0]
        e = min(
            e,
            restitution_bound(K, dt, mass),
            first_push_bound(K, dt, mass, contacts.depth[row], contacts.approach[row]),
        )
    return e


@kernel
def first_push_bound(K, dt, mass, depth, approach):
    """The e for which a contact does not leave faster than it came.

    Seen d0 <= v T deep, it gets an impulse to e v and in the same step the first held force, of a sample-estimate-hold
    2 K d0: it leaves with (e + 2 kappa) v at most, kappa = K T^2/m, where the force then ends.  One that came in
    sideways is deeper.  The bound of 3.3 counts half of that force, and thrown blocks gained up to a tenth by it.
    """
    return max(1.0 - 2.0 * K * dt / mass * max(dt, depth / approach), 0.0)


@kernel
def set_up_normals(polygons, motion, contacts, impact, n):
    """G and g of the normals."""
    for i in range(n):
        a = impact.row[i]
        impact.g[i] = -contacts.approach[a]
        for k in range(i + 1):
            b = impact.row[k]
            x = coupled(polygons, motion, contacts, a, b, normal_of(contacts, a), normal_of(contacts, b))
            impact.G_normal[i, k] = impact.G_normal[k, i] = x


@kernel
def set_up_friction(polygons, motion, laws, contacts, impact, n):
    """G, g and mu of rows (normal, tangent) of each contact."""
    G = impact.G
    for i in range(n):
        a = impact.row[i]
        edge = contacts.edge[a]
        impact.mu[i] = laws.friction_setting[edge, 0] if laws.friction[edge] != 0 else 0.0
        impact.g[2 * i], impact.g[2 * i + 1] = -contacts.approach[a], contacts.slide[a]
        na, ta = normal_of(contacts, a), tangent_of(contacts, a)
        for k in range(i + 1):
            b = impact.row[k]
            nb, tb = normal_of(contacts, b), tangent_of(contacts, b)
            G[2 * i, 2 * k] = G[2 * k, 2 * i] = coupled(polygons, motion, contacts, a, b, na, nb)
            G[2 * i, 2 * k + 1] = G[2 * k + 1, 2 * i] = coupled(polygons, motion, contacts, a, b, na, tb)
            G[2 * i + 1, 2 * k] = G[2 * k, 2 * i + 1] = coupled(polygons, motion, contacts, a, b, ta, nb)
            G[2 * i + 1, 2 * k + 1] = G[2 * k + 1, 2 * i + 1] = coupled(polygons, motion, contacts, a, b, ta, tb)


@kernel
def solve(rules, contacts, impact, n):
    """The impulses of the contacts, for the restitutions impact.e."""
    if rules.impact == FRICTIONAL:
        frictional(n, impact.G, impact.g, impact.e, impact.mu, impact.impulse, impact.work)
    else:
        poisson(n, impact.G_normal, impact.g, impact.e, impact.impulse, impact.work)
    for i in range(n):
        row = impact.row[i]
        if rules.impact == FRICTIONAL:
            contacts.impulse[row], contacts.friction_impulse[row] = impact.impulse[2 * i], impact.impulse[2 * i + 1]
        else:
            contacts.impulse[row] = impact.impulse[i]


@kernel
def put_first_pushes(polygons, motion, laws, contacts, impact, n):
    """impact.push: wrenches of the first held forces of the contacts that begin with a bounded restitution.

    Returns 1 if there are any.
    """
    some = 0
    for b in range(impact.push.shape[0]):
        impact.push[b, 0] = impact.push[b, 1] = impact.push[b, 2] = 0.0
    for i in range(n):
        row = impact.row[i]
        edge = contacts.edge[row]
        if contacts.state[row] == COLLIDING and laws.bounded[edge] == 1:
            some = 1
            V, E = bodies_of(polygons, contacts, row)
            rV, rE = levers(motion, contacts, row, V, E)
            nx, ny = normal_of(contacts, row)
            F = 2.0 * laws.wall_setting[edge, 0] * contacts.depth[row]
            push(impact.push, V, rV, F * nx, F * ny)
            push(impact.push, E, rE, -F * nx, -F * ny)
    return some


@kernel
def give(polygons, motion, contacts, impact, n):
    """The impulses to the bodies: Motion.struck, and v from what it was before."""
    v, struck = motion.v, motion.struck
    for b in range(v.shape[0]):
        struck[b, 0] = struck[b, 1] = struck[b, 2] = 0.0
    for i in range(n):
        row = impact.row[i]
        V, E = bodies_of(polygons, contacts, row)
        rV, rE = levers(motion, contacts, row, V, E)
        a, b = contacts.impulse[row], contacts.friction_impulse[row]
        nx, ny = normal_of(contacts, row)
        px, py = a * nx - b * ny, a * ny + b * nx
        push(struck, V, rV, px, py)
        push(struck, E, rE, -px, -py)
    for b in range(v.shape[0]):
        for k in range(3):
            v[b, k] = impact.v[b, k] + polygons.inverse_mass[b, k] * struck[b, k]


@kernel
def energy_after(inverse_mass, v, push, dt):
    """Kinetic energy once v has felt the pushes for a step."""
    T = 0.0
    for b in range(v.shape[0]):
        for k in range(3):
            m = inverse_mass[b, k]
            if m > 0.0:
                x = v[b, k] + dt * m * push[b, k]
                T += 0.5 * x * x / m
    return T


@kernel
def strike(polygons, motion, laws, contacts, rules, audit, impact, dt):
    """The velocities after this step's impacts, and Motion.struck.

    Contacts that begin together feel each other's impulses: one of them may be let go by another's, and its spring is
    given for nothing.  So the bounded restitutions are lessened, all by one share, until impulses and first pushes
    together create no energy.
    """
    n = gather(polygons, laws, contacts, impact)
    before = kinetic_energy(polygons, motion)
    for b in range(motion.v.shape[0]):
        for k in range(3):
            impact.v[b, k] = motion.v[b, k]
    pushes = put_first_pushes(polygons, motion, laws, contacts, impact, n)
    if rules.impact == FRICTIONAL:
        set_up_friction(polygons, motion, laws, contacts, impact, n)
    else:
        set_up_normals(polygons, motion, contacts, impact, n)
    low, high, share = 0.0, 1.0, 1.0
    for k in range(TRIES):
        for i in range(n):
            row = impact.row[i]
            e = restitution_of(polygons, motion, laws, contacts, row, dt)
            impact.e[i] = share * e if laws.bounded[contacts.edge[row]] == 1 else e
        solve(rules, contacts, impact, n)
        give(polygons, motion, contacts, impact, n)
        if pushes == 0:
            break
        if energy_after(polygons.inverse_mass, motion.v, impact.push, dt) > before:
            if share == 0.0:
                break  # they come too slowly to pay for where they are
            high = share
        elif k == 0:
            break
        else:
            low = share
        share = 0.0 if k == 0 else 0.5 * (low + high) if k < TRIES - 2 else low
    audit.impulses += kinetic_energy(polygons, motion) - before
