"""A recorded hand in a live world, in simulated time: the same ticks, and on the same build the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from palpate.conventions import WORLD
from palpate.frame import HANDS, PRESS
from palpate.haptics.devices.messages import STALE_NS
from palpate.haptics.devices.pointer import Pointer
from palpate.record.hands import Hands, read_hands
from palpate.runtime.loop import restart, simulate
from palpate.runtime.ring import Follower
from palpate.runtime.session import BATCH, SMOOTH_S
from palpate.runtime.state import Engine
from palpate.scenes.scene import Scene


def touch_again(scene: Scene, hands: Hands | str | Path, seconds: float | None = None) -> np.ndarray:
    """Every frame (n, words) int64 of the scene, from its start, touched by recorded hands; the scene stays as it was.

    hands    what `palpate export --format hand` wrote, or record.hands.hands_of(recording)
    seconds  how long [s]; default: as long as the hands were recorded
    """
    hands, before = hands if isinstance(hands, tuple) else read_hands(hands), scene.world.snapshot()
    engine = Engine(scene.world, scene.plan, Pointer().spec, SMOOTH_S, editing=scene.editing, parked=scene.spares,
                    shared=False, task=scene.task)  # fmt: skip
    try:
        ticks = hands.ticks if seconds is None else round(seconds * engine.rate_hz)
        return _run(scene, engine, hands, ticks)
    finally:
        engine.close()
        scene.world.restore(before)


def _run(scene: Scene, engine: Engine, hands: Hands, ticks: int) -> np.ndarray:
    if len(hands.message) and (hands.message[:, engine.hand_layout.offset["hold"]] == PRESS).any():
        engine.learn_to_touch()
    restart(engine.address)
    servo, words, offset = engine.servo, engine.hand_layout.words, engine.hand_layout.offset
    body = [scene.model.body(name) if name else WORLD for name in hands.body]
    fresh = max(1, int(0.5e-9 * STALE_NS * engine.rate_hz))  # ticks after which a hand must be heard of again
    nobody = np.zeros((0, words), dtype=np.int64)
    follower, frames = Follower(engine.frames), []
    done = row = 0
    while done < ticks:
        while row < len(body) and hands.tick[row] <= done:
            k = int(hands.hand[row])
            servo.hand[k * words : (k + 1) * words] = hands.message[row]
            servo.hand[k * words + offset["body"]] = body[row]
            if hands.anew[row]:
                engine.page_hands[k].arrays.engage = 1
            row += 1
        for k in range(HANDS):
            servo.hand[k * words + offset["sent_ns"]] = round(1e9 * scene.world.dt * int(servo.tick))
        until = int(hands.tick[row]) if row < len(body) else ticks
        n = min(ticks, until, done + fresh, done + BATCH) - done
        if simulate(engine.address, n, nobody) != n:
            raise RuntimeError(f"the world stopped: {scene.world.fault}")
        frames += follower.read()
        done += n
    return np.array(frames, dtype=np.int64).reshape(len(frames), engine.frame_layout.words)
