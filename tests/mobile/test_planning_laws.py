"""Target, cases, direction, velocity, barrier and room of the mobile display's planner.  Mobile display, 4."""

import math

import numpy as np
import pytest

from palpate import jit
from palpate.jit import Block
from palpate.mobile.planning.evaluation import Ideal, approach_entry, evaluation, largest_turn_deg, reached, region
from palpate.mobile.planning.planner import IMPROVED, THESIS, Follower, Safety, new_planner
from palpate.mobile.planning.room import room_of
from tests.mobile.motion_doors import barrier_door, plan_door, see_door, velocity_door, waypoint_door

compiled = pytest.mark.skipif(jit.DISABLED, reason="thousands of plans")
SETUP = np.array([0.85, 0.50, math.radians(20.0)])


def waypoints(rows, setup=SETUP):
    """x, z, case, side, phi* of rows: robot, user, hand, last bearing, last side."""
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    out = np.zeros((len(rows), 5))
    waypoint_door(rows, setup, out)
    return out


def scenes(n, seed):
    """Robot, user and hand anywhere, in rows of waypoint_door."""
    rng = np.random.default_rng(seed)
    user = rng.uniform(-3.0, 3.0, (n, 2))
    g, b = rng.uniform(-np.pi, np.pi, (2, n))
    hand = user + np.column_stack([np.cos(g), np.sin(g)]) * rng.uniform(0.16, 0.8, (n, 1))
    robot = user + np.column_stack([np.cos(b), np.sin(b)]) * rng.uniform(0.01, 3.0, (n, 1))
    return np.column_stack([robot, user, hand, np.zeros(n), np.zeros(n)])


@pytest.mark.nojit
def test_the_references_waypoints_and_cases():
    """Mobile display, acceptance 13."""
    found = waypoints([[x, z, 0, 0, 0, 0.6, 0, 0] for x, z in ((0.1, 0.3), (0.1, 0.85), (0.85, 0.0))])
    assert found[:, :2] == pytest.approx(np.array([[0.2688, 0.8064], [0.0, 0.85], [0.7987, 0.2907]]), abs=1e-3)
    assert found[:, 2].tolist() == [1, 2, 3]


@pytest.mark.nojit
def test_the_device_faces_the_user_from_every_bearing():
    """Mobile display, acceptance 12."""
    angle = np.radians(np.arange(360.0))
    robot = np.column_stack([0.3 + 0.85 * np.cos(angle), -0.7 + 0.85 * np.sin(angle)])
    rows = np.column_stack([robot, np.tile([0.3, -0.7, 1.0, 1.0, 0.0, 0.0], (360, 1))])
    phi = waypoints(rows)[:, 4]
    front = np.column_stack([np.sin(phi), -np.cos(phi)])
    to_user = ([0.3, -0.7] - robot) / 0.85
    across = front[:, 0] * to_user[:, 1] - front[:, 1] * to_user[:, 0]
    assert np.abs(np.arctan2(across, (front * to_user).sum(axis=1))).max() < 1e-9
    # and the printed sign does not: it turns the device away, except along the axis
    printed = np.column_stack([np.sin(-phi), -np.cos(-phi)])
    assert (printed * to_user).sum(axis=1).min() < -0.9


@pytest.mark.nojit
def test_waypoints_lie_on_the_circle_and_no_straight_way_crosses_the_user():
    rows = scenes(400, seed=3)
    found = waypoints(rows)
    user, robot = rows[:, 2:4], rows[:, :2]
    assert np.linalg.norm(found[:, :2] - user, axis=1) == pytest.approx(0.85, abs=1e-9)
    far = found[:, 2] > 1
    way = found[:, :2] - robot
    s = np.clip(((user - robot) * way).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1e-12), 0.0, 1.0)
    nearest = np.linalg.norm(robot + s[:, None] * way - user, axis=1)
    assert (nearest[far] >= np.minimum(0.5, np.linalg.norm(robot - user, axis=1))[far] - 1e-9).all()
    near = ~far  # retreats straight away
    assert near.sum() > 20
    across = way[:, 0] * (robot - user)[:, 1] - way[:, 1] * (robot - user)[:, 0]
    assert np.abs(across[near]).max() < 1e-9
    assert ((way * (robot - user)).sum(axis=1)[near] > 0.0).all()


