"""The page on a phone and on a desktop, dark and light, by `palpate touch arm-line`: nothing overlaps or is outside."""

from typing import Any

import numpy as np
import pytest
from browsing import DESKTOP, PHONE, Open, Tab, Watcher, wait

pytestmark = pytest.mark.browser
SCENE = "arm-line"  # that is served

SCREENS: dict[str, dict[str, Any]] = {"phone": PHONE, "desktop": DESKTOP}
PANELS = ("edit", "controls", "plots")
FINGER_PX = 40  # what a finger hits

# Parts that lie over the scene, side by side: two of them on each other would hide something.
PARTS = """() => [...document.querySelectorAll('header > *, .side, .plots, .notice, .transport')]
    .filter((x) => x.checkVisibility({visibilityProperty: true, opacityProperty: true}))
    .map((x) => ({name: x.className || x.tagName, b: x.getBoundingClientRect()}))
    .filter(({b}) => b.width > 0 && b.height > 0)
    .map(({name, b}) => ({name, box: [b.left, b.top, b.right, b.bottom]}))"""
# Buttons and fields that are shown; of a switch, and of a field for files, its whole label.
TARGETS = """(within) => [...document.querySelectorAll(within)]
    .filter((x) => x.checkVisibility({visibilityProperty: true, opacityProperty: true}))
    .map((x) => (x.matches('input[type=checkbox], input[type=file]') ? x.closest('label') : x))
    .map((x) => ({x, b: x.getBoundingClientRect()}))
    .filter(({b}) => b.width > 0)
    .map(({x, b}) => ({
        name: x.getAttribute('aria-label') || x.innerText || x.className, slides: x.type === 'range',
        width: b.width, height: b.height, left: b.left, right: b.right,
        clipped: x.scrollWidth > x.clientWidth + 1 && getComputedStyle(x).overflow !== 'visible',
    }))"""


@pytest.fixture(scope="module")
def tabs(served: tuple[str, Watcher], open_once: Open) -> dict[str, Tab]:
    opened = {name: open_once(served[0], **screen) for name, screen in SCREENS.items()}
    assert not opened["phone"].shows(".plots")  # there is no room for them, until they are asked for
    return opened


def overlaps(parts: list[dict[str, Any]]) -> list[str]:
    """Pairs of parts that lie on each other, by more than a pixel."""
    found = []
    for i, a in enumerate(parts):
        for b in parts[:i]:
            (l, t, r, u), (L, T, R, U) = a["box"], b["box"]
            if min(r, R) - max(l, L) > 1.0 and min(u, U) - max(t, T) > 1.0:
                found.append(f"{a['name']} {a['box']} on {b['name']} {b['box']}")
    return found


def outside(parts: list[dict[str, Any]], width: int, height: int) -> list[str]:
    boxes = {part["name"]: part["box"] for part in parts}
    return [n for n, (l, t, r, u) in boxes.items() if min(l, t) < -1 or r > width + 1 or u > height + 1]


def show_only(tab: Tab, panel: str | None) -> None:
    """Opens this panel and folds the others."""
    for name in PANELS:
        button = tab.page.locator(f"[data-action={name}]")
        if (button.get_attribute("aria-expanded") == "true") != (name == panel):
            button.click()
    wait(lambda: panel is None or tab.shows(f"#{panel}, .{panel}"), f"{panel} is open")


