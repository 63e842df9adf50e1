"""What every simulation tells a page: defaults for what it leaves out, one line for what cannot be."""

import json

import pytest

from palpate.frame import BASE, COUNTERS, FRAME, Field, Layout
from palpate.runtime.hello import complete, replayed, signal_plots

TANK = Layout((*BASE, Field("level", "f", (), "of the water", "m", "Tank"), Field("inflow", "f", (), "into it")))
SLIDER = {"event": "inflow", "label": "Inflow", "field": "inflow", "unit": "l/s", "low": 0, "high": 2, "step": 0.1,
          "value": 1}  # fmt: skip
LIST = {"event": "valve", "label": "Valve", "field": "inflow", "choices": ["shut", "half", "open"]}


def test_a_simulation_that_says_nothing_is_shown_all_the_same():
    hello = json.loads(json.dumps(complete({}, Layout(BASE)), allow_nan=False))
    assert (hello["bodies"], hello["start"], hello["settings"], hello["path"]) == ([], [], [], [])
    assert hello["counters"] == list(COUNTERS)
    assert [plot["name"] for plot in hello["plots"]] == ["lateness"]
    assert set(hello["events"]) == {"play", "pause", "step", "reset", "speed"}
    assert {field["name"] for field in hello["frame"]} == {field.name for field in BASE}


def test_what_it_says_counts_and_bodies_begin_at_the_origin():
    own = {"title": "A tank", "bodies": [{"name": "world"}, {"name": "tank"}], "panels": ["touch"],
           "settings": [SLIDER], "events": {"inflow": {"kind": 40, "low": 0, "high": 2}}}  # fmt: skip
    hello = complete(own, TANK)
    assert all(hello[key] == own[key] for key in ("title", "panels"))
    for said, given in zip((*hello["bodies"], *hello["settings"]), (*own["bodies"], *own["settings"]), strict=True):
        assert said | given == said
    assert hello["events"]["inflow"] == own["events"]["inflow"]
    assert "play" in hello["events"]
    assert hello["start"] == 2 * [[0, 0, 0, 1, 0, 0, 0]]


def test_signals_of_a_group_are_one_plot_and_each_number_has_its_line():
    layout = Layout((*BASE, Field("a", "f", (2,), "", "m", "G"), Field("b", "i", (), "", "", "H"),
                     Field("c", "f", (), "", "m", "G"), Field("alone", "f", (), "", "K"),
                     Field("none", "f", (), "")))  # fmt: skip
    plots = {plot["name"]: (plot["unit"], [s["label"] for s in plot["series"]]) for plot in signal_plots(layout)}
    assert plots == {"G": ("m", ["a 1", "a 2", "c"]), "H": ("", ["b"]), "alone": ("K", ["alone"])}
    once = complete({"plots": [{"name": "G", "title": "Mine", "unit": "m", "series": []}]}, layout)["plots"]
    assert [plot["title"] for plot in once] == ["Mine", "H", "alone", "Latest tick"]  # its own takes the place


def test_a_setting_with_names_is_the_place_of_one_of_them():
    own = {"settings": [LIST], "events": {"valve": {"kind": 40, "low": 0, "high": 2, "whole": True}}}
    (setting,) = complete(own, TANK)["settings"]
    assert [setting[key] for key in ("low", "high", "step", "value", "switch")] == [0, 2, 1, 0, False]


def test_hands_that_turn_have_a_spring_for_it_and_others_none():
    assert "stiffness_Nm_rad" not in complete({}, TANK)["hand"]
    hand = complete({"hand": {"plane": [0, 0, 1], "turns": [0, 0, 1], "force_limit_N": 8.0}}, TANK)["hand"]
    assert (hand["plane"], hand["turns"], hand["force_limit_N"]) == ([0, 0, 1], [0, 0, 1], 8.0)
    assert hand["stiffness_N_m"] > 0
    assert hand["stiffness_Nm_rad"] > 0
    assert complete({"hand": {"turns": [0, 0, 1], "stiffness_Nm_rad": 2.0}}, TANK)["hand"]["stiffness_Nm_rad"] == 2.0


def test_a_recording_can_be_played_and_not_be_set():
    hello = replayed(
        complete({"settings": [SLIDER], "events": {"inflow": {"kind": 40}}}, TANK) | {"duration_s": 7.5}, TANK
    )
    assert (hello["mode"], hello["settings"]) == ("replay", [])
    assert set(hello["events"]) == {"play", "pause", "step", "reset", "speed", "seek"}
    assert (hello["events"]["seek"]["low"], hello["events"]["seek"]["high"]) == (0.0, 7.5)


@pytest.mark.parametrize(("own", "fields", "why"), [
    ({}, BASE[1:], "these have no tick"),
    ({}, (*BASE, Field("pose", "i", (3, 7), "")), "knows these fields as something else: pose"),
    ({"settings": [SLIDER]}, BASE, "fields that its frames have not: inflow"),
    ({"settings": [SLIDER | {"step": 0}]}, TANK.fields, "unlike Inflow"),
    ({"settings": [SLIDER | {"low": 2}]}, TANK.fields, "unlike Inflow"),
    ({"settings": [SLIDER]}, TANK.fields, "events that it does not list: inflow"),
    ({"plots": [{"name": "x", "title": "", "unit": "", "series": [{"longest": ["wind"]}]}]}, BASE, "have not: wind"),
    ({"settings": [LIST | {"choices": ["one"]}]}, TANK.fields, "two names or more"),
    ({"settings": [LIST | {"choices": ["one", "one"]}]}, TANK.fields, "have one name"),
    ({"settings": [LIST | {"high": 9}]}, TANK.fields, "low 0, high 2, step 1; not its high"),
    ({"settings": [LIST], "events": {"valve": {"kind": 40, "low": 0, "high": 1}}}, TANK.fields, "its event goes"),
    ({"hand": {"plane": [0, 0, 0]}}, BASE, "'plane' is a direction"),
    ({"hand": {"turns": [0, 1]}}, BASE, "'turns' is a direction"),
    ({"plots": 2 * [{"name": "x", "title": "", "unit": "", "series": []}]}, BASE, "have one name: x, x"),
])  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(own, fields, why):
    with pytest.raises(ValueError, match=why) as said:
        complete(own, Layout(fields))
    assert "\n" not in str(said.value)


def test_what_all_frames_have_is_the_beginning_of_a_worlds():
    assert set(BASE) < set(FRAME)
    assert [field.name for field in BASE] == [
        "tick", "wall_ns", "state", "counters", "lateness", "time_s", "tick_us", "speed",
    ]  # fmt: skip
