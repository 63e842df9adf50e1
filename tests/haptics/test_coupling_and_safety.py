"""The coupling and the safety stage as kernels: caps, limits, directions, NaN."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate.dynamics.aba import aba
from palpate.dynamics.jacobian import body_frame
from palpate.dynamics.mobility import point_mobility, turn_mobility
from palpate.dynamics.workspace import address_of, load
from palpate.haptics.coupling import pull, turn
from palpate.haptics.safety import limit_norm, limit_rise
from palpate.jit import entry
from palpate.spatial.vectors import add, rotate

pytestmark = pytest.mark.nojit


@entry("float64[::1], float64")
def norm_entry(f, most):
    return limit_norm((f[0], f[1], f[2]), most)


@entry("float64[::1], float64[::1], float64")
def rise_entry(f, before, most):
    return limit_rise((f[0], f[1], f[2]), (before[0], before[1], before[2]), most)


@entry("float64[::1], float64[::1], float64, float64, float64[::1], float64[::1], float64[::1], float64[::1], float64")
def pull_axes_entry(k, b, m, most, x, xd, p, v, dt):
    K, B = (k[0], k[1], k[2]), (b[0], b[1], b[2])
    return pull(
        K, B, 1.0, m, most, (x[0], x[1], x[2]), (xd[0], xd[1], xd[2]), (p[0], p[1], p[2]), (v[0], v[1], v[2]), dt
    )


def pull_entry(k, m, cap, x, xd, p, v):
    """One stiffness for all axes, critically damped, its stretch capped [m]."""
    return pull_axes_entry(np.full(3, k), np.zeros(3), m, k * cap, x, xd, p, v, 1e-3)


forces = st.tuples(*[st.floats(-1e6, 1e6, allow_nan=False)] * 3).map(np.array)


@settings(max_examples=200, deadline=None)
@given(forces, st.floats(0.01, 100))
def test_item_35_force_is_scaled_by_norm_and_keeps_its_direction(force, most):
    limited, was = norm_entry(force, most)
    length = np.linalg.norm(force)
    assert np.linalg.norm(limited) <= most
    assert was == (length > most) or math.isclose(length, most)
    if length > 0:
        assert np.abs(np.cross(limited, force)).max() <= 1e-12 * length * max(1.0, np.linalg.norm(limited))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_force_that_is_not_finite_becomes_zero(bad):
    limited, was = norm_entry(np.array([1.0, bad, 0.0]), 5.0)
    assert was
    assert limited == (0.0, 0.0, 0.0)


@settings(max_examples=200, deadline=None)
@given(forces, forces, st.floats(0.01, 10))
def test_item_35_force_rises_no_faster_than_allowed_and_falls_freely(force, before, most):
    limited, was = rise_entry(force, before, most)
    had, wanted, got = (np.linalg.norm(x) for x in (before, force, limited))
    assert got <= max(wanted, had + most) * (1 + 1e-9)
    if wanted <= had:
        assert not was
        assert np.array_equal(limited, force)


def test_the_spring_is_capped_and_critically_damped():
    zero = np.zeros(3)
    force, capped = pull_entry(800.0, 2.0, 0.05, np.array([0.02, 0, 0]), zero, zero, zero)
    assert not capped
    assert force == pytest.approx((16.0, 0, 0))
    force, capped = pull_entry(800.0, 2.0, 0.05, np.array([0.0, 3.0, 4.0]), zero, zero, zero)
    assert capped
    assert force == pytest.approx((0.0, 24.0, 32.0))  # 800 N/m times 5 cm, direction kept
    force, _ = pull_entry(800.0, 2.0, 0.05, zero, zero, zero, np.array([1.0, 0, 0]))
    assert force == pytest.approx((-2 * math.sqrt(800 * 2), 0, 0))


@settings(max_examples=100, deadline=None)
@given(
    st.tuples(*[st.floats(0.0, 1e4)] * 3), st.tuples(*[st.floats(0.0, 1e3)] * 3), st.floats(0.01, 50.0), forces, forces
)
def test_each_axis_has_its_own_spring_and_damper_and_the_cap_keeps_the_direction(k, b, mass, gap, rate):
    """F_i = K_i e_i + B_i e'_i; a given B_i in place of the critical one, never more than half a mass per step."""
    zero, most, dt = np.zeros(3), 50.0, 1e-3
    gap, rate, k, b = 1e-6 * gap, 1e-6 * rate, np.array(k), np.array(b)
    force, capped = pull_axes_entry(k, b, mass, most, gap, rate, zero, zero, dt)
    spring = k * gap
    size = np.linalg.norm(spring)
    assert capped == (size > most)
    spring *= min(1.0, most / size) if size > 0.0 else 1.0
    damping = np.where(b > 0.0, np.minimum(b, 0.5 * mass / dt), 2.0 * np.sqrt(k * mass))
    assert force == pytest.approx(spring + damping * rate, rel=1e-9, abs=1e-9)


