"""Pages without a browser: they read frames, take hold of a body and let go, and note when everything came.

Every time is of the monotonic clock, which all processes of a machine share: a frame carries when its tick began
(wall_ns), a hand when the page's process understood it (sent_ns).
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp
import numpy as np

from palpate.frame import COUNTERS, Layout
from palpate.page.sockets import SHOW_HZ
from palpate.servo.ring import Follower

if TYPE_CHECKING:  # the peer's process has no use for the compiler
    from palpate.runtime.world.session import WorldSession

PATIENCE_S = 20.0  # for anything that must come
SLOW_READ_S = 0.25  # between two looks of a page that is slow
SLOW_BUFFER_BYTES = 8192  # that the system keeps for it
PULL_M = 0.03  # how far the hand is from the point it holds
LATE = COUNTERS.index("late")


def socket_of(url: str) -> str:
    """The address of a page's socket, with the page's token."""
    return urlsplit(url)._replace(path="/ws").geturl()


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """The socket of the page at an address."""
    async with aiohttp.ClientSession() as http, http.ws_connect(socket_of(url), max_msg_size=0) as ws:
        yield ws


async def next_frame(ws: aiohttp.ClientWebSocketResponse, patience_s: float = PATIENCE_S) -> np.ndarray:
    """The next frame (words,) int64, whatever is said meanwhile."""
    async with asyncio.timeout(patience_s):
        while True:
            message = await ws.receive()
            if message.type is aiohttp.WSMsgType.BINARY:
                return np.frombuffer(message.data, dtype="<i8")
            if message.type is not aiohttp.WSMsgType.TEXT:
                raise RuntimeError("the page closed its socket")


# ---- pages that look


@dataclass
class Seen:
    """What one page got: how old each frame was when it came [ms], bytes of all of them, in so many seconds."""

    ages_ms: list[float] = field(default_factory=list)
    frame_bytes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Watched:
    """What pages got of a session together, and how its servo did meanwhile."""

    pages: list[Seen]
    slow_frames: int  # that a slow one beside them took
    ticks: int
    late: int


async def watch(url: str, layout: Layout, until: float) -> Seen:
    """Read every frame that comes until a moment of the monotonic clock [s]."""
    seen, at = Seen(), layout.offset["wall_ns"]
    async with connected(url) as ws:
        await next_frame(ws)  # from here on all that comes was sent to us
        begin = time.monotonic()
        while time.monotonic() < until:
            words = await next_frame(ws)
            seen.ages_ms.append(1e-6 * (time.monotonic_ns() - int(words[at])))
            seen.frame_bytes += words.nbytes
        seen.seconds = time.monotonic() - begin
    return seen


async def look_now_and_then(url: str, until: float) -> int:
    """A page that hardly reads: how many frames it took."""
    taken = 0
    async with connected(url) as ws:
        connection = ws.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BUFFER_BYTES)
        while time.monotonic() < until:
            await next_frame(ws)
            taken += 1
            await asyncio.sleep(min(SLOW_READ_S, max(0.0, until - time.monotonic())))
    return taken


def watched(session: WorldSession, pages: int, slow: bool, seconds: float) -> Watched:
    """So many pages read along for a while, and a slow one beside them."""
    layout = session.simulation.layout

    async def together() -> tuple[list[Seen], int]:
        until = time.monotonic() + seconds
        looking = [watch(session.url, layout, until) for _ in range(pages)]
        crawling = [look_now_and_then(session.url, until)] if slow else []
        seen, taken = await asyncio.gather(asyncio.gather(*looking), asyncio.gather(*crawling))
        await asyncio.sleep(max(0.0, until - time.monotonic()))
        return list(seen), sum(taken)

    frames, late = (
        session.simulation.frames,
        session.simulation.head.counters,
    )  # ticks begin anew with a reset, these do not
    before = frames.head, int(late[LATE])
    seen, taken = asyncio.run(together())
    return Watched(seen, taken, frames.head - before[0], int(late[LATE]) - before[1])


# ---- a page that touches


@dataclass
class Touches:
    """Times [ms] from when a hand was sent: understood by the page's process, used by a tick, and seen again."""

    to_page: list[float] = field(default_factory=list)
    to_force: list[float] = field(default_factory=list)
    and_back: list[float] = field(default_factory=list)


def touches(session: WorldSession, body_name: str, seconds: float, seed: int = 1) -> Touches:
    """Take hold of a body, wait until a frame comes that has the force, let go, and again at another moment."""
    return asyncio.run(_touches(session, session.scene.model.body(body_name), seconds, np.random.default_rng(seed)))


async def _touches(session: WorldSession, body: int, seconds: float, rng: np.random.Generator) -> Touches:
    engine, times = session.simulation, Touches()
    layout, until = engine.layout, time.monotonic() + seconds
    async with connected(session.url) as ws:
        stiffness_N_m = (await ws.receive_json())["hand"]["stiffness_N_m"]  # of the hello
        words = await next_frame(ws)
        while time.monotonic() < until:
            hands, frames = Follower(engine.hands), Follower(engine.frames)
            target = layout.read(words, "pose")[body][:3] + (0.0, 0.0, PULL_M)
            hand = json.dumps({"type": "hand", "body": body, "at_body": [0, 0, 0], "target": target.tolist(),
                               "stiffness": stiffness_N_m})  # fmt: skip
            sent_ns = time.monotonic_ns()
            await ws.send_str(hand)
            while not has_force(layout, words := await next_frame(ws)):
                await ws.send_str(hand)  # as a page does: a hand that is not heard of is let go
            times.and_back.append(1e-6 * (time.monotonic_ns() - sent_ns))
            taken = next(m for m in hands.read() if engine.hand_layout.read(m, "body") == body)
            used = next(m for m in frames.read() if has_force(layout, m))
            times.to_page.append(1e-6 * (engine.hand_layout.read(taken, "sent_ns") - sent_ns))
            times.to_force.append(1e-6 * (layout.read(used, "wall_ns") - sent_ns))
            await ws.send_str('{"type": "release"}')
            while layout.read(words, "hand_body")[0] != 0:
                words = await next_frame(ws)
            await asyncio.sleep(rng.uniform(0.0, 1.0 / SHOW_HZ))  # not in step with the frames
    return times


def has_force(layout: Layout, words: np.ndarray) -> bool:
    """Whether a frame has a force of the first hand."""
    return bool(layout.read(words, "hand_body")[0] != 0 and np.any(layout.read(words, "hand_force")[0]))


def spread(values_ms: Sequence[float]) -> dict[str, Any]:
    """Median, 99th percentile and largest of some times [ms], and how many they are; None where there are none."""
    found = np.percentile(values_ms, (50, 99, 100)).tolist() if len(values_ms) else (None, None, None)
    return {**dict(zip(("p50_ms", "p99_ms", "max_ms"), found, strict=True)), "samples": len(values_ms)}
