"""What the hand feels through the proxy: depth times stiffness, corners, friction, damping, taps, moving ground."""

import math

import numpy as np
import pytest
from collision.scenes import BOX_TRIANGLES, box_vertices
from felt_things import body, icosphere, pushing, write_mesh
from hypothesis import given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate.collision.polyhedra import volume
from palpate.haptics.rendering.entries import update_entry
from palpate.haptics.rendering.facade import Proxy, Rendering
from palpate.haptics.rendering.surface import Surface, Transient

ICE = Surface(static_friction=0.0, dynamic_friction=0.0, damping_Ns_m=0.0)
STILL = (0.0, 0.0, 0.0)


def pressed(proxy: Proxy, *hips) -> np.ndarray:
    """The force after the hand went to these places, one update each."""
    force = np.zeros(3)
    for hip in hips:
        force = proxy.update(hip, STILL)
    return force


@pytest.mark.nojit
def test_flat_wall_pushes_back_with_stiffness_times_depth():
    """mobile-haptic-display.md acceptance 28: 5 mm at 1 N/mm are 5.0 +- 0.01 N."""
    proxy = Proxy(pp.Shape("plane"), ICE)
    for depth in (0.0, 1e-3, 2e-3, 5e-3):
        proxy.reset()
        force = pressed(proxy, (0.01, 0.02, 0.01), (0.01, 0.02, -depth))
        assert force == pytest.approx([0.0, 0.0, 1000.0 * depth], abs=1e-9)
        assert proxy.position == pytest.approx([0.01, 0.02, 0.0], abs=2e-5)


def test_sphere_of_5120_triangles_feels_like_a_sphere(tmp_path):
    """mobile-haptic-display.md acceptance 28: 5.03 +- 0.1 N; direction within 2.6 degrees flat, 0.6 shaded.

    The triangles enclose the volume of the sphere of 100 mm: with their corners on it, the middle of a face would be
    0.09 mm too deep.
    """
    vertices, triangles = icosphere(4, 0.1)
    vertices *= (4.0 / 3.0 * math.pi * 0.1**3 / volume(vertices, triangles)) ** (1.0 / 3.0)
    shape = write_mesh(tmp_path / "ball.obj", vertices, triangles)
    rng = np.random.default_rng(0)
    for shading, most_deg in ((False, 2.6), (True, 0.6)):
        proxy = Proxy(shape, Surface(1000.0, 0.0, 0.0, 0.0, shading=shading))
        assert len(proxy.rendering.geometry.triangle) == 5120
        for _ in range(400):
            n = rng.normal(size=3)
            n /= np.linalg.norm(n)
            proxy.reset()
            force = pressed(proxy, 0.12 * n, 0.095 * n, 0.095 * n)
            assert np.linalg.norm(force) == pytest.approx(5.03, abs=0.1)
            assert math.degrees(math.acos(min(force @ n / np.linalg.norm(force), 1.0))) <= most_deg


@pytest.mark.parametrize("convex", [False, True])
def test_shading_leaves_sharp_edges_sharp(tmp_path, convex):
    """Edges of a cube bend by 90 degrees: the force on a face is along its normal right up to the edge."""
    shape = write_mesh(tmp_path / "cube.obj", box_vertices(0.1, 0.1, 0.1), BOX_TRIANGLES, convex)
    proxy = Proxy(shape, ICE)
    for x in (0.0, 0.03, 0.0499):
        proxy.reset()
        force = pressed(proxy, (x, 0.01, 0.06), (x, 0.01, 0.049))
        assert force == pytest.approx([0.0, 0.0, 1.0], abs=1e-6)


@pytest.mark.nojit
def test_concave_corners_hold_the_proxy_in_edge_and_vertex():
    """Two walls: it sits in the edge; three: in the corner; each wall pushes with its own depth."""
    walls = [
        pp.Shape("plane"),
        pp.Shape("plane", placement=pp.Transform(pp.Rotation.between((0, 0, 1), (1, 0, 0)))),
        pp.Shape("plane", placement=pp.Transform(pp.Rotation.between((0, 0, 1), (0, 1, 0)))),
    ]
    for n in (2, 3):
        proxy = Proxy(walls[:n], ICE)
        hip = np.array([-0.003, 0.05 if n == 2 else -0.004, -0.002])
        force = pressed(proxy, (0.05, 0.05, 0.05), hip)
        expected = [3.0, 0.0 if n == 2 else 4.0, 2.0]
        assert force == pytest.approx(expected, abs=1e-9)
        assert len(proxy.touches) == n
        assert np.abs(proxy.position - np.maximum(hip, 0.0)).max() < 2e-5
        assert np.array_equal(force, -sum(t.force_on_body for t in proxy.touches))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.003]))
