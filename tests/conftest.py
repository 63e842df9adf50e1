"""How examples are drawn: the same ones every time in `make test`, new ones in `make test-search`.

A run that fails by chance says nothing about the change that was made.  So the profile "same" derives the examples
from the test's own text, and a failure comes back.  "search" draws anew and keeps what fails in .hypothesis/examples,
where the next search begins; it prints the line (`@reproduce_failure`) that repeats it anywhere.  What it finds becomes
an `@example` of its test.

With bounds checks (`make test-bounds`) indices are tried, not numbers: the ends of each family of cases will do.
"""

import functools
import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

# Nothing is said about how fast: machines are shared.
settings.register_profile("same", derandomize=True, deadline=None)
FOUND = DirectoryBasedExampleDatabase(".hypothesis/examples")  # hypothesis itself has none where CI is set
settings.register_profile("search", derandomize=False, deadline=None, print_blob=True, database=FOUND)
settings.load_profile("same")  # `pytest --hypothesis-profile=search` for the other

# What compiles when depends on the cache and on which test came first: nobody should find it in what a test prints.
os.environ["PALPATE_QUIET"] = "1"


WRITTEN = {**{mark: f"mark.{mark}" for mark in ("browser", "slow", "nojit")}, "hypothesis": "@given"}


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """A mark is written in the file of its tests: by that the Makefile knows which files to look into."""
    for mark, words in WRITTEN.items():
        if item.get_closest_marker(mark) and words not in _text(item.path):
            raise pytest.UsageError(f"{item.nodeid} is marked {mark}, but {words} is not in its file")


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.hookimpl(trylast=True)  # of those that the marks have left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("NUMBA_BOUNDSCHECK") != "1":
        return
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        families.setdefault(item.nodeid.split("[")[0], []).append(item)
    ends = {id(item) for family in families.values() for item in (family[0], family[-1])}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in ends])
    items[:] = [item for item in items if id(item) in ends]


def pytest_collection_finish() -> None:
    """What was imported until here stays to the end: it is not searched for garbage again, in each collection anew.

    These are six hundred thousand objects, which take a third of a second each time.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def heeded_signals() -> Iterator[None]:
    """Requests to end come through: under nohup, or in the background of a script, some are ignored."""
    default = {"SIGINT": signal.default_int_handler, "SIGTERM": signal.SIG_DFL, "SIGHUP": signal.SIG_DFL}
    numbers = {getattr(signal, name): handler for name, handler in default.items() if hasattr(signal, name)}
    before = {number: signal.signal(number, handler) for number, handler in numbers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
