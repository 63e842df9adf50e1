"""Rings of a small scene, the process of the page, and a browser."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import FLAGS, SCREEN, WAIT_S, WINDOW, Open, Tab, Watcher, chromium_path, touched
from fake_servo import Page, Rings

BROWSER_REQUIRED = os.environ.get("PALPATE_REQUIRE_BROWSER") == "1"
INDEX = Path(__file__).parents[2] / "palpate" / "page" / "static" / "index.html"


@pytest.fixture(scope="session")
def built() -> None:
    """The page is built."""
    if not INDEX.is_file():
        if BROWSER_REQUIRED:
            pytest.fail("the page is not built: run `make page`")
        pytest.skip("the page is not built: run `make page`")


@pytest.fixture
def rings(built: None) -> Iterator[Rings]:
    """Three rings and a hello, nobody behind them."""
    made = Rings()
    yield made
    made.close()


@pytest.fixture
def page(rings: Rings) -> Iterator[Page]:
    """The process of the page."""
    process = Page(rings)
    yield process
    process.close()


@pytest.fixture(scope="session")
def pictures() -> Path | None:
    """Where screenshots go, if they are wanted: each takes as long as a test or two."""
    folder = os.environ.get("PALPATE_SCREENSHOTS")
    if folder is None:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)


@pytest.fixture(scope="module")  # not longer: while it is open, no test in this process may run an event loop
def chromium(built: None) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    path = chromium_path()
    if path is None:
        if BROWSER_REQUIRED:
            pytest.fail("no Chromium: apt-get install chromium")
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS, timeout=1000 * WAIT_S)
        yield browser
        browser.close()


def _opener(chromium: Any, pictures: Path | None) -> Iterator[Open]:
    tabs: list[Tab] = []

    def make(url: str, script: str = "", until: str = "connected()", **options: Any) -> Tab:
        context = chromium.new_context(**{**WINDOW, **options})
        for first in filter(None, (SCREEN, script)):
            context.add_init_script(first)
        tabs.append(Tab(context, url, pictures, until))
        return tabs[-1]

    yield make
    complaints = [tab.complaints for tab in tabs]
    for tab in tabs:
        tab.context.close()
    assert complaints == [[] for _ in tabs]


@pytest.fixture
def open_tab(chromium: Any, pictures: Path | None) -> Iterator[Open]:
    """Opens tabs; at the end, none of them may have complained."""
    yield from _opener(chromium, pictures)


@pytest.fixture(scope="module")
def open_once(chromium: Any, pictures: Path | None) -> Iterator[Open]:
    """The same, of tabs that a whole file uses."""
    yield from _opener(chromium, pictures)


@pytest.fixture(scope="module")
def served(built: None, request: pytest.FixtureRequest) -> Iterator[tuple[str, Watcher]]:
    """(address of the page, a client of it) of `palpate touch SCENE`, SCENE being what the test's file calls so."""
    with touched(request.module.SCENE) as running:
        yield running


@pytest.fixture(scope="module")
def watcher(served: tuple[str, Watcher]) -> Watcher:
    return served[1]
