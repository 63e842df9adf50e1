"""Takes the pictures of the page anew, from a page that runs: `python docs/pictures.py [NAME ...]`, without names all.

Each picture is a function that does what its caption says, in a tab of a real Chromium before `palpate touch`, and
returns what is cut out: None (everything), or the parts that must be seen.  By hand, not in CI: it needs playwright, a
Chromium and some minutes, for without a graphics card the processor draws.
"""

import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import camera
import numpy as np
from camera import Parts, Tab, keep, only, opened, passes, pull, seen, wait
from PIL import Image
from playwright.sync_api import sync_playwright

import palpate as pp
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted
from palpate.scenes.arm import arm, arm_line

STATIC = Path(__file__).parent / "_static"
SMALL: dict[str, Any] = {"viewport": {"width": 960, "height": 600}}


class Picture(NamedTuple):
    name: str
    arguments: tuple[str, ...]  # of `palpate touch`
    screen: dict[str, Any]
    quality: str  # plain: of panels, which need no fine scene behind them
    take: Callable[[Tab], Parts]


PICTURES: list[Picture] = []


def picture(
    *arguments: str, screen: dict[str, Any] = camera.DESKTOP, quality: str = "fine"
) -> Callable[[Callable[[Tab], Parts]], None]:
    """Of this scene, on this screen."""

    def listed(take: Callable[[Tab], Parts]) -> None:
        PICTURES.append(Picture(take.__name__.replace("_", "-"), arguments, screen, quality, take))

    return listed


@picture("arm", screen={"viewport": {"width": 1120, "height": 630}})
def touch(tab: Tab) -> Parts:
    only(tab, "plots")
    passes(tab, 6.0)  # for the plots
    pull(tab, "link3", 45, 45, speed="0.1")
    return None


@picture("hrp2", screen=SMALL)
def press(tab: Tab) -> Parts:
    only(tab)
    tab.page.click("[data-choice=press]")
    tab.grab("CHEST_JOINT1")
    tab.page.mouse.wheel(0, -60)
    passes(tab, 1.0)  # it leans, and presses back
    seen(tab, 5.0)
    return None


@picture("arm-rest", screen=SMALL | {"has_touch": True})
def two_hands(tab: Tab) -> Parts:
    only(tab)
    fingers = tab.fingers()
    places = [tab.still_at("link3"), tab.still_at("tool")]
    for finger, (x, y) in enumerate(places):
        fingers.down(finger, x, y)
        tab.until(f"frame().hand_body[{finger}] > 0")
    for k in range(1, 6):
        for finger, (x, y) in enumerate(places):
            fingers.move(finger, x + (12 if finger else -12) * k, y - 10 * k)
    tab.until("frame().hand_force.slice(3).some((x) => Math.abs(x) > 5)")
    passes(tab, 1.0)
    return None


@picture("arm-rest", screen=SMALL)
def keyboard(tab: Tab) -> Parts:
    only(tab)
    tab.page.focus(".stage")
    while tab.ask("chosen()") != "link3":
        tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Enter")
    tab.until("held() === 'link3'")
    tab.page.select_option(".speed", "0.1")
    tab.page.focus(".stage")
    for _ in range(4):
        tab.page.keyboard.press("ArrowUp")
        tab.page.keyboard.press("ArrowRight")
    seen(tab, 15.0)
    return None


@picture("carry-two")
def avatars(tab: Tab) -> Parts:
    only(tab, "plots")
    passes(tab, 14.0)  # they take the plank and lift it
    return None


@picture("planar-block", quality="plain")
def planar(tab: Tab) -> Parts:
    tab.page.locator(".actors .switch input").check()
    only(tab, "plots")
    tab.until("frame().compare === 1")
    x, y = tab.grab("handle")
    for k in range(1, 31):  # into a corner, and a little around
        tab.page.mouse.move(x + 5 * k, y + 4 * k)
        passes(tab, 0.03)
        if k % 10 == 0:
            tab.page.mouse.wheel(0, -120)
    tab.until("frame().contacts > 0")
    passes(tab, 1.0)
    return None


