"""Laws of mechanics over random trees and forests with every joint kind; fixed seeds."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from mechanisms import ALL_JOINTS, all_kinds_forest, random_body, random_state, random_tree, random_wrenches, relative

import palpate as pp
from palpate import jit
from palpate.bench.peers.pinocchio import Mirror

SEEDS = range(1 if jit.DISABLED else 5)  # plain Python is a thousand times slower
pytestmark = pytest.mark.nojit


@pytest.fixture(params=SEEDS)
def forest(request):
    return all_kinds_forest(request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(2026)


def test_the_forest_holds_every_kind():
    assert {j.kind for j in all_kinds_forest(0).description.joints} == {*ALL_JOINTS, "fixed"}


def test_forward_dynamics_inverts_inverse_dynamics(forest, rng):
    for _ in range(4):
        q, v, tau = random_state(rng, forest)
        wrenches = random_wrenches(rng, forest)
        a = pp.forward_dynamics(forest, q, v, tau, wrenches)
        assert relative(pp.inverse_dynamics(forest, q, v, a, wrenches), tau) < 1e-9


def test_forward_and_inverse_dynamics_equal_pinocchio_for_every_kind(forest, rng):
    q, v, tau = random_state(rng, forest)
    wrenches, mirror = random_wrenches(rng, forest), Mirror(forest)
    a = mirror.forward(q, v, tau, wrenches)
    assert relative(pp.forward_dynamics(forest, q, v, tau, wrenches), a) < 1e-10
    assert relative(pp.inverse_dynamics(forest, q, v, a, wrenches), mirror.inverse(q, v, a, wrenches)) < 1e-10


def test_equation_of_motion_closes(forest, rng):
    """H a + C v + G = tau + J^T f (reference 2.3, the right signs)."""
    q, v, tau = random_state(rng, forest)
    wrenches = random_wrenches(rng, forest)
    JTf = sum(pp.jacobian(forest, q, b).T @ wrenches[b] for b in range(1, forest.n_bodies))
    left = pp.mass_matrix(forest, q) @ pp.forward_dynamics(forest, q, v, tau, wrenches) + pp.bias(forest, q, v)
    assert relative(left, tau + JTf) < 1e-9


def test_mass_matrix_columns_are_inverse_dynamics(forest, rng):
    q, _, _ = random_state(rng, forest)
    zero = np.zeros(forest.nv)
    G = pp.bias(forest, q, zero)
    columns = np.array([pp.inverse_dynamics(forest, q, zero, e) - G for e in np.eye(forest.nv)]).T
    H = pp.mass_matrix(forest, q)
    assert np.abs(H - columns).max() < 1e-10
    assert np.linalg.eigvalsh(H)[0] > 0.0


def test_kinetic_energy_is_half_v_H_v(forest, rng):
    q, v, _ = random_state(rng, forest)
    assert pp.energy(forest, q, v).kinetic == pytest.approx(0.5 * v @ pp.mass_matrix(forest, q) @ v, rel=1e-12)


def test_power_in_equals_rate_of_energy(forest, rng):
    q, v, tau = random_state(rng, forest)
    wrenches, eps = random_wrenches(rng, forest), 1e-5
    a = pp.forward_dynamics(forest, q, v, tau, wrenches)

    def total(t):  # second order along the motion, so that central differences see its rate
        return pp.energy(forest, pp.integrate(forest, q, v + 0.5 * t * a, t), v + t * a).total

    rate = (total(eps) - total(-eps)) / (2 * eps)
    twists = [pp.jacobian(forest, q, b) @ v for b in range(forest.n_bodies)]
    power = v @ tau + sum(t @ w for t, w in zip(twists, wrenches, strict=True))
    assert relative(rate, power) < 1e-6


def test_momentum_is_conserved_under_internal_forces(rng):
    """Acceptance item 12, first part: no gravity, joint torques only."""
    for _ in range(5):
        tree = random_tree(rng, [k for k in ALL_JOINTS if k != "free"], 12, root="free")
        model = pp.compile(tree, gravity=(0, 0, 0))
        q, v, tau = random_state(rng, model)
        tau[:6] = 0.0
        a = pp.forward_dynamics(model, q, v, tau)
        eps = 1e-5
        h = [pp.momentum(model, pp.integrate(model, q, v + 0.5 * t * a, t), v + t * a) for t in (-eps, eps)]
        # relative to the momentum that the links exchange: the largest joint force
        assert np.abs(h[1] - h[0]).max() / (2 * eps) < 1e-7 * max(1.0, np.abs(tau).max(), np.abs(a).max())


def test_momentum_rate_is_the_outside_force_and_its_moment_about_the_centre_of_mass(rng):
    model = pp.compile(random_tree(rng, ["revolute", "spherical"], 10, root="free"), gravity=(0, 0, 0))
    q, v, tau = random_state(rng, model)
    tau[:6] = 0.0
    wrenches, eps = random_wrenches(rng, model), 1e-5
    a = pp.forward_dynamics(model, q, v, tau, wrenches)
    h = [pp.momentum(model, pp.integrate(model, q, v + 0.5 * t * a, t), v + t * a) for t in (-eps, eps)]
    r = pp.forward_kinematics(model, q)[:, :3, 3] - pp.center_of_mass(model, q)
    moment = (wrenches[:, :3] + np.cross(r, wrenches[:, 3:])).sum(axis=0)
    assert relative((h[1] - h[0]) / (2 * eps), np.r_[moment, wrenches[:, 3:].sum(axis=0)]) < 1e-6


def test_jacobian_times_v_is_the_velocity_of_the_point(forest, rng):
    q, v, _ = random_state(rng, forest)
    eps = 1e-6
    for body in rng.integers(0, forest.n_bodies, size=6):
        at_body = rng.normal(size=3)
        twist = pp.jacobian(forest, q, int(body), at_body) @ v
        X = [pp.forward_kinematics(forest, pp.integrate(forest, q, v, t))[body] for t in (-eps, 0.0, eps)]
        W = (X[2][:3, :3] - X[0][:3, :3]) @ X[1][:3, :3].T / (2 * eps)
        point = [Y[:3, :3] @ at_body + Y[:3, 3] for Y in X]
        assert np.abs(np.r_[W[2, 1], W[0, 2], W[1, 0]] - twist[:3]).max() < 1e-7
        assert np.abs((point[2] - point[0]) / (2 * eps) - twist[3:]).max() < 1e-7


def test_difference_inverts_integrate(forest, rng):
    q, v, _ = random_state(rng, forest)
    assert np.abs(pp.difference(forest, q, pp.integrate(forest, q, v, 0.7)) - 0.7 * v).max() < 1e-12


def test_dynamics_do_not_depend_on_where_the_world_frame_is(rng):
    """Move and turn everything, gravity included: the joint forces stay the same."""
    for _ in range(5):
        tree = random_tree(rng, [k for k in ALL_JOINTS if k != "free"], 10, root="universal")
        X = pp.Transform(pp.Rotation.exp(rng.normal(size=3)), rng.normal(size=3))
        here = pp.compile(tree)
        there = pp.compile(tree.placed(X), gravity=tuple(X.R.apply((0, 0, -9.81))))
        q, v, tau = random_state(rng, here)
        a = pp.forward_dynamics(here, q, v, tau)
        assert relative(pp.forward_dynamics(there, q, v, tau), a) < 1e-11
        assert relative(pp.inverse_dynamics(there, q, v, a), tau) < 1e-11


@pytest.mark.parametrize(("distance_m", "speed_m_s"), [(1e3, 0.0), (1e5, 0.0), (0.0, 7.8e3), (1e5, 7.8e3)])
def test_a_tree_far_away_or_fast_loses_no_digits(distance_m, speed_m_s, rng):
    """The reference point moves with the root, so 100 km or orbital speed cost not a bit (fast-dynamics 1)."""
    for _ in range(5):
        model = pp.compile(random_tree(rng, [k for k in ALL_JOINTS if k != "free"], 12, root="free"))
        q, v, tau = random_state(rng, model)
        a = pp.forward_dynamics(model, q, v, tau)
        direction, boost = rng.normal(size=3), rng.normal(size=3)
        far = q.copy()
        far[:3] += distance_m * direction / np.linalg.norm(direction)
        R = pp.forward_kinematics(model, q)[1][:3, :3]
        drift = R.T @ (speed_m_s * boost / np.linalg.norm(boost))
        fast = v.copy()
        fast[3:6] += drift
        moved = pp.forward_dynamics(model, far, fast, tau)
        moved[3:6] += np.cross(v[:3], drift)  # the coordinates' own term, w x v in body axes
        rest = np.r_[0:3, 6 : model.nv]
        assert np.array_equal(moved[rest], a[rest])
        # here w x v is added and taken away again, 1e4 times what remains
        assert relative(moved[3:6], a[3:6]) <= 1e-15 * speed_m_s


def test_armature_equals_an_added_rotor(rng):
    """A rotor on the joint's axis, spun by a stiff 1:N gear, is N^2 J on the diagonal of H."""
    for kind, mass_like in (("revolute", 0.37), ("prismatic", 1.9)):
        tree = random_tree(rng, ["revolute"], 6, root="free")
        joints = list(tree.joints)
        joints[3] = replace(joints[3], kind=kind, armature=mass_like)
        geared = pp.compile(replace(tree, joints=tuple(joints)))
        plain = pp.compile(replace(tree, joints=(*joints[:3], replace(joints[3], armature=0.0), *joints[4:])))
        q, v, tau = random_state(rng, geared)
        j = geared.v_index[joints[3].name].start
        added = np.zeros((geared.nv, geared.nv))
        added[j, j] = mass_like
        assert np.abs(pp.mass_matrix(geared, q) - pp.mass_matrix(plain, q) - added).max() < 1e-12
        expected = np.linalg.solve(pp.mass_matrix(plain, q) + added, tau - pp.bias(plain, q, v))
        assert relative(pp.forward_dynamics(geared, q, v, tau), expected) < 1e-9


