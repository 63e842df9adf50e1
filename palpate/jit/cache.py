"""The kernel cache: where compiled code is kept, and when it is stale.

Numba's own cache looks only at the file a function stands in.  Ours stamps it with a digest of that file and of
everything it imports from its package, and keeps builds with other flags (bounds checks, versions) in other folders:
an edit anywhere is seen, and a checked build never mixes with a fast one.  What numba keeps it runs as it finds it; we
look at who can have written it (`folders`) and whether it is whole.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import tokenize
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import caching
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from palpate.jit import folders, turns
from palpate.printable import complain

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


@functools.cache
def _chosen() -> tuple[Path | None, str]:
    """The folder of compiled kernels, and why others are not used."""
    versions = f"numba{numba.__version__}-llvmlite{llvmlite.__version__}-py{sys.version_info[0]}{sys.version_info[1]}"
    flags = repr([(name, getattr(numba.config, name, None)) for name in _FLAGS]) + repr(sorted(FASTMATH))
    checked = "-boundscheck" if numba.config.BOUNDSCHECK else ""
    build = f"{versions}{checked}-{hashlib.sha256(flags.encode()).hexdigest()[:8]}"
    reasons: list[str] = []
    named = folders.named_root()
    for root in [named] if named else folders.own_roots():
        folder, owners = root / build, folders.owners_of(root)
        if not (why := folders.why_unusable(root, owners)):
            why = folders.why_unusable(folder, owners, stat.S_IMODE(root.stat().st_mode) | 0o700)
            if not why and not os.access(folder, os.R_OK | os.X_OK):
                why = f"{folder} cannot be read"
            elif not why and not os.access(folder, os.W_OK) and not any(folder.iterdir()):
                why = f"{folder} cannot be written"
        if not why:
            return folder, "; ".join(reasons)
        reasons.append(why)
    told = "; ".join(reasons)
    say_once(f"every start compiles, nothing is kept: {told}; name a folder of your own in {folders.VARIABLE}")
    return None, told


def cache_dir() -> Path | None:
    """Where compiled kernels are kept, or None when no folder will do (then every start compiles).

    PALPATE_CACHE_DIR, else the user's cache folder, else one in the temporary folder: the first that nobody else can
    fill.  Below it one folder for each combination of versions and flags.
    """
    return _chosen()[0]


def why_not_elsewhere() -> str:
    """Why folders that come before `cache_dir()` are not used: one that others can fill, or that cannot be made."""
    return _chosen()[1]


@functools.cache
def say_once(text: str) -> None:
    if not os.environ.get("PALPATE_QUIET"):
        complain(text)


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


FRONT_DOOR = Path(__file__).resolve().parents[1] / "__init__.py"


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
            base = Path(__file__).parents[2].joinpath(*parts)
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


@functools.cache
def _source_stamp(file: Path) -> str:
    digest = hashlib.sha256()
    for member in import_closure(file):
        digest.update(str(member).encode() + b"\0" + member.read_bytes() + b"\0")
    return digest.hexdigest()


class FunctionCache(caching.Cache):
    """The compiled code of one function: a file for each list of argument types, a digest and then the code.

    The digest is also of all that the code was made for: another function's file, or one of an older source, is as
    wrong as a damaged one.  What is wrong is removed before any of it is used, and compiled again.
    """

    def __init__(self, function: Any, folder: Path) -> None:
        file = Path(function.__code__.co_filename).resolve()
        self._name, self._py_func, self._folder, self._enabled = repr(function), function, folder, True
        where = f"{file.parent.name}_{hashlib.blake2b(str(file.parent).encode(), digest_size=8).hexdigest()}"
        self._cache_path = str(folder / where)
        plain = re.sub(r"[^\w.]", "", function.__qualname__)[-100:]
        self._base = f"{where}/{file.stem}.{plain}-{function.__code__.co_firstlineno}"
        self._made_from = f"{file} {function.__qualname__} {_source_stamp(file)}"

    @classmethod
    def of(cls, function: Any) -> FunctionCache | caching.NullCache:
        folder, file = cache_dir(), Path(function.__code__.co_filename)
        if folder is None or not file.exists():  # or typed at a prompt
            return caching.NullCache()
        found = cls(function, folder)
        return found if _is_safe(Path(found.cache_path)) else caching.NullCache()

    def _file_and_identity(self, signature: Any, codegen: Any) -> tuple[str, bytes]:
        """Name of the file below the folder, and what the code in it must have been made for."""
        types, machine, (code, closure) = self._index_key(signature, codegen)
        which = repr((types, machine, closure))
        # without the code: an edit replaces the file
        name = f"{self._base}.{hashlib.blake2b(which.encode(), digest_size=8).hexdigest()}.nbc"
        return name, f"{self._folder.name}/{name} {which} {code} {self._made_from}".encode()

    def file(self, sig: Any, target_context: Any) -> Path:
        """Where the code for these types is kept; an older source's may be there."""
        return self._folder / self._file_and_identity(sig, target_context.codegen())[0]

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether the code for these types is there, whole and of the source as it is now."""
        name, identity = self._file_and_identity(sig, target_context.codegen())
        with contextlib.suppress(OSError):
            return _content(self._folder / name, identity) is not None
        return False

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        name, identity = self._file_and_identity(sig, target_context.codegen())
        content = self._read(name, identity)
        if content is None:
            turns.take(self._folder, name)
            content = self._read(name, identity)
        return None if content is None else CompileResult._rebuild(target_context, *content)

    def _read(self, name: str, identity: bytes) -> Any:
        path = self._folder / name
        try:
            if (content := _content(path, identity)) is not None:
                return pickle.loads(content)  # noqa: S301  the folder is ours, the digest fits
        except FileNotFoundError:
            return None
        except Exception:  # noqa: S110  a disk that fails, or a class of somebody's package that is no longer there
            pass
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        if data.library.has_dynamic_globals or " at 0x" in repr(sig):  # an address of this process
            return
        name, identity = self._file_and_identity(sig, data.codegen)
        content = dumps(data._reduce())
        try:
            _write(self._folder / name, _digest(identity, content) + content)
        except OSError as problem:
            say_once(f"compiled code is not kept in {self._folder}: {problem.strerror}; the next start compiles again")


DIGEST_BYTES = 32


def _content(path: Path, identity: bytes) -> memoryview | None:
    """What is in a file of the cache; None: it is damaged, or was made for something else."""
    data = memoryview(path.read_bytes())
    return data[DIGEST_BYTES:] if _digest(identity, data[DIGEST_BYTES:]) == data[:DIGEST_BYTES] else None


def _digest(identity: bytes, content: Any) -> bytes:
    digest = hashlib.blake2b(identity, digest_size=DIGEST_BYTES)
    digest.update(content)
    return digest.digest()


@functools.cache
def _is_safe(folder: Path) -> bool:
    """Of a folder two below a root, which may have been made under other rules than ours."""
    why = folders.why_unsafe(folder, folders.owners_of(folder.parents[1]))
    if why:
        say_once(f"compiled code is not kept: {why}")
    return not why


def _write(path: Path, data: bytes) -> None:
    """The whole file or none of it, readable by those who can read its folder."""
    mode = stat.S_IMODE(path.parents[1].stat().st_mode)
    folders.make(path.parent, mode)
    file, name = tempfile.mkstemp(prefix=path.name, suffix=".tmp", dir=path.parent)
    try:
        with open(file, "wb") as opened:
            opened.write(data)
        os.chmod(name, mode & 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
