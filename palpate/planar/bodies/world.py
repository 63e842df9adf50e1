"""PlanarWorld: planar bodies from Python, in simulated time, the same bits every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from palpate.haptics.contact_laws import SETTINGS, STATE
from palpate.jit import Block
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.planar.bodies import stages
from palpate.planar.bodies.description import EdgeSurface, PlanarBody
from palpate.planar.bodies.impacts.frictional import impact_work
from palpate.planar.bodies.polygons import tables_of
from palpate.planar.bodies.tables import (
    FRICTIONAL,
    MAX_CONTACTS,
    NONE,
    POISSON,
    SOURCES,
    Audit,
    Contacts,
    EdgeLaws,
    ImpactSet,
    Motion,
    Nearness,
    Polygons,
    Rules,
    Start,
)

RATE_HZ, PROXIMITY_HZ = 500.0, 50.0
NEAR_M, FAR_M, THRESHOLD_M_S = 0.010, 0.015, 1e-3  # d_on, d_off, v_thr
SOURCE = {"hand": 0, "coupling": 1, "drag": 2}
IMPACTS = {"poisson": POISSON, "frictional": FRICTIONAL}


class Trace(NamedTuple):
    """What a body did in some steps, one row each, after it."""

    time_s: Floats1
    X: Floats2  # (steps, 3) after the step
    v: Floats2  # (steps, 3)
    contact: Floats2  # (steps, 3) wrench of its contacts during the step
    struck: Floats2  # (steps, 3) impulses at the beginning of the step [N s]
    touching: Ints1  # contacts of the body at the beginning of the step
    slipping: Ints1  # of these
    depth: Floats1  # the largest of these [m]
    kinetic: Floats1  # of all bodies [J]
    free: Ints1  # 1: nothing in the world touched


class PlanarWorld:
    """
        world = PlanarWorld(enclosure())
        world.apply("block", (-3.0, -4.0, 0.0))
        world.step(500)
        world.X[world.index("block")]

    Rows of X, v and of all tables are the bodies in the order given, from 1 on; row 0 is the world.
    """

    def __init__(
        self, bodies: Sequence[PlanarBody], rate_hz: float = RATE_HZ, impact: str = "poisson",
        proximity_hz: float = PROXIMITY_HZ, near_m: float = NEAR_M, far_m: float = FAR_M,
        v_threshold_m_s: float = THRESHOLD_M_S,
    ) -> None:  # fmt: skip
        if not bodies:
            raise ValueError("a planar world needs a body")
        self.names = ["world", *(body.name for body in bodies)]
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ValueError(f"two bodies have the name {twice!r}")
        if impact not in IMPACTS:
            raise ValueError(f"no impact law {impact!r}; there are: {', '.join(IMPACTS)}")
        if not rate_hz > 0.0 or not 0.0 < proximity_hz <= rate_hz:
            raise ValueError(
                f"rates must be above 0, that of proximity at most the other: {rate_hz:g}, {proximity_hz:g}"
            )
        if not 0.0 < near_m <= far_m:
            raise ValueError(f"near must be above 0 and at most far, got {near_m:g} and {far_m:g}")
        self.bodies, self.rate_hz, self.dt_s = tuple(bodies), rate_hz, 1.0 / rate_hz
        n = len(self.names)
        masses = np.array([(0.0, 0.0, 0.0), *(body.inverse_mass for body in bodies)])
        self.polygons = tables_of([body.outline for body in bodies], masses)
        starts = [((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), *(body.start for body in bodies)]
        self.start = Start(X=np.array([X for X, _ in starts]), v=np.array([v for _, v in starts]))
        self.motion = Motion(
            X=np.zeros((n, 3)), v=np.zeros((n, 3)), applied=np.zeros((SOURCES * n, 3)), contact=np.zeros((n, 3)),
            moved=np.zeros((n, 3)), struck=np.zeros((n, 3)),
        )  # fmt: skip
        self.laws = _edge_laws([surface for body in bodies for surface in body.surfaces])
        self.contacts, self.audit = _no_contacts(), Audit(work=np.zeros(SOURCES))
        self.rules = Rules(
            impact=IMPACTS[impact], proximity_every=max(1, round(rate_hz / proximity_hz)),
            v_threshold=v_threshold_m_s, near=near_m, far=far_m,
        )  # fmt: skip
        self.nearness, self._impact = _pairs(self.polygons), _impact_set(n)
        self._parts = (
            self.polygons, self.motion, self.laws, self.contacts, self.audit, self.rules, self.nearness, self._impact,
            self.start,
        )  # fmt: skip
        self.block = Block(*self._parts)
        self.time_steps = 0
        self.reset()

    # ---- running

    def reset(self) -> None:
        """Back to the start; the laws stay as they were set."""
        stages.reset_entry(self.block.address)
        self.time_steps = 0

    def step(self, steps: int = 1) -> None:
        """So many steps, under what was applied last."""
        stages.step_entry(self.block.address, self.dt_s, steps, 0, np.zeros((0, 3)), np.zeros((0, 0)))
        self.time_steps += steps

    def trace(self, steps: int, body: str | int = 1, wrenches: Floats2 | None = None) -> Trace:
        """So many steps and what a body did in them; `wrenches` (steps, 3): the hand's on it in each."""
        given = np.zeros((0, 3)) if wrenches is None else np.ascontiguousarray(wrenches, dtype=np.float64)
        if wrenches is not None and (given.shape != (steps, 3) or not np.isfinite(given).all()):
            raise ValueError(f"wrenches must be finite and of shape ({steps}, 3), got {given.shape}")
        out = np.zeros((steps, stages.TRACED))
        stages.step_entry(self.block.address, self.dt_s, steps, self.index(body), given, out)
        time = (self.time_steps + 1.0 + np.arange(steps, dtype=np.float64)) / self.rate_hz
        self.time_steps += steps
        counts = [out[:, k].astype(np.int64) for k in (12, 13, 16)]
        return Trace(
            time, out[:, 0:3], out[:, 3:6], out[:, 6:9], out[:, 9:12], counts[0], counts[1], out[:, 14], out[:, 15],
            counts[2],
        )  # fmt: skip

    @property
    def time_s(self) -> float:
        return self.time_steps * self.dt_s

    # ---- what is, and what is done to it

    def index(self, body: str | int) -> int:
        """Row of a body, by its name or as it is."""
        if isinstance(body, str):
            if body not in self.names:
                raise ValueError(f"no body {body!r}; there are: {', '.join(self.names[1:])}")
            return self.names.index(body)
        if not 0 < body < len(self.names):
            raise ValueError(f"no body {body}; there are 1 .. {len(self.names) - 1}")
        return body

    @property
    def X(self) -> Floats2:
        """(n_bodies, 3) x, y [m], angle [rad] of the centres of mass; to be read: `place` writes."""
        return _read_only(self.motion.X)

    @property
    def v(self) -> Floats2:
        """(n_bodies, 3) [m/s, rad/s]."""
        return _read_only(self.motion.v)

    def place(self, body: str | int, X: Any = None, v: Any = None) -> None:
        """Put a body there; contacts begin anew, and the audit too."""
        b = self.index(body)
        for table, given in ((self.motion.X, X), (self.motion.v, v)):
            if given is not None:
                row = np.asarray(given, dtype=np.float64)
                if row.shape != (3,) or not np.isfinite(row).all():
                    raise ValueError(f"a pose or velocity is three finite numbers, not {given!r:.60}")
                table[b] = row
        stages.put_entry(self.block.address)

    def apply(self, body: str | int, wrench: Any, source: str = "hand") -> None:
        """(fx, fy [N], torque [N m]) about the centre of mass, from now on."""
        if source not in SOURCE:
            raise ValueError(f"no source {source!r}; there are: {', '.join(SOURCE)}")
        row = np.asarray(wrench, dtype=np.float64)
        if row.shape != (3,) or not np.isfinite(row).all():
            raise ValueError(f"a wrench is three finite numbers, not {wrench!r:.60}")
        self.motion.applied[SOURCE[source] * len(self.names) + self.index(body)] = row

    @property
    def touching(self) -> Ints1:
        """Rows of `contacts` in use."""
        return np.flatnonzero(self.contacts.state[: self.contacts.count] != NONE)

    def edges(self, body: str | int) -> range:
        """Numbers of a body's edges and vertices."""
        b = self.index(body)
        return range(self.polygons.first[b], self.polygons.first[b + 1])

    def set_surface(self, surface: EdgeSurface, body: str | int | None = None, edge: int | None = None) -> None:
        """Other laws, of a body's edges, of one of them, or of all; what contacts kept for the old ones is cleared."""
        which = range(len(self.polygons.body)) if body is None else self.edges(body)
        for i in which if edge is None else [which[edge]]:
            _put_laws(self.laws, i, surface)
            stages.laws_changed_entry(self.block.address, i)

    def stiffness_ratio(self, body: str | int) -> float:
        """kappa = K T^2/m_eff at the body's farthest corner, against what cannot move, by its stiffest own edge.

        Sample, estimate, hold is stable below 4/3 (reference 4.1), and well behaved below about 0.2; a light
        body needs softer walls or a higher rate.
        """
        b = self.index(body)
        inverse = self.polygons.inverse_mass[b]
        at_corner = inverse[0] + inverse[2] * self.polygons.radius[b] ** 2
        return float(self.laws.wall_setting[list(self.edges(b)), 0].max() * self.dt_s**2 * at_corner)

    # ---- all of it

    def snapshot(self) -> tuple[np.ndarray, ...]:
        """Everything that changes; `restore` makes it so again, to the bit."""
        structs = [part for part in self._parts if not isinstance(part, Polygons)]
        arrays = [array.copy() for part in structs for array in part.arrays().values()]
        return (np.array([self.time_steps]), *arrays)

    def restore(self, snapshot: tuple[np.ndarray, ...]) -> None:
        structs = [part for part in self._parts if not isinstance(part, Polygons)]
        self.time_steps = int(snapshot[0][0])
        for array, was in zip((a for part in structs for a in part.arrays().values()), snapshot[1:], strict=True):
            array[...] = was


