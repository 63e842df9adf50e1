"""From a Model and options to the arrays of a step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from palpate.collision import filters
from palpate.collision.contacts import Contacts, contacts
from palpate.collision.geometry import Shapes, shapes
from palpate.contact.rows import Rows, rows
from palpate.dynamics.workspace import Workspace, workspace
from palpate.jit import Block
from palpate.model.description import WORLD_NAME
from palpate.model.model import CHAIN, FREE, SPHERICAL, Floats, Model
from palpate.model.shapes import Material
from palpate.spatial.placement import Transform
from palpate.world.state import State

CONNECTIONS = 16  # room for so many at once
FARTHEST_M = 1e6  # where a body may be placed
INTEGRATORS = ("semi-implicit", "runge-kutta")
Pairs = Mapping[tuple[str, str], Material]
# names of two bodies, a point in the axes of each, the orientation of the second in the first, TIED or WELDED
Tie = tuple[str, str, Floats, Floats, Floats, int]


@dataclass(frozen=True)
class Options:
    """What a World was asked for; see World."""

    dt: float = 1e-3
    gravity: tuple[float, float, float] | None = None
    margin: float = 0.005
    full: bool = False
    ignore: tuple[tuple[str, str], ...] = ()
    pairs: Pairs | None = None
    tolerance: float = 1e-6
    budget: int = 400_000
    capacity: int | None = None
    ledger: bool = False
    integrator: str = "semi-implicit"
    sleep: bool = False
    laws: tuple[int, int] = (0, 0)  # addresses, friction and restitution
    law_states: tuple[int, int] = (0, 0)  # numbers that each keeps at a contact

    def __post_init__(self) -> None:
        if not (math.isfinite(self.dt) and 0.0 < self.dt <= 0.1):
            raise ValueError(f"dt must be a step of 0 .. 0.1 s, got {self.dt}")
        if not (0.0 < self.tolerance < 1.0):
            raise ValueError(f"the tolerance must be between 0 and 1, got {self.tolerance}")
        if self.budget < 1:
            raise ValueError(f"the budget must be at least 1, got {self.budget}")
        if self.integrator not in INTEGRATORS:
            raise ValueError(f"there is no integrator {self.integrator!r}; known: {', '.join(INTEGRATORS)}")
        if self.capacity is not None and self.capacity < 1:
            raise ValueError(f"the capacity must be at least one contact, got {self.capacity}")


@dataclass(frozen=True)
class Arrays:
    """All that one compiled step works on; lives as long as its World keeps this model."""

    shapes: Shapes
    work: Workspace
    contacts: Contacts
    rows: Rows
    state: State
    block: Block
    inner_blocks: tuple[Block, ...]  # of collision and rows, kept alive


def default_capacity(model: Model) -> int:
    """Contacts a scene may have at once: a dozen a body, and more for a few bodies with many points."""
    return max(256, 12 * model.n_links)


def build(model: Model, options: Options, parts: Mapping[str, Sequence[str]] | None = None) -> Arrays:
    """Fresh arrays, at q "start" or neutral and at rest; `parts` are names that `ignore` may use for several bodies."""
    if model.has_mimic:
        joint = next(j.name for j in model.description.joints if j.mimic is not None)
        raise ValueError(
            f"joint {joint!r} mimics another: a World steps trees only; make it a joint of its own or fix it"
        )
    touchable = shapes(model, options.ignore, parts)
    capacity = options.capacity or default_capacity(model)
    work = workspace(model)
    c = contacts(touchable.geometry, model.n_links, capacity, options.margin, work.R)
    collision_block = Block(touchable.geometry, c)
    axes = len(model.arrays.axis_v)
    r = rows(model, capacity + 2 * axes + 2 * CONNECTIONS, options.law_states)
    r.tolerance, r.budget = options.tolerance, options.budget
    rows_block = Block(r)
    state = _state(model, touchable, options, collision_block.address, rows_block.address)
    block = Block(model.arrays, work, touchable.geometry, c, r, state)
    return Arrays(touchable, work, c, r, state, block, (collision_block, rows_block))


def _state(model: Model, touchable: Shapes, options: Options, collision: int, rows_address: int) -> State:
    m, zeros = model.arrays, np.zeros
    nq, nv, A, B, K = model.nq, model.nv, len(m.axis_v), model.n_bodies, CONNECTIONS
    L = model.n_links
    q = model.posture("start") if "start" in model.description.postures else model.neutral()
    lower, upper = np.full(A, -np.inf), np.full(A, np.inf)
    for i in range(1, model.n_links):
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                lower[k], upper[k] = model.lower[m.axis_q[k]], model.upper[m.axis_q[k]]
    lone, spin = lone_links(model)
    middle, g = m.com.copy(), touchable.geometry
    middle[g.proxy_link[: len(g.proxy_link) - g.n_planes]] = g.proxy_centre[: len(g.proxy_link) - g.n_planes]
    static, sliding, bounce = pair_tables(touchable.materials, options.pairs or {})
    links = np.repeat(np.arange(model.n_links), m.axis_count)
    turns = np.array([m.kind[i] != FREE or k < m.axis_begin[i] + 3 for k, i in enumerate(links)], dtype=np.int64)
    return State(
        dt=options.dt, full=options.full, keeps_ledger=options.ledger, fourth=options.integrator == "runge-kutta",
        q=q, v=zeros(nv), a=zeros(nv), tau=zeros(nv), v_begin=zeros(nv), v_next=zeros(nv), q_next=zeros(nq),
        shift=zeros(nv), mean=zeros(nv), q_stage=zeros(nq), q_rate=zeros(nq),
        q_from=zeros(nq), v_from=zeros(nv), q_sum=zeros(nq), v_sum=zeros(nv), worked=zeros(nv), handed=zeros(L),
        parts=np.ones(L, dtype=np.int64), size=zeros(L), off=zeros(L),
        wrenches=zeros((B, 6)), torque=zeros(nv), armature=zeros(A),
        tree=m.root[links], chain=(m.kind[links] == CHAIN).astype(np.int64), turns=turns,
        kp=zeros(A), kv=model.damping[m.axis_v].copy(), q_hold=q.copy(), v_hold=zeros(nv), lower=lower, upper=upper,
        dry=model.friction[m.axis_v].copy(), dual=zeros((6, 6)), lone=lone, spin=spin,
        middle=middle, turned=zeros((model.n_links, 3)),
        way=zeros(model.n_links, dtype=np.int64), fast=zeros(model.n_links),
        known=np.full(model.n_links, -1), guided=zeros(model.n_links, dtype=np.int64),
        pushed=pushed_links(model),
        sleeps=options.sleep and options.laws == (0, 0) and lone.any(), stale=1, asleep=zeros(L, dtype=np.int64),
        calm=zeros(L, dtype=np.int64), tired=zeros(L, dtype=np.int64), q_rest=np.full(nq, np.inf),
        felt=zeros((L, 6)), felt_then=zeros((L, 6)), bears=zeros(L), group=zeros(L, dtype=np.int64),
        verdict=zeros(L, dtype=np.int64), seen=zeros(6 + 3 * static.size),
        joined=zeros(2 * K, dtype=np.int64), joined_kind=zeros(K, dtype=np.int64), joined_at=zeros((2 * K, 3)),
        joined_R=zeros((K, 9)),
        mu_static=static, mu_sliding=sliding, restitution=bounce, friction_law=options.laws[0],
        restitution_law=options.laws[1],
        ledger=zeros(5), work=zeros(nv), collision=collision, rows=rows_address,
    )  # fmt: skip


def lone_links(model: Model) -> tuple[np.ndarray, Floats]:
    """Which links are a tree by themselves on a free or spherical joint (L,), and their inertia for spinning (L, 6)."""
    m = model.arrays
    alone = (m.parent == 0) & (m.kind != CHAIN) & (np.bincount(m.root, minlength=model.n_links) == 1)
    alone[0] = False
    alone &= pushed_links(model) > 0  # what is placed has no inertia to spin with
    spin = m.inertia.copy()
    for i in np.flatnonzero(alone & (m.kind == SPHERICAL)):  # it turns about the joint, not its centre of mass
        x, y, z = m.com[i]
        spin[i] += m.mass[i] * np.array([y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z])
        k = m.axis_begin[i]
        spin[i, :3] += m.armature[k : k + 3]
    return alone.astype(np.int64), spin


def pushed_links(model: Model) -> np.ndarray:
    """For each link the one that a contact with it acts on (L,): itself, or the world for what is placed."""
    links = np.arange(model.n_links, dtype=np.int64)
    links[[model.arrays.body_link[row] for row in filters.placed(model)]] = 0
    return links


def why_not_placed(model: Model, body: str) -> str:
    """Why a body cannot be put elsewhere by itself, in one line; empty: it is placed, or free and alone."""
    joint, link = model.parent_joint(body), model.arrays.body_link[model.body(body)]
    if joint is None or link == 0:
        return f"{body!r} is fixed in the world and cannot be placed; make it with placed=True"
    if joint.kind != "free" or joint.parent != WORLD_NAME or np.count_nonzero(model.arrays.root == link) != 1:
        return f"{body!r} is part of a tree and cannot be placed by itself; write into q"
    return ""


def placeable(model: Model) -> tuple[np.ndarray, Floats]:
    """For compiled code: the link of every body (B,) that can be placed, 0 of the others; and transforms (B, 14), as
    positions and quaternions, that go before and after a body's frame in the world to give its coordinates."""
    links, around = np.zeros(model.n_bodies, dtype=np.int64), np.zeros((model.n_bodies, 14))
    for row, body in enumerate(model.body_names[1:], start=1):
        if not why_not_placed(model, body):
            joint = model.parent_joint(body)
            assert joint is not None
            before, after = joint.placement.inv(), joint.child_placement
            links[row] = model.arrays.body_link[row]
            around[row] = *before.p, *before.R.wxyz, *after.p, *after.R.wxyz
    return links, around


