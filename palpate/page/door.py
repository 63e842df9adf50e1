"""The door: who may stand in it, and for how long.

A connection is a stranger's until one of its requests was let in (guard.py).  Strangers have places of their own, few
of them, and SILENT_S each, from the first packet on: an unfinished handshake of TLS counts, and so does half a request.
Whoever comes when all are taken gets the place of the stranger that stood there longest, of the address with most of
them; so nobody is kept out by others who only stand there, and whoever has been let in keeps their place.
"""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
import time
from collections import Counter
from dataclasses import dataclass

from aiohttp import web

from palpate.page.guard import Handler

MOST_STRANGERS = 128  # a page has about seven for a moment, while it loads
MOST_CONNECTIONS = 384  # with those that were let in; files that a process may open are often 1024
AT_A_TIME = 8  # new connections before those that are there have their turn
QUEUE = 512  # connections that wait in the kernel
SILENT_S = 10.0  # from the connection to its first request that is let in
STUCK_S = 300.0  # from one request to the next; a mesh may take long on a slow line
FAREWELL_S = 2.0  # for the other side of TLS to say that it ends, too
LOOK_S = 1.0


@dataclass
class Visitor:
    """One connection: its socket is closed when it ends, whatever became of it before."""

    socket: socket.socket
    address: str
    due_s: float  # when it must have asked
    coming: asyncio.Task[None] | None = None
    transport: asyncio.BaseTransport | None = None  # none: it still shakes hands
    stranger: bool = True

    @property
    def here(self) -> bool:
        return self.socket.fileno() >= 0

    def show_out(self) -> None:
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.abort()
        elif self.coming is not None:
            self.coming.cancel()


class Door:
    """Lets connections in to a server, and shows those out that waste their place; `shown_out` counts them."""

    def __init__(self, certificate: ssl.SSLContext | None = None) -> None:
        self.certificate = certificate
        self.shown_out = 0
        self._visitors: dict[asyncio.BaseProtocol, Visitor] = {}  # in the order they came

    async def let_in(self, server: web.Server, listening: socket.socket) -> None:
        """Take connections from a socket that listens, until cancelled."""
        loop, came = asyncio.get_running_loop(), 0
        while True:
            try:
                connection, address = await loop.sock_accept(listening)
            except OSError:  # it went before it was taken; or there are no more files: then some will end soon
                await asyncio.sleep(LOOK_S / 10)
                continue
            self.come(server, connection, str(address[0]))
            came += 1
            if came % AT_A_TIME == 0:
                await asyncio.sleep(0)

    def come(self, server: web.Server, connection: socket.socket, address: str) -> None:
        """One more connection."""
        self._make_room()
        protocol = server()
        visitor = self._visitors[protocol] = Visitor(connection, address, time.monotonic() + SILENT_S)
        visitor.coming = asyncio.create_task(self._shake_hands(protocol, visitor))
        visitor.coming.add_done_callback(lambda coming: connection.close() if coming.cancelled() else None)

    async def _shake_hands(self, protocol: asyncio.Protocol, visitor: Visitor) -> None:
        times = {"ssl_handshake_timeout": SILENT_S, "ssl_shutdown_timeout": FAREWELL_S} if self.certificate else {}
        try:
            visitor.transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol, visitor.socket, ssl=self.certificate, **times
            )
        except (OSError, EOFError):  # it speaks no TLS, or went
            visitor.socket.close()

    def _make_room(self) -> None:
        """Those who went leave their places; while it is full, one more is shown out."""
        self._visitors = {protocol: visitor for protocol, visitor in self._visitors.items() if visitor.here}
        strangers = {p: v for p, v in self._visitors.items() if v.stranger}
        if len(strangers) >= MOST_STRANGERS:
            most = Counter(v.address for v in strangers.values()).most_common(1)[0][0]
            self._show_out(next(p for p, v in strangers.items() if v.address == most))
        elif len(self._visitors) >= MOST_CONNECTIONS:
            self._show_out(min(self._visitors, key=lambda p: self._visitors[p].due_s))

    def _show_out(self, protocol: asyncio.BaseProtocol) -> None:
        self.shown_out += 1
        self._visitors.pop(protocol).show_out()

    def look(self, now_s: float) -> None:
        """Show out whoever is over time."""
        self._visitors = {protocol: visitor for protocol, visitor in self._visitors.items() if visitor.here}
        for protocol in [protocol for protocol, visitor in self._visitors.items() if now_s > visitor.due_s]:
            self._show_out(protocol)

    @web.middleware
    async def known(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A request was let in; a page's socket stays as long as it likes, for it has to answer to pings."""
        visitor = self._visitors.get(request.protocol)
        if visitor is None:  # it was shown out meanwhile
            raise web.HTTPServiceUnavailable
        visitor.stranger = False
        visitor.due_s = math.inf if request.path == "/ws" else time.monotonic() + STUCK_S
        try:
            return await handler(request)
        finally:
            visitor.due_s = time.monotonic() + STUCK_S
