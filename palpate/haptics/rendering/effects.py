"""Effects in free space: forces on the hand that need no world.  Up to 8 at once, summed in one kernel.

x, v position [m] and velocity [m/s] of the hand;  c centre, n direction (unit), e = x - c
d = P e  the offset from what attracts, P = s 1 + a n n^T:  point s, a = 1, 0;  line 1, -1;  plane 0, 1
r = |d|,  u = r / range

    viscosity     F = -b v
    magnet        F = -F_max C u (1 - u^2)^2 d/r - b (1 - u^2)^2 P v   within its range, 0 beyond;
                  C makes the peak F_max; potential (b = 0): -F_max C range (1 - u^2)^3 / 6
    vibration     F = A n sin(2 pi (f t + phase))
    guidance      F = -K d - b P v
    workspace     F = -K (|e| - R) e/|e|  outside the radius R
    constant      F
    law           a user's own (haptics/laws.py)

Every force is then scaled to its own F_max, direction kept.  A force that is not a number makes the sum so, and its
row is noted: the guard takes it from there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from palpate.conventions import GRAVITY
from palpate.haptics.laws import Vector, find_effect, find_effect_law
from palpate.haptics.safety import finite3, limit_norm
from palpate.jit import Block, block_loader, entry, kernel
from palpate.jit.laws import FieldLaw, call_field
from palpate.model.model import Floats2, Ints1
from palpate.spatial.vectors import add, add_scaled, dot, scale, sub

MAX_EFFECTS = 8
VISCOSITY, MAGNET, VIBRATION, GUIDANCE, WORKSPACE, CONSTANT, LAW = range(7)
# columns of EffectTable.number
CENTRE, DIRECTION, SAME, ALONG, STIFFNESS, DAMPING, RANGE, MOST, FREQUENCY, PHASE, SETTINGS, WIDTH = (
    0, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 18,
)  # fmt: skip
PROJECTIONS = {"point": (1.0, 0.0), "line": (1.0, -1.0), "plane": (0.0, 1.0)}  # s, a of P
# rows of EffectTable.integer: how many; the last row that gave no number, -1: none so far
COUNT, FAILED = range(2)
PEAK = 25.0 * math.sqrt(5.0) / 16.0  # C: u (1 - u^2)^2 is 1/C at u = 1/sqrt(5), its largest
NAN3 = (math.nan, math.nan, math.nan)


class EffectTable(NamedTuple):
    """Up to MAX_EFFECTS effects for kernels; written by `Effects`, FAILED by `effects_force`."""

    kind: Ints1  # (8,)
    number: Floats2  # (8, WIDTH) columns as named above
    law: Ints1  # (8,) address of a LAW
    integer: Ints1  # COUNT, FAILED


load_effects = block_loader((EffectTable, False))


# ---- kernels


@kernel
def vector_at(table, row, column):
    return (table.number[row, column], table.number[row, column + 1], table.number[row, column + 2])


@kernel
def project(table, row, e):
    """P e."""
    n = vector_at(table, row, DIRECTION)
    return add_scaled(scale(table.number[row, SAME], e), table.number[row, ALONG] * dot(n, e), n)


@kernel
def magnet(table, row, e, velocity):
    d, reach = project(table, row, e), table.number[row, RANGE]
    left = 1.0 - dot(d, d) / (reach * reach)  # 1 - u^2
    if not left > 0.0:
        return (0.0, 0.0, 0.0)
    pull = scale(-table.number[row, MOST] * PEAK * left * left / reach, d)
    return add_scaled(pull, -table.number[row, DAMPING] * left * left, project(table, row, velocity))


@kernel
def vibration(table, row, time_s):
    turns = table.number[row, FREQUENCY] * time_s + table.number[row, PHASE]
    return scale(table.number[row, MOST] * math.sin(2.0 * math.pi * turns), vector_at(table, row, DIRECTION))


@kernel
def guidance(table, row, e, velocity):
    spring = scale(-table.number[row, STIFFNESS], project(table, row, e))
    return add_scaled(spring, -table.number[row, DAMPING], project(table, row, velocity))


@kernel
def workspace_limit(table, row, e):
    r = math.sqrt(dot(e, e))
    beyond = r - table.number[row, RANGE]
    if not beyond > 0.0:
        return (0.0, 0.0, 0.0)
    return scale(-table.number[row, STIFFNESS] * beyond / r, e)


@kernel
def effect_force(table, row, position, velocity, time_s):
    """Of one row, before its maximum."""
    kind = table.kind[row]
    e = sub(position, vector_at(table, row, CENTRE))
    if kind == VISCOSITY:
        return scale(-table.number[row, DAMPING], velocity)
    if kind == MAGNET:
        return magnet(table, row, e, velocity)
    if kind == VIBRATION:
        return vibration(table, row, time_s)
    if kind == GUIDANCE:
        return guidance(table, row, e, velocity)
    if kind == WORKSPACE:
        return workspace_limit(table, row, e)
    if kind == CONSTANT:
        return scale(table.number[row, MOST], vector_at(table, row, DIRECTION))
    s = table.number
    settings = (s[row, SETTINGS], s[row, SETTINGS + 1], s[row, SETTINGS + 2], s[row, SETTINGS + 3])
    return call_field(table.law[row], position, velocity, time_s, settings)


@kernel
def effects_force(table, position, velocity, time_s):
    """Force on the hand [N], all effects together; NaN if a reading is, or an effect (then FAILED says which)."""
    if not (finite3(position) and finite3(velocity)):
        return NAN3
    total = (0.0, 0.0, 0.0)
    for row in range(table.integer[COUNT]):
        force = effect_force(table, row, position, velocity, time_s)
        if not finite3(force):
            table.integer[FAILED] = row
            return NAN3
        force, _ = limit_norm(force, table.number[row, MOST])
        total = add(total, force)
    return total


@entry("intp, float64[::1], float64[::1]")
def effects_entry(address, x, out):
    """x (7,): position, velocity, time."""
    (table,) = load_effects(address)
    out[0], out[1], out[2] = effects_force(table, (x[0], x[1], x[2]), (x[3], x[4], x[5]), x[6])


# ---- descriptions


NOT_NEGATIVE = ("damping_Ns_m", "stiffness_N_m", "amplitude_N", "frequency_hz", "phase_turns")
POSITIVE = ("range_m", "radius_m", "max_N")


def _unit(name: str, vector: Sequence[float]) -> Vector:
    length = float(np.linalg.norm(vector))
    if np.shape(vector) != (3,) or not (np.isfinite(length) and length > 0.0):
        raise ValueError(f"{name} must be three numbers, not all zero, got {vector}")
    x, y, z = (float(component) / length for component in vector)
    return x, y, z


@dataclass(frozen=True)
class Effect:
    """What all effects share: numbers that make sense, and a row of the table."""

    KIND: ClassVar[int]

    def __post_init__(self) -> None:
        for each in fields(self):
            value, name = getattr(self, each.name), f"{type(self).__name__}: {each.name}"
            if each.name in ("at", "force_N") and not (np.shape(value) == (3,) and np.isfinite(value).all()):
                raise ValueError(f"{name} must be three finite numbers, got {value}")
            if each.name == "direction":
                _unit(name, value)
            if each.name in POSITIVE and not value > 0.0:
                raise ValueError(f"{name} must be positive, got {value}")
            if each.name in NOT_NEGATIVE and not (np.isfinite(value) and value >= 0.0):
                raise ValueError(f"{name} must be finite and not negative, got {value}")

    def row(self) -> dict[int, Any]:
        """Column -> number, or the three from there on."""
        raise NotImplementedError


@dataclass(frozen=True)
class Viscosity(Effect):
    """A thick liquid: F = -b v."""

    damping_Ns_m: float = 2.0
    max_N: float = np.inf
    KIND: ClassVar[int] = VISCOSITY

    def row(self) -> dict[int, Any]:
        return {DAMPING: self.damping_Ns_m, MOST: self.max_N}


@dataclass(frozen=True)
class Magnet(Effect):
    """Pulls towards a point, line or plane; nothing at its centre and beyond its range, at most max_N between."""

    at: Vector = (0.0, 0.0, 0.0)
    to: str = "point"  # "line" along `direction`, or "plane" across it
    direction: Vector = (0.0, 0.0, 1.0)
    range_m: float = 0.02
    max_N: float = 1.0
    damping_Ns_m: float = 0.0
    KIND: ClassVar[int] = MAGNET

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.to not in PROJECTIONS:
            raise ValueError(f"Magnet: to must be one of {', '.join(PROJECTIONS)}, got {self.to!r}")
        if not (np.isfinite(self.max_N) and np.isfinite(self.range_m)):
            raise ValueError("Magnet: max_N and range_m must be finite")

    def row(self) -> dict[int, Any]:
        return {CENTRE: self.at, DIRECTION: _unit("direction", self.direction), SAME: PROJECTIONS[self.to],
                RANGE: self.range_m, MOST: self.max_N, DAMPING: self.damping_Ns_m}  # fmt: skip


@dataclass(frozen=True)
class Vibration(Effect):
    """A sinusoid along a direction; its frequency must be below half the rate of the loop."""

    amplitude_N: float = 0.5
    frequency_hz: float = 100.0
    direction: Vector = (0.0, 0.0, 1.0)
    phase_turns: float = 0.0
    KIND: ClassVar[int] = VIBRATION

    def row(self) -> dict[int, Any]:
        return {DIRECTION: _unit("direction", self.direction), MOST: self.amplitude_N,
                FREQUENCY: self.frequency_hz, PHASE: self.phase_turns}  # fmt: skip


@dataclass(frozen=True)
class _Guidance(Effect):
    at: Vector = (0.0, 0.0, 0.0)
    direction: Vector = (0.0, 0.0, 1.0)
    stiffness_N_m: float = 200.0
    damping_Ns_m: float = 1.0
    max_N: float = 2.0
    KIND: ClassVar[int] = GUIDANCE
    TO: ClassVar[str]

    def row(self) -> dict[int, Any]:
        return {CENTRE: self.at, DIRECTION: _unit("direction", self.direction), SAME: PROJECTIONS[self.TO],
                STIFFNESS: self.stiffness_N_m, DAMPING: self.damping_Ns_m, MOST: self.max_N}  # fmt: skip


@dataclass(frozen=True)
class GuidanceLine(_Guidance):
    """A spring and damper to the line through `at` along `direction`; free along it."""

    TO: ClassVar[str] = "line"


@dataclass(frozen=True)
class GuidancePlane(_Guidance):
    """A spring and damper to the plane through `at` across `direction`; free within it."""

    TO: ClassVar[str] = "plane"


@dataclass(frozen=True)
class WorkspaceLimit(Effect):
    """A spring inwards from a radius on, so that the hand feels the end of the workspace before it is there."""

    at: Vector = (0.0, 0.0, 0.0)
    radius_m: float = 0.0955
    stiffness_N_m: float = 50.0
    max_N: float = 1.5
    KIND: ClassVar[int] = WORKSPACE

    def row(self) -> dict[int, Any]:
        return {CENTRE: self.at, RANGE: self.radius_m, STIFFNESS: self.stiffness_N_m, MOST: self.max_N}


@dataclass(frozen=True)
class ConstantForce(Effect):
    """The same everywhere."""

    force_N: Vector = (0.0, 0.0, 0.0)
    KIND: ClassVar[int] = CONSTANT

    @classmethod
    def weight(cls, mass_kg: float) -> ConstantForce:
        """Of a mass in the hand."""
        return cls((mass_kg * GRAVITY[0], mass_kg * GRAVITY[1], mass_kg * GRAVITY[2]))

    def row(self) -> dict[int, Any]:
        most = float(np.linalg.norm(self.force_N))
        return {DIRECTION: _unit("force_N", self.force_N) if most else (0.0, 0.0, 0.0), MOST: most}


@dataclass(frozen=True)
class Own(Effect):
    """A law of one's own (haptics/laws.py), by name or made with @effect_law, and up to four settings."""

    law: str | FieldLaw = "curl"
    settings: tuple[float, ...] = ()
    max_N: float = np.inf
    KIND: ClassVar[int] = LAW

    def __post_init__(self) -> None:
        super().__post_init__()
        find_effect_law(self.law)
        if len(self.settings) > 4 or not np.isfinite(self.settings).all():
            raise ValueError(f"Own: settings must be up to four finite numbers, got {self.settings}")

    def row(self) -> dict[int, Any]:
        return {SETTINGS: self.settings, MOST: self.max_N}


