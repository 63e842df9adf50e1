"""`palpate bench contact`: the whole step of a simulation with contacts, beside MuJoCo, PyBullet, Rapier and Drake.

For each scene (contact_scenes.py): every engine builds it and comes to rest; their heights are compared; then each
phase is run from that rest by all engines in turn, round by round.  Every round repeats the same motion, so the time
of a step is its median over the rounds, and p50, p99, max and mean are over the steps: a tail is the engine's, not
the machine's.  Times are of one step called from Python; `loop_us` is the mean inside the engine's own loop.
Residuals are ours, relative to the largest impulse of a step, the largest of the phase, from a round that is not
timed; the peers have none that would compare.  So that a soft engine is seen as soft, poses are measured alike for all:
the height at rest against the exact one where there is one, the deepest penetration in that round, and how far what
rests has moved after another second.
Engines sleep in the phase "asleep" alone, and then all that have it (PyBullet and Drake are not measured there): our
step of what sleeps does no work, and is compared with theirs of what sleeps by their thresholds; "stacked" is the same
heap, solved in every step.
A ratio is that of the medians or that of the means, whichever is worse for us, and an engine's fastest setting counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from palpate.bench import dynamics
from palpate.bench.contact_depth import Solids
from palpate.bench.contact_engines import OURS, PEERS, Engine, Ours, missing, settled
from palpate.bench.contact_scenes import DT, NO_FORCE, BenchScene, Phase, scenes, shortened

QUICK = 0.02  # part of all steps in a quick run
LONG = 10_000  # steps of the long run: 10 s
RESTING = 1000  # steps in which what rests should not move: 1 s
LOOK = 10  # steps from one measurement of depth to the next
CALLS, BLOCKS = 50, 40  # calls from Python against the compiled loop: steps in a block, blocks of each kind

# What we hold ourselves to.
TIMES_MUJOCO, TIMES_MUJOCO_AT_CORNERS, TIMES_BULLET = 4.5, 3.0, 40.0  # robots
# What is piled up, as it lands, lies awake and lies asleep, beside MuJoCo; all but the stack beside Rapier, too.
TIMES_MUJOCO_PILED = {"stack": 1.5, "200 boxes": 2.5, "200 balls": 2.5, "1000 boxes": 5.0}
TIMES_RAPIER = 1.2
MANY_TO_FEW = 2.5  # cost at 104 points to that at 8
LONG_SECONDS = {"hrp2": 0.4, "human": 1.0}  # all points
# What AMELIF took for 10 s with every point solved, on a notebook of 2008, table, box and grasp included; corners alone
# are to be real time.
PUBLISHED_S, REAL_TIME_S = {"hrp2": 92.0, "human": 300.0}, 10.0
CALL_US = 3.0  # what world.step() adds to the compiled loop


@dataclass(frozen=True)
class Timing:
    """Of one step, over a phase [us]."""

    p50_us: float
    p99_us: float
    max_us: float
    mean_us: float

    @staticmethod
    def of(rounds: list[np.ndarray]) -> Timing:
        steps = np.median(rounds, axis=0)
        p50, p99, largest = np.percentile(steps, (50, 99, 100))
        return Timing(float(p50), float(p99), float(largest), float(steps.mean()))


@dataclass(frozen=True)
class Run:
    """One engine in one phase."""

    engine: str
    setting: str
    height_m: float  # at rest, before the phase
    contacts: int  # the most in a step
    residual: float | None  # the largest, relative
    timing: Timing
    loop_us: float | None  # mean of a step in the engine's own loop; None: it has none, or a force changes in the phase
    depth_m: float  # deepest penetration in the phase, seen every LOOK steps
    error_m: float | None  # height at rest beyond the exact one; None: nobody knows that
    drift_m: tuple[float, float] | None  # in `resting_s` of rest: root mean square, and furthest; None: nothing rests


@dataclass(frozen=True)
class Row:
    """One phase of one scene in all engines, ours first."""

    scene: str
    points: int
    phase: str
    runs: tuple[Run, ...]
    tolerance_m: float

    @property
    def apart_m(self) -> float:
        """How far the heights lie apart."""
        heights = [run.height_m for run in self.runs]
        return max(heights) - min(heights)

    @property
    def same_height(self) -> bool:
        return bool(self.apart_m <= self.tolerance_m)

    def times_faster(self, run: Run) -> float:
        """How many times faster than `run` we are."""
        ours = self.runs[0].timing
        return min(run.timing.p50_us / ours.p50_us, run.timing.mean_us / ours.mean_us)

    def ratio(self, engine: str) -> float | None:
        """The same for the fastest setting of an engine; None without it."""
        return min((self.times_faster(run) for run in self.runs if run.engine == engine), default=None)

    def json(self) -> dict[str, Any]:
        return asdict(self) | {
            "runs": [asdict(run) | {"times_faster": self.times_faster(run)} for run in self.runs],
            "apart_m": self.apart_m,
            "same_height": self.same_height,
            "mujoco_ratio": self.ratio("MuJoCo"),
            "bullet_ratio": self.ratio("PyBullet"),
            "rapier_ratio": self.ratio("Rapier"),
            "drake_ratio": self.ratio("Drake"),
        }


# ---- measuring


def forces(phase: Phase) -> list[Any]:
    """The force before each step; None: nothing changes."""
    return [
        phase.force if i < phase.pushed else NO_FORCE if i == phase.pushed and i else None for i in range(phase.steps)
    ]


def timed(engine: Engine, phase: Phase) -> np.ndarray:
    """Run a phase; the time of each step [us] (steps,)."""
    times, step, clock = np.empty(phase.steps), engine.step, time.perf_counter_ns
    for i, force in enumerate(forces(phase)):
        if force is not None:
            engine.push(phase.body, force)
        began = clock()
        step()
        times[i] = clock() - began
    return 1e-3 * times


def observed(engine: Engine, phase: Phase, solids: Solids) -> tuple[int, float | None, float]:
    """Run a phase; the most contacts, the largest residual and the deepest penetration [m]."""
    contacts, residual, depth = 0, 0.0, 0.0
    for i, force in enumerate(forces(phase), 1):
        if force is not None:
            engine.push(phase.body, force)
        engine.step()
        contacts, residual = max(contacts, engine.contacts()), max(residual, engine.residual() or 0.0)
        if i % LOOK == 0 or i == phase.steps:
            depth = max(depth, solids.deepest(engine.poses(solids.bodies)))
    return contacts, None if engine.residual() is None else residual, depth


def height(engine: Engine, bodies: Sequence[str]) -> float:
    """Mean z of the origins of bodies [m]."""
    return float(engine.poses(bodies)[:, 2, 3].mean())


def drift(engine: Engine, bodies: Sequence[str], steps: int) -> tuple[float, float]:
    """How far bodies move in so many steps without a push [m]: root mean square, and the furthest.  It stays there."""
    before = engine.poses(bodies)[:, :3, 3]
    engine.advance(steps)
    moved = np.linalg.norm(engine.poses(bodies)[:, :3, 3] - before, axis=1)
    return float(np.sqrt(np.mean(moved**2))), float(moved.max())


def looped(engine: Engine, phase: Phase) -> float:
    """Run a phase in the engine's own loop; the mean time of a step [us], NaN if that cannot be."""
    if not engine.loops or phase.pushed:
        return np.nan
    began = time.perf_counter_ns()
    engine.advance(phase.steps)
    return 1e-3 * (time.perf_counter_ns() - began) / phase.steps


