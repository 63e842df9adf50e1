"""Surface: how a body feels to the proxy; and the arrays that kernels read, one row per shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from palpate.collision.tables import MESH, Geometry
from palpate.haptics.contact_laws import (
    SETTINGS,
    ContactLaw,
    FrictionLaw,
    KeeperLaw,
    WallLaw,
    find_contact_law,
)
from palpate.haptics.rendering import tables
from palpate.haptics.rendering.meshes import mesh_normals
from palpate.haptics.rendering.tables import HEIGHT_MAP, SINUSOID, Surfaces
from palpate.model.model import Floats, Model
from palpate.spatial.placement import Vector3, unit3, vector3

SHARP_DEG = 40.0  # edges that bend more keep the normals of their faces
# What a 1 kHz loop renders well (reference on the mobile display 5.3).
MAX_AMPLITUDE_M, MIN_WAVELENGTH_M, MAX_SLOPE = 0.5e-3, 1e-3, 0.6
LAWS: tuple[type[ContactLaw], ...] = (WallLaw, KeeperLaw, FrictionLaw)  # that a surface may have, one of each


@dataclass(frozen=True)
class Sinusoid:
    """Ridges: height A sin(2 pi e.x / wavelength) along `direction` e, in the shape's frame."""

    amplitude_m: float
    wavelength_m: float
    direction: Vector3 = (1.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", unit3(self.direction, "the direction of a texture"))
        if not 0.0 <= self.amplitude_m <= MAX_AMPLITUDE_M:
            raise ValueError(f"the amplitude of a texture must be 0 .. {MAX_AMPLITUDE_M} m, got {self.amplitude_m}")
        if not (np.isfinite(self.wavelength_m) and self.wavelength_m >= MIN_WAVELENGTH_M):
            raise ValueError(
                f"the wavelength of a texture must be at least {MIN_WAVELENGTH_M} m, got {self.wavelength_m}"
            )
        slope = 2.0 * np.pi * self.amplitude_m / self.wavelength_m
        if slope > MAX_SLOPE:
            raise ValueError(f"the texture's slope 2 pi A / wavelength is {slope:.2f}; it must be at most {MAX_SLOPE}")


@dataclass(frozen=True, eq=False)
class HeightMap:
    """Heights [m] over a patch of the shape's frame: heights[i, j] at origin + u i/(rows-1) + v j/(columns-1).

    u and v are the patch's sides [m], at right angles to each other; with `repeat` it tiles the surface, else there is
    no height outside.
    """

    heights_m: ArrayLike
    u_m: Vector3
    v_m: Vector3
    origin_m: Vector3 = (0.0, 0.0, 0.0)
    repeat: bool = False
    nodes: Floats = field(init=False, repr=False)  # (rows, columns, 3): height and both slopes

    def __post_init__(self) -> None:
        h = np.array(self.heights_m, dtype=np.float64)
        if h.ndim != 2 or min(h.shape) < 2 or not np.isfinite(h).all():
            raise ValueError(f"a height map needs finite heights of at least 2 x 2 nodes, got shape {h.shape}")
        u, v = np.array(vector3(self.u_m, "u_m")), np.array(vector3(self.v_m, "v_m"))
        sides = np.linalg.norm(u), np.linalg.norm(v)
        if min(sides) == 0.0 or abs(u @ v) > 1e-9 * sides[0] * sides[1]:
            raise ValueError("the sides u_m and v_m of a height map must be at right angles, and not zero")
        vector3(self.origin_m, "origin_m")
        steps = sides[0] / (h.shape[0] - 1), sides[1] / (h.shape[1] - 1)
        slopes = [_slope(h, axis, steps[axis], self.repeat) for axis in (0, 1)]
        steepest = float(np.hypot(*slopes).max())
        if steepest > MAX_SLOPE:
            raise ValueError(f"the height map's slope reaches {steepest:.2f}; it must be at most {MAX_SLOPE}")
        object.__setattr__(self, "nodes", np.stack([h, *slopes], axis=2))


def _slope(h: Floats, axis: int, step: float, repeat: bool) -> Floats:
    """dh/dx at the nodes by central differences; of a map that repeats, across its seam."""
    if not repeat:
        return np.gradient(h, step, axis=axis)
    open_ = np.delete(h, -1, axis=axis)  # the last node is the first again
    slope = (np.roll(open_, -1, axis=axis) - np.roll(open_, 1, axis=axis)) / (2.0 * step)
    return np.concatenate([slope, np.take(slope, [0], axis=axis)], axis=axis)


@dataclass(frozen=True)
class Transient:
    """The tap of the first touch: `amplitude` times the speed of approach, a sinusoid that decays."""

    amplitude_Ns_m: float = 10.0  # [N per m/s]
    frequency_hz: float = 150.0
    decay_s: float = 0.01  # to 1/e

    def __post_init__(self) -> None:
        if not (np.isfinite(self.amplitude_Ns_m) and self.amplitude_Ns_m >= 0.0):
            raise ValueError(f"the amplitude of a transient must be finite and not negative, got {self.amplitude_Ns_m}")
        if not (0.0 < self.frequency_hz <= 500.0 and np.isfinite(self.decay_s) and self.decay_s > 0.0):
            raise ValueError("a transient needs a frequency of at most 500 Hz and a positive decay time")


@dataclass(frozen=True)
class Surface:
    """How a body feels.  Stiff walls need the device's limit in mind; friction is dynamic <= static.

    wall      a law of one contact in place of the spring and damper, by name or made with @pp.wall_law; stiffness and
              damping are its first settings, unless wall_settings says otherwise
    keeper    around that wall, made with @pp.keeper_law;  friction: in place of the proxy's own, @pp.contact_friction,
              with mu = dynamic_friction and the stiction that makes it static_friction
    """

    stiffness_N_m: float = 1000.0
    damping_Ns_m: float = 1.0
    static_friction: float = 0.4
    dynamic_friction: float = 0.3
    shading: bool = True  # of meshes: smooth forces over smooth edges
    texture: Sinusoid | HeightMap | None = None
    transient: Transient | None = None
    wall: str | WallLaw | None = None
    wall_settings: Mapping[str, float] | None = field(default=None, hash=False)
    friction: str | FrictionLaw | None = None
    friction_settings: Mapping[str, float] | None = field(default=None, hash=False)
    keeper: str | KeeperLaw | None = None
    keeper_settings: Mapping[str, float] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.stiffness_N_m) and self.stiffness_N_m > 0.0):
            raise ValueError(f"the stiffness of a surface must be positive, got {self.stiffness_N_m} N/m")
        if not (np.isfinite(self.damping_Ns_m) and self.damping_Ns_m >= 0.0):
            raise ValueError(f"the damping of a surface must not be negative, got {self.damping_Ns_m} N s/m")
        if not (np.isfinite(self.static_friction) and 0.0 <= self.dynamic_friction <= self.static_friction):
            raise ValueError(
                f"friction needs 0 <= dynamic <= static, got {self.dynamic_friction}, {self.static_friction}"
            )
        if self.keeper is not None and self.wall is None:
            raise ValueError("a keeper is around a wall's law: give the surface a wall too")
        for kind in LAWS:
            if self.law(kind) is None and getattr(self, f"{kind.kind}_settings") is not None:
                raise ValueError(f"{kind.kind}_settings are of a {kind.kind}'s law, and the surface has none")
            self.settings(kind)

    def law(self, kind: type[ContactLaw]) -> ContactLaw | None:
        """Its law of a kind, None: it has none."""
        which = getattr(self, kind.kind)
        found: ContactLaw | None = None if which is None else find_contact_law(kind, which)
        return found

    def settings(self, kind: type[ContactLaw]) -> Floats:
        """(SETTINGS,) of its law of a kind; zero without one."""
        law = self.law(kind)
        if law is None:
            return np.zeros(SETTINGS)
        mu = self.dynamic_friction
        first = {
            "wall": (self.stiffness_N_m, self.damping_Ns_m),
            "friction": (mu, self.static_friction / mu - 1.0 if mu > 0.0 else 0.0),
            "keeper": (),
        }[kind.kind]
        given = dict(getattr(self, f"{kind.kind}_settings") or {})
        return law.row(**dict(zip(law.defaults, first, strict=False)) | given)


