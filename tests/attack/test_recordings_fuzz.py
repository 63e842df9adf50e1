"""Recordings that were cut, changed, spliced or made to hurt: they are read, or refused in one line, and nothing else.

Seeded; `make test` has a few hundred files, `make test-slow` many more.
"""

import contextlib
import json
import random
import resource
import struct
import zlib
from pathlib import Path
from types import SimpleNamespace

import lz4.frame
import mcap.reader
import numpy as np
import pytest
import zstandard
from mcap.opcode import Opcode
from record.sample_recordings import SMALL, frames, hello_of

from palpate.frame import EVENT, HAND, Layout
from palpate.record import RecordError
from palpate.record import writer as writer_module
from palpate.record.container import CHUNK, LARGEST_CHUNK, MAGIC, RECORD, chunk_records, messages_in, scan, unsqueezed
from palpate.record.export import FORMATS, export
from palpate.record.reader import Recording
from palpate.record.recover import recover
from palpate.record.summary import IN_MEMORY, Summary
from palpate.record.writer import MARKS, FrameWriter
from palpate.runtime.record.player import Player, shown_layout
from palpate.servo.ring import Ring

WORDS = frames(40)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The bytes of a small recording that has some of everything."""
    path = tmp_path_factory.mktemp("sample") / "a.mcap"
    with pytest.MonkeyPatch.context() as patch:  # the same bytes in every run
        patch.setattr(writer_module, "time", SimpleNamespace(time_ns=lambda: 10**18, monotonic_ns=lambda: 10**9))
        writer = FrameWriter(path, hello_of(), meshes=[b"mesh" * 10])
    with writer:
        for k in range(4):
            writer.add(WORDS[10 * k : 10 * k + 10])
            writer.hands(np.array([Layout(HAND).pack(sent_ns=10**7 * k, hand=0, body=1, hold=1, target=(k, 0, 0))]))
            writer.events(np.array([Layout(EVENT).pack(kind=k, value=0.5)]), 10**7 * k)
            writer.mark(f"mark {k}", {"k": k, "pair": [1, 2]}, 10**7 * k)
            writer.flush()
    return path.read_bytes()


def everything(path, folder):
    """All that can be done with a file; returns whether it could be read.  Anything but a RecordError is a failure."""
    read = False
    with contextlib.suppress(RecordError), Recording(path) as back:
        for words in back:
            assert words.shape == (back.layout.words,)
        read = True
    with contextlib.suppress(RecordError), Recording(path) as back:
        assert len(back.times) == back.count
        assert back.hands.ndim == back.events.ndim == 2
        assert all(mark.text.encode() is not None for mark in back.marks)
        assert (back.meshes, back.topics, back.trials) is not None
        json.dumps(back.replay_hello(), allow_nan=False)
    with contextlib.suppress(RecordError), Recording(path) as back:
        layout = shown_layout(back)
        frames, events = Ring.create(16, layout.words), Ring.create(16, Layout(EVENT).words)
        player, now_s = Player(back, frames, events), 0.0
        for _ in range(5):
            player.advance(now_s := now_s + 0.01)
        frames.close()
        events.close()
    for style in set(FORMATS) - {"parquet"}:
        with contextlib.suppress(RecordError):
            export(path, folder / "out", style, everything=True)
    (folder / "saved.mcap").unlink(missing_ok=True)
    with contextlib.suppress(RecordError):
        report = recover(path, folder / "saved.mcap")
        with Recording(folder / "saved.mcap") as back:
            assert back.finished
            assert back.count == report.frames
    return read


# ---- changes that know nothing of the format, and some that do


def records(data):
    """(at, end) of every record."""
    at, found = len(MAGIC), []
    while at + RECORD.size <= len(data) - len(MAGIC):
        _, length = RECORD.unpack_from(data, at)
        found.append((at, at + RECORD.size + length))
        at = found[-1][1]
    return found


def truncate(rng, data):
    return data[: rng.randrange(len(data))]


def flip(rng, data):
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        changed[rng.randrange(len(MAGIC), len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def splice(rng, data):
    a, b, c, d = (rng.randrange(len(MAGIC), len(data)) for _ in range(4))
    return data[:a] + data[min(b, c) : max(b, c)] + data[d:]


def noise(rng, data):
    at = rng.randrange(len(MAGIC), len(data))
    n = rng.randrange(1, 200)
    return data[:at] + rng.randbytes(n) + data[at + n :]


def duplicate(rng, data):
    """A record again, somewhere between others."""
    (a, b), (at, _) = rng.choice(records(data)), rng.choice(records(data))
    return data[:at] + data[a:b] * rng.choice((1, 1, 5)) + data[at:]


def swap(rng, data):
    (a, b), (c, d) = sorted(rng.sample(records(data), 2))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def huge(rng, data):
    """A number in the head of a record that is much too large, or nothing."""
    at, end = rng.choice(records(data))
    changed, where = bytearray(data), min(at + 1 + rng.randrange(0, 60), end - 8)
    values = (("<Q", 2**64 - 1), ("<Q", 2**40), ("<I", 2**32 - 1), ("<I", 2**31), ("<Q", 0), ("<H", 7))
    width, value = rng.choice(values)
    struct.pack_into(width, changed, max(where, at + 1), value)
    return bytes(changed)


def scene(rng, data):
    """The scene description with one thing in it replaced by another."""
    hello = json.loads(scan(data).attachments["scene.json"].data)
    holder, key = rng.choice(list(places(hello)))
    if rng.random() < 0.2:
        del holder[key]
    else:
        holder[key] = rng.choice(JSON)
    return with_scene(data, hello)


def with_scene(data, hello):
    """The same file with another scene description."""
    at, end = next((a, b) for a, b in records(data) if data[a] == Opcode.ATTACHMENT)
    old, new, size = scan(data).attachments["scene.json"].data, json.dumps(hello).encode(), struct.Struct("<Q")
    body = data[at + RECORD.size : end].replace(size.pack(len(old)), size.pack(len(new))).replace(old, new)
    return data[:at] + RECORD.pack(Opcode.ATTACHMENT, len(body)) + body + data[end:]


JSON = (None, True, 0, -1, 2**31, 2**63, 10**30, 1e308, "", "x", "\0", "\ud800", "i", [], [None], {}, {"a": []},
        "n_bodies", [2**40], ["n_bodies", 2**20], [[[[]]]], float("nan"))  # fmt: skip


def places(value):
    """(container, key) of everything in a JSON value."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def inside(rng, data):
    """A chunk whose checksum is right, and whose records are not."""
    chunks = [(a, b) for a, b in records(data) if data[a] == Opcode.CHUNK]
    a, b = rng.choice(chunks)
    whole = bytearray(unsqueezed(data[a + RECORD.size : b]))
    for _ in range(rng.choice((1, 2, 10))):
        at = rng.choice((rng.randrange(len(whole)), 1 + rng.randrange(30)))
        whole[at] = rng.choice((0, 1, 255, rng.randrange(256)))
    size, squeezed = len(whole), zstandard.compress(bytes(whole))
    body = CHUNK.pack(rng.choice((0, 2**64 - 1, 10**18)), rng.choice((0, 10**18)), size, zlib.crc32(bytes(whole)), 4)
    body += b"zstd" + struct.pack("<Q", len(squeezed)) + squeezed
    return data[:a] + RECORD.pack(Opcode.CHUNK, len(body)) + body + data[b:]


