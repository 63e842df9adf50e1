"""The inbox of a station: other clocks, and streams as bad as networks make them.  Mobile display, 1.1, 1.4 and 2.2."""

import math
import threading

import numpy as np
import pytest

from palpate.jit import Block
from palpate.mobile.adapters.inbox import CAPACITY, Judging, PoseInbox, into
from palpate.mobile.adapters.source import Pose, in_world
from palpate.mobile.geometry import frames
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.geometry.kinematics import Kinematics
from tests.mobile.adapter_doors import robot_door, take_door
from tests.waiting import until

COUNTS = ("used", "lost", "absurd", "doubled", "stale", "future", "hung", "missed", "waiting")
PROMPT = Judging(latency_s=0.0)


class Reader:
    """An inbox, and what was taken from it: rows of tick, sample tick, x, y, z, phi."""

    def __init__(self, judging=PROMPT):
        self.box = PoseInbox(judging)
        self.inbox, self.block = self.box.inbox, Block(self.box.inbox)
        self.rows, self.sent = [], 0

    def put(self, t, place=(0.0, 0.0, 0.0), q=(1.0, 0.0, 0.0, 0.0), lost=False):
        self.box.put(Pose(0, t, place, q, lost))
        self.sent += 1

    def take(self, k):
        out = np.zeros((CAPACITY + 2, 5))
        take_door(self.block.address, k, out)
        found = [(k, *row) for row in out[: int(out[-1, 0])].tolist()]
        self.rows += found
        return found

    def counts(self):
        return {name: getattr(self.inbox, name) for name in COUNTS if getattr(self.inbox, name)}

    def stream(self, begin, end, every=5, shift=0.0, place=(0.0, 0.0, 0.0), noise=1e-4, late=0):
        """Poses of a station that stands, one every so many ticks; its clock is ahead by `shift` [s]."""
        rng = np.random.default_rng(begin)
        for k in range(begin, end):
            if k % every == 0:
                x, y, z = (np.array(place) + noise * rng.normal(size=3)).tolist()
                self.put((k - late) * 1e-3 + shift, (x, y, z))
            self.take(k)


def turned(phi):
    """(w, x, y, z) of a heading: a turn about y, the other way."""
    return math.cos(phi / 2), 0.0, -math.sin(phi / 2), 0.0


# ---- headings


@pytest.mark.nojit
def test_the_heading_is_that_of_the_references_matrices():
    """Mobile display, 2.2: a station of the tracker on the ceiling; the device's front is (sin phi, 0, -cos phi)."""
    chain, reader = Chain(), Reader()
    at_zero = (frames.world_from_tracker(chain) @ frames.tracker_from_sensor(0.0, (0, 0, 0)))[:3, :3]
    device_at_zero = at_zero.T @ (
        frames.world_from_tracker(chain) @ frames.tracker_from_sensor(0.0, (0, 0, 0)) @ frames.sensor_from_robot(chain)
        @ frames.robot_from_device(chain)
    )[:3, :3]  # fmt: skip
    reader.put(0.0)
    reader.take(0)
    for k, phi in enumerate(np.linspace(-math.pi + 1e-6, math.pi, 40).tolist(), 1):
        raw = Pose(0, 1e-3 * k, (0.0, 0.0, 0.0), (math.cos(phi / 2), 0.0, 0.0, math.sin(phi / 2)))  # about its z
        pose = in_world(raw, "tracker", 0.0)
        reader.box.put(pose)
        ((_, _, _, _, _, found),) = reader.take(k)
        now = (frames.world_from_tracker(chain) @ frames.tracker_from_sensor(found, (0, 0, 0)))[:3, :3]
        assert found == pytest.approx(phi, abs=1e-12)
        assert now @ at_zero.T == pytest.approx(rotation(pose.quaternion), abs=1e-12)
        front = (now @ device_at_zero)[:, 2]
        assert front == pytest.approx([math.sin(phi), 0.0, -math.cos(phi)], abs=1e-12)
        assert rotation(pose.quaternion) @ [0.0, 0.0, -1.0] == pytest.approx(front, abs=1e-12)


@pytest.mark.nojit
def test_a_station_stands_on_its_robot_as_the_chain_says():
    """Mobile display, 2.2 and 3.3: offsets, psi and harmonics; by the kinematics, which take the tracker's frame."""
    rng = np.random.default_rng(22)
    chain = Chain(psi_rad=0.1, harmonics_rad=(0.01, -0.02, 0.03, 0.004))
    S, phi_t = rng.uniform(-2, 2, (20, 3)), rng.uniform(-3, 3, 20)
    expected = Kinematics(chain).poses(phi_t, S, np.zeros((20, 3)))
    world = S @ frames.world_from_tracker(chain)[:3, :3].T + [0.0, chain.ceiling_m, 0.0]
    out, block = np.zeros((20, 4)), Block(chain.linkage)
    robot_door(block.address, np.column_stack([world, phi_t]), out)
    assert out[:, :3] == pytest.approx(expected.robot_m, abs=1e-12)
    assert out[:, 3] == pytest.approx(expected.heading_rad, abs=1e-12)


