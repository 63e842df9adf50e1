"""One tick of a device in a world: reading, coupling or proxy, wrench on bodies, force on the hand, passivity, guard.

    x = o + s R x_dev                       where the hand is in the world; s the scale of motion
    F_hand = R^T (sum of forces on it)      device frame;   F_bodies = - w F_hand: the one place where forces are scaled

PUSH    the proxy touches; what it feels pushes back                                   rendering/
PULL    the same, and while button 0 is pressed a spring holds the body that was touched  coupling.py
TOOL    a spring holds one body, the tool, all the time; what it touches is the World's to solve

A spring against a light body is stiff for a step of dt.  Taken at the step's end instead of its beginning it is
    F / (1 + (K dt^2 + B dt) / m),  m the mass that the body shows along the normal
which both sides get, so that a feather can be pushed without being blown up.  The springs that hold a body are made no
stiffer than m (SHARPEST / dt)^2, for the same reason: coupling.py has the limit, which a point off the centre lowers.
The spring that turns is felt by a wrist that may be far lighter than the body: its inertia is that of the two against
each other, I I_dev w / (I + I_dev w), where the device makes torque.

a  ReachArrays (reach.py);  g  Guard;  e  PortEnergy;  f  EffectTable;  t  Tank;  m, w, s  model, workspace and state of
the World
"""

import math

from palpate.conventions import WORLD
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.dynamics.mobility import point_mobility, push_response, turn_mobility
from palpate.haptics.coupling import effective_mass, pull, turn
from palpate.haptics.devices.port import OK, load_port
from palpate.haptics.grasp import has_leapt, push_body
from palpate.haptics.guard import CLAMPED, LAW_FAILED, LINK_LOST, NO_FAULT, Guard, engage, guard, latch_fault
from palpate.haptics.passivity import PortEnergy, give
from palpate.haptics.reach_energy import keep_honest, keep_turning_honest, watch_energy
from palpate.haptics.reach_tables import (
    ACTING,
    COUPLING,
    CUT,
    HELD_TURN,
    LEVER_M,
    ORIENTATION,
    PULL,
    RESTING,
    SURFACES,
    TOOL,
    ReachArrays,
)  # fmt: skip
from palpate.haptics.rendering.effects import EffectTable, effects_force
from palpate.haptics.rendering.nearest import nearest_of_all
from palpate.haptics.rendering.proxy import remember, update_proxy
from palpate.haptics.rendering.tables import load_proxy
from palpate.haptics.safety import finite3, limit_norm
from palpate.haptics.tank import Tank
from palpate.jit import block_loader, kernel
from palpate.jit.atomics import monotonic_ns
from palpate.jit.routines import call_routine, routine
from palpate.spatial.quaternions import conjugate, matrix_quaternion, quaternion_product
from palpate.spatial.vectors import (
    add,
    dot,
    get3,
    get9,
    part4,
    put3,
    put_part,
    rotate,
    rotate_back,
    scale,
    sub,
)  # fmt: skip
from palpate.world.state import load as load_world

ZERO, NAN3 = (0.0, 0.0, 0.0), (math.nan, math.nan, math.nan)
LARGEST_SANE = 1e6  # [m, m/s, rad/s]: no honest device says more
# sqrt(K/m) dt of a holding spring at most: s^2 + 4 s < 4 is stable (0.83), and 3 s^2 + 12 s < 4 (0.30) when all of the
# mobility that m averages lies in one direction
SHARPEST = 0.25
load_reach = block_loader(
    (ReachArrays, False), (Guard, False), (PortEnergy, False), (EffectTable, False), (Tank, False)
)


@kernel
def is_readable(port):
    """Whether every number of the reading is one, and none beyond all sense."""
    sane = True
    for x in (port.position, port.velocity, port.spin):
        for k in range(3):
            sane = sane and abs(x[k]) <= LARGEST_SANE  # a NaN fails this too
    for k in range(4):
        sane = sane and abs(port.quaternion[k]) <= LARGEST_SANE
    return sane


@kernel
def place_hand(a, port):
    """Where the reading puts the hand in the world."""
    R, stretch = get9(a.frame, 0), a.scale
    a.hip = add(get3(a.frame_origin, 0), rotate(R, scale(stretch, port.position)))
    a.hip_velocity = rotate(R, scale(stretch, port.velocity))
    a.hip_spin = rotate(R, port.spin)
    put_part(a.turn, ORIENTATION, quaternion_product(part4(a.frame_turn, 0), port.quaternion))


