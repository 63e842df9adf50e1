"""`pp.sweep` and `palpate sweep`: tables, recordings that are kept, what is said, figures."""

import io
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import swept
from rich.console import Console
from swept_plans import SWEPT, plan_of
from waiting import FINDS_US

import palpate as pp
from palpate import cli
from palpate.experiments.studies.sweeps.executors import EXECUTORS, Here
from palpate.experiments.studies.sweeps.figures import draw, draw_metric
from palpate.experiments.studies.sweeps.front import RECORDINGS, run_plan
from palpate.experiments.studies.sweeps.plan import make_plan
from palpate.experiments.studies.sweeps.progress import TOLD, Progress, duration
from palpate.experiments.studies.sweeps.results import FILE, PARQUET, read, table
from palpate.experiments.studies.sweeps.views import is_logarithmic, label, view

# ---- from Python


def test_a_table_has_a_row_for_every_point_in_order():
    found = pp.sweep(swept.noisy, over={"x": [1.0, 2.0], "y": ["a", "bb"]}, repeats=2, seed=3, on="here")
    assert list(found["x"]) == [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    assert list(found["y"]) == ["a", "a", "bb", "bb"] * 2
    assert list(found["status"]) == ["done"] * 8
    for x, y, seed, z in zip(found["x"], found["y"], found["seed"], found["z"], strict=True):
        assert z == swept.noisy(x, y, int(seed))["z"]


def test_processes_import_the_function_and_find_the_same():
    here, there = (pp.sweep(swept.noisy, over={"x": np.linspace(0.0, 1.0, 5)}, on=on) for on in ("here", "processes:2"))
    assert list(here["z"]) == list(there["z"])


def test_over_takes_rows_samples_and_ranges():
    rows = pp.sweep(swept.noisy, over=[{"x": 1.0, "y": "a"}, {"x": 5.0, "y": "b"}], on="here")
    assert list(rows["x"]) == [1.0, 5.0]
    latin = pp.sweep(swept.alone, over={"latin": {"samples": 10, "x": [0, 10]}, "grid": {}}, on="here")
    assert sorted(np.floor(latin["x"])) == list(range(10))
    assert list(pp.sweep(lambda x: x, over={"x": range(3)}, on="here")["result"]) == [0.0, 1.0, 2.0]
    assert list(pp.sweep(f"{SWEPT}:alone", over={"x": [1]}, on="here")["result"]) == [-1.0]


def test_a_function_that_nobody_can_import_is_refused():
    with pytest.raises(ValueError, match="cannot be imported by other processes"):
        pp.sweep(lambda x: x, over={"x": [1]})


def test_a_folder_keeps_everything_for_the_next_call(tmp_path):
    calls = []

    def count(x):
        calls.append(x)
        return x

    for values in ([1, 2], [1, 2, 3], [1, 2, 3]):
        found = pp.sweep(count, over={"x": values}, on="here", out=tmp_path)
        assert list(found["result"]) == values
    assert calls == [1, 2, 3]


def test_pandas_gives_a_data_frame(monkeypatch):
    class Frame(dict):
        pass

    fake = type(sys)("pandas")
    fake.DataFrame = Frame
    monkeypatch.setitem(sys.modules, "pandas", fake)
    assert type(pp.sweep(swept.alone, over={"x": [1]}, on="here")) is Frame


SCRIPT = """
import palpate as pp

def square(x):
    return x * x

GUARD
    print(pp.sweep(square, over={"x": [1, 2, 3]}, on="processes:1")["RESULT"].tolist())
"""


@pytest.mark.parametrize(
    ("guard", "column", "said"),
    [
        ('if __name__ == "__main__":', "result", "[1.0, 4.0, 9.0]"),
        ("if True:", "error", "a worker came to sweep() itself"),
    ],
)
def test_a_function_of_a_script_is_swept_if_its_own_code_is_guarded(guard, column, said, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT.replace("GUARD", guard).replace("RESULT", column))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True,
                          env=os.environ | FINDS_US)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


def test_another_package_brings_an_executor(monkeypatch):
    made = []

    def slurm(argument):
        made.append(argument)
        return Here()

    monkeypatch.setattr(sys.modules[__name__], "slurm", slurm, raising=False)
    monkeypatch.setitem(EXECUTORS, "slurm", (f"{__name__}:slurm", "a toy"))
    assert list(pp.sweep(swept.alone, over={"x": [1]}, on="slurm:partition=long")["result"]) == [-1.0]
    assert made == ["partition=long"]


