"""Stand-ins for the session that starts a page: its rings, and a servo that makes the PUMA follow its line.

The servo writes what the real one writes, from a Python thread.  It is no model of dynamics: the arm yields by J^T f.
"""

import json
import math
import subprocess
import sys
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from waiting import WAIT_S

import palpate as pp
from palpate import frame
from palpate.frame import Layout
from palpate.runtime.hello import complete, events_of, replayed
from palpate.runtime.world.shown import SETTINGS, describe_page
from palpate.runtime.world.simulation import WorldSimulation
from palpate.servo.ring import Follower, Ring

RATE_HZ = 100.0  # it takes the time of the test that looks at it
STIFFNESS_N_M = 800.0
FORCE_LIMIT_N = 60.0
SOFTNESS = 0.004  # rad per N m: how far a joint gives way
PERIOD_S = 6.0  # there and back
DURATION_S = 8.0  # of the recording, in replay mode
HAND, EVENT = Layout(frame.HAND), Layout(frame.EVENT)


class Rings:
    """What a session hands to its page: a hello and three rings."""

    def __init__(self, nq: int = 2, n_bodies: int = 4, **hello: Any) -> None:
        sizes = {"nq": nq, "nv": nq, "n_bodies": n_bodies, "n_devices": 1, "n_contacts": 4}
        self.layout = Layout(frame.FRAME, **sizes)
        bodies = [{"name": f"body{i}", "touchable": i > 1, "shapes": []} for i in range(n_bodies)]
        place = {"kind": frame.PLACE, "bodies": list(range(2, n_bodies))}
        own = {
            "scene": "small", "title": "A small scene", "rate_hz": RATE_HZ, "settings": SETTINGS,
            "events": events_of(WorldSimulation.takes) | {"place": place},
            "joints": [f"joint{i + 1}" for i in range(nq)], "joint_units": ["rad"] * nq,
            "axes": [{"name": f"joint{i + 1}", "unit": "rad", "index": i, "held": True} for i in range(nq)],
            "bodies": bodies, "hand": {"stiffness_N_m": STIFFNESS_N_M, "force_limit_N": FORCE_LIMIT_N}, **hello,
        }  # fmt: skip
        own |= describe_page(own, set(self.layout.offset))
        self.hello = (replayed if own.get("mode") == "replay" else complete)(own, self.layout)
        self.open()

    def open(self) -> None:
        """Make the rings."""
        self.frames = Ring.create(64, self.layout.words)
        self.hands = Ring.create(256, HAND.words)
        self.events = Ring.create(64, EVENT.words)

    def settings(self, **changes: Any) -> dict[str, Any]:
        """The first line for the page."""
        fds = {"frame_fd": self.frames.fd, "hand_fd": self.hands.fd, "event_fd": self.events.fd}
        return {**fds, "host": "127.0.0.1", "port": 0, "hello": self.hello, **changes}

    def close(self) -> None:
        for ring in (self.frames, self.hands, self.events):
            ring.close()


def shape_message(shape: pp.Shape) -> dict[str, Any]:
    """A shape as the page takes it."""
    return {
        "kind": shape.kind, "size": list(shape.size), "position": list(shape.placement.p),
        "quaternion": list(shape.placement.R.wxyz), "color": list(shape.color) if shape.color else None,
        "role": shape.role,
    }  # fmt: skip


def pose_rows(model: pp.Model, q: np.ndarray) -> np.ndarray:
    """(n_bodies, 7): position and quaternion of each body."""
    placements = [pp.Transform.from_matrix(X) for X in pp.forward_kinematics(model, q)]
    return np.array([[*X.p, *X.R.wxyz] for X in placements])


