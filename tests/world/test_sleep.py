"""What rests sleeps: frozen to the bit, and woken by whatever changes, as if it had been awake."""

import numpy as np
import pytest
from motions import G, force_between, set_velocity, spin, total, velocity

import palpate as pp
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Push, Scripted
from palpate.scenes.blocks import stack
from palpate.scenes.scene import Scene
from palpate.world.sleep import FIRM, REST_M_S

ROUGH, ICE = pp.Material("rough", 0.6), pp.Material("ice", 0.0)
TILT = pp.Rotation.about((0, 1, 0), 0.2)


def sleepy(parts, **options):
    """A world whose bodies sleep, unless it is said otherwise."""
    return pp.World(parts, **{"sleep": True} | options)


def block(name, x=0.0, z=0.05, mass=1.0, material=ROUGH, R=None, edge=0.1):
    R = R or pp.Rotation()
    return pp.models.box((edge,) * 3, mass=mass, at=(x, 0.0, z), R=R, material=material, name=name)


def tower(**options):
    """Three boxes on each other, heavy below."""
    boxes = [block(f"b{i}", 0.01 * i, 0.05 + 0.1 * i, mass=3.0 - i) for i in range(3)]
    return sleepy([pp.models.plane(material=ROUGH), *boxes], **options)


def slope(**options):
    """A box that sticks to a slope."""
    up = tuple(TILT.apply((0, 0, 1)))
    box = pp.models.box((0.1,) * 3, at=tuple(TILT.apply((0, 0, 0.05))), R=TILT, material=ROUGH, name="b0")
    return sleepy([pp.models.plane(normal=up, material=ROUGH), box], **options)


def arch(**options):
    """A plank on two blocks, one of them on a table that can be moved."""
    table = pp.models.box((0.2, 0.2, 0.1), at=(0.2, 0, 0.05), material=ROUGH, name="table", placed=True)
    blocks = [block("b0", -0.2, 0.1, edge=0.2), block("b1", 0.2, 0.15)]
    plank = pp.models.box((0.6, 0.1, 0.02), mass=0.5, at=(0, 0, 0.21), material=ROUGH, name="plank")
    return sleepy([pp.models.plane(material=ROUGH), table, *blocks, plank], **options)


def balls(**options):
    """Three that lie against each other in a groove, a fourth on them."""
    walls = [pp.models.plane(normal=n, name=f"wall{n}", material=ROUGH) for n in ((1, 0, 1), (-1, 0, 1))]
    ends = [pp.models.plane((0, y, 0), (0, -np.sign(y), 0), name=f"end{y}", material=ROUGH) for y in (-0.15, 0.15)]
    parts = [pp.models.ball(0.05, at=(0, y, 0.0708), material=ROUGH, name=f"ball{y}") for y in (-0.1, 0.0, 0.1)]
    return sleepy([*walls, *ends, *parts], **options)


FAMILY = [tower, slope, arch, balls]


def asleep(world, most=4000):
    """The world when all that can has fallen asleep."""
    movable = np.flatnonzero(world.arrays.state.lone)
    for _ in range(most):
        world.step()
        if world.arrays.state.asleep[movable].all():
            return world
    raise AssertionError(f"awake after {world.time} s: {set(world.parts) - {*world.asleep}}")


def awake(world):
    return {name for name in world.parts if name not in world.asleep}


@pytest.mark.parametrize("scene", FAMILY)
@pytest.mark.parametrize("options", [{}, {"dt": 2e-3}, {"integrator": "runge-kutta"}, {"full": True}])
def test_what_rests_is_frozen_to_the_bit(scene, options):
    world = asleep(scene(**options))
    q, forces = world.q.copy(), [c.force for c in world.contacts]
    assert not world.v.any()
    world.step(500)
    assert np.array_equal(world.q, q)
    assert not world.v.any()
    assert np.array_equal([c.force for c in world.contacts], forces)


