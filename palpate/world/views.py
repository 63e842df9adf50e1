"""What a World says of itself: contacts, the report of a step, snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from palpate.model.model import Floats


class WorldError(RuntimeError):
    """The world stopped: the message names the body and the quantity; the last good state is kept."""


@dataclass(frozen=True)
class Contact:
    """Two bodies that touch, or are about to; world axes, forces on body_b (their opposites act on body_a)."""

    body_a: str
    body_b: str
    point: Floats  # (3,) [m]
    normal: Floats  # (3,) from a to b
    tangent: Floats  # (3,) along the friction force, or any across the normal without one
    gap: float  # [m] at the beginning of the step; < 0: penetration
    force: Floats  # (3,) [N]
    mode: str  # open, stick, slide or roll

    @property
    def normal_force(self) -> float:
        """[N]"""
        return float(self.force @ self.normal)


class StepReport(NamedTuple):
    """What the last step took; residuals of the impulses in use."""

    contacts: int  # points that were solved, of
    candidates: int  # points found before patches were reduced
    rows: int  # contacts, joint ends, dry joints and connections
    islands: int
    sweeps: int
    newton: int  # iterations
    admm: int  # iterations
    residual: float  # natural map, largest over the rows [N s]
    residual_m_s: float  # the same as a velocity
    relative_residual: float  # the same beside what is at stake for the row's own bodies (contact/residual.py)
    multi_roots: int  # local problems with several solutions
    ran_out: int  # islands whose budget ended above the tolerance
    lost: int  # contacts that did not fit, since the start


class Ledger(NamedTuple):
    """Where the energy of a World came from and went since its first step [J]; negative work takes energy out."""

    kinetic: float
    potential: float
    actuators: float  # joint torques, with the springs and dampers of `hold` and the joints' own damping
    by_joint: dict[str, float]  # the same, joint by joint
    hands: float  # forces of `apply` and of devices
    contacts: float
    joints: float  # ends, dry friction and connections
    step: float  # what the step itself created (> 0) or lost: the rest of the account


@dataclass(frozen=True)
class Snapshot:
    """The state of a World: everything the next step depends on."""

    parts: tuple[str, ...]
    time: float
    arrays: dict[str, np.ndarray]
