"""A line, a wall and an obstacle for any arm, and what a hand makes of them (articulated-haptics.md, acceptance 15-19).

Fixed-base arms of six and seven joints with meshes, and the arm of a humanoid on a free base.
"""

from pathlib import Path

import numpy as np
import pytest

from palpate.control.plans.clearance import clearance
from palpate.dynamics.facade import forward_kinematics, jacobian
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted
from palpate.model.compile import compile
from palpate.model.description import ModelError
from palpate.scenes import SCENES
from palpate.scenes.any_arm import any_arm_line, scene_of, way_around
from palpate.scenes.robots import capsule_around, find_arm, find_robot, known_robots, load_robot, locked, start_of
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Transform

ROBOTS = ["ur5", "panda", "kinova", "hrp2"]
JOINTS = {"ur5": 6, "panda": 7, "kinova": 6, "hrp2": 7}
SETTLE_S = 1.0

needs_robots = pytest.mark.skipif(not known_robots(), reason="example-robot-data is not installed")


def seconds(scene: Scene) -> float:
    return len(scene.plan.q) / scene.rate_hz


def rows(scene: Scene, every: int = 10) -> np.ndarray:
    """All coordinates of the world along the plan."""
    q = np.tile(scene.world.q, (len(scene.plan.q), 1))
    q[:, [scene.model.q_index[name].start for name in scene.editing.joints]] = scene.plan.q
    return q[::every]


def pulls(scene: Scene, n: int) -> list[Grasp]:
    """The first n pulls of the way around: beside the obstacle, then to the wall."""
    turn = tuple(Transform.from_matrix(scene.world.pose(scene.editing.tool)).R.wxyz)
    how = {"stiffness_N_m": 800.0, "stiffness_Nm_rad": 20.0, "orientation": turn}
    beside, behind = way_around(scene)
    T, tool = seconds(scene), scene.editing.tool
    return [Grasp(tool, 0.15 * T, 0.5 * T, beside, **how),
            Grasp(tool, 0.5 * T, 0.9 * T, behind, move_s=0.35 * T, **how)][:n]  # fmt: skip


def move(scene: Scene, n_pulls: int) -> dict[str, np.ndarray]:
    actions = pulls(scene, n_pulls)
    end = (actions[-1].end_s + scene.editing.resume_s if actions else seconds(scene)) + SETTLE_S
    return simulated_run(scene, round(end * scene.rate_hz), Scripted(actions))


def smallest(scene: Scene, q: np.ndarray, obstacle: str):
    return clearance(scene.model, q, None, [obstacle]).smallest


def from_wall(scene: Scene, frames: dict[str, np.ndarray]) -> np.ndarray:
    """Distance (n,) of the tool's origin from where its line ends, along the wall's normal."""
    point, normal = (np.array(x) for x in scene.editing.wall)
    return (frames["pose"][:, scene.model.body(scene.editing.tool), :3] - point) @ normal


# ---- the scene


@needs_robots
@pytest.mark.parametrize("robot", ROBOTS)
def test_the_line_is_straight_within_limits_and_well_conditioned(robot):
    made = any_arm_line(robot, solid=False)
    assert made.name == robot
    assert len(made.editing.joints) == JOINTS[robot]
    start, end = made.path[0], made.path[-1]
    length = np.linalg.norm(end - start)
    assert length + 1e-6 >= 0.25
    assert length <= 0.5
    off = np.cross(made.path - start, (end - start) / length)
    assert np.abs(off).max() < 1e-6
    columns = [made.model.q_index[name].start for name in made.editing.joints]
    velocities = [made.model.v_index[name].start for name in made.editing.joints]
    assert (made.plan.q > made.model.lower[columns]).all()
    assert (made.plan.q < made.model.upper[columns]).all()
    assert (np.abs(made.plan.v) <= made.model.velocity_limit[velocities]).all()
    for q in rows(made, 100):
        J = jacobian(made.model, q, made.editing.tool)[:, velocities]
        assert np.linalg.svd(J, compute_uv=False)[min(6, len(columns)) - 1] > 0.01


