"""Devices that only Python reaches: a thread, two seqlocks, and what happens when one side falls silent."""

import threading
import time

import numpy as np
import pytest
from waiting import WAIT_S, until

import palpate as pp
from palpate import jit
from palpate.haptics.devices.mailbox import DEAD_S, FIRST_S, SILENCE_S, Mailbox
from palpate.haptics.devices.port import LOST, NOTHING_NEW, OK, put_wrench
from palpate.haptics.devices.protocol import DeviceError, DeviceReading, DeviceSpec, OpenClose, wrench
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.guard import STATES

pytestmark = pytest.mark.nojit
WALL = pp.models.plane(normal=(-1.0, 0.0, 0.0))  # solid for x > 0


class Bench(OpenClose):
    """A device on the bench: it is where it is put, keeps what it is sent, and fails or hangs when it is told to."""

    def __init__(self, name="bench", rate_hz=1000.0) -> None:
        self.spec = DeviceSpec(name, force_limit_N=10.0, rate_hz=rate_hz, torque_limit_Nm=0.5, senses=6, actuates=6)
        self.at, self.buttons, self.reads, self.written = np.zeros(3), 0, 0, []
        self.fails_to_read = self.fails_to_write = None
        self.awake, self.hangs = threading.Event(), threading.Event()
        self.awake.set()
        self.open()

    def read(self, out: DeviceReading) -> None:
        self.require_open()
        if not self.awake.is_set():
            self.hangs.set()
        self.awake.wait(WAIT_S)
        if self.fails_to_read is not None:
            raise self.fails_to_read
        self.reads += 1
        out.position_m[:], out.buttons, out.sampled_at_s = self.at, self.buttons, time.monotonic()

    def write(self, wrench) -> None:
        self.require_open()
        if self.fails_to_write is not None:
            raise self.fails_to_write
        self.require_allowed(wrench)
        self.written.append(np.array(wrench))


class Tick:
    """The tick's side of a mailbox, by hand."""

    def __init__(self, mailbox) -> None:
        self.door, self.port = mailbox.in_tick, mailbox.in_tick.port

    def sample(self, now_s=None) -> int:
        self.port.now_s = time.monotonic() if now_s is None else now_s
        return self.door.sample(self.door.block.address)

    def send(self, force, torque=(0.0, 0.0, 0.0)) -> None:
        self.port.now_s = time.monotonic()
        put_wrench(self.port, wrench(force, torque))
        self.door.send(self.door.block.address)


@pytest.fixture
def device():
    return Bench()


@pytest.fixture
def mailbox(device):
    mailbox = Mailbox(device)
    yield mailbox
    device.awake.set()
    mailbox.stop()


# ---- the mailbox itself


def test_readings_reach_the_tick_and_forces_the_device(device, mailbox):
    device.at[:], device.buttons = (0.01, -0.02, 0.03), 5
    mailbox.start()
    tick = Tick(mailbox)
    until(lambda: tick.sample() == OK)
    assert tick.port.position == pytest.approx(device.at)
    assert tick.port.quaternion == pytest.approx((1.0, 0.0, 0.0, 0.0))
    assert tick.port.buttons == 5
    assert tick.port.sampled_s <= time.monotonic()

    def answered():
        tick.send((1.0, -2.0, 3.0), (0.1, 0.2, -0.3))
        return device.written and device.written[-1].tolist() == [0.1, 0.2, -0.3, 1.0, -2.0, 3.0]

    until(answered)


def test_before_the_first_reading_there_is_nothing_new_and_no_loss(mailbox):
    tick = Tick(mailbox)
    assert tick.sample() == NOTHING_NEW
    assert not any(tick.port.position)


def test_a_device_whose_first_read_hangs_is_lost_and_says_so(device, mailbox):
    device.awake.clear()
    began = time.monotonic()
    mailbox.start()
    assert device.hangs.wait(WAIT_S)
    tick = Tick(mailbox)
    assert tick.sample(now_s=began) == NOTHING_NEW
    assert tick.sample(now_s=began + 0.5 * FIRST_S) == NOTHING_NEW
    assert tick.sample(now_s=time.monotonic() + 1.1 * FIRST_S) == LOST
    until(lambda: mailbox.reason())
    assert mailbox.reason().startswith("its read has not returned for ")
    device.awake.set()
    until(lambda: tick.sample() == OK)  # it is back
    until(lambda: mailbox.reason() == "")


