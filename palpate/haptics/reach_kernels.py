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
from palpate.haptics.devices.port import BUTTONS, OK, POSITION, QUATERNION, SAMPLED_S, SPIN, VELOCITY, load_port
from palpate.haptics.devices.port import DT_S as PORT_DT_S
from palpate.haptics.devices.port import NOW_S as PORT_NOW_S
from palpate.haptics.devices.protocol import FORCE, TORQUE
from palpate.haptics.grasp import has_leapt, push_body
from palpate.haptics.guard import CAUSE, CLAMPED, LAW_FAILED, LINK_LOST, NO_FAULT, Guard, engage, guard, latch_fault
from palpate.haptics.passivity import PortEnergy, give
from palpate.haptics.reach_energy import keep_honest, keep_turning_honest, watch_energy
from palpate.haptics.reach_tables import (
    ACTING,
    AGE_S,
    AT_BODY,
    BODIES_FORCE,
    BODY_FORCE_N,
    CAPPED,
    COUPLING,
    CUT,
    DEVICE_INERTIA,
    DOING,
    DT_S,
    ENGAGE,
    FELT,
    GIVEN_DAMPING,
    GRAB_M,
    HELD,
    HELD_TURN,
    HIP,
    HIP_SPIN,
    HIP_VELOCITY,
    LATE_S,
    LEVER_M,
    MODE,
    NOW_S,
    OFFSET,
    OLDEST_S,
    ORIENTATION,
    POINT,
    PULL,
    PUSHING,
    REAL_TIME,
    RESTING,
    SCALE,
    SENT,
    STARTED,
    STATUS,
    STIFFNESS,
    STIFFNESS_NM_RAD,
    SURFACES,
    TOOL,
    TOOL_BODY,
    TORQUE_SENT,
    TOUCHED,
    WEIGHT,
    ReachArrays,
)  # fmt: skip
from palpate.haptics.rendering.effects import FAILED, EffectTable, effects_force
from palpate.haptics.rendering.nearest import nearest_of_all
from palpate.haptics.rendering.proxy import remember, update_proxy
from palpate.haptics.rendering.tables import CONTACTS, PLACED, load_proxy
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
    part3,
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
    for k in range(port.reading.shape[0]):
        sane = sane and abs(port.reading[k]) <= LARGEST_SANE  # a NaN fails this too
    return sane


@kernel
def place_hand(a, port):
    """Where the reading puts the hand in the world."""
    R, stretch = get9(a.frame, 0), a.number[SCALE]
    x = part3(port.reading, POSITION.start)
    put3(a.vector, HIP, add(get3(a.frame_origin, 0), rotate(R, scale(stretch, x))))
    put3(a.vector, HIP_VELOCITY, rotate(R, scale(stretch, part3(port.reading, VELOCITY.start))))
    put3(a.vector, HIP_SPIN, rotate(R, part3(port.reading, SPIN.start)))
    put_part(a.turn, ORIENTATION, quaternion_product(part4(a.frame_turn, 0), part4(port.reading, QUATERNION.start)))


@kernel
def touched_body(m, proxy, hip, reach):
    """(body, point): what the proxy touches, or what is nearest within `reach`; WORLD if nothing there can move."""
    g, _, _, s = load_proxy(proxy)
    body, point = WORLD, hip
    for k in range(s.integer[CONTACTS]):
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
    hip = get3(a.vector, HIP)
    there = add(get3(w.origin, m.root[m.body_link[body]]), origin)
    put3(a.vector, AT_BODY, rotate_back(R, sub(point, there)))
    put3(a.vector, OFFSET, sub(point, hip))
    put_part(a.turn, HELD_TURN, quaternion_product(conjugate(part4(a.turn, ORIENTATION)), matrix_quaternion(R)))
    a.integer[HELD], a.integer[TOUCHED] = body, WORLD


@kernel
def let_go(a, proxy):
    """Hold nothing; the proxy begins anew where the hand then is."""
    a.integer[HELD], a.integer[TOUCHED] = WORLD, WORLD
    _, _, _, s = load_proxy(proxy)
    s.integer[PLACED] = 0
    put3(a.vector, BODIES_FORCE, ZERO)
    put3(a.vector, POINT, get3(a.vector, HIP))


