"""The Haply driver against a fake of the Inverse Service: a real websocket on a loopback port."""

import json
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from contracts.test_devices import (  # noqa: F401  the contract, run here with the fake
    test_a_closed_device_refuses_to_work,
    test_a_wrench_above_a_limit_or_not_finite_is_refused,
    test_it_states_its_limits,
    test_reading_fills_the_callers_arrays_and_keeps_none_of_them,
)
from fake_haply import FakeService
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import WAIT_S

import palpate as pp
from palpate.haptics.devices.drivers import haply
from palpate.haptics.devices.drivers.haply import DEAD_S, MOST_MALFORMED, Haply
from palpate.haptics.devices.drivers.haply_messages import Malformed, force_field, force_message, parse, read_state
from palpate.haptics.devices.protocol import DeviceError, DeviceReading, wrench

pytestmark = pytest.mark.nojit
TURN = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])  # the vendor's x right, y away from the person, z up
NAMES = ("inverse3", "device_id", "state", "cursor_position", "cursor_velocity", "x", "y", "z")
PATIENCE_S = 20.0  # a busy machine must not look like a lost service


@pytest.fixture
def service():
    with FakeService() as service:
        yield service


def made(service, *arguments, **settings):
    settings = {"answer_s": PATIENCE_S} | settings
    return Haply(*arguments, port=service.port, events_port=service.events_port, **settings)


@pytest.fixture
def device(service):
    """For the contract."""
    device = made(service)
    yield device
    device.close()


@pytest.fixture
def opened(device):
    device.open()
    return device


def lost(device):
    """Why reading fails; None while it does not."""
    try:
        device.read(DeviceReading())
    except DeviceError as error:
        return str(error)
    return None


# ---- messages


numbers = st.floats(-1.0, 1.0)
vectors = st.fixed_dictionaries({"x": numbers, "y": numbers, "z": numbers})


@settings(deadline=None)
@given(vectors, vectors)
def test_states_are_turned_into_our_axes_about_the_centre(position, velocity):
    centre = np.array([-0.12, 0.0, 0.15])
    message = {"inverse3": [{"device_id": "A", "state": {"cursor_position": position, "cursor_velocity": velocity}}]}
    state = read_state(parse(json.dumps(message)), "A", centre, 3.0)
    assert state.position_m == pytest.approx(TURN @ [position[k] for k in "xyz"] - centre)
    assert state.velocity_m_s == pytest.approx(TURN @ [velocity[k] for k in "xyz"])
    assert state.sampled_at_s == 3.0
    assert read_state(message, "B", centre, 3.0) is None


@settings(deadline=None)
@given(numbers, numbers, numbers, st.sampled_from(["vector", "values"]))
def test_a_force_is_turned_back_and_works_where_it_should(x, y, z, field):
    """Power is the same in both frames: F . v does not depend on the axes."""
    message = json.loads(force_message("A", np.array([x, y, z]), field))
    vector = message["inverse3"][0]["commands"]["set_cursor_force"][field]
    theirs = [vector["x"], vector["y"], vector["z"]]
    assert TURN @ theirs == pytest.approx([x, y, z])
    assert "session" not in message


def test_away_left_and_up_mean_the_same_to_both():
    """In words: away from the person is the vendor's y, left is its -x, up is its z."""
    vector = json.loads(force_message("A", np.array([1.0, 2.0, 3.0]), "vector"))
    assert vector["inverse3"][0]["commands"]["set_cursor_force"]["vector"] == {"x": -2.0, "y": 1.0, "z": 3.0}


@pytest.mark.parametrize(("pressed", "bits"), [({"a": True, "c": True}, 0b101), ({"button_3": True}, 0b1000), ({}, 0)])
def test_a_grip_turns_with_the_axes_and_has_buttons(pressed, bits):
    axis = np.array([0.6, 0.0, 0.8])
    w, x, y, z = pp.Rotation.about(axis, 0.7).wxyz
    still = {"x": 0.0, "y": 0.0, "z": 0.0}
    grip = {"orientation": {"w": w, "x": x, "y": y, "z": z}, "buttons": pressed}
    message = {
        "inverse3": [{"device_id": "A", "state": {"cursor_position": still, "cursor_velocity": still}}],
        "wireless_verse_grip": [{"device_id": "61548", "state": grip}],
    }
    state = read_state(message, "A", np.zeros(3), 0.0)
    assert state.quaternion == pytest.approx(np.array(pp.Rotation.about(TURN @ axis, 0.7).wxyz))
    assert state.buttons == bits


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "7", '{"inverse3": 3}', '{"inverse3": [3]}', '{"inverse3": [{"device_id": "A"}]}',
        '{"inverse3": [{"device_id": "A", "state": {"cursor_position": {"x": 0, "y": 0}, "cursor_velocity": {}}}]}',
        '{"inverse3": [{"device_id": "A", "state": {"cursor_position": {"x": NaN, "y": 0, "z": 0}}}]}',
        '{"inverse3": [{"device_id": "A", "state": {"cursor_position": {"x": "far", "y": 0, "z": 0}}}]}',
    ],
)  # fmt: skip
def test_nonsense_is_malformed_and_nothing_else(text):
    with pytest.raises(Malformed):
        read_state(parse(text), "A", np.zeros(3), 0.0)


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(NAMES), x),
    )
)
def test_any_json_is_a_state_or_malformed(anything):
    with suppress(Malformed):
        read_state(parse(json.dumps(anything)), "A", np.zeros(3), 0.0)


