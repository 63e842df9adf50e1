"""Names are shown as they are written: no name of a body, a joint or a scene becomes a part of the page."""

import pytest
from browsing import DESKTOP, Open, wait
from fake_servo import FakeServo, Page

pytestmark = pytest.mark.browser
EVIL = "<img src=x onerror='window.broken=1'><script>window.broken=1</script>\"'&lt;b&gt;{n}"


def evil(n: int) -> str:
    return EVIL.replace("{n}", str(n))


def test_no_name_becomes_a_part_of_the_page(built: None, open_tab: Open) -> None:
    servo = FakeServo()
    hello = servo.hello
    hello["title"], hello["scene"] = evil(0), evil(1)
    hello["joints"] = [evil(n) for n, _ in enumerate(hello["joints"])]
    hello["axes"] = [{**axis, "name": evil(n), "unit": evil(n)} for n, axis in enumerate(hello["axes"])]
    hello["bodies"] = [{**body, "name": evil(n)} for n, body in enumerate(hello["bodies"])]
    hello["obstacles"] = [evil(n) for n in range(3)]
    hello["scenes"] = [{"name": evil(n), "title": evil(n), "about": evil(n), "kind": evil(n)} for n in range(3)]
    servo.start()
    page = Page(servo)
    try:
        tab = open_tab(page.url, **DESKTOP)
        wait(lambda: evil(0) in tab.page.title(), "the title as it is written")
        page.tell(type="told", text=evil(5), error=evil(5), note=evil(5))
        for key in ("?", "m", "n", "p", "e", "o"):
            tab.page.keyboard.press(key)
            tab.page.keyboard.press("Escape")
        tab.page.keyboard.press("s")
        wait(lambda: evil(2) in tab.text("body"), "the cards of the scenes, as they are called")
        assert (
            tab.page.evaluate("document.querySelectorAll('[onerror], body script:not([src]), img[src=x]').length") == 0
        )
        assert tab.page.evaluate("window.broken") is None
    finally:
        page.close()
        servo.stop()
