"""The PHANToM Premium 1.5: kinematics and dynamics of its three joints, in the thesis' axes.

Axes        x to the right, y up, z out of the device towards the person; the origin is the tip at zero angles [m].
theta       the base's turn about y, the elevation of link 1, and that of link 2 from the vertical [rad]
tip         (s1 r, l2 + l1 s2 - l2 c3, -l1 + c1 r),  r = l1 c2 + l2 s3,  ci, si = cosine and sine of theta_i
J           d tip / d theta, row-major;  det J = l1 l2 r cos(theta2 - theta3);  tau = J^T F
dynamics    M theta'' + C theta' + S_theta^T (a_b + (0, g, 0)) + friction = tau + J^T F_ext
M           (M11, M22, M33, M23), the others are zero;  C row-major, Christoffel;  S the first moment of mass [kg m]
a_b         acceleration of the base [m/s^2];  F_ext force of the hand on the tip [N]

Reference on the mobile display, 2.3, 2.6 and 5.4: Cavusoglu, Feygin and Tendick 2002, with the minus sign in C32 that
the Christoffel form has and printed listings lack.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from palpate.conventions import GRAVITY
from palpate.haptics.devices.protocol import HAND_SPEED_M_S, WRIST_SPEED_RAD_S, DeviceSpec
from palpate.jit import Struct, entry, kernel
from palpate.model.model import Floats1
from palpate.spatial.vectors import add, column, rotate

# links of the identified device [m]; the thesis' own kinematics use 209.55 mm for both
L1, L2, L3, L5, L6 = 0.215, 0.170, 0.0325, -0.0368, 0.0527
# masses [kg] and inertias (xx, yy, zz) [kg m^2] of the links a, c and of the pairs be, df
M_A, M_C, M_BE, M_DF = 0.0202, 0.0249, 0.2359, 0.1906
I_BASE = 11.87e-4
I_A = (0.4864e-4, 0.001843e-4, 0.4864e-4)
I_C = (0.959e-4, 0.959e-4, 0.0051e-4)
I_BE = (11.09e-4, 10.06e-4, 0.591e-4)
I_DF = (7.11e-4, 0.629e-4, 6.246e-4)

# what of them enters M, C and S
K = L1 * (L2 * M_A + L3 * M_C)
A = 4 * (I_BE[1] - I_BE[2] + I_C[1] - I_C[2]) + 4 * L1**2 * M_A + L1**2 * M_C
B = 4 * (I_A[2] - I_A[1] + I_DF[2] - I_DF[1]) + L2**2 * M_A + 4 * L3**2 * M_C
M11_MEAN = (
    4 * (I_A[1] + I_A[2] + 2 * I_BASE + I_BE[1] + I_BE[2] + I_C[1] + I_C[2] + I_DF[1] + I_DF[2])
    + (4 * L1**2 + L2**2) * M_A + (L1**2 + 4 * L3**2) * M_C
) / 8  # fmt: skip
M22 = I_BE[0] + I_C[0] + L1**2 * M_A + L1**2 * M_C / 4
M33 = I_A[0] + I_DF[0] + L2**2 * M_A / 4 + L3**2 * M_C
P = L1 * M_A + L5 * M_BE + L1 * M_C / 2
Q = L2 * M_A / 2 + L3 * M_C - L6 * M_DF
G = -GRAVITY[2]

# joint limits [rad], the last of theta2 - theta3
DEGREE = math.pi / 180
LOW = (-90 * DEGREE, -124 * DEGREE, -29 * DEGREE, -55 * DEGREE)
HIGH = (90 * DEGREE, 119 * DEGREE, 214 * DEGREE, 65 * DEGREE)


# ---- axes


@kernel
def device_axes(p):
    """Thesis axes -> ours (x away from the person, y to their left, z up): the one place where they meet."""
    return (-p[2], -p[0], p[1])


@kernel
def thesis_axes(p):
    """Ours -> the thesis'."""
    return (-p[1], p[2], -p[0])


# ---- kinematics


@kernel
def forward(l1, l2, theta):
    """The tip [m]."""
    r = l1 * math.cos(theta[1]) + l2 * math.sin(theta[2])
    y = l2 + l1 * math.sin(theta[1]) - l2 * math.cos(theta[2])
    return (math.sin(theta[0]) * r, y, math.cos(theta[0]) * r - l1)


