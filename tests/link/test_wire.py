"""Packets: their bytes are written down here, and whatever is not exactly such a packet is refused."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_siphash import siphash_by_bytes

from palpate.link import wire
from palpate.link.keys import Key, key_of
from palpate.link.wire import (
    BYE,
    FIELDS,
    FOR_HAND,
    FOR_SERVER,
    FORGED,
    HAND_WORDS,
    HELLO,
    LARGEST_REST,
    LARGEST_SCENE,
    LARGEST_WORDS,
    MALFORMED,
    MOST_PARTS,
    OTHER_VERSION,
    QUERY,
    STATE,
    TYPES,
    WELCOME,
    Wire,
    name_text,
    name_words,
    open_entry,
    packet_lengths,
    state_parts,
)  # fmt: skip

pytestmark = pytest.mark.nojit
KEY = bytes(range(16))
NQ, NV = 3, 2
WIRE = Wire(Key(KEY), nq=NQ, nv=NV)
ENVELOPE = {"session": -2, "sequence": 0x0102030405060708, "time_ns": 10**15 + 1}

# One packet of every type: its fields, and how `struct` packs them.
PAYLOADS = {
    HELLO: ("<15q", {"nonce": -7, "padding": [0] * 14}),
    WELCOME: (
        "<5q64s2d",
        {"nonce": -7, "nq": 3, "nv": 2, "n_bodies": 4, "fingerprint": 2**62, "name": "the arm – ß", "rate_hz": 1000.0,
         "force_limit_N": 8.5},
    ),
    QUERY: (
        f"<6q{2 * HAND_WORDS}qd",
        {"wants": 1, "buttons": 5, "state_seen": 99, "state_time_ns": 123456789, "event_number": 4, "event_kind": 6,
         "hands": [list(range(1, HAND_WORDS + 1)), list(range(-HAND_WORDS, 0))], "event_value": 0.5},
    ),
    STATE: (
        "<18q19d",
        {"query_seen": 98, "query_time_ns": 987654321, "waited_ns": 1500, "age_ns": 700000, "tick": 60000, "state": 1,
         "edit_mode": 2, "edit_stage": 1, "holder": 2, "hand_body": [3, 7], "event_seen": 4,
         "dropped": [1, 2, 3], "parked": 9, "first": 0x0102030405060708, "part": 0, "sim_time_s": 60.0,
         "hand_force": [[1.0, 2.0, -3.0], [4.0, 5.0, 6.0]],
         "hand_point": [[0.5, -0.25, 8.0], [16.0, 0.0, -1.0]], "granted_J": 0.125,
         "rest": [0.1, 0.2, 0.3, -1.0, float("inf")]},
    ),
    BYE: ("<q", {"reason": 1}),
}  # fmt: skip
# Written by struct and by the hash of test_siphash.py (by_struct below), a word a group.
GOLDEN = {
    HELLO: """
        504c505405000100 feffffffffffffff 0807060504030201 0180c6a47e8d0300 f9ffffffffffffff 0000000000000000
        0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000
        0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000
        0000000000000000 a39b698038fd7ba3
    """,
    WELCOME: """
        504c505405000200 feffffffffffffff 0807060504030201 0180c6a47e8d0300 f9ffffffffffffff 0300000000000000
        0200000000000000 0400000000000000 0000000000000040 7468652061726d20 e2809320c39f0000 0000000000000000
        0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000408f40
        0000000000002140 4db139a511610a51
    """,
    QUERY: """
        504c505405000300 feffffffffffffff 0807060504030201 0180c6a47e8d0300 0100000000000000 0500000000000000
        6300000000000000 15cd5b0700000000 0400000000000000 0600000000000000 0100000000000000 0200000000000000
        0300000000000000 0400000000000000 0500000000000000 0600000000000000 0700000000000000 0800000000000000
        0900000000000000 0a00000000000000 0b00000000000000 0c00000000000000 0d00000000000000 0e00000000000000
        0f00000000000000 1000000000000000 1100000000000000 1200000000000000 1300000000000000 1400000000000000
        1500000000000000 1600000000000000 1700000000000000 1800000000000000 1900000000000000 1a00000000000000
        1b00000000000000 1c00000000000000 1d00000000000000 1e00000000000000 1f00000000000000 2000000000000000
        2100000000000000 2200000000000000 2300000000000000 2400000000000000 dcffffffffffffff ddffffffffffffff
        deffffffffffffff dfffffffffffffff e0ffffffffffffff e1ffffffffffffff e2ffffffffffffff e3ffffffffffffff
        e4ffffffffffffff e5ffffffffffffff e6ffffffffffffff e7ffffffffffffff e8ffffffffffffff e9ffffffffffffff
        eaffffffffffffff ebffffffffffffff ecffffffffffffff edffffffffffffff eeffffffffffffff efffffffffffffff
        f0ffffffffffffff f1ffffffffffffff f2ffffffffffffff f3ffffffffffffff f4ffffffffffffff f5ffffffffffffff
        f6ffffffffffffff f7ffffffffffffff f8ffffffffffffff f9ffffffffffffff faffffffffffffff fbffffffffffffff
        fcffffffffffffff fdffffffffffffff feffffffffffffff ffffffffffffffff 000000000000e03f 2b7bc15641b1ce0e
    """,
    STATE: """
        504c505405000400 feffffffffffffff 0807060504030201 0180c6a47e8d0300 6200000000000000 b168de3a00000000
        dc05000000000000 60ae0a0000000000 60ea000000000000 0100000000000000 0200000000000000 0100000000000000
        0200000000000000 0300000000000000 0700000000000000 0400000000000000 0100000000000000 0200000000000000
        0300000000000000 0900000000000000 0807060504030201 0000000000000000 0000000000004e40 000000000000f03f
        0000000000000040 00000000000008c0 0000000000001040 0000000000001440 0000000000001840 000000000000e03f
        000000000000d0bf 0000000000002040 0000000000003040 0000000000000000 000000000000f0bf 000000000000c03f
        9a9999999999b93f 9a9999999999c93f 333333333333d33f 000000000000f0bf 000000000000f07f 2426a42bf01b15ab
    """,
    BYE: """
        504c505405000500 feffffffffffffff 0807060504030201 0180c6a47e8d0300 0100000000000000 690a3dd0f2897d98
    """,
}  # fmt: skip


def by_struct(kind: int) -> bytes:
    """The packet of PAYLOADS without the code that is tested: type by type as the reference of the format says."""
    layout, fields = PAYLOADS[kind]
    numbers = []
    for value in fields.values():
        rows = value if isinstance(value, list) else [value.encode() if isinstance(value, str) else value]
        numbers += [x for row in rows for x in (row if isinstance(row, list) else [row])]
    head = struct.pack("<4sHHqqq", b"PLPT", 5, kind, *ENVELOPE.values())
    body = head + struct.pack(layout, *numbers)
    return body + siphash_by_bytes(body, KEY)


def opened(data: bytes, lengths: np.ndarray = WIRE.lengths, claimed: int | None = None) -> int:
    """What open_packet says of bytes that lie in an array just large enough: an index beyond would be an error."""
    words = np.frombuffer(data[: len(data) // 8 * 8], dtype="<i8").astype(np.int64)
    return open_entry(words, len(data) if claimed is None else claimed, lengths, WIRE.key.words)


def sealed(kind: int) -> bytes:
    return WIRE.pack(kind, **ENVELOPE, **PAYLOADS[kind][1])


# ---- the format


@pytest.mark.parametrize("kind", TYPES)
def test_the_bytes_of_a_packet_are_those_written_down(kind):
    """A change of these bytes is a change of the format, and needs another version."""
    assert sealed(kind).hex() == "".join(GOLDEN[kind].split())
    assert by_struct(kind) == sealed(kind)


@pytest.mark.parametrize("kind", TYPES)
def test_a_packet_is_unpacked_as_it_was_packed(kind):
    packet = WIRE.unpack(sealed(kind))
    assert (packet.kind, packet.session, packet.sequence, packet.time_ns) == (kind, *ENVELOPE.values())
    assert packet.fields.keys() == PAYLOADS[kind][1].keys()
    for name, value in PAYLOADS[kind][1].items():
        assert np.array_equal(packet.fields[name], value)


@pytest.mark.parametrize(
    ("kind", "offsets"),
    [(HELLO, wire.HELLO_AT), (WELCOME, wire.WELCOME_AT), (QUERY, wire.QUERY_AT), (STATE, wire.STATE_AT),
     (BYE, wire.BYE_AT)],
)  # fmt: skip
def test_kernels_find_every_field_where_it_is(kind, offsets):
    packet = np.frombuffer(sealed(kind), dtype="<i8")
    layout = {field.name: field for field in FIELDS[kind]}
    assert list(offsets._fields) == [field.name for field in FIELDS[kind]]
    for name, at in offsets._asdict().items():
        if name != "name":
            value = np.atleast_1d(PAYLOADS[kind][1][name])
            found = packet[at : at + value.size]
            assert np.array_equal(found.view("<f8") if layout[name].kind == "f" else found, value.ravel())
    if kind == QUERY:
        assert len(packet) == wire.QUERY_WORDS


@pytest.mark.parametrize("seed", range(5))
def test_no_packet_is_longer_than_an_ethernet_frame_whatever_the_scene(seed):
    """1472 bytes: what an Ethernet frame leaves for UDP over IPv4; so nothing has to be broken up on the way."""
    assert 8 * LARGEST_WORDS == 1500 - 20 - 8
    rng = np.random.default_rng(seed)
    for words in (0, 1, LARGEST_REST, LARGEST_REST + 1, LARGEST_SCENE, *rng.integers(0, LARGEST_SCENE, 200).tolist()):
        nq = int(rng.integers(0, words + 1))
        nv = int(rng.integers(0, words - nq + 1))
        (parts, rest), lengths = state_parts(nq, nv, words - nq - nv), packet_lengths(nq, nv, own=words - nq - nv)
        assert lengths.max() <= LARGEST_WORDS
        assert 1 <= parts <= MOST_PARTS
        assert words <= parts * rest < words + parts  # all of it, and next to nothing else
        assert parts == 1 or words > (parts - 1) * LARGEST_REST  # in no more parts than it takes


def test_two_avatars_and_400_coordinates_fit_and_what_is_too_large_is_refused():
    assert LARGEST_SCENE >= 400 + 400 + 2 * 150  # q, v, and what two avatars publish
    assert state_parts(LARGEST_REST - 6, 6) == (1, LARGEST_REST)
    assert state_parts(LARGEST_SCENE, 0) == (MOST_PARTS, LARGEST_REST)
    message = f"^the scene has 1406 coordinates and velocities; a link carries {LARGEST_SCENE}: .*$"
    with pytest.raises(ValueError, match=message):
        packet_lengths(703, 703)
    with pytest.raises(ValueError, match="has 8 coordinates and velocities, and 5000 numbers of its controllers;"):
        Wire(nq=4, nv=4, own=5000)


def test_a_field_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="no such fields: colour"):
        WIRE.pack(BYE, colour=3)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_name_survives_or_is_cut_between_characters(text):
    back = name_text(name_words(text))
    assert text.startswith(back)
    assert back == text or len(text.encode()) > 64
    assert len(back.encode()) > 60 or back == text


@given(st.binary(min_size=64, max_size=64))
def test_any_bytes_are_a_name(data):
    assert isinstance(name_text(np.frombuffer(data, dtype="<i8").astype(np.int64)), str)


# ---- what is refused


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=2000))
def test_any_bytes_are_dropped_and_nothing_is_read_beyond_them(data):
    assert opened(data) in (MALFORMED, FORGED)
    assert WIRE.unpack(data).kind in (MALFORMED, FORGED)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(TYPES), st.integers(-(2**63), 2**63 - 1), st.binary(max_size=300), st.integers(0, 40))
def test_bytes_that_begin_like_a_packet_are_dropped(kind, claimed, data, extra):
    begun = sealed(kind)[:8] + data
    assert opened(begun) in (MALFORMED, FORGED)
    assert opened(begun, claimed=claimed) in (MALFORMED, FORGED)
    exactly = (begun + bytes(1500))[: 8 * WIRE.lengths[kind]]
    assert opened(exactly) == FORGED
    assert opened(exactly + bytes(extra)) == (FORGED if extra == 0 else MALFORMED)


@pytest.mark.parametrize("kind", TYPES)
def test_a_flipped_bit_anywhere_is_refused(kind):
    data = sealed(kind)
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        assert opened(bytes(damaged)) in ((MALFORMED, FORGED) if bit < 64 else (FORGED,))


@pytest.mark.parametrize("kind", TYPES)
def test_a_packet_cut_off_or_made_longer_is_malformed(kind):
    data = sealed(kind)
    for length in range(len(data)):
        assert opened(data[:length]) == MALFORMED
    for more in range(1, 40):
        assert opened(data + bytes(more)) == MALFORMED
    assert opened(data[:-8], claimed=len(data)) == MALFORMED  # cut off by an array that was too small


@settings(deadline=None)
@given(st.binary(min_size=16, max_size=16).filter(lambda key: key != KEY))
def test_a_packet_of_another_key_is_forged(key):
    assert WIRE.unpack(Wire(Key(key), NQ, NV).pack(QUERY)).kind == FORGED


def test_a_packet_of_another_protocol_or_type_is_malformed():
    for at in (0, 6):  # magic, type: sealed rightly all the same
        body = bytearray(by_struct(HELLO)[:-8])
        body[at] += 8
        assert opened(bytes(body) + siphash_by_bytes(bytes(body), KEY)) == MALFORMED


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("version", [4, 6, 9])
def test_a_greeting_of_another_version_is_known_as_one_and_all_else_of_it_is_malformed(kind, version):
    """So that both sides can say what is wrong; of whatever length that version's greetings are."""
    body = bytearray(by_struct(kind)[:-8])
    body[4] = version
    data = bytes(body) + siphash_by_bytes(bytes(body), KEY)
    expected = OTHER_VERSION if kind in (HELLO, WELCOME) else MALFORMED
    assert opened(data) == expected
    assert WIRE.unpack(data).fields == ({"version": version} if expected == OTHER_VERSION else {})
    longer = data[:-8] + bytes(24)
    assert opened(longer + siphash_by_bytes(longer, KEY)) == expected
    assert opened(data[:-8] + bytes(8)) == MALFORMED  # of nobody who knows the key
    for kinds in (FOR_SERVER, FOR_HAND):
        answer = opened(data, lengths=packet_lengths(NQ, NV, kinds))
        assert answer == (expected if kind in kinds else MALFORMED)


def test_types_that_do_not_exist_are_malformed():
    for kind in (0, 6, 7, 0x7FFF, 0x8000, 0xFFFF):
        body = struct.pack("<4sHHqqqq", b"PLPT", 5, kind, 0, 0, 0, 0)
        assert opened(body + siphash_by_bytes(body, KEY)) == MALFORMED


@pytest.mark.parametrize("kind", TYPES)
def test_a_packet_for_the_other_side_is_malformed(kind):
    """What a server sent, somebody could send back to it."""
    for kinds in (FOR_SERVER, FOR_HAND):
        answer = opened(sealed(kind), lengths=packet_lengths(NQ, NV, kinds))
        assert answer == (kind if kind in kinds else MALFORMED)


def test_a_state_of_another_scene_is_malformed():
    assert opened(sealed(STATE), lengths=packet_lengths(NQ + 1, NV)) == MALFORMED


def test_the_default_key_is_the_public_one():
    assert Wire().unpack(Wire().pack(HELLO, nonce=3)).fields["nonce"] == 3
    assert Wire().unpack(Wire(key_of("secret")).pack(HELLO)).kind == FORGED
