"""What the planar bodies' kernels work on.  SI units; x, y horizontal, angles counter-clockwise and never wrapped.

Row 0 of every body array is the world, which has no polygon; walls are bodies that cannot move.  Pose X = (x, y, angle)
of a body's centre of mass; wrench (fx, fy, torque) about it.  A contact is a vertex of one body on an edge of another:
its normal n is the edge's, out of the edge's body towards the vertex; t = (-n_y, n_x); depth > 0 is overlap; approach
C0 = -n.v_rel, slide S0 = t.v_rel, v_rel the vertex's velocity relative to the edge's body at that point.

Edge i runs from vertex i to the next of its polygon: both have one number over all bodies.
"""

from __future__ import annotations

from typing import NamedTuple

from palpate.jit import Struct, block_loader
from palpate.model.model import Floats1, Floats2, Ints1

# What pushes a body beside its contacts, each with an account of its work
HAND, COUPLING, DRAG = range(3)
SOURCES = 3
# Contact.state (reference 3.1)
NONE, COLLIDING, CONTINUOUS = range(3)
# Rules.impact, by name in bodies/impacts
POISSON, FRICTIONAL = range(2)
MAX_CONTACTS = 128  # at a time; of one block in the enclosure 4, of ten in a heap about 60


class Polygons(NamedTuple):
    """The bodies' shapes: convex, counter-clockwise, in body axes about the centre of mass; nobody writes."""

    first: Ints1  # (n_bodies + 1,) body b has the vertices first[b] .. first[b + 1] - 1; row 0, the world, none
    body: Ints1  # (n_edges,) whose it is
    vertex: Floats2  # (n_edges, 2) [m]
    tangent: Floats2  # (n_edges, 2) unit, along the edge
    normal: Floats2  # (n_edges, 2) unit, outwards
    length: Floats1  # (n_edges,) [m]
    radius: Floats1  # (n_bodies,) of the circle about the centre that holds it [m]
    width: Floats1  # (n_bodies,) the least, of a strip that holds it [m]
    inverse_mass: Floats2  # (n_bodies, 3) 1/m, 1/m, 1/I; zero: it cannot move


class Motion(Struct):
    """Where the bodies are, and what pushes them."""

    X: Floats2  # (n_bodies, 3)
    v: Floats2  # (n_bodies, 3)
    applied: Floats2  # (SOURCES * n_bodies, 3) wrench of source s on body b in row s * n_bodies + b; held for this step
    contact: Floats2  # (n_bodies, 3) wrench of all contacts on each body in this step, without impulses
    moved: Floats2  # (n_bodies, 3) by how much X went on in the last motion stage
    struck: Floats2  # (n_bodies, 3) impulse of this step's impacts on each body [N s, N m s]


class EdgeLaws(Struct):
    """The laws of each edge, for whatever vertex touches it; only a tick writes them while it runs."""

    wall: Ints1  # (n_edges,) address
    friction: Ints1  # (n_edges,) address, 0: none
    keeper: Ints1  # (n_edges,) address, 0: none
    wall_setting: Floats2  # (n_edges, SETTINGS)
    friction_setting: Floats2  # (n_edges, SETTINGS)
    keeper_setting: Floats2  # (n_edges, SETTINGS)
    impulse: Ints1  # (n_edges,) 1: impacts are impulses (3.2), 0: its spring alone stops what comes
    restitution: Floats1  # (n_edges,) e, before the bound of 3.3
    bounded: Ints1  # (n_edges,) 1: e is at most e_max of 3.3


class Contacts(Struct):
    """What touches now.  A row stays the contact's as long as it lasts."""

    count: int  # rows in use are 0 .. count - 1; some of them may be NONE
    lost: int  # contacts for which there was no room
    caught: int  # vertices so far that had passed right through a body between two samples, and are pushed back
    fault: int  # 0, or 1 + the row whose law gave what is not a number in this step
    faults: int  # so far
    state: Ints1  # (MAX_CONTACTS,) NONE, COLLIDING, CONTINUOUS
    vertex: Ints1  # number of the vertex
    edge: Ints1  # and of the active edge: the one that the god-object is on
    depth: Floats1  # [m]
    along: Floats1  # place of the god-object on its edge, from the edge's beginning [m]
    approach: Floats1  # C0 [m/s]
    slide: Floats1  # S0 [m/s]
    travel: Floats1  # along the surface since the contact began [m]
    normal_force: Floats1  # Fn [N], on the vertex's body along n
    friction_force: Floats1  # Ff [N], on the vertex's body along -t
    impulse: Floats1  # of this step's impact, along n [N s]
    friction_impulse: Floats1  # and along t
    slips: Ints1  # 1: slips, 0: sticks
    normal: Floats2  # (MAX_CONTACTS, 2)
    point: Floats2  # (MAX_CONTACTS, 2) the vertex, world [m]
    god: Floats2  # (MAX_CONTACTS, 2) the god-object, world [m]
    absorbed: Floats1  # E_c: energy that it took from the bodies since it began [J]
    wall_state: Floats2  # (MAX_CONTACTS, STATE)
    friction_state: Floats2
    keeper_state: Floats2


