"""The three states of a contact, its impulse, what its laws keep and what becomes of laws that fail or are swapped."""

import math

import numpy as np
import pytest

from palpate.haptics.contact_laws import call_wall, contact_friction, keeper_law, wall_law
from palpate.planar.bodies.description import EdgeSurface, PlanarBody, Polygon
from palpate.planar.bodies.stages import contact_entry, motion_entry
from palpate.planar.bodies.tables import COLLIDING, CONTINUOUS, NONE
from palpate.planar.bodies.world import PlanarWorld

pytestmark = pytest.mark.nojit
DT = 0.002


def tip(surface, depth=-0.001, speed=0.0, slide=0.0, **options):
    """A triangle of 1 kg whose lowest vertex, right under its centre, is `depth` in a floor at y = 0."""
    shape = Polygon([(0.0, -0.02), (0.01, 0.01), (-0.01, 0.01)])
    body = PlanarBody("tip", shape, 1.0, pose=(0.0, 0.02 - depth, 0.0), velocity=(slide, speed, 0.0), surface=surface)
    floor = PlanarBody("floor", Polygon.box(0.6, 0.05, (0.0, -0.025)), surface=surface)
    return PlanarWorld([body, floor], **options)


def only(world):
    """Row of the contact that there is."""
    (row,) = world.touching
    return row


def surface(**options):
    return EdgeSurface(**{"wall": "seh", "friction": None, "restitution": 0.5} | options)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.5, 0.9])
def test_departing_contact_gets_no_impulse_and_approaching_one_the_restitution(restitution):
    """Planar haptics, acceptance 17: found 0.4 mm deep, leaving or coming at 0.1 m/s."""
    laws = surface(restitution=restitution)
    world = tip(laws, 0.0004, +0.1)
    contact_entry(world.block.address, DT)
    assert world.contacts.state[only(world)] == CONTINUOUS
    np.testing.assert_array_equal(world.v[1], (0.0, 0.1, 0.0))
    assert not world.motion.struck.any()
    assert world.contacts.normal_force[only(world)] > 0.0
    world = tip(laws, 0.0004, -0.1)
    contact_entry(world.block.address, DT)
    row = only(world)
    assert world.contacts.state[row] == COLLIDING
    assert world.v[1, 1] == pytest.approx(restitution * 0.1, abs=1e-9)
    assert world.contacts.impulse[row] == pytest.approx((1.0 + restitution) * 0.1, abs=1e-9)
    assert world.motion.struck[1, 1] == pytest.approx((1.0 + restitution) * 0.1, abs=1e-9)
    assert world.contacts.approach[row] == pytest.approx(-restitution * 0.1, abs=1e-9)  # of what comes after it
    assert world.contacts.normal_force[row] == pytest.approx(2.0 * 2500.0 * 0.0004)  # from the first step on


def test_a_grazing_contact_below_the_threshold_is_no_impact():
    for speed, state in ((0.0009, CONTINUOUS), (0.0011, COLLIDING)):
        world = tip(surface(), 1e-4, -speed)
        contact_entry(world.block.address, DT)
        assert world.contacts.state[only(world)] == state


def test_states_follow_each_other_and_all_is_cleared_at_the_end():
    """NONE, COLLIDING in one step, CONTINUOUS, NONE; the histories of the laws are gone."""
    world = tip(surface(restitution=0.2, friction="reset-integrator"), -0.003, -0.4, slide=0.05)
    seen = []
    for _ in range(200):
        contact_entry(world.block.address, DT)
        states = world.contacts.state[world.touching]
        seen.append(int(states[0]) if len(states) else NONE)
        motion_entry(world.block.address, DT)
    changes = [a for a, b in zip(seen, [None, *seen], strict=False) if a != b]
    assert changes == [NONE, COLLIDING, CONTINUOUS, NONE]
    assert seen.count(COLLIDING) == 1
    c = world.contacts
    assert not len(world.touching)
    assert c.count == 0
    for kept in (c.wall_state, c.friction_state, c.keeper_state, c.normal_force, c.travel, c.absorbed):
        assert not kept.any()


def test_an_edge_without_impulses_is_left_to_its_spring():
    world = tip(surface(impulse=False), 0.0004, -0.1)
    contact_entry(world.block.address, DT)
    assert world.contacts.state[only(world)] == CONTINUOUS
    assert world.v[1, 1] == -0.1
    assert world.audit.impulses == 0.0


