"""Coulomb's law: thresholds, directions, distances; what materials say of it."""

import math

import numpy as np
import pytest
from motions import G, force_between, set_velocity, velocity

import palpate as pp
from palpate.scenes.blocks import BOX_KG, FRICTION_BOX_TABLE, box_on_table, incline

AZIMUTHS = range(0, 360, 15)


def box_world(friction, mass=1.0, sliding=None, **options):
    material = pp.Material("rough", friction, sliding)
    box = pp.models.box((0.2, 0.2, 0.1), mass=mass, at=(0, 0, 0.05), material=material)
    return pp.World([pp.models.plane(name="floor", material=material), box], **options)


def pull(world, force, steps, body="box"):
    for _ in range(steps):
        world.apply(body, force)
        world.step()


def test_a_box_slides_just_above_the_friction_angle():
    """Acceptance 22: mu 0.363 on 20 degrees slides with g (sin - mu cos)."""
    angle, mu = math.radians(20.0), 0.363
    world = incline(20.0, friction=mu).world
    world.step(1000)
    a = G * (math.sin(angle) - mu * math.cos(angle))
    downhill = (math.cos(angle), 0, -math.sin(angle))
    assert velocity(world, "box") @ downhill == pytest.approx(a, abs=1e-4)
    assert {c.mode for c in world.contacts} == {"slide"}


def test_a_box_stays_just_below_the_friction_angle():
    """Acceptance 22: mu 0.365 on 20 degrees moves less than 1e-6 m in 1 s."""
    world = incline(20.0, friction=0.365).world
    start = world.pose("box")[:3, 3]
    world.step(1000)
    assert np.linalg.norm(world.pose("box")[:3, 3] - start) < 1e-6
    assert {c.mode for c in world.contacts if c.normal_force > 0.0} == {"stick"}  # a corner may carry nothing


@pytest.mark.parametrize("azimuth", AZIMUTHS)
def test_the_friction_angle_is_the_same_in_every_direction(azimuth):
    """Acceptance 22 at 24 azimuths: the cone is round."""
    angle, way = math.radians(20.0), math.radians(azimuth)
    downhill = (math.cos(angle) * math.cos(way), math.cos(angle) * math.sin(way), -math.sin(angle))
    for mu in (0.363, 0.365):
        world = incline(20.0, azimuth, mu).world
        start = world.pose("box")[:3, 3]
        world.step(250)
        a = max(0.0, G * (math.sin(angle) - mu * math.cos(angle)))
        assert velocity(world, "box") == pytest.approx(np.multiply(0.25 * a, downhill), abs=2.5e-5)
        if a == 0.0:
            assert np.linalg.norm(world.pose("box")[:3, 3] - start) < 1e-6


@pytest.mark.parametrize("azimuth", AZIMUTHS)
def test_a_sliding_box_stops_after_v2_by_2_mu_g_on_a_straight_line(azimuth):
    """Stopping distance v^2 / (2 mu g), to within the way of one step, in the direction it had."""
    v0, mu, way = 2.0, 0.3, math.radians(azimuth)
    world = box_world(mu)
    ahead = np.array([math.cos(way), math.sin(way), 0.0])
    set_velocity(world, "box", v0 * ahead)
    world.step(round(v0 / (mu * G) / world.dt) + 50)
    moved = world.pose("box")[:3, 3] - (0, 0, 0.05)
    assert moved @ ahead == pytest.approx(v0**2 / (2 * mu * G), abs=v0 * world.dt)
    assert np.linalg.norm(moved - (moved @ ahead) * ahead) < 1e-6
    assert np.linalg.norm(velocity(world, "box")) < 1e-6


