"""For docs/pictures.py: a person before the page, a page that runs, and what is cut out of the screen and kept."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "page"))
from browsing import DESKTOP, FLAGS, PHONE, WAIT_S, Tab, Touched, chromium_path, wait  # noqa: F401

MARGIN_PX = 8  # around what is cut out
LARGEST_BYTES = 100_000  # of a picture; larger ones get fewer colours
Parts = tuple[str, ...] | None  # of the page, as CSS selectors; None: all of it
DIALOG: Parts = ("dialog[open]",)
# Without a graphics card a fine picture may take so long that a hand falls silent meanwhile: some rest between them. No
# longer than the page goes on drawing after a change, or the last one would never be seen.
UNHURRIED = """const soon = requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (draw) => setTimeout(() => soon(draw), 200);"""


def opened(browser: Any, url: str, folder: Path, screen: dict[str, Any], quality: str = "fine") -> Tab:
    context = browser.new_context(**screen)
    if quality == "fine":
        context.add_init_script(UNHURRIED)
    return Tab(context, f"{url}{'&' if '?' in url else '?'}quality={quality}", folder)


# ---- what a person does


def only(tab: Tab, *panels: str) -> None:
    """Opens these panels and folds the others."""
    for name in ("edit", "controls", "plots"):
        button = tab.page.locator(f"[data-action={name}]")
        if button.count() and (button.get_attribute("aria-expanded") == "true") != (name in panels):
            button.click()
    tab.page.keyboard.press("f")  # the scene fits into what is left


def take(tab: Tab, body: str) -> tuple[float, float]:
    """Takes hold of a body that may move; where that was."""
    for _ in range(20):
        x, y = tab.at(body)
        tab.page.mouse.move(x, y)
        tab.page.mouse.down()
        if tab.ask("held()") == body:
            return x, y
        tab.page.mouse.up()
    raise AssertionError(f"{body} could not be taken")


def pull(tab: Tab, body: str, right: float, up: float, speed: str = "1") -> None:
    """Takes a body and pulls it by so many pixels, until it pulls back."""
    tab.page.select_option(".speed", "0.1")  # what moves can be caught
    x, y = take(tab, body)
    tab.page.select_option(".speed", speed)  # what yields has soon followed the hand: slowly that can be seen
    tab.page.mouse.move(x + right, y - up, steps=6)
    seen(tab)


def seen(tab: Tab, least_N: float = 10.0) -> None:
    """A force is drawn; what the servo has may be newer."""
    wait(lambda: float(tab.text(".force-label").split(" ")[0] or 0.0) >= least_N, "a force to be seen")


def event(tab: Tab, action: str) -> None:
    """Presses play or pause, unless it does so already."""
    if tab.page.locator(f"[data-action={action}]").count():
        tab.page.evaluate("document.activeElement.blur()")  # a focused button would take the key
        tab.page.keyboard.press(" ")
        wait(lambda: not tab.page.locator(f"[data-action={action}]").count(), action)


def passes(tab: Tab, seconds: float) -> None:
    """Simulated time passes."""
    begin = tab.ask("frame().time_s")
    tab.until(f"frame().time_s > {begin + seconds}")


def at_rest(tab: Tab) -> None:
    tab.until("frame().v.every((x) => Math.abs(x) < 1e-3)")


# ---- pages that run


@contextmanager
def touched(*arguments: str) -> Iterator[str]:
    """The page's address, of a scene that runs."""
    running = Touched(*arguments)
    try:
        yield running.url
    finally:
        running.end()


@contextmanager
def replayed(file: Path) -> Iterator[str]:
    """The page's address, of a recording."""
    command = [sys.executable, "-m", "palpate", "replay", str(file), "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield next(line for line in process.stdout if "the page is at " in line).split("the page is at ")[1].split()[0]
    finally:
        process.terminate()
        process.wait()


SEEK = """(s) => { const bar = document.querySelector('.scrub'); bar.value = s;
    bar.dispatchEvent(new Event('input')); }"""


def settled(tab: Tab) -> None:
    """The newest frame is drawn: what is between frames has passed, and two more pictures."""
    tab.page.evaluate(
        "() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 200))"
    )


def keep(tab: Tab, name: str, parts: Parts, folder: Path) -> None:
    boxes = [box for part in parts or () if (box := tab.page.locator(part).first.bounding_box())]
    clip = None
    if boxes:
        size = tab.page.viewport_size
        margin = 0 if parts == DIALOG else MARGIN_PX
        left, top = (max(0.0, min(box[k] for box in boxes) - margin) for k in ("x", "y"))
        right = min(size["width"], max(box["x"] + box["width"] for box in boxes) + margin)
        bottom = min(size["height"], max(box["y"] + box["height"] for box in boxes) + margin)
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    file = folder / f"{name}.png"
    cut = Image.open(BytesIO(tab.page.screenshot(clip=clip))).convert("RGB")
    cut.save(file, optimize=True)
    if file.stat().st_size > LARGEST_BYTES:  # the scene's soft colours are many
        cut.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB", flush=True)
