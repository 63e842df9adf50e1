"""Everything that can go wrong while a hand is on a device, done on purpose to a session in real time (design.md 6).

Waits are generous and nothing is asserted about how long things took: where time matters, ticks are counted.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from waiting import until

import palpate as pp
from palpate import frame, jit
from palpate.frame import DEVICE_COUNTERS
from palpate.haptics.devices.port import LOST, OK, InTick, Port, empty_port
from palpate.haptics.devices.protocol import DeviceSpec, OpenClose
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.guard import FADE_S, FORCE, RISE_S, STATES, VELOCITY
from palpate.jit import Block, Struct, Vector, block_loader
from palpate.jit.atomics import monotonic_ns
from palpate.jit.routines import routine
from palpate.model.model import Ints1
from palpate.servo.ring import Follower

pytestmark = [pytest.mark.real_time, pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")]
STATIC = Path(__file__).parents[2] / "palpate" / "page" / "static" / "index.html"
ON, FAULT = STATES.index("on"), STATES.index("fault")
DT = 1e-3
WALL = pp.models.plane(normal=(-1.0, 0.0, 0.0))  # solid for x > 0
# The hand comes to rest 1 cm inside the wall, were it not there.
PRESSING = pp.Hand(intent=((0.0, (-0.01, 0, 0)), (0.3, (0.01, 0, 0))))


def pressed(session, least_N=1.0, device=0) -> bool:
    """Whether the hand feels its full force."""
    now = session.frame()
    return bool(now["device_state"][device] == ON and np.linalg.norm(now["device_force"][device]) > least_N)


class Frames:
    """Every frame from now on, also of a wait that is longer than the ring."""

    def __init__(self, session) -> None:
        self._layout, self._follower, self._seen = session.simulation.layout, Follower(session.simulation.frames), []

    def until(self, condition) -> None:
        until(lambda: self.take() and condition())
        self.take()

    def take(self) -> bool:
        self._seen += [self._layout.unpack(words) for words in self._follower.read()]
        return bool(self._seen)

    def __getitem__(self, field: str) -> np.ndarray:
        """(frames, devices, ...), one row each."""
        return np.array([each[field] for each in self._seen])

    @property
    def force(self) -> np.ndarray:
        """(frames,) on the hand of the first device [N]."""
        return np.linalg.norm(self["device_force"][:, 0], axis=1)


@pytest.fixture
def device():
    device = Simulated(hand=PRESSING)
    with device:
        yield device


@pytest.fixture
def session(device):
    """A hand that presses against a wall, beside a box that falls for ever."""
    world = pp.World([WALL, pp.models.box(at=(-1.0, 0.0, 0.0), name="box")], dt=DT, gravity=(0, 0, -1e-3))
    with pp.touch(world, device, "push", fifo=False) as session:
        until(lambda: pressed(session))
        yield session


# ---- the device


def test_a_lost_device_has_no_force_within_20_ms_and_a_reset_engages_it_again(session, device):
    seen = Frames(session)
    device.close()
    seen.until(lambda: session.report.notes and "lost" in session.report.notes[-1])
    seen.until(lambda: not session.frame()["device_force"].any())
    force = seen.force[int(np.flatnonzero(seen["device_state"][:, 0] == FAULT)[0]) :]
    assert not force[round(FADE_S / DT) :].any()
    assert (np.diff(force) <= 0.0).all()
    assert session.frame()["device_counters"][0, DEVICE_COUNTERS.index("device_lost")] == 1
    assert any(note.startswith("no more force on simulated:") for note in session.report.notes)
    tick = session.frame()["tick"]
    until(lambda: session.frame()["tick"] > tick + 20)  # the world goes on
    device.open()
    session.reset()
    until(lambda: pressed(session))
    assert session.reaching[0].fault == ""


def test_a_world_that_stops_takes_the_force_away_and_keeps_its_last_good_state(session):
    session.scene.world.tau[:] = np.nan
    until(lambda: session.frame()["state"] == frame.FAULT)
    until(lambda: not session.frame()["device_force"].any())
    assert np.isfinite(session.frame()["q"]).all()
    until(lambda: any("no longer finite" in note for note in session.report.notes))
    assert any("box" in note for note in session.report.notes)
    session.scene.world.tau[:] = 0.0
    session.reset()
    session.play()
    until(lambda: pressed(session))


def test_a_session_that_is_stopped_leaves_no_force(session, device):
    until(lambda: any(device.in_tick.port.force))
    session.stop()
    assert not any(device.in_tick.port.force + device.in_tick.port.torque)
    assert session.report.devices[0].oldest_force_s > 0.0


# ---- the clock


def test_a_pause_has_no_force_and_play_begins_from_nothing(session):
    session.pause()
    until(lambda: session.frame()["state"] == frame.PAUSED and not session.frame()["device_force"].any())
    rising = session.reaching[0].guard.counts[DEVICE_COUNTERS.index("rising")]
    time.sleep(0.05)
    assert not session.frame()["device_force"].any()
    seen = Frames(session)
    session.play()
    seen.until(lambda: pressed(session))
    force = seen.force[int(np.flatnonzero(seen["state"] == frame.RUNNING)[0]) :]
    assert force[0] < 0.01
    assert np.diff(force).max() < 0.5 + 1e-9  # 500 N/s
    ticks = session.reaching[0].guard.counts[DEVICE_COUNTERS.index("rising")] - rising
    assert ticks >= round(RISE_S / DT) - 1


def test_a_paused_world_has_let_go_of_what_was_held():
    person = pp.Hand(intent=((0.0, (0.0, 0.0, 0.0)),), holds=((0.0, 1e6),))
    with Simulated(hand=person) as device:
        world = pp.World([pp.models.box(at=(0.06, 0.0, 0.0))], dt=DT, gravity=(0, 0, 0))
        with pp.touch(world, device, fifo=False) as session:
            until(lambda: session.frame()["device_held"][0] == 1)
            session.pause()
            until(lambda: session.frame()["device_held"][0] == 0)
            session.play()
            until(lambda: session.frame()["device_held"][0] == 1)


def test_in_slow_motion_the_device_is_answered_in_every_period(session, device):
    session._event(frame.SPEED, 0.1)
    until(lambda: session.simulation.head.speed == 0.1)

    def both() -> tuple[int, float]:
        """The world's tick, and the time [s] of the device while it lasted: ten periods of it."""
        while (tick := int(session.frame()["tick"])) != (at := (device.time_s, session.frame()["tick"]))[1]:
            pass
        return tick, at[0]

    tick, passed = both()
    until(lambda: session.frame()["tick"] >= tick + 40)
    end, now = both()
    assert (now - passed) / DT / (end - tick) == pytest.approx(10.0, rel=0.1)
    until(lambda: session.frame()["device_force"].any())


