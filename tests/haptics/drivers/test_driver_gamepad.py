"""The gamepad driver against a fake of the package pygame, and against SDL's virtual joystick where it is installed."""

import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from contracts.test_devices import (  # noqa: F401  the contract, run here with the fake
    test_a_closed_device_refuses_to_work,
    test_a_wrench_above_a_limit_or_not_finite_is_refused,
    test_it_states_its_limits,
    test_reading_fills_the_callers_arrays_and_keeps_none_of_them,
)
from fake_pygame import FakePad, FakePygame
from waiting import FINDS_US, WAIT_S

from palpate.haptics.devices.drivers import gamepad
from palpate.haptics.devices.drivers.gamepad import Gamepad
from palpate.haptics.devices.protocol import DeviceError, DeviceReading, wrench

pytestmark = pytest.mark.nojit


class Clock:
    def __init__(self):
        self.now_s = 10.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def pad():
    return FakePad()


@pytest.fixture
def pygame(pad):
    return FakePygame(pad)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def device(pygame, clock):
    device = Gamepad(import_module=lambda: pygame, clock=clock, speed_m_s=0.1, spin_rad_s=2.0, dead_zone=0.0)
    yield device
    device.close()


def read_after(device, clock, seconds=0.0):
    clock.now_s += seconds
    reading = DeviceReading()
    device.read(reading)
    return reading


@pytest.mark.parametrize(
    ("axis", "value", "velocity", "spin"),
    [
        (1, -1.0, (0.1, 0, 0), 0.0),  # left stick away from the person: SDL's y is down
        (0, -1.0, (0, 0.1, 0), 0.0),  # left stick to the left
        (4, -1.0, (0, 0, 0.1), 0.0),  # right stick up
        (3, -1.0, (0, 0, 0), 2.0),  # right stick to the left: turn left, seen from above
    ],
)
def test_sticks_are_velocities_in_our_axes(axis, value, velocity, spin, device, pad, clock, eventually):
    device.open()
    pad.axes[axis] = value
    eventually(lambda: device._deflection.any())
    reading = read_after(device, clock, 0.05)
    assert reading.velocity_m_s == pytest.approx(velocity)
    assert reading.position_m == pytest.approx(0.05 * np.array(velocity))
    assert reading.spin_rad_s == pytest.approx([0, 0, spin])
    assert reading.quaternion == pytest.approx([np.cos(0.025 * spin), 0, 0, np.sin(0.025 * spin)])


def test_triggers_and_the_first_button_hold(device, pad, clock, eventually):
    device.open()
    assert read_after(device, clock).buttons == 0
    for press, release, bits in (
        (lambda: pad.axes.__setitem__(2, 0.9), lambda: pad.axes.__setitem__(2, -1.0), 1),
        (lambda: pad.axes.__setitem__(5, 0.9), lambda: pad.axes.__setitem__(5, -1.0), 1),
        (lambda: pad.buttons.__setitem__(0, 1), lambda: pad.buttons.__setitem__(0, 0), 1),
        (lambda: pad.buttons.__setitem__(2, 1), lambda: pad.buttons.__setitem__(2, 0), 4),
    ):
        press()
        eventually(lambda bits=bits: read_after(device, clock).buttons == bits)
        release()
        eventually(lambda: read_after(device, clock).buttons == 0)


def test_a_force_rumbles_by_its_length_and_stops_when_nobody_writes(device, pad, clock, eventually):
    device.open()
    device.write(wrench([3.0, 0.0, 4.0]))
    eventually(lambda: any(pad.rumbled))
    assert next(filter(None, pad.rumbled))[:2] == (0.5, 0.5)  # 5 N of 10 N
    clock.now_s += 0.2
    pad.rumbled.clear()
    eventually(lambda: pad.rumbled)
    assert pad.rumbled[0] is None  # the force is old


def test_rumble_is_renewed_while_the_force_lasts(device, pad, clock, eventually):
    device.open()

    def renewed():
        clock.now_s += 0.06
        device.write(wrench([10.0, 0.0, 0.0]))
        return sum(x is not None for x in pad.rumbled) >= 3

    eventually(renewed)
    assert max(filter(None, pad.rumbled))[:2] == (1.0, 1.0)


def test_a_gamepad_that_cannot_rumble_is_asked_once(clock, eventually):
    pad = FakePad(rumbles=False)
    device = Gamepad(import_module=lambda: FakePygame(pad), clock=clock)
    device.open()
    device.write(wrench([1.0, 0.0, 0.0]))
    eventually(lambda: not device.rumbles)
    clock.now_s += 0.06
    device.write(wrench([1.0, 0.0, 0.0]))
    device.close()
    assert sum(x is not None for x in pad.rumbled) == 1


def test_sdl_has_one_thread_and_is_taken_down_there(device, pad, pygame):
    device.open()
    assert pygame.up == {"display", "joystick"}
    device.close()
    assert pad.threads == {"palpate-gamepad"}
    assert pygame.up == set()
    assert pad.rumbled[-1] is None
    assert not any(thread.name == "palpate-gamepad" for thread in threading.enumerate())


