"""Text in a table: a spreadsheet runs what begins like a formula, so it gets an apostrophe in front.

https://owasp.org/www-community/attacks/CSV_Injection.  What begins with an apostrophe gets one more, so that taking
one away gives the text again.  Numbers are written as they are.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import IO

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also in full width


def text_cell(text: str) -> str:
    """A text as a cell that is shown, and never run."""
    return f"'{text}" if text.startswith((*FORMULA, "'")) else text


def cell_text(cell: str) -> str:
    """The text that `text_cell` made a cell of."""
    return cell.removeprefix("'")


def write_row(file: IO[str], cells: Iterable[object]) -> None:
    """A row that stays one: csv does not quote a carriage return by itself, and readers end the row there."""
    row = list(cells)
    returns = any(isinstance(cell, str) and "\r" in cell for cell in row)
    if returns:
        csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerow(row)
    else:
        csv.writer(file, lineterminator="\n").writerow(row)
