"""Convex polygons and poses at random, and what is true of them by plain numpy: knows nothing of the kernels."""

import numpy as np

FAMILIES = ("usual", "thin", "tiny", "far", "many-sided", "parallel", "many turns", "unequal")


def convex(rng, sides, width=0.1, height=0.06):
    """(sides, 2) counter-clockwise, strictly convex: on an ellipse, at angles that keep apart."""
    gaps = rng.uniform(0.3, 1.0, sides)
    angles = rng.uniform(0.0, 7.0) + 2.0 * np.pi * np.cumsum(gaps) / gaps.sum()
    return 0.5 * np.stack([width * np.cos(angles), height * np.sin(angles)], axis=1)


def box(width, height):
    return 0.5 * np.array([(-width, -height), (width, -height), (width, height), (-width, height)])


def shapes(family, rng):
    """Two polygons."""
    sides = rng.integers(3, 9, 2)
    if family == "thin":
        return convex(rng, sides[0], 0.2, 2e-4), convex(rng, sides[1], 1e-3, 0.15)
    if family == "tiny":
        return convex(rng, sides[0], 1e-4, 6e-5), convex(rng, sides[1], 8e-5, 1e-4)
    if family == "many-sided":
        return convex(rng, 60), convex(rng, 40, 0.05, 0.08)
    if family == "parallel":
        return box(*rng.uniform(0.02, 0.1, 2)), box(*rng.uniform(0.02, 0.1, 2))
    if family == "unequal":
        return convex(rng, sides[0], 1e-4, 1e-4), convex(rng, sides[1], 2.0, 1.0)
    return convex(rng, sides[0]), convex(rng, sides[1])


def poses(family, rng, a, b):
    """(2, 3): from deep overlap to well apart."""
    reach = np.hypot(*a.T).max() + np.hypot(*b.T).max()
    way = rng.uniform(0.0, 2.0 * np.pi)
    apart = reach * rng.uniform(0.0, 1.6)
    X = np.zeros((2, 3))
    X[0, 2], X[1, 2] = rng.uniform(-np.pi, np.pi, 2)
    if family == "parallel":
        X[1, 2] = X[0, 2] + rng.integers(4) * np.pi / 2.0 + rng.choice([0.0, 1e-15, 1e-9, -1e-7])
    if family == "many turns":
        X[:, 2] += 2.0 * np.pi * rng.integers(-2000, 2000, 2)
    X[1, :2] = apart * np.array([np.cos(way), np.sin(way)])
    if family == "far":
        X[:, :2] += rng.uniform(-1e3, 1e3, 2)
    return X


def placed(polygon, X, about=(0.0, 0.0)):
    """World vertices less `about`."""
    c, s = np.cos(X[2]), np.sin(X[2])
    return polygon @ np.array([(c, s), (-s, c)]) + (X[:2] - np.asarray(about))


def outward(points):
    """(normals, beginnings) of the edges."""
    edges = np.roll(points, -1, axis=0) - points
    return np.stack([edges[:, 1], -edges[:, 0]], axis=1) / np.hypot(*edges.T)[:, None], points


def outside_of(points, p):
    """(n points p) signed distance of each to the edges' lines: its largest, > 0 outside."""
    normals, begin = outward(points)
    return ((p[:, None, :] - begin[None]) * normals[None]).sum(axis=2).max(axis=1)


def separation(a, b):
    """Largest gap along an edge's normal of either: above 0 they are apart."""
    gaps = []
    for one, other in ((a, b), (b, a)):
        normals, begin = outward(one)
        gaps.append((normals @ other.T - (normals * begin).sum(axis=1)[:, None]).min(axis=1).max())
    return max(gaps)


def point_segment(p, a, b):
    """Distances (points, segments)."""
    d = b - a
    s = ((p[:, None] - a[None]) * d[None]).sum(axis=2) / (d * d).sum(axis=1)[None]
    foot = a[None] + np.clip(s, 0.0, 1.0)[..., None] * d[None]
    return np.hypot(*np.moveaxis(p[:, None] - foot, 2, 0))


def brute_distance(a, b):
    """Of two polygons that do not overlap: the least of every vertex from every edge of the other."""
    return min(point_segment(a, b, np.roll(b, -1, axis=0)).min(), point_segment(b, a, np.roll(a, -1, axis=0)).min())
