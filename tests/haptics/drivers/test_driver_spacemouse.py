"""The SpaceMouse driver against a fake of the package hidapi, and rate control by itself."""

import struct
import threading

import numpy as np
import pytest
from contracts.test_devices import (  # noqa: F401  the contract, run here with the fake
    test_a_closed_device_refuses_to_work,
    test_a_wrench_above_a_limit_or_not_finite_is_refused,
    test_it_states_its_limits,
    test_reading_fills_the_callers_arrays_and_keeps_none_of_them,
)
from fake_hid import FakeHid
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import WAIT_S

import palpate as pp
from palpate.haptics.devices.drivers import spacemouse
from palpate.haptics.devices.drivers.rate import LONGEST_STEP_S, RateControl, shaped
from palpate.haptics.devices.drivers.spacemouse import FULL_DEFLECTION, MOST_REPORTS, SpaceMouse
from palpate.haptics.devices.protocol import DeviceError, DeviceReading, wrench

pytestmark = pytest.mark.nojit
TURN = np.array([[0, -1, 0], [-1, 0, 0], [0, 0, -1]])  # the vendor's x right, y toward the person, z down


class Clock:
    def __init__(self):
        self.now_s = 10.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def hid():
    return FakeHid()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def device(hid, clock):
    device = SpaceMouse(import_module=lambda: hid, clock=clock, speed_m_s=0.1, spin_rad_s=2.0, dead_zone=0.0)
    yield device
    device.close()


def read_after(device, clock, seconds):
    clock.now_s += seconds
    reading = DeviceReading()
    device.read(reading)
    return reading


counts = st.integers(-350, 350)


@settings(deadline=None)
@given(counts, counts, counts, counts, counts, counts, st.booleans())
def test_a_push_is_a_velocity_and_a_twist_a_spin_in_our_axes(x, y, z, a, b, c, combined):
    hid, clock = FakeHid(), Clock()
    device = SpaceMouse(import_module=lambda: hid, clock=clock, speed_m_s=0.1, spin_rad_s=2.0, dead_zone=0.0)
    device.open()
    if combined:  # newer models
        hid.queue.append(b"\x01" + struct.pack("<6h", x, y, z, a, b, c))
    else:
        hid.push(x, y, z)
        hid.twist(a, b, c)
    reading = read_after(device, clock, 0.05)
    push, twist = np.array([x, y, z]) / FULL_DEFLECTION, np.array([a, b, c]) / FULL_DEFLECTION
    assert reading.velocity_m_s == pytest.approx(0.1 * TURN @ push)
    assert reading.position_m == pytest.approx(0.05 * 0.1 * TURN @ push)
    assert reading.spin_rad_s == pytest.approx(2.0 * TURN @ twist)
    turned = pp.Rotation.exp(0.05 * 2.0 * TURN @ twist)
    assert reading.quaternion == pytest.approx(np.array(turned.wxyz))
    assert reading.sampled_at_s == clock.now_s
    device.close()


def test_pushing_the_cap_away_left_and_up_moves_the_hand_so(device, hid, clock):
    device.open()
    hid.push(0, -350, 0)  # away from the person
    assert read_after(device, clock, 0.01).velocity_m_s == pytest.approx([0.1, 0, 0])
    hid.push(-350, 0, 0)
    assert read_after(device, clock, 0.01).velocity_m_s == pytest.approx([0, 0.1, 0])
    hid.push(0, 0, -350)
    assert read_after(device, clock, 0.01).velocity_m_s == pytest.approx([0, 0, 0.1])


def test_a_held_cap_goes_on_moving_between_reports_and_a_released_one_stops(device, hid, clock):
    device.open()
    hid.push(0, -350, 0)
    read_after(device, clock, 0.05)
    assert read_after(device, clock, 0.05).position_m == pytest.approx([0.01, 0, 0])
    hid.push(0, 0, 0)
    still = read_after(device, clock, 0.05)
    assert still.position_m == pytest.approx([0.01, 0, 0])
    assert not still.velocity_m_s.any()


def test_all_waiting_reports_are_taken_so_that_nothing_lags(device, hid, clock):
    device.open()
    for _ in range(50):
        hid.push(350, 350, 350)
    hid.push(0, -175, 0)
    assert read_after(device, clock, 0.01).velocity_m_s == pytest.approx([0.05, 0, 0])
    assert hid.queue == []


def test_a_device_that_floods_us_does_not_hold_us(device, hid, clock):
    device.open()
    for _ in range(MOST_REPORTS + 10):
        hid.push(1, 1, 1)
    read_after(device, clock, 0.01)
    assert len(hid.queue) == 10


def test_buttons_are_bits_and_the_first_holds(device, hid, clock):
    device.open()
    hid.queue.append(bytes([3, 0b101, 0x80]))
    assert read_after(device, clock, 0.01).buttons == 0x8005
    hid.queue.append(bytes([3, 0, 0]))
    assert read_after(device, clock, 0.01).buttons == 0


@pytest.mark.parametrize("report", [b"\x01\x00", b"\x02\x01\x02\x03", b"\x03"])
def test_short_reports_are_counted_and_dropped(report, device, hid, clock):
    device.open()
    hid.push(0, -350, 0)
    hid.queue.append(report)
    assert read_after(device, clock, 0.01).velocity_m_s == pytest.approx([0.1, 0, 0])
    assert device.malformed == 1


