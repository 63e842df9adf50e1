"""Copies of a world take turns in the arrays of a step, of which every thread has its own.

A copy is a row of words: what the next step depends on and what may differ from copy to copy, a few kilobytes.  The
arrays of a step are a hundred times as many, so they are a thread's, and stay in its cache.  Which thread takes which
copy is decided as they go; a step depends on nothing that others left in the arrays, so nothing depends on that.

t Copies, a Asked, l Lane: what `load_turns` gives
"""

from __future__ import annotations

from palpate.jit import Struct, block_loader, entry, kernel
from palpate.jit.atomics import fetch_add
from palpate.jit.routines import call_routine
from palpate.jit.words import copy_words
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.world.state import VELOCITY_FAULT, load
from palpate.world.step import begin_step, end_step, step

WORD = 8  # bytes
CONTROL = 4  # numbers of each control: routine, block, every, phase


class Copies(Struct):
    """n copies of k pieces each.  Pieces of a row: first what is only read, then what is kept, then the warm start."""

    memory: int  # address of the first row
    words: int  # of a row
    n_read: int  # pieces that a step does not change
    n_kept: int  # and those before the warm start
    place: Ints1  # (k,) where in a row a piece begins [words]
    size: Ints1  # (k,) of a piece; of the warm start's, for each row of it [words]


class Asked(Struct):
    """One call, for n copies and so many steps; arrays without rows are not asked for."""

    steps: int
    next: Ints1  # (1,) place in `which` of the copy whose turn it is
    which: Ints1  # (n',) copies that take part
    tau: Floats2  # (n steps, nv) torques before each step
    bodies: Ints1  # (p,) that are pushed
    pushes: Floats2  # (n steps p, 6) wrench on each of them in each step
    q: Floats2  # (n steps, nq) after each step
    v: Floats2  # (n steps, nv)
    done: Ints1  # (n,) steps that were done
    residual: Floats1  # (n,) the largest relative one of the contact solver
    lost: Ints1  # (n,) contacts that did not fit
    beyond: Floats1  # (n,) of a copy that stopped: the velocity that it would have had, and
    shape_a: Ints1  # (n,) the shapes whose law failed
    shape_b: Ints1  # (n,)


class LaneTable(Struct):
    """A thread's."""

    world: int  # address of its arrays of a step
    at: Ints1  # (k,) where the pieces lie in them
    controls: Ints1  # (CONTROL p,)


load_turns = block_loader((Copies, False), (Asked, False), (LaneTable, False))


@kernel
def bring(t, l, r, i):
    """Copy i into the lane."""
    row = t.memory + WORD * t.words * i
    for k in range(t.n_kept):
        copy_words(l.at[k], row + WORD * t.place[k], t.size[k])
    for k in range(t.n_kept, t.place.shape[0]):  # n_warm is there by now
        copy_words(l.at[k], row + WORD * t.place[k], t.size[k] * r.n_warm)


@kernel
def take_back(t, l, r, i):
    """What the steps made of it."""
    row = t.memory + WORD * t.words * i
    for k in range(t.n_read, t.n_kept):
        copy_words(row + WORD * t.place[k], l.at[k], t.size[k])
    for k in range(t.n_kept, t.place.shape[0]):
        copy_words(row + WORD * t.place[k], l.at[k], t.size[k] * r.n_warm)


@kernel
def put_inputs(a, m, s, at):
    """Torques and pushes of row `at`."""
    if a.tau.shape[0]:
        for j in range(m.nv):
            s.tau[j] = a.tau[at, j]
    p = a.bodies.shape[0]
    for b in range(p):
        for c in range(6):
            s.wrenches[a.bodies[b], c] += a.pushes[at * p + b, c]
    if p:
        s.n_wrenches = m.body_link.shape[0]


@kernel
def put_outputs(a, m, s, at):
    for j in range(m.nq):
        a.q[at, j] = s.q[j]
    for j in range(m.nv):
        a.v[at, j] = s.v[j]


@kernel
def controlled_step(l, s):
    """One step, with the controls that are due before it."""
    if l.controls.shape[0] == 0:
        return step(l.world)
    begin_step(l.world)
    for k in range(0, l.controls.shape[0], CONTROL):
        if s.tick % l.controls[k + 2] == l.controls[k + 3]:
            call_routine(l.controls[k], l.controls[k + 1])
    return end_step(l.world)


@kernel
def note_fault(a, c, s, i):
    """What the words about it need, before another copy is in the lane."""
    if s.fault == VELOCITY_FAULT:
        a.beyond[i] = s.v_next[s.fault_at]
    else:
        a.shape_a[i], a.shape_b[i] = c.shape_a[s.fault_at], c.shape_b[s.fault_at]


@kernel
def turn(t, a, l, i):
    """All steps of copy i, or those before it stops."""
    m, _, _, c, r, s = load(l.world)
    bring(t, l, r, i)
    a.done[i], a.residual[i], lost = a.steps, 0.0, c.lost
    for k in range(a.steps):
        at = i * a.steps + k
        put_inputs(a, m, s, at)
        if not controlled_step(l, s):
            a.done[i] = k
            note_fault(a, c, s, i)
            break
        a.residual[i] = max(a.residual[i], r.relative)
        if a.q.shape[0]:
            put_outputs(a, m, s, at)
    a.lost[i] = c.lost - lost
    take_back(t, l, r, i)


@entry("intp")
def take_turns(address):
    """Copies, as long as there are any that no other thread has taken."""
    t, a, l = load_turns(address)
    k = fetch_add(a.next, 0, 1)
    while k < a.which.shape[0]:
        turn(t, a, l, a.which[k])
        k = fetch_add(a.next, 0, 1)


@entry("intp, intp, intp")
def exchange(address, i, back):
    """Copy i into the lane, or back from it with all that may have been changed there."""
    t, _, l = load_turns(address)
    r = load(l.world)[4]
    if back:
        row = t.memory + WORD * t.words * i
        for k in range(t.n_read):
            copy_words(row + WORD * t.place[k], l.at[k], t.size[k])
        take_back(t, l, r, i)
    else:
        bring(t, l, r, i)
