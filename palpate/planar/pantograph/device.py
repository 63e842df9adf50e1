"""simulated:pantograph: the planar mechanism, its motors and encoders, and the hand that holds it, as a device.

Its plane is horizontal: x away from the person, y to their left, the angle about z; z = 0, and no torque but about z.
What else is wanted of it the bearings take.  Over a sub-step h = 2 H the mean velocities u of the handle and v of the
hand, three each, solve (the scheme of haptics/devices/simulation/simulated.py, stable for any grip)

M (u - X')/H = A^T tau - C X' - A^T b_q A u - F_s
m (v - x_h')/H = F_s + k (x_d - x_h - H v) + b (x_d' - v) + push          F_s = k_g e + g (u - v),  e = X - x_h

with g = b_g + k_g H; M, A and C at the middle, X + H X'.  The hand's line gives
F_s = (a (k_g e + g u) - g f)/(a + g),  a = m/H + b + k H.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from palpate.haptics.devices.port import LOST, OK, SATURATED, InTick, Port, empty_port
from palpate.haptics.devices.protocol import (
    HAND_SPEED_M_S,
    WRIST_SPEED_RAD_S,
    DeviceSpec,
)
from palpate.haptics.devices.simulation.stepped import HeldDevice
from palpate.haptics.hand import Hand, HandArrays, grips_at, intent_at, presses_at, turn_at
from palpate.haptics.safety import limit_norm
from palpate.jit import Block, Struct, Vector, block_loader, entry, kernel
from palpate.jit.routines import routine
from palpate.planar.pantograph.drive import COUNTS, FAULTS, NO_FAULT, Drive, command, new_drive, reset, sense
from palpate.planar.pantograph.dynamics import coriolis_of, damping_matrix, mass_of, solve, times
from palpate.planar.pantograph.facade import PantographModel
from palpate.planar.pantograph.kinematics import elbows, is_inside, jacobian_of
from palpate.planar.pantograph.mechanism import Mechanism, Pantograph
from palpate.planar.pantograph.plant import Plant, stopped
from palpate.planar.pantograph.statics import wrench_of
from palpate.spatial.vectors import add_scaled, scale, sub

SUB_STEP_S = 2.5e-4  # a grip of 4 kN/m on the 0.3 kg of the handle turns by 0.05 rad in one
VELOCITY_CUTOFF_HZ = 100.0  # of the low-pass on differences of readings, as other simulated devices have
ZERO = (0.0, 0.0, 0.0)


class Held(Struct):
    """The hand on the handle, and what was last told; x, y, angle each."""

    is_open: int
    force_limit: float  # [N]
    hand: Vector
    hand_velocity: Vector
    grip: Vector  # F_s, of the handle on the hand [N, N m]
    seen: Vector  # what the encoders last said
    seen_velocity: Vector  # its filtered difference
    seen_s: float  # when they were last read


load = block_loader(
    (Port, False), (Held, False), (Mechanism, True), (HandArrays, True), (Plant, False), (Drive, False)
)  # fmt: skip


@kernel
def wanted_at(hand, t, angle):
    """Where the hand wants to be and how fast: x, y, and of its turn the part about z, on the turn next to `angle`."""
    x, v = intent_at(hand, t)
    q, w = turn_at(hand, t)
    turn = 2.0 * math.atan2(q[3], q[0]) - angle
    turn -= 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)
    return (x[0], x[1], angle + turn), (v[0], v[1], w[2])


@kernel
def hand_line(k, b, k_g, b_g, m, push, x, x_d, v_d, x_h, v_h, H):
    """(a, g, f, pull k_g e) of one freedom."""
    f = m * v_h / H + k * (x_d - x_h) + b * v_d + push
    return m / H + b + H * k, b_g + H * k_g, f, k_g * (x - x_h)


@kernel
def sub_step(held, m, hand, plant, t, h):
    """Handle and hand from t to t + h, as in the header."""
    H, X, V, x_h, v_h = 0.5 * h, plant.X, plant.V, held.hand, held.hand_velocity
    holds = 1.0 if grips_at(hand, t) else 0.0
    x_d, v_d = wanted_at(hand, t + H, x_h[2])
    k_g, b_g = holds * hand.grip_stiffness, holds * hand.grip_damping
    n, c = hand.mass, hand
    ax, gx, fx, px = hand_line(c.stiffness, c.damping, k_g, b_g, n, c.push[0], X[0], x_d[0], v_d[0],
                               x_h[0], v_h[0], H)  # fmt: skip
    ay, gy, fy, py = hand_line(c.stiffness, c.damping, k_g, b_g, n, c.push[1], X[1], x_d[1], v_d[1],
                               x_h[1], v_h[1], H)  # fmt: skip
    at, gt, ft, pt = hand_line(c.wrist_stiffness, c.wrist_damping, holds * c.wrist_grip_stiffness,
                               holds * c.wrist_grip_damping, c.wrist_inertia, 0.0, X[2], x_d[2], v_d[2], x_h[2],
                               v_h[2], H)  # fmt: skip
    middle = add_scaled(X, H, V)
    e, ok = elbows(m, middle)
    if not ok:
        middle = X
        e, _ = elbows(m, X)
    A, M, C = jacobian_of(m, middle, e), mass_of(m, middle, e), coriolis_of(m, middle, e, V)
    D, T, P = damping_matrix(m, A), wrench_of(A, plant.torque), times(M, V)
    k = 1.0 / H
    total = (
        k * P[0] + T[0] - C[0] - (ax * px - gx * fx) / (ax + gx),
        k * P[1] + T[1] - C[1] - (ay * py - gy * fy) / (ay + gy),
        k * P[2] + T[2] - C[2] - (at * pt - gt * ft) / (at + gt),
    )  # fmt: skip
    u = solve((
        k * M[0] + D[0] + ax * gx / (ax + gx), k * M[1] + D[1], k * M[2] + D[2], k * M[3] + D[3] + ay * gy / (ay + gy),
        k * M[4] + D[4], k * M[5] + D[5] + at * gt / (at + gt),
    ), total)  # fmt: skip
    there, after = add_scaled(X, h, u), sub(scale(2.0, u), V)
    _, ok = elbows(m, there)
    if not ok:
        there, after = stopped(m, X, scale(h, u), after)
        u = scale(1.0 / h, sub(there, X))
        plant.stops += 1
    v = ((fx + px + gx * u[0]) / (ax + gx), (fy + py + gy * u[1]) / (ay + gy), (ft + pt + gt * u[2]) / (at + gt))
    plant.X, plant.V = there, after
    held.hand = add_scaled(x_h, h, v)
    held.hand_velocity = sub(scale(2.0, v), v_h)


@kernel
def look(held, hand, plant):
    """The grip from where both are."""
    holds = 1.0 if grips_at(hand, plant.time_s) else 0.0
    x, v = sub(plant.X, held.hand), sub(plant.V, held.hand_velocity)
    k, b, kt, bt = hand.grip_stiffness, hand.grip_damping, hand.wrist_grip_stiffness, hand.wrist_grip_damping
    F = (holds * (k * x[0] + b * v[0]), holds * (k * x[1] + b * v[1]), holds * (kt * x[2] + bt * v[2]))
    held.grip = F
    plant.hand_wrench = (-F[0], -F[1], -F[2])


@routine
def begin(address):
    """At rest where the hand's intent begins, time zero, no fault; LOST if the device cannot be there."""
    port, held, m, hand, plant, drive = load(address)
    x, _ = wanted_at(hand, min(hand.time[0], hand.turn_time[0]), 0.0)
    if not is_inside(m, x):
        return LOST
    plant.X, held.hand = x, x
    plant.V, held.hand_velocity, held.seen_velocity = ZERO, ZERO, ZERO
    plant.torque, plant.time_s, plant.stops = (0.0, 0.0, 0.0, 0.0), 0.0, 0
    port.torque, port.force = ZERO, ZERO
    held.seen_s = math.nan
    drive.X, drive.heat = (0.0, 0.0, x[2]), (0.0, 0.0, 0.0, 0.0)
    for k in range(drive.counts.shape[0]):
        drive.counts[k] = 0
    reset(drive)
    look(held, hand, plant)
    return OK


