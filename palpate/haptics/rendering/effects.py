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
from typing import Any, ClassVar

import numpy as np

from palpate.conventions import GRAVITY
from palpate.haptics.laws import Vector, find_effect, find_effect_law
from palpate.haptics.safety import limit_norm
from palpate.jit import Block, Struct, block_loader, entry, kernel
from palpate.jit.laws import STATE, FieldLaw, call_field
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.spatial.vectors import add, add_scaled, dot, finite3, get3, get4, scale, sub

MAX_EFFECTS = 8
VISCOSITY, MAGNET, VIBRATION, GUIDANCE, WORKSPACE, CONSTANT, LAW = range(7)
PROJECTIONS = {"point": (1.0, 0.0), "line": (1.0, -1.0), "plane": (0.0, 1.0)}  # s, a of P
PEAK = 25.0 * math.sqrt(5.0) / 16.0  # C: u (1 - u^2)^2 is 1/C at u = 1/sqrt(5), its largest
NAN3 = (math.nan, math.nan, math.nan)


class EffectTable(Struct):
    """Up to MAX_EFFECTS effects for kernels, a row each; written by `Effects`."""

    count: int
    failed: int  # the last row that gave no number, -1: none so far           effects_force
    kind: Ints1  # (8,) VISCOSITY ..
    centre: Floats2  # (8, 3) c [m]
    direction: Floats2  # (8, 3) n
    projection: Floats2  # (8, 2) s, a of P
    stiffness: Floats1  # (8,) K [N/m]
    damping: Floats1  # (8,) b [N s/m]
    range: Floats1  # (8,) [m], or R
    most: Floats1  # (8,) F_max [N]
    frequency: Floats1  # (8,) f [Hz]
    phase: Floats1  # (8,) [turns]
    law: Ints1  # (8,) address of a LAW
    settings: Floats2  # (8, 4) that it is given
    state: Floats2  # (8, 4) that it keeps, and                                 the law
    state_size: Ints1  # (8,) how many of these numbers: none if it keeps nothing


load_effects = block_loader((EffectTable, False))


# ---- kernels


@kernel
def project(table, row, e):
    """P e."""
    n = get3(table.direction, row)
    return add_scaled(scale(table.projection[row, 0], e), table.projection[row, 1] * dot(n, e), n)


@kernel
def magnet(table, row, e, velocity):
    d, reach = project(table, row, e), table.range[row]
    left = 1.0 - dot(d, d) / (reach * reach)  # 1 - u^2
    if not left > 0.0:
        return (0.0, 0.0, 0.0)
    pull = scale(-table.most[row] * PEAK * left * left / reach, d)
    return add_scaled(pull, -table.damping[row] * left * left, project(table, row, velocity))


@kernel
def vibration(table, row, time_s):
    turns = table.frequency[row] * time_s + table.phase[row]
    return scale(table.most[row] * math.sin(2.0 * math.pi * turns), get3(table.direction, row))


@kernel
def guidance(table, row, e, velocity):
    spring = scale(-table.stiffness[row], project(table, row, e))
    return add_scaled(spring, -table.damping[row], project(table, row, velocity))


@kernel
def workspace_limit(table, row, e):
    r = math.sqrt(dot(e, e))
    beyond = r - table.range[row]
    if not beyond > 0.0:
        return (0.0, 0.0, 0.0)
    return scale(-table.stiffness[row] * beyond / r, e)


@kernel
def effect_force(table, row, position, velocity, time_s):
    """Of one row, before its maximum."""
    kind = table.kind[row]
    e = sub(position, get3(table.centre, row))
    if kind == VISCOSITY:
        return scale(-table.damping[row], velocity)
    if kind == MAGNET:
        return magnet(table, row, e, velocity)
    if kind == VIBRATION:
        return vibration(table, row, time_s)
    if kind == GUIDANCE:
        return guidance(table, row, e, velocity)
    if kind == WORKSPACE:
        return workspace_limit(table, row, e)
    if kind == CONSTANT:
        return scale(table.most[row], get3(table.direction, row))
    state = table.state[row, : table.state_size[row]]
    return call_field(table.law[row], position, velocity, time_s, get4(table.settings, row), state)


@kernel
def effects_force(table, position, velocity, time_s):
    """Force on the hand [N], all effects together; NaN if a reading is, or an effect (then table.failed says which)."""
    if not (finite3(position) and finite3(velocity)):
        return NAN3
    total = (0.0, 0.0, 0.0)
    for row in range(table.count):
        force = effect_force(table, row, position, velocity, time_s)
        if not finite3(force):
            table.failed = row
            return NAN3
        force, _ = limit_norm(force, table.most[row])
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

    def row(self) -> dict[str, Any]:
        """What EffectTable has of it, by name; what is missing is zero."""
        raise NotImplementedError