BLIND = (truncate, flip, splice, noise)
CHANGES = (*BLIND, duplicate, swap, huge, scene, inside)
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_changed_file_is_read_or_refused_in_one_line(change, seed, sample, tmp_path):
    rng, path = random.Random(f"{change.__name__} {seed}"), tmp_path / "changed.mcap"
    for _ in range(8):
        data = change(rng, sample)
        if rng.random() < 0.2 and len(data) > 2000:
            data = rng.choice(BLIND)(rng, data)
        path.write_bytes(data)
        everything(path, tmp_path)
        assert path.read_bytes() == data


def test_the_sample_itself_is_read(sample, tmp_path):
    (tmp_path / "a.mcap").write_bytes(sample)
    assert everything(tmp_path / "a.mcap", tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_a_refusal_is_one_line_that_names_the_file(seed, sample, tmp_path):
    rng, path, refused = random.Random(seed), tmp_path / "named.mcap", 0
    for _ in range(10):
        path.write_bytes(rng.choice((truncate, scene, flip))(rng, sample))
        error = why_not(path)
        refused += bool(error)
        assert "named.mcap" in (error or "named.mcap")
        assert "\n" not in error
    assert refused


def why_not(path):
    """Why a file cannot be read; empty: it can."""
    try:
        with Recording(path) as back:
            list(back)
    except RecordError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 30))])
