"""Free bodies by themselves: the closed form of their dynamics is that of any other tree, however odd they are.

Three judges: Newton's and Euler's equations written down in numpy with more digits, the elimination of axes one by one
(which a body with an armature goes through, be it 1e-300 kg), and Pinocchio.
"""

from dataclasses import replace

import numpy as np
import pytest
from dynamics_doors import accelerations_again, mobilities, responses
from mechanisms import random_placement, random_tree, random_wrenches

import palpate as pp
from palpate import jit
from palpate.bench.peers.pinocchio import Mirror
from palpate.dynamics.workspace import address_of

pytestmark = pytest.mark.nojit
SEEDS = range(2 if jit.DISABLED else 12)
BODIES = 3 if jit.DISABLED else 12
NOTHING = 1e-300  # what no sum feels: an armature [kg m^2, kg]
NO_WRENCHES = np.zeros((0, 6))


def odd_body(rng, name):
    """Any mass and size; its centre anywhere; round, flat or a needle with moments up to 1e8 apart, turned anyhow."""
    mass, size = 10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-3, 2)
    thin = 10.0 ** rng.uniform(-8, 0)
    moments = rng.permutation([1.0, rng.uniform(0.5, 1.0) if thin > 0.5 else 1.0, thin])
    Q = np.asarray(pp.Rotation.exp(rng.normal(size=3) * rng.choice([0.0, 1.0])).matrix())
    inertia = mass * size * size * (Q * moments) @ Q.T
    com = rng.normal(size=3) * size * rng.choice([0.0, 0.1, 3.0])
    return pp.Body(name, mass, com, 0.5 * (inertia + inertia.T))


def odd_bodies(rng, n=BODIES):
    """Each on a free joint that sits anywhere in the world."""
    joints = [pp.Joint(f"j{k}", "free", "world", f"b{k}", random_placement(rng)) for k in range(n)]
    return [pp.MultiBody(f"m{k}", [odd_body(rng, joint.child)], [joint]) for k, joint in enumerate(joints)]


def with_armature(parts, armature):
    return [replace(p, joints=tuple(replace(j, armature=armature) for j in p.joints)) for p in parts]


def odd_state(rng, model):
    """Anywhere, also 100 km away; at rest, or at up to 1000 rad/s and 7.8 km/s; pushed in proportion to what it is."""
    q = pp.integrate(model, model.neutral(), rng.normal(size=model.nv), 1.0)
    v, tau, m = rng.normal(size=model.nv), rng.normal(size=model.nv), model.arrays
    wrenches = random_wrenches(rng, model)
    for i in range(1, model.n_links):
        n, j = m.q_begin[i], m.axis_v[m.axis_begin[i]]
        q[n : n + 3] *= rng.choice([0.0, 1.0, 1e5])
        v[j : j + 3] *= rng.choice([0.0, 1.0, 1e3])
        v[j + 3 : j + 6] *= rng.choice([0.0, 1.0, 7.8e3])
        f, size = m.mass[i], np.sqrt(m.inertia[i, :3].max() / m.mass[i])
        for pushes in (tau[j : j + 6], wrenches[i]):
            pushes *= np.r_[np.full(3, f * size), np.full(3, f)] * rng.choice([0.0, 1.0, 100.0])
    return q, v, tau, wrenches


def imbalance(model, q, v, tau, wrenches, a):
    """By what part of the terms in Newton's and Euler's equations a is off them, the worst of all bodies."""
    x, m, poses, rows = np.longdouble, model.arrays, pp.forward_kinematics(model, q), []
    for i in range(1, model.n_links):
        j, R, c, mass = m.axis_v[m.axis_begin[i]], poses[i][:3, :3].astype(x), m.com[i].astype(x), x(m.mass[i])
        xx, yy, zz, xy, xz, yz = m.inertia[i].astype(x)
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        w, u, al, acc = (x(part[k : k + 3]) for part in (v, a) for k in (j, j + 3))
        f, n = tau[j + 3 : j + 6] + R.T @ wrenches[i, 3:], tau[j : j + 3] + R.T @ wrenches[i, :3]
        turning = (I @ al, np.cross(w, I @ w), -n, np.cross(c, f))
        weight = np.abs(I).max() * max(np.abs(al).max(), w @ w)
        moving = (acc, np.cross(w, u), np.cross(al, c), np.cross(w, np.cross(w, c)), -R.T @ m.gravity, -f / mass)
        rows.append(np.abs(sum(turning)).max() / max(weight, *(np.abs(term).max() for term in turning), NOTHING))
        rows.append(np.abs(sum(moving)).max() / max(np.abs(term).max() for term in moving))
    return float(max(rows))


@pytest.mark.parametrize("seed", SEEDS)
def test_odd_free_bodies_obey_newton_and_euler(seed):
    rng = np.random.default_rng(seed)
    model = pp.compile(odd_bodies(rng))
    for _ in range(3):
        q, v, tau, wrenches = odd_state(rng, model)
        a = pp.forward_dynamics(model, q, v, tau, wrenches)
        assert imbalance(model, q, v, tau, wrenches, a) < 5e-15


