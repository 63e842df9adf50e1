"""The acceptance list of the reference on articulated bodies, items 1 to 6, 9 and 10: two independent oracles each.

The printed and body-coordinate recursions live in tests/oracles; `pin` is Pinocchio.
"""

import numpy as np
import pytest
from mechanisms import random_state, random_tree, random_wrenches, relative
from oracles.aba_body import aba_body
from oracles.aba_printed import aba_printed
from oracles.craig_rnea import Z, craig_rnea
from oracles.trees import links

import palpate as pp
from palpate.bench.peers.pinocchio import Mirror


@pytest.mark.oracle_heavy
def test_item_1_craig_recursion_equals_pinocchio_and_ours_on_floating_trees_with_external_wrenches():
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(200):
        tree = random_tree(rng, ["revolute", "prismatic"], rng.integers(2, 9), root="free")
        # Craig's joints turn about z of a frame that sits on the child
        tree = pp.MultiBody("craig", tree.bodies, [
            pp.Joint(j.name, j.kind, j.parent, j.child, j.placement if i else pp.Transform())
            for i, j in enumerate(tree.joints)])  # fmt: skip
        model = pp.compile(tree)
        q, v, _ = random_state(rng, model)
        a, wrenches = rng.normal(size=model.nv), np.zeros((model.n_bodies, 6))
        wrenches[rng.integers(1, model.n_bodies, size=4)] = rng.normal(size=(4, 6))
        poses = pp.forward_kinematics(model, q)

        rows, R_B = links(model), poses[1][:3, :3]
        chain = [(b.parent, b.R0, b.p0, b.kind) for b in rows]
        externals = [(np.zeros(3), X[:3, :3].T @ w[3:], X[:3, :3].T @ w[:3])
                     for X, w in zip(poses[1:], wrenches[1:], strict=True)]  # fmt: skip
        # classical acceleration of the base origin from the body-frame coordinates
        base = (R_B, R_B @ v[:3], R_B @ a[:3], R_B @ (a[3:6] + np.cross(v[:3], v[3:6])))
        th, thd, thdd = (np.r_[0.0, x] for x in (q[7:], v[6:], a[6:]))
        tau, f_B, n_B = craig_rnea(chain, [b.mass for b in rows], [b.com for b in rows], [b.inertia for b in rows],
                                   base, th, thd, thdd, np.array([0, 0, -9.81]), externals)  # fmt: skip
        craig = np.r_[R_B.T @ n_B, R_B.T @ f_B, tau]
        theirs = Mirror(model).inverse(q, v, a, wrenches)
        worst = max(worst, np.abs(craig - theirs).max())
        assert np.abs(pp.inverse_dynamics(model, q, v, a, wrenches) - theirs).max() < 1e-10
    assert Z[2] == 1.0
    assert worst < 1e-10


@pytest.mark.oracle_heavy
@pytest.mark.parametrize("armature", [False, True])
def test_items_2_and_3_articulated_body_algorithms_agree_in_body_and_printed_form_with_pinocchio_and_ours(armature):
    rng = np.random.default_rng(2)
    for _ in range(60):
        model = pp.compile(random_tree(rng, ["revolute", "spherical"], rng.integers(2, 12), root="free"))
        if armature:
            joints = [pp.Joint(**{**vars(j), "armature": 0.1 if j.kind != "free" else 0.0})
                      for j in model.description.joints]  # fmt: skip
            model = pp.compile(pp.MultiBody("with rotors", model.description.bodies, joints))
        # the oracles put the child frame on the joint
        joints = [pp.Joint(**{**vars(j), "child_placement": pp.Transform()}) for j in model.description.joints]
        model = pp.compile(pp.MultiBody("plain", model.description.bodies, joints))
        q, v, tau = random_state(rng, model)
        wrenches, tree, gravity = random_wrenches(rng, model), links(model), np.array([0, 0, -9.81])
        poses = pp.forward_kinematics(model, q)
        local = [np.r_[X[:3, :3].T @ w[:3], X[:3, :3].T @ w[3:]] for X, w in zip(poses[1:], wrenches[1:], strict=True)]

        body = aba_body(tree, gravity, q, v, tau, local, np.array(model.arrays.armature))
        assert relative(body, Mirror(model).forward(q, v, tau, wrenches)) < 1e-10
        assert relative(pp.forward_dynamics(model, q, v, tau, wrenches), body) < 1e-10
        if not armature:
            printed = aba_printed(tree, gravity, q, v, tau, wrenches[1:])
            assert relative(printed, body) < 1e-10


