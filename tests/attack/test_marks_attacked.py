"""Marks that are too deep, too large or no JSON: refused in one line where they enter, and no frame is lost to one.

Files of before have no bounds: whatever one mark in them holds, everything else is read, replayed and exported.
"""

import csv
import json
import os
import random
import sys
import threading
from collections import deque

import numpy as np
import pytest
from record.sample_recordings import SMALL, Recorder, frames, hello_of

from palpate.page.sockets import Hub
from palpate.record import writer as writer_module
from palpate.record.export import export
from palpate.record.marks import LARGEST_BYTES, MOST_LEVELS, check_mark
from palpate.record.reader import Recording
from palpate.record.recover import recover
from palpate.record.writer import FrameWriter
from palpate.runtime.record.process import tell_mark
from palpate.runtime.record.recorder import LONGEST_LINE, Sources, lines, listen
from palpate.servo.ring import Follower, Ring

FRAMES = frames(60)


def nested(levels, kind=list):
    """So many lists or objects within each other."""
    data = 1
    for _ in range(levels):
        data = [data] if kind is list else {"a": data}
    return data


def endless():
    data = []
    data.append(data)
    return data


def shared(levels):
    """2 ** levels numbers, but a small object in Python."""
    data = 1
    for _ in range(levels):
        data = [data, data]
    return data


GOOD = {
    "nothing": None, "levels": nested(MOST_LEVELS), "objects": nested(MOST_LEVELS, dict), "NUL": "a\0b",
    "letters": "\N{GREEK SMALL LETTER PI}" * 20_000, "digits": 10**4000, "numbers as keys": {1: 2, None: 3, 0.5: 4},
    "almost too large": "x" * (LARGEST_BYTES - 100), "numpy": np.float64(2.5), "pair": (1, 2),
}  # fmt: skip
BAD = {
    "a level more": nested(MOST_LEVELS + 1), "objects": nested(MOST_LEVELS + 1, dict), "NaN": float("nan"),
    "infinite": [float("-inf")], "half a letter": {"a": "\ud800"}, "half a letter as key": {"\udfff": 1},
    "digits": 10**5000, "more digits": [10**4000] * 20, "too large": "x" * (LARGEST_BYTES + 1), "1 MB": "x" * 10**6,
    "40 MB": "x" * (40 * 10**6), "many": list(range(30_000)), "shared": shared(31), "endless": endless(),
    "set": {1, 2}, "array": np.zeros(3), "key": {(1, 2): 3}, "bytes": b"x", "object": object(),
}  # fmt: skip


class Listener:
    """In place of a recorder."""

    def __init__(self):
        self.told = []

    def tell(self, message):
        self.told.append(json.dumps(message, allow_nan=False))


@pytest.mark.parametrize("name", GOOD)
def test_what_json_can_hold_enters_and_comes_back(name, tmp_path):
    recorder = Listener()
    tell_mark(recorder, "a mark", GOOD[name])
    assert len(recorder.told[0]) < LONGEST_LINE
    with FrameWriter(tmp_path / "a.mcap", hello_of()) as writer:
        writer.mark("a mark", GOOD[name])
    with Recording(tmp_path / "a.mcap") as back:
        assert back.marks[0].data == json.loads(json.dumps(GOOD[name]))
        assert not back.notes


@pytest.mark.parametrize("name", BAD)
def test_what_a_mark_may_not_hold_is_refused_in_one_line_before_anyone_is_told(name):
    recorder = Listener()
    with pytest.raises(ValueError, match="a mark") as refusal:
        tell_mark(recorder, "a mark", BAD[name])
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert not recorder.told


