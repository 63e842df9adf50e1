"""A block in a walled plane that a toy makes, as a planar scene would say it: a hand that stays in the plane and turns,
a list to choose from, a plot of two blocks.  The block follows the hand; nothing here is mechanics."""

import math
import threading
import time
from typing import Any

import numpy as np
from fake_servo import EVENT, HAND, Rings

from palpate import frame
from palpate.frame import BASE, FRAME, HANDS, Field, Layout
from palpate.runtime.hello import complete
from palpate.servo.ring import Follower

RATE_HZ, WALL, DEPTH = 100.0, 40, 41  # WALL, DEPTH: its own events
WALLS = ["zoh", "seh", "hysteretic", "pulse"]
GREY, ORANGE, FAINT, STEEL = [0.62, 0.66, 0.72, 1.0], [0.92, 0.5, 0.12, 1.0], [0.2, 0.5, 0.9, 0.4], [0.35, 0.4, 0.5, 1]
HIGH = 0.02  # of everything [m]
KNOWN = ("hand_body", "hand_kind", "contacts", "contact_mode", "pose", "hand_point", "hand_target", "hand_force",
         "contact_point", "contact_force")  # fmt: skip
SIZES = {"n_bodies": 5, "n_contacts": 2}
SIDES = [((0.0, 0.175), (0.5, 0.05)), ((0.0, -0.175), (0.5, 0.05)), ((0.225, 0.0), (0.05, 0.3)),
         ((-0.225, 0.0), (0.05, 0.3))]  # fmt: skip


def box(x: float, y: float, size: tuple[float, float], color: list[float]) -> dict[str, Any]:
    return {"kind": "box", "size": [*size, HIGH], "position": [x, y, 0.5 * HIGH], "color": color}


