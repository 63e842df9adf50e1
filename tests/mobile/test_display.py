"""A display in a World: person, trackers, estimate, planner, base and arm together.  Mobile display, 1, 4, 5 and 8."""

import math
from dataclasses import replace

import numpy as np
import pytest

from palpate import jit
from palpate.mobile.display.configuration import Who
from palpate.mobile.planning.planner import IMPROVED, THESIS
from palpate.mobile.prediction import Prediction
from palpate.mobile.tracker import Tracker
from palpate.mobile.users import explore, turn, walk
from tests.mobile.walks import UNBIASED, WALL_M, WORST, Walk, rig, walking

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="a World's tick needs the compiler")

HOLD = Prediction(method="hold", bleed=False)
CASES = {"quiet": (UNBIASED, Prediction(), 1.2), "worst": (Tracker().worst(), WORST, 5.0)}


@pytest.mark.parametrize("towards_deg", [0.0, 90.0, -130.0])
@pytest.mark.parametrize("case", CASES)
def test_the_hip_neither_leaps_nor_strays_while_the_person_walks(case, towards_deg):
    """Acceptance 24, in the whole system: steps of at most 0.15 mm beyond the true motion; 1.2 and 5 mm rms."""
    tracker, prediction, most_mm = CASES[case]
    events = [walk(0.5, 4.0, 0.5, towards_deg), turn(1.5, 1.5, 40.0)]
    with walking(*events, wall_m=9.0, rig=rig(tracker, prediction=prediction), seed=int(towards_deg) % 7) as w:
        w.seconds(5.0)
        assert w["mobile_step_mm"].max() <= 0.15
        assert math.sqrt((w["mobile_error_mm"] ** 2).mean()) <= most_mm
        assert (w["mobile_trips"] == 0).all()
        # and the law of the estimate itself holds for what rendering used
        moved = np.hypot(*np.diff(w["mobile_seen"][:, 0, :2], axis=0).T)
        assert moved.max() <= (0.5 + 0.1 + 0.03) * 1e-3


@pytest.mark.parametrize(("speed", "seed"), [(0.1, 1), (0.3, 2), (0.4, 3)])
def test_a_wall_is_felt_when_the_walking_hand_reaches_it_and_as_it_is_asked_for(speed, seed):
    """At most 28 ms late, from 0.1 N on; at most 0.15 N rms between what is sent and what the hand feels."""
    seconds = (WALL_M - 0.6 + 0.004) / speed + 0.2  # 4 mm beyond, 0.2 s of ramp
    with walking(walk(0.2, seconds, speed), seed=seed) as w:
        w.seconds(0.2 + seconds + 1.0)
        reached = int(np.argmax(w["mobile_hand"][:, 0, 2] >= WALL_M))
        felt = int(np.argmax(w["mobile_given_N"][:, 0] * (w["device_body_force"][:, 0] != 0).any(axis=1) > 0.1))
        assert 0 < reached <= felt <= reached + 28 + 0.1 / (1000.0 * speed) * 1e3
        in_contact = slice(felt + 100, None)
        sent = np.linalg.norm(w["device_force"][in_contact, 0], axis=1)
        assert math.sqrt(((w["mobile_given_N"][in_contact, 0] - sent) ** 2).mean()) <= 0.15
        assert sent.mean() > 0.5


def test_a_held_pose_trips_the_devices_protection_and_a_predicted_one_does_not():
    """Acceptance 25."""
    events = [walk(0.5, 2.0, 0.2, 90.0), turn(0.5, 2.0, 60.0), walk(2.6, 2.0, 0.2, -90.0), turn(2.6, 2.0, -60.0)]
    slow = replace(THESIS, activation_m=0.0)
    with walking(*events, wall_m=9.0, rig=rig(Tracker(), prediction=HOLD, follower=slow)) as w:
        w.seconds(5.5)
        assert w["mobile_trips"][-1, 0] > 0
    with walking(*events, wall_m=9.0, rig=rig(Tracker(), follower=slow)) as w:
        w.seconds(5.5)
        assert w["mobile_trips"][-1, 0] == 0


@pytest.mark.slow
def test_a_predicted_pose_trips_no_protection_in_a_minute_of_walking():
    """Acceptance 25, for its 60 s."""
    with walking(*explore(5, 60.0, 0.45), wall_m=90.0, rig=rig(Tracker())) as w:
        w.run.keep = False
        w.seconds(59.0)
        w.run.keep = True
        w.seconds(1.0)
        assert w["mobile_trips"][-1, 0] == 0


def pressing() -> Walk:
    """A person whose hand is 6 mm behind the wall, the device in contact."""
    w = walking(walk(0.2, (WALL_M - 0.6 + 0.006) / 0.4 + 0.2, 0.4))
    w.seconds(5.5)
    assert w["mobile_asked_N"][-1, 0] > 0.5
    assert np.abs(w["device_force"][-1, 0]).max() > 0.5
    return w


