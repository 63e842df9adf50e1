"""What the Haply Inverse Service says and hears: JSON texts, axes and versions.

Vendor's axes: x to the person's right, y away from them, z up [m, m/s, N], origin at the device's base.  Ours: x away,
y left, z up, origin at `centre`, so (x, y, z) = (y', -x', z') - centre, a turn; the vector part of a quaternion turns
like any vector.  Python's json reads NaN: a number that is not finite makes a message malformed.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

import numpy as np

GRIPS = ("wireless_verse_grip", "verse_grip", "custom_verse_grip")
BUTTON_BITS = {"a": 0, "b": 1, "c": 2, "button_0": 0, "button_1": 1, "button_2": 2, "button_3": 3}
FIRST_WITH_VECTOR = (3, 5)  # the version from which the force is called "vector"; it was "values"


class Malformed(ValueError):
    """A message that makes no sense."""


class State(NamedTuple):
    """What one message tells, in our axes."""

    position_m: np.ndarray
    velocity_m_s: np.ndarray
    quaternion: np.ndarray
    buttons: int
    sampled_at_s: float


def parse(text: str) -> dict[str, Any]:
    """A message as a dictionary."""
    try:
        message = json.loads(text)
    except ValueError as error:
        raise Malformed(f"not JSON: {error}") from None
    if not isinstance(message, dict):
        raise Malformed("not an object")
    return message


def devices(message: dict[str, Any], family: str) -> list[dict[str, Any]]:
    found = message.get(family, [])
    if not isinstance(found, list) or not all(isinstance(device, dict) for device in found):
        raise Malformed(f"{family} is not a list of devices")
    return found


def _numbers(owner: Any, names: str) -> list[float]:
    try:
        values = [float(owner[name]) for name in names]
    except (TypeError, KeyError, ValueError):
        raise Malformed(f"no numbers {', '.join(names)}") from None
    if not all(map(math.isfinite, values)):
        raise Malformed("a number is not finite")
    return values


def _turned(x: float, y: float, z: float) -> np.ndarray:
    return np.array([y, -x, z])


def read_state(message: dict[str, Any], device_id: str, centre_m: np.ndarray, now_s: float) -> State | None:
    """The state of one Inverse3 and of the first grip; None if the service does not list it any more."""
    mine = next((device for device in devices(message, "inverse3") if device.get("device_id") == device_id), None)
    if mine is None:
        return None
    state = mine.get("state")
    if not isinstance(state, dict):
        raise Malformed("no state")
    position = _turned(*_numbers(state.get("cursor_position"), "xyz")) - centre_m
    velocity = _turned(*_numbers(state.get("cursor_velocity"), "xyz"))
    quaternion, buttons = read_grip(message)
    return State(position, velocity, quaternion, buttons, now_s)


def read_grip(message: dict[str, Any]) -> tuple[np.ndarray, int]:
    """(orientation, buttons) of the first grip; unturned and nothing pressed without one."""
    for family in GRIPS:
        for grip in devices(message, family):
            state = grip.get("state")
            if not isinstance(state, dict) or "orientation" not in state:
                continue
            w, x, y, z = _numbers(state["orientation"], "wxyz")
            length = math.sqrt(w * w + x * x + y * y + z * z)
            if length < 1e-6:
                raise Malformed("an orientation without a direction")
            pressed = state.get("buttons", {})
            bits = {1 << BUTTON_BITS[name] for name, down in pressed.items() if down is True and name in BUTTON_BITS} \
                if isinstance(pressed, dict) else set()  # fmt: skip
            return np.array([w, y, -x, z]) / length, sum(bits) | int(state.get("button") is True)
    return np.array([1.0, 0.0, 0.0, 0.0]), 0


def force_message(device_id: str, force_N: np.ndarray, field: str, profile: str | None = None) -> str:
    """The command for one tick, a force on the hand in our axes; with a profile it is the first of a session."""
    x, y, z = (float(f) for f in force_N)
    vector = {"x": -y, "y": x, "z": z}
    message: dict[str, Any] = {
        "inverse3": [{"device_id": device_id, "commands": {"set_cursor_force": {field: vector}}}]
    }
    if profile is not None:
        message["session"] = {"configure": {"profile": {"name": profile}}}
    return json.dumps(message)


def force_field(version: Any) -> str:
    """ "vector" or "values", by what GET /version answered; the newest form if that cannot be read."""
    if isinstance(version, dict) and isinstance(version.get("data"), dict):
        version = version["data"]  # 3.5 wraps its answers
    text = version.get("project_version", "") if isinstance(version, dict) else ""
    numbers = str(text).split(".")[:2]
    if len(numbers) == 2 and all(number.isdigit() for number in numbers):
        return "vector" if tuple(map(int, numbers)) >= FIRST_WITH_VECTOR else "values"
    return "vector"
