"""Where faces, edges and corners meet to within rounding: depths, sides and scales."""

import itertools

import numpy as np
import pytest
from near import bound, separation, solids, state
from scenes import BOX_TRIANGLES, body, box_vertices, grid, random_rotation, two, write_mesh

import palpate as pp
from palpate.collision.facade import Collider

STATES = [40, pytest.param(120, marks=pytest.mark.slow)]  # of each pair
# Parts of the smaller solid: up to this another axis of two boxes is not preferred, and a rim is followed.
EXACT = 1e-4
# A normal this near to a face's is the face's [rad]: sqrt(2 ALIGNED) of manifold.py.
ALIGNED = 1.5e-3
SMALL = 2.0**-14  # a power of two: multiplying by it is exact


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return solids(tmp_path_factory.mktemp("solids"))


NAMES = ["box", "plate", "block", "cylinder", "coin", "drum", "rod", "capsule", "sheet", "prism", "wedge"]
PAIRS = list(itertools.combinations_with_replacement(NAMES, 2))


@pytest.mark.parametrize("states", STATES)
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_depth_never_exceeds_what_an_independent_distance_says(shelf, first, second, states):
    a, b = shelf[first], shelf[second]
    rng, collider = np.random.default_rng(NAMES.index(first) * 100 + NAMES.index(second)), two(a.shape, b.shape)
    small, large = min(a.extent, b.extent), max(a.extent, b.extent)
    for k in range(states):
        s = state(rng, a, b)
        found = collider.distance(s.q(), "a", "b")
        own, least = separation(a, b, s, found.normal), bound(a, b, s)
        assert found.gap >= max(own, least) - EXACT * small, f"state {k}: too deep"
        assert found.gap <= own + ALIGNED * (small + large), f"state {k}: not as deep as along its own normal"


@pytest.mark.parametrize("states", STATES)
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_contacts_are_on_the_near_side(shelf, first, second, states):
    """They exist wherever the distance is below the margin, one is as deep as it says, and none presses inwards."""
    a, b = shelf[first], shelf[second]
    rng, small = np.random.default_rng(5), min(a.extent, b.extent)
    collider = two(a.shape, b.shape, margin=0.02 * small)
    for k in range(states // 3):
        s = state(rng, a, b)
        gap, found = collider.distance(s.q(), "a", "b").gap, collider.contacts(s.q())
        assert bool(found) == (gap < 0.02 * small), f"state {k}"
        if found:
            assert min(c.gap for c in found) == pytest.approx(gap, abs=2e-5 * small), f"state {k}"
        for c in found:
            assert c.gap >= separation(a, b, s, c.normal) - EXACT * small, f"state {k}"


def scaled_mesh(folder, scale):
    """A rough floor and a brick, both touched by their triangles."""
    floor, brick = grid(6, 0.5, lambda x, y: 0.02 * np.sin(9.0 * x) * np.cos(7.0 * y)), box_vertices(0.2, 0.1, 0.05)
    return {
        name: pp.Shape("mesh", (1.0, 1.0, 1.0), mesh=write_mesh(folder / f"{name}.obj", scale * v, t), convex=False)
        for name, (v, t) in {"floor": floor, "brick": (brick, BOX_TRIANGLES)}.items()
    }


def same_but_scaled(one, other, scale):
    assert [(c.shape_a, c.shape_b, c.feature) for c in one] == [(c.shape_a, c.shape_b, c.feature) for c in other]
    for c, d in zip(one, other, strict=True):
        assert scale * c.gap == d.gap
        assert (c.normal == d.normal).all()
        assert (scale * c.point == d.point).all()


def test_a_scene_scaled_in_length_has_the_same_contacts_scaled(shelf, tmp_path):
    """To the last bit: no length is built in."""
    small, rng, met = solids(tmp_path, SMALL), np.random.default_rng(8), 0
    for first, second in PAIRS:
        here, there = (
            two(x[first].shape, x[second].shape, margin=m) for x, m in ((shelf, 0.01), (small, 0.01 * SMALL))
        )
        for _ in range(20):
            s = state(rng, shelf[first], shelf[second])
            one, other = here.contacts(s.q()), there.contacts(s.q(SMALL))
            same_but_scaled(one, other, SMALL)
            met += len(one)
    assert met > 1000


def test_planes_balls_and_meshes_scaled_in_length_have_the_same_contacts_scaled(tmp_path):
    rng, met = np.random.default_rng(9), 0
    scenes = []
    for scale in (1.0, SMALL):
        (folder := tmp_path / str(scale)).mkdir()
        meshes = scaled_mesh(folder, scale)
        ball = [
            pp.Shape("sphere", (scale * r,), pp.Transform(p=(scale * x, 0.0, 0.0)))
            for r, x in ((0.05, 0.0), (0.02, 0.1))
        ]
        parts = [
            pp.models.plane((0, 0, -0.05 * scale)), body("floor", meshes["floor"], fixed=True),
            body("balls", *ball), body("more", *ball), body("brick", meshes["brick"]),
            body("box", pp.Shape("box", (0.1 * scale, 0.06 * scale, 0.02 * scale))),
            body("can", pp.Shape("cylinder", (0.04 * scale, 0.08 * scale))),
            body("pill", pp.Shape("capsule", (0.02 * scale, 0.08 * scale))),
            body("twin", pp.Shape("capsule", (0.02 * scale, 0.08 * scale))),
        ]  # fmt: skip
        scenes.append(Collider(pp.compile(parts), margin=0.005 * scale))
    for _ in range(150):
        R, p = [random_rotation(rng) for _ in range(7)], rng.uniform(-0.15, 0.15, (7, 3)) * [1.0, 1.0, 0.4]
        p[rng.integers(7)] = p[rng.integers(7)]  # two at one place
        one, other = (
            c.contacts(np.concatenate([[*(s * x), *r.wxyz] for x, r in zip(p, R, strict=True)]))
            for c, s in zip(scenes, (1.0, SMALL), strict=True)
        )
        same_but_scaled(one, other, SMALL)
        met += len(one)
    assert met > 1000
