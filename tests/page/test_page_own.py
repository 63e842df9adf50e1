"""A simulation that no page has ever heard of: what it says in its hello is all that is needed to show it."""

import math
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from browsing import DESKTOP, Open, wait
from fake_servo import EVENT, Page, Rings

from palpate import frame
from palpate.frame import BASE, Field, Layout
from palpate.runtime.hello import complete
from palpate.servo.ring import Follower

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser

RATE_HZ, SWELL = 100.0, 40  # SWELL: its own event
GREY, ORANGE = [0.6, 0.65, 0.7, 1.0], [0.9, 0.5, 0.1, 1.0]


def box(size: list[float], color: list[float]) -> list[dict]:
    return [{"kind": "box", "size": size, "position": [0, 0, 0], "quaternion": [1, 0, 0, 0], "color": color,
             "role": "both"}]  # fmt: skip


class Buoy(Rings):
    """A float on a swell: it rises and falls, as high as the swell is set to be."""

    def __init__(self) -> None:
        self.layout = Layout((
            *BASE,
            Field("swell", "f", (), "height of the waves [m]"),
            Field("pose", "f", (3, 7), "of its bodies"),
            Field("parked", "i", (3,), "the second float waits"),
            Field("height", "f", (), "of the float", "m", "Float"),
            Field("depth", "f", (), "of its keel", "m", "Float"),
        ))  # fmt: skip
        self.hello = complete({
            "scene": "buoy", "title": "A buoy on a swell", "rate_hz": RATE_HZ,
            "bodies": [{"name": "world", "touchable": False, "shapes": box([2.0, 2.0, 0.1], GREY)},
                       *({"name": name, "touchable": False, "shapes": box([0.5, 0.5, 0.5], ORANGE)}
                         for name in ("float", "spare"))],
            "start": [[0, 0, 0, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0]],
            "views": {"perspective": {"eye": [3.0, -3.6, 2.4], "target": [0.0, 0.0, 0.7]}},
            "settings": [{"event": "swell", "label": "Swell", "field": "swell", "unit": "m", "low": 0.0, "high": 0.5,
                          "step": 0.05, "value": 0.2}],
            "events": {"swell": {"kind": SWELL, "low": 0.0, "high": 0.5}},
        }, self.layout)  # fmt: skip
        self.open()
        self.swell, self.tick, self.asked = 0.2, 0, list[tuple[int, float]]()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        events = Follower(self.events, 1)
        while not self._over.wait(1.0 / RATE_HZ):
            for words in events.read():
                event = EVENT.unpack(words)
                self.asked.append((event["kind"], event["value"]))
                self.swell = event["value"] if event["kind"] == SWELL else self.swell
            self.tick += 1
            time_s = self.tick / RATE_HZ
            height = 1.0 + self.swell * math.sin(3.0 * time_s)
            lateness = np.zeros(self.layout.length["lateness"])
            lateness[2] = self.tick
            pose = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (3, 1))
            pose[1:, 2] = height
            self.frames.write(self.layout.pack(
                tick=self.tick, wall_ns=time.monotonic_ns(), state=frame.RUNNING, time_s=time_s, speed=1.0,
                lateness=lateness, pose=pose, parked=(0, 0, 1), swell=self.swell, height=height,
                depth=height - 0.25))  # fmt: skip

    def __enter__(self) -> "Buoy":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.close()


@pytest.fixture
def buoy(built: None) -> Iterator[Buoy]:
    with Buoy() as made:
        yield made


def test_it_is_drawn_set_and_plotted_by_its_hello_alone(buoy: Buoy, open_tab: Open) -> None:
    page = Page(buoy)
    tab = open_tab(page.url, **DESKTOP)
    assert tab.page.title() == "A buoy on a swell · palpate"
    assert tab.ask("inView()")["of"] == 2  # what is parked is not there, wherever it may be
    first = tab.at("float")
    wait(lambda: abs(tab.at("float")[1] - first[1]) > 5, "it moves")
    assert [chip.inner_text() for chip in tab.page.locator(".chip").all()] == ["Float", "Lateness"]
    assert tab.page.locator("[data-card=Float] .legend li").all_inner_texts()[1].startswith("depth")
    wait(lambda: tab.text("[data-card=Float] .legend li:nth-child(1) b").endswith(" m"), "its value beside its plot")

    def orange() -> int:  # of the first line of the plot
        box = tab.page.locator("[data-card=Float] canvas").bounding_box()
        pixels = tab.pixels((box["x"], box["y"], box["width"], box["height"]))
        return int((np.ptp(pixels, axis=2) > 60).sum())

    wait(lambda: orange() > 200, "its lines")

    tab.page.keyboard.press("c")  # the panel of controls
    names = tab.page.locator(".controls .slider:visible .name").all_inner_texts()
    assert names == ["Swell"]  # nothing to touch, so no stiffness of a hand; no World, so no gravity
    slider = tab.page.locator(".controls .slider:visible input")
    wait(lambda: tab.page.locator(".controls .slider:visible output").inner_text() == "0.20 m", "what it is now")
    slider.focus()
    slider.press("ArrowRight")
    wait(lambda: buoy.asked == [(SWELL, 0.25)], "its own event")
    buoy.swell = 0.4  # by somebody else
    wait(lambda: tab.page.locator(".controls .slider:visible output").inner_text() == "0.40 m", "it is told")
    for part in (".edit", ".task", ".devices li", ".hint", "[data-choice=press]", ".force-label"):
        assert not tab.shows(part), part
    tab.keep("own")
    page.close()
