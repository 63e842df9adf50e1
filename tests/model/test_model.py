"""What a compiled Model tells about itself."""

import numpy as np
import pytest

import palpate as pp

pytestmark = pytest.mark.nojit


@pytest.fixture(scope="module")
def human():
    return pp.compile(pp.models.human())


def test_a_body_knows_the_joint_that_carries_it_and_those_it_carries(human):
    assert human.parent_joint("world") is None
    assert human.parent_joint("thorax").name == "thorax"
    carried = {j.child for j in human.child_joints("thorax")}
    assert carried == {"head", "upper_arm_r", "upper_arm_l"}
    for body in human.body_names[1:]:
        joint = human.parent_joint(body)
        assert joint in human.child_joints(joint.parent)


def test_rows_are_depth_first_with_the_world_first(human):
    """parent[i] < i and every subtree contiguous (reference 1.2)."""
    assert human.body_names[0] == "world"
    rows = {name: row for row, name in enumerate(human.body_names)}
    parent = [0] + [rows[human.parent_joint(b).parent] for b in human.body_names[1:]]
    for i in range(1, human.n_bodies):
        assert parent[i] < i
        below = [k for k in range(human.n_bodies) if k > 0 and i in ancestors(parent, k)]
        assert below == list(range(i + 1, i + 1 + len(below)))


def ancestors(parent, k):
    found = []
    while k:
        k = parent[k]
        found.append(k)
    return found


def test_coordinates_are_found_by_joint_name(human):
    assert human.q_index["root"] == slice(0, 7)
    assert human.v_index["root"] == slice(0, 6)
    assert human.nq - human.nv == 14  # one more coordinate than velocities for each quaternion: 13 joints and the root
    assert sum(s.stop - s.start for s in human.v_index.values()) == human.nv == 47


def test_a_posture_is_q_and_an_unknown_one_says_what_there_is(human):
    q = human.posture("standing")
    assert q.shape == (human.nq,)
    assert np.array_equal(human.neutral()[3:7], (1, 0, 0, 0))
    with pytest.raises(ValueError, match=r"no posture 'flying'; known: .*standing"):
        human.posture("flying")
