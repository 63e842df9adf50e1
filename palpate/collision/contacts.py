"""Contacts: where bodies touch or are about to, and the scratch with which that is found.

World axes.  `normal` is a unit vector from the first body (a) to the second (b); gap < 0 is penetration; `point` lies
midway between the two surfaces.  If one of the two is the world it is a.
"""

from __future__ import annotations

import numpy as np

from palpate.collision.tables import Geometry
from palpate.jit import Struct, block_loader
from palpate.model.model import Floats, Floats1, Floats2, Ints1

# Points of one pair of proxies before reduction; beyond it they are reduced as they come.
MAX_FOUND = 512
# Feature ids: 8 bits each for the edges that leave and enter a corner, the faces of b and a; which face was clipped by
# (1 bit); a single point (1 bit); then the triangles of a mesh (Contacts.key, 28 bits).
KEY_BITS, SINGLE = 34, 1 << 33
# Column of Contacts.move: how much of it is done, 0 .. 1.
FRACTION = 9
# Support points a penetration may take.  Polytopes end by themselves; this is where curved rims are close enough.
MAX_VERTICES = 100
MAX_FACES = 2 * MAX_VERTICES
# Corners by which the rim of a cylinder is clipped.
RIM = 8


class Contacts(Struct):
    """Fixed capacity: C contacts, K candidates, L links, P proxies.  Each array says who writes it."""

    # the outcome                                                                   reduce
    count: int
    lost: int  # did not fit, since the start
    kept: int  # the first so many are of earlier, between links that are still      the caller
    candidates: int  # before reduction
    pairs: int  # of proxies
    link_a: Ints1  # (C,)
    link_b: Ints1  # (C,)
    shape_a: Ints1  # (C,)
    shape_b: Ints1  # (C,)
    feature: Ints1  # (C,) the same while the same corners, edges and faces touch; distinct within a pair of shapes
    point: Floats2  # (C, 3) [m]
    normal: Floats2  # (C, 3) from a to b
    gap: Floats1  # (C,) [m]
    # what is asked                                                                 the caller
    margin: float  # contacts exist where gap < margin [m]
    link_R: Floats2  # (L, 9) link to world, row-major; row 0 the identity
    link_p: Floats2  # (L, 3) link origin in the world [m]; row 0 zero
    still: Ints1  # (L,) 1: it does not move, and its contacts with others that are still are not looked for
    anew: int  # 1: boxes of what is still are placed too
    # motion of links within a step (swept.py)                                      the caller
    link_size: Floats2  # (L, 2) reach from the centre of mass or the origin, half of the thinnest shape [m]
    move: Floats2  # (L, 10) centre of mass in the link; its path in the world [m]; turn in link axes [rad]; FRACTION
    fast: Ints1  # (L,) 1: it may pass through something in one step
    # broad phase
    low: Floats2  # (P, 3) box around each proxy, half the margin added
    high: Floats2  # (P, 3)
    order: Ints1  # (P,) proxies by their low end along AXIS; kept for the next time, when it is nearly right
    sorted: Floats2  # (P, 6) boxes in that order: low and high along AXIS, then along the other two
    # points of one pair of proxies, before reduction                               put
    now_a: int  # shapes of the pair being looked at
    now_b: int
    flip: int  # 1: as (b, a)
    key: int  # of triangles, for feature ids
    triangle_a: int
    n_found: int
    reduce: int  # whether patches are, to corners
    found: Floats2  # (K, 7) point, normal, gap: in one line of the cache
    found_id: Ints1  # (3 K,) shape a, shape b, feature
    mark: Ints1  # (K,) taken by a cluster                                          reduce
    member: Ints1  # (K,) rows of one cluster                                       reduce
    # two convex shapes: rows 0 and 1                                               slots
    slot_kind: Ints1  # (2,)
    slot_table: Ints1  # (2,) hull
    slot_last: Ints1  # (2,) last support vertex of a hull
    slot_size: Floats2  # (2, 3)
    slot_radius: Floats1  # (2,) of the ball that rounds a point or a segment
    slot_extent: Floats1  # (2,) how large it is, roughly: what lengths of rounding are parts of
    slot_R: Floats2  # (2, 9) world
    slot_p: Floats2  # (2, 3)
    slot_corner: Floats2  # (6, 3) corners of triangles
    pair_R: Floats2  # (1, 9) the second slot seen from the first
    pair_p: Floats2  # (1, 3)
    # distance and penetration: points w = a - b of the difference of both shapes, a's frame
    vertex: Floats2  # (MAX_VERTICES, 9) w, a, b; the first rows are the simplex    support
    weight: Floats1  # (4,) of the rows of the simplex in its nearest point         gjk
    answer: Floats1  # (10,) distance of the cores, n, points on a and b, a's frame gjk, epa
    face: Ints1  # (3 MAX_FACES,)                                                   epa
    plane: Floats2  # (MAX_FACES, 4) outward normal, distance of the origin         epa
    horizon: Ints1  # (6 MAX_FACES,) edges from, to                                 epa
    # polygons that face each other, a's frame
    polygon: Floats2  # (2 Q, 3) of a from row 0, of b from row Q                   faces
    corners: Ints1  # (4,) corners of both, then numbers of both faces              faces
    facing: Floats2  # (2, 3) normals of both                                       faces
    clip: Floats2  # (2 Q, 3) being cut, from row 0 or Q                            manifold
    label: Ints1  # (2 Q,) the edge that leaves a corner of `clip`                  manifold


