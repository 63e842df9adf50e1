"""The doors from Python: place the links of a model at q, then look for contacts."""

import math

from palpate.collision.contacts import load_collision
from palpate.collision.detect import detect, look_at_pair
from palpate.dynamics.coordinates import FINE, bad_coordinate
from palpate.dynamics.kinematics import positions
from palpate.dynamics.workspace import load
from palpate.jit import entry, kernel
from palpate.spatial.vectors import add, get3, get9, put3, put9

NEAR, FARTHEST = 0.01, 1e4  # [m] where the search for a gap begins and ends


@kernel
def place_links(m, w, link_R, link_p):
    """What `positions` wrote, as poses in the world: link_R (L, 9), link_p (L, 3)."""
    for i in range(1, m.parent.shape[0]):
        put9(link_R, i, get9(w.R, i))
        put3(link_p, i, add(get3(w.origin, m.root[i]), get3(w.p, i)))


@entry("intp, intp, float64[::1], intp")
def detect_at_entry(model_address, address, q, full):
    """Contacts at q; FINE or the first bad coordinate."""
    m, w = load(model_address)
    bad = bad_coordinate(m, q)
    if bad == FINE:
        positions(m, q, w)
        _, c = load_collision(address)
        place_links(m, w, c.link_R, c.link_p)
        detect(address, full)
    return bad


@entry("intp, intp, intp")
def detect_entry(address, full, times):
    """Contacts of the poses that are there; `times` over, for measuring."""
    for _ in range(times):
        detect(address, full)


@entry("intp, intp, float64[::1], intp, intp, float64[::1]")
def distance_entry(model_address, address, q, a, b, out):
    """The nearest points of shapes a and b at q, if within the margin: out (7,) gap, midpoint, normal from a to b."""
    m, w = load(model_address)
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad
    positions(m, q, w)
    g, c = load_collision(address)
    place_links(m, w, c.link_R, c.link_p)
    out[0] = math.inf
    nearest = look_at_pair(address, g, c, a, b)
    if nearest >= 0:
        out[0] = c.found[nearest, 6]
        for r in range(6):
            out[1 + r] = c.found[nearest, r]
    return FINE


@kernel
def pair_gap(address, g, c, a, b, guess):
    """The gap of shapes a and b [m], however far apart up to FARTHEST; `guess` [m] is where the search begins.

    The margin grows until something is within it, so that a mesh is searched little wider than it must be.
    """
    c.margin = max(guess, NEAR)
    nearest = look_at_pair(address, g, c, a, b)
    while nearest < 0:
        if c.margin > FARTHEST:
            return math.inf
        c.margin *= 2.0
        nearest = look_at_pair(address, g, c, a, b)
    gap = c.found[nearest, 6]
    while c.n_found == c.found.shape[0]:  # full: a nearer point may have been lost, look for those alone
        c.margin = gap
        nearest = look_at_pair(address, g, c, a, b)
        if nearest < 0:
            return gap
        gap = c.found[nearest, 6]
    return gap


@entry("intp, intp, float64[:, ::1], int64[:, ::1], float64[:, ::1], intp[::1]")
def path_gaps_entry(model_address, address, rows, pairs, out, bad_row):
    """Gaps along a path: rows (n, nq); pairs (k, 3) shape, shape, column; out (n, columns) the smallest gap of each.

    FINE, or the first bad coordinate, of the row then in bad_row (1,).
    """
    m, w = load(model_address)
    g, c = load_collision(address)
    for i in range(rows.shape[0]):
        q = rows[i]
        bad = bad_coordinate(m, q)
        if bad != FINE:
            bad_row[0] = i
            return bad
        positions(m, q, w)
        place_links(m, w, c.link_R, c.link_p)
        for column in range(out.shape[1]):
            out[i, column] = math.inf
        for k in range(pairs.shape[0]):
            column = pairs[k, 2]
            guess = 1.25 * out[i - 1, column] if i > 0 and out[i - 1, column] < FARTHEST else NEAR
            gap = pair_gap(address, g, c, pairs[k, 0], pairs[k, 1], guess)
            out[i, column] = min(out[i, column], gap)
    return FINE