def test_frames_and_hands_of_any_bits_are_written_and_read(seed, tmp_path):
    """A world that broke, a hand of another program: what was recorded comes back, and can be looked at."""
    rng, path, words = np.random.default_rng(seed), tmp_path / "a.mcap", frames(30)
    odd = np.array([0, 1, -1, 2**31, 2**62, -(2**63), 2**63 - 1])
    for _ in range(rng.integers(1, 60)):
        words[rng.integers(len(words)), rng.integers(words.shape[1])] = rng.choice(odd)
    if seed % 2:
        words[:, SMALL.offset["hand_body"]] = rng.choice(odd)
    hand, event = Layout(HAND), Layout(EVENT)
    hands = [hand.pack(sent_ns=rng.integers(0, 10**8), hand=rng.choice(odd), body=rng.choice(odd)) for _ in range(5)]
    with FrameWriter(path, hello_of()) as writer, np.errstate(all="ignore"):
        writer.add(words)
        writer.hands(np.array(hands))
        writer.events(np.array([event.pack(kind=rng.choice(odd), value=np.inf)]), 5)
    with Recording(path) as back:
        assert np.array_equal([*back], words)
    with np.errstate(all="ignore"):
        everything(path, tmp_path)


# ---- bombs


def with_chunks(path, sample, *chunks):
    """The sample, its chunks replaced by others (data, or a whole record), without its end, as kill -9 leaves it."""
    begin = scan(sample).chunk_at[0]
    path.write_bytes(sample[:begin] + b"".join(chunks))
    return path