@routine
def sample(address):
    """The reading: where the encoders say the handle is, how fast their differences say it moves; LOST in a fault,
    which a reset of the whole ends; what is still wrong is one again."""
    port, held, m, hand, plant, drive = load(address)
    if not held.is_open:
        return LOST
    if port.anew:
        port.anew = 0
        reset(drive)
    now = plant.time_s
    elapsed = now - held.seen_s
    if elapsed > 0.0:
        drive.dt = elapsed
    if elapsed != 0.0:  # read twice at once is read once
        sense(m, drive, plant)
    x = drive.X
    if elapsed > 0.0:  # not the first time (NaN)
        share = 1.0 - math.exp(-2.0 * math.pi * VELOCITY_CUTOFF_HZ * elapsed)
        v = held.seen_velocity
        held.seen_velocity = add_scaled(v, share, sub(scale(1.0 / elapsed, sub(x, held.seen)), v))
    held.seen, held.seen_s = x, now
    v = held.seen_velocity
    port.position, port.velocity = (x[0], x[1], 0.0), (v[0], v[1], 0.0)
    port.quaternion, port.spin = (math.cos(0.5 * x[2]), 0.0, 0.0, math.sin(0.5 * x[2])), (0.0, 0.0, v[2])
    port.sampled_s = port.now_s
    port.buttons = 1 if presses_at(hand, now) else 0
    return OK if drive.fault == NO_FAULT else LOST


