"""Two palms to two places, elbows out of the trunk's way: the inverse kinematics of a grasp (reference on avatars 4.2).

    (palm, palm)      poses, or what `axes` leaves of them
    (elbow, elbow)    sideways at so much from the middle of the trunk: else an upper arm goes into it (4.1)
    posture           whatever is left

on trunk and arms or arms only, as `joints` says.  When the grasp's part is made:

    reach = palm_tasks(model, q, palms=(("RARM_JOINT6", (0.0, 0.04, -0.055)), ("LARM_JOINT6", (0.0, -0.04, -0.055))),
                       elbows=("RARM_JOINT3", "LARM_JOINT3"), joints=[...])
    its Struct keeps reach.address; the object itself must live as long as the part

and in every tick, in compiled code:

    m, w, t = load_tasks(g.reach)
    take_q(t, s.q_hold)                                      if others write these joints too; else t.q goes on
    reach_step(g.reach, (p_right, turn_right), (p_left, turn_left), dt)
    put_q(t, s.q_hold); put_v(t, s.v_hold)                   only columns of `joints` have changed
    missing_m(t)                                             the larger distance of both palms, before the step

The trunk may move meanwhile: targets and elbows are in the world; `aim_elbow` if it walks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from palpate.control.prioritised.task_kernels import aim, step_tasks
from palpate.control.prioritised.task_tables import load_tasks
from palpate.control.prioritised.tasks import Point, Pose, Posture, Tasks
from palpate.jit import kernel
from palpate.model.model import Model
from palpate.spatial.placement import Vector3

RIGHT, LEFT, RIGHT_ELBOW, LEFT_ELBOW = range(4)  # rows of the table
ELBOW_M = 0.30  # reference on avatars 4.1: 0.28 to 0.32 works
GAIN, SPEED_M_S, TURN_RAD_S = 100.0, 1.0, 3.0  # of the palms: nearly all of what is missing in 20 ms
QUICK = 4.0  # [rad/s] of near-singular directions: targets move a few millimetres a tick, and are to be kept up with


def palm_tasks(
    model: Model,
    q: ArrayLike,
    palms: Sequence[tuple[str, Vector3]],
    elbows: tuple[str, str],
    joints: Sequence[str],
    *,
    elbow_m: float = ELBOW_M,
    axes: str = "XYZxyz",
    speed_m_s: float = SPEED_M_S,
    speed_limit: float = 4.0,
) -> Tasks:
    """Tasks of (body, point) of the right and the left palm, and the bodies whose origins the elbows are."""
    hands = [Pose(body, None, at, axes, gain=GAIN, speed_m_s=speed_m_s, turn_rad_s=TURN_RAD_S) for body, at in palms]
    q = np.asarray(q, dtype=np.float64)
    sides = [Point(body, (0.0, side * elbow_m, 0.0), axes="y", speed_m_s=0.5)
             for body, side in zip(elbows, (-1.0, 1.0), strict=True)]  # fmt: skip
    return Tasks(model, [tuple(hands), tuple(sides), Posture(gain=1.0)], q, joints=joints, speed_limit=speed_limit,
                 singular_speed=QUICK)  # fmt: skip


@kernel
def reach_step(address, right, left, dt):
    """Both palms towards (place, quaternion) each, one step of dt [s]."""
    _, _, t = load_tasks(address)
    aim(t, RIGHT, right[0], right[1])
    aim(t, LEFT, left[0], left[1])
    step_tasks(address, dt)


@kernel
def aim_elbow(t, row, y):
    """Another y in the world [m] for an elbow."""
    t.target[row, 1] = y


@kernel
def missing_m(t):
    """The larger of both palms' distances to their targets, when the last step began [m]."""
    return max(t.error[RIGHT, 1], t.error[LEFT, 1])
