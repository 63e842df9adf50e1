"""SipHash-2-4: a 64-bit tag of a message, which nobody finds without the 128-bit key.

Aumasson & Bernstein 2012, "SipHash: a fast short-input PRF", section 2.  Made for short messages: a packet of thirty
words takes a fraction of a microsecond, where a cryptographic hash of the standard library takes one or two, with the
GIL.  All numbers are modulo 2^64, <<< turns bits around:

    v = (k0, k1, k0, k1) xor "somepseudorandomlygeneratedbytes"
    each word m of the message, and last a word whose top byte is the message's length in bytes modulo 256:
        v3 ^= m;  two rounds;  v0 ^= m
    v2 ^= 0xff;  four rounds;  tag = v0 ^ v1 ^ v2 ^ v3

Here a message is a whole number of little-endian words, so the last word holds nothing but the length.

k0, k1  the key;  v0 .. v3  the state;  m  a word.  Outside they are int64, as all words of a packet, inside uint64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from palpate.jit import DISABLED, entry, kernel
from palpate.model.model import Ints1

# "somepseu", "dorandom", "lygenera", "tedbytes", read as big-endian numbers
C0, C1 = np.uint64(0x736F6D6570736575), np.uint64(0x646F72616E646F6D)
C2, C3 = np.uint64(0x6C7967656E657261), np.uint64(0x7465646279746573)
MARK_OF_THE_END = np.uint64(0xFF)
WORD = 2**64


@kernel
def unsigned(x: Any) -> Any:
    """An int64 as the uint64 of the same bits."""
    return np.uint64(x)


@kernel
def signed(x: Any) -> Any:
    """A uint64 as the int64 of the same bits."""
    return np.int64(x)


@kernel
def plus(a: Any, b: Any) -> Any:
    """a + b modulo 2^64."""
    return a + b


@kernel
def turned(x: Any, bits: int) -> Any:
    """x <<< bits, 0 < bits < 64."""
    return x << np.uint64(bits) | x >> np.uint64(64 - bits)


if DISABLED:  # numpy's numbers warn where they wrap around; Python's never do

    def unsigned(x: Any) -> Any:
        return int(x) % WORD

    def signed(x: Any) -> Any:
        return (int(x) + WORD // 2) % WORD - WORD // 2

    def plus(a: Any, b: Any) -> Any:
        return (int(a) + int(b)) % WORD

    def turned(x: Any, bits: int) -> Any:
        return (int(x) << bits | int(x) >> (64 - bits)) % WORD


@kernel
def sip_round(v0: Any, v1: Any, v2: Any, v3: Any) -> Any:
    """Figure 2.1 of the paper."""
    v0, v2 = plus(v0, v1), plus(v2, v3)
    v1, v3 = turned(v1, 13) ^ v0, turned(v3, 16) ^ v2
    v0 = turned(v0, 32)
    v2, v0 = plus(v2, v1), plus(v0, v3)
    v1, v3 = turned(v1, 17) ^ v2, turned(v3, 21) ^ v0
    return v0, v1, turned(v2, 32), v3


@kernel
def siphash(words: Ints1, begin: int, end: int, key: Ints1) -> Any:
    """The tag, int64, of words[begin : end] under a key (2,) int64."""
    k0, k1 = unsigned(key[0]), unsigned(key[1])
    v0, v1, v2, v3 = k0 ^ C0, k1 ^ C1, k0 ^ C2, k1 ^ C3
    length = unsigned(((end - begin) * 8 & 0xFF) << 56)
    for i in range(begin, end + 1):
        m = unsigned(words[i]) if i < end else length
        v3 ^= m
        v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
        v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
        v0 ^= m
    v2 ^= MARK_OF_THE_END
    for _ in range(4):
        v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
    return signed(v0 ^ v1 ^ v2 ^ v3)


@entry("int64[::1], int64[::1]")
def siphash_entry(words: Ints1, key: Ints1) -> int:
    """The tag of all of words (n,) under a key (2,)."""
    return siphash(words, 0, words.shape[0], key)
