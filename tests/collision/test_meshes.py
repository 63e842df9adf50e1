"""Hulls and triangle meshes: the same as what they are made from, and no stumbling over seams."""

import numpy as np
import pytest
import scenes
from scenes import BOX_TRIANGLES, SOLIDS, body, box_vertices, grid, pose, poses, write_mesh

import palpate as pp
from palpate.collision.facade import Collider
from palpate.collision.polyhedra import hull, hull_triangles, tree, volume

pytestmark = pytest.mark.nojit


def mesh(path, convex=None, scale=(1.0, 1.0, 1.0)) -> pp.Shape:
    return pp.Shape("mesh", scale, mesh=path, convex=convex)


@pytest.fixture
def crate(tmp_path):
    return write_mesh(tmp_path / "crate.obj", box_vertices(0.10, 0.14, 0.08), BOX_TRIANGLES)


@pytest.fixture
def floor(tmp_path):
    return write_mesh(tmp_path / "floor.obj", *grid(8, 1.0, lambda x, y: 0.0))


def test_hull_of_random_points_holds_them_all_and_is_closed():
    rng = np.random.default_rng(0)
    for n in (4, 5, 20, 200):
        points = rng.normal(size=(n, 3))
        solid = hull(points)
        assert solid is not None
        offsets = [solid.vertices[f[0]] @ normal for f, normal in zip(solid.faces, solid.normals, strict=True)]
        assert (points @ solid.normals.T - offsets).max() < 1e-9
        edges = sum(len(f) for f in solid.faces) // 2
        assert len(solid.vertices) - edges + len(solid.faces) == 2  # Euler


def test_hull_of_a_box_has_six_faces_of_four_corners():
    solid = hull(box_vertices(1.0, 2.0, 3.0))
    assert solid is not None
    assert sorted(len(f) for f in solid.faces) == [4] * 6


def test_flat_points_have_no_hull():
    assert hull_triangles(np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], dtype=float)) is None


def test_tree_holds_every_triangle_once_in_boxes_that_hold_it():
    vertices, triangles = grid(7, 1.0, lambda x, y: x * y)
    t = tree(vertices, triangles)
    assert sorted(map(tuple, t.triangles.tolist())) == sorted(map(tuple, triangles.tolist()))
    for node in range(len(t.low)):
        for k in range(t.first[node], t.first[node] + t.count[node]):
            assert (t.vertices[t.triangles[k]] >= t.low[node] - 1e-12).all()
            assert (t.vertices[t.triangles[k]] <= t.high[node] + 1e-12).all()
    assert t.count.sum() == len(triangles)


def test_a_closed_convex_file_is_touched_as_its_hull_and_an_open_one_as_triangles(crate, floor):
    from palpate.collision.tables import HULL, MESH

    model = pp.compile([body("a", mesh(crate)), body("b", mesh(floor)), body("c", mesh(crate, convex=False))])
    assert Collider(model).shapes.geometry.kind.tolist() == [HULL, MESH, MESH]


def test_a_flat_mesh_cannot_be_convex(floor):
    with pytest.raises(pp.ModelError, match="flat"):
        Collider(pp.compile(body("a", mesh(floor, convex=True))))


def test_convex_is_for_meshes_only():
    with pytest.raises(ValueError, match="convex"):
        pp.Shape("sphere", (1.0,), convex=True)


def test_mirrored_meshes_keep_their_outside(crate):
    vertices = box_vertices(0.1, 0.14, 0.08) * [-1, 1, 1]
    assert volume(vertices, BOX_TRIANGLES[:, ::-1]) > 0.0
    model = pp.compile([body("a", mesh(crate, False, (-1.0, 1.0, 1.0))), body("b", pp.Shape("sphere", (0.05,)))])
    (c, *_) = Collider(model).contacts(np.r_[model.neutral()[:7], pose(pp.Rotation(), np.array([0.01, 0.02, 0.089]))])
    assert c.normal == pytest.approx([0, 0, 1])
    assert c.gap == pytest.approx(-0.001)


@pytest.mark.parametrize("other", SOLIDS)
def test_hull_of_a_box_touches_like_the_box(crate, other):
    rng, B = np.random.default_rng(2), SOLIDS[other]
    as_hull = scenes.two(mesh(crate, True), B, margin=0.05, full=True)
    as_box = scenes.two(SOLIDS["box"], B, margin=0.05, full=True)
    for _ in range(15):
        Ra, pa, Rb, pb = poses(rng, 0.12)
        q = np.r_[pose(Ra, pa), pose(Rb, pb)]
        one, two_ = as_hull.contacts(q), as_box.contacts(q)
        assert bool(one) == bool(two_)
        if one:
            assert min(c.gap for c in one) == pytest.approx(min(c.gap for c in two_), abs=2e-5)