def test_no_package_and_no_device_say_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DeviceError, match=r"pygame-ce is missing .*pip install palpate\[gamepad\]"):
        Gamepad().open()
    for _ in range(2):  # a failed open lets go of everything
        with pytest.raises(DeviceError, match="0 connected, so there is no number 0; connect one and press a button"):
            Gamepad(import_module=FakePygame).open()


def test_what_is_available_is_said_without_opening_anything(monkeypatch):
    monkeypatch.setattr(gamepad.importlib.util, "find_spec", lambda name: None)
    assert gamepad.available() == "not found: the package pygame-ce is missing (pip install palpate[gamepad])"
    monkeypatch.setattr(gamepad.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(gamepad, "_listdir", lambda folder: ["event0", "js0", "js1"])
    assert gamepad.available() == "found pygame, and 2 joysticks in /dev/input"
    monkeypatch.setattr(gamepad, "_listdir", lambda folder: [])
    assert gamepad.available() == "not found: no joystick in /dev/input"


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (SimpleNamespace(type=1542, instance_id=7), "it was unplugged or went to sleep"),
        (RuntimeError("video system not initialized"), "video system not initialized"),
    ],
)
def test_a_gamepad_that_is_lost_says_why(event, reason, device, pygame, clock, eventually):
    device.open()
    pygame.events = [SimpleNamespace(type=1542, instance_id=3)]  # another one's
    eventually(lambda: not pygame.events)
    read_after(device, clock)
    pygame.events = [event]

    def lost():
        try:
            read_after(device, clock)
        except DeviceError as error:
            return str(error) == f"the device 'gamepad' was lost: {reason}"
        return False

    eventually(lost)


def test_one_gamepad_at_a_time(device, pygame):
    device.open()
    with pytest.raises(DeviceError, match="another one is open"):
        Gamepad(import_module=lambda: pygame).open()
    device.close()
    device.open()


def test_closing_while_another_thread_reads_ends_its_reading_with_one_clear_line(device, eventually):
    device.open()
    ended, count = [], [0]

    def read():
        try:
            while True:
                device.read(DeviceReading())
                count[0] += 1
        except DeviceError as error:
            ended.append(str(error))

    thread = threading.Thread(target=read)
    thread.start()
    eventually(lambda: count[0] > 20)
    device.close()
    device.close()
    thread.join(WAIT_S)
    assert ended == ["the device 'gamepad' is not open"]


@pytest.mark.parametrize("wrong", [{"force_shown_N": 0.0}, {"dead_zone": -0.1}, {"radius_m": -1.0}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Gamepad(**wrong)


VIRTUAL = """
import ctypes, sys
from palpate.haptics.devices.drivers.gamepad import Gamepad, import_pygame
from palpate.haptics.devices.protocol import DeviceReading
from waiting import until

class Driver(Gamepad):
    def _run(self, pygame):  # the virtual joystick is attached in SDL's own thread, before the driver looks
        pygame.display.init(); pygame.joystick.init()
        assert sdl.SDL_JoystickAttachVirtual(1, 6, 12, 1) >= 0
        super()._run(pygame)

    def _poll(self, pygame, pad):
        handle = sdl.SDL_JoystickFromInstanceID(pad.get_instance_id())
        sdl.SDL_JoystickSetVirtualAxis(handle, 1, -16384)  # half away from the person
        sdl.SDL_JoystickSetVirtualButton(handle, 0, 1)
        super()._poll(pygame, pad)

sdl = ctypes.CDLL(sys.argv[1])
sdl.SDL_JoystickFromInstanceID.restype = ctypes.c_void_p
sdl.SDL_JoystickSetVirtualAxis.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_int16
sdl.SDL_JoystickSetVirtualButton.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint8
device, reading = Driver(dead_zone=0.0, speed_m_s=0.1), DeviceReading()
device.open()

def moves():
    device.read(reading)
    return reading.buttons & 1 and reading.velocity_m_s[0] > 0

until(moves)
print(device.name, reading.buttons, round(reading.velocity_m_s[0], 3))
device.close()
"""


def test_sdls_virtual_joystick_moves_the_hand():
    """devices.md section 4: the real package, and a joystick that SDL makes up."""
    spec = importlib.util.find_spec("pygame")
    if spec is None:
        pytest.skip("pygame-ce is not installed")
    bundled = list(Path(spec.origin).parents[1].glob("pygame*.libs/libSDL2-2*"))
    if not bundled:
        pytest.skip("this pygame does not bring its own SDL")
    run = subprocess.run([sys.executable, "-c", VIRTUAL, bundled[0]], capture_output=True, text=True,
                         env=os.environ | FINDS_US)  # fmt: skip
    assert run.stderr == ""
    assert run.stdout.split()[-2:] == ["1", "0.05"]
