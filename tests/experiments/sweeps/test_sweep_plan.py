"""Files of sweeps: what they mean, and one clear line for each mistake."""

from pathlib import Path

import pytest

from palpate import cli
from palpate.experiments.studies.sweeps.front import check
from palpate.experiments.studies.sweeps.plan import make_plan, read_plan

SWEPT = Path(__file__).parent / "swept.py"
GOOD = f'function = "{SWEPT}:noisy"\n'
GRID = "[grid]\nx = [1, 2]\n"

MISTAKES = [
    ("x = = 1", "is no TOML"),
    ("", "either experiment"),
    (GOOD + 'experiment = "z-width"\n' + GRID, "either experiment"),
    ('function = "noisy"\n' + GRID, '"module:function" or "file.py:function"'),
    ("function = 3\n" + GRID, "function must be a text"),
    (GOOD, "nothing varies"),
    (GOOD + "repeat = 3\n" + GRID, "did you mean 'repeats'?"),
    (GOOD + "repeats = 0\n" + GRID, "repeats must be a whole number from 1 on, got 0"),
    (GOOD + "repeats = true\n" + GRID, "repeats must be a whole number"),
    (GOOD + "seeds = [1, 1]\n" + GRID, "different whole numbers"),
    (GOOD + "seeds = []\n" + GRID, "different whole numbers"),
    (GOOD + "seeds = [1, 2]\nrepeats = 3\n" + GRID, "either seeds, or seed and repeats"),
    (GOOD + "timeout_s = -1\n" + GRID, "timeout_s must be a time"),
    (GOOD + "timeout_s = nan\n" + GRID, "timeout_s must be a time"),
    (GOOD + "grid = 3", "grid must be a table"),
    (GOOD + "[grid]\nx = []", "x must be a list of values"),
    (GOOD + '[grid]\nx = "abc"', "x must be a list of values"),
    (GOOD + "[grid]\nx = 3", "x must be a list of values"),
    (GOOD + "[grid]\nx = [[1]]", "numbers, words, true or false"),
    (GOOD + "[grid]\nx = [nan]", "numbers, words, true or false"),
    (GOOD + "[grid]\nx = { from = 1, to = 2 }", "or {from, to, count}"),
    (GOOD + "[grid]\nx = { from = 0, to = 2, count = 3, log = true }", "from and to must be positive"),
    (GOOD + "[grid]\nx = { from = 1, to = inf, count = 3 }", "finite numbers"),
    (GOOD + "[grid]\nx = { from = 1, to = 2, count = 0 }", "count must be a whole number"),
    (GOOD + "[grid]\nx = [1]\n[fixed]\nx = 2", "'x' is there twice"),
    (GOOD + "[grid]\nx = [1]\nseed = [1, 2]", "no parameter may be called 'seed'"),
    (GOOD + "[grid]\nx = [1]\nstatus = [1]", "no parameter may be called 'status'"),
    (GOOD + "list = 4", "list must be tables"),
    (GOOD + "[[list]]\nx = 1\n[[list]]\ny = 1", "list, row 2 has y; the first has x"),
    (GOOD + "[random]\nx = [0, 1]", "random.samples must be a whole number"),
    (GOOD + "[latin]\nsamples = 3", "no parameter to sample"),
    (GOOD + "[latin]\nsamples = 3\nx = [1, 0]", "low must be below high"),
    (GOOD + "[latin]\nsamples = 3\nx = { low = 0, high = 1, log = true }", "low must be positive"),
    (GOOD + "[latin]\nsamples = 3\nx = { low = 0.5, high = 2, whole = true }", "must be whole numbers"),
    (GOOD + "[latin]\nsamples = 3\nx = { choices = [] }", "choices must be a list"),
    (GOOD + "[latin]\nsamples = 3\nx = { lo = 1 }", "must be [low, high]"),
    (GOOD + 'worst = { z = "big" }\n' + GRID, "worst.z must be 'largest' or 'smallest'"),
    (GOOD + GRID + "[keep]\nworst = 2", "keep.worst needs to know of what"),
    (GOOD + GRID + "[keep]\nbest = 2", "keep has no 'best'; it takes worst, failures, every"),
    (GOOD + GRID + '[keep]\nfailures = "yes"', "keep.failures must be true or false"),
    (GOOD + GRID + '[report]\nx = "w"', "what varies is x"),
    (GOOD + GRID + '[report]\nkind = "pie"', "one of lines, heat, scatter, distribution"),
    (GOOD + GRID + "[report]\nmetrics = 3", "report.metrics must be a list of names"),
    (GOOD + "[grid]\nx = { from = 0, to = 1, count = 100000000000 }", "too many"),  # refused before any is made
    (GOOD + "[latin]\nsamples = 100000000000\nx = [0, 1]", "too many"),
    (GOOD + "[grid]\nw = [1]\nx = [1]", "has no parameter 'w'; it takes x, y"),
    (GOOD + '[grid]\ny = ["a"]', "needs x: in grid"),
    (f'function = "{SWEPT}:nothing"\n' + GRID, "has no function 'nothing'"),
    ('function = "nowhere.py:f"\n' + GRID, "there is no file"),
    ('function = "no_such_module:f"\n' + GRID, "No module named 'no_such_module'"),
    ('function = "broken.py:f"\n' + GRID, "ZeroDivisionError: division by zero (broken.py, line 1)"),
    (f'function = "{SWEPT}:alone"\nrepeats = 2\n' + GRID, "takes no seed: 2 repeats would be the same"),
    ('experiment = "z-with"\n' + GRID, "did you mean 'z-width'?"),
    ('experiment = "z-width"\n' + GRID, "z-width has no parameter 'x'; it takes "),
]


