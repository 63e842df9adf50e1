"""The doors from Python: place the links of a model at q, then look for contacts."""

import math

from palpate.collision.contacts import FOUND, REDUCE, load_collision
from palpate.collision.detect import detect, plane_in_world
from palpate.collision.found import begin_pair
from palpate.collision.pairs import shape_pair
from palpate.collision.planes import plane_shape
from palpate.collision.tables import PLANE
from palpate.dynamics.coordinates import FINE, bad_coordinate
from palpate.dynamics.kinematics import positions
from palpate.dynamics.workspace import load
from palpate.jit import entry, kernel
from palpate.spatial.vectors import add, get3, get9, put3, put9


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
    c.now[FOUND], c.now[REDUCE] = 0, 0
    out[0] = math.inf
    if g.kind[a] == PLANE or g.kind[b] == PLANE:
        plane, other = (a, b) if g.kind[a] == PLANE else (b, a)
        begin_pair(c.now, a, b, 0 if plane == a else 1)
        n, offset = plane_in_world(g, c, plane)
        plane_shape(address, other, n[0], n[1], n[2], offset)
    else:
        shape_pair(address, a, b)
    for k in range(c.now[FOUND]):
        if c.found[k, 6] < out[0]:
            out[0] = c.found[k, 6]
            for r in range(6):
                out[1 + r] = c.found[k, r]
    return FINE
