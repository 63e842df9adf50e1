"""Simulated devices: the mechanism of a real one, its motors and encoders, and the hand that holds it.

Over a sub-step h the mean velocities u of the coordinates q and w of the hand solve, with H = h/2 and everything stiff
taken at its middle (no artificial damping, and stable for any grip):

M (u - q')/H = tau - C q' - G - friction(u) - stops(q + H u, u) - J^T F_s
m (w - x_h')/H = F_s + k (x_d - x_h - H w) + b (x_d' - w) + push
F_s = k_g e + g (J u - w),  e = x - x_h,  g = b_g + k_g H

The hand's line gives F_s = (a (k_g e + g J u) - g f)/(a + g),  a = m/H + b + k H,
f = m x_h'/H + k (x_d - x_h) + b x_d' + push;  then q += h u, q' = 2 u - q', and the same for the hand.

q         the joint angles of the arm, or the tip itself for a point mass;  x = x(q) the tip;  J = dx/dq
tau       the motors' torques, J^T F at the encoders' angles, held for the whole tick: the motors push the tip with the
          force that the hand is to feel
friction  Coulomb's as a tanh of the velocity, linearised at its start, and a viscous part
M, J^T J  couple the second and the third coordinate only, so that the solution is one division and one 2 x 2 system
"""

from __future__ import annotations

import math

import numpy as np

from palpate.haptics.devices.port import LOST, OK, SATURATED, InTick, Port, empty_port
from palpate.haptics.devices.simulation import phantom
from palpate.haptics.devices.simulation.carried import Carried, carried_inertia_and_bias, hand_weight, led_to
from palpate.haptics.devices.simulation.stepped import HeldDevice
from palpate.haptics.devices.simulation.wrist import (
    Wrist,
    begin_wrist,
    drive_wrist,
    has_wrist,
    look_at_grip,
    sense_wrist,
    turn_step,
)
from palpate.haptics.hand import Hand, HandArrays, grips_at, intent_at, presses_at
from palpate.haptics.safety import limit_norm
from palpate.jit import Block, Struct, Vector, block_loader, kernel
from palpate.jit.routines import routine
from palpate.spatial.vectors import add, add_scaled, rotate, rotate_back, scale, sub

SUB_STEP_S = 1e-4  # 10 kHz: a grip of 8 kN/m on the 32 g of the arm's tip turns by 0.05 rad in one
VELOCITY_CUTOFF_HZ = 100.0  # of the low-pass on differences of encoder readings, as in the drivers of such devices
ZERO = (0.0, 0.0, 0.0)


class Motion(Struct):
    """Where everything is; written by `begin`, `sample` (seen) and `send` (the rest)."""

    is_open: int
    time_s: float  # since `open`
    q: Vector  # coordinates
    rate: Vector
    motor: Vector  # held torques
    tip: Vector  # true, device frame [m]
    tip_velocity: Vector
    hand: Vector  # [m]
    hand_velocity: Vector
    grip: Vector  # F_s, of the tip on the hand [N]
    seen: Vector  # what the encoders last said [m]
    seen_velocity: Vector  # its filtered difference
    seen_s: float  # when they were last read


load = block_loader(
    (Port, False), (Motion, False), (phantom.Mechanism, True), (HandArrays, True), (Wrist, False), (Carried, False)
)


