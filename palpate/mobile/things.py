"""What stands in the room of the mobile display: a boat to walk along, and slabs with textures.

The boat's hull is a loft of n stations between stern (s = -1) and bow (s = 1), each a closed curve in its own plane
x = s L/2; v goes once around it, from port over the deck:

y = b cos v        b = B/2 (1 + s)^p (1 - s)^r, scaled to 1 at its fullest: blunt behind, sharp in front
z = k + d sin v    below the gunwale, v in (pi, 2 pi): d the depth of the keel
z = k + e sin v    above: e the camber of the deck, and on it a cabin
k = K s^2          the gunwale's height, which rises to both ends

Body axes: x to the bow, y to port, z up; the gunwale amidships is at z = 0.  World axes of the room as of every World.
"""

from __future__ import annotations

import math
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palpate.haptics.rendering.surface import HeightMap, Sinusoid, Surface
from palpate.model.description import Body, Joint, MultiBody
from palpate.model.library.primitives import Color, box
from palpate.model.shapes import Shape
from palpate.spatial.placement import IDENTITY, Rotation, Transform, Vector3

LENGTH_M, BEAM_M, DEPTH_M, CAMBER_M, RISE_M = 1.6, 0.5, 0.28, 0.07, 0.08
STERN_POWER, BOW_POWER = 0.5, 0.7  # p, r
CABIN_M = 0.12  # its height; it reaches from CABIN_FROM to CABIN_TO of s, over CABIN_WIDTH of the deck
CABIN_FROM, CABIN_TO, CABIN_WIDTH = -0.6, 0.25, 0.75
STATIONS, AROUND = 64, 36
VARNISH: Color = (0.55, 0.27, 0.13, 1.0)


def hull_mesh(stations: int = STATIONS, around: int = AROUND) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) [m] and triangles (m, 3) of the boat, seen from outside counter-clockwise; m = 2 around stations.

    The two ends are one vertex each, so the mesh is closed; stations stand closer where it is rounder.
    """
    if stations < 4 or around < 8 or around % 2:
        raise ValueError(f"a hull needs at least 4 stations and an even number, 8 or more, around them; got {stations} "
                         f"and {around}")  # fmt: skip
    s = -np.cos(math.pi * np.arange(1, stations + 1) / (stations + 1))[:, None]
    v = (2.0 * math.pi * np.arange(around) / around)[None, :]
    rings = np.stack(np.broadcast_arrays(0.5 * LENGTH_M * s, 0.5 * BEAM_M * _fullness(s) * np.cos(v), _height(s, v)), 2)
    ends = [[-0.5 * LENGTH_M, 0.0, RISE_M], [0.5 * LENGTH_M, 0.0, RISE_M]]
    at = np.arange(stations * around).reshape(stations, around)
    a, b = at[:-1].ravel(), at[1:].ravel()
    a_next, b_next = np.roll(at[:-1], -1, axis=1).ravel(), np.roll(at[1:], -1, axis=1).ravel()
    stern, bow = stations * around, stations * around + 1
    triangles = np.concatenate([
        np.stack([a, b_next, b], 1), np.stack([a, a_next, b_next], 1),
        np.stack([np.full(around, stern), np.roll(at[0], -1), at[0]], 1),
        np.stack([np.full(around, bow), at[-1], np.roll(at[-1], -1)], 1),
    ])  # fmt: skip
    return np.concatenate([rings.reshape(-1, 3), ends]), triangles


def _fullness(s: np.ndarray) -> np.ndarray:
    """b over its largest."""
    p, r = STERN_POWER, BOW_POWER
    fullest = (p - r) / (p + r)
    return ((1.0 + s) / (1.0 + fullest)) ** p * ((1.0 - s) / (1.0 - fullest)) ** r


def _height(s: np.ndarray, v: np.ndarray) -> np.ndarray:
    """z."""
    full, up = _fullness(s), np.sin(v)
    across = np.cos(v) / CABIN_WIDTH
    along = (2.0 * s - CABIN_TO - CABIN_FROM) / (CABIN_TO - CABIN_FROM)
    cabin = CABIN_M * _plateau(along) * _plateau(across)
    return np.where(up > 0.0, CAMBER_M * full * up + cabin, DEPTH_M * _fullness(s) * up) + RISE_M * s * s


def _plateau(x: np.ndarray) -> np.ndarray:
    """1 in the middle, 0 from |x| = 1 on, smooth between."""
    t = np.clip(2.0 * (1.0 - np.abs(x)), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Gone with this process."""
    return tempfile.TemporaryDirectory(prefix="palpate-things-")