@pytest.mark.nojit
def test_odd_places_have_an_answer():
    """A robot at the user's place; a hand at the body; exactly behind."""
    on_top, at_body, behind, back = waypoints([
        [0, 0, 0, 0, 0, 0.6, 0, 0], [0.0, 0.9, 0, 0, 0.0, 0.1, math.pi / 2, 0],
        [1e-9, -0.85, 0, 0, 0, 0.6, 0, 1.0], [-1e-3, -0.85, 0, 0, 0, 0.6, 0, 1.0],
    ])  # fmt: skip
    assert on_top[:3] == pytest.approx([0.0, -0.85, 1], abs=1e-9)  # opposite to the hand
    assert at_body[:3] == pytest.approx([0.0, 0.85, 2], abs=1e-9)  # the last bearing is kept
    assert behind[2:4].tolist() == back[2:4].tolist() == [3, 1]  # noise does not turn it round


@compiled
@pytest.mark.parametrize("speed", [0.5, 0.2])
def test_from_any_start_the_target_is_reached_without_touching_the_user(speed):
    """Mobile display, acceptance 14 (ideal motion at 0.5 m/s)."""
    rng = np.random.default_rng(14)
    d, bearing, phi = rng.uniform(0.5, 2.5, 1000), *rng.uniform(-np.pi, np.pi, (2, 1000))
    d[:50] = 0.5
    starts = np.column_stack([d * np.cos(bearing), d * np.sin(bearing), phi])
    seconds = 10.0 * 0.5 / speed
    block, out = evaluation(Ideal(speed_m_s=speed, seconds=seconds)), np.zeros((1000, 2))
    distance = np.zeros((1000, round(seconds / 0.01)))
    approach_entry(block.address, starts, 0.050, out, distance)
    assert out[:, 0].max() <= seconds  # nan is not
    assert out[:, 1].min() >= 0.499


@compiled
def test_a_robot_inside_the_cylinder_only_goes_away():
    """Mobile display, acceptance 15."""
    angle = np.linspace(-np.pi, np.pi, 73)
    starts = np.column_stack([0.3 * np.cos(angle), 0.3 * np.sin(angle), angle])
    block, out, distance = evaluation(Ideal(seconds=5.0)), np.zeros((73, 2)), np.zeros((73, 500))
    approach_entry(block.address, starts, 0.050, out, distance)
    for row in distance:
        outside = int(np.argmax(row >= 0.5))
        assert outside > 0
        assert (np.diff(row[: outside + 1]) > 0.0).all()


@compiled
def test_reachable_areas_are_the_references():
    """Mobile display, acceptance 16.  Reach at 0.1 m/s: 0.23 m along the axes; 15 deg beside sideways it is 0.236 m."""
    areas = [region(Ideal(speed_m_s=v))[1].sum() * 0.04**2 for v in (0.1, 0.2, 0.3, 0.4, 0.5)]
    assert areas == pytest.approx([0.138, 0.309, 0.528, 0.824, 1.174], rel=0.05)
    slow_turn = region(Ideal(turn_rad_s=math.radians(45.0)))[1].sum() * 0.04**2
    assert slow_turn == pytest.approx(areas[-1], rel=0.02)
    angle, d = np.meshgrid(np.linspace(-np.pi, np.pi, 72), np.arange(0.237, 0.8, 0.01))
    rows = np.column_stack([(d * np.cos(angle)).ravel(), (d * np.sin(angle)).ravel(), *np.zeros((2, d.size))])
    assert not reached(Ideal(speed_m_s=0.1), rows).any()
    axes = 0.2301 * np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0]])
    assert not reached(Ideal(speed_m_s=0.1), axes).any()


@compiled
def test_largest_turns_on_the_spot_are_the_references():
    """Mobile display, acceptance 17."""
    turns = [largest_turn_deg(Ideal(speed_m_s=v)) for v in (0.1, 0.2, 0.3, 0.4, 0.5)]
    assert turns == pytest.approx([15, 22, 29, 36, 42], abs=2.0)