@kernel
def inverse(l1, l2, p):
    """(theta of the elbow branch that the device has, whether the point can be reached); zeros if it cannot."""
    depth, y = p[2] + l1, p[1] - l2
    d = math.hypot(p[0], depth)
    rho = math.hypot(d, y)
    if not (abs(l1 - l2) <= rho <= l1 + l2 and rho > 0.0):
        return (0.0, 0.0, 0.0), False
    # rounding may carry a point on the edge of the reach past the end of acos
    elevation = math.acos(min(1.0, max(-1.0, (l1 * l1 + rho * rho - l2 * l2) / (2.0 * l1 * rho))))
    elbow = math.acos(min(1.0, max(-1.0, (l1 * l1 + l2 * l2 - rho * rho) / (2.0 * l1 * l2))))
    theta2 = elevation + math.atan2(y, d)
    return (math.atan2(p[0], depth), theta2, theta2 + elbow - 0.5 * math.pi), True


@kernel
def jacobian(l1, l2, theta):
    """d tip / d theta [m/rad], row-major."""
    c1, c2, c3 = math.cos(theta[0]), math.cos(theta[1]), math.cos(theta[2])
    s1, s2, s3 = math.sin(theta[0]), math.sin(theta[1]), math.sin(theta[2])
    r = l1 * c2 + l2 * s3
    return (c1 * r, -s1 * l1 * s2, s1 * l2 * c3,
            0.0, l1 * c2, l2 * s3,
            -s1 * r, -c1 * l1 * s2, c1 * l2 * c3)  # fmt: skip


# ---- dynamics of the identified device


@kernel
def inertia(theta):
    """(M11, M22, M33, M23) [kg m^2]."""
    m11 = M11_MEAN + (A * math.cos(2.0 * theta[1]) - B * math.cos(2.0 * theta[2])) / 8.0
    m11 += K * math.cos(theta[1]) * math.sin(theta[2])
    return (m11, M22, M33, -0.5 * K * math.sin(theta[1] - theta[2]))


@kernel
def coriolis(theta, rate):
    """C, row-major, such that M' - 2 C is skew [kg m^2/s]."""
    c2, c3, s2, s3 = math.cos(theta[1]), math.cos(theta[2]), math.sin(theta[1]), math.sin(theta[2])
    m11_2 = -s2 * (A * c2 + 2.0 * K * s3) / 4.0  # half of d M11 / d theta2, and theta3
    m11_3 = c3 * (2.0 * K * c2 + B * s3) / 4.0
    swing = 0.5 * K * math.cos(theta[1] - theta[2])
    return (m11_2 * rate[1] + m11_3 * rate[2], m11_2 * rate[0], m11_3 * rate[0],
            -m11_2 * rate[0], 0.0, swing * rate[2],
            -m11_3 * rate[0], -swing * rate[1], 0.0)  # fmt: skip


@kernel
def carried_torque(theta, a):
    """S_theta^T a: what accelerating the base by a [m/s^2] asks of the joints [N m]."""
    c1, c2, c3 = math.cos(theta[0]), math.cos(theta[1]), math.cos(theta[2])
    s1, s2, s3 = math.sin(theta[0]), math.sin(theta[1]), math.sin(theta[2])
    reach = P * c2 + Q * s3
    return (reach * (c1 * a[0] - s1 * a[2]),
            -P * s2 * (s1 * a[0] + c1 * a[2]) + P * c2 * a[1],
            Q * c3 * (s1 * a[0] + c1 * a[2]) + Q * s3 * a[1])  # fmt: skip


@kernel
def weight_torque(theta):
    """G = S_theta^T (0, g, 0): what holds the links against gravity [N m]."""
    return carried_torque(theta, (0.0, G, 0.0))


# ---- a mechanism as a simulation sees it: the arm, or a point mass

ARM, POINT = range(2)  # kinds of mechanism


