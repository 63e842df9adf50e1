"""The inbox of a station: between whoever has poses, in a thread of its own, and the tick, which never waits.

A source puts poses into a ring (servo/ring.py); the tick takes them as it takes those of the simulated tracker.  Time
stamps are of another clock.  Of all poses the one that came soonest says how the clocks lie to each other, and is
forgotten slowly, so that a clock that drifts is followed:

    d = k - t f               arrival tick k, sample time t [s] by the source's clock, f ticks a second
    offset = min(offset + CREEP (k - k_before), d)
    sample tick = t f + offset - latency              latency: the shortest way of a packet, as one knows it

A pose is dropped and counted if it is

    lost     the tracker says that it does not see the station
    absurd   no number, no quaternion, upside down, outside the room, or further from the last than anything moves
    doubled  of the time stamp that was used last, or of no later tick
    stale    older than that, or of before the beginning
    future   sooner than the clocks allow, by more than SOONER_S
    hung     the same to the last bit for `frozen_s`: a tracker that hangs; a real one has noise
    missed   overwritten before the tick came, which was stopped
    waiting  the first of the two that a beginning takes

so the ticks of those that are used strictly increase.  At the beginning, and when nothing could be used for SILENCE_S
(a clock was set, a tracker started anew, a station carried elsewhere), two poses in a row that agree with each other
begin anew; after HELD_UP_S already if they seem to be of the future, because then it may be the tick that was held up.
A tick that begins again at zero begins anew.

phi      heading, clockwise seen from above: the turn about y of the quaternion, the other way.  Of q = turn about y,
         then tilt, that is 2 atan2(q_y, q_w), whatever the tilt, unless the station hangs upside down
gaze     of a head: as users.py has it, looking along (sin g, cos g); g = pi - phi
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from palpate.jit import Quaternion, Struct, kernel
from palpate.jit.atomics import load_acquire
from palpate.mobile.adapters.source import LARGEST_M, LARGEST_S, LENGTH_OFF, Deliver, Pose
from palpate.mobile.geometry.chain import heading_of, robot_origin
from palpate.mobile.rates import wrap
from palpate.model.model import Floats1, Ints1
from palpate.servo.ring import HEAD as RING_HEAD
from palpate.servo.ring import Ring
from palpate.servo.ring_kernels import SLOTS, copy_message

CAPACITY = 64  # poses, a third of a second of them
WORDS = 9  # of a message: t, x, y, z, qw, qx, qy, qz; whether it is lost
CREEP = 1e-3  # of a tick in a tick: clocks drift by a tenth of that at most
SOONER_S = 0.020  # a packet that beats all before it by more has a wrong time stamp
SILENCE_S = 0.200  # as long as the predictor waits
HELD_UP_S = 0.050  # as long as it goes on by the command
UPRIGHT = 0.1  # least cosine of half the tilt that a heading can be told with
NEVER = -(10**9)


@dataclass(frozen=True)
class Judging:
    """What an inbox believes."""

    latency_s: float = 0.006  # of the fastest packet: tracker 4 ms and network 2 ms (1.2)
    room_m: float = 20.0  # no coordinate is larger
    gate_m: float = 0.25  # further than this from the last pose
    speed_m_s: float = 5.0  # and than is gone meanwhile at this speed: absurd
    frozen_s: float = 0.3  # 0: a pose may stay the same for ever, as that of a simulation without noise does
    gaze: bool = False  # of a head: the fourth number of a pose is its gaze

    def __post_init__(self) -> None:
        for name in ("latency_s", "room_m", "gate_m", "speed_m_s", "frozen_s"):
            value, zero = getattr(self, name), name in ("latency_s", "frozen_s")
            if not (math.isfinite(value) and (value >= 0.0 if zero else value > 0.0)):
                raise ValueError(f"{name} is {value}; it must be {'0 or more' if zero else 'positive'}")
        if not self.latency_s < SILENCE_S:
            raise ValueError(f"latency_s is {self.latency_s}; poses as old as {SILENCE_S} s are of no use")
        if self.room_m > LARGEST_M:
            raise ValueError(f"room_m is {self.room_m}; no room is larger than {LARGEST_M:g} m")


class Inbox(Struct):
    """What the tick sees: settings, the newest pose, counts."""

    tick_hz: int
    latency: int  # [ticks]
    silence: int
    held_up: int
    sooner: float
    room: float
    gate: float
    step: float  # the way that is gone in a tick, at most [m]
    frozen_after: int  # [ticks]; 0: never
    gaze: int
    pose: Quaternion  # x, y, z, phi (or gaze) of the pose that `take_pose` found
    last: int  # its sample tick
    used_at: int  # tick at which it was taken
    time: float  # its time stamp [s]
    offset: float  # of the clocks [ticks]
    offset_at: int  # tick
    running: int  # 1: the clocks are known
    candidate: Quaternion  # x, y, z, d of a pose that may be the first of two
    candidate_time: float
    has_candidate: int
    same_since: int  # tick since which the pose has been the same to the last bit
    next: int  # message to be read
    used: int
    lost: int
    absurd: int
    doubled: int
    stale: int
    future: int
    hung: int
    missed: int
    waiting: int
    starts: int  # how often two that agree began
    ring: Ints1
    message: Ints1  # (WORDS,)
    message_f: Floats1  # the same as floats
    before: Ints1  # (7,) the numbers of the pose before, bit by bit


class PoseInbox:
    """An inbox with the door for Python: `put` from a source's thread, `inbox` for kernels."""

    def __init__(self, judging: Judging | None = None, tick_hz: int = 1000) -> None:
        j = judging or Judging()
        self._ring, self._lock = Ring.create(CAPACITY, WORDS, shared=False), threading.Lock()
        message = np.zeros(WORDS, dtype=np.int64)
        self.inbox = Inbox(
            tick_hz=tick_hz, latency=round(j.latency_s * tick_hz), silence=round(SILENCE_S * tick_hz),
            held_up=round(HELD_UP_S * tick_hz),
            sooner=SOONER_S * tick_hz, room=j.room_m, gate=j.gate_m, step=j.speed_m_s / tick_hz,
            frozen_after=round(j.frozen_s * tick_hz), gaze=int(j.gaze), last=-1, used_at=NEVER, next=1,
            ring=self._ring.memory, message=message, message_f=message.view(np.float64),
            before=np.zeros(7, dtype=np.int64),
        )  # fmt: skip

    def put(self, pose: Pose) -> None:
        """A pose that has come just now."""
        numbers = np.array([pose.sampled_s, *pose.position_m, *pose.quaternion, 0.0])
        message = numbers.view(np.int64)
        message[-1] = int(pose.lost)
        with self._lock:
            self._ring.write(message)


