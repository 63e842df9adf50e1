"""Modules in Python: the defaults do what the compiled step does, and each can be replaced by a class of one's own."""

import numpy as np
import pytest

import palpate as pp
from palpate.collision.facade import ContactPoint
from palpate.world.defaults import DefaultCollision, DefaultContact, DefaultDynamics, DefaultSimulator
from palpate.world.modules import Answer, Stepped, why_not_compiled

TIGHT = 1e-10


def falling_box(**options):
    world = pp.World([pp.models.plane(), pp.models.box((0.2, 0.1, 0.1), at=(0.0, 0.0, 0.06))], **options)
    # It falls, slides and rests.  No spin: four corners share the weight in many ways, and a spin would feel which.
    world.v[:6] = (0.0, 0.0, 0.0, 0.4, 0.1, 0.0)
    return world, 250


def bouncing_ball(**options):
    rubber = pp.Material("rubber", friction=0.6, friction_sliding=0.4, restitution=0.7)
    world = pp.World(
        [pp.models.plane(material=rubber), pp.models.ball(0.05, at=(0, 0, 0.15), material=rubber)], **options
    )
    world.v[:6] = (0.0, 8.0, 0.0, 0.5, 0.0, 0.0)
    return world, 400


def tumbling_rods(**options):
    """Two blows in one step, of which one would create energy by Newton's law and bounces in part."""
    rubber = pp.Material("rubber", friction=0.8, restitution=1.0)
    turned = pp.Rotation.about((0, 1, 0), 0.6)
    height = 0.2 * np.cos(0.6) + 0.011
    rods = [
        pp.models.capsule(0.01, 0.4, name=name, mass=1.0, material=rubber, R=turned, at=(x, 0, height))
        for name, x in (("a", -1.0), ("b", 1.0))
    ]
    world = pp.World([pp.models.plane(material=rubber), *rods], gravity=(0, 0, 0), **options)
    world.v[:6] = (0, -20.0, 0, *turned.inv().apply((2.0, 0, -2.0)))
    world.v[6:] = (0, 0, 0, *turned.inv().apply((0, 0, -3.0)))
    return world, 60


def chain(name="chain"):
    """A hinge with an end and a damper, then a slide with dry friction, then a ball joint."""
    rod = pp.Shape("capsule", (0.02, 0.2), pp.Transform(p=(0.0, 0.0, -0.15)))
    bodies = [pp.Body(x, 1.0, (0.0, 0.0, -0.15), (0.01, 0.01, 0.002), [rod]) for x in ("one", "two", "three")]
    down = pp.Transform(p=(0.0, 0.0, -0.3))
    return pp.MultiBody(name, bodies, [
        pp.Joint("hinge", "revolute", "world", "one", pp.Transform(p=(0, 0, 1.5)), axis=(0, 1, 0), lower=-0.2,
                 upper=0.3, damping=0.05),
        pp.Joint("slide", "prismatic", "one", "two", down, axis=(0, 0, 1), friction=4.0),
        pp.Joint("ball", "spherical", "two", "three", down, friction=0.02),
    ], postures={"start": {"hinge": 0.25}})  # fmt: skip


def joints_and_springs(**options):
    world = pp.World(chain(), **options)
    world.hold(20.0, 1.0, joints=["slide"])
    world.v[:] = (3.0, 0.1, 0.5, 1.0, -2.0)
    return world, 300


def held_box(**options):
    world = pp.World([pp.models.plane(), chain(), pp.models.box((0.1, 0.1, 0.1), at=(0.0, 0.0, 0.4))], **options)
    world.connect("three", "box", (0.0, 0.0, 0.45), weld=True)
    world.connect("world", "box", (0.05, 0.0, 0.4))
    return world, 150


def standing_robot(**options):
    world = pp.World([pp.models.plane(), pp.models.hrp2()], **options)
    world.hold()
    return world, 40


SCENES = [falling_box, bouncing_ball, tumbling_rods, joints_and_springs, held_box, standing_robot]
# The compiled step takes out the drift of connections by a few sweeps, the one in Python exactly.
APART = {held_box: 1e-5}