def test_the_same_reading_twice_is_nothing_new(device, mailbox):
    mailbox.start()
    tick = Tick(mailbox)
    until(lambda: tick.sample() == OK)
    device.awake.clear()
    assert device.hangs.wait(WAIT_S)
    tick.sample()  # whatever came before it hung
    assert tick.sample(now_s=tick.port.sampled_s + 0.5 * SILENCE_S) == NOTHING_NEW


def test_silence_is_a_loss_and_ends_with_the_next_reading(device, mailbox):
    mailbox.start()
    tick = Tick(mailbox)
    until(lambda: tick.sample() == OK)
    device.awake.clear()
    assert device.hangs.wait(WAIT_S)
    assert tick.sample(now_s=time.monotonic() + SILENCE_S) == LOST
    device.awake.set()
    until(lambda: tick.sample() == OK)


@pytest.mark.parametrize("which", ["fails_to_read", "fails_to_write"])
@pytest.mark.parametrize("error", [DeviceError("the cable fell out"), OSError("the cable fell out")])
def test_an_error_in_the_device_is_a_loss_with_its_text(device, mailbox, which, error):
    mailbox.start()
    tick = Tick(mailbox)
    until(lambda: tick.sample() == OK)
    setattr(device, which, error)
    until(lambda: tick.sample() == LOST)
    assert mailbox.error == "the cable fell out"


def test_an_error_without_a_text_is_told_by_its_name(device, mailbox):
    device.fails_to_read = ZeroDivisionError()
    mailbox.start()
    until(lambda: Tick(mailbox).sample() == LOST)
    assert mailbox.error == "ZeroDivisionError"


def test_the_last_that_a_device_hears_is_zero(device, mailbox):
    mailbox.start()
    tick = Tick(mailbox)

    def pushed():
        tick.send((3.0, 0.0, 0.0))
        return device.written and device.written[-1].any()

    until(pushed)
    mailbox.stop()
    assert not device.written[-1].any()
    heard = len(device.written)
    time.sleep(0.02)
    assert len(device.written) == heard


def test_a_device_that_fails_to_read_hears_zero(device, mailbox):
    mailbox.start()
    tick = Tick(mailbox)

    def pushed():
        tick.send((3.0, 0.0, 0.0))
        return device.written and device.written[-1].any()

    until(pushed)
    device.fails_to_read = OSError("gone")
    until(lambda: mailbox.error == "gone")
    until(lambda: not device.written[-1].any())


def test_a_force_whose_tick_is_gone_becomes_zero(device, mailbox):
    """DEAD_S after the last force, the device is sent nothing any more, while it goes on being asked."""
    mailbox.start()
    tick = Tick(mailbox)

    def pushed():
        tick.send((3.0, 0.0, 0.0))
        return device.written and device.written[-1].any()

    until(pushed)
    time.sleep(DEAD_S)
    until(lambda: not device.written[-1].any())
    reads = device.reads
    until(lambda: device.reads > reads + 3)


def test_stopping_does_not_wait_for_a_device_that_hangs(device, mailbox, monkeypatch):
    monkeypatch.setattr("palpate.haptics.devices.mailbox.PATIENCE_S", 0.05)
    mailbox.start()
    until(lambda: device.reads > 0)
    device.awake.clear()
    assert device.hangs.wait(WAIT_S)
    mailbox.stop()
    assert mailbox._thread.is_alive()  # left behind
    device.awake.set()
    until(lambda: not mailbox._thread.is_alive())
    assert not device.written[-1].any()


# ---- in a session


def engaged(session) -> bool:
    """Whether every device has its full force; one that a busy machine kept silent for 100 ms begins again."""
    if session.frame()["device_state"].max() == STATES.index("fault"):
        session.reset()
    return bool((session.frame()["device_state"] == STATES.index("on")).all())


in_session = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")