@kernel
def sub_step(motion, mechanism, hand, ride, t, h):
    """Device and hand from t to t + h, as in the header."""
    q, rate, x_h, v_h = motion.q, motion.rate, motion.hand, motion.hand_velocity
    H = 0.5 * h
    holds = 1.0 if grips_at(hand, t) else 0.0
    k_g = holds * hand.grip_stiffness
    g = holds * hand.grip_damping + H * k_g
    x, J = phantom.tip_and_jacobian(mechanism.kind, q)
    if ride.moves:
        M, bias = carried_inertia_and_bias(mechanism, ride, q, rate)
    else:
        M, bias = phantom.inertia_and_bias(mechanism, q, rate)

    # the hand's line, solved for w
    x_d, v_d = led_to(ride, t + H) if ride.leads else intent_at(hand, t + H)
    f = add_scaled(scale(hand.mass / H, v_h), hand.stiffness, sub(x_d, x_h))
    f = add(add_scaled(f, hand.damping, v_d), hand.push)
    if ride.moves:
        f = add(f, hand_weight(ride, hand.mass, x_h, v_h))
    a = hand.mass / H + hand.damping + H * hand.stiffness
    pull = scale(k_g, sub(x, x_h))
    # the device's: (A) u = r, where F_s = (a pull - g f)/(a + g) + s J u
    s = a * g / (a + g)
    r = rotate_back(J, scale(1.0 / (a + g), add_scaled(scale(-a, pull), g, f)))
    r = add(sub(r, bias), motion.motor)
    b1, D1 = phantom.resistance(mechanism, 0, q[0], rate[0], H)
    b2, D2 = phantom.resistance(mechanism, 1, q[1], rate[1], H)
    b3, D3 = phantom.resistance(mechanism, 2, q[2], rate[2], H)
    r1 = r[0] + b1 + M[0] * rate[0] / H
    r2 = r[1] + b2 + (M[1] * rate[1] + M[3] * rate[2]) / H
    r3 = r[2] + b3 + (M[3] * rate[1] + M[2] * rate[2]) / H
    A1 = M[0] / H + D1 + s * (J[0] * J[0] + J[3] * J[3] + J[6] * J[6])
    A2 = M[1] / H + D2 + s * (J[1] * J[1] + J[4] * J[4] + J[7] * J[7])
    A3 = M[2] / H + D3 + s * (J[2] * J[2] + J[5] * J[5] + J[8] * J[8])
    A23 = M[3] / H + s * (J[1] * J[2] + J[4] * J[5] + J[7] * J[8])
    over = phantom.excess(mechanism, 3, q[1] - q[2])
    if over != 0.0:
        push = mechanism.stop_stiffness * over
        D = mechanism.stop_damping + H * mechanism.stop_stiffness
        r2, r3, A2, A3, A23 = r2 - push, r3 + push, A2 + D, A3 + D, A23 - D
    det = A2 * A3 - A23 * A23
    u = (r1 / A1, (A3 * r2 - A23 * r3) / det, (A2 * r3 - A23 * r2) / det)
    w = scale(1.0 / (a + g), add(add(f, pull), scale(g, rotate(J, u))))

    motion.q = add_scaled(q, h, u)
    motion.rate = sub(scale(2.0, u), rate)
    motion.hand = add_scaled(x_h, h, w)
    motion.hand_velocity = sub(scale(2.0, w), v_h)


@kernel
def look(motion, mechanism, hand):
    """Tip and grip from the coordinates."""
    x, J = phantom.tip_and_jacobian(mechanism.kind, motion.q)
    v = rotate(J, motion.rate)
    motion.tip = x
    motion.tip_velocity = v
    holds = 1.0 if grips_at(hand, motion.time_s) else 0.0
    stretch, stretching = sub(x, motion.hand), sub(v, motion.hand_velocity)
    force = add_scaled(scale(hand.grip_stiffness, stretch), hand.grip_damping, stretching)
    motion.grip = scale(holds, force)


@kernel
def drive(port, motion, mechanism):
    """The motors' torques for the command, within what they can; whether it had to be reduced."""
    force, limited = limit_norm(port.force, mechanism.force_limit)
    q = phantom.encoded(mechanism, motion.q)
    _, J = phantom.tip_and_jacobian(mechanism.kind, q)
    torque = rotate_back(J, force)
    if mechanism.compensated:
        torque = add(torque, phantom.inertia_and_bias(mechanism, q, (0.0, 0.0, 0.0))[1])
    share = 1.0  # one for all motors: the direction of the force is kept
    for i in range(3):
        if abs(torque[i]) > mechanism.motor[i]:
            share = min(share, mechanism.motor[i] / abs(torque[i]))
    motion.motor = scale(share, torque)
    return limited or share < 1.0


@routine
def begin(address):
    """At rest where the hand's intent begins, time zero; LOST if the device cannot be there."""
    port, motion, mechanism, hand, wrist, _ = load(address)
    x, _ = intent_at(hand, hand.time[0])
    q, reachable = x, True
    if mechanism.kind == phantom.ARM:
        q, reachable = phantom.inverse(phantom.L1, phantom.L2, phantom.thesis_axes(x))
    for i in range(3):
        reachable = reachable and phantom.excess(mechanism, i, q[i]) == 0.0
    if not (reachable and phantom.excess(mechanism, 3, q[1] - q[2]) == 0.0):
        return LOST
    motion.q = q
    motion.hand = x
    motion.rate, motion.hand_velocity, motion.motor, motion.seen_velocity = ZERO, ZERO, ZERO, ZERO
    port.torque, port.force = ZERO, ZERO
    begin_wrist(wrist, hand)
    motion.time_s, motion.seen_s = 0.0, math.nan
    look(motion, mechanism, hand)
    return OK


@routine
def sample(address):
    """The reading: where the encoders say the tip is, how fast their differences say it moves, and the button."""
    port, motion, mechanism, hand, wrist, _ = load(address)
    if not motion.is_open:
        return LOST
    now = motion.time_s
    elapsed = now - motion.seen_s
    x, _ = phantom.tip_and_jacobian(mechanism.kind, phantom.encoded(mechanism, motion.q))
    share = 1.0 - math.exp(-2.0 * math.pi * VELOCITY_CUTOFF_HZ * elapsed)
    if elapsed > 0.0:  # neither the first time (NaN) nor twice at once
        difference = scale(1.0 / elapsed, sub(x, motion.seen))
        v = motion.seen_velocity
        motion.seen_velocity = add_scaled(v, share, sub(difference, v))
    motion.seen = x
    motion.seen_s = now
    port.position, port.velocity = x, motion.seen_velocity
    sense_wrist(port, wrist, elapsed, share)
    port.sampled_s = port.now_s
    port.buttons = 1 if presses_at(hand, now) else 0
    return OK


