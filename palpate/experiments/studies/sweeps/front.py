"""A sweep from beginning to end: `palpate sweep FILE.toml`, and `pp.sweep` for Python."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from palpate.experiments.studies.sweeps import results
from palpate.experiments.studies.sweeps.executors import opener
from palpate.experiments.studies.sweeps.kept import Recordings, Tally
from palpate.experiments.studies.sweeps.plan import OVER, Plan, make_plan
from palpate.experiments.studies.sweeps.processes import WORKER
from palpate.experiments.studies.sweeps.progress import Progress
from palpate.experiments.studies.sweeps.results import FILE, Results
from palpate.experiments.studies.sweeps.running import Runner, job_for
from palpate.experiments.studies.sweeps.task import DONE, GIVEN, Outcome, find_function

RECORDINGS, NOTES = "recordings", ".notes-"
On = str | Executor | Callable[[], Executor]


def run_plan(
    plan: Plan, out: Path, on: On = "processes", progress: Progress | None = None, retry: bool = False
) -> Tally:
    """Run what has not been run of a plan, into a folder; `retry`: also what failed, hung or died.

    However it ends, everything so far is in the folder, and another call goes on from there.
    """
    check(plan)
    open_executor = _opener(on)
    with Results(out) as file:
        mine = numbers_by_key(plan)
        if retry:
            file.drop(lambda outcome: outcome.status != DONE and bytes.fromhex(outcome.task.key) in mine)
        tally = Tally(plan)
        tally.total = len(mine)
        recordings = Recordings(plan, out / RECORDINGS, tally)
        for outcome in results.read(file.path):
            try:
                del mine[bytes.fromhex(outcome.task.key)]
            except (KeyError, ValueError):
                continue  # of another plan
            tally.add(outcome)
            recordings.add(outcome)
        recordings.tidy()
        if progress is not None:
            progress.start(tally)
        if mine:
            _run(plan, array("q", sorted(mine.values())), file, open_executor, tally, recordings, progress)
    return tally


def numbers_by_key(plan: Plan) -> dict[bytes, int]:
    """Every task once; keys as bytes, for there may be a million."""
    found: dict[bytes, int] = {}
    for task in plan.tasks():
        found.setdefault(bytes.fromhex(task.key), task.number)
    return found


def _run(
    plan: Plan, left: Sequence[int], file: Results, open_executor: Callable[[], Executor], tally: Tally,
    recordings: Recordings, progress: Progress | None,
) -> None:  # fmt: skip
    def take(outcomes: list[Outcome]) -> None:
        file.append(outcomes)
        for outcome in outcomes:
            tally.add(outcome)
            recordings.add(outcome)
            if progress is not None:
                progress.heard(outcome)

    def beat() -> None:
        if progress is not None:
            progress.beat(tally)

    for stale in file.path.parent.glob(f"{NOTES}*"):  # of a runner that was killed
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=NOTES, dir=file.path.parent) as notes:
        kept = recordings.folder.absolute() if plan.keep.anything else None
        job = job_for(
            located(plan), (str(plan.folder), *filter(None, sys.path)), plan.timeout_s, Path(notes).absolute(), kept
        )
        runner = Runner(job, open_executor, take, beat)
        runner.run(map(plan.task, left), len(left), warm=tally.count > 0)


def located(plan: Plan) -> str:
    """The plan's function, a file with its whole path."""
    file, _, name = plan.function.rpartition(":")
    return f"{(plan.folder / file).absolute()}:{name}" if file.endswith(".py") else plan.function


def check(plan: Plan) -> None:
    """That the function is there and takes what the plan has for it."""
    if str(plan.folder) not in sys.path:  # a module beside the file
        sys.path.append(str(plan.folder))
    function, name = find_function(located(plan)), plan.function.removeprefix("experiment ")
    for parameter in plan.parameters:
        if function.takes is not None and parameter not in function.takes:
            takes = f"it takes {', '.join(sorted(function.takes))}" if function.takes else "it takes none"
            raise ValueError(f"{name} has no parameter {parameter!r}; {takes}")
    if missing := sorted(function.needs - set(plan.parameters)):
        raise ValueError(f"{name} needs {', '.join(missing)}: in grid, list, random, latin or fixed")
    if plan.repeats > 1 and not function.seed:
        raise ValueError(f"{name} takes no seed: {plan.repeats} repeats would be the same")