@pytest.mark.nojit
def test_a_tilt_does_not_change_the_heading_and_minus_a_quaternion_is_the_same():
    """A head that looks down at its hands looks where it looked before."""
    for gaze in (False, True):
        reader = Reader(Judging(latency_s=0.0, gaze=gaze))
        reader.put(0.0)
        reader.take(0)
        k = 0
        for phi in np.linspace(-3.0, 3.0, 7):
            for tilt in np.radians([-150.0, -90.0, -30.0, 0.0, 60.0, 90.0]):
                for sign in (1.0, -1.0):
                    k += 1
                    (w, _, y, _), c, s = turned(phi), math.cos(tilt / 2), math.sin(tilt / 2)
                    q = (w * c, w * s, y * c, -y * s)  # of the heading, then about the thing's own x
                    reader.put(1e-3 * k, q=tuple(sign * part for part in q))
                    ((*_, found),) = reader.take(k)
                    looks = (math.sin(found), math.cos(found) if gaze else -math.cos(found))
                    assert looks == pytest.approx((math.sin(phi), -math.cos(phi)), abs=1e-12)
                    assert -math.pi < found <= math.pi


def rotation(q):
    """(3, 3) of (w, x, y, z)."""
    (w, *u), i = q, np.eye(3)
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return i + 2.0 * w * K + 2.0 * K @ K


# ---- clocks


@pytest.mark.parametrize("shift_s", [0.0, -3.7, 1.8e9, -1e6])
def test_sample_ticks_do_not_depend_on_the_sources_clock(shift_s):
    """Whatever it shows: what came soonest was under way for the latency, and all others as much longer."""
    rng = np.random.default_rng(1)
    reader = Reader(Judging(latency_s=0.006))
    due = {}
    for k in range(20, 3000, 5):
        due.setdefault(k + 6 + int(rng.exponential(1.0)), []).append(k)
    for now in range(3050):
        for k in due.get(now, []):
            reader.put(1e-3 * k + shift_s, (1e-3 * k, 0.0, 0.0))
        reader.take(now)
    ticks, truth = np.array([row[1] for row in reader.rows]), np.array([1e3 * row[2] for row in reader.rows])
    assert len(ticks) > 550
    settled = truth > 300
    assert np.abs(ticks - truth)[settled].max() <= 1.0 + 1e-6


@pytest.mark.parametrize("drift", [-2e-4, 2e-4])
def test_a_clock_that_drifts_is_followed(drift):
    """200 us a second, four times what quartz does, for a minute: 12 ms, which would be 6 mm at 0.5 m/s."""
    reader = Reader()
    for k in range(0, 60_000, 10):
        reader.put(1e-3 * k * (1.0 + drift), (1e-6 * (k % 7), 0.0, 0.0))
        reader.take(k)
    error = np.array([row[0] - row[1] for row in reader.rows])
    assert len(error) > 5990
    assert error[100:].min() >= 0
    assert error[100:].max() <= 1


def test_a_clock_that_was_set_is_believed_after_a_silence():
    """The tracker's computer starts anew at zero, or its clock is set ahead: a while of nothing, then all is well."""
    for jump_s, while_ in ((-50.0, 210), (50.0, 60), (1e6, 60)):
        reader = Reader()
        reader.stream(0, 1000, shift=100.0)
        reader.stream(1000, 2000, shift=100.0 + jump_s)
        taken = np.array([row[0] for row in reader.rows])
        assert np.diff(taken).max() == pytest.approx(while_, abs=10)
        assert reader.inbox.starts == 2
        assert [row[0] - row[1] for row in reader.rows[-50:]] == [0] * 50
        assert np.diff([row[1] for row in reader.rows]).min() > 0


@pytest.mark.nojit
@pytest.mark.parametrize(("later_s", "place"), [(0.03, (0.0, 0.0, 0.0)), (0.001, (0.3, 0.0, 0.0)), (-0.001, (0.0,) * 3),
                                                (0.0, (0.0,) * 3), (5.0, (0.0,) * 3)])  # fmt: skip
def test_two_poses_that_do_not_agree_do_not_begin(later_s, place):
    """About the clock, the place, or which was first; the next one that agrees with the last does."""
    reader = Reader()
    reader.put(1.0)
    reader.take(10)
    reader.put(1.0 + later_s, place)
    assert reader.take(11) == []
    assert reader.counts() == {"waiting": 2}
    reader.put(1.002 + later_s, place)
    assert len(reader.take(13)) == 1