def bomb(size, codec="zstd", filling=b"\0"):
    """A chunk of `size` bytes that hardly takes any."""
    data = (filling * (size // len(filling) + 1))[:size]
    squeezed = {"zstd": zstandard.ZstdCompressor(level=19).compress, "lz4": lz4.frame.compress, "": bytes}[codec](data)
    body = CHUNK.pack(0, 1, size, zlib.crc32(data), len(codec)) + codec.encode()
    body += struct.pack("<Q", len(squeezed)) + squeezed
    return RECORD.pack(Opcode.CHUNK, len(body)) + body


SMALLEST = RECORD.pack(Opcode.MESSAGE, 22) + bytes(22)


@pytest.fixture
def little_memory():
    """Half a gigabyte more than now, and no further."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_chunk_that_says_more_than_one_may_hold_is_never_unpacked(codec, sample, tmp_path, little_memory):
    path = with_chunks(tmp_path / "a.mcap", sample, bomb(LARGEST_CHUNK + 1, codec))
    with Recording(path) as back:
        assert back.count == 0
        with pytest.raises(RecordError, match=r"a\.mcap is damaged at byte \d+"):
            back.unpacked(0)
    assert recover(path, tmp_path / "b.mcap").frames == 0


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_chunk_that_holds_more_than_it_says_is_not_unpacked_beyond_that(codec, sample, tmp_path, little_memory):
    chunk = bytearray(bomb(LARGEST_CHUNK, codec))
    for said in (0, 1, 1000):
        struct.pack_into("<Q", chunk, RECORD.size + 16, said)
        path = with_chunks(tmp_path / "a.mcap", sample, bytes(chunk))
        with Recording(path) as back, pytest.raises(RecordError, match="is damaged"):
            back.unpacked(0)


def test_many_chunks_that_come_to_a_thousand_times_the_file_are_refused(sample, tmp_path, little_memory):
    chunk = bomb(LARGEST_CHUNK)
    path = with_chunks(tmp_path / "a.mcap", sample, *[chunk] * 17)
    for act in (Recording, recover, lambda path: export(path, tmp_path / "a.csv")):
        with pytest.raises(RecordError, match=r"a\.mcap is damaged, or made to fill the memory: its \d+ bytes"):
            act(path)


@pytest.mark.parametrize("filling", [SMALLEST, SMALLEST + RECORD.pack(Opcode.MESSAGE, 23) + bytes(23)], ids=len)
def test_a_chunk_of_nothing_but_smallest_messages_is_left_out(filling, sample, tmp_path, little_memory):
    data = filling * 5000
    path = with_chunks(tmp_path / "a.mcap", sample, bomb(len(data), "zstd", filling))
    with Recording(path) as back:
        assert back.count == 0
    assert everything(path, tmp_path)


def test_a_frame_layout_that_would_fill_the_memory_is_refused(tmp_path, little_memory):
    hello = hello_of()
    for shape in ([2**40], [2**62, 4], [2**20, 2**20], [-5], ["nq", 2**30]):
        changed = hello | {"frame": [f | {"shape": shape} if f["name"] == "pose" else f for f in hello["frame"]]}
        path = tmp_path / "a.mcap"
        with FrameWriter(path, hello, overwrite=True) as writer:
            writer.add(WORDS)
        data = path.read_bytes()
        path.write_bytes(with_scene(data, changed))
        for act in (Recording, recover):
            with pytest.raises(RecordError, match=r"a\.mcap"):
                act(path)


def test_decoded_frames_are_bounded_however_little_each_takes_in_the_file(tmp_path, little_memory):
    """Contact rows that are not used take nothing in the file, and much in memory."""
    layout = Layout(SMALL.fields, **(SMALL.sizes | {"n_contacts": 10_000}))
    path = tmp_path / "a.mcap"
    with FrameWriter(path, hello_of(layout), views=False) as writer:
        writer.add(np.zeros((1, layout.words), dtype=np.int64))
        one = b"".join(part.tobytes() for part in writer._parts)
    data = one * 2000  # more than 1 GB as words
    index = messages_in(data).indexes()
    out = path.read_bytes()
    begin = scan(out).chunk_at[0]
    chunk, entries = chunk_records(data, zstandard.compress(data), "zstd", index)
    path.write_bytes(out[:begin] + b"".join((chunk, *entries)))
    with Recording(path) as back, pytest.raises(RecordError, match="more frames than it can"):
        back.frame(0)
    assert recover(path, tmp_path / "b.mcap").frames == 0


# ---- the table of contents


def test_what_a_summary_keeps_does_not_grow_with_the_recording(tmp_path):
    """Two chunks every 40 ms, one with all topics: their entries wait on disk, all but IN_MEMORY and one more."""
    index = np.zeros(1, dtype=[("log_time", "<u8"), ("offset", "<u8")])
    chunk, entries = chunk_records(b"", b"", "zstd", dict.fromkeys(range(9), index))
    summary, largest, entry = Summary(tmp_path), 0, 9 + 100 + 10 * 9
    for n in range(20_000):
        summary.add_chunk(n, chunk, entries, dict.fromkeys(range(9), 1))
        largest = max(largest, len(summary.chunks._rest))
    assert largest <= IN_MEMORY + entry
    assert summary.chunks.size >= 20_000 * 100
    assert sum(map(len, summary.chunks)) == summary.chunks.size
    assert [*tmp_path.iterdir()] == []  # it has no name, and nothing is left of it
    summary.chunks.close()


def test_a_long_file_has_its_whole_table_of_contents_and_is_valid(tmp_path):
    path, n = tmp_path / "a.mcap", 700
    with FrameWriter(path, hello_of()) as writer:
        for k in range(n):
            writer.add(frames(1, first=k))
            writer.mark(f"{k}", None, k * 10**6)
            writer.flush()
    with open(path, "rb") as file:
        reader = mcap.reader.make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        assert len(summary.chunk_indexes) == summary.statistics.chunk_count == 2 * n
        assert sum(1 for _ in reader.iter_messages("/frame")) == n
        told = [json.loads(message.data)["text"] for _, _, message in reader.iter_messages(MARKS)]
    assert told == [f"{k}" for k in range(n)]
    with Recording(path) as back:
        assert (back.count, len(back.marks)) == (n, n)
    assert recover(path).path == path
