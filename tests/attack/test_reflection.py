"""A server sends nobody more than came in his name, as long as he has not shown that he is there.

Packets are handed to the server's kernels one by one, from any address, in simulated time.
"""

import numpy as np
import pytest

from palpate import frame, jit
from palpate.jit import entry
from palpate.link.keys import Key
from palpate.link.peers import BURST, FORGET_NS, GREET_NS, SEATS
from palpate.link.siphash import siphash_entry
from palpate.link.sockets import ADDRESS_BYTES, SENDER_WORDS
from palpate.link.wire import BYE, HELLO, LARGEST_WORDS, QUERY, STATE, TYPES, WELCOME, Wire, packet_lengths
from palpate.runtime.link.relay import Relaying
from palpate.runtime.link.relay_kernels import load, pass_on, take_packet, write_part, write_state, write_welcome
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.any_arm import scene_of

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the relay needs the compiler")
KEY, ANOTHER_KEY = Key(bytes(range(16))), Key(bytes(16))
MS, START = 1_000_000, 9_000_000_000_000


@entry("intp, int64, int64, int64[::1]")
def arrive(address, n_bytes, now, sent):
    """One packet into the server, and its answers to whom they go: words and bytes."""
    r, peers, o = load(address)
    sent[0] = 0
    if take_packet(r, peers, n_bytes, now) == HELLO:
        sent[0] = write_welcome(r, peers, now)
        for i in range(sent[0] // 8):
            sent[1 + i] = r.answer[i]
    holder, _ = pass_on(r, peers, now)
    for row in range(SEATS):
        if r.due[row]:
            write_state(r, peers, o, row, holder, now)
            sent[0] += write_part(r, peers, row, 0, now)
            for i in range(r.lengths_out[STATE]):
                sent[1 + i] = r.answer[i]
    return sent[0]


class Server:
    """The arm, which is large enough that a STATE is the longest packet."""

    def __init__(self):
        self.scene = scene_of("arm-line")()
        self.simulation = WorldSimulation(self.scene)
        self.simulation.restart()
        self.simulation.simulate(2, np.zeros((0, self.simulation.hand_layout.words), dtype=np.int64))
        self.relaying = Relaying(self.scene, self.simulation, KEY, None)
        self.relaying.peers.secret[:] = (3, 4)  # drawn by chance otherwise
        self.wire, self.another_wire = (
            Wire(key, self.scene.model.nq, self.scene.model.nv) for key in (KEY, ANOTHER_KEY)
        )
        self.now, self.sent = START, np.zeros(2 * LARGEST_WORDS, dtype=np.int64)

    def take(self, data: bytes, port: int) -> bytes:
        """What the server answers to a packet from a port."""
        r = self.relaying.arrays
        whole = np.frombuffer(data[: len(data) // 8 * 8], dtype="<i8")[:LARGEST_WORDS]
        r.words[: len(whole)] = whole
        r.sender[:] = 0
        r.sender[0], r.sender[ADDRESS_BYTES] = 2 | port << 16, 16
        assert len(r.sender) == SENDER_WORDS
        n = arrive(self.relaying.address, len(data), self.now, self.sent)
        return self.sent[1:].astype("<i8").tobytes()[:n]


@pytest.fixture(scope="module")
def built():
    server = Server()
    yield server
    server.simulation.close()


@pytest.fixture
def server(built):
    """Nobody has been heard of for long."""
    built.now += 100 * FORGET_NS
    return built


def honest(server, port, queries=20):
    """A hand from its greeting to its BYE: (packets, answers)."""
    sent, heard = [], []

    def say(kind, **fields):
        sent.append(server.wire.pack(kind, sequence=server.now + len(sent), time_ns=server.now, **fields))
        heard.append(server.take(sent[-1], port))
        server.now += MS

    say(HELLO, nonce=5)
    welcome = server.wire.unpack(heard[0])
    assert welcome.kind == WELCOME
    for _ in range(queries):
        say(QUERY, session=welcome.session, state_time_ns=server.now - MS)
        assert server.wire.unpack(heard[-1]).kind == STATE
    say(BYE, session=welcome.session)
    return sent, heard


def strange(server, rng, recorded):
    """A packet of one who has shown nothing: noise, sealed nonsense, what was recorded, and all of that damaged."""
    kind, fields = int(rng.choice(TYPES)), {}
    if kind == HELLO:
        fields["nonce"] = int(rng.integers(2**62))
    if kind == QUERY:
        fields = {"wants": int(rng.integers(3)), "state_time_ns": server.now - int(rng.integers(2 * FORGET_NS)),
                  "hands": rng.integers(2**60, size=(frame.HANDS, frame.Layout(frame.HAND).words))}  # fmt: skip
    wire = server.another_wire if rng.integers(4) == 0 else server.wire
    sealed = wire.pack(
        kind,
        session=int(rng.integers(-(2**62), 2**62)),
        sequence=int(rng.integers(2**62)),
        time_ns=server.now,
        **fields,
    )
    data = [sealed, rng.bytes(int(rng.integers(8 * LARGEST_WORDS + 40))), recorded[rng.integers(len(recorded))]][
        int(rng.choice(3, p=(0.5, 0.1, 0.4)))
    ]
    how = int(rng.integers(6))
    if how == 0 and data:
        data = data[: int(rng.integers(len(data)))]
    if how == 1:
        data += rng.bytes(int(rng.integers(1, 64)))
    if how == 2 and data:
        at = int(rng.integers(len(data)))
        data = data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]
    return data


@pytest.mark.parametrize("n", [2000, pytest.param(8000, marks=pytest.mark.slow)])
def test_no_stranger_is_sent_more_than_came_in_his_name(server, n):
    rng, answers = np.random.default_rng(11), 0
    sent, _ = honest(server, 4000)
    for _ in range(n):
        data = strange(server, rng, sent)
        answer = server.take(data, int(rng.integers(5000, 9000)))
        server.now += int(rng.integers(3 * MS))
        answers += len(answer) > 0
        assert len(answer) <= len(data)
    assert answers > n // 100  # greetings among them were answered


def test_a_hand_that_was_recorded_and_said_again_in_its_name_draws_no_more_than_it_was(server):
    """At once, and when it has been forgotten: from the address whose the packets were."""
    sent, heard = honest(server, 4001)
    assert sum(map(len, heard)) > sum(map(len, sent)) / 4  # it was answered, being there
    for wait_ns in (0, FORGET_NS // 2, 3 * FORGET_NS, 50 * FORGET_NS):
        server.now += wait_ns
        for data in sent + sent[::-1]:
            assert len(server.take(data, 4001)) <= len(data)


def test_a_recorded_greeting_said_for_ever_is_answered_at_a_steady_rate_and_counted(server):
    sent, _ = honest(server, 4002, queries=1)
    before, begun, n = server.relaying.counts()["hasty"], server.now, 0
    for _ in range(10_000):
        n += len(server.take(sent[0], 4002)) > 0
        server.now += MS
    assert n <= BURST + (server.now - begun) // GREET_NS + 1
    assert server.relaying.counts()["hasty"] == before + 10_000 - n


def test_whoever_greets_is_heard_while_another_name_is_used_for_a_flood(server):
    flood, greeting = server.wire.pack(HELLO, nonce=1), server.wire.pack(HELLO, nonce=2)
    heard = []
    for k in range(5000):
        server.take(flood, 4003)
        if k % 100 == 0:
            heard.append(len(server.take(greeting, 4004)) > 0)
        server.now += MS
    assert all(heard)


def test_a_greeting_is_as_long_as_its_answer_and_shorter_ones_are_malformed(server):
    for nq, nv in ((0, 0), (6, 6), (40, 40)):
        lengths = packet_lengths(nq, nv)
        assert lengths[HELLO] >= lengths[WELCOME]
    greeting, before = server.wire.pack(HELLO), server.relaying.counts()["malformed"]
    assert not any(server.take(greeting[:n], 4005) for n in range(len(greeting)))
    assert server.relaying.counts()["malformed"] == before + len(greeting)
    assert len(server.take(greeting, 4005)) == len(greeting)


def test_a_greeting_of_another_version_gets_no_more_bytes_than_it_has_and_no_faster(server):
    """It is answered, so that its sender can be told; a stranger whose name it bears is none the worse for it."""
    greeting = np.frombuffer(server.wire.pack(HELLO, nonce=5), dtype="<i8").astype(np.int64)
    before = server.relaying.counts()

    def of_version(version: int, words: int) -> bytes:
        body = np.resize(greeting, words - 1)
        body[0] = int(body[0]) & ~(0xFFFF << 32) | version << 32
        return np.append(body, siphash_entry(body, KEY.words)).astype("<i8").tobytes()

    answered = 0
    for version in (1, 4, 6, 999):
        for words in range(6, 60):
            packet = of_version(version, words)
            answer = server.take(packet, 4006)
            assert len(answer) <= len(packet)
            answered += len(answer) > 0
    assert answered == 64  # a burst, and then no more at once
    told = server.relaying.counts()
    assert told["other_version"] - before["other_version"] == 4 * 54
    assert told["malformed"] == before["malformed"]