@picture("mobile", quality="plain")
def mobile(tab: Tab) -> Parts:
    only(tab, "plots")
    tab.page.keyboard.down("e")  # to the cube, and up to it
    tab.until("frame().mobile_user[2] < -0.4")
    tab.page.keyboard.up("e")
    passes(tab, 1.5)
    tab.page.keyboard.down("w")
    tab.until("frame().mobile_asked_N[0] > 2")
    tab.page.keyboard.up("w")
    passes(tab, 2.0)
    return None


@picture("arm-rest", quality="plain")
def scenes(tab: Tab) -> Parts:
    tab.page.click("[data-action=scenes]")
    loaded = "[...document.querySelectorAll('[data-scene] img')].every((x) => x.complete && x.naturalWidth > 0)"
    wait(lambda: tab.page.evaluate(loaded), "the pictures")
    return camera.DIALOG


@picture("arm-rest", quality="plain")
def controls(tab: Tab) -> Parts:
    only(tab, "controls")
    return ("#controls",)


@picture("human", quality="plain")
def health(tab: Tab) -> Parts:
    only(tab)
    tab.page.keyboard.press("i")
    wait(lambda: "Hz" in tab.text(".health-text"), "the health line")
    return ("header", ".counters")


@picture("arm", screen={"viewport": {"width": 1280, "height": 860}}, quality="plain")
def plots(tab: Tab) -> Parts:
    only(tab, "plots")
    tab.page.click("[data-plot=energy]")
    pull(tab, "link3", 60, 60)
    passes(tab, 1.0)
    tab.page.mouse.up()
    passes(tab, 4.0)
    return (".plots",)


@picture("arm-line")
def compare(tab: Tab) -> Parts:
    only(tab, "edit")
    tab.page.click("[data-edit=replay]")
    tab.until("frame().time_s < 1")
    pull(tab, "link3", 40, -70)
    passes(tab, 1.2)
    tab.page.mouse.up()
    tab.until("frame().edit_stage > 1")
    camera.at_rest(tab)
    tab.page.click("[data-edit=compare]:not([disabled])")
    wait(lambda: tab.shows(".compare table"), "the table")
    return None


@picture("arm-line")
def things(tab: Tab) -> Parts:
    only(tab, "edit")
    for kind in ("obstacle", "box", "ball"):
        tab.page.click(f"[data-add={kind}]:not([disabled])")
    wait(lambda: tab.page.locator(".obstacles li").count() >= 4, "they are listed")
    passes(tab, 2.0)
    tab.page.locator(".obstacle-part").scroll_into_view_if_needed()
    return None


@picture("arm-rest", screen={"viewport": {"width": 1100, "height": 760}}, quality="plain")
def experiment(tab: Tab) -> Parts:
    tab.page.click("[data-action=experiments]")
    tab.page.click("[data-experiment=arm-line]")
    tab.page.click("[data-experimenting=run]")
    drawn = "[...document.querySelectorAll('.figures img')].filter((x) => x.naturalWidth > 0).length > 0"
    for _ in range(10):  # it may have to compile first
        try:
            wait(lambda: tab.page.evaluate(drawn), "its figures")
            break
        except AssertionError:
            print("it still runs")
    tab.page.evaluate("document.querySelector('.lab .figures').scrollIntoView({block: 'center'})")
    return camera.DIALOG


@picture("arm-rest", quality="plain")
def experiments(tab: Tab) -> Parts:
    """After the one above: its results are in the list."""
    tab.page.click("[data-action=experiments]")
    wait(lambda: tab.shows("[data-experiment=arm-line]"), "the list")
    return camera.DIALOG


@picture("arm-rest", screen=SMALL)
def watching(tab: Tab) -> Parts:
    only(tab)
    other = Tab(tab.context, tab.page.url, tab.pictures)
    pull(other, "link3", 60, 60, speed="0.1")
    tab.page.bring_to_front()
    wait(lambda: "Another page has the hands" in tab.text(".banner"), "the banner")
    return None


