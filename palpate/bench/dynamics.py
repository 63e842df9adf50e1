"""`palpate bench dynamics`: forward and inverse dynamics beside Pinocchio, in one run.

For each robot, over the same random states, interleaved round by round:
  loop    our algorithm inside a compiled loop, per call
  call    our public function called from Python
  peer    Pinocchio's function called from Python (its joints axis-aligned where they are, its outputs reused)
and how far the results lie apart.  Times are medians over the rounds; on a shared machine only the ratios mean much.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import numpy as np

import palpate as pp
from palpate.bench.loops import forward_loop, inverse_loop
from palpate.dynamics.workspace import address_of

STATES = 32
SECONDS_PER_ROUND = 0.01
# what we hold ourselves to: the 32-joint humanoids in the compiled loop, and no humanoid's call from Python slower
LOOP_GOALS = {"forward": 3.0, "inverse": 2.0}
LOOP_ROBOTS, CALL_ROBOTS = ("talos", "hrp2"), ("talos", "hrp2", "human")


@dataclass(frozen=True)
class Row:
    """One robot and one algorithm; times in us per call, agreement relative to the largest value."""

    robot: str
    nv: int
    algorithm: str
    loop_us: float
    call_us: float
    peer_us: float | None
    agreement: float | None

    @property
    def loop_ratio(self) -> float | None:
        return None if self.peer_us is None else self.peer_us / self.loop_us

    @property
    def call_ratio(self) -> float | None:
        return None if self.peer_us is None else self.peer_us / self.call_us


def robots() -> tuple[dict[str, pp.Model], list[str]]:
    """Models to measure, and what is missing."""
    models, missing = {}, []
    wanted = {"ur5": ("ur5_robot.urdf", False), "talos": ("talos_reduced.urdf", True)}
    try:
        files = [Path(str(f.locate())) for f in distribution("example-robot-data").files or () if f.suffix == ".urdf"]
        for name, (file, free_base) in wanted.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is odd about these files is in the loader's tests
                models[name] = pp.compile(pp.load(next(f for f in files if f.name == file), free_base=free_base))
    except (PackageNotFoundError, StopIteration):
        missing.append("example-robot-data (ur5, talos)")
    return models | {"hrp2": pp.compile(pp.models.hrp2()), "human": pp.compile(pp.models.human())}, missing


def peer_of(model: pp.Model) -> Any:
    try:
        from palpate.bench.peers.pinocchio import Mirror
    except ImportError:
        return None
    return Mirror(model)


def interleaved(tasks: dict[str, Callable[[], int]], rounds: int) -> dict[str, float]:
    """Median seconds per call of each task; a task makes some calls and returns how many."""
    samples: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for _ in range(rounds):
        for name, task in tasks.items():
            calls, began = 0, time.perf_counter()
            while (elapsed := time.perf_counter() - began) < SECONDS_PER_ROUND:
                calls += task()
            samples[name].append(elapsed / calls)
    return {name: statistics.median(times) for name, times in samples.items()}


def measure(name: str, model: pp.Model, rounds: int) -> list[Row]:
    rng, mirror, h, none = np.random.default_rng(0), peer_of(model), address_of(model), np.zeros((0, 6))
    q = np.array([pp.integrate(model, model.neutral(), x, 1.0) for x in rng.normal(size=(STATES, model.nv))])
    v, x = rng.normal(size=(2, STATES, model.nv))
    states = list(zip(q, v, x, strict=True))  # cut into rows beforehand, as the peer's are
    rows = []
    for algorithm, loop, ours in (
        ("forward", forward_loop, pp.forward_dynamics),
        ("inverse", inverse_loop, pp.inverse_dynamics),
    ):
        out = np.empty((STATES, model.nv))

        def compiled(loop: Any = loop, out: Any = out) -> int:
            loop(h, q, v, x, none, out, 4)
            return 4 * STATES

        def called(ours: Any = ours) -> int:
            for state in states:
                ours(model, *state)
            return STATES

        tasks: dict[str, Callable[[], int]] = {"loop": compiled, "call": called}
        agreement = None
        if mirror is not None:
            tasks["peer"] = mirror.timed(algorithm, q, v, x)
        times = interleaved(tasks, rounds)
        if mirror is not None:
            theirs = np.array([getattr(mirror, algorithm)(q[s], v[s], x[s]) for s in range(STATES)])
            agreement = float(np.abs(out - theirs).max() / np.abs(theirs).max())
        peer = times["peer"] * 1e6 if mirror is not None else None
        rows.append(Row(name, model.nv, algorithm, times["loop"] * 1e6, times["call"] * 1e6, peer, agreement))
    return rows


def shortfalls(rows: list[Row]) -> list[str]:
    """What misses its goal, one line each."""
    lines = []
    for row in rows:
        name, goal = f"{row.robot} {row.algorithm}", LOOP_GOALS[row.algorithm]
        if row.loop_ratio is not None and row.robot in LOOP_ROBOTS and row.loop_ratio < goal:
            lines.append(f"{name}: {row.loop_ratio:.2f} times faster in the loop, goal {goal:.0f}")
        if row.call_ratio is not None and row.robot in CALL_ROBOTS and row.call_ratio < 1.0:
            lines.append(f"{name}: a call from Python is slower, ratio {row.call_ratio:.2f}")
    return lines


def installed(package: str) -> str | None:
    """The version of an installed package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def machine(names: tuple[str, ...] = ("numpy", "numba", "pin", "example-robot-data")) -> dict[str, Any]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    packages = {name: installed(name) for name in names}
    return {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count(),
            "load_1_min": load, "packages": packages}  # fmt: skip


def run(rounds: int = 15, progress: Callable[[str], None] = lambda name: None) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench dynamics --json` writes."""
    models, missing = robots()
    if peer_of(models["hrp2"]) is None:
        missing.append("pin (Pinocchio, the peer)")
    before, rows = machine(), []
    for name, model in models.items():
        progress(name)
        rows += measure(name, model, rounds)
    return {
        "bench": "dynamics",
        "machine": before,
        "states": STATES,
        "rounds": rounds,
        "rows": [asdict(row) | {"loop_ratio": row.loop_ratio, "call_ratio": row.call_ratio} for row in rows],
        "missing": missing,
        "shortfalls": shortfalls(rows),
    }
