"""The contract of walls, frictions and keepers; a new law is tested by being in its registry.

What a law that says `passive` promises here, and the meter that catches those that are not:

wall      each contact of a free mass, held force, K T^2/m <= 0.3, has taken at least what it gave when it ends
friction  since its contact began it has always taken at least what it gave: on a mass of 0.5 kg and more under any
          forces and normal forces, and led along any way, also from creep to 20 m/s at once
keeper    around any wall that is passive, or that is a spring: a device with damping above what the keeper declares
          (1.1 N s/m for all here) never has more energy than what pushes it has given
"""

from importlib.metadata import EntryPoint

import numpy as np
import pytest
import toy_laws

import palpate as pp
import palpate.registry
from palpate import jit
from palpate.haptics.contact_laws import (
    FRICTIONS,
    KEEPERS,
    SETTINGS,
    SLIPS,
    STATE,
    WALLS,
    FrictionLaw,
    KeeperLaw,
    WallLaw,
    find_contact_law,
)
from palpate.planar.trials import friction_along, impacts, press, slide

compiled = pytest.mark.skipif(jit.DISABLED, reason="millions of steps")
T = 2e-3
FROM_ELSEWHERE = {"walls": "rubber", "frictions": "smooth", "keepers": "timid"}
CALM_KAPPA = 0.3  # K T^2/m


@pp.wall_law(passive=True, stiffness_N_m=1000.0, damping_Ns_m=0.0)
def own_wall(depth, approach, dt, mass, setting, state):
    """A spring that only pushes on the way in."""
    return setting[0] * depth if approach > 0.0 else 0.0


@pp.contact_friction(passive=True, mu=0.3, stiction=0.0, knee_m_s=0.05)
def own_friction(travel, slide, normal, dt, mass, setting, state):
    """A damper up to mu Fn."""
    state[SLIPS] = 1.0 if abs(slide) > setting[2] else 0.0
    return setting[0] * normal * min(max(slide / setting[2], -1.0), 1.0)


@pp.keeper_law(limit_N=2.0)
def own_keeper(wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state):
    """Only on the way in, and not much."""
    force = toy_laws.call_wall(wall, depth, approach, dt, mass, wall_setting, wall_state)
    return min(force, setting[0]) if approach > 0.0 else 0.0 * force


@pytest.fixture(autouse=True)
def from_elsewhere(monkeypatch):
    """One law of each kind comes from another package."""

    def entry_points(group):
        name = FROM_ELSEWHERE.get(group.removeprefix("palpate."))
        return [EntryPoint(name, f"toy_laws:{name}", group)] if name else []

    monkeypatch.setattr(palpate.registry, "entry_points", entry_points)


EVERY_WALL = [*WALLS, FROM_ELSEWHERE["walls"], own_wall]
EVERY_FRICTION = [*FRICTIONS, FROM_ELSEWHERE["frictions"], own_friction]
EVERY_KEEPER = [*KEEPERS, FROM_ELSEWHERE["keepers"], own_keeper]
EVERY_LAW = ([(WallLaw, which) for which in EVERY_WALL] + [(FrictionLaw, which) for which in EVERY_FRICTION]
             + [(KeeperLaw, which) for which in EVERY_KEEPER])  # fmt: skip


def word(x):
    return str(getattr(x, "name", x))


# ---- names, rows


@pytest.mark.nojit
@pytest.mark.parametrize(("kind", "which"), EVERY_LAW, ids=word)
def test_every_law_is_of_its_kind_and_says_what_it_does(kind, which):
    law = find_contact_law(kind, which)
    assert isinstance(law, kind)
    assert law.__doc__
    if isinstance(which, str):
        assert law.name == which.replace("-", "_")
    first = {WallLaw: ["stiffness_N_m", "damping_Ns_m"], FrictionLaw: ["mu", "stiction"], KeeperLaw: []}[kind]
    assert list(law.defaults)[: len(first)] == first
    assert law.row().shape == (SETTINGS,)
    with pytest.raises(ValueError, match=f"the {kind.kind} {law.name!r} has no setting 'colour'"):
        law.row(colour=1.0)


def calls(kind, law, rng, count=40):
    """Arguments of a contact that comes and goes, without rows."""
    t = np.arange(count) * T
    depth = 1e-3 * (1.0 + np.sin(40.0 * t + rng.uniform(0, 6)) + 0.01 * rng.normal(size=count)) + 1e-6
    travel = 2e-3 * np.sin(30.0 * t + rng.uniform(0, 6)) + 0.05 * t
    for k in range(1, count):
        if kind is FrictionLaw:
            yield travel[k], (travel[k] - travel[k - 1]) / T, abs(rng.normal(5.0, 3.0)), T, 1.0
        else:
            yield depth[k], (depth[k] - depth[k - 1]) / T, T, 1.0


