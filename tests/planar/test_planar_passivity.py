"""Energy over random throws, pushes and choices of laws: the audit balances, passive laws give nothing, others do.

"Created" is what impacts and contacts together had given at a moment when nothing touched, over all that was put in:
the kinetic energy at the start and the hand's work.  While something touches, springs may hold what they took.
"""

import numpy as np
import pytest
from campaign import Laws, throws

from palpate import jit
from palpate.haptics.contact_laws import FRICTIONS, KEEPERS, WALLS, FrictionLaw, WallLaw, find_contact_law

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="millions of steps")

ROUNDING = 1e-9  # planar haptics 5, invariant 1: over max(1 J, all works)
STATED = 1e-3  # planar haptics, acceptance 25 and 41: 0.1 % of what was put in
NEED_A_DEVICE = ("virtual-coupling", "energy-bounding")  # passive with a device's damping, which a free block has not
SECONDS = 0.6


def some_laws(rng):
    """Any wall, friction, keeper and impact law, stiffness 200 to 8000 N/m and mu up to 1."""
    friction = rng.choice([None, *FRICTIONS])
    stiffness, damping = np.exp(rng.uniform(np.log(200.0), np.log(8000.0))), rng.choice([0.0, rng.uniform(0.0, 10.0)])
    return Laws(
        wall=str(rng.choice(list(WALLS))),
        wall_settings={"stiffness_N_m": float(stiffness), "damping_Ns_m": float(damping)},
        friction=None if friction is None else str(friction),
        friction_settings={} if friction is None else {"mu": rng.uniform(0.0, 1.0)},
        keeper=rng.choice([None, None, *KEEPERS]),
        impact=str(rng.choice(["poisson", "frictional"])),
        impulse=bool(rng.uniform() < 0.7),
        restitution=rng.uniform(0.0, 1.0),
    )


def passive_claims(choices):
    """Of which laws the makers say that they are passive, here where only a block moves."""
    wall = {name: find_contact_law(WallLaw, name).passive for name in WALLS}
    friction = {None: True} | {name: find_contact_law(FrictionLaw, name).passive for name in FRICTIONS}
    return np.array([
        (wall[c.wall] or c.keeper == "passivity-controller") and friction[c.friction]
        and (c.impulse or c.keeper not in NEED_A_DEVICE) and not overshoots(c) for c in choices
    ])  # fmt: skip


def overshoots(c):
    """A pulse of hundreds of N for one period, and friction in its proportion: more than what stops the sliding."""
    return c.wall == "pulse" and not c.impulse and c.friction == "classical"


def check_many(N, seed):
    rng = np.random.default_rng(seed)
    choices = [some_laws(rng) for _ in range(N)]
    trials = throws(choices, SECONDS, rng)
    assert trials.audit.max() <= ROUNDING
    assert trials.struck.max() <= 1e-12  # an impact never gives
    assert trials.faults.max() == 0
    assert (trials.touches > 0).mean() > 0.8
    claimed = passive_claims(choices)
    assert claimed.mean() > 0.2
    wrong = np.flatnonzero(claimed & (trials.created > STATED))
    assert len(wrong) == 0, f"{trials.created[wrong[0]]:.3g} of {choices[wrong[0]]}"
    active = ~claimed & (trials.created > STATED)
    assert {choices[k].wall for k in np.flatnonzero(active)} >= {"zoh", "pi"}  # those known for it are found out


def test_random_throws_balance_and_passive_laws_create_nothing():
    """3000 of them; all laws of the registries take part."""
    check_many(3000, 17)


@pytest.mark.slow
def test_a_hundred_thousand_throws_balance_and_passive_laws_create_nothing():
    check_many(100_000, 18)


ACTIVE = {
    "a held spring": Laws("zoh", impulse=False),
    "a strong integral": Laws("pi", {"integral_N_ms": 10_000.0}, impulse=False),
    "impacts of e = 1 before a spring": Laws("seh", restitution=1.0, bounded=False),
    "a coupling without a device's damping": Laws("zoh", keeper="virtual-coupling", impulse=False),
    "friction of a pulse": Laws("pulse", friction="classical", friction_settings={"mu": 1.0}, impulse=False),
    "a bound by damping that is not there": Laws("zoh", keeper="energy-bounding", impulse=False),
}


@pytest.mark.parametrize("name", ACTIVE)
def test_what_is_known_to_be_active_is_caught(name):
    trials = throws([ACTIVE[name]] * 60, 2.0, np.random.default_rng(19))
    assert trials.audit.max() <= ROUNDING  # the audit balances all the same: it says where the energy came from
    assert (trials.created > 0.02).mean() > (0.1 if name == "friction of a pulse" else 0.5)


@pytest.mark.parametrize("wall", WALLS)
def test_a_passivity_controller_holds_every_wall(wall):
    """With no impulses, however active the wall within is."""
    strong = {"integral_N_ms": 10_000.0} if wall == "pi" else {}
    kept = Laws(wall, strong, keeper="passivity-controller", impulse=False)
    trials = throws([kept] * 60, 2.0, np.random.default_rng(20))
    assert trials.created.max() <= STATED


@pytest.mark.parametrize("rate_hz", [250.0, 1000.0, 4000.0])
def test_so_it_is_at_other_rates(rate_hz):
    rng = np.random.default_rng(22)
    some = [Laws("seh", friction="reset-integrator", restitution=1.0), Laws("hysteretic"), Laws("pulse")]
    trials = throws(some * 40, 300.0 / rate_hz, rng, rate_hz)
    assert trials.audit.max() <= ROUNDING
    assert trials.created.max() <= STATED
