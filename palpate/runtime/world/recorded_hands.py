"""A recorded hand in a live world, in simulated time: the same ticks, and on the same build the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from palpate.conventions import WORLD
from palpate.frame import HANDS, PRESS
from palpate.haptics.devices.messages import STALE_NS
from palpate.record.hands import Hands, read_hands
from palpate.runtime.world.session import SMOOTH_S
from palpate.runtime.world.simulation import WorldSimulation, running
from palpate.scenes.scene import Scene
from palpate.servo.run import Run


def touch_again(scene: Scene, hands: Hands | str | Path, seconds: float | None = None) -> np.ndarray:
    """Every frame (n, words) int64 of the scene, from its start, touched by recorded hands; the scene stays as it was.

    hands    what `palpate export --format hand` wrote, or record.hands.hands_of(recording)
    seconds  how long [s]; default: as long as the hands were recorded
    """
    hands = hands if isinstance(hands, tuple) else read_hands(hands)
    with running(scene, smooth_s=SMOOTH_S) as run:
        ticks = hands.ticks if seconds is None else round(seconds * run.simulation.rate_hz)
        _play(scene, run, hands, ticks)
        return run.frames


def _play(scene: Scene, run: Run[WorldSimulation], hands: Hands, ticks: int) -> None:
    engine = run.simulation
    if len(hands.message) and (hands.message[:, engine.hand_layout.offset["hold"]] == PRESS).any():
        engine.learn_to_touch()
    head, words, offset = engine.head, engine.hand_layout.words, engine.hand_layout.offset
    body = [scene.model.body(name) if name else WORLD for name in hands.body]
    fresh = max(1, int(0.5e-9 * STALE_NS * engine.rate_hz))  # ticks after which a hand must be heard of again
    done = row = 0
    while done < ticks:
        while row < len(body) and hands.tick[row] <= done:
            k = int(hands.hand[row])
            head.hand[k * words : (k + 1) * words] = hands.message[row]
            head.hand[k * words + offset["body"]] = body[row]
            if hands.anew[row]:
                engine.page_hands[k].arrays.engage = 1
            row += 1
        for k in range(HANDS):
            head.hand[k * words + offset["sent_ns"]] = round(1e9 * scene.world.dt * head.tick)
        until = int(hands.tick[row]) if row < len(body) else ticks
        n = min(ticks, until, done + fresh) - done
        run.ticks(n)
        done += n