@pytest.mark.parametrize("seed", SEEDS)
def test_the_closed_form_equals_the_elimination_of_axes(seed):
    """An armature too small to be felt: another way to the same numbers.  Bodies that elimination can do well."""
    rng = np.random.default_rng(100 + seed)
    parts = [random_tree(rng, ["free"], 1, f"t{k}", root="free") for k in range(BODIES)]
    plain, held = pp.compile(parts), pp.compile(with_armature(parts, NOTHING))
    for _ in range(3):
        q, v, tau, wrenches = odd_state(rng, plain)
        a, b = (pp.forward_dynamics(m, q, v, tau, wrenches).reshape(-1, 6) for m in (plain, held))
        size = np.maximum(1.0, np.abs(b).max(axis=1, keepdims=True))
        assert (np.abs(a - b) / size).max() < 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_an_armature_on_a_free_joint_is_on_the_diagonal_of_H(seed):
    """Of what turns in place: on a way an armature would weigh a free body's acceleration in the world."""
    rng = np.random.default_rng(200 + seed)
    parts = [random_tree(rng, ["free"], 1, f"t{k}", root="free") for k in range(BODIES)]
    armature = tuple(rng.uniform(0.0, 2.0, size=6) * rng.choice([0.0, 1.0], size=6))
    plain, held = pp.compile(parts), pp.compile(with_armature(parts, armature))
    q, v, tau, _ = odd_state(rng, plain)
    v.reshape(-1, 6)[:, 3:] = 0.0
    expected = np.linalg.solve(
        pp.mass_matrix(plain, q) + np.diag(np.tile(armature, BODIES)), tau - pp.bias(plain, q, v)
    ).reshape(-1, 6)
    a = pp.forward_dynamics(held, q, v, tau).reshape(-1, 6)
    assert (np.abs(a - expected) / np.maximum(1.0, np.abs(expected).max(axis=1, keepdims=True))).max() < 1e-10


@pytest.mark.parametrize("seed", SEEDS)
def test_free_bodies_among_robots_equal_pinocchio(seed):
    rng = np.random.default_rng(300 + seed)
    parts = [random_tree(rng, ["free"], 1, f"t{k}", root="free") for k in range(4)]
    parts.insert(0, random_tree(rng, ["revolute", "spherical", "prismatic"], 5, "fixed", root="revolute"))
    parts.insert(3, random_tree(rng, ["revolute", "spherical"], 5, "walker", root="free"))
    parts.append(random_tree(rng, ["revolute"], 2, "last", root="revolute"))
    model = pp.compile(parts)
    q = pp.integrate(model, model.neutral(), rng.normal(size=model.nv), 1.0)
    v, tau, wrenches = rng.normal(size=model.nv), rng.normal(size=model.nv), random_wrenches(rng, model)
    expected = Mirror(model).forward(q, v, tau, wrenches)
    a = pp.forward_dynamics(model, q, v, tau, wrenches)
    assert np.abs(a - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_taken_again_and_the_response_to_torques_are_those_of_the_whole(seed):
    """`articulated_again` at other velocities is forward dynamics there; `response` is H^-1 tau, at any velocity."""
    rng = np.random.default_rng(400 + seed)
    model = pp.compile(odd_bodies(rng))
    q, v, tau, wrenches = odd_state(rng, model)
    _, faster, _, _ = odd_state(rng, model)
    again, expected = np.empty(model.nv), pp.forward_dynamics(model, q, faster, tau, wrenches)
    accelerations_again(address_of(model), q, v, faster, tau, wrenches, again)
    assert np.array_equal(again, expected)
    a = np.empty(model.nv)
    responses(address_of(model), q, v, tau, NO_WRENCHES, a)
    at_rest = np.zeros(model.nv)
    still = pp.compile(odd_bodies(np.random.default_rng(400 + seed)), gravity=(0, 0, 0))
    expected = pp.forward_dynamics(still, q, at_rest, tau)
    assert np.abs((a - expected) / np.maximum(np.abs(expected), 1e-300)).max() < 1e-9


@pytest.mark.parametrize("held", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_push_feels_is_J_inverse_H_J_transposed(seed, held):
    """Free bodies with and without an armature, beside a tree: the acceleration of each link under a wrench on it."""
    rng = np.random.default_rng(500 + seed)
    parts = with_armature([random_tree(rng, ["free"], 1, f"t{k}", root="free") for k in range(4)], held)
    model = pp.compile([parts[0], random_tree(rng, ["revolute"], 3, "walker", root="free"), *parts[1:]])
    m = model.arrays
    q = pp.integrate(model, model.neutral(), rng.normal(size=model.nv), 1.0)
    wrenches, out = rng.normal(size=(model.n_links, 6)), np.zeros((model.n_links, 6))
    mobilities(address_of(model), q, rng.normal(size=model.nv), wrenches, NO_WRENCHES, out)
    H, poses = pp.mass_matrix(model, q), pp.forward_kinematics(model, q)
    for i in range(1, model.n_links):
        body, root = (int(np.flatnonzero(m.body_link == k)[0]) for k in (i, m.root[i]))
        X, at = poses[body], poses[root][:3, 3]
        J = pp.jacobian(model, q, body, X[:3, :3].T @ (at - X[:3, 3]))  # the point of this body at the reference point
        expected = J @ np.linalg.solve(H, J.T @ wrenches[i])
        assert np.abs(out[i] - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())
