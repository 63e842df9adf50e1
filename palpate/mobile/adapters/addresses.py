"""Addresses as people write them."""

from __future__ import annotations

HERE = "127.0.0.1"  # nothing is heard from or sent to other machines unless one is named


def address(where: str | int, port: int | None = None) -> tuple[str, int]:
    """(host, port) of "HOST:PORT", "HOST", "PORT" or a number; what is missing is this machine and `port`."""
    text = str(where).strip()
    host, colon, number = text.rpartition(":")
    if not colon:
        host, number = ("", text) if text.isdigit() else (text, "")
    if number == "" and port is not None:
        number = str(port)
    if not number.isdigit() or int(number) > 65535 or ":" in host:
        raise ValueError(f"{text!r} is no address: write HOST:PORT, with a port of at most 65535")
    return host or HERE, int(number)
