"""Kernels that a wheel brings: used wherever it is installed, refused where they do not fit, never written to."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from palpate import jit
from palpate.jit.cache import prebuilt

ROOT = Path(jit.__file__).parents[2]
pytestmark = pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled")
needs_level = pytest.mark.skipif(not prebuilt.runs_here("x86-64-v3"), reason="this processor cannot run them")

SAMPLE = """
import math
from palpate.jit import entry, kernel, shared

@kernel
def third(x):
    return x / 3.0

@shared("float64(float64)")
def inner(x):
    return math.sin(third(x)) + x * x

@entry("float64")
def door(x):
    return inner(x) * 0.1 + inner(x + 1.0)
"""
USE = """
from palpate.jit import compile_listener
from palpate.sample import door
heard = []
with compile_listener(lambda name, kernels, seconds, done: heard.append(kernels)):
    print(door(0.3).hex(), max(heard, default=0))
"""
MAKE = """
import sys
from pathlib import Path
from palpate.jit.starts.prebuilding import put_prebuilt
from palpate.sample import door
door(0.3)
print(put_prebuilt(Path(sys.argv[1])))
"""
COMPILED = 2  # kernels that are counted when the sample is compiled


def package(folder: Path) -> Path:
    """A palpate with nothing but its compiler and the sample."""
    there = folder / "palpate"
    shutil.copytree(ROOT / "palpate" / "jit", there / "jit", ignore=shutil.ignore_patterns("__pycache__", "built"))
    shutil.copy(ROOT / "palpate" / "printable.py", there)
    (there / "__init__.py").write_text("")
    (there / "sample.py").write_text(SAMPLE)
    return folder


def ran(code: str, folder: Path, *arguments: str, **environment: str) -> tuple[list[str], list[str]]:
    """Words of what a new interpreter prints that has that palpate, and lines on stderr."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "PALPATE_"))}
    env |= {"PYTHONPATH": str(folder), "PALPATE_CACHE_DIR": str(folder / "cache")} | environment
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr.splitlines()


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """Made in one place, for a level of processors."""
    folder, here = tmp_path_factory.mktemp("made"), package(tmp_path_factory.mktemp("elsewhere"))
    environment = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "", "PALPATE_PREBUILT": "0"}
    assert ran(MAKE, here, str(folder), **environment)[0] == ["2"]  # the entry and what it shares; kernels are in them
    return folder


@pytest.fixture
def installed(built, tmp_path) -> Path:
    """In another."""
    folder = package(tmp_path)
    shutil.copytree(built, folder / "palpate" / "jit" / "built")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "palpate" / "jit" / "built").iterdir()}


def kept(folder: Path) -> int:
    return len(list((folder / "cache").rglob("*.nbc")))


@needs_level
def test_what_the_wheel_brings_is_used_wherever_it_is_installed_and_nothing_is_compiled(installed):
    (value, kernels), said = ran(USE, installed)
    assert (int(kernels), said, kept(installed)) == (0, [], 0)
    native, said = ran(USE, installed, PALPATE_PREBUILT="0")
    assert int(native[1]) == COMPILED
    assert len(said) == 0  # the listener heard it
    assert native[0] == value


@needs_level
def test_what_was_compiled_for_this_machine_comes_first(installed):
    ran(USE, installed, PALPATE_PREBUILT="0")
    for path in (installed / "palpate" / "jit" / "built").glob("*.nbc"):
        path.write_bytes(b"")  # nobody looks at it
    assert ran(USE, installed)[1] == []


BESIDE = """
import time
from pathlib import Path
from palpate.jit import cache_dir
from palpate.jit.starts import ahead
from palpate.sample import door
ahead.LEAST_NICE = 0  # or a busy machine never comes to it
for _ in range(2):
    with ahead.compiled_beside("palpate.sample", "door"):
        door(0.3)
        while len(list(cache_dir().rglob("*.nbc"))) < 3:  # the entry, what it shares and its kernel
            time.sleep(0.1)
print(sum(door._cache_hits.values()))
"""


@needs_level
def test_what_the_wheel_brought_is_compiled_beside_it_and_used_the_next_time(installed):
    assert ran(BESIDE, installed) == (["1"], [])
    for path in (installed / "palpate" / "jit" / "built").glob("*.nbc"):
        path.write_bytes(b"")
    assert ran(USE, installed)[0][1] == "0"
    assert ran(USE, installed)[1] == []


