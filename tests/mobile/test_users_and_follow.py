"""Persons who walk, and the robot that follows them, in simulated time.  Mobile display, 4.7 and 4.9."""

import math
from dataclasses import replace

import numpy as np
import pytest

from palpate import jit
from palpate.jit import Block
from palpate.mobile.estimate.prediction import Prediction
from palpate.mobile.hardware.tracker import Tracker
from palpate.mobile.planning.planner import IMPROVED, THESIS, WARN_LOST, WARN_TOUCH, Safety
from palpate.mobile.walking.follow import HOLD, Following, Rig, follow, follow_many
from palpate.mobile.walking.follow_kernels import COLUMNS
from palpate.mobile.walking.users import chase, explore, new_user, reach, turn, walk
from tests.mobile.motion_doors import user_door

compiled = pytest.mark.skipif(jit.DISABLED, reason="tens of thousands of ticks")
UNGUARDED = Safety(barrier=False, retreat_m_s=0.0)  # the thesis
NOISY = Tracker(bias_m=0.0).worst()


def walked(events, seconds, robot=(0.0, 0.85), **settings):
    """(n, 9) x, z, g, hand, head."""
    out, block = np.zeros((round(1000 * seconds), 9)), Block(new_user(events, **settings))
    user_door(block.address, np.array(robot), out)
    return out


# ---- persons


@pytest.mark.nojit
def test_a_walk_goes_where_and_as_far_as_it_says():
    for towards, (x, z) in ((0.0, (0, 1)), (90.0, (1, 0)), (180.0, (0, -1)), (-90.0, (-1, 0))):
        path = walked([walk(0.1, 0.8, 0.5, towards)], 1.2)
        assert path[-1, :2] == pytest.approx(0.5 * 0.6 * np.array([x, z]), abs=1e-3)  # 0.4 s of it a ramp
        assert path[:, 2] == pytest.approx(0.0)
        assert np.hypot(*np.diff(path[:, :2], axis=0).T).max() <= 0.5e-3 + 1e-12


@pytest.mark.nojit
def test_a_turn_is_of_minimum_jerk_and_takes_the_hand_along():
    path = walked([turn(0.2, 0.5, 90.0)], 0.9)
    assert path[-1, 2] == pytest.approx(math.pi / 2)
    assert path[-1, 3:6] == pytest.approx([0.6, 1.0, 0.0], abs=1e-9)
    assert np.diff(path[:, 2]).max() == pytest.approx(math.pi / 2 / 500 * 1.875, rel=1e-3)
    assert path[-1, 6:] == pytest.approx([0.08, 1.65, 0.0], abs=1e-9)


@pytest.mark.nojit
def test_a_reach_moves_only_the_hand_and_leaves_it_there():
    path = walked([reach(0.1, 0.4, ahead_m=0.1, right_m=0.05, up_m=-0.08)], 0.8)
    assert path[-1, 3:6] == pytest.approx([-0.05, 0.92, 0.70], abs=1e-12)  # who looks along z has -x to the right
    assert (path[:, :3] == 0.0).all()


@pytest.mark.nojit
def test_an_adversary_walks_at_the_robot_and_sway_moves_only_the_head():
    path = walked([chase(0.0, 2.0, 0.5)], 1.0, robot=(2.0, 0.0))
    assert path[-1, 0] == pytest.approx(0.4, abs=2e-3)
    assert path[-1, 2] == pytest.approx(math.pi / 2, abs=0.15)
    swaying = walked([], 1.0, sway=True)
    assert np.ptp(swaying[:, 6]) == pytest.approx(0.040, rel=0.01)
    assert np.ptp(swaying[:, 7]) == pytest.approx(0.030, rel=0.01)
    assert (swaying[:, :2] == 0.0).all()


@compiled
def test_explorers_differ_and_none_is_faster_than_said():
    for seed in range(20):
        events = explore(seed, seconds=20.0, chases=bool(seed % 2))
        assert events == explore(seed, seconds=20.0, chases=bool(seed % 2))
        path = walked(events, 20.0)
        assert np.hypot(*np.diff(path[:, :2], axis=0).T).max() <= 0.45e-3 + 1e-12
        assert np.ptp(path[:, 0]) + np.ptp(path[:, 1]) > 0.2
    assert explore(1) != explore(2)


# ---- following


