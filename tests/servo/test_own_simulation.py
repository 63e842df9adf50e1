"""A simulation of a user's own, in one file of less than 100 lines, has all that a World has around it.

examples/own_simulation.py is that file: it is the test of the seam between the servo and what it runs.
"""

import csv
import math
import sys

import numpy as np
import pytest
from toys import EXAMPLE, example
from waiting import until

import palpate as pp
from palpate.frame import BASE
from palpate.record.reader import Recording
from palpate.servo.ring import Ring


@pytest.fixture(scope="module")
def toy():
    return example()


def test_it_is_short():
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 100


def test_in_simulated_time_it_falls_as_a_point_does_and_bounces_with_its_restitution(toy):
    run = pp.Run(toy.Bouncing())
    run.seconds(2.0)
    time, height, bounces = run.history("time_s"), run.history("height_m"), run.history("bounces")
    falling, first = bounces == 0, int(np.argmax(bounces > 0))
    exact = toy.START_M - 0.5 * toy.G_M_S2 * time[falling] ** 2
    assert np.abs(height[falling] - exact).max() < toy.G_M_S2 * time[first] * 1e-3  # a step of 1 ms behind
    apex = height[first : first + np.argmax(bounces[first:] == 2)].max() - toy.RADIUS_M
    assert apex == pytest.approx(0.8**2 * (toy.START_M - toy.RADIUS_M), rel=0.02)


def test_it_is_paused_set_and_reset_in_a_session(toy):
    with pp.touch(toy.Bouncing(), page=False) as session:
        until(lambda: session.frame()["bounces"] > 0)
        session.send("restitution", 0.25)
        assert until(lambda: session.frame()["restitution"] == 0.25)
        session.pause()
        until(lambda: session.frame()["state"] == 0)
        height = session.frame()["height_m"]
        session.step()
        until(lambda: session.frame()["height_m"] != height)
        session.reset()
        frame = until(lambda: (f := session.frame())["tick"] == 0 and f)
        assert (frame["height_m"], frame["bounces"], frame["restitution"]) == (toy.START_M, 0, 0.25)


def test_it_is_recorded_replayed_and_exported(toy, tmp_path):
    from palpate.record.export import export
    from palpate.runtime.record.player import Player, shown_layout

    file = tmp_path / "bouncing.mcap"
    with pp.touch(toy.Bouncing(), page=False, record=file) as session:
        until(lambda: session.frame()["bounces"] > 1)
        session.mark("twice")
    with Recording(file) as recording:
        assert recording.hello["scene"] == "bouncing"
        names = {field.name for field in recording.layout.fields}
        assert names == {field.name for field in (*BASE, *toy.FIELDS)}
        layout = shown_layout(recording)
        frames, events = Ring.create(256, layout.words, shared=False), Ring.create(8, 10, shared=False)
        with Player(recording, frames, events):
            shown = until(lambda: [m for _, m in [frames.newest()] if layout.read(m, "height_m") < toy.START_M])[0]
        assert layout.read(shown, "pose")[1][2] == layout.read(shown, "height_m")
        bounces = [recording.layout.read(recording.frame(k), "bounces") for k in range(recording.count)]
        assert max(bounces) == 2 or max(bounces) == 3
        export(file, tmp_path / "bouncing.csv", "csv", everything=True)
    with (tmp_path / "bouncing.csv").open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    assert [int(row["bounces"]) for row in rows] == bounces
    assert all(math.isfinite(float(row["height_m"])) for row in rows)


def test_devices_and_controllers_are_for_worlds(toy):
    with pytest.raises(ValueError, match="move a World's joints"):
        pp.touch(toy.Bouncing(), page=False, controllers=[object()])
    with pp.open_device("simulated:omni") as device, pytest.raises(ValueError, match="reach into a World"):
        pp.touch(toy.Bouncing(), device)


def test_a_name_of_its_own_is_one_line_of_a_registry_and_its_page_is_told_all_it_needs(toy, monkeypatch):
    from palpate.runtime.commands import build
    from palpate.runtime.hello import hello_of
    from palpate.scenes import SCENES

    monkeypatch.setitem(sys.modules, "own_simulation", toy)
    monkeypatch.setitem(SCENES, "bouncing", ("own_simulation:Bouncing", "a ball that bounces"))
    hello = hello_of(build("bouncing", None))
    assert [body["name"] for body in hello["bodies"]] == ["world", "ball"]
    (slider,) = hello["settings"]
    assert (slider["event"], slider["low"], slider["high"]) == ("restitution", 0.0, 1.0)
    assert hello["events"]["restitution"]["kind"] == toy.Bouncing().kind_of("restitution")
    assert "height" in [plot["name"] for plot in hello["plots"]]
    with pytest.raises(ValueError, match="nothing is planned"):
        build("bouncing", "hold")
