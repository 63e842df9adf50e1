"""A browser without a page: it connects, says things and hears answers."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp import WSMsgType
from fake_servo import EVENT, HAND, Page
from waiting import WAIT_S

from palpate.servo.ring import Ring

HOLD = {"type": "hand", "body": 2, "at_body": [0.1, 0, 0], "target": [0.5, 0, 1], "stiffness": 800}
RELEASE = {"type": "release"}


class Client:
    """One connection to a page's process."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse, hello: dict[str, Any]) -> None:
        self.ws, self.hello = ws, hello

    async def say(self, message: Any) -> None:
        await self.ws.send_str(message if isinstance(message, str) else json.dumps(message))

    async def request(self, number: int, what: str, **more: Any) -> None:
        await self.say({"type": "request", "id": number, "what": what, **more})

    async def hear(self, wanted: WSMsgType, timeout: float = WAIT_S) -> Any:
        """The next frame (bytes), or anything said."""
        async with asyncio.timeout(timeout):
            while True:
                message = await self.ws.receive()
                assert message.type in (WSMsgType.TEXT, WSMsgType.BINARY), message
                if message.type is wanted:
                    return json.loads(message.data) if wanted is WSMsgType.TEXT else message.data

    async def hear_of(self, kind: str, timeout: float = WAIT_S, **wanted: Any) -> dict[str, Any]:
        """The next message of a type that says what is wanted."""
        async with asyncio.timeout(timeout):
            while True:
                said: dict[str, Any] = await self.hear(WSMsgType.TEXT, timeout)
                if said["type"] == kind and all(said[key] == value for key, value in wanted.items()):
                    return said

    async def status(self, **wanted: Any) -> dict[str, Any]:
        """The next status that says what is wanted."""
        return await self.hear_of("status", **wanted)

    async def answer(self, timeout: float = WAIT_S, **wanted: Any) -> dict[str, Any]:
        """The next answer to a request."""
        return await self.hear_of("answer", timeout, **wanted)


@asynccontextmanager
async def connected(url: str, trust: ssl.SSLContext | None = None, **headers: str) -> AsyncIterator[Client]:
    """A client of the page at an address; a token in it is kept."""
    where = urlsplit(url)._replace(path="/ws").geturl()
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(where, headers=headers, ssl=trust or True) as ws,
    ):
        yield await greeted(ws)


async def greeted(ws: aiohttp.ClientWebSocketResponse) -> Client:
    """A client that has heard its hello, of a scene that runs: kernels may have to be compiled first."""
    while (said := await ws.receive_json())["type"] != "hello" or said["mode"] == "compiling":
        pass
    return Client(ws, said)


def client(page: Page, **headers: str) -> Any:
    """A client of the page's process."""
    return connected(page.url, **headers)


def newest(ring: Ring) -> dict[str, Any]:
    found = ring.newest()
    assert found is not None
    return (HAND if ring.words == HAND.words else EVENT).unpack(found[1])
