"""`palpate sweep FILE.toml`, with a console to show things on."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console

from palpate.experiments.studies.sweeps import results
from palpate.experiments.studies.sweeps.front import RECORDINGS, run_plan
from palpate.experiments.studies.sweeps.plan import Plan, read_plan
from palpate.experiments.studies.sweeps.progress import Progress, Say, duration, summary
from palpate.experiments.studies.sweeps.results import FILE, PARQUET
from palpate.experiments.studies.sweeps.task import DIED, DONE, FAILED, HUNG


def run(file: Path, out: Path | None, on: str, retry: bool, console: Console, say: Say) -> int:
    """Run what is left of a sweep; the exit code: 1 if a task failed, hung or died."""
    plan = read_plan(file)
    out = out or Path("out") / plan.name
    began = time.monotonic()
    varied = tuple(plan.varied)
    progress = Progress(console, say, varied)
    try:
        with progress:
            tally = run_plan(plan, out, on, progress, retry)
    except KeyboardInterrupt:
        say(f"stopped; what was done is in {out}, and the same command goes on with the rest")
        raise
    console.print(summary(tally, varied))
    words = [f"{tally.status[status]} {status}" for status in (DONE, FAILED, HUNG, DIED) if tally.status[status]]
    say(f"{tally.total} tasks, {tally.count - progress.before} of them now, in {duration(time.monotonic() - began)}: "
        f"{', '.join(words)}")  # fmt: skip
    written = results.write_parquet(results.table(plan, out / FILE), out / PARQUET)
    kept = ", recordings" if (out / RECORDINGS).is_dir() and any((out / RECORDINGS).iterdir()) else ""
    say(f"{FILE}{f', {PARQUET}' if written else ''}{kept} in {out}; --report draws them")
    if not written:
        say("Parquet needs pyarrow: pip install 'palpate[parquet]'")
    return 0 if tally.failures == 0 else 1


def report(file: Path, out: Path | None, say: Say) -> int:
    """Draw what a sweep has found so far: one figure for each metric."""
    from palpate.experiments.studies.sweeps.figures import draw

    plan = read_plan(file)
    out = out or Path("out") / plan.name
    table = _found(plan, out, file)
    for name in draw(plan, table, out):
        say(f"{out / name}")
    return 0


def _found(plan: Plan, out: Path, file: Path) -> dict[str, np.ndarray]:
    table = results.table(plan, out / FILE)
    if not (table["status"] == DONE).any():
        raise ValueError(f"nothing of it has been run into {out} yet: palpate sweep {file}")
    return table