def placing(model: Model, body: str, X: Transform) -> tuple[int, slice, slice, Floats]:
    """A body's link, where its free joint's coordinates and velocities are, and coordinates (7,) that put it at X.

    X  the body's frame in the world; for a placed body, or a free one that carries nothing that moves
    """
    if not isinstance(X, Transform):
        raise ValueError(f"a body is placed by a Transform, got {type(X).__name__}")
    if why := why_not_placed(model, body):
        raise ValueError(why)
    if not max(map(abs, X.p)) <= FARTHEST_M:
        raise ValueError(f"{body!r} cannot be placed at {X.p}: beyond {FARTHEST_M:g} m there is nothing")
    joint = model.parent_joint(body)
    assert joint is not None
    X_q = joint.placement.inv() @ X @ joint.child_placement
    link = int(model.arrays.body_link[model.body(body)])
    return link, model.q_index[joint.name], model.v_index[joint.name], np.array([*X_q.p, *X_q.R.wxyz])


def keep_joint(name: str, child: str, before: tuple[Model, State], now: tuple[Model, State]) -> None:
    """The state of a joint, and of the body that it carries, from one model's arrays into another's."""
    (old_model, old), (model, new) = before, now
    qn, qo, vn, vo = model.q_index[name], old_model.q_index[name], model.v_index[name], old_model.v_index[name]
    for field in ("q", "q_hold"):
        getattr(new, field)[qn] = getattr(old, field)[qo]
    for field in ("v", "a", "tau", "v_hold", "work"):
        getattr(new, field)[vn] = getattr(old, field)[vo]
    axes = np.flatnonzero((model.arrays.axis_v >= vn.start) & (model.arrays.axis_v < vn.stop))
    was = np.flatnonzero((old_model.arrays.axis_v >= vo.start) & (old_model.arrays.axis_v < vo.stop))
    for field in ("kp", "kv"):
        getattr(new, field)[axes] = getattr(old, field)[was]
    link, old_link = (int(x.arrays.body_link[x.body(child)]) for x in (model, old_model))
    new.pushed[link] = link if old.pushed[old_link] else 0


