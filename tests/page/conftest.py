"""Rings of a small scene, the process of the page, and a browser."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
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
