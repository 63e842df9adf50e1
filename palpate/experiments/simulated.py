"""A scene in simulated time: the servo's own tick, as fast as it goes, every frame kept and, if wanted, recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from palpate.dynamics.facade import forward_kinematics
from palpate.frame import PULL, PUSH
from palpate.haptics.devices.simulation.scripted import Grasp, Push, Scripted
from palpate.haptics.spring import spring_fields
from palpate.record.writer import FrameWriter
from palpate.runtime.hello import hello_of
from palpate.runtime.world.hello import STIFFNESS_N_M
from palpate.runtime.world.simulation import WorldSimulation, running
from palpate.scenes.scene import Scene
from palpate.servo.run import BATCH, Run


def simulated_run(
    scene: Scene, ticks: int, hand: Scripted | None = None, record: Path | None = None
) -> dict[str, np.ndarray]:
    """Histories (ticks, ...) of every field of the frame; the same bits every time, and the scene stays as it was."""
    hand = hand or Scripted()
    with running(scene, device=hand.spec) as run, recorded(scene, run, record):
        script = _Script(run.simulation, hand)
        done = 0
        while done < ticks:
            table = script.messages(done, min(BATCH, ticks - done))
            run.ticks(len(table), table)
            done += len(table)
        histories = run.histories()
    return {name: x[:, 0] if name.startswith("hand_") else x for name, x in histories.items()}  # a script has one hand


@contextmanager
def recorded(scene: Scene, run: Run[WorldSimulation], record: Path | None) -> Iterator[FrameWriter | None]:
    """While inside, every frame goes into a recording, too, if one is wanted."""
    if record is None:
        yield None
        return
    hello = hello_of(run.simulation)
    writer = FrameWriter(record, hello, clock="simulated", clock_offset_ns=0, overwrite=True)
    run.sink = writer.add
    yield writer
    writer.close()


class _Script:
    """The messages of a scripted hand.  Whatever it begins depends on where things are: it begins a batch of ticks."""

    def __init__(self, engine: WorldSimulation, hand: Scripted) -> None:
        self.simulation, self.hand = engine, hand
        self.now: Grasp | Push | None = None
        self.start = np.zeros(3)  # of a grasp, where the hand began (world) [m]; of a push, where it acts in the body

    def messages(self, done: int, most: int) -> np.ndarray:
        """Messages (n, words) of the ticks from `done` on: as many as are known, at most `most`, at least one."""
        rows: list[np.ndarray] = []
        for k in range(most):
            time_s = (done + k) / self.simulation.rate_hz
            action = self.hand.acting(time_s)
            if action is not self.now and action is not None:
                if rows:
                    break
                self._begin(action)
            self.now = action
            rows.append(self._message(action, time_s))
        return np.array(rows)

    def _begin(self, action: Grasp | Push) -> None:
        model = self.simulation.model
        X = forward_kinematics(model, self.simulation.arrays.q)[model.body(action.body)]
        before = self.now
        if isinstance(action, Push):
            self.start = action.point(X[:3, :3])
        elif isinstance(before, Grasp) and (before.body, before.at_body) == (action.body, action.at_body):
            self.start = self.hand.target(before, self.start, action.begin_s)
        else:
            self.start = X[:3, :3] @ action.at_body + X[:3, 3]

    def _message(self, action: Grasp | Push | None, time_s: float) -> np.ndarray:
        layout, model = self.simulation.hand_layout, self.simulation.model
        if action is None:
            return layout.pack()
        if isinstance(action, Push):
            return layout.pack(body=model.body(action.body), hold=PUSH, at_body=self.start, force=action.force_N)
        return layout.pack(
            body=model.body(action.body), hold=PULL, at_body=action.at_body,
            target=self.hand.target(action, self.start, time_s),
            orientation=action.orientation or (0.0, 0.0, 0.0, 0.0), stiffness_Nm_rad=action.stiffness_Nm_rad,
            damping_Nms_rad=action.damping_Nms_rad, **spring_fields(
                STIFFNESS_N_M if action.stiffness_N_m is None else action.stiffness_N_m, action.damping_Ns_m),
        )  # fmt: skip
