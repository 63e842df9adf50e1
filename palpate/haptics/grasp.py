"""Pushing a body at a point: what every hand does, whatever it holds it with; and the bodies that were put elsewhere
under it.

m ModelArrays, w Workspace; world axes
"""

import math

from palpate.jit import kernel
from palpate.spatial.vectors import add, cross, dot, get3, get6, get9, put3, put9, sub

# A link that is this much further than twice its velocity takes it in a step was put there, by a snapshot for one; a
# solver that takes penetration out moves it far less.
LEAP_M, LEAP_RAD = 5e-3, 0.05


@kernel
def push_body(s, body, lever, force, torque):
    """A force at `lever` from the body's origin and a torque, for the next step, beside what else pushes.

    s  the World's State
    """
    moment = add(cross(lever, force), torque)
    for r in range(3):
        s.wrenches[body, r] += moment[r]
        s.wrenches[body, 3 + r] += force[r]
    s.n_wrenches = s.wrenches.shape[0]


@kernel
def remember(c, s):
    """Where the links are, for the next tick: (L, 9) and (L, 3) of Contacts to old_R and old_p."""
    for i in range(s.old_p.shape[0]):
        put9(s.old_R, i, get9(c.link_R, i))
        put3(s.old_p, i, get3(c.link_p, i))


@kernel
def has_leapt(m, w, now_R, now_p, old_R, old_p, dt):
    """Whether a link is where its velocity cannot have taken it in a step; poses (L, 9), (L, 3) now and before."""
    for i in range(1, old_p.shape[0]):
        spin, u = get6(w.V, i)
        v = add(get3(w.drift, m.root[i]), add(u, cross(spin, get3(w.p, i))))
        moved = sub(get3(now_p, i), get3(old_p, i))
        most = LEAP_M + 2.0 * dt * math.sqrt(dot(v, v))
        turned = 3.0  # 3 - trace(R_old^T R_now) = 2 (1 - cos angle), the angle's square while it is small
        for k in range(9):
            turned -= now_R[i, k] * old_R[i, k]
        furthest = LEAP_RAD + 2.0 * dt * math.sqrt(dot(spin, spin))
        if dot(moved, moved) > most * most or turned > furthest * furthest:
            return True
    return False
