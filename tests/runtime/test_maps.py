"""Maps, and a person in the scene, in a hello: any simulation may list them; what cannot be is refused in one line."""

import json
import math

import pytest

from palpate.frame import BASE, Field, Layout
from palpate.record import RecordError
from palpate.record.scene_file import read_scene
from palpate.runtime.hello import complete, merge_hello, replayed
from palpate.runtime.maps import NEEDS

POND = Layout((*BASE, Field("duck", "f", (2, 3), ""), Field("heading", "f", (), ""), Field("hungry", "i", (), "")))
EVENTS = {"swim": {"kind": 40, "low": -1, "high": 1}, "quack": {"kind": 41, "low": 0, "high": 1}}
BODIES = [{"name": "world"}, {"name": "head", "touchable": True}, {"name": "wing", "touchable": True}, {"name": "reed"}]
X, PHI = (
    {"label": "x", "unit": "m", "low": -2, "high": 2},
    {"unit": "rad", "low": -math.pi, "high": math.pi, "wraps": True},
)
Q, P = ["duck", 0], ["duck", 4]
ALL = [
    {"kind": "point", "x": Q, "y": P, "label": "duck"}, {"kind": "cross", "x": Q, "y": 0.5, "when": "hungry"},
    {"kind": "circle", "x": Q, "y": P, "radius": 0.5, "filled": True}, {"kind": "trail", "x": Q, "y": P},
    {"kind": "arrow", "x": Q, "y": P, "dx": 0.1, "dy": ["duck", 5]},
    {"kind": "arrow", "x": Q, "y": P, "angle": "heading", "length": 0.3}, {"kind": "band", "y": P, "radius": "heading"},
]  # fmt: skip


def pond(**more):
    return complete({"bodies": BODIES, "events": EVENTS} | more, POND)


def one(**more):
    return pond(maps=[{"name": "from above", "x": X, "y": X} | more])


def test_every_kind_of_item_can_be_told_and_goes_through_json():
    assert {item["kind"] for item in ALL} == set(NEEDS)
    hello = json.loads(json.dumps(one(items=ALL, y=PHI), allow_nan=False))
    for said, given in zip(hello["maps"][0]["items"], ALL, strict=True):
        assert said | given == said
        assert said["color"] == 1
    assert hello["maps"][0]["y"] == {"label": ""} | PHI


def test_a_simulation_without_them_has_none():
    hello = complete({}, Layout(BASE))
    assert [hello[word] for word in ("maps", "keys", "walk", "eyes", "person")] == [[], [], {}, None, None]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"name": ""}, "a map has a name"),
        ({"x": None}, "axis x of the map 'from above' has a label"),
        ({"x": {"low": 1, "high": 1}}, "some length"),
        ({"x": {"low": 1, "high": math.nan}}, "low and high, numbers"),
        ({"y": {"follow": Q}}, "needs half"),
        ({"y": {"follow": Q, "half": 0}}, "some length"),
        ({"y": {"follow": Q, "half": 1, "wraps": True}}, "follows nothing"),
        ({"y": {"follow": ["goose", 0], "half": 1}}, "field that its frames have not: goose"),
        ({"items": {"kind": "point"}}, "are a list"),
        ({"items": [3]}, "one of point, cross"),
        ({"items": [{"kind": "cloud"}]}, "not 'cloud'"),
        ({"items": [{"kind": "point", "x": 1}]}, "needs x and y"),
        ({"items": [{"kind": "arrow", "x": 1, "y": 1, "dx": 1}]}, "x and y and dx and dy, or x and y and angle"),
        ({"items": [{"kind": "band", "x": 1, "y": 1, "radius": 1}]}, "x or y, not both"),
        ({"items": [{"kind": "point", "x": ["duck", 6], "y": 0}]}, "number 6 of 'duck', which has 6"),
        ({"items": [{"kind": "point", "x": ["duck", -1], "y": 0}]}, "number -1 of 'duck'"),
        ({"items": [{"kind": "point", "x": ["duck"], "y": 0}]}, "a number, a field or"),
        ({"items": [{"kind": "point", "x": math.inf, "y": 0}]}, "a number, a field or"),
        ({"items": [{"kind": "point", "x": 0, "y": 0, "when": "moon"}]}, "have not: moon"),
        ({"items": [{"kind": "point", "x": 0, "y": 0, "color": 9}]}, "1 .. 8"),
        ({"items": [{"kind": "trail", "x": 0, "y": 0, "seconds": 0}]}, "some seconds"),
    ],
)
def test_a_map_that_cannot_be_drawn_is_refused_in_one_line(wrong, why):
    with pytest.raises(ValueError, match=why) as refused:
        one(**wrong)
    assert "\n" not in str(refused.value)


def test_maps_are_three_at_most_each_with_its_name():
    three = [{"name": name, "x": X, "y": PHI} for name in "abc"]
    assert len(pond(maps=three)["maps"]) == 3
    with pytest.raises(ValueError, match="3 at most"):
        pond(maps=[*three, {"name": "d", "x": X, "y": X}])
    with pytest.raises(ValueError, match="one name: a, a"):
        pond(maps=[three[0], three[0]])


KEYS = [{"key": "w", "event": "swim"}, {"key": "s", "event": "swim", "value": -1, "about": "back"}]
EYES = {"body": "head", "hides": ["head"]}


