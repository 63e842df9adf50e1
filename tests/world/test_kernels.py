"""The step's kernels on small worlds, a few steps each: the same numbers compiled and as plain Python."""

from dataclasses import replace

import numpy as np
import pytest

import palpate as pp
from palpate.model.description import Body, Joint, MultiBody

pytestmark = pytest.mark.nojit


def pendulum(**limits):
    """One link on a hinge about y, its mass 0.3 m below."""
    link = Body("link", 1.0, (0, 0, -0.3), (0.01, 0.01, 0.01))
    return MultiBody("pendulum", (link,), (Joint("hinge", "revolute", "world", "link", axis=(0, 1, 0), **limits),))


def test_a_stack_that_is_put_down_rests_and_slides_where_it_is_pulled():
    boxes = [pp.models.box(mass=1.0, at=(0, 0, 0.05 + 0.1 * i), name=f"b{i}") for i in range(2)]
    world = pp.World([*boxes, pp.models.plane()], ledger=True)
    world.step(3)
    assert sum(c.force[2] for c in world.contacts if c.body_a == "plane") == pytest.approx(2 * 9.81, rel=1e-4)
    for _ in range(3):
        world.apply("b1", force=(12.0, 0.0, 0.0))
        world.step()
    # How four corners share the load is not determined: one of them may have none of it, and is open.
    top = [c for c in world.contacts if c.body_b == "b1" or c.body_a == "b1"]
    assert {c.mode for c in top if c.force.any()} == {"slide"}
    assert np.sum([c.force for c in top], axis=0) == pytest.approx((-0.5 * 9.81, 0.0, 9.81), abs=1e-3)
    assert world.ledger.hands > 0.0 > world.ledger.contacts
    assert world.report.relative_residual <= 1e-6


def test_overlap_is_taken_out_of_positions_only():
    world = pp.World([pp.models.ball(0.1, at=(0, 0, 0.095)), pp.models.plane()])
    world.step(3)
    assert world.pose("ball")[2, 3] > 0.096
    assert abs(world.v).max() < 1e-6


def test_a_ball_bounces_and_spins_off_with_friction():
    rubber = pp.Material("rubber", friction=0.8, friction_sliding=0.5, restitution=0.5)
    world = pp.World([pp.models.ball(0.1, at=(0, 0, 0.1), material=rubber), pp.models.plane(material=rubber)])
    world.v = (0.0, 0.0, 5.0, 1.0, 0.0, -2.0)
    world.step(2)
    assert world.v[5] == pytest.approx(1.0, abs=0.05)  # e times the approach, less the weight of two steps
    assert world.v[1] > 1.0  # friction turned it


def test_a_joint_stops_at_its_end_and_rubs():
    world = pp.World(pendulum(upper=0.1, friction=0.05))
    world.q[:], world.v[:] = 0.0999, 2.0
    world.step(4)
    assert 0.0999 < world.q[0] < 0.1 + 1e-6
    assert -0.05 < world.v[0] < 1e-6  # it comes to the end, and its weight takes it back
    assert world.report.rows == 2


def test_ties_and_welds_hold():
    world = pp.World([pp.models.box(at=(0, 0, 1), name="a"), pp.models.box(at=(0.2, 0, 1), name="b"),
                      pp.models.box(at=(0.4, 0, 1), name="c")])  # fmt: skip
    world.connect("world", "a", at_world=(0, 0, 1))
    world.connect("a", "b", weld=True)
    world.connect("b", "c", at_world=(0.3, 0, 1))
    world.step(4)
    assert np.abs(world.pose("a")[:3, 3] - (0, 0, 1)).max() < 1e-6
    relative = np.linalg.inv(world.pose("a")) @ world.pose("b")
    assert np.abs(relative[:3, 3] - (0.2, 0, 0)).max() < 1e-6