@kernel
def choose_hold(m, w, a, proxy, pressed):
    """Take hold, go on, or let go."""
    if a.integer[MODE] == TOOL:
        if a.integer[HELD] == WORLD:
            body = a.integer[TOOL_BODY]
            _, _, point, _, _ = point_motion(m, w, body, ZERO)
            take_hold(m, w, a, body, point)
        return
    wants = pressed and a.integer[MODE] == PULL
    if wants and a.integer[HELD] == WORLD:
        body, point = touched_body(m, proxy, get3(a.vector, HIP), a.number[GRAB_M])
        if body != WORLD:
            take_hold(m, w, a, body, point)
    elif not wants and a.integer[HELD] != WORLD:
        let_go(a, proxy)


@kernel
def hold_body(m, w, s, a, e, dt, acting):
    """(force, torque) on the hand from the body it holds, world axes; the body gets the opposite, weighted."""
    body, weight = a.integer[HELD], a.number[WEIGHT]
    link = m.body_link[body]
    lever, p, point, velocity, spin = point_motion(m, w, body, get3(a.vector, AT_BODY))
    target = add(get3(a.vector, HIP), get3(a.vector, OFFSET))
    sharpest, strength = (SHARPEST / dt) ** 2, a.number[BODY_FORCE_N]
    mass = effective_mass(point_mobility(m, w, link, p))
    K = get3(a.vector, STIFFNESS)
    if mass > 0.0:
        K = (min(K[0], mass * sharpest), min(K[1], mass * sharpest), min(K[2], mass * sharpest))
    moves, B = get3(a.vector, HIP_VELOCITY), get3(a.vector, GIVEN_DAMPING)
    force, capped = pull(K, B, 1.0, mass, strength, target, moves, point, velocity, dt)
    a.integer[CAPPED] += capped
    force, _ = limit_norm(force, strength)
    torque = ZERO
    if a.number[STIFFNESS_NM_RAD] > 0.0:
        R, _ = body_frame(m, w, body)
        wanted = quaternion_product(part4(a.turn, ORIENTATION), part4(a.turn, HELD_TURN))
        inertia = effective_mass(turn_mobility(m, w, link))
        inertia /= 1.0 + inertia / (weight * a.number[DEVICE_INERTIA])  # of the two against each other
        turning = min(a.number[STIFFNESS_NM_RAD], inertia * sharpest)
        relative = sub(spin, get3(a.vector, HIP_SPIN))
        torque, _ = limit_norm(turn(turning, 0.0, inertia, wanted, R, relative, dt), strength * LEVER_M)
    if acting:
        push_body(s.wrenches, s.integer, body, lever, force, torque)
        give(e, COUPLING, (dot(force, velocity) + dot(torque, spin)) * dt)
    put3(a.vector, POINT, point)
    put3(a.vector, BODIES_FORCE, force)
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
    x, v, weight = get3(a.vector, HIP), get3(a.vector, HIP_VELOCITY), a.number[WEIGHT]
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
    on_bodies, capped = limit_norm(wanted, a.number[BODY_FORCE_N])
    a.integer[CAPPED] += capped
    within = math.sqrt(dot(on_bodies, on_bodies) / dot(wanted, wanted)) if capped else 1.0
    a.integer[TOUCHED] = WORLD
    for k in range(contacts):
        body, point, force = q.contact_body[k], get3(q.contact_point, k), scale(within, get3(q.contact_force, k))
        if m.body_link[body] == WORLD:
            continue
        R, origin = body_frame(m, w, body)
        there = add(get3(w.origin, m.root[m.body_link[body]]), origin)
        lever = sub(point, there)
        if a.integer[TOUCHED] == WORLD:  # of several the first
            a.integer[TOUCHED] = body
            put3(a.vector, AT_BODY, rotate_back(R, lever))
            put3(a.vector, PUSHING, force)
        if acting:
            _, _, _, velocity, _ = point_motion(m, w, body, rotate_back(R, lever))
            push_body(s.wrenches, s.integer, body, lever, force, ZERO)
            give(e, SURFACES, dot(force, velocity) * dt)
    put3(a.vector, POINT, (q.position[0], q.position[1], q.position[2]))
    put3(a.vector, BODIES_FORCE, on_bodies)
    return scale(-1.0 / weight, on_bodies)


