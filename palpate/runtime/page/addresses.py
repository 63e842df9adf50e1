"""Names of this machine that others can use."""

from __future__ import annotations

import ipaddress
import socket

ELSEWHERE = ("192.0.2.1", 9)  # an address for documentation (RFC 5737): nothing is sent there


def reachable(host: str) -> str:
    """The address to tell others: `host`, or, if that means every address of this machine, the one it goes out by."""
    try:
        every = ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        every = host == ""
    if not every:
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)  # of a datagram socket: only looks up the way
        except OSError:
            return socket.gethostname()
        return str(probe.getsockname()[0])
