"""The peer of `palpate bench page`: a bare WebSocket server of the same library that answers with as many bytes.

    python -m palpate.bench.peers.page

stdin   one line of JSON: {"bytes": of an answer}; when stdin ends, so does this process
stdout  {"port": ...}

Each answer begins with the monotonic clock when it was sent [ns], as a frame has when its tick began.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time

import aiohttp
import numpy as np
from aiohttp import web

from palpate.bench.page_clients import connected, next_frame
from palpate.page.sockets import SHOW_HZ
from palpate.runtime.children import Child

HAND_CHARACTERS = 200  # that a hand takes


def bare_echo(seconds: float, n_bytes: int) -> tuple[list[float], list[float]]:
    """Ask at the rate of a page: (there and back, back alone), times [ms] of every answer."""
    child = Child("palpate.bench.peers.page", {"bytes": n_bytes}, ())
    try:
        url = f"http://127.0.0.1:{child.answer('port', 30.0)}/"
        return asyncio.run(_ask(url, seconds))
    finally:
        child.end()


async def _ask(url: str, seconds: float) -> tuple[list[float], list[float]]:
    trips_ms, back_ms = [], []
    async with connected(url) as ws:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            asked_ns = time.monotonic_ns()
            await ws.send_str("x" * HAND_CHARACTERS)
            answer = await next_frame(ws)
            came_ns = time.monotonic_ns()
            trips_ms.append(1e-6 * (came_ns - asked_ns))
            back_ms.append(1e-6 * (came_ns - int(answer[0])))
            await asyncio.sleep(1.0 / SHOW_HZ)
    return trips_ms, back_ms


async def serve(n_bytes: int) -> None:
    """The other process."""
    words = np.zeros(max(1, n_bytes // 8), dtype="<i8")

    async def echo(request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse(compress=False)
        await ws.prepare(request)
        async for message in ws:
            if message.type is aiohttp.WSMsgType.TEXT:
                words[0] = time.monotonic_ns()
                await ws.send_bytes(words.tobytes())
        return ws

    app = web.Application()
    app.router.add_get("/ws", echo)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
    await asyncio.Event().wait()


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    orders = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    asyncio.run(serve(orders["bytes"]))


if __name__ == "__main__":
    main()
