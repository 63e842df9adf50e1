"""What the solver works on: touching links, rows of constraints between them, and the inverse inertia that joins them.

A *slot* is a link that something acts on; slot 0 is the world.  Slots of one tree lie together.  A *row* here means a
block of up to three scalar rows (n, t1, t2) between two slots:

CONTACT  the cone |l_t| <= mu l_n, u_n >= 0
LIMIT    l_n >= 0, u_n >= 0                       a joint at its end
DRY      |l_n| <= bound                           dry friction of a joint
POINT    u = 0, three directions                  two points held together
TURN     u = 0, three axes                        two orientations held together
IDLE     l = 0                                    a contact that nothing can open or close: its normal passes through
                                                  the centre of the joints between; it belongs to no island
WAITING  l = 0                                    takes no part in a round of blows (world/blows.py); nor does this

u = J_a W_a + J_b W_b + offset,  W the twists of the slots' links (angular, linear), world axes, about their trees'
reference points;  l is the impulse on b, its opposite acts on a, and J_a has that sign in it.
"""

from __future__ import annotations

import numpy as np

from palpate.jit import Struct, block_loader
from palpate.model.model import FREE, Floats1, Floats2, Ints1, Model

CONTACT, LIMIT, DRY, POINT, TURN, IDLE, WAITING = range(7)

NEWTON_SLOTS = 2048  # islands of more nodes are swept
BLOCKS_PER_SLOT = 40  # room in the factor of an island; what needs more is swept
PREPARED = 7  # numbers kept of each row's own 3x3 block (single.py)


