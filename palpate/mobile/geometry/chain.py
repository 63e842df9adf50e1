"""From the tracker on the ceiling to the tip of the arm, in compact form.  Reference on the mobile display, 2.1 to 2.6.

World       right-handed, y up, origin on the floor; the tracker hangs from the ceiling, its z down
S           the robot's sensor in the tracker's frame [m];  phi_t its heading as the tracker gives it [rad]
phi         heading of the robot, phi_t + psi + a1 cos phi_t + b1 sin phi_t + a2 cos 2 phi_t + b2 sin 2 phi_t;
            grows clockwise seen from above, the device's front is (sin phi, 0, -cos phi)
R           origin of the robot's frame in the world [m]
theta       joint angles of the PHANToM, ci, si their cosine and sine;  HIP  the tip of its tool
sr, rp      sensor -> robot in the sensor's axes, robot -> device in the robot's [m];  l1, l2 links [m]
r           l1 c2 + l2 s3, from the first axis to the HIP;  a = phi - theta1, the direction of the arm
e, f        -rp_y - l1 and -rp_x: from the robot's origin to the first axis, forward and across
J_R         d HIP / d (Rx, Rz, phi, Ry), three rows of four: the last is the lift;  J_P  d HIP / d theta, row-major
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from palpate.jit import Quaternion, Struct, Vector, kernel
from palpate.spatial.vectors import rotate_back

MM = 1e-3


class Linkage(Struct):
    """A chain as kernels read it."""

    sr: Vector
    rp: Vector
    l1: float
    l2: float
    ceiling: float
    psi: float
    harmonics: Quaternion  # a1, b1, a2, b2


# ---- base


@kernel
def heading_of(c, phi_t):
    """phi."""
    a1, b1, a2, b2 = c.harmonics
    wave = a1 * math.cos(phi_t) + b1 * math.sin(phi_t) + a2 * math.cos(2.0 * phi_t) + b2 * math.sin(2.0 * phi_t)
    return phi_t + c.psi + wave


@kernel
def robot_origin(c, phi, S):
    """R."""
    cp, sp = math.cos(phi), math.sin(phi)
    return (S[1] + c.sr[0] * sp + c.sr[1] * cp, c.ceiling + c.sr[2] - S[2], -S[0] - c.sr[0] * cp + c.sr[1] * sp)


# ---- HIP


@kernel
def hip(c, phi, R, theta):
    """The tip in the world [m]."""
    r, a = c.l1 * math.cos(theta[1]) + c.l2 * math.sin(theta[2]), phi - theta[0]
    e, f = -c.rp[1] - c.l1, -c.rp[0]
    cp, sp = math.cos(phi), math.sin(phi)
    return (
        R[0] + r * math.sin(a) + e * sp + f * cp,
        R[1] + c.rp[2] + c.l2 + c.l1 * math.sin(theta[1]) - c.l2 * math.cos(theta[2]),
        R[2] - r * math.cos(a) - e * cp + f * sp,
    )


@kernel
def hip_rotation(phi, theta):
    """Axes of the tool in the world, row-major; (4.5) as it must be, see tests/mobile/test_misprints.py."""
    ca, sa = math.cos(phi - theta[0]), math.sin(phi - theta[0])
    c3, s3 = math.cos(theta[2]), math.sin(theta[2])
    return (-ca, -s3 * sa, c3 * sa,
            0.0, c3, s3,
            -sa, s3 * ca, -c3 * ca)  # fmt: skip


# ---- velocities and forces:  HIP' = J_R (Rx', Rz', phi', Ry') + J_P theta'


@kernel
def base_jacobian(c, phi, theta):
    """J_R, (3, 4) row-major; of metres and radians."""
    r, a = c.l1 * math.cos(theta[1]) + c.l2 * math.sin(theta[2]), phi - theta[0]
    e, f = -c.rp[1] - c.l1, -c.rp[0]
    cp, sp = math.cos(phi), math.sin(phi)
    return (1.0, 0.0, r * math.cos(a) + e * cp - f * sp, 0.0,
            0.0, 0.0, 0.0, 1.0,
            0.0, 1.0, r * math.sin(a) + e * sp + f * cp, 0.0)  # fmt: skip


@kernel
def arm_jacobian(c, phi, theta):
    """J_P [m/rad];  det J_P = l1 l2 r cos(theta2 - theta3)."""
    c2, s2, c3, s3 = math.cos(theta[1]), math.sin(theta[1]), math.cos(theta[2]), math.sin(theta[2])
    r, ca, sa = c.l1 * c2 + c.l2 * s3, math.cos(phi - theta[0]), math.sin(phi - theta[0])
    return (-r * ca, -c.l1 * s2 * sa, c.l2 * c3 * sa,
            0.0, c.l1 * c2, c.l2 * s3,
            -r * sa, c.l1 * s2 * ca, -c.l2 * c3 * ca)  # fmt: skip


@kernel
def arm_torque(c, phi, theta, F):
    """tau = J_P^T F [N m], for a force on the HIP in the world's axes [N]."""
    return rotate_back(arm_jacobian(c, phi, theta), F)


