"""A link that others can reach: what is not from who has the key, or not new, or not from where it was given, is
counted and changes nothing.  Real sockets on this machine; single packets are made by hand.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from waiting import WAIT_S, until

from palpate import cli, frame, jit
from palpate.link import LinkError
from palpate.link.keys import PUBLIC_KEY, Key
from palpate.link.peers import FORGET_NS, SEATS
from palpate.link.wire import (
    ANOTHER_HOLDS,
    BYE,
    HELLO,
    HOLD,
    NOBODY_HOLDS,
    QUERY,
    STATE,
    WATCH,
    WELCOME,
    YOU_HOLD,
    Wire,
)
from palpate.runtime.link.sessions import Remote, RemoteSession, Serving
from palpate.scenes.arm import arm_at_rest
from palpate.servo.loop import SPIN_NS

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
    pytest.mark.skipif(os.uname().sysname != "Linux", reason="the link is for Linux"),
]
HERE, ELSEWHERE = "127.0.0.1", "192.0.2.1"  # nobody has the second (RFC 5737)
ANOTHER_KEY = Key(bytes(range(16)))
HAND = frame.Layout(frame.HAND)
HAND_FIELDS = {field.name for field in frame.HAND}
DROPPED = ("malformed", "forged", "replayed", "unknown", "stale", "full", "hasty")


@pytest.fixture(scope="module")
def server():
    """The arm at rest; it neither spins nor asks to be first, others want the processor too."""
    server = Serving(arm_at_rest(), HERE, 0, fifo=False)
    server.start()
    server.simulation.beat.control[SPIN_NS] = 0
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def unharmed(server):
    """Whatever arrives, the servo goes on: no fault, and it still ticks, and the hand is open in the end."""
    yield
    tick = server.frame()["tick"]
    until(lambda: server.frame()["tick"] > tick + 5)
    until(lambda: server.frame()["hand_body"][0] == 0)
    assert server.frame()["state"] == frame.RUNNING
    assert np.isfinite(server.frame()["q"]).all()


class Peer:
    """A hand made of single packets."""

    def __init__(self, server, key=PUBLIC_KEY) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(WAIT_S)
        self.socket.connect((HERE, server.port))
        self.wire = Wire(key, server.scene.model.nq, server.scene.model.nv)
        self.session, self.sequence, self.heard_ns, self.events = 0, time.monotonic_ns(), 0, 0

    def pack(self, kind, /, **fields) -> bytes:
        """The next packet, which echoes the newest time heard."""
        self.sequence += 1
        if kind == QUERY:
            said = {name: fields.pop(name) for name in HAND_FIELDS & fields.keys()}
            second = fields.pop("second", {})
            fields = {"state_time_ns": self.heard_ns, "hands": [HAND.pack(**said), HAND.pack(**second)]} | fields
        return self.wire.pack(kind, session=self.session, sequence=self.sequence, **fields)

    def hear(self, kind):
        """The next packet of that kind."""
        while (packet := self.wire.unpack(self.socket.recv(2048))).kind != kind:
            pass
        self.heard_ns = packet.time_ns
        return packet

    def greet(self):
        self.socket.send(self.pack(HELLO, nonce=7))
        welcome = self.hear(WELCOME)
        self.session = welcome.session
        return welcome

    def event(self, kind, value=0.0, /, **fields):
        """A QUERY with the next event, and its answer."""
        self.events += 1
        return self.query(event_number=self.events, event_kind=kind, event_value=value, **fields)

    def query(self, **fields):
        """A QUERY, and the fields of the STATE that answers it; who was silent for long says HELLO first."""
        if time.monotonic_ns() - self.heard_ns > FORGET_NS // 2:
            self.greet()
        self.socket.send(self.pack(QUERY, **fields))
        while (answer := self.hear(STATE).fields)["query_seen"] < self.sequence:
            pass
        return answer


@pytest.fixture
def peer(server):
    """peer(): somebody who has said HELLO; all say BYE in the end."""
    peers = []

    def made() -> Peer:
        peers.append(Peer(server))
        peers[-1].greet()
        return peers[-1]

    yield made
    for each in peers:
        each.socket.send(each.pack(BYE))
        each.socket.close()


@pytest.fixture
def hand(peer):
    """One peer, also for many examples: rows of those who said BYE are kept for a while."""
    return peer()


def pulling(server, by_m=(0.0, 0.1, 0.0)) -> dict:
    """The fields of a QUERY that pulls the tool."""
    tool = server.scene.model.body("tool")
    target = server.frame()["pose"][tool][:3] + by_m
    return {"wants": HOLD, "body": tool, "target": target, "stiffness_N_m": 200.0}


def counts(server) -> dict[str, int]:
    """All that was refused so far, by reason."""
    return {name: n for name, n in server.relaying.counts().items() if name in DROPPED}


def more(server, before) -> dict[str, int]:
    """What has been refused since, by reason; only what has changed."""
    return {name: n - before[name] for name, n in counts(server).items() if n != before[name]}


# ---- keys


@pytest.mark.parametrize("arguments", [["serve", "arm", "--host", "0.0.0.0"], ["touch", "--remote", ELSEWHERE + ":1"]])
def test_an_address_that_others_reach_needs_a_key(arguments, monkeypatch, capsys):
    """One line, and exit 2."""
    monkeypatch.delenv("PALPATE_KEY", raising=False)
    assert cli.main(arguments) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "both sides need a key: set PALPATE_KEY" in said


@pytest.mark.parametrize("name", ["../arm.urdf", "/etc/arm.urdf", "a/b"])
def test_a_server_names_no_folders_of_this_machine(name):
    """What is read here, of a robot's file that is served by its name, is not the server's to choose."""
    with (
        Serving(replace(arm_at_rest(), name=name), HERE, 0, fifo=False) as evil,
        pytest.raises(LinkError, match=r"^127.0.0.1:\d+ serves '.*': a server names no folders of this machine$"),
    ):
        Remote(HERE, evil.port)


def test_who_has_another_key_is_not_answered(server):
    before = counts(server)
    with pytest.raises(LinkError, match=r"^nobody answers at .*with the same key and the same version of palpate\?$"):
        Remote(HERE, server.port, ANOTHER_KEY)
    refused = more(server, before)
    assert set(refused) == {"forged"}
    assert refused["forged"] >= 1


# ---- packets that are none, or not new, or another's


def test_what_is_cut_short_or_altered_is_dropped(server, hand):
    """Every length of a good packet but its own, and every one of its words changed by a bit."""
    hand.query()
    good, before = hand.pack(QUERY, **pulling(server)), counts(server)
    bad = [good[:n] for n in range(0, len(good), 3)] + [good + bytes(8)]
    bad += [
        bytes(b ^ (1 << i % 8 if k == i else 0) for k, b in enumerate(good)) for i in range(0, len(good), 8)
    ]  # one bit of each word
    for data in bad:
        hand.socket.send(data)
        if hand.sequence % 20 == 0:
            hand.query()  # so that the receive buffer does not overflow
        hand.sequence += 1
    answer = hand.query()
    refused = more(server, before)
    assert set(refused) == {"malformed", "forged"}
    assert sum(refused.values()) == len(bad)
    assert not answer["hand_body"].any()
    assert answer["dropped"].tolist() == [server.relaying.counts()[name] for name in DROPPED[:3]]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.lists(st.binary(max_size=1500), max_size=20))
def test_noise_is_counted_and_nothing_else(server, hand, data):
    before = counts(server)
    for each in data:
        hand.socket.send(each)
    hand.query()
    assert more(server, before) == ({"malformed": len(data)} if data else {})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    whole=st.fixed_dictionaries({
        "hold": st.integers(-2, 3), "body": st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 12),
        "hand": st.integers(-2, 3), "session": st.integers(-(2**63), 2**63 - 1), "sent_ns": st.integers(0, 2**62),
        "buttons": st.integers(0, 2**62), "state_seen": st.integers(0, 2**62),
    }),
    floats=st.fixed_dictionaries({
        "at_body": st.tuples(*[st.floats(width=64)] * 3), "target": st.tuples(*[st.floats(width=64)] * 3),
        "orientation": st.tuples(*[st.floats(width=64)] * 4), "stiffness_N_m": st.floats(),
        "stiffness_Nm_rad": st.floats(), "force": st.tuples(*[st.floats(width=64)] * 3), "energy_J": st.floats(),
        "damping": st.floats(), "velocity": st.tuples(*[st.floats(width=64)] * 3),
        "normal": st.tuples(*[st.floats(width=64)] * 3) | st.tuples(*[st.floats(-2.0, 2.0)] * 3),
    }),
)  # fmt: skip
def test_a_holder_whose_numbers_make_no_sense_harms_nothing(server, hand, whole, floats):
    """It has the key, and may be mad."""
    for _ in range(3):
        said = {name: x for name, x in (whole | floats).items() if name in HAND_FIELDS}
        answer = hand.query(wants=HOLD, second=said, **whole, **floats)
        assert answer["state"] == frame.RUNNING
        assert np.isfinite(answer["rest"]).all()
        assert np.linalg.norm(answer["hand_force"], axis=1).max() <= server.simulation.device.force_limit_N * (1 + 1e-9)
    hand.query(wants=WATCH)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.integers(-3, 12) | st.integers(-(2**62), 2**62), value=st.floats())
def test_an_event_that_makes_no_sense_harms_nothing(hand, kind, value):
    assert hand.event(kind, value)["event_seen"] == hand.events
    for again, at in ((frame.SPEED, 1.0), (frame.MODE, 0.0), (frame.PLAY, 0.0)):
        hand.event(again, at)
    until(lambda: hand.query(event_number=hand.events)["state"] == frame.RUNNING)


def test_what_was_recorded_counts_once(server, hand):
    """Again at once, after a BYE, and when the server has forgotten the hand: refused each time."""
    until(lambda: hand.query(**pulling(server))["holder"] == YOU_HOLD)
    recorded = hand.pack(QUERY, **pulling(server))
    hand.socket.send(recorded)
    before = counts(server)
    hand.socket.send(recorded)
    hand.query()
    assert more(server, before) == {"replayed": 1}
    hand.socket.send(hand.pack(BYE))
    until(lambda: server.frame()["hand_body"][0] == 0)
    hand.socket.send(recorded)
    until(lambda: more(server, before) == {"replayed": 2})
    time.sleep(1e-9 * FORGET_NS + 0.1)
    hand.socket.send(recorded)
    until(lambda: more(server, before) == {"replayed": 2, "stale": 1})
    assert server.frame()["hand_body"][0] == 0


def test_a_session_is_of_no_use_at_another_address(server, peer):
    """Even with the key: neither QUERY nor BYE."""
    hand, thief = peer(), peer()
    until(lambda: hand.query(**pulling(server))["holder"] == YOU_HOLD)
    before, stolen = counts(server), hand.session
    thief.socket.send(hand.pack(QUERY, wants=WATCH))
    thief.session = stolen
    thief.socket.send(thief.pack(QUERY, wants=WATCH))
    thief.socket.send(thief.pack(BYE))
    until(lambda: more(server, before) == {"unknown": 3})
    assert hand.query(**pulling(server))["holder"] == YOU_HOLD
    thief.greet()


def test_a_packet_sent_back_to_its_sender_is_dropped(server, hand):
    """A STATE or WELCOME is nothing that a server takes, though the key is right."""
    hand.query()
    before = counts(server)
    hand.socket.send(hand.pack(STATE, part=0))
    hand.socket.send(hand.pack(WELCOME))
    hand.query()
    assert more(server, before) == {"malformed": 2}


# ---- seats


@pytest.fixture
def nobody_known():
    """The server has forgotten all peers before and after."""
    time.sleep(1e-9 * FORGET_NS + 0.1)
    yield
    time.sleep(1e-9 * FORGET_NS + 0.1)


def test_a_hello_leaves_no_trace_and_seats_run_out_for_the_last(server, nobody_known, peer):
    """Saying HELLO takes nothing; sixteen can be heard at once; the seventeenth is refused, the others go on."""
    rows = server.relaying.peers.sequence.copy()
    guests = [peer() for _ in range(SEATS + 1)]
    assert (server.relaying.peers.sequence == rows).all()

    def one_too_many() -> bool:
        """All at once, before the first is forgotten; what a busy machine was too slow for is tried again."""
        for guest in guests:
            guest.socket.send(guest.pack(HELLO, nonce=7))
        for guest in guests:
            guest.hear(WELCOME)
        before, received = counts(server), server.relaying.counts()["received"]
        for guest in guests:
            guest.socket.send(guest.pack(QUERY))
        until(lambda: server.relaying.counts()["received"] >= received + len(guests))
        if more(server, before) == {"full": 1}:
            return True
        time.sleep(1e-9 * FORGET_NS + 0.1)
        return False

    until(one_too_many)
    assert guests[0].query()["holder"] == NOBODY_HOLDS


# ---- who may what


def test_a_bye_frees_the_hand_at_once(server, hand):
    """Not by silence: nobody was silenced."""

    def freed() -> bool:
        """Whether it was by the BYE; on a busy machine a hand may be silent for 100 ms before it: once more then."""
        until(lambda: hand.query(**pulling(server))["hand_body"][0] != 0)
        silenced = server.relaying.counts()["silenced"]
        hand.socket.send(hand.pack(QUERY, **pulling(server)))
        hand.socket.send(hand.pack(BYE))
        until(lambda: server.frame()["hand_body"][0] == 0)
        return server.relaying.counts()["silenced"] == silenced

    until(freed)


def test_only_the_holder_may_pause_what_it_holds(server, peer):
    holder, other = peer(), peer()

    def asked_in_vain() -> bool:
        """Whether the other asked for a pause while the hand was held; on a busy machine it may not be for a moment."""
        until(lambda: holder.query(**pulling(server))["hand_body"][0] != 0)
        answer = other.event(frame.PAUSE)
        assert answer["event_seen"] == other.events
        if answer["holder"] == ANOTHER_HOLDS:
            return True
        other.event(frame.PLAY)
        until(lambda: other.query(event_number=other.events)["state"] == frame.RUNNING)
        return False

    until(asked_in_vain)
    for _ in range(5):
        assert holder.query(**pulling(server))["state"] == frame.RUNNING
    holder.event(frame.PAUSE, **pulling(server))
    until(lambda: holder.query(event_number=1)["state"] == frame.PAUSED)
    holder.event(frame.PLAY)
    until(lambda: holder.query(event_number=2)["state"] == frame.RUNNING)


def test_energy_is_not_spent_twice_when_hands_change(server, peer):
    """haptics/tank.py: what a hand granted before another held counts no more, and nobody gets another's."""
    first, second = peer(), peer()
    tank = server.simulation.tank
    still = pulling(server, by_m=(0.0, 0.0, 0.0))

    def holds(hand, granted_J) -> dict:
        """For so long that the energy has gone to and fro: a tenth of what a tank has in every tick."""
        until(lambda: hand.query(session=1, energy_J=granted_J, **still)["holder"] == YOU_HOLD)
        begin = hand.query(session=1, energy_J=granted_J, **still)["tick"]
        until(lambda: hand.query(session=1, energy_J=granted_J, **still)["tick"] > begin + 100)
        return hand.query(session=1, energy_J=granted_J, **still)

    holds(first, 0.0)
    assert tank.received == 0.0
    told = holds(first, 5.0)["granted_J"]
    assert tank.received == pytest.approx(5.0)
    assert told > 0.5
    first.query(wants=WATCH)
    holds(second, 2.0)
    assert tank.received == 0.0
    assert holds(second, 3.0)["granted_J"] < 1.0 + 0.1
    assert tank.received == pytest.approx(1.0)
    second.query(wants=WATCH)
    again = holds(first, 5.0)["granted_J"]
    assert tank.received == 0.0
    assert told <= again < told + 0.1
    assert holds(first, 5.5)["granted_J"] < told + 0.5 + 0.1
    assert tank.received == pytest.approx(0.5)