def test_restitution_is_bounded_by_what_the_spring_will_give():
    """Planar haptics 3.3: e_max = -kappa + sqrt(1 - kappa + kappa^2), kappa = K T^2/m; 1 - 2 kappa is less."""
    for K in (1e3, 2.5e3, 1e4, 5e4):
        kappa = K * DT * DT / 1.0
        most = min(math.sqrt(1.0 - kappa + kappa * kappa) - kappa, max(1.0 - 2.0 * kappa, 0.0))
        for bounded, expected in ((True, most), (False, 1.0)):
            world = tip(surface(restitution=1.0, bounded=bounded, wall_settings={"stiffness_N_m": K}), 1e-4, -0.2)
            contact_entry(world.block.address, DT)
            assert world.v[1, 1] == pytest.approx(0.2 * expected, abs=1e-12)


def test_travel_is_the_way_along_the_surface_and_slide_its_speed():
    laws = surface(wall="zoh", wall_settings={"stiffness_N_m": 0.0}, friction=None, impulse=False)
    for speed in (0.03, -0.07):
        world = tip(laws, 0.001, slide=speed)
        world.step(100)
        row = only(world)
        assert world.contacts.slide[row] * np.sign(speed) == pytest.approx(-abs(speed))  # t = (-n_y, n_x) = (-1, 0)
        assert world.contacts.travel[row] == pytest.approx(-99 * DT * speed, abs=1e-12)
        np.testing.assert_allclose(world.contacts.normal[row], (0.0, 1.0), atol=1e-15)


def test_friction_opposes_the_sliding_and_says_whether_it_slips():
    laws = surface(impulse=False, wall_settings={"damping_Ns_m": 40.0}, friction="classical")
    world = tip(laws, 0.001, slide=0.3)
    world.apply("tip", (0.0, -4.0, 0.0))
    world.step(3)
    row = only(world)
    assert world.contacts.slips[row] == 1
    assert world.motion.contact[1, 0] < 0.0
    assert world.motion.contact[1, 0] == pytest.approx(-0.3 * world.contacts.normal_force[row], rel=1e-6)
    np.testing.assert_allclose(world.motion.contact[1, :2], -world.motion.contact[2, :2], atol=1e-12)


# ---- laws of one's own


@wall_law(stiffness_N_m=1000.0)
def fails_when_deep(depth, approach, dt, mass, setting, state):
    state[0] += 1.0
    return setting[0] * depth if depth < 0.001 else math.nan


@contact_friction(mu=0.3, stiction=0.0)
def endless(travel, slide, normal, dt, mass, setting, state):
    state[1] = 7.0
    return math.inf


@wall_law(stiffness_N_m=1000.0, damping_Ns_m=0.0)
def says_its_mass(depth, approach, dt, mass, setting, state):
    return 10.0 * mass


@keeper_law(share=0.5)
def halves(wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state):

    return setting[0] * call_wall(wall, depth, approach, dt, mass, wall_setting, wall_state)


def test_a_law_that_gives_no_number_is_a_fault_and_no_force():
    world = tip(surface(wall=fails_when_deep, impulse=False), 0.0005)
    contact_entry(world.block.address, DT)
    assert world.contacts.fault == 0
    assert world.motion.contact[1, 1] == pytest.approx(0.5)
    world.place("tip", (0.0, 0.02 - 0.002, 0.0))
    contact_entry(world.block.address, DT)
    assert world.contacts.fault == 1 + only(world)
    assert not world.motion.contact.any()
    assert not world.contacts.wall_state.any()
    world = tip(surface(friction=endless, impulse=False), 0.0005)
    contact_entry(world.block.address, DT)
    assert world.contacts.fault == 1
    assert not world.motion.contact.any()
    assert not world.contacts.friction_state.any()
    world.step(50)
    assert np.isfinite(world.X).all()


def test_a_wall_below_zero_pushes_nobody_in():
    world = tip(surface(wall="zoh", wall_settings={"damping_Ns_m": 100.0}, impulse=False), 1e-4, +0.5)
    contact_entry(world.block.address, DT)
    assert world.contacts.normal_force[only(world)] == 0.0


