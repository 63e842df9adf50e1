"""Rendering: the arrays of one proxy behind one address, for a tick.  Proxy: the same for people, without a world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.collision.contacts import contacts
from palpate.collision.geometry import check, geometry, start_posture
from palpate.collision.tables import Geometry
from palpate.dynamics.workspace import address_of
from palpate.haptics.contact_laws import STATE
from palpate.haptics.rendering.entries import distance_entry, follow_entry, place_entry, update_entry
from palpate.haptics.rendering.lawful import FREE
from palpate.haptics.rendering.meshes import triangulated
from palpate.haptics.rendering.surface import Surface, surfaces
from palpate.haptics.rendering.tables import (
    MAX_CONTACTS,
    MAX_PLANES,
    MAX_SLOTS,
    ProxyState,
)  # fmt: skip
from palpate.jit import Block
from palpate.model.compile import compile
from palpate.model.description import Body, Joint, MultiBody
from palpate.model.model import Floats, Model
from palpate.model.shapes import Shape

SKIN_M_DEFAULT = 1e-5
DEVICE_KG_DEFAULT = 0.1  # as the hand moves it
# Velocities that are not given are differences of positions, low-passed at this frequency.
VELOCITY_HZ = 100.0


class Rendering:
    """One proxy among the shapes of a model: `address` is what `update_proxy` takes; `state` is what it fills.

    geometry   of the model (collision/geometry.py); its hulls become triangles here
    default    Surface of bodies that by_body does not name; by_body: None lets the proxy pass
    radius_m   of the proxy, 0: a point
    link_R, link_p    poses of the links (L, 9), (L, 3) that someone else fills, such as those of a World's Contacts
    mass_kg    that the laws of surfaces feel: the device's
    old_R, old_p      memory of those of the update before, which someone else shares
    """

    def __init__(
        self,
        model: Model,
        geometry: Geometry,
        default: Surface | None = None,
        by_body: Mapping[str, Surface | None] | None = None,
        radius_m: float = 0.0,
        skin_m: float = SKIN_M_DEFAULT,
        link_R: Floats | None = None,
        link_p: Floats | None = None,
        old_R: Floats | None = None,
        old_p: Floats | None = None,
        mass_kg: float = DEVICE_KG_DEFAULT,
    ) -> None:
        if not (np.isfinite(radius_m) and radius_m >= 0.0):
            raise ValueError(f"the radius of a proxy must be finite and not negative, got {radius_m} m")
        if not 1e-7 <= skin_m <= 1e-3:
            raise ValueError(f"the skin of a proxy must be 1e-7 .. 1e-3 m, got {skin_m}")
        self.geometry = triangulated(geometry)
        self.surfaces = surfaces(model, self.geometry, default, by_body)
        scratch = contacts(self.geometry, model.n_links, 1, link_R=link_R, link_p=link_p)
        scratch.margin = np.inf  # every distance is an answer
        self.contacts = scratch
        self._collision = Block(self.geometry, scratch)
        old_R = np.zeros((model.n_links, 9)) if old_R is None else old_R
        old_p = np.zeros((model.n_links, 3)) if old_p is None else old_p
        self.state = _state(len(self.geometry.kind), old_R, old_p, self._collision.address)
        self.state.radius_m, self.state.skin_m, self.state.mass_kg = radius_m, skin_m, mass_kg
        self._laws = (default, *(by_body or {}).values())  # whose code the addresses are of
        self._names = model.body_names
        self._block = Block(self.geometry, scratch, self.surfaces, self.state)
        self.address: int = self._block.address

    def reset(self) -> None:
        """Begin anew at the next update: the proxy where the hand then is, or at the nearest surface."""
        self.state.placed = 0

    @property
    def failed(self) -> str:
        """The body whose law last gave what is not a number; empty if none did."""
        failed = int(self.state.failed)
        return f"on the surface of {self._names[self.geometry.body[failed - 1]]}" if failed else ""


def _state(n: int, old_R: Floats, old_p: Floats, collision: int) -> ProxyState:
    zeros = np.zeros

    def ints(count: int) -> np.ndarray:
        return np.zeros(count, dtype=np.int64)

    return ProxyState(
        ramp=1.0, texture_gain=1.0, tapped=-1, position=zeros(3), hip=zeros(3), hip_velocity=zeros(3),
        old_R=old_R, old_p=old_p, force=zeros(3), contact_shape=ints(MAX_CONTACTS),
        contact_body=ints(MAX_CONTACTS), contact_point=zeros((MAX_CONTACTS, 3)),
        contact_normal=zeros((MAX_CONTACTS, 3)), contact_force=zeros((MAX_CONTACTS, 3)), near=ints(n),
        shape_R=zeros((n, 9)), shape_p=zeros((n, 3)), hit=zeros((2, 7)), plane=zeros((MAX_PLANES, 7)),
        plane_shape=ints(MAX_PLANES), plane_triangle=ints(MAX_PLANES), multiplier=zeros(MAX_PLANES),
        pressed=zeros(MAX_PLANES), goal=zeros(3), collision=collision, slot_shape=np.full(MAX_SLOTS, FREE),
        slot_seen=ints(MAX_SLOTS), slot_normal=zeros((MAX_SLOTS, 3)), slot_tangent=zeros((MAX_SLOTS, 3)),
        slot_travel=zeros((MAX_SLOTS, 2)), wall_state=zeros((MAX_SLOTS, STATE)), keeper_state=zeros((MAX_SLOTS, STATE)),
        friction_state=zeros((2 * MAX_SLOTS, STATE)),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Touch:
    """Where the proxy touches; world axes."""

    body: str
    point: Floats  # (3,) on the surface [m]
    normal: Floats  # (3,) outward
    force_on_body: Floats  # (3,) [N]


class Nearest(NamedTuple):
    """distance [m], negative inside; outward normal; the point of the surface; the body it belongs to."""

    distance: float
    normal: Floats
    point: Floats
    body: str


class Proxy:
    """A virtual proxy without a world: give it the hand, and it gives the force.

    things     a Model, a MultiBody or several, or Shapes that stand in the world where their placements say (bodies
               "shape0", "shape1", ...)
    surface    of everything; by_body {body name: Surface, or None to pass through it}
    radius_m   of the proxy, 0: a point;  dt_s between updates
    """

    def __init__(
        self,
        things: Model | MultiBody | Shape | Sequence[MultiBody] | Sequence[Shape],
        surface: Surface | None = None,
        by_body: Mapping[str, Surface | None] | None = None,
        *,
        radius_m: float = 0.0,
        skin_m: float = SKIN_M_DEFAULT,
        dt_s: float = 1e-3,
    ) -> None:
        if not (np.isfinite(dt_s) and dt_s > 0.0):
            raise ValueError(f"dt_s must be positive, got {dt_s}")
        self.model, self.dt_s = _model(things), float(dt_s)
        self.rendering = Rendering(self.model, geometry(self.model), surface, by_body, radius_m, skin_m)
        self._hip: Floats | None = None
        self._velocity = np.zeros(3)
        self.move(start_posture(self.model))

    @property
    def position(self) -> Floats:
        """(3,) centre of the proxy [m]; a copy."""
        return self.rendering.state.position.copy()

    @property
    def force(self) -> Floats:
        """(3,) on the hand [N]; a copy."""
        return self.rendering.state.force.copy()

    @property
    def touches(self) -> list[Touch]:
        """Up to three; their forces are minus `force` together."""
        s, names = self.rendering.state, self.model.body_names
        return [
            Touch(names[s.contact_body[k]], s.contact_point[k].copy(), s.contact_normal[k].copy(),
                  s.contact_force[k].copy())
            for k in range(s.n_contacts)
        ]  # fmt: skip

    @property
    def squeezed(self) -> int:
        """Updates since the start in which bodies left the proxy no room."""
        return int(self.rendering.state.squeezed)

    @property
    def unsettled(self) -> int:
        """Updates since the start whose way was left for the next one to finish."""
        return int(self.rendering.state.unsettled)

    def move(self, q: ArrayLike) -> None:
        """Put the bodies at q (nq,); the next update carries the proxy along."""
        array = np.array(q, dtype=np.float64)
        if array.shape != (self.model.nq,):
            raise ValueError(f"q has shape {array.shape}, the model needs ({self.model.nq},)")
        check(self.model, place_entry(address_of(self.model), self.rendering.address, array))

    def update(self, hip: ArrayLike, velocity: ArrayLike | None = None) -> Floats:
        """Force on the hand [N] (3,) for a hand at `hip` [m] (3,); its velocity [m/s] is estimated if not given."""
        at = _three(hip, "hip")
        v = self._estimated(at) if velocity is None else _three(velocity, "velocity")
        update_entry(self.rendering.address, at, v, self.dt_s)
        self._check_laws()
        return self.force

    def follow(self, hips: ArrayLike, velocities: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Many updates at once: hips (n, 3) -> proxy positions, forces on the hand, (n, 3) each.

        Velocities that are not given are zero: nothing is damped.
        """
        at = np.array(hips, dtype=np.float64)
        v = np.zeros_like(at) if velocities is None else np.array(velocities, dtype=np.float64)
        if at.ndim != 2 or at.shape[1] != 3 or v.shape != at.shape:
            raise ValueError(f"hips and velocities must be (n, 3), got {at.shape} and {v.shape}")
        positions, forces = np.empty_like(at), np.empty_like(at)
        follow_entry(self.rendering.address, at, v, self.dt_s, positions, forces)
        self._check_laws()
        return positions, forces

    def reset(self) -> None:
        """Begin anew at the next update."""
        self.rendering.reset()
        self.rendering.state.failed = 0
        self._hip = None

    def nearest(self, point: ArrayLike) -> Nearest:
        """The surface nearest to a point; inside several solids, the one it is deepest in."""
        out = np.empty(7)
        shape = distance_entry(self.rendering.address, _three(point, "point"), 0, out)
        if shape < 0:
            raise ValueError("there is nothing that the proxy can touch")
        body = self.model.body_names[self.rendering.geometry.body[shape]]
        return Nearest(float(out[0]), out[1:4].copy(), out[4:7].copy(), body)

    def _check_laws(self) -> None:
        if self.rendering.failed:
            raise ValueError(f"a law {self.rendering.failed} gave what is not a number; reset() begins anew")

    def _estimated(self, hip: Floats) -> Floats:
        if self._hip is None or not np.isfinite(hip).all():
            self._velocity = np.zeros(3)
        else:
            share = 1.0 - np.exp(-2.0 * np.pi * VELOCITY_HZ * self.dt_s)
            self._velocity = self._velocity + share * ((hip - self._hip) / self.dt_s - self._velocity)
        self._hip = hip if np.isfinite(hip).all() else None
        return self._velocity


def _three(value: ArrayLike, what: str) -> Floats:
    array = np.array(value, dtype=np.float64)
    if array.shape != (3,):
        raise ValueError(f"{what} must be three numbers, got shape {array.shape}")
    return array


def _model(things: Model | MultiBody | Shape | Sequence[MultiBody] | Sequence[Shape]) -> Model:
    if isinstance(things, Model):
        return things
    several = (things,) if isinstance(things, (MultiBody, Shape)) else tuple(things)
    if not several:
        raise ValueError("a proxy needs something to touch: a Model, MultiBodies or Shapes")
    bodies = [x if isinstance(x, MultiBody) else _standing(f"shape{k}", x) for k, x in enumerate(several)]
    return compile(bodies)


def _standing(name: str, shape: object) -> MultiBody:
    """A shape that stands still in the world."""
    if not isinstance(shape, Shape):
        raise ValueError(f"a proxy touches a Model, MultiBodies or Shapes, got {type(shape).__name__}")
    body = Body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), shapes=(shape,))
    return MultiBody(name, (body,), (Joint(f"{name}_joint", "fixed", "world", name),))