def into(inboxes: Mapping[int, PoseInbox]) -> Deliver:
    """What a source delivers to: each station's pose into its inbox; stations that nobody asked for are dropped."""

    def deliver(pose: Pose) -> None:
        box = inboxes.get(pose.station)
        if box is not None:
            box.put(pose)

    return deliver


# ---- kernels


@kernel
def take_pose(s, k):
    """The sample tick of the next pose that came by tick k and can be used, in s.pose; -1: there is none (any more)."""
    if k < s.used_at:
        forget_poses(s)
    head = load_acquire(s.ring, RING_HEAD)
    oldest = head - s.ring[SLOTS] + 1
    if s.next < oldest:
        s.missed += oldest - s.next
        s.next = oldest
    while s.next <= head:
        there = copy_message(s.ring, s.next, s.message)
        s.next += 1
        if not there:  # overwritten just now
            s.missed += 1
            continue
        ts = judge(s, k)
        if ts >= 0:
            return ts
    return -1


@kernel
def forget_poses(s):
    """The tick was reset: begin anew."""
    s.running, s.has_candidate, s.last, s.used_at, s.same_since = 0, 0, -1, NEVER, 0


@kernel
def judge(s, k):
    """Sample tick of s.message at tick k, its pose in s.pose, or -1 if it is dropped."""
    m = s.message_f
    t, x, y, z = m[0], m[1], m[2], m[3]
    if s.message[8] != 0:
        s.lost += 1
        return -1
    if not plausible(s):
        s.absurd += 1
        return -1
    if s.used > 0 and t == s.time:
        s.doubled += 1
        return -1
    if hangs(s, k):
        s.hung += 1
        return -1
    d, quiet = k - t * s.tick_hz, k - s.used_at
    offset = s.offset + CREEP * (k - s.offset_at)
    stale, future = t < s.time, d < offset - s.sooner
    absurd = far(s.pose, x, y, z, s.gate + s.step * quiet)
    if s.running == 0 or ((stale or absurd) and quiet > s.silence) or (future and quiet > s.held_up):
        if agrees(s, x, y, z, d):
            stale, future, absurd = False, False, False
            offset = min(d, s.candidate[3])
            s.running, s.has_candidate = 1, 0
            s.starts += 1
        else:
            s.candidate, s.candidate_time, s.has_candidate = (x, y, z, d), t, 1
            if s.running == 0:
                s.waiting += 1
                return -1
    if stale or future or absurd:
        s.stale += 1 if stale else 0
        s.future += 1 if future and not stale else 0
        s.absurd += 1 if absurd and not (stale or future) else 0
        return -1
    s.offset, s.offset_at = min(offset, d), k
    ts = math.floor(t * s.tick_hz + s.offset + 0.5) - s.latency
    if ts < 0 or ts <= s.last:
        s.doubled += 1 if ts == s.last else 0
        s.stale += 1 if ts != s.last else 0
        return -1
    s.last, s.used_at, s.time = ts, k, t
    s.used += 1
    s.pose = (x, y, z, direction(s))
    return ts


