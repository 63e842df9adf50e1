"""Plug-in simulations from a file or from an installed package, and how `palpate run` runs them."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from palpate import registry
from palpate.registry import Registry
from palpate.scenes import SCENES
from palpate.world.simulation import METHODS, Simulation, check_plugin, run_simulation
from palpate.world.world import World

# Built-in ones; other packages add theirs by entry points of the group "palpate.simulations".
SIMULATIONS: Registry = {}


class PluginRun(NamedTuple):
    """What a run of a plug-in came to."""

    name: str
    steps: int
    simulated_s: float
    real_s: float
    contacts: int  # at the end


def is_plugin(what: str) -> bool:
    """Whether `palpate run` means a plug-in: a file, or a name that a package gives to one."""
    file, _ = _split(what)
    return file.endswith(".py") or what in registry.everything(SIMULATIONS, "simulations")


def load_plugin(what: str) -> Simulation:
    """A plug-in from "file.py", "file.py:Class" or the name of an entry point; what is wrong is one line.

    Every file is a module of its own, so that two of the same name load in one process.
    """
    file, name = _split(what)
    if file.endswith(".py"):
        made = _class(_module(Path(file)), Path(file).name, name)
    else:
        made = registry.find(SIMULATIONS, "simulations", what)
    shown = f"{Path(file).name}:{made.__name__}" if isinstance(made, type) else what
    try:
        plugin = made() if isinstance(made, type) else made
    except Exception as error:
        raise ValueError(f"{shown} cannot be made: {_where(error)}") from error
    check_plugin(plugin, shown)
    return plugin


def run_plugin(what: str, seconds: float, scene: str | None, say: Callable[[str], None]) -> PluginRun:
    """Load a plug-in and run it, in the world of a scene or the one it makes; a line for every tenth."""
    plugin = load_plugin(what)
    world = _world(plugin, what, scene)
    last, began = 0, time.perf_counter()

    def progress(part: float) -> None:
        nonlocal last
        if int(10 * part + 1e-9) > last:
            last = int(10 * part + 1e-9)
            say(f"{10 * last:3d} %  {world.time:.3f} s")

    try:
        steps = run_simulation(plugin, world, seconds, progress)
    except Exception as error:
        notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
        raise RuntimeError(f"{what} stopped after {world.time:.6g} s: {_where(error)}{notes}") from error
    return PluginRun(type(plugin).__name__, steps, world.time, time.perf_counter() - began, len(world.contacts))


def _split(what: str) -> tuple[str, str | None]:
    """File and class of "file.py:Class"."""
    head, colon, tail = what.rpartition(":")
    return (head, tail) if colon and head.endswith(".py") else (what, None)


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    file = path.resolve()
    name = f"palpate_plugin_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and the kernel cache look for it there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ValueError(f"{path.name} cannot be read: {_where(error)}") from error
    return module


def _class(module: ModuleType, file: str, name: str | None) -> type:
    own = {n: x for n, x in vars(module).items() if isinstance(x, type) and x.__module__ == module.__name__}
    if name is not None:
        if name not in own:
            raise ValueError(f"{file} has no class {name}; it has: {', '.join(own) or 'none'}")
        return own[name]
    fit = [n for n, x in own.items() if all(hasattr(x, method) for method in METHODS)]
    if len(fit) == 1:
        return own[fit[0]]
    if fit:
        raise ValueError(f"{file} has several plug-ins; say which: {', '.join(f'{file}:{n}' for n in fit)}")
    if len(own) == 1:  # let the check say what it lacks
        return next(iter(own.values()))
    raise ValueError(f"{file} has no class with the methods {', '.join(METHODS)}")


def _world(plugin: Any, what: str, scene: str | None) -> World:
    if scene is not None:
        return registry.find(SCENES, "scenes", scene)().world
    if not callable(getattr(plugin, "make_world", None)):
        raise ValueError(f"{what} has no make_world(): give it the world of a scene, --scene NAME")
    try:
        world = plugin.make_world()
    except Exception as error:
        raise ValueError(f"make_world() of {what} failed: {_where(error)}") from error
    if not isinstance(world, World):
        raise ValueError(f"make_world() of {what} must return a World, got {type(world).__name__}")
    return world


def _where(error: Exception) -> str:
    """An error in one line, with the last place of the plug-in's own code that it came from."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, SyntaxError):
        return text
    ours = Path(__file__).parents[1]
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.endswith(".py")
              and ours not in Path(f.filename).parents and "importlib" not in f.filename]  # fmt: skip
    theirs = [f for f in frames if "site-packages" not in f.filename]
    return f"{text} ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else text
