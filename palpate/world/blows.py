"""Blows that bounce, one after another within a step.

A blow may close other gaps within the same step: the third ball of a row is struck by the second, which the first has
just set in motion.  So a step with elastic contacts begins with rounds of blows.  In each, contacts that now close
within the step bounce, all at once with whatever is rigid (contacts without restitution, joint ends, connections);
those that do not close yet wait.  The rounds end when nothing bounces any more; then comes the ordinary solve, in which
what is left is at rest or opens.  No round creates energy (bounce.py).
    before = n.J W - forced          normal velocity without what forces do in this step
    after  = -e before + forced      the blow comes first, what else acts in this step afterwards: or a ball that rises
                                     from the blow would have been spared its weight, and win m g v dt at every bounce
"""

import math

from palpate.contact.islands import find_islands
from palpate.contact.laws.calls import is_restitution, restitution_of
from palpate.contact.rows import CONTACT, DRY, IDLE, WAITING
from palpate.contact.solve import solve
from palpate.contact.sweeps import add_wrench, relative
from palpate.jit import kernel, shared
from palpate.jit.six import no_six, put_six, six
from palpate.spatial.vectors import add, get3, put3
from palpate.world.bounce import aim_lower, bounce_in_part
from palpate.world.gaps import closing, contact_slop
from palpate.world.state import RESTITUTION_FAULT, load

ROUNDS = 256  # at most; a row of n equal balls takes n - 1, a light one between two heavy ones sqrt of their ratio
RESTING = 2.0  # impacts slower than this many times what gravity adds in a step do not bounce
ZERO = (0.0, 0.0, 0.0)


@kernel
def choose_blows(m, g, c, r, s):
    """Who bounces at the velocities in r.u, and with what aim; others that can bounce wait.

    Returns how many bounce, -1 if the restitution law failed.  Without any, all rows are as they were.
    """
    dt, blows = s.dt, 0
    slow = RESTING * dt * math.sqrt(m.gravity[0] ** 2 + m.gravity[1] ** 2 + m.gravity[2] ** 2)
    for i in range(r.n_contacts):
        if r.elastic[i] == 0 or r.kind[i] == IDLE:
            continue
        r.kind[i] = WAITING
        before = r.u[i, 0] - r.forced[i, 0]
        if before < -slow and c.gap[i] < -before * dt:
            e = s.restitution[g.material[c.shape_a[i]], g.material[c.shape_b[i]]]
            e = restitution_of(s.restitution_law, e, -before, r.restitution_state[i])
            if not is_restitution(e):
                s.fault, s.fault_at = RESTITUTION_FAULT, i
                return -1
            aim = e * before - r.forced[i, 0]
            if e > 0.0 and aim < 0.0:
                r.kind[i], r.offset[i, 0] = CONTACT, aim
                blows += 1
    for i in range(r.n_contacts, r.n_rows):
        if r.kind[i] == DRY:
            r.kind[i] = WAITING  # what a joint rubs in no time is nothing
    if blows == 0:
        wake(g, c, r, dt)
    return blows


@kernel
def wake(g, c, r, dt):
    """All rows take part again, contacts with their gaps."""
    for i in range(r.n_rows):
        if i < r.n_contacts:
            r.offset[i, 0] = closing(c.gap[i], contact_slop(g, c, i), dt)
        if r.kind[i] == WAITING:
            r.kind[i] = CONTACT if i < r.n_contacts else DRY


@kernel
def set_aside(r):
    """The impulses of a round are kept apart, and its twists are those that the next begins with."""
    for i in range(r.n_rows):
        if r.kind[i] < IDLE:
            put3(r.blow, i, add(get3(r.blow, i), get3(r.lam, i)))
            put3(r.lam, i, ZERO)
    for k in range(1, r.n_slots):
        put_six(r.W_free, 0, 6 * k, six(r.W, 0, 6 * k))


@shared("int64(intp)")
def blows(address):
    """Rounds of blows, set aside in r.blow; False if the restitution law failed."""
    m, _, g, c, r, s = load(address)
    while r.n_elastic:
        enough = r.n_rounds == ROUNDS  # then nothing approaches
        for i in range(r.n_contacts):
            r.u[i, 0] = r.forced[i, 0] if enough else relative(r, i, r.W_free)[0]
        chosen = choose_blows(m, g, c, r, s)
        if chosen < 0:
            return False
        if chosen == 0:
            break
        if r.n_rounds == 0:
            for i in range(r.n_rows):
                put3(r.blow, i, ZERO)
                put3(r.held, i, get3(r.lam, i))  # the warm start of the ordinary solve
                put3(r.lam, i, ZERO)
        find_islands(r)
        solve(s.rows, 0)
        if aim_lower(r):
            solve(s.rows, 0)
            bounce_in_part(r)
        set_aside(r)
        r.n_rounds += 1
    if r.n_rounds:
        for i in range(r.n_rows):
            put3(r.lam, i, get3(r.held, i))
    return True


@kernel
def add_blows(r):
    """The blows' impulses to those of the ordinary solve, and P from all of them."""
    for k in range(1, r.n_slots):
        put_six(r.P, 0, 6 * k, no_six())
    for i in range(r.n_rows):
        put3(r.lam, i, add(get3(r.lam, i), get3(r.blow, i)))
        add_wrench(r, i, get3(r.lam, i), r.P)
