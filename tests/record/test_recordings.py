"""Recordings: what goes in comes out, other programs read it, and wrong files are told in one line."""

import json
import struct

import mcap.reader
import mcap_protobuf.decoder
import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.writer import Writer
from sample_recordings import HUMANOID, SMALL, frame, frames, hello_of, recording

from palpate.frame import FRAME, Field, Layout
from palpate.record import RecordError
from palpate.record.container import scan
from palpate.record.reader import CHUNKS_KEPT, Recording
from palpate.record.wire import FrameCodec, schema, varint
from palpate.record.writer import FrameWriter, layout_of


def parsed(layout, data):
    """A message as the protobuf library reads it with the schema of the file."""
    files = descriptor_pb2.FileDescriptorSet.FromString(schema(layout))
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("palpate.Frame")).FromString(data)


def assert_same_fields(message, layout, words):
    """Every number, but contact rows at the end that are zero may be left out."""
    for field in layout.fields:
        value = np.ravel(layout.read(words, field.name))
        told = np.atleast_1d(np.asarray(getattr(message, field.name)))
        np.testing.assert_array_equal(told, value[: len(told)])
        assert len(told) == len(value) or (field.name.startswith("contact_") and not value[len(told) :].any())


# ---- round trip


@pytest.mark.parametrize("layout", [SMALL, HUMANOID, Layout(FRAME, nq=0, nv=0, n_bodies=1, n_devices=0, n_contacts=0)])
@pytest.mark.parametrize("finish", [True, False])
def test_what_goes_in_comes_out(layout, finish, tmp_path):
    words = frames(137, layout)
    with Recording(recording(tmp_path / "a.mcap", words, layout, finish=finish)) as back:
        assert (back.count, len(back), back.n_chunks, back.finished) == (137, 137, 7, finish)
        assert back.hello == hello_of(layout)
        assert back.layout.describe() == layout.describe()
        assert back.lost == (0 if finish else None)
        assert np.array_equal([*back], words)
        assert np.array_equal(np.concatenate([block.words for block in back.blocks()]), words)
        assert np.array_equal(back.times, np.arange(137) / 1000)
        assert back.duration_s == 0.136
        for i in (0, 19, 20, 136, -1, 5):
            assert np.array_equal(back.frame(i), words[i])
        with pytest.raises(IndexError, match="137 frames"):
            back.frame(137)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 5), st.integers(1, 4), st.integers(1, 5), st.data())
def test_every_bit_pattern_survives(n_dof, n_bodies, n, data):
    layout = Layout(FRAME, nq=n_dof + 1, nv=n_dof, n_bodies=n_bodies, n_devices=n_dof % 3, n_contacts=n_dof)
    raw = data.draw(st.binary(min_size=8 * n * layout.words, max_size=8 * n * layout.words))
    words = np.frombuffer(raw, dtype=np.int64).reshape(n, layout.words)
    codec, unix_ns = FrameCodec(layout), np.arange(n) * 999_999_999_937
    seen = 0
    for which, messages in codec.encode(words, unix_ns):
        assert np.array_equal(codec.decode(messages), words[which])
        for k, message in zip(which, messages, strict=True):
            read = parsed(layout, message.tobytes())
            assert_same_fields(read, layout, words[k])
            assert read.timestamp.ToNanoseconds() == unix_ns[k]
            seen += 1
    assert seen == n


def test_strange_frames_are_recorded_all_the_same(tmp_path):
    words = frames(4)
    words[:, SMALL.offset["time_s"]] = np.array([np.nan, -1.0, np.inf, 1e300]).view(np.int64)
    words[:, SMALL.offset["wall_ns"]] = [-(2**63), 2**63 - 1, 0, -1]
    words[:, SMALL.offset["tick"]] = [-1, 2**40, 0, 7]
    with Recording(recording(tmp_path / "a.mcap", words)) as back:
        assert np.array_equal([*back], words)


def test_clock_of_a_recording_that_was_made_as_fast_as_possible(tmp_path):
    with FrameWriter(tmp_path / "a.mcap", hello_of(), clock="simulated") as writer:
        writer.add(frames(100))
    with Recording(tmp_path / "a.mcap") as back:
        assert back.duration_s == 0.099
        assert back.metadata["clock"] == "simulated"
        assert back.metadata["clock_offset_ns"] == back.metadata["opened_unix_ns"]
    with pytest.raises(RecordError, match="'sun'; there are: monotonic, simulated"):
        FrameWriter(tmp_path / "b.mcap", hello_of(), clock="sun")


