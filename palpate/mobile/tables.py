"""CSV files of poses, as people and other programs write them: lines first, then what their columns mean."""

from __future__ import annotations

import csv
import io
from pathlib import Path

MOST_BYTES = 100_000_000  # a file of more is not what it seems

Lines = list[tuple[int, list[str]]]


def read_lines(path: Path) -> Lines:
    """(number, cells) of each line that is not blank, the first one names the columns; ValueError of one line if not.

    Cells are without the blanks around them.
    """
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path} has {path.stat().st_size / 1e6:.0f} MB; poses take at most {MOST_BYTES / 1e6:.0f}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text file (UTF-8) of poses") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise ValueError(f"{path} is no CSV file: {error}") from None
    lines = [(k, [cell.strip() for cell in row]) for k, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]
    if not lines:
        raise ValueError(f"{path} is empty; its first line names the columns")
    return lines
