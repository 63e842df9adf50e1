"""Stamps: digests of all source that compiled code was made from, the same wherever the package lies.

Numba's own cache looks only at the file a function stands in.  A stamp is of that file and of everything it imports
from its package and from palpate: an edit anywhere is seen.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import re
import tokenize
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]

# An import statement that has its lines to itself, and what may be a part of any
_ALONE = re.compile(r"^[ \t]*((?:from[ \t]+[.\w]+[ \t]+)?import[ \t]+(?:\([^)]*\)|[^\n(;\\]*))$", re.MULTILINE)
_WORD = re.compile(r"\bimport\b")


def _import_statements(source: str) -> ast.AST:
    """A tree with all import statements of a source; of most files the rest need not be parsed, which takes long."""
    alone = _ALONE.findall(source)
    if len(alone) == len(_WORD.findall(source)):
        with contextlib.suppress(SyntaxError):  # a docstring's sentence
            return ast.parse("\n".join(alone))
    return ast.parse(source)


@functools.cache
def _imported_names(file: Path) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """(level, module, names) of every import statement in a file."""
    found: list[tuple[int, str, tuple[str, ...]]] = []
    with tokenize.open(file) as text:  # in the encoding that it says it has
        source = text.read()
    for node in ast.walk(_import_statements(source)):
        if isinstance(node, ast.Import):
            found += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
    return tuple(found)


def _package_root(file: Path) -> Path:
    """The folder that the file's absolute imports start from: above its outermost package."""
    folder = file.parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def _module_file(base: Path) -> Path | None:
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


FRONT_DOOR = PACKAGE / "__init__.py"


@functools.cache
def _imported_files(file: Path) -> frozenset[Path]:
    """Files that `file` imports from its own package (or, for a script, its own folder) and from palpate.

    The front door leads everywhere, and no compiled code goes through it.
    """
    if file == FRONT_DOOR:
        return frozenset()
    root = _package_root(file)
    package = file.relative_to(root).parts[0] if file.parent != root else None
    found: set[Path] = set()
    for level, module, names in _imported_names(file):
        parts = module.split(".") if module else []
        if level:
            base = file.parents[level - 1].joinpath(*parts)
        elif parts[0] == "palpate":
            base = PACKAGE.parent.joinpath(*parts)
        elif package is None or parts[0] == package:
            base = root.joinpath(*parts)
        else:
            continue
        submodules = [_module_file(base / name) for name in names]
        found |= {s for s in submodules if s}
        # the package's own __init__ counts only where a name comes from it and not from a submodule
        if (not names or not all(submodules)) and (own := _module_file(base)):
            found.add(own)
    return frozenset(found)


@functools.cache
def import_closure(file: Path) -> tuple[Path, ...]:
    """The file and every file it reaches by imports within its package and palpate, sorted."""
    seen, stack = {file}, [file]
    while stack:
        new = _imported_files(stack.pop()) - seen
        seen |= new
        stack += new
    return tuple(sorted(seen))


def relative(file: Path) -> str:
    """A file of palpate as its module is named from, on every machine; of others where it lies."""
    return (file.relative_to(PACKAGE.parent) if file.is_relative_to(PACKAGE) else file).as_posix()


@functools.cache
def source_stamp(file: Path) -> str:
    """Of a file and of all that it imports."""
    digest = hashlib.sha256()
    for name, member in sorted((relative(member), member) for member in import_closure(file)):
        digest.update(name.encode() + b"\0" + member.read_bytes() + b"\0")
    return digest.hexdigest()