@pytest.mark.nojit
@pytest.mark.parametrize("vmax", [0.2, 0.5])
def test_the_velocity_law_caps_stops_and_slows_in_proportion(vmax):
    """Mobile display, acceptance 18."""
    rng = np.random.default_rng(18)
    d = np.r_[rng.uniform(0.0, 0.05, 100), rng.uniform(0.05, 0.3, 100), rng.uniform(0.3, 3.0, 100)]
    angle = rng.uniform(-np.pi, np.pi, 300)
    e = np.column_stack([d * np.cos(angle), d * np.sin(angle)])
    rows = np.column_stack([e, rng.normal(0.0, 0.4, (300, 2)), rng.uniform(-9.0, 9.0, (300, 2))])
    out, wmax = np.zeros((300, 5)), math.radians(40.0)
    velocity_door(np.ascontiguousarray(rows), np.array([vmax, 0.05, 0.3, 4.0, 2.0, wmax, math.radians(2.0)]), out)
    speed = np.hypot(out[:, 0], out[:, 1])
    assert speed.max() <= vmax + 1e-9
    assert (out[d < 0.05, :2] == 0.0).all()
    slow = (d >= 0.05) & (d < 0.3)
    assert speed[slow] == pytest.approx(vmax * d[slow] / 0.3, abs=1e-9)
    assert (out[:, :2] * e).sum(axis=1) == pytest.approx(speed * d, abs=1e-12)  # along e
    assert np.hypot(out[:, 2], out[:, 3]).max() <= vmax + 1e-9
    assert np.abs(out[:, 4]).max() <= wmax + 1e-9
    error = np.angle(np.exp(1j * (rows[:, 4] - rows[:, 5])))
    big = np.abs(error) > math.radians(2.0)
    assert (np.sign(out[big, 4]) == np.sign(error[big])).all()
    assert (out[~big, 4] == 0.0).all()


@pytest.mark.nojit
@pytest.mark.parametrize("approach", [0.0, 0.4])
def test_the_barrier_holds_or_retreats_at_the_cap(approach):
    rows = scenes(600, seed=7)
    rng = np.random.default_rng(8)
    v = rng.normal(0.0, 0.3, (600, 2))
    v *= np.minimum(1.0, 0.5 / np.linalg.norm(v, axis=1))[:, None]
    out = np.zeros((600, 2))
    barrier_door(np.ascontiguousarray(np.column_stack([v, rows[:, :4], np.full(600, approach)])),
                 np.array([0.60, 2.0, 0.5, 0.1]), out)  # fmt: skip
    n = rows[:, :2] - rows[:, 2:4]
    d = np.linalg.norm(n, axis=1)
    n /= d[:, None]
    along, need = (out * n).sum(axis=1), approach - 2.0 * (d - 0.60)
    assert ((along >= need - 1e-9) | (along >= 0.5 - 1e-9)).all()
    assert np.linalg.norm(out, axis=1).max() <= 0.5 + 1e-9
    free = (v * n).sum(axis=1) >= need
    assert (out[free] == v[free]).all()  # and nothing else is touched


@pytest.mark.nojit
def test_the_trunk_is_found_behind_a_swaying_head_without_lag():
    """Mobile display, 4.9: low-pass 0.3 s, 0.08 m behind the gaze; a steady walk is not lagged behind."""
    t = np.arange(0.0, 8.0, 1.0 / 180.0)
    heads = np.column_stack([0.4 * t + 0.02 * np.sin(2 * np.pi * t) + 0.08 * np.sin(0.3),
                             0.08 * np.cos(0.3) + 0.0 * t, 0.3 + 0.0 * t])  # fmt: skip
    swings = []
    for seconds in (0.0, 0.3, 0.6):
        block, out = Block(new_planner(Follower(user_s=seconds))), np.zeros((len(t), 4))
        see_door(block.address, np.ascontiguousarray(heads), 1.0 / 180.0, out)
        late = t >= 6.0
        error = out[late, 0] - 0.4 * t[late]
        assert abs(error.mean()) < 2e-3
        assert np.abs(out[late, 1]).max() < 1e-9
        assert out[late, 2].mean() == pytest.approx(0.4, abs=0.01)
        swings.append(np.ptp(error))
    assert swings[0] == pytest.approx(0.040, rel=1e-3)
    assert swings[1] < 0.9 * 0.040
    assert swings[2] < 0.6 * 0.040


def led(planner, robot, hand, steps, user=(0.0, 0.0)):
    """An ideal robot led by plans; its path and the plans' rows."""
    block, path, plans, h = Block(planner), [tuple(robot)], [], planner.dt
    see_door(block.address, np.array([[user[0], user[1], 0.0]]), 1e-3, np.zeros((1, 4)))
    for _ in range(steps):
        out = np.zeros((1, 6))
        plan_door(block.address, np.array([[*robot, *hand, 0.0]]), out)
        robot = [robot[i] + h * out[0, i] for i in range(3)]
        path.append(tuple(robot))
        plans.append(out[0])
    return np.array(path), np.array(plans)


@pytest.mark.nojit
@pytest.mark.parametrize("follower", [THESIS, IMPROVED])
def test_a_planned_robot_arrives_and_faces_the_user(follower):
    planner = new_planner(follower, head_ahead_m=0.0)
    path, plans = led(planner, [0.9, -0.5, 2.0], (0.0, 0.6), 20 * follower.rate_hz)
    assert np.linalg.norm(path[-1, :2] - [0.0, 0.85]) <= 0.051
    assert abs(math.remainder(path[-1, 2], 2.0 * math.pi)) < math.radians(6.0)
    assert np.hypot(*path[:, :2].T).min() >= 0.50
    assert np.hypot(plans[:, 0], plans[:, 1]).max() <= 0.5 + 1e-9
    assert np.abs(plans[:, 2]).max() <= follower.turn_rad_s + 1e-9


