"""What must hold for any shapes: symmetry, frames, witnesses, manifolds, names of features."""

import itertools

import numpy as np
import pytest
from scenes import SOLIDS, body, pose, poses, surface_gap, two

import palpate as pp
from palpate.collision.facade import Collider

pytestmark = pytest.mark.nojit

PAIRS = list(itertools.combinations_with_replacement(SOLIDS, 2))
UPRIGHT, LYING = pp.Rotation(), pp.Rotation.about((0, 1, 0), np.pi / 2)


def at(x=0.0, y=0.0, z=0.0, R=UPRIGHT):
    return pose(R, np.array([x, y, z]))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_points_lie_on_both_surfaces_and_moving_by_the_gap_closes_it(first, second):
    A, B, rng = SOLIDS[first], SOLIDS[second], np.random.default_rng(7)
    collider = two(A, B, margin=0.02, full=True)
    seen = 0
    for _ in range(40):
        Ra, pa, Rb, pb = poses(rng, 0.10)
        found = collider.contacts(np.r_[pose(Ra, pa), pose(Rb, pb)])
        if not found:
            continue
        seen += 1
        c = min(found, key=lambda c: c.gap)
        on_a, on_b = c.point - 0.5 * c.gap * c.normal, c.point + 0.5 * c.gap * c.normal
        assert surface_gap(A, pp.Transform(Ra, tuple(pa)), on_a) == pytest.approx(0.0, abs=2e-5)
        assert surface_gap(B, pp.Transform(Rb, tuple(pb)), on_b) == pytest.approx(0.0, abs=2e-5)
        again = collider.contacts(np.r_[pose(Ra, pa), pose(Rb, pb - c.gap * c.normal)])
        assert min(c.gap for c in again) == pytest.approx(0.0, abs=2e-5)
    assert seen > 5


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_swapping_the_bodies_turns_the_normal(first, second):
    A, B, rng = SOLIDS[first], SOLIDS[second], np.random.default_rng(8)
    there, back = two(A, B, margin=0.05), two(B, A, margin=0.05)
    for _ in range(20):
        Ra, pa, Rb, pb = poses(rng, 0.13)
        one = there.contacts(np.r_[pose(Ra, pa), pose(Rb, pb)])
        other = back.contacts(np.r_[pose(Rb, pb), pose(Ra, pa)])
        assert bool(one) == bool(other)
        if one:
            a, b = min(one, key=lambda c: c.gap), min(other, key=lambda c: c.gap)
            assert a.gap == pytest.approx(b.gap, abs=2e-5)
            assert a.normal == pytest.approx(-b.normal, abs=1e-2)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_moving_the_whole_scene_changes_nothing(first, second):
    A, B, rng = SOLIDS[first], SOLIDS[second], np.random.default_rng(9)
    collider = two(A, B, margin=0.05)
    for _ in range(10):
        Ra, pa, Rb, pb = poses(rng, 0.13)
        X = pp.Transform(pp.Rotation.about((1, 2, 3), 0.7), (1.0, -2.0, 0.5))
        here = collider.contacts(np.r_[pose(Ra, pa), pose(Rb, pb)])
        there = collider.contacts(np.r_[pose(X.R @ Ra, X.apply(pa)), pose(X.R @ Rb, X.apply(pb))])
        assert [c.feature for c in here] == [c.feature for c in there]
        for c, d in zip(here, there, strict=True):
            assert c.gap == pytest.approx(d.gap, abs=1e-7)
            assert X.apply(c.point) == pytest.approx(d.point, abs=2e-4)
            # turning a normal by a changes the depth of a rim of radius r by r a^2 / 2: 1e-7 m at 5 cm are 2e-3 rad
            assert X.R.apply(c.normal) == pytest.approx(d.normal, abs=2e-3 if "cylinder" in (first, second) else 1e-6)


def test_contacts_exist_within_the_margin_only():
    collider = two(SOLIDS["sphere"], SOLIDS["sphere"], margin=0.005)
    assert len(collider.contacts(np.r_[at(), at(0.1049)])) == 1
    assert not collider.contacts(np.r_[at(), at(0.1051)])