@pytest.mark.parametrize(
    ("version", "field"),
    [
        ({"project_version": "3.4.1.0"}, "values"), ({"project_version": "3.1.0.0"}, "values"),
        ({"project_version": "3.5.0.0"}, "vector"), ({"project_version": "4.0"}, "vector"),
        ({"ok": True, "data": {"project_version": "3.10.2"}}, "vector"), (None, "vector"),
        ({"project_version": "x"}, "vector"),
    ],
)  # fmt: skip
def test_the_name_of_the_force_is_chosen_by_version(version, field):
    assert force_field(version) == field


# ---- the conversation


def test_the_first_message_has_the_profile_and_no_force_and_the_others_have_no_profile(opened, service, eventually):
    eventually(lambda: len(service.messages) > 3)
    assert service.messages[0]["session"] == {"configure": {"profile": {"name": "palpate:touch"}}}
    assert not any("session" in message for message in service.messages[1:])
    assert service.forces["049D"][0] == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("version", "field"), [("3.4.0.0", "values"), ("3.5.0.0", "vector"), (None, "vector")])
def test_a_force_arrives_under_the_name_that_the_version_knows(version, field, eventually):
    with FakeService(version=version, accepts=(field,), wrapped=False) as service:
        device = made(service)
        device.open()

        def arrives():
            device.write(wrench([1.0, 0.5, 0.25]))
            return (-0.5, 1.0, 0.25) in service.forces["049D"]

        eventually(arrives)
        assert service.fields == {field}
        device.close()


def test_the_newest_reading_is_read_without_waiting(opened, service, eventually):
    service.position = {"x": 0.01, "y": -0.10, "z": 0.20}
    service.grip = {"orientation": {"w": 1, "x": 0, "y": 0, "z": 0}, "buttons": {"a": True}}
    reading = DeviceReading()

    def arrives():
        opened.read(reading)
        return reading.buttons == 1 and reading.position_m == pytest.approx([0.02, -0.01, 0.05])

    eventually(arrives)
    assert reading.sampled_at_s <= time.monotonic()


def test_a_force_that_is_not_renewed_ends(opened, service, eventually):
    """design.md section 6: after 50 ms zero, outside the loop."""

    def arrives():
        opened.write(wrench([1.0, 0.0, 0.0]))
        return service.forces["049D"][-1] == (0.0, 1.0, 0.0)

    eventually(arrives)
    time.sleep(DEAD_S)
    eventually(lambda: service.forces["049D"][-1] == (0.0, 0.0, 0.0))


def test_closing_sends_zero_force_last_always(opened, service, eventually):
    def arrives():
        opened.write(wrench([1.0, 0.0, 0.0]))
        return service.forces["049D"][-1] == (0.0, 1.0, 0.0)

    eventually(arrives)
    opened.close()
    opened.close()
    assert service.forces["049D"][-1] == (0.0, 0.0, 0.0)
    assert not any(thread.name == "palpate-haply" for thread in threading.enumerate())


def test_no_service_no_device_and_no_such_device_say_what_to_do():
    with FakeService() as service:
        port = service.port
        with pytest.raises(DeviceError, match="lists no Inverse3 'XXXX'; connect it"):
            made(service, "XXXX").open()
    with FakeService(device_ids=()) as empty, pytest.raises(DeviceError, match="lists no Inverse3; connect it"):
        made(empty).open()
    with pytest.raises(
        DeviceError, match=rf"no service at 127.0.0.1:{port} .*start the Haply Inverse Service"
    ) as error:
        Haply(port=port).open()
    assert "\n" not in str(error.value)


def test_what_is_available_is_said_without_opening_anything(service):
    assert haply.available(service.port) == f"found a service at 127.0.0.1:{service.port}"
    assert service.messages == []
    service.stop()
    assert haply.available(service.port).startswith("not found: nothing listens")