def test_laws_feel_the_mass_of_both_bodies():
    """1/m_eff = W M^-1 W': a corner of the block of 1 kg, 0.05 m off its centre, is 0.31 kg; with two blocks less."""
    alone = 1.0 / (1.0 + 0.05**2 / (1.0 * (0.1**2 + 0.06**2) / 12.0))
    laws = surface(wall=says_its_mass, impulse=False)
    block = PlanarBody("block", Polygon.box(0.1, 0.06), 1.0, pose=(0.0, 0.0299, 0.0), surface=laws)
    floor = PlanarBody("floor", Polygon.box(0.4, 0.05, (0.0, -0.025)), surface=laws)
    world = PlanarWorld([block, floor])
    contact_entry(world.block.address, DT)
    np.testing.assert_allclose(world.contacts.normal_force[world.touching], 10.0 * alone, rtol=1e-12)
    other = PlanarBody("other", Polygon.box(0.12, 0.06), 1.0, pose=(0.0, -0.03, 0.0), surface=laws)
    world = PlanarWorld([block, other])
    contact_entry(world.block.address, DT)
    inverse = 1.0 / alone + 1.0 + 0.05**2 / (1.0 * (0.12**2 + 0.06**2) / 12.0)
    np.testing.assert_allclose(world.contacts.normal_force[world.touching], 10.0 / inverse, rtol=1e-12)


def test_a_keeper_stands_around_the_wall():
    plain, kept = tip(surface(impulse=False), 0.0005), tip(surface(impulse=False, keeper=halves), 0.0005)
    for world in (plain, kept):
        contact_entry(world.block.address, DT)
    assert kept.motion.contact[1, 1] == pytest.approx(0.5 * plain.motion.contact[1, 1])


def test_laws_are_swapped_while_it_runs_and_nothing_of_the_old_one_stays():
    """A swap leaves the contact, and what its laws kept begins anew: as a world that always had the new law."""
    world = tip(surface(impulse=False, friction="reset-integrator"), 0.0005, slide=0.01)
    world.apply("tip", (0.0, -1.0, 0.0))
    world.step(20)
    row = only(world)
    assert world.contacts.wall_state[row].any()
    assert world.contacts.friction_state[row].any()
    absorbed = world.contacts.absorbed[row]
    world.set_surface(surface(wall="zoh", friction="classical"), "floor")
    assert not world.contacts.wall_state[row].any()
    assert not world.contacts.friction_state[row].any()
    assert world.contacts.state[row] == CONTINUOUS
    assert world.contacts.absorbed[row] == absorbed
    contact_entry(world.block.address, DT)
    depth, approach = world.contacts.depth[row], world.contacts.approach[row]
    assert world.contacts.normal_force[row] == pytest.approx(2500.0 * depth + 0.0 * approach)
    world.step(50)
    assert world.audit.worst < 1e-12


def test_each_edge_has_its_own_laws():
    soft, hard = surface(wall_settings={"stiffness_N_m": 100.0}, impulse=False), surface(impulse=False)
    floor = PlanarBody("floor", Polygon.box(0.6, 0.05, (0.0, -0.025)), surface=[hard, hard, soft, hard])
    tip_ = PlanarBody("tip", Polygon([(0.0, -0.02), (0.01, 0.01), (-0.01, 0.01)]), 1.0, pose=(0.0, 0.019, 0.0))
    world = PlanarWorld([tip_, floor])
    contact_entry(world.block.address, DT)
    assert world.contacts.normal_force[only(world)] == pytest.approx(2.0 * 100.0 * 0.001)


# ---- bad input, in one line


@pytest.mark.parametrize(
    ("vertices", "said"),
    [
        ([(0, 0), (1, 0)], "at least three"),
        ([(0, 0), (1, 0), (float("nan"), 1)], "vertex 2 .* not finite"),
        ([(0, 0), (1, 0), (2, 0)], "no area"),
        ([(1, 1), (1, 1), (1, 1)], "no area"),
        ([(0, 0), (0, 1), (1, 1), (1, 0)], "clockwise"),
        ([(0, 0), (1, 0), (1, 0), (1, 1)], "vertex 2 .* doubled"),
        ([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)], "doubled"),
        ([(0, 0), (1, 0), (1, 1), (0.9, 0.1)], "not convex at vertex 3"),
        ([(0, 0), (1, 1), (1, 0), (0, 1)], "crosses itself"),
        ([(math.cos(k * 0.8 * math.pi), math.sin(k * 0.8 * math.pi)) for k in range(5)], "crosses itself"),
        ([(0, 0), (0.5, 0), (1, 0), (1, 1)], "vertex 1 .* on the line"),
        ("abc", "list of vertices"),
    ],
)
def test_a_polygon_that_is_none_is_said_in_one_line(vertices, said):
    with pytest.raises(ValueError, match=said) as caught:
        Polygon(vertices)
    assert "\n" not in str(caught.value)