def pair_tables(materials: Sequence[Material], pairs: Pairs) -> tuple[Floats, Floats, Floats]:
    """Static friction, sliding friction and restitution (T, T) of every two materials.

    A pair named in `pairs` has what is said there; others the geometric mean of friction, the larger restitution.
    """
    T = max(len(materials), 1)
    static, sliding, bounce = np.zeros((T, T)), np.zeros((T, T)), np.zeros((T, T))
    names = {material.name for material in materials}
    told: dict[frozenset[str], Material] = {}
    for both, material in pairs.items():
        for name in both:
            if name not in names:
                raise ValueError(
                    f"pairs names the material {name!r}, which no shape has; known: {', '.join(sorted(names))}"
                )
        told[frozenset(both)] = material
    for i, a in enumerate(materials):
        for j, b in enumerate(materials):
            pair = told.get(frozenset((a.name, b.name)))
            static[i, j] = pair.friction if pair else math.sqrt(a.friction * b.friction)
            slide_a, slide_b = (x.friction if x.friction_sliding is None else x.friction_sliding for x in (a, b))
            slide = pair.friction if pair and pair.friction_sliding is None else pair.friction_sliding if pair else None
            sliding[i, j] = math.sqrt(slide_a * slide_b) if slide is None else slide
            bounce[i, j] = pair.restitution if pair else max(a.restitution, b.restitution)
    return static, sliding, bounce


def write_tie(model: Model, s: State, k: int, tie: Tie) -> None:
    """Connection k into the arrays of a step, which alone say what is connected; from bodies to links."""
    a, b, at_a, at_b, R, kind = tie
    places = []
    for side, (body, at) in enumerate(((model.body(a), at_a), (model.body(b), at_b))):
        places.append(model.arrays.body_R[body].reshape(3, 3))
        s.joined[2 * k + side] = model.arrays.body_link[body]
        s.joined_at[2 * k + side] = model.arrays.body_p[body] + places[-1] @ at
    s.joined_R[k], s.joined_kind[k] = (places[0] @ R @ places[1].T).ravel(), kind


def keep_ties(before: tuple[Model, State], now: tuple[Model, State]) -> None:
    """Connections from one model's arrays into another's, but for those whose links are gone."""
    (old_model, old), (model, new) = before, now
    for k in np.flatnonzero(old.joined_kind):
        rows = [int(np.flatnonzero(old_model.arrays.body_link == link)[0]) for link in old.joined[2 * k : 2 * k + 2]]
        bodies = [old_model.body_names[row] for row in rows]
        if all(body in model.body_names for body in bodies):
            new.joined[2 * k : 2 * k + 2] = [model.arrays.body_link[model.body(body)] for body in bodies]
            new.joined_at[2 * k : 2 * k + 2] = old.joined_at[2 * k : 2 * k + 2]
            new.joined_R[k], new.joined_kind[k] = old.joined_R[k], old.joined_kind[k]
