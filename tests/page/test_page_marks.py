"""Marks of a browser: the page's process says when they came, they wait for no other request, and they have bounds."""

import asyncio
import json
import time
from itertools import product

from clients import client
from fake_servo import Page

from palpate.page.messages import LONGEST
from palpate.page.sockets import MOST_LONG, MOST_WAITING
from palpate.record.marks import LARGEST_BYTES, MOST_LEVELS


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_a_mark_has_the_time_of_its_arrival_whatever_the_browser_says_of_it(page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            forgeries = ("-5", "0", '"now"', "1e99", "[1]", "null", "9" * 25, "true")
            for k, (size, forged) in enumerate(product((1, LONGEST, LARGEST_BYTES - 100), forgeries)):
                before_ns = time.monotonic_ns()
                await browser.say(
                    f'{{"type": "request", "arrived_ns": {forged}, "id": {k}, "what": "mark", "text": "x", '
                    f'"hands": true, "data": "old", "data": "{"y" * size}", "arrived_ns": {forged}}}'
                )
                asked = (await asyncio.to_thread(page.said))["request"]
                assert before_ns <= asked.pop("arrived_ns") <= time.monotonic_ns()
                assert asked == {"type": "request", "what": "mark", "text": "x", "data": "y" * size, "id": k + 1}
                page.tell(id=k + 1, ok=True)
                assert (await browser.answer(id=k))["ok"]

    asyncio.run(look())


def test_marks_are_passed_on_while_all_else_waits_for_its_answer(page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser, client(page) as other:
            for number in range(MOST_LONG):
                await other.request(number, "robot", files={"a": "x" * LONGEST})
            for number in range(MOST_WAITING):
                await browser.request(number, "motion")
            waiting = [await asyncio.to_thread(page.said) for _ in range(MOST_LONG + MOST_WAITING)]
            for number in range(100, 100 + 3 * MOST_WAITING):  # short ones and long ones
                before_ns = time.monotonic_ns()
                await browser.request(number, "mark", text="now", data="x" * (LONGEST * (number % 2)))
                asked = (await asyncio.to_thread(page.said))["request"]
                assert before_ns <= asked["arrived_ns"] <= time.monotonic_ns()
                page.tell(id=asked["id"], ok=True)
                assert (await browser.answer(id=number))["ok"]
            for number in range(200, 201 + MOST_WAITING):  # but of marks, too, there is a most
                await browser.request(number, "mark", text="now")
            assert (await browser.answer(id=200 + MOST_WAITING))["error"].startswith("too much at once")
            motions = [asked["request"]["id"] for asked in waiting if asked["request"]["what"] == "motion"]
            page.tell(id=motions[-1], ok=True)
            assert (await browser.answer(id=MOST_WAITING - 1))["ok"]

    asyncio.run(look())


REFUSED: dict[str, tuple[str, str]] = {
    "a level more": (nested(MOST_LEVELS + 1), f"at most {MOST_LEVELS} levels"),
    "deep": (nested(900), f"at most {MOST_LEVELS} levels"),
    "large": (json.dumps("x" * LARGEST_BYTES), "at most 64 kB"),
    "1 MB": (json.dumps("x" * 10**6), "at most 64 kB"),
    "infinite": ("[1e999]", "what JSON can hold"),
    "half a letter": ('"\\ud800"', "what JSON can hold"),
}


def test_a_mark_beyond_its_bounds_is_refused_in_one_line_to_whoever_sent_it(page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            for name, (data, words) in REFUSED.items():
                await browser.say(f'{{"type": "request", "id": 1, "what": "mark", "text": "x", "data": {data}}}')
                answer = await browser.answer(id=1)
                assert not answer["ok"], name
                assert words in answer["error"]
                assert "\n" not in answer["error"]
            for text in ("", 5, None, ["x"]):
                await browser.request(2, "mark", text=text)
                assert "a text of 1" in (await browser.answer(id=2))["error"]
            await browser.request(1, "mark", text="x")  # the number is free again, and only this one was passed on
            assert (await asyncio.to_thread(page.said))["request"]["text"] == "x"

    asyncio.run(look())


def test_what_json_cannot_hold_is_dropped_and_counted(page: Page) -> None:
    async def look() -> None:
        async with client(page) as browser:
            for n, data in enumerate((nested(100_000), "7" * 5000, "NaN"), 1):
                await browser.say(f'{{"type": "request", "id": 1, "what": "mark", "text": "x", "data": {data}}}')
                await browser.status(dropped=n)
            await browser.request(1, "mark", text="x")
            assert (await asyncio.to_thread(page.said))["request"]["text"] == "x"

    asyncio.run(look())
