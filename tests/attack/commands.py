"""Commands as a shell starts them: with closed streams, on a terminal, sent signals; and what they leave behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from waiting import WAIT_S, until

MARK = "PALPATE_TEST_FAMILY"  # in the environment of a command, and so of all that it starts
PALPATE = [sys.executable, "-m", "palpate"]


class Command:
    """One running command."""

    def __init__(self, *arguments: str, **options) -> None:
        self._family = uuid.uuid4().hex
        environment = os.environ | options.pop("env", {}) | {MARK: self._family}
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        self.process = subprocess.Popen([*PALPATE, *arguments], env=environment, **pipes)

    def ended(self) -> tuple[int, str, str]:
        """Exit code, stdout, stderr; when it and all that it started have ended."""
        out, err = self.process.communicate(timeout=WAIT_S)
        until(lambda: not self.family(), lambda: f"left running: {self.family()}")
        return self.process.returncode, (out or b"").decode(), (err or b"").decode()

    def family(self) -> list[int]:
        """Processes with its mark."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal():
                with contextlib.suppress(OSError):
                    if self._family.encode() in (folder / "environ").read_bytes():
                        found.append(int(folder.name))
        return found

    def heeds_signals(self) -> bool:
        """Whether it has begun: from then on Python itself does not answer any more."""
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith("SigCgt:"):
                    return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
        return self.process.poll() is not None

    def line(self, words: str) -> str:
        """The next line of stdout with these words."""
        for line in self.process.stdout:
            if words in line.decode():
                return line.decode()
        raise AssertionError(f"it ended without {words!r}: {self.process.stderr.read().decode()}")


@contextlib.contextmanager
def command(*arguments: str, **options) -> Iterator[Command]:
    """A command that does not outlive its test."""
    running = Command(*arguments, **options)
    try:
        yield running
    finally:
        for pid in running.family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for stream in (running.process.stdout, running.process.stderr):
            if stream is not None:
                stream.close()
        running.process.wait()
