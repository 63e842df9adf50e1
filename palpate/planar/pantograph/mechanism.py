"""Two pantographs that face each other in parallel planes, and a crank from one end point to the other with a handle.

Two end points of two freedoms each, less one for the crank's length, are three freedoms X = (x, y, angle), driven by
four motors and seen by four encoders: one of each more than needed.  Reference on planar haptics, 1.1.  Base joints
1 and 2 carry pantograph A (end point P_A), 3 and 4 carry B, seen from above, x to the right and y up:

    4 ----- 3      y = +h_b
     \\     /
      P_B          the crank, length c, angle from P_A to P_B
      P_A
     /     \\
    1 ----- 2      y = -h_b
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

MINIMUM_NORM, MIN_MAX = range(2)  # ways to share a wrench among four motors
STOP = 0.5  # of the angle at the end of the workspace: where the mechanism hits its stops
WAYS = ("minimum-norm", "min-max")


class Mechanism(NamedTuple):
    """A Pantograph for kernels."""

    l1: float  # proximal links [m]
    l2: float  # distal links [m]
    bx: float  # base joints at (+-bx, +-by) [m]
    by: float
    r: float  # half of the crank [m]
    J1: float  # of a proximal link and its rotor about the base joint [kg m^2]
    m2: float  # distal link [kg]
    I2: float  # about its middle [kg m^2]
    mc: float  # crank and handle [kg]
    Ic: float  # about its middle [kg m^2]
    bq: float  # viscous friction of a base joint [N m s/rad]
    continuous: float  # torque of a motor for ever [N m]
    peak: float  # and at most
    heat_s: float  # memory of the motors' warmth [s]
    quantum: float  # of the encoders [rad]
    speed: float  # of a base joint: what an encoder says beyond it is a jump [rad/s]
    residual: float  # of the crank's length, beyond which the encoders contradict each other [m]
    residual_samples: int  # in a row that this takes
    straight: float  # sine of an elbow's angle at the end of the workspace
    stop: float  # and at the mechanical stop
    sub_steps: int  # of the plant in one sample
    way: int  # MINIMUM_NORM or MIN_MAX


@dataclass(frozen=True)
class Pantograph:
    """The device's numbers, all chosen (reference 1.1); made into a `mechanism` for kernels.

    way   how a wrench is shared among the four motors: "minimum-norm" or "min-max"
    """

    proximal_m: float = 0.200  # l1
    distal_m: float = 0.250  # l2
    base_m: float = 0.100  # d_b: between the two base joints of one pantograph
    offset_m: float = 0.280  # h_b: from the centre to each base line
    crank_m: float = 0.100  # c
    proximal_kg: float = 0.060  # m1, a uniform rod
    distal_kg: float = 0.050  # m2
    rotor_kg_m2: float = 8.0e-5  # J_m, as seen at the joint
    handle_kg: float = 0.150  # m_c, with the crank
    handle_kg_m2: float = 2.0e-4  # I_c
    friction_Nms: float = 0.002  # b_q
    continuous_Nm: float = 0.35  # tau_c of a motor
    peak_Nm: float = 1.0  # tau_max
    heat_s: float = 10.0
    encoder_counts: int = 65_536  # N_e per turn of a joint
    joint_speed_rad_s: float = 40.0  # 2 m/s and 30 rad/s of the handle turn no joint faster than about 30
    residual_m: float = 1e-3
    residual_samples: int = 5
    straight_rad: float = 0.2  # an elbow that near to straight is the end of the workspace
    half_width_m: float = 0.08  # of the nominal workspace, in x
    half_height_m: float = 0.06  # and in y
    sub_steps: int = 2
    way: str = "minimum-norm"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "way":
                if value not in WAYS:
                    raise ValueError(f"a pantograph: way is one of {', '.join(WAYS)}, not {value!r}")
            elif field.name in ("encoder_counts", "residual_samples", "sub_steps"):
                if not (isinstance(value, int) and value >= 1):
                    raise ValueError(f"a pantograph: {field.name} must be a whole number from 1 on, got {value!r}")
            else:
                none = field.name in ("friction_Nms", "rotor_kg_m2")
                if not (isinstance(value, int | float) and (0.0 < value < math.inf or (none and value == 0.0))):
                    raise ValueError(f"a pantograph: {field.name} must be positive and finite, got {value!r}")
        if self.continuous_Nm > self.peak_Nm:
            raise ValueError(f"a pantograph: continuous_Nm {self.continuous_Nm:g} is above peak_Nm {self.peak_Nm:g}")
        if 2.0 * self.proximal_m * 2.0 * math.pi / self.encoder_counts > self.residual_m:
            raise ValueError(
                f"a pantograph: {self.encoder_counts} encoder counts are too coarse to tell a crank's length to "
                f"{self.residual_m:g} m with links of {self.proximal_m:g} m: each count would look like a fault"
            )
        if not self.reaches(self.border()).all():
            raise ValueError(
                f"a pantograph: links of {self.proximal_m:g} and {self.distal_m:g} m do not reach all of its "
                f"workspace, {self.half_width_m:g} m by {self.half_height_m:g} m to each side, at every angle"
            )

    def border(self, points: int = 9, angles: int = 72) -> np.ndarray:
        """(n, 3) poses around and across the nominal workspace, at angles all around."""
        x, y, turn = np.meshgrid(
            self.half_width_m * np.linspace(-1, 1, points), self.half_height_m * np.linspace(-1, 1, points),
            2.0 * math.pi / angles * np.arange(angles),
        )  # fmt: skip
        return np.stack([x.ravel(), y.ravel(), turn.ravel()], axis=1)

    def reaches(self, poses: np.ndarray) -> np.ndarray:
        """(n,) whether each pose (n, 3) can be taken: all four elbows bent, both pantographs on their own side."""
        l1, l2, least = self.proximal_m, self.distal_m, math.sin(self.straight_rad)
        ok = np.ones(len(poses), dtype=bool)
        for side in (-1.0, 1.0):
            u = 0.5 * self.crank_m * np.stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])], axis=1)
            P, elbows = poses[:, :2] + side * u, []
            for s in (1.0, -1.0):  # the base joints of a pantograph in their order, elbows outwards
                base = np.array([side * s * 0.5 * self.base_m, side * self.offset_m])
                ray = P - base
                R = np.hypot(*ray.T)
                cosine = (l1**2 + R**2 - l2**2) / (2.0 * l1 * np.maximum(R, 1e-300))
                ok &= np.abs((l1**2 + l2**2 - R**2) / (2.0 * l1 * l2)) < math.sqrt(1.0 - least**2)
                q = np.arctan2(ray[:, 1], ray[:, 0]) + s * np.arccos(np.clip(cosine, -1.0, 1.0))
                elbows.append(base + l1 * np.stack([np.cos(q), np.sin(q)], axis=1))
            D, up = elbows[1] - elbows[0], P - 0.5 * (elbows[0] + elbows[1])
            ok &= D[:, 0] * up[:, 1] - D[:, 1] * up[:, 0] > least * l2 * l2
        return ok

    @property
    def mechanism(self) -> Mechanism:
        return Mechanism(
            l1=self.proximal_m, l2=self.distal_m, bx=0.5 * self.base_m, by=self.offset_m, r=0.5 * self.crank_m,
            J1=self.rotor_kg_m2 + self.proximal_kg * self.proximal_m**2 / 3.0, m2=self.distal_kg,
            I2=self.distal_kg * self.distal_m**2 / 12.0, mc=self.handle_kg, Ic=self.handle_kg_m2, bq=self.friction_Nms,
            continuous=self.continuous_Nm, peak=self.peak_Nm, heat_s=self.heat_s,
            quantum=2.0 * math.pi / self.encoder_counts, speed=self.joint_speed_rad_s, residual=self.residual_m,
            residual_samples=self.residual_samples, straight=math.sin(self.straight_rad),
            stop=math.sin(STOP * self.straight_rad), sub_steps=self.sub_steps,
            way=WAYS.index(self.way),
        )  # fmt: skip
