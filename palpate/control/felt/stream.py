"""Feeling every tick, looking 20 times a second and at release, and saying a pattern once it is one.

A touch begins with the first force and ends when there was none for 0.55 s: two taps that are closer belong together.
Only it is in the window, and a little quiet before it.

    while it lasts     from 0.4 s on, a push, pull, hold, shake or stroke that two looks in a row agree on is said: what
                       follows a hand need not wait for its end
    at release         (no force for 40 ms) whatever it is, but a tap: that waits 0.55 s for a second one, so that a
                       double tap is never a tap first
    once a hold        only a shake or a stroke can follow in the same touch: its end is no push

p Felt
"""

import math

from palpate.control.felt.features import BIAS_N, GAP_S, OFF_N, OFF_NOISE, ON_N, ON_NOISE, look
from palpate.control.felt.rules import decide
from palpate.control.felt.tables import COLUMNS, HOLD, NONE, SHAKE, STROKE, TAP, load_felt
from palpate.jit import entry, kernel, shared
from palpate.spatial.vectors import dot, is_finite, sub

LOOK_S = 0.05
WAIT_S = 0.55  # for a second tap
LASTS_S = 0.4  # a touch that is still on is said from here on: before, a shake looks like a push
BEFORE_S = 0.05  # of quiet before a touch that is in its window
LEAST_SURE = 0.05  # at the boundary a look says one thing and the next another
REST_SHARE, NOISE_SHARE = 0.02, 0.02  # of a sample, taken into what is felt when nothing touches: 0.25 s
NOISE_JUMP = 4.0  # a difference so many times the noise is a touch, and raises the noise by no more
NO_FORCE_N = 1e-9
NOISE_FLOOR = 1e-4  # [N^2]


@kernel
def clear_felt(p):
    """Nothing was ever felt."""
    p.time_s, p.when_s, p.said_s, p.sureness, p.said_sureness = 0.0, 0.0, 0.0, 0.0, 0.0
    p.pattern, p.said, p.said_here, p.said_count = NONE, NONE, NONE, 0
    p.n_ticks, p.n_rows, p.n_window, p.n_touch, p.n_quiet, p.n_look, p.touching = 0, 0, 0, 0, 0, 0, 0
    p.quiet_noise, p.quiet_force = 0.0, (0.0, 0.0, 0.0)
    for c in range(COLUMNS + 1):
        p.making[c] = 0.0


@kernel
def feel(p, force, point, normal):
    """One tick of force [N] at a point [m] with an outward normal, body axes.  1: it is time to `recognise`."""
    p.time_s += p.dt
    if is_finite(dot(force, force)) and is_finite(dot(point, point)) and is_finite(dot(normal, normal)):
        size = math.sqrt(dot(force, force))
        for c in range(3):
            p.making[c] += force[c]
            p.making[3 + c] += size * point[c]  # where nothing touches, a point means nothing
        p.making[6] += dot(force, normal)
        p.making[7] += size
    p.n_ticks += 1
    return 0 if p.n_ticks < p.per_sample else feel_sample(p)


