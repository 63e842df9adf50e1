"""What a packet is: one sealed envelope around every payload, in 8-byte little-endian words.

    [0] magic, version, type   32, 16, 16 bits        [4 ...] payload: its int64 fields, then its float64 fields
    [1] session                0 in a HELLO           [last]  MAC: SipHash-2-4 of all words before it
    [2] sequence               grows with every packet of its sender
    [3] time_ns                the sender's monotonic clock

A hand says HELLO, the simulation answers WELCOME with a session; then QUERY and STATE cross, each at its own rate, the
newest counts; BYE ends it.  Each echoes the other's newest sequence and time, so both sides know the age of all.
A HELLO is as long as its WELCOME: whoever sends one in another's name makes him get no more than was sent.

A state that does not fit into one datagram crosses in up to MOST_PARTS of them, none of which a network has to break up
again: each is a STATE of its own, sealed and numbered, with all fields but `rest`, of which it has its part.  `first`
is the sequence of part 0, so that parts find each other; a state of which one is lost is lost, as if all were.

Whoever reads a packet has an array `lengths`: how many words a packet of each type has, 0 if that type is not for him.
So a packet sent back to its sender is dropped like any other nonsense.  Cheap checks come first, the MAC last.  The
MAC proves who wrote a packet and that nothing changed; that it is not an old one is the session's and the sequence's
business (peers.py).  Nothing is secret: whoever listens can read.

A QUERY holds the hands as the HAND messages that a servo takes (palpate/frame.py), word for word: whatever a hand of
a page can do, it can do across a link.  What only the server knows (when a message came, whose energy limits it) is
written by the server.

In kernels, `words[QUERY_AT.wants]` is a field of a packet, and words seen as float64 give the others:
`floats[STATE_AT.hand_force + i]`.  Sizes vary only in STATE, whose `rest` comes last: q, v, and then the words that the
simulation's controllers publish, int64 and float64 as they are in a frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from palpate.frame import HAND, HANDS, Field, Layout
from palpate.jit import entry, kernel
from palpate.link.keys import PUBLIC_KEY, Key
from palpate.link.siphash import siphash
from palpate.model.model import Ints1

MAGIC, VERSION = int.from_bytes(b"PLPT", "little"), 5
HEAD, SESSION, SEQUENCE, TIME_NS, PAYLOAD = range(5)  # words of a packet
ENVELOPE_WORDS = PAYLOAD + 1  # with the MAC
LARGEST_WORDS = 184  # 1472 bytes: what Ethernet's 1500 leave for UDP over IPv4
NAME_WORDS = 8
HAND_WORDS = Layout(HAND).words

HELLO, WELCOME, QUERY, STATE, BYE = range(1, 6)  # types
MALFORMED, FORGED, OTHER_VERSION = -1, -2, -8  # why a packet is dropped; peers.py has more
MOST_PARTS = 8  # of a state

WATCH, HOLD = 0, 1  # what a QUERY wants
NOBODY_HOLDS, YOU_HOLD, ANOTHER_HOLDS = 0, 1, 2  # holder in a STATE

_WELCOME: tuple[Field, ...] = (
    Field("nonce", "i", (), "of the HELLO that this answers"),
    Field("nq", "i", (), "coordinates in a STATE"),
    Field("nv", "i", (), "velocities in a STATE"),
    Field("n_bodies", "i", (), "bodies, the world among them"),
    Field("fingerprint", "i", (), "of the model: both sides must have the same"),
    Field("name", "i", (NAME_WORDS,), "of the scene, UTF-8, filled up with zeros"),
    Field("rate_hz", "f", (), "of the simulation's ticks"),
    Field("force_limit_N", "f", (), "largest force that the hand may put on a body"),
)
_PADDING = Layout(_WELCOME).words - 1  # words beside the nonce

FIELDS: dict[int, tuple[Field, ...]] = {
    HELLO: (
        Field("nonce", "i", (), "any number: the WELCOME has the same"),
        Field("padding", "i", (_PADDING,), "zeros, up to the length of a WELCOME"),
    ),
    WELCOME: _WELCOME,
    QUERY: (
        Field("wants", "i", (), "WATCH or HOLD"),
        Field("buttons", "i", (), "one bit each"),
        Field("state_seen", "i", (), "sequence of the newest STATE"),
        Field("state_time_ns", "i", (), "its time_ns; before the first STATE, that of the WELCOME [ns]"),
        Field("event_number", "i", (), "of this event; the same until a STATE has seen it"),
        Field("event_kind", "i", (), "as palpate.frame has them, 0: none"),
        Field("hands", "i", (HANDS, HAND_WORDS), "a HAND of palpate.frame each; session 0: energy does not limit it, "
              "else energy_J is what this side has granted to the other so far"),
        Field("event_value", "f", (), "of SEEK [s] and SPEED"),
    ),
    STATE: (
        Field("query_seen", "i", (), "sequence of the newest QUERY of this hand"),
        Field("query_time_ns", "i", (), "its time_ns [ns]"),
        Field("waited_ns", "i", (), "from its arrival to this answer [ns]"),
        Field("age_ns", "i", (), "from the beginning of the tick whose state this is to this answer [ns]"),
        Field("tick", "i", (), "of the simulation, since its start"),
        Field("state", "i", (), "PAUSED, RUNNING or FAULT of palpate.frame"),
        Field("edit_mode", "i", (), "what a touch does to the plan, as in a frame"),
        Field("edit_stage", "i", (), "of the motion, as in a frame"),
        Field("holder", "i", (), "NOBODY_HOLDS, YOU_HOLD or ANOTHER_HOLDS"),
        Field("hand_body", "i", (HANDS,), "body that each hand holds or presses on, 0: none"),
        Field("event_seen", "i", (), "number of the newest event of this hand"),
        Field("dropped", "i", (3,), "packets of anyone so far that were malformed, forged, replayed"),
        Field("parked", "i", (), "bit k: the k-th body that can be placed waits to be added"),
        Field("first", "i", (), "sequence of the first part of this state"),
        Field("part", "i", (), "which part of it this is, from 0 on"),
        Field("sim_time_s", "f", (), "simulated time [s]"),
        Field("hand_force", "f", (HANDS, 3), "force on the body from each hand, world [N]"),
        Field("hand_point", "f", (HANDS, 3), "the point that it holds, or the ball that presses, world [m]"),
        Field("granted_J", "f", (), "energy that this side has granted to the other so far [J]"),
        Field("rest", "f", ("n_rest",), "its part of q, v and what controllers publish, the last filled up with zeros"),
    ),
    BYE: (Field("reason", "i", (), "0: done"),),
}  # fmt: skip
TYPES = tuple(FIELDS)
FOR_SERVER, FOR_HAND = (HELLO, QUERY, BYE), (WELCOME, STATE, BYE)


class HelloOffsets(NamedTuple):
    """Where the fields of a HELLO lie in its packet, in words; the others alike."""

    nonce: int
    padding: int


class WelcomeOffsets(NamedTuple):
    nonce: int
    nq: int
    nv: int
    n_bodies: int
    fingerprint: int
    name: int
    rate_hz: int
    force_limit_N: int


class QueryOffsets(NamedTuple):
    wants: int
    buttons: int
    state_seen: int
    state_time_ns: int
    event_number: int
    event_kind: int
    hands: int
    event_value: int


class StateOffsets(NamedTuple):
    query_seen: int
    query_time_ns: int
    waited_ns: int
    age_ns: int
    tick: int
    state: int
    edit_mode: int
    edit_stage: int
    holder: int
    hand_body: int
    event_seen: int
    dropped: int
    parked: int
    first: int
    part: int
    sim_time_s: int
    hand_force: int
    hand_point: int
    granted_J: int
    rest: int


class ByeOffsets(NamedTuple):
    reason: int


def _layout(kind: int, rest: int = 0) -> Layout:
    return Layout(FIELDS[kind], n_rest=rest)


def _offsets(kind: int) -> dict[str, int]:
    return {name: PAYLOAD + at for name, at in _layout(kind).offset.items()}


# The compiler takes these as constants.
HELLO_AT, WELCOME_AT = HelloOffsets(**_offsets(HELLO)), WelcomeOffsets(**_offsets(WELCOME))
QUERY_AT, BYE_AT = QueryOffsets(**_offsets(QUERY)), ByeOffsets(**_offsets(BYE))
STATE_AT = StateOffsets(**_offsets(STATE))
QUERY_WORDS = _layout(QUERY).words + ENVELOPE_WORDS  # of a whole packet
LARGEST_REST = LARGEST_WORDS - ENVELOPE_WORDS - _layout(STATE).words  # words of a state that one STATE holds,
LARGEST_SCENE = MOST_PARTS * LARGEST_REST  # and all of its parts
_LOW_16, _LOW_32 = (1 << 16) - 1, (1 << 32) - 1


@kernel
def seal(words: Ints1, lengths: Ints1, kind: int, session: int, sequence: int, time_ns: int, key: Ints1) -> int:
    """Put the envelope around a payload that lies in words[PAYLOAD:]; how many bytes to send."""
    last = lengths[kind] - 1
    words[HEAD] = MAGIC | VERSION << 32 | kind << 48
    words[SESSION], words[SEQUENCE], words[TIME_NS] = session, sequence, time_ns
    words[last] = siphash(words, 0, last, key)
    return 8 * lengths[kind]


@kernel
def open_packet(words: Ints1, n_bytes: int, lengths: Ints1, key: Ints1) -> int:
    """The type of the packet of n_bytes that was received into words, or MALFORMED, FORGED or OTHER_VERSION.

    n_bytes may be anything, also more than words hold (a datagram that was cut off).  A greeting of another version is
    told from noise by its MAC: so both sides can be told what is wrong.
    """
    if n_bytes < 8 * ENVELOPE_WORDS or n_bytes > 8 * words.shape[0]:
        return MALFORMED
    kind = words[HEAD] >> 48
    if words[HEAD] & _LOW_32 != MAGIC or kind < 1 or kind >= lengths.shape[0]:
        return MALFORMED
    if words[HEAD] >> 32 & _LOW_16 != VERSION:
        greets = kind in (HELLO, WELCOME) and lengths[kind] > 0 and n_bytes % 8 == 0
        end = n_bytes // 8 - 1
        return OTHER_VERSION if greets and siphash(words, 0, end, key) == words[end] else MALFORMED
    if n_bytes != 8 * lengths[kind]:
        return MALFORMED
    last = lengths[kind] - 1
    return kind if siphash(words, 0, last, key) == words[last] else FORGED


@entry("int64[::1], int64[::1], int64, int64, int64, int64, int64[::1]")
def seal_entry(words: Ints1, lengths: Ints1, kind: int, session: int, sequence: int, time_ns: int, key: Ints1) -> int:
    return seal(words, lengths, kind, session, sequence, time_ns, key)


@entry("int64[::1], int64, int64[::1], int64[::1]")
def open_entry(words: Ints1, n_bytes: int, lengths: Ints1, key: Ints1) -> int:
    return open_packet(words, n_bytes, lengths, key)


def state_parts(nq: int, nv: int, own: int = 0) -> tuple[int, int]:
    """(in how many parts a state crosses, how many of its words each has); a ValueError if there are too many.

    own  words that the simulation's controllers publish, beside coordinates and velocities
    """
    words = nq + nv + own
    if words > LARGEST_SCENE:
        told = f"{nq + nv} coordinates and velocities" + (f", and {own} numbers of its controllers" if own else "")
        raise ValueError(f"the scene has {told}; a link carries {LARGEST_SCENE}: serve a smaller scene")
    parts = max(1, -(-words // LARGEST_REST))
    return parts, -(-words // parts)


def packet_lengths(nq: int, nv: int, kinds: tuple[int, ...] = TYPES, own: int = 0) -> np.ndarray:
    """How many words a packet of each type has, (6,) int64 by type; 0 for those not among `kinds`."""
    _, rest = state_parts(nq, nv, own)
    lengths = np.zeros(1 + len(TYPES), dtype=np.int64)
    for kind in kinds:
        lengths[kind] = _layout(kind, rest).words + ENVELOPE_WORDS
    return lengths


def name_words(text: str) -> np.ndarray:
    """A scene's name as (NAME_WORDS,) int64; what is too long is cut, between characters."""
    data = text.encode()[: 8 * NAME_WORDS].decode(errors="ignore").encode()
    return np.frombuffer(data.ljust(8 * NAME_WORDS, b"\0"), dtype="<i8").astype(np.int64)


