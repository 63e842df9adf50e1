"""A page in its own process, and crowds before its door: connections made by hand that say something and stay."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import WSMsgType
from clients import Client
from fake_servo import Page, Rings

INDEX = Path(__file__).parents[2] / "palpate" / "page" / "static" / "index.html"
TOKEN = "a-token_of-16-bytes"
PUBLIC = {"host": "0.0.0.0", "token": TOKEN}  # a page that others can reach


@contextmanager
def besieged(**changes: Any) -> Iterator[tuple[Rings, Page]]:
    """A page's process, and the rings behind it."""
    if not INDEX.is_file():
        pytest.skip("the page is not built: run `make page`")
    rings = Rings()
    page = Page(rings, **changes)
    try:
        yield rings, page
    finally:
        page.close()
        rings.close()


def stranger(page: Page, said: bytes = b"", port: int = 0) -> socket.socket:
    """A connection that says this and no more; it may be shown out at any time."""
    connection = socket.create_connection(("127.0.0.1", port or page.port))
    with contextlib.suppress(ConnectionError):
        connection.sendall(said)
    connection.setblocking(False)
    return connection


@contextmanager
def crowd(page: Page, n: int, said: bytes) -> Iterator[list[socket.socket]]:
    """So many strangers, who stay as long as they are let."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(stranger(page, said)) for _ in range(n)]


def with_token(page: Page, path: str = "") -> str:
    """An address of the page that this machine reaches in any case, for whoever has the token."""
    return f"{page.url.split(':')[0]}://127.0.0.1:{page.port}/{path}?token={TOKEN}"


def has_ended(connection: socket.socket) -> bool:
    """Whether the other side closed it, once all it said has been read."""
    try:
        while connection.recv(1 << 16):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        pass
    return True


async def sees_frames(rings: Rings, browser: Client, n: int = 5) -> None:
    """A browser that is told every new frame."""
    for _ in range(n):
        tick = rings.frames.head + 1
        rings.frames.write(rings.layout.pack(tick=tick))
        while int.from_bytes((await browser.hear(WSMsgType.BINARY))[:8], "little") != tick:
            await asyncio.sleep(0)


def complaints(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Lines on stderr since the last look: said by the page, never a traceback."""
    said = capfd.readouterr().err.splitlines()
    assert all(line.startswith("palpate: the page: ") for line in said), said
    return said