def test_implicit_springs_hold_hinges_and_ball_joints():
    ball_joint = replace(pendulum(), joints=(Joint("ball", "spherical", "world", "link"),))
    for part in (pendulum(damping=0.1), ball_joint):
        world = pp.World(part)
        world.v[:] = 0.5
        world.hold(1e5, 1e3)
        world.step(5)
        assert abs(world.v).max() < 0.05  # of 0.5


def test_the_fourth_order_step_swings_and_flies():
    world = pp.World([pendulum(), pp.models.box(at=(2, 0, 0))], integrator="runge-kutta")
    world.q[0] = 1.0
    start = world.energy.total
    world.step(3)
    assert world.energy.total == pytest.approx(start, abs=1e-10)


def test_a_sliding_patch_of_many_points_is_solved_to_the_tolerance():
    """Cold, full, pulled and turned: sweeps, Newton and where it must ADMM."""
    box = pp.models.box((0.2, 0.2, 0.1), mass=2.0, at=(0, 0, 0.05))
    world = pp.World(
        [box, pp.models.box((0.1, 0.1, 0.1), mass=20.0, at=(0.05, 0, 0.15), name="load"), pp.models.plane()]
    )
    world.v[:6] = (0, 0, 3.0, 0.5, 0.2, 0)
    world.step(2)
    assert world.report.relative_residual <= 1e-6
    assert world.report.newton > 0


def limbs(root, **options):
    """A body on a joint of this kind, a limb on a ball joint, another on a hinge."""
    body = [Body(x, 1.0, (0.05, 0.02, -0.1), (0.01, 0.012, 0.004)) for x in ("trunk", "limb", "hand")]
    end = pp.Transform(p=(0, 0, -0.2))
    joints = (
        Joint("root", root, "world", "trunk"),
        Joint("ball", "spherical", "trunk", "limb", end),
        Joint("hinge", "revolute", "limb", "hand", end, axis=(0, 1, 0), **options),
    )
    return MultiBody("limbs", tuple(body), joints)


@pytest.mark.parametrize("speed", [1.0, 15.0, 400.0])
@pytest.mark.parametrize("root", ["free", "revolute", "spherical"])
def test_limbs_at_any_speed_keep_their_energy(root, speed):
    """Slow by Verlet's rule, faster by Runge and Kutta's, faster still in parts; with a hand's push in the account."""
    world = pp.World(limbs(root), ledger=True)
    world.v[-4:] = speed * np.array([0.3, -0.2, 0.4, 1.0])
    for _ in range(4):
        world.apply("hand", force=(1.0, 0.5, -0.3), torque=(0.0, 0.01, 0.0))
        world.step()
    account = world.ledger
    assert account.hands != 0.0
    assert abs(account.step) < 1e-3 * account.kinetic


@pytest.mark.parametrize("friction", [0.0, 0.01])
def test_fast_limbs_that_rub_or_are_stiffly_held_gain_nothing(friction):
    world = pp.World(limbs("free", friction=friction), gravity=(0, 0, 0), integrator="runge-kutta")
    world.v[-1] = 40.0
    if friction == 0.0:
        world.hold(1e5, 1e3)
    energy = world.energy.kinetic
    world.step(3)
    assert world.energy.kinetic < energy * (1.0 + 1e-3)


def test_a_push_beside_the_centre_turns_its_lever_with_the_body():
    """A ball on a ball joint and one that is free, both lone: compiled and plain alike."""
    kinds = {"flying": "free", "hanging": "spherical"}
    bodies = {name: Body(name, 1.0, (0.1, 0, 0), (0.01, 0.02, 0.03)) for name in kinds}
    parts = [MultiBody(name, (bodies[name],), (Joint(name, kinds[name], "world", name),)) for name in kinds]
    world = pp.World(parts, gravity=(0, 0, 0), ledger=True)
    world.v[:3], world.v[6:] = (1.0, 2.0, 3.0), (3.0, 2.0, 1.0)
    for _ in range(5):
        for name in kinds:
            world.apply(name, force=(1.0, 2.0, 3.0), torque=(0.1, 0.0, 0.2))
        world.step()
    assert abs(world.ledger.step) < 1e-2 * abs(world.ledger.hands)