@dataclass(frozen=True)
class Viscosity(Effect):
    """A thick liquid: F = -b v."""

    damping_Ns_m: float = 2.0
    max_N: float = np.inf
    KIND: ClassVar[int] = VISCOSITY

    def row(self) -> dict[str, Any]:
        return {"damping": self.damping_Ns_m, "most": self.max_N}


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

    def row(self) -> dict[str, Any]:
        return {"centre": self.at, "direction": _unit("direction", self.direction), "projection": PROJECTIONS[self.to],
                "range": self.range_m, "most": self.max_N, "damping": self.damping_Ns_m}  # fmt: skip


@dataclass(frozen=True)
class Vibration(Effect):
    """A sinusoid along a direction; its frequency must be below half the rate of the loop."""

    amplitude_N: float = 0.5
    frequency_hz: float = 100.0
    direction: Vector = (0.0, 0.0, 1.0)
    phase_turns: float = 0.0
    KIND: ClassVar[int] = VIBRATION

    def row(self) -> dict[str, Any]:
        return {"direction": _unit("direction", self.direction), "most": self.amplitude_N,
                "frequency": self.frequency_hz, "phase": self.phase_turns}  # fmt: skip


@dataclass(frozen=True)
class _Guidance(Effect):
    at: Vector = (0.0, 0.0, 0.0)
    direction: Vector = (0.0, 0.0, 1.0)
    stiffness_N_m: float = 200.0
    damping_Ns_m: float = 1.0
    max_N: float = 2.0
    KIND: ClassVar[int] = GUIDANCE
    TO: ClassVar[str]

    def row(self) -> dict[str, Any]:
        return {"centre": self.at, "direction": _unit("direction", self.direction), "projection": PROJECTIONS[self.TO],
                "stiffness": self.stiffness_N_m, "damping": self.damping_Ns_m, "most": self.max_N}  # fmt: skip


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

    def row(self) -> dict[str, Any]:
        return {"centre": self.at, "range": self.radius_m, "stiffness": self.stiffness_N_m, "most": self.max_N}


@dataclass(frozen=True)
class ConstantForce(Effect):
    """The same everywhere."""

    force_N: Vector = (0.0, 0.0, 0.0)
    KIND: ClassVar[int] = CONSTANT

    @classmethod
    def weight(cls, mass_kg: float) -> ConstantForce:
        """Of a mass in the hand."""
        return cls((mass_kg * GRAVITY[0], mass_kg * GRAVITY[1], mass_kg * GRAVITY[2]))

    def row(self) -> dict[str, Any]:
        most = float(np.linalg.norm(self.force_N))
        return {"direction": _unit("force_N", self.force_N) if most else (0.0, 0.0, 0.0), "most": most}


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

    def row(self) -> dict[str, Any]:
        return {"settings": (*self.settings, 0.0, 0.0, 0.0, 0.0)[:4], "most": self.max_N}


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
        kind, laws, state_size = np.zeros((3, MAX_EFFECTS), dtype=np.int64)
        stiffness, damping, reach, most, frequency, phase = np.zeros((6, MAX_EFFECTS))
        self.table = EffectTable(
            count=len(effects), failed=-1, kind=kind, centre=np.zeros((MAX_EFFECTS, 3)),
            direction=np.zeros((MAX_EFFECTS, 3)), projection=np.zeros((MAX_EFFECTS, 2)), stiffness=stiffness,
            damping=damping, range=reach, most=most, frequency=frequency, phase=phase, law=laws,
            settings=np.zeros((MAX_EFFECTS, 4)), state=np.zeros((MAX_EFFECTS, STATE)), state_size=state_size,
        )  # fmt: skip
        for i, effect in enumerate(effects):
            if isinstance(effect, Vibration) and not 2.0 * effect.frequency_hz < rate_hz:
                raise ValueError(f"Vibration: {effect.frequency_hz:g} Hz must be below half the rate of {rate_hz:g} Hz")
            self.table.kind[i] = effect.KIND
            if isinstance(effect, Own):
                law = find_effect_law(effect.law)
                self.table.law[i], self.table.state_size[i] = law.address, law.state_size
            for name, value in effect.row().items():
                self.table.array(name)[i] = value
        self.block = Block(self.table)

    def force(self, position_m: Any, velocity_m_s: Any = (0.0, 0.0, 0.0), time_s: float = 0.0) -> np.ndarray:
        """Force on the hand (3,) [N]."""
        x, out = np.array([*position_m, *velocity_m_s, time_s], dtype=float), np.empty(3)
        effects_entry(self.block.address, x, out)
        return out

    @property
    def failed(self) -> str:
        """The name of the effect or law that last gave what is not a number; empty if none did."""
        row = self.table.failed
        return self.names[row] if row >= 0 else ""