def test_a_service_that_closes_in_the_middle_is_a_loss(opened, service, eventually):
    service.stop()
    eventually(lambda: lost(opened))
    why = lost(opened)  # whichever of reading and writing meets the end first
    assert why.startswith("the device 'haply-inverse3' was lost: ")
    assert "the service closed the connection" in why or "closing transport" in why
    with pytest.raises(DeviceError, match="was lost"):
        opened.write(np.zeros(6))


def test_a_service_that_falls_silent_is_a_loss(service, eventually):
    device = made(service, answer_s=1.0)
    device.open()
    service.silent = True
    eventually(lambda: lost(device))
    assert lost(device).endswith("the service has not answered for 1 s")
    device.close()


def test_a_device_that_is_listed_no_more_is_a_loss(opened, service, eventually):
    service.ids.clear()
    eventually(lambda: lost(opened))
    assert lost(opened).endswith("the service does not list '049D' any more")


@pytest.mark.parametrize(
    "nonsense", ["{", "[]", '{"inverse3": [{"device_id": "049D", "state": {"cursor_position": NaN}}]}']
)
def test_malformed_answers_are_counted_and_too_many_are_a_loss(nonsense, opened, service, eventually):
    before = opened.malformed
    service.answer = nonsense
    eventually(lambda: opened.malformed > before)
    eventually(lambda: lost(opened))
    assert "the service talks nonsense" in lost(opened)
    assert opened.malformed == MOST_MALFORMED


def test_an_emergency_brake_takes_the_force_away_until_it_is_released(opened, service, eventually):
    eventually(lambda: opened.hears_events and service._listeners)
    service.tell("device-safety-triggered", device_id="049D", safety_type="ebrake_triggered")
    eventually(lambda: opened.braked)
    sent = len(service.forces["049D"])
    eventually(lambda: opened.write(wrench([1.0, 0.0, 0.0])) or len(service.forces["049D"]) > sent + 5)
    assert not np.any(service.forces["049D"][sent + 2 :])
    service.tell("device-safety-triggered", device_id="049D", safety_type="ebrake_released")

    def arrives():
        opened.write(wrench([1.0, 0.0, 0.0]))
        return service.forces["049D"][-1] == (0.0, 1.0, 0.0)

    eventually(arrives)
    assert lost(opened) is None
    assert opened.events == {"ebrake_triggered": 1, "ebrake_released": 1}


def test_events_are_counted_and_those_of_other_devices_are_not_ours(opened, service, eventually):
    eventually(lambda: opened.hears_events and service._listeners)
    service.tell("device-disconnected", device_id="FFFF")
    service.tell("device-safety-triggered", device_id="049D", safety_type="stability_ceiling")
    eventually(lambda: opened.events["stability_ceiling"] == 1)
    assert lost(opened) is None
    service.tell("device-disconnected", device_id="049D")
    eventually(lambda: lost(opened))
    assert lost(opened).endswith("the service says it was disconnected")


def test_a_service_without_events_is_served_all_the_same(service):
    device = Haply(port=service.port, events_port=1, answer_s=PATIENCE_S)
    device.open()
    assert lost(device) is None
    device.close()


def test_two_devices_at_different_rates_do_not_mix(eventually):
    with FakeService(device_ids=("left", "right")) as service:
        devices = [made(service, "left", rate_hz=500.0), made(service, "right", rate_hz=100.0)]
        for device in devices:
            device.open()

        def arrive():
            devices[0].write(wrench([1.0, 0.0, 0.0]))
            devices[1].write(wrench([2.0, 0.0, 0.0]))
            return (0.0, 1.0, 0.0) in service.forces["left"] and (0.0, 2.0, 0.0) in service.forces["right"]

        eventually(arrive)
        assert (0.0, 2.0, 0.0) not in service.forces["left"]
        devices[0].close()
        assert lost(devices[1]) is None
        devices[1].close()


def test_closing_while_another_thread_reads_ends_its_reading_with_one_clear_line(opened, eventually):
    ended, count = [], [0]

    def read():
        while (reason := lost(opened)) is None:
            count[0] += 1
        ended.append(reason)

    thread = threading.Thread(target=read)
    thread.start()
    eventually(lambda: count[0] > 20)
    opened.close()
    thread.join(WAIT_S)
    assert ended == ["the device 'haply-inverse3' is not open"]


@pytest.mark.parametrize("wrong", [{"field": "force"}, {"rate_hz": 0.0}, {"force_limit_N": -1.0}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Haply(**wrong)
