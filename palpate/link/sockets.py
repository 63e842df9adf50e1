"""UDP from compiled loops: libc's recvfrom, sendto and ppoll, called by their addresses, without the GIL.

A kernel gets a socket as its `handle`, the address of a Block that holds a Handle.  So a handle belongs to one loop and
one process; whoever made the socket keeps it open meanwhile, and the Block alive.  A `sender` (SENDER_WORDS,) int64 is
an address as the system writes it, IPv4 or IPv6: words that are compared and handed back, never read.

Nothing here blocks but wait_readable, and nothing raises: -1 stands for everything that did not happen (nothing there,
interrupted, no room, nobody at the other end), because a loop does the same about all of them: it goes on.

Receive buffers are small.  A loop that was stopped for a while should find the newest packets, not seconds of old ones.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import socket
import sys
from typing import Any

import numpy as np

from palpate.jit import Block, Struct, block_loader, kernel
from palpate.jit.foreign import address_of, call_int32, call_int64
from palpate.link import LinkError
from palpate.model.model import Ints1

ADDRESS_WORDS = 16  # struct sockaddr_storage
ADDRESS_BYTES = ADDRESS_WORDS  # and after it, how many bytes of it count
SENDER_WORDS = ADDRESS_WORDS + 1

MSG_DONTWAIT, MSG_TRUNC, MSG_NOSIGNAL = 0x40, 0x20, 0x4000  # of Linux, on every processor that numba knows
POLLIN = 1
# The system doubles it and counts its own overhead, 768 bytes or more a packet: 170 packets at most, 0.2 s of one hand.
BUFFER_BYTES = 65536


class Handle(Struct):
    """A socket, and where libc's functions lie in this process."""

    descriptor: int
    recvfrom: int
    sendto: int
    ppoll: int
    poll: Ints1  # (1,) struct pollfd: descriptor, asked, answered
    timeout: Ints1  # (2,) struct timespec: s, ns


load = block_loader((Handle, False))


@kernel
def receive(handle: int, words: Ints1, sender: Ints1) -> int:
    """Take one datagram into words, and whose it is into sender; its length in bytes, or -1.

    The length is that which was sent, even if words hold only the beginning of it.
    """
    for i in range(ADDRESS_WORDS):
        sender[i] = 0  # so that words behind a short address are always the same
    sender[ADDRESS_BYTES] = 8 * ADDRESS_WORDS
    where, length = address_of(sender, 0), address_of(sender, ADDRESS_BYTES)
    s = load(handle)[0]
    into = (s.descriptor, address_of(words, 0), 8 * words.shape[0], MSG_DONTWAIT | MSG_TRUNC, where, length)
    return call_int64(s.recvfrom, into)


@kernel
def send_to(handle: int, words: Ints1, n_bytes: int, sender: Ints1) -> int:
    """Send the first n_bytes of words to whom `sender` names; n_bytes, or -1."""
    s, to, length = load(handle)[0], address_of(sender, 0), sender[ADDRESS_BYTES]
    return call_int64(s.sendto, (s.descriptor, address_of(words, 0), n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL, to, length))


@kernel
def send(handle: int, words: Ints1, n_bytes: int) -> int:
    """Send the first n_bytes of words over a connected socket; n_bytes, or -1."""
    s = load(handle)[0]
    return call_int64(s.sendto, (s.descriptor, address_of(words, 0), n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0))


@kernel
def wait_readable(handle: int, timeout_ns: int) -> Any:
    """Whether there is something to receive, as soon as there is, or when the time is over or a signal came.

    True also for an error that waits to be taken by `receive`.
    """
    s, left = load(handle)[0], max(timeout_ns, 0)
    s.timeout[0], s.timeout[1] = left // 1_000_000_000, left % 1_000_000_000
    s.poll[0] = s.descriptor | POLLIN << 32
    return call_int32(s.ppoll, (address_of(s.poll, 0), 1, address_of(s.timeout, 0), 0)) > 0


def handle_of(opened: socket.socket) -> Block:
    """Whose address is the handle of a socket, for kernels of this process; keep the socket open."""
    libc = ctypes.CDLL(None)
    where = {name: ctypes.cast(getattr(libc, name), ctypes.c_void_p).value for name in ("recvfrom", "sendto", "ppoll")}
    poll, timeout = np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64)
    return Block(Handle(descriptor=opened.fileno(), poll=poll, timeout=timeout, **where))


def new_sender() -> np.ndarray:
    """(SENDER_WORDS,) int64 for `receive` to fill."""
    return np.zeros(SENDER_WORDS, dtype=np.int64)


def bind(host: str, port: int) -> socket.socket:
    """A UDP socket that listens at an address of this machine; port 0 picks a free one."""
    family, where = _resolve(host, port)
    opened = _new_socket(family)
    try:
        opened.bind(where)
    except OSError as problem:
        opened.close()
        raise LinkError(_why_not_bound(problem, host, port)) from None
    return opened


def connect(host: str, port: int) -> socket.socket:
    """A UDP socket that talks to one address only, and hears from that one only."""
    family, where = _resolve(host, port)
    opened = _new_socket(family)
    try:
        opened.connect(where)
    except OSError as problem:
        opened.close()
        raise LinkError(f"there is no way to {host}: {problem.strerror}") from None
    return opened


def _resolve(host: str, port: int) -> tuple[int, Any]:
    """(family, address) of a name or address, with or without brackets."""
    if sys.platform != "linux":
        raise LinkError(f"a link to another machine needs Linux on both sides, this is {sys.platform}")
    if not 0 <= port <= 65535:
        raise LinkError(f"port {port} is not one of 0 .. 65535")
    if not host:
        raise LinkError("an address is needed: 127.0.0.1 for this machine, 0.0.0.0 for all of its networks")
    try:
        found = socket.getaddrinfo(host.removeprefix("[").removesuffix("]"), port, type=socket.SOCK_DGRAM)
    except (socket.gaierror, UnicodeError):
        raise LinkError(f"the name {host!r} is not known: check the spelling, or give its address") from None
    return found[0][0], found[0][4]


def _new_socket(family: int) -> socket.socket:
    opened = socket.socket(family, socket.SOCK_DGRAM)
    opened.setblocking(False)
    with contextlib.suppress(OSError):  # it works with other sizes too
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    return opened


def _why_not_bound(problem: OSError, host: str, port: int) -> str:
    if problem.errno == errno.EADDRINUSE:
        return f"UDP port {port} of {host} is taken: is palpate serve running already? --port 0 picks a free one"
    if problem.errno == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine: 127.0.0.1 is, and 0.0.0.0 stands for all of them"
    if problem.errno == errno.EACCES:
        return f"UDP port {port} is not for everybody: choose one above 1023"
    return f"{host} port {port} cannot be listened to: {problem.strerror}"