def test_an_experiment_is_swept_over_its_options():
    found = pp.sweep("experiment z-width", over={"rate_hz": [500.0]}, fixed={"seconds": 1.0}, on="here")
    assert list(found["status"]) == ["done"]
    assert found["passed"][0] in (0.0, 1.0)
    assert math.isfinite(found["energy bounding, largest motion"][0])


def test_of_an_experiment_all_is_kept_that_it_leaves(tmp_path):
    document = {"experiment": "z-width", "grid": {"rate_hz": [500.0]}, "fixed": {"seconds": 1.0}, "keep": {"every": 1}}
    plan = make_plan(document, "z", Path())
    run_plan(plan, tmp_path, "here")
    folder = tmp_path / RECORDINGS / plan.task(0).key
    assert {"report.json", "z-width.png"} <= {path.name for path in folder.iterdir()}


# ---- recordings


def kept(folder: Path) -> set[int]:
    return {int((path / "note.txt").read_text()) for path in (folder / RECORDINGS).iterdir()}


@pytest.mark.parametrize("on", ["here", "processes:2"])
def test_recordings_of_the_worst_the_failures_and_every_nth_are_kept(on, tmp_path):
    plan = plan_of("recorded", grid={"x": list(range(40))}, worst={"score": "largest"},
                   keep={"worst": 3, "failures": True, "every": 16})  # fmt: skip
    run_plan(plan, tmp_path, on)
    scores = {x: (x * 37) % 101 for x in range(40) if x % 10 != 7}
    worst = sorted(scores, key=scores.get)[-3:]
    assert kept(tmp_path) == {*worst, 7, 17, 27, 37, 0, 16, 32}


def test_the_smallest_may_be_the_worst_and_a_start_tidies_up(tmp_path):
    plan = plan_of("recorded", grid={"x": list(range(30))}, worst={"score": "smallest"}, keep={"worst": 2})
    run_plan(plan, tmp_path, "here")
    scores = {x: (x * 37) % 101 for x in range(30) if x % 10 != 7}
    assert kept(tmp_path) == set(sorted(scores, key=scores.get)[:2])
    (tmp_path / RECORDINGS / "half").mkdir()
    (tmp_path / RECORDINGS / "half" / "note.txt").write_text("99")
    run_plan(plan, tmp_path, "here")
    assert 99 not in kept(tmp_path)
    assert len(kept(tmp_path)) == 2


def test_without_a_wish_nothing_is_kept(tmp_path):
    run_plan(plan_of("recorded", grid={"x": [1, 2]}), tmp_path, "here")
    assert not (tmp_path / RECORDINGS).exists()


# ---- what is said


def test_the_command_says_how_it_went_and_writes_everything(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(f'function = "{SWEPT}:troubled"\n[grid]\nx = [1, 2, 3, 4]\n')
    assert cli.main(["sweep", "s.toml", "--on", "here"]) == 1
    said = capsys.readouterr().out
    assert "failed: x=3, seed " in said
    assert "ValueError: three is not allowed" in said
    assert "4 tasks, 4 of them now, in " in said
    assert "3 done, 1 failed" in said
    assert {path.name for path in Path("out/s").iterdir()} == {FILE, PARQUET}
    assert cli.main(["sweep", "s.toml", "--on", "here"]) == 1
    assert "4 of 4 tasks are done already" in capsys.readouterr().out
    assert cli.main(["sweep", "s.toml", "--report"]) == 0
    assert "result.png" in capsys.readouterr().out


def test_failures_are_named_as_they_come_but_not_all_of_them(tmp_path):
    said = []
    plan = plan_of("troubled", list=[{"x": 3}], repeats=2 * TOLD)
    run_plan(plan, tmp_path, "here", Progress(Console(file=io.StringIO()), said.append, ("x",)))
    assert sum(line.startswith("failed: x=3") for line in said) == TOLD
    assert sum("results.jsonl has them all" in line for line in said) == 1
    assert said[-1].startswith(f"100 %  {2 * TOLD} of {2 * TOLD}, {2 * TOLD} failed, ")


def test_a_terminal_shows_a_table_of_means_and_the_worst(tmp_path):
    console = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
    plan = plan_of("noisy", grid={"x": [1.0, 2.0]}, worst={"twice": "smallest"})
    with Progress(console, lambda line: None, ("x",)) as progress:
        tally = run_plan(plan, tmp_path, "here", progress)
        progress.drawn = -math.inf
        progress.beat(tally)
    shown = console.export_text()
    assert "100 %  2 of 2" in shown
    assert "mean" in shown
    assert "x=1" in shown


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "0 s"), (89, "89 s"), (600, "10 min"), (36000, "10.0 h")])
def test_times_are_short_words(seconds, words):
    assert duration(seconds) == words


