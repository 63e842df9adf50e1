"""Trees of boxes and hulls of meshes, made all at once, against the plain way: one part, one face at a time."""

import numpy as np
import pytest
import trimesh

from palpate.collision.polyhedra import LEAF, hull, hull_triangles, least_volume, tree, volume

CASES = [
    (n, seed, kind) for seed, n in enumerate((1, 2, 3, 4, 5, 7, 8, 9, 17, 33, 100, 513)) for kind in ("any", "grid")
]


def some_triangles(n, seed, kind):
    """Triangles between random points; on a grid many of them have one centre."""
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(max(n, 3), 3)) * rng.uniform(1e-3, 1e3, 3)
    if kind == "grid":
        vertices = np.round(vertices / np.abs(vertices).max() * 2.0)
    return vertices, rng.integers(0, len(vertices), (n, 3))


def halved(rows, low, high, nodes):
    """The plain way, depth first: rows in order; nodes (low, high, first, count, skip) as they come."""
    done = sum(node["count"] for node in nodes)
    mine = {"low": low[rows].min(axis=0), "high": high[rows].max(axis=0), "first": done, "count": 0}
    nodes.append(mine)
    if len(rows) <= LEAF:
        mine["count"], order = len(rows), list(rows)
    else:
        centres = 0.5 * (low + high)
        axis = int(np.argmax(np.ptp(centres[rows], axis=0)))
        rows = rows[np.argsort(centres[rows, axis], kind="stable")]
        order = halved(rows[: len(rows) // 2], low, high, nodes) + halved(rows[len(rows) // 2 :], low, high, nodes)
    mine["skip"] = len(nodes)
    return order


@pytest.mark.parametrize(("n", "seed", "kind"), CASES)
def test_a_tree_made_depth_by_depth_is_the_one_made_part_by_part(n, seed, kind):
    vertices, triangles = some_triangles(n, seed, kind)
    corners, nodes = vertices[triangles], []
    order = halved(np.arange(n), corners.min(axis=1), corners.max(axis=1), nodes)
    made = tree(vertices, triangles)
    assert (made.triangles == triangles[order]).all()
    for name in ("low", "high", "first", "count", "skip"):
        assert (getattr(made, name) == np.array([node[name] for node in nodes])).all(), name


@pytest.mark.parametrize(("n", "seed", "kind"), CASES)
def test_neighbours_are_those_who_share_an_edge(n, seed, kind):
    vertices, triangles = some_triangles(n, seed, kind)
    near = [set() for _ in vertices]
    for a, b, c in triangles.tolist():
        for x, y in ((a, b), (b, c), (c, a)):
            near[x].add(y)
            near[y].add(x)
    assert tree(vertices, triangles).neighbours == [sorted(x) for x in near]


@pytest.mark.parametrize("seed", range(12))
def test_faces_of_a_hull_are_flat_whole_and_bend_at_every_edge(seed):
    """Of random points, of lattices with faces of many triangles, of thin and of tiny things."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(5, 90)), 3)) * rng.choice([1e-3, 1.0, 50.0], 3)
    if seed % 3 == 0:
        points = np.array(np.meshgrid(*[np.arange(3.0)] * 3)).reshape(3, -1).T * rng.uniform(0.01, 3.0, 3)
    solid = hull(points)
    size = np.ptp(points, axis=0).max()
    owner = {}
    for k, face in enumerate(solid.faces):
        heights = solid.vertices[face] @ solid.normals[k]
        assert np.ptp(heights) < 1e-7 * size
        assert (solid.vertices @ solid.normals[k]).max() <= heights.max() + 1e-7 * size
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            assert (a, b) not in owner  # turned the same way round, each edge once
            owner[a, b] = k
    for (a, b), k in owner.items():  # by an angle, or, of a thing that is almost flat, by a distance
        other = owner[b, a]
        below = solid.vertices[solid.faces[other]] @ solid.normals[k] - solid.vertices[a] @ solid.normals[k]
        assert solid.normals[k] @ solid.normals[other] < 1.0 - 1e-10 or below.min() < -1e-8 * size
    if seed % 3 == 0:
        assert len(solid.faces) == 6


@pytest.mark.parametrize("seed", range(10))
def test_the_least_volume_is_below_that_of_the_hull_and_near_it(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(10, 3000)), 3)) * rng.uniform(0.01, 10.0, 3)
    whole = volume(points, hull_triangles(points))
    assert 0.7 * whole <= least_volume(points) <= whole * (1.0 + 1e-12)


def test_flat_points_have_no_least_volume():
    rng = np.random.default_rng(2)
    assert least_volume(np.column_stack([rng.normal(size=(50, 2)), np.zeros(50)])) == 0.0
    assert least_volume(rng.normal(size=(3, 3))) == 0.0


def test_a_ball_of_many_triangles_is_a_face_each():
    ball = trimesh.creation.icosphere(subdivisions=3)
    solid = hull(np.array(ball.vertices))
    assert sorted(map(len, solid.faces)) == [3] * 1280
