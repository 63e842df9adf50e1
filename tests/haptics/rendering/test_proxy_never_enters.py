"""The promise of the proxy: it stays outside, whatever the hand and the bodies do."""

import numpy as np
import pytest
from collision.scenes import BOX_TRIANGLES, box_vertices, grid
from felt_things import body, hull_gap, icosphere, primitive_gap, pushing, star, write_mesh
from hypothesis import given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate.haptics.rendering.facade import Proxy
from palpate.haptics.rendering.surface import Surface

# Signed distance less the radius [m]; the skin keeps it positive.
OUTSIDE = -1e-9
STILL = (0.0, 0.0, 0.0)
PRIMITIVES = {
    "plane": pp.Shape("plane"),
    "sphere": pp.Shape("sphere", (0.05,)),
    "capsule": pp.Shape("capsule", (0.03, 0.12)),
    "box": pp.Shape("box", (0.10, 0.14, 0.08)),
    "cylinder": pp.Shape("cylinder", (0.05, 0.09)),
    "plate": pp.Shape("box", (0.3, 0.3, 0.001)),
}
seeds, radii, frictions = st.integers(0, 10**6), st.sampled_from([0.0, 0.004]), st.sampled_from([0.0, 0.4])
steps_m = st.sampled_from([5e-4, 2e-3, 2e-2])


def rough(mu: float) -> Surface:
    return Surface(static_friction=mu, dynamic_friction=0.75 * mu)


@pytest.fixture(scope="module")
def meshes(tmp_path_factory):
    """name -> (shape, vertices, triangles) of closed convex solids, touched as triangles and as hulls."""
    folder, found = tmp_path_factory.mktemp("meshes"), {}
    points = np.random.default_rng(0).normal(size=(40, 3)) * 0.05
    from palpate.collision.polyhedra import hull_triangles

    solids = {"icosphere": icosphere(3, 0.1), "box": (box_vertices(0.1, 0.14, 0.08), BOX_TRIANGLES)}
    triangles = hull_triangles(points)
    assert triangles is not None
    solids["random hull"] = (points, triangles)
    for name, (v, t) in solids.items():
        for convex in (False, True):
            found[name, convex] = (write_mesh(folder / f"{name} {convex}.obj", v, t, convex), v, t)
    return found


@pytest.mark.parametrize("name", PRIMITIVES)
@settings(max_examples=12, deadline=None)
@given(seeds, radii, frictions, steps_m)
def test_random_pushing_never_enters_a_primitive(name, seed, radius, mu, step):
    """mobile-haptic-display.md acceptance 28: signed distance >= -1e-9 m."""
    shape = PRIMITIVES[name]
    proxy = Proxy(shape, rough(mu), radius_m=radius)
    positions, _ = proxy.follow(pushing(np.random.default_rng(seed), 400, (0, 0, 0), 0.1, step))
    assert min(primitive_gap(shape, x) for x in positions) - radius >= OUTSIDE


@pytest.mark.parametrize("convex", [False, True])
@pytest.mark.parametrize("name", ["icosphere", "box", "random hull"])
@settings(max_examples=6, deadline=None)
@given(seeds, radii, frictions, steps_m)
def test_random_pushing_never_enters_a_mesh(meshes, name, convex, seed, radius, mu, step):
    """mobile-haptic-display.md acceptance 28: an icosphere; and other solids, as triangles and as hulls."""
    shape, vertices, triangles = meshes[name, convex]
    proxy = Proxy(shape, rough(mu), radius_m=radius)
    positions, _ = proxy.follow(pushing(np.random.default_rng(seed), 400, (0, 0, 0), 0.12, step))
    assert hull_gap(vertices, triangles, positions).min() >= OUTSIDE
    assert min(proxy.nearest(x).distance for x in positions[::7]) - radius >= OUTSIDE


@settings(max_examples=12, deadline=None)
@given(seeds, radii, frictions, steps_m)
def test_random_pushing_never_enters_an_l_shaped_union(seed, radius, mu, step):
    """mobile-haptic-display.md acceptance 28: two boxes that overlap, with a concave edge between them."""
    low, high, at = pp.Shape("box", (0.2, 0.1, 0.1)), pp.Shape("box", (0.1, 0.1, 0.3)), np.array([0.05, 0.0, 0.1])
    both = [low, pp.Shape("box", high.size, pp.Transform(p=tuple(at)))]
    proxy = Proxy(both, rough(mu), radius_m=radius)
    positions, _ = proxy.follow(pushing(np.random.default_rng(seed), 400, (0, 0, 0.05), 0.15, step))
    gaps = [min(primitive_gap(low, x), primitive_gap(high, x - at)) for x in positions]
    assert min(gaps) - radius >= OUTSIDE


