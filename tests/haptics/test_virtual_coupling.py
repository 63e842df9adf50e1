"""The implicit virtual coupling: its equations, its passivity, and the rows of the reference on planar haptics."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate import jit
from palpate.experiments.wall_loops import held_motion
from palpate.haptics.virtual_coupling import coupling_force, drawn, pressed, shown_mass, stopped
from palpate.jit import entry, kernel

pytestmark = pytest.mark.nojit
EXAMPLES = settings(max_examples=40 if jit.DISABLED else 200, deadline=None)

DT = 2e-3
MASS, DAMPING, TOOL = 0.35, 0.5, 0.1  # of the reference's device and tool


@kernel
def triple(a):
    return (a[0], a[1], a[2])


@entry("float64[::1], float64, float64[:, ::1], float64, float64[::1], float64[::1], float64[:, ::1]")
def step_entry(spring, mass, state, dt, wall, normal, out):
    """state rows x, v, y, u, others; out rows: free velocity, rigid y u, compliant y u, (N, A, touching), force."""
    coupling = (spring[0], spring[1])
    x, v, y, u, others = triple(state[0]), triple(state[1]), triple(state[2]), triple(state[3]), triple(state[4])
    free = drawn(coupling, mass, x, v, y, u, others, dt)
    shown = shown_mass(coupling, mass, dt)
    yr, ur, touching = stopped((0.0, 0.0, 0.0), triple(normal), y, free, dt)
    yc, uc, push = pressed((wall[0], wall[1]), shown, (0.0, 0.0, 0.0), triple(normal), y, free, dt)
    force = coupling_force(coupling, x, v, y, u)
    for i in range(3):
        out[0, i], out[1, i], out[2, i], out[3, i], out[4, i] = free[i], yr[i], ur[i], yc[i], uc[i]
        out[6, i] = force[i]
    out[5, 0], out[5, 1], out[5, 2] = push, shown, 1.0 if touching else 0.0


@entry("float64[::1], float64[::1], float64[::1], float64, float64[::1], float64[:, ::1]")
def port_entry(device, spring, wall, gap, push, trace):
    """A device (m, b, T, tool) with a tool before a wall (negative stiffness: rigid), pushed as `push` says.

    trace: position of device and tool, energy that neither start nor push accounts for.
    """
    m, dt, tool = device[0], device[2], device[3]
    a, g, p, h = held_motion(m, device[1], dt)
    coupling, normal, origin = (spring[0], spring[1]), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    shown = shown_mass(coupling, tool, dt)
    x = before = gap
    v = work = 0.0
    y, u = (gap, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(trace.shape[0]):
        at, speed = (x, 0.0, 0.0), ((x - before) / dt, 0.0, 0.0)
        before = x
        u = drawn(coupling, tool, at, speed, y, u, origin, dt)
        if wall[0] < 0.0:
            y, u, _ = stopped(origin, normal, y, u, dt)
        else:
            y, u, _ = pressed((wall[0], wall[1]), shown, origin, normal, y, u, dt)
        trace[k, 0], trace[k, 1], trace[k, 2] = x, y[0], 0.5 * m * v * v - work
        net = coupling_force(coupling, at, speed, y, u)[0] + push[k]
        dx = p * v + h * net
        work += push[k] * dx
        x, v = x + dx, a * v + g * net


def settle(stiffness, damping, seconds=6.0):
    """(motion, highest tool, highest device) [mm] in the last second against a rigid stop, pushed with 2 N."""
    n = round(seconds / DT)
    trace = np.empty((n, 3))
    device = np.array([MASS, DAMPING, DT, TOOL])
    port_entry(device, np.array([stiffness, damping]), np.array([-1.0, 0.0]), 10e-3, np.full(n, -2.0), trace)
    last = 1e3 * trace[-round(1 / DT) :]
    return np.ptp(last[:, 0]), last[:, 1].max(), last[:, 0].max()


@pytest.mark.parametrize(("stiffness", "damping"), [(450.0, 0.0), (1500.0, 2.0), (6000.0, 8.0)])
def test_item_37_a_rigid_stop_is_kept_through_the_coupling(stiffness, damping):
    """planar-haptics.md acceptance 37, and 8.2."""
    motion, tool, device = settle(stiffness, damping)
    assert tool == 0.0
    assert device < 0.0
    if damping > 0.0:
        assert motion <= 0.005


def test_item_37_a_coupling_far_above_the_limit_bounces_for_ever():
    """planar-haptics.md acceptance 37: 10 000 N/m is twenty times 2 (b + B)/T."""
    motion, tool, _ = settle(10_000.0, 0.0)
    assert motion > 5.0
    assert tool > 1.0
    assert settle(10_000.0, 0.0, 12.0)[0] > 5.0


finite = st.floats(-1.0, 1.0)
states = st.lists(st.tuples(finite, finite, finite), min_size=5, max_size=5).map(np.array)
springs = st.tuples(st.floats(0.0, 1e5), st.floats(0.0, 100.0)).map(np.array)
tilts = st.tuples(st.floats(0.0, math.pi), st.floats(0.0, 2 * math.pi))


@EXAMPLES
@given(springs, st.floats(0.01, 2.0), states, springs, tilts)
def test_the_step_solves_the_implicit_equations(spring, mass, state, wall, tilt):
    """m (u+ - u) = T (K (x - y+) + B (v - u+) + f_e + N n); N >= 0, and N = -K_w d+ - B_w u_n+ where it presses."""
    (K, B), (x, v, y, u, others) = spring, state
    normal = np.array([math.sin(tilt[0]) * math.cos(tilt[1]), math.sin(tilt[0]) * math.sin(tilt[1]), math.cos(tilt[0])])
    out = np.empty((7, 3))
    step_entry(spring, mass, state, DT, wall, normal, out)
    free, y_rigid, u_rigid, y_soft, u_soft, (push, shown, touching), force = out
    scale = 1.0 + K + B
    assert mass * (free - u) == pytest.approx(
        DT * (K * (x - y - DT * free) + B * (v - free) + others), abs=1e-9 * scale
    )
    assert shown == pytest.approx(mass + DT * B + DT * DT * K)
    assert force == pytest.approx(-K * (x - y) - B * (v - u), abs=1e-9 * scale)
    # compliant
    assert push >= 0.0
    assert mass * (u_soft - u) == pytest.approx(
        DT * (K * (x - y_soft) + B * (v - u_soft) + others + push * normal), abs=1e-9 * scale
    )
    assert y_soft == pytest.approx(y + DT * u_soft, abs=1e-12)
    law = -wall[0] * (y_soft @ normal) - wall[1] * (u_soft @ normal)
    if push > 0.0:
        assert push == pytest.approx(law, rel=1e-6, abs=1e-9 * (1.0 + wall.sum()))
    else:  # nothing to press on, or it would have to pull
        assert (y + DT * free) @ normal >= -1e-12 or law <= 1e-9 * (1.0 + wall.sum())
    # rigid
    assert y_rigid @ normal >= -1e-12
    assert bool(touching) == ((y + DT * free) @ normal < 0.0) or abs((y + DT * free) @ normal) < 1e-12
    if touching:
        assert u_rigid @ normal >= -1e-12
    else:
        assert u_rigid == pytest.approx(free)
    assert np.cross(u_rigid - free, normal) == pytest.approx(np.zeros(3), abs=1e-9)  # only along the normal


@EXAMPLES
@given(springs, st.floats(0.01, 2.0), st.integers(0, 2**32 - 1))
def test_a_tool_on_a_device_at_rest_never_gains_energy(spring, mass, seed):
    """Implicit Euler: whatever K, B and T are, (m u^2 + K y^2)/2 falls."""
    rng = np.random.default_rng(seed)
    state, out = np.zeros((5, 3)), np.empty((7, 3))
    state[2:4] = rng.normal(size=(2, 3))
    energy = math.inf
    for _ in range(20):
        now = 0.5 * mass * (state[3] @ state[3]) + 0.5 * spring[0] * (state[2] @ state[2])
        assert now <= energy * (1 + 1e-12)
        energy = now
        step_entry(spring, mass, state, DT, np.zeros(2), np.array([0.0, 0.0, 1.0]), out)
        state[3] = out[0]
        state[2] += DT * out[0]


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5.0), st.floats(0.0, 0.95), st.floats(0.0, 0.99))
def test_no_hand_draws_energy_from_a_coupling_that_the_device_can_damp(seed, b, part, share):
    """planar-haptics.md 8.2: passive for b > K T/2 + B, however stiff the wall; here under random pushes."""
    rng = np.random.default_rng(seed)
    B = part * b
    K = share * 2.0 * (b - B) / DT
    wall = (
        np.array([-1.0, 0.0])
        if rng.random() < 0.3
        else np.array([10.0 ** rng.uniform(1, 6), 10.0 ** rng.uniform(-2, 2)])
    )
    n = 300 if jit.DISABLED else 1500
    trace = np.empty((n, 3))
    push = np.repeat(rng.normal(-0.5, 3.0, n // 10 + 1), 10)[:n]
    device = np.array([10.0 ** rng.uniform(-1.5, 0.5), b, DT, 10.0 ** rng.uniform(-2, 0)])
    port_entry(device, np.array([K, B]), wall, rng.uniform(0.0, 0.02), push, trace)
    assert trace[:, 2].max() <= 1e-9 * (1.0 + np.abs(trace[:, 2]).max())


def test_a_coupling_too_stiff_for_the_device_gives_energy_away():
    n = 3000
    trace = np.empty((n, 3))
    device = np.array([MASS, DAMPING, DT, TOOL])
    port_entry(device, np.array([10_000.0, 0.0]), np.array([-1.0, 0.0]), 10e-3, np.full(n, -2.0), trace)
    assert trace[:, 2].max() > 1e-3
