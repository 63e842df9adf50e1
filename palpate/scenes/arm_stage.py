"""Stage: a robot with all but its arm fixed, and balls to try, where the task of `any_arm` is searched."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from palpate.control.plans.clearance import clearance
from palpate.dynamics.facade import forward_kinematics, inverse_kinematics, jacobian
from palpate.model.compile import compile
from palpate.model.description import MultiBody
from palpate.model.library import ball
from palpate.model.model import Floats, Floats2
from palpate.scenes.robots import Arm, start_of
from palpate.spatial.placement import Transform

FROM_LIMIT = 0.06  # [rad or m] that joints stay away from their limits
STEADY = 0.06  # smallest singular value of the Jacobian, lengths in units of the arm's reach
TURN_RAD = 0.9  # of a joint between two places, at most: no jump to another branch
ABOVE_FLOOR_M, APART_M = 0.03, 0.003  # of the arm from the floor, and from other parts of the robot
PLINTH_M = 0.1  # that a base is above the floor: shoulders are drawn low, and turn
FLOOR_GAP_M = 0.006  # of base and feet from the floor: a pinned robot needs none, and a contact costs time
RADII_M = (0.07, 0.05, 0.035)  # of the obstacle
ORIGIN, UP = (0.0, 0.0, 0.0), np.array([0.0, 0.0, 1.0])
FAR_M = 1e4  # a ball this far away is nearest to what is foremost


class Stage:
    """The robot with all but its arm fixed, and balls to try: where everything is searched."""

    def __init__(self, robot: MultiBody, arm: Arm, held: set[str]) -> None:
        """robot: all but the arm fixed; held: bodies that are only held and must not stand in the floor."""
        balls = [ball(r, name=f"obstacle {r}") for r in RADII_M]  # free ones, which static parts are in the way of too
        self.model, self.arm = compile([robot, *balls]), arm
        self.columns = np.array([self.model.q_index[name].start for name in arm.joints])
        self.robot = [body.name for body in robot.bodies]
        link = self.model.arrays.body_link
        self.moving = [name for name in self.robot if link[self.model.body(name)] != 0]
        tool = link[self.model.body(arm.tool)]
        self.tool_bodies = {name for name in self.moving if link[self.model.body(name)] == tool}
        # links that may be in the way: an elbow that is free to go up and down would not heed a pull of the tool
        near = arm.joints[-3:-1] if len(arm.joints) > 6 else arm.joints[:-1]
        links = {int(link[self.model.body(self.child(name))]) for name in near}
        self.blocked = {name for name in self.moving if int(link[self.model.body(name)]) in links}
        self.rest = start_of(self.model)
        for n, name in enumerate(b.name for b in balls):  # out of everybody's way
            self.rest[self.model.q_index[name].start] = FAR_M + 10.0 * n
        first = link[self.model.body(self.child(arm.joints[0]))]  # often all but on the floor, whatever it does
        self.swinging = [name for name in self.moving if link[self.model.body(name)] != first]
        poses = forward_kinematics(self.model, self.rest)
        drawn = {b.name for b in robot.bodies if any(s.role == "both" for s in b.shapes)}  # not capsules around meshes
        below = [name for name in self.robot if name not in self.swinging
                 and (name in held or name in self.moving or name in drawn)]  # fmt: skip
        ground = min(float((poses[self.model.body(b.name)] @ (*p, 1.0))[2]) for b in robot.bodies
                     if b.name not in self.swinging for p in (ORIGIN, *(s.placement.p for s in b.shapes)))  # fmt: skip
        lowest = -self.extent(self.rest[None], below, -UP)[0] if below else np.inf
        self.floor_m = min(lowest - FLOOR_GAP_M, ground - PLINTH_M)
        at = [poses[self.model.body(self.child(name))][:3, 3] for name in arm.joints] + [self.place(self.rest).p]
        self.base = np.array(at[0])
        self.reach = float(sum(np.linalg.norm(np.subtract(b, a)) for a, b in pairwise(at)))

    def child(self, joint: str) -> str:
        """The body that a joint carries."""
        return next(j.child for j in self.model.description.joints if j.name == joint)

    def place(self, q: Floats) -> Transform:
        """Of the tool."""
        return Transform.from_matrix(forward_kinematics(self.model, q)[self.model.body(self.arm.tool)])

    def extent(self, q: Floats2, bodies: list[str], d: Floats, at: Floats | None = None) -> tuple[float, int, str]:
        """How far bodies reach along d [m] beyond `at`, in which row, and which of them; by a ball far away."""
        rows = self.with_ball(q, RADII_M[0], (FAR_M * d + (0.0 if at is None else at))[None])
        near = clearance(self.model, rows, bodies, [f"obstacle {RADII_M[0]}"])
        gap, row, body, _ = near.smallest
        return (FAR_M - RADII_M[0] - gap, row, body) if near.pairs else (0.0, -1, "")

    def steadiness(self, q: Floats) -> float:
        """Smallest singular value of the tool's Jacobian, lengths in units of the arm's reach."""
        J = jacobian(self.model, q, self.arm.tool)[:, self.columns].copy()
        J[3:] /= self.reach
        return float(np.linalg.svd(J, compute_uv=False)[min(6, len(self.columns)) - 1])

    def within(self, q: Floats2) -> bool:
        """Whether the arm's joints stay away from their limits."""
        low, high = self.model.lower[self.columns], self.model.upper[self.columns]
        x = q[:, self.columns]
        return bool((x > low + FROM_LIMIT).all() and (x < high - FROM_LIMIT).all())

    def solved(self, places: Iterable[Transform], q: Floats) -> Floats2 | None:
        """Postures (n, nq) at places that follow each other, none far from the one before; None: there are none."""
        found = []
        for place in places:
            fit = inverse_kinematics(self.model, self.arm.tool, place, q, tolerance=1e-9, iterations=12)
            if not fit.converged or np.abs(fit.q - q)[self.columns].max() > TURN_RAD:
                return None
            q = fit.q
            found.append(q)
        return np.array(found)

    def with_ball(self, q: Floats2, radius: float, centres: Floats2) -> Floats2:
        """Postures (n, nq) with the ball of that radius at each of the centres (m, 3): (m n, nq)."""
        rows = np.tile(q, (len(centres), 1))
        at = self.model.q_index[f"obstacle {radius}"].start
        rows[:, at : at + 3] = np.repeat(centres, len(q), axis=0)
        return rows

    def stands(self, q: Floats2) -> bool:
        """Whether postures are within limits, well conditioned, above the floor and clear of the robot itself."""
        if not self.within(q) or min(self.steadiness(x) for x in q) < STEADY:
            return False
        if -self.extent(q, self.swinging, -UP)[0] <= self.floor_m + ABOVE_FLOOR_M:
            return False
        return bool(clearance(self.model, q, self.moving, self.robot).gaps_m.min(initial=np.inf) > APART_M)
