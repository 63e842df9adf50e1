"""The chain of frames: rotations are rotations, compact forms are the chain, Jacobians are derivatives."""

from dataclasses import replace

import numpy as np
import pytest

from palpate import jit
from palpate.jit import Block, block_loader, entry
from palpate.mobile.geometry import frames
from palpate.mobile.geometry.chain import RULER, Chain, Linkage, lift_target
from palpate.mobile.geometry.kinematics import Kinematics
from tests.mobile import thesis

MANY = 200 if jit.DISABLED else 10_000
LINKS_MM = ((209.55, 209.55), (215.0, 170.0), (209.55, 169.545))


def chain_of(offsets_mm, l1_mm=thesis.L, l2_mm=thesis.L, **more):
    o = 1e-3 * np.asarray(offsets_mm)
    return Chain(tuple(o[:3]), tuple(o[3:]), 1e-3 * l1_mm, 1e-3 * l2_mm, **more)


def hips_mm(chain, phi, sensors_mm, theta):
    return 1e3 * Kinematics(chain).poses(phi, 1e-3 * sensors_mm, theta).hip_m


@pytest.mark.nojit
def test_every_matrix_of_the_chain_is_a_proper_rotation():
    """Mobile display, acceptance 1: the whole; of the genuine frames each link too."""
    headings, sensors, theta = thesis.poses(MANY, 1)
    found = Kinematics().poses(headings, 1e-3 * sensors, theta).rotation
    assert np.abs(np.linalg.det(found) - 1.0).max() < 1e-12
    assert np.abs(found.transpose(0, 2, 1) @ found - np.eye(3)).max() < 1e-12
    chain = Chain()
    for phi, S, angles in zip(headings[:100], 1e-3 * sensors, theta, strict=False):
        links = (
            frames.world_from_tracker(chain), frames.tracker_from_sensor(phi, S), frames.sensor_from_robot(chain),
            frames.robot_from_device(chain), frames.device_from_tool(chain, angles),
        )  # fmt: skip
        for T in (*links, frames.world_from_tool(chain, phi, S, angles)):
            R = T[:3, :3]
            assert np.abs(R.T @ R - np.eye(3)).max() < 1e-12
            assert abs(np.linalg.det(R) - 1.0) < 1e-12


@pytest.mark.nojit
def test_regression_vector_of_the_reference():
    """Mobile display, acceptance 2, and the numbers of 2.6."""
    at = (thesis.HEADING, thesis.SENSOR, thesis.THETA)
    assert hips_mm(chain_of(thesis.CALIBRATED), *at)[0] == pytest.approx(
        (-97.549785, 456.810564, -930.076885), abs=1e-5
    )
    assert hips_mm(chain_of(thesis.INITIAL), *at)[0] == pytest.approx((-96.591643, 492.010564, -936.336435), abs=1e-5)
    kinematics = Kinematics()
    rotation = kinematics.poses(thesis.HEADING, 1e-3 * thesis.SENSOR, thesis.THETA).rotation[0]
    assert rotation == pytest.approx(np.array([[-.939693, -.088521, .330366], [0, .965926, .258819],
                                               [-.342020, .243210, -.907673]]), abs=1e-6)  # fmt: skip
    base, arm = (J[0] for J in kinematics.jacobians(thesis.HEADING, thesis.THETA))
    assert 1e3 * arm == pytest.approx(np.array([[-236.0020, -24.5127, 69.2282], [0, 196.9126, 54.2355],
                                                [-85.8977, 67.3481, -190.2030]]), abs=1e-4)  # fmt: skip
    assert 1e3 * base[:, 2] == pytest.approx((255.0871, 0.0, 99.3414), abs=1e-4)


