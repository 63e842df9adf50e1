"""What a servo step sees of a device, and how the pantograph senses and acts.  Reference on planar haptics, 1.2, 1.5.

sense   encoders -> pose, residual of the crank's length, faults
act     wanted wrench -> torques within the motors' peak and warmth -> the plant, one sample on

A fault ends all torque until `reset`.  The motors' warmth is the mean square of each one's torque over a memory
(haptics/safety.py): the limit of a motor comes down from its peak to what it can give for ever.  `applied` is the
wrench of the torques that were given, which an observer needs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import floor

from palpate.haptics.safety import limit_by_heat
from palpate.jit import Quaternion, Struct, Vector, kernel
from palpate.model.model import Ints1
from palpate.planar.pantograph.kinematics import forward, inverse, is_inside, jacobian
from palpate.planar.pantograph.plant import move
from palpate.planar.pantograph.statics import share_within, wrench_of
from palpate.spatial.vectors import finite3, is_finite

FAULTS = (
    "", "an encoder is not a number", "an encoder jumped", "the elbows are farther apart than two distal links",
    "the encoders contradict each other: the crank's length is off", "the pose is outside the mechanism's workspace",
    "the wanted wrench is not a number",
)  # fmt: skip
NO_FAULT, BAD_ENCODER, JUMPED, APART, CONTRADICTED, OUTSIDE, BAD_WRENCH = range(len(FAULTS))
SCALED = len(FAULTS)  # place in counts: samples in which the wrench was scaled
COUNTS = (
    "samples", "bad_encoder", "jumped", "apart", "contradicted", "outside", "bad_wrench", "scaled",
)  # fmt: skip
ZERO, FOUR = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)


class Drive(Struct):
    """A device to a servo step; what is measured, what is wanted, what was given."""

    # measured, by sense
    X: Vector  # angle unwrapped; the last good one if there is none
    q: Quaternion  # joints as the encoders say [rad]
    residual: float  # of the crank's length [m]
    fault: int  # 0, or why there is no torque: one of FAULTS, until reset
    # commands, and what act made of them
    wrench: Vector  # wanted, on the handle [N, N m]
    applied: Vector  # given
    scale: float  # share of the wanted wrench
    torque: Quaternion  # [N m]
    heat: Quaternion  # mean square of each motor's torque [N^2 m^2]
    known: int  # 1: the mechanism is known, so that an observer can run
    dt: float  # of the last sample [s]
    odd: int  # samples in a row with a residual beyond the limit
    counts: Ints1  # as COUNTS names them


def new_drive(dt_s: float = 2e-3, known: bool = True) -> Drive:
    return Drive(dt=dt_s, scale=1.0, known=known, counts=np.zeros(len(COUNTS), dtype=np.int64))


@kernel
def fail(drive, why):
    """The first fault stays; count it."""
    if drive.fault == NO_FAULT:
        drive.fault = why
        drive.counts[why] += 1


@kernel
def reset(drive):
    """Leave a fault: samples are counted anew, so that none is a jump from before.  Counts of faults, heat and the
    number of turns stay."""
    drive.fault, drive.odd, drive.counts[0] = NO_FAULT, 0, 0


@kernel
def counted(angle, error, quantum):
    """An encoder: whole counts."""
    return quantum * floor((angle + error) / quantum + 0.5)  # of a float: what is not a number stays so


@kernel
def leap(q, before):
    """Of one joint, the short way around [rad]."""
    turn = q - before
    return abs(turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5))


@kernel
def see(m, drive, q):
    """Pose, residual and faults from the angles that the encoders give."""
    if not (is_finite(q[0]) and is_finite(q[1]) and is_finite(q[2]) and is_finite(q[3])):
        fail(drive, BAD_ENCODER)
        return
    before = drive.q
    jump = max(max(leap(q[0], before[0]), leap(q[1], before[1])), max(leap(q[2], before[2]), leap(q[3], before[3])))
    drive.q = q
    X, residual, near = forward(m, q, drive.X[2])
    if not near:
        fail(drive, APART)
        return
    if drive.counts[0] > 0 and jump > m.speed * drive.dt + m.quantum:
        fail(drive, JUMPED)
    drive.counts[0] += 1
    drive.X, drive.residual = X, residual
    drive.odd = drive.odd + 1 if abs(residual) > m.residual else 0
    if drive.odd >= m.residual_samples:
        fail(drive, CONTRADICTED)
    if not is_inside(m, X):
        fail(drive, OUTSIDE)


@kernel
def sense(m, drive, plant):
    """Read the plant's encoders."""
    q, ok = inverse(m, plant.X)
    if not ok:  # no mechanism is there, so no encoder can say
        fail(drive, OUTSIDE)
        return
    wrong, step = plant.encoder_error, m.quantum
    see(m, drive, (counted(q[0], wrong[0], step), counted(q[1], wrong[1], step),
                   counted(q[2], wrong[2], step), counted(q[3], wrong[3], step)))  # fmt: skip


@kernel
def warm(m, mean, tau):
    """The mean square of one motor's torque after a sample of it; see safety.warmed."""
    return mean + m * (tau * tau - mean)


@kernel
def command(m, drive, dt):
    """Torques for the wanted wrench; none while there is a fault."""
    w, heat = drive.wrench, drive.heat
    if not finite3(w):
        fail(drive, BAD_WRENCH)
    if drive.fault != NO_FAULT:
        drive.torque, drive.applied, drive.scale = FOUR, ZERO, 0.0
    else:
        A = jacobian(m, drive.X, drive.q)
        limit = (
            limit_by_heat(heat[0], m.continuous, m.peak), limit_by_heat(heat[1], m.continuous, m.peak),
            limit_by_heat(heat[2], m.continuous, m.peak), limit_by_heat(heat[3], m.continuous, m.peak),
        )  # fmt: skip
        tau, share = share_within(A, w, m.way, limit)
        drive.torque, drive.applied, drive.scale = tau, wrench_of(A, tau), share
        drive.counts[SCALED] += share < 1.0
    tau, k = drive.torque, min(1.0, dt / m.heat_s)
    drive.heat = (warm(k, heat[0], tau[0]), warm(k, heat[1], tau[1]), warm(k, heat[2], tau[2]),
                  warm(k, heat[3], tau[3]))  # fmt: skip
    drive.dt = dt


@kernel
def act(m, drive, plant, hand, dt):
    """Give the wanted wrench, as far as the motors can, and let dt pass."""
    command(m, drive, dt)
    plant.torque = drive.torque
    move(m, plant, hand, dt)