@pytest.mark.parametrize("panel", [None, *PANELS])
@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_overlaps_and_nothing_is_outside(tabs: dict[str, Tab], screen: str, panel: str | None) -> None:
    tab = tabs[screen]
    tab.page.bring_to_front()
    show_only(tab, panel)
    size = SCREENS[screen]["viewport"]
    whole = "(({scrollWidth, scrollHeight}) => [scrollWidth, scrollHeight])(document.documentElement)"

    def wrong() -> list[Any]:
        parts = tab.page.evaluate(PARTS)
        more = [] if tab.page.evaluate(whole) == [size["width"], size["height"]] else ["there is more to scroll to"]
        return overlaps(parts) + outside(parts, **size) + more

    wait(lambda: wrong() == [], wrong)
    tab.keep(f"screen-{screen}-{panel or 'bare'}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_dark_and_light_are_looked_at(tabs: dict[str, Tab], screen: str, scheme: str) -> None:
    tab = tabs[screen]
    tab.page.bring_to_front()
    tab.page.emulate_media(color_scheme=scheme)
    wait(lambda: tab.page.evaluate("document.documentElement.dataset.theme") == scheme, scheme)
    show_only(tab, "plots" if screen == "desktop" else None)
    wait(lambda: (tab.pixels((0, 300, 300, 200)).mean() > 128) == (scheme == "light"), "the scene too")
    look = "(x) => (({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(x))"
    transport = tab.page.locator(".transport")
    wait(lambda: contrast(*transport.evaluate(look)) > 4.5, "as web pages promise for text")  # colours may pass over
    tab.keep(f"screen-{screen}-{scheme}")


def contrast(ink: str, paper: str) -> float:
    """Ratio of the luminances of two colours, as WCAG 2 defines it."""

    def luminance(color: str) -> float:
        rgb = [float(x) for x in color[color.index("(") + 1 : -1].replace(",", " ").split()[:3]]
        if color.startswith("color("):
            rgb = [255.0 * float(x) for x in color.split("srgb")[1].strip(" )").split()[:3]]
        linear = [x / 255 / 12.92 if x / 255 <= 0.03928 else ((x / 255 + 0.055) / 1.055) ** 2.4 for x in rgb]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    low, high = sorted((luminance(ink), luminance(paper)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("where", [".transport", "header", "#edit", "#controls", ".plots"])
def test_on_a_phone_a_finger_hits_every_control(tabs: dict[str, Tab], where: str) -> None:
    tab = tabs["phone"]
    tab.page.bring_to_front()
    panel = where.strip("#.")
    show_only(tab, panel if panel in PANELS else None)
    targets = tab.page.evaluate(TARGETS, f"{where} button, {where} select, {where} input, {where} summary")
    assert targets
    small = [x for x in targets if min(x["width"], x["height"]) < FINGER_PX]
    assert small == []
    assert [x for x in targets if x["left"] < 0 or x["right"] > 390] == []
    assert [x["name"] for x in targets if x["clipped"]] == []


@pytest.mark.parametrize("door", ["scenes", "help"])
def test_on_a_phone_dialogs_fit_and_close(tabs: dict[str, Tab], door: str) -> None:
    tab = tabs["phone"]
    tab.page.bring_to_front()
    tab.page.tap(f"header [data-action={door}]")
    wait(lambda: tab.shows("dialog[open]"), "open")
    box = tab.page.locator("dialog[open]").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 844
    assert tab.page.locator("dialog[open] .dialog-body").evaluate("(x) => x.scrollWidth <= x.clientWidth")
    tab.keep(f"screen-phone-{door}")
    tab.page.tap("dialog[open] [aria-label=Close]")
    wait(lambda: not tab.shows("dialog[open]"), "closed")


def test_on_a_phone_a_finger_drags_the_arm_and_two_turn_the_camera(
    tabs: dict[str, Tab], served: tuple[str, Watcher]
) -> None:
    tab, watcher = tabs["phone"], served[1]
    tab.page.bring_to_front()
    show_only(tab, None)
    fingers = tab.fingers()
    x, y = tab.still_at("link3")
    fingers.down(0, x, y)
    wait(lambda: watcher.frame()["hand_body"][0] == watcher.body("link3"), "the servo holds what the finger holds")
    fingers.move(0, x + 40, y - 50)
    wait(lambda: watcher.force_N() > 3.0, "it pulls")
    wait(lambda: tab.text(".force-label").endswith("N"), "the force is shown")
    tab.keep("screen-phone-drag")
    fingers.up(0)
    wait(lambda: watcher.frame()["hand_body"][0] == 0, "it lets go")

    before = tab.still_at("obstacle")
    fingers.down(0, 40, 300)
    fingers.move(0, 120, 300)
    fingers.up(0)
    wait(lambda: np.hypot(*np.subtract(tab.at("obstacle"), before)) > 5, "the view turns")
    assert not watcher.frame()["hand_body"].any()


@pytest.mark.parametrize("screen", SCREENS)
def test_without_webgl_there_is_a_message_and_the_rest_works(
    served: tuple[str, Watcher], open_tab: Open, screen: str
) -> None:
    tab = open_tab(served[0], **SCREENS[screen], script="HTMLCanvasElement.prototype.getContext = new Proxy("
                   "HTMLCanvasElement.prototype.getContext, {apply: (f, self, args) => "
                   "String(args[0]).startsWith('webgl') ? null : Reflect.apply(f, self, args)})")  # fmt: skip
    assert "WebGL" in tab.text(".message")
    box = tab.page.locator(".message").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= SCREENS[screen]["viewport"]["width"]
    assert not tab.shows(".hint")
    watcher = served[1]
    now_ns = watcher.frame()["wall_ns"]
    tab.page.click("[data-action=reset]")
    wait(lambda: watcher.began_after(now_ns), "the buttons work")
    tab.keep(f"screen-{screen}-no-webgl")
