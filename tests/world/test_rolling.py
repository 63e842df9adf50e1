"""A ball on a plane: pushed, released, rolling (reference 5.6)."""

import math

import numpy as np
import pytest
from motions import G, force_between, set_velocity, spin, velocity

import palpate as pp
from palpate.scenes.balls import ball_on_plane

MU, M, R = 0.2, 1.0, 0.1
STEPS = 50
EXACT = 1e-6  # relative, acceptance 21


def pushed(force, height=0.0, friction=MU):
    """Acceleration, angular acceleration and floor's force on a ball pushed at a height above its centre."""
    world = ball_on_plane(friction, M, R).world
    for _ in range(STEPS):
        world.apply("ball", force, at_world=world.pose("ball")[:3, 3] + (0, 0, height))
        world.step()
    t = STEPS * world.dt
    return velocity(world, "ball") / t, spin(world, "ball") / t, force_between(world, "floor", "ball"), world


def test_a_ball_pushed_without_finger_friction_rolls_with_five_sevenths():
    """Acceptance 21, row 1 of 5.6."""
    F = 2.0
    a, alpha, f, world = pushed((F, 0, 0))
    assert a[0] == pytest.approx(5 * F / (7 * M), rel=EXACT)
    assert alpha[1] == pytest.approx(a[0] / R, rel=EXACT)
    assert f[0] == pytest.approx(-2 * F / 7, rel=EXACT)
    assert f[2] == pytest.approx(M * G, rel=EXACT)
    assert world.contacts[0].mode == "roll"


def test_a_ball_pushed_too_hard_slips():
    """Acceptance 21, row 2 of 5.6."""
    F = 12.0
    assert 2 * F / 7 > MU * M * G
    a, alpha, f, world = pushed((F, 0, 0))
    assert a[0] == pytest.approx((F - MU * M * G) / M, rel=EXACT)
    assert alpha[1] == pytest.approx(5 * MU * G / (2 * R), rel=EXACT)
    assert f[0] == pytest.approx(-MU * M * G, rel=EXACT)
    assert world.contacts[0].mode == "slide"


def test_a_push_inclined_downward_counts_by_its_cosine():
    """Acceptance 21, row 3 of 5.6."""
    F, phi = 3.0, math.radians(30.0)
    a, _, f, _ = pushed((F * math.cos(phi), 0, -F * math.sin(phi)))
    assert a[0] == pytest.approx(5 * F * math.cos(phi) / (7 * M), rel=EXACT)
    assert f[0] == pytest.approx(-2 * F * math.cos(phi) / 7, rel=EXACT)
    assert f[2] == pytest.approx(M * G + F * math.sin(phi), rel=EXACT)


@pytest.mark.parametrize("h_by_R", [-0.3, 0.0, 0.2, 0.4, 0.8])
def test_a_cue_above_the_centre_adds_to_the_rolling(h_by_R):
    """Acceptance 21, row 4 of 5.6: friction vanishes where the cue strikes at 2/5 of the radius."""
    F = 2.0
    a, _, f, _ = pushed((F, 0, 0), height=h_by_R * R)
    assert a[0] == pytest.approx(5 * F / (7 * M) * (1 + h_by_R), rel=EXACT)
    assert f[0] == pytest.approx(F * (5 * h_by_R - 2) / 7, rel=EXACT, abs=EXACT * F)


@pytest.mark.parametrize("mu_finger", [0.0, 0.1, 0.3])
def test_a_finger_that_rubs_the_rising_rear_makes_the_ball_seem_heavier(mu_finger):
    """Acceptance 21, rows 1 and 5 of 5.6, with a finger that is a body: the hand feels F/a = 7m/(5(1 - mu1))."""
    world = ball_on_plane(0.5, M, R, finger_N=2.0, finger_friction=mu_finger).world
    world.step(20)  # until the finger's blow of the first step has passed
    before = velocity(world, "ball")[0]
    world.step()
    a = (velocity(world, "ball")[0] - before) / world.dt
    finger, floor = force_between(world, "finger", "ball"), force_between(world, "floor", "ball")
    F = finger[0]
    assert F > 1.0
    assert a == pytest.approx(5 * F * (1 - mu_finger) / (7 * M), rel=EXACT)
    assert floor[0] == pytest.approx(-F * (2 + 5 * mu_finger) / 7, rel=EXACT)
    assert floor[2] == pytest.approx(M * G + mu_finger * F, rel=EXACT)


def test_a_ball_released_without_spin_rolls_at_five_sevenths():
    """Acceptance 20, row 6 of 5.6: 2 v0 / (7 mu g) later and 12 v0^2 / (49 mu g) further on."""
    v0 = 1.0
    world = ball_on_plane(MU, M, R, speed=v0).world
    while True:
        world.step()
        if world.contacts[0].mode == "roll":
            break
    assert world.time == pytest.approx(2 * v0 / (7 * MU * G), abs=1.5 * world.dt)
    assert world.pose("ball")[0, 3] == pytest.approx(12 * v0**2 / (49 * MU * G), rel=0.005)
    world.step(500)
    assert velocity(world, "ball") == pytest.approx((5 * v0 / 7, 0, 0), abs=1e-6)
    assert spin(world, "ball") == pytest.approx((0, 5 * v0 / (7 * R), 0), abs=1e-6 / R)


def test_backspin_can_bring_a_ball_back():
    """Sliding keeps the angular momentum about the line of contact: v = (5 v0 + 2 R w0) / 7."""
    v0, w0 = 1.0, -50.0
    world = ball_on_plane(MU, M, R).world
    set_velocity(world, "ball", (v0, 0, 0), (0, w0, 0))
    world.step(2000)
    assert velocity(world, "ball")[0] == pytest.approx((5 * v0 + 2 * R * w0) / 7, abs=1e-6)


def turntable():
    """A disc that turns about z, too heavy to be slowed by a ball."""
    disc = pp.Body(
        "table", 1e6, inertia=(1e7, 1e7, 2e7),
        shapes=(pp.Shape("cylinder", (3.0, 0.2), pp.Transform(p=(0, 0, -0.1)), pp.Material("felt", 1.0)),),
    )  # fmt: skip
    return pp.MultiBody("table", (disc,), (pp.Joint("table", "revolute", "world", "table"),))


def test_a_ball_on_a_turntable_circles_at_two_sevenths_of_its_rate():
    """A ball that rolls on a table turning at W moves on a circle, at 2/7 W."""
    W, r = 2.0, 0.05
    ball = pp.models.ball(r, mass=0.1, at=(0.5, 0, r), material=pp.Material("felt", 1.0))
    world = pp.World([turntable(), ball])
    world.v[world.model.v_index["table"]] = W
    set_velocity(world, "ball", (0, 0.2, 0), (-0.2 / r + 0.5 * W / r, 0, 0))  # rolls: v + w x (-r z) = W x x
    period = 2 * math.pi / (2 / 7 * W)
    v0, track = velocity(world, "ball"), []
    for _ in range(8):
        world.step(round(period / 8 / world.dt))
        track.append((*world.pose("ball")[:2, 3], *velocity(world, "ball")[:2]))
    rates = np.unwrap([math.atan2(y, x) for _, _, x, y in track])
    rate = np.polyfit(np.arange(8) * round(period / 8 / world.dt) * world.dt, rates, 1)[0]
    assert rate == pytest.approx(2 / 7 * W, rel=2e-3)
    assert velocity(world, "ball") == pytest.approx(v0, abs=5e-3)
    assert track[-1][:2] == pytest.approx((0.5, 0.0), abs=5e-3)
