"""What a browser may say: honest messages become words, everything else is nothing, and nothing raises."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palpate import frame
from palpate.page.generate import TARGET, typescript
from palpate.page.messages import (
    EVENT_LAYOUT,
    HAND_LAYOUT,
    LONGEST,
    LONGEST_REQUEST,
    REQUESTS,
    Message,
    is_long,
    parse,
    passed_on,
    released,
)  # fmt: skip
from palpate.runtime import hello
from palpate.runtime.world.simulation import WorldSimulation

TOUCHABLE = frozenset({2, 3})
# as a hello lists them: a World's, a recording's, and one of somebody's own simulation
EVENTS = hello.EVENTS | hello.events_of(WorldSimulation.takes) | {
    "place": {"kind": frame.PLACE, "low": 0, "high": 1, "whole": True, "bodies": [2, 3]},
    "seek": {"kind": frame.SEEK, "low": 0, "high": 8},
    "valve": {"kind": 40, "low": -1.5, "high": 2},
}  # fmt: skip
HAND = {"type": "hand", "body": 2, "at_body": [0.1, 0.0, -0.2], "target": [0.5, 0.25, 1.0], "stiffness": 800}


def understood(text: str) -> Message | None:
    return parse(text, TOUCHABLE, EVENTS)


def test_hand_is_what_was_said() -> None:
    message = understood(json.dumps(HAND))
    assert message is not None
    said = HAND_LAYOUT.unpack(message.words)
    assert message.kind == "hand"
    assert said["body"] == 2
    assert said["at_body"].tolist() == HAND["at_body"]
    assert said["target"].tolist() == HAND["target"]
    assert said["stiffness_N_m"] == 800.0
    assert said["sent_ns"] > 0
    assert (message.hand, said["hand"], said["hold"], said["damping"]) == (0, 0, frame.PULL, 1.0)


@pytest.mark.parametrize("hand", [0, 1])
def test_a_press_has_its_hand_its_ball_and_its_damping_and_names_no_body(hand: int) -> None:
    press = {**HAND, "hand": hand, "kind": "press", "radius": 0.005, "damping": 0.5}
    message = understood(json.dumps(press))
    assert message is not None
    said = HAND_LAYOUT.unpack(message.words)
    assert (message.hand, said["hand"], said["hold"], said["damping"]) == (hand, hand, frame.PRESS, 0.5)
    assert (said["radius_m"], said["body"], said["target"].tolist()) == (0.005, 0, HAND["target"])


def test_a_hand_that_turns_says_how_and_how_stiffly() -> None:
    message = understood(json.dumps({**HAND, "orientation": [0.6001, 0, 0, 0.8], "turning": 0.3}))
    assert message is not None
    said = HAND_LAYOUT.unpack(message.words)
    assert said["stiffness_Nm_rad"] == 0.3
    np.testing.assert_allclose(said["orientation"], [0.6, 0, 0, 0.8], atol=1e-4)
    assert np.linalg.norm(said["orientation"]) == pytest.approx(1.0, abs=1e-15)
    plain = HAND_LAYOUT.unpack(understood(json.dumps(HAND)).words)  # type: ignore[union-attr]
    assert (plain["stiffness_Nm_rad"], plain["orientation"].tolist()) == (0.0, [0.0] * 4)


@pytest.mark.parametrize(("said", "hand"), [({}, None), ({"hand": 0}, 0), ({"hand": 1}, 1), ({"hand": None}, None)])
def test_a_release_is_of_one_hand_or_of_all(said: dict[str, Any], hand: int | None) -> None:
    message = understood(json.dumps({"type": "release", **said}))
    assert message is not None
    assert (message.kind, message.hand) == ("release", hand)


@pytest.mark.parametrize("hand", range(frame.HANDS))
def test_an_open_hand_holds_nothing(hand: int) -> None:
    said = HAND_LAYOUT.unpack(released(hand))
    assert (said["hand"], said["body"]) == (hand, 0)


@pytest.mark.parametrize("kind", EVENTS)
def test_every_event_of_the_hello_has_its_number_and_its_bounds(kind: str) -> None:
    event = EVENTS[kind]
    assert event["kind"] == getattr(frame, kind.upper(), 40)
    low, high = event.get("low", -1e9), event.get("high", 1e9)
    for value in (low, high):
        message = understood(json.dumps({"type": "event", "kind": kind, "value": value, "body": 3}))
        assert message is not None
        said = EVENT_LAYOUT.unpack(message.words)
        assert (said["kind"], said["value"], said["event_body"]) == (event["kind"], value, 3)
    for value in [event[bound] + way for bound, way in (("low", -1e-6), ("high", 1e-6)) if bound in event]:
        assert understood(json.dumps({"type": "event", "kind": kind, "value": value, "body": 3})) is None


def test_what_the_hello_does_not_list_is_not_understood() -> None:
    play = json.dumps({"type": "event", "kind": "play"})
    assert understood(play) is not None
    assert parse(play, TOUCHABLE, {}) is None


def test_a_place_has_its_body_and_where_to_put_it() -> None:
    where = [0.1, -0.2, 0.3, 1.0, 0.0, 0.0, 0.0]
    message = understood(json.dumps({"type": "event", "kind": "place", "body": 3, "placement": where}))
    assert message is not None
    said = EVENT_LAYOUT.unpack(message.words)
    assert (said["event_body"], said["placement"].tolist()) == (3, where)


@pytest.mark.parametrize("what", REQUESTS)
def test_a_request_is_passed_on_as_it_was_said(what: str) -> None:
    said = {"type": "request", "id": 7, "what": what, "name": "arm", "more": [1, {"a": None}]}
    message = understood(json.dumps(said))
    assert message is not None
    assert message.request == said


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_only_a_request_may_be_long_and_only_so_long(separators: tuple[str, str]) -> None:
    def text(size: int, **said: Any) -> str:
        return json.dumps({**said, "files": "x" * size}, separators=separators)

    request = {"type": "request", "id": 1, "what": "robot"}
    assert understood(text(100_000, **request)) is not None
    assert understood(text(LONGEST_REQUEST, **request)) is None
    assert understood(text(LONGEST, **HAND)) is None
    assert understood(text(100_000, id=1, what="robot", type="request")) is None  # it must say so first
    assert understood(text(100_000, type="requests")) is None


NOT_MESSAGES = [
    "", "null", "[]", "7", "{}", "{", '"hand"', '{"type": "hand"}', '{"type": ["hand"]}', '{"type": "quit"}',
    "[" * LONGEST, '{"type": "release", "more": "' + "x" * LONGEST + '"}',
    *(json.dumps({**HAND, key: wrong}) for key, wrong in [
        ("body", 0), ("body", 1), ("body", 4), ("body", -1), ("body", 2.0), ("body", True), ("body", "2"),
        ("body", 2**70), ("at_body", [0, 0]), ("at_body", [0, 0, 0, 0]), ("at_body", None), ("at_body", {"0": 1}),
        ("target", [0, "1", 0]), ("target", [0, 0, math.nan]), ("target", [math.inf, 0, 0]), ("target", [0, 0, 1e9]),
        ("target", [0, True, 0]),
        ("stiffness", 0), ("stiffness", -1), ("stiffness", 1e7), ("stiffness", None), ("stiffness", 10**400),
        ("hand", 2), ("hand", -1), ("hand", True), ("hand", 0.0), ("hand", "0"), ("hand", None),
        ("kind", "push"), ("kind", 0), ("kind", ["pull"]), ("damping", 0), ("damping", 11), ("damping", None),
        ("kind", "press"),
    ]),
    *(json.dumps({**HAND, "kind": "press", "radius": r}) for r in (0, -0.01, 0.2, None, "1", [0.01], math.nan)),
    *(json.dumps({**HAND, "orientation": [1, 0, 0, 0], "turning": 0.3, key: wrong}) for key, wrong in [
        ("orientation", None), ("orientation", [1, 0, 0]), ("orientation", [0, 0, 0, 0]), ("orientation", [2, 0, 0, 0]),
        ("orientation", [1, 0, 0, math.nan]), ("orientation", "up"),
        ("turning", None), ("turning", 0), ("turning", -1), ("turning", 1e5), ("turning", True), ("turning", [1]),
    ]),
    json.dumps({**HAND, "turning": 0.3}), json.dumps({**HAND, "orientation": [1, 0, 0, 0]}),
    '{"type": "release", "hand": 2}', '{"type": "release", "hand": true}', '{"type": "release", "hand": "0"}',
    *(json.dumps({"type": "request", **said}) for said in [
        {}, {"id": 1}, {"what": "keep"}, {"id": -1, "what": "keep"}, {"id": 2**31, "what": "keep"},
        {"id": True, "what": "keep"}, {"id": 1.0, "what": "keep"}, {"id": "1", "what": "keep"},
        {"id": 1, "what": "quit"}, {"id": 1, "what": ["keep"]}, {"id": 1, "what": None},
    ]),
    *(json.dumps({"type": "event", "kind": "place", "value": 0, **said}) for said in [
        {}, {"body": 0}, {"body": 1}, {"body": -1}, {"body": 2.0}, {"body": True}, {"body": 2**31},
        {"body": 2, "placement": [0] * 6}, {"body": 2, "placement": [1e9] * 7}, {"body": 2, "placement": "here"},
    ]),
    '{"type": "event", "kind": "gravity", "value": -1}', '{"type": "event", "kind": "friction", "value": -0.5}',
    json.dumps(HAND).replace("800", "1e999"),
    '{"type": "event"}', '{"type": "event", "kind": "explode"}', '{"type": "event", "kind": ["play"], "value": 0}',
    '{"type": "event", "kind": "seek", "value": -1}', '{"type": "event", "kind": "seek", "value": NaN}',
    '{"type": "event", "kind": "mode", "value": 5}', '{"type": "event", "kind": "mode", "value": 0.5}',
    '{"type": "event", "kind": "mode", "value": -1}', '{"type": "event", "kind": "speed", "value": 0}',
    '{"type": "event", "kind": "play", "value": "now"}',
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_MESSAGES, ids=lambda text: text[:70])
def test_what_is_no_message_is_nothing(text: str) -> None:
    assert understood(text) is None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
NEARLY = st.fixed_dictionaries(
    {"type": st.sampled_from(["hand", "release", "event", "take", "give", "request"]) | ANYTHING},
    optional={
        "body": st.integers(-1, 5) | ANYTHING,
        "at_body": st.lists(st.floats(), min_size=3, max_size=3) | ANYTHING,
        "target": st.lists(st.floats(), min_size=3, max_size=3) | ANYTHING,
        "stiffness": st.floats() | ANYTHING,
        "kind": st.sampled_from(sorted([*EVENTS, "pull", "press"])) | ANYTHING,
        "value": st.floats() | ANYTHING,
        "hand": st.integers(-1, 2) | ANYTHING,
        "damping": st.floats() | ANYTHING,
        "radius": st.floats(0.0, 0.2) | ANYTHING,
        "placement": st.lists(st.floats(), min_size=7, max_size=7) | ANYTHING,
        "id": st.integers(-1, 5) | ANYTHING,
        "what": st.sampled_from(REQUESTS) | ANYTHING,
    },
)


@given(NEARLY | ANYTHING)
def test_nothing_raises_and_what_passes_is_finite(said: Any) -> None:
    message = understood(json.dumps(said))
    if message is not None and message.kind in ("hand", "event"):
        layout = EVENT_LAYOUT if message.kind == "event" else HAND_LAYOUT
        assert all(np.isfinite(value).all() for value in layout.unpack(message.words).values())
        assert message.kind != "hand" or layout.read(message.words, "body") in TOUCHABLE
        assert message.kind != "hand" or layout.read(message.words, "hand") == message.hand in range(frame.HANDS)


@given(
    st.dictionaries(st.text(max_size=8), ANYTHING, max_size=4),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.sampled_from(["", " ", "\n", "\r\n", "\t "]),
)
def test_a_request_is_passed_on_in_one_line_with_what_we_say_about_it(
    more: dict[str, Any], indent: int | None, ascii_only: bool, behind: str
) -> None:
    said = {"type": "request", "id": 3, "what": "mark", **more, "hands": "mine"}
    text = json.dumps(said, indent=indent, ensure_ascii=ascii_only) + behind
    if understood(text) is None:  # numbers that JSON does not know, or another type
        return
    line = passed_on(text, hands=False, id=12)
    assert not set("\r\n") & set(line)
    assert json.loads(line) == {"request": {**said, "hands": False, "id": 12}}


def test_a_text_is_long_if_it_is_a_request_with_files_and_not_beyond_what_one_may_have() -> None:
    head = '{"type": "request", "id": 1, "what": "robot", "files": "'
    assert is_long(head + "x" * LONGEST + '"}')
    assert not is_long(head + 'x"}')
    assert not is_long(head + "x" * LONGEST_REQUEST + '"}')
    assert not is_long('{"type": "hand", "more": "' + "x" * LONGEST + '"}')


@given(st.text())
def test_no_text_raises(text: str) -> None:
    understood(text)


def test_generated_typescript_is_not_stale() -> None:
    assert TARGET.read_text(encoding="utf-8") == typescript(), "run `python -m palpate.page.generate`"
