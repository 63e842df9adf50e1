"""Patches: the corners stay, every tick the same, and carry what all points together carry."""

import numpy as np
import pytest
from scenes import body, pose

import palpate as pp
from palpate.collision.facade import Collider

pytestmark = pytest.mark.nojit

FLAT = pp.Rotation()


def sole(nx: int, ny: int, x: float = 0.2, y: float = 0.1) -> tuple[pp.Shape, ...]:
    """A grid of small spheres whose lowest points are in z = 0."""
    return tuple(
        pp.Shape("sphere", (0.005,), pp.Transform(p=(u, v, 0.005)))
        for u in np.linspace(-x / 2, x / 2, nx).tolist()
        for v in np.linspace(-y / 2, y / 2, ny).tolist()
    )


def on_plane(*shapes: pp.Shape) -> pp.Model:
    return pp.compile([pp.models.plane(), body("foot", *shapes)])


@pytest.mark.parametrize(("nx", "ny"), [(4, 4), (13, 4), (2, 2), (3, 3), (1, 9)])
def test_a_grid_is_reduced_to_its_corners_every_time(nx, ny):
    model, rng = on_plane(*sole(nx, ny)), np.random.default_rng(1)
    collider, ids = Collider(model), set()
    for k in range(30):
        R = pp.Rotation.about((0, 0, 1), 0.4 * k) @ pp.Rotation.exp(rng.normal(size=3) * 1e-6)
        p = np.array([0.1 * k, 0.0, -1e-4 + 1e-6 * rng.normal()])
        found = collider.contacts(pose(R, p))
        ids.add(frozenset(c.shape_b for c in found))
        inside = [np.abs(R.inv().apply(c.point - p))[:2] for c in found]
        assert len(found) == (4 if ny > 1 and nx > 1 else 2)
        for corner in inside:
            assert corner == pytest.approx([0.1 if nx > 1 else 0.1 * (nx > 1) + 0.1 * (nx == 1), 0.05], abs=1e-4)
    assert len(ids) == 1


def test_full_keeps_every_point():
    model = on_plane(*sole(4, 4))
    assert len(Collider(model, full=True).contacts(model.neutral())) == 16


def test_a_bump_that_is_clearly_deeper_is_kept_beside_the_corners():
    bump = pp.Shape("sphere", (0.005,), pp.Transform(p=(0.01, 0.02, 0.003)))
    model = on_plane(*sole(4, 4), bump)
    found = Collider(model).contacts(model.neutral())
    assert sorted(c.gap for c in found) == pytest.approx([-0.002, 0.0, 0.0, 0.0, 0.0], abs=1e-12)


def test_patches_with_different_normals_are_reduced_apart():
    """A box in a corner of three walls keeps four points on each."""
    walls = [
        pp.models.plane(name="x", normal=(1, 0, 0)),
        pp.models.plane(name="y", normal=(0, 1, 0)),
        pp.models.plane(),
    ]
    model = pp.compile([*walls, body("a", pp.Shape("box", (0.1, 0.1, 0.1)))])
    found = Collider(model).contacts(pose(FLAT, np.full(3, 0.05)))
    assert len(found) == 12
    assert {tuple(np.round(c.normal)) for c in found} == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}


def test_the_corners_reach_as_far_as_all_points_in_every_direction():
    """The centre of pressure can be anywhere in the hull: its reach in any direction is that of all points."""
    model = on_plane(*sole(13, 4))
    some, every = (Collider(model, full=f).contacts(model.neutral()) for f in (False, True))
    for angle in np.linspace(0, 2 * np.pi, 16):
        along = np.array([np.cos(angle), np.sin(angle), 0.0])
        assert max(c.point @ along for c in some) == pytest.approx(max(c.point @ along for c in every), abs=1e-9)


@pytest.mark.parametrize("model", [pp.models.hrp2(sole="spheres"), pp.models.human(sole="spheres")])
def test_a_standing_avatar_touches_the_ground_with_eight_corners(model):
    world = pp.compile([model, pp.models.plane()])
    found = Collider(world).contacts(world.posture("start"))
    assert len(found) == 8
    assert all(c.body_a == "plane" for c in found)