@kernel
def base_reaction(c, phi, theta, F):
    """J_R^T F: (f_x, f_z [N], moment about y in the sense of phi [N m], f_y of the lift [N])."""
    J = base_jacobian(c, phi, theta)
    return (F[0], F[2], J[2] * F[0] + J[10] * F[2], F[1])


@kernel
def lift_target(c, hand_y):
    """Ry that has the hand at the device's height zero [m]."""
    return hand_y - c.rp[2]


# ---- the description


@dataclass(frozen=True)
class Chain:
    """Where sensor, robot and device sit on each other; the offsets are those that the thesis calibrated."""

    sensor_to_robot_m: tuple[float, float, float] = (203.1 * MM, 1.8 * MM, -387.6 * MM)
    robot_to_device_m: tuple[float, float, float] = (-2.1 * MM, -232.8 * MM, 41.6 * MM)
    link1_m: float = 0.20955
    link2_m: float = 0.20955
    ceiling_m: float = 2.624
    psi_rad: float = 0.0  # the robot's heading minus the tracker's
    harmonics_rad: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # a1, b1, a2, b2

    def __post_init__(self) -> None:
        for name, length in (("sensor_to_robot_m", 3), ("robot_to_device_m", 3), ("harmonics_rad", 4)):
            given = getattr(self, name)
            if len(given) != length or not all(map(math.isfinite, given)):
                raise ValueError(f"{name} is {length} finite numbers, got {given!r}")
            object.__setattr__(self, name, tuple(map(float, given)))
        for name in ("link1_m", "link2_m", "ceiling_m"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} is a length above zero, got {getattr(self, name)!r}")
        if not math.isfinite(self.psi_rad):
            raise ValueError(f"psi_rad is a finite angle, got {self.psi_rad!r}")

    @property
    def linkage(self) -> Linkage:
        """For kernels."""
        return Linkage(
            sr=self.sensor_to_robot_m, rp=self.robot_to_device_m, l1=self.link1_m, l2=self.link2_m,
            ceiling=self.ceiling_m, psi=self.psi_rad, harmonics=self.harmonics_rad,
        ).frozen()  # fmt: skip

    @property
    def combinations_m(self) -> tuple[float, float, float]:
        """(u, v, h) = (SRx - RPy, SRy - RPx, SRz + RPz): all that poses can tell of the six offsets (3.2)."""
        s, p = self.sensor_to_robot_m, self.robot_to_device_m
        return (s[0] - p[1], s[1] - p[0], s[2] + p[2])

    def with_combinations(self, u_m: float, v_m: float, h_m: float) -> Chain:
        """The chain of these combinations whose offsets are nearest: each pair shares its correction half and half."""
        s, p = self.sensor_to_robot_m, self.robot_to_device_m
        u, v, h = (0.5 * (new - old) for new, old in zip((u_m, v_m, h_m), self.combinations_m, strict=True))
        return replace(self, sensor_to_robot_m=(s[0] + u, s[1] + v, s[2] + h),
                       robot_to_device_m=(p[0] - v, p[1] - u, p[2] + h))  # fmt: skip


# as measured with a ruler, before calibration
RULER = Chain((206.0 * MM, 0.0, -370.0 * MM), (-1.6 * MM, -235.8 * MM, 59.2 * MM))
