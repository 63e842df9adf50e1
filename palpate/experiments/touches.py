"""Touches that never happened: one second of force and contact point at 1 kHz, by family, seed and pattern.

Nothing here knows how patterns are recognised.  Body axes, normal n outward; the force is that on the body.

    plain     each touch whole within its second, a low-pass of a grip, tremor, a little noise (avatars.md 7)
    stress    cut by the window by up to 150 ms, biased, noisy; short pushes, long taps, offset shakes, uneven holds
    devices   a hand's motion through a spring grip of 150 to 2000 N/m against a body that yields: pressed through a
              surface or held, by a pointer that speaks 60 times a second or by a device whose force ends at its limit

plain and stress follow the reference's numbers; what it does not say (shapes of rise and fall, how uneven) is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

RATE_HZ, SECONDS = 1000.0, 1.0
N = round(RATE_HZ * SECONDS)
PATTERNS = ("none", "push", "pull", "tap", "double tap", "shake", "hold", "stroke")
AROUND_S = 1.0  # of each touch that is made before and after its window, so that a window can cut it
LIGHTEST_N, STRONGEST_N = 2.0, 30.0
TILT_RAD = np.radians(35.0)
POINT_M = 2e-4  # noise of the contact point


class Touch(NamedTuple):
    """What a body felt, and what was meant by it."""

    name: str  # of PATTERNS
    force: np.ndarray  # (n, 3) on the body [N]
    point: np.ndarray  # (n, 3) where [m]
    normal: np.ndarray  # (3,) outward


class Meant(NamedTuple):
    """A touch as it is meant, on a time axis of three seconds, and from when to when [s] it is."""

    force: np.ndarray  # (m, 3)
    point: np.ndarray  # (m, 3)
    begin_s: float
    end_s: float


def touches(family: str, each: int, seed: int, whole: bool = False) -> list[Touch]:
    """So many of each pattern, a second of each or, whole, three with quiet around it; the same for the same seed."""
    make = FAMILIES[family]
    rng = np.random.default_rng([seed, *family.encode()])
    return [make(name, rng, whole) for name in PATTERNS for _ in range(each)]


# ---- directions and shapes


def unit(rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def across(n: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A direction in the surface."""
    x = np.cross(n, unit(rng))
    return x / np.linalg.norm(x)


