"""Misprints of the thesis (reference 2.5): the printed form fails, the corrected one is what the kernels compute."""

import numpy as np
import pytest

from palpate.mobile.geometry import frames
from palpate.mobile.geometry.chain import RULER, Chain
from palpate.mobile.geometry.kinematics import Kinematics
from tests.mobile import thesis

L, HALF = thesis.L, 4191 / 40


def off(R):
    return np.linalg.norm(R.T @ R - np.eye(3))


def test_printed_tool_rotation_is_no_rotation_and_the_corrected_one_is():
    """Mobile display, acceptance 4."""
    theta = np.radians([30.0, 20.0, 40.0])
    assert off(thesis.printed_tool(theta)[:3, :3]) > 0.1
    right = thesis.corrected_tool(theta)
    assert off(right[:3, :3]) < 1e-12
    assert frames.device_from_tool(Chain(), theta)[:3, :3] == pytest.approx(right[:3, :3], abs=1e-12)


@pytest.mark.parametrize("entry", [(0, 2), (2, 0), (2, 2)])
def test_each_of_the_three_entries_alone_spoils_the_tool_rotation(entry):
    theta = np.radians([30.0, 20.0, 40.0])
    R = thesis.corrected_tool(theta)[:3, :3]
    R[entry] = thesis.printed_tool(theta)[entry]
    assert off(R) > 0.1


def test_sensor_matrices_as_printed_are_reflections_whose_product_is_right():
    for phi, S in zip(*thesis.poses(20, 1)[:2], strict=True):
        _, tracker, sensor, _ = thesis.printed_base(phi, S, thesis.INITIAL)
        assert np.linalg.det(tracker[:3, :3]) == pytest.approx(-1.0)
        assert np.linalg.det(sensor[:3, :3]) == pytest.approx(-1.0)
        ours = frames.tracker_from_sensor(phi, 1e-3 * S) @ frames.sensor_from_robot(RULER)
        product = tracker @ sensor
        assert ours[:3, :3] == pytest.approx(product[:3, :3], abs=1e-12)
        assert 1e3 * ours[:3, 3] == pytest.approx(product[:3, 3], abs=1e-9)
        mixed = frames.tracker_from_sensor(phi, 1e-3 * S)[:3, :3] @ sensor[:3, :3]
        assert np.linalg.det(mixed) == pytest.approx(-1.0)  # never mixed


def closed_rotation(phi, theta, sign):
    """The thesis' closed form; R13 and R33 have the sign given, -1 as printed."""
    (c1, _, c3), (s1, _, s3) = np.cos(theta), np.sin(theta)
    c, s = np.cos(phi), np.sin(phi)
    return np.array([
        [-c * c1 - s * s1, c * s1 * s3 - s * c1 * s3, -c * s1 * c3 + sign * s * c1 * c3],
        [0.0, c3, s3],
        [-s * c1 + c * s1, s * s1 * s3 + c * c1 * s3, -s * s1 * c3 - sign * c * c1 * c3],
    ])  # fmt: skip


def test_printed_closed_rotation_is_the_chain_with_one_wrong_sign():
    headings, sensors, theta = thesis.poses(50, 2)
    ours = Kinematics().poses(headings, 1e-3 * sensors, theta).rotation
    for phi, angles, S, right in zip(headings, theta, sensors, ours, strict=True):
        assert closed_rotation(phi, angles, 1.0) == pytest.approx(right, abs=1e-12)
        printed = closed_rotation(phi, angles, -1.0)
        tool = thesis.corrected_tool(angles)
        tool[2, 2] *= -1.0
        a, b, c, d = thesis.printed_base(phi, S, thesis.INITIAL)
        assert printed == pytest.approx((a @ b @ c @ d @ tool)[:3, :3], abs=1e-12)
        assert np.linalg.det(printed) == pytest.approx(1.0 - 2.0 * (np.cos(angles[0]) * np.cos(angles[2])) ** 2)
        assert (np.abs(printed - right) > 1e-12).nonzero()[0].tolist() == [0, 2]  # R13 and R33 alone


def test_constants_of_the_closed_forms():
    """Of chapter 4, and of chapter 5 with the calibrated offsets; -235.8, not the -234.8 of the text."""
    u, v, h = 1e3 * np.array(RULER.combinations_m)
    assert (u, v, h) == pytest.approx((2209 / 5, 8 / 5, -310.8), abs=1e-9)
    assert 2624 + h + L == pytest.approx(10091 / 4, abs=1e-9)
    assert pytest.approx(56671 / 20) == 2624 + L
    x, y, z = 1e3 * np.array(Chain().robot_to_device_m)
    assert (-x, -y, z + L) == pytest.approx((21 / 10, 1164 / 5, 5023 / 20), abs=1e-9)
    assert -y - L == pytest.approx(93 / 4, abs=1e-9)  # e of J13 and J33: no misprint
    assert 1e3 * RULER.robot_to_device_m[1] == pytest.approx(-235.8)


def test_jacobian_entries_need_the_terms_that_are_missing():
    """J14 and J34 lack their last term, and of the two J36 the one with two cosines is right."""
    headings, _, theta = thesis.poses(50, 3)
    t1, t2, t3 = theta.T
    _, arm = Kinematics().jacobians(headings, theta)
    phi, J = headings, 1e3 * arm
    j14 = -HALF * (np.cos(t2 + phi - t1) + np.cos(t2 - phi + t1) + np.sin(t3 - phi + t1))
    assert j14 + HALF * np.sin(-t3 - phi + t1) == pytest.approx(J[:, 0, 0], abs=1e-9)
    j34 = -HALF * (np.sin(t2 + phi - t1) - np.sin(t2 - phi + t1) - np.cos(t3 + phi - t1))
    assert j34 - HALF * np.cos(t3 - phi + t1) == pytest.approx(J[:, 2, 0], abs=1e-9)
    for short, k in ((j14, 0), (j34, 2)):
        assert np.abs(short - J[:, k, 0]).max() > 50.0
    assert -HALF * (np.cos(t3 + phi - t1) + np.cos(t3 - phi + t1)) == pytest.approx(J[:, 2, 2], abs=1e-9)
    # the other J36 begins with -HALF sin(theta2 - phi + theta1), and has theta2 in it, of which d Z / d theta3 has none
    _, elsewhere = Kinematics().jacobians(headings, theta + (0.0, 0.7, 0.0))
    assert elsewhere[:, 2, 2] == pytest.approx(arm[:, 2, 2], abs=1e-15)


def test_sign_of_the_direction_law_is_reversed():
    """(3.1): V1 along z, V2 from user to robot; facing the user, (V1 x V2)_y = -sin phi."""
    headings = thesis.poses(50, 4)[0]
    fronts = Kinematics().poses(headings, np.zeros(3), np.zeros(3)).rotation[:, :, 2]
    across = np.cross((0.0, 0.0, 1.0), -fronts)[:, 1]
    assert across == pytest.approx(-np.sin(headings), abs=1e-12)
