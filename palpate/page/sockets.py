"""The WebSocket of one browser: newest frames out, hand and events in.

Out: a frame goes only if it is new, at most SHOW_HZ times a second, and only when the one before has left; what a slow
browser misses is dropped, never queued.  In: one browser holds the hand at a time.  It has the hand from its first
"hand" until "release", its end, or SILENCE_S without a word.  The others' hands are ignored, and they are told.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from typing import Any

from aiohttp import WSMsgType, web

from palpate.page import messages
from palpate.runtime.ring import Ring

SHOW_HZ = 60.0
SILENCE_S = 1.0  # a frozen browser loses the hand; the servo itself lets go after 100 ms
SEND_BUFFER_BYTES = 16384  # of the kernel: small, or it would queue seconds of frames for a slow browser
LARGEST_BYTES = 65536  # a message beyond this ends the connection; one beyond messages.LONGEST is dropped


class Browser:
    """One connected page and what it should be told."""

    def __init__(self, socket_: web.WebSocketResponse) -> None:
        self.socket = socket_
        self.dropped = 0  # messages that were not understood
        self.told: tuple[int, bool, bool] | None = None


class Hub:
    """All connected pages and the three rings between them and the servo."""

    def __init__(self, hello: dict[str, Any], frames: Ring, hands: Ring, events: Ring) -> None:
        self.hello = json.dumps({"type": "hello", **hello}, allow_nan=False)
        self.frames, self.hands, self.events = frames, hands, events
        self.touchable = frozenset(i for i, body in enumerate(hello["bodies"]) if i > 0 and body.get("touchable"))
        self.holder: Browser | None = None
        self.heard = 0.0  # monotonic time of the holder's last word
        self.browsers: set[Browser] = set()

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """The handler of /ws: until the browser goes."""
        ws = web.WebSocketResponse(compress=False, max_msg_size=LARGEST_BYTES, heartbeat=5.0)
        await ws.prepare(request)
        _keep_little(request)
        browser = Browser(ws)
        self.browsers.add(browser)
        sender = asyncio.create_task(self._send(browser, request))
        try:
            async for message in ws:
                if message.type is WSMsgType.TEXT:
                    self.take(browser, message.data)
                else:
                    browser.dropped += 1
        finally:
            self.browsers.discard(browser)
            self.let_go(browser)
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
        return ws

    def take(self, browser: Browser, text: str) -> None:
        """One message of a browser."""
        message = messages.parse(text, self.touchable)
        if message is None:
            browser.dropped += 1
        elif message.kind == "event":
            self.events.write(message.words)
        elif message.kind == "release":
            self.let_go(browser)
        elif self._may_hold(browser):
            self.holder, self.heard = browser, time.monotonic()
            self.hands.write(message.words)

    def let_go(self, browser: Browser) -> None:
        """The hand opens, if it is this browser's."""
        if self.holder is browser:
            self.holder = None
            self.hands.write(messages.release().words)

    def _may_hold(self, browser: Browser) -> bool:
        return self.holder in (None, browser) or time.monotonic() - self.heard > SILENCE_S

    def _status(self, browser: Browser) -> tuple[int, bool, bool]:
        """(dropped, this browser holds the hand, another one does)"""
        return browser.dropped, self.holder is browser, not self._may_hold(browser)

    async def _send(self, browser: Browser, request: web.Request) -> None:
        """Hello, then status and frames until cancelled."""
        transport, ws = request.transport, browser.socket
        shown, due = 0, time.monotonic()
        try:
            await ws.send_str(self.hello)
            while transport is not None and not ws.closed:
                if transport.get_write_buffer_size() == 0:
                    status = self._status(browser)
                    if status != browser.told:
                        browser.told = status
                        said = dict(zip(("dropped", "holder", "taken"), status, strict=True))
                        await ws.send_str(json.dumps({"type": "status", **said}))
                    newest = self.frames.newest() if self.frames.head != shown else None
                    if newest is not None:
                        shown = newest[0]
                        await ws.send_bytes(newest[1].astype("<i8", copy=False).tobytes())
                due = max(due + 1.0 / SHOW_HZ, time.monotonic())
                await asyncio.sleep(due - time.monotonic())
        except ConnectionError:  # the browser went while something was on its way; serve() sees the end as well
            pass


def _keep_little(request: web.Request) -> None:
    """Frames go at once, and the kernel keeps few of them for a browser that does not read."""
    connection = request.transport.get_extra_info("socket") if request.transport else None
    if connection is not None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
