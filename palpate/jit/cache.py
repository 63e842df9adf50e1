"""The kernel cache: where compiled code is kept, and when it is stale.

Numba's own cache looks only at the file a function stands in.  Ours stamps it with a digest of that file and of
everything it imports from its package, and keeps builds with other flags (bounds checks, versions) in other folders:
an edit anywhere is seen, and a checked build never mixes with a fast one.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import os
import re
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import caching

# Contraction and reassociation let LLVM use FMA and SIMD; "nnan" and "ninf" are left out: they make isnan() false.
FASTMATH = frozenset({"contract", "reassoc", "nsz", "arcp"})

# Settings of numba that change the machine code it emits.
_FLAGS = (
    "BOUNDSCHECK",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "ENABLE_AVX",
    "CPU_NAME",
    "CPU_FEATURES",
    "DEBUGINFO_DEFAULT",
    "DEBUG_NRT",
)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@functools.cache
def cache_dir() -> Path | None:
    """Where compiled kernels are kept, or None when nothing is writable (then every start compiles).

    PALPATE_CACHE_DIR, else the user's cache folder, else the temporary folder; below it one folder for each
    combination of versions and flags.
    """
    versions = f"numba{numba.__version__}-llvmlite{llvmlite.__version__}-py{sys.version_info[0]}{sys.version_info[1]}"
    flags = repr([(name, getattr(numba.config, name, None)) for name in _FLAGS]) + repr(sorted(FASTMATH))
    checked = "-boundscheck" if numba.config.BOUNDSCHECK else ""
    build = f"{versions}{checked}-{hashlib.sha256(flags.encode()).hexdigest()[:8]}"
    chosen = os.environ.get("PALPATE_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    temporary = Path(tempfile.gettempdir()) / f"palpate-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    for root in [Path(chosen)] if chosen else [Path(home) / "palpate", temporary]:
        if _writable(root / build):
            return root / build
    return None


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


def _imported_files(file: Path) -> Iterator[Path]:
    """Files that `file` imports from its own package (or, for a script, its own folder) and from palpate."""
    root = _package_root(file)
    package = file.relative_to(root).parts[0] if file.parent != root else None
    for level, module, names in _imported_names(file):
        parts = module.split(".") if module else []
        if level:
            base = file.parents[level - 1].joinpath(*parts)
        elif parts[0] == "palpate":
            base = Path(__file__).parents[2].joinpath(*parts)
        elif package is None or parts[0] == package:
            base = root.joinpath(*parts)
        else:
            continue
        submodules = [_module_file(base / name) for name in names]
        yield from (s for s in submodules if s)
        # the package's own __init__ counts only where a name comes from it and not from a submodule
        if (not names or not all(submodules)) and (own := _module_file(base)):
            yield own


@functools.cache
def import_closure(file: Path) -> tuple[Path, ...]:
    """The file and every file it reaches by imports within its package and palpate, sorted."""
    seen, stack = {file}, [file]
    while stack:
        new = set(_imported_files(stack.pop())) - seen
        seen |= new
        stack += new
    return tuple(sorted(seen))


@functools.cache
def _source_stamp(file: Path) -> str:
    digest = hashlib.sha256()
    for member in import_closure(file):
        digest.update(str(member).encode() + b"\0" + member.read_bytes() + b"\0")
    return digest.hexdigest()


class Locator(caching._CacheLocator):
    """Tells numba's cache where to keep a function and when what it kept is stale."""

    def __init__(self, file: Path, line: int) -> None:
        self._file, self._line = file, line

    def get_cache_path(self) -> str:
        folder = cache_dir()
        assert folder is not None
        return str(folder / self.get_suitable_cache_subpath(str(self._file)))

    def get_source_stamp(self) -> str:
        return _source_stamp(self._file)

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Locator | None:
        file = Path(py_file)
        if cache_dir() is None or not file.exists():  # no folder, or typed at a prompt
            return None
        locator = cls(file.resolve(), py_func.__code__.co_firstlineno)
        locator.ensure_cache_path()
        return locator


class CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = (Locator,)


class FunctionCache(caching.FunctionCache):
    _impl_class = CacheImpl
