"""`palpate bench planar`: the servo step of the planar interface, and block and walls alone, beside other ways.

servo step   a hand leads the handle in the middle of the room (free), along a wall and into a corner; every step of
             section 1.10 of the reference: encoders, observer, contacts, friction, torques, plant, observer, bodies,
             audit.  In the compiled loop, each step with its time, and the same step in numpy (peers/planar_numpy.py)
bodies       block and walls alone under a push: our two stages in the compiled loop, one step called from Python,
             numpy, and pymunk (peers/pymunk.py); one block, and ten that are stirred
real time    the scene planar-block at 4 kHz for some seconds, how late its ticks begin

Rounds repeat the same steps from the same start, interleaved; a step's time is its median over the rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from palpate.bench.dynamics import machine
from palpate.bench.peers import pymunk as pymunk_peer
from palpate.bench.peers.planar_numpy import NumpyLane, NumpyRoom
from palpate.bench.planar_loops import timed_bodies, timed_lane
from palpate.bench.servo import fifo_permitted
from palpate.bench.timed_servo import lateness_row, run_servo
from palpate.jit import warm
from palpate.model.model import Floats
from palpate.planar.bodies.description import PlanarBody, Polygon
from palpate.planar.bodies.rooms import BLOCK_M, ROOM_M, block, enclosure, walls
from palpate.planar.bodies.world import PlanarWorld
from palpate.planar.configuration import PlanarConfiguration
from palpate.planar.scenes import planar_block
from palpate.planar.simulation import PlanarSimulation

DT_S = 2e-3
STEPS, ROUNDS, BEFORE = 2000, 5, 200  # BEFORE: the hand gets there, and caches fill
NUMPY_STEPS = 300  # of each round: one takes a millisecond
STEP_GOAL_US, LATE_GOAL, LIMIT_US, FAST_HZ = 10.0, 1e-3, 2000.0, 4000
SITUATIONS = ("free", "along a wall", "in a corner")
BLOCKS = 10


def wishes(situation: str, steps: int) -> tuple[Floats, Floats]:
    """Where the hand wants the handle (steps, 3), in the device's workspace, and how fast."""
    t = DT_S * np.arange(steps)
    slow = np.sin(2.0 * np.pi * 0.5 * t)
    target = {
        "free": [0.03 * slow, 0.02 * np.cos(np.pi * t), 0.3 * slow],
        "along a wall": [0.04 * slow, np.full(steps, -0.08), 0.0 * t],
        "in a corner": [np.full(steps, 0.10), np.full(steps, -0.08), 0.0 * t],
    }[situation]
    made = np.stack(target, axis=1) * np.minimum(1.0, t / 0.2)[:, None]
    return np.ascontiguousarray(made), np.ascontiguousarray(np.gradient(made, DT_S, axis=0))


def percentiles(ns: np.ndarray) -> dict[str, float]:
    """Of (rounds, steps) times: of the steps' medians."""
    p50, p99, largest = np.percentile(1e-3 * np.median(ns, axis=0), (50, 99, 100))
    return {"p50_us": float(p50), "p99_us": float(p99), "max_us": float(largest)}


class ServoCase:
    """One situation in the compiled loop and in numpy."""

    def __init__(self, situation: str, steps: int) -> None:
        self.situation, self.steps = situation, steps
        self.target, self.velocity = wishes(situation, BEFORE + steps)
        self.simulation = planar_block(shared=False)
        self.touched = 0.0

    def compiled(self) -> np.ndarray:
        """(steps,) [ns] from the start."""
        self.simulation.restart()
        ns, none = np.zeros(BEFORE + self.steps, dtype=np.int64), np.zeros((0, 12))
        lane, clock = self.simulation.lanes[0], np.zeros(2, dtype=np.int64)
        fault = timed_lane(lane.block.address, DT_S, self.target, self.velocity, clock, ns, none)
        if fault:
            raise RuntimeError(f"planar, {self.situation}: the device stopped ({fault})")
        self.touched = float(len(lane.world.touching))
        return ns[BEFORE:]

    def twin(self) -> NumpyLane:
        lane, settings = self.simulation.lanes[0], self.simulation.configuration
        room = NumpyRoom(BLOCK_M, ROOM_M, 1.0 / lane.world.polygons.inverse_mass[1], settings)
        return NumpyLane(settings, room, np.array(lane.channels.stiffness), np.array(lane.channels.damping), DT_S)

    def numpy(self, steps: int) -> np.ndarray:
        """(steps,) [ns]: the first ones bring it there and are not counted."""
        lane, ns = self.twin(), np.zeros(BEFORE + steps, dtype=np.int64)
        for i in range(BEFORE + steps):
            began = time.perf_counter_ns()
            lane.step(self.target[i], self.velocity[i])
            ns[i] = time.perf_counter_ns() - began
        return ns[BEFORE:]


