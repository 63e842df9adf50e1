"""The page before its session: the scene as it begins, how far the compiler is, and then frames on the same socket.

The compiler is a fake that takes until the test says so.
"""

import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import aiohttp
import numpy as np
import pytest
from browsing import DESKTOP, Open
from clients import HOLD, Client, connected
from fake_servo import FakeServo, Rings
from waiting import WAIT_S, until
from waiting import until_async as until_so

from palpate import jit
from palpate.jit.starts.remaining import Remaining
from palpate.runtime import commands as live
from palpate.runtime.children import Child
from palpate.runtime.ending import Asked
from palpate.runtime.hello import hello_of
from palpate.runtime.page import early as early_page
from palpate.runtime.page.early import EarlyPage
from palpate.runtime.page.process import Where
from palpate.runtime.world.session import WorldSession
from palpate.runtime.world.simulation import WorldSimulation

pytestmark = [
    pytest.mark.usefixtures("built"),
    pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled"),
]


class Part:
    """Something to compile."""

    def __init__(self, name: str) -> None:
        self.name, self.seconds, self.done = name, 20.0, False


@pytest.fixture
def parts() -> list[Part]:
    return [Part(f"contact.part{k}") for k in range(3)]


@pytest.fixture
def early(parts: list[Part]) -> Iterator[EarlyPage]:
    """A page, its scene being compiled."""
    with EarlyPage(Where("127.0.0.1", 0, None, "token"), "arm", None, Remaining(parts)) as page:
        page.listening()
        yield page
    page.process.end()


def ignore(page: Child, request: dict[str, Any]) -> None:
    """Nobody asks."""


def take_over(early: EarlyPage, rings: Rings) -> None:
    fds = {"frame_fd": rings.frames.fd, "hand_fd": rings.hands.fd, "event_fd": rings.events.fd}
    early.take_over(rings.hello, [], fds, ignore)


async def listener(stack: Any, url: str) -> Client:
    """A page that is opened now, whatever it is told first."""
    session = await stack.enter_async_context(aiohttp.ClientSession())
    return Client(await stack.enter_async_context(session.ws_connect(url.replace("/?", "/ws?"))), {})


def test_the_scene_is_there_first_then_what_is_left_in_order_then_frames_on_the_same_socket(
    early: EarlyPage, parts: list[Part], rings: Rings
) -> None:
    heard: list[tuple[int, str]] = []

    async def compiling(browser: Client, done: int) -> dict[str, Any]:
        while True:
            said = await browser.hear_of("compiling")
            heard.append((said["done"], said["what"]))
            if said["done"] == done:
                return said

    async def look() -> None:
        async with AsyncExitStack() as stack:
            first = await listener(stack, early.url)
            begin = await first.hear_of("hello")
            assert (begin["mode"], begin["scene"]) == ("compiling", "arm")
            assert len(begin["start"]) == len(begin["bodies"]) > 6
            for k in range(2):
                parts[k].done = True
                said = await compiling(first, k + 1)
                assert said["of"] == 3
                assert said["seconds"] > 0
            second = await listener(stack, early.url)  # one that is opened in between sees it too
            assert (await second.hear_of("hello"))["start"] == begin["start"]
            assert (await second.hear_of("compiling"))["done"] == 2
            take_over(early, rings)
            rings.frames.write(rings.layout.pack(tick=7))
            for browser in (first, second):
                assert (await browser.hear_of("hello", mode="live"))["scene"] == "small"
                words = np.frombuffer(await browser.hear(aiohttp.WSMsgType.BINARY), dtype=np.int64)
                assert rings.layout.unpack(words)["tick"] == 7
            assert early.process.alive  # it is the session's now
            async with connected(early.url) as third:
                assert third.hello["scene"] == "small"

    asyncio.run(look())
    assert heard == sorted(heard)
    assert {what for _, what in heard} <= {"contact.part0", "contact.part1", "contact.part2"}


