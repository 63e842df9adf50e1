"""Where parts of a session meet that each have tests of their own: laws that hold across the seam."""

import numpy as np
import pytest
from haptics.test_mailbox import Bench, engaged
from waiting import until

import palpate as pp
from palpate import frame, jit
from palpate.control.plans.timing import minimum_jerk_rows
from palpate.control.plans.trajectory import Trajectory
from palpate.haptics.devices.protocol import FORCE, TORQUE
from palpate.model.description import Body, Joint, MultiBody
from palpate.scenes.arm import arm_line
from palpate.scenes.blocks import box_on_table
from palpate.scenes.loose import with_loose
from palpate.scenes.scene import Scene

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


# ---- gravity, a spherical joint, Runge-Kutta, events


def about_the_pivot(world: pp.World) -> np.ndarray:
    """(3,) angular momentum about the origin of the only body, which is its pivot [kg m^2/s]."""
    angular, linear = np.split(pp.momentum(world.model, world.q, world.v), 2)
    X, (body,) = world.pose("top"), world.model.description.bodies
    return angular + np.cross(X[:3, :3] @ np.array(body.com), linear)


@pytest.mark.parametrize("times", [0.0, 0.3, 4.0])
@pytest.mark.parametrize("seed", range(2))
def test_gravity_changed_while_a_body_spins_on_its_pivot_keeps_what_it_must(times, seed):
    """Nothing jumps; the energy is T + times V from then on; weight has no moment about the vertical, before or after.

    By Runge-Kutta, whose own error is far smaller than what is asked.
    """
    rng = np.random.default_rng(seed)
    body = Body("top", 0.7, tuple(rng.uniform(-0.1, 0.1, 3)), (0.004, 0.005, 0.003))
    world = pp.World(MultiBody("top", [body], [Joint("pivot", "spherical", "world", "top")]), integrator="runge-kutta")
    world.v[:] = 8.0 * rng.normal(size=3)
    session = pp.touch(Scene("top", "A top", world), page=False)
    upright = about_the_pivot(world)[2]
    session.simulate(0.2)
    before, q, v = world.energy, world.q.copy(), world.v.copy()
    session._event(frame.GRAVITY, times)
    session.simulate(0.001)
    assert np.abs(pp.difference(world.model, q, world.q)).max() < 2e-3 * np.abs(v).max()
    assert np.abs(world.v - v).max() < 2.0  # [rad/s] a millisecond's worth
    session.simulate(0.3)
    total = before.kinetic + times * before.potential
    assert sum(world.energy) == pytest.approx(total, rel=1e-6)
    assert session.frame()["energy"][:2].sum() == pytest.approx(total, rel=1e-6)
    assert about_the_pivot(world)[2] == pytest.approx(upright, rel=1e-6)
    assert abs(world.energy.potential - times * before.potential) >= 1e-3 * times  # it went up or down meanwhile
    session.stop()


# ---- add and place


def test_a_body_that_is_added_rests_on_an_obstacle_that_was_placed_meanwhile():
    """Free bodies from the spares, an obstacle that can be moved: the one finds the other where it was put."""
    shelf = pp.models.box((0.4, 0.4, 0.1), at=(3.0, 0.0, 0.05), name="shelf", placed=True)
    scene = Scene("shelf", "A shelf", pp.World([pp.models.plane(), shelf]), obstacles=("shelf",))
    session = pp.touch(with_loose(scene), page=False)
    model = session.scene.model
    session.simulate(0.1)
    session.edit.place("shelf", pp.Transform(p=(0.0, 1.0, 0.45)))
    box = session.edit.add((0.05, 1.02, 0.6), "box")
    session.simulate(1.0)
    on_the_shelf = session.frame()["pose"][model.body(box)][:3]
    assert on_the_shelf == pytest.approx((0.05, 1.02, 0.5 + 0.05), abs=1e-3)
    session.edit.place("shelf", pp.Transform(p=(3.0, 0.0, 0.05)))  # and is taken away under it
    session.simulate(1.0)
    assert session.frame()["pose"][model.body(box)][2] == pytest.approx(0.05, abs=1e-3)
    session.stop()


@pytest.mark.real_time
def test_what_is_added_and_placed_while_the_clock_runs_is_where_it_was_put():
    with pp.touch(with_loose(box_on_table()), page=False) as session:
        name = session.edit.add((0.7, 0.3, 0.9), "box")
        row = session.scene.model.body(name)
        until(lambda: abs(session.frame()["pose"][row][2] - 0.80) < 1e-3, "it lies on the table")
        session.edit.place(name, pp.Transform(p=(0.7, -0.3, 0.9)))
        until(lambda: session.frame()["pose"][row][1] < -0.29, "it is put elsewhere")
        until(lambda: abs(session.frame()["pose"][row][2] - 0.80) < 1e-3, "and falls again")
    assert session.report.counters["events_lost"] == 0


# ---- another plan


@pytest.mark.real_time
def test_a_plan_that_is_put_while_the_clock_runs_is_followed_to_its_end():
    with pp.touch(arm_line(solid=False, mode="hold"), page=False) as session:
        until(lambda: session.frame()["tick"] > 50)
        s, ds, _ = minimum_jerk_rows(400, 1e-3)
        q, time_s = session.edit.plan.q[0] - 0.1 * s, 1e-3 * np.arange(len(s))
        session.edit.follow(Trajectory.from_motion(time_s, q, np.repeat(-0.1 * ds, 6, axis=1), session.edit.joints))
        until(lambda: np.abs(session.frame()["plan_q"][:6] - q[-1]).max() < 1e-9, "the plan is at its end")
        until(lambda: np.abs(session.frame()["q"][:6] - q[-1]).max() < 1e-3, "and the arm too")


# ---- a device that only Python reaches, with a wrist


class Wrist(Bench):
    """A device on the bench, turned as it is told."""

    turn = (1.0, 0.0, 0.0, 0.0)

    def read(self, out) -> None:
        super().read(out)
        out.quaternion[:] = self.turn


@pytest.mark.real_time
def test_a_wrist_that_only_python_reaches_feels_the_spring_it_turns():
    """tau = -K theta on the hand, against a body too heavy to turn; through two seqlocks and a thread."""
    device, angle, stiffness = Wrist(), 0.06, 2.0
    world = pp.World([pp.models.box((0.5, 0.5, 0.5), mass=4000.0)], gravity=(0, 0, 0))
    reach = pp.Reach(mode="tool", tool="box", strength_N=device.spec.force_limit_N, stiffness_Nm_rad=stiffness)
    with pp.touch(world, [(device, reach)], page=False) as session:
        until(lambda: engaged(session))
        assert not np.any(device.written[-1])
        device.turn = pp.Rotation.about((0.0, 0.0, 1.0), angle).wxyz

        def felt() -> bool:
            wrench = device.written[-1]
            return engaged(session) and wrench[TORQUE] == pytest.approx((0.0, 0.0, -stiffness * angle), abs=1e-3)

        until(felt, lambda: device.written[-1])
        assert np.abs(device.written[-1][FORCE]).max() < 1e-6
    assert not device.written[-1].any()
