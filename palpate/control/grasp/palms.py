"""Inverse kinematics of two palms: one damped step a tick, on the joints' tangent space, so for any kind of joint.

    e   = (0.7 log(R_d R^T), p_d - p) of both palms, each no longer than a palm may go in a tick          12 numbers
    dq  = z + W J^T (J W J^T + l^2)^-1 (e - J z),     z = k J_e^T (elbows' way outwards that is missing)
    q_d <- q_d (+) dq

A joint at an end of its range loses its column, and the step is solved again.  The rest of the body is where it is: a
waist that sways moves the palms' targets in its own axes, not the palms.

J, J_e  of palms, and of the elbows outwards;  W  share of each joint in the motion;  l = 0.02
m, s  model and state of the World;  w  scratch of its own, where the joints are at q_d;  a  Avatar;  t  TwoPalms
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from palpate.control.avatar import Actor
from palpate.control.limbs import LEFT, LEFT_ARM, RIGHT, RIGHT_ARM
from palpate.conventions import WORLD
from palpate.dynamics.cholesky import cholesky_solve
from palpate.dynamics.coordinates import integrate
from palpate.dynamics.jacobian import body_frame
from palpate.dynamics.kinematics import angles, put_frame
from palpate.jit import Struct, Vector, kernel
from palpate.model.model import CHAIN, Floats1, Floats2, Ints1, Model
from palpate.spatial.quaternions import matrix_quaternion, rotation_between
from palpate.spatial.vectors import add, cross, dot, get3, get4, get6, rotate, scale, sub

DAMPING = 0.02**2
TURN_SHARE = 0.7
ELBOW_GAIN = 0.1  # of the elbow's way that is missing, a tick [1/m]
FASTEST_RAD_S = 4.0  # of a joint
FASTEST_M_S = 0.45  # of a palm
ROUNDS = 3  # that joints at their ends are left out in
ARM_NM_RAD, ARM_NMS_RAD = 400.0, 20.0
# Reference 4.1 has 0.30 m, 0.28 to 0.32 work there; here at 0.30 a human's forearm meets the trunk when the palms go
# 0.15 m sideways, and at 0.34 it does not.
ELBOW_M = {"hrp2": 0.30, "human": 0.34}
BOTH_SIDES = 3


class TwoPalms(Struct):
    """n joints' axes take part, with k coordinates."""

    dt: float
    elbow_m: float  # wanted of each elbow from the middle of the body
    fastest_rad_s: float
    fastest_m_s: float  # of a palm
    left: Vector  # the avatar's own
    error_m: float  # of the palms at q_d, and
    error_rad: float
    axis: Ints1  # (n,) which of the World
    moves: Ints1  # (n,) 1: the right palm, 2: the left, 3: both
    lifts: Ints1  # (n,) 1: the elbow of those
    share: Floats1  # (n,) W
    kp: Floats1  # (n,) gains while the hands are busy [N m/rad], and
    kv: Floats1  # (n,) [N m s/rad]
    coordinate: Ints1  # (k,) which of the World
    shoulder: Ints1  # (2,) links
    q: Floats1  # (nq,) q_d; what takes no part is where it is
    dq: Floats1  # (nv,) the step
    target: Floats2  # (2, 3) p_d [m]
    turn: Floats2  # (2, 4) R_d
    e: Floats1  # (12,) scratch, as all below
    J: Floats2  # (12, n)
    JJ: Floats2  # (12, 12)
    y: Floats1  # (12,)
    z: Floats1  # (n,)
    kept: Floats1  # (k,)
    free: Ints1  # (n,)


@kernel
def own_positions(m, q, w, first, end):
    """R, p, S and origin of the links first .. end of one tree, as `positions` of all."""
    angles(m, q, w)
    for i in range(first, end):
        put_frame(m, i, q, w)


@kernel
def palm_frame(m, w, a, side):
    """(R, p) of a palm: R of its hand to world axes, p from the tree's reference point."""
    R, p = body_frame(m, w, a.hand[side])
    return R, add(p, rotate(R, get3(a.palm_at, side)))


@kernel
def place_palms(m, s, w, a, t):
    """The body as it is, with the arms at q_d."""
    for n in range(t.coordinate.shape[0]):
        t.kept[n] = t.q[t.coordinate[n]]
    for n in range(a.q_first, a.q_end):
        t.q[n] = s.q[n]
    for n in range(t.coordinate.shape[0]):
        t.q[t.coordinate[n]] = t.kept[n]
    own_positions(m, t.q, w, a.first, a.end)
    R = body_frame(m, w, a.chest)[0]
    left = (R[1], R[4], 0.0)
    t.left = scale(1.0 / max(math.sqrt(dot(left, left)), 1e-9), left)


