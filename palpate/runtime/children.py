"""Child processes of a session: the page and the recorder.

A child gets its orders as one JSON line on stdin, answers with JSON lines on stdout, and ends when stdin closes: when
it is asked to, and just as well when this process is killed.  In between it may request things ({"request": ...}) and
be told more, a line each.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

STUCK_S = 1.0  # a line that takes longer is not being read


def one_line(error: BaseException) -> str:
    """What is told of an error: its first line, or else its kind."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


class ChildError(RuntimeError):
    """A child that did not start; the message is its own."""


class Child:
    """One child process, by its name in palpate/processes.py, or that of its module."""

    def __init__(
        self,
        name: str,
        orders: dict[str, Any],
        fds: Sequence[int],
        requested: Callable[[Child, dict[str, Any]], None] | None = None,
        **environment: str,
    ) -> None:
        if fds and os.name == "nt":
            raise ChildError(f"{name}: Windows does not hand shared memory on to it; run without page and recording")
        self.name, self.requested = name, requested
        self._stdin = threading.Lock()  # several threads tell it things, and one closes it
        self.process = subprocess.Popen(
            [sys.executable, "-m", "palpate.processes", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            pass_fds=tuple(fds),
            env=os.environ | environment,
            process_group=0,  # a terminal's Ctrl-C, or its end, is for this process, which tells its children in time
        )
        self.answers: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._listen, name=f"listen-{name}", daemon=True).start()
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended at once; its answer or exit code says why
            self.process.stdin.write(json.dumps(orders) + "\n")
            self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._hear(line)
                del line  # with a robot's files in it, perhaps: not to be kept until the next
        self.answers.put({"ended": True})

    def _hear(self, line: str) -> None:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):  # something else that was printed
            return
        if isinstance(said, dict) and "request" in said and self.requested is not None:
            self.requested(self, said["request"])
        elif isinstance(said, dict):
            self.answers.put(said)

    def answer(self, key: str, timeout_s: float) -> Any:
        """Wait for the answer with this key; a ChildError if the child reports an error, ends or stays silent."""
        while True:
            try:
                answer = self.answers.get(timeout=timeout_s)
            except queue.Empty:
                raise ChildError(f"{self.name} did not answer within {timeout_s:g} s") from None
            if key in answer:
                return answer[key]
            if "error" in answer:
                raise ChildError(str(answer["error"]))
            if "ended" in answer:
                raise ChildError(f"{self.name} ended with code {self.process.wait()}")

    def tell(self, message: dict[str, Any]) -> None:
        """One more line on its stdin; lost if it has ended."""
        line = json.dumps(message, allow_nan=False) + "\n"
        assert self.process.stdin is not None
        with self._stdin, contextlib.suppress(BrokenPipeError):
            if not self.process.stdin.closed:
                self.process.stdin.write(line)
                self.process.stdin.flush()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ask_to_end(self) -> None:
        """Close its stdin; not if somebody is stuck telling it something, because it no longer reads."""
        assert self.process.stdin is not None
        if self._stdin.acquire(timeout=STUCK_S):
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self._stdin.release()

    def end(self, timeout_s: float = 5.0) -> int:
        """Ask it to end, wait, and insist if it does not; returns its exit code."""
        self.ask_to_end()
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