def test_forces_on_bodies_and_hand_sum_to_zero_exactly(seed, radius):
    rng = np.random.default_rng(seed)
    shapes = [
        pp.Shape("box", (0.2, 0.2, 0.05)),
        pp.Shape("box", (0.05, 0.2, 0.2), pp.Transform(p=(0.05, 0.0, 0.1))),
        pp.Shape("capsule", (0.03, 0.1), pp.Transform(p=(-0.05, 0.05, 0.05))),
    ]
    proxy = Proxy(shapes, Surface(stiffness_N_m=800.0), {"shape1": Surface(2000.0, 3.0, 0.9, 0.5)}, radius_m=radius)
    for hip in pushing(rng, 150, (0.0, 0.0, 0.05), 0.1, 2e-3):
        force = proxy.update(hip)
        assert np.array_equal(force, -sum((t.force_on_body for t in proxy.touches), np.zeros(3)))
        assert all(t.force_on_body @ t.normal <= 1e-12 for t in proxy.touches)  # nothing pulls


@settings(max_examples=40, deadline=None)
@given(st.floats(0.02, 1.2), st.floats(0.0, 2 * math.pi), st.floats(0.1, 1.0))
def test_proxy_sticks_on_an_incline_below_the_friction_angle_and_slips_above(angle, heading, mu):
    """A hand that pushes straight down on a slope."""
    if abs(math.tan(angle) - mu) < 1e-3:
        return
    n = np.array([math.sin(angle) * math.cos(heading), math.sin(angle) * math.sin(heading), math.cos(angle)])
    slope = pp.Shape("plane", placement=pp.Transform(pp.Rotation.between((0, 0, 1), n)))
    proxy = Proxy(slope, Surface(1000.0, 0.0, mu, mu))
    proxy.update((0.0, 0.0, 0.01), STILL)
    proxy.update((0.0, 0.0, -1e-6), STILL)
    start = proxy.position
    force = pressed(proxy, *[(0.0, 0.0, -1e-4 * k) for k in range(1, 40)])
    normal = force @ n
    ratio = np.linalg.norm(force - normal * n) / normal
    slipped = np.linalg.norm(proxy.position - start) > 1e-7
    assert slipped == (math.tan(angle) > mu)
    assert ratio == pytest.approx(min(mu, math.tan(angle)), rel=1e-2)


def test_friction_breaks_away_at_the_static_and_slides_at_the_dynamic_coefficient():
    """mobile-haptic-display.md acceptance 29: at mu_s depth +- 0.1 mm; sliding ratio mu_d +- 0.01."""
    proxy = Proxy(pp.Shape("plane"), Surface(1000.0, 0.0, 0.6, 0.5))
    depth, step = 4.1e-3, 0.05e-3
    pressed(proxy, (0, 0, 0.01), (0, 0, -depth))
    broke, ratios = None, []
    for k in range(1, 200):
        force = proxy.update((k * step, 0, -depth), STILL)
        if broke is None and proxy.position[0] > 1e-9:
            broke = k * step
        elif broke is not None:
            ratios.append(-force[0] / force[2])
    assert broke == pytest.approx(0.6 * depth, abs=0.1e-3)
    assert ratios == pytest.approx(np.full(len(ratios), 0.5), abs=1e-2)
    # at rest again it sticks, and holds up to the static coefficient
    at = 199 * step
    pressed(proxy, (at, 0, -depth), (at, 0, -depth))
    held = proxy.position[0]
    pressed(proxy, (held + 0.59 * depth, 0, -depth))
    assert proxy.position[0] == pytest.approx(held, abs=1e-9)


