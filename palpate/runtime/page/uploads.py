"""Files that a page sent: a robot's description and its meshes, written below one folder whatever their names say."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from palpate.runtime.children import Child, ChildError
from palpate.scenes.robots import ALL_HERE, SUFFIXES

MOST_FILES, MOST_BYTES = 400, 36 * 2**20  # of a robot
MOST_DESCRIPTION_BYTES = 4 * 2**20  # of one description: robots in daily use have less than 0.2 MB
PATIENCE_S = 120.0  # for the first reading
LONGEST_NAME, DEEPEST = 200, 20  # characters of a name, folders: what every file system takes


def unpack_robot(files: Any, folder: Path) -> Path:
    """Write the files {name: base64} that came, all below `folder`; the robot's own among them.

    Nothing of the robot is looked for outside (robots.ALL_HERE).
    """
    if not isinstance(files, dict) or not 0 < len(files) <= MOST_FILES:
        raise ValueError(f"a robot comes as 1 .. {MOST_FILES} files")
    contents = _decoded(files)
    robots = [path for path in contents if path.suffix.lower() in SUFFIXES and path.name != "package.xml"]
    if not robots:
        raise ValueError("none of the files is a robot: a .urdf, or an MJCF .xml")
    for path in robots:
        if len(contents[path]) > MOST_DESCRIPTION_BYTES:
            raise ValueError(f"{path.name} has {len(contents[path]) / 2**20:.0f} MB; a robot's description may have "
                             f"{MOST_DESCRIPTION_BYTES // 2**20}")  # fmt: skip
    for path, content in contents.items():
        try:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise ValueError(f"{str(path)!r} is a file and a folder") from None
        except OSError as error:
            raise ValueError(f"{str(path)!r} cannot be kept here: {error.strerror}") from None
    (folder / ALL_HERE).touch()
    best = min(robots, key=lambda path: (path.suffix.lower() != ".urdf", len(path.parts), str(path)))
    return folder / best


def try_robot(robot: Path, folder: Path) -> None:
    """Read it once where nothing can be lost; a ValueError says in one line why it is no robot."""
    child = Child("robot-reading", {"robot": str(robot), "among": str(folder)}, [])
    try:
        child.answer("bodies", PATIENCE_S)
    except ChildError as error:
        said = child.name not in str(error)  # else it ran into its limits, and could say nothing
        raise ValueError(str(error) if said else f"{robot.name} takes too long or too much memory to read") from None
    finally:
        child.process.kill()
        child.end()


def _decoded(files: dict[str, Any]) -> dict[Path, bytes]:
    """What came, by its place in the folder."""
    contents: dict[Path, bytes] = {}
    room = MOST_BYTES
    for name, data in files.items():
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        if not parts or not name.isprintable() or len(parts) > DEEPEST or max(map(len, parts)) > LONGEST_NAME:
            raise ValueError(f"{name[:LONGEST_NAME]!r} is not the name of a file")
        try:
            content = base64.b64decode(data, validate=True)
        except (ValueError, TypeError):
            raise ValueError(f"the file {name!r} did not arrive whole") from None
        room -= len(content)
        if room < 0:
            raise ValueError(f"the files have more than {MOST_BYTES // 2**20} MB")
        path = Path(*parts)
        if path in contents:
            raise ValueError(f"two files are called {str(path)!r}")
        contents[path] = content
    return contents
