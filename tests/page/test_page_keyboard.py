"""The page with the keyboard alone, by `palpate touch arm-line`: every control is reached, seen and used."""

from collections.abc import Iterator

import numpy as np
import pytest
from browsing import DESKTOP, Open, Tab, Watcher, wait

from palpate import frame

pytestmark = pytest.mark.browser
SCENE = "arm-line"  # that is served

# Everything that a person can use now; each gets a number to be known by.
CONTROLS = """() => [...document.querySelectorAll('button, select, input, summary, a[href], textarea, [tabindex="0"]')]
    .filter((x) => x.checkVisibility({visibilityProperty: true}) && !x.disabled && x.tabIndex >= 0)
    .map((x) => (x.dataset.control ??= crypto.randomUUID()))"""
# The control that has the focus, and whether that is seen: it looks otherwise without.
FOCUS = """() => {
    const x = document.activeElement, shown = x.matches('input[type=file]') ? x.parentElement : x;
    const look = () => {
        const s = getComputedStyle(shown);
        return [s.outlineStyle === 'none' ? '' : s.outline, s.boxShadow, s.backgroundColor, s.borderColor].join();
    };
    const focused = look();
    x.blur();
    const plain = look();
    x.focus({focusVisible: true});
    const words = x.getAttribute('aria-label') || x.title || x.innerText;
    return {control: x.dataset.control, words, seen: focused !== plain};
}"""


@pytest.fixture(scope="module")
def opened(served: tuple[str, Watcher], open_once: Open) -> Tab:
    return open_once(served[0], **DESKTOP)


@pytest.fixture
def tab(opened: Tab) -> Iterator[Tab]:
    """The tab, nothing focused; afterwards nothing was complained of, and no mouse was used."""
    opened.page.evaluate("document.activeElement.blur()")
    yield opened
    opened.forgive_absence()
    assert opened.complaints == []


def go_to(tab: Tab, selector: str) -> None:
    """Tab, until this control has the focus."""
    there = f"document.activeElement?.matches({selector!r})"
    for _ in range(150):
        if tab.page.evaluate(there):
            return
        tab.page.keyboard.press("Tab")
    pytest.fail(f"Tab never came to {selector}")


@pytest.mark.parametrize("panel", ["edit", "controls"])
def test_tab_reaches_every_control_and_shows_where_it_is(tab: Tab, watcher: Watcher, panel: str) -> None:
    wait(lambda: watcher.frame()["time_s"] > 3.0, "the plan has ended: what can be done with it stays the same")
    if not tab.shows(f"#{panel}"):
        tab.page.keyboard.press("e" if panel == "edit" else "c")
    wait(lambda: tab.shows(f"#{panel}"), "the panel is open")
    wanted, reached, unseen = set(tab.page.evaluate(CONTROLS)), set(), []
    for _ in range(2 * len(wanted)):
        tab.page.keyboard.press("Tab")
        if tab.page.evaluate("document.activeElement === document.body"):
            continue  # around the end
        at = tab.page.evaluate(FOCUS)
        if at["control"] not in reached and not at["seen"]:
            unseen.append(at["words"])
        reached.add(at["control"])
        if wanted <= reached:
            break
    html = "(x) => document.querySelector(`[data-control='${x}']`).outerHTML"
    missing = [tab.page.evaluate(html, control) for control in wanted - reached]
    assert missing == []
    assert unseen == []
    tab.keep(f"keyboard-focus-{panel}")


def test_buttons_work_by_enter_and_space(tab: Tab, watcher: Watcher) -> None:
    go_to(tab, "[data-action=pause]")
    tab.page.keyboard.press("Space")
    wait(lambda: watcher.frame()["state"] == frame.PAUSED, "paused")
    go_to(tab, "[data-action=reset]")
    tab.page.keyboard.press("Enter")
    wait(lambda: watcher.frame()["time_s"] == 0.0, "reset")
    go_to(tab, "[data-action=step]")
    tab.page.keyboard.press("Enter")
    wait(lambda: watcher.frame()["time_s"] > 0.0, "one step")
    go_to(tab, "[data-action=play]")
    tab.page.keyboard.press("Enter")
    wait(lambda: watcher.frame()["state"] == frame.RUNNING, "playing")