def test_a_moving_plate_drags_the_hand_until_friction_breaks():
    """The proxy is carried along with what it touches: the force grows with the way of the plate."""
    plate = pp.compile(body("plate", pp.Shape("box", (0.4, 0.4, 0.02)), fixed=False))
    proxy = Proxy(plate, Surface(1000.0, 0.0, 0.5, 0.4))
    proxy.move([0, 0, -0.01, 1, 0, 0, 0])
    pressed(proxy, (0, 0, 0.01), (0, 0, -0.004))
    for k in range(1, 60):
        x = 1e-4 * k
        proxy.move([x, 0, -0.01, 1, 0, 0, 0])
        force = proxy.update((0, 0, -0.004), STILL)
        stretch = proxy.position[0]
        assert force[0] == pytest.approx(1000.0 * stretch, rel=1e-6)
        if x < 0.5 * 0.004 - 1e-4:
            assert stretch == pytest.approx(x, abs=1e-9)
        elif x > 0.5 * 0.004 + 1e-4:
            assert force[0] / force[2] == pytest.approx(0.4, abs=0.03)


@pytest.mark.nojit
def test_a_sticking_proxy_turns_with_its_body():
    """On a turning disc, far from the axis: the proxy keeps its place on the disc."""
    disc = pp.compile(body("disc", pp.Shape("cylinder", (0.2, 0.02)), fixed=False))
    proxy = Proxy(disc, Surface(1000.0, 0.0, 5.0, 5.0))
    proxy.move([0, 0, -0.01, 1, 0, 0, 0])
    pressed(proxy, (0.1, 0, 0.01), (0.1, 0, -0.005))
    for k in range(1, 30):
        turn = pp.Rotation.about((0, 0, 1), 0.002 * k)
        proxy.move([0, 0, -0.01, *turn.wxyz])
        proxy.update((0.1, 0, -0.005), STILL)
        assert proxy.position[:2] == pytest.approx(turn.matrix()[:2, 0] * 0.1, abs=1e-9)


def test_damping_resists_coming_relative_to_the_surface_and_never_pulls():
    floor = pp.compile(body("floor", pp.Shape("box", (1.0, 1.0, 0.1)), fixed=False))
    proxy = Proxy(floor, Surface(1000.0, 2.0, 0.0, 0.0))
    down = np.array([0.0, 0.0, -0.3])
    proxy.move([0, 0, -0.05, 1, 0, 0, 0])
    pressed(proxy, (0, 0, 0.01), (0, 0, -0.005))
    assert proxy.update((0, 0, -0.005), down)[2] == pytest.approx(5.0 + 2.0 * 0.3)
    assert proxy.update((0, 0, -0.005), -down)[2] == pytest.approx(5.0 - 2.0 * 0.3)
    assert np.array_equal(proxy.update((0, 0, -0.005), -100.0 * down), np.zeros(3))
    assert proxy.update((0, 0, -0.005), (4.0, 1.0, 0.0)) == pytest.approx([0, 0, 5.0])  # along it: nothing
    # a floor that comes along with the hand damps nothing
    proxy.move([0, 0, -0.05 - 0.3e-3, 1, 0, 0, 0])
    assert proxy.update((0, 0, -0.0053), down)[2] == pytest.approx(5.0)


def test_first_touch_taps_with_a_decaying_sinusoid_scaled_by_the_speed():
    def forces(transient, speed):
        proxy = Proxy(pp.Shape("plane"), Surface(1000.0, 0.0, 0.0, 0.0, transient=transient))
        hips = np.array([[0, 0, 0.01]] + [[0, 0, -0.02]] * 60)
        return proxy.follow(hips, np.tile([0.0, 0.0, -speed], (61, 1)))[1][1:, 2]

    tap, t = Transient(amplitude_Ns_m=12.0, frequency_hz=150.0, decay_s=0.01), 1e-3 * np.arange(60)
    for speed in (0.1, 0.5):
        extra = forces(tap, speed) - forces(None, speed)
        assert extra == pytest.approx(12.0 * speed * np.exp(-t / 0.01) * np.sin(2 * np.pi * 150.0 * t), abs=1e-9)
    assert np.array_equal(forces(tap, 0.0), forces(None, 0.0))  # a touch without speed is silent
    assert (forces(Transient(1000.0, 150.0, 0.05), 1.0) >= 0.0).all()


