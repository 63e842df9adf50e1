"""Sets of small numbers as the bits of words, 64 to a word: for compiled code that joins, counts and lists them."""

from __future__ import annotations

import numpy as np
from numba import extending, types

from palpate.jit.decorators import DISABLED, kernel


@kernel
def bit(k):
    """The word with bit k mod 64 alone."""
    return 1 << (k & 63)


@extending.intrinsic
def ones(typingctx, word):
    """How many bits are set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@extending.intrinsic
def lowest(typingctx, word):
    """Which bit is the lowest that is set; the word is not 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), codegen


if DISABLED:

    def bit(k):
        return np.uint64(1 << (int(k) & 63)).astype(np.int64)

    def ones(word):
        return (int(word) & (1 << 64) - 1).bit_count()

    def lowest(word):
        return (int(word) & -int(word)).bit_length() - 1
