"""Rotations and rigid motions: acceptance items 13 and 14, group axioms, agreement with scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation as Scipy

import palpate as pp
from palpate import jit
from palpate.jit import entry
from palpate.spatial.quaternions import quaternion_exp, quaternion_matrix
from palpate.spatial.sincos import sincos
from palpate.spatial.vectors import get3, get6, put3, solve_symmetric

pytestmark = pytest.mark.nojit
numbers = st.floats(-10, 10, allow_nan=False, width=64)
vectors = st.tuples(numbers, numbers, numbers)


def ball(free: bool = False) -> pp.Model:
    body = pp.Body("ball", 1.0, (0, 0, 0), (0.1, 0.2, 0.25))
    return pp.compile(pp.MultiBody("ball", [body], [pp.Joint("j", "free" if free else "spherical", "world", "ball")]))


def wxyz(rotation: Scipy) -> np.ndarray:
    return np.roll(rotation.as_quat(), 1)


@pytest.mark.repeated
def test_item_13_rotation_stays_orthogonal_over_a_million_steps():
    steps = 2000 if jit.DISABLED else 1_000_000
    model, v = ball(), np.array([0.7, -1.1, 0.4])
    q = model.neutral()
    for _ in range(steps):
        q = pp.integrate(model, q, v, 1e-3)
    R = pp.forward_kinematics(model, q)[1][:3, :3]
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-12
    exact = Scipy.from_rotvec(v * 1e-3 * steps).as_matrix()
    assert np.abs(R - exact).max() < 1e-9


def test_item_13_matrix_of_a_quaternion_equals_scipy():
    for rotation in Scipy.random(500, random_state=1):
        w, x, y, z = wxyz(rotation)
        assert np.abs(pp.Rotation((w, x, y, z)).matrix() - rotation.as_matrix()).max() < 1e-14
        if jit.DISABLED:
            assert np.abs(np.reshape(quaternion_matrix(w, x, y, z), (3, 3)) - rotation.as_matrix()).max() < 1e-14


def product(a, b):
    return np.array((pp.Rotation(tuple(a)) @ pp.Rotation(tuple(b))).wxyz)


def hamilton(a, b):
    """a o b for any quaternions, not only unit ones."""
    (s, u), (t, v) = (a[0], a[1:]), (b[0], b[1:])
    return np.r_[s * t - u @ v, s * v + t * u + np.cross(u, v)]


def test_item_13_quaternion_rates_in_parent_and_child_frame():
    """q' = 1/2 (0, w) o q with w in the parent frame, 1/2 q o (0, w) in the child frame."""
    rng, eps = np.random.default_rng(13), 1e-6
    for rotation in Scipy.random(50, random_state=2):
        q, w = wxyz(rotation), rng.normal(size=3)
        for parent in (True, False):
            ends = [np.array(pp.Rotation.exp(t * w).wxyz) for t in (-eps, eps)]
            moved = [product(e, q) if parent else product(q, e) for e in ends]
            rate = (moved[1] - moved[0]) / (2 * eps)
            spin = np.r_[0.0, w]
            assert np.abs(rate - 0.5 * (hamilton(spin, q) if parent else hamilton(q, spin))).max() < 1e-8


@entry("float64[::1], float64[::1]")
def matrix_entry(q, out):
    R = quaternion_matrix(q[0], q[1], q[2], q[3])
    for i in range(9):
        out[i] = R[i]


def test_item_14_equation_13_as_printed_is_half_the_transpose_of_ours():
    """The misprint of the paper's (13): determinant 1/8, and twice it is R^T, R by every way we have to one."""
    model, out = ball(), np.empty(9)
    for rotation in Scipy.random(20, random_state=3):
        q = wxyz(rotation)
        q0, q1, q2, q3 = q
        printed = np.array([
            [q0**2 + q1**2 - 0.5, q1 * q2 + q0 * q3, q1 * q3 - q0 * q2],
            [q1 * q2 - q0 * q3, q0**2 + q2**2 - 0.5, q2 * q3 + q0 * q1],
            [q1 * q3 + q0 * q2, q2 * q3 - q0 * q1, q0**2 + q3**2 - 0.5],
        ])  # fmt: skip
        assert abs(np.linalg.det(printed) - 1 / 8) < 1e-14
        matrix_entry(q, out)
        ours = (out.reshape(3, 3), pp.Rotation(tuple(q)).matrix(), pp.forward_kinematics(model, q)[1][:3, :3])
        for R in ours:
            assert np.abs(2 * printed - np.asarray(R).T).max() < 1e-14


