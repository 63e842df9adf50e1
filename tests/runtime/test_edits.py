"""session.edit: a running plan that is touched, kept, checked and followed again; surroundings that are moved."""

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.control.plans.clearance import RESTING_M
from palpate.control.plans.files import load, save
from palpate.control.plans.modes import MODES, PLANNED
from palpate.control.plans.trajectory import Trajectory, TrajectoryError
from palpate.haptics.devices.simulation.playback import HandRecording, Playback
from palpate.jit import Struct
from palpate.runtime.world.edits import STOP_S, stopped
from palpate.scenes.arm import LINE_START_M, OBSTACLE_M, arm_line
from palpate.scenes.scene import Scene

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


def pulled_past_the_obstacle() -> Playback:
    """The hand of reference 5.5: takes the tool at 0.45 s, leads it to the side, then towards the wall."""
    places = {
        0.0: (0.52, 0.15, -0.05), 0.45: (0.52, 0.15, -0.05), 1.15: (0.68, -0.15, -0.05), 1.95: (0.95, -0.15, -0.05),
        2.2: (0.95, -0.15, -0.05), 2.21: (0.95, -0.15, -0.05),
    }  # fmt: skip
    return Playback(
        HandRecording(np.array(list(places)), np.array(list(places.values())), buttons=np.array([0, 1, 1, 1, 0, 0]))
    )


@pytest.fixture
def edited():
    """A session of the arm's line whose tool was pulled past the obstacle."""
    device = pulled_past_the_obstacle()
    device.open()
    scene = arm_line(solid=False, mode="teach")
    session = pp.touch(scene, device, "pull", page=False, strength_N=200.0, grab_m=0.1)
    session.simulate(3.5)
    return session


def test_the_motion_that_happened_is_a_trajectory(edited):
    motion = edited.edit.motion()
    assert motion.names == edited.edit.joints == tuple(f"joint{k}" for k in range(1, 7))
    assert motion.duration_s > 1.0
    model = edited.scene.model
    tool = [pp.forward_kinematics(model, q)[model.body("tool")][:3, 3] for q in motion.q[[0, -1]]]
    assert tool[0] == pytest.approx(LINE_START_M, abs=1e-3)
    assert tool[1][0] > 0.8  # the taught arm stays behind the hand, which is let go beyond the wall
    assert np.diff(motion.q, axis=0) / 1e-3 == pytest.approx(motion.v[1:], abs=1e-6)  # as the step integrates


def test_clearance_is_known_along_the_plan_and_along_the_edit(edited):
    """Acceptance 16: the plan runs into the obstacle; the edit does not."""
    plan, edit = edited.edit.clearance(edited.edit.plan), edited.edit.clearance(edited.edit.motion())
    assert plan.of("link2", "obstacle").smallest.gap_m == pytest.approx(-0.0506, abs=1e-3)
    assert edit.of(obstacle="obstacle").smallest.gap_m > 0.02
    assert any("obstacle" in line for line in edited.edit.check(edited.edit.plan))
    assert not any("obstacle" in line for line in edited.edit.check(edited.edit.motion()))


def test_a_kept_edit_is_the_plan_from_then_on_and_is_followed(edited, tmp_path):
    kept = edited.edit.keep()
    save(tmp_path / "edit.json", kept)
    again = load(tmp_path / "edit.json")
    assert (again.q == kept.q).all()
    edited.devices[0].close()
    replay = pp.touch(arm_line(solid=False, mode="hold"), page=False)
    replay.edit.follow(again)
    replay.simulate(kept.duration_s + 4.0)
    motion = replay.edit.motion()
    assert motion.q[-1] == pytest.approx(kept.q[-1], abs=0.08)  # brought to rest a little further on
    assert replay.edit.clearance(motion).of(obstacle="obstacle").smallest.gap_m > 0.02
    assert replay.simulation.guiding.arrays.stage == PLANNED


