"""Clearance along a motion: the distances of collision, row by row, to everything in the way."""

import re

import numpy as np
import pytest

import palpate as pp
from palpate.collision.facade import Collider
from palpate.control.plans.clearance import clearance
from palpate.control.plans.timing import minimum_jerk
from palpate.control.plans.trajectory import Trajectory
from palpate.scenes.arm import (
    LINE_END_M,
    LINE_SECONDS,
    LINE_START_M,
    OBSTACLE_M,
    OBSTACLE_RADIUS_M,
    WALL_X_M,
    arm_line,
)


@pytest.fixture(scope="module")
def scene():
    return arm_line(solid=False)  # its obstacle is fixed: all coordinates are the arm's


def capsule_gap(model, rows, body, end, radius):
    """Reference 5.3: from the axis of a capsule, frame origin to `end`, to the obstacle's centre, less both radii."""
    gaps = []
    for q in rows:
        X = pp.forward_kinematics(model, q)[model.body(body)]
        begin, along = X[:3, 3], X[:3, :3] @ np.array(end)
        t = np.clip((OBSTACLE_M - begin) @ along / (along @ along), 0.0, 1.0)
        gaps.append(np.linalg.norm(OBSTACLE_M - begin - t * along) - radius - OBSTACLE_RADIUS_M)
    return np.array(gaps)


def test_the_unedited_line_runs_into_the_obstacle_with_link_2_only(scene):
    """articulated-haptics.md acceptance 16: contact at step 21.98 of 0.05 s, deepest -0.0506, link 3 > 0.05."""
    found = clearance(scene.world, scene.plan.q)
    link2 = found.of("link2", "obstacle")
    assert link2.first_below() * 1e-3 == pytest.approx(1.099, abs=1e-3)
    assert link2.smallest.gap_m == pytest.approx(-0.0506, abs=1e-3)
    assert found.of("link3", "obstacle").smallest.gap_m > 0.05
    assert found.of("tool", "obstacle").smallest.gap_m > 0.19
    assert found.smallest == link2.smallest
    assert found.smallest[2:] == ("link2", "obstacle")


def test_gaps_are_those_of_the_capsules_of_the_reference(scene):
    rows = scene.plan.q[::100]
    found = clearance(scene.world, rows)
    for body, end, radius in (("link2", (0.4318, 0, 0), 0.09), ("link3", (-0.0203, -0.4331, 0), 0.07)):
        wanted = capsule_gap(scene.model, rows, body, end, radius)
        assert found.of(body, "obstacle").gap_m == pytest.approx(wanted, abs=1e-9)


def test_a_wall_counts(scene):
    """The tool's capsule ends at the tool point and is 0.05 m thick: so far it is beyond the wall it reaches."""
    wall = clearance(scene.world, scene.plan.q).of(obstacle="wall")
    assert {obstacle for _, obstacle in wall.pairs} == {"wall"}
    tool = wall.of("tool")
    x = np.array([pp.forward_kinematics(scene.model, q)[scene.model.body("tool")][0, 3] for q in scene.plan.q[::100]])
    assert tool.gap_m[::100] == pytest.approx(WALL_X_M - x - 0.05, abs=1e-9)


def test_every_row_is_the_distance_that_a_collider_finds(scene):
    rows, collider = scene.plan.q[::250], Collider(scene.model)
    found = clearance(scene.model, rows)
    assert len(found.pairs) == 9  # three capsules, and floor, obstacle and wall
    for k, (body, obstacle) in enumerate(found.pairs):
        wanted = [collider.distance(q, body, obstacle).gap for q in rows]
        assert found.gaps_m[:, k] == pytest.approx(wanted, abs=1e-9)
    assert (found.gap_m == found.gaps_m.min(axis=1)).all()
    assert (found.pair == found.gaps_m.argmin(axis=1)).all()


def test_only_what_is_asked_for_is_looked_at(scene):
    found = clearance(scene.world, scene.plan.q[:3], bodies=["tool"], obstacles=["wall", "obstacle"])
    assert set(found.pairs) == {("tool", "wall"), ("tool", "obstacle")}
    itself = clearance(scene.world, scene.plan.q[:3], bodies=["link2", "link3"], obstacles=["link2", "tool"])
    # a joint connects link 2 and link 3, and at zero the tool is drawn into link 3
    assert set(itself.pairs) == {("link2", "tool")}


def body(name, shape, kind="free", at=(0.0, 0.0, 0.0)):
    part = pp.Body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), shapes=(shape,))
    return pp.MultiBody(name, (part,), (pp.Joint(f"{name}_joint", kind, "world", name, pp.Transform(p=at)),))


