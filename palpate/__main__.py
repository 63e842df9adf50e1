"""The `palpate` command, also as `python -m palpate`: what must hold before anything is imported that takes long."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any

from palpate.printable import complain
from palpate.runtime.ending import BROKEN_PIPE, REQUESTS, Asking, exit_code


def main() -> int:
    """Run the command; returns its exit code.  The process ends after this."""
    open_streams()
    sys.excepthook, sys.unraisablehook = _report, _report_unraisable
    try:
        with Asking():
            from palpate import cli

            code = cli.main()
    except KeyboardInterrupt as asked:
        code = exit_code(asked)
    except BrokenPipeError:  # whoever read has had enough
        code = BROKEN_PIPE
    for number in REQUESTS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)  # nothing is left to close, and nobody to catch an exception
    return flush(code)


def open_streams() -> None:
    """stdin, stdout and stderr, should one be closed: else a file or socket gets its number, and is written to."""
    for fd, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(fd, mode, closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # file names, and signs that a terminal does not know


def flush(code: int) -> int:
    """The exit code, when all has been written; what cannot be written is put away, or Python would complain later."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if stream is sys.stdout and code == 0:
                code = BROKEN_PIPE if isinstance(error, BrokenPipeError) else 2
                if code == 2:
                    complain(f"the output could not be written: {error}")
    return code


def _report(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
    """Libraries print what they swallow: a request to end is nothing to print."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)


def _report_unraisable(what: Any) -> None:
    if not issubclass(what.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(what)


if __name__ == "__main__":
    sys.exit(main())
