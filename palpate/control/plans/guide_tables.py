"""What guides planned joints reads and writes, as arrays: settings, state, and those of the World that it shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from palpate.control.plans.modes import MODES
from palpate.control.plans.plan import Plan
from palpate.dynamics.facade import forward_kinematics, mass_matrix
from palpate.dynamics.workspace import Workspace
from palpate.jit import Block, Struct, Vector, block_loader
from palpate.model.model import Floats1, Floats2, Ints1, Model, ModelArrays
from palpate.spatial.placement import Transform, Vector3, vector3
from palpate.world.world import World

UNIT = 1e-6  # a quaternion whose square is off by less is one, but for rounding
YIELD_TIME_S = 0.3  # a yielding arm that is pushed and left comes to rest with about this time constant
KEEP_S = 0.05  # HOLD keeps the mean acceleration of so much contact
FASTEST_RAD_S = 10.0  # a motion without a plan is stopped here, where the model has no limit of its own


class Guide(Struct):
    """Planned joints: n columns of q, k of v; fewer if there are quaternions."""

    dt: float  # [s]
    mode: int  # of modes.py, and
    stage: int
    plan: int  # address of a Block of the Plan and its Goal; replaced by the tick
    loops: int  # whether the plan goes around
    phase: float  # row of the plan
    gain: float  # WAIT: 1 follows and 0 yields
    # what the tick says
    touching: int  # whether a hand does
    moving: int  # whether the world does
    push_N: float  # the hands' force, and
    pushed_N: float  # that of the tick before
    # RESUME and HOLD
    tool: int  # the body that is led to the goal, 0: none
    goal: Vector  # world, and
    slide: Vector  # the direction in which it may be elsewhere
    has_course: int
    since_s: float  # on it
    goal_s: float  # how long it takes, and
    ahead_s: float  # how far ahead it looks
    has_wall: int
    wall: Vector  # its normal, and
    wall_m: float  # where it is along that
    n_kept: int  # accelerations so far
    q: Floats1  # (nq,) of the World, as
    v: Floats1  # (nv,)
    tau: Floats1  # (nv,) written
    wrenches: Floats2  # (n_bodies, 6) what hands do in this tick
    q_at: Ints1  # (n,) which coordinates the columns of a plan are, and
    v_at: Ints1  # (k,) which velocities
    q_of: Ints1  # (k,) the column of q that a column of v is the rate of, -1: it turns a quaternion
    turn_q: Ints1  # (spherical joints,) their first columns in q, and
    turn_v: Ints1  # (spherical joints,) in v
    lower: Floats1  # (n,) limits
    upper: Floats1  # (n,)
    fastest: Floats1  # (k,)
    tau_rest: Floats1  # (nv,) of the joints that are not planned
    damping: Floats1  # (k,) of a yielding joint [N m s/rad]
    a_ref: Floats1  # (nv,) the acceleration that is asked for
    a_force: Floats1  # (k,) HOLD: in force when the touch began, then kept
    kept: Floats2  # (n, k) HOLD: accelerations of the newest ticks of contact
    v_last: Floats1  # (k,) a tick ago
    error: Floats1  # (k,) from the joints to the plan
    v_plan: Floats1  # (k,) and how that moves, in the axes of the joints as they are
    a_plan: Floats1  # (k,)
    offset: Floats1  # (k,) BLEND; of a quaternion a rotation vector, child axes
    offset_rate: Floats1  # (k,)
    offset_mass: Floats1  # (k,) M_d [kg m^2, kg]
    offset_damping: Floats1  # (k,) B_d
    offset_stiffness: Floats1  # (k,) K_d, 0: the offset stays
    push: Floats1  # (nv,) scratch: J^T c of the hands, or U
    nothing: Floats1  # (nv,) zeros
    q_shown: Floats1  # (n,) where the joints should be, for frames
    course: Floats2  # (6, 6) RESUME: polynomials of turn (3) and position (3), coefficient n of t^n
    course_turn: Floats1  # (4,) orientation at its beginning
    goal_turn: Floats1  # (4,) and where it leads
    J: Floats2  # (6, nv) scratch
    JJ: Floats2  # (6, 6) scratch
    y: Floats1  # (6,) scratch


load_guide = block_loader((ModelArrays, True), (Workspace, False), (Guide, False))


class Goal(NamedTuple):
    """Where a plan leads."""

    place: Floats1  # (7,) position and quaternion of the tool at its end, world


load_plan = block_loader((Plan, False), (Goal, False))


@dataclass(frozen=True)
class Editing:
    """How a plan answers to a hand.

    mode      "wait", "hold", "resume", "blend" or "teach" (control/plans/modes.py)
    joints    names of the joints that the plan's columns are; None: the model's first
    tool      body that is led to the goal (resume), and whose reaching the wall ends a motion (hold)
    wall      a point of the wall and its normal, towards the arm; None: there is none
    loops     the plan goes around and around
    resume_s  time of a new way to the goal;  slide: direction along which the goal may be elsewhere, and then is where
              the tool would be `ahead_s` after it was let go
    blend_time_s, blend_period_s   of the offset: it comes to rest with this time constant, and swings back with this
              period; None: it stays
    """

    mode: str = "wait"
    joints: Sequence[str] | None = None
    tool: str | None = None
    wall: tuple[Vector3, Vector3] | None = None
    loops: bool = True
    resume_s: float = 1.2
    slide: Vector3 = (0.0, 0.0, 0.0)
    ahead_s: float = 0.5
    blend_time_s: float = 0.15
    blend_period_s: float | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}; got {self.mode!r}")
        for name in ("resume_s", "blend_time_s"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be positive and finite, got {getattr(self, name)!r}")


class Guiding:
    """The guide of one world: its arrays, and plans put into it while it runs."""

    def __init__(self, world: World, plan: Plan, editing: Editing) -> None:
        self.world, self.editing, model = world, editing, world.model
        q_at, v_at, q_of, turn_q, turn_v = planned_coordinates(model, plan.q.shape[1], editing.joints)
        if len(q_at) != plan.q.shape[1]:
            what = "joints" if len(q_at) == len(v_at) else "coordinates"
            raise ValueError(f"the plan has {plan.q.shape[1]} columns for {len(q_at)} {what}")
        if len(v_at) != plan.v.shape[1]:
            raise ValueError(f"the plan has {plan.v.shape[1]} columns of velocities, its joints have {len(v_at)}")
        state, zeros, n, k, nv = world.arrays.state, np.zeros, len(q_at), len(v_at), model.nv
        start = state.q.copy()
        start[q_at] = plan.q[0]
        H = np.diag(mass_matrix(model, start))[v_at]
        swing = 0.0 if editing.blend_period_s is None else (2.0 * np.pi / editing.blend_period_s) ** 2
        fastest = np.where(np.isfinite(model.velocity_limit[v_at]), model.velocity_limit[v_at], FASTEST_RAD_S)
        self.arrays = g = Guide(
            dt=world.dt, gain=1.0, goal_s=editing.resume_s, ahead_s=editing.ahead_s, mode=MODES.index(editing.mode),
            loops=editing.loops, slide=_unit(editing.slide),
            q=state.q, v=state.v, tau=state.tau, wrenches=state.wrenches, q_at=q_at, v_at=v_at,
            q_of=q_of, turn_q=turn_q, turn_v=turn_v, error=zeros(k), v_plan=zeros(k), a_plan=zeros(k),
            lower=model.lower[q_at].copy(), upper=model.upper[q_at].copy(), fastest=fastest,
            tau_rest=state.tau.copy(), damping=H / YIELD_TIME_S, a_ref=zeros(nv), a_force=zeros(k),
            kept=zeros((max(1, round(KEEP_S / world.dt)), k)), v_last=zeros(k), offset=zeros(k), offset_rate=zeros(k),
            offset_mass=H, offset_damping=H / editing.blend_time_s, offset_stiffness=H * swing, push=zeros(nv),
            nothing=zeros(nv), q_shown=zeros(n), course=zeros((6, 6)), course_turn=np.array([1.0, 0.0, 0.0, 0.0]),
            goal_turn=np.array([1.0, 0.0, 0.0, 0.0]), J=zeros((6, nv)), JJ=zeros((6, 6)), y=zeros(6),
        )  # fmt: skip
        if editing.tool is not None:
            g.tool = model.body(editing.tool)
        if editing.wall is not None:
            g.wall, g.has_wall = _unit(editing.wall[1]), 1
            g.wall_m = float(np.dot(g.wall, vector3(editing.wall[0], "wall")))
        state.guided[state.tree[np.isin(model.arrays.axis_v, v_at)]] = 1
        self._plans: list[Block] = []  # all there ever were: the servo may still look at one
        g.plan = self.block_of(plan)
        goal = self._plans[-1].parts[1].place
        g.goal, g.goal_turn[:] = tuple(goal[:3].tolist()), goal[3:]
        self._block = Block(model.arrays, world.arrays.work, g)

    @property
    def address(self) -> int:
        return self._block.address

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the planned joints, in the order of a plan's columns."""
        at = {where.start: name for name, where in self.world.model.q_index.items()}
        return tuple(at[n] for n in self.arrays.q_at.tolist() if n in at)

    @property
    def mode(self) -> int:
        return self.arrays.mode

    def block_of(self, plan: Plan) -> int:
        """Address of another plan of the same joints, for the tick to follow (FOLLOW); `plan` is it from now on."""
        n, k = len(self.arrays.q_at), len(self.arrays.v_at)
        if (plan.q.shape[1], plan.v.shape[1]) != (n, k) or len(plan.q) == 0:
            wanted = f"{n} joints" if n == k else f"{n} coordinates and {k} velocities"
            raise ValueError(f"a plan for this scene has rows of {wanted}, this one is {plan.q.shape}")
        table = Plan(*(np.ascontiguousarray(x, dtype=float) for x in plan))
        if not all(np.isfinite(x).all() for x in table):
            raise ValueError("the plan holds a NaN or an infinity")
        for at in self.arrays.turn_q.tolist():
            if np.abs((table.q[:, at : at + 4] ** 2).sum(axis=1) - 1.0).max() > UNIT:
                raise ValueError(f"columns {at} to {at + 3} of the plan are no quaternions of unit length")
        goal = Transform()
        if self.editing.tool is not None:
            q = self.world.q.copy()
            q[self.arrays.q_at] = table.q[-1]
            goal = Transform.from_matrix(forward_kinematics(self.world.model, q)[self.arrays.tool])
        self._plans.append(Block(table, Goal(np.array([*goal.p, *goal.R.wxyz]))))
        self.plan = table
        return self._plans[-1].address


