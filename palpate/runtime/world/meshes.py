"""Meshes of a scene as files that a page can draw: read once, by the session, for the page's process knows no reader.

A file is little-endian: vertices n and triangles m (uint32 each), then n x 3 float32 [m], then m x 3 uint32.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from palpate.model.meshes import load_mesh
from palpate.model.model import Model
from palpate.model.shapes import Shape
from palpate.runtime.folders import Folder
from palpate.whole_files import written_whole


def mesh_key(shape: Shape) -> tuple[str, tuple[float, ...]]:
    """What shapes with the same mesh at the same scale share."""
    return str(shape.mesh), shape.size


def meshes_of(model: Model) -> dict[tuple[str, tuple[float, ...]], int]:
    """A number for each mesh of a model that is seen, in the order they come."""
    found: dict[tuple[str, tuple[float, ...]], int] = {}
    for body in model.description.bodies:
        for shape in body.shapes:
            if shape.kind == "mesh":
                found.setdefault(mesh_key(shape), len(found))
    return found


class MeshFiles:
    """The meshes of a model as files in a folder of their own: written when they are first asked for."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._folder: Folder | None = None

    @cached_property
    def paths(self) -> list[str]:
        """By number, as `meshes_of` has them."""
        self._folder = Folder("meshes")
        return write_meshes(self._model, self._folder.path)

    def remove(self) -> None:
        if self._folder is not None:
            self._folder.remove()


def write_meshes(model: Model, folder: Path) -> list[str]:
    """One file for each of `meshes_of`, in that folder; their paths by number."""
    wanted = meshes_of(model)
    for mesh in dict.fromkeys(mesh for mesh, _ in wanted):  # each is read once, whatever its scales
        vertices, triangles = load_mesh(mesh)
        for (name, size), number in wanted.items():
            if name == mesh:
                _write(folder / f"{number}.mesh", vertices * np.array(size), triangles, bool(np.prod(size) < 0.0))
    return [str(folder / f"{number}.mesh") for number in wanted.values()]


def _write(path: Path, vertices: NDArray[np.float64], triangles: NDArray[np.int64], mirrored: bool) -> None:
    with written_whole(path, "wb") as file:
        file.write(np.array([len(vertices), len(triangles)], dtype="<u4").tobytes())
        file.write(vertices.astype("<f4").tobytes())
        # a mirrored mesh would be inside out
        file.write((triangles[:, ::-1] if mirrored else triangles).astype("<u4").tobytes())
