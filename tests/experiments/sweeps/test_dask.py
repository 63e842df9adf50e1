"""Sweeps on a cluster: a real scheduler and two worker processes on loopback, one of which is killed in the middle."""

import os
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from swept_plans import plan_of
from waiting import FINDS_US, until

from palpate import cli
from palpate.experiments.studies.sweeps.executors import opener
from palpate.experiments.studies.sweeps.front import run_plan
from palpate.experiments.studies.sweeps.results import FILE, read, table

distributed = pytest.importorskip("distributed")


@pytest.fixture
def cluster(tmp_path):
    """(address, worker processes)"""
    with ExitStack() as stack:

        def start(what: str, *arguments: str) -> subprocess.Popen:
            log = stack.enter_context(open(tmp_path / "cluster.txt", "ab"))
            process = subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments],
                                       stdout=log, stderr=log, cwd=tmp_path, env=os.environ | FINDS_US)  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        file = tmp_path / "scheduler.json"
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file), "--no-dashboard")
        until(lambda: file.exists() and file.read_text().endswith("}"), lambda: (tmp_path / "cluster.txt").read_text())
        workers = [
            start("worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--no-dashboard",
                  "--local-directory", str(tmp_path))
            for _ in range(2)
        ]  # fmt: skip
        with distributed.Client(scheduler_file=str(file), set_as_default=False) as client:
            until(lambda: len(client.nthreads()) == 2, lambda: (tmp_path / "cluster.txt").read_text())
            address = client.scheduler.address
        yield address, workers


def test_a_worker_that_is_killed_in_the_middle_loses_nothing(cluster, tmp_path):
    address, workers = cluster
    gate, out = tmp_path / "gate", tmp_path / "out"
    plan = plan_of("gated", grid={"x": list(range(30))}, fixed={"gate": str(gate)})
    found = []
    sweep = threading.Thread(target=lambda: found.append(run_plan(plan, out, f"dask:{address}")))
    sweep.start()
    until(lambda: len(list(tmp_path.glob("gate.*"))) == 2)  # both workers are at it
    assert len(list(read(out / FILE))) == 1
    workers[0].kill()
    gate.touch()
    sweep.join()
    assert found[0].status == Counter(done=30)
    assert table(plan, out / FILE)["result"].tolist() == list(range(30))


def test_a_cluster_finds_what_this_machine_finds(cluster, tmp_path):
    plan = plan_of("noisy", grid={"x": [1.0, 2.0, 3.0]}, repeats=20, seed=1)
    for name, on in (("here", "here"), ("there", f"dask:{cluster[0]}")):
        run_plan(plan, tmp_path / name, on)
    here, there = (table(plan, tmp_path / name / FILE) for name in ("here", "there"))
    assert len(here["z"]) == 60
    assert here["z"].tolist() == there["z"].tolist()
    assert here["key"].tolist() == there["key"].tolist()


@pytest.mark.slow  # the same of processes is not
def test_a_local_cluster_reports_who_fails_hangs_and_dies(tmp_path):
    plan = plan_of("troubled", grid={"x": [2, 3, 4, 5, 6, 7, 8]}, timeout_s=5.0)
    run_plan(plan, tmp_path, "dask:local")
    found = {o.task.parameters["x"]: o.status for o in read(tmp_path / FILE)}
    assert found == {2: "done", 3: "failed", 4: "done", 5: "hung", 6: "done", 7: "died", 8: "done"}


def test_a_scheduler_that_is_not_there_is_one_line(monkeypatch):
    monkeypatch.setattr("palpate.experiments.studies.sweeps.dask_executor.PATIENCE_S", 0.5)
    with pytest.raises(ValueError, match=r"no scheduler answers at 127\.0\.0\.1:1: "):
        opener("dask:127.0.0.1:1")()


def test_without_distributed_one_line_names_the_extra(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(f'function = "{Path(__file__).parent}/swept.py:alone"\n[grid]\nx = [1]\n')
    assert cli.main(["sweep", "s.toml", "--on", "dask:local"]) == 2
    assert capsys.readouterr().err == "palpate: dask needs distributed: pip install 'palpate[dask]'\n"