# ---- figures

KINDS = {
    "lines": {"grid": {"x": [1.0, 2.0, 5.0], "y": ["a", "bb", "ccc"]}, "repeats": 4},
    "heat": {"grid": {"x": [1.0, 10.0, 100.0], "n": [1, 2], "y": ["a", "b"]}},
    "scatter": {"latin": {"samples": 60, "x": {"low": 0.1, "high": 100, "log": True}, "n": [0, 1]}},
    "distribution": {"grid": {"y": ["a", "bb", "ccc", "d", "e"]}, "fixed": {"x": 1.0}, "repeats": 20},
}


def cube(x, n=0.0, y="", seed=0):
    return {"value": x**3 + n + len(y) + np.random.default_rng(seed).normal(), "half": x / 2, "odd/name [N]": n + x}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_sweep_has_its_kind_of_figure(kind, tmp_path):
    pp.sweep(cube, **_given(KINDS[kind]), on="here", out=tmp_path)
    plan = _plan(KINDS[kind])
    assert view(plan).kind == kind
    found = table(plan, tmp_path / FILE)
    names = draw(plan, found, tmp_path)
    assert len(names) == (1 if kind == "distribution" else 3)
    for name in names:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (tmp_path / name).with_suffix(".svg").read_bytes()
    figure = draw_metric(plan, found, "value")
    drawn = [axes for axes in figure.axes if axes.get_visible()]
    assert any(axes.has_data() for axes in drawn)
    if kind == "heat":
        mesh = drawn[0].collections[0].get_array()
        chosen = found["y"] == "a"
        assert sorted(np.ravel(mesh)) == sorted(found["value"][chosen])
    if kind == "lines":
        mean = [found["value"][(found["x"] == x) & (found["y"] == "a")].mean() for x in (1.0, 2.0, 5.0)]
        assert drawn[0].lines[0].get_ydata() == pytest.approx(mean)


def test_a_report_draws_what_it_is_asked_for(tmp_path):
    document = KINDS["heat"] | {"report": {"metrics": ["value"], "kind": "lines", "x": "n", "by": "x"}}
    plan = _plan(document)
    pp.sweep(cube, **_given(KINDS["heat"]), on="here", out=tmp_path)
    found = table(plan, tmp_path / FILE)
    assert draw(plan, found, tmp_path) == ["value.png"]
    assert draw_metric(plan, found, "value").axes[0].get_xlabel() == "n"
    with pytest.raises(ValueError, match="no metric is called 'other'; there are: value, half"):
        draw(_plan(document | {"report": {"metrics": ["other"]}}), found, tmp_path)


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [([1, 10, 100], True), ([5, 10, 20, 40], True), ([1, 2, 3, 4], False), ([0, 1, 100], False), ([1, 500], False),
     (np.random.default_rng(1).uniform(0.0, 1.0, 100).tolist(), False),
     (np.exp(np.random.default_rng(1).uniform(0.0, 5.0, 100)).tolist(), True), (["a", "b", "c"], False)],
)  # fmt: skip
def test_an_axis_is_logarithmic_if_its_values_are_spread_so(values, logarithmic):
    assert is_logarithmic(values) == logarithmic


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("stiffness_N_m", "", "stiffness [N/m]"), ("gain_1_s", "", "gain [1/s]"), ("off_percent", "", "off [%]"),
     ("speed_m_s", "0.3", "speed 0.3 m/s"), ("law", "zoh", "law zoh"), ("mode", "", "mode")],
)  # fmt: skip
def test_names_that_end_in_a_unit_are_written_with_it(name, value, words):
    assert label(name, value) == words


def _given(document):
    over = {name: document[name] for name in ("grid", "latin") if name in document}
    return {"over": over, **{name: document[name] for name in ("fixed", "repeats") if name in document}}


def _plan(document):
    return make_plan({"function": f"{__name__}:cube"} | document, "cube", Path())


def test_every_outcome_is_on_the_disk_when_the_call_returns(tmp_path):
    plan = plan_of("alone", grid={"x": list(range(50))})
    run_plan(plan, tmp_path, "processes:2")
    assert sorted(o.task.number for o in read(tmp_path / FILE)) == list(range(50))
