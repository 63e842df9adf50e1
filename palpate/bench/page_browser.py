"""The page in a real Chromium: from a pointer that moves to the picture that shows its force.

A script in the page notes when it sends a hand, and what pointer event that was for; when it shows another frame; and
whether it drew.  Its clock is compared with ours by asking for it again and again: it lies between when we asked and
when the answer came, and the shortest question tells most.

pointer   the event's own time                        sent     handed to the page's socket
page      understood by the page's process            force    the tick that used it began
drawn     the picture of a frame at or after that tick was handed over
"""

from __future__ import annotations

import math
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.servo.ring import Follower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from palpate.runtime.world.session import WorldSession

WINDOW = {"width": 1280, "height": 720}
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
)  # fmt: skip
PATIENCE_S, LOOK_S = 60.0, 0.02
CLOCK_QUESTIONS = 25
AROUND_PX, AROUND_STEPS = 40.0, 23  # the circle that the pointer goes
BETWEEN_S = (0.02, 0.06)  # two moves, at random
LEAST_MOVES = 12  # on a machine that hardly draws
STAGES = ("pointer to message", "message to page", "page to force", "force to picture", "pointer to picture")
USED_WITHIN_NS = 1000  # an age is a float: a microsecond for its rounding

NOTES = """
(() => {
  const notes = (window.__notes = { sent: [], shown: [], pictures: 0, passes: 0 });
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (order, ...more) {
    post.call(this, order, ...more);
    if (order?.do !== "send" || order.message.type !== "hand" || window.event?.type !== "pointermove") return;
    notes.sent.push([window.event.timeStamp, performance.now(), ...order.message.target]);
  };
  let drew = false;
  for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
    const draw = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...all) { drew = true; return draw.apply(this, all); };
  }
  const after = new MessageChannel(); // what it brings comes after the picture that is being made
  let tick = -1;
  after.port1.onmessage = (event) => notes.shown.push([event.data, performance.now()]);
  const look = () => {
    notes.passes += 1;
    if (drew) notes.pictures += 1;
    drew = false;
    const frame = window.__palpate?.frame();
    if (frame && frame.tick !== tick) after.port2.postMessage((tick = frame.tick));
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""


def missing() -> str:
    """Why nothing can be measured in a browser here; empty if it can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed"
    return "" if chromium_path() else "no Chromium on this machine"