@routine
def send(address):
    """Take the command, hold its torques, and let `dt` pass."""
    port, held, m, hand, plant, drive = load(address)
    if not held.is_open:
        return LOST
    force, limited = limit_norm((port.force[0], port.force[1], 0.0), held.force_limit)
    drive.wrench = (force[0], force[1], port.torque[2])
    dt, start = port.dt, plant.time_s
    command(m, drive, max(dt, 0.0))
    plant.torque = drive.torque
    if dt > 0.0:
        n = math.ceil(dt / SUB_STEP_S * (1.0 - 1e-9))
        for i in range(n):
            sub_step(held, m, hand, plant, start + i * (dt / n), dt / n)
        plant.time_s = start + dt
        look(held, hand, plant)
    if drive.fault != NO_FAULT:
        return LOST
    return SATURATED if limited or drive.scale < 1.0 else OK


@entry("intp")
def reset_entry(address):
    _, _, _, _, _, drive = load(address)
    reset(drive)


@lru_cache(maxsize=16)
def device_spec(pantograph: Pantograph) -> DeviceSpec:
    """Limits that its motors keep in every direction and at every pose of the nominal workspace.

    The least torques for a wrench are B w, B = A (A^T A)^-1: of a force in any direction motor i takes at most the
    length of B_i's part for x and y.  Force and torque at once may be more than they can, and are then scaled.
    """
    A = PantographModel(pantograph).jacobians(pantograph.border(9, 72))
    B = A @ np.linalg.inv(A.transpose(0, 2, 1) @ A)
    force = 1.0 / np.hypot(B[:, :, 0], B[:, :, 1]).max()  # [N per N m of a motor]
    torque = 1.0 / np.abs(B[:, :, 2]).max()
    return DeviceSpec(
        "simulated:pantograph", force_limit_N=float(force * pantograph.peak_Nm),
        torque_limit_Nm=float(torque * pantograph.peak_Nm), stiffness_limit_N_m=1000.0,
        workspace_radius_m=min(pantograph.half_width_m, pantograph.half_height_m), senses=3, actuates=3,
        senses_turn=True, velocity_limit_m_s=HAND_SPEED_M_S, spin_limit_rad_s=WRIST_SPEED_RAD_S,
        continuous_force_N=float(force * pantograph.continuous_Nm),
        continuous_torque_Nm=float(torque * pantograph.continuous_Nm), heat_s=pantograph.heat_s,
    )  # fmt: skip


