"""A page on this machine is for the person who started it: other users of the machine need its token."""

import asyncio
import http.client
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from clients import connected
from fake_servo import Page
from siege import TOKEN, besieged, sees_frames, with_token
from waiting import until

from palpate.page import guard
from palpate.runtime.page import users
from palpate.runtime.page.users import address_to_open, user_of, users_are_told

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose connection it is")
NOBODY = 65534
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")

ASK = """
import http.client, json, sys
codes = {}
for path in sys.argv[2:]:
    asking = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
    asking.request("GET", path, headers={"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} if path.startswith("/ws") else {})
    codes[path] = asking.getresponse().status
print(json.dumps(codes))
"""


def codes_of(page: Page, *paths: str, user: int | None = None) -> dict[str, int]:
    """What a user's program is answered."""
    python = "/usr/bin/python3" if user is not None and Path("/usr/bin/python3").exists() else sys.executable
    said = subprocess.run(
        [python, "-c", ASK, str(page.port), *paths], user=user, capture_output=True, check=True, cwd="/"
    ).stdout
    return dict(json.loads(said))


@AS_ROOT
def test_another_user_of_the_machine_needs_the_token() -> None:
    with besieged(token=TOKEN) as (_, page):
        paths = ("/", "/ws", "/mesh/0", "/favicon.svg", "/?token=wrong", f"/?token={TOKEN}", f"/ws?token={TOKEN}")
        assert list(codes_of(page, *paths, user=NOBODY).values()) == [403] * 5 + [200, 101]
        assert codes_of(page, "/", "/ws") == {"/": 200, "/ws": 101}


@AS_ROOT
def test_without_a_token_other_users_are_refused_all_the_same() -> None:
    with besieged() as (_, page):
        assert codes_of(page, "/", "/?token=", "/ws?token=", user=NOBODY) == {
            "/": 403,
            "/?token=": 403,
            "/ws?token=": 403,
        }


def test_whoever_started_it_needs_no_token_and_the_address_has_one() -> None:
    with besieged(token=TOKEN) as (rings, page):
        assert page.url == f"http://127.0.0.1:{page.port}/?token={TOKEN}"

        async def look() -> None:
            async with connected(f"http://127.0.0.1:{page.port}/") as browser:
                await sees_frames(rings, browser, 2)
            async with aiohttp.ClientSession() as session, session.get(with_token(page)) as answer:
                assert answer.headers["Set-Cookie"].startswith(f"palpate-{page.port}={TOKEN};")

        asyncio.run(look())


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_foreign_name_that_points_here_is_refused_even_with_the_token(family: int) -> None:
    with besieged(token=TOKEN, host="127.0.0.1" if family == socket.AF_INET else "::1") as (_, page):
        for host, code in (("evil.example", 403), (f"evil.example:{page.port}", 403), ("localhost", 200)):
            asking = http.client.HTTPConnection("127.0.0.1" if family == socket.AF_INET else "::1", page.port)
            asking.request("GET", f"/?token={TOKEN}", headers={"Host": host})
            assert asking.getresponse().status == code
            asking.close()


# ---- whose connection


@pytest.mark.parametrize("ends", [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("127.0.0.1", "::ffff:127.0.0.1")])
def test_the_user_of_a_connection_is_known_while_it_is_open(ends: tuple[str, str]) -> None:
    family = socket.AF_INET6 if ":" in ends[0] else socket.AF_INET
    with socket.create_server((ends[0], 0), family=family) as listening:
        there = socket.socket(socket.AF_INET6 if ":" in ends[1] else socket.AF_INET)
        there.connect((ends[1], listening.getsockname()[1]))
        here, peer = listening.accept()
        with here:
            assert user_of(here.getsockname(), peer) == os.geteuid()
            there.shutdown(socket.SHUT_WR)
            assert user_of(here.getsockname(), peer) == os.geteuid()
            assert user_of(peer, here.getsockname()) == os.geteuid()
            assert user_of(here.getsockname(), (peer[0], peer[1] ^ 1, *peer[2:])) is None
            there.close()
            until(lambda: user_of(here.getsockname(), peer) is None)  # nobody's, and not root's


@pytest.mark.parametrize("end", [("", 0), ("nowhere", 1), ("127.0.0.1", 0), ("fe80::1%lo", 1)])
def test_an_end_that_is_none_is_nobodys(end: tuple[str, int]) -> None:
    assert user_of(end, end) is None


def test_where_the_system_does_not_say_the_token_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(users, "TABLES", {4: tmp_path / "no", 16: tmp_path / "no"})
    monkeypatch.setattr(users, "users_are_told", users_are_told.__wrapped__)
    assert not users.users_are_told()
    ends = {"sockname": ("127.0.0.1", 1), "peername": ("127.0.0.1", 2)}
    request: Any = SimpleNamespace(transport=SimpleNamespace(get_extra_info=ends.get))
    assert not guard.comes_from_own(request)
    url = "http://127.0.0.1:8642/?token=x"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert address_to_open(url) == url


def test_a_browser_is_started_without_the_token_where_it_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "users_are_told", lambda: True)
    for user, url, opened in (
        (1000, "http://127.0.0.1:8642/?token=x", "http://127.0.0.1:8642/"),
        (1000, "https://[::1]:8642/?token=x", "https://[::1]:8642/"),
        (1000, "http://10.0.0.7:8642/?token=x", "http://10.0.0.7:8642/?token=x"),
        (0, "http://127.0.0.1:8642/?token=x", "http://127.0.0.1:8642/?token=x"),
    ):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert address_to_open(url) == opened
