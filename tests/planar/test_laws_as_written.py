"""Every wall and friction gives what a second implementation, straight from the reference's text, gives."""

import numpy as np
import pytest
from oracles import planar_laws as written

from palpate.haptics.contact_laws import STATE, FrictionLaw, WallLaw, find_contact_law
from palpate.planar.walls.hysteretic import ELEMENTS, FEW, MANY

DT, MASS, K = 2e-3, 1.0, 2500.0
WALLS = {
    "zoh": ({}, lambda K, B: written.Zoh(K, B)),
    "seh": ({}, lambda K, B: written.Seh(K, B)),
    "pulse": ({}, lambda K, B: written.Seh(K, B)),  # after the impulse
    "pi": ({"integral_N_ms": 10_000.0}, lambda K, B: written.Pi(K, 10_000.0, B=B)),
    "pi held": ({"integral_N_ms": 10_000.0, "hold": 0.0}, lambda K, B: written.Pi(K, 10_000.0, "zoh", B=B)),
    "pi bounded": (
        {"integral_N_ms": 10_000.0, "windup_N": 0.4},
        lambda K, B: written.Pi(K, 10_000.0, limit=0.4, B=B),
    ),
    "hysteretic": (MANY, lambda K, B: elements(K, B, MANY)),
    "hysteretic few": (FEW, lambda K, B: elements(K, B, FEW)),
}
FRICTIONS = {
    "classical": written.Classical,
    "karnopp": written.Karnopp,
    "finger-pad": written.FingerPad,
    "dahl": written.Dahl,
    "dahl-original": written.OriginalDahl,
    "reset-integrator": written.ResetIntegrator,
    "lugre": written.LuGre,
    "elasto-plastic": written.ElastoPlastic,
}


def elements(K, B, settings):
    share = [settings[f"share_{i + 1}"] for i in range(ELEMENTS) if settings[f"share_{i + 1}"] > 0.0]
    slip = [settings[f"slip_{i + 1}_N"] for i in range(len(share))]
    return written.Hysteretic(K * (1.0 - sum(share)), K * share[0], slip, B=B)


def depths(rng, n):
    """A smooth depth that now and then is none at all, and its rate."""
    t, d = DT * np.arange(n), np.zeros(n)
    for _ in range(4):
        d += rng.uniform(0.1e-3, 2e-3) * np.sin(2.0 * np.pi * rng.uniform(1.0, 40.0) * t + rng.uniform(0.0, 6.0))
    return d, np.gradient(d, DT)


@pytest.mark.nojit
@pytest.mark.parametrize("name", WALLS)
def test_a_wall_is_as_the_reference_writes_it(name):
    """Reference on planar haptics 6.2: the same force within 1e-12 of it, over contacts that begin and end."""
    settings, make = WALLS[name]
    law, rng = find_contact_law(WallLaw, name.split()[0]), np.random.default_rng(3)
    for _ in range(5):
        stiffness, damping = rng.uniform(500.0, 5000.0), rng.choice([0.0, 8.0])
        row, state = law.row(stiffness_N_m=stiffness, damping_Ns_m=damping, **settings), np.zeros(STATE)
        other, touched = make(stiffness, damping), 0
        for d, rate in zip(*depths(rng, 400), strict=True):
            if d <= 0.0:
                state[:] = 0.0
                other.clear()
                continue
            first = not state.any()
            approach = min(rate, 0.0) if first and name == "pulse" else rate  # the impulse has turned it round
            ours, theirs = law(d, approach, DT, MASS, row, state), other.force(d, approach, DT, MASS)
            assert max(0.0, ours) == pytest.approx(theirs, rel=1e-12, abs=1e-12)
            touched += 1
        assert touched > 50


def force_of(rng):
    """A push that comes and goes, beyond break-away and back, both ways."""
    level, speed, phase = rng.uniform(0.9, 1.3), rng.uniform(0.2, 1.5), rng.uniform(0.0, 6.0)
    tremble = rng.uniform(0.0, 0.3)
    return lambda t: 1.65 * (level * np.sin(speed * t + phase) + tremble * np.sin(9.0 * t))


@pytest.mark.nojit
@pytest.mark.parametrize("name", FRICTIONS)
def test_a_friction_is_as_the_reference_writes_it(name):
    """Reference on planar haptics 7.1 and 8.4: same force and same sub-state, in slides both ways that stick between.

    One of the peg's four contacts: stiffness, damping and force are a quarter of the lumped ones.
    """
    law, rng = find_contact_law(FrictionLaw, name), np.random.default_rng(4)
    slips = sticks = 0
    for _ in range(3):
        row, state = law.row(), np.zeros(STATE)
        other, push = FRICTIONS[name](), force_of(rng)  # lumped: four contacts
        x = v = 0.0
        for k in range(2500):
            ours = law(x, v, 5.0, DT, MASS, row, state)
            theirs = other.force(x, v, DT)
            assert 4.0 * ours == pytest.approx(theirs, rel=1e-12, abs=1e-11)
            if name not in ("lugre", "elasto-plastic", "dahl-original"):  # they have no states: how to tell is chosen
                assert bool(state[0]) == other.slips
            slips, sticks = slips + bool(state[0]), sticks + (not state[0])
            faster = v + DT / 0.5 * (push(k * DT) - ours)
            x, v = x + 0.5 * DT * (v + faster), faster
    assert slips > 100
    assert sticks > 100


@pytest.mark.nojit
def test_a_slip_goes_on_though_the_normal_force_trembles():
    """Reset integrator, reference 4.2: p0 follows Fn; a p0 that grows by a millionth is no reason to stick."""
    law, rng = find_contact_law(FrictionLaw, "reset-integrator"), np.random.default_rng(5)
    row, state, p0 = law.row(), np.zeros(STATE), 0.3 * 5.0 / 2500.0
    x, v, began = 0.0, 0.0, False
    for _ in range(500):
        normal = 5.0 * (1.0 + 1e-6 * rng.standard_normal())
        force = law(x, v, normal, DT, MASS, row, state)
        assert not began or (state[0] == 1.0 and force == pytest.approx(1.5, rel=1e-4))
        began = began or state[0] == 1.0
        faster = v + DT / 0.5 * (1.8 - force)
        x, v = x + 0.5 * DT * (v + faster), faster
    assert x > 100.0 * p0
    # where the normal force is many times as large, friction grows with the way alone
    forces = []
    for _ in range(5):
        forces.append(law(x, 0.05, 50.0, DT, MASS, row, state))
        x += DT * 0.05
    assert np.diff(forces) == pytest.approx(np.full(4, 2500.0 * DT * 0.05), rel=1e-3)
