"""Contacts that will hardly close in this step: left out of the islands, and taken in where they would after all.

Half of the contacts of a pile that moves are open and stay so.  In an island each of them costs work in every step of
Newton, and joins bodies that do not act on each other: what could be solved by itself waits for the slowest part.  So a
contact without an impulse in the last step that opens faster, with the others' last impulses and without any, than
anything at its two bodies approaches is only watched.  When all islands are solved its velocity is looked at, and if it
would close, the islands that it joins are solved once more with it.  The outcome obeys the same law, of all contacts.

hurry  (S,) fastest approach of any row of a tree, in the row of its first slot [m/s]
"""

from palpate.contact.rows import CONTACT, IDLE
from palpate.contact.sweeps import add_wrench, move, normal_velocity, relative
from palpate.jit import kernel
from palpate.jit.six import no_six, put_six, six
from palpate.spatial.vectors import add, get3, put3


@kernel
def could_wait(r, i):
    """Whether row i is a contact that is open and had no impulse."""
    return r.kind[i] == CONTACT and r.offset[i, 0] > 0.0 and r.lam[i, 0] == 0.0


@kernel
def twists_of_all(r):
    """W of all slots with the impulses there are."""
    for s in range(1, r.n_slots):
        put_six(r.P, 0, 6 * s, no_six())
        put_six(r.W, 0, 6 * s, six(r.W_free, 0, 6 * s))
    for i in range(r.n_kept, r.n_rows):
        if r.kind[i] < IDLE:
            add_wrench(r, i, get3(r.lam, i), r.P)
    for s in range(1, r.n_slots):
        move(r, s, six(r.P, 0, 6 * s), r.W)


@kernel
def find_hurry(r):
    """And u_n of all rows without impulses."""
    for s in range(r.n_slots):
        r.hurry[s] = 0.0
    for i in range(r.n_kept, r.n_rows):
        if r.kind[i] < IDLE:
            u = normal_velocity(r, i, r.W_free) + r.offset[i, 0]
            r.u[i, 0] = u
            if u < 0.0:
                for side in range(2):
                    tree = r.slot_first[r.slot[2 * i + side]]
                    r.hurry[tree] = max(r.hurry[tree], -u)
    r.hurry[0] = 0.0  # what strikes the world is in no hurry elsewhere


@kernel
def watch(r):
    """Choose the contacts that wait."""
    r.n_watched = 0
    for i in range(r.n_kept, r.n_rows):
        r.n_watched += could_wait(r, i)
    if r.n_watched == 0:
        return
    twists_of_all(r)
    find_hurry(r)
    r.n_watched = 0
    for i in range(r.n_kept, r.n_rows):
        if could_wait(r, i):
            a, b = r.slot_first[r.slot[2 * i]], r.slot_first[r.slot[2 * i + 1]]
            least = max(r.hurry[a], r.hurry[b])
            r.watched[i] = r.u[i, 0] > least and normal_velocity(r, i, r.W) + r.offset[i, 0] > least
            r.n_watched += r.watched[i]


@kernel
def take_in(r):
    """Contacts that wait and would close take part from now on; returns how many, u of the others is up to date."""
    taken = 0
    if r.n_watched == 0:
        return 0
    for i in range(r.n_kept, r.n_rows):
        if r.watched[i]:
            u = add(relative(r, i, r.W), get3(r.offset, i))
            put3(r.u, i, u)
            if u[0] < 0.0:
                r.watched[i] = 0
                taken += 1
                for side in range(2):
                    r.unsolved[r.slot[2 * i + side]] = 1
    r.n_watched -= taken
    return taken


@kernel
def watch_none(r):
    """All take part."""
    for i in range(r.n_kept, r.n_rows):
        r.watched[i] = 0
    r.n_watched = 0


@kernel
def take_all_in(r):
    """All take part, and every island has to be looked at."""
    watch_none(r)
    for s in range(1, r.n_slots):
        r.unsolved[s] = 1
