"""Whatever comes in, request lines, headers, frames of a socket or JSON, a good client is served afterwards.

Seeded; `slow` has more of the same.  Nothing but lines of our own appears on stderr.
"""

import asyncio
import contextlib
import json
import random
import socket
from typing import Any

import aiohttp
import pytest
from clients import HOLD, connected
from fake_servo import Page, Rings
from siege import besieged, complaints, sees_frames, stranger
from waiting import until_async

from palpate.page.messages import REQUESTS

EVENT_KINDS = ["play", "pause", "step", "reset", "seek", "speed", "mode", "place", "gravity", "friction", "none such"]
SIZES = [pytest.param(1, 40), pytest.param(2, 400, marks=pytest.mark.slow)]
METHODS = [b"GET", b"POST", b"HEAD", b"PUT", b"OPTIONS", b"TRACE", b"CONNECT", b"get", b"G\x00T", b"", b"PRI"]
PATHS = [
    b"/", b"/ws", b"/mesh/0", b"/mesh/99999999999", b"/..%2f..%2fetc/passwd", b"//evil.example/", b"http://evil.example/",
    b"/%00", b"/%", b"/?token=%ff", b"*", b"", b"/" + b"a" * 300, b"/" + b"a" * 9000, b"/assets/../../server.py", b"\\",
]  # fmt: skip
NAMES = [
    b"Host", b"Origin", b"Cookie", b"Content-Length", b"Transfer-Encoding", b"Upgrade", b"Connection", b"Range",
    b"Sec-WebSocket-Key", b"Sec-WebSocket-Version", b"Sec-WebSocket-Extensions", b"Expect", b"If-None-Match", b"",
    b"X y", b"\xff", b"If-Modified-Since", b"Accept-Encoding", b"Content-Encoding",
]  # fmt: skip
VALUES = [
    b"127.0.0.1", b"evil.example", b"http://evil.example", b"null", b"[::1", b"websocket", b"Upgrade", b"chunked",
    b"-1", b"18446744073709551616", b"0, 0", b"bytes=0-1,2-3", b"bytes=9-1", b"100-continue", b"a=b; a=c;;=", b"13",
    b"dGhlIHNhbXBsZSBub25jZQ==", b"permessage-deflate; server_max_window_bits=99", b"", b"\x00", b"\xff" * 20,
    b"x" * 9000, b"gzip",
]  # fmt: skip


def request(rng: random.Random) -> bytes:
    """A request line and headers of anything."""
    ends = rng.choice([b"\r\n"] * 6 + [b"\n", b"\r", b"\r\n "])
    version = rng.choice([b"HTTP/1.1"] * 6 + [b"HTTP/1.0", b"HTTP/2.0", b"HTTP/1.1.1", b"", b"HTTP/9"])
    lines = [b" ".join((rng.choice(METHODS[:3] * 3 + METHODS), rng.choice(PATHS), version))]
    lines += [rng.choice(NAMES) + rng.choice([b": "] * 5 + [b":", b" : ", b""]) + rng.choice(VALUES)
              for _ in range(rng.randrange(8))]  # fmt: skip
    body = rng.choice([b"", rng.randbytes(rng.randrange(200)), b"5\r\nhello\r\n0\r\n\r\n", b"fffffffff\r\nx"])
    return ends.join(lines) + 2 * ends + body


def frame(rng: random.Random, content: bytes, opcode: int = 1, final: bool = True) -> bytes:
    """One frame of a socket, masked as it should be."""
    mask = rng.randbytes(4)
    n = len(content)
    length = bytes([n]) if n < 126 else b"\x7e" + n.to_bytes(2) if n < 2**16 else b"\x7f" + n.to_bytes(8)
    masked = bytes(c ^ mask[i % 4] for i, c in enumerate(content))
    return bytes([0x80 * final | opcode, 0x80 | length[0]]) + length[1:] + mask + masked


def frames(rng: random.Random) -> bytes:
    """Texts, binaries, fragments, pings in between, wrong lengths, reserved bits, huge promises."""
    content = rng.choice([json.dumps(message(rng)).encode(errors="surrogatepass"), rng.randbytes(rng.randrange(300))])
    kind = rng.randrange(9)
    if kind == 0:  # fragments, with a ping between them
        cut = rng.randrange(len(content) + 1)
        middle = frame(rng, b"here?", 9) if rng.random() < 0.5 else b""
        return frame(rng, content[:cut], 1, False) + middle + frame(rng, content[cut:], 0)
    if kind == 1:
        return frame(rng, content, rng.choice([0, 2, 3, 7, 8, 9, 10, 15]), rng.random() < 0.8)
    if kind == 2:  # more is promised than comes
        return bytes([0x81, 0xFF]) + rng.randrange(2**64).to_bytes(8) + rng.randbytes(10)
    if kind == 3:  # without a mask
        return bytes([0x81, min(len(content), 125)]) + content[:125]
    if kind == 4:
        return bytes([rng.randrange(256), rng.randrange(256)]) + rng.randbytes(rng.randrange(20))
    if kind == 5:
        return frame(rng, rng.randbytes(rng.choice([130, 70_000])), rng.choice([1, 2, 9]))
    return frame(rng, content)


