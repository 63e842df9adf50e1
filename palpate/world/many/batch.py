"""Batch: n copies of one World, each with its own state and parameters, stepped together over threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from palpate.jit import Block, warm
from palpate.jit.crew import Crew, usable_cores
from palpate.model.model import Floats
from palpate.world.build import pushed_links
from palpate.world.many.lane import Controls, Lane
from palpate.world.many.memory import Memory
from palpate.world.many.turns import Asked, exchange, take_turns
from palpate.world.state import VELOCITY_FAULT
from palpate.world.views import Snapshot, WorldError
from palpate.world.world import World

NONE = np.zeros(0, dtype=np.int64)


class Rollout(NamedTuple):
    """States after each step; NaN from where a copy stopped."""

    q: Floats  # (n, steps, nq)
    v: Floats  # (n, steps, nv)
    faults: dict[int, str]  # copy -> what stopped it, of those that did on the way


class Batch:
    """n copies of a World as it is now: the same bodies, own states, own friction, masses and gains.

    world    stays as it is; bodies added to it later are not in the copies
    n        copies
    threads  that step them, without the GIL; default one a core.  The bits do not depend on it: copy i goes on as a
             single World with its state and parameters would
    control  control(world) -> a compiled controller or several (`ControlPart`, with `remembers`) for that World; made
             once for every thread, and ticked before every step of every copy

    A copy that stops (see WorldError) keeps its last good state and is left out until `reset`; the others go on.
    """

    def __init__(self, world: World, n: int, *, threads: int | None = None, control: Controls | None = None) -> None:
        if not isinstance(world, World):
            raise ValueError(f"a batch is made of a World, got {type(world).__name__}")
        if not world.is_compiled:
            raise ValueError("a batch needs the compiled step, and modules of one's own step this world in Python")
        world._check_alone("stop it before its world is copied")
        self.n = _count("n", n, "copies")
        self.threads = min(usable_cores() if threads is None else _count("threads", threads, "threads"), self.n)
        self._lanes = [Lane(world, control) for _ in range(self.threads)]
        self._model, bodies = world.model, {body.name: body for body in world.model.description.bodies}
        self._memory = Memory(world, self._lanes[0], self.n)
        self._of = self._memory.of
        self._masses = np.tile([0.0, *(bodies[name].mass for name in self._model.body_names[1:])], (self.n, 1))
        self._faults: dict[int, str] = {}
        self._plain = self._asked(1)  # what `step` asks, again and again
        self._last = self._plain[0]
        self._crew = Crew(self.threads)
        self._in_hand: int | None = None  # the copy that `world` has given out
        warm(take_turns)
        warm(exchange)

    # ---- what there is

    @property
    def q(self) -> Floats:
        """Coordinates (n, nq); write into them to place things."""
        return self._of("q")

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._of("q")[...] = self._given(value, "q", (self.n, self._model.nq))

    @property
    def v(self) -> Floats:
        """Velocities (n, nv); write into them to set things moving."""
        return self._of("v")

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._of("v")[...] = self._given(value, "v", (self.n, self._model.nv))

    @property
    def tau(self) -> Floats:
        """Joint torques (n, nv) [N m, N], applied in every step until changed."""
        return self._of("tau")

    @tau.setter
    def tau(self, value: ArrayLike) -> None:
        self._of("tau")[...] = self._given(value, "tau", (self.n, self._model.nv))

    @property
    def time(self) -> Floats:
        """[s] since the start, of each copy (n,)."""
        return self._of("time").copy()

    @property
    def faults(self) -> dict[int, str]:
        """Copies that have stopped, each with what stopped it."""
        return dict(self._faults)

    @property
    def residual(self) -> Floats:
        """The largest relative residual of the contact solver in the last call, of each copy (n,)."""
        return self._last.residual.copy()

    @property
    def lost(self) -> np.ndarray:
        """Contacts that did not fit into `World(capacity=)` in the last call, of each copy (n,)."""
        return self._last.lost.copy()

    @property
    def nbytes(self) -> int:
        """Memory of the copies; the arrays of a step, one set a thread, come on top."""
        return self._memory.rows.nbytes

    def remembered(self, name: str) -> np.ndarray:
        """What a control remembers, as "control.name": (n, ...), to be read and written."""
        own = [each for each in self._memory.pieces if "." in each]
        if name not in own:
            raise ValueError(f"no control remembers {name!r}; known: {', '.join(own) or 'none'}")
        return self._of(name)

    # ---- what happens

    def step(self, steps: int = 1, *, tau: ArrayLike | None = None) -> None:
        """Advance every copy by `steps` steps of dt; tau (n, nv) or what broadcasts to it becomes its `tau`.

        WorldError, after all others have come to the end, if copies have stopped: it names them.
        """
        if tau is not None:
            self.tau = tau
        stopped = self._run(_count("steps", steps, "steps"))
        if stopped:
            first, why = next(iter(stopped.items()))
            rest = f"; so did {len(stopped) - 1} more, see faults" if len(stopped) > 1 else ""
            raise WorldError(f"copy {first} stopped: {why}{rest}; the other copies went on")

    def rollout(
        self, tau: ArrayLike | None = None, *, steps: int | None = None, pushes: Mapping[str, ArrayLike] | None = None
    ) -> Rollout:
        """Advance every copy and keep the states after each step.  A copy that stops is in `faults`, nothing is raised.

        tau     (n, steps, nv) torques before each step, or what broadcasts to it [N m, N]; default: `tau` as it is
        steps   how many, where tau does not say it
        pushes  {body: (n, steps, 6)}: (torque, force) in each step, world axes, at the body's origin [N m, N]
        """
        nq, nv = self._model.nq, self._model.nv
        said = [np.shape(x)[-2] for x in (tau, *(pushes or {}).values()) if x is not None and np.ndim(x) >= 2]
        known = steps if steps is not None else max(said, default=None)
        if known is None:
            raise ValueError("how many steps? give steps, or torques or pushes of shape (n, steps, ...)")
        count = _count("steps", known, "steps")
        shape = (self.n, count)
        names = list(pushes or {})
        asked: dict[str, Any] = {"q": np.full((self.n * count, nq), np.nan), "v": np.full((self.n * count, nv), np.nan)}
        if tau is not None:
            asked["tau"] = self._given(tau, "tau", (*shape, nv)).reshape(-1, nv)
        if names:
            wrenches = [self._given((pushes or {})[name], f"pushes[{name!r}]", (*shape, 6)) for name in names]
            asked["bodies"] = np.array([self._model.body(name) for name in names], dtype=np.int64)
            asked["pushes"] = np.stack(wrenches, axis=2).reshape(-1, 6)
        stopped = self._run(count, **asked)
        return Rollout(asked["q"].reshape(*shape, nq), asked["v"].reshape(*shape, nv), stopped)

    def apply(self, body: str, force: ArrayLike = (0.0, 0.0, 0.0), torque: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Forces [N] and torques [N m] (n, 3) on a body for the next step, world axes, at its origin."""
        row = self._model.body(body)
        f, n = self._given(force, "force", (self.n, 3)), self._given(torque, "torque", (self.n, 3))
        self._of("wrenches")[:, row] += np.concatenate([n, f], axis=1)
        self._of("n_wrenches")[...] = self._model.n_bodies

    def reset(self, copies: ArrayLike | None = None) -> None:
        """Copies (all, or by their numbers) back to the world they were made of; friction, masses and gains stay."""
        which = self._which(copies)
        self._memory.reset(which)
        self._forgive(which)

    def restore(self, snapshot: Snapshot, copies: ArrayLike | None = None) -> None:
        """Copies (all, or by their numbers) to a snapshot of the world, or of one of them: springs and torques too."""
        which = self._which(copies)
        self._lanes[0].restore(snapshot)  # which says why it does not fit
        for name, x in snapshot.arrays.items():
            if name in self._memory.pieces:
                self._of(name)[which] = x
        self._forgive(which)

    def snapshot(self, copy: int) -> Snapshot:
        """A copy's state; `World.restore` goes on from it."""
        with self.world(copy) as world:
            return world.snapshot()

    @contextmanager
    def world(self, copy: int) -> Iterator[World]:
        """One copy as a World, to be looked at and changed while the `with` lasts: `hold`, `place`, `connect`, `step`.

        It has no contacts before its first step there.
        """
        (i,) = self._which([copy])
        self._check_free()
        with self._crew.alone():
            self._in_hand, lane, block = int(i), self._lanes[0], self._plain[1][0]
            exchange(block.address, self._in_hand, 0)
            lane.forget_contacts()
            try:
                yield lane
            finally:
                exchange(block.address, self._in_hand, 1)
                self._in_hand = None

    def close(self) -> None:
        """End its threads; what it holds can still be read."""
        self._crew.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a batch cannot be pickled: it has threads; pickle what it is made of, and its q and v")

    # ---- what differs from copy to copy

    def set_friction(self, friction: ArrayLike, materials: tuple[str, str] | None = None) -> None:
        """Coefficients (n,), static and sliding alike, between two materials by name; default: between all."""
        mu = self._given(friction, "friction", (self.n,))
        if not (np.isfinite(mu).all() and (mu >= 0.0).all()):
            raise ValueError("friction must be finite and not negative")
        names = [material.name for material in self._lanes[0].arrays.shapes.materials]
        if unknown := [name for name in materials or () if name not in names]:
            raise ValueError(f"no shape has the material {unknown[0]!r}; known: {', '.join(names)}")
        pair = set(names) if materials is None else set(materials)
        chosen = np.array([[materials is None or {a, b} == pair for b in names] for a in names])
        for name in ("mu_static", "mu_sliding"):
            self._of(name)[:, chosen] = mu[:, None]

    def set_mass(self, body: str, mass: ArrayLike) -> None:
        """Masses (n,) of a body [kg]; its inertia changes in proportion, its centre of mass stays in its place."""
        row, m = self._model.body(body), self._given(mass, "mass", (self.n,))
        if not (np.isfinite(m).all() and (m > 0.0).all()):
            raise ValueError("masses must be finite and above 0")
        if self._masses[0, row] == 0.0 or not pushed_links(self._model)[self._model.arrays.body_link[row]]:
            raise ValueError(f"{body!r} has no mass that could change: it is fixed, placed or massless")
        self._masses[:, row] = m
        for i in range(self.n):
            with self.world(i):
                self._lanes[0].weigh(body, self._masses[i])

    def hold(
        self, stiffness: ArrayLike = 2000.0, damping: ArrayLike = 60.0, q: ArrayLike | None = None,
        joints: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """`World.hold` in every copy: gains that broadcast to (n, joints), and q to (n, nq)."""
        free = {joint.name for joint in self._model.description.joints if joint.kind == "free"}
        names = [name for name in self._model.joint_names if name not in free] if joints is None else list(joints)
        kp = self._given(stiffness, "stiffness", (self.n, len(names)))
        kv = self._given(damping, "damping", (self.n, len(names)))
        targets = None if q is None else self._given(q, "q", (self.n, self._model.nq))
        for i in range(self.n):
            with self.world(i) as world:
                world.hold(kp[i], kv[i], None if targets is None else targets[i], names)

    # ---- inside

    def _run(self, steps: int, **asked: np.ndarray) -> dict[int, str]:
        """All copies that have not stopped; those that stop now, with the reason."""
        self._check_free()
        if len(self._faults) == self.n:
            raise ValueError("all copies have stopped: reset them first")
        with self._crew.alone():
            a, blocks = self._asked(steps, **asked) if asked or self._faults else self._plain
            a.steps, a.next[0] = steps, 0
            self._crew.run(take_turns, [block.address for block in blocks])
            self._last = a
        stopped = {int(i): self._words(int(i), a) for i in a.which[a.done[a.which] < steps]}
        self._faults |= stopped
        return stopped

    def _asked(self, steps: int, **given: np.ndarray) -> tuple[Asked, list[Block]]:
        """A call for those that have not stopped, as every lane gets it."""
        nq, nv = self._model.nq, self._model.nv
        which = np.array([i for i in range(self.n) if i not in self._faults], dtype=np.int64)
        nothing = {"tau": np.zeros((0, nv)), "bodies": NONE, "pushes": np.zeros((0, 6)),
                   "q": np.zeros((0, nq)), "v": np.zeros((0, nv))}  # fmt: skip
        room: dict[str, np.ndarray] = {name: np.zeros(self.n) for name in ("residual", "beyond")}
        room |= {name: np.zeros(self.n, dtype=np.int64) for name in ("done", "lost", "shape_a", "shape_b")}
        next_up = np.zeros(1, dtype=np.int64)
        a = Asked(steps=steps, next=next_up, which=which, **room, **nothing | given)
        return a, [Block(self._memory.copies, a, lane.table) for lane in self._lanes[: max(1, len(which))]]

    def _words(self, i: int, a: Asked) -> str:
        """What stopped a copy."""
        with self.world(i) as world:
            s, c = world.arrays.state, world.arrays.contacts
            if s.fault == VELOCITY_FAULT:
                s.v_next[s.fault_at] = a.beyond[i]
            else:
                c.shape_a[s.fault_at], c.shape_b[s.fault_at] = a.shape_a[i], a.shape_b[i]
            return world.fault

    def _forgive(self, which: np.ndarray) -> None:
        for i in which:
            self._faults.pop(int(i), None)

    def _given(self, value: ArrayLike, name: str, shape: tuple[int, ...]) -> Floats:
        x = np.asarray(value, dtype=float)
        try:
            return np.ascontiguousarray(np.broadcast_to(x, shape))
        except ValueError:
            raise ValueError(f"{name} has shape {x.shape}, the batch needs {shape} or what broadcasts to it") from None

    def _which(self, copies: ArrayLike | None) -> np.ndarray:
        if copies is None:
            return np.arange(self.n)
        which = np.asarray(copies)
        if which.ndim != 1 or not (np.issubdtype(which.dtype, np.integer) or which.size == 0):
            raise ValueError(f"copies are a list of whole numbers, got {copies!r}")
        for i in which:
            if not 0 <= i < self.n:
                raise ValueError(f"there is no copy {i}: the batch has {self.n}, numbered from 0")
        return which.astype(np.int64)

    def _check_free(self) -> None:
        if self._crew.closed:
            raise ValueError("the batch is closed: make another")
        if self._in_hand is not None:
            raise ValueError(f"copy {self._in_hand} is in hand: leave the `with` of batch.world first")


def _count(name: str, value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} is a whole number of {what}, at least 1, got {value!r}")
    return int(value)
