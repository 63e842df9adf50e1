"""Computed torque along a plan, with a compliance that a hand can turn up: gain 1 follows, gain 0 yields.

a_ref = g^2 a_plan + g^2 Kp (q_plan - q) + g Kd (g v_plan - v)       damping ratio 1 at every gain g
tau   = rnea(q, v, a_ref) - (1 - g) D v                              gravity and Coriolis always compensated
"""

from palpate.control.plans.tangent import compare
from palpate.jit import kernel

KP, KD = 400.0, 40.0  # [1/s^2, 1/s]: 20 rad/s, critically damped (reference 2.4)
YIELD_S, RECOVER_S = 0.05, 0.8  # from following to yielding when a hand takes hold, and back when it lets go


@kernel
def next_gain(gain, held, dt):
    """The gain one tick later."""
    return max(0.0, gain - dt / YIELD_S) if held else min(1.0, gain + dt / RECOVER_S)


@kernel
def reference_acceleration(plan, row, gain, g):
    """a_ref of the planned joints of a Guide at a row of the plan."""
    compare(g, plan, row)
    for k in range(g.v_at.shape[0]):
        rate = gain * g.v_plan[k] - g.v[g.v_at[k]]
        g.a_ref[g.v_at[k]] = gain * gain * (g.a_plan[k] + KP * g.error[k]) + gain * KD * rate