def test_welded_bodies_move_as_one(rng):
    """Three bodies welded equal one body with their joint mass, centre and inertia."""
    parts = [random_body(rng, f"part{k}") for k in range(3)]
    X = [
        pp.Transform(),
        pp.Transform(pp.Rotation.exp(rng.normal(size=3)), rng.normal(size=3)),
        pp.Transform(p=(1, 2, 3)),
    ]
    welded = pp.compile(pp.MultiBody("welded", parts, [
        pp.Joint("j", "free", "world", "part0"),
        pp.Joint("w1", "fixed", "part0", "part1", X[1]),
        pp.Joint("w2", "fixed", "part1", "part2", X[1].inv() @ X[2]),
    ]))  # fmt: skip
    mass = sum(b.mass for b in parts)
    com = sum(b.mass * Y.apply(b.com) for b, Y in zip(parts, X, strict=True)) / mass
    inertia = np.zeros((3, 3))
    for b, Y in zip(parts, X, strict=True):
        r, R = Y.apply(b.com) - com, Y.R.matrix()
        inertia += R @ np.array(b.inertia) @ R.T + b.mass * (r @ r * np.eye(3) - np.outer(r, r))
    one = pp.compile(pp.MultiBody("one", [pp.Body("b", mass, com, inertia)], [pp.Joint("j", "free", "world", "b")]))
    assert (welded.n_bodies, welded.n_links, one.n_links) == (4, 2, 2)
    q, v, tau = random_state(rng, one)
    assert relative(pp.forward_dynamics(welded, q, v, tau), pp.forward_dynamics(one, q, v, tau)) < 1e-12
    assert np.abs(pp.forward_kinematics(welded, q)[3] - pp.forward_kinematics(one, q)[1] @ X[2].matrix()).max() < 1e-12


