"""Balance: the capture point is kept over the feet by the forces of the soles (avatars.md 2.1).

    xi_d = c_ref + off                                   off: leans against a force that lasts (2.3)
    p    = xi_d + (1 + k/w)(xi - xi_d) + f/(m w^2)       => xi' = -k (xi - xi_d);  pulled into the polygon + exceed
    F    = (m w^2 (c - p), m g + m (k_z (z_d - z) - 2 sqrt(k_z) z') - f_z)
    N    = K_R log(R_d R^T) - D_R w_trunk - n            moment about the centre of mass
    sole forces for (N, F) within friction: distribution.py
    tau  = rnea(q, v, a; sole forces, hands), and soft springs towards the posture

With `exceed` the force may ask for a centre of pressure beyond the soles; the moment, which weighs little, is given up,
and the trunk swings: the hip strategy.  A foot that bears little is held to its footprint by
its leg's springs, whose targets are those of inverse kinematics (foot_steering.py): by itself it would wander.

f, n  known force of hands and its moment about c, smoothed;  a Avatar, b Balance, f SoleForces, s State of the World
"""

from __future__ import annotations

import math

from palpate.control.avatar import Avatar
from palpate.control.balance.distribution import SoleForces, distribute, start_if_unknown
from palpate.control.balance.foot_steering import Legs, steer_leg
from palpate.control.balance.support import convex_hull, margin, pull_in
from palpate.dynamics.inertia import push_link
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.dynamics.rnea import add_projected, tree_motion_forces
from palpate.jit import Struct, Vector, block_loader, kernel, shared
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Floats2
from palpate.spatial.quaternions import matrix_quaternion, quaternion_log
from palpate.spatial.vectors import add, add_scaled, compose, get3, put3, put9, scale, sub, transpose
from palpate.world.state import load as load_world

ZERO = (0.0, 0.0, 0.0)
SOLE_CORNERS = 8
LEAN_S = 0.15  # time constant of leaning against a force
LOADING_S = 0.005  # time constant with which that is noticed
LOW, LEANING = 0.7, math.cos(math.radians(75.0))  # fallen: centre of mass below this part of its height, trunk leans
LIMP = (15.0, 3.0)  # springs and dampers of the fallen [N m/rad, N m s/rad]: it falls like a body
# what it is doing
OFF, STANDING, STEPPING, FALLEN = range(4)
STATES = ("off", "standing", "stepping", "fallen")


class Balance(Struct):
    """Settings first; nq, nv, A of the whole World."""

    on: float  # 0: joints as at rest
    feeds: float  # whether it is told of the force of hands
    k: float  # [1/s]
    k_z: float  # [1/s^2]
    K_R: float  # [N m/rad]
    D_R: float  # [N m s/rad]
    margin_m: float  # of p within the polygon, and
    exceed_m: float  # how far it may be beyond
    moment_weight: float  # of the moment against the force [1/m], and
    step_exceed_m: float  # the same where it may step: the trunk stays upright, and the step is the longer
    step_moment_weight: float
    step_K_R: float
    step_D_R: float
    lean_m: float  # most
    mass: float  # that it believes in [kg]
    light: float  # parts of the weight: a foot that bears less than this is held to its footprint,
    loaded: float  # one that bears more is not
    trunk: int  # body that is kept upright
    kp: Floats1  # (limbs,) of the posture
    kv: Floats1
    sole_at: Floats2  # (8, 3) corners that push, in the axes of the feet
    # where it stands
    rest_at: Vector  # of the centre of mass from the middle of the soles
    R_rest: Floats1  # (9,) of the trunk
    q_rest: Floats1  # (nq,) posture of the legs
    lower_m: float  # stepping: the centre of mass is kept so much lower, and
    braced: float  # 1: with the settings of stepping
    # feet, written by stepping too
    bears: Floats1  # (2,) 0 .. 1: how much of the weight it may be given
    swings: Floats1  # (2,) 1: in the air on purpose
    steered: Floats1  # (2,) 0 .. 1: how much it is held to its place
    place: Floats2  # (2, 3) of the middle of the sole,
    place_velocity: Floats2  # (2, 3)
    place_acceleration: Floats2  # (2, 3)
    turn: Floats2  # (2, 9) orientation of the foot there
    # its state and what it found
    off: Vector
    fed_body: int
    wanted: Vector  # xi_d
    cop_wanted: Vector  # p
    cop: Vector  # of the sole forces that are asked for
    margin: float  # of xi in the polygon [m]
    state: int
    polygon: Floats2  # (16, 2) its corners, and
    corners: int
    point: Floats2  # (16, 2) scratch
    a_ref: Floats1  # (nv,) accelerations of steered legs


load = block_loader((Avatar, False), (Balance, False), (SoleForces, False), (Legs, False))


@kernel
def upright_error(m, w, b):
    """(log(R_d R^T), R) of the trunk."""
    R, _ = body_frame(m, w, b.trunk)
    E = compose(part9(b.R_rest), transpose(R))
    return quaternion_log(matrix_quaternion(E)), R