@pytest.mark.parametrize("scene", SCENES)
def test_the_defaults_agree_with_the_compiled_step_to_its_tolerance(scene):
    apart = APART.get(scene, 1e-9)
    (compiled, steps), (slow, _) = scene(tolerance=TIGHT), scene(tolerance=TIGHT, simulator=DefaultSimulator())
    assert compiled.is_compiled
    assert not slow.is_compiled
    for _ in range(steps // 10):
        compiled.step(10)
        slow.step(10)
        assert slow.q == pytest.approx(compiled.q, abs=apart)
        assert slow.v == pytest.approx(compiled.v, abs=50.0 * apart)
    assert slow.time == compiled.time
    assert slow.report.contacts == compiled.report.contacts
    assert slow.report.relative_residual <= TIGHT
    modes = [{c.mode for c in w.contacts} - {"open"} for w in (slow, compiled)]  # one corner of four may carry nothing
    assert modes[0] == modes[1]
    force = [sum((c.force for c in w.contacts), np.zeros(3)) for w in (slow, compiled)]
    assert force[0] == pytest.approx(force[1], rel=1e-4, abs=1e-3)


def test_a_snapshot_of_a_world_in_python_goes_on_the_same():
    world, _ = falling_box(dynamics=DefaultDynamics())
    world.step(60)
    snapshot = world.snapshot()
    world.step(40)
    after = world.q.copy()
    world.restore(snapshot)
    world.step(40)
    assert (world.q == after).all()


# ---- one's own


def test_dynamics_of_ones_own_moves_the_world():
    class Moon(DefaultDynamics):
        """Everything weighs a sixth."""

        def acceleration(self, world, torque, armature, wrenches):
            lift = np.array(wrenches)
            lift[1:, 5] += 1.0 * 9.81 * 5 / 6  # one ball of 1 kg
            return super().acceleration(world, torque, armature, lift)

    world = pp.World(pp.models.ball(0.1, mass=1.0, at=(0, 0, 10)), dynamics=Moon())
    world.step(100)
    assert world.q[2] == pytest.approx(10 - 0.5 * 9.81 / 6 * 0.1**2, abs=1e-12)


def test_a_detector_of_ones_own_decides_what_touches():
    class Ceiling:
        """An invisible floor half a metre up."""

        def contacts(self, world):
            z = float(world.pose("ball")[2, 3])
            return [ContactPoint("plane", "ball", "", "", np.array([0, 0, z]), np.array([0, 0, 1.0]), z - 0.5, 0)]

    world = pp.World([pp.models.plane(), pp.models.ball(0.1, at=(0, 0, 0.6))], collision=Ceiling())
    world.step(400)
    assert world.q[2] == pytest.approx(0.5, abs=1e-4)
    (contact,) = world.contacts
    assert contact.normal_force == pytest.approx(9.81 * world.model.mass, rel=1e-3)


def test_a_handler_of_ones_own_pushes():
    class Spring:
        """Penalty contact."""

        def impulses(self, world, dynamics, contacts, v_free, dt):
            return Answer(np.array([2000.0 * max(-c.gap, 0.0) * dt * c.normal for c in contacts]).reshape(-1, 3))

    world = pp.World([pp.models.plane(), pp.models.ball(0.1, mass=1.0, at=(0, 0, 0.1))], contact=Spring())
    heights = []
    for _ in range(500):
        world.step()
        heights.append(world.q[2])
    assert np.mean(heights) == pytest.approx(
        0.1 - 9.81 / 2000, abs=5e-4
    )  # it swings about where spring and weight agree
    assert world.report.contacts == 1
    assert world.report.residual == 0.0


def test_a_simulator_of_ones_own_may_do_as_it_likes():
    class Conveyor:
        def step(self, world, dt):
            q = world.q.copy()
            q[0] += dt
            return Stepped(q, world.v)

    world = pp.World([pp.models.plane(), pp.models.ball(0.1, at=(0, 0, 1))], simulator=Conveyor())
    world.apply("ball", force=(1, 0, 0))
    world.step(1000)
    assert world.q[:3] == pytest.approx([1.0, 0.0, 1.0])
    assert world.time == pytest.approx(1.0)
    assert not world.wrenches.any()
    assert world.contacts == []


def test_a_module_that_gives_nonsense_stops_the_world_with_the_last_good_state():
    class Broken(DefaultDynamics):
        def acceleration(self, world, torque, armature, wrenches):
            a = super().acceleration(world, torque, armature, wrenches)
            return a * np.nan if world.time >= 0.005 else a

    world = pp.World(pp.models.ball(0.1, at=(0, 0, 1)), dynamics=Broken())
    with pytest.raises(pp.WorldError, match=r"velocity of joint .*ball.* is no longer finite"):
        world.step(10)
    assert world.time == pytest.approx(0.005)
    assert np.isfinite(world.q).all()
    assert np.isfinite(world.v).all()

    class Short:
        def step(self, world, dt):
            return Stepped(world.q[:2], world.v)

    with pytest.raises(ValueError, match=r"the simulator gave q \(2,\)"):
        pp.World(pp.models.ball(0.1), simulator=Short()).step()


def test_adding_a_body_keeps_the_modules():
    world = pp.World(pp.models.plane(), collision=DefaultCollision())
    world.add(pp.models.ball(0.1, at=(0, 0, 0.1)))
    world.step(50)
    assert len(world.contacts) == 1
    assert world.q[2] == pytest.approx(0.1, abs=1e-5)


def test_real_time_is_refused_with_one_line_that_names_the_module():
    ball = pp.models.ball(0.1)
    assert why_not_compiled(pp.World(ball)) is None
    line = why_not_compiled(pp.World(ball, dynamics=DefaultDynamics(), contact=DefaultContact()))
    assert line.startswith("this world steps in Python (dynamics=DefaultDynamics, contact=DefaultContact)")
    assert "\n" not in line


@pytest.mark.parametrize(("options", "message"), [
    ({"dynamics": object()}, "must have acceleration and solve"),
    ({"collision": DefaultCollision}, "must be an object of the class DefaultCollision"),
    ({"simulator": DefaultSimulator(), "ledger": True}, "no energy ledger"),
])  # fmt: skip
def test_what_is_no_module_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        pp.World(pp.models.ball(0.1), **options)


def test_a_contact_that_cannot_be_is_refused():
    class Odd:
        def __init__(self, a, b):
            self.names = (a, b)

        def contacts(self, world):
            return [ContactPoint(*self.names, "", "", np.zeros(3), np.array([0, 0, 1.0]), 0.0, 0)]

    for names, message in ((("ball", "plane"), "must be the first"), (("world", "ball"), "has no shape")):
        with pytest.raises(ValueError, match=message):
            pp.World([pp.models.plane(), pp.models.ball(0.1)], collision=Odd(*names)).step()