def measure(scene: BenchScene, engines: list[Engine], rounds: int, resting: int = RESTING) -> list[Row]:
    """Every phase of a scene in engines at rest; `resting`: steps of that rest in which drift is measured."""
    solids = Solids.of(scene)
    rests = [engine.save() for engine in engines]
    heights = [height(engine, scene.watched) for engine in engines]
    drifts = [drift(engine, scene.watched, resting) if scene.settling else None for engine in engines]
    rows = []
    for phase in scene.phases:

        def from_rest(what: Callable[[Engine, Phase], Any], phase: Phase = phase) -> list[Any]:
            results = []
            for engine, rest in zip(engines, rests, strict=True):
                if phase.body:
                    engine.push(phase.body, NO_FORCE)
                engine.restore(rest)
                results.append(what(engine, phase))
            return results

        seen = from_rest(lambda engine, phase: observed(engine, phase, solids))
        times, loops = [], []
        for _ in range(rounds):
            times.append(from_rest(timed))
            loops.append(from_rest(looped))
        runs = []
        for k, (engine, z, moved, (contacts, residual, depth)) in enumerate(
            zip(engines, heights, drifts, seen, strict=True)
        ):
            timing, loop = Timing.of([of_round[k] for of_round in times]), float(np.median([x[k] for x in loops]))
            loop_us = None if np.isnan(loop) else loop
            error = None if scene.exact is None else z - scene.exact
            runs.append(Run(engine.name, engine.setting, z, contacts, residual, timing, loop_us, depth, error, moved))
        rows.append(Row(scene.name, scene.points, phase.name, tuple(runs), scene.tolerance))
    for engine, rest in zip(engines, rests, strict=True):
        engine.restore(rest)
    return rows


def call_overhead_us(engine: Engine, blocks: int = BLOCKS) -> float:
    """What a step called from Python costs beyond one in the engine's own loop: medians over short blocks."""
    rest, step = engine.save(), engine.step
    times: dict[bool, list[int]] = {True: [], False: []}
    for _ in range(blocks):
        for from_python, samples in times.items():
            engine.restore(rest)
            began = time.perf_counter_ns()
            if from_python:
                for _ in range(CALLS):
                    step()
            else:
                engine.advance(CALLS)
            samples.append(time.perf_counter_ns() - began)
    engine.restore(rest)
    return 1e-3 * float(np.median(times[True]) - np.median(times[False])) / CALLS