def test_a_tick_that_was_held_up_goes_on():
    """Ticks that are missing, which no tracker waits for: for the tick all poses come sooner than they can."""
    reader = Reader()
    reader.stream(0, 1000)
    reader.stream(1000, 2000, shift=0.3)  # 300 ticks were never made
    taken = np.array([row[0] for row in reader.rows])
    assert np.diff(taken).max() == pytest.approx(60, abs=10)
    assert [row[0] - row[1] for row in reader.rows[-50:]] == [0] * 50


def test_one_pose_of_a_wrong_time_does_not_move_the_clock():
    """A time stamp of the future, or of the past, among right ones."""
    reader = Reader()
    reader.stream(0, 500)
    for wrong_s in (0.6, 5.0, 1e9):
        reader.put(0.5 + wrong_s)
    for wrong_s in (-0.1, -1e9):
        reader.put(0.5 + wrong_s)
    reader.stream(500, 1000)
    assert reader.inbox.future == 3
    assert reader.inbox.stale == 2
    assert np.diff([row[0] for row in reader.rows]).max() <= 5
    assert [row[0] - row[1] for row in reader.rows] == [0] * len(reader.rows)


def test_poses_that_were_held_up_keep_their_times():
    """A network that stops for 0.3 s and then delivers all: they are old, and are not taken for new ones."""
    reader = Reader()
    reader.stream(0, 1000)
    for k in range(1000, 1300, 5):
        reader.put(1e-3 * k, (1e-6 * k, 0.0, 0.0))
    found = reader.take(1300)
    assert [row[1] for row in found] == list(range(1000, 1300, 5))
    assert reader.inbox.starts == 1


# ---- what is dropped


def test_everything_that_was_put_is_used_or_counted():
    """Of a fuzz of all faults: the counts add up, and nothing absurd comes through."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        reader, kinds = Reader(Judging(room_m=5.0)), rng.integers(0, 12, 4000)
        for k, kind in enumerate(kinds.tolist()):
            t, place, q, lost = 1e-3 * (k - int(rng.exponential(3.0))), rng.normal(0.0, 0.01, 3), turned(0.1), False
            if kind == 0:
                place = rng.choice([math.nan, math.inf, 1e300, -1e300, 10.0, 4.9], 3)
            elif kind == 1:
                q = tuple(rng.normal(size=4).tolist())
            elif kind == 2:
                t += float(rng.choice([-1e300, 1e300, math.nan, -math.inf, 3600.0, -3600.0]))
            elif kind == 3:
                lost, place = True, np.full(3, math.nan)
            for _ in range(1 + (kind == 4) + 100 * (kind == 5 and k % 50 == 0)):
                reader.put(t, tuple(place.tolist()), q, lost)
            if kind != 6:
                reader.take(k)
        reader.take(5000)
        counts = reader.counts()
        assert sum(counts.values()) == reader.sent
        assert set(counts) >= {"used", "lost", "absurd", "doubled", "stale", "future", "missed"}
        rows = np.array(reader.rows)
        assert np.isfinite(rows).all()
        assert np.abs(rows[:, 2:5]).max() <= 5.0
        assert (rows[:, 1] <= rows[:, 0]).all()  # never of the future
        assert (np.diff(rows[:, 1]) > 0).all()
        assert counts["used"] > 1000


ABSURD = [
    (math.nan, 0.0, 0.0), (0.0, math.inf, 0.0), (1e300, 0.0, 0.0), (0.0, 0.0, -1e300),
    (10.0, 0.0, 0.0), (0.0, 21.0, 0.0),
]  # fmt: skip


@pytest.mark.nojit
@pytest.mark.parametrize("place", ABSURD)
def test_an_absurd_place_is_dropped(place):
    """Mobile display, 1.4: no number, out of the world, ten metres away, another floor."""
    reader = Reader()
    reader.stream(0, 50)
    used = reader.inbox.used
    reader.put(0.0501, place)
    assert reader.take(51) == []
    assert reader.counts()["absurd"] == 1
    reader.stream(52, 80)
    assert reader.inbox.used > used


@pytest.mark.nojit
@pytest.mark.parametrize("q", [(0.0, 0.0, 0.0, 0.0), (math.nan, 0.0, 0.0, 0.0), (2.0, 0.0, 0.0, 0.0),
                               (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)])  # fmt: skip
def test_what_is_no_orientation_of_a_thing_that_stands_is_dropped(q):
    """No quaternion, or upside down: it has no heading."""
    reader = Reader()
    reader.put(0.0)
    reader.put(0.001, q=q)
    reader.put(0.002)
    assert len(reader.take(3)) == 1
    assert reader.counts() == {"used": 1, "absurd": 1, "waiting": 1}


@pytest.mark.nojit
def test_a_sample_that_is_sent_twice_is_used_once():
    """Mobile display, 1.1: 180 samples a second, 190 packets."""
    reader = Reader()
    for k in range(0, 100, 5):
        for _ in range(1 + (k % 3 == 0)):
            reader.put(1e-3 * k, (1e-6 * k, 0.0, 0.0))
        reader.take(k)
    assert reader.counts() == {"used": 19, "doubled": 6, "waiting": 2}


def test_a_tracker_that_hangs_with_the_same_time_stamp_is_silent():
    reader = Reader()
    reader.stream(0, 200)
    used = reader.inbox.used
    for k in range(200, 2000, 5):
        reader.put(0.195, (0.0, 0.0, 0.0))
        reader.take(k)
    assert (reader.inbox.used, reader.inbox.starts) == (used, 1)
    assert reader.inbox.doubled == 360


def test_a_tracker_that_hangs_with_fresh_time_stamps_is_silent_after_a_while():
    """The same to the last bit for 0.3 s is no tracker's noise; as soon as it differs it is believed again."""
    reader = Reader()
    reader.stream(0, 200)
    reader.stream(200, 1200, noise=0.0)
    assert reader.rows[-1][0] == 500
    assert reader.inbox.hung == 139
    reader.stream(1200, 1300)
    assert reader.rows[-1][0] == 1295
    still = Reader(Judging(latency_s=0.0, frozen_s=0.0))
    still.stream(0, 2000, noise=0.0)
    assert still.rows[-1][0] == 1995


