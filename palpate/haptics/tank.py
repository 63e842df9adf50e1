"""Energy tanks at both ends of a link: passive with any delay, loss, reordering and duplication.

A link that renders a spring from an old position can give the hand more energy than it took.  Two layers, after
Franken, Stramigioli, Misra, Secchi & Macchelli 2011: one wants a force, the other lets it out only if there is energy
for it.  Each end has a tank and keeps an account of it, every tick:

level  L = absorbed - granted + received - spilled
absorbed   -= f . dx          what its outside (hand, body) did on the link while f, on the outside, was held and the
                              outside moved by dx: exact, whatever happens in between (haptics/passivity.py)
granted    += beta L, L > 0   told to the other end as a counter that only grows, in every packet
received    = max(counters)   the next packet makes up for a lost one; a double or a late one adds nothing
spilled    += L - L_most      a full tank: what a virtual damper earned in an hour must not pay for an oscillation

granted less received at the other end is under way.  That is never negative, nor is spilled; hence

absorbed_1 + absorbed_2 = L_1 + L_2 + under way + spilled >= L_1 + L_2 >= -2 R

if every end keeps L >= -R.  R is a small reserve, so that a force can begin at all; two are the millijoule that the
reference on articulated bodies, section 4, allows.  What a force F does until the next sample is at most

w(F) = T F.v + T^2 (A |F| + |F|^2 / m)            dx = T v + T^2 (a + F/m),  |a| <= A

with v the velocity over the period before, A the most that the outside accelerates by itself, m the least mass that it
shows.  The force on the outside becomes F = s f - d v/|v|, f the wanted one:

damped     d = alpha |v| <= |f|,  alpha = min((w(f) - L)/(T v^2), m/T)   if w(f) > L or L < 0: to win what is missing
limited    the largest d, then the largest s <= 1, with w <= L + R       in the form |F| <= s |f| + d

so L never falls below -R.  An outside that accelerates more, in an impact, may take one period's work more; forces that
could do work are then zero until it is won back.  A force against the motion has w < 0 and fills the tank.  Damping
comes only where a force is wanted, and is never stronger than it: a free hand stays free, and an empty tank does not
leave the link limp.

beta = T/tau, tau = 10 ms: with a one-way delay of D, D/tau parts of the energy are under way for one in a tank.  A
shorter tau would have all of it under way, a longer one brings it too late to where it is needed.

f [N], dx [m], v [m/s], T = dt [s].  A torque and a turn have the same form (N m, rad, rad/s; m an inertia, A [rad/s^2])
and need a tank of their own.
"""

from __future__ import annotations

import math

from palpate.haptics.passivity import missing_damping
from palpate.jit import Struct, Vector, block_loader, kernel
from palpate.spatial.vectors import add_scaled, dot, is_finite, scale

RESERVE_J = 0.5e-3  # R: one end's half of the millijoule that the reference allows
SHARE_TIME_S = 0.01  # tau
ACCELERATION_M_S2 = 100.0  # A: of a hand of 0.5 kg that pushes with 50 N
MOST_J = 1.0  # L_most: a hand's spring of 800 N/m at 10 N holds 0.06 J, a body of 2 kg at 1 m/s 1 J


class Tank(Struct):
    """One end's account [J]."""

    level: float
    absorbed: float
    granted: float
    received: float
    spilled: float
    lowest: float  # level so far
    damped: int  # ticks in which keep_passive did so, and
    limited: int  # in which it limited a force
    # settings
    reserve: float
    share: float  # beta
    acceleration: float  # [m/s^2]
    most: float


load_tank = block_loader((Tank, False))


def open_tank(
    dt_s: float,
    reserve_J: float = RESERVE_J,
    share_time_s: float = SHARE_TIME_S,
    acceleration_m_s2: float = ACCELERATION_M_S2,
    most_J: float = MOST_J,
) -> Tank:
    """An empty tank of an end whose tick takes dt_s [s]."""
    given = {"dt_s": dt_s, "share_time_s": share_time_s, "reserve_J": reserve_J, "most_J": most_J}
    for name, value in (*given.items(), ("acceleration_m_s2", acceleration_m_s2)):
        if not 0.0 < value < math.inf:
            raise ValueError(f"{name} is {value}; it must be positive")
    share = min(1.0, dt_s / share_time_s)
    return Tank(reserve=reserve_J, share=share, acceleration=acceleration_m_s2, most=most_J)


@kernel
def empty(t: Tank) -> None:
    """Begin again: another hand at the other end."""
    t.level, t.absorbed, t.granted, t.received, t.spilled, t.lowest = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@kernel
def absorb(t: Tank, force: Vector, displacement: Vector) -> float:
    """L [J] after the outside moved by `displacement` [m] under `force` [N] on it, as sent and held meanwhile.

    A displacement that is not a number is none: a bad reading must not poison the account.
    """
    work = dot(force, displacement)
    if is_finite(work):
        t.absorbed -= work
        t.level -= work
    t.lowest = min(t.lowest, t.level)
    above = t.level - t.most
    if above > 0.0:
        t.spilled += above
        t.level -= above
    return t.level


@kernel
def grant(t: Tank) -> float:
    """Share with the other end; the counter [J] to send in this tick's packet.  Once a tick."""
    given = t.share * max(t.level, 0.0)
    t.granted += given
    t.level -= given
    return t.granted


@kernel
def receive(t: Tank, granted_J: float) -> float:
    """Energy [J] that a packet with the other end's counter brings: what it is above the largest so far."""
    more = granted_J - t.received
    if not (more > 0.0 and is_finite(more)):
        return 0.0
    t.received = granted_J
    t.level += more
    return more


@kernel
def affordable_share(a: float, b: float, budget: float) -> float:
    """The largest s, 0 to 1, with a s^2 + b s <= budget; a, budget >= 0."""
    if a + b <= budget:
        return 1.0
    root = math.sqrt(b * b + 4.0 * a * budget)
    return 2.0 * budget / (b + root) if b > 0.0 else (root - b) / (2.0 * a)  # of the two forms the exact one


@kernel
def keep_passive(t: Tank, force: Vector, velocity: Vector, mass: float, dt: float) -> Vector:
    """The force on the outside [N]: the wanted one as far as the tank pays for it, and damping that fills the tank.

    velocity [m/s] of the outside: its displacement over the period before, by dt.
    """
    level = t.level
    affordable = max(level + t.reserve, 0.0)
    size, speed = math.sqrt(dot(force, force)), math.sqrt(dot(velocity, velocity))
    reach, yielding = t.acceleration * dt * dt, dt * dt / mass
    a, b = yielding * size * size, dt * dot(force, velocity) + reach * size  # w(s) = a s^2 + b s
    # the damping, and the most work that it can do, which is negative if the outside moves fast enough
    short = min(level, level - a - b)
    drag = min(missing_damping(short, speed * speed * dt * dt, mass, dt) * speed, size)
    drag *= affordable_share(yielding * drag * drag, (reach - dt * speed) * drag, affordable)
    paid = yielding * drag * drag + (reach - dt * speed) * drag
    # the wanted force, with what the damping leaves
    share = affordable_share(a, b + 2.0 * yielding * size * drag, max(affordable - paid, 0.0))
    t.limited += share < 1.0
    if drag > 0.0:
        t.damped += 1
        return add_scaled(scale(share, force), -drag / speed, velocity)
    return scale(share, force)