@kernel
def rebase(s, t):
    """q_d := q of what takes part."""
    for n in range(t.coordinate.shape[0]):
        t.q[t.coordinate[n]] = s.q[t.coordinate[n]]


@kernel
def palm_errors(m, w, a, t):
    """e, and how far the palms are off at q_d."""
    t.error_m, t.error_rad = 0.0, 0.0
    origin = get3(w.origin, a.first)
    for side in range(2):
        R, p = palm_frame(m, w, a, side)
        r = rotation_between(matrix_quaternion(R), get4(t.turn, side))
        gap = sub(get3(t.target, side), add(origin, p))
        far, turned = math.sqrt(dot(gap, gap)), math.sqrt(dot(r, r))
        t.error_m, t.error_rad = max(t.error_m, far), max(t.error_rad, turned)
        gap = scale(min(1.0, t.fastest_m_s * t.dt / max(far, 1e-12)), gap)  # a target may be anywhere
        r = scale(TURN_SHARE * min(1.0, t.fastest_rad_s * t.dt / max(turned, 1e-12)), r)
        for c in range(3):
            t.e[6 * side + c], t.e[6 * side + 3 + c] = r[c], gap[c]


@kernel
def palm_jacobian(m, w, a, t):
    """J, and z: what moves the elbows to where they should be."""
    t.J[:, :] = 0.0
    middle = body_frame(m, w, a.chest)[1]
    for c in range(t.axis.shape[0]):
        sw, sv = get6(w.S, t.axis[c])
        t.z[c], t.free[c] = 0.0, 1
        for side in range(2):
            if not t.moves[c] & (side + 1):
                continue
            u = add(sv, cross(sw, palm_frame(m, w, a, side)[1]))
            for r in range(3):
                t.J[6 * side + r, c], t.J[6 * side + 3 + r, c] = sw[r], u[r]
            if t.lifts[c] and t.elbow_m > 0.0:
                outwards = scale(-1.0 if side == RIGHT else 1.0, t.left)
                elbow = body_frame(m, w, a.elbow[side])[1]
                missing = t.elbow_m - dot(outwards, sub(elbow, middle))
                t.z[c] += ELBOW_GAIN * missing * dot(outwards, add(sv, cross(sw, elbow)))


@kernel
def damped_step(m, t):
    """dq of the free columns."""
    n = t.axis.shape[0]
    for c in range(n):
        for r in range(12):
            t.J[r, c] *= t.free[c]
        t.z[c] *= t.free[c]
    for r in range(12):
        y = t.e[r]
        for c in range(n):
            y -= t.J[r, c] * t.z[c]
        t.y[r] = y
        for k in range(r + 1):
            x = DAMPING if k == r else 0.0
            for c in range(n):
                x += t.J[r, c] * t.share[c] * t.J[k, c]
            t.JJ[r, k] = x
    cholesky_solve(t.JJ, t.y)
    most = 0.0
    for c in range(n):
        x = t.z[c]
        for r in range(12):
            x += t.share[c] * t.J[r, c] * t.y[r]
        t.z[c] = x
        most = max(most, abs(x))
    t.dq[:] = 0.0
    slower = min(1.0, t.fastest_rad_s * t.dt / max(most, 1e-12))
    for c in range(n):
        t.z[c] *= slower
        t.dq[m.axis_v[t.axis[c]]] = t.z[c]


@kernel
def leave_ranges(m, s, t):
    """Joints that the step would take beyond their ends lose their columns; how many did."""
    lost = 0
    for c in range(t.axis.shape[0]):
        k = t.axis[c]
        if s.chain[k] and t.free[c]:
            q = t.q[m.axis_q[k]] + t.z[c]
            if (q < s.lower[k] and t.z[c] < 0.0) or (q > s.upper[k] and t.z[c] > 0.0):
                t.free[c] = 0
                lost += 1
    return lost


@kernel
def reach_palms(m, s, w, a, t):
    """One step of q_d towards both targets; leaves dq, and how far off the palms were before it."""
    place_palms(m, s, w, a, t)
    palm_errors(m, w, a, t)
    palm_jacobian(m, w, a, t)
    for _ in range(ROUNDS):
        damped_step(m, t)
        if leave_ranges(m, s, t) == 0:
            break
        t.z[:] = 0.0  # elbows wait for the next tick
    for c in range(t.axis.shape[0]):
        if t.free[c] == 0:
            t.dq[m.axis_v[t.axis[c]]] = 0.0
    integrate(m, t.q, t.dq, 1.0, t.q)


