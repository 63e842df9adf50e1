"""Geometry: everything that can be touched, as read-only arrays in link frames.

Sizes: n shapes, P proxies, H hulls, M meshes.  A *proxy* is what the broad phase sees: all shapes of one moving link,
or one static shape, or one plane.  Shapes are sorted by link, so that a proxy is a range of rows, placed links before
those that move: of two proxies the one of the lower row is the first body of a contact.
"""

from __future__ import annotations

from typing import NamedTuple

from palpate.model.model import Floats1, Floats2, Ints1

# Kinds of shapes, simple ones first: a pair is always looked at with the simpler one first.
# The only chains over them are in support.py (one shape) and pairs.py (two).
PLANE, SPHERE, CAPSULE, BOX, CYLINDER, HULL, MESH = 0, 1, 2, 3, 4, 5, 6
TRIANGLE = 7  # one of a mesh, while it is looked at

# Bits of Geometry.owns: a triangle's corners and edges that no earlier triangle has, and its edges that stick out.
OWNS_CORNER, OWNS_EDGE, RIDGE = 1, 8, 64


class Geometry(NamedTuple):
    """What detection reads; same dtypes, orders and flags for every scene, so that all share one compilation."""

    # shapes
    kind: Ints1  # (n,)
    link: Ints1  # (n,) 0 is the world, with all that is welded to it
    body: Ints1  # (n,) row of the body in the Model
    material: Ints1  # (n,) row in Shapes.materials
    R: Floats2  # (n, 9) the shape's frame in its link's frame, row-major
    p: Floats2  # (n, 3) [m]
    size: Floats2  # (n, 3) sphere (r), capsule and cylinder (r, half length), box (half edges), else 0 [m]
    table: Ints1  # (n,) row of its hull or mesh
    centre: Floats2  # (n, 3) of a ball around it, link frame
    radius: Floats1  # (n,) of that ball; infinite for a plane
    own_centre: Floats2  # (n, 3) of a box around it along its own axes, in its own frame
    own_half: Floats2  # (n, 3) half edges of that box
    # proxies; planes come last
    proxy_link: Ints1  # (P,)
    proxy_begin: Ints1  # (P,) first shape
    proxy_end: Ints1  # (P,) one past its last shape
    proxy_centre: Floats2  # (P, 3) of a box around it along the link's axes
    proxy_half: Floats2  # (P, 3) half edges of that box
    proxy_radius: Floats1  # (P,) of a ball around its centre that holds the balls of its shapes
    excluded_begin: Ints1  # (P + 1,) first row in `excluded` of each proxy's list
    excluded: Ints1  # proxies of a higher number that this one never touches
    n_planes: int
    # hulls: convex polyhedra, in their shapes' frames
    hull_vertex: Ints1  # (H + 1,) first vertex
    hull_face: Ints1  # (H + 1,) first face
    vertex: Floats2  # (v, 3); after the hulls' come those of the meshes
    near_begin: Ints1  # (v + 1,) first row in `near`
    near: Ints1  # vertices across an edge
    face_normal: Floats2  # (f, 3) outward
    face_begin: Ints1  # (f + 1,) first row in `face_vertex`
    face_vertex: Ints1  # vertices of the faces, counter-clockwise seen from outside
    # meshes: triangles in their shapes' frames, and a tree of boxes in depth-first order
    mesh_node: Ints1  # (M + 1,) first node
    triangle: Floats2  # (t, 9) three corners, counter-clockwise seen from outside
    triangle_vertex: Ints1  # (3 t,) the same corners as rows of `vertex`
    triangle_normal: Floats2  # (t, 3)
    wing: Floats2  # (t, 9) normals of the neighbours across edges 01, 12, 20 (its own if there is none)
    owns: Ints1  # (t,) bits OWNS_CORNER, OWNS_EDGE, RIDGE << corner or edge
    node_low: Floats2  # (m, 3)
    node_high: Floats2  # (m, 3)
    node_skip: Ints1  # (m,) the node after this one's subtree
    node_first: Ints1  # (m,) first triangle of a leaf
    node_count: Ints1  # (m,) triangles of a leaf; 0 in inner nodes
