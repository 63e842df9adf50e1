"""Other users and other robots: every user is an obstacle to every robot, and robots keep apart.  Mobile display, 6.3.

rows of s.limits: n (x, z) and the least velocity along it, need = -gain (d - keep) + v_u.n;  users first, own before
others, then bases, of which each takes the other to stand still: a pair of them set at 0.80 m stays above 0.70 m.

They are put right one after the other.  If that leaves one that does not hold, all are looked at at once: of the
velocities within the cap those that break no user's limit, of these those that break no base's, of these the nearest
to the one asked for.  It is in a corner of the limits or at the foot of one; where there is none, rings of directions
have the least bad, and standing is among them: a robot between users rather stops.

s: Planner, with others (n, 6) x, z, v, a as seen, bases (n, 2) x, z
"""

import math

from palpate.jit import kernel
from palpate.mobile.planning.barrier import barrier

OTHERS = 3  # besides one's own: four users, four bases
SAME = 1e-9  # limits that are broken by less hold [m/s]
DIRECTIONS, SPEEDS = 32, 5  # looked at where there is no way
COS = tuple(math.cos(2.0 * math.pi * k / DIRECTIONS) for k in range(DIRECTIONS))
SIN = tuple(math.sin(2.0 * math.pi * k / DIRECTIONS) for k in range(DIRECTIONS))


@kernel
def forget_others(s):
    s.other_users, s.other_bases = 0, 0


@kernel
def note_other(s, o, x, z):
    """Of another planner o its user, once it has seen them, and its robot at (x, z)."""
    if o.heard == 1:
        row = s.others[s.other_users]
        row[0], row[1], row[2], row[3] = o.user[0], o.user[1], o.user_v[0], o.user_v[1]
        row[4], row[5] = o.user_a[0], o.user_a[1]
        s.other_users += 1
    s.bases[s.other_bases, 0], s.bases[s.other_bases, 1] = x, z
    s.other_bases += 1


@kernel
def set_limit(s, row, here, there, approach, keep, cap):
    """A row of s.limits; returns the distance."""
    x, z = here[0] - there[0], here[1] - there[1]
    d = math.sqrt(x * x + z * z)
    n = max(d, SAME)
    s.limits[row, 0], s.limits[row, 1] = x / n, z / n
    s.limits[row, 2] = min(approach - s.barrier_gain * (d - keep), cap) if d > SAME else -cap
    return d


@kernel
def retreating(s, here, there):
    """Velocity of the base away from a point, as its commands made it."""
    x, z = here[0] - there[0], here[1] - there[1]
    return (s.own[0] * x + s.own[1] * z) / max(math.sqrt(x * x + z * z), SAME)


@kernel
def past_user(s, row, vx, vz, here, user, user_v, cap):
    """The velocity with this user's barrier put right, whose limit is written."""
    x, z = here[0] - user[0], here[1] - user[1]
    approach = (user_v[0] * x + user_v[1] * z) / max(math.sqrt(x * x + z * z), SAME) if s.user_velocity else 0.0
    keep = s.keep + max(approach - retreating(s, here, user), 0.0) * s.look_ahead
    coming = max(approach, 0.0)
    set_limit(s, row, here, user, coming, keep, cap)
    return barrier(vx, vz, here, user, coming, keep, s.barrier_gain, cap, (s.own[0], s.own[1]), s.sharp)


@kernel
def past_all(s, vx, vz, here, cap):
    """The velocity with all barriers put right: own user, other users, other bases."""
    vx, vz = past_user(s, 0, vx, vz, here, (s.user[0], s.user[1]), (s.user_v[0], s.user_v[1]), cap)
    if s.other_users + s.other_bases == 0:
        return vx, vz
    for i in range(s.other_users):
        o = s.others[i]
        vx, vz = past_user(s, 1 + i, vx, vz, here, (o[0], o[1]), (o[2], o[3]), cap)
    users = 1 + s.other_users
    for i in range(s.other_bases):
        there = (s.bases[i, 0], s.bases[i, 1])
        keep = s.base_keep + max(-retreating(s, here, there), 0.0) * s.look_ahead
        set_limit(s, users + i, here, there, 0.0, keep, cap)
        vx, vz = barrier(vx, vz, here, there, 0.0, keep, s.barrier_gain, cap, (s.own[0], s.own[1]), s.sharp)
    return reconciled(s, vx, vz, cap, users, users + s.other_bases)


@kernel
def broken(s, vx, vz, begin, end):
    """By how much the worst of some limits is broken [m/s]; 0: they hold."""
    worst = 0.0
    for i in range(begin, end):
        worst = max(worst, s.limits[i, 2] - s.limits[i, 0] * vx - s.limits[i, 1] * vz)
    return worst if worst > SAME else 0.0


@kernel
def better(s, best, vx, vz, wanted, cap, users, rows):
    """Of (vx, vz) and the best so far: vx, vz, by how much it breaks users' limits and bases', how far it is off."""
    if vx * vx + vz * vz > cap * cap * (1.0 + SAME):
        return best
    near_user, near_base = broken(s, vx, vz, 0, users), broken(s, vx, vz, users, rows)
    off = math.sqrt((vx - wanted[0]) ** 2 + (vz - wanted[1]) ** 2)
    first, second = near_user - best[2], near_base - best[3]
    if first < -SAME or (first <= SAME and (second < -SAME or (second <= SAME and off < best[4]))):
        return vx, vz, near_user, near_base, off
    return best


@kernel
def reconciled(s, vx, vz, cap, users, rows):
    """(vx, vz) if it keeps all limits, else the best that there is."""
    if broken(s, vx, vz, 0, rows) == 0.0:
        return vx, vz
    wanted, limits = (vx, vz), s.limits
    best = better(s, (0.0, 0.0, math.inf, math.inf, math.inf), 0.0, 0.0, wanted, cap, users, rows)
    for i in range(rows):
        nx, nz, need = limits[i, 0], limits[i, 1], limits[i, 2]
        lacks = need - nx * vx - nz * vz
        best = better(s, best, vx + lacks * nx, vz + lacks * nz, wanted, cap, users, rows)
        best = better(s, best, need * nx, need * nz, wanted, cap, users, rows)
        across = math.sqrt(max(cap * cap - need * need, 0.0))
        best = better(s, best, need * nx - across * nz, need * nz + across * nx, wanted, cap, users, rows)
        best = better(s, best, need * nx + across * nz, need * nz - across * nx, wanted, cap, users, rows)
        for j in range(i):
            mx, mz, other = limits[j, 0], limits[j, 1], limits[j, 2]
            det = nx * mz - nz * mx
            if abs(det) > 1e-6:
                x, z = (need * mz - other * nz) / det, (nx * other - mx * need) / det
                best = better(s, best, x, z, wanted, cap, users, rows)
    if best[2] > 0.0 or best[3] > 0.0:
        for k in range(DIRECTIONS):
            for j in range(1, SPEEDS + 1):
                v = cap * j / SPEEDS
                best = better(s, best, v * COS[k], v * SIN[k], wanted, cap, users, rows)
    return best[0], best[1]