def test_item_4_inverse_dynamics_inverts_forward_dynamics():
    rng = np.random.default_rng(4)
    model = pp.compile(random_tree(rng, ["revolute", "prismatic", "spherical"], 20, root="free"))
    for _ in range(200):
        q, v, tau = random_state(rng, model)
        wrenches = random_wrenches(rng, model)
        a = pp.forward_dynamics(model, q, v, tau, wrenches)
        assert relative(pp.inverse_dynamics(model, q, v, a, wrenches), tau) < 1e-9


def test_item_5_mass_matrix_is_symmetric_positive_definite_and_its_columns_are_inverse_dynamics():
    rng = np.random.default_rng(5)
    for _ in range(20):
        model = pp.compile(random_tree(rng, ["revolute", "prismatic", "spherical"], 12, root="free"))
        q, _, _ = random_state(rng, model)
        H, zero = pp.mass_matrix(model, q), np.zeros(model.nv)
        G = pp.inverse_dynamics(model, q, zero, zero)
        columns = np.array([pp.inverse_dynamics(model, q, zero, e) - G for e in np.eye(model.nv)]).T
        assert np.abs(H - H.T).max() == 0.0
        assert np.linalg.eigvalsh(H)[0] > 0.0
        assert np.abs(H - columns).max() < 1e-10


def test_item_6_coriolis_forces_do_no_work():
    """v^T (H' - 2 C) v = 0 with C v = h - G and H' by central differences."""
    rng, eps = np.random.default_rng(6), 1e-6
    for _ in range(20):
        model = pp.compile(random_tree(rng, ["revolute", "prismatic", "spherical"], 8, root="free"))
        q, v, _ = random_state(rng, model)
        H = [pp.mass_matrix(model, pp.integrate(model, q, v, t)) for t in (-eps, eps)]
        rate = v @ (H[1] - H[0]) @ v / (2 * eps)
        coriolis = v @ (pp.bias(model, q, v) - pp.bias(model, q, np.zeros(model.nv)))
        assert relative(rate, 2 * coriolis) < 1e-7


def test_item_9_base_wrench_of_a_falling_tree_is_zero():
    rng = np.random.default_rng(9)
    for _ in range(20):
        model = pp.compile(random_tree(rng, ["revolute", "prismatic", "spherical"], 10, root="free"))
        q, _, _ = random_state(rng, model)
        a = np.zeros(model.nv)
        a[3:6] = pp.forward_kinematics(model, q)[1][:3, :3].T @ (0, 0, -9.81)
        assert np.abs(pp.inverse_dynamics(model, q, np.zeros(model.nv), a)).max() < 1e-10


def test_item_10_jacobian_transpose_of_a_force_equals_an_external_wrench():
    rng = np.random.default_rng(10)
    for _ in range(50):
        model = pp.compile(random_tree(rng, ["revolute", "prismatic", "spherical", "fixed"], 10, root="free"))
        q, v, tau = random_state(rng, model)
        body, at_body, force = rng.integers(1, model.n_bodies), rng.normal(size=3), rng.normal(size=3)
        J = pp.jacobian(model, q, int(body), at_body)
        X = pp.forward_kinematics(model, q)[body]
        wrenches = np.zeros((model.n_bodies, 6))
        wrenches[body] = np.r_[np.cross(X[:3, :3] @ at_body, force), force]
        through_J = pp.forward_dynamics(model, q, v, tau + J[3:].T @ force)
        assert relative(pp.forward_dynamics(model, q, v, tau, wrenches), through_J) < 1e-9
