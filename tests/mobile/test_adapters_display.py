"""A display behind its inboxes, in simulated time, over networks and trackers of every badness.

Mobile display, acceptance 26.  A user stands, the base follows the hand: its true pose is sampled, packed, sealed, and
whatever the test's network does to packets is done to them before they come to the inboxes of base and head.
"""

import math
import zlib
from collections import Counter

import numpy as np
import pytest

from palpate import jit
from palpate.jit import Block
from palpate.mobile.adapters.inbox import Judging, PoseInbox
from palpate.mobile.adapters.orders import OrderBook
from palpate.mobile.adapters.packets import pack, unpack
from palpate.mobile.adapters.source import HEAD, ROBOT, Malformed, Pose
from palpate.mobile.estimate.prediction import Prediction, new_predictor
from palpate.mobile.hardware.base import Base, new_drive
from palpate.mobile.planning.planner import IMPROVED, new_planner
from tests.mobile.adapter_doors import display_door

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="tens of thousands of ticks")

EVERY = 5  # ticks between samples
START = (1.0, 1.6, 0.3)  # of the base: the hand is at (0, 0.6), it has 1.2 m to go
LOST, FADE, LAST, VX, VZ, VPHI, OUT_X, OUT_Z, OUT_PHI = range(9)


def good(rng, k, packet):
    """[(delay in ticks, packet)]: what a network makes of one."""
    return [(6 + int(rng.exponential(1.0)), packet)]


def bad(rng, k, packet):
    """5 % lost, 10 % doubled, one in five delayed so much that others overtake it."""
    copies = 0 if rng.uniform() < 0.05 else 1 + (rng.uniform() < 0.1)
    slow = 40.0 if rng.uniform() < 0.2 else 1.0
    return [(6 + int(rng.exponential(slow)), packet) for _ in range(copies)]


class Display:
    """Runs ticks; `rows` (n, 9) of display_door's numbers, `truth` (n, 3) of the base."""

    def __init__(self, seed=0, clock_s=1.7e9):
        self.rng, self.clock_s, self.k = np.random.default_rng(seed), clock_s, 0
        settings = Judging(room_m=8.0)
        self.boxes = {ROBOT: PoseInbox(settings), HEAD: PoseInbox(Judging(room_m=8.0, gaze=True))}
        self.predictor = new_predictor(Prediction(), START)
        self.planner, self.book = new_planner(IMPROVED), OrderBook()
        self.drive = new_drive(Base(slip=0.0, events_1_s=0.0), START, 3)
        self.block = Block(self.boxes[ROBOT].inbox, self.boxes[HEAD].inbox, self.predictor, self.planner,
                           self.book.orders, self.drive)  # fmt: skip
        self.under_way, self.refused = {}, Counter()
        self.rows, self.truth = [], []

    @property
    def inbox(self):
        return self.boxes[ROBOT].inbox

    def sample(self, station):
        """A pose with a tracker's noise."""
        x, z, phi = self.drive.pose if station == ROBOT else (0.0, 0.08, 0.0)
        y, turn = (0.4, phi) if station == ROBOT else (1.7, math.pi)  # the head looks along +z
        turn += self.rng.normal(0.0, 1e-3)
        place = (np.array([x, y, z]) + self.rng.normal(0.0, 5e-4, 3)).tolist()
        t = self.clock_s + 1e-3 * self.k
        return Pose(station, t, tuple(place), (math.cos(turn / 2), 0.0, -math.sin(turn / 2), 0.0))

    def run(self, ticks, network=good, spoil=lambda pose: pose):
        """spoil: what is wrong with the base's tracker; network: with the ways of both stations."""
        out = np.zeros(9)
        for _ in range(ticks):
            if self.k % EVERY == 0:
                for station in (ROBOT, HEAD):
                    pose = self.sample(station)
                    pose = spoil(pose) if station == ROBOT else pose
                    packet = pose if isinstance(pose, bytes) else pack(pose, self.k)
                    for delay, arriving in network(self.rng, self.k, packet):
                        self.under_way.setdefault(self.k + delay, []).append(arriving)
            for packet in self.under_way.pop(self.k, []):
                self.hear(packet)
            display_door(self.block.address, self.k, out)
            self.rows.append(out.copy())
            self.truth.append(self.drive.pose)
            self.k += 1
        return np.array(self.rows[-ticks:])

    def hear(self, packet):
        try:
            pose = unpack(packet)
        except Malformed as why:
            self.refused[why.kind] += 1
            return
        self.boxes[pose.station].put(pose)

    def error_m(self):
        """Of the output, at all ticks."""
        return np.hypot(*(np.array(self.rows)[:, OUT_X : OUT_Z + 1] - np.array(self.truth)[:, :2]).T)