def _link_sizes(g: Geometry, n_links: int) -> Floats2:
    """How far the shapes of each link reach from its origin, and half of the thinnest one; planes do not count."""
    size = np.zeros((n_links, 2))
    size[:, 1] = np.inf
    for link, centre, radius, half in zip(g.link, g.centre, g.radius, g.own_half, strict=True):
        if np.isfinite(radius):
            size[link, 0] = max(size[link, 0], np.linalg.norm(centre) + radius)
            size[link, 1] = min(size[link, 1], half.min())
    return size


load_collision = block_loader((Geometry, True), (Contacts, False))


def contacts(
    geometry: Geometry, n_links: int, capacity: int, margin: float = 0.005, link_R: Floats | None = None,
    link_p: Floats | None = None,
) -> Contacts:  # fmt: skip
    """Room for `capacity` contacts of a geometry; link_R (L, 9) and link_p (L, 3) may be arrays that others fill."""
    if capacity < 1:
        raise ValueError(f"the capacity must be at least one contact, got {capacity}")
    if not (np.isfinite(margin) and margin >= 0.0):
        raise ValueError(f"the margin must be finite and not negative, got {margin}")
    for name, given, width in (("link_R", link_R, 9), ("link_p", link_p, 3)):
        if given is not None and (given.shape != (n_links, width) or given.dtype != np.float64):
            raise ValueError(f"{name} must be float64 of shape ({n_links}, {width}), got {given.dtype} {given.shape}")
    P, C, K = len(geometry.proxy_link), capacity, MAX_FOUND
    sides = np.diff(geometry.face_begin)
    Q = max(RIM, int(sides.max()) if len(sides) else 0) * 2 + 8  # a cut adds at most one corner per side

    def ints(*shape: int) -> Ints1:
        return np.zeros(shape, dtype=np.int64)

    zeros = np.zeros
    c = Contacts(
        link_a=ints(C), link_b=ints(C), shape_a=ints(C), shape_b=ints(C), feature=ints(C),
        point=zeros((C, 3)), normal=zeros((C, 3)), gap=zeros(C),
        margin=float(margin), link_R=zeros((n_links, 9)) if link_R is None else link_R,
        link_p=zeros((n_links, 3)) if link_p is None else link_p, link_size=_link_sizes(geometry, n_links),
        still=ints(n_links), move=zeros((n_links, 10)), fast=ints(n_links),
        low=zeros((P, 3)), high=zeros((P, 3)), order=np.arange(P), sorted=zeros((P, 6)),
        found=zeros((K, 7)), found_id=ints(3 * K), mark=ints(K), member=ints(K),
        slot_kind=ints(2), slot_table=ints(2), slot_last=ints(2), slot_size=zeros((2, 3)), slot_radius=zeros(2),
        slot_extent=zeros(2), slot_R=zeros((2, 9)), slot_p=zeros((2, 3)), slot_corner=zeros((6, 3)),
        pair_R=zeros((1, 9)), pair_p=zeros((1, 3)), vertex=zeros((MAX_VERTICES, 9)), weight=zeros(4), answer=zeros(10),
        face=ints(3 * MAX_FACES), plane=zeros((MAX_FACES, 4)), horizon=ints(6 * MAX_FACES),
        polygon=zeros((2 * Q, 3)), corners=ints(4), facing=zeros((2, 3)), clip=zeros((2 * Q, 3)), label=ints(2 * Q),
    )  # fmt: skip
    c.link_R[0] = np.eye(3).ravel()
    return c