def test_lists_and_sliders_work_by_arrows(tab: Tab, watcher: Watcher) -> None:
    go_to(tab, ".speed")
    tab.page.keyboard.press("ArrowUp")
    wait(lambda: watcher.frame()["speed"] < 1.0, "slower")
    tab.until("frame().speed < 1")  # else, having waited in vain, the list goes back by itself
    tab.page.keyboard.press("ArrowDown")
    wait(lambda: watcher.frame()["speed"] == 1.0, "as before")
    tab.page.evaluate("document.activeElement.blur()")
    if not tab.shows("#controls"):
        tab.page.keyboard.press("c")
    for name, field in (("Gravity", "gravity"), ("Friction", "friction")):
        go_to(tab, f"input[aria-label={name}]")
        tab.page.keyboard.press("ArrowLeft")
        wait(lambda field=field: watcher.frame()[field] < 1.0, f"less {field}")
        go_to(tab, f"button[title^='{name}: back']")
        tab.page.keyboard.press("Enter")
        wait(lambda field=field: watcher.frame()[field] == 1.0, f"{field} as usual")


def test_a_body_is_chosen_taken_pulled_and_let_go_by_keys(tab: Tab, watcher: Watcher) -> None:
    tab.page.keyboard.press("1")  # the whole arm is in view
    go_to(tab, ".stage")
    for _ in range(20):
        tab.page.keyboard.press("ArrowRight")
        if tab.ask("chosen()") == "link3":
            break
    assert tab.ask("chosen()") == "link3"
    wait(lambda: "link3" in tab.text(".keyboard-line"), "it is named")
    tab.keep("keyboard-chosen")
    tab.page.keyboard.press("Enter")
    wait(lambda: watcher.frame()["hand_body"][0] == watcher.body("link3"), "the servo holds it")
    before = watcher.frame()["hand_target"][0]
    for key in ("ArrowUp", "ArrowUp", "ArrowRight", "PageUp", "Shift+ArrowUp"):
        tab.page.keyboard.press(key)
    wait(lambda: np.linalg.norm(watcher.frame()["hand_target"][0] - before) > 0.01, "the hand moves")
    wait(lambda: watcher.force_N() > 1.0, "it pulls")
    wait(lambda: tab.text(".spoken").endswith("N"), "the force is said")
    tab.keep("keyboard-pull")
    tab.page.keyboard.press("Enter")
    wait(lambda: watcher.frame()["hand_body"][0] == 0, "let go")
    tab.page.keyboard.press("Escape")
    wait(lambda: tab.ask("chosen()") == "", "nothing is chosen")


def test_the_camera_turns_by_keys(tab: Tab, watcher: Watcher) -> None:
    go_to(tab, ".stage")
    for key in ("Shift+ArrowRight", "Shift+ArrowUp", "PageUp"):
        before = {body: tab.still_at(body) for body in ("base", "tool", "obstacle")}
        for _ in range(3):
            tab.page.keyboard.press(key)

        def moved(before: dict[str, tuple[float, float]] = before) -> bool:
            return max(np.hypot(*np.subtract(tab.at(body), place)) for body, place in before.items()) > 5.0

        wait(moved, key)
    tab.page.keyboard.press("f")
    assert not watcher.frame()["hand_body"].any()


def test_help_lists_every_key_and_escape_closes_it(tab: Tab) -> None:
    tab.page.keyboard.press("?")
    wait(lambda: tab.shows("dialog[open] .help"), "help")
    tab.keep("help")
    assert {"Space", "R", "S", "T", "?"} <= set(tab.page.locator(".help kbd").all_inner_texts())
    tab.page.keyboard.press("Escape")
    wait(lambda: not tab.shows("dialog[open]"), "closed")


def test_a_scene_is_picked_by_keys(tab: Tab, watcher: Watcher) -> None:
    go_to(tab, "[data-action=scenes]")
    tab.page.keyboard.press("Enter")
    go_to(tab, "[data-scene=stack]")
    tab.page.keyboard.press("Enter")
    wait(lambda: watcher.hello["scene"] == "stack", "another scene")
    wait(lambda: tab.page.title().startswith(watcher.hello["title"]), "it is shown")
