"""The step in Python: the four modules as they are if nobody replaces them, made of public functions.

They do what world/step.py does: the same torques, rows, laws and integration (by the same kernels, one by one), but
dense matrices and `solve_contacts` in place of the fused solver.  Both agree to its tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.collision.facade import Collider, ContactPoint
from palpate.contact.facade import SolveReport, solve_contacts
from palpate.contact.mode import SLIPS_M_S
from palpate.contact.rows import CONTACT, DRY, IDLE, LIMIT
from palpate.dynamics import facade
from palpate.frame import CONTACT_MODES
from palpate.model.model import Floats
from palpate.world import module_entries as entries
from palpate.world.blows import ROUNDS
from palpate.world.bounce import ROUNDING
from palpate.world.build import Options, default_capacity
from palpate.world.mode_entries import contact_mode_entry
from palpate.world.modules import Answer, Dynamics, Modules, Stepped
from palpate.world.reading import fault_of, frame_of
from palpate.world.state import VELOCITY_FAULT
from palpate.world.views import Contact, StepReport, WorldError

if TYPE_CHECKING:
    from palpate.world.world import World

SLIDES_M_S = 1e-4  # where a handler does not say its coefficients, faster contacts slide
NEGLIGIBLE_M_S = 1e-7  # slower pushes are not worth a second solve


def defaults(options: Options) -> dict[str, Any]:
    """The modules of a World made with these options."""
    return {
        "dynamics": DefaultDynamics(),
        "collision": DefaultCollision(options.margin, options.ignore, options.full, options.capacity),
        "contact": DefaultContact(options.tolerance),
        "simulator": DefaultSimulator(),
    }


class DefaultDynamics:
    """H from `mass_matrix`, C v + G - J^T wrenches from `inverse_dynamics`."""

    def acceleration(self, world: World, torque: Floats, armature: Floats, wrenches: Floats) -> Floats:
        model = world.model
        self._H = facade.mass_matrix(model, world.q) + np.diag(armature)
        return self.solve(
            world, torque - facade.inverse_dynamics(model, world.q, world.v, np.zeros(model.nv), wrenches)
        )

    def solve(self, world: World, rhs: Floats) -> Floats:
        return np.asarray(np.linalg.solve(self._H, rhs), dtype=np.float64)


class DefaultCollision:
    """A `Collider`, made anew when the world's bodies change."""

    def __init__(
        self, margin: float = 0.005, ignore: Sequence[tuple[str, str]] = (), full: bool = False,
        capacity: int | None = None,
    ) -> None:  # fmt: skip
        self.margin, self.ignore, self.full, self.capacity = margin, tuple(ignore), full, capacity
        self._collider: Collider | None = None

    def contacts(self, world: World) -> list[ContactPoint]:
        if self._collider is None or self._collider.model is not world.model:
            room = self.capacity or default_capacity(world.model)
            parts = {name: [b.name for b in part.bodies] for name, part in world._parts.items()}
            self._collider = Collider(world.model, self.margin, self.ignore, self.full, room, parts)
        return self._collider.contacts(world.q)