@pytest.mark.parametrize(
    ("shape", "R", "height", "points"),
    [("box", UPRIGHT, 0.04, 4), ("cylinder", UPRIGHT, 0.045, 4), ("cylinder", LYING, 0.05, 2),
     ("capsule", LYING, 0.03, 2), ("capsule", UPRIGHT, 0.09, 1), ("sphere", UPRIGHT, 0.05, 1)],
)  # fmt: skip
@pytest.mark.parametrize("floor", ["plane", "box", "cylinder"])
def test_resting_solids_have_full_manifolds(shape, R, height, points, floor):
    grounds = {
        "plane": pp.models.plane(),
        "box": pp.models.box((1, 1, 0.2), at=(0, 0, -0.1), fixed=True, name="ground"),
        "cylinder": pp.models.cylinder(0.5, 0.2, at=(0, 0, -0.1), fixed=True, name="ground"),
    }
    model = pp.compile([grounds[floor], body("a", SOLIDS[shape])])
    for gap in (-1e-4, 0.0, 1e-4):
        found = Collider(model).contacts(at(0.02, 0.01, height + gap, R))
        assert len(found) == points
        for c in found:
            assert c.body_a == model.body_names[1]  # the world first
            assert c.normal == pytest.approx([0, 0, 1], abs=1e-9)
            assert c.gap == pytest.approx(gap, abs=1e-9)
            assert c.point[2] == pytest.approx(0.5 * gap, abs=1e-9)
        assert len({c.feature for c in found}) == points


def test_box_on_box_touches_with_the_corners_of_the_smaller():
    model = pp.compile([pp.models.box((0.4, 0.4, 0.1), name="low"), pp.models.box((0.1, 0.14, 0.08), name="high")])
    R = pp.Rotation.about((0, 0, 1), 0.3)
    found = Collider(model).contacts(np.r_[at(), at(0.05, 0.02, 0.089, R)])
    corners = {
        tuple(np.round(R.apply((x, y, 0)) + [0.05, 0.02, 0], 9)[:2]) for x in (-0.05, 0.05) for y in (-0.07, 0.07)
    }
    assert {tuple(np.round(c.point, 9)[:2]) for c in found} == corners
    assert [c.gap for c in found] == pytest.approx([-0.001] * 4)


def test_parallel_capsules_touch_at_both_ends_of_their_common_stretch():
    found = two(SOLIDS["capsule"], SOLIDS["capsule"]).contacts(np.r_[at(), at(0.059, 0.0, 0.04)])
    assert sorted(c.point[2] for c in found) == pytest.approx([-0.02, 0.06])
    assert [c.gap for c in found] == pytest.approx([-0.001, -0.001])


def test_crossed_edges_touch_at_one_point():
    cube = pp.Shape("box", (0.1, 0.1, 0.1))
    low = pp.Rotation.about((1, 0, 0), np.pi / 4)
    high = pp.Rotation.about((0, 1, 0), np.pi / 4)
    (c,) = two(cube, cube).contacts(np.r_[at(R=low), at(0.01, 0.02, 0.1 * np.sqrt(2) - 0.001, R=high)])
    assert c.gap == pytest.approx(-0.001, abs=1e-9)
    assert c.normal == pytest.approx([0, 0, 1], abs=1e-9)
    assert c.point[:2] == pytest.approx([0.01, 0.0], abs=1e-9) or c.point[:2] == pytest.approx([0.0, 0.0], abs=0.03)


@pytest.mark.parametrize(("first", "second"), [("box", "box"), ("box", "cylinder"), ("cylinder", "cylinder")])
def test_features_stay_the_same_under_small_motions(first, second):
    collider, rng = two(SOLIDS[first], SOLIDS[second]), np.random.default_rng(11)
    heights = {"box": 0.04, "cylinder": 0.045}
    z, names = heights[first] + heights[second], set()
    for _ in range(20):
        R = pp.Rotation.exp(rng.normal(size=3) * 1e-6)
        found = collider.contacts(np.r_[at(), at(0.01, 0.02, z - 1e-4 + rng.normal() * 1e-6, R)])
        assert len(found) == 4
        names.add(frozenset(c.feature for c in found))
    assert len(names) == 1


def test_concentric_shapes_get_a_normal():
    for first, second in PAIRS:
        for c in two(SOLIDS[first], SOLIDS[second]).contacts(np.r_[at(), at()]):
            assert np.linalg.norm(c.normal) == pytest.approx(1.0)
            assert c.gap < 0.0