def surfaces(
    model: Model,
    geometry: Geometry,
    default: Surface | None = None,
    by_body: Mapping[str, Surface | None] | None = None,
) -> Surfaces:
    """The arrays for a geometry without hulls (`meshes.triangulated`), one row per shape.

    by_body  body name -> its Surface; None: the proxy passes through that body
    """
    chosen: dict[int, Surface | None] = {}
    for name, given in (by_body or {}).items():
        if name not in model.body_names:
            raise ValueError(f"no body {name!r} to give a surface; known: {', '.join(model.body_names[1:])}")
        chosen[model.body(name)] = given
    plain = Surface() if default is None else default
    n, normals = len(geometry.kind), mesh_normals(geometry, SHARP_DEG)
    rows = [chosen.get(int(body), plain) for body in geometry.body]
    felt = [plain if row is None else row for row in rows]
    texture, pattern = np.zeros(n, dtype=np.int64), np.zeros((n, 13))
    maps, height = np.zeros((n, 4), dtype=np.int64), [np.zeros((1, 3))]
    for i, row in enumerate(felt):
        if isinstance(row.texture, Sinusoid):
            texture[i], pattern[i] = SINUSOID, _sinusoid(row.texture)
        elif isinstance(row.texture, HeightMap):
            rows_, columns, _ = row.texture.nodes.shape
            texture[i], pattern[i] = HEIGHT_MAP, _map(row.texture)
            maps[i] = (sum(map(len, height)), rows_, columns, int(row.texture.repeat))
            height.append(row.texture.nodes.reshape(-1, 3))
    addresses: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for kind in LAWS:
        laws = [row.law(kind) for row in felt]
        addresses[kind.kind] = np.array([0 if law is None else law.address for law in laws], dtype=np.int64)
        settings[f"{kind.kind}_setting"] = np.array([row.settings(kind) for row in felt]).reshape(n, SETTINGS)
    own = np.array([row.wall is None for row in felt])
    rubs = np.array([row.friction is None for row in felt])
    mesh = geometry.kind == MESH
    closed = np.ones(n, dtype=np.int64)
    closed[mesh] = normals.closed[geometry.table[mesh]]
    arrays = Surfaces(
        touchable=np.array([row is not None for row in rows], dtype=np.int64),
        stiffness=np.where(own, [s.stiffness_N_m for s in felt], settings["wall_setting"][:, 0]).astype(float),
        damping=np.where(own, [s.damping_Ns_m for s in felt], settings["wall_setting"][:, 1]).astype(float),
        mu_static=np.where(rubs, [s.static_friction for s in felt], 0.0).astype(float),
        mu_dynamic=np.where(rubs, [s.dynamic_friction for s in felt], 0.0).astype(float),
        shading=np.array([s.shading for s in felt], dtype=np.int64),
        tap=np.array([_tap(s.transient) for s in felt], dtype=float).reshape(-1, 3),
        texture=texture, pattern=pattern, map=maps.ravel(), height=np.concatenate(height), closed=closed,
        blend=normals.blend, round=normals.round, pseudo=normals.pseudo, **addresses, **settings,
    )  # fmt: skip
    for array in arrays:
        array.setflags(write=False)
    return arrays


