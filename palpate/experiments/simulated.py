"""A scene in simulated time: the servo's own tick, as fast as it goes, every frame kept and, if wanted, recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from palpate.dynamics.facade import forward_kinematics
from palpate.frame import FRAME
from palpate.haptics.devices.scripted import Scripted
from palpate.record.writer import FrameWriter
from palpate.runtime.describe import STIFFNESS_N_M, describe
from palpate.runtime.loop import restart, simulate
from palpate.runtime.ring import Follower
from palpate.runtime.state import Engine
from palpate.scenes.scene import Scene

BATCH = 250  # ticks between two looks at the ring, which holds many more


def simulated_run(
    scene: Scene, ticks: int, hand: Scripted | None = None, record: Path | None = None
) -> dict[str, np.ndarray]:
    """Histories (ticks, ...) of every field of the frame; the same bits every time."""
    hand = hand or Scripted()
    engine = Engine(scene.world, scene.plan, hand.spec)
    restart(engine.address)
    follower, messages = Follower(engine.frames), []
    writer = (
        FrameWriter(record, describe(scene, engine), clock="simulated", clock_offset_ns=0, overwrite=True)
        if record
        else None
    )
    start = None  # where the hand's present grasp began
    done = 0
    while done < ticks:
        # a hand needs to know where the point it takes hold of is, so a grasp begins a batch
        n = min(BATCH, ticks - done)
        table = np.zeros((n, engine.hand_layout.words), dtype=np.int64)
        for k in range(n):
            time_s = (done + k) / scene.rate_hz
            grasp = hand.holding(time_s)
            if grasp is None:
                start = None
                continue
            if start is None:
                if k > 0:  # end this batch here
                    n, table = k, table[:k]
                    break
                start = _point(engine, grasp.body, grasp.at_body)
            table[k] = engine.hand_layout.pack(
                body=scene.model.body(grasp.body), at_body=grasp.at_body, target=hand.target(grasp, start, time_s),
                stiffness_N_m=STIFFNESS_N_M)  # fmt: skip
        if simulate(engine.address, n, table) != n:
            raise RuntimeError(f"the world stopped: {scene.world.fault}")
        done += n
        batch = follower.read()
        messages += batch
        if writer:
            writer.add(np.array(batch))
    if writer:
        writer.close()
    words, layout = np.array(messages), engine.frame_layout
    engine.close()

    def history(name: str, kind: str) -> np.ndarray:
        part = np.ascontiguousarray(words[:, layout.offset[name] : layout.offset[name] + layout.length[name]])
        part = part.view(np.float64) if kind == "f" else part
        return part.reshape(len(words), *layout.shape[name])

    return {f.name: history(f.name, f.kind) for f in FRAME}


def _point(engine: Engine, body: str, at_body: tuple[float, float, float]) -> np.ndarray:
    X = forward_kinematics(engine.model, engine.servo.q)[engine.model.body(body)]
    return X[:3, :3] @ at_body + X[:3, 3]
