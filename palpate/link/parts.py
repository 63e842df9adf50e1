"""The parts of a state, put together again at the hand's end (wire.py says how it was split).

x  what the receiver keeps (runtime/link/mirror_kernels.py, Mirror): the packet `words`; `rest`, the words of all parts;
   `first`, of the state that is coming in, and `got`, which of its parts are there; `seen`, all up to there is done
"""

from palpate.jit import kernel
from palpate.link.wire import SEQUENCE, STATE_AT


@kernel
def take_part(x):
    """The STATE in x.words, a part of a state that is newer than the newest; whether that is complete now.

    Of two that come in at once the newer wins: what the older still lacks would be too late.
    """
    first, part, n = x.words[STATE_AT.first], x.words[STATE_AT.part], x.rest.shape[0] // x.parts
    if not 0 <= part < x.parts or first <= x.seen or x.words[SEQUENCE] != first + part:
        x.dropped += 1
        return False
    if first < x.first:
        return False
    if first > x.first:
        x.first, x.got = first, 0
    for i in range(n):
        x.rest[part * n + i] = x.words[STATE_AT.rest + i]
    x.got |= 1 << part
    return x.got == (1 << x.parts) - 1


@kernel
def spread(m, x):
    """Coordinates and velocities of a complete state."""
    for i in range(m.nq):
        x.q[i] = x.rest_f[i]
    for i in range(m.nv):
        x.v[i] = x.rest_f[m.nq + i]
