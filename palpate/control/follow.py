"""Computed torque along a plan, with a compliance that a hand can turn up: gain 1 follows, gain 0 yields.

a_ref = g^2 a_plan + g^2 Kp (q_plan - q) + g Kd (g v_plan - v)       damping ratio 1 at every gain g
tau   = rnea(q, v, a_ref) - (1 - g) D v                              gravity and Coriolis always compensated
"""

from palpate.jit import kernel

KP, KD = 400.0, 40.0  # [1/s^2, 1/s]: 20 rad/s, critically damped (reference 2.4)
YIELD_S, RECOVER_S = 0.05, 0.8  # from following to yielding when a hand takes hold, and back when it lets go


@kernel
def next_gain(gain, held, dt):
    """The gain one tick later."""
    return max(0.0, gain - dt / YIELD_S) if held else min(1.0, gain + dt / RECOVER_S)


@kernel
def reference_acceleration(plan, row, gain, q, v, out):
    """a_ref (nv,) at a row of the plan, for the joints it has columns for: the first, with one coordinate each."""
    for j in range(plan.q.shape[1]):
        error = plan.q[row, j] - q[j]
        rate = gain * plan.v[row, j] - v[j]
        out[j] = gain * gain * (plan.a[row, j] + KP * error) + gain * KD * rate
