"""Whoever comes to the page's process, and however they behave: it goes on, the others get their frames, in bounds."""

import asyncio
import base64
import contextlib
import math
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import numpy as np
import pytest
from aiohttp import WSMsgType
from clients import HOLD, Client, client, connected
from fake_servo import Page, Rings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from waiting import WAIT_S
from waiting import until_async as until

from palpate.page import door as door_module
from palpate.page.door import MOST_CONNECTIONS, MOST_STRANGERS, SILENT_S, STUCK_S, Door, Visitor
from palpate.page.sockets import MOST_PAGES

UPGRADE = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def stranger(page: Page, said: bytes = b"") -> socket.socket:
    """A connection that says this and no more."""
    connection = socket.create_connection(("127.0.0.1", page.port))
    connection.sendall(said)
    return connection


def upgraded(page: Page) -> socket.socket:
    """A page's socket, by hand."""
    connection = stranger(page, UPGRADE.format(port=page.port).encode())
    assert b" 101 " in connection.recv(4096)
    return connection


def memory_bytes(page: Page) -> int:
    return 4096 * int(Path(f"/proc/{page.process.pid}/statm").read_text().split()[1])


async def sees_frames(rings: Rings, browser: Client, n: int = 5) -> None:
    """A browser that is told every new frame."""
    for _ in range(n):
        tick = rings.frames.head + 1
        rings.frames.write(rings.layout.pack(tick=tick))
        while int.from_bytes((await browser.hear(WSMsgType.BINARY))[:8], "little") != tick:
            pass


