"""Two solids, or a few, anywhere: what the tests of collision are made of."""

from pathlib import Path

import numpy as np

import palpate as pp
from palpate.collision.facade import Collider

SOLIDS = {
    "sphere": pp.Shape("sphere", (0.05,)),
    "capsule": pp.Shape("capsule", (0.03, 0.12)),
    "box": pp.Shape("box", (0.10, 0.14, 0.08)),
    "cylinder": pp.Shape("cylinder", (0.05, 0.09)),
}


def body(name: str, *shapes: pp.Shape, fixed: bool = False, at: pp.Transform | None = None) -> pp.MultiBody:
    """One body that floats, or is fixed where `at` says."""
    kind, place = ("fixed", at or pp.Transform()) if fixed else ("free", pp.Transform())
    part = pp.Body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), shapes=shapes)
    return pp.MultiBody(name, (part,), (pp.Joint(f"{name}_joint", kind, "world", name, placement=place),))


def two(a: pp.Shape, b: pp.Shape, **options: object) -> Collider:
    """A collider of two free bodies "a" and "b"."""
    return Collider(pp.compile([body("a", a), body("b", b)]), **options)  # type: ignore[arg-type]


def pose(R: pp.Rotation, p: np.ndarray) -> np.ndarray:
    """q of a free joint."""
    return np.array([*p, *R.wxyz])


def random_rotation(rng: np.random.Generator) -> pp.Rotation:
    q = rng.normal(size=4)
    return pp.Rotation(tuple(q / np.linalg.norm(q)))


def poses(rng: np.random.Generator, spread: float) -> tuple[pp.Rotation, np.ndarray, pp.Rotation, np.ndarray]:
    """Two random poses, their origins about `spread` apart [m]."""
    direction = rng.normal(size=3)
    direction *= spread * rng.uniform(0.3, 1.5) / np.linalg.norm(direction)
    start = rng.uniform(-1.0, 1.0, size=3)
    return random_rotation(rng), start, random_rotation(rng), start + direction


def surface_gap(shape: pp.Shape, X: pp.Transform, point: np.ndarray) -> float:
    """Signed distance of a point from the surface of a primitive, by its definition."""
    q = X.inv().apply(point)
    size = shape.size
    if shape.kind == "sphere":
        return float(np.linalg.norm(q) - size[0])
    if shape.kind == "capsule":
        h = 0.5 * size[1]
        return float(np.linalg.norm(q - [0.0, 0.0, np.clip(q[2], -h, h)]) - size[0])
    if shape.kind == "box":
        d = np.abs(q) - 0.5 * np.array(size)
        return float(np.linalg.norm(np.maximum(d, 0.0)) + min(d.max(), 0.0))
    d = np.array([np.hypot(q[0], q[1]) - size[0], abs(q[2]) - 0.5 * size[1]])
    return float(np.linalg.norm(np.maximum(d, 0.0)) + min(d.max(), 0.0))


def write_mesh(path: Path, vertices: np.ndarray, triangles: np.ndarray) -> Path:
    """A mesh as an .obj file."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, dtype=float).tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(triangles).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return path


BOX_TRIANGLES = np.array(
    [(0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6),
     (1, 3, 5), (3, 7, 5)])  # fmt: skip


def box_vertices(x: float, y: float, z: float) -> np.ndarray:
    """Corners of a box of full edges x, y, z; BOX_TRIANGLES are its triangles."""
    return np.array([(i, j, k) for k in (-z / 2, z / 2) for j in (-y / 2, y / 2) for i in (-x / 2, x / 2)])


def grid(n: int, size: float, height) -> tuple[np.ndarray, np.ndarray]:
    """A sheet of n x n squares over `size` metres; height(x, y)."""
    ticks = np.linspace(-size / 2, size / 2, n + 1)
    vertices = np.array([(x, y, height(x, y)) for x in ticks for y in ticks])
    triangles = []
    for i in range(n):
        for j in range(n):
            a, b, c, d = i * (n + 1) + j, (i + 1) * (n + 1) + j, (i + 1) * (n + 1) + j + 1, i * (n + 1) + j + 1
            triangles += [(a, b, c), (a, c, d)]
    return vertices, np.array(triangles)
