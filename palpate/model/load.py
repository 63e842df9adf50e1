"""load: a description from a file, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from palpate.model.description import ModelError, MultiBody
from palpate.model.mjcf import load_mjcf
from palpate.model.urdf import load_urdf
from palpate.model.xml_tree import read_xml


def load(path: str | Path, free_base: bool = False, among: Path | None = None, **options: Any) -> MultiBody:
    """Read a .urdf file, or an .xml or .mjcf file that holds MJCF (or URDF: the root element decides).

    free_base  let the root link of a URDF float; an MJCF file says itself what floats
    among      a folder beyond which no file is read, whatever this one names
    options    passed on to `load_urdf`: package_dirs, skip_missing_meshes, mimic
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise ModelError(f"{path} is not a file" if path.exists() else f"there is no file {path}")
    suffix = path.suffix.lower()
    if suffix == ".xacro":
        raise ModelError(f"{path.name} is a xacro file; run `xacro {path.name} > {path.stem}` and load the result")
    if suffix not in (".urdf", ".xml", ".mjcf"):
        raise ModelError(f"{path.name}: the format {suffix!r} is not known; known: .urdf, .xml and .mjcf")
    with of_file(path):
        if suffix == ".urdf" or read_xml(path).tag == "robot":
            return load_urdf(path, free_base, among=among, **options)
        if free_base:
            raise ModelError("free_base is for URDF; in MJCF give the root body a <freejoint/>")
        if options:
            raise ModelError(f"{', '.join(options)} is for URDF, and this file is MJCF")
        return load_mjcf(path, among)


@contextmanager
def of_file(path: Path) -> Iterator[None]:
    """Whatever a file's content leads to, is a ModelError of one line with the file's name."""
    try:
        yield
    except (ValueError, ArithmeticError, OSError, RecursionError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(why if path.name in why else f"{path.name}: {why}") from None
