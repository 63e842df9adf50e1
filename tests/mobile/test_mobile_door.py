"""The one transform between the display's world, y up, and everybody else's, z up."""

import numpy as np
import pytest

from palpate.jit import entry
from palpate.mobile.geometry import frames
from palpate.mobile.geometry.kinematics import Kinematics
from palpate.spatial.vectors import get3, put3
from tests.mobile import thesis


def turned(q, x):
    """q x q*, written out."""
    w, v = q[0], q[1:]
    return x + 2.0 * np.cross(v, np.cross(v, x) + w * x)


def test_up_is_up_and_forward_is_the_front_of_the_device():
    """6.2: x = -Z, y = -X, z = Y, determinant 1."""
    assert np.linalg.det(frames.Z_UP) == 1.0
    assert frames.vectors_z_up([[0, 1, 0], [0, 0, -1], [-1, 0, 0]]).tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    front = Kinematics().poses(0.0, np.zeros(3), np.zeros(3)).rotation[0][:, 2]  # z_P at zero angles
    assert frames.vectors_z_up(front).tolist() == [1.0, 0.0, 0.0]


def test_there_and_back_is_where_it_was():
    rng = np.random.default_rng(1)
    x, q = rng.normal(size=(50, 3)), rng.normal(size=(50, 4))
    assert (frames.vectors_y_up(frames.vectors_z_up(x)) == x).all()
    assert (frames.quaternions_y_up(frames.quaternions_z_up(q)) == q).all()


def test_turning_and_passing_the_door_commute():
    rng = np.random.default_rng(2)
    for q in rng.normal(size=(50, 4)):
        q, x = q / np.linalg.norm(q), rng.normal(size=3)
        inside = frames.vectors_z_up(turned(q, x))
        assert inside == pytest.approx(turned(frames.quaternions_z_up(q), frames.vectors_z_up(x)), abs=1e-12)
        R = np.column_stack([turned(q, e) for e in np.eye(3)])
        assert inside == pytest.approx(frames.rotations_z_up(R) @ frames.vectors_z_up(x), abs=1e-12)


def test_a_heading_is_a_yaw_the_other_way_round():
    for heading in thesis.poses(20, 3)[0]:
        front = frames.vectors_z_up((np.sin(heading), 0.0, -np.cos(heading)))
        yaw = frames.yaw_of(heading)
        assert front == pytest.approx((np.cos(yaw), np.sin(yaw), 0.0), abs=1e-12)


@entry("float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def door_rows(x, out, back):
    for i in range(x.shape[0]):
        z_up = frames.to_z_up(get3(x, i))
        put3(out, i, z_up)
        put3(back, i, frames.to_y_up(z_up))


@pytest.mark.nojit
def test_kernels_pass_the_same_door():
    x = np.random.default_rng(4).normal(size=(20, 3))
    out, back = np.empty_like(x), np.empty_like(x)
    door_rows(x, out, back)
    assert (out == frames.vectors_z_up(x)).all()
    assert (back == x).all()


def test_what_is_no_vector_is_refused():
    with pytest.raises(ValueError, match="rows of 3"):
        frames.vectors_z_up([1.0, 2.0])
    with pytest.raises(ValueError, match="rows of 4"):
        frames.quaternions_y_up(np.zeros((2, 3)))
