"""Holding a body at a point, and pushing it there: what every hand does, whatever it holds it with.

m ModelArrays, w Workspace; world axes
"""

from palpate.dynamics.jacobian import body_frame
from palpate.jit import kernel
from palpate.spatial.vectors import add, cross, get3, get6, rotate
from palpate.world.state import WRENCHES


@kernel
def held_point(m, w, body, at_body):
    """(lever, p, point, velocity, spin) of a point of a body, given in its axes.

    lever  from the body's origin;  p  from the tree's reference point;  point, velocity  in the world
    """
    link = m.body_link[body]
    root = m.root[link]
    R, origin = body_frame(m, w, body)
    lever = rotate(R, at_body)
    p = add(origin, lever)
    spin, u = get6(w.V, link)
    velocity = add(get3(w.drift, root), add(u, cross(spin, p)))
    return lever, p, add(get3(w.origin, root), p), velocity, spin


@kernel
def push_body(wrenches, integer, body, lever, force, torque):
    """A force at `lever` from the body's origin and a torque, for the next step, beside what else pushes.

    wrenches, integer  those of the World's State
    """
    moment = add(cross(lever, force), torque)
    for r in range(3):
        wrenches[body, r] += moment[r]
        wrenches[body, 3 + r] += force[r]
    integer[WRENCHES] = wrenches.shape[0]