@pytest.mark.nojit
@pytest.mark.parametrize(("kind", "which"), EVERY_LAW, ids=word)
def test_a_law_with_its_rows_zeroed_answers_as_at_first(kind, which):
    law, spring = find_contact_law(kind, which), find_contact_law(WallLaw, "seh")
    inner, state = np.zeros(STATE), np.zeros(STATE)
    around = (spring.address, spring.row(), inner) if kind is KeeperLaw else ()

    def answers():
        return [law(*around, *numbers, law.row(), state) for numbers in calls(kind, law, np.random.default_rng(4))]

    first = answers()
    inner[:], state[:] = 0.0, 0.0
    assert answers() == first
    assert np.isfinite(first).all()


# ---- walls


def contact_gains(wall, settings, rng, runs):
    """For contacts of free masses, energy that each gave [J per J of approach]; only those that ended."""
    gains = []
    for _ in range(runs):
        mass, kappa = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-3, np.log10(CALM_KAPPA))
        speed, push = 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(-1, 1)
        gap = 0.5 * mass * speed**2 / push
        if not 1e-5 < gap < 2.0:
            continue
        drop = press(wall, wall_settings={"stiffness_N_m": kappa * mass / T**2, **settings}, gap_m=gap, mass_kg=mass,
                     push_N=push, seconds=3.0)  # fmt: skip
        for begun in impacts(drop.x):
            out = np.flatnonzero(drop.x[begun:] >= 0.0)
            if len(out):
                given = drop.absorbed[begun] - drop.absorbed[begun + out[0]]
                gains.append(given / (0.5 * mass * drop.v[begun] ** 2))
    return np.array(gains or [0.0])


@compiled
@pytest.mark.parametrize("which", EVERY_WALL, ids=word)
def test_a_passive_wall_gives_no_contact_more_than_it_took(which):
    if find_contact_law(WallLaw, which).passive:
        assert contact_gains(which, {}, np.random.default_rng(1), 80).max() <= 1e-9


@compiled
@pytest.mark.parametrize(
    ("wall", "settings"),
    [("zoh", {}), ("pi", {"integral_N_ms": 1e4}), ("pi", {"integral_N_ms": 100.0, "hold": 0.0}),
     ("pulse", {"restitution": 1.0})],
)  # fmt: skip
def test_an_active_wall_is_caught(wall, settings):
    assert contact_gains(wall, settings, np.random.default_rng(1), 30).max() > 0.05


@pytest.mark.nojit
@pytest.mark.parametrize("which", EVERY_WALL, ids=word)
def test_a_wall_is_finite_wherever_it_is_asked(which):
    law, rng = find_contact_law(WallLaw, which), np.random.default_rng(6)
    state = np.zeros(STATE)
    for _ in range(200):
        depth, dt, mass = 10 ** rng.uniform(-9, -1), 10 ** rng.uniform(-4, -2), 10 ** rng.uniform(-3, 2)
        force = law(depth, rng.normal(0.0, 2.0), dt, mass, law.row(), state)
        assert np.isfinite(force)
    assert np.isfinite(state).all()


# ---- frictions


def waves(rng, count, amplitude, hz=5.0):
    t = np.arange(count) * T
    parts = [rng.normal() * np.sin(2 * np.pi * hz * rng.uniform(0.05, 1.0) * t + rng.uniform(0, 6)) for _ in range(6)]
    return 0.5 * amplitude * np.sum(parts, axis=0)


def given_on_masses(friction, rng, runs):
    """The most that a friction gave since its contact began, on masses under random forces [J]."""
    worst = 0.0
    for k in range(runs):
        normal = 5.0 if k % 2 else np.abs(waves(rng, 2000, 5.0))
        mass = 10 ** rng.uniform(-0.3, 1)
        slid = slide(friction, waves(rng, 2000, 2.5), normal, mass, T)
        worst = max(worst, -np.cumsum(slid.friction[:-1] * np.diff(slid.x)).min())
    return worst


def given_from_creep_to_speed(friction, settings=None, dt=1e-5):
    """The most that it gave when led slowly, then very fast, again: bristles on Stribeck's curve pay [J]."""
    v = np.tile(np.r_[np.full(400_000, 2e-3), np.full(15, 20.0)], 2)
    x = np.r_[0.0, np.cumsum(v) * dt]
    force = friction_along(friction, x[:-1], v, 5.0, dt, settings=settings)
    return max(0.0, -np.cumsum(force * np.diff(x)).min())


@compiled
@pytest.mark.parametrize("which", EVERY_FRICTION, ids=word)
def test_a_passive_friction_never_gave_more_than_it_took(which):
    if find_contact_law(FrictionLaw, which).passive:
        assert given_on_masses(which, np.random.default_rng(2), 40) <= 1e-9
        assert given_from_creep_to_speed(which) <= 1e-9


