"""The proxy among surfaces that stand still: towards the hand, along what is in the way, held by friction.

    repeat:  go from p towards the hand until something is touched             sweep.py
             x* = the point nearest to the hand that the planes touched allow   halfspaces.py
             go from p towards x*; a plane that is met on the way joins the others

Every leg brings the proxy nearer to the hand and is swept, so it ends and never passes a surface.  Friction lives in
this space (Ruspini, Kolarov and Khatib 1997): with depth d_i behind plane i and t = |x* - p|,

    sticking: no motion while t <= sum mu_s d_i;  sliding: as far as t = sum mu_d d_i is left.

The tangential force k t is then mu_d times the normal force k d.
"""

from palpate.haptics.rendering.halfspaces import nearest_allowed
from palpate.haptics.rendering.sweep import sweep_all
from palpate.haptics.rendering.tables import (
    MAX_PLANES,
    SLIDE,
    STICK,
    load_proxy,
)  # fmt: skip
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add_scaled, dot, get3, length, sub

# Rounds of (towards the hand, then along planes), and legs in one round; what is left is done at the next update.
ROUNDS, LEGS = 12, 12
# A round that moves less than this has arrived [m].
ARRIVED = 1e-8
# A leg shorter than this is none [m].
NO_LEG = 1e-12
# Normals that differ by less are one plane (1 - cos).
SAME = 1e-12


@kernel
def drop_plane(s, row):
    """Forget a plane; those after it move up."""
    for k in range(row, s.n_planes - 1):
        for r in range(7):
            s.plane[k, r] = s.plane[k + 1, r]
        s.multiplier[k], s.pressed[k] = s.multiplier[k + 1], s.pressed[k + 1]
        s.plane_shape[k], s.plane_triangle[k] = s.plane_shape[k + 1], s.plane_triangle[k + 1]
    s.n_planes -= 1


@kernel
def add_plane(s, n, offset, near, shape, triangle):
    """One more plane n.y >= offset; False if it was there."""
    for k in range(s.n_planes):
        if dot(get3(s.plane, k), n) > 1.0 - SAME:
            known = s.plane[k, 3] >= offset - NO_LEG
            s.plane[k, 3] = max(s.plane[k, 3], offset)
            return not known
    if s.n_planes == MAX_PLANES:  # one that does not hold makes room
        row = 0
        while row < MAX_PLANES - 1 and s.multiplier[row] > 0.0:
            row += 1
        drop_plane(s, row)
    k = s.n_planes
    for r in range(3):
        s.plane[k, r], s.plane[k, 4 + r] = n[r], near[r]
    s.plane[k, 3], s.multiplier[k], s.pressed[k] = offset, 0.0, 0.0
    s.plane_shape[k], s.plane_triangle[k] = shape, triangle
    s.n_planes += 1
    return True


@kernel
def keep_last_plane(s):
    while s.n_planes > 1:
        drop_plane(s, 0)


@kernel
def grip(f, s):
    """(sum mu_s d, sum mu_d d) [m]: how far the hand can pull a proxy that sticks, one that slides."""
    static, dynamic = 0.0, 0.0
    for k in range(s.n_planes):
        shape = s.plane_shape[k]
        static += f.mu_static[shape] * s.pressed[k]
        dynamic += f.mu_dynamic[shape] * s.pressed[k]
    return static, dynamic


@shared("void(intp)")
def slide(address):
    """Move the proxy; planes, multipliers and goal are left as they hold it."""
    _, _, f, s = load_proxy(address)
    hip = (s.hip[0], s.hip[1], s.hip[2])
    p = (s.position[0], s.position[1], s.position[2])
    rho = s.radius_m + s.skin_m
    slid, settled = s.mode == SLIDE, False
    moved = False  # along a surface
    for _ in range(ROUNDS):
        start, goal = p, hip
        s.n_planes = 0
        for _ in range(LEGS):
            leg = sub(goal, p)
            if length(leg) <= NO_LEG:
                break
            t = sweep_all(address, p[0], p[1], p[2], goal[0], goal[1], goal[2], rho)
            moved = moved or (s.n_planes > 0 and t * length(leg) > NO_LEG)
            p = add_scaled(p, t, leg)
            if t >= 1.0:
                break
            n, near = (s.hit[1, 1], s.hit[1, 2], s.hit[1, 3]), (s.hit[1, 4], s.hit[1, 5], s.hit[1, 6])
            # through p, or rounding would let every leg dip a little; but never nearer to the surface than rho
            offset = max(dot(n, near) + rho, dot(n, p))
            new = add_plane(s, n, offset, near, s.hit_shape, s.hit_triangle)
            if not nearest_allowed(address, hip[0], hip[1], hip[2]):
                keep_last_plane(s)
                nearest_allowed(address, hip[0], hip[1], hip[2])
                new = False
            if not new:  # stopped by what it already slides along: rounding in a narrow corner
                break
            best = (s.goal[0], s.goal[1], s.goal[2])
            pull = length(sub(best, p))
            static, dynamic = grip(f, s)
            if pull <= (dynamic if slid or moved else static):
                break
            goal = add_scaled(p, 1.0 - dynamic / pull, sub(best, p))
        if length(sub(p, start)) <= ARRIVED:
            settled = True
            break
    if not settled:
        s.unsettled += 1
    s.mode = SLIDE if moved else STICK
    s.position[0], s.position[1], s.position[2] = p