def stands(rows):
    return (rows[:, VX : VPHI + 1] == 0.0).all()


def test_the_base_follows_through_the_inboxes():
    """What the others are held against: it goes to its target, and the estimate is right."""
    display = Display()
    rows = display.run(6000)
    assert np.hypot(display.drive.pose[0], display.drive.pose[1] - 0.85) < 0.03
    assert rows[300:, LOST].max() == 0.0
    assert rows[300:, FADE].min() == 1.0
    assert display.error_m()[300:].max() < 5e-3
    assert display.inbox.used > 1150


@pytest.mark.parametrize("seed", range(4))
def test_any_network_gives_time_stamps_that_increase_and_a_pose_that_is_right(seed):
    """Mobile display, acceptance 26: re-ordered, doubled, 5 % lost, delayed."""
    display = Display(seed, clock_s=(0.0, 1.7e9, -5.0, 1e6)[seed])
    rows = display.run(6000, bad)
    used = rows[rows[:, LAST] > -1, LAST]
    steps = np.diff(used)
    assert (steps >= 0).all()  # of the predictor: what it used last
    assert display.predictor.stale == 0  # the inbox has dropped what was not newer
    assert display.inbox.stale > 100
    assert display.inbox.doubled > 50
    assert display.predictor.used == display.inbox.used > 700
    assert rows[300:, LOST].max() == 0.0
    assert display.error_m()[300:].max() < 0.01
    assert np.hypot(display.drive.pose[0], display.drive.pose[1] - 0.85) < 0.03


@pytest.mark.parametrize("network", [good, bad])
def test_300_ms_of_silence_take_forces_and_motion_away(network):
    """Mobile display, acceptance 26; and when poses come again, it goes on."""
    display = Display(5)
    moving = display.run(1500, network)
    assert not stands(moving[-100:])
    silent = display.run(400, lambda *_: [])
    last = int(display.predictor.last)
    heard = display.predictor.heard
    quiet = silent[heard + 321 - 1500 :]  # 200 ms, 100 ms of fading, and a period of the planner
    assert len(quiet) > 10
    assert (quiet[:, LOST] == 1.0).all()
    assert (quiet[:, FADE] == 0.0).all()
    assert stands(quiet)
    display.run(1000, network)
    assert display.predictor.last > last
    assert display.rows[-1][FADE] == 1.0
    display.run(5000, network)
    assert np.hypot(display.drive.pose[0], display.drive.pose[1] - 0.85) < 0.03


def test_a_head_that_is_not_seen_stops_the_base():
    """The user's own tracker is silent, the robot's is not: where they are is not known."""
    display = Display(6)
    display.run(1000)
    no_head = lambda rng, k, packet: good(rng, k, packet) if packet[5] == ROBOT else []  # noqa: E731
    rows = display.run(500, no_head)
    assert rows[:, LOST].max() == 0.0
    assert stands(rows[340:])


def test_a_base_that_does_not_answer_stops_as_when_it_is_lost():
    display = Display(7)
    assert not stands(display.run(1000)[-50:])
    display.book.orders.silent = 1
    assert stands(display.run(100)[20:])


# ---- trackers that fail


def after(display, ticks, spoil, network=good):
    """Rows after a second of good poses, two hundred milliseconds and a fade."""
    assert not stands(display.run(1000, network)[-50:])
    return display.run(ticks, network, spoil)


def frozen(fresh):
    """A tracker that gives the same pose for ever, with its own or with fresh time stamps."""
    kept = []

    def spoil(pose):
        kept.append(pose)
        return kept[0]._replace(sampled_s=pose.sampled_s) if fresh else kept[0]

    return spoil


@pytest.mark.parametrize("fresh", [False, True])
def test_a_frozen_tracker_stops_the_base_before_it_has_gone_far(fresh):
    """Mobile display, 1.4: what does not change for 0.3 s is as good as silence."""
    display = Display(8)
    rows = after(display, 1200, frozen(fresh))
    assert (rows[650:, FADE] == 0.0).all()
    assert stands(rows[650:])
    gone = np.linalg.norm(np.subtract(display.drive.pose[:2], display.truth[1000][:2]))
    assert gone < 0.5 * (0.3 + 0.2 + 0.1 + 0.3)  # at full speed until it is noticed, and while it brakes
    assert display.inbox.hung > 100 if fresh else display.inbox.doubled > 100


