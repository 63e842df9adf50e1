"""A person who walks among some things, made by a toy as a walking display would say it: three maps, keys that walk, a
stick, eyes, a robot that fades in when it is near, and a headset that can be the person.  Nothing here is mechanics."""

import math
import threading
import time
from typing import Any

import numpy as np
from fake_servo import EVENT, HAND, Rings

from palpate import frame
from palpate.frame import BASE, FRAME, Field, Layout
from palpate.runtime.hello import complete
from palpate.servo.ring import Follower

RATE_HZ, AHEAD, SIDE, TURN = 100.0, 40, 41, 42  # AHEAD ..: its own events
EYES_M, NEAR_M, FAR_M = 1.6, 1.0, 2.0
SIZES = {"n_bodies": 7, "n_contacts": 1}
HEAD, TIP, ROBOT = 1, 3, 4  # bodies
METRES = {"unit": "m", "low": -4.0, "high": 4.0}
ANGLE = {"label": "φ", "unit": "rad", "low": -math.pi, "high": math.pi, "wraps": True}


def _maps() -> list[dict[str, Any]]:
    px, pz, x, z, phi = ["walker", 0], ["walker", 1], ["base", 0], ["base", 1], ["base", 2]
    robot, person, aim = ({"color": k, "label": word} for k, word in ((1, "robot"), (2, "person"), (3, "target")))

    def side(name: str, at: list[Any], user: list[Any], to: int) -> dict[str, Any]:
        label = name.split()[-1][0]
        return {"name": name, "x": METRES | {"label": label}, "y": ANGLE, "items": [
            {"kind": "band", "x": user, "radius": 0.6} | person, {"kind": "trail", "x": at, "y": phi} | robot,
            {"kind": "cross", "x": ["aim", to], "y": ["aim", 2]} | aim, {"kind": "point", "x": at, "y": phi} | robot,
        ]}  # fmt: skip

    above = {"name": "From above", "x": METRES | {"label": "x"}, "y": METRES | {"label": "z"}, "items": [
        {"kind": "circle", "x": px, "y": pz, "radius": 0.6, "filled": True} | person,
        {"kind": "trail", "x": px, "y": pz} | person, {"kind": "trail", "x": x, "y": z} | robot,
        {"kind": "circle", "x": x, "y": z, "radius": 0.3} | robot,
        {"kind": "arrow", "x": x, "y": z, "angle": phi, "length": 0.8} | robot,
        {"kind": "cross", "x": ["aim", 0], "y": ["aim", 1], "when": "aimed"} | aim,
        {"kind": "point", "x": x, "y": z} | robot,
    ]}  # fmt: skip
    return [above, side("Front, x", x, px, 0), side("Side, z", z, pz, 1)]


