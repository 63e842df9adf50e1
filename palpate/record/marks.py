"""Marks: how large one may be, and what is made of one that is none.

A mark is kept whole in the recorder, in a replay and in a page, and all of them read it with parsers that recurse: so
it has bounds, checked where it enters.  Files of before may hold others; what they hold is then given as text.
"""

from __future__ import annotations

import contextlib
import json
import re
from math import inf
from typing import Any

LONGEST_TEXT = 10_000  # characters
MOST_LEVELS = 32  # of lists and objects within each other; 0: a number or a text
LARGEST_BYTES = 64_000  # of the text and the data as JSON, in UTF-8
SHOWN = 1000  # characters of data that is too large to be shown
# as writer.py puts it
WRITTEN = re.compile(
    rb'\{"text": ("(?:[^"\\]|\\.)*"), "data": (.*), "wall_ns": (-?\d{1,18}), "utc": "[^"]*"\}', re.DOTALL
)


def check_mark(text: str, data: Any) -> None:
    """A ValueError with one line, unless the mark may enter."""
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"a mark's text has at most {LONGEST_TEXT} characters, this one has {len(text)}")
    check_bounds(data)
    try:
        size = len(json.dumps([text, data], allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a mark holds what JSON can hold: {' '.join(str(error).split())}") from None
    if size > LARGEST_BYTES:
        raise ValueError(_too_large())


def check_bounds(data: Any, largest: float = LARGEST_BYTES) -> None:
    """Level by level, and no further than the bounds: data in Python may be shared, and endless."""
    values, size = [data], 0
    for level in range(MOST_LEVELS + 1):
        inner: list[Any] = []
        for value in values:
            size += len(value) if isinstance(value, str | list | tuple | dict) else 1
            size += value.bit_length() // 4 if isinstance(value, int) else 0  # a digit has 3.3 bits
            if size > largest:
                raise ValueError(_too_large())
            if isinstance(value, list | tuple | dict):
                if level == MOST_LEVELS:
                    raise ValueError(f"a mark's data has at most {MOST_LEVELS} levels of lists and objects")
                inner += [*value, *value.values()] if isinstance(value, dict) else value
        values = inner


def _too_large() -> str:
    return f"a mark has at most {LARGEST_BYTES // 1000} kB as JSON; put what is larger into a file, and its name here"


def read_mark(message: bytes) -> tuple[str, Any, int | None, bool]:
    """text, data, wall_ns [ns] and whether the mark is as it was set; else its data is text, the JSON itself."""
    try:
        told = json.loads(message)
        text, data, wall_ns = told["text"], told.get("data"), told["wall_ns"]
        check_bounds(data, inf)
        json.dumps([text, data], ensure_ascii=False).encode()  # half a letter cannot be written anywhere
        if isinstance(text, str) and type(wall_ns) is int and abs(wall_ns) < 2**63:
            return text, data, wall_ns, True
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    if (found := WRITTEN.fullmatch(message)) is not None:
        with contextlib.suppress(ValueError):
            text = json.loads(found[1]).encode(errors="backslashreplace").decode()
            return text, found[2].decode(errors="replace"), int(found[3]), False
    return "a mark that cannot be read", message.decode(errors="replace"), None, False


def shown(data: Any) -> Any:
    """Data as a page gets it: itself, or the beginning of its JSON if it is more than a mark may hold."""
    try:
        check_mark("", data)
    except ValueError:
        whole = data if isinstance(data, str) else json.dumps(data)
        return whole if len(whole) <= SHOWN else whole[:SHOWN] + " ..."
    return data