@needs_robots
@pytest.mark.parametrize("robot", ROBOTS)
def test_the_planned_line_runs_a_link_into_the_obstacle_and_the_tool_to_the_wall(robot):
    """The obstacle is 2 to 6 cm in the way of a link that is not the tool, and clear at both ends."""
    made = any_arm_line(robot, solid=False)
    q = rows(made)
    near = clearance(made.model, q, None, ["obstacle"])
    assert -0.06 <= near.smallest.gap_m <= -0.02
    link = made.model.arrays.body_link
    assert link[made.model.body(near.smallest.body)] != link[made.model.body(made.editing.tool)]
    assert near.gap_m[[0, -1]].min() > 0.01
    assert smallest(made, q[: round(0.9 * len(q))], "wall").gap_m > 1e-3
    assert smallest(made, q[-1:], "wall").gap_m == pytest.approx(0.0, abs=1e-4)
    assert abs(np.dot(made.editing.slide, made.editing.wall[1])) < 1e-9


@needs_robots
@pytest.mark.parametrize("robot", ROBOTS)
def test_the_plan_is_followed_to_the_wall_when_nothing_is_solid(robot):
    """What is held by springs gives way a little: a humanoid's chest by a millimetre or two of the hand's way."""
    made = any_arm_line(robot, solid=False)
    frames = move(made, 0)
    assert smallest(made, frames["q"][::10], "obstacle").gap_m < -0.02
    assert abs(from_wall(made, frames)[-1]) < 3e-3
    assert np.abs(frames["v"][-1]).max() < 1e-2


@needs_robots
def test_the_same_name_gives_the_same_scene():
    """So that both ends of a link have one."""
    one, two = any_arm_line("ur5"), any_arm_line("ur5")
    assert np.array_equal(one.plan.q, two.plan.q)
    assert np.array_equal(one.world.q, two.world.q)
    assert one.editing == two.editing


# ---- editing it


@needs_robots
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("n_pulls", [1, 2])
def test_pulls_to_the_side_clear_the_obstacle_and_the_plan_resumes_to_the_wall(robot, n_pulls):
    """Acceptance 18 and 19, for arms that the papers did not have; obstacle and wall are solid."""
    made = any_arm_line(robot)
    frames = move(made, n_pulls)
    assert np.linalg.norm(frames["hand_force"], axis=1).max() > 0.5
    assert smallest(made, frames["q"][::10], "obstacle").gap_m > 0.01
    assert abs(from_wall(made, frames)[-1]) < 3e-3
    assert np.abs(frames["v"][-1]).max() < 1e-2


@needs_robots
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("mode", ["wait", "hold", "blend", "teach"])
def test_every_mode_runs_without_trouble(robot, mode):
    made = any_arm_line(robot, mode=mode)
    frames = move(made, 2)
    assert all(np.isfinite(frames[name]).all() for name in ("q", "v", "tau"))
    at = [made.model.q_index[name].start for name in made.editing.joints]
    assert (frames["q"][:, at] > made.model.lower[at] - 0.05).all()
    assert (frames["q"][:, at] < made.model.upper[at] + 0.05).all()
    assert smallest(made, frames["q"][::10], "obstacle").gap_m > -5e-3


@needs_robots
def test_the_obstacle_can_be_put_elsewhere():
    made = any_arm_line("ur5", solid=False)
    made.world.place("obstacle", Transform(p=(5.0, 5.0, 1.0)))
    assert smallest(made, rows(made), "obstacle").gap_m > 1.0


# ---- robots


@needs_robots
def test_names_and_files_of_a_robot_are_the_same_file():
    path = find_robot("ur5")
    assert path == find_robot("ur5_robot.urdf") == find_robot("ur5_robot") == find_robot(str(path))


@pytest.mark.parametrize("name", ["ur55", "no/such/robot.urdf", "robot.xml", "robot.urdf", "qqqqqq"])
def test_a_robot_that_is_not_there_is_one_line(name):
    with pytest.raises(ModelError) as error:
        any_arm_line(name)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


