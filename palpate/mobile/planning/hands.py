"""Hands in the robot's axes; and two hands on one base, each with a device of its own.  Mobile display, 6.3.

axes  (ahead, aside): along the device's front (sin phi, -cos phi), and across (cos phi, sin phi)
"""

import math

from palpate.jit import kernel


@kernel
def in_robot_axes(pose, x, z):
    """(ahead, aside) of a point: along the device's front (sin phi, -cos phi), and across (cos phi, sin phi)."""
    s, c = math.sin(pose[2]), math.cos(pose[2])
    dx, dz = x - pose[0], z - pose[1]
    return dx * s - dz * c, dx * c + dz * s


@kernel
def from_robot_axes(pose, ahead, aside):
    s, c = math.sin(pose[2]), math.cos(pose[2])
    return pose[0] + ahead * s + aside * c, pose[1] - ahead * c + aside * s


@kernel
def two_hands(pose, left, right, left_centre, right_centre):
    """((x, z) to plan with, distance off centre) of two hands (x, y, z) at a robot's pose (x, z, phi).

    centres (ahead, aside, y): where each device's HIP rests.  The mid-point of the hands is followed; and both must be
    within their workspace, so the one that is further off counts.
    """
    off = 0.0
    for hand, centre in ((left, left_centre), (right, right_centre)):
        ahead, aside = in_robot_axes(pose, hand[0], hand[2])
        high = hand[1] - centre[2]
        off = max(off, math.sqrt((ahead - centre[0]) ** 2 + (aside - centre[1]) ** 2 + high * high))
    return (0.5 * (left[0] + right[0]), 0.5 * (left[2] + right[2])), off