@kernel
def note_age(a, port, now_s):
    """From the sample to the force just written."""
    now = 1e-9 * monotonic_ns(a.clock) if a.integer[REAL_TIME] else now_s
    a.number[AGE_S] = now - port.number[SAMPLED_S]
    if a.number[AGE_S] > a.number[OLDEST_S]:
        a.number[OLDEST_S] = a.number[AGE_S]


@kernel
def feel(m, w, s, a, e, f, t, port, moved, turned, dt):
    """(force, torque, whether all laws gave numbers): what the hand is to feel, device frame; bodies are pushed."""
    R, acting, torque = get9(a.frame, 0), a.integer[DOING] == ACTING, ZERO
    _, c, _, q = load_proxy(a.proxy)
    follows = q.integer[PLACED] != 0 or a.integer[HELD] != WORLD
    if follows and has_leapt(m, w, c.link_R, c.link_p, q.old_R, q.old_p, dt):
        let_go(a, a.proxy)  # force then comes from nothing again
    choose_hold(m, w, a, a.proxy, port.integer[BUTTONS] & 1)
    if a.integer[HELD] != WORLD:
        force, torque = hold_body(m, w, s, a, e, dt, acting)
        remember(c, q)  # as the proxy does, which rests
    else:
        force = touch_bodies(m, w, s, a, e, a.proxy, dt, acting)
    effects = effects_force(f, get3(a.vector, HIP), get3(a.vector, HIP_VELOCITY), a.number[NOW_S])
    force = keep_honest(a, e, t, port, rotate_back(R, add(force, effects)), moved, dt)
    torque = keep_turning_honest(a, e, port, rotate_back(R, torque), turned, dt)
    return force, torque, finite3(effects)


@routine
def reach(address):
    """One tick of a device, as its integer[DOING] says: RESTING (no force), FEELING (none on bodies) or ACTING."""
    a, g, e, f, t = load_reach(address)
    port = load_port(a.port)[0]
    m, w, _, _, _, s = load_world(a.world)
    dt = a.number[DT_S]
    if a.integer[ENGAGE]:
        a.integer[ENGAGE], a.integer[STARTED], f.integer[FAILED] = 0, 0, -1
        engage(g)
        let_go(a, a.proxy)
    port.number[PORT_NOW_S], port.number[PORT_DT_S] = a.number[NOW_S], dt
    status = call_routine(a.sample, a.port)
    if a.integer[DOING] == CUT and status >= OK:
        status = LINK_LOST
    readable, sensed, moved, turned = is_readable(port), not math.isnan(port.number[SAMPLED_S]), ZERO, ZERO
    if readable and sensed:  # before its first reading nobody knows where the hand is
        place_hand(a, port)
        moved, turned = watch_energy(a, port, e)
    force, torque, velocity = ZERO, ZERO, part3(port.reading, VELOCITY.start) if readable else NAN3
    resting = a.integer[DOING] == RESTING or status < OK or g.integer[CAUSE] != NO_FAULT
    resting = resting or not (readable and sensed)
    if resting:
        let_go(a, a.proxy)
    else:
        capped = a.integer[CAPPED]
        force, torque, lawful = feel(m, w, s, a, e, f, t, port, moved, turned, dt)
        status = status if lawful else LAW_FAILED
        g.counts[CLAMPED] += a.integer[CAPPED] - capped  # what the strength held back, the guard does not see
    R = get9(a.frame, 0)
    put3(a.vector, FELT, rotate(R, force))
    force, torque = guard(g, force, torque, velocity, part3(port.reading, SPIN.start), status, a.number[LATE_S], dt)
    if resting and g.integer[CAUSE] == NO_FAULT:  # when force comes back, it does so from nothing
        engage(g)
    put_part(port.command, TORQUE.start, torque)
    put_part(port.command, FORCE.start, force)
    sent = call_routine(a.send, a.port)
    if sent != status and sent != OK:
        latch_fault(g, True, True, sent)
    a.integer[STATUS] = sent if status == OK else status
    put3(a.vector, SENT, rotate(R, force))
    put3(a.vector, TORQUE_SENT, rotate(R, torque))
    note_age(a, port, a.number[NOW_S])
    return a.integer[STATUS]
