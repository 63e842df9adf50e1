"""The virtual proxy: a ball that follows the hand and never enters a solid.

Ruspini, Kolarov and Khatib 1997; the point (radius 0) is the god-object of Zilles and Salisbury 1995.  One update:

    carry    the bodies have moved: the proxy rides on the one it touches, and whatever would sweep over it pushes it
    gather   the shapes within reach of what is left of the way to the hand
    slide    the way, among surfaces that now stand still                     slide.py
    render   the force on the hand and its opposite on the bodies             force.py

Carrying looks at each body in its own frame, where it rests and the proxy moves: from X_old^-1 p to X_new^-1 p'.  That
path is swept like any other, so a thin plate cannot jump over the proxy, however fast.  The first update, and the one
after a reset, places the proxy at the hand, or at the nearest surface if the hand is inside a solid.

Meshes are touched from their front only, as in collision/triangles.py; an open one can be passed from behind.
A body that is put elsewhere in one step drags the proxy along: reset it then (integer[PLACED] = 0).
"""

import math

from palpate.collision.support import shape_pose
from palpate.collision.tables import PLANE
from palpate.haptics.grasp import remember
from palpate.haptics.rendering.force import render
from palpate.haptics.rendering.halfspaces import nearest_allowed
from palpate.haptics.rendering.lawful import clear_slots
from palpate.haptics.rendering.nearest import nearest_of_all
from palpate.haptics.rendering.slide import add_plane, slide
from palpate.haptics.rendering.sweep import TOUCH, sweep_shape
from palpate.haptics.rendering.tables import (
    STICK,
    load_proxy,
)  # fmt: skip
from palpate.jit import kernel, shared
from palpate.spatial.vectors import (
    add,
    add_scaled,
    dot,
    get3,
    get9,
    is_finite,
    length,
    put3,
    put9,
    rotate,
    rotate_back,
    sub,
)  # fmt: skip

# Bodies that push the proxy at the same time are asked in turn, this often.
PASSES = 12
# Ways out of several solids at once; then the six directions are tried, in growing steps [m].
WAYS_OUT, FIRST_STEP_M, FARTHEST_M = 24, 0.01, 1e3
SLACK_M = 1e-6  # of the reach, for rounding


@kernel
def box_misses(g, k, x, reach):
    """Whether the box of a broad-phase group k is farther than `reach` from x, in its link's frame."""
    square = 0.0
    for r in range(3):
        e = max(abs(x[r] - g.proxy_centre[k, r]) - g.proxy_half[k, r], 0.0)
        square += e * e
    return square > reach * reach


@kernel
def ball_misses(g, i, x, reach):
    d = sub(get3(g.centre, i), x)
    reach += g.radius[i]
    return dot(d, d) > reach * reach


@kernel
def same_pose(c, s, link):
    for r in range(9):
        if c.link_R[link, r] != s.old_R[link, r]:
            return False
    return (
        c.link_p[link, 0] == s.old_p[link, 0]
        and c.link_p[link, 1] == s.old_p[link, 1]
        and c.link_p[link, 2] == s.old_p[link, 2]
    )


@kernel
def put_near(g, c, s, i):
    k = s.n_near
    R, p = shape_pose(g, c, i)
    s.near[k] = i
    put9(s.shape_R, k, R)
    put3(s.shape_p, k, p)
    s.n_near = k + 1


@shared("void(intp)")
def gather(address):
    """`near`: shapes within the ball around the hand in which the proxy will stay, as it only comes nearer."""
    g, c, f, s = load_proxy(address)
    hip = (s.hip[0], s.hip[1], s.hip[2])
    away = length(sub((s.position[0], s.position[1], s.position[2]), hip))
    reach = away + s.radius_m + s.skin_m + SLACK_M
    s.n_near = 0
    groups = g.proxy_link.shape[0]
    for k in range(groups):
        if k >= groups - g.n_planes:
            i = g.proxy_begin[k]
            if f.touchable[i]:
                put_near(g, c, s, i)
            continue
        link = g.proxy_link[k]
        x = rotate_back(get9(c.link_R, link), sub(hip, get3(c.link_p, link)))
        if box_misses(g, k, x, reach):
            continue
        for i in range(g.proxy_begin[k], g.proxy_end[k]):
            if f.touchable[i] and g.kind[i] != PLANE and not ball_misses(g, i, x, reach):
                put_near(g, c, s, i)


@kernel
def swept_over(address, g, c, s, i, x, y, rho):
    """Whether the proxy, going from x to y in the frame of its link, met shape i; adds the plane of the touch."""
    R, p = get9(g.R, i), get3(g.p, i)
    a, b = rotate_back(R, sub(x, p)), rotate_back(R, sub(y, p))
    if sweep_shape(address, i, a[0], a[1], a[2], b[0], b[1], b[2], rho) >= 1.0:
        return False
    S, q = shape_pose(g, c, i)
    n = rotate(S, (s.hit[0, 1], s.hit[0, 2], s.hit[0, 3]))
    near = add(q, rotate(S, (s.hit[0, 4], s.hit[0, 5], s.hit[0, 6])))
    return add_plane(s, n, dot(n, near) + rho, near, i, s.hit_triangle)