# ---- floods


def flood(port: int, packet: bytes, ended: threading.Event) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.connect((HERE, port))
        opened.setblocking(False)
        while not ended.is_set():
            with contextlib.suppress(BlockingIOError):
                opened.send(packet)


@pytest.mark.parametrize("what", ["noise", "forged"])
def test_under_a_flood_the_servo_ticks_and_the_hand_is_heard(server, what):
    """As fast as one thread can, until enough was refused, answered and ticked: counted, however long that takes.

    That a flood does not take the hand away is a law of test_simulated_link.py: here a busy machine could do so, too.
    """
    noise = np.random.default_rng(9).bytes(200)
    packet = (
        noise
        if what == "noise"
        else (Wire(ANOTHER_KEY).pack(QUERY, wants=HOLD, hands=[HAND.pack(body=3), HAND.pack()]))
    )
    client = RemoteSession(Remote(HERE, server.port), arm_at_rest(), fifo=False, deadline_s=0.0)
    client.start()
    client.simulation.beat.control[SPIN_NS] = 0
    ended = threading.Event()
    flooding = threading.Thread(target=flood, args=(server.port, packet, ended), daemon=True)
    target = pulling(server)["target"]
    refused = "malformed" if what == "noise" else "forged"

    def held() -> bool:
        client.hold("tool", (0, 0, 0), target)
        return bool(server.frame()["hand_body"][0] != 0)

    try:
        until(held)
        before, tick = server.relaying.counts(), int(server.frame()["tick"])
        flooding.start()

        def enough() -> bool:
            more = {name: n - before[name] for name, n in server.relaying.counts().items()}
            return held() and more[refused] > 1000 and more["answered"] > 50 and server.frame()["tick"] > tick + 200

        until(enough, server.relaying.counts)
        assert flooding.is_alive()
    finally:
        ended.set()
        if flooding.ident is not None:
            flooding.join()
        client.stop()