def test_every_depth_and_size_is_taken_or_refused_by_its_bound():
    for levels in (*range(70), *range(950, 1010), 1500, 2000):
        for kind in (list, dict):
            assert enters(nested(levels, kind)) == (levels <= MOST_LEVELS)
    for size in (*(2**k for k in range(21)), *range(LARGEST_BYTES - 30, LARGEST_BYTES + 30)):
        for letter, width in (("x", 1), ("\N{SNOWMAN}", 3), ("\n", 2)):
            assert enters(letter * (size // width)) == (len('["", ""]') + size // width * width <= LARGEST_BYTES)


def enters(data):
    try:
        check_mark("", data)
    except ValueError:
        return False
    return True


# ---- the recorder: every frame before and after


def hostile_lines(rng):
    """Lines for the recorder that no session of ours would send."""
    depths = (33, 500, 980, 986, 5000)
    deep = [f'{{"mark": {{"text": "deep", "data": {"[" * n}{"]" * n}, "wall_ns": 1}}}}' for n in depths]
    return [
        *deep, '{"mark": {"text": "digits", "data": ' + "7" * 5000 + ', "wall_ns": 1}}',
        '{"mark": {"text": "NaN", "data": NaN, "wall_ns": 1}}', '{"mark": {"text": "late", "wall_ns": 1e999}}',
        '{"mark": {"text": "later", "wall_ns": ' + "9" * 300 + "}}", '{"mark": {"text": "sooner", "wall_ns": -1}}',
        '{"mark": {"text": "\\ud800", "wall_ns": 1}}', '{"mark": {"text": [], "data": {}, "wall_ns": true}}',
        '{"mark": {"text": "large", "data": "' + "x" * 10**6 + '", "wall_ns": 1}}', "[" * 10**5, "{", "", "null", "[]",
        *("".join(chr(rng.randrange(32, 127)) for _ in range(rng.randrange(200))) for _ in range(20)),
    ]  # fmt: skip


def test_no_line_ends_a_recording_or_costs_it_a_frame(tmp_path):
    rng = random.Random(1)
    told = hostile_lines(rng)
    rng.shuffle(told)
    ring = Ring.create(4096, SMALL.words)
    recorder = Recorder(ring, tmp_path / "a.mcap")
    try:
        recorder.hear()
        for n, words in enumerate(frames(200)):
            ring.write(words)
            if told and n % 4 == 0:
                recorder.process.stdin.write(told.pop().encode(errors="replace") + b"\n")
        recorder.tell({"mark": {"text": "after", "data": 1, "wall_ns": 5}})
        *_, done = recorder.end()
    finally:
        recorder.close()
        ring.close()
    assert done == {"done": {"frames": 200, "lost": 0, "seconds": 0.199}}
    with Recording(tmp_path / "a.mcap") as back:
        assert back.finished
        assert np.array_equal([*back], frames(200))
        assert {mark.text for mark in back.marks} == {"after", "sooner"}


def test_a_mark_that_breaks_in_the_writer_is_left_out_and_said_once(tmp_path, monkeypatch):
    def broken(text, data):
        raise RecursionError("too deep")

    monkeypatch.setattr(writer_module, "check_mark", broken)
    said, marks = [], deque({"text": "x", "wall_ns": k} for k in range(5))
    ring = Ring.create(64, SMALL.words)
    for words in FRAMES:
        ring.write(words)
    with FrameWriter(tmp_path / "a.mcap", hello_of()) as writer:
        Sources(Follower(ring, 1), marks=marks, say=lambda **message: said.append(message)).take(writer)
        assert writer.pending >= 60
    ring.close()
    assert said == [{"note": "a mark was left out: RecursionError: too deep"}]


@pytest.mark.parametrize("seed", range(5))
def test_lines_come_whole_however_the_pipe_cuts_them_and_those_too_long_are_never_kept(seed):
    rng = random.Random(seed)
    sizes = (0, 1, 10, 999, 1000, 1001, 70_000)
    sent = [b"o" * 300_000, *(bytes([97 + k % 26]) * rng.choice(sizes) for k in range(40))]
    end, begin = os.pipe()
    whole = b"\n".join(sent) + b"\n" + b"no end"

    def send():
        at = 0
        while at < len(whole):
            at += os.write(begin, whole[at : at + rng.choice((1, 17, 999, 1001, 65_536))])
        os.close(begin)

    thread = threading.Thread(target=send)
    thread.start()
    assert [*lines(end, 1000)] == [sent[0], *(line for line in sent[1:] if len(line) <= 1000)]
    thread.join()
    os.close(end)


def test_a_line_of_many_pieces_is_read_in_one_pass(monkeypatch):
    """What each piece costs does not depend on those before it: of a long line, no piece is looked at twice."""
    pieces, split = iter([b"orders\n", *[b"x" * 100] * 500, b"\nlast\n", b""]), []

    class Piece(bytes):
        def split(self, *how):
            split.append(len(self))
            return bytes(self).split(*how)

    monkeypatch.setattr("palpate.runtime.record.recorder.os.read", lambda fd, most: Piece(next(pieces)))
    assert [*lines(0, 1000)] == [b"orders", b"last"]
    assert sum(split) == len(b"orders\n") + 500 * 100 + len(b"\nlast\n")


def test_what_is_no_mark_does_not_end_the_listening():
    marks, over = deque(), threading.Event()
    listen(iter([b"[" * 10**5, b'{"mark": 1}', b"\xff", b'"mark"', b'{"mark": 2}']), marks, over)
    assert list(marks) == [1, 2]
    assert over.is_set()


# ---- files of before


OLD = {
    "deep": "[" * 984 + "]" * 984, "deeper": '{"a":' * 5000 + "1" + "}" * 5000, "digits": "1" * 5000,
    "NaN": "[NaN, 1e999]", "large": json.dumps("x" * 300_000), "half a letter": '{"\\ud800": "\\udfff"}',
    "not closed": "[", "NUL": '"\\u0000"',
}  # fmt: skip


@pytest.mark.parametrize("name", OLD)
@pytest.mark.parametrize("text", ["before", "half a letter \\ud800"])
def test_whatever_one_mark_of_an_old_file_holds_nothing_else_is_lost(name, text, tmp_path):
    path = tmp_path / "a.mcap"
    with FrameWriter(path, hello_of()) as writer:
        writer.add(FRAMES[:30])
        writer.mark("first", [1], 2_000_000)
        told = f'{{"text": "{text}", "data": {OLD[name]}, "wall_ns": 31000000, "utc": ""}}'
        writer._message(writer_module.MARKS, 31_000_000 + writer.clock_offset_ns, told.encode())
        writer.add(FRAMES[30:])
        writer.mark("last", {"a": 1}, 59_000_000)
    with Recording(path) as back:
        assert np.array_equal([*back], FRAMES)
        assert [(m.text, m.data) for m in (back.marks[0], back.marks[2])] == [("first", [1]), ("last", {"a": 1})]
        odd = back.marks[1]
        assert odd.text.startswith(text[:6])
        assert (odd.time_s, odd.wall_ns) == (0.031, 31_000_000)
        if name in ("deep", "deeper", "digits"):
            assert odd.data == OLD[name]
        assert len(back.notes) == (name not in ("NaN", "large", "NUL") or "letter" in text)  # said once
        hello = json.dumps(back.replay_hello(), allow_nan=False)
        assert len(hello) < 100_000
        Hub().show(json.loads(hello), ())
        assert len(json.loads(hello)["marks"]) == 3
    assert export(path, tmp_path / "a.csv", "marks") == 3
    csv.field_size_limit(sys.maxsize)
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 4
    assert export(path, tmp_path / "b.csv") == 60
    assert recover(path, tmp_path / "b.mcap").frames == 60
    with Recording(tmp_path / "b.mcap") as back:
        assert [m.text for m in back.marks][::2] == ["first", "last"]
