"""Whatever becomes of a task or of a worker: it is reported, the rest goes on, and nothing is lost or done twice."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from swept_plans import SWEPT, plan_of
from waiting import FINDS_US, until

from palpate.experiments.studies.sweeps import running
from palpate.experiments.studies.sweeps.executors import Here
from palpate.experiments.studies.sweeps.front import run_plan
from palpate.experiments.studies.sweeps.processes import Processes, WorkerDied
from palpate.experiments.studies.sweeps.results import FILE, PARQUET, read, table
from palpate.experiments.studies.sweeps.running import Runner, job_for
from palpate.experiments.studies.sweeps.task import DONE


def told(folder: Path) -> list[tuple]:
    """All outcomes but for how long they took, in the order of the tasks."""
    return sorted((o.task.number, o.task.key, o.status, tuple(o.metrics.items()), o.error) for o in read(folder / FILE))


def pool_of(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, get_context("spawn"))


def test_a_task_that_fails_hangs_or_dies_is_reported_and_the_rest_goes_on(tmp_path):
    plan = plan_of("troubled", grid={"x": list(range(12))}, timeout_s=5.0)
    tally = run_plan(plan, tmp_path, "processes:2")
    found = {o.task.parameters["x"]: o for o in read(tmp_path / FILE)}
    assert {x: o.status for x, o in found.items() if o.status != DONE} == {3: "failed", 5: "hung", 7: "died"}
    assert re.fullmatch(r"ValueError: three is not allowed \(swept\.py, line \d+\)", found[3].error)
    assert re.fullmatch(r"took longer than 5 s, in swept\.py, line \d+", found[5].error)
    assert found[7].error == "WorkerDied: its process was ended by SIGABRT"
    assert all(o.metrics == {"result": float(x)} for x, o in found.items() if o.status == DONE)
    assert tally.status == Counter({"done": 9, "failed": 1, "hung": 1, "died": 1})
    assert tally.failures == 3
    assert [path.name for path in tmp_path.iterdir()] == [FILE]  # no notes are left


def test_a_worker_that_somebody_killed_costs_nothing(tmp_path):
    plan = plan_of("fragile", grid={"x": list(range(9))}, fixed={"folder_of_lives": str(tmp_path)})
    assert run_plan(plan, tmp_path / "out", "processes:2").status == Counter(done=9)


def test_an_executor_that_breaks_as_a_whole_is_opened_anew(tmp_path):
    opened = []

    def pool():
        opened.append(pool_of(2))
        return opened[-1]

    plan = plan_of("troubled", grid={"x": [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]})
    tally = run_plan(plan, tmp_path, pool)
    assert tally.status == Counter(done=8, failed=1, died=1)
    assert len(opened) > 1


def test_a_broken_executor_that_cannot_be_opened_anew_is_one_line_and_what_was_done_is_kept(tmp_path):
    plan = plan_of("troubled", grid={"x": [0, 7, 8]})
    with pytest.raises(RuntimeError, match="give sweep a function that makes one"):
        run_plan(plan, tmp_path, pool_of(1))
    assert [o.task.parameters["x"] for o in read(tmp_path / FILE)][:1] == [0]


@pytest.mark.parametrize("x", range(4))
def test_what_is_no_number_is_a_failure_that_says_so(x, tmp_path):
    tally = run_plan(plan_of("strange", grid={"x": [x]}), tmp_path, "here")
    assert tally.status == Counter(failed=1)
    (outcome,) = read(tmp_path / FILE)
    assert ("name of a parameter" if x == 3 else "must return a number") in outcome.error


def test_infinite_numbers_and_those_of_numpy_are_kept(tmp_path):
    plan = plan_of("infinite", grid={"x": [1.0, -1.0]})
    run_plan(plan, tmp_path, "here")
    found = table(plan, tmp_path / FILE)
    assert found["up"].tolist() == [np.inf, -np.inf]
    assert np.isnan(found["nothing"]).all()
    assert found["yes"].tolist() == [1.0, 1.0]


def test_every_executor_finds_the_same(tmp_path):
    plan = plan_of("noisy", grid={"x": [1.0, 2.0, 3.0], "y": ["a", "bb"]}, repeats=3, seed=4)
    places = {"here": "here", "one": "processes:1", "three": "processes:3", "pool": lambda: pool_of(2)}
    for name, on in places.items():
        run_plan(plan, tmp_path / name, on)
    assert len({tuple(told(tmp_path / name)) for name in places}) == 1


# ---- stopped and started again

TASKS = 400


def sweep_file(folder: Path, log: Path) -> Path:
    file = folder / "killed.toml"
    file.write_text(f'function = "{SWEPT}:logged"\nseed = 2\n[fixed]\nlog = "{log}"\n'
                    f"[grid]\nx = {{ from = 0, to = {TASKS - 1}, count = {TASKS} }}\n")  # fmt: skip
    return file


def start(file: Path, out: Path) -> subprocess.Popen:
    """In the folder of the file, where its log is, too."""
    return subprocess.Popen([sys.executable, "-m", "palpate", "sweep", file, "--out", out, "--on", "processes:2"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            cwd=file.parent, env=os.environ | FINDS_US)  # fmt: skip


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Results of a run from beginning to end; the log has the same name in all of them, for it is a parameter."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    run = start(sweep_file(folder, Path("calls.txt")), folder / "out")
    assert run.wait() == 0, run.stdout.read()
    return folder / "out"


FIRST, *OTHERS = np.random.default_rng(20).integers(1, TASKS - 80, 4).tolist()


@pytest.mark.parametrize("moment", [FIRST, *(pytest.param(moment, marks=pytest.mark.slow) for moment in OTHERS)])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_was_stopped_and_started_again_finds_the_same_and_repeats_nothing(
    how, moment, uninterrupted, tmp_path, heeded_signals
):
    file, log, out = sweep_file(tmp_path, Path("calls.txt")), tmp_path / "calls.txt", tmp_path / "out"
    first = start(file, out)
    until(lambda: lines(out / FILE) >= moment or first.poll() is not None)
    first.send_signal(how)
    said = first.communicate()[0]
    if how == signal.SIGINT and first.returncode != 0:  # else it was done already
        assert first.returncode == 130
        assert "stopped; what was done is in" in said
    known = {o.task.parameters["x"] for o in read(out / FILE)}
    assert len(known) >= moment
    before = Counter(map(float, log.read_text().split()))
    second = start(file, out)
    assert second.wait() == 0, second.stdout.read()
    again = Counter(map(float, log.read_text().split())) - before
    assert told(out) == told(uninterrupted)
    assert {path.name for path in out.iterdir()} == {FILE, PARQUET}  # no notes of the one that was killed
    # workers of a runner that was killed finish what they are at: their calls may come later
    assert all(again[x] == 0 for x in known if before[x])
    third = start(file, out)
    assert f"{TASKS} of {TASKS} tasks are done already" in third.communicate()[0]
    assert sum(Counter(map(float, log.read_text().split())).values()) == sum((before + again).values())


def test_what_failed_is_done_again_only_if_asked_for(tmp_path):
    mend = tmp_path / "mend.py"
    mend.write_text("def f(x):\n    return 1 / (x - 2)\n")
    file = tmp_path / "s.toml"
    file.write_text('function = "mend.py:f"\n[grid]\nx = [1, 2, 3]\n')

    def sweep(*more: str) -> tuple[int, list[str]]:
        done = subprocess.run([sys.executable, "-m", "palpate", "sweep", "s.toml", *more], cwd=tmp_path,
                              capture_output=True, text=True, env=os.environ | FINDS_US)  # fmt: skip
        rows = [json.loads(line) for line in (tmp_path / "out/s/results.jsonl").read_text().splitlines()]
        return done.returncode, [row["status"] for row in sorted(rows, key=lambda row: row["task"])]

    assert sweep() == (1, ["done", "failed", "done"])
    assert sweep()[0] == 1
    mend.write_text("def f(x):\n    return x\n")
    assert sweep("--retry") == (0, ["done", "done", "done"])


# ---- the runner and the processes by themselves


class Counting(Here):
    """Keeps work for later; knows how much is waiting at most, and how far the tasks have been asked for."""

    workers = 3

    def __init__(self):
        self.waiting, self.most, self.sizes = [], 0, []

    def submit(self, fn, /, *args):
        future = Future()
        self.waiting.append((future, fn, args))
        self.most = max(self.most, len(self.waiting))
        self.sizes.append(len(args[1]))
        return future

    def work(self):
        future, fn, args = self.waiting.pop(0)
        future.set_result(fn(*args))


def test_no_more_is_out_than_workers_need_and_tasks_are_made_as_they_go(tmp_path, monkeypatch):
    executor, asked, outcomes = Counting(), [], []
    plan = plan_of("alone", grid={"x": list(range(5000))})
    ahead = []

    def take(chunk):
        outcomes.extend(chunk)
        ahead.append(len(asked) - len(outcomes))

    def tasks():
        for number in range(plan.count):
            asked.append(number)
            yield plan.task(number)

    wait = running.wait

    def working(futures, **how):
        executor.work()
        return wait(futures, **how)

    monkeypatch.setattr(running, "wait", working)
    job = job_for(plan.function, (), 60.0, tmp_path, None)
    Runner(job, lambda: executor, take, lambda: None).run(tasks(), plan.count, warm=False)
    assert sorted(o.task.number for o in outcomes) == list(range(5000))
    assert executor.most <= running.WAITING * executor.workers
    assert max(executor.sizes) <= running.LONGEST_CHUNK
    assert max(ahead) <= executor.most * max(executor.sizes)
    assert executor.sizes[0] == 1  # compiles for all others


def test_processes_give_results_and_exceptions_and_outlive_a_death():
    with Processes(2) as executor:
        assert [f.result() for f in [executor.submit(pow, 2, n) for n in range(20)]] == [2**n for n in range(20)]
        with pytest.raises(ZeroDivisionError):
            executor.submit(divmod, 1, 0).result()
        with pytest.raises(WorkerDied, match="ended with code 3"):
            executor.submit(os._exit, 3).result()
        with pytest.raises(WorkerDied, match="ended by SIGKILL"):
            executor.submit(signal.raise_signal, signal.SIGKILL).result()
        assert executor.submit(pow, 3, 3).result() == 27
    with pytest.raises(RuntimeError, match="shut down"):
        executor.submit(pow, 1, 1)


class Unkind(Exception):
    """Cannot be taken apart and put together again."""

    def __init__(self, first, second):
        super().__init__(first)


def unkind():
    raise Unkind(1, 2)


def stubborn():
    return lambda: None


def test_what_cannot_travel_is_an_exception_and_no_end(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))  # this file, too
    with Processes(1) as executor:
        for function in (unkind, stubborn):
            with pytest.raises(Exception, match=r"argument|pickle"):
                executor.submit(function).result()
        assert executor.submit(pow, 2, 2).result() == 4


def test_processes_end_with_whoever_started_them(tmp_path):
    code = (
        "import os, time\nfrom palpate.experiments.studies.sweeps.processes import Processes\n"
        "pools = [Processes(1), Processes(1)]\npids = [pool.submit(os.getpid).result() for pool in pools]\n"
        "pools[1].submit(time.sleep, 1e6)\nprint(*pids, flush=True)\ntime.sleep(1e6)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                              env=os.environ | FINDS_US)  # fmt: skip
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    parent.kill()
    parent.wait()
    until(lambda: not any(running_still(pid) for pid in pids))


def running_still(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
