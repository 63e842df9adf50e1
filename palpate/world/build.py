"""From a Model and options to the arrays of a step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from palpate.collision import filters
from palpate.collision.contacts import Contacts, contacts
from palpate.collision.geometry import Shapes, shapes
from palpate.contact.rows import BUDGET, TOLERANCE, Rows, rows
from palpate.dynamics.workspace import Workspace, workspace
from palpate.jit import Block
from palpate.model.description import WORLD_NAME
from palpate.model.model import CHAIN, FREE, SPHERICAL, Floats, Model
from palpate.model.shapes import Material
from palpate.spatial.placement import Transform
from palpate.world.connections import FREE as UNTIED
from palpate.world.state import DT_S, FOURTH, FULL, LEDGER, State

CONNECTIONS = 16  # room for so many at once
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
    budget: int = 12_000
    capacity: int | None = None
    ledger: bool = False
    integrator: str = "semi-implicit"
    laws: tuple[int, int] = (0, 0)  # addresses, friction and restitution

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
    r = rows(model, capacity + 2 * axes + 2 * CONNECTIONS)
    r.number[TOLERANCE], r.number[BUDGET] = options.tolerance, options.budget
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
    number, integer = zeros(4), zeros(8, dtype=np.int64)
    number[DT_S] = options.dt
    integer[FULL], integer[LEDGER], integer[FOURTH] = options.full, options.ledger, options.integrator == "runge-kutta"
    return State(
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
        joined=zeros(2 * K, dtype=np.int64), joined_kind=zeros(K, dtype=np.int64), joined_at=zeros((2 * K, 3)),
        joined_R=zeros((K, 9)),
        mu_static=static, mu_sliding=sliding, restitution=bounce, laws=np.array(options.laws, dtype=np.int64),
        number=number, integer=integer, ledger=zeros(8), work=zeros(nv), collision=collision, rows=rows_address,
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


def placing(model: Model, body: str, X: Transform) -> tuple[int, slice, slice, Floats]:
    """A body's link, where its free joint's coordinates and velocities are, and coordinates (7,) that put it at X.

    X  the body's frame in the world; for a placed body, or a free one that carries nothing that moves
    """
    if not isinstance(X, Transform):
        raise ValueError(f"a body is placed by a Transform, got {type(X).__name__}")
    joint = model.parent_joint(body)
    if joint is None or model.arrays.body_link[model.body(body)] == 0:
        raise ValueError(f"{body!r} is fixed in the world and cannot be placed; make it with placed=True")
    link, root = model.arrays.body_link[model.body(body)], model.arrays.root
    if joint.kind != "free" or joint.parent != WORLD_NAME or np.count_nonzero(root == link) != 1:
        raise ValueError(f"{body!r} is part of a tree and cannot be placed by itself; write into q")
    X_q = joint.placement.inv() @ X @ joint.child_placement
    return int(link), model.q_index[joint.name], model.v_index[joint.name], np.array([*X_q.p, *X_q.R.wxyz])


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


def write_ties(model: Model, s: State, ties: Mapping[int, Tie]) -> None:
    """The connections into the arrays of a step, from bodies to links."""
    s.joined_kind[:] = UNTIED
    for k, (a, b, at_a, at_b, R, kind) in ties.items():
        links, places = [], []
        for body, at in ((model.body(a), at_a), (model.body(b), at_b)):
            links.append(model.arrays.body_link[body])
            places.append(model.arrays.body_R[body].reshape(3, 3))
            s.joined_at[2 * k + len(links) - 1] = model.arrays.body_p[body] + places[-1] @ at
        s.joined[2 * k : 2 * k + 2], s.joined_kind[k] = links, kind
        s.joined_R[k] = (places[0] @ R @ places[1].T).ravel()