def _read_only(array: Floats2) -> Floats2:
    view = array.view()
    view.setflags(write=False)
    return view


def _edge_laws(surfaces: Sequence[EdgeSurface]) -> EdgeLaws:
    n = len(surfaces)
    ints = {name: np.zeros(n, dtype=np.int64) for name in ("wall", "friction", "keeper", "impulse", "bounded")}
    settings = {f"{name}_setting": np.zeros((n, SETTINGS)) for name in ("wall", "friction", "keeper")}
    laws = EdgeLaws(**ints, **settings, restitution=np.zeros(n))
    for i, surface in enumerate(surfaces):
        _put_laws(laws, i, surface)
    return laws


def _put_laws(laws: EdgeLaws, edge: int, surface: EdgeSurface) -> None:
    for name, (law, settings) in zip(("wall", "friction", "keeper"), surface.laws, strict=True):
        getattr(laws, name)[edge] = 0 if law is None else law.address
        getattr(laws, f"{name}_setting")[edge] = 0.0 if law is None else law.row(**settings)
    laws.impulse[edge], laws.bounded[edge] = surface.impulse, surface.bounded
    laws.restitution[edge] = surface.restitution


def _no_contacts() -> Contacts:
    M = MAX_CONTACTS
    ints = {name: np.zeros(M, dtype=np.int64) for name in ("state", "vertex", "edge", "slips")}
    names = ("depth", "along", "approach", "slide", "travel", "normal_force", "friction_force", "impulse",
             "friction_impulse", "absorbed")  # fmt: skip
    pairs = {name: np.zeros((M, 2)) for name in ("normal", "point", "god")}
    states = {f"{name}_state": np.zeros((M, STATE)) for name in ("wall", "friction", "keeper")}
    return Contacts(**ints, **{name: np.zeros(M) for name in names}, **pairs, **states)