ABSURD = {
    "ten metres away": lambda pose: pose._replace(position_m=(pose.position_m[0] + 10.0, *pose.position_m[1:])),
    "in another room": lambda pose: pose._replace(position_m=(9.0, 0.4, -9.0)),
    "no orientation": lambda pose: pack(pose)[:32] + bytes(16) + pack(pose)[48:],
    "on its head": lambda pose: pose._replace(quaternion=(0.0, 1.0, 0.0, 0.0)),
    "tracking lost": lambda pose: pose._replace(lost=True),
}


def forged(**changes):
    """Bytes of a packet at their places, whose crc is made right again."""

    def spoil(pose):
        packet = bytearray(pack(pose)[:48])
        for at, new in changes.values():
            packet[at : at + len(new)] = new
        return bytes(packet) + zlib.crc32(packet).to_bytes(4, "little")

    return spoil


FORGED = {
    "not a number": forged(x=(20, b"\x00\x00\xc0\x7f")),
    "1e38": forged(z=(28, b"\x99\x76\x96\x7e")),
    "of the year 30000": forged(t=(12, np.float64(8.8e11).tobytes())),
    "no time": forged(t=(12, np.float64(math.nan).tobytes())),
    "another type": forged(kind=(4, b"\x09")),
    "a station that is not there": forged(station=(5, b"\xf0")),
    "wrong magic": forged(magic=(0, b"MHD2")),
    "wrong crc": lambda pose: pack(pose)[:-1] + bytes([pack(pose)[-1] ^ 1]),
    "cut off": lambda pose: pack(pose)[:40],
}


@pytest.mark.parametrize("kind", [*ABSURD, *FORGED])
def test_absurd_and_forged_poses_are_silence(kind):
    """Mobile display, 1.4 and acceptance 26: the estimate does not follow them, and the base stops."""
    display = Display(9)
    rows = after(display, 500, {**ABSURD, **FORGED}[kind])
    assert np.isfinite(rows).all()
    quiet = rows[330:]
    assert (quiet[:, FADE] == 0.0).all()
    assert stands(quiet)
    assert np.abs(np.diff(rows[:, OUT_X : OUT_Z + 1], axis=0)).max() < 1e-3
    counted = sum(getattr(display.inbox, name) for name in ("absurd", "lost", "future", "stale"))
    assert counted + sum(display.refused.values()) >= 98


@pytest.mark.parametrize("kind", [*ABSURD, *FORGED])
def test_among_good_poses_absurd_and_forged_ones_do_nothing(kind):
    """One in three is wrong: the estimate stays right, and nothing stops."""
    display, n = Display(10), Counter()

    def now_and_then(pose):
        n["all"] += 1
        return {**ABSURD, **FORGED}[kind](pose) if n["all"] % 3 == 0 else pose

    rows = after(display, 1500, now_and_then)
    assert rows[:, LOST].max() == 0.0
    assert rows[:, FADE].min() == 1.0
    assert display.error_m()[300:].max() < 6e-3


def test_a_base_that_was_carried_away_is_believed_only_while_nothing_is_felt():
    """Elsewhere in the same room: silence first, and the output leaps at no force (prediction.py)."""
    display = Display(12)
    rows = after(display, 800, lambda pose: pose._replace(position_m=(6.0, 0.4, -3.0)))
    leap = np.abs(np.diff(rows[:, OUT_X])) > 1.0
    assert leap.sum() == 1
    at = int(np.argmax(leap)) + 1
    assert (rows[at - 1, FADE], rows[at - 1, LOST]) == (0.0, 1.0)
    assert rows[-1, OUT_X] == pytest.approx(6.0, abs=0.1)


def test_every_packet_ten_times_is_as_good_as_once():
    """Doubled packets change nothing: the run is the same to the last bit."""

    def often(rng, k, packet):
        return 10 * good(rng, k, packet)

    once, ten = Display(11), Display(11)
    assert (once.run(1500) == ten.run(1500, often)).all()
    assert ten.inbox.doubled == 9 * ten.inbox.used
    assert ten.inbox.waiting == 10