def test_default_offsets_are_the_calibrated_and_the_ruler_the_initial():
    for chain, offsets in ((Chain(), thesis.CALIBRATED), (RULER, thesis.INITIAL)):
        assert 1e3 * np.array(chain.sensor_to_robot_m + chain.robot_to_device_m) == pytest.approx(offsets, abs=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize("offsets", [thesis.INITIAL, thesis.CALIBRATED])
def test_compact_form_is_the_chain_of_the_printed_matrices(offsets):
    """Mobile display, acceptance 3."""
    headings, sensors, theta = thesis.poses(MANY, 2)
    chain = chain_of(offsets)
    found = Kinematics(chain).poses(headings, 1e-3 * sensors, theta)
    for k in range(min(MANY, 2000)):
        T = thesis.tool_in_world(headings[k], sensors[k], theta[k], offsets)
        assert np.abs(1e3 * found.hip_m[k] - T[:3, 3]).max() < 1e-9
        assert np.abs(found.rotation[k] - T[:3, :3]).max() < 1e-12
        ours = frames.world_from_tool(chain, headings[k], 1e-3 * sensors[k], theta[k])
        assert np.abs(1e3 * ours[:3, 3] - T[:3, 3]).max() < 1e-9
        assert np.abs(ours[:3, :3] - T[:3, :3]).max() < 1e-12
    constants = {206.0: (2209 / 5, 8 / 5, 10091 / 4), 203.1: (435.9, 3.9, 2624 - 387.6 + 5023 / 20)}
    closed = np.array([thesis.closed_form(*at, *constants[offsets[0]]) for at in zip(headings, sensors, theta)])
    assert np.abs(1e3 * found.hip_m - closed).max() < 1e-9


@pytest.mark.nojit
def test_robot_stands_where_the_reference_has_it():
    """2.2: axes and origin of the robot, and the front of its device."""
    headings, sensors, _ = thesis.poses(50, 3)
    R = Kinematics().poses(headings, 1e-3 * sensors, (0.0, 0.0, 0.0)).robot_m
    for phi, S, origin in zip(headings, sensors, R, strict=True):
        a, b, c, d = thesis.printed_base(phi, S, thesis.CALIBRATED)
        robot, device = a @ b @ c, a @ b @ c @ d
        assert np.abs(1e3 * origin - robot[:3, 3]).max() < 1e-9
        assert robot[:3, 0] == pytest.approx((-np.cos(phi), 0.0, -np.sin(phi)), abs=1e-12)
        assert robot[:3, 1] == pytest.approx((-np.sin(phi), 0.0, np.cos(phi)), abs=1e-12)
        assert device[:3, 2] == pytest.approx((np.sin(phi), 0.0, -np.cos(phi)), abs=1e-12)


@pytest.mark.nojit
def test_heading_error_is_added_to_what_the_tracker_says():
    """3.3 and 3.4: phi = tracker's + psi + harmonics, everywhere."""
    psi, (a1, b1, a2, b2) = 0.1, (0.02, -0.03, 0.01, 0.005)
    headings, sensors, theta = thesis.poses(50, 4)
    bent = Kinematics(replace(Chain(), psi_rad=psi, harmonics_rad=(a1, b1, a2, b2)))
    phi = headings + psi + a1 * np.cos(headings) + b1 * np.sin(headings)
    phi += a2 * np.cos(2 * headings) + b2 * np.sin(2 * headings)
    found, straight = bent.poses(headings, 1e-3 * sensors, theta), Kinematics().poses(phi, 1e-3 * sensors, theta)
    assert found.heading_rad == pytest.approx(phi, abs=1e-12)
    assert found.hip_m == pytest.approx(straight.hip_m, abs=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize("links", LINKS_MM)
def test_inverse_kinematics_bring_the_tip_to_the_point(links):
    """Mobile display, acceptance 5."""
    kinematics = Kinematics(chain_of(thesis.CALIBRATED, *links))
    l1, l2 = 1e-3 * np.array(links)
    rng = np.random.default_rng(5)
    directions = rng.normal(size=(MANY, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    far = rng.uniform(abs(l1 - l2) + 1e-3, l1 + l2 - 1e-6, (MANY, 1))
    points = far * directions + (0.0, l2, -l1)  # the sphere is about the shoulder
    assert kinematics.reaches(points).all()
    theta = kinematics.joint_angles(points)
    assert np.abs(1e3 * (kinematics.tips(theta) - points)).max() < 1e-9
    for point in (directions[0] * 1.001 * (l1 + l2) + (0.0, l2, -l1), (9.0, 0.0, 0.0)):
        assert not kinematics.reaches(point).any()
        with pytest.raises(ValueError, match="out of the reach"):
            kinematics.joint_angles([points[0], point])
    with pytest.raises(ValueError, match="finite"):
        kinematics.joint_angles((np.nan, 0.0, 0.0))


@pytest.mark.nojit
@pytest.mark.parametrize("links", LINKS_MM)
def test_jacobians_are_the_derivatives_of_the_tip(links):
    """Mobile display, acceptance 6, and the lift's column of acceptance 34."""
    n, step = 50 if jit.DISABLED else 500, 1e-6
    headings, sensors, theta = thesis.poses(n, 6)
    kinematics = Kinematics(chain_of(thesis.CALIBRATED, *links))
    base, arm = kinematics.jacobians(headings, theta)
    for k in range(3):
        d = step * np.eye(3)[k]
        plus, minus = (kinematics.poses(headings, 1e-3 * sensors, theta + s * d).hip_m for s in (1, -1))
        assert np.abs(1e3 * ((plus - minus) / (2 * step) - arm[:, :, k])).max() < 1e-4
    r = links[0] * np.cos(theta[:, 1]) + links[1] * np.sin(theta[:, 2])
    det = links[0] * links[1] * r * np.cos(theta[:, 1] - theta[:, 2])
    assert np.abs(1e9 * np.linalg.det(arm) - det).max() < 1e-6 * np.abs(det).max()
    # the robot turns about its own origin: take R's own motion out of that of the tip
    plus, minus = (kinematics.poses(headings + s * step, 1e-3 * sensors, theta) for s in (1, -1))
    turn = (plus.hip_m - plus.robot_m - minus.hip_m + minus.robot_m) / (2 * step)
    assert np.abs(1e3 * (turn - base[:, :, 2])).max() < 1e-4
    assert (base[:, :, [0, 1, 3]] == np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]])).all()


@pytest.mark.nojit
def test_power_of_a_force_is_that_of_its_torques():
    """Mobile display, acceptance 7; the base's reaction does the rest of the work."""
    rng = np.random.default_rng(7)
    headings, _, theta = thesis.poses(200, 8)
    kinematics = Kinematics()
    force, rates, base_rates = (rng.normal(size=(200, k)) for k in (3, 3, 4))
    base, arm = kinematics.jacobians(headings, theta)
    for J, motion, effort in ((arm, rates, kinematics.torques(headings, theta, force)),
                              (base, base_rates, kinematics.reactions(headings, theta, force))):  # fmt: skip
        power = np.einsum("ni,nij,nj->n", force, J, motion)
        assert np.abs(power - np.einsum("ni,ni->n", effort, motion)).max() < 1e-12
    tau = kinematics.torques(thesis.HEADING, thesis.THETA, (1.0, 2.0, 3.0))[0]
    assert tau == pytest.approx((-0.493695, 0.571357, -0.392910), abs=1e-6)


load = block_loader((Linkage, True))


@entry("intp, float64[::1]")
def lift_entry(address, numbers):
    (c,) = load(address)
    numbers[1] = lift_target(c, numbers[0])


@pytest.mark.nojit
def test_lift_at_its_target_has_the_hand_at_the_height_of_joint_zero():
    numbers = np.array([1.1, 0.0])
    block = Block(Chain().linkage)
    lift_entry(block.address, numbers)
    sensor_z = Chain().ceiling_m + Chain().sensor_to_robot_m[2] - numbers[1]  # Ry is the target
    hip = Kinematics().poses(0.3, (0.0, 0.0, sensor_z), (0.0, 0.0, 0.0)).hip_m[0]
    assert hip[1] == pytest.approx(1.1, abs=1e-12)


def test_combinations_are_shared_half_and_half():
    chain = RULER.with_combinations(0.4359, 0.0039, -0.3460)
    assert chain.combinations_m == pytest.approx((0.4359, 0.0039, -0.3460), abs=1e-15)
    moved = np.array(chain.sensor_to_robot_m) - RULER.sensor_to_robot_m
    other = np.array(chain.robot_to_device_m) - RULER.robot_to_device_m
    assert 1e3 * moved == pytest.approx((-2.95, 1.15, -17.6))  # 3.2
    assert other[[1, 0, 2]] * (-1, -1, 1) == pytest.approx(moved, abs=1e-15)


@pytest.mark.parametrize(("wrong", "says"), [
    ({"link1_m": 0.0}, "link1_m is a length above zero"), ({"ceiling_m": np.nan}, "ceiling_m is a length"),
    ({"psi_rad": np.inf}, "psi_rad is a finite angle"), ({"sensor_to_robot_m": (1.0, 2.0)}, "is 3 finite numbers"),
    ({"harmonics_rad": (0.0, 0.0, 0.0, np.nan)}, "is 4 finite numbers"),
])  # fmt: skip
def test_a_chain_that_cannot_be_is_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        Chain(**wrong)


@pytest.mark.parametrize(("heading", "sensor", "theta", "says"), [
    ([0.0, 1.0], np.zeros((3, 3)), np.zeros((3, 3)), "different number"), (0.0, (1.0, 2.0), np.zeros(3), "rows of 3"),
    ([[0.0]], np.zeros(3), np.zeros(3), "headings are one row"), (np.nan, np.zeros(3), np.zeros(3), "finite"),
])  # fmt: skip
def test_rows_that_do_not_fit_are_refused(heading, sensor, theta, says):
    with pytest.raises(ValueError, match=says):
        Kinematics().poses(heading, sensor, theta)
