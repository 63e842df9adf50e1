"""What rendering reads and writes, as arrays: Surfaces (how each shape feels) and ProxyState (one proxy).

A block of (Geometry, Contacts, Surfaces, ProxyState) serves one proxy.  Its Contacts hold the poses of the links, which
may be the arrays of a world, and the scratch that the closed forms of collision/rounds.py write into.
World axes unless said; n shapes, t triangles, v vertices, L links.
"""

from __future__ import annotations

from typing import NamedTuple

from palpate.collision.contacts import Contacts
from palpate.collision.tables import Geometry
from palpate.jit import Struct, Vector, block_loader
from palpate.model.model import Floats1, Floats2, Ints1

# ProxyState.mode
STICK, SLIDE = 0, 1
# contacts at once: three planes hold a point
MAX_CONTACTS = 3
# planes looked at together: three that hold, and some that have just let go
MAX_PLANES = 6
# what laws remember: of the contacts of this update, and of those of the one before
MAX_SLOTS = 2 * MAX_CONTACTS
# Surfaces.texture
SMOOTH, SINUSOID, HEIGHT_MAP = 0, 1, 2
# columns of Surfaces.pattern
AMPLITUDE, WAVELENGTH, ORIGIN, ALONG_U, ALONG_V, LENGTH_U, LENGTH_V = 0, 1, 2, 5, 8, 11, 12
# bits of Surfaces.round: an edge, a corner of a triangle whose faces differ by less than the sharp angle
ROUND_EDGE, ROUND_CORNER = 1, 8


class Surfaces(NamedTuple):
    """How each shape feels; made by `surfaces` in surface.py, read-only."""

    touchable: Ints1  # (n,) 0: the proxy passes through it
    stiffness: Floats1  # (n,) [N/m]
    damping: Floats1  # (n,) [N s/m]
    mu_static: Floats1  # (n,)
    mu_dynamic: Floats1  # (n,)
    wall: Ints1  # (n,) address of a law in place of stiffness and damping, 0: none (haptics/contact_laws.py)
    keeper: Ints1  # (n,) around it, 0: none
    friction: Ints1  # (n,) in place of mu, which is 0 then; 0: none
    wall_setting: Floats2  # (n, SETTINGS)
    keeper_setting: Floats2  # (n, SETTINGS)
    friction_setting: Floats2  # (n, SETTINGS)
    shading: Ints1  # (n,) 1: forces of a mesh along blended normals
    tap: Floats2  # (n, 3) contact transient: [N per m/s], angular frequency [rad/s], decay [1/s]
    texture: Ints1  # (n,) SMOOTH, SINUSOID or HEIGHT_MAP
    pattern: Floats2  # (n, 13) its numbers, in the shape's frame: AMPLITUDE .. LENGTH_V [m]
    map: Ints1  # (4 n,) first row in `height`, nodes along u and v, 1 if it repeats
    height: Floats2  # (k, 3) nodes of all maps: height [m], slopes along u and v
    # meshes
    closed: Ints1  # (n,) 1: the shape has an inside
    blend: Floats2  # (t, 9) normals at the corners of each triangle, blended over its smooth neighbours
    round: Ints1  # (t,) bits ROUND_EDGE, ROUND_CORNER << edge or corner
    pseudo: Floats2  # (v, 3) angle-weighted normals: which side of a corner a point is on


class ProxyState(Struct):
    """One proxy; each field says who writes it."""

    radius_m: float  #                                                             the caller
    skin_m: float  #                                                               the caller
    texture_gain: float  #                                                         the caller
    mass_kg: float  # that laws feel, of the device                                the caller
    placed: int  # 0 asks for a new start                                          proxy
    mode: int  # STICK or SLIDE                                                    slide
    touched: int  # link that was in the last update, the world: none              force
    ramp: float  # share of the force, from 0 to 1 after a start                   force
    tapped: int  # shape, -1: none                                                 force
    tap_speed_m_s: float  #                                                        force
    tap_age_s: float  #                                                            force
    squeezed: int  # updates since the start that found no room, and               proxy
    unsettled: int  # that did not come to rest on their planes                    slide
    n_near: int  #                                                                 gather
    n_planes: int  #                                                               slide
    n_contacts: int  #                                                             force
    hit_shape: int  #                                                              sweep
    failed: int  # 1 + the shape whose law gave what is not a number, 0: none yet  lawful
    hit_triangle: int  #                                                           sweep
    collision: int  # address of the block of Geometry and Contacts
    position: Floats1  # (3,) centre of the proxy [m]                              proxy
    hip: Floats1  # (3,) the device's point [m]                                    proxy
    hip_velocity: Floats1  # (3,) [m/s]                                            proxy
    old_R: Floats2  # (L, 9) poses of the links at the last update                 proxy
    old_p: Floats2  # (L, 3)                                                       proxy
    # the outcome                                                                  force
    force: Floats1  # (3,) on the hand [N]
    contact_shape: Ints1  # (3,)
    contact_body: Ints1  # (3,) row of the body in the Model
    contact_point: Floats2  # (3, 3) [m]
    contact_normal: Floats2  # (3, 3) outward, unit
    contact_force: Floats2  # (3, 3) on the body [N]
    # what the laws of contacts remember                                           lawful
    n_slots: int  # that a contact has
    slot_shape: Ints1  # (MAX_SLOTS,) whose, -1: nobody's
    slot_seen: Ints1  # (MAX_SLOTS,) 1: in this update
    slot_normal: Floats2  # (MAX_SLOTS, 3)
    slot_tangent: Floats2  # (MAX_SLOTS, 3) across it, unit
    slot_travel: Floats2  # (MAX_SLOTS, 2) of the hand since the contact began [m]
    wall_state: Floats2  # (MAX_SLOTS, STATE)
    keeper_state: Floats2  # (MAX_SLOTS, STATE)
    friction_state: Floats2  # (2 MAX_SLOTS, STATE) of both directions
    hip_before: Vector  # the device's point at the update before, while there are slots [m]
    pull: Vector  # of the friction's law on the hand [N]
    # scratch
    near: Ints1  # (n,) shapes within reach                                        gather
    shape_R: Floats2  # (n, 9) their poses, in the order of `near`                 gather
    shape_p: Floats2  # (n, 3)                                                     gather
    hit: Floats2  # (2, 7) where a path ends: fraction, normal, surface point; row 0 of one shape in its frame,
    # row 1 of all, in the world                                                   sweep
    plane: Floats2  # (MAX_PLANES, 7) outward normal, offset, surface point        slide
    plane_shape: Ints1  # (MAX_PLANES,)                                            slide
    plane_triangle: Ints1  # (MAX_PLANES,)                                         slide
    multiplier: Floats1  # (MAX_PLANES,) push of each plane [m]; 0: it does not hold              halfspaces
    pressed: Floats1  # (MAX_PLANES,) the same less the skin, never negative: depth that is felt  halfspaces
    goal: Floats1  # (3,) the nearest point that the planes allow                  halfspaces


load_proxy = block_loader((Geometry, True), (Contacts, False), (Surfaces, True), (ProxyState, False))
