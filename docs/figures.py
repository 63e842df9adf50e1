"""Draws the pictures of docs/models.md, from the shapes and poses of the models, and those of docs/planar.md
(planar_figures.py): `python docs/figures.py [FOLDER]`.

Every shape becomes the convex outline of its projected surface, painted from the far side to the near one.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from planar_figures import FIGURES

import palpate as pp

STATIC = Path(__file__).parent / "_static"
TURN = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
CIRCLE = np.stack([np.cos(TURN), np.sin(TURN), 0.0 * TURN], axis=1)
UP = np.array([0.0, 0.0, 1.0])
LATITUDES = np.radians([-75, -60, -45, -30, -15, 0, 15, 30, 45, 60, 75])
BALL = np.concatenate([[-UP, UP], *(np.cos(t) * CIRCLE + np.sin(t) * UP for t in LATITUDES)])

GREY = (0.7, 0.7, 0.7, 1.0)  # of shapes that state no colour
GAP = 0.35  # between the two views [m]
# view: (title, axis to the right of the page, axis towards the reader, its sign)
SIDE = ("from its right", 0, 1, -1.0)
FRONT = ("from the front", 1, 0, 1.0)


def surface(shape: pp.Shape) -> np.ndarray:
    """Points (n, 3) in the body's frame whose convex hull is the shape."""
    match shape.kind:
        case "sphere":
            points = shape.size[0] * BALL
        case "capsule" | "cylinder":
            radius, length = shape.size
            end = radius * (BALL if shape.kind == "capsule" else CIRCLE)
            points = np.concatenate([end - 0.5 * length * UP, end + 0.5 * length * UP])
        case "box":
            points = 0.5 * np.array(shape.size) * (2.0 * np.indices((2, 2, 2)).reshape(3, 8).T - 1.0)
        case kind:
            raise ValueError(f"no outline for a {kind}")
    return shape.placement.apply(points)


def outline(points: np.ndarray) -> np.ndarray:
    """The convex hull of points (n, 2), counter-clockwise (Andrew's monotone chain)."""

    def chain(ordered: np.ndarray) -> list[np.ndarray]:
        hull: list[np.ndarray] = []
        for p in ordered:
            while len(hull) > 1 and np.linalg.det([hull[-1] - hull[-2], p - hull[-2]]) <= 0.0:
                hull.pop()
            hull.append(p)
        return hull[:-1]

    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    return np.array(chain(ordered) + chain(ordered[::-1]))


def draw(axes: Axes, model: pp.Model, q: np.ndarray, view: tuple[str, int, int, float], left: float) -> float:
    """All that is seen of a model, orthographic, z up, beginning at `left` on the page; returns where it ends."""
    title, right, near, sign = view
    poses = pp.forward_kinematics(model, q)
    seen = []
    for body in model.description.bodies:
        X = poses[model.body(body.name)]
        for shape in body.shapes:
            if shape.role != "collision":
                points = surface(shape) @ X[:3, :3].T + X[:3, 3]
                nearest = float((sign * points[:, near]).max())
                seen.append((nearest, outline(points[:, (right, 2)]), shape.color or GREY))
    shift = left - min(hull[:, 0].min() for _, hull, _ in seen)
    end = shift + max(hull[:, 0].max() for _, hull, _ in seen)
    for _, hull, color in sorted(seen, key=lambda part: part[0]):
        x, z = (hull + (shift, 0.0)).T
        axes.fill(x, z, facecolor=color, edgecolor="#202428", lw=0.7, joinstyle="round")
    axes.text(0.5 * (left + end), -0.05, title, ha="center", va="top", fontsize=8, color="#50565c")
    return end


def picture(model: pp.Model, posture: str) -> Figure:
    """Both views on one ground."""
    figure = Figure(figsize=(4.6, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.axhline(0.0, color="#9aa0a6", lw=1.2, zorder=0)
    end = draw(axes, model, model.posture(posture), SIDE, 0.0)
    end = draw(axes, model, model.posture(posture), FRONT, end + GAP)
    axes.set(xlim=(-0.1, end + 0.1), ylim=(-0.14, None), aspect="equal", ylabel="z [m]")
    axes.xaxis.set_visible(False)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    return figure


def save(figure: Figure, file: Path) -> None:
    figure.savefig(file, dpi=130, bbox_inches="tight")
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


def main(folder: Path = STATIC) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for description, posture in (
        (pp.models.puma560(at=(0.0, 0.0, 0.66)), "line_start"),
        (pp.models.hrp2(), "half_sitting"),
        (pp.models.human(), "standing"),
    ):
        model = pp.compile(description)
        save(picture(model, posture), folder / f"{model.name}.png")
    for name, draw_it in FIGURES.items():
        save(draw_it(), folder / f"course-{name}.png")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