def test_index_by_time(tmp_path):
    words = frames(100)
    words[50:, SMALL.offset["wall_ns"]] += 1_000_000_000  # a gap of a second
    with Recording(recording(tmp_path / "a.mcap", words)) as back:
        assert [back.index_at(t) for t in (-1.0, 0.0, 0.0105, 0.049, 0.7, 1.0499, 1.05, 1.099, 1e9)] == [
            0, 0, 10, 49, 49, 49, 50, 99, 99,
        ]  # fmt: skip
        for i, t in enumerate(back.times):
            assert back.index_at(t) == i
            assert back.time_at(i) == t


def test_a_long_recording_is_not_held_in_memory(tmp_path):
    with Recording(recording(tmp_path / "a.mcap", frames(400), per_chunk=4)) as back:
        for i in range(0, 400, 3):
            back.frame(i)
        assert len(back._cache) <= CHUNKS_KEPT


def test_frames_cannot_be_changed_and_outlive_the_file(tmp_path):
    with Recording(recording(tmp_path / "a.mcap", frames(30))) as back:
        kept = back.frame(7)
    assert np.array_equal(kept, frame(7))
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1


def test_what_a_page_needs_to_replay(tmp_path):
    with Recording(recording(tmp_path / "a.mcap", frames(30, first=5))) as back:
        assert back.replay_hello() == hello_of() | {"mode": "replay", "duration_s": back.duration_s,
                                                    "first_wall_ns": 5_000_000, "marks": []}  # fmt: skip


# ---- other programs


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**35])
def test_varints_are_those_of_protobuf(number):
    field = descriptor_pb2.FieldDescriptorProto(number=number) if number < 2**31 else None
    expected = field.SerializeToString()[1:] if field else b"\x80\x80\x80\x80\x80\x01"
    assert varint(number) == expected


def test_mcap_and_protobuf_of_others_read_it(tmp_path):
    words = frames(95)
    path = recording(tmp_path / "a.mcap", words)
    with open(path, "rb") as file:
        reader = mcap.reader.make_reader(
            file, validate_crcs=True, decoder_factories=[mcap_protobuf.decoder.DecoderFactory()]
        )
        summary = reader.get_summary()
        statistics = summary.statistics
        assert statistics.channel_message_counts[1] == 95
        assert (summary.schemas[1].name, summary.schemas[1].encoding) == ("palpate.Frame", "protobuf")
        (attachment,) = reader.iter_attachments()
        assert (attachment.name, json.loads(attachment.data)) == ("scene.json", hello_of())
        metadata = {m.name: m.metadata for m in reader.iter_metadata()}
        assert metadata["palpate"]["format"] == "2"
        assert metadata["palpate.end"] == {"frames": "95", "lost": "0"}
        offset = int(metadata["palpate"]["clock_offset_ns"])
        n = 0
        for one, (_, channel, message, decoded) in zip(words, reader.iter_decoded_messages("/frame"), strict=True):
            assert channel.topic == "/frame"
            assert message.sequence == SMALL.read(one, "tick")
            assert message.log_time == SMALL.read(one, "wall_ns") + offset
            assert message.publish_time == round(SMALL.read(one, "time_s") * 1e9)
            assert decoded.timestamp.ToNanoseconds() == message.log_time
            assert_same_fields(decoded, SMALL, one)
            n += 1
        some = [
            m.sequence
            for _, _, m in reader.iter_messages(
                "/frame", starting_at=offset + 30_000_000, ending_before=offset + 33_000_000
            )
        ]
        assert (n, some) == (95, [30, 31, 32])
    with open(path, "rb") as file:  # without the summary
        stream = mcap.reader.NonSeekingReader(file, validate_crcs=True)
        assert sum(1 for _ in stream.iter_messages("/frame")) == 95


