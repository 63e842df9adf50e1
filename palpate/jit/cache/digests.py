"""Files of compiled code: a digest, then the code.  The digest is also of all that the code was made for."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

DIGEST_BYTES = 32


def checked_content(path: Path, identity: bytes) -> memoryview | None:
    """What is in a file; None: it is damaged, or was made for something else."""
    data = memoryview(path.read_bytes())
    return data[DIGEST_BYTES:] if digest(identity, data[DIGEST_BYTES:]) == data[:DIGEST_BYTES] else None


def digest(identity: bytes, content: Any) -> bytes:
    """Of code, and of what it was made for."""
    made = hashlib.blake2b(identity, digest_size=DIGEST_BYTES)
    made.update(content)
    return made.digest()
