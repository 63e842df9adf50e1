"""Laws of one contact on the surfaces that the proxy touches (haptics/contact_laws.py): a wall in place of the spring,
a keeper around it, a friction in place of the proxy's own.

A slot holds what a contact's laws remember, as long as the contact lasts: from the first update in which it is felt to
the last.  It is known again by its shape and by its normal, which turns little from one update to the next.

friction   the proxy slides freely on such a shape (its mu is 0), and the law sees the hand itself: once along each of
           two directions t, u across the normal, which the slot keeps.  Both together are no longer than (1 + a) mu Fn.
mass       that the contact feels: the device's, as the caller says

What is not a number counts as no force, and `failed` says whose law it was: so no body gets it, and the device ends in
a fault.
"""

import math

from palpate.conventions import WORLD
from palpate.haptics.contact_laws import STATE, call_friction, call_keeper, call_wall, pushing
from palpate.haptics.rendering.tables import MAX_SLOTS, load_proxy
from palpate.jit import kernel, shared
from palpate.spatial.vectors import (
    add,
    add_scaled,
    cross,
    dot,
    get3,
    get9,
    is_finite,
    put3,
    rotate,
    rotate_back,
    scale,
    sub,
)  # fmt: skip

SAME = 0.5  # cosine of the angle by which a contact's normal may turn in an update
FREE = -1  # ProxyState.slot_shape of a slot that nobody has


@kernel
def surface_velocity(c, s, link, point, dt):
    """Of a point of a link, from where it was at the last update."""
    if link == WORLD:
        return (0.0, 0.0, 0.0)
    local = rotate_back(get9(c.link_R, link), sub(point, get3(c.link_p, link)))
    before = add(get3(s.old_p, link), rotate(get9(s.old_R, link), local))
    return scale(1.0 / dt, sub(point, before))


@kernel
def clear_slot(s, slot):
    """Nobody's, and its rows zero."""
    s.slot_shape[slot] = FREE
    s.slot_travel[slot, 0] = s.slot_travel[slot, 1] = 0.0
    for i in range(STATE):
        s.wall_state[slot, i] = s.keeper_state[slot, i] = 0.0
        s.friction_state[2 * slot, i] = s.friction_state[2 * slot + 1, i] = 0.0


@kernel
def clear_slots(s):
    for slot in range(MAX_SLOTS):
        clear_slot(s, slot)
    s.n_slots = 0


@kernel
def some_tangent(n):
    """A direction across n, of any length but 0."""
    return (0.0, n[2], -n[1]) if abs(n[0]) < 0.6 else (-n[2], 0.0, n[0])


@kernel
def slot_of(s, shape, n):
    """(slot of this contact, whether it is new): that of the update before, or a free one."""
    best, nearest, free = FREE, SAME, FREE
    for slot in range(MAX_SLOTS):
        if s.slot_shape[slot] == FREE:
            free = slot
        elif s.slot_shape[slot] == shape and s.slot_seen[slot] == 0:
            turned = dot(get3(s.slot_normal, slot), n)
            if turned > nearest:
                best, nearest = slot, turned
    new = best == FREE
    slot = free if new else best
    t = some_tangent(n) if new else get3(s.slot_tangent, slot)
    t = add_scaled(t, -dot(t, n), n)
    put3(s.slot_tangent, slot, scale(1.0 / math.sqrt(dot(t, t)), t))
    put3(s.slot_normal, slot, n)
    s.slot_shape[slot], s.slot_seen[slot] = shape, 1
    return slot, new


@kernel
def limited(pull, most):
    """A force no longer than `most` [N]."""
    size = math.sqrt(dot(pull, pull))
    return scale(most / size, pull) if size > most else pull


@kernel
def rubbed(f, s, slot, shape, slide, normal, dt):
    """Force on the hand from the friction's law, along both directions; slide: velocity of the hand to the surface."""
    t = get3(s.slot_tangent, slot)
    u = cross(get3(s.slot_normal, slot), t)
    law, setting = f.friction[shape], f.friction_setting[shape]
    along_t = call_friction(
        law, s.slot_travel[slot, 0], dot(slide, t), normal, dt, s.mass_kg, setting, s.friction_state[2 * slot]
    )
    along_u = call_friction(
        law, s.slot_travel[slot, 1], dot(slide, u), normal, dt, s.mass_kg, setting, s.friction_state[2 * slot + 1]
    )
    return limited(add(scale(-along_t, t), scale(-along_u, u)), (1.0 + setting[1]) * setting[0] * normal)


@shared("float64(intp, intp, float64, float64, float64, float64, float64, float64)")
def lawful_force(address, k, depth, vx, vy, vz, own, dt):
    """Fn [N] of plane k, which has a law; its friction's force on the hand is in `pull`.

    depth that is felt, > 0;  v of the hand relative to the surface;  own: Fn without a wall's law, and what a tap adds
    with one.
    """
    g, c, f, s = load_proxy(address)
    shape, n, v = s.plane_shape[k], get3(s.plane, k), (vx, vy, vz)
    slot, new = slot_of(s, shape, n)
    s.n_slots += new
    f_n = own
    if f.wall[shape] != 0:
        wall, wall_setting, wall_state = f.wall[shape], f.wall_setting[shape], s.wall_state[slot]
        approach = -dot(v, n)
        if f.keeper[shape] != 0:
            f_n += call_keeper(
                f.keeper[shape], wall, wall_setting, wall_state, depth, approach, dt, s.mass_kg,
                f.keeper_setting[shape], s.keeper_state[slot],
            )  # fmt: skip
        else:
            f_n += call_wall(wall, depth, approach, dt, s.mass_kg, wall_setting, wall_state)
        f_n = pushing(f_n)
    s.pull = (0.0, 0.0, 0.0)
    if f.friction[shape] != 0 and is_finite(f_n):
        near = (s.plane[k, 4], s.plane[k, 5], s.plane[k, 6])
        if not new:
            moved = sub((s.hip[0], s.hip[1], s.hip[2]), s.hip_before)
            moved = add_scaled(moved, -dt, surface_velocity(c, s, g.link[shape], near, dt))
            t = get3(s.slot_tangent, slot)
            s.slot_travel[slot, 0] += dot(moved, t)
            s.slot_travel[slot, 1] += dot(moved, cross(n, t))
        s.pull = rubbed(f, s, slot, shape, v, f_n, dt)
    if not is_finite(f_n + dot(s.pull, s.pull)):
        s.failed, s.pull = 1 + shape, (0.0, 0.0, 0.0)
        return 0.0
    return f_n


@kernel
def end_slots(s):
    """After all contacts of an update: those that were not felt have ended."""
    s.n_slots = 0
    for slot in range(MAX_SLOTS):
        if s.slot_seen[slot] == 0:
            clear_slot(s, slot)
        else:
            s.n_slots += 1
        s.slot_seen[slot] = 0
    s.hip_before = (s.hip[0], s.hip[1], s.hip[2])
