"""Sets of bits are those that Python's whole numbers are."""

import numpy as np
import pytest

from palpate.jit import entry
from palpate.jit.bits import bit, lowest, ones

pytestmark = pytest.mark.nojit


@entry("int64[::1], int64[:, ::1]")
def looked_at(words, out):
    """Of every word: how many bits, the lowest, and itself made again of single ones."""
    for i in range(words.shape[0]):
        word, again = words[i], 0
        out[i, 0], out[i, 1] = ones(word), lowest(word)
        while word != 0:
            k = lowest(word)
            again |= bit(k)
            word ^= bit(k)
        out[i, 2] = again


def test_bits_are_counted_found_and_listed_as_python_does():
    """Single bits, the sign among them, all, all but one, and a thousand at random."""
    rng = np.random.default_rng(3)
    single = [1 << k for k in range(64)]
    words = [*single, *((1 << 64) - 1 - x for x in single), (1 << 64) - 1]
    words += [int(x) << k for k in range(2) for x in rng.integers(1, 1 << 63, 500)]
    given = np.array(words, dtype=np.uint64).astype(np.int64)
    out = np.zeros((len(words), 3), dtype=np.int64)
    looked_at(given, out)
    assert out[:, 0].tolist() == [word.bit_count() for word in words]
    assert out[:, 1].tolist() == [(word & -word).bit_length() - 1 for word in words]
    assert np.array_equal(out[:, 2], given)
