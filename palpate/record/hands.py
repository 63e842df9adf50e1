"""Recording -> what the hands of the page did, tick by tick, so that the same world can be touched again.

A frame says how old the hand's sample was, the sample says when it was sent: together they give the message of every
tick, to the bit.  In a file there is a row where this changes, of the last run: from the last reset on, without pauses.

    tick       from which on, counted from the reset        hand   0 or 1
    anew       1: a pause let go of the body; the hand takes hold of it anew
    body       its name, as a cell; empty: nothing is held   others as frame.HAND has them
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palpate.control.plans.cells import cell_text, text_cell, write_row
from palpate.frame import FOLLOW, FRICTION, GRAVITY, HAND, HANDS, MODE, PLACE, PRESS, Layout
from palpate.record import RecordError
from palpate.record.reader import Recording
from palpate.whole_files import written_whole

MESSAGE = Layout(HAND)
OTHERS = tuple(field for field in HAND if field.name not in ("sent_ns", "hand", "body"))
ALSO = {MODE: "mode", FOLLOW: "plan", PLACE: "place", GRAVITY: "gravity", FRICTION: "friction"}  # change the world too
FIRST = ("tick", "hand", "anew", "body")


class Hands(NamedTuple):
    """What the hands did in `ticks` ticks; a row of the arrays holds until the next of the same hand."""

    ticks: int
    tick: np.ndarray  # (n,) int64, never falling
    hand: np.ndarray  # (n,) int64
    anew: np.ndarray  # (n,) bool
    body: tuple[str, ...]  # (n,)
    message: np.ndarray  # (n, words) int64, as frame.HAND lays it out; sent_ns and body are for the player to fill in
    also: tuple[str, ...]  # what else was changed meanwhile: the hands alone do not give the same motion then


def hands_of(recording: Recording) -> Hands:
    """The hands of a recording's last run; RecordError if they are not all there."""
    layout, at, messages = recording.layout, recording.layout.offset, recording.hands
    if not len(messages) or any(layout.shape.get(name) != (HANDS,) for name in ("hand_body", "hand_age_s")):
        raise RecordError(f"{recording.path} holds no hands: neither a device nor the page's pointer took part")
    words, moving = _last_run(recording)
    by_time = {(int(m[MESSAGE.offset["hand"]]), int(m[MESSAGE.offset["sent_ns"]])): m for m in messages}
    names = [str(body["name"]) for body in recording.hello.get("bodies", ())]
    held = words[:, at["hand_body"] : at["hand_body"] + HANDS]
    acts = held != 0
    if "hand_kind" in at:  # older recordings have it not
        acts |= words[:, at["hand_kind"] : at["hand_kind"] + HANDS] == PRESS
    age_s = np.ascontiguousarray(words[:, at["hand_age_s"] : at["hand_age_s"] + HANDS]).view(np.float64)
    sent_ns = words[:, at["wall_ns"], None] - np.rint(1e9 * age_s).astype(np.int64)
    rows: list[tuple[int, int, bool, str, np.ndarray]] = []
    now: list[int | None] = [None] * HANDS  # when the message of each hand was sent; None: it holds nothing
    paused, tick = False, 0
    for i in range(len(words)):
        if not moving[i]:
            paused = True
            continue
        for k in range(HANDS):
            sample = int(sent_ns[i, k]) if acts[i, k] else None
            if sample is None and now[k] is not None:
                rows.append((tick, k, False, "", np.zeros(MESSAGE.words, dtype=np.int64)))
            elif sample is not None and (sample != now[k] or paused):
                if not 0 <= held[i, k] < len(names):
                    raise RecordError(f"{recording.path} is damaged: hand {k} holds body {held[i, k]} at tick {tick}, "
                                      f"and there are {len(names)}")  # fmt: skip
                if (message := by_time.get((k, sample))) is None:
                    raise RecordError(f"{recording.path} lacks what hand {k} sent at tick {tick}: it came too fast")
                body = names[int(held[i, k])] if held[i, k] else ""
                rows.append((tick, k, paused and now[k] is not None, body, message))
            now[k] = sample
        paused, tick = False, tick + 1
    also = dict.fromkeys(ALSO[kind] for kind in recording.events[:, 0].tolist() if kind in ALSO)
    return _hands(tick, rows, tuple(also))


