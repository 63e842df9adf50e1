"""Whose packets count: a key of 128 bits that both sides have.

It comes from a file or from the variable PALPATE_KEY.  Thirty-two hexadecimal digits are the key itself; anything else
is a passphrase, whose BLAKE2b hash is the key.  The hash is fast, so somebody who records packets can try many
passphrases: use the digits, or several random words.  Without a key, and only on this machine, a public key is used:
packets are then protected against accidents, not against anybody.

A key is never shown: not by repr, not in a message; and a file of ours that others can read is refused.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import numpy as np

VARIABLE = "PALPATE_KEY"
PERSON = b"palpate link"  # keeps our hash of a passphrase apart from everybody else's
LARGEST_FILE_BYTES = 4096  # a file beyond this is not a key
HOW_TO_MAKE_ONE = 'python3 -c "import secrets; print(secrets.token_hex(16))"'


class Key:
    """Sixteen bytes; `words` (2,) int64 are what kernels take."""

    def __init__(self, data: bytes) -> None:
        if len(data) != 16:
            raise ValueError(f"a key has 16 bytes, this has {len(data)}")
        self.words = np.frombuffer(data, dtype="<i8").astype(np.int64)

    def __repr__(self) -> str:
        return "Key(public)" if self == PUBLIC_KEY else "Key(...)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and bool((self.words == other.words).all())

    def __hash__(self) -> int:
        return hash(self.words.tobytes())


PUBLIC_KEY = Key(hashlib.blake2b(b"everybody has this key", digest_size=16, person=PERSON).digest())


def key_of(text: str) -> Key:
    """The key that a text stands for: 32 hexadecimal digits, or a passphrase.  Space around it does not count."""
    text = text.strip()
    if not text:
        raise ValueError(f"the key is empty; make one: {HOW_TO_MAKE_ONE}")
    if re.fullmatch("[0-9a-fA-F]{32}", text):
        return Key(bytes.fromhex(text))
    data = text.encode(errors="surrogatepass")  # a variable of the environment need not be proper text
    return Key(hashlib.blake2b(data, digest_size=16, person=PERSON).digest())


def load_key(file: str | Path | None = None, environ: Mapping[str, str] = os.environ) -> Key | None:
    """The key in a file, else that of PALPATE_KEY, else None."""
    if file is not None:
        return key_of(_text_of(Path(file)))
    text = environ.get(VARIABLE)
    return None if text is None else key_of(text)


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            found = os.fstat(opened.fileno())
            data = opened.read(LARGEST_FILE_BYTES + 1)
    except OSError as problem:
        raise ValueError(f"the key file {file} cannot be read: {problem.strerror}") from None
    # as ssh does: of a file of another's, a mounted secret, say, the owner has decided who reads it
    ours = hasattr(os, "geteuid") and found.st_uid == os.geteuid() and stat.S_ISREG(found.st_mode)
    if ours and found.st_mode & 0o077:
        raise ValueError(f"the key file {file} is open to others, so it is not used: chmod 600 {file}")
    if len(data) > LARGEST_FILE_BYTES:
        raise ValueError(f"the key file {file} is longer than {LARGEST_FILE_BYTES} bytes: is it the right one?")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError(f"the key file {file} is not text; make one: {HOW_TO_MAKE_ONE}") from None


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address without port, can only be this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def require_key(host: str, key: Key | None) -> Key:
    """The key to use with that address: the given one, or on this machine the public one; else a ValueError."""
    if is_loopback(host):
        return PUBLIC_KEY if key is None else key
    if key is None or key == PUBLIC_KEY:
        raise ValueError(
            f"{host or 'every address'} can be reached by others, so both sides need a key: set {VARIABLE} "
            f"or give a key file; to make one: {HOW_TO_MAKE_ONE}"
        )
    return key