class ToyPlane(Rings):
    """Bodies: world, walls, block, the second block, a crank that the block hangs at."""

    def __init__(self) -> None:
        self.layout = Layout((
            *BASE, *(field for field in FRAME if field.name in KNOWN),
            Field("wall", "i", (), "which of WALLS"), Field("depth_times", "f", (), "how much depth is exaggerated"),
            Field("angle", "f", (2,), "of each block, unwrapped [rad]"),
        ), **SIZES)  # fmt: skip
        lane = {"field": "angle", "unit": "rad"}
        self.hello = complete({
            "scene": "toy-plane", "title": "A block in a plane", "rate_hz": RATE_HZ,
            "bodies": [
                {"name": "world"},
                {"name": "walls", "shapes": [box(x, y, size, GREY) for (x, y), size in SIDES]},
                {"name": "block", "touchable": True, "shapes": [box(0, 0, (0.1, 0.06), ORANGE)]},
                {"name": "other block", "shapes": [box(0, 0, (0.1, 0.06), FAINT)]},
                {"name": "crank", "shapes": [{"kind": "capsule", "size": [0.004, 0.1], "position": [0, 0, 2 * HIGH],
                                              "quaternion": [math.sqrt(0.5), 0, math.sqrt(0.5), 0], "color": STEEL}]},
            ],
            "views": {"perspective": {"eye": [0.0, -0.5, 0.62], "target": [0.0, -0.02, 0.0]}},
            "hand": {"stiffness_N_m": 150.0, "force_limit_N": 12.0, "plane": [0, 0, 1], "turns": [0, 0, 1]},
            "settings": [
                {"event": "wall", "label": "Wall", "field": "wall", "choices": WALLS, "value": 1},
                {"event": "depth", "label": "Depth", "field": "depth_times", "unit": "×", "low": 1, "high": 50,
                 "step": 1, "value": 1},
            ],
            "actors": [{"name": "Second block", "settings": ["wall"],
                        "says": [{"field": "angle", "index": 1, "label": "turned", "unit": "rad"}]}],
            "events": {"wall": {"kind": WALL, "low": 0, "high": 3, "whole": True},
                       "depth": {"kind": DEPTH, "low": 1, "high": 50}},
            "plots": [{"title": "Angle", "unit": "rad", "zero": True, "series": [
                lane | {"index": 0, "label": "block"}, lane | {"index": 1, "label": "other", "dashed": True}]}],
            "panels": ["touch", "contacts"],
        }, self.layout)  # fmt: skip
        self.open()
        self.at, self.angle, self.slow = np.zeros(2), 0.0, 0.0
        self.wall, self.tick, self.asked, self.hands_seen = 1, 0, list[tuple[int, float]](), list[dict[str, Any]]()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        events, hands = Follower(self.events, 1), Follower(self.hands, 1)
        hand: dict[str, Any] = {"body": 0, "sent_ns": 0}
        while not self._over.wait(1.0 / RATE_HZ):
            for words in events.read():
                event = EVENT.unpack(words)
                self.asked.append((event["kind"], event["value"]))
                self.wall = int(event["value"]) if event["kind"] == WALL else self.wall
            for words in hands.read():
                hand = HAND.unpack(words)
                self.hands_seen.append(hand)
            holds = hand["body"] > 0 and hand["sent_ns"] > time.monotonic_ns() - 100_000_000
            if holds:
                self._follow(hand)
            self.slow += 0.05 * (self.angle - self.slow)
            self.frames.write(self._frame(hand if holds else None))

    def _follow(self, hand: dict[str, Any]) -> None:
        w, *_, z = hand["orientation"]
        turned = 2.0 * math.atan2(z, w) - self.angle
        self.angle += 0.3 * (turned - 2.0 * math.pi * round(turned / (2.0 * math.pi)))
        wanted = hand["target"][:2] - self._turned(hand["at_body"][:2])
        self.at = self.at + 0.3 * (np.clip(wanted, (-0.14, -0.11), (0.14, 0.11)) - self.at)

    def _turned(self, at_body: np.ndarray) -> np.ndarray:
        c, s = math.cos(self.angle), math.sin(self.angle)
        return np.array([c * at_body[0] - s * at_body[1], s * at_body[0] + c * at_body[1]])

    def _frame(self, hand: dict[str, Any] | None) -> np.ndarray:
        self.tick += 1
        pose = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (SIZES["n_bodies"], 1))
        for body, angle in ((2, self.angle), (3, self.slow), (4, self.angle)):
            pose[body, :2], pose[body, 3], pose[body, 6] = self.at, math.cos(0.5 * angle), math.sin(0.5 * angle)
        fields: dict[str, Any] = {"hand_body": np.zeros(HANDS), "hand_point": np.zeros((HANDS, 3))}
        fields |= {"hand_target": np.zeros((HANDS, 3)), "hand_force": np.zeros((HANDS, 3))}
        if hand is not None:
            point = np.array([*(self.at + self._turned(hand["at_body"][:2])), hand["at_body"][2]])
            fields["hand_body"][0], fields["hand_point"][0], fields["hand_target"][0] = 2, point, hand["target"]
            fields["hand_force"][0] = 150.0 * (hand["target"] - point)
        touching = [0.5 * HIGH + np.array([self.at[0] + dx, -0.15, 0.0]) for dx in (-0.05, 0.05)]
        lateness = np.zeros(self.layout.length["lateness"])
        lateness[2] = self.tick
        return self.layout.pack(
            tick=self.tick, wall_ns=time.monotonic_ns(), state=frame.RUNNING, time_s=self.tick / RATE_HZ, speed=1.0,
            lateness=lateness, pose=pose, wall=self.wall, depth_times=1.0, angle=(self.angle, self.slow),
            contacts=2 * (self.at[1] < -0.1), contact_point=touching, contact_mode=(frame.STICK, frame.SLIDE),
            contact_force=[[0.5, 3.0, 0.0], [1.0, 2.0, 0.0]], **fields)  # fmt: skip

    def __enter__(self) -> "ToyPlane":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.close()