def test_other_reports_are_nobodys_business(device, hid, clock):
    device.open()
    hid.queue.append(b"\x17\x64")  # the battery
    read_after(device, clock, 0.01)
    assert device.malformed == 0


def test_signs_of_twists_can_be_mended(hid, clock):
    device = SpaceMouse(import_module=lambda: hid, clock=clock, dead_zone=0.0, twist_signs=(1, 1, -1))
    device.open()
    hid.twist(0, 0, 350)
    assert read_after(device, clock, 0.01).spin_rad_s == pytest.approx([0, 0, 1.0])
    device.close()


def test_a_device_that_is_unplugged_is_lost_for_good(device, hid, clock):
    device.open()
    hid.error = OSError("read error")
    for _ in range(2):
        with pytest.raises(DeviceError, match="'spacemouse' was lost: read error"):
            read_after(device, clock, 0.01)
        hid.error = None  # a port that answers again is another device
    device.close()
    device.open()
    read_after(device, clock, 0.01)


def test_no_package_no_device_and_no_permission_say_what_to_do(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "hid", None)
    with pytest.raises(DeviceError, match=r"hidapi is missing .*pip install palpate\[hid\]"):
        SpaceMouse().open()
    with pytest.raises(DeviceError, match=r"0 connected, so there is no number 0; connect it.*udev rule"):
        SpaceMouse(import_module=lambda: FakeHid(interfaces=[])).open()
    with pytest.raises(DeviceError, match=r"cannot be opened \(open failed\); add the udev rule"):
        SpaceMouse(import_module=lambda: FakeHid(refuses=True)).open()


def test_what_is_available_is_said_without_opening_anything(hid, monkeypatch):
    monkeypatch.setattr(spacemouse.importlib.util, "find_spec", lambda name: None)
    assert spacemouse.available() == "not found: the package hidapi is missing (pip install palpate[hid])"
    monkeypatch.setattr(spacemouse.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(spacemouse, "import_hid", lambda: hid)
    assert spacemouse.available() == "found SpaceMouse Compact"
    hid.interfaces = []
    assert spacemouse.available() == "not found: no SpaceMouse is connected"
    assert not hid.opened


def test_only_the_motion_interface_of_a_spacemouse_is_taken():
    def interface(path, vendor, product, usage):
        return {"path": path, "vendor_id": vendor, "product_id": product, "product_string": "", "usage_page": 1,
                "usage": usage}  # fmt: skip

    found = [interface(b"keyboard", 0x256F, 0xC652, 6), interface(b"mouse", 0x046D, 0xC077, 2),
             interface(b"other", 0x046D, 0xC077, 8), interface(b"old", 0x046D, 0xC626, 8),
             interface(b"new", 0x256F, 0xC652, 8)]  # fmt: skip
    hid = FakeHid(interfaces=found)
    for index, path in enumerate((b"old", b"new")):
        device = SpaceMouse(index, import_module=lambda: hid)
        device.open()
        assert hid.path == path
        device.close()


def test_it_makes_no_force(device):
    device.open()
    device.write(np.zeros(6))
    with pytest.raises(DeviceError, match="its limit is 0 N"):
        device.write(wrench([0.1, 0.0, 0.0]))
    assert device.spec.actuates == 0


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
    assert ended == ["the device 'spacemouse' is not open"]


# ---- rate control

deflections = st.lists(st.floats(-2.0, 2.0), min_size=6, max_size=6).map(np.array)


@settings(deadline=None)
@given(st.lists(st.tuples(deflections, st.floats(0.0, 0.3)), max_size=30))
def test_the_hand_stays_in_its_workspace_and_velocity_is_that_of_the_position(moves):
    rate = RateControl(0.05, 0.5, 1.0, 0.1)
    for deflection, dt_s in moves:
        before = rate.position_m.copy()
        rate.advance(deflection, dt_s)
        assert np.linalg.norm(rate.position_m) <= 0.05 * (1 + 1e-12)
        assert np.linalg.norm(rate.quaternion) == pytest.approx(1.0)
        if dt_s > 1e-6:
            step = min(dt_s, LONGEST_STEP_S)
            assert before + step * rate.velocity_m_s == pytest.approx(rate.position_m, abs=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_axis_that_is_not_a_number_does_not_move_the_hand(bad):
    rate = RateControl(0.05, 0.5, 1.0, 0.1)
    rate.advance(np.array([bad, 1.0, bad, bad, 0.0, 0.0]), 0.01)
    assert rate.position_m == pytest.approx([0.0, 0.005, 0.0])
    assert not rate.spin_rad_s.any()


@settings(deadline=None)
@given(st.floats(-1.0, 1.0), st.floats(0.0, 0.9))
def test_the_dead_zone_is_dead_and_the_rest_is_continuous_and_full_at_the_end(deflection, dead_zone):
    d = shaped(np.array([deflection, 1.0, -1.0, dead_zone]), dead_zone)
    assert abs(d[0]) == pytest.approx(max(0.0, (abs(deflection) - dead_zone) / (1 - dead_zone)))
    assert d[0] * deflection >= 0.0
    assert d[1:] == pytest.approx([1.0, -1.0, 0.0])


@pytest.mark.parametrize("wrong", [{"radius_m": 0.0}, {"speed_m_s": np.nan}, {"spin_rad_s": -1.0}, {"dead_zone": 1.0},
                                   {"twist_signs": (1, 0, 1)}])  # fmt: skip
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SpaceMouse(**wrong)
