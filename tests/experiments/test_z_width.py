"""z-width keeps its claims; its limits are limits."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate import jit
from palpate.experiments import z_width
from palpate.experiments.report import Report, run
from palpate.experiments.z_width import (
    STIFFNESS_N_M,
    Setup,
    drops,
    least_damping,
    linear_limit,
    passive_limit,
    stable,
    stiffest,
)

compiled = pytest.mark.skipif(jit.DISABLED, reason="millions of steps")
RAW = Setup(filter_hz=math.inf)


@compiled
def test_the_experiment_keeps_its_claims_and_draws(tmp_path):
    report = run("z-width", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    values = json.loads((tmp_path / "report.json").read_text())["values"]
    assert len(values["drops_N_m"]) == len(values["B_Ns_m"]) == len(values["linear_limit_N_m"])
    for suffix in ("png", "svg"):
        assert (tmp_path / f"z-width.{suffix}").stat().st_size > 10_000


@compiled
def test_another_device_is_measured_with_options(tmp_path, monkeypatch):
    monkeypatch.setattr(z_width, "DAMPING_NS_M", np.r_[0.0, np.geomspace(0.25, 200.0, 10)])
    report = Report("z-width", tmp_path, say=lambda line: None)
    z_width.run(report, mass_kg=0.1, damping_Ns_m=0.2, rate_hz=1000.0, filter_hz=100.0)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    assert report.values["setup"]["mass_kg"] == 0.1
    assert not any("B = 0, raw" in claim.name for claim in report.claims)  # the table is of another device


@pytest.mark.parametrize(("stiffness", "damping"), [(500, 0), (500, 0.3), (500, -0.3), (2000, 1)])
def test_item_34_colgates_condition_is_half_the_stiffness_times_the_period_and_the_damping(stiffness, damping):
    """planar-haptics.md acceptance 34."""
    assert least_damping(stiffness, damping, 2e-3) == pytest.approx(stiffness * 1e-3 + abs(damping), rel=1e-3)


def test_item_38_the_linear_limit():
    """planar-haptics.md acceptance 38."""
    assert linear_limit(RAW, 0.0) == pytest.approx(500.0, rel=0.01)
    for damping in np.linspace(0.0, 10.0, 11):
        assert linear_limit(RAW, damping) == pytest.approx(2.0 * (0.5 + damping) / 2e-3, rel=0.08)
    grid = np.arange(20.0, 300.0, 5.0)
    assert 120.0 <= grid[np.argmax([linear_limit(RAW, damping) for damping in grid])] <= 180.0


@compiled
@settings(max_examples=25, deadline=None)
@given(st.floats(0.05, 2.0), st.floats(0.2, 5.0), st.floats(0.0, 20.0))
def test_no_drop_settles_above_the_linear_limit(mass, b, damping):
    """The limit is from eigenvalues, the drops from the simulation."""
    setup = Setup(
        mass_kg=mass, damping_Ns_m=b, rate_hz=1000.0, filter_hz=200.0, encoder_m=0.0, seconds=20.0, push_N=5.0
    )
    assert not stable(setup, drops(setup, 1.2 * linear_limit(setup, damping), damping))


@compiled
@settings(max_examples=50, deadline=None)
@given(st.floats(0.05, 2.0), st.floats(0.1, 5.0), st.floats(0.0, 0.99), st.floats(0.01, 1.0))
def test_no_drop_draws_energy_from_a_wall_below_the_passive_limit(mass, b, part, share):
    """planar-haptics.md 6.1, unilateral wall, with virtual damping of either sign."""
    plain = Setup(mass_kg=mass, damping_Ns_m=b, encoder_m=0.0, filter_hz=math.inf)
    for sign in (1.0, -1.0):
        B = sign * part * b
        assert drops(plain, share * float(passive_limit(plain, B)), B).created_J <= 1e-12


@compiled
@pytest.mark.parametrize("damping", [2.0, 5.0, 20.0])
def test_the_controller_does_not_widen_the_strict_region_with_or_without_forgetting(damping):
    """planar-haptics.md 8.1: the same first K fails; energy earned before lets an oscillation start."""
    setup = Setup()
    widths = {
        float(stiffest(STIFFNESS_N_M, stable(s, drops(s, STIFFNESS_N_M[None, :], damping)))[0])
        for s in (setup, replace(setup, method="controller"), replace(setup, method="controller", forget_s=0.2))
    }
    assert len(widths) == 1


@compiled
@pytest.mark.parametrize("wall", ["seh", "hysteretic", "pulse"])
def test_a_wall_that_is_passive_by_itself_settles_where_a_held_spring_does_not(wall):
    """planar-haptics.md 6.3 through the protocol of 8.5: the same drops, any wall."""
    held = stiffest(STIFFNESS_N_M, stable(Setup(), drops(Setup(), STIFFNESS_N_M[None, :], 5.0)))
    setup = Setup(wall=wall)
    assert stiffest(STIFFNESS_N_M, stable(setup, drops(setup, STIFFNESS_N_M[None, :], 5.0))) > 1.5 * held
    with pytest.raises(ValueError, match="the wall must be 'zoh'"):
        replace(setup, method="coupling")


@pytest.mark.nojit
def test_a_drop_is_the_same_twice_and_its_energy_is_that_of_its_force():
    setup = Setup(seconds=1.0, encoder_m=0.0)
    first, second = (drops(setup, 300.0, 0.2, trace=True) for _ in range(2))
    assert np.array_equal(first.trace, second.trace)
    x, force, absorbed = first.trace.T
    assert absorbed[1:] == pytest.approx(-np.cumsum(force[:-1] * np.diff(x)), abs=1e-12)
    assert first.motion_m == np.ptp(x)


def test_the_last_stable_stiffness_is_before_the_first_failure():
    K = np.array([1.0, 2.0, 3.0])
    ok = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1]], dtype=bool)
    assert stiffest(K, ok).tolist() == [3.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"mass_kg": 0.0},
        {"rate_hz": -1.0},
        {"method": "magic"},
        {"seconds": 0.5},
        {"encoder_m": -1e-6},
        {"push_N": math.nan},
    ],
)
def test_an_impossible_setup_is_refused_in_one_line(wrong):
    with pytest.raises(ValueError, match=f"z-width: {next(iter(wrong))}"):
        Setup(**wrong)