@entry("intp, float64[::1], float64[::1], float64[::1], intp, float64[::1], float64[::1]")
def mobility_entry(address, q, v, tau, body, at_body, out):
    m, w = load(address)
    aba(m, q, v, tau, out.reshape(2, 6)[0:0], w, v)
    R, p = body_frame(m, w, body)
    W = point_mobility(m, w, m.body_link[body], add(p, rotate(R, (at_body[0], at_body[1], at_body[2]))))
    T = turn_mobility(m, w, m.body_link[body])
    for i in range(6):
        out[i], out[6 + i] = W[i], T[i]


def symmetric(x):
    return np.array([[x[0], x[3], x[4]], [x[3], x[1], x[5]], [x[4], x[5], x[2]]])


@pytest.mark.parametrize("name", ["puma560", "human"])
def test_mobility_of_a_point_is_J_Hinv_JT(name):
    """Acceptance item 26, first half: test forces equal J H^-1 J^T; and test torques for turning."""
    rng = np.random.default_rng(5)
    model = pp.compile(getattr(pp.models, name)())
    for _ in range(5):
        q = pp.integrate(model, model.neutral(), rng.normal(scale=0.5, size=model.nv), 1.0)
        body, at_body, out = int(rng.integers(3, model.n_bodies)), rng.normal(scale=0.1, size=3), np.zeros(12)
        mobility_entry(address_of(model), q, np.zeros(model.nv), np.zeros(model.nv), body, at_body, out)
        J = pp.jacobian(model, q, body, at_body)
        for ours, rows in ((symmetric(out[:6]), J[3:]), (symmetric(out[6:]), J[:3])):
            W = rows @ np.linalg.solve(pp.mass_matrix(model, q), rows.T)
            assert np.abs(ours - W).max() < 1e-12 * max(1.0, np.abs(W).max())


@entry("float64, float64, float64[::1], float64[::1], float64[::1]")
def turn_entry(k, inertia, target, R, omega):
    r = (R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8])
    return turn(k, 0.0, inertia, (target[0], target[1], target[2], target[3]), r, (omega[0], omega[1], omega[2]), 1e-3)


def test_the_turning_spring_pulls_the_shorter_way_round_and_is_critically_damped():
    here, axis = pp.Rotation.rpy(0.3, -0.2, 1.0), np.array([0.0, 0.6, 0.8])
    for angle in (0.5, -0.5, 3.0):
        there = np.array((pp.Rotation.about(axis, angle) @ here).wxyz)
        torque = turn_entry(20.0, 0.3, there, here.matrix().ravel(), np.zeros(3))
        assert torque == pytest.approx(20.0 * angle * axis)
        assert turn_entry(20.0, 0.3, -there, here.matrix().ravel(), np.zeros(3)) == pytest.approx(torque)
    still = np.array(here.wxyz)
    torque = turn_entry(20.0, 0.3, still, here.matrix().ravel(), np.array([1.0, 0.0, 0.0]))
    assert torque == pytest.approx((-2 * math.sqrt(20 * 0.3), 0, 0))
