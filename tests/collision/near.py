"""States of two convex solids in or near contact, and bounds of their distance that know nothing of how it is found.

The separation along a unit vector n, that is  min n.b - max n.a  over their points, is never more than the signed
distance, whatever n is; along the right n it is the distance.  So the separation along any direction bounds the depth,
and a gap that equals the separation along its own normal cannot be too small a depth.
"""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scenes import write_mesh

import palpate as pp
from palpate.collision.polyhedra import hull_triangles


@dataclass(frozen=True, eq=False)
class Solid:
    shape: pp.Shape
    normals: np.ndarray  # (n, 3) of some of its faces
    vertices: np.ndarray | None = None
    extent: float = 0.0  # radius of a ball around it

    def reach(self, n: np.ndarray) -> float:
        """How far it reaches along n, in its own frame."""
        s = self.shape.size
        if self.shape.kind == "box":
            return 0.5 * float(np.abs(n) @ np.array(s))
        if self.shape.kind == "cylinder":
            return float(s[0] * np.hypot(n[0], n[1]) + 0.5 * s[1] * abs(n[2]))
        if self.shape.kind == "capsule":
            return float(s[0] + 0.5 * s[1] * abs(n[2]))
        assert self.vertices is not None
        return float((self.vertices @ n).max())


AXES = np.vstack([np.eye(3), -np.eye(3)])
ROUND = np.vstack([AXES, [(np.cos(a), np.sin(a), 0.0) for a in np.linspace(0.3, 6.0, 6)]])
CUBE = 0.5 * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
RING = np.linspace(0.0, 2.0 * np.pi, 13)[:12]


def solids(folder: Path, scale: float = 1.0) -> dict[str, Solid]:
    """Thick and thin, large and small."""
    found = {}
    for name, kind, size in [
        ("box", "box", (0.1, 0.14, 0.08)), ("plate", "box", (0.3, 0.2, 0.002)), ("block", "box", (1.0, 1.0, 0.3)),
        ("cylinder", "cylinder", (0.05, 0.09)), ("coin", "cylinder", (0.012, 0.002)), ("drum", "cylinder", (0.3, 0.6)),
        ("rod", "cylinder", (0.003, 0.3)), ("capsule", "capsule", (0.03, 0.12)),
    ]:  # fmt: skip
        size = tuple(scale * x for x in size)
        found[name] = Solid(pp.Shape(kind, size), AXES if kind == "box" else ROUND, extent=float(sum(size)))
    points = {
        "sheet": CUBE * [0.3, 0.2, 0.002],
        "prism": np.array([(0.1 * np.cos(t), 0.1 * np.sin(t), z) for t in RING for z in (-0.05, 0.05)]),
        "wedge": np.array([(x, y, z) for y in (-1, 1) for x, z in ((-1, -1), (1, -1), (1, 0))]) * [0.1, 0.05, 0.01],
    }  # fmt: skip
    for name, x in points.items():
        x, triangles = scale * x, hull_triangles(x)
        assert triangles is not None
        file = write_mesh(folder / f"{name}.obj", x, triangles)
        a, b, c = (x[triangles[:, k]] for k in range(3))
        n = np.cross(b - a, c - a)
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        shape = pp.Shape("mesh", (1.0, 1.0, 1.0), mesh=file, convex=True)
        found[name] = Solid(shape, n, x, float(np.abs(x).sum(axis=1).max()))
    return found


@dataclass(frozen=True, eq=False)
class State:
    Ra: pp.Rotation
    pa: np.ndarray
    Rb: pp.Rotation
    pb: np.ndarray
    normal: np.ndarray  # one direction along which they all but touch

    def q(self, scale: float = 1.0) -> np.ndarray:
        return np.array([*(scale * self.pa), *self.Ra.wxyz, *(scale * self.pb), *self.Rb.wxyz])


def turning(u: np.ndarray, v: np.ndarray) -> pp.Rotation:
    """A rotation that takes the unit vector u to v."""
    if u @ v < -1.0 + 1e-9:
        across = np.cross(u, AXES[int(np.argmin(np.abs(u)))])
        return pp.Rotation.about(tuple(across), np.pi)
    q = np.array([1.0 + u @ v, *np.cross(u, v)])
    return pp.Rotation(tuple(q / np.linalg.norm(q)))


def state(rng: np.random.Generator, a: Solid, b: Solid) -> State:
    """Faces towards each other, or a face and something else, tilted and shifted a little or not at all."""
    unit = lambda: (x := rng.normal(size=3)) / np.linalg.norm(x)  # noqa: E731
    na, nb = (s.normals[rng.integers(len(s.normals))] if rng.random() < 0.8 else unit() for s in (a, b))
    q = rng.normal(size=4)
    Ra = pp.Rotation() if rng.random() < 0.3 else pp.Rotation(tuple(q / np.linalg.norm(q)))
    n = Ra.apply(na)
    Rb = pp.Rotation.about(tuple(n), rng.choice([0.0, np.pi / 2, rng.uniform(0.0, 6.0)])) @ turning(nb, -n)
    tilt = rng.choice([0.0, 10.0 ** rng.uniform(-9.0, -5.0), 10.0 ** rng.uniform(-5.0, -1.0)])
    Rb = pp.Rotation.about(tuple(unit()), tilt) @ Rb
    small = min(a.extent, b.extent)
    gap = (
        small
        * rng.choice([0.0, 10.0 ** rng.uniform(-9.0, -6.0), 10.0 ** rng.uniform(-6.0, -3.0)])
        * rng.choice([-1, 1])
    )
    shift = max(a.extent, b.extent) * rng.choice([0.0, 0.1, 0.4]) * rng.normal(size=3)
    pa = rng.choice([0.0, 1.0]) * rng.normal(size=3) * small
    along = a.reach(na) + b.reach(-(Rb.inv().apply(n))) + gap
    return State(Ra, pa, Rb, pa + along * n + shift - (shift @ n) * n, n)


def separation(a: Solid, b: Solid, s: State, n: np.ndarray) -> float:
    """Along a unit vector of the world, from a to b."""
    return float(n @ (s.pb - s.pa)) - a.reach(s.Ra.inv().apply(n)) - b.reach(-(s.Rb.inv().apply(n)))


def bound(a: Solid, b: Solid, s: State) -> float:
    """The best separation along directions that come to mind: no distance is less."""
    d = s.pb - s.pa
    ways = [s.normal, *(s.Ra.apply(n) for n in AXES), *(s.Rb.apply(n) for n in AXES), d]
    for R in (s.Ra, s.Rb):
        z = R.apply((0.0, 0.0, 1.0))
        ways.append(d - (d @ z) * z)
    return max(separation(a, b, s, n / size) for n in ways if (size := np.linalg.norm(n)) > 1e-12)