def test_smoothing_takes_the_blows_out_and_leaves_the_path(edited):
    motion = edited.edit.motion()
    kept = edited.edit.keep(smooth_s=0.06)
    assert np.abs(np.diff(kept.a, axis=0)).max() < 0.5 * np.abs(np.diff(motion.a, axis=0)).max()
    at = np.interp(motion.time_s, kept.time_s, kept.q[:, 0])
    assert np.abs(at - motion.q[:, 0]).max() < 0.02


def test_keeping_smooths_the_planned_joints_as_if_the_whole_world_were_smoothed(edited):
    """Obstacles and free bodies stand still meanwhile: to leave them out changes nothing, but for the time it takes."""
    edit, model, motion = edited.edit, edited.scene.model, edited.edit.motion()
    at, whole = edited.simulation.guiding.arrays, edit.whole(motion).smooth(model, 0.06)
    resampled = whole.resample(model, 1e-3)
    kept = edit.keep(smooth_s=0.06)
    for part, columns in (("q", at.q_at), ("v", at.v_at), ("a", at.v_at)):
        assert getattr(kept, part) == pytest.approx(getattr(whole, part)[:, columns], abs=1e-9)
        end = len(edit.plan.q) - round(STOP_S / 1e-3)  # it is brought to rest, and begins where the way to it ends
        followed = getattr(edit.plan, part)[end - len(resampled.q) + 1 : end]
        assert followed == pytest.approx(getattr(resampled, part)[1:, columns], abs=1e-9)
    assert kept.time_s == pytest.approx(whole.time_s, abs=1e-12)


def test_a_plan_that_ends_moving_is_brought_to_rest():
    plan, arm = arm_line(solid=False).plan, pp.compile(pp.models.puma560())
    cut = type(plan)(*(x[:1000] for x in plan))
    whole = stopped(cut, 1e-3, arm)
    assert np.abs(whole.v[-1]).max() < 1e-12
    assert np.abs(whole.a[-1]).max() < 1e-9
    assert np.abs(np.gradient(whole.q, 1e-3, axis=0) - whole.v)[1:-1].max() < 2e-3
    assert stopped(plan, 1e-3, arm) is plan


def test_the_mode_is_chosen_while_it_runs():
    session = pp.touch(arm_line(solid=False), page=False)
    assert session.edit.mode == "resume"
    for mode in MODES:
        session.edit.mode = mode
        session.simulate(0.01)
        assert session.edit.mode == mode
    with pytest.raises(ValueError, match="mode must be one of"):
        session.edit.mode = "push"


def test_an_obstacle_is_moved_while_the_arm_runs():
    """A placed ball in the way of the arm is hit; put elsewhere, it is not."""
    world = pp.World([pp.models.puma560(), pp.models.ball(0.07, at=(0.3, 0.9, 0.0), name="ball", placed=True)])
    line = arm_line(solid=False)
    world.q[world.model.q_index["joint1"].start : world.model.q_index["joint6"].stop] = line.plan.q[0]
    scene = Scene("test", "test", world, line.plan, editing=line.editing, obstacles=("ball",))
    session = pp.touch(scene, page=False)
    before = session.edit.clearance(session.edit.plan).smallest.gap_m
    session.edit.place("ball", pp.Transform(p=(0.44, 0.34, 0.20)))
    session.simulate(0.02)
    assert session.edit.clearance(session.edit.plan).smallest.gap_m < 0.0 < before
    with pytest.raises(ValueError, match="cannot be placed"):
        session.edit.place("link2", pp.Transform())


def test_a_reset_begins_a_new_motion():
    session = pp.touch(arm_line(solid=False), page=False)
    session.simulate(1.8)
    first = session.edit.motion()
    session.reset()
    session.simulate(1.0)
    assert session.edit.motion().duration_s < 1.0 < first.duration_s


def test_wrong_calls_are_refused_in_one_line():
    still = pp.touch(Scene("still", "still", pp.World(pp.models.plane())), page=False)
    with pytest.raises(ValueError, match="nothing is planned in the scene 'still'"):
        still.edit.mode = "hold"
    session = pp.touch(arm_line(solid=False), page=False)
    with pytest.raises(TrajectoryError, match="nothing has moved yet"):
        session.edit.motion()
    other = Trajectory(("elbow",), np.arange(2.0), np.zeros((2, 1)), np.zeros((2, 1)), np.zeros((2, 1)))
    with pytest.raises(TrajectoryError, match="a motion for this scene moves joint1"):
        session.edit.follow(other)