class Mechanism(Struct):
    """What the device is, read-only; generalised units are rad and N m for the arm, m and N for a point mass."""

    kind: int  # ARM or POINT
    quantum: float
    tip_mass: float
    coulomb: float
    creep: float
    viscous: float
    stop_stiffness: float
    stop_damping: float
    force_limit: float  # [N]
    compensated: int
    low: Floats1  # (4,) stops of the coordinates, and of the second minus the third
    high: Floats1  # (4,)
    motor: Floats1  # (3,) largest torque or force of each motor


@kernel
def tip_and_jacobian(kind, q):
    """x [m] and J, row-major, in the device's frame."""
    if kind == POINT:
        return q, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    J = jacobian(L1, L2, q)
    a, b, c = device_axes(column(J, 0)), device_axes(column(J, 1)), device_axes(column(J, 2))
    tip = device_axes(forward(L1, L2, q))
    return tip, (a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])


@kernel
def inertia_and_bias(mechanism, q, rate):
    """(M11, M22, M33, M23), and C q' + G."""
    if mechanism.kind == POINT:  # balanced by springs or weights: feels no gravity
        m = mechanism.tip_mass
        return (m, m, m, 0.0), (0.0, 0.0, 0.0)
    return inertia(q), add(rotate(coriolis(q, rate), rate), weight_torque(q))


@kernel
def encoded(mechanism, q):
    """The coordinates as the encoders give them."""
    quantum = mechanism.quantum
    return (quantum * math.floor(q[0] / quantum + 0.5), quantum * math.floor(q[1] / quantum + 0.5),
            quantum * math.floor(q[2] / quantum + 0.5))  # fmt: skip


@kernel
def excess(mechanism, i, x):
    """How far x is beyond stop i."""
    return x - min(max(x, mechanism.low[i]), mechanism.high[i])


@kernel
def resistance(mechanism, i, q, rate, H):
    """(r, D): friction and stop of coordinate i push with r - D u while it moves at u."""
    c = mechanism
    t = math.tanh(rate / c.creep)
    slope = c.coulomb / c.creep * (1.0 - t * t)
    r, D = slope * rate - c.coulomb * t, slope + c.viscous
    over = excess(c, i, q)
    if over != 0.0:
        r, D = r - c.stop_stiffness * over, D + c.stop_damping + H * c.stop_stiffness
    return r, D


# ---- for Python


@entry("float64, float64, float64[::1], float64[::1]")
def inverse_entry(l1, l2, p, theta):
    angles, reachable = inverse(l1, l2, (p[0], p[1], p[2]))
    theta[0], theta[1], theta[2] = angles
    return reachable


def joint_angles(point_m: Sequence[float], links_m: tuple[float, float] = (L1, L2)) -> np.ndarray:
    """theta (3,) [rad] that bring the tip to a point (3,) in thesis axes [m]; a point out of reach is a ValueError."""
    p, theta = np.array(point_m, dtype=np.float64), np.empty(3)
    if p.shape != (3,) or not np.isfinite(p).all():
        raise ValueError(f"a point is three finite numbers [m], got {point_m!r}")
    if not inverse_entry(float(links_m[0]), float(links_m[1]), p, theta):
        raise ValueError(f"{p.tolist()} m is out of the reach of links of {links_m[0]:g} and {links_m[1]:g} m")
    return theta


# ---- the models: numbers of a mechanism are in rad and N m for the arm, in m and N for a point mass


class WristModel(NamedTuple):
    """What wrist.Wrist has of a device, which has none if nothing is inert."""

    inertia: float = 0.0
    quantum: float = 1.0
    coulomb: float = 0.0
    creep: float = 1.0
    viscous: float = 0.0


NO_WRIST = WristModel()


@dataclass(frozen=True)
class Model:
    """A device: what it says of itself, and its mechanism."""

    spec: DeviceSpec
    kind: int
    stops: tuple[tuple[float, float], ...]  # of the three coordinates
    difference: tuple[float, float]  # of the second minus the third
    motor: tuple[float, float, float]
    quantum: float
    coulomb: float
    creep: float  # the rate at which three quarters of Coulomb's friction act
    viscous: float
    stop_stiffness: float  # stiff, as end stops are: 8.5 N of the hand's go a tenth of a degree in
    stop_damping: float
    tip_mass_kg: float = 0.0
    wrist: WristModel = NO_WRIST

    def mechanism(self, compensated: bool) -> Mechanism:
        low, high = np.array([*self.stops, self.difference], dtype=np.float64).T.copy()
        return Mechanism(
            kind=self.kind, quantum=self.quantum, tip_mass=self.tip_mass_kg, coulomb=self.coulomb, creep=self.creep,
            viscous=self.viscous, stop_stiffness=self.stop_stiffness, stop_damping=self.stop_damping,
            force_limit=self.spec.force_limit_N, compensated=compensated, low=low, high=high,
            motor=np.array(self.motor),
        ).frozen()  # fmt: skip