def _last_run(recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Frames (n, words) from the last reset on, without the very last, and whether the world moved after each (n,)."""
    ticks = np.concatenate([block.words[:, recording.layout.offset["tick"]] for block in recording.blocks()])
    back = np.flatnonzero(np.diff(ticks) < 0)
    begin = int(back[-1]) + 1 if len(back) else 0
    steps = np.diff(ticks[begin:])
    if ticks[begin] != 0:
        raise RecordError(f"{recording.path} does not hold the beginning of its last run; reset while recording")
    if (steps > 1).any():
        raise RecordError(f"{recording.path} lost frames of its last run, so the hands are not all there")
    words = np.array([recording.frame(i) for i in range(begin, recording.count - 1)], dtype=np.int64)
    return words.reshape(len(steps), recording.layout.words), steps == 1


def _hands(ticks: int, rows: list[tuple[int, int, bool, str, np.ndarray]], also: tuple[str, ...]) -> Hands:
    tick, hand, anew, body, message = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    return Hands(
        ticks, np.array(tick, dtype=np.int64), np.array(hand, dtype=np.int64), np.array(anew, dtype=bool), tuple(body),
        np.array(message, dtype=np.int64).reshape(len(rows), MESSAGE.words), also,
    )  # fmt: skip


# ---- files


def columns() -> list[str]:
    """The header of a file."""
    names = list(FIRST)
    for field in OTHERS:
        n = MESSAGE.length[field.name]
        parts = {1: ("",), 3: ("_x", "_y", "_z"), 4: ("_w", "_x", "_y", "_z")}[n]
        names += [field.name + part for part in parts]
    return names


def write_hands(path: str | Path, hands: Hands) -> int:
    """As CSV that `read_hands` reads back to the last bit; returns how many rows it has."""
    with written_whole(path) as file:
        write_row(file, columns())
        if hands.also:
            file.write(f"# also changed meanwhile: {', '.join(hands.also)}\n")
        for tick, hand, anew, body, message in zip(*hands[1:6], strict=True):
            row: list[object] = [int(tick), int(hand), int(anew), text_cell(body)]
            for field in OTHERS:
                row += np.ravel(MESSAGE.read(message, field.name)).tolist()
            write_row(file, row)
        file.write(f"# {hands.ticks} ticks\n")
    return len(hands.tick)


def read_hands(path: str | Path) -> Hands:
    """A file of `write_hands`; ValueError with one line if it is not one."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = [row for row in csv.reader(file) if row]
    except FileNotFoundError:
        raise RecordError(f"there is no file {path}") from None
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        lines = []
    notes = [",".join(row)[1:].strip() for row in lines if row[0].startswith("#")]
    table = [row for row in lines if not row[0].startswith("#")]
    if not table or table[0] != columns()[: len(table[0])] or "energy_J" not in table[0]:
        raise RecordError(f"{path} is not a file of hands: its first line must be {','.join(columns()[:5])},...")
    also = next((tuple(n.partition(": ")[2].split(", ")) for n in notes if n.startswith("also changed")), ())
    rows: list[tuple[int, int, bool, str, np.ndarray]] = []
    for number, row in enumerate(table[1:], 2):
        try:
            tick, hand, anew = (int(x) for x in row[:3])
            values = iter(row[len(FIRST) :] + ["0"] * (len(columns()) - len(table[0])))  # fields of later versions
            fields = {f.name: [_number(next(values), f.kind) for _ in range(MESSAGE.length[f.name])] for f in OTHERS}
            message = MESSAGE.pack(hand=hand, **{n: v if len(v) > 1 else v[0] for n, v in fields.items()})
        except (ValueError, OverflowError, StopIteration):
            raise RecordError(f"{path}: row {number} cannot be read") from None
        if not 0 <= hand < HANDS or not (rows[-1][0] if rows else 0) <= tick < 2**62:
            raise RecordError(f"{path}: row {number}: hands are 0 .. {HANDS - 1}, and ticks never fall")
        rows.append((tick, hand, bool(anew), cell_text(row[3]), message))
    told = next((n.removesuffix(" ticks") for n in notes if n.endswith(" ticks")), "")
    ticks = int(told) if told.isdecimal() and len(told) < 19 else rows[-1][0] if rows else 0
    return _hands(ticks, rows, also)


def _number(text: str, kind: str) -> float | int:
    return int(text) if kind == "i" else float(text)