def planned_coordinates(model: Model, n: int, joints: Sequence[str] | None) -> tuple[np.ndarray, ...]:
    """q_at, v_at, q_of, turn_q, turn_v of a Guide: of the named joints, or of those of the model's first n coordinates.

    A free joint has nothing that could drive it along a plan.
    """
    names = list(joints) if joints is not None else [j for j, s in model.q_index.items() if s.start < n]
    for name in names:
        if name not in model.q_index:
            raise ValueError(f"there is no joint {name!r} to plan for; known: {', '.join(model.joint_names)}")
    free = [name for name in names if len(range(model.nq)[model.q_index[name]]) == 7]
    if free:
        raise ValueError(f"nothing drives {', '.join(free)} of {model.name!r}: a free joint cannot follow a plan")
    q_at: list[int] = []
    v_at: list[int] = []
    q_of: list[int] = []
    turn_q: list[int] = []
    turn_v: list[int] = []
    for name in names:
        q, v = range(model.nq)[model.q_index[name]], range(model.nv)[model.v_index[name]]
        if len(q) == len(v):
            q_of += range(len(q_at), len(q_at) + len(q))
        else:
            turn_q.append(len(q_at))
            turn_v.append(len(v_at))
            q_of += [-1] * len(v)
        q_at += q
        v_at += v
    return tuple(np.array(x, dtype=np.int64) for x in (q_at, v_at, q_of, turn_q, turn_v))


def _unit(direction: Vector3) -> Vector:
    x, y, z = vector3(direction, "direction")
    length = math.hypot(x, y, z) or 1.0
    return x / length, y / length, z / length
