"""The first reading of a robot that a page sent, in a process of its own.

Whatever is in the files (a description that unfolds to gigabytes, a mesh that no reader ever finishes), it is this
process that breaks, and the session goes on.  The first line of stdin is {"robot": path, "among": folder}; the answer
is {"bodies": how many} or {"error": one line}.
"""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from palpate.model.description import ModelError, ModelWarning
from palpate.model.load import load
from palpate.model.meshes import load_mesh
from palpate.model.shapes import Shape
from palpate.runtime.children import one_line
from palpate.scenes.robots import check_reach

MOST_BODIES = 500  # matrices over all joints must fit into memory, and be searched; humanoids have about a hundred
MOST_TRIANGLES = 2_000_000  # of all that is drawn: 100 MB for every page; whole humanoids have about a million
MOST_MEMORY_BYTES, LONGEST_S = 4 * 2**30, 20  # of this process: address space, and of a processor


def read(robot: Path, among: Path) -> int:
    """Read a robot and all its meshes, as a session will; the number of its bodies."""
    options: dict[str, Any] = {"mimic": False, "skip_missing_meshes": True}
    described = load(robot, among=among, **(options if robot.suffix.lower() == ".urdf" else {}))
    if len(described.bodies) > MOST_BODIES:
        raise ModelError(f"{robot.name} has {len(described.bodies)} bodies; a robot may have {MOST_BODIES}")
    shapes = [shape for body in described.bodies for shape in body.shapes]
    triangles = 0
    for mesh, scales in _uses(shapes).items():
        if not mesh.resolve().is_relative_to(among.resolve()):  # our own files are not for whoever sees a page
            raise ModelError(f"mesh {mesh} is not among the files")
        vertices, faces = load_mesh(mesh)
        for scale in scales:
            check_reach(mesh, vertices, scale)
        triangles += len(faces) * len(scales)
        if triangles > MOST_TRIANGLES:
            raise ModelError(f"{robot.name} has more than {MOST_TRIANGLES} triangles, each use of a mesh counted: "
                             "simplify its meshes")  # fmt: skip
    return len(described.bodies)


def _uses(shapes: list[Shape]) -> dict[Path, list[tuple[float, ...]]]:
    """Of each mesh the scales that it is used at, as often as it is."""
    uses: dict[Path, list[tuple[float, ...]]] = {}
    for shape in shapes:
        if shape.mesh is not None:
            uses.setdefault(shape.mesh, []).append(shape.size)
    return uses


def limit(longest_s: int = LONGEST_S) -> None:
    """Memory and processor of this process from here on."""
    with suppress(ImportError, ValueError, OSError):  # where there are none, or lower ones
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (longest_s, longest_s))


def main() -> None:
    """Read what stdin says, within limits."""
    limit()
    warnings.simplefilter("ignore", ModelWarning)
    orders = json.loads(sys.stdin.readline())
    answer: dict[str, Any]
    try:
        answer = {"bodies": read(Path(orders["robot"]), Path(orders["among"]))}
    except MemoryError:
        answer = {"error": "it needs too much memory"}
    except Exception as error:  # readers have many: each is a line
        answer = {"error": one_line(error)}
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
