"""Between planner and robot: it never drives into the user, and says when one drives into it.  Mobile display, 4.7.

n = (robot - user)/d;  h = d - (r_c + margin);  require v.n >= -2 h, and with the user's velocity known
v.n >= -2 h + v_u.n where the user approaches.  If violated the radial part is put right; then the speed is capped, at
the expense of the part across.

A base does not obey at once: with a closing speed c the demanded change is 2 c [m/s^2], and above half its acceleration
it is too late.  So whoever calls adds to `keep` what will be closed before the base answers; and a base that has to
brake with all it has gets no new velocity across, which would take its share of the acceleration.
"""

import math

from palpate.jit import kernel

LOOK_S = 0.020  # step of what is foreseen


@kernel
def barrier(vx, vz, robot, user, approach, keep, gain, vmax, own, brake):
    """The velocity that keeps out of the distance `keep`; approach: v_u.n >= 0 of the user, 0 if it is not used.

    own: the base's velocity now (x, z);  brake: a change beyond it takes all of the base's acceleration [m/s].
    """
    x, z = robot[0] - user[0], robot[1] - user[1]
    d = math.sqrt(x * x + z * z)
    if d < 1e-9:
        return vx, vz
    nx, nz = x / d, z / d
    along, need = vx * nx + vz * nz, -gain * (d - keep) + approach
    if along >= need:
        return vx, vz
    ax, az = vx - along * nx, vz - along * nz
    along, now = min(need, vmax), own[0] * nx + own[1] * nz
    if along - now > brake:
        ax, az = own[0] - now * nx, own[1] - now * nz
    across, room = math.sqrt(ax * ax + az * az), math.sqrt(max(vmax * vmax - along * along, 0.0))
    f = 1.0 if across <= room else room / across
    return along * nx + f * ax, along * nz + f * az


@kernel
def seconds_to_contact(d, approach, growth, retreat, r_c, vmax, a_max, walking, grows, horizon):
    """When a user who comes on is at the cylinder although the robot retreats as fast as it can; inf: not in time.

    approach, growth: v_u.n [m/s] and by how much it grows [m/s^2], both 0 or more; it goes on growing for `grows` [s],
    up to the speed `walking`.  retreat: of the robot now; it reaches vmax with a_max.  Looks ahead for `horizon` [s].
    """
    if d <= r_c:
        return 0.0
    top, t = max(approach, walking), 0.0
    while t < horizon:
        t += LOOK_S
        if t <= grows:
            approach = min(approach + growth * LOOK_S, top)
        retreat = min(retreat + a_max * LOOK_S, max(vmax, retreat))
        d += (retreat - approach) * LOOK_S
        if d <= r_c:
            return t
    return math.inf
