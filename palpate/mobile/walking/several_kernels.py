"""Several persons and robots in one room, tick by tick.  Mobile display, 6.3.

Display i is person i with the base that serves him: the tick of one display, as in follow_kernels, with the parts of
both.  Before a plan every planner is told where the other persons and bases are, as they are seen, and bases are
assigned to hands anew:

    the order of bases with the least sum of distances from a base to where it would stand for a hand,
    if it is less than that of the order that is by the hysteresis

What a planner knows of its person goes with him to another base.
"""

from __future__ import annotations

import math

from palpate.jit import Struct, block_loader, entry, kernel
from palpate.mobile.hardware.base import drive
from palpate.mobile.planning.others import forget_others, note_other
from palpate.mobile.planning.target import at
from palpate.mobile.rates import due
from palpate.mobile.walking.follow_kernels import COLUMNS, load_follow, tick_display, write_row
from palpate.mobile.walking.users import NOBODY_M
from palpate.model.model import Floats2, Ints1

WIDTH = len(COLUMNS) + 1  # of a person's part of a row; the last: his base
KNOWN = 14  # numbers that a planner knows of a person


class Team(Struct):
    """Who serves whom, and what was measured of all of them."""

    tick: int
    tick_hz: int
    rate_hz: int  # of the planners
    hysteresis: float  # [m]
    swaps: int
    least_bases: float  # distance between two bases [m]
    least_users: float  # of any base to any person
    least_apart: float  # between two persons
    rows: int
    displays: Ints1  # (n,) addresses of their Blocks
    orders: Ints1  # (n! n,) every order of n bases
    base_of: Ints1  # (n,) base of person i, written by assign
    cost: Floats2  # (n, n) distance of base j from where person i wants one [m]
    known: Floats2  # (n, KNOWN) what is handed over


load_team = block_loader((Team, False))


@kernel
def total(cost, order, begin):
    """Sum of distances of an order that begins there."""
    s = 0.0
    for i in range(cost.shape[0]):
        s += cost[i, order[begin + i]]
    return s


@kernel
def assign(cost, orders, base_of, hysteresis):
    """Whether base_of was changed to the order of least total distance."""
    n, best = base_of.shape[0], 0
    least = total(cost, orders, 0)
    for begin in range(n, orders.shape[0], n):
        s = total(cost, orders, begin)
        if s < least:
            least, best = s, begin
    if total(cost, base_of, 0) - least <= hysteresis:
        return False
    for i in range(n):
        base_of[i] = orders[best + i]
    return True


@kernel
def distances(t):
    """cost; False while some person was not yet seen."""
    for i in range(t.displays.shape[0]):
        _, _, _, _, _, p, _ = load_follow(t.displays[t.base_of[i]])
        if p.heard == 0:
            return False
        x, z = at(p.user, p.d1, p.bearing)
        for j in range(t.displays.shape[0]):
            _, _, _, _, f, _, _ = load_follow(t.displays[j])
            t.cost[i, j] = math.sqrt((f.p_out[0] - x) ** 2 + (f.p_out[1] - z) ** 2)
    return True


@kernel
def hand_over(t, back):
    """What planners know of persons: into t.known, or back into those of their bases now."""
    for i in range(t.displays.shape[0]):
        _, _, _, _, _, p, _ = load_follow(t.displays[t.base_of[i]])
        k = t.known[i]
        if back:
            p.user, p.user_v, p.user_a = (k[0], k[1], k[2]), (k[3], k[4], 0.0), (k[5], k[6], 0.0)
            p.target, p.target_v = (k[7], k[8], p.target[2]), (k[9], k[10], 0.0)
            p.bearing, p.seen_at, p.heard, p.side = k[11], int(k[12]), int(k[13]), 0.0
        else:
            k[0], k[1], k[2] = p.user
            k[3], k[4], k[5], k[6] = p.user_v[0], p.user_v[1], p.user_a[0], p.user_a[1]
            k[7], k[8], k[9], k[10] = p.target[0], p.target[1], p.target_v[0], p.target_v[1]
            k[11], k[12], k[13] = p.bearing, float(p.seen_at), float(p.heard)


@kernel
def tell(t):
    """Every planner where the others are."""
    n = t.displays.shape[0]
    for i in range(n):
        _, _, _, _, _, p, _ = load_follow(t.displays[t.base_of[i]])
        forget_others(p)
        for k in range(n):
            _, _, _, _, f, o, _ = load_follow(t.displays[t.base_of[k]])
            if k != i:
                note_other(p, o, f.p_out[0], f.p_out[1])


@kernel
def see_each_other(t):
    """Every person who is next to him, for the tick after; least distances of all."""
    n = t.displays.shape[0]
    for i in range(n):
        _, u, _, _, _, _, b = load_follow(t.displays[i])
        near, x, z = NOBODY_M, NOBODY_M, NOBODY_M
        for k in range(n):
            _, o, _, _, _, _, c = load_follow(t.displays[k])
            t.least_users = min(t.least_users, math.sqrt((b.pose[0] - o.x) ** 2 + (b.pose[1] - o.z) ** 2))
            if k != i:
                d = math.sqrt((u.x - o.x) ** 2 + (u.z - o.z) ** 2)
                t.least_apart = min(t.least_apart, d)
                between = math.sqrt((b.pose[0] - c.pose[0]) ** 2 + (b.pose[1] - c.pose[1]) ** 2)
                t.least_bases = min(t.least_bases, between)
                if d < near:
                    near, x, z = d, o.x, o.z
        u.other = (x, z, u.other[2])


@entry("intp, intp, intp, float64[:, ::1]")
def several_entry(address, ticks, every, history):
    """So many ticks; every so many of them a row of WIDTH numbers for each person, while there is room in history."""
    (t,) = load_team(address)
    n = t.displays.shape[0]
    for _ in range(ticks):
        if due(t.tick, t.rate_hz, t.tick_hz):
            if distances(t):
                hand_over(t, False)
                if assign(t.cost, t.orders, t.base_of, t.hysteresis):
                    hand_over(t, True)
                    t.swaps += 1
            tell(t)
        write = every > 0 and t.tick % every == 0 and t.rows < history.shape[0]
        for i in range(n):
            m, u, head, _, _, _, _ = load_follow(t.displays[i])
            _, _, _, body, f, p, b = load_follow(t.displays[t.base_of[i]])
            d, off_centre = tick_display(m, u, head, body, f, p, b)
            if write:
                row = history[t.rows, i * WIDTH : (i + 1) * WIDTH]
                write_row(row, m, u, f, p, b, d, off_centre)
                row[WIDTH - 1] = float(t.base_of[i])
            m.tick += 1
        see_each_other(t)
        for j in range(n):
            _, _, _, _, _, _, b = load_follow(t.displays[j])
            drive(b, t.tick)
        if write:
            t.rows += 1
        t.tick += 1
