"""What a motion of an avatar asks for, and its limits: joints, hands, grip, soles.

Balance.  What the ground has to give is what inverse dynamics finds at the free root, (N, F) about the world's origin;
its centre of pressure on z = ground, the zero-moment point, is  x = -N_y/F_z, y = N_x/F_z  (ground at z = 0), and has
to be inside the convex hull of the soles by a margin (Vukobratovic & Borovac 2004).

Grip.  Two palms that squeeze by f a load m with the proper acceleration a = (a_n along the line between them, a_t):
the looser palm presses f - m |a_n|/2 and bears m |a_t|/2, so f >= m (|a_t|/mu + |a_n|)/2 keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.control.plans.clearance import Gaps
from palpate.control.plans.plan import Plan
from palpate.control.sequences.optimise import Curve, Measured, Motion
from palpate.control.sequences.performer import Avatar
from palpate.dynamics.facade import forward_kinematics
from palpate.dynamics.rows import Carried, carrying
from palpate.model.model import Floats, Floats1, Floats2, Model

BALANCE_SCALE_M = 0.05  # what a whole unit of g is, for limits that are no share of anything
RANGE_SCALE = 1.0  # [rad or m]
WIDTH_OFF_M = 1e-3  # that palms may come nearer or farther than what they hold is wide, between knots
SINK_M = 1e-3  # that what is held may go below the lower end of its way


@dataclass(frozen=True)
class Limits:
    """Of a sequence; numbers for all joints, or (nv,).  The model's own ranges hold, too.

    velocity, acceleration   [rad/s or m/s], [rad/s^2 or m/s^2]
    effort                   [N m or N]; default the model's
    margin_m                 of the zero-moment point inside the soles
    hand_speed_m_s, hand_force_N, grip (what is squeezed over what is needed), palm_friction, sole_friction
    clearance_m              of limbs from the trunk
    Defaults are those of the reference on avatars, section 8, where it has any.
    """

    velocity: ArrayLike = 4.0
    acceleration: ArrayLike = 20.0
    effort: ArrayLike | None = None
    margin_m: float = 0.02
    hand_speed_m_s: float = 0.5
    hand_force_N: float = 60.0
    grip: float = 1.25
    palm_friction: float = 0.8
    sole_friction: float = 0.6
    clearance_m: float = 0.005

    def check(self, model: Model) -> None:
        for name in ("velocity", "acceleration", "effort"):
            value = getattr(self, name)
            if value is not None and (np.shape(value) not in ((), (model.nv,)) or not (np.asarray(value) > 0.0).all()):
                raise ValueError(f"the limit {name} must be a positive number, or ({model.nv},) of them")
        for name in ("hand_speed_m_s", "hand_force_N", "grip", "palm_friction", "sole_friction"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"the limit {name} must be positive, got {getattr(self, name)}")
        for name in ("margin_m", "clearance_m"):
            if not np.isfinite(getattr(self, name)):
                raise ValueError(f"the limit {name} must be finite, got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class Phase:
    """One piece of a task: palms (2, k, 3) and posture (2, nq) at its beginning and end, load and squeeze meanwhile."""

    name: str
    task: int  # its number
    seconds: float  # given
    moves: bool  # or it is a pause of these seconds
    straight: bool  # palms go straight, else joints do
    held: bool  # palms keep their distance
    via: int
    corridor_m: float
    load_kg: float
    squeeze_N: tuple[float, float]
    palms: Floats
    posture: Floats2

    def between(self, avatar: Avatar, share: float) -> Floats1:
        """The posture at this share of the given way."""
        if share == 1.0 or not self.moves:
            return self.posture[1]
        near = (1.0 - share) * self.posture[0] + share * self.posture[1]
        return avatar.reach(near, dict(enumerate(self._palms_at(share)))) if self.straight else near

    def mover(self, avatar: Avatar, q: Floats1, share: float) -> Callable[[Floats1], Floats1]:
        """What moves the point between that is at q: the object by (3,), or joints by (k,)."""
        if not self.held:
            return lambda x: q[avatar.in_q] + x
        palms = self._palms_at(share)
        seen: dict[bytes, Floats1] = {}

        def move(x: Floats1) -> Floats1:
            key = x.tobytes()
            if key not in seen:
                if len(seen) > 200:
                    seen.clear()
                seen[key] = avatar.reach(q, dict(enumerate(palms + x)))[avatar.in_q]
            return seen[key]

        return move

    def _palms_at(self, share: float) -> Floats2:
        return (1.0 - share) * self.palms[0] + share * self.palms[1]


class Asked(NamedTuple):
    """Of every row of a motion."""

    q: Floats2  # (n, nq)
    v: Floats2  # (n, nv)
    a: Floats2
    hands: Carried
    zmp: Floats2  # (n, 2) [m], NaN without soles
    inside: Floats2  # (n, e) [m] of it from each edge of the support
    ground: Floats2  # (n, 3) force of the ground [N]
    load_kg: Floats1
    squeeze_N: Floats1


def support(avatar: Avatar, q: Floats1) -> tuple[Floats2, Floats1, float]:
    """Edges of the convex hull of the soles: inward normals (e, 2), offsets, and the ground's height [m].

    A point is inside by normals @ p - offsets.
    """
    X = forward_kinematics(avatar.model, q)
    corners = np.array([(X[avatar.model.body(body)] @ (*c, 1.0))[:3] for body, each in avatar.soles for c in each])
    hull = convex_hull(corners[:, :2])
    edge = np.roll(hull, -1, axis=0) - hull
    normal = np.stack([-edge[:, 1], edge[:, 0]], axis=1) / np.linalg.norm(edge, axis=1, keepdims=True)
    return normal, (normal * hull).sum(axis=1), float(corners[:, 2].min())


def convex_hull(points: Floats2) -> Floats2:
    """Corners of the hull of points (n, 2), anticlockwise (Andrew's monotone chain)."""
    ordered = sorted(set(map(tuple, np.round(points, 12).tolist())))

    def chain(some: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for p in some:
            while len(kept) > 1 and ((kept[-1][0] - kept[-2][0]) * (p[1] - kept[-2][1])
                                     <= (kept[-1][1] - kept[-2][1]) * (p[0] - kept[-2][0])):  # fmt: skip
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


class Measuring:
    """A motion of an avatar's joints against all its limits; `owner` says which phase each piece belongs to."""

    def __init__(
        self, avatar: Avatar, q: ArrayLike, limits: Limits, phases: Sequence[Phase], owner: np.ndarray
    ) -> None:
        m = avatar.model
        self.avatar, self.limits, self.phases, self.owner = avatar, limits, tuple(phases), owner
        self.q = np.array(q, dtype=np.float64)
        self.lower, self.upper = m.lower[avatar.in_q], m.upper[avatar.in_q]

        def each(value: ArrayLike) -> Floats1:
            return np.broadcast_to(np.asarray(value, dtype=np.float64), (m.nv,))[avatar.in_v]

        self.velocity, self.acceleration = each(limits.velocity), each(limits.acceleration)
        self.effort = m.effort_limit[avatar.in_v] if limits.effort is None else each(limits.effort)
        self.support = support(avatar, self.q) if avatar.soles else None
        self.gaps = Gaps(m, avatar.limbs, avatar.trunk) if avatar.limbs and avatar.trunk else None

    @cached_property
    def labels(self) -> list[tuple[str, str]]:
        """(limit, of what) of each column of g."""
        joints, hands = self.avatar.joints, [hand.body for hand in self.avatar.hands]
        found = [(what, joint) for what in ("upper range", "lower range", "speed", "acceleration", "effort")
                 for joint in joints]  # fmt: skip
        found += [("hand speed", hand) for hand in hands] + [("hand force", hand) for hand in hands]
        found += [(what, "") for what in ("grip", "corridor", "sinking", "width", "feet slip")]
        edges = 0 if self.support is None else len(self.support[1])
        found += [("balance", "") for _ in range(edges)]
        pairs = () if self.gaps is None else self.gaps.names
        return found + [("clearance", f"{limb} from {trunk}") for limb, trunk in pairs]

    def asked(self, motion: Motion, squeeze: bool = True) -> Asked:
        """What it takes."""
        n, m, avatar = len(motion.q), self.avatar.model, self.avatar
        q, v, a = np.repeat(self.q[None], n, axis=0), np.zeros((n, m.nv)), np.zeros((n, m.nv))
        q[:, avatar.in_q], v[:, avatar.in_v], a[:, avatar.in_v] = motion.q, motion.v, motion.a
        phase = self.owner[motion.piece]
        load = np.array([p.load_kg for p in self.phases])[phase]
        begin, end = np.array([p.squeeze_N for p in self.phases])[phase].T
        # only a pause changes the squeeze, and it is a run by itself
        share = motion.time_s / max(float(motion.time_s[-1]), 1e-12)
        squeezed = begin + (end - begin) * share
        hands = carrying(m, q, v, a, avatar.palms_table, load, squeezed if squeeze else np.zeros(n))
        if self.support is None:
            none = np.zeros((n, 0))
            return Asked(q, v, a, hands, np.full((n, 2), np.nan), none, np.full((n, 3), np.nan), load, squeezed)
        normal, offset, ground_z = self.support
        root = self._root
        N, F = hands.tau[:, :3] @ root[:3, :3].T, hands.tau[:, 3:6] @ root[:3, :3].T
        N = N + np.cross(root[:3, 3] - (0.0, 0.0, ground_z), F)
        zmp = np.stack([-N[:, 1], N[:, 0]], axis=1) / F[:, 2:]
        return Asked(q, v, a, hands, zmp, zmp @ normal.T - offset, F, load, squeezed)

    @cached_property
    def _root(self) -> Floats2:
        """The pose of the free root, which stays."""
        body = next(j.child for j in self.avatar.model.description.joints if j.kind == "free")
        return forward_kinematics(self.avatar.model, self.q)[self.avatar.model.body(body)]

    def __call__(self, motion: Motion) -> Measured:
        L, asked = self.limits, self.asked(motion)
        phase = self.owner[motion.piece]
        effort = np.abs(asked.hands.tau[:, self.avatar.in_v])
        n, hands = len(motion.q), asked.hands
        blank = np.full((n, 1), -1.0)
        speed = np.linalg.norm(hands.velocity, axis=2)
        force = self._hand_force(asked)
        columns = [
            (motion.q - self.upper) / RANGE_SCALE, (self.lower - motion.q) / RANGE_SCALE,
            np.abs(motion.v) / self.velocity - 1.0, np.abs(motion.a) / self.acceleration - 1.0,
            effort / self.effort - 1.0, speed / L.hand_speed_m_s - 1.0, force / L.hand_force_N - 1.0,
        ]  # fmt: skip
        grip, corridor, sink, width = blank.copy(), blank.copy(), blank.copy(), blank.copy()
        middle = hands.point.mean(axis=1)
        for k, each in enumerate(self.phases):
            rows = phase == k
            if not rows.any() or not each.moves:
                continue
            if np.isfinite(each.corridor_m):
                way = each.palms[1] - each.palms[0]
                along = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
                off = hands.point[rows] - each.palms[0]
                t = np.clip((off * along).sum(axis=2), 0.0, np.linalg.norm(way, axis=1))
                away = np.linalg.norm(off - t[:, :, None] * along, axis=2).max(axis=1)
                corridor[rows, 0] = away / each.corridor_m - 1.0
            if each.held:
                grip[rows, 0] = L.grip * self._needed(asked)[rows] / asked.squeeze_N[rows] - 1.0
                low = each.palms[:, :, 2].mean(axis=1).min()
                sink[rows, 0] = (low - middle[rows, 2]) / SINK_M - 1.0
                apart = np.linalg.norm(hands.point[rows, 1] - hands.point[rows, 0], axis=1)
                width[rows, 0] = np.abs(apart - np.linalg.norm(each.palms[0, 1] - each.palms[0, 0])) / WIDTH_OFF_M - 1.0
        columns += [grip, corridor, sink, width]
        if self.support is not None:
            sliding = np.linalg.norm(asked.ground[:, :2], axis=1) / (L.sole_friction * asked.ground[:, 2])
            columns += [sliding[:, None] - 1.0, (L.margin_m - asked.inside) / BALANCE_SCALE_M]
        else:
            columns.append(blank)
        if self.gaps is not None:
            columns.append((L.clearance_m - self.gaps(asked.q)) / BALANCE_SCALE_M)
        g = np.hstack(columns)

        def say(row: int, column: int) -> str:
            what, who = self.labels[column]
            where = f"in {self.phases[phase[row]].name!r} (task {self.phases[phase[row]].task})"
            joint = f" of {who}" if who else ""
            if what == "balance":
                return (f"balance: the zero-moment point is {asked.inside[row].min():.4g} m inside the soles {where}, "
                        f"at least {L.margin_m:.4g} m is asked for")  # fmt: skip
            if what == "clearance":
                return (f"clearance: {who} is {L.clearance_m - BALANCE_SCALE_M * g[row, column]:.4g} m {where}, "
                        f"at least {L.clearance_m:.4g} m is asked for")  # fmt: skip
            if what == "grip":
                return (f"grip: {L.grip * self._needed(asked)[row]:.4g} N of squeeze are needed {where}, "
                        f"{asked.squeeze_N[row]:.4g} N are given")  # fmt: skip
            return f"{what}{joint} is {1.0 + g[row, column]:.4g} of its limit {where}" if "range" not in what else (
                f"{what}{joint} is passed by {g[row, column] * RANGE_SCALE:.4g} {where}")  # fmt: skip

        return Measured(g, say)

    def _needed(self, asked: Asked) -> Floats1:
        """Squeeze [N] that just keeps the load."""
        hands = asked.hands
        if hands.point.shape[1] != 2:
            return np.zeros(len(asked.q))
        n = hands.point[:, 1] - hands.point[:, 0]
        n = n / np.linalg.norm(n, axis=1, keepdims=True)
        a = hands.acceleration.mean(axis=1)
        along = (a * n).sum(axis=1)
        across = np.linalg.norm(a - along[:, None] * n, axis=1)
        return 0.5 * asked.load_kg * (across / self.limits.palm_friction + np.abs(along))

    def _hand_force(self, asked: Asked) -> Floats2:
        """On each palm (n, k) [N]."""
        hands = asked.hands
        f = hands.acceleration * (asked.load_kg / hands.point.shape[1])[:, None, None]
        if hands.point.shape[1] == 2:
            n = hands.point[:, 1] - hands.point[:, 0]
            n = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)
            f = f + asked.squeeze_N[:, None, None] * np.stack([n, -n], axis=1)
        return np.linalg.norm(f, axis=2)


@dataclass(frozen=True, eq=False)
class Performance:
    """A motion ready to be played, one row per dt [s]; n rows.

    plan        q (n, nq), v, a (n, nv) for World or controller
    tau         (n, nv) that it takes, load and squeeze included; a free root's rows are the ground's
    tau_posture (n, nv) the same with load, but without the squeeze, for who controls the squeeze
    phase       (n,) which of `phases`; begins (n phases,) [s]
    """

    dt: float
    plan: Plan
    tau: Floats2
    tau_posture: Floats2
    phases: tuple[Phase, ...]
    phase: np.ndarray
    palms: Floats  # (n, k, 3) [m]
    zmp: Floats2  # (n, 2)
    margin_m: Floats1  # (n,) of the zero-moment point inside the soles
    hand_speed_m_s: Floats2  # (n, k)
    load_kg: Floats1
    squeeze_N: Floats1
    worst: dict[str, float]  # of each kind of limit, its largest g over all rows
    jerk: float  # integral of squared jerk, all joints [rad^2/s^5]

    @property
    def seconds(self) -> float:
        return (len(self.phase) - 1) * self.dt

    @property
    def time_s(self) -> Floats1:
        return np.arange(len(self.phase)) * np.float64(self.dt)

    @cached_property
    def begins_s(self) -> Floats1:
        """When each phase begins."""
        return np.searchsorted(self.phase, np.arange(len(self.phases))) * np.float64(self.dt)


def performed(
    avatar: Avatar, q: ArrayLike, limits: Limits, curves: Sequence[tuple[tuple[Phase, ...], Curve]], dt: float
) -> Performance:
    """Curves of runs one after the other, as rows."""
    parts: list[tuple[Asked, Floats2, np.ndarray]] = []
    worst: dict[str, float] = {}
    phases = tuple(phase for run, _ in curves for phase in run)
    first = 0
    for k, (run, curve) in enumerate(curves):
        owner = np.concatenate([np.full(phase.via + 1, i) for i, phase in enumerate(run)])
        measuring, rows = Measuring(avatar, q, limits, run, owner), curve.rows(dt)
        measured = measuring(rows)
        for (what, _), value in zip(measuring.labels, measured.g.max(axis=0), strict=True):
            worst[what] = max(worst.get(what, -np.inf), float(value))
        loose = measuring.asked(rows, squeeze=False).hands.tau
        keep = slice(0, None if k == len(curves) - 1 else -1)  # the last row is the next one's first
        asked = measuring.asked(rows)
        parts.append((_cut(asked, keep), loose[keep], first + owner[rows.piece][keep]))
        first += len(run)

    def join(name: str) -> Floats:
        return np.concatenate([getattr(asked, name) for asked, _, _ in parts])

    hands = Carried(*(np.concatenate([part[0].hands[i] for part in parts]) for i in range(4)))
    inside = join("inside")
    return Performance(
        dt, Plan(join("q"), join("v"), join("a")), hands.tau, np.concatenate([part[1] for part in parts]), phases,
        np.concatenate([part[2] for part in parts]), hands.point, join("zmp"),
        inside.min(axis=1) if inside.shape[1] else np.full(len(inside), np.inf),
        np.linalg.norm(hands.velocity, axis=2), join("load_kg"), join("squeeze_N"), worst,
        float(sum(curve.jerk for _, curve in curves)),
    )  # fmt: skip


def _cut(asked: Asked, keep: slice) -> Asked:
    hands = Carried(*(x[keep] for x in asked.hands))
    rest = {name: getattr(asked, name)[keep] for name in Asked._fields if name != "hands"}
    return Asked(hands=hands, **rest)
