"""The scenes of `palpate bench contact`: one description, which every engine builds for itself.

Robots touch only with their soles, so that each engine has the same pairs to look at.  Where a sole has many points,
by default we solve the corners to which we reduce them; `all_points` says that we solve every one.  So that the ratio
is not reduction alone, the robots are also run with only the corner spheres, in every engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import palpate as pp

DT = 1e-3  # [s]
STIFFNESS, DAMPING = 2000.0, 60.0  # of the implicit PD that holds every joint [N m/rad], [N m s/rad]
SETTLING = 3000  # steps before anything is measured: HRP-2 rocks for two seconds on the springs of its joints
RESETTLING = 500  # steps of an engine that starts in the posture into which another has settled
SAME_HEIGHT = 2e-3  # engines whose bodies settle further apart than this are not doing the same [m]

PUSH = 60.0  # at the chest [N]
PUSHED, AFTERWARDS = 200, 300  # steps
SLIPPERY = 0.1  # friction between sole and floor where robots slide
DRAG = 0.17  # of the weight: the force that keeps them sliding

Vector = tuple[float, float, float]
NO_FORCE: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Phase:
    """What is timed: `steps` steps, during the first `pushed` of which `force` [N] acts on `body`, at its origin."""

    name: str
    steps: int
    body: str = ""
    force: Vector = NO_FORCE
    pushed: int = 0


@dataclass(frozen=True)
class BenchScene:
    """Bodies on a floor, what is watched and what is done to them."""

    name: str
    points: int  # contacts when all rest, as the peers see them; 0: as many as there come
    parts: tuple[pp.MultiBody, ...]
    phases: tuple[Phase, ...]
    watched: tuple[str, ...]  # bodies whose mean height the engines must agree on
    held: bool = False  # by the PD, in the posture "start"
    settling: int = SETTLING
    resettling: int = RESETTLING
    all_points: bool = True  # ours: every point is solved; else patches are reduced to their corners
    moving_touch: bool = False  # moving bodies touch each other, not only what is fixed
    tolerance: float = SAME_HEIGHT  # [m]
    exact: float | None = None  # that height where nothing is in anything [m]; None: nobody knows it
    peer_solvers: tuple[str, ...] = ("dense", "sparse")  # MuJoCo's that are measured
    sleep: bool = False  # what rests may sleep, in every engine; else in none
    peer_time_constant: float = 0.02  # of MuJoCo's contacts [s]; smaller is harder, this is its default

    @property
    def title(self) -> str:
        return f"{self.name}, {self.points} points" if self.points else self.name


def touching(body: pp.Body) -> list[pp.Shape]:
    return [shape for shape in body.shapes if shape.role != "visual"]


# ---- robots that stand


def soles_only(robot: pp.MultiBody, corners: bool = False) -> pp.MultiBody:
    """The same robot, touching only with the spheres under its feet, or only with the four corner ones of each."""

    def shapes(body: pp.Body) -> Iterator[pp.Shape]:
        spheres = [s for s in body.shapes if s.role == "collision"]
        p = np.array([s.placement.p for s in spheres]).reshape(-1, 3)
        for shape in body.shapes:
            if shape.role != "collision":
                yield replace(shape, role="visual")
        for shape, (x, y, _) in zip(spheres, p.tolist(), strict=True):
            if not corners or (x in (p[:, 0].min(), p[:, 0].max()) and y in (p[:, 1].min(), p[:, 1].max())):
                yield shape

    return replace(robot, bodies=tuple(replace(body, shapes=tuple(shapes(body))) for body in robot.bodies))


def standing(name: str, corners: bool = False, all_points: bool = False) -> Iterator[BenchScene]:
    """A robot held on its soles: standing and pushed on a rough floor, dragged over a slippery one.

    corners     everybody gets only the corner spheres
    all_points  ours solves every point too, instead of the corners to which it reduces a patch by itself
    """
    robot = (pp.models.hrp2 if name == "hrp2" else pp.models.human)(sole="spheres")
    chest, waist = ("CHEST_JOINT1", "WAIST") if name == "hrp2" else ("thorax", "pelvis")
    robot = soles_only(robot, corners)
    points = [shape for body in robot.bodies for shape in touching(body)]
    ice = pp.Material("ice", friction=SLIPPERY**2 / points[0].material.friction)
    rough = (
        Phase("standing", 500),
        Phase("pushed", PUSHED + AFTERWARDS, chest, (PUSH, 0.0, 0.0), PUSHED),
    )
    sliding = (Phase("sliding", 300, waist, (DRAG * 9.81 * robot.mass, 0.0, 0.0), 300),)
    for floor, phases in ((pp.models.plane(), rough), (pp.models.plane(material=ice), sliding)):
        yield BenchScene(
            f"{name} all" if all_points else name, len(points), (robot, floor), phases, (waist,),
            held=True, all_points=all_points,
        )  # fmt: skip


# ---- boxes and balls


def sliding_box() -> BenchScene:
    """One box pulled over the floor at twice the force that friction holds."""
    box = pp.models.box((0.2, 0.2, 0.1), mass=4.0, at=(0.0, 0.0, 0.05))
    pull = Phase("sliding", 500, "box", (2.0 * 0.5 * 4.0 * 9.81, 0.0, 0.0), 500)
    return BenchScene("box", 4, (box, pp.models.plane()), (pull,), ("box",), settling=500, exact=0.05)


def stack(boxes: int = 10) -> BenchScene:
    """Equal boxes on each other; the height of the topmost is watched."""
    edge = 0.1
    column = tuple(pp.models.box((edge,) * 3, at=(0.0, 0.0, edge * (i + 0.5)), name=f"box{i}") for i in range(boxes))
    return BenchScene(
        "stack", 4 * boxes, (*column, pp.models.plane()), (Phase("stacked", 500),), (f"box{boxes - 1}",),
        settling=500, moving_touch=True, peer_time_constant=0.005, exact=edge * (boxes - 0.5),
    )  # fmt: skip


def asleep(scene: BenchScene) -> BenchScene:
    """The same after three times as long, in engines whose bodies may sleep: ours, MuJoCo, Rapier.

    For so many steps that those in which somebody wakes are among them.
    """
    return replace(scene, phases=(Phase("asleep", 500),), settling=3 * scene.settling, sleep=True)


def pile(kind: str, bodies: int = 200, across: int = 5) -> Iterator[BenchScene]:
    """Boxes (tilted at random) or balls dropped into a bin with unbounded walls: as they land, and when they lie.

    across  bodies per row as they fall
    """
    rng = np.random.default_rng(0)
    size, pitch = 0.1, 0.14  # edge or diameter, between neighbours [m]
    half = 0.5 * across * pitch  # of the bin [m]
    names = tuple(f"{kind}{i}" for i in range(bodies))
    solids = []
    for i, name in enumerate(names):
        row, column, layer = i % across, i // across % across, i // across**2
        x, y = ((k - (across - 1) / 2) * pitch + rng.uniform(-0.001, 0.001) for k in (row, column))
        at = (float(x), float(y), (layer + 0.5) * pitch)
        if kind == "box":
            nx, ny, nz = rng.normal(size=3).tolist()
            turn = pp.Rotation.about((nx, ny, nz), rng.uniform(0.0, 0.5))
            solids.append(pp.models.box((size,) * 3, at=at, R=turn, name=name))
        else:
            solids.append(pp.models.ball(0.5 * size, at=at, name=name))
    walls = tuple(
        pp.models.plane((-half * x, -half * y, 0.0), (x, y, 0.0), name=f"wall{k}")
        for k, (x, y) in enumerate(((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)))
    )
    lying = BenchScene(
        f"{bodies} {'boxes' if kind == 'box' else 'balls'}", 0, (*solids, *walls, pp.models.plane()),
        (Phase("stacked", 100),), names, settling=2000, resettling=200, all_points=False, moving_touch=True,
        tolerance=0.02, peer_solvers=("sparse", "CG") if kind == "box" else ("CG",),
    )  # fmt: skip
    yield replace(lying, phases=(Phase("landing", 250),), settling=0, resettling=0)
    yield lying


def lying(kind: str) -> Iterator[BenchScene]:
    """Piles as they land, lie awake and lie asleep."""
    landing, awake = pile(kind)
    yield from (landing, awake, asleep(awake))


def shortened(scene: BenchScene, part: float) -> BenchScene:
    """The same scene with this part of all its steps: to see that everything runs."""

    def few(steps: int) -> int:
        return max(1, round(part * steps)) if steps else 0

    phases = tuple(replace(phase, steps=few(phase.steps), pushed=few(phase.pushed)) for phase in scene.phases)
    return replace(scene, phases=phases, settling=few(scene.settling), resettling=few(scene.resettling))


def scenes() -> list[BenchScene]:
    """All of them, robots first."""
    return [
        *(scene for corners in (False, True) for name in ("hrp2", "human") for scene in standing(name, corners)),
        *(scene for name in ("hrp2", "human") for scene in standing(name, all_points=True)),
        sliding_box(),
        *(scene for awake in (stack(),) for scene in (awake, asleep(awake))),
        *(scene for kind in ("box", "ball") for scene in lying(kind)),
        asleep(list(pile("box", 1000, 10))[1]),
    ]