def _opener(on: On) -> Callable[[], Executor]:
    if isinstance(on, str):
        return opener(on)
    if isinstance(on, Executor):
        return _Borrowed(on)
    return on


class _Borrowed:
    """An executor that somebody else made: it can be opened once."""

    def __init__(self, executor: Executor) -> None:
        self.executor: Executor | None = executor

    def __call__(self) -> Executor:
        if self.executor is None:
            raise RuntimeError("the executor is broken; give sweep a function that makes one, and it goes on by itself")
        executor, self.executor = self.executor, None
        return executor


# ---- Python


def sweep(
    function: Callable[..., Any] | str,
    over: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    on: On = "processes",
    fixed: Mapping[str, Any] | None = None,
    repeats: int = 1,
    seed: int = 0,
    seeds: Sequence[int] | None = None,
    timeout_s: float = 3600.0,
    out: str | Path | None = None,
    version: str = "",
) -> Any:
    """Call a function for every combination of parameters, on every core; the table of what it returned.

    function   of parameters and, if it takes one, a `seed`; returns a number, or a dictionary of numbers with names.
               Processes import it, so it lives in a file (a script's own code below `if __name__ == "__main__":`);
               "module:function", "file.py:function" and "experiment NAME" do as well.
    over       {name: values}, every combination; or rows, a dictionary each; or as in a file of `palpate sweep`:
               {"grid": ..., "list": ..., "random": ..., "latin": ...}
    on         "processes" (one for each core; "processes:4"), "here", "dask:ADDRESS", "dask:local", the name of an
               entry point "palpate.executors"; or an Executor, or a function that makes one. It is shut down at the end
    repeats    of each point, with seeds derived from `seed`; or `seeds`, the same ones for each point
    timeout_s  a task that takes longer is ended, and reported as hung
    out        folder that keeps everything: the next call with it repeats nothing

    Returns columns (n,) by name, in the order of the points: parameters, task, repeat, seed, status ("done", "failed",
    "hung", "died"), took_s, what was returned (NaN where there is nothing), error, key. A DataFrame, if pandas is
    installed.
    """
    if os.environ.get(WORKER):
        raise RuntimeError('a worker came to sweep() itself: put the call below `if __name__ == "__main__":`')
    document: dict[str, Any] = {"fixed": dict(fixed or {}), "timeout_s": timeout_s, "version": version}
    document |= {"seeds": list(seeds)} if seeds is not None else {"repeats": repeats, "seed": seed}
    document |= _sections(over)
    spec = function if isinstance(function, str) else spec_of(function, on)
    named = {"experiment": spec.partition(" ")[2]} if spec.startswith("experiment ") else {"function": spec}
    plan = make_plan(document | named, "sweep", Path())
    with tempfile.TemporaryDirectory(prefix="palpate-sweep-") if out is None else nullcontext(out) as folder:
        run_plan(plan, Path(folder), on)
        columns = results.table(plan, Path(folder) / FILE)
    try:
        import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        return columns
    return pandas.DataFrame(columns)


def _sections(over: Any) -> dict[str, Any]:
    """What `over` means, as a file has it."""
    if not isinstance(over, Mapping):
        return {"list": list(over)}
    if over and all(name in OVER and isinstance(over[name], list if name == "list" else Mapping) for name in over):
        return dict(over)
    return {"grid": {name: list(v) if isinstance(v, range) else v for name, v in over.items()}}


def spec_of(function: Callable[..., Any], on: On) -> str:
    """Where workers find a function; a ValueError if they cannot."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    file = getattr(sys.modules.get("__main__"), "__file__", None) if module == "__main__" else None
    if name.isidentifier() and module and (module != "__main__" or file):
        spec = f"{Path(file).absolute()}:{name}" if file else f"{module}:{name}"
    elif on == "here":
        spec = f"{module}:{name if name.isidentifier() else 'function'}"
    else:
        raise ValueError(f"{name or function!r} cannot be imported by other processes: "
                         "define it at the top of a file, or sweep on='here'")  # fmt: skip
    GIVEN[spec] = function
    return spec
