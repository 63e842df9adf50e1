"""Compliance, the joint form (22): joints from the touched body to the waist follow a force on their tangent space."""

import numpy as np
import pytest

import palpate as pp
from palpate.control.compliance import clear_pushes, joint_form, push_chain
from palpate.control.compliance_tables import JointForm, compliance_of
from palpate.dynamics.jacobian import body_frame
from palpate.dynamics.kinematics import positions
from palpate.dynamics.workspace import Workspace, workspace
from palpate.jit import DISABLED, Block, block_loader, entry
from palpate.model.model import ModelArrays
from palpate.spatial.vectors import get3

load = block_loader((ModelArrays, True), (Workspace, False), (JointForm, False))
ZERO = (0.0, 0.0, 0.0)


@entry("intp, intp, float64[:, ::1], float64, boolean")
def lead_entry(address, body, forces, dt, follows):
    """A force on a body's origin in each tick; the arm stays where it is, or follows q_d at once."""
    m, w, c = load(address)
    positions(m, c.q, w)
    for k in range(forces.shape[0]):
        if follows:
            positions(m, c.q, w)
        _, p = body_frame(m, w, body)
        clear_pushes(c)
        push_chain(m, w, c, m.body_link[body], p, ZERO, get3(forces, k))
        joint_form(m, c, dt)
    return 0


def lead(model, form, body, forces, dt=1e-3, follows=False):
    block = Block(model.arrays, workspace(model), form)
    lead_entry(block.address, model.body(body), np.ascontiguousarray(forces, dtype=float), dt, follows)


def avatar(name):
    make, posture, hand, waist, arm = {
        "hrp2": (pp.models.hrp2, "half_sitting", "RARM_JOINT6", "WAIST", "RARM"),
        "human": (pp.models.human, "standing", "hand_r", "pelvis", "_r"),
    }[name]
    model = pp.compile(make())
    return model, model.posture(posture), hand, waist, arm


def chain_of(model, body, waist):
    """Velocities of the joints from a body up to the waist."""
    found = []
    while body != waist:
        joint = model.parent_joint(body)
        found += range(model.nv)[model.v_index[joint.name]]
        body = joint.parent
    return sorted(found)


@pytest.mark.nojit
@pytest.mark.parametrize("damping", [2.0, 20.0])
@pytest.mark.parametrize("name", ["hrp2", "human"])
def test_item_34_a_constant_force_gives_steady_velocities(name, damping):
    """articulated-haptics.md 34: q'_d = B^-1 J^T fe within 1 % after 5 M/B; only the chain to the waist moves."""
    model, q, hand, waist, _ = avatar(name)
    form = compliance_of(model, q, waist, mass=0.2, damping=damping)
    f, dt = np.array([1.0, -2.0, 0.5]), 1e-3
    lead(model, form, hand, np.tile(f, (round(5 * 0.2 / damping / dt), 1)), dt)
    expected = np.zeros(model.nv)
    chain = chain_of(model, hand, waist)
    expected[chain] = (pp.jacobian(model, q, hand)[3:].T @ f)[chain] / damping
    assert np.abs(form.v - expected).max() <= 0.01 * np.abs(expected).max()
    assert np.abs(expected).max() > 0.0


@pytest.mark.skipif(DISABLED, reason="1e5 ticks")
def test_item_27_quaternions_stay_of_unit_length():
    """avatars.md 10.27: < 1e-12 after 1e5 ticks of (22) on a spherical chain, led about by a changing force."""
    model, q, hand, waist, _ = avatar("human")
    form = compliance_of(model, q, waist, damping=2.0)
    t = np.arange(100_000) * 1e-3
    forces = 20.0 * np.stack([np.sin(1.3 * t), np.cos(0.7 * t), np.sin(2.1 * t + 1.0)], axis=1)
    lead(model, form, hand, forces, follows=True)
    turned = 0.0
    for rows in model.q_index.values():
        if rows.stop - rows.start == 4:
            assert abs(np.linalg.norm(form.q[rows]) - 1.0) < 1e-12
            turned = max(turned, float(np.abs(form.q[rows] - q[rows]).max()))
    assert turned > 0.1


def test_less_damping_follows_further():
    """articulated-haptics.md 34: B = 2, 5, 10, 20: the hand's way under one force decreases."""
    model, q, hand, waist, _ = avatar("hrp2")
    start = pp.forward_kinematics(model, q)[model.body(hand)][:3, 3]
    ways = []
    for damping in (2.0, 5.0, 10.0, 20.0):
        form = compliance_of(model, q, waist, damping=damping)
        lead(model, form, hand, np.tile([3.0, 0.0, 0.0], (500, 1)), follows=True)
        ways.append(np.linalg.norm(pp.forward_kinematics(model, form.q)[model.body(hand)][:3, 3] - start))
    assert ways == sorted(ways, reverse=True)
    assert ways[0] > 1.5 * ways[-1]


def test_nothing_leaves_its_range_and_what_is_let_go_comes_to_rest():
    model, q, hand, waist, arm = avatar("hrp2")
    form = compliance_of(model, q, waist, damping=1.0)
    lead(model, form, hand, np.tile([60.0, 10.0, 60.0], (3000, 1)), follows=True)
    inside = slice(7, None)
    assert (form.q[inside] <= model.upper[inside] + 1e-12).all()
    assert (form.q[inside] >= model.lower[inside] - 1e-12).all()
    assert (np.abs(form.q - q)[[model.q_index[j].start for j in model.joint_names if arm in j]] > 0.1).any()
    lead(model, form, hand, np.zeros((12_000, 3)))
    assert np.abs(form.v).max() < 1e-3


def test_damping_of_any_size_is_stable():
    model, q, hand, waist, _ = avatar("human")
    form = compliance_of(model, q, waist, mass=1e-3, damping=1e6)
    lead(model, form, hand, np.tile([60.0, 10.0, 60.0], (50, 1)))
    J = pp.jacobian(model, q, hand)[3:]
    chain = chain_of(model, hand, waist)
    assert form.v[chain] == pytest.approx((J.T @ [60.0, 10.0, 60.0])[chain] / 1e6, rel=1e-3, abs=1e-9)


def test_what_makes_no_sense_is_refused():
    model, q, _, waist, _ = avatar("human")
    with pytest.raises(ValueError, match="mass must be positive"):
        compliance_of(model, q, waist, mass=0.0)
    with pytest.raises(ValueError, match="no joint 'tail'"):
        compliance_of(model, q, waist, joints=["tail"])
    with pytest.raises(ValueError, match="shape"):
        compliance_of(model, q[1:], waist)
