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
from palpate.page.messages import EVENT_KINDS, EVENT_LAYOUT, HAND_LAYOUT, LONGEST, parse

TOUCHABLE = frozenset({2, 3})
HAND = {"type": "hand", "body": 2, "at_body": [0.1, 0.0, -0.2], "target": [0.5, 0.25, 1.0], "stiffness": 800}


def test_hand_is_what_was_said() -> None:
    message = parse(json.dumps(HAND), TOUCHABLE)
    assert message is not None
    said = HAND_LAYOUT.unpack(message.words)
    assert message.kind == "hand"
    assert said["body"] == 2
    assert said["at_body"].tolist() == HAND["at_body"]
    assert said["target"].tolist() == HAND["target"]
    assert said["stiffness_N_m"] == 800.0
    assert said["sent_ns"] > 0


def test_release_holds_nothing() -> None:
    message = parse('{"type": "release"}', TOUCHABLE)
    assert message is not None
    assert HAND_LAYOUT.unpack(message.words)["body"] == 0


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_every_event_has_its_number(kind: str) -> None:
    message = parse(json.dumps({"type": "event", "kind": kind, "value": 2}), TOUCHABLE)
    assert message is not None
    said = EVENT_LAYOUT.unpack(message.words)
    assert (said["kind"], said["value"]) == (getattr(frame, kind.upper()), 2)


NOT_MESSAGES = [
    "", "null", "[]", "7", "{}", "{", '"hand"', '{"type": "hand"}', '{"type": ["hand"]}', '{"type": "quit"}',
    "[" * LONGEST, '{"type": "release", "more": "' + "x" * LONGEST + '"}',
    *(json.dumps({**HAND, key: wrong}) for key, wrong in [
        ("body", 0), ("body", 1), ("body", 4), ("body", -1), ("body", 2.0), ("body", True), ("body", "2"),
        ("body", 2**70), ("at_body", [0, 0]), ("at_body", [0, 0, 0, 0]), ("at_body", None), ("at_body", {"0": 1}),
        ("target", [0, "1", 0]), ("target", [0, 0, math.nan]), ("target", [math.inf, 0, 0]), ("target", [0, 0, 1e9]),
        ("target", [0, True, 0]),
        ("stiffness", 0), ("stiffness", -1), ("stiffness", 1e7), ("stiffness", None), ("stiffness", 10**400),
    ]),
    json.dumps(HAND).replace("800", "1e999"),
    '{"type": "event"}', '{"type": "event", "kind": "explode"}', '{"type": "event", "kind": ["play"], "value": 0}',
    '{"type": "event", "kind": "seek", "value": -1}', '{"type": "event", "kind": "seek", "value": NaN}',
    '{"type": "event", "kind": "mode", "value": 5}', '{"type": "event", "kind": "mode", "value": 0.5}',
    '{"type": "event", "kind": "mode", "value": -1}', '{"type": "event", "kind": "speed", "value": 0}',
    '{"type": "event", "kind": "play", "value": "now"}',
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_MESSAGES, ids=lambda text: text[:70])
def test_what_is_no_message_is_nothing(text: str) -> None:
    assert parse(text, TOUCHABLE) is None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
NEARLY = st.fixed_dictionaries(
    {"type": st.sampled_from(["hand", "release", "event"]) | ANYTHING},
    optional={
        "body": st.integers(-1, 5) | ANYTHING,
        "at_body": st.lists(st.floats(), min_size=3, max_size=3) | ANYTHING,
        "target": st.lists(st.floats(), min_size=3, max_size=3) | ANYTHING,
        "stiffness": st.floats() | ANYTHING,
        "kind": st.sampled_from(sorted(EVENT_KINDS)) | ANYTHING,
        "value": st.floats() | ANYTHING,
    },
)


@given(NEARLY | ANYTHING)
def test_nothing_raises_and_what_passes_is_finite(said: Any) -> None:
    message = parse(json.dumps(said), TOUCHABLE)
    if message is not None:
        layout = EVENT_LAYOUT if message.kind == "event" else HAND_LAYOUT
        assert all(np.isfinite(value).all() for value in layout.unpack(message.words).values())
        assert message.kind != "hand" or layout.read(message.words, "body") in TOUCHABLE


@given(st.text())
def test_no_text_raises(text: str) -> None:
    parse(text, TOUCHABLE)


def test_generated_typescript_is_not_stale() -> None:
    assert TARGET.read_text(encoding="utf-8") == typescript(), "run `python -m palpate.page.generate`"
