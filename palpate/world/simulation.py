"""Plug-in simulations: what happens around a world, in three methods.

init(world) once; step(world, dt) before each step of the world; cleanup(world) exactly once, whatever happens after
init was called: also when step raises, when the world stops, on Ctrl-C, and when init itself raises, because what it
opened before it failed must be closed too.  So cleanup must cope with an init that did not finish.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, Protocol

from palpate.world.world import World

METHODS = {"init": ("world",), "step": ("world", "dt"), "cleanup": ("world",)}
PROGRESS = 100  # reports of a run


class Simulation(Protocol):
    """A plug-in for `run_simulation`.  For `palpate run` it may also have make_world(), which returns its World."""

    def init(self, world: World) -> None:
        """Once, before the first step: add bodies, place them, hold joints, open files."""

    def step(self, world: World, dt: float) -> None:
        """Before each step: read the world, push it (apply, tau, hold).  The world then steps by dt [s]."""

    def cleanup(self, world: World) -> None:
        """Once, at the end, however it came."""


def check_plugin(plugin: Any, name: str | None = None) -> None:
    """ValueError, in one line, if an object is no plug-in."""
    name = name or type(plugin).__name__
    if isinstance(plugin, type):
        raise ValueError(f"{plugin.__name__} is a class; a plug-in is an object of it: {plugin.__name__}()")
    missing = [m for m in METHODS if not callable(getattr(plugin, m, None))]
    if missing:
        raise ValueError(f"{name} is no plug-in simulation: it has no {' and no '.join(missing)}")
    for method, parameters in METHODS.items():
        try:
            inspect.signature(getattr(plugin, method)).bind(*parameters)
        except TypeError:
            raise ValueError(f"{name}.{method} must take ({', '.join(parameters)})") from None


def run_simulation(
    plugin: Simulation, world: World, seconds: float, on_progress: Callable[[float], None] | None = None
) -> int:
    """Run a plug-in for so many simulated seconds, headless and as fast as it goes; returns the number of steps.

    on_progress hears the part that is done, 0 .. 1, about a hundred times.  What init, step or the world raises comes
    out after cleanup; if cleanup raises as well, that is a note on it.
    """
    check_plugin(plugin)
    if not (math.isfinite(seconds) and seconds > 0.0):
        raise ValueError(f"seconds must be positive, got {seconds}")
    steps = max(1, round(seconds / world.dt))
    every = max(1, steps // PROGRESS)
    try:
        plugin.init(world)
        for k in range(1, steps + 1):
            plugin.step(world, world.dt)
            world.step()
            if on_progress is not None and (k % every == 0 or k == steps):
                on_progress(k / steps)
    except BaseException as error:
        try:
            plugin.cleanup(world)
        except Exception as second:
            error.add_note(f"cleanup failed as well: {type(second).__name__}: {second}")
        raise
    plugin.cleanup(world)
    return steps
