"""Textures: what the hand feels as it is moved over them."""

import math

import numpy as np
import pytest

import palpate as pp
from palpate.haptics.rendering.facade import Proxy
from palpate.haptics.rendering.surface import HeightMap, Sinusoid, Surface

STILL = (0.0, 0.0, 0.0)
FLAT = np.zeros((5, 7))


def plain(texture=None, stiffness=1000.0) -> Surface:
    return Surface(stiffness, 0.0, 0.0, 0.0, texture=texture)


def scanned(surface: Surface, speed: float, n: int, depth: float = 2e-3, direction=(1.0, 0.0, 0.0)) -> np.ndarray:
    """Forces (n, 3) of a hand that is drawn over a plane at 1 kHz."""
    proxy = Proxy(pp.Shape("plane"), surface)
    proxy.update((0, 0, 0.01), STILL)
    hips = np.outer(speed * 1e-3 * np.arange(n), direction) - [0, 0, depth]
    return proxy.follow(hips, np.tile(speed * np.array(direction), (n, 1)))[1]


def test_sinusoid_is_felt_at_speed_over_wavelength():
    """mobile-haptic-display.md acceptance 33: 0.3 mm / 5 mm at 50 mm/s has its peak at 10 +- 0.5 Hz."""
    force = scanned(plain(Sinusoid(0.3e-3, 5e-3)), 0.05, 4000)
    for axis in (0, 2):
        spectrum = np.abs(np.fft.rfft(force[:, axis] - force[:, axis].mean()))
        assert np.fft.rfftfreq(4000, 1e-3)[spectrum.argmax()] == pytest.approx(10.0, abs=0.5)
    assert np.ptp(force[:, 2]) > 0.3


@pytest.mark.parametrize("texture", [Sinusoid(0.0, 5e-3), HeightMap(FLAT, (0.1, 0, 0), (0, 0.1, 0), repeat=True)])
def test_no_height_is_no_texture(texture):
    """mobile-haptic-display.md acceptance 33: the same force to 1e-12, with friction and damping."""
    rough = [Surface(1000.0, 1.0, 0.4, 0.3, texture=x) for x in (None, texture)]
    one, other = (scanned(surface, 0.05, 500) for surface in rough)
    assert np.abs(one - other).max() <= 1e-12


@pytest.mark.nojit
def test_sinusoid_pushes_with_depth_and_height_along_the_normal_of_its_slope():
    """|F| = k (d + h), along unit(n - grad h)."""
    texture, k = Sinusoid(0.3e-3, 5e-3, (0.0, 2.0, 0.0)), 2 * math.pi / 5e-3
    y = 0.05e-3 * np.arange(120)
    force = scanned(plain(texture), 0.05, 120, direction=(0.0, 1.0, 0.0))
    h, slope = 0.3e-3 * np.sin(k * y), 0.3e-3 * k * np.cos(k * y)
    assert np.linalg.norm(force, axis=1) == pytest.approx(1000.0 * (2e-3 + h), rel=1e-9)
    assert -force[:, 1] / force[:, 2] == pytest.approx(slope, abs=1e-9)


def test_a_closed_path_over_a_texture_gives_no_energy():
    """In and out and along: the work is that of the second order in the slope, which the unit normal neglects."""
    slope, wavelength = 0.06, 5e-3
    texture = Sinusoid(slope * wavelength / (2 * math.pi), wavelength)
    angle = np.linspace(0.0, 2 * math.pi, 4001)
    path = np.stack([1.3e-3 * np.cos(angle), 0.0 * angle, -3e-3 + 1.5e-3 * np.sin(angle)], axis=1)
    proxy = Proxy(pp.Shape("plane"), plain(texture))
    proxy.update((path[0, 0], 0.0, 0.01), STILL)
    force = proxy.follow(path)[1]
    steps, middle = np.diff(path, axis=0), 0.5 * (force[1:] + force[:-1])
    work = np.einsum("ij,ij->i", middle, steps)
    assert abs(work.sum()) <= slope**2 * np.abs(work).sum()


