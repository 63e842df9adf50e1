"""session.edit: the plan of a running session, and the motion that came of it when it was touched.

What happened since the last beginning (a reset, a new plan) is kept as it happens, from the frames; it can be had as a
Trajectory, checked, saved, and followed as the new plan.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from palpate.control.plans.clearance import Clearance, clearance
from palpate.control.plans.guide_tables import Guiding
from palpate.control.plans.modes import MODES
from palpate.control.plans.plan import Plan, joined
from palpate.control.plans.rates import aligned
from palpate.control.plans.timing import limits, minimum_jerk_rows, minimum_jerk_seconds, ticks_at_least
from palpate.control.plans.trajectory import Trajectory, TrajectoryError
from palpate.dynamics.facade import difference, integrate
from palpate.frame import FOLLOW, MODE, PLACE
from palpate.model.compile import compile
from palpate.model.model import Floats2, Model
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.loose import parking
from palpate.scenes.robots import locked
from palpate.scenes.scene import PARKED_M, Scene
from palpate.servo.ring import Follower
from palpate.spatial.placement import Transform, Vector3
from palpate.world.build import placing

LONGEST_S = 300.0  # of a motion that is kept; what is older is forgotten
STILL = 1e-3  # [rad/s, m/s] slower is standing still
SMOOTH_S = 0.06  # window of `keep`: a hand's blows are softened, its path stays
STOP_S = 0.3  # in which a motion that ends moving is brought to rest


class Edits:
    """The plan of one session.

    send     writes an event to its servo, and returns its number
    pending  whether the servo has not yet taken the event of a number
    """

    def __init__(
        self, scene: Scene, engine: WorldSimulation, send: Callable[..., int], pending: Callable[[int], bool]
    ) -> None:
        self.scene, self._engine, self._send, self._pending = scene, engine, send, pending
        self._frames = Follower(engine.frames)
        self._rows: list[np.ndarray] = []  # (m, 1 + n + 2 k): time, q, v, tau; one array for each look at the ring
        self._lock = threading.Lock()  # the session's watch collects, anybody may ask
        self._sent: dict[str, tuple[int, bool]] = {}  # body: number of the event that places it, whether it parks it

    # ---- the mode, the surroundings

    @property
    def mode(self) -> str:
        """What a touch does to the plan: "wait", "hold", "resume", "blend" or "teach" (control/plans/modes.py)."""
        return MODES[int(self._guiding().mode)]

    @mode.setter
    def mode(self, name: str) -> None:
        if name not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}; got {name!r}")
        self._guiding()
        self._send(MODE, MODES.index(name))

    def place(self, body: str, where: Transform, *, parked: bool = False) -> None:
        """Move an obstacle (or any single free body), while everything runs; a reset finds it there.

        parked  it takes no part until it is placed again
        """
        model = self.scene.model
        placing(model, body, where)  # or it says why not
        number = self._send(PLACE, float(parked), event_body=model.body(body), placement=[*where.p, *where.R.wxyz])
        self._sent[body] = number, parked

    def add(self, at: Vector3, kind: str = "obstacle") -> str:
        """Put one more obstacle there [m], or a free body of one of the kinds in scene.loose; its name.

        A scene has a few of each to spare.
        """
        scene = self.scene
        those = (*scene.spares, *scene.obstacles) if kind == "obstacle" else scene.loose.get(kind, ())
        parked = [name for name in those if not self._is_out(name)]
        if not parked:
            none = not (scene.spares if kind == "obstacle" else those)
            raise ValueError(f"the scene {scene.name!r} has no {kind} to spare" if none else
                             f"every {kind} is out already; remove one")  # fmt: skip
        self.place(parked[0], Transform(p=at))
        return parked[0]

    def remove(self, name: str) -> None:
        """Take away what `add` put there, or any obstacle of the scene's that can be moved."""
        loose = [each for names in self.scene.loose.values() for each in names]
        if name in loose:
            self.place(name, parking(loose.index(name)), parked=True)
        elif name in (*self.scene.spares, *self.scene.obstacles):
            self.place(name, Transform(p=(0.0, 0.0, PARKED_M)), parked=True)
        else:
            raise ValueError(f"{name!r} is no obstacle of this scene, nor a body that was added")

    @property
    def obstacles(self) -> tuple[str, ...]:
        """Names of the obstacles that are out: the scene's own that were not removed, and those that were added."""
        return tuple(name for name in (*self.scene.obstacles, *self.scene.spares) if self._is_out(name))

    @property
    def loose(self) -> tuple[str, ...]:
        """Names of the free bodies that were added."""
        return tuple(name for names in self.scene.loose.values() for name in names if self._is_out(name))

    def _is_out(self, name: str) -> bool:
        number, parked = self._sent.get(name, (0, False))
        if number and self._pending(number):  # the servo is about to put it there
            return not parked
        return not self._engine.arrays.parked[self.scene.model.body(name)]

    # ---- what happened

    def collect(self) -> None:
        """Take the newest frames in; the session's watch does this all the time."""
        if self._engine.guiding is None:
            return
        with self._lock:
            messages = self._frames.read()
            if messages:
                self._take(np.array(messages))

    def _take(self, words: np.ndarray) -> None:
        layout, at = self._engine.layout, self._guiding().arrays
        time, q, v, tau = (layout.column(words, name) for name in ("time_s", "q", "v", "tau"))
        rows = np.column_stack([time, q[:, at.q_at], v[:, at.v_at], tau[:, at.v_at]])
        back = np.flatnonzero(np.diff(time, prepend=self._rows[-1][-1, 0] if self._rows else -1.0) < 0.0)
        if len(back):  # time went back: a reset
            self._rows, rows = [], rows[back[-1] :]
        self._rows.append(rows)
        while self._rows[-1][-1, 0] - self._rows[0][0, 0] > LONGEST_S:
            self._rows.pop(0)

    def motion(self) -> Trajectory:
        """What the planned joints did since the last reset or new plan; standing still at both ends is left out."""
        self.collect()
        with self._lock:
            rows = np.concatenate(self._rows) if self._rows else np.zeros((0, 1))
        n, k = len(self._guiding().arrays.q_at), len(self._guiding().arrays.v_at)
        rows = rows[np.flatnonzero(np.diff(rows[:, 0], prepend=-1.0) > 0.0)]  # a paused world repeats itself
        moving = np.flatnonzero(np.abs(rows[:, 1 + n : 1 + n + k]).max(axis=1, initial=0.0) > STILL)
        if len(moving) < 2:
            raise TrajectoryError("nothing has moved yet")
        rows = rows[max(moving[0] - 1, 0) : moving[-1] + 2]
        time, q, v, tau = np.split(rows, [1, 1 + n, 1 + n + k], axis=1)
        time = time[:, 0]
        return Trajectory.from_motion(time - time[0], q, v, self.joints, effort=tau)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the planned joints."""
        return self._guiding().joints

    @property
    def plan(self) -> Trajectory:
        """The plan that is followed, once through."""
        return Trajectory.of_plan(self._guiding().plan, self.scene.world.dt, self.joints)

    # ---- what comes of it

    def clearance(self, trajectory: Trajectory) -> Clearance:
        """Gaps to the scene's obstacles along a motion, with everything else where it is now."""
        return clearance(self.scene.model, self._whole_q(trajectory), obstacles=self._in_the_way())

    def check(self, trajectory: Trajectory, clearance_m: float = 0.0, near: Clearance | None = None) -> list[str]:
        """What is wrong with a motion in this scene, in plain words: limits of joints, collisions; empty: nothing.

        near  `clearance` of this motion, if it is known already
        """
        near = self.clearance(trajectory) if near is None else near
        beyond_limits = replace(trajectory, effort=None).check(self._alone, obstacles=())
        return beyond_limits + near.told(trajectory.time_s, clearance_m)

    def follow(self, trajectory: Trajectory) -> None:
        """Make a motion the plan: the arm goes to its start by minimum jerk, then along it, and stays at its end."""
        if tuple(trajectory.names) != self.joints:
            raise TrajectoryError(f"a motion for this scene moves {', '.join(self.joints)}; this one moves "
                                  f"{', '.join(trajectory.names)}")  # fmt: skip
        dt = self.scene.world.dt
        plan = stopped(trajectory.resample(self._alone, dt), dt, self._alone)
        way = self._way_to(plan.q[0])
        near = aligned(self._alone, np.vstack([way.q, plan.q]))  # the same quaternions, none with a change of sign
        way, plan = way._replace(q=near[: len(way.q)]), plan._replace(q=near[len(way.q) :])
        self._send(FOLLOW, event_body=self._guiding().block_of(joined([way, plan])))
        with self._lock:
            self._frames = Follower(self._engine.frames)
            self._rows = []

    def keep(self, smooth_s: float = SMOOTH_S) -> Trajectory:
        """The motion that happened, smoothed, is the plan from now on; returns it."""
        motion = self.motion()
        window = min(smooth_s, 0.9 * motion.duration_s)
        kept = motion.smooth(self._alone, window) if smooth_s > 0.0 else replace(motion, effort=None)
        self.follow(kept)
        return kept

    # ---- inside

    def _in_the_way(self) -> tuple[str, ...] | None:
        """Obstacles that are out; None, everything that is not the arm, if the scene names none."""
        return self.obstacles if self.scene.obstacles or self.scene.spares else None

    def _guiding(self) -> Guiding:
        if self._engine.guiding is None:
            raise ValueError(f"nothing is planned in the scene {self.scene.name!r}")
        return self._engine.guiding

    @cached_property
    def _alone(self) -> Model:
        """The planned joints, everything else fixed: curves are smoothed and resampled without the six or seven
        coordinates of every obstacle and free body, which stay as they are."""
        description = self.scene.model.description
        bare = replace(description, bodies=tuple(replace(body, shapes=()) for body in description.bodies))
        return compile(locked(bare, self.scene.model.neutral(), lambda joint: joint.name in self.joints))

    def whole(self, trajectory: Trajectory) -> Trajectory:
        """The same with all coordinates of the world: those that are not planned stay as they are now."""
        model, at, q = self.scene.model, self._guiding().arrays, self._whole_q(trajectory)
        v, a = np.zeros((len(q), model.nv)), np.zeros((len(q), model.nv))
        v[:, at.v_at], a[:, at.v_at] = trajectory.v, trajectory.a
        return Trajectory(model.joint_names, trajectory.time_s, q, v, a)

    def _whole_q(self, trajectory: Trajectory) -> Floats2:
        if tuple(trajectory.names) != self.joints:
            raise TrajectoryError(f"a motion for this scene moves {', '.join(self.joints)}")
        q: Floats2 = np.repeat(np.array(self._engine.arrays.q)[None], len(trajectory.time_s), axis=0)
        q[:, self._guiding().arrays.q_at] = trajectory.q
        return q

    def _way_to(self, start: np.ndarray) -> Plan:
        """From where the planned joints are now to a posture."""
        model, dt = self._alone, self.scene.world.dt
        here = np.array(self._engine.arrays.q[self._guiding().arrays.q_at])
        away = difference(model, here, start)
        s, ds, dds = minimum_jerk_rows(ticks_at_least(minimum_jerk_seconds(away, limits(model)), dt), dt)
        q = np.array([integrate(model, here, away, x) for x in s.ravel().tolist()])
        return Plan(q, ds * away, dds * away)


def stopped(plan: Plan, dt: float, model: Model) -> Plan:
    """The plan, brought to rest if it ends moving: v falls to nothing along 1 - 3 u^2 + 2 u^3."""
    v = plan.v[-1]
    if np.abs(v).max() <= STILL:
        return plan
    u = np.arange(1, round(STOP_S / dt) + 1)[:, None] * dt / STOP_S
    way = STOP_S * (u - u**3 + 0.5 * u**4)
    return Plan(
        np.concatenate([plan.q, [integrate(model, plan.q[-1], v, x) for x in way.ravel().tolist()]]),
        np.concatenate([plan.v, v * (1.0 - 3.0 * u**2 + 2.0 * u**3)]),
        np.concatenate([plan.a, v / STOP_S * (6.0 * u**2 - 6.0 * u)]),
    )