@pytest.mark.parametrize("scene", FAMILY)
def test_contacts_of_sleepers_balance_their_weight(scene):
    world = asleep(scene())
    mass = {b.name: b.mass for b in world.model.description.bodies}
    for name in world.asleep:
        force = sum(
            (c.force if c.body_b == name else -c.force for c in world.contacts if name in (c.body_a, c.body_b)),
            start=np.zeros(3),
        )
        assert force == pytest.approx((0, 0, G * mass[name]), abs=1e-5 * G * mass[name])
    assert {c.mode for c in world.contacts} <= {"stick", "open"}


@pytest.mark.parametrize("scene", FAMILY)
def test_a_sleeping_and_a_waking_run_agree(scene):
    """At rest, and pushed afterwards: the first to no more than it could have moved meanwhile."""
    one, other = scene(), scene(sleep=False)
    for world in (one, other):
        world.step(2000)
    assert one.asleep
    assert not other.asleep
    assert one.q == pytest.approx(other.q, abs=2 * REST_M_S)
    body = one.asleep[-1]
    for world in (one, other):
        for _ in range(40):
            world.apply(body, force=(9.0, 3.0, 2.0))
            world.step()
            assert body not in world.asleep
        world.step(60)
    assert np.abs(one.q - other.q).max() < 1e-4
    assert np.abs(one.v - other.v).max() < 1e-2


def write_q(world):
    world.q[world.model.q_index["b2"].start] += 1e-3


def write_v(world):
    world.v[world.model.v_index["b2"].start + 3] = 1e-3


def write_tau(world):
    world.tau[world.model.v_index["b2"].start + 3] = 1e-3


def change_friction(world):
    world.arrays.state.mu_static[:] *= 0.5


def change_step(world):
    world.arrays.state.dt *= 0.5


def change_gravity(world):
    world.model.arrays.gravity.setflags(write=True)
    world.model.arrays.gravity[2] *= 1.01


