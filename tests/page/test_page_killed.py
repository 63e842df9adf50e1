"""kill -9 of the page's process at random moments: the hand lets go, the servo goes on, the page comes back.

A real servo, the real page, and a person without a browser who holds the arm.  Nothing is timed by a clock: how old a
hand may get is read from the frames, in the servo's own time.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator

import aiohttp
import numpy as np
import pytest
from clients import Client, connected
from waiting import WAIT_S
from waiting import until_async as until

from palpate import jit
from palpate.frame import COUNTERS, RUNNING
from palpate.runtime.watch import MOST_RESTARTS
from palpate.runtime.world.session import WorldSession
from palpate.scenes.arm import arm_at_rest
from palpate.servo.ring import Follower

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.usefixtures("built"),
    pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
]
SAID_AGAIN_S = 0.02  # a page says every 33 ms what it holds
STALE_S = 0.1  # the promise: a hand that is not heard of for longer is let go
LOOK_S = 0.05
HAND_STALE = COUNTERS.index("hand_stale")


class Witness:
    """Reads every frame of a session along."""

    def __init__(self, session: WorldSession) -> None:
        self.layout, self.follower = session.simulation.layout, Follower(session.simulation.frames)
        self.frames: list[np.ndarray] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        over = False
        while not over:
            over = self._over.wait(LOOK_S)  # asked first: what was published before the end is still read
            self.frames += self.follower.read()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def all(self, name: str) -> np.ndarray:
        return np.array([self.layout.read(words, name) for words in self.frames])


@pytest.fixture
def session() -> Iterator[WorldSession]:
    with WorldSession(arm_at_rest(), page=True, port=0) as running:
        yield running


@pytest.fixture
def witness(session: WorldSession) -> Iterator[Witness]:
    made = Witness(session)
    yield made
    made.close()


def act(person: Callable[[], Awaitable[None]]) -> None:
    """What a person does, if it does not take for ever."""
    asyncio.run(asyncio.wait_for(person(), (MOST_RESTARTS + 1) * WAIT_S))


async def come_back(session: WorldSession, person: Callable[[Client], Awaitable[None]]) -> None:
    """Connect as soon as somebody is there, at the address that the page always had; it may die meanwhile."""
    try:
        async with asyncio.timeout(WAIT_S):
            done = False
            while not done:
                try:
                    async with connected(session.url) as client:
                        await person(client)
                        done = True  # even if the page is no more, and cannot be taken leave of
                except (aiohttp.ClientError, ConnectionError, AssertionError, TypeError):
                    await asyncio.sleep(SAID_AGAIN_S)  # nobody there yet, or no more
    except TimeoutError:
        pytest.fail(f"the page did not come back: {session.report.notes}")


def kill(session: WorldSession) -> int:
    """The page's process, at once; its number."""
    child = session.page.process.process
    child.kill()
    child.wait()
    return int(child.pid)


async def keep_holding(session: WorldSession, client: Client, seconds: float) -> None:
    """Take hold of the arm and keep it: say so again and again, for so long once the servo holds."""
    tool = session.scene.model.body("tool")
    target = (session.frame()["pose"][tool][:3] + (0.0, 0.0, 0.05)).tolist()
    hand = {"type": "hand", "body": tool, "at_body": [0, 0, 0], "target": target, "stiffness": 800}
    while session.frame()["hand_body"][0] != tool:
        await client.say(hand)
        await asyncio.sleep(SAID_AGAIN_S)
    begun = session.frame()["tick"]
    while session.frame()["tick"] < begun + seconds * session.simulation.rate_hz:
        await client.say(hand)
        await asyncio.sleep(min(SAID_AGAIN_S, seconds))


def check_the_servo(session: WorldSession, witness: Witness) -> None:
    """Undisturbed: one tick after the other, no fault, and no hand older than it may be."""
    witness.close()
    ticks, held, ages = witness.all("tick"), witness.all("hand_body") != 0, witness.all("hand_age_s")
    missing = np.diff(ticks) - 1
    assert (missing >= 0).all()
    assert missing.sum() == witness.follower.lost  # that this witness missed: none, unless the machine stood still
    assert (witness.all("state")[ticks > ticks[0] + 100] == RUNNING).all()
    assert held.any()
    assert ages[held].max() <= STALE_S
    assert not any("stopped" in note for note in session.report.notes)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_the_hand_lets_go_the_servo_goes_on_and_the_page_comes_back_where_it_was(session, witness, seed):
    """As often as a session starts its page again; each time in the middle of a drag."""
    rng, url, killed = np.random.default_rng(seed), session.url, []

    async def person() -> None:
        for _ in range(MOST_RESTARTS):

            async def drag(client: Client) -> None:
                await keep_holding(session, client, rng.uniform(0.0, 0.1))
                killed.append(kill(session))

            await come_back(session, drag)
            await until(lambda: session.frame()["hand_body"][0] == 0)

        async def look(client: Client) -> None:
            assert client.hello["scene"] == session.scene.name
            seen = [await client.hear(aiohttp.WSMsgType.BINARY, WAIT_S) for _ in range(2)]
            assert seen[0] != seen[1]  # it moves on
            await keep_holding(session, client, 0.0)  # and can be touched

        await come_back(session, look)

    act(person)
    assert session.url == url
    assert len(set(killed)) == MOST_RESTARTS  # another process each time
    check_the_servo(session, witness)
    assert session.report.notes.count("the page ended and was started again") == MOST_RESTARTS
    assert session.frame()["counters"][HAND_STALE] >= MOST_RESTARTS


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_page_killed_while_it_starts_is_started_once_more(session, witness, seed):
    """Whatever it was doing: loading, opening the rings, listening, greeting."""
    rng, url = np.random.default_rng(100 + seed), session.url

    async def person() -> None:
        for k in range(MOST_RESTARTS):
            old = session.page.process
            kill(session)
            if k < MOST_RESTARTS - 1:  # the last one may live
                await until(lambda old=old: session.page.process is not old)
                await asyncio.sleep(rng.uniform(0.0, 0.8))  # a random moment of its start

        async def touch(client: Client) -> None:
            await keep_holding(session, client, 0.05)

        await come_back(session, touch)

    act(person)
    assert session.url == url
    check_the_servo(session, witness)
