"""Signed distance and normal of a point: by definition, between meshes and primitives, and as a gradient."""

import numpy as np
import pytest
from collision.scenes import BOX_TRIANGLES, box_vertices, grid
from felt_things import body, icosphere, primitive_gap, pushing, star, write_mesh
from hypothesis import given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate.haptics.rendering.facade import Proxy
from palpate.haptics.rendering.meshes import triangulated
from palpate.haptics.rendering.surface import Surface

KINDS = {
    "plane": pp.Shape("plane"),
    "sphere": pp.Shape("sphere", (0.05,)),
    "capsule": pp.Shape("capsule", (0.03, 0.12)),
    "box": pp.Shape("box", (0.10, 0.14, 0.08)),
    "cylinder": pp.Shape("cylinder", (0.05, 0.09)),
}
points = st.tuples(*[st.floats(-0.15, 0.15)] * 3).map(np.array)


@pytest.mark.nojit
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(points)
def test_distance_to_a_primitive_is_its_definition(kind, x):
    shape = KINDS[kind]
    near = Proxy(shape).nearest(x)
    assert near.distance == pytest.approx(primitive_gap(shape, x), abs=1e-12)
    assert near.point == pytest.approx(x - near.distance * near.normal, abs=1e-12)
    assert abs(primitive_gap(shape, near.point)) < 1e-9


@pytest.mark.parametrize("convex", [False, True])
def test_triangles_of_a_box_are_as_far_as_the_box_inside_and_outside(tmp_path, convex):
    shape = write_mesh(tmp_path / "crate.obj", box_vertices(0.1, 0.14, 0.08), BOX_TRIANGLES, convex)
    proxy, solid, rng = Proxy(shape), Proxy(KINDS["box"]), np.random.default_rng(0)
    for x in rng.uniform(-0.12, 0.12, size=(500, 3)):
        mine, theirs = proxy.nearest(x), solid.nearest(x)
        assert mine.distance == pytest.approx(theirs.distance, abs=1e-12)
        assert mine.normal == pytest.approx(theirs.normal, abs=1e-9)


def test_inside_and_outside_of_a_notched_mesh_are_told_apart(tmp_path):
    """Spikes and notches: the sign is that of the solid angle which the mesh fills around the point."""
    vertices, triangles = star(0.1)
    proxy = Proxy(write_mesh(tmp_path / "star.obj", vertices, triangles))
    rng, seen = np.random.default_rng(3), {True: 0, False: 0}
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    for x in rng.uniform(-0.1, 0.1, size=(300, 3)):
        # 4 pi inside, 0 outside (van Oosterom and Strackee 1983)
        u, v, w = a - x, b - x, c - x
        lu, lv, lw = (np.linalg.norm(y, axis=1) for y in (u, v, w))
        top = np.einsum("ij,ij->i", u, np.cross(v, w))
        bottom = lu * lv * lw + (u * v).sum(1) * lw + (v * w).sum(1) * lu + (w * u).sum(1) * lv
        inside = abs(2.0 * np.arctan2(top, bottom).sum()) > 2.0 * np.pi
        assert (proxy.nearest(x).distance < 0.0) == inside
        seen[inside] += 1
    assert min(seen.values()) > 20


@pytest.mark.parametrize("radius", [0.0, 0.005])
def test_a_box_feels_the_same_as_a_box_its_triangles_and_its_hull(tmp_path, radius):
    """Three ways to the same shape: the same proxy and the same force, all along a random path."""
    vertices, smooth = box_vertices(0.1, 0.14, 0.08), Surface(1000.0, 0.0, 0.0, 0.0)
    ways = [KINDS["box"], *(write_mesh(tmp_path / f"{c}.obj", vertices, BOX_TRIANGLES, c) for c in (False, True))]
    hips = pushing(np.random.default_rng(5), 1500, (0, 0, 0), 0.09, 2e-3)
    felt = [Proxy(way, smooth, radius_m=radius).follow(hips) for way in ways]
    assert np.linalg.norm(felt[0][1], axis=1).max() > 5.0
    for positions, forces in felt[1:]:
        assert positions == pytest.approx(felt[0][0], abs=1e-6)
        assert forces == pytest.approx(felt[0][1], abs=1e-3)


def test_open_meshes_are_touched_from_their_front_and_passed_from_behind(tmp_path):
    """As in collision: the solid is behind the triangles, but a sheet has no inside."""
    proxy = Proxy(write_mesh(tmp_path / "sheet.obj", *grid(6, 0.4, lambda x, y: 0.0)))
    down = np.array([[0.013, 0.02, 0.05 - 2e-3 * k] for k in range(40)])
    positions, forces = proxy.follow(down)
    assert positions[-1, 2] > 0.0
    assert forces[-1, 2] > 20.0
    proxy.reset()
    positions, forces = proxy.follow(down[::-1] * [1, 1, 1] - [0, 0, 0.01])
    assert positions[-1] == pytest.approx([0.013, 0.02, 0.04])
    assert np.array_equal(forces, np.zeros_like(forces))


def test_hulls_become_meshes_of_the_same_triangles(tmp_path):
    from palpate.collision.geometry import geometry
    from palpate.collision.tables import HULL, MESH

    vertices, triangles = icosphere(1, 0.1)
    ball = write_mesh(tmp_path / "ball.obj", vertices, triangles, True)
    crate = write_mesh(tmp_path / "crate.obj", box_vertices(0.1, 0.1, 0.1), BOX_TRIANGLES, True)
    skin = write_mesh(tmp_path / "skin.obj", box_vertices(0.2, 0.2, 0.2), BOX_TRIANGLES, False)
    model = pp.compile([body("a", crate), body("b", skin), body("c", ball)])
    g = geometry(model)
    made = triangulated(g)
    assert sorted(g.kind.tolist()) == [HULL, HULL, MESH]
    assert made.kind.tolist() == [MESH] * 3
    counts = [int(made.node_count[made.mesh_node[t] : made.mesh_node[t + 1]].sum()) for t in made.table]
    assert counts == [12, 12, len(triangles)]
    assert made.near_begin[-1] == len(made.near)
    assert len(made.near_begin) == len(made.vertex) + 1
    corners = made.vertex[made.triangle_vertex].reshape(-1, 9)
    assert np.array_equal(corners, made.triangle)


def test_nothing_to_touch_is_said():
    proxy = Proxy(pp.Shape("plane"), by_body={"shape0": None})
    with pytest.raises(ValueError, match="nothing"):
        proxy.nearest((0, 0, 0))