@pytest.mark.parametrize("compression", list(mcap.writer.CompressionType))
def test_a_recording_that_another_program_wrote_again_is_read(compression, tmp_path):
    """Other channel numbers, other chunks, another topic in between: as `mcap merge` would leave it."""
    words = frames(50)
    with open(recording(tmp_path / "a.mcap", words), "rb") as file, open(tmp_path / "b.mcap", "wb") as out:
        reader = mcap.reader.make_reader(file)
        writer = Writer(out, chunk_size=20_000, compression=compression)
        writer.start()
        other = writer.register_channel("/note", "json", 0)
        shape = reader.get_summary().schemas[1]
        ours = writer.register_channel(
            "/frame", "protobuf", writer.register_schema(shape.name, shape.encoding, shape.data)
        )
        for a in reader.iter_attachments():
            writer.add_attachment(a.create_time, a.log_time, a.name, a.media_type, a.data)
        for m in reader.iter_metadata():
            writer.add_metadata(m.name, m.metadata)
        for _, _, m in reader.iter_messages("/frame"):
            writer.add_message(other, m.log_time, b"{}", m.log_time)
            writer.add_message(ours, m.log_time, m.data, m.publish_time, m.sequence)
        writer.finish()
    with Recording(tmp_path / "b.mcap") as back:
        assert np.array_equal([*back], words)
        assert np.array_equal(back.times, np.arange(50) / 1000)


# ---- wrong files


def told(path):
    with pytest.raises(RecordError) as caught:
        Recording(path)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_files_that_are_no_recordings(tmp_path):
    path = tmp_path / "a.mcap"
    assert told(path) == f"there is no file {path}"
    assert "Is a directory" in told(tmp_path)
    path.write_bytes(b"")
    assert told(path) == f"{path} is empty"
    path.write_bytes(b"time,q\n0,1\n")
    assert "does not begin like an MCAP file" in told(path)
    path.write_bytes(b"\x89MCAP0\r\n")
    assert "ends before its first frame" in told(path)


def test_mcap_files_of_others(tmp_path):
    with open(tmp_path / "a.mcap", "wb") as out:
        writer = Writer(out)
        writer.start()
        writer.finish()
    assert "not a recording of palpate" in told(tmp_path / "a.mcap")


def patched(path, old, new):
    data = path.read_bytes()
    assert data.count(old)
    path.write_bytes(data.replace(old, new))
    return path


def test_recordings_of_other_versions(tmp_path):
    path = recording(tmp_path / "a.mcap", frames(5))
    assert "has format 9 of palpate 0.test; this version reads 1 and 2" in told(
        patched(path, b"format" + struct.pack("<I", 1) + b"2", b"format" + struct.pack("<I", 1) + b"9")
    )


def test_a_frame_of_another_version_is_read_by_its_own_layout(tmp_path):
    layout = Layout(
        (*FRAME[:-1], Field("temperature", "f", (2,), "[K]")), nq=2, nv=2, n_bodies=3, n_devices=1, n_contacts=3
    )
    with Recording(recording(tmp_path / "a.mcap", frames(30, layout), layout)) as back:
        assert np.array_equal(
            back.layout.read(back.frame(3), "temperature"), layout.read(frame(3, layout=layout), "temperature")
        )


@pytest.mark.parametrize("change", [
    lambda hello: hello.pop("frame"),
    lambda hello: hello.pop("sizes") and hello["frame"].pop(0),
    lambda hello: hello["frame"][3].update(offset=0),
    lambda hello: hello.update(frame=[{"name": "tick"}]),
    lambda hello: hello.update(frame=7),
])  # fmt: skip
def test_scene_descriptions_that_do_not_describe_frames(change):
    hello = hello_of()
    change(hello)
    with pytest.raises(RecordError, match="scene description"):
        layout_of(hello)


def test_damage_inside_is_told_when_it_is_met(tmp_path):
    path = recording(tmp_path / "a.mcap", frames(100))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with (
        Recording(path) as back,
        pytest.raises(RecordError, match=r"damaged at byte \d+; `palpate recover` saves the rest"),
    ):
        list(back)


def test_messages_that_are_not_encoded_as_ours_are_told():
    codec = FrameCodec(SMALL)
    messages = codec.encode(frames(1), np.zeros(1, dtype=np.int64))[0].messages
    messages[0, 0] ^= 1
    with pytest.raises(RecordError, match="not encoded as palpate"):
        codec.decode(messages)