@compiled
@pytest.mark.parametrize("seed", range(6))
def test_no_obstacle_of_the_room_is_driven_into(seed):
    """Mobile display, 6.3: whatever stands there; the target may be behind it or inside."""
    rng = np.random.default_rng(seed)
    polygons = []
    for _ in range(4):
        centre, r, turn = rng.uniform(-2.5, 2.5, 2), rng.uniform(0.15, 0.4), rng.uniform(0.0, 6.0)
        polygons.append(
            [tuple(centre + r * np.array([math.cos(a + turn), math.sin(a + turn)])) for a in (0.0, 2.1, 4.2)]
        )
    room = room_of(polygons, (-3.0, -3.0), (3.0, 3.0))
    free = np.argwhere(room.clear > 0.1)
    z, x = free[rng.integers(len(free))] * room.origin[2] - 3.0
    user = rng.uniform(-1.5, 1.5, 2)
    if math.hypot(x - user[0], z - user[1]) < 0.7:
        x, z = (2.6, 2.6) if room.clear[112, 112] > 0.1 else (-2.6, -2.6)
    for follower in (THESIS.fast(), IMPROVED):
        planner = new_planner(follower, Safety(), room, head_ahead_m=0.0)
        path, plans = led(planner, [x, z, 0.0], user + [0.0, 0.6], 20 * follower.rate_hz, user)
        start = plans[0, 5]
        assert plans[:, 5].min() >= min(start, 0.0) - 0.011, "drove into an obstacle"
        assert np.hypot(path[:, 0] - user[0], path[:, 1] - user[1]).min() >= 0.5


@compiled
def test_a_column_on_the_way_is_gone_round():
    """Mobile display, 6.3."""
    room = room_of([[(-0.1, 1.5), (0.2, 1.5), (0.2, 1.8), (-0.1, 1.8)]], (-3.0, -1.0), (3.0, 4.0))
    planner = new_planner(THESIS.fast(), Safety(), room, head_ahead_m=0.0)
    path, plans = led(planner, [0.15, 2.4, 0.0], (0.0, 0.6), 300)
    assert np.linalg.norm(path[-1, :2] - [0.0, 0.85]) < 0.06
    assert plans[:, 5].min() > 0.0
    blind = led(new_planner(THESIS.fast(), head_ahead_m=0.0), [0.15, 2.4, 0.0], (0.0, 0.6), 300)[0]
    between = blind[(blind[:, 1] > 1.5) & (blind[:, 1] < 1.8)]
    assert ((between[:, 0] > -0.1) & (between[:, 0] < 0.2)).any()  # without the room it drives through it


@compiled
def test_a_target_inside_an_obstacle_moves_along_the_circle():
    """Mobile display, 6.3."""
    room = room_of([[(-0.1, 0.8), (0.2, 0.8), (0.2, 1.1), (-0.1, 1.1)]], (-3.0, -3.0), (3.0, 3.0))
    path, plans = led(new_planner(IMPROVED, Safety(), room, head_ahead_m=0.0), [-0.85, 0.0, 0.0], (0.0, 0.6), 1000)
    assert math.hypot(*path[-1, :2]) == pytest.approx(0.85, abs=0.03)
    assert plans[-1, 5] > 0.0
    assert math.degrees(math.atan2(-path[-1, 0], path[-1, 1])) < 50.0  # as near to the hand as it is free
    assert np.abs(plans[-50:, :2]).max() < 0.02  # and rests there


def test_bad_settings_are_one_clear_line():
    for make, words in (
        (lambda: Follower(speed_m_s=-0.1), "speed_m_s"), (lambda: Follower(rate_hz=0), "rate_hz"),
        (lambda: Safety(margin_m=math.nan), "margin_m"), (lambda: Ideal(step_s=0.0), "step_s"),
        (lambda: new_planner(Follower(distance_m=0.5)), "too near"),
        (lambda: room_of([], (0.0, 0.0), (0.1, 0.1)), "no place"),
        (lambda: room_of([[(0.0, 0.0), (1.0, 1.0)]], (-3.0, -3.0), (3.0, 3.0)), "three corners"),
        (lambda: reached(Ideal(), np.zeros((3, 3))), "shape"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            make()
