"""Hands that lead the planar handle or body in simulated time: messages as a page sends them."""

import numpy as np

from palpate.planar.simulation import PlanarSimulation
from palpate.servo.run import Run


def message(simulation: PlanarSimulation, body: int, target, angle: float | None = None, **more) -> np.ndarray:
    """A hand that holds a row of `pose`."""
    more = {"stiffness_N_m": simulation.hello()["hand"]["stiffness_N_m"]} | more
    if angle is not None:
        turned = (np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle))
        more = {"orientation": turned, "stiffness_Nm_rad": 0.3} | more
    return simulation.hand_layout.pack(body=body, target=(*target, 0.0), **more)


def led(simulation: PlanarSimulation, body: int, to, seconds: float = 0.6, rest: float = 0.6, free: float = 0.0,
        turn: float | None = None, **more) -> Run:  # fmt: skip
    """It goes straight to a place, stays there, and lets go."""
    begin = np.array(simulation.hello()["start"][body][:2])
    share = np.minimum(1.0, np.arange(round((seconds + rest) * simulation.rate_hz)) / (seconds * simulation.rate_hz))
    rows = [message(simulation, body, begin + s * (np.array(to) - begin), None if turn is None else s * turn, **more)
            for s in share]  # fmt: skip
    rows += [simulation.hand_layout.pack()] * round(free * simulation.rate_hz)
    run = Run(simulation)
    run.ticks(len(rows), np.array(rows))
    return run


def handle(simulation: PlanarSimulation) -> int:
    """Its row of `pose`."""
    return simulation.first_other - 1


def set_to(simulation: PlanarSimulation, setting: str, value: float) -> None:
    """As a page sends it."""
    simulation.events.write(simulation.event_layout.pack(kind=simulation.kind_of(setting), value=value))
