"""Two shapes: the one chain over pairs of kinds."""

from palpate.collision.boxes import box_box
from palpate.collision.contacts import load_collision
from palpate.collision.found import begin_pair
from palpate.collision.manifold import convex
from palpate.collision.rounds import capsule_capsule, sphere_box, sphere_capsule, sphere_cylinder, sphere_sphere
from palpate.collision.support import fill_slot, shape_pose
from palpate.collision.tables import BOX, CAPSULE, CYLINDER, MESH, SPHERE
from palpate.collision.triangles import against_mesh
from palpate.jit import shared
from palpate.spatial.vectors import get3


@shared("void(intp, intp, intp)")
def shape_pair(address, a, b):
    """Contacts of shapes a and b, none of them a plane; the simpler kind is looked at first."""
    g, c = load_collision(address)
    flip = g.kind[a] > g.kind[b]
    begin_pair(c, a, b, 1 if flip else 0)
    i, j = (b, a) if flip else (a, b)
    kind, other = g.kind[i], g.kind[j]
    if other == MESH:
        against_mesh(address, i, j)
        return
    R, p = shape_pose(g, c, i)
    S, q = shape_pose(g, c, j)
    u, w = get3(g.size, i), get3(g.size, j)
    if kind == SPHERE and other <= CYLINDER:
        if other == SPHERE:
            sphere_sphere(address, p, u[0], q, w[0])
        elif other == CAPSULE:
            sphere_capsule(address, p, u[0], S, q, w[0], w[1])
        elif other == BOX:
            sphere_box(address, p, u[0], S, q, w)
        else:
            sphere_cylinder(address, p, u[0], S, q, w[0], w[1])
        return
    if kind == CAPSULE and other == CAPSULE:
        capsule_capsule(address, R, p, u[0], u[1], S, q, w[0], w[1])
        return
    fill_slot(address, 0, i)
    fill_slot(address, 1, j)
    if kind == BOX and other == BOX:
        box_box(address)
    else:
        convex(address)
