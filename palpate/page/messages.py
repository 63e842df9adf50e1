"""What a browser may say, from JSON text to words of a ring.  A browser is not trusted: wrong messages give None.

{"type": "hand", "hand": 0 | 1, "kind": "pull", "body": int, "at_body": [3], "target": [3], "stiffness": number,
 "damping": number}                                           holds a body there; hand, kind and damping may be left
                                                              out: 0, "pull", 1
 "orientation": [4], "turning": number                        with both, it is also turned there, (w, x, y, z), by a
                                                              spring of so many N m/rad
{"type": "hand", "kind": "press", "target": [3], "radius": number, ...}   presses with a ball on whatever is there
{"type": "release", "hand": 0 | 1}                            lets go; without "hand", of everything
{"type": "take"}                                              asks whoever holds the hands for them
{"type": "give"}                                              gives the hands to whoever asked
{"type": "event", "kind": name, "value": number, "body": int, "placement": [7]}     one of the hello's `events`
{"type": "request", "id": int, "what": one of REQUESTS, ...}  something that takes longer, answered with the same id
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from palpate import frame
from palpate.record.marks import LONGEST_TEXT, check_mark
from palpate.runtime.page.json_numbers import finite_number

LONGEST = 1024  # characters, but of requests; the longest honest message has about 350
LONGEST_REQUEST = 48 * 2**20  # a robot's file with its meshes, in base64
IS_REQUEST = re.compile(r'\s*\{\s*"type"\s*:\s*"request"')  # only these may be long, and only if they say so first
FARTHEST_M = 1000.0  # no scene is larger; keeps squares of what comes in far from overflow
STIFFEST_N_M = 1e6  # beyond what any servo at 4 kHz holds; its own limit lies far below
STIFFEST_NM_RAD = 1e4  # of the spring that turns, likewise
MOST_DAMPING = 10.0  # times critical
UNIT = 1e-3  # how far the length of a quaternion may be from one
LARGEST_BALL_M = 0.1  # that presses

PROTOCOL = 3  # of hello and messages: a page that knows another one asks to be reloaded
REQUESTS = (  # runtime/page/requests.py answers them
    "scene", "robot", "motion", "keep", "export", "add", "remove", "mark",
    "experiments", "run", "cancel", "report", "fetch", "study",
)  # fmt: skip

HAND_LAYOUT = frame.Layout(frame.HAND)
EVENT_LAYOUT = frame.Layout(frame.EVENT)


class Message(NamedTuple):
    """A message that was understood; hands and events as the words of their ring, a request as it was said.

    refusal  why a request is not passed on; empty: it is
    """

    kind: Literal["hand", "release", "take", "give", "event", "request"]
    words: np.ndarray = np.zeros(0, dtype=np.int64)
    hand: int | None = None
    request: dict[str, Any] | None = None
    refusal: str = ""


def parse(text: str, touchable: Collection[int], events: Mapping[str, Mapping[str, Any]]) -> Message | None:
    """The message in `text`, or None if it is not one.

    touchable  bodies that may be held
    events     that may be sent, as the hello lists them (runtime/hello.py)
    """
    if len(text) > (LONGEST_REQUEST if IS_REQUEST.match(text) else LONGEST):
        return None
    try:
        said = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    match said.get("type"):
        case "hand":
            return _hand(said, touchable)
        case "release":
            hand = said.get("hand")
            return Message("release", hand=hand) if hand is None or _is_hand(hand) else None
        case "take":
            return Message("take")
        case "give":
            return Message("give")
        case "event":
            return _event(said, events)
        case "request":
            return _request(said)
    return None


def is_long(text: str) -> bool:
    """Whether `parse` would take long: a request with files in it."""
    return LONGEST < len(text) <= LONGEST_REQUEST and IS_REQUEST.match(text) is not None


def passed_on(text: str, **ours: Any) -> str:
    """The line that tells the session of a request that `parse` understood, with what we say about it.

    The text stays as it is, for it may be long; ours comes last, and of two members of one name the last counts.
    """
    said = text.rstrip()[:-1].replace("\n", " ").replace("\r", " ")  # between members: inside texts they are escaped
    return f'{{"request": {said}, {json.dumps(ours)[1:-1]}}}}}'


def mark_passed_on(request: dict[str, Any], **ours: Any) -> str:
    """The same of a mark, whose bounds `parse` has checked: only what a mark has, and no member twice."""
    return json.dumps({"request": {name: request.get(name) for name in ("type", "what", "text", "data")} | ours})


def released(hand: int) -> np.ndarray:
    """The words of a hand that is open."""
    return HAND_LAYOUT.pack(sent_ns=time.monotonic_ns(), hand=hand)


def _is_hand(value: Any) -> bool:
    return type(value) is int and 0 <= value < frame.HANDS  # a bool is not a hand


def _hand(said: dict[str, Any], touchable: Collection[int]) -> Message | None:
    hand, stiffness = said.get("hand", 0), finite_number(said.get("stiffness"))
    damping, target = finite_number(said.get("damping", 1.0)), _numbers(said.get("target"), 3)
    does = _pull(said, touchable) if said.get("kind", "pull") == "pull" else _press(said)
    if not _is_hand(hand) or target is None or does is None:
        return None
    if stiffness is None or not 0.0 < stiffness <= STIFFEST_N_M:
        return None
    if damping is None or not 0.0 < damping <= MOST_DAMPING:
        return None
    words = HAND_LAYOUT.pack(
        sent_ns=time.monotonic_ns(), hand=hand, target=target, stiffness_N_m=stiffness, damping=damping, **does
    )
    return Message("hand", words, hand)


def _pull(said: dict[str, Any], touchable: Collection[int]) -> dict[str, Any] | None:
    body, at_body = said.get("body"), _numbers(said.get("at_body"), 3)
    if type(body) is not int or body not in touchable or at_body is None:
        return None
    turned = _turn(said) if "orientation" in said or "turning" in said else {}
    return None if turned is None else {"hold": frame.PULL, "body": body, "at_body": at_body, **turned}


def _turn(said: dict[str, Any]) -> dict[str, Any] | None:
    orientation, turning = _numbers(said.get("orientation"), 4), finite_number(said.get("turning"))
    if orientation is None or abs(math.hypot(*orientation) - 1.0) > UNIT:
        return None
    if turning is None or not 0.0 < turning <= STIFFEST_NM_RAD:
        return None
    length = math.hypot(*orientation)
    return {"orientation": [x / length for x in orientation], "stiffness_Nm_rad": turning}


def _press(said: dict[str, Any]) -> dict[str, Any] | None:
    radius = finite_number(said.get("radius"))
    if said["kind"] != "press" or radius is None or not 0.0 < radius <= LARGEST_BALL_M:
        return None
    return {"hold": frame.PRESS, "radius_m": radius}


def _event(said: dict[str, Any], events: Mapping[str, Mapping[str, Any]]) -> Message | None:
    kind, value = said.get("kind"), finite_number(said.get("value", 0.0))
    event = events.get(kind) if isinstance(kind, str) else None
    if event is None or value is None or not event.get("low", value) <= value <= event.get("high", value):
        return None
    if event.get("whole") and value != round(value):
        return None
    body, placement = said.get("body", 0), _numbers(said.get("placement", [0] * 7), 7)
    if type(body) is not int or body not in event.get("bodies", (body,)) or not 0 <= body < 2**31 or placement is None:
        return None
    return Message("event", EVENT_LAYOUT.pack(kind=event["kind"], value=value, event_body=body, placement=placement))


def _request(said: dict[str, Any]) -> Message | None:
    number, what = said.get("id"), said.get("what")
    if type(number) is not int or not 0 <= number < 2**31 or not isinstance(what, str) or what not in REQUESTS:
        return None
    return Message("request", request=said, refusal=_refusal_of_mark(said) if what == "mark" else "")


def _refusal_of_mark(said: dict[str, Any]) -> str:
    text = said.get("text")
    if not isinstance(text, str) or not text:
        return f"a mark is a text of 1 .. {LONGEST_TEXT} characters"
    try:
        check_mark(text, said.get("data"))
    except ValueError as error:
        return str(error)
    return ""


def _numbers(value: Any, n: int) -> list[float] | None:
    """n finite numbers, none of them far away."""
    if not isinstance(value, list) or len(value) != n:
        return None
    numbers = [x for x in map(finite_number, value) if x is not None and abs(x) <= FARTHEST_M]
    return numbers if len(numbers) == n else None


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