def anything(rng: random.Random, depth: int = 3) -> Any:
    """What JSON can hold, and some that it cannot."""
    simple = [None, True, False, 0, 1, -1, 2**31, 2**63, 10**400, 0.5, 1e308, float("nan"), float("inf"), "", "x", "\0",
              "\ud800", "../..", "<img src=x onerror=alert(1)>", "x" * 2000]  # fmt: skip
    if depth and rng.random() < 0.4:
        n = rng.randrange(8)
        if rng.random() < 0.5:
            return [anything(rng, depth - 1) for _ in range(n)]
        return {str(anything(rng, 0)): anything(rng, depth - 1) for _ in range(n)}
    return rng.choice(simple)


def message(rng: random.Random) -> Any:
    """Nearly a message: of a known type, its members right, wrong or missing; no seat in it lasts."""
    if rng.random() < 0.15:
        return anything(rng)
    said: dict[str, Any] = rng.choice([
        dict(HOLD), {"type": "release", "hand": 0}, {"type": "take"}, {"type": "give"},
        {"type": "event", "kind": rng.choice(EVENT_KINDS), "value": 1.0, "body": 2, "placement": [0] * 7},
        {"type": "request", "id": rng.randrange(100), "what": rng.choice(REQUESTS), "name": anything(rng),
         "files": anything(rng), "at": [0, 0, 0], "text": anything(rng)},
    ])  # fmt: skip
    for key in list(said):
        if rng.random() < 0.2:
            said[key] = anything(rng)
        elif rng.random() < 0.1:
            del said[key]
    return said


async def is_well(rings: Rings, page: Page) -> None:
    """The page and its socket are there for a good client, and so are its hands, once they are free."""
    async with aiohttp.ClientSession() as session, session.get(page.url) as answer:
        assert answer.status == 200
    async with connected(page.url) as browser:
        await browser.status(taken=False)
        await sees_frames(rings, browser, 2)
        before = rings.hands.head
        await browser.say(HOLD)
        await until_async(lambda: rings.hands.head > before)


@pytest.mark.parametrize(("seed", "n"), SIZES)
def test_any_request_leaves_the_page_well(capfd: pytest.CaptureFixture[str], seed: int, n: int) -> None:
    rng = random.Random(seed)
    with besieged() as (rings, page):

        async def look() -> None:
            async with connected(page.url) as other:
                for _ in range(n):
                    with contextlib.ExitStack() as stack:
                        for _ in range(10):
                            said = b"".join(request(rng) for _ in range(rng.randrange(1, 3)))
                            stack.enter_context(stranger(page, said[: rng.choice([None, rng.randrange(len(said))])]))
                        await sees_frames(rings, other, 1)
            await is_well(rings, page)

        asyncio.run(look())
    assert len(complaints(capfd)) <= 1 + n // 500


@pytest.mark.parametrize(("seed", "n"), SIZES)
def test_any_frames_of_a_socket_leave_the_page_well(capfd: pytest.CaptureFixture[str], seed: int, n: int) -> None:
    rng = random.Random(seed)
    with besieged() as (rings, page):

        async def look() -> None:
            async with connected(page.url) as other:
                for _ in range(n):
                    with upgraded(page) as connection, contextlib.suppress(ConnectionError):
                        connection.sendall(b"".join(frames(rng) for _ in range(rng.randrange(1, 8))))
                        await sees_frames(rings, other, 1)
            await is_well(rings, page)

        asyncio.run(look())
    assert len(complaints(capfd)) <= 1 + n // 500


def upgraded(page: Page) -> socket.socket:
    """A page's socket, by hand."""
    connection = socket.create_connection(("127.0.0.1", page.port))
    connection.sendall(
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    assert b" 101 " in connection.recv(4096)
    return connection


@pytest.mark.parametrize(("seed", "n"), SIZES)
def test_any_messages_leave_the_page_well(capfd: pytest.CaptureFixture[str], seed: int, n: int) -> None:
    rng = random.Random(seed)
    with besieged() as (rings, page):
        page.stdout.close()  # nobody answers; and the page must not mind

        async def look() -> None:
            async with connected(page.url) as fuzzing:
                for _ in range(50 * n):
                    await fuzzing.say(json.dumps(message(rng)))
                await fuzzing.say({"type": "release"})
                await sees_frames(rings, fuzzing, 1)
            await is_well(rings, page)

        asyncio.run(look())
    assert complaints(capfd) == []
