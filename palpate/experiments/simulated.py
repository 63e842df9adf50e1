"""A scene in simulated time: the servo's own tick, as fast as it goes, every frame kept and, if wanted, recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from palpate.dynamics.facade import forward_kinematics
from palpate.frame import FRAME, PULL, PUSH
from palpate.haptics.devices.scripted import Grasp, Push, Scripted
from palpate.haptics.spring import spring_fields
from palpate.record.writer import FrameWriter
from palpate.runtime.describe import STIFFNESS_N_M, describe
from palpate.runtime.engine import Engine
from palpate.scenes.scene import Scene
from palpate.servo.ring import Follower

BATCH = 250  # ticks between two looks at the ring, which holds many more


def simulated_run(
    scene: Scene, ticks: int, hand: Scripted | None = None, record: Path | None = None
) -> dict[str, np.ndarray]:
    """Histories (ticks, ...) of every field of the frame; the same bits every time, and the scene stays as it was."""
    hand, before = hand or Scripted(), scene.world.snapshot()
    engine = Engine(
        scene.world, scene.plan, hand.spec, editing=scene.editing, parked=scene.spares, shared=False, task=scene.task
    )
    engine.restart()
    follower, messages = Follower(engine.frames), []
    writer = (
        FrameWriter(record, describe(scene, engine), clock="simulated", clock_offset_ns=0, overwrite=True)
        if record
        else None
    )
    script = _Script(engine, hand)
    done = 0
    while done < ticks:
        table = script.messages(done, min(BATCH, ticks - done))
        n = len(table)
        if engine.simulate(n, table) != n:
            raise RuntimeError(f"the world stopped: {scene.world.fault}")
        done += n
        batch = follower.read()
        messages += batch
        if writer:
            writer.add(np.array(batch))
    if writer:
        writer.close()
    words, layout = np.array(messages), engine.layout
    engine.close()
    scene.world.restore(before)

    def history(name: str, kind: str) -> np.ndarray:
        part = np.ascontiguousarray(words[:, layout.offset[name] : layout.offset[name] + layout.length[name]])
        part = part.view(np.float64) if kind == "f" else part
        shown = part.reshape(len(words), *layout.shape[name])
        return shown[:, 0] if name.startswith("hand_") else shown  # a frame has two hands, a script one

    return {f.name: history(f.name, f.kind) for f in FRAME}


class _Script:
    """The messages of a scripted hand.  Whatever it begins depends on where things are: it begins a batch of ticks."""

    def __init__(self, engine: Engine, hand: Scripted) -> None:
        self.engine, self.hand = engine, hand
        self.now: Grasp | Push | None = None
        self.start = np.zeros(3)  # of a grasp, where the hand began (world) [m]; of a push, where it acts in the body

    def messages(self, done: int, most: int) -> np.ndarray:
        """Messages (n, words) of the ticks from `done` on: as many as are known, at most `most`, at least one."""
        rows: list[np.ndarray] = []
        for k in range(most):
            time_s = (done + k) / self.engine.rate_hz
            action = self.hand.acting(time_s)
            if action is not self.now and action is not None:
                if rows:
                    break
                self._begin(action)
            self.now = action
            rows.append(self._message(action, time_s))
        return np.array(rows)

    def _begin(self, action: Grasp | Push) -> None:
        model = self.engine.model
        X = forward_kinematics(model, self.engine.servo.q)[model.body(action.body)]
        before = self.now
        if isinstance(action, Push):
            self.start = action.point(X[:3, :3])
        elif isinstance(before, Grasp) and (before.body, before.at_body) == (action.body, action.at_body):
            self.start = self.hand.target(before, self.start, action.begin_s)
        else:
            self.start = X[:3, :3] @ action.at_body + X[:3, 3]

    def _message(self, action: Grasp | Push | None, time_s: float) -> np.ndarray:
        layout, model = self.engine.hand_layout, self.engine.model
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