@kernel
def feel_sample(p):
    """The mean of the newest ticks, into the ring; whether it is time to look at it."""
    size, h = p.ring.shape[0], p.per_sample * p.dt
    row, before = p.n_rows % size, (p.n_rows - 1) % size
    step, size_sum = 0.0, p.making[7]
    for c in range(COLUMNS):
        x = p.making[c] / p.per_sample
        if 3 <= c < 6:
            x = p.making[c] / size_sum if size_sum > NO_FORCE_N else p.ring[before, c]
        elif c < 3 and p.n_rows > 0:
            step += (x - p.ring[before, c]) ** 2
        p.ring[row, c] = x
        p.making[c] = 0.0
    p.making[7], p.n_ticks = 0.0, 0
    p.n_rows += 1
    p.n_window = min(p.n_window + 1, size)
    p.quiet_noise += NOISE_SHARE * (min(step / 6.0, NOISE_JUMP * p.quiet_noise + NOISE_FLOOR) - p.quiet_noise)
    noise = math.sqrt(p.quiet_noise)
    force = (p.ring[row, 0], p.ring[row, 1], p.ring[row, 2])
    away = sub(force, p.quiet_force)
    strength, was = math.sqrt(dot(away, away)), p.touching
    if was:  # a shake passes through zero and is no release
        p.n_quiet = 0 if strength > max(OFF_N, OFF_NOISE * noise) else p.n_quiet + 1
        p.touching = 1 if p.n_quiet * h <= GAP_S else 0
    else:
        p.touching = 1 if strength > max(ON_N, ON_NOISE * noise) else 0
        p.n_quiet = 0 if p.touching else p.n_quiet + 1
        if not p.touching and dot(force, force) < BIAS_N * BIAS_N:
            p.quiet_force = (p.quiet_force[0] + REST_SHARE * away[0], p.quiet_force[1] + REST_SHARE * away[1],
                             p.quiet_force[2] + REST_SHARE * away[2])  # fmt: skip
    if p.n_touch == 0:
        if not p.touching:
            p.n_window = min(p.n_window, round(BEFORE_S / h))
            return 0
        p.n_look = 0
    p.n_touch += 1
    p.n_look += 1
    released = was and not p.touching
    ended = p.n_quiet * h >= WAIT_S
    return 1 if released or ended or (p.touching and p.n_look * h >= LOOK_S) else 0


@shared("int64(intp)")
def see(address):
    """What the window of the Felt at an address looks like."""
    (p,) = load_felt(address)
    look(p)
    p.pattern, margin = decide(p)
    p.sureness, p.when_s = margin / (1.0 + margin), p.time_s
    return p.pattern


@kernel
def recognise(p, address):
    """What the window looks like, and what can be said of the touch; p is the Felt at the address."""
    h = p.per_sample * p.dt
    p.n_look = 0
    if p.n_touch > 0 and p.n_quiet * h >= WAIT_S:  # it is over
        if p.pattern == TAP:
            say(p)
        p.n_touch, p.said_here, p.pattern, p.sureness = 0, NONE, NONE, 0.0
        return
    before, pattern = p.pattern, see(address)
    if pattern in (NONE, TAP):
        return
    if p.touching and (before != pattern or p.n_touch * h < LASTS_S or p.sureness < LEAST_SURE):
        return
    if p.said_here == HOLD and pattern not in (SHAKE, STROKE):
        return
    if p.said_here != pattern:
        say(p)


@kernel
def say(p):
    p.said, p.said_here, p.said_sureness, p.said_s = p.pattern, p.pattern, p.sureness, p.time_s
    p.said_count += 1


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def look_at(address, force, point, normal):
    """A window that is already whole: all rows (n, 3) felt, then looked at once."""
    (p,) = load_felt(address)
    clear_felt(p)
    for i in range(force.shape[0]):
        feel(p, (force[i, 0], force[i, 1], force[i, 2]), (point[i, 0], point[i, 1], point[i, 2]),
             (normal[i, 0], normal[i, 1], normal[i, 2]))  # fmt: skip
    p.n_window = min(p.n_rows, p.ring.shape[0])
    see(address)


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def go_on(address, force, point, normal, said):
    """A stream, tick by tick, from where it was; into `said` (n, 2): the pattern that was said in that tick, 0: none,
    and how surely."""
    (p,) = load_felt(address)
    for i in range(force.shape[0]):
        count = p.said_count
        if feel(p, (force[i, 0], force[i, 1], force[i, 2]), (point[i, 0], point[i, 1], point[i, 2]),
                (normal[i, 0], normal[i, 1], normal[i, 2])):  # fmt: skip
            recognise(p, address)
        said[i, 0], said[i, 1] = p.said if p.said_count > count else NONE, p.said_sureness
