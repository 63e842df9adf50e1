"""Things to feel, and how far a point is from them by their definitions: what the tests of rendering are made of."""

from pathlib import Path

import numpy as np
from collision import scenes

import palpate as pp


def body(name: str, *shapes: pp.Shape, fixed: bool = True, at: pp.Transform | None = None) -> pp.MultiBody:
    """One body that stands where `at` says, or floats."""
    kind, place = ("fixed", at or pp.Transform()) if fixed else ("free", pp.Transform())
    part = pp.Body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), shapes=shapes)
    return pp.MultiBody(name, (part,), (pp.Joint(f"{name}_joint", kind, "world", name, placement=place),))


def icosphere(subdivisions: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and 20 * 4^subdivisions triangles."""
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=subdivisions, radius=radius)
    return np.array(ball.vertices), np.array(ball.faces)


def star(radius: float) -> tuple[np.ndarray, np.ndarray]:
    """A closed mesh of 80 triangles with spikes and notches: every other corner is pulled halfway in."""
    vertices, triangles = icosphere(1, radius)
    return vertices * np.where(np.arange(len(vertices)) % 2, 1.0, 0.5)[:, None], triangles


def write_mesh(path: Path, vertices: np.ndarray, triangles: np.ndarray, convex: bool | None = False) -> pp.Shape:
    """The shape of a mesh, written as an .obj file."""
    return pp.Shape("mesh", (1.0, 1.0, 1.0), mesh=scenes.write_mesh(path, vertices, triangles), convex=convex)


def primitive_gap(shape: pp.Shape, point: np.ndarray) -> float:
    """Signed distance of a point of the shape's frame from the surface of a primitive, by its definition."""
    if shape.kind == "plane":
        return float(point[2])
    return scenes.surface_gap(shape, pp.Transform(), np.asarray(point, dtype=float))


def hull_gap(vertices: np.ndarray, triangles: np.ndarray, points: np.ndarray) -> np.ndarray:
    """How far points (n, 3) are outside a convex solid, at least: over its faces, the largest height (n,)."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    return (points @ n.T - np.einsum("ij,ij->i", n, a)).max(axis=1)


def pushing(rng: np.random.Generator, n: int, centre, spread: float, step: float) -> np.ndarray:
    """A hand that wanders (n, 3): to random goals around `centre`, at most `step` metres an update."""
    path, here = np.empty((n, 3)), np.asarray(centre, dtype=float) + spread * np.array([0.0, 0.0, 2.0])
    goal = here
    for i in range(n):
        if np.linalg.norm(goal - here) < step:
            goal = np.asarray(centre) + spread * rng.uniform(-1.0, 1.0, 3)
        way = goal - here
        here = here + way * min(1.0, step * rng.uniform(0.2, 1.0) / max(np.linalg.norm(way), 1e-12))
        path[i] = here
    return path
