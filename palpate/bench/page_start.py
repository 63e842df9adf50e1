"""How long a start of `palpate touch` takes, until it serves its page and until a frame: warm, or the very first."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from palpate.bench.page_clients import PATIENCE_S, connected, next_frame

LONGEST_S = 600.0  # that it runs, should this process be killed


def start(scene: str, cache: str = "") -> dict[str, Any]:
    """Start the command as a person does; seconds from there on, and the files that were then in a cache of its own."""
    command = [sys.executable, "-m", "palpate", "touch", scene, "--no-browser", "--port", "0", "--seconds",
               str(LONGEST_S)]  # fmt: skip
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env=os.environ | ({"PALPATE_CACHE_DIR": cache} if cache else {}))  # fmt: skip
    try:
        url = _address(process)
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as index:  # noqa: S310  our own page
            index.read()
        page_s = time.monotonic() - begin
        asyncio.run(_first_frame(url))
        row = {"scene": scene, "page_s": page_s, "frame_s": time.monotonic() - begin}
        # at once: what came with a wheel is soon being compiled for this machine as well
        return row | ({"compiled": len(list(Path(cache).rglob("*.nbc")))} if cache else {})
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


def first_start(scene: str) -> dict[str, Any]:
    """The same on a machine that never compiled: with an empty cache."""
    with tempfile.TemporaryDirectory(prefix="palpate-first-", ignore_cleanup_errors=True) as folder:
        return start(scene, folder)


def _address(process: subprocess.Popen[str]) -> str:
    """Where the page is, as the command says."""
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if found := re.search(r"the page is at (http\S+?)[;\s]", line):
            return found[1]
    raise RuntimeError(f"palpate touch did not start: {' '.join(said.split())[-200:]}")


async def _first_frame(url: str) -> None:
    async with connected(url) as ws:
        await next_frame(ws, LONGEST_S)
