"""DH tables: a chain's frames are the products of the printed matrices, in both conventions."""

import numpy as np
import pytest

import palpate as pp
from palpate.model.description import ModelError
from palpate.model.dh import dh_transform, from_dh


def rx(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def rz(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def shift(x, y, z):
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def printed(convention, alpha, a, d, theta):
    if convention == "modified":
        return rx(alpha) @ shift(a, 0, 0) @ rz(theta) @ shift(0, 0, d)
    return rz(theta) @ shift(0, 0, d) @ shift(a, 0, 0) @ rx(alpha)


def moved(row, q, kind):
    alpha, a, d, theta = row
    return (alpha, a, d + q, theta) if kind == "prismatic" else (alpha, a, d, theta + q)


@pytest.mark.parametrize("convention", ["modified", "standard"])
@pytest.mark.parametrize("seed", range(5))
def test_frames_are_the_products_of_the_rows(convention, seed):
    rng = np.random.default_rng(seed)
    rows = [tuple(row) for row in rng.uniform(-2, 2, (7, 4))]
    kinds = rng.choice(["revolute", "prismatic"], 7).tolist()
    base = pp.Transform(pp.Rotation.rpy(0.1, 0.2, 0.3), (1, 2, 3))
    model = pp.compile(from_dh(rows, convention, kinds=kinds, base=base))
    q = rng.uniform(-2, 2, 7)
    X = base.matrix()
    for i, pose in enumerate(pp.forward_kinematics(model, q)[1:]):
        step = printed(convention, *moved(rows[i], q[i], kinds[i]))
        X = X @ step
        np.testing.assert_allclose(pose, X, atol=1e-12)
        row = pp.DH(*rows[i], convention=convention)
        np.testing.assert_allclose(dh_transform(row, q[i], kinds[i]).matrix(), step, atol=1e-12)


def test_rows_can_be_objects_that_carry_their_convention():
    row = (0.3, 0.2, 0.1, 0.4)
    for convention in ("modified", "standard"):
        chain = from_dh([pp.DH(*row, convention=convention)])
        np.testing.assert_allclose(
            pp.forward_kinematics(pp.compile(chain), [0.0])[1], printed(convention, *row), atol=1e-12
        )


def test_bodies_carry_their_mass_in_the_frame_of_their_row():
    arm = pp.Body("arm", mass=2.0, com=(0.0, 0.5, 0.0), inertia=(0.1, 0.1, 0.1))
    model = pp.compile(from_dh([(np.pi / 2, 0, 0, 0)], bodies=[arm], lower=-1.0, upper=1.0))
    # the axis is horizontal (-y of the world) and the centre 0.5 m above it: no torque there, all of it a quarter on
    assert pp.inverse_dynamics(model, [0.0], [0.0], [0.0]) == pytest.approx([0.0], abs=1e-12)
    assert abs(pp.inverse_dynamics(model, [np.pi / 2], [0.0], [0.0])[0]) == pytest.approx(2.0 * 9.81 * 0.5)
    assert pp.inverse_dynamics(model, [0.0], [0.0], [1.0]) == pytest.approx([0.1 + 2.0 * 0.25])
    assert (model.lower[0], model.upper[0]) == (-1.0, 1.0)


WRONG = {
    "a DH table is a sequence of at least one row": {"rows": []},
    "DH row 2 must be a DH or the four numbers (alpha, a, d, theta), got (1, 2)": {"rows": [(0, 0, 0, 0), (1, 2)]},
    "DH row 1 is modified, but the convention asked for is 'standard'": {"rows": [pp.DH()], "convention": "standard"},
    "DH row 1: a DH convention is 'modified' or 'standard', got 'craig'": {
        "rows": [(0, 0, 0, 0)], "convention": "craig"},
    "DH row 1: DH parameters must be finite, and not beyond 1e+24": {"rows": [(0, 0, float("nan"), 0)]},
    "DH row 1: a joint is 'revolute' or 'prismatic', got 'free'": {"rows": [(0, 0, 0, 0)], "kinds": "free"},
    "the DH table has 1 rows but kinds has 2 values": {"rows": [(0, 0, 0, 0)], "kinds": ["revolute", "revolute"]},
    "the DH table has 1 rows but 0 bodies were given": {"rows": [(0, 0, 0, 0)], "bodies": []},
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_wrong_table_is_refused_in_one_line(message):
    with pytest.raises(ModelError) as error:
        from_dh(**WRONG[message])
    assert str(error.value) == message
