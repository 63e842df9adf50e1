"""UDP from compiled code: what one end sends the other gets, nothing blocks, mistakes are one line."""

import errno
import os
import signal
import socket
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate import jit
from palpate.jit import entry
from palpate.link import LinkError, sockets
from palpate.link.sockets import (
    ADDRESS_BYTES,
    SENDER_WORDS,
    bind,
    connect,
    handle_of,
    new_sender,
    receive,
    send,
    send_to,
    wait_readable,
)  # fmt: skip
from palpate.link.wire import LARGEST_WORDS

pytestmark = [
    pytest.mark.nojit,
    pytest.mark.skipif(os.uname().sysname != "Linux", reason="the link is for Linux"),
]
SECOND = 1_000_000_000


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


LOOPBACKS = ["127.0.0.1", pytest.param("::1", marks=pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here"))]


@entry("intp, int64[::1], int64[::1]")
def receive_entry(handle, words, sender):
    return receive(handle, words, sender)


@entry("intp, int64[::1], int64, int64[::1]")
def send_to_entry(handle, words, n_bytes, sender):
    return send_to(handle, words, n_bytes, sender)


@entry("intp, int64[::1], int64")
def send_entry(handle, words, n_bytes):
    return send(handle, words, n_bytes)


@entry("intp, int64")
def wait_entry(handle, timeout_ns):
    return wait_readable(handle, timeout_ns)


@entry("intp, int64[::1], int64[::1], int64")
def echo_entry(handle, words, sender, rounds):
    """Send back what comes, that many times; how many packets came."""
    came = 0
    for _ in range(rounds):
        if wait_readable(handle, SECOND):
            n_bytes = receive(handle, words, sender)
            if n_bytes >= 0:
                came += 1
                send_to(handle, words, n_bytes, sender)
    return came


class End:
    """A socket with what kernels need beside it."""

    def __init__(self, opened, words=LARGEST_WORDS):
        self.socket, self.block = opened, handle_of(opened)
        self.handle = self.block.address
        self.words, self.sender = np.zeros(words, dtype=np.int64), new_sender()

    def receive(self):
        return receive_entry(self.handle, self.words, self.sender)


@pytest.fixture(params=LOOPBACKS)
def ends(request):
    with bind(request.param, 0) as server, connect(request.param, server.getsockname()[1]) as client:
        yield End(server), End(client)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=0, max_size=LARGEST_WORDS))
def test_what_is_sent_arrives_whole_and_so_does_the_answer(numbers):
    with bind("127.0.0.1", 0) as a, connect("127.0.0.1", a.getsockname()[1]) as b:
        server, client = End(a), End(b)
        client.words[: len(numbers)] = numbers
        assert send_entry(client.handle, client.words, 8 * len(numbers)) == 8 * len(numbers)
        assert wait_entry(server.handle, SECOND)
        assert server.receive() == 8 * len(numbers)
        assert server.words[: len(numbers)].tolist() == numbers
        server.words[0] = 42
        assert send_to_entry(server.handle, server.words, 8, server.sender) == 8
        assert wait_entry(client.handle, SECOND)
        assert client.receive() == 8
        assert client.words[0] == 42


def test_the_sender_is_the_same_words_for_every_packet_of_an_address(ends):
    server, client = ends
    seen = []
    for stale in (0, -1):  # whatever was in the array before
        server.sender[:] = stale
        client.socket.send(b"12345678")
        assert wait_entry(server.handle, SECOND)
        assert server.receive() == 8
        seen.append(server.sender.tolist())
    assert seen[0] == seen[1]
    assert len(seen[0]) == SENDER_WORDS
    assert seen[0][ADDRESS_BYTES] == (16 if client.socket.family == socket.AF_INET else 28)


def test_two_clients_are_two_senders(ends):
    server, client = ends
    host, port = server.socket.getsockname()[:2]
    with connect(host, port) as other:
        senders = []
        for each in (client.socket, other):
            each.send(b"12345678")
            assert wait_entry(server.handle, SECOND)
            server.receive()
            senders.append(server.sender.tolist())
    assert senders[0] != senders[1]


def test_nothing_there_is_minus_one_at_once(ends):
    server, _ = ends
    server.words[:] = 7
    assert server.receive() == -1
    assert (server.words == 7).all()
    assert not wait_entry(server.handle, 0)
    assert not wait_entry(server.handle, -5)


def test_a_datagram_that_is_too_long_tells_its_real_length_and_writes_nothing_beyond(ends):
    server, client = ends
    memory = np.full(8, 7, dtype=np.int64)
    client.socket.send(bytes(100))
    assert wait_entry(server.handle, SECOND)
    assert receive_entry(server.handle, memory[:4], server.sender) == 100
    assert memory.tolist() == [0, 0, 0, 0, 7, 7, 7, 7]


def test_an_empty_datagram_is_not_nothing(ends):
    server, client = ends
    client.socket.send(b"")
    assert wait_entry(server.handle, SECOND)
    assert server.receive() == 0
    assert server.receive() == -1


