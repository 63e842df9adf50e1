"""The doors from Python: one update of a proxy, and the distance of a point."""

from palpate.collision.entries import place_links
from palpate.dynamics.coordinates import FINE, bad_coordinate
from palpate.dynamics.kinematics import positions
from palpate.dynamics.workspace import load
from palpate.haptics.rendering.nearest import nearest_of_all
from palpate.haptics.rendering.proxy import update_proxy
from palpate.haptics.rendering.tables import load_proxy
from palpate.jit import entry


@entry("intp, intp, float64[::1]")
def place_entry(model_address, address, q):
    """The links where q puts them; FINE or the first bad coordinate."""
    m, w = load(model_address)
    bad = bad_coordinate(m, q)
    if bad == FINE:
        positions(m, q, w)
        _, c, _, _ = load_proxy(address)
        place_links(m, w, c.link_R, c.link_p)
    return bad


@entry("intp, float64[::1], float64[::1], float64")
def update_entry(address, hip, v, dt):
    """One update with the poses that are there; returns the contacts."""
    return update_proxy(address, hip[0], hip[1], hip[2], v[0], v[1], v[2], dt)


@entry("intp, float64[:, ::1], float64[:, ::1], float64, float64[:, ::1], float64[:, ::1]")
def follow_entry(address, hip, v, dt, position, force):
    """Many updates: rows of hip and velocity in, rows of proxy position and force out."""
    _, _, _, s = load_proxy(address)
    for i in range(hip.shape[0]):
        update_proxy(address, hip[i, 0], hip[i, 1], hip[i, 2], v[i, 0], v[i, 1], v[i, 2], dt)
        for k in range(3):
            position[i, k], force[i, k] = s.position[k], s.force[k]


@entry("intp, float64[::1], intp, float64[::1]")
def distance_entry(address, point, solid, out):
    """The shape nearest to a point, -1: none; out (7,): signed distance, outward normal, surface point."""
    _, _, _, s = load_proxy(address)
    shape = nearest_of_all(address, point[0], point[1], point[2], solid)
    for k in range(7):
        out[k] = s.hit[1, k]
    return shape
