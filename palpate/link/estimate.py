"""The state between relays: what the client touches while the next packet is under way.

The two newest states (q0, v0) at t0 and (q1, v1) at t1 are kept; t is on the client's clock.  At the time `now`:

HOLD          q = q1                                                    error v D
INTERPOLATE   q = q0 (+) u (q1 (-) q0),  u = (now - came)/(t1 - t0)     0 <= u <= 1: one relay late, nothing invented
EXTRAPOLATE   q = q1 (+) (v1 t + a t^2/2),  t = now - t1                0 <= t <= cap (20 ms), then hold
              a = (v1 - v0)/(t1 - t0)                                   error j t^3/6 + j t^2 (t1 - t0)/4

D period of the relays, j jerk, came when state 1 arrived.  The second term of the error is what a difference of
velocities costs against the true acceleration; for constant acceleration both are nothing.  v is that of the moment
shown: v1, between v0 and v1, or v1 + a t.  (+) and (-) are those of the manifold (dynamics/coordinates.py), so
quaternions stay unit; for one joint with one axis they are plus and minus.

Blending.  When a state arrives the estimate jumps, from q_before to q_raw; so does v.  The jump is a tangent vector
J = q_before (-) q_raw, shown in full at first and then less:

q_shown = q_raw(now) (+) s J,   v_shown = v_raw(now) + s J_v,   s = 1 - (now - came)/B,  0 <= s <= 1,  B = 5 ms

so that both are continuous, and J is gone after B.  A tick's step is that of q_raw, of the states known before it, plus
|J| dt/B at most.  Straight is the blend whose largest step is smallest: J/5 a tick at 1 kHz.  Reference on articulated
bodies, section 4.
"""

from __future__ import annotations

import numpy as np

from palpate.dynamics.coordinates import FINE, bad_coordinate, difference, finite, integrate
from palpate.jit import Struct, kernel
from palpate.model.model import Floats1, Model, ModelArrays

HOLD, INTERPOLATE, EXTRAPOLATE = range(3)
ESTIMATES = ("hold", "interpolate", "extrapolate")
CAP_S = 0.020  # beyond this a prediction is a guess
BLEND_S = 0.005  # shorter is felt as a knock, longer as lag
SAME_TIME_S = 1e-9  # states closer than this have no acceleration between them


class Estimate(Struct):
    """What is known of the other side's state, and the jump that is being blended out."""

    mode: int  # one of ESTIMATES
    cap_s: float  # settings
    blend_s: float
    came_s: float  # when the newest state came or the mode changed
    # the two newest states, and when they were true by the client's clock [s], written by note_state
    q0: Floats1  # (nq,)
    q1: Floats1
    v0: Floats1  # (nv,)
    v1: Floats1
    t0: float
    t1: float
    sequence: int  # of the newest
    noted: int  # states so far
    late: int
    refused: int
    jump: Floats1  # (nv,) J, written by note_state and change_mode
    jump_v: Floats1  # (nv,) J_v, written by note_state and change_mode
    step: Floats1  # (nv,) scratch: tangent vector of a raw estimate
    q_raw: Floats1  # (nq,) scratch: estimate before blending
    v_raw: Floats1  # (nv,) scratch
    q_before: Floats1  # (nq,) scratch: what was shown before a state came
    v_before: Floats1  # (nv,) scratch


def open_estimate(
    model: Model, mode: str = "extrapolate", cap_s: float = CAP_S, blend_s: float = BLEND_S
) -> Estimate:  # fmt: skip
    """An estimate of a model's state, at its neutral position until the first state comes; blend_s = 0: it jumps."""
    if mode not in ESTIMATES:
        raise ValueError(f"mode is {mode!r}; it is one of {', '.join(ESTIMATES)}")
    for name, value in (("cap_s", cap_s), ("blend_s", blend_s)):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name} is {value}; it is a time in seconds, 0 to 1")
    at_rest = {name: model.neutral() for name in ("q0", "q1", "q_raw", "q_before")}
    still = {name: np.zeros(model.nv) for name in ("v0", "v1", "jump", "jump_v", "step", "v_raw", "v_before")}
    return Estimate(mode=ESTIMATES.index(mode), cap_s=cap_s, blend_s=blend_s, sequence=-1, **at_rest, **still)