def _pairs(polygons: Polygons) -> Nearness:
    n = len(polygons.radius)
    moves = [bool(row.any()) for row in polygons.inverse_mass]
    both = [(a, b) for a in range(1, n) for b in range(a + 1, n) if moves[a] or moves[b]]
    number = np.full(n * n, -1, dtype=np.int64)
    for k, (a, b) in enumerate(both):
        number[a * n + b] = number[b * n + a] = k
    p = len(both)
    ints = {name: np.zeros(p, dtype=np.int64) for name in ("active", "listed", "met", "corners", "axis", "across")}
    return Nearness(
        turned=np.zeros((n, 2)), last=np.zeros((n, 3)), before=np.zeros((n, 4)), box=np.zeros((n, 4)),
        order=np.arange(n), number=number, first=np.array([a for a, _ in both], dtype=np.int64),
        second=np.array([b for _, b in both], dtype=np.int64), distance=np.zeros(p), closest=np.zeros((p, 4)),
        simplex=np.zeros(6 * p, dtype=np.int64), **ints,
    )  # fmt: skip


def _impact_set(n_bodies: int) -> ImpactSet:
    M = MAX_CONTACTS
    return ImpactSet(
        row=np.zeros(M, dtype=np.int64), joined=np.zeros(n_bodies, dtype=np.int64),
        v=np.zeros((n_bodies, 3)), push=np.zeros((n_bodies, 3)), G=np.zeros((2 * M, 2 * M)),
        G_normal=np.zeros((M, M)), g=np.zeros(2 * M), e=np.zeros(M), mu=np.zeros(M), impulse=np.zeros(2 * M),
        work=impact_work(M),
    )  # fmt: skip
