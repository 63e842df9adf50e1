"""Whoever has not been let in keeps nobody out, however many they are and whatever they say or leave unsaid."""

import asyncio
import random
import shutil
import ssl
from pathlib import Path

import aiohttp
import pytest
from clients import HOLD, connected
from fake_servo import Page
from siege import PUBLIC, besieged, complaints, crowd, has_ended, sees_frames, stranger, with_token
from waiting import until, until_async

from palpate.page.door import MOST_STRANGERS
from palpate.runtime.page.tls import make_certificate

MANY = 600  # more than have a place
ASKING = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n"
CROWDS = {
    "refused, and would keep their connection": ASKING + b"\r\n",
    "refused a page's socket": ASKING + b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
    "refused, with a body that never comes": ASKING + b"Content-Length: 1000000\r\n\r\n",
    "stop in the middle of a header": ASKING + b"X-Slow: ",
    "say nothing": b"",
    "ask many times at once": (ASKING + b"\r\n") * 20,
}


async def is_served(page: Page, trust: ssl.SSLContext | bool = True) -> None:
    """Whoever has the token gets the page."""
    async with aiohttp.ClientSession() as session, session.get(with_token(page), ssl=trust) as answer:
        assert answer.status == 200
        assert "<html" in await answer.text()


@pytest.mark.parametrize("said", CROWDS.values(), ids=CROWDS)
def test_whoever_has_the_token_comes_in_past_any_crowd(capfd: pytest.CaptureFixture[str], said: bytes) -> None:
    with besieged(**PUBLIC) as (rings, page):

        async def look() -> None:
            async with connected(with_token(page)) as before:
                with crowd(page, MANY, said):
                    await is_served(page)
                    async with connected(with_token(page)) as new:
                        await new.say(HOLD)
                        await until_async(lambda: rings.hands.head == 1)
                        await sees_frames(rings, new)
                    await sees_frames(rings, before)  # who was in stays in

        asyncio.run(look())
    assert complaints(capfd) == []


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_unfinished_handshakes_keep_nobody_out(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALPATE_CACHE_DIR", str(tmp_path))
    certificate, key = make_certificate("127.0.0.1")
    trust = ssl.create_default_context(cafile=str(certificate))
    with besieged(**PUBLIC, cert=str(certificate), key=str(key)) as (rings, page):

        async def look() -> None:
            async with connected(with_token(page), trust) as before:
                with crowd(page, MANY // 2, b"") as silent, crowd(page, MANY // 2, b"\x16\x03\x01\x02\x00\x01") as half:
                    await is_served(page, trust)
                    assert sum(not has_ended(one) for one in silent + half) <= MOST_STRANGERS
                    async with connected(with_token(page), trust) as new:
                        await sees_frames(rings, new)
                    await sees_frames(rings, before)

        asyncio.run(look())
    assert complaints(capfd) == []


@pytest.mark.parametrize("said", [ASKING + b"\r\n", ASKING + b"Content-Length: 9\r\n\r\n"])
def test_a_stranger_is_soon_gone_without_others_coming(said: bytes) -> None:
    with besieged(**PUBLIC) as (_, page), stranger(page, said) as alone:
        until(lambda: has_ended(alone))


def test_a_refused_request_says_that_its_connection_ends() -> None:
    with besieged(**PUBLIC) as (_, page), stranger(page, ASKING + b"\r\n") as alone:
        heard = b""

        def listened() -> bool:
            nonlocal heard
            try:
                heard += (new := alone.recv(4096))
            except BlockingIOError:
                return False
            return new == b""

        until(listened)
        assert heard.startswith(b"HTTP/1.1 403 ")
        assert b"Connection: close" in heard


def nonsense(rng: random.Random) -> bytes:
    """A request with something wrong in it."""
    lines = [b"GET / HTTP/1.1", b"Host: 127.0.0.1", b"Accept: */*"]
    wrong = [
        b"GET / HTTP/9.9", b"GET  HTTP/1.1", b"GET / HTTP/1.1 more", b"Host", b": none", b"A B: c", b"X\x00: y",
        b"Content-Length: -1", b"Content-Length: 1, 2", b"Content-Length: x", b"Transfer-Encoding: chunked, chunked",
        b"Transfer-Encoding: x", b"Host: a\r\nHost: b", b" folded", b"X: " + b"y" * 9000, b"\xff\xfe: \xff",
        b"Sec-WebSocket-Key: " + rng.randbytes(4).hex().encode() + b"\r\nUpgrade: websocket", b"GET /\x7f HTTP/1.1",
    ]  # fmt: skip
    where = rng.randrange(len(lines) + 1)
    lines[where : where + rng.randrange(2)] = [rng.choice(wrong)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + rng.randbytes(rng.randrange(8))


def test_a_thousand_malformed_requests_are_a_line_at_most(capfd: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(5)
    with besieged() as (rings, page):

        async def look() -> None:
            async with connected(page.url) as browser:
                for _ in range(50):
                    said = b"".join(nonsense(rng) for _ in range(rng.randrange(1, 4)))
                    with crowd(page, 20, said):
                        await sees_frames(rings, browser, 1)
                await sees_frames(rings, browser)

        asyncio.run(look())
    assert len(complaints(capfd)) <= 1
