"""The tests' own rules: the same in every run, and on every machine.  Read from the syntax tree.

Chance comes from a seed or from hypothesis, whose profile is in conftest.py; what another thread or process does is
waited for with `until` of waiting.py, which has the only limit.
"""

import ast
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
CLOCKS = {"time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.time", "time.sleep"}
MODULE_RANDOM = {f"random.{name}" for name in random.__all__ if name[0].islower()}
NUMPY_RANDOM = {f"np.random.{name}" for name in np.random.__all__ if name[0].islower()} - {"np.random.default_rng"}
SEEDED = {"random.Random", "Random", "np.random.default_rng", "default_rng"}  # with an argument
# A loop by the clock that is not a wait: why
LOOPS_BY_THE_CLOCK = {
    "attack/test_soak.py": "lasts as long as it is told, and judges slopes",
    "haptics/drivers/fake_hd.py": "a vendor's own thread",
    "page/fake_servo.py": "a servo",
}


def dotted(node: ast.AST) -> str:
    """Of `a.b.c`; empty for what is no such name."""
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return base and f"{base}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def complaints(file: str, text: str) -> Iterator[str]:
    tree = ast.parse(text, filename=file)
    imported = {
        alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name, given = dotted(node.func), bool(node.args or node.keywords)
            if (
                (name in MODULE_RANDOM and "random" in imported)
                or name in NUMPY_RANDOM
                or (name in SEEDED and not given)
            ):
                yield f"{file}:{node.lineno}: {name}() has no seed"
            for keyword in node.keywords if name.endswith("settings") else ():
                if keyword.arg == "derandomize" or (keyword.arg == "deadline" and ast.unparse(keyword.value) != "None"):
                    yield f"{file}:{node.lineno}: {keyword.arg} belongs to the profiles of conftest.py"
        elif isinstance(node, ast.While) and file not in LOOPS_BY_THE_CLOCK:
            names = [dotted(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)]
            if sum(name in CLOCKS for name in names) > 1:
                yield f"{file}:{node.lineno}: waits by itself; `until` of waiting.py does that"


def test_tests_draw_by_seeds_and_wait_by_until():
    files = [path for path in TESTS.rglob("*.py") if path.name not in ("waiting.py", "conftest.py")]
    found = [said for path in files for said in complaints(path.relative_to(TESTS).as_posix(), path.read_text("utf-8"))]
    assert not found, "\n".join(found)


def test_examples_are_drawn_from_the_test_itself_unless_searched_for():
    """`make test-search` is the one place where they are new."""
    assert settings.get_profile("same").derandomize
    assert settings.get_profile("same").deadline is None
    assert not settings.get_profile("search").derandomize
    assert settings.get_profile("search").database is not None  # and kept


@pytest.mark.parametrize(
    "text",
    [
        "import random\nx = random.random()",
        "import random\nrng = random.Random()",
        "rng = np.random.default_rng()",
        "x = np.random.normal()",
        "@settings(derandomize=False)\ndef f(): pass",
        "@settings(deadline=200)\ndef f(): pass",
        "while time.monotonic() < ended:\n    time.sleep(0.01)",
    ],
)
def test_a_breach_is_found(text):
    assert len(list(complaints("test_wrong.py", text))) == 1


def test_what_is_in_order_is_not_complained_about():
    text = (
        "import random\nrng = random.Random(3)\nrng.random()\nnp.random.default_rng(seed).normal()\n"
        "@settings(deadline=None, max_examples=3)\ndef f(random):\n    until(lambda: done)\n"
    )
    assert list(complaints("test_right.py", text)) == []
    assert all((TESTS / file).is_file() for file in LOOPS_BY_THE_CLOCK)
