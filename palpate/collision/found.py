"""Points found by the shape pairs, on their way to the reduction."""

from palpate.collision.contacts import KEY_BITS, load_collision
from palpate.collision.reduce import condense
from palpate.jit import kernel, shared
from palpate.spatial.vectors import scale


@kernel
def put_row(found, ids, k, point, normal, gap, a, b, feature):
    found[k, 0], found[k, 1], found[k, 2] = point
    found[k, 3], found[k, 4], found[k, 5] = normal
    found[k, 6] = gap
    ids[3 * k], ids[3 * k + 1], ids[3 * k + 2] = a, b, feature


@kernel
def begin_pair(c, a, b, flip):
    """From here on points are of shapes a and b; flip: the shape pair is looked at as (b, a)."""
    c.now_a, c.now_b, c.flip, c.key = a, b, flip, 0


@shared("void(intp, float64, float64, float64, float64, float64, float64, float64, int64)")
def put(address, x, y, z, nx, ny, nz, gap, feature):
    """Keep a point if it is within the margin; the normal goes from the first to the second shape as looked at."""
    _, c = load_collision(address)
    if not gap < c.margin:  # also a NaN
        return
    k = c.n_found
    if k == c.found.shape[0]:
        if c.reduce:  # a fine mesh on a plane: thousands of points of which four will do
            k = condense(address, k)
        if k == c.found.shape[0]:
            c.lost += 1
            return
    normal = (nx, ny, nz)
    if c.flip:
        normal = scale(-1.0, normal)
    feature += c.key << KEY_BITS
    put_row(c.found, c.found_id, k, (x, y, z), normal, gap, c.now_a, c.now_b, feature)
    c.n_found = k + 1


@kernel
def touch(address, point, normal, gap, feature):
    put(address, point[0], point[1], point[2], normal[0], normal[1], normal[2], gap, feature)
