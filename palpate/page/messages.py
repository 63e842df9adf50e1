"""What a browser may say, from JSON text to words of a ring.  A browser is not trusted: wrong messages give None.

{"type": "hand", "body": int, "at_body": [3], "target": [3], "stiffness": number}     holds a body there
{"type": "release"}                                                                  lets go
{"type": "event", "kind": "play" | "pause" | "step" | "reset" | "seek" | "speed" | "mode",
 "value": number}                                                                    mode: one of control/modes.py
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection
from typing import Any, Literal, NamedTuple

import numpy as np

from palpate import frame
from palpate.control.modes import MODES

LONGEST = 1024  # characters; the longest honest message has about 250
FARTHEST_M = 1000.0  # no scene is larger; keeps squares of what comes in far from overflow
STIFFEST_N_M = 1e6  # beyond what any servo at 4 kHz holds; its own limit lies far below

EVENT_KINDS = {
    "play": frame.PLAY, "pause": frame.PAUSE, "step": frame.STEP,
    "reset": frame.RESET, "seek": frame.SEEK, "speed": frame.SPEED, "mode": frame.MODE,
}  # fmt: skip

HAND_LAYOUT = frame.Layout(frame.HAND)
EVENT_LAYOUT = frame.Layout(frame.EVENT)


class Message(NamedTuple):
    """A message that was understood, as the words of its ring."""

    kind: Literal["hand", "release", "event"]
    words: np.ndarray


def parse(text: str, touchable: Collection[int]) -> Message | None:
    """The message in `text`, or None if it is not one; `touchable` are the bodies that may be held."""
    if len(text) > LONGEST:
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
            return release()
        case "event":
            return _event(said)
    return None


def release() -> Message:
    """The hand lets go."""
    return Message("release", HAND_LAYOUT.pack(sent_ns=time.monotonic_ns()))


def _hand(said: dict[str, Any], touchable: Collection[int]) -> Message | None:
    body, stiffness = said.get("body"), _number(said.get("stiffness"))
    at_body, target = _point(said.get("at_body")), _point(said.get("target"))
    if type(body) is not int or body not in touchable:  # a bool is not a body
        return None
    if at_body is None or target is None or stiffness is None or not 0.0 < stiffness <= STIFFEST_N_M:
        return None
    words = HAND_LAYOUT.pack(
        sent_ns=time.monotonic_ns(), body=body, at_body=at_body, target=target, stiffness_N_m=stiffness
    )
    return Message("hand", words)


def _event(said: dict[str, Any]) -> Message | None:
    kind, value = said.get("kind"), _number(said.get("value", 0.0))
    if not isinstance(kind, str) or kind not in EVENT_KINDS or value is None:
        return None
    if (kind == "speed" and value <= 0.0) or (kind == "seek" and value < 0.0):
        return None
    if kind == "mode" and value not in range(len(MODES)):
        return None
    return Message("event", EVENT_LAYOUT.pack(kind=EVENT_KINDS[kind], value=value))


def _point(value: Any) -> list[float] | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    numbers = [x for x in map(_number, value) if x is not None and abs(x) <= FARTHEST_M]
    return numbers if len(numbers) == 3 else None


def _number(value: Any) -> float | None:
    """A finite number, or None: JSON knows 1e999 and integers of any length."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
