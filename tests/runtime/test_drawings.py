"""Drawings and actors in a hello: any simulation may list them; a controller tells of itself beside its World."""

import json

import numpy as np
import pytest
from toy_avatar import COMMANDS, PATTERNS, STATES, ToyAvatar, standing

import palpate as pp
from palpate import jit
from palpate.frame import BASE, Field, Layout
from palpate.runtime.drawings import FIELDS
from palpate.runtime.hello import complete, hello_of, merge_hello, replayed
from palpate.runtime.world.avatars import describe_avatars, merge_avatars

compiled = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
TANK = Layout((
    *BASE, Field("surface", "f", (3,), ""), Field("level", "f", (), ""), Field("corners", "f", (6, 2), ""),
    Field("n", "i", (), ""), Field("jets", "f", (4, 3), ""), Field("flow", "f", (4, 3), ""),
    Field("flows", "f", (4,), ""), Field("mode", "i", (), ""), Field("sure", "f", (), ""),
))  # fmt: skip
BODIES = [{"name": "world"}, {"name": "tank"}]
ALL = [
    {"name": "water", "kind": "point", "at": "surface", "value": "level", "unit": "m"},
    {"name": "water", "kind": "polygon", "corners": "corners", "count": "n", "height": "surface"},
    {"name": "jets", "kind": "columns", "at": "jets", "values": "flows", "full": 3.0},
    {"name": "jets", "kind": "arrows", "at": "jets", "values": "flow", "full": 3.0},
    {"name": "says", "kind": "label", "body": "tank",
     "lines": [{"field": "mode", "names": ["a", "b"], "share": "sure"}]},
]  # fmt: skip


def told(*drawings, actors=(), **more):
    return complete({"bodies": BODIES, "drawings": list(drawings), "actors": list(actors)} | more, TANK)


def test_every_kind_of_drawing_can_be_told_by_any_simulation():
    assert {d["kind"] for d in ALL} == set(FIELDS)
    hello = json.loads(json.dumps(told(*ALL), allow_nan=False))
    for said, given in zip(hello["drawings"], ALL, strict=True):
        assert said | given == said
        assert (said["color"], said["shown"]) == (1, False)


def test_a_simulation_without_them_has_none():
    hello = complete({}, Layout(BASE))
    assert (hello["drawings"], hello["actors"]) == ([], [])


@pytest.mark.parametrize(
    ("drawing", "why"),
    [
        ({"kind": "cloud"}, "one of point, polygon"),
        ({"kind": "point"}, "needs at"),
        ({"kind": "point", "at": "moon"}, "fields that its frames have not: moon"),
        ({"kind": "columns", "at": "jets", "values": "surface"}, "needs .4,. or .4, 3."),
        ({"kind": "arrows", "values": "flow"}, "names neither"),
        ({"kind": "arrows", "bodies": ["tank"], "values": "flow"}, "1 places"),
        ({"kind": "arrows", "at": "jets", "values": "flows"}, "no directions"),
        ({"kind": "label", "body": "head", "lines": []}, "bodies that it has not: head"),
        ({"kind": "label", "body": "tank", "lines": [{"field": "mode", "share": "luck"}]}, "have not: luck"),
        ({"kind": "point", "at": "surface", "color": 9}, "lines 1 .. 8"),
    ],
)
def test_a_drawing_that_cannot_be_drawn_is_refused_in_one_line(drawing, why):
    with pytest.raises(ValueError, match=why):
        told({"name": "x"} | drawing)


def test_an_actor_is_told_by_an_event_that_there_is_and_has_no_more_commands_than_it_can_take():
    actor = {"name": "pump", "says": [{"field": "mode"}], "event": "pump", "commands": ["off", "on"]}
    with pytest.raises(ValueError, match="event that the simulation has not: 'pump'"):
        told(actors=[actor])
    assert told(actors=[actor], events={"pump": {"kind": 40, "low": 0, "high": 1}})["actors"][0] == actor | {
        "settings": []
    }
    with pytest.raises(ValueError, match="2 commands, its event goes up to 0"):
        told(actors=[actor], events={"pump": {"kind": 40, "low": 0, "high": 0}})


def test_a_recording_is_drawn_but_nobody_can_be_told_anything():
    own = told(*ALL, actors=[{"name": "pump", "says": [{"field": "mode"}], "event": "pump", "commands": ["on"]}],
               events={"pump": {"kind": 40}})  # fmt: skip
    hello = replayed(own | {"duration_s": 3.0}, TANK)
    assert hello["drawings"] == own["drawings"]
    assert hello["actors"] == [own["actors"][0] | {"event": "", "commands": []}]


def test_what_two_tell_is_one_after_the_other_and_nothing_is_said_twice():
    own = {"plots": [1], "events": {"a": 1}, "title": "one"}
    more = {"plots": (2, 1), "events": {"b": 2}, "title": "two", "drawings": [3]}
    assert merge_hello(own, more) == {"plots": [1, 2], "events": {"a": 1, "b": 2}, "title": "two", "drawings": [3]}
    assert own["plots"] == [1]


# ---- avatars


def test_what_several_controllers_tell_of_one_avatar_is_one_and_of_two_is_two():
    balance = {"name": "a", "prefix": "avatar_", "balance_states": ["stands"], "settings": ["balance"]}
    acts = {"name": "a", "prefix": "avatar_", "states": ("stand",), "settings": ("stiffness",)}
    other = {"name": "b", "prefix": "avatar2_", "states": ("take",)}
    one, two = merge_avatars([balance, other, acts])
    assert one == {"name": "a", "prefix": "avatar_", "balance_states": ["stands"], "states": ["stand"],
                   "settings": ["balance", "stiffness"]}  # fmt: skip
    assert two == other | {"states": ["take"]}