# ---- what is said about a motion


def held_over(ball_m: float) -> tuple:
    """A session of an arm that stands still, a ball so far into its hand [m], and that motion."""
    world = pp.World([pp.models.puma560(), pp.models.ball(0.07, name="ball", placed=True)])
    line = arm_line(solid=False)
    model, joints = world.model, world.model.q_index
    world.q[joints["joint1"].start : joints["joint6"].stop] = line.plan.q[0]
    session = pp.touch(Scene("test", "test", world, line.plan, editing=line.editing, obstacles=("ball",)), page=False)
    session.simulate(0.01)
    still = Trajectory.of_plan(
        type(line.plan)(*(np.repeat(x[:1], 5, axis=0) for x in line.plan)), 0.1, session.edit.joints
    )
    tool = pp.forward_kinematics(model, session.simulation.arrays.q)[model.body("tool")][:3, 3]
    session.edit.place("ball", pp.Transform(p=(tool[0] + 1.0, tool[1], tool[2])))
    session.simulate(0.01)
    away = session.edit.clearance(still).smallest
    session.edit.place("ball", pp.Transform(p=(tool[0] + 1.0 - away.gap_m - ball_m, tool[1], tool[2])))
    session.simulate(0.01)
    return session, still, away.body


@pytest.mark.parametrize("deep_m", [2e-9, 1e-6, 0.9 * RESTING_M])
def test_a_contact_that_rests_is_no_collision(deep_m):
    session, still, _ = held_over(deep_m)
    assert -RESTING_M < session.edit.clearance(still).smallest.gap_m < 0.0
    assert session.edit.check(still) == []
    session.stop()


def test_a_collision_is_told_in_millimetres_with_both_bodies_and_when():
    session, still, body = held_over(0.0031)
    found = session.edit.check(still)
    assert found == [f"{body} runs 3.1 mm into ball at 0 s; it first touches it at 0 s"]
    assert session.edit.check(still, 0.02) == [
        f"{body} runs 3.1 mm into ball at 0 s; it first is nearer than 20 mm at 0 s"
    ]
    session.stop()


# ---- obstacles to spare


def test_an_added_obstacle_is_in_the_way_and_a_removed_one_is_not():
    """Clearance counts obstacles that are out: the scene's own, and those that were added."""
    session = pp.touch(arm_line(), page=False)
    edit, model = session.edit, session.scene.model
    edit.remove("obstacle")
    session.simulate(0.01)
    assert edit.obstacles == ("wall",)
    assert {pair[1] for pair in edit.clearance(edit.plan).pairs} == {"wall"}
    assert not any("obstacle" in line for line in edit.check(edit.plan))
    elbow = pp.forward_kinematics(model, session.simulation.arrays.q)[model.body("link3")][:3, 3]
    name = edit.add(tuple(elbow))
    assert name in session.scene.spares
    assert name in edit.obstacles  # even before the servo has put it there
    session.simulate(0.01)
    assert edit.clearance(edit.plan).of(obstacle=name).smallest.gap_m < 0.0
    assert any(name in line for line in edit.check(edit.plan))
    session.stop()


def test_an_obstacle_that_was_removed_can_be_added_again():
    session = pp.touch(arm_line(), page=False)
    edit = session.edit
    edit.remove("obstacle")
    names = {edit.add((0.5 + 0.2 * k, 0.8, 0.2)) for k in range(4)}
    assert names == {"obstacle", *session.scene.spares}
    with pytest.raises(ValueError, match="every obstacle is out already"):
        edit.add((0, 0, 1))
    session.stop()


