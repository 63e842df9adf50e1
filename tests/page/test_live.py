"""`palpate touch` as a program runs it: one scene after the other behind one address, asked for by a page."""

import asyncio
import gc
import os
import shutil
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from unittest import mock
from urllib.parse import urlsplit

import aiohttp
import pytest
from clients import Client, connected
from waiting import WAIT_S

from palpate import jit
from palpate.runtime import commands
from palpate.runtime.commands import touch
from palpate.runtime.ending import Ending
from palpate.runtime.world.session import WorldSession

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.usefixtures("built"),
    pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
]


class Touching:
    """`touch` in this thread, which signals reach, and a person with a browser in another."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.failed: list[BaseException] = []
        self._url, self._known = "", threading.Event()

    def say(self, line: str) -> None:
        self.said.append(line)
        if line.startswith("the page is at "):
            self._url = line.split()[4].rstrip(";")
            self._known.set()

    def run(self, scene: str, person: Callable[[str], Awaitable[None]], **options) -> list[str]:
        """What was said, from start to end."""
        waiting = threading.Event()

        class Waiting(Ending):
            def wait(self, leaving=None) -> None:
                waiting.set()
                super().wait(leaving)
                waiting.clear()

        def act() -> None:
            try:
                assert self._known.wait(WAIT_S)
                asyncio.run(asyncio.wait_for(person(self._url), WAIT_S))
            except BaseException as problem:  # told by the test itself
                self.failed.append(problem)
            finally:
                waiting.wait(
                    WAIT_S
                )  # a page is there before its session waits; what comes earlier interrupts the start
                time.sleep(0.05)
                os.kill(os.getpid(), signal.SIGTERM)

        browser = threading.Thread(target=act)
        browser.start()
        settings = {"device": "pointer", "mode": "pull", "edit": None, "record": None, "browser": False,
                    "host": "127.0.0.1", "port": 0, "tls": False, "seconds": 2 * WAIT_S} | options  # fmt: skip
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # should it come when `touch` has ended already
        try:
            with mock.patch.object(commands, "Ending", Waiting):
                assert touch(scene, say=self.say, **settings) == 0
        finally:
            browser.join()
            signal.signal(signal.SIGTERM, before)
        if self.failed:
            raise self.failed[0]
        return self.said


async def again(url: str) -> str:
    """The scene behind an address, as soon as somebody is there."""
    while True:
        try:
            async with connected(url) as browser:
                return str(browser.hello["scene"])
        except (aiohttp.ClientError, ConnectionError):
            await asyncio.sleep(0.05)


async def gone(browser: Client) -> None:
    """Until the connection ends."""
    async for _ in browser.ws:
        pass


def reports(said: list[str]) -> list[str]:
    return [line for line in said if "Hz over" in line]


def test_a_page_asks_for_another_scene_and_finds_it_at_the_same_address(tmp_path):
    async def person(url: str) -> None:
        async with connected(url) as browser:
            assert browser.hello["scene"] == "arm-rest"
            await browser.request(1, "scene", name="box-on-table")
            assert (await browser.answer(WAIT_S))["scene"] == "box-on-table"
            await gone(browser)
        assert await again(url) == "box-on-table"
        async with connected(url) as browser:  # and from there to a third
            await browser.request(1, "scene", name="arm-rest")
            assert (await browser.answer(WAIT_S))["ok"]
            await gone(browser)
        assert await again(url) == "arm-rest"

    said = Touching().run("arm-rest", person, record=tmp_path / "first.mcap")
    assert len(reports(said)) == 3
    assert sum("the page is at" in line for line in said) == 1
    assert "now the scene 'box-on-table', which is not recorded" in said
    assert any("recorded" in line and "first.mcap" in line for line in said)


def test_a_scene_that_was_left_is_let_go_before_the_next_runs():
    def alive() -> set[str]:
        return {each.scene.name for each in gc.get_objects() if type(each) is WorldSession} - before

    async def person(url: str) -> None:
        for name in ("box-on-table", "arm-rest"):
            async with connected(url) as browser:
                await browser.request(1, "scene", name=name)
                assert (await browser.answer(WAIT_S))["ok"]
                await gone(browser)
            assert await again(url) == name
            assert alive() == {name}

    gc.collect()
    before: set[str] = set()
    before = alive()  # a session of another test's, whose world nobody runs
    gc.disable()  # nobody tidies up by chance
    try:
        Touching().run("arm-rest", person)
    finally:
        gc.enable()


def test_an_unknown_scene_keeps_the_old_one_running():
    async def person(url: str) -> None:
        async with connected(url) as browser:
            await browser.request(1, "scene", name="nowhere")
            answer = await browser.answer(WAIT_S)
            assert not answer["ok"]
            assert "no scene is called 'nowhere'" in answer["error"]
            await browser.request(2, "add", at=[0, 0, 1])
            assert "no obstacle to spare" in (await browser.answer(WAIT_S))["error"]
            await browser.hear(aiohttp.WSMsgType.BINARY, WAIT_S)  # frames still come

    said = Touching().run("arm-rest", person)
    assert len(reports(said)) == 1


def test_pages_of_another_machine_find_the_next_scene_with_their_token():
    async def person(url: str) -> None:
        assert "token=" in urlsplit(url).query
        here = urlsplit(url)._replace(netloc=f"127.0.0.1:{urlsplit(url).port}").geturl()
        async with connected(here) as browser:
            await browser.request(1, "scene", name="box-on-table")
            assert (await browser.answer(WAIT_S))["ok"]
            await gone(browser)
        assert await again(here) == "box-on-table"
        with pytest.raises(aiohttp.WSServerHandshakeError):
            async with connected(urlsplit(here)._replace(query="").geturl()):
                pass

    said = Touching().run("arm-rest", person, host="0.0.0.0")
    assert len(reports(said)) == 2


def test_it_ends_after_its_time():
    said: list[str] = []
    assert touch("arm-rest", "pointer", "pull", None, None, False, "127.0.0.1", 0, False, 0.3, said.append) == 0
    assert len(reports(said)) == 1


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_page_by_https_says_so_in_its_address():
    said: list[str] = []
    assert touch("arm-rest", "pointer", "pull", None, None, False, "127.0.0.1", 0, True, 0.3, said.append) == 0
    assert any("the page is at https://127.0.0.1:" in line for line in said)
