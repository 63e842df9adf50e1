"""Contacts of what sleeps: first in the lists of contacts, rows and warm starts, and left as they are.

Between two links that are still, one of them asleep.  Their rows take no part (IDLE, on no slot) and hold the impulses
with which bodies fell asleep, for whoever reads contacts, and to begin with when they wake.
"""

from palpate.contact.rows import IDLE
from palpate.jit import kernel
from palpate.spatial.vectors import put3

ZERO = (0.0, 0.0, 0.0)


@kernel
def swap(x, i, k):
    x[i], x[k] = x[k], x[i]


@kernel
def swap_rows(x, i, k):
    for j in range(x.shape[1]):
        x[i, j], x[k, j] = x[k, j], x[i, j]


@kernel
def swap_contacts(c, r, i, k):
    """Contacts i and k change places, with what is read of their rows after a step, and their warm starts."""
    swap(c.link_a, i, k)
    swap(c.link_b, i, k)
    swap(c.shape_a, i, k)
    swap(c.shape_b, i, k)
    swap(c.feature, i, k)
    swap(c.gap, i, k)
    swap_rows(c.point, i, k)
    swap_rows(c.normal, i, k)
    swap(r.kind, i, k)
    swap(r.mu, i, k)
    swap(r.slot, 2 * i, 2 * k)
    swap(r.slot, 2 * i + 1, 2 * k + 1)
    swap_rows(r.lam, i, k)
    swap_rows(r.u, i, k)
    swap(r.warm_key, i, k)
    swap_rows(r.warm_impulse, i, k)


@kernel
def stays(c, s, i):
    """Whether contact i is one of what sleeps."""
    a, b = c.link_a[i], c.link_b[i]
    return c.still[a] != 0 and c.still[b] != 0 and (s.asleep[a] != 0 or s.asleep[b] != 0)


@kernel
def put_aside(r, i):
    """Row i takes no part any more."""
    r.kind[i], r.slot[2 * i], r.slot[2 * i + 1] = IDLE, 0, 0
    put3(r.u, i, ZERO)
    put3(r.push, i, ZERO)
    put3(r.dlam, i, ZERO)


@kernel
def keep_contacts(c, r, s):
    """Contacts of the step that was, between those that have just fallen asleep, join the kept ones."""
    for i in range(c.kept, r.n_contacts):
        if stays(c, s, i):
            swap_contacts(c, r, c.kept, i)
            put_aside(r, c.kept)
            c.kept += 1
    r.n_kept = c.kept


@kernel
def let_go_contacts(c, r, s):
    """Those of what woke are kept no longer; `detect` finds them again."""
    kept = 0
    for i in range(c.kept):
        if stays(c, s, i):
            swap_contacts(c, r, kept, i)
            kept += 1
    c.kept = r.n_kept = kept