class SimulatedPantograph(HeldDevice):
    """The planar mechanism with a hand on it, both simulated; time passes only in `advance`, or in the tick's `send`.

    pantograph  its numbers; hand: who holds it, of whose intent x, y and the turn about z matter; without one, a hand
                that rests in the middle

    Opening begins anew: the same every time.  A fault (an encoder that jumps, encoders that contradict each other, a
    pose outside the workspace) ends its torque and makes it LOST until `reset`, or a reset of the session.
    """

    begin = begin

    def __init__(self, pantograph: Pantograph | None = None, hand: Hand | None = None) -> None:
        self.pantograph, self.hand = pantograph or Pantograph(), hand or Hand()
        self.spec = device_spec(self.pantograph)
        self._plant, self._drive = Plant(), new_drive(1e-3)
        self._state = self._held = Held(force_limit=self.spec.force_limit_N)
        port = empty_port()
        block = Block(port, self._held, self.pantograph.mechanism, self.hand.arrays(), self._plant, self._drive)
        self.in_tick = InTick(port, block, sample, send, owner=self)
        self._begin()

    def reset(self) -> None:
        """Leave a fault."""
        reset_entry(self.in_tick.block.address)

    @property
    def fault(self) -> str:
        """Why it makes no torque; empty if nothing is wrong."""
        return FAULTS[self._drive.fault]

    @property
    def counts(self) -> dict[str, int]:
        """Samples, faults and scaled wrenches since it was opened."""
        return dict(zip(COUNTS, self._drive.counts.tolist(), strict=True))

    # ---- the truth, which no device tells

    @property
    def time_s(self) -> float:
        """Simulated time since `open`; the hand's intent is read at it."""
        return self._plant.time_s

    @property
    def pose(self) -> np.ndarray:
        """(3,) x, y [m] and the unwrapped angle [rad] of the handle, before the encoders."""
        return np.array(self._plant.X)

    @property
    def pose_rate(self) -> np.ndarray:
        """(3,)"""
        return np.array(self._plant.V)

    @property
    def tip_m(self) -> np.ndarray:
        """(3,) where the handle is; device frame."""
        return np.array([*self._plant.X[:2], 0.0])

    @property
    def tip_velocity_m_s(self) -> np.ndarray:
        """(3,)"""
        return np.array([*self._plant.V[:2], 0.0])

    @property
    def hand_m(self) -> np.ndarray:
        """(3,) where the hand is."""
        return np.array([*self._held.hand[:2], 0.0])

    @property
    def hand_angle_rad(self) -> float:
        """How the hand is turned about z, unwrapped."""
        return self._held.hand[2]

    @property
    def force_on_hand_N(self) -> np.ndarray:
        """(3,) force of the handle on the hand: what a sensor between them would show; zero once it has let go."""
        return np.array([*self._held.grip[:2], 0.0])

    @property
    def torque_on_hand_Nm(self) -> np.ndarray:
        """(3,) likewise."""
        return np.array([0.0, 0.0, self._held.grip[2]])

    @property
    def quaternion(self) -> np.ndarray:
        """(4,) how the handle is really turned, (w, x, y, z)."""
        half = 0.5 * self._plant.X[2]
        return np.array([math.cos(half), 0.0, 0.0, math.sin(half)])

    @property
    def motors(self) -> np.ndarray:
        """(4,) the held torques [N m]."""
        return np.array(self._plant.torque)
