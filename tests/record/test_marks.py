"""Marks: words and trial data that someone puts into a recording while it runs, and both clocks with them."""

import csv
import json
import time

import mcap.reader
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_recordings import SMALL, Recorder, frames, hello_of, recording

from palpate.record import RecordError
from palpate.record.export import export
from palpate.record.reader import Recording
from palpate.record.recover import recover
from palpate.record.writer import MARK_SCHEMA, FrameWriter
from palpate.servo.ring import Ring

TRIAL = {"condition": "stiff", "stimulus_N_m": 800.0, "answer": "harder", "right": True, "times": [1, 2]}


def marked(path, marks, finish=True):
    """A file of 60 frames, one each millisecond, with marks (text, data, time since the first frame [ms])."""
    with FrameWriter(path, hello_of()) as writer:
        for begin in range(0, 60, 20):
            writer.add(frames(60)[begin : begin + 20])
            writer.flush()
            for text, data, ms in marks:
                if begin <= ms < begin + 20:
                    writer.mark(text, data, round(ms * 1e6))
        if not finish:
            writer.flush()
            writer._out.close()
    return path


def test_a_mark_is_on_the_axis_of_the_frames(tmp_path):
    path = marked(tmp_path / "a.mcap", [("begin", None, 5), ("trial", TRIAL, 31.25), ("end", "over", 59)])
    with Recording(path) as back:
        assert [(m.time_s, m.text, m.data, m.wall_ns) for m in back.marks] == [
            (0.005, "begin", None, 5_000_000), (0.03125, "trial", TRIAL, 31_250_000),
            (0.059, "end", "over", 59_000_000),
        ]  # fmt: skip
        assert back.index_at(back.marks[1].time_s) == 31
        assert all(m.unix_ns == m.wall_ns + int(back.metadata["clock_offset_ns"]) for m in back.marks)
        assert back.replay_hello()["marks"] == [
            {"time_s": 0.005, "text": "begin", "data": None}, {"time_s": 0.03125, "text": "trial", "data": TRIAL},
            {"time_s": 0.059, "text": "end", "data": "over"},
        ]  # fmt: skip


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e300, 1e300) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.text(), json_values), max_size=5))
def test_whatever_json_holds_comes_back(tmp_path_factory, marks):
    path = tmp_path_factory.mktemp("marks") / "a.mcap"
    marked(path, [(text, data, k) for k, (text, data) in enumerate(marks)])
    with Recording(path) as back:
        assert [(m.text, m.data) for m in back.marks] == marks


def test_both_clocks_are_in_every_file(tmp_path):
    before = time.time_ns(), time.monotonic_ns()
    path = marked(tmp_path / "a.mcap", [("here", None, 10)])
    after = time.time_ns(), time.monotonic_ns()
    with Recording(path) as back:
        unix, monotonic = (int(back.metadata[f"opened_{clock}_ns"]) for clock in ("unix", "monotonic"))
        assert before[0] <= unix <= after[0]
        assert before[1] <= monotonic <= after[1]
        assert int(back.metadata["clock_offset_ns"]) == unix - monotonic
        assert back.metadata["opened_utc"].startswith(time.strftime("%Y-%m-%dT", time.gmtime(unix / 1e9)))


def test_other_programs_read_marks_as_json_with_a_schema(tmp_path):
    path = marked(tmp_path / "a.mcap", [("trial", TRIAL, 31)])
    with open(path, "rb") as file:
        reader = mcap.reader.make_reader(file, validate_crcs=True)
        ((schema, channel, message),) = reader.iter_messages("/marks")
    assert (channel.message_encoding, schema.encoding, schema.name) == ("json", "jsonschema", "palpate.Mark")
    assert json.loads(schema.data) == MARK_SCHEMA
    assert MARK_SCHEMA["type"] == "object"
    told = json.loads(message.data)
    assert (told["text"], told["data"], told["wall_ns"]) == ("trial", TRIAL, 31_000_000)
    kinds = {"string": str, "integer": int}
    assert all(isinstance(told[name], kinds[of["type"]]) for name, of in MARK_SCHEMA["properties"].items())


def test_marks_are_exported_a_column_for_each_name(tmp_path):
    path = marked(
        tmp_path / "a.mcap", [("go", None, 5), ("trial", TRIAL, 31), ("note", [1, "x"], 40), ("say", "ow", 50)]
    )
    assert export(path, tmp_path / "a.csv", "marks") == 4
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["time_s", "utc", "wall_ns", "text", "data", *(f"data.{name}" for name in TRIAL)]
    assert [row["text"] for row in rows] == ["go", "trial", "note", "say"]
    assert [row["data"] for row in rows] == ["", "", '[1, "x"]', "ow"]
    assert (rows[1]["data.answer"], rows[1]["data.stimulus_N_m"], rows[1]["data.right"]) == ("harder", "800.0", "true")
    assert float(rows[1]["time_s"]) == 0.031
    assert rows[0]["data.answer"] == ""


def test_marks_without_frames_are_exported_too(tmp_path):
    with FrameWriter(tmp_path / "a.mcap", hello_of()) as writer:
        writer.mark("alone")
    assert export(tmp_path / "a.mcap", tmp_path / "a.csv", "marks") == 1
    with pytest.raises(RecordError, match="holds no frames"):
        export(tmp_path / "a.mcap", tmp_path / "b.csv")


def test_recover_keeps_marks_and_everything_else(tmp_path):
    marks = [("begin", None, 5), ("trial", TRIAL, 31)]
    path = marked(tmp_path / "a.mcap", marks, finish=False)
    report = recover(path)
    assert report.frames == 60
    with Recording(path) as crashed, Recording(report.path) as back:
        assert not crashed.finished
        assert back.finished
        assert back.marks == crashed.marks
        assert [m.text for m in back.marks] == ["begin", "trial"]
        assert back.topics == crashed.topics
    with open(report.path, "rb") as file:
        counts = mcap.reader.make_reader(file).get_summary().statistics.channel_message_counts
        topics = {c.topic: counts.get(i, 0) for i, c in mcap.reader.make_reader(file).get_summary().channels.items()}
    assert (topics["/frame"], topics["/marks"], topics["/scene"]) == (60, 2, 1)
    assert topics["/tf"] == topics["/state"] > 2


def test_the_recorder_writes_marks_as_they_are_told(tmp_path):
    ring = Ring.create(4096, SMALL.words)
    recorder = Recorder(ring, tmp_path / "a.mcap")
    try:
        recorder.hear()
        for n, words in enumerate(frames(100)):
            ring.write(words)
            if n == 50:
                recorder.tell({"mark": {"text": "trial", "data": TRIAL, "wall_ns": 50_000_000}})
                recorder.tell({"mark": "no mark"})
                recorder.tell({"nothing": 1})
                recorder.process.stdin.write(b"not even JSON\n")
        assert recorder.end() == [{"done": {"frames": 100, "lost": 0, "seconds": 0.099}}]
    finally:
        recorder.close()
        ring.close()
    with Recording(tmp_path / "a.mcap") as back:
        assert [(m.time_s, m.text, m.data) for m in back.marks] == [(0.05, "trial", TRIAL)]
        assert np.array_equal([*back], frames(100))


def test_a_recording_without_marks_has_none(tmp_path):
    with Recording(recording(tmp_path / "a.mcap", frames(5))) as back:
        assert back.marks == []
        assert back.hands.shape[0] == back.events.shape[0] == 0
