"""Opening devices by name: kinds, what follows the colon, options, and one line for everything that is wrong."""

import re

import pytest

import palpate as pp
from palpate import cli
from palpate.haptics.devices import DEVICES, DRIVERS
from palpate.haptics.devices.opening import availability, make_device, open_device
from palpate.haptics.devices.protocol import DeviceError
from palpate.haptics.devices.simulation.playback import HandRecording, Playback, write_recording
from palpate.haptics.devices.simulation.simulated import Simulated


@pytest.mark.parametrize("name", DEVICES)
def test_every_device_of_ours_opens_by_its_name(name):
    with open_device(name) as device:
        assert device.is_open
    assert not device.is_open


@pytest.mark.parametrize("model", ["phantom-premium-1.5", "touch", "omni"])
def test_what_follows_the_colon_says_which(model):
    with open_device(f"simulated:{model}") as device:
        assert isinstance(device, Simulated)
        assert model in device.spec.name


def test_a_recording_is_opened_by_its_file(tmp_path):
    path = tmp_path / "hand.csv"
    write_recording(path, HandRecording((0.0, 1.0), ((0, 0, 0), (0.1, 0, 0))))
    with pp.open_device(f"playback:{path}", speed=2.0) as device:
        assert isinstance(device, Playback)
        assert (device.duration_s, device.speed) == (1.0, 2.0)


def test_options_go_to_the_device():
    person = pp.Hand(intent=((0.0, (0.01, 0.0, 0.0)),))
    with pp.open_device("simulated", hand=person) as device:
        assert device.hand is person


def test_making_a_device_does_not_open_it():
    assert not make_device("null").is_open


@pytest.mark.parametrize(("name", "options", "message"), [
    ("simulate", {}, "no device is called 'simulate'; did you mean 'simulated'?"),
    ("openhaptic", {}, "did you mean 'openhaptics'?"),
    ("xyzzy", {}, "no device is called 'xyzzy'; there are: "),
    ("", {}, "no device is called ''; there are: "),
    ("simulated:phantom-premium", {}, "no simulated device is called 'phantom-premium'; there are: "),
    ("simulated", {"colour": "red"}, "the device 'simulated' cannot be made like this: "),
    ("null:7", {}, "the device 'null:7' cannot be made like this: "),
    ("playback:nowhere.csv", {}, "the recording 'nowhere.csv' cannot be read: "),
    ("playback", {"speed": -1.0}, "the speed of a playback is zero or more"),
])  # fmt: skip
def test_what_cannot_be_opened_is_one_line(name, options, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        open_device(name, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_without_its_library_says_what_is_missing(name):
    if not availability(name).startswith("not found"):
        pytest.skip(f"{name} is on this machine: {availability(name)}")
    with pytest.raises(DeviceError) as error:
        open_device(name)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) > 20


@pytest.mark.parametrize("name", DRIVERS)
def test_availability_is_one_line(name):
    told = availability(name)
    assert told.startswith(("found", "not found"))
    assert "\n" not in told


def test_the_command_line_lists_every_device_and_driver(capsys):
    assert cli.main(["devices"]) == 0
    out = capsys.readouterr().out
    for name in (*DEVICES, *DRIVERS):
        assert name in out
    assert "none of them tried on hardware" in out


def test_a_device_that_cannot_be_opened_is_one_line_and_exit_2(capsys):
    assert cli.main(["touch", "--device", "simulatd", "--no-browser"]) == 2
    error = capsys.readouterr().err.strip()
    assert "did you mean 'simulated'?" in error
    assert "\n" not in error