def make_effect(name: str, **settings: Any) -> Effect:
    """An effect by its name in the registry; a law's name makes an `Own`."""
    found = find_effect(name)
    made: Effect = Own(found, **settings) if isinstance(found, FieldLaw) else found(**settings)
    return made


class Effects:
    """A table of effects for the tick, and the same as a function for scripts."""

    def __init__(self, effects: Sequence[Effect] = (), rate_hz: float = 1000.0) -> None:
        if len(effects) > MAX_EFFECTS:
            raise ValueError(f"{len(effects)} effects are too many; at most {MAX_EFFECTS} act at once")
        self.effects = tuple(effects)
        self.names = tuple(find_effect_law(e.law).name if isinstance(e, Own) else type(e).__name__ for e in effects)
        kind, law = np.zeros((2, MAX_EFFECTS), dtype=np.int64)
        integer = np.array([len(effects), -1], dtype=np.int64)
        self.table = EffectTable(kind, np.zeros((MAX_EFFECTS, WIDTH)), law, integer)
        for i, effect in enumerate(effects):
            if isinstance(effect, Vibration) and not 2.0 * effect.frequency_hz < rate_hz:
                raise ValueError(f"Vibration: {effect.frequency_hz:g} Hz must be below half the rate of {rate_hz:g} Hz")
            self.table.kind[i] = effect.KIND
            self.table.law[i] = find_effect_law(effect.law).address if isinstance(effect, Own) else 0
            for column, value in effect.row().items():
                numbers = np.atleast_1d(np.asarray(value, dtype=float))
                self.table.number[i, column : column + len(numbers)] = numbers
        self.block = Block(self.table)

    def force(self, position_m: Any, velocity_m_s: Any = (0.0, 0.0, 0.0), time_s: float = 0.0) -> np.ndarray:
        """Force on the hand (3,) [N]."""
        x, out = np.array([*position_m, *velocity_m_s, time_s], dtype=float), np.empty(3)
        effects_entry(self.block.address, x, out)
        return out

    @property
    def failed(self) -> str:
        """The name of the effect or law that last gave what is not a number; empty if none did."""
        row = int(self.table.integer[FAILED])
        return self.names[row] if row >= 0 else ""
