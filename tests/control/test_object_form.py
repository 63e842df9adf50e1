"""Compliance of what is held, in both forms: avatars.md 10.26, 10.27; articulated-haptics.md 34."""

from __future__ import annotations

import numpy as np
import pytest

import palpate as pp
from palpate.control.grasp.object_form import ObjectForm, object_form
from palpate.control.grasp.object_form_entries import joints_yielding, yielding
from palpate.control.grasp.wrenches import wrist_wrenches
from palpate.scenes.tables import table_world, taking

pytestmark = pytest.mark.nojit
DT = 1e-3


def form(**what: float) -> ObjectForm:
    o = object_form(DT, 10.0)
    o.admits = o.admits_turn = (1.0, 1.0, 1.0)
    for name, value in what.items():
        setattr(o, name, value)
    return o


@pytest.mark.parametrize("damping", [10.0, 30.0, 60.0, 120.0])
def test_a_constant_force_leads_at_f_over_B(damping):
    """avatars.md 10.26: v -> f_e/B_o within 1 % after 5 M_o/B_o."""
    force = np.array([3.0, -2.0, 1.0])
    ticks = max(round(5.0 * 2.0 / damping / DT), 1)
    v = yielding(form(damping_Ns_m=damping), np.tile([0, 0, 0, *force], (ticks, 1)))[-1, 3:]
    assert v == pytest.approx(force / damping, rel=0.01)


def test_what_is_let_go_comes_to_rest_with_its_time_constant():
    """avatars.md section 8: M_o/B_o, 67 ms at 30 N s/m; nothing springs back."""
    o = form(damping_Ns_m=30.0)
    yielding(o, np.tile([0, 0, 0, 6.0, 0, 0], (2000, 1)))
    v = yielding(o, np.zeros((400, 6)))[:, 3]
    t = DT * np.arange(1, 401)
    assert v == pytest.approx(0.2 * (1.0 + DT * 15.0) ** (-t / DT), rel=1e-9)
    assert v[66] == pytest.approx(0.2 * np.exp(-1.0), rel=0.02)
    assert (v > 0.0).all()


def test_it_is_stable_for_any_damping_and_spring():
    rng = np.random.default_rng(3)
    for _ in range(20):
        o = form(damping_Ns_m=10.0 ** rng.uniform(0, 6), stiffness_N_m=10.0 ** rng.uniform(0, 7))
        v = yielding(o, np.vstack([np.tile([0, 0, 0, 20.0, 0, 0], (50, 1)), np.zeros((500, 6))]))[:, 3]
        assert np.isfinite(v).all()
        assert np.abs(v).max() <= 20.0 * 50 * DT / 2.0 + 1e-9


def test_a_spring_brings_it_back():
    o = form(stiffness_N_m=200.0, damping_Ns_m=40.0)
    yielding(o, np.tile([0, 0, 0, 0, 10.0, 0], (3000, 1)))
    assert o.moved[1] == pytest.approx(10.0 / 200.0, rel=1e-3)
    yielding(o, np.zeros((3000, 6)))
    assert o.moved[1] == pytest.approx(0.0, abs=1e-6)


def test_what_is_not_admitted_does_not_move_and_what_is_is_limited():
    o = form()
    o.admits, o.admits_turn, o.fastest_m_s = (1.0, 1.0, 0.0), (0.0, 0.0, 1.0), 0.4
    moved = yielding(o, np.tile([1.0, 1.0, 1.0, 900.0, 1200.0, 500.0], (1000, 1)))
    assert not moved[:, [0, 1, 5]].any()
    assert moved[-1, 2] == pytest.approx(1.0 / 1.5, rel=0.01)
    assert np.linalg.norm(moved[-1, 3:]) == pytest.approx(0.4)
    assert moved[-1, 3] / moved[-1, 4] == pytest.approx(0.75)


def jacobian_of_axes(world: pp.World, grasping, body: int, at: np.ndarray) -> np.ndarray:
    """(6, n) of the joints that take part."""
    axes = world.model.arrays.axis_v[grasping.palms.axis]
    return pp.jacobian(world.model, world.q, world.model.body_names[body], at)[:, axes]


@pytest.mark.parametrize("kind", ["hrp2", "human"])
def test_joints_yield_at_the_rate_of_the_transported_force_over_B(kind):
    """articulated-haptics.md 34: q'_d = B^-1 J^T f within 1 % after 5 M/B, for revolute and spherical joints."""
    world = table_world(kind)
    _, grasping = taking(world)
    a = grasping.actor.avatar
    force, at = np.array([2e-4, -1e-4, 3e-4]), np.array([0.42, 0.02, 0.9])  # so light that the arms hardly move
    palms = [(world.pose(world.model.body_names[b]) @ [*p, 1.0])[:3] for b, p in zip(a.hand, a.palm_at, strict=True)]
    wrists = wrist_wrenches(force, (0, 0, 0), at, palms)
    pull = sum(
        jacobian_of_axes(world, grasping, b, p).T @ np.r_[wrench[3:], wrench[:3]]
        for b, p, wrench in zip(a.hand, a.palm_at, wrists, strict=True)
    )
    for damping in (5.0, 20.0):
        grasping.joints.damping[:], grasping.joints.rate[:] = damping, 0.0
        grasping.palms.q[:] = world.q
        rate = joints_yielding(grasping, force, at, round(5.0 / damping / DT))
        assert rate == pytest.approx(pull / damping, rel=0.01, abs=1e-3 * np.abs(pull).max() / damping)


@pytest.mark.slow
def test_spherical_joints_stay_turns_while_they_yield():
    """avatars.md 10.27: q_d stays a unit quaternion < 1e-12 after 1e5 ticks of (22)."""
    _, grasping = taking(table_world("human"))
    model = grasping.actor.world.model
    for n in range(10):
        force = 20.0 * np.array([np.sin(n), np.cos(2.0 * n), np.sin(3.0 * n)])
        joints_yielding(grasping, force, (0.4, 0.0, 1.0), 10_000)
    for name in ("shoulder_r", "elbow_r", "wrist_r", "shoulder_l", "elbow_l", "wrist_l"):
        assert np.linalg.norm(grasping.palms.q[model.q_index[name]]) == pytest.approx(1.0, abs=1e-12)
