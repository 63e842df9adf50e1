"""Whose program it is that connects from this machine: on Linux the kernel says which user opened a connection.

So a page is for the person who started it, and for no other user of the same machine, without asking for anything.
Where the kernel does not say, a page's token does.
"""

from __future__ import annotations

import os
import socket
import struct
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from palpate.link.keys import is_loopback

TABLES = {4: Path("/proc/net/tcp"), 16: Path("/proc/net/tcp6")}  # by the bytes of an address
MAPPED = b"\0" * 10 + b"\xff\xff"  # before an address of version 4, in a socket of version 6


def user_of(here: tuple[Any, ...], there: tuple[Any, ...]) -> int | None:
    """Who opened the other end of a connection from within this machine, given both ends' addresses; None: unknown.

    An end that was closed already has no user, and is nobody's.
    """
    family = socket.AF_INET6 if ":" in there[0] else socket.AF_INET
    try:
        ends = [(socket.inet_pton(family, end[0].partition("%")[0]), end[1]) for end in (there, here)]
    except OSError:
        return None
    for prefix in (b"", MAPPED) if family == socket.AF_INET else (b"",):
        rows = [_written(prefix + address, port) for address, port in ends]
        try:
            table = TABLES[len(prefix + ends[0][0])].read_text(encoding="ascii")
        except OSError:
            continue
        _, found, rest = table.partition(f": {rows[0]} {rows[1]} ")
        fields = rest.partition("\n")[0].split()  # state, queues, timer, retransmissions, user, timeout, inode
        if found and len(fields) > 6 and fields[6] != "0":
            return int(fields[4])
    return None


def _written(address: bytes, port: int) -> str:
    """As the kernel writes it: words of 32 bits in the order of this machine."""
    return "".join(f"{word:08X}" for word in struct.unpack(f"={len(address) // 4}I", address)) + f":{port:04X}"


@cache
def users_are_told() -> bool:
    """Whether the kernel says it here: tried with a connection of our own."""
    if not hasattr(os, "geteuid"):
        return False
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as listening,
            socket.create_connection(listening.getsockname()),
            listening.accept()[0] as here,
        ):
            return user_of(here.getsockname(), here.getpeername()) == os.geteuid()
    except OSError:
        return False


def is_own(here: tuple[Any, ...], there: tuple[Any, ...]) -> bool:
    """Whether the other end is a program of the user whose program this is; root may everything anyway."""
    if not users_are_told():
        return False
    own = {"0", str(os.geteuid()), os.environ.get("SUDO_UID", "0") if os.geteuid() == 0 else "0"}
    return str(user_of(here, there)) in own


def address_to_open(url: str) -> str:
    """What this user's browser is given: no token if it needs none, for others can read what programs are started with.

    Root's page is perhaps for another user's browser.
    """
    split = urlsplit(url)
    plain = is_loopback(split.hostname or "") and users_are_told() and os.geteuid() != 0
    return split._replace(query="").geturl() if plain else url
