"""The drop of the reference on planar haptics 6.3 in a real planar world: acceptance 19 to 24."""

import numpy as np
import pytest
from oracles import planar_laws as written

from palpate import jit
from palpate.experiments.planar_drops import Flights
from palpate.experiments.planar_walls import PULSE_ON_ZOH, WALLS, Setup, Wall, crossing, drop

SETUP = Setup()
compiled = pytest.mark.skipif(jit.DISABLED, reason="thousands of steps each")


def fall(wall, gap_m=0.020, seconds=10.0, tilt_rad=0.0):
    return drop(WALLS[wall] if isinstance(wall, str) else wall, SETUP, gap_m, seconds, tilt_rad)


def with_integral(total_N_ms, hold=1.0):
    return Wall("pi", "", {"integral_N_ms": 0.5 * total_N_ms, "hold": hold})


@compiled
def test_a_held_spring_throws_the_block_higher_each_time():
    """Planar haptics, acceptance 19."""
    ratios = fall("ZOH").ratios[:6]
    assert len(ratios) == 6
    assert (ratios >= 1.20).all()
    assert (ratios <= 1.40).all()


@compiled
def test_sample_estimate_hold_loses_little_and_never_gains():
    """Planar haptics, acceptance 20."""
    run = fall("SEH")
    assert len(run.ratios) > 20
    assert (run.ratios >= 0.98).all()
    assert (run.ratios <= 1.00).all()
    assert run.time_s[run.impacts[-1]] > 9.0


@compiled
def test_an_integral_is_paid_for_while_it_is_weak():
    """Planar haptics, acceptance 21."""
    assert fall(with_integral(200.0)).ratios.mean() < 1.0
    assert fall(with_integral(20_000.0)).ratios.mean() > 1.15
    assert fall(with_integral(20_000.0, hold=0.0)).ratios.mean() > 1.4


@compiled
def test_hysteresis_brings_the_block_to_rest():
    """Planar haptics, acceptance 22."""
    many, few = fall("hysteretic D"), fall("hysteretic E")
    assert len(many.impacts) <= 2
    assert many.last_loss_s <= 0.2
    assert many.motion_m(1.0, 2.0) < 0.5e-3
    assert few.last_loss_s <= 0.8


@compiled
def test_a_braking_pulse_settles_at_once():
    """Planar haptics, acceptance 23."""
    run = fall("pulse e = 0")
    assert len(run.impacts) == 1
    assert len(run.losses) == 0
    assert -run.gap_m.min() <= 2.0e-3 * 1.01
    assert fall("pulse e = 0.5").last_loss_s <= 0.3


@compiled
def test_a_braking_pulse_on_a_held_spring_does_not_settle():
    """Planar haptics, acceptance 24: the negative control."""
    assert len(fall(PULSE_ON_ZOH).impacts) > 20


@compiled
def test_a_tilted_block_is_kept_by_the_pulse_alone():
    """Reference on planar haptics 6.3: one vertex meets the wall first."""
    pulse, seh, zoh = (fall(wall, tilt_rad=0.02) for wall in ("pulse e = 0", "SEH", "ZOH"))
    assert len(pulse.losses) == 0
    assert seh.time_s[seh.impacts[-1]] > 9.0
    assert zoh.apexes_m.max() > 5.0 * zoh.apexes_m[0]


OTHERS = {
    "ZOH": lambda: written.Zoh(2500.0),
    "SEH": lambda: written.Seh(2500.0),
    "PI weak, SEH": lambda: written.Pi(2500.0, 100.0),
    "PI strong, ZOH": lambda: written.Pi(2500.0, 10_000.0, "zoh"),
    "hysteretic D": lambda: written.Hysteretic(500.0, 400.0, (0.05, 0.15, 0.40, 0.90, 1.60)),
    "pulse e = 0": lambda: written.Seh(2500.0),
    "pulse e = 0.5": lambda: written.Seh(2500.0),
}


@compiled
@pytest.mark.parametrize("name", OTHERS)
def test_the_planar_world_does_what_one_mass_on_one_axis_does(name):
    """Flat on two vertices it is the same motion: beside a second implementation from the reference's text."""
    for gap in np.random.default_rng(7).uniform(0.015, 0.025, 3):
        ours = fall(name, gap, 1.0).gap_m
        theirs = written.drop(OTHERS[name](), gap, 1.0, restitution=WALLS[name].restitution)
        assert ours[:-1] == pytest.approx(theirs, abs=1e-9)


@compiled
def test_the_account_of_energy_closes_in_every_drop():
    for name in WALLS:
        audit = fall(name, seconds=4.0).audit
        assert audit["worst"] <= 1e-9
        assert audit["impulses_J"] <= 0.0


# ---- what flights are


def test_flights_of_a_known_history():
    run = Flights(np.array([3.0, 1.0, -1.0, -2.0, 0.5, 2.0, 1.0, -0.5, -0.5, 0.25]), 0.5)
    assert run.impacts.tolist() == [2, 7]
    assert run.losses.tolist() == [4, 9]
    assert run.apexes_m.tolist() == [3.0, 2.0]
    assert run.ratios.tolist() == [2.0 / 3.0]
    assert run.last_loss_s == 3.5
    assert run.motion_m(0.0, 1.0) == 1.0


def test_the_crossing_is_where_the_ratio_goes_through_one():
    assert crossing(np.array([1.0, 2.0, 4.0]), np.array([0.9, 0.95, 1.05])) == pytest.approx(3.0)
    assert np.isnan(crossing(np.array([1.0, 2.0]), np.array([0.9, 0.95])))
