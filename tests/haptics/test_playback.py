"""Playback: a recorded hand is where its recording says, and a bad recording is refused by its line."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate.haptics.devices.port import LOST, NOTHING_NEW, OK
from palpate.haptics.devices.protocol import DeviceError, DeviceReading
from palpate.haptics.devices.simulation.playback import (
    COLUMNS,
    HandRecording,
    Playback,
    read_recording,
    write_recording,
)

pytestmark = pytest.mark.nojit

HEADER = ",".join(COLUMNS)
LINE = HandRecording([5.0, 6.0, 8.0], [[0, 0, 0], [0.1, 0, 0], [0.1, 0.2, 0]], buttons=[0, 1, 3])


def opened(recording=None, **options) -> Playback:
    device = Playback(recording, **options)
    device.open()
    return device


def at(device: Playback, time_s: float) -> DeviceReading:
    reading = DeviceReading()
    device.seek(time_s)
    device.read(reading)
    return reading


def turned(axis, angle) -> np.ndarray:
    """Quaternion of a turn by an angle about a unit axis."""
    return np.r_[math.cos(angle / 2), math.sin(angle / 2) * np.array(axis)]


def product(a, b) -> np.ndarray:
    return np.r_[a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]


numbers = st.floats(-1.0, 1.0, allow_nan=False)
vectors = st.tuples(*[numbers] * 3)


@st.composite
def recordings(draw):
    n = draw(st.integers(1, 8))
    time = np.cumsum(draw(st.lists(st.floats(1e-3, 1.0), min_size=n, max_size=n)))
    table = np.array(draw(st.lists(st.tuples(*[numbers] * 7), min_size=n, max_size=n))).reshape(n, 7)
    table[:, 3] += 2.0  # a quaternion of some length
    buttons = draw(st.lists(st.integers(0, 7), min_size=n, max_size=n))
    return HandRecording(time, table[:, :3], table[:, 3:], buttons)


# ---- playing


@settings(max_examples=40, deadline=None)
@given(recordings())
def test_at_its_rows_a_playback_is_its_recording(recording):
    device = opened(recording)
    for k, time in enumerate(recording.time_s - recording.time_s[0]):
        reading = at(device, time)
        assert reading.position_m == pytest.approx(recording.position_m[k], abs=1e-12)
        assert abs(reading.quaternion @ recording.quaternion[k]) == pytest.approx(1.0, abs=1e-12)
        last = k == len(recording.time_s) - 1
        assert reading.buttons == (0 if last else recording.buttons[k])


def test_between_rows_it_goes_straight_with_the_buttons_of_the_row_before():
    device = opened(LINE)
    for time, position, velocity, buttons in (
        (0.0, (0, 0, 0), (0.1, 0, 0), 0),
        (0.25, (0.025, 0, 0), (0.1, 0, 0), 0),
        (1.0, (0.1, 0, 0), (0, 0.1, 0), 1),
        (2.5, (0.1, 0.15, 0), (0, 0.1, 0), 1),
    ):
        reading = at(device, time)
        assert reading.position_m == pytest.approx(position, abs=1e-15)
        assert reading.velocity_m_s == pytest.approx(velocity, abs=1e-15)
        assert reading.buttons == buttons


@settings(max_examples=60, deadline=None)
@given(vectors, st.floats(0.0, 3.1), vectors, st.floats(0.0, 0.999), st.sampled_from([1, -1]))
def test_orientation_turns_about_one_axis_at_a_steady_rate(start, angle, axis, u, sign):
    """Slerp, the shorter way round whatever the quaternion's sign; spin is in the device's axes."""
    if np.linalg.norm(axis) < 1e-2:
        return
    axis = np.array(axis) / np.linalg.norm(axis)
    size = np.linalg.norm(start)
    q0 = turned(np.array(start) / size, size) if size > 0 else np.array([1.0, 0, 0, 0])
    q1 = sign * product(turned(axis, angle), q0)
    device = opened(HandRecording([0.0, 0.5], np.zeros((2, 3)), [q0, q1]))
    reading = at(device, 0.5 * u)
    expected = product(turned(axis, u * angle), q0)
    assert abs(reading.quaternion @ expected) == pytest.approx(1.0, abs=1e-9)
    assert reading.spin_rad_s == pytest.approx(2.0 * angle * axis, abs=1e-6)


def test_after_its_end_the_pose_is_held_and_nothing_is_pressed():
    device, reading = opened(LINE), DeviceReading()
    device.advance(2.9)
    device.read(reading)
    assert reading.buttons == 1
    for _ in range(3):
        device.advance(1.0)
        device.read(reading)
        assert reading.position_m.tolist() == [0.1, 0.2, 0]
        assert reading.velocity_m_s.tolist() == [0, 0, 0]
        assert reading.buttons == 0


def test_a_loop_begins_again():
    device, reading = opened(LINE, loop=True), DeviceReading()
    for k in range(1, 10):
        device.advance(1.375)
        device.read(reading)
        t = (1.375 * k) % 3.0
        assert device.time_s == pytest.approx(t, abs=1e-12)
        assert reading.position_m == pytest.approx((min(0.1 * t, 0.1), max(0.0, 0.1 * (t - 1.0)), 0.0), abs=1e-12)
        assert reading.buttons == (t >= 1.0)
    device.advance(3000.0)
    assert 0.0 <= device.time_s < 3.0


def test_speed_stretches_time_and_zero_pauses():
    device, reading = opened(LINE, speed=2.0), DeviceReading()
    device.advance(0.25)
    device.read(reading)
    assert device.time_s == 0.5
    assert reading.position_m == pytest.approx((0.05, 0, 0))
    assert reading.velocity_m_s == pytest.approx((0.2, 0, 0))  # as fast as the hand now seems to move
    device.speed = 0.0
    device.advance(1.0)
    device.read(reading)
    assert device.time_s == 0.5
    assert reading.velocity_m_s.tolist() == [0, 0, 0]


def test_an_empty_recording_senses_nothing():
    device, reading = opened(), DeviceReading()
    device.advance(1.0)
    device.read(reading)
    assert math.isnan(reading.sampled_at_s)
    assert reading.buttons == 0
    assert device.in_tick.sample(device.in_tick.block.address) == NOTHING_NEW
    opened(loop=True).advance(1.0)


def test_the_tick_plays_it_too():
    device = opened(LINE)
    port, block = device.in_tick.port, device.in_tick.block.address
    port.dt = 0.125
    for k in range(12):
        port.now_s = 100.0 + k
        assert device.in_tick.sample(block) == OK
        assert port.sampled_s == 100.0 + k
        assert port.position == pytest.approx(at(device, device.time_s).position_m)
        assert port.buttons == (k >= 8)
        assert device.in_tick.send(block) == OK
    device.close()
    assert device.in_tick.sample(block) == LOST
    assert device.in_tick.send(block) == LOST


def test_two_runs_have_the_same_bits():
    runs = []
    for _ in range(2):
        device, reading = opened(LINE, speed=0.7, loop=True), DeviceReading()
        for _ in range(200):
            device.advance(0.0137)
            device.read(reading)
            runs.append(np.r_[reading.position_m, reading.velocity_m_s, reading.quaternion].tobytes())
    assert runs[:200] == runs[200:]


def test_impossible_wishes_are_refused():
    device = opened(LINE)
    with pytest.raises(ValueError, match="begins at 0 s"):
        device.seek(-1.0)
    with pytest.raises(ValueError, match="zero or more"):
        device.speed = -1.0
    with pytest.raises(ValueError, match="positive number of seconds"):
        device.advance(0.0)
    device.seek(99.0)
    assert device.time_s == device.duration_s == 3.0
    device.close()
    with pytest.raises(DeviceError, match="is not open"):
        device.advance(1.0)


# ---- files


@settings(max_examples=20, deadline=None)
@given(recordings())
def test_a_recording_survives_its_file(tmp_path_factory, recording):
    path = tmp_path_factory.mktemp("hand") / "hand.csv"
    write_recording(path, recording)
    again = read_recording(path)
    assert again.time_s.tobytes() == recording.time_s.tobytes()
    assert again.position_m.tobytes() == recording.position_m.tobytes()
    assert again.quaternion == pytest.approx(recording.quaternion, abs=1e-15)
    assert again.buttons.tolist() == recording.buttons.tolist()


def test_orientation_and_buttons_may_be_missing_and_columns_in_any_order(tmp_path):
    path = tmp_path / "hand.csv"
    path.write_text("z,y,x,time_s\n3, 2, 1, 0\n\n6,5,4,0.5\n")
    recording = Playback(path).recording
    assert recording.position_m.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert recording.quaternion.tolist() == [[1, 0, 0, 0]] * 2
    assert recording.buttons.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: the header must be"),
        ("t,x,y,z\n", "line 1: the header must be"),
        ("time_s,x,y,z,qw\n", "line 1: the header must be"),
        ("time_s,x,y,z,x\n", "line 1: the header must be"),
        (f"{HEADER}\n0,0,0,0,1,0,0,0\n", "line 2: 8 values, the header has 9"),
        (f"{HEADER}\n0,0,0,0,1,0,0,0,0\n1,0,zero,0,1,0,0,0,0\n", "line 3: y is 'zero', not a number"),
        (f"{HEADER}\n1,0,0,0,1,0,0,0,0\n\n1,0,0,0,1,0,0,0,0\n", "line 4: time_s does not increase"),
        (f"{HEADER}\n0,0,0,nan,1,0,0,0,0\n", "line 2: every number must be finite"),
        (f"{HEADER}\n0,0,0,0,0,0,0,0,0\n", "line 2: a quaternion of length zero"),
        (f"{HEADER}\n0,0,0,0,1,0,0,0,0.5\n", "line 2: buttons are bits"),
        (f"{HEADER}\n0,0,0,0,1,0,0,0,-1\n", "line 2: buttons are bits"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_with_its_number(tmp_path, text, said):
    path = tmp_path / "hand.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=said) as caught:
        Playback(path)
    assert "\n" not in str(caught.value)
    assert "hand.csv" in str(caught.value)


def test_a_file_that_is_missing_or_not_text_is_refused_in_one_line(tmp_path):
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        Playback(tmp_path / "nowhere.csv")
    (tmp_path / "hand.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="cannot be read"):
        Playback(tmp_path / "hand.csv")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([0.0, 1.0], [[0, 0, 0]]), "position_m has shape"),
        (([0.0], [[0, 0, 0]], [[1, 0, 0]]), "quaternion has shape"),
        (([0.0, 0.0], np.zeros((2, 3))), "row 1: time_s does not increase"),
        (([0.0], [[0, 0, math.inf]]), "row 0: every number must be finite"),
    ],
)
def test_bad_arrays_are_refused_by_their_row(arguments, said):
    with pytest.raises(ValueError, match=said):
        HandRecording(*arguments)