@needs_level
def test_where_nothing_can_be_kept_what_the_wheel_brings_is_used(installed):
    (_, kernels), said = ran(USE, installed, PALPATE_CACHE_DIR="/proc/nowhere")
    assert int(kernels) == 0
    assert [line for line in said if "nothing is kept" not in line] == []


def changed(what: str, value: object):
    """What they were made for, but for one thing."""

    def change(folder: Path) -> None:
        file = folder / "palpate" / "jit" / "built" / prebuilt.MADE_FOR
        file.write_text(json.dumps(json.loads(file.read_text()) | {what: value}))

    return change


def every_file(edit):
    def change(folder: Path) -> None:
        for path in (folder / "palpate" / "jit" / "built").glob("*.nbc"):
            path.write_bytes(edit(path.read_bytes()))

    return change


def another_source(folder: Path) -> None:
    with (folder / "palpate" / "sample.py").open("a") as file:
        file.write("# edited\n")


REFUSED = {
    "a bit of the code is wrong": (every_file(lambda b: b[:-9] + bytes([b[-9] ^ 1]) + b[-8:]), "damaged"),
    "a bit of the digest is wrong": (every_file(lambda b: bytes([b[0] ^ 1]) + b[1:]), "damaged"),
    "cut": (every_file(lambda b: b[: len(b) // 2]), "damaged"),
    "empty": (every_file(lambda b: b""), "damaged"),
    "another source": (another_source, "another source"),
    "another numba": (changed("numba", "0.0.1"), "made with numba 0.0.1"),
    "another llvmlite": (changed("llvmlite", "0.0.1"), "made with llvmlite 0.0.1"),
    "another Python": (changed("python", "2.7"), "made with python 2.7"),
    "another system": (changed("system", "plan9 mips"), "made with system plan9 mips"),
    "another processor": (changed("level", "x86-64-v9"), "for processors of level x86-64-v9"),
    "what they are for is not said": (
        lambda folder: (folder / "palpate" / "jit" / "built" / prebuilt.MADE_FOR).write_text("{"), "cannot be read"),
}  # fmt: skip
QUICK = ["a bit of the code is wrong", "another source", "another numba", "another processor"]


@needs_level
@pytest.mark.parametrize(
    "why", [*QUICK, *(pytest.param(why, marks=pytest.mark.slow) for why in REFUSED if why not in QUICK)]
)
def test_what_does_not_fit_is_compiled_here_which_one_line_says_once(installed, why):
    spoil, reason = REFUSED[why]
    spoil(installed)
    before = contents(installed)
    (value, kernels), said = ran(USE, installed)
    assert int(kernels) == COMPILED
    assert len(said) == 1
    assert said[0].startswith("palpate: kernels that came with palpate are not used: ")
    assert reason in said[0]
    assert contents(installed) == before  # the package is only read
    (found, kernels), said = ran(USE, installed)
    assert (found, int(kernels), said) == (value, 0, [])  # now from the user's own cache


@needs_level
@pytest.mark.parametrize("setting", ["NUMBA_BOUNDSCHECK=1", "NUMBA_CPU_NAME=x86-64-v2"])
def test_who_asks_for_other_code_gets_it_without_a_word(installed, setting):
    name, _, value = setting.partition("=")
    (_, kernels), said = ran(USE, installed, **{name: value})
    assert int(kernels) == COMPILED
    assert said == []


def test_a_processor_without_an_instruction_of_a_level_does_not_run_it(monkeypatch):
    monkeypatch.setitem(prebuilt.LEVELS, "x86-64-v3", ("avx2", "avx-of-the-future"))
    assert not prebuilt.runs_here("x86-64-v3")
    monkeypatch.setattr(prebuilt.platform, "machine", lambda: "aarch64")
    assert not prebuilt.runs_here("x86-64-v2")


def test_code_for_this_machine_alone_is_not_put_into_a_wheel(tmp_path):
    from palpate.jit.starts.prebuilding import put_prebuilt

    with pytest.raises(ValueError, match="compiled for this machine, not for one of"):
        put_prebuilt(tmp_path)


def test_the_compiler_is_pinned_to_the_versions_that_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    tested = (ROOT / "constraints.txt").read_text().split()
    pinned = [each for each in project["dependencies"] if each.startswith(("numba", "llvmlite"))]
    assert len(pinned) == 2
    assert set(pinned) <= set(tested)