@routine
def send(address):
    """Take the command, hold it, and let `dt` pass."""
    port, motion, mechanism, hand, wrist, ride = load(address)
    if not motion.is_open:
        return LOST
    reduced = drive(port, motion, mechanism)
    reduced = drive_wrist(port, wrist) or reduced
    dt, start = port.dt, motion.time_s
    if dt > 0.0:
        n = math.ceil(dt / SUB_STEP_S * (1.0 - 1e-9))  # 1 ms is ten, not eleven
        for i in range(n):
            t = start + i * (dt / n)
            sub_step(motion, mechanism, hand, ride, t, dt / n)
            if has_wrist(wrist):
                turn_step(wrist, hand, 1.0 if grips_at(hand, t) else 0.0, t, dt / n)
        motion.time_s = start + dt
        look(motion, mechanism, hand)
        look_at_grip(wrist, hand, 1.0 if has_wrist(wrist) and grips_at(hand, start + dt) else 0.0)
    return SATURATED if reduced else OK


class Simulated(HeldDevice):
    """A device with a hand on it, both simulated; time passes only in `advance`, or in the tick's `send`.

    model   "phantom-premium-1.5": its identified kinematics and dynamics, encoders, friction and motors;
            "phantom-premium-1.5-6dof": with a wrist that is sensed and driven; "phantom-premium-1.5-gimbal": sensed
            only; "touch" and "omni": approximate, a point mass with friction
    hand    who holds it; without one, a hand that rests in the middle
    compensated  the motors also carry the arm's own weight, as some drivers do
    ride    what carries it, and leads its hand: nothing, until somebody says so (carried.py)

    The command is the wrench of the device on the hand, so the motors push the tip with it; it is held between writes.
    Opening begins anew: the same every time.
    """

    begin = begin

    def __init__(
        self, model: str = "phantom-premium-1.5", hand: Hand | None = None, *, compensated: bool = False
    ) -> None:
        if model not in phantom.MODELS:
            raise ValueError(f"no simulated device is called {model!r}; there are: {', '.join(phantom.MODELS)}")
        self.spec, self.hand = phantom.MODELS[model].spec, hand or Hand()
        self._state = self._motion = Motion()
        port, known = empty_port(), phantom.MODELS[model]
        self._wrist = Wrist(**known.wrist._asdict(), limit=known.spec.torque_limit_Nm)
        self.ride = Carried()
        block = Block(port, self._motion, known.mechanism(compensated), self.hand.arrays(), self._wrist, self.ride)
        self.in_tick = InTick(port, block, sample, send, owner=self)
        self._begin()

    @property
    def state(self) -> tuple[Struct, ...]:
        """All that changes: for whoever carries it, and puts it back to a start."""
        return self._motion, self._wrist, self.ride

    # ---- the truth, which no device tells

    @property
    def tip_m(self) -> np.ndarray:
        """(3,) where the tip really is, before the encoders; device frame."""
        return np.array(self._motion.tip)

    @property
    def tip_velocity_m_s(self) -> np.ndarray:
        """(3,)"""
        return np.array(self._motion.tip_velocity)

    @property
    def hand_m(self) -> np.ndarray:
        """(3,) where the hand is."""
        return np.array(self._motion.hand)

    @property
    def force_on_hand_N(self) -> np.ndarray:
        """(3,) force of the tip on the hand: what a sensor between them shows; zero once it has let go."""
        return np.array(self._motion.grip)

    @property
    def quaternion(self) -> np.ndarray:
        """(4,) how its wrist is really turned, (w, x, y, z)."""
        return np.array(self._wrist.turn)

    @property
    def hand_quaternion(self) -> np.ndarray:
        """(4,) how the hand is turned."""
        return np.array(self._wrist.hand)

    @property
    def torque_on_hand_Nm(self) -> np.ndarray:
        """(3,) torque of the device on the hand, as the sensor shows it; zero without a wrist."""
        return np.array(self._wrist.grip)

    @property
    def coordinates(self) -> np.ndarray:
        """(3,) true joint angles [rad] (thesis' order and signs), or the tip [m] of a point mass."""
        return np.array(self._motion.q)

    @property
    def motors(self) -> np.ndarray:
        """(3,) the held torques [N m] of the arm's motors, or the force [N] on a point mass."""
        return np.array(self._motion.motor)
