"""Drivers lead a planar scene: position in, force out through the guard, by the clock, against their fakes."""

from contextlib import contextmanager

import numpy as np
import pytest
from fake_haply import FakeService
from fake_hid import FakeHid
from fake_pygame import FakePad, FakePygame
from waiting import until

import palpate as pp
from palpate import jit
from palpate.frame import DEVICE_COUNTERS
from palpate.haptics.devices.drivers.gamepad import AT_REST, Gamepad
from palpate.haptics.devices.drivers.haply import Haply
from palpate.haptics.devices.drivers.spacemouse import SpaceMouse
from palpate.haptics.guard import STATES
from palpate.planar.scenes import planar_wall

pytestmark = [pytest.mark.real_time, pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")]
PATIENCE_S = 20.0  # a busy machine must not look like a lost service
START = [-0.02, 0.0, 0.0]  # of the block, which touches the wall with its middle at 5 mm
TRIES, LOOKS = 20, 200


class Disturbed(Exception):
    """A busy machine kept a device's thread for 0.1 s: it is lost, rightly, and what is tried begins anew."""


def when(session, condition):
    """The first frame for which it holds."""

    def look():
        frame = session.frame()
        if state(frame) == "fault":
            raise Disturbed(session.report.notes)
        return frame if condition(frame) else None

    return until(look, lambda: session.report.notes)


def state(frame):
    return STATES[frame["device_state"][0]]


def rising(frame):
    return frame["device_counters"][0, DEVICE_COUNTERS.index("rising")]


def undisturbed(session, play):
    """play(frame): from a reset on, with the first frame in which the force is there again, which takes its time."""
    for _ in range(TRIES):
        before, looks = rising(session.frame()), iter(range(LOOKS))
        session.reset()  # a device that is lost again does not rise
        until(lambda: rising(session.frame()) > before + 10 or next(looks, None) is None)  # noqa: B023  asked here
        try:
            play(when(session, lambda frame: state(frame) == "on"))
            return
        except Disturbed as error:
            why = error
    raise why


@contextmanager
def led(device):
    with pp.touch(planar_wall(), device, page=False, fifo=False) as session:
        yield session


def ticks(session, n):
    """For `when`: so many later."""
    begun = session.frame()["tick"]
    return lambda frame: frame["tick"] >= begun + n


class Inverse3:
    """A hand on the fake of the service; x, y, z in our axes, from the middle of the workspace."""

    def __init__(self, service):
        self.service, self.felt = service, np.zeros(3)

    def device(self):
        service = self.service
        return Haply(port=service.port, events_port=service.events_port, answer_s=PATIENCE_S)

    def at(self, x, y=0.0, z=0.0):
        self.x = x
        self.service.position = {"x": -y, "y": -0.12 + x, "z": 0.15 + z}

    def feels(self):
        """The newest force, in our axes."""
        x, y, z = self.service.forces["049D"][-1]
        self.felt = np.array([y, -x, z])
        return self.felt


@pytest.fixture
def hand():
    with FakeService() as service:
        yield Inverse3(service)


def test_an_inverse3_leads_the_block_in_its_plane_and_feels_the_wall(hand):
    def play(frame):
        assert frame["block"] == pytest.approx(START, abs=1e-3)  # wherever the hand is at first, the block is

        def pressing(frame):
            hand.at(hand.x + 1e-3, 0.005, 0.02)
            return frame["offset_mm"] > 25.0 and hand.feels()[0] < -0.5  # back, to the person

        frame = when(session, pressing)
        assert frame["contacts"] > 0
        assert frame["penetration_mm"] < 5.0
        assert frame["device_held"][0] == session.simulation.lanes[0].body
        assert abs(hand.felt[1]) < 0.2 * abs(hand.felt[0])
        hand.at(hand.x, 0.005, 0.07)  # out of the plane by 5 cm: it is brought back, and the wall still felt
        out = when(session, lambda frame: hand.feels()[2] < -0.05)
        assert abs(hand.felt[2]) < 0.5 * abs(hand.felt[0])
        assert out["block"][0] == pytest.approx(frame["block"][0], abs=2e-3)
        hand.at(0.01, 0.005, 0.02)
        when(session, lambda frame: frame["contacts"] == 0 and np.linalg.norm(hand.feels()) < 0.1)

    hand.at(0.01, 0.005, 0.02)
    with hand.device() as device, led(device) as session:
        undisturbed(session, play)
    forces = np.linalg.norm(hand.service.forces["049D"], axis=1)
    assert 0.5 < forces.max() <= device.spec.force_limit_N * (1.0 + 1e-9)
    assert forces[-1] == 0.0


def test_an_inverse3_that_is_lost_leaves_the_block_loose_and_it_is_said(hand):
    def play(frame):
        hand.at(hand.x + 0.005)
        when(session, lambda frame: frame["block"][0] > -0.017)

    hand.at(0.0)
    with hand.device() as device, led(device) as session:
        undisturbed(session, play)
        hand.service.stop()
        begins = "no more force on haply-inverse3: the device was lost"
        note = until(lambda: next((note for note in session.report.notes if note.startswith(begins)), ""))
        assert note.endswith(" engages it again")  # a reset, or once the driver knows why a new session
        frame = until(lambda: None if (now := session.frame())["device_force"].any() else now)
        assert state(frame) == "fault"
        assert frame["device_counters"][0, DEVICE_COUNTERS.index("device_lost")] >= 1
        assert frame["device_held"][0] == 0
        assert not frame["pull"].any()
        until(lambda: session.frame()["tick"] > frame["tick"] + 20)  # the room goes on
        assert "no force: the device was lost" in str(session.stop())


def test_a_gamepads_stick_leads_the_block_and_rumbles_at_the_wall():
    pad = FakePad()

    def play(frame):
        pad.axes[:] = AT_REST
        pad.axes[3] = -1.0  # right stick to the left: it turns so
        when(session, lambda frame: frame["block"][2] > 0.2)
        pad.axes[3] = 1.0
        when(session, lambda frame: frame["block"][2] < 0.0)
        pad.axes[3], pad.axes[1] = 0.0, -1.0  # left stick away from the person
        when(session, lambda frame: frame["contacts"] > 0 and frame["device_force"][0, 0] < -1.0)
        when(session, lambda frame: any(pad.rumbled))
        frame = when(session, ticks(session, 250))  # half a second on, 10 cm of stick
        assert frame["penetration_mm"] < 5.0
        assert frame["offset_mm"] <= 1e3 * lane.stretch + 1e-6  # the handle has not gone on without the block
        pad.axes[1] = 0.0
        when(session, ticks(session, 20))
        session.reset()
        frame = when(session, lambda frame: frame["contacts"] == 0 and frame["block"][0] < -0.01)
        assert frame["block"] == pytest.approx(START, abs=2e-3)

    with Gamepad(import_module=lambda: FakePygame(pad)) as device, led(device) as session:
        lane = session.simulation.lanes[0].lane
        undisturbed(session, play)


def test_a_spacemouse_leads_the_block_and_feels_nothing():
    hid = FakeHid()

    def play(frame):
        hid.push(0, 0, 0)
        hid.twist(0, 0, -350)  # the vendor's z is down: to the left
        when(session, lambda frame: frame["block"][2] > 0.2)
        hid.twist(0, 0, 0)
        hid.push(-350, 0, -350)  # to the left, and up, which the plane has not
        when(session, lambda frame: frame["block"][1] > 0.02)
        hid.push(0, -350, 0)  # away
        when(session, lambda frame: frame["contacts"] > 0)
        frame = when(session, ticks(session, 250))
        assert 0.0 < frame["penetration_mm"] < 5.0
        assert frame["offset_mm"] <= 1e3 * session.simulation.lanes[0].lane.stretch + 1e-6
        assert not frame["device_force"].any()
        assert not frame["device_torque"].any()
        hid.push(0, 350, 0)  # it comes back at once: there is nothing to unwind
        when(session, lambda frame: frame["contacts"] == 0)

    with SpaceMouse(import_module=lambda: hid) as device, led(device) as session:
        undisturbed(session, play)