def test_a_station_that_was_carried_away_is_found_after_a_silence():
    """In the same room; two poses that agree, after 0.2 s of what looked absurd."""
    reader = Reader()
    reader.stream(0, 500)
    reader.stream(500, 1000, place=(3.0, 0.0, -2.0))
    places = np.array([row[2:5] for row in reader.rows])
    moved = np.argmax(places[:, 0] > 1.0)
    assert reader.rows[moved][0] - reader.rows[moved - 1][0] == pytest.approx(210, abs=10)
    assert np.linalg.norm(places[moved:] - [3.0, 0.0, -2.0], axis=1).max() < 1e-2


def test_a_tick_that_was_stopped_finds_the_newest_poses():
    """More than the ring holds: the oldest are missed, and counted."""
    reader = Reader()
    reader.stream(0, 100)
    for k in range(100, 600):
        reader.put(1e-3 * k, (1e-6 * k, 0.0, 0.0))
    found = reader.take(600)
    assert [row[1] for row in found] == pytest.approx(np.arange(600 - CAPACITY, 600), abs=1)
    assert reader.inbox.missed == 500 - CAPACITY


@pytest.mark.nojit
def test_after_a_reset_of_the_tick_poses_are_taken_again():
    reader = Reader()
    reader.stream(1000, 1030)
    taken = len(reader.rows)
    for k in range(0, 30, 5):
        reader.put(2.0 + 1e-3 * k, (1e-6 * k, 0.0, 0.0))
        reader.take(k)
    assert [row[1] for row in reader.rows[taken:]] == [5, 10, 15, 20, 25]


def test_a_source_in_another_thread_is_heard():
    """What a thread puts arrives whole, in order, once each or is counted."""
    reader, n = Reader(Judging(latency_s=0.0, gate_m=5.0)), 20_000
    deliver = into({0: reader.box})

    def work():
        for k in range(1, n + 1):
            x = float(k) / n
            deliver(Pose(0, 1e-3 * k, (x, x, x), turned(x)))
            deliver(Pose(7, 1e-3 * k, (x, x, x), turned(x)))  # nobody asked for this station

    thread = threading.Thread(target=work)
    thread.start()

    def all_came():
        reader.take(n + 10)
        return sum(reader.counts().values()) == n

    until(all_came, reader.counts)
    thread.join()
    rows = np.array(reader.rows)
    assert (rows[:, 2] == rows[:, 3]).all()  # none was torn
    assert rows[:, 5] == pytest.approx(rows[:, 2], abs=1e-12)
    assert (np.diff(rows[:, 1]) > 0).all()


# ---- settings


@pytest.mark.parametrize(("settings", "says"), [
    ({"latency_s": -0.001}, "latency_s is -0.001; it must be 0 or more"),
    ({"latency_s": 0.2}, "poses as old as 0.2 s are of no use"),
    ({"room_m": 0.0}, "room_m is 0.0; it must be positive"),
    ({"room_m": 1e4}, "no room is larger than 100 m"),
    ({"gate_m": math.nan}, "gate_m is nan"),
    ({"speed_m_s": math.inf}, "speed_m_s is inf"),
])  # fmt: skip
def test_settings_that_make_no_sense_are_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        Judging(**settings)
