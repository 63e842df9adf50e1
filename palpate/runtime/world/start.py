"""The start of a session: all that the next step of its world depends on, as it was then; where a reset goes.

A Start has what a Snapshot of the World has, by the same names, so that nothing can be forgotten.
"""

from __future__ import annotations

from palpate.jit import Struct, block_loader, kernel
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.world.state import load as load_world


class Start(Struct):
    """World.snapshot().arrays."""

    q: Floats1
    v: Floats1
    a: Floats1
    tau: Floats1
    wrenches: Floats2
    kp: Floats1
    kv: Floats1
    q_hold: Floats1
    v_hold: Floats1
    joined: Ints1
    joined_kind: Ints1
    joined_at: Floats2
    joined_R: Floats2
    time: float
    tick: int
    keeps_ledger: int
    n_wrenches: int
    fault: int
    fault_at: int
    ledger: Floats1
    work: Floats1
    pushed: Ints1
    known: Ints1
    n_asleep: int
    asleep: Ints1
    calm: Ints1
    q_rest: Floats1
    felt_then: Floats2
    bears: Floats1
    seen: Floats1
    warm_key: Ints1
    warm_impulse: Floats2
    n_warm: int
    warm_friction: Floats2
    warm_restitution: Floats2
    n_kept: int
    lam: Floats2
    mu: Floats1
    kept: int
    link_a: Ints1
    link_b: Ints1
    shape_a: Ints1
    shape_b: Ints1
    feature: Ints1
    point: Floats2
    normal: Floats2
    gap: Floats1
    still: Ints1


load_start = block_loader((Start, False))


@kernel
def put(to, values):
    for i in range(to.shape[0]):
        to[i] = values[i]


@kernel
def put_rows(to, values):
    for i in range(to.shape[0]):
        for j in range(to.shape[1]):
            to[i, j] = values[i, j]


@kernel
def restore_sleepers(contacts, rows, now, then):
    """Who slept, and their contacts."""
    now.n_asleep, now.stale = then.n_asleep, 1
    put(now.asleep, then.asleep)
    put(now.calm, then.calm)
    put(now.q_rest, then.q_rest)
    put_rows(now.felt_then, then.felt_then)
    put(now.bears, then.bears)
    put(now.seen, then.seen)
    rows.n_kept, contacts.kept = then.n_kept, then.kept
    put_rows(rows.lam, then.lam)
    put(rows.mu, then.mu)
    put(contacts.link_a, then.link_a)
    put(contacts.link_b, then.link_b)
    put(contacts.shape_a, then.shape_a)
    put(contacts.shape_b, then.shape_b)
    put(contacts.feature, then.feature)
    put_rows(contacts.point, then.point)
    put_rows(contacts.normal, then.normal)
    put(contacts.gap, then.gap)
    put(contacts.still, then.still)


@kernel
def restore(world, start):
    """The world at one address as the Start at another has it; no contact is left over but of those who slept."""
    _, _, _, contacts, rows, now = load_world(world)
    then = load_start(start)[0]
    put(now.q, then.q)
    put(now.v, then.v)
    put(now.a, then.a)
    put(now.tau, then.tau)
    put_rows(now.wrenches, then.wrenches)
    put(now.kp, then.kp)
    put(now.kv, then.kv)
    put(now.q_hold, then.q_hold)
    put(now.v_hold, then.v_hold)
    put(now.joined, then.joined)
    put(now.joined_kind, then.joined_kind)
    put_rows(now.joined_at, then.joined_at)
    put_rows(now.joined_R, then.joined_R)
    now.time, now.tick, now.keeps_ledger = then.time, then.tick, then.keeps_ledger
    now.n_wrenches, now.fault, now.fault_at = then.n_wrenches, then.fault, then.fault_at
    put(now.ledger, then.ledger)
    put(now.work, then.work)
    put(now.pushed, then.pushed)
    put(now.known, then.known)
    put(rows.warm_key, then.warm_key)
    put_rows(rows.warm_impulse, then.warm_impulse)
    put_rows(rows.warm_friction, then.warm_friction)
    put_rows(rows.warm_restitution, then.warm_restitution)
    rows.n_warm = then.n_warm
    restore_sleepers(contacts, rows, now, then)
    rows.n_contacts, rows.n_rows = rows.n_kept, rows.n_kept
