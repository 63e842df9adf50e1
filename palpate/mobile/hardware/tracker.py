"""The tracker as it is simulated: samples with bias and jitter, delivered late, twice or not at all.

Mobile display, 1.1 and 1.2.  z_k = p(t_k) + b(p) + n, p = (x, y, z, phi) of a station; n white; b a smooth field, the
same wherever one returns to:

    b_i(p) = rms / sqrt(M) sum_j (c_ij cos(w_j.p) + s_ij sin(w_j.p)),    w ~ N(0, 1/L^2), c and s ~ N(0, 1)

whose correlation over a distance r is exp(-r^2 / 2 L^2).  Samples are taken at one rate and sent at another, the newest
that is through the tracker (its latency): a sample sent twice has the same time stamp.  The network adds a delay and an
exponential jitter, so packets may overtake each other, and loses some.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from palpate.jit import Quaternion, Struct, kernel
from palpate.link.impair import next_uniform, random_state
from palpate.mobile.rates import due, exponential, normal
from palpate.model.model import Floats2, Ints1

FEATURES = 8  # M of the bias field
ON_WAY = 64  # packets and samples that may be under way
NEVER = 2**62


@dataclass(frozen=True)
class Tracker:
    """An IS-900 over a wireless network; the defaults of 1.2, with its quiet noise."""

    rate_hz: int = 180
    send_hz: int = 190  # 0: every sample is sent once
    latency_s: float = 0.004  # of the tracker
    network_s: float = 0.002
    network_jitter_s: float = 0.001  # mean of an exponential distribution
    loss: float = 0.01
    jitter_m: float = 0.0005
    jitter_rad: float = math.radians(0.05)
    bias_m: float = 0.002  # rms of each axis
    bias_length_m: float = 1.0  # over which it changes

    def __post_init__(self) -> None:
        if self.rate_hz < 1 or self.send_hz < 0:
            raise ValueError(
                f"rate_hz {self.rate_hz} and send_hz {self.send_hz}: a tracker has at least 1 sample a second"
            )
        for name in ("latency_s", "network_s", "network_jitter_s", "jitter_m", "jitter_rad", "bias_m"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise ValueError(f"{name} is {getattr(self, name)}; it is 0 or more")
        if not 0.0 <= self.loss <= 1.0:
            raise ValueError(f"loss is {self.loss}; it is a probability, 0 to 1")
        if not self.bias_length_m > 0.0:
            raise ValueError(f"bias_length_m is {self.bias_length_m}; it must be positive")
        if self.latency_s + self.network_s + 20.0 * self.network_jitter_s > 0.2:
            raise ValueError("a packet would be under way for more than 0.2 s: smaller latency_s, network_s or jitter")

    def worst(self) -> Tracker:
        """With the quoted resolution taken as white noise."""
        return replace(self, jitter_m=0.002, jitter_rad=math.radians(0.25))


class Station(Struct):
    """One tracked thing: settings, samples and packets under way, counts."""

    rate_hz: int
    send_hz: int
    tick_hz: int
    latency: int  # [ticks]
    network: float  # [ticks]
    network_jitter: float
    loss: float
    jitter_m: float
    jitter_rad: float
    bias: float  # rms / sqrt(M) [m]
    random: int
    sampled: int  # samples so far
    sent: int
    lost: int
    arrived: int
    overflowed: int
    on_way: int  # packets
    next_arrival: int  # tick of the next of them
    stopped: int  # 1: it takes no more samples, as when frozen or covered; set from outside
    pose: Quaternion  # of the packet that `take` found: x, y, z, phi
    sample: Floats2  # (ON_WAY, 4) the newest samples
    sample_at: Ints1  # (ON_WAY,) their ticks
    packet: Floats2  # (ON_WAY, 4)
    packet_at: Ints1  # (ON_WAY,) sample tick of a packet
    arrives: Ints1  # (ON_WAY,) tick; -1: a free place
    waves: Floats2  # (M, 9) w, then c and s of x, y, z


def new_station(tracker: Tracker, seed: int, tick_hz: int = 1000, field_seed: int | None = None) -> Station:
    """A station; stations of one field_seed (of the seed, if not given) feel the same bias where they are the same."""
    rng = np.random.default_rng(seed if field_seed is None else field_seed)
    waves = np.hstack([rng.normal(size=(FEATURES, 3)) / tracker.bias_length_m, rng.normal(size=(FEATURES, 6))])
    return Station(
        rate_hz=tracker.rate_hz, send_hz=tracker.send_hz, tick_hz=tick_hz, latency=round(tracker.latency_s * tick_hz),
        network=tracker.network_s * tick_hz, network_jitter=tracker.network_jitter_s * tick_hz, loss=tracker.loss,
        jitter_m=tracker.jitter_m, jitter_rad=tracker.jitter_rad, bias=tracker.bias_m / math.sqrt(FEATURES),
        random=random_state(seed), sample=np.zeros((ON_WAY, 4)), sample_at=np.full(ON_WAY, -1),
        packet=np.zeros((ON_WAY, 4)), packet_at=np.zeros(ON_WAY, dtype=np.int64), arrives=np.full(ON_WAY, -1),
        waves=np.ascontiguousarray(waves),
    )  # fmt: skip


@kernel
def bias_at(s, x, y, z):
    """b(p) [m] as a tuple."""
    bx, by, bz, w = 0.0, 0.0, 0.0, s.waves
    for j in range(w.shape[0]):
        a = w[j, 0] * x + w[j, 1] * y + w[j, 2] * z
        c, s_ = math.cos(a), math.sin(a)
        bx += w[j, 3] * c + w[j, 6] * s_
        by += w[j, 4] * c + w[j, 7] * s_
        bz += w[j, 5] * c + w[j, 8] * s_
    return s.bias * bx, s.bias * by, s.bias * bz


@kernel
def track(s, k, x, y, z, phi):
    """Tick k of a station that is at (x, y, z) with heading phi: take a sample, send a packet, where they are due."""
    if s.stopped == 0 and due(k, s.rate_hz, s.tick_hz):
        row = s.sampled % ON_WAY
        bx, by, bz = bias_at(s, x, y, z) if s.bias > 0.0 else (0.0, 0.0, 0.0)
        s.sample[row, 0] = x + bx + s.jitter_m * normal(s)
        s.sample[row, 1] = y + by + s.jitter_m * normal(s)
        s.sample[row, 2] = z + bz + s.jitter_m * normal(s)
        s.sample[row, 3] = phi + s.jitter_rad * normal(s)
        s.sample_at[row] = k
        s.sampled += 1
        if s.send_hz == 0:
            send(s, row, k + s.latency)
    if s.send_hz > 0 and due(k, s.send_hz, s.tick_hz):
        for back in range(1, min(s.sampled, ON_WAY) + 1):  # the newest that is through
            row = (s.sampled - back) % ON_WAY
            if s.sample_at[row] + s.latency <= k:
                send(s, row, k)
                break


@kernel
def send(s, row, k):
    """A packet with a sample leaves the tracker at tick k."""
    s.sent += 1
    fate, late = next_uniform(s), exponential(s, s.network_jitter)
    if fate < s.loss:
        s.lost += 1
        return
    for slot in range(ON_WAY):
        if s.arrives[slot] < 0:
            for i in range(4):
                s.packet[slot, i] = s.sample[row, i]
            s.packet_at[slot] = s.sample_at[row]
            s.arrives[slot] = k + math.ceil(s.network + late)
            s.next_arrival = s.arrives[slot] if s.on_way == 0 else min(s.next_arrival, s.arrives[slot])
            s.on_way += 1
            return
    s.overflowed += 1


@kernel
def take(s, k):
    """The sample tick of the packet that arrived first by tick k, its pose in s.pose; -1: there is none (any more)."""
    if s.on_way == 0 or s.next_arrival > k:
        return -1
    found, after = -1, NEVER
    for slot in range(ON_WAY):
        at = s.arrives[slot]
        if at >= 0 and (found < 0 or at < s.arrives[found]):
            after = s.arrives[found] if found >= 0 else after
            found = slot
        elif at >= 0:
            after = min(after, at)
    s.arrives[found] = -1
    s.next_arrival = after
    s.on_way -= 1
    s.arrived += 1
    s.pose = (s.packet[found, 0], s.packet[found, 1], s.packet[found, 2], s.packet[found, 3])
    return s.packet_at[found]
