"""One page has the hands and the others watch; hands are handed over; requests are answered to whom they belong."""

import asyncio
import contextlib
import json
import sys
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import WSMsgType
from clients import HOLD, RELEASE, client, newest
from fake_servo import HAND, Page, Rings
from waiting import until_async as until

from palpate import frame
from palpate.page.messages import LONGEST_REQUEST
from palpate.page.sockets import MOST_LONG, MOST_WAITING, Browser, Hub

LEFT, RIGHT = {**HOLD, "hand": 0}, {**HOLD, "hand": 1, "body": 3}


def held(rings: Rings) -> list[int]:
    """The body that each hand holds, as the servo would have it."""
    bodies = [0] * frame.HANDS
    for number in range(max(1, rings.hands.head - rings.hands.slots + 1), rings.hands.head + 1):
        words = rings.hands.read(number)
        assert words is not None
        said = HAND.unpack(words)
        bodies[said["hand"]] = said["body"]
    return bodies


# ---- whose hands


def test_two_hands_of_one_browser_hold_and_let_go_on_their_own(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            await browser.say(LEFT)
            await browser.say(RIGHT)
            await until(lambda: held(rings) == [2, 3])
            await browser.say({"type": "release", "hand": 0})
            await until(lambda: held(rings) == [0, 3])
            await browser.status(holder=True)
            await browser.say({"type": "release", "hand": 1})
            await browser.status(holder=False)
            assert held(rings) == [0, 0]

    asyncio.run(look())


def test_one_browser_has_the_hands_and_the_others_are_told(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as first, client(page) as second:
            await first.say(LEFT)
            await first.status(holder=True, taken=False, pages=2)
            await second.status(holder=False, taken=True)
            for refused in (RIGHT, {**LEFT, "body": 3}, RELEASE, {"type": "release", "hand": 0}, {"type": "give"}):
                await second.say(refused)
            await second.say("no message")
            await second.status(dropped=1)  # so all of it has been taken
            assert held(rings) == [2, 0]
            await first.say(RELEASE)
            await second.status(taken=False)
            await second.say(RIGHT)
            await second.status(holder=True)
            assert held(rings) == [0, 3]

    asyncio.run(look())


def test_a_browser_that_falls_silent_loses_both_hands(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as first, client(page) as second:
            await first.say(LEFT)
            await first.say(RIGHT)
            await second.status(taken=True)
            await second.status(taken=False)  # after a second without a word
            assert held(rings) == [0, 0]
            await first.status(holder=False)
            await second.say(LEFT)
            await second.status(holder=True)
            await first.say(RIGHT)
            await second.say({"type": "release", "hand": 0})
            await second.status(holder=False)  # the silent one's other hand is not counted as its own
            assert held(rings)[0] == 0

    asyncio.run(look())


def test_the_hands_open_when_their_browser_goes(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            await browser.say(LEFT)
            await browser.say(RIGHT)
            await until(lambda: held(rings) == [2, 3])
        await until(lambda: held(rings) == [0, 0])

    asyncio.run(look())


def test_another_browser_that_goes_leaves_the_hands_alone(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as holder:
            async with client(page) as other:
                await holder.say(LEFT)
                await other.status(taken=True)
            await holder.status(pages=1)
            assert rings.hands.head == 1

    asyncio.run(look())


# ---- handing over


def test_hands_that_were_asked_for_are_given(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as first, client(page) as second, client(page) as third:
            await first.say(LEFT)
            await second.status(taken=True)
            await second.say({"type": "take"})
            await second.status(asking=True, holder=False)
            await first.status(asked=True, holder=True)
            await third.say({"type": "take"})  # the second was first
            await first.say({"type": "give"})
            await second.status(holder=True, asking=False, taken=False)
            await first.status(holder=False, taken=True, asked=False)
            assert held(rings) == [0, 0]
            await first.say(LEFT)  # still dragging
            await third.say(LEFT)
            await second.say(RIGHT)
            await until(lambda: held(rings) == [0, 3])

    asyncio.run(look())


def test_hands_that_were_asked_for_go_on_when_they_are_free(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as second:
            async with client(page) as first:
                await first.say(LEFT)
                await second.status(taken=True)
                await second.say({"type": "take"})
                await first.status(asked=True)
                await first.say(RELEASE)
                await second.status(holder=True)
                await second.say(RELEASE)
                await second.status(holder=False)
                await first.say(LEFT)
                await second.status(taken=True)
                await second.say({"type": "take"})
                await first.status(asked=True)
            await second.status(holder=True)  # the holder went

    asyncio.run(look())


def test_who_asked_and_went_gets_nothing(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as first:
            async with client(page) as second:
                await first.say(LEFT)
                await second.status(taken=True)
                await second.say({"type": "take"})
                await first.status(asked=True)
            await first.status(asked=False, holder=True, pages=1)
            await first.say({"type": "give"})  # to nobody
            await first.say("no message")
            await first.status(dropped=1, holder=True)

    asyncio.run(look())


def test_free_hands_need_not_be_asked_for_and_nobody_asks_itself(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            await browser.say({"type": "take"})
            await browser.say(LEFT)
            await browser.say({"type": "take"})
            said = await browser.status(holder=True)
            assert (said["asking"], said["asked"]) == (False, False)

    asyncio.run(look())


# ---- events and requests


def test_buttons_are_everybodys(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as first, client(page) as second:
            await first.say(LEFT)
            await second.status(taken=True)
            await second.say({"type": "event", "kind": "gravity", "value": 0.5})
            await until(lambda: rings.events.head == 1)
            event = newest(rings.events)
            assert (event["kind"], event["value"]) == (frame.GRAVITY, 0.5)
            where = [0.1, 0.2, 0.3, 0.0, 1.0, 0.0, 0.0]
            await second.say({"type": "event", "kind": "place", "body": 3, "placement": where})
            await until(lambda: rings.events.head == 2)
            event = newest(rings.events)
            assert (event["kind"], event["event_body"], event["placement"].tolist()) == (frame.PLACE, 3, where)

    asyncio.run(look())


def test_requests_are_answered_to_the_browser_that_made_them(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as first, client(page) as second:
            await first.request(5, "scene", name="arm")
            asked = await asyncio.to_thread(page.said)
            await second.request(5, "keep")
            other = await asyncio.to_thread(page.said)
            number = asked["request"]["id"]
            said = {"type": "request", "id": number, "what": "scene", "name": "arm", "hands": True}
            assert asked["request"] == said
            assert asked["request"]["id"] != other["request"]["id"]
            page.tell(id=other["request"]["id"], ok=False, error="nothing has moved yet")
            page.tell(id=asked["request"]["id"], ok=True, scene="arm")
            assert await first.answer() == {"type": "answer", "id": 5, "ok": True, "scene": "arm"}
            assert await second.answer() == {"type": "answer", "id": 5, "ok": False, "error": "nothing has moved yet"}
            page.tell(id=asked["request"]["id"], ok=True)  # a second time: to nobody

    asyncio.run(look())


def test_requests_that_are_too_much_at_once_are_answered_so_and_counted(rings: Rings, page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            for number in range(MOST_WAITING + 2):
                await browser.request(number, "motion")
            for number in (MOST_WAITING, MOST_WAITING + 1):
                answer = await browser.answer(id=number)
                assert not answer["ok"]
                assert answer["error"].startswith("too much at once")
            asked = [await asyncio.to_thread(page.said) for _ in range(MOST_WAITING)]
            page.tell(id=asked[0]["request"]["id"], ok=True)
            assert (await browser.answer(id=0))["ok"]
            await browser.request(1, "motion")  # its number is in use
            await browser.status(dropped=3)
            await browser.request(99, "motion")
            assert (await asyncio.to_thread(page.said))["request"]["what"] == "motion"
            async with client(page) as other:  # others are not concerned
                await other.request(1, "keep")
                assert (await asyncio.to_thread(page.said))["request"]["what"] == "keep"

    asyncio.run(look())


def test_refusals_are_fewer_than_what_was_too_much_and_the_rest_is_counted(rings: Rings, page: Page) -> None:
    """Whoever asks a thousand times at once is not told a thousand times; but it knows how often it was not heard."""

    async def look() -> None:
        async with client(page) as browser:
            for number in range(1000):
                await browser.request(number, "motion")
            refused = 0
            while True:
                said = await browser.hear(WSMsgType.TEXT)
                refused += said["type"] == "answer"
                if said["type"] == "status" and said["dropped"] == 1000 - MOST_WAITING:
                    break
            assert refused < 500
            await browser.say(LEFT)  # it is heard as before
            await until(lambda: held(rings) == [2, 0])

    asyncio.run(look())


def test_a_browser_cannot_say_for_itself_that_it_has_the_hands_nor_give_our_numbers(page: Page) -> None:
    async def look() -> None:
        async with client(page) as first, client(page) as second:
            await first.say(LEFT)
            await second.status(taken=True)
            twice = '{"type": "request", "id": 3, "what": "run", "hands": true, "id": 4, "name": "a\\nb"\n}\r\n '
            await second.say(twice)
            asked = await asyncio.to_thread(page.said)
            assert asked["request"] == {"type": "request", "id": 1, "what": "run", "hands": False, "name": "a\nb"}
            page.tell(id=1, ok=True)
            await second.answer(id=4, ok=True)

    asyncio.run(look())


@pytest.mark.parametrize(
    "said", [{"id": 1, "what": "quit"}, {"id": "1", "what": "keep"}, {"what": "keep"}, {"id": 1, "what": {}}]
)
def test_what_is_no_request_is_dropped_and_counted(page: Page, said: dict[str, Any]) -> None:
    async def look() -> None:
        async with client(page) as browser:
            await browser.say({"type": "request", **said})
            await browser.status(dropped=1)
            await browser.request(2, "keep")
            assert (await asyncio.to_thread(page.said))["request"]["what"] == "keep"

    asyncio.run(look())


def test_only_requests_may_be_large(page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            files = {"robot.urdf": "x" * 3_000_000}
            await browser.request(1, "robot", files=files)
            assert (await asyncio.to_thread(page.said))["request"]["files"] == files
            await browser.say({**HOLD, "more": "x" * 3_000_000})
            await browser.status(dropped=1)
            await browser.say(json.dumps({"type": "request", "id": 2, "what": "robot", "files": "x" * LONGEST_REQUEST}))
            await browser.status(dropped=2)

    asyncio.run(look())


def test_frames_and_hands_go_on_while_thirty_megabytes_come_in(rings: Rings, page: Page) -> None:
    """Nobody reads the request on the session's side until the end: the page does not wait for that either."""

    async def look() -> None:
        async with client(page) as sender, client(page) as other:
            text = json.dumps({"type": "request", "id": 1, "what": "robot", "files": {"a.stl": "x" * 30 * 2**20}})
            sending = asyncio.create_task(sender.say(text))
            for tick in range(1, 101):
                rings.frames.write(rings.layout.pack(tick=tick))
                assert int.from_bytes((await other.hear(WSMsgType.BINARY))[:8], "little") == tick
            await sending
            await other.say(RIGHT)
            await until(lambda: held(rings) == [0, 3])
            await sender.say(LEFT)  # after it in the same socket, so it has come in whole
            await sender.status(taken=True)
            for tick in range(101, 131):
                rings.frames.write(rings.layout.pack(tick=tick))
                assert int.from_bytes((await other.hear(WSMsgType.BINARY))[:8], "little") == tick
            asked = await asyncio.to_thread(page.said)
            assert len(asked["request"]["files"]["a.stl"]) == 30 * 2**20
            page.tell(id=asked["request"]["id"], ok=True, scene="a")
            assert (await sender.answer(id=1))["scene"] == "a"

    asyncio.run(look())


def test_of_long_requests_only_a_few_wait_and_then_there_is_room_again(page: Page) -> None:
    async def look() -> None:
        files = {"a.stl": "x" * 1_000_000}
        async with client(page) as first, client(page) as second:
            for number in range(MOST_LONG):
                await first.request(number, "robot", files=files)
            asked = [await asyncio.to_thread(page.said) for _ in range(MOST_LONG)]
            await second.request(1, "robot", files=files)
            assert "too much at once" in (await second.answer(id=1))["error"]
            await second.request(2, "keep")  # a short one is not concerned
            assert (await asyncio.to_thread(page.said))["request"]["what"] == "keep"
            page.tell(id=asked[0]["request"]["id"], ok=False, error="no robot")
            await first.answer(id=0)
            await second.request(3, "robot", files=files)
            assert (await asyncio.to_thread(page.said))["request"]["what"] == "robot"

    asyncio.run(look())


def test_what_a_page_said_is_not_kept_until_it_says_more(rings: Rings) -> None:
    class Text(str):
        """A text that can be watched."""

    class Silent:
        """A socket that brings one message, and then no more."""

        def __init__(self, text: str) -> None:
            self.messages = [SimpleNamespace(type=WSMsgType.TEXT, data=text)]

        def __aiter__(self) -> "Silent":
            return self

        async def __anext__(self) -> SimpleNamespace:
            if self.messages:
                return self.messages.pop()
            return await asyncio.get_running_loop().create_future()

    async def look() -> None:
        asked: list[int] = []
        hub = Hub(lambda line: asked.append(len(line)))
        text = Text(json.dumps({"type": "request", "id": 1, "what": "robot", "files": {"a": "x" * 5000}}))
        watched, browser = weakref.ref(text), Browser(Silent(text))  # type: ignore[arg-type]
        del text
        listening = asyncio.create_task(hub._listen(browser))
        await until(lambda: asked)
        await until(lambda: watched() is None)
        listening.cancel()

    asyncio.run(look())


def test_a_long_request_that_is_none_is_dropped_and_counted(page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            await browser.say('{"type": "request", "id": 1, "what": "robot", "files": {"a": "' + "x" * 100_000)
            await browser.say('{"type": "request", "id": -1, "what": "robot", "files": "' + "x" * 100_000 + '"}')
            await browser.say('{"type": "request", "id": 1, "what": "robot", "files": ' + "[" * 500_000)
            await browser.status(dropped=3)
            await browser.request(2, "keep")
            assert (await asyncio.to_thread(page.said))["request"]["what"] == "keep"

    asyncio.run(look())


# ---- browsers that do not read


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_what_waits_for_a_browser_that_does_not_read_has_a_bound(rings: Rings, page: Page) -> None:
    """It asks on and on and reads no answer: its eight answers wait, it is heard no more, and the others are."""
    many, answer = 200, {"text": "x" * 1_000_000}

    def answering() -> None:
        with contextlib.suppress(ValueError, OSError):  # until the page has gone
            while (line := page.stdout.readline()) and (asked := json.loads(line))["request"]["what"] != "remove":
                page.tell(id=asked["request"]["id"], ok=True, **answer)

    async def look() -> None:
        async with client(page) as other, client(page) as deaf:
            session = threading.Thread(target=answering, daemon=True)
            session.start()
            for number in range(many):
                await deaf.request(number, "motion")
            await other.request(1, "motion")
            await other.answer(id=1)
            for tick in range(1, 31):
                rings.frames.write(rings.layout.pack(tick=tick))
                await other.hear(WSMsgType.BINARY)
            # eight answers, each in a few forms (text, bytes, frames); not the many, which alone would be twice this
            assert memory_bytes(page) - before < 0.5 * many * len(answer["text"])
            await other.request(2, "remove")
            await asyncio.to_thread(session.join)

    before = memory_bytes(page)
    asyncio.run(look())


def memory_bytes(page: Page) -> int:
    """That the page's process has."""
    return 4096 * int(Path(f"/proc/{page.process.pid}/statm").read_text().split()[1])
