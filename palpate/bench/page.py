"""`palpate bench page`: how old frames and hands are when they arrive, and whether pages disturb the servo.

Everything runs as in `palpate touch`: the servo in this process, the page's server in its own, pages that read as
browsers do (page_clients.py) and, where there is one, a real Chromium (page_browser.py).

frames     of one scene, read by so many pages: how old they are when they come (from the beginning of their tick), how
           many come to each in a second, bytes to each in a second, and the part of ticks that were late meanwhile
hand       from when a page sends it to the page's process, to the tick that used it, to a frame that shows its force
browser    the same from a pointer's event to the picture (in software here: on a laptop's GPU pictures are quicker)
start      of `palpate touch` with compiled kernels, until its page is served and until the first frame
first      the same with an empty cache: everything is compiled, or came with the wheel
peer       a bare WebSocket server of the same library, asked sixty times a second for as many bytes
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from palpate.bench import page_browser
from palpate.bench.dynamics import machine
from palpate.bench.page_clients import spread, touches, watched
from palpate.bench.page_start import first_start, start
from palpate.bench.peers.page import bare_echo
from palpate.page.sockets import SHOW_HZ
from palpate.runtime.children import one_line
from palpate.runtime.world.session import WorldSession
from palpate.runtime.world.tick import tick_world
from palpate.scenes.arm import arm_line
from palpate.scenes.scene import Scene
from palpate.scenes.standing import hrp2_standing

# Goals.  Those of frames and hands are what a bare page reached (reference on the runtime, section 4): an event was in
# Python after 1.4 ms, here a tick of 1 ms comes on top; an update was shown 4 ms after it was sent.
FRAME_GOAL_MS, HAND_GOAL_MS = 4.0, 2.4
SHOWN_GOAL = 0.9  # of SHOW_HZ, to each page, also beside a slow one
LATE_GOAL = 1e-3  # of all ticks, more with pages than without
START_GOAL_S = 3.0
FIRST_GOAL_S = {"page_s": 10.0, "frame_s": 30.0}  # on two quiet cores
PREBUILT_GOAL_S = 5.0  # where the wheel brought its kernels
STARTS = 3
SETTLE_S = 0.3  # of a session, before anything is measured


@dataclass(frozen=True)
class Case:
    """One row of frames: pages that read, and whether a slow one is beside them."""

    pages: int
    slow: bool = False


@dataclass(frozen=True)
class Shown:
    """A scene, what a hand takes hold of in it, and its rows."""

    name: str
    build: Callable[[], Scene]
    body: str
    cases: tuple[Case, ...]


SCENES = (
    Shown("arm-line", arm_line, "link3", (Case(0), Case(1), Case(8), Case(1, slow=True))),
    Shown("hrp2", hrp2_standing, "CHEST_JOINT1", (Case(0), Case(1), Case(8), Case(1, slow=True))),
)


def frame_row(scene: str, case: Case, session: WorldSession, seconds: float) -> dict[str, Any]:
    """What the pages of one case got; times in ms, per page and second."""
    seen = watched(session, case.pages, case.slow, seconds)
    length_s = sum(page.seconds for page in seen.pages)
    return {
        "scene": scene, "pages": case.pages, "slow": case.slow,
        **spread([age for page in seen.pages for age in page.ages_ms]),
        "frame_bytes": 8 * session.simulation.layout.words,
        "frames_hz": sum(len(page.ages_ms) for page in seen.pages) / length_s if length_s else 0.0,
        "bytes_s": sum(page.frame_bytes for page in seen.pages) / length_s if length_s else 0.0,
        "slow_frames": seen.slow_frames, "ticks": seen.ticks, "late_fraction": seen.late / max(1, seen.ticks),
    }  # fmt: skip


def hand_rows(session: WorldSession, body: str, seconds: float) -> dict[str, Any]:
    """A hand of a page without a browser; times in ms."""
    times = touches(session, body, seconds)
    return {
        "hand to page": spread(times.to_page),
        "hand to force": spread(times.to_force),
        "hand to frame with its force": spread(times.and_back),
    }


def browser_row(shown: Shown, session: WorldSession, browser: Any, seconds: float) -> dict[str, Any]:
    """The page of a session in Chromium: pictures a second, and the way from pointer to picture in ms."""
    with closing(page_browser.Tab(browser, session)) as tab:
        session.reset()  # so that something moves
        pictures = tab.pictures(seconds)
        times, off_ms = tab.drag(shown.body, seconds)
    return {"scene": shown.name, **pictures, "clock_off_ms": off_ms,
            "stages": {name: spread(values) for name, values in times.items()}}  # fmt: skip


def verdicts(result: dict[str, Any]) -> list[tuple[str, bool]]:
    """(what was reached, whether that meets the goal)."""
    goals = []
    rows = {(row["scene"], row["pages"], row["slow"]): row for row in result["frames"]}
    for (scene, pages, slow), row in rows.items():
        if pages == 1 and not slow:
            goals.append(_soon(f"{scene}: frames come after {{}} (median)", row["p50_ms"], FRAME_GOAL_MS))
        if pages == 1:
            least_hz = SHOWN_GOAL * SHOW_HZ
            goals.append((f"{scene}: {row['frames_hz']:.1f} frames a second to a page{' beside a slow one' * slow}, "
                          f"goal at least {least_hz:g}", row["frames_hz"] >= least_hz))  # fmt: skip
        alone = rows.get((scene, 0, False))
        if alone is not None and pages > 1:
            more = row["late_fraction"] - alone["late_fraction"]
            goals.append((f"{scene}: {100 * row['late_fraction']:.3f} % of ticks late with {pages} pages, "
                          f"{100 * alone['late_fraction']:.3f} % without, goal at most {100 * LATE_GOAL:g} % more",
                          more <= LATE_GOAL))  # fmt: skip
    hand = result["hand"]["hand to force"]["p50_ms"]
    goals.append(_soon("the force of a hand comes after {} (median)", hand, HAND_GOAL_MS))
    starts = result["starts"]
    for key, what in (("page_s", "serves its page"), ("frame_s", "brings its first frame")):
        middle = float(np.median([start[key] for start in starts]))
        goals.append((f"palpate touch {what} {middle:.2f} s after its warm start (median of {len(starts)}), goal under "
                      f"{START_GOAL_S:g} s", middle < START_GOAL_S))  # fmt: skip
        first = result["first"]
        goal_s = FIRST_GOAL_S[key] if first["compiled"] else PREBUILT_GOAL_S
        goals.append((f"palpate touch {what} {first[key]:.2f} s after its first start ({first['compiled']} files "
                      f"compiled), goal under {goal_s:g} s", first[key] < goal_s))  # fmt: skip
    return goals


def _soon(what: str, value_ms: float | None, goal_ms: float) -> tuple[str, bool]:
    came = "no time: nothing came" if value_ms is None else f"{value_ms:.2f} ms"
    return f"{what.format(came)}, goal under {goal_ms:g} ms", value_ms is not None and value_ms < goal_ms


def run(seconds: float = 1.5, progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench page --json` writes."""
    before, load = machine(), os.getloadavg()
    progress("the kernels of the servo, compiled or loaded")
    tick_world.warm()
    frames, in_browser, fifo, hand = [], [], False, {}
    without = page_browser.missing()
    missing = [without] if without else []
    for k, shown in enumerate(SCENES):
        with WorldSession(shown.build(), page=True, port=0) as session:
            session.wait(SETTLE_S)
            fifo = session.report.fifo
            for case in shown.cases:
                progress(f"frames of {shown.name} to {case.pages} pages{', a slow one beside' * case.slow}")
                session.reset()
                frames.append(frame_row(shown.name, case, session, seconds))
            if k == 0:
                progress("a hand")
                hand = hand_rows(session, shown.body, seconds)
            if not without:
                progress(f"{shown.name} in Chromium")
                try:
                    with page_browser.chromium() as browser:
                        in_browser.append(browser_row(shown, session, browser, seconds))
                except Exception as problem:  # whatever a browser does, the other rows stand
                    missing.append(f"{shown.name}: {one_line(problem)}")
    progress("a bare WebSocket server")
    trips_ms, back_ms = bare_echo(seconds, frames[0]["frame_bytes"])
    started = []
    for k in range(STARTS):
        progress(f"start {k + 1} of {STARTS} of palpate touch")
        started.append(start(SCENES[0].name))
    progress("the first start of palpate touch, with an empty cache")
    first = first_start(SCENES[0].name)
    result = {
        "bench": "page", "machine": before, "seconds": seconds, "fifo": fifo, "frames": frames, "hand": hand,
        "browser": in_browser, "missing": missing, "starts": started, "first": first,
        "peer": {"there and back": spread(trips_ms), "back": spread(back_ms)},
        "load": {"before": load, "after": os.getloadavg()},
    }  # fmt: skip
    goals = verdicts(result)
    return result | {"met": [what for what, is_met in goals if is_met],
                     "shortfalls": [what for what, is_met in goals if not is_met]}  # fmt: skip