def servo_rows(steps: int, rounds: int, numpy_steps: int) -> list[dict[str, Any]]:
    rows = []
    for situation in SITUATIONS:
        case = ServoCase(situation, steps)
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(case.compiled())
            theirs.append(case.numpy(numpy_steps))
        mine, other = percentiles(np.array(ours)), percentiles(np.array(theirs))
        row = {"situation": situation, "contacts": case.touched, "compiled": mine, "numpy": other}
        rows.append(row | {"times_faster": other["p50_us"] / mine["p50_us"]})
        case.simulation.close()
    return rows


class Stirred(NamedTuple):
    """Bodies under pushes."""

    name: str
    bodies: list[PlanarBody]
    wrench: Floats  # (steps, moving, 3)


def stirred(steps: int, blocks: int, seed: int = 17) -> Stirred:
    """One block that is pushed into a corner and turned, or many that are stirred, all in one room."""
    rng, t = np.random.default_rng(seed), DT_S * np.arange(steps)
    if blocks == 1:
        wrench = np.stack([4.0 + 0.0 * t, -3.0 + np.sin(3.0 * t), 0.05 * np.sin(5.0 * t)], axis=1)[:, None]
        return Stirred("one block", enclosure(pose=(0.10, -0.08, 0.1)), np.ascontiguousarray(wrench))
    places = [(0.095 * (k % 4) - 0.14, 0.085 * (k // 4) - 0.08) for k in range(blocks)]
    small = Polygon.box(0.07, 0.045)  # so that ten of them have room to move
    some = [replace(block((x, y, 0.0), name=f"block {k}"), polygon=small) for k, (x, y) in enumerate(places)]
    phase, size = rng.uniform(-np.pi, np.pi, (2, blocks)), np.array([6.0, 6.0, 0.03])
    waves = [np.cos(2.0 * t[:, None] + phase[0]), np.sin(2.0 * t[:, None] + phase[0]), np.sin(t[:, None] + phase[1])]
    return Stirred(f"{blocks} blocks", [*some, *walls()], np.ascontiguousarray(size * np.stack(waves, axis=2)))


class BodiesCase:
    """The same bodies in each engine; every run begins at the start."""

    def __init__(self, case: Stirred) -> None:
        self.case = case
        self.world = PlanarWorld(case.bodies)
        self.touching = 0.0

    def compiled(self) -> np.ndarray:
        self.world.reset()
        n = len(self.case.wrench)
        ns, touching = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        clock = np.zeros(2, dtype=np.int64)
        timed_bodies(self.world.block.address, self.world.dt_s, self.case.wrench, clock, ns, touching)
        self.touching = float(touching[BEFORE:].mean())
        return ns

    def called(self) -> np.ndarray:
        """A step at a time from Python."""
        self.world.reset()
        rows = self.world.motion.applied
        for i, wrench in enumerate(self.case.wrench):
            rows[1 : 1 + len(wrench)] = wrench
            began = time.perf_counter_ns()
            self.world.step()
            self._ns[i] = time.perf_counter_ns() - began
        return self._ns.copy()

    def pymunk(self) -> np.ndarray:
        surface = self.case.bodies[0].surfaces[0]
        room = pymunk_peer.Room(self.case.bodies, float(surface.friction_settings.get("mu", 0.3)), surface.restitution)
        for i, wrench in enumerate(self.case.wrench.tolist()):
            for k, each in enumerate(wrench):
                room.push(k, *each)
            began = time.perf_counter_ns()
            room.step(DT_S)
            self._ns[i] = time.perf_counter_ns() - began
        return self._ns.copy()

    def numpy(self) -> np.ndarray:
        """Of one block."""
        room = NumpyRoom(BLOCK_M, ROOM_M, 1.0 / self.world.polygons.inverse_mass[1], PlanarConfiguration())
        room.X = self.world.start.X[1].copy()
        n = min(BEFORE + NUMPY_STEPS, len(self.case.wrench))
        ns = np.zeros(n, dtype=np.int64)
        for i in range(n):
            began = time.perf_counter_ns()
            room.touch(DT_S)
            room.move(self.case.wrench[i, 0], DT_S)
            ns[i] = time.perf_counter_ns() - began
        return ns

    def row(self, rounds: int) -> dict[str, Any]:
        self._ns = np.zeros(len(self.case.wrench), dtype=np.int64)
        ways: dict[str, Callable[[], np.ndarray]] = {"compiled": self.compiled, "called": self.called}
        if self.case.wrench.shape[1] == 1:
            ways["numpy"] = self.numpy
        if pymunk_peer.version():
            ways["pymunk"] = self.pymunk
        times: dict[str, list[np.ndarray]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, way in ways.items():
                times[name].append(way()[BEFORE:])
        found = {name: percentiles(np.array(each)) for name, each in times.items()}
        return {"bodies": self.case.name, "contacts": self.touching, "ways": found}


def real_time(seconds: float, fifo: bool) -> dict[str, Any]:
    """planar-block at 4 kHz, its handle led to and fro."""
    t = np.linspace(0.0, seconds + 1.0, round(50 * (seconds + 1.0)))
    path = np.stack([t, 0.08 * np.sin(2.0 * t), 0.06 * np.sin(3.0 * t), 0.3 * np.sin(t)], axis=1)
    periods = round(seconds * FAST_HZ)
    simulation: PlanarSimulation = planar_block(
        rate_hz=float(FAST_HZ), servo_hz=FAST_HZ, path=path, lateness_log=periods
    )
    run_servo(simulation, periods, fifo)
    row = {"rate_hz": FAST_HZ, "fifo": fifo, "seconds": seconds} | lateness_row(simulation, periods)
    simulation.close()
    return row


def run(
    rounds: int = ROUNDS, seconds: float = 4.0, quick: bool = False, progress: Callable[[str], None] = lambda what: None
) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench planar --json` writes."""
    before, permitted = machine(), fifo_permitted()
    steps, numpy_steps = (50, 5) if quick else (STEPS, NUMPY_STEPS)
    for entry in (timed_lane, timed_bodies):
        warm(entry)
    progress("the servo step, compiled and in numpy")
    servo = servo_rows(steps, rounds, numpy_steps)
    bodies = []
    for blocks in (1, BLOCKS):
        progress(f"bodies alone, {blocks} of them")
        bodies.append(BodiesCase(stirred(BEFORE + steps, blocks)).row(rounds))
    progress(f"{FAST_HZ} Hz in real time")
    fast = real_time(seconds, permitted)
    goals = verdicts(servo, bodies, fast)
    return {
        "bench": "planar", "machine": before, "pymunk": pymunk_peer.version(), "steps": steps, "rounds": rounds,
        "quick": quick, "servo": servo, "bodies": bodies, "real_time": fast, "fifo_permitted": permitted,
        "met": [what for what, is_met in goals if is_met], "shortfalls": [what for what, is_met in goals if not is_met],
    }  # fmt: skip


def verdicts(servo: list[dict[str, Any]], bodies: list[dict[str, Any]], fast: dict[str, Any]) -> list[tuple[str, bool]]:
    """(what was reached, whether that meets the goal)."""
    goals = [
        (f"servo step, {row['situation']}: {row['compiled']['p50_us']:.1f} us, "
         f"{1e6 * DT_S / row['compiled']['p50_us']:.0f} times real time at 500 Hz, goal at most {STEP_GOAL_US:g} us",
         row["compiled"]["p50_us"] <= STEP_GOAL_US)
        for row in servo
    ]  # fmt: skip
    many = bodies[-1]["ways"]["compiled"]
    share = many["p99_us"] / LIMIT_US
    goals.append((f"{bodies[-1]['bodies']} at 500 Hz: 99 % of steps within {many['p99_us']:.0f} us of "
                  f"{LIMIT_US:g}, {100 * share:.1f} %", share < 1.0))  # fmt: skip
    goals.append((f"{fast['rate_hz']} Hz: {100 * fast['late_fraction']:.3f} % late, goal under {100 * LATE_GOAL:g} %",
                  fast["late_fraction"] < LATE_GOAL))  # fmt: skip
    return goals