@kernel
def touched_body(m, proxy, hip, reach):
    """(body, point): what the proxy touches, or what is nearest within `reach`; WORLD if nothing there can move."""
    g, _, _, s = load_proxy(proxy)
    body, point = WORLD, hip
    for k in range(s.n_contacts):
        if m.body_link[body] == WORLD:  # of several the first that can move
            body, point = s.contact_body[k], get3(s.contact_point, k)
    if m.body_link[body] == WORLD:
        shape = nearest_of_all(proxy, hip[0], hip[1], hip[2], 0)
        if shape >= 0 and s.hit[1, 0] < reach:
            body, point = g.body[shape], (s.hit[1, 4], s.hit[1, 5], s.hit[1, 6])
    return (body, point) if m.body_link[body] != WORLD else (WORLD, point)


@kernel
def take_hold(m, w, a, body, point):
    """Remember the point in body axes, and how hand and body are to each other, so that nothing jumps."""
    R, origin = body_frame(m, w, body)
    hip = a.hip
    there = add(get3(w.origin, m.root[m.body_link[body]]), origin)
    a.at_body = rotate_back(R, sub(point, there))
    a.offset = sub(point, hip)
    put_part(a.turn, HELD_TURN, quaternion_product(conjugate(part4(a.turn, ORIENTATION)), matrix_quaternion(R)))
    a.held, a.touched = body, WORLD


@kernel
def let_go(a, proxy):
    """Hold nothing; the proxy begins anew where the hand then is."""
    a.held, a.touched = WORLD, WORLD
    _, _, _, s = load_proxy(proxy)
    s.placed = 0
    a.bodies_force = ZERO
    a.point = a.hip


@kernel
def choose_hold(m, w, a, proxy, pressed):
    """Take hold, go on, or let go."""
    if a.mode == TOOL:
        if a.held == WORLD:
            body = a.tool_body
            _, _, point, _, _ = point_motion(m, w, body, ZERO)
            take_hold(m, w, a, body, point)
        return
    wants = pressed and a.mode == PULL
    if wants and a.held == WORLD:
        body, point = touched_body(m, proxy, a.hip, a.grab_m)
        if body != WORLD:
            take_hold(m, w, a, body, point)
    elif not wants and a.held != WORLD:
        let_go(a, proxy)


@kernel
def hold_body(m, w, s, a, e, dt, acting):
    """(force, torque) on the hand from the body it holds, world axes; the body gets the opposite, weighted."""
    body, weight = a.held, a.weight
    link = m.body_link[body]
    lever, p, point, velocity, spin = point_motion(m, w, body, a.at_body)
    target = add(a.hip, a.offset)
    sharpest, strength = (SHARPEST / dt) ** 2, a.body_force_N
    mass = effective_mass(point_mobility(m, w, link, p))
    K = a.stiffness
    if mass > 0.0:
        K = (min(K[0], mass * sharpest), min(K[1], mass * sharpest), min(K[2], mass * sharpest))
    moves, B = a.hip_velocity, a.given_damping
    force, capped = pull(K, B, 1.0, mass, strength, target, moves, point, velocity, dt)
    a.capped += capped
    force, _ = limit_norm(force, strength)
    torque = ZERO
    if a.stiffness_Nm_rad > 0.0:
        R, _ = body_frame(m, w, body)
        wanted = quaternion_product(part4(a.turn, ORIENTATION), part4(a.turn, HELD_TURN))
        inertia = effective_mass(turn_mobility(m, w, link))
        inertia /= 1.0 + inertia / (weight * a.device_inertia)  # of the two against each other
        turning = min(a.stiffness_Nm_rad, inertia * sharpest)
        relative = sub(spin, a.hip_spin)
        torque, _ = limit_norm(turn(turning, 0.0, inertia, wanted, R, relative, dt), strength * LEVER_M)
    if acting:
        push_body(s, body, lever, force, torque)
        give(e, COUPLING, (dot(force, velocity) + dot(torque, spin)) * dt)
    a.point = point
    a.bodies_force = force
    return scale(-1.0 / weight, force), scale(-1.0 / weight, torque)


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
def touch_bodies(m, w, s, a, e, proxy, dt, acting):
    """Force on the hand from the proxy's contacts, world axes; the bodies get the opposite, weighted."""
    x, v, weight = a.hip, a.hip_velocity, a.weight
    contacts = update_proxy(proxy, x[0], x[1], x[2], v[0], v[1], v[2], dt)
    _, _, f, q = load_proxy(proxy)
    wanted = ZERO
    for k in range(contacts):
        body, point, shape = q.contact_body[k], get3(q.contact_point, k), q.contact_shape[k]
        share = softened(
            m, w, body, point, get3(q.contact_normal, k), weight * f.stiffness[shape], weight * f.damping[shape], dt
        )
        put3(q.contact_force, k, scale(weight * share, get3(q.contact_force, k)))
        wanted = add(wanted, get3(q.contact_force, k))
    on_bodies, capped = limit_norm(wanted, a.body_force_N)
    a.capped += capped
    within = math.sqrt(dot(on_bodies, on_bodies) / dot(wanted, wanted)) if capped else 1.0
    a.touched = WORLD
    for k in range(contacts):
        body, point, force = q.contact_body[k], get3(q.contact_point, k), scale(within, get3(q.contact_force, k))
        if m.body_link[body] == WORLD:
            continue
        R, origin = body_frame(m, w, body)
        there = add(get3(w.origin, m.root[m.body_link[body]]), origin)
        lever = sub(point, there)
        if a.touched == WORLD:  # of several the first
            a.touched = body
            a.at_body = rotate_back(R, lever)
            a.pushing = force
        if acting:
            _, _, _, velocity, _ = point_motion(m, w, body, rotate_back(R, lever))
            push_body(s, body, lever, force, ZERO)
            give(e, SURFACES, dot(force, velocity) * dt)
    a.point = (q.position[0], q.position[1], q.position[2])
    a.bodies_force = on_bodies
    return scale(-1.0 / weight, on_bodies)