@settings(max_examples=15, deadline=None)
@given(seeds, st.sampled_from([0.0, 0.004, 0.02]), frictions, st.booleans())
def test_spikes_and_notches_never_take_the_proxy_in(tmp_path_factory, seed, radius, mu, moves):
    """A star of triangles, at rest or swinging and turning at up to 1 m/s."""
    rng = np.random.default_rng(seed)
    shape = write_mesh(tmp_path_factory.getbasetemp() / "star.obj", *star(0.1))
    proxy, pose = Proxy(body("star", shape, fixed=not moves), rough(mu), radius_m=radius), motion(rng, 1.0)
    for k, hip in enumerate(pushing(rng, 150, (0, 0, 0), 0.1, 2e-3)):
        if moves:
            p, R = pose(1e-3 * k)
            proxy.move([*p, *R.wxyz])
        if k == 0:
            proxy.reset()
        proxy.update(hip, STILL)
        assert proxy.nearest(proxy.position).distance - radius >= OUTSIDE


@settings(max_examples=15, deadline=None)
@given(seeds, radii, frictions)
def test_hills_of_a_mesh_are_never_passed_from_the_front(tmp_path_factory, seed, radius, mu):
    """A sheet of hills and valleys: above it at every place, whatever is pushed against it."""
    path = tmp_path_factory.getbasetemp() / "hills.obj"

    def height(x, y):
        return 0.02 * np.sin(25 * x) * np.cos(20 * y)

    vertices, triangles = grid(24, 0.8, height)
    proxy = Proxy(write_mesh(path, vertices, triangles), rough(mu), radius_m=radius)
    positions, _ = proxy.follow(pushing(np.random.default_rng(seed), 400, (0, 0, 0.0), 0.1, 2e-3))
    assert min(proxy.nearest(x).distance for x in positions[::5]) - radius >= OUTSIDE


@pytest.mark.parametrize("mesh", [False, True])
@pytest.mark.parametrize("radius", [0.0, 0.004])
def test_a_thin_plate_is_never_crossed_at_2_m_s(tmp_path, mesh, radius):
    """mobile-haptic-display.md acceptance 28: 1 mm plate, updates of 1 ms, the hand 30 mm beyond it."""
    shape = PRIMITIVES["plate"]
    if mesh:
        shape = write_mesh(tmp_path / "plate.obj", box_vertices(0.3, 0.3, 0.001), BOX_TRIANGLES)
    proxy = Proxy(shape, rough(0.4), radius_m=radius)
    rng = np.random.default_rng(1)
    for speed in (0.2, 1.0, 2.0):
        for _ in range(30):
            start, way = rng.uniform(-0.05, 0.05, 3) + [0, 0, 0.08], rng.uniform(-0.3, 0.3, 3) - [0, 0, 1.0]
            side = rng.choice([-1.0, 1.0])
            way /= -way[2]
            down = np.arange(0.0, start[2] + 0.030, speed * 1e-3)
            hips = (start + np.outer(down, way)) * [1, 1, side]
            proxy.reset()
            positions, forces = proxy.follow(np.vstack([hips, hips[-1:]]))
            assert (positions[:, 2] * side - 0.5e-3 - radius >= OUTSIDE).all()
            assert forces[-1, 2] * side == pytest.approx(1000.0 * (0.030 + radius + 0.5e-3), abs=2.5)


def motion(rng: np.random.Generator, speed: float):
    """A body that swings and turns, its origin at most at `speed` [m/s]: t -> (position, Rotation)."""
    amplitude, phase = rng.uniform(0.01, 0.06, 3), rng.uniform(0.0, 6.0, 3)
    omega = speed / np.linalg.norm(amplitude) * rng.uniform(0.3, 1.0)
    axis, spin = rng.normal(size=3), rng.uniform(0.0, 6.0)
    axis /= np.linalg.norm(axis)
    return lambda t: (amplitude * np.sin(omega * t + phase), pp.Rotation.about(axis, spin * t))