def _premium() -> Model:
    """8.5 N at joint zero in every direction is what sizes the motors; the usable workspace is a sphere (1.2, 5.4).

    1.4 N for ever: the maker's data sheet.
    """
    spec = DeviceSpec("simulated:phantom-premium-1.5", force_limit_N=8.5, stiffness_limit_N_m=3500.0,
                      workspace_radius_m=0.0955, velocity_limit_m_s=HAND_SPEED_M_S, continuous_force_N=1.4)  # fmt: skip
    *stops, difference = zip(LOW, HIGH)
    return Model(
        spec, ARM, tuple(stops), difference, motor=(8.5 * L1, 8.5 * L1, 8.5 * L2),
        quantum=0.03e-3 / 0.20955, coulomb=8.4e-3, creep=0.02, viscous=5e-4, stop_stiffness=1000.0, stop_damping=1.0,
    )  # fmt: skip


def _desktop(name: str, stiffness_N_m: float) -> Model:
    """A point of 45 g with friction of 0.26 N in a box of 70 x 160 x 120 mm, seen to 0.055 mm.

    Force and stiffness are from a published table of limits; mass, friction and resolution are the maker's figures as
    remembered, the viscous part is chosen, and there are no joints: approximate, hence the name.  0.88 N for ever: the
    maker's data sheet, and what its library says of a Touch.
    """
    spec = DeviceSpec(f"simulated:{name} (approximate)", force_limit_N=3.3, stiffness_limit_N_m=stiffness_N_m,
                      workspace_radius_m=0.035, velocity_limit_m_s=HAND_SPEED_M_S, continuous_force_N=0.88)  # fmt: skip
    return Model(
        spec, POINT, ((-0.035, 0.035), (-0.08, 0.08), (-0.06, 0.06)), (-np.inf, np.inf), motor=(3.3, 3.3, 3.3),
        quantum=0.055e-3, coulomb=0.26, creep=0.004, viscous=0.2, stop_stiffness=50e3, stop_damping=30.0,
        tip_mass_kg=0.045,
    )  # fmt: skip


def _six_freedoms() -> Model:
    """The same arm with a wrist that turns about its tip, the same about every axis: approximate.

    Torques are those of the maker's data sheet about its weakest axis, as remembered: 170 mN m of roll, 48 mN m for
    ever (yaw and pitch 515 and 188 mN m); resolution of yaw and pitch 0.0023 degrees.  Inertia and friction are chosen:
    a handle of 0.1 kg within 3 cm.
    """
    model = _premium()
    spec = replace(
        model.spec, name="simulated:phantom-premium-1.5-6dof (approximate)", senses=6, actuates=6, torque_limit_Nm=0.17,
        continuous_torque_Nm=0.048, spin_limit_rad_s=WRIST_SPEED_RAD_S,
    )  # fmt: skip
    return replace(model, spec=spec, wrist=WristModel(1e-4, 0.0023 * DEGREE, 1e-3, 0.05, 1e-4))


def _gimbal() -> Model:
    """The same arm and wrist with encoders and no motors in the wrist: six freedoms sensed, three driven, as with the
    encoder stylus of such devices."""
    model = _six_freedoms()
    spec = replace(
        model.spec, name="simulated:phantom-premium-1.5-gimbal (approximate)", actuates=3, torque_limit_Nm=0.0,
        continuous_torque_Nm=np.inf,
    )  # fmt: skip
    return replace(model, spec=spec)


MODELS = {
    "phantom-premium-1.5": _premium(),
    "phantom-premium-1.5-6dof": _six_freedoms(),
    "phantom-premium-1.5-gimbal": _gimbal(),
    "touch": _desktop("touch", 400.0),
    "omni": _desktop("omni", 700.0),
}