@kernel
def raw_estimate(m: ModelArrays, e: Estimate, now_s: float, q_out: Floats1, v_out: Floats1) -> None:
    """The estimate at now_s without blending, in the mode that is set."""
    mode, apart, v0, v1 = e.mode, e.t1 - e.t0, e.v0, e.v1
    if mode == INTERPOLATE and apart > SAME_TIME_S:
        u = min(max((now_s - e.came_s) / apart, 0.0), 1.0)
        difference(m, e.q0, e.q1, e.step)
        integrate(m, e.q0, e.step, u, q_out)
        for j in range(v1.shape[0]):
            v_out[j] = v0[j] + u * (v1[j] - v0[j])
        return
    t = min(max(now_s - e.t1, 0.0), e.cap_s) if mode == EXTRAPOLATE else 0.0
    for j in range(v1.shape[0]):
        a = (v1[j] - v0[j]) / apart if apart > SAME_TIME_S else 0.0
        e.step[j] = t * (v1[j] + 0.5 * t * a)
        v_out[j] = v1[j] + t * a
    integrate(m, e.q1, e.step, 1.0, q_out)


@kernel
def estimate(m: ModelArrays, e: Estimate, now_s: float, q_out: Floats1, v_out: Floats1) -> None:
    """The state to touch at now_s [s, client's clock] into q_out (nq,) and v_out (nv,)."""
    blend, since = e.blend_s, now_s - e.came_s
    s = 1.0 - max(since, 0.0) / blend if since < blend else 0.0
    raw_estimate(m, e, now_s, e.q_raw, v_out)
    integrate(m, e.q_raw, e.jump, s, q_out)
    for j in range(v_out.shape[0]):
        v_out[j] += s * e.jump_v[j]


@kernel
def begin_blending(m: ModelArrays, e: Estimate, now_s: float) -> None:
    """From what was shown before, in q_before and v_before, to what the states say now."""
    e.came_s = now_s
    raw_estimate(m, e, now_s, e.q_raw, e.v_raw)
    difference(m, e.q_raw, e.q_before, e.jump)
    for j in range(e.jump_v.shape[0]):
        e.jump_v[j] = e.v_before[j] - e.v_raw[j]


@kernel
def note_state(
    m: ModelArrays, e: Estimate, sequence: int, time_s: float, q: Floats1, v: Floats1, now_s: float
) -> bool:  # fmt: skip
    """Take in a state that came at now_s and was true at time_s [s, client's clock]; whether it was used.

    One that is not newer than the newest is late, and one that holds no state (a NaN, a quaternion far from unit) is
    refused; both are counted and change nothing.  The first is shown at once: there is nothing to blend from.
    """
    if e.noted > 0 and sequence <= e.sequence:
        e.late += 1
        return False
    if bad_coordinate(m, q) != FINE or not finite(v) or not abs(time_s) < 1e15:
        e.refused += 1
        return False
    first = e.noted == 0
    estimate(m, e, now_s, e.q_before, e.v_before)
    for i in range(q.shape[0]):
        e.q0[i], e.q1[i] = q[i] if first else e.q1[i], q[i]
    for j in range(v.shape[0]):
        e.v0[j], e.v1[j] = v[j] if first else e.v1[j], v[j]
    e.t0, e.t1 = time_s if first else e.t1, time_s
    e.sequence = sequence
    e.noted += 1
    begin_blending(m, e, now_s)
    if first:
        e.jump[:] = 0.0
        e.jump_v[:] = 0.0
    return True


@kernel
def change_mode(m: ModelArrays, e: Estimate, mode: int, now_s: float) -> None:
    """Go on in another mode, without a jump."""
    estimate(m, e, now_s, e.q_before, e.v_before)
    e.mode = mode
    begin_blending(m, e, now_s)


@kernel
def forget_states(e: Estimate) -> None:
    """Begin again, as after `open_estimate`: the next state is taken whatever its sequence, and shown at once."""
    e.noted = 0
