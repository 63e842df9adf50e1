"""Who talks to the server: sessions that cost nothing, no packet twice, one hand at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_siphash import siphash_by_bytes

from palpate import frame
from palpate.jit import Block, entry
from palpate.link import peers as table
from palpate.link.peers import (
    COUNTERS,
    FORGET_NS,
    FRESH_NS,
    FULL,
    HASTY,
    HOLD_NS,
    NOBODY,
    REPLAYED,
    SEATS,
    STALE,
    UNKNOWN,
    accept_bye,
    accept_query,
    choose_holder,
    cookie,
    copy_sender,
    dropped,
    is_present,
    load,
    new_peers,
)  # fmt: skip
from palpate.link.sockets import ADDRESS_BYTES, SENDER_WORDS
from palpate.link.wire import BYE, FORGED, HOLD, MALFORMED, QUERY, QUERY_AT, QUERY_WORDS, WATCH, Wire

pytestmark = pytest.mark.nojit
SECRET, WIRE, START = bytes(range(100, 116)), Wire(), 7_000_000_000_000
MS = 1_000_000
HAND = frame.Layout(frame.HAND)


@entry("intp, int64[::1]")
def cookie_entry(address, sender):
    (peers,) = load(address)
    return cookie(peers.secret, sender)


@entry("intp, int64[::1], int64[::1], int64")
def query_entry(address, words, sender, now):
    (peers,) = load(address)
    return accept_query(peers, words, sender, now)


@entry("intp, int64[::1], int64[::1], int64")
def bye_entry(address, words, sender, now):
    (peers,) = load(address)
    return accept_bye(peers, words, sender, now)


@entry("intp, int64")
def holder_entry(address, now):
    (peers,) = load(address)
    return choose_holder(peers, now)


@entry("intp, int64, int64")
def present_entry(address, row, now):
    (peers,) = load(address)
    return is_present(peers, row, now)


@entry("intp, int64")
def dropped_entry(address, reason):
    (peers,) = load(address)
    return dropped(peers, reason)


@entry("intp, int64, int64[::1]")
def sender_entry(address, row, sender):
    (peers,) = load(address)
    copy_sender(peers, row, sender)


class Server:
    """A table of peers and a clock that goes when told."""

    def __init__(self):
        self.peers, self.now = new_peers(SECRET), START
        self.block = Block(self.peers)

    def counted(self, name):
        return int(self.peers.counters[COUNTERS.index(name)])

    def holder(self):
        return holder_entry(self.block.address, self.now)


class Hand:
    """A client at an address, with its session; `saw` is the newest server time it echoes."""

    def __init__(self, server, port):
        self.server, self.saw, self.sequence = server, server.now, 0
        self.sender = np.zeros(SENDER_WORDS, dtype=np.int64)
        self.sender[0], self.sender[ADDRESS_BYTES] = 2 | port << 16, 16
        self.session = cookie_entry(server.block.address, self.sender)

    def packet(self, wants=WATCH, sequence=None, **fields):
        if sequence is None:
            self.sequence += 1
            sequence = self.sequence
        data = WIRE.pack(QUERY, session=self.session, sequence=sequence, wants=wants,
                         state_time_ns=self.saw, **fields)  # fmt: skip
        return np.frombuffer(data, dtype="<i8").astype(np.int64)

    def deliver(self, words):
        return query_entry(self.server.block.address, words, self.sender, self.server.now)

    def query(self, wants=WATCH, sequence=None, **fields):
        self.saw = self.server.now
        return self.deliver(self.packet(wants, sequence, **fields))

    def bye(self, sequence=None):
        if sequence is None:
            self.sequence += 1
            sequence = self.sequence
        words = np.frombuffer(WIRE.pack(BYE, session=self.session, sequence=sequence), dtype="<i8").astype(np.int64)
        return bye_entry(self.server.block.address, words, self.sender, self.server.now)


@pytest.fixture
def server():
    return Server()


# ---- sessions


def test_a_session_is_the_hash_of_the_address_under_the_secret(server):
    hand = Hand(server, 4000)
    expected = siphash_by_bytes(hand.sender.astype("<i8").tobytes(), SECRET)
    assert hand.session == int.from_bytes(expected, "little", signed=True)


def test_every_server_draws_a_secret_of_its_own():
    assert new_peers().secret.tolist() != new_peers().secret.tolist()


def test_a_flood_of_hellos_leaves_no_trace(server):
    before = {name: x.copy() for name, x in server.peers.arrays().items()}
    sessions = {Hand(server, port).session for port in range(1000, 3000)}
    assert len(sessions) == 2000
    assert all(np.array_equal(x, before[name]) for name, x in server.peers.arrays().items())


def test_a_session_is_of_use_only_to_its_address(server):
    hand, thief = Hand(server, 4000), Hand(server, 4001)
    thief.session = hand.session
    assert thief.query() == UNKNOWN
    assert server.counted("unknown") == 1
    assert hand.query() == 0


@settings(deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_a_guessed_session_is_unknown(session):
    server = Server()
    hand = Hand(server, 4000)
    if session != hand.session:
        hand.session = session
        assert hand.query() == UNKNOWN
        assert hand.bye() == UNKNOWN
        assert server.counted("unknown") == 2


def test_the_newest_query_and_where_to_answer_are_kept(server):
    Hand(server, 3999).query()
    hand = Hand(server, 4000)
    hands = [HAND.pack(body=3, target=[1.0, 2.0, 3.0]), HAND.pack(hand=1, body=4)]
    row = hand.query(wants=HOLD, hands=hands)
    at = row * QUERY_WORDS
    assert row == 1
    kept = server.peers.query[at + QUERY_AT.hands :][: 2 * HAND.words].reshape(2, HAND.words)
    assert np.array_equal(kept, hands)
    sender = np.zeros(SENDER_WORDS, dtype=np.int64)
    sender_entry(server.block.address, row, sender)
    assert sender.tolist() == hand.sender.tolist()


# ---- no packet twice


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=60))
def test_only_what_is_newer_than_everything_before_counts(sequences):
    server = Server()
    hand, newest, refused = Hand(server, 4000), 0, 0
    for sequence in sequences:
        accepted = hand.query(sequence=sequence)
        assert accepted == (0 if sequence > newest else REPLAYED)
        refused += sequence <= newest
        newest = max(newest, sequence)
    assert server.counted("replayed") == refused
    assert server.peers.sequence[0] == newest


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["send", "bye", "start again", "crowd", "replay"]), st.integers(0, 700)),
                max_size=40),
       st.randoms(use_true_random=False))  # fmt: skip
def test_no_recording_ever_counts_again_however_long_one_waits(script, random):
    """Overtaken, gone, forgotten, evicted or begun again: a packet that counted once is refused for ever."""
    server = Server()
    hand, recorded = Hand(server, 4000), []
    for what, wait_ms in script:
        server.now += wait_ms * MS
        if what == "send":
            hand.saw = server.now  # it hears the server all the time: the best that a recording can have
            words = hand.packet(wants=HOLD)
            if hand.deliver(words) >= 0:
                recorded.append(words)
        elif what == "bye":
            hand.bye()
        elif what == "start again":
            hand.sequence = 0  # by the same port
        elif what == "crowd":
            for port in range(5000, 5000 + SEATS):
                Hand(server, port).query()
        for words in random.sample(recorded, min(len(recorded), 3)) + recorded[-1:]:
            assert hand.deliver(words) in (REPLAYED, STALE, FULL)


def test_a_row_is_taken_only_with_a_recent_time_of_the_server(server):
    hand = Hand(server, 4000)
    for age, answer in ((FRESH_NS + 1, STALE), (-1, STALE), (FRESH_NS, 0)):
        hand.saw = server.now - age
        assert hand.deliver(hand.packet()) == answer
    assert server.counted("stale") == 2
    assert FRESH_NS <= FORGET_NS  # or a recording would be young enough when its row is forgotten


def test_a_hand_that_hears_nothing_is_heard_all_the_same(server):
    """Loss on the way back only: the echo grows old, the row stays."""
    hand = Hand(server, 4000)
    for _ in range(20):
        assert hand.deliver(hand.packet()) == 0  # the WELCOME's time, again and again
        server.now += FORGET_NS // 2


def test_what_was_sent_before_a_new_start_by_the_same_port_does_not_count_after_it(server):
    hand = Hand(server, 4000)
    old = [hand.packet(wants=HOLD) for _ in range(10)]
    assert hand.deliver(old[0]) == 0
    server.now += FORGET_NS + 1
    assert hand.query(sequence=1) == 0
    assert [hand.deliver(words) for words in old] == [REPLAYED] * 10  # though their numbers are above 1
    assert hand.query(sequence=2) == 0


def test_a_hand_that_starts_again_has_another_port_and_is_heard_at_once(server):
    old = Hand(server, 4000)
    for _ in range(1000):
        old.query(wants=HOLD)
    assert server.holder() == 0
    new = Hand(server, 4001)
    assert new.query(wants=HOLD) == 1
    server.now += HOLD_NS + 1
    new.query(wants=HOLD)
    assert server.holder() == 1


def test_a_hand_that_comes_back_by_the_same_port_is_heard_after_the_silence(server):
    old = Hand(server, 4000)
    for _ in range(10):
        old.query()
    new = Hand(server, 4000)
    assert new.query(sequence=1) == REPLAYED
    server.now += FORGET_NS + 1
    assert new.query(sequence=1) == 0
    assert server.peers.sequence[0] == 1


def test_after_a_bye_nothing_of_before_counts(server):
    hand = Hand(server, 4000)
    hand.saw = server.now
    recorded = hand.packet(wants=HOLD)
    assert hand.deliver(recorded) == 0
    assert hand.bye() == 0
    for wait in (0, FORGET_NS, 2):  # still remembered, and then too old
        server.now += wait
        assert hand.deliver(recorded) in (REPLAYED, STALE)
    assert server.holder() == NOBODY


def test_a_bye_of_before_does_not_count(server):
    hand = Hand(server, 4000)
    hand.query(wants=HOLD, sequence=5)
    assert server.holder() == 0
    assert hand.bye(sequence=5) == REPLAYED
    assert server.holder() == 0


# ---- seats


def test_the_table_is_full_until_somebody_was_silent_for_a_second(server):
    hands = [Hand(server, 4000 + i) for i in range(SEATS + 1)]
    for i, hand in enumerate(hands[:SEATS]):
        server.now += 1
        assert hand.query() == i
    assert hands[-1].query() == FULL
    assert server.counted("full") == 1
    server.now = int(server.peers.heard_ns[3]) + FORGET_NS + 1
    for hand in (hands[0], hands[1]):
        hand.query()  # rows 2 and 3 were silent for longer than a second; 2 for longest
    assert hands[-1].query() == 2
    assert server.counted("evicted") == 1
    assert hands[2].query() == 3


def test_a_seat_is_answered_until_its_peer_says_bye_or_was_silent_for_a_second(server):
    hand, other = Hand(server, 4000), Hand(server, 4001)
    assert not present_entry(server.block.address, 0, server.now)
    hand.query()
    other.query()
    assert present_entry(server.block.address, 0, server.now + FORGET_NS)
    assert not present_entry(server.block.address, 0, server.now + FORGET_NS + 1)
    hand.bye()
    assert not present_entry(server.block.address, 0, server.now)
    assert present_entry(server.block.address, 1, server.now)
    hand.query()  # it came back
    assert present_entry(server.block.address, 0, server.now)


def test_every_reason_has_its_counter(server):
    names = {MALFORMED: "malformed", FORGED: "forged", REPLAYED: "replayed", UNKNOWN: "unknown", STALE: "stale",
             FULL: "full", HASTY: "hasty"}  # fmt: skip
    for reason, name in names.items():
        assert dropped_entry(server.block.address, reason) == reason
        assert server.counted(name) == 1
    assert server.peers.counters.sum() == len(names)
    assert [COUNTERS[i] for i in (table.EVICTED, table.SILENCED, table.PASSED)] == ["evicted", "silenced", "passed"]


# ---- the hand


def test_the_hand_is_free_until_somebody_wants_it(server):
    hand = Hand(server, 4000)
    hand.query(wants=WATCH)
    assert server.holder() == NOBODY
    hand.query(wants=HOLD)
    assert server.holder() == 0
    assert server.counted("passed") == 1


@pytest.mark.parametrize("ending", ["stops wanting", "says bye", "falls silent", "falls silent and comes back"])
def test_the_hand_passes_to_whom_asked_first(server, ending):
    hands = [Hand(server, 4000 + i) for i in range(4)]
    for row in range(4):
        hands[row].query(wants=WATCH)
    for row in (2, 3, 1):  # all within one tick of the clock
        hands[row].query(wants=HOLD)
    assert server.holder() == 2
    if ending == "stops wanting":
        hands[2].query(wants=WATCH)
    elif ending == "says bye":
        hands[2].bye()
    else:
        server.now += HOLD_NS
        hands[1].query(wants=HOLD)
        hands[3].query(wants=HOLD)
        assert server.holder() == 2  # a hundred milliseconds are allowed
        server.now += 1
        if ending == "falls silent and comes back":
            hands[2].query(wants=HOLD)  # nobody looked meanwhile, and it asks anew all the same
        assert server.holder() == 3
        assert server.counted("silenced") == 1
        hands[2].query(wants=HOLD)
    assert server.holder() == 3
    hands[3].query(wants=WATCH)
    assert server.holder() == 1
    assert server.counted("passed") == 3


def test_who_waits_in_silence_loses_the_place(server):
    hands = [Hand(server, 4000 + i) for i in range(3)]
    for hand in hands:
        hand.query(wants=HOLD)
        server.holder()
    server.now += HOLD_NS + 1  # all were silent; the last two come back in the other order
    for row in (2, 1):
        hands[row].query(wants=HOLD)
    assert server.holder() == 2


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([WATCH, HOLD, "bye", "silence"]), st.integers(0, 60)),
                max_size=60))  # fmt: skip
def test_one_holds_it_wants_it_and_was_heard_of_and_nobody_is_pushed_aside(script):
    server = Server()
    hands, wanting, heard, holder = [Hand(server, 4000 + i) for i in range(4)], set(), {}, NOBODY
    row_of = {}
    for who, what, wait_ms in script:
        server.now += wait_ms * MS
        lost = holder != NOBODY and server.now - heard[holder] > HOLD_NS
        if what == "bye":
            hands[who].bye()
            wanting.discard(who)
        elif what != "silence":
            row_of[who] = hands[who].query(wants=what)
            (wanting.add if what == HOLD else wanting.discard)(who)
            heard[who] = server.now
        rows = {row: hand for hand, row in row_of.items()}
        now_holds = rows.get(server.holder(), NOBODY)
        may = {i for i in wanting if server.now - heard[i] <= HOLD_NS}
        assert (now_holds in may) if now_holds != NOBODY else not may
        if holder in may and not lost:
            assert now_holds == holder
        holder = now_holds