class DefaultContact:
    """Everything that pushes, as one problem for `solve_contacts`: u = G l + c, G = A H^-1 A^T, c = A v_free + offset.

    A joint end is a contact without friction.  A dry joint is a contact whose normal impulse is tied to the bound of
    its friction, and whose tangent is the joint.  Connections, u = 0 in all directions, are eliminated beforehand.
    """

    def __init__(self, tolerance: float = 1e-6, budget: int = 1000) -> None:
        self.tolerance, self.budget = tolerance, budget

    def impulses(
        self, world: World, dynamics: Dynamics, contacts: Sequence[ContactPoint], v_free: Floats, dt: float
    ) -> Answer:
        r, n = world._arrays.rows, len(contacts)
        A = lay_rows(world, contacts)
        if len(A) == 0:
            return Answer(np.zeros((0, 3)))
        X = dynamics.solve(world, A.reshape(-1, world.model.nv).T).T.reshape(A.shape)  # H^-1 A^T, by rows
        R = len(A)
        kind, offset, push = r.kind[:R], r.offset[:R], r.push[:R]
        mu = np.where(kind == DRY, 1.0, np.where(kind == CONTACT, r.mu[:R], 0.0))
        blows, v = np.zeros((R, 3)), v_free
        for k in range(ROUNDS + 1):
            r.u[:R] = A @ v
            if k == ROUNDS:  # enough: nothing approaches
                r.u[:R, 0] = r.forced[:R, 0]
            chosen = entries.choose_blows_entry(world._address)
            if chosen < 0:
                raise WorldError(world.fault)
            if chosen == 0:
                break
            part, lam = kind < IDLE, np.zeros((R, 3))
            lam[part] = self._blow(r, part, A[part], X[part], A[part] @ v, mu[part])
            blows += lam
            v = v + np.einsum("rij,ri->j", X, lam)
        lam, solved = self._solve(A, X, kind, A @ v + offset, mu, r.bound[:R], r.lam[:R])
        r.lam[:R] = lam
        entries.remember_entry(world._address)
        shift = np.zeros(world.model.nv)
        if np.abs(push).max() > NEGLIGIBLE_M_S:
            open_by = np.maximum(offset, 0.0) * (kind <= LIMIT)[:, None]
            pushed, _ = self._solve(A, X, kind, open_by - push, 0.0 * mu, 0.0 * r.bound[:R], np.zeros((R, 3)))
            shift = np.einsum("rij,ri->j", X, pushed)
        lam = lam + blows
        m = min(n, int(r.n_contacts))
        impulses = np.zeros((n, 3))
        for i in range(m):
            impulses[i] = lam[i] @ frame_of(np.asarray(contacts[i].normal))
        return Answer(impulses, np.einsum("rij,ri->j", A[m:], lam[m:]), shift, r.mu[:m].copy(), solved)

    def _blow(self, r: Any, part: np.ndarray, A: Floats, X: Floats, u: Floats, mu: Floats) -> Floats:
        """Impulses (r, 3) of one round at velocities u (r, 3); where they would create energy, in part (bounce.py)."""
        rows = np.flatnonzero(part)
        kind, offset, bound, elastic = r.kind[rows], r.offset[rows], r.bound[rows], r.elastic[rows] > 0
        forced = np.where(elastic[:, None], r.forced[rows], 0.0)
        G = np.einsum("rij,skj->risk", A, X)  # blocks (r, s) of A H^-1 A^T

        def energies(l: Floats) -> Floats:  # that impulses add, row by row [J]
            return np.asarray(np.einsum("ri,ri->r", l, u + 0.5 * np.einsum("risk,sk->ri", G, l) - forced))

        whole, _ = self._solve(A, X, kind, u + offset, mu, bound, 0.0 * u)
        lowered = offset.copy()
        lowered[elastic, 0] = -forced[elastic, 0]
        none, used = None, whole.copy()
        for island in components(np.abs(G).max(axis=(1, 3)) > 0.0):
            stopped = np.abs(np.sum(whole * u, axis=1))[island].sum()
            if energies(whole)[island].sum() > ROUNDING * stopped:
                none = self._solve(A, X, kind, u + lowered, mu, bound, 0.0 * u)[0] if none is None else none
                l, d = np.zeros(u.shape), np.zeros(u.shape)
                l[island], d[island] = none[island], (whole - none)[island]
                at_rest, there, bend = (energies(x).sum() for x in (l, l + d, d))
                bend -= np.sum(d * (u - forced))
                used[island] = (l + entries.part_entry(at_rest, there - at_rest - bend, bend) * d)[island]
        return used

    def _solve(
        self, A: Floats, X: Floats, kind: np.ndarray, c: Floats, mu: Floats, bound: Floats, warm: Floats
    ) -> tuple[Floats, SolveReport]:
        """Impulses (R, 3) of all rows for velocities c (R, 3) without them."""
        nv, lam = A.shape[2], np.zeros(c.shape)
        one, tied = np.flatnonzero(kind <= DRY), np.flatnonzero(kind > DRY)
        A1, X1, At, Xt = (x[rows].reshape(-1, nv) for rows in (one, tied) for x in (A, X))
        G, cross, own = A1 @ X1.T, A1 @ Xt.T, At @ Xt.T
        hold = np.linalg.pinv(own) if len(tied) else own
        c1, ct = c[one].ravel(), c[tied].ravel()
        G, c1 = G - cross @ hold @ cross.T, c1 - cross @ hold @ ct
        guess = warm[one].copy()
        dry = np.flatnonzero(kind[one] == DRY)
        for k, row in enumerate(one):
            if kind[row] == CONTACT and mu[row] > 0.0:
                continue
            n, g = 3 * k, G[3 * k, 3 * k]
            if kind[row] == DRY:  # the joint becomes the first tangent
                G[[n, n + 1]] = G[[n + 1, n]]
                G[:, [n, n + 1]] = G[:, [n + 1, n]]
                c1[n : n + 3] = -g * bound[row], c1[n], 0.0
                guess[k] = bound[row], guess[k, 0], 0.0
            unused = (n, n + 2) if kind[row] == DRY else (n + 1, n + 2)
            for j in unused:
                G[j], G[:, j] = 0.0, 0.0
                G[j, j] = g
            c1[n + 2] = 0.0
            if kind[row] != DRY:
                c1[n + 1] = 0.0
        l, solved = solve_contacts(0.5 * (G + G.T), c1, mu[one], self.tolerance, guess.ravel(), self.budget)
        lam[one] = l.reshape(-1, 3)
        lam[one[dry]] = np.column_stack([lam[one[dry], 1], np.zeros((len(dry), 2))])
        lam[tied] = -(hold @ (ct + cross.T @ lam[one].ravel())).reshape(-1, 3)
        return lam, solved


