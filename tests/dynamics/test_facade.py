"""The public functions: what they accept, and the one clear line for what they do not."""

import numpy as np
import pytest
from mechanisms import random_state, random_tree

import palpate as pp

pytestmark = pytest.mark.nojit


@pytest.fixture(scope="module")
def model():
    return pp.compile(random_tree(np.random.default_rng(11), ["revolute", "spherical"], 5, root="free"))


@pytest.fixture
def state(model):
    return random_state(np.random.default_rng(12), model)


def test_lists_integers_strided_and_read_only_arrays_are_taken(model, state):
    q, v, tau = state
    expected = pp.forward_dynamics(model, q, v, tau)
    frozen = q.copy()
    frozen.setflags(write=False)
    strided = np.repeat(v, 2)[::2]
    assert np.array_equal(pp.forward_dynamics(model, frozen, strided, list(tau)), expected)
    zero = pp.forward_dynamics(model, q, v, np.zeros(model.nv))
    assert np.array_equal(pp.forward_dynamics(model, q, v, np.zeros(model.nv, dtype=int)), zero)


def test_arguments_are_not_changed(model, state):
    before = [x.copy() for x in state]
    pp.forward_dynamics(model, *state)
    pp.inverse_kinematics(model, 3, (0, 0, 0), state[0])
    for x, y in zip(state, before, strict=True):
        assert np.array_equal(x, y)


def test_a_model_cannot_be_written(model):
    for array in model.arrays:
        if isinstance(array, np.ndarray) and array.size:
            with pytest.raises(ValueError, match="read-only"):
                array.flat[0] = 1
    with pytest.raises(AttributeError):
        model.nq = 3


def spoiled(x, index, value):
    x = x.copy()
    x[index] = value
    return x


@pytest.mark.parametrize(("change", "message"), [
    (lambda m, q, v, t: (m, q[:-1], v, t), r"q has shape \(\d+,\), the model needs \(\d+,\)"),
    (lambda m, q, v, t: (m, q, v[:-1], t), r"v has shape"),
    (lambda m, q, v, t: (m, q, v, t[None]), r"tau has shape \(1, \d+\)"),
    (lambda m, q, v, t: (m, spoiled(q, 0, np.nan), v, t), r"q\[0\] of joint 'tree_joint0' is nan"),
    (lambda m, q, v, t: (m, q, spoiled(v, 1, np.inf), t), r"v holds a NaN or an infinity"),
    (lambda m, q, v, t: (m, q, v, spoiled(t, 1, np.nan)), r"tau holds a NaN or an infinity"),
    (lambda m, q, v, t: (m, spoiled(q, slice(3, 7), 0.9), v, t), r"quaternion q\[3:7\] of .* has length 1.8"),
    (lambda m, q, v, t: (m, q, v, t, np.zeros((2, 6))), r"wrenches has shape \(2, 6\), the model needs"),
    (lambda m, q, v, t: (m, q, v, t, np.full((m.n_bodies, 6), np.nan)), r"wrenches holds a NaN"),
])  # fmt: skip
def test_a_wrong_argument_is_one_clear_line(model, state, change, message):
    with pytest.raises(ValueError, match=message) as error:
        pp.forward_dynamics(*change(model, *state))
    assert "\n" not in str(error.value)


def test_wrong_arguments_of_the_other_functions(model, state):
    q, v, _ = state
    with pytest.raises(ValueError, match="a has shape"):
        pp.inverse_dynamics(model, q, v, v[:3])
    with pytest.raises(ValueError, match="q has shape"):
        pp.mass_matrix(model, q[:3])
    with pytest.raises(ValueError, match="v holds a NaN"):
        pp.energy(model, q, v * np.nan)
    with pytest.raises(ValueError, match="has no body 'tree33'"):
        pp.jacobian(model, q, "tree33")
    with pytest.raises(ValueError, match="did you mean 'tree3'"):
        pp.jacobian(model, q, "tre3")
    with pytest.raises(ValueError, match=r"bodies 0\.\."):
        pp.jacobian(model, q, 99)
    with pytest.raises(ValueError, match="at_body has shape"):
        pp.jacobian(model, q, 1, (0, 0))
    with pytest.raises(ValueError, match=r"q\[0\] .* is nan"):
        pp.difference(model, q, q * np.nan)
    with pytest.raises(ValueError, match="last row"):
        pp.inverse_kinematics(model, 1, np.ones((4, 4)), q)


def test_a_description_says_that_it_wants_to_be_compiled():
    with pytest.raises(TypeError, match="'puma560' is a description: compile it first"):
        pp.forward_dynamics(pp.models.puma560(), [0] * 6, [0] * 6, [0] * 6)
    with pytest.raises(TypeError, match="compile it first"):
        pp.mass_matrix(pp.models.puma560(), [0] * 6)


def test_numbers_that_make_no_sense_are_refused(model, state):
    q, v, _ = state
    with pytest.raises(ValueError, match="dt must be finite"):
        pp.integrate(model, q, v, float("nan"))
    with pytest.raises(ValueError, match="iterations must be at least 1"):
        pp.inverse_kinematics(model, 1, (0, 0, 0), q, iterations=0)
    with pytest.raises(ValueError, match=r"a \(4, 4\) matrix or a position \(3,\)"):
        pp.inverse_kinematics(model, 1, (0, 0), q)


def test_every_public_name_is_there_and_documented():
    for name in pp.__all__:
        assert getattr(pp, name).__doc__, name
    assert set(pp.__all__) <= set(dir(pp))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        pp.nonsense  # noqa: B018