@pytest.mark.parametrize("kind", ["box", "mesh", "union"])
def test_a_hand_that_starts_inside_is_led_to_the_nearest_surface_and_the_force_rises_slowly(tmp_path, kind):
    """mobile-haptic-display.md 5.1: proxy on the nearest surface point, stiffness up over 200 ms."""
    shapes = {
        "box": [pp.Shape("box", (0.1, 0.1, 0.1))],
        "mesh": [write_mesh(tmp_path / "cube.obj", box_vertices(0.1, 0.1, 0.1), BOX_TRIANGLES)],
        # the nearest face of the first is inside the second
        "union": [pp.Shape("box", (0.1, 0.1, 0.1)), pp.Shape("box", (0.06, 0.1, 0.1), pp.Transform(p=(0.06, 0, 0)))],
    }[kind]
    proxy = Proxy(shapes, ICE)
    hip = np.array([0.045, 0.01, 0.03]) if kind == "union" else np.array([0.045, 0.01, 0.02])
    out = np.array([0.045, 0.01, 0.05]) if kind == "union" else np.array([0.05, 0.01, 0.02])
    full = 1000.0 * (out - hip)
    for k in range(1, 400):
        force = proxy.update(hip, STILL)
        assert proxy.position == pytest.approx(out, abs=3e-5)
        assert force == pytest.approx(min(k / 200, 1.0) * full, abs=1e-3)


@pytest.mark.nojit
def test_a_hand_that_is_not_finite_gets_no_force_and_a_new_start():
    proxy = Proxy(pp.Shape("plane"), ICE)
    pressed(proxy, (0, 0, 0.01), (0, 0, -0.005))
    assert np.array_equal(proxy.update((0, np.nan, 0), STILL), np.zeros(3))
    assert np.array_equal(proxy.update((0, 0, 0.1), (np.inf, 0, 0)), np.zeros(3))
    assert proxy.touches == []
    assert pressed(proxy, (0, 0, 0.01), (0, 0, -0.002))[2] == pytest.approx(2.0)


@pytest.mark.nojit
def test_a_body_without_a_surface_is_passed_through():
    proxy = Proxy([pp.Shape("plane"), pp.Shape("sphere", (0.05,))], ICE, {"shape1": None})
    assert np.array_equal(pressed(proxy, (0, 0, 0.1), (0, 0, 0.01)), np.zeros(3))
    assert pressed(proxy, (0, 0, -0.001))[2] == pytest.approx(1.0)


@pytest.mark.nojit
def test_rendering_reads_poses_that_someone_else_fills():
    """As in a tick: the links' poses are those of a world."""
    from palpate.collision.geometry import geometry

    model = pp.compile(body("ball", pp.Shape("sphere", (0.05,)), fixed=False))
    R, p = np.tile(np.eye(3).ravel(), (2, 1)), np.zeros((2, 3))
    rendering = Rendering(model, geometry(model), ICE, link_R=R, link_p=p)
    p[1] = (1.0, 2.0, 3.0)
    for z in (3.1, 3.045):
        update_entry(rendering.address, np.array([1.0, 2.0, z]), np.zeros(3), 1e-3)
    assert rendering.state.force == pytest.approx([0, 0, 5.0])
    assert model.body_names[rendering.state.contact_body[0]] == "ball"
    with pytest.raises(ValueError, match="link_p"):
        Rendering(model, geometry(model), link_p=np.zeros((1, 3)))


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Proxy(pp.Shape("plane"), radius_m=-1.0), "radius"),
        (lambda: Proxy(pp.Shape("plane"), skin_m=1.0), "skin"),
        (lambda: Proxy(pp.Shape("plane"), dt_s=0.0), "dt_s"),
        (lambda: Proxy([]), "something to touch"),
        (lambda: Proxy(["floor"]), "got str"),
        (lambda: Proxy(pp.Shape("plane"), by_body={"nobody": Surface()}), "nobody"),
        (lambda: Proxy(pp.Shape("plane")).update((0.0, 0.0)), "three numbers"),
        (lambda: Proxy(pp.Shape("plane")).follow(np.zeros((4, 2))), "hips"),
        (lambda: Proxy(pp.Shape("plane")).move([0.0]), "needs"),
        (lambda: Surface(stiffness_N_m=0.0), "stiffness"),
        (lambda: Surface(damping_Ns_m=-1.0), "damping"),
        (lambda: Surface(static_friction=0.1, dynamic_friction=0.2), "dynamic <= static"),
        (lambda: Transient(amplitude_Ns_m=-1.0), "amplitude"),
        (lambda: Transient(frequency_hz=900.0), "frequency"),
    ],
)
def test_a_mistake_is_one_line(wrong, message):
    with pytest.raises(ValueError, match=message) as error:
        wrong()
    assert "\n" not in str(error.value)