@kernel
def part9(x):
    return (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8])


@kernel
def sole_middle(a, side):
    """Of four corners."""
    return scale(0.25, add(add(get3(a.sole, 4 * side), get3(a.sole, 4 * side + 1)),
                           add(get3(a.sole, 4 * side + 2), get3(a.sole, 4 * side + 3))))  # fmt: skip


@kernel
def find_polygon(a, b):
    """Of the soles that may bear."""
    n = 0
    for k in range(SOLE_CORNERS):
        if b.bears[k // 4] > 0.0:
            b.point[n, 0], b.point[n, 1] = a.sole[k, 0], a.sole[k, 1]
            n += 1
    b.corners = convex_hull(b.point, n, b.polygon) if n > 0 else 0
    b.margin = margin(b.polygon, b.corners, a.capture[0], a.capture[1]) if n > 0 else -1.0


@kernel
def lean(a, b, dt):
    """off: where the centre of mass stands still although hands push: m g off = -(f z + n)."""
    mg = b.mass * a.w * a.w * a.height_m
    f, n = known_push(a, b)
    x = -(f[0] * a.height_m + n[1]) / mg
    y = -(f[1] * a.height_m - n[0]) / mg
    size = math.sqrt(x * x + y * y)
    part = min(1.0, b.lean_m / size) if size > 0.0 else 0.0
    rate = dt / (LEAN_S + dt)
    b.off = add_scaled(b.off, rate, sub((part * x, part * y, 0.0), b.off))


@kernel
def known_push(a, b):
    """Force and moment about c of hands, and of what it carries."""
    s = b.feeds
    return (add(scale(s, a.push_smooth), a.load), add(scale(s, a.push_moment_smooth), a.load_moment))


@kernel
def reference(a, b):
    """c_ref: over the feet as it rested over them, and where a behaviour leans it."""
    x, y, total = 0.0, 0.0, 0.0
    for side in range(2):
        part = 1.0 - b.swings[side]
        at = sole_middle(a, side)
        x, y, total = x + part * at[0], y + part * at[1], total + part
    if total > 0.0:
        x, y = x / total, y / total
    return (x + b.rest_at[0] + a.lean[0], y + b.rest_at[1] + a.lean[1], 0.0)


@kernel
def wanted_wrench(m, w, a, b):
    """(N, F) of the soles."""
    f, n = known_push(a, b)
    mww = b.mass * a.w * a.w
    gain = 1.0 + b.k / a.w
    ref = reference(a, b)
    b.wanted = (ref[0] + b.off[0], ref[1] + b.off[1], a.floor_m)
    x = b.wanted[0] + gain * (a.capture[0] - b.wanted[0]) + f[0] / mww
    y = b.wanted[1] + gain * (a.capture[1] - b.wanted[1]) + f[1] / mww
    if b.corners > 0:
        exceed = b.step_exceed_m if b.braced > 0.0 else b.exceed_m
        x, y = pull_in(b.polygon, b.corners, x, y, exceed - b.margin_m)
    b.cop_wanted = (x, y, a.floor_m)
    up = b.k_z * (a.height_m - b.lower_m - (a.com[2] - a.floor_m)) - 2.0 * math.sqrt(b.k_z) * a.com_velocity[2]
    F = (mww * (a.com[0] - x), mww * (a.com[1] - y), mww * a.height_m + b.mass * up - f[2])
    turned, _ = upright_error(m, w, b)
    spin = point_motion(m, w, b.trunk, ZERO)[4]
    K, D = (b.step_K_R, b.step_D_R) if b.braced > 0.0 else (b.K_R, b.D_R)
    N = sub(add_scaled(scale(K, turned), -D, spin), n)
    return N, (F[0], F[1], max(F[2], 0.0))


@kernel
def find_cop(a, b, f):
    """Centre of pressure of the sole forces, on the floor."""
    x, y, total = 0.0, 0.0, 0.0
    for k in range(SOLE_CORNERS):
        z = f.force[k, 2]
        x, y, total = x + z * f.corner[k, 0], y + z * f.corner[k, 1], total + z
    b.cop = (x / total, y / total, a.floor_m) if total > 1.0 else (a.com[0], a.com[1], a.floor_m)


@kernel
def set_gains(m, s, a, b):
    for k in range(a.axis_first, a.axis_end):
        limb = a.limb[k]
        if limb >= 0:
            s.kp[k], s.kv[k] = b.kp[limb], b.kv[limb]


@kernel
def go_limp(s, a):
    """It falls like a body, gently braked."""
    for k in range(a.axis_first, a.axis_end):
        if a.limb[k] >= 0:
            s.kp[k], s.kv[k] = LIMP


@kernel
def watch_loads(m, w, a, b, dt):
    """Which feet are to be held to their places, and where those are: where they were when last they bore."""
    weight = b.mass * a.w * a.w * a.height_m
    rate = dt / (LOADING_S + dt)
    for side in range(2):
        if b.swings[side] > 0.0:
            b.steered[side] = 1.0
            continue
        free = min(max((b.loaded * weight - a.foot_load[side]) / ((b.loaded - b.light) * weight), 0.0), 1.0)
        b.steered[side] += rate * (free - b.steered[side])
        if b.steered[side] < 1e-3:
            b.steered[side] = 0.0
            at = sole_middle(a, side)
            put3(b.place, side, (at[0], at[1], a.floor_m))
        put3(b.place_velocity, side, ZERO)
        put3(b.place_acceleration, side, ZERO)


@kernel
def has_fallen(m, w, a, b):
    R, _ = body_frame(m, w, a.chest)
    return a.com[2] - a.floor_m < LOW * a.height_m or R[8] < LEANING


@kernel
def push_soles(m, w, a, b, f):
    for k in range(SOLE_CORNERS):
        push_link(w, m.body_link[a.foot[k // 4]], sub(get3(f.corner, k), get3(w.origin, a.first)), get3(f.force, k))


@kernel
def push_hands(m, w, a, b):
    """The known push, on the body that feels it or felt it last."""
    if a.touched != 0:
        b.fed_body = a.touched
    if b.feeds > 0.0 and b.fed_body != 0:
        link = m.body_link[b.fed_body]
        push_link(w, link, sub(a.com, get3(w.origin, a.first)), a.push_smooth)
        for r in range(3):
            w.F[link, r] -= a.push_moment_smooth[r]


# three pieces that are compiled by themselves: one function of all of it takes a minute to compile


@shared("void(intp)")
def ask_soles(address):
    """Sole forces for what is wanted."""
    a, b, f, _ = load(address)
    m, w, _, _, _, _ = load_world(a.world)
    tree_motion_forces(m, b.a_ref, w, a.first, a.end)
    N, F = wanted_wrench(m, w, a, b)
    for k in range(SOLE_CORNERS):
        f.bears[k] = b.bears[k // 4]
        put3(f.corner, k, point_motion(m, w, a.foot[k // 4], get3(b.sole_at, k))[2])
    f.moment_weight = b.step_moment_weight if b.braced > 0.0 else b.moment_weight
    start_if_unknown(f)
    distribute(f, a.com, N, F)
    find_cop(a, b, f)


@shared("void(intp, int64)")
def ask_leg(address, side):
    """Targets of a leg's springs."""
    a, b, _, legs = load(address)
    m, w, _, _, _, s = load_world(a.world)
    steer_leg(m, w, s, a, b, legs, side)


@shared("void(intp)")
def ask_joints(address):
    """Torques for the sole forces."""
    a, b, f, _ = load(address)
    m, w, _, _, _, s = load_world(a.world)
    push_soles(m, w, a, b, f)
    push_hands(m, w, a, b)
    add_projected(m, b.a_ref, w, a.first + 1, a.end, s.tau)  # the root's own rows stay as they are


@routine
def tick_balance(address):
    a, b, _, _ = load(address)
    m, w, _, _, _, s = load_world(a.world)
    if b.on == 0.0:
        b.state = OFF
        return 0
    if a.fallen != 0 or has_fallen(m, w, a, b):
        a.fallen, b.state = 1, FALLEN
        go_limp(s, a)
        return 0
    set_gains(m, s, a, b)
    watch_loads(m, w, a, b, s.dt)
    find_polygon(a, b)
    lean(a, b, s.dt)
    for j in range(a.v_first, a.v_end):
        b.a_ref[j] = 0.0
    for side in range(2):
        ask_leg(address, side)
    ask_soles(address)
    ask_joints(address)
    b.state = STEPPING if b.swings[0] + b.swings[1] > 0.0 else STANDING
    return 0


@routine
def reset_balance(address):
    """Standing, where the world starts: that is its rest."""
    a, b, f, _ = load(address)
    m, w, _, _, _, s = load_world(a.world)
    b.off, b.lower_m, b.braced, b.fed_body = ZERO, 0.0, 0.0, 0
    b.state = STANDING
    x, y = 0.0, 0.0
    for side in range(2):
        at = sole_middle(a, side)
        x, y = x + 0.5 * at[0], y + 0.5 * at[1]
        b.bears[side], b.swings[side], b.steered[side] = 1.0, 0.0, 0.0
        put3(b.place, side, (at[0], at[1], a.floor_m))
        put3(b.place_velocity, side, ZERO)
        put3(b.place_acceleration, side, ZERO)
        put9(b.turn, side, body_frame(m, w, a.foot[side])[0])
    b.rest_at = (a.com[0] - x, a.com[1] - y, 0.0)
    b.wanted, b.cop_wanted, b.cop = a.capture, a.capture, a.capture
    R, _ = body_frame(m, w, b.trunk)
    for r in range(9):
        b.R_rest[r] = R[r]
    for r in range(6):
        f.y[r] = 0.0
    for n in range(a.q_first, a.q_end):
        b.q_rest[n] = s.q_hold[n]
    find_polygon(a, b)
    return 0