@pytest.mark.nojit
def test_what_does_not_move_in_these_rows_is_an_obstacle():
    ball = pp.Shape("sphere", (0.1,))
    model = pp.compile([body("hand", ball), body("other", ball), body("post", ball, "fixed", at=(0, 3, 0))])
    rows = np.tile(model.neutral(), (5, 1))
    rows[:, 7:10] = (2.0, 0.0, 0.0)  # where the other one stays
    rows[:, 0] = np.linspace(0.0, 2.0, 5)
    found = clearance(model, rows)
    assert set(found.pairs) == {("hand", "other"), ("hand", "post")}
    assert found.of("hand", "other").gap_m == pytest.approx(np.linspace(2.0, 0.0, 5) - 0.2, abs=1e-12)
    assert found.of(obstacle="post").gap_m == pytest.approx(np.hypot(np.linspace(0.0, 2.0, 5), 3.0) - 0.2, abs=1e-12)
    still = clearance(model, rows[:1])
    assert set(still.pairs) == {("hand", "post"), ("other", "post")}  # nothing moves: all that could


@pytest.mark.nojit
def test_a_fine_mesh_has_its_true_gap_however_many_points_are_near(tmp_path):
    """900 corners above a plane, more than fit at once: the nearest is found all the same."""
    n = 30
    x, y = (0.01 * each.ravel() for each in np.meshgrid(np.arange(n), np.arange(n)))
    vertices = np.stack([x, y, 0.002 * np.sin(90 * x) + 0.002 * np.cos(70 * y) - 0.1 * x], axis=1)
    squares = [(i + n * j, i + 1 + n * j, i + n + n * j, i + 1 + n + n * j) for j in range(n - 1) for i in range(n - 1)]
    faces = [f for a, b, c, d in squares for f in ((a, b, d), (a, d, c))]
    text = "".join(f"v {p[0]} {p[1]} {p[2]}\n" for p in vertices)
    text += "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)
    (tmp_path / "wavy.obj").write_text(text)
    wavy = pp.Shape("mesh", (1.0, 1.0, 1.0), mesh=str(tmp_path / "wavy.obj"), convex=False)
    model = pp.compile([body("sheet", wavy), pp.models.plane()])
    rows = np.tile(model.neutral(), (3, 1))
    rows[:, 2] = (0.5, 0.2, 0.02)
    found = clearance(model, rows)
    assert found.gap_m == pytest.approx(rows[:, 2] + vertices[:, 2].min(), abs=1e-9)


@pytest.mark.nojit
def test_nothing_in_the_way_is_infinitely_far():
    model = pp.compile(body("hand", pp.Shape("sphere", (0.1,))))
    found = clearance(model, np.tile(model.neutral(), (4, 1)))
    assert found.pairs == ()
    assert (found.gap_m == np.inf).all()
    assert found.smallest.gap_m == np.inf
    assert found.first_below() is None


@pytest.mark.nojit
def test_wrong_calls_name_the_row_or_the_body():
    ball = pp.Shape("sphere", (0.1,))
    model = pp.compile([body("hand", ball), body("post", ball, "fixed")])
    rows = np.tile(model.neutral(), (4, 1))
    rows[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 2: q\[1\]"):
        clearance(model, rows)
    with pytest.raises(ValueError, match=r"q_rows has shape \(7,\)"):
        clearance(model, model.neutral())
    with pytest.raises(ValueError, match="no body 'hook'"):
        clearance(model, rows[:1], bodies=["hook"])
    with pytest.raises(ValueError, match="nothing was asked about 'hook'"):
        clearance(model, rows[:1]).of("hook")


def test_a_check_says_in_plain_words_what_is_run_into_and_when(scene):
    """articulated-haptics.md 5.3; the tool is 0.05 m thick, so that it meets the wall 0.05 m before its point does."""
    motion = Trajectory.of_plan(scene.plan, 1e-3, scene.model.joint_names)
    obstacle, wall = motion.check(scene.world)
    words = r"(\w+) runs ([\d.]+) mm into (\w+) at ([\d.]+) s; it first touches it at ([\d.]+) s"
    body, depth, what, _, first = re.fullmatch(words, obstacle).groups()
    assert (body, what) == ("link2", "obstacle")
    assert float(depth) == pytest.approx(50.6, abs=1.0)
    assert float(first) == pytest.approx(1.099, abs=1e-3)
    body, depth, what, deepest, first = re.fullmatch(words, wall).groups()
    assert (body, what) == ("tool", "wall")
    assert (float(depth), float(deepest)) == (50.0, LINE_SECONDS)
    u = np.linspace(0.0, 1.0, 2001)
    meets = np.interp(1.0 - 0.05 / (LINE_END_M[0] - LINE_START_M[0]), minimum_jerk(u)[0], LINE_SECONDS * u)
    assert float(first) == pytest.approx(meets, abs=1.1e-3)
    assert motion.check(scene.world, obstacles=["floor"]) == []
    assert re.fullmatch(r"link3 comes within 51\.5 mm of obstacle at .* is nearer than 60 mm at .*",
                        motion.check(scene.world, 0.06, ["link3"], ["obstacle"])[0])  # fmt: skip
