"""Recorded walks: what a person did, row by row, as a CSV file has it; from a run, from a file, to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from palpate.jit import Block
from palpate.mobile.display.person import ROW, walk_rows
from palpate.mobile.walking.users import Event, new_user
from palpate.model.model import Floats

MOST_ROWS = 1_000_000  # a quarter of an hour, tick by tick


def walk_of(run: Any, display: int = 0, every: int = 1) -> Floats:
    """(n, 10) as ROW has it, of a run so far (servo/run.py): what a person did, every so many ticks.

    The frame of a tick shows person and hand as they are at the next.
    """
    user, hand, head = (run.history(name)[:, display] for name in ("mobile_user", "mobile_hand", "mobile_head"))
    time = (run.history("tick") + 1) * (1.0 / run.simulation.rate_hz)
    return np.column_stack([time, user, hand, head])[::every]


def walked(events: Sequence[Event], seconds: float, rows_hz: int, *, sway: bool = True) -> Floats:
    """(n, 10) what a person does by themselves, with nobody and nothing around."""
    walker = new_user(events, sway=sway)
    rows = np.zeros((round(seconds * rows_hz) + 1, len(ROW)))
    block = Block(walker)
    walk_rows(block.address, round(1.0 / (walker.dt * rows_hz)), rows)
    return rows


def save_walk(path: Path | str, rows: Floats) -> None:
    """As a CSV file, to a tenth of a millimetre."""
    np.savetxt(path, rows, fmt="%.4f", delimiter=",", header=",".join(ROW), comments="")


def load_walk(path: Path | str) -> Floats:
    """(n, 10); ValueError in one line if it is none."""
    path = Path(path)
    try:
        with path.open(encoding="utf-8") as file:
            header = file.readline().strip().split(",")
            if header != list(ROW):
                raise ValueError(f"{path.name}: a recorded walk begins with the line {','.join(ROW)}")
            rows = np.loadtxt(file, delimiter=",", ndmin=2, max_rows=MOST_ROWS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name}: cannot be read as a recorded walk: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {str(error).splitlines()[0].removeprefix(path.name + ': ')}") from None
    if len(rows) > MOST_ROWS:
        raise ValueError(f"{path.name}: more than {MOST_ROWS} rows; take every tenth")
    return rows
