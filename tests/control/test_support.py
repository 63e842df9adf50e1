"""The support polygon, against brute force over points and half planes."""

import numpy as np
import pytest

from palpate.control.balance.support import convex_hull, margin, pull_in, reach
from palpate.jit import entry

pytestmark = pytest.mark.nojit
FAMILIES = ("feet", "cloud", "line", "grid", "same", "tiny")


@entry("float64[:, ::1], float64[:, ::1], float64[::1], float64[::1]")
def support_entry(points, H, x, out):
    """x = (point, direction, slack); out = (corners, margin, reach, pulled point)."""
    n = convex_hull(points, points.shape[0], H)
    out[0] = n
    out[1] = margin(H, n, x[0], x[1])
    out[2] = reach(H, n, x[0], x[1], x[2], x[3])
    out[3], out[4] = pull_in(H, n, x[0], x[1], x[4])


def seen(points, point, direction=(1.0, 0.0), slack=0.0):
    H, out = np.zeros((len(points) + 1, 2)), np.zeros(5)
    support_entry(np.array(points, dtype=float), H, np.array([*point, *direction, slack], dtype=float), out)
    return H[: int(out[0])], out[1], out[2], out[3:]


def family(kind, rng):
    """Up to 16 points of one kind."""
    if kind == "feet":  # two soles, turned and apart
        foot = np.array([(0.14, -0.05), (0.14, 0.06), (-0.1, 0.06), (-0.1, -0.05)])
        c, s = np.cos(a := rng.uniform(-3, 3)), np.sin(a)
        return np.vstack([foot @ ((c, s), (-s, c)) + rng.normal(0, 0.2, 2) for _ in range(2)])
    n = int(rng.integers(3, 17))
    if kind == "cloud":
        return rng.normal(0, 0.2, (n, 2))
    if kind == "line":
        return np.outer(rng.normal(0, 0.2, n), rng.normal(size=2)) + 0.3
    if kind == "grid":  # many on edges, many twice
        return rng.integers(0, 3, (n, 2)) * 0.1
    if kind == "same":
        return np.tile(rng.normal(size=2), (n, 1))
    return 1e-4 * rng.normal(size=(n, 2)) + 5.0


def cases(kinds=FAMILIES, count=12):
    for kind in kinds:
        rng = np.random.default_rng(FAMILIES.index(kind))
        for _ in range(count):
            yield family(kind, rng), rng


def test_hull_holds_all_points_turns_left_and_has_no_corner_that_is_none():
    for points, _ in cases():
        H, *_ = seen(points, points[0])
        for corner in H:
            assert (np.abs(points - corner).sum(axis=1) == 0.0).any()
        if len(H) < 3:
            spread = points - points.mean(axis=0)
            assert np.linalg.svd(spread, compute_uv=False)[1] < 1e-6  # a line or a point
            continue
        for e in range(len(H)):
            a, b = H[e], H[(e + 1) % len(H)]
            side = (b[0] - a[0]) * (points[:, 1] - a[1]) - (b[1] - a[1]) * (points[:, 0] - a[0])
            assert side.min() > -1e-11
            c = H[(e + 2) % len(H)]
            assert (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0.0


def test_margin_is_the_distance_from_the_edge_with_the_sign_of_inside():
    for points, rng in cases(("feet", "cloud", "grid")):
        H, *_ = seen(points, points[0])
        if len(H) < 3:
            continue
        edge = np.vstack([a + t * (b - a) for a, b in zip(H, np.roll(H, -1, 0), strict=True)
                          for t in np.linspace(0, 1, 400)[:, None]])  # fmt: skip
        for _ in range(5):
            point = H.mean(axis=0) + rng.normal(0, 0.15, 2)
            found = seen(points, point)[1]
            assert abs(found) == pytest.approx(np.linalg.norm(edge - point, axis=1).min(), abs=2e-3)
            a, b = H, np.roll(H, -1, 0)
            inside = ((b - a)[:, 0] * (point - a)[:, 1] - (b - a)[:, 1] * (point - a)[:, 0] >= 0).all()
            assert (found >= 0) == inside


def test_what_lies_on_a_line_or_a_point_is_never_inside():
    for points, _ in cases(("line", "same")):
        assert seen(points, points.mean(axis=0))[1] <= 0.0
        assert seen(points, points.mean(axis=0))[2] == 0.0


def test_reach_ends_on_the_edge():
    for points, rng in cases(("feet", "cloud")):
        H, *_ = seen(points, points[0])
        if len(H) < 3:
            continue
        angle = rng.uniform(-np.pi, np.pi)
        u, point = np.array([np.cos(angle), np.sin(angle)]), H.mean(axis=0)
        way = seen(points, point, u)[2]
        assert way > 0.0
        assert seen(points, point + way * u)[1] == pytest.approx(0.0, abs=1e-9)


def test_a_point_is_pulled_to_the_middle_just_until_it_is_within_the_slack():
    for points, rng in cases(("feet", "cloud")):
        H, *_ = seen(points, points[0])
        if len(H) < 3:
            continue
        middle = H.mean(axis=0)
        for slack in (-0.01, 0.0, 0.06):
            point = middle + rng.normal(0, 0.4, 2)
            pulled = seen(points, point, slack=slack)[3]
            normals = np.array([(b - a)[::-1] * (1, -1) for a, b in zip(H, np.roll(H, -1, 0), strict=True)])
            normals /= np.linalg.norm(normals, axis=1)[:, None]
            beyond = (normals * (pulled - H)).sum(axis=1) - slack
            free = (normals * (middle - H)).sum(axis=1) <= slack  # the middle itself keeps the margin
            if not free.all():
                continue
            assert beyond.max() <= 1e-12
            was = ((normals * (point - H)).sum(axis=1) - slack).max()
            if was <= 0.0:
                assert pulled == pytest.approx(point, abs=1e-15)
            else:
                assert beyond.max() == pytest.approx(0.0, abs=1e-12)
                out = point - middle
                assert abs(out[0] * (pulled - middle)[1] - out[1] * (pulled - middle)[0]) < 1e-12