def long_run_s(engine: Engine, steps: int) -> float:
    """Seconds that `steps` steps take in the engine's own loop; the better of two."""
    rest, best = engine.save(), np.inf
    for _ in range(2):
        engine.restore(rest)
        began = time.perf_counter()
        engine.advance(steps)
        best = min(best, time.perf_counter() - began)
    engine.restore(rest)
    return float(best)


# ---- goals


def goals(rows: list[Row], long: dict[str, dict[str, float]], overhead_us: float | None) -> dict[str, bool]:
    """What we hold ourselves to, with what was measured -> whether it is met."""
    met: dict[str, bool] = {}

    def at_least(what: str, value: float | None, goal: float) -> None:
        if value is not None:
            met[f"{what}: {value:.2f} times, goal {goal:g}"] = value >= goal

    def at_most(what: str, value: float, goal: float, unit: str) -> None:
        met[f"{what}: {value:.3g}{unit}, goal {goal:g}"] = value <= goal

    ours: dict[tuple[str, int, str], float] = {}
    for row in rows:
        name = f"{row.scene} {row.phase}" + (f", {row.points} points" if row.points else "")
        ours[row.scene, row.points, row.phase] = row.runs[0].timing.mean_us
        if row.scene in LONG_SECONDS:
            if row.phase != "sliding":
                least = TIMES_MUJOCO_AT_CORNERS if row.points == 8 else TIMES_MUJOCO
                at_least(f"{name}, MuJoCo", row.ratio("MuJoCo"), least)
            at_least(f"{name}, PyBullet", row.ratio("PyBullet"), TIMES_BULLET)
        elif row.scene in TIMES_MUJOCO_PILED:
            at_least(f"{name}, MuJoCo", row.ratio("MuJoCo"), TIMES_MUJOCO_PILED[row.scene])
            if row.scene.startswith("200 "):
                at_least(f"{name}, Rapier", row.ratio("Rapier"), TIMES_RAPIER)
    for phase in ("standing", "pushed"):
        many, few = ours.get(("human", 104, phase)), ours.get(("human", 8, phase))
        if many and few:
            at_most(f"human {phase}, 104 points to 8", many / few, MANY_TO_FEW, " times")
    for title, seconds in long.items():
        robot, _, points = title.partition(", ")
        if robot in LONG_SECONDS and not points.startswith("8 "):
            at_most(f"10 s of {title}", seconds[OURS], LONG_SECONDS[robot], " s")
        name, _, every_point = robot.partition(" ")
        if name in PUBLISHED_S:
            at_most(f"10 s of {title}, {'as published' if every_point else 'real time'}", seconds[OURS],
                    PUBLISHED_S[name] if every_point else REAL_TIME_S, " s")  # fmt: skip
    if overhead_us is not None:
        at_most("a call of step() beyond the loop", overhead_us, CALL_US, " us")
    return met


def run(
    rounds: int = 5,
    quick: bool = False,
    progress: Callable[[str], None] = lambda name: None,
    ours: Callable[[BenchScene], Any] = Ours,
    wanted: Callable[[BenchScene], bool] = lambda scene: True,
) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench contact --json` writes.

    quick   a fiftieth of all steps: shows that everything runs, and no more
    wanted  which scenes
    """
    before, rows = dynamics.machine(("numpy", "numba", *PEERS)), []
    long: dict[str, dict[str, float]] = {}
    overhead_us: float | None = None
    part = QUICK if quick else 1.0
    for scene in filter(wanted, scenes()):
        progress(f"{scene.title}, {scene.phases[0].name}")
        scene = shortened(scene, part)
        engines = settled(scene, ours)
        rows += measure(scene, engines, rounds, round(part * RESTING))
        if scene.phases[0].name == "standing":
            if overhead_us is None:
                overhead_us = call_overhead_us(engines[0], 2 if quick else BLOCKS)
            seconds = [(engine.name, long_run_s(engine, round(part * LONG))) for engine in engines if engine.loops]
            long[scene.title] = {name: min(s for n, s in seconds if n == name) for name, _ in seconds}
        for engine in engines:
            engine.close()
    met = {} if quick else goals(rows, long, overhead_us)
    return {
        "bench": "contact",
        "machine": before,
        "rounds": rounds,
        "quick": quick,
        "rows": [row.json() for row in rows],
        "long_steps": round(part * LONG),
        "resting_s": round(part * RESTING) * DT,
        "ten_seconds_s": long,
        "call_overhead_us": overhead_us,
        "missing": missing(),
        "met": [goal for goal, is_met in met.items() if is_met],
        "shortfalls": [goal for goal, is_met in met.items() if not is_met],
    }
