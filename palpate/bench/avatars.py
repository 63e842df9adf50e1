"""`palpate bench avatars`: what each controller of an avatar takes, what whole scenes take, and whether 1 kHz is held.

Every controller is timed where it runs, call by call, while the scene's story is played in simulated time: medians, and
what one call in a hundred takes.  Then 10 s of the scene on one core, and the same story in real time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from palpate.bench.dynamics import machine
from palpate.bench.servo import fifo_permitted
from palpate.bench.timed_servo import lateness_row, run_servo
from palpate.control.part import ControlPart
from palpate.jit import Block, Struct, block_loader
from palpate.jit.atomics import monotonic_ns
from palpate.jit.routines import call_routine, routine
from palpate.model.model import Ints1
from palpate.registry import find
from palpate.runtime.world.controllers import controllers_of
from palpate.runtime.world.in_tick import InTick, Kept, tell_touches
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes import SCENES
from palpate.scenes.scene import Scene
from palpate.servo.head import Head
from palpate.servo.parts import Part
from palpate.servo.ring import Follower

TICK_GOAL_US, LATE_GOAL, CORE_GOAL_S, BALANCE_GOAL_US = 150.0, 1e-3, 1.0, 15.0
STORY_S = 10.0


class Story(NamedTuple):
    """A scene, and the events that make it act: (time [s], event, value)."""

    scene: str
    events: tuple[tuple[float, str, float], ...] = ()


LIFT = ((5.0, "avatar_grasp", 2.0),)  # taken by itself, then lifted
STORIES = (
    Story("push-me"), Story("push-me-human"), Story("table-hrp2", LIFT), Story("table-human", LIFT), Story("carry-two"),
    Story("hand-shake"), Story("tap"), Story("hand-over"),
)  # fmt: skip


class Timing(Struct):
    """How long each call took [ns]."""

    calls: int
    clock: Ints1  # (2,) scratch of the clock
    log_ns: Ints1


load = block_loader((Head, False), (Kept, False), (Timing, False))


@routine
def tick_timed(address):
    h, k, t = load(address)
    if not h.moving:
        return 0
    if k.touches != 0:
        tell_touches(k)
    began = monotonic_ns(t.clock)
    answer = call_routine(k.tick, k.block)
    if t.calls < t.log_ns.shape[0]:
        t.log_ns[t.calls] = monotonic_ns(t.clock) - began
        t.calls += 1
    return answer


class Timed(InTick):
    """A ControlPart whose calls are timed."""

    def __init__(self, control: ControlPart, calls: int) -> None:
        super().__init__(control)
        self.timing = Timing(clock=np.zeros(2, dtype=np.int64), log_ns=np.zeros(calls, dtype=np.int64))

    def part(self, engine: WorldSimulation) -> Part:
        part = super().part(engine)
        self._timed = Block(*part.block.parts, self.timing)
        return part._replace(tick=tick_timed, block=self._timed)

    def row(self) -> dict[str, Any]:
        p50, p99 = np.percentile(self.timing.log_ns[: self.timing.calls], (50, 99)) * 1e-3
        return {"part": self.control.name, "every": self.control.every, "p50_us": float(p50), "p99_us": float(p99)}


def scene_of(story: Story) -> Scene:
    scene: Scene = find(SCENES, "scenes", story.scene)()
    return scene


def play(engine: WorldSimulation, story: Story, seconds: float) -> float:
    """The story in simulated time, from the start; how long it took [s]."""
    events = sorted(story.events)
    began = time.perf_counter()
    for due, event, value in (*events, (seconds, "", 0.0)):
        ticks = round(min(due, seconds) * engine.rate_hz) - engine.head.tick
        if ticks > 0 and engine.simulate(ticks) < ticks:
            raise RuntimeError(f"{story.scene}: {engine.why_stopped()}")
        if event:
            engine.events.write(engine.event_layout.pack(kind=engine.kind_of(event), value=value))
    return time.perf_counter() - began


def parts_of(story: Story, seconds: float) -> list[dict[str, Any]]:
    """The controllers of a scene, each timed in the tick."""
    scene = scene_of(story)
    calls = round(seconds * scene.rate_hz)
    timed = [Timed(each.control, calls) for each in controllers_of(scene) if isinstance(each, InTick)]
    engine = WorldSimulation(replace(scene, controllers=tuple(timed)))
    engine.restart()
    play(engine, story, seconds)
    engine.close()
    return [{"scene": story.scene} | each.row() for each in timed]


def whole(story: Story, seconds: float, fifo: bool) -> dict[str, Any]:
    """A scene on one core, and in real time."""
    engine = WorldSimulation(scene_of(story), lateness_log=(periods := round(seconds * 1000)))
    engine.restart()
    core_s = play(engine, story, STORY_S)
    engine.close()
    engine = WorldSimulation(scene_of(story), lateness_log=periods)
    ticks, due, follower = list[float](), sorted(story.events), Follower(engine.frames)

    def watch() -> None:
        """What a page and a recorder do: events in, frames out."""
        while due and due[0][0] <= engine.head.time:
            _, event, value = due.pop(0)
            engine.events.write(engine.event_layout.pack(kind=engine.kind_of(event), value=value))
        ticks.extend(engine.layout.read(frame, "tick_us") for frame in follower.read())

    run_servo(engine, periods, fifo, watch)
    row = {"scene": story.scene, "core_s": core_s, "fifo": fifo} | lateness_row(engine, periods)
    row |= {"tick_p50_us": float(np.percentile(ticks[1:], 50)), "tick_p99_us": float(np.percentile(ticks[1:], 99))}
    engine.close()
    return row


def run(seconds: float = 4.0, progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench avatars --json` writes."""
    before, permitted, parts, rows = machine(), fifo_permitted(), list[dict[str, Any]](), list[dict[str, Any]]()
    for story in STORIES:
        progress(f"{story.scene}, its controllers")
        parts += parts_of(story, STORY_S)
        progress(f"{story.scene}, in real time")
        rows.append(whole(story, seconds, permitted))
    goals = verdicts(parts, rows)
    return {
        "bench": "avatars", "machine": before, "seconds": seconds, "parts": parts, "rows": rows,
        "met": [what for what, is_met in goals if is_met], "shortfalls": [what for what, is_met in goals if not is_met],
    }  # fmt: skip


def verdicts(parts: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """(what was reached, whether that meets the goal)."""
    balance = [
        (f"{row['scene']}, {row['part']}: {row['p50_us']:.1f} us, goal at most {BALANCE_GOAL_US:g}",
         row["p50_us"] <= BALANCE_GOAL_US)
        for row in parts if row["part"] == "balance"
    ]  # fmt: skip
    scenes = []
    for row in rows:
        name = row["scene"]
        scenes += [
            (f"{name}: 99 % of ticks within {row['tick_p99_us']:.0f} us, goal {TICK_GOAL_US:g}",
             row["tick_p99_us"] <= TICK_GOAL_US),
            (f"{name}: {100 * row['late_fraction']:.3f} % late, goal under {100 * LATE_GOAL:g} %",
             row["late_fraction"] < LATE_GOAL),
        ]  # fmt: skip
        if name.startswith("table"):
            scenes.append((f"{name}: {STORY_S:g} s in {row['core_s']:.2f} s of one core, goal {CORE_GOAL_S:g}",
                           row["core_s"] <= CORE_GOAL_S))  # fmt: skip
    return balance + scenes