@settings(max_examples=50, deadline=None)
@given(vectors, vectors, vectors)
def test_transforms_form_a_group(a, b, c):
    X, Y = pp.Transform(pp.Rotation.exp(a), b), pp.Transform(pp.Rotation.exp(b), c)
    Z = pp.Transform(pp.Rotation.exp(c), a)
    assert np.allclose(((X @ Y) @ Z).matrix(), (X @ (Y @ Z)).matrix(), atol=1e-9)
    assert np.allclose((X @ X.inv()).matrix(), np.eye(4), atol=1e-9)
    assert np.allclose((X @ Y).matrix(), X.matrix() @ Y.matrix(), atol=1e-9)
    assert np.allclose(X.apply(c), X.matrix()[:3, :3] @ c + X.p)
    assert np.allclose((X @ Y).adjoint(), X.adjoint() @ Y.adjoint(), atol=1e-8)


@settings(max_examples=100, deadline=None)
@given(vectors)
def test_rotation_vectors_and_matrices_round_trip(a):
    R = pp.Rotation.exp(a)
    assert np.allclose(pp.Rotation.exp(R.log()).matrix(), R.matrix(), atol=1e-12)
    assert np.allclose(pp.Rotation.from_matrix(R.matrix()).matrix(), R.matrix(), atol=1e-12)
    assert np.linalg.norm(R.log()) <= np.pi + 1e-12


@settings(max_examples=100, deadline=None)
@given(vectors, vectors)
def test_the_shortest_turn_takes_one_direction_to_the_other(a, b):
    a, b = np.array(a), np.array(b)
    if min(np.linalg.norm(a), np.linalg.norm(b)) > 1e-6:
        turned = pp.Rotation.between(a, b).apply(a / np.linalg.norm(a))
        assert np.allclose(turned, b / np.linalg.norm(b), atol=1e-6)
    assert np.allclose(pp.Rotation.between((0, 0, 1), (0, 0, -1)).apply((0, 0, 1)), (0, 0, -1))


def test_roll_pitch_yaw_is_the_order_of_urdf():
    assert np.allclose(pp.Rotation.rpy(0.3, -0.4, 1.2).matrix(), Scipy.from_euler("xyz", [0.3, -0.4, 1.2]).as_matrix())


@pytest.mark.parametrize("scale", [1e-9, 1e-5, 1e-3, 0.009, 0.011, 1.0, 3.1])
def test_screw_motion_and_its_logarithm_are_exact_at_all_angles(scale):
    """integrate and difference of a free joint against the matrix exponential."""
    from scipy.linalg import expm

    rng, model = np.random.default_rng(18), ball(free=True)
    for _ in range(20):
        w = rng.normal(size=3)
        v = np.r_[scale * w / np.linalg.norm(w), rng.normal(size=3)]
        q = pp.integrate(model, model.neutral(), v, 1.0)
        W = np.array([[0, -v[2], v[1], v[3]], [v[2], 0, -v[0], v[4]], [-v[1], v[0], 0, v[5]], [0, 0, 0, 0]])
        assert np.abs(pp.forward_kinematics(model, q)[1] - expm(W)).max() < 1e-13
        assert np.abs(pp.difference(model, model.neutral(), q) - v).max() < 1e-12


@entry("float64[::1], float64[::1], float64[::1]")
def sincos_entry(x, sin, cos):
    sincos(x, sin, cos)


