"""The order of the house: who may import whom, and what the physics may not touch.

Every rule is a pure function of a package folder that returns its complaints, one line each. The first tests
apply the rules to palpate; the later ones apply them to small wrong packages and see that each mistake is caught.
Names are read from the syntax tree: imports inside functions and under TYPE_CHECKING count, text in strings does not.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "palpate"

# A module or folder imports only from those before it.
LAYERS = (
    "conventions", "printable", "registry", "whole_files", "frame", "jit", "spatial", "model", "dynamics", "collision",
    "contact", "world", "control", "haptics", "servo", "scenes", "record", "link", "planar", "mobile", "runtime",
    "page", "experiments", "bench", "processes", "doctor", "terminal", "study_commands", "cli",
)  # fmt: skip
FRONT_DOOR_USERS = ("experiments", "bench", "cli")  # written as a user would write them
PHYSICS = LAYERS[LAYERS.index("spatial") : LAYERS.index("world") + 1]

COMPILERS = {"numba", "llvmlite"}
# Time comes into the physics as dt, chance as a generator; what happened leaves it as numbers.
OUTSIDE_WORLD = {"time", "datetime", "socket", "threading", "asyncio", "multiprocessing", "logging"}
FILE_CALLS = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}
HOMES_FOR_THE_HOMELESS = {"utils", "common", "helpers", "core", "misc"}
MAX_LINES = 400

# (file, what it may use all the same): why
EXCEPTIONS = {
    ("dynamics/workspace.py", "threading"): "get_ident: scratch arrays of its own for each thread",
    ("model/xml_tree.py", "open"): "a loader reads files",
    ("model/mjcf.py", "open"): "a loader reads files",
    ("model/meshes.py", "open"): "a loader reads files",
}


# ---- reading a package


def sources(root: Path) -> Iterator[tuple[str, str]]:
    """(path below root with forward slashes, text) of every Python file."""
    for path in sorted(root.rglob("*.py")):
        yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def imports(root: Path, file: str, text: str) -> Iterator[tuple[int, str]]:
    """(line, full dotted name) of everything a file imports; `from a import b` gives a.b."""
    package = [root.name, *file.split("/")[:-1]]
    for node in ast.walk(ast.parse(text, filename=file)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []  # one dot: this folder
            for alias in node.names:
                yield node.lineno, ".".join([*above, *filter(None, [node.module]), alias.name])


def calls(file: str, text: str) -> Iterator[tuple[int, str, bool]]:
    """(line, name, whether it is a method) of every call: print(...) and path.open(...) alike."""
    for node in ast.walk(ast.parse(text, filename=file)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.lineno, node.func.id, False
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.lineno, node.func.attr, True


def layer_of(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


# ---- the rules


def imports_from_below(root: Path) -> list[str]:
    complaints = []
    for file, text in sources(root):
        layer = layer_of(file)
        if layer in ("__init__", "__main__"):  # the front door reaches everything
            continue
        if layer not in LAYERS:
            complaints.append(f"{file}: '{layer}' has no place in the order of the layers")
            continue
        for line, name in imports(root, file, text):
            first, _, rest = name.partition(".")
            target = rest.split(".")[0]
            if first != root.name:
                continue
            if target not in LAYERS:  # `import palpate`, or a public name of it: everything, by the front door
                if layer not in FRONT_DOOR_USERS:
                    complaints.append(f"{file}:{line}: imports '{name}' through the front door; name its module")
            elif LAYERS.index(target) > LAYERS.index(layer):
                complaints.append(f"{file}:{line}: {layer} imports {target} ('{name}'), which is below it")
    return complaints


def compilers_outside_jit(root: Path) -> list[str]:
    return [
        f"{file}:{line}: imports '{name}'; only jit does"
        for file, text in sources(root)
        if layer_of(file) != "jit"
        for line, name in imports(root, file, text)
        if name.split(".")[0] in COMPILERS
    ]


def physics_touching_the_outside(root: Path) -> list[str]:
    complaints = []
    for file, text in sources(root):
        if layer_of(file) not in PHYSICS:
            continue
        for line, name in imports(root, file, text):
            module = name.split(".")[0]
            if module in OUTSIDE_WORLD and (file, module) not in EXCEPTIONS:
                complaints.append(f"{file}:{line}: physics imports '{name}'")
        for line, name, is_method in calls(file, text):
            if name == "print" and not is_method:
                complaints.append(f"{file}:{line}: physics prints")
            elif (name == "open" or (is_method and name in FILE_CALLS)) and (file, "open") not in EXCEPTIONS:
                complaints.append(f"{file}:{line}: physics touches a file with {name}()")
    return complaints


def names_that_say_nothing(root: Path) -> list[str]:
    return [
        f"{file}: '{part}' says nothing about what is inside"
        for file, _ in sources(root)
        for part in file.removesuffix(".py").split("/")
        if part in HOMES_FOR_THE_HOMELESS
    ]


def files_too_long(root: Path) -> list[str]:
    return [
        f"{file}: {n_lines} lines, the limit is {MAX_LINES}; split it by concept"
        for file, text in sources(root)
        if (n_lines := len(text.splitlines())) > MAX_LINES
    ]


Rule = Callable[[Path], list[str]]
RULES: list[Rule] = [
    imports_from_below,
    compilers_outside_jit,
    physics_touching_the_outside,
    names_that_say_nothing,
    files_too_long,
]


# ---- palpate keeps the rules


@pytest.mark.parametrize("rule", RULES)
def test_palpate_has_no(rule: Rule) -> None:
    assert list(sources(PACKAGE)), f"no Python files in {PACKAGE}"
    complaints = rule(PACKAGE)
    assert not complaints, "\n" + "\n".join(complaints)


# ---- and the rules work


def write_package(folder: Path, files: dict[str, str]) -> Path:
    root = folder / "palpate"
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")
    return root


MISTAKES = [
    # rule, file, text, part of the complaint
    (imports_from_below, "dynamics/aba.py", "import palpate.world", "dynamics imports world"),
    (imports_from_below, "dynamics/aba.py", "from palpate import world", "dynamics imports world"),
    (imports_from_below, "dynamics/aba.py", "from palpate.world.step import step", "dynamics imports world"),
    (imports_from_below, "dynamics/aba.py", "from ..world import World", "dynamics imports world"),
    (imports_from_below, "dynamics/__init__.py", "from .. import world", "dynamics imports world"),
    (imports_from_below, "contact/laws/wall.py", "from ...world import World", "contact imports world"),
    (imports_from_below, "conventions.py", "from . import frame", "conventions imports frame"),
    (imports_from_below, "model/tree.py", "def f():\n    import palpate.cli", "tree.py:2: model imports cli"),
    (
        imports_from_below,
        "frame.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from palpate.jit import kernel",
        "frame imports jit",
    ),
    (imports_from_below, "scenes/arm.py", "import palpate as pp", "front door"),
    (imports_from_below, "scenes/arm.py", "from palpate import World", "front door"),
    (imports_from_below, "scenes/arm.py", "from palpate import *", "front door"),
    (imports_from_below, "attic.py", "", "no place"),
    (compilers_outside_jit, "spatial/rotations.py", "from numba import njit", "only jit"),
    (compilers_outside_jit, "__init__.py", "import llvmlite.binding", "only jit"),
    (compilers_outside_jit, "cli.py", "def f():\n    import os, numba", "cli.py:2"),
    *(
        (physics_touching_the_outside, "world/step.py", f"import {module}", f"imports '{module}'")
        for module in sorted(OUTSIDE_WORLD)
    ),
    (physics_touching_the_outside, "spatial/a.py", "from time import perf_counter", "time.perf_counter"),
    (physics_touching_the_outside, "collision/a.py", "import multiprocessing.shared_memory as m", "multiprocessing"),
    (physics_touching_the_outside, "contact/laws/a.py", "def f(x):\n    print(x)", "a.py:2: physics prints"),
    (physics_touching_the_outside, "model/tree.py", "text = open('a').read()", "open()"),
    (physics_touching_the_outside, "model/tree.py", "def f(path): return path.read_text()", "read_text()"),
    (physics_touching_the_outside, "model/urdf.py", "print(1)", "physics prints"),
    (physics_touching_the_outside, "dynamics/aba.py", "import threading", "threading"),
    (physics_touching_the_outside, "dynamics/workspace.py", "import time", "time"),
    (names_that_say_nothing, "spatial/utils.py", "", "'utils'"),
    (names_that_say_nothing, "common/__init__.py", "", "'common'"),
    (names_that_say_nothing, "haptics/helpers/a.py", "", "'helpers'"),
    (names_that_say_nothing, "core.py", "", "'core'"),
    (names_that_say_nothing, "model/misc.py", "", "'misc'"),
    (files_too_long, "cli.py", "x = 1\n" * (MAX_LINES + 1), "401 lines"),
]


@pytest.mark.parametrize(("rule", "file", "text", "expected"), MISTAKES)
def test_mistake_is_caught(rule: Rule, file: str, text: str, expected: str, tmp_path: Path) -> None:
    complaints = rule(write_package(tmp_path, {file: text}))
    assert len(complaints) == 1
    assert expected in complaints[0]


def test_package_in_order_has_no_complaints(tmp_path: Path) -> None:
    root = write_package(
        tmp_path,
        {
            "__init__.py": "def __getattr__(name):\n    from . import world, cli\n    return world",
            "__main__.py": "from palpate.cli import main",
            "conventions.py": "x = 1\n" * MAX_LINES,
            "jit.py": "import numba\nfrom llvmlite import ir\nfrom . import conventions",
            "spatial/rotations.py": "from ..jit import kernel\nimport numpy as np",
            "spatial/transforms.py": "from .rotations import rotate\nfrom . import rotations",
            "model/xml_tree.py": "def load(path):\n    'print(1)'\n    return open(path).read() + path.read_text()",
            "dynamics/workspace.py": "import threading\nfrom palpate.model.tree import Model",
            "contact/laws/wall.py": "from ...spatial import rotations\nlog.print(1)",
            "haptics/hand.py": "import time, socket, logging\nprint(open('a'))",
            "cli.py": "from palpate import __version__\nimport palpate.experiments.runner",
        },
    )
    assert [complaint for rule in RULES for complaint in rule(root)] == []


def test_every_exception_has_a_reason_and_lies_in_the_physics() -> None:
    for (file, _), reason in EXCEPTIONS.items():
        assert layer_of(file) in PHYSICS
        assert reason
