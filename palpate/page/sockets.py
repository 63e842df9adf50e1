"""The WebSocket of one browser: newest frames out, hands, events and requests in.

Out: a frame goes only if it is new, at most SHOW_HZ times a second, and only when the one before has left; what a slow
browser misses is dropped, never queued.  In: one browser has the hands at a time, from its first "hand" until it lets
go of everything, its end, or SILENCE_S without a word; the others' hands are ignored, and they are told.  One of them
can ask for the hands ("take"): it has them as soon as they are free, or are given to it ("give"), and for GIVEN_S at
least.  Buttons are everybody's.  Requests go to the session, which answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Callable
from typing import Any

from aiohttp import WSMsgType, web

from palpate.frame import HANDS
from palpate.page import messages
from palpate.runtime.ring import Ring

SHOW_HZ = 60.0
SILENCE_S = 1.0  # a frozen browser loses the hands; the servo itself lets go after 100 ms
SEND_BUFFER_BYTES = 16384  # of the kernel: small, or it would queue seconds of frames for a slow browser
GIVEN_S = 5.0  # for whoever was given the hands to take hold of something
LARGEST_BYTES = messages.LONGEST_REQUEST + 1024  # a message beyond this ends the connection
MOST_WAITING = 8  # requests of one browser that were not answered yet


class Browser:
    """One connected page and what it should be told."""

    def __init__(self, socket_: web.WebSocketResponse) -> None:
        self.socket = socket_
        self.dropped = 0  # messages that were not understood
        self.told: dict[str, Any] | None = None
        self.waiting: set[int] = set()  # its numbers of requests under way


class Hub:
    """All connected pages, the three rings between them and the servo, and `ask`, which passes a request on."""

    def __init__(
        self,
        hello: dict[str, Any],
        frames: Ring,
        hands: Ring,
        events: Ring,
        ask: Callable[[dict[str, Any]], None] = lambda request: None,
    ) -> None:
        self.hello = json.dumps({"type": "hello", **hello}, allow_nan=False)
        self.frames, self.hands, self.events, self.ask = frames, hands, events, ask
        self.touchable = frozenset(i for i, body in enumerate(hello["bodies"]) if i > 0 and body.get("touchable"))
        self.holder: Browser | None = None
        self.asking: Browser | None = None  # who asked the holder for the hands
        self.held: set[int] = set()  # hands that the holder uses
        self.until = 0.0  # monotonic time to which the holder has them without another word
        self.browsers: set[Browser] = set()
        self._requests: dict[int, tuple[Browser, int]] = {}  # our number -> whose, and their number
        self._count = 0

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
            self.leave(browser)
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
        return ws

    def leave(self, browser: Browser) -> None:
        """A browser is gone."""
        self.browsers.discard(browser)
        if self.asking is browser:
            self.asking = None
        self.let_go(browser)
        self._requests = {n: x for n, x in self._requests.items() if x[0] is not browser}

    def take(self, browser: Browser, text: str) -> None:
        """One message of a browser."""
        message = messages.parse(text, self.touchable)
        if message is None:
            browser.dropped += 1
        elif message.kind == "event":
            self.events.write(message.words)
        elif message.kind == "request" and message.request is not None:
            self._pass_on(browser, message.request)
        elif message.kind == "take":
            if self.has_hands() not in (None, browser) and self.asking is None:
                self.asking = browser
        elif message.kind == "release":
            self.let_go(browser, message.hand)
        elif message.kind == "give":
            if self.asking is not None:
                self.let_go(browser)
        elif message.hand is not None and self.has_hands() in (None, browser):
            self.holder, self.until = browser, time.monotonic() + SILENCE_S
            self.held.add(message.hand)
            self.hands.write(message.words)

    def has_hands(self) -> Browser | None:
        """Who has the hands now; one who fell silent has lost them."""
        if self.holder is not None and time.monotonic() > self.until:
            self.let_go(self.holder)
        return self.holder

    def let_go(self, browser: Browser, hand: int | None = None) -> None:
        """A hand opens, or all do, if they are this browser's; without any, they go to whoever asked."""
        if self.holder is not browser:
            return
        for k in range(HANDS) if hand is None else (hand,):
            self.held.discard(k)
            self.hands.write(messages.released(k))
        if not self.held:
            self.holder, self.asking, self.until = self.asking, None, time.monotonic() + GIVEN_S

    # ---- requests

    def _pass_on(self, browser: Browser, request: dict[str, Any]) -> None:
        if len(browser.waiting) >= MOST_WAITING or request["id"] in browser.waiting:
            browser.dropped += 1
            return
        browser.waiting.add(request["id"])
        self._count += 1
        self._requests[self._count] = (browser, request["id"])
        self.ask(request | {"id": self._count})

    async def answered(self, answer: dict[str, Any]) -> None:
        """The session's answer, to whom it is for; without a number, to all."""
        if "id" not in answer:
            await asyncio.gather(*(self._tell(browser, {"type": "told", **answer}) for browser in self.browsers))
            return
        asked = self._requests.pop(answer["id"], None)
        if asked is not None:
            browser, number = asked
            browser.waiting.discard(number)
            await self._tell(browser, {"type": "answer", **answer, "id": number})

    async def _tell(self, browser: Browser, message: dict[str, Any]) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):  # it went meanwhile
            await browser.socket.send_str(json.dumps(message))

    # ---- out

    def _status(self, browser: Browser) -> dict[str, Any]:
        """What this browser should know: messages it lost, who has the hands, and whether somebody asks for them."""
        holder = self.has_hands()
        mine = holder is browser
        return {
            "dropped": browser.dropped, "holder": mine, "taken": holder is not None and not mine,
            "asked": mine and self.asking is not None, "asking": self.asking is browser, "pages": len(self.browsers),
        }  # fmt: skip

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
                        await ws.send_str(json.dumps({"type": "status", **status}))
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