@compiled
def test_bristles_with_the_given_numbers_are_caught_and_can_be_paid_for():
    """Planar haptics 8.4: s2 >= s1 (F_S - F_C)/F_C, which is 2.5 N s/m here, or s1 that fades."""
    assert given_from_creep_to_speed("lugre") > 0.01
    assert given_from_creep_to_speed("elasto-plastic") > 0.01
    assert given_from_creep_to_speed("lugre", {"viscous_Ns_m": 2.5}) <= 1e-9
    assert given_from_creep_to_speed("elasto-plastic", {"viscous_Ns_m": 2.5}) <= 1e-9
    assert given_from_creep_to_speed("lugre", {"fading_m_s": 0.1}) <= 1e-9


@compiled
def test_a_friction_spring_without_damping_is_caught():
    """The held spring of stick is active, -K T/2: planar haptics 4.2 and 7.1 c."""
    for name, damping in (("reset-integrator", "stick_Ns_m"), ("dahl", "stick_Ns_m"), ("karnopp", "stick_Ns_m")):
        slid = slide(name, 0.8 * np.ones(4000), 5.0, 2.0, T, settings={damping: 0.0})
        kept = slide(name, 0.8 * np.ones(4000), 5.0, 2.0, T)
        assert np.ptp(slid.x[-500:]) > 20.0 * np.ptp(kept.x[-500:])


@compiled
@pytest.mark.parametrize("which", EVERY_FRICTION, ids=word)
def test_a_friction_stays_within_its_cone_and_its_damping(which):
    """|Ff| <= (1 + a) mu Fn + damping; bristles strain by up to (2 + a) |v| where v turns round."""
    law, rng = find_contact_law(FrictionLaw, which), np.random.default_rng(3)
    a = law.defaults["stiction"]
    damping = (2.0 + a) * sum(value for name, value in law.defaults.items() if name.endswith("_Ns_m"))
    for _ in range(20):
        travel = 0.02 * waves(rng, 2000, 1.0)
        rate = np.gradient(travel, T)
        normal = np.abs(waves(rng, 2000, 10.0)) * (rng.random(2000) > 0.02)  # and now and then none
        force = friction_along(which, travel, rate, normal, T)
        assert (np.abs(force) <= (1.0 + a) * law.defaults["mu"] * normal + damping * np.abs(rate) + 1e-9).all()


# ---- keepers


def created(wall, keeper, settings, rng, runs):
    """The most energy beyond what the push gave, of a device with enough damping [J]."""
    worst = 0.0
    for _ in range(runs):
        mass, gap, push = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-3, -1.3), rng.uniform(0.5, 5.0)
        stiffness = 10 ** rng.uniform(2, 4.3)
        drop = press(wall, keeper, wall_settings={"stiffness_N_m": stiffness, **settings}, mass_kg=mass, push_N=push,
                     gap_m=gap, damping_Ns_m=rng.uniform(1.1, 3.0), seconds=2.0)  # fmt: skip
        worst = max(worst, float((0.5 * mass * drop.v**2 - push * (gap - drop.x)).max()))
    return worst


@compiled
@pytest.mark.parametrize("wall", ["zoh", "seh", "hysteretic", "pulse"])
@pytest.mark.parametrize("which", EVERY_KEEPER, ids=word)
def test_a_keeper_keeps_every_wall_passive(which, wall):
    assert created(wall, which, {}, np.random.default_rng(8), 25) <= 1e-9


@compiled
@pytest.mark.parametrize("which", ["passivity-controller", "energy-bounding"])
def test_those_that_keep_accounts_hold_an_active_wall_too(which):
    strong = {"integral_N_ms": 1e4}
    assert created("pi", which, strong, np.random.default_rng(8), 25) <= 1e-9
    assert created("pi", None, strong, np.random.default_rng(8), 25) > 0.01
    assert created("zoh", None, {}, np.random.default_rng(8), 25) > 0.01


# ---- what is not a number


@pp.wall_law(stiffness_N_m=1000.0, damping_Ns_m=0.0)
def broken_wall(depth, approach, dt, mass, setting, state):
    """No number from the fourth sample on."""
    state[0] += 1.0
    return setting[0] * depth if state[0] < 4.0 else np.nan


@pp.contact_friction(mu=0.3, stiction=0.0)
def broken_friction(travel, slide, normal, dt, mass, setting, state):
    """No number from the start."""
    return np.nan


@compiled
def test_a_law_that_gives_no_number_is_named():
    with pytest.raises(ValueError, match=r"the wall 'broken_wall' gave what is not a number at 0\.\d+ s"):
        press(broken_wall)
    with pytest.raises(ValueError, match="the friction 'broken_friction' gave what is not a number at 0 s"):
        slide(broken_friction, np.ones(5))


@compiled
@pytest.mark.parametrize("which", EVERY_KEEPER, ids=word)
def test_no_keeper_hides_that_a_wall_gave_no_number(which):
    with pytest.raises(ValueError, match="gave what is not a number"):
        press(broken_wall, which, seconds=5.0)
