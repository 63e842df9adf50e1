"""The process of the page against a session that is only rings: what goes out, what comes in, who may come in."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMsgType
from clients import HOLD, RELEASE, client, newest
from fake_servo import Page, Rings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from waiting import WAIT_S
from waiting import until_async as until

from palpate import frame
from palpate.frame import FRAME, Layout
from palpate.page import server
from palpate.page.door import Door
from palpate.page.guard import host_is_ours, same_origin
from palpate.page.messages import LONGEST, PROTOCOL
from palpate.page.sockets import LARGEST_BYTES, MOST_WAITING

# ---- out


def test_hello_comes_first_and_is_that_of_the_session(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            assert browser.hello == {**rings.hello, "type": "hello", "protocol": PROTOCOL}
            assert await browser.status() == {
                "type": "status", "dropped": 0, "holder": False, "taken": False, "asked": False, "asking": False,
                "pages": 1, "refused": 0,
            }  # fmt: skip

    asyncio.run(look())


def test_only_the_newest_frame_comes_and_only_once(rings: Rings, page: Page) -> None:
    async def look() -> None:
        for tick in range(1, 11):
            rings.frames.write(rings.layout.pack(tick=tick, q=[0.25, 0.5]))
        async with client(page) as browser:
            words = await browser.hear(WSMsgType.BINARY)
            assert words == rings.layout.pack(tick=10, q=[0.25, 0.5]).tobytes()
            with pytest.raises(TimeoutError):
                await browser.hear(WSMsgType.BINARY, timeout=0.2)

    asyncio.run(look())


def test_frames_come_at_most_sixty_times_a_second(rings: Rings, page: Page) -> None:
    """A busy machine may be slower."""

    async def look() -> None:
        async with client(page) as browser:
            begin = time.monotonic()
            for count in range(1, 61):
                rings.frames.write(rings.layout.pack(tick=count))
                await browser.hear(WSMsgType.BINARY)
            assert count <= 60.0 * (time.monotonic() - begin) + 2

    asyncio.run(look())


def read_messages(connection: socket.socket, last: bytes) -> list[bytes]:
    """All that a server sends up to what ends with `last`, without the masks and fragments that it does not use."""
    data = b""
    connection.settimeout(WAIT_S)
    while not data.endswith(last):
        data += connection.recv(1 << 20)
    messages, at = [], data.index(b"\r\n\r\n") + 4
    while at + 2 <= len(data):
        length, at = data[at + 1], at + 2
        if length >= 126:
            size = 2 if length == 126 else 8
            length, at = int.from_bytes(data[at : at + size]), at + size
        messages.append(data[at : at + length])
        at += length
    return messages


def test_a_slow_browser_misses_frames_instead_of_getting_old_ones(built: None) -> None:
    rings = Rings(n_bodies=200)  # frames of 12 kB
    page = Page(rings)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", page.port))
        connection.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        for tick in range(1, 301):  # three seconds without reading
            rings.frames.write(rings.layout.pack(tick=tick))
            time.sleep(0.01)
        messages = read_messages(connection, rings.layout.pack(tick=300).tobytes())
        frames = [message for message in messages if len(message) == 8 * rings.layout.words]
    ticks = [int.from_bytes(message[:8], "little") for message in frames]
    page.close()
    rings.close()
    assert ticks == sorted(set(ticks))
    assert len(ticks) < 40  # of the 180 that sixty a second would be
    assert ticks[-1] == 300  # and then it is up to date


# ---- in


def test_hand_and_events_reach_their_rings(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            said_ns = time.monotonic_ns()
            await browser.say(HOLD)
            await until(lambda: rings.hands.head == 1)
            before = newest(rings.hands)
            assert before["body"] == 2
            assert before["target"].tolist() == HOLD["target"]
            assert said_ns <= before["sent_ns"] <= time.monotonic_ns()  # the clock is the servo's
            await browser.status(holder=True)
            await browser.say(RELEASE)
            await until(lambda: rings.hands.head == 1 + frame.HANDS)
            assert newest(rings.hands)["body"] == 0
            await browser.status(holder=False)
            for number, kind in enumerate(["play", "pause", "step", "reset", "speed", "gravity"], start=1):
                await browser.say({"type": "event", "kind": kind, "value": 1.5})
                await until(lambda number=number: rings.events.head == number)
                event = newest(rings.events)
                assert (event["kind"], event["value"]) == (getattr(frame, kind.upper()), 1.5)

    asyncio.run(look())


def test_what_is_no_message_is_counted_and_the_rest_goes_on(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            await browser.say("{")
            await browser.say({**HOLD, "body": 1})  # cannot be touched
            await browser.say("x" * (LONGEST + 1))
            await browser.ws.send_bytes(b"\0" * 8)
            assert (await browser.status(dropped=4))["holder"] is False
            await browser.say(HOLD)
            await until(lambda: rings.hands.head == 1)

    asyncio.run(look())


def test_a_huge_message_ends_that_connection_only(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as other:
            async with client(page) as browser:
                with contextlib.suppress(ConnectionError):  # it may end while this is on its way
                    await browser.say("x" * (LARGEST_BYTES + 1))
                    async with asyncio.timeout(WAIT_S):
                        while (await browser.ws.receive()).type in (WSMsgType.TEXT, WSMsgType.BINARY):
                            pass
            await other.say(HOLD)
            await until(lambda: rings.hands.head == 1)

    asyncio.run(look())


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=40) | st.sampled_from(['{"type": "hand"}', "[[[", '{"type": "event"}']), max_size=30))
def test_noise_is_dropped_and_counted(rings: Rings, page: Page, noise: list[str]) -> None:
    async def look() -> None:
        hands, events = rings.hands.head, rings.events.head
        async with client(page) as browser:
            for text in noise:
                await browser.say(text)
            await browser.status(dropped=len(noise))
        assert (rings.hands.head, rings.events.head) == (hands, events)

    asyncio.run(look())


# ---- who may come in


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, 101),
        ({"Origin": "http://127.0.0.1:{port}"}, 101),
        ({"Origin": "http://localhost:{port}", "Host": "localhost:{port}"}, 101),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "http://localhost:{port}"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example:{port}"}, 403),
        ({"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"}, 403),
    ],
)
def test_sockets_from_elsewhere_are_refused(page: Page, headers: dict[str, str], code: int) -> None:
    async def look() -> int:
        named = {key: value.format(port=page.port) for key, value in headers.items()}
        try:
            async with client(page, **named):
                return 101
        except aiohttp.WSServerHandshakeError as refusal:
            return refusal.status

    assert asyncio.run(look()) == code


def test_files_are_served_with_a_policy_and_nothing_beside_them(page: Page) -> None:
    async def look() -> None:
        async with aiohttp.ClientSession() as session:
            async with session.get(page.url) as answer:
                assert answer.status == 200
                assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
                assert answer.headers["Cache-Control"] == "no-cache"
                assert "<title>palpate</title>" in await answer.text()
            for path in ("nothing", "../server.py", "%2e%2e/server.py", "assets/"):
                async with session.get(page.url + path) as answer:
                    assert answer.status in (403, 404), path
            async with session.get(page.url, headers={"Host": "evil.example"}) as answer:
                assert answer.status == 403

    asyncio.run(look())


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST:1", "[::1]:8642", "127.1.2.3"])
def test_names_of_this_machine(host: str) -> None:
    assert host_is_ours(host)
    assert same_origin(f"http://{host}", host)


@pytest.mark.parametrize(
    "host", [None, "", ":80", "example.org", "127.0.0.1.example.org", "192.168.0.1", "[::1", "[x]"]
)
def test_names_of_others(host: str | None) -> None:
    assert not host_is_ours(host)


# ---- start and end


def test_the_process_ends_when_its_parent_does_and_waits_for_no_page(page: Page) -> None:
    """A server that waited for open connections would be there for a minute more, as aiohttp's does by itself."""

    async def look() -> None:
        async with client(page):
            page.stdin.close()
            assert await asyncio.to_thread(page.process.wait, 30.0) == 0

    asyncio.run(look())


