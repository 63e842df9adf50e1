"""An avatar that does nothing but tell: a compiled controller that fills every field that avatars publish with numbers
it was given, takes commands and settings, and says in its hello what they mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import palpate as pp
from palpate.frame import EVENT_AT, Field
from palpate.jit import Block, Struct, block_loader
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Ints1
from palpate.servo.head import Head
from palpate.servo.parts import Part

STATES = ("stand", "take", "carry", "shake hands")
PATTERNS = ("none", "push", "tap", "shake")
COMMANDS = ("stand", "take", "offer hand", "release")
SETTINGS = ("stiffness", "damping", "balance")
CORNERS, SOLES = 16, 8


def avatar_fields(prefix: str = "avatar_") -> tuple[Field, ...]:
    """As the parts of an avatar will have them."""
    whole = ("support_count", "balance_state", "pattern", "pattern_body", "behaviour", "steps")
    shapes: dict[str, tuple[int, ...]] = {
        "com": (3,), "capture_point": (3,), "capture_margin_m": (), "support_polygon": (CORNERS, 2),
        "sole_points": (SOLES, 3), "sole_forces": (SOLES, 3), "cop": (2,), "pattern_sureness": (),
        "behaviour_time_s": (), "palm_load": (2,), "grasp_squeeze_N": (), "led_force": (3,),
    }  # fmt: skip
    own = [Field(f"{prefix}{name}", "i", (), "told") for name in whole]
    own += [Field(f"{prefix}{name}", "f", shape, "told") for name, shape in shapes.items()]
    return tuple(own + [Field(f"{prefix}{name}", "f", (), "setting") for name in SETTINGS])


class Toy(Struct):
    ints_at: int  # where its fields begin in a frame
    floats_at: int
    behave: int  # kind of its event; the settings' follow
    behaviour: int  # where that is among its ints
    capture: int  # and where these are among its floats
    settings: int
    sway_m: float
    ints: Ints1
    floats: Floats1


load = block_loader((Head, False), (Toy, False))


@routine
def tick_toy(address):
    return 0


@routine
def take_toy(address):
    h, c = load(address)
    kind, value = h.event[EVENT_AT.kind], h.event_f[EVENT_AT.value]
    if kind == c.behave:
        c.ints[c.behaviour] = int(value)
        return 1
    if c.behave < kind <= c.behave + 3:
        c.floats[c.settings + kind - c.behave - 1] = value
        return 1
    return 0


@routine
def publish_toy(address):
    h, c = load(address)
    for i in range(c.ints.shape[0]):
        h.frames[h.frame_at + c.ints_at + i] = c.ints[i]
    for i in range(c.floats.shape[0]):
        h.frames_f[h.frame_at + c.floats_at + i] = c.floats[i]
    h.frames_f[h.frame_at + c.floats_at + c.capture] += c.sway_m * math.sin(2.0 * h.time)
    return 0


class ToyAvatar:
    """numbers  by field, without the prefix;  sway_m  of the capture point along x;  more  of its hello's avatar"""

    def __init__(self, numbers: dict[str, Any], number: int = 1, sway_m: float = 0.0, **more: Any) -> None:
        self.suffix = "" if number == 1 else str(number)
        self.prefix, self.sway_m, self.more = f"avatar{self.suffix}_", sway_m, more
        self.fields = avatar_fields(self.prefix)
        self.numbers = {f"{self.prefix}{name}": value for name, value in numbers.items()}
        self.takes = (
            pp.Event(f"behave{self.suffix}", 0, len(COMMANDS) - 1, whole=True),
            pp.Event(f"stiffness{self.suffix}", 0.0, 2000.0), pp.Event(f"damping{self.suffix}", 0.0, 200.0),
            pp.Event(f"balance{self.suffix}", 0, 1, whole=True),
        )  # fmt: skip

    def part(self, engine: Any) -> Part:
        parts = {kind: [f for f in self.fields if f.kind == kind] for kind in "if"}
        begin = {kind: engine.layout.offset[fields[0].name] for kind, fields in parts.items()}

        def told(kind: str, dtype: Any) -> np.ndarray:
            rows = [np.broadcast_to(self.numbers.get(f.name, 0), f.shape).ravel() for f in parts[kind]]
            return np.concatenate(rows).astype(dtype)

        def place(name: str) -> int:
            kind = next(f.kind for f in self.fields if f.name == self.prefix + name)
            return int(engine.layout.offset[self.prefix + name] - begin[kind])

        self.toy = Toy(
            ints_at=begin["i"], floats_at=begin["f"], behave=engine.kind_of(f"behave{self.suffix}"),
            behaviour=place("behaviour"), capture=place("capture_point"), settings=place("stiffness"),
            sway_m=self.sway_m, ints=told("i", np.int64), floats=told("f", np.float64),
        )  # fmt: skip
        self.block = Block(engine.head, self.toy)
        return Part(tick_toy, self.block, take=take_toy, publish=publish_toy)

    def hello(self) -> dict[str, Any]:
        events = [take.name for take in self.takes[1:]]
        avatar = {"name": f"hrp2{self.suffix}", "prefix": self.prefix, "states": STATES, "patterns": PATTERNS,
                  "commands": COMMANDS, "settings": events}  # fmt: skip
        sliders = [{"event": events[0], "label": "Stiffness", "unit": "N/m", "value": 300.0, "step": 20.0},
                   {"event": events[1], "label": "Damping", "unit": "N s/m", "value": 40.0, "step": 2.0},
                   {"event": events[2], "label": "Balance", "switch": True, "value": 1.0}]  # fmt: skip
        settings = [s | {"field": self.prefix + name} for s, name in zip(sliders, SETTINGS, strict=True)]
        return {"avatars": [avatar | self.more], "settings": settings}


def standing(at: tuple[float, float] = (0.0, 0.0)) -> dict[str, Any]:
    """Numbers of somebody who stands there on two feet of 24 x 14 cm, 20 cm apart, and leans forward a little."""
    x, y = at
    ends = [(0.14, 0.07), (-0.10, 0.07), (-0.10, -0.07), (0.14, -0.07)]
    soles = [(x + a, y + side + b, 0.0) for side in (-0.1, 0.1) for a, b in ends]
    polygon = np.zeros((CORNERS, 2))
    polygon[:4] = [(x + 0.14, y + 0.17), (x - 0.10, y + 0.17), (x - 0.10, y - 0.17), (x + 0.14, y - 0.17)]
    forces = [(0.0, 0.0, 40.0 + 500.0 * (a - x + 0.1)) for a, _, _ in soles]
    return {
        "com": (x + 0.02, y, 0.75), "capture_point": (x + 0.05, y + 0.01, 0.0), "capture_margin_m": 0.09,
        "support_polygon": polygon, "support_count": 4, "sole_points": soles, "sole_forces": forces,
        "cop": (x + 0.03, y), "balance_state": 1, "pattern": 1, "pattern_sureness": 0.87, "pattern_body": 3,
        "behaviour": 2, "behaviour_time_s": 3.2, "palm_load": (22.0, 18.0), "grasp_squeeze_N": 20.0,
        "led_force": (0.0, 12.0, 0.0),
        "steps": 2, "stiffness": 300.0, "damping": 40.0, "balance": 1.0,
    }  # fmt: skip
