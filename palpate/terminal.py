"""What commands print: plain text, whatever names are in it, and nothing of it obeyed by a terminal."""

from __future__ import annotations

import contextlib
import sys
import warnings

from rich.console import Console
from rich.text import Text

from palpate.printable import complain, printable
from palpate.runtime.ending import BROKEN_PIPE


class Output(Console):
    """stdout."""

    def on_broken_pipe(self) -> None:
        """Whoever read it has left (`palpate scenes | head -1`): nothing to say, and nobody to say it to."""
        with contextlib.suppress(SystemExit):
            super().on_broken_pipe()  # puts /dev/null in its place
        raise SystemExit(BROKEN_PIPE)


console = Output(highlight=False, markup=False, emoji=False)  # names may hold brackets and colons


def say(text: str) -> None:
    """One line of plain text; lines are the terminal's to break."""
    console.print(printable(text), soft_wrap=True)


def say_marked(mark: str, style: str, text: str) -> None:
    """The same, after a word in colour."""
    console.print(Text(mark, style=style) + Text(printable(text), style="default"), soft_wrap=True)


def warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: object = None,
) -> None:
    """What is doubtful in a robot's file is one line, as an error would be; other warnings say where they come from."""
    if category.__name__ == "ModelWarning":
        complain(str(message))
    else:
        print(warnings.formatwarning(message, category, filename, lineno), end="", file=sys.stderr)