class Rows(Struct):
    """S slots, C rows, L links.  Filled anew in every step."""

    tolerance: float
    budget: float  # rows that may be visited in a step
    until_ns: int  # by when it should be done, on the monotonic clock; 0: the budget alone ends it (deadline.py)
    island_until_ns: int  # the part of it that an island has
    # how many there are
    n_slots: int
    n_rows: int
    n_contacts: int
    n_kept: int  # the first so many rows are of contacts that sleep: IDLE, with the impulses they fell asleep with
    n_islands: int
    n_warm: int
    n_blocks: int
    n_nodes: int
    n_pieces: int
    n_elastic: int
    n_rounds: int
    n_watched: int
    hashed: int  # places of `hash` in use for the keys of the last step, 0: none
    # what the last step took
    sweeps: int
    newton: int
    admm: int
    multi_roots: int  # contacts with several solutions
    ran_out: int  # islands whose budget was not enough
    # the worst that was left of it
    residual: float  # [N s, N m s]
    relative: float
    speed: float  # [m/s, rad/s]
    # slots
    link_slot: Ints1  # (L,) slot of a link, 0: none
    mark: Ints1  # (L,) 0: nothing touches it or what it carries; else 1 + its marked children
    slot_link: Ints1  # (S,)
    slot_first: Ints1  # (S,) first slot of the same tree
    slot_count: Ints1  # (S,) slots of the same tree
    table_at: Ints1  # (S,) where the slot's six rows of the table begin
    table: Floats1  # Om: for each tree a dense (6k, 6k) matrix, k its slots
    link_Om: Floats2  # (L, 36) the diagonal block of marked links
    alone: Ints1  # (L,) 1: a marked link that floats by itself, and
    inertia: Floats2  # (L, 36) the inverse of its Om
    carry: Floats2  # (L, 36) block between a marked link and the slot in hand
    link_W: Floats2  # (L, 6) twist of marked links without impulses, then impulses on their way to the joints
    W: Floats1  # (6S,) twists of the slots with the impulses so far
    W_free: Floats1  # (6S,) without any
    P: Floats1  # (6S,) sum of impulses on each slot: (moment, impulse)
    dW: Floats1  # (6S,) change of the twists
    # rows
    kind: Ints1  # (C,)
    slot: Ints1  # (2C,) slots a, b of each row
    J: Floats2  # (C, 36) three rows of six on the twist of a, then three on that of b
    Y: Floats2  # (C, 36) Om J^T of each side, as J lies: what unit impulses do to a link that is its tree's only slot
    G: Floats2  # (C, 6) own block J Om J^T: nn, 11, 22, n1, n2, 12
    prepared: Floats2  # (C, 7) what the local solve needs of G
    scale: Floats1  # (C,) g, the mean of G's diagonal
    soft: Floats1  # (C,) what is added to G_nn where positions are projected (project.py)
    unit: Floats1  # (C,) velocity by which its residual is measured [m/s, rad/s] (residual.py)
    offset: Floats2  # (C, 3) target velocities: gap / dt, restitution
    push: Floats2  # (C, 3) velocities that take out penetration and drift, for positions only
    mu: Floats1  # (C,)
    bound: Floats1  # (C,) [N s] of DRY
    elastic: Ints1  # (C,) 1: a contact that may bounce
    forced: Floats2  # (C, 3) what forces do to its velocity in this step [m/s], of elastic rows
    blow: Floats2  # (C, 3) impulses of the step's blows
    held: Floats2  # (C, 3) warm start, while there are blows
    whole: Floats2  # (C, 3) impulses of a blow that would create energy, used in part
    lam: Floats2  # (C, 3) impulses
    best: Floats2  # (C, 3) the best so far
    fresh: Ints1  # (C,) 1: it has no warm start
    stepped: Ints1  # (C,) 1: the row's impulse is of a step of Newton, in the last step or, once solved, in this one
    u: Floats2  # (C, 3) velocities
    dlam: Floats2  # (C, 3) a Newton step, and
    du: Floats2  # (C, 3) what it does to u
    MF: Floats2  # (C, 3) see newton.py
    MN: Floats2  # (C, 9)
    key: Ints1  # (C,) by which a row is known again (warm.py)
    order: Ints1  # (2C,) rows island by island, then those of a part (troubled.py)
    island: Ints1  # (C,) island of a row
    watched: Ints1  # (C,) 1: a contact that is left out while it stays open (watched.py)
    # islands: slots of island k are island_slots[begin[k]:begin[k + 1]]
    group: Ints1  # (S,) union-find over slots
    island_of: Ints1  # (S,)
    island_slots: Ints1  # (2S,)
    hurry: Floats1  # (S,) fastest approach at a tree, in the row of its first slot [m/s]
    unsolved: Ints1  # (S,) 1: its island has to be solved, or solved again
    left_over: Floats2  # (S, 3) residual, relative and speed of an island, in the row of its first slot
    ring: Ints1  # (S,) how near the first slot of a tree is to what is not solved yet
    partly: Ints1  # (S,) 1: an island that bounces in part (world/bounce.py)
    slots_begin: Ints1  # (S + 1,)
    rows_begin: Ints1  # (S + 1,)
    local: Ints1  # (S,) node of a slot within its island (unknowns.py)
    # the linear system of Newton and ADMM
    tree_axes: Ints1  # (L,) axes of the tree of a link, and
    floating: Ints1  # (L,) whether its root is free; never changed
    slot_nodes: Ints1  # (S,) nodes of a slot's tree if it is reduced, else 0
    root: Floats1  # R of reduced trees, where the table has Om
    left: Floats1  # (6S,) diagonal that is left while R is made
    piece_begin: Ints1  # (C + 1,) pieces of the k-th row of an island
    piece_node: Ints1  # (P,)
    piece: Floats2  # (P, 18) three rows of six on a node
    y: Floats1  # (6n,) by nodes
    neighbours: Ints1  # (n n / 64,) of nodes (ordering.py)
    of_degree: Ints1  # (n n / 64,)
    remaining: Ints1  # (n / 64,)
    degree: Ints1  # (n,)
    eliminated: Ints1  # (n,) nodes of an island in the order of elimination
    block: Ints1  # (n n,)
    later_begin: Ints1  # (n + 1,)
    later: Ints1  # (B / 2,)
    N: Floats2  # (B, 36) blocks of the system, then their factors (factor.py)
    in_N: Ints1  # (B,) 1: that block is not zero
    F: Floats2  # (T, 36) blocks in hand, T the most slots of a tree
    clock: Ints1  # (2,) scratch of the clock
    # warm start: impulses of the last step by key
    warm_key: Ints1  # (C,)
    warm_impulse: Floats2  # (C, 4) and whether a step of Newton was needed
    hash: Ints1  # (H,) rows of warm_*, by key
    # what the laws keep at each contact (contact/laws); k = 0 for one that keeps nothing
    friction_state: Floats2  # (C, k)
    restitution_state: Floats2  # (C, k)
    warm_friction: Floats2  # (C, k) the same after the last step
    warm_restitution: Floats2  # (C, k)