def chromium_path() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window; pictures are drawn by the processor."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium_path(), args=list(FLAGS), timeout=1000 * PATIENCE_S)
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """One open page of a session."""

    def __init__(self, browser: Any, session: WorldSession) -> None:
        self.session, self.context = session, browser.new_context(viewport=WINDOW)
        self.context.add_init_script(NOTES)
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE_S)
        self.page.goto(session.url)
        self.until("connected()")

    def close(self) -> None:
        self.context.close()

    def ask(self, what: str) -> Any:
        return self.page.evaluate(f"window.__palpate && window.__palpate.{what}")

    def until(self, what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not self.ask(what):
            if time.monotonic() > end:
                raise RuntimeError(f"the page in Chromium did not come to {what}")
            time.sleep(LOOK_S)

    def grab(self, body_name: str) -> dict[str, float]:
        """Take hold of a body in its middle, which may be moving; where that is."""
        end, step = time.monotonic() + PATIENCE_S, 0
        while time.monotonic() < end:
            at, step = self.ask(f"projected({body_name!r})"), step + 1
            self.page.mouse.move(at["x"] + step % 2, at["y"])
            if self.ask("hovered()") == body_name:
                self.page.mouse.down()
                if self.ask("held()") == body_name:
                    return {"x": at["x"], "y": at["y"]}
                self.page.mouse.up()
            time.sleep(LOOK_S)
        raise RuntimeError(f"the page in Chromium could not take hold of {body_name!r}")

    # ---- what is measured

    def pictures(self, seconds: float) -> dict[str, float]:
        """Pictures drawn and frames shown in a second, while nobody touches anything."""
        count = "[performance.now(), __notes.pictures, __notes.shown.length, __notes.passes]"
        before = self.page.evaluate(count)
        time.sleep(seconds)
        after = self.page.evaluate(count)
        passed_s = 1e-3 * (after[0] - before[0])
        drawn, shown, passes = ((b - a) / passed_s for a, b in zip(before[1:], after[1:], strict=True))
        return {"drawn_hz": drawn, "shown_hz": shown, "passes_hz": passes}

    def drag(self, body_name: str, seconds: float, seed: int = 1) -> tuple[dict[str, list[float]], float]:
        """Hold a body and lead it around; times [ms] between the stages of every move that came through, and how far
        off the page's clock may be [ms]."""
        rng, engine, layout = np.random.default_rng(seed), self.session.simulation, self.session.simulation.layout
        at = self.grab(body_name)
        self.page.evaluate("__notes.sent.length = __notes.shown.length = 0")
        hands, frames = Follower(engine.hands), Follower(engine.frames)
        took, used = [], []  # hands (target, when understood); frames (tick, when, whose hand was used)
        until, step = time.monotonic() + seconds, 0
        while time.monotonic() < until or step < LEAST_MOVES:
            angle, step = 2.0 * math.pi * step / AROUND_STEPS, step + 1
            self.page.mouse.move(at["x"] + AROUND_PX * math.sin(angle), at["y"] - AROUND_PX * math.cos(angle))
            time.sleep(rng.uniform(*BETWEEN_S))
            took += [(tuple(engine.hand_layout.read(m, "target")), engine.hand_layout.read(m, "sent_ns"))
                     for m in hands.read()]  # fmt: skip
            used += [_used(layout, m) for m in frames.read() if layout.read(m, "hand_body")[0] != 0]
        clock_ms, off_ms = compared(lambda: self.page.evaluate("performance.now()"))
        notes = self.page.evaluate("__notes")
        self.page.mouse.up()
        return stages(notes["sent"], took, used, notes["shown"], clock_ms), off_ms


def _used(layout: Any, words: np.ndarray) -> tuple[int, int, int]:
    wall_ns = layout.read(words, "wall_ns")
    return layout.read(words, "tick"), wall_ns, wall_ns - round(1e9 * layout.read(words, "hand_age_s")[0])


def compared(now_ms: Callable[[], float]) -> tuple[float, float]:
    """(our monotonic clock when another showed 0, how far off that may be) [ms], from the shortest question."""
    best = (0.0, math.inf)
    for _ in range(CLOCK_QUESTIONS):
        before = 1e-6 * time.monotonic_ns()
        there = now_ms()
        after = 1e-6 * time.monotonic_ns()
        if 0.5 * (after - before) < best[1]:
            best = (0.5 * (before + after) - there, 0.5 * (after - before))
    return best


def stages(
    sent: list[list[float]],
    took: list[tuple[tuple[float, ...], int]],
    used: list[tuple[int, int, int]],
    shown: list[list[float]],
    clock_ms: float,
) -> dict[str, list[float]]:
    """Times [ms] of every move that was followed to the picture.

    sent   (event, message: the page's clock [ms], target x, y, z);     took   (target, understood [ns])
    used   (tick, its beginning [ns], its hand's sent_ns);              shown  (tick, the page's clock [ms])
    """
    understood: dict[tuple[float, ...], int] = {}
    for place, ns in took:  # what a hand holds is said again and again: the first time counts
        understood.setdefault(place, ns)
    times: dict[str, list[float]] = {name: [] for name in STAGES}
    for event_ms, message_ms, *target in sent:
        taken_ns = understood.get(tuple(target))
        used_by = next((u for u in used if taken_ns is not None and u[2] >= taken_ns - USED_WITHIN_NS), None)
        picture = next((s for s in shown if used_by is not None and s[0] >= used_by[0]), None)
        if taken_ns is None or used_by is None or picture is None:
            continue
        at_ms = (event_ms + clock_ms, message_ms + clock_ms, 1e-6 * taken_ns, 1e-6 * used_by[1], picture[1] + clock_ms)
        for name, begin, end in zip(STAGES, (*at_ms[:-1], at_ms[0]), (*at_ms[1:], at_ms[-1]), strict=True):
            times[name].append(end - begin)
    return times