def tilted(n: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """n, tilted by up to 35 degrees."""
    angle = rng.uniform(0.0, TILT_RAD)
    return np.cos(angle) * n + np.sin(angle) * across(n, rng)


def rising(t: np.ndarray, begin_s: float, rise_s: float) -> np.ndarray:
    """From 0 to 1, smoothly."""
    u = np.clip((t - begin_s) / rise_s, 0.0, 1.0)
    return u * u * (3.0 - 2.0 * u)


def plateau(t: np.ndarray, begin_s: float, length_s: float, rise: float, fall: float) -> np.ndarray:
    """Rises within that share of its length, stays, falls."""
    return rising(t, begin_s, rise * length_s) - rising(t, begin_s + (1.0 - fall) * length_s, fall * length_s)


def bump(t: np.ndarray, begin_s: float, width_s: float, power: float) -> np.ndarray:
    """A half sine to a power."""
    u = np.clip((t - begin_s) / width_s, 0.0, 1.0)
    return np.sin(np.pi * u).clip(0.0) ** power


def wander(t: np.ndarray, rng: np.random.Generator, size: float) -> np.ndarray:
    """Slow and uneven, at most `size`: three sines of 0.3 to 2 Hz."""
    waves = [np.sin(2 * np.pi * (rng.uniform(0.3, 2.0) * t + rng.uniform())) for _ in range(3)]
    return size * np.mean(waves, axis=0)


def low_pass(x: np.ndarray, time_s: float) -> np.ndarray:
    """First order, along the first axis: a mean over the past with weights that fall by e in that time."""
    weights = np.exp(-np.arange(round(8.0 * time_s * RATE_HZ) + 1) / (time_s * RATE_HZ))
    weights /= weights.sum()
    before = np.repeat(x[:1], len(weights) - 1, axis=0)
    return np.stack([np.convolve(column, weights, "valid") for column in np.concatenate([before, x]).T], axis=1)


# ---- plain and stress


class Ranges(NamedTuple):
    """What plain and stress differ in."""

    push_s: tuple[float, float]
    tap_s: tuple[float, float]
    uneven: tuple[float, float]  # share of a hold's force
    offset: float  # of a shake, of its amplitude, at most
    noise_N: float  # at most, each axis
    bias_N: float
    cut_s: float  # at most


PLAIN = Ranges((0.35, 0.9), (0.02, 0.18), (0.0, 0.1), 0.1, 0.15, 0.0, 0.0)
STRESS = Ranges((0.19, 0.9), (0.02, 0.29), (0.05, 0.35), 1.0, 0.5, 0.25, 0.15)
GAP_S = (0.12, 0.45)
SHAKE_HZ = (1.6, 4.5)
STROKE_N, STROKE_M_S = (0.6, 5.0), (0.05, 0.4)
GRIP_NS_M = 5.0  # damper beside a grip's spring: its force lags by b/k


def meant(name: str, ranges: Ranges, n: np.ndarray, rng: np.random.Generator) -> Meant:
    """A touch on a time axis of three seconds, whose first begins at 1 s."""
    t = np.arange(3 * N) / RATE_HZ
    peak = float(np.exp(rng.uniform(np.log(LIGHTEST_N), np.log(STRONGEST_N))))
    point = np.tile(rng.uniform(-0.1, 0.1, 3), (len(t), 1)) + wander(t, rng, 0.002)[:, None] * across(n, rng)
    begin = AROUND_S
    if name in ("push", "pull"):
        length = rng.uniform(*ranges.push_s)
        shape = plateau(t, begin, length, rng.uniform(0.15, 0.45), rng.uniform(0.15, 0.45))
        shape = shape * (1.0 + wander(t, rng, 0.1))
        way = tilted(n if name == "pull" else -n, rng)
        return Meant(peak * shape[:, None] * way, point, begin, begin + length)
    if name in ("tap", "double tap"):
        width = rng.uniform(*ranges.tap_s)
        shape, end = bump(t, begin, width, rng.uniform(1.0, 2.0)), begin + width
        if name == "double tap":
            gap, second = rng.uniform(*GAP_S), rng.uniform(*ranges.tap_s)
            shape = shape + rng.uniform(0.7, 1.3) * bump(t, end + gap, second, rng.uniform(1.0, 2.0))
            end += gap + second
        return Meant(peak * shape[:, None] * tilted(-n, rng), point, begin, end)
    if name == "shake":
        hz, decay = rng.uniform(*SHAKE_HZ), rng.uniform(0.0, 0.5)
        wave = np.sin(2 * np.pi * (hz * (t - begin) + rng.uniform())) * np.exp(-decay * (t - begin).clip(0.0))
        offset = rng.uniform(0.0, ranges.offset) * unit(rng)
        shape = rising(t, begin - 0.1, 0.15) - rising(t, begin + 1.0, 0.15)
        force = peak * shape[:, None] * (wave[:, None] * unit(rng) + offset)
        return Meant(force, point, begin, begin + SECONDS)
    if name == "hold":
        shape = rising(t, begin - 0.1, 0.1) - rising(t, begin + 1.0, 0.1)
        shape = shape * (1.0 + wander(t, rng, rng.uniform(*ranges.uneven)))
        way = tilted(n if rng.uniform() < 0.5 else -n, rng)
        return Meant(peak * shape[:, None] * way, point, begin, begin + SECONDS)
    if name == "stroke":
        light, speed, length = rng.uniform(*STROKE_N), rng.uniform(*STROKE_M_S), rng.uniform(0.35, 1.0)
        shape = plateau(t, begin, length, rng.uniform(0.1, 0.3), rng.uniform(0.1, 0.3)) * (1.0 + wander(t, rng, 0.3))
        along = across(n, rng)
        friction = rng.uniform(0.1, 0.7)
        way = along * (speed * (t - begin).clip(0.0, length))[:, None]
        bent = np.cross(n, along) * (rng.uniform(-0.3, 0.3) * speed * (t - begin).clip(0.0, length) ** 2)[:, None]
        return Meant(light * shape[:, None] * (friction * along - n), point + way + bent, begin, begin + length)
    return Meant(np.zeros((len(t), 3)), point, begin, begin)


def gripped(name: str, ranges: Ranges, rng: np.random.Generator, whole: bool) -> Touch:
    """A touch that fits its second, or is cut by it, as a grip with tremor and a noisy sensor give it."""
    n = unit(rng)
    touch = meant(name, ranges, n, rng)
    length = touch.end_s - touch.begin_s
    first = touch.begin_s - rng.uniform(0.0, max(SECONDS - length, 0.0))  # of the window: all of it is inside
    if ranges.cut_s > 0.0 and rng.uniform() < 0.5:  # or one of its ends is not
        cut = rng.uniform(0.0, min(ranges.cut_s, 0.4 * length))
        first = touch.begin_s + cut if rng.uniform() < 0.5 else touch.end_s - SECONDS - cut
    force = low_pass(touch.force, GRIP_NS_M / rng.uniform(150.0, 2000.0))
    t = np.arange(len(force)) / RATE_HZ
    tremor = rng.uniform(0.0, 0.04) * np.sin(2 * np.pi * (rng.uniform(8.0, 12.0) * t + rng.uniform()))
    force = force * (1.0 + tremor)[:, None] + rng.normal(size=force.shape) * rng.uniform(0.0, ranges.noise_N)
    force += rng.uniform(0.0, 1.0) * ranges.bias_N * unit(rng)
    point = touch.point + rng.normal(size=force.shape) * POINT_M
    return within(Touch(name, force, point, n), None if whole else first)


def within(touch: Touch, first_s: float | None) -> Touch:
    """Of a touch the second that begins there; None: all of it."""
    if first_s is None:
        return touch
    at = round(first_s * RATE_HZ) + np.arange(N)
    return touch._replace(force=touch.force[at], point=touch.point[at])


# ---- devices: a hand, a spring, a body that yields


class Device(NamedTuple):
    """How a hand's motion becomes force."""

    grip_N_m: float
    body_kg: float  # that the touched point seems to weigh, on
    body_N_m: float  # the spring of its posture
    limit_N: float
    samples_hz: float  # of the hand's place
    lag_s: float
    noise_N: float
    tremor_m: float


def some_device(rng: np.random.Generator) -> Device:
    pointer = rng.uniform() < 0.4
    return Device(
        grip_N_m=float(np.exp(rng.uniform(np.log(150.0), np.log(2000.0)))),
        body_kg=rng.uniform(1.0, 8.0),
        body_N_m=rng.uniform(500.0, 6000.0),
        limit_N=rng.choice([3.3, 8.5, 20.0, 60.0]),
        samples_hz=60.0 if pointer else RATE_HZ,
        lag_s=rng.uniform(0.01, 0.03) if pointer else rng.uniform(0.001, 0.008),
        noise_N=rng.uniform(0.0, 0.3),
        tremor_m=rng.uniform(0.0, 4e-4),
    )


def stair(x: np.ndarray, every_s: float, phase: float) -> np.ndarray:
    """A path as one sees it who is told of it every so often."""
    ticks = every_s * RATE_HZ
    k = np.arange(len(x))
    return x[(np.floor((k + phase * ticks) / ticks) * ticks - phase * ticks).clip(0).astype(int)]


def reaches(name: str, device: Device, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, bool, float, float]:
    """Where the hand goes: beyond the surface (m,) and along it (m,), whether it holds, from when to when [s]."""
    t, begin = np.arange(3 * N) / RATE_HZ, AROUND_S
    soft = 1.0 / (1.0 / device.grip_N_m + 1.0 / device.body_N_m)
    wanted = min(float(np.exp(rng.uniform(np.log(2.5), np.log(25.0)))), 1.3 * device.limit_N)
    deep, zero = wanted / soft, np.zeros_like(t)
    if name in ("push", "pull"):
        length = rng.uniform(0.33, 0.85)
        path = deep * plateau(t, begin, length, rng.uniform(0.2, 0.5), rng.uniform(0.2, 0.5))
        return -path if name == "push" else path, zero, name == "pull" or rng.uniform() < 0.5, begin, begin + length
    if name in ("tap", "double tap"):  # the hand comes from above the surface and goes back there
        above, width = rng.uniform(0.0, 0.5) * deep, rng.uniform(0.05, 0.17)
        path = above - (above + deep) * bump(t, begin, width, 1.0)
        end = begin + width
        if name == "double tap":
            gap, second = rng.uniform(0.14, 0.42), rng.uniform(0.05, 0.17)
            path = path - (above + deep * rng.uniform(0.75, 1.25)) * bump(t, end + gap, second, 1.0)
            end += gap + second
        return path, zero, False, begin, end
    if name == "shake":
        hz = rng.uniform(1.7, 4.2)
        wave = deep * np.sin(2 * np.pi * (hz * t + rng.uniform())) * rising(t, 0.7, 0.2)
        share = rng.uniform(0.0, 2 * np.pi)
        return np.cos(share) * wave, np.sin(share) * wave, True, begin, begin + SECONDS
    if name == "hold":
        path = deep * rising(t, 0.6, 0.3) * (1.0 + wander(t, rng, 0.12))
        pulls = rng.uniform() < 0.5
        return path if pulls else -path, zero, pulls or rng.uniform() < 0.5, begin, begin + SECONDS
    if name == "stroke":
        length, speed = rng.uniform(0.4, 1.0), rng.uniform(0.06, 0.35)
        light = min(rng.uniform(0.8, 4.0), device.limit_N) / soft
        path = 0.005 - (0.005 + light) * plateau(t, begin, length, 0.2, 0.2)
        return path, speed * (t - begin).clip(0.0, length), False, begin, begin + length
    return zero + rng.uniform(0.0, 0.05), zero, False, begin, begin


def through_a_device(name: str, rng: np.random.Generator, whole: bool) -> Touch:
    """f = k (hand - point), pressed only if the hand does not hold; m x'' = f - k_b x - b x': the point yields."""
    device, n = some_device(rng), unit(rng)
    s, h = across(n, rng), 1.0 / RATE_HZ
    deep, along, holds, begin, end = reaches(name, device, rng)
    t = np.arange(len(deep)) / RATE_HZ
    shiver = device.tremor_m * np.sin(2 * np.pi * (rng.uniform(8.0, 12.0) * t + rng.uniform()))
    phase = rng.uniform()
    hand = np.stack([deep + shiver, along], axis=1)
    hand = low_pass(stair(hand, 1.0 / device.samples_hz, phase), device.lag_s)
    friction = rng.uniform(0.1, 0.6)
    m, k_b = device.body_kg, device.body_N_m
    b = rng.uniform(0.4, 1.0) * 2.0 * np.sqrt(m * k_b)
    force, slid = np.zeros((len(t), 2)), np.zeros(len(t))
    k, limit = device.grip_N_m, device.limit_N
    x0 = x1 = v0 = v1 = 0.0
    for i, (h0, h1) in enumerate(hand.tolist()):  # numbers, not arrays: many times as fast
        f0, f1 = k * (h0 - x0), k * (h1 - x1)
        if not holds:
            f0 = min(f0, 0.0)
            f1 = -friction * f0 if name == "stroke" and begin < t[i] < end else 0.0
            slid[i] = h1 - x1
        share = min(1.0, limit / max(math.hypot(f0, f1), 1e-9))
        f0, f1 = share * f0, share * f1
        v0, v1 = (v0 + h / m * (f0 - k_b * x0)) / (1.0 + h * b / m), (v1 + h / m * (f1 - k_b * x1)) / (1.0 + h * b / m)
        x0, x1 = x0 + h * v0, x1 + h * v1
        force[i] = f0, f1
    length = end - begin
    first = begin - rng.uniform(0.0, max(SECONDS - length, 0.0))
    felt = force @ np.stack([n, s]) + rng.normal(size=(len(t), 3)) * device.noise_N
    point = rng.uniform(-0.1, 0.1, 3) + slid[:, None] * s + rng.normal(size=(len(t), 3)) * POINT_M
    return within(Touch(name, felt, point, n), None if whole else first)


FAMILIES: dict[str, Callable[[str, np.random.Generator, bool], Touch]] = {
    "plain": lambda name, rng, whole: gripped(name, PLAIN, rng, whole),
    "stress": lambda name, rng, whole: gripped(name, STRESS, rng, whole),
    "devices": through_a_device,
}