load_rows = block_loader((Rows, False))


def rows(model: Model, capacity: int, state_sizes: tuple[int, int] = (0, 0)) -> Rows:
    """Room for `capacity` rows on the links of a model; state_sizes: of the friction and the restitution law."""
    L, C = model.n_links, capacity
    S = min(L, 2 * C + 1)
    trees = np.bincount(model.arrays.root, minlength=L)[1:]
    table = int(sum((6 * min(k, 2 * C)) ** 2 for k in trees))
    n = min(S, NEWTON_SLOTS)
    words = -(-n // 64)
    B = min(n * n, BLOCKS_PER_SLOT * n)
    floating = (model.arrays.kind[model.arrays.root] == FREE) & (np.arange(L) > 0)
    axes = np.bincount(model.arrays.root, weights=model.arrays.axis_count, minlength=L).astype(np.int64)
    nodes = max((int(-(-axes[k] // 6)) for k in range(1, L) if axes[k] < 6 * (trees[k - 1] - 1)), default=1)
    zeros = np.zeros

    def ints(*shape: int) -> np.ndarray:
        return zeros(shape, dtype=np.int64)

    H = 1 << (2 * C - 1).bit_length()
    return Rows(
        link_slot=ints(L), mark=ints(L), slot_link=ints(S), slot_first=ints(S), slot_count=ints(S), table_at=ints(S),
        table=zeros(max(table, 1)), link_Om=zeros((L, 36)), alone=ints(L), inertia=zeros((L, 36)), carry=zeros((L, 36)),
        link_W=zeros((L, 6)), W=zeros(6 * S), W_free=zeros(6 * S), P=zeros(6 * S), dW=zeros(6 * S),
        kind=ints(C), slot=ints(2 * C), J=zeros((C, 36)), Y=zeros((C, 36)), G=zeros((C, 6)),
        prepared=zeros((C, PREPARED)), scale=zeros(C), soft=zeros(C), unit=zeros(C),
        offset=zeros((C, 3)), push=zeros((C, 3)), mu=zeros(C),
        bound=zeros(C), elastic=ints(C), forced=zeros((C, 3)), blow=zeros((C, 3)),
        held=zeros((C, 3)), whole=zeros((C, 3)),
        lam=zeros((C, 3)), best=zeros((C, 3)), fresh=ints(C), stepped=ints(C), u=zeros((C, 3)),
        dlam=zeros((C, 3)), du=zeros((C, 3)), MF=zeros((C, 3)),
        MN=zeros((C, 9)), order=ints(2 * C), island=ints(C), watched=ints(C),
        group=ints(S), island_of=ints(S), island_slots=ints(2 * S),
        hurry=zeros(S), unsolved=ints(S), left_over=zeros((S, 3)), ring=ints(S), partly=ints(S),
        slots_begin=ints(S + 1), rows_begin=ints(S + 1),
        local=ints(S), tree_axes=axes[model.arrays.root], floating=floating.astype(np.int64),
        slot_nodes=ints(S), root=zeros(max(table, 1)),
        left=zeros(6 * S),
        piece_begin=ints(C + 1), piece_node=ints(2 * C * nodes), piece=zeros((2 * C * nodes, 18)), y=zeros(6 * n),
        neighbours=ints(n * words), of_degree=ints(n * words), remaining=ints(words), degree=ints(n),
        eliminated=ints(n), block=ints(n * n), later_begin=ints(n + 1), later=ints(B), in_N=ints(B), N=zeros((B, 36)),
        F=zeros((min(int(trees.max(initial=1)), 2 * C), 36)), clock=ints(2),
        warm_key=ints(C), warm_impulse=zeros((C, 4)), key=ints(C), hash=ints(H),
        friction_state=zeros((C, state_sizes[0])), restitution_state=zeros((C, state_sizes[1])),
        warm_friction=zeros((C, state_sizes[0])), warm_restitution=zeros((C, state_sizes[1])),
    )  # fmt: skip
