"""What is measured of a walk while it runs, tick by tick, of the truth.  Mobile display, 4.7.

escape      the robot is nearer to its user than d' - 0.15 m, until it is not.  Freed: for how long it still is although
            the user does not come nearer himself (v_u.n <= 0), so that getting away is the robot's alone
encounter   the hand goes through a wall, from the side where it began; missed if it is outside the usable sphere then,
            so that nothing could be felt
alarm       a contact is predicted (WARN_COMING); alarms less than 0.2 s apart are one.  True if there is a contact
            while it is on, or within the second after it.  Lead of the first contact: how long before it the alarm, or
            the sound at r_c + 0.10 m, had been on
broken      plans whose command is neither within the barrier, v.n >= -2 (d - keep), nor outward at the cap, by what is
            seen; not counted while poses are lost and the base is stopped
"""

from __future__ import annotations

import math

from palpate.jit import Struct, Vector, kernel
from palpate.mobile.planning.planner import WARN_COMING, WARN_TOUCH
from palpate.model.model import Floats2

BRIDGED_S = 0.2  # alarms that are less apart are one
CREDIT_S = 1.0  # a contact so long after an alarm was meant by it
SLACK_M_S = 1e-6  # of a kept barrier


class Loop(Struct):
    """Time, and what was measured of the truth."""

    tick: int
    tick_hz: int
    r_c: float
    usable: float  # radius of the usable sphere [m]
    hand_height: float
    ahead: float  # of the HIP's centre [m]
    head_lost: int  # silence of the head's tracker after which the robot stops [ticks]
    shown: float  # d' - 0.15 m
    least: float  # distance to the user [m]
    least_at: int  # tick
    touched_at: int  # first tick nearer than r_c, -1: never
    warned_at: int  # first tick of a sound
    foreseen_at: int  # first tick of a predicted contact
    off: int  # ticks with the hand outside the usable sphere
    most: float  # largest offset [m]
    sum_offset: float
    plans: int
    moving: int  # plans with a command that is not zero
    broken: int  # plans
    escaping: int  # ticks of the escape that is going on
    freed: int  # those of them since the user came last
    escapes: int
    escape_longest: int  # [ticks]
    freed_longest: int
    alarm_until: int  # last tick with a predicted contact
    alarms: int
    credited: int  # 1: the last alarm was true
    true_alarms: int
    ringing_at: int  # tick since which a warning has been on, -1: it is not
    rang_until: int
    lead: int  # [ticks], -1: no contact
    hand: Vector  # a tick before; third: 1 when there is one
    met: int  # encounters
    missed: int  # of them with the hand outside
    rows: int
    walls: Floats2  # (n, 3) n and c: n.hand = c is a wall, hands begin at n.hand < c


@kernel
def measure(m, u, b, k, off_centre):
    """One tick; returns the distance."""
    dx, dz = b.pose[0] - u.x, b.pose[1] - u.z
    d = math.sqrt(dx * dx + dz * dz)
    if d < m.least:
        m.least, m.least_at = d, k
    if off_centre > m.usable:
        m.off += 1
    m.most = max(m.most, off_centre)
    m.sum_offset += off_centre
    if d < m.r_c:
        touch(m, k)
    if d < m.shown:
        escape(m, u.vx * dx + u.vz * dz > 0.0)
    else:
        m.escaping, m.freed = 0, 0
    encounter(m, u.hand[0], u.hand[2], off_centre)
    return d


@kernel
def touch(m, k):
    """A tick in contact."""
    if m.credited == 0 and m.alarms > 0 and k - m.alarm_until <= CREDIT_S * m.tick_hz:
        m.credited = 1
        m.true_alarms += 1
    if m.touched_at < 0:
        m.touched_at = k
        m.lead = k - m.ringing_at if m.ringing_at >= 0 else 0


@kernel
def escape(m, coming):
    """A tick in which the robot is too near."""
    if m.escaping == 0:
        m.escapes += 1
    m.escaping += 1
    m.freed = 0 if coming else m.freed + 1
    m.escape_longest, m.freed_longest = max(m.escape_longest, m.escaping), max(m.freed_longest, m.freed)


@kernel
def encounter(m, x, z, off_centre):
    """Walls that the hand went through since the tick before."""
    for i in range(m.walls.shape[0]):
        w = m.walls[i]
        if m.hand[2] > 0.0 and w[0] * m.hand[0] + w[1] * m.hand[1] < w[2] <= w[0] * x + w[1] * z:
            m.met += 1
            if off_centre > m.usable:
                m.missed += 1
    m.hand = (x, z, 1.0)


@kernel
def measure_plan(m, p, k, lost):
    """What the planner has just decided."""
    m.plans += 1
    if p.command[0] != 0.0 or p.command[1] != 0.0 or p.command[2] != 0.0:
        m.moving += 1
    if p.warned_at >= 0 and m.warned_at < 0:
        m.warned_at = k
    if p.foreseen_at >= 0 and m.foreseen_at < 0:
        m.foreseen_at = k
    bridged = int(BRIDGED_S * m.tick_hz)
    if p.warning & WARN_COMING:
        if m.alarms == 0 or k - m.alarm_until > bridged:
            m.alarms += 1
            m.credited = 0
        m.alarm_until = k
    if p.warning & (WARN_COMING | WARN_TOUCH):
        if m.ringing_at < 0:
            m.ringing_at = k
        m.rang_until = k
    elif k - m.rang_until > bridged:
        m.ringing_at = -1
    dx, dz = p.robot[0] - p.user[0], p.robot[1] - p.user[1]
    d = max(math.sqrt(dx * dx + dz * dz), 1e-9)
    along = (p.command[0] * dx + p.command[1] * dz) / d
    least = min(-p.barrier_gain * (d - p.keep), max(p.vmax, p.retreat))
    if along < least - SLACK_M_S and not lost:
        m.broken += 1