@pytest.mark.parametrize("name", PRIMITIVES)
@settings(max_examples=5, deadline=None)
@given(seeds, radii, frictions)
def test_a_moving_body_pushes_the_proxy_and_never_sweeps_over_it(name, seed, radius, mu):
    """Up to 2 m/s and 6 rad/s, the hand moving too; a plate is never jumped, which a distance would not show."""
    rng, shape = np.random.default_rng(seed), PRIMITIVES[name]
    proxy = Proxy(body("thing", shape, fixed=False), rough(mu), radius_m=radius)
    pose, side = motion(rng, 2.0), 0.0
    for k, hip in enumerate(pushing(rng, 200, (0, 0, 0), 0.04, rng.choice([1e-4, 2e-3]))):
        p, R = pose(1e-3 * k)
        proxy.move([*p, *R.wxyz])
        if k == 0:
            proxy.reset()
        proxy.update(hip, STILL)
        x = R.matrix().T @ (proxy.position - p)
        assert primitive_gap(shape, x) - radius >= OUTSIDE
        if name == "plate":
            over = np.abs(x[:2]).max() < 0.145
            assert not (over and side * x[2] < 0.0)
            side = np.sign(x[2]) if over else 0.0


@settings(max_examples=5, deadline=None)
@given(seeds, radii)
def test_a_moving_thin_mesh_never_sweeps_over_the_proxy(tmp_path_factory, seed, radius):
    shape = write_mesh(tmp_path_factory.getbasetemp() / "thin.obj", box_vertices(0.3, 0.3, 0.001), BOX_TRIANGLES)
    rng = np.random.default_rng(seed)
    proxy = Proxy(body("thing", shape, fixed=False), rough(0.4), radius_m=radius)
    pose, side = motion(rng, 2.0), 0.0
    for k, hip in enumerate(pushing(rng, 200, (0, 0, 0), 0.04, 1e-4)):
        p, R = pose(1e-3 * k)
        proxy.move([*p, *R.wxyz])
        if k == 0:
            proxy.reset()
        proxy.update(hip, STILL)
        x = R.matrix().T @ (proxy.position - p)
        assert primitive_gap(PRIMITIVES["plate"], x) - radius >= OUTSIDE
        over = np.abs(x[:2]).max() < 0.145
        assert not (over and side * x[2] < 0.0)
        side = np.sign(x[2]) if over else 0.0


@settings(max_examples=8, deadline=None)
@given(seeds, radii, frictions)
def test_a_crowd_of_moving_bodies_never_takes_the_proxy_in(seed, radius, mu):
    """A floor, a wall, and a plate, a capsule and a box that swing and turn among them; unless they leave no room."""
    shapes = {"plate": PRIMITIVES["plate"], "capsule": pp.Shape("capsule", (0.02, 0.1)), "box": PRIMITIVES["box"]}
    wall, at = pp.Shape("box", (0.02, 0.4, 0.4)), np.array([0.1, 0.0, 0.2])
    parts = [body("floor", pp.Shape("plane")), body("wall", wall, at=pp.Transform(p=tuple(at)))]
    parts += [body(name, shape, fixed=False) for name, shape in shapes.items()]
    proxy, rng = Proxy(pp.compile(parts), rough(mu), radius_m=radius), np.random.default_rng(seed)
    poses, centre = [motion(rng, 0.5) for _ in shapes], np.array([0.0, 0.0, 0.1])
    for k, hip in enumerate(pushing(rng, 200, centre, 0.1, 2e-3)):
        now = [(p + centre, R) for p, R in (pose(1e-3 * k) for pose in poses)]
        proxy.move(np.concatenate([[*p, *R.wxyz] for p, R in now]))
        if k == 0:
            proxy.reset()
        before = proxy.squeezed
        proxy.update(hip, STILL)
        if proxy.squeezed > before:
            return
        x = proxy.position
        gaps = [x[2], primitive_gap(wall, x - at)]
        gaps += [primitive_gap(s, R.matrix().T @ (x - p)) for s, (p, R) in zip(shapes.values(), now, strict=True)]
        assert min(gaps) - radius >= OUTSIDE


def test_a_proxy_without_room_is_counted_and_comes_free_again():
    """A plate that closes on the floor and opens: finite forces, and in the end the hand is free."""
    parts = [body("floor", pp.Shape("plane")), body("press", pp.Shape("box", (0.2, 0.2, 0.02)), fixed=False)]
    proxy = Proxy(pp.compile(parts), rough(0.4), radius_m=0.005)
    for k in range(200):
        proxy.move([0, 0, 0.01 + 0.02 * abs(1.0 - k / 100), 1, 0, 0, 0])
        if k == 0:
            proxy.reset()
        force = proxy.update((0, 0, 0.008), STILL)
        assert np.isfinite(force).all()
        assert np.linalg.norm(force) < 100.0
    assert proxy.squeezed > 0
    proxy.move([0, 0, 0.2, 1, 0, 0, 0])
    for _ in range(3):
        force = proxy.update((0, 0, 0.05), STILL)
    assert np.array_equal(force, np.zeros(3))
    assert proxy.position == pytest.approx([0, 0, 0.05], abs=1e-9)
