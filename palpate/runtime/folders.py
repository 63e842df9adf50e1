"""Folders for a while: gone with whoever made them, or swept by the next start if that one was killed.

    <temporary folder>/palpate-meshes-k3x9_a2b/owner     a file, locked by the process that made the folder
                                               files/    what the folder is for

A lock ends with its process, however that ended, and no other process can be taken for it as with a number.  A file
`owner` that nobody has locked is therefore of one that is dead.  It is locked before it has its name.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import weakref
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: folders of the killed stay there
    HAS_LOCKS = False
else:
    HAS_LOCKS = True

OWNER, FILES = "owner", "files"


class Folder:
    """An empty folder at `path`; `with Folder("export") as path: ...`, or until `remove`, or the end of the process."""

    def __init__(self, what: str) -> None:
        whole = Path(tempfile.mkdtemp(prefix=f"palpate-{what}-"))
        lock = _lock_new(whole)
        self.path = whole / FILES
        self.path.mkdir()
        self._last = weakref.finalize(self, _remove, whole, lock)

    def remove(self) -> None:
        self._last()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def _lock_new(whole: Path) -> int:
    """The descriptor that holds the lock; -1 if this file system has none, and then it is never swept."""
    if not HAS_LOCKS:
        return -1
    lock = os.open(whole / f"{OWNER}.new", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        _lock(lock)
        os.rename(whole / f"{OWNER}.new", whole / OWNER)
    except OSError:
        os.close(lock)
        return -1
    return lock


def _lock(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove(whole: Path, lock: int) -> None:
    shutil.rmtree(whole, ignore_errors=True)
    if lock >= 0:
        os.close(lock)


def sweep() -> None:
    """Remove the folders of processes that were killed; only this user's, and nothing that is not such a folder."""
    if not HAS_LOCKS:
        return
    with contextlib.suppress(OSError):  # it is only tidying
        for entry in list(os.scandir(tempfile.gettempdir())):
            if entry.name.startswith("palpate-"):
                with contextlib.suppress(OSError):
                    _sweep(Path(entry.path))


def _sweep(whole: Path) -> None:
    about = os.lstat(whole)
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
        return
    lock = os.open(whole / OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)  # an OSError: not one of ours
    try:
        own = os.fstat(lock)
        if stat.S_ISREG(own.st_mode) and own.st_uid == os.geteuid() and set(os.listdir(whole)) <= {OWNER, FILES}:
            _lock(lock)  # an OSError: whoever made it lives
            shutil.rmtree(whole, ignore_errors=True)
    finally:
        os.close(lock)