@compiled
@pytest.mark.parametrize("hz", [0.3, 0.7])
def test_a_hand_that_stays_near_the_centre_moves_nothing(hz):
    """Mobile display, acceptance 20: 40 mm about the centre for 30 s, quiet noise."""
    half, events, at = 0.5 / hz, [], 0.0
    rng = np.random.default_rng(int(10 * hz))
    here, t = np.zeros(3), 0.0
    centre = np.array([0.85 - 0.2358 - 0.60, 0.0, 0.0])  # the HIP rests 14 mm beyond the hand
    while t < 30.0:
        d = rng.normal(size=3)
        there = centre + d / np.linalg.norm(d) * rng.uniform(0.0, 0.040)
        events.append(reach(t, half, *(there - here)))
        here, t = there, t + half
    run = follow(events, 30.0, Rig(start=(0.0, 0.85, at)), seed=20)
    assert run.numbers.most_offset_m > 0.035
    assert (run.history[:, 15:18] == 0.0).all()
    # beyond the activation radius it is not so
    far = follow([reach(0.5, 0.5, right_m=0.09)], 3.0)
    assert (far.history[:, 15:18] != 0.0).any()


@compiled
def test_no_random_user_below_the_robots_speed_is_touched():
    """Mobile display, acceptance 21: 200 users of at most 0.45 m/s, robot 0.5 m/s."""
    walks = [explore(1000 + seed, seconds=10.0, turn_deg=180.0) for seed in range(200)]
    for follower in (THESIS.fast(), IMPROVED):
        found = follow_many(walks, 10.0, Rig(follower))
        assert found["least_distance_m"].min() >= 0.50
        assert np.isnan(found["touched_s"]).all()


@compiled
@pytest.mark.parametrize("follower", [THESIS.fast(), IMPROVED])
def test_every_command_keeps_the_barrier_or_retreats_at_the_cap(follower):
    """Mobile display, acceptance 21: at every planning instant, by what the planner sees."""
    for seed in range(6):
        run = follow(
            explore(seed, seconds=20.0, chases=True), 20.0, Rig(follower), seed=seed, every=1000 // follower.rate_hz
        )
        n = np.column_stack([run["seen_robot_x"] - run["seen_user_x"], run["seen_robot_z"] - run["seen_user_z"]])
        d = np.linalg.norm(n, axis=1)
        along = (np.column_stack([run["command_x"], run["command_z"]]) * n).sum(axis=1) / d
        ok = (along >= -2.0 * (d - 0.60) - 1e-6) | (along >= 0.5 - 1e-9)
        assert ok[1:].all()  # before the first packet there is no plan
        assert np.hypot(run["command_x"], run["command_z"]).max() <= 0.5 + 1e-9


@compiled
def test_a_user_who_walks_at_a_slow_robot_is_reported_and_warned():
    """Mobile display, acceptance 22: 0.5 m/s against the cap of 0.2 m/s."""
    run = follow([walk(1.0, 2.0, 0.5)], 8.0, Rig(THESIS, UNGUARDED, tracker=NOISY, prediction=HOLD))
    assert run.numbers.collided
    assert run.numbers.least_distance_m == pytest.approx(0.21, abs=0.05)
    rings = (run["warning"].astype(int) & WARN_TOUCH) > 0
    at = run["time_s"][np.argmax(rings)]
    assert at == pytest.approx(run.numbers.warned_s, abs=0.011)
    assert at < run.numbers.touched_s
    assert run["distance_m"][np.argmax(rings)] < 0.60 + 0.01
    # and with the retreat at full speed it is no collision
    assert not follow([walk(1.0, 2.0, 0.5)], 8.0, Rig(THESIS)).numbers.collided


@compiled
@pytest.mark.parametrize(("speed", "before_s"), [(0.7, 0.4), (0.85, 0.4), (1.0, 0.3), (1.4, 0.3)])
def test_a_contact_that_cannot_be_avoided_is_foreseen(speed, before_s):
    """A user faster than the robot, chasing it.  Who is at 1.4 m/s in 0.4 s is there half a second after the start."""
    for seed in range(5):
        run = follow([chase(1.0, 6.0, speed)], 7.0, Rig(IMPROVED), seed=seed)
        assert run.numbers.collided
        assert run.numbers.touched_s - run.numbers.foreseen_s >= before_s
        assert run.numbers.lead_s >= before_s
    calm = follow([walk(1.0, 3.0, 0.3)], 6.0, Rig(IMPROVED))
    assert math.isnan(calm.numbers.foreseen_s)


@compiled
@pytest.mark.parametrize("seed", range(8))
def test_the_improved_follower_keeps_the_hand_where_the_thesis_law_loses_it(seed):
    """Mobile display, acceptance 23: sideways, 0.5 m/s for 3 s."""
    filtered = Prediction(noise_m=0.002, noise_rad=math.radians(0.25))
    walk_aside = [walk(1.0, 3.0, 0.5, 90.0)]
    improved = follow(walk_aside, 8.0, Rig(IMPROVED, tracker=NOISY, prediction=filtered), seed=seed)
    thesis = follow(walk_aside, 8.0, Rig(THESIS.fast(), UNGUARDED, tracker=NOISY, prediction=HOLD), seed=seed)
    assert improved.numbers.off_share == 0.0
    assert thesis.numbers.off_share > 0.25


