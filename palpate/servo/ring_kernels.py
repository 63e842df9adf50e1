"""The ring of servo/ring.py from compiled code: the servo publishes frames and takes hands and events.

memory  the whole ring as int64 words;  floats  the same memory as float64;  at  where a slot's message begins
"""

from palpate.jit import kernel
from palpate.jit.atomics import fence, load_acquire, store_release
from palpate.servo.ring import HEAD, HEADER_WORDS

SLOTS, WORDS = 1, 2  # header words that say how many


@kernel
def slot_of(memory, number):
    """Where the slot of message `number` (from 1) begins: its sequence number, then the message."""
    return HEADER_WORDS + (number - 1) % memory[SLOTS] * (1 + memory[WORDS])


@kernel
def begin_write(memory):
    """Mark the next slot as being written; returns where its message begins."""
    at = slot_of(memory, memory[HEAD] + 1)
    store_release(memory, at, 0)
    fence()
    return at + 1


@kernel
def end_write(memory):
    """Publish what was written since begin_write."""
    number = memory[HEAD] + 1
    store_release(memory, slot_of(memory, number), number)
    store_release(memory, HEAD, number)


@kernel
def copy_message(memory, number, out):
    """Message `number` into out (words,); False if it is not there or was overwritten meanwhile."""
    return copy_part(memory, number, out, 0)


@kernel
def copy_part(memory, number, out, begin):
    """The same into out[begin:]."""
    at = slot_of(memory, number)
    if load_acquire(memory, at) != number:
        return False
    for i in range(memory[WORDS]):
        out[begin + i] = memory[at + 1 + i]
    fence()
    return load_acquire(memory, at) == number
