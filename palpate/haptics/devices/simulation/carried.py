"""A simulated device that something carries, such as a robot, and a hand that is led: all in the device's moving frame.

a_o       acceleration of the device's origin [m/s^2];  W, W'  its turn about z, up [rad/s, rad/s^2]
a(x, v)   = a_o + W' x x + 2 W x v + W x (W x x): what a point of the frame feels, with the opposite sign

The arm turns with theta1' + W; its first axis is accelerated by a(x_1, 0), x_1 = (l1, 0, .).  So in the equation of
motion (phantom.py) C is taken at these rates, and S_theta^T a(x_1, 0) + M (W', 0, 0) is added.  A hand in that frame
weighs m a(x_h, x_h').  Reference on the mobile display, 5.4.

A hand that is led follows x_d = lead + v (t - t_0), v the lead's velocity, in place of its own intent (hand.py).
A wrist, and how the hand is turned, are of the device's frame: they turn along with it, and weigh nothing more.
"""

from __future__ import annotations

from palpate.haptics.devices.simulation import phantom
from palpate.jit import Struct, Vector, kernel
from palpate.spatial.vectors import add, add_scaled, scale


class Carried(Struct):
    """Written by whoever carries the device or leads the hand, before each tick; all zero: nobody does."""

    moves: int  # 1: the device is carried
    acceleration: Vector  # a_o
    spin: float  # W
    spin_rate: float
    leads: int  # 1: the hand is led
    lead: Vector  # [m], at
    lead_s: float  # of the device's time, and
    lead_velocity: Vector  # from there on


@kernel
def frame_acceleration(ride, x, v):
    """a(x, v)."""
    w, rate = ride.spin, ride.spin_rate
    turning = (
        -rate * x[1] - 2.0 * w * v[1] - w * w * x[0],
        rate * x[0] + 2.0 * w * v[0] - w * w * x[1],
        0.0,
    )
    return add(ride.acceleration, turning)


@kernel
def carried_inertia_and_bias(mechanism, ride, q, rate):
    """As phantom.inertia_and_bias, with all that the ride adds to the bias."""
    if mechanism.kind == phantom.POINT:
        M, bias = phantom.inertia_and_bias(mechanism, q, rate)
        return M, add_scaled(bias, mechanism.tip_mass, frame_acceleration(ride, q, rate))
    M, bias = phantom.inertia_and_bias(mechanism, q, (rate[0] + ride.spin, rate[1], rate[2]))
    axis = frame_acceleration(ride, (phantom.L1, 0.0, 0.0), (0.0, 0.0, 0.0))
    carried = phantom.carried_torque(q, phantom.thesis_axes(axis))
    return M, add(bias, (carried[0] + M[0] * ride.spin_rate, carried[1], carried[2]))


@kernel
def led_to(ride, t):
    """x_d [m] and x_d' [m/s]."""
    return add_scaled(ride.lead, t - ride.lead_s, ride.lead_velocity), ride.lead_velocity


@kernel
def hand_weight(ride, mass, x, v):
    """The force that the frame's motion seems to put on a hand [N]."""
    return scale(-mass, frame_acceleration(ride, x, v))
