"""Fourth order where nothing touches: error falls with the fourth power of dt, energy is kept."""

from dataclasses import replace

import numpy as np
import pytest

import palpate as pp
from palpate.model.description import Body, Joint, MultiBody


def after(make, dt, seconds=0.4):
    world = pp.World(make(), dt=dt, integrator="runge-kutta")
    rng = np.random.default_rng(4)
    world.v = rng.uniform(-2.0, 2.0, world.model.nv)
    world.step(round(seconds / dt))
    return np.r_[world.q, world.v]


def ball_joint_chain():
    """Two bodies on spherical joints."""

    def body(n):
        return Body(n, 1.0, (0, 0.02, -0.1), (0.01, 0.012, 0.004))

    joints = (Joint("j1", "spherical", "world", "a"), Joint("j2", "spherical", "a", "b", pp.Transform(p=(0, 0, -0.2))))
    return MultiBody("chain", (body("a"), body("b")), joints)


@pytest.mark.parametrize("make", [pp.models.puma560, ball_joint_chain, lambda: pp.models.box((0.1, 0.2, 0.3))])
def test_the_error_falls_with_the_fourth_power_of_the_step(make):
    exact = after(make, 1.25e-4)
    coarse, fine = (np.abs(after(make, dt) - exact).max() for dt in (4e-3, 2e-3))
    assert fine < 1e-4
    assert 10.0 < coarse / fine < 25.0


def test_energy_of_a_free_swing_is_kept():
    """Acceptance 11 for the World: PUMA 560, 2 s, h = 1 ms, relative to the largest kinetic energy."""
    arm = pp.models.puma560()
    unlimited = [replace(j, lower=-np.inf, upper=np.inf) if j.kind == "revolute" else j for j in arm.joints]
    bodies = [replace(b, shapes=()) for b in arm.bodies]
    arm = replace(arm, joints=tuple(unlimited), bodies=tuple(bodies))
    world = pp.World(arm, integrator="runge-kutta")
    start, largest, worst = world.energy.total, 0.0, 0.0
    for _ in range(2000):
        world.step()
        largest = max(largest, world.energy.kinetic)
        worst = max(worst, abs(world.energy.total - start))
    assert worst < 1e-6 * largest


def test_what_touches_is_left_to_the_semi_implicit_step():
    """A ball dropped with the fourth-order integrator still comes to rest on the floor."""
    world = pp.World([pp.models.ball(0.1, at=(0, 0, 0.5)), pp.models.plane()], integrator="runge-kutta")
    world.step(1500)
    assert world.pose("ball")[2, 3] == pytest.approx(0.1, abs=1e-6)
    assert world.report.contacts == 1


def test_an_unknown_integrator_is_refused():
    with pytest.raises(ValueError, match="semi-implicit, runge-kutta"):
        pp.World(pp.models.ball(), integrator="euler")


def damped_arm(damping):
    arm = pp.models.puma560()
    joints = [replace(j, damping=damping) if j.kind == "revolute" else j for j in arm.joints]
    return replace(arm, joints=tuple(joints), bodies=tuple(replace(b, shapes=()) for b in arm.bodies))


def test_soft_springs_and_dampers_are_of_fourth_order_too():
    def held(dt):
        world = pp.World(damped_arm(0.3), dt=dt, integrator="runge-kutta")
        world.hold(30.0, 0.5, q=world.q + 0.2)
        world.step(round(0.2 / dt))
        return np.r_[world.q, world.v]

    exact = held(1.25e-4)
    coarse, fine = (np.abs(held(dt) - exact).max() for dt in (2e-3, 1e-3))
    assert fine < 1e-6
    assert 10.0 < coarse / fine < 25.0


@pytest.mark.parametrize("name", ["puma560", "human", "hrp2"])
@pytest.mark.parametrize("damping", [1.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("stiffness", [0.0, 1e3, 1e6])
def test_holding_is_stable_for_any_gains(name, stiffness, damping):
    """What would be stiff for the explicit rule is left to the implicit step: nothing grows, and all comes to rest."""
    robot = getattr(pp.models, name)()
    robot = replace(robot, bodies=tuple(replace(b, shapes=()) for b in robot.bodies))
    world = pp.World(robot, integrator="runge-kutta", gravity=(0, 0, 0), ledger=True)
    first = 6 if world.model.nv > 6 else 0
    world.v[first:] = np.random.default_rng(3).uniform(-2.0, 2.0, world.model.nv - first)
    world.hold(stiffness, damping)
    start = world.energy.kinetic
    for _ in range(40):
        world.step(5)
        assert world.ledger.actuators < 1e-3 * start  # springs and dampers only take
        assert world.energy.kinetic < 1.001 * start


def test_the_ledger_closes_to_the_order_of_the_rule():
    """A driven and pushed arm without contact: the works are the change of energy, to rounding and dt^4."""

    def left(dt):
        world = pp.World(damped_arm(0.1), dt=dt, integrator="runge-kutta", ledger=True)
        world.hold(40.0, 1.0, q=world.q + 0.3)
        for _ in range(round(0.2 / dt)):
            world.apply("link4", force=(3.0, -2.0, 5.0), torque=(0.1, 0.3, -0.2))
            world.step()
        account = world.ledger
        assert sum(account.by_joint.values()) == pytest.approx(account.actuators)
        assert account.hands != 0.0
        return abs(account.step) / abs(account.actuators)

    coarse, fine = left(4e-3), left(2e-3)
    assert fine < 1e-7
    assert fine < coarse / 10.0


def test_a_body_that_falls_flies_and_lands_has_an_account_that_closes():
    world = pp.World(
        [pp.models.box(mass=2.0, at=(0, 0, 0.5)), pp.models.plane()], integrator="runge-kutta", ledger=True
    )
    world.v[:3] = 1.0, 2.0, 3.0
    start = world.energy.total
    world.step(1500)
    account = world.ledger
    assert account.contacts == pytest.approx(world.energy.total - start, rel=1e-2)
    assert abs(account.step) < 0.02 * abs(account.contacts)


@pytest.mark.parametrize("integrator", ["semi-implicit", "runge-kutta"])
def test_what_stops_the_world_is_named(integrator):
    """The third of four bodies is driven beyond all bounds: the message says so, and the last good state is kept."""
    world = pp.World([ball_joint_chain(), pp.models.box(at=(3, 0, 3)), pp.models.puma560()], integrator=integrator)
    world.step(3)
    q = world.q.copy()
    world.apply("box", force=(1e18, 0.0, 0.0))
    with pytest.raises(pp.WorldError, match="'box'"):
        world.step()
    assert (world.q == q).all()
    world.step()