def test_a_box_holds_below_mu_m_g_and_moves_above():
    """The pull at which a box lets go is mu m g, whatever its direction."""
    mu, m = 0.5, 2.0
    for way in np.radians(range(0, 360, 45)):
        for share in (0.999, 1.001):
            world = box_world(mu, m)
            force = share * mu * m * G * np.array([math.cos(way), math.sin(way), 0.0])
            for _ in range(200):
                world.apply("box", force, at_world=(*world.pose("box")[:2, 3], 0.0))  # at the floor: it does not tip
                world.step()
            a = max(0.0, (share - 1.0) * mu * G)
            assert np.linalg.norm(velocity(world, "box")) == pytest.approx(0.2 * a, abs=1e-6)


def test_static_friction_holds_what_sliding_friction_lets_go():
    """mu_static 0.5, mu_sliding 0.3: a pull of 0.4 m g does not move a resting box and speeds up a sliding one."""
    m = 1.0
    world = box_world(0.5, m, sliding=0.3)
    pull(world, (0.4 * m * G, 0, 0), 300)
    assert np.linalg.norm(velocity(world, "box")) < 1e-6
    set_velocity(world, "box", (0.1, 0, 0))
    pull(world, (0.4 * m * G, 0, 0), 300)
    assert velocity(world, "box")[0] == pytest.approx(0.1 + 0.3 * 0.1 * G, rel=1e-5)


def test_the_friction_of_two_materials_is_their_geometric_mean():
    ice, rubber = pp.Material("ice", 0.1), pp.Material("rubber", 0.9)
    box = pp.models.box((0.2, 0.2, 0.1), mass=1.0, at=(0, 0, 0.05), material=rubber)
    world = pp.World([pp.models.plane(name="floor", material=ice), box])
    set_velocity(world, "box", (1, 0, 0))
    world.step(10)
    assert -force_between(world, "floor", "box")[0] == pytest.approx(0.3 * G, rel=1e-6)


def test_a_pair_in_the_table_has_what_the_table_says():
    ice, rubber = pp.Material("ice", 0.1), pp.Material("rubber", 0.9)
    box = pp.models.box((0.2, 0.2, 0.1), mass=1.0, at=(0, 0, 0.05), material=rubber)
    said = pp.Material("rubber on ice", 0.6, 0.45)
    world = pp.World([pp.models.plane(name="floor", material=ice), box], pairs={("ice", "rubber"): said})
    set_velocity(world, "box", (1, 0, 0))
    world.step(10)
    assert -force_between(world, "floor", "box")[0] == pytest.approx(0.45 * G, rel=1e-6)
    with pytest.raises(ValueError, match="wood"):
        pp.World([box], pairs={("rubber", "wood"): said})


def test_a_box_on_a_table_has_the_friction_of_the_pair():
    """Reference 6.6: 0.4 between box and table, although a hand would have 0.8 on it."""
    world = box_on_table().world
    set_velocity(world, "box", (0, 0.5, 0))
    world.step(20)
    assert -force_between(world, "table", "box")[1] == pytest.approx(FRICTION_BOX_TABLE * BOX_KG * G, rel=1e-5)


def test_without_friction_nothing_slows_a_box():
    world = box_world(0.0)
    set_velocity(world, "box", (1.0, -0.5, 0), (0, 0, 0.7))
    world.step(1000)
    assert velocity(world, "box")[:2] == pytest.approx((1.0, -0.5), abs=1e-9)
    assert abs(velocity(world, "box")[2]) < 1e-6 * 9.81 * world.dt  # what the solver may leave undone of gravity


def test_friction_of_a_turning_patch_opposes_its_turn():
    """A box that spins on a floor has the moment of its corners: all sliding, mu m g times their distance."""
    mu, m = 0.3, 1.0
    world = box_world(mu, m)
    w0 = 10.0
    set_velocity(world, "box", angular=(0, 0, w0))
    world.step(50)
    arm = math.hypot(0.1, 0.1)  # the corners to which the patch is reduced carry it all
    slowing = mu * m * G * arm / (m * (0.2**2 + 0.2**2) / 12)
    R = world.pose("box")[:3, :3]
    spin = R @ world.v[world.model.v_index["box"]][:3]
    assert spin == pytest.approx((0, 0, w0 - 0.05 * slowing), abs=1e-4)
