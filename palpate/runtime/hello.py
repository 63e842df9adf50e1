"""What every simulation tells of itself."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from palpate.frame import COUNTERS, LATENESS_EDGES_US
from palpate.servo.simulation import Simulation


def hello_of(simulation: Simulation, mode: str = "live") -> dict[str, Any]:
    """The hello message: see page/server.py for who reads it."""
    return {
        "palpate": version("palpate"), "mode": mode, "scene": simulation.name, "title": simulation.title,
        "rate_hz": simulation.rate_hz, "sizes": dict(simulation.layout.sizes), "frame": simulation.layout.describe(),
        "counters": list(COUNTERS), "lateness_edges_us": list(LATENESS_EDGES_US), **simulation.hello(),
    }  # fmt: skip