@picture("hrp2", screen=camera.PHONE)
def phone(tab: Tab) -> Parts:
    fingers = tab.fingers()
    x, y = tab.still_at("CHEST_JOINT1")
    fingers.down(0, x, y)
    tab.until("held() !== ''")
    for k in range(1, 9):
        fingers.move(0, x + 7 * k, y)
    seen(tab, 5.0)
    return None


@picture("bridge", screen=SMALL | {"color_scheme": "dark"})
def dark(tab: Tab) -> Parts:
    only(tab)
    passes(tab, 3.0)
    return None


# ---- recordings


def recorded() -> Path:
    """A pulled arm, with two marks."""
    file = Path("pull.mcap")
    with pp.touch(arm(), page=False, record=file) as session:
        session.wait(1.0)
        for trial, way in (("soft", 0.06), ("stiff", 0.12)):
            session.mark("trial", {"condition": trial})
            for _ in range(30):
                session.hold("link3", (0.0, 0.0, 0.1), (0.45, 0.15 - way, 0.4))
                session.wait(0.05)
            session.let_go()
            session.wait(2.0)
    return file


def take_replay(browser: Any, folder: Path) -> None:
    with camera.replayed(recorded()) as url:
        tab = opened(browser, url, folder, SMALL)
        only(tab)
        camera.event(tab, "pause")
        tab.page.locator(".mark").last.dispatch_event("click")
        tab.until("frame().time_s > 4")  # the second marker; a little later the spring is stretched
        tab.page.evaluate(camera.SEEK, tab.ask("frame().time_s") + 0.2)
        seen(tab, 5.0)
        keep(tab, "replay", None, folder)


def take_film(browser: Any, folder: Path) -> None:
    """A hand pulls the tool past the obstacle and lets go: the arm goes on to the wall."""
    pulled = Scripted((Grasp("tool", 0.6, 1.5, to=(0.66, -0.17, -0.03), move_s=0.5),))
    file, seconds, rate_hz, hold_s = Path("film.mcap"), 3.2, 15, 1.2
    simulated_run(arm_line(), round(1000 * seconds), pulled, record=file)
    images = []
    with camera.replayed(file) as url:
        tab = opened(browser, url, folder, {"viewport": {"width": 800, "height": 534}})
        only(tab)
        tab.page.add_style_tag(content="header, .transport, .notices { visibility: hidden }")
        camera.event(tab, "pause")
        for _ in range(2):
            tab.page.keyboard.press("PageUp")  # nearer
        for time_s in np.arange(0.0, seconds, 1.0 / rate_hz):
            tab.page.evaluate(camera.SEEK, time_s)
            wait(lambda time_s=time_s: abs(tab.ask("frame().time_s") - time_s) < 2e-3, "the moment")
            camera.settled(tab)
            images.append(Image.open(BytesIO(tab.page.screenshot())).convert("RGB").resize((640, 427), Image.LANCZOS))
    pauses = [round(1000 / rate_hz)] * (len(images) - 1) + [round(1000 * hold_s)]
    images[0].save(folder / "pull.webp", save_all=True, append_images=images[1:], duration=pauses, loop=0, quality=80)
    print(f"pull.webp: {(folder / 'pull.webp').stat().st_size / 1000:.0f} kB")


def main(*names: str) -> None:
    folder = STATIC / "page"
    folder.mkdir(exist_ok=True)
    wanted = [p for p in PICTURES if not names or p.name in names]
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch), sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=camera.chromium_path(), args=camera.FLAGS, timeout=1000 * camera.WAIT_S
        )
        for arguments, group in groupby(sorted(wanted, key=lambda p: p.arguments), key=lambda p: p.arguments):
            with camera.touched(*arguments) as url:
                for p in group:
                    tab = opened(browser, url, folder, p.screen, p.quality)
                    tab.page.select_option(".speed", "1")
                    tab.page.keyboard.press("r")
                    keep(tab, p.name, p.take(tab), folder)
                    tab.context.close()
        if not names or "replay" in names:
            take_replay(browser, folder)
        if not names or "pull" in names:
            take_film(browser, folder)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
