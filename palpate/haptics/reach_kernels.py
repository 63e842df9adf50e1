"""One tick of a hand in a world: reading, coupling or proxy, wrench on bodies, force on the hand, passivity, guard.

    x = o + s R x_dev                       where the hand is in the world; s the scale of motion
    x' = o' + s R x_dev' + W x (x - o)      o', W: of a device that is carried
    F_hand = R^T (sum of forces on it)      device frame;   F_bodies = - w F_hand: the one place where forces are scaled

PUSH    the proxy touches; what it feels pushes back                                   touch_kernels.py
PULL    the same, and while button 0 is pressed a spring holds the body that was touched  coupling.py
TOOL    a spring holds one body, the tool, all the time; what it touches is the World's to solve

A hand that says what it wants (devices/want.py) holds the body that it names, gives it a force, or touches.

Readings that come more rarely than ticks are followed smoothly, by a first-order lag.  A hold of a named point begins
there, whatever the reading says, so that it begins without a jerk; a touch begins where the hand is.

The springs that hold a body are made no stiffer than m (SHARPEST / dt)^2, for a light body would be blown up:
coupling.py has the limit, which a point off the centre lowers.  The spring that turns is felt by a wrist that may be
far lighter than the body: its inertia is that of the two against each other, I I_dev w / (I + I_dev w), where the
device makes torque.

a  ReachArrays (reach.py);  x  Want;  g  Guard;  e  PortEnergy;  f  EffectTable;  t  Tank;  m, w, s  model, workspace
and state of the World
"""

import math

