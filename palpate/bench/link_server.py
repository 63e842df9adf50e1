"""The server's process of `palpate bench link`: the arm at rest, free-running, and what the hand did to it.

Orders are lines on stdin: "begin" puts the arm back and opens the account of a row, "end" answers with it as JSON; when
stdin closes all ends.  The account: work of the hand's force f, held for a tick while the held point moved by dx,

absorbed  -= f . dx            by the link, at the body's port
"""

from __future__ import annotations

import json
import select
import sys
from typing import Any

import numpy as np

from palpate.runtime.link.sessions import Serving
from palpate.scenes.arm import arm_at_rest
from palpate.servo.ring import Follower

LOOK_S = 0.05  # between two looks at the frames, of which the ring keeps two seconds


class BodyAccount:
    """Reads every frame of the server along."""

    def __init__(self, session: Serving) -> None:
        self.session, self.follower = session, Follower(session.simulation.frames)
        self.open()

    def open(self) -> None:
        """A row begins: nothing absorbed yet."""
        self.follower.read()
        self.absorbed_J, self.held, self.lost = 0.0, 0, self.follower.lost
        self.before: tuple[np.ndarray, np.ndarray] | None = None

    def read(self) -> None:
        layout = self.session.simulation.layout
        for words in self.follower.read():
            holds = bool(layout.read(words, "hand_body")[0] != 0)
            point = layout.read(words, "hand_point")[0]
            if holds and self.before is not None:
                force_before, point_before = self.before
                self.absorbed_J -= float(force_before @ (point - point_before))
            self.before = (layout.read(words, "hand_force")[0], point) if holds else None
            self.held += holds

    def close(self) -> dict[str, Any]:
        """The row's account."""
        self.read()
        return {
            "absorbed_J": self.absorbed_J,
            "tank_lowest_J": self.session.simulation.tank.lowest,
            "held_ticks": self.held,
            "frames_lost": self.follower.lost - self.lost,
        }


def main() -> None:
    json.loads(sys.stdin.readline())  # no orders yet
    session = Serving(arm_at_rest(), port=0).start()
    try:
        account = BodyAccount(session)
        _tell(port=session.port, fifo=session.report.fifo)
        while True:
            if not select.select([sys.stdin], [], [], LOOK_S)[0]:
                account.read()
                continue
            order = sys.stdin.readline().strip()
            if order == "begin":
                session.reset()
                account.open()
                _tell(begun=True)
            elif order == "end":
                _tell(row=account.close())
            else:  # stdin was closed
                return
    finally:
        session.stop()


def _tell(**answer: Any) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
