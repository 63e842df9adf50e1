"""Distances of convex polygons by GJK, against every vertex and every edge, and against what makes a distance one."""

import numpy as np
import pytest
from body_doors import gjk_door
from polygon_families import FAMILIES, box, brute_distance, placed, point_segment, poses, separation, shapes
from scipy.optimize import linprog

from palpate.jit import Block
from palpate.planar.bodies.polygons import tables_of

EXACT = 1e-9  # [m]


def pairs_of(family, count, seed):
    """(polygons, X of them and the world's row) of so many pairs."""
    rng = np.random.default_rng(seed)
    polygons, X = [], [np.zeros((1, 3))]
    for _ in range(count):
        two = shapes(family, rng)
        polygons += two
        X.append(poses(family, rng, *two))
    return polygons, np.concatenate(X)


def measured(polygons, X, simplex=None):
    """(n, 5) as gjk_door has it."""
    block = Block(tables_of(polygons, np.ones((len(polygons) + 1, 3))))
    out = np.zeros((len(polygons) // 2, 5))
    gjk_door(block.address, X, np.zeros((len(out), 7), dtype=np.int64) if simplex is None else simplex, out)
    return out


def worlds(polygons, X):
    """Vertices of each pair, about the first one's centre."""
    for k in range(len(polygons) // 2):
        a, b = X[2 * k + 1], X[2 * k + 2]
        yield placed(polygons[2 * k], a, a[:2]), placed(polygons[2 * k + 1], b, a[:2])


@pytest.mark.parametrize("family", FAMILIES)
def test_distance_is_that_of_the_nearest_vertex_and_edge(family):
    """Planar haptics, acceptance 14: 3000 pairs that are apart over all families; overlap gives 0."""
    polygons, X = pairs_of(family, 740, seed=14)
    apart = 0
    for found, (a, b) in zip(measured(polygons, X), worlds(polygons, X), strict=True):
        gap = separation(a, b)
        if gap > 1e-12:
            apart += 1
            assert abs(found[0] - brute_distance(a, b)) < EXACT
        elif gap < -1e-12:
            assert found[0] == 0.0
    assert 375 <= apart < 740


@pytest.mark.parametrize("family", FAMILIES)
def test_closest_points_lie_on_their_bodies_and_a_line_between_them_parts_these(family):
    polygons, X = pairs_of(family, 200, seed=2)
    for found, (a, b) in zip(measured(polygons, X), worlds(polygons, X), strict=True):
        if found[0] == 0.0:
            continue
        pa, pb = found[1:3], found[3:5]
        way = (pa - pb) / found[0]
        assert abs(np.hypot(*(pa - pb)) - found[0]) < EXACT
        assert ((a - pa) @ way).min() > -EXACT  # all of A beyond pa, all of B before pb: no two points are closer
        assert ((b - pb) @ way).max() < EXACT
        assert brute_on(a, pa) < EXACT
        assert brute_on(b, pb) < EXACT


def brute_on(polygon, p):
    """Distance of a point from the border."""
    return point_segment(p[None], polygon, np.roll(polygon, -1, axis=0)).min()


@pytest.mark.parametrize("family", ["usual", "thin", "parallel"])
def test_overlap_is_where_both_have_a_point_in_common(family):
    """By linear programming: weights of the vertices of both that give one point."""
    polygons, X = pairs_of(family, 60, seed=3)
    for found, (a, b) in zip(measured(polygons, X), worlds(polygons, X), strict=True):
        if abs(separation(a, b)) < 1e-9:
            continue
        n, m = len(a), len(b)
        same = np.block([[a.T, -b.T], [np.ones((1, n)), np.zeros((1, m))], [np.zeros((1, n)), np.ones((1, m))]])
        common = linprog(np.zeros(n + m), A_eq=same, b_eq=[0.0, 0.0, 1.0, 1.0], method="highs")
        assert (found[0] == 0.0) == (common.status == 0)


@pytest.mark.parametrize("family", FAMILIES)
def test_beginning_where_the_last_one_ended_changes_nothing(family):
    """A pair that moves, with the simplex kept, and each anew."""
    rng = np.random.default_rng(5)
    polygons, X = pairs_of(family, 60, seed=4)
    simplex = np.zeros((60, 7), dtype=np.int64)
    size = np.array([np.hypot(*polygon.T).max() for polygon in polygons])
    for _ in range(30):
        kept, anew = measured(polygons, X, simplex), measured(polygons, X)
        np.testing.assert_allclose(kept[:, 0], anew[:, 0], rtol=1e-9, atol=1e-12)
        X = X.copy()
        X[1:, :2] += 0.1 * size[:, None] * rng.normal(size=(len(size), 2))
        X[1:, 2] += 0.1 * rng.normal(size=len(size))


@pytest.mark.nojit
def test_two_squares_side_by_side_corner_to_corner_and_one_in_the_other():
    square = box(0.1, 0.1)
    cases = {(0.15, 0.0): 0.05, (0.13, 0.14): 0.05, (0.1, 0.0): 0.0, (0.0, 0.0): 0.0, (0.02, 0.09): 0.0}
    X = np.zeros((1 + 2 * len(cases), 3))
    X[2::2, :2] = list(cases)
    found = measured([square] * (2 * len(cases)), X)
    np.testing.assert_allclose(found[:, 0], list(cases.values()), atol=1e-15)
