"""Files that are whole or not there: on a full disk what was there before stays, and nothing half is left.

Everything is written beside the file, in the same folder, and then takes its place in one step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import IO, Any


class WriteError(OSError):
    """A file that could not be written; the one line names it."""


@contextmanager
def written_whole(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """A file to write, text (mode "w": UTF-8, lines as they come) or bytes ("wb"); a WriteError names it."""
    path = Path(path)
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    if path.exists() and not path.is_file():  # a pipe or a terminal: there is nothing to lose, and nothing to replace
        with _naming(path, path), open(path, mode, **text) as file:
            yield file
        return
    target = path.resolve()  # what a link points to is replaced, not the link
    part = target.with_name(f".{target.name[:200]}.{os.getpid()}.{get_ident()}.part")
    try:
        with _naming(path, part):
            with open(part, mode, **text) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())  # some file systems find out only now that there is no room
            os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: str | Path, data: str | bytes) -> None:
    """All of a file at once."""
    with written_whole(path, "w" if isinstance(data, str) else "wb") as file:
        file.write(data)


@contextmanager
def _naming(path: Path, part: Path) -> Iterator[None]:
    """An OSError of `part`, or of none that it names, is a WriteError of `path`."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        if error.filename is not None and Path(os.fsdecode(error.filename)) != part:
            raise
        raise WriteError(f"{path} cannot be written: {error.strerror or error}") from None
