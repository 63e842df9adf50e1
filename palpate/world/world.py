"""World: bodies that fall, touch, rest, slide and roll, a step at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from palpate.contact.laws import FRICTION, RESTITUTION, find_law, law_address
from palpate.dynamics import facade
from palpate.jit.laws import Law
from palpate.model.compile import compile
from palpate.model.description import Joint, MultiBody
from palpate.model.model import Floats, Model
from palpate.spatial.placement import Transform, Vector3, vector3
from palpate.world.build import Arrays, Options, Pairs, build, keep_joint, keep_ties, placing, pushed_links, write_tie
from palpate.world.connections import FREE as UNTIED
from palpate.world.connections import TIED, WELDED
from palpate.world.entries import steps
from palpate.world.modules import CollisionDetector, CollisionHandler, Dynamics, Modules, Simulator
from palpate.world.reading import contacts_of, fault_of, ledger_of, remembered, report_of, sleepers_of
from palpate.world.views import Contact, Ledger, Snapshot, StepReport, WorldError


class World:
    """Articulated and free bodies under gravity, with hard contact and Coulomb friction.

    bodies     MultiBody descriptions; further copies of a name are prefixed ("box.2/box")
    dt         step [s]
    gravity    [m/s^2], world axes; default (0, 0, -9.81)
    margin     contacts are seen this far before bodies touch [m]
    full       solve every contact point; else patches of points are reduced to their corners, at most 4 a pair
    ignore     pairs of names (bodies or parts) that never touch
    pairs      {("rubber", "ice"): Material(...)}: materials whose pair is not the mean of the two
    tolerance  of the contact solver: velocities that violate the law, relative to the fastest approach in an island
    budget     of the contact solver in one step, in visits of a row (about 0.07 us each): what islands may take
               before they are left above the tolerance, which the report then says; impulses never create energy
    capacity   contacts at once; more are counted in report.lost
    ledger     keep account of energy in every step (see `ledger`)
    sleep      free bodies that rest fall asleep: frozen, at no cost, until something changes (docs/world.md)
    integrator "semi-implicit", or "runge-kutta": of fourth order for what nothing touches and no stiff spring holds
    friction_law, restitution_law    a name in `palpate.contact.laws`, or made by pp.friction_law, pp.restitution_law
    dynamics, collision, contact, simulator    your own module in place of one of ours (`palpate.world.modules`): the
               world then steps in Python, many times slower
    """

    def __init__(
        self,
        bodies: MultiBody | Iterable[MultiBody],
        dt: float = 1e-3,
        *,
        gravity: Vector3 | None = None,
        margin: float = 0.005,
        full: bool = False,
        ignore: Iterable[tuple[str, str]] = (),
        pairs: Pairs | None = None,
        tolerance: float = 1e-6,
        budget: int = 400_000,
        capacity: int | None = None,
        ledger: bool = False,
        integrator: str = "semi-implicit",
        sleep: bool = False,
        friction_law: str | Law = "coulomb",
        restitution_law: str | Law = "constant",
        dynamics: Dynamics | None = None,
        collision: CollisionDetector | None = None,
        contact: CollisionHandler | None = None,
        simulator: Simulator | None = None,
    ) -> None:
        down = None if gravity is None else vector3(gravity, "gravity")
        self._laws = (find_law(FRICTION, friction_law), find_law(RESTITUTION, restitution_law))
        self._options = Options(
            float(dt), down, margin, full, tuple((a, b) for a, b in ignore), pairs, tolerance, budget, capacity, ledger,
            integrator, sleep and not any((dynamics, collision, contact, simulator)),
            (law_address(FRICTION, self._laws[0]), law_address(RESTITUTION, self._laws[1])),
            (self._laws[0].state_size, self._laws[1].state_size),
        )  # fmt: skip
        self._seen: tuple[list[Contact], StepReport] | None = None  # contacts and report of a step in Python
        self._modules = Modules.given(self._options, dynamics, collision, contact, simulator)
        self.in_session = False  # a session says so while its servo runs
        self._parts: dict[str, MultiBody] = {}
        self._tied: dict[int, tuple[str, str]] = {}  # bodies of each connection there ever was; the arrays say which is
        for part in (bodies,) if isinstance(bodies, MultiBody) else tuple(bodies):
            self._accept(part)
        self._build()

    # ---- what there is

    @property
    def model(self) -> Model:
        """The compiled model of everything in the world; another after add or remove."""
        return self._model

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the MultiBodies in the world, in the order they came."""
        return tuple(self._parts)

    @property
    def q(self) -> Floats:
        """Coordinates (nq,); write into it to place things."""
        return self._state.q

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._state.q[:] = self._checked(value, self.model.nq, "q")

    @property
    def v(self) -> Floats:
        """Velocities (nv,); write into it to set things moving."""
        return self._state.v

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._state.v[:] = self._checked(value, self.model.nv, "v")

    @property
    def tau(self) -> Floats:
        """Joint torques (nv,) [N m, N], applied in every step until changed."""
        return self._state.tau

    @tau.setter
    def tau(self, value: ArrayLike) -> None:
        self._state.tau[:] = self._checked(value, self.model.nv, "tau")

    @property
    def dt(self) -> float:
        """[s]"""
        return self._options.dt

    @property
    def integrator(self) -> str:
        """By name, as it was chosen."""
        return self._options.integrator

    @property
    def time(self) -> float:
        """[s] since the start."""
        return float(self._state.time)

    @property
    def wrenches(self) -> Floats:
        """(torque, force) on every body (n_bodies, 6) for the next step, as `apply` adds them; a copy."""
        return self._state.wrenches.copy()

    @property
    def modules(self) -> Modules | None:
        """What steps this world in Python; None: the compiled step does."""
        return self._modules

    @property
    def is_compiled(self) -> bool:
        """Whether the compiled step moves this world, as a real-time session needs it."""
        return self._modules is None

    def pose(self, body: str) -> Floats:
        """Frame of a body in the world (4, 4)."""
        return facade.forward_kinematics(self.model, self.q)[self.model.body(body)]

    @property
    def energy(self) -> facade.Energy:
        """Kinetic and potential energy now [J]."""
        return facade.energy(self.model, self.q, self.v)

    @property
    def ledger(self) -> Ledger:
        """The account of energy since the first step; needs World(ledger=True)."""
        if not self._options.ledger:
            raise ValueError("no account was kept: make the world with ledger=True")
        return ledger_of(self.model, self._state, self.energy)

    @property
    def arrays(self) -> Arrays:
        """What the compiled step works on, for sessions and benchmarks; replaced by add and remove."""
        return self._arrays

    # ---- what happens

    def step(self, n: int = 1) -> None:
        """Advance by n steps of dt."""
        self._check_alone("it steps it already")
        if self._modules is not None:
            for _ in range(n):
                self._seen = self._modules.step(self)
        elif steps(self._address, n) != n:
            raise WorldError(self.fault)

    def apply(
        self,
        body: str,
        force: Vector3 = (0.0, 0.0, 0.0),
        torque: Vector3 = (0.0, 0.0, 0.0),
        *,
        at_world: Vector3 | None = None,
    ) -> None:
        """A force [N] and torque [N m] on a body for the next step, world axes, at its origin or at a point [m]."""
        f, n = np.array(vector3(force, "force")), np.array(vector3(torque, "torque"))
        if at_world is not None:
            n = n + np.cross(np.array(vector3(at_world, "at_world")) - self.pose(body)[:3, 3], f)
        row = self.model.body(body)
        self._state.wrenches[row, :3] += n
        self._state.wrenches[row, 3:] += f
        self._state.n_wrenches = self.model.n_bodies

    def hold(
        self,
        stiffness: float | ArrayLike = 2000.0,
        damping: float | ArrayLike = 60.0,
        q: ArrayLike | None = None,
        joints: Sequence[str] | None = None,
    ) -> None:
        """Springs and dampers that hold joints, implicit: stable for any gains.

        stiffness, damping  [N m/rad, N m s/rad], or N/m and N s/m where a joint slides; one number, or one a joint
        q       target (nq,); default where everything is now
        joints  names; default all but free ones.  stiffness 0 lets go.
        """
        m, s = self.model.arrays, self._state
        if q is not None:
            s.q_hold[:] = self._checked(q, self.model.nq, "q")
        names = [n for n in self.model.joint_names if self._joint(n).kind != "free"] if joints is None else list(joints)
        kp, kv = (np.broadcast_to(np.asarray(x, dtype=float), (len(names),)) for x in (stiffness, damping))
        if not (np.isfinite(kp).all() and np.isfinite(kv).all() and (kp >= 0).all() and (kv >= 0).all()):
            raise ValueError("stiffness and damping must be finite and not negative")
        for name, p, d in zip(names, kp, kv, strict=True):
            if self._joint(name).kind == "free":
                raise ValueError(f"joint {name!r} is free: there is nothing it could be held by")
            where = self.model.v_index[name]
            axes = [k for k, j in enumerate(m.axis_v) if where.start <= j < where.stop]
            s.kp[axes], s.kv[axes] = p, d + self.model.damping[where]
            if q is None:
                s.q_hold[self.model.q_index[name]] = s.q[self.model.q_index[name]]

    def place(self, name: str, X: Transform, *, parked: bool = False) -> None:
        """Put a placed body, or a free one that carries nothing that moves, at X in the world, at rest.

        parked  a free one takes no part there: nothing moves it until it is placed again
        """
        self._check_alone("place bodies by session.edit.place")
        body = self._parts[name].bodies[0].name if name in self._parts else name
        link, where_q, where_v, q = placing(self.model, body, X)
        self._state.q[where_q], self._state.v[where_v] = q, 0.0
        self._state.pushed[link] = 0 if parked else pushed_links(self.model)[link]

    # ---- who is there

    def add(self, part: MultiBody) -> str:
        """Put another MultiBody into the world, where its posture "start" says; returns its name there."""
        self._check_alone("stop it before bodies are added")
        name = self._accept(part)
        try:
            self._rebuild()
        except Exception:
            del self._parts[name]
            raise
        return name

    def remove(self, name: str) -> None:
        """Take a MultiBody out, by its name or that of one of its bodies."""
        self._check_alone("stop it before bodies are removed")
        part = name if name in self._parts else next(
            (p for p, d in self._parts.items() if any(b.name == name for b in d.bodies)), None
        )  # fmt: skip
        if part is None:
            raise ValueError(f"there is no {name!r} to remove; there are: {', '.join(self._parts)}")
        if len(self._parts) == 1:
            raise ValueError(f"{name!r} is all there is: a world needs at least one body")
        lost = {b.name for b in self._parts.pop(part).bodies}
        self._state.joined_kind[[k for k, bodies in self._tied.items() if lost & {*bodies}]] = UNTIED
        self._rebuild()

    def connect(self, body_a: str, body_b: str, at_world: Vector3 | None = None, *, weld: bool = False) -> int:
        """Hold two bodies together at a point [m] (default: the origin of body_b), or weld them as they are now.

        Returns a number for `disconnect`.  "world" is a body too.
        """
        a, b = self.model.body(body_a), self.model.body(body_b)
        poses = facade.forward_kinematics(self.model, self.q)
        point = poses[b][:3, 3] if at_world is None else np.array(vector3(at_world, "at_world"))
        m = self.model.arrays
        if m.body_link[a] == m.body_link[b]:
            raise ValueError(f"{body_a!r} and {body_b!r} are one rigid body already")
        if not self._state.pushed[m.body_link[[a, b]]].any():
            raise ValueError(f"neither {body_a!r} nor {body_b!r} can be pulled: they are fixed or placed")
        key = next((k for k, kind in enumerate(self._state.joined_kind) if kind == UNTIED), None)
        if key is None:
            raise ValueError(f"there is room for {len(self._state.joined_kind)} connections at once")
        at = [np.linalg.inv(poses[x]) @ np.array([*point, 1.0]) for x in (a, b)]
        R = poses[a][:3, :3].T @ poses[b][:3, :3]
        write_tie(self.model, self._state, key, (body_a, body_b, at[0][:3], at[1][:3], R, WELDED if weld else TIED))
        self._tied[key] = (body_a, body_b)
        return key

    def disconnect(self, connection: int) -> None:
        """Undo a `connect`."""
        if connection not in np.flatnonzero(self._state.joined_kind):
            raise ValueError(f"there is no connection {connection}")
        self._state.joined_kind[connection] = UNTIED

    # ---- what it says

    @property
    def contacts(self) -> list[Contact]:
        """Contacts of the last step, with its forces."""
        return contacts_of(self.model, self._arrays) if self._seen is None else list(self._seen[0])

    @property
    def report(self) -> StepReport:
        """What the last step took."""
        return report_of(self._arrays) if self._seen is None else self._seen[1]

    @property
    def asleep(self) -> tuple[str, ...]:
        """Names of the bodies that sleep."""
        return sleepers_of(self.model, self._state)

    def snapshot(self) -> Snapshot:
        """All that the next step depends on; `restore` goes on from it with the same bits."""
        return Snapshot(self.parts, self.time, {name: x.copy() for name, x in remembered(self._arrays).items()})

    def restore(self, snapshot: Snapshot) -> None:
        """Back to a snapshot of this world with the same bodies in it."""
        if snapshot.parts != self.parts:
            raise ValueError(
                f"the snapshot is of a world with {', '.join(snapshot.parts)}, not {', '.join(self.parts)}"
            )
        for name, x in remembered(self._arrays).items():
            x[...] = snapshot.arrays[name]
        self._state.stale = 1
        r = self._arrays.rows
        r.n_contacts = r.n_rows = r.n_kept  # no other is left over

    # ---- inside

    def _check_alone(self, cure: str) -> None:
        """A servo steps on the arrays of this world: nobody else may change or replace them."""
        if self.in_session:
            raise ValueError(f"a session runs on this world: {cure}")

    def _accept(self, part: Any) -> str:
        """Note a part under a name of its own."""
        if not isinstance(part, MultiBody):
            raise ValueError(f"a world is made of MultiBody descriptions, got {type(part).__name__}")
        name, copy = part.name, 1
        taken = {b.name for p in self._parts.values() for b in p.bodies}
        while name in self._parts or (copy > 1 and f"{name}/{part.bodies[0].name}" in taken):
            copy += 1
            name = f"{part.name}.{copy}"
        if copy > 1:
            part = replace(part.prefixed(f"{name}/"), name=name)
        self._parts[name] = part
        return name

    def _build(self) -> None:
        parts, gravity = list(self._parts.values()), self._options.gravity
        self._furnish(compile(parts) if gravity is None else compile(parts, gravity=gravity))

    def _furnish(self, model: Model) -> None:
        """Fresh arrays for a model of the parts."""
        arrays = build(
            model, self._options, {name: [b.name for b in part.bodies] for name, part in self._parts.items()}
        )
        self._model: Model = model
        self._arrays: Arrays = arrays
        self._state = arrays.state
        self._address = arrays.block.address
        self._seen = None

    def _rebuild(self) -> None:
        """New arrays after a change of bodies; what stays keeps its state by the names of its joints."""
        old_model, old = self._model, self._arrays
        self._build()
        model, new = self._model, self._arrays
        for name in set(model.joint_names) & set(old_model.joint_names):
            keep_joint(name, self._joint(name).child, (old_model, old.state), (model, new.state))
        new.state.time, new.state.tick, new.state.keeps_ledger = old.state.time, old.state.tick, old.state.keeps_ledger
        new.state.n_wrenches = 0
        new.state.ledger[:] = old.state.ledger
        new.contacts.lost = old.contacts.lost
        keep_ties((old_model, old.state), (model, new.state))

    def _joint(self, name: str) -> Joint:
        try:
            return next(j for j in self.model.description.joints if j.name == name)
        except StopIteration:
            raise ValueError(f"there is no joint {name!r}; known: {', '.join(self.model.joint_names)}") from None

    def _checked(self, value: ArrayLike, size: int, name: str) -> Floats:
        x = np.asarray(value, dtype=float)
        if x.shape != (size,):
            raise ValueError(f"{name} has shape {x.shape}, the world needs ({size},)")
        return x

    @property
    def fault(self) -> str:
        """What stopped the world, in words, after a step did."""
        return fault_of(self.model, self._arrays, (self._laws[0].name, self._laws[1].name))