def test_a_mimic_joint_is_its_leader_times_the_ratio(rng):
    """H, h and a of the coupled model are G^T H G, G^T h and the constrained acceleration of the uncoupled one."""
    tree = random_tree(rng, ["revolute", "prismatic"], 8, root="free", armature=True)
    leader, ratio, offset = tree.joints[2].name, -1.7, 0.3
    joints = list(tree.joints)
    joints[5] = replace(joints[5], mimic=pp.Mimic(leader, ratio, offset))
    coupled, loose = pp.compile(replace(tree, joints=tuple(joints))), pp.compile(tree)
    assert (coupled.nq, coupled.nv) == (loose.nq - 1, loose.nv - 1)
    q, v, tau = random_state(rng, coupled)
    wrenches = random_wrenches(rng, coupled)
    G = np.zeros((loose.nv, coupled.nv))
    for name, s in loose.v_index.items():
        if name == joints[5].name:
            G[s, coupled.v_index[leader]] = ratio
        else:
            G[s, coupled.v_index[name]] = np.eye(s.stop - s.start)
    q_loose = np.zeros(loose.nq)
    for name, s in loose.q_index.items():
        q_loose[s] = ratio * q[coupled.q_index[leader]] + offset if name == joints[5].name else q[coupled.q_index[name]]
    assert np.abs(pp.forward_kinematics(coupled, q) - pp.forward_kinematics(loose, q_loose)).max() < 1e-12
    H = G.T @ pp.mass_matrix(loose, q_loose) @ G
    assert np.abs(pp.mass_matrix(coupled, q) - H).max() < 1e-12
    h = G.T @ pp.inverse_dynamics(loose, q_loose, G @ v, np.zeros(loose.nv), wrenches)
    assert relative(pp.inverse_dynamics(coupled, q, v, np.zeros(coupled.nv), wrenches), h) < 1e-11
    a = pp.forward_dynamics(coupled, q, v, tau, wrenches)
    assert relative(a, np.linalg.solve(H, tau - h)) < 1e-9
    assert relative(pp.inverse_dynamics(coupled, q, v, a, wrenches), tau) < 1e-9
    assert pp.energy(coupled, q, v).kinetic == pytest.approx(0.5 * v @ H @ v, rel=1e-12)