def test_a_taken_port_is_one_line(rings: Rings, page: Page) -> None:
    second = Page(rings, port=page.port)
    assert second.answer.keys() == {"error"}
    assert f"port {page.port} is taken" in second.answer["error"]
    assert second.stdout.read() == b""
    assert second.close() == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"host": "0.0.0.0"}, "needs a token"),
        ({"host": "::"}, "needs a token"),
        ({"cert": "/nowhere.pem", "key": "/nowhere.pem"}, "/nowhere.pem cannot be used"),
        ({"port": 99999}, "cannot listen"),
        ({"port": "8642"}, "not the settings"),
        ({"hello": {}}, "not the settings"),
        ({"hello": {"frame": [{"name": "tick"}], "bodies": []}}, "hello of this scene"),
        ({"frame_fd": 9999}, "cannot be opened"),
    ],
)
def test_a_wrong_start_is_one_line(rings: Rings, changes: dict[str, Any], words: str) -> None:
    line = json.dumps(rings.settings(**changes)).encode() + b"\n"
    fds = (rings.frames.fd, rings.hands.fd, rings.events.fd)
    done = subprocess.run(
        [sys.executable, "-m", "palpate.processes", "page"], input=line, capture_output=True, pass_fds=fds, check=False
    )
    assert done.returncode == 2
    assert done.stderr == b""
    assert words in json.loads(done.stdout)["error"]


def test_a_ring_of_another_size_is_refused(rings: Rings) -> None:
    page = Page(rings, hello={**rings.hello, "frame": Layout(FRAME, **rings.hello["sizes"] | {"nq": 3}).describe()})
    assert "another size" in page.answer["error"]
    assert page.close() == 2


def test_a_page_that_is_not_built_says_how(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(server, "STATIC", tmp_path)
    with pytest.raises(server.StartError, match="make page"):
        server.application(None, Door())  # type: ignore[arg-type]


def test_the_page_never_loads_the_compiler() -> None:
    heavy = ("numba", "llvmlite", "scipy", "trimesh", "matplotlib", "mcap", "google.protobuf")
    code = f"import sys, palpate.page.server; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("number", [1, MOST_WAITING])
def test_what_was_answered_before_the_session_ended_arrives(rings: Rings, number: int) -> None:
    """As when a page asks for another scene: the answer, and then the end."""

    async def look() -> None:
        async with client(page) as browser:
            for k in range(number):
                await browser.request(k + 1, "scene", name="arm")
            asked = [await asyncio.to_thread(page.said) for _ in range(number)]
            answers = [json.dumps({"id": each["request"]["id"], "ok": True}) for each in asked]
            page.stdin.write("".join(f"{line}\n" for line in answers).encode())
            page.stdin.close()
            for k in range(number):
                assert await browser.answer() == {"type": "answer", "id": k + 1, "ok": True}

    page = Page(rings)
    asyncio.run(look())
    assert page.close() == 0