@compiled
def test_every_part_keeps_its_rate():
    """Mobile display, acceptance 37, of what is in this loop."""
    for follower in (THESIS, IMPROVED):
        loop = Following([], Rig(follower))
        loop.run(10.0)
        assert loop.loop.tick == 10_000
        assert abs(loop.loop.plans - 10 * follower.rate_hz) <= 1
        assert abs(loop.drive.updates - 500) <= 1
        assert abs(loop.head.sampled - 1800) <= 2
        assert abs(loop.body.sampled - 1800) <= 2


@compiled
def test_a_run_is_the_same_twice_and_in_pieces():
    """Mobile display, acceptance 36, of this loop: bit for bit."""
    events, rig = explore(5, seconds=6.0, chases=True), Rig(IMPROVED, sway=True)
    a, b = (follow(events, 6.0, rig, seed=9) for _ in range(2))
    assert np.array_equal(a.history, b.history)
    pieces = Following(events, rig, seed=9)
    rows = np.vstack([pieces.run(seconds, every=10) for seconds in (1.0, 0.37, 4.63)])
    assert np.array_equal(a.history, rows)
    assert not np.array_equal(a.history, follow(events, 6.0, rig, seed=10).history)


@compiled
@pytest.mark.parametrize("which", ["head", "body"])
def test_a_tracker_that_freezes_stops_the_robot(which):
    """Mobile display, acceptance 26: 300 ms of silence, command 0; and it goes on when poses come again."""
    loop = Following([walk(0.5, 6.0, 0.4, 90.0)], Rig(IMPROVED))
    loop.run(2.0)
    assert math.hypot(*loop.drive.command[:2]) > 0.2
    getattr(loop, which).stopped = 1
    loop.run(0.30)
    assert loop.drive.command == (0.0, 0.0, 0.0)
    assert loop.planner.warning & WARN_LOST
    loop.run(1.0)
    assert math.hypot(*loop.drive.velocity[:2]) < 1e-3
    getattr(loop, which).stopped = 0
    loop.run(1.0)
    assert math.hypot(*loop.drive.command[:2]) > 0.2
    assert not loop.planner.warning & WARN_LOST


@compiled
def test_a_wheel_that_slips_for_a_second_is_seen_and_corrected():
    loop = Following([walk(0.5, 5.0, 0.3, 90.0)], Rig(IMPROVED))
    loop.run(2.0)
    loop.drive.grip = (0.0, 1.0, 1.0)
    loop.run(1.0)
    loop.drive.grip = (1.0, 1.0, 1.0)
    loop.run(5.0)
    error = np.array(loop.drive.pose[:2]) - loop.predictor.p_out[:2]
    assert np.linalg.norm(error) < 0.012
    assert loop.predictor.restarts == 0
    assert loop.numbers().least_distance_m > 0.5


@compiled
def test_the_history_has_what_its_columns_say():
    run = follow([walk(1.0, 2.0, 0.3, 90.0)], 4.0, Rig(IMPROVED))
    assert run.history.shape == (400, len(COLUMNS))
    d = np.hypot(run["robot_x"] - run["user_x"], run["robot_z"] - run["user_z"])
    assert d == pytest.approx(run["distance_m"])
    centre = np.column_stack([run["robot_x"] + 0.2358 * np.sin(run["robot_phi"]),
                              run["robot_z"] - 0.2358 * np.cos(run["robot_phi"])])  # fmt: skip
    offset = np.hypot(run["hand_x"] - centre[:, 0], run["hand_z"] - centre[:, 1])
    assert offset == pytest.approx(run["offset_m"])
    assert run.numbers.least_distance_m <= d.min()
    assert run["time_s"][-1] == pytest.approx(3.99)


def test_bad_input_is_one_clear_line():
    for make, words in (
        (lambda: walk(-1.0, 1.0, 0.3), "begins"), (lambda: turn(0.0, 0.0, 30.0), "lasts"),
        (lambda: reach(0.0, 1.0, ahead_m=0.3), "0.15"), (lambda: new_user([walk(0.0, 1.0, math.nan)]), "finite"),
        (lambda: Rig(tick_hz=100), "tick_hz"), (lambda: Following([]).run(-1.0), "seconds"),
        (lambda: Following([]).numbers(), "nothing has run"),
        (lambda: Following([], replace(Rig(), start=(0.0, math.nan, 0.0))), "pose"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            make()
