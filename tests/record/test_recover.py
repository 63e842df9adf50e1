"""Crashes: what was whole of a file is saved, the crashed file stays, and nothing else than RecordError is raised."""

import contextlib
import errno

import mcap.exceptions
import mcap.reader
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sample_recordings import SMALL, frames, hello_of, recording

from palpate.record import RecordError
from palpate.record.container import scan
from palpate.record.reader import Recording
from palpate.record.recover import recover
from palpate.record.writer import FrameWriter

WORDS = frames(60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with whole.mcap, a finished file of 60 frames in 10 chunks."""
    folder = tmp_path_factory.mktemp("whole")
    recording(folder / "whole.mcap", WORDS, per_chunk=6)
    return folder


def saved(path):
    """What recover saves of a file, and its report."""
    report = recover(path)
    with Recording(report.path) as back:
        assert back.finished
        words = np.array([*back], dtype=np.int64).reshape(-1, SMALL.words)
        assert (report.frames, report.seconds) == (len(words), back.duration_s)
        if report.path != path:
            report.path.unlink()
    return words, report


def frame_chunks(data):
    """(begin, end) of the chunks that hold frames [bytes]."""
    found = scan(data)
    ours = {place for place, number in zip(found.index_chunk, found.index_channel, strict=True) if number == 1}
    return [(found.chunk_at[i], found.chunk_at[i] + found.chunk_length[i]) for i in sorted(ours)]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 60_000))
@example(0)
@example(8)
@example(60_000)
def test_cut_anywhere_a_prefix_is_saved(folder, cut):
    data = (folder / "whole.mcap").read_bytes()
    chunks = frame_chunks(data)
    path, data = folder / "cut.mcap", data[: cut % (len(data) + 1)]
    path.write_bytes(data)
    try:
        words, report = saved(path)
    except RecordError:
        assert not (folder / "cut.recovered.mcap").exists()
        assert not scan(data).chunk_at if len(data) > 8 else True
        return
    assert np.array_equal(words, WORDS[: len(words)])
    assert path.read_bytes() == data
    # rigorous: exactly the frames of the chunks that lie within, and exactly the bytes after the last whole record
    found = scan(data)
    assert len(words) == 6 * sum(end <= len(data) for _, end in chunks)
    assert report.lost_bytes == (0 if found.finished else len(data) - found.whole)


def test_every_cut_around_the_end_of_a_chunk(folder):
    """Between a chunk and its index, too: all frames of the chunk are saved."""
    data = (folder / "whole.mcap").read_bytes()
    path, ends = folder / "edge.mcap", [end for _, end in frame_chunks(data)]
    for number in (0, 4, 9):
        for cut in range(ends[number] - 2, ends[number] + 12):
            path.write_bytes(data[:cut])
            words, _ = saved(path)
            assert np.array_equal(words, WORDS[: 6 * (number + (cut >= ends[number]))])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 60_000), st.integers(1, 255))
def test_a_changed_byte_never_gives_wrong_frames(folder, at, change):
    path, data = folder / "changed.mcap", bytearray((folder / "whole.mcap").read_bytes())
    begin = scan(bytes(data)).chunk_at[0]  # what lies before it is not checked, and could only be another scene
    data[begin + at % (len(data) - begin)] ^= change
    path.write_bytes(data)
    words, _ = saved(path)
    ticks = words[:, SMALL.offset["tick"]]
    assert np.array_equal(words, WORDS[ticks])
    assert (np.diff(ticks) > 0).all()


def test_a_damaged_chunk_is_left_out_and_the_rest_is_saved(folder):
    data = (folder / "whole.mcap").read_bytes()
    path, (begin, end) = folder / "damaged.mcap", frame_chunks(data)[5]
    middle = (begin + end) // 2
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :])
    words, report = saved(path)
    assert np.array_equal(words, np.concatenate((WORDS[:30], WORDS[36:])))
    assert report.lost_bytes == end - begin


def test_the_saved_file_is_proper_and_the_crashed_one_stays(tmp_path):
    path = recording(tmp_path / "run.1.mcap", WORDS, finish=False)
    before, told = path.read_bytes(), []
    with open(path, "rb") as file, pytest.raises(mcap.exceptions.McapError):
        mcap.reader.make_reader(file).get_summary()
    report = recover(path, progress=told.append)
    assert report.path == tmp_path / "run.1.recovered.mcap"
    assert (report.frames, report.seconds, report.lost_bytes) == (60, 0.059, 0)
    assert path.read_bytes() == before
    assert told == sorted(told)
    assert told[-1] == 1.0
    with open(report.path, "rb") as file:
        assert mcap.reader.make_reader(file).get_summary().statistics.channel_message_counts[1] == 60
    with Recording(path) as crashed, Recording(report.path) as back:
        assert np.array_equal([*back], WORDS)
        assert back.hello == crashed.hello
        assert back.metadata["clock_offset_ns"] == crashed.metadata["clock_offset_ns"]
        assert np.array_equal(back.chunk(2).log_ns, crashed.chunk(2).log_ns)
    with pytest.raises(RecordError, match="is there already"):
        recover(path)
    with pytest.raises(RecordError, match="is there already"):
        recover(path, path)
    assert recover(path, tmp_path / "other.mcap").frames == 60


def test_a_sound_file_is_left_alone_unless_a_copy_is_wanted(tmp_path):
    path = recording(tmp_path / "a.mcap", WORDS)
    assert recover(path) == (60, 0.059, 0, path)
    assert recover(path, tmp_path / "b.mcap").path == tmp_path / "b.mcap"
    assert {p.name for p in tmp_path.iterdir()} == {"a.mcap", "b.mcap"}


# ---- a full disk, to the byte


class Disk:
    """A file on a disk with room for so many bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, data):
        fits = min(self.room - self.file.tell(), len(data))
        if fits <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.file.write(data[:fits])

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_a_full_disk_leaves_whole_chunks_and_a_summary_if_it_fits(tmp_path):
    words = frames(900)

    def write(writer):
        for begin in range(0, 900, 300):
            writer.add(words[begin : begin + 300])
            writer.flush()
        writer.close(lost=0)

    def writer_of(name):  # of a clock that does not go: it would change how well a chunk can be compressed
        return FrameWriter(tmp_path / name, hello_of(), clock_offset_ns=0)

    write(writer_of("whole.mcap"))
    data = (tmp_path / "whole.mcap").read_bytes()
    finished = []
    for room in range(scan(data).chunk_at[0], len(data) - 10, 9001):  # digits of when it was opened may be one fewer
        path = tmp_path / f"{room}.mcap"
        writer = writer_of(path.name)
        writer._out._file = Disk(writer._out._file, room)
        with pytest.raises(OSError, match="No space"):
            write(writer)
        with contextlib.suppress(OSError):
            writer.close(lost=0)
        assert writer._out.closed
        with Recording(path) as back:
            assert back.count == writer.frames
            assert np.array_equal([*back], words[: back.count]) or back.count == 0
            assert back.whole_bytes == back.file_bytes  # nothing torn at its end
            finished.append(back.finished)
    assert any(finished)
    assert not all(finished)
