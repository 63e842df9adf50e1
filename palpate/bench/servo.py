"""`palpate bench servo`: does the loop hold its rate, and how old are hands and frames when they arrive?

The arm is simulated and published every tick: each rate, alone and beside a Python process that keeps a core busy, with
SCHED_FIFO where it is permitted and without.  Then whole scenes under a hand (touched.py), and what one update of the
proxy takes (rendering.py).  Lateness: from a tick's due time to its beginning.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from palpate.bench.dynamics import machine
from palpate.bench.timed_servo import lateness_row, run_servo
from palpate.runtime.world.simulation import WorldSimulation
from palpate.runtime.world.tick import tick_world
from palpate.scenes.arm import arm

RATES_HZ = (1000, 2000, 4000)
BUSY = "while True: sum(i * i for i in range(100000))"


def fifo_permitted() -> bool:
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return False
    os.sched_setscheduler(0, *before)
    return True


def lateness(rate_hz: int, seconds: float, fifo: bool) -> dict[str, float]:
    """Run the servo of the arm for a while; lateness [us], and the part of ticks that ended after the next was due."""
    scene = arm(rate_hz)
    periods = round(seconds * rate_hz)
    engine = WorldSimulation(scene, lateness_log=periods)
    run_servo(engine, periods, fifo)
    row = lateness_row(engine, periods)
    engine.close()
    return row


def run(seconds: float = 4.0, progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench servo --json` writes."""
    if not hasattr(os, "sched_setscheduler"):
        raise ValueError("this bench needs Linux: elsewhere the loop is timed by Python")
    from palpate.bench import rendering  # not at the top: `palpate doctor` wants the loop alone
    from palpate.bench.touched import touched, touched_scenes, verdicts

    tick_world.warm()
    before, rows, touched_rows, permitted = machine(), [], [], fifo_permitted()
    for busy in (False, True):
        neighbour = subprocess.Popen([sys.executable, "-c", BUSY]) if busy else None
        beside = ", beside a busy process" if busy else ""
        try:
            for fifo in (True, False) if permitted else (False,):
                for rate_hz in RATES_HZ:
                    progress(f"{rate_hz} Hz{', FIFO' if fifo else ''}{beside}")
                    rows.append({"rate_hz": rate_hz, "fifo": fifo, "busy": busy} | lateness(rate_hz, seconds, fifo))
            for case in touched_scenes():
                progress(f"{case.name}, touched{', FIFO' if permitted else ''}{beside}")
                touched_rows.append(touched(case, seconds, permitted) | {"fifo": permitted, "busy": busy})
        finally:
            if neighbour:
                neighbour.kill()
                neighbour.wait()
    progress("hands and frames")
    times = latency(min(seconds, 3.0))
    goals = verdicts(touched_rows)
    return {
        "bench": "servo",
        "machine": before,
        "seconds": seconds,
        "fifo_permitted": permitted,
        "rows": rows,
        "touched": touched_rows,
        "latency": times,
        "rendering": rendering.run(progress=progress),
        "met": [what for what, is_met in goals if is_met],
        "shortfalls": [what for what, is_met in goals if not is_met],
    }


def latency(seconds: float) -> dict[str, dict[str, float]]:
    """Times [ms]: a socket client to the page's server, from there to the first force, a frame to the client."""
    import asyncio
    import json

    import aiohttp

    from palpate.bench.page_clients import socket_of
    from palpate.runtime.world.session import WorldSession
    from palpate.servo.ring import Follower

    sent_ns: list[int] = []
    stamped_ns: list[int] = []
    ages_s: list[float] = []
    frame_ms: list[float] = []

    async def client(session: WorldSession) -> None:
        engine = session.simulation
        frames, hands, layout = Follower(engine.frames), Follower(engine.hands), engine.layout
        body = session.scene.model.body("tool")
        target = session.frame()["pose"][body][:3].tolist()
        hand = json.dumps({"type": "hand", "body": body, "at_body": [0, 0, 0], "target": target, "stiffness": 800})
        async with aiohttp.ClientSession() as http, http.ws_connect(socket_of(session.url)) as socket:
            ended = time.monotonic() + seconds
            while time.monotonic() < ended:
                message = await socket.receive()
                if message.type is not aiohttp.WSMsgType.BINARY:
                    continue
                wall_ns = int(np.frombuffer(message.data, dtype=np.int64)[layout.offset["wall_ns"]])
                frame_ms.append((time.monotonic_ns() - wall_ns) * 1e-6)
                sent_ns.append(time.monotonic_ns())
                await socket.send_str(hand)
                stamped_ns.extend(engine.hand_layout.read(m, "sent_ns") for m in hands.read())
                ages_s.extend(layout.read(m, "hand_age_s")[0] for m in frames.read())

    with WorldSession(arm(), page=True, port=0) as session:
        session.wait(0.3)
        asyncio.run(client(session))
    ages = np.array(ages_s)
    first_use_ms = 1e3 * ages[1:][(ages[1:] < ages[:-1]) & (ages[1:] > 0.0)]  # the age falls when a new sample is used
    to_server_ms = [(b - a) * 1e-6 for a, b in zip(sent_ns, stamped_ns, strict=False)]

    def summary(values: Any) -> dict[str, float]:
        p50, p99, largest = np.percentile(values, (50, 99, 100)) if len(values) else (np.nan,) * 3
        return {"p50_ms": float(p50), "p99_ms": float(p99), "max_ms": float(largest), "samples": len(values)}

    return {
        "socket client to page server": summary(to_server_ms),
        "page server to first force": summary(first_use_ms),
        "servo to socket client": summary(frame_ms),
    }