class ToyWalker(Rings):
    """Bodies: world, head, trunk, tip, robot, a table to reach for, a pillar."""

    def __init__(self) -> None:
        known = ("hand_body", "hand_kind", "pose", "hand_point", "hand_target", "hand_force")
        self.layout = Layout((
            *BASE, *(field for field in FRAME if field.name in known),
            Field("walker", "f", (3,), "x, z [m] and heading [rad]"), Field("base", "f", (3,), "of the robot"),
            Field("aim", "f", (3,), "where it shall be"), Field("aimed", "i", (), "whether it shall be anywhere"),
            Field("distance", "f", (), "from person to robot [m]", unit="m", group="Distance"),
        ), **SIZES)  # fmt: skip
        walks = {"ahead": AHEAD, "side": SIDE, "turn": TURN}
        keys = [("w", "ahead", 1.0), ("s", "ahead", -1.0), ("a", "side", -1.0), ("d", "side", 1.0), ("q", "turn", 1.0)]
        skin, shirt, green = [0.86, 0.66, 0.5, 1.0], [0.3, 0.45, 0.75, 1.0], [0.1, 0.65, 0.3, 1.0]
        fades = {"field": "distance", "near": NEAR_M, "far": FAR_M, "only": "eyes"}
        self.hello = complete({
            "scene": "toy-walker", "title": "A person who walks", "rate_hz": RATE_HZ,
            "bodies": [
                {"name": "world", "shapes": [{"kind": "plane", "size": []}]},
                {"name": "head", "touchable": True, "shapes": [{"kind": "sphere", "size": [0.11], "color": skin}]},
                {"name": "trunk", "shapes": [
                    {"kind": "capsule", "size": [0.2, 0.9], "position": [0, 0, -0.85], "color": shirt}]},
                {"name": "tip", "touchable": True, "shapes": [{"kind": "sphere", "size": [0.04]}]},
                {"name": "robot", "fades": fades, "shapes": [
                    {"kind": "cylinder", "size": [0.3, 1.4], "position": [0, 0, 0.7], "color": green}]},
                {"name": "table", "shapes": [{"kind": "box", "size": [0.8, 1.2, 0.9], "position": [0, 0, 0.45]}]},
                {"name": "pillar", "shapes": [{"kind": "cylinder", "size": [0.2, 2.4], "position": [0, 0, 1.2]}]},
            ],
            "start": self._poses(np.zeros(3), np.array([2.0, 1.0, 0.0])).tolist(),
            "maps": _maps(), "walk": {"x": "side", "y": "ahead", "turn": "turn"},
            "keys": [{"key": key, "event": event, "value": v, "about": f"walk {event}"} for key, event, v in keys],
            "eyes": {"body": "head", "at": [0.1, 0, 0], "hides": ["head", "trunk"]},
            "person": {"head": "head", "hand": "tip", "at": [1.0, 0, 0], "turn_rad": math.pi / 2},
            "events": {name: {"kind": kind, "low": -1, "high": 1} for name, kind in walks.items()},
            "panels": ["touch"],
        }, self.layout)  # fmt: skip
        self.open()
        self.walker, self.base, self.tip = np.zeros(3), np.array([2.0, 1.0, 0.0]), np.array([0.5, -0.2, 1.1])
        self.asked, self.hands_seen = list[tuple[int, float]](), list[dict[str, Any]]()
        self.tick, self.wants = 0, dict[int, float]()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        events, hands = Follower(self.events, 1), Follower(self.hands, 1)
        while not self._over.wait(1.0 / RATE_HZ):
            for words in events.read():
                event = EVENT.unpack(words)
                self.asked.append((event["kind"], event["value"]))
                self.wants[event["kind"]] = event["value"]
            for words in hands.read():
                self.hands_seen.append(HAND.unpack(words))
            ahead, side, turn = (self.wants.get(kind, 0.0) / RATE_HZ for kind in (AHEAD, SIDE, TURN))
            c, s = math.cos(self.walker[2]), math.sin(self.walker[2])
            self.walker += (c * ahead + s * side, s * ahead - c * side, 1.5 * turn)
            self.base += (0.0, 0.0, 1.0 / RATE_HZ)  # it turns on and on
            self.frames.write(self._frame())

    def _poses(self, walker: np.ndarray, base: np.ndarray) -> np.ndarray:
        pose = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (SIZES["n_bodies"], 1))
        for body, (x, y, angle), z in ((HEAD, walker, EYES_M), (2, walker, EYES_M), (ROBOT, base, 0.0)):
            pose[body] = (x, y, z, math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle))
        pose[5, :2], pose[6, :2] = (3.0, -0.5), (2.5, -2.5)
        return pose

    def _frame(self) -> np.ndarray:
        self.tick += 1
        pose = self._poses(self.walker, self.base)
        pose[TIP, :3] = self.tip
        lateness = np.zeros(self.layout.length["lateness"])
        lateness[2] = self.tick
        return self.layout.pack(
            tick=self.tick, wall_ns=time.monotonic_ns(), state=frame.RUNNING, time_s=self.tick / RATE_HZ, speed=1.0,
            lateness=lateness, pose=pose, walker=self.walker, base=self.base, aim=(1.0, -1.0, 0.5), aimed=1,
            distance=math.hypot(*(self.base - self.walker)[:2]))  # fmt: skip

    def __enter__(self) -> "ToyWalker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.close()
