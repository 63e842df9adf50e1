"""`palpate bench batch`: many worlds at once, beside `mujoco.rollout`.

HRP-2 as in `palpate bench contact`, COPIES times, each with velocities of its own: standing, and pushed at the chest
with forces of its own, on 32 points (which we reduce to corners) and on 8 in every engine.  Every round runs all
engines with one thread and with two, in turn, all from the same beginning.  `step_us` is the wall time of a step of a
copy, the median over the rounds; `core_us` the time of the processor for it, all threads together.  Where cores are
shared, two threads do not get two of them: `cores` is how many they got, and the gain is stated as it was and, from
`core_us`, as it would be if they had got two.
A ratio is that of processor times, since wall times say who got the cores; MuJoCo's fastest setting counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from palpate.bench import dynamics
from palpate.bench.batch_engines import Copies, OurCopies, mujoco_class
from palpate.bench.contact_scenes import SAME_HEIGHT, BenchScene, shortened, standing

COPIES = 64
QUICK = 0.02  # part of all steps in a quick run
CALLS = 50  # steps called one by one
# What we hold ourselves to.
TIMES_MUJOCO, TIMES_MUJOCO_AT_CORNERS, GAIN = 4.0, 3.0, 1.9  # corners: as in `palpate bench contact`


@dataclass(frozen=True)
class Run:
    """One engine with so many threads, in one phase."""

    engine: str
    setting: str
    threads: int
    step_us: float
    core_us: float
    cores: float
    height_m: float  # mean over the copies, after the phase


@dataclass(frozen=True)
class Row:
    """One phase of one scene, ours first."""

    scene: str
    points: int
    phase: str
    runs: tuple[Run, ...]

    def ours(self, threads: int) -> Run:
        return next(run for run in self.runs if run.engine == self.runs[0].engine and run.threads == threads)

    def times_faster(self, run: Run) -> float:
        """How many times less of a core we need than `run` with as many threads."""
        return run.core_us / self.ours(run.threads).core_us

    def ratio(self, threads: int = 1) -> float | None:
        """The same for MuJoCo's fastest setting; None without it."""
        return min(
            (self.times_faster(r) for r in self.runs if r.engine == "MuJoCo" and r.threads == threads), default=None
        )

    @property
    def gain(self) -> float:
        """From one thread to two, as it was."""
        return self.ours(1).step_us / self.ours(2).step_us

    @property
    def gain_given_two(self) -> float:
        """The same from processor times: what two threads cost more than one is all that is lost."""
        return 2.0 * self.ours(1).core_us / self.ours(2).core_us

    @property
    def same_height(self) -> bool:
        heights = [run.height_m for run in self.runs]
        return max(heights) - min(heights) <= SAME_HEIGHT

    def json(self) -> dict[str, Any]:
        return asdict(self) | {
            "runs": [asdict(run) | {"times_faster": self.times_faster(run)} for run in self.runs],
            "mujoco_ratio": self.ratio(), "gain": self.gain, "gain_given_two": self.gain_given_two,
            "same_height": self.same_height,
        }  # fmt: skip


def scenes() -> list[BenchScene]:
    """HRP-2 on a rough floor, with all points and with corners."""
    return [next(standing("hrp2", corners)) for corners in (False, True)]


def timed(call: Callable[[], None]) -> tuple[float, float]:
    """Wall and processor time of a call [s]."""
    wall, core = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - core


def measure(scene: BenchScene, engines: list[Copies], rounds: int, copies: int) -> list[Row]:
    """Every phase of a scene."""
    rows = []
    for phase in scene.phases:
        kinds = [(engine, threads) for engine in engines for threads in (1, 2)]
        times: list[list[tuple[float, float]]] = [[] for _ in kinds]
        heights = [0.0] * len(kinds)
        for k in range(rounds + 1):
            for at, (engine, threads) in enumerate(kinds):
                engine.prepare(threads, phase)
                took = timed(engine.rollout)
                heights[at] = float(engine.heights().mean())
                if k:  # the first is for caches and pools
                    times[at].append(took)
        runs = []
        for (engine, threads), took_all, height in zip(kinds, times, heights, strict=True):
            wall, core = np.median(took_all, axis=0) * 1e6 / (copies * phase.steps)
            given = float(np.median([c / w for w, c in took_all]))
            runs.append(Run(engine.name, engine.setting, threads, float(wall), float(core), given, height))
        rows.append(Row(scene.name, scene.points, phase.name, tuple(runs)))
    return rows


def called_us(ours: OurCopies, scene: BenchScene, copies: int) -> float:
    """Processor time of a step of a copy where every step is a call from Python, one thread [us]."""
    ours.prepare(1, scene.phases[0])
    ours.step()

    def calls() -> None:
        for _ in range(CALLS):
            ours.step()

    return timed(calls)[1] * 1e6 / (CALLS * copies)


def goals(rows: list[Row]) -> dict[str, bool]:
    """What we hold ourselves to, with what was measured -> whether it is met."""
    met = {}
    for row in rows:
        name = f"{row.scene} {row.phase}, {row.points} points"
        ratio, least = row.ratio(), TIMES_MUJOCO_AT_CORNERS if row.points == 8 else TIMES_MUJOCO
        if ratio is not None:
            met[f"{name}, mujoco.rollout on one core: {ratio:.2f} times, goal {least:g}"] = ratio >= least
        got = row.ours(2).cores
        met[f"{name}, from one thread to two: {row.gain:.2f} times on {got:.2f} cores "
            f"({row.gain_given_two:.2f} by processor time), goal {GAIN:g}"] = row.gain >= GAIN  # fmt: skip
    return met


def run(
    rounds: int = 5, quick: bool = False, progress: Callable[[str], None] = lambda name: None, copies: int = COPIES
) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench batch --json` writes.

    quick   a fiftieth of all steps: shows that everything runs, and no more
    """
    before, load = dynamics.machine(("numpy", "numba", "mujoco")), _load()
    rows, calls = [], {}
    for scene in scenes():
        progress(scene.title)
        scene = shortened(scene, QUICK) if quick else scene
        ours = OurCopies(scene, copies)
        engines: list[Copies] = [ours]
        if peer := mujoco_class():
            engines += [peer(scene, copies, setting) for setting in scene.peer_solvers]
        rows += measure(scene, engines, rounds, copies)
        calls[scene.title] = called_us(ours, scene, copies)
        for engine in engines:
            engine.close()
    met = {} if quick else goals(rows)
    return {
        "bench": "batch",
        "machine": before,
        "load": {"before": load, "after": _load()},
        "rounds": rounds,
        "quick": quick,
        "copies": copies,
        "rows": [row.json() for row in rows],
        "called_us": calls,
        "missing": [] if mujoco_class() else ["mujoco (MuJoCo)"],
        "met": [goal for goal, is_met in met.items() if is_met],
        "shortfalls": [goal for goal, is_met in met.items() if not is_met],
    }


def _load() -> tuple[float, ...]:
    return os.getloadavg() if hasattr(os, "getloadavg") else (0.0, 0.0, 0.0)
