"""Pictures of a world for figures: its shapes as a camera at an angle sees them, far ones first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from palpate.control.sequences.performance import convex_hull
from palpate.model.model import Model
from palpate.model.shapes import Shape

ORANGE = "#e8811a"
PLAIN = (0.7, 0.72, 0.75, 1.0)
CELL_M, LYING_M = 0.03, 0.03  # size of a cell; faces that lie are drawn as if so much farther: things stand on them
LIGHT = np.array([0.35, -0.45, 0.82])


def camera(azimuth_deg: float = -42.0, elevation_deg: float = 22.0) -> np.ndarray:
    """(3, 3): rows right, up and towards the camera, in the world; it stands at the azimuth from x towards y."""
    a, e = np.radians([azimuth_deg, elevation_deg])
    towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.cross((0.0, 0.0, 1.0), towards)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(towards, right), towards])


def ball(radius: float, n: int = 16) -> np.ndarray:
    """(n * n, 3) points on a sphere."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, n), np.linspace(0, np.pi, n))
    return radius * np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1).reshape(-1, 3)


def faces(shape: Shape) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """Convex pieces: points (n, 3) in the shape's axes, and the normal if it is a face; planes are not drawn."""
    if shape.kind == "box":
        half = 0.5 * np.array(shape.size)
        for axis in range(3):
            for sign in (-1.0, 1.0):
                normal = np.zeros(3)
                normal[axis] = sign
                u, v = (k for k in range(3) if k != axis)
                # in cells, so that of a large face only what is behind is hidden
                edges = [np.linspace(-half[k], half[k], 1 + int(np.ceil(2.0 * half[k] / CELL_M))) for k in (u, v)]
                for u0, u1 in itertools.pairwise(edges[0]):
                    for v0, v1 in itertools.pairwise(edges[1]):
                        corners = np.full((4, 3), sign * half[axis])
                        corners[:, u], corners[:, v] = (u0, u1, u1, u0), (v0, v0, v1, v1)
                        yield corners, normal
    elif shape.kind == "sphere":
        yield ball(shape.size[0]), None
    elif shape.kind == "capsule":
        ends = np.array([[0, 0, 0.5 * shape.size[1]], [0, 0, -0.5 * shape.size[1]]])
        yield np.vstack([ball(shape.size[0]) + end for end in ends]), None
    elif shape.kind == "cylinder":
        turn = np.linspace(0, 2 * np.pi, 24)
        ring = shape.size[0] * np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
        yield np.vstack([ring + [0, 0, s * 0.5 * shape.size[1]] for s in (-1, 1)]), None


def rotation(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def draw_world(axes: Axes, model: Model, pose: np.ndarray, view: np.ndarray | None = None) -> np.ndarray:
    """The bodies of a model at poses (n_bodies, 7) of a frame; returns the view, to draw more in it."""
    view = camera() if view is None else view
    pieces = []
    for body in model.description.bodies:
        at = pose[model.body(body.name)]
        R = rotation(at[3:])
        for shape in body.shapes:
            if shape.role == "collision":
                continue
            S, p = np.asarray(shape.placement.R.matrix()), np.array(shape.placement.p)
            for points, normal in faces(shape):
                world = (points @ S.T + p) @ R.T + at[:3]
                shade, lying = 0.85, 0.0
                if normal is not None:
                    n = R @ S @ normal
                    if n @ view[2] <= 0.0:
                        continue
                    lying = LYING_M if n[2] > 0.9 else 0.0
                    shade = 0.62 + 0.38 * max(float(n @ LIGHT), 0.0)
                seen = world @ view.T
                pieces.append((seen[:, 2].mean() - lying, convex_hull(seen[:, :2]), shade, shape.color or PLAIN))
    for depth, outline, shade, colour in sorted(pieces, key=lambda piece: piece[0]):
        fill = shade * np.array(colour[:3])
        axes.add_patch(Polygon(outline, facecolor=fill, edgecolor=0.97 * fill, lw=0.3, zorder=depth))
    axes.set(aspect="equal")
    axes.autoscale_view()
    axes.set_axis_off()
    return view


def draw_probe(axes: Axes, view: np.ndarray, tip: np.ndarray) -> None:
    """The thin bar of the paper at the hand."""
    ends = np.array([tip, np.asarray(tip) + [0.18, -0.12, 0.22]]) @ view.T
    axes.plot(ends[:, 0], ends[:, 1], color=ORANGE, lw=3.0, solid_capstyle="round", zorder=50)
