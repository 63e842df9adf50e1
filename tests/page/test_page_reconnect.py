"""`palpate touch` is killed and started again: an open page says so, and works again by itself."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from browsing import Open, Touched, Watcher, wait

pytestmark = pytest.mark.browser


class Revived:
    """A `palpate touch` that can be killed and started again at the same address."""

    def __init__(self) -> None:
        self.running = Touched("arm-rest")
        self.url = self.running.url

    def kill(self) -> None:
        self.running.end(kill=True)
        wait(self._is_gone, "its page's process has ended with it")

    def start(self) -> None:
        self.running = Touched("arm-rest", port=urlsplit(self.url).port or 0)

    def _is_gone(self) -> bool:
        address = urlsplit(self.url)
        with socket.socket() as trying:
            return trying.connect_ex((address.hostname, address.port)) != 0


@pytest.fixture
def palpate(built: None) -> Iterator[Revived]:
    made = Revived()
    yield made
    made.running.end()


def test_a_page_works_again_after_palpate_was_killed_and_started_again(palpate: Revived, open_tab: Open) -> None:
    tab = open_tab(palpate.url)
    tab.grab("link3")
    palpate.kill()
    wait(lambda: "Connection lost" in tab.text(".banner"), "it is said")
    assert tab.ask("held()") == ""
    tab.keep("connection-lost")
    tab.page.mouse.up()
    for key in ("r", "f", " "):  # nothing breaks while nobody is there
        tab.page.keyboard.press(key)
    palpate.start()
    assert urlsplit(palpate.running.url).port == urlsplit(palpate.url).port  # its token is another: ours need none
    tab.until("connected()")
    wait(lambda: not tab.shows(".banner"), "all is well again")
    seen = tab.ask("frame().tick")
    wait(lambda: tab.ask("frame().tick") > seen, "frames flow")

    watcher = Watcher(palpate.url)
    x, y = tab.grab("link3")
    wait(lambda: watcher.frame()["hand_body"][0] == watcher.body("link3"), "the servo holds what the browser holds")
    tab.page.mouse.move(x + 50, y - 40, steps=4)
    wait(lambda: watcher.force_N() > 2.0, "it pulls")
    tab.page.mouse.up()
    wait(lambda: watcher.frame()["hand_body"][0] == 0, "it lets go")
    tab.keep("connection-back")
    watcher.end()
    tab.forgive_absence()