@kernel
def sweep_groups(address, g, c, f, s, before, now, rho):
    """One look at every body that moved past the proxy, which goes `before` -> `now`; whether a plane was new."""
    still, found = length(sub(now, before)) == 0.0, False
    groups = g.proxy_link.shape[0]
    for k in range(groups):
        link = g.proxy_link[k]
        if still and same_pose(c, s, link):
            continue
        x = rotate_back(get9(s.old_R, link), sub(before, get3(s.old_p, link)))
        y = rotate_back(get9(c.link_R, link), sub(now, get3(c.link_p, link)))
        reach = length(sub(y, x)) + rho + SLACK_M
        is_plane = k >= groups - g.n_planes
        if not is_plane and box_misses(g, k, x, reach):
            continue
        for i in range(g.proxy_begin[k], g.proxy_end[k]):
            if f.touchable[i] == 0 or (g.kind[i] == PLANE) != is_plane:
                continue
            if (is_plane or not ball_misses(g, i, x, reach)) and swept_over(address, g, c, s, i, x, y, rho):
                found = True
    return found


@shared("void(intp)")
def carry(address):
    """The proxy after the bodies' motion since the last update."""
    g, c, f, s = load_proxy(address)
    before = (s.position[0], s.position[1], s.position[2])
    rho, ride = s.radius_m + s.skin_m, before
    link = s.touched
    if s.n_contacts > 0 and not same_pose(c, s, link):
        local = rotate_back(get9(s.old_R, link), sub(before, get3(s.old_p, link)))
        ride = add(get3(c.link_p, link), rotate(get9(c.link_R, link), local))
    s.n_planes = 0
    now = ride
    for _ in range(PASSES):
        if not sweep_groups(address, g, c, f, s, before, now, rho):
            break
        if nearest_allowed(address, ride[0], ride[1], ride[2]):
            now = (s.goal[0], s.goal[1], s.goal[2])
        else:  # no room between them: the newest pushes alone
            s.squeezed += 1
            last = s.n_planes - 1
            n = get3(s.plane, last)
            now = add_scaled(now, max(s.plane[last, 3] - dot(n, now), 0.0), n)
            break
    s.position[0], s.position[1], s.position[2] = now


@kernel
def way_out(address, s, x, rho):
    """(a point near x outside all solids, whether one was found): out of the worst, then also of the next."""
    s.n_planes = 0
    y = x
    for _ in range(WAYS_OUT):
        if nearest_of_all(address, y[0], y[1], y[2], 1) < 0 or s.hit[1, 0] >= rho - TOUCH:
            return y, True
        n, near = (s.hit[1, 1], s.hit[1, 2], s.hit[1, 3]), (s.hit[1, 4], s.hit[1, 5], s.hit[1, 6])
        add_plane(s, n, dot(n, near) + rho, near, 0, -1)
        if not nearest_allowed(address, x[0], x[1], x[2]):
            return y, False
        y = (s.goal[0], s.goal[1], s.goal[2])
    return y, False


@kernel
def far_out(address, s, x, rho):
    """A free point along one of the axes, up first; x itself if there is none."""
    step = FIRST_STEP_M
    while step < FARTHEST_M:
        for k in range(6):
            sign = 1.0 if k % 2 == 0 else -1.0
            axis = (2 - k // 2) % 3
            y = (
                x[0] + (sign * step if axis == 0 else 0.0),
                x[1] + (sign * step if axis == 1 else 0.0),
                x[2] + (sign * step if axis == 2 else 0.0),
            )
            if nearest_of_all(address, y[0], y[1], y[2], 1) < 0 or s.hit[1, 0] >= rho:
                return y
        step *= 1.5
    return x


@shared("void(intp)")
def place(address):
    """The start: the proxy at the hand, or out of the solid that the hand is in; then stiffness rises from nothing."""
    _, _, _, s = load_proxy(address)
    hip, rho = (s.hip[0], s.hip[1], s.hip[2]), s.radius_m + s.skin_m
    s.n_contacts, s.mode, s.placed, s.ramp = 0, STICK, 1, 1.0
    if s.n_slots > 0:
        clear_slots(s)
    x, found = way_out(address, s, hip, rho)
    if not found:
        x = far_out(address, s, hip, rho)
    if length(sub(x, hip)) > s.skin_m + s.radius_m:
        s.ramp = 0.0
    s.position[0], s.position[1], s.position[2] = x


@kernel
def let_go(s):
    """No force and no contact."""
    s.n_contacts = 0
    for k in range(3):
        s.force[k] = 0.0


@shared("int64(intp, float64, float64, float64, float64, float64, float64, float64)")
def update_proxy(address, x, y, z, vx, vy, vz, dt):
    """One update for a hand at (x, y, z) [m] with velocity v [m/s], dt [s] after the last; returns the contacts.

    The poses of the links are in the block's Contacts; force and contact_* are filled.  A hand that is not finite is
    not followed: no force, and a new start when it is back.
    """
    _, c, _, s = load_proxy(address)
    if not is_finite(math.sqrt(x * x + y * y + z * z + vx * vx + vy * vy + vz * vz)):
        let_go(s)
        s.placed = 0
        return 0
    s.hip[0], s.hip[1], s.hip[2] = x, y, z
    s.hip_velocity[0], s.hip_velocity[1], s.hip_velocity[2] = vx, vy, vz
    if s.placed:
        carry(address)
    else:
        place(address)
        remember(c, s)
    gather(address)
    slide(address)
    render(address, dt)
    remember(c, s)
    return s.n_contacts
