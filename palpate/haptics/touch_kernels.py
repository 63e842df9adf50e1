"""Touching: the part of a device's tick that needs the surfaces of bodies.  A routine of its own, for it takes long to
compile; `reach` calls it when it is there (reach_tables.py).

A spring against a light body is stiff for a step of dt.  Taken at the step's end instead of its beginning it is
    F / (1 + (K dt^2 + B dt) / m),  m the mass that the body shows along the normal
which both sides get, so that a feather can be pushed without being blown up.

A hand whose force may rise only so fast loads its spring late, and would get all of it back: so the spring keeps an
account, and pays only what it has (f of all contacts together, v of their points, x of the hand):
    E   += f.dx - T f.(v + v+)/2        absorbed in the period before: what the hand did, less what bodies got
    f   <= the largest with             T f.(v - x') + T^2 f.W f <= E + R,   W the points' mobility, R a small reserve
E is zero where nothing is touched.

a  ReachArrays;  x  Want;  e  PortEnergy;  q  ProxyState;  m, w, s  model, workspace and state of the World
"""

import math

from palpate.conventions import WORLD
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.dynamics.mobility import push_response
from palpate.haptics.grasp import push_body
from palpate.haptics.passivity import give
from palpate.haptics.reach_tables import ACTING, FIND, SURFACES, load_reach
from palpate.haptics.rendering.nearest import nearest_of_all
from palpate.haptics.rendering.proxy import update_proxy
from palpate.haptics.rendering.tables import load_proxy
from palpate.haptics.safety import limit_norm, limit_rise
from palpate.haptics.tank import RESERVE_J, affordable_share
from palpate.jit import kernel
from palpate.jit.routines import routine
from palpate.spatial.vectors import add, dot, get3, put3, rotate_back, scale, sub
from palpate.world.state import load as load_world

ZERO = (0.0, 0.0, 0.0)


@kernel
def find_body(m, a):
    """What the proxy touches, or what is nearest within grab_m: `near`, WORLD if nothing there can move."""
    g, _, _, q = load_proxy(a.proxy)
    body, point, hip = WORLD, a.hip, a.hip
    for k in range(q.n_contacts if a.placed else 0):
        if m.body_link[body] == WORLD:  # of several the first that can move
            body, point = q.contact_body[k], get3(q.contact_point, k)
    if m.body_link[body] == WORLD:
        shape = nearest_of_all(a.proxy, hip[0], hip[1], hip[2], 0)
        if shape >= 0 and q.hit[1, 0] < a.grab_m:
            body, point = g.body[shape], (q.hit[1, 4], q.hit[1, 5], q.hit[1, 6])
    a.near, a.near_point = body if m.body_link[body] != WORLD else WORLD, point


@kernel
def softened(m, w, body, point, normal, stiffness, damping, dt):
    """F / F_explicit of a spring against a body of small mass, taken at the end of the step."""
    link = m.body_link[body]
    if link == WORLD:
        return 1.0
    p = sub(point, get3(w.origin, m.root[link]))
    mobility = dot(normal, push_response(m, w, link, p, normal))
    return 1.0 / (1.0 + (stiffness * dt + damping) * dt * max(mobility, 0.0))


@kernel
def lever_of(m, w, body, point):
    """(from the body's origin to a point of the world, the same in body axes)."""
    R, origin = body_frame(m, w, body)
    lever = sub(point, add(get3(w.origin, m.root[m.body_link[body]]), origin))
    return lever, rotate_back(R, lever)


@kernel
def power_of(m, w, q):
    """(sum of F, F.v and F.W F) over the contacts with bodies that can move."""
    total, power, yields = ZERO, 0.0, 0.0
    for k in range(q.n_contacts):
        body, force = q.contact_body[k], get3(q.contact_force, k)
        link = m.body_link[body]
        if link == WORLD:
            continue
        _, at_body = lever_of(m, w, body, get3(q.contact_point, k))
        _, p, _, velocity, _ = point_motion(m, w, body, at_body)
        total, power = add(total, force), power + dot(force, velocity)
        yields += dot(force, push_response(m, w, link, p, force))
    return total, power, yields