def test_of_an_avatar_whatever_its_frames_have_is_told():
    """From nothing at all up to everything: half an avatar is drawn by half."""
    avatar = {"name": "a", "prefix": "avatar_", "states": STATES, "patterns": PATTERNS, "commands": COMMANDS}
    behave = pp.Event("behave", 0, 3, whole=True)
    everything = [field.name for field in ToyAvatar({}).fields]
    nothing = describe_avatars([avatar], [], [])
    assert (
        nothing["drawings"]
        == nothing["plots"]
        == nothing["actors"][0]["says"]
        == nothing["actors"][0]["commands"]
        == []
    )
    counts = []
    for n in range(len(everything) + 1):
        some = describe_avatars([avatar], everything[:n], [behave])
        layout = Layout((*BASE, *ToyAvatar({}).fields[:n]))
        complete(some | {"events": {"behave": {"kind": 40, "high": 3}}}, layout)  # never a field that is not there
        counts.append(len(some["drawings"]) + len(some["plots"]))
    assert counts == sorted(counts)
    assert {d["kind"] for d in some["drawings"]} == {"point", "polygon", "columns", "label"}
    assert some["actors"][0]["commands"] == list(COMMANDS)


@compiled
def test_a_controllers_hello_joins_its_worlds_and_two_avatars_keep_apart():
    scene = pp.Scene("two", "Two", pp.World(pp.models.box((0.1, 0.1, 0.1), name="b")), controllers=(
        ToyAvatar(standing(), head="b"), ToyAvatar(standing((1.0, 0.0)), 2, palms=["b", "b"],
                                                   palm_axes=[[1, 0, 0], [-1, 0, 0]])))  # fmt: skip
    from palpate.runtime.world.simulation import WorldSimulation

    run = pp.Run(WorldSimulation(scene))
    hello = hello_of(run.simulation)
    assert [avatar["name"] for avatar in hello["avatars"]] == ["hrp2", "hrp22"]
    assert [actor["event"] for actor in hello["actors"]] == ["behave", "behave2"]
    assert [s["event"] for s in hello["settings"]][:3] == ["gravity", "friction", "stiffness"]
    assert hello["settings"][4]["switch"] is True
    assert [d["name"] for d in hello["drawings"]].count("capture point") == 2
    plots = {plot["name"]: [series.get("label") for series in plot["series"]] for plot in hello["plots"]}
    assert plots["margin"] == ["hrp2 margin", "hrp22 margin"]
    assert "force" in plots
    kinds = [hello["events"][name]["kind"] for name in ("behave", "behave2")]
    assert kinds == [run.simulation.kind_of("behave"), run.simulation.kind_of("behave2")]


@compiled
def test_a_command_reaches_the_avatar_that_it_was_given_to():
    world = pp.World(pp.models.box((0.1, 0.1, 0.1), name="b"))
    session = pp.touch(world, page=False, controllers=[ToyAvatar(standing()), ToyAvatar(standing(), 2)])
    session.send("behave2", COMMANDS.index("release"))
    session.send("stiffness", 700.0)
    session.simulate(0.01)
    frame = session.frame()
    assert (frame["avatar_behaviour"], frame["avatar2_behaviour"]) == (2, COMMANDS.index("release"))
    assert (frame["avatar_stiffness"], frame["avatar2_stiffness"]) == (700.0, 300.0)
    assert np.array_equal(frame["avatar_support_polygon"], standing()["support_polygon"])
    session.stop()


@compiled
def test_a_python_controller_tells_of_itself_too():
    class Told:
        def control(self, time_s, q, v):
            return 0.0 * v

        def hello(self):
            return {"plots": [{"title": "Age", "unit": "s", "series": [{"field": "control_age_s", "index": 0}]}]}

    from palpate.runtime.world.simulation import WorldSimulation

    scene = pp.Scene("told", "Told", pp.World(pp.models.puma560()), controllers=(Told(),))
    assert "age" in {plot["name"] for plot in hello_of(WorldSimulation(scene))["plots"]}


@compiled
def test_a_recording_of_an_avatar_is_drawn_as_it_was(tmp_path):
    """Fields, drawings and words are in the file; nothing in it can be told anything."""
    from waiting import until

    from palpate.record.reader import Recording
    from palpate.runtime.record.player import shown_hello

    path, world = tmp_path / "run.mcap", pp.World(pp.models.box((0.1, 0.1, 0.1), name="b"))
    with pp.touch(world, page=False, record=path, controllers=[ToyAvatar(standing(), head="b")]) as session:
        until(lambda: session.simulation.frames.head > 200)
        live = hello_of(session.simulation)
    with Recording(path) as recording:
        frames = [recording.layout.unpack(words) for words in recording]
        told = shown_hello(recording)
    assert frames[-1]["avatar_behaviour"] == 2
    assert np.array_equal(frames[-1]["avatar_sole_points"], standing()["sole_points"])
    assert told["drawings"] == live["drawings"]
    assert told["plots"] == live["plots"]
    assert told["actors"] == [live["actors"][0] | {"event": "", "commands": [], "settings": []}]
    assert told["settings"] == []
