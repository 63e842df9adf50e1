"""What a name stands for, ready to run: a Scene of a World, or a Simulation of another kind; and its session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from palpate.haptics.devices.protocol import Device
from palpate.runtime.session import Session
from palpate.runtime.world.session import WorldSession
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.scene import Scene
from palpate.servo.simulation import Simulation

if TYPE_CHECKING:
    from palpate.haptics.reach import Reach

Runnable = Scene | Simulation


def simulation_of(made: Runnable) -> Simulation:
    """What ticks."""
    return WorldSimulation(made) if isinstance(made, Scene) else made


def session_of(made: Runnable, devices: Sequence[tuple[Device, Reach]] = (), **options: Any) -> Session:
    """Its session, not started; options: of session.Options."""
    if isinstance(made, Scene):
        return WorldSession(made, devices, **options)
    return Session(made, devices, **options)
