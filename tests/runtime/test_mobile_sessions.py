"""The mobile display in sessions, in real time: recorded, reset, with another device in the place of its own."""

import csv

import numpy as np
import pytest
from waiting import until

from palpate import jit
from palpate.haptics.devices.opening import open_device
from palpate.mobile.scenes import mobile
from palpate.record.export import export
from palpate.record.reader import Recording
from palpate.runtime.commands import default_reach
from palpate.runtime.record.player import shown_hello
from palpate.runtime.world.session import WorldSession

pytestmark = [
    pytest.mark.skipif(jit.DISABLED, reason="a session needs compiled kernels"),
    pytest.mark.real_time,
]


def walk_on(session: WorldSession, ahead_m: float) -> None:
    """As a page does with a key that is held."""

    def there() -> bool:
        session.send("walk_ahead", 1.0)
        return bool(session.frame()["mobile_user"][0, 1] > ahead_m)

    until(there)
    session.send("walk_ahead", 0.0)


def test_a_recorded_walk_is_replayed_with_all_that_was_shown_and_exported_with_all_that_was_measured(tmp_path):
    path = tmp_path / "walk.mcap"
    with WorldSession(mobile(), record=path) as session:
        walk_on(session, 0.15)
        until(lambda: session.frame()["mobile_robot"][0, 1] > 0.9)  # the robot makes way
    with Recording(path) as recording:
        hello = shown_hello(recording)
        names = [body["name"] for body in hello["bodies"]]
        first, last = (recording.layout.unpack(recording.frame(k)) for k in (0, len(recording) - 1))
    assert (hello["keys"], hello["walk"], hello["person"], hello["settings"]) == ([], {}, None, [])  # to look at only
    assert hello["eyes"]["body"] == "head"
    assert hello["tips"] == ["tip"]
    assert [each["name"] for each in hello["maps"]] == ["From above", "From the front", "From the side"]
    for name in ("robot", "mast", "person", "head", "hand", "turret", "link 1", "link 2", "tip"):
        row = names.index(name)
        assert hello["bodies"][row]["shapes"], name
        assert last["pose"][row, 0] < first["pose"][row, 0], name  # ahead is along -x
    export(path, tmp_path / "walk.csv", "csv")
    rows = list(csv.DictReader((tmp_path / "walk.csv").read_text().splitlines()))
    assert float(rows[-1]["mobile_user.1"]) == last["mobile_user"][0, 1]
    told = {"mobile_robot.2", "mobile_command.0", "mobile_given_N.0", "mobile_distance_m.0", "mobile_packets.0",
            "mobile_error_mm.0", "mobile_follower", "device0.force_x"}  # fmt: skip
    assert told <= set(rows[0])


def test_a_reset_brings_person_and_robot_back_and_they_go_on_from_there():
    with WorldSession(mobile()) as session:
        begin = {name: session.frame()[name].copy() for name in ("mobile_user", "mobile_hand")}
        walk_on(session, 0.15)
        session.reset()
        until(lambda: (session.frame()["mobile_user"] == begin["mobile_user"]).all())
        until(lambda: session.frame()["tick"] > 50)
        frame = session.frame()
        assert frame["mobile_hand"] == pytest.approx(begin["mobile_hand"], abs=1e-9)
        assert frame["mobile_robot"][0] == pytest.approx((0.0, 0.85, 0.0), abs=0.02)
        assert frame["mobile_least_m"][0] == pytest.approx(0.85, abs=0.02)  # it begins anew, too
        walk_on(session, 0.05)


@pytest.mark.parametrize("name", ["simulated:phantom-premium-1.5", "simulated:touch"])
def test_a_device_that_is_given_takes_the_place_of_the_one_that_is_carried(name):
    scene, device = mobile(), open_device(name)
    try:
        with WorldSession(scene, [(device, default_reach(scene, device.spec, "push"))]) as session:
            until(lambda: session.frame()["tick"] > 300)
            assert session.simulation.hello()["devices"][0]["name"] == device.spec.name
            assert len(session.frame()["device_position"]) == 1
            frame = session.frame()
            # the hand is where the device is, in the room and on the robot, and not where a page would lead it
            hand = frame["mobile_hand"][0]
            at = np.array([-hand[2], -hand[0], hand[1]])
            assert at == pytest.approx(frame["device_position"][0], abs=2e-3)
            assert np.linalg.norm(hand - frame["mobile_middle"][0]) < 0.2
            assert frame["mobile_lost"][0] == 0
    finally:
        device.close()


def test_a_carried_device_that_is_lost_is_said_once_and_nothing_else_is():
    """Whoever collects what frames tell knows the scene's own devices too."""
    said: list[str] = []
    scene = mobile()
    with WorldSession(scene, say=said.append) as session:
        until(lambda: session.frame()["device_state"][0] == 2)  # on
        assert not said
        assert not session.report.notes
        scene.devices[0][0].close()
        until(lambda: session.report.notes)
        walk_on(session, 0.1)
    assert len(session.report.notes) == 1
    assert "lost" in session.report.notes[0]
    assert not [line for line in said if line.startswith(("collect", "watch", "tend"))]