@lru_cache(maxsize=1)
def hull_file() -> Path:
    """The boat's mesh as a file, written when it is first asked for: a Shape names its mesh by a file."""
    import trimesh

    path = Path(_folder().name) / "boat.ply"
    trimesh.Trimesh(*hull_mesh(), process=False).export(path)
    return path


def boat(at: Vector3 = (0.0, 0.0, 0.0), R: Rotation = IDENTITY.R, *, name: str = "boat") -> MultiBody:
    """The boat, fixed: its gunwale amidships at `at` [m]; 1.6 m long, felt as its triangles."""
    shape = Shape("mesh", (1.0, 1.0, 1.0), mesh=hull_file(), convex=False, color=VARNISH)
    return MultiBody(name, (Body(name, shapes=(shape,)),), (Joint(name, "fixed", "world", name, Transform(R, at)),))


class Slab(NamedTuple):
    """A slab with a texture on it."""

    surface: Surface
    color: Color


def _gravel(seed: int = 3, cells: int = 32, side_m: float = 0.064) -> HeightMap:
    """Random heights of 0.3 mm that repeat, smooth over 8 mm: the sum of every wave that long or longer."""
    rng = np.random.default_rng(seed)
    waves = np.fft.fftfreq(cells, 1.0 / cells)
    short = np.hypot(waves[:, None], waves[None, :]) > side_m / 8e-3
    spectrum = np.fft.fft2(rng.standard_normal((cells, cells)))
    spectrum[short] = 0.0
    heights = np.fft.ifft2(spectrum).real
    heights *= 0.3e-3 / np.abs(heights).max()
    return HeightMap(np.pad(heights, (0, 1), mode="wrap"), (side_m, 0.0, 0.0), (0.0, side_m, 0.0), repeat=True)


SLABS = {
    "plain": Slab(Surface(), (0.75, 0.75, 0.78, 1.0)),
    "ridges": Slab(Surface(texture=Sinusoid(0.3e-3, 5e-3)), (0.36, 0.53, 0.72, 1.0)),
    "gravel": Slab(Surface(texture=_gravel()), (0.56, 0.52, 0.45, 1.0)),
    "ice": Slab(Surface(stiffness_N_m=1500.0, static_friction=0.03, dynamic_friction=0.02), (0.72, 0.87, 0.94, 1.0)),
    "rubber": Slab(Surface(stiffness_N_m=600.0, static_friction=0.9, dynamic_friction=0.8), (0.25, 0.25, 0.27, 1.0)),
}


def slab(kind: str, at: Vector3, R: Rotation = IDENTITY.R, *, size: Vector3 = (0.3, 0.3, 0.04)) -> MultiBody:
    """A fixed slab of edges `size` [m] around `at`, called by its kind; SLABS[kind].surface is how it feels.

    Ridges run along its y: a hand that goes along x feels them.
    """
    if kind not in SLABS:
        raise ValueError(f"no slab is called {kind!r}; there are: {', '.join(SLABS)}")
    return box(size, at=at, R=R, fixed=True, name=kind, color=SLABS[kind].color)


def surfaces() -> dict[str, Surface]:
    """By body: the boat is varnished, smooth; slabs are as SLABS has them."""
    return {"boat": Surface(static_friction=0.15, dynamic_friction=0.1)} | {k: s.surface for k, s in SLABS.items()}
