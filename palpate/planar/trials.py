"""One mass against one law: the one-dimensional trials of the surveys (reference on planar haptics 6 to 8, 10.1).

    drop = press("seh", push_N=5.0, contacts=2)         # a block of 1 kg falls on a wall, contact by two vertices
    apexes(drop.x)                                      # how high each flight went
    peg = slide("reset-integrator", force, contacts=4)  # a mass under a history of forces

The laws run as they do in the planar bodies and on a World's surfaces: by address, with their rows, zero when a contact
begins.  What is not a number is a ValueError that says which law and when.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.haptics.contact_laws import (
    SETTINGS,
    STATE,
    ContactLaw,
    FrictionLaw,
    KeeperLaw,
    WallLaw,
    find_contact_law,
)
from palpate.jit import Block
from palpate.model.model import Floats
from palpate.planar.trial_kernels import (
    Press,
    friction_along_entry,
    press_entry,
    slide_entry,
    wall_along_entry,
)

Settings = Mapping[str, float]


class Pressed(NamedTuple):
    """A mass at a wall that fills x < 0; all (n,)."""

    t: Floats  # [s]
    x: Floats  # [m]
    v: Floats  # [m/s], before an impact
    force: Floats  # of the wall on the mass [N], held until the next sample
    absorbed: Floats  # energy that the wall took so far, exact for the held force [J]; below 0: it gave


class Slid(NamedTuple):
    """A mass on a surface; all (n,)."""

    t: Floats  # [s]
    x: Floats  # [m]
    v: Floats  # [m/s]
    friction: Floats  # Ff of all contacts, against the sliding [N]
    slips: Floats  # 1 while it slips


def press(
    wall: str | WallLaw,
    keeper: str | KeeperLaw | None = None,
    *,
    wall_settings: Settings | None = None,
    keeper_settings: Settings | None = None,
    push_N: float = 5.0,
    gap_m: float = 0.02,
    mass_kg: float = 1.0,
    damping_Ns_m: float = 0.0,
    dt_s: float = 2e-3,
    seconds: float = 10.0,
    contacts: int = 1,
    restitution: float | None = None,
    encoder_m: float = 0.0,
    velocity_hz: float | None = None,
) -> Pressed:
    """Let a mass go at a gap from a wall and push it there: the drop of section 6.3, the devices of section 8.

    damping_Ns_m   of the device, 0: a free body; its motion is exact
    contacts       that are alike, each with these settings
    restitution    e of an impulse at the first sample of each contact; None: the law alone stops what comes
    encoder_m      step of the position that the law sees
    velocity_hz    the law sees differences of positions, low-passed here; inf: raw; None: it sees the true velocity
    """
    law = find_contact_law(WallLaw, wall)
    around = None if keeper is None else find_contact_law(KeeperLaw, keeper)
    _positive(mass_kg=mass_kg, dt_s=dt_s, seconds=seconds, contacts=contacts)
    _not_negative(damping_Ns_m=damping_Ns_m, gap_m=gap_m, encoder_m=encoder_m)
    if restitution is not None and not 0.0 <= restitution <= 1.0:
        raise ValueError(f"restitution must be 0 .. 1, got {restitution}")
    smoothing = 0.0 if velocity_hz is None else 1.0 - math.exp(-2.0 * math.pi * velocity_hz * dt_s)
    block = Block(
        Press(
            mass=mass_kg, damping=damping_Ns_m, dt=dt_s, push=push_N, gap=gap_m, encoder=encoder_m,
            restitution=-1.0 if restitution is None else restitution, smoothing=smoothing, contacts=contacts,
            wall=law.address, keeper=0 if around is None else around.address,
        )
    )  # fmt: skip
    settings = np.zeros((2, SETTINGS))
    settings[0] = law.row(**wall_settings or {})
    if around is not None:
        settings[1] = around.row(**keeper_settings or {})
    trace = np.zeros((round(seconds / dt_s), 4))
    _check(press_entry(block.address, settings, np.zeros((2, STATE)), trace), around or law, dt_s)
    return Pressed(_times(trace, dt_s), *(column.copy() for column in trace.T))


def slide(
    friction: str | FrictionLaw,
    force: ArrayLike,
    normal_N: ArrayLike = 5.0,
    mass_kg: float = 2.0,
    dt_s: float = 2e-3,
    *,
    settings: Settings | None = None,
    contacts: int = 1,
    x_m: float = 0.0,
    v_m_s: float = 0.0,
) -> Slid:
    """A mass that a history of forces [N] (n,) moves against friction; normal force of each contact [N], () or (n,)."""
    law = find_contact_law(FrictionLaw, friction)
    _positive(mass_kg=mass_kg, dt_s=dt_s, contacts=contacts)
    pull = np.array(force, dtype=np.float64)
    if pull.ndim != 1 or len(pull) == 0 or not np.isfinite(pull).all():
        raise ValueError(f"force must be finite numbers (n,), got shape {pull.shape}")
    normal = np.array(np.broadcast_to(np.asarray(normal_N, dtype=np.float64), pull.shape))
    if not (normal >= 0.0).all():
        raise ValueError("normal_N must not be negative")
    trace = np.zeros((len(pull), 4))
    trace[0, 1] = v_m_s
    bad = slide_entry(law.address, law.row(**settings or {}), np.zeros(STATE), pull, normal, mass_kg, dt_s, contacts,
                      x_m, trace)  # fmt: skip
    _check(bad, law, dt_s)
    return Slid(_times(trace, dt_s), *(column.copy() for column in trace.T))


def wall_along(
    wall: str | WallLaw, depth_m: ArrayLike, approach_m_s: ArrayLike | None = None, dt_s: float = 2e-3,
    mass_kg: float = 1.0, settings: Settings | None = None,
) -> Floats:  # fmt: skip
    """The force [N] (n,) of a wall led through depths (n,), as the law gives it; approach not given: differences."""
    law = find_contact_law(WallLaw, wall)
    depth = np.array(depth_m, dtype=np.float64)
    approach = np.diff(depth, prepend=0.0) / dt_s if approach_m_s is None else approach_m_s
    path, force = np.ascontiguousarray(np.column_stack([depth, approach])), np.zeros(len(depth))
    _check(wall_along_entry(law.address, law.row(**settings or {}), np.zeros(STATE), path, dt_s, mass_kg, force),
           law, dt_s)  # fmt: skip
    return force


def friction_along(
    friction: str | FrictionLaw, travel_m: ArrayLike, slide_m_s: ArrayLike | None = None, normal_N: ArrayLike = 5.0,
    dt_s: float = 2e-3, mass_kg: float = 1.0, settings: Settings | None = None,
) -> Floats:  # fmt: skip
    """The force [N] (n,) of a friction led along a surface (n,); slide not given: differences."""
    law = find_contact_law(FrictionLaw, friction)
    travel = np.array(travel_m, dtype=np.float64)
    rate = np.diff(travel, prepend=travel[:1]) / dt_s if slide_m_s is None else slide_m_s
    normal = np.broadcast_to(np.asarray(normal_N, dtype=np.float64), travel.shape)
    path, force = np.ascontiguousarray(np.column_stack([travel, rate, normal])), np.zeros(len(travel))
    _check(friction_along_entry(law.address, law.row(**settings or {}), np.zeros(STATE), path, dt_s, mass_kg, force),
           law, dt_s)  # fmt: skip
    return force


# ---- what the surveys read from a trial


def impacts(x: Floats) -> np.ndarray:
    """Samples at which a contact begins: the first with x < 0 after a flight."""
    inside = x < 0.0
    return np.flatnonzero(inside & ~np.r_[False, inside[:-1]])


def apexes(x: Floats) -> Floats:
    """The highest place of each flight that ended, the first before the first impact [m]."""
    at = impacts(x)
    if len(at) == 0:
        return np.zeros(0)
    bounds = np.r_[0, at]
    return np.array([x[a:b].max() for a, b in pairwise(bounds)])


def last_loss_s(trial: Pressed) -> float:
    """From the first impact to the last sample out of contact [s]; 0: contact is kept, inf: it never was."""
    inside = trial.x < 0.0
    if not inside.any():
        return math.inf
    first = int(np.argmax(inside))
    out = np.flatnonzero(~inside[first:])
    return float(trial.t[first + out[-1]] - trial.t[first]) if len(out) else 0.0


def episodes(slips: Floats) -> int:
    """How often it began to slip."""
    return int(np.sum(np.diff(slips, prepend=0.0) > 0.5))


def _times(trace: Floats, dt_s: float) -> Floats:
    return np.arange(len(trace), dtype=np.float64) * np.float64(dt_s)


def _check(bad: int, law: ContactLaw, dt_s: float) -> None:
    if bad >= 0:
        raise ValueError(f"the {law.kind} {law.name!r} gave what is not a number at {bad * dt_s:g} s")


def _positive(**numbers: float) -> None:
    for name, x in numbers.items():
        if not (math.isfinite(x) and x > 0.0):
            raise ValueError(f"{name} must be positive, got {x}")


def _not_negative(**numbers: float) -> None:
    for name, x in numbers.items():
        if not (math.isfinite(x) and x >= 0.0):
            raise ValueError(f"{name} must not be negative, got {x}")