CHANGES = {
    "force": lambda world: world.apply("b1", force=(1e-6, 0, 0)),
    "torque": lambda world: world.apply("b0", torque=(0, 0, 1e-6)),
    "coordinates": write_q,
    "velocity": write_v,
    "joint torque": write_tau,
    "friction": change_friction,
    "gravity": change_gravity,
    "step": change_step,
    "tie": lambda world: world.connect("b2", "world"),
    "place": lambda world: world.place("b1", pp.Transform(p=(1.0, 0, 0.05))),
    "parked": lambda world: world.place("b1", pp.Transform(p=(1.0, 0, 0.05)), parked=True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_wakes_the_whole_group_in_the_same_step(change):
    world = asleep(tower())
    CHANGES[change](world)
    world.step()
    assert world.asleep == ()


@pytest.mark.parametrize("scene", FAMILY)
def test_waking_makes_no_jolt_and_no_energy(scene):
    """A force that moves nothing wakes all: they stay where they are, on the impulses they slept with."""
    world = asleep(scene())
    q, energy = world.q.copy(), total(world.energy)
    for name in world.asleep:
        world.apply(name, force=(0, 0, -1e-9))
    for _ in range(50):
        world.step()
        assert world.asleep == ()
        assert np.abs(world.v).max() < 20 * REST_M_S
        assert total(world.energy) <= energy + 1e-10
    assert world.q == pytest.approx(q, abs=50 * 1e-3 * 20 * REST_M_S)


def test_a_force_that_lasts_keeps_awake_and_friction_holds_all_the_same():
    world = tower()
    for _ in range(500):
        world.apply("b2", force=(0.5, 0, 0))
        world.step()
        assert "b2" not in world.asleep
    assert np.abs(world.v).max() < 1e-6


# ---- who never sleeps


def test_what_slides_down_a_slope_never_sleeps():
    up = tuple(TILT.apply((0, 0, 1)))
    slick = pp.Material("slick", 0.19)  # tan 0.2 is 0.203
    box = pp.models.box((0.1,) * 3, at=tuple(TILT.apply((0, 0, 0.05))), R=TILT, material=slick, name="b")
    world = sleepy([pp.models.plane(normal=up, material=slick), box])
    for _ in range(600):
        world.step()
        assert world.asleep == ()
    assert np.linalg.norm(velocity(world, "b")) == pytest.approx(0.6 * G * (np.sin(0.2) - 0.19 * np.cos(0.2)), rel=1e-4)


@pytest.mark.parametrize("speed", [1e-4, 1e-5])
def test_what_creeps_never_sleeps(speed):
    world = sleepy([pp.models.plane(), pp.models.ball(0.05, at=(0, 0, 0.05), name="b")])
    set_velocity(world, "b", (speed, 0, 0), (0, speed / 0.05, 0))
    world.step(2000)
    assert world.asleep == ()
    assert world.q[0] == pytest.approx(2.0 * speed, rel=1e-3)


def test_what_turns_round_in_its_flight_or_on_a_slope_never_sleeps():
    thrown = sleepy([pp.models.plane(), pp.models.ball(0.05, at=(0, 0, 0.05), name="b")])
    set_velocity(thrown, "b", (0, 0, 2.0))
    for _ in range(400):
        thrown.step()
        assert thrown.asleep == ()


def test_what_floats_never_sleeps():
    """At rest, or slower than what rests, and two that touch: momentum stays."""
    parts = [pp.models.ball(0.05, at=(0.1 * k, 0, 0), name=f"b{k}") for k in range(3)]
    world = sleepy(parts, gravity=(0, 0, 0))
    set_velocity(world, "b0", (1e-7, 0, 0))
    world.step(1000)
    assert world.asleep == ()
    assert sum(velocity(world, f"b{k}")[0] for k in range(3)) == pytest.approx(1e-7, rel=1e-9)


def test_trees_and_what_they_carry_never_sleep():
    arm = sleepy([pp.models.puma560(), pp.models.plane(), block("b0", 2.0)])
    arm.hold()
    arm.step(400)
    assert arm.asleep == ("b0",)


def test_no_sleep_where_laws_or_modules_are_somebodys_own():
    assert not sleepy([block("b0"), pp.models.plane()], friction_law="stribeck").arrays.state.sleeps
    assert not sleepy([block("b0"), pp.models.plane()], sleep=False).arrays.state.sleeps


# ---- neighbours


def test_who_stands_on_what_is_removed_falls():
    world = asleep(tower())
    world.remove("b0")
    world.step(20)
    assert velocity(world, "b1")[2] == pytest.approx(-0.02 * G, rel=0.01)


def test_who_stands_on_what_is_taken_away_falls_as_awake():
    one, other = asleep(tower()), tower(sleep=False)
    other.step(round(one.time / one.dt))
    for world in (one, other):
        world.place("b0", pp.Transform(p=(1.0, 0, 0.05)))
        world.step(100)
    assert velocity(one, "b2")[2] < -0.9
    assert one.q == pytest.approx(other.q, abs=1e-5)


@pytest.mark.parametrize("way", [(0, 0, 0.002), (0, 0, -0.05), (0.3, 0, 0)])
def test_a_table_that_moves_wakes_what_stands_on_it(way):
    world = asleep(arch())
    world.place("table", pp.Transform(p=(0.2 + way[0], 0, 0.05 + way[2])))
    world.step()
    assert world.asleep == ()


@pytest.mark.nojit
def test_a_table_that_comes_wakes_what_it_touches_and_no_other():
    table = pp.models.box((0.2, 0.2, 0.1), at=(0.0, 1.0, 0.05), name="table", placed=True)
    world = asleep(sleepy([pp.models.plane(), block("b0"), block("b1", 1.0), table]))
    world.place("table", pp.Transform(p=(0.1495, 0, 0.05)))
    world.step()
    assert world.asleep == ("b1",)
    world.step(100)
    assert world.pose("b0")[0, 3] < -4e-4


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_what_strikes_a_sleeper_meets_it_as_awake(seed, restitution):
    """A ball against the topmost of three, and one on the floor: velocities after the blow as without sleep."""
    rng = np.random.default_rng(seed)
    speed = rng.uniform((-1.9, -0.1, -0.1), (-1.8, 0.1, 0.1))
    rubber = pp.Material("rubber", 0.4, restitution=restitution)
    parts = [pp.models.plane(material=ROUGH), *(block(f"b{i}", 0, 0.05 + 0.1 * i) for i in range(3))]
    parts.append(pp.models.ball(0.04, mass=0.5, at=(0.0, 3.0, 0.04), material=rubber, name="ball"))
    worlds = [sleepy(parts, sleep=sleep) for sleep in (True, False)]
    for world in worlds:
        world.step(400)
    assert {"b0", "b1", "b2"} <= {*worlds[0].asleep}
    energies = []
    for world in worlds:
        world.place("ball", pp.Transform(p=(0.12, 0.0, 0.25)))
        set_velocity(world, "ball", speed)
        energies.append(total(world.energy))
        for _ in range(30):
            world.step()
            now = total(world.energy)
            assert now <= energies[-1] + 1e-6
            energies[-1] = now
    assert worlds[0].asleep == ()
    assert np.abs(worlds[1].v).max() > 0.2
    assert worlds[0].v == pytest.approx(worlds[1].v, abs=2e-3)
    assert worlds[0].q == pytest.approx(worlds[1].q, abs=1e-5)


def test_what_rolls_past_wakes_nobody():
    """Within the margin, without a force."""
    world = asleep(sleepy([pp.models.plane(), block("b0"), pp.models.ball(0.05, at=(0.3, 0.103, 0.05), name="ball")]))
    set_velocity(world, "ball", (-0.5, 0, 0), (0, -10.0, 0))
    near = 0
    for _ in range(1000):
        world.step()
        assert world.asleep == ("b0",)
        near += any({c.body_a, c.body_b} == {"b0", "ball"} for c in world.contacts)
    assert near > 10
    assert velocity(world, "ball") == pytest.approx((-0.5, 0, 0), abs=1e-6)


def spinning_on(material):
    """A ball that spins for ever on a box."""
    ball = pp.models.ball(0.05, at=(0, 0, 0.15), material=ROUGH, name="ball")
    # what a solver may leave, 1e-6 of g dt at the ball's radius, is 2e-7 rad/s by itself
    world = sleepy([pp.models.plane(material=material), block("b0"), ball], tolerance=1e-8)
    set_velocity(world, "ball", angular=(0, 0, 5.0))
    world.step(300)
    return world


@pytest.mark.nojit
def test_what_stands_firmly_sleeps_beside_what_moves():
    world = spinning_on(ROUGH)
    assert world.asleep == ("b0",)
    assert spin(world, "ball") == pytest.approx((0, 0, 5.0), abs=1e-7)
    assert force_between(world, "b0", "ball")[2] == pytest.approx(
        G * next(b.mass for b in world.model.description.bodies if b.name == "ball"), rel=1e-5
    )


@pytest.mark.parametrize("force", [(0.5, 0, 0), (0, 0, -0.2), (0, 0, 0.2)])
def test_a_change_of_what_it_carries_wakes_it(force):
    world = spinning_on(ROUGH)
    world.apply("ball", force=force)
    world.step()
    assert world.asleep == ()


def test_changes_that_are_little_each_wake_it_when_they_are_much_together():
    """A load that grows by a thousandth of what the box bears a step: it wakes at a hundredth of its weight."""
    world, bears = spinning_on(ROUGH), FIRM * G * 1.0
    for k in range(1010):
        world.apply("ball", force=(0, 0, -1e-3 * bears * k))
        world.step()
        if "b0" not in world.asleep:
            break
    assert k == pytest.approx(1000, abs=5)


def heap(n=30, seed=3, **options):
    """Balls dropped into a bin: some roll for ever."""
    rng = np.random.default_rng(seed)
    walls = [pp.models.plane((-0.2 * x, -0.2 * y, 0), (x, y, 0), name=f"wall{x}{y}", material=ROUGH)
             for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]  # fmt: skip
    parts = [pp.models.ball(0.05, at=(*rng.uniform(-0.1, 0.1, 2), 0.06 + 0.11 * i), material=ROUGH, name=f"ball{i}")
             for i in range(n)]  # fmt: skip
    return sleepy([pp.models.plane(material=ROUGH), *walls, *parts], **options)


@pytest.mark.repeated
def test_sleepers_of_a_restless_heap_never_lack_more_of_their_balance_than_they_bear():
    beside = 0
    for seed in range(6):
        world = heap(seed=seed)
        mass = {b.name: b.mass for b in world.model.description.bodies}
        for _ in range(100):
            world.step(60)
            sleepers = world.asleep
            beside += 0 < len(sleepers) < 30
            lack = {name: np.array((0, 0, -G * mass[name])) for name in sleepers}
            for c in world.contacts:
                for name, sign in ((c.body_a, -1.0), (c.body_b, 1.0)):
                    if name in lack:
                        lack[name] += sign * c.force
            for name, force in lack.items():
                assert np.linalg.norm(force) < 1.001 * FIRM * G * mass[name], (seed, world.time, name)
    assert beside > 10  # heaps of which a part slept


@pytest.mark.nojit
def test_what_leaves_a_sleeper_wakes_it():
    world = spinning_on(ROUGH)
    world.place("ball", pp.Transform(p=(1.0, 0, 0.05)))
    world.step()
    assert world.asleep == ()


def test_what_could_slip_does_not_sleep_beside_what_moves():
    assert spinning_on(ICE).asleep == ()


# ---- repeating


@pytest.mark.parametrize("scene", FAMILY)
def test_the_same_bits_with_sleepers(scene):
    found = []
    for _ in range(2):
        world = asleep(scene())
        world.apply(world.asleep[0], force=(20.0, 1.0, 5.0))
        world.step(300)
        found.append((world.q.copy(), world.v.copy()))
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("scene", FAMILY)
def test_a_snapshot_with_sleepers_goes_on_with_the_same_bits(scene):
    """Asleep, then woken; in the world it was taken of and in one that never slept."""
    world = asleep(scene())
    snap, sleepers = world.snapshot(), world.asleep
    ends = []
    for w in (world, world, scene()):
        w.restore(snap)
        assert w.asleep == sleepers
        w.step(10)
        assert w.asleep == sleepers
        forces = [c.force for c in w.contacts]
        w.apply(sleepers[0], force=(20.0, 1.0, 5.0))
        w.step(200)
        ends.append((w.q.copy(), w.v.copy(), np.array(forces)))
    for end in ends[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(ends[0], end, strict=True))


@pytest.mark.parametrize("scene", FAMILY)
def test_the_account_closes_with_sleepers(scene):
    """Falling asleep, sleeping, woken by a push: what the step itself makes or loses is what it is without sleep."""
    rest = []
    for sleep in (True, False):
        world = scene(ledger=True, sleep=sleep)
        world.step(1500)
        quiet = world.ledger
        assert abs(quiet.step) < 1e-6
        for _ in range(100):
            world.apply(world.parts[-1], force=(6.0, 0, 1.0))
            world.step()
        world.step(100)
        rest.append(world.ledger)
    assert rest[0].hands == pytest.approx(rest[1].hands, abs=1e-4)
    assert rest[0].step == pytest.approx(rest[1].step, abs=1e-5)


def test_a_hand_wakes_what_it_pushes():
    """In a session: a stack that sleeps, pushed after half a second, moves as one that is awake.

    At its top: where the lowest slides, how the others turn depends on frictions that hold each other.
    """
    push = Scripted((Push("box4", 0.5, 0.6, (12.0, 0.0, 0.0)),))
    parts = list(stack(5).world._parts.values())
    scenes = [Scene("stack", "a stack", sleepy(parts, dt=1e-3, sleep=sleep)) for sleep in (True, False)]
    one, other = (simulated_run(scene, 800, push) for scene in scenes)
    assert np.array_equal(one["q"][300], one["q"][499])
    assert not np.array_equal(other["q"][300], other["q"][499])
    assert np.abs(one["q"][-1] - one["q"][499]).max() > 1e-3
    assert one["q"][520] == pytest.approx(other["q"][520], abs=1e-4)
    assert one["contact_force"][450].sum(axis=0)[2] == pytest.approx(
        other["contact_force"][450].sum(axis=0)[2], rel=1e-4
    )
