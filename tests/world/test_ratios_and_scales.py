"""Light beside heavy, small as large: a body does what it would do alone, and a scene what it does at any scale."""

import numpy as np
import pytest
from motions import G, force_between, set_velocity, spin

import palpate as pp

MATERIAL = pp.Material("m", friction=0.5)


def gram(at, **options):
    return pp.models.box((0.05, 0.04, 0.06), mass=1e-3, at=at, name="gram", material=MATERIAL, **options)


def slid(world, steps=500):
    set_velocity(world, "gram", (1.0, 0.3, 0.0))
    start = world.pose("gram")[:3, 3].copy()
    world.step(steps)
    return world.pose("gram")[:3, 3] - start


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("yaw", [0.0, 0.4])
def test_a_gram_slides_on_a_heavy_block_as_on_the_ground(ratio, yaw):
    """v^2 / (2 mu g), to the block's top however heavy it is: its own contacts are solved, not only the block's."""
    R = pp.Rotation.about((0, 0, 1), yaw)
    alone = slid(pp.World([pp.models.plane(material=MATERIAL), gram((0, 0, 0.03), R=R)]))
    block = pp.models.box((1.0, 1.0, 0.2), mass=1e-3 * ratio, at=(0, 0, 0.1), name="block", material=MATERIAL)
    fixed = pp.World([pp.models.plane(material=MATERIAL), block, gram((0, 0, 0.23), R=R)])
    if ratio >= 1e3:  # lighter blocks are dragged along
        assert slid(fixed) == pytest.approx(alone, abs=2e-3 / ratio + 1e-7)
    else:
        slid(fixed)
    assert np.linalg.norm(alone[:2]) == pytest.approx((1.0 + 0.09) / (2.0 * 0.5 * G), rel=0.01)
    assert np.abs(spin(fixed, "gram")).max() < 1e-5
    assert fixed.report.ran_out == 0
    assert fixed.report.residual_m_s <= 1e-6 * G * fixed.dt


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6, 1e8])
def test_a_gram_bears_what_stands_on_it(ratio):
    """Nothing sinks through it, and the floor feels both."""
    above = pp.models.box((0.1, 0.1, 0.1), mass=1e-3 * ratio, at=(0, 0, 0.1101), name="above")
    world = pp.World([pp.models.plane(), gram((0, 0, 0.03)), above])
    world.step(300)
    assert world.pose("gram")[2, 3] == pytest.approx(0.03, abs=2e-5)
    assert world.pose("above")[2, 3] == pytest.approx(0.11, abs=4e-5)
    forces = []
    for _ in range(50):
        world.step()
        forces.append(force_between(world, "plane", "gram")[2])
    assert np.mean(forces) == pytest.approx(G * 1e-3 * (1.0 + ratio), rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_solve_contacts_stops_bodies_of_any_mass(seed):
    """Bodies of masses spread over 1e8, in pairs on one ground: converged means that none approaches any more."""
    rng = np.random.default_rng(seed)
    n = 6
    mass = 10.0 ** rng.uniform(-4.0, 4.0, size=n)
    J = np.zeros((3 * (2 * n - 1), 3 * n))
    for i in range(n):  # each on the ground
        J[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = np.eye(3)
    for i in range(n - 1):  # and against the next, along another direction
        frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        J[3 * (n + i) : 3 * (n + i) + 3, 3 * i : 3 * i + 3] = -frame
        J[3 * (n + i) : 3 * (n + i) + 3, 3 * i + 3 : 3 * i + 6] = frame
    G_ = J @ np.diag(np.repeat(1.0 / mass, 3)) @ J.T
    c = J @ rng.normal(size=3 * n)
    lam, report = pp.solve_contacts(G_, c, 0.4)
    u = (G_ @ lam + c).reshape(-1, 3)
    assert report.converged
    assert u[:, 0].min() > -1e-7 * np.abs(c).max()
    assert report.residual_m_s <= 1e-7 * np.abs(c).max()


def scene(scale, elastic):
    """A tilted box, a ball and a capsule over a floor; lengths times `scale`, masses as its cube, time as it is."""
    material = pp.Material("m", friction=0.5, restitution=elastic)

    def at(*p):
        return tuple(scale * x for x in p)

    parts = [
        pp.models.plane(material=material),
        pp.models.box(at(0.1, 0.08, 0.06), mass=scale**3, at=at(0, 0, 0.2), R=pp.Rotation.about((1, 2, 3), 0.4),
                      material=material, name="box"),
        pp.models.ball(0.05 * scale, mass=0.5 * scale**3, at=at(0.02, 0, 0.4), material=material, name="ball"),
        pp.models.capsule(0.02 * scale, 0.1 * scale, mass=0.2 * scale**3, at=at(-0.02, 0.01, 0.6), material=material,
                          R=pp.Rotation.about((1, 0, 0), 1.0), name="capsule"),
    ]  # fmt: skip
    return pp.World(parts, gravity=at(0, 0, -9.81), margin=0.005 * scale)


@pytest.mark.parametrize("elastic", [0.0, 0.6])
@pytest.mark.parametrize("scale", [1e-4, 1e-2, 10.0])
def test_a_scaled_scene_does_the_same(scale, elastic):
    """Nothing in a step knows metres or kilograms: masses down to 1e-12, things of 10 um."""
    world, model = scene(scale, elastic), scene(1.0, elastic)
    for _ in range(8):
        world.step(50)
        model.step(50)
        for body in ("box", "ball", "capsule"):
            assert world.pose(body)[:3, 3] / scale == pytest.approx(model.pose(body)[:3, 3], abs=1e-4)


@pytest.mark.parametrize("edge", [1e-4, 1e-3, 1e-2])
def test_tiny_boxes_lie_where_they_fell(edge):
    """Under ordinary gravity, with an ordinary margin: what rests moves by no more than the solver may leave undone.

    That is a millionth of what gravity adds in a step, at any point of the box.
    """
    box = pp.models.box((edge, edge, edge), mass=1000.0 * edge**3, at=(0, 0, 0.6 * edge), name="box")
    world = pp.World([pp.models.plane(), box])
    world.step(500)
    assert world.pose("box")[:3, 3] == pytest.approx((0, 0, 0.5 * edge), abs=0.02 * edge)
    spin, speed = np.abs(world.v).reshape(2, 3).max(axis=1)
    assert max(edge * spin, speed) < 1e-6 * 9.81 * world.dt
