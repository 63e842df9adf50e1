"""Who talks to the server, and which of them holds the hand.

A session is a cookie: SipHash of the address a packet came from, under a secret that the server draws when it starts.
It is computed again for every packet, so a HELLO leaves no trace (a flood of them fills nothing, a replayed one gains
nothing), and a session is of use only to the address it was given to.  The first QUERY takes a row.  A HELLO that was
recorded cannot be told from a new one, for the server knows nothing yet of the hand's clock.  So its answer is not
longer, and goes out at most BURST times at once and then every GREET_NS to all addresses that share one of GREETINGS
places: a stranger's name, used for a flood, gets little, and those who greet from elsewhere are heard.

No packet counts twice:
    in a row, only a sequence above the last one counts (the newest wins; what was overtaken is dropped);
    a row is taken only by a QUERY that echoes a time of this server's clock at most FRESH_NS old, from a STATE or from
    the WELCOME, and those that follow must not echo an older one;
    a row keeps its last sequence for FORGET_NS >= FRESH_NS after its last packet, BYE or not.
So whatever was recorded is too old by the time its row is forgotten, or taken again.  A hand that starts again has
another port, hence another session and row; one that comes back by the same port begins above its last sequence (its
clock in ns is a good first number), or waits FORGET_NS.

One holds the hand at a time: the first that wants it, while it wants it and is heard of within HOLD_NS.  When it stops
wanting, says BYE or falls silent, the hand passes to whom among the others asked first; who was silent for longer than
HOLD_NS asks anew.

Rows are of SEATS peers.  All that is refused, and all that is taken away, is counted.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from palpate.jit import Struct, block_loader, kernel
from palpate.link.siphash import siphash
from palpate.link.sockets import SENDER_WORDS
from palpate.link.wire import HELLO, MALFORMED, QUERY_AT, QUERY_WORDS, SEQUENCE, SESSION, WATCH
from palpate.model.model import Floats1, Ints1

SEATS = 16
HOLD_NS = 100_000_000  # a silent hand lets go: as the page's pointer does
FORGET_NS = 1_000_000_000  # a silent peer's row may be taken
FRESH_NS = 1_000_000_000  # how old the echo may be that takes one; more than FORGET_NS would let recordings in

GREETINGS, GREET_NS, BURST = 256, 20_000_000, 64  # a hand greets every 100 ms, until it is answered

REPLAYED, UNKNOWN, STALE, FULL, HASTY = -3, -4, -5, -6, -7  # why a packet is dropped, beside MALFORMED and FORGED
COUNTERS = (
    "malformed",  # packets that are none
    "forged",  # packets sealed with another key, or damaged
    "replayed",  # packets that came before, or were overtaken
    "unknown",  # packets whose session is not that of the address they came from
    "stale",  # first packets that echo no recent time: the peer must say HELLO again
    "full",  # first packets that found no row
    "hasty",  # greetings that came faster than they are answered
    "other_version",  # greetings of another version of the packets
    "evicted",  # rows taken from peers that were silent for FORGET_NS
    "silenced",  # times the holder was silent for HOLD_NS, and lost the hand
    "passed",  # times the hand was given to somebody
)
EVICTED, SILENCED, PASSED = 8, 9, 10
NOBODY = -1  # in place of a row


class Peers(Struct):
    """A row for each of SEATS peers; written by accept_query, accept_bye and choose_holder."""

    holder: int  # its row, or NOBODY
    n_asked: int  # how often anybody asked for the hand
    session: Ints1  # (SEATS,) 0: nobody ever sat here
    sequence: Ints1  # (SEATS,) of the newest packet
    heard_ns: Ints1  # (SEATS,) when it came
    since_ns: Ints1  # (SEATS,) the time that it echoed when it took the row
    asked: Ints1  # (SEATS,) the how manieth it was to ask for the hand; 0: it does not want it
    gone: Ints1  # (SEATS,) 1: it said BYE
    sender: Ints1  # (SEATS * SENDER_WORDS,) where to answer
    query: Ints1  # (SEATS * QUERY_WORDS,) the newest QUERY, a whole packet, and
    query_f: Floats1  # the same words as floats
    greeted_ns: Ints1  # (GREETINGS,) until when the answers to HELLOs are used up, written by accept_hello
    counters: Ints1  # COUNTERS
    secret: Ints1  # (2,) makes the cookies


load = block_loader((Peers, False))  # for those who need nothing else


@kernel
def cookie(secret: Ints1, sender: Ints1) -> Any:
    """The session of an address, never 0."""
    tag = siphash(sender, 0, SENDER_WORDS, secret)
    return tag if tag != 0 else 1


@kernel
def dropped(peers: Peers, reason: int) -> int:
    """Count a packet that is dropped; the reason, MALFORMED .. OTHER_VERSION, again."""
    peers.counters[MALFORMED - reason] += 1
    return reason


@kernel
def row_of(peers: Peers, session: int) -> int:
    """The row of a session, or NOBODY."""
    for row in range(SEATS):
        if peers.session[row] == session:
            return row
    return NOBODY


@kernel
def free_row(peers: Peers, now: int) -> int:
    """A row that nobody had, else that of the longest silent peer beyond FORGET_NS, else NOBODY."""
    oldest = NOBODY
    for row in range(SEATS):
        if peers.session[row] == 0:
            return row
        if now - peers.heard_ns[row] > FORGET_NS and (oldest < 0 or peers.heard_ns[row] < peers.heard_ns[oldest]):
            oldest = row
    if oldest >= 0:
        peers.counters[EVICTED] += 1
    return oldest


@kernel
def leave_hand(peers: Peers, row: int) -> None:
    """The row neither holds the hand nor waits for it."""
    peers.asked[row] = 0
    if peers.holder == row:
        peers.holder = NOBODY


@kernel
def seat(peers: Peers, words: Ints1, sender: Ints1, now: int) -> int:
    """The row for a QUERY that counts, or the reason why it does not."""
    if words[SESSION] != cookie(peers.secret, sender):
        return UNKNOWN
    row = row_of(peers, words[SESSION])
    if row >= 0 and now - peers.heard_ns[row] <= FORGET_NS:
        newer = words[SEQUENCE] > peers.sequence[row] and words[QUERY_AT.state_time_ns] >= peers.since_ns[row]
        return row if newer else REPLAYED
    age = now - words[QUERY_AT.state_time_ns]
    if age < 0 or age > FRESH_NS:
        return STALE
    if row < 0:
        row = free_row(peers, now)
        if row < 0:
            return FULL
    peers.session[row], peers.since_ns[row] = words[SESSION], words[QUERY_AT.state_time_ns]
    return row


@kernel
def accept_hello(peers: Peers, sender: Ints1, now: int) -> int:
    """HELLO if it is to be answered, or HASTY, counted: a leaky bucket (GCRA) for each of GREETINGS places."""
    place = cookie(peers.secret, sender) & (GREETINGS - 1)
    if peers.greeted_ns[place] > now + (BURST - 1) * GREET_NS:
        return dropped(peers, HASTY)
    peers.greeted_ns[place] = max(peers.greeted_ns[place], now) + GREET_NS
    return HELLO


@kernel
def accept_query(peers: Peers, words: Ints1, sender: Ints1, now: int) -> int:
    """Take a QUERY that open_packet let in; its row, or REPLAYED, UNKNOWN, STALE or FULL, counted.

    words  the packet;  sender  where it came from;  now  the server's monotonic clock [ns], the clock of its STATEs
    """
    row = seat(peers, words, sender, now)
    if row < 0:
        return dropped(peers, row)
    if now - peers.heard_ns[row] > HOLD_NS:  # also of a row that was just taken from somebody
        if peers.holder == row:
            peers.counters[SILENCED] += 1
        leave_hand(peers, row)
    peers.sequence[row], peers.heard_ns[row], peers.gone[row] = words[SEQUENCE], now, 0
    for i in range(SENDER_WORDS):
        peers.sender[row * SENDER_WORDS + i] = sender[i]
    for i in range(QUERY_WORDS):
        peers.query[row * QUERY_WORDS + i] = words[i]
    if words[QUERY_AT.wants] == WATCH:
        leave_hand(peers, row)
    elif peers.asked[row] == 0:
        peers.n_asked += 1
        peers.asked[row] = peers.n_asked
    return row


@kernel
def accept_bye(peers: Peers, words: Ints1, sender: Ints1, now: int) -> int:
    """Take a BYE that open_packet let in; its row, or REPLAYED or UNKNOWN, counted.  The row remembers its sequence."""
    if words[SESSION] != cookie(peers.secret, sender):
        return dropped(peers, UNKNOWN)
    row = row_of(peers, words[SESSION])
    if row < 0:
        return dropped(peers, UNKNOWN)
    if words[SEQUENCE] <= peers.sequence[row]:
        return dropped(peers, REPLAYED)
    leave_hand(peers, row)
    peers.sequence[row], peers.heard_ns[row], peers.gone[row] = words[SEQUENCE], now, 1
    return row


@kernel
def choose_holder(peers: Peers, now: int) -> Any:
    """Who holds the hand, a row or NOBODY: to be asked on every tick, after the packets were taken."""
    holder = peers.holder
    if holder >= 0 and now - peers.heard_ns[holder] > HOLD_NS:
        peers.counters[SILENCED] += 1
        leave_hand(peers, holder)
    if peers.holder == NOBODY:
        first = NOBODY
        for row in range(SEATS):
            asks = peers.asked[row] > 0 and now - peers.heard_ns[row] <= HOLD_NS
            if asks and (first < 0 or peers.asked[row] < peers.asked[first]):
                first = row
        peers.holder = first
        if first >= 0:
            peers.counters[PASSED] += 1
    return peers.holder


@kernel
def is_present(peers: Peers, row: int, now: int) -> Any:
    """Whether a row's peer is to be answered: it was heard of within FORGET_NS, and did not say BYE."""
    return peers.session[row] != 0 and peers.gone[row] == 0 and now - peers.heard_ns[row] <= FORGET_NS


@kernel
def copy_sender(peers: Peers, row: int, sender: Ints1) -> None:
    """Where to answer a row, into sender (SENDER_WORDS,) as send_to wants it."""
    for i in range(SENDER_WORDS):
        sender[i] = peers.sender[row * SENDER_WORDS + i]


def new_peers(secret: bytes | None = None) -> Peers:
    """Nobody yet; the secret, 16 bytes, is drawn by chance unless a test gives one."""
    drawn = np.frombuffer(secrets.token_bytes(16) if secret is None else secret, dtype="<i8").astype(np.int64)
    rows = {
        "session": SEATS, "sequence": SEATS, "heard_ns": SEATS, "since_ns": SEATS, "asked": SEATS, "gone": SEATS,
        "sender": SEATS * SENDER_WORDS, "query": SEATS * QUERY_WORDS, "greeted_ns": GREETINGS,
        "counters": len(COUNTERS),
    }  # fmt: skip
    zeros = {name: np.zeros(length, dtype=np.int64) for name, length in rows.items()}
    return Peers(**zeros, query_f=zeros["query"].view(np.float64), holder=NOBODY, secret=drawn)
