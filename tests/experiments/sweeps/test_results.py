"""The file of results: what was written is read, whatever happened to the end of it."""

import math
from pathlib import Path

import numpy as np
import pytest

from palpate.experiments.studies.sweeps import results
from palpate.experiments.studies.sweeps.plan import make_plan
from palpate.experiments.studies.sweeps.results import FILE, Results, line_of, outcome_of, read, table
from palpate.experiments.studies.sweeps.task import DONE, FAILED, Outcome

PLAN = make_plan({"function": "m:f", "repeats": 2, "grid": {"x": [1, 2.5], "y": ["a", "b"]}}, "p", Path())


def outcomes():
    return [Outcome(task, DONE, {"z": 10.0 * task.number}, "", 0.5) for task in PLAN.tasks()]


def test_what_is_written_is_read_back():
    strange = {"up": math.inf, "down": -math.inf, "third": 1 / 3}
    first = outcomes()[0]._replace(metrics=strange, error='a "word"\nand another', status=FAILED)
    assert line_of(first).count("\n") == 1
    assert outcome_of(line_of(first)) == first
    assert math.isnan(outcome_of(line_of(first._replace(metrics={"n": math.nan}))).metrics["n"])


@pytest.mark.parametrize("lost", [1, 2, 40, 150])
def test_half_a_line_at_the_end_is_cut_off_and_nothing_else_is_lost(lost, tmp_path):
    with Results(tmp_path) as file:
        file.append(outcomes()[:5])
    whole = file.path.read_bytes()
    last = len(whole.splitlines(keepends=True)[-1])
    assert lost < last
    file.path.write_bytes(whole[:-lost])
    assert list(read(file.path)) == outcomes()[:4]
    with Results(tmp_path) as again:
        assert again.path.read_bytes() == whole[:-last]
        again.append(outcomes()[4:])
    assert list(read(file.path)) == outcomes()


@pytest.mark.parametrize(
    "junk", [b"\0" * 100, b'{"key": "half', b"{}", b"[1, 2]", b"\xff\xfe", b'{"key": 3, "task": 1}']
)
def test_a_line_that_cannot_be_read_costs_only_itself(junk, tmp_path):
    with Results(tmp_path) as file:
        file.append(outcomes())
    lines = file.path.read_bytes().splitlines(keepends=True)
    lines[3] = junk + b"\n"
    file.path.write_bytes(b"".join(lines))
    assert list(read(file.path)) == [*outcomes()[:3], *outcomes()[4:]]


def test_a_file_without_any_whole_line_is_empty(tmp_path):
    (tmp_path / FILE).write_bytes(b"x" * 200_000)
    with Results(tmp_path) as file:
        assert file.path.read_bytes() == b""


@pytest.mark.skipif(not results.HAS_LOCKS, reason="no locks here")
def test_two_sweeps_do_not_write_into_one_file(tmp_path):
    with Results(tmp_path), pytest.raises(ValueError, match="is being written by another sweep"):
        Results(tmp_path)
    Results(tmp_path).close()


def test_tasks_that_shall_be_tried_again_lose_their_line(tmp_path):
    mixed = [o._replace(status=FAILED) if o.task.number % 3 == 0 else o for o in outcomes()]
    with Results(tmp_path) as file:
        file.append(mixed)
        file.drop(lambda outcome: outcome.status == FAILED)
        file.append(o for o in outcomes() if o.task.number % 3 == 0)
    assert sorted(read(file.path), key=lambda o: o.task.number) == outcomes()


def test_the_table_is_in_the_order_of_the_points_whatever_order_they_came_in(tmp_path):
    came = [outcomes()[k] for k in np.random.default_rng(1).permutation(8)]
    came[2] = came[2]._replace(status=FAILED, metrics={}, error="why")
    came[5] = came[5]._replace(metrics={"z": 1.0, "rare": 2.0})
    with Results(tmp_path) as file:
        file.append(came)
    found = table(PLAN, file.path)
    assert found["task"].tolist() == list(range(8))
    assert found["x"].tolist() == [1, 1, 1, 1, 2.5, 2.5, 2.5, 2.5]
    assert found["y"].tolist() == list("aabbaabb")
    assert found["repeat"].tolist() == [0, 1] * 4
    assert np.isnan(found["z"]).sum() == 1
    assert found["error"][came[2].task.number] == "why"
    assert found["rare"][came[5].task.number] == 2.0
    assert np.isnan(found["rare"]).sum() == 7


def test_results_of_another_plan_are_left_out(tmp_path):
    other = make_plan({"function": "m:g", "grid": {"x": [1]}}, "p", Path())
    with Results(tmp_path) as file:
        file.append(Outcome(task, DONE, {"z": 1.0}, "", 0.0) for task in other.tasks())
        file.append(outcomes()[:2])
    assert table(PLAN, file.path)["task"].tolist() == [0, 1]


def test_parquet_has_the_same_columns(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    with Results(tmp_path) as file:
        file.append(outcomes())
    columns = table(PLAN, file.path)
    assert results.write_parquet(columns, tmp_path / "r.parquet")
    back = parquet.read_table(tmp_path / "r.parquet")
    assert back.column_names == list(columns)
    for name, column in columns.items():
        assert back[name].to_pylist() == column.tolist()
