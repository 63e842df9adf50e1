"""The manual keeps its word: its code runs and prints what the page says, its commands and names exist.

A page's python blocks run in order, in one fresh interpreter and an empty folder.  A text block right behind a python
block is what it prints.
"""

import ast
import io
import json
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import palpate as pp

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {page.name: page for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))}
LIMITS = {".png": 200_000, ".webp": 1_500_000}  # of a picture, and of a film [bytes]
TAKEN = {
    "learn-by-touch.png",
    "arm-swing.png",
    "arm-line.png",
    "arm-push.png",
    "avatar-patterns.png",
    "avatar-hand-shake.png",
    "mobile-follow.png",
    "mobile-forces.png",
    "mobile-forces-commanded.png",
    "mobile-forces-poses.png",
    "mobile-leaps.png",
    "mobile-lift.png",
    "mobile-safety.png",
    "mobile-two-users.png",
    "mobile-z-width.png",
    "planar-walls-compared.png",
    "planar-walls-device.png",
    "planar-friction-compared.png",
    "planar-peg-device.png",
    "planar-rates.png",
    "planar-device.png",
    "planar-four-channel.png",
    "mobile-calibration.png",
    "mobile-calibration-residuals.png",
    "sweep-avatar.png",
    "sweep-follower.png",
    "sweep-link.png",
    "sweep-walls.png",
    "sweep-z-width.png",
    "study-walls-psychometric.png",
}  # pictures of runs, which docs/figures.py does not draw
MARK = "\x1e"  # between the outputs of two blocks

# Reads [[page, line, code], ...] and runs them in one namespace; errors name the page and its line.
RUNNER = f"""
import json, sys
space = {{"__name__": "__main__"}}
for page, line, code in json.load(sys.stdin):
    exec(compile("\\n" * line + code, page, "exec"), space)
    print({MARK!r}, end="")
"""


class Block(NamedTuple):
    line: int  # of its opening fence
    language: str
    text: str
    follows: bool  # only blank lines since the block before


def blocks(text: str) -> list[Block]:
    """Fenced blocks of a page, directives ("{note}") among them."""
    found: list[Block] = []
    fence, only_blank = None, False
    for number, line in enumerate(text.splitlines(), start=1):
        opening = re.match(r"(`{3,})(.*)$", line)
        if fence is None and opening:
            fence, start, language, lines = opening[1], number, opening[2].strip(), []
        elif fence is not None and line.rstrip() == fence:
            found.append(Block(start, language, "".join(f"{x}\n" for x in lines), only_blank))
            fence, only_blank = None, True
        elif fence is not None:
            lines.append(line)
        elif line.strip():
            only_blank = False
    assert fence is None, f"the block that begins in line {start} has no end"
    return found


def code_of(page: Path) -> list[tuple[Block, str | None]]:
    """Python blocks of a page, each with what it shall print, if the page says."""
    found = blocks(page.read_text(encoding="utf-8"))
    following = [*found[1:], None][: len(found)]
    return [(block, after.text if after and after.language == "text" and after.follows else None)
            for block, after in zip(found, following, strict=True) if block.language == "python"]  # fmt: skip


# CONTRIBUTING shows fragments
RUNNABLE = [name for name, page in PAGES.items() if name != "CONTRIBUTING.md" and code_of(page)]