@kernel
def settle_account(m, w, a, q, dt):
    """E after the period in which the forces of the tick before were held."""
    if a.placed and q.n_contacts > 0:
        total, power, _ = power_of(m, w, q)
        a.stored_J += dot(total, sub(a.hip, a.before)) - 0.5 * dt * (a.power_W + power)
    else:
        a.stored_J = 0.0  # what one contact stored must not pay for the next
    a.before = a.hip


@kernel
def scale_contacts(q, share):
    for k in range(q.n_contacts):
        put3(q.contact_force, k, scale(share, get3(q.contact_force, k)))


@kernel
def limit_contacts(m, w, a, q, wanted, dt):
    """The force on bodies as their limits, and the account of a force that rises late, let it be."""
    force, clamped = limit_norm(wanted, a.body_force_N)
    limited, late = limit_rise(force, a.bodies_force, a.rise_N_s * dt)
    size, most = math.sqrt(dot(wanted, wanted)), math.sqrt(dot(limited, limited))
    scale_contacts(q, min(most / size, 1.0) if clamped or late else 1.0)
    a.capped += clamped
    a.clamped += clamped
    if a.rise_N_s < math.inf:
        total, power, yields = power_of(m, w, q)
        work = dt * (power - dot(total, a.hip_velocity))
        share = affordable_share(dt * dt * max(yields, 0.0), work, max(a.stored_J + RESERVE_J, 0.0))
        scale_contacts(q, share)
        a.power_W, late = share * power, late or share < 1.0
    a.rate_limited += late


@kernel
def touch_bodies(m, w, s, a, x, e, dt):
    """Force on the hand from the proxy's contacts, world axes: `felt`; the bodies get the opposite, weighted."""
    _, _, f, q = load_proxy(a.proxy)
    if a.rise_N_s < math.inf:
        settle_account(m, w, a, q, dt)
    if q.radius_m != x.radius_m:
        q.radius_m, a.placed = x.radius_m, 0
    q.placed = q.placed if a.placed else 0
    at, v, weight = a.hip, a.hip_velocity, a.weight * x.times
    q.failed = 0
    update_proxy(a.proxy, at[0], at[1], at[2], v[0], v[1], v[2], dt)
    a.placed, a.lawless = q.placed, q.failed != 0
    wanted = ZERO
    for k in range(q.n_contacts):
        body, point, shape = q.contact_body[k], get3(q.contact_point, k), q.contact_shape[k]
        share = softened(
            m, w, body, point, get3(q.contact_normal, k), weight * f.stiffness[shape], weight * f.damping[shape], dt
        )
        put3(q.contact_force, k, scale(weight * share, get3(q.contact_force, k)))
        wanted = add(wanted, get3(q.contact_force, k))
    limit_contacts(m, w, a, q, wanted, dt)
    a.touched, on_bodies = WORLD, ZERO
    for k in range(q.n_contacts):
        body, force = q.contact_body[k], get3(q.contact_force, k)
        on_bodies = add(on_bodies, force)
        if m.body_link[body] == WORLD:
            continue
        lever, at_body = lever_of(m, w, body, get3(q.contact_point, k))
        if a.touched == WORLD:  # of several the first
            a.touched, a.at_body, a.pushing = body, at_body, force
        if a.doing == ACTING:
            _, _, _, velocity, _ = point_motion(m, w, body, at_body)
            push_body(s, body, lever, force, ZERO)
            give(e, SURFACES, dot(force, velocity) * dt)
    a.point = (q.position[0], q.position[1], q.position[2])
    a.target, a.bodies_force, a.felt = a.hip, on_bodies, scale(-1.0 / a.weight, on_bodies)


@routine
def touch(address):
    """What `asked` asks."""
    a, _, e, _, _, x = load_reach(address)
    m, w, _, _, _, s = load_world(a.world)
    if a.asked == FIND:
        find_body(m, a)
    else:
        touch_bodies(m, w, s, a, x, e, a.dt)
    return 0
