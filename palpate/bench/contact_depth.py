"""How deep the solids of a scene are in each other: one measure for every engine, from its poses alone.

Exact for what these scenes have: spheres and boxes on planes, spheres among each other, boxes among each other.  Of two
boxes it is the least way that parts them: along a normal of a face of either, or along a product of two edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import palpate as pp
from palpate.bench.contact_scenes import BenchScene, touching

PARALLEL = 1e-6  # sine of the angle between two edges, below which they give no axis of their own


@dataclass(frozen=True)
class Solids:
    """What can touch in a scene.  Shapes of one kind, so that two that move are alike: spheres or boxes."""

    bodies: tuple[str, ...]  # that carry them: the order of the poses that are asked for
    body: np.ndarray  # (m,) of each shape, into `bodies`
    place: np.ndarray  # (m, 4, 4) in its body
    radius: np.ndarray  # (m,) of spheres, 0 of boxes [m]
    half: np.ndarray  # (m, 3) half edges of boxes, 0 of spheres [m]
    normal: np.ndarray  # (planes, 3) out of what is solid
    offset: np.ndarray  # (planes,) normal . point [m]
    each_other: bool  # moving bodies touch each other

    @staticmethod
    def of(scene: BenchScene) -> Solids:
        names: list[str] = []
        shapes: list[tuple[int, pp.Shape]] = []
        planes: list[tuple[np.ndarray, float]] = []
        for part in scene.parts:
            for body in part.bodies:
                for shape in touching(body):
                    if shape.kind == "plane":
                        X = (part.joints[0].placement @ shape.placement).matrix()
                        planes.append((X[:3, 2], float(X[:3, 2] @ X[:3, 3])))
                        continue
                    if shape.kind not in ("sphere", "box"):
                        raise ValueError(f"{body.name!r}: no {shape.kind} in this bench")
                    if body.name not in names:
                        names.append(body.name)
                    shapes.append((names.index(body.name), shape))
        if scene.moving_touch and len({shape.kind for _, shape in shapes}) > 1:
            raise ValueError("spheres among boxes: their depth is not measured here")
        return Solids(
            tuple(names),
            np.array([body for body, _ in shapes]),
            np.array([shape.placement.matrix() for _, shape in shapes]),
            np.array([shape.size[0] if shape.kind == "sphere" else 0.0 for _, shape in shapes]),
            np.array([[0.5 * x for x in shape.size] if shape.kind == "box" else [0.0] * 3 for _, shape in shapes]),
            np.array([normal for normal, _ in planes]).reshape(-1, 3),
            np.array([offset for _, offset in planes]),
            scene.moving_touch,
        )

    def deepest(self, poses: np.ndarray) -> float:
        """The largest penetration [m] with `bodies` at `poses` (n, 4, 4); 0: nothing is in anything."""
        X = poses[self.body] @ self.place
        c, R = X[:, :3, 3], X[:, :3, :3]
        depths = [np.zeros(1), self._in_planes(c, R).ravel()]
        if self.each_other:
            i, j = self._near(c)
            boxes = self.half.any()
            depths.append(self._of_boxes(c, R, i, j) if boxes else self.radius[i] + self.radius[j] - _far(c, i, j))
        return float(np.concatenate(depths).max())

    def _in_planes(self, c: np.ndarray, R: np.ndarray) -> np.ndarray:
        """(m, planes)"""
        reach = self.radius[:, None] + _reach(self.normal, R, self.half)
        return reach - (c @ self.normal.T - self.offset)

    def _near(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs whose bounding spheres meet."""
        i, j = np.triu_indices(len(c), 1)
        reach = self.radius + np.linalg.norm(self.half, axis=1)
        near = _far(c, i, j) < reach[i] + reach[j]
        return i[near], j[near]

    def _of_boxes(self, c: np.ndarray, R: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """(pairs,) by the fifteen axes along which two boxes can be parted; negative: they are apart."""
        a, b = np.swapaxes(R[i], 1, 2), np.swapaxes(R[j], 1, 2)  # (pairs, 3, 3) rows are the axes of a box
        edges = np.cross(a[:, :, None], b[:, None, :]).reshape(-1, 9, 3)
        sine = np.linalg.norm(edges, axis=2)
        axes = np.concatenate((a, b, edges / np.maximum(sine, PARALLEL)[:, :, None]), axis=1)  # (pairs, 15, 3)
        apart = np.abs(np.einsum("pxk,pk->px", axes, c[j] - c[i]))
        overlap = _reach(axes, R[i], self.half[i]) + _reach(axes, R[j], self.half[j]) - apart
        overlap[:, 6:][sine < PARALLEL] = np.inf
        return overlap.min(axis=1)


def _reach(axes: np.ndarray, R: np.ndarray, half: np.ndarray) -> np.ndarray:
    """How far boxes (m,) reach from their centres along unit axes (..., x, 3): (m, x) [m]."""
    return (np.abs(axes @ R) * half[:, None]).sum(axis=2)


def _far(c: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    return np.linalg.norm(c[j] - c[i], axis=1)
