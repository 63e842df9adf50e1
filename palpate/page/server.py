"""The process of the page: `python -m palpate.page.server`, started by the session that owns the servo.

The first line of stdin is one JSON object:
    {"frame_fd": int, "hand_fd": int, "event_fd": int, "host": "127.0.0.1", "port": 8642, "hello": {...}}
the file descriptors being rings (servo/ring.py): frames to read, hands and events to write.  Port 0 picks a free one.
Whoever has the "token" may come in, and on this machine programs of the same user; a host that others can reach needs
one.  "cert" and "key" are the files of a certificate, for https; "meshes" files that runtime/world/meshes.py wrote.
A page that is there before its session has "rings_fd" in their place, and no hello: a socket over which they come with
a later line {"hello": {...}, "meshes": [...], "rings": true}.  Before it lines may say how the scene will begin,
{"hello": {...}, "meshes": [...]}, and how far the compiler is, {"compiling": {...}}, again and again.
When it listens it prints {"url": "http://127.0.0.1:8642/"}; if it cannot, {"error": "..."} and ends with 2.
What a browser requests is printed as {"request": {"id": ..., ...}}; every further line of stdin is an answer,
{"id": ..., ...}.  When stdin ends, the parent is gone, and so are we.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import os
import queue
import socket
import ssl
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

from aiohttp import web

from palpate.frame import EVENT, HAND, Layout
from palpate.link.keys import is_loopback
from palpate.page.complaints import Complaints
from palpate.page.door import LOOK_S, QUEUE, Door
from palpate.page.guard import HERE, TOKEN, add_headers, guard
from palpate.page.sockets import Hub
from palpate.runtime.ending import leave_to_parent
from palpate.runtime.page.addresses import reachable
from palpate.runtime.page.users import users_are_told
from palpate.servo.ring import Ring

STATIC = Path(__file__).parent / "static"
MOST_HEADERS = 64  # of a request, 8 KB each: browsers send about twenty
KEPT_S = 75.0  # that a connection is kept for the next request
FAREWELL_S = 0.5  # for the last answers, when the parent has gone


class StartError(Exception):
    """Why the page cannot start, in one line for a person."""


def main() -> None:
    """Run until the parent goes."""
    leave_to_parent()
    try:
        asyncio.run(_serve(_settings(sys.stdin.buffer.readline())))
    except StartError as problem:
        print(json.dumps({"error": str(problem)}), flush=True)
        sys.exit(2)


def application(hub: Hub, door: Door, token: str = "", here: bool = True) -> web.Application:
    """Index, its files, the meshes of the scene, and the socket."""
    index = STATIC / "index.html"
    if not index.is_file():
        raise StartError("the page is not built: run `make page` (or install a palpate wheel, which brings it)")

    async def show(_: web.Request) -> web.FileResponse:
        return web.FileResponse(index)

    async def mesh(request: web.Request) -> web.FileResponse:
        number = int(request.match_info["number"])
        if number >= len(hub.meshes):
            raise web.HTTPNotFound(text="There is no such mesh.\n")
        return web.FileResponse(hub.meshes[number], headers={"Content-Type": "application/octet-stream"})

    app = web.Application(middlewares=[guard, door.known])
    app[TOKEN], app[HERE] = token, here
    app.on_response_prepare.append(add_headers)
    app.router.add_get("/ws", hub.serve)
    app.router.add_get("/", show)
    app.router.add_get("/mesh/{number:[0-9]{1,6}}", mesh)
    app.router.add_static("/", STATIC)
    return app


def _settings(line: bytes) -> dict[str, Any]:
    try:
        settings = json.loads(line)
        host, port, early = settings["host"], settings["port"], "rings_fd" in settings
        fds = [settings[name] for name in (("rings_fd",) if early else ("frame_fd", "hand_fd", "event_fd"))]
        valid = all(isinstance(number, int) for number in (port, *fds)) and (early or _is_hello(settings["hello"]))
    except (ValueError, KeyError, TypeError) as problem:
        raise StartError(f"the first line of stdin is not the settings of a page: {problem!r}") from None
    if not valid:
        raise StartError("the first line of stdin is not the settings of a page")
    if not settings.get("token") and not (is_loopback(str(host)) and users_are_told()):
        raise StartError(f"{host!r} can be reached by others: a page there needs a token")
    return dict(settings)


def _is_hello(hello: object) -> bool:
    return isinstance(hello, dict) and {"frame", "bodies"} <= set(hello)


def _hub(settings: dict[str, Any]) -> Hub:
    hub = Hub(Asking().put)
    if "rings_fd" not in settings:
        _show(hub, settings, [settings[name] for name in ("frame_fd", "hand_fd", "event_fd")])
    return hub


def _show(hub: Hub, scene: dict[str, Any], fds: Sequence[int]) -> None:
    """What is known of the scene from now on; fds: of its rings, none if it does not run yet."""
    try:
        hello = scene["hello"]
        layouts = {"frame": Layout.described(hello["frame"]), "hand": Layout(HAND), "event": Layout(EVENT)}
        rings = [_ring(fd, name, layout) for fd, (name, layout) in zip(fds, layouts.items(), strict=False)]
        hub.show(hello, rings, scene.get("meshes", []))
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise StartError(f"the hello of this scene is not right: {problem!r}") from None


class Asking(queue.SimpleQueue[str]):
    """Lines for the parent, printed by a thread of its own: a long one takes a while, and the parent may be busy."""

    def __init__(self) -> None:
        threading.Thread(target=self._print, name="asking", daemon=True).start()

    def _print(self) -> None:
        while True:
            with contextlib.suppress(BrokenPipeError):  # the parent is gone, and so are we in a moment
                sys.stdout.buffer.write(self.get().encode())  # not kept here: it may be long
                sys.stdout.buffer.write(b"\n")
                sys.stdout.buffer.flush()


def _certificate(settings: dict[str, Any]) -> ssl.SSLContext | None:
    if not settings.get("cert"):
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(settings["cert"], settings.get("key"))
    except (OSError, ssl.SSLError) as problem:
        raise StartError(f"the certificate {settings['cert']} cannot be used: {problem}") from None
    return context


def _ring(fd: int, name: str, layout: Layout) -> Ring:
    try:
        ring = Ring(fd)
    except (OSError, ValueError) as problem:
        raise StartError(f"the ring of {name}s cannot be opened: {problem}") from None
    if ring.words != layout.words:
        raise StartError(f"the ring of {name}s has messages of another size than the hello says")
    return ring


async def _serve(settings: dict[str, Any]) -> None:
    hub = _hub(settings)
    token, certificate = str(settings.get("token") or ""), _certificate(settings)
    door, complaints = Door(certificate), Complaints()
    logging.getLogger().addHandler(complaints)
    host, loop = settings["host"], asyncio.get_running_loop()
    app = application(hub, door, token, is_loopback(str(host)))
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=KEPT_S, lingering_time=0.0, max_headers=MOST_HEADERS)
    await runner.setup()
    assert runner.server is not None
    listening = await _listen(host, settings["port"])
    tasks = [loop.create_task(door.let_in(runner.server, each)) for each in listening]
    threading.Thread(target=_hear_parent, args=(hub, loop, settings.get("rings_fd")), daemon=True).start()
    name = reachable(host)
    name = f"[{name}]" if ":" in name else name
    scheme, query = "https" if certificate else "http", f"?token={token}" if token else ""
    port = listening[0].getsockname()[1]
    print(json.dumps({"url": f"{scheme}://{name}:{port}/{query}"}), flush=True)
    while not any(task.done() for task in tasks):
        door.look(loop.time())
        complaints.look(loop.time())
        await asyncio.sleep(LOOK_S)
    await asyncio.gather(*tasks)


async def _listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen on all addresses of a name, two perhaps for localhost."""
    listening: list[socket.socket] = []
    try:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(found):
            here = (address[0], port, *address[2:])
            listening.append(socket.create_server(here, family=family, backlog=QUEUE))
            listening[-1].setblocking(False)
    except (OSError, OverflowError) as problem:
        if isinstance(problem, OSError) and problem.errno == errno.EADDRINUSE:
            raise StartError(f"port {port} is taken: is palpate running already? --port 0 picks a free one") from None
        raise StartError(f"cannot listen on {host} port {port}: {problem}") from None
    return listening


def _hear_parent(hub: Hub, loop: asyncio.AbstractEventLoop, rings_fd: int | None) -> None:
    """Pass answers on, and end when the parent does: not before those who asked have been answered."""
    passing: set[Future[None]] = set()
    rings = None if rings_fd is None else socket.socket(fileno=rings_fd)
    for line in sys.stdin.buffer:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if "hello" in answer:
            fds = socket.recv_fds(rings, 1, 3)[1] if rings is not None and "rings" in answer else []
            loop.call_soon_threadsafe(_show, hub, answer, fds)
        elif "compiling" in answer:
            loop.call_soon_threadsafe(hub.compiles, answer["compiling"])
        elif "id" in answer:
            passing = {each for each in passing if not each.done()}
            passing.add(asyncio.run_coroutine_threadsafe(hub.answered(answer), loop))
    wait(passing, FAREWELL_S)
    os._exit(0)  # nothing here needs an orderly end: the rings belong to the parent


if __name__ == "__main__":
    main()
