"""Bodies that are placed: no weight, no momentum, an inertia that nothing moves, and finite numbers everywhere."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate.model.compile import PLACED_INERTIA

SOLIDS = {
    "ball": lambda **k: pp.models.ball(0.07, **k),
    "box": lambda **k: pp.models.box((0.2, 0.1, 0.3), **k),
    "capsule": lambda **k: pp.models.capsule(0.03, 0.2, **k),
    "cylinder": lambda **k: pp.models.cylinder(0.05, 0.2, **k),
}
TURN = pp.Rotation.rpy(0.3, -0.5, 1.1)
numbers = st.floats(-2.0, 2.0)
pushes = st.floats(-100.0, 100.0)


def placed_box(name="obstacle", **options):
    return pp.models.box((0.2, 0.1, 0.3), name=name, placed=True, **options)


@pytest.mark.nojit
@pytest.mark.parametrize("kind", SOLIDS)
def test_a_placed_solid_starts_where_a_fixed_one_stands(kind):
    where = {"at": (0.3, -0.2, 0.7), "R": TURN}
    placed, fixed = (pp.compile(SOLIDS[kind](**where, **how)) for how in ({"placed": True}, {"fixed": True}))
    assert pp.forward_kinematics(placed, placed.posture("start"))[1] == pytest.approx(
        pp.forward_kinematics(fixed, fixed.posture("start"))[1], abs=1e-15
    )
    assert (placed.nq, placed.nv, placed.mass) == (7, 6, 0.0)


@pytest.mark.nojit
@pytest.mark.parametrize("kind", SOLIDS)
def test_gravity_does_not_act_on_a_placed_body(kind):
    model = pp.compile(SOLIDS[kind](at=(0.3, -0.2, 0.7), R=TURN, placed=True))
    q, still = model.posture("start"), np.zeros(6)
    assert np.array_equal(pp.forward_dynamics(model, q, still, still), still)
    assert np.array_equal(pp.bias(model, q, still), still)
    assert np.array_equal(pp.inverse_dynamics(model, q, still, still), still)
    assert pp.energy(model, q, still).total == 0.0


@settings(max_examples=40, deadline=None)
@given(st.tuples(*[numbers] * 3), st.tuples(*[numbers] * 3), st.tuples(*[pushes] * 6))
def test_a_push_gives_a_placed_body_no_acceleration_worth_the_name(p, rotation, wrench):
    """Under |f| <= 100 sqrt(3) N at its origin, a = f / PLACED_INERTIA in any pose: less than 2e-10 m/s^2."""
    model = pp.compile(placed_box())
    q = np.array([*p, *pp.Rotation.exp(rotation).wxyz])
    wrenches = np.zeros((2, 6))
    wrenches[1] = wrench
    a = pp.forward_dynamics(model, q, np.zeros(6), np.zeros(6), wrenches)
    assert np.linalg.norm(a[3:]) == pytest.approx(np.linalg.norm(wrench[3:]) / PLACED_INERTIA, rel=1e-12)
    assert np.linalg.norm(a[:3]) == pytest.approx(np.linalg.norm(wrench[:3]) / PLACED_INERTIA, rel=1e-12)
    assert np.linalg.norm(a) < 2.0 * 100.0 * math.sqrt(3.0) / 1e12


@settings(max_examples=20, deadline=None)
@given(st.tuples(*[numbers] * 3), st.tuples(*[numbers] * 3), st.integers(0, 2**32 - 1))
def test_the_mass_matrix_is_positive_definite_and_the_arm_s_part_of_it_is_the_arm_s_own(p, rotation, seed):
    arm = pp.models.puma560()
    alone, both = pp.compile(arm), pp.compile([arm, placed_box()])
    rng = np.random.default_rng(seed)
    q = np.concatenate([rng.uniform(-1.0, 1.0, alone.nq), p, pp.Rotation.exp(rotation).wxyz])
    v = np.concatenate([rng.uniform(-1.0, 1.0, alone.nv), np.zeros(6)])
    tau, n = np.concatenate([rng.uniform(-9.0, 9.0, alone.nv), np.zeros(6)]), alone.nv
    H = pp.mass_matrix(both, q)
    np.linalg.cholesky(H)  # raises if it is not positive definite
    assert np.array_equal(H[:n, :n], pp.mass_matrix(alone, q[:n]))
    assert not H[:n, n:].any()
    assert H[n:, n:] == pytest.approx(np.diag([PLACED_INERTIA] * 6))
    a = pp.forward_dynamics(both, q, v, tau)
    assert np.isfinite(a).all()
    assert np.array_equal(a[:n], pp.forward_dynamics(alone, q[:n], v[:n], tau[:n]))
    assert not a[n:].any()


@pytest.mark.nojit
def test_energy_momentum_and_centre_of_mass_are_those_without_it():
    arm = pp.models.puma560()
    alone, both = pp.compile(arm), pp.compile([arm, placed_box(at=(1.0, 2.0, 3.0))])
    q, v = both.posture("start"), np.zeros(both.nv)
    v[: alone.nv] = np.linspace(-1.0, 1.0, alone.nv)
    n, m = alone.nq, alone.nv
    assert both.mass == alone.mass
    near = {"rel": 1e-14, "abs": 1e-14}  # the compiler sums in another order
    assert pp.energy(both, q, v) == pytest.approx(pp.energy(alone, q[:n], v[:m]), **near)
    assert pp.momentum(both, q, v) == pytest.approx(pp.momentum(alone, q[:n], v[:m]), **near)
    assert pp.center_of_mass(both, q) == pytest.approx(pp.center_of_mass(alone, q[:n]), **near)


@pytest.mark.nojit
def test_a_model_of_nothing_but_placed_bodies_has_finite_numbers():
    model = pp.compile([placed_box("a"), placed_box("b", at=(1.0, 0.0, 0.0), R=TURN)])
    q, v = model.posture("start"), np.ones(12)
    assert np.array_equal(pp.momentum(model, q, v), np.zeros(6))
    assert pp.energy(model, q, np.zeros(12)).total == 0.0
    assert np.isfinite(pp.forward_dynamics(model, q, v, v)).all()
    with pytest.raises(ValueError, match="no mass"):
        pp.center_of_mass(model, q)


def test_what_is_welded_to_a_placed_body_is_placed_with_it():
    box, lid = placed_box().bodies[0], pp.Body("lid", 3.0, inertia=(0.1, 0.1, 0.1))
    joints = (pp.Joint("j", "free", "world", "obstacle", placed=True),
              pp.Joint("glue", "fixed", "obstacle", "lid", pp.Transform(p=(0.0, 0.0, 0.2))))  # fmt: skip
    model = pp.compile(pp.MultiBody("crate", (box, lid), joints))
    assert (model.n_links, model.mass) == (2, 0.0)
    assert np.array_equal(pp.forward_dynamics(model, model.neutral(), np.zeros(6), np.zeros(6)), np.zeros(6))


def test_what_cannot_be_placed_is_refused_in_one_line():
    a, b = pp.Body("a", 1.0, inertia=(1, 1, 1)), pp.Body("b", 1.0, inertia=(1, 1, 1))
    free = pp.Joint("j", "free", "world", "a", placed=True)
    wrong = {
        "not both": lambda: pp.models.box(fixed=True, placed=True),
        "'j': only a free joint to the world": lambda: pp.Joint("j", "revolute", "world", "a", placed=True),
        "'k': only a free joint to the world": lambda: pp.Joint("k", "free", "a", "b", placed=True),
        "'hinge' moves on 'a', which is placed": lambda: pp.MultiBody(
            "m", (a, b), (free, pp.Joint("hinge", "revolute", "a", "b"))
        ),
        # beyond a weld too
        "'hinge' moves on 'b', which is placed": lambda: pp.MultiBody(
            "m",
            (a, b, pp.Body("c", 1.0, inertia=(1, 1, 1))),
            (free, pp.Joint("glue", "fixed", "a", "b"), pp.Joint("hinge", "revolute", "b", "c")),
        ),
    }
    for message, make in wrong.items():
        with pytest.raises(pp.ModelError, match=message) as caught:
            make()
        assert "\n" not in str(caught.value)


def test_a_free_body_without_mass_is_still_refused():
    weightless = pp.MultiBody("ghost", (pp.Body("ghost"),), (pp.Joint("j", "free", "world", "ghost"),))
    with pytest.raises(pp.ModelError, match="moves nothing that has inertia"):
        pp.compile(weightless)
