"""The ready-made sweeps of examples/sweeps: each is small, runs, and draws the figure that the manual shows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from palpate.experiments.studies.sweeps.figures import draw
from palpate.experiments.studies.sweeps.front import check, run_plan
from palpate.experiments.studies.sweeps.plan import Plan, read_plan
from palpate.experiments.studies.sweeps.results import FILE, table

FOLDER = Path(__file__).parents[3] / "examples" / "sweeps"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))


def ends(plan: Plan) -> Plan:
    """The same with the first and the last value of every axis, and one repeat."""
    factors = tuple(f._replace(columns=tuple([c[0], c[-1]] for c in f.columns)) for f in plan.factors)
    return replace(plan, factors=factors, repeats=1, seeds=plan.seeds[:1])


def test_they_are_all_here():
    assert NAMES == ["avatar", "follower", "link", "walls", "z_width"]


@pytest.mark.parametrize("name", NAMES)
def test_a_ready_made_sweep_runs_and_draws_what_its_report_names(name, tmp_path):
    plan = read_plan(FOLDER / f"{name}.toml")
    check(plan)
    assert 30 <= plan.count <= 1200
    small = ends(plan)
    assert run_plan(small, tmp_path, "here").failures == 0
    found = table(small, tmp_path / FILE)
    assert all(np.isfinite(found[metric]).all() for metric in plan.drawn.metrics)
    assert draw(small, found, tmp_path) == [f"{metric}.png" for metric in plan.drawn.metrics]


def test_tanks_keep_a_link_from_making_energy_that_it_makes_without(tmp_path):
    small = ends(read_plan(FOLDER / "link.toml"))
    run_plan(small, tmp_path, "here")
    found = table(small, tmp_path / FILE)
    late = (found["delay_ms"] == 40) & (found["loss_percent"] == 0)
    assert found["made_mJ"][late & (found["passivity"] == "observer")].min() > 100.0
    assert found["made_mJ"][found["passivity"] == "tank"].max() < 1.0
