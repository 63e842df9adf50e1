"""The force of each contact: spring, damper, friction, texture and the tap of the first touch.

    normal      f_n = k (d + h) - b v_n + tap, never negative: nothing pulls
    friction    k (p - x*), at most mu f_n; the contacts share it by mu d
    tap         A v_0 exp(-t / tau) sin(2 pi nu t) from the first touch on, v_0 the speed of approach (Okamura 2001)

d depth behind the surface; h of the texture; v_n velocity of the hand along n, relative to the surface; p the proxy, x*
the nearest place to the hand that the surfaces allow.  The force on the hand is minus the sum of those on the bodies,
to the last bit.  Where a surface has laws of its own (lawful.py), they are in place of spring, damper and friction.
"""

import math

from palpate.collision.support import shape_pose
from palpate.conventions import WORLD
from palpate.haptics.rendering.lawful import end_slots, lawful_force, surface_velocity
from palpate.haptics.rendering.shading import shaded
from palpate.haptics.rendering.tables import (
    MAX_CONTACTS,
    SLIDE,
    SMOOTH,
    load_proxy,
)  # fmt: skip
from palpate.haptics.rendering.texture import textured
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add, add_scaled, dot, get3, put3, rotate, rotate_back, scale, sub

RAMP_S = 0.2  # stiffness rises over this if the hand began inside a solid


@kernel
def felt(g, c, f, s, k, slip):
    """(depth that is felt, direction of the force) of plane k; slip: velocity of the hand along the surface."""
    shape, t, depth, n = s.plane_shape[k], s.plane_triangle[k], s.pressed[k], get3(s.plane, k)
    shading, texture = f.shading[shape] != 0 and t >= 0, f.texture[shape] != SMOOTH
    if not (shading or texture):
        return depth, n
    R, p = shape_pose(g, c, shape)
    x, m = rotate_back(R, sub((s.plane[k, 4], s.plane[k, 5], s.plane[k, 6]), p)), rotate_back(R, n)
    if shading:
        m = shaded(g, f, t, x, m)
    if texture:
        depth, m = textured(f, shape, x, m, depth, math.sqrt(dot(slip, slip)), s.texture_gain)
    return depth, rotate(R, m)


@kernel
def tap(f, s, shape):
    """The transient of the first touch, if this is the shape that was touched [N]."""
    if s.tapped != shape or f.tap[shape, 0] == 0.0:
        return 0.0
    age = s.tap_age_s
    swing = math.exp(-f.tap[shape, 2] * age) * math.sin(f.tap[shape, 1] * age)
    return f.tap[shape, 0] * s.tap_speed_m_s * swing


@kernel
def friction_force(f, s, k, share, f_n):
    """On the hand, from plane k."""
    shape, p = s.plane_shape[k], (s.position[0], s.position[1], s.position[2])
    pull = scale(share * f.stiffness[shape], sub(p, (s.goal[0], s.goal[1], s.goal[2])))
    most = (f.mu_dynamic[shape] if s.mode == SLIDE else f.mu_static[shape]) * f_n
    size = math.sqrt(dot(pull, pull))
    return scale(most / size, pull) if size > most else pull


@kernel
def total_grip(f, s):
    total = 0.0
    for k in range(s.n_planes):
        total += f.mu_static[s.plane_shape[k]] * s.pressed[k]
    return total


@kernel
def note_touch(g, s, first, k, closing, dt):
    """Which link carries the proxy, and when the touch began."""
    if k < 0:
        s.tapped, s.touched = -1, WORLD
        return
    s.touched = g.link[s.plane_shape[k]]
    if first:
        s.tapped, s.tap_age_s, s.tap_speed_m_s = s.plane_shape[k], 0.0, closing
    else:
        s.tap_age_s += dt


@kernel
def deepest_plane(s):
    """The plane that holds most, -1: none does."""
    best = -1
    for k in range(s.n_planes):
        if s.multiplier[k] > 0.0 and (best < 0 or s.multiplier[k] > s.multiplier[best]):
            best = k
    return best


@kernel
def relative_velocity(g, c, s, k, dt):
    """Of the hand to the surface of plane k."""
    near, link = (s.plane[k, 4], s.plane[k, 5], s.plane[k, 6]), g.link[s.plane_shape[k]]
    v = (s.hip_velocity[0], s.hip_velocity[1], s.hip_velocity[2])
    return sub(v, surface_velocity(c, s, link, near, dt))


@shared("void(intp, float64)")
def render(address, dt):
    """force and contact_* from the planes that hold the proxy."""
    g, c, f, s = load_proxy(address)
    deepest = deepest_plane(s)
    closing = 0.0
    if deepest >= 0:
        closing = max(-dot(get3(s.plane, deepest), relative_velocity(g, c, s, deepest, dt)), 0.0)
    note_touch(g, s, s.n_contacts == 0, deepest, closing, dt)
    s.ramp = min(s.ramp + dt / RAMP_S, 1.0)
    grip, on_bodies, row = total_grip(f, s), (0.0, 0.0, 0.0), 0
    for k in range(s.n_planes):
        if s.multiplier[k] <= 0.0 or row == MAX_CONTACTS:
            continue
        shape, n = s.plane_shape[k], get3(s.plane, k)
        v = relative_velocity(g, c, s, k, dt)
        v_n = dot(v, n)
        depth, m = felt(g, c, f, s, k, add_scaled(v, -v_n, n))
        f_n, lawful = 0.0, f.wall[shape] != 0 or f.friction[shape] != 0
        if depth > 0.0:
            f_n = max(f.stiffness[shape] * depth - f.damping[shape] * v_n + tap(f, s, shape), 0.0)
            if lawful:
                own = f_n if f.wall[shape] == 0 else tap(f, s, shape)
                f_n = lawful_force(address, k, depth, v[0], v[1], v[2], own, dt)
        share = f.mu_static[shape] * s.pressed[k] / grip if grip > 0.0 else 0.0
        rubbing = friction_force(f, s, k, share, f_n)
        if f.friction[shape] != 0:
            rubbing = s.pull if depth > 0.0 else (0.0, 0.0, 0.0)
        on_hand = add(scale(f_n, m), rubbing)
        on_body = scale(-s.ramp, on_hand)
        s.contact_shape[row], s.contact_body[row] = shape, g.body[shape]
        put3(s.contact_point, row, (s.plane[k, 4], s.plane[k, 5], s.plane[k, 6]))
        put3(s.contact_normal, row, n)
        put3(s.contact_force, row, on_body)
        on_bodies = add(on_bodies, on_body)
        row += 1
    if s.n_slots > 0:
        end_slots(s)
    s.n_contacts = row
    s.force[0], s.force[1], s.force[2] = -on_bodies[0], -on_bodies[1], -on_bodies[2]
