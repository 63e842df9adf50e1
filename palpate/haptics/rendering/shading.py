"""Force shading: on a mesh, forces along the blend of the normals at a triangle's corners instead of the face's.

Ruspini, Kolarov and Khatib 1997, after Phong.  The proxy stays where it is; only the direction is blended, with the
weights of the contact point.  Corner normals are blended at set-up over neighbours within the sharp angle.  Where an
edge is sharp the true normal at the edge counts, with the little that the face's own blend adds.
"""

import math

from palpate.haptics.rendering.nearest import triangle_nearest
from palpate.haptics.rendering.tables import ROUND_CORNER, ROUND_EDGE
from palpate.jit import kernel
from palpate.spatial.vectors import add, add_scaled, dot, get3, scale, sub

# Weights of corners below this are none: the point is on an edge.
ON_EDGE = 1e-9


@kernel
def corner_blend(blend, t, w):
    n = (0.0, 0.0, 0.0)
    for k in range(3):
        n = add_scaled(n, w[k], (blend[t, 3 * k], blend[t, 3 * k + 1], blend[t, 3 * k + 2]))
    return n


@kernel
def is_round(f, t, w):
    """Whether the feature of triangle t on which the weights are is smooth; a face is."""
    zeros, off, on = 0, 0, 0
    for k in range(3):
        if w[k] <= ON_EDGE:
            zeros += 1
            off = k
        else:
            on = k
    if zeros == 0:
        return True
    if zeros == 1:
        return f.round[t] & (ROUND_EDGE << ((off + 1) % 3)) != 0
    return f.round[t] & (ROUND_CORNER << on) != 0


@kernel
def shaded(g, f, t, x, n):
    """The normal at the point x of triangle t where n is the true one; mesh's frame."""
    _, w = triangle_nearest(g, t, x)
    m = corner_blend(f.blend, t, w)
    if not is_round(f, t, w):
        m = add(n, sub(m, get3(g.triangle_normal, t)))
    size = math.sqrt(dot(m, m))
    return scale(1.0 / size, m) if size > 0.0 else n