def test_what_a_page_asks_for_meanwhile_is_declined_and_its_hands_hold_nothing(early: EarlyPage, rings: Rings) -> None:
    async def look() -> None:
        async with AsyncExitStack() as stack:
            browser = await listener(stack, early.url)
            await browser.say(HOLD)
            await browser.say({"type": "event", "kind": "play", "value": 0})
            await browser.request(1, "motion")
            answer = await browser.answer()
            assert not answer["ok"]
            assert "being compiled" in answer["error"]
            take_over(early, rings)
            await browser.hear_of("hello", mode="live")
            assert (rings.hands.head, rings.events.head) == (0, 0)
            await browser.say(HOLD | {"body": 2})
            await until_so(lambda: rings.hands.head > 0)

    asyncio.run(look())


def test_what_is_shown_before_it_runs_is_what_runs(parts: list[Part]) -> None:
    session = WorldSession(live.build("arm-line", "hold"))
    try:
        runs = json.loads(json.dumps(hello_of(session.simulation)))
    finally:
        session.stop()
    with EarlyPage(Where("127.0.0.1", 0, None, "token"), "arm-line", "hold", Remaining(parts)) as page:
        shown = page._preview.answer("hello", WAIT_S)
    assert np.allclose(shown.pop("start"), runs.pop("start"), atol=1e-5)
    assert np.allclose(shown.pop("path"), runs.pop("path"), atol=2e-5)
    assert shown | {"mode": "live"} == runs