@pytest.mark.parametrize(("reach", "ulps"), [(0.8, 1.0), (7.0, 1.0), (1e5, 2.0), (1e9, 1.0)])
def test_sine_and_cosine_are_within_two_units_in_the_last_place(reach, ulps):
    x = np.random.default_rng(19).uniform(-reach, reach, size=2000 if jit.DISABLED else 200_000)
    x[:5] = 0.0, np.pi / 2, -np.pi / 2, np.pi, -np.pi
    sin, cos = np.empty_like(x), np.empty_like(x)
    sincos_entry(x, sin, cos)
    for ours, theirs in ((sin, np.sin(x)), (cos, np.cos(x))):
        error = np.abs(ours - theirs) / np.spacing(np.maximum(np.abs(theirs), 1e-300))
        assert error[5:].max() <= ulps
        assert np.abs(ours - theirs)[:5].max() < 2e-16


@pytest.mark.parametrize(("make", "message"), [
    (lambda: pp.Rotation((2, 0, 0, 0)), "length 1, got 2"),
    (lambda: pp.Rotation((1, 0, 0)), "four finite numbers"),
    (lambda: pp.Rotation.about((0, 0, 0), 1.0), "must not be zero"),
    (lambda: pp.Rotation.from_matrix(np.diag([1, 1, -1])), r"determinant \+1"),
    (lambda: pp.Transform(p=(1, 2)), "three finite numbers"),
    (lambda: pp.Transform(R=np.eye(3)), "takes a Rotation"),
    (lambda: pp.Transform.from_matrix(np.ones((4, 4))), "last row"),
])  # fmt: skip
def test_a_wrong_placement_is_one_clear_line(make, message):
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


@entry("float64[:, ::1], float64[:, ::1]")
def turns(vectors, out):
    for i in range(vectors.shape[0]):
        x, y, z = get3(vectors, i)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = quaternion_exp(x, y, z)


def test_small_and_large_turns_are_exact():
    """Either side of every limit between series and functions: to the last digits, with more of them as the judge."""
    rng = np.random.default_rng(5)
    angles = np.r_[0.0, 1e-300, np.logspace(-12, 0.7, 400), np.linspace(0.2, 0.3, 101), np.nextafter(0.25, (0, 1))]
    direction = rng.normal(size=(len(angles), 3))
    vectors = angles[:, None] * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    out, exact = np.empty((len(angles), 4)), vectors.astype(np.longdouble)
    turns(vectors, out)
    angle = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    half = np.where(angle > 0, np.sin(angle / 2) / np.where(angle > 0, angle, 1), 0.5)
    expected = np.hstack([np.cos(angle / 2), half * exact])
    assert np.abs(out - expected).max() < 4e-16
    assert (np.abs(out[:, 1:] - expected[:, 1:]) <= 1e-15 * np.abs(angle)).all()


@entry("float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def solutions(I, x, out):
    for i in range(I.shape[0]):
        a, b = get6(I, i)
        put3(out, i, solve_symmetric((a[0], a[1], a[2], b[0], b[1], b[2]), get3(x, i)))


def test_a_symmetric_system_is_solved_whatever_its_moments():
    """What is left of the equation is rounding of its terms, also where the moments are 1e8 apart, in any axes."""
    rng, n = np.random.default_rng(6), 500
    Q = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    moments = 10.0 ** rng.uniform(-8, 0, size=(n, 3)) * 10.0 ** rng.uniform(-6, 6, size=(n, 1))
    I = (Q * moments[:, None, :]) @ Q.transpose(0, 2, 1)
    six = np.ascontiguousarray(I[:, (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)])
    x, out = rng.normal(size=(n, 3)), np.empty((n, 3))
    solutions(six, x, out)
    exact = np.array([[[r[0], r[3], r[4]], [r[3], r[1], r[5]], [r[4], r[5], r[2]]] for r in six.astype(np.longdouble)])
    left = np.einsum("nij,nj->ni", exact, out) - x
    terms = np.abs(I).max(axis=(1, 2)) * np.abs(out).max(axis=1)
    assert (np.abs(left).max(axis=1) / terms).max() < 2e-15
