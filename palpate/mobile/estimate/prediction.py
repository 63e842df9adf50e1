"""The base's pose at every tick from packets that come late, seldom, or not: prediction that cannot leap.

Mobile display, 1.4.  Per axis of (x, z, phi) a Kalman filter with the known command as its input:

    a = clip((v_cmd - v)/tau, a_max);  p += v h;  v += a h        h = 1 ms
    P = F P F' + q^2 [[h^3/3, h^2/2], [h^2/2, h]]
    a packet of sample time ts:  y = z - hist[ts];  K = P[:, 0]/(P[0, 0] + R);  (p, v) += K y;  P -= K P[0, :]
                                 hist[ts .. now] += K[0] y
    output:  v_out += clip(v - v_out, slew h);  p_out += v_out h + clip(kc (p - p_out), r_max) h

so that p_out moves by at most (|v_out| + r_max) h in a tick: corrections are bled in, never stepped.  What the thesis
did is the other choice: hold the last pose.

No packet for 50 ms: a = 0, the velocity is kept.  For 200 ms: lost; forces fade to zero within 100 ms (`fade`), the
base is stopped, and with it the estimate.  A packet is
dropped and counted if it is not newer than the last one, older than the ring, of the future, not a number, or further
away than the gate.  After a loss two packets that agree begin anew; only then, while no force is given, may the output
leap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from palpate.jit import Struct, Vector, kernel
from palpate.mobile.rates import clip, wrap
from palpate.model.model import Floats1, Floats2
from palpate.spatial.vectors import is_finite

AXES = 3  # x, z [m], phi [rad]
RING = 256  # ticks that are remembered
NEVER = -(10**9)
HOLD, CONSTANT, DRIVEN = range(3)
METHODS = ("hold", "constant", "driven")


@dataclass(frozen=True)
class Prediction:
    """How the pose is predicted; the defaults of 1.4."""

    method: str = "driven"  # by the command; "constant": velocity; "hold": the last packet, as in the thesis
    bleed: bool = True  # corrections bled in; False: the estimate as it is
    tau_s: float = 0.13  # of the base's velocity response, as the model has it
    acceleration_m_s2: float = 1.0
    acceleration_rad_s2: float = 4.0
    drive_m_s2_rtHz: float = 0.1  # q
    drive_rad_s2_rtHz: float = 0.4
    noise_m: float = 0.0005  # of the tracker, R its square
    noise_rad: float = math.radians(0.05)
    slew_m_s2: float = 1.5
    slew_rad_s2: float = 6.0
    gain_1_s: float = 20.0  # kc
    correction_m_s: float = 0.03  # r_max
    correction_rad_s: float = 0.07
    coast_s: float = 0.050  # silence after which the velocity is kept
    lost_s: float = 0.200  # silence after which forces fade and the base stops
    fade_s: float = 0.100
    gate_m: float = 0.25  # a packet further from where the base was is absurd
    gate_rad: float = 0.35

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}; it is one of {', '.join(METHODS)}")
        for name, value in vars(self).items():
            if isinstance(value, float) and not (math.isfinite(value) and value > 0.0):
                raise ValueError(f"{name} is {value}; it must be positive")
        if not self.coast_s < self.lost_s <= 0.2:
            raise ValueError(f"lost_s is {self.lost_s}; it must be above coast_s and at most 0.2, the ring's length")


class Predictor(Struct):
    """Settings, and the state of an estimate."""

    method: int
    bleed: int
    dt: float  # h [s]
    tau: float
    a_max: Vector  # settings by axis
    q2: Vector
    R: Vector
    slew: Vector
    r_max: Vector
    gate: Vector
    kc: float
    coast: int  # [ticks]
    lost_after: int
    fade_step: float
    now: int  # tick, written by predict
    heard: int  # tick at which the last packet was used, written by correct
    last: int  # its sample time [ticks]
    lost: int  # 1: the base is to stop
    fade: float  # 1: forces as they are, 0: none
    candidate: Vector  # where a packet after a loss was
    candidate_at: int  # its sample time
    used: int  # packets
    stale: int  # not newer than one before, or older than the ring
    absurd: int  # no number, of the future, or beyond the gate
    restarts: int
    p: Floats1  # (3,) estimate
    v: Floats1
    P: Floats2  # (3, 3) P00, P01, P11 of each axis
    p_out: Floats1  # (3,) what rendering uses
    v_out: Floats1
    hist: Floats2  # (RING, 3)


def new_predictor(prediction: Prediction, pose: tuple[float, float, float], tick_hz: int = 1000) -> Predictor:
    """At a pose (x, z, phi) where the base stands."""
    x, dt = prediction, 1.0 / tick_hz
    if round(x.lost_s * tick_hz) >= RING:
        raise ValueError(f"at {tick_hz} Hz the ring of {RING} ticks is shorter than lost_s {x.lost_s}")
    if len(pose) != AXES or not np.isfinite(pose).all():
        raise ValueError(f"pose is {pose}; it is x, z [m] and phi [rad]")
    P = np.zeros((AXES, 3))
    P[:, 0] = [x.noise_m**2, x.noise_m**2, x.noise_rad**2]
    P[:, 2] = [1e-4, 1e-4, 1e-3]  # it stands, almost surely
    start = np.array(pose, dtype=np.float64)
    return Predictor(
        method=METHODS.index(x.method), bleed=int(x.bleed), dt=dt, tau=x.tau_s, kc=x.gain_1_s,
        a_max=_axes(x.acceleration_m_s2, x.acceleration_rad_s2),
        q2=_axes(x.drive_m_s2_rtHz**2, x.drive_rad_s2_rtHz**2), R=_axes(x.noise_m**2, x.noise_rad**2),
        slew=_axes(x.slew_m_s2, x.slew_rad_s2), r_max=_axes(x.correction_m_s, x.correction_rad_s),
        gate=_axes(x.gate_m, x.gate_rad), coast=round(x.coast_s * tick_hz), lost_after=round(x.lost_s * tick_hz),
        fade_step=dt / x.fade_s, fade=1.0, last=NEVER, candidate_at=NEVER, p=start.copy(), v=np.zeros(AXES), P=P,
        p_out=start.copy(), v_out=np.zeros(AXES), hist=np.tile(start, (RING, 1)),
    )  # fmt: skip


def _axes(linear: float, angular: float) -> tuple[float, float, float]:
    return linear, linear, angular


@kernel
def predict(s, command):
    """One tick: from now - 1 to now under a commanded velocity (vx, vz, vphi); then the output."""
    s.now += 1
    silence = s.now - s.heard
    s.lost = 1 if silence > s.lost_after else 0
    s.fade = min(max(s.fade + (-s.fade_step if s.lost else s.fade_step), 0.0), 1.0)
    p, v, P, p_out, v_out, h = s.p, s.v, s.P, s.p_out, s.v_out, s.dt
    for i in range(AXES):
        a = 0.0
        if s.method == DRIVEN and (silence <= s.coast or s.lost):
            a = clip(((0.0 if s.lost else command[i]) - v[i]) / s.tau, s.a_max[i])
        elif s.lost:
            a = clip(-v[i] / s.tau, s.a_max[i])
        if s.method != HOLD:
            p[i] += v[i] * h
            v[i] += a * h
            q2 = s.q2[i]
            P[i, 0] += h * (2.0 * P[i, 1] + h * P[i, 2]) + q2 * h * h * h / 3.0
            P[i, 1] += h * P[i, 2] + 0.5 * q2 * h * h
            P[i, 2] += q2 * h
        s.hist[s.now % RING, i] = p[i]
        if s.bleed and s.method != HOLD:
            v_out[i] += clip(v[i] - v_out[i], s.slew[i] * h)
            p_out[i] += v_out[i] * h + clip(s.kc * (p[i] - p_out[i]), s.r_max[i]) * h
        else:
            p_out[i], v_out[i] = p[i], v[i]


@kernel
def correct(s, ts, z):
    """A packet with the pose z = (x, z, phi) of tick ts; whether it was used."""
    if not (is_finite(z[0]) and is_finite(z[1]) and is_finite(z[2])) or ts > s.now:
        s.absurd += 1
        return False
    if ts <= s.last or ts <= s.now - RING:
        s.stale += 1
        return False
    row = ts % RING
    y = (z[0] - s.hist[row, 0], z[1] - s.hist[row, 1], wrap(z[2] - s.hist[row, 2]))
    if abs(y[0]) > s.gate[0] or abs(y[1]) > s.gate[1] or abs(y[2]) > s.gate[2]:
        s.absurd += 1
        if s.fade == 0.0 and ts > s.candidate_at:  # nothing is felt: it may have been carried elsewhere
            return restart(s, ts, z, y)
        return False
    s.last, s.heard = ts, s.now
    s.used += 1
    for i in range(AXES):
        k0, k1 = 1.0, 0.0
        if s.method != HOLD:
            P00, P01 = s.P[i, 0], s.P[i, 1]
            k0, k1 = P00 / (P00 + s.R[i]), P01 / (P00 + s.R[i])
            s.P[i, 0] -= k0 * P00
            s.P[i, 1] -= k0 * P01
            s.P[i, 2] -= k1 * P01
        s.v[i] += k1 * y[i]
        moved = k0 * y[i]
        s.p[i] += moved
        for k in range(ts, s.now + 1):
            s.hist[k % RING, i] += moved
    return True


@kernel
def restart(s, ts, z, y):
    """Begin anew where a packet says, if the one before it said so too; whether it did."""
    near = s.candidate_at > NEVER
    for i in range(AXES):
        near = near and abs(wrap(z[i] - s.candidate[i]) if i == 2 else z[i] - s.candidate[i]) < s.gate[i]
    s.candidate, s.candidate_at = z, ts
    if not near:
        return False
    s.last, s.heard, s.candidate_at = ts, s.now, NEVER
    s.used += 1
    s.restarts += 1
    for i in range(AXES):
        s.p[i] = s.hist[ts % RING, i] + y[i]  # phi goes on unwrapped
        s.p_out[i] = s.p[i]
        s.v[i], s.v_out[i] = 0.0, 0.0
        s.P[i, 0], s.P[i, 1], s.P[i, 2] = s.R[i], 0.0, 1e-2
        for k in range(RING):
            s.hist[k, i] = s.p[i]
    return True
