"""The PHANToM's kinematics and dynamics, against the reference's numbers and against mechanics done another way."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate.haptics.devices.simulation import phantom
from palpate.jit import entry

pytestmark = pytest.mark.nojit

THESIS = (0.20955, 0.20955)  # both links [m]
LINKS = (THESIS, (0.215, 0.170), (0.20955, 0.169545))
LOW, HIGH = np.array(phantom.LOW), np.array(phantom.HIGH)


@entry("float64, float64, float64[::1], float64[::1], float64[::1]")
def kinematics_entry(l1, l2, theta, tip, J):
    q = (theta[0], theta[1], theta[2])
    p, j = phantom.forward(l1, l2, q), phantom.jacobian(l1, l2, q)
    for i in range(3):
        tip[i] = p[i]
    for i in range(9):
        J[i] = j[i]


@entry("float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1]")
def dynamics_entry(theta, rate, a, M, C, S):
    q, v = (theta[0], theta[1], theta[2]), (rate[0], rate[1], rate[2])
    m, c, s = phantom.inertia(q), phantom.coriolis(q, v), phantom.carried_torque(q, (a[0], a[1], a[2]))
    for i in range(4):
        M[i] = m[i]
    for i in range(9):
        C[i] = c[i]
    for i in range(3):
        S[i] = s[i]


@entry("float64[::1], float64[::1], float64[::1]")
def axes_entry(p, ours, back):
    a = phantom.device_axes((p[0], p[1], p[2]))
    b = phantom.thesis_axes(a)
    for i in range(3):
        ours[i], back[i] = a[i], b[i]


def tip_and_jacobian(theta, links=LINKS[1]):
    tip, J = np.empty(3), np.empty(9)
    kinematics_entry(*links, np.array(theta, dtype=float), tip, J)
    return tip, J.reshape(3, 3)


def dynamics(theta, rate=(0, 0, 0), a=(0.0, 9.81, 0.0)):
    """M, C (3, 3) and the torque that carries the links with acceleration a (3,)."""
    M, C, S = np.empty(4), np.empty(9), np.empty(3)
    dynamics_entry(*(np.array(x, dtype=float) for x in (theta, rate, a)), M, C, S)
    return np.array([[M[0], 0, 0], [0, M[1], M[3]], [0, M[3], M[2]]]), C.reshape(3, 3), S


def random_angles(rng, n):
    """Within the joint limits, the one on the difference too."""
    found = rng.uniform(LOW[:3], HIGH[:3], size=(8 * n, 3))
    difference = found[:, 1] - found[:, 2]
    found = found[(difference > LOW[3]) & (difference < HIGH[3])]
    assert len(found) >= n
    return found[:n]


angles = st.tuples(*(st.floats(low, high) for low, high in zip(phantom.LOW[:3], phantom.HIGH[:3], strict=True)))
rates = st.tuples(*[st.floats(-5, 5)] * 3)


# ---- kinematics


@pytest.mark.parametrize("links", LINKS)
def test_forward_of_inverse_is_the_point(links):
    """mobile-haptic-display.md acceptance 5: 10^4 reachable points, 1e-9 mm."""
    rng = np.random.default_rng(1)
    theta, worst = np.empty(3), 0.0
    for _ in range(10_000):
        # anywhere between the two spheres, whatever the joint limits say
        rho = rng.uniform(abs(links[0] - links[1]) * 1.000001 + 1e-6, sum(links) * 0.999999)
        direction = rng.normal(size=3)
        p = np.array([0.0, links[1], -links[0]]) + rho * direction / np.linalg.norm(direction)
        theta[:] = phantom.joint_angles(p, links)
        worst = max(worst, np.abs(tip_and_jacobian(theta, links)[0] - p).max())
    assert worst < 1e-12  # [m]


@pytest.mark.parametrize("links", LINKS)
def test_inverse_of_forward_is_the_branch_of_the_device(links):
    for theta in random_angles(np.random.default_rng(2), 200):
        tip, _ = tip_and_jacobian(theta, links)
        r = links[0] * math.cos(theta[1]) + links[1] * math.sin(theta[2])
        if r > 0.01:  # behind its own axis a point has another turn of the base
            assert phantom.joint_angles(tip, links) == pytest.approx(theta, abs=1e-9)


@pytest.mark.parametrize("links", LINKS)
@pytest.mark.parametrize("far", [1.001, 2.0, 100.0])
def test_a_point_out_of_reach_is_an_error_and_never_a_nan(links, far):
    """mobile-haptic-display.md acceptance 5."""
    shoulder = np.array([0.0, links[1], -links[0]])
    for direction in np.eye(3).tolist() + [[0.6, 0.0, 0.8]]:
        with pytest.raises(ValueError, match="out of the reach"):
            phantom.joint_angles(shoulder + far * sum(links) * np.array(direction), links)
    with pytest.raises(ValueError, match="out of the reach"):
        phantom.joint_angles(shoulder, links)
    for wrong in ([np.nan, 0, 0], [0, 0], [np.inf, 0, 0]):
        with pytest.raises(ValueError, match="three finite numbers"):
            phantom.joint_angles(wrong, links)


@settings(max_examples=100, deadline=None)
@given(angles, st.sampled_from(LINKS))
def test_jacobian_is_the_derivative_of_the_tip_and_has_the_printed_determinant(theta, links):
    """mobile-haptic-display.md acceptance 6, J_P: central differences of 1e-6 rad within 1e-4 mm/rad."""
    _, J = tip_and_jacobian(theta, links)
    for k, step in enumerate(1e-6 * np.eye(3)):
        ahead, behind = tip_and_jacobian(theta + step, links)[0], tip_and_jacobian(theta - step, links)[0]
        assert np.abs((ahead - behind) / 2e-6 - J[:, k]).max() < 1e-7
    r = links[0] * math.cos(theta[1]) + links[1] * math.sin(theta[2])
    expected = links[0] * links[1] * r * math.cos(theta[1] - theta[2])
    assert np.linalg.det(J) == pytest.approx(expected, rel=1e-6, abs=1e-16)


@settings(max_examples=100, deadline=None)
@given(angles, rates, st.tuples(*[st.floats(-10, 10)] * 3))
def test_power_of_the_force_is_power_of_the_torques(theta, rate, force):
    """mobile-haptic-display.md acceptance 7, first half."""
    _, J = tip_and_jacobian(theta)
    assert np.dot(force, J @ rate) == pytest.approx(np.dot(J.T @ force, rate), abs=1e-12)


def test_the_regression_vector_of_the_jacobian_and_the_torques():
    """mobile-haptic-display.md 2.6 and acceptance 7: phi = 30, theta = (10, 20, 15) degrees, F = (1, 2, 3) N."""
    phi = math.radians(30)
    c, s = math.cos(phi), math.sin(phi)
    R_wp = np.array([[-c, 0, s], [0, 1, 0], [-s, 0, -c]])  # device axes in the world of the reference, 2.2
    _, J = tip_and_jacobian(np.radians([10, 20, 15]), THESIS)
    J_P = R_wp @ J
    printed = [[-236.0020, -24.5127, 69.2282], [0, 196.9126, 54.2355], [-85.8977, 67.3481, -190.2030]]
    assert np.abs(1e3 * J_P - printed).max() <= 0.5e-4 * (1 + 1e-6)
    assert pytest.approx([-0.493695, 0.571357, -0.392910], abs=1e-6) == J_P.T @ [1, 2, 3]


def test_our_axes_are_away_left_and_up():
    ours, back = np.empty(3), np.empty(3)
    for thesis, expected in (
        ([1.0, 0, 0], [0, -1, 0]),  # its x, to the right, is our -y
        ([0, 1.0, 0], [0, 0, 1]),  # its y, up, is our z
        ([0, 0, 1.0], [-1, 0, 0]),  # its z, towards the person, is our -x
    ):
        axes_entry(np.array(thesis), ours, back)
        assert ours.tolist() == expected
        assert back.tolist() == thesis


# ---- dynamics


def energy_of_the_links(theta, rate):
    """Kinetic energy from positions and spins of the links, one by one [J]."""
    p = phantom
    (s1, s2, s3), (c1, c2, c3) = np.sin(theta), np.cos(theta)
    # along link 1 and link 2 from the shoulder, and their derivatives
    d1 = np.array([[c2 * c1, 0, -c2 * s1], [-s2 * s1, c2, -s2 * c1], [0, 0, 0]]).T @ rate
    d2 = np.array([[s3 * c1, 0, -s3 * s1], [0, 0, 0], [c3 * s1, s3, c3 * c1]]).T @ rate
    centres = (p.M_A, p.L1 * d1 + p.L2 / 2 * d2), (p.M_C, p.L1 / 2 * d1 + p.L3 * d2)
    total = sum(m * v @ v for m, v in centres) + p.I_BASE * rate[0] ** 2
    # each turns about its own x, and its y and z share the turn of the base
    for (xx, yy, zz), k in ((p.I_BE, 1), (p.I_C, 1), (p.I_A, 2), (p.I_DF, 2)):
        total += xx * rate[k] ** 2 + (yy * np.cos(theta[k]) ** 2 + zz * np.sin(theta[k]) ** 2) * rate[0] ** 2
    return total / 2


def potential(theta):
    """[J]"""
    p = phantom
    s2, c3 = math.sin(theta[1]), math.cos(theta[2])
    heights = (
        p.M_A * (p.L1 * s2 - p.L2 / 2 * c3) + p.M_C * (p.L1 / 2 * s2 - p.L3 * c3)
        + p.M_BE * p.L5 * s2 + p.M_DF * p.L6 * c3
    )  # fmt: skip
    return 9.81 * heights


@settings(max_examples=50, deadline=None)
@given(angles)
def test_inertia_is_the_kinetic_energy_of_the_links(theta):
    """mobile-haptic-display.md 5.4: M is the Hessian of the energy, here by polarisation of a quadratic form."""
    M, _, _ = dynamics(theta)
    e = np.eye(3)
    for i in range(3):
        for j in range(3):
            both = energy_of_the_links(theta, e[i] + e[j])
            apart = energy_of_the_links(theta, e[i]) + energy_of_the_links(theta, e[j])
            assert M[i, j] == pytest.approx(both - apart if i != j else 2 * energy_of_the_links(theta, e[i]), abs=1e-15)


@settings(max_examples=50, deadline=None)
@given(angles)
def test_weight_is_the_derivative_of_the_potential(theta):
    _, _, G = dynamics(theta)
    for k, step in enumerate(1e-5 * np.eye(3)):
        difference = (potential(theta + step) - potential(theta - step)) / 2e-5
        assert G[k] == pytest.approx(difference, abs=1e-10)


def test_inertia_is_symmetric_and_positive_definite():
    """mobile-haptic-display.md acceptance 27: 10^4 configurations."""
    for theta in np.random.default_rng(3).uniform(-math.pi, math.pi, size=(10_000, 3)):
        M = np.empty(4)
        dynamics_entry(theta, theta, theta, M, np.empty(9), np.empty(3))
        assert M[0] > 0
        assert M[1] > 0
        assert M[1] * M[2] - M[3] ** 2 > 0


@settings(max_examples=50, deadline=None)
@given(angles, rates)
def test_derivative_of_inertia_minus_twice_coriolis_is_skew(theta, rate):
    """mobile-haptic-display.md acceptance 27, and with it the sign of C32."""
    _, C, _ = dynamics(theta, rate)
    step = 1e-5 * np.array(rate)
    M_dot = (dynamics(theta + step)[0] - dynamics(theta - step)[0]) / 2e-5
    N = M_dot - 2 * C
    assert np.abs(N + N.T).max() < 1e-9


@settings(max_examples=20, deadline=None)
@given(angles, rates)
def test_coriolis_is_the_christoffel_form(theta, rate):
    """What skewness alone does not say: each entry, from central differences of M."""
    dM = np.array([(dynamics(theta + s)[0] - dynamics(theta - s)[0]) / 2e-5 for s in 1e-5 * np.eye(3)])  # [k, i, j]
    gamma = 0.5 * (np.einsum("kij->ijk", dM) + np.einsum("jik->ijk", dM) - np.einsum("ijk->ijk", dM))
    assert np.abs(gamma @ rate - dynamics(theta, rate)[1]).max() < 1e-9


def test_the_test_vector_of_the_dynamics():
    """mobile-haptic-display.md acceptance 27: to half a unit of the last digit that the reference prints."""
    rate = np.array([0.5, -0.3, 0.7])
    M, C, G = dynamics((0.2, 0.4, 0.3), rate)
    for value, printed, unit in (
        (M[0, 0], 3.54683e-3, 1e-8), (M[1, 1], 2.42640e-3, 1e-8), (M[2, 2], 9.31886e-4, 1e-9),
        (M[1, 2], -4.5539e-5, 1e-9), (phantom.P, -1.6614e-3, 1e-7), (phantom.Q, -7.5184e-3, 1e-7),
        *zip(C @ rate, (6.9492e-4, 4.3851e-4, -1.9641e-4), [1e-8] * 3, strict=True),
        *zip(G, (0.0, -0.0150115, -0.0217962), [1e-7] * 3, strict=True),
    ):  # fmt: skip
        assert abs(value - printed) <= 0.5000001 * unit


def test_the_tip_weighs_what_the_reference_says_at_zero():
    """mobile-haptic-display.md 5.4: 77, 52 and 32 g in x, y, z."""
    M, _, _ = dynamics(np.zeros(3))
    _, J = tip_and_jacobian(np.zeros(3))
    mobility = J @ np.linalg.solve(M, J.T)
    assert 1e3 / np.diag(mobility) == pytest.approx([77, 52, 32], abs=0.5)


def test_free_motion_keeps_its_energy():
    """mobile-haptic-display.md acceptance 27: Runge-Kutta at 1 ms for 0.5 s, below 1e-8 J."""

    def slope(state):
        M, C, G = dynamics(state[:3], state[3:])
        return np.r_[state[3:], np.linalg.solve(M, -C @ state[3:] - G)]

    def total(state):
        return energy_of_the_links(state[:3], state[3:]) + potential(state[:3])

    state, h = np.array([0.2, 0.4, 0.3, 0.5, -0.3, 0.7]), 1e-3
    first = total(state)
    for _ in range(500):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        assert abs(total(state) - first) < 1e-8
    assert np.abs(state[:3] - [0.2, 0.4, 0.3]).max() > 0.1  # it did move


@settings(max_examples=50, deadline=None)
@given(angles, st.tuples(*[st.floats(-5, 5)] * 3))
def test_an_accelerated_base_pushes_like_a_tilted_gravity(theta, a):
    """S_theta^T a is linear in a, and the derivative of the first moment of mass along it."""

    def moment(q):
        reach = phantom.P * math.cos(q[1]) + phantom.Q * math.sin(q[2])
        height = phantom.P * math.sin(q[1]) - phantom.Q * math.cos(q[2])
        return np.dot(a, [reach * math.sin(q[0]), height, reach * math.cos(q[0])])

    _, _, torque = dynamics(theta, a=a)
    for k, step in enumerate(1e-5 * np.eye(3)):
        assert torque[k] == pytest.approx((moment(theta + step) - moment(theta - step)) / 2e-5, abs=1e-10)
