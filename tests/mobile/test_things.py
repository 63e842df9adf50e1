"""What stands in the room of the mobile display: the boat is a solid, smooth; slabs feel as their surfaces say."""

import numpy as np
import pytest

from palpate.haptics.rendering.facade import Proxy
from palpate.haptics.rendering.surface import SHARP_DEG
from palpate.mobile import things
from palpate.model.compile import compile

SIZES = [(things.STATIONS, things.AROUND), (4, 8), (9, 30)]


@pytest.mark.parametrize("size", SIZES)
def test_every_edge_of_the_hull_is_shared_by_two_triangles_that_pass_it_in_opposite_ways(size):
    vertices, triangles = things.hull_mesh(*size)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    ways, times = np.unique(edges, axis=0, return_counts=True)
    assert (times == 1).all()
    assert {(int(b), int(a)) for a, b in ways} == {(int(a), int(b)) for a, b in ways}
    # in one piece, without a hole through it, and no vertex left over
    assert len(vertices) - len(ways) // 2 + len(triangles) == 2
    assert np.array_equal(np.unique(triangles), np.arange(len(vertices)))
    assert len(triangles) == 2 * size[0] * size[1]


def test_the_hull_encloses_the_sum_of_its_sections():
    """Sections without the cabin are two half ellipses: pi/2 b (d + e); the cabin stands on the deck."""
    vertices, triangles = things.hull_mesh()
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
    s = np.linspace(-1.0, 1.0, 200_001)
    p, r = things.STERN_POWER, things.BOW_POWER
    full = (1.0 + s) ** p * (1.0 - s) ** r
    full /= full.max()
    area = 0.5 * np.pi * (0.5 * things.BEAM_M * full) * (things.DEPTH_M + things.CAMBER_M) * full
    bare = float(np.trapezoid(area, 0.5 * things.LENGTH_M * s))
    cabin = things.CABIN_M * things.CABIN_WIDTH * things.BEAM_M * 0.5 * (things.CABIN_TO - things.CABIN_FROM)
    assert 0.98 * bare < volume < bare + cabin * things.LENGTH_M
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    assert (high - low)[:2] == pytest.approx([things.LENGTH_M, things.BEAM_M], rel=1e-3)


def test_the_hull_is_smooth():
    """No edge bends as much as those that keep the normals of their faces, and no triangle is a sliver of nothing."""
    vertices, triangles = things.hull_mesh()
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    areas = np.linalg.norm(n, axis=1)
    assert areas.min() > 1e-7
    n /= areas[:, None]
    sides = {}
    for k, triangle in enumerate(triangles):
        for i in range(3):
            sides.setdefault(frozenset(triangle[[i, (i + 1) % 3]].tolist()), []).append(k)
    pairs = np.array(list(sides.values()))
    bends = np.degrees(np.arccos(np.clip(np.einsum("ij,ij->i", n[pairs[:, 0]], n[pairs[:, 1]]), -1.0, 1.0)))
    assert bends.max() < SHARP_DEG


def test_the_boat_is_solid_inside_and_nothing_is_outside():
    proxy = Proxy(things.boat(at=(1.0, 2.0, 0.5)))
    vertices, triangles = things.hull_mesh()
    rng = np.random.default_rng(2)
    for k in rng.integers(0, len(triangles), 40):
        a, b, c = vertices[triangles[k]]
        n = np.cross(b - a, c - a)
        middle, n = (a + b + c) / 3.0 + (1.0, 2.0, 0.5), n / np.linalg.norm(n)
        assert proxy.nearest(middle + 1e-4 * n).distance == pytest.approx(1e-4, rel=0.05)
        assert proxy.nearest(middle - 1e-4 * n).distance == pytest.approx(-1e-4, rel=0.05)
    assert proxy.nearest((1.0, 2.0, 0.45)).distance < -0.05


def test_slabs_and_boat_stand_together_with_their_surfaces():
    room = [things.boat(), *(things.slab(kind, (0.4 * k, 2.0, 0.5)) for k, kind in enumerate(things.SLABS))]
    model = compile(room)
    assert set(things.surfaces()) <= set(model.body_names)
    proxy = Proxy(model, by_body=things.surfaces())
    for k, (kind, slab) in enumerate(things.SLABS.items()):
        proxy.reset()
        proxy.update((0.4 * k, 2.0, 0.53), (0.0, 0.0, 0.0))
        proxy.update((0.4 * k, 2.0, 0.519), (0.0, 0.0, 0.0))
        assert [touch.body for touch in proxy.touches] == [kind]
        assert proxy.force[2] == pytest.approx(
            1e-3 * slab.surface.stiffness_N_m, rel=0.35 if slab.surface.texture else 0.01
        )


def test_bad_things_are_told_in_a_line():
    with pytest.raises(ValueError, match=r"no slab is called 'silk'; there are: plain, ridges"):
        things.slab("silk", (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"at least 4 stations and an even number"):
        things.hull_mesh(64, 9)
