"""The WebSocket of one browser: newest frames out, hands, events and requests in.

Out: a frame goes only if it is new, at most SHOW_HZ times a second, and only when the one before has left; what a slow
browser misses is dropped, never queued.  In: one browser has the hands at a time, from its first "hand" until it lets
go of everything, its end, or SILENCE_S without a word; the others' hands are ignored, and they are told.  One of them
can ask for the hands ("take"): it has them as soon as they are free, or are given to it ("give"), and for GIVEN_S at
least.  Buttons are everybody's.  Requests go to the session, which answers; too many at once are refused.

Whatever a browser does, the others get their frames, and what is kept for it has a bound: long requests are read in a
thread, one after the other, and nothing here waits for a browser that does not read.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import WSMsgType, web

from palpate.frame import HANDS
from palpate.page import messages
from palpate.servo.ring import Ring

SHOW_HZ = 60.0
SILENCE_S = 1.0  # a frozen browser loses the hands; the servo itself lets go after 100 ms
SEND_BUFFER_BYTES = 16384  # of the kernel: small, or it would queue seconds of frames for a slow browser
GIVEN_S = 5.0  # for whoever was given the hands to take hold of something
LARGEST_BYTES = messages.LONGEST_REQUEST + 1024  # a message beyond this ends the connection
MOST_PAGES = 32  # open at once: each gets sixty frames a second
MOST_WAITING = 8  # requests of one browser that were not answered yet
MOST_LONG = 2  # long requests of all browsers that were not answered yet
MOST_UNREAD_BYTES = 2**20  # that wait for a browser: until it has read them it is told and may ask no more
MOST_IN_A_ROW = 100  # messages of one browser before the others have their turn
TOO_MUCH = "too much at once: wait for the answers to what you asked before"


class Browser:
    """One connected page and what it should be told."""

    def __init__(self, socket_: web.WebSocketResponse, transport: asyncio.Transport | None = None) -> None:
        self.socket, self.transport = socket_, transport
        self.dropped = 0  # messages that were not understood, and requests that were too much
        self.told: dict[str, Any] | None = None
        self.waiting: set[int] = set()  # its numbers of requests under way, but of marks:
        self.marking: set[int] = set()
        self.refused: dict[int, str] = {}  # its numbers of requests that were refused, of which it does not know yet

    @property
    def unread(self) -> int:
        """Bytes that wait for it here."""
        return self.transport.get_write_buffer_size() if self.transport is not None else 0


class Hub:
    """All connected pages, the three rings between them and the servo, and `ask`, which passes a line to the session.

    `ask` must not wait: frames would stop.  There are no rings until `show` brings them: the scene does not run yet.
    """

    def __init__(self, ask: Callable[[str], None] = lambda line: None) -> None:
        self.ask = ask
        self.hello, self.compiling = "", ""  # messages; empty: nothing is known, nothing is compiled
        self.understood: dict[str, Any] = {}  # events
        self.frames: Ring | None = None
        self.hands: Ring | None = None
        self.events: Ring | None = None
        self.meshes: Sequence[str] = ()  # files
        self.touchable: frozenset[int] = frozenset()
        self.holder: Browser | None = None
        self.asking: Browser | None = None  # who asked the holder for the hands
        self.held: set[int] = set()  # hands that the holder uses
        self.until = 0.0  # monotonic time to which the holder has them without another word
        self.browsers: set[Browser] = set()
        self.refused = 0  # pages that were one too many
        self._open = 0
        self._reading = asyncio.Lock()  # of long requests: one at a time
        self._long: set[int] = set()  # our numbers of long requests that were not answered yet
        self._requests: dict[int, tuple[Browser, int]] = {}  # our number -> whose, and their number
        self._count = 0

    def show(self, hello: dict[str, Any], rings: Sequence[Ring], meshes: Sequence[str] = ()) -> None:
        """The scene as it is known now, to all pages; rings (frames, hands, events): it runs."""
        said = {**hello, "type": "hello", "protocol": messages.PROTOCOL}  # ours, also of an old recording
        self.hello = json.dumps(said, allow_nan=False)
        self.meshes = meshes
        if rings:
            self.understood = hello.get("events", {})
            self.touchable = frozenset(i for i, body in enumerate(hello["bodies"]) if i > 0 and body.get("touchable"))
            self.frames, self.hands, self.events = rings
            self.compiling = ""

    def compiles(self, left: dict[str, Any]) -> None:
        """How far the compiler is, to all pages."""
        self.compiling = json.dumps({"type": "compiling", **left})

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """The handler of /ws: until the browser goes."""
        if self._open >= MOST_PAGES:
            self.refused += 1
            raise web.HTTPServiceUnavailable(text="Too many pages are open: close one.\n")
        self._open += 1
        try:
            return await self._serve(request)
        finally:
            self._open -= 1

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse(compress=False, max_msg_size=LARGEST_BYTES, heartbeat=5.0)
        await ws.prepare(request)
        _keep_little(request)
        browser = Browser(ws, request.transport)
        self.browsers.add(browser)
        sender = asyncio.create_task(self._send(browser))
        try:
            await self._listen(browser)
        finally:
            self.leave(browser)
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
        return ws

    async def _listen(self, browser: Browser) -> None:
        in_a_row = 0
        async for message in browser.socket:
            arrived_ns = time.monotonic_ns()
            if message.type is not WSMsgType.TEXT:
                browser.dropped += 1
            elif messages.is_long(message.data):
                async with self._reading:
                    understood = await asyncio.to_thread(messages.parse, message.data, self.touchable, self.understood)
                self._take(browser, message.data, understood, arrived_ns)
                del understood  # a robot's file: not to be kept until the next message
            else:
                self.take(browser, message.data, arrived_ns)
            del message
            in_a_row += 1
            if in_a_row % MOST_IN_A_ROW == 0:
                await asyncio.sleep(0)

    def leave(self, browser: Browser) -> None:
        """A browser is gone."""
        self.browsers.discard(browser)
        if self.asking is browser:
            self.asking = None
        self.let_go(browser)
        self._requests = {n: x for n, x in self._requests.items() if x[0] is not browser}

    def take(self, browser: Browser, text: str, arrived_ns: int) -> None:
        """One message of a browser, and when it came [ns]."""
        self._take(browser, text, messages.parse(text, self.touchable, self.understood), arrived_ns)

    def _take(self, browser: Browser, text: str, message: messages.Message | None, arrived_ns: int) -> None:
        if message is None:
            browser.dropped += 1
        elif message.kind == "event" and self.events is not None:
            self.events.write(message.words)
        elif message.kind == "request" and message.request is not None:
            self._pass_on(browser, message.request, message.refusal, text, arrived_ns)
        elif message.kind == "take":
            if self.has_hands() not in (None, browser) and self.asking is None:
                self.asking = browser
        elif message.kind == "release":
            self.let_go(browser, message.hand)
        elif message.kind == "give":
            if self.asking is not None:
                self.let_go(browser)
        elif message.hand is not None and self.hands is not None and self.has_hands() in (None, browser):
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
            if self.hands is not None:
                self.hands.write(messages.released(k))
        if not self.held:
            self.holder, self.asking, self.until = self.asking, None, time.monotonic() + GIVEN_S

    # ---- requests

    def _pass_on(self, browser: Browser, request: dict[str, Any], refusal: str, text: str, arrived_ns: int) -> None:
        """A request goes to the session, or is refused, or dropped: if its number is in use, or it asks on and on.

        Marks wait for no other request: they are counted by themselves, and say when they came.
        """
        number, is_mark = request["id"], request["what"] == "mark"
        under_way = browser.marking if is_mark else browser.waiting
        long, in_use = not is_mark and len(text) > messages.LONGEST, number in browser.waiting | browser.marking
        much = len(under_way) >= MOST_WAITING or browser.unread > MOST_UNREAD_BYTES
        if much or (long and len(self._long) >= MOST_LONG):
            refusal = TOO_MUCH
        if in_use or number in browser.refused or refusal:
            browser.dropped += 1
            if not in_use and len(browser.refused) < MOST_WAITING:
                browser.refused.setdefault(number, refusal)
            return
        under_way.add(number)
        self._count += 1
        self._requests[self._count] = (browser, number)
        if is_mark:
            self.ask(messages.mark_passed_on(request, arrived_ns=arrived_ns, id=self._count))
            return
        if long:
            self._long.add(self._count)
        self.ask(messages.passed_on(text, hands=self.has_hands() in (None, browser), id=self._count))

    async def answered(self, answer: dict[str, Any]) -> None:
        """The session's answer, to whom it is for."""
        self._long.discard(answer["id"])
        asked = self._requests.pop(answer["id"], None)
        if asked is not None:
            browser, number = asked
            try:
                await self._tell(browser, json.dumps({"type": "answer", **answer, "id": number}))
            finally:
                browser.waiting.discard(number)  # not before: who does not read asks for no more
                browser.marking.discard(number)

    async def _tell(self, browser: Browser, text: str) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):  # it went meanwhile
            await browser.socket.send_str(text)

    # ---- out

    def _status(self, browser: Browser) -> dict[str, Any]:
        """What this browser should know: messages it lost, who has the hands, and whether somebody asks for them."""
        holder = self.has_hands()
        mine = holder is browser
        return {
            "dropped": browser.dropped, "holder": mine, "taken": holder is not None and not mine,
            "asked": mine and self.asking is not None, "asking": self.asking is browser, "pages": len(self.browsers),
            "refused": self.refused,
        }  # fmt: skip

    async def _send(self, browser: Browser) -> None:
        """Hello, when there is a new one; how far the compiler is; status, refusals and frames until cancelled."""
        ws = browser.socket
        hello = compiling = ""
        shown, due = 0, time.monotonic()
        try:
            while browser.transport is not None and not ws.closed:
                if browser.unread == 0:
                    if hello != self.hello:
                        hello, shown = self.hello, 0
                        await ws.send_str(hello)
                    if compiling != self.compiling:
                        compiling = self.compiling
                        if compiling:
                            await ws.send_str(compiling)
                    status = self._status(browser)
                    if status != browser.told:
                        browser.told = status
                        await ws.send_str(json.dumps({"type": "status", **status}))
                    if browser.refused:  # one at a time: as many as frames at most
                        number = next(iter(browser.refused))
                        refusal = {"id": number, "ok": False, "error": browser.refused.pop(number)}
                        await ws.send_str(json.dumps({"type": "answer", **refusal}))
                    newest = self.frames.newest() if self.frames is not None and self.frames.head != shown else None
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