from palpate.conventions import WORLD
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.dynamics.mobility import point_mobility, turn_mobility
from palpate.haptics.coupling import effective_mass, pull, turn
from palpate.haptics.devices.port import OK, load_port
from palpate.haptics.devices.want import BUTTON, GIVE, HOLD, NOTHING, TOUCH
from palpate.haptics.grasp import has_leapt, push_body, remember
from palpate.haptics.guard import CLAMPED, LAW_FAILED, LINK_LOST, NO_FAULT, engage, guard, latch_fault
from palpate.haptics.passivity import give
from palpate.haptics.reach_energy import count_work, keep_honest, keep_turning_honest, pay, watch_energy
from palpate.haptics.reach_tables import (
    ACTING,
    COUPLING,
    CUT,
    FEEL,
    FIND,
    HELD_TURN,
    LEVER_M,
    ORIENTATION,
    PULL,
    RESTING,
    TOOL,
    load_reach,
)  # fmt: skip
from palpate.haptics.rendering.effects import effects_force
from palpate.haptics.safety import limit_norm, limit_rise
from palpate.jit import kernel
from palpate.jit.atomics import monotonic_ns
from palpate.jit.routines import call_routine, routine
from palpate.spatial.quaternions import conjugate, matrix_quaternion, quaternion_product
from palpate.spatial.vectors import (
    add,
    add_scaled,
    cross,
    dot,
    finite3,
    get3,
    get9,
    part4,
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
UNTURNED = (1.0, 0.0, 0.0, 0.0)


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
def follow(a, before):
    """The hand goes on from `before` towards where its reading puts it."""
    share = 1.0 - math.exp(-a.dt / a.smooth_s) if a.smooth_s > 0.0 else 1.0
    a.hip = add_scaled(before, share, sub(a.aim, before))
    a.hip_velocity = scale(1.0 / a.dt, sub(a.hip, before))


@kernel
def place_hand(a, x, port):
    """Where the reading puts the hand in the world."""
    R, stretch = get9(a.frame, 0), a.scale
    a.aim = add(get3(a.frame_origin, 0), rotate(R, scale(stretch, port.position)))
    if x.tells_motion:
        a.hip = a.aim
        ridden = add(a.frame_velocity, cross(a.frame_spin, sub(a.aim, get3(a.frame_origin, 0))))
        a.hip_velocity = add(ridden, rotate(R, scale(stretch, port.velocity)))
    else:
        follow(a, a.aim if a.does == NOTHING else a.hip)
    a.hip_spin = add(a.frame_spin, rotate(R, port.spin))
    put_part(a.turn, ORIENTATION, quaternion_product(part4(a.frame_turn, 0), port.quaternion))


@kernel
def take_hold(m, w, a, body, point):
    """Remember the point in body axes, and how hand and body are to each other, so that nothing jumps."""
    R, origin = body_frame(m, w, body)
    there = add(get3(w.origin, m.root[m.body_link[body]]), origin)
    a.at_body = rotate_back(R, sub(point, there))
    a.offset = sub(point, a.hip)
    put_part(a.turn, HELD_TURN, quaternion_product(conjugate(part4(a.turn, ORIENTATION)), matrix_quaternion(R)))
    a.held, a.touched = body, WORLD


@kernel
def take_named(m, w, a, x):
    """Hold what the hand names, if it can be held; its place and orientation are then the hand's own."""
    body = x.body
    if not WORLD < body < m.body_link.shape[0] or m.body_link[body] == WORLD:
        return
    a.held, a.touched, a.offset = body, WORLD, ZERO
    put_part(a.turn, HELD_TURN, UNTURNED)
    if not x.tells_motion:
        _, _, point, _, _ = point_motion(m, w, body, x.at_body)
        follow(a, point)


@kernel
def let_go(a):
    """Hold nothing; the proxy begins anew where the hand then is."""
    a.held, a.touched, a.placed, a.does, a.account = WORLD, WORLD, 0, NOTHING, 0
    a.bodies_force, a.bodies_torque = ZERO, ZERO
    a.point = a.hip


@kernel
def choose_hold(m, w, a, x, pressed, address):
    """Take hold, go on, or let go."""
    if x.does == HOLD or x.does == GIVE:
        if a.held != x.body:
            let_go(a)
            take_named(m, w, a, x)
        a.at_body = x.at_body
    elif x.does == BUTTON and a.mode == TOOL:
        if a.held == WORLD:
            body = a.tool_body
            _, _, point, _, _ = point_motion(m, w, body, ZERO)
            take_hold(m, w, a, body, point)
    elif x.does == BUTTON and pressed and a.mode == PULL:
        if a.held == WORLD and a.touch != 0:
            a.asked = FIND
            call_routine(a.touch, address)
            if a.near != WORLD:
                take_hold(m, w, a, a.near, a.near_point)
    elif a.held != WORLD:
        let_go(a)


@kernel
def holding_torque(m, w, a, x, spin, dt):
    """On the held body, towards the hand's orientation [N m]."""
    if not x.stiffness_Nm_rad > 0.0:
        return ZERO
    R, _ = body_frame(m, w, a.held)
    wanted = quaternion_product(part4(a.turn, ORIENTATION), part4(a.turn, HELD_TURN))
    inertia = effective_mass(turn_mobility(m, w, m.body_link[a.held]))
    inertia /= 1.0 + inertia / (a.weight * a.device_inertia)  # of the two against each other
    turning = min(x.stiffness_Nm_rad, inertia * (SHARPEST / dt) ** 2)
    torque = turn(turning, x.damping_Nms_rad, inertia, wanted, R, sub(spin, a.hip_spin), dt)
    return limit_norm(torque, a.body_force_N * LEVER_M)[0]


@kernel
def hold_body(m, w, s, a, x, e, t, dt, acting):
    """(force, torque) on the hand from the body it holds, world axes; the body gets the opposite, weighted."""
    body, weight, K = a.held, a.weight, x.stiffness
    lever, p, point, velocity, spin = point_motion(m, w, body, a.at_body)
    mass = effective_mass(point_mobility(m, w, m.body_link[body], p))
    if x.does == GIVE:
        force, a.hip = x.force, point
    else:
        if mass > 0.0:
            stiffest = mass * (SHARPEST / dt) ** 2
            K = (min(K[0], stiffest), min(K[1], stiffest), min(K[2], stiffest))
        target, moves = add(a.hip, a.offset), a.hip_velocity
        force, capped = pull(K, x.damping, x.ratio, mass, a.body_force_N, target, moves, point, velocity, dt)
        a.capped += capped
    force, clamped = limit_norm(force, a.body_force_N)
    force, late = limit_rise(force, a.bodies_force, a.rise_N_s * dt)
    a.clamped += clamped
    a.rate_limited += late
    if x.account != 0:
        force = pay(a, x, t, force, velocity, mass, dt)
    torque = holding_torque(m, w, a, x, spin, dt)
    if acting:
        push_body(s, body, lever, force, torque)
        give(e, COUPLING, (dot(force, velocity) + dot(torque, spin)) * dt)
    a.target, a.point = add(a.hip, a.offset), point
    a.bodies_force, a.bodies_torque, a.account = force, torque, x.account
    return scale(-1.0 / weight, force), scale(-1.0 / weight, torque)


@kernel
def note_age(a, port, now_s):
    """From the sample to the force just written."""
    now = 1e-9 * monotonic_ns(a.clock) if a.real_time else now_s
    a.age_s = now - port.sampled_s
    if a.age_s > a.oldest_s:
        a.oldest_s = a.age_s


@kernel
def feel(m, w, c, s, a, x, e, f, t, port, moved, turned, address):
    """(force, torque, whether all laws gave numbers): what the hand is to feel, device frame; bodies are pushed."""
    R, force, torque, dt = get9(a.frame, 0), ZERO, ZERO, a.dt
    follows = a.placed != 0 or a.held != WORLD
    if follows and has_leapt(m, w, c.link_R, c.link_p, a.old_R, a.old_p, dt):
        let_go(a)  # force then comes from nothing again
    count_work(m, w, a, t)
    choose_hold(m, w, a, x, port.buttons & 1, address)
    if a.held != WORLD:
        force, torque = hold_body(m, w, s, a, x, e, t, dt, a.doing == ACTING)
        remember(c, a)  # as the proxy does, which rests
        a.does = x.does
    elif (x.does == BUTTON or x.does == TOUCH) and a.touch != 0:
        a.asked = FEEL
        call_routine(a.touch, address)
        force, a.does = a.felt, x.does
    else:
        let_go(a)
    effects = effects_force(f, a.hip, a.hip_velocity, a.now_s)
    force = keep_honest(a, e, t, port, rotate_back(R, add(force, effects)), moved, dt)
    torque = keep_turning_honest(a, e, port, rotate_back(R, torque), turned, dt)
    return force, torque, finite3(effects) and a.lawless == 0


@kernel
def edge_force(a, x):
    """Back from the edge of the workspace, device frame [N]."""
    away = math.sqrt(dot(x, x))
    if not away > a.edge_m:
        return ZERO
    return scale(-min(a.edge_N_m * (away - a.edge_m), a.edge_N) / away, x)


@routine
def reach(address):
    """One tick of a device, as its `doing` says: RESTING (no force), FEELING (none on bodies) or ACTING."""
    a, g, e, f, t, x = load_reach(address)
    port = load_port(a.port)[0]
    m, w, _, c, _, s = load_world(a.world)
    dt = a.dt
    if a.engage:
        a.engage, a.started, a.lawless, f.failed = 0, 0, 0, -1
        engage(g)
        let_go(a)
    port.now_s, port.dt = a.now_s, dt
    status = call_routine(a.sample, a.port)
    if a.doing == CUT and status >= OK:
        status = LINK_LOST
    readable, sensed, moved, turned = is_readable(port), not math.isnan(port.sampled_s), ZERO, ZERO
    if readable and sensed:  # before its first reading nobody knows where the hand is
        place_hand(a, x, port)
        moved, turned = watch_energy(a, port, e)
    force, torque, velocity = ZERO, ZERO, port.velocity if readable else NAN3
    resting = a.doing == RESTING or status < OK or g.cause != NO_FAULT
    resting = resting or not (readable and sensed)
    if resting:
        let_go(a)
    else:
        capped = a.capped
        force, torque, lawful = feel(m, w, c, s, a, x, e, f, t, port, moved, turned, address)
        status = status if lawful else LAW_FAILED
        g.counts[CLAMPED] += a.capped - capped  # what the strength held back, the guard does not see
        force, torque = scale(a.share, add(force, edge_force(a, port.position))), scale(a.share, torque)
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
