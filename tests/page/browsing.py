"""A person before a browser: a tab of a real Chromium, `palpate touch` in a process of its own, and another page that
only watches, so that what a tab shows can be held against what the servo says.

`PALPATE_SCREENSHOTS=folder` keeps the pictures.  Software rendering is slow: times are generous, states are waited for.
"""

import asyncio
import itertools
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import matplotlib.image
import numpy as np
from aiohttp import WSMsgType
from clients import Client, greeted
from waiting import WAIT_S
from waiting import until as wait

from palpate.frame import Layout

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]  # fmt: skip
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 720}}
WINDOW: dict[str, Any] = {"viewport": {"width": 880, "height": 520}}  # fewer pixels, where looks do not matter
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# What a browser says by itself when a server is not there; the page is not to blame.
ABSENCE = ("WebSocket connection", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
KEPT_FRAMES = 2000
STILL_NS, STILL_PX = 1e8, 0.5  # what was seen to move less in a tenth of a second of the servo's clock stands
STEADY_NS, STEADY_FRAMES = 2e8, 5
# A screen of eight pictures a second: each takes the processor 30 ms, and a servo wants its thousand ticks beside it.
SCREEN = """(() => {
    const [show, every] = [requestAnimationFrame.bind(window), 120];
    let [next, now, number, due, last] = [new Map(), new Map(), 0, false, 0];
    const picture = (time) => {
        [now, next, due, last] = [next, new Map(), false, performance.now()];
        for (const draw of now.values()) {
            try { draw(time); } catch (error) { reportError(error); }
        }
    };
    window.requestAnimationFrame = (draw) => {
        next.set(++number, draw);
        if (!due) setTimeout(() => show(picture), last + every - performance.now());
        due = true;
        return number;
    };
    window.cancelAnimationFrame = (which) => [next, now].forEach((some) => some.delete(which));
})()"""


def chromium_path() -> str | None:
    """Of a browser on this machine."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Tab:
    """One open page: what is in it, and what it complained about."""

    def __init__(self, context: Any, url: str, pictures: Path | None, until: str = "connected()") -> None:
        assert url, "the page did not start"
        self.context, self.page, self.pictures = context, context.new_page(), pictures
        self.page.set_default_timeout(1000 * WAIT_S)
        self.complaints: list[str] = []
        self.forgiven: tuple[str, ...] = ()  # words of complaints that are none
        self.page.on("console", lambda said: said.type == "error" and self.complain(said.text))
        self.page.on("pageerror", lambda error: self.complain(str(error)))
        self.page.on("requestfailed", lambda request: self.complain(f"{request.url}: {request.failure}"))
        self.page.on("response", lambda a: a.status >= 400 and self.complain(f"{a.url}: {a.status}"))
        self.page.goto(url)
        self.until(until)

    def ask(self, what: str) -> Any:
        return self.page.evaluate(f"window.__palpate && window.__palpate.{what}")

    def until(self, what: str) -> None:
        wait(lambda: self.ask(what), what)

    def at(self, body: str) -> tuple[float, float]:
        """Where a body is seen [px]."""
        place = self.ask(f"projected({body!r})")
        return place["x"], place["y"]

    def shows(self, selector: str) -> bool:
        return bool(self.page.locator(selector).is_visible())

    def text(self, selector: str) -> str:
        """What is written there; nothing if it is not there."""
        return str(self.page.evaluate("x => document.querySelector(x)?.innerText ?? ''", selector))

    def picture(self) -> None:
        """Until what has happened to the page so far is drawn; what the page does for its next picture comes first."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(done))")

    def hover(self, body: str) -> tuple[float, float]:
        """Puts the pointer on the middle of a body that stands; where that is."""
        x = y = 0.0

        def over() -> bool:  # a page that was behind another may have shown for a while where the body had been
            nonlocal x, y
            x, y = self.still_at(body)
            self.page.mouse.move(x, y)
            self.picture()
            return bool(self.ask(f"hovered() === {body!r}"))

        wait(over, f"the pointer over {body}")
        return x, y

    def grab(self, body: str) -> tuple[float, float]:
        """Takes hold of a body in its middle; where that is."""
        self.page.bring_to_front()
        while True:
            x, y = self.hover(body)
            self.page.mouse.down()
            self.picture()
            if self.ask(f"held() === {body!r}"):
                return x, y
            # It may have gone from under the pointer; what stands must have been taken.
            assert np.hypot(*np.subtract(self.at(body), (x, y))) > STILL_PX, f"{body} was not taken"
            self.page.mouse.up()

    def still_at(self, body: str) -> tuple[float, float]:
        """Where a body is seen once it has come to rest there, and the camera too."""

        def seen() -> tuple[float, tuple[float, float]]:
            self.picture()
            return self.ask("frame().wall_ns"), self.at(body)

        before = seen()

        def rests() -> bool:
            nonlocal before
            now = seen()
            moved = float(np.hypot(*np.subtract(now[1], before[1]))) >= STILL_PX
            if moved or now[0] < before[0]:
                before = now
            return now[0] >= before[0] + STILL_NS  # to a page that gets no frames, everything stands

        wait(rests, f"{body} comes to rest")
        return before[1]

    def keep(self, name: str) -> None:
        """A picture for people, if they want any."""
        if self.pictures is not None:
            self.page.screenshot(path=self.pictures / f"{name}.png")

    def pixels(self, clip: tuple[float, float, float, float]) -> np.ndarray:
        """What is seen in (x, y, width, height): rows of red, green, blue, 0 .. 255."""
        x, y, width, height = clip
        picture = self.page.screenshot(clip={"x": x, "y": y, "width": width, "height": height})
        return np.rint(255 * matplotlib.image.imread(BytesIO(picture))[..., :3])

    def complain(self, said: str) -> None:
        """What the page or its browser found wrong."""
        if not any(word in said for word in self.forgiven):
            self.complaints.append(said)

    def forgive_absence(self) -> None:
        """The server was gone for a while, or is now, and that was meant to be."""
        self.forgiven = ABSENCE
        self.complaints = [said for said in self.complaints if not any(word in said for word in ABSENCE)]

    def fingers(self) -> "Fingers":
        return Fingers(self)