def test_a_scene_that_cannot_be_built_is_not_shown_and_says_nothing(
    parts: list[Part], capfd: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    (tmp_path / "broken.urdf").write_text("<robot>")
    with EarlyPage(Where("127.0.0.1", 0, None, "token"), str(tmp_path / "broken.urdf"), None, Remaining(parts)) as page:
        until(lambda: not page._preview.alive)
    assert not page.process.alive
    assert capfd.readouterr() == ("", "")


# ---- the whole of `palpate touch`


class Slow:
    """`palpate touch`, with a compiler that takes until it is told; and a person who looks at the page meanwhile."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.said: list[str] = []
        self.url, self.shown, self.compiled = "", threading.Event(), threading.Event()
        self.running = threading.Event()  # it has said so: the page may be live a little before
        self.pages: list[Child] = []
        self.parts = [Part(f"world.part{k}") for k in range(9)]
        patch.setattr(early_page, "missing", lambda entries: self.parts)
        warm = WorldSimulation.warm

        def slowly(engine: WorldSimulation) -> None:
            while not self.compiled.wait(0.01):  # a signal is seen in between
                pass
            warm(engine)

        made = EarlyPage.__init__

        def noted(page: EarlyPage, *arguments: Any) -> None:
            made(page, *arguments)
            self.pages.append(page.process)

        patch.setattr(WorldSimulation, "warm", slowly)
        patch.setattr(EarlyPage, "__init__", noted)

    def say(self, line: str) -> None:
        self.said.append(line)
        if line.startswith("the page is at "):
            self.url = line.split()[4].rstrip(";")
            self.shown.set()
        if line.startswith("servo"):
            self.running.set()

    def run(self, person: Any, ends_it: bool = True) -> None:
        """`touch` in this thread, which signals reach; the person ends it, having seen enough."""
        failed: list[BaseException] = []

        def act() -> None:
            try:
                assert self.shown.wait(WAIT_S)
                asyncio.run(asyncio.wait_for(person(self.url), WAIT_S))
            except BaseException as problem:
                failed.append(problem)
            if ends_it:
                os.kill(os.getpid(), signal.SIGTERM)

        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # should it come when `touch` has ended already
        browser = threading.Thread(target=act)
        browser.start()
        try:
            live.touch("arm-rest", "pointer", "pull", None, None, False, "127.0.0.1", 0, False, 2 * WAIT_S, self.say)
        except Asked:
            if not self.compiled.is_set():  # else it ran already, or was about to
                raise
        finally:
            browser.join()
            signal.signal(signal.SIGTERM, before)
            assert not failed, failed


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    return Slow(monkeypatch)


@pytest.mark.real_time
def test_touch_shows_its_page_while_the_compiler_works_and_comes_alive_without_a_reload(slow: Slow) -> None:
    async def person(url: str) -> None:
        async with AsyncExitStack() as stack:
            browser = await listener(stack, url)
            begin = await browser.hear_of("hello")
            assert (begin["mode"], begin["scene"]) == ("compiling", "arm-rest")
            assert (await browser.hear_of("compiling"))["of"] == 9
            slow.compiled.set()
            assert (await browser.hear_of("hello", mode="live"))["bodies"] == begin["bodies"]
            await browser.hear(aiohttp.WSMsgType.BINARY)
            await browser.request(1, "motion")
            assert "being compiled" not in (await browser.answer()).get("error", "")  # the session has the page
            assert await asyncio.to_thread(slow.running.wait, WAIT_S)

    slow.run(person)
    assert [line.split()[0] for line in slow.said[:2]] == ["the", "servo"]
    assert sum("the page is at" in line for line in slow.said) == 1
    assert not slow.pages[0].alive


@pytest.mark.real_time
def test_a_page_that_is_killed_while_the_compiler_works_is_there_again_with_the_session(slow: Slow) -> None:
    async def person(url: str) -> None:
        slow.pages[0].process.kill()
        slow.compiled.set()
        while True:
            try:
                async with connected(url) as browser:
                    assert browser.hello["mode"] == "live"
                    await browser.hear(aiohttp.WSMsgType.BINARY)
                    return
            except (aiohttp.ClientError, ConnectionError):
                await asyncio.sleep(0.05)

    slow.run(person)


def test_a_request_to_end_while_the_compiler_works_ends_the_page_too(slow: Slow) -> None:
    async def person(url: str) -> None:
        async with AsyncExitStack() as stack:
            await (await listener(stack, url)).hear_of("compiling")

    with pytest.raises(Asked):
        slow.run(person)
    assert not slow.pages[0].alive
    assert len(slow.said) == 1


def test_a_scene_that_fails_while_it_is_built_ends_the_page_and_says_why(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = threading.Event()

    def fail(scene: str, edit: str | None) -> None:
        assert seen.wait(WAIT_S)
        raise ValueError("this robot has no arm")

    monkeypatch.setattr(live, "build", fail)

    async def person(url: str) -> None:
        async with AsyncExitStack() as stack:
            await (await listener(stack, url)).hear_of("compiling")
            seen.set()

    with pytest.raises(ValueError, match="this robot has no arm"):
        slow.run(person, ends_it=False)
    assert not slow.pages[0].alive


def test_a_start_that_has_nothing_to_compile_starts_no_page_for_it() -> None:
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(early_page, "missing", lambda entries: [])
        assert early_page.page_first(stack, Where("127.0.0.1", 0, None, "token"), "arm", None) is None


# ---- in a browser


@pytest.mark.browser
def test_a_browser_shows_scene_and_bar_and_comes_alive(early: EarlyPage, parts: list[Part], open_tab: Open) -> None:
    pytest.importorskip("playwright.sync_api")
    tab = open_tab(early.url, until="projected('tool') !== null", **DESKTOP)
    assert tab.page.title() == "PUMA 560 on a line · palpate"
    parts[0].done = parts[1].done = True
    until(lambda: "2 of 3" in tab.text(".compiling"))
    assert "contact.part2" in tab.text(".compiling")
    tab.until("inView().bodies > 0")
    assert tab.page.locator(".transport").get_attribute("inert") is not None
    assert not tab.shows(".banner")
    tab.keep("compiling")
    servo = FakeServo().start()
    try:
        take_over(early, servo)
        tab.until("connected()")
        until(lambda: not tab.shows(".compiling"))
        until(lambda: tab.page.locator(".transport").get_attribute("inert") is None)
        first = tab.at("tool")
        until(lambda: np.hypot(*np.subtract(tab.at("tool"), first)) > 5)
    finally:
        servo.stop()
