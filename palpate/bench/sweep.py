"""`palpate bench sweep`: what a sweep costs beside its tasks.

overhead  tasks that last 10 ms by the clock, one process for each of two cores: the time from the first outcome to the
          last, beside half of the sum of what the tasks themselves took (on a busy machine more than 10 ms each); also
          for concurrent.futures.ProcessPoolExecutor, a task at a time
memory    of the runner after a tenth of the tasks and at the end
resume    a sweep of so many keys of which all but one are done: from the start of the command to that of its last task
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from palpate.bench import dynamics, sweep_tasks
from palpate.bench.sweep_tasks import TASK_S, spin
from palpate.experiments.studies.sweeps.front import run_plan
from palpate.experiments.studies.sweeps.plan import Plan, make_plan
from palpate.experiments.studies.sweeps.progress import Progress
from palpate.experiments.studies.sweeps.results import Results
from palpate.experiments.studies.sweeps.task import DONE, Outcome

WORKERS, KEYS = 2, 100_000
OVERHEAD, START_S, GROWTH_MB = 0.15, 3.0, 10.0  # what we hold ourselves to


class Watch(Progress):
    """In place of a table: when the first and the last outcome came, and the memory."""

    def __init__(self) -> None:
        self.first_s = self.last_s = self.tasks_s = 0.0
        self.count, self.memory_MB = 0, [0.0, 0.0]

    def start(self, tally: Any) -> None:
        self.total = tally.total

    def heard(self, outcome: Outcome) -> None:
        self.last_s = time.perf_counter()
        if self.count:
            self.tasks_s += outcome.metrics["result"]
        self.first_s = self.first_s or self.last_s
        self.count += 1
        if self.count in (self.total // 10, self.total):
            self.memory_MB[self.count == self.total] = resident_MB()

    def beat(self, tally: Any) -> None:
        pass


def resident_MB() -> float:
    """Memory of this process; 0 where /proc does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def plan_of(function: str, count: int, **fixed: Any) -> Plan:
    over = {"x": {"from": 0, "to": count - 1, "count": count}}
    return make_plan({"function": f"{sweep_tasks.__name__}:{function}", "grid": over, "fixed": fixed}, "bench", Path())


def swept(count: int) -> dict[str, Any]:
    """So many tasks by `pp.sweep`'s own processes."""
    watch, began = Watch(), time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="palpate-bench-") as folder:
        run_plan(plan_of("spin", count), Path(folder), f"processes:{WORKERS}", watch)
    first, last = watch.memory_MB
    return _row("palpate sweep", count, watch.last_s - watch.first_s, watch.tasks_s, watch.first_s - began) | {
        "memory_MB": last,
        "grown_MB": last - first,
    }


def _row(name: str, count: int, seconds: float, tasks_s: float, start_s: float) -> dict[str, Any]:
    overhead = seconds / (tasks_s / WORKERS) - 1.0
    return {"name": name, "tasks": count, "seconds": seconds, "mean_ms": 1e3 * tasks_s / (count - 1),
            "overhead": overhead, "start_s": start_s, "memory_MB": None, "grown_MB": None}  # fmt: skip


def pooled(count: int) -> dict[str, Any]:
    """The same tasks, each by itself, by the standard library: nothing is written."""
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        began = time.perf_counter()
        pool.submit(spin, 0.0).result()
        first = time.perf_counter()
        tasks_s = sum(future.result() for future in [pool.submit(spin, float(x)) for x in range(1, count)])
        seconds = time.perf_counter() - first
    return _row("ProcessPoolExecutor", count, seconds, tasks_s, first - began)


def resumed_s(count: int) -> float:
    """From the command to the only task that is left."""
    with tempfile.TemporaryDirectory(prefix="palpate-bench-") as folder:
        file, out, told = Path(folder) / "resume.toml", Path(folder) / "out", Path(folder) / "began"
        plan = plan_of("stamp", count, file=str(told))  # of its tasks the only one that is left tells the time
        over = f"[grid]\nx = {{ from = 0, to = {count - 1}, count = {count} }}\n"
        file.write_text(
            f'function = "{sweep_tasks.__name__}:stamp"\n[fixed]\nfile = "{told}"\n{over}', encoding="utf-8"
        )
        with Results(out) as results:
            results.append(Outcome(task, DONE, {"result": 0.0}, "", TASK_S) for task in plan.tasks()
                           if task.number != count - 1)  # fmt: skip
        began = time.time()
        subprocess.run([sys.executable, "-m", "palpate", "sweep", file, "--out", out], check=True, capture_output=True)
        return float(told.read_text(encoding="utf-8")) - began


def run(
    seconds: float = 10.0, quick: bool = False, progress: Callable[[str], None] = lambda name: None
) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench sweep --json` writes.

    seconds  how long the tasks would take without any overhead: 500 are the 1e5 tasks of the goal [s]
    quick    a moment, to see that everything runs
    """
    before, load = dynamics.machine(("numpy",)), os.getloadavg() if hasattr(os, "getloadavg") else (0.0, 0.0, 0.0)
    count = max(20, round((0.2 if quick else seconds) * WORKERS / TASK_S))
    progress(f"{count} tasks of {1e3 * TASK_S:g} ms")
    rows = [swept(count)]
    progress("the same tasks without a sweep")
    rows.append(pooled(min(count, 4000)))
    progress(f"a resumed sweep of {KEYS} keys")
    resume = resumed_s(KEYS)
    overhead, grown = rows[0]["overhead"], rows[0]["grown_MB"]
    met = {} if quick else {
        f"{count} tasks: {100.0 * overhead:.1f} % overhead, goal {100.0 * OVERHEAD:g} %": overhead < OVERHEAD,
        f"memory of the runner grew by {grown:.1f} MB, goal {GROWTH_MB:g} MB": grown < GROWTH_MB,
        f"a resumed sweep of {KEYS} keys starts after {resume:.2f} s, goal {START_S:g} s": resume < START_S,
    }  # fmt: skip
    return {
        "bench": "sweep", "machine": before,
        "load": {"before": load, "after": os.getloadavg() if hasattr(os, "getloadavg") else (0.0, 0.0, 0.0)},
        "quick": quick, "workers": WORKERS, "task_s": TASK_S, "rows": rows, "keys": KEYS, "resume_s": resume,
        "met": [goal for goal, is_met in met.items() if is_met],
        "shortfalls": [goal for goal, is_met in met.items() if not is_met],
    }  # fmt: skip