Open = Callable[..., Tab]  # (address, script="", **options of a browser's context)


class Fingers:
    """A touch screen: fingers come, move and go."""

    def __init__(self, tab: Tab) -> None:
        self._input = tab.context.new_cdp_session(tab.page)

    def down(self, finger: int, x: float, y: float) -> None:
        self._tell("touchStart", finger, x, y)

    def move(self, finger: int, x: float, y: float) -> None:
        self._tell("touchMove", finger, x, y)

    def up(self, finger: int, x: float = 0.0, y: float = 0.0) -> None:
        self._tell("touchEnd", finger, x, y)

    def _tell(self, what: str, finger: int, x: float, y: float) -> None:
        points = [{"id": finger, "x": x, "y": y}]
        self._input.send("Input.dispatchTouchEvent", {"type": what, "touchPoints": points})


class Touched:
    """`palpate touch SCENE`, or `replay FILE`, as a person starts it: its page's address, and what it printed."""

    def __init__(self, *arguments: str, port: int = 0, command: str = "touch") -> None:
        words = [sys.executable, "-m", "palpate", command, *arguments, "--no-browser", "--port", str(port)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        self.said: list[str] = []
        self.url = ""
        for line in self.process.stdout:  # kernels may have to be compiled first
            self.said.append(line)
            if "the page is at " in line:
                self.url = line.split("the page is at ")[1].split()[0]
                break
        self._listening = threading.Thread(target=lambda: self.said.extend(self.process.stdout), daemon=True)
        self._listening.start()
        assert self.url, "".join(self.said)

    def end(self, *, kill: bool = False) -> None:
        """As Ctrl-C does it, or by kill -9."""
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.wait(timeout=WAIT_S)
        self._listening.join(WAIT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Watcher:
    """Another page, without a browser: it has the servo's frames as they come, and can request things."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.hello: dict[str, Any] = {}
        self.frames: deque[dict[str, Any]] = deque(maxlen=KEPT_FRAMES)
        self._numbers, self._answers = itertools.count(1), dict[int, dict[str, Any]]()
        self._loop, self._client, self._over = asyncio.new_event_loop(), None, False
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._watch()), daemon=True)
        self._thread.start()
        wait(lambda: self.frames, "frames")

    def frame(self) -> dict[str, Any]:
        """The newest."""
        return self.frames[-1]

    def since(self, tick: int) -> list[dict[str, Any]]:
        """Those after a tick, as far as they are kept."""
        return [f for f in self.frames.copy() if f["tick"] > tick]

    def later_than(self, wall_ns: int) -> list[dict[str, Any]]:
        """Those after a moment of the servo's clock: what was so for a while only is not missed on a busy machine."""
        return [f for f in self.frames.copy() if f["wall_ns"] > wall_ns]

    def began_after(self, wall_ns: int) -> bool:
        """Whether time began anew after that moment of the servo's clock, at its usual speed."""
        f = self.frame()
        return bool(f["wall_ns"] - 1e9 * f["time_s"] > wall_ns)

    def steady(self, so: Callable[[dict[str, Any]], Any]) -> bool:
        """Whether it was so in all frames of the last fifth of a second, of which there are some."""
        frames = list(self.frames.copy())
        since, some = frames[-1]["wall_ns"] - STEADY_NS, frames[-STEADY_FRAMES:]
        last = [f for f in frames if f["wall_ns"] >= min(since, some[0]["wall_ns"])]
        return len(last) < len(frames) and all(so(f) for f in last)

    def body(self, name: str) -> int:
        return [body["name"] for body in self.hello["bodies"]].index(name)

    def force_N(self, hand: int = 0) -> float:
        return float(np.linalg.norm(self.frame()["hand_force"][hand]))

    def place(self, body: str) -> np.ndarray:
        """Where a body is (3,) [m]."""
        return np.array(self.frame()["pose"][self.body(body), :3])

    def request(self, what: str, **more: Any) -> dict[str, Any]:
        """The session's answer."""
        number, client = next(self._numbers), self._client
        assert client is not None
        asyncio.run_coroutine_threadsafe(client.request(number, what, **more), self._loop).result(WAIT_S)
        answer: dict[str, Any] = wait(lambda: self._answers.pop(number, None), what)
        return answer

    def say(self, message: dict[str, Any]) -> None:
        assert self._client is not None
        asyncio.run_coroutine_threadsafe(self._client.say(message), self._loop).result(WAIT_S)

    def end(self) -> None:
        self._over = True
        self._thread.join(WAIT_S)
        self._loop.close()

    async def _watch(self) -> None:
        where = urlsplit(self.url)._replace(path="/ws").geturl()
        while not self._over:
            try:
                async with aiohttp.ClientSession() as session, session.ws_connect(where, max_msg_size=0) as ws:
                    await self._hear(await greeted(ws))
            except (aiohttp.ClientError, OSError, TypeError):  # it is gone, or on its way to another scene
                await asyncio.sleep(0.1)

    async def _hear(self, client: Client) -> None:
        self.hello, self._client = client.hello, client
        layout = Layout.described(client.hello["frame"])
        while not self._over:
            try:
                message = await client.ws.receive(timeout=0.2)
            except TimeoutError:
                continue
            if message.type is WSMsgType.BINARY:
                self.frames.append(layout.unpack(np.frombuffer(message.data, dtype=np.int64)))
            elif message.type is WSMsgType.TEXT:
                said = message.json()
                if said["type"] == "answer":
                    self._answers[said["id"]] = said
            else:
                return


@contextmanager
def touched(*arguments: str) -> Iterator[tuple[str, Watcher]]:
    """A scene that runs: its page's address, and one who watches."""
    running = Touched(*arguments)
    try:
        watcher = Watcher(running.url)
        yield running.url, watcher
        watcher.end()
    finally:
        running.end()