def test_a_server_that_went_away_is_minus_one_and_may_come_back(ends):
    server, client = ends
    where = server.socket.getsockname()
    server.socket.close()
    for _ in range(10):
        send_entry(client.handle, client.words, 48)  # fails once the system knows that nobody is there
        assert client.receive() == -1
    with bind(*where[:2]) as again:
        back = End(again)
        while client.receive() != -1 or send_entry(client.handle, client.words, 48) != 48:
            pass
        assert wait_entry(back.handle, SECOND)
        assert back.receive() == 48


def test_a_client_that_went_away_does_not_disturb_the_others(ends):
    server, client = ends
    host, port = server.socket.getsockname()[:2]
    gone = connect(host, port)
    gone.send(b"12345678")
    assert wait_entry(server.handle, SECOND)
    server.receive()
    gone.close()
    for _ in range(5):
        assert send_to_entry(server.handle, server.words, 48, server.sender) == 48
    client.socket.send(b"12345678")
    assert wait_entry(server.handle, SECOND)
    assert server.receive() == 8


def test_a_connected_socket_hears_nobody_else(ends):
    _, client = ends
    with socket.socket(client.socket.family, socket.SOCK_DGRAM) as stranger:
        stranger.sendto(b"12345678", client.socket.getsockname())
    assert not wait_entry(client.handle, 20_000_000)
    assert client.receive() == -1


def test_a_backlog_holds_no_seconds_of_packets(ends):
    """articulated-haptics.md section 4: a queue must not build up."""
    server, client = ends
    for i in range(3000):  # three seconds of one hand, unread
        client.words[0] = i
        send_entry(client.handle, client.words, 48)
    waiting = 0
    while server.receive() != -1:
        waiting += 1
    assert 16 <= waiting <= 500  # room for every peer's newest, and less than half a second


def test_a_closed_socket_is_minus_one(ends):
    server, client = ends
    for end in ends:
        end.socket.close()
    assert server.receive() == -1
    assert send_entry(client.handle, client.words, 48) == -1
    assert send_to_entry(client.handle, client.words, 48, server.sender) == -1


def test_a_signal_does_not_end_the_waiting_with_a_lie(ends):
    server, _ = ends
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        timer = threading.Timer(0.05, signal.pthread_kill, (threading.main_thread().ident, signal.SIGUSR1))
        timer.start()
        assert not wait_entry(server.handle, SECOND)
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert server.receive() == -1


@pytest.mark.skipif(jit.DISABLED, reason="the compiler is off")
def test_two_compiled_ends_talk_while_python_does_something_else(ends):
    server, client = ends
    rounds, came = 200, []
    thread = threading.Thread(
        target=lambda: came.append(echo_entry(server.handle, server.words, server.sender, rounds))
    )
    jit.warm(echo_entry)
    thread.start()
    back = 0
    for i in range(rounds):
        client.words[0] = i
        send_entry(client.handle, client.words, 240)
        if wait_entry(client.handle, SECOND) and client.receive() == 240:
            back += client.words[0] == i
    thread.join()
    assert came == [rounds]
    assert back == rounds


def test_waiting_lasts_as_long_as_it_is_told(ends):
    server, _ = ends
    start = time.monotonic_ns()
    assert not wait_entry(server.handle, 5_000_000)
    assert time.monotonic_ns() - start >= 5_000_000  # on every machine, however slow


# ---- mistakes


def test_a_port_that_is_taken_is_said_in_one_line():
    with bind("127.0.0.1", 0) as first, pytest.raises(LinkError, match=r"is taken: .*--port 0") as caught:
        bind("127.0.0.1", first.getsockname()[1])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("problem", [socket.gaierror(-2, "Name or service not known"), UnicodeError("label too long")])
def test_a_name_that_nobody_knows_is_said_in_one_line(problem, monkeypatch):
    def unknown(*_, **__):  # asking for real would ask the network
        raise problem

    monkeypatch.setattr(sockets.socket, "getaddrinfo", unknown)
    with pytest.raises(LinkError, match="'elsewhere' is not known") as caught:
        connect("elsewhere", 8643)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("127.0.0.1", 65536, "not one of 0 .. 65535"),
        ("127.0.0.1", -1, "not one of 0 .. 65535"),
        ("", 8643, "an address is needed"),
        ("192.0.2.1", 8643, "not an address of this machine"),  # RFC 5737: nobody's
    ],
)
def test_what_cannot_be_bound_is_said_in_one_line(host, port, words):
    with pytest.raises(LinkError, match=words) as caught:
        bind(host, port)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOBUFS])
def test_other_reasons_of_the_system_are_one_line_too(number, monkeypatch):
    class Refusing(socket.socket):
        def bind(self, where):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(sockets.socket, "socket", Refusing)
    with pytest.raises(LinkError, match="port 80") as caught:
        bind("127.0.0.1", 80)
    assert "\n" not in str(caught.value)


def test_other_systems_are_refused_with_a_reason(monkeypatch):
    monkeypatch.setattr(sockets.sys, "platform", "darwin")
    for opening in (bind, connect):
        with pytest.raises(LinkError, match="needs Linux"):
            opening("127.0.0.1", 0)


def test_an_address_in_brackets_is_an_address():
    if has_ipv6():
        with bind("[::1]", 0) as opened:
            assert opened.family == socket.AF_INET6
