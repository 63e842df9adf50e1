"""Random scenes: whatever falls, nothing explodes, and the report tells the truth."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from motions import natural_maps, penetration, random_world, total

import palpate as pp


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 8),
    restitution=st.sampled_from([0.0, 0.0, 0.5, 1.0]),
    full=st.booleans(),
)
@example(seed=495, n=5, restitution=1.0, full=False)  # a light solid is struck to 219 rad/s, as it should
@example(seed=3999381106, n=3, restitution=1.0, full=True)  # Newton's law of impact alone: a fifth more energy
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_scenes_stay_finite_shallow_and_honest(seed, n, restitution, full):
    """No NaN, no energy from nothing, the residual is what it says; no deeper than a step of a fall plus 1 mm."""
    world = random_world(np.random.default_rng(seed), n, restitution, full=full)
    start, weight = total(world.energy), 9.81 * sum(b.mass for b in world.model.description.bodies)
    for _ in range(60):
        world.step(10)
        assert np.isfinite(world.q).all()
        assert total(world.energy) <= start + 1e-3 * weight  # what overlaps may be lifted
        assert penetration(world) < 1e-3 + world.dt * 6.0
        report = world.report
        impulse, speed, relative = natural_maps(world)
        rounding = 1e-13 * (1.0 + np.abs(world.v).max())  # of a velocity
        if world.arrays.rows.n_rounds:  # the report tells the worst of all rounds
            assert report.residual_m_s >= 0.99 * speed - rounding
        else:
            assert report.residual_m_s == pytest.approx(speed, rel=1e-2, abs=rounding)
            assert report.residual == pytest.approx(impulse, rel=1e-2, abs=100.0 * rounding)
        if report.ran_out == 0:
            assert relative <= 1.01e-6 or speed <= rounding
        assert report.lost == 0
    lowest = min(world.pose(f"solid{i}")[2, 3] for i in range(n))
    assert lowest > 0.0  # above the floor, every centre


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_overlaps_come_apart_gently(seed):
    """Solids dropped into each other: nobody leaves faster than the stated limit lets it."""
    rng = np.random.default_rng(seed)
    world = random_world(rng, 4, gravity=(0.0, 0.0, 0.0))
    world.v[:] = 0.0
    for i in range(4):
        world.q[world.model.q_index[f"solid{i}"]][:3] = (*rng.uniform(-0.05, 0.05, size=2), 0.3)
    fastest = 0.0
    for _ in range(300):
        world.step()
        assert np.isfinite(world.q).all()
        fastest = max(fastest, np.abs(world.v).max())
    assert fastest < 1e-6  # positions part, velocities are not touched


@pytest.mark.slow
def test_a_crowd_around_an_arm_comes_to_rest():
    from palpate.scenes.crowd import crowd

    world = crowd(60).world
    deepest = 0.0
    for _ in range(150):
        world.step(10)
        deepest = max(deepest, penetration(world))
        assert np.isfinite(world.q).all()
    assert deepest < 5e-3
    assert world.report.lost == 0
    assert min(world.pose(f"solid{i}")[2, 3] for i in range(60)) > -0.66


def test_the_painleve_rod_ends_without_nan():
    """A rod dragged over a floor of high friction, where acceleration-level contact has no solution."""
    rough = pp.Material("rough", 1.5)
    R = pp.Rotation.about((0, 1, 0), 0.5)
    world = pp.World([pp.models.plane(material=rough), pp.models.capsule(0.005, 1.0, mass=1.0, material=rough, R=R,
                      at=(0, 0, 0.5 * np.cos(0.5) + 0.005))])  # fmt: skip
    for sign in (1.0, -1.0):
        world.v[:] = 0.0
        world.v[3:6] = R.inv().apply((sign * 5.0, 0, 0))
        world.step(400)
        assert np.isfinite(world.q).all()
        assert np.abs(world.v).max() < 100.0