def test_touch_of_a_textured_surface_begins_without_a_jump():
    """Deeper by a micrometre is never more than a few micrometres of force, whatever the phase."""
    proxy = Proxy(pp.Shape("plane"), plain(Sinusoid(0.3e-3, 5e-3)))
    for x in np.linspace(0.0, 5e-3, 11):
        proxy.reset()
        depth = 1e-6 * np.arange(-20, 800)
        force = proxy.follow(np.stack([np.full(820, x), np.zeros(820), -depth], axis=1))[1]
        assert (force[:, 2] >= 0.0).all()
        assert np.abs(np.diff(force, axis=0)).max() <= 3.0 * 1000.0 * 1e-6


def test_height_map_is_the_function_it_was_sampled_from():
    """A smooth height over a patch, its gradient from the nodes; nothing outside; a map that repeats has no seam."""
    n, side, A = 41, 0.02, 0.2e-3
    s = np.linspace(0.0, 1.0, n)
    waves = A * np.outer(np.sin(2 * np.pi * s), np.cos(2 * np.pi * s))
    for repeat in (False, True):
        texture = HeightMap(waves, (side, 0, 0), (0, side, 0), (0.01, -0.005, 0.0), repeat)
        proxy = Proxy(pp.Shape("plane"), plain(texture))
        rng = np.random.default_rng(0)
        for u, v in rng.uniform(-0.9 if repeat else 0.05, 1.9 if repeat else 0.95, size=(60, 2)):
            x, y = 0.01 + side * u, -0.005 + side * v
            proxy.reset()
            proxy.update((x, y, 0.01), STILL)
            force = proxy.update((x, y, -2e-3), STILL)
            h = A * math.sin(2 * math.pi * u) * math.cos(2 * math.pi * v)
            slope = A * 2 * math.pi / side * np.array(
                [math.cos(2 * math.pi * u) * math.cos(2 * math.pi * v),
                 -math.sin(2 * math.pi * u) * math.sin(2 * math.pi * v)])  # fmt: skip
            # bilinear between 41 nodes: relative error of about (2 pi / 40)^2 / 8, twice that with the slopes' own
            assert np.linalg.norm(force) == pytest.approx(1000.0 * (2e-3 + h), abs=1000.0 * A * 0.01)
            assert -force[:2] / force[2] == pytest.approx(slope, abs=0.03 * A * 2 * math.pi / side)
        proxy.reset()
        proxy.update((-0.5, 0.3, 0.01), STILL)
        outside = proxy.update((-0.5, 0.3, -2e-3), STILL)
        assert repeat or np.array_equal(outside, np.array([0.0, 0.0, outside[2]]))


def test_texture_fades_where_a_1_khz_loop_would_alias():
    """mobile-haptic-display.md 5.3: |v| / wavelength up to 200 Hz in full; nothing from 400 Hz on."""
    texture = Sinusoid(0.1e-3, 2e-3)
    slow, fast = scanned(plain(texture), 0.39, 400), scanned(plain(texture), 0.81, 400)
    assert np.ptp(slow[:, 2]) > 0.15
    assert np.ptp(fast[:, 2]) < 1e-9


def test_texture_can_be_turned_off_while_the_place_is_uncertain():
    """mobile-haptic-display.md 5.3: with a gain of 0 the surface is smooth."""
    proxy = Proxy(pp.Shape("plane"), plain(Sinusoid(0.3e-3, 5e-3)))
    proxy.rendering.state.texture_gain = 0.0
    proxy.update((1.25e-3, 0, 0.01), STILL)
    assert proxy.update((1.25e-3, 0, -2e-3), STILL) == pytest.approx([0, 0, 2.0], abs=1e-9)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Sinusoid(0.6e-3, 10e-3), "amplitude"),
        (lambda: Sinusoid(0.1e-3, 0.5e-3), "wavelength"),
        (lambda: Sinusoid(0.5e-3, 2e-3), "slope"),
        (lambda: HeightMap(np.zeros(4), (1, 0, 0), (0, 1, 0)), "2 x 2"),
        (lambda: HeightMap(FLAT, (1, 0, 0), (1, 1, 0)), "right angles"),
        (lambda: HeightMap(np.eye(3), (1, 0, 0), (0, 1, 0)), "slope"),
    ],
)
def test_a_texture_that_cannot_be_rendered_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
