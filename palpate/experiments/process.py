"""The process of an experiment that a page asked for: `python -m palpate.experiments.process`, started by a session.

stdin   one line of JSON: {"list": true}, or {"run": name, "into": folder, "out": folder}.
        End of file means that nobody waits any more: stop at once, and leave nothing behind.
stdout  lines of JSON: {"experiments": [{"name", "about"}]};
        or {"said": line} and {"compiling": line, empty when it is over} as it goes on, then {"done": all claims hold};
        {"error": why}, and then exit 2.

It works in the folder `into`, and what it made goes to `out` when all of it is there: until then, and if it fails, the
results of an earlier run stand.  It gives way to everybody: the servo runs on the same machine.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import threading
from contextlib import ExitStack, redirect_stdout, suppress
from pathlib import Path
from typing import Any

from palpate.experiments import EXPERIMENTS
from palpate.registry import everything, find
from palpate.runtime.children import one_line
from palpate.runtime.ending import leave_to_parent

LONGEST_LINE = 400  # characters of what is told
# A tenth of what others get, where there is not enough for all; less, and it would starve on a busy machine.
GIVE_WAY = 10
EXPECTED = (ValueError, OSError)  # their texts are written for people; of others, the kind is told as well


class Teller:
    """Tells the session things; whatever else prints, C libraries included, goes to the terminal of the session."""

    def __init__(self) -> None:
        self._fd = os.dup(1)
        os.dup2(2, 1)

    def __call__(self, **message: Any) -> None:
        with suppress(OSError):  # nobody hears it; the end of stdin says so as well
            os.write(self._fd, (json.dumps(message) + "\n").encode())

    def say(self, text: str) -> None:
        for line in text.splitlines():
            self(said=line[:LONGEST_LINE])

    def compiling(self, entry: str, kernels: int, seconds: float, done: bool) -> None:
        """Which entry it is tells a person nothing; that it goes on, and only once, does."""
        self(compiling="" if done else f"Compiling for this machine, once: {kernels} kernels, {seconds:.0f} s")


class Lines(io.TextIOBase):
    """What an experiment prints, said line by line."""

    def __init__(self, teller: Teller) -> None:
        self._teller, self._rest = teller, ""

    def write(self, text: str) -> int:
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            self._teller.say(line)
        return len(text)


def listed() -> list[dict[str, str]]:
    """Every experiment by name, with its line; nothing is imported for it."""
    return [
        {"name": name, "about": about} for name, (_, about) in sorted(everything(EXPERIMENTS, "experiments").items())
    ]


def run(name: str, into: Path, out: Path, tell: Teller) -> None:
    """Run an experiment, then put its results where they belong; raises with one line if it cannot."""
    from palpate.experiments.report import run as run_experiment

    shutil.rmtree(into, ignore_errors=True)  # of a run that was killed
    with ExitStack() as told:
        told.enter_context(redirect_stdout(Lines(tell)))
        find(EXPERIMENTS, "experiments", name)
        if "palpate.jit" in sys.modules:  # else nothing compiles, and the compiler alone takes seconds to import
            from palpate.jit import compile_listener

            told.enter_context(compile_listener(tell.compiling))
        report = run_experiment(name, into, tell.say)
    hand_over(into, out)
    tell(done=report.passed)


def hand_over(into: Path, out: Path) -> None:
    """Everything in one folder replaces its like in the other, the report last: it speaks of all the others."""
    out.mkdir(parents=True, exist_ok=True)
    for made in sorted(into.iterdir(), key=lambda path: path.name == "report.json"):
        if (out / made.name).is_dir():
            shutil.rmtree(out / made.name)
        os.replace(made, out / made.name)
    into.rmdir()


def told(error: BaseException) -> str:
    """What a page shows of an error."""
    kind, line = type(error).__name__, one_line(error)
    return line if isinstance(error, EXPECTED) or line == kind else f"{kind}: {line}"


def end_with_parent(into: Path | None) -> None:
    """Wait for the end of stdin, by plain reads: a thread inside a buffered one would disturb an orderly end."""
    while os.read(0, 4096):
        pass
    if into is not None:
        shutil.rmtree(into, ignore_errors=True)
    os._exit(1)


def main() -> int:
    """The process; returns its exit code."""
    leave_to_parent()
    tell, into = Teller(), None
    try:
        with open(0, "rb", buffering=0, closefd=False) as stdin:
            orders = json.loads(stdin.readline())
        if orders.get("list"):
            tell(experiments=listed())
            return 0
        if hasattr(os, "nice"):  # not on Windows
            os.nice(GIVE_WAY)
        into = Path(orders["into"])
        threading.Thread(target=end_with_parent, args=(into,), daemon=True).start()
        run(orders["run"], into, Path(orders["out"]), tell)
    except (Exception, SystemExit) as error:
        if into is not None:
            shutil.rmtree(into, ignore_errors=True)
        tell(error=told(error)[:LONGEST_LINE])
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
