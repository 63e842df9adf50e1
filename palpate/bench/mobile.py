"""`palpate bench mobile`: the tick of mobile displays, whole and in real time; walks without a device; the proxy.

scenes   one, and two, displays with everything: devices, proxy, trackers, estimate, planner, base, frame.  10 s of each
         on one core, then in real time
walks    person, trackers, estimate, planner and base alone, as the safety study runs them
proxy    a point that is pushed about on a ball of 1280 triangles: ours in one compiled call, called from Python update
         by update, and the reference's algorithm in numpy, which asks every triangle (peers/proxy_numpy.py)
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from palpate.bench.avatars import STORY_S, Story, whole
from palpate.bench.dynamics import machine
from palpate.bench.peers.proxy_numpy import NumpyProxy
from palpate.bench.servo import fifo_permitted
from palpate.haptics.rendering.facade import Proxy
from palpate.haptics.rendering.surface import Surface
from palpate.mobile.planning.planner import IMPROVED
from palpate.mobile.walking.follow import Following, Rig
from palpate.mobile.walking.users import explore
from palpate.model.model import Floats
from palpate.model.shapes import Shape

TICK_GOAL_US, LATE_GOAL, TIMES_GOAL = 20.0, 1e-3, 50.0
STORIES = (Story("mobile-recorded"), Story("mobile"), Story("mobile-two"))
WALKS, WALK_S = 20, 30.0
UPDATES, STIFF_N_M, BALL_M = 4000, 1000.0, 0.1
SMOOTH = Surface(stiffness_N_m=STIFF_N_M, damping_Ns_m=0.0, static_friction=0.0, dynamic_friction=0.0, shading=False)


def walks_row(walks: int) -> dict[str, float]:
    """Simulated seconds per second of one core."""
    following = [Following(explore(seed), Rig(IMPROVED), seed) for seed in range(walks)]
    following[0].run(0.1)
    began = time.perf_counter()
    for each in following:
        each.run(WALK_S)
    seconds = time.perf_counter() - began
    return {"walks": walks, "seconds": WALK_S, "times": walks * WALK_S / seconds}


def pushes(updates: int, seed: int = 5) -> Floats:
    """(updates, 3) a hand about a ball, now outside, now 5 mm inside."""
    rng, t = np.random.default_rng(seed), np.arange(updates) * 1e-3
    turns = rng.uniform(0.5, 2.0, 3)
    way = np.stack([np.sin(turns[0] * t), np.cos(turns[1] * t), np.sin(turns[2] * t + 1.0)], axis=1)
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    return way * (BALL_M + 5e-3 * np.sin(2.0 * np.pi * t))[:, None]


def proxy_row(updates: int) -> dict[str, Any]:
    """Times of an update [us]."""
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=3, radius=BALL_M)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ball.ply"
        ball.export(path)
        ours = Proxy(Shape("mesh", (1.0, 1.0, 1.0), mesh=path, convex=False), SMOOTH)
    theirs, hips = NumpyProxy(np.array(ball.triangles), STIFF_N_M), pushes(updates)
    ours.follow(hips[:10])
    ours.update(hips[0])  # both are loaded now
    ours.reset()
    began = time.perf_counter()
    _, forces = ours.follow(hips)
    compiled = time.perf_counter() - began
    ours.reset()
    some = hips[: max(updates // 10, 20)]
    began = time.perf_counter()
    for hip in some:
        ours.update(hip, (0.0, 0.0, 0.0))
    called = time.perf_counter() - began
    began = time.perf_counter()
    others = np.array([theirs.update(hip) for hip in some])
    numpy_s = time.perf_counter() - began
    apart = np.linalg.norm(others - forces[: len(some)], axis=1)
    return {"updates": updates, "compiled_us": 1e6 * compiled / updates, "called_us": 1e6 * called / len(some),
            "numpy_us": 1e6 * numpy_s / len(some), "apart_N": float(np.median(apart))}  # fmt: skip


def run(
    seconds: float = 4.0, quick: bool = False, progress: Callable[[str], None] = lambda what: None
) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench mobile --json` writes."""
    before, permitted, rows = machine(), fifo_permitted(), list[dict[str, Any]]()
    for story in STORIES:
        progress(story.scene)
        rows.append(whole(story, 0.2 if quick else seconds, permitted))
    progress("walks")
    walks = walks_row(2 if quick else WALKS)
    progress("proxy")
    proxy = proxy_row(200 if quick else UPDATES)
    goals = verdicts(rows)
    return {
        "bench": "mobile", "machine": before, "seconds": seconds, "quick": quick, "rows": rows, "walks": walks,
        "proxy": proxy, "met": [what for what, met in goals if met],
        "shortfalls": [what for what, met in goals if not met],
    }  # fmt: skip


def verdicts(rows: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """(what was reached, whether that meets the goal); goals of time are of one display."""
    said = []
    for row in rows:
        name, times = row["scene"], STORY_S / row["core_s"]
        said.append((f"{name}: {100 * row['late_fraction']:.3f} % late, goal under {100 * LATE_GOAL:g} %",
                     row["late_fraction"] < LATE_GOAL))  # fmt: skip
        if name != "mobile-two":
            said += [
                (f"{name}: a tick of {row['tick_p50_us']:.1f} us (median), goal {TICK_GOAL_US:g}",
                 row["tick_p50_us"] <= TICK_GOAL_US),
                (f"{name}: {times:.0f} times real time on one core, goal {TIMES_GOAL:g}", times >= TIMES_GOAL),
            ]  # fmt: skip
    return said
