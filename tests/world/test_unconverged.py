"""What the solver leaves undone: heaps, falls, towers and walls, with a small budget and with the default one."""

import numpy as np
import pytest
from motions import velocity

import palpate as pp


def fallen(robot, seed, **options):
    """A robot in a posture by chance, half a metre above a floor, nothing holding its joints."""
    rng = np.random.default_rng(seed)
    world = pp.World([robot, pp.models.plane()], ledger=True, **options)
    model, root = world.model, None
    for joint in model.description.joints:
        where = model.q_index.get(joint.name)
        if joint.kind == "free":
            x, root = rng.normal(size=4), where
            world.q[where] = (0.0, 0.0, 0.0, *(x / np.linalg.norm(x)))
        elif joint.kind == "spherical":
            x = np.array([1.0, *(0.3 * rng.normal(size=3))])
            world.q[where] = x / np.linalg.norm(x)
        elif where is not None:
            low, high = np.maximum(model.lower[where], -1.0), np.minimum(model.upper[where], 1.0)
            world.q[where] = low + (high - low) * rng.uniform(0.1, 0.9, size=low.shape)
    world.q[root.start + 2] = 0.5 - min(world.pose(b)[2, 3] for b in model.body_names[1:])
    return world


def tower(n=60, **options):
    """Planks laid crosswise in twos."""
    parts, (length, width, height) = [pp.models.plane()], (0.3, 0.06, 0.02)
    for i in range(n):
        aside, z = (i % 2 - 0.5) * (length - width), height * (i // 2 + 0.5)
        along_x = i // 2 % 2 == 0
        size, at = ((length, width, height), (0, aside, z)) if along_x else ((width, length, height), (aside, 0, z))
        parts.append(pp.models.box(size, mass=0.2, at=at, name=f"plank{i}"))
    return pp.World(parts, ledger=True, **options)


def wall(columns=7, courses=6, **options):
    """Bricks in courses, every other one shifted by half a brick, a hair apart."""
    parts, (length, width, height) = [pp.models.plane()], (0.2, 0.1, 0.1)
    for course in range(courses):
        n = columns - course % 2
        for k in range(n):
            at = ((k - (n - 1) / 2) * length * 1.001, 0.0, height * (course + 0.5))
            parts.append(pp.models.box((length, width, height), mass=2.0, at=at, name=f"brick{course}.{k}"))
    return pp.World(parts, ledger=True, **options)


def work_of_impulses(world):
    """Energy that the last step's impulses put in: E(v+) - E(v_free), from twists and impulses alone [J].

    Impulses of joints too: a contact may lift what a joint's end presses down.
    """
    r = world.arrays.rows
    R = r.n_rows
    total = 0.0
    for i in range(R):
        for side in range(2):
            s = r.slot[2 * i + side]
            if s:
                J = r.J[i, 18 * side : 18 * side + 18].reshape(3, 6)
                total += 0.5 * r.lam[i] @ J @ (r.W_free[6 * s : 6 * s + 6] + r.W[6 * s : 6 * s + 6])
    return total


SCENES = {
    "hrp2 falls": (lambda **options: fallen(pp.models.hrp2(), 1, **options), 700),
    "human falls": (lambda **options: fallen(pp.models.human(), 3, **options), 700),
    "tower": (tower, 60),
    "wall": (wall, 60),
}


def leave_no_time(world):
    """As a real-time session does whose tick is over: every step should have been done long ago."""
    world.arrays.rows.until_ns = 1


@pytest.mark.parametrize("budget", [0, 1, 100, 1000])
@pytest.mark.parametrize("scene", SCENES)
def test_no_budget_is_so_small_that_impulses_create_energy(scene, budget):
    """Hard, inelastic contact only takes energy out, converged or not, and no answer is worse than none.

    A budget of 0 stands for the default one and no time.
    """
    make, steps = SCENES[scene]
    world = make(budget=budget) if budget else make()
    if not budget:
        leave_no_time(world)
    ran_out, scale = 0, 0.0
    for _ in range(steps):
        world.step()
        scale = max(scale, world.energy.kinetic)
        assert work_of_impulses(world) <= 1e-9 * (scale + 1e-3)
        assert world.report.relative_residual <= 1.0 + 1e-9
        ran_out += world.report.ran_out
    assert ran_out > 0  # or this would say nothing


def boxes_that_land(seed, bodies=48):
    """Boxes of all shapes and masses from 0.2 to 5 kg, tilted, dropped into a bin."""
    rng = np.random.default_rng(seed)
    parts = [pp.models.plane()]
    for k, (x, y) in enumerate(((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))):
        parts.append(pp.models.plane((-0.2 * x, -0.2 * y, 0.0), (x, y, 0.0), name=f"wall{k}"))
    for i in range(bodies):
        size, mass = tuple(rng.uniform(0.05, 0.1, size=3)), float(rng.uniform(0.2, 5.0))
        x, y = (np.array([i % 3, i // 3 % 3]) - 1) * 0.13 + rng.uniform(-0.005, 0.005, 2)
        turn = pp.Rotation.about(tuple(rng.normal(size=3)), float(rng.uniform(0.0, 0.8)))
        parts.append(pp.models.box(size, mass=mass, at=(x, y, 0.08 + 0.12 * (i // 9)), R=turn, name=f"box{i}"))
    return pp.World(parts)


def test_boxes_that_land_are_solved_in_nearly_all_steps():
    """Every one of them a blow for those below: 1 % of steps may end above the tolerance, and by no more than 1e-2."""
    ended, steps = [], 400
    for seed in range(3):
        world = boxes_that_land(seed)
        for _ in range(steps):
            world.step()
            if world.report.ran_out:
                ended.append(world.report.relative_residual)
    assert len(ended) <= 0.01 * 3 * steps
    assert max(ended, default=0.0) < 1e-2


def impulses_in_their_cones(world):
    r = world.arrays.rows
    lam, mu = r.lam[: r.n_contacts], r.mu[: r.n_contacts]
    return bool(np.all(np.hypot(lam[:, 1], lam[:, 2]) <= mu * lam[:, 0] * (1.0 + 1e-12)))


@pytest.mark.parametrize("seed", range(4))
def test_without_time_a_heap_still_lands_on_the_floor_and_within_the_cones(seed):
    """A few sweeps a step: late, a heap is soft, but nothing falls through or is shot away."""
    rng = np.random.default_rng(seed)
    sizes = rng.uniform(0.04, 0.12, size=(24, 3))
    parts = [pp.models.plane()]
    for k, size in enumerate(sizes):
        at = (*rng.uniform(-0.1, 0.1, size=2), 0.1 + 0.15 * k)
        parts.append(pp.models.box(tuple(size), mass=float(rng.uniform(0.1, 10.0)), at=at, name=f"box{k}"))
    world = pp.World(parts)
    leave_no_time(world)
    for _ in range(1500):
        world.step()
        assert impulses_in_their_cones(world)
        heights = np.array([world.pose(f"box{k}")[2, 3] for k in range(24)])
        assert heights.min() > 0.0  # no centre is below the floor,
        assert heights.max() <= 0.1 + 0.15 * 23  # and none above where the highest began


def test_time_that_is_ample_changes_nothing():
    """To the bit: the clock only stops, it steers nothing."""
    worlds = [wall(), wall()]
    worlds[1].arrays.rows.until_ns = 1 << 62
    for _ in range(60):
        for world in worlds:
            world.step()
    assert np.array_equal(worlds[0].q, worlds[1].q)
    assert np.array_equal(worlds[0].v, worlds[1].v)


@pytest.mark.parametrize("robot", ["hrp2", "human"])
@pytest.mark.parametrize("seed", range(3))
def test_falling_humanoids_are_solved_in_nearly_all_steps(robot, seed):
    """They land, tangle and lie on twenty links at once."""
    world = fallen(getattr(pp.models, robot)(), seed)
    unsolved, most = 0, 0
    for _ in range(1200):
        world.step()
        unsolved += world.report.ran_out > 0
        most = max(most, world.report.rows)
        assert world.report.relative_residual < 0.1
    assert most >= 10
    assert unsolved <= 0.1 * 1200


def test_a_tower_of_sixty_planks_stands():
    world = tower()
    start = world.q.copy()
    for _ in range(500):
        world.step()
        assert world.report.ran_out == 0
    assert np.abs(world.q - start).max() < 1e-4


@pytest.mark.parametrize(("columns", "courses"), [(7, 6), (11, 10)])
def test_brick_walls_stand(columns, courses):
    world = wall(columns, courses)
    start, unsolved = world.q.copy(), 0
    for _ in range(150):
        world.step()
        unsolved += world.report.ran_out > 0
    assert unsolved <= 8
    assert np.abs(world.q - start).max() < 1e-4
    assert max(np.linalg.norm(velocity(world, f"brick{courses - 1}.{k}")) for k in range(columns - 1)) < 1e-5


@pytest.mark.parametrize("seed", range(20))
def test_what_falls_along_a_wall_is_not_asked_for_its_last_bit(seed):
    """A box flat against a wall, meeting it at less than the rounding of its fall: solved, not tried for ever."""
    rng = np.random.default_rng([11, seed])
    size, R = rng.uniform(0.02, 0.3, size=3), pp.Rotation.about((1, 0, 0), rng.uniform(0.0, 6.0))
    world = pp.World([pp.models.plane(normal=(1, 0, 0)), pp.models.box(size, at=(0.5 * size[0], 0, 0), R=R)])
    world.v[3:] = R.inv().apply((-(10.0 ** rng.uniform(-18, -15)), 0.0, -rng.uniform(0.5, 5.0)))
    for _ in range(100):
        world.step()
        assert world.report.ran_out == 0
        assert world.report.relative_residual <= 1e-6
        assert world.report.newton <= 15
