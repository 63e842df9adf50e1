"""Where the robot should be, and where it goes first: target and the three cases.  Mobile display, 4.1 to 4.4.

user, hand, robot  (x, z);   d robot - user;  d1 = d', the distance that is kept;  r_c the cylinder around the user
beta   bearing atan2(z, x) of a point seen from the user;  pi  from the robot's bearing to the target's
case 1 d < r_c: retreat straight away from the user;   case 2 |pi| <= pi1: straight to the target
case 3 else: round the user on the circle of radius d1, by a temporary target pi1 ahead
"""

import math

from palpate.jit import kernel
from palpate.mobile.rates import clip, wrap

RETREAT, STRAIGHT, AROUND = 1, 2, 3
NEAR_HAND_M = 0.15  # a hand nearer to the user has no bearing: the last one is kept
BEHIND_RAD = math.radians(170.0)  # beyond it both ways round are as long, and the last one is gone on with
ON_TOP_M = 1e-6  # a robot at the very place of the user


@kernel
def bearing_of_hand(user, hand, last):
    """beta of the target: on the ray from the user through the hand."""
    x, z = hand[0] - user[0], hand[1] - user[1]
    if x * x + z * z < NEAR_HAND_M * NEAR_HAND_M:
        return last
    return math.atan2(z, x)


@kernel
def at(user, distance, beta):
    return user[0] + distance * math.cos(beta), user[1] + distance * math.sin(beta)


@kernel
def waypoint(robot, user, beta, d1, r_c, pi1, side):
    """((x, z) to go to, case, side): side +-1 is the way round that was taken last, 0: none yet."""
    x, z = robot[0] - user[0], robot[1] - user[1]
    d = math.sqrt(x * x + z * z)
    here = math.atan2(z, x) if d > ON_TOP_M else beta + math.pi  # on top of the user: away from the hand
    pi = wrap(beta - here)
    if abs(pi) > BEHIND_RAD and side != 0.0:
        pi = side * abs(pi)
    if d < r_c:
        return at(user, d1, here), RETREAT, side
    if abs(pi) <= pi1:
        return at(user, d1, beta), STRAIGHT, 0.0
    return at(user, d1, here + clip(pi, pi1)), AROUND, 1.0 if pi > 0.0 else -1.0


@kernel
def facing(robot, user):
    """phi* at which the device's front (sin phi, -cos phi) points from robot to user; (3.1) with its sign put right."""
    return math.atan2(-(robot[0] - user[0]), robot[1] - user[1])