class DefaultSimulator:
    """v_free = v + dt a;  v+ = v_free + H^-1 (J^T impulses + joints);  q+ = q (+) dt (v+ + shift)."""

    def step(self, world: World, dt: float) -> Stepped:
        modules = world.modules
        assert modules is not None
        dynamics = modules.dynamics
        torque, armature = joint_torques(world)
        v_free = free_velocity(world, dynamics.acceleration(world, torque, armature, world.wrenches))
        contacts = list(modules.collision.contacts(world))
        answer = modules.contact.impulses(world, dynamics, contacts, v_free, dt)
        J = [relative_jacobian(world, c) for c in contacts]
        push = sum((Ji[3:].T @ l for Ji, l in zip(J, answer.impulses, strict=True)), np.zeros(world.model.nv))
        v = v_free + dynamics.solve(world, push if answer.joints is None else push + answer.joints)
        seen = [_contact(c, Ji @ v, answer, i, dt) for i, (c, Ji) in enumerate(zip(contacts, J, strict=True))]
        q, v = advance(world, v, v if answer.shift is None else v + answer.shift, contacts)
        return Stepped(q, v, seen, _report(world, contacts, answer))


# ---- what they are made of


def components(touch: np.ndarray) -> list[np.ndarray]:
    """Groups of what is joined by `touch` (r, r), directly or through others: indices of each."""
    group = np.arange(len(touch))
    for i, j in np.argwhere(touch):
        group[group == group[i]] = group[j]
    return [np.flatnonzero(group == k) for k in np.unique(group)]


def joint_torques(world: World) -> tuple[Floats, Floats]:
    """world.tau with springs and dampers (nv,), and the inertia that makes them implicit (nv,)."""
    entries.torques_entry(world._address)
    s, m = world._arrays.state, world.model.arrays
    armature = np.zeros(world.model.nv)
    armature[m.axis_v] = s.armature - m.armature
    return s.torque.copy(), armature


def free_velocity(world: World, a: Floats) -> Floats:
    """v + dt a (nv,) in the axes of the beginning of the step; bodies that spin alone by the midpoint rule."""
    s = world._arrays.state
    s.a[:] = a
    entries.free_velocities_entry(world._address)
    return s.v_next.copy()


def advance(world: World, v: Floats, move: Floats, contacts: Sequence[ContactPoint]) -> tuple[Floats, Floats]:
    """q a step further along `move` (nv,), and v (nv,) in its axes.  What flies goes by its mean velocity."""
    s, m, touched = world._arrays.state, world.model.arrays, world._arrays.rows.link_slot
    touched[:] = 0
    for c in contacts:
        touched[[m.body_link[world.model.body(c.body_a)], m.body_link[world.model.body(c.body_b)]]] = 1
    touched[s.joined[np.repeat(s.joined_kind != 0, 2)]] = 1
    for i in range(1, world.model.n_links):
        axes = slice(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i])
        touched[i] |= bool((s.dry[axes] > 0.0).any())
    s.v_next[:], s.shift[:] = v, move
    entries.advance_entry(world._address)
    return s.q_next.copy(), s.v_next.copy()


def relative_jacobian(world: World, contact: ContactPoint) -> Floats:
    """(6, nv): J v is the velocity (angular, linear) of body_b past body_a at the contact, world axes."""
    model, J = world.model, np.zeros((6, world.model.nv))
    poses = facade.forward_kinematics(model, world.q)
    for name, sign in ((contact.body_b, 1.0), (contact.body_a, -1.0)):
        body = model.body(name)
        at = poses[body][:3, :3].T @ (np.asarray(contact.point) - poses[body][:3, 3])
        J += sign * facade.jacobian(model, world.q, name, at)
    return J