def test_an_older_recording_is_not_overwritten(tmp_path):
    path = recording(tmp_path / "a.mcap", frames(5))
    with pytest.raises(RecordError, match="is there already; choose another name"):
        FrameWriter(path, hello_of())
    with FrameWriter(path, hello_of(), overwrite=True) as writer:
        writer.add(frames(7))
    with Recording(path) as back:
        assert back.count == 7
    with pytest.raises(RecordError, match=r"cannot write .*: No such file or directory"):
        FrameWriter(tmp_path / "nowhere" / "a.mcap", hello_of())


def test_a_recording_without_frames(tmp_path):
    with Recording(recording(tmp_path / "a.mcap", frames(0))) as back:
        assert (back.count, back.duration_s, list(back), len(back.times)) == (0, 0.0, [], 0)
        with pytest.raises(RecordError, match="holds no frames"):
            back.index_at(0.0)


def test_schema_describes_every_field():
    files = descriptor_pb2.FileDescriptorSet.FromString(schema(HUMANOID))
    assert [f.name for f in files.file] == ["google/protobuf/timestamp.proto", "palpate/frame.proto"]
    fields = files.file[1].message_type[0].field
    assert [f.name for f in fields] == ["timestamp", *(f.name for f in FRAME)]


# ---- contact rows


ROOMY = Layout(FRAME, nq=2, nv=2, n_bodies=3, n_devices=0, n_contacts=40)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_frames_with_any_number_of_contacts_come_back_bit_by_bit(tmp_path_factory, contacts, seed):
    """In one chunk, in their order; counts beyond the room are frames with all rows used."""
    words = frames(len(contacts), ROOMY)
    words[:] = np.random.default_rng(seed).integers(-(2**62), 2**62, words.shape)
    words[:, ROOMY.offset["tick"]] = np.arange(len(words))
    words[:, ROOMY.offset["wall_ns"]] = np.arange(len(words)) * 1_000_000
    words[:, ROOMY.offset["contacts"]] = contacts
    for row, count in zip(words, contacts, strict=True):
        for name, width in (("contact_body", 2), ("contact_mode", 1), ("contact_point", 3), ("contact_force", 3)):
            row[ROOMY.offset[name] + min(count, 40) * width : ROOMY.offset[name] + 40 * width] = 0
    path = tmp_path_factory.mktemp("rows") / "a.mcap"
    with Recording(recording(path, words, ROOMY, per_chunk=50)) as back:
        assert np.array_equal([*back], words)
    sizes = {rows: FrameCodec(ROOMY).template(rows).size for rows in (0, 7, 40)}
    assert sizes == {rows: FrameCodec(ROOMY).template_size(rows) for rows in sizes}


def test_unused_contact_rows_cost_nothing_on_disk(tmp_path):
    """Numbers that do not compress: a frame with room for 40 contacts and none takes what one without room takes."""

    def size(layout, used):
        rng, words = np.random.default_rng(1), np.zeros((200, layout.words), dtype=np.int64)
        words[:, layout.offset["q"] : layout.offset["q"] + 4] = rng.integers(0, 2**62, (200, 4))
        words[:, layout.offset["wall_ns"]] = np.arange(200) * 1_000_000
        words[:, layout.offset["contacts"]] = used
        for name in ("contact_body", "contact_mode", "contact_point", "contact_force"):
            width = layout.length[name] // max(layout.sizes["n_contacts"], 1)
            begin = layout.offset[name]
            words[:, begin : begin + layout.length[name]] = 0
            words[:, begin : begin + used * width] = rng.integers(0, 2**62, (200, used * width))
        path = tmp_path / f"{layout.words}-{used}.mcap"
        with FrameWriter(path, hello_of(layout), views=False, overwrite=True) as writer:
            writer.add(words)
        return sum(scan(path.read_bytes()).chunk_length)

    none, roomy = Layout(FRAME, nq=2, nv=2, n_bodies=3, n_devices=0, n_contacts=0), ROOMY
    assert size(roomy, 0) <= size(none, 0) + 200 * 8
    assert size(roomy, 3) >= size(roomy, 0) + 200 * 3 * 8 * 7  # what is used is there


def test_a_row_beyond_the_count_is_kept_all_the_same(tmp_path):
    words = frames(3, ROOMY)
    words[1, ROOMY.offset["contacts"]] = 0
    words[1, ROOMY.offset["contact_force"] + 100] = -1
    with Recording(recording(tmp_path / "a.mcap", words, ROOMY)) as back:
        assert np.array_equal([*back], words)
