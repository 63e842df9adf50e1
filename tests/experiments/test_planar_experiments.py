"""The experiments on planar haptics keep their claims, draw, and fail where a law is broken."""

import json

import numpy as np
import pytest
from reported import failed, into, undrawn  # noqa: F401

from palpate import jit
from palpate.cli import main
from palpate.experiments import (
    planar_friction,
    planar_peg,
    planar_peg_device,
    planar_rates,
    planar_walls,
    planar_walls_device,
)
from palpate.experiments.report import run
from palpate.haptics.contact_laws import contact_friction, wall_law

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="hundreds of thousands of steps")


@pytest.mark.parametrize("name", ["planar-walls", "planar-friction", "planar-peg"])
def test_an_experiment_keeps_its_claims_and_leaves_setup_seed_and_audit(name, tmp_path):
    """Planar haptics, acceptance 40."""
    report = run(name, tmp_path, say=lambda line: None)
    assert report.passed, failed(report)
    written = json.loads((tmp_path / "report.json").read_text())
    assert {"setup", "seed"} <= set(written["values"])
    if name != "planar-friction":  # which has no bodies
        assert all(audit["worst"] <= 1e-9 for audit in written["values"]["audit"].values())
    for figure in report.figures:
        assert (tmp_path / figure).stat().st_size > 10_000
    assert {figure[-4:] for figure in report.figures} == {".png", ".svg"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["planar-rates", "planar-walls-device", "planar-peg-device"])
def test_the_longer_experiments_keep_their_claims(name, tmp_path):
    """Cheaper cases of the same laws follow."""
    report = run(name, tmp_path, say=lambda line: None)
    assert report.passed, failed(report)
    assert {"setup", "seed"} <= set(report.values)
    for figure in report.figures:
        assert (tmp_path / figure).stat().st_size > 10_000


def test_in_a_firm_hand_a_lossless_wall_rests_and_a_held_spring_does_not():
    """Reference on planar haptics 6.3, on the device: one vertex first."""
    setup = planar_walls_device.Setup(seconds=2.0)
    zoh, seh, pulse = (
        planar_walls_device.meet(setup, planar_walls.WALLS[name], "firm") for name in ("ZOH", "SEH", "pulse e = 0")
    )
    assert zoh.given_J > 0.05
    assert seh.given_J < 0.0
    assert pulse.last_loss_s <= seh.last_loss_s < 0.3 < zoh.last_loss_s
    assert all(met.contacts[met.contacts > 0][0] == 1 for met in (zoh, seh, pulse))
    assert max(met.worst for met in (zoh, seh, pulse)) <= 1e-9


def test_on_the_device_the_classical_friction_creeps_and_the_reset_integrator_does_not():
    """Reference on planar haptics 7.3, in the hand."""
    setup = planar_peg_device.Setup(cycles=1)
    classical, reset = (planar_peg_device.pushed(setup, name) for name in ("classical", "reset-integrator"))
    assert classical.given_mm(setup) > 3.0
    assert reset.given_mm(setup) < 0.5
    assert min(peg.y[-1] - peg.y[0] for peg in (classical, reset)) > 5e-3
    assert max(peg.offset_mm.max() for peg in (classical, reset)) < 0.5


def test_a_run_on_the_device_is_the_same_twice():
    """Planar haptics, acceptance 40: bit by bit."""
    setup = planar_peg_device.Setup(cycles=1, period_s=1.0)
    a, b = (planar_peg_device.pushed(setup, "dahl") for _ in range(2))
    assert np.array_equal(a.y, b.y)
    assert np.array_equal(a.estimate_N, b.estimate_N)
    assert a.energy_J == b.energy_J


def test_a_faster_rate_shows_stiffer_walls_and_a_filter_has_a_best_cut_off():
    setup = planar_rates.Setup(seconds=3.0)
    slow, fast = (planar_rates.stiffest(setup, "zoh", rate, 5.0) for rate in (250.0, 1000.0))
    assert fast > 3.0 * slow > 0.0
    low, best, none = (planar_rates.stiffest(setup, "zoh", 2000.0, 320.0, hz) for hz in (20.0, 80.0, np.inf))
    assert best > 2.0 * max(low, none)