def test_a_person_is_told_with_what_is_usual_filled_in():
    body = BODIES[3] | {"fades": {"field": "heading", "near": 0.5, "far": 0.7, "only": "eyes"}}
    hello = pond(
        keys=KEYS, walk={"y": "swim"}, eyes=EYES, person={"head": "head", "hand": "wing"}, bodies=[*BODIES[:3], body]
    )
    assert [key["value"] for key in hello["keys"]] == [1.0, -1]
    assert (hello["eyes"]["ipd_m"], hello["person"]["at"]) == (0.063, [0.0, 0.0, 0.0])
    shown = replayed(
        json.loads(json.dumps(hello)) | {"duration_s": 1.0}, POND
    )  # one looks at a recording, and only looks
    assert (shown["keys"], shown["walk"], shown["person"], shown["eyes"]) == ([], {}, None, hello["eyes"])


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"keys": [{"key": "W", "event": "swim"}]}, "one small letter or digit"),
        ({"keys": [{"key": " ", "event": "swim"}]}, "one small letter or digit"),
        ({"keys": [{"key": "ArrowUp", "event": "swim"}]}, "one small letter or digit"),
        ({"keys": [{"key": "w", "event": "fly"}]}, "event that the simulation has not: 'fly'"),
        ({"keys": [{"key": "w"}]}, "has not: None"),
        ({"keys": [{"key": "w", "event": "quack", "value": -1}]}, "'quack' takes 0 .. 1"),
        ({"keys": [{"key": "w", "event": "swim", "value": math.nan}]}, "sends a number"),
        ({"keys": [KEYS[0], KEYS[0]]}, "two of its keys are one"),
        ({"walk": {"up": "swim"}}, "walk has x, y, turn, not up"),
        ({"walk": {"x": "quack"}}, "-1 .. 1; 'quack' takes 0 .. 1"),
        ({"walk": {"x": "step"}, "events": {"step": {"kind": 42, "low": -1, "high": 1, "whole": True}}}, "not whole"),
        ({"eyes": {"body": "tail"}}, "bodies that it has not: tail"),
        ({"eyes": {"body": "head", "hides": ["tail"]}}, "has not: tail"),
        ({"eyes": {"body": "head", "at": [0, 0]}}, "three numbers"),
        ({"eyes": {"body": "head", "ipd_m": -0.1}}, "ipd_m"),
        ({"eyes": {"body": "head", "fov_deg": 180}}, "fov_deg"),
        ({"person": {"hand": "wing"}}, "has a head"),
        ({"person": {"head": "reed"}}, "touchable bodies, unlike reed"),
        ({"person": {"head": "head", "at": "here"}}, "three numbers"),
        ({"person": {"head": "head", "turn_rad": "left"}}, "turn_rad"),
        ({"hint": {"nose": "sniff"}}, "mouse and finger, unlike its nose"),
        ({"hint": {"mouse": 7}}, "unlike its mouse"),
        ({"tips": ["tail"]}, "bodies that it has not: tail"),
        ({"bodies": [{"name": "fog", "led": {"field": "moon"}}]}, "have not: moon"),
        ({"bodies": [{"name": "fog", "fades": {"field": "moon", "near": 0, "far": 1}}]}, "have not: moon"),
        ({"bodies": [{"name": "fog", "fades": {"field": "heading", "index": 1, "near": 0, "far": 1}}]}, "which has 1"),
        ({"bodies": [{"name": "fog", "fades": {"field": "heading", "near": 1, "far": 1}}]}, "from near to far"),
        ({"bodies": [{"name": "fog", "fades": {"field": "heading", "near": 0, "far": 1, "only": "ears"}}]}, "'eyes'"),
    ],
)
def test_a_person_that_cannot_be_is_refused_in_one_line(wrong, why):
    with pytest.raises(ValueError, match=why) as refused:
        pond(**wrong)
    assert "\n" not in str(refused.value)


def test_a_hint_and_tips_are_told_no_more_tips_than_devices():
    assert (pond()["hint"], pond()["tips"]) == ({}, [])
    told = pond(hint={"mouse": "swim"}, tips=["wing", "head"], devices=[{"name": "rod", "force_limit_N": 1.0}])
    assert (told["hint"], told["tips"]) == ({"mouse": "swim"}, ["wing"])


def test_an_event_without_bounds_takes_any_key():
    events = {"swim": {"kind": 40}, "quack": {"kind": 41, "low": None, "high": None}}
    hello = pond(events=events, keys=[KEYS[0], {"key": "q", "event": "quack", "value": 1e6}])
    assert len(hello["keys"]) == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"maps": 7},
        {"maps": [{"x": X}]},
        {"keys": [{"key": 3, "event": "swim"}]},
        {"walk": {"x": 1}},
        {"eyes": "head"},
        {"eyes": {"body": "head", "hides": [1]}},
        {"person": []},
        {"hint": "swim"},
        {"tips": 3},
        {"bodies": [{"name": "fog", "fades": "slowly"}]},
        {"bodies": [{"name": "fog", "led": "away"}]},
    ],
)
def test_a_recording_in_which_they_were_changed_is_refused(changed):
    hello = pond(maps=[{"name": "a", "x": X, "y": X}], keys=KEYS, walk={"y": "swim"}, eyes=EYES)
    assert read_scene(json.dumps(hello).encode(), "a.mcap")["maps"] == hello["maps"]
    with pytest.raises(RecordError, match=f"'{next(iter(changed))}' is not as a session writes it"):
        read_scene(json.dumps(hello | changed).encode(), "a.mcap")


def test_parts_of_a_simulation_tell_their_maps_and_keys_together():
    own = {"maps": [{"name": "a", "x": X, "y": X}], "keys": KEYS[:1], "events": EVENTS}
    more = {"maps": [{"name": "b", "x": X, "y": X}], "keys": KEYS[1:], "walk": {"y": "swim"}}
    hello = complete(merge_hello(own, more), POND)
    assert ([m["name"] for m in hello["maps"]], [k["key"] for k in hello["keys"]]) == (["a", "b"], ["w", "s"])