class Audit(Struct):
    """Where the energy went (reference 5); always on."""

    kinetic: float  # [J]
    kinetic_start: float  # at the start
    impulses: float  # by impacts so far, never above 0
    contacts: float  # by all contacts' forces so far
    gross: float  # sum of the magnitudes of all works, which rounding is measured by
    error: float  # of invariant 1, now
    worst: float  # of invariant 1 so far, over max(1 J, gross)
    lowest: float  # E_c of any contact so far: below 0, what one of them has created [J]
    ended: float  # E_c of all contacts that have ended, so that ended + sum of absorbed = -contacts [J]
    work: Floats1  # (SOURCES,) by each so far


class Rules(Struct):
    """How impacts are resolved, and when bodies are near each other (reference 2.2)."""

    impact: int  # POISSON or FRICTIONAL
    proximity_every: int  # steps between two looks at the pairs (level 1)
    v_threshold: float  # slower approaches are no impacts [m/s]
    near: float  # d_on: a pair closer than this is handed to level 2 [m]
    far: float  # d_off: one farther than this is taken from it [m]


class Nearness(Struct):
    """Level 1: which pairs are near, looked at every now and then; what each look begins with."""

    since: int  # steps since the last look; below 0: look at once
    looks: int  # so far
    n_active: int
    slack: float  # no pair that is not active is closer than this at the last look [m]
    moved: float  # how much closer two bodies can have come since [m]
    turned: Floats2  # (n_bodies, 2) cosine and sine of each body's angle, written by each contact stage
    last: Floats2  # (n_bodies, 3) X at the last contact stage
    before: Floats2  # (n_bodies, 4) x, y, cosine, sine at the contact stage before
    box: Floats2  # (n_bodies, 4) least x, y and largest x, y, inflated
    order: Ints1  # (n_bodies,) by the least x of their boxes
    number: Ints1  # (n_bodies * n_bodies,) of the pair, or -1: both cannot move
    first: Ints1  # (n_pairs,) body
    second: Ints1  # (n_pairs,) body
    active: Ints1  # (n_pairs,) 1: near
    listed: Ints1  # (n_pairs,) those that are: listed[0 .. n_active - 1]
    met: Ints1  # (n_pairs,) the last look whose boxes overlapped
    distance: Floats1  # (n_pairs,) by GJK when last looked at [m]
    closest: Floats2  # (n_pairs, 4) the closest points, world [m]
    corners: Ints1  # (n_pairs,) of the last simplex: 0 to 3
    simplex: Ints1  # (6 * n_pairs,) its vertices on the first body and on the second
    axis: Ints1  # (n_pairs,) level 2: an edge that had the other body on its outer side, or -1
    across: Ints1  # (n_pairs,) and the vertex of the other body that was closest to it


class ImpactSet(Struct):
    """What an impact is computed in; nothing in it lasts."""

    row: Ints1  # (MAX_CONTACTS,) the contacts that take part
    joined: Ints1  # (n_bodies,) 1: a body that takes part
    v: Floats2  # (n_bodies, 3) before it
    push: Floats2  # (n_bodies, 3) wrench of the first held forces of what begins
    G: Floats2  # (2 MAX_CONTACTS, 2 MAX_CONTACTS)
    G_normal: Floats2  # (MAX_CONTACTS, MAX_CONTACTS)
    g: Floats1  # (2 MAX_CONTACTS,)
    e: Floats1  # (MAX_CONTACTS,)
    mu: Floats1  # (MAX_CONTACTS,)
    impulse: Floats1  # (2 MAX_CONTACTS,)
    work: Floats1


class Start(Struct):
    """Where a reset leads."""

    X: Floats2  # (n_bodies, 3)
    v: Floats2  # (n_bodies, 3)


PARTS = (
    (Polygons, True), (Motion, False), (EdgeLaws, False), (Contacts, False), (Audit, False), (Rules, False),
    (Nearness, False), (ImpactSet, False), (Start, False),
)  # fmt: skip
load_bodies = block_loader(*PARTS[:6])
load_all = block_loader(*PARTS)