class FakeServo(Rings):
    """A thread that publishes frames of the PUMA, takes the hand and obeys the buttons."""

    def __init__(self, mode: str = "live") -> None:
        description = pp.models.puma560(at=(0.0, 0.0, 0.66))
        self.model = pp.compile(description)
        self.line = [np.array(self.model.posture(name)) for name in ("line_start", "line_end")]
        shapes = {body.name: [shape_message(s) for s in body.shapes] for body in description.bodies}
        tool = self.model.body_names.index("tool")
        path = [pp.forward_kinematics(self.model, self.plan(t))[tool, :3, 3].tolist() for t in np.linspace(0, 3, 40)]
        bodies = [
            {"name": name, "touchable": name not in ("world", "base"), "shapes": shapes.get(name, [])}
            for name in self.model.body_names
        ]
        more = {"duration_s": DURATION_S} if mode == "replay" else {}
        super().__init__(
            self.model.nq, self.model.n_bodies, mode=mode, scene="puma", title="PUMA 560 on a line", path=path,
            joints=list(self.model.joint_names), bodies=bodies, start=pose_rows(self.model, self.line[0]).tolist(),
            **more)  # fmt: skip
        self.running, self.time_s, self.speed, self.tick = True, 0.0, 1.0, 0
        self.still, self.phase_s = False, 0.0  # still: time goes on, the plan waits
        self.offset = np.zeros(self.model.nq)
        self.seen_events: list[tuple[int, float]] = []
        self.seen_hands: list[dict[str, Any]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def plan(self, time_s: float) -> np.ndarray:
        """There and back, gently."""
        s = 0.5 - 0.5 * math.cos(2.0 * math.pi * time_s / PERIOD_S)
        return (1.0 - s) * self.line[0] + s * self.line[1]

    def publish(self, *holding: dict[str, Any]) -> None:
        """One frame of now, with the forces of the hands that hold something in it."""
        plan = self.plan(self.phase_s)
        q = plan + self.offset
        poses = pose_rows(self.model, q)
        fields = {name: np.zeros((frame.HANDS, 3)) for name in ("hand_point", "hand_target", "hand_force")}
        held, kind, torque = np.zeros(frame.HANDS), np.zeros(frame.HANDS), np.zeros(self.model.nv)
        for hand in holding:
            k, name = hand["hand"], self.model.body_names[hand["body"]]
            X = pp.forward_kinematics(self.model, q)[hand["body"]]
            point = X[:3, :3] @ hand["at_body"] + X[:3, 3]
            force = self.force(hand, point)
            torque += pp.jacobian(self.model, q, name, hand["at_body"])[3:].T @ force
            held[k], fields["hand_point"][k], fields["hand_target"][k] = hand["body"], point, hand["target"]
            kind[k], fields["hand_force"][k] = hand["hold"], force
        self.offset += 0.1 * (SOFTNESS * torque - self.offset)
        self.tick += 1
        counters = np.zeros(len(frame.COUNTERS))
        counters[0] = self.tick // 2000
        lateness = np.zeros(len(frame.LATENESS_EDGES_US) + 1)
        lateness[3] = self.tick
        state = frame.RUNNING if self.running else frame.PAUSED
        self.frames.write(self.layout.pack(
            tick=self.tick, wall_ns=time.monotonic_ns(), state=state, counters=counters,
            time_s=self.time_s, tick_us=21.0, lateness=lateness, q=q, plan_q=plan, pose=poses, hand_body=held,
            hand_kind=kind, speed=self.speed, gravity=1.0, friction=1.0, **fields))  # fmt: skip

    def force(self, hand: dict[str, Any], point: np.ndarray) -> np.ndarray:
        """On the body (3,) [N], of a spring."""
        force = hand["stiffness_N_m"] * (hand["target"] - point)
        return force * min(1.0, FORCE_LIMIT_N / max(1e-9, float(np.linalg.norm(force))))

    def start(self) -> "FakeServo":
        self._thread.start()
        return self

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self.close()

    def _run(self) -> None:
        hands, events = Follower(self.hands, 1), Follower(self.events, 1)
        newest: dict[int, dict[str, Any]] = {}
        due = time.monotonic()
        while not self._stop.is_set():
            for words in hands.read():
                self.seen_hands.append(HAND.unpack(words))
                newest[self.seen_hands[-1]["hand"]] = self.seen_hands[-1]
            for words in events.read():
                event = EVENT.unpack(words)
                self.seen_events.append((event["kind"], event["value"]))
                self._obey(event["kind"], event["value"])
            fresh = time.monotonic_ns() - 100_000_000
            holding = [hand for hand in newest.values() if hand["body"] > 0 and hand["sent_ns"] > fresh]
            if self.running:
                self.time_s += self.speed / RATE_HZ
            if self.hello["mode"] == "replay":
                self.time_s %= DURATION_S
            self.phase_s = self.phase_s if self.still else self.time_s
            self.publish(*holding)
            due = max(due + 1.0 / RATE_HZ, time.monotonic() - 0.05)
            time.sleep(max(0.0, due - time.monotonic()))

    def _obey(self, kind: int, value: float) -> None:
        if kind in (frame.PLAY, frame.PAUSE):
            self.running = kind == frame.PLAY
        elif kind == frame.STEP:
            self.time_s += 1.0 / RATE_HZ
        elif kind in (frame.RESET, frame.SEEK):
            self.time_s = value if kind == frame.SEEK else 0.0
        elif kind == frame.SPEED:
            self.speed = value


class Page:
    """The process of the page, as a session starts it."""

    def __init__(self, rings: Rings, **changes: Any) -> None:
        settings = rings.settings(**changes)
        fds = tuple(settings[name] for name in ("frame_fd", "hand_fd", "event_fd"))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "palpate.processes", "page"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            pass_fds=fds,
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.stdin.write(json.dumps(settings).encode() + b"\n")
        self.stdin.flush()
        self.answer = self.said()
        self.url: str = self.answer.get("url", "")  # none: see `answer` for what is wrong

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def said(self) -> dict[str, Any]:
        """The next line that it printed."""
        line: dict[str, Any] = json.loads(self.stdout.readline())
        return line

    def tell(self, **message: Any) -> None:
        """One more line for it."""
        self.stdin.write(json.dumps(message).encode() + b"\n")
        self.stdin.flush()

    def close(self) -> int:
        """As when the parent goes: stdin ends.  The exit code."""
        self.stdin.close()
        code = self.process.wait(timeout=WAIT_S)
        self.stdout.close()
        return code
