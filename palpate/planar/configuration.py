"""Every number of the planar interface that was chosen and not given, in one object; sub-configurations hold their own.

What laws have by default lies with them (walls/, frictions/, keepers/), what rooms have in bodies/rooms.py.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from palpate.haptics.contact_laws import FrictionLaw, KeeperLaw, WallLaw
from palpate.planar.control.impedance import IMPEDANCES
from palpate.planar.pantograph.mechanism import Pantograph

Three = tuple[float, float, float]  # of x, y and the angle


@dataclass(frozen=True)
class Control:
    """Observer, coupling and impedance (reference 1.7 to 1.9)."""

    omega_rad_s: float = 150.0  # of the observer
    zeta: float = 1.0
    momentum_1_s: float = 60.0  # K_I of the other one
    coupling_rad_s: float = 40.0  # omega_c
    coupling_zeta: float = 1.0
    master: Three = (0.35, 0.35, 6e-4)  # inertia that the device has, near its middle [kg, kg, kg m^2]
    damping: Three = (0.5, 0.5, 6e-4)  # B_d [N s/m, N s/m, N m s], at the device
    fence_N_m: float = 800.0  # at the border of the device's nominal workspace
    fence_Ns_m: float = 8.0
    pulse_N: float = 8.0  # F_max: what the motors make of an impulse at most (reference 3.2)
    pulse_Nm: float = 0.4
    device_N_m: float = 600.0  # of the coupling to a device whose mechanism is not known, at that device
    device_Ns_m: float = 6.0


@dataclass(frozen=True)
class HandNumbers:
    """A person's hand on the handle (reference 1.11), and what the page's pointer may do with it."""

    stiffness: Three = (150.0, 150.0, 0.3)  # K_h [N/m, N/m, N m/rad]
    damping: Three = (6.0, 6.0, 0.006)  # B_h
    pointer_N_m: float = 400.0  # of the page's pointer, which is firmer: a block in a scaled room feels heavy
    most_N: float = 8.0  # a hand pulls no harder: the motors could not answer
    most_Nm: float = 0.2
    beyond_m: float = 0.02  # how far over the device's nominal workspace a hand can want to go
    sharpest: float = 0.25  # sqrt(K/m) T of its spring at most
    smooth_s: float = 0.02  # the pointer's path between its 60 to 120 samples a second


@dataclass(frozen=True)
class PlanarConfiguration:
    """How a planar simulation is; laws by name, or a user's own.

    scale      metres of the room per metre of the device; offset: where the device's middle is in the room
    stiffness_N_m, damping_Ns_m  of every wall, whatever its law;  mu  of every friction
    restitution  of impacts; impact: "none", the wall alone stops what comes, or "poisson", "frictional"
    impedance  "natural": the device keeps its own inertia; "shaped": it is given the body's, which a scaled room needs.
               With forces alone it always is
    other_wall, other_friction  of the lane that is compared, which has everything else in common
    seed       of what is random at the start: spread of the body's pose there, uniform to each side
    """

    wall: str | WallLaw = "seh"
    friction: str | FrictionLaw = "reset-integrator"
    keeper: str | KeeperLaw = "none"
    stiffness_N_m: float = 2500.0
    damping_Ns_m: float = 10.0
    restitution: float = 0.2
    mu: float = 0.3
    servo_hz: int = 500
    coupling: str = "position-force"
    observer: str = "position"
    impact: str = "poisson"
    impedance: str = "natural"
    exaggeration: float = 1.0
    compare: bool = False
    other_wall: str | WallLaw = "zoh"
    other_friction: str | FrictionLaw = "classical"
    scale: float = 1.0
    offset: tuple[float, float] = (0.0, 0.0)
    device: Pantograph = field(default_factory=Pantograph)
    control: Control = field(default_factory=Control)
    hand: HandNumbers = field(default_factory=HandNumbers)
    shown_contacts: int = 16
    seed: int = 0
    spread: Three = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not 0.0 < self.scale < math.inf:
            raise ValueError(f"a planar scene: scale must be positive and finite, got {self.scale!r}")
        if self.impedance not in IMPEDANCES:
            raise ValueError(f"a planar scene: impedance is one of {', '.join(IMPEDANCES)}, not {self.impedance!r}")
        if not 1 <= self.shown_contacts <= 64:
            raise ValueError(f"a planar scene: 1 to 64 contacts can be shown, not {self.shown_contacts}")
        for part in (self.control, self.hand):
            for name, value in asdict(part).items():
                numbers = value if isinstance(value, tuple) else (value,)
                if not all(0.0 <= x < math.inf for x in numbers):
                    raise ValueError(f"a planar scene: {name} must be finite and not negative, got {value!r}")

    def told(self) -> dict[str, Any]:
        """As recordings and reports have it, in words and numbers that JSON can hold."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        for name, value in told.items():
            if hasattr(value, "__dataclass_fields__"):
                told[name] = asdict(value)
            elif not isinstance(value, (str, int, float, tuple)):
                told[name] = value.name
        return told
