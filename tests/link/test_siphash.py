"""The keyed hash against its authors' vectors, and against another one written from the paper byte by byte."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate.link.siphash import siphash_entry

pytestmark = pytest.mark.nojit
# The authors' table (github.com/veorq/SipHash, vectors.h, vectors_sip64): key 00 .. 0f, input 00 01 02 ... of as many
# bytes as the key of this dictionary says; 15 bytes is also the worked example of the paper's appendix A.
PUBLISHED = {
    0: "310e0edd47db6f72", 8: "6224939a79f5f593", 15: "e545be4961ca29a1", 16: "db9bc2577fcc2a3f",
    24: "94af49f6c650adb8", 32: "ce7cf2722f512771", 40: "d0a704536ba93e0e", 48: "51a9cb9ecba312e6",
    56: "bd838d3aafbf8db7", 63: "724506eb4c328a95",
}  # fmt: skip
KEY, INPUT = bytes(range(16)), bytes(range(64))


def siphash_by_bytes(data: bytes, key: bytes) -> bytes:
    """SipHash-2-4 of any number of bytes, in Python's own integers."""
    mask = 2**64 - 1
    k = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
    text = b"somepseudorandomlygeneratedbytes"
    v = [k[i % 2] ^ int.from_bytes(text[8 * i : 8 * i + 8], "big") for i in range(4)]

    def rotate(x, bits):
        return (x << bits | x >> 64 - bits) & mask

    def rounds(n):
        for _ in range(n):
            for a, b, bits, half in ((0, 1, 13, True), (2, 3, 16, False), (0, 3, 21, False), (2, 1, 17, True)):
                v[a] = v[a] + v[b] & mask
                v[b] = rotate(v[b], bits) ^ v[a]
                if half:
                    v[a] = rotate(v[a], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for i in range(0, len(padded), 8):
        m = int.from_bytes(padded[i : i + 8], "little")
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 0xFF
    rounds(4)
    return (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")


def siphash_by_words(data: bytes, key: bytes) -> bytes:
    words, k = (np.frombuffer(x, dtype="<i8").astype(np.int64) for x in (data, key))
    return int(siphash_entry(words, k)).to_bytes(8, "little", signed=True)


@pytest.mark.parametrize("length", PUBLISHED)
def test_the_test_s_own_hash_gives_the_published_tags(length):
    assert siphash_by_bytes(INPUT[:length], KEY).hex() == PUBLISHED[length]


def test_the_worked_example_of_the_paper():
    assert int.from_bytes(siphash_by_bytes(INPUT[:15], KEY), "little") == 0xA129CA6149BE45E5


@pytest.mark.parametrize("length", [n for n in PUBLISHED if n % 8 == 0])
def test_the_kernel_gives_the_published_tags(length):
    assert siphash_by_words(INPUT[:length], KEY).hex() == PUBLISHED[length]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 184), st.binary(min_size=16, max_size=16), st.randoms(use_true_random=False))
def test_the_kernel_agrees_with_the_other_for_every_length_and_key(n_words, key, random):
    data = random.randbytes(8 * n_words)
    assert siphash_by_words(data, key) == siphash_by_bytes(data, key)


def test_messages_beyond_255_bytes_carry_their_length_modulo_256():
    for n_words in (31, 32, 33, 64, 183):
        data = bytes(8 * n_words)
        assert siphash_by_words(data, KEY) == siphash_by_bytes(data, KEY)
    assert siphash_by_words(bytes(248), KEY) != siphash_by_words(bytes(256), KEY)
