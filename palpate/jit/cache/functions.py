"""The kernel cache: where compiled code is kept, and when it is stale.

Code is stamped with a digest of all its source (`stamps`), and builds with other flags (bounds checks, versions) are
kept in other folders: an edit anywhere is seen, and a checked build never mixes with a fast one.  What numba keeps it
runs as it finds it; we look at who can have written it (`folders`) and whether it is whole.  What is not here may have
come with the package (`prebuilt`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import caching
from numba.core.serialize import dumps

from palpate.jit.cache import folders, prebuilt, turns
from palpate.jit.cache.digests import checked_content, digest
from palpate.jit.cache.stamps import relative, source_stamp
from palpate.jit.compiler.flags import PROCESSOR, flags_stamp
from palpate.jit.compiler.parts import rebuilt, reduced
from palpate.printable import say_once


@functools.cache
def _chosen() -> tuple[Path | None, str]:
    """The folder of compiled kernels, and why others are not used."""
    versions = f"numba{numba.__version__}-llvmlite{llvmlite.__version__}-py{sys.version_info[0]}{sys.version_info[1]}"
    checked = "-boundscheck" if numba.config.BOUNDSCHECK else ""
    build = f"{versions}{checked}-{flags_stamp(*PROCESSOR)}"
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


class FunctionCache(caching.Cache):
    """The compiled code of one function: a file for each list of argument types, a digest and then the code.

    The digest is also of all that the code was made for: another function's file, or one of an older source, is as
    wrong as a damaged one.  What is wrong is removed before any of it is used, and compiled again.
    """

    def __init__(self, function: Any, folder: Path | None) -> None:
        file = Path(function.__code__.co_filename).resolve()
        self._name, self._py_func, self._folder, self._enabled = repr(function), function, folder, True
        where = f"{file.parent.name}_{hashlib.blake2b(str(file.parent).encode(), digest_size=8).hexdigest()}"
        self._cache_path = str(folder / where) if folder else ""
        plain = re.sub(r"[^\w.]", "", function.__qualname__)[-100:]
        self._base = f"{where}/{file.stem}.{plain}-{function.__code__.co_firstlineno}"
        self._module = f"{relative(file).removesuffix('.py').replace('/', '.')}.{plain}"
        self._made_from = f"{relative(file)} {function.__qualname__} {source_stamp(file)}"

    @classmethod
    def of(cls, function: Any) -> FunctionCache | caching.NullCache:
        folder, file = cache_dir(), Path(function.__code__.co_filename)
        if not file.exists():  # typed at a prompt
            return caching.NullCache()
        if folder is not None and not _is_safe(Path(cls(function, folder).cache_path)):
            folder = None
        return cls(function, folder) if folder or prebuilt.usable(prebuilt.FOLDER) else caching.NullCache()

    def _file_and_identity(self, signature: Any, codegen: Any) -> tuple[str, bytes]:
        """Name of the file below the folder, and what the code in it must have been made for."""
        types, machine, (code, closure) = self._index_key(signature, codegen)
        which = repr((types, machine, closure))
        # without the code: an edit replaces the file
        name = f"{self._base}.{_short(which)}.nbc"
        return name, f"{self._folder and self._folder.name}/{name} {which} {code} {self._made_from}".encode()

    def prebuilt(self, signature: Any, codegen: Any, made: str) -> tuple[str, bytes]:
        """The same of what a wheel brings: a level instead of this machine, and nothing of where the package lies."""
        types, _, (code, closure) = self._index_key(signature, codegen)
        which = repr((types, closure))
        name = f"{self._module}.{_short(which)}.nbc"
        return name, f"{made} {name} {which} {code} {self._made_from}".encode()

    def file(self, sig: Any, target_context: Any) -> Path | None:
        """Where the code for these types is kept; an older source's may be there."""
        return self._folder / self._file_and_identity(sig, target_context.codegen())[0] if self._folder else None

    def content(self, sig: Any, target_context: Any) -> memoryview | None:
        """The code for these types, if it is there, whole and of the source as it is now; nothing is removed."""
        codegen = target_context.codegen()
        if self._folder is not None:
            name, identity = self._file_and_identity(sig, codegen)
            with contextlib.suppress(OSError):
                if (found := checked_content(self._folder / name, identity)) is not None:
                    return found
        made = prebuilt.usable(prebuilt.FOLDER)
        return prebuilt.content(*self.prebuilt(sig, codegen, made)) if made else None

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        codegen = target_context.codegen()
        name, identity = self._file_and_identity(sig, codegen)
        content = self._read(name, identity)
        if content is None and (made := prebuilt.usable(prebuilt.FOLDER)):
            content = _unpickled(prebuilt.content(*self.prebuilt(sig, codegen, made)))
        if content is None and self._folder is not None:
            turns.take(self._folder, name)
            content = self._read(name, identity)
        return None if content is None else rebuilt(target_context, content)

    def _read(self, name: str, identity: bytes) -> Any:
        """What is kept; what is wrong is removed."""
        if self._folder is None:
            return None
        path = self._folder / name
        try:
            if (content := _unpickled(checked_content(path, identity))) is not None:
                return content
        except FileNotFoundError:
            return None
        except OSError:  # a disk that fails
            pass
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        if (
            self._folder is None or data.library.has_dynamic_globals or " at 0x" in repr(sig)
        ):  # an address of this process
            return
        name, identity = self._file_and_identity(sig, data.codegen)
        content = dumps(reduced(data))
        try:
            _write(self._folder / name, digest(identity, content) + content)
        except OSError as problem:
            say_once(f"compiled code is not kept in {self._folder}: {problem.strerror}; the next start compiles again")


def _unpickled(content: memoryview | None) -> Any:
    """Of code whose digest fits, in a folder that only we can fill, or of our own package."""
    try:
        return None if content is None else pickle.loads(content)  # noqa: S301
    except Exception:  # a class of somebody's package that is no longer there
        return None


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


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