def lay_rows(world: World, contacts: Sequence[ContactPoint]) -> Floats:
    """Rows of contacts, joint ends, dry joints and connections into the world's arrays; A (R, 3, nv): u = A v."""
    arrays, model = world._arrays, world.model
    c, r, m = arrays.contacts, arrays.rows, model.arrays
    names = {name: k for k, name in enumerate(arrays.shapes.names)}
    fit = contacts[: len(c.gap)]
    c.count, c.candidates = len(fit), len(contacts)
    c.lost += len(contacts) - len(fit)
    for i, x in enumerate(fit):
        a, b = model.body(x.body_a), model.body(x.body_b)
        if m.body_link[b] == 0:
            raise ValueError(f"contact of {x.body_a!r} and {x.body_b!r}: one that does not move must be the first")
        if not arrays.state.pushed[m.body_link[[a, b]]].any():
            raise ValueError(
                f"contact of {x.body_a!r} and {x.body_b!r}: neither can be pushed, they are fixed or placed"
            )
        c.link_a[i], c.link_b[i] = m.body_link[a], m.body_link[b]
        c.shape_a[i] = names[x.shape_a] if x.shape_a in names else _first_shape(world, a)
        c.shape_b[i] = names[x.shape_b] if x.shape_b in names else _first_shape(world, b)
        c.point[i], c.normal[i], c.gap[i], c.feature[i] = x.point, x.normal, x.gap, x.feature
    if not entries.rows_entry(world._address):
        raise WorldError(world.fault)
    R = int(r.n_rows)
    links = r.slot[: 2 * R].reshape(R, 2)
    poses = facade.forward_kinematics(model, world.q)
    twist = {0: np.zeros((6, model.nv))}  # of a link about its tree's reference point
    for link in np.unique(links):
        if link:
            body = int(np.flatnonzero(m.body_link == link)[0])
            origin = arrays.work.origin[m.root[link]]
            twist[link] = facade.jacobian(model, world.q, body, poses[body][:3, :3].T @ (origin - poses[body][:3, 3]))
    J = r.J[:R].reshape(R, 2, 3, 6)
    return np.array([J[i, 0] @ twist[x] + J[i, 1] @ twist[y] for i, (x, y) in enumerate(links)]).reshape(R, 3, model.nv)


def _first_shape(world: World, body: int) -> int:
    g = world._arrays.shapes.geometry
    found = np.flatnonzero(g.body == body)
    if not len(found):
        raise ValueError(f"{world.model.body_names[body]!r} has no shape, hence no material, for a contact")
    return int(found[0])


def _contact(c: ContactPoint, u: Floats, answer: Answer, i: int, dt: float) -> Contact:
    """A contact with its force and mode; u its velocities after the step (angular, linear)."""
    impulse, normal = answer.impulses[i], np.asarray(c.normal, dtype=float)
    n = float(impulse @ normal)
    friction = impulse - n * normal
    size, slip = float(np.linalg.norm(friction)), u[3:] - (u[3:] @ normal) * normal
    across = np.cross(normal, (0.0, 0.0, 1.0) if abs(normal[2]) < 0.9 else (1.0, 0.0, 0.0))
    turn = u[:3] - (u[:3] @ normal) * normal
    speed = float(np.linalg.norm(slip))
    # without a coefficient any friction may be all there is, and only a visible slip is one
    mu, least = (0.0, SLIDES_M_S) if answer.mu is None else (answer.mu[i] if i < len(answer.mu) else 0.0, SLIPS_M_S)
    mode = CONTACT_MODES[contact_mode_entry(n, size**2, float(mu), speed**2, least, float(turn @ turn))]
    tangent = friction / size if size > 0.0 else across / np.linalg.norm(across)
    return Contact(c.body_a, c.body_b, np.array(c.point), normal.copy(), tangent, float(c.gap), impulse / dt, mode)


def _report(world: World, contacts: Sequence[ContactPoint], answer: Answer) -> StepReport:
    c, s = world._arrays.contacts, answer.solved
    rows = len(contacts) if s is None else int(world._arrays.rows.n_rows)
    return StepReport(
        contacts=min(len(contacts), len(c.gap)), candidates=len(contacts), rows=rows, islands=int(rows > 0),
        sweeps=s.sweeps if s else 0, newton=s.newton if s else 0, admm=s.admm if s else 0,
        residual=s.residual if s else 0.0, residual_m_s=s.residual_m_s if s else 0.0,
        relative_residual=s.relative_residual if s else 0.0,
        multi_roots=s.multi_roots if s else 0, ran_out=int(bool(s and not s.converged)), lost=c.lost,
    )  # fmt: skip


def step_in_python(world: World, modules: Modules) -> tuple[list[Contact], StepReport]:
    """Let the simulator make the next state, and take it if it is one."""
    stepped, s = modules.simulator.step(world, world.dt), world._arrays.state
    q, v = np.asarray(stepped.q, dtype=float), np.asarray(stepped.v, dtype=float)
    if q.shape != s.q.shape or v.shape != s.v.shape:
        raise ValueError(f"the simulator gave q {q.shape} and v {v.shape}, the world needs {s.q.shape} and {s.v.shape}")
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        bad = np.flatnonzero(~np.isfinite(v))
        s.fault, s.fault_at = VELOCITY_FAULT, bad[0] if len(bad) else 0
        raise WorldError(fault_of(world.model, world._arrays, ("", "")))
    s.q[:], s.v[:] = q, v
    s.wrenches[:] = 0.0
    s.n_wrenches = 0
    s.tick += 1
    s.time = s.tick * world.dt
    report = stepped.report or _report(world, [], Answer(np.zeros((0, 3))))
    return list(stepped.contacts), report