BOX = Polygon.box(0.1, 0.1)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: PlanarBody("b", BOX, 0.0), "mass of body 'b' must be above 0"),
        (lambda: PlanarBody("b", BOX, -1.0), "mass of body 'b'"),
        (lambda: PlanarBody("b", BOX, math.nan), "mass of body 'b'"),
        (lambda: PlanarBody("b", BOX, 1.0, 0.0), "inertia of body 'b'"),
        (lambda: PlanarBody("b", BOX, None, 1.0), "inertia but no mass"),
        (lambda: PlanarBody("b", BOX, velocity=(1.0, 0.0, 0.0)), "cannot move"),
        (lambda: PlanarBody("b", BOX, 1.0, pose=(0.0, math.inf, 0.0)), "pose of body 'b'"),
        (lambda: PlanarBody("b", BOX, 1.0, surface=[EdgeSurface()] * 3), "4 edges, but 3 surfaces"),
        (lambda: EdgeSurface(wall="brick"), "no wall is called 'brick'"),
        (lambda: EdgeSurface(friction="classica"), "did you mean 'classical'"),
        (lambda: EdgeSurface(keeper="wicket"), "no keeper is called"),
        (lambda: EdgeSurface(wall="classical"), "no wall is called 'classical'"),
        (lambda: EdgeSurface(wall_settings={"hardness": 1.0}), "no setting 'hardness'"),
        (lambda: EdgeSurface(wall_settings={"stiffness_N_m": math.nan}), "finite"),
        (lambda: EdgeSurface(restitution=1.5), "restitution must be 0 .. 1"),
        (lambda: PlanarWorld([]), "needs a body"),
        (lambda: PlanarWorld([PlanarBody("b", BOX), PlanarBody("b", BOX)]), "two bodies have the name 'b'"),
        (lambda: PlanarWorld([PlanarBody("b", BOX)], impact="newton"), "no impact law 'newton'"),
        (lambda: PlanarWorld([PlanarBody("b", BOX)], near_m=0.02, far_m=0.01), "near must be"),
        (lambda: PlanarWorld([PlanarBody("b", BOX, 1.0)]).apply("c", (0, 0, 0)), "no body 'c'"),
        (lambda: PlanarWorld([PlanarBody("b", BOX, 1.0)]).apply("b", (0, math.nan, 0)), "three finite numbers"),
        (lambda: PlanarWorld([PlanarBody("b", BOX, 1.0)]).apply("b", (0, 0, 0), "wind"), "no source 'wind'"),
        (lambda: PlanarWorld([PlanarBody("b", BOX, 1.0)]).place("b", (0, 0)), "three finite numbers"),
    ],
)
def test_bad_input_is_said_in_one_line(make, said):
    with pytest.raises(ValueError, match=said) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_polygon_off_its_origin_is_moved_to_its_centre_of_mass():
    """The outline stays where it was put; inertia is that of a plate about its own centre."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        offset = rng.uniform(-5.0, 5.0, 2)
        pose, velocity = tuple(rng.uniform(-3.0, 3.0, 3)), tuple(rng.uniform(-3.0, 3.0, 3))
        body = PlanarBody("b", Polygon.box(0.1, 0.06, tuple(offset)), 2.0, pose=pose, velocity=velocity)
        np.testing.assert_allclose(body.outline, Polygon.box(0.1, 0.06).vertices, atol=1e-14)
        assert 1.0 / body.inverse_mass[2] == pytest.approx(2.0 * (0.1**2 + 0.06**2) / 12.0, rel=1e-9)
        (x, y, angle), v = body.start
        c, s = np.cos(pose[2]), np.sin(pose[2])
        r = np.array([c * offset[0] - s * offset[1], s * offset[0] + c * offset[1]])
        np.testing.assert_allclose((x, y, angle), (*(pose[:2] + r), pose[2]), atol=1e-12)
        expected = (velocity[0] - velocity[2] * r[1], velocity[1] + velocity[2] * r[0], velocity[2])
        np.testing.assert_allclose(v, expected, atol=1e-12)