def test_without_the_package_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr("palpate.scenes.robots.known_robots", dict)
    with pytest.raises(ModelError, match="pip install example-robot-data"):
        find_robot("ur5")


@pytest.mark.parametrize("content", ["", "<robot/>", "<robot name='r'><link name='a'/></robot>"])
def test_a_file_without_an_arm_is_one_line(content, tmp_path: Path):
    file = tmp_path / "robot.urdf"
    file.write_text(content)
    with pytest.raises(ModelError) as error:
        any_arm_line(str(file))
    assert "\n" not in str(error.value)


def test_names_of_scenes_come_first_then_robots():
    assert scene_of("arm-line")().name == "arm-line"
    assert set(SCENES) >= {"hrp2"}
    assert scene_of("hrp2")().editing.joints is None  # the standing one
    assert scene_of("puma560")().obstacles == ("obstacle", "wall")
    with pytest.raises(ValueError, match="robot's name or file"):
        scene_of("arm-lime")


@needs_robots
def test_an_arm_ends_where_fingers_begin_and_begins_where_a_trunk_branches():
    panda, hrp2 = compile(load_robot("panda")), compile(load_robot("hrp2"))
    assert find_arm(panda).joints == tuple(f"panda_joint{k}" for k in range(1, 8))
    assert find_arm(panda).tool == "panda_hand_tcp"
    assert find_arm(hrp2).joints == tuple(f"RARM_JOINT{k}" for k in range(7))


def test_locking_joints_leaves_every_body_where_it_was():
    robot = load_robot("hrp2")
    model = compile(robot)
    q, arm = start_of(model), find_arm(model)
    fixed = compile(locked(robot, q, lambda joint: joint.name in arm.joints))
    assert fixed.joint_names == arm.joints
    assert forward_kinematics(fixed, start_of(fixed)) == pytest.approx(forward_kinematics(model, q), abs=1e-12)


def test_a_capsule_holds_every_vertex_of_its_mesh(tmp_path: Path):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 3)) * (0.2, 0.05, 0.03)
    faces = np.arange(198).reshape(-1, 3) + 1
    file = tmp_path / "cloud.obj"
    file.write_text("".join(f"v {a} {b} {c}\n" for a, b, c in x) + "".join(f"f {a} {b} {c}\n" for a, b, c in faces))
    (radius, length), place = capsule_around(file, (1.0, 1.0, 2.0))
    inside = (x[:198] * (1.0, 1.0, 2.0) - place.p) @ np.array(place.R.matrix())
    beyond = np.maximum(np.abs(inside[:, 2]) - 0.5 * length, 0.0)
    assert np.sqrt((inside[:, :2] ** 2).sum(axis=1) + beyond**2).max() <= radius + 1e-9


def test_a_robot_without_a_line_stands_there_and_can_be_pulled(tmp_path):
    """Two joints cannot turn a tool as a line wants it: the robot is held by springs, its weight borne."""
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    solid = '<origin xyz="0 0 0.15"/><geometry><cylinder radius="0.03" length="0.3"/></geometry>'
    links = "".join(
        f'<link name="{n}"><inertial><mass value="1"/>{inertia}</inertial><collision>{solid}</collision></link>'
        for n in ("base", "upper", "lower")
    )
    joints = "".join(
        f'<joint name="{n}" type="revolute"><parent link="{a}"/><child link="{b}"/><origin xyz="0 0 0.3"/>'
        f'<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/></joint>'
        for n, a, b in (("shoulder", "base", "upper"), ("elbow", "upper", "lower"))
    )
    file = tmp_path / "two.urdf"
    file.write_text(f'<robot name="two">{links}{joints}</robot>')
    scene = scene_of(str(file))()
    assert scene.plan is None
    start = scene.world.q.copy()
    scene.world.step(500)
    assert np.abs(scene.world.q - start).max() < 1e-3