# ---- the loop


class Odd(Struct):
    hang: int  # spin once
    answer: int  # what `send` returns
    clock: Ints1  # (2,) scratch
    sent: Vector  # the last force


HANG_NS = 300_000_000
load = block_loader((Port, False), (Odd, False))


@routine
def odd_sample(address):
    """Nothing moves but what Python writes into the reading; hangs once when told to."""
    port, odd = load(address)
    if odd.hang != 0:
        odd.hang = 0
        end = monotonic_ns(odd.clock) + HANG_NS
        while monotonic_ns(odd.clock) < end:
            pass
    port.sampled_s = port.now_s
    return OK


@routine
def odd_send(address):
    port, odd = load(address)
    odd.sent = port.force
    return odd.answer


class OddDevice(OpenClose):
    """In the tick, and as bad as it is told to be; `written` is what came from outside the loop."""

    def __init__(self) -> None:
        self.spec, self.written = DeviceSpec("odd", force_limit_N=10.0), []
        port = empty_port()
        self.odd = Odd(clock=np.zeros(2, dtype=np.int64))
        self.in_tick = InTick(port, Block(port, self.odd), odd_sample, odd_send, owner=self)
        self.open()

    def write(self, wrench) -> None:
        self.require_open()
        self.written.append(np.array(wrench))

    def move(self, x_m: float) -> None:
        self.in_tick.port.position = (x_m, 0.0, 0.0)


@pytest.fixture
def odd():
    odd = OddDevice()
    odd.move(-0.001)
    return odd


@pytest.fixture
def odd_session(odd):
    with pp.touch(pp.World([WALL], dt=DT), odd, "push", fifo=False) as session:
        until(lambda: session.frame()["device_state"][0] == ON)
        odd.move(0.004)
        until(lambda: pressed(session, 3.9))
        yield session


def test_a_loop_that_hangs_is_seen_from_outside_and_the_force_is_taken_away(odd_session, odd):
    """The watchdog writes zero while the loop hangs; when the loop is back, force rises from nothing."""
    before, rising = len(odd.written), odd_session.reaching[0].report().counts["rising"]
    odd.odd.hang = 1
    until(lambda: len(odd.written) > before)
    assert not odd.written[-1].any()
    until(lambda: odd_session.frame()["counters"][frame.COUNTERS.index("watchdog")] > 0)
    until(lambda: odd_session.reaching[0].report().counts["rising"] > rising)
    until(lambda: pressed(odd_session, 3.9))  # and is all there again
    assert odd_session.reaching[0].report().counts["late_zeroed"] > 0
    assert odd_session.reaching[0].fault == ""


