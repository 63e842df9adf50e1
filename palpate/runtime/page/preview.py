"""The process that finds out how a scene begins while nothing is compiled: `python -m palpate.runtime.page.preview`.

It runs without the compiler (NUMBA_DISABLE_JIT=1): so a scene is built in a second, a robot's in five, where compiling
what builds it takes half a minute.  The first line of stdin is {"scene": ..., "edit": ..., "folder": where meshes go};
it prints {"hello": {...}, "meshes": [...]} and ends.  If something is wrong with the scene, the session says so.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from pathlib import Path

from palpate.runtime.ending import leave_to_parent


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def main() -> None:
    leave_to_parent()
    orders = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")
    from palpate.runtime.commands import build
    from palpate.runtime.hello import hello_of
    from palpate.runtime.runnable import simulation_of
    from palpate.runtime.world.meshes import write_meshes
    from palpate.scenes.scene import Scene

    try:
        made = build(orders["scene"], orders["edit"])
        hello = hello_of(simulation_of(made), "compiling")
        meshes = write_meshes(made.model, Path(orders["folder"])) if isinstance(made, Scene) else []
    except Exception:  # whatever it is, who builds it in earnest says so
        sys.exit(2)
    print(json.dumps({"hello": hello, "meshes": meshes}), flush=True)


if __name__ == "__main__":
    main()