@pytest.mark.parametrize("other", SOLIDS)
def test_triangles_of_a_box_are_as_far_as_the_box(crate, other):
    """Apart, the nearest point of the skin is that of the solid; normals never point inwards."""
    rng, B = np.random.default_rng(3), SOLIDS[other]
    skin = scenes.two(mesh(crate, False), B, margin=0.1, full=True)
    solid = scenes.two(SOLIDS["box"], B, margin=0.1, full=True)
    seen = 0
    for _ in range(40):
        Ra, pa, Rb, pb = poses(rng, 0.16)
        q = np.r_[pose(Ra, pa), pose(Rb, pb)]
        expected = solid.contacts(q)
        if expected and min(c.gap for c in expected) > 1e-4:
            seen += 1
            nearest = min(skin.contacts(q), key=lambda c: c.gap)
            best = min(expected, key=lambda c: c.gap)
            assert nearest.gap == pytest.approx(best.gap, abs=2e-5)
            assert nearest.normal == pytest.approx(best.normal, abs=2e-2)
    assert seen > 5


@pytest.mark.parametrize(("kind", "height", "points"), [("box", 0.04, 4), ("cylinder", 0.045, 4), ("sphere", 0.05, 1)])
def test_solids_slide_over_a_flat_mesh_without_feeling_its_seams(floor, kind, height, points):
    ground = body("floor", mesh(floor), fixed=True)
    collider = Collider(pp.compile([ground, body("a", SOLIDS[kind])]))
    for k in range(25):
        for gap in (-1e-3, 1e-3):
            found = collider.contacts(pose(pp.Rotation(), np.array([-0.3 + 0.0237 * k, 0.011 * k - 0.1, height + gap])))
            assert len(found) >= points
            for c in found:
                assert c.normal == pytest.approx([0, 0, 1], abs=1e-6)
                assert c.gap == pytest.approx(gap, abs=1e-6)


def test_a_mesh_on_a_plane_touches_with_its_corners(crate):
    for convex in (True, False):
        model = pp.compile([pp.models.plane(), body("a", mesh(crate, convex))])
        found = Collider(model).contacts(pose(pp.Rotation(), np.array([0, 0, 0.039])))
        assert sorted((round(c.point[0], 9), round(c.point[1], 9)) for c in found) == [
            (-0.05, -0.07), (-0.05, 0.07), (0.05, -0.07), (0.05, 0.07)]  # fmt: skip
        assert [c.gap for c in found] == pytest.approx([-0.001] * 4)


def test_a_fine_mesh_on_a_plane_has_more_points_than_room_and_still_four_corners(tmp_path):
    path = write_mesh(tmp_path / "sheet.obj", *grid(24, 0.2, lambda x, y: 0.0))
    model = pp.compile([pp.models.plane(), body("a", mesh(path))])
    collider = Collider(model)
    found = collider.contacts(model.neutral())
    assert {tuple(np.abs(np.round(c.point[:2], 9))) for c in found} == {(0.1, 0.1)}
    assert len(found) == 4
    assert collider.lost == 0


def test_mesh_against_mesh_is_as_far_as_box_against_box(crate):
    collider = scenes.two(mesh(crate, False), mesh(crate, False))
    for gap in (1e-3, -1e-3):
        q = np.r_[pose(pp.Rotation(), np.zeros(3)), pose(pp.Rotation(), np.array([0.02, 0.03, 0.08 + gap]))]
        found = collider.contacts(q)
        assert min(c.gap for c in found) == pytest.approx(gap, abs=1e-6)
        up = [c for c in found if c.normal[2] > 0.99]
        assert len(up) >= 4
        assert np.ptp([c.point[0] for c in up]) == pytest.approx(0.08, abs=1e-3)


def test_the_tree_finds_what_looking_at_every_triangle_finds(tmp_path):
    rng = np.random.default_rng(6)
    vertices, triangles = grid(10, 0.6, lambda x, y: 0.05 * np.sin(9 * x) * np.cos(7 * y))
    path = write_mesh(tmp_path / "hills.obj", vertices, triangles)
    collider = Collider(pp.compile([body("hills", mesh(path), fixed=True), body("a", SOLIDS["sphere"])]), full=True)
    for _ in range(40):
        x = rng.uniform((-0.25, -0.25, 0.0), (0.25, 0.25, 0.11))
        found = collider.contacts(pose(pp.Rotation(), x))
        distances = [np.linalg.norm(x - nearest_on_triangle(x, vertices[t])) for t in triangles]
        gap = min(distances) - 0.05
        if found and min(c.gap for c in found) > -0.05:
            assert min(c.gap for c in found) == pytest.approx(gap, abs=1e-9)
        elif not found:
            assert gap > 0.005 or x[2] < 0.0 or gap < -0.04


def nearest_on_triangle(x: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """By trying the face, the edges and the corners."""
    a, b, c = corners
    E = np.stack([b - a, c - a], axis=1)
    uv = np.linalg.lstsq(E, x - a, rcond=None)[0]
    if uv.min() >= 0 and uv.sum() <= 1:
        return a + E @ uv
    options = []
    for p, q in ((a, b), (b, c), (c, a)):
        t = np.clip((x - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
        options.append(p + t * (q - p))
    return min(options, key=lambda y: np.linalg.norm(x - y))