@pytest.mark.parametrize("name", RUNNABLE)
def test_code_runs_and_prints_what_the_page_says(name, tmp_path):
    code = code_of(PAGES[name])
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], cwd=tmp_path, capture_output=True, text=True,
        input=json.dumps([[name, block.line, block.text] for block, _ in code]),
        env=os.environ | {"PALPATE_QUIET": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for (block, promised), printed in zip(code, done.stdout.split(MARK), strict=False):
        if promised is not None:
            assert printed.strip() == promised.strip(), f"{name}, the block in line {block.line}"


def test_pages_with_code_are_found():
    assert {"README.md", "quickstart.md", "kernels.md", "runtime.md", "recording.md", "experiments.md"} <= set(RUNNABLE)


def test_readme_shows_the_tested_example():
    example = (ROOT / "examples" / "ten_lines.py").read_text(encoding="utf-8")
    assert example in [block.text for block, _ in code_of(PAGES["README.md"])]


# ---- the command line


def help_of(*command: str) -> str:
    done = subprocess.run([sys.executable, "-m", "palpate", *command, "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sections(page: Path) -> dict[str, str]:
    """Title of each second-level heading -> what stands below it."""
    parts = re.split(r"^## (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_and_its_options_are_on_the_page():
    commands = re.search(r"\{([a-z,-]+)\}", help_of())[1].split(",")
    written = {title.removeprefix("palpate "): text for title, text in sections(DOCS / "cli.md").items()
               if title.startswith("palpate ")}  # fmt: skip
    assert set(written) == set(commands)
    for command in commands:
        options = set(re.findall(r"--[a-z][a-z-]+", help_of(command))) - {"--help"}
        options -= {option for option in options if option.startswith("--no-")}  # the other half of a switch
        missing = [option for option in options if option not in written[command]]
        assert not missing, f"cli.md says nothing of palpate {command} {' '.join(missing)}"


# ---- names, links, pictures


def test_every_public_name_is_in_the_reference():
    api = (DOCS / "api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"auto(?:class|function|exception)::? palpate\.(\w+)$", api, flags=re.MULTILINE))
    assert named | {"effects", "models", "plans", "tasks", "trajectories"} == set(pp.__all__)


def test_every_page_is_in_the_contents():
    contents = next(b.text for b in blocks((DOCS / "index.md").read_text(encoding="utf-8")) if "toctree" in b.language)
    listed = {line.strip() for line in contents.splitlines() if line.strip() and not line.startswith(":")}
    assert listed == {page.stem for page in DOCS.glob("*.md")} - {"index"}


# ---- what prose names, in the manual and in comments and docstrings

PLACEHOLDERS = {"FILE.py", "FILE.toml", "file.py", "your_script.py"}
SKIPPED = {".venv", ".git", "node_modules", "static", "_build", "out", "build", "dist"}


def paths_below(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir() and path.name not in SKIPPED:
            yield from paths_below(path)
        elif path.is_file():
            yield path


PATHS = ["/" + path.relative_to(ROOT).as_posix() for path in paths_below(ROOT)]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
TESTS = {
    name
    for file in (ROOT / "tests").rglob("test_*.py")
    for name in (file.stem, *re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8")))
}


def prose(file: Path) -> str:
    """All of a file; of a Python file its comments and docstrings."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        return text
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    return "\n".join([*comments, *(ast.get_docstring(node) or "" for node in nodes)])


def is_there(dotted: str) -> bool:
    """Of palpate.folder.module.name: the module is a file, and the name occurs in it."""
    parts = dotted.split(".")
    for n in range(len(parts), 1, -1):
        base = ROOT.joinpath(*parts[:n])
        file = next((f for f in (base.with_suffix(".py"), base / "__init__.py") if f.is_file()), None)
        if file is not None:
            text = file.read_text(encoding="utf-8")
            return all(re.search(rf"\b{name}\b", text) for name in parts[n:])
    return parts[1] not in {
        path.stem for path in (ROOT / "palpate").iterdir()
    }  # palpate.Frame, a group of entry points


def names_nothing(text: str) -> list[str]:
    """Names of files, tests, modules and make's targets in a text that are not there."""
    files = re.findall(r"(?<![\w./*<-])((?:[\w-]+/)*[\w-]+\.(?:py|ts|md|toml|html|css))\b(?!\()", text)
    below_tests = re.findall(r"\btests/[\w/]+", text)
    return [
        *(name for name in files if name not in PLACEHOLDERS and not any(path.endswith(f"/{name}") for path in PATHS)),
        *(name for name in below_tests if not any(path.startswith(f"/{name}") for path in PATHS)),
        *(name for name in re.findall(r"\btest_\w+", text) if name not in TESTS),
        *(f"make {name}" for name in re.findall(r"`make ([a-z-]+)", text) if name not in TARGETS),
        *(name for name in re.findall(r"(?<![\w.])palpate(?:\.\w+)+", text) if not is_there(name)),
    ]  # fmt: skip


def test_what_prose_names_is_there():
    """A file that moved, a test that was renamed: whoever follows the name finds something."""
    files = [
        *PAGES.values(),
        *(ROOT / "palpate").rglob("*.py"),
        *(ROOT / "web" / "src").rglob("*.ts"),
        ROOT / "Makefile",
    ]
    missing = {str(file.relative_to(ROOT)): names for file in files if (names := names_nothing(prose(file)))}
    assert not missing


@pytest.mark.parametrize(
    "text",
    [
        "see nowhere/aba.py", "`aba.md`", "`test_nothing_at_all`", "tests/nowhere", "`make testt`",
        "palpate.dynamics.nowhere", "palpate.dynamics.aba.nothing_of_it",
    ],
)  # fmt: skip
def test_a_name_of_nothing_is_found(text):
    assert len(names_nothing(text)) == 1
    assert not names_nothing(
        "dynamics/aba.py, `runtime.md`, tests/dynamics, `make test XDIST=`, palpate.dynamics.aba, palpate.Frame"
    )


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures_of_a_page_are_there(name):
    text = PAGES[name].read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            file = PAGES[name].parent / target
            assert file.exists(), f"{name} points at {target}"
            if file.suffix in LIMITS:
                assert file.stat().st_size < LIMITS[file.suffix]


def test_the_script_that_draws_the_pictures_still_does(tmp_path):
    done = subprocess.run([sys.executable, DOCS / "figures.py", tmp_path], capture_output=True, text=True,
                          env=os.environ | {"PALPATE_QUIET": "1"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    drawn = {file.name for file in tmp_path.glob("*.png")}
    assert drawn == {file.name for file in (DOCS / "_static").glob("*.png")} - TAKEN


def test_every_picture_of_the_page_is_shown_and_can_be_taken_anew():
    script = (DOCS / "pictures.py").read_text(encoding="utf-8")
    taken = {name.replace("_", "-") for name in re.findall(r"^def (\w+)\(tab: Tab\) -> Parts:$", script, re.MULTILINE)}
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES.values())
    files = set((DOCS / "_static" / "page").iterdir())
    assert {file.stem for file in files} == taken | {"replay", "pull"}
    assert [file.name for file in files if f"_static/page/{file.name})" not in pages] == []
