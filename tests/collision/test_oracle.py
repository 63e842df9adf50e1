"""Distances and normals against coal, over random and degenerate configurations.

coal is another implementation, not the truth: where it is known to be wrong (a sphere deep in a cylinder) the closed
form decides.
"""

import itertools

import numpy as np
import pytest
import scenes
from scenes import SOLIDS, pose, poses, surface_gap, two

import palpate as pp

coal = pytest.importorskip("coal")

PAIRS = list(itertools.combinations_with_replacement(SOLIDS, 2))
# [m] Flat shapes end exactly; coal stops at about 1e-6 on curved ones.
EXACT, CURVED = 1e-9, 3e-6


def coal_shape(shape: pp.Shape):
    return {"sphere": coal.Sphere, "capsule": coal.Capsule, "box": coal.Box, "cylinder": coal.Cylinder}[shape.kind](
        *shape.size
    )


def coal_distance(a, Ra, pa, b, Rb, pb):
    """(signed distance, normal from a to b)."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    Xa, Xb = coal.Transform3s(Ra.matrix(), np.array(pa)), coal.Transform3s(Rb.matrix(), np.array(pb))
    return coal.distance(a, Xa, b, Xb, request, result), np.array(result.normal)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_distance_and_normal_agree_at_random(first, second):
    A, B, rng = SOLIDS[first], SOLIDS[second], np.random.default_rng(3)
    collider, a, b = two(A, B, margin=10.0, full=True), coal_shape(A), coal_shape(B)
    tolerance = CURVED if "cylinder" in (first, second) else EXACT
    off = 0
    for _ in range(600):
        Ra, pa, Rb, pb = poses(rng, 0.12)
        nearest = min(collider.contacts(np.r_[pose(Ra, pa), pose(Rb, pb)]), key=lambda c: c.gap)
        expected, normal = coal_distance(a, Ra, pa, b, Rb, pb)
        if (first, second) == ("sphere", "cylinder"):  # coal errs by centimetres when the centre is inside
            expected = surface_gap(B, pp.Transform(Rb, tuple(pb)), pa) - A.size[0]
            normal = nearest.normal if expected < -A.size[0] else normal
        # two boxes: another axis must be better by PREFER_FIRST (boxes.py) to be chosen
        assert nearest.gap == pytest.approx(expected, abs=1.1e-5 if first == second == "box" else tolerance)
        off += np.linalg.norm(nearest.normal - normal) > 0.02
    assert off <= 3  # ways out that are equally short


@pytest.mark.parametrize("second", ["sphere", "capsule", "box", "cylinder"])
def test_hull_distance_agrees(second, tmp_path):
    rng = np.random.default_rng(4)
    points = rng.normal(size=(40, 3))
    points *= 0.08 / np.linalg.norm(points, axis=1, keepdims=True)
    from palpate.collision.polyhedra import hull_triangles

    triangles = hull_triangles(points)
    path = scenes.write_mesh(tmp_path / "stone.obj", points, triangles)
    A, B = pp.Shape("mesh", (1.0, 1.0, 1.0), mesh=path, convex=True), SOLIDS[second]
    vertices, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    vertices.extend([np.array(x) for x in points])
    faces.extend([coal.Triangle(*(int(k) for k in t)) for t in triangles])
    stone = coal.Convex(vertices, faces)
    collider = two(A, B, margin=10.0, full=True)
    for _ in range(400):
        Ra, pa, Rb, pb = poses(rng, 0.14)
        nearest = min(collider.contacts(np.r_[pose(Ra, pa), pose(Rb, pb)]), key=lambda c: c.gap)
        expected, _ = coal_distance(stone, Ra, pa, coal_shape(B), Rb, pb)
        assert nearest.gap == pytest.approx(expected, abs=CURVED)


@pytest.mark.parametrize("kind", SOLIDS)
def test_plane_distance_agrees(kind):
    A, rng = SOLIDS[kind], np.random.default_rng(5)
    for _ in range(30):
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        at = rng.uniform(-1.0, 1.0, size=3)
        model = pp.compile([pp.models.plane(at, normal), scenes.body("a", A)])
        collider = scenes.Collider(model, margin=10.0)
        half = coal.Halfspace(normal, float(normal @ at))
        for _ in range(20):
            R, p = scenes.random_rotation(rng), at + rng.uniform(-0.15, 0.15, size=3)
            nearest = min(collider.contacts(pose(R, p)), key=lambda c: c.gap)
            expected, _ = coal_distance(half, pp.Rotation(), np.zeros(3), coal_shape(A), R, p)
            assert nearest.gap == pytest.approx(expected, abs=1e-9)
            assert nearest.normal == pytest.approx(normal, abs=1e-12)


def degenerate():
    """Aligned, touching, centred, parallel, edge over edge."""
    turns = [
        pp.Rotation(), pp.Rotation.about((0, 0, 1), np.pi / 2), pp.Rotation.about((1, 0, 0), np.pi / 2),
        pp.Rotation.about((0, 1, 0), np.pi / 4), pp.Rotation.about((1, 1, 1), 2 * np.pi / 3),
        pp.Rotation.about((0, 0, 1), 1e-9), pp.Rotation.about((1, 0, 0), 1e-7),
    ]  # fmt: skip
    steps = [(0, 0, 0), (0.1, 0, 0), (0, 0, 0.08), (0, 0, 0.0801), (0, 0.14, 0), (0.1, 0.14, 0.08), (0, 0.05, 0),
             (1e-12, 0, 0), (0.05, 0.07, 0.0), (0, 0, 0.04), (0.11, 0, 0.09)]  # fmt: skip
    return list(itertools.product(turns, turns, steps))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_degenerate_configurations_are_finite_and_agree_when_apart(first, second):
    A, B = SOLIDS[first], SOLIDS[second]
    collider, a, b = two(A, B, margin=10.0, full=True), coal_shape(A), coal_shape(B)
    for Ra, Rb, p in degenerate():
        found = collider.contacts(np.r_[pose(Ra, np.zeros(3)), pose(Rb, np.array(p))])
        assert found
        for c in found:
            assert np.isfinite(c.point).all()
            assert np.linalg.norm(c.normal) == pytest.approx(1.0, abs=1e-9)
        expected, _ = coal_distance(a, Ra, np.zeros(3), b, Rb, np.array(p))
        nearest = min(c.gap for c in found)
        if expected > 1e-6:
            assert nearest == pytest.approx(expected, abs=CURVED)
        elif (first, second) != ("sphere", "cylinder"):
            # concentric round shapes have no one way out; coal then stops up to 0.24 mm short of the closed form
            assert nearest == pytest.approx(expected, abs=3e-4 if "cylinder" in (first, second) else 1.1e-5)