@kernel
def hold_arms(m, s, t):
    """The joints' implicit springs follow q_d, with its velocity."""
    for n in range(t.coordinate.shape[0]):
        s.q_hold[t.coordinate[n]] = t.q[t.coordinate[n]]
    for c in range(t.axis.shape[0]):
        k = t.axis[c]
        s.v_hold[m.axis_v[k]] = t.dq[m.axis_v[k]] / t.dt
        s.kp[k], s.kv[k] = t.kp[c], t.kv[c]


# ---- what takes part


def two_palms(actor: Actor, trunk: Sequence[str] | None = None, elbow_m: float | None = None) -> TwoPalms:
    """The arms of an avatar and, by name, joints of its trunk; None: the waist's yaw of HRP-2, and none of the human's,
    whose feet slid when its trunk took part (reference 4.4)."""
    world, model = actor.world, actor.world.model
    m, a, state = model.arrays, actor.avatar, world.arrays.state
    is_hrp2 = actor.limbs.waist == "WAIST"
    names = ("CHEST_JOINT0",) if trunk is None and is_hrp2 else tuple(trunk or ())
    axes = [k for k in range(a.axis_first, a.axis_end) if a.limb[k] in (RIGHT_ARM, LEFT_ARM)]
    more = [k for name in names for k in joint_axes(model, actor.prefix + name)]
    for k in more:
        if not a.axis_first <= k < a.axis_end:
            raise ValueError(f"{names} are no joints of this avatar")
    elbow = [int(m.body_link[b]) for b in a.elbow]
    hands = [int(m.body_link[b]) for b in a.hand]
    ways = [way_up(m.parent, link) for link in hands], [way_up(m.parent, link) for link in elbow]
    link_of = np.repeat(np.arange(model.n_links), m.axis_count)
    both = [*more, *axes]
    moves = [sum(1 << side for side in (RIGHT, LEFT) if link_of[k] in ways[0][side]) for k in both]
    lifts = [any(link_of[k] in ways[1][side] for side in (RIGHT, LEFT)) for k in both]
    links = sorted({int(link_of[k]) for k in both})
    coordinates = [int(m.axis_q[k]) for k in both if m.kind[link_of[k]] == CHAIN]
    coordinates += [int(m.q_begin[i]) + c for i in links if m.kind[i] != CHAIN for c in range(4)]
    is_arm = np.array([a.limb[k] in (RIGHT_ARM, LEFT_ARM) for k in both])
    shoulders = [min(i for i in way if a.limb[m.axis_begin[i]] in (RIGHT_ARM, LEFT_ARM)) for way in ways[0]]
    n, size = len(both), -a.palm_at[0, 2] / 0.09 if not is_hrp2 else 1.0  # a tall human reaches wider

    def ints(values: Any) -> Ints1:
        return np.array(values, dtype=np.int64)

    return TwoPalms(
        dt=world.dt, elbow_m=size * ELBOW_M["hrp2" if is_hrp2 else "human"] if elbow_m is None else elbow_m,
        fastest_rad_s=FASTEST_RAD_S, fastest_m_s=FASTEST_M_S, axis=ints(both), moves=ints(moves), lifts=ints(lifts),
        share=np.ones(n),
        kp=np.where(is_arm, ARM_NM_RAD, state.kp[both]), kv=np.where(is_arm, ARM_NMS_RAD, state.kv[both]),
        coordinate=ints(sorted(coordinates)), shoulder=ints(shoulders), q=state.q.copy(), dq=np.zeros(model.nv),
        target=np.zeros((2, 3)), turn=np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), e=np.zeros(12), J=np.zeros((12, n)),
        JJ=np.zeros((12, 12)), y=np.zeros(12), z=np.zeros(n), kept=np.zeros(len(coordinates)),
        free=np.ones(n, dtype=np.int64),
    )  # fmt: skip


def joint_axes(model: Model, name: str) -> list[int]:
    """Axes of a joint."""
    where = model.v_index[name]
    return [k for k, j in enumerate(model.arrays.axis_v) if where.start <= j < where.stop]


def way_up(parent: Ints1, link: int) -> set[int]:
    """A link and all that it hangs on."""
    way = set()
    while link != WORLD:
        way.add(link)
        link = int(parent[link])
    return way
