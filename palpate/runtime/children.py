"""Child processes of a session: the page and the recorder.

A child gets its orders as one JSON line on stdin, answers with JSON lines on stdout, and ends when stdin closes: when
it is asked to, and just as well when this process is killed.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any


class ChildError(RuntimeError):
    """A child that did not start; the message is its own."""


class Child:
    """One child process running `python -m module`."""

    def __init__(self, module: str, orders: dict[str, Any], fds: Sequence[int]) -> None:
        self.module = module
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=tuple(fds),
        )
        self.answers: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._listen, name=f"listen-{module}", daemon=True).start()
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended at once; its answer or exit code says why
            self.process.stdin.write(json.dumps(orders) + "\n")
            self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                with contextlib.suppress(ValueError):  # something else that was printed
                    self.answers.put(json.loads(line))
        self.answers.put({"ended": True})

    def answer(self, key: str, timeout_s: float) -> Any:
        """Wait for the answer with this key; a ChildError if the child reports an error, ends or stays silent."""
        while True:
            try:
                answer = self.answers.get(timeout=timeout_s)
            except queue.Empty:
                raise ChildError(f"{self.module} did not answer within {timeout_s:g} s") from None
            if key in answer:
                return answer[key]
            if "error" in answer:
                raise ChildError(str(answer["error"]))
            if "ended" in answer:
                raise ChildError(f"{self.module} ended with code {self.process.wait()}")

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ask_to_end(self) -> None:
        """Close its stdin."""
        if self.process.stdin and not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()

    def end(self, timeout_s: float = 5.0) -> int:
        """Ask it to end, wait, and insist if it does not; returns its exit code."""
        self.ask_to_end()
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