@pytest.fixture
def quiet(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """A line was said at most, and no traceback; to be asked for before the page, which inherits it."""
    yield
    said = capfd.readouterr().err.splitlines()
    assert said == [] or (len(said) == 1 and said[0].startswith("palpate: the page: ")), said


FUZZ = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LINES = st.sampled_from([
    b"GET / HTTP/1.1\r\n", b"GET /ws HTTP/1.1\r\n", b"POST / HTTP/1.1\r\n", b"Host: 127.0.0.1\r\n", b"Host: \xff\r\n",
    b"Content-Length: 99999999999\r\n", b"Content-Length: -1\r\n", b"Transfer-Encoding: chunked\r\n", b"\r\n",
    b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"Cookie: a=" + b"b" * 9000 + b"\r\n", b"Range: bytes=5-1\r\n",
    b"GET /mesh/%ff HTTP/1.1\r\n", b"GET /" + b"a/" * 5000 + b" HTTP/1.1\r\n", b"\x16\x03\x01\x02\x00",
    b"PRI * HTTP/2.0\r\n",
])  # fmt: skip


@FUZZ
@given(st.lists(LINES | st.binary(max_size=60), max_size=8))
def test_any_bytes_are_answered_or_end_that_connection(
    quiet: None, rings: Rings, page: Page, said: list[bytes]
) -> None:
    async def look() -> None:
        async with client(page) as other:
            with stranger(page, b"".join(said)) as connection:
                connection.shutdown(socket.SHUT_WR)  # half closed: it still listens
                await sees_frames(rings, other, 2)

    asyncio.run(look())


def websocket_frames() -> st.SearchStrategy[bytes]:
    """Frames with any first byte (opcode, reserved bits), any stated length, masked or not, and any content."""

    def make(first: int, stated: int, masked: bool, content: bytes) -> bytes:
        mask = b"\0\0\0\0" if masked else b""
        return bytes([first, 0x80 * masked | 127]) + stated.to_bytes(8) + mask + content

    honest = st.binary(max_size=60).map(lambda x: make(0x81, len(x), True, x))
    wild = st.builds(make, st.integers(0, 255), st.integers(0, 2**64 - 1) | st.integers(0, 80), st.booleans(),
                     st.binary(max_size=60))  # fmt: skip
    return honest | wild | st.binary(max_size=30)


@FUZZ
@given(st.lists(websocket_frames(), max_size=8), st.booleans())
def test_any_frames_of_a_socket_end_at_most_that_socket(
    quiet: None, rings: Rings, page: Page, said: list[bytes], half_closed: bool
) -> None:
    async def look() -> None:
        async with client(page) as other:
            with upgraded(page) as connection:
                connection.sendall(b"".join(said))
                if half_closed:
                    connection.shutdown(socket.SHUT_WR)
                await sees_frames(rings, other, 2)
            await until(lambda: rings.events.head == 0)

    asyncio.run(look())


def test_a_socket_that_never_reads_keeps_nobody_waiting_and_its_place_is_free_again(rings: Rings, page: Page) -> None:
    async def look() -> None:
        with upgraded(page):
            async with client(page) as other:
                await other.status(pages=2)
                await sees_frames(rings, other, 60)
                await other.hear_of("status", pages=1)  # it answered no ping

    asyncio.run(look())


def test_a_socket_that_floods_is_counted_and_the_others_go_on(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as other, client(page) as flooding:

            async def flood() -> None:
                for _ in range(20_000):
                    await flooding.say("{}")

            task = asyncio.create_task(flood())
            await sees_frames(rings, other, 20)
            await other.say(HOLD)
            await until(lambda: rings.hands.head > 0)
            await task
            await flooding.hear_of("status", dropped=20_000)

    asyncio.run(look())


# ---- many


def was_ended(reader: asyncio.StreamReader) -> bool:
    return reader.at_eof() or reader.exception() is not None


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_two_hundred_pages_are_too_many_and_those_that_are_open_go_on(quiet: None, rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with (
            client(page) as first,
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=True)) as session,
        ):

            async def come() -> Any:
                try:
                    return await session.ws_connect(f"{page.url}ws", max_msg_size=0)
                except aiohttp.WSServerHandshakeError as refusal:
                    return refusal.status

            before = memory_bytes(page)
            # it listens meanwhile: who does not read for a while is sent away, and so many take a while to come
            told = asyncio.create_task(first.hear_of("status", pages=MOST_PAGES, refused=201 - MOST_PAGES))
            came = await asyncio.gather(*(come() for _ in range(200)))
            inside = [ws for ws in came if not isinstance(ws, int)]
            assert len(inside) == MOST_PAGES - 1
            assert {ws for ws in came if isinstance(ws, int)} == {503}
            await told
            await sees_frames(rings, first, 10)
            assert memory_bytes(page) - before < 100 * 2**20
            for ws in inside:
                await ws.close()
            await first.hear_of("status", pages=1)
            async with client(page) as next_one:  # there is room again
                await sees_frames(rings, next_one)

    asyncio.run(look())


def test_connections_beyond_the_most_are_turned_away_and_the_page_goes_on(
    quiet: None, rings: Rings, page: Page
) -> None:
    async def look() -> None:
        async with client(page) as other:
            n = 2 * MOST_CONNECTIONS
            idle = await asyncio.gather(*(asyncio.open_connection("127.0.0.1", page.port) for _ in range(n)))
            async with asyncio.timeout(WAIT_S):
                while sum(was_ended(reader) for reader, _ in idle) < n - MOST_CONNECTIONS:
                    await sees_frames(rings, other, 1)
            for _, writer in idle:
                writer.close()
            await sees_frames(rings, other, 10)
        async with connected(page.url) as later:  # whoever went made room
            await sees_frames(rings, later)

    asyncio.run(look())


# ---- slow


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A door whose clock stands at 0, and what brings one more visitor to it from an address."""
    monkeypatch.setattr(door_module.time, "monotonic", lambda: 0.0)
    with contextlib.ExitStack() as stack:
        door = Door()

        def come(address: str) -> Visitor:
            connection = stack.enter_context(socket.socket())
            visitor = Visitor(connection, address, SILENT_S, transport=SimpleNamespace())  # type: ignore[arg-type]
            visitor.show_out = connection.close  # type: ignore[method-assign]
            door._make_room()
            door._visitors[object()] = visitor  # type: ignore[index]
            return visitor

        yield SimpleNamespace(door=door, come=come)


def let_in(door: Door, path: str, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Whoever came last asks for something, and may have it."""

    async def handler(_: Any) -> Any:
        meanwhile()

    protocol = list(door._visitors)[-1]
    asyncio.run(door.known(SimpleNamespace(protocol=protocol, path=path), handler))  # type: ignore[arg-type]


@pytest.mark.parametrize(("path", "allowed_s"), [(None, SILENT_S), ("/", STUCK_S), ("/ws", 1e9)])
def test_a_connection_is_shown_out_when_it_has_asked_for_nothing_in_its_time(
    visit: Any, path: str | None, allowed_s: float
) -> None:
    door, one = visit.door, visit.come("a")

    def almost() -> None:
        door.look(allowed_s - 0.1)
        assert one.here

    if path is None:
        almost()
    else:
        let_in(door, path, almost)  # a socket: for as long as it is open
    door.look((allowed_s if path is None else STUCK_S) + 0.1)
    assert not one.here
    assert door.shown_out == 1
    assert door._visitors == {}


def test_the_oldest_of_the_address_with_most_strangers_makes_room(visit: Any) -> None:
    alone = visit.come("a")
    let_in(visit.door, "/")
    waiting = visit.come("b")
    many = [visit.come("c") for _ in range(MOST_STRANGERS + 50)]
    assert alone.here  # it was let in
    assert waiting.here  # others are more
    assert [one.here for one in many] == [False] * 51 + [True] * (MOST_STRANGERS - 1)
    assert visit.door.shown_out == 51


def test_whoever_went_leaves_their_place(visit: Any) -> None:
    for _ in range(3 * MOST_CONNECTIONS):
        visit.come("a").socket.close()
    assert visit.door.shown_out == 0


def test_those_who_were_let_in_have_the_most_places_but_not_all(visit: Any) -> None:
    page = visit.come("a")
    let_in(visit.door, "/ws")
    page.due_s = math.inf  # its socket is open
    for _ in range(2 * MOST_CONNECTIONS):
        visit.come("a")
        let_in(visit.door, "/")
    assert page.here
    assert sum(visitor.here for visitor in visit.door._visitors.values()) == MOST_CONNECTIONS


def test_a_request_that_comes_a_letter_at_a_time_does_not_keep_its_place(quiet: None, rings: Rings, page: Page) -> None:
    """A slow loris: the connection ends by itself, although something is said all the time."""

    async def look() -> None:
        async with client(page) as other:
            with stranger(page, b"GET / HTTP/1.1\r\nX: ") as slow:
                slow.setblocking(False)
                async with asyncio.timeout(WAIT_S):
                    while True:
                        await sees_frames(rings, other, 2)
                        try:
                            slow.send(b"x")
                            if slow.recv(1) == b"":
                                break
                        except BlockingIOError:
                            pass
                        except ConnectionError:
                            break

    asyncio.run(look())


def test_random_bytes_of_any_length_are_survived(quiet: None, rings: Rings, page: Page) -> None:
    """Much of it, for a while: nothing is raised, and the page is as large as before."""

    rng = np.random.default_rng(1)

    async def look() -> None:
        async with client(page) as other:
            for size in (1, 1000, 100_000, 3_000_000):
                with stranger(page) as connection:
                    connection.settimeout(WAIT_S)
                    with contextlib.suppress(OSError):  # it may have had enough
                        connection.sendall(base64.b64encode(rng.bytes(size)))
                    await sees_frames(rings, other, 2)

    asyncio.run(look())