def silenced(w: Walk, what: str) -> None:
    one = w.displays.each[0]
    if what == "the robot's tracker":
        one.body.stopped = 1
    elif what == "the head's tracker":
        one.head.stopped = 1
    elif what == "the base":
        one.display.silent = 1
    else:  # all packets are lost
        one.body.loss = one.head.loss = 1.0


@pytest.mark.parametrize("what", ["the robot's tracker", "the base", "the network"])
def test_silence_takes_force_away_and_stops_the_base(what):
    """Acceptance 26: 300 ms without a pose, and |F| = 0 and the command is 0."""
    with pressing() as w:
        silenced(w, what)
        w.seconds(0.35)
        assert (w["device_force"][-1] == 0.0).all()
        assert (w["mobile_command"][-1] == 0.0).all()
        assert w["mobile_lost"][-1, 0] == 1
        forces = np.linalg.norm(w["device_force"][-350:, 0], axis=1)
        assert (np.diff(forces) < 0.5).all()  # it never rises faster than it may


def test_a_person_who_is_not_seen_stops_the_base():
    with walking(walk(0.5, 5.0, 0.3, 90.0)) as w:
        w.seconds(2.0)
        assert np.hypot(*w["mobile_command"][-1, 0, :2]) > 0.1
        silenced(w, "the head's tracker")
        w.seconds(0.35)
        assert (w["mobile_command"][-1] == 0.0).all()
        assert w["mobile_lost"][-1, 0] == 1


def test_a_tracker_that_comes_back_elsewhere_gives_force_from_nothing():
    """Carried by a meter while nobody looked: no force before two packets agree, and then it rises."""
    with pressing() as w:
        one = w.displays.each[0]
        silenced(w, "the robot's tracker")
        w.seconds(0.5)
        one.drive.pose = (one.drive.pose[0] + 1.0, one.drive.pose[1], one.drive.pose[2])
        one.body.stopped = 0
        w.seconds(1.5)
        assert w["mobile_packets"][-1, 0, 3] == 1
        forces = np.linalg.norm(w["device_force"][-2000:, 0], axis=1)
        assert np.diff(forces).max() <= 0.5 + 1e-9


def test_a_wheel_that_slips_for_a_second_does_not_make_the_hip_leap():
    with walking(walk(0.5, 4.0, 0.3, 90.0), wall_m=9.0) as w:
        w.seconds(1.5)
        one = w.displays.each[0]
        one.drive.grip = (0.2, 1.0, 1.0)
        w.seconds(1.0)
        one.drive.grip = (1.0, 1.0, 1.0)
        w.seconds(2.0)
        assert w["mobile_step_mm"].max() <= 0.6  # estimate and truth part at most as fast as the wheel slips
        assert w["mobile_error_mm"][-500:].mean() < 5.0
        assert w["mobile_least_m"][-1, 0] > 0.5


def test_rates_are_those_of_the_reference():
    """Acceptance 37."""
    with walking(walk(0.5, 4.0, 0.2, 90.0), rig=rig(follower=THESIS)) as w:
        w.seconds(10.0)
        assert abs(w.run.count - 10_000) <= 1
        for field, wanted, within in (
            ("mobile_plans", 100, 1), ("mobile_driven", 500, 1), ("mobile_visuals", 600, 1), ("mobile_samples", 1800, 2),
        ):  # fmt: skip
            assert abs(int(w[field][-1, 0]) - wanted) <= within, field


def test_a_recorded_walk_is_walked_again_bit_for_bit():
    """Acceptance 36: every logged value."""
    from palpate.mobile.display.recorded import walk_of

    events = explore(11, 4.0, 0.4)
    with Walk([Who(events=events)], rig=rig(Tracker(), sway=True), seed=4) as w:
        w.seconds(4.0)
        rows, frames = walk_of(w.run), w.run.frames
    with Walk([Who(recorded=rows)], rig=rig(Tracker(), sway=True), seed=4) as again:
        again.seconds(4.0)
        offset = again.simulation.layout.offset["mobile_person"]
        replayed = again.run.frames
        assert (replayed[:, offset] != frames[:, offset]).all()  # who walks
        frames[:, offset] = replayed[:, offset]
        assert (replayed == frames).all()


def test_a_reset_is_a_restore_of_the_start():
    with walking(walk(0.2, 3.0, 0.4, 30.0), turn(0.3, 2.0, 50.0), rig=rig(Tracker())) as w:
        w.seconds(2.5)
        first = w.run.frames
        w.simulation.restart()
        w.seconds(2.5)
        again = w.run.frames[len(first) :]
        layout = w.simulation.layout
        for name in ("mobile_robot", "mobile_seen", "mobile_hand", "pose", "mobile_asked_N", "device_position"):
            begin = layout.offset[name]
            words = slice(begin, begin + int(np.prod(layout.shape[name], dtype=int)))
            assert (first[:, words] == again[:, words]).all(), name