@pytest.mark.parametrize(("text", "line"), MISTAKES, ids=[line for _, line in MISTAKES])
def test_a_bad_file_is_one_line(text, line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("bad.toml").write_text(text)
    Path("broken.py").write_text("1 / 0")
    assert cli.main(["sweep", "bad.toml"]) == 2
    said = capsys.readouterr()
    assert line in said.err
    assert said.err.startswith("palpate: ")
    assert said.err.count("\n") == 1
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [(["nowhere.toml"], "there is no file nowhere.toml"), (["."], "is a folder"), (["bytes.toml"], "is no text"),
     (["good.toml", "--on", "cloud"], "no executor is called 'cloud'"),
     (["good.toml", "--on", "processes:none"], "processes:N takes a number"),
     (["good.toml", "--on", "here:5"], "'here' takes nothing"),
     (["good.toml", "--on", "dask"], "dask needs an address"),
     (["good.toml", "--report"], "nothing of it has been run into out/good yet: palpate sweep good.toml")],
)  # fmt: skip
def test_a_wrong_call_is_one_line(arguments, line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("bytes.toml").write_bytes(b"\xff\xfe\x00")
    Path("good.toml").write_text(GOOD + GRID)
    assert cli.main(["sweep", *arguments]) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_sections_combine_and_the_last_varies_fastest(tmp_path):
    file = tmp_path / "all.toml"
    file.write_text(
        'function = "m:f"\nseeds = [7, 8]\n[fixed]\nrate = 500\n[grid]\na = [1, 2]\nb = ["x", "y"]\n'
        "[[list]]\nc = 1\nd = true\n[[list]]\nc = 2\nd = false\n[latin]\nsamples = 3\ne = [0, 1]\n"
    )
    plan = read_plan(file)
    assert plan.count == 2 * 2 * 2 * 3 * 2
    points = [task.parameters for task in plan.tasks()]
    assert [task.seed for task in plan.tasks()][:4] == [7, 8, 7, 8]
    assert all(point["rate"] == 500 for point in points)
    assert [point["a"] for point in points] == [1] * 24 + [2] * 24
    assert {(point["c"], point["d"]) for point in points} == {(1, True), (2, False)}
    assert len({tuple(sorted(point.items(), key=str)) for point in points}) == 24
    assert points[0]["e"] == points[1]["e"] != points[2]["e"]


def test_repeats_alone_are_a_sweep():
    plan = make_plan({"function": f"{SWEPT}:noisy", "repeats": 4, "fixed": {"x": 1.0}}, "p", Path())
    check(plan)
    assert len({task.seed for task in plan.tasks()}) == 4
