"""Compliance of what is held: a hand leads it, and the palms go with it.

Object form, the default.  What is held moves as a mass on a damper would (and a spring, if there is one), and both
palms' targets move with it; orientation turns about what is admitted:

    M_o v' + B_o v + K_o x = f,     I_o w' + C_o w = n                     implicit: stable for any damping

Joint form, the paper's (22), on the joints' tangent space: q_d itself yields to the force, transported to the wrists:

    M q''_d + B q'_d = sum_k J_k^T (pinv(G) (f, n))_k,     q_d <- q_d (+) h q'_d

J B^-1 J^T is not diagonal, so its palms wander and turn, and squeeze is lost: it is here to be compared with.

f, n  what hands do to the object, at its origin;  o  ObjectForm;  j  JointForm;  t  TwoPalms;  m, w, a  as in palms.py
"""

from __future__ import annotations

import math

import numpy as np

from palpate.control.grasp.palms import TwoPalms, palm_frame
from palpate.control.grasp.wrenches import split
from palpate.dynamics.coordinates import integrate
from palpate.jit import Struct, Vector, kernel
from palpate.model.model import Floats1
from palpate.spatial.quaternions import quaternion_exp, quaternion_matrix, quaternion_product
from palpate.spatial.vectors import add, cross, dot, get3, get4, get6, put3, rotate, scale, sub

ZERO = (0.0, 0.0, 0.0)
MASS_KG, DAMPING_NS_M = 2.0, 30.0
INERTIA_KG_M2, DAMPING_NMS_RAD = 0.05, 1.5
LEAD_M = 0.03  # the targets' before they wait for the palms
LEAD_RAD = 0.15
JOINT_KG_M2, JOINT_NMS_RAD = 1.0, 5.0


class ObjectForm(Struct):
    """What is felt, and how what is held moves."""

    dt: float
    mass_kg: float  # M_o
    damping_Ns_m: float  # B_o
    stiffness_N_m: float  # K_o, towards where it was taken; 0: it stays where it is led
    inertia_kg_m2: float
    damping_Nms_rad: float
    fastest_m_s: float
    widest_rad: float  # that it may be turned
    admits: Vector  # 1: along this world axis, and
    admits_turn: Vector  # about it
    force: Vector  # f [N]
    torque: Vector  # n [N m]
    velocity: Vector  # v [m/s]
    spin: Vector  # w [rad/s]
    moved: Vector  # x [m]
    turned: Vector  # [rad]


class JointForm(Struct):
    """Of the axes of TwoPalms, one number each."""

    mass: Floats1  # (n,) M [kg m^2]
    damping: Floats1  # (n,) B [N m s/rad]
    rate: Floats1  # (n,) q'_d [rad/s]


@kernel
def times(a, b):
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


@kernel
def begin_form(o, j):
    """At rest, where it is."""
    o.velocity, o.spin, o.moved, o.turned = ZERO, ZERO, ZERO, ZERO
    j.rate[:] = 0.0


@kernel
def yield_to(o):
    """A tick of the object form: velocity and spin."""
    h = o.dt
    f = times(o.admits, sub(o.force, scale(o.stiffness_N_m, o.moved)))
    heavy = o.mass_kg + h * o.damping_Ns_m + h * h * o.stiffness_N_m
    v = scale(1.0 / heavy, add(scale(o.mass_kg, times(o.admits, o.velocity)), scale(h, f)))
    speed = math.sqrt(dot(v, v))
    o.velocity = scale(min(1.0, o.fastest_m_s / max(speed, 1e-9)), v)
    w = add(scale(o.inertia_kg_m2, times(o.admits_turn, o.spin)), scale(h, times(o.admits_turn, o.torque)))
    o.spin = scale(1.0 / (o.inertia_kg_m2 + h * o.damping_Nms_rad), w)


@kernel
def lead_palms(o, t, a, about):
    """The palms' targets move with the object, about its origin, unless they lead the palms by LEAD_M already."""
    lead = scale(0.5, add(sub(get3(t.target, 0), get3(a.palm, 0)), sub(get3(t.target, 1), get3(a.palm, 1))))
    if dot(lead, lead) > LEAD_M * LEAD_M and dot(lead, o.velocity) > 0.0:
        o.velocity = ZERO  # nothing is saved up: it goes on when the palms are there
    turn = add(o.turned, scale(o.dt, o.spin))
    if dot(turn, turn) > o.widest_rad * o.widest_rad and dot(turn, o.spin) > 0.0:
        o.spin = ZERO
    step, by = scale(o.dt, o.velocity), scale(o.dt, o.spin)
    o.moved, o.turned = add(o.moved, step), add(o.turned, by)
    quarter = quaternion_exp(by[0], by[1], by[2])
    R = quaternion_matrix(quarter[0], quarter[1], quarter[2], quarter[3])
    for side in range(2):
        arm = sub(get3(t.target, side), about)
        put3(t.target, side, add(add(about, rotate(R, arm)), step))
        turned = quaternion_product(quarter, get4(t.turn, side))
        for r in range(4):
            t.turn[side, r] = turned[r]


@kernel
def yield_joints(m, w, a, t, o, j, about):
    """A tick of (22): q_d, dq.  The palms are where q_d has them (palms.place_palms)."""
    origin = get3(w.origin, a.first)
    right, left = palm_frame(m, w, a, 0)[1], palm_frame(m, w, a, 1)[1]
    f1, f2, n = split(times(o.admits, o.force), o.torque, about, add(origin, right), add(origin, left))
    h = o.dt
    t.dq[:] = 0.0
    for c in range(t.axis.shape[0]):
        sw, sv = get6(w.S, t.axis[c])
        pull = 0.0
        for side in range(2):
            if t.moves[c] & (side + 1):
                p, f = (left, f2) if side else (right, f1)
                pull += dot(sw, n) + dot(add(sv, cross(sw, p)), f)
        j.rate[c] += h * (pull - j.damping[c] * j.rate[c]) / (j.mass[c] + h * j.damping[c])
        t.dq[m.axis_v[t.axis[c]]] = h * j.rate[c]
    integrate(m, t.q, t.dq, 1.0, t.q)


def object_form(dt: float, fastest_m_s: float) -> ObjectForm:
    return ObjectForm(
        dt=dt, mass_kg=MASS_KG, damping_Ns_m=DAMPING_NS_M, inertia_kg_m2=INERTIA_KG_M2,
        damping_Nms_rad=DAMPING_NMS_RAD, fastest_m_s=fastest_m_s, widest_rad=0.45,
    )  # fmt: skip


def joint_form(palms: TwoPalms, mass: float = JOINT_KG_M2, damping: float = JOINT_NMS_RAD) -> JointForm:
    n = len(palms.axis)
    return JointForm(mass=np.full(n, mass), damping=np.full(n, damping), rate=np.zeros(n))
