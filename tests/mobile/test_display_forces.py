"""Forces of the display on what stands in its room, by the proxy and through the guard.  Mobile display, 5.1, 5.2."""

import math
from dataclasses import replace

import numpy as np
import pytest

from palpate import jit
from palpate.haptics.devices.simulation.phantom import MODELS
from palpate.haptics.guard import engage, guard, load_guard, new_guard
from palpate.haptics.rendering.facade import Proxy
from palpate.haptics.rendering.proxy import update_proxy
from palpate.haptics.rendering.surface import Surface
from palpate.haptics.rendering.tables import load_proxy
from palpate.jit import Block, entry
from palpate.mobile import things
from palpate.model.shapes import Shape

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="a hundred thousand updates")

SPEC = MODELS["phantom-premium-1.5"].spec
ZERO = (0.0, 0.0, 0.0)


@entry("intp, intp, float64[:, ::1], float64, float64[:, ::1], float64[:, ::1]")
def felt_entry(proxy, address, hips, dt, wanted, sent):
    """Every hip at once: what the proxy asks for, and what the guard sends."""
    (g,) = load_guard(address)
    engage(g)
    guard(g, ZERO, ZERO, ZERO, ZERO, 0, 0.0, 1.0)
    state = load_proxy(proxy)[3]
    for k in range(hips.shape[0]):
        update_proxy(proxy, hips[k, 0], hips[k, 1], hips[k, 2], 0.0, 0.0, 0.0, dt)
        f = (state.force[0], state.force[1], state.force[2])
        out, _ = guard(g, f, ZERO, ZERO, ZERO, 0, 0.0, dt)
        for i in range(3):
            wanted[k, i], sent[k, i] = f[i], out[i]


def felt(proxy, hips, spec):
    """Wanted and sent (n, 3)."""
    g, hips = new_guard(spec), np.ascontiguousarray(hips, dtype=float)
    block, wanted, sent = Block(g), np.zeros_like(hips), np.zeros_like(hips)
    felt_entry(proxy.rendering.address, block.address, hips, 1e-3, wanted, sent)
    return wanted, sent


def boat(stiffness_N_m=1000.0, friction=0.3):
    return Proxy(things.boat(), Surface(stiffness_N_m, 1.0, 1.3 * friction, friction))


def random_hips(rng, n):
    """Anywhere in and around the boat, near and far; leaps, and some that are no place at all."""
    hips = rng.uniform(-1.0, 1.0, (n, 3)) * [1.0, 0.4, 0.4]
    hips[:: n // 50 + 1] *= 10.0 ** rng.uniform(0, 6, (len(hips[:: n // 50 + 1]), 1))
    return hips


@pytest.mark.parametrize("stiffness", [1000.0, 1e6])
def test_no_force_is_larger_than_the_device_allows_and_its_direction_is_kept(stiffness):
    """Mobile display, acceptance 30: 10^5 hips at random around the boat, at most 8.5 N, +- 1e-9."""
    wanted, sent = felt(
        boat(stiffness), random_hips(np.random.default_rng(1), 100_000), replace(SPEC, force_rise_N_s=np.inf)
    )
    size, most = np.linalg.norm(wanted, axis=1), np.linalg.norm(sent, axis=1)
    assert most.max() <= 8.5
    assert size.max() > 100.0
    shown = most > 0.0
    assert shown.mean() > 0.1
    ways = wanted[shown] / size[shown, None] - sent[shown] / most[shown, None]
    assert np.abs(ways).max() <= 1e-9


def test_force_grows_by_half_a_newton_a_tick_and_ends_at_once():
    """Mobile display, 5.2: a hand that leaps into a wall and out of it."""
    proxy = Proxy(Shape("plane"), Surface(1000.0, 0.0, 0.0, 0.0))
    hips = np.tile([0.0, 0.0, 0.01], (400, 1))
    hips[100:300, 2] = -0.006
    _, sent = felt(proxy, hips, SPEC)
    z = sent[:, 2]
    assert np.diff(z[:200]).max() <= 0.5 * (1.0 + 1e-9)
    assert z[115] == pytest.approx(6.0)
    assert z[299:301] == pytest.approx([6.0, 0.0])


def test_a_force_that_lasts_is_reduced_until_the_motors_bear_it():
    """Mobile display, 5.2: the rms over a memory of 10 s stays at 1.4 N; a hand leans on a wall with 5 N for 30 s."""
    proxy = Proxy(Shape("plane"), Surface(1000.0, 0.0, 0.0, 0.0))
    hips = np.tile([0.0, 0.0, -0.005], (30_000, 1))
    hips[0, 2] = 0.01
    _, sent = felt(proxy, hips, SPEC)
    z = sent[:, 2]
    mean_square, worst = 0.0, 0.0
    for force in z:
        mean_square += 1e-3 / SPEC.heat_s * (force**2 - mean_square)
        worst = max(worst, mean_square)
    assert z[:400].max() == pytest.approx(5.0)
    assert math.sqrt(worst) <= 1.4
    assert z[-1] == pytest.approx(1.4, rel=0.01)


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_random_pushing_never_enters_the_boat(friction):
    """Mobile display, acceptance 28, on the mesh that the display shows; hands at up to 2 m/s, which turn anywhere."""
    proxy, rng = boat(friction=friction), np.random.default_rng(5)
    goals = rng.uniform(-1.0, 1.0, (60, 3)) * [0.9, 0.35, 0.35]
    goals[0] = (0.0, 0.0, 0.5)
    way = [goals[0]]
    for goal in goals[1:]:
        step = rng.uniform(0.2e-3, 2e-3)
        n = math.ceil(np.linalg.norm(goal - way[-1]) / step)
        way.extend(way[-1] + (goal - way[-1]) * np.linspace(0.0, 1.0, n + 1)[1:, None])
    positions, forces = proxy.follow(np.array(way))
    assert (np.linalg.norm(forces, axis=1) > 0.0).mean() > 0.2
    assert min(proxy.nearest(x).distance for x in positions[::17]) >= -1e-9
    assert proxy.unsettled < 0.01 * len(way)