def test_a_reset_finds_obstacles_where_they_were_placed():
    """The same motion is tried again among what a person has put in its way."""
    session = pp.touch(arm_line(), page=False)
    start = session.scene.model.body("obstacle")
    session.simulate(0.01)
    assert session.frame()["pose"][start][:3] == pytest.approx(OBSTACLE_M)
    session.edit.add((0.3, 0.9, 0.2))
    session.edit.place("obstacle", pp.Transform(p=(0.9, 0.9, 0.9)))
    session.simulate(0.01)
    assert session.frame()["pose"][start][:3] == pytest.approx((0.9, 0.9, 0.9))
    assert len(session.edit.obstacles) == 3
    session.reset()
    session.simulate(0.01)
    assert session.frame()["pose"][start][:3] == pytest.approx((0.9, 0.9, 0.9))
    assert len(session.edit.obstacles) == 3
    session.stop()


def test_a_spare_that_waits_touches_nothing_and_costs_no_contact():
    session = pp.touch(arm_line(), page=False)
    session.simulate(0.1)
    assert session.frame()["contacts"] == 0
    heights = [session.frame()["pose"][session.scene.model.body(name)][2] for name in session.scene.spares]
    assert max(heights) < -50.0
    session.stop()


# ---- state that compiled code uses is the tick's


def memory(engine) -> dict[str, bytes]:
    """Everything that a tick reads, but for the rings."""
    parts = {"servo": engine.arrays, "guide": engine.guiding.arrays, "start": engine._start.parts[0],
             "world": engine.world.arrays.state, "model": engine.model.arrays}  # fmt: skip
    rings = ("frames", "frames_f", "hands", "events")
    return {f"{name}.{field}": np.asarray(value).tobytes() for name, part in parts.items()
            for field, value in (part.arrays() if isinstance(part, Struct) else part._asdict()).items()
            if field not in rings}  # fmt: skip


@pytest.mark.parametrize("what", ["follow", "keep", "mode", "place", "add", "remove", "play", "reset"])
def test_a_change_from_outside_is_an_event_and_changes_nothing_before_the_tick_takes_it(what):
    session = pp.touch(arm_line(), page=False)
    session.simulate(1.0)
    edit, motion, obstacle = session.edit, session.edit.motion(), session.scene.obstacles[0]
    before = memory(session.simulation)
    {"follow": lambda: edit.follow(motion), "keep": edit.keep, "mode": lambda: setattr(edit, "mode", "teach"),
     "place": lambda: edit.place(obstacle, pp.Transform(p=(1, 0, 1))), "add": lambda: edit.add((1, 0, 1)),
     "remove": lambda: edit.remove(obstacle), "play": session.play, "reset": session.reset}[what]()  # fmt: skip
    after = memory(session.simulation)
    assert [name for name in before if before[name] != after[name]] == []
    session.simulate(0.001)
    assert memory(session.simulation) != before


def test_a_plan_that_is_put_while_the_arm_moves_begins_with_the_tick_that_takes_it():
    """Its goal, its start and its end come with it, at once."""
    session = pp.touch(arm_line(solid=False, mode="resume"), page=False)
    session.simulate(0.5)
    motion = session.edit.motion()
    goal = np.array(session.simulation.guiding.arrays.goal)
    session.edit.follow(motion)
    session.simulate(motion.duration_s + 4.0)
    at = session.simulation.guiding.arrays
    assert not np.array_equal(at.goal, goal)
    assert session.scene.world.q[at.q_at] == pytest.approx(session.edit.plan.q[-1], abs=1e-3)
    session.reset()
    session.simulate(0.001)
    assert np.array_equal(session.frame()["q"][at.q_at], session.edit.plan.q[0])


@pytest.mark.parametrize("height_m", [-1e4, -60.0, 60.0, 1e4])
def test_whether_an_obstacle_is_out_is_not_a_matter_of_height(height_m):
    session = pp.touch(arm_line(), page=False)
    added = session.edit.add((0.0, 0.0, height_m))
    row = session.scene.model.body(added)
    for _ in range(2):  # before the tick takes it, and after
        assert added in session.edit.obstacles
        session.simulate(0.002)
    assert session.frame()["parked"][row] == 0
    session.edit.remove(added)
    session.simulate(0.002)
    assert added not in session.edit.obstacles
    assert session.frame()["parked"][row] == 1
    session.reset()
    session.simulate(0.002)
    assert session.frame()["parked"][row] == 1