def _tap(transient: Transient | None) -> tuple[float, float, float]:
    if transient is None:
        return (0.0, 0.0, 0.0)
    return (transient.amplitude_Ns_m, 2.0 * np.pi * transient.frequency_hz, 1.0 / transient.decay_s)


def _sinusoid(texture: Sinusoid) -> Floats:
    numbers = np.zeros(13)
    numbers[tables.AMPLITUDE], numbers[tables.WAVELENGTH] = texture.amplitude_m, texture.wavelength_m
    numbers[tables.ALONG_U : tables.ALONG_U + 3] = texture.direction
    return numbers


def _map(texture: HeightMap) -> Floats:
    """As pattern: unit sides and their lengths; the finest wave that the nodes can carry is two cells long."""
    u, v = np.array(texture.u_m, dtype=float), np.array(texture.v_m, dtype=float)
    lengths = np.linalg.norm(u), np.linalg.norm(v)
    numbers = np.zeros(13)
    numbers[tables.AMPLITUDE] = np.abs(texture.nodes[..., 0]).max()
    rows, columns, _ = texture.nodes.shape
    numbers[tables.WAVELENGTH] = 2.0 * min(lengths[0] / (rows - 1), lengths[1] / (columns - 1))
    numbers[tables.ORIGIN : tables.ORIGIN + 3] = texture.origin_m
    numbers[tables.ALONG_U : tables.ALONG_U + 3], numbers[tables.ALONG_V : tables.ALONG_V + 3] = (
        u / lengths[0],
        v / lengths[1],
    )
    numbers[tables.LENGTH_U], numbers[tables.LENGTH_V] = lengths
    return numbers
