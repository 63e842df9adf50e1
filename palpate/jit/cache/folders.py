"""Folders that only we can fill: for compiled code, which is run as it is found, and for keys.

A digest tells damage, not who wrote a file.  So a folder is used only if it, and every folder above it, belongs to us
or to root and cannot be written by others.  Above it a folder of everybody with the sticky bit, such as /tmp, is fine:
there nobody renames what is ours, and what somebody else put there first is not ours.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

VARIABLE = "PALPATE_CACHE_DIR"
KNOWS_OWNERS = hasattr(os, "geteuid")  # not on Windows, where homes and temporary folders are the user's own
MOST_LINKS = 40  # as many as Linux follows
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def named_root() -> Path | None:
    """The folder that PALPATE_CACHE_DIR names."""
    named = os.environ.get(VARIABLE)
    return Path(named).absolute() if named else None


def own_roots() -> list[Path]:
    """Of a user who named none: in his cache folder, and in the temporary one."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    ours = f"palpate-{os.geteuid() if KNOWS_OWNERS else 'cache'}"
    found = [Path(home) / "palpate", Path(tempfile.gettempdir()).absolute() / ours]
    return [root for root in found if root.is_absolute()]  # "~" stays what it is for a user without a home


def make(folder: Path, mode: int = 0o700) -> None:
    """The folder and what is missing above it, for nobody else to see; what others may read they may not write."""
    if not folder.is_dir():
        make(folder.parent, mode)
        folder.mkdir(mode=mode & ~OTHERS_WRITE, exist_ok=True)


def we_and_root() -> frozenset[int]:
    """Who can run code as us anyway; where root has another number (a user namespace), / is still root's."""
    return frozenset({os.geteuid(), 0, os.stat("/").st_uid}) if KNOWS_OWNERS else frozenset()


def owners_of(root: Path) -> frozenset[int]:
    """Who may fill a root: we and root; naming somebody's folder in PALPATE_CACHE_DIR is trust in its owner."""
    if KNOWS_OWNERS and root == named_root() and root.exists():
        return we_and_root() | {root.stat().st_uid}
    return we_and_root()


def why_unsafe(folder: Path, owners: frozenset[int]) -> str:
    """Why somebody other than the owners could put a file there; "" if nobody can, as far as the path exists."""
    if not KNOWS_OWNERS:
        return ""
    here, steps, public, links = Path(folder.anchor), [*folder.parts[:0:-1]], False, 0
    while True:
        try:
            info = here.lstat()
        except FileNotFoundError:
            return ""
        if info.st_uid not in (we_and_root() if public else owners):  # in /tmp a name can be taken by anybody
            return f"{here} belongs to {_user(info.st_uid)}"
        if stat.S_ISLNK(info.st_mode):  # leads on: every folder on the way counts
            if public or (links := links + 1) > MOST_LINKS:
                return f"{here} is a link {'where others can write' if public else 'in a ring of links'}"
            steps += Path(os.readlink(here)).parts[::-1]
            here = here.parent
        elif not stat.S_ISDIR(info.st_mode):
            return f"{here} is not a folder"
        else:
            public = bool(info.st_mode & OTHERS_WRITE)
            if public and not (steps and info.st_mode & stat.S_ISVTX):
                return f"others can write in {here} (chmod go-w {here})"
        if not steps:
            return ""
        step = steps.pop()
        here = here.parent if step == ".." else here / step


def why_unusable(folder: Path, owners: frozenset[int], mode: int = 0o700) -> str:
    """Makes what is missing of a folder, but nothing below one that others own or can fill; "" if it will do."""
    try:
        if not (why := why_unsafe(folder, owners)):
            make(folder, mode)
            why = why_unsafe(folder, owners)
    except OSError as problem:
        why = f"{problem.filename or folder}: {problem.strerror}"
    return why


def _user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def secret_folder(*names: str) -> Path:
    """A folder for a key, which only we and root can fill and only we can read; an OSError says why there is none."""
    reasons = []
    named = named_root()
    for root in [named, *own_roots()] if named else own_roots():  # a named one may be a cache that we only read
        folder = root.joinpath(*names)
        why = why_unusable(folder, we_and_root())
        if not why and os.access(folder, os.W_OK):
            folder.chmod(0o700)
            return folder
        reasons.append(why or f"{folder} cannot be written")
    raise OSError("; ".join(reasons))
