"""How long a start of `palpate touch` takes when its kernels are compiled: until it serves its page, and a frame."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import time
import urllib.request
from typing import Any

from palpate.bench.page_clients import PATIENCE_S, connected, next_frame

LONGEST_S = 60.0  # that it runs, should this process be killed


def warm_start(scene: str) -> dict[str, Any]:
    """Start the command as a person does; seconds from there on."""
    command = [sys.executable, "-m", "palpate", "touch", scene, "--no-browser", "--port", "0", "--seconds",
               str(LONGEST_S)]  # fmt: skip
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        url = _address(process)
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as index:  # noqa: S310  our own page
            index.read()
        page_s = time.monotonic() - begin
        asyncio.run(_first_frame(url))
        return {"scene": scene, "page_s": page_s, "frame_s": time.monotonic() - begin}
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


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
        await next_frame(ws)
