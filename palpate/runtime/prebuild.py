"""`python -m palpate.runtime.prebuild FOLDER`: compile what `palpate touch` needs, for a wheel (hatch_build.py)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from palpate.jit.cache.prebuilt import runs_here
from palpate.jit.starts.ahead import compiled_ahead
from palpate.jit.starts.prebuilding import environment, put_prebuilt
from palpate.printable import complain

LEVEL = "x86-64-v3"  # of processors since about 2015: what they have, and no more
SCENES = ("arm", "arm-line", "hrp2")  # between them what Worlds use that have no controllers of their own
TRIED_S = 0.1


def compile_into(folder: Path) -> int:
    """Start scenes as `palpate touch` does, and put what was compiled into the folder; how many functions."""
    from palpate.runtime.commands import build
    from palpate.runtime.page.early import SESSION
    from palpate.runtime.runnable import session_of

    with compiled_ahead("palpate.runtime.page.early", "AHEAD"):
        for door in SESSION:
            door.warm()
        for scene in SCENES:
            session_of(build(scene, None), [], page=False, fifo=False).run(seconds=TRIED_S)
    return put_prebuilt(folder)


def prebuild(folder: str) -> int:
    """The same in a process that compiles for LEVEL, if that runs here; returns an exit code."""
    if not runs_here(LEVEL):
        complain(f"this machine cannot run code for {LEVEL}: no kernels are built")
        return 0
    with tempfile.TemporaryDirectory(prefix="palpate-kernels-") as cache:
        command = [sys.executable, "-m", __spec__.name, folder, "here"]
        return subprocess.run(command, env=os.environ | environment(LEVEL) | {"PALPATE_CACHE_DIR": cache}).returncode


if __name__ == "__main__":
    if sys.argv[2:] == ["here"]:
        print(compile_into(Path(sys.argv[1])), "functions compiled for", LEVEL)
    else:
        sys.exit(prebuild(sys.argv[1]))
