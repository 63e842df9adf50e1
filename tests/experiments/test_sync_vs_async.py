"""sync-vs-async keeps its claims; its formulas are the sums they say."""

import json
import math

import numpy as np
import pytest

from palpate import jit
from palpate.experiments import sync_vs_async
from palpate.experiments.report import run
from palpate.experiments.sync_vs_async import (
    DAMPING_NS_M,
    DT_S,
    P_S,
    WAYS,
    follow,
    limit,
    measured_lag,
    meet,
    multiplier,
    visit_path,
)

ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)


@pytest.mark.skipif(jit.DISABLED, reason="a million ticks")
def test_the_experiment_keeps_its_claims_and_draws(tmp_path):
    report = run("sync-vs-async", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    limits = json.loads((tmp_path / "report.json").read_text())["values"]["stiffest_stable_wall_N_m"]
    assert limits["in step"] > limits["extrapolation"] > limits["hold"] > limits["interpolation"]
    for suffix in ("png", "svg"):
        assert (tmp_path / f"sync-vs-async.{suffix}").stat().st_size > 10_000


@pytest.mark.nojit
@ways
def test_lag_and_energy_of_a_visit_are_as_derived(way):
    path = visit_path()
    force, absorbed = follow(way, path)
    assert measured_lag(force, path) == pytest.approx(way.lag_s, rel=1e-9)
    assert -absorbed[-1] == pytest.approx(way.visit_J, rel=1e-9)
    assert force[-1] == 0.0
    assert force.min() >= 0.0  # a wall never pulls


@pytest.mark.nojit
def test_in_step_gives_the_period_s_share_of_what_hold_gives():
    in_step, hold = (-follow(way, visit_path())[1][-1] for way in WAYS[:2])
    assert hold / in_step == pytest.approx(P_S / DT_S)
    assert in_step == min(-follow(way, visit_path())[1][-1] for way in WAYS)


@pytest.mark.nojit
@ways
def test_lag_is_negative_damping(way):
    """b - K tau to first order in the lag: for a wall so soft that its swing is slow."""
    stiffness = 10.0
    left = -2.0 * sync_vs_async.MASS_KG * math.log(multiplier(way, stiffness)) / P_S
    assert left == pytest.approx(DAMPING_NS_M - stiffness * way.lag_s, abs=0.01 * DAMPING_NS_M)


@pytest.mark.skipif(jit.DISABLED, reason="tens of thousands of ticks")
@ways
def test_small_motions_grow_above_the_limit_and_die_out_below(way):
    for share, grows in ((0.93, False), (1.07, True)):
        stiffness = share * limit(way)
        rest = -3.0 / stiffness
        away = np.abs(meet(way, stiffness, rest * 0.999, 20.0)[:, 0] - rest)
        assert (away[-1000:].max() > away[:1000].max()) == grows


@pytest.mark.nojit
def test_a_path_outside_the_wall_is_free():
    for way in WAYS:
        force, absorbed = follow(way, np.linspace(0.1, 0.0, 200))
        assert not force.any()
        assert not absorbed.any()
