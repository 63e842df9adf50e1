"""Text of strangers for a terminal: names in files, from across a link, of devices.

A terminal obeys control characters: it moves, clears, renames its window, and some answer into the keyboard.  Others
turn the direction of writing, so that a line reads as what it is not.  They are shown as Python would write them.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import unicodedata

# Cc and Cf control terminals and the direction of writing, Cs are halves of characters, Zl and Zp end lines.
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
JOINERS = "\u200c\u200d"  # of letters and of emoji: harmless, and words need them
_NOT_ASCII_PRINTABLE = re.compile(r"[^ -~]")


def printable(text: str) -> str:
    """The text in one line, all of it to be seen and nothing of it obeyed; plain text stays as it is."""
    return _NOT_ASCII_PRINTABLE.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    if unicodedata.category(character) in HIDDEN and character not in JOINERS:
        return character.encode("unicode_escape").decode()
    return character


def complain(text: str, end: str = "\n") -> None:
    """One line on stderr, if that can be written to: a closed or broken one is no reason to stop."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"palpate: {printable(text)}", end=end, file=sys.stderr, flush=True)


@functools.cache
def say_once(text: str) -> None:
    """The same, but a second time nothing; PALPATE_QUIET says that nobody wants to know."""
    if not os.environ.get("PALPATE_QUIET"):
        complain(text)