@in_session
@pytest.mark.real_time
def test_devices_with_rates_of_their_own_share_a_world_with_one_in_the_tick():
    """design.md 6: two mailbox devices at 250 Hz and 900 Hz beside a simulated one; each feels its own wall."""
    slow, fast = Bench("slow", 250.0), Bench("fast", 900.0)
    simulated = Simulated(hand=pp.Hand(intent=((0.0, (-0.01, 0, 0)), (0.6, (0.01, 0, 0)))))
    simulated.open()
    slow.at[0], fast.at[0] = -0.001, -0.001  # in the open, so that the guards engage
    reach = pp.Reach(mode="push")
    world = pp.World([WALL], dt=1e-3)
    begin_s = time.monotonic()
    with pp.touch(world, [(slow, reach), (simulated, reach), (fast, reach)]) as session:
        until(lambda: engaged(session))
        slow.at[0], fast.at[0] = 0.002, 0.005

        def felt(device, force):
            return engaged(session) and device.written[-1] == pytest.approx(
                wrench((force, 0.0, 0.0)), rel=1e-2, abs=1e-2
            )

        until(lambda: felt(slow, -2.0))  # 1000 N/m
        until(lambda: felt(fast, -5.0))
        until(lambda: session.frame()["device_force"][1, 0] < -0.5)
        assert session.frame()["device_position"][[0, 2], 0] == pytest.approx((0.002, 0.005))
    assert not slow.written[-1].any()
    assert not fast.written[-1].any()
    assert not any(simulated.in_tick.port.torque + simulated.in_tick.port.force)
    passed_s = time.monotonic() - begin_s
    for device in (slow, fast):  # never faster than its own rate, however slow the machine is
        assert 0 < device.reads <= passed_s * device.spec.rate_hz + 2
    assert session.report.devices[0].counts["stale"] > 0  # four ticks of five have no new reading of it


@in_session
@pytest.mark.real_time
def test_a_device_that_breaks_in_a_session_is_told_with_its_own_words():
    """design.md 6: device lost: the session says why, and goes on."""
    device = Bench()
    world = pp.World([WALL], dt=1e-3)
    with pp.touch(world, device, "push") as session:
        until(lambda: engaged(session))
        device.at[0] = 0.004
        until(lambda: device.written[-1].any())
        device.fails_to_write = OSError("the cable fell out")
        until(lambda: session.report.notes and "cable" in session.report.notes[-1])
        until(lambda: not session.frame()["device_force"].any())
        tick = session.frame()["tick"]
        until(lambda: session.frame()["tick"] > tick + 20)
    assert session.report.notes[-1] == ("no more force on bench: the device was lost: the cable fell out; "
                                        "a new session engages it again")  # fmt: skip
    assert session.report.devices[0].counts["device_lost"] >= 1


@in_session
@pytest.mark.slow
def test_a_device_whose_first_read_hangs_makes_no_force_moves_nothing_and_is_told():
    """Nobody knows where its hand is: the box at the device's origin, which a hand there would throw out, stays."""
    device = Bench()
    device.awake.clear()
    world = pp.World([pp.models.box((0.1, 0.1, 0.1), mass=0.1, at=(0.0, 0.0, 0.02))], dt=1e-3, gravity=(0, 0, 0))
    with pp.touch(world, device, "push") as session:
        until(lambda: any("lost" in note for note in session.report.notes))
        assert not device.written
        assert session.frame()["device_state"][0] == STATES.index("fault")
        assert not session.frame()["device_force"].any()
        assert not session.frame()["v"].any()
        note = session.report.notes[-1]
        assert note.startswith("no more force on bench: the device was lost: its read has not returned for ")
        assert note.endswith("; a reset engages it again")
        device.awake.set()
        until(lambda: device.reads > 0)
        device.at[:] = (0.0, 0.0, 1.0)
        until(lambda: engaged(session))


def test_a_device_by_the_clock_cannot_run_in_simulated_time():
    session = pp.touch(pp.World([WALL], dt=1e-3), Bench("by-the-clock"), "push")
    with pytest.raises(ValueError, match="by-the-clock runs by the clock"):
        session.simulate(0.1)
