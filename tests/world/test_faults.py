"""What goes wrong: NaN, things that do not fit, names that do not exist; and far away from the origin."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from motions import velocity

import palpate as pp
from palpate.jit import DISABLED
from palpate.scenes.blocks import stack


def two_boxes():
    return pp.World([pp.models.plane(), pp.models.box(name="one", at=(0, 0, 0.05)),
                     pp.models.box(name="two", at=(1, 0, 0.05))])  # fmt: skip


def overflow(world):
    """Forces that are numbers each, but whose sum is not."""
    with np.errstate(over="ignore"):
        for _ in range(2):
            world.apply("two", (1e308, 0, 0))


@pytest.mark.parametrize("how", ["force", "velocity", "torque", "position"])
def test_a_number_that_is_not_one_stops_the_world_naming_the_body(how):
    """The message names body and quantity, and the last good state is kept."""
    world = two_boxes()
    world.step(50)
    good_q, good_v, time = world.q.copy(), world.v.copy(), world.time
    if how == "force":
        overflow(world)
    elif how == "velocity":
        world.v[world.model.v_index["two"]][4] = np.nan
        good_v = world.v.copy()
    elif how == "torque":
        world.tau[world.model.v_index["two"]] = np.inf
    else:
        world.q[world.model.q_index["two"]][0] = np.nan
        good_q = world.q.copy()
    with pytest.raises(pp.WorldError, match=r"'two'.*finite"):
        world.step(10)
    assert np.array_equal(world.q, good_q, equal_nan=True)
    assert np.array_equal(world.v, good_v, equal_nan=True)
    assert world.time == time


def test_a_stopped_world_goes_on_from_a_snapshot():
    world = two_boxes()
    world.step(50)
    snap = world.snapshot()
    overflow(world)
    with pytest.raises(pp.WorldError):
        world.step()
    world.restore(snap)
    world.step(50)
    other = two_boxes()
    other.step(100)
    assert np.array_equal(world.q, other.q)


def test_a_stopped_world_goes_on_when_the_cause_is_gone():
    """A force acts for one step: after it has stopped the world, the next step is a good one again."""
    world = two_boxes()
    world.step(50)
    overflow(world)
    with pytest.raises(pp.WorldError):
        world.step()
    world.step(50)
    assert np.isfinite(world.q).all()
    assert np.linalg.norm(velocity(world, "two")) < 1e-6


def test_contacts_that_do_not_fit_are_counted():
    world = pp.World(
        [pp.models.plane(), *(pp.models.box(at=(i, 0, 0.05), name=f"b{i}") for i in range(4))], capacity=10
    )
    world.step()
    assert world.report.contacts == 10
    assert world.report.lost == 6
    world.step()
    assert world.report.lost == 12  # since the start
    assert stack(5).world.report.lost == 0


def test_wrong_calls_say_what_is_wrong():
    world = two_boxes()
    for call, says in (
        (lambda: world.apply("three", (1, 0, 0)), "three"),
        (lambda: world.pose("three"), "three"),
        (lambda: world.remove("three"), "three"),
        (lambda: world.hold(joints=["one"]), "free"),
        (lambda: world.apply("two", (np.nan, 0, 0)), "finite"),
        (lambda: pp.World([pp.compile(pp.models.box())]), "MultiBody"),
        (lambda: pp.World(pp.models.box(), dt=0.0), "dt"),
        (lambda: pp.World(pp.models.box(), dt=float("nan")), "dt"),
        (lambda: setattr(world, "q", [1.0]), "shape"),
        (lambda: pp.World(pp.models.box(), ignore=[("box", "wall")]), "wall"),
    ):
        with pytest.raises((ValueError, TypeError), match=says):
            call()


@pytest.mark.parametrize("far", [(1e4, 0, 0), (-7e3, 7e3, 1e3)])
def test_far_from_the_origin_all_is_as_near_it(far):
    """10 km away: the same stack, the same forces and the same slide, but for the last digits of positions."""

    def run(at):
        at = np.array(at, dtype=float)
        boxes = [
            pp.models.box((0.1,) * 3, mass=1.0, at=at + (0.01 * i, 0, 0.05 + 0.1 * i), name=f"b{i}") for i in range(3)
        ]
        slider = pp.models.box((0.1,) * 3, mass=1.0, at=at + (0, 1, 0.05), name="slider")
        world = pp.World([pp.models.plane(at=at), *boxes, slider], tolerance=1e-10)
        world.v[world.model.v_index["slider"]] = (0, 0, 1.0, 1.0, 0.5, 0)
        world.step(500)
        return world.q.reshape(4, 7)[:, :3] - at, sum(c.force[2] for c in world.contacts)

    (near, force), (away, same) = run((0, 0, 0)), run(far)
    assert away == pytest.approx(near, abs=1e-6)
    assert same == pytest.approx(force, rel=1e-3)


@pytest.mark.skipif(DISABLED, reason="counts what compiled code allocates")
def test_a_step_allocates_nothing():
    """Zero allocation per step, whatever touches: a thousand steps allocate as much as one."""
    code = """
        import palpate as pp
        from palpate.jit import allocations
        from palpate.scenes.blocks import stack
        from palpate.scenes.bridge import bridge
        from palpate.scenes.standing import hrp2_standing
        from palpate.scenes.crowd import crowd
        def spent(world, n):
            before = allocations()
            world.step(n)
            return allocations() - before
        for scene in (stack(), bridge(), hrp2_standing(full=True), crowd(40)):
            spent(scene.world, 1)
            print(spent(scene.world, 1) == spent(scene.world, 600), end=" ")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                          env=os.environ | {"NUMBA_NRT_STATS": "1"})  # fmt: skip
    assert done.stdout.split() == ["True"] * 4, done.stderr


def test_a_speed_beyond_all_sense_stops_the_world():
    """Divergence is noticed before a number stops being finite."""
    world = pp.World([pp.models.ball(mass=1.0), pp.models.ball(at=(1, 0, 0), name="other")])
    world.apply("other", force=(1e12, 0.0, 0.0))
    with pytest.raises(pp.WorldError, match=r"'other'.* has grown to"):
        world.step()
    world.step()  # and goes on without that force
    assert np.isfinite(world.q).all()