@kernel
def note_age(a, port, now_s):
    """From the sample to the force just written."""
    now = 1e-9 * monotonic_ns(a.clock) if a.real_time else now_s
    a.age_s = now - port.sampled_s
    if a.age_s > a.oldest_s:
        a.oldest_s = a.age_s


@kernel
def feel(m, w, s, a, e, f, t, port, moved, turned, dt):
    """(force, torque, whether all laws gave numbers): what the hand is to feel, device frame; bodies are pushed."""
    R, acting, torque = get9(a.frame, 0), a.doing == ACTING, ZERO
    _, c, _, q = load_proxy(a.proxy)
    follows = q.placed != 0 or a.held != WORLD
    if follows and has_leapt(m, w, c.link_R, c.link_p, q.old_R, q.old_p, dt):
        let_go(a, a.proxy)  # force then comes from nothing again
    choose_hold(m, w, a, a.proxy, port.buttons & 1)
    if a.held != WORLD:
        force, torque = hold_body(m, w, s, a, e, dt, acting)
        remember(c, q)  # as the proxy does, which rests
    else:
        force = touch_bodies(m, w, s, a, e, a.proxy, dt, acting)
    effects = effects_force(f, a.hip, a.hip_velocity, a.now_s)
    force = keep_honest(a, e, t, port, rotate_back(R, add(force, effects)), moved, dt)
    torque = keep_turning_honest(a, e, port, rotate_back(R, torque), turned, dt)
    return force, torque, finite3(effects)


@routine
def reach(address):
    """One tick of a device, as its `doing` says: RESTING (no force), FEELING (none on bodies) or ACTING."""
    a, g, e, f, t = load_reach(address)
    port = load_port(a.port)[0]
    m, w, _, _, _, s = load_world(a.world)
    dt = a.dt
    if a.engage:
        a.engage, a.started, f.failed = 0, 0, -1
        engage(g)
        let_go(a, a.proxy)
    port.now_s, port.dt = a.now_s, dt
    status = call_routine(a.sample, a.port)
    if a.doing == CUT and status >= OK:
        status = LINK_LOST
    readable, sensed, moved, turned = is_readable(port), not math.isnan(port.sampled_s), ZERO, ZERO
    if readable and sensed:  # before its first reading nobody knows where the hand is
        place_hand(a, port)
        moved, turned = watch_energy(a, port, e)
    force, torque, velocity = ZERO, ZERO, port.velocity if readable else NAN3
    resting = a.doing == RESTING or status < OK or g.cause != NO_FAULT
    resting = resting or not (readable and sensed)
    if resting:
        let_go(a, a.proxy)
    else:
        capped = a.capped
        force, torque, lawful = feel(m, w, s, a, e, f, t, port, moved, turned, dt)
        status = status if lawful else LAW_FAILED
        g.counts[CLAMPED] += a.capped - capped  # what the strength held back, the guard does not see
    R = get9(a.frame, 0)
    a.felt = rotate(R, force)
    force, torque = guard(g, force, torque, velocity, port.spin, status, a.late_s, dt)
    if resting and g.cause == NO_FAULT:  # when force comes back, it does so from nothing
        engage(g)
    port.torque, port.force = torque, force
    sent = call_routine(a.send, a.port)
    if sent != status and sent != OK:
        latch_fault(g, True, True, sent)
    a.status = sent if status == OK else status
    a.sent = rotate(R, force)
    a.torque_sent = rotate(R, torque)
    note_age(a, port, a.now_s)
    return a.status
