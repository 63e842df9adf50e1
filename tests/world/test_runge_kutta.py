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