def test_trees_of_a_forest_do_not_feel_each_other(rng):
    trees = [random_tree(rng, ALL_JOINTS, 8, name, root="free") for name in "ab"]
    both, alone = pp.compile(trees), [pp.compile(t) for t in trees]
    states = [random_state(rng, m) for m in alone]
    q, v, tau = (np.concatenate(x) for x in zip(*states, strict=True))
    a = np.concatenate([pp.forward_dynamics(m, *s) for m, s in zip(alone, states, strict=True)])
    assert relative(pp.forward_dynamics(both, q, v, tau), a) < 1e-13


def test_a_second_copy_is_prefixed_and_moves_by_itself():
    arm = random_tree(np.random.default_rng(3), ["revolute"], 3, "arm")
    model = pp.compile([arm, arm])
    assert "arm.2/arm1" in model.body_names
    assert "arm.2/arm_joint1" in model.joint_names
    assert model.nv == 6


@pytest.mark.filterwarnings("error")
def test_threads_do_not_share_scratch(forest):
    rng = np.random.default_rng(8)
    states = [random_state(rng, forest) for _ in range(4)]
    expected = [pp.forward_dynamics(forest, *s) for s in states]
    wrong = []

    def work(state, result):
        wrong.extend(
            state
            for _ in range(5 if jit.DISABLED else 200)
            if not np.array_equal(pp.forward_dynamics(forest, *state), result)
        )

    threads = [threading.Thread(target=work, args=pair) for pair in zip(states, expected, strict=True)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