@pytest.mark.usefixtures("undrawn")
def test_other_options_are_run_without_the_references_numbers(tmp_path):
    report = into(tmp_path, planar_walls, mass_kg=2.0, draws=3.0)
    assert report.values["setup"]["mass_kg"] == 2.0
    assert not any("mean" in claim.name for claim in report.claims)
    assert into(tmp_path, planar_friction, mass_kg=1.0).passed
    report = into(tmp_path, planar_peg, period_s=1.5, seconds=6.0)
    assert report.passed, failed(report)


@pytest.mark.usefixtures("undrawn")
def test_the_same_seed_gives_the_same_numbers(tmp_path):
    """Planar haptics, acceptance 40."""
    a, b = (into(tmp_path, planar_walls, draws=4.0, seed=5.0) for _ in range(2))
    assert a.claims == b.claims
    assert a.values == b.values


# ---- a broken law is caught


@wall_law(stiffness_N_m=2500.0, damping_Ns_m=0.0)
def predictor_only(depth, approach, dt, mass, setting, state):
    """SEH without its corrector: slightly active (reference 4.1)."""
    before = state[0] if state[1] > 0.0 else depth
    state[0], state[1] = depth, 1.0
    return setting[0] * (1.5 * depth - 0.5 * before)


@contact_friction(mu=0.3, stiction=0.1, stick_N_m=2500.0, stick_Ns_m=37.5)
def leaking(travel, slide, normal, dt, mass, setting, state):
    """A reset integrator whose strain leaks: it drifts."""
    p0 = setting[0] * normal / setting[2]
    p = min(max(state[1], -p0), p0)
    if (slide > 0.0 and p >= p0) or (slide < 0.0 and p <= -p0):
        state[0] = 1.0
        return setting[2] * p
    state[0], state[1] = 0.0, 0.999 * (p + dt * slide)
    return (1.0 + setting[1]) * setting[2] * p + setting[3] * slide


@pytest.mark.usefixtures("undrawn")
def test_a_wall_that_creates_energy_fails_the_claims_on_seh(tmp_path, monkeypatch):
    wrong = planar_walls.Wall(predictor_only, "#000000")
    monkeypatch.setitem(planar_walls.WALLS, "SEH", wrong)
    names = failed(into(tmp_path, planar_walls))
    assert "SEH: apex ratio, highest" in names


@pytest.mark.usefixtures("undrawn")
def test_hysteresis_without_its_friction_fails_the_order(tmp_path, monkeypatch):
    monkeypatch.setitem(planar_walls.WALLS, "hysteretic D", planar_walls.WALLS["SEH"])
    names = failed(into(tmp_path, planar_walls))
    assert "order: hysteretic E rests later than hysteretic D, by" in names
    assert "hysteretic D: last loss of contact" in names


@pytest.mark.usefixtures("undrawn")
def test_a_friction_that_drifts_fails_the_claims_on_drift(tmp_path, monkeypatch):
    slide = planar_friction.slide
    monkeypatch.setattr(
        planar_friction, "slide",
        lambda name, *rest, **more: slide(leaking if name == "reset-integrator" else name, *rest, **more),
    )  # fmt: skip
    names = failed(into(tmp_path, planar_friction))
    assert "reset integrator: drift under a constant force" in names


@pytest.mark.usefixtures("undrawn")
def test_a_peg_whose_contacts_are_not_those_of_one_mass_fails(tmp_path, monkeypatch):
    lumped = planar_peg.lumped
    monkeypatch.setattr(planar_peg, "lumped", lambda setup, name: lumped(setup, "karnopp" if name == "dahl" else name))
    names = failed(into(tmp_path, planar_peg))
    assert names == ["Dahl, drift-free: planar off one mass, most"]


@pytest.mark.parametrize(
    ("name", "wrong", "complaint"),
    [
        ("planar-walls", "mass_kg=-1", "mass_kg must be positive"),
        ("planar-walls", "colour=1", "no option 'colour'; it takes mass_kg"),
        ("planar-friction", "share=1.5", "share must be below 1"),
        ("planar-peg", "peak_N=0", "peak_N must be positive"),
        ("planar-rates", "seconds=0.5", "seconds must be at least 2"),
        ("planar-walls-device", "tilt_rad=2", "tilt_rad must be within 0.5"),
        ("planar-walls-device", "servo_hz=300", "servo rate is one of"),
        ("planar-peg-device", "peak_N=50", "peak_N must be at most 6"),
    ],
)
def test_a_wrong_option_is_one_line(name, wrong, complaint, tmp_path, capsys):
    assert main(["run", name, "--out", str(tmp_path), "--set", wrong]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