def name_text(words: np.ndarray) -> str:
    """The text of (NAME_WORDS,) int64, whatever they hold."""
    return words.astype("<i8").tobytes().rstrip(b"\0").decode(errors="replace")


class Packet(NamedTuple):
    """A packet, unpacked; if it was dropped, `kind` says why, and of OTHER_VERSION there is the field `version`."""

    kind: int
    session: int = 0
    sequence: int = 0
    time_ns: int = 0
    fields: Mapping[str, Any] = MappingProxyType({})


class Wire:
    """Packets from Python, for handshakes and tests.  nq, nv, own: of the scene; not needed before STATEs are read."""

    def __init__(
        self, key: Key = PUBLIC_KEY, nq: int = 0, nv: int = 0, kinds: tuple[int, ...] = TYPES, own: int = 0
    ) -> None:
        self.key, self.lengths = key, packet_lengths(nq, nv, kinds, own)
        self.parts, rest = state_parts(nq, nv, own)
        self.layouts = {kind: _layout(kind, rest) for kind in kinds}

    def pack(self, kind: int, /, *, session: int = 0, sequence: int = 0, time_ns: int = 0, **fields: Any) -> bytes:
        """A sealed packet; fields not given are zero, `name` is a text."""
        if "name" in fields:
            fields["name"] = name_words(fields["name"])
        words = np.zeros(self.lengths[kind], dtype=np.int64)
        words[PAYLOAD:-1] = self.layouts[kind].pack(**fields)
        seal_entry(words, self.lengths, kind, session, sequence, time_ns, self.key.words)
        return words.astype("<i8").tobytes()

    def unpack(self, data: bytes) -> Packet:
        """The packet in any bytes; it never raises."""
        words = np.zeros(min(len(data) // 8, LARGEST_WORDS), dtype=np.int64)
        words[:] = np.frombuffer(data, dtype="<i8", count=len(words))
        kind = int(open_entry(words, len(data), self.lengths, self.key.words))
        if kind < 0:
            told = {"version": int(words[HEAD]) >> 32 & _LOW_16} if kind == OTHER_VERSION else {}
            return Packet(kind, fields=told)
        fields = self.layouts[kind].unpack(words[PAYLOAD:-1])
        if "name" in fields:
            fields["name"] = name_text(fields["name"])
        session, sequence, time_ns = words[SESSION:PAYLOAD].tolist()
        return Packet(kind, session, sequence, time_ns, fields)
