"""Mesh files: where they are, and what is in them.

A description only names its meshes; `find_mesh` makes the name a path that exists, `load_mesh` reads it when someone
draws it or touches it.  trimesh does the reading and is imported then.
"""

from __future__ import annotations

import gc
import io
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palpate.model.description import ModelError
from palpate.model.xml_tree import check_xml
from palpate.spatial.placement import LARGEST

MESH_FORMATS = (".stl", ".obj", ".dae", ".ply")


class MissingMesh(ModelError):
    """A mesh file that is not there."""


def find_mesh(filename: str, folder: Path, package_dirs: Sequence[str | Path] = (), among: Path | None = None) -> Path:
    """The file that `filename` of a description in `folder` means; a ModelError says where it was looked for.

    package://name/rest   in each of `package_dirs`, in each folder of ROS_PACKAGE_PATH, then in `folder` and above it;
                          "in D" is D/name, or D itself if it is called name or its package.xml says so
    file:///rest          as it stands
    anything else         below `folder`, or absolute

    among  a folder beyond which nothing is looked at.  What is not in it where its name says, is looked for in it by
           the end of its name: files that were picked one by one have lost their folders.
    """
    if among is not None:
        return _find_among(filename, folder, among)
    if filename.startswith("package://"):
        # a third slash is a common slip, and harmless
        package, _, rest = filename.removeprefix("package://").lstrip("/").partition("/")
        for home in _package_homes(package, folder, package_dirs):
            if (home / rest).is_file():
                return home / rest
        raise MissingMesh(f"mesh {filename!r} is not there; pass package_dirs= or set ROS_PACKAGE_PATH for {package!r}")
    path = folder / filename.removeprefix("file://")
    if not path.is_file():
        raise MissingMesh(f"mesh {filename!r} is not there; looked for {path}")
    return path


def _find_among(filename: str, folder: Path, among: Path) -> Path:
    """The one file in `among` that ends as much like `filename` as any; two that do so equally are a ModelError."""
    wanted = [part for part in re.split(r"[/\\]", filename) if part not in ("", ".", "..")]
    there = (folder / filename).resolve()
    if "://" not in filename and there.is_relative_to(among.resolve()) and there.is_file():
        return there
    alike: dict[int, list[Path]] = {}
    for path in sorted(among.rglob("*")):
        parts = path.relative_to(among).parts
        common = 0
        while common < min(len(parts), len(wanted)) and parts[-1 - common].lower() == wanted[-1 - common].lower():
            common += 1
        if common and path.is_file():
            alike.setdefault(common, []).append(path)
    if not alike:
        raise MissingMesh(f"mesh {filename!r} is not among the files")
    best = alike[max(alike)]
    if len(best) > 1:
        names = " or ".join(str(path.relative_to(among)) for path in best[:3])
        raise ModelError(f"mesh {filename!r} could be {names}: send their folder, or give them different names")
    return best[0]


def _package_homes(package: str, folder: Path, package_dirs: Sequence[str | Path]) -> Iterator[Path]:
    """Folders that may be the root of a ROS package, the most explicit first."""
    folder = folder.resolve()
    ros = [d for d in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if d]
    for directory in (*map(Path, package_dirs), *map(Path, ros), folder, *folder.parents):
        if (directory / package).is_dir():
            yield directory / package
        if directory.name == package or _package_name(directory / "package.xml") == package:
            yield directory


def _package_name(manifest: Path) -> str | None:
    """<name> of a package.xml; None without one that can be read."""
    try:
        return (ET.parse(manifest).getroot().findtext("name") or "").strip()  # noqa: S314  expat bounds entities
    except (OSError, ET.ParseError, LookupError, ValueError):  # the last two of an encoding that is not known
        return None


def load_mesh(path: str | Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices (n, 3) [the file's unit; m for .dae, which states its own] and triangles (m, 3) of a mesh file.

    Several parts are merged as the file places them.  The up axis that a .dae states is left alone, as ROS does:
    the numbers in the file are already in the link's axes.
    """
    path = Path(path)
    if not path.is_file():
        raise ModelError(f"mesh {path} is not there")
    if path.suffix.lower() not in MESH_FORMATS:
        raise ModelError(f"mesh {path}: the format {path.suffix!r} is not known; known: {', '.join(MESH_FORMATS)}")
    try:
        scene, mesh = _read_alone(path)
    except ModelError:
        raise
    except Exception as error:  # a reader's own exceptions are many: name the file for all of them
        if path.suffix.lower() == ".dae" and not _has_collada():
            raise ModelError(f"mesh {path}: reading .dae needs the package pycollada: pip install pycollada") from None
        raise ModelError(f"mesh {path} cannot be read: {_one_line(error)}") from None
    vertices = np.ascontiguousarray(mesh.vertices, dtype=np.float64) if hasattr(mesh, "vertices") else np.empty((0, 3))
    faces = np.ascontiguousarray(getattr(mesh, "faces", ()), dtype=np.int64)
    if len(vertices) == 0 or faces.ndim != 2 or len(faces) == 0:
        raise ModelError(f"mesh {path} holds no triangles")
    vertices = vertices * _unit(scene.units)
    del scene, mesh
    gc.collect(1)  # readers leave circles of objects that hold the file several times over
    if not (np.abs(vertices) <= LARGEST).all():  # no NaN is
        raise ModelError(f"mesh {path} holds vertices that are not finite, or beyond {LARGEST:g} m")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise ModelError(f"mesh {path} holds triangles of vertices that it does not have")
    return vertices, faces


def _read_alone(path: Path) -> tuple[Any, Any]:
    """Scene and mesh of one file: materials and pictures that it names are not wanted, and no other file is opened."""
    import trimesh

    data, log = path.read_bytes(), trimesh.util.log
    if path.suffix.lower() == ".dae":
        check_xml(data, path.name)  # pycollada takes zipped files as well, and whatever parser is installed
    silent, log.disabled = log.disabled, True  # a picture that is not there would be a traceback on the terminal
    try:
        scene = trimesh.load_scene(
            io.BytesIO(data),
            file_type=path.suffix.lower()[1:],
            resolver=trimesh.resolvers.ZipResolver({}),
            process=False,
            skip_materials=True,
        )
        return scene, scene.to_mesh()
    finally:
        log.disabled = silent


def _unit(units: str | None) -> float:
    """Metres per unit of a .dae as trimesh reports it: "meters" or "0.001 * meters"; 1 for files that do not say."""
    match = re.fullmatch(r"([0-9.eE+-]+) \* meters", units or "")
    return float(match[1]) if match else 1.0


def _has_collada() -> bool:
    from importlib.util import find_spec

    return find_spec("collada") is not None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
