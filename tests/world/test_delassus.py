"""Contact space: the inverse inertia the solver works with is J H^-1 J^T, and its equations close."""

from dataclasses import replace

import numpy as np
import pytest
from motions import dense_problem

import palpate as pp
from palpate.scenes.blocks import dominoes
from palpate.scenes.bridge import bridge
from palpate.scenes.standing import hrp2_standing, human_standing


def jacobian_of_rows(model, q, contacts):
    """(3m, nv): velocity of b less that of a at each contact's point, along normal and tangents, by the front door."""
    poses, rows = pp.forward_kinematics(model, q), []
    for c in contacts:
        J = np.zeros((3, model.nv))
        for body, sign in ((c.body_a, -1.0), (c.body_b, 1.0)):
            X = poses[model.body(body)]
            at = X[:3, :3].T @ (c.point - X[:3, 3])
            if body != "world":
                J += sign * pp.jacobian(model, q, body, at)[3:]
        rows.append(J)
    return np.vstack(rows)


def frames(world, contacts):
    """Block-diagonal (3m, 3m): (n, t1, t2) of each contact as rows."""
    r = world.arrays.rows
    F = np.zeros((3 * len(contacts), 3 * len(contacts)))
    for i in range(len(contacts)):
        side = 1 if r.slot[2 * i + 1] else 0  # the world has no rows; those of a have the other sign
        for k in range(3):
            d = r.J[i, 18 * side + 6 * k + 3 : 18 * side + 6 * k + 6]
            F[3 * i + k, 3 * i : 3 * i + 3] = d if side else -d
    return F


def before_and_after(world, steps):
    """The world's q before the last of `steps` steps, after which its rows are looked at."""
    world.step(steps - 1)
    q = world.q.copy()
    world.step()
    return q


def uneven(world):
    """The same world, but the weight of what moves is off its middle."""
    rng, description = np.random.default_rng(4), world.model.description
    bodies = [replace(b, com=np.add(b.com, rng.normal(scale=0.01, size=3))) for b in description.bodies]
    return pp.World(replace(description, bodies=tuple(bodies)))


@pytest.mark.parametrize("scene", ["hrp2", "human", "bodies", "uneven bodies"])
def test_the_table_is_J_inverse_H_J_transposed_and_the_contact_equation_closes(scene):
    """Acceptance 26: Delassus to 1e-12 relative, eq. 16 to 1e-9, springs in the joints counted in."""
    if scene.endswith("bodies"):
        world, steps = dominoes(6).world, 600  # fallen onto each other
        world = uneven(world) if scene.startswith("uneven") else world
    else:
        world, steps = (hrp2_standing if scene == "hrp2" else human_standing)(full=True).world, 20
    q = before_and_after(world, steps)
    model, contacts, r = world.model, world.contacts, world.arrays.rows
    assert contacts
    assert r.n_rows == len(contacts)
    if scene.endswith("bodies"):
        assert any("floor" not in (c.body_a, c.body_b) for c in contacts)
    A = frames(world, contacts) @ jacobian_of_rows(model, q, contacts)
    H = pp.mass_matrix(model, q)
    implicit = world.arrays.state.armature - model.arrays.armature  # dt kv + dt^2 kp of the springs
    H[model.arrays.axis_v, model.arrays.axis_v] += implicit
    W, _ = dense_problem(world)
    expected = A @ np.linalg.solve(H, A.T)
    assert np.abs(W - expected).max() < 1e-12 * np.abs(expected).max()

    v = world.v.copy()  # after the step, in the axes of its beginning
    poses, moved = pp.forward_kinematics(model, q), pp.forward_kinematics(model, world.q)
    for joint in model.description.joints:
        if joint.kind == "free":
            at, body = model.v_index[joint.name], model.body(joint.child)
            turn = poses[body][:3, :3].T @ moved[body][:3, :3]
            link = model.arrays.body_link[body]
            # spin has the same numbers in both; what keeps its velocity in the world is a lone body's centre of mass
            lever = world.arrays.state.lone[link] * np.cross(v[at][:3], model.arrays.com[link])
            v[at] = np.concatenate([v[at][:3], turn @ (v[at][3:] + lever) - lever])
    u = A @ v + r.offset[: len(contacts)].ravel()
    assert u == pytest.approx(r.u[: len(contacts)].ravel(), abs=1e-9)


def test_rows_of_all_kinds_close():
    """u = W l + c for contacts and connections together, from the impulses the step used."""
    world = bridge(6).world
    for _ in range(10):
        world.step(50)
        r = world.arrays.rows
        R = r.n_rows
        W, c = dense_problem(world)
        assert (W @ r.lam[:R].ravel() + c) == pytest.approx(r.u[:R].ravel(), abs=1e-9)
        assert np.abs(W - W.T).max() < 1e-12 * np.abs(W).max()