@kernel
def plausible(s):
    """Whether the numbers are those of a station that stands in the room."""
    m = s.message_f
    if not abs(m[0]) <= LARGEST_S or not (abs(m[1]) <= s.room and abs(m[2]) <= s.room and abs(m[3]) <= s.room):
        return False
    n = m[4] * m[4] + m[5] * m[5] + m[6] * m[6] + m[7] * m[7]
    return abs(n - 1.0) <= 2.0 * LENGTH_OFF and m[4] * m[4] + m[6] * m[6] >= UPRIGHT * UPRIGHT


@kernel
def hangs(s, k):
    """Whether the pose has been the same to the last bit for too long."""
    same = True
    for i in range(7):
        same = same and s.message[1 + i] == s.before[i]
        s.before[i] = s.message[1 + i]
    if not same:
        s.same_since = k
    return s.frozen_after > 0 and k - s.same_since > s.frozen_after


@kernel
def far(p, x, y, z, limit):
    dx, dy, dz = x - p[0], y - p[1], z - p[2]
    return dx * dx + dy * dy + dz * dz > limit * limit


@kernel
def agrees(s, x, y, z, d):
    """Whether a pose and the candidate before it agree about place and clock."""
    c = s.candidate
    after = s.has_candidate == 1 and s.message_f[0] > s.candidate_time
    return after and abs(d - c[3]) <= s.sooner and not far(c, x, y, z, s.gate)


@kernel
def direction(s):
    """phi, or the gaze of a head, of the message's quaternion."""
    phi = -2.0 * math.atan2(s.message_f[6], s.message_f[4])
    return wrap(math.pi - phi) if s.gaze else wrap(phi)


@kernel
def robot_of(c, pose):
    """(Rx, Ry, Rz, phi) of the robot whose station is at `pose`, by the offsets of a chain (chain.py)."""
    phi = heading_of(c, pose[3])
    x, y, z = robot_origin(c, phi, (-pose[2], pose[0], c.ceiling - pose[1]))
    return x, y, z, phi
