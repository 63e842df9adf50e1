"""The door: so many connections at once, and none that stays without saying what it wants.

A browser asks within milliseconds; somebody who opens connections and says nothing, or one letter a minute, would
otherwise hold them for ever, until there is no room for others.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from aiohttp import web

from palpate.page.guard import Handler

MOST_CONNECTIONS = 256  # a page needs about seven while it loads, then one
AT_A_TIME = 100  # connections that are let in together: by so many there may be more than that
SILENT_S = 10.0  # from the connection to the end of its first request
STUCK_S = 300.0  # from one request to the next; a mesh may take long on a slow line
LOOK_S = 1.0


class Door:
    """Lets connections in to a server, and shows those out that waste their place; `shown_out` counts them."""

    def __init__(self) -> None:
        self.shown_out = 0
        self._due: dict[asyncio.BaseProtocol, float] = {}  # of each connection: when it must have asked

    def to(self, server: web.Server) -> Callable[[], asyncio.Protocol]:
        """What makes the protocols of new connections to a server."""

        def come_in() -> asyncio.Protocol:
            if len(server.connections) < MOST_CONNECTIONS:
                return server()
            self.shown_out += 1
            return _Full()

        return come_in

    async def watch(self, server: web.Server) -> None:
        """Look after the connections of a server, until cancelled."""
        while True:
            self.look(server, time.monotonic())
            await asyncio.sleep(LOOK_S)

    def look(self, server: web.Server, now_s: float) -> None:
        """Show out whoever is over time."""
        self._due = {protocol: self._due.get(protocol, now_s + SILENT_S) for protocol in server.connections}
        for protocol in server.connections:
            if now_s > self._due[protocol] and protocol.transport is not None:
                self.shown_out += 1
                protocol.transport.abort()

    @web.middleware
    async def asked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A connection has asked; a page's socket stays as long as it likes, for it has to answer to pings."""
        self._due[request.protocol] = math.inf if request.path == "/ws" else time.monotonic() + STUCK_S
        try:
            return await handler(request)
        finally:
            self._due[request.protocol] = time.monotonic() + STUCK_S


class _Full(asyncio.Protocol):
    """A connection for which there is no room."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()