class Careful(OpenClose):
    """In a mailbox; notes which threads call it."""

    def __init__(self) -> None:
        self.spec, self.callers, self.force = DeviceSpec("careful", force_limit_N=10.0, rate_hz=500.0), set(), None
        self.open()

    def read(self, reading) -> None:
        self.callers.add(threading.get_ident())
        reading.position_m[:] = (0.004, 0.0, 0.0)
        reading.sampled_at_s = time.monotonic()

    def write(self, force_N) -> None:
        self.callers.add(threading.get_ident())
        self.force = np.array(force_N)


def test_a_device_in_a_mailbox_is_called_by_its_own_thread_only_also_when_the_loop_hangs(odd):
    careful = Careful()
    reach = pp.Reach(mode="push")
    with pp.touch(pp.World([WALL], dt=DT), [(odd, reach), (careful, reach)], fifo=False) as session:
        until(lambda: session.frame()["tick"] > 50 and careful.force is not None)
        before = len(odd.written)
        odd.odd.hang = 1
        until(lambda: len(odd.written) > before)  # the watchdog is at it
        until(lambda: not careful.force.any())
        until(lambda: session.frame()["counters"][frame.COUNTERS.index("watchdog")] > 0)
    assert len(careful.callers) == 1
    assert not careful.force.any()


def test_a_force_that_cannot_be_sent_is_a_lost_device(odd_session, odd):
    odd.odd.answer = LOST
    until(lambda: odd_session.reaching[0].fault == "the device was lost")
    until(lambda: not any(odd.odd.sent))
    odd.odd.answer = OK
    odd_session.reset()
    odd.move(-0.001)
    until(lambda: odd_session.frame()["device_state"][0] == ON)


def test_a_device_that_fails_outside_the_loop_does_not_end_the_watch(odd_session, odd):
    def broken(wrench):
        raise OSError("no such device")

    odd.write = broken
    odd.odd.hang = 1
    until(lambda: odd_session.frame()["counters"][frame.COUNTERS.index("watchdog")] > 0)
    until(lambda: pressed(odd_session, 3.9))
    assert odd_session.watching.watch.is_alive()


def test_a_device_faster_than_its_limit_has_its_force_taken_away(odd_session, odd):
    odd.in_tick.port.velocity = (0.0, 5.0, 0.0)  # [m/s], along the wall; this device has no limit
    tick = odd_session.frame()["tick"]
    until(lambda: odd_session.frame()["tick"] > tick + 100)
    assert odd_session.reaching[0].report().counts["too_fast"] == 0
    odd_session.reaching[0].guard.limit[FORCE, VELOCITY] = 2.0
    until(lambda: not odd_session.frame()["device_force"].any())
    assert odd_session.reaching[0].report().counts["too_fast"] > 0
    odd.in_tick.port.velocity = (0.0, 0.0, 0.0)
    until(lambda: pressed(odd_session, 3.9))


def test_a_force_above_the_limit_is_clamped_and_its_rise_is_limited(odd_session, odd):
    seen = Frames(odd_session)
    odd.move(0.02)  # 20 N; the limit is 10 N
    seen.until(lambda: pressed(odd_session, 9.99))
    assert seen.force.max() <= 10.0
    assert np.diff(seen.force).max() <= 0.5 + 1e-9  # 500 N/s
    counts = odd_session.reaching[0].report().counts
    assert counts["clamped"] > 0
    assert counts["rate_limited"] > 0


# ---- the page


@pytest.mark.skipif(not STATIC.exists(), reason="the page is not built: make page")
def test_a_page_that_is_killed_leaves_the_force_as_it_was(odd):
    with pp.touch(pp.World([WALL], dt=DT), odd, "push", page=True, port=0) as session:
        until(lambda: session.frame()["device_state"][0] == ON)
        odd.move(0.004)
        until(lambda: pressed(session, 3.9))
        seen, first = Frames(session), session.page.process
        os.kill(first.process.pid, signal.SIGKILL)
        seen.until(lambda: session.page.process is not first and session.page.alive)
        tick = session.frame()["tick"]
        seen.until(lambda: session.frame()["tick"] > tick + 200 and pressed(session, 3.9))
    # A busy machine may make ticks late, and then the guard acts.  A force that was on for 20 ticks is what it was.
    state = seen["device_state"][:, 0]
    calm = np.array([(state[max(k - 20, 0) : k + 1] == ON).all() for k in range(len(state))])
    assert calm.sum() > 20
    assert seen.force[calm] == pytest.approx(4.0, rel=1e-2)  # 1000 N/m
    assert not (state == FAULT).any()
    assert any("started again" in note for note in session.report.notes)
